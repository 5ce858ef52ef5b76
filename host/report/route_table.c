/* SPDX-License-Identifier: BSD-2-Clause */
/* End-to-end paths as tables and as rows, see report.h. Times are microseconds with three decimals, in rows nanoseconds. */
#include "report.h"

enum { ROUTE_TEXT = 1200 };

static struct mkperf_latency_row latency_row_of(const struct mkperf_log_histogram *h, uint64_t at)
{
    struct mkperf_latency_row row = {.irq = 0};

    mkperf_latency_times(&row, h, at);
    return row;
}

static uint64_t worst_end(const struct mkperf_route_times *t)
{
    return t->wall.count != 0 ? t->instance[0].to : 0;
}

void report_route_line(const struct report_route *r, FILE *out)
{
    char text[ROUTE_TEXT];

    if (r == NULL) {
        fprintf(out, "%s  path\n", report_times_titles);
        return;
    }
    const struct mkperf_latency_row row = latency_row_of(&r->times->wall, worst_end(r->times));

    mkperf_route_text(r->routes->analysis, &r->times->route, text, sizeof text);
    fprintf(out, "%10" PRIu64, row.count);
    report_times_print(&row, out);
    fprintf(out, "  %s\n", text);
}

static void print_part(const struct mkperf_log_histogram *h, unsigned k, const char *pd,
                       const char *what, const char *name, FILE *out)
{
    fprintf(out, "%14.3f", (double)h->total / (double)h->count / 1e3);
    for (unsigned q = 0; q < MKPERF_QUANTILES; q++) {
        fprintf(out, " %14.3f", (double)latency_row_of(h, 0).quantile[q] / 1e3);
    }
    fprintf(out, " %14.3f  %u %s: %s%s\n", (double)h->max / 1e3, k, pd, what, name);
}

/* Returns the next queue from number i on by which stage k gets entries of the PD before; nqueues: there is none. */
static unsigned next_queue(const struct report_route *r, unsigned k, unsigned i)
{
    const struct mkperf_flow *f = r->flow;
    const uint32_t *pd = r->times->route.pd;

    while (i < f->nqueues && (f->queue[i].producer != pd[k - 1] || f->queue[i].consumer != pd[k] ||
                              f->queue[i].about.returns || f->queue[i].stay.count == 0)) {
        i++;
    }
    return i;
}

/* Finds the critical path of an instance. */
static void find_path(const struct report_route *r, size_t i, struct mkperf_path *path)
{
    const struct mkperf_route_times *t = r->times;

    mkperf_path_find(path, &r->routes->timeline, t->route.pd[t->route.n - 1], t->instance[i].from,
                     t->instance[i].to);
}

void report_route_print(const struct report_route *r, FILE *out)
{
    const struct mkperf_analysis *a = r->routes->analysis;
    const struct mkperf_route_times *t = r->times;
    char text[ROUTE_TEXT], title[ROUTE_TEXT + 80];

    mkperf_route_text(a, &t->route, text, sizeof text);
    fprintf(out, "# end to end, until %s replies or waits again, us\n",
            mkperf_analysis_name(a, t->route.pd[t->route.n - 1]));
    if (t->open != 0 || t->gaps != 0) {
        fprintf(out,
                "# %" PRIu64 " that lasted at the end, and %" PRIu64
                " in which events are missing, are in no time\n",
                t->open, t->gaps);
    }
    report_route_line(NULL, out);
    report_route_line(r, out);
    fputs("\n# parts of each stage, us\n          mean           50 %           90 %           99 %"
          "         99.9 %          worst  stage: part\n",
          out);
    for (unsigned k = 1; k < t->route.n; k++) {
        const struct mkperf_stage *s = &t->stage[k];
        const char *pd = mkperf_analysis_name(a, t->route.pd[k]);

        for (unsigned p = 0; p < MKPERF_STAGE_PARTS; p++) {
            if (s->part[p].total != 0) {
                print_part(&s->part[p], k, pd, mkperf_stage_part_names[p], "", out);
            }
        }
        for (unsigned i = next_queue(r, k, 0); i < r->flow->nqueues; i = next_queue(r, k, i + 1)) {
            const struct mkperf_flow_queue *q = &r->flow->queue[i];
            print_part(&q->stay, k, pd, "an entry was in the queue ", q->about.name, out);
        }
        report_bys_print(a, "             ready, while others ran:", &s->ready_by, 0, out);
        report_bys_print(a, "             calls:", &s->calls_of, 0, out);
        if (s->busy != 0) {
            fprintf(out, "             %" PRIu64 " found it at work\n", s->busy);
        }
        if (s->ended != 0) {
            fprintf(out, "             %" PRIu64 " ended here: they are in no time\n", s->ended);
        }
    }
    for (size_t i = 0; i < r->worst && i < t->wall.count; i++) {
        struct mkperf_path path;

        snprintf(title, sizeof title, "%s, number %zu of %" PRIu64 ", longest first", text, i + 1,
                 t->wall.count);
        fputc('\n', out);
        find_path(r, i, &path);
        report_path_print(a, &path, title, out);
        mkperf_path_free(&path);
    }
}

