/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * A profile: the sink that counts chains, and their places; see profile.h. It can be answered from a snapshot (import/import.h).
 *
 *      reading, or a snapshot ─► chains with callers and cores ─► narrow ─► chains as they were asked for
 *
 * Questions that differ only in callers and cores thus share a snapshot.
 */
#include "profile.h"

#include <math.h>

#include "model/relays.h"

static const struct mkperf_shape_row pd_rows[] = {
    MKPERF_SHAPE_BYTES(struct mkperf_places_pd, samples, samples), MKPERF_SHAPE_END};

static const struct mkperf_shape_row profile_rows[] = {
    MKPERF_SHAPE_INSIDE(struct mkperf_profile, places.texts, mkperf_hash_rows),
    MKPERF_SHAPE_EACH(struct mkperf_profile, places.pd, places.npds, pd_rows),
    MKPERF_SHAPE_INSIDE(struct mkperf_profile, slices.numbers, mkperf_hash_rows),
    MKPERF_SHAPE_INSIDE(struct mkperf_profile, chains, mkperf_hash_rows),
    MKPERF_SHAPE_ARRAY(struct mkperf_profile, weight, chains.count, weight_room, NULL),
    MKPERF_SHAPE_BYTES(struct mkperf_profile, nevents, last_ns),
    MKPERF_SHAPE_BEHIND(struct mkperf_profile, sched, mkperf_analysis_rows),
    MKPERF_SHAPE_BYTES(struct mkperf_profile, woken, woken),
    MKPERF_SHAPE_BYTES(struct mkperf_profile, schedule.lost, schedule.lost),
    MKPERF_SHAPE_INSIDE(struct mkperf_profile, util.pds, mkperf_hash_rows),
    MKPERF_SHAPE_ARRAY(struct mkperf_profile, util.ran_ns, util.pds.count, util.ran_room, NULL),
    MKPERF_SHAPE_INSIDE(struct mkperf_profile, util.cores, mkperf_hash_rows),
    MKPERF_SHAPE_ARRAY(struct mkperf_profile, util.core, util.cores.count, util.core_room, NULL),
    MKPERF_SHAPE_BYTES(struct mkperf_profile, unsure, unsure),
    MKPERF_SHAPE_INSIDE(struct mkperf_profile, mark_keys, mkperf_hash_rows),
    MKPERF_SHAPE_ARRAY(struct mkperf_profile, mark_sum, mark_keys.count, mark_room, NULL),
    MKPERF_SHAPE_BYTES(struct mkperf_profile, nmarks_passed, nmarks),
    MKPERF_SHAPE_END};

struct mkperf_question mkperf_profile_question(struct mkperf_profile *p)
{
    struct mkperf_question q = {.kept = {{p, profile_rows}}};
    const struct report_filter *f = &p->filter;
    char *text;
    size_t n;

    if (p->times || p->keep_schedule) {
        return q;
    }
    FILE *to = mkperf_memstream_open(&text, &n);
    fprintf(to, "profile%s%s%s%s%s%s quantum %" PRIu64,
            p->wide || !p->leaves_only ? " callers" : "", p->wide || p->cores ? " cores" : "",
            p->off_cpu ? " off-cpu" : "", p->utilisation ? " util" : "", p->runs ? " runs" : "",
            p->latency ? " latency" : "", p->slices.quantum_ns);
    if (f->has_time) {
        fprintf(to, " time %" PRIu64 " %" PRIu64, f->from_ns, f->to_ns);
    }
    for (unsigned i = 0; f->cores.given && i < MKPERF_CPU_LIST_MAX / 64; i++) {
        fprintf(to, " %" PRIx64, f->cores.bits[i]);
    }
    mkperf_memstream_close(to);
    q.text = text;
    return q;
}

