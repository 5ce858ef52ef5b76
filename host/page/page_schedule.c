/* SPDX-License-Identifier: BSD-2-Clause */
/* Owns: scheduling events in the data of the page, and when each woken PD ran. See page.h. */
#include "page.h"

#include "model/model.h"

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
        read = page_intervals_each(s, from, to, follow_block, &all) && read;
    }
    PAGE_COLUMN(c, "w_delta", all.n, w[i].time - (i > 0 ? w[i - 1].time : origin));
    PAGE_COLUMN(c, "w_kind", all.n, w[i].kind);
    PAGE_COLUMN(c, "w_from", all.n, page_pd_or_none(w[i].from));
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
    bool exact, read = page_intervals_put(c, s, stretch, &exact);

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
