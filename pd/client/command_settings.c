/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Owns: the commands that change or list the settings for the next `start`, see command.h. Called
 * by command.c. A refused command has no effect.
 */
#include "command_line.h"

enum { DEFAULT_US = 1000, DEFAULT_DEPTH = 16 };

void mkperf_command_defaults(struct mkperf_settings *s)
{
    *s = (struct mkperf_settings){.period_us = DEFAULT_US, .depth = DEFAULT_DEPTH};
}

static const char timer_usage[] = "usage: timer {{all, N} {on, off}, period USEC}\n";

static bool timer_period(struct mkperf_line *l)
{
    uint64_t us;

    if (!mkperf_command_number(l->word[2], false, MKPERF_TIMER_MAX_US, &us) ||
        us < MKPERF_TIMER_MIN_US) {
        return mkperf_line_refuse(l, "timer period USEC: from 10 to 1000000\n");
    }
    l->c->settings.period_us = (uint32_t)us;
    return true;
}

bool mkperf_settings_timer(struct mkperf_line *l)
{
    uint64_t core = 0;

    if (l->words != 3) {
        return mkperf_line_refuse(l, timer_usage);
    }
    if (mkperf_command_same(l->word[1], "period")) {
        return timer_period(l);
    }
    bool on = mkperf_command_same(l->word[2], "on");
    if (!on && !mkperf_command_same(l->word[2], "off")) {
        return mkperf_line_refuse(l, "timer needs on|off\n");
    }
    if (!mkperf_command_same(l->word[1], "all")) {
        if (!mkperf_command_number(l->word[1], false, UINT32_MAX, &core)) {
            return mkperf_line_refuse(l, timer_usage);
        }
        if (core >= l->c->page->hello.cores) {
            mkperf_line_put(l, "No such coreid ");
            mkperf_line_number(l, "", core, "\n");
            return false;
        }
    }
    l->c->settings.timer = on;
    return true;
}

bool mkperf_settings_sched(struct mkperf_line *l)
{
    bool on = l->words == 2 && mkperf_command_same(l->word[1], "on");

    if (!on && (l->words != 2 || !mkperf_command_same(l->word[1], "off"))) {
        return mkperf_line_refuse(l, "usage: sched {on, off}\n");
    }
    l->c->settings.sched = on;
    return true;
}

/* A ring's size: the largest power of two that is not above KB. */
static bool ring_size(struct mkperf_line *l, uint32_t max, uint32_t *out)
{
    uint32_t size = MKPERF_RING_MIN_BYTES;
    uint64_t kb;

    if (l->words != 2 || !mkperf_command_number(l->word[1], true, UINT32_MAX, &kb) ||
        kb * 1024 < MKPERF_RING_MIN_BYTES || kb * 1024 > max) {
        mkperf_line_put(l, "usage: ");
        mkperf_line_put(l, l->word[0]);
        mkperf_line_number(l, " KB, from ", MKPERF_RING_MIN_BYTES / 1024, " to ");
        mkperf_line_number(l, "", max / 1024, "\n");
        return false;
    }
    while (UINT64_C(2) * size <= kb * 1024) {
        size *= 2;
    }
    *out = size;
    mkperf_line_number(l, "", size / 1024, " KB from the next start\n");
    return true;
}

bool mkperf_settings_qlimit(struct mkperf_line *l)
{
    return ring_size(l, MKPERF_OUTPUT_RING_BYTES, &l->c->settings.output_bytes);
}

bool mkperf_settings_cpubufsz(struct mkperf_line *l)
{
    return ring_size(l, MKPERF_CORE_RING_BYTES, &l->c->settings.core_bytes);
}

bool mkperf_settings_btdepth(struct mkperf_line *l)
{
    uint64_t depth;

    if (l->words != 2 || !mkperf_command_number(l->word[1], true, MKPERF_MAX_FRAMES, &depth)) {
        return mkperf_line_refuse(l, "usage: prof_btdepth DEPTH, from 0 to 64\n");
    }
    l->c->settings.depth = (uint32_t)depth;
    return true;
}

bool mkperf_settings_events(struct mkperf_line *l)
{
    static mkperf_EventSpec want[MKPERF_MAX_EVENTS - 1];
    struct mkperf_settings *s = &l->c->settings;
    struct mkperf_connection *p = &l->c->connection[l->who];

    if (l->words == 1) {
        p->listing = true;
        p->list_text = true;
        p->list_request = l->request;
        p->list_next = 0;
        return true;
    }
    if (l->words - 1 > MKPERF_MAX_EVENTS - 1) {
        return mkperf_line_refuse(l, "at most 15 events\n");
    }
    for (unsigned i = 1; i < l->words; i++) {
        if (!mkperf_command_event(l->word[i], s->period_us, &want[i - 1])) {
            mkperf_line_put(l, "not an event: ");
            mkperf_line_put(l, l->word[i]);
            return mkperf_line_refuse(l,
                                      "\nusage: events NAME|rHEX[:u|:k][,period=N|,freq=N] ...\n");
        }
    }
    for (unsigned i = 0; i + 1 < l->words; i++) {
        s->event[i] = want[i];
    }
    s->events = l->words - 1;
    return true;
}
