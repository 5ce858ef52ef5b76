/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Owns: commands, their answers, what the target sends without a request, and the prompt at a terminal; see
 * conversation.h.
 */
#include "conversation.h"

#include <histedit.h>

#include <mkperf/text_commands.h>

static const double REPEAT_S = 2.0; /* between repetitions of a command, which a line may lose */
static const double BYE_S = 1.0;    /* the longest wait for the answer to exit */
static const double RESET_S = 0.5;  /* between two ResetChains */

/* Removes the prompt before output. */
static void begin_output(struct console *c)
{
    if (c->prompting && !c->interrupted) {
        c->interrupted = true;
        fputs("\r\033[K", stdout);
    }
}

static void on_line(void *self, const char *line)
{
    begin_output(self);
    printf("target: %s\n", line);
    (void)fflush(stdout);
}

static void on_notice(void *self, const char *text)
{
    begin_output(self);
    mkperf_print_line(stderr, "mkperf: %s", text);
}

/* Notes and reports that a command was refused, which is no error of the conversation. */
static enum mkperf_status refuse(struct console *c, const char *text)
{
    on_notice(c, text);
    c->refused = true;
    return MKPERF_OK;
}

static void on_control(void *self, const mkperf_ToHost *m)
{
    static const char *const kinds[] = {"", "begin ", "end "};
    struct console *c = self;
    const mkperf_Session *session = &m->msg.session;
    const mkperf_Status *status = &m->msg.status;
    const mkperf_Mark *mark = &m->msg.mark;
    const mkperf_Role *role = &m->msg.role;

    switch (m->which_msg) {
    case mkperf_ToHost_reply_tag:
        begin_output(c);
        fputs(m->msg.reply.text, stdout);
        c->refused |= !m->msg.reply.ok;
        c->replied |= !m->msg.reply.more;
        break;
    case mkperf_ToHost_session_tag:
        if ((session->running != c->running || session->id != c->session) &&
            (session->running || c->running)) {
            begin_output(c);
            printf("session %" PRIu32 " %s\n", session->id,
                   session->running ? "runs" : "is stopped");
        }
        c->running = session->running;
        c->session = session->id;
        break;
    case mkperf_ToHost_status_tag:
        if (c->running && !status->running && status->session == c->session) {
            c->running = false;
            begin_output(c);
            printf("session %" PRIu32 " is stopped: %" PRIu64 " sample%s, %" PRIu64
                   " sent; lost: ring %" PRIu64 " output %" PRIu64 " link %" PRIu64 "\n",
                   status->session, status->captured, mkperf_plural(status->captured), status->sent,
                   status->lost_ring, status->lost_output, status->lost_link);
        }
        break;
    case mkperf_ToHost_mark_tag:
        begin_output(c);
        printf("mark %.6f s  %s: %s%s (%" PRIu32 ")\n",
               mkperf_per((double)mark->time_ticks, (double)mark->tick_hz), mark->pd,
               (unsigned)mark->kind < 3 ? kinds[mark->kind] : "", mark->name, mark->id);
        break;
    case mkperf_ToHost_role_tag:
        begin_output(c);
        if (role->control || !role->controlled) {
            printf("%s", role->control ? "this console controls the target"
                                       : "no host controls the target");
        } else {
            printf("%s controls the target", role->controller);
        }
        printf(", %" PRIu32 " watch\n", role->watchers);
        break;
    default:
        break;
    }
    (void)fflush(stdout);
}

enum mkperf_status console_open(struct console *c, struct mkperf_error *e)
{
    struct mkperf_recorder *r = &c->recorder;

    r->text.print = on_line;
    r->control = on_control;
    r->notice = on_notice;
    r->warn = r->options.output != NULL ? on_notice : NULL;
    r->self = c;
    c->connected = mkperf_recorder_talk(r, NULL, r->options.output, e) == MKPERF_OK;
    if (c->connected && r->options.link.take_over) {
        return mkperf_recorder_take_control(r, e);
    }
    return c->connected ? MKPERF_OK : e->status;
}

enum mkperf_status console_close(struct console *c, enum mkperf_status status,
                                 struct mkperf_error *e)
{
    struct mkperf_error late = {.status = MKPERF_OK};
    const struct mkperf_stream *s = c->recorder.stream;

    if (s != NULL && c->recorder.options.output != NULL && !s->began) {
        mkperf_sink_abandon(&s->config.sink);
    } else if (s != NULL && c->recorder.options.output != NULL &&
               mkperf_recorder_talk_keep(&c->recorder, &late) == MKPERF_OK) {
        fprintf(stderr, "mkperf: %s: %" PRIu64 " sample%s\n", c->recorder.options.output,
                s->totals.samples, mkperf_plural(s->totals.samples));
    }
    if (late.status != MKPERF_OK && status == MKPERF_OK) {
        *e = late;
        status = late.status;
    }
    mkperf_recorder_free(&c->recorder);
    return status;
}

