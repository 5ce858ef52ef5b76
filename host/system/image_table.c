/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The programs of an image: the bytes of the stamp, read with each length checked, and written. The
 * format is described in include/mkperf/stamp.h.
 */
#include "system.h"

#include <mkperf/frame.h>
#include <mkperf/record.h>

const char *const mkperf_queue_kinds[MKPERF_QUEUE_KINDS] = {
    [MKPERF_QUEUE_RING] = "ring",
    [MKPERF_QUEUE_NET] = "net",
    [MKPERF_QUEUE_SERIAL] = "serial",
    [MKPERF_QUEUE_BLK] = "blk",
};

struct cursor {
    const uint8_t *p;
    size_t n, at; /* at <= n */
    struct mkperf_error *e;
};

/* Sets the error `why` if a demand is not met. Returns whether it is met. */
static bool demand(const struct cursor *c, bool met, const char *why)
{
    if (!met) {
        mkperf_error_set(c->e, MKPERF_ERR_INPUT, "the image's stamp, byte %zu: %s", c->at, why);
    }
    return met;
}

/* Copies n bytes of printable text to out, which has room for `most` and a NUL. */
static bool read_text(struct cursor *c, size_t n, char *out, size_t most)
{
    if (!demand(c, n <= most && n <= c->n - c->at, "a text that is too long")) {
        return false;
    }
    memcpy(out, c->p + c->at, n);
    out[n] = '\0';
    if (!demand(c, strlen(out) == n, "a zero in a name") ||
        !demand(c, mkperf_is_printable(out), "a name that is not printable")) {
        return false;
    }
    c->at += n;
    return true;
}

static bool read_program(struct cursor *c, unsigned npds, bool kernel,
                         struct mkperf_image_program *out)
{
    if (!demand(c, c->n - c->at >= MKPERF_STAMP_ENTRY_BYTES, "it ends within an entry")) {
        return false;
    }
    const uint8_t *p = c->p + c->at;
    unsigned parent = p[8], flags = p[9], id = p[10], name = p[11], file = p[12];
    out->thread = mkperf_get64(p);
    out->parent = (int)parent - 1;
    out->scheduling.passive = (flags & MKPERF_STAMP_PASSIVE) != 0;
    out->scheduling.known = (flags & MKPERF_STAMP_SCHEDULED) != 0;
    out->build_id.derived = (flags & MKPERF_STAMP_DERIVED) != 0;
    if (!demand(c, parent <= npds, "a parent that is not in the table") ||
        !demand(c, kernel || out->thread < MKPERF_THREAD_AMBIGUOUS, "a number that no PD has") ||
        !demand(c, (name == 0) == kernel,
                kernel ? "the kernel's entry is missing" : "a PD without a name")) {
        return false;
    }
    c->at += MKPERF_STAMP_ENTRY_BYTES;
    if (!demand(c, id <= MKPERF_BUILD_ID_BYTES && id <= c->n - c->at,
                "a build id that is too long")) {
        return false;
    }
    out->build_id.n = (uint8_t)id;
    memcpy(out->build_id.byte, c->p + c->at, id);
    c->at += id;
    if (!read_text(c, name, out->name, sizeof out->name - 1) ||
        !read_text(c, file, out->file, sizeof out->file - 1)) {
        return false;
    }
    if (out->scheduling.known) {
        if (!demand(c, c->n - c->at >= MKPERF_STAMP_SCHEDULED_BYTES, "it ends within an entry")) {
            return false;
        }
        p = c->p + c->at;
        out->scheduling.priority = p[0];
        out->scheduling.cpu = p[1];
        out->scheduling.budget_us = mkperf_get32(p + 2);
        out->scheduling.period_us = mkperf_get32(p + 6);
        c->at += MKPERF_STAMP_SCHEDULED_BYTES;
    }
    return true;
}

/* Returns whether a queue's index can be at the address: it is naturally aligned, and user code can
 * have it. */
static bool index_ok(uint64_t address, unsigned bits)
{
    return address % (bits / 8) == 0 && address >> 47 == 0;
}

