/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The stages of the profiler PD's pipeline, from the last to the first: README.md has the figure.
 *
 * Each stage has one instance. What only its own file uses is static there. What others read is a
 * variable here, and the file of its section is the only one that changes it.
 */
#ifndef MKPERF_PROFILER_PIPELINE_H
#define MKPERF_PROFILER_PIPELINE_H

#include <mkperf/sched.h>

#include "kernel.h"
#include "latency.h"

/*
 * ---- output.c ----
 *
 * The end of the pipeline: the ring to the client PD, as a stream or as a flight recorder.
 *
 * Owns: struct mkperf_output. Called by every stage that has a record for the client. In a stream a
 * record that does not fit is the caller's loss. In a flight recording the newest records stay on
 * the target: a new one takes the place of the oldest ones, and the client sees an empty ring until
 * a dump.
 *
 *   recording -> (a condition, or Stop) held -> next CONFIGURE or START
 *       \--------------- dump ---------------/ , as often as wanted
 *
 * 1. During a dump the client owns the ring. A running recording then waits in the cores' rings;
 *    records that do not fit there are dropped and counted as usual.
 * 2. The client can write to the ring at any time. A recording that it has spoiled is discarded as
 *    a whole, and counted as corrupt.
 *
 * docs/design.md has the reasons.
 */

struct mkperf_output {
    struct mkperf_ring_producer ring;
    bool flight;    /* There is a flight recording. It runs, or is held. */
    bool dumping;   /* The client owns the ring. */
    uint64_t shown; /* the ring's head as the client knows it */
    uint64_t tail;  /* the oldest record */
    /* The samples and scheduling events of the last dump. */
    uint64_t dumped;
    uint64_t sched_dumped;
};

extern struct mkperf_output mkperf_out;

/* A session begins. The ring gets the size of the plan if it is empty: only then do positions fit
 * any size. A flight recording takes the ring from the client. False: the client has not read the
 * last session's records yet, as mkperf_refusal says. */
bool mkperf_output_begin(void);
/* Ends a flight recording and discards it. The ring continues at the position that the client
 * has. */
void mkperf_output_forget(void);
/* Returns whether stages may write: not while the client reads a dump. Detects that it has read
 * all. */
bool mkperf_output_open(void);
/* Shows all of a flight recording to the client. False: there is none; mkperf_refusal says so. */
bool mkperf_output_dump(void);
/* Completes a copy of the status with the recording's state. */
void mkperf_output_status(mkperf_Status *out);

/* For the next one: space in a flight recording, by overwriting the oldest records. Never NULL for
 * up to half of the ring. */
uint64_t *mkperf_output_overwrite(uint64_t bytes);

/* Contiguous space for a record; NULL: there is none. For several records: of
 * mkperf_output_stretch. */
static inline uint64_t *mkperf_output_room(uint64_t bytes)
{
    return mkperf_out.flight ? mkperf_output_overwrite(bytes)
                             : mkperf_ring_reserve(&mkperf_out.ring, bytes);
}

/* Returns the bytes that mkperf_output_room has for several records at once, maybe 0. It may have
 * more for one record. A flight recording takes them one by one, so that none is overwritten too
 * early. */
static inline uint64_t mkperf_output_stretch(void)
{
    uint64_t bytes = 0;

    if (!mkperf_out.flight) {
        mkperf_ring_room(&mkperf_out.ring, &bytes);
    }
    return bytes;
}

/* Hands over what was written at the last room: `samples` samples, or `events` scheduling events,
 * or other records. */
static inline void mkperf_output_commit(uint64_t bytes, unsigned samples, unsigned events)
{
    if (mkperf_out.flight) {
        mkperf_ring_keep(&mkperf_out.ring, bytes);
        mkperf_status.held += samples;
        mkperf_status.sched_held += events;
    } else {
        mkperf_ring_commit(&mkperf_out.ring, bytes);
    }
}

/* Hands over a record of that many bytes, which is `events` scheduling events, 0 or 1. False: there is no room
 * for it. */
static inline bool mkperf_output_put(const uint64_t *record, unsigned bytes, unsigned events)
{
    uint64_t *to = mkperf_output_room(bytes);

    if (to != NULL) {
        for (unsigned i = 0; i < bytes / 8; i++) { /* a few stores, where memcpy would be a call */
            to[i] = record[i];
        }
        mkperf_output_commit(bytes, 0, events);
    }
    return to != NULL;
}

/*
 * ---- soft.c ----
 *
 * Software events: the table that the kernel fills in, records of faults, and INTERACTIONS.
 *
 * Owns: the kernel's table (mkperf_counts_table), and the snapshot of it for the current
 * answers. include/mkperf/soft.h defines the events. Called by drain.c for FAULT records, by
 * hook_session.c at a session's start and end, by counting.c for counts, and by main.c for
 * INTERACTIONS.
 *
 * What may be lost: the record of a fault that does not fit into the output. The fault is still in
 * the count of faults, and the record is counted as dropped.
 */

/* Returns the identity of the thread with this key and scheduling context in the kernel's
 * tables. */