/* Restores a broken link after an error, or continues without a connection. */
static enum mkperf_status restore_link(struct console *c, struct mkperf_error *e)
{
    if (e->status != MKPERF_ERR_LINK) {
        return e->status;
    }
    c->connected = mkperf_peer_reconnect(console_peer(c), e) == MKPERF_OK;
    if (!c->connected) {
        on_notice(c, e->text);
        on_notice(c, "not connected any more; `connect` tries again");
        return c->commands != NULL ? e->status : MKPERF_OK;
    }
    mkperf_stream_damaged(c->recorder.stream);
    return MKPERF_OK;
}

/* Handles messages for timeout_ms; a broken link is restored, or c->connected is false. */
static enum mkperf_status listen_for(struct console *c, int timeout_ms, struct mkperf_error *e)
{
    struct mkperf_stream *s = c->recorder.stream;
    mkperf_ToTarget reset = {.which_msg = mkperf_ToTarget_reset_chains_tag};
    double now = mkperf_now_s();

    if (!c->connected) {
        poll(NULL, 0, timeout_ms);
        return MKPERF_OK;
    }
    if (mkperf_stream_needs_reset(s) && now - c->recorder.reset_s > RESET_S) {
        c->recorder.reset_s = now;
        if (mkperf_peer_send(console_peer(c), &reset, e) != MKPERF_OK) {
            return restore_link(c, e);
        }
    }
    return mkperf_peer_pump(console_peer(c), timeout_ms, e) == MKPERF_OK ? MKPERF_OK
                                                                         : restore_link(c, e);
}

/* Sends a command and prints all parts of its answer. */
static enum mkperf_status send_command(struct console *c, const char *text, double patience_s,
                                       struct mkperf_error *e)
{
    mkperf_ToTarget m = {.which_msg = mkperf_ToTarget_command_tag};
    struct mkperf_peer *peer = console_peer(c);
    double began = mkperf_now_s();

    memcpy(m.msg.command.text, text, strlen(text) + 1);
    c->replied = false;
    if (mkperf_peer_ask(peer, &m, peer->source.ops->network ? 0 : REPEAT_S, patience_s, e) !=
        MKPERF_OK) {
        return e->status;
    }
    if (peer->answer.which_msg == mkperf_ToHost_error_tag) {
        return refuse(c, peer->answer.msg.error.text);
    }
    while (!c->replied && mkperf_now_s() - began < patience_s) {
        MKPERF_TRY(mkperf_peer_pump(peer, 20, e));
    }
    return MKPERF_OK;
}

enum mkperf_status console_line(struct console *c, char *line, struct mkperf_error *e)
{
    size_t n = strlen(line);
    struct mkperf_words words;
    enum mkperf_status status;

    while (n > 0 && isspace((unsigned char)line[n - 1])) {
        line[--n] = '\0';
    }
    line += strspn(line, " \t\r\n");
    if (*line == '\0' || *line == '#') {
        return MKPERF_OK;
    }
    if (!mkperf_words_split(&words, line, strlen(line)) || words.n == 0) {
        return refuse(
            c, "no command: it has at most 159 printable characters, 24 words, and pairs of '");
    }
    c->done = mkperf_word_is(words.word[0], "exit") || mkperf_word_is(words.word[0], "quit");
    if (mkperf_word_is(words.word[0], "help")) {
        puts(
            "Of this console: help; connect (again, after the connection was lost); exit or quit.\n"
            "Of the target:");
        for (unsigned i = 0; i < MKPERF_TEXT_COMMAND_COUNT; i++) {
            const struct mkperf_text_command *row = &mkperf_text_commands[i];
            printf("%s%s: %s\n", row->word, row->arguments, row->effect);
        }
        (void)fflush(stdout);
        return MKPERF_OK;
    }
    if (mkperf_word_is(words.word[0], "connect") && !c->connected) {
        mkperf_source_close(&console_peer(c)->source);
        c->connected = mkperf_peer_connect(console_peer(c), e) == MKPERF_OK;
        return c->connected ? MKPERF_OK : refuse(c, e->text);
    }
    if (!c->connected) {
        if (!c->done) {
            on_notice(c, "not connected; `connect` tries it");
        }
        return MKPERF_OK;
    }
    status = send_command(c, c->done ? "exit" : line,
                          c->done ? BYE_S : c->recorder.options.link.timeout_s, e);
    if (c->done) {
        return MKPERF_OK;
    }
    if (status == MKPERF_ERR_SILENT) {
        return refuse(c, "no answer from the target");
    }
    return status == MKPERF_OK ? MKPERF_OK : restore_link(c, e);
}

enum mkperf_status console_stream(struct console *c, struct mkperf_error *e)
{
    enum mkperf_status status = MKPERF_OK;
    char line[CONSOLE_LINE];
    size_t n = 0;

