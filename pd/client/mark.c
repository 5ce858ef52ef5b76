/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * An application's calls: sessions and marks (include/mkperf/client.h).
 *
 * Owns: nothing. Called by the client PD's main for its protected entry point. Applications may
 * start and stop sessions, whichever host controls; their words are not trusted.
 */
#include <mkperf/client.h>

#include "control.h"

#include "../lib/text.h"

/* A name from message words, cut, with text characters only. */
static void take_text(char *to, const uint64_t *words)
{
    for (unsigned i = 0; i < MKPERF_APP_NAME_BYTES; i++) {
        char c = (char)(words[i / 8] >> 8 * (i % 8));
        to[i] = c == '\0' || (c >= ' ' && c <= '~') ? c : '?';
    }
    to[MKPERF_APP_NAME_BYTES - 1] = '\0';
}

/* False: the words are invalid. */
static bool make_mark(const struct mkperf_client *c, const uint64_t *words, mkperf_Mark *out)
{
    mkperf_Mark m = {
        .session = c->running ? c->page->session.id : 0,
        .tick_hz = mkperf_client_hz(c),
        .time_ticks = c->clock != NULL ? c->clock() : c->encoder.last_time,
        .kind = (mkperf_MarkKind)(words[0] >> 32),
        .id = (uint32_t)words[0],
    };

    if (words[0] >> 32 > MKPERF_MARK_END) {
        return false;
    }
    if (c->clock == NULL) {
        m.tick_hz = c->encoder.tick_hz;
    }
    take_text(m.name, words + 1);
    take_text(m.pd, words + 1 + MKPERF_APP_NAME_BYTES / 8);
    *out = m;
    return true;
}

static uint32_t mark(struct mkperf_client *c, const uint64_t *words)
{
    mkperf_Mark m;

    if (!make_mark(c, words, &m)) {
        return MKPERF_APP_MALFORMED;
    }
    mkperf_report_mark(c, &m);
    return MKPERF_APP_OK;
}

/* The mark is stored with the recording, and sent with each dump. */
static uint32_t hold(struct mkperf_client *c, const uint64_t *words)
{
    mkperf_Mark m;

    if (!make_mark(c, words, &m)) {
        return MKPERF_APP_MALFORMED;
    }
    if (c->call(MKPERF_OP_HOLD) != MKPERF_RESULT_OK) {
        return MKPERF_APP_REFUSED;
    }
    c->trigger = m;
    c->trigger_there = true;
    return MKPERF_APP_OK;
}

uint32_t mkperf_client_app(struct mkperf_client *c, uint64_t label, const uint64_t *words,
                           unsigned n)
{
    if (label == MKPERF_APP_START) {
        if (mkperf_control_active(c)) {
            return MKPERF_APP_OK;
        }
        return !c->stopping && mkperf_command_start(c) == MKPERF_RESULT_OK ? MKPERF_APP_OK
                                                                           : MKPERF_APP_REFUSED;
    }
    if (label == MKPERF_APP_STOP) {
        if (mkperf_control_active(c)) {
            mkperf_control_stop(c, MKPERF_NOBODY, 0);
        }
        return MKPERF_APP_OK;
    }
    if (label == MKPERF_APP_RUNS) {
        return mkperf_control_active(c) ? MKPERF_APP_OK : MKPERF_APP_REFUSED;
    }
    if (label == MKPERF_APP_DUMP && n == MKPERF_APP_MARK_WORDS) {
        return hold(c, words);
    }
    return label == MKPERF_APP_MARK && n == MKPERF_APP_MARK_WORDS ? mark(c, words)
                                                                  : MKPERF_APP_MALFORMED;
}
