/* SPDX-License-Identifier: BSD-2-Clause */
/* End-to-end paths, see end_to_end.h. */
#include "end_to_end.h"

enum { ROUTES_MOST = 1024 }; /* different paths that are counted */

const char *const mkperf_stage_part_names[MKPERF_STAGE_PARTS] = {
    "waited", "own", "calls", "preempted", "budget", "other",
};

static void add_hop(struct mkperf_routes *r, struct mkperf_hop hop)
{
    MKPERF_GROW(r->hop, r->room, r->n + 1);
    r->hop[r->n++] = hop;
}

static void add_delivery(struct mkperf_routes *r, const struct mkperf_woken *w, bool busy)
{
    if (w->kind == MKPERF_SCHED_IRQ ||
        (w->kind == MKPERF_SCHED_NOTIFY && w->from != MKPERF_SCHED_NOBODY)) {
        add_hop(r, (struct mkperf_hop){w->time, 0, w->from, w->to, w->irq, busy, false});
    }
}

static void on_woken(void *self, const struct mkperf_woken *w)
{
    add_delivery(self, w, false);
}

static void on_busy(void *self, const struct mkperf_woken *w)
{
    add_delivery(self, w, true);
}

static void on_route_call(void *self, uint32_t from, const struct mkperf_call *call, uint64_t end)
{
    add_hop(self, (struct mkperf_hop){call->start, end, from, call->to, 0, false, false});
}

void mkperf_routes_attach(struct mkperf_routes *r, struct mkperf_analysis *a)
{
    *r = (struct mkperf_routes){.analysis = a};
    mkperf_timeline_attach(&r->timeline, a, 0, UINT64_MAX);
    mkperf_analysis_listen(
        a, (struct mkperf_analysis_listener){
               .woken = on_woken, .busy = on_busy, .call = on_route_call, .self = r});
}

void mkperf_routes_sort(struct mkperf_routes *r)
{
    MKPERF_SORT(r->hop, r->n, MKPERF_UP(r->hop, time));
}

/* Returns when a PD that got something at `time` waits again, or UINT64_MAX if the recording ends before. *gap: its
 * state is not known. */
static uint64_t done_at(const struct mkperf_routes *r, uint32_t pd, uint64_t time, bool *gap)
{
    const struct mkperf_interval *i;
    size_t n = mkperf_timeline_intervals(&r->timeline, pd, time, UINT64_MAX, &i);

    for (size_t k = 0; k < n; k++) {
        *gap = i[k].state == MKPERF_PD_UNKNOWN;
        if (*gap || ((i[k].state == MKPERF_PD_WAITING || i[k].state == MKPERF_PD_STOPPED) &&
                     i[k].from >= time)) {
            return i[k].from;
        }
    }
    return UINT64_MAX;
}

/* ---- the search ---- */

struct search {
    struct mkperf_routes *r;
    struct mkperf_route *found;
    size_t n, room;
    struct mkperf_route now;
};

/* Continues with what the PD delivered for a hop. Each hop is in one path only, so this takes time linear in the hops. The
 * recursion is at most MKPERF_ROUTE_PDS deep. */
static void follow(struct search *s, size_t at)
{
    struct mkperf_hop *hop = &s->r->hop[at];
    bool gap = false, leaf = true, ends = s->now.n == MKPERF_ROUTE_PDS - 1;
    uint64_t until = hop->end;

    for (uint32_t i = 0; i < s->now.n; i++) {
        ends |= s->now.pd[i] == hop->to;
    }
    hop->used = true;
    s->now.pd[s->now.n++] = hop->to;
    if (!ends && until == 0 && !hop->busy) {
        until = done_at(s->r, hop->to, hop->time, &gap);
    }
    for (size_t k = at + 1; !ends && k < s->r->n && s->r->hop[k].time <= until; k++) {
        if (s->r->hop[k].from == hop->to && !s->r->hop[k].used) {
            follow(s, k);
            leaf = false;
        }
    }
    if (leaf) { /* a whole path: counts it */
        size_t k = 0, bytes = s->now.n * sizeof *s->now.pd;

        while (k < s->n && (s->found[k].n != s->now.n || s->found[k].irq != s->now.irq ||
                            memcmp(s->found[k].pd, s->now.pd, bytes) != 0)) {
            k++;
        }
        if (k == s->n && k < ROUTES_MOST) {
            MKPERF_GROW(s->found, s->room, k + 1);
            s->found[s->n++] = s->now;
        }
        if (k < s->n) {
            s->found[k].times++;
        } else {
            s->r->not_counted++;
        }
    }
    s->now.n--;
}

