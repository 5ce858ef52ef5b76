/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The descriptor: a request of the profiler PD to the kernel hook, and the hook's answer.
 *
 * Concept: the descriptor is in memory of the profiler PD, within one page that it may read and
 * write. The PD stores the address in `userData` of its IPC buffer and acknowledges the PMU's
 * interrupt: that is the request. With `userData` 0 the acknowledgement is an ordinary one. A
 * kernel without the hook never reads the word.
 *
 *     profiler PD                                 kernel hook
 *     op, core, want, sequence  ── acknowledge ──►  reads and checks `want` once, into its own
 *     memory answer, answered          ◄─────────────────  carries it out; writes the answer, then
 *     `answered`
 *
 * A request about the core on which the PD runs is carried out before the acknowledgement returns.
 * For another core (`core`), the kernel interrupts that core, which carries the request out when it
 * enters the kernel. That may be later, or never if the core does not run. Of several pending
 * requests for one core only the last is carried out.
 *
 * Owns: the layout of requests and answers.
 *
 * Invariants
 * 1. A sample uses only the kernel's copy. A change of the page between two requests has no effect.
 *    Tables for unwinding are no part of the page: a change of them changes chains, and nothing else.
 * 2. A profiler PD can make the kernel count events that the CPU offers, for all threads.
 * 3. The kernel writes only to pages of the PD to which the PD itself may write.
 * 4. A counter takes time for at most one sample every MKPERF_HOOK_MIN_PERIOD events.
 * 5. A session whose last 1024 interrupts took more than half of the core's time is switched off (a
 *    storm). No session starts again until as much time has passed as these interrupts lasted, from
 *    the first to the last. A thread therefore takes at most twice its time. The hook measures the
 *    time of some interrupts, and estimates that of entry and exit from the number of instructions
 *    (capture.c).
 * 6. The owner's own threads take time in addition; their priorities and budgets limit it. With
 *    scheduling events a session also costs an event and a sample at each switch.
 * 7. A profiler PD can read the events that all threads cause, their places in their programs, and
 *    the return addresses on their stacks. Profiling requires that. Of other memory of a thread that
 *    runs in a session with stacks, it can learn which pages are readable, and each page's first word
 *    that is not 0: where it is, and not its value.
 *
 * Example: the PD fills in `want` with counter_mask 1, increments `sequence` to 8, sets op
 * MKPERF_REQUEST_APPLY, and acknowledges. When that returns, answered is 8, answer.status is
 * MKPERF_REQUEST_OK, and counter 0 samples into the ring. If answered is still 7, there is no hook.
 */
#ifndef MKPERF_DESCRIPTOR_H
#define MKPERF_DESCRIPTOR_H

#include <stdint.h>

#include <mkperf/record.h>

#define MKPERF_CORE_HERE UINT32_MAX                          /* the core on which the caller runs */
#define MKPERF_DESCRIPTOR_MAGIC UINT64_C(0x38637365646b706d) /* "mpkdesc8" */

/*
 * The cost of a sample in the kernel, in instructions, rounded up. A sample without frames costs
 * 256 on a release kernel of seL4, and 352 on a debug kernel for QEMU. Each frame adds to it, the
 * reading of other counters, each of these counters, and each caller in another thread. A caller
 * costs up to 87 on seL4: the numbers below are larger than the real costs in sum. The profiler PD
 * requests no interval that has fewer events than its sample costs instructions.
 */
#define MKPERF_HOOK_SAMPLE_COST 400
#define MKPERF_HOOK_FRAME_COST 17
#define MKPERF_HOOK_UNWIND_FRAMES 4 /* a frame by a table costs as much as so many */
#define MKPERF_HOOK_READS_COST 70
#define MKPERF_HOOK_READ_COST 45
#define MKPERF_HOOK_CALLER_COST 80
/* The shortest interval of any counter, whatever is requested: twice the cost of a short sample, because one
 * instruction may cause two events, such as cycles in QEMU. If it causes more, or if the sample is longer, the
 * limit of time above still applies. */
