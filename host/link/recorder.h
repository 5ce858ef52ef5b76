/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The recorder: a session with a target, and what arrives in it. The options of `mkperf record` come first, then the recorder.
 */
#ifndef MKPERF_HOST_LINK_RECORDER_H
#define MKPERF_HOST_LINK_RECORDER_H

#include "connection.h"
#include "perfdata/perfdata.h"
#include "sched/analysis.h"

/*
 * The options of `mkperf record`. Other commands that talk to a target have some of them too.
 *
 * Owns: their tables, parsing and defaults.
 */
struct mkperf_record_options {
    struct mkperf_peer_options link;
    const char *output;
    const char *raw;      /* file for the line's bytes; NULL: none */
    uint32_t compression; /* level, as of mkperf_perfdata_compress */
    const char *system, *elf_path, *kernel, *guest;
    const char *pd, *subtree;  /* names of PDs, see mkperf_filter */
    const char *dump_on_fault; /* names of PDs, see mkperf_filter */
    const char *stop_if;       /* conditions, see flight_start.c */
    bool wait;                 /* `mkperf dump` waits until the flight recording has ended */
    uint64_t count, frequency; /* -c, -F; 0: not given */
    mkperf_Configure configure;
    double duration_s; /* 0: until interrupted */
    /* Length of the windows in which the target counts samples; 0: it sends each sample. */
    double aggregate_s;
    bool quiet;
    bool keep_no_elfs;
    bool queues;         /* the indices of the queues that the image lists are recorded */
    bool sample_queues;  /* the indices of queues are recorded without scheduling events */
    const char *command; /* the whole command line */
};

enum { MKPERF_DEFAULT_FREQUENCY = 1000, MKPERF_DEFAULT_TIMEOUT_S = 5, MKPERF_AGGREGATE_S = 10 };

/* Tables for a struct mkperf_peer_options: -t, --timeout, --key-file; --watch; --take-over; --reconnect. */
extern const struct mkperf_option mkperf_link_options[], mkperf_watch_options[],
    mkperf_control_options[], mkperf_reconnect_options[];
/* Tables for a struct mkperf_record_options: -e -c -F ...; --system, --elf-path; --kernel; which PDs are
 * sampled; the output; flight recordings, software and scheduling events. */
extern const struct mkperf_option mkperf_sampling_options[], mkperf_names_options[],
    mkperf_kernel_options[], mkperf_choice_options[], mkperf_output_options[],
    mkperf_flight_options[];

/* Store -e EVENTS in a mkperf_Configure, and the mask of -C LIST in a uint32_t, for commands that configure the target. */
mkperf_take mkperf_take_events, mkperf_take_core_mask;

/* Puts the kinds of TARGET, a section of help. */
void mkperf_target_help(mkperf_put *put, void *to);

/* Sets defaults, in a struct mkperf_record_options. */
void mkperf_record_options_init(void *options);
/* Checks the options after parsing. Returns USAGE if an option is missing, or options exclude each
 * other. */
enum mkperf_status mkperf_record_options_finish(struct mkperf_record_options *o,
                                                const char *command, struct mkperf_error *e);

/*
 * A recorder: a connection, the stream decoder, and a conversation with the target.
 *
 * Owns: the order of a recording, and what happens when the link breaks, the target is restarted, or
 * another host takes over. Called by `mkperf record`, and by all other commands that talk to a target;
 * they own what is printed.
 *
 *     init ─► decode ─► start ───────────────────────────► run ─► stop     a recording
 *                         connect  (image, names)            │
 *                         begin    (Configure, Start)        └─ resume: after a broken link
 *     init ─► decode ─► replay                                             a capture
 *     init ─► decode ─► dump                                               a flight recording
 *     talk (init, decode, connect) ─► ask, request, ...                    list, stat, latency, console
 *
 * A request is repeated until it is answered, so a lost frame costs only time.
 */

enum { MKPERF_MAX_PARTS = 4096 }; /* of one answer: many times what a target's tables fill */

struct mkperf_recorder {
    /* Set before mkperf_recorder_init; what is not needed stays 0. */
    struct mkperf_record_options options; /* the first member, for commands that have only these */
    struct mkperf_console_text text;      /* print: gets the lines of the target's console */
    void (*notice)(void *self, const char *text);
    void (*warn)(void *self, const char *text); /* about names and ELFs */
    void (*progress)(void *self); /* called after every read, and at least ten times per second */
    void (*control)(void *self, const mkperf_ToHost *m); /* gets every message except batches */
    volatile int *stop;                                  /* not 0: the user requests the end */
    void *self;

    struct mkperf_peer link;
    struct mkperf_symbols *symbols;
    struct mkperf_pds *pds;
    struct mkperf_stream *stream;
    struct mkperf_perfdata *perfdata;

