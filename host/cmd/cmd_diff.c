/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * mkperf diff: shows which shares changed between two recordings, and whether chance explains the change.
 *
 * Owns: the command's options, the comparison, its table, and the verdict of --fail-above. A row is a function of a PD. Its
 * shares are those of mkperf report, and of several recordings of a side their mean. The significance is computed as follows.
 *   1. It is that of two proportions.
 *   2. Samples of unequal weight count as (sum of weights)^2 / (sum of squared weights) samples of equal weight.
 *   3. If a side has several recordings, their differences give a second probability, by Student's t with one variance for
 *      both sides. The greater probability counts. Runs that differ by more than sampling explains make a change less certain.
 *   4. A table has many rows, so the probability of a deviation is multiplied by their number (Bonferroni). Rows with too few
 *      samples for a claim do not count, and two rows that are all of the time are one.
 *   5. Samples are assumed to be independent. A program that changes slowly has fewer independent samples.
 *
 * A row has grown by 100 * (B - A) / A per cent. A row that A does not have has grown without limit.
 */
#include <math.h>

#include "base/colour.h"
#include "base/outfile.h"
#include "cmd.h"
#include "report/report.h"

static const double POWER_DEVIATION =
    1.6449; /* a normal deviation is below it in 95 of 100 cases */
enum { EXPECTED_MIN = 5, OPT_FAIL_ABOVE = 256, RUNS = 32 };
enum side { SIDE_A, SIDE_B, SIDES };

static const char timer_event[] = "timer"; /* the event without kernel time, see docs/stock.md */

struct command {
    const char *path[SIDES];
    const char *junit;
    struct report_names names;
    struct mkperf_elf_search elfs;
    double confidence, limit;
    double fail_above; /* growth of a row in per cent; negative: no growth is a failure */
    bool json, markdown, exact;
    struct report_values values; /* with --json */
    bool differs;                /* the environment does */
    size_t nchanged;             /* rows of which exact counts differ */
    bool unequal;                /* exact counts of one side differ */
    unsigned failed;             /* rows that grew by more than that, significantly */
    enum { BY_GROWTH, BY_CHANGE } order;
    enum mkperf_colour colour;
    struct report_column_list keys;
};

static const struct mkperf_option options[] = {
    MKPERF_OPTION(
        'c', "compute",
        "order of rows: delta-abs (largest change first, the default), or delta (what grew "
        "first)",
        MKPERF_TAKES(WORD, "HOW"), .words = "delta delta-abs",
        MKPERF_ENUM(struct command, order, BY_GROWTH, BY_CHANGE)),
    MKPERF_OPTION(
        's', "sort",
        "what rows are, as for report: functions of PDs (pd,sym, the default), PDs (pd), ...",
        MKPERF_TAKES(WORDS, "KEYS"), .list = report_columns_put_keys),
    MKPERF_OPTION(
        0, "confidence",
        "per cent (95): in 100 - N of 100 comparisons of equal systems, some row is called "
        "significant",
        .value = "N", MKPERF_PER_CENT(struct command, confidence)),
    MKPERF_OPTION(0, "percent-limit", "leave out rows below N per cent in both (0)", .value = "N",
                  MKPERF_PER_CENT(struct command, limit)),
    MKPERF_OPTION(OPT_FAIL_ABOVE, "fail-above",
                  "exit with status 1 if a row grew by more than N per cent of what it was, and "
                  "chance does not explain it: for continuous integration",
                  .value = "N"),
    MKPERF_OPTION(0, "exact",
                  "compare counts of instructions, which mkperf exact records: each difference is "
                  "one (the default if both sides have them)",
                  MKPERF_SETS(struct command, exact)),
    MKPERF_OPTION(0, "json", "rows as JSON Lines", MKPERF_SETS(struct command, json)),
    MKPERF_OPTION(0, "markdown", "the rows that differ significantly as a table in Markdown",
                  MKPERF_SETS(struct command, markdown)),
    MKPERF_OPTION(0, "junit",
                  "also write the rows into FILE, each as a test case that --fail-above judges",
                  MKPERF_TAKES(FILE, "FILE"), MKPERF_TEXT(struct command, junit)),
    {.id = 0},
};

struct entry {
    char *text[REPORT_SORT_KEYS]; /* a text for each key; entries with equal texts are compared */
    bool kernel;
    bool idle;               /* more idle time is not a failure */
    double share[SIDES];     /* from 0 to 1, or a count (exact); of several recordings their mean */
    double run[SIDES][RUNS]; /* of each recording */
    double between; /* standard error of delta by the recordings' differences; 0: not known */
    double delta;
    /* The probability of such a deviation in any row if the systems are equal; 1: nothing is claimed. */
    double chance;
    bool shown; /* it is not below --percent-limit on both sides */
    bool sure;  /* chance does not explain the change, with the probability of --confidence */
};

struct run {
    char *path;
    struct mkperf_profile profile;
    struct mkperf_frames frames;
};

