/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Tables of PDs that work for each other: interactions (who called and notified whom) and charged time.
 *
 * Owns: the form of both, and the reading of interactions from a recording. No edge is left out. The table prints the number
 * of edges for which the target had no room. See report.h.
 */
#include "report.h"

#include "export/formats.h"

static uint64_t weight(const struct mkperf_interaction *e)
{
    return e->calls + e->notifications;
}

static int heavier(const void *a, const void *b)
{
    const struct mkperf_interaction *left = a, *right = b;
    int order = mkperf_compare(weight(right), weight(left));

    order = order != 0 ? order : strcmp(left->from, right->from);
    return order != 0 ? order : strcmp(left->to, right->to);
}

static void warn_unplaced(const struct mkperf_interactions *i, const char *mark, FILE *out)
{
    for (unsigned kind = MKPERF_SOFT_PPCALL; kind < MKPERF_SOFT_KINDS; kind++) {
        uint64_t unplaced = mkperf_interactions_unplaced(i, kind);
        if (unplaced != 0) {
            fprintf(out,
                    "%s WARNING: %" PRIu64 " of %" PRIu64 " %s are in no line: the target's "
                    "table had no room\n",
                    mark, unplaced, i->total[kind], mkperf_soft_names[kind]);
        }
    }
    if (i->records_dropped != 0) {
        fprintf(out, "%s WARNING: %" PRIu64 " faults have no mark: a ring had no room\n", mark,
                i->records_dropped);
    }
}

static void print_table(const struct mkperf_interactions *i, const char *path, FILE *out)
{
    char text[MKPERF_PRINTABLE_PATH];

    fprintf(out, "# interactions of %s", mkperf_printable_copy(path, text, sizeof text));
    if (i->ns != 0) {
        fprintf(out, ", %.6f s", (double)i->ns / 1e9);
    }
    fputc('\n', out);
    for (unsigned kind = 0; kind < MKPERF_SOFT_KINDS; kind++) {
        fprintf(out, "# %-16s %" PRIu64 "\n", mkperf_soft_names[kind], i->total[kind]);
    }
    warn_unplaced(i, "#", out);
    fputs("#\n", out);
    fprintf(out, "%10s %13s %10s  %s\n", "ppcalls", "notifications", "per second", "from -> to");
    for (unsigned n = 0; n < i->nedges; n++) {
        const struct mkperf_interaction *e = &i->edge[n];
        fprintf(out, "%10" PRIu64 " %13" PRIu64, e->calls, e->notifications);
        double count = (double)weight(e);
        if (i->ns != 0) {
            fprintf(out, " %10.1f", count * 1e9 / (double)i->ns);
        } else {
            fprintf(out, " %10s", "?");
        }
        fprintf(out, "  %s -> %s\n", e->from, e->to);
    }
    fprintf(out, "\n%16s %8s %10s %13s  %s\n", mkperf_soft_names[MKPERF_SOFT_SWITCH],
            mkperf_soft_names[MKPERF_SOFT_FAULT], mkperf_soft_names[MKPERF_SOFT_PPCALL],
            mkperf_soft_names[MKPERF_SOFT_NOTIFICATION], "by");
    for (unsigned n = 0; n < i->npds; n++) {
        const uint64_t *c = i->pd[n].count;
        fprintf(out, "%16" PRIu64 " %8" PRIu64 " %10" PRIu64 " %13" PRIu64 "  %s\n",
                c[MKPERF_SOFT_SWITCH], c[MKPERF_SOFT_FAULT], c[MKPERF_SOFT_PPCALL],
                c[MKPERF_SOFT_NOTIFICATION], i->pd[n].pd);
    }
}

/* Prints bytes, and their share of the stack, or a dash if they are not known. */
static void put_stack_part(uint64_t bytes, const struct mkperf_soft_stack *s, FILE *out)
{
    if (bytes == 0) {
        fprintf(out, " %9s %8s", "-", "");
    } else {
        fprintf(out, " %9" PRIu64 " %7.2f%%", bytes, mkperf_percent(bytes, s->top - s->bottom));
    }
}

