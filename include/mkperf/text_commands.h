/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The language of text commands: `timer period 500`, `events cycles:u 'r11',period=5000`.
 *
 * Owns: the table of commands (their words, arguments, help) and the rule that divides a line into
 * words. Two programs compile it: the client PD executes commands (pd/client/command.c), and `mkperf
 * console` sends them and prints their help (host/cmd/cmd_console.c). docs/protocol.md, "Commands", describes
 * them for other programs. A new command is a row here and a function command_NAME in command.c.
 *
 *   line --split--> words --named(word[0])--> row: 1 + least to 1 + most words, who may --> function
 *
 * Example: "timer  all on" has the words "timer", "all" and "on"; its row is that of `timer`.
 */
#ifndef MKPERF_TEXT_COMMANDS_H
#define MKPERF_TEXT_COMMANDS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum {
    MKPERF_COMMAND_BYTES = 159, /* longest line, as Command.text of the protocol */
    MKPERF_COMMAND_WORDS = 24,
};

/* The hosts that may send a command. */
enum mkperf_command_right {
    MKPERF_COMMAND_ANY,     /* any host: it changes nothing */
    MKPERF_COMMAND_CONTROL, /* the host that controls the target */
    MKPERF_COMMAND_SET,     /* any host without arguments, and the controller with arguments */
};

/* clang-format off */
/* X(word, arguments, least number of them, most, right, effect) */
#define MKPERF_TEXT_COMMANDS(X) \
    X(help,     "", 0, 0, ANY, "prints this list") \
    X(connect,  "", 0, 0, ANY, "prints the target's name, and who controls it") \
    X(status,   "", 0, 0, ANY, "prints the session's numbers and the settings") \
    X(events,   " [NAME|rHEX[:ukGH][,period=N|,freq=N] ...]", 0, 15, SET, \
                "prints the CPU's events, or sets those to sample") \
    X(timer,    " all|N on|off, timer period USEC", 2, 2, CONTROL, \
                "samples cycles on all cores each USEC (10 to 1000000)") \
    X(sched,    " on|off", 1, 1, CONTROL, "records scheduling events") \
    X(prof_btdepth,  " DEPTH", 1, 1, CONTROL, "frames in a call chain, 0 to 64") \
    X(prof_qlimit,   " KB",    1, 1, CONTROL, "size of the output ring, 4 to 512") \
    X(prof_cpubufsz, " KB",    1, 1, CONTROL, "size of each core's ring, 4 to 256") \
    X(start,    "", 0, 0, CONTROL, "starts a session with these settings") \
    X(stop,     "", 0, 0, CONTROL, "stops it") \
    X(flush,    "", 0, 0, CONTROL, "sends what is in the rings") \
    X(clear,    "", 0, 0, CONTROL, "drops what is in the rings; not during a session") \
    X(exit,     "", 0, 0, ANY, "gives up control, and ends a connection over TCP")
/* clang-format on */

struct mkperf_text_command {
    const char *word;
    const char *arguments;
    uint8_t least; /* number of arguments */
    uint8_t most;
    uint8_t right; /* enum mkperf_command_right */
    const char *effect;
};

#define MKPERF_TEXT_ROW(word, arguments, least, most, right, effect) \
    {#word, arguments, least, most, MKPERF_COMMAND_##right, effect},
static const struct mkperf_text_command mkperf_text_commands[] = {
    MKPERF_TEXT_COMMANDS(MKPERF_TEXT_ROW)};
#undef MKPERF_TEXT_ROW

enum { MKPERF_TEXT_COMMAND_COUNT = sizeof mkperf_text_commands / sizeof *mkperf_text_commands };

struct mkperf_words {
    unsigned n;
    const char *word[MKPERF_COMMAND_WORDS]; /* each ends in a NUL, in bytes[] */
    char bytes[MKPERF_COMMAND_BYTES + 1];
};

static inline bool mkperf_word_is(const char *word, const char *other)
{
    while (*word != '\0' && *word == *other) {
        word++;
        other++;
    }
    return *word == *other;
}

/*
 * Divides a line of n bytes, which ends there or at a NUL, into words. Blanks are between words;
 * '...' encloses blanks, and '' in that is a quote. False: a quote has no end, a character is
 * invalid, or the line has too many words or bytes.
 */
static inline bool mkperf_words_split(struct mkperf_words *words, const char *text, size_t n)
{
    size_t out = 0;
    bool word = false;
    bool quoted = false;

    words->n = 0;
    for (size_t i = 0; i < n && text[i] != '\0'; i++) {
        char c = text[i];
        if (i == MKPERF_COMMAND_BYTES) {
            return false;
        }
        if (!quoted && (c == ' ' || c == '\t' || c == '\r' || c == '\n')) {
            words->bytes[out] = '\0';
            out += word;
            word = false;
            continue;
        }
        if (!word) {
            if (words->n == MKPERF_COMMAND_WORDS) {
                return false;
            }
            words->word[words->n++] = &words->bytes[out];
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
        words->bytes[out++] = c;
    }
    words->bytes[out] = '\0';
    return !quoted;
}

/* Returns the row of a word, or NULL if there is no such command. */
static inline const struct mkperf_text_command *mkperf_text_command_named(const char *word)
{
    for (unsigned i = 0; i < MKPERF_TEXT_COMMAND_COUNT; i++) {
        if (mkperf_word_is(word, mkperf_text_commands[i].word)) {
            return &mkperf_text_commands[i];
        }
    }
    return NULL;
}

#endif
