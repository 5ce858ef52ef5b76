/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The stream: decodes a target's messages into items for one sink.
 *
 * A target sends a call chain once and gives it a slot. Each later sample with that chain names only
 * the slot. The stream remembers slots, names and sessions, and calculates from them and a batch
 * complete samples. docs/protocol.md defines the messages.
 *
 *     Hello, Stamp ──► names ───────────┐ PDs and their ELFs
 *     Session ───────► event_of[] ──────┤ the event of a counter
 *     Batch: chains ─► chains.slot[] ───┤ PD, pc and callers
 *            samples ───────────────────┴──► order: cores, off-CPU ──► config.sink
 *     Sched ─────────► sched.core[] ──────────┘                          ▲
 *     Mark, Loss, Gap ───────────────────────────────────────────────────┤
 *     Status ────────► totals (when the session ends) ───────────────────┘
 *
 * Invariants
 *  1. The sink gets `begin` first, and each PD before a sample, event or mark of that PD.
 *  2. A slot is valid while its generation is that of the stream. Each missing or malformed message
 *     increments the generation, because the message could have defined a slot.
 *  3. Each number of a session's samples below next_sample was skipped (before this host joined),
 *     has arrived, was lost in transit, or was passed over by the target on purpose.
 *  4. Each lost sample is in totals.lost at one place. Nothing is guessed.
 *  5. Nothing that has an identity is decoded before names are settled.
 *  6. Memory does not grow with the length of the stream.
 *
 * Example: next_sample is 90. A batch arrives with first_sample 100 and three samples. Ten samples
 * were lost in transit, and all slots are invalid. A sample of the batch is decoded only if the batch
 * itself defines its slot; otherwise it is lost at MKPERF_LOST_CHAIN. next_sample becomes 103, and
 * mkperf_stream_needs_reset is true until the target begins a new epoch, which defines slots again.
 */
#ifndef MKPERF_HOST_WIRE_WIRE_STREAM_H
#define MKPERF_HOST_WIRE_WIRE_STREAM_H

#include "model/arrival.h"
#include "model/figures.h"
#include "model/pds.h"
#include "model/relays.h"
#include "system/system.h"
#include "wire_message.h"

/*
 * The receiver: separates the bytes of a line into frames, console text and noise.
 *
 * Owns: finding frames (frame.h) in any bytes. Called by a connection, and by the reader of raw
 * captures. It passes each message on at once. A chunk between delimiters that is no frame is console
 * text if it is valid text, otherwise noise. Noise and missing frames are counted. Its memory is one
 * frame.
 */

/* A larger gap means that the sender's numbering restarted, so that its size has no meaning. */
enum { MKPERF_WIRE_MAX_GAP = 0x8000 };

struct mkperf_receiver_ops {
    void (*text)(void *self, const char *p, size_t n); /* a part of a line, or several lines */
    /* One message. gap: the number of missing frames before it, from the sequence numbers. */
    enum mkperf_status (*message)(void *self, const uint8_t *p, size_t n, unsigned gap,
                                  struct mkperf_error *e);
};

struct mkperf_receiver {
    /* Set by the caller; all else is zero at first. */
    const struct mkperf_receiver_ops *ops;
    void *self;

    uint64_t bytes, frames;
    uint64_t noise;                        /* chunks that were neither a frame nor text */
    uint64_t noise_bytes;                  /* bytes of noise */
    bool numbered;                         /* `next` is known */
    uint16_t next;                         /* the sequence number that is expected next */
    size_t n;                              /* bytes in `chunk`, whose end has not arrived */
    size_t shown;                          /* bytes of them that were already passed on as text */
    uint8_t chunk[MKPERF_FRAME_BYTES + 1]; /* a byte 0 follows the others */
};

/* Reads n bytes and overwrites them. Errors: those of ops->message, after which the rest is not read. */
enum mkperf_status mkperf_receiver_push(struct mkperf_receiver *w, uint8_t *p, size_t n,
                                        struct mkperf_error *e);

/* Passes on text without a delimiter after it, when the line is quiet or has ended. */
void mkperf_receiver_idle(struct mkperf_receiver *w);

/* Begins a new connection, which has its own sequence numbers. */
void mkperf_receiver_restart(struct mkperf_receiver *w);

