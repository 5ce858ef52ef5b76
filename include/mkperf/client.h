/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * For programs that control their profile: protected calls to the client PD start and stop sessions
 * and mark phases.
 *
 * The system description needs a channel between the program's PD and the client PD, with
 * `pp="true"` at the program's end and a number from 16 to 31 at the client's end:
 *
 *     <channel>
 *         <end pd="my_program" id="7" pp="true" />
 *         <end pd="mkperf_client" id="16" />
 *     </channel>
 *
 * The program's priority must be below the client PD's (Microkit's rule). In the program:
 *
 *     #include <mkperf/client.h>
 *     mkperf_app_mark(7, MKPERF_MARK_BEGIN, 0, "request");
 *     ...
 *     mkperf_app_mark(7, MKPERF_MARK_END, 0, "request");
 *
 * Owns: the message words of those calls. A call takes some microseconds and never waits for a
 * host.
 */
#ifndef MKPERF_CLIENT_H
#define MKPERF_CLIENT_H

#include <stdint.h>

enum mkperf_app_op {
    MKPERF_APP_START = 1, /* starts the configured events, or cycles at 1 kHz */
    MKPERF_APP_STOP = 2,
    MKPERF_APP_MARK = 3,  /* takes the words of mkperf_app_mark */
    MKPERF_APP_RUNS = 4,  /* OK if a session or a flight recording runs; else REFUSED */
    MKPERF_APP_DUMP = 25, /* takes the words of a mark; adds it and holds the flight recording */
};

enum mkperf_app_result {
    MKPERF_APP_OK = 0,
    MKPERF_APP_REFUSED = 1, /* for example: there is no PMU, the last session is still being
                               sent, or no flight recording runs */
    MKPERF_APP_MALFORMED = 2,
};

enum mkperf_mark_kind {
    MKPERF_MARK_POINT = 0,
    MKPERF_MARK_BEGIN = 1, /* begins a phase; the END with the same id and name ends it */
    MKPERF_MARK_END = 2,
};

enum mkperf_app_words {
    MKPERF_APP_NAME_BYTES = 32, /* longest name of a mark and of a PD, with NUL */
    MKPERF_APP_MARK_WORDS = 1 + 2 * MKPERF_APP_NAME_BYTES / 8, /* kind and id, name, PD's name */
};

/*
 * Counts n packets, or other units of work, without a call: 3 instructions. The profiler PD maps the counter's page as well, and
 * the description of the queues lists the counter (docs/flow.md#packets-without-a-queue). Only one PD writes it.
 */
static inline void mkperf_app_packets(uint64_t *counter, uint64_t n)
{
    __atomic_store_n(counter, __atomic_load_n(counter, __ATOMIC_RELAXED) + n, __ATOMIC_RELAXED);
}

/* The rest is for programs. The client PD and the tests use only the part above. */
#ifdef MICROKIT_MAX_CHANNELS

static inline void mkperf_app_put_text(unsigned first, const char *text)
{
    unsigned n = 0;

    for (unsigned i = 0; i < MKPERF_APP_NAME_BYTES / 8; i++) {
        uint64_t word = 0;
        for (unsigned b = 0; b < 8 && n < MKPERF_APP_NAME_BYTES - 1 && text[n] != '\0'; b++, n++) {
            word |= (uint64_t)(uint8_t)text[n] << 8 * b;
        }
        microkit_mr_set((uint8_t)(first + i), word);
    }
}

static inline uint32_t mkperf_app_call(unsigned channel, enum mkperf_app_op op, unsigned words)
{
    microkit_msginfo reply =
        microkit_ppcall(channel, microkit_msginfo_new((uint64_t)op, (uint16_t)words));

    return (uint32_t)microkit_msginfo_get_label(reply);
}

/* Starts a session; the next function stops it. Both return an enum mkperf_app_result:
 * MKPERF_APP_OK also if a start finds a session that already runs, or a stop finds none. */
static inline uint32_t mkperf_app_start(unsigned channel)
{
    return mkperf_app_call(channel, MKPERF_APP_START, 0);
}

static inline uint32_t mkperf_app_stop(unsigned channel)
{
    return mkperf_app_call(channel, MKPERF_APP_STOP, 0);
}

/* Returns whether a session or a flight recording runs, for a program that waits for one. */
static inline int mkperf_app_runs(unsigned channel)
{
    return mkperf_app_call(channel, MKPERF_APP_RUNS, 0) == MKPERF_APP_OK;
}

static inline void mkperf_app_put_mark(enum mkperf_mark_kind kind, uint32_t id, const char *name)
{
    microkit_mr_set(0, (uint64_t)kind << 32 | id);
    mkperf_app_put_text(1, name);
    mkperf_app_put_text(1 + MKPERF_APP_NAME_BYTES / 8, microkit_name);
}

/* Sets a mark. name: shown in the profile, cut at 31 bytes; id: a number that the program chooses. */
static inline uint32_t mkperf_app_mark(unsigned channel, enum mkperf_mark_kind kind, uint32_t id,
                                       const char *name)
{
    mkperf_app_put_mark(kind, id, name);
    return mkperf_app_call(channel, MKPERF_APP_MARK, MKPERF_APP_MARK_WORDS);
}

/*
 * Holds the flight recording (mkperf record --overwrite) for `mkperf dump`, with a mark of that
 * name and number at its end. A program calls it when it detects an error. Without a flight
 * recording it returns MKPERF_APP_REFUSED and has no effect.
 */
static inline uint32_t mkperf_app_dump(unsigned channel, uint32_t id, const char *name)
{
    mkperf_app_put_mark(MKPERF_MARK_POINT, id, name);
    return mkperf_app_call(channel, MKPERF_APP_DUMP, MKPERF_APP_MARK_WORDS);
}

#endif

#endif
