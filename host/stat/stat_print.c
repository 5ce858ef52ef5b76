/* SPDX-License-Identifier: BSD-2-Clause */
/* The output of `mkperf stat`, in the layout of perf stat; see stat.h. */
#include "stat.h"

#include <math.h>

#include "pmu/events.h"

enum { CPU_CYCLES = 0x11 };

/* Returns the part of the time in which event i was counted in this row, or 0 if the value is no
 * count. */
static double stat_share(const struct stat_reading *r, const struct stat_row *row, unsigned i)
{
    return row->late ? 0 : r->share[i];
}

static double stat_seconds(const struct stat_reading *r, const struct stat_row *row)
{
    return row->seconds > 0 ? row->seconds : r->seconds;
}

/* Stores the first metric of event i of which the other event was counted, too, with the same modes: if possible in its group, whose
 * counts are of the same times. Returns its unit, or NULL if there is none. */
static const char *metric_of(const struct stat_reading *r, const struct stat_row *row,
                             const struct stat_style *style, unsigned i, double *figure)
{
    const mkperf_SessionEvent *like = &style->session->events[i];

    for (const struct mkperf_pmu_metric *m = mkperf_pmu_table(style->cpu)->metric; m->unit != NULL;
         m++) {
        double of = 0;
        for (unsigned k = r->events; m->event_code == like->code && k-- > 0;) {
            const mkperf_SessionEvent *v = &style->session->events[k];
            if (v->code == m->of_code && !v->user_counter == !like->user_counter &&
                !v->kernel_counter == !like->kernel_counter && v->only == like->only) {
                of = stat_sum(&row->value[k]);
                if (v->group != 0 && v->group == like->group) {
                    break;
                }
            }
        }
        if (of > 0) {
            *figure = m->factor * stat_sum(&row->value[i]) / of;
            return m->unit;
        }
    }
    return NULL;
}

const char *stat_derived(const struct stat_reading *r, const struct stat_row *row,
                         const struct stat_style *style, unsigned i, double *figure)
{
    const mkperf_SessionEvent *v = &style->session->events[i];
    double count = stat_sum(&row->value[i]), seconds = stat_seconds(r, row);

    if (strcmp(v->name, MKPERF_RUN_TIME_EVENT) == 0 && seconds > 0) {
        *figure = count / seconds / 1e9;
        return "CPUs utilized";
    }
    const char *unit = metric_of(r, row, style, i, figure);
    if (unit != NULL || seconds <= 0) {
        return unit;
    }
    double rate = count / seconds;
    *figure = rate / (v->code == CPU_CYCLES ? 1e9 : rate >= 1e6 ? 1e6 : rate >= 1e3 ? 1e3 : 1);
    return v->code == CPU_CYCLES ? "GHz" : rate >= 1e6 ? "M/sec" : rate >= 1e3 ? "K/sec" : "/sec";
}

/* Writes a number with a comma before every third digit. */
static const char *grouped(double value, char *text, size_t n)
{
    char digits[32];
    int length = snprintf(digits, sizeof digits, "%.0f", value);
    size_t at = 0;

    for (int i = 0; i < length && at + 2 < n; i++) {
        if (i != 0 && (length - i) % 3 == 0) {
            text[at++] = ',';
        }
        text[at++] = digits[i];
    }
    text[at] = '\0';
    return text;
}

enum { EVENT_TEXT = 48 };

/* Writes the name of an event, with the modes in which it is counted. */
static const char *event_text(const mkperf_SessionEvent *v, char text[EVENT_TEXT])
{
    struct mkperf_event event;

    mkperf_wire_event(v, &event);
    snprintf(text, EVENT_TEXT, "%s%s", v->name, mkperf_event_modes(&event));
    return text;
}

/* Returns whether the counts of user mode and of the kernel are known. A counter of both has one sum; only samples have modes then. */
static bool knows_modes(const struct stat_reading *r, const mkperf_SessionEvent *v)
{
    return r->estimate || v->user_counter == 0 || v->user_counter != v->kernel_counter;
}