size_t mkperf_routes_find(struct mkperf_routes *r, struct mkperf_route *out, size_t most)
{
    struct search s = {.r = r};
    size_t n = 0;

    for (size_t k = 0; k < r->n; k++) {
        if (!r->hop[k].used) {
            s.now = (struct mkperf_route){.irq = r->hop[k].irq, .n = 1, .pd = {r->hop[k].from}};
            follow(&s, k);
        }
    }
    MKPERF_SORT(s.found, s.n, MKPERF_DOWN(s.found, times), MKPERF_UP(s.found, n));
    while (n < s.n && n < most && s.found[n].times > 1) {
        out[n] = s.found[n];
        n++;
    }
    free(s.found);
    return n;
}

/* ---- names ---- */

void mkperf_route_text(const struct mkperf_analysis *a, const struct mkperf_route *route,
                       char *text, size_t n)
{
    size_t at = 0;

    for (uint32_t i = 0; i < route->n && at < n; i++) {
        int more = route->pd[i] != MKPERF_SCHED_NOBODY
                       ? snprintf(text + at, n - at, "%s%s", i != 0 ? " -> " : "",
                                  mkperf_analysis_name(a, route->pd[i]))
                       : snprintf(text + at, n - at, "irq %" PRIu32, route->irq);
        at += more > 0 ? (size_t)more : 0;
    }
}

enum mkperf_status mkperf_route_parse(const struct mkperf_analysis *a, const char *text,
                                      struct mkperf_route *out, struct mkperf_error *e)
{
    const char *wrong = NULL, *at = text;
    int shown = INT_MAX; /* how much of `at` is wrong */

    *out = (struct mkperf_route){.n = 0};
    for (const char *arrow = text; arrow != NULL && wrong == NULL;) {
        at += strspn(at, " ");
        arrow = strstr(at, "->");
        size_t n = arrow != NULL ? (size_t)(arrow - at) : strlen(at);
        while (n > 0 && at[n - 1] == ' ') {
            n--;
        }
        uint32_t pd = mkperf_analysis_find(a, at, n);
        if (out->n == 0 && n > 4 && strncmp(at, "irq ", 4) == 0) {
            uint64_t irq;
            bool valid = mkperf_read_number(at + 4, n - 4, 10, &irq) && irq <= UINT32_MAX;
            out->irq = (uint32_t)irq;
            pd = MKPERF_SCHED_NOBODY;
            wrong = valid ? NULL : "want irq NUMBER";
        } else if (pd == MKPERF_SCHED_NOBODY) {
            wrong = "no PD of that name is recorded";
        } else if (out->n == MKPERF_ROUTE_PDS) {
            wrong = "the path is too long";
        }
        if (wrong == NULL) {
            out->pd[out->n++] = pd;
        }
        shown = wrong != NULL ? (int)n : shown;
        at = arrow != NULL && wrong == NULL ? arrow + 2 : at;
    }
    wrong = wrong == NULL && out->n < 2 ? "want FROM -> PD -> ..., FROM a PD or irq NUMBER" : wrong;
    return wrong == NULL
               ? MKPERF_OK
               : mkperf_error_set(e, MKPERF_ERR_USAGE, "--path: '%.*s': %s", shown, at, wrong);
}

/* ---- times ---- */

/* The next hop of each stage, and when its PD is done: both only grow from instance to instance. */
struct cursor {
    size_t hop;
    uint64_t done;
    bool gap;
};

/* Returns the first delivery from the PD before to the PD of stage k, at or after `time`, or NULL if there is none. */
static const struct mkperf_hop *hop_after(const struct mkperf_routes *r,
                                          const struct mkperf_route *route, unsigned k,
                                          struct cursor *c, uint64_t time)
{
    for (; c->hop < r->n; c->hop++) {
        const struct mkperf_hop *hop = &r->hop[c->hop];

        if (hop->time >= time && hop->from == route->pd[k - 1] && hop->to == route->pd[k] &&
            (hop->from != MKPERF_SCHED_NOBODY || hop->irq == route->irq)) {
            return hop;
        }
    }
    return NULL;
}

