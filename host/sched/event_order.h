/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Scheduling events of several cores into one order of time.
 *
 * Owns: a queue for each core whose events wait for those of the others. Memory is bounded: a core
 * that is silent for longer than MKPERF_ORDER_EVENTS events of the others is not waited for, and its
 * later events are counted as late if others have passed them.
 */
#ifndef MKPERF_HOST_SCHED_EVENT_ORDER_H
#define MKPERF_HOST_SCHED_EVENT_ORDER_H

#include "model/model.h"

enum { MKPERF_ORDER_EVENTS = 65536 };

struct mkperf_order_queue {
    struct mkperf_sched *event; /* a ring */
    size_t room, first, n;
};

struct mkperf_order {
    unsigned cores; /* that events are waited for */
    uint32_t room;
    struct mkperf_order_queue *core;
    size_t waiting;
    uint64_t last_ns, late;
    void (*pass)(void *self, const struct mkperf_sched *event);
    void *self;
};

/* cores: of the session; 0 or 1: events are passed at once. */
void mkperf_order_init(struct mkperf_order *o, unsigned cores,
                       void (*pass)(void *self, const struct mkperf_sched *event), void *self);
void mkperf_order_add(struct mkperf_order *o, const struct mkperf_sched *event);
/* The stream has ended: passes what is left. */
void mkperf_order_end(struct mkperf_order *o);
void mkperf_order_free(struct mkperf_order *o);

#endif