struct comparison {
    struct run *run[SIDES]; /* the recordings of each side */
    unsigned runs[SIDES];
    struct entry *entry;
    size_t n, room;
    size_t family;               /* the number of rows in which chance can claim a change */
    double whole[SIDES];         /* with exact counts: the sum of a recording's; else 1 */
    double samples[SIDES];       /* the number of samples of equal weight, for the current event */
    struct mkperf_textout cases; /* with --junit: the test cases, as text in case_text */
    char *case_text;
    size_t case_bytes;
    unsigned ncases;
};

/* Sets the keys of -s, or the growth of --fail-above, behind which a sign of per cent may follow. */
static enum mkperf_status set_option(void *self, const struct mkperf_given *g)
{
    struct command *c = self;
    char *end;

    if (g->id == OPT_FAIL_ABOVE) {
        c->fail_above = strtod(g->value, &end);
        end += *end == '%';
        return end != g->value && *end == '\0' && c->fail_above >= 0 && c->fail_above <= 1e6
                   ? MKPERF_OK
                   : mkperf_given_bad(g, "a number of per cent, at least 0, as in 5 or 5%");
    }
    if (report_columns_sort(&c->keys, g) != MKPERF_OK) {
        return g->e->status;
    }
    return report_columns_have(&c->keys, REPORT_SORT_TIME) ||
                   report_columns_have(&c->keys, REPORT_SORT_UTIL)
               ? mkperf_given_bad(g, "keys that two recordings share, not time and util")
               : MKPERF_OK;
}

static const struct mkperf_option_group group = {options, set_option};

static void free_texts(struct comparison *d)
{
    for (size_t i = 0; i < d->n; i++) {
        for (unsigned k = 0; k < REPORT_SORT_KEYS; k++) {
            free(d->entry[i].text[k]);
        }
    }
    d->n = 0;
}

static void add_entry(struct comparison *d, const struct mkperf_frames *f,
                      const struct report_column_list *keys, const struct report_row *r,
                      enum side side, unsigned run, double share)
{
    struct entry *to = &d->entry[d->n++];
    char text[600];

    *to = (struct entry){.kernel = r->key.mode == 'k',
                         .idle = f->profile->places.pd[r->key.pd].thread == MKPERF_THREAD_IDLE};
    to->run[side][run] = share;
    for (unsigned k = 0; k < keys->n; k++) {
        report_column_text(keys->column[k], f, &r->key, text, sizeof text);
        to->text[k] = mkperf_xstrdup(text);
    }
}

/* The number of the event in a session, or -1. */
static int find_event(const struct mkperf_session *s, const char *name)
{
    for (unsigned i = 0; i < s->nevents; i++) {
        if (strcmp(s->event[i].name, name) == 0) {
            return (int)i;
        }
    }
    return -1;
}

/* Appends an entry for each row of a recording. event: its name. */
static void add_run(struct comparison *d, enum side side, unsigned run, const char *event,
                    const struct command *c)
{
    struct report_options o = {.keys = c->keys, .pd = c->names.pd};
    struct mkperf_frames *f = &d->run[side][run].frames;
    const struct mkperf_profile *p = f->profile;
    int number = find_event(&p->places.session, event);
    struct report_rows rows;

    if (number < 0) {
        return;
    }
    report_rows_build(&rows, f, &o, (uint32_t)number);
    MKPERF_GROW(d->entry, d->room, d->n + rows.n + 1);
    for (uint32_t i = 0; i < rows.n; i++) {
        add_entry(d, f, &c->keys, &rows.row[i], side, run,
                  (double)rows.row[i].self.period /
                      (c->exact ? 1 : (double)p->total[number].period));
    }
    report_rows_free(&rows);
    d->samples[side] += mkperf_profile_equal_samples(p, (uint32_t)number);
}

/* A symbol's text without the mode before it, so that kernel and user functions of one name are neighbours. */
static const char *without_mode(const char *text)
{
    bool has_mode = text[0] == '[' && text[1] != '\0' && text[2] == ']' && text[3] == ' ';

    return has_mode ? text + 4 : text;
}

static int compare_names(const void *pa, const void *pb)
{
    const struct entry *a = pa, *b = pb;
    int order = 0;

    for (unsigned k = 0; k < REPORT_SORT_KEYS && order == 0 && a->text[k] != NULL; k++) {
        order = strcmp(without_mode(a->text[k]), without_mode(b->text[k]));
    }
    return order ? order : a->kernel - b->kernel;
}

