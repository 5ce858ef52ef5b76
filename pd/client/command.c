/* SPDX-License-Identifier: BSD-2-Clause */
/* The commands: see command.h for ownership and callers. Settings are executed in
 * command_settings.c. */
#include "command_line.h"

#include "../lib/text.h"

static struct mkperf_line line; /* too large for a PD's stack */

/* An error in the page, as text. */
static bool refuse_result(struct mkperf_line *l, uint32_t result)
{
    const mkperf_Error *e = &l->c->page->error;
    char text[MKPERF_TEXT_BYTES];

    mkperf_text_copy(text, e->text, sizeof text);
    mkperf_line_put(l, (uint32_t)e->code == result ? text
                                                   : "the profiler PD refused and gave no reason");
    return mkperf_line_refuse(l, "\n");
}

/* ---- sessions ---- */

static void set_request(struct mkperf_client *c)
{
    const struct mkperf_settings *s = &c->settings;
    struct mkperf_session_request *r = &c->page->request;
    mkperf_Configure *m = &r->configure;
    uint32_t n = s->events;

    *r = MKPERF_SESSION_REQUEST_ZERO;
    for (uint32_t i = 0; i < n; i++) {
        m->events[i] = s->event[i];
    }
    if (s->timer || (n == 0 && !s->sched)) {
        (void)mkperf_command_event("cycles", s->period_us, &m->events[n++]);
    }
    m->events_count = (pb_size_t)n;
    m->max_frames = s->depth;
    m->sched = s->sched;
    r->core_bytes = s->core_bytes;
    r->output_bytes = s->output_bytes;
}

uint32_t mkperf_command_start(struct mkperf_client *c)
{
    uint32_t result = MKPERF_RESULT_OK;

    const struct mkperf_settings *s = &c->settings;
    if (s->timer || s->sched || s->events != 0 || c->page->session.events_count == 0) {
        set_request(c);
        result = c->call(MKPERF_OP_CONFIGURE);
    }
    return result == MKPERF_RESULT_OK ? mkperf_control_start(c) : result;
}

static bool start(struct mkperf_line *l)
{
    if (l->c->stopping) {
        return mkperf_line_refuse(l, "the last session's samples are still on their way\n");
    }
    if (!mkperf_control_active(l->c)) {
        uint32_t result = mkperf_command_start(l->c);
        if (result != MKPERF_RESULT_OK) {
            return refuse_result(l, result);
        }
    }
    mkperf_line_number(l, "session ", l->c->page->session.id, " runs\n");
    return true;
}

static bool stop(struct mkperf_line *l)
{
    if (mkperf_control_active(l->c)) {
        uint32_t result = mkperf_control_stop(l->c, MKPERF_NOBODY, 0);
        if (result != MKPERF_RESULT_OK) {
            return refuse_result(l, result);
        }
    }
    return true;
}

static bool flush(struct mkperf_line *l)
{
    if (l->c->running || mkperf_control_active(l->c)) {
        l->c->call(MKPERF_OP_DRAIN);
    }
    return true;
}

static bool clear(struct mkperf_line *l)
{
    if (l->c->running && !l->c->stopping) {
        return mkperf_line_refuse(l, "a session is running: stop it first\n");
    }
    mkperf_line_number(l, "", mkperf_stream_clear(l->c), " samples dropped\n");
    return true;
}

static bool leave(struct mkperf_line *l)
{
    mkperf_connection_give_up_control(l->c, l->who);
    l->c->connection[l->who].ending = l->c->connection[l->who].ends;
    return mkperf_line_say(l, "bye\n");
}

/* ---- commands that only print ---- */

static bool connected(struct mkperf_line *l)
{
    struct mkperf_client *c = l->c;

    mkperf_line_put(l, "mkperf on ");
    mkperf_line_put(l, c->platform);
    mkperf_line_put(l, c->key == NULL ? ", no key: any host may connect\n" : ", with a key\n");
    mkperf_line_number(l, "you are connection ", c->connection[l->who].number, "");
    return mkperf_line_say(l, c->controller == l->who          ? " and control\n"
                              : c->controller == MKPERF_NOBODY ? "; no host controls\n"
                                                               : "; another controls\n");
}

static void put_settings(struct mkperf_line *l)
{
    const struct mkperf_settings *s = &l->c->settings;

    mkperf_line_number(l, s->timer ? "timer on, period " : "timer off, period ", s->period_us,
                       " us");
    mkperf_line_number(l, ", events ", s->events, s->sched ? ", sched on" : "");
    mkperf_line_number(l, ", prof_btdepth ", s->depth, "");
    mkperf_line_number(l, ", prof_qlimit ",
                       (s->output_bytes != 0 ? s->output_bytes : MKPERF_OUTPUT_RING_BYTES) / 1024,
                       " KB");
    mkperf_line_number(l, ", prof_cpubufsz ",
                       (s->core_bytes != 0 ? s->core_bytes : MKPERF_CORE_RING_BYTES) / 1024,
                       " KB\n");
}

