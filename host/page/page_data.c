/* SPDX-License-Identifier: BSD-2-Clause */
/* Owns: the data of the page, except scheduling events. See page.h. */
#include "page.h"

/* A label of the tree with this bit is a PD, otherwise a function. */
static const uint32_t PD_LABEL = UINT32_C(1) << 31;

struct maker {
    const struct page_input *in;
    struct mkperf_frames *f;
    struct mkperf_profile *p;
    struct page_columns c;
    struct mkperf_hash texts; /* the texts that the page gets: their numbers in the profile */
    uint64_t first, last;     /* the page's time in ns */
};

struct page_input page_input_of(struct mkperf_frames *f, const char *file)
{
    const struct mkperf_profile *p = f->profile;

    return (struct page_input){
        .frames = f,
        .sample = p->samples.map,
        .samples = p->samples.count,
        .mark = p->marks.map,
        .marks = p->marks.count,
        .loss = p->losses.map,
        .losses = p->losses.count,
        .schedule = {.interval = p->schedule.intervals.map,
                     .intervals = p->schedule.intervals.count,
                     .call = p->schedule.calls.map,
                     .calls = p->schedule.calls.count,
                     .gap = p->schedule.gaps.map,
                     .gaps = p->schedule.gaps.count,
                     .woken = p->schedule.wakings.map,
                     .wokens = p->schedule.wakings.count,
                     .window = p->schedule.windows.map,
                     .windows = p->schedule.windows.map != NULL ? p->schedule.windows.count : 0,
                     .lost = p->schedule.lost,
                     .analysis = p->sched},
        .file = file};
}

static uint32_t text_of(struct maker *m, uint32_t text)
{
    uint64_t key = text;

    return mkperf_hash_number(&m->texts, &key, 1);
}

void page_data_span(const struct page_input *in, uint64_t *first, uint64_t *last)
{
    *first = UINT64_MAX;
    *last = 0;
    if (in->samples > 0) {
        *first = in->sample[0].time_ns;
        *last = in->sample[in->samples - 1].time_ns;
    }
    if (in->marks > 0) {
        const struct mkperf_profile_mark *end = &in->mark[in->marks - 1];
        *first = in->mark[0].time_ns < *first ? in->mark[0].time_ns : *first;
        *last = page_later(end->time_ns, *last);
    }
    const struct mkperf_analysis *a = in->schedule.analysis;
    if (in->schedule.intervals >
        0) { /* together they last from the first scheduling event to the last one */
        /* A live page has only the newest samples and intervals; its time begins with the samples. */
        *first = a->first_ns < *first && !(in->live && in->samples > 0) ? a->first_ns : *first;
        *last = page_later(a->last_ns, *last);
    }
    *first = *first != UINT64_MAX ? *first : 0;
}

/* Adds the path of a chain to the tree. Returns its innermost node. */
static uint32_t add_chain(struct mkperf_tree *t, struct maker *m, uint32_t chain, uint32_t pd)
{
    uint32_t function[MKPERF_FRAMES_MAX], n = mkperf_frames_of(m->f, chain, function);
    bool ambiguous = mkperf_places_ambiguous(&m->p->places, pd);
    uint32_t owner = ambiguous ? pd : mkperf_frames_label(m->f, function[n - 1]).pd;
    uint32_t node = mkperf_tree_child(t, 0, PD_LABEL | owner);

    while (n-- > 0) {
        uint32_t of = mkperf_frames_label(m->f, function[n]).pd;
        if (of != owner && !ambiguous) { /* a protected call into that PD */
            owner = of;
            node = mkperf_tree_child(t, node, PD_LABEL | of);
        }
        node = mkperf_tree_child(t, node, function[n]);
    }
    return node;
}

/* Returns 1 + the offset of the innermost address in its function, or 0 if it is not known. start: the address of each
 * function. */
static uint64_t offset_of(const struct maker *m, uint32_t chain, const uint64_t *start)
{
    uint32_t function[MKPERF_FRAMES_MAX];
    struct mkperf_place address[MKPERF_PLACES_MAX];
    struct mkperf_symbol symbol;

    if (mkperf_profile_addresses(m->p, chain, address) == 0) {
        return 0;
    }
    struct mkperf_module *module = mkperf_frames_module(m->f, address[0].pd, address[0].kernel);
    if (module == NULL || !mkperf_symbol_at(module, address[0].addr, &symbol)) {
        return 0;
    }
    uint32_t n = mkperf_frames_of(m->f, chain, function), i = 0;
    while (i + 1 < n && mkperf_frames_label(m->f, function[i]).inlined) {
        i++;
    }
    return start[function[i]] == symbol.start ? address[0].addr - symbol.start + 1 : 0;
}