static void put_times(struct mkperf_textout *v, const struct mkperf_log_histogram *h, uint64_t at)
{
    const struct mkperf_latency_row row = latency_row_of(h, at);

    report_times_values(v, &row);
}

static void put_route_by(const struct mkperf_analysis *a, struct mkperf_textout *v, unsigned k,
                         const char *pd, const char *what, const struct mkperf_bys *b)
{
    for (unsigned i = 0; i < b->n; i++) {
        mkperf_json(v,
                    "{'type':'path-stage-by','stage':%u,'pd':%s,'what':%s,'by':%s"
                    ",'ns':%" PRIu64 "}\n",
                    k, pd, what, mkperf_analysis_name(a, b->by[i].pd), b->by[i].ns);
    }
}

void report_route_values(const struct report_route *r, struct mkperf_textout *v)
{
    const struct mkperf_analysis *a = r->routes->analysis;
    const struct mkperf_route_times *t = r->times;
    char text[ROUTE_TEXT];

    mkperf_route_text(a, &t->route, text, sizeof text);
    mkperf_json(v, "{'type':'end-to-end','path':%s", text);
    put_times(v, &t->wall, worst_end(t));
    mkperf_json(v, ",'open':%" PRIu64 ",'gaps':%" PRIu64 "}\n", t->open, t->gaps);
    for (unsigned k = 1; k < t->route.n; k++) {
        const struct mkperf_stage *s = &t->stage[k];
        const char *pd = mkperf_analysis_name(a, t->route.pd[k]);

        for (unsigned p = 0; p < MKPERF_STAGE_PARTS; p++) {
            mkperf_json(v, "{'type':'path-stage','stage':%u,'pd':%s,'part':%s", k, pd,
                        mkperf_stage_part_names[p]);
            put_times(v, &s->part[p], 0);
            mkperf_json(v, ",'busy':%" PRIu64 ",'ended':%" PRIu64 "}\n", s->busy, s->ended);
        }
        for (unsigned i = next_queue(r, k, 0); i < r->flow->nqueues; i = next_queue(r, k, i + 1)) {
            mkperf_json(v, "{'type':'path-queue','stage':%u,'pd':%s,'queue':%s", k, pd,
                        r->flow->queue[i].about.name);
            put_times(v, &r->flow->queue[i].stay, 0);
            mkperf_json(v, "}\n");
        }
        put_route_by(a, v, k, pd, "ready", &s->ready_by);
        put_route_by(a, v, k, pd, "calls", &s->calls_of);
    }
    for (size_t i = 0; i < r->worst && i < t->wall.count; i++) {
        struct mkperf_path path;

        find_path(r, i, &path);
        report_path_values(a, &path, v);
        mkperf_path_free(&path);
    }
}