/* Merges the entries of all recordings, so that each function has one entry with the mean of each side. */
static void merge_runs(struct comparison *d)
{
    size_t n = 0;

    qsort(d->entry, d->n, sizeof *d->entry, compare_names);
    for (size_t i = 0; i < d->n; i++) {
        if (n > 0 && compare_names(&d->entry[n - 1], &d->entry[i]) == 0) {
            for (unsigned k = 0; k < SIDES * RUNS; k++) {
                d->entry[n - 1].run[k / RUNS][k % RUNS] += d->entry[i].run[k / RUNS][k % RUNS];
            }
            for (unsigned k = 0; k < REPORT_SORT_KEYS; k++) {
                free(d->entry[i].text[k]);
            }
        } else {
            d->entry[n++] = d->entry[i];
        }
    }
    d->n = n;
    for (size_t i = 0; i < n; i++) {
        for (unsigned side = SIDE_A; side < SIDES; side++) {
            for (unsigned run = 0; run < d->runs[side]; run++) {
                d->entry[i].share[side] += d->entry[i].run[side][run] / (double)d->runs[side];
            }
        }
    }
}

/* Whether a row has enough samples for a claim: the normal approximation needs EXPECTED_MIN on each side. */
static bool can_claim(const double share[SIDES], const double samples[SIDES])
{
    double a = samples[SIDE_A], b = samples[SIDE_B];

    return a > 0 && b > 0 &&
           (share[SIDE_A] * a + share[SIDE_B] * b) / (a + b) * fmin(a, b) >= EXPECTED_MIN;
}

/* The probability of the deviation in one row if the shares are equal; 1, which claims nothing, if it has too few samples. */
static double chance_of(const double share[SIDES], const double samples[SIDES])
{
    double a = samples[SIDE_A], b = samples[SIDE_B];
    double pooled = (share[SIDE_A] * a + share[SIDE_B] * b) / (a + b);
    double error = sqrt(pooled * (1 - pooled) * (1 / a + 1 / b));

    if (!can_claim(share, samples) || !(error > 0)) {
        return 1;
    }
    return erfc(fabs(share[SIDE_B] - share[SIDE_A]) / error / M_SQRT2);
}

/*
 * The probability that Student's t with n degrees of freedom is further from 0 than t. n: at least 1. Abramowitz and Stegun,
 * Handbook of Mathematical Functions, 26.7.3 and 26.7.4.
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

/* The probability of the deviation by the differences between recordings of one side. Sets r->between. 1: nothing is claimed. */
static double chance_between(const struct comparison *d, struct entry *r)
{
    unsigned n = d->runs[SIDE_A] + d->runs[SIDE_B] - 2;
    double squares = 0;

    for (unsigned side = SIDE_A; side < SIDES; side++) {
        for (unsigned i = 0; i < d->runs[side]; i++) {
            squares += pow(r->run[side][i] - r->share[side], 2);
        }
    }
    if (n == 0) {
        return 0; /* there is one recording of each side, which has no differences */
    }
    r->between = sqrt(squares / n * (1.0 / d->runs[SIDE_A] + 1.0 / d->runs[SIDE_B]));
    return r->between > 0 ? student(r->delta / r->between, n) : 0;
}

/*
 * The growth of a row, in per cent of its share in A, that would have been significant in 95 of 100 comparisons with as many
 * samples. 0: the samples are too few for any claim.
 */
static double visible_growth(const struct comparison *d, const struct entry *r, double confidence)
{
    double a = d->samples[SIDE_A], b = d->samples[SIDE_B], p = r->share[SIDE_A];
    double allowed = (1 - confidence / 100) / (double)d->family, low = 0, high = 40;

    if (a <= 0 || b <= 0 || p * fmin(a, b) < EXPECTED_MIN) {
        return 0;
    }
    for (unsigned i = 0; i < 60; i++) { /* finds the deviation that chance exceeds so often */
        double middle = (low + high) / 2;

        if (erfc(middle / M_SQRT2) > allowed) {
            low = middle;
        } else {
            high = middle;
        }
    }
    return 100 * (low + POWER_DEVIATION) * fmax(r->between, sqrt(p * (1 - p) * (1 / a + 1 / b))) /
           p;
}

static double growth_of(const struct entry *r)
{
    return r->share[SIDE_A] > 0 ? 100 * r->delta / r->share[SIDE_A] : r->delta > 0 ? INFINITY : 0;
}

static int compare_entries(const void *pa, const void *pb, void *by_growth)
{
    const struct entry *a = pa, *b = pb;
    double x = *(bool *)by_growth ? a->delta : fabs(a->delta);
    double y = *(bool *)by_growth ? b->delta : fabs(b->delta);

    return x != y ? (x > y ? -1 : 1) : compare_names(a, b);
}

