/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The queues that `mkperf stamp` lists in an image.
 *
 * Owns: finding them in the sections of sDDF's components, and the language of the file that describes other rings. sDDF's
 * versions are known by the byte behind the magic of a section: net 5, serial 3, blk 2.
 */
#ifndef MKPERF_HOST_CMD_STAMP_QUEUES_H
#define MKPERF_HOST_CMD_STAMP_QUEUES_H

#include "symbols/symbols.h"
#include "system/image_table.h"
#include "system/system.h"

/*
 * Adds the queues of sDDF's classes net, serial and blk that the ELFs name in their sections. module: by the PDs' indices, NULL:
 * the PD has no program. A queue between two PDs is found at either. Errors: INPUT, a section of another version, or one
 * that names memory which its PD does not map.
 */
enum mkperf_status mkperf_stamp_queues_find(const char *path, const struct mkperf_system *system,
                                            struct mkperf_module *const *module,
                                            struct mkperf_image *image, struct mkperf_error *e);

/*
 * Adds the rings that the file at `path` describes to the image, whose programs are those of the system, in its order. A line:
 *
 *   NAME region=REGION head=OFFSET tail=OFFSET bits=BITS slots=N producer=PD consumer=PD [returns]
 *
 * The offsets are those of the two indices in the memory region, in bytes. A line that is empty or begins with # is skipped.
 * Errors: INPUT, with the file, the line and the reason.
 */
enum mkperf_status mkperf_stamp_queues_read(const char *path, const struct mkperf_system *system,
                                            struct mkperf_image *image, struct mkperf_error *e);

/* Prints a line about a queue of the image. */
void mkperf_stamp_queue_print(const struct mkperf_image *image, const struct mkperf_image_queue *q,
                              FILE *to);

#endif
