/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * A console: a conversation with a target in lines of text.
 *
 * Owns: sending commands and printing received messages. Called by `mkperf console`, which owns its
 * options. Answers are printed on standard output; console text of the target, marks, and
 * unsolicited messages are printed as they arrive, each on separate lines.
 */
#ifndef MKPERF_HOST_CONSOLE_CONVERSATION_H
#define MKPERF_HOST_CONSOLE_CONVERSATION_H

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

static inline struct mkperf_peer *console_peer(struct console *c)
{
    return &c->recorder.link;
}

/* Connects. */
enum mkperf_status console_open(struct console *c, struct mkperf_error *e);
/* Finishes the output file and ends the connection. status: of the conversation, which is returned unless only
 * the file fails. */
enum mkperf_status console_close(struct console *c, enum mkperf_status status,
                                 struct mkperf_error *e);

/* Handles one line: sends it as a command, and prints the answer. Refusals are printed; an error ends the
 * console. */
enum mkperf_status console_line(struct console *c, char *line, struct mkperf_error *e);

/* Handles all lines of standard input. */
enum mkperf_status console_stream(struct console *c, struct mkperf_error *e);
/* conversation.c: handles lines that a person types at a terminal, with editing and history. */
enum mkperf_status console_prompt(struct console *c, struct mkperf_error *e);

#endif
