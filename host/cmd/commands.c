/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The table of commands, and `mkperf help`, which prints their descriptions as text, as man pages, and as completion.
 */
#include "cmd.h"

#define ROW(name) &mkperf_##name##_command,
const struct mkperf_command *const mkperf_commands[] = {MKPERF_COMMANDS(ROW) NULL};

const struct mkperf_command *mkperf_command_by_name(const char *name)
{
    for (unsigned i = 0; mkperf_commands[i] != NULL; i++) {
        if (strcmp(mkperf_commands[i]->name, name) == 0) {
            return mkperf_commands[i];
        }
    }
    return NULL;
}

/* Commands of perf that mkperf has under another name or does not have, and what to use instead. */
static const struct {
    const char *name, *instead;
} perf_commands[] = {
    {"sched", "mkperf record --sched, then mkperf latency shows who waited for whom, and how long"},
    {"timechart", "mkperf record --sched, then mkperf view shows the time line"},
    {"trace", "there are no Linux system calls; mkperf record --sched records protected calls and "
              "notifications, mkperf latency shows them"},
    {"lock",
     "PDs have no futexes; mkperf record --sched, then mkperf latency shows what they waited for"},
    {"kwork", "mkperf record --sched, then mkperf latency shows interrupts and the PDs they wake"},
    {"mem",
     "these CPUs do not sample memory accesses; mkperf record -e cache-misses shows where the "
     "misses are"},
    {"c2c",
     "these CPUs do not sample memory accesses; mkperf record -e cache-misses shows where the "
     "misses are"},
    {"probe", "there are no probes at run time; marks in the program are mkperf's way"},
    {"buildid-cache", "perf buildid-cache shows the copies that mkperf record keeps in ~/.debug"},
};

static enum mkperf_status unknown_command(const char *name, struct mkperf_error *e)
{
    size_t n = sizeof perf_commands / sizeof *perf_commands,
           known = mkperf_named(perf_commands, n, sizeof *perf_commands, name);
    char near[MKPERF_GUESS_TEXT];
    struct mkperf_guess guess;

    MKPERF_FAIL_IF(known < n, e, MKPERF_ERR_USAGE, "no command \"%s\": %s", name,
                   perf_commands[known].instead);
    MKPERF_FAIL_IF(name[0] == '-', e, MKPERF_ERR_USAGE,
                   "%s: the command precedes its options; see mkperf --help", name);
    mkperf_guess_begin(&guess, name);
    for (unsigned i = 0; mkperf_commands[i] != NULL; i++) {
        mkperf_guess_try(&guess, mkperf_commands[i]->name, "");
    }
    return mkperf_error_set(e, MKPERF_ERR_USAGE, "no command \"%s\"%s; see mkperf --help", name,
                            mkperf_guess_text(&guess, near));
}

int mkperf_no_command(const char *name)
{
    struct mkperf_error e;

    unknown_command(name, &e);
    fprintf(stderr, "mkperf: %s\n", e.text);
    return e.status;
}

struct help {
    bool man;
    enum { SHELL_NONE, SHELL_BASH, SHELL_ZSH } shell;
};

static const struct mkperf_option help_options[] = {
    MKPERF_OPTION(0, "man", "a man page's source; without COMMAND, mkperf(1)'s",
                  MKPERF_SETS(struct help, man)),
    MKPERF_OPTION(0, "completion", "what makes bash or zsh complete mkperf's commands and options",
                  MKPERF_TAKES(WORD, "SHELL"), .words = "bash zsh",
                  MKPERF_ENUM(struct help, shell, SHELL_BASH, SHELL_NONE)),
    {.letter = 0},
};

static void put_commands(mkperf_put *put, void *to)
{
    for (unsigned i = 0; mkperf_commands[i] != NULL; i++) {
        put(to, mkperf_commands[i]->name, mkperf_commands[i]->summary);
    }
}

static enum mkperf_status run_help(void *self, const struct mkperf_args *args,
                                   struct mkperf_error *e)
{
    const struct help *h = self;
    const struct mkperf_command *c = args->n > 0 ? mkperf_command_by_name(args->operand[0]) : NULL;

    if (args->n > 0 && c == NULL) {
        return unknown_command(args->operand[0], e);
    }
    if (h->man) {
        mkperf_help_man(c, stdout);
    } else if (h->shell == SHELL_BASH) {
        mkperf_help_bash(stdout);
    } else if (h->shell == SHELL_ZSH) {
        mkperf_help_zsh(stdout);
    } else if (c != NULL) {
        mkperf_help_text(c, stdout);
    } else {
        mkperf_help_overview(stdout);
    }
    return MKPERF_OK;
}

const struct mkperf_command mkperf_help_command = {
    .name = "help",
    .summary = "explain a command",
    .synopsis = "[options] [COMMAND]",
    .description =
        "Prints what COMMAND does and its options, the same as mkperf COMMAND --help; "
        "without COMMAND, which commands there are.\n\n"
        "The man pages and the shells' completion that make install installs come from "
        "here too: for an mkperf that is not installed, eval \"$(mkperf help --completion "
        "bash)\" completes in this shell.",
    .options = {{help_options, 0}},
    .operand = MKPERF_VALUE_WORD,
    .operand_list = put_commands,
    .operands_max = 1,
    .statuses = MKPERF_STATUSES_WRITE,
    .self = {.bytes = sizeof(struct help)},
    .run = run_help,
};
