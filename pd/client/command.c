/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Lines of text that control the profiler (include/mkperf/text_commands.h has the language).
 *
 * Owns: struct mkperf_settings, and the line that is being executed. Called by control.c for Command
 * messages and for plain text, and by mark.c for applications.
 */
#include <string.h>

#include <mkperf/event_attributes.h>
#include <mkperf/text_commands.h>

#include "../lib/text.h"
#include "control.h"

enum {
    DEFAULT_US = 1000,
    DEFAULT_DEPTH = 16,
    MIN_US = 10,
    MAX_US = 1000000,
};

/* The help of text_commands.h has these numbers. */
_Static_assert(MKPERF_MAX_FRAMES == 64 && MKPERF_RING_MIN_BYTES == 4 * 1024 &&
                   MKPERF_OUTPUT_RING_BYTES == 512 * 1024 && MKPERF_CORE_RING_BYTES == 256 * 1024 &&
                   MKPERF_MAX_EVENTS - 1 == 15,
               "numbers in the help");

/* A line that is being executed, and its answer. It is too large for a PD's stack. */
static struct line {
    struct mkperf_client *c;
    struct mkperf_peer peer;
    const struct mkperf_text_command *row;
    struct mkperf_words words;
    struct mkperf_text out;
    char answer[sizeof((mkperf_Reply *)0)->text];
} current;

/* Adds to the answer. Text that does not fit is cut off. */
__attribute__((format(printf, 2, 3))) static void put(struct line *l, const char *format, ...)
{
    va_list values;

    va_start(values, format);
    mkperf_text_vprint(&l->out, format, values);
    va_end(values);
}

static bool refuse_line(struct line *l, const char *text)
{
    put(l, "%s\n", text);
    return false;
}

static bool usage(struct line *l)
{
    put(l, "usage: %s%s: %s\n", l->row->word, l->row->arguments, l->row->effect);
    return false;
}

/* Queues the page's error as text. Returns false. */
static bool refuse_result(struct line *l, uint32_t result)
{
    const mkperf_Error *e = &l->c->page->error;
    char text[MKPERF_TEXT_BYTES];

    mkperf_text_copy(text, e->text, sizeof text);
    return refuse_line(
        l, (uint32_t)e->code == result ? text : "the profiler PD refused and gave no reason");
}

/* ---- words ----------------------------------------------------------------------------------- */

static unsigned digit(char c)
{
    if (c >= '0' && c <= '9') {
        return (unsigned)(c - '0');
    }
    char small = (char)(c | 0x20);
    return small >= 'a' && small <= 'f' ? (unsigned)(small - 'a') + 10 : 16;
}

/* Parses the number at *word and moves *word behind it. False: no digit, or above max. */
static bool parse_number(const char **word, unsigned base, uint64_t max, uint64_t *out)
{
    const char *w = *word;

    *out = 0;
    for (; digit(*w) < base; w++) {
        if (*out > (max - digit(*w)) / base) {
            return false;
        }
        *out = *out * base + digit(*w);
    }
    bool any = w != *word;
    *word = w;
    return any;
}

/* Parses a word that is a number, decimal or 0x... False: no number, or above max. */
static bool parse_word(const char *word, uint64_t max, uint64_t *out)
{
    bool hex = word[0] == '0' && (word[1] | 0x20) == 'x';

    word += hex ? 2 : 0;
    return parse_number(&word, hex ? 16 : 10, max, out) && *word == '\0';
}

/* Parses on or off. False: neither, and *on is unchanged. */
static bool parse_on_off(const char *word, bool *on)
{
    bool is_on = mkperf_word_is(word, "on");

    if (!is_on && !mkperf_word_is(word, "off")) {
        return false;
    }
    *on = is_on;
    return true;
}