static void put_flight(struct mkperf_line *l, const mkperf_Status *s)
{
    if ((int)s->flight != MKPERF_FLIGHT_NONE) {
        mkperf_line_put(l, (int)s->flight == MKPERF_FLIGHT_RECORDING ? "flight recording runs"
                                                                     : "flight recording");
        mkperf_line_number(l, ", holds ", s->held, "");
        mkperf_line_number(l, " samples, overwritten ", s->overwritten, "\n");
    }
}

static bool status(struct mkperf_line *l)
{
    struct mkperf_client *c = l->c;
    const mkperf_Status *s = &c->page->status;

    c->call(MKPERF_OP_STATUS);
    mkperf_line_number(l, "session ", c->page->session.id,
                       c->running ? ", runs\n" : ", does not run\n");
    mkperf_line_number(l, "captured ", s->captured, "");
    mkperf_line_number(l, ", sent ", c->encoder.sent, "");
    mkperf_line_number(l, ", lost: ring ", s->lost_ring, "");
    mkperf_line_number(l, ", output ", s->lost_output, "");
    mkperf_line_number(l, ", link ", c->connection[l->who].lost + c->dropped, "\n");
    mkperf_line_number(l, "output ring: at most ", c->ring_peak, "");
    mkperf_line_number(l, " of ", c->ring.size, " bytes waited in the last second\n");
    mkperf_line_number(l, "late events ", s->late_events, "");
    mkperf_line_number(l, ", spurious ", s->spurious, "");
    mkperf_line_number(l, ", disturbed ", s->disturbed,
                       mkperf_page_bool(&s->storm) ? ", ended by a storm" : "");
    mkperf_line_number(l, ", corrupt ", s->corrupt + c->corrupt, "");
    mkperf_line_number(l, ", bad frames ", c->connection[l->who].link.bad_frames, "\n");
    mkperf_line_number(l, "connections ", c->connections, "");
    mkperf_line_number(l, ", links lost ", c->links_lost, "");
    mkperf_line_number(l, ", refused ", c->refused, "");
    mkperf_line_number(l, ", wrong keys ", c->bad_auth, "");
    mkperf_line_number(l, ", marks lost ", c->marks_lost, "\n");
    put_flight(l, s);
    put_settings(l);
    return true;
}

static bool help(struct mkperf_line *l);

/* ---- the table ---- */

static const struct command {
    const char *word;
    bool (*run)(struct mkperf_line *l); /* false: refused, and nothing has changed */
    bool control;                       /* changes state: controller only */
    const char *arguments;
} commands[] = {
    {"help", help, false, ""},
    {"connect", connected, false, ""},
    {"status", status, false, ""},
    {"events", mkperf_settings_events, false, " [NAME|rHEX[:u|:k][,period=N|,freq=N] ...]"},
    {"timer", mkperf_settings_timer, true, " {{all, N} {on, off}, period USEC}"},
    {"sched", mkperf_settings_sched, true, " {on, off}"},
    {"prof_btdepth", mkperf_settings_btdepth, true, " DEPTH"},
    {"prof_qlimit", mkperf_settings_qlimit, true, " KB"},
    {"prof_cpubufsz", mkperf_settings_cpubufsz, true, " KB"},
    {"start", start, true, ""},
    {"stop", stop, true, ""},
    {"flush", flush, true, ""},
    {"clear", clear, true, ""},
    {"exit", leave, false, ""},
};

static bool help(struct mkperf_line *l)
{
    for (unsigned i = 0; i < sizeof commands / sizeof commands[0]; i++) {
        mkperf_line_put(l, commands[i].word);
        mkperf_line_put(l, commands[i].arguments);
        mkperf_line_put(l, "\n");
    }
    return true;
}

static bool usage(struct mkperf_line *l)
{
    mkperf_line_put(l, "usage: ");
    for (unsigned i = 0; i < sizeof commands / sizeof commands[0]; i++) {
        mkperf_line_put(l, i == 0 ? "" : "|");
        mkperf_line_put(l, commands[i].word);
    }
    return mkperf_line_refuse(l, "\n");
}

static bool carry_out(struct mkperf_line *l)
{
    for (unsigned i = 0; i < sizeof commands / sizeof commands[0]; i++) {
        const struct command *m = &commands[i];
        if (!mkperf_command_same(l->word[0], m->word)) {
            continue;
        }
        bool control = m->control || (m->run == mkperf_settings_events && l->words > 1);
        if (control && !mkperf_connection_may_control(l->c, l->who)) {
            l->c->refused++;
            return mkperf_line_refuse(l, "this connection does not control the target\n");
        }
        return m->run(l);
    }
    return usage(l);
}

/* Splits the line: blanks between words, '...' around blanks, '' in that a quote. False: a quote
 * without its end, an invalid character, or too much. */
static bool split(struct mkperf_line *l, const char *text, size_t n)
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
    struct mkperf_line *l = &line;

    l->c = c;
    l->who = who;
    l->request = request;
    l->out = mkperf_text_begin(l->answer, sizeof l->answer);
    bool ok = n <= MKPERF_COMMAND_BYTES && split(l, text, n) && l->words != 0 ? carry_out(l)
                                                                              : usage(l);
    if (c->connection[who].listing && c->connection[who].list_text && l->answer[0] == '\0') {
        return; /* the answer follows in parts */
    }
    mkperf_report_reply(c, who, request, ok, l->answer[0] != '\0' ? l->answer : "ok\n", false);
}
