/* SPDX-License-Identifier: BSD-2-Clause */
/* The stamp of this image (mkperf/stamp.h): reserved in the client PD's ELF, written by `mkperf
 * stamp` after linking. */
#ifndef MKPERF_CLIENT_STAMP_H
#define MKPERF_CLIENT_STAMP_H

#include <stdint.h>

#include <mkperf/stamp.h>

extern const uint8_t mkperf_stamp[MKPERF_STAMP_BYTES];

#endif
