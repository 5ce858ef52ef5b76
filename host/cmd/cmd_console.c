/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * mkperf console: sends commands, typed or from a script, to the profiler of a running system.
 *
 * Owns: the options, and the choice between a prompt, standard input and -c. host/console executes some commands itself,
 * and sends the others to the target as text (docs/protocol.md, "Commands").
 */
#include "cmd.h"
#include "console/conversation.h"

static const struct mkperf_option console_options[] = {
    MKPERF_OPTION('c', "command", "these commands, and no prompt; status %d if one was refused",
                  .value = "\"CMD; CMD\"", .number = MKPERF_ERR_REFUSED,
                  MKPERF_TEXT(struct console, commands)),
    MKPERF_OPTION('o', "output", "samples that arrive go into this perf.data file",
                  MKPERF_TAKES(FILE, "FILE"), MKPERF_TEXT(struct console, recorder.options.output)),
    {.letter = 0},
};

static enum mkperf_status run_console(void *self, const struct mkperf_args *args,
                                      struct mkperf_error *e)
{
    struct console *c = self;
    enum mkperf_status status;

    (void)args;
    if (c->recorder.options.link.target == NULL) {
        return mkperf_usage_error(e, "console", "no target: give -t TARGET");
    }
    c->recorder.stop = mkperf_process_interrupts();
    c->recorder.options.link.reconnect_s = MKPERF_RECONNECT_S;
    status = console_open(c, e);
    if (status == MKPERF_OK && c->commands != NULL) {
        char *copy = mkperf_xstrdup(c->commands), *rest = NULL;
        for (char *line = strtok_r(copy, ";\n", &rest);
             line != NULL && status == MKPERF_OK && !c->done &&
             !mkperf_peer_stopped(console_peer(c));
             line = strtok_r(NULL, ";\n", &rest)) {
            status = console_line(c, line, e);
        }
        free(copy);
    } else if (status == MKPERF_OK && isatty(STDIN_FILENO)) {
        status = console_prompt(c, e);
    } else if (status == MKPERF_OK) {
        status = console_stream(c, e);
    }
    status = console_close(c, status, e);
    if (status == MKPERF_OK && c->refused) {
        e->text[0] = '\0'; /* the refusal was printed when it arrived */
        return MKPERF_ERR_REFUSED;
    }
    return status;
}

const struct mkperf_command mkperf_console_command = {
    .name = "console",
    .summary = "commands for the profiler of a running system",
    .synopsis = "-t TARGET [options]",
    .description =
        "Commands for the profiler of a running system: typed at a prompt, from standard "
        "input, or from -c. help at the prompt lists them.",
    .options = {{mkperf_link_options, offsetof(struct console, recorder.options.link)},
                {console_options, 0},
                {mkperf_names_options, offsetof(struct console, recorder.options)},
                {mkperf_watch_options, offsetof(struct console, recorder.options.link)},
                {mkperf_control_options, offsetof(struct console, recorder.options.link)}},
    .sections = {{.title = "TARGET is one of", .list = mkperf_target_help}},
    .statuses = MKPERF_STATUSES_FILES | MKPERF_STATUSES_TARGET,
    .self = {.bytes = sizeof(struct console)},
    .init = mkperf_recorder_talk_init,
    .run = run_console,
};
