/* SPDX-License-Identifier: BSD-2-Clause */
/* Sessions of the hook with one counter: see kernel.h. */
#include "pipeline.h"

enum {
    PROBE_PERIOD = 1000,    /* cycles */
    PROBE_SPINS = 2000000,  /* some tens of milliseconds at most */
    QUIET_SPINS = 20000,    /* spins until the hook is ready after a storm: some milliseconds */
    NEVER_WAKE = INT32_MAX, /* a watermark that no ring reaches */
};

/* Starts a session of counter 0, which overflows after `first` events of a kind that every program
 * causes. Returns whether the kernel accepted it. */
static bool apply_one(struct mkperf_ring_consumer *ring, uint32_t first, bool kernel,
                      uint32_t watermark, uint32_t callers)
{
    const struct mkperf_pmu_event *event = mkperf_event_there("cycles");
    struct mkperf_configuration *want = mkperf_kernel_blank(ring->size);

    event = event != NULL ? event : mkperf_event_there("instructions");
    if (event == NULL) {
        return false;
    }
    want->counter_mask = 1;
    want->enable_mask = first == PROBE_PERIOD;
    want->watermark = watermark;
    want->callers = callers;
    want->max_frames = callers != 0;
    want->counter[0] = (struct mkperf_request_counter){
        .select = mkperf_cpu.pmu->select(mkperf_cpu.id, event->code,
                                         MKPERF_PMU_THREADS | (kernel ? MKPERF_PMU_KERNEL : 0U)),
        .left = first,
        .interval = first,
        .period = MKPERF_MAX_PERIOD,
        .least = kernel || mkperf_cpu_infers_modes(&mkperf_cpu) ? MKPERF_MIN_KERNEL_PERIOD
                                                                : MKPERF_HOOK_MIN_PERIOD,
    };
    mkperf_ring_clear(ring);
    for (unsigned i = 0; i < QUIET_SPINS; i++) {
        if (mkperf_kernel_request(MKPERF_REQUEST_APPLY)) {
            return true;
        }
        if (mkperf_answered()->status != MKPERF_REQUEST_BAD_TIME) {
            return false;
        }
    }
    return false;
}

/* Mixes the few bits that differ from boot to boot into 64 bits (splitmix64's finalizer). */
static uint64_t mix_bits(uint64_t x)
{
    x = (x ^ x >> 30) * UINT64_C(0xbf58476d1ce4e5b9);
    x = (x ^ x >> 27) * UINT64_C(0x94d049bb133111eb);
    return x ^ x >> 31;
}

/* Lets counter 0 overflow once and waits, boundedly, for the hook to have seen it. */
bool mkperf_probe(struct mkperf_ring_consumer *ring)
{
    bool seen = false;

    if (!apply_one(ring, PROBE_PERIOD, false, NEVER_WAKE, 0)) {
        return mkperf_refuse(MKPERF_RESULT_NO_PMU, 0,
                             "the PMU counts neither cycles nor instructions");
    }
    for (unsigned i = 0; i < PROBE_SPINS && !seen; i++) {
        seen = __atomic_load_n(&ring->ring->head, __ATOMIC_ACQUIRE) != 0;
    }
    mkperf_kernel_request(MKPERF_REQUEST_WITHDRAW | MKPERF_REQUEST_SNAPSHOT);
    bool counted = mkperf_answered()->counter[0].value != UINT32_C(0) - PROBE_PERIOD;
    if (mkperf_kernel.boot_id == 0) {
        unsigned size; /* The probe's own sample, which is not delivered, has the time. */
        bool corrupt = false;
        const uint64_t *record = mkperf_ring_peek(ring, &size, &corrupt);
        bool timed = record != NULL && size > 8 * MKPERF_WORD_TIME;
        uint64_t time = timed ? record[MKPERF_WORD_TIME] : 0;
        mkperf_kernel.boot_id = mix_bits(mix_bits(time) ^ mkperf_answered()->time) | 1;
    }
    mkperf_ring_clear(ring); /* the probe's sample is thrown away */
    if (seen) {
        return true;
    }
    if (!counted) {
        return mkperf_refuse(MKPERF_RESULT_NO_PMU, 0,
                             "the PMU's counters do not count in user mode: the kernel or the "
                             "firmware forbids counting (MDCR_EL2, MDCR_EL3)");
    }
    return mkperf_refuse(MKPERF_RESULT_NO_HOOK, 0,
                         "a counter overflowed and the hook saw no interrupt: it is off, or "
                         "another one than the kernel was built for (KernelMkperfIRQ)");
}

bool mkperf_probe_begin(struct mkperf_ring_consumer *ring, uint32_t callers)
{
    return apply_one(ring, MKPERF_MAX_PERIOD, true, 8, callers) || /* each sample wakes */
           mkperf_refuse(MKPERF_RESULT_INTERNAL, 0, "the hook refuses a session");
}

void mkperf_probe_arm(uint32_t cycles)
{
    struct mkperf_configuration *want = mkperf_wanted();

    want->enable_mask = 1;
    want->counter[0].left = cycles;
    want->counter[0].interval = cycles;
    mkperf_kernel_request(MKPERF_REQUEST_CONTINUE);
}
