/* SPDX-License-Identifier: BSD-2-Clause */
/* Owns: see cpu_list.h. */
#include "cpu_list.h"

#include <ctype.h>
#include <stdlib.h>
#include <string.h>

/* A number, and what follows it in *end. -1: there is none, or it is too large. */
static int64_t number(const char *text, uint32_t most, char **end)
{
    unsigned long n = isdigit((unsigned char)*text) ? strtoul(text, end, 10) : most;

    return n < most ? (int64_t)n : -1;
}

enum mkperf_status mkperf_given_cpus(const struct mkperf_given *g, uint32_t most,
                                     struct mkperf_cpu_list *l)
{
    char want[64], *at = NULL;

    snprintf(want, sizeof want, "cores below %u, as in 0-2,5", most);
    memset(l, 0, sizeof *l);
    for (const char *text = g->value;; text = at + 1) {
        int64_t first = number(text, most, &at);
        int64_t last = first >= 0 && *at == '-' ? number(at + 1, most, &at) : first;

        if (first < 0 || last < first || (*at != ',' && *at != '\0')) {
            return mkperf_given_bad(g, want);
        }
        for (; first <= last; first++) {
            l->given = true;
            l->bits[first / 64] |= UINT64_C(1) << first % 64;
        }
        if (*at == '\0') {
            return MKPERF_OK;
        }
    }
}

static void append(char text[MKPERF_CPU_LIST_TEXT], const char *before, uint32_t cpu)
{
    size_t n = strlen(text);

    if (n + 16 < MKPERF_CPU_LIST_TEXT) {
        snprintf(text + n, MKPERF_CPU_LIST_TEXT - n, "%s%u", before, cpu);
    } else if (strcmp(text + n - 3, "...") != 0) {
        snprintf(text + n, MKPERF_CPU_LIST_TEXT - n, "...");
    }
}

const char *mkperf_cpu_list_text(const struct mkperf_cpu_list *l, char text[MKPERF_CPU_LIST_TEXT])
{
    unsigned n = 0;

    for (unsigned i = 0; i < MKPERF_CPU_LIST_MAX / 64; i++) {
        n += (unsigned)__builtin_popcountll(l->bits[i]);
    }
    snprintf(text, MKPERF_CPU_LIST_TEXT, n > 1 ? "cores" : "core");
    const char *before = " ";
    for (uint32_t i = 0, last; i < MKPERF_CPU_LIST_MAX; i = last + 1) {
        last = i;
        if (!mkperf_cpu_list_has(l, i)) {
            continue;
        }
        while (mkperf_cpu_list_has(l, last + 1)) {
            last++;
        }
        append(text, before, i);
        if (last > i) {
            append(text, "-", last);
        }
        before = ",";
    }
    return text;
}

const char *mkperf_cpu_mask_text(uint64_t mask, char text[MKPERF_CPU_LIST_TEXT])
{
    const struct mkperf_cpu_list l = {.given = true, .bits = {mask}};

    return mkperf_cpu_list_text(&l, text);
}