struct mkperf_stream_config {
    struct mkperf_sink sink;
    struct mkperf_pds *pds;
    const char *command; /* the command line that the session names; NULL: none */
    /* The caller requests the image's list of programs, and then calls mkperf_stream_settle. */
    bool asks;
};

struct mkperf_stream_slot {
    uint64_t generation;
    uint32_t pd, event, flags, counter;
    enum mkperf_confidence confidence;
    uint32_t reads; /* set of the counters that each sample of the slot has values of */
    uint64_t pc, kernel_pc;
    struct mkperf_module *module;
    struct mkperf_chain_forms chain;
};

struct mkperf_stream_core;

struct mkperf_stream {
    /* The settings. sink_order checks the items for the sink. */
    struct mkperf_stream_config config;
    struct mkperf_order sink_order;
    struct mkperf_session session; /* the session, with the events of all sessions so far */
    struct mkperf_totals totals;
    uint64_t gaps;      /* missing frames */
    uint64_t malformed; /* invalid messages */

    /* The target and its current session (wire_session.c). */
    mkperf_TargetHello hello;
    mkperf_Status status; /* the last one of the current session, if has_status */
    bool has_hello, has_session, has_status;
    bool began;    /* the sink has begun */
    bool running;  /* the session runs, by the last Session message */
    bool starting; /* this host has requested the start of the next session */
    bool waiting;  /* samples are not taken until the session of this host begins */
    bool closed;   /* the totals include the last Status, so that it must not be added again */
    bool booked;   /* the totals of at least one session include its Status */
    uint32_t session_id, epoch;
    int8_t event_of[MKPERF_MAX_COUNTERS]; /* number in `session` by counter; -1: no event */
    uint8_t number_of[MKPERF_MAX_EVENTS]; /* number in `session` by number in the current session */

    /* Numbers of samples in the current session (wire_samples.c). */
    bool numbered;        /* next_sample is known */
    bool from_start;      /* all samples from number 0 were sent to this host */
    bool damaged;         /* some slots may be unknown until a new epoch begins */
    uint64_t next_sample; /* the number that is expected next */
    /* Time of the first sample of the last window, if the target counts in windows. */
    uint64_t window_ns;
    uint64_t skipped;     /* sent before this host joined */
    uint64_t passed_over; /* never sent to this host, by its Gap messages */
    uint64_t others;      /* discarded, because they arrived while `waiting` */

    /* What arrived and what was lost in the current session (wire_output.c). */
    uint64_t seen[MKPERF_LOST_PLACES]; /* losses that were reported to the sink */
    struct {
        uint64_t arrived; /* including samples with an unknown chain */
        uint64_t lost[MKPERF_LOST_PLACES];
    } core_seen[MKPERF_MAX_CORES];
    uint64_t core_ns[MKPERF_MAX_CORES]; /* time of the core's last sample */
    uint32_t announced;                 /* PDs that the sink knows */

    /* Marks and software events (wire_stream.c). */
    char last_mark[sizeof((mkperf_Mark *)0)->name]; /* name of the last one; "": none */
    bool has_marks_lost;
    uint32_t marks_lost;                      /* marks lost since boot, when this host joined */
    struct mkperf_interactions *interactions; /* NULL: none received */
    uint32_t interaction_parts;               /* parts of them that arrived */
    struct mkperf_pd_counts *counts; /* counts that the target made in addition to samples */
    uint32_t count_parts;