/* Parses an event's name or number, up to ':' or ','. Returns whether it is one. */
static bool parse_event_name(const char **word, mkperf_EventSpec *out)
{
    const char *w = *word + 1;
    uint64_t raw;
    size_t n = 0;

    if (**word == 'r' && parse_number(&w, 16, UINT32_MAX, &raw) &&
        (*w == ':' || *w == ',' || *w == '\0')) {
        out->raw = (uint32_t)raw;
        *word = w;
        return true;
    }
    for (w = *word; *w != ':' && *w != ',' && *w != '\0'; w++) {
        if (n + 1 >= sizeof out->name) {
            return false;
        }
        out->name[n++] = *w;
    }
    *word = w;
    return n != 0;
}

/* Parses a word such as `cycles:u,period=1000`. False: it is no event. */
static bool parse_event(const char *word, uint32_t period_us, mkperf_EventSpec *out)
{
    uint64_t value;

    *out = (mkperf_EventSpec){.frequency = 1000000 / period_us};
    if (!parse_event_name(&word, out)) {
        return false;
    }
    if (*word == ':') {
        const char *first = ++word;
        while (mkperf_event_modifier(*word, false, out)) {
            word++;
        }
        if (word == first) {
            return false;
        }
    }
    if (*word != ',') {
        return *word == '\0';
    }
    const char *key = ++word;
    while (*word != '=' && *word != '\0') {
        word++;
    }
    size_t n = (size_t)(word - key);
    uint64_t max = mkperf_event_term_max(key, n);
    if (*word++ != '=' || max == 0 || !parse_number(&word, 10, max, &value) || value == 0 ||
        *word != '\0') {
        return false;
    }
    mkperf_event_set_term(key, n, value, out);
    return true;
}

/* ---- settings for the next `start` ------------------------------------------------------------ */

void mkperf_command_defaults(struct mkperf_settings *s)
{
    *s = (struct mkperf_settings){.period_us = DEFAULT_US};
    s->request.configure.max_frames = DEFAULT_DEPTH;
}

static bool command_timer(struct line *l)
{
    const char *what = l->words.word[1];
    const char *value = l->words.word[2];
    bool all = mkperf_word_is(what, "all");
    uint64_t n;
    bool on;

    if (mkperf_word_is(what, "period")) {
        if (!parse_word(value, MAX_US, &n) || n < MIN_US) {
            return usage(l);
        }
        l->c->settings.period_us = (uint32_t)n;
        return true;
    }
    if (!parse_on_off(value, &on) || (!all && !parse_word(what, UINT32_MAX, &n))) {
        return usage(l);
    }
    if (!all && n >= l->c->page->hello.cores) {
        put(l, "No such coreid %lu\n", n);
        return false;
    }
    l->c->settings.timer = on;
    return true;
}

static bool command_sched(struct line *l)
{
    return parse_on_off(l->words.word[1], &l->c->settings.request.configure.sched) || usage(l);
}

static bool command_prof_btdepth(struct line *l)
{
    uint64_t depth;

    if (!parse_word(l->words.word[1], MKPERF_MAX_FRAMES, &depth)) {
        return usage(l);
    }
    l->c->settings.request.configure.max_frames = (uint32_t)depth;
    return true;
}

/* Sets the size of a ring to the largest power of two that is not above the line's KB. */
static bool set_ring(struct line *l, uint32_t max, uint32_t *bytes)
{
    uint64_t kb;

    if (!parse_word(l->words.word[1], max / 1024, &kb) || kb < MKPERF_RING_MIN_BYTES / 1024) {
        return usage(l);
    }
    *bytes = UINT32_C(1024) << (63 - __builtin_clzll(kb));
    put(l, "%u KB from the next start\n", *bytes / 1024);
    return true;
}

static bool command_prof_qlimit(struct line *l)
{
    return set_ring(l, MKPERF_OUTPUT_RING_BYTES, &l->c->settings.request.output_bytes);
}

static bool command_prof_cpubufsz(struct line *l)
{
    return set_ring(l, MKPERF_CORE_RING_BYTES, &l->c->settings.request.core_bytes);
}