static void print_for_people(const struct stat_reading *r, const struct stat_row *row, unsigned i,
                             const struct stat_style *style)
{
    const mkperf_SessionEvent *v = &style->session->events[i];
    const struct stat_value *value = &row->value[i];
    double count = stat_sum(value), figure;
    char number[48], name[EVENT_TEXT];

    event_text(v, name);
    if (stat_share(r, row, i) <= 0) {
        fprintf(style->out, "%20s      %-24s\n", "<not counted>", name);
        return;
    }
    fprintf(style->out, "%s%19s      %-24s", r->estimate ? "~" : " ",
            grouped(count, number, sizeof number), name);
    /* A PD has its share instead of rates, and instead of figures, unless -M asks for them. */
    double all = stat_sum(&r->row[0].value[i]);
    bool share = row != &r->row[0] && !stat_is_core(row) && all > 0 &&
                 !(style->metrics && metric_of(r, row, style, i, &figure) != NULL);
    const char *unit = share ? "of the system" : stat_derived(r, row, style, i, &figure);
    if (unit != NULL) {
        fprintf(style->out, share ? " # %7.2f%% %-20s" : " # %8.3f %-20s",
                share ? 100 * count / all : figure, unit);
    }
    if (v->user_counter != 0 && v->kernel_counter != 0 && count > 0 && knows_modes(r, v)) {
        fprintf(style->out, "  user %5.1f%% kernel %5.1f%%", 100 * value->user / count,
                100 * value->kernel / count);
    }
    if ((r->estimate || r->runs > 1) && count > 0) {
        fprintf(style->out, "  ( +- %5.2f%% )", 100 * value->error / count);
    } else if (r->estimate && value->error > 0) { /* no sample fell into this row */
        fprintf(style->out, "  ( +- %s )", grouped(value->error, number, sizeof number));
    }
    if (r->slices > 1) {
        fprintf(style->out, "  (%.2f%%)", 100 * r->share[i]);
    }
    fputc('\n', style->out);
}

/* Writes the fields of perf, then the counts of user mode and kernel, and the standard error. NAN is an empty field. */
static void put_fields(const struct stat_reading *r, const struct stat_row *row, unsigned i,
                       const struct stat_style *style, struct mkperf_textout *t)
{
    const mkperf_SessionEvent *v = &style->session->events[i];
    const struct stat_value *value = &row->value[i];
    double figure = NAN, share = stat_share(r, row, i), known = share > 0 ? 0 : NAN;
    const char *unit = share > 0 ? stat_derived(r, row, style, i, &figure) : NULL;
    char name[EVENT_TEXT];

    if (share > 0) {
        mkperf_json(t, "%.0f", stat_sum(value));
    } else {
        mkperf_json(t, "%s", "<not counted>");
    }
    mkperf_json(t, "%s%s%.0f%.2f%.6f%s", "", event_text(v, name),
                stat_seconds(r, row) * share * 1e9, 100 * share, figure, unit);
    if (share > 0 && !knows_modes(r, v)) {
        mkperf_json(t, "%s%s", "<not counted>", "<not counted>");
    } else {
        mkperf_json(t, "%.0f%.0f", known + value->user, known + value->kernel);
    }
    mkperf_json(t, "%.0f\n", known + value->error);
}

/* Returns whether the reading has rows of cores, which replace the row of the system, as in perf stat; or rows of PDs. */
static bool has_rows(const struct stat_reading *r, bool of_cores)
{
    unsigned k = 1;

    while (k < r->rows && stat_is_core(&r->row[k]) != of_cores) {
        k++;
    }
    return k < r->rows;
}

/* Returns whether a row is shown. A row of a PD is, if style->only, a list NAME[,NAME], has its
 * name. */
static bool is_shown(const struct stat_reading *r, unsigned k, const struct stat_style *style)
{
    if (k == 0 || stat_is_core(&r->row[k])) {
        return (k != 0) == (style->per_core && has_rows(r, true));
    }
    const char *name = style->pds->pd[r->row[k].pd].name, *at = style->only;
    size_t n = strlen(name);
    while (at != NULL && (strncmp(at, name, n) != 0 || (at[n] != ',' && at[n] != '\0'))) {
        at = strchr(at, ',');
        at += at != NULL;
    }
    return style->only == NULL || at != NULL;
}

/* Prints a row "count". Members that are not known are left out. */
static void print_values(const struct stat_reading *r, const struct stat_row *row, const char *pd,
                         unsigned i, const struct stat_style *style)
{
    const mkperf_SessionEvent *v = &style->session->events[i];
    const struct stat_value *value = &row->value[i];
    double share = stat_share(r, row, i), figure;
    const char *unit = share > 0 ? stat_derived(r, row, style, i, &figure) : NULL;
    struct mkperf_textout *t = style->values;

    mkperf_json(t, "{'type':'count','time_s':%.9f,'seconds':%.9f,'runs':%u", style->time_s,
                stat_seconds(r, row), r->runs);
    if (stat_is_core(row)) {
        mkperf_json(t, ",'core':%u", row->pd - STAT_CORE);
    } else {
        mkperf_json(t, ",'cores':%u", style->cores);
    }
    mkperf_json_known(t, "pd", pd);
    mkperf_json(t, ",'event':%s,'user_counted':%hhd,'kernel_counted':%hhd,'percent_counted':%.4f",
                v->name, v->user_counter != 0, v->kernel_counter != 0, 100 * share);
    if (share > 0) {
        mkperf_json(t, ",'count':%.0f", stat_sum(value));
        if (knows_modes(r, v)) {
            mkperf_json(t, ",'user':%.0f,'kernel':%.0f", value->user, value->kernel);
        }
        mkperf_json(t, ",'error':%.0f,'estimate':%hhd", value->error, r->estimate);
    }
    if (unit != NULL) {
        mkperf_json(t, ",'figure':%.6f,'unit':%s", figure, unit);
    }
    mkperf_textout_puts(t, "}\n");
}