/* Computes the difference and its significance for each entry, and sorts the entries. */
static void judge_entries(struct comparison *d, struct command *c)
{
    bool by_growth = c->order == BY_GROWTH;

    d->family = 0;
    for (size_t i = 0; i < d->n; i++) {
        d->family += can_claim(d->entry[i].share, d->samples);
    }
    d->family = d->family == 0 || d->n == 2 ? 1 : d->family;
    for (size_t i = 0; i < d->n; i++) {
        struct entry *at = &d->entry[i];

        for (unsigned side = SIDE_A; c->exact && side < SIDES; side++) {
            at->share[side] = at->run[side][0]; /* the others are equal, and a mean is rounded */
        }
        at->delta = at->share[SIDE_B] - at->share[SIDE_A];
        at->chance = c->exact
                         ? at->delta == 0
                         : fmin(1, fmax(chance_of(at->share, d->samples), chance_between(d, at)) *
                                       (double)d->family);
        at->shown = !(
            100 * fmax(at->share[SIDE_A] / d->whole[SIDE_A], at->share[SIDE_B] / d->whole[SIDE_B]) <
            c->limit);
        at->sure = at->chance <= 1 - c->confidence / 100;
        c->nchanged += at->delta != 0;
    }
    qsort_r(d->entry, d->n, sizeof *d->entry, compare_entries, &by_growth);
}

enum { VALUE_TEXT = 32 };

/* The text of a share in per cent, or of a count. */
static const char *value_text(const struct command *c, double value, char text[VALUE_TEXT])
{
    snprintf(text, VALUE_TEXT, c->exact ? "%.0f" : "%.2f %%", c->exact ? value : 100 * value);
    return text;
}

/* Prints a row's values: of both sides, their difference, and the chance of it. With colour, growth is red. */
static void print_numbers(const struct command *c, const struct entry *r, bool colour)
{
    for (unsigned side = SIDE_A; side < SIDES; side++) {
        double share = 100 * r->share[side];

        if (c->exact) {
            printf("%14.0f ", r->share[side]);
        } else {
            printf("%s%8.2f%%%s ", mkperf_colour_begin(colour, share), share,
                   mkperf_colour_end(colour, share));
        }
    }
    printf("%s", !colour || !r->sure ? "" : r->delta > 0 ? "\033[31m" : "\033[32m");
    printf(c->exact ? "%+14.0f" : "%+9.2f%%", c->exact ? r->delta : 100 * r->delta);
    printf("%s", colour && r->sure ? "\033[0m" : "");
    if (c->exact) {
        printf("  ");
    } else {
        printf(" %8.2g  %c ", r->chance, r->sure ? ' ' : '~');
    }
}

/* Prints the texts of a line, or the titles if `text` is NULL. All columns except the last are padded. */
static void print_columns(char *const *text, const struct report_column_list *keys,
                          const int width[REPORT_SORT_KEYS])
{
    for (unsigned k = 0; k < keys->n; k++) {
        bool last = k + 1 == keys->n;
        printf("%-*s%s", last ? 0 : width[k], text ? text[k] : report_column_title(keys->column[k]),
               last ? "\n" : "  ");
    }
}

/* Half of the change's interval at 95 %, by the samples or by the differences of the recordings, whichever is greater. */
static double interval_of(const struct comparison *d, const struct entry *r)
{
    double variance = 0;

    for (unsigned side = SIDE_A; side < SIDES; side++) {
        if (!(d->samples[side] > 0)) {
            return NAN;
        }
        variance += r->share[side] * (1 - r->share[side]) / d->samples[side];
    }
    return 1.96 * fmax(r->between, sqrt(variance));
}

/* Prints rows "change", then one "changes" for the event. */
static void print_values(const struct comparison *d, struct command *c, const char *event)
{
    struct report_values *v = &c->values;
    uint64_t significant = 0;

    for (size_t i = 0; i < d->n; i++) {
        const struct entry *r = &d->entry[i];

        significant += r->sure;
        if (!r->shown) {
            continue;
        }
        report_value_row(v, c->exact ? "exact_change" : "change");
        report_value_text(v, "event", event);
        for (unsigned k = 0; k < c->keys.n; k++) {
            if (c->keys.column[k] == REPORT_SORT_EVENT) {
                continue; /* each row has its event */
            }
            report_value_text(v, report_column_name(c->keys.column[k]), r->text[k]);
        }
        if (c->exact) {
            report_value_number(v, "before", (uint64_t)r->share[SIDE_A]);
            report_value_number(v, "after", (uint64_t)r->share[SIDE_B]);
        } else {
            report_value_share(v, "before", 100 * r->share[SIDE_A]);
            report_value_share(v, "after", 100 * r->share[SIDE_B]);
            report_value_share(v, "interval", 100 * interval_of(d, r));
            report_value_real(v, "chance", r->chance);
            report_value_number(v, "significant", r->sure);
            report_value_share(v, "visible_growth", visible_growth(d, r, c->confidence));
        }
        report_value_end(v);
    }
    report_value_row(v, "changes");
    report_value_text(v, "event", event);
    report_value_number(v, "rows", d->n);
    report_value_number(v, "significant", significant);
    report_value_number(v, "failed", c->failed);
    report_value_end(v);
}

/* Prints text for a cell of a table in Markdown: a bar would end the cell. */
static void print_cell(const char *text)
{
    for (; *text != '\0'; text++) {
        printf(strchr("|`*_<>[]\\", *text) != NULL ? "\\%c" : "%c", *text);
    }
}

