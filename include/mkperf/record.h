/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The records of the sample rings (ring.h).
 *
 * Concept: the kernel hook writes a record for each sample, scheduling event, fault and loss. The
 * profiler PD reads the core's rings and writes the output ring. The client PD reads the output
 * ring and encodes the wire (proto/mkperf.proto). The host never sees these records.
 *
 * Owns: the layout of a record, which is a sequence of little-endian 64-bit words:
 *
 *   word 0   bits 0-15 type, 16-31 size in bytes (multiple of 8, header included),
 *            32-39 nframes, 40-47 counter, 48-55 flags, 56-63 core
 *
 * SAMPLE
 *   word 1   time in ticks of the target's monotonic counter, read on entry to the hook
 *   word 2   thread. In the core's ring: the badge of the thread's fault handler, or one of the
 *            hook's values MKPERF_THREAD_*. In the output ring: the thread's identity
 *   word 3   in the core's ring: the badge of the thread's scheduling context, 0 without one.
 *            In the output ring: unused, because the identity includes it
 *   word 4   period: the number of events that this sample represents. A sample of a thread that
 *            stops to wait has the counter MKPERF_OFF_CPU_COUNTER and period 1
 *   word 5   pc of the interrupted user code (0 with MKPERF_SAMPLE_NO_USER)
 *   word 6   link register of the interrupted user code (0 with MKPERF_SAMPLE_NO_USER, and if the chain
 *            was made by a table: it then has that caller already)
 *   word 7   only with MKPERF_SAMPLE_KERNEL: a kernel address that represents the kernel's work:
 *            the entry function of the last kernel entry, the exact pc for idle, or 0 if unknown
 *   then     nframes words of chain: return addresses of the walk, innermost first.
 *            With MKPERF_SAMPLE_CALLERS the last of these words is the number of words before it
 *            that describe callers in other threads, innermost first. The sample's thread serves
 *            the protected call of the first caller, the first caller that of the second, and so
 *            on. Each caller has
 *              bits 0-7 its number of return addresses, 8-15 the flags of their walk
 *              its badge and the badge of its scheduling context, as words 2 and 3
 *              its link register; 0 as in word 6
 *              the address at which it continues after the call
 *              its return addresses, innermost first
 *   then     only with MKPERF_SAMPLE_READ: the number n of values, and n values in the order of
 *            counters: bits 56-63 counter, 0-55 its events since the last overflow of the sample's
 *            own counter (a group whose first event samples: leader sampling)
 *   then     nothing; a larger size is reserved for a copy of the top of the stack
 *
 * LOSS (the field counter holds an enum mkperf_loss_where)
 *   word 1   time in ticks
 *   word 2   number of samples lost since the last LOSS record of that place
 *   word 3   sum of the periods of those samples
 *
 * SLICE (a counter of the descriptor's slice_mask overflowed; never in the output ring)
 *   word 1   time in ticks
 *
 * FAULT: a thread faulted (software event, soft.h)
 *   word 1   time in ticks
 *   words 2, 3  as in a sample
 *   word 4   pc of the instruction
 *   word 5   address of the failed access; 0 if the fault was not about an address
 *
 * Invariants
 * 1. A record does not wrap around the end of the ring: the writer fills the space with a PAD
 *    record.
 * 2. The size is right in every record, so that a reader can skip types that it does not know.
 * 3. A record has at most MKPERF_MAX_RECORD_BYTES.
 *
 * Example: word 0 is 0x0100000200480001. That is a SAMPLE (1) of 72 bytes (0x48) from core 1 and
 * counter 0, with two return addresses in words 7 and 8.
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
    MKPERF_RECORD_SCHED = 24, /* sched.h describes this and the next two */
    MKPERF_RECORD_SCHED_THREAD = 25,
    MKPERF_RECORD_SCHED_LOSS = 26,
    MKPERF_RECORD_WORDS = 27, /* words.h describes it */
};