#define MKPERF_HOOK_MIN_PERIOD (2 * MKPERF_HOOK_SAMPLE_COST)
/* The shortest interval that the profiler PD requests of a counter that counts in the kernel: far more than the
 * events between the hook and user mode. With fewer, each return to a thread would overflow the counter again, and
 * no thread would run before the hook finds the storm. */
#define MKPERF_MIN_KERNEL_PERIOD 2000

/* Returns the shortest interval that the profiler PD requests of a counter. max_frames: the limit for the
 * sampled thread. Callers seldom have as many frames in addition, and a storm ends a session if
 * they have. reads: the number of counters that are read with its samples. kernel: the counter
 * counts in the kernel, and perhaps in user mode, too. */
static inline uint32_t mkperf_least_interval(uint32_t max_frames, uint32_t callers, uint32_t reads,
                                             int kernel)
{
    uint32_t cost = MKPERF_HOOK_SAMPLE_COST + MKPERF_HOOK_FRAME_COST * max_frames +
                    MKPERF_HOOK_CALLER_COST * callers;

    if (reads != 0) {
        cost += MKPERF_HOOK_READS_COST + MKPERF_HOOK_READ_COST * reads;
    }
    uint32_t least = kernel ? MKPERF_MIN_KERNEL_PERIOD : MKPERF_HOOK_MIN_PERIOD;

    return cost < least ? least : cost;
}

/* The operation: one of these, MKPERF_REQUEST_SNAPSHOT, or one of these with it. */
enum mkperf_request {
    /* The configuration is a new session. Its ring is empty: head and tail are 0. */
    MKPERF_REQUEST_APPLY = 1,
    /* Changes counters, after the present ones were stopped. The session, its ring and its losses
     * continue, and the second part of the configuration is ignored. */
    MKPERF_REQUEST_CONTINUE = 2,
    /* Changes period and jitter_mask of the session's counters, and the watermark. All else is
     * ignored. If a counter has more than two new periods left before its overflow, its interval
     * now ends after one new period. Its sample then has the number of events really counted. */
    MKPERF_REQUEST_UPDATE = 3,
    /* Stops the counters. CONTINUE starts them again; WITHDRAW ends the session. */
    MKPERF_REQUEST_STOP = 4,
    /* Ends the session: the counters are off, and the hook forgets the session. */
    MKPERF_REQUEST_WITHDRAW = 5,
    /* Looks at the page `page` in the address space of the thread that has the slot `slot` of
     * scheduling events, and changes nothing. In a session with MKPERF_SOFT_STACKS. */
    MKPERF_REQUEST_PAGE = 6,
    MKPERF_REQUEST_OP = 7, /* the mask of the operations above */
    /* Fills the answer's counter[] in addition. The counters are read after STOP and WITHDRAW have
     * stopped them, and before the other operations set them again. */
    MKPERF_REQUEST_SNAPSHOT = 8,
};

/* The reason for which a request was refused. A request that is refused with BAD_OP, BAD_CORE or BAD_STATE
 * changes nothing, except that a CONTINUE has stopped the counters. An APPLY or CONTINUE that is refused with
 * another reason leaves no session. */
enum mkperf_request_status {
    MKPERF_REQUEST_OK = 0,
    MKPERF_REQUEST_BAD_OP = 1,   /* no such operation */
    MKPERF_REQUEST_BAD_CORE = 2, /* the kernel has no such core, or the interrupt belongs to a core
                                        on which the caller does not run */
    MKPERF_REQUEST_BAD_COUNTERS = 3, /* no counters, some that the CPU or the session lacks, or
                                        a number above its limit */
    MKPERF_REQUEST_BAD_RING = 4,     /* wrong size, or not within one mapping of the caller */
    MKPERF_REQUEST_BAD_TABLE = 5,    /* the tables are not within one mapping of the caller */
    MKPERF_REQUEST_BAD_STATE = 7, /* the caller has no session to continue, or none with stacks, or
                                        no thread has the slot */
    MKPERF_REQUEST_BAD_EVENT = 8, /* the PMU did not take the `select` of counter `what` */
    MKPERF_REQUEST_BAD_TIME = 9,  /* too soon after a storm */
};