    /* The session. */
    bool own;       /* this is a recording: unless watching, only sessions that it started count */
    bool begun;     /* the target has confirmed our session */
    bool watching;  /* does not control the target, or not any more */
    bool ended;     /* the session was ended on the target */
    bool forgotten; /* the target does not know the session */
    /* A session with windows (Configure.aggregate_ms) ends after the last window. When the duration has passed on this host,
     * the recorder requests the target's counters until they show no new samples. */
    bool overdue;                        /* the duration has passed on this host */
    double overdue_pause_s;              /* the pause between two requests */
    uint64_t overdue_samples;            /* the target's samples when they last grew */
    unsigned statuses, overdue_statuses; /* Status messages: all, and those until then */
    unsigned breaks;                     /* number of times that the link broke */

    /* A gap after a broken link, until samples arrive again. */
    bool gap_open;
    uint64_t gap_samples; /* samples and scheduling events before it */
    uint64_t gap_lost;    /* samples that were lost in transit before it */

    /* When things were last done, in seconds of the host's monotonic clock. */
    double synced_s;  /* when the files were last flushed */
    double reset_s;   /* when ResetChains was last sent */
    uint64_t watched; /* what the target had recorded at watched_s, before the first batch */
    double watched_s; /* when that was seen to grow */
    double status_s;  /* a Status was requested or received */
    double moved_s;   /* the time of the samples was seen to move */
    double apart_s;   /* the longest recent interval between two such moments */
    uint64_t status_ns, moved_ns; /* the time of the last sample at status_s, and at moved_s */
};

/* ---- recorder.c ---- */

/* Prepares symbols, pds and link; options, stop and the functions above are set. names_only: ELFs are
 * not looked for. Errors: USAGE, INPUT, as mkperf_pds_new. In any case, mkperf_recorder_free. */
enum mkperf_status mkperf_recorder_init(struct mkperf_recorder *r, bool names_only,
                                        struct mkperf_error *e);
/* Makes the stream, which passes all of a recording on to the sink. Called after init. command: for
 * the session; NULL: none. */
void mkperf_recorder_decode(struct mkperf_recorder *r, struct mkperf_sink sink,
                            const char *command);
/* Ends the connection, and frees what the recorder has. Idempotent; it may be initialised again. It is the end of a command of
 * which the state begins with a recorder. */
void mkperf_recorder_free(void *recorder);

/* Sends m, repeatedly until it is answered. The answer, which may be an Error, is in r->link.answer.
 * SILENT: no answer in time. */
enum mkperf_status mkperf_recorder_ask(struct mkperf_recorder *r, mkperf_ToTarget *m,
                                       const char *what, struct mkperf_error *e);
/* Returns REFUSED with the target's reason, if r->link.answer is an Error. */
enum mkperf_status mkperf_recorder_refused(const struct mkperf_recorder *r, struct mkperf_error *e);
/* Takes control of the target: if no host has it, from our own broken connection, or, with
 * --take-over, from another host. */
enum mkperf_status mkperf_recorder_take_control(struct mkperf_recorder *r, struct mkperf_error *e);
/* Sends a request of the controller like mkperf_recorder_ask, and takes control first if the target demands it. */
enum mkperf_status mkperf_recorder_request(struct mkperf_recorder *r, mkperf_ToTarget *m,
                                           const char *what, struct mkperf_error *e);
/* Like mkperf_recorder_request, for a request that the target refuses while a session runs. A session that another host left running
 * is ended first. Errors: REFUSED, too. */
enum mkperf_status mkperf_recorder_request_alone(struct mkperf_recorder *r, mkperf_ToTarget *m,
                                                 const char *what, struct mkperf_error *e);

/* ---- recorder_observe.c: the target's data for `-e timer`, before Configure ---- */

/* Returns whether the configuration is for the timer. */
bool mkperf_observe_wanted(const mkperf_Configure *c);

/*
 * Sends the data to the target. PDs that cannot be observed are named to the user. Errors: USAGE
 * without a .system file, or if it lacks the target's profiler PD; REFUSED by the target; those of
 * the link.
 */
enum mkperf_status mkperf_observe(struct mkperf_recorder *r, struct mkperf_error *e);

/* Prints a recording's summary of the attribution of the timer's samples. Prints nothing for other
 * recordings. */
void mkperf_observe_summary(const struct mkperf_stream *s, FILE *out);

/* ---- recorder_start.c ---- */

/*
 * Connects, and fetches the image's own list of its programs, by which names and ELFs are settled
 * (mkperf_stream_settle). The stream was made with config.asks. Errors: SILENT, NOISE, PROTOCOL,
 * REFUSED, LINK; INPUT: those of the .system file and its ELFs.
 */
enum mkperf_status mkperf_recorder_connect(struct mkperf_recorder *r, struct mkperf_error *e);

/* Keeps copies of the ELFs that have given names (symbols/symbols.h), if a file is written and the
 * options allow it. What cannot be kept is a warning. */
