/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * From records to Batch messages (proto/mkperf.proto).
 *
 * Owns: struct mkperf_encoder, the chain table of one stream and the unfinished batch. Called by
 * the client PD for each record of the output ring; host-testable, no platform in it.
 *
 * Nothing is lost here. A record that does not fit leaves the batch unchanged; the caller finishes
 * the batch and adds the record again. An invalid record is refused, and the caller counts it.
 *
 * A chain is a sample without its pc, time and period, and for the idle thread without kernel_pc,
 * which is its exact pc. The table is set-associative with MKPERF_ENCODE_WAYS ways. The first
 * chains have slots below 128, which take one byte on the wire.
 *
 * With windows (encode_batch.c), samples are not sent but counted, by core, slot and pc:
 *
 *     sample ──► slot 7, pc + 2 words ──► entry {slot 7, pc 2, samples + 1, events + period}
 *
 * A window ends when its time is over, when it has no room for another entry, or when a new chain
 * needs the slot of one that it counted. Then its entries are sent in batches.
 */
#ifndef MKPERF_ENCODE_H
#define MKPERF_ENCODE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include <mkperf/bits.h>
#include <mkperf/record.h>
#include <mkperf/varint.h>
#include <mkperf/wire.h>

#include "mkperf.pb.h"

/*
 * ---- protocol buffers by hand ----
 *
 * Fields, for what the encoders of the stream write without nanopb (numbers: mkperf/varint.h).
 * Each function writes at `at`.
 */

/* The next two are in wire_frames.c: the encoders have some 30 calls, none of them for each sample. */

/* Writes a field of wire type 0 (varint), unless it is 0. Returns its end. */
uint8_t *mkperf_put_field(uint8_t *at, unsigned field, uint64_t v);
/* Writes a field of wire type 2: n bytes. Returns its end. */
uint8_t *mkperf_put_bytes(uint8_t *at, unsigned field, const void *bytes, uint32_t n);

/*
 * ---- periods.c ----
 *
 * The expected period and time of each counter's next sample.
 *
 * Owns: struct mkperf_periods. Used by encode.c only. A period follows from the time of the
 * counter's sample before (include/mkperf/jitter.h) while the middle of the periods, the base,
 * stays the same. The base's changes are not announced. An unexpected period reveals
 * them. A wrong guess costs only bytes, because the receiver makes the same guess and gets the
 * difference.
 */

struct mkperf_middle {
    uint64_t base;
    uint32_t mask; /* mask of the jitter; 0: there is no jitter */
};

/* A counter. Times are ticks. */
struct mkperf_period {
    uint64_t last; /* time of the counter's last sample */
    uint64_t low;  /* the base minus half of the jitter's width */
    uint64_t rate; /* ticks per 2^MKPERF_RATE_SHIFT events */
    /* The batch's samples that directly followed a sample of the same counter. */
    uint64_t events; /* the sum of their periods */
    uint64_t ticks;  /* the sum of their distances from the sample before */
    /* The current row of such samples. */
    uint64_t from;   /* time of its first sample */
    uint64_t before; /* time of the counter's sample before the row */
    struct mkperf_middle now;
    /* The middle and the rate at the counter's first sample in the batch. */
    struct mkperf_middle reported;
    uint64_t reported_rate;
    uint64_t late; /* time of a sample with an interval that seemed to have ended late */
    bool jitter;   /* Its periods may have jitter. */
};

struct mkperf_periods {
    uint32_t core;  /* core of the samples; another core's counters have other periods */
    uint32_t known; /* counters that have had a sample, bit = number */
    uint32_t begun; /* counters that have had a sample in this batch */
    struct mkperf_period of[MKPERF_MAX_COUNTERS];
};

/* Returns the period after a sample at `time` if the middle is unchanged. mix: MKPERF_JITTER_MIX. */
uint64_t mkperf_period_next(const struct mkperf_period *p, uint64_t time, unsigned counter,
                            uint64_t mix);

