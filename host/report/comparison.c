/* SPDX-License-Identifier: BSD-2-Clause */
/* The comparison of recordings: reading, rows, and the judgement of each; see comparison.h. */
#include "comparison.h"

#include <math.h>

/* A normal deviation is below it in 95 of 100 cases. */
static const double POWER_DEVIATION = 1.6449;
static const double INTERVAL = 0.95;
enum { EXPECTED_MIN = 5, LATENCIES_MIN = 100 };

/* Returns the number of the event in a session, or -1. */
static int find_event(const struct mkperf_session *s, const char *name)
{
    for (unsigned i = 0; i < s->nevents; i++) {
        if (strcmp(s->event[i].name, name) == 0) {
            return (int)i;
        }
    }
    return -1;
}

bool report_comparison_has(const struct report_comparison *d, const char *event)
{
    for (unsigned side = REPORT_A; side < REPORT_SIDES; side++) {
        for (unsigned i = 0; i < d->runs[side]; i++) {
            if (find_event(&d->run[side][i].profile.places.session, event) < 0) {
                return false;
            }
        }
    }
    return true;
}

/* ---- reading ---- */

/* Returns the number of marks and ended phases of a name, of all PDs. */
static double count_marks(const struct report_run *r, const char *name, struct mkperf_error *e)
{
    const struct mkperf_profile *p = &r->profile;
    double n = 0;

    (void)e;
    for (uint32_t i = 0; i < p->mark_keys.count; i++) {
        const uint64_t *key = mkperf_hash_key(&p->mark_keys, i);

        if (strcmp(mkperf_places_text(&p->places, (uint32_t)key[1]), name) == 0) {
            n += (double)(p->mark_sum[i].points + p->mark_sum[i].phases);
        }
    }
    return n;
}

static double count_event(const struct report_run *r, const char *name, struct mkperf_error *e)
{
    int event = find_event(&r->profile.places.session, name);

    (void)e;
    return event >= 0 ? (double)r->profile.total[event].period : 0;
}

/* Returns the number of protected calls of a PD, by scheduling events. */
static double count_calls(const struct report_run *r, const char *pd, struct mkperf_error *e)
{
    const struct mkperf_analysis *a = r->profile.sched;
    double n = 0;

    (void)e;
    for (unsigned i = 0; a != NULL && i < a->nedges; i++) {
        bool calls = a->edge[i].exit == 0 &&
                     strcmp(mkperf_analysis_name(a, a->edge[i].to), pd) == 0;
        n += calls ? (double)a->edge[i].wall.count : 0;
    }
    return n;
}

/* Returns the packets of a PD at the queues of the class of which it has most. The recording is
 * read again. */
static double count_packets(const struct report_run *r, const char *pd, struct mkperf_error *e)
{
    struct mkperf_analysis *a = mkperf_analysis_new();
    struct mkperf_flow f;
    double most = 0;

    mkperf_flow_init(&f, a);
    if (mkperf_flow_read(&f, r->path, e) == MKPERF_OK) {
        for (unsigned i = 0; i < f.nstages; i++) {
            most = strcmp(f.stage[i].name, pd) == 0
                       ? fmax(most, (double)mkperf_flow_packets(&f.stage[i]))
                       : most;
        }
    }
    mkperf_flow_free(&f);
    mkperf_analysis_free(a);
    return most;
}

/* The things of which a recording's costs are: KIND:NAME. */
static const struct {
    const char *kind;
    double (*count)(const struct report_run *r, const char *name, struct mkperf_error *e);
    const char *missing;
} units[] = {{"mark:", count_marks, "no mark"},
             {"event:", count_event, "no sample of the event"},
             {"calls:", count_calls, "no call (record --sched counts them) of PD"},
             {"packets:", count_packets, "no packet (record --queues counts them) of PD"}};

/* Returns the number of the kind of a text; without a name behind it, and if there is no such kind, the number of kinds. */
static unsigned kind_of(const char *per)
{
    unsigned i = 0;

    while (i < sizeof units / sizeof *units &&
           (strncmp(per, units[i].kind, strlen(units[i].kind)) != 0 ||
            per[strlen(units[i].kind)] == '\0')) {
        i++;
    }
    return i;
}

static enum mkperf_status take_per(void *member, const struct mkperf_given *g)
{
    if (kind_of(g->value) == sizeof units / sizeof *units) {
        return mkperf_given_bad(g, "mark:NAME, event:NAME, calls:PD or packets:PD");
    }
    *(const char **)member = g->value;
    return MKPERF_OK;
}

