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

/* Copies a name from message words. A name that is too long is cut, and characters that are no text
 * are replaced. */
static void take_text(char *to, const uint64_t *words)
{
    for (unsigned i = 0; i < MKPERF_APP_NAME_BYTES; i++) {
        char c = (char)(words[i / 8] >> 8 * (i % 8));
        to[i] = c == '\0' || (c >= ' ' && c <= '~') ? c : '?';
    }
    to[MKPERF_APP_NAME_BYTES - 1] = '\0';
}

/* Makes a mark of MKPERF_APP_MARK_WORDS words. False: they are invalid. */
static bool make_mark(struct mkperf_client *c, const uint64_t *words, mkperf_Mark *out)
{
    *out = (mkperf_Mark){
        .session = c->running ? c->page->session.id : 0,
        .tick_hz = c->clock != NULL ? c->clock_hz : c->encoder.tick_hz,
        .time_ticks = c->clock != NULL ? c->clock() : c->encoder.last_time,
        .kind = (mkperf_MarkKind)(words[0] >> 32),
        .id = (uint32_t)words[0],
    };
    take_text(out->name, words + 1);
    take_text(out->pd, words + 1 + MKPERF_APP_NAME_BYTES / 8);
    return words[0] >> 32 <= MKPERF_MARK_END;
}

uint32_t mkperf_client_app(struct mkperf_client *c, uint64_t label, const uint64_t *words,
                           unsigned n)
{
    bool active = mkperf_control_active(c);
    bool done = true;
    mkperf_Mark mark;

    if (label == MKPERF_APP_START) {
        done = active || (!c->stopping && mkperf_command_start(c) == MKPERF_RESULT_OK);
    } else if (label == MKPERF_APP_STOP) {
        if (active) {
            mkperf_control_stop(c, MKPERF_NOBODY, 0);
        }
    } else if (label == MKPERF_APP_RUNS) {
        done = active;
    } else if ((label != MKPERF_APP_MARK && label != MKPERF_APP_DUMP) ||
               n != MKPERF_APP_MARK_WORDS || !make_mark(c, words, &mark)) {
        return MKPERF_APP_MALFORMED;
    } else if (label == MKPERF_APP_MARK) {
        mkperf_report_mark(c, &mark);
    } else { /* The mark is stored with the recording, and sent with each dump. */
        done = c->call(MKPERF_OP_HOLD) == MKPERF_RESULT_OK;
        c->trigger = done ? mark : c->trigger;
        c->trigger_there |= done;
    }
    return done ? MKPERF_APP_OK : MKPERF_APP_REFUSED;
}