static inline uint64_t mkperf_soft_identity(uint64_t key, uint64_t sc)
{
    return mkperf_thread_of(key - mkperf_counts_key(0), sc);
}

/* Begins a session: clears the table and writes software events into the configuration. False: the
 * kernel has none, and mkperf_refusal has the reason. */
bool mkperf_soft_prepare(void);
/* Called when the counters were stopped, while the hook still has the session. In one with stacks, it
 * looks at the pages of each thread's stack. */
void mkperf_soft_ended(void);
/* Takes a FAULT record of a core. False: it is not one of the session. */
bool mkperf_soft_take(const uint64_t *record, unsigned size);
/* Fills a part of the answer to INTERACTIONS; part 0 takes the snapshot. False: mkperf_refusal has the
 * reason. */
bool mkperf_soft_answer(uint32_t part, mkperf_Interactions *out);

/*
 * ---- sched.c ----
 *
 * Scheduling events on their way to the client.
 *
 * Owns: the thread of each slot on each core, and the losses that are not yet reported. Called by
 * drain.c for each record of the three types (include/mkperf/sched.h), and for readings of words.
 *
 *   SCHED_THREAD (slot, thread) -> thread[slot]
 *   SCHED (slot) -> thread[slot] -> event with an identity -> output
 *
 * What may be lost: events that the hook could not write, and events that do not fit into the
 * output. Both are counted, and a record before the next event of that core has their number.
 */

/* The threads of a core's slots, as of the last record read from its ring. */
struct mkperf_slots {
    uint64_t thread[MKPERF_SCHED_SLOTS];
};

static inline void mkperf_slots_begin(struct mkperf_slots *s)
{
    for (unsigned i = 0; i < MKPERF_SCHED_SLOTS; i++) {
        s->thread[i] = MKPERF_THREAD_NONE;
    }
}

/* Applies a SCHED_THREAD record. */
static inline void mkperf_slots_take(struct mkperf_slots *s, const uint64_t *record)
{
    s->thread[mkperf_sched_slot_of(record[MKPERF_WORD_HEADER])] =
        mkperf_thread_of(record[MKPERF_WORD_THREAD], record[MKPERF_WORD_SC]);
}

/* Begins a session: writes scheduling events into the configuration. False: the kernel has none,
 * and mkperf_refusal has the reason. */
bool mkperf_sched_prepare(void);
/* Takes a record of events or words from that core's ring. False: it is not one of the session. */
bool mkperf_sched_take(unsigned core, const uint64_t *record, unsigned size);
/* Called at the end of a drain of that core: reports losses that no event followed. dropped: the
 * ring's count of dropped events. */
void mkperf_sched_drained(unsigned core, uint64_t dropped);

/*
 * ---- latencies.c ----
 *
 * The latencies of a session: from the cores' rings to the answers to LATENCY (session.h).
 *
 * Owns: the histograms (latency.h), the snapshot of them for the current answers, and its division
 * into parts. Called by drain.c before the rings are emptied, by
 * hook_session.c at a session's start and end, by counting.c when counts are read, and by main.c for
 * LATENCY.
 *
 * A call from core to core is in two rings, so the events of all cores are replayed in the order of
 * time. They are read without releasing them, which needs no memory but a position for each core.
 * The kernel writes events with its lock held, and a request has had the lock since. Everything that
 * is older than the answer is therefore in the rings. What is newer stays there until the next
 * drain, since another core may have something older than that.
 *
 *   ring 0  |1 4 6 9|        until = 8
 *   ring 1  |2 3 7 |   ->    1 2 3 4 6 7 -> latency.c      9 stays
 *
 *   latency --- a request for part 0 ---> shown --> part[0] part[1] .. (pairs, run times)
 */

/* Called when a session has begun, before the first drain. */
void mkperf_latencies_begin(void);
/* Replays the events of the mask's cores until that time (ticks). ring: by core. end: by core, up
 * to where its ring was read and can be emptied. */
void mkperf_latencies_merge(uint32_t mask, const struct mkperf_ring_consumer *ring, uint64_t until,
                            uint64_t *end);
/* Called when the session has ended. Run times end at that time (ticks). Later calls for a session
 * have no effect. */
void mkperf_latencies_end(uint64_t time);
/* Called when counts were read at `time` (ticks), and the rings were emptied afterwards. Takes the
 * run times of that time. */
void mkperf_latencies_counted(uint64_t time);
/* Fills a part of the answer; part 0 takes the snapshot. False: mkperf_refusal has the reason. */
bool mkperf_latencies_answer(uint32_t part, mkperf_Latency *out);

/*
 * ---- pace.c ----
 *
 * Pacing: the period of each event on each core.
 *
 * Owns: mkperf_pace. The drain notes samples here; hook_session.c adapts the periods after
 * a drain, and sends the changed configurations (kernel.stale) to the hook. On each core an event
 * has one period for its user and its kernel counter, so that all its samples have equal weight.
 * With a frequency, the period follows the measured rate.
 *
 *   drained samples (samples, events, from .. last) -> policy.h -> period -> want.counter[].period
 */