/* Sets the middle. jitter: whether the session has jitter. */
void mkperf_period_expect(struct mkperf_period *p, uint64_t period, bool jitter);

/*
 * Called for an unexpected period of a known counter, with the last sample at `last`. Changes the
 * middle so that it explains the period. The middle stays if the interval seems to have ended late.
 * time: that of the sample. Returns whether the middle changed.
 */
bool mkperf_period_change(struct mkperf_period *p, unsigned counter, uint64_t period, uint64_t time,
                          uint64_t mix);

/* Ends a batch: sets the rates that the next one expects. */
void mkperf_periods_end(struct mkperf_periods *p);

/* Returns a jitter's mask as the wire has it: k + 32 * s for 2^k - 2^s. */
static inline unsigned mkperf_period_width(uint32_t mask)
{
    return mask == 0 ? 0 : 32 - (unsigned)__builtin_clz(mask) + 32 * (unsigned)__builtin_ctz(mask);
}

/* ---- encode.c, encode_batch.c ---- */

enum mkperf_encode_result {
    MKPERF_ENCODE_ADDED,
    MKPERF_ENCODE_FULL, /* the caller finishes the batch and adds the record again */
    MKPERF_ENCODE_BAD,  /* not a record that a session writes */
};

enum mkperf_encode_limits {
    MKPERF_ENCODE_WAYS = 8,
    MKPERF_ENCODE_SETS = MKPERF_CHAIN_SLOTS / MKPERF_ENCODE_WAYS,
    MKPERF_ENCODE_HINTS = 8 * MKPERF_CHAIN_SLOTS,
    MKPERF_CHAIN_BYTES = 1024, /* more than a definition and its preceding fields */
    MKPERF_WINDOW_ENTRIES = 1024,
    MKPERF_WINDOW_PLACES = 2 * MKPERF_WINDOW_ENTRIES,
};

struct mkperf_known_chain {
    uint64_t hash; /* hash, header, thread: as in struct mkperf_key */
    uint64_t thread;
    uint64_t header;
    uint64_t pc;      /* origin of the pcs of its samples */
    uint64_t used;    /* time of the last sample */
    uint64_t pads[3]; /* They make the size a power of two, so that an index is a shift. */
};

struct mkperf_chains {
    struct mkperf_known_chain chain[MKPERF_CHAIN_SLOTS]; /* way * MKPERF_ENCODE_SETS + set */
    /* The slot that a chain of this hash had last. */
    uint16_t hint[MKPERF_ENCODE_HINTS];
};

struct mkperf_key {  /* the identity of a chain, from the record that is added */
    uint64_t header; /* nframes, counter, flags, and above them the counters that are read */
    uint64_t thread;
    /* Hash of header, thread, frames and, unless the thread is idle, lr and kernel_pc. */
    uint64_t hash;
};

/* Encoded values of one field, with space for one chain more than a batch holds. */
struct mkperf_column {
    uint32_t n;
    uint8_t bytes[MKPERF_CONTENT_BYTES + MKPERF_CHAIN_BYTES];
};

/* Adds a number. Returns the number of its bytes. */
static inline uint32_t mkperf_column_add(struct mkperf_column *c, uint64_t v)
{
    uint32_t n = mkperf_put_varint(c->bytes + c->n, v);

    c->n += n;
    return n;
}

struct mkperf_ends { /* ends of the three columns that every sample extends */
    uint8_t *slot, *pc, *time;
};

struct mkperf_reads { /* the values of other counters in a sample */
    uint32_t mask;    /* the counters that were read, bit = number */
    uint32_t n;       /* number of bits in mask */
    uint32_t bytes;   /* bytes that the values take when they are encoded */
    uint64_t value[MKPERF_MAX_READS];
};

struct mkperf_window_entry { /* samples of one core with the same chain and pc */
    uint64_t events;         /* the sum of their periods */
    uint32_t samples;        /* 0: the entry was sent */
    /* Distance of the pc from its chain's, encoded as in the column of pcs. */
    uint32_t away;
    uint16_t slot;
    uint8_t core, counter;
};