/* Writes the key of a sample's chain, see profile.h. Returns its number of words. */
static uint32_t chain_key(const struct mkperf_profile *p, const struct mkperf_sample *s,
                          uint32_t slice, uint64_t key[MKPERF_PROFILE_WORDS_MAX])
{
    uint32_t flags = s->flags & (MKPERF_SAMPLE_KERNEL | MKPERF_SAMPLE_NO_USER |
                                 MKPERF_SAMPLE_BLOCKED | MKPERF_GUEST_MASK);
    const struct mkperf_caller *caller = s->callers->caller;
    unsigned callers = p->leaves_only && !p->wide ? 0 : s->callers->n, own = 0;
    uint32_t n = MKPERF_PROFILE_ADDRESSES;

    if (flags & MKPERF_SAMPLE_KERNEL) {
        key[n++] = s->kernel_pc;
    }
    if (flags & MKPERF_SAMPLE_BLOCKED) {
        key[n++] = s->wait;
    }
    if (!(flags & MKPERF_SAMPLE_NO_USER)) {
        key[n++] = s->pc;
    }
    for (; own < callers && caller[own].pd == s->pd; own++) {
        key[n++] = caller[own].addr;
    }
    if (own < callers) {
        flags |= MKPERF_PROFILE_OTHER_PDS;
        n -= own;
        for (unsigned i = 0; i < callers; i++) {
            key[n++] = caller[i].addr;
            key[n++] = caller[i].pd;
        }
    }
    key[MKPERF_PROFILE_THREAD] = s->pd | (uint64_t)s->event << 32;
    key[MKPERF_PROFILE_FLAGS] =
        flags | (uint64_t)(p->cores || p->wide ? s->core : 0) << MKPERF_PROFILE_CORE_AT |
        (uint64_t)slice << MKPERF_PROFILE_SLICE_AT;
    return n;
}

/* Counts a sample of the recording, or one that is made of a run or of a time of waiting. */
static enum mkperf_status keep_sample(struct mkperf_profile *p, const struct mkperf_sample *s,
                                      struct mkperf_error *e)
{
    uint64_t key[MKPERF_PROFILE_WORDS_MAX];
    uint32_t slice;

    MKPERF_FAIL_IF(s->event >= MKPERF_MODEL_EVENTS, e, MKPERF_ERR_FAILED, "more than %d events",
                   MKPERF_MODEL_EVENTS);
    if (!report_filter_passes(&p->filter, s->time_ns, s->core)) {
        return MKPERF_OK;
    }
    MKPERF_TRY(mkperf_time_slice(&p->slices, s->time_ns, &slice, e));
    uint32_t number = mkperf_hash_number(&p->chains, key, chain_key(p, s, slice, key));
    MKPERF_GROW(p->weight, p->weight_room, (size_t)number + 1);
    uint64_t count = mkperf_sample_count(s);
    p->weight[number].samples += count;
    p->weight[number].period += s->period;
    p->total[s->event].samples += count;
    p->total[s->event].period += s->period;
    p->squares[s->event] += (double)s->period * (double)s->period / (double)count;
    p->nevents = s->event >= p->nevents ? s->event + 1 : p->nevents;
    p->cores_seen = s->core >= p->cores_seen ? s->core + 1 : p->cores_seen;
    if (s->pd < p->places.npds) {
        p->places.pd[s->pd].samples += count;
    }
    p->first_ns = s->time_ns < p->first_ns ? s->time_ns : p->first_ns;
    p->last_ns = s->time_ns > p->last_ns ? s->time_ns : p->last_ns;
    if (!p->times) {
        return MKPERF_OK;
    }
    struct mkperf_profile_sample kept = {.time_ns = s->time_ns,
                                         .period = s->period,
                                         .chain = number,
                                         .core = s->core,
                                         .order = (uint32_t)p->samples.count};
    return mkperf_spool_add(&p->samples, &kept, e);
}