void mkperf_recorder_keep_elfs(struct mkperf_recorder *r);

/* Sends Configure and Start; a watcher does nothing. Errors: SILENT, NOISE, PROTOCOL, REFUSED (the target's build cannot do it, too),
 * LINK. */
enum mkperf_status mkperf_recorder_begin(struct mkperf_recorder *r, struct mkperf_error *e);
/* Connects, replaces the names of PDs in the options by numbers, and begins. Errors: those of the three. */
enum mkperf_status mkperf_recorder_start(struct mkperf_recorder *r, struct mkperf_error *e);
/* Restores the link and the session after an error LINK, which *e holds. Errors: LINK or another one, if it cannot be
 * restored. */
enum mkperf_status mkperf_recorder_resume(struct mkperf_recorder *r, struct mkperf_error *e);

/* ---- recorder_run.c ---- */

/*
 * Records until the duration is over, the user stops it, or the session is ended on the target. A link
 * that breaks is restored; a target that was restarted gets a new session.
 */
enum mkperf_status mkperf_recorder_run(struct mkperf_recorder *r, struct mkperf_error *e);

/* Sends Stop and receives messages in transit, until 3 s without a byte. */
enum mkperf_status mkperf_recorder_stop(struct mkperf_recorder *r, struct mkperf_error *e);

/* Reads a capture to its end. */
enum mkperf_status mkperf_recorder_replay(struct mkperf_recorder *r, struct mkperf_error *e);

/* ---- recorder_run.c: list, stat, latency, console, dump ---- */

/* Sets the defaults of the options of a command of which the state begins with a recorder. */
void mkperf_recorder_talk_init(void *recorder);

/*
 * Starts a conversation that is no recording, instead of init, decode and connect. What arrives is
 * written to a file `recording`, or if that is NULL passed to the sink; both NULL: it is discarded.
 * Errors: as mkperf_recorder_start. mkperf_recorder_free in any case.
 */
enum mkperf_status mkperf_recorder_talk(struct mkperf_recorder *r, const struct mkperf_sink *sink,
                                        const char *recording, struct mkperf_error *e);

/* Finishes the recording, after the session's end. Without this call, or if nothing arrived (INPUT),
 * no file remains. Errors: OUTPUT. */
enum mkperf_status mkperf_recorder_talk_keep(struct mkperf_recorder *r, struct mkperf_error *e);

/*
 * Asks for what the target counts: software events of the session, counts in addition to the samples of the session that has ended, or
 * latencies. The stream has the first two in its totals then; a session without them is no error. rows: to which latencies are added;
 * else NULL. If another host has begun a session since, there are no counts, and the comparison with the samples reports that. Errors:
 * those of mkperf_recorder_ask; INPUT: a wrong answer.
 */
enum mkperf_target_counts {
    MKPERF_TARGET_INTERACTIONS,
    MKPERF_TARGET_COUNTS,
    MKPERF_TARGET_LATENCIES,
};
enum mkperf_status mkperf_recorder_snapshot(struct mkperf_recorder *r,
                                            enum mkperf_target_counts what,
                                            struct mkperf_latency_rows *rows,
                                            struct mkperf_error *e);

/* Replaces *rows by the latencies since the session's start, which has Configure.latency. */
enum mkperf_status mkperf_latency_query(struct mkperf_recorder *r, struct mkperf_latency_rows *rows,
                                        struct mkperf_error *e);

/* Fetches a flight recording, instead of start, run and stop; with options.wait, once it is held.
 * Errors: as mkperf_recorder_start. */
enum mkperf_status mkperf_recorder_dump(struct mkperf_recorder *r, struct mkperf_error *e);
/* ---- recorder.c ---- */

/*
 * Stores the threads of the PDs that options name by NAME[,NAME]: those that the target samples (pd, and subtree with all their
 * children), and those whose fault ends a flight recording. The target's kernel hook selects before it reserves space in a ring.
 * Errors: USAGE, a name that no PD has, or too many PDs.
 */
enum mkperf_status mkperf_filter(struct mkperf_record_options *o, const struct mkperf_pds *pds,
                                 struct mkperf_error *e);

/* Returns the name of a PD by its thread as the wire has it. */
const char *mkperf_recorder_pd(const struct mkperf_recorder *r, uint64_t thread);

/* ---- flight_start.c ---- */

/* Begins a flight recording (`mkperf record --overwrite`) with a recorder that has only options, and leaves it to the
 * target. Reports that on standard error unless options.quiet. Errors: as mkperf_recorder_start. */
enum mkperf_status mkperf_flight_start(struct mkperf_recorder *r, struct mkperf_error *e);
/* Stores what ended the fetched flight recording: t->stopped, and with a latency its figures. "" while it runs. */
void mkperf_flight_reason(const struct mkperf_recorder *r, struct mkperf_totals *t);

#endif
