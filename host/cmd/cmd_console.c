/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * mkperf console: a conversation with the profiler of a running system in lines of text, typed or from a script.
 *
 *     a terminal ─► editing, history ───┐
 *     standard input, -c ───────────────┴─► line ─► host/link ─► target (pd/client/command.c)
 *                                                     │
 *     standard output ◄── answers, messages ──────────┘
 *
 * Owns: the options, commands, their answers, what the target sends without a request, and the prompt at a terminal.
 *
 *  1. include/mkperf/text_commands.h has the commands, their help and the rule for words, for the target and for this file. This
 *     file executes `help`, `exit`, `quit` and, without a connection, `connect`. The target executes all others.
 *  2. What the target sends without a request is printed at once, on separate lines, above the line that is being typed.
 *  3. A refused command is no error of the conversation. It is printed, and the exit status shows it unless a person typed it.
 *  4. A broken link is restored as in a recording. If it cannot be restored, the conversation continues without a connection, and
 *     ends if its commands were given with -c.
 *  5. With -o, all samples that arrive are written to a file, which is kept only if a session was in it.
 */
#include <histedit.h>

#include <mkperf/text_commands.h>

#include "cmd.h"
#include "link/recorder.h"

enum { CONSOLE_LINE = 512 };

struct console {
    struct mkperf_recorder recorder; /* the first member, as mkperf_recorder_talk_init requires */
    const char *commands; /* the argument of -c; NULL: commands are read from standard input */
    bool done;            /* exit was typed */
    bool refused;         /* the target refused a command */
    bool connected;
    bool replied; /* the last part of the answer has arrived */
    bool running; /* the session runs, as last reported */
    uint32_t session;
    bool prompting;   /* a line is being typed: its prompt is removed before output */
    bool interrupted; /* the prompt was removed */
};

static const double COMMAND_REPEAT_S =
    2.0;                         /* between repetitions of a command, which a line may lose */
static const double BYE_S = 1.0; /* the longest wait for the answer to exit */
static const double CONSOLE_RESET_S = 0.5; /* between two ResetChains */

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

/* Restores a broken link after an error, or continues without a connection. */
static enum mkperf_status restore_link(struct console *c, struct mkperf_error *e)
{
    if (e->status != MKPERF_ERR_LINK) {
        return e->status;
    }
    c->connected = mkperf_peer_reconnect(&c->recorder.link, e) == MKPERF_OK;
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
    if (mkperf_stream_needs_reset(s) && now - c->recorder.reset_s > CONSOLE_RESET_S) {
        c->recorder.reset_s = now;
        if (mkperf_peer_send(&c->recorder.link, &reset, e) != MKPERF_OK) {
            return restore_link(c, e);
        }
    }
    return mkperf_peer_pump(&c->recorder.link, timeout_ms, e) == MKPERF_OK ? MKPERF_OK
                                                                           : restore_link(c, e);
}

/* Handles one line: sends it as a command, and prints the answer. Refusals are printed; an error ends the console. */
static enum mkperf_status console_line(struct console *c, char *line, struct mkperf_error *e)
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
        mkperf_source_close(&c->recorder.link.source);
        c->connected = mkperf_peer_connect(&c->recorder.link, e) == MKPERF_OK;
        return c->connected ? MKPERF_OK : refuse(c, e->text);
    }
    if (!c->connected) {
        if (!c->done) {
            on_notice(c, "not connected; `connect` tries it");
        }
        return MKPERF_OK;
    }
    /* Sends the command and prints all parts of its answer. */
    mkperf_ToTarget m = {.which_msg = mkperf_ToTarget_command_tag};
    struct mkperf_peer *peer = &c->recorder.link;
    double began = mkperf_now_s(),
           patience_s = c->done ? BYE_S : c->recorder.options.link.timeout_s;
    snprintf(m.msg.command.text, sizeof m.msg.command.text, "%s", c->done ? "exit" : line);
    c->replied = false;
    status =
        mkperf_peer_ask(peer, &m, peer->source.ops->network ? 0 : COMMAND_REPEAT_S, patience_s, e);
    if (status == MKPERF_OK && peer->answer.which_msg == mkperf_ToHost_error_tag) {
        return refuse(c, peer->answer.msg.error.text);
    }
    while (status == MKPERF_OK && !c->replied && mkperf_now_s() - began < patience_s) {
        status = mkperf_peer_pump(peer, 20, e);
    }
    if (c->done) {
        return MKPERF_OK;
    }
    if (status == MKPERF_ERR_SILENT) {
        return refuse(c, "no answer from the target");
    }
    return status == MKPERF_OK ? MKPERF_OK : restore_link(c, e);
}

