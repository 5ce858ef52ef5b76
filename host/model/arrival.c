/* SPDX-License-Identifier: BSD-2-Clause */
/* Owns: how samples and events are prepared and ordered when they arrive, see arrival.h. */
#include "arrival.h"

static void add_frame(struct mkperf_chain *c, uint64_t addr, uint32_t pd)
{
    if (c->n < MKPERF_MAX_FRAMES) {
        c->caller[c->n++] = (struct mkperf_caller){.addr = addr, .pd = pd};
    }
}

void mkperf_chain_prepare(struct mkperf_chain_forms *c, uint32_t pd, uint64_t lr,
                          const uint64_t *frame, unsigned n,
                          const struct mkperf_chain_lookup *lookup)
{
    enum {
        CALLER_WORDS = 3,
        CALL_BYTES = 4
    }; /* behind the marker; of the instruction that calls */
    struct mkperf_chain *plain = &c->plain, *repaired = &c->repaired;
    uint32_t owner = pd;

    plain->n = 0;
    c->unrepaired = false;
    for (unsigned i = 0; i < n && i < MKPERF_MAX_FRAMES; i++) {
        if (frame[i] == MKPERF_FRAME_PD) {
            if (i + 1 >= n) {
                break;
            }
            owner = lookup->find(lookup->pds, frame[++i]);
        } else if (frame[i] == MKPERF_FRAME_CALLER) {
            if (i + CALLER_WORDS >= n) {
                break;
            }
            /* A caller in another PD, which waits in its system call: its identity, lr and pc. */
            uint64_t caller_lr = frame[i + 2], pc = frame[i + 3];
            owner = lookup->find(lookup->pds, frame[i + 1]);
            i += CALLER_WORDS;
            add_frame(plain, pc, owner);
            if (caller_lr != 0) { /* 0: the target has added it, or there is none */
                enum mkperf_lr is = lookup->decide(lookup->pds, owner, pc - CALL_BYTES);
                c->unrepaired |= is == MKPERF_LR_UNKNOWN;
                if (is == MKPERF_LR_YES) {
                    add_frame(plain, caller_lr, owner);
                }
            }
        } else {
            add_frame(plain, frame[i], owner);
        }
    }
    repaired->n = plain->n;
    unsigned front = lr != 0; /* 0: the first function has no caller, or the target has added it */
    if (front) {
        repaired->caller[0] = (struct mkperf_caller){.addr = lr, .pd = pd};
        repaired->n++;
    }
    memcpy(repaired->caller + front, plain->caller, plain->n * sizeof *plain->caller);
}

/*
 * The order of time. Each core's samples are in order, and so are its events. Therefore there are two queues for each
 * core, and what is next is the oldest of all first entries.
 */

/* An entry of a queue, in words of 8 bytes. Behind this structure, an entry of a sample has the
 * sample's callers, and then its counts of other events. */
struct waiting {
    uint64_t time_ns;
    uint32_t words; /* words of all three parts */
    uint32_t reads; /* the word at which the counts begin */
    enum { SAMPLE, EVENT, READING } kind;
    union {
        struct mkperf_sample sample;
        struct mkperf_sched sched;
        struct mkperf_queue_reading reading;
    };
};

enum {
    WORD = sizeof(uint64_t),
    HEAD = (sizeof(struct waiting) + WORD - 1) / WORD,
    QUEUES = 2 * MKPERF_MAX_CORES, /* samples by core, events by core */
};

struct queue {
    uint64_t *word;
    size_t head, tail, room;
    uint64_t newest_ns; /* time of the core's newest entry; 0: it has sent nothing */
};

struct mkperf_merge {
    struct mkperf_sink to;
    uint32_t awaited; /* mask of queues */
    struct queue queue[QUEUES];
    size_t words;         /* words in all queues together */
    uint64_t newest_ns;   /* time of the newest entry of all cores */
    uint64_t released_ns; /* time of the newest sample that was released */
    uint64_t unordered;
};

struct mkperf_merge *mkperf_merge_new(struct mkperf_sink to)
{
    struct mkperf_merge *m = mkperf_xcalloc(1, sizeof *m);

    m->to = to;
    return m;
}

void mkperf_merge_free(struct mkperf_merge *m)
{
    for (unsigned i = 0; m != NULL && i < QUEUES; i++) {
        free(m->queue[i].word);
    }
    free(m);
}