    while (status == MKPERF_OK && !c->done && !mkperf_peer_stopped(console_peer(c))) {
        struct pollfd ready = {.fd = STDIN_FILENO, .events = POLLIN};
        char byte;
        if (poll(&ready, 1, 0) <= 0) {
            status = listen_for(c, 50, e);
            continue;
        }
        bool end = read(STDIN_FILENO, &byte, 1) != 1;
        if (end || byte == '\n' || n == sizeof line - 1) {
            line[n] = '\0';
            n = 0;
            status = console_line(c, line, e);
        } else {
            line[n++] = byte;
        }
        if (end) {
            break;
        }
    }
    return status;
}

/*
 * The prompt at a terminal, with line editing and history by libedit. The target's messages are printed above the line
 * that is being typed.
 */

enum { HISTORY = 500, PATH_ROOM = 4096, END_OF_FILE = 4 /* Ctrl-D */ };

struct prompt {
    struct console *console;
    EditLine *edit;
    History *history;
    HistEvent event;
    char file[PATH_ROOM]; /* the file with the history; "": none */
    struct mkperf_error *error;
    enum mkperf_status status;
};

static char *text_of(EditLine *edit)
{
    static char prompt[] = "mkperf> ";

    (void)edit;
    return prompt;
}

/* Reads one character for libedit; prints the target's messages in the meantime. */
static int next_character(EditLine *edit, wchar_t *to)
{
    struct prompt *p;
    char byte;

    el_get(edit, EL_CLIENTDATA, &p);
    for (;;) {
        struct console *c = p->console;
        struct pollfd ready[2] = {
            {.fd = STDIN_FILENO, .events = POLLIN},
            {.fd = c->connected ? console_peer(c)->source.fd : -1, .events = POLLIN}};
        if (mkperf_peer_stopped(console_peer(c))) {
            return 0;
        }
        poll(ready, 2, 200);
        c->interrupted = false;
        c->prompting = true;
        p->status = listen_for(c, 0, p->error);
        c->prompting = false;
        if (p->status != MKPERF_OK) {
            return -1;
        }
        if (c->interrupted) {
            el_set(edit, EL_REFRESH);
        }
        if (ready[0].revents != 0) {
            break;
        }
    }
    if (read(STDIN_FILENO, &byte, 1) != 1) {
        return 0;
    }
    /* A Ctrl-D that was typed between two prompts, when the terminal was in canonical mode, is read as 0 in raw
     * mode (Linux's n_tty); libedit's Ctrl-@ would insert the next character literally. */
    *to = byte == '\0' ? END_OF_FILE : (unsigned char)byte;
    return 1;
}

static bool set_up(struct prompt *p)
{
    p->history = history_init();
    p->edit = el_init("mkperf", stdin, stdout, stderr);
    if (p->history == NULL || p->edit == NULL) {
        return false;
    }
    el_set(p->edit, EL_CLIENTDATA, p);
    el_set(p->edit, EL_PROMPT, text_of);
    el_set(p->edit, EL_EDITOR, "emacs");
    el_set(p->edit, EL_HIST, history, p->history);
    el_set(p->edit, EL_GETCFN, next_character);
    el_source(p->edit, NULL);
    /* Reads ~/.mkperf_history. Only the user can read this file, because commands may be confidential. */
    const char *home = getenv("HOME");
    history(p->history, &p->event, H_SETSIZE, HISTORY);
    history(p->history, &p->event, H_SETUNIQUE, 1);
    if (home != NULL && strlen(home) < sizeof p->file - 32) {
        snprintf(p->file, sizeof p->file, "%s/.mkperf_history", home);
        history(p->history, &p->event, H_LOAD, p->file);
    }
    return true;
}

enum mkperf_status console_prompt(struct console *c, struct mkperf_error *e)
{
    struct prompt p = {.console = c, .error = e};
    bool works = set_up(&p);

    if (!works) {
        p.status =
            mkperf_error_set(e, MKPERF_ERR_FAILED, "the terminal cannot be used for a prompt");
    }
    while (!c->done && p.status == MKPERF_OK && !mkperf_peer_stopped(console_peer(c))) {
        char copy[CONSOLE_LINE];
        int n;
        const char *line = el_gets(p.edit, &n);
        if (line == NULL || n <= 0) {
            break;
        }
        if (strspn(line, " \t\r\n") != strlen(line)) {
            history(p.history, &p.event, H_ENTER, line);
        }
        snprintf(copy, sizeof copy, "%s", line);
        p.status = console_line(c, copy, e);
    }
    if (works) {
        puts("");
        c->refused = false; /* a person has read the refusal */
    }
    if (p.file[0] != '\0') {
        mode_t mask = umask(S_IRWXG | S_IRWXO);
        history(p.history, &p.event, H_SAVE, p.file);
        umask(mask);
    }
    if (p.edit != NULL) {
        el_end(p.edit);
    }
    if (p.history != NULL) {
        history_end(p.history);
    }
    return p.status;
}