/* Waits for a byte of standard input. Handles the target's messages until then. `edit`, if it is not NULL, draws its prompt again
 * after them. Returns 1 with a byte, 0 at the end or if the user stops the console, and -1 after an error. */
static int next_byte(struct console *c, EditLine *edit, char *byte, struct mkperf_error *e)
{
    struct pollfd ready[2] = {{.fd = STDIN_FILENO, .events = POLLIN}, {.events = POLLIN}};

    do {
        if (mkperf_peer_stopped(&c->recorder.link)) {
            return 0;
        }
        ready[1].fd = c->connected ? c->recorder.link.source.fd : -1;
        poll(ready, 2, 200);
        c->interrupted = false;
        c->prompting = edit != NULL;
        enum mkperf_status status = listen_for(c, 0, e);
        c->prompting = false;
        if (status != MKPERF_OK) {
            return -1;
        }
        if (c->interrupted) {
            el_set(edit, EL_REFRESH);
        }
    } while (ready[0].revents == 0);
    return read(STDIN_FILENO, byte, 1) == 1;
}

/* Handles all lines of standard input. */
static enum mkperf_status console_stream(struct console *c, struct mkperf_error *e)
{
    char line[CONSOLE_LINE], byte = '\0';
    bool too_long = false;
    size_t n = 0;

    for (int got = 1; got == 1 && !c->done;) {
        got = next_byte(c, NULL, &byte, e);
        if (got < 0 || mkperf_peer_stopped(&c->recorder.link)) {
            return got < 0 ? e->status : MKPERF_OK;
        }
        if (got != 0 && byte != '\n') {
            too_long |= n == sizeof line - 1;
            line[n] = byte;
            n += n < sizeof line - 1;
            continue;
        }
        line[n] = '\0';
        n = 0;
        MKPERF_TRY(too_long ? refuse(c, "a line of more than 511 characters")
                            : console_line(c, line, e));
        too_long = false;
    }
    return MKPERF_OK;
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

/* Reads one character for libedit. */
static int next_character(EditLine *edit, wchar_t *to)
{
    struct prompt *p;
    char byte = '\0';

    el_get(edit, EL_CLIENTDATA, &p);
    int got = next_byte(p->console, edit, &byte, p->error);
    p->status = got < 0 ? p->error->status : MKPERF_OK;
    /* A Ctrl-D that was typed between two prompts, when the terminal was in canonical mode, is read as 0 in raw
     * mode (Linux's n_tty); libedit's Ctrl-@ would insert the next character literally. */
    *to = byte == '\0' ? END_OF_FILE : (unsigned char)byte;
    return got;
}

/* Handles lines that a person types at a terminal. */
static enum mkperf_status console_prompt(struct console *c, struct mkperf_error *e)
{
    struct prompt p = {.console = c, .error = e};
    const char *home = getenv("HOME");