/* Counts a sample without a callchain that is made of ns of a PD until a time. */
static enum mkperf_status keep_made(struct mkperf_profile *p, uint64_t time, uint64_t ns,
                                    uint32_t pd, uint32_t core, uint64_t wait,
                                    struct mkperf_error *e)
{
    static const struct mkperf_chain none = {.n = 0};
    const struct mkperf_sample s = {.time_ns = time,
                                    .period = ns,
                                    .pd = pd,
                                    .core = core,
                                    .flags = MKPERF_SAMPLE_NO_USER | MKPERF_SAMPLE_BLOCKED,
                                    .wait = wait,
                                    .callers = &none};

    return keep_sample(p, &s, e);
}

static enum mkperf_status add_run(void *self, const struct mkperf_core_interval *run,
                                  struct mkperf_error *e)
{
    return keep_made(self, run->from, run->to - run->from, run->pd, run->core,
                     mkperf_blocked_wait(MKPERF_PD_RUNNING, MKPERF_SCHED_SWITCH, 0, 0), e);
}

static void add_blocked(void *self, const struct mkperf_interval *i)
{
    struct mkperf_profile *p = self;
    const struct mkperf_woken *w = &p->woken;
    bool known = i->state == MKPERF_PD_WAITING && w->to == i->pd && w->time == i->to;

    if ((i->state == MKPERF_PD_CALLING || i->state == MKPERF_PD_WAITING ||
         i->state == MKPERF_PD_THROTTLED || i->state == MKPERF_PD_STOPPED) &&
        p->sched_failed.status == MKPERF_OK) {
        (void)keep_made(p, i->to, i->to - i->from, i->pd, i->core,
                        known ? mkperf_blocked_wait(i->state, w->kind, w->irq, w->from)
                              : mkperf_blocked_wait(i->state, MKPERF_SCHED_SWITCH, 0, i->by),
                        &p->sched_failed);
    }
}

static void note_woken(void *self, const struct mkperf_woken *w)
{
    ((struct mkperf_profile *)self)->woken = *w;
}

/* The spools, and the size of their records. Those of the schedule are kept with keep_schedule. */
#define SPOOL(member, record)                                          \
    {                                                                  \
        offsetof(struct mkperf_profile, member), sizeof(struct record) \
    }
static const struct {
    size_t at, size;
} spools[] = {
    SPOOL(samples, mkperf_profile_sample),       SPOOL(losses, mkperf_lost),
    SPOOL(marks, mkperf_profile_mark),           SPOOL(schedule.intervals, mkperf_interval),
    SPOOL(schedule.calls, mkperf_schedule_call), SPOOL(schedule.gaps, mkperf_core_interval),
    SPOOL(schedule.wakings, mkperf_woken),       SPOOL(schedule.windows, mkperf_schedule_window),
};
enum { SPOOLS = sizeof spools / sizeof *spools, SPOOLS_OF_SAMPLES = 3 };

static struct mkperf_spool *spool_of(struct mkperf_profile *p, unsigned i)
{
    return (struct mkperf_spool *)(void *)((char *)p + spools[i].at);
}

static enum mkperf_status begin_profile(struct mkperf_profile *p, const struct mkperf_session *of,
                                        struct mkperf_error *e)
{
    struct mkperf_session session = *of;

