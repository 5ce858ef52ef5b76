/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * A help for QEMU, which loses overflows of event counters under -icount (7.2 to 11.1).
 *
 * QEMU sets its timer one event before an event counter's overflow. Where the timer can meet that
 * event exactly, it finds no overflow then, and zero events to wait for, which sets no timer: the
 * overflow is not noticed before something else makes QEMU look, such as a change of the exception
 * level. So each counter of the session gets a follower: a counter that is left over, of the same
 * event, one event behind. When the timer comes too early for the one, it is set once more for the
 * other, and that is when the first overflows. Followers do not interrupt.
 *
 * Owns: the counters that a session leaves over. The profiler PD reads
 * MKPERF_FEATURE_FOLLOWERS and leaves one for each counter of user events that samples. Counters of the kernel's own events
 * are followed with what is then left: without a follower, the return to user mode makes QEMU look.
 */
#include <mkperf_port.h>

/* Two functions, not inlined, so that tests/sel4/cost can attribute their costs. */

/* The session's counters of the mask that interrupt soon get followers out of `spare`; returns those.
 * chosen: they are selected and enabled, too. */
static inline FORCE_INLINE uint32_t follow(const struct mkperf_hook *s, uint32_t mask,
                                           uint32_t spare, bool_t chosen)
{
    uint32_t followers = 0;

    for (mask &= ~s->session.read_mask; mask != 0 && spare != 0; mask &= mask - 1) {
        unsigned int i = (unsigned int)__builtin_ctz(mask);
        unsigned int f = (unsigned int)__builtin_ctz(spare);

        if (chosen) {
            mkperf_pmu_select(f, s->session.counter[i].select);
        }
        mkperf_pmu_write(f, mkperf_pmu_read(i) - 1);
        followers |= UINT32_C(1) << f;
        spare &= spare - 1;
    }
    return followers;
}

static inline FORCE_INLINE uint32_t followAll(const struct mkperf_hook *s, bool_t chosen)
{
    uint32_t spare = mkperf_pmu_counters() & ~s->mask;
    uint32_t followers = follow(s, s->enabled & ~s->kernel_mask, spare, chosen);

    return followers | follow(s, s->enabled & s->kernel_mask, spare & ~followers, chosen);
}

NO_INLINE void mkperf_qemuChosen(const struct mkperf_hook *s)
{
    uint32_t spare = mkperf_pmu_counters() & ~s->mask;

    mkperf_pmu_disable(spare);
    MKPERF_WRITE_REGISTER("pmcntenset_el0", followAll(s, true));
    mkperf_pmu_clear(spare);
}

NO_INLINE void mkperf_qemuArmed(const struct mkperf_hook *s)
{
    mkperf_pmu_clear(followAll(s, false));
}
