/* SPDX-License-Identifier: BSD-2-Clause */
/* Owns: the output of mkperf --help, and the lists of words of all commands. See help.h. */
#include <string.h>

#include "help.h"

unsigned mkperf_list_number(mkperf_list *const lists[], unsigned n, mkperf_list *list)
{
    unsigned i = 0;

    while (i < n && lists[i] != list) {
        i++;
    }
    return i;
}

static unsigned add_list(mkperf_list *lists[], unsigned n, mkperf_list *list)
{
    if (list != NULL && n < MKPERF_LISTS_MAX && mkperf_list_number(lists, n, list) == n) {
        lists[n++] = list;
    }
    return n;
}

unsigned mkperf_lists(mkperf_list *out[MKPERF_LISTS_MAX])
{
    const struct mkperf_option *o;
    unsigned n = 0;

    for (unsigned c = 0; mkperf_commands[c] != NULL; c++) {
        for (unsigned i = 0; (o = mkperf_command_option(mkperf_commands[c], i)) != NULL; i++) {
            n = add_list(out, n, o->list);
        }
        n = add_list(out, n, mkperf_commands[c]->operand_list);
    }
    return n;
}

void mkperf_help_put_script(const char *begin, const char *end, FILE *out)
{
    const char *from = (const char *)memmem(begin, (size_t)(end - begin), "\n\n", 2) + 2;

    (void)fwrite(from, 1, (size_t)(end - from), out);
}

void mkperf_help_overview(FILE *out)
{
    fputs("usage: mkperf COMMAND [options]\n\nA profiler for systems on seL4 and Microkit.\n\n",
          out);
    for (unsigned i = 0; mkperf_commands[i] != NULL; i++) {
        fprintf(out, "  %-10s  %s\n", mkperf_commands[i]->name, mkperf_commands[i]->summary);
    }
    fputs("\nmkperf help COMMAND (or mkperf COMMAND --help) says more; mkperf --version the\n"
          "version.\n",
          out);
}
