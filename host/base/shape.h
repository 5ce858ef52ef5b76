/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Structures with what they point to, as bytes and back, by a description of their members.
 *
 * Owns: the description, and three functions that follow it. import/import.h keeps in a file with them what a sink has collected.
 * The bytes are those of this build of mkperf: members are copied as they are in memory.
 *
 *      struct list {                  static const struct mkperf_shape_row rows[] = {
 *          uint64_t sum;                  MKPERF_SHAPE_BYTES(struct list, sum, sum),
 *          char *name;                    MKPERF_SHAPE_TEXT(struct list, name),
 *          struct item *item;             MKPERF_SHAPE_ARRAY(struct list, item, n, room, item_rows),
 *          unsigned n, room;              MKPERF_SHAPE_END};
 *      };
 *
 * Invariants
 *  1. Members without a row stay as they are. In an element of an array all bytes are copied; its pointers need rows.
 *  2. Rows are followed in their order. An array whose count is a member of another row's structure comes after that row.
 *  3. Any bytes can be taken: sizes are compared with what is left, and a structure can be freed after a failure. Whether numbers
 *     in it are valid indices is not checked. Therefore only bytes of mkperf's own may be used (snapshot.h).
 */
#ifndef MKPERF_HOST_BASE_SHAPE_H
#define MKPERF_HOST_BASE_SHAPE_H

#include "base.h"

enum mkperf_shape_kind {
    MKPERF_SHAPE_ENDS,
    MKPERF_SHAPE_IS_BYTES,
    MKPERF_SHAPE_IS_TEXT,   /* char *, or NULL */
    MKPERF_SHAPE_IS_ARRAY,  /* a pointer to memory of mkperf_xcalloc */
    MKPERF_SHAPE_IS_INSIDE, /* a structure in this one */
    MKPERF_SHAPE_IS_BEHIND, /* a pointer to elements that exist, as many as when they were put */
};

struct mkperf_shape_row {
    enum mkperf_shape_kind kind;
    uint32_t at, bytes;                                  /* of the member; bytes: of one element */
    uint32_t count_at, count_bytes, room_at, room_bytes; /* 0 bytes: one element; no room */
    const struct mkperf_shape_row *of;                   /* rows of elements; NULL: plain bytes */
};

#define MKPERF_SHAPE_SIZE(type, member) sizeof(((type *)0)->member)
/* The members from `first` to `last`. */
#define MKPERF_SHAPE_BYTES(type, first, last)                                                 \
    {                                                                                         \
        .kind = MKPERF_SHAPE_IS_BYTES, .at = offsetof(type, first),                           \
        .bytes = offsetof(type, last) + MKPERF_SHAPE_SIZE(type, last) - offsetof(type, first) \
    }
#define MKPERF_SHAPE_TEXT(type, member)                            \
    {                                                              \
        .kind = MKPERF_SHAPE_IS_TEXT, .at = offsetof(type, member) \
    }
#define MKPERF_SHAPE_ARRAY(type, member, count, room, rows)                             \
    {                                                                                   \
        .kind = MKPERF_SHAPE_IS_ARRAY, .at = offsetof(type, member),                    \
        .bytes = sizeof(*((type *)0)->member), .count_at = offsetof(type, count),       \
        .count_bytes = MKPERF_SHAPE_SIZE(type, count), .room_at = offsetof(type, room), \
        .room_bytes = MKPERF_SHAPE_SIZE(type, room), .of = (rows)                       \
    }
#define MKPERF_SHAPE_INSIDE(type, member, rows)                                    \
    {                                                                              \
        .kind = MKPERF_SHAPE_IS_INSIDE, .at = offsetof(type, member), .of = (rows) \
    }
/* One structure, which may be NULL. */
#define MKPERF_SHAPE_BEHIND(type, member, rows)                                    \
    {                                                                              \
        .kind = MKPERF_SHAPE_IS_BEHIND, .at = offsetof(type, member), .of = (rows) \
    }
#define MKPERF_SHAPE_EACH(type, member, count, rows)                              \
    {                                                                             \
        .kind = MKPERF_SHAPE_IS_BEHIND, .at = offsetof(type, member),             \
        .bytes = sizeof(*((type *)0)->member), .count_at = offsetof(type, count), \
        .count_bytes = MKPERF_SHAPE_SIZE(type, count), .of = (rows)               \
    }
#define MKPERF_SHAPE_END          \
    {                             \
        .kind = MKPERF_SHAPE_ENDS \
    }

/* A structure and its rows. */
struct mkperf_shaped {
    void *at;
    const struct mkperf_shape_row *rows;
};

struct mkperf_shape_bytes {
    uint8_t *p;
    size_t n, room;
};

/* Adds bytes behind those that are there. The caller frees to->p. */
void mkperf_shape_add(struct mkperf_shape_bytes *to, const void *p, size_t n);
/* Adds a structure. */
void mkperf_shape_put(const struct mkperf_shape_row *rows, const void *at,
                      struct mkperf_shape_bytes *to);

/* Bytes that are still to be taken. */
struct mkperf_shape_input {
    const uint8_t *p;
    size_t n;
};

/* Frees what the structure owns by its rows, and fills it from the input. False: the bytes are none of such a structure. Then it is
 * filled in part, and can be freed. */
bool mkperf_shape_take(const struct mkperf_shape_row *rows, void *at,
                       struct mkperf_shape_input *from);

/* Frees what the structure owns by its rows; pointers, counts and rooms are 0 after it. */
void mkperf_shape_free(const struct mkperf_shape_row *rows, void *at);

/* Of a struct mkperf_hash. */
extern const struct mkperf_shape_row mkperf_hash_rows[];

#endif