static void print_stacks(const struct mkperf_interactions *i, const char *path, FILE *out)
{
    char text[MKPERF_PRINTABLE_PATH];

    fprintf(out,
            "# stacks of %s, bytes\n"
            "# Seen: the stack was at least so deep, at a sample or when the PD stopped\n"
            "# Used: down to the lowest word that is not 0, since the system started "
            "(record --stack-scan)\n#\n"
            "#    Size      Seen                Used           PD\n",
            mkperf_printable_copy(path, text, sizeof text));
    for (unsigned n = 0; n < i->npds; n++) {
        const struct mkperf_soft_stack *s = &i->pd[n].stack;

        if (s->top > s->bottom) {
            fprintf(out, "%9" PRIu64, s->top - s->bottom);
            put_stack_part(mkperf_stack_above(s, s->least), s, out);
            put_stack_part(mkperf_stack_used(s), s, out);
            fprintf(out, "  %s\n", i->pd[n].pd);
        } else if (s->least != 0) {
            fprintf(out, "%9s %9s %8s %9s %8s  %s\n", "-", "-", "", "-", "", i->pd[n].pd);
        }
    }
}

/* Prints an arrow. DOT quotes identifiers as JSON does. */
static void put_arrow(struct mkperf_textout *t, const struct mkperf_interaction *e, uint64_t count,
                      const char *what, uint64_t ns, const char *style)
{
    if (count != 0) {
        mkperf_json(t, "    %s -> %s [label='%" PRIu64, e->from, e->to, count);
        mkperf_textout_printf(t, " %s", what);
        if (ns != 0) {
            mkperf_textout_printf(t, "\\n%.1f/s", (double)count * 1e9 / (double)ns);
        }
        mkperf_textout_printf(t, "\", style=%s];\n", style);
    }
}

void report_interactions_print(const struct mkperf_interactions *i, enum report_form form,
                               const char *path, FILE *out)
{
    struct mkperf_textout t = {.over = out};

    if (form == REPORT_DOT) {
        fputs("digraph interactions {\n    node [shape=box];\n", out);
        warn_unplaced(i, "   //", out);
        for (unsigned n = 0; n < i->npds; n++) {
            mkperf_json(&t, "    %s;\n", i->pd[n].pd);
        }
        for (unsigned n = 0; n < i->nedges; n++) {
            put_arrow(&t, &i->edge[n], i->edge[n].calls, "calls", i->ns, "solid");
            put_arrow(&t, &i->edge[n], i->edge[n].notifications, "notifications", i->ns, "dashed");
        }
        fputs("}\n", out);
    } else if (form == REPORT_STACKS) {
        print_stacks(i, path, out);
    } else if (form == REPORT_TABLE) {
        print_table(i, path, out);
    } else {
        struct mkperf_textout v = report_values_begin(out, NULL, "report", path);
        if (form == REPORT_STACKS_JSON) {
            mkperf_jsonl_stacks(&v, i);
            return;
        }
        mkperf_json(&v,
                    "{'type':'interactions','ns':%" PRIu64 ",'calls_dropped':%" PRIu64
                    ",'notifications_dropped':%" PRIu64 ",'fault_marks_dropped':%" PRIu64 "}\n",
                    i->ns, mkperf_interactions_unplaced(i, MKPERF_SOFT_PPCALL),
                    mkperf_interactions_unplaced(i, MKPERF_SOFT_NOTIFICATION), i->records_dropped);
        mkperf_jsonl_interactions(&v, i);
    }
}

/* Copies the interactions, which are valid only during this call. */
static enum mkperf_status take_end(void *self, const struct mkperf_item *item,
                                   struct mkperf_error *e)
{
    struct mkperf_interactions **of = self;

    (void)e;
    if (item->kind == MKPERF_ITEM_END && item->totals->interactions != NULL) {
        *of = mkperf_xcalloc(1, sizeof **of);
        **of = *item->totals->interactions;
    }
    return MKPERF_OK;
}

enum mkperf_status report_interactions(const char *path, enum report_form form, const char *output,
                                       struct mkperf_error *e)
{
    struct mkperf_interactions *of = NULL;
    struct mkperf_sink sink = {.take = take_end, .self = &of, .leaves_only = true};
    const struct mkperf_input in = {.from = NULL};
    const struct mkperf_question question = {.text = "interactions"};
    bool stacks = form == REPORT_STACKS || form == REPORT_STACKS_JSON, any = false;
    struct mkperf_printout out;