/* Prints the rows that differ significantly as a table in Markdown. */
static void print_markdown(const struct comparison *d, const struct command *c, const char *event)
{
    size_t n = 0;

    printf("### %s\n\n| before | after | change | chance |", event);
    for (unsigned k = 0; k < c->keys.n; k++) {
        printf(" %s |", report_column_title(c->keys.column[k]));
    }
    printf("\n|---:|---:|---:|---:|");
    for (unsigned k = 0; k < c->keys.n; k++) {
        printf("---|");
    }
    putchar('\n');
    for (size_t i = 0; i < d->n; i++) {
        const struct entry *r = &d->entry[i];

        if (!r->sure || !r->shown) {
            continue;
        }
        n++;
        char a[VALUE_TEXT], b[VALUE_TEXT], change[VALUE_TEXT];
        printf("| %s | %s | %s%s | %.2g |", value_text(c, r->share[SIDE_A], a),
               value_text(c, r->share[SIDE_B], b), r->delta > 0 ? "+" : "",
               value_text(c, r->delta, change), r->chance);
        for (unsigned k = 0; k < c->keys.n; k++) {
            putchar(' ');
            print_cell(r->text[k]);
            printf(" |");
        }
        putchar('\n');
    }
    printf("\n%zu of %zu rows differ significantly.\n\n", n, d->n);
}

static void print_rows(const struct comparison *d, const struct command *c)
{
    bool colour = mkperf_colour_wanted(c->colour, stdout);
    size_t left_out = 0, significant = 0;
    int width[REPORT_SORT_KEYS];

    for (unsigned k = 0; k < c->keys.n; k++) {
        width[k] = (int)strlen(report_column_title(c->keys.column[k]));
        for (size_t i = 0; i < d->n; i++) {
            int n = (int)strlen(d->entry[i].text[k]);
            width[k] = n > width[k] ? n : width[k];
        }
    }
    printf(c->exact ? "#            A              B          Delta  "
                    : "#       A         B      Delta   Chance    ");
    print_columns(NULL, &c->keys, width);
    printf("#\n");
    for (size_t i = 0; i < d->n; i++) {
        const struct entry *r = &d->entry[i];

        if (!r->shown) {
            left_out++;
            continue;
        }
        if (c->exact && r->delta == 0) {
            continue;
        }
        significant += r->sure;
        print_numbers(c, r, colour);
        print_columns(r->text, &c->keys, width);
    }
    if (left_out) {
        printf("# %zu rows below %g %% are omitted\n", left_out, c->limit);
    }
    if (c->exact) {
        printf("# %zu of %zu rows differ; equal rows are omitted\n\n", significant, d->n);
        return;
    }
    printf("# %zu of the rows above differ significantly; ~ marks rows that may be chance\n",
           significant);
    const struct entry *largest = NULL;
    for (size_t i = 0; i < d->n; i++) {
        largest = largest == NULL || d->entry[i].share[SIDE_A] > largest->share[SIDE_A]
                      ? &d->entry[i]
                      : largest;
    }
    double visible = largest != NULL ? visible_growth(d, largest, c->confidence) : 0;
    if (visible > 0) {
        printf(
            "# with these samples a growth of the largest row by %.2g %% of its share would have "
            "been seen\n",
            visible);
        if (c->fail_above > 0 && visible > c->fail_above) {
            printf("# to see a growth by %g %%, a side needs %.3g times as many samples\n",
                   c->fail_above, pow(visible / c->fail_above, 2));
        }
    }
    putchar('\n');
}

/* Writes a row as a test case. failed: --fail-above does not allow it. */
static void put_case(struct comparison *d, const struct command *c, const struct entry *r,
                     const char *event, bool failed)
{
    struct mkperf_textout *t = &d->cases;

    d->ncases++;
    mkperf_textout_puts(t, "    <testcase classname=\"");
    mkperf_textout_xml(t, event);
    mkperf_textout_puts(t, "\" name=\"");
    for (unsigned k = 0; k < c->keys.n; k++) {
        mkperf_textout_puts(t, k == 0 ? "" : " ");
        mkperf_textout_xml(t, r->text[k]);
    }
    mkperf_textout_puts(t, failed ? "\">\n      <failure message=\"" : "\"/>\n");
    if (failed) {
        char a[VALUE_TEXT], b[VALUE_TEXT];
        mkperf_textout_printf(t,
                              "from %s to %s, probability of chance %.2g\"/>\n"
                              "    </testcase>\n",
                              value_text(c, r->share[SIDE_A], a),
                              value_text(c, r->share[SIDE_B], b), r->chance);
    }
}

/* Writes the file of --junit: the test cases of all events. */
static enum mkperf_status write_junit(struct comparison *d, const struct command *c,
                                      struct mkperf_error *e)
{
    struct mkperf_textout t = {.over = NULL};

