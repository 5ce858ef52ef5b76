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

static uint64_t earlier(uint64_t a, uint64_t b)
{
    return a < b ? a : b;
}

/* Calls `each` with blocks of intervals in the order of the recording. The blocks contain all intervals that overlap from..to, and
 * may contain others. False: the temporary file cannot be read. */
static bool intervals_each(const struct page_schedule *s, uint64_t from, uint64_t to,
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
    PAGE_COLUMN(c, "i_by", n, pd_or_none(in[i].by));
    PAGE_COLUMN(c, "i_for", n, pd_or_none(in[i].serving));
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

/* Writes the members `exact`, `found`, `parts` and `lists` of the JSON text, and their columns. *exact: single intervals were
 * written. False: the temporary file cannot be read, and the text and the columns are incomplete. */
static bool put_intervals(struct page_columns *c, const struct page_schedule *s,
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
    read = intervals_each(s, stretch->from, stretch->to, scan_block, &scan);
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

/* The wakings of a stretch of time, and the time from each waking until its PD ran. */
struct wakings {
    struct mkperf_woken *woken;
    size_t n, room;
    uint64_t *ran; /* for each waking 1 + the time in ns when the PD ran; 0: it is not known */
    /* The wakings of each PD that has not run since are a list, from the newest to the oldest. A number is that of a waking + 1;
     * 0 ends the list. */
    uint32_t *waiting; /* for each PD its newest waking */
    uint32_t *before;  /* for each waking the next older one */
    size_t next;       /* the first waking that is later than all intervals so far */
};

static void add_waking(struct wakings *w, const struct mkperf_woken *woken)
{
    MKPERF_GROW(w->woken, w->room, w->n + 1);
    w->woken[w->n++] = *woken;
}

/* Collects the wakings from..to of a recording that is not in memory, and with `wake_ups` only notifications and interrupts. Of
 * another recording it collects all wakings since `from`. */
static bool find_wakings(struct wakings *w, const struct page_schedule *s, uint64_t from,
                         uint64_t to, bool wake_ups)
{
    enum { ROOM = 4096 };
    struct mkperf_woken *room;
    size_t low = 0, got = 1;

    if (s->kept == NULL) {
        for (size_t i = 0; i < s->wokens; i++) {
            if (s->woken[i].time >= from) {
                add_waking(w, &s->woken[i]);
            }
        }
        return true;
    }
    struct mkperf_spool *spool = &s->kept->wakings;
    room = mkperf_xcalloc(ROOM, sizeof *room);
    /* Finds the first waking in from..to. */
    for (size_t high = spool->count; low < high && got > 0;) {
        size_t middle = low + (high - low) / 2;
        got = mkperf_spool_read(spool, middle, room, 1);
        high = room->time >= from ? middle : high;
        low = room->time >= from ? low : middle + 1;
    }
    for (bool on = true; on && got > 0 && low < spool->count; low += got) {
        got = mkperf_spool_read(spool, low, room, ROOM);
        for (size_t i = 0; i < got && on; i++) {
            on = room[i].time <= to;
            bool wake_up = room[i].kind == MKPERF_SCHED_NOTIFY || room[i].kind == MKPERF_SCHED_IRQ;
            if (on && (!wake_ups || wake_up)) {
                add_waking(w, &room[i]);
            }
        }
    }
    free(room);
    return got > 0;
}

/* Removes the wakings before the end of an interval in which a PD ran, or in which its state is not known. Stores when it ran. */
static void follow_block(void *self, const struct mkperf_interval *i, size_t n)
{
    struct wakings *w = self;

    for (; n > 0; n--, i++) {
        if (i->state != MKPERF_PD_RUNNING && i->state != MKPERF_PD_UNKNOWN) {
            continue;
        }
        uint32_t *at = &w->waiting[i->pd];
        for (; w->next < w->n && w->woken[w->next].time < i->to; w->next++) {
            uint32_t pd = w->woken[w->next].to;
            w->before[w->next] = w->waiting[pd];
            w->waiting[pd] = (uint32_t)w->next + 1;
        }
        while (*at != 0) {
            uint32_t number = *at - 1;
            uint64_t time = w->woken[number].time;
            if (time >= i->to) { /* the interval of another PD ended later; this waking stays */
                at = &w->before[number];
                continue;
            }
            *at = w->before[number];
            w->ran[number] = i->state == MKPERF_PD_RUNNING ? 1 + page_later(i->from, time) - time
                                                           : 0;
        }
    }
}

/* Writes the columns of wakings. `ran`: the column w_ran is wanted. */
static bool put_wakings(struct page_columns *c, const struct page_schedule *s, uint64_t origin,
                        uint64_t from, uint64_t to, bool ran)
{
    struct wakings all = {.n = 0};
    bool read = find_wakings(&all, s, from, to, ran);
    const struct mkperf_woken *w = all.woken;

    all.ran = mkperf_xcalloc(all.n + 1, sizeof *all.ran);
    all.before = mkperf_xcalloc(all.n + 1, sizeof *all.before);
    all.waiting = mkperf_xcalloc((size_t)s->analysis->npds + 1, sizeof *all.waiting);
    if (ran) {
        read = intervals_each(s, from, to, follow_block, &all) && read;
    }
    PAGE_COLUMN(c, "w_delta", all.n, w[i].time - (i > 0 ? w[i - 1].time : origin));
    PAGE_COLUMN(c, "w_kind", all.n, w[i].kind);
    PAGE_COLUMN(c, "w_from", all.n, pd_or_none(w[i].from));
    PAGE_COLUMN(c, "w_to", all.n, w[i].to);
    PAGE_COLUMN(c, "w_irq", all.n, w[i].irq);
    page_column(c, "w_ran", all.ran, ran ? all.n : 0);
    free(all.woken);
    free(all.ran);
    free(all.before);
    free(all.waiting);
    return read;
}

static void put_gaps(struct page_columns *c, const struct page_schedule *s, uint64_t from)
{
    struct mkperf_core_interval *gap = mkperf_xcalloc(s->gaps + 1, sizeof *gap);
    size_t n = 0;

    for (size_t i = 0; i < s->gaps; i++) {
        if (s->gap[i].to >= from) {
            gap[n] = s->gap[i];
            gap[n++].from = page_later(s->gap[i].from, from);
        }
    }
    PAGE_COLUMN(c, "g_from", n, gap[i].from - from);
    PAGE_COLUMN(c, "g_length", n, gap[i].to - gap[i].from);
    PAGE_COLUMN(c, "g_core", n, gap[i].core);
    free(gap);
}

/* Writes the intervals of a stretch of time and, if they are exact or `whole` is set, its wakings. */
static bool put_stretch(struct page_columns *c, const struct page_schedule *s,
                        const struct page_stretch *stretch, bool whole)
{
    bool exact, read = put_intervals(c, s, stretch, &exact);

    return (!exact && !whole) ||
           (put_wakings(c, s, stretch->origin, stretch->from, stretch->to, whole) && read);
}

bool page_schedule_put(struct page_columns *c, const struct page_schedule *s, uint64_t from,
                       uint64_t lost)
{
    const struct mkperf_analysis *a = s->analysis;
    const uint64_t begin = page_later(page_later(a->first_ns, s->since_ns), from);
    const uint64_t end = page_later(a->last_ns, from);
    const struct page_stretch all = {
        .origin = from, .from = begin, .to = page_later(end, begin + 1), .most = PAGE_INTERVALS};

    mkperf_json(&c->json,
                ",'sched':{'events':%" PRIu64 ",'lost':%" PRIu64 ",'from':%" PRIu64 ",'to':%" PRIu64
                ",'cut':%hhd,'kinds':[",
                a->events, page_later(lost, s->lost), begin - from, end - from,
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
    bool read = put_stretch(c, s, &all, true);
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
    put_gaps(c, s, from);
    const struct mkperf_schedule_window *w = s->window;
    for (n = s->windows; n > 0 && w->from < from; n--) {
        w++;
    }
    PAGE_COLUMN(c, "d_delta", n, w[i].from - (i > 0 ? w[i - 1].from : from));
    PAGE_COLUMN(c, "d_window", n, w[i].number);
    return read;
}

struct page_bytes page_schedule_stretch(const struct page_schedule *s, uint64_t origin,
                                        uint64_t from, uint64_t to, size_t most)
{
    const struct page_stretch stretch = {
        .origin = origin, .from = origin + from, .to = origin + to, .most = most};
    struct page_columns c;

    page_columns_begin(&c);
    mkperf_json(&c.json, "{'from':%" PRIu64 ",'to':%" PRIu64 ",", from, to);
    bool read = put_stretch(&c, s, &stretch, false);
    struct page_bytes b = page_columns_finish(&c);
    if (!read) {
        page_bytes_free(&b);
    }
    return b;
}

bool page_schedule_span(const struct page_schedule *s, uint64_t *from, uint64_t *to)
{
    *from = UINT64_MAX;
    *to = 0;
    for (size_t i = 0; s->kept != NULL && i < s->kept->blocks; i++) {
        *from = s->kept->block[i].from < *from ? s->kept->block[i].from : *from;
        *to = page_later(s->kept->block[i].to, *to);
    }
    for (size_t i = 0; i < s->intervals; i++) {
        *from = s->interval[i].from < *from ? s->interval[i].from : *from;
        *to = page_later(s->interval[i].to, *to);
    }
    return *to > 0;
}
