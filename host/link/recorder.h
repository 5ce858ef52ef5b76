/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * A recording: a link, the decoder, the output, and the conversation with the target.
 *
 * Owns: the order of a recording, and what happens when the link breaks, the target is restarted,
 * or another host takes over. Called by `mkperf record`, which owns what is printed.
 */
#ifndef MKPERF_HOST_LINK_RECORDER_H
#define MKPERF_HOST_LINK_RECORDER_H

#include "base/console_text.h"
#include "base/outfile.h"
#include "connection.h"
#include "perfdata/writer.h"
#include "record_options.h"
#include "wire/wire_stream.h"

enum {
    /* Of one answer: many times what a target's tables fill. A number from the wire needs a bound. */
    MKPERF_MAX_PARTS = 4096
};

struct mkperf_recorder {
    /* Set before mkperf_recorder_init; what is not needed stays 0. */
    struct mkperf_record_options options; /* first, for commands that have only these */
    struct mkperf_console_text text;      /* print: gets the lines of the target's console */
    void (*notice)(void *self, const char *text);
    void (*warn)(void *self, const char *text); /* about names and ELFs */
    void (*progress)(void *self); /* after every read, and at least ten times a second */
    void (*control)(void *self, const mkperf_ToHost *m); /* every message but batches */
    volatile int *stop;                                  /* not 0: the user requests the end */
    /* When names are settled, before anything is configured: what is asked for by name. */
    enum mkperf_status (*named)(void *self, struct mkperf_error *e);
    void *self;

    struct mkperf_peer link;
    struct mkperf_symbols *symbols;
    struct mkperf_pds *pds;
    struct mkperf_stream *stream;
    struct mkperf_perfdata *perfdata;
    struct mkperf_outfile raw;          /* path NULL: none */
    bool own;                           /* unless watching, only sessions that it started count */
    bool begun;                         /* our session was, and its target knows */
    bool watching;                      /* does not control, or no longer */
    bool ended;                         /* another host ended the session */
    bool forgotten;                     /* the target does not know the session */
    unsigned breaks;                    /* of the link */
    bool gap_open;                      /* its losses are not known yet */
    uint64_t gap_samples, gap_lost;     /* samples and scheduling events before it; lost */
    double synced_s, reset_s, status_s; /* when each was last done; status: requested or received */
    uint64_t status_ns;                 /* the samples' time then */
    uint64_t moved_ns;                  /* the samples' time, */
    double moved_s;                     /* and when it was seen to move last */
    double apart_s;                     /* between two such moments, at most, not long ago */
};

/* Prepares symbols, pds and link; options, stop and the functions above are set. names_only: ELFs are
 * not looked for. Errors: USAGE, INPUT, as mkperf_pds_new. In any case, mkperf_recorder_free. */
enum mkperf_status mkperf_recorder_init(struct mkperf_recorder *r, bool names_only,
                                        struct mkperf_error *e);
/* Then the stream, whose samples and what else a recording has go to the sink. command: for the
 * session, NULL. */
void mkperf_recorder_decode(struct mkperf_recorder *r, struct mkperf_sink sink,
                            const char *command);
/* Ends the connection, and frees what r has, the command of its options included. Idempotent; r may
 * be initialised again. */
void mkperf_recorder_free(struct mkperf_recorder *r);

/*
 * recorder_image.c: the connection, and the image's own list of its programs, by which names and
 * ELFs are settled (mkperf_stream_settle). r->stream was made with config.asks. Errors: SILENT,
 * NOISE, PROTOCOL, REFUSED, LINK; INPUT: those of the .system file and its ELFs.
 */
enum mkperf_status mkperf_recorder_connect(struct mkperf_recorder *r, struct mkperf_error *e);

/* Configure, Start, after a connection. Errors: SILENT, NOISE, PROTOCOL, REFUSED, LINK. */
enum mkperf_status mkperf_recorder_start(struct mkperf_recorder *r, struct mkperf_error *e);

/*
 * Takes in samples until the duration is over, the user stops it or the session is ended by others.
 * A link that breaks is made again, a target that was restarted gets a new session.
 */
enum mkperf_status mkperf_recorder_run(struct mkperf_recorder *r, struct mkperf_error *e);

