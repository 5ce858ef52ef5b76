/* SPDX-License-Identifier: BSD-2-Clause */
/* Owns: scheduling events in the data of the page: the lists of intervals and their sums, the search for the intervals of a stretch
 * of time in a recording that is not in memory, and when each woken PD ran. See page.h. */
#include "page.h"

/*
 * The intervals of PDs in the page's data: single intervals, or sums if there are more of them than a page can show.
 *
 * A list has the intervals of one PD in one state on one core.
 *
 * If a stretch has at most `most` intervals, the lists contain all of them in the order of time. Otherwise the stretch is
 * divided into `parts` equal parts, and the page gets the time of each list in each part, exact to the nanosecond. Lists of PDs
 * that wait for work are then omitted. The page can ask for a shorter stretch to get its single intervals.
 */

/* The number of parts of a stretch, and the number of parts that all lists have together. */
enum { PARTS_MOST = 8192, PARTS_LEAST = 512, PARTS_OF_ALL = 1 << 22 };

/* Returns the value of a PD for columns in which 0 means "no PD": its number plus one. */
static uint64_t pd_or_none(uint32_t pd)
{
    return pd == MKPERF_SCHED_NOBODY ? 0 : (uint64_t)pd + 1;
}

struct page_stretch {
    uint64_t origin;   /* the time in ns at which the page's time begins */
    uint64_t from, to; /* the stretch in ns, with all intervals that overlap it */
    size_t most;       /* the largest number of single intervals; SIZE_MAX: there is no limit */
};

__extension__ typedef unsigned __int128 wide; /* of the product of a time and a number of parts */

static uint64_t earlier(uint64_t a, uint64_t b)
{
    return a < b ? a : b;
}

/* Copies records of a large recording. Pages of its map that were read would be memory of the process. */
static void read_records(struct mkperf_spool *spool, size_t first, void *records, size_t n)
{
    if (mkperf_spool_read(spool, first, records, n) != n) {
        fputs("mkperf: temporary file: cannot be read (TMPDIR names its directory)\n", stderr);
        exit(1);
    }
}

/* Calls `each`, if it is not NULL, with the intervals that overlap the stretch, in the order of the recording. Returns their number. */
static size_t intervals_each(const struct page_schedule *s, const struct page_stretch *stretch,
                             void (*each)(void *self, const struct mkperf_interval *i), void *self)
{
    struct mkperf_interval *room = mkperf_xcalloc(MKPERF_SCHEDULE_BLOCK, sizeof *room);
    size_t found = 0;

    for (size_t first = 0, n; first < s->intervals; first += n) {
        const struct mkperf_interval *i = &s->interval[first];

        n = earlier(MKPERF_SCHEDULE_BLOCK, s->intervals - first);
        if (s->kept != NULL) {
            const struct mkperf_schedule_block *b = &s->kept->block[first / MKPERF_SCHEDULE_BLOCK];
            if (b->to <= stretch->from || b->from >= stretch->to) {
                continue;
            }
            if (each == NULL && b->from >= stretch->from && b->to <= stretch->to) {
                found += n;
                continue;
            }
            read_records(&s->kept->intervals, first, room, n);
            i = room;
        }
        for (size_t k = 0; k < n; k++) {
            if (i[k].to > stretch->from && i[k].from < stretch->to) {
                found++;
                if (each != NULL) {
                    each(self, &i[k]);
                }
            }
        }
    }
    free(room);
    return found;
}

static bool same_list(const struct mkperf_interval *a, const struct mkperf_interval *b)
{
    return a->pd == b->pd && a->state == b->state && a->core == b->core;
}

struct lists {
    struct mkperf_interval *interval;
    size_t n;
    uint64_t origin; /* what was before is cut off */
};

static void add_interval(void *self, const struct mkperf_interval *i)
{
    struct lists *l = self;

    l->interval[l->n] = *i;
    l->interval[l->n++].from = page_later(i->from, l->origin);
}