const struct mkperf_option report_per_options[] = {
    MKPERF_OPTION(0, "per",
                  "compare costs instead of shares: per mark:NAME, event:NAME (a counter), "
                  "calls:PD or packets:PD",
                  .value = "WHAT", .store.take = take_per),
    {.letter = 0},
};

static enum mkperf_status read_side(struct report_comparison *d, const char *path, unsigned side,
                                    struct mkperf_error *e)
{
    const char *at = path;

    d->run[side] = mkperf_xcalloc(REPORT_RUNS, sizeof *d->run[side]);
    do {
        size_t n = strcspn(at, ",");
        MKPERF_FAIL_IF(d->runs[side] == REPORT_RUNS, e, MKPERF_ERR_USAGE,
                       "more than %d recordings at %s", REPORT_RUNS, at);
        struct report_run *r = &d->run[side][d->runs[side]++];
        r->path = mkperf_xprintf("%.*s", (int)n, at);
        r->profile.leaves_only = true;
        r->profile.events_suffice = d->latency;
        r->profile.places.search = d->elfs;
        r->profile.cores = report_columns_have(&d->keys, REPORT_SORT_CORE);
        if (mkperf_frames_read(&r->frames, &r->profile, r->path,
                               report_columns_have(&d->keys, REPORT_SORT_LINE), NULL,
                               e) != MKPERF_OK) {
            return e->status;
        }
        unsigned kind = d->per != NULL ? kind_of(d->per) : 0;
        const char *name = d->per != NULL ? d->per + strlen(units[kind].kind) : NULL;
        r->units = name != NULL ? units[kind].count(r, name, e) : 0;
        if (name != NULL && (e->status != MKPERF_OK || r->units == 0)) {
            return e->status != MKPERF_OK ? e->status
                                          : mkperf_error_set(e, MKPERF_ERR_INPUT, "%s has %s '%s'",
                                                             r->path, units[kind].missing, name);
        }
        MKPERF_FAIL_IF(d->latency && (r->profile.sched == NULL || r->profile.sched->events == 0), e,
                       MKPERF_ERR_INPUT,
                       "%s has no scheduling events, by which latencies are known "
                       "(mkperf record --sched)",
                       r->path);
        at += n;
    } while (*at++ == ',');
    return MKPERF_OK;
}

enum mkperf_status report_comparison_read(struct report_comparison *d,
                                          char *const path[REPORT_SIDES], struct mkperf_error *e)
{
    MKPERF_TRY(read_side(d, path[REPORT_A], REPORT_A, e));
    MKPERF_TRY(read_side(d, path[REPORT_B], REPORT_B, e));
    const struct report_run *a = d->run[REPORT_A], *b = d->run[REPORT_B];
    /* A PD that only one side has is valid. */
    if (report_check_names(&a->profile, a->path, d->pd, NULL, e) != MKPERF_OK &&
        report_check_names(&b->profile, b->path, d->pd, NULL, e) != MKPERF_OK) {
        return e->status;
    }
    e->status = MKPERF_OK;
    /* Counts are compared if all recordings have them. If they are asked for, samples are an error. */
    bool wanted = d->exact;

    d->exact = !report_has_costs(d);
    for (unsigned side = REPORT_A; side < REPORT_SIDES; side++) {
        for (unsigned i = 0; i < d->runs[side]; i++) {
            d->exact &= d->run[side][i].profile.places.session.exact;
            MKPERF_FAIL_IF(wanted && !d->exact, e, MKPERF_ERR_INPUT,
                           "%s has samples, which are estimates: mkperf exact "
                           "records counts",
                           d->run[side][i].path);
        }
    }
    return MKPERF_OK;
}

static void free_rows(struct report_comparison *d)
{
    for (size_t i = 0; i < d->n; i++) {
        for (unsigned k = 0; k < REPORT_SORT_KEYS; k++) {
            free(d->row[i].text[k]);
        }
    }
    d->n = 0;
    mkperf_hash_free(&d->texts);
    mkperf_hash_free(&d->numbers);
    d->texts = d->numbers = (struct mkperf_hash){.count = 0};
}

void report_comparison_free(struct report_comparison *d)
{
    for (unsigned side = REPORT_A; side < REPORT_SIDES; side++) {
        for (unsigned i = 0; i < d->runs[side]; i++) {
            mkperf_frames_close(&d->run[side][i].frames);
            mkperf_profile_free(&d->run[side][i].profile);
            free(d->run[side][i].path);
        }
        free(d->run[side]);
    }
    free_rows(d);
    free(d->row);
}

