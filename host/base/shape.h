/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Structures with what they point to, as bytes and back, by a description of their members.
 *
 * Owns: the description, and the functions that follow it. import/import.h keeps in a file with them what a sink has collected.
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
 *  2. Rows are followed in their order. An array whose count is a member of another row's structure follows that row.
 *  3. Any bytes can be taken: sizes are compared with what is left, and a structure can be freed after a failure. Whether numbers
 *     in it are valid indices is not checked. Therefore only bytes of mkperf's own may be used (below).
 */
#ifndef MKPERF_HOST_BASE_SHAPE_H
#define MKPERF_HOST_BASE_SHAPE_H

#include "base.h"

enum mkperf_shape_kind {
    MKPERF_SHAPE_ENDS,
    MKPERF_SHAPE_IS_BYTES,
    MKPERF_SHAPE_IS_TEXT, /* The member is a char *, which may be NULL. */
    MKPERF_SHAPE_IS_ARRAY, /* The member points to memory of mkperf_xcalloc, which the structure owns. */
    MKPERF_SHAPE_IS_INSIDE, /* The member is a structure with rows of its own. */
    /* The member points to elements that another structure owns. As many elements exist when they are taken as when
     * they were put. */
    MKPERF_SHAPE_IS_BEHIND,
};

/* A row describes one member. The macros below make rows. Offsets are from the begin of the structure that has the member. */
struct mkperf_shape_row {
    enum mkperf_shape_kind kind;
    uint32_t at;    /* offset of the member */
    uint32_t bytes; /* size of the member, or of one element behind it */
    /* Offsets and sizes of the members that have the number of elements and the room for them. Size 0: there is no such member; the
     * number of elements is then 1. */
    uint32_t count_at, count_bytes, room_at, room_bytes;
    const struct mkperf_shape_row *of; /* rows of each element; NULL: an element is plain bytes */
};

#define MKPERF_SHAPE_SIZE(type, member) sizeof(((type *)0)->member)
/* All members from `first` to `last` as plain bytes. They have no pointers. */
#define MKPERF_SHAPE_BYTES(type, first, last)                                                 \
    {                                                                                         \
        .kind = MKPERF_SHAPE_IS_BYTES, .at = offsetof(type, first),                           \
        .bytes = offsetof(type, last) + MKPERF_SHAPE_SIZE(type, last) - offsetof(type, first) \
    }
#define MKPERF_SHAPE_TEXT(type, member)                                        \
    {                                                                          \
        .kind = MKPERF_SHAPE_IS_TEXT, .at = offsetof(type, member), .bytes = 1 \
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
/* A pointer to one structure, or NULL. */
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

/* An input: the bytes that were not taken yet. */
struct mkperf_shape_input {
    const uint8_t *p;
    size_t n;
};

/* Frees what the structure owns by its rows, and fills it from the input. False: the bytes do not describe such a structure. It is then
 * filled in part, and can be freed. */
bool mkperf_shape_take(const struct mkperf_shape_row *rows, void *at,
                       struct mkperf_shape_input *from);

/* Replaces texts and arrays, which others own, by copies that the structure owns. No row is BEHIND. */
void mkperf_shape_own(const struct mkperf_shape_row *rows, void *at);

/* Frees what the structure owns by its rows. Pointers, counts and rooms are 0 afterwards. */
void mkperf_shape_free(const struct mkperf_shape_row *rows, void *at);

/* The rows of struct mkperf_hash. */
extern const struct mkperf_shape_row mkperf_hash_rows[];

/*
 * Snapshots: files in the user's cache directory with what mkperf has read from recordings, so that the next question about one is
 * answered sooner.
 *
 * Owns: where they are, and to which recording and question one belongs. Their bytes are the caller's.
 *
 *      ~/.cache/mkperf/3f0c...           one for each recording and question: hash | bytes
 *
 * Invariants
 *  1. A snapshot is used only for the same file: device, inode, size, and the times of the last change of its content and of its
 *     inode, in ns. The same of the mkperf that wrote it. Both are compared before and after the recording was read.
 *  2. A snapshot is used only from a directory that belongs to the user and that nobody else can access, because numbers in it are
 *     indices. Its hash (SHA-256) is of its bytes, the question and these identities.
 *  3. It gets its name when it is whole. At most MKPERF_SNAPSHOTS are kept; the oldest ones are removed.
 *  4. Whatever fails: there is no snapshot, and no message. The answer is the same, later.
 *
 * MKPERF_SNAPSHOTS=no in the environment: none are used or written. MKPERF_SNAPSHOTS=always: of small recordings, too.
 */

enum {
    MKPERF_SNAPSHOTS = 64,
    MKPERF_SNAPSHOT_BYTES = 16 << 20, /* most bytes of a snapshot */
    MKPERF_SNAPSHOT_LEAST = 8 << 20,  /* smaller recordings are read each time */
    MKPERF_SNAPSHOT_HASH = 32,        /* bytes of a hash */
};

/* The identities of a recording and of this mkperf. */
struct mkperf_snapshot_of {
    uint64_t number[2][7];
};

struct mkperf_snapshot {
    const char *recording, *question;
    struct mkperf_snapshot_of of;
    int directory;                           /* -1: there can be no snapshot */
    char name[2 * MKPERF_SNAPSHOT_HASH + 1]; /* of the file in it */
    uint8_t *content;                        /* the file that was read */
};

/*
 * Begins a question about a recording, before it is read. question: the kind of the result and each option on which it depends. False:
 * there can be no snapshot. Both texts live until mkperf_snapshot_end.
 */
bool mkperf_snapshot_begin(struct mkperf_snapshot *s, const char *recording, const char *question);
/* Returns whether a recording of this kind and size can have snapshots. */
bool mkperf_snapshot_possible(const char *recording);
/* Returns the bytes of the snapshot, *n of them; valid until mkperf_snapshot_end. Returns NULL if
 * there is none. */
const uint8_t *mkperf_snapshot_read(struct mkperf_snapshot *s, size_t *n);
/* Writes n bytes, if the recording has not changed. */
void mkperf_snapshot_write(const struct mkperf_snapshot *s, const uint8_t *p, size_t n);
void mkperf_snapshot_end(struct mkperf_snapshot *s);

#endif