    p->off_cpu_event = mkperf_off_cpu_event(&session);
    p->made = p->runs || (p->off_cpu && p->off_cpu_event == MKPERF_MODEL_EVENTS);
    MKPERF_FAIL_IF(
        (p->made || p->latency) && !session.sched, e, MKPERF_ERR_INPUT, "%s",
        p->runs   ? "no scheduling events were recorded, by which to know how long each PD ran "
                    "(mkperf record --sched)"
        : p->made ? "neither samples of blocked threads nor scheduling events were recorded "
                    "(mkperf record --off-cpu)"
                  : "no scheduling events were recorded, by which to know how many cores "
                    "worked (mkperf record --sched)");
    if (p->made) { /* samples are made from scheduling events */
        session.nevents = 1;
        session.event[0] = (struct mkperf_event){.user = true, .kernel = true, .period = 1};
        snprintf(session.event[0].name, sizeof session.event[0].name, "%s",
                 p->runs ? MKPERF_RUN_TIME_EVENT : MKPERF_OFF_CPU_EVENT);
    }
    if (session.nevents == 0 && !((p->keep_schedule || p->events_suffice) && session.sched)) {
        return mkperf_no_samples(e);
    }
    p->nevents = session.nevents;
    p->first_ns = UINT64_MAX;
    if (session.sched && p->sched == NULL) {
        p->sched = mkperf_analysis_new();
        if (p->off_cpu && p->made) {
            p->woken.to = MKPERF_SCHED_NOBODY;
            mkperf_analysis_listen(p->sched,
                                   (struct mkperf_analysis_listener){
                                       .interval = add_blocked, .woken = note_woken, .self = p});
        }
        if (p->utilisation) {
            p->util = (struct mkperf_utilisation){.filter = &p->filter,
                                                  .slices = &p->slices,
                                                  .on_run = p->runs ? add_run : NULL,
                                                  .self = p,
                                                  .failed = &p->sched_failed};
            mkperf_utilisation_attach(&p->util, p->sched);
        }
        if (p->keep_schedule) {
            mkperf_schedule_attach(&p->schedule, p->sched, &p->sched_failed);
        }
    }
    if (p->sched != NULL) {
        (void)mkperf_analysis_take(p->sched, MKPERF_ITEM(BEGIN, session, &session), e);
    }
    for (unsigned i = 0; p->times && i < (p->schedule.open ? SPOOLS : SPOOLS_OF_SAMPLES); i++) {
        MKPERF_TRY(mkperf_spool_open(spool_of(p, i), spools[i].size, e));
    }
    (void)mkperf_places_take(&p->places, MKPERF_ITEM(BEGIN, session, &session), e);
    if (p->keep_schedule) {
        mkperf_fills_begin(&p->fills, &p->places.session);
    }
    return MKPERF_OK;
}

static enum mkperf_status add_sample(struct mkperf_profile *p, const struct mkperf_sample *s,
                                     struct mkperf_error *e)
{
    if (p->made || (p->off_cpu && s->event != p->off_cpu_event)) {
        return MKPERF_OK;
    }
    if (!p->latency) {
        return keep_sample(p, s, e);
    }
    struct mkperf_sample weighed = *s;
    weighed.period = mkperf_parallel_weight(p->sched, s, mkperf_places_idle(&p->places, s->pd),
                                            p->places.session.cores, &p->unsure);
    return weighed.period != 0 ? keep_sample(p, &weighed, e) : MKPERF_OK;
}

static enum mkperf_status add_mark(struct mkperf_profile *p, const struct mkperf_mark *m,
                                   struct mkperf_error *e)
{
    bool passes = report_filter_has_time(&p->filter, m->time_ns);
    struct mkperf_profile_mark kept = {.time_ns = m->time_ns,
                                       .pd = m->pd,
                                       .kind = m->kind,
                                       .id = m->id,
                                       .name = mkperf_hash_text_number(&p->places.texts, m->name),
                                       .order = p->marks.count};

    uint64_t key[2] = {kept.pd, kept.name};
    uint32_t at = mkperf_hash_number(&p->mark_keys, key, 2);
    struct mkperf_phase phase = {.pd = kept.pd, .id = kept.id, .name = kept.name};
    struct mkperf_phase_begin begin = {.time_ns = kept.time_ns, .tag = passes};