/* ---- rows ---- */

/* Returns a symbol's text without the mode before it. Kernel and user functions of one name are neighbours, and the member `kernel`
 * distinguishes them. */
static const char *without_mode(const char *text)
{
    bool has_mode = text[0] == '[' && text[1] != '\0' && text[2] == ']' && text[3] == ' ';

    return has_mode ? text + 4 : text;
}

static int compare_names(const void *pa, const void *pb)
{
    const struct report_change *a = pa, *b = pb;
    int order = 0;

    for (unsigned k = 0; k < REPORT_SORT_KEYS && order == 0 && a->text[k] != NULL; k++) {
        order = strcmp(without_mode(a->text[k]), without_mode(b->text[k]));
    }
    return order ? order : a->kernel - b->kernel;
}

/* Returns the row of n texts, one for each key; a new one if there is none. So each function has one row for all recordings. */
static struct report_change *change_of(struct report_comparison *d, const char *const *text,
                                       unsigned n, bool kernel)
{
    uint64_t key[REPORT_SORT_KEYS + 1] = {kernel};

    for (unsigned k = 0; k < n; k++) {
        key[k + 1] = mkperf_hash_text_number(&d->texts, without_mode(text[k]));
    }
    uint32_t number = mkperf_hash_number(&d->numbers, key, n + 1);
    MKPERF_GROW(d->row, d->room, (size_t)number + 1);
    struct report_change *row = &d->row[number];
    if (number == d->n) {
        d->n++;
        *row = (struct report_change){.kernel = kernel};
        for (unsigned k = 0; k < n; k++) {
            row->text[k] = mkperf_xstrdup(text[k]);
        }
    }
    return row;
}

/* Adds the rows of a recording to those of all, and adds the recording's sums to those of its side. */
static void add_run(struct report_comparison *d, unsigned side, unsigned run, const char *event)
{
    struct report_options o = {.keys = d->keys, .pd = d->pd};
    struct report_run *from = &d->run[side][run];
    const struct mkperf_profile *p = &from->profile;
    uint32_t number = (uint32_t)find_event(&p->places.session, event);
    double all = (double)p->total[number].period;
    double unit = d->exact ? 1 : d->per != NULL ? from->units : all;
    struct report_rows rows;
    char room[REPORT_SORT_KEYS][REPORT_ROW_TEXT];
    const char *text[REPORT_SORT_KEYS];

    report_rows_build(&rows, &from->frames, &o, number);
    for (uint32_t i = 0; i < rows.n; i++) {
        const struct report_row_key *key = &rows.row[i].key;

        for (unsigned k = 0; k < d->keys.n; k++) {
            text[k] = report_row_text(&rows, &rows.row[i], k, room[k]);
        }
        struct report_change *to = change_of(d, text, d->keys.n, key->mode == 'k');
        to->idle = p->places.pd[key->pd].thread == MKPERF_THREAD_IDLE;
        to->run[side][run] += unit > 0 ? (double)rows.row[i].self.period / unit : 0;
    }
    report_rows_free(&rows);
    d->whole[side] += (unit > 0 ? all / unit : 0) / d->runs[side];
    d->units[side] += d->per != NULL ? from->units : INFINITY;
    d->samples[side] += mkperf_profile_equal_samples(p, number);
    d->counted[side] += p->total[number].samples;
}

/* Adds the mean latency of each pair of PDs and of each interrupt of a recording to its row. */
static void add_latencies(struct report_comparison *d, unsigned side, unsigned run)
{
    struct mkperf_latency_rows rows;

    mkperf_latency_rows_of(d->run[side][run].profile.sched, &rows);
    for (unsigned i = 0; i < rows.n; i++) {
        const struct mkperf_latency_row *row = &rows.row[i];
        char *pair = report_pair(row, ", ");
        struct report_change *to =
            change_of(d, (const char *[]){mkperf_latency_kind_names[row->kind], pair}, 2, false);
        const struct mkperf_log_histogram *h = row->of;
        double n = (double)h->count, mean = (double)h->total / n, squares = 0;

        for (unsigned k = 0; h->count != 0 && k < h->room; k++) {
            /* The variance is that of values that are evenly distributed in their bucket. */
            double from = (double)mkperf_log_bucket_from(k);
            double width = (double)mkperf_log_bucket_from(k + 1) - from;
            squares += (double)h->in[k] * (pow(from + width / 2 - mean, 2) + width * width / 12);
        }
        if (h->count != 0) {
            to->run[side][run] += mean / 1e3;
            to->of[side].n += h->count;
            to->of[side].variance += squares / n / 1e6 / n / pow(d->runs[side], 2);
            to->of[side].runs++;
        }
        free(pair);
    }
    mkperf_latency_rows_free(&rows);
}

