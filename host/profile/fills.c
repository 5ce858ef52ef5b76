/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * How full queues were, for the page. Owns: the queues of the session, and the entries at each reading. Called by profile.c.
 *
 * Memory is bounded: of MKPERF_FILLS readings every second one of each queue is discarded, and from then on every second one is
 * not kept. flow/queues.c has the exact figures.
 */
#include "profile.h"

enum { MKPERF_FILLS = 1 << 19 };

void mkperf_fills_begin(struct mkperf_fills *f, const struct mkperf_session *session)
{
    mkperf_fills_free(f);
    f->nqueues = session->nqueues;
    f->queue = mkperf_xcalloc(f->nqueues + 1, sizeof *f->queue);
    f->read = mkperf_xcalloc(f->nqueues + 1, sizeof *f->read);
    f->step = 1;
    for (unsigned i = 0; i < f->nqueues; i++) {
        f->queue[i] = session->queue[i];
        f->queue[i].name = mkperf_xstrdup(f->queue[i].name);
        f->queue[i].kind = mkperf_xstrdup(f->queue[i].kind);
        f->queue[i].producer = mkperf_xstrdup(f->queue[i].producer);
        f->queue[i].consumer = mkperf_xstrdup(f->queue[i].consumer);
    }
}

void mkperf_fills_free(struct mkperf_fills *f)
{
    mkperf_queues_free(f->queue, f->nqueues);
    free(f->read);
    free(f->fill);
    *f = (struct mkperf_fills){.nqueues = 0};
}

static void halve(struct mkperf_fills *f)
{
    size_t kept = 0;

    memset(f->read, 0, f->nqueues * sizeof *f->read);
    for (size_t i = 0; i < f->fills; i++) {
        if (f->read[f->fill[i].queue]++ % 2 == 0) {
            f->fill[kept++] = f->fill[i];
        }
    }
    f->fills = kept;
    f->step *= 2;
}

void mkperf_fills_add(struct mkperf_fills *f, const struct mkperf_queue_reading *r)
{
    if (r->queue >= f->nqueues || f->read[r->queue]++ % f->step != 0) {
        return;
    }
    const struct mkperf_queue *q = &f->queue[r->queue];
    unsigned bits = q->index_bits - 1 < 64 ? q->index_bits : 64;
    uint64_t entries = (r->tail - r->head) & UINT64_MAX >> (64 - bits);
    if (f->fills == MKPERF_FILLS) {
        halve(f);
    }
    MKPERF_GROW(f->fill, f->room, f->fills + 1);
    uint64_t last = f->fills > 0 ? f->fill[f->fills - 1].time_ns : 0;
    f->fill[f->fills++] = (struct mkperf_queue_fill){
        .time_ns = r->time_ns > last ? r->time_ns : last,
        .queue = r->queue,
        .entries = entries <= q->capacity && entries < MKPERF_FILL_UNKNOWN ? (uint32_t)entries
                                                                           : MKPERF_FILL_UNKNOWN};
}
