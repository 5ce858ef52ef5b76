/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * mkperf view of a running target: samples as they arrive.
 *
 * Owns: the session with the target, and the profile that grows. All samples are kept in a temporary
 * file (base/spool.h); a page gets the newest VIEW_LIVE_SAMPLES and the
 * number of older ones, which it shows. Between reads the server answers requests.
 */
#ifndef MKPERF_HOST_VIEW_LIVE_H
#define MKPERF_HOST_VIEW_LIVE_H

#include "annotate/annotate.h"
#include "http_server.h"
#include "link/recorder.h"
#include "profile/frames.h"

enum { VIEW_LIVE_SAMPLES = 200000, VIEW_LIVE_LOSSES = 1000 };

struct view_live {
    volatile int *interrupts;        /* set before: not 0 ends it */
    struct mkperf_recorder recorder; /* its options: set before */
    struct mkperf_profile profile;
    struct mkperf_frames frames;
    struct annotate_sources sources;
    struct view_server *server;
};

/* Runs until it is interrupted or the session ends, with a server that was started. Errors: those
 * of mkperf_recorder_run and its kin. Free it in any case. */
enum mkperf_status view_live_run(struct view_live *l, struct view_server *server,
                                 struct mkperf_error *e);
void view_live_free(struct view_live *l);

/* For the server. */
struct page_bytes view_live_data(struct view_live *l);

#endif