    MKPERF_GROW(p->mark_sum, p->mark_room, p->mark_keys.count);
    struct mkperf_mark_sum *sum = &p->mark_sum[at];
    sum->points += kept.kind == MKPERF_MARK_POINT && passes;
    sum->open += kept.kind == MKPERF_MARK_BEGIN && passes;
    if (mkperf_marks_add(&p->phases, m->kind, &phase, &begin) && begin.tag) {
        uint64_t ns = kept.time_ns > begin.time_ns ? kept.time_ns - begin.time_ns : 0;
        sum->open--;
        sum->phases++;
        sum->sum_ns += ns;
        sum->longest_ns = ns > sum->longest_ns ? ns : sum->longest_ns;
    }
    if (!passes) {
        return MKPERF_OK;
    }
    p->nmarks_passed++;
    if (p->nmarks < MKPERF_PROFILE_MARKS) {
        p->mark[p->nmarks++] = kept;
    }
    if (!p->times) {
        return MKPERF_OK;
    }
    p->first_ns = m->time_ns < p->first_ns ? m->time_ns : p->first_ns;
    p->last_ns = m->time_ns > p->last_ns ? m->time_ns : p->last_ns;
    return mkperf_spool_add(&p->marks, &kept, e);
}

static enum mkperf_status sched_status(const struct mkperf_profile *p, struct mkperf_error *e)
{
    if (p->sched_failed.status != MKPERF_OK) {
        *e = p->sched_failed;
    }
    return p->sched_failed.status;
}

/* Joins the chains of a wide profile that are equal without what was not asked for: callers, cores. Chains are in the order of their
 * first samples, so those that remain get the numbers that they would have had. */
static void narrow(struct mkperf_profile *p)
{
    struct mkperf_hash chains = {.count = 0};
    struct mkperf_weight *weight = NULL;
    uint32_t room = 0;

    for (uint32_t i = 0; i < p->chains.count; i++) {
        uint64_t key[MKPERF_PROFILE_WORDS_MAX];
        const uint64_t *wide = mkperf_hash_key(&p->chains, i);
        uint32_t words = mkperf_hash_words(wide);

        memcpy(key, wide, words * sizeof *key);
        if (p->leaves_only) {
            uint64_t flags = key[MKPERF_PROFILE_FLAGS];
            words = MKPERF_PROFILE_ADDRESSES + ((flags & MKPERF_SAMPLE_KERNEL) != 0) +
                    ((flags & MKPERF_SAMPLE_BLOCKED) != 0) + ((flags & MKPERF_SAMPLE_NO_USER) == 0);
            key[MKPERF_PROFILE_FLAGS] &= ~(uint64_t)MKPERF_PROFILE_OTHER_PDS;
        }
        if (!p->cores) {
            key[MKPERF_PROFILE_FLAGS] &=
                ~((uint64_t)(MKPERF_MODEL_CORES - 1) << MKPERF_PROFILE_CORE_AT);
        }
        uint32_t number = mkperf_hash_number(&chains, key, words);
        MKPERF_GROW(weight, room, (size_t)number + 1);
        mkperf_weight_add(&weight[number], &p->weight[i]);
    }
    mkperf_hash_free(&p->chains);
    free(p->weight);
    p->chains = chains;
    p->weight = weight;
    p->weight_room = room;
}

static enum mkperf_status end_profile(struct mkperf_profile *p, const struct mkperf_item *item,
                                      struct mkperf_error *e)
{
    const struct mkperf_totals *totals = item->totals;

    p->totals = *totals;
    if (p->wide && (p->leaves_only || !p->cores)) {
        narrow(p);
    }
    if (p->sched != NULL) {
        (void)mkperf_analysis_take(p->sched, item, e);
    }
    if (p->sched != NULL && p->utilisation) {
        mkperf_utilisation_end(&p->util);
    }
    MKPERF_TRY(sched_status(p, e));
    for (unsigned i = 0; i < MKPERF_LOST_PLACES; i++) {
        p->lost[i] = p->lost[i] > totals->lost[i] ? p->lost[i] : totals->lost[i];
    }
    if (p->first_ns > p->last_ns) {
        p->first_ns = p->last_ns = 0;
    }
    enum mkperf_status status = p->whole != NULL ? p->whole(p->self, e) : MKPERF_OK;
    p->totals.interactions = NULL; /* they are valid only during this call */
    p->totals.counts = NULL;
    return status;
}

