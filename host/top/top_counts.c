/* SPDX-License-Identifier: BSD-2-Clause */
/* A running session, counted by function over the last seconds; see top.h. */
#include "top.h"

enum { PAGE = 4096 };

/* Stands in a key for all functions of a PD after TOP_ROWS_MAX rows. */
static const uint64_t ALL_OTHERS = UINT64_MAX;

static void add_at(struct top_window *w, uint64_t slice, uint64_t period)
{
    const struct mkperf_weight one = {1, period};

    mkperf_weight_add(&w->all, &one);
    if (slice > w->slice) {
        uint64_t gone = slice - w->slice < TOP_SLICES ? slice - w->slice : TOP_SLICES;

        for (uint64_t i = 0; i < gone; i++) {
            w->in[(slice - i) % TOP_SLICES] = (struct mkperf_weight){0, 0};
        }
        w->slice = slice;
    }
    if (slice + TOP_SLICES > w->slice) { /* samples may be late, see model/arrival.h */
        mkperf_weight_add(&w->in[slice % TOP_SLICES], &one);
    }
}

static uint64_t slice_ns(const struct top_counts *c)
{
    return c->window_ns / TOP_SLICES;
}

/* Divides an interval of a core among slices. In a gap of the events it is not known what ran. */
static void on_core(void *self, const struct mkperf_core_interval *i)
{
    struct top_counts *c = self;
    struct top_window *to = &c->unknown;

    if (i->pd != MKPERF_SCHED_NOBODY) {
        MKPERF_GROW(c->ran, c->ran_room, (size_t)i->pd + 1);
        to = &c->ran[i->pd];
    }
    for (uint64_t at = i->from; at < i->to;) {
        uint64_t slice = at / slice_ns(c), end = (slice + 1) * slice_ns(c);

        end = end < i->to ? end : i->to;
        add_at(to, slice, end - at);
        at = end;
    }
}

/* Begins a session, also a later one, which has more events. The earlier events keep their counts. */
static void begin(struct top_counts *c, const struct mkperf_session *session)
{
    struct mkperf_error e;

    c->session = *session;
    if (session->sched && c->sched == NULL) {
        c->sched = mkperf_analysis_new();
        mkperf_analysis_listen(c->sched,
                               (struct mkperf_analysis_listener){.core = on_core, .self = c});
    }
    if (c->sched != NULL) {
        (void)mkperf_analysis_take(c->sched, MKPERF_ITEM(BEGIN, session, session), &e);
    }
    if (c->symbols != NULL && session->kernel_elf != NULL && c->kernel == NULL) {
        (void)mkperf_symbols_recorded(c->symbols, session->kernel_elf, &session->kernel_build_id,
                                      /* If the kernel's ELF cannot be read, addresses are shown. */
                                      &c->kernel, &e);
    }
}

static void add_sample(struct top_counts *c, const struct mkperf_sample *s)
{
    uint64_t slice = s->time_ns / slice_ns(c);

    c->newest = slice > c->newest ? slice : c->newest;
    /* The row of the function that was interrupted, as mkperf report names it. */
    bool kernel = s->flags & MKPERF_SAMPLE_KERNEL || s->flags & MKPERF_SAMPLE_NO_USER;
    uint64_t addr = s->flags & MKPERF_SAMPLE_KERNEL ? s->kernel_pc : kernel ? 0 : s->pc;
    struct mkperf_module *m = kernel ? c->kernel : c->pds->module[s->pd];
    struct mkperf_symbol symbol = {.name = NULL};
    bool known = m && mkperf_symbol_at(m, addr, &symbol);
    bool full = c->keys.count >= TOP_ROWS_MAX;
    char mode = mkperf_mode_letter(kernel, (char)mkperf_guest_letter(s->flags));
    uint64_t key[5] = {s->event, s->pd, (uint8_t)mode, known,
                       full    ? ALL_OTHERS
                       : known ? symbol.start
                               : addr & ~(uint64_t)(PAGE - 1)};
    uint32_t number = mkperf_hash_number(&c->keys, key, 5);
    MKPERF_GROW(c->row, c->room, (size_t)number + 1);
    struct top_row *row = &c->row[number];
    if (row->name == NULL) {
        char unknown[MKPERF_PLACES_UNKNOWN];

        mkperf_places_unknown(kernel, addr, unknown);
        row->name = mkperf_xstrdup(full ? "[more functions]" : known ? symbol.name : unknown);
        row->event = s->event;
        row->pd = s->pd;
        row->mode = mode;
    }
    add_at(&row->weight, slice, s->period);
    /* The PD that it is charged to. */
    const struct mkperf_chain *chain = s->callers;
    bool own = chain->n == 0 || mkperf_confidence(s->flags) == MKPERF_AMBIGUOUS;
    uint32_t to = own ? s->pd : chain->caller[chain->n - 1].pd;
    number = mkperf_hash_number(&c->pair_keys, (uint64_t[3]){s->event, to, s->pd}, 3);
    MKPERF_GROW(c->pair, c->pair_room, (size_t)number + 1);
    add_at(&c->pair[number], slice, s->period);
    if (s->core < MKPERF_MAX_CORES) {
        size_t at = (size_t)s->event * MKPERF_MAX_CORES + s->core;

        MKPERF_GROW(c->core, c->core_room, at + 1);
        add_at(&c->core[at], slice, s->period);
    }
}