static void print_row(const struct stat_reading *r, unsigned k, const struct stat_style *style)
{
    const struct stat_row *row = &r->row[k];
    bool core = stat_is_core(row), system = k == 0 || core, pds = has_rows(r, false);
    const char *name = system ? "system" : style->pds->pd[row->pd].name;
    /* A row of a PD, or of a sum, has more than one core. */
    bool one = core || (system && style->cores <= 1);
    unsigned cores = one || style->cores == 0 ? 1 : style->cores;
    char core_text[16] = "";

    if (one) {
        snprintf(core_text, sizeof core_text, "C%u", core ? row->pd - STAT_CORE : 0);
    }
    for (unsigned i = 0; i < r->events; i++) {
        if (style->values != NULL) {
            print_values(r, row, system ? NULL : name, i, style);
            continue;
        }
        struct mkperf_textout t = {.over = style->out, .separator = style->separator};
        bool fields = style->separator != NULL;
        if (style->interval) {
            mkperf_textout_printf(&t, "%*.9f", fields ? 0 : 16, style->time_s);
        }
        if (style->per_core && fields) {
            mkperf_json(&t, "%s%u", core_text, cores);
        } else if (style->per_core) {
            mkperf_textout_printf(&t, "%-8s%3u ", core_text, cores);
        }
        if (pds && fields) {
            mkperf_json(&t, "%s", name);
        } else if (pds) {
            mkperf_textout_printf(&t, "%16s", name);
        }
        if (fields) {
            put_fields(r, row, i, style, &t);
        } else {
            print_for_people(r, row, i, style);
        }
    }
}

void stat_print(const struct stat_reading *r, const struct stat_style *style)
{
    bool for_people = style->separator == NULL && style->values == NULL;
    bool frame = for_people && !style->interval;

    if (style->titles && style->interval && for_people) {
        /* The titles of the columns of -I, as wide as the columns of print_row. */
        fprintf(style->out, "#%15s", "time");
        if (style->per_core) {
            fprintf(style->out, "%-8s%3s ", " core", "of");
        }
        if (has_rows(r, false)) {
            fprintf(style->out, "%16s", "PD");
        }
        fprintf(style->out, "%20s      %s\n", "counts", "events");
    }
    if (frame) {
        fprintf(style->out, "\n Performance counter stats for '%s'", style->title);
        if (r->runs > 1) {
            fprintf(style->out, " (%u runs)", r->runs);
        }
        fputs(":\n\n", style->out);
    }
    for (unsigned k = 0; k < r->rows; k++) {
        if (!is_shown(r, k, style)) {
            continue;
        }
        if (frame && k > 0) {
            fputc('\n', style->out);
        }
        print_row(r, k, style);
    }
    if (frame) {
        if (r->seconds > 0) {
            fprintf(style->out, "\n%20.9f seconds of the target's time elapsed\n", r->seconds);
        } else {
            fprintf(style->out, "\n  The target's time is not known.\n");
        }
        if (r->slices > 1) {
            fprintf(
                style->out,
                "\n  multiplexed, %u slices: more events than counters. Counts are scaled from the "
                "share of the\n"
                "  time in parentheses, and wrong by what differed in the rest.\n",
                r->slices);
        }
        if (style->per_core && style->cores <= 1) {
            fputs(
                "\n  C0 is the core that the profiler PD runs on. Nothing is counted on others.\n",
                style->out);
        } else if (style->cores > 1 && !has_rows(r, true)) {
            fprintf(style->out, "\n  Counts are sums over %u cores%s.\n", style->cores,
                    style->per_core ? "; the target does not count by core" : "");
        }
        if (r->estimate) {
            fprintf(style->out,
                    "\n  ~ estimated from samples, with the standard error in parentheses.\n");
        } else if (has_rows(r, false)) {
            fputs("\n  To distinguish PDs the kernel reads the counters at each switch or entry. "
                  "That "
                  "work is\n"
                  "  in the kernel counts of who entered: much where system calls are many "
                  "(--estimate\n"
                  "  does without it).\n",
                  style->out);
        }
        fputc('\n', style->out);
    }
    (void)fflush(style->out); /* closing the stream reports its errors */
}
