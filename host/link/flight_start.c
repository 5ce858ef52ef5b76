/* SPDX-License-Identifier: BSD-2-Clause */
/* Owns: see flight_start.h. */
#include "flight_start.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <mkperf/session.h>

#include "pd_choice.h"
#include "pmu/events.h"

static const struct mkperf_option options[] = {
    {.name = "overwrite",
     .help = "flight recorder: the newest samples stay on the target and nothing is sent before "
             "mkperf dump asks; record returns at once",
     .store = MKPERF_SETS(struct mkperf_record_options, configure.overwrite)},
    {.id = 'm',
     .name = "mmap-pages",
     .value = "SIZE",
     .help = "with --overwrite, so much memory for them: a power of two, with B, K or M behind it "
             "or in pages of 4 KiB (default and at most %dK)",
     .number = MKPERF_OUTPUT_RING_BYTES / 1024},
    {.name = "dump-on-fault",
     .value = "NAME[,NAME]",
     .help = "with --overwrite: a fault of one of these PDs ends the recording and keeps it",
     .store = MKPERF_TEXT(struct mkperf_record_options, dump_on_fault)},
    {.name = "interactions",
     .help = "count context switches, faults, protected calls and notifications, by PD and by who "
             "reached whom: mkperf report --interactions",
     .store = MKPERF_SETS(struct mkperf_record_options, configure.interactions)},
    {.name = "sched",
     .help = "record scheduling events: mkperf latency, perf sched; without -e, -c and -F nothing "
             "is sampled beside them",
     .store = MKPERF_SETS(struct mkperf_record_options, configure.sched)},
    {.name = "off-cpu",
     .help =
         "with the callchain of each thread that stops to wait, and for how long: mkperf report "
         "--off-cpu; implies --sched",
     .store = MKPERF_SETS(struct mkperf_record_options, configure.off_cpu)},
    {.id = 0},
};

/* -m */
static enum mkperf_status set_size(void *self, const struct mkperf_given *g)
{
    struct mkperf_record_options *o = self;
    char *end;
    uint64_t size = strtoull(g->value, &end, 10);
    uint64_t unit = strcmp(end, "B") == 0   ? 1
                    : strcmp(end, "K") == 0 ? 1024
                    : strcmp(end, "M") == 0 ? 1 << 20
                    : *end == '\0'          ? 4096
                                            : 0;

    if (end == g->value || g->value[0] == '-' || size > MKPERF_OUTPUT_RING_BYTES || unit == 0 ||
        !mkperf_ring_size_ok(size * unit) || size * unit > MKPERF_OUTPUT_RING_BYTES) {
        return mkperf_given_bad(g, "a power of two, from 4K to 512K");
    }
    o->configure.overwrite_bytes = (uint32_t)(size * unit);
    return MKPERF_OK;
}

const struct mkperf_option_group mkperf_flight_options = {options, set_size};

enum mkperf_status mkperf_flight_check(const struct mkperf_record_options *o,
                                       struct mkperf_error *e)
{
    if (!o->configure.overwrite && (o->dump_on_fault != NULL || o->configure.overwrite_bytes)) {
        return mkperf_usage_error(e, "record", "--dump-on-fault and -m are for --overwrite");
    }
    if (o->configure.overwrite && (o->duration_s > 0 || o->link.watch || o->raw != NULL)) {
        return mkperf_usage_error(e, "record",
                                  "--overwrite begins a recording that mkperf dump fetches: no "
                                  "--duration, --watch or --raw");
    }
    return MKPERF_OK;
}

static enum mkperf_status begin(struct mkperf_recorder *r, struct mkperf_error *e)
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
    if (begin(r, e) == MKPERF_OK && !o->quiet) {
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
