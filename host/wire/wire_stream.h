/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The target's messages into the model: sessions, chain slots, time, and loss accounting.
 *
 * Owns: a host's state of the stream, see docs/protocol.md. Called by the receiver of
 * receiver.h with each message; calls one sink. Losses are counted here and reported to the
 * sink; nothing is guessed. Memory does not grow with the stream.
 */
#ifndef MKPERF_HOST_WIRE_WIRE_STREAM_H
#define MKPERF_HOST_WIRE_WIRE_STREAM_H

#include "mkperf.pb.h"
#include "model/chain.h"
#include "model/interactions.h"
#include "model/merge.h"
#include "model/model.h"
#include "model/off_cpu.h"
#include "model/pds.h"
#include "wire_batch.h"

struct mkperf_stream_config {
    struct mkperf_sink sink;
    struct mkperf_pds *pds;
    const char *command;                                            /* for the session, NULL */
    enum mkperf_lr (*decide)(struct mkperf_module *m, uint64_t pc); /* mkperf_lr_is_caller */
    /* Every message but Batch, after the stream has taken note of it; may be NULL. */
    enum mkperf_status (*control)(void *self, const mkperf_ToHost *m, struct mkperf_error *e);
    void *self;
    bool
        asks; /* the caller asks for the image's list of programs, and calls mkperf_stream_settle */
};

struct mkperf_stream_slot {
    uint64_t generation; /* valid if it is the stream's */
    uint32_t pd, event, flags, counter;
    uint32_t reads; /* counters, bit = number */
    uint64_t pc, kernel_pc;
    struct mkperf_module *module;
    struct mkperf_chain_forms chain;
};

struct mkperf_stream_core;

struct mkperf_stream {
    struct mkperf_stream_config config;
    struct mkperf_repair repair;
    mkperf_TargetHello hello;
    bool has_hello;
    bool has_session; /* session is known */
    bool began;       /* the sink has begun */
    bool running;     /* as in the last Session */
    bool starting;    /* we requested the start of the next session */
    bool waiting;     /* for a session that we start: earlier samples are not ours */
    bool from_start;  /* the session was seen from its first sample on */
    bool numbered;    /* next_sample is known */
    bool damaged;     /* chains may be unknown until a new epoch begins */
    bool unnamed;     /* batches of unnamed_epoch were dropped, because names were not settled */
    bool has_status;
    bool booked; /* a session's totals were closed with a Status */
    uint32_t unnamed_epoch;
    struct mkperf_session session; /* events: of all sessions so far */
    uint32_t session_id, epoch;
    int8_t event_of[MKPERF_MAX_COUNTERS]; /* by counter, -1: none */
    uint8_t number_of[MKPERF_MAX_EVENTS]; /* of the session's events, in the stream's list */
    uint64_t next_sample;                 /* number of the next sample of the session */
    uint64_t skipped;                     /* samples of the session before we joined */
    uint64_t passed_over;                 /* that were never sent to us: Gap */
    uint64_t others;                      /* samples that arrived while `waiting`: discarded */
    uint64_t seen[MKPERF_LOST_PLACES];    /* lost, of this session */
    mkperf_Status status;                 /* the last of this session */
    uint32_t marks_lost;                  /* before we joined */
    bool has_marks_lost;
    bool rebase;        /* the next time is that of another boot */
    uint64_t offset_ns; /* added to the target's time */
    uint64_t pause_ns;  /* between the last time before a restart and the first after it */
    uint64_t generation;
    uint64_t core_ns[MKPERF_MAX_CORES];
    struct mkperf_merge *merge; /* of samples and events; NULL: they need no order */
    struct {
        uint64_t arrived; /* samples of this session, those with a lost chain too */
        uint64_t lost[MKPERF_LOST_PLACES];
    } core_seen[MKPERF_MAX_CORES];
    uint8_t *stamp; /* the image's list of programs, NULL: no part came */
    uint32_t stamp_bytes, stamp_have;
    bool has_held; /* a Session that came before names were settled */
    bool held_answer;
    mkperf_Session held;
    /* Scheduling events (wire_sched.c). */
    struct mkperf_stream_core *core[MKPERF_MAX_CORES]; /* NULL: none of its events came */
    uint64_t sched_generation;                         /* of codes */
    bool sched_running;                                /* the current session has them */
    bool sched_damaged;     /* codes may be unknown until a new epoch begins */
    uint64_t sched_arrived; /* of this session, with those whose code is unknown */
    uint64_t sched_jumped;  /* missing by the numbers of what arrived */
    bool off_cpu_on;        /* samples of blocked threads: */
    struct mkperf_off_cpu off_cpu;
    struct mkperf_sink off_cpu_sink;
    struct mkperf_totals totals;
    struct mkperf_interactions *interactions; /* NULL: none received */
    uint32_t interaction_parts;               /* received of it */
    uint64_t gaps;                            /* frames missing */
    uint64_t malformed;                       /* invalid messages */
    uint32_t announced;                       /* PDs announced to the sink */
    struct mkperf_batch batch;
    struct mkperf_batch_chain definition;
    mkperf_ToHost message;
    struct mkperf_stream_slot slot[MKPERF_CHAIN_SLOTS];
};

/* NULL: out of memory. */
struct mkperf_stream *mkperf_stream_new(const struct mkperf_stream_config *config);
void mkperf_stream_free(struct mkperf_stream *s);

/*
 * One message (self is the stream): for struct mkperf_receiver_ops. Errors: the sink's or
 * control's; PROTOCOL: another version; INPUT: another session begins, with events that the sink
 * cannot hold. A malformed message is counted, not an error.
 */
enum mkperf_status mkperf_stream_message(void *self, const uint8_t *p, size_t n, unsigned gap,
                                         struct mkperf_error *e);

/*
 * Names and ELFs from the image's list of programs if all of it came, else without it. Called by
 * the stream itself when a name is needed, and by a caller that asked for the list (config.asks):
 * until then no sample is taken in. Errors: those of mkperf_pds_settle.
 */
enum mkperf_status mkperf_stream_settle(struct mkperf_stream *s, struct mkperf_error *e);
/* Whether all of the list came; s->stamp_have is the offset of what is missing. */
bool mkperf_stream_stamp_whole(const struct mkperf_stream *s);

/* Messages are missing, or the link was interrupted: what they may have defined is unknown. */
void mkperf_stream_damaged(struct mkperf_stream *s);
/* Whether something unknown is waited for, which ResetChains makes the target send again. */
static inline bool mkperf_stream_needs_reset(const struct mkperf_stream *s)
{
    return s->damaged || s->sched_damaged;
}

/* Whether the session that the stream is in samples this event (a number of the stream's list), and
 * which is the first that it samples; UINT_MAX: none. */
bool mkperf_stream_samples(const struct mkperf_stream *s, unsigned event, unsigned *first);

/* Number i, from 0 on, of the target's cores in the last Status: its number, and of `core` the state and its
 * late answers. False: there are no more; a target with one core has none. */
bool mkperf_stream_core(const struct mkperf_stream *s, unsigned i, unsigned *number,
                        struct mkperf_core *core);

/*
 * The stream has ended: reconciles the counts with the target's last Status and fills s->totals.
 * The caller ends the sink. Errors: the sink's; INPUT: no session was in it.
 */
enum mkperf_status mkperf_stream_finish(struct mkperf_stream *s, struct mkperf_error *e);

#endif
