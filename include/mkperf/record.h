/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The records that the kernel hook writes and everything after it reads.
 *
 * Owns: the layout of a record in a sample ring. Shared by the kernel hook (writer), the profiler
 * PD (reader, and writer of the client's ring), the client PD and the tests. The host never sees
 * this layout: it sees the wire (proto/mkperf.proto).
 *
 * A record is a sequence of little-endian 64-bit words, 8-byte aligned. Word 0 starts with the
 * type and the size in bytes, so that a reader skips types it does not know. No record wraps
 * around the end of the ring: the writer fills the rest with one PAD record.
 *
 *   word 0   bits 0-15 type, 16-31 size in bytes (multiple of 8, header included),
 *            32-39 nframes, 40-47 counter, 48-55 flags, 56-63 core
 *
 * SAMPLE
 *   word 1   time, ticks of the target's monotonic counter, taken on entry to the hook
 *   word 2   thread: in the core's ring, as the hook wrote it, the badge of the thread's fault
 *            handler or one of the hook's own MKPERF_THREAD_*; in the output ring its identity
 *   word 3   in the core's ring: the badge of the thread's scheduling context, 0 without one. What
 *            it says is in word 2 of the output ring, and is not read there
 *   word 4   period: how many events this sample stands for
 *            (a sample of a thread that stops to wait has MKPERF_OFF_CPU_COUNTER and 1)
 *   word 5   pc of the interrupted user code (0 with MKPERF_SAMPLE_NO_USER)
 *   word 6   link register of the interrupted user code (0 with MKPERF_SAMPLE_NO_USER)
 *   word 7   only with MKPERF_SAMPLE_KERNEL: the kernel address that stands for the kernel's work
 *            (entry function of the last kernel entry, or the exact pc for idle; 0 if unknown)
 *   then     nframes words of chain: return addresses, innermost first, from the frame-pointer
 *            walk. With MKPERF_SAMPLE_CALLERS the last of these words is the number n of words
 *            before it that tell of callers in other threads, the innermost first: the thread of
 *            the sample is serving the first one's protected call, that one the second's, and so on.
 *            Each caller has
 *              bits 0-7 its number of return addresses, 8-15 the flags of their walk
 *              its badge and the badge of its scheduling context, as words 2 and 3
 *              its link register
 *              the address at which it continues after the call
 *              its return addresses, innermost first
 *   then     only with MKPERF_SAMPLE_READ: the number n of values, and n values, ascending by
 *            counter: bits 56-63 counter, 0-55 what it counted since the last overflow of the
 *            sample's own counter (a group whose first event samples: leader sampling)
 *   then     nothing today; a size larger than that is reserved for a copy of the stack's top
 *
 * LOSS (counter = where, see enum mkperf_loss_where)
 *   word 1   time, ticks
 *   word 2   number of samples lost since the last LOSS record of the same place
 *   word 3   number of events that those samples stood for
 *
 * SLICE (counter = which, of the descriptor's slice_mask, overflowed; never in the output ring)
 *   word 1   time, ticks
 *
 * FAULT: a thread faulted (software event, soft.h)
 *   word 1   time, ticks
 *   words 2, 3  as of a sample
 *   word 4   pc of the instruction
 *   word 5   address that it wanted to use; 0 if that was not what was wrong
 */
#ifndef MKPERF_RECORD_H
#define MKPERF_RECORD_H

#include <stdint.h>

enum mkperf_record_type {
    MKPERF_RECORD_PAD = 0,
    MKPERF_RECORD_SAMPLE = 1,
    MKPERF_RECORD_LOSS = 2,
    MKPERF_RECORD_SLICE = 16,
    MKPERF_RECORD_FAULT = 20,
    MKPERF_RECORD_SCHED = 24, /* this and the next two: sched.h */
    MKPERF_RECORD_SCHED_THREAD = 25,
    MKPERF_RECORD_SCHED_LOSS = 26,
};

enum mkperf_sample_flags {
    MKPERF_SAMPLE_KERNEL = 1 << 0,      /* the overflow fell into the kernel: word 6 is present */
    MKPERF_SAMPLE_NO_USER = 1 << 1,     /* no user context at all (the idle thread) */
    MKPERF_SAMPLE_DEPTH_LIMIT = 1 << 2, /* the chain continues beyond the configured depth */
    MKPERF_SAMPLE_BAD_FP = 1 << 3,      /* the walk ended at a frame pointer that failed a check */
    MKPERF_SAMPLE_READ = 1 << 5,        /* values of other counters follow the frames */
    MKPERF_SAMPLE_CALLERS = 1 << 4,     /* callers in other threads follow the frames */
    /* bits 6 and 7: enum mkperf_confidence, observe.h */
};

/* Where samples can be lost. The names are those that users see; keep in step with the wire. */
enum mkperf_loss_where {
    MKPERF_LOSS_RING = 0,   /* kernel hook: the core's sample ring was full */
    MKPERF_LOSS_OUTPUT = 1, /* profiler PD: the ring to the client was full */
    MKPERF_LOSS_LINK = 2,   /* client PD: the transport could not take them */
    MKPERF_LOSS_PLACES = 3,
};

enum mkperf_record_words {
    MKPERF_WORD_HEADER = 0,
    MKPERF_WORD_TIME = 1,
    MKPERF_WORD_THREAD = 2,
    MKPERF_WORD_SC = 3,
    MKPERF_WORD_PERIOD = 4,
    MKPERF_WORD_PC = 5,
    MKPERF_WORD_LR = 6,
    MKPERF_SAMPLE_FIXED_WORDS = 7,
    MKPERF_LOSS_SAMPLES = 2,
    MKPERF_LOSS_EVENTS = 3,
    MKPERF_LOSS_WORDS = 4,
    MKPERF_SLICE_WORDS = 2,
    MKPERF_CALLER_FRAMES = 0, /* of a caller */
    MKPERF_CALLER_THREAD = 1,
    MKPERF_CALLER_SC = 2,
    MKPERF_CALLER_LR = 3,
    MKPERF_CALLER_PC = 4,
    MKPERF_CALLER_WORDS = 5, /* before its return addresses */
    MKPERF_FAULT_PC = 4,
    MKPERF_FAULT_ADDRESS = 5,
    MKPERF_FAULT_WORDS = 6,
};

enum mkperf_limits {
    MKPERF_MAX_FRAMES = 64,
    MKPERF_DEFAULT_FRAMES = 16,
    MKPERF_MAX_CORES = 8,
    MKPERF_MAX_COUNTERS = 31, /* PMUv3 event counters; the cycle counter is left to the kernel */
    MKPERF_OFF_CPU_COUNTER = MKPERF_MAX_COUNTERS -
                             1, /* no counter's number in a session with them */
    MKPERF_MAX_FILTERS = 16,    /* threads that a session may be limited to */
    MKPERF_MAX_READS = 12,      /* values in a sample */
    MKPERF_MAX_CALLERS = 8,     /* in other threads; with their frames in MKPERF_MAX_FRAMES words */
    MKPERF_DEFAULT_CALLERS = 4,
    MKPERF_MAX_RECORD_BYTES =
        8 * (MKPERF_SAMPLE_FIXED_WORDS + 1 + MKPERF_MAX_FRAMES + 1 + MKPERF_MAX_READS),
};

/*
 * Thread identities. A root PD has the badge of its fault handler, which is its number in
 * Microkit's order + 1. The badges of children are distinct among one parent's only, so a child's
 * identity also holds the badge of the scheduling context that it runs on: 0x100 + the PD's number,
 * unless it is passive and runs on a caller's. Three values are the hook's own.
 *
 * That is Microkit's convention, not the kernel's: the hook writes badges as they are, and the
 * profiler PD makes identities of them (mkperf_thread_of).
 */
#define MKPERF_THREAD_INITIAL UINT64_C(0) /* the kernel's first thread: Microkit's monitor */
#define MKPERF_THREAD_CHILD_BIT (UINT64_C(1) << 62)
#define MKPERF_THREAD_CHILD(number, id) \
    (MKPERF_THREAD_CHILD_BIT | (0x100 + (uint64_t)(number)) << 8 | (uint64_t)(id))
#define MKPERF_THREAD_CHILD_ID UINT64_C(0xff)
#define MKPERF_THREAD_SC UINT64_C(0xffff)   /* of a scheduling context's badge: what is used */
#define MKPERF_THREAD_IDLE UINT64_MAX       /* the core's idle thread */
#define MKPERF_THREAD_NONE (UINT64_MAX - 1) /* a thread without a fault handler's badge */
/* Not the hook's: the profiler PD's timer interrupted one of several; a frame of each is behind a
 * MKPERF_FRAME_PD, at the address after its pc. */
#define MKPERF_THREAD_AMBIGUOUS (UINT64_MAX - 2)

/* On the wire an identity is 2 more, modulo 2^64, so that idle and none are short and none, 0, is
 * what a field that is left out means. */
static inline uint64_t mkperf_thread_to_wire(uint64_t thread)
{
    return thread + 2;
}

static inline uint64_t mkperf_thread_from_wire(uint64_t field)
{
    return field - 2;
}

/*
 * On the wire, values from MKPERF_FRAME_MARKERS on are no addresses in a chain. A client PD sends none
 * that it found in a thread's stack: 0 stands for it.
 * FRAME_PD: the next frame is the identity of the PD that the frames after it belong to.
 * FRAME_CALLER: a caller in another thread; its identity, its link register, the address at which it
 * continues after the call, and its return addresses follow.
 */
#define MKPERF_FRAME_MARKERS (UINT64_MAX - 0xfff)
#define MKPERF_FRAME_PD (UINT64_MAX - 0xff)
#define MKPERF_FRAME_CALLER (UINT64_MAX - 0x1ff)

/* A value in a sample. */
#define MKPERF_READ_COUNT ((UINT64_C(1) << 56) - 1)
#define MKPERF_READ_COUNTER_SHIFT 56

/* The identity of a thread whose fault handler and scheduling context have these badges. */
static inline uint64_t mkperf_thread_of(uint64_t badge, uint64_t sc)
{
    if (!(badge & MKPERF_THREAD_CHILD_BIT) || badge >= MKPERF_THREAD_AMBIGUOUS) {
        return badge;
    }
    return MKPERF_THREAD_CHILD_BIT | (sc & MKPERF_THREAD_SC) << 8 |
           (badge & MKPERF_THREAD_CHILD_ID);
}

static inline uint64_t mkperf_record_header(unsigned type, unsigned size, unsigned nframes,
                                            unsigned counter, unsigned flags, unsigned core)
{
    return (uint64_t)type | (uint64_t)size << 16 | (uint64_t)nframes << 32 |
           (uint64_t)counter << 40 | (uint64_t)flags << 48 | (uint64_t)core << 56;
}

static inline unsigned mkperf_record_type(uint64_t header)
{
    return header & 0xffff;
}

static inline unsigned mkperf_record_size(uint64_t header)
{
    return header >> 16 & 0xffff;
}

static inline unsigned mkperf_record_nframes(uint64_t header)
{
    return header >> 32 & 0xff;
}

static inline unsigned mkperf_record_counter(uint64_t header)
{
    return header >> 40 & 0xff;
}

static inline unsigned mkperf_record_flags(uint64_t header)
{
    return header >> 48 & 0xff;
}

static inline unsigned mkperf_record_core(uint64_t header)
{
    return header >> 56;
}

#endif
