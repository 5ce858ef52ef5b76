/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The commands of mkperf: one function a file, called by main with argv[0] = the command's name.
 * The result is the process's exit status (enum mkperf_status).
 */
#ifndef MKPERF_HOST_CMD_H
#define MKPERF_HOST_CMD_H

#include <mkperf/version.h>

int mkperf_cmd_annotate(int argc, char **argv);
int mkperf_cmd_console(int argc, char **argv);
int mkperf_cmd_convert(int argc, char **argv);
int mkperf_cmd_diff(int argc, char **argv);
int mkperf_cmd_kprof2perf(int argc, char **argv);
int mkperf_cmd_list(int argc, char **argv);
int mkperf_cmd_record(int argc, char **argv);
int mkperf_cmd_recover(int argc, char **argv);
int mkperf_cmd_report(int argc, char **argv);
int mkperf_cmd_stat(int argc, char **argv);
int mkperf_cmd_script(int argc, char **argv);
int mkperf_cmd_top(int argc, char **argv);
int mkperf_cmd_toperf(int argc, char **argv);
int mkperf_cmd_view(int argc, char **argv);

#endif