/* Bits of an answer's `features`. */
enum mkperf_hook_features {
    MKPERF_FEATURE_EVENTS = 1,    /* what happens to threads: scheduling events (sched.h), software
                                     events (soft.h), counts by thread (counts.h), and words of
                                     memory at switches (words.h) */
    MKPERF_FEATURE_FOLLOWERS = 4, /* in an emulator: overflows of user events come in time for as
                                     many counters as a session leaves over (docs/qemu.md) */
};

enum mkperf_sched_wish {
    MKPERF_SCHED_EVENTS = 1,  /* scheduling events in the ring */
    MKPERF_SCHED_OFF_CPU = 2, /* a sample of each thread that stops to wait, before the switch */
};

struct mkperf_request_counter {
    /* The value of the counter's event selector. kernel/arch/ defines the bits that the kernel
     * copies, and pd/pmu computes the values. Only these bits decide whether the counter counts in
     * user mode, in the kernel or in both. */
    uint32_t select;
    uint32_t left;        /* events from the start to its first overflow */
    uint32_t period;      /* events between samples, before jitter */
    uint32_t jitter_mask; /* 2^k - 1 <= period, low bits may be clear; 0 = no jitter */
    uint32_t least;       /* the shortest interval; at least MKPERF_HOOK_MIN_PERIOD is taken */
    uint32_t interval;    /* events of the interval that the first overflow ends; at least `left` */
    uint32_t reads;       /* of a counter that samples: the counters of read_mask that it reads */
    uint32_t reserved;
    /* Of a counter of read_mask: its count, modulo 2^64, at the last overflow of the counter that reads it.
     * The count is 0 when MKPERF_COUNT_PERIOD events are left until its own next overflow. */
    uint64_t read;
};

/* A thread to which samples are limited. */
struct mkperf_filter {
    uint64_t badge;   /* badge of the fault handler, as in a record */
    uint64_t sc;      /* badge of the scheduling context */
    uint64_t sc_mask; /* the bits of `sc` that are compared */
};

/*
 * The configuration of a session. Jitter: after each overflow the hook arms the counter with
 *   period - (jitter_mask + 1) / 2 + r,   r uniform in [0, jitter_mask]   (jitter_mask != 0)
 * as jitter.h defines r. The mean is period - 1/2, and every value in the range can occur. No
 * interval is shorter than `least`. Each sample has the length of its real interval.
 */
struct mkperf_configuration {
    /* What CONTINUE replaces, too. */
    uint32_t counter_mask; /* counters that belong to the session, bit = number; not 0 */
    uint32_t enable_mask;  /* the counters that count from now on. This and the next four are parts
                              of counter_mask */
    uint32_t read_mask;    /* counters that do not sample: their values are in samples of other
                              counters, or in a snapshot. They are armed with MKPERF_COUNT_PERIOD,
                              so that no wrap is missed */
    uint32_t slice_mask;   /* an overflow of one of these writes a SLICE record and wakes the PD */
    uint32_t count_mask;   /* counters that count by thread */
    uint32_t kernel_mask;  /* counters that count only in the kernel */
    uint32_t guest_mask;   /* counters of which samples count only if they are of a guest */
    uint32_t host_mask;    /* counters of which samples count only if they are of no guest */
    uint32_t watermark;    /* used bytes in the ring at which the profiler PD is woken */
    uint32_t reserved;
    uint8_t slot[32]; /* each counter's slot in the table of counts (counts.h) */
    struct mkperf_request_counter counter[MKPERF_MAX_COUNTERS];

