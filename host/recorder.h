/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * A recording: a source, the decoder, the output, and the conversation with the target.
 *
 * Owns: requests and their answers, the order of a recording. Called by `mkperf record`, which
 * owns what is printed.
 */
#ifndef MKPERF_HOST_RECORDER_H
#define MKPERF_HOST_RECORDER_H

#include "decode/wire.h"
#include "decode/wire_stream.h"
#include "options.h"
#include "sink/outfile.h"
#include "sink/perfdata.h"
#include "source/source.h"

enum { MKPERF_RECORDER_READ = 64 * 1024 };

struct mkperf_recorder {
    const struct mkperf_record_options *options;
    struct mkperf_source source;
    struct mkperf_receiver receiver;
    struct mkperf_symbols *symbols;
    struct mkperf_pds *pds;
    struct mkperf_stream *stream;
    struct mkperf_perfdata *perfdata;
    struct mkperf_outfile raw; /* path NULL: none */
    uint16_t sequence;         /* of the next frame to the target */
    uint32_t request;          /* the last one sent */
    bool answered;
    mkperf_ToHost answer; /* to it */
    double heard_s;       /* host time of the last byte */
    double asked_s;       /* of the last request that keeps the conversation going */
    double synced_s;
    uint8_t buffer[MKPERF_RECORDER_READ];
    /* To the command: */
    void (*text)(void *self, const char *p, size_t n);
    void (*progress)(void *self); /* after every read, and at least ten times a second */
    volatile int *stop;           /* not 0: the user wants an end */
    void *self;
};

double mkperf_now_s(void); /* host time, monotonic */

/* One wait of at most timeout_ms and all that arrived. LINK: the end of the source. */
enum mkperf_status mkperf_recorder_pump(struct mkperf_recorder *r, int timeout_ms,
                                        struct mkperf_error *e);

/*
 * For conversations that are not recordings (perfdata NULL, the stream's sink without functions).
 * mkperf_recorder_ask sends m, again until it is answered; the answer is in r->answer, an Error
 * from the target, too. SILENT: no answer in time.
 */
enum mkperf_status mkperf_recorder_greet(struct mkperf_recorder *r, struct mkperf_error *e);
enum mkperf_status mkperf_recorder_ask(struct mkperf_recorder *r, mkperf_ToTarget *m,
                                       const char *what, struct mkperf_error *e);
/* REFUSED with the target's reason, if that is what r->answer holds. */
enum mkperf_status mkperf_recorder_refused(const struct mkperf_recorder *r, struct mkperf_error *e);

/* Hello, Configure, Start. Errors: SILENT, NOISE, PROTOCOL, REFUSED, LINK. */
enum mkperf_status mkperf_recorder_start(struct mkperf_recorder *r, struct mkperf_error *e);

/* Takes in samples until the duration is over or the user stops it. */
enum mkperf_status mkperf_recorder_run(struct mkperf_recorder *r, struct mkperf_error *e);

/* Stop, and what is still on its way, for at most 3 s. */
enum mkperf_status mkperf_recorder_stop(struct mkperf_recorder *r, struct mkperf_error *e);

/* Reads a capture to its end. */
enum mkperf_status mkperf_recorder_replay(struct mkperf_recorder *r, struct mkperf_error *e);

extern const struct mkperf_receiver_ops mkperf_recorder_ops; /* for r->receiver, self = r */
/* For r->stream's config, self = r. */
enum mkperf_status mkperf_recorder_control(void *self, const mkperf_ToHost *m,
                                           struct mkperf_error *e);

#endif