    e->status = MKPERF_OK;
    (void)mkperf_input_ask(path, &in, &sink, &question, e);
    for (unsigned n = 0; of != NULL && n < of->npds; n++) {
        any |= of->pd[n].stack.least != 0;
    }
    if (e->status == MKPERF_OK && !(stacks ? any : of != NULL)) {
        mkperf_error_set(e, MKPERF_ERR_INPUT, "%s: no %s were recorded (mkperf record --%s)", path,
                         stacks ? "stacks" : "interactions",
                         stacks ? "stack-scan" : "interactions");
    }
    if (e->status == MKPERF_OK && of != NULL &&
        mkperf_printout_open(&out, output != NULL ? output : "-", e) == MKPERF_OK) {
        qsort(of->edge, of->nedges, sizeof of->edge[0], heavier);
        report_interactions_print(of, form, path, out.to);
        (void)mkperf_printout_close(&out, e);
    }
    free(of);
    return e->status;
}

static double share(const struct mkperf_charge *c, const struct mkperf_weight *w)
{
    return mkperf_percent(w->period, c->total.period);
}

void report_charged_row(const struct mkperf_charge *c, const struct mkperf_charge_pd *pd,
                        const char *more, const char *name, char *text, size_t n)
{
    snprintf(text, n, "%8.2f%% %8.2f%% %8.2f%% %10.2f%%%s  %s", share(c, &pd->charged),
             share(c, &pd->self), share(c, &pd->imposed), share(c, &pd->served), more, name);
}

void report_charged_by(const struct mkperf_charge *c, const struct mkperf_charge_pair *pair,
                       int more, const char *name, char *text, size_t n)
{
    snprintf(text, n, "%28.2f%%%*s               by %s", share(c, &pair->weight), more, "", name);
}

void report_charged_print(const struct mkperf_profile *p, uint32_t event, double limit)
{
    struct mkperf_charge c;
    uint32_t hidden = 0;
    char text[512];

    mkperf_charge_make(&c, p, event);
    printf("#\n# Charged: what each PD used itself, and what others used on its behalf (by\n"
           "# the outermost PD of each callchain), of event '%s'\n#\n"
           "#" REPORT_CHARGED_TITLES("") "\n#\n",
           p->places.session.event[event].name);
    for (uint32_t i = 0; i < c.npds; i++) {
        const struct mkperf_charge_pd *pd = &c.pd[i];
        if (share(&c, &pd->charged) < limit && share(&c, &pd->served) < limit) {
            hidden++;
            continue;
        }
        report_charged_row(&c, pd, "", mkperf_profile_pd_name(p, pd->pd), text, sizeof text);
        printf("%s\n", text);
        for (uint32_t k = 0; k < c.npairs; k++) {
            const struct mkperf_charge_pair *pair = &c.pair[k];
            if (pair->to == pd->pd && pair->by != pd->pd && share(&c, &pair->weight) >= limit) {
                report_charged_by(&c, pair, 0, mkperf_profile_pd_name(p, pair->by), text,
                                  sizeof text);
                printf("%s\n", text);
            }
        }
    }
    if (hidden != 0) {
        report_omitted_print(hidden, limit);
    }
    mkperf_charge_free(&c);
}

void report_charged_values(const struct mkperf_profile *p, uint32_t event, struct mkperf_textout *v)
{
    const char *name = p->places.session.event[event].name;
    struct mkperf_charge c;

    mkperf_charge_make(&c, p, event);
    for (uint32_t i = 0; i < c.npds; i++) {
        const struct mkperf_charge_pd *pd = &c.pd[i];

        mkperf_json(v,
                    "{'type':'charged','event':%s,'pd':%s,'percent':%.4f,'samples':%" PRIu64
                    ",'period':%" PRIu64 ",'self_samples':%" PRIu64 ",'self_period':%" PRIu64
                    ",'imposed_samples':%" PRIu64 ",'imposed_period':%" PRIu64
                    ",'served_samples':%" PRIu64 ",'served_period':%" PRIu64 "}\n",
                    name, mkperf_profile_pd_name(p, pd->pd), share(&c, &pd->charged),
                    pd->charged.samples, pd->charged.period, pd->self.samples, pd->self.period,
                    pd->imposed.samples, pd->imposed.period, pd->served.samples, pd->served.period);
    }
    for (uint32_t i = 0; i < c.npairs; i++) {
        mkperf_json(v,
                    "{'type':'charged_by','event':%s,'pd':%s,'by':%s,'samples':%" PRIu64
                    ",'period':%" PRIu64 "}\n",
                    name, mkperf_profile_pd_name(p, c.pair[i].to),
                    mkperf_profile_pd_name(p, c.pair[i].by), c.pair[i].weight.samples,
                    c.pair[i].weight.period);
    }
    mkperf_charge_free(&c);
}
