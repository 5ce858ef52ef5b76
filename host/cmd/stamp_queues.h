/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The queues that `mkperf stamp` lists in an image.
 *
 * Owns: finding them, and the language of the file that describes other rings than sDDF's.
 */
#ifndef MKPERF_HOST_CMD_STAMP_QUEUES_H
#define MKPERF_HOST_CMD_STAMP_QUEUES_H

#include "system/image_table.h"
#include "system/system.h"

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

#endif