    p.history = history_init();
    p.edit = el_init("mkperf", stdin, stdout, stderr);
    bool works = p.history != NULL && p.edit != NULL;
    if (!works) {
        p.status =
            mkperf_error_set(e, MKPERF_ERR_FAILED, "the terminal cannot be used for a prompt");
    } else {
        el_set(p.edit, EL_CLIENTDATA, &p);
        el_set(p.edit, EL_PROMPT, text_of);
        el_set(p.edit, EL_EDITOR, "emacs");
        el_set(p.edit, EL_HIST, history, p.history);
        el_set(p.edit, EL_GETCFN, next_character);
        el_source(p.edit, NULL);
        history(p.history, &p.event, H_SETSIZE, HISTORY);
        history(p.history, &p.event, H_SETUNIQUE, 1);
    }
    /* Reads ~/.mkperf_history. Only the user can read this file, because commands may be confidential. */
    if (works && home != NULL && strlen(home) < sizeof p.file - 32) {
        snprintf(p.file, sizeof p.file, "%s/.mkperf_history", home);
        history(p.history, &p.event, H_LOAD, p.file);
    }
    while (!c->done && p.status == MKPERF_OK && !mkperf_peer_stopped(&c->recorder.link)) {
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

static const struct mkperf_option console_options[] = {
    MKPERF_OPTION('c', "command", "these commands, and no prompt; status %d if one was refused",
                  .value = "\"CMD; CMD\"", .number = MKPERF_ERR_REFUSED,
                  MKPERF_TEXT(struct console, commands)),
    MKPERF_OPTION('o', "output", "samples that arrive go into this perf.data file",
                  MKPERF_TAKES(FILE, "FILE"), MKPERF_TEXT(struct console, recorder.options.output)),
    {.letter = 0},
};

static enum mkperf_status run_console(void *self, const struct mkperf_args *args,
                                      struct mkperf_error *e)
{
    struct console *c = self;
    struct mkperf_recorder *r = &c->recorder;
    enum mkperf_status status;

    (void)args;
    MKPERF_TRY(
        MKPERF_RULES(e, "console", {r->options.link.target == NULL, "no target: give -t TARGET"}));
    r->stop = mkperf_process_interrupts();
    r->options.link.reconnect_s = MKPERF_RECONNECT_S;
    r->text.print = on_line;
    r->control = on_control;
    r->notice = on_notice;
    r->warn = r->options.output != NULL ? on_notice : NULL;
    r->self = c;
    status = mkperf_recorder_talk(r, NULL, r->options.output, e);
    c->connected = status == MKPERF_OK;
    if (c->connected && r->options.link.take_over) {
        status = mkperf_recorder_take_control(r, e);
    }
    if (status == MKPERF_OK && c->commands != NULL) {
        char *copy = mkperf_xstrdup(c->commands), *rest = NULL;
        for (char *line = strtok_r(copy, ";\n", &rest);
             line != NULL && status == MKPERF_OK && !c->done &&
             !mkperf_peer_stopped(&c->recorder.link);
             line = strtok_r(NULL, ";\n", &rest)) {
            status = console_line(c, line, e);
        }
        free(copy);
    } else if (status == MKPERF_OK && isatty(STDIN_FILENO)) {
        status = console_prompt(c, e);
    } else if (status == MKPERF_OK) {
        status = console_stream(c, e);
    }
    /* Finishes the output file. Its error is returned unless the conversation failed. */
    struct mkperf_error late = {.status = MKPERF_OK};
    const struct mkperf_stream *s = r->stream;
    if (s != NULL && r->options.output != NULL && !s->began) {
        mkperf_sink_abandon(&s->config.sink);
    } else if (s != NULL && r->options.output != NULL &&
               mkperf_recorder_talk_keep(r, &late) == MKPERF_OK) {
        fprintf(stderr, "mkperf: %s: %" PRIu64 " sample%s\n", r->options.output, s->totals.samples,
                mkperf_plural(s->totals.samples));
    }
    if (late.status != MKPERF_OK && status == MKPERF_OK) {
        *e = late;
        return late.status;
    }
    if (status == MKPERF_OK && c->refused) {
        e->text[0] = '\0'; /* the refusal was printed when it arrived */
        return MKPERF_ERR_REFUSED;
    }
    return status;
}

const struct mkperf_command mkperf_console_command = {
    .name = "console",
    .summary = "commands for the profiler of a running system",
    .synopsis = "-t TARGET [options]",
    .description =
        "Commands for the profiler of a running system: typed at a prompt, from standard "
        "input, or from -c. help at the prompt lists them.",
    .options = {{mkperf_link_options, offsetof(struct console, recorder.options.link)},
                {console_options, 0},
                {mkperf_names_options, offsetof(struct console, recorder.options)},
                {mkperf_watch_options, offsetof(struct console, recorder.options.link)},
                {mkperf_control_options, offsetof(struct console, recorder.options.link)}},
    .sections = {{.title = "TARGET is one of", .list = mkperf_target_help}},
    .statuses = MKPERF_STATUSES_FILES | MKPERF_STATUSES_TARGET,
    .self = {.bytes = sizeof(struct console)},
    .init = mkperf_recorder_talk_init,
    .run = run_console,
    .end = mkperf_recorder_free,
};
