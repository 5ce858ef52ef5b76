/* SPDX-License-Identifier: BSD-2-Clause */
/* Structures as bytes, see shape.h. */
#include "shape.h"

const struct mkperf_shape_row mkperf_hash_rows[] = {
    MKPERF_SHAPE_ARRAY(struct mkperf_hash, key, count, room, NULL),
    MKPERF_SHAPE_ARRAY(struct mkperf_hash, slot, nslots, nslots, NULL),
    MKPERF_SHAPE_ARRAY(struct mkperf_hash, words, used, words_room, NULL), MKPERF_SHAPE_END};

static void *member(const void *at, uint32_t offset)
{
    return (char *)(uintptr_t)at + offset;
}

/* Members of any pointer type and of unsigned types of 4 and 8 bytes. */
typedef char *any_pointer __attribute__((may_alias));
typedef uint32_t small __attribute__((may_alias));
typedef uint64_t large __attribute__((may_alias));

static any_pointer *pointer_at(const void *at, const struct mkperf_shape_row *row)
{
    return member(at, row->at);
}

static void set_number(void *at, uint32_t offset, uint32_t bytes, uint64_t value)
{
    if (bytes == sizeof(small)) {
        *(small *)member(at, offset) = (uint32_t)value;
    } else if (bytes != 0) {
        *(large *)member(at, offset) = value;
    }
}

/* Returns the number of elements of an array, or behind a pointer. */
static uint64_t count_of(const void *at, const struct mkperf_shape_row *row)
{
    const char *p = *pointer_at(at, row);

    return p == NULL                           ? 0
           : row->kind == MKPERF_SHAPE_IS_TEXT ? strlen(p) + 1
           : row->count_bytes == 0             ? 1
           : row->count_bytes == sizeof(small) ? *(const small *)member(at, row->count_at)
                                               : *(const large *)member(at, row->count_at);
}

void mkperf_shape_add(struct mkperf_shape_bytes *to, const void *p, size_t n)
{
    MKPERF_GROW(to->p, to->room, to->n + n);
    if (n != 0) {
        memcpy(to->p + to->n, p, n);
        to->n += n;
    }
}

void mkperf_shape_put(const struct mkperf_shape_row *rows, const void *at,
                      struct mkperf_shape_bytes *to)
{
    for (const struct mkperf_shape_row *row = rows; row->kind != MKPERF_SHAPE_ENDS; row++) {
        if (row->kind == MKPERF_SHAPE_IS_BYTES) {
            mkperf_shape_add(to, member(at, row->at), row->bytes);
        } else if (row->kind == MKPERF_SHAPE_IS_INSIDE) {
            mkperf_shape_put(row->of, member(at, row->at), to);
        } else {
            const char *p = *pointer_at(at, row);
            uint64_t n = count_of(at, row);
            mkperf_shape_add(to, &n, sizeof n);
            if (row->kind != MKPERF_SHAPE_IS_BEHIND) {
                mkperf_shape_add(to, p, n * row->bytes);
            }
            for (uint64_t i = 0; row->of != NULL && i < n; i++) {
                mkperf_shape_put(row->of, p + i * row->bytes, to);
            }
        }
    }
}

static bool take_bytes(struct mkperf_shape_input *from, void *to, uint64_t n)
{
    if (n > from->n) {
        return false;
    }
    if (n != 0) {
        memcpy(to, from->p, n);
    }
    from->p += n;
    from->n -= n;
    return true;
}

/* Makes pointers NULL, and counts and rooms 0. owned: frees what they point to; otherwise it is the input's, or was freed. */
static void release(const struct mkperf_shape_row *rows, void *at, bool owned)
{
    for (const struct mkperf_shape_row *row = rows; row->kind != MKPERF_SHAPE_ENDS; row++) {
        if (row->kind == MKPERF_SHAPE_IS_INSIDE) {
            release(row->of, member(at, row->at), owned);
        } else if (row->kind != MKPERF_SHAPE_IS_BYTES) {
            char *p = *pointer_at(at, row);
            for (uint64_t i = 0, n = owned && row->of != NULL ? count_of(at, row) : 0; i < n; i++) {
                release(row->of, p + i * row->bytes, true);
            }
            if (owned && row->kind == MKPERF_SHAPE_IS_BEHIND) {
                continue;
            }
            free(owned ? p : NULL);
            *pointer_at(at, row) = NULL;
            set_number(at, row->count_at, row->count_bytes, 0);
            set_number(at, row->room_at, row->room_bytes, 0);
        }
    }
}

void mkperf_shape_free(const struct mkperf_shape_row *rows, void *at)
{
    release(rows, at, true);
}

/* Fills a structure that owns nothing. */
static bool take_rows(const struct mkperf_shape_row *rows, void *at,
                      struct mkperf_shape_input *from)
{
    bool whole = true;

    for (const struct mkperf_shape_row *row = rows; whole && row->kind != MKPERF_SHAPE_ENDS;
         row++) {
        char *p = NULL;
        uint64_t n = 0;

        if (row->kind == MKPERF_SHAPE_IS_BYTES) {
            whole = take_bytes(from, member(at, row->at), row->bytes);
        } else if (row->kind == MKPERF_SHAPE_IS_INSIDE) {
            whole = take_rows(row->of, member(at, row->at), from);
        } else if (!take_bytes(from, &n, sizeof n) ||
                   (row->kind != MKPERF_SHAPE_IS_BEHIND &&
                    (n > from->n / row->bytes ||
                     (row->count_bytes == sizeof(uint32_t) && n > UINT32_MAX)))) {
            whole = false;
        } else if (row->kind == MKPERF_SHAPE_IS_BEHIND) {
            p = *pointer_at(at, row);
            whole = n == count_of(at, row);
        } else if (n != 0) { /* the input has them */
            p = *pointer_at(at, row) = mkperf_xcalloc(n, row->bytes);
            (void)take_bytes(from, p, n * row->bytes);
            for (uint64_t i = 0; row->of != NULL && i < n; i++) {
                release(row->of, p + i * row->bytes, false);
            }
            set_number(at, row->count_at, row->count_bytes, n);
            set_number(at, row->room_at, row->room_bytes, n);
            whole = row->kind != MKPERF_SHAPE_IS_TEXT || p[n - 1] == '\0';
        }
        for (uint64_t i = 0; row->of != NULL && p != NULL && whole && i < n; i++) {
            whole = take_rows(row->of, p + i * row->bytes, from);
        }
    }
    return whole;
}

bool mkperf_shape_take(const struct mkperf_shape_row *rows, void *at,
                       struct mkperf_shape_input *from)
{
    mkperf_shape_free(rows, at);
    return take_rows(rows, at, from);
}

void mkperf_shape_own(const struct mkperf_shape_row *rows, void *at)
{
    struct mkperf_shape_bytes bytes = {.n = 0};

    mkperf_shape_put(rows, at, &bytes);
    struct mkperf_shape_input from = {bytes.p, bytes.n};
    release(rows, at, false);
    (void)take_rows(rows, at, &from);
    free(bytes.p);
}
