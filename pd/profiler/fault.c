/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Faults of the profiler PD's children.
 *
 * Owns: what Microkit's monitor does for PDs without a parent: it prints on the console what
 * happened, and the PD stays stopped. Called by main.c, outside the sampling path.
 */
#include "fault.h"

#include "../lib/text.h"

static const char *kind(uint64_t label)
{
    switch (label) {
    case seL4_Fault_VMFault:
        return "a memory fault";
    case seL4_Fault_UserException:
        return "a user exception";
    default:
        return "a fault";
    }
}

void mkperf_fault_tell(microkit_child child, microkit_msginfo msginfo)
{
    char text[160];
    struct mkperf_text t = mkperf_text_begin(text, sizeof text);
    uint64_t label = microkit_msginfo_get_label(msginfo);

    mkperf_text_put(&t, "mkperf: child ");
    mkperf_text_dec(&t, child);
    mkperf_text_put(&t, " of the profiler PD stopped: ");
    mkperf_text_put(&t, kind(label));
    mkperf_text_put(&t, ", pc ");
    mkperf_text_hex(&t, seL4_GetMR(0)); /* of all kinds of faults */
    if (label == seL4_Fault_VMFault) {
        mkperf_text_put(&t, ", address ");
        mkperf_text_hex(&t, seL4_GetMR(seL4_VMFault_Addr));
    }
    mkperf_text_put(&t, "\n");
    microkit_dbg_puts(text);
}
