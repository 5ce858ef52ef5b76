/* SPDX-License-Identifier: BSD-2-Clause */
/* The commands: see command.h, which says what is owned and who calls. */
#include "control.h"

#include "../lib/text.h"

enum { DEFAULT_US = 1000, DEFAULT_DEPTH = 16 };

struct line {
    struct mkperf_client *c;
    unsigned who;
    uint32_t request;
    unsigned words;
    const char *word[MKPERF_COMMAND_WORDS];
    char bytes[MKPERF_COMMAND_BYTES + 1];
    struct mkperf_text out;
    char answer[sizeof((mkperf_Reply *)0)->text];
};

static struct line line; /* too large for a PD's stack */

void mkperf_command_defaults(struct mkperf_settings *s)
{
    *s = (struct mkperf_settings){.period_us = DEFAULT_US, .depth = DEFAULT_DEPTH};
}

static void put(struct line *l, const char *text)
{
    mkperf_text_put(&l->out, text);
}

static void put_number(struct line *l, const char *before, uint64_t value, const char *after)
{
    put(l, before);
    mkperf_text_dec(&l->out, value);
    put(l, after);
}

static bool say(struct line *l, const char *text)
{
    put(l, text);
    return true;
}

static bool refuse(struct line *l, const char *text)
{
    put(l, text);
    return false;
}

/* An error in the page, as text. */
static bool refuse_result(struct line *l, uint32_t result)
{
    const struct mkperf_session_error *e = &l->c->page->error;
    char text[MKPERF_TEXT_BYTES];

    mkperf_text_copy(text, e->text, sizeof text);
    put(l, e->code == result ? text : "the profiler PD refused and gave no reason");
    return refuse(l, "\n");
}

/* ---- settings ---- */

static const char timer_usage[] = "usage: timer {{all, N} {on, off}, period USEC}\n";

static bool timer_period(struct line *l)
{
    uint64_t us;

    if (!mkperf_command_number(l->word[2], false, MKPERF_TIMER_MAX_US, &us) ||
        us < MKPERF_TIMER_MIN_US) {
        return refuse(l, "timer period USEC: from 10 to 1000000\n");
    }
    l->c->settings.period_us = (uint32_t)us;
    return true;
}

static bool timer(struct line *l)
{
    uint64_t core = 0;

    if (l->words != 3) {
        return refuse(l, timer_usage);
    }
    if (mkperf_command_same(l->word[1], "period")) {
        return timer_period(l);
    }
    bool on = mkperf_command_same(l->word[2], "on");
    if (!on && !mkperf_command_same(l->word[2], "off")) {
        return refuse(l, "timer needs on|off\n");
    }
    if (!mkperf_command_same(l->word[1], "all")) {
        if (!mkperf_command_number(l->word[1], false, UINT32_MAX, &core)) {
            return refuse(l, timer_usage);
        }
        if (core >= l->c->page->info.cores) {
            put(l, "No such coreid ");
            put_number(l, "", core, "\n");
            return false;
        }
    }
    l->c->settings.timer = on;
    return true;
}

/* A ring's size: the largest power of two that is not above KB. */
static bool ring_size(struct line *l, uint32_t max, uint32_t *out)
{
    uint32_t size = MKPERF_RING_MIN_BYTES;
    uint64_t kb;

    if (l->words != 2 || !mkperf_command_number(l->word[1], true, UINT32_MAX, &kb) ||
        kb * 1024 < MKPERF_RING_MIN_BYTES || kb * 1024 > max) {
        put(l, "usage: ");
        put(l, l->word[0]);
        put_number(l, " KB, from ", MKPERF_RING_MIN_BYTES / 1024, " to ");
        put_number(l, "", max / 1024, "\n");
        return false;
    }
    while (UINT64_C(2) * size <= kb * 1024) {
        size *= 2;
    }
    *out = size;
    put_number(l, "", size / 1024, " KB from the next start\n");
    return true;
}