static enum mkperf_status count_item(void *self, const struct mkperf_item *item,
                                     struct mkperf_error *e)
{
    struct top_counts *c = self;
    uint64_t slice;

    switch (item->kind) {
    case MKPERF_ITEM_BEGIN:
    case MKPERF_ITEM_EVENTS:
        begin(c, item->session);
        return MKPERF_OK;
    case MKPERF_ITEM_SAMPLE:
        add_sample(c, item->sample);
        return MKPERF_OK;
    case MKPERF_ITEM_END: /* the analysis gets no end, because time_of adds what lasts until the last event */
        return MKPERF_OK;
    case MKPERF_ITEM_SCHED:
        slice = item->sched->time_ns / slice_ns(c);
        c->newest = slice > c->newest ? slice : c->newest;
        break;
    default:
        break;
    }
    return c->sched != NULL ? mkperf_analysis_take(c->sched, item, e) : MKPERF_OK;
}

struct mkperf_sink top_counts_sink(struct top_counts *c)
{
    return (struct mkperf_sink){.take = count_item, .self = c, .splits = true};
}

void top_counts_free(struct top_counts *c)
{
    for (uint32_t i = 0; i < c->keys.count; i++) {
        free(c->row[i].name);
    }
    free(c->row);
    free(c->pair);
    free(c->core);
    free(c->ran);
    mkperf_analysis_free(c->sched);
    mkperf_hash_free(&c->keys);
    mkperf_hash_free(&c->pair_keys);
}

static struct mkperf_weight in_window(const struct top_counts *c, const struct top_window *w)
{
    struct mkperf_weight sum = {0, 0};

    if (c->all) {
        return w->all;
    }
    for (uint64_t i = 0; i < TOP_SLICES && i <= w->slice; i++) {
        if (w->slice - i + TOP_SLICES > c->newest) {
            mkperf_weight_add(&sum, &w->in[(w->slice - i) % TOP_SLICES]);
        }
    }
    return sum;
}

static int compare_entries(const void *pa, const void *pb, void *context)
{
    const struct top_entry *a = pa, *b = pb;
    enum top_sort sort = *(enum top_sort *)context;
    int name = a->name && b->name ? strcmp(a->name, b->name) : 0, pd = strcmp(a->pd, b->pd);
    int share = mkperf_compare(b->weight.period, a->weight.period);

    switch (sort) {
    case TOP_BY_NAME:
        return name ? name : pd ? pd : share;
    case TOP_BY_PD:
        return pd ? pd : share ? share : name;
    default:
        return share ? share : pd ? pd : name;
    }
}

/* Returns the entry of a PD. The list has room for each PD. */
static struct top_entry *pd_entry(struct top_list *l, const char *pd)
{
    for (uint32_t i = 0; i < l->npds; i++) {
        if (strcmp(l->pd[i].pd, pd) == 0) {
            return &l->pd[i];
        }
    }
    l->pd[l->npds] = (struct top_entry){.pd = pd};
    return &l->pd[l->npds++];
}

static bool is_left_out(const struct top_counts *c, uint32_t pd)
{
    return c->no_idle && c->pds->pd[pd].thread == MKPERF_THREAD_IDLE;
}