struct mkperf_window {
    uint64_t ticks;       /* its length; 0: there are no windows, and each sample is sent */
    uint64_t begin, last; /* times of its first and its last sample */
    bool over;            /* it is sent before another sample is added */
    uint32_t n;           /* entries */
    uint32_t left;        /* entries that were not sent yet */
    uint64_t samples;     /* samples in those entries that are in the unfinished batch */
    struct {
        uint64_t samples, events;
    } sum[MKPERF_MAX_COUNTERS];
    /* A hash table: the entry's number + 1; 0: there is none. */
    uint16_t place[MKPERF_WINDOW_PLACES];
    struct mkperf_window_entry entry[MKPERF_WINDOW_ENTRIES];
};

struct mkperf_encoder {
    struct mkperf_chains table; /* first, so that its offsets are short */
    uint32_t session;
    uint32_t epoch;
    uint32_t batches; /* batches since the epoch began */
    uint64_t mix; /* MKPERF_JITTER_MIX in memory, because the constant takes four instructions */
    uint64_t tick_hz;
    uint64_t sent; /* samples in finished batches of this session */
    /* Slot of the last sample's chain; MKPERF_CHAIN_SLOTS: this epoch has no sample. */
    uint32_t slot;

    /* The rest but the last two members belongs to the unfinished batch. */
    uint32_t samples;
    uint32_t fits_unchecked; /* up to this number, samples of known chains fit without a check */
    uint32_t losses;
    uint32_t bytes; /* bytes in all columns together */
    uint32_t core;
    uint64_t first_time;
    uint64_t last_time;
    uint32_t changed_at; /* index of the last sample that has a change */
    struct mkperf_ends end;
    uint8_t slot_column[MKPERF_CONTENT_BYTES];
    uint8_t pc_column[MKPERF_CONTENT_BYTES];
    uint8_t time_column[MKPERF_CONTENT_BYTES];
    struct mkperf_column chains, loss, read, period, change;
    struct mkperf_periods periods;

    struct mkperf_reads reads; /* of the record that is being added */

    struct mkperf_window window;
};

/* Begins a session with an empty batch and a new epoch. The encoder is all zeros before the first.
 * tick_hz: ticks per second of the records' times. */
void mkperf_encoder_begin(struct mkperf_encoder *e, uint32_t session, uint64_t tick_hz);

/* Sets the expected period of a counter before its first sample. jitter: whether periods have
 * jitter. */
void mkperf_encoder_expect(struct mkperf_encoder *e, unsigned counter, uint64_t period,
                           bool jitter);

/* Counts the session's samples in windows of so many ticks; 0: sends each one. Before its first record. */
void mkperf_encoder_windows(struct mkperf_encoder *e, uint64_t ticks);

/* Ends the window: mkperf_encoder_finish returns it in batches, until the encoder is empty. */
void mkperf_encoder_end_window(struct mkperf_encoder *e);

/* Forgets all chains. Only while the encoder is empty. */
void mkperf_encoder_new_epoch(struct mkperf_encoder *e);

/* Adds a record (size bytes, as the ring gave it) to the batch. */
enum mkperf_encode_result mkperf_encoder_add(struct mkperf_encoder *e, const uint64_t *record,
                                             unsigned size);

/*
 * Adds contiguous records while they are samples of known chains that fit into the batch. `bytes`
 * may include a part of a last record. Returns the bytes of the added records. The caller passes
 * the next record to mkperf_encoder_add.
 */
size_t mkperf_encoder_add_run(struct mkperf_encoder *e, const uint64_t *records, size_t bytes);

bool mkperf_encoder_empty(const struct mkperf_encoder *e);

/* Writes the batch as a ToHost message into out (MKPERF_CONTENT_BYTES) and begins an empty one.
 * Returns its length, 0 if the batch was empty. A window that has ended may need several batches. */
size_t mkperf_encoder_finish(struct mkperf_encoder *e, uint8_t *out);

#endif
