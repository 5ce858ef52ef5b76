/* SPDX-License-Identifier: BSD-2-Clause */
/* The expected period of each counter: see encode.h. */
#include "encode.h"

#include <mkperf/jitter.h>
#include <mkperf/wire.h>

enum { MIDDLE_BITS = 32 }; /* no session's base is longer */

static void set_middle(struct mkperf_period *p, struct mkperf_middle m)
{
    p->now = m;
    p->low = mkperf_jitter_interval(m.base, m.mask, 0);
}

uint64_t mkperf_period_next(const struct mkperf_period *p, uint64_t time, unsigned counter,
                            uint64_t mix)
{
    return p->low + (mkperf_jitter_draw(time, counter, mix) & p->now.mask);
}

void mkperf_period_expect(struct mkperf_period *p, uint64_t period, bool jitter)
{
    bool any = jitter && period > 1 && period >> MIDDLE_BITS == 0 && period != UINT32_MAX;

    p->jitter = jitter;
    set_middle(p, (struct mkperf_middle){period, any ? mkperf_jitter_mask((uint32_t)period) : 0});
}

/* Stores the middle that a jitter of this mask would give. Returns whether the policy gives that middle
 * this mask. */
static bool find_middle(uint64_t period, uint32_t draw, uint32_t mask, struct mkperf_middle *m)
{
    m->base = period - mkperf_jitter_interval(0, mask, draw);
    m->mask = mask;
    return mask != 0 && m->base > 1 && m->base < UINT32_MAX &&
           mkperf_jitter_mask((uint32_t)m->base) == mask;
}

bool mkperf_period_change(struct mkperf_period *p, unsigned counter, uint64_t period, uint64_t time,
                          uint64_t mix)
{
    uint32_t draw = mkperf_jitter_draw(p->last, counter, mix);
    uint64_t more = period - mkperf_period_next(p, p->last, counter, mix);
    struct mkperf_middle m;

    /* The interval seems to have ended late if so much is missing of the next one: the hook adds the events beyond an
     * overflow to the period if they are more than half of the next interval. Such a period is no sign of a new middle.
     * If the next period is unexpected, too, the middle has changed. */
    if (p->late != p->last && (int64_t)more > 0 &&
        more > mkperf_period_next(p, time, counter, mix) / 2) {
        p->late = time;
        return false;
    }
    bool found = !p->jitter || find_middle(period, draw, p->now.mask, &m);
    /* The width is between half a base and a whole one, so there are few that it can be. */
    for (unsigned i = 0; !found && i < 3; i++) {
        uint64_t like = (period << i) / 2;
        found = like > 1 && like < UINT32_MAX &&
                find_middle(period, draw, mkperf_jitter_mask((uint32_t)like), &m);
    }
    if (!found || !p->jitter) {
        find_middle(period, draw, p->now.mask, &m); /* Any middle explains the period. */
    }
    set_middle(p, m);
    return true;
}

void mkperf_periods_end(struct mkperf_periods *p)
{
    MKPERF_EACH_BIT (i, p->begun) {
        struct mkperf_period *c = &p->of[i];
        if (c->events != 0) {
            c->rate = (c->ticks << MKPERF_RATE_SHIFT) / c->events;
        }
        c->events = 0;
        c->ticks = 0;
    }
    p->begun = 0;
}