void mkperf_merge_await(struct mkperf_merge *m, uint32_t samples, uint32_t events)
{
    m->awaited = samples | events << MKPERF_MAX_CORES;
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

/* Returns the queue with the oldest sample; of several, the lowest core's. Returns NULL if all are
 * empty. */
static struct queue *oldest(struct mkperf_merge *m, uint64_t *time_ns)
{
    struct queue *found = NULL;

    for (unsigned i = 0; i < QUEUES; i++) {
        struct queue *q = &m->queue[i];
        if (q->head != q->tail && (found == NULL || q->word[q->head] < *time_ns)) {
            found = q;
            *time_ns = q->word[q->head]; /* the time is the first member of struct waiting */
        }
    }
    return found;
}

enum mkperf_status mkperf_merge_release(struct mkperf_merge *m, bool all, struct mkperf_error *e)
{
    /* The time up to which no core can send an older sample, unless it is late. */
    uint64_t waited = m->newest_ns > MKPERF_MERGE_WAIT_NS ? m->newest_ns - MKPERF_MERGE_WAIT_NS : 0;
    uint64_t until = UINT64_MAX, time_ns = 0;
    struct queue *q;

    for (unsigned i = 0; i < QUEUES && !all; i++) {
        uint64_t ns = m->queue[i].newest_ns;
        if (ns != 0 || m->awaited >> i & 1) {
            until = ns < until ? ns : until;
        }
    }
    until = until > waited ? until : waited;
    while ((q = oldest(m, &time_ns)) != NULL &&
           (time_ns <= until || m->words * WORD > MKPERF_MERGE_BYTES)) {
        const uint64_t *at = q->word + q->head;
        enum mkperf_status status;
        struct waiting w;

        memcpy(&w, at, sizeof w);
        q->head += w.words;
        m->words -= w.words;
        m->unordered += w.time_ns < m->released_ns;
        m->released_ns = w.time_ns < m->released_ns ? m->released_ns : w.time_ns;
        if (w.kind == EVENT) {
            status = mkperf_sink_sched(&m->to, &w.sched, e);
        } else if (w.kind == READING) {
            status = mkperf_sink_queue_reading(&m->to, &w.reading, e);
        } else {
            w.sample.callers = (const struct mkperf_chain *)(const void *)(at + HEAD);
            w.sample.reads = (const struct mkperf_read *)(const void *)(at + w.reads);
            status = mkperf_sink_sample(&m->to, &w.sample, e);
        }
        MKPERF_TRY(status);
    }
    return MKPERF_OK;
}

/* Makes an entry wait in the queue of a core. Returns where it is, for its parts behind the head. */
static uint64_t *add_entry(struct mkperf_merge *m, uint32_t core, const struct waiting *w)
{
    assert(core < MKPERF_MAX_CORES);
    struct queue *q = &m->queue[w->kind == SAMPLE ? core : MKPERF_MAX_CORES + core];
    uint64_t *at = reserve(q, w->words);

    memcpy(at, w, sizeof *w);
    q->tail += w->words;
    q->newest_ns = w->time_ns;
    m->words += w->words;
    m->newest_ns = w->time_ns > m->newest_ns ? w->time_ns : m->newest_ns;
    return at;
}

static void queue_sample(struct mkperf_merge *m, const struct mkperf_sample *sample)
{
    size_t chain = offsetof(struct mkperf_chain, caller) +
                   sample->callers->n * sizeof sample->callers->caller[0];
    size_t reads = sample->nreads * sizeof *sample->reads;
    struct waiting w = {
        .time_ns = sample->time_ns, .reads = (uint32_t)(HEAD + words_of(chain)), .sample = *sample};
    w.words = w.reads + (uint32_t)words_of(reads);
    uint64_t *at = add_entry(m, sample->core, &w);
    memcpy(at + HEAD, sample->callers, chain);
    if (reads != 0) {
        memcpy(at + w.reads, sample->reads, reads);
    }
}

static enum mkperf_status merge_item(void *self, const struct mkperf_item *item,
                                     struct mkperf_error *e)
{
    struct mkperf_merge *m = self;
    struct waiting w = {.words = HEAD};

    switch (item->kind) {
    case MKPERF_ITEM_SAMPLE:
        queue_sample(m, item->sample);
        return MKPERF_OK;
    case MKPERF_ITEM_SCHED:
        w.kind = EVENT;
        w.time_ns = item->sched->time_ns;
        w.sched = *item->sched;
        (void)add_entry(m, item->sched->core, &w);
        return MKPERF_OK;
    case MKPERF_ITEM_READING:
        w.kind = READING;
        w.time_ns = item->reading->time_ns;
        w.reading = *item->reading;
        (void)add_entry(m, item->reading->core, &w);
        return MKPERF_OK;
    case MKPERF_ITEM_FLUSH:
        MKPERF_TRY(mkperf_merge_release(m, false, e));
        break;
    default:
        break;
    }
    return mkperf_sink_put(&m->to, item, e);
}

struct mkperf_sink mkperf_merge_sink(struct mkperf_merge *m)
{
    return (struct mkperf_sink){.take = merge_item, .self = m};
}