    if (mkperf_textout_open(&t, c->junit, e) != MKPERF_OK) {
        return e->status;
    }
    mkperf_textout_printf(&t,
                          "<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n<testsuites>\n"
                          "  <testsuite name=\"mkperf diff\" tests=\"%u\" failures=\"%u\">\n",
                          d->ncases, c->failed);
    mkperf_textout_puts(&t, d->case_text);
    mkperf_textout_puts(&t, "  </testsuite>\n</testsuites>\n");
    if (mkperf_textout_finish(&t, e) != MKPERF_OK) {
        mkperf_textout_discard(&t);
    }
    return e->status;
}

/* Names the rows that --fail-above does not allow. */
static void find_failures(struct comparison *d, struct command *c, const char *event)
{
    for (size_t i = 0; i < d->n; i++) {
        const struct entry *r = &d->entry[i];
        bool shown = 100 * r->share[SIDE_B] / d->whole[SIDE_B] >= c->limit;
        bool failed = c->fail_above >= 0 && shown && !r->idle && r->sure &&
                      growth_of(r) > c->fail_above;

        if (c->junit != NULL && shown) {
            put_case(d, c, r, event, failed);
        }
        if (!failed) {
            continue;
        }
        c->failed++;
        char before[VALUE_TEXT], after[VALUE_TEXT];
        fprintf(stderr, "mkperf diff: from %s to %s", value_text(c, r->share[SIDE_A], before),
                value_text(c, r->share[SIDE_B], after));
        if (r->share[SIDE_A] > 0) {
            fprintf(stderr, " (%.1f %% more)", growth_of(r));
        }
        for (unsigned k = 0; k < c->keys.n; k++) {
            fprintf(stderr, "%s %s", k == 0 ? ":" : "", r->text[k]);
        }
        fputc('\n', stderr);
    }
}

static const struct mkperf_session *session_of(const struct comparison *d, enum side side,
                                               unsigned run)
{
    return &d->run[side][run].profile.places.session;
}

/* Whether exact counts of one side are equal in all its recordings. Names the first row that differs. */
static bool is_repeatable(const struct comparison *d, const struct command *c)
{
    for (size_t i = 0; i < d->n; i++) {
        const struct entry *r = &d->entry[i];

        for (unsigned side = SIDE_A; side < SIDES; side++) {
            for (unsigned run = 1; run < d->runs[side]; run++) {
                if (r->run[side][run] != r->run[side][0]) {
                    fprintf(stderr, "mkperf diff: %s has %.0f, %s has %.0f:", d->run[side][0].path,
                            r->run[side][0], d->run[side][run].path, r->run[side][run]);
                    for (unsigned k = 0; k < c->keys.n; k++) {
                        fprintf(stderr, " %s", r->text[k]);
                    }
                    fputc('\n', stderr);
                    return false;
                }
            }
        }
    }
    return true;
}

/* Compares event a of side A with event b of side B. */
static void compare_event(struct comparison *d, struct command *c, const char *a, const char *b)
{
    uint64_t samples[SIDES] = {0};

    free_texts(d);
    for (unsigned side = SIDE_A; side < SIDES; side++) {
        const char *event = side == SIDE_A ? a : b;

        d->samples[side] = 0;
        d->whole[side] = c->exact ? (double)d->run[side][0]
                                        .profile
                                        .total[find_event(session_of(d, (enum side)side, 0), event)]
                                        .period
                                  : 1;
        for (unsigned i = 0; i < d->runs[side]; i++) {
            add_run(d, (enum side)side, i, event, c);
            samples[side] += d->run[side][i]
                                 .profile
                                 .total[find_event(session_of(d, (enum side)side, i), event)]
                                 .samples;
        }
    }
    merge_runs(d);
    if (c->exact && !is_repeatable(d, c)) {
        c->unequal = true;
        return;
    }
    judge_entries(d, c);
    find_failures(d, c, a);
    if (c->json) {
        print_values(d, c, a);
        return;
    }
    if (c->markdown) {
        print_markdown(d, c, a);
        return;
    }
    if (c->exact) {
        printf("#\n# Counts of executed instructions\n#\n");
        print_rows(d, c);
        return;
    }
    printf("#\n# Event '%s': %" PRIu64 " samples in A (worth %.0f equal ones), %" PRIu64
           " in B (%.0f)\n",
           a, samples[SIDE_A], d->samples[SIDE_A], samples[SIDE_B], d->samples[SIDE_B]);
    if (d->runs[SIDE_A] + d->runs[SIDE_B] > SIDES) {
        printf("# Shares are means of %u recordings in A and %u in B; their differences count\n",
               d->runs[SIDE_A], d->runs[SIDE_B]);
    }
    printf("# Chance: of such a change in any of %zu rows if nothing changed\n#\n", d->family);
    print_rows(d, c);
}

/*
 * Compares the samples of the timer with those of another event, if each recording has one event. Both show where time
 * is spent. Functions are not compared, because the timer attributes kernel time to the code that the kernel returned to.
 */