static enum mkperf_status collect(void *self, const struct mkperf_item *item,
                                  struct mkperf_error *e)
{
    struct mkperf_profile *p = self;

    switch (item->kind) {
    case MKPERF_ITEM_BEGIN:
        return begin_profile(p, item->session, e);
    case MKPERF_ITEM_PD:
        if (p->sched != NULL) {
            (void)mkperf_analysis_take(p->sched, item, e);
        }
        return mkperf_places_take(&p->places, item, e);
    case MKPERF_ITEM_EVENTS:
        if (p->made) {
            break;
        }
        p->nevents = item->session->nevents;
        return mkperf_places_take(&p->places, item, e);
    case MKPERF_ITEM_SAMPLE:
        return add_sample(p, item->sample, e);
    case MKPERF_ITEM_MARK:
        return add_mark(p, item->mark, e);
    case MKPERF_ITEM_SCHED:
        if (p->sched == NULL) {
            break;
        }
        p->schedule.lost += item->sched->lost;
        mkperf_analysis_event(p->sched, item->sched);
        return sched_status(p, e);
    case MKPERF_ITEM_READING:
        mkperf_fills_add(&p->fills, item->reading); /* without keep_schedule there are no queues */
        break;
    case MKPERF_ITEM_LOST:
        p->lost[item->lost->where] += item->lost->samples;
        return p->times ? mkperf_spool_add(&p->losses, item->lost, e) : MKPERF_OK;
    case MKPERF_ITEM_END:
        return end_profile(p, item, e);
    default:
        break;
    }
    return MKPERF_OK;
}

struct mkperf_sink mkperf_profile_sink(struct mkperf_profile *p)
{
    return (struct mkperf_sink){
        .take = collect, .self = p, .splits = true, .leaves_only = p->leaves_only && !p->wide};
}

struct mkperf_chain_head mkperf_profile_head(const struct mkperf_profile *p, uint32_t chain)
{
    const uint64_t *key = mkperf_hash_key(&p->chains, chain);

    return (struct mkperf_chain_head){
        .pd = (uint32_t)key[MKPERF_PROFILE_THREAD],
        .event = (uint32_t)(key[MKPERF_PROFILE_THREAD] >> 32),
        .core = (uint32_t)(key[MKPERF_PROFILE_FLAGS] >> MKPERF_PROFILE_CORE_AT) %
                MKPERF_MODEL_CORES,
        .slice = (uint32_t)(key[MKPERF_PROFILE_FLAGS] >> MKPERF_PROFILE_SLICE_AT)};
}

uint32_t mkperf_profile_addresses(const struct mkperf_profile *p, uint32_t chain,
                                  struct mkperf_place out[MKPERF_PLACES_MAX])
{
    uint32_t at = MKPERF_PROFILE_ADDRESSES;
    const uint64_t *key = mkperf_hash_key(&p->chains, chain);
    struct mkperf_chain callers;
    struct mkperf_sample s = {.pd = (uint32_t)key[MKPERF_PROFILE_THREAD],
                              .flags = (uint32_t)key[MKPERF_PROFILE_FLAGS],
                              .callers = &callers};
    bool others = s.flags & MKPERF_PROFILE_OTHER_PDS;

    if (s.flags & MKPERF_SAMPLE_KERNEL) {
        s.kernel_pc = key[at++];
    }
    if (s.flags & MKPERF_SAMPLE_BLOCKED) {
        s.wait = key[at++];
    }
    if (!(s.flags & MKPERF_SAMPLE_NO_USER)) {
        s.pc = key[at++];
    }
    for (callers.n = 0; at < mkperf_hash_words(key); at += others ? 2 : 1) {
        callers.caller[callers.n++] =
            (struct mkperf_caller){.addr = key[at], .pd = others ? (uint32_t)key[at + 1] : s.pd};
    }
    return mkperf_sample_addresses(&s, out);
}