/* ---- the judgement of a row ---- */

/* Returns the standard error of the change of a row, by the samples of both sides, if these are its values. NAN: a side
 * has none. */
static double sampling_error(const struct report_comparison *d, const struct report_change *r,
                             const double value[REPORT_SIDES])
{
    double variance = 0;

    if (d->latency) {
        return sqrt(r->of[REPORT_A].variance + r->of[REPORT_B].variance);
    }
    for (unsigned side = REPORT_A; side < REPORT_SIDES; side++) {
        double part = fmin(1, value[side] / d->whole[side]);

        variance += pow(d->whole[side], 2) * part * (1 - part) / d->samples[side] +
                    pow(value[side] / d->units[side], 2);
    }
    return sqrt(variance);
}

/* Stores the value of both sides, if they are equal. False: with the normal approximation nothing can be claimed of it, as
 * that needs EXPECTED_MIN samples on each side. */
static bool pool(const struct report_comparison *d, const struct report_change *r,
                 double pooled[REPORT_SIDES])
{
    double hits = 0, samples = 0;

    for (unsigned side = REPORT_A; d->latency && side < REPORT_SIDES; side++) {
        if (r->of[side].n < LATENCIES_MIN || r->of[side].runs != d->runs[side]) {
            return false;
        }
    }
    if (d->latency) {
        return true;
    }
    for (unsigned side = REPORT_A; side < REPORT_SIDES; side++) {
        double per_value = d->samples[side] / d->whole[side];

        hits += r->value[side] * per_value;
        samples += per_value;
    }
    pooled[REPORT_A] = pooled[REPORT_B] = hits / samples;
    for (unsigned side = REPORT_A; side < REPORT_SIDES; side++) {
        if (!(pooled[side] / d->whole[side] * d->samples[side] >= EXPECTED_MIN)) {
            return false;
        }
    }
    return true;
}

/*
 * Returns the probability that Student's t with n degrees of freedom is further from 0 than t. n: at least 1.
 * Abramowitz and Stegun, Handbook of Mathematical Functions, 26.7.3 and 26.7.4.
 */
static double student(double t, unsigned n)
{
    double angle = atan(fabs(t) / sqrt(n)), cosine = cos(angle), term = 1, sum = 0;

    for (unsigned k = n % 2 == 0 ? 2 : 3; k <= n; k += 2) {
        sum += term;
        term *= cosine * cosine * (k - 1) / k;
    }
    sum *= n % 2 == 0 ? 1 : cosine;
    return fmax(0, 1 - (n % 2 == 0 ? sin(angle) * sum : (angle + sin(angle) * sum) * M_2_PI));
}

/* Returns the deviation that chance exceeds with this probability, in standard errors: Student's t, or if n is 0 the
 * normal one. */
static double deviation_of(double probability, unsigned n)
{
    double low = 0, high = 1e6;

    for (unsigned i = 0; i < 80; i++) {
        double middle = (low + high) / 2;

        if ((n != 0 ? student(middle, n) : erfc(middle / M_SQRT2)) > probability) {
            low = middle;
        } else {
            high = middle;
        }
    }
    return low;
}

static int compare_changes(const void *pa, const void *pb, void *by_growth)
{
    const struct report_change *a = pa, *b = pb;
    double x = *(bool *)by_growth ? a->delta : fabs(a->delta);
    double y = *(bool *)by_growth ? b->delta : fabs(b->delta);

    return x != y ? (x > y ? -1 : 1) : compare_names(a, b);
}

