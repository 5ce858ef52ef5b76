/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Messages to the host about what the profiler PD left in the session page.
 *
 * Owns: the translation from the page to the wire. Called by control.c. Strings and counts are cut
 * to their bounds: the page belongs to another PD.
 */
#include <pb_encode.h>

#include "../lib/text.h"
#include "control.h"

_Static_assert((int)MKPERF_RESULT_INTERNAL == (int)mkperf_ErrorCode_ERROR_INTERNAL, "codes");
_Static_assert((int)MKPERF_RESULT_NO_HOOK == (int)mkperf_ErrorCode_ERROR_NO_HOOK, "codes");
_Static_assert((int)MKPERF_RESULT_STATE == (int)mkperf_ErrorCode_ERROR_STATE, "codes");

static uint32_t at_most(uint32_t value, uint32_t limit)
{
    return value < limit ? value : limit;
}

static bool send(struct mkperf_client *c, uint32_t request, pb_size_t which)
{
    pb_ostream_t stream = pb_ostream_from_buffer(c->message, sizeof c->message);

    c->out.request = request;
    c->out.which_msg = which;
    return pb_encode(&stream, mkperf_ToHost_fields, &c->out) &&
           mkperf_link_send(&c->link, c->message, stream.bytes_written);
}

bool mkperf_report_hello(struct mkperf_client *c, uint32_t request)
{
    const struct mkperf_session_info *info = &c->page->info;
    mkperf_TargetHello *m = &c->out.msg.hello;

    m->protocol = MKPERF_PROTOCOL;
    m->boot_id = info->boot_id;
    struct mkperf_text platform = mkperf_text_begin(m->platform, sizeof m->platform);
    mkperf_text_put(&platform, c->platform);
    mkperf_text_copy(m->cpu, info->cpu, sizeof m->cpu);
    mkperf_text_copy(m->pmu, info->pmu, sizeof m->pmu);
    m->counters = info->counters;
    m->cores = info->cores;
    return send(c, request, mkperf_ToHost_hello_tag);
}

bool mkperf_report_session(struct mkperf_client *c, uint32_t request)
{
    const struct mkperf_session_state *s = &c->page->state;
    mkperf_Session *m = &c->out.msg.session;

    m->id = s->id;
    m->running = s->running != 0;
    m->max_frames = s->max_frames;
    m->no_jitter = s->no_jitter != 0;
    m->events_count = (pb_size_t)at_most(s->events, MKPERF_MAX_EVENTS);
    for (unsigned i = 0; i < m->events_count; i++) {
        const struct mkperf_session_event *e = &s->event[i];
        mkperf_text_copy(m->events[i].name, e->name, sizeof e->name);
        m->events[i].code = e->code;
        m->events[i].user_counter = e->user_counter;
        m->events[i].kernel_counter = e->kernel_counter;
        m->events[i].period = e->period;
        m->events[i].frequency = e->frequency;
    }
    return send(c, request, mkperf_ToHost_session_tag);
}

bool mkperf_report_status(struct mkperf_client *c, uint32_t request)
{
    const struct mkperf_session_status *s = &c->page->status;
    const struct mkperf_session_state *state = &c->page->state;
    mkperf_Status *m = &c->out.msg.status;

    m->session = state->id;
    m->running = state->running != 0;
    m->captured = s->captured;
    m->sent = c->encoder.sent;
    m->lost_ring = s->lost_ring;
    m->lost_output = s->lost_output;
    m->lost_link = 0; /* this transport takes its time and loses nothing */
    m->late_events = s->late_events;
    m->spurious = s->spurious;
    m->corrupt = s->corrupt + c->corrupt;
    m->bad_frames = c->link.bad_frames;
    m->wakeups = s->wakeups;
    m->period_count = (pb_size_t)at_most(state->events, MKPERF_MAX_EVENTS);
    for (unsigned i = 0; i < m->period_count; i++) {
        m->period[i] = s->period[i];
    }
    return send(c, request, mkperf_ToHost_status_tag);
}

bool mkperf_report_events(struct mkperf_client *c, uint32_t request)
{
    const struct mkperf_session_list *list = &c->page->list;
    mkperf_Events *m = &c->out.msg.events;

    m->more = list->more != 0;
    m->events_count = (pb_size_t)at_most(list->events, MKPERF_LIST_EVENTS);
    for (unsigned i = 0; i < m->events_count; i++) {
        mkperf_EventInfo *e = &m->events[i];
        mkperf_text_copy(e->name, list->event[i].name, sizeof e->name);
        mkperf_text_copy(e->description, list->event[i].description, sizeof e->description);
        e->code = list->event[i].code;
        e->supported = list->event[i].supported != 0;
    }
    return send(c, request, mkperf_ToHost_events_tag);
}

bool mkperf_report_ack(struct mkperf_client *c, uint32_t request)
{
    return send(c, request, mkperf_ToHost_ack_tag);
}

static bool report_error(struct mkperf_client *c, uint32_t request, uint32_t code, uint32_t event,
                         const char *text, size_t n)
{
    mkperf_Error *m = &c->out.msg.error;

    if (request == 0) {
        return true; /* no answer wanted */
    }
    m->code = (mkperf_ErrorCode)code;
    m->event = event;
    mkperf_text_copy(m->text, text, n < sizeof m->text ? n : sizeof m->text);
    return send(c, request, mkperf_ToHost_error_tag);
}

bool mkperf_report_error(struct mkperf_client *c, uint32_t request, uint32_t code, const char *text)
{
    size_t n = 1;

    while (text[n - 1] != '\0' && n < MKPERF_TEXT_BYTES) {
        n++;
    }
    return report_error(c, request, code, 0, text, n);
}

bool mkperf_report_refusal(struct mkperf_client *c, uint32_t request, uint32_t result)
{
    const struct mkperf_session_error *e = &c->page->error;

    if (e->code != result) {
        return mkperf_report_error(c, request, mkperf_ErrorCode_ERROR_INTERNAL,
                                   "the profiler PD refused and gave no reason");
    }
    return report_error(c, request, e->code, e->event, e->text, sizeof e->text);
}
