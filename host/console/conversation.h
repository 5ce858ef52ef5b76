/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * A console: a conversation with a target in lines of text.
 *
 * Owns: sending commands and printing what comes. Called by `mkperf console`, which owns its
 * options. Answers go to standard output; console text of the target, marks, and what happens
 * unasked are printed as they come, each in lines of its own.
 */
#ifndef MKPERF_HOST_CONSOLE_CONVERSATION_H
#define MKPERF_HOST_CONSOLE_CONVERSATION_H

#include "base/console_text.h"
#include "link/talk.h"

enum { CONSOLE_LINE = 512 };

struct console {
    struct mkperf_talk talk;
    const char *commands; /* of -c, NULL */
    bool done;            /* exit was typed */
    bool refused;         /* the target did not like a command */
    bool connected;
    struct mkperf_symbols *symbols; /* with -o */
    struct mkperf_perfdata *perfdata;
    bool replied; /* the last part of the answer came */
    bool running; /* a session, as far as was told */
    uint32_t session;
    struct mkperf_console_text text;   /* the target's console */
    void (*before)(struct console *c); /* something will be printed: the prompt has to go */
    bool interrupted;                  /* it went */
};

static inline struct mkperf_peer *console_peer(struct console *c)
{
    return &c->talk.recorder.link;
}

enum mkperf_status console_open(struct console *c, struct mkperf_error *e);
/* Finishes the output file. status is how it went so far, and the result if all is well. */
enum mkperf_status console_close(struct console *c, enum mkperf_status status,
                                 struct mkperf_error *e);

/* One command. Errors that end the console only; what the target refuses is printed. */
enum mkperf_status console_line(struct console *c, char *line, struct mkperf_error *e);

/* What comes within timeout_ms; a link that breaks is made again, or c->connected is false. */
enum mkperf_status console_listen(struct console *c, int timeout_ms, struct mkperf_error *e);

/* Lines from standard input, to its end. */
enum mkperf_status console_stream(struct console *c, struct mkperf_error *e);
/* console/prompt.c: the same, typed by a person, with editing and history. */
enum mkperf_status console_prompt(struct console *c, struct mkperf_error *e);

#endif
