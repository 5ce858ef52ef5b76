/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The commands of mkperf.
 *
 * Owns: the description of each command. commands.c has them in a table. main calls the command with argv[0] set to its
 * name. The status of the command (enum mkperf_status) is the exit status of the process.
 */
#ifndef MKPERF_HOST_CMD_CMD_H
#define MKPERF_HOST_CMD_CMD_H

#include "help/help.h"
#include "system/system.h"
#include <mkperf/unwind.h>
#include <mkperf/version.h>

/* Returns the command of that name, or NULL if there is none. */
const struct mkperf_command *mkperf_command_by_name(const char *name);

/* All commands, in the order in which they are shown. */
/* clang-format off */
#define MKPERF_COMMANDS(X) \
    X(record) X(stat) X(exact) X(dump) X(list) X(top) X(console) \
    X(explain) X(report) X(latency) X(budget) X(flow) X(annotate) X(script) X(diff) X(view) \
    X(convert) X(toperf) X(kprof2perf) X(recover) X(stamp) X(selftest) X(agent) X(mcp) X(help)
/* clang-format on */
#define MKPERF_COMMAND_DECLARED(name) extern const struct mkperf_command mkperf_##name##_command;
MKPERF_COMMANDS(MKPERF_COMMAND_DECLARED)

/* Reports an unknown command and suggests the most similar one. Returns the exit status. */
int mkperf_no_command(const char *name);

/*
 * The queues that `mkperf stamp` lists in an image.
 *
 * Owns: finding them in the sections of sDDF's components, and the language of the file that describes other rings. The byte
 * behind the magic of a section is its class: net 5, serial 3, blk 2. The layout is that of sDDF 0.7.0. Sections of earlier
 * releases (0.6.0, 0366500f) have the same byte, but are shorter where their layout differs, and are refused.
 */

/* The queues that were found in the image, and for each queue its memory region and its place in it. Before the search,
 * all members are zero except the first two. */
struct mkperf_stamp_queues {
    const struct mkperf_system *system;
    struct mkperf_image *image;
    unsigned region[MKPERF_STAMP_QUEUES];
    uint64_t offset[MKPERF_STAMP_QUEUES];
};

/*
 * Adds the queues of sDDF's classes net, serial and blk that the ELFs name in their sections. path: that of the .system
 * file, for messages. module: by the PDs' indices, NULL: the PD has no program. A queue between two PDs is found at
 * either. Errors: INPUT, a section of another version, or one that names memory which its PD does not map.
 */
enum mkperf_status mkperf_stamp_queues_find(struct mkperf_stamp_queues *q, const char *path,
                                            struct mkperf_module *const *module,
                                            struct mkperf_error *e);

/*
 * Adds the rings that the file at `path` describes. A line:
 *
 *   NAME region=REGION head=OFFSET tail=OFFSET bits=BITS slots=N producer=PD consumer=PD [returns]
 *
 * The offsets are those of the two indices in the memory region, in bytes. A line that is empty or begins with # is skipped.
 * Errors: INPUT, with the file, the line and the reason.
 */
enum mkperf_status mkperf_stamp_queues_read(struct mkperf_stamp_queues *q, const char *path,
                                            struct mkperf_error *e);

/* Prints <map> elements for the profiler PD, one for each memory region of a queue. They are in one line without an end. */
void mkperf_stamp_queue_maps(const struct mkperf_stamp_queues *q, FILE *to);

/*
 * The tables for unwinding that `mkperf stamp` writes into the profiler PD (include/mkperf/unwind.h).
 *
 * Owns: which programs get a table, and the tables' bytes.
 */

enum mkperf_stamp_unwind_wish {
    MKPERF_UNWIND_AUTO, /* the programs that save return addresses without a frame pointer */
    MKPERF_UNWIND_ALL,  /* all with call-frame information */
    MKPERF_UNWIND_NO,
};

struct mkperf_stamp_unwind {
    uint8_t bytes[MKPERF_UNWIND_BYTES];
    uint32_t size; /* used bytes, 0: no program has a table */
    unsigned pds;  /* that have a table */
    uint64_t text; /* bytes of code of their programs */
};

/* Makes the tables of an image's programs. module: by their indices, NULL: without a program. A program whose table is needed
 * and cannot be made is named in a line on standard error: its chains end early. */
void mkperf_stamp_unwind_make(struct mkperf_stamp_unwind *u, const struct mkperf_image *image,
                              struct mkperf_module *const *module,
                              enum mkperf_stamp_unwind_wish wish);

#endif
