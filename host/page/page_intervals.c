/* SPDX-License-Identifier: BSD-2-Clause */
/* Owns: the lists of intervals, and their sums. See page.h. */
#include "page.h"

/* The number of parts of a stretch, and the number of parts that all lists have together. */
enum { PARTS_MOST = 8192, PARTS_LEAST = 512, PARTS_OF_ALL = 1 << 22 };

static uint64_t earlier(uint64_t a, uint64_t b)
{
    return a < b ? a : b;
}

bool page_intervals_each(const struct page_schedule *s, uint64_t from, uint64_t to,
                         void (*each)(void *self, const struct mkperf_interval *i, size_t n),
                         void *self)
{
    struct mkperf_interval *room;
    bool read = true;

    if (s->kept == NULL) {
        each(self, s->interval, s->intervals);
        return true;
    }
    room = mkperf_xcalloc(MKPERF_SCHEDULE_BLOCK, sizeof *room);
    for (size_t i = 0; i < s->kept->blocks && read; i++) {
        const struct mkperf_schedule_block *b = &s->kept->block[i];
        if (b->to > from && b->from < to) {
            size_t n = mkperf_spool_read(&s->kept->intervals, i * MKPERF_SCHEDULE_BLOCK, room,
                                         MKPERF_SCHEDULE_BLOCK);
            read = n > 0;
            each(self, room, n);
        }
    }
    free(room);
    return read;
}

static bool same_list(const struct mkperf_interval *a, const struct mkperf_interval *b)
{
    return a->pd == b->pd && a->state == b->state && a->core == b->core;
}

/* Stores the intervals that end after `from`, list after list. Cuts them there, and joins those that continue each other. Returns
 * their number. */
static size_t make_lists(struct mkperf_interval *out, const struct mkperf_interval *interval,
                         size_t intervals, uint64_t from)
{
    size_t all = 0, n = 0;

    for (size_t i = 0; i < intervals; i++) {
        if (interval[i].to > from) {
            out[all] = interval[i];
            out[all++].from = page_later(interval[i].from, from);
        }
    }
    MKPERF_SORT(out, all, MKPERF_UP(out, pd), MKPERF_UP(out, state), MKPERF_UP(out, core),
                MKPERF_UP(out, from), MKPERF_UP(out, to));
    for (size_t i = 0; i < all; i++) {
        struct mkperf_interval *last = n > 0 ? &out[n - 1] : NULL;
        if (last != NULL && same_list(last, &out[i]) && last->to == out[i].from &&
            last->by == out[i].by && last->serving == out[i].serving) {
            last->to = out[i].to;
        } else {
            out[n++] = out[i];
        }
    }
    return n;
}

static void put_list(struct mkperf_textout *t, uint64_t pd, uint64_t state, uint64_t core,
                     size_t first, size_t n)
{
    mkperf_json(t, ",{'pd':%" PRIu64 ",'state':%s,'core':%" PRIu64 ",'first':%zu,'n':%zu}", pd,
                mkperf_pd_state_names[state], core, first, n);
}

/* Returns the time since the end of the interval before it in its list, or since the origin. */
static uint64_t gap_before(const struct mkperf_interval *i, bool first, uint64_t origin)
{
    uint64_t end = first ? origin : i[-1].to;

    return i->from > end ? i->from - end : 0;
}

static void put_exact(struct page_columns *c, const struct mkperf_interval *interval,
                      size_t intervals, uint64_t origin)
{
    struct mkperf_interval *in = mkperf_xcalloc(intervals + 1, sizeof *in);
    size_t n = make_lists(in, interval, intervals, origin);

    mkperf_json(&c->json, "'exact':true,'lists':[");
    for (size_t first = 0, end; first < n; first = end) {
        end = first + 1;
        while (end < n && same_list(&in[first], &in[end])) {
            end++;
        }
        put_list(&c->json, in[first].pd, in[first].state, in[first].core, first, end - first);
    }
    mkperf_json(&c->json, "]");
    PAGE_COLUMN(c, "i_gap", n,
                gap_before(&in[i], i == 0 || !same_list(&in[i - 1], &in[i]), origin));
    PAGE_COLUMN(c, "i_length", n, in[i].to - in[i].from);
    PAGE_COLUMN(c, "i_by", n, page_pd_or_none(in[i].by));
    PAGE_COLUMN(c, "i_for", n, page_pd_or_none(in[i].serving));
    free(in);
}

/* ---- a stretch of a recording that is not in memory ---- */

