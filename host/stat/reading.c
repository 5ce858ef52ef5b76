/* SPDX-License-Identifier: BSD-2-Clause */
/* Readings: from the counts of a target, or from samples; see stat.h. */

#include "stat.h"

#include <math.h>

struct stat_row *stat_row(struct stat_reading *r, uint32_t pd)
{
    if (r->rows == 0) {
        r->row[r->rows++].pd = STAT_SYSTEM;
    }
    for (unsigned i = 0; i < r->rows; i++) {
        if (r->row[i].pd == pd) {
            return &r->row[i];
        }
    }
    if (r->rows < STAT_ROWS) {
        r->row[r->rows++] = (struct stat_row){.pd = pd};
    }
    return &r->row[r->rows - 1];
}

void stat_begin(struct stat_reading *r, const mkperf_Counts *m)
{
    memset(r, 0, sizeof *r);
    stat_row(r, STAT_SYSTEM);
    r->events = m->events_count;
    r->slices = m->slices;
    r->runs = 1;
    r->by_pd = m->by_pd;
    r->seconds = m->tick_hz != 0 ? (double)m->enabled_ticks / (double)m->tick_hz : 0;
    for (unsigned i = 0; i < r->events; i++) {
        const mkperf_EventCount *c = &m->events[i];
        double share = m->slices > 1 && m->enabled_ticks != 0
                           ? (double)c->running_ticks / (double)m->enabled_ticks
                           : 1;
        r->share[i] = fmin(share, 1);
        double scale = share > 0 ? 1 / r->share[i] : 0;
        r->row[0].value[i].user = scale * (double)c->user;
        r->row[0].value[i].kernel = scale * (double)c->kernel;
    }
}

void stat_add(struct stat_reading *r, const mkperf_Counts *m, struct mkperf_pds *pds)
{
    for (unsigned k = 0; k < m->cores_count; k++) {
        const mkperf_CoreCount *c = &m->cores[k];
        struct stat_row *row = stat_row(r, STAT_CORE + c->core % MKPERF_MAX_CORES);

        row->seconds = mkperf_per((double)c->enabled_ticks, (double)m->tick_hz);
        for (unsigned i = 0; i < r->events && i < c->events_count; i++) {
            /* Scaled as the sums are, by the time for which the core's counters counted. */
            const mkperf_EventCount *v = &c->events[i];
            double scale = r->slices > 1 && v->running_ticks != 0
                               ? fmax((double)c->enabled_ticks / (double)v->running_ticks, 1)
                               : r->share[i] > 0;
            row->value[i].user = scale * (double)v->user;
            row->value[i].kernel = scale * (double)v->kernel;
        }
    }
    for (unsigned t = 0; t < m->threads_count; t++) {
        const mkperf_ThreadCount *c = &m->threads[t];
        struct stat_row *row = stat_row(r, mkperf_pds_find(pds, c->thread - 2));
        for (unsigned i = 0; i < r->events; i++) {
            double scale = r->share[i] > 0 ? 1 / r->share[i] : 0;
            row->value[i].user += i < c->user_count ? scale * (double)c->user[i] : 0;
            row->value[i].kernel += i < c->kernel_count ? scale * (double)c->kernel[i] : 0;
        }
    }
}

void stat_sample(struct stat_reading *r, const struct mkperf_sample *s, bool per_core)
{
    for (unsigned k = 0; k <= per_core && s->event < STAT_EVENTS; k++) {
        struct stat_row *row = stat_row(r, k == 0 ? s->pd : STAT_CORE + s->core);
        struct stat_value *v = &row->value[s->event];

        *(s->flags & MKPERF_SAMPLE_KERNEL ? &v->kernel : &v->user) += (double)s->period;
        v->samples++;
    }
}

/*
 * Estimates counts. A PD's share p of n samples has the standard error sqrt(p (1 - p) / n), or that
 * of one sample if it has none or all. What an event counted after its last sample is missing: one
 * period at most.
 */
void stat_estimate(struct stat_reading *r, unsigned events, double seconds)
{
    r->estimate = true;
    r->events = events;
    r->seconds = seconds;
    r->slices = r->runs = 1;
    stat_row(r, STAT_SYSTEM);
    for (unsigned i = 0; i < events; i++) {
        struct stat_value *all = &r->row[0].value[i];
        *all = (struct stat_value){0};
        r->share[i] = 1;
        for (unsigned k = 1; k < r->rows; k++) {
            if (stat_is_core(&r->row[k])) {
                continue;
            }
            all->user += r->row[k].value[i].user;
            all->kernel += r->row[k].value[i].kernel;
            all->samples += r->row[k].value[i].samples;
        }
        double n = all->samples, total = stat_sum(all);
        all->error = n > 0 ? total / n : 0;
        for (unsigned k = 1; k < r->rows && n > 0; k++) {
            struct stat_value *v = &r->row[k].value[i];
            double p = v->samples / n;
            v->error = total * fmax(sqrt(p * (1 - p) / n), 1 / n);
        }
    }
}

void stat_difference(struct stat_reading *out, const struct stat_reading *now,
                     const struct stat_reading *before)
{
    *out = *now;
    out->seconds = now->seconds - before->seconds;
    for (unsigned k = 0; k < before->rows; k++) {
        const struct stat_row *was = &before->row[k];
        struct stat_row *row = stat_row(out, was->pd);
        row->seconds -= was->seconds;
        row->late |= was->late;
        for (unsigned i = 0; i < out->events; i++) {
            /* A scaled value may fall when a slice ends; a count never does. */
            row->value[i].user = fmax(row->value[i].user - was->value[i].user, 0);
            row->value[i].kernel = fmax(row->value[i].kernel - was->value[i].kernel, 0);
        }
    }
}

void stat_repeat_add(struct stat_reading *sum, const struct stat_reading *r)
{
    sum->estimate = r->estimate;
    sum->events = r->events;
    sum->slices = r->slices;
    sum->seconds += r->seconds;
    stat_row(sum, STAT_SYSTEM);
    for (unsigned k = 0; k < r->rows; k++) {
        struct stat_row *to = stat_row(sum, r->row[k].pd);
        to->seconds += r->row[k].seconds;
        to->late |= r->row[k].late;
        for (unsigned i = 0; i < r->events; i++) {
            double value = stat_sum(&r->row[k].value[i]);
            to->value[i].user += r->row[k].value[i].user;
            to->value[i].kernel += r->row[k].value[i].kernel;
            to->value[i].error += value * value;
        }
    }
    for (unsigned i = 0; i < r->events; i++) {
        sum->share[i] += r->share[i];
    }
    sum->runs++;
}

void stat_repeat_mean(const struct stat_reading *sum, struct stat_reading *out)
{
    double n = sum->runs;

    *out = *sum;
    out->seconds /= n;
    for (unsigned i = 0; i < out->events; i++) {
        out->share[i] /= n;
    }
    for (unsigned k = 0; k < out->rows; k++) {
        out->row[k].seconds /= n;
        for (unsigned i = 0; i < out->events; i++) {
            struct stat_value *v = &out->row[k].value[i];
            v->user /= n;
            v->kernel /= n;
            double mean = stat_sum(v);
            double variance = v->error / n - mean * mean;
            v->error = n > 1 && variance > 0 ? sqrt(variance / (n - 1)) : 0;
        }
    }
}
