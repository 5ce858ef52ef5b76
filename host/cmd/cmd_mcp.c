/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * mkperf mcp: the commands that print JSON, as tools of the Model Context Protocol on standard input and output.
 *
 * Owns: the table of tools, and the processes that answer. Each call runs mkperf itself, so that a tool's answer is that of the
 * command. host/mcp has the protocol.
 */
#include <sys/mman.h>
#include <sys/wait.h>

#include "base/outfile.h"
#include "cmd.h"
#include "mcp/mcp.h"

enum { ANSWER_MAX = 1 << 18 };

static const struct mcp_tool tools[] = {
    {"explain", &mkperf_explain_command, "file", "why", NULL},
    {"report", &mkperf_report_command, "file",
     "sort pd event time percent-limit no-idle children ci", NULL},
    {"report-header-only", &mkperf_report_command, "file", "", "header-only"},
    {"report-charged", &mkperf_report_command, "file", "", "charged"},
    {"latency", &mkperf_latency_command, "file", "", NULL},
    {"latency-critical-path", &mkperf_latency_command, "file", "", "critical-path"},
    {"budget", &mkperf_budget_command, "file", "", NULL},
    {"flow", &mkperf_flow_command, "file", "", NULL},
    {"diff", &mkperf_diff_command, "before after", "sort per fail-above percent-limit", NULL},
    {"explain-regression", &mkperf_explain_command, "before after", "per", "why=regression"},
};

/* Reads at most ANSWER_MAX bytes up to the end of a line. The rest of the output is omitted, and a line reports that. */
static char *read_output(int fd, bool *cut)
{
    char *text = mkperf_xcalloc(ANSWER_MAX + 128, 1);
    size_t n = 0;
    ssize_t got;

    while (n < ANSWER_MAX && (got = read(fd, text + n, ANSWER_MAX - n)) > 0) {
        n += (size_t)got;
    }
    *cut = n == ANSWER_MAX;
    if (*cut) {
        char *end = strrchr(text, '\n');

        snprintf(end != NULL ? end + 1 : text, 128,
                 "the output is longer and was cut here: select with other arguments\n");
    }
    return text;
}

/* Runs mkperf. If it fails, the text is what it printed on standard error: its warnings are rows of JSON, too. */
static int run_command(void *self, char *const *argv, char **text)
{
    int ends[2] = {-1, -1}, status = 0;
    bool cut;

    (void)self;
    int errors = memfd_create("errors", MFD_CLOEXEC);
    pid_t child = errors >= 0 && pipe2(ends, O_CLOEXEC) == 0 ? fork() : -1;
    if (child == 0) {
        int null = open("/dev/null", O_RDONLY | O_CLOEXEC);

        (void)dup2(null, STDIN_FILENO);
        (void)dup2(ends[1], STDOUT_FILENO);
        (void)dup2(errors, STDERR_FILENO);
        execv("/proc/self/exe", argv);
        _exit(127);
    }
    if (child < 0) {
        *text = mkperf_xprintf("mkperf cannot be started: %s", strerror(errno));
        const int opened[] = {errors, ends[0], ends[1]};
        for (unsigned i = 0; i < 3 && opened[i] >= 0; i++) {
            close(opened[i]);
        }
        return 127;
    }
    close(ends[1]);
    *text = read_output(ends[0], &cut);
    close(ends[0]); /* a command that has more to print ends now */
    while (waitpid(child, &status, 0) < 0 && errno == EINTR) {
    }
    status = cut                 ? 0
             : WIFEXITED(status) ? WEXITSTATUS(status)
                                 : 127; /* cut: it could not write the rest */
    if (status > 1) {
        free(*text);
        (void)lseek(errors, 0, SEEK_SET);
        *text = read_output(errors, &cut);
    }
    close(errors);
    return status;
}

static enum mkperf_status run_mcp(void *self, const struct mkperf_args *args,
                                  struct mkperf_error *e)
{
    const struct mcp_server server = {
        .tool = tools, .ntools = sizeof tools / sizeof *tools, .run = run_command};
    char *line = NULL;
    size_t room = 0;
    ssize_t n;

    (void)self, (void)args;
    while (e->status == MKPERF_OK && (n = getline(&line, &room, stdin)) > 0) {
        if (n > MCP_LINE_MAX) {
            mkperf_error_set(e, MKPERF_ERR_INPUT, "a message of more than %d bytes", MCP_LINE_MAX);
            break;
        }
        mcp_answer(&server, line, (size_t)n, stdout);
        mkperf_stdout_flush(e);
    }
    free(line);
    return e->status;
}

const struct mkperf_command mkperf_mcp_command = {
    .name = "mcp",
    .summary = "answer questions about recordings for assistants",
    .synopsis = "",
    .description =
        "Serves the Model Context Protocol on standard input and output, until the input ends. Its "
        "tools are the commands that answer from recordings and print JSON. They read files that "
        "this user can read, write none, and connect to no target. docs/ask.md shows how an "
        "assistant or an editor starts it.",
    .operands_max = 0,
    .examples = "mkperf mcp",
    .self = {1, NULL},
    .run = run_mcp,
};