void mkperf_profile_chain(struct mkperf_profile *p, uint32_t number,
                          struct mkperf_profile_chain *out)
{
    struct mkperf_chain_head head = mkperf_profile_head(p, number);
    struct mkperf_place address[MKPERF_PLACES_MAX];
    uint32_t n = mkperf_profile_addresses(p, number, address);

    out->pd = head.pd;
    out->event = head.event;
    out->core = head.core;
    out->weight = p->weight[number];
    out->n = mkperf_places_of(&p->places, head.pd, address, n, out->place);
    if (p->edges && !mkperf_places_ambiguous(&p->places, head.pd)) {
        /* Inserts edges where the PD changes, as long as there is room. */
        bool inferred = mkperf_places_inferred(&p->places, out->event);

        for (uint32_t i = 1; i < out->n && out->n < MKPERF_PLACES_MAX; i++) {
            uint32_t pd = p->places.place[out->place[i - 1]].pd;
            if (p->places.place[out->place[i]].pd != pd) {
                memmove(out->place + i + 1, out->place + i, (out->n - i) * sizeof *out->place);
                out->place[i] = mkperf_places_edge(&p->places, pd, inferred);
                out->n++;
                i++; /* skips the edge, which has the PD of the place before it */
            }
        }
    }
}

void mkperf_profile_cost(struct mkperf_profile *p)
{
    struct mkperf_profile_chain chain;

    memset(&p->cost, 0, sizeof p->cost);
    for (uint32_t i = 0; i < p->chains.count; i++) {
        mkperf_profile_chain(p, i, &chain);
        mkperf_cost_add(&p->cost, &p->places, chain.event, chain.pd, chain.place[0],
                        chain.weight.period);
    }
    mkperf_cost_snapshots(&p->cost, &p->places, p->totals.snapshots_us);
}

double mkperf_profile_equal_samples(const struct mkperf_profile *p, uint32_t event)
{
    double sum = (double)p->total[event].period;

    return p->squares[event] > 0 ? sum * sum / p->squares[event] : 0;
}

double mkperf_profile_interval(const struct mkperf_profile *p, uint32_t event, double share)
{
    if (p->places.session.exact) {
        return 0; /* each instruction was counted */
    }
    double n = mkperf_profile_equal_samples(p, event);
    double with_4 = (share / 100 * n + 2) / (n + 4); /* two more samples inside, two outside */

    return n > 0 ? 1.96 * 100 * sqrt(with_4 * (1 - with_4) / (n + 4)) : 100;
}

enum mkperf_status mkperf_profile_order(struct mkperf_profile *p, struct mkperf_error *e)
{
    const struct mkperf_profile_sample *sample = NULL;
    const struct mkperf_lost *lost = NULL;
    const struct mkperf_profile_mark *mark = NULL;

    for (unsigned i = 0; i < (p->schedule.open ? SPOOLS : SPOOLS_OF_SAMPLES); i++) {
        MKPERF_TRY(mkperf_spool_map(spool_of(p, i), e));
    }
    MKPERF_SPOOL_SORT(&p->samples, MKPERF_UP(sample, time_ns), MKPERF_UP(sample, core),
                      MKPERF_UP(sample, order));
    MKPERF_SPOOL_SORT(&p->losses, MKPERF_UP(lost, time_ns));
    MKPERF_SPOOL_SORT(&p->marks, MKPERF_UP(mark, time_ns), MKPERF_UP(mark, order));
    return MKPERF_OK;
}

void mkperf_profile_free(struct mkperf_profile *p)
{
    mkperf_shape_free(profile_rows, p);
    mkperf_analysis_free(p->sched);
    p->sched = NULL;
    mkperf_places_free(&p->places);
    mkperf_marks_free(&p->phases);
    for (unsigned i = 0; i < SPOOLS; i++) {
        mkperf_spool_close(spool_of(p, i));
    }
    free(p->schedule.block);
    p->schedule = (struct mkperf_schedule){.open = false};
    mkperf_fills_free(&p->fills);
    mkperf_utilisation_free(&p->util);
}
