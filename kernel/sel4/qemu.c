/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * A workaround for QEMU 7.2 to 11.1, which loses overflows of event counters under -icount.
 *
 * QEMU sets its timer one event before an event counter's overflow. If the timer meets that event exactly,
 * QEMU finds no overflow and zero events to wait for, and sets no timer. The overflow then stays unnoticed
 * until QEMU looks again, for example when the exception level changes. Each counter of the session therefore
 * gets a follower: a counter that the session does not use, of the same event, one event behind. After the
 * timer that is too early for the first counter, the timer for the follower meets the first one's overflow.
 * Followers do not interrupt.
 *
 * Owns: the counters that a session does not use. The profiler PD reads MKPERF_FEATURE_FOLLOWERS and leaves one
 * for each counter of user events that samples. Counters of kernel events get what is left. One without a
 * follower is noticed at the return to user mode.
 */
#include <mkperf_port.h>

/* The two functions below are not inlined, so that tests/sel4/cost can attribute their costs. */

/* Sets the followers of the session's counters that sample, first those of user events, and returns them.
 * chosen: their events are selected as well. */
static inline FORCE_INLINE uint32_t follow(const struct mkperf_hook *s, bool_t chosen)
{
    const uint32_t leaders[] = {s->session.enable_mask & ~s->kernel_mask,
                                s->session.enable_mask & s->kernel_mask};
    uint32_t followers = 0;
    uint32_t spare = mkperf_pmu_counters() & ~s->mask;

    for (word_t kernel = 0; kernel < 2; kernel++) {
        uint32_t mask = leaders[kernel] & ~s->session.read_mask;
        for (; mask != 0 && spare != 0; mask &= mask - 1) {
            unsigned int i = (unsigned int)__builtin_ctz(mask);
            unsigned int f = (unsigned int)__builtin_ctz(spare);

            if (chosen) {
                mkperf_pmu_select(f, s->session.counter[i].select);
            }
            mkperf_pmu_write(f, mkperf_pmu_read(i) - 1);
            followers |= UINT32_C(1) << f;
            spare &= spare - 1;
        }
    }
    return followers;
}

NO_INLINE void mkperf_qemuChosen(const struct mkperf_hook *s)
{
    uint32_t spare = mkperf_pmu_counters() & ~s->mask;

    mkperf_pmu_disable(spare);
    MKPERF_WRITE_REGISTER("pmcntenset_el0", follow(s, true));
    mkperf_pmu_clear(spare);
}

NO_INLINE void mkperf_qemuArmed(const struct mkperf_hook *s)
{
    mkperf_pmu_clear(follow(s, false));
}
