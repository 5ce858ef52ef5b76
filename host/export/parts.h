/* SPDX-License-Identifier: BSD-2-Clause */
/* What the formats have in common, and no other file needs. Implemented by parts.c; the tree of stacks by folded.c; messages of protobuf by protobuf.c. */
#ifndef MKPERF_HOST_EXPORT_PARTS_H
#define MKPERF_HOST_EXPORT_PARTS_H

#include "formats.h"

/* Sets *event to the number of the event that x names, or to 0 with a note. MKPERF_ERR_USAGE: there is no such event. */
enum mkperf_status mkperf_export_event(const struct mkperf_export *x,
                                       const struct mkperf_profile *c, uint32_t *event,
                                       struct mkperf_error *e);

/* Returns the period of an event. With a frequency it is the mean: servers refuse a profile without a period. */
uint64_t mkperf_export_period(const struct mkperf_profile *c, uint32_t event);
/* Returns n bytes compressed by gzip, *size bytes, which the caller frees. */
uint8_t *mkperf_export_gzip(const void *p, size_t n, size_t *size);

/*
 * Stacks by name, as folded stacks and flame graphs show them. The root's children are the PDs in which chains begin.
 * Below them are functions, outermost first, and a node for each PD that a protected call enters. A tree can hold two
 * profiles for a comparison.
 *
 *     all ── client ── main ── request ── server ── protected ── compute
 *     root   PD        functions          PD        functions
 */
enum stack_kind {
    STACK_ROOT,
    STACK_PD,
    STACK_USER,
    STACK_INLINED,
    STACK_KERNEL,
    STACK_UNKNOWN,
};

/* Where a function is. */
struct stack_code {
    uint32_t file; /* a text; 0: unknown */
    uint32_t line; /* the first line of this file that a chain has in the function; 0: unknown */
};

struct stack_tree {
    struct mkperf_tree tree; /* a node's label is a number in `labels` */
    struct mkperf_hash texts, labels;
    struct stack_code *code; /* for each node where its function is */
    uint32_t code_room;
};

struct stack_label {
    enum stack_kind kind;
    uint32_t name;    /* a text */
    uint32_t pd_name; /* a text: the PD that the code belongs to */
};

void stack_tree_init(struct stack_tree *t);
void stack_tree_free(struct stack_tree *t);
/* Returns the node of a chain, which is created if it is new. */
uint32_t stack_tree_chain(struct stack_tree *t, const struct mkperf_places *s,
                          const struct mkperf_profile_chain *chain);
/* Adds the chains of an event as profile `side` (0 or 1). Chains of idle are added only if `idle` is set. */
void stack_tree_add(struct stack_tree *t, struct mkperf_profile *p, uint32_t event, unsigned side,
                    bool idle);
/* Follows the last stack_tree_add: computes the totals and sorts children by name. */
void stack_tree_finish(struct stack_tree *t);
struct stack_label stack_tree_label(const struct stack_tree *t, uint32_t node);
const char *stack_tree_text(const struct stack_tree *t, uint32_t number);

/*
 * Messages of protocol buffers in a gzip file.
 *
 * Owns: the encoding of fields. Used by pprof.c and otlp.c. A message is appended to a buffer, nested ones in their place.
 *
 *      size_t at = pb_begin(f, PROFILE_SAMPLE);   pb_number(f, 1, 7);   pb_end(f, at);
 */

struct pb_file {
    struct mkperf_textout *t; /* set by the caller; the other members are 0 at first */
    size_t n, room;
    uint8_t *byte;
    struct mkperf_hash strings; /* the table of strings, behind the empty one */
};

void pb_close(struct pb_file *f); /* writes the file, and frees all */

/* Writes a field with a number; 0 is omitted, because it is the default. */
void pb_number(struct pb_file *f, unsigned field, uint64_t v);
void pb_fixed64(struct pb_file *f, unsigned field, uint64_t v); /* 0 is omitted */
void pb_packed(struct pb_file *f, unsigned field, const uint64_t *v, size_t n);
/* Writes a string. Bytes that are not printable become '?'. An empty string is an element of a repeated field, and is
 * not omitted. */
void pb_text(struct pb_file *f, unsigned field, const char *text);
/* Begins and ends a nested message. pb_begin returns its place, which pb_end needs. */
size_t pb_begin(struct pb_file *f, unsigned field);
void pb_end(struct pb_file *f, size_t at);

/* Writes the begin and the end of a module's code, and its offset in the file: the fields from `field` on. module may
 * be NULL. */
void pb_code(struct pb_file *f, unsigned field, const struct mkperf_module *module);
/* Returns the number of a string in the table, to which it is added if it is new. The empty one has 0. */
uint64_t pb_string(struct pb_file *f, const char *text);
void pb_strings(struct pb_file *f, unsigned field); /* writes the table */
/*
 * Writes the table of locations and the table of functions. Elements have numbers from 1 on. With `ids`, the first field of an
 * element is its number. A location has a mapping, an address and lines. The mapping of a PD is its id + 2; that of the kernel is 1.
 * Each line is a message for one function, the innermost first.
 */
void pb_places(struct pb_file *f, const struct mkperf_places *s, unsigned locations,
               unsigned functions, bool ids);
/* Writes a message of two numbers, its fields 1 and 2, such as the type and the unit of values. */
void pb_pair(struct pb_file *f, unsigned field, uint64_t first, uint64_t second);

/*
 * ---- the Firefox Profiler's format ----
 *
 *     firefox.c             the profile, its threads, their tables, samples and markers
 *     firefox_counters.c    the tracks of counters
 */

/* Writes a member that is an array of n values. `put` is an expression that writes the value number i. */
#define FIREFOX_COLUMN(t, name, n, put)          \
    do {                                         \
        mkperf_json((t), "%s:[", (name));        \
        for (size_t i = 0; i < (n); i++) {       \
            mkperf_textout_put((t), ",", i > 0); \
            (put);                               \
        }                                        \
        mkperf_textout_puts((t), "],");          \
    } while (0)

/* A thread of the output: it has the samples of one PD, of one event, on one core. */
struct firefox_thread {
    uint32_t pd, event, core;
    /* While threads are listed: a chain + 1, of which the samples are in the thread */
    uint32_t chain;
};

struct firefox {
    struct mkperf_profile *c;
    struct mkperf_textout *t;
    struct firefox_thread *thread; /* by PD, then event, then core */
    uint32_t nthreads;
    uint32_t *thread_of; /* for each chain its thread */
    uint32_t *stack_of;  /* for each chain its stack in its thread + 1 */
    uint32_t *place_of;  /* for each frame of the profile its place */
    uint64_t *mark_end;  /* for each mark when its phase ends */
    unsigned notes;

    /* The current thread. */
    uint32_t pd;
    /* The texts, functions and frames of the profile that the thread uses, with its own numbers. */
    struct mkperf_hash string, func, frame;
    struct mkperf_hash stacks; /* keys: prefix + 1, frame of the profile */
    struct firefox_marker *marker;
    size_t nmarkers, marker_room;
};

/* Returns whether a thread is the first one of its PD. */
static inline bool firefox_is_main(const struct firefox *f, uint32_t thread)
{
    return thread == 0 || f->thread[thread - 1].pd != f->thread[thread].pd;
}

/* Writes the member counters. The thread of losses, if there is one, follows the listed threads. */
void firefox_counters_put(struct firefox *f);

#endif
