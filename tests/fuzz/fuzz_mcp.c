/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * A message of any content to mkperf mcp. Each answer is one line of JSON, and a command line has only options of the tool's
 * table, each with its value in one word, and operands behind "--".
 */
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <jansson.h>

#include "mcp/mcp.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static const struct mkperf_option options[] = {
    MKPERF_OPTION('s', "sort", "keys", .value = "KEYS"),
    MKPERF_OPTION(0, "why", "a question", MKPERF_TAKES(WORD, "QUESTION"), .words = "one two"),
    MKPERF_OPTION(0, "ci", "intervals", MKPERF_IGNORED),
    MKPERF_OPTION('o', "output", "not for tools", .value = "FILE"),
    {.letter = 0},
};
static const struct mkperf_command command = {
    .name = "report", .description = "a report", .options = {{options, 0}}};
static const struct mcp_tool tools[] = {
    {"report", &command, "file", "sort why ci", NULL},
    {"report-charged", &command, "before after", "", "charged"},
};

static int run(void *self, char *const *argv, char **text)
{
    bool operands = false;

    if (strcmp(argv[0], "mkperf") != 0 || strcmp(argv[1], "report") != 0 ||
        strcmp(argv[2], "--json") != 0) {
        abort();
    }
    for (unsigned i = 3; argv[i] != NULL; i++) {
        bool known = strncmp(argv[i], "--sort=", 7) == 0 || strncmp(argv[i], "--why=", 6) == 0 ||
                     strcmp(argv[i], "--ci") == 0 || strcmp(argv[i], "--charged") == 0;
        if (!operands && !known && strcmp(argv[i], "--") != 0) {
            abort();
        }
        operands |= strcmp(argv[i], "--") == 0;
    }
    *text = mkperf_xstrdup("{\"type\":\"row\"}\n");
    return operands ? *(int *)self : (abort(), 0);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    int status = (int)(size % 3);
    const struct mcp_server server = {.tool = tools, .ntools = 2, .run = run, .self = &status};
    char *text;
    size_t n;
    FILE *out = mkperf_memstream_open(&text, &n);

    mcp_answer(&server, (const char *)data, size, out);
    mkperf_memstream_close(out);
    json_t *answer = n > 0 ? json_loadb(text, n, 0, NULL) : NULL;
    if (n > 0 &&
        (text[n - 1] != '\n' || memchr(text, '\n', n) != text + n - 1 || !json_is_object(answer) ||
         (json_object_get(answer, "result") == NULL) ==
             (json_object_get(answer, "error") == NULL))) {
        abort();
    }
    json_decref(answer);
    free(text);
    return 0;
}
