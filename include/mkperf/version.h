/* SPDX-License-Identifier: BSD-2-Clause */
/* The version of both halves. */
#ifndef MKPERF_VERSION_H
#define MKPERF_VERSION_H

#define MKPERF_VERSION "0.1.0"
#define MKPERF_VERSION_DATE "2026-11-21" /* for man pages */

#endif
