/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * `mkperf record --overwrite`: begins a flight recording and leaves it to the target.
 *
 * Owns: the options of flight recordings and of software events; see docs/events.md.
 */
#ifndef MKPERF_HOST_LINK_FLIGHT_START_H
#define MKPERF_HOST_LINK_FLIGHT_START_H

#include "model/pds.h"
#include "recorder.h"

/* Of a struct mkperf_record_options: --overwrite, --mmap-pages, --dump-on-fault, --interactions. */
extern const struct mkperf_option_group mkperf_flight_options;

/* After parsing: options that exclude each other. USAGE. */
enum mkperf_status mkperf_flight_check(const struct mkperf_record_options *o,
                                       struct mkperf_error *e);

/* Configures and starts it with a recorder that has only options, and reports that on standard error
 * unless they have quiet. Errors: as mkperf_recorder_start. */
enum mkperf_status mkperf_flight_start(struct mkperf_recorder *r, struct mkperf_error *e);

/* For the summary of a dump: what ended the recording; "" while it runs. Returns text. */
const char *mkperf_flight_reason(const mkperf_Status *status, struct mkperf_pds *pds, char *text,
                                 size_t n);

#endif