/* Sends Stop and receives messages in transit, until 3 s without a byte. */
enum mkperf_status mkperf_recorder_stop(struct mkperf_recorder *r, struct mkperf_error *e);

/* recorder_image.c: keeps copies of the ELFs that have given names (symbols/find_elf.h), if a file is
 * written and the options do not say otherwise. What cannot be kept is a warning. */
void mkperf_recorder_keep_elfs(struct mkperf_recorder *r);

/* Reads a capture to its end. */
enum mkperf_status mkperf_recorder_replay(struct mkperf_recorder *r, struct mkperf_error *e);

/* Sends m, again until it is answered; the answer is in r->link.answer, an Error from the target,
 * too. SILENT: no answer in time. */
enum mkperf_status mkperf_recorder_ask(struct mkperf_recorder *r, mkperf_ToTarget *m,
                                       const char *what, struct mkperf_error *e);
/* REFUSED with the target's reason, if that is what r->link.answer holds. */
enum mkperf_status mkperf_recorder_refused(const struct mkperf_recorder *r, struct mkperf_error *e);

/* recorder_resume.c: after an error LINK, which *e holds. That, or another one, if it was in vain.
 */
enum mkperf_status mkperf_recorder_resume(struct mkperf_recorder *r, struct mkperf_error *e);

/* Control, Configure and Start, or as a watcher nothing. */
enum mkperf_status mkperf_recorder_begin(struct mkperf_recorder *r, struct mkperf_error *e);
/* Takes control of the target: if no host has it, from our own lost connection, or from another
 * host. */
enum mkperf_status mkperf_recorder_take_control(struct mkperf_recorder *r, struct mkperf_error *e);
/* As mkperf_recorder_ask, for requests of the controller: takes control if the target asks for it. */
enum mkperf_status mkperf_recorder_request(struct mkperf_recorder *r, mkperf_ToTarget *m,
                                           const char *what, struct mkperf_error *e);

/* ---- recorder_talk.c: conversations that are not recordings: list, stat, latency, console ---- */

/* For a command whose state begins with a recorder: defaults of its options, and its end. */
void mkperf_recorder_talk_init(void *recorder, int argc, char **argv);
void mkperf_recorder_talk_end(void *recorder);

/*
 * Instead of init, decode and connect. What arrives goes into a file `recording`, or if that is NULL
 * to the sink; both NULL: nowhere. Errors: as mkperf_recorder_start. mkperf_recorder_free in any
 * case.
 */
enum mkperf_status mkperf_recorder_talk(struct mkperf_recorder *r, const struct mkperf_sink *sink,
                                        const char *recording, struct mkperf_error *e);

/* Finishes the recording, after the session's end. Without that, or if nothing arrived (INPUT), there
 * is none. Errors: OUTPUT. */
enum mkperf_status mkperf_recorder_talk_keep(struct mkperf_recorder *r, struct mkperf_error *e);

/* ---- recorder_dump.c ---- */

/* Instead of start, run and stop: fetches a flight recording; with options->wait, once
 * it is held. Errors: as mkperf_recorder_start. */
enum mkperf_status mkperf_recorder_dump(struct mkperf_recorder *r, struct mkperf_error *e);

/* Asks for the software events of the session, which the decoder then has; none: no error. Errors:
 * those of mkperf_recorder_ask; INPUT: an answer with another part or too many. */
enum mkperf_status mkperf_recorder_interactions(struct mkperf_recorder *r, struct mkperf_error *e);

/* ---- recorder_observe.c: the target's data for `-e timer`, before Configure ---- */

/* Whether the configuration is for the timer. */
bool mkperf_observe_wanted(const mkperf_Configure *c);

/*
 * Tells the target. PDs that cannot be observed are named to the user. Errors: USAGE without a
 * .system file, or one without the target's profiler PD; REFUSED by the target; those of the link.
 */
enum mkperf_status mkperf_observe(struct mkperf_recorder *r, struct mkperf_error *e);

/* For a recording's summary: the attribution of the timer's samples, and the target's data on
 * it. Nothing for other recordings. */
void mkperf_observe_summary(const struct mkperf_stream *s, FILE *out);

#endif
