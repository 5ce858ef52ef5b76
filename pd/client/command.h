/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Lines of text that control the profiler (include/mkperf/text_commands.h has the language).
 *
 * Owns: the settings that are valid from the next `start`. Called by control.c for Command messages
 * and for plain text, and by mark.c for applications. A line that is refused has no effect.
 */
#ifndef MKPERF_COMMAND_H
#define MKPERF_COMMAND_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include <mkperf/session.h>

struct mkperf_client;
struct mkperf_peer;

struct mkperf_settings {
    bool timer; /* cycles are sampled, each period_us */
    bool sched; /* The session has scheduling events, with samples or without. */
    uint32_t period_us;
    uint32_t depth;
    uint32_t core_bytes; /* 0: the largest size */
    uint32_t output_bytes;
    uint32_t events; /* number of events in addition to the timer */
    mkperf_EventSpec event[MKPERF_MAX_EVENTS - 1];
};

void mkperf_command_defaults(struct mkperf_settings *s);

/* Executes a line of at most n bytes, which ends there or at a NUL, and answers. */
void mkperf_command(struct mkperf_peer peer, const char *text, size_t n);

/* Configures the settings and starts a session, for `start` and for applications. If the settings
 * are unchanged, the configuration of a host is used. Returns an enum mkperf_session_result. */
uint32_t mkperf_command_start(struct mkperf_client *c);

#endif