static void compare_timer(struct comparison *d, struct command *c)
{
    const char *a = session_of(d, SIDE_A, 0)->event[0].name;
    const char *b = session_of(d, SIDE_B, 0)->event[0].name;
    struct command by_pd = *c;

    by_pd.keys = (struct report_column_list){{REPORT_SORT_PD}, 1};
    fprintf(c->json || c->markdown ? stderr : stdout,
            "#\n# '%s' against '%s': shares by PD, each with its part of the kernel. The timer "
            "gives the\n# kernel's time to whom it returned to.\n",
            a, b);
    compare_event(d, &by_pd, a, b);
    c->failed = by_pd.failed;
}

/* Whether all recordings have the event. */
static bool is_common(const struct comparison *d, const char *event)
{
    for (unsigned side = SIDE_A; side < SIDES; side++) {
        for (unsigned i = 0; i < d->runs[side]; i++) {
            if (find_event(session_of(d, (enum side)side, i), event) < 0) {
                return false;
            }
        }
    }
    return true;
}

static void print_heads(const struct comparison *d, struct command *c)
{
    for (unsigned n = 0; n < d->runs[SIDE_A] + d->runs[SIDE_B]; n++) {
        unsigned side = n < d->runs[SIDE_A] ? SIDE_A : SIDE_B;
        struct run *r = &d->run[side][side == SIDE_A ? n : n - d->runs[SIDE_A]];

        if (c->json) {
            REPORT_ROW(&c->values, "side", REPORT_TEXT("side", side == SIDE_A ? "A" : "B"),
                       REPORT_TEXT("input", r->path),
                       REPORT_NUMBER("samples", r->profile.totals.samples),
                       REPORT_NUMBER("lost", mkperf_profile_lost(&r->profile)));
            report_warning_values(&r->frames, &c->values);
        } else if (!c->markdown) {
            printf("# %c:\n", "AB"[side]);
            report_head_print(&r->profile, r->path, false, stdout);
        }
        mkperf_frames_warn(&r->frames, c->json || c->markdown ? stderr : stdout);
    }
}

static void put_difference(void *self, const char *what, const char *a, const char *b)
{
    struct command *c = self;

    if (c->json) {
        REPORT_ROW(&c->values, "difference", REPORT_TEXT("what", what), REPORT_TEXT("before", a),
                   REPORT_TEXT("after", b));
    } else if (c->markdown) {
        printf("%s* ", c->differs ? "" : "The environments differ:\n\n");
        print_cell(what);
        fputs(": ", stdout);
        print_cell(a);
        fputs(", then ", stdout);
        print_cell(b);
        putchar('\n');
    } else {
        printf("%s %s: %s, then %s\n", c->differs ? "#            " : "# differs    ", what, a, b);
    }
    c->differs = true;
}

/* Decides whether counts are compared. FAILED: --exact is given, and they are not exact. */
static enum mkperf_status choose_exact(const struct comparison *d, struct command *c,
                                       struct mkperf_error *e)
{
    bool wanted = c->exact;

    c->exact = true;
    for (unsigned side = SIDE_A; side < SIDES; side++) {
        for (unsigned i = 0; i < d->runs[side]; i++) {
            if (!session_of(d, (enum side)side, i)->exact) {
                c->exact = false;
                if (wanted) {
                    return mkperf_error_set(e, MKPERF_ERR_INPUT,
                                            "%s has samples, which are estimates: mkperf exact "
                                            "records counts",
                                            d->run[side][i].path);
                }
            }
        }
    }
    return MKPERF_OK;
}

static enum mkperf_status compare_all(struct comparison *d, struct command *c,
                                      struct mkperf_error *e)
{
    const struct mkperf_session *a = session_of(d, SIDE_A, 0), *b = session_of(d, SIDE_B, 0);
    bool single = d->runs[SIDE_A] == 1 && d->runs[SIDE_B] == 1;
    unsigned compared = 0;

    if (c->json) {
        c->values = report_values_begin(stdout, NULL, "diff", NULL);
    }
    if (c->junit != NULL) {
        d->cases.over = mkperf_memstream_open(&d->case_text, &d->case_bytes);
    }
    report_differences(&d->run[SIDE_A][0].profile.places, &d->run[SIDE_B][0].profile.places,
                       put_difference, c);
    if (c->differs && c->markdown) {
        putchar('\n');
    }
    print_heads(d, c);
    for (unsigned i = 0; i < a->nevents; i++) {
        const char *event = a->event[i].name;

        if (is_common(d, event) && (!c->names.event || strcmp(c->names.event, event) == 0)) {
            compare_event(d, c, event, event);
            compared++;
        }
    }
    if (compared == 0 && !c->names.event && single && a->nevents == 1 && b->nevents == 1 &&
        (find_event(a, timer_event) == 0 || find_event(b, timer_event) == 0)) {
        compare_timer(d, c);
    } else if (compared == 0) {
        mkperf_error_set(e, c->names.event ? MKPERF_ERR_USAGE : MKPERF_ERR_INPUT,
                         "%s and %s have no event%s%s in common", c->path[SIDE_A], c->path[SIDE_B],
                         c->names.event ? " " : "", c->names.event ? c->names.event : "");
    }
    if (c->unequal) {
        mkperf_error_set(e, MKPERF_ERR_INPUT,
                         "recordings of one side count differently: the machine is not "
                         "deterministic (-icount is missing, or something arrives from outside)");
    } else if (c->exact && !c->differs && c->nchanged != 0) {
        fprintf(stderr, "mkperf diff: the programs are equal and the counts are not: the machine "
                        "is not deterministic, or its data differ\n");
    }
    if (c->junit != NULL) {
        mkperf_memstream_close(d->cases.over);
        if (e->status == MKPERF_OK) {
            write_junit(d, c, e);
        }
    }
    if (e->status == MKPERF_OK && mkperf_stdout_flush(e) == MKPERF_OK && c->failed != 0) {
        mkperf_error_set(e, MKPERF_ERR_FAILED, "%u row%s grew by more than %g %%", c->failed,
                         c->failed == 1 ? "" : "s", c->fail_above);
    }
    return e->status;
}