    /* What a session keeps from APPLY to its end. */
    uint64_t ring;   /* this core's ring: address in the profiler PD; header and data within one
                        page of its mapping */
    uint64_t tables; /* struct mkperf_tables: address in the profiler PD, within one page of its
                        mapping, too; 0 = none */
    uint64_t reply;  /* address in a thread's CSpace of the capability with which it replies to a
                        call. Kernels that need no such capability ignore it */
    /* The tables identify a thread with a bit of sc_if in its badge also by the bits sc_mask of its
     * scheduling context's badge. Records have whole badges. */
    uint64_t sc_if;
    uint64_t sc_mask;
    uint32_t ring_bytes; /* data bytes of the ring, see mkperf_ring_size_ok */
    uint32_t max_frames; /* depth of each thread's walk, 0 .. MKPERF_MAX_FRAMES */
    uint32_t callers;    /* most callers in other threads in a chain: 0 .. MKPERF_MAX_CALLERS */
    uint32_t soft_mask;  /* requested software events, bit = enum mkperf_soft_kind */
    uint32_t sched;      /* enum mkperf_sched_wish, 0: no scheduling events */
    uint32_t words;      /* length of the tables' word[] */
    uint32_t unwind;     /* not 0: the tables' `unwind` makes the chains of the PDs that it has */
    uint32_t filters;    /* 0: samples of all threads; else length of filter[] */
    struct mkperf_filter filter[MKPERF_MAX_FILTERS];
};

/* The bytes of a configuration that CONTINUE replaces. */
#define MKPERF_CONTINUED_BYTES __builtin_offsetof(struct mkperf_configuration, ring)

struct mkperf_answer_counter {
    uint32_t value;    /* the register's value: 2^32 - n if n events are left before the overflow */
    uint32_t interval; /* events from its last overflow to its next */
    uint64_t read;     /* the counter's `reads` of the request */
};

struct mkperf_answer {
    uint32_t status; /* enum mkperf_request_status */
    uint32_t what;   /* number of the counter to which the status refers */
    uint32_t features;
    uint32_t counters; /* counters of the CPU, bit = number */
    uint32_t session;  /* counters of the session, 0: no session */
    uint32_t storm;    /* != 0: the hook has switched the session's counters off */
    uint32_t cores;    /* number of cores of the kernel */
    uint32_t core;     /* the core to which this answer refers */
    /* Registers that identify the PMU. Armv8: MIDR_EL1, PMCR_EL0, PMCEID0_EL0, PMCEID1_EL0. */
    uint64_t pmu[4];
    uint64_t time; /* ticks: time of a snapshot, or of the start or stop of counters */
    uint64_t tick_hz;
    uint64_t head;      /* the hook's position in the ring when it read counter[] */
    uint64_t captures;  /* since boot: interrupts of sessions */
    uint64_t spurious;  /* since boot: interrupts of the PMU without a session */
    uint64_t disturbed; /* times that the PMU differed from its programming, and was corrected */
    /* Since boot: accesses of guests to the PMU, which read 0 and change nothing. */
    uint64_t guest_accesses;
    /* The badges of a fault handler and of a scheduling context: of the caller. With PAGE, of the thread in the slot. */
    uint64_t badge;
    uint64_t sc;
    /* With PAGE: whether the thread may read the page, and the address of the page's first word that is not
     * 0 (0: none). */
    uint64_t readable;
    uint64_t word;
    struct mkperf_answer_counter counter[MKPERF_MAX_COUNTERS]; /* only a SNAPSHOT fills it in */
};

/*
 * Protocol: the PD fills in everything except the answer, with a `sequence` that differs from
 * `answered`, and acknowledges the interrupt. The kernel fills in the answer and copies the
 * sequence to `answered`. If it has not done so when the acknowledgement returns, there is no hook,
 * or `core` is another core that has not answered yet. A repeated sequence is no request. Each core
 * has its own descriptor, so that all cores work on their requests at the same time.
 */
struct mkperf_descriptor {
    uint64_t magic; /* MKPERF_DESCRIPTOR_MAGIC */
    uint32_t sequence;
    uint32_t op;   /* enum mkperf_request */
    uint32_t core; /* number of the core, from 0, or MKPERF_CORE_HERE */
    uint32_t slot; /* argument of PAGE */
    struct mkperf_configuration want;
    uint32_t answered; /* the kernel writes this and `answer` */
    uint32_t reserved;
    struct mkperf_answer answer;
    uint64_t page; /* argument of PAGE */
};

_Static_assert(sizeof(struct mkperf_descriptor) <= 4096, "the descriptor must fit a page");
_Static_assert(sizeof(struct mkperf_configuration) % 8 == 0 && MKPERF_CONTINUED_BYTES % 8 == 0,
               "the kernel copies words");

#endif