static bool command_events(struct line *l)
{
    static mkperf_EventSpec want[MKPERF_MAX_EVENTS - 1];
    struct mkperf_settings *s = &l->c->settings;
    unsigned n = l->words.n - 1;

    if (n == 0) {
        mkperf_stream_list(l->peer, true);
        return true;
    }
    for (unsigned i = 0; i < n; i++) {
        if (!parse_event(l->words.word[i + 1], s->period_us, &want[i])) {
            put(l, "not an event: %s\n", l->words.word[i + 1]);
            return usage(l);
        }
    }
    memcpy(s->request.configure.events, want, n * sizeof *want);
    s->request.configure.events_count = (pb_size_t)n;
    return true;
}

/* ---- sessions -------------------------------------------------------------------------------- */

uint32_t mkperf_command_start(struct mkperf_client *c)
{
    const struct mkperf_settings *s = &c->settings;
    const mkperf_Configure *set = &s->request.configure;
    mkperf_Configure *m = &c->page->request.configure;
    bool unchanged = !s->timer && !set->sched && set->events_count == 0;

    if (unchanged && c->page->session.events_count != 0) {
        return mkperf_control_start(c);
    }
    c->page->request = s->request;
    if (s->timer || unchanged) {
        (void)parse_event("cycles", s->period_us, &m->events[set->events_count]);
        m->events_count = (pb_size_t)(set->events_count + 1);
    }
    uint32_t result = c->call(MKPERF_OP_CONFIGURE);
    return result == MKPERF_RESULT_OK ? mkperf_control_start(c) : result;
}

static bool command_start(struct line *l)
{
    if (l->c->stopping) {
        return refuse_line(l, "the last session's samples are still on their way");
    }
    uint32_t result = mkperf_control_active(l->c) ? MKPERF_RESULT_OK : mkperf_command_start(l->c);
    if (result != MKPERF_RESULT_OK) {
        return refuse_result(l, result);
    }
    put(l, "session %u runs\n", l->c->page->session.id);
    return true;
}

static bool command_stop(struct line *l)
{
    uint32_t result = mkperf_control_active(l->c) ? mkperf_control_stop(l->c, MKPERF_NOBODY, 0)
                                                  : MKPERF_RESULT_OK;

    return result == MKPERF_RESULT_OK || refuse_result(l, result);
}

static bool command_flush(struct line *l)
{
    if (l->c->running || mkperf_control_active(l->c)) {
        l->c->call(MKPERF_OP_DRAIN);
        mkperf_encoder_end_window(&l->c->encoder);
    }
    return true;
}

static bool command_clear(struct line *l)
{
    if (l->c->running && !l->c->stopping) {
        return refuse_line(l, "a session is running: stop it first");
    }
    put(l, "%lu samples dropped\n", mkperf_stream_clear(l->c));
    return true;
}

static bool command_exit(struct line *l)
{
    mkperf_connection_give_up_control(l->peer);
    l->peer.p->ending = l->peer.p->ends;
    put(l, "bye\n");
    return true;
}

/* ---- commands that only print ---------------------------------------------------------------- */

static bool command_connect(struct line *l)
{
    const struct mkperf_client *c = l->c;

    put(l, "mkperf on %s, %s\nyou are connection %u%s\n", c->platform,
        c->key == NULL ? "no key: any host may connect" : "with a key", l->peer.p->number,
        c->controller == l->peer.who     ? " and control"
        : c->controller == MKPERF_NOBODY ? "; no host controls"
                                         : "; another controls");
    return true;
}