    /* The names of PDs: the list of programs in the image, and what waits for it (wire_session.c). */
    struct {
        uint8_t *table; /* NULL: no part of the list has arrived */
        uint32_t bytes; /* size of the whole list */
        uint32_t have;  /* bytes that have arrived, from the start */
        bool holds;     /* a Session arrived before names were settled, and is in `held` */
        bool held_answer;
        mkperf_Session held;
        bool dropped; /* batches of dropped_epoch were dropped, because names were not settled */
        uint32_t dropped_epoch;
    } names;
    /* The target's clock in the stream's time, which continues after a restart (wire_output.c). */
    struct {
        bool rebase;        /* the next time is the first one after a restart */
        uint64_t offset_ns; /* added to the target's time */
        uint64_t pause_ns;  /* between the last time before a restart and the first one after it */
    } clock;
    /* Samples and events between the decoders and the sink (wire_output.c). */
    struct {
        struct mkperf_sink to; /* gets samples, events and readings: the merge, or config.sink */
        struct mkperf_merge *merge; /* NULL: one core, so that no order has to be made */
        struct mkperf_off_cpu off_cpu;
    } order;
    /* Scheduling events (wire_sched.c). */
    struct {
        struct mkperf_stream_core *core[MKPERF_MAX_CORES]; /* NULL: the core has sent no event */
        uint64_t generation; /* the generation of codes, as that of slots */
        bool running;        /* the session has scheduling events */
        /* Words that the session reads; 0: none, or they are not those of the image's queues. */
        uint32_t words;
        /* where each queue's head and tail are */
        struct mkperf_image_place place[MKPERF_STAMP_QUEUES][2];
        bool damaged;     /* some codes may be unknown until a new epoch begins */
        uint64_t arrived; /* events of the session, including those with an unknown code */
        uint64_t jumped;  /* events of the session that are missing by their numbers */
    } sched;
    /* Call chains (wire_samples.c). */
    struct {
        uint64_t generation;
        mkperf_Chain definition; /* the chain that is being decoded */
        struct mkperf_stream_slot slot[MKPERF_CHAIN_SLOTS];
    } chains;
    struct mkperf_batch batch;    /* the last batch */
    mkperf_ToHost message;        /* the last message of another kind */
    const mkperf_ToHost *control; /* `message` if it was the last of all, and valid; else NULL */
};

struct mkperf_stream *mkperf_stream_new(const struct mkperf_stream_config *config);
void mkperf_stream_free(struct mkperf_stream *s); /* s may be NULL */

/*
 * Decodes one message; self is the stream, as struct mkperf_receiver_ops requires. s->control is then
 * the message, unless it was a batch or malformed. A malformed message is counted, and is no error.
 * Errors: those of the sink; PROTOCOL: another version; INPUT: another session has more events than fit, or has
 * scheduling events or windows that the recording began without.
 */
enum mkperf_status mkperf_stream_message(void *self, const uint8_t *p, size_t n, unsigned gap,
                                         struct mkperf_error *e);

/*
 * Settles names and ELFs: with the image's list of programs if it is whole, otherwise without it. The
 * stream calls this itself when it needs a name, unless config.asks. Then the caller does, and until
 * then the stream drops samples. Errors: those of mkperf_pds_settle.
 */
enum mkperf_status mkperf_stream_settle(struct mkperf_stream *s, struct mkperf_error *e);
/* Returns whether the image's whole list has arrived. If not, s->names.have is the offset of the next part. */
bool mkperf_stream_stamp_whole(const struct mkperf_stream *s);

/* Notes that the target was restarted: it has another clock, other sessions and other chains. The stream notices
 * another boot id by itself; the caller notices that a target with the same one has begun again. Errors: those of the
 * sink. */
enum mkperf_status mkperf_stream_restarted(struct mkperf_stream *s, struct mkperf_error *e);
/* Notes that messages are missing, or that the link was interrupted: what they may have defined is
 * unknown. */
void mkperf_stream_damaged(struct mkperf_stream *s);
/* Returns whether slots or codes may be unknown. ResetChains makes the target define all of them
 * again. */
static inline bool mkperf_stream_needs_reset(const struct mkperf_stream *s)
{
    return s->damaged || s->sched.damaged;
}

/* Fills in an event as the model has it. */
void mkperf_wire_event(const mkperf_SessionEvent *from, struct mkperf_event *to);

/* Returns `event` if the current session samples it, otherwise the lowest event that it samples; UINT_MAX: none. Events are numbers
 * in s->session. */
unsigned mkperf_stream_sampled_event(const struct mkperf_stream *s, unsigned event);

/* Stores the i-th core in the target's last Status: its number, and in *core its state and late
 * answers. Returns false if the Status has fewer cores. A target with one core sends none. */
bool mkperf_stream_core(const struct mkperf_stream *s, unsigned i, unsigned *number,
                        struct mkperf_core *core);

/* Stores the totals so far, with the counters of the session that runs, by its last Status. */
void mkperf_stream_totals(const struct mkperf_stream *s, struct mkperf_totals *t);

/*
 * Ends the stream: compares the counts with the target's last Status and completes s->totals. The
 * caller ends the sink. Errors: those of the sink; INPUT: the stream had no session.
 */
enum mkperf_status mkperf_stream_finish(struct mkperf_stream *s, struct mkperf_error *e);

#endif