/* Reads the recordings of a side: FILE[,FILE]. */
static enum mkperf_status read_side(struct comparison *d, const struct command *c, enum side side,
                                    struct mkperf_error *e)
{
    bool with_line = report_columns_have(&c->keys, REPORT_SORT_LINE);
    const char *at = c->path[side];

    d->run[side] = mkperf_xcalloc(RUNS, sizeof *d->run[side]);
    do {
        size_t n = strcspn(at, ",");
        if (d->runs[side] == RUNS) {
            return mkperf_error_set(e, MKPERF_ERR_USAGE, "more than %d recordings at %s", RUNS, at);
        }
        struct run *r = &d->run[side][d->runs[side]++];
        r->path = mkperf_xprintf("%.*s", (int)n, at);
        r->profile.places.search = c->elfs;
        r->profile.cores = report_columns_have(&c->keys, REPORT_SORT_CORE);
        if (mkperf_frames_read(&r->frames, &r->profile, r->path, with_line, NULL, e) != MKPERF_OK) {
            return e->status;
        }
        at += n;
    } while (*at++ == ',');
    return MKPERF_OK;
}

/* Checks the name in --pd. A PD that only one side has is valid. */
static enum mkperf_status check_pd(const struct comparison *d, const struct command *c,
                                   struct mkperf_error *e)
{
    const struct run *a = d->run[SIDE_A], *b = d->run[SIDE_B];

    return report_check_names(&a->profile, a->path, c->names.pd, NULL, e) == MKPERF_OK
               ? MKPERF_OK
               : report_check_names(&b->profile, b->path, c->names.pd, NULL, e);
}

static enum mkperf_status run_diff(void *self, const struct mkperf_args *args,
                                   struct mkperf_error *e)
{
    struct command *c = self;
    struct comparison d = {.n = 0};

    c->path[SIDE_A] = args->operand[SIDE_A];
    c->path[SIDE_B] = args->operand[SIDE_B];
    if (read_side(&d, c, SIDE_A, e) == MKPERF_OK && read_side(&d, c, SIDE_B, e) == MKPERF_OK &&
        check_pd(&d, c, e) == MKPERF_OK && choose_exact(&d, c, e) == MKPERF_OK) {
        compare_all(&d, c, e);
    }
    for (unsigned side = SIDE_A; side < SIDES; side++) {
        for (unsigned i = 0; i < d.runs[side]; i++) {
            mkperf_frames_close(&d.run[side][i].frames);
            mkperf_profile_free(&d.run[side][i].profile);
            free(d.run[side][i].path);
        }
        free(d.run[side]);
    }
    free_texts(&d);
    free(d.entry);
    free(d.case_text);
    return e->status;
}

const struct mkperf_command mkperf_diff_command = {
    .name = "diff",
    .summary = "compare two profiles: which shares grew",
    .synopsis = "[options] A[,A] B[,B]",
    .description =
        "Each function's share in the recordings A (before) and B (after), and the difference. A "
        "side "
        "may be several recordings (record --repeat): then the shares are means, and what differs "
        "between recordings of one side counts against significance.\n\n"
        "Rows marked ~ may be chance. Percentages are of the event's period sum over all PDs.",
    .options = {{&group, 0},
                {&report_names_options, offsetof(struct command, names)},
                {&mkperf_colour_options, offsetof(struct command, colour)},
                {&report_elf_options, offsetof(struct command, elfs)}},
    .operand = MKPERF_VALUE_FILE,
    .operands_min = SIDES,
    .operands_max = SIDES,
    .statuses = MKPERF_STATUSES_READ | MKPERF_STATUSES_WRITE,
    .self = MKPERF_SELF(struct command, .confidence = 95, .order = BY_CHANGE, .fail_above = -1,
                        .keys = {{REPORT_SORT_PD, REPORT_SORT_SYMBOL}, 2}),
    .run = run_diff,
};
