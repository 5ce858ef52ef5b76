/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Counts by PD in addition to samples (record --stat), and their comparison with the samples. See figures.h and relays.h.
 *
 * Owns: the form of the counts in memory and in perf.data, and the sums of samples by event and PD.
 *
 * A second counter of each event that samples counts user mode, by PD. The PDs' shares of the event in user mode are compared,
 * without mkperf's own PDs, and the sum of all periods with the sum of all counts. If the session samples selected PDs, those
 * that have samples are compared, and not the sum.
 *
 * Two shares contradict each other if they differ by more than chance explains: checks.c has the rule. The limit is wider by
 * what may belong to any PD: lost and late samples, what mkperf's own PDs have more by counts than by samples, and of each core
 * the interval that had not ended. The sum has only this last error.
 */
#include "figures.h"

#include <math.h>

#include "relays.h"

enum {
    LEAST_EVENT_SAMPLES = 100, /* An event with fewer samples is not compared. */
    /* The interval of a core that has not ended has at most as many events as this many of the heaviest samples, with jitter. */
    COUNT_ENDS = 2,
};
/* If a greater part of the events may belong to any PD, nothing is compared. */
static const double COUNT_UNKNOWN_MAX = 0.25;

/* ---- the counts ------------------------------------------------------------------------------ */

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

/* ---- the comparison -------------------------------------------------------------------------- */

/* The samples of an event in user mode of a PD, and the count of the same. */
struct count_cell {
    uint32_t event, pd;
    double weight, squares;
    uint64_t samples, count;
};

/* An event's sums over the PDs that are compared, and over all. */
struct sums {
    double weight, squares, count, all_weight, all_count, unknown;
    uint64_t samples, cores; /* a bit for each core that has samples */
};

struct mkperf_count_check {
    struct mkperf_hash keys; /* the keys of cells: event and PD */
    struct count_cell *cell;
    uint32_t room;
    double heaviest[MKPERF_MODEL_EVENTS]; /* weight of a sample */
    uint64_t cores[MKPERF_MODEL_EVENTS];
};

struct mkperf_count_check *mkperf_count_check_new(void)
{
    return mkperf_xcalloc(1, sizeof(struct mkperf_count_check));
}

void mkperf_count_check_free(struct mkperf_count_check *c)
{
    if (c != NULL) {
        mkperf_hash_free(&c->keys);
        free(c->cell);
        free(c);
    }
}

static struct count_cell *count_cell_of(struct mkperf_count_check *c, uint32_t event, uint32_t pd)
{
    const uint64_t key = (uint64_t)event << 32 | pd;
    uint32_t at = mkperf_hash_number(&c->keys, &key, 1);

    MKPERF_GROW(c->cell, c->room, c->keys.count);
    c->cell[at].event = event;
    c->cell[at].pd = pd;
    return &c->cell[at];
}

void mkperf_count_check_sample(struct mkperf_count_check *c, const struct mkperf_sample *s)
{
    double weight = (double)s->period, n = (double)mkperf_sample_count(s);

    if (s->flags & (MKPERF_SAMPLE_KERNEL | MKPERF_SAMPLE_BLOCKED)) {
        return;
    }
    struct count_cell *cell = count_cell_of(c, s->event, s->pd);
    cell->samples += mkperf_sample_count(s);
    cell->weight += weight;
    cell->squares += weight * weight / n;
    /* The samples of a window have one sum. None has twice their mean, because jitter is at most half a period. */
    weight = n > 1 ? 2 * weight / n : weight;
    c->heaviest[s->event] = fmax(c->heaviest[s->event], weight);
    c->cores[s->event] |= UINT64_C(1) << (s->core & 63);
}

/* Returns the name of a cell's PD; own: it is mkperf's. */
static const char *cell_name(const struct mkperf_count_names *names,
                             const struct mkperf_pd_counts *counts, const struct count_cell *cell,
                             bool *own)
{
    if (cell->pd < names->npds) {
        return names->name(names->self, cell->pd, own);
    }
    *own = counts->at[cell->pd - names->npds].own;
    return counts->at[cell->pd - names->npds].pd;
}

static double lost_share(const struct mkperf_totals *t)
{
    double lost = (double)mkperf_lost_sum(t->lost);

    return lost / ((double)t->samples + lost + 1);
}

static struct sums sum_event(const struct mkperf_count_check *c, uint32_t event,
                             const struct mkperf_count_names *names, const struct mkperf_totals *t)
{
    double own = 0;
    struct sums s = {.cores = c->cores[event]};

    for (uint32_t i = 0; i < c->keys.count; i++) {
        const struct count_cell *cell = &c->cell[i];
        bool mine = false;
        if (cell->event != event) {
            continue;
        }
        cell_name(names, t->counts, cell, &mine);
        s.all_weight += cell->weight;
        s.all_count += (double)cell->count;
        if (mine) {
            own += (double)cell->count - cell->weight;
        } else if (!names->session->selected || cell->samples != 0) {
            s.samples += cell->samples;
            s.weight += cell->weight;
            s.squares += cell->squares;
            s.count += (double)cell->count;
        }
    }
    own = own > 0 && !names->session->selected ? own : 0;
    s.unknown = lost_share(t) + ((double)t->late_events + own) / (s.weight + 1);
    return s;
}

