/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Help about all commands: the overview, man pages, and completion for bash and zsh.
 *
 * Owns: their texts, which it makes from the descriptions of base/args.h. Called by `mkperf help` and by main.
 */
#ifndef MKPERF_HOST_HELP_HELP_H
#define MKPERF_HOST_HELP_HELP_H

#include "base/args.h"

/* All commands in the order in which they are shown, and NULL. cmd/commands.c defines it. */
extern const struct mkperf_command *const mkperf_commands[];

/* Prints the output of mkperf --help. */
void mkperf_help_overview(FILE *out);
/* Prints the source of a man page: that of mkperf(1), if c is NULL. */
void mkperf_help_man(const struct mkperf_command *c, FILE *out);
/* Prints a script that completes commands and options in the shell. */
void mkperf_help_bash(FILE *out);
void mkperf_help_zsh(FILE *out);

#endif
