/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The queues that `mkperf stamp` lists in an image.
 *
 * Owns: finding them in the sections of sDDF's components, and the language of the file that describes other rings. The byte
 * behind the magic of a section is its class: net 5, serial 3, blk 2. The layout is that of sDDF 0.7.0. Sections of earlier
 * releases (0.6.0, 0366500f) have the same byte, but are shorter where their layout differs, and are refused.
 */
#ifndef MKPERF_HOST_CMD_STAMP_QUEUES_H
#define MKPERF_HOST_CMD_STAMP_QUEUES_H

#include "symbols/symbols.h"
#include "system/image_table.h"
#include "system/system.h"

/* The queues that are found, in the image, and by queue its memory region and its place there. All zeros but for the first two. */
struct mkperf_stamp_queues {
    const struct mkperf_system *system;
    struct mkperf_image *image;
    unsigned region[MKPERF_STAMP_QUEUES];
    uint64_t offset[MKPERF_STAMP_QUEUES];
};

/*
 * Adds the queues of sDDF's classes net, serial and blk that the ELFs name in their sections. path: of the .system file, for
 * messages. module: by the PDs' indices, NULL: the PD has no program. A queue between two PDs is found at either. Errors:
 * INPUT, a section of another version, or one that names memory which its PD does not map.
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
/* Prints a line about a queue of the image. */
void mkperf_stamp_queue_print(const struct mkperf_image *image, const struct mkperf_image_queue *q,
                              FILE *to);

#endif