static bool qlimit(struct line *l)
{
    return ring_size(l, MKPERF_OUTPUT_RING_BYTES, &l->c->settings.output_bytes);
}

static bool cpubufsz(struct line *l)
{
    return ring_size(l, MKPERF_CORE_RING_BYTES, &l->c->settings.core_bytes);
}

static bool btdepth(struct line *l)
{
    uint64_t depth;

    if (l->words != 2 || !mkperf_command_number(l->word[1], true, MKPERF_MAX_FRAMES, &depth)) {
        return refuse(l, "usage: prof_btdepth DEPTH, from 0 to 64\n");
    }
    l->c->settings.depth = (uint32_t)depth;
    return true;
}

static bool events(struct line *l)
{
    static struct mkperf_session_want want[MKPERF_MAX_EVENTS - 1];
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
        return refuse(l, "at most 15 events\n");
    }
    for (unsigned i = 1; i < l->words; i++) {
        if (!mkperf_command_event(l->word[i], s->period_us, &want[i - 1])) {
            put(l, "not an event: ");
            put(l, l->word[i]);
            return refuse(l, "\nusage: events NAME|rHEX[:u|:k][,period=N|,freq=N] ...\n");
        }
    }
    for (unsigned i = 0; i + 1 < l->words; i++) {
        s->event[i] = want[i];
    }
    s->events = l->words - 1;
    return true;
}

/* ---- sessions ---- */

static void set_request(struct mkperf_client *c)
{
    const struct mkperf_settings *s = &c->settings;
    struct mkperf_session_request *r = &c->page->request;
    uint32_t n = s->events;

    for (uint32_t i = 0; i < n; i++) {
        r->event[i] = s->event[i];
    }
    if (s->timer || n == 0) {
        (void)mkperf_command_event("cycles", s->period_us, &r->event[n++]);
    }
    r->events = n;
    r->max_frames = s->depth;
    r->no_jitter = 0;
    r->wake_samples = 0;
    r->core_bytes = s->core_bytes;
    r->output_bytes = s->output_bytes;
    r->overwrite = 0;
    r->interactions = 0;
    r->faults = 0;
}

uint32_t mkperf_command_start(struct mkperf_client *c)
{
    uint32_t result = MKPERF_RESULT_OK;

    if (c->settings.timer || c->settings.events != 0 || c->page->state.events == 0) {
        set_request(c);
        result = c->call(MKPERF_OP_CONFIGURE);
    }
    return result == MKPERF_RESULT_OK ? mkperf_control_start(c) : result;
}

static bool start(struct line *l)
{
    if (l->c->stopping) {
        return refuse(l, "the last session's samples are still on their way\n");
    }
    if (!mkperf_control_active(l->c)) {
        uint32_t result = mkperf_command_start(l->c);
        if (result != MKPERF_RESULT_OK) {
            return refuse_result(l, result);
        }
    }
    put_number(l, "session ", l->c->page->state.id, " runs\n");
    return true;
}

static bool stop(struct line *l)
{
    if (mkperf_control_active(l->c)) {
        uint32_t result = mkperf_control_stop(l->c, MKPERF_NOBODY, 0);
        if (result != MKPERF_RESULT_OK) {
            return refuse_result(l, result);
        }
    }
    return true;
}

static bool flush(struct line *l)
{
    if (l->c->running || mkperf_control_active(l->c)) {
        l->c->call(MKPERF_OP_DRAIN);
    }
    return true;
}

static bool clear(struct line *l)
{
    if (l->c->running && !l->c->stopping) {
        return refuse(l, "a session is running: stop it first\n");
    }
    put_number(l, "", mkperf_stream_clear(l->c), " samples dropped\n");
    return true;
}

static bool leave(struct line *l)
{
    mkperf_peer_give_up_control(l->c, l->who);
    l->c->connection[l->who].ending = l->c->connection[l->who].ends;
    return say(l, "bye\n");
}

