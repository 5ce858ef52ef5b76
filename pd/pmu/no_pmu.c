/* SPDX-License-Identifier: BSD-2-Clause */
/* The place of a PMU on an architecture for which there is no kernel hook (x86-64). Sessions of its events are refused with the reason. */
#include "pmu.h"

static const struct mkperf_pmu_event events[] = {{NULL, 0, MKPERF_RATE_BUSY, NULL}};

static void cpu(const uint64_t *id, char *name, size_t n)
{
    (void)id;
    (void)n;
    name[0] = '\0';
}

static bool supported(const uint64_t *id, uint32_t code)
{
    (void)id;
    (void)code;
    return false;
}

static uint32_t selector(const uint64_t *id, uint32_t code, unsigned modes)
{
    (void)id;
    (void)code;
    (void)modes;
    return 0;
}

const struct mkperf_pmu mkperf_no_pmu = {
    .name = "none",
    .none = "mkperf has no kernel extension for this architecture: -e timer is what it can record",
    .cpu = cpu,
    .supported = supported,
    .select = selector,
    .events = events,
};