static bool read_queue(struct cursor *c, unsigned npds, struct mkperf_image_queue *out)
{
    if (!demand(c, c->n - c->at >= MKPERF_STAMP_QUEUE_BYTES, "it ends within a queue")) {
        return false;
    }
    const uint8_t *p = c->p + c->at;
    *out = (struct mkperf_image_queue){
        .kind = (enum mkperf_queue_kind)p[0],
        .returns = (p[1] & MKPERF_QUEUE_RETURNS) != 0,
        .producer = p[2] - 1,
        .consumer = p[3] - 1,
        .bits = p[4],
        .slots = mkperf_get64(p + 6),
        .head = mkperf_get64(p + 14),
        .tail = mkperf_get64(p + 22),
    };
    bool possible = p[0] < MKPERF_QUEUE_KINDS && p[2] <= npds && p[3] <= npds && p[5] != 0 &&
                    (out->bits == 8 || out->bits == 16 || out->bits == 32 || out->bits == 64) &&
                    index_ok(out->head, out->bits) && index_ok(out->tail, out->bits) &&
                    (out->head == 0) == (out->tail == 0);
    c->at += possible ? MKPERF_STAMP_QUEUE_BYTES : 0;
    return demand(c, possible, "a queue with impossible values") &&
           read_text(c, p[5], out->name, sizeof out->name - 1);
}

static bool read_header(struct cursor *c, struct mkperf_image *out)
{
    if (!demand(c, c->n >= MKPERF_STAMP_HEADER_BYTES && c->n <= MKPERF_STAMP_BYTES,
                "its size is invalid") ||
        !demand(c, memcmp(c->p, MKPERF_STAMP_MAGIC, MKPERF_STAMP_MAGIC_BYTES) == 0,
                "not a stamp, or one of another version") ||
        !demand(c, mkperf_get32(c->p + MKPERF_STAMP_SIZE_AT) == c->n,
                "its size differs from the received size") ||
        !demand(c,
                mkperf_get32(c->p + MKPERF_STAMP_CRC_AT) ==
                    mkperf_crc32(0, c->p + MKPERF_STAMP_IMAGE_AT, c->n - MKPERF_STAMP_IMAGE_AT),
                "the CRC is wrong")) {
        return false;
    }
    memcpy(out->id, c->p + MKPERF_STAMP_IMAGE_AT, sizeof out->id);
    memcpy(out->system, c->p + MKPERF_STAMP_SYSTEM_AT, sizeof out->system);
    out->n = (unsigned)mkperf_get16(c->p + MKPERF_STAMP_COUNT_AT);
    out->nqueues = (unsigned)mkperf_get16(c->p + MKPERF_STAMP_QUEUES_AT);
    if (!demand(c, out->n <= MKPERF_STAMP_PROGRAMS && out->nqueues <= MKPERF_STAMP_QUEUES,
                "too many programs or queues")) {
        return false;
    }
    c->at = MKPERF_STAMP_HEADER_BYTES;
    return true;
}

enum mkperf_status mkperf_image_read(const uint8_t *p, size_t n, struct mkperf_image *out,
                                     struct mkperf_error *e)
{
    struct cursor c = {p, n, 0, e};

    memset(out, 0, sizeof *out);
    bool valid = read_header(&c, out) && read_program(&c, 0, true, &out->kernel);
    for (unsigned i = 0; i < out->n && valid; i++) {
        const struct mkperf_image_program *a = &out->program[i], *b = out->program;
        valid = read_program(&c, out->n, false, &out->program[i]);
        for (; b < a && valid; b++) { /* names would be ambiguous */
            valid = demand(&c, a->thread != b->thread && strcmp(a->name, b->name) != 0,
                           "two PDs with the same number or name");
        }
    }
    for (unsigned i = 0; i < out->nqueues && valid; i++) {
        valid = read_queue(&c, out->n, &out->queue[i]);
    }
    return valid && read_text(&c, n - c.at, out->windows, sizeof out->windows - 1)
               ? MKPERF_OK
               : MKPERF_ERR_INPUT;
}

static void put_program(struct mkperf_put *c, const struct mkperf_image_program *from)
{
    size_t name = strlen(from->name), file = strlen(from->file);
    unsigned flags = (from->scheduling.passive ? MKPERF_STAMP_PASSIVE : 0) |
                     (from->build_id.derived ? MKPERF_STAMP_DERIVED : 0) |
                     (from->scheduling.known ? MKPERF_STAMP_SCHEDULED : 0);
    const uint8_t sizes[] = {from->build_id.n, (uint8_t)name, (uint8_t)file};

    mkperf_put64(c, from->thread);
    mkperf_put16(c, (uint16_t)((unsigned)(from->parent + 1) | flags << 8));
    mkperf_put_data(c, sizes, sizeof sizes);
    mkperf_put_data(c, from->build_id.byte, from->build_id.n);
    mkperf_put_data(c, from->name, name);
    mkperf_put_data(c, from->file, file);
    if (from->scheduling.known) {
        mkperf_put16(c, (uint16_t)(from->scheduling.priority | from->scheduling.cpu << 8));
        mkperf_put32(c, (uint32_t)from->scheduling.budget_us);
        mkperf_put32(c, (uint32_t)from->scheduling.period_us);
    }
}