/* ---- what only tells ---- */

static bool connected(struct line *l)
{
    struct mkperf_client *c = l->c;

    put(l, "mkperf on ");
    put(l, c->platform);
    put(l, c->key == NULL ? ", no key: anybody may connect\n" : ", with a key\n");
    put_number(l, "you are connection ", c->connection[l->who].number, "");
    return say(l, c->controller == l->who          ? " and control\n"
                  : c->controller == MKPERF_NOBODY ? "; nobody controls\n"
                                                   : "; another controls\n");
}

static void put_settings(struct line *l)
{
    const struct mkperf_settings *s = &l->c->settings;

    put_number(l, s->timer ? "timer on, period " : "timer off, period ", s->period_us, " us");
    put_number(l, ", events ", s->events, "");
    put_number(l, ", prof_btdepth ", s->depth, "");
    put_number(l, ", prof_qlimit ",
               (s->output_bytes != 0 ? s->output_bytes : MKPERF_OUTPUT_RING_BYTES) / 1024, " KB");
    put_number(l, ", prof_cpubufsz ",
               (s->core_bytes != 0 ? s->core_bytes : MKPERF_CORE_RING_BYTES) / 1024, " KB\n");
}

static void put_flight(struct line *l, const struct mkperf_session_flight *f)
{
    if (f->state != MKPERF_FLIGHT_NONE) {
        put(l, f->state == MKPERF_FLIGHT_RECORDING ? "flight recording runs" : "flight recording");
        put_number(l, ", holds ", f->samples, "");
        put_number(l, " samples, overwritten ", f->overwritten, "\n");
    }
}

static bool status(struct line *l)
{
    struct mkperf_client *c = l->c;
    const struct mkperf_session_status *s = &c->page->status;

    c->call(MKPERF_OP_STATUS);
    put_number(l, "session ", c->page->state.id, c->running ? ", runs\n" : ", does not run\n");
    put_number(l, "captured ", s->captured, "");
    put_number(l, ", sent ", c->encoder.sent, "");
    put_number(l, ", lost: ring ", s->lost_ring, "");
    put_number(l, ", output ", s->lost_output, "");
    put_number(l, ", link ", c->connection[l->who].lost + c->dropped, "\n");
    put_number(l, "output ring: at most ", c->ring_peak, "");
    put_number(l, " of ", c->ring.size, " bytes waited in the last second\n");
    put_number(l, "late events ", s->late_events, "");
    put_number(l, ", spurious ", s->spurious, "");
    put_number(l, ", corrupt ", s->corrupt + c->corrupt, "");
    put_number(l, ", bad frames ", c->connection[l->who].link.bad_frames, "\n");
    put_number(l, "connections ", c->connections, "");
    put_number(l, ", links lost ", c->links_lost, "");
    put_number(l, ", refused ", c->refused, "");
    put_number(l, ", wrong keys ", c->bad_auth, "");
    put_number(l, ", rate limited ", c->rate_limited, "");
    put_number(l, ", marks lost ", c->marks_lost, "\n");
    put_flight(l, &c->page->flight);
    put_settings(l);
    return true;
}

void mkperf_command_events(struct mkperf_client *c, unsigned who, uint32_t request, bool more)
{
    const struct mkperf_session_list *list = &c->page->list;
    char name[MKPERF_DESCRIPTION_BYTES];

    line.out = mkperf_text_begin(line.answer, sizeof line.answer);
    for (uint32_t i = 0; i < MKPERF_LIST_EVENTS && i < list->events; i++) {
        if (list->event[i].supported == 0) {
            continue;
        }
        mkperf_text_copy(name, list->event[i].name, MKPERF_NAME_BYTES);
        put(&line, name);
        put(&line, "  ");
        mkperf_text_copy(name, list->event[i].description, sizeof name);
        put(&line, name);
        put(&line, "\n");
    }
    mkperf_report_reply(c, who, request, true, line.answer, more);
}

