/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Lines of text that control the profiler: docs/protocol.md, "Commands".
 *
 * Owns: the words, and the settings that are valid from the next `start`. Called by control.c for
 * Command messages and for plain text. A line is parsed as a whole before it has any effect.
 */
#ifndef MKPERF_COMMAND_H
#define MKPERF_COMMAND_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include <mkperf/session.h>

struct mkperf_client;

enum mkperf_command_limits {
    MKPERF_COMMAND_BYTES = 160, /* longest line */
    MKPERF_COMMAND_WORDS = 24,
    MKPERF_TIMER_MIN_US = 10,
    MKPERF_TIMER_MAX_US = 1000000,
};

struct mkperf_settings {
    bool timer; /* sample on cycles, each period_us */
    bool sched; /* scheduling events, with samples or without */
    uint32_t period_us;
    uint32_t depth;
    uint32_t core_bytes; /* 0: the largest size */
    uint32_t output_bytes;
    uint32_t events; /* number of events in addition to the timer */
    mkperf_EventSpec event[MKPERF_MAX_EVENTS - 1];
};

void mkperf_command_defaults(struct mkperf_settings *s);

/* Executes a line of at most n bytes, which ends there or at a NUL, and answers. */
void mkperf_command(struct mkperf_client *c, unsigned who, uint32_t request, const char *text,
                    size_t n);

/* Configures the settings and starts a session, for `start` and for applications. If the settings
 * are unchanged, the configuration of a host is used. Returns an enum mkperf_session_result. */
uint32_t mkperf_command_start(struct mkperf_client *c);

/* events.c: one word of `events LIST`; false: not understood. period_us: the default's. */
bool mkperf_command_event(const char *word, uint32_t period_us, mkperf_EventSpec *out);
/* Parses a word that has only digits, or with `any` also 0x... False: no number, or above max. */
bool mkperf_command_number(const char *word, bool any, uint64_t max, uint64_t *out);
bool mkperf_command_same(const char *a, const char *b);

#endif
