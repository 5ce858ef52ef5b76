/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The client PD's requests, copied from the session page, and refusals of them.
 *
 * Owns: mkperf_refusal. Called by the profiler PD's operations before they use an argument. The client may
 * be hostile and may write to the page at any time, so each function copies first and checks the
 * copy. In an accepted copy, counts are within their arrays, strings end in a NUL and bools are 0
 * or 1; the caller checks the meaning of the numbers.
 */
#ifndef MKPERF_REQUEST_H
#define MKPERF_REQUEST_H

#include <mkperf/session.h>

#include "../lib/text.h"

/* Why the present call is refused; code 0: it is not. main.c clears it at the beginning of a call. */
extern mkperf_Error mkperf_refusal;

/* Fills in mkperf_refusal about the event with that index + 1 (0: about none). The text is formatted as by
 * mkperf_text_print. Returns false. */
__attribute__((format(printf, 3, 4))) bool mkperf_refuse(uint32_t code, uint32_t event,
                                                         const char *text, ...);

/* A reason to refuse a request, if `broken`. The others: as of mkperf_refuse. */
struct mkperf_rule {
    bool broken;
    uint32_t code;
    uint32_t event;
    const char *text; /* A %s in it is the name of the event. */
};

/* Refuses by the first of n rules that is broken. True: none is. */
bool mkperf_check_rules(const struct mkperf_rule *rule, unsigned n, const char *event);

/* Reads the argument of CONFIGURE. False: it is malformed, and mkperf_refusal has the reason. */
bool mkperf_request_take(struct mkperf_session_request *out,
                         const struct mkperf_session_page *page);

/* Reads the argument of OBSERVE. False: it is malformed, and mkperf_refusal has the reason. */
bool mkperf_request_take_observe(mkperf_Observe *out, const struct mkperf_session_page *page);

#endif