static const char *or_empty(const char *text)
{
    return text != NULL ? text : "";
}

static void put_line(void *self, const char *line)
{
    fprintf(self, "%s\n", line);
}

static void put_warning(void *self, enum mkperf_warning_level level, const char *text)
{
    mkperf_json(self, ",{'level':%s,'text':%s}", mkperf_warning_names[level], text);
}

static void put_calls(struct mkperf_textout *t, const char *from, const char *to, uint64_t calls,
                      uint64_t notifications)
{
    mkperf_json(t, ",{'from':%s,'to':%s,'calls':%" PRIu64 ",'notifications':%" PRIu64 "}", from, to,
                calls, notifications);
}

static void put_json(struct maker *m)
{
    const struct page_input *in = m->in;
    const struct mkperf_profile *p = m->p;
    const struct mkperf_interactions *a = p->totals.interactions;
    const struct mkperf_analysis *sched = a == NULL ? in->schedule.analysis : NULL;
    struct mkperf_colours colours = {.colour = NULL};
    struct mkperf_textout *t = &m->c.json;
    char *head_text = NULL, room[32];
    size_t n = 0;
    FILE *head = mkperf_memstream_open(&head_text, &n);

    mkperf_profile_notes(p, put_line, head);
    mkperf_frames_warn(m->f, head);
    mkperf_memstream_close(head);
    mkperf_json(t, "{'file':%s,'head':%s,'events':[", in->file, head_text);
    free(head_text);
    for (uint32_t i = 0; i < p->nevents; i++) {
        mkperf_json(t, ",{'name':%s,'inferred':%hhd}",
                    mkperf_places_event_name(&p->places, i, room),
                    mkperf_places_inferred(&p->places, i));
    }
    mkperf_colours_choose(&colours, m->p, NULL);
    mkperf_json(t, "],'pds':[");
    for (uint32_t i = 0; i < p->places.npds; i++) {
        uint32_t colour = mkperf_colours_of(&colours, mkperf_profile_pd_name(p, i));

        mkperf_json(t, ",{'name':%s,'idle':%hhd,'colour':'#%06x','kernel':'#%06x'}",
                    mkperf_profile_pd_name(p, i), mkperf_places_idle(&p->places, i), colour,
                    mkperf_kernel_colour(colour));
    }
    mkperf_colours_free(&colours);
    mkperf_json(t,
                "],'cores':%u,'from':'%" PRIu64 "','to':'%" PRIu64 "','samples':%zu,'lost':%" PRIu64
                ",'complete':%hhd,'live':%hhd,'speedscope':%hhd"
                ",'older':{'samples':%zu,'marks':%zu,'losses':%zu},'warnings':[",
                p->cores_seen, m->first, m->last, in->samples, mkperf_lost_sum(p->lost),
                p->totals.complete, in->live, in->speedscope, in->older_samples, in->older_marks,
                in->older_losses);
    mkperf_profile_warnings(p, put_warning, t);
    mkperf_places_unnamed(&p->places, NULL, put_warning, t);
    mkperf_json(t, "],'calls':[");
    /* Without interactions, those that scheduling events show: whole calls, and notifications that have arrived. */
    for (unsigned i = 0; sched != NULL && i < sched->nedges; i++) {
        const struct mkperf_call_edge *edge = &sched->edge[i];

        if (edge->wall.count != 0 && edge->exit == 0) {
            put_calls(t, mkperf_analysis_name(sched, edge->from),
                      mkperf_analysis_name(sched, edge->to), edge->wall.count, 0);
        }
    }
    for (unsigned i = 0; sched != NULL && i < sched->nwakes; i++) {
        const struct mkperf_wakeup *wake = &sched->wake[i];
        uint64_t sent = wake->delay.count + wake->busy;

        if (sent != 0 && wake->kind == MKPERF_SCHED_NOTIFY) {
            put_calls(t, mkperf_analysis_name(sched, wake->from),
                      mkperf_analysis_name(sched, wake->to), 0, sent);
        }
    }
    for (unsigned i = 0; a != NULL && i < a->nedges; i++) {
        put_calls(t, a->edge[i].from, a->edge[i].to, a->edge[i].calls, a->edge[i].notifications);
    }
    mkperf_json(t, "],'queues':[");
    for (unsigned i = 0; i < p->fills.nqueues; i++) {
        const struct mkperf_queue *q = &p->fills.queue[i];

        mkperf_json(t, ",{'name':%s,'producer':%s,'consumer':%s,'size':%" PRIu64 ",'returns':%hhd}",
                    q->name, or_empty(q->producer), or_empty(q->consumer), q->capacity, q->returns);
    }
    mkperf_json(t, "],'texts':[");
    for (uint32_t i = 0; i < m->texts.count; i++) {
        mkperf_json(t, ",%s", mkperf_frames_text(m->f, (uint32_t)*mkperf_hash_key(&m->texts, i)));
    }
    mkperf_json(t, "]");
}