double mkperf_share_limit(double p, double weight, double squares, double heaviest, double m,
                          double *error)
{
    /* the highest probability of a false alarm in a whole recording */
    static const double FALSE_ALARM = 1e-4;
    static const double EXCESS = 1.8; /* factor of the variance above that of independent samples */
    double l = log(2 * m / FALSE_ALARM);

    *error = sqrt(p * (1 - p) * squares) / weight;
    return *error * sqrt(2 * EXCESS * l) + l / 3 * heaviest / weight;
}

/* Notes a difference in relation to what may be. */
static void note_agreement(struct mkperf_agreed *to, const struct mkperf_event *event,
                           const char *pd, double by_samples, double by_counts, double error,
                           double may)
{
    double off = fabs(by_samples - by_counts) / may;

    to->compared++;
    to->contradicted += off > 1;
    if (off >= to->off) {
        to->off = off;
        to->by_samples_ppm = (uint64_t)(by_samples * 1e6 + 0.5);
        to->by_events_ppm = (uint64_t)(by_counts * 1e6 + 0.5);
        to->error_ppm = (uint64_t)(error * 1e6 + 0.5);
        snprintf(to->pd, sizeof to->pd, "%s", pd);
        snprintf(to->event, sizeof to->event, "%s", event->name);
    }
}

static void compare_event(const struct mkperf_count_check *c, uint32_t event,
                          const struct mkperf_count_names *names, const struct mkperf_totals *t,
                          struct mkperf_agreed *to)
{
    const struct mkperf_session *session = names->session;
    struct sums s = sum_event(c, event, names, t);
    uint32_t cores = (uint32_t)__builtin_popcount(mkperf_session_cores(session));
    double ends = COUNT_ENDS * c->heaviest[event] * (cores > 1 ? cores : 1);
    const char *why = s.samples < LEAST_EVENT_SAMPLES || s.count <= 0 ? "too few samples"
                      : s.unknown > COUNT_UNKNOWN_MAX                 ? "too much is lost"
                                                                      : NULL;

    if (why != NULL) {
        if (s.all_count > 0 || s.all_weight > 0) {
            snprintf(to->not, sizeof to->not, "%s", why);
        }
        return;
    }
    for (uint32_t i = 0; i < c->keys.count; i++) {
        const struct count_cell *cell = &c->cell[i];
        bool own = false;
        if (cell->event != event) {
            continue;
        }
        const char *name = cell_name(names, t->counts, cell, &own);
        if (!own && (!session->selected || cell->samples != 0)) {
            double p = (double)cell->count / s.count, error;
            double may = mkperf_share_limit(p, s.weight, s.squares, c->heaviest[event],
                                            (double)c->keys.count, &error);
            note_agreement(to, &session->event[event], name, cell->weight / s.weight, p, error,
                           may + ends / s.weight + s.unknown);
        }
    }
    /* A core without a sample may have any part of its first interval. */
    if (!session->selected && (uint32_t)__builtin_popcountll(s.cores) >= cores) {
        double may = ends / s.all_count + lost_share(t);
        note_agreement(to, &session->event[event], "the sum", s.all_weight / s.all_count, 1, 0,
                       may);
    }
}

void mkperf_count_check_end(struct mkperf_count_check *c, const struct mkperf_count_names *names,
                            const struct mkperf_totals *t, struct mkperf_agreed *to)
{
    if (t->counts == NULL || t->counts->n == 0 || t->restarts != 0) {
        snprintf(to->not, sizeof to->not, "%s",
                 t->restarts != 0 ? "the target was restarted"
                                  : "there are no counts of these samples");
        return;
    }
    /* Gives the counts to cells. A PD that has no sample of its event gets a cell. */
    for (unsigned i = 0; i < t->counts->n; i++) {
        const struct mkperf_pd_count *count = &t->counts->at[i];
        uint32_t pd = 0;
        while (pd < names->npds && strcmp(names->name(names->self, pd, NULL), count->pd) != 0) {
            pd++;
        }
        /* Counts without a PD have the numbers behind those of all PDs. */
        if (count->user != 0) {
            count_cell_of(c, count->event, pd < names->npds ? pd : names->npds + i)->count =
                count->user;
        }
    }
    for (uint32_t event = 0; event < names->session->nevents; event++) {
        compare_event(c, event, names, t, to);
    }
}