static bool command_status(struct line *l)
{
    struct mkperf_client *c = l->c;
    const struct mkperf_settings *set = &c->settings;
    const struct mkperf_session_request *r = &set->request;
    const struct mkperf_connection *p = l->peer.p;
    const mkperf_Status *s = &c->page->status;

    c->call(MKPERF_OP_STATUS);
    put(l, "session %u, %s\n", c->page->session.id, c->running ? "runs" : "does not run");
    put(l, "captured %lu, sent %lu, lost: ring %lu, output %lu, link %lu\n", s->captured,
        c->encoder.sent, s->lost_ring, s->lost_output, p->lost + c->dropped);
    put(l, "output ring: at most %lu of %lu bytes waited in the last second\n", c->ring_peak,
        c->ring.size);
    put(l, "late events %lu, spurious %lu, disturbed %lu%s, corrupt %lu, bad frames %lu\n",
        s->late_events, s->spurious, s->disturbed,
        mkperf_page_bool(&s->storm) ? ", ended by a storm" : "", s->corrupt + c->corrupt,
        p->link.bad_frames);
    put(l, "connections %u, links lost %u, refused %u, wrong keys %u, marks lost %u\n",
        c->connections, c->links_lost, c->refused, c->bad_auth, c->marks_lost);
    if (s->flight != mkperf_FlightState_FLIGHT_NONE) {
        put(l, "flight recording%s, holds %lu samples, overwritten %lu\n",
            s->flight == mkperf_FlightState_FLIGHT_RECORDING ? " runs" : "", s->held,
            s->overwritten);
    }
    put(l, "timer %s, period %u us, events %u%s, prof_btdepth %u", set->timer ? "on" : "off",
        set->period_us, r->configure.events_count, r->configure.sched ? ", sched on" : "",
        r->configure.max_frames);
    put(l, ", prof_qlimit %u KB, prof_cpubufsz %u KB\n",
        (r->output_bytes != 0 ? r->output_bytes : MKPERF_OUTPUT_RING_BYTES) / 1024,
        (r->core_bytes != 0 ? r->core_bytes : MKPERF_CORE_RING_BYTES) / 1024);
    return true;
}

static bool command_help(struct line *l)
{
    for (unsigned i = 0; i < MKPERF_TEXT_COMMAND_COUNT; i++) {
        const struct mkperf_text_command *row = &mkperf_text_commands[i];
        put(l, "%s%s: %s\n", row->word, row->arguments, row->effect);
    }
    return true;
}

/* ---- a line ---------------------------------------------------------------------------------- */

#define FUNCTION(word, arguments, least, most, right, effect) command_##word,
/* By the index of the command's row. False: refused, and nothing has changed. */
static bool (*const functions[])(struct line *l) = {MKPERF_TEXT_COMMANDS(FUNCTION)};

static bool run_command(struct line *l, const char *text, size_t n)
{
    bool split = mkperf_words_split(&l->words, text, n) && l->words.n != 0;

    l->row = split ? mkperf_text_command_named(l->words.word[0]) : NULL;
    if (l->row == NULL) {
        put(l, "usage: ");
        for (unsigned i = 0; i < MKPERF_TEXT_COMMAND_COUNT; i++) {
            put(l, "%s%s", i == 0 ? "" : "|", mkperf_text_commands[i].word);
        }
        return refuse_line(l, "");
    }
    if (l->words.n < 1U + l->row->least || l->words.n > 1U + l->row->most) {
        return usage(l);
    }
    if ((l->row->right == MKPERF_COMMAND_CONTROL ||
         (l->row->right == MKPERF_COMMAND_SET && l->words.n > 1)) &&
        !mkperf_connection_may_control(l->peer)) {
        l->c->refused++;
        return refuse_line(l, "this connection does not control the target");
    }
    return functions[l->row - mkperf_text_commands](l);
}

void mkperf_command(struct mkperf_peer peer, const char *text, size_t n)
{
    struct line *l = &current;

    l->c = peer.c;
    l->peer = peer;
    l->out = mkperf_text_begin(l->answer, sizeof l->answer);
    bool ok = run_command(l, text, n);
    if (peer.p->listing && peer.p->list_text && l->answer[0] == '\0') {
        return; /* The answer follows in parts. */
    }
    mkperf_report_reply(peer, ok, l->answer[0] != '\0' ? l->answer : "ok\n", false);
}
