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

/* It is not inlined, so that tests/sel4/cost can attribute its cost. */
NO_INLINE void mkperf_qemuFollow(const struct mkperf_hook *s)
{
    uint32_t leaders = s->session.enable_mask & ~s->session.read_mask;
    const uint32_t of_mode[] = {leaders & ~s->kernel_mask, leaders & s->kernel_mask};
    uint32_t others = mkperf_pmu_counters() & ~s->mask;
    uint32_t spare = others;

    for (word_t kernel = 0; kernel < 2; kernel++) {
        uint32_t rest = of_mode[kernel];
        for (; rest != 0 && spare != 0; rest &= rest - 1, spare &= spare - 1) {
            unsigned int i = mkperf_lowest_bit(rest);
            unsigned int f = mkperf_lowest_bit(spare);

            mkperf_pmu_select(f, s->session.counter[i].select);
            MKPERF_WRITE_REGISTER("pmcntenset_el0", UINT32_C(1) << f);
            /* QEMU sets its timer at a write to a counter that counts. */
            mkperf_pmu_write(f, mkperf_pmu_read(i) - 1);
        }
    }
    mkperf_pmu_disable(spare);
    mkperf_pmu_clear(others);
}
