/* SPDX-License-Identifier: BSD-2-Clause */
/* Owns: see profile.h. */
#include "profile.h"

#include <stdlib.h>
#include <string.h>

static enum mkperf_status out_of_memory(struct mkperf_error *e)
{
    return mkperf_error_set(e, MKPERF_ERR_FAILED, "out of memory");
}

static bool copy(char **to, const char *text)
{
    *to = text ? strdup(text) : NULL;
    return !text || *to;
}

static enum mkperf_status begin(void *self, const struct mkperf_session *session,
                                struct mkperf_error *e)
{
    struct report_profile *p = self;

    p->session = *session;
    if (!copy(&p->platform, session->platform) || !copy(&p->cpu, session->cpu) ||
        !copy(&p->kernel_elf, session->kernel_elf) || !copy(&p->command, session->command)) {
        return out_of_memory(e);
    }
    p->session.platform = p->platform;
    p->session.cpu = p->cpu;
    p->session.kernel_elf = p->kernel_elf;
    p->session.command = p->command;
    return MKPERF_OK;
}

static enum mkperf_status add_pd(void *self, const struct mkperf_pd *pd, struct mkperf_error *e)
{
    struct report_profile *p = self;
    struct report_pd *more;

    if (pd->id >= p->npds) {
        more = reallocarray(p->pd, (size_t)pd->id + 1, sizeof *more);
        if (!more) {
            return out_of_memory(e);
        }
        p->pd = more;
        while (p->npds <= pd->id) {
            p->pd[p->npds++] = (struct report_pd){.name = NULL};
        }
    }
    p->pd[pd->id].build_id = pd->build_id;
    p->pd[pd->id].idle = pd->thread == MKPERF_THREAD_IDLE;
    p->pd[pd->id].ambiguous = pd->thread == MKPERF_THREAD_AMBIGUOUS;
    if (!copy(&p->pd[pd->id].name, pd->name) || !copy(&p->pd[pd->id].elf, pd->elf)) {
        return out_of_memory(e);
    }
    return MKPERF_OK;
}

static uint32_t chain_key(const struct report_profile *p, const struct mkperf_sample *s,
                          uint64_t key[REPORT_CHAIN_WORDS_MAX])
{
    uint32_t n = REPORT_CHAIN_CALLERS;

    key[REPORT_CHAIN_EVENT] = s->event;
    key[REPORT_CHAIN_CORE] = p->with_core ? s->core : 0;
    key[REPORT_CHAIN_PD] = s->pd;
    key[REPORT_CHAIN_FLAGS] = s->flags & (MKPERF_SAMPLE_KERNEL | MKPERF_SAMPLE_NO_USER);
    key[REPORT_CHAIN_KERNEL_PC] = s->kernel_pc;
    key[REPORT_CHAIN_PC] = s->pc;
    for (unsigned i = 0; !p->leaves_only && i < s->callers->n; i++) {
        key[n++] = s->callers->caller[i].addr;
        key[n++] = s->callers->caller[i].pd;
    }
    return n;
}

/* Makes room for the weight of chain number `at`. */
static bool reserve_weight(struct report_profile *p, uint32_t at)
{
    uint32_t room = p->weight_room ? 2 * p->weight_room : 256;
    struct report_weight *more;

    if (at < p->weight_room) {
        return true;
    }
    more = reallocarray(p->weight, room, sizeof *more);
    if (!more) {
        return false;
    }
    memset(more + p->weight_room, 0, (room - p->weight_room) * sizeof *more);
    p->weight = more;
    p->weight_room = room;
    return true;
}

static bool keep_sample(struct report_profile *p, const struct mkperf_sample *s, uint32_t chain)
{
    if (p->nsamples == p->sample_room) {
        uint32_t room = p->sample_room ? 2 * p->sample_room : 1024;
        struct report_sample *more = reallocarray(p->sample, room, sizeof *more);

        if (!more || room < p->sample_room) {
            return false;
        }
        p->sample = more;
        p->sample_room = room;
    }
    p->sample[p->nsamples] = (struct report_sample){
        .time_ns = s->time_ns, .period = s->period, .chain = chain, .order = p->nsamples};
    p->nsamples++;
    return true;
}

static enum mkperf_status add_sample(void *self, const struct mkperf_sample *s,
                                     struct mkperf_error *e)
{
    struct report_profile *p = self;
    uint64_t key[REPORT_CHAIN_WORDS_MAX];
    int64_t number;

