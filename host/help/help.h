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

/* The output of mkperf --help. */
void mkperf_help_overview(FILE *out);
/* The source of a man page: of mkperf(1), if c is NULL. */
void mkperf_help_man(const struct mkperf_command *c, FILE *out);
/* A script that completes commands and options in the shell. */
void mkperf_help_bash(FILE *out);
void mkperf_help_zsh(FILE *out);

#endif
