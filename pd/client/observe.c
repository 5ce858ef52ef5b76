/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Observe: the data for attributing the timer's samples, from the host to the profiler PD.
 *
 * Owns: nothing. Called by control.c for the controller. Only nanopb's bounds are checked
 * here; the profiler PD does the rest.
 */
#include "control.h"

void mkperf_client_observe(struct mkperf_client *c, unsigned who, uint32_t request,
                           const mkperf_Observe *m)
{
    c->page->observe = *m;
    uint32_t result = c->call(MKPERF_OP_OBSERVE);
    if (result != MKPERF_RESULT_OK) {
        mkperf_report_refusal(c, who, request, result);
    } else if (m->part == 0) {
        mkperf_report_observer(c, who, request);
    } else {
        mkperf_report_ack(c, who, request);
    }
}
