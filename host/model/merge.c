/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Owns: see merge.h. A queue for each core, since a core's samples are in order; the next sample
 * is the oldest of the queues' first ones.
 */
#include "merge.h"

#include <stdlib.h>
#include <string.h>

#include "base/xalloc.h"

/* In a queue, in words of 8 bytes: this, the callers, the reads. */
struct waiting {
    size_t words; /* of all three */
    size_t reads; /* where they begin */
    struct mkperf_sample sample;
};

enum { WORD = sizeof(uint64_t), HEAD = (sizeof(struct waiting) + WORD - 1) / WORD };

struct queue {
    uint64_t *word;
    size_t head, tail, room;
    uint64_t newest_ns; /* of the core; 0: it has sent nothing */
};

struct mkperf_merge {
    uint32_t awaited; /* mask of cores */
    struct queue queue[MKPERF_MAX_CORES];
    size_t words;         /* in all queues */
    uint64_t newest_ns;   /* of all cores */
    uint64_t released_ns; /* of the newest sample that was released */
    uint64_t unordered;
};

struct mkperf_merge *mkperf_merge_new(void)
{
    return mkperf_xcalloc(1, sizeof(struct mkperf_merge));
}

void mkperf_merge_free(struct mkperf_merge *m)
{
    for (unsigned i = 0; m != NULL && i < MKPERF_MAX_CORES; i++) {
        free(m->queue[i].word);
    }
    free(m);
}

void mkperf_merge_await(struct mkperf_merge *m, uint32_t cores)
{
    m->awaited = cores;
}

uint64_t mkperf_merge_unordered(const struct mkperf_merge *m)
{
    return m->unordered;
}

static size_t words_of(size_t bytes)
{
    return (bytes + WORD - 1) / WORD;
}

/* Makes room for n words at the queue's tail. */
static uint64_t *reserve(struct queue *q, size_t n)
{
    if (q->head == q->tail) {
        q->head = q->tail = 0;
    }
    if (q->tail + n > q->room && q->head > q->room / 2) {
        memmove(q->word, q->word + q->head, (q->tail - q->head) * WORD);
        q->tail -= q->head;
        q->head = 0;
    }
    MKPERF_GROW(q->word, q->room, q->tail + n);
    return q->word + q->tail;
}

static void append(struct mkperf_merge *m, struct queue *q, const struct mkperf_sample *s)
{
    size_t chain = offsetof(struct mkperf_chain, caller) +
                   s->callers->n * sizeof s->callers->caller[0];
    size_t reads = s->nreads * sizeof *s->reads;
    struct waiting w = {.reads = HEAD + words_of(chain), .sample = *s};

    w.words = w.reads + words_of(reads);
    uint64_t *at = reserve(q, w.words);
    memcpy(at, &w, sizeof w);
    memcpy(at + HEAD, s->callers, chain);
    if (reads != 0) {
        memcpy(at + w.reads, s->reads, reads);
    }
    q->tail += w.words;
    m->words += w.words;
}

/* The queue with the oldest sample; of several, the lowest core's. NULL: all are empty. */
static struct queue *oldest(struct mkperf_merge *m, uint64_t *time_ns)
{
    struct queue *found = NULL;

    for (unsigned i = 0; i < MKPERF_MAX_CORES; i++) {
        struct queue *q = &m->queue[i];
        struct waiting w;
        if (q->head == q->tail) {
            continue;
        }
        memcpy(&w, q->word + q->head, sizeof w);
        if (found == NULL || w.sample.time_ns < *time_ns) {
            found = q;
            *time_ns = w.sample.time_ns;
        }
    }
    return found;
}

/* Up to which time no core can send an older sample, unless it is late. */
static uint64_t horizon(const struct mkperf_merge *m)
{
    uint64_t waited = m->newest_ns > MKPERF_MERGE_WAIT_NS ? m->newest_ns - MKPERF_MERGE_WAIT_NS : 0;
    uint64_t heard = UINT64_MAX;

    for (unsigned i = 0; i < MKPERF_MAX_CORES; i++) {
        uint64_t ns = m->queue[i].newest_ns;
        if (ns != 0 || m->awaited >> i & 1) {
            heard = ns < heard ? ns : heard;
        }
    }
    return heard > waited ? heard : waited;
}

static enum mkperf_status release_first(struct mkperf_merge *m, struct queue *q,
                                        const struct mkperf_sink *to, struct mkperf_error *e)
{
    const uint64_t *at = q->word + q->head;
    struct waiting w;

    memcpy(&w, at, sizeof w);
    w.sample.callers = (const struct mkperf_chain *)(const void *)(at + HEAD);
    w.sample.reads = (const struct mkperf_read *)(const void *)(at + w.reads);
    q->head += w.words;
    m->words -= w.words;
    if (w.sample.time_ns < m->released_ns) {
        m->unordered++;
    } else {
        m->released_ns = w.sample.time_ns;
    }
    return mkperf_sink_sample(to, &w.sample, e);
}

enum mkperf_status mkperf_merge_release(struct mkperf_merge *m, bool all,
                                        const struct mkperf_sink *to, struct mkperf_error *e)
{
    uint64_t until = all ? UINT64_MAX : horizon(m), time_ns;
    struct queue *q;

    while ((q = oldest(m, &time_ns)) != NULL &&
           (time_ns <= until || m->words * WORD > MKPERF_MERGE_BYTES)) {
        if (release_first(m, q, to, e) != MKPERF_OK) {
            return e->status;
        }
    }
    return MKPERF_OK;
}

enum mkperf_status mkperf_merge_add(struct mkperf_merge *m, const struct mkperf_sample *sample,
                                    const struct mkperf_sink *to, struct mkperf_error *e)
{
    struct queue *q = &m->queue[sample->core];

    append(m, q, sample);
    q->newest_ns = sample->time_ns;
    m->newest_ns = sample->time_ns > m->newest_ns ? sample->time_ns : m->newest_ns;
    return m->words * WORD > MKPERF_MERGE_BYTES ? mkperf_merge_release(m, false, to, e) : MKPERF_OK;
}