    if (!report_filter_passes(&p->filter, s->time_ns, s->core)) {
        return MKPERF_OK;
    }
    number = mkperf_hash_number(&p->chains, key, chain_key(p, s, key));
    if (number < 0 || !reserve_weight(p, (uint32_t)number) ||
        (p->keep_samples && !keep_sample(p, s, (uint32_t)number))) {
        return out_of_memory(e);
    }
    p->weight[number].samples++;
    p->weight[number].period += s->period;
    p->total[s->event].samples++;
    p->total[s->event].period += s->period;
    p->squares[s->event] += (double)s->period * (double)s->period;
    p->pd[s->pd].samples++;
    if (s->core >= p->cores_seen) {
        p->cores_seen = s->core + 1;
    }
    return MKPERF_OK;
}

/* The texts are those of begin; the events are more. */
static enum mkperf_status add_events(void *self, const struct mkperf_session *session,
                                     struct mkperf_error *e)
{
    struct report_profile *p = self;

    (void)e;
    p->session.nevents = session->nevents;
    memcpy(p->session.event, session->event, sizeof session->event);
    return MKPERF_OK;
}

static enum mkperf_status add_mark(void *self, const struct mkperf_mark *m, struct mkperf_error *e)
{
    struct report_profile *p = self;

    if (p->mark == NULL && (p->mark = calloc(REPORT_MARKS, sizeof *p->mark)) == NULL) {
        return out_of_memory(e);
    }
    if (p->nmarks < REPORT_MARKS) {
        struct report_mark *to = &p->mark[p->nmarks++];
        *to =
            (struct report_mark){.time_ns = m->time_ns, .pd = m->pd, .id = m->id, .kind = m->kind};
        strncpy(to->name, m->name, sizeof to->name - 1);
    }
    return MKPERF_OK;
}

static enum mkperf_status end(void *self, const struct mkperf_totals *totals,
                              struct mkperf_error *e)
{
    struct report_profile *p = self;

    (void)e;
    p->totals = *totals;
    p->totals.interactions = NULL; /* gone after this call */
    return MKPERF_OK;
}

struct mkperf_sink report_profile_sink(struct report_profile *p)
{
    static const struct mkperf_sink_ops ops = {
        .name = "report",
        .begin = begin,
        .pd = add_pd,
        .events = add_events,
        .sample = add_sample,
        .mark = add_mark,
        .end = end,
    };

    return (struct mkperf_sink){.ops = &ops, .self = p, .leaves_only = p->leaves_only};
}

uint32_t report_chain_addresses(const struct report_profile *p, uint32_t chain,
                                struct report_address out[REPORT_FRAMES_MAX])
{
    uint32_t words, n = 0;
    const uint64_t *key = mkperf_hash_key(&p->chains, chain, &words);
    uint32_t pd = (uint32_t)key[REPORT_CHAIN_PD];
    bool user = !(key[REPORT_CHAIN_FLAGS] & MKPERF_SAMPLE_NO_USER);

    if (key[REPORT_CHAIN_FLAGS] & MKPERF_SAMPLE_KERNEL) {
        out[n++] =
            (struct report_address){.addr = key[REPORT_CHAIN_KERNEL_PC], .pd = pd, .kernel = true};
    }
    if (user) {
        out[n++] = (struct report_address){.addr = key[REPORT_CHAIN_PC], .pd = pd};
    }
    for (uint32_t i = REPORT_CHAIN_CALLERS; i + 1 < words; i += 2) {
        out[n++] = (struct report_address){
            .addr = key[i], .pd = (uint32_t)key[i + 1], .kernel = !user, .is_return = true};
    }
    return n;
}

static int compare_samples(const void *pa, const void *pb)
{
    const struct report_sample *a = pa, *b = pb;

    if (a->time_ns != b->time_ns) {
        return a->time_ns < b->time_ns ? -1 : 1;
    }
    return a->order < b->order ? -1 : a->order > b->order;
}

void report_profile_sort(struct report_profile *p)
{
    if (p->nsamples > 0) {
        qsort(p->sample, p->nsamples, sizeof *p->sample, compare_samples);
    }
}

uint64_t report_lost(const struct report_profile *p)
{
    uint64_t lost = 0;

    for (unsigned i = 0; i < MKPERF_LOST_PLACES; i++) {
        lost += p->totals.lost[i];
    }
    return lost;
}

void report_profile_free(struct report_profile *p)
{
    for (uint32_t i = 0; i < p->npds; i++) {
        free(p->pd[i].name);
        free(p->pd[i].elf);
    }
    free(p->pd);
    free(p->platform);
    free(p->cpu);
    free(p->kernel_elf);
    free(p->command);
    free(p->weight);
    free(p->sample);
    free(p->mark);
    mkperf_hash_free(&p->chains);
}
