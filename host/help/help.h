/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Help about all commands together: the overview, man pages, and completion for bash and zsh.
 *
 * Owns: their texts, which come from the descriptions of base/args.h. Called by `mkperf help` and
 * by main.
 */
#ifndef MKPERF_HOST_HELP_HELP_H
#define MKPERF_HOST_HELP_HELP_H

#include "base/args.h"

/* All commands, in the order in which they are shown. Ends with NULL; cmd/commands.c defines it. */
extern const struct mkperf_command *const mkperf_commands[];

/* The lists of words that options and operands of all commands have, each once. Returns how many.
 */
enum { MKPERF_LISTS_MAX = 32 };
unsigned mkperf_lists(mkperf_list *out[MKPERF_LISTS_MAX]);
/* The number of a list among them; n: it is none of them. */
unsigned mkperf_list_number(mkperf_list *const lists[], unsigned n, mkperf_list *list);

/* An embedded script, without the comment that its first empty line ends. */
void mkperf_help_put_script(const char *begin, const char *end, FILE *out);

void mkperf_help_overview(FILE *out);                            /* mkperf --help */
void mkperf_help_man(const struct mkperf_command *c, FILE *out); /* NULL: mkperf(1) */
void mkperf_help_bash(FILE *out);
void mkperf_help_zsh(FILE *out);

#endif