/* Sorts the intervals list after list, and joins those that continue each other. */
static void make_lists(struct lists *l)
{
    struct mkperf_interval *out = l->interval;
    size_t all = l->n;

    MKPERF_SORT(out, all, MKPERF_UP(out, pd), MKPERF_UP(out, state), MKPERF_UP(out, core),
                MKPERF_UP(out, from), MKPERF_UP(out, to));
    l->n = 0;
    for (size_t i = 0; i < all; i++) {
        struct mkperf_interval *last = l->n > 0 ? &out[l->n - 1] : NULL;
        if (last != NULL && same_list(last, &out[i]) && last->to == out[i].from &&
            last->by == out[i].by && last->serving == out[i].serving) {
            last->to = out[i].to;
        } else {
            out[l->n++] = out[i];
        }
    }
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

static void put_exact(struct page_columns *c, const struct page_schedule *s,
                      const struct page_stretch *stretch, size_t found)
{
    struct lists all = {.interval = mkperf_xcalloc(found + 1, sizeof *all.interval),
                        .origin = stretch->origin};
    const struct mkperf_interval *in = all.interval;

    intervals_each(s, stretch, add_interval, &all);
    make_lists(&all);
    mkperf_json(&c->json, "'exact':true,'lists':[");
    for (size_t first = 0, end; first < all.n; first = end) {
        end = first + 1;
        while (end < all.n && same_list(&in[first], &in[end])) {
            end++;
        }
        put_list(&c->json, in[first].pd, in[first].state, in[first].core, first, end - first);
    }
    mkperf_json(&c->json, "]");
    PAGE_COLUMN(c, "i_gap", all.n,
                gap_before(&in[i], i == 0 || !same_list(&in[i - 1], &in[i]), stretch->origin));
    PAGE_COLUMN(c, "i_length", all.n, in[i].to - in[i].from);
    PAGE_COLUMN(c, "i_by", all.n, pd_or_none(in[i].by));
    PAGE_COLUMN(c, "i_for", all.n, pd_or_none(in[i].serving));
    free(all.interval);
}

/* ---- sums of a stretch that has too many intervals ---- */

struct sums {
    const struct page_stretch *stretch;
    uint32_t cores;
    size_t parts;
    uint64_t **sum; /* for each PD, state and core the time in ns in each part; NULL: none */
};

/* Returns the time at which a part of the stretch begins. */
static uint64_t edge(const struct sums *s, size_t part)
{
    const struct page_stretch *of = s->stretch;

    return of->from + (uint64_t)((wide)(of->to - of->from) * part / s->parts);
}

static void add_to_sums(void *self, const struct mkperf_interval *i)
{
    struct sums *s = self;
    const struct page_stretch *of = s->stretch;
    uint64_t at = page_later(i->from, of->from), to = earlier(i->to, of->to);
    uint64_t **sum = &s->sum[((size_t)i->pd * MKPERF_PD_STATES + i->state) * s->cores + i->core];

    if (i->state == MKPERF_PD_WAITING) {
        return;
    }
    *sum = *sum != NULL ? *sum : mkperf_xcalloc(s->parts, sizeof **sum);
    /* The last part that begins at `at` or before. */
    size_t part = (size_t)(((wide)(at - of->from + 1) * s->parts - 1) / (of->to - of->from));
    for (uint64_t end; at < to; at = end) {
        end = earlier(edge(s, part + 1), to);
        (*sum)[part++] += end - at;
    }
}

static void put_sums(struct page_columns *c, const struct page_schedule *s,
                     const struct page_stretch *stretch, size_t found)
{
    const struct mkperf_analysis *a = s->analysis;
    struct sums sums = {.stretch = stretch, .cores = a->ncores, .parts = PARTS_MOST};
    size_t per_pd = (size_t)MKPERF_PD_STATES * a->ncores, lists = 0;

    while (sums.parts > PARTS_LEAST && sums.parts * a->npds > PARTS_OF_ALL / 4) {
        sums.parts /= 2; /* a PD has about four lists */
    }
    sums.sum = mkperf_xcalloc(a->npds * per_pd + 1, sizeof *sums.sum);
    intervals_each(s, stretch, add_to_sums, &sums);
    mkperf_json(&c->json, "'exact':false,'found':%zu,'parts':%zu,'lists':[", found, sums.parts);
    for (size_t i = 0; i < a->npds * per_pd; i++) {
        if (sums.sum[i] != NULL) {
            put_list(&c->json, i / per_pd, i / a->ncores % MKPERF_PD_STATES, i % a->ncores,
                     lists * sums.parts, sums.parts);
            sums.sum[lists++] = sums.sum[i];
        }
    }
    mkperf_json(&c->json, "]");
    PAGE_COLUMN(c, "b_ns", lists * sums.parts, sums.sum[i / sums.parts][i % sums.parts]);
    for (size_t i = 0; i < lists; i++) {
        free(sums.sum[i]);
    }
    free(sums.sum);
}

/* ---- wakings of a stretch of time, and the time from each waking until its PD ran ---- */

struct wakings {
    struct mkperf_woken *woken;
    size_t n, room;
    uint64_t *ran; /* for each waking 1 + the time in ns when the PD ran; 0: it is not known */
    /* The wakings of each PD after which it has not run yet are a list in the order of time. A number is that of a waking + 1;
     * 0 ends the list. */
    uint32_t *first; /* for each PD */
    uint32_t *next;  /* for each waking */
};

/* Ends the wakings of a PD before the end of an interval in which it ran, or in which its state is not known. */
static void end_wakings(void *self, const struct mkperf_interval *i)
{
    struct wakings *w = self;
    uint32_t *number = &w->first[i->pd];

    if (i->state != MKPERF_PD_RUNNING && i->state != MKPERF_PD_UNKNOWN) {
        return;
    }
    for (; *number != 0 && w->woken[*number - 1].time < i->to; *number = w->next[*number - 1]) {
        uint64_t time = w->woken[*number - 1].time;
        w->ran[*number - 1] = i->state == MKPERF_PD_RUNNING ? 1 + page_later(i->from, time) - time
                                                            : 0;
    }
}

/* Writes the columns of wakings. With `whole`, the column w_ran is written, too, and a large recording has only notifications and
 * interrupts. */
static void put_wakings(struct page_columns *c, const struct page_schedule *s,
                        const struct page_stretch *stretch, bool whole)
{
    enum { ROOM = 4096 };
    struct wakings all = {.n = 0};
    struct mkperf_woken *room = mkperf_xcalloc(ROOM, sizeof *room);
    size_t first = stretch->from > 0 ? mkperf_first_behind(s->woken, s->wokens, sizeof *s->woken,
                                                           stretch->from - 1)
                                     : 0;

    for (size_t n = 1; n > 0 && first < s->wokens; first += n) {
        const struct mkperf_woken *w = &s->woken[first];
        size_t most = earlier(ROOM, s->wokens - first);
        if (s->kept != NULL) {
            read_records(&s->kept->wakings, first, room, most);
            w = room;
        }
        for (n = 0; n < most && w[n].time <= stretch->to; n++) {
            if (!whole || s->kept == NULL || w[n].kind == MKPERF_SCHED_NOTIFY ||
                w[n].kind == MKPERF_SCHED_IRQ) {
                MKPERF_GROW(all.woken, all.room, all.n + 1);
                all.woken[all.n++] = w[n];
            }
        }
    }
    free(room);
    all.ran = mkperf_xcalloc(all.n + 1, sizeof *all.ran);
    all.first = mkperf_xcalloc((size_t)s->analysis->npds + 1, sizeof *all.first);
    all.next = mkperf_xcalloc(all.n + 1, sizeof *all.next);
    for (size_t i = all.n; i-- > 0;) {
        uint32_t *number = &all.first[all.woken[i].to];
        all.next[i] = *number;
        *number = (uint32_t)i + 1;
    }
    if (whole) {
        intervals_each(s, stretch, end_wakings, &all);
    }
    const struct mkperf_woken *w = all.woken;
    PAGE_COLUMN(c, "w_delta", all.n, w[i].time - (i > 0 ? w[i - 1].time : stretch->origin));
    PAGE_COLUMN(c, "w_kind", all.n, w[i].kind);
    PAGE_COLUMN(c, "w_from", all.n, pd_or_none(w[i].from));
    PAGE_COLUMN(c, "w_to", all.n, w[i].to);
    PAGE_COLUMN(c, "w_irq", all.n, w[i].irq);
    page_column(c, "w_ran", all.ran, whole ? all.n : 0);
    free(all.woken);
    free(all.ran);
    free(all.first);
    free(all.next);
}

/* Writes the intervals of a stretch of time and, if they are exact or `whole` is set, its wakings. */
static void put_stretch(struct page_columns *c, const struct page_schedule *s,
                        const struct page_stretch *stretch, bool whole)
{
    size_t found = intervals_each(s, stretch, NULL, NULL);

    (found <= stretch->most ? put_exact : put_sums)(c, s, stretch, found);
    if (found <= stretch->most || whole) {
        put_wakings(c, s, stretch, whole);
    }
}

void page_schedule_put(struct page_columns *c, const struct page_schedule *s, uint64_t from,
                       uint64_t lost)
{
    const struct mkperf_analysis *a = s->analysis;
    const uint64_t begin = page_later(a->first_ns, from), since = page_later(begin, s->since_ns);
    const uint64_t end = page_later(a->last_ns, from);
    const struct page_stretch all = {.origin = from,
                                     .from = begin,
                                     .to = page_later(end, begin + 1),
                                     .most = s->kept != NULL ? PAGE_INTERVALS : SIZE_MAX};

    mkperf_json(&c->json,
                ",'sched':{'events':%" PRIu64 ",'lost':%" PRIu64 ",'from':%" PRIu64 ",'to':%" PRIu64
                ",'cut':%hhd,'kinds':[",
                a->events, page_later(lost, s->lost), since - from, end - from,
                s->since_ns > a->first_ns);
    for (unsigned i = 0; i < MKPERF_SCHED_KINDS; i++) {
        mkperf_json(&c->json, ",%s", mkperf_sched_kind_names[i]);
    }
    mkperf_json(&c->json, "],'cores':[");
    for (uint32_t i = 0; i < a->ncores; i++) {
        if (a->core[i].seen) {
            mkperf_json(&c->json, ",%" PRIu32, i);
        }
    }
    mkperf_json(&c->json, "],'windows':[");
    for (unsigned i = 0; i < a->nwindows; i++) {
        mkperf_json(&c->json, ",{'number':%u,'domain':%s,'us':%" PRIu64 "}", a->window[i].number,
                    a->window[i].domain, a->window[i].us);
    }
    mkperf_json(&c->json, "],'exits':[");
    for (unsigned i = 0; i < a->nedges; i++) {
        char text[64];
        if (a->edge[i].exit != 0) {
            mkperf_json(&c->json, ",{'exit':%" PRIu32 ",'name':%s}", a->edge[i].exit,
                        mkperf_exit_name(a->edge[i].exit, text));
        }
    }
    mkperf_json(&c->json, "],");
    put_stretch(c, s, &all, true);
    mkperf_json(&c->json, "}");
    uint32_t *at = mkperf_xcalloc(s->calls + 1, sizeof *at); /* the calls that are written */
    const struct mkperf_schedule_call *call = s->call;
    size_t n = 0;
    for (size_t i = 0; i < s->calls; i++) {
        if (call[i].from_ns >= from && call[i].to != MKPERF_SCHED_NOBODY) {
            at[n++] = (uint32_t)i;
        }
    }
    PAGE_COLUMN(c, "a_delta", n, call[at[i]].to_ns - (i > 0 ? call[at[i - 1]].to_ns : from));
    PAGE_COLUMN(c, "a_wait", n, call[at[i]].taken_ns - call[at[i]].from_ns);
    PAGE_COLUMN(c, "a_length", n, call[at[i]].to_ns - call[at[i]].from_ns);
    PAGE_COLUMN(c, "a_from", n, call[at[i]].from);
    PAGE_COLUMN(c, "a_to", n, call[at[i]].to);
    PAGE_COLUMN(c, "a_exit", n, call[at[i]].exit);
    free(at);
    const struct mkperf_core_interval *gap = s->gap;
    for (n = s->gaps; n > 0 && gap->to < from; n--) {
        gap++;
    }
    PAGE_COLUMN(c, "g_from", n, page_later(gap[i].from, from) - from);
    PAGE_COLUMN(c, "g_length", n, gap[i].to - page_later(gap[i].from, from));
    PAGE_COLUMN(c, "g_core", n, gap[i].core);
    const struct mkperf_schedule_window *w = s->window;
    for (n = s->windows; n > 0 && w->from < from; n--) {
        w++;
    }
    PAGE_COLUMN(c, "d_delta", n, w[i].from - (i > 0 ? w[i - 1].from : from));
    PAGE_COLUMN(c, "d_window", n, w[i].number);
}

struct page_bytes page_schedule_stretch(const struct page_schedule *s, uint64_t origin,
                                        uint64_t from, uint64_t to, size_t most)
{
    const struct page_stretch stretch = {
        .origin = origin, .from = origin + from, .to = origin + to, .most = most};
    struct page_columns c;

    page_columns_begin(&c);
    mkperf_json(&c.json, "{'from':%" PRIu64 ",'to':%" PRIu64 ",", from, to);
    put_stretch(&c, s, &stretch, false);
    return page_columns_finish(&c);
}
