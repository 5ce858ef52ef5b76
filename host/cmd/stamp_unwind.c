/* SPDX-License-Identifier: BSD-2-Clause */
/* Owns: the tables for unwinding, see cmd.h. */
#include "cmd.h"

#include <mkperf/frame.h>
#include <mkperf/record.h>

enum {
    PERCENT_FRAMED = 99, /* a program keeps frame pointers if so much of the code that calls does */
    MOST_ROWS = 0xffff,
};

/* A rule of a program, and how many rows have it. */
struct rule {
    uint64_t rule;
    size_t rows;
    uint32_t appeared; /* its number in the hash table: the order in which rules appear */
};

static void put_half(struct mkperf_stamp_unwind *u, size_t at, unsigned value)
{
    struct mkperf_put c = {.p = u->bytes + 2 * at};

    mkperf_put16(&c, (uint16_t)value);
}

/* Adds the table of a program and stores where it is. False: it has no room. */
static bool add_table(struct mkperf_stamp_unwind *u, const struct mkperf_unwind_rows *rows,
                      struct mkperf_unwind_entry *e)
{
    uint64_t base = rows->row[0].start & ~(uint64_t)(MKPERF_UNWIND_BLOCK - 1);
    uint64_t blocks = (rows->row[rows->n - 1].start - base + MKPERF_UNWIND_BLOCK - 1) /
                      MKPERF_UNWIND_BLOCK;
    size_t nrows = rows->n + 1; /* one more for the first block's start */
    struct mkperf_hash appeared = {.count = 0};
    struct rule *rule = mkperf_xcalloc(rows->n, sizeof *rule);
    unsigned *number = mkperf_xcalloc(
        rows->n, sizeof *number); /* by `appeared`: the number in the written table */

    /* Sorts the n different rules. The most frequent ones have numbers from 1 on. Rule 0 stops; it replaces those for which there is
     * no number. */
    for (size_t i = 0; i < rows->n; i++) {
        uint32_t k = mkperf_hash_number(&appeared, &rows->row[i].rule, 1);
        rule[k] = (struct rule){rows->row[i].rule, rule[k].rows + 1, k};
    }
    size_t n = appeared.count;
    MKPERF_SORT(rule, n, MKPERF_DOWN(rule, rows), MKPERF_UP(rule, rule));
    for (unsigned i = 0; i < n; i++) {
        bool stops = rule[i].rule == MKPERF_UNWIND_STOP || i + 1 >= MKPERF_UNWIND_RULES;
        number[rule[i].appeared] = stops ? 0 : i + 1;
    }
    size_t numbers = n + 1 < MKPERF_UNWIND_RULES ? n + 1 : MKPERF_UNWIND_RULES;
    uint64_t size = 8 * numbers + 2 * (blocks + 1) + 2 * nrows;
    bool fits = blocks < MKPERF_UNWIND_BYTES && nrows <= MOST_ROWS &&
                size <= MKPERF_UNWIND_BYTES - u->size;

    if (fits) {
        e->base = base;
        e->blocks = (uint32_t)blocks;
        e->rule = u->size / 8;
        e->block = (uint32_t)(u->size / 2 + 4 * numbers);
        e->row = (uint32_t)(e->block + blocks + 1);
        struct mkperf_put c = {.p = u->bytes + u->size};
        mkperf_put64(&c, MKPERF_UNWIND_STOP);
        for (size_t i = 0; i < n; i++) {
            unsigned at = number[rule[i].appeared];
            c.p = u->bytes + u->size + 8 * (size_t)at;
            mkperf_put64(&c, at != 0 ? rule[i].rule : MKPERF_UNWIND_STOP);
        }
        put_half(u, e->row, 0);
        size_t block = 1, row = 1;
        for (size_t i = 0; i < rows->n; i++, row++) {
            uint64_t at = rows->row[i].start - base;
            unsigned of = number[mkperf_hash_number(&appeared, &rows->row[i].rule, 1)];
            for (; block <= at / MKPERF_UNWIND_BLOCK && block <= blocks; block++) {
                put_half(u, e->block + block, (unsigned)row);
            }
            put_half(u, e->row + row, of | (unsigned)(at % MKPERF_UNWIND_BLOCK) << 8);
        }
        for (; block <= blocks; block++) {
            put_half(u, e->block + block, (unsigned)row);
        }
        u->size += (uint32_t)((size + 7) & ~UINT64_C(7));
    }
    mkperf_hash_free(&appeared);
    free(number);
    free(rule);
    return fits;
}

