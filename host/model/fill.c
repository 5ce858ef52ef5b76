/* SPDX-License-Identifier: BSD-2-Clause */
/* Owns: see fill.h. */
#include "fill.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "base/percent.h"

static void at_least(uint64_t *to, uint64_t value)
{
    *to = value > *to ? value : *to;
}

/* Two points become one. */
static void merge(struct mkperf_fill *f)
{
    for (size_t i = 0; i < MKPERF_FILL_POINTS / 2; i++) {
        f->point[i] = f->point[2 * i + 1];
        at_least(&f->point[i].bytes, f->point[2 * i].bytes);
    }
    f->n = MKPERF_FILL_POINTS / 2;
    f->merged *= 2;
    f->in_last = f->merged;
}

void mkperf_fill_add(struct mkperf_fill *f, uint64_t time_ns, uint64_t bytes, uint64_t size)
{
    struct mkperf_fill_point *last = f->n != 0 ? &f->point[f->n - 1] : NULL;

    if (size == 0) {
        return;
    }
    f->size = size;
    at_least(&f->peak, bytes);
    f->merged = f->merged != 0 ? f->merged : 1;
    if (last != NULL && (time_ns <= last->time_ns || f->in_last < f->merged)) {
        f->in_last += time_ns > last->time_ns;
        at_least(&last->time_ns, time_ns);
        at_least(&last->bytes, bytes);
        return;
    }
    if (f->n == MKPERF_FILL_POINTS) {
        merge(f);
    }
    f->point[f->n++] = (struct mkperf_fill_point){time_ns, bytes};
    f->in_last = 1;
}

void mkperf_fill_text(const struct mkperf_fill *f, char *text, size_t n)
{
    snprintf(text, n, "at most %" PRIu64 " of %" PRIu64 " bytes (%.1f %%)", f->peak, f->size,
             mkperf_percent(f->peak, f->size));
}

void mkperf_fill_write(const struct mkperf_fill *f, FILE *out)
{
    if (f->size == 0) {
        return;
    }
    fprintf(out, "ring_bytes %" PRIu64 "\nring_peak %" PRIu64 "\n", f->size, f->peak);
    for (uint32_t i = 0; i < f->n; i++) {
        fprintf(out, "ring_fill %" PRIu64 " %" PRIu64 "\n", f->point[i].time_ns, f->point[i].bytes);
    }
}

void mkperf_fill_line(struct mkperf_fill *f, const char *key, const char *value)
{
    char *end;
    uint64_t number = strtoull(value, &end, 10);

    if (strcmp(key, "ring_bytes") == 0) {
        f->size = number;
    } else if (strcmp(key, "ring_peak") == 0) {
        f->peak = number;
    } else if (strcmp(key, "ring_fill") == 0 && f->n < MKPERF_FILL_POINTS) {
        f->point[f->n++] = (struct mkperf_fill_point){number, strtoull(end, NULL, 10)};
    }
}
