/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Where a program enters the kernel by itself: its SVC instructions.
 *
 * Owns: the search. Called by `mkperf record -e timer`, see docs/stock.md. Every word of the
 * executable segments that reads as one counts: data among the code can look like it, which does no
 * harm, since no thread stands there.
 */
#include <stdlib.h>

#include "base/get.h"
#include "base/sort.h"
#include "base/xalloc.h"
#include "symbols_internal.h"

/* Arm ARM, C6.2.365: SVC #imm16. */
#define SVC_MASK UINT32_C(0xffe0001f)
#define SVC UINT32_C(0xd4000001)

static int compare(const void *a, const void *b)
{
    return mkperf_compare(*(const uint64_t *)a, *(const uint64_t *)b);
}

uint64_t *mkperf_module_system_calls(const struct mkperf_module *m, size_t *n)
{
    size_t room = 0;
    uint64_t *site = NULL;

    *n = 0;
    MKPERF_GROW(site, room, 1);
    for (size_t i = 0; i < m->nsegments; i++) {
        const struct mkperf_segment *s = &m->segment[i];
        /* What the file has: a size in memory may be any number. */
        uint64_t rest = s->offset < m->size ? m->size - s->offset : 0;
        uint64_t bytes = s->size < rest ? s->size : rest;

        for (uint64_t at = 0; at + 4 <= bytes; at += 4) {
            if ((mkperf_get32(m->bytes + s->offset + at) & SVC_MASK) == SVC) {
                MKPERF_GROW(site, room, *n + 1);
                site[(*n)++] = s->vaddr + at;
            }
        }
    }
    qsort(site, *n, sizeof *site, compare);
    return site;
}
