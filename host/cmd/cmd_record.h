/* SPDX-License-Identifier: BSD-2-Clause */
/* What `mkperf dump` has of `mkperf record`: everything but the start. Owned by cmd_record.c. */
#ifndef MKPERF_HOST_CMD_CMD_RECORD_H
#define MKPERF_HOST_CMD_CMD_RECORD_H

#include "base/args.h"

/* Parses into a struct mkperf_record_options by c's groups, and records; dump: fetches a flight
 * recording instead of starting anything. The result is the exit status. */
int mkperf_record_main(const struct mkperf_command *c, bool dump, int argc, char **argv);

#endif
