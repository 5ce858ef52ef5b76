/* SPDX-License-Identifier: BSD-2-Clause */
/* Owns: the start of a flight recording (`mkperf record --overwrite`), and the reason of its end; see
 * recorder.h. */
#include "recorder.h"

#include <mkperf/session.h>

static enum mkperf_status begin_flight(struct mkperf_recorder *r, struct mkperf_error *e)
{
    const struct mkperf_record_options *o = &r->options;
    mkperf_Configure *c = &r->options.configure;
    mkperf_ToTarget stop = {.which_msg = mkperf_ToTarget_stop_tag};

    if (mkperf_recorder_talk(r, NULL, NULL, e) != MKPERF_OK ||
        mkperf_filter(o->pd, o->subtree, r->pds, c, e) != MKPERF_OK ||
        mkperf_filter_faults(o->dump_on_fault, r->pds, c, e) != MKPERF_OK ||
        mkperf_recorder_begin(r, e) != MKPERF_OK) {
        return e->status;
    }
    if (r->link.answer.which_msg != mkperf_ToHost_session_tag ||
        !r->link.answer.msg.session.overwrite) {
        (void)mkperf_recorder_ask(r, &stop, "Stop", e);
        return mkperf_error_set(e, MKPERF_ERR_REFUSED,
                                "%s: the target's build has no flight recorder", o->link.target);
    }
    return MKPERF_OK;
}

static void say_warning(void *self, const char *text)
{
    (void)self;
    fprintf(stderr, "mkperf: %s\n", text);
}

enum mkperf_status mkperf_flight_start(struct mkperf_recorder *r, struct mkperf_error *e)
{
    const struct mkperf_record_options *o = &r->options;

    r->notice = say_warning;
    e->status = MKPERF_OK;
    if (begin_flight(r, e) == MKPERF_OK && !o->quiet) {
        uint32_t bytes = o->configure.overwrite_bytes != 0 ? o->configure.overwrite_bytes
                                                           : MKPERF_OUTPUT_RING_BYTES;
        fprintf(stderr,
                "mkperf: %s: the flight recorder runs and stores the last %" PRIu32
                " KiB of %s; mkperf dump -t %s fetches them\n",
                o->link.target, bytes / 1024,
                o->configure.events_count != 0 ? "samples" : "scheduling events", o->link.target);
    }
    return e->status;
}

const char *mkperf_flight_reason(const mkperf_Status *status, struct mkperf_pds *pds, char *text,
                                 size_t n)
{
    text[0] = '\0';
    if (status->flight == mkperf_FlightState_FLIGHT_HELD) {
        switch (status->trigger) {
        case mkperf_FlightTrigger_FLIGHT_FAULT:
            snprintf(text, n, "ended by a fault of %s",
                     mkperf_pds_at(pds, mkperf_pds_find(pds, status->trigger_thread - 2))->name);
            break;
        case mkperf_FlightTrigger_FLIGHT_MARK:
            snprintf(text, n, "ended by an application's mark");
            break;
        default:
            snprintf(text, n, "ended by a stop");
        }
    }
    return text;
}