void mkperf_stamp_unwind_make(struct mkperf_stamp_unwind *u, const struct mkperf_image *image,
                              struct mkperf_module *const *module,
                              enum mkperf_stamp_unwind_wish wish)
{
    struct mkperf_unwind_entry entry[MKPERF_STAMP_PROGRAMS] = {{0}};

    *u = (struct mkperf_stamp_unwind){.size = sizeof(struct mkperf_unwind_tables)};
    for (unsigned i = 0; i < image->n && wish != MKPERF_UNWIND_NO; i++) {
        const struct mkperf_image_program *p = &image->program[i];
        struct mkperf_unwind_entry *e = &entry[i];
        struct mkperf_unwind_rows rows = {0};
        const char *problem = NULL;
        unsigned same = 0;

        while (same < i && module[same] != module[i]) {
            same++;
        }
        if (same < i) { /* PDs share a program, and its table */
            *e = entry[same];
        } else if (module[i] != NULL) {
            mkperf_module_unwind_rows(module[i], &rows);
            uint64_t framed = rows.saving - rows.unframed;
            if (rows.n != 0 && (wish == MKPERF_UNWIND_ALL ||
                                100 * framed < (uint64_t)PERCENT_FRAMED * rows.saving)) {
                problem = add_table(u, &rows, e) ? NULL : "its table is too large";
            }
            free(rows.row);
        }
        bool child = (p->thread & MKPERF_THREAD_CHILD_BIT) != 0;
        e->badge = child ? MKPERF_THREAD_CHILD_BIT | (p->thread & MKPERF_THREAD_CHILD_ID)
                         : p->thread;
        e->sc = child ? p->thread >> 8 & MKPERF_THREAD_SC : 0;
        /* The hook cannot distinguish its threads. */
        if (child && p->scheduling.passive && e->blocks != 0) {
            problem = "it is passive, and a child";
        }
        if (problem != NULL) {
            fprintf(stderr,
                    "mkperf: %s: its call chains will be incomplete: it has no frame pointers, and "
                    "%s\n",
                    p->name, problem);
        } else if (e->blocks != 0) {
            unsigned slot = mkperf_unwind_slot(e->badge, e->sc, MKPERF_THREAD_CHILD_BIT);
            struct mkperf_put c = {.p = u->bytes + MKPERF_UNWIND_HEADER_BYTES + slot * sizeof *e};

            mkperf_put64(&c, e->badge);
            mkperf_put64(&c, e->sc);
            mkperf_put64(&c, e->base);
            mkperf_put32(&c, e->blocks);
            mkperf_put32(&c, e->block);
            mkperf_put32(&c, e->row);
            mkperf_put32(&c, e->rule);
            u->pds++;
            u->text += same < i ? 0 : UINT64_C(1) * MKPERF_UNWIND_BLOCK * e->blocks;
        }
    }
    if (u->pds == 0) {
        u->size = 0;
        return;
    }
    struct mkperf_put c = {.p = u->bytes};
    mkperf_put_data(&c, MKPERF_UNWIND_MAGIC, MKPERF_UNWIND_SIZE_AT);
    mkperf_put32(&c, u->size);
    mkperf_put32(&c, mkperf_crc32(0, u->bytes + MKPERF_UNWIND_HEADER_BYTES,
                                  u->size - MKPERF_UNWIND_HEADER_BYTES));
}
