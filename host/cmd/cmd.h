/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The commands of mkperf.
 *
 * Owns: the description of each command. commands.c has them in a table. main calls the command with argv[0] set to its
 * name. The status of the command (enum mkperf_status) is the exit status of the process.
 */
#ifndef MKPERF_HOST_CMD_CMD_H
#define MKPERF_HOST_CMD_CMD_H

#include <mkperf/version.h>

#include "help/help.h"

/* NULL: there is no such command. */
const struct mkperf_command *mkperf_command_by_name(const char *name);

/* All commands, in the order in which they are shown. */
/* clang-format off */
#define MKPERF_COMMANDS(X) \
    X(record) X(stat) X(exact) X(dump) X(list) X(top) X(console) \
    X(explain) X(report) X(latency) X(budget) X(flow) X(annotate) X(script) X(diff) X(view) \
    X(convert) X(toperf) X(kprof2perf) X(recover) X(stamp) X(selftest) X(agent) X(mcp) X(help)
/* clang-format on */
#define MKPERF_COMMAND_DECLARED(name) extern const struct mkperf_command mkperf_##name##_command;
MKPERF_COMMANDS(MKPERF_COMMAND_DECLARED)

/* Reports an unknown command and suggests the most similar one. Returns the exit status. */
int mkperf_no_command(const char *name);

#endif