/* Computes the values, the difference and its significance for each row. */
static void judge(struct report_comparison *d)
{
    unsigned runs = d->runs[REPORT_A] + d->runs[REPORT_B] - REPORT_SIDES;
    double pooled[REPORT_SIDES] = {0};

    d->family = d->changed = 0;
    for (size_t i = 0; i < d->n; i++) {
        struct report_change *r = &d->row[i];
        double squares = 0;

        for (unsigned side = REPORT_A; side < REPORT_SIDES; side++) {
            for (unsigned run = 0; run < d->runs[side]; run++) {
                r->value[side] += r->run[side][run] / d->runs[side];
            }
            if (d->exact) { /* the others are equal, and a mean is rounded */
                r->value[side] = r->run[side][0];
            }
            for (unsigned run = 0; run < d->runs[side]; run++) {
                squares += pow(r->run[side][run] - r->value[side], 2);
            }
        }
        if (runs > 0) { /* one recording of each side has no differences */
            r->between = sqrt(squares / runs * (1.0 / d->runs[REPORT_A] + 1.0 / d->runs[REPORT_B]));
        }
        r->delta = r->value[REPORT_B] - r->value[REPORT_A];
        r->growth = r->value[REPORT_A] > 0 ? 100 * r->delta / r->value[REPORT_A]
                    : r->delta > 0         ? INFINITY
                                           : 0;
        d->family += pool(d, r, pooled);
        d->changed += r->delta != 0;
    }
    d->family = d->family == 0 || (d->n == 2 && !report_has_costs(d)) ? 1 : d->family;
    double allowed = 1 - d->confidence / 100;
    double by_samples = deviation_of(allowed / (double)d->family, 0) + POWER_DEVIATION;
    double by_runs = deviation_of(allowed / (double)d->family, runs) + POWER_DEVIATION;
    double wide_samples = deviation_of(1 - INTERVAL, 0),
           wide_runs = deviation_of(1 - INTERVAL, runs);
    for (size_t i = 0; i < d->n; i++) {
        struct report_change *r = &d->row[i];
        double a = r->value[REPORT_A];
        /* The probability of the deviation by the differences between recordings of one side. */
        double between = r->between > 0 ? student(r->delta / r->between, runs) : 0;
        /* The probability of the deviation if the values are equal; 1, which claims nothing, of too few samples. */
        double error = pool(d, r, pooled) ? sampling_error(d, r, pooled) : 0;
        double chance = error > 0 ? erfc(fabs(r->delta) / error / M_SQRT2) : 1;
        /* What would have been seen is a change of a row that is equal in both. */
        double equal = sampling_error(d, r, (const double[]){a, a});
        double least = d->latency ? (pool(d, r, pooled) ? INFINITY : 0)
                                  : fmin(d->samples[REPORT_A] / d->whole[REPORT_A],
                                         d->samples[REPORT_B] / d->whole[REPORT_B]);

        r->chance = d->exact ? r->delta == 0 : fmin(1, fmax(chance, between) * (double)d->family);
        r->interval = fmax(wide_runs * r->between, wide_samples * sampling_error(d, r, r->value));
        r->visible = a * least >= EXPECTED_MIN && equal >= 0
                         ? 100 * fmax(by_runs * r->between, by_samples * equal) / a
                         : 0;
        r->sure = r->chance <= allowed;
    }
}

bool report_compare_event(struct report_comparison *d, const char *a, const char *b)
{
    free_rows(d);
    d->event = a;
    for (unsigned side = REPORT_A; side < REPORT_SIDES; side++) {
        d->whole[side] = d->units[side] = d->samples[side] = 0;
        d->counted[side] = 0;
        for (unsigned i = 0; i < d->runs[side]; i++) {
            if (d->latency) {
                add_latencies(d, side, i);
            } else {
                add_run(d, side, i, side == REPORT_A ? a : b);
            }
        }
    }
    const size_t runs = (size_t)REPORT_SIDES * REPORT_RUNS;
    for (size_t i = 0; d->exact && i < d->n * runs; i++) { /* counts of one side are equal */
        const struct report_change *r = &d->row[i / runs];
        unsigned side = i / REPORT_RUNS % REPORT_SIDES, run = i % REPORT_RUNS;

        if (run < d->runs[side] && r->run[side][run] != r->run[side][0]) {
            fprintf(stderr, "mkperf diff: %s has %.0f, %s has %.0f:", d->run[side][0].path,
                    r->run[side][0], d->run[side][run].path, r->run[side][run]);
            for (unsigned k = 0; k < d->keys.n; k++) {
                fprintf(stderr, " %s", r->text[k]);
            }
            fputc('\n', stderr);
            return false;
        }
    }
    judge(d);
    if (d->n > 1) { /* without a row, d->row is NULL */
        qsort_r(d->row, d->n, sizeof *d->row, compare_changes, &d->by_growth);
    }
    d->largest = 0;
    for (size_t i = 0; i < d->n; i++) { /* idle is the largest row only if there is no other one */
        const struct report_change *r = &d->row[i], *than = &d->row[d->largest];

        if (r->idle != than->idle ? than->idle : r->value[REPORT_A] > than->value[REPORT_A]) {
            d->largest = i;
        }
    }
    return true;
}