size_t mkperf_image_write(const struct mkperf_image *image, uint8_t out[MKPERF_STAMP_BYTES])
{
    struct mkperf_put c = {out + MKPERF_STAMP_IMAGE_AT}, head = {out};

    mkperf_put_data(&c, image->id, sizeof image->id);
    mkperf_put_data(&c, image->system, sizeof image->system);
    mkperf_put32(&c, image->n | image->nqueues << 16);
    put_program(&c, &image->kernel);
    for (unsigned i = 0; i < image->n; i++) {
        put_program(&c, &image->program[i]);
    }
    for (unsigned i = 0; i < image->nqueues; i++) {
        const struct mkperf_image_queue *q = &image->queue[i];
        size_t name = strlen(q->name);
        const uint8_t bytes[] = {(uint8_t)q->kind,           q->returns ? MKPERF_QUEUE_RETURNS : 0,
                                 (uint8_t)(q->producer + 1), (uint8_t)(q->consumer + 1),
                                 (uint8_t)q->bits,           (uint8_t)name};

        mkperf_put_data(&c, bytes, sizeof bytes);
        mkperf_put64(&c, q->slots);
        mkperf_put64(&c, q->head);
        mkperf_put64(&c, q->tail);
        mkperf_put_data(&c, q->name, name);
    }
    mkperf_put_data(&c, image->windows, strlen(image->windows));
    size_t n = (size_t)(c.p - out);
    mkperf_put_data(&head, MKPERF_STAMP_MAGIC, MKPERF_STAMP_MAGIC_BYTES);
    mkperf_put32(&head, (uint32_t)n);
    mkperf_put32(&head, mkperf_crc32(0, out + MKPERF_STAMP_IMAGE_AT, n - MKPERF_STAMP_IMAGE_AT));
    return n;
}

unsigned mkperf_image_words(const struct mkperf_image *image, uint64_t word[MKPERF_MAX_WORDS],
                            struct mkperf_image_place place[MKPERF_STAMP_QUEUES][2])
{
    unsigned n = 0;

    for (unsigned i = 0; i < image->nqueues; i++) {
        const struct mkperf_image_queue *q = &image->queue[i];
        /* The head first: then no consumer seems to be ahead of its producer. */
        const uint64_t address[2] = {q->head, q->tail};
        unsigned first = n;
        for (unsigned k = 0; k < 2 && q->head != 0; k++) {
            uint64_t at = address[k] & MKPERF_WORD_ADDRESS, bytes = (1U << q->bits / 8) - 1;
            unsigned w = first;
            while (w < n && (word[w] & MKPERF_WORD_ADDRESS) != at) {
                w++;
            }
            if (w == n) {
                word[n++] = at;
            }
            word[w] |= bytes << (address[k] % 8) << MKPERF_WORD_BYTES_SHIFT;
            place[i][k] = (struct mkperf_image_place){(uint8_t)w, (uint8_t)(8 * (address[k] % 8))};
        }
    }
    return n;
}

/* Returns the text of a domain schedule, see system.h. */

char *mkperf_windows_text(const struct mkperf_system *s)
{
    char *text = NULL;
    size_t n;

    if (s->nwindows == 0) {
        return NULL;
    }
    FILE *f = mkperf_memstream_open(&text, &n);
    for (unsigned i = 0; i < s->nwindows; i++) {
        const struct mkperf_system_window *w = &s->window[i];
        fprintf(f, "%s%u %" PRIu64 " %s ", i != 0 ? "|" : "", s->first_window + i, w->duration,
                w->in_ticks ? "ticks" : "us");
        for (const char *p = s->domain[w->domain]; *p != '\0'; p++) {
            fputc(*p == '|' ? '/' : *p, f);
        }
    }
    mkperf_memstream_close(f);
    return text;
}

unsigned mkperf_windows_read(const char *text, struct mkperf_schedule_entry out[MKPERF_WINDOWS])
{
    unsigned n = 0;

    while (text != NULL && n < MKPERF_WINDOWS) {
        struct mkperf_schedule_entry w = {.number = 0};
        uint64_t duration;
        char unit[8];

        if (sscanf(text, "%u %" SCNu64 " %5s %63[^|\n]", &w.number, &duration, unit, w.domain) !=
                4 ||
            duration == 0 || duration >> 52 != 0) {
            break;
        }
        *(strcmp(unit, "us") == 0 ? &w.us : &w.ticks) = duration;
        out[n++] = w;
        text = strchr(text, '|');
        text = text != NULL ? text + 1 : NULL;
    }
    return n;
}