enum mkperf_sample_flags {
    MKPERF_SAMPLE_KERNEL = 1 << 0,      /* the overflow happened in the kernel: word 7 is present */
    MKPERF_SAMPLE_NO_USER = 1 << 1,     /* the idle thread, which has no user context */
    MKPERF_SAMPLE_DEPTH_LIMIT = 1 << 2, /* the chain continues beyond the configured depth */
    MKPERF_SAMPLE_BAD_FP =
        1 << 3, /* a check failed, so the walk ended early; for callers only a walk by a table */
    MKPERF_SAMPLE_READ = 1 << 5,    /* values of other counters follow the frames */
    MKPERF_SAMPLE_CALLERS = 1 << 4, /* callers in other threads follow the frames */
    /* Bits 6 and 7 are an enum mkperf_guest_mode, in the timer's samples an enum mkperf_confidence (observe.h). */
};

/* The user code of a sample runs in a guest: pc and link register are addresses in the guest's own translation, and there
 * are no frames. */
#define MKPERF_SAMPLE_GUEST_SHIFT 6
enum mkperf_guest_mode {
    MKPERF_GUEST_NONE = 0,
    MKPERF_GUEST_USER = 1 << MKPERF_SAMPLE_GUEST_SHIFT,
    MKPERF_GUEST_KERNEL = 2 << MKPERF_SAMPLE_GUEST_SHIFT,
    MKPERF_GUEST_MASK = 3 << MKPERF_SAMPLE_GUEST_SHIFT,
};

/* The places at which samples can be lost. The numbers are also those of the wire. */
enum mkperf_loss_where {
    MKPERF_LOSS_RING = 0,   /* kernel hook: the core's sample ring was full */
    MKPERF_LOSS_OUTPUT = 1, /* profiler PD: the ring to the client was full */
    MKPERF_LOSS_LINK = 2,   /* client PD: a connection had no room */
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
    /* position of this word in a caller; the next four are positions, too */
    MKPERF_CALLER_FRAMES = 0,
    MKPERF_CALLER_THREAD = 1,
    MKPERF_CALLER_SC = 2,
    MKPERF_CALLER_LR = 3,
    MKPERF_CALLER_PC = 4,
    MKPERF_CALLER_WORDS = 5, /* words of a caller before its return addresses */
    MKPERF_FAULT_PC = 4,
    MKPERF_FAULT_ADDRESS = 5,
    MKPERF_FAULT_WORDS = 6,
};

enum mkperf_limits {
    MKPERF_MAX_FRAMES = 64,
    MKPERF_DEFAULT_FRAMES = 16,
    MKPERF_MAX_CORES = 8,
    MKPERF_MAX_COUNTERS = 31, /* PMUv3 event counters; the kernel uses the cycle counter */
    MKPERF_OFF_CPU_COUNTER = MKPERF_MAX_COUNTERS -
                             1, /* sessions with off-CPU samples have no such counter */
    MKPERF_MAX_FILTERS = 16,    /* threads to which a session may be limited */
    MKPERF_MAX_READS = 12,      /* values in a sample */
    MKPERF_MAX_CALLERS = 8,     /* callers in other threads; MKPERF_MAX_FRAMES words include them */
    MKPERF_DEFAULT_CALLERS = 4,
    MKPERF_MAX_RECORD_BYTES =
        8 * (MKPERF_SAMPLE_FIXED_WORDS + 1 + MKPERF_MAX_FRAMES + 1 + MKPERF_MAX_READS),
};

/*
 * Thread identities. The identity of a root PD is the badge of its fault handler: the PD's number
 * in Microkit's order + 1. Children of different parents may have equal badges. A child's identity
 * therefore also holds the badge of the scheduling context on which it runs: 0x100 + the PD's
 * number. A passive child runs on the scheduling context of its caller.
 *
 * This is Microkit's convention, not the kernel's. The hook writes badges unchanged, and the
 * profiler PD makes identities from them (mkperf_thread_of). Three values are the hook's own:
 * INITIAL, IDLE and NONE.
 */