struct page_bytes page_data_make(const struct page_input *in)
{
    struct maker m = {.in = in, .f = in->frames, .p = in->frames->profile};

    page_data_span(in, &m.first, &m.last);
    page_columns_begin(&m.c);
    const struct mkperf_profile_sample *s = in->sample;
    uint64_t *span = mkperf_profile_spans(m.p, s, in->samples, NULL);
    PAGE_COLUMN(&m.c, "s_delta", in->samples, s[i].time_ns - (i > 0 ? s[i - 1].time_ns : m.first));
    PAGE_COLUMN(&m.c, "s_chain", in->samples, s[i].chain);
    PAGE_COLUMN(&m.c, "s_core", in->samples, s[i].core);
    PAGE_COLUMN(&m.c, "s_period", in->samples, s[i].period);
    page_column(&m.c, "s_span", span, in->samples);
    free(span);
    uint32_t n = m.p->chains.count, functions;
    struct mkperf_tree t;
    uint64_t *start;
    PAGE_COLUMN(&m.c, "c_event", n, mkperf_profile_head(m.p, (uint32_t)i).event);
    PAGE_COLUMN(&m.c, "c_pd", n, mkperf_profile_head(m.p, (uint32_t)i).pd);
    mkperf_tree_init(&t);
    PAGE_COLUMN(&m.c, "c_node", n,
                add_chain(&t, &m, (uint32_t)i, mkperf_profile_head(m.p, (uint32_t)i).pd));
    functions = m.f->functions.count;
    start = page_function_starts(m.f);
    PAGE_COLUMN(&m.c, "c_offset", n, offset_of(&m, (uint32_t)i, start));
    PAGE_COLUMN(&m.c, "n_parent", t.n, t.node[i].parent);
    PAGE_COLUMN(&m.c, "n_label", t.n,
                t.node[i].label & PD_LABEL ? functions + (t.node[i].label & ~PD_LABEL)
                                           : t.node[i].label);
    free(start);
    mkperf_tree_free(&t);
    PAGE_COLUMN(&m.c, "f_pd", functions, mkperf_frames_label(m.f, (uint32_t)i).pd);
    PAGE_COLUMN(&m.c, "f_kernel", functions, mkperf_frames_label(m.f, (uint32_t)i).kernel);
    PAGE_COLUMN(&m.c, "f_inlined", functions, mkperf_frames_label(m.f, (uint32_t)i).inlined);
    PAGE_COLUMN(&m.c, "f_name", functions, text_of(&m, mkperf_frames_label(m.f, (uint32_t)i).name));
    PAGE_COLUMN(&m.c, "m_delta", in->marks,
                in->mark[i].time_ns - (i > 0 ? in->mark[i - 1].time_ns : m.first));
    PAGE_COLUMN(&m.c, "m_pd", in->marks, in->mark[i].pd);
    PAGE_COLUMN(&m.c, "m_kind", in->marks, in->mark[i].kind);
    PAGE_COLUMN(&m.c, "m_id", in->marks, in->mark[i].id);
    PAGE_COLUMN(&m.c, "m_name", in->marks, text_of(&m, in->mark[i].name));
    PAGE_COLUMN(&m.c, "l_time", in->losses,
                in->loss[i].time_ns > m.first ? in->loss[i].time_ns - m.first : 0);
    PAGE_COLUMN(&m.c, "l_core", in->losses, in->loss[i].core);
    const struct mkperf_queue_fill *fill = m.p->fills.fill, *end = fill + m.p->fills.fills;
    while (fill < end && fill->time_ns < m.first) { /* readings before the page's time */
        fill++;
    }
    PAGE_COLUMN(&m.c, "q_delta", (size_t)(end - fill),
                fill[i].time_ns - (i > 0 ? fill[i - 1].time_ns : m.first));
    PAGE_COLUMN(&m.c, "q_queue", (size_t)(end - fill), fill[i].queue);
    PAGE_COLUMN(&m.c, "q_entries", (size_t)(end - fill), fill[i].entries);
    put_json(&m);
    if (in->schedule.analysis != NULL) {
        page_schedule_put(&m.c, &in->schedule, m.first, mkperf_lost_sum(m.p->totals.sched_lost));
    }
    mkperf_hash_free(&m.texts);
    return page_columns_finish(&m.c);
}
