/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The tables for unwinding that `mkperf stamp` writes into the profiler PD (include/mkperf/unwind.h).
 *
 * Owns: which programs get a table, and the tables' bytes.
 */
#ifndef MKPERF_HOST_CMD_STAMP_UNWIND_H
#define MKPERF_HOST_CMD_STAMP_UNWIND_H

#include <mkperf/unwind.h>

#include "symbols/symbols.h"
#include "system/image_table.h"

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