/* Returns when the window begins, or when the first event was if that is later. */
static uint64_t window_begin(const struct top_counts *c)
{
    uint64_t begin = c->newest >= TOP_SLICES ? (c->newest - TOP_SLICES + 1) * slice_ns(c) : 0;

    return c->all || begin < c->sched->first_ns ? c->sched->first_ns : begin;
}

/* Returns the time in the window that w counted, and the time since then of cores that still run
 * `pd`. */
static uint64_t time_of(const struct top_counts *c, const struct top_window *w, uint32_t pd)
{
    const struct mkperf_analysis *a = c->sched;
    uint64_t begin = window_begin(c), ns = w != NULL ? in_window(c, w).period : 0;

    for (uint32_t core = 0; core < a->ncores; core++) {
        const struct mkperf_sched_core *now = &a->core[core];
        uint64_t since = now->since > begin ? now->since : begin;

        ns += now->seen && now->running == pd && a->last_ns > since ? a->last_ns - since : 0;
    }
    return ns;
}

void top_counts_list(const struct top_counts *c, uint32_t event, const char *pd, enum top_sort sort,
                     struct top_list *out)
{
    *out = (struct top_list){
        .pd = mkperf_xcalloc(c->keys.count + (c->sched != NULL ? c->sched->npds + 1 : 0),
                             sizeof *out->pd),
        .function = mkperf_xcalloc(c->keys.count, sizeof *out->function)};
    for (uint32_t i = 0; i < c->keys.count; i++) {
        const struct top_row *r = &c->row[i];
        struct mkperf_weight w = in_window(c, &r->weight);
        const char *name = c->pds->pd[r->pd].name;

        if (r->event != event || w.samples == 0) {
            continue;
        }
        mkperf_weight_add(&out->whole, &w);
        if (is_left_out(c, r->pd)) {
            continue;
        }
        mkperf_weight_add(&out->total, &w);
        mkperf_weight_add(&pd_entry(out, name)->weight, &w);
        if (!pd || strcmp(pd, name) == 0) {
            out->function[out->nfunctions++] =
                (struct top_entry){.pd = name, .name = r->name, .mode = r->mode, .weight = w};
        }
    }
    /* Adds how long each PD ran. PDs that ran without a sample get a row. */
    const struct mkperf_analysis *a = c->sched;
    uint64_t all = a != NULL && a->last_ns > window_begin(c) ? a->last_ns - window_begin(c) : 0;
    for (uint32_t i = 0; all > 0 && i < a->npds; i++) {
        uint64_t ns = time_of(c, i < c->ran_room ? &c->ran[i] : NULL, i);
        if (ns > 0 && !(a->pd[i].idle && c->no_idle)) {
            pd_entry(out, mkperf_analysis_name(a, i))->util += mkperf_percent(ns, all);
        }
    }
    uint64_t unknown = all > 0 ? time_of(c, &c->unknown, MKPERF_SCHED_NOBODY) : 0;
    if (unknown > 0) {
        pd_entry(out, "[not known]")->util = mkperf_percent(unknown, all);
    }
    for (unsigned i = 0; i < MKPERF_MAX_CORES; i++) {
        size_t at = (size_t)event * MKPERF_MAX_CORES + i;
        out->core[i] = at < c->core_room ? in_window(c, &c->core[at])
                                         : (struct mkperf_weight){0, 0};
    }
    qsort_r(out->pd, out->npds, sizeof *out->pd, compare_entries, &sort);
    qsort_r(out->function, out->nfunctions, sizeof *out->function, compare_entries, &sort);
}

void top_list_free(struct top_list *l)
{
    free(l->pd);
    free(l->function);
    *l = (struct top_list){.npds = 0};
}

void top_counts_charge(const struct top_counts *c, uint32_t event, struct mkperf_charge *out)
{
    *out = (struct mkperf_charge){
        .pair = mkperf_xcalloc((size_t)c->pair_keys.count + 1, sizeof *out->pair)};
    for (uint32_t i = 0; i < c->pair_keys.count; i++) {
        const uint64_t *key = mkperf_hash_key(&c->pair_keys, i);
        uint32_t to = (uint32_t)key[1], by = (uint32_t)key[2];
        struct mkperf_weight w = in_window(c, &c->pair[i]);
        if (key[0] == event && w.samples != 0 && !is_left_out(c, by)) {
            out->pair[out->npairs++] = (struct mkperf_charge_pair){.to = to, .by = by, .weight = w};
        }
    }
    mkperf_charge_sum(out);
}
