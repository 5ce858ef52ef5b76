/* SPDX-License-Identifier: BSD-2-Clause */
/* Owns: see figures.h. Names are last in a line, so they may hold anything but tabs and ends
 * of lines, which become '?'. */
#include "figures.h"

const char *const mkperf_soft_names[MKPERF_SOFT_KINDS] = {
    [MKPERF_SOFT_SWITCH] = "context-switches",
    [MKPERF_SOFT_FAULT] = "faults",
    [MKPERF_SOFT_PPCALL] = "ppcalls",
    [MKPERF_SOFT_NOTIFICATION] = "notifications",
};

static const char key_time[] = "soft_ns", key_total[] = "soft_total", key_edge[] = "soft_edge",
                  key_pd[] = "soft_pd", key_stack[] = "soft_stack", key_dropped[] = "soft_dropped";

void mkperf_interactions_add(struct mkperf_interactions *i, const struct mkperf_interaction *edge)
{
    for (unsigned n = 0; n < i->nedges; n++) {
        struct mkperf_interaction *known = &i->edge[n];
        if (strcmp(known->from, edge->from) == 0 && strcmp(known->to, edge->to) == 0) {
            known->calls += edge->calls;
            known->notifications += edge->notifications;
            return;
        }
    }
    if (i->nedges < MKPERF_SOFT_EDGES) {
        i->edge[i->nedges] = *edge;
        mkperf_printable(i->edge[i->nedges].from);
        mkperf_printable(i->edge[i->nedges++].to);
    }
}

void mkperf_interactions_add_pd(struct mkperf_interactions *i, const struct mkperf_soft_counts *pd)
{
    unsigned n = 0;

    while (n < i->npds && strcmp(i->pd[n].pd, pd->pd) != 0) {
        n++;
    }
    if (n == MKPERF_COUNT_THREADS) {
        return;
    }
    if (n == i->npds) {
        i->pd[i->npds] = *pd;
        mkperf_printable(i->pd[i->npds++].pd);
        return;
    }
    for (unsigned kind = 0; kind < MKPERF_SOFT_KINDS; kind++) {
        i->pd[n].count[kind] += pd->count[kind];
    }
    if (i->pd[n].stack.least == 0 && pd->stack.least != 0) {
        i->pd[n].stack = pd->stack;
    }
}

uint64_t mkperf_interactions_unplaced(const struct mkperf_interactions *i,
                                      enum mkperf_soft_kind kind)
{
    uint64_t placed = 0;

    for (unsigned n = 0; n < i->nedges; n++) {
        placed += kind == MKPERF_SOFT_PPCALL ? i->edge[n].calls : i->edge[n].notifications;
    }
    return i->total[kind] > placed ? i->total[kind] - placed : 0;
}

static void write_name(FILE *f, const char *name, char end)
{
    for (; *name != '\0'; name++) {
        fputc(*name == '\n' || *name == '\t' ? '?' : *name, f);
    }
    fputc(end, f);
}

void mkperf_interactions_write(const struct mkperf_interactions *i, FILE *f)
{
    fprintf(f, "%s %" PRIu64 "\n%s %" PRIu64 "\n%s", key_time, i->ns, key_dropped,
            i->records_dropped, key_total);
    for (unsigned kind = 0; kind < MKPERF_SOFT_KINDS; kind++) {
        fprintf(f, " %" PRIu64, i->total[kind]);
    }
    fputc('\n', f);
    for (unsigned n = 0; n < i->nedges; n++) {
        const struct mkperf_interaction *e = &i->edge[n];
        fprintf(f, "%s %" PRIu64 " %" PRIu64 " ", key_edge, e->calls, e->notifications);
        write_name(f, e->from, '\t');
        write_name(f, e->to, '\n');
    }
    for (unsigned n = 0; n < i->npds; n++) {
        fprintf(f, "%s", key_pd);
        for (unsigned kind = 0; kind < MKPERF_SOFT_KINDS; kind++) {
            fprintf(f, " %" PRIu64, i->pd[n].count[kind]);
        }
        fputc(' ', f);
        write_name(f, i->pd[n].pd, '\n');
        const struct mkperf_soft_stack *s = &i->pd[n].stack;
        if (s->least != 0) {
            fprintf(f, "%s %" PRIu64 " %" PRIu64 " %" PRIu64 " %" PRIu64 " ", key_stack, s->least,
                    s->bottom, s->top, s->lowest);
            write_name(f, i->pd[n].pd, '\n');
        }
    }
}