struct scan {
    const struct page_stretch *stretch;
    uint32_t cores;
    size_t parts;
    size_t found;                     /* the number of intervals that overlap the stretch */
    struct mkperf_interval *interval; /* the first of them, at most stretch->most + 1 */
    size_t room;
    /* For each PD, state and core 1 + the number of its list; 0: it has no interval. */
    uint32_t *list;
    uint64_t **sum; /* for each list the time in ns in each part */
    size_t lists, sum_room;
};

/* Returns the time at which a part of the stretch begins. */
static uint64_t edge(const struct scan *s, size_t part)
{
    uint64_t span = s->stretch->to - s->stretch->from;

    return s->stretch->from + span / s->parts * part + span % s->parts * part / s->parts;
}

static size_t part_of(const struct scan *s, uint64_t ns)
{
    double span = (double)(s->stretch->to - s->stretch->from);
    size_t part = (size_t)((double)(ns - s->stretch->from) / span * (double)s->parts);

    part = part < s->parts ? part : s->parts - 1;
    while (part > 0 && edge(s, part) > ns) {
        part--;
    }
    while (part + 1 < s->parts && edge(s, part + 1) <= ns) {
        part++;
    }
    return part;
}

static void scan_block(void *self, const struct mkperf_interval *i, size_t n)
{
    struct scan *s = self;

    for (; n > 0; n--, i++) {
        if (i->to <= s->stretch->from || i->from >= s->stretch->to) {
            continue;
        }
        if (s->found++ <= s->stretch->most) {
            MKPERF_GROW(s->interval, s->room, s->found);
            s->interval[s->found - 1] = *i;
        }
        if (i->state != MKPERF_PD_WAITING) {
            uint64_t at = page_later(i->from, s->stretch->from),
                     to = earlier(i->to, s->stretch->to);
            uint32_t *list =
                &s->list[((size_t)i->pd * MKPERF_PD_STATES + i->state) * s->cores + i->core];

            if (*list == 0) {
                MKPERF_GROW(s->sum, s->sum_room, s->lists + 1);
                s->sum[s->lists++] = mkperf_xcalloc(s->parts, sizeof **s->sum);
                *list = (uint32_t)s->lists;
            }
            uint64_t *sum = s->sum[*list - 1];
            for (size_t part = part_of(s, at); at < to; part++) {
                uint64_t end = part + 1 < s->parts ? earlier(edge(s, part + 1), to) : to;
                sum[part] += end - at;
                at = end;
            }
        }
    }
}

bool page_intervals_put(struct page_columns *c, const struct page_schedule *s,
                        const struct page_stretch *stretch, bool *exact)
{
    const struct mkperf_analysis *a = s->analysis;
    struct scan scan = {.stretch = stretch, .cores = a->ncores, .parts = PARTS_MOST};
    size_t lists = (size_t)a->npds * MKPERF_PD_STATES * a->ncores;
    bool read = true;

    *exact = true;
    if (s->kept == NULL) {
        put_exact(c, s->interval, s->intervals, stretch->origin);
        return true;
    }
    while (scan.parts > PARTS_LEAST && scan.parts * a->npds > PARTS_OF_ALL / 4) {
        scan.parts /= 2; /* a PD has about four lists */
    }
    scan.list = mkperf_xcalloc(lists + 1, sizeof *scan.list);
    read = page_intervals_each(s, stretch->from, stretch->to, scan_block, &scan);
    *exact = scan.found <= stretch->most;
    if (read && *exact) {
        put_exact(c, scan.interval, scan.found, stretch->origin);
    } else if (read) {
        size_t all = scan.lists * scan.parts, per_pd = (size_t)MKPERF_PD_STATES * scan.cores;
        size_t n = 0;
        mkperf_json(&c->json, "'exact':false,'found':%zu,'parts':%zu,'lists':[", scan.found,
                    scan.parts);
        for (size_t i = 0; n < scan.lists; i++) {
            if (scan.list[i] != 0) {
                n++;
                put_list(&c->json, i / per_pd, i / scan.cores % MKPERF_PD_STATES, i % scan.cores,
                         (scan.list[i] - 1) * scan.parts, scan.parts);
            }
        }
        mkperf_json(&c->json, "]");
        PAGE_COLUMN(c, "b_ns", all, scan.sum[i / scan.parts][i % scan.parts]);
    }
    for (size_t i = 0; i < scan.lists; i++) {
        free(scan.sum[i]);
    }
    free(scan.sum);
    free(scan.list);
    free(scan.interval);
    return read;
}
