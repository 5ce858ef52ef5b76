/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The client PD without its platform: the control protocol, and records to frames.
 *
 * Owns: struct mkperf_client. main.c feeds it bytes and takes bytes from it; the profiler PD is
 * reached through a function pointer and the session page. Host-testable.
 *
 * Back-pressure: while the link has no room, records stay in the output ring; when that is full,
 * the profiler PD counts what it cannot deliver. Nothing waits, and nothing is lost here.
 */
#ifndef MKPERF_CONTROL_H
#define MKPERF_CONTROL_H

#include <stdbool.h>
#include <stdint.h>

#include <mkperf/ring.h>
#include <mkperf/session.h>

#include "mkperf.pb.h"

#include "encode.h"
#include "link.h"

struct mkperf_client {
    /* Set before mkperf_client_init. */
    const char *platform;
    struct mkperf_session_page *page;
    struct mkperf_ring_consumer ring; /* the output ring */
    uint32_t (*call)(uint32_t op);    /* a protected call: enum mkperf_session_op in, _result out */

    struct mkperf_encoder encoder;
    struct mkperf_link link;
    mkperf_ToTarget in;
    mkperf_ToHost out;
    uint8_t message[MKPERF_CONTENT_BYTES];

    bool running;   /* a session was started and its end is not sent yet */
    bool stopping;  /* by request stop_request: Status follows the last batch */
    bool new_epoch; /* begin one before the next batch */
    bool announce;  /* send hello and session before the next batch */
    bool listing;   /* for request list_request, from list_next on */
    uint32_t stop_request;
    uint32_t list_request;
    uint32_t list_next;
    uint64_t corrupt;     /* records that made no sense */
    uint64_t status_time; /* ticks: of the last unasked status */
};

/* Prepares the client; everything but the four fields above is zero before. */
void mkperf_client_init(struct mkperf_client *c);

/* One byte from the host; a message that it completes is carried out and answered. */
void mkperf_client_byte(struct mkperf_client *c, uint8_t byte);

/* Moves records from the output ring into frames, as far as the link has room. A batch that is not
 * full is sent when the ring is empty. Bounded by the link's queue. */
void mkperf_client_pump(struct mkperf_client *c);

/* report.c: messages about the profiler's page. Each is queued, or not if the link has no room; it
 * returns whether it was. */
bool mkperf_report_hello(struct mkperf_client *c, uint32_t request);
bool mkperf_report_session(struct mkperf_client *c, uint32_t request);
bool mkperf_report_status(struct mkperf_client *c, uint32_t request);
bool mkperf_report_events(struct mkperf_client *c, uint32_t request); /* what LIST gave */
bool mkperf_report_ack(struct mkperf_client *c, uint32_t request);
/* Errors go out only where a request asked (request != 0). */
bool mkperf_report_error(struct mkperf_client *c, uint32_t request, uint32_t code,
                         const char *text);
/* The error in the page, which a call left that returned `result`. */
bool mkperf_report_refusal(struct mkperf_client *c, uint32_t request, uint32_t result);

#endif