/* Returns when the PD of a hop is done with it. */
static uint64_t stage_done(const struct mkperf_routes *r, const struct mkperf_hop *hop,
                           struct cursor *c)
{
    if (hop->end != 0) {
        c->gap = false;
        return hop->end;
    }
    if (c->done <= hop->time) {
        c->done = done_at(r, hop->to, hop->time, &c->gap);
    }
    return c->done;
}

static void stage_parts(const struct mkperf_routes *r, const struct mkperf_hop *hop, uint64_t until,
                        struct mkperf_stage *s)
{
    const struct mkperf_interval *i;
    uint64_t part[MKPERF_STAGE_PARTS] = {0};
    size_t n = mkperf_timeline_intervals(&r->timeline, hop->to, hop->time, until, &i);
    bool began = hop->busy;

    for (size_t k = 0; k < n; k++) {
        uint64_t from = i[k].from > hop->time ? i[k].from : hop->time;
        uint64_t ns = (i[k].to < until ? i[k].to : until) - from;
        bool ours = hop->end == 0 || i[k].serving == hop->from;

        began |= i[k].state == MKPERF_PD_RUNNING && ours;
        enum mkperf_stage_part p =
            mkperf_stage_part_of(i[k].state, i[k].by, ns, &s->ready_by, &s->calls_of);
        if ((p == MKPERF_STAGE_OWN && !ours) ||
            ((p == MKPERF_STAGE_PREEMPTED || p == MKPERF_STAGE_CALLS) && !began)) {
            p = MKPERF_STAGE_WAITED;
        }
        part[p] += ns;
    }
    s->busy += hop->busy;
    for (unsigned p = 0; p < MKPERF_STAGE_PARTS; p++) {
        mkperf_log_add(&s->part[p], part[p], 1);
    }
}

void mkperf_route_measure(const struct mkperf_routes *r, const struct mkperf_route *route,
                          struct mkperf_route_times *out)
{
    struct cursor cursor[MKPERF_ROUTE_PDS] = {0};
    const struct mkperf_hop *hop[MKPERF_ROUTE_PDS];

    *out = (struct mkperf_route_times){.route = *route};
    while ((hop[1] = hop_after(r, route, 1, &cursor[1], 0)) != NULL) {
        unsigned k = 1;
        uint64_t done = stage_done(r, hop[1], &cursor[1]);

        cursor[1].hop++;
        while (k + 1 < route->n && done != UINT64_MAX && !cursor[k].gap) {
            hop[k + 1] = hop_after(r, route, k + 1, &cursor[k + 1], hop[k]->time);
            if (hop[k + 1] == NULL || hop[k + 1]->time > done) {
                break;
            }
            k++;
            done = stage_done(r, hop[k], &cursor[k]);
        }
        if (cursor[k].gap) {
            out->gaps++;
        } else if (done == UINT64_MAX) {
            out->open++;
        } else if (k + 1 < route->n) {
            out->stage[k].ended++;
        } else {
            size_t at = out->wall.count;

            for (unsigned i = 1; i <= k; i++) {
                stage_parts(r, hop[i], i < k ? hop[i + 1]->time : done, &out->stage[i]);
            }
            MKPERF_GROW(out->instance, out->room, at + 1);
            out->instance[at] = (struct mkperf_route_instance){hop[1]->time, done - hop[1]->time};
            mkperf_log_add(&out->wall, out->instance[at].ns, 1);
        }
    }
    MKPERF_SORT(out->instance, out->wall.count, MKPERF_DOWN(out->instance, ns),
                MKPERF_UP(out->instance, from));
}

void mkperf_route_times_free(struct mkperf_route_times *t)
{
    for (unsigned k = 0; k < MKPERF_ROUTE_PDS; k++) {
        for (unsigned p = 0; p < MKPERF_STAGE_PARTS; p++) {
            mkperf_log_free(&t->stage[k].part[p]);
        }
        free(t->stage[k].ready_by.by);
        free(t->stage[k].calls_of.by);
    }
    mkperf_log_free(&t->wall);
    free(t->instance);
    *t = (struct mkperf_route_times){.room = 0};
}

void mkperf_routes_free(struct mkperf_routes *r)
{
    mkperf_timeline_free(&r->timeline);
    free(r->hop);
    *r = (struct mkperf_routes){.n = 0};
}
