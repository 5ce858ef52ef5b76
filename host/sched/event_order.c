/* SPDX-License-Identifier: BSD-2-Clause */
/* Owns: see event_order.h. */
#include "event_order.h"

#include <stdlib.h>

#include "base/xalloc.h"

void mkperf_order_init(struct mkperf_order *o, unsigned cores,
                       void (*pass)(void *self, const struct mkperf_sched *event), void *self)
{
    *o = (struct mkperf_order){.cores = cores, .pass = pass, .self = self};
}

static void pass(struct mkperf_order *o, const struct mkperf_sched *event)
{
    struct mkperf_sched e = *event;

    if (e.time_ns < o->last_ns) { /* others have continued without it */
        o->late++;
        e.time_ns = o->last_ns;
    }
    o->last_ns = e.time_ns;
    o->pass(o->self, &e);
}

static void push(struct mkperf_order_queue *q, const struct mkperf_sched *event)
{
    if (q->n == q->room) {
        size_t room = q->room != 0 ? 2 * q->room : 64;
        struct mkperf_sched *grown = mkperf_xcalloc(room, sizeof *grown);

        for (size_t i = 0; i < q->n; i++) {
            grown[i] = q->event[(q->first + i) % q->room];
        }
        free(q->event);
        q->event = grown;
        q->room = room;
        q->first = 0;
    }
    q->event[(q->first + q->n++) % q->room] = *event;
}

/* The queue with the oldest event; NULL: a core has none and is waited for. */
static struct mkperf_order_queue *oldest(struct mkperf_order *o, bool wait)
{
    struct mkperf_order_queue *found = NULL;
    unsigned n = o->room > o->cores ? o->room : o->cores;

    for (unsigned i = 0; i < n; i++) {
        struct mkperf_order_queue *q = i < o->room ? &o->core[i] : NULL;

        if (q == NULL || q->n == 0) {
            if (wait && i < o->cores) {
                return NULL;
            }
        } else if (found == NULL ||
                   q->event[q->first].time_ns < found->event[found->first].time_ns) {
            found = q;
        }
    }
    return found;
}

static void drain(struct mkperf_order *o, bool wait)
{
    struct mkperf_order_queue *q;

    while (o->waiting > 0 && (q = oldest(o, wait && o->waiting < MKPERF_ORDER_EVENTS)) != NULL) {
        pass(o, &q->event[q->first]);
        q->first = (q->first + 1) % q->room;
        q->n--;
        o->waiting--;
    }
}

void mkperf_order_add(struct mkperf_order *o, const struct mkperf_sched *event)
{
    if (o->cores <= 1 && o->waiting == 0) {
        pass(o, event);
        return;
    }
    MKPERF_GROW(o->core, o->room, (size_t)event->core + 1);
    push(&o->core[event->core], event);
    o->waiting++;
    drain(o, true);
}

void mkperf_order_end(struct mkperf_order *o)
{
    drain(o, false);
}

void mkperf_order_free(struct mkperf_order *o)
{
    for (unsigned i = 0; i < o->room; i++) {
        free(o->core[i].event);
    }
    free(o->core);
}
