/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The commands that there are, and `mkperf help`, which prints their descriptions as text, man
 * pages and completion.
 */
#include <errno.h>
#include <string.h>

#include "cmd.h"

const struct mkperf_command *const mkperf_commands[] = {
    &mkperf_record_command,     &mkperf_stat_command,
    &mkperf_list_command,       &mkperf_top_command,
    &mkperf_console_command,    &mkperf_report_command,
    &mkperf_annotate_command,   &mkperf_script_command,
    &mkperf_diff_command,       &mkperf_view_command,
    &mkperf_convert_command,    &mkperf_toperf_command,
    &mkperf_kprof2perf_command, &mkperf_recover_command,
    &mkperf_help_command,       NULL};

const struct mkperf_command *mkperf_command_by_name(const char *name)
{
    for (unsigned i = 0; mkperf_commands[i] != NULL; i++) {
        if (strcmp(mkperf_commands[i]->name, name) == 0) {
            return mkperf_commands[i];
        }
    }
    return NULL;
}

static void put_commands(mkperf_put *put, void *to)
{
    for (unsigned i = 0; mkperf_commands[i] != NULL; i++) {
        put(to, mkperf_commands[i]->name, mkperf_commands[i]->summary);
    }
}

static enum mkperf_status run(void *self, const struct mkperf_args *args, struct mkperf_error *e)
{
    const struct mkperf_command *c = args->n > 0 ? mkperf_command_by_name(args->operand[0]) : NULL;

    (void)self;
    if (args->n > 0 && c == NULL) {
        return mkperf_error_set(e, MKPERF_ERR_USAGE, "no command \"%s\"; see mkperf --help",
                                args->operand[0]);
    }
    if (c != NULL) {
        mkperf_help_text(c, stdout);
    } else {
        mkperf_help_overview(stdout);
    }
    if (fflush(stdout) != 0 || ferror(stdout)) {
        return mkperf_error_set(e, MKPERF_ERR_OUTPUT, "standard output: %s", strerror(errno));
    }
    return MKPERF_OK;
}

static int run_help(int argc, char **argv)
{
    return mkperf_command_main(&mkperf_help_command, NULL, argc, argv, run);
}

const struct mkperf_command mkperf_help_command = {
    .name = "help",
    .summary = "explain a command",
    .synopsis = "[COMMAND]",
    .description = "Prints what COMMAND does and its options, the same as mkperf COMMAND --help; "
                   "without COMMAND, which commands there are.",
    .operand = MKPERF_VALUE_WORD,
    .operand_list = put_commands,
    .operands_max = 1,
    .statuses = MKPERF_STATUSES_WRITE,
    .run = run_help,
};