/* An event on a core while a session runs. Times are ticks. */
struct mkperf_pace {
    uint32_t period;  /* the current one */
    uint32_t samples; /* samples since `from` */
    uint64_t events;  /* sum of the periods of these samples */
    uint64_t from;    /* time of the sample from which the rate is measured; 0: none yet */
    uint64_t last;    /* time of the last sample, or of the last reaction to its absence */
    bool settling;    /* The last change was large, or the period has not changed yet. */
};

extern struct mkperf_pace mkperf_pace[MKPERF_TARGET_CORES][MKPERF_MAX_EVENTS];

/* Sets the periods of the plan, for a new session. */
void mkperf_pace_begin(void);
/* Adapts the events of that slice to the samples since the last call. now: ticks. dropped: samples
 * were lost, so that the rate is only known to be too high. silence: ticks for which there was no
 * sample of any event, as far as is known. Returns whether a period changes so much that it will change again soon. */
bool mkperf_pace_adapt(uint32_t slice, uint64_t now, bool dropped, uint64_t silence);
/* Called when the event counts again after `away` ticks without counting. */
void mkperf_pace_resume(unsigned event, uint64_t away);

/* Called for drained samples of an event, the last one at `time`. events: the sum of their
 * periods. */
static inline void mkperf_pace_note(struct mkperf_pace *pace, uint32_t samples, uint64_t events,
                                    uint64_t time)
{
    pace->samples += samples;
    pace->events += events;
    pace->last = time;
}

/*
 * ---- drain.c ----
 *
 * The head of the pipeline: empties the cores' sample rings.
 *
 * Owns: mkperf_in: this PD's end of each ring, the samples' way to the output, and their
 * losses. Called at each wake-up and on the client's request. This is the profiler PD's part of the
 * sampling path: samples are checked one by one, and copied in one piece.
 *
 *   ring of core 0 --+-- SAMPLE ----------------> pace, output
 *   ring of core 1 --+-- SAMPLE that counts ----> tally (counting.c, multiplex.c read it)
 *        ...         +-- SLICE -----------------> tally
 *                    +-- FAULT -----------------> soft -> output
 *                    +-- SCHED, _THREAD, _LOSS -> sched -> output
 *                    before that: latencies
 *
 * 1. Each record is given to one stage, which knows only what comes after it.
 * 2. captured = delivered + lost, always. Samples may be lost that do not fit into the output ring,
 *    or that the hook dropped. Both are counted, and a LOSS record before the core's next sample
 *    has their number.
 * 3. A drain is bounded by what the rings hold when it begins.
 */

struct mkperf_lost { /* losses that are not yet reported in the stream */
    uint64_t samples;
    uint64_t events;
};

struct mkperf_input_core {
    uint64_t now;         /* ticks: time of its last record */
    uint32_t samples;     /* samples of the last drain */
    bool unreported;      /* There are losses in lost[]. */
    uint64_t lost_events; /* the part of the ring's count that is included in lost[] */
    struct mkperf_lost lost[MKPERF_LOSS_LINK];
};

/* Overflows of counters that do not sample: they add to a count, end a slice, or wake this PD. Such a
 * counter is armed with MKPERF_COUNT_PERIOD events. Each of its overflows has a record with that
 * period, so that no wrap is missed. counting.c reads this; multiplex.c sets mask and slot. */
struct mkperf_tally {
    bool expired;  /* The clock overflowed: the slice is over. */
    uint32_t mask; /* counters that count in this slice */
    uint8_t slot[MKPERF_MAX_COUNTERS];
    /* Counts up to the counters' last readings, without what they count now. */
    uint64_t total[MKPERF_TARGET_CORES][MKPERF_COUNT_SLOTS];
    uint64_t last[MKPERF_TARGET_CORES]; /* ticks: time of the last record in total[] */
};

struct mkperf_input {
    uint64_t now;     /* ticks: time of the last record of any core */
    uint32_t slice;   /* the current slice of the plan. multiplex.c sets it and the next two. */
    uint64_t rotated; /* slices that have ended */
    /* The event's number in the plan, by hardware counter of the current slice. */
    uint8_t number[MKPERF_MAX_COUNTERS];
    struct mkperf_ring_consumer ring[MKPERF_TARGET_CORES];
    struct mkperf_input_core core[MKPERF_TARGET_CORES];
    struct mkperf_tally tally;
};

extern struct mkperf_input mkperf_in;

/* Empties a ring, as the hook expects at the start of a session. Called only without a session. */
void mkperf_ring_clear(struct mkperf_ring_consumer *c);
/* Begins a session with empty rings of the plan's size. */
void mkperf_drain_begin(void);
/* The result of a drain. */
struct mkperf_drained {
    uint32_t samples;
    uint32_t most;  /* samples of a core */
    uint64_t bytes; /* bytes of all samples together */
    bool output;    /* The output ring has new records. */
};
/* Moves the records of the session's cores to the stages. */
struct mkperf_drained mkperf_drain(void);

#endif
