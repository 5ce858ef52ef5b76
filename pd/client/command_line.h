/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Between command.c and command_settings.c: a line of text that is being executed, and its
 * answer.
 */
#ifndef MKPERF_COMMAND_LINE_H
#define MKPERF_COMMAND_LINE_H

#include "../lib/text.h"
#include "control.h"

struct mkperf_line {
    struct mkperf_client *c;
    unsigned who;
    uint32_t request;
    unsigned words;
    const char *word[MKPERF_COMMAND_WORDS];
    char bytes[MKPERF_COMMAND_BYTES + 1];
    struct mkperf_text out;
    char answer[sizeof((mkperf_Reply *)0)->text];
};

/* More of the answer; text that does not fit is cut off. say and refuse return true and false,
 * like a command that was executed and one that was not. */
static inline void mkperf_line_put(struct mkperf_line *l, const char *text)
{
    mkperf_text_put(&l->out, text);
}

static inline void mkperf_line_number(struct mkperf_line *l, const char *before, uint64_t value,
                                      const char *after)
{
    mkperf_line_put(l, before);
    mkperf_text_dec(&l->out, value);
    mkperf_line_put(l, after);
}

static inline bool mkperf_line_say(struct mkperf_line *l, const char *text)
{
    mkperf_line_put(l, text);
    return true;
}

static inline bool mkperf_line_refuse(struct mkperf_line *l, const char *text)
{
    mkperf_line_put(l, text);
    return false;
}

/* command_settings.c; false: refused. */
bool mkperf_settings_timer(struct mkperf_line *l);
bool mkperf_settings_sched(struct mkperf_line *l);
bool mkperf_settings_qlimit(struct mkperf_line *l);
bool mkperf_settings_cpubufsz(struct mkperf_line *l);
bool mkperf_settings_btdepth(struct mkperf_line *l);
bool mkperf_settings_events(struct mkperf_line *l);

#endif
