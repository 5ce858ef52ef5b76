/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Owns: the prompt at a terminal, with line editing and history by libedit. The target's messages are
 * printed above the line that is being typed.
 */
#include <histedit.h>
#include <poll.h>
#include <sys/stat.h>
#include <unistd.h>

#include "conversation.h"

enum { HISTORY = 500, PATH_ROOM = 4096, END_OF_FILE = 4 /* Ctrl-D */ };

struct prompt {
    struct console *console;
    EditLine *edit;
    History *history;
    HistEvent event;
    char file[PATH_ROOM]; /* of the history; "": none */
    struct mkperf_error *error;
    enum mkperf_status status;
};

static char *text_of(EditLine *edit)
{
    static char prompt[] = "mkperf> ";

    (void)edit;
    return prompt;
}

static void clear_line(struct console *c)
{
    if (!c->interrupted) {
        c->interrupted = true;
        fputs("\r\033[K", stdout);
    }
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
        c->before = clear_line;
        p->status = console_listen(c, 0, p->error);
        c->before = NULL;
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