#define MKPERF_THREAD_INITIAL UINT64_C(0) /* the kernel's first thread: Microkit's monitor */
#define MKPERF_THREAD_CHILD_BIT (UINT64_C(1) << 62)
#define MKPERF_THREAD_CHILD(number, id) \
    (MKPERF_THREAD_CHILD_BIT | (0x100 + (uint64_t)(number)) << 8 | (uint64_t)(id))
#define MKPERF_THREAD_CHILD_ID UINT64_C(0xff)
/* Microkit gives vCPUs of different machines the same badges. The hook therefore takes a vCPU's core and priority in place of its
 * scheduling context's badge. */
#define MKPERF_SC_VCPU UINT64_C(0x8000)
#define MKPERF_THREAD_VCPU(core, priority, id)                                            \
    (MKPERF_THREAD_CHILD_BIT |                                                            \
     (MKPERF_SC_VCPU | ((uint64_t)(core)&0x7f) << 8 | ((uint64_t)(priority)&0xff)) << 8 | \
     (uint64_t)(id))
#define MKPERF_THREAD_SC UINT64_C(0xffff)   /* bits of a scheduling context's badge in it */
#define MKPERF_THREAD_IDLE UINT64_MAX       /* the core's idle thread */
#define MKPERF_THREAD_NONE (UINT64_MAX - 1) /* a thread without a fault handler's badge */
/* Only in samples of the profiler PD's timer: one of several threads ran. The chain has a frame of
 * each of them after a MKPERF_FRAME_PD, at the address after its pc. */
#define MKPERF_THREAD_AMBIGUOUS (UINT64_MAX - 2)

/* Returns an identity as the wire carries it: plus 2, modulo 2^64. The idle thread and
 * MKPERF_THREAD_NONE are then short varints, and an absent field (0) means MKPERF_THREAD_NONE. */
static inline uint64_t mkperf_thread_to_wire(uint64_t thread)
{
    return thread + 2;
}

static inline uint64_t mkperf_thread_from_wire(uint64_t field)
{
    return field - 2;
}

/*
 * In a chain on the wire, values from MKPERF_FRAME_MARKERS on are markers instead of addresses. A
 * client PD sends 0 for such a value that it found in a thread's stack.
 * FRAME_PD: the next frame is the identity of a PD, to which the frames after it belong.
 * FRAME_CALLER: a caller in another thread. Its identity, its link register, the address at which
 * it continues after the call, and its return addresses follow.
 */
#define MKPERF_FRAME_MARKERS (UINT64_MAX - 0xfff)
#define MKPERF_FRAME_PD (UINT64_MAX - 0xff)
#define MKPERF_FRAME_CALLER (UINT64_MAX - 0x1ff)

/* The two parts of a counter's value in a sample. */
#define MKPERF_READ_COUNT ((UINT64_C(1) << 56) - 1)
#define MKPERF_READ_COUNTER_SHIFT 56

/* Returns the identity of a thread whose fault handler and scheduling context have these badges. */
static inline uint64_t mkperf_thread_of(uint64_t badge, uint64_t sc)
{
    if (!(badge & MKPERF_THREAD_CHILD_BIT) || badge >= MKPERF_THREAD_AMBIGUOUS) {
        return badge;
    }
    return MKPERF_THREAD_CHILD_BIT | (sc & MKPERF_THREAD_SC) << 8 |
           (badge & MKPERF_THREAD_CHILD_ID);
}

static inline int mkperf_thread_is_vcpu(uint64_t thread)
{
    return (thread & MKPERF_THREAD_CHILD_BIT) != 0 && thread < MKPERF_THREAD_AMBIGUOUS &&
           (thread & MKPERF_SC_VCPU << 8) != 0;
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

/* Returns the words of a sample up to the end of its chain. Only the values of other counters are
 * behind it. */
static inline unsigned mkperf_sample_words(uint64_t header)
{
    return MKPERF_SAMPLE_FIXED_WORDS + (mkperf_record_flags(header) & MKPERF_SAMPLE_KERNEL) +
           mkperf_record_nframes(header);
}

#endif