/* Reads n numbers from *text on, each behind at most one blank. Moves *text behind the blank after
 * them. */
static bool numbers(const char **text, uint64_t *out, unsigned n)
{
    for (unsigned i = 0; i < n; i++) {
        char *end;
        out[i] = strtoull(*text, &end, 10);
        if (end == *text) {
            return false;
        }
        *text = *end == ' ' ? end + 1 : end;
    }
    return true;
}

bool mkperf_interactions_line(struct mkperf_interactions *i, const char *key, const char *value)
{
    if (strcmp(key, key_time) == 0) {
        i->ns = strtoull(value, NULL, 10);
    } else if (strcmp(key, key_dropped) == 0) {
        i->records_dropped = strtoull(value, NULL, 10);
    } else if (strcmp(key, key_total) == 0) {
        (void)numbers(&value, i->total, MKPERF_SOFT_KINDS);
    } else if (strcmp(key, key_edge) == 0) {
        struct mkperf_interaction edge;
        uint64_t counts[2];
        memset(&edge, 0, sizeof edge);
        if (numbers(&value, counts, 2) && strchr(value, '\t') != NULL) {
            int n = (int)strcspn(value, "\t");
            snprintf(edge.from, sizeof edge.from, "%.*s", n, value);
            snprintf(edge.to, sizeof edge.to, "%s", value + n + 1);
            edge.calls = counts[0];
            edge.notifications = counts[1];
            mkperf_interactions_add(i, &edge);
        }
    } else if (strcmp(key, key_pd) == 0) {
        struct mkperf_soft_counts pd;
        memset(&pd, 0, sizeof pd);
        if (numbers(&value, pd.count, MKPERF_SOFT_KINDS)) {
            snprintf(pd.pd, sizeof pd.pd, "%s", value);
            mkperf_interactions_add_pd(i, &pd);
        }
    } else if (strcmp(key, key_stack) == 0) {
        struct mkperf_soft_counts pd = {.count = {0}};
        uint64_t v[4];
        if (numbers(&value, v, 4)) {
            pd.stack = (struct mkperf_soft_stack){v[0], v[1], v[2], v[3]};
            snprintf(pd.pd, sizeof pd.pd, "%s", value);
            mkperf_interactions_add_pd(i, &pd);
        }
    } else {
        return false;
    }
    return true;
}

/* ---- counts by PD in addition to samples ---- */

void mkperf_pd_counts_add(struct mkperf_pd_counts *c, const struct mkperf_pd_count *count)
{
    unsigned i = 0;

    while (i < c->n && (c->at[i].event != count->event || strcmp(c->at[i].pd, count->pd) != 0)) {
        i++;
    }
    if (i < c->n) {
        c->at[i].user += count->user;
    } else if (c->n < MKPERF_PD_COUNTS) {
        c->at[c->n] = *count;
        mkperf_printable(c->at[c->n++].pd);
    }
}

void mkperf_pd_counts_write(const struct mkperf_pd_counts *c, FILE *f)
{
    for (unsigned i = 0; i < c->n; i++) {
        const struct mkperf_pd_count *count = &c->at[i];
        fprintf(f, MKPERF_PD_COUNT_KEY " %u %d %" PRIu64 " %s\n", count->event, count->own,
                count->user, count->pd);
    }
}

void mkperf_pd_counts_line(struct mkperf_pd_counts *c, const char *value)
{
    struct mkperf_pd_count count = {.own = false};
    unsigned own;
    int at = 0;

    if (sscanf(value, "%u %u %" SCNu64 " %n", &count.event, &own, &count.user, &at) == 3 &&
        at > 0 && count.event < MKPERF_MODEL_EVENTS) {
        count.own = own != 0;
        snprintf(count.pd, sizeof count.pd, "%s", value + at);
        mkperf_pd_counts_add(c, &count);
    }
}
