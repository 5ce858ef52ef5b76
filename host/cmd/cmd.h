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

extern const struct mkperf_command mkperf_agent_command;
extern const struct mkperf_command mkperf_annotate_command;
extern const struct mkperf_command mkperf_budget_command;
extern const struct mkperf_command mkperf_console_command;
extern const struct mkperf_command mkperf_convert_command;
extern const struct mkperf_command mkperf_diff_command;
extern const struct mkperf_command mkperf_dump_command;
extern const struct mkperf_command mkperf_exact_command;
extern const struct mkperf_command mkperf_explain_command;
extern const struct mkperf_command mkperf_flow_command;
extern const struct mkperf_command mkperf_help_command;
extern const struct mkperf_command mkperf_kprof2perf_command;
extern const struct mkperf_command mkperf_latency_command;
extern const struct mkperf_command mkperf_list_command;
extern const struct mkperf_command mkperf_mcp_command;
extern const struct mkperf_command mkperf_record_command;
extern const struct mkperf_command mkperf_recover_command;
extern const struct mkperf_command mkperf_report_command;
extern const struct mkperf_command mkperf_script_command;
extern const struct mkperf_command mkperf_selftest_command;
extern const struct mkperf_command mkperf_stamp_command;
extern const struct mkperf_command mkperf_stat_command;
extern const struct mkperf_command mkperf_top_command;
extern const struct mkperf_command mkperf_toperf_command;
extern const struct mkperf_command mkperf_view_command;

/* Reports an unknown command and suggests the most similar one. Returns the exit status. */
int mkperf_no_command(const char *name);

#endif