static bool help(struct line *l);

/* ---- which is which ---- */

static const struct command {
    const char *word;
    bool (*run)(struct line *l); /* false: refused, and nothing has changed */
    bool control;                /* changes something: the controller's alone */
    const char *arguments;
} commands[] = {
    {"help", help, false, ""},
    {"connect", connected, false, ""},
    {"status", status, false, ""},
    {"events", events, false, " [NAME|rHEX[:u|:k][,period=N|,freq=N] ...]"},
    {"timer", timer, true, " {{all, N} {on, off}, period USEC}"},
    {"prof_btdepth", btdepth, true, " DEPTH"},
    {"prof_qlimit", qlimit, true, " KB"},
    {"prof_cpubufsz", cpubufsz, true, " KB"},
    {"start", start, true, ""},
    {"stop", stop, true, ""},
    {"flush", flush, true, ""},
    {"clear", clear, true, ""},
    {"exit", leave, false, ""},
};

static bool help(struct line *l)
{
    for (unsigned i = 0; i < sizeof commands / sizeof commands[0]; i++) {
        put(l, commands[i].word);
        put(l, commands[i].arguments);
        put(l, "\n");
    }
    return true;
}

static bool usage(struct line *l)
{
    put(l, "usage: ");
    for (unsigned i = 0; i < sizeof commands / sizeof commands[0]; i++) {
        put(l, i == 0 ? "" : "|");
        put(l, commands[i].word);
    }
    return refuse(l, "\n");
}

static bool carry_out(struct line *l)
{
    for (unsigned i = 0; i < sizeof commands / sizeof commands[0]; i++) {
        const struct command *m = &commands[i];
        if (!mkperf_command_same(l->word[0], m->word)) {
            continue;
        }
        bool control = m->control || (m->run == events && l->words > 1);
        if (control && !mkperf_peer_may_control(l->c, l->who)) {
            l->c->refused++;
            return refuse(l, "this connection does not control the target\n");
        }
        return m->run(l);
    }
    return usage(l);
}

/* Splits the line: blanks between words, '...' around blanks, '' in that a quote. False: a quote
 * without its end, a character that is none, or too much. */
static bool split(struct line *l, const char *text, size_t n)
{
    size_t out = 0;
    bool word = false;
    bool quoted = false;

    l->words = 0;
    for (size_t i = 0; i < n && i < MKPERF_COMMAND_BYTES && text[i] != '\0'; i++) {
        char c = text[i];
        if (!quoted && (c == ' ' || c == '\t' || c == '\r' || c == '\n')) {
            l->bytes[out] = '\0';
            out += word;
            word = false;
            continue;
        }
        if (!word) {
            if (l->words == MKPERF_COMMAND_WORDS) {
                return false;
            }
            l->word[l->words++] = &l->bytes[out];
            word = true;
        }
        if (c == '\'' && quoted && i + 1 < n && text[i + 1] == '\'') {
            i++;
        } else if (c == '\'') {
            quoted = !quoted;
            continue;
        }
        if (c < ' ' || c > '~') {
            return false;
        }
        l->bytes[out++] = c;
    }
    l->bytes[out] = '\0';
    return !quoted;
}

void mkperf_command(struct mkperf_client *c, unsigned who, uint32_t request, const char *text,
                    size_t n)
{
    struct line *l = &line;

    l->c = c;
    l->who = who;
    l->request = request;
    l->out = mkperf_text_begin(l->answer, sizeof l->answer);
    bool ok = n <= MKPERF_COMMAND_BYTES && split(l, text, n) && l->words != 0 ? carry_out(l)
                                                                              : usage(l);
    if (c->connection[who].listing && c->connection[who].list_text && l->answer[0] == '\0') {
        return; /* the answer follows in pieces */
    }
    mkperf_report_reply(c, who, request, ok, l->answer[0] != '\0' ? l->answer : "ok\n", false);
}
