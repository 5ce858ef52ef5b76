/* SPDX-License-Identifier: BSD-2-Clause */
/* Owns: names and descriptions of software events, see soft.h. Host-testable. */
#include "soft.h"

#include "../lib/text.h"

const struct mkperf_soft_name mkperf_soft_events[MKPERF_SOFT_KINDS] = {
    [MKPERF_SOFT_SWITCH] = {"context-switches", "another thread ran than before"},
    [MKPERF_SOFT_FAULT] = {"faults", "memory and capability faults, exceptions of PDs"},
    [MKPERF_SOFT_PPCALL] = {"ppcalls", "protected calls that were delivered"},
    [MKPERF_SOFT_NOTIFICATION] = {"notifications", "notifications by PDs"},
};

uint32_t mkperf_soft_named(const char *name)
{
    for (uint32_t kind = 0; kind < MKPERF_SOFT_KINDS; kind++) {
        if (mkperf_text_is(name, MKPERF_NAME_BYTES, mkperf_soft_events[kind].name)) {
            return kind + 1;
        }
    }
    return mkperf_text_is(name, MKPERF_NAME_BYTES, "cs") ? MKPERF_SOFT_SWITCH + 1 : 0;
}
