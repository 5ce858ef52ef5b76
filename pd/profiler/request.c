/* SPDX-License-Identifier: BSD-2-Clause */
/* Copies of the client PD's requests, and refusals of them: see plan.h. */
#include "plan.h"

#include <mkperf/event_attributes.h>

mkperf_Error mkperf_refusal;

bool mkperf_refuse(uint32_t code, uint32_t event, const char *text, ...)
{
    struct mkperf_text t = mkperf_text_begin(mkperf_refusal.text, sizeof mkperf_refusal.text);
    va_list values;

    mkperf_refusal.code = (mkperf_ErrorCode)code;
    mkperf_refusal.event = event;
    va_start(values, text);
    mkperf_text_vprint(&t, text, values);
    va_end(values);
    return false;
}

bool mkperf_check_rules(const struct mkperf_rule *rule, unsigned n, const char *event)
{
    for (unsigned i = 0; i < n; i++) {
        if (rule[i].broken) {
            return mkperf_refuse(rule[i].code, rule[i].event, rule[i].text, event);
        }
    }
    return true;
}

static void make_bool(bool *b)
{
    *b = mkperf_page_bool(b);
}

static bool refuse_list(void)
{
    return mkperf_refuse(MKPERF_RESULT_MALFORMED, 0,
                         "a list of the request is longer than a request can hold");
}

bool mkperf_request_take(struct mkperf_session_request *out, const struct mkperf_session_page *page)
{
    mkperf_Configure *c = &out->configure;

    *out = *(const volatile struct mkperf_session_request *)&page->request;
    if (c->events_count > MKPERF_MAX_EVENTS || c->only_count > MKPERF_MAX_FILTERS ||
        c->dump_on_fault_count > MKPERF_MAX_FAULTS || c->stop_if_count > MKPERF_MAX_STOPS ||
        c->words_count > MKPERF_MAX_WORDS) {
        return refuse_list();
    }
    bool *const bools[] = {
        &c->no_jitter,    &c->restart, &c->per_pd,  &c->check,   &c->overwrite,
        &c->interactions, &c->sched,   &c->latency, &c->off_cpu,
    };
    for (unsigned i = 0; i < sizeof bools / sizeof *bools; i++) {
        make_bool(bools[i]);
    }
    for (unsigned i = 0; i < MKPERF_MAX_EVENTS; i++) {
        mkperf_EventSpec *e = &c->events[i];
        e->name[sizeof e->name - 1] = '\0';
#define MAKE_BOOL(letter, field, of_group, meaning) make_bool(&e->field);
        MKPERF_EVENT_MODIFIERS(MAKE_BOOL)
        make_bool(&e->count);
    }
    return true;
}

bool mkperf_request_take_observe(mkperf_Observe *out, const struct mkperf_session_page *page)
{
    *out = *(const volatile mkperf_Observe *)&page->observe;
    if (out->site_count > MKPERF_ROOM(mkperf_Observe, site) ||
        out->stack_count > MKPERF_OBSERVE_WINDOWS ||
        out->call_count > MKPERF_ROOM(mkperf_Observe, call)) {
        return refuse_list();
    }
    make_bool(&out->limited);
    return true;
}
