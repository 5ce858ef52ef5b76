/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The descriptor: what the profiler PD asks of the kernel hook, and what the hook answers.
 *
 * Owns: the layout of both. The descriptor is memory of the profiler PD, within one page that it
 * may read and write. Its address stands in `userData` of the PD's IPC buffer when the PD
 * acknowledges the PMU's interrupt: that is the request. The kernel carries it out before the
 * acknowledgement returns if it is about the core that this runs on. For another one (`core`) it
 * calls that core, which carries it out when it enters the kernel: soon after, or never, if the core
 * does not run. Of requests for the same core the last one counts. With `userData` 0 the
 * acknowledgement is an ordinary one, and a kernel without the hook never looks at the word.
 *
 * The kernel reads a configuration once, into its own memory, and checks it there. A sample uses
 * what was prepared then and nothing of this page, so what is written here between two requests has
 * no effect.
 *
 * What a profiler PD can make the kernel do, whatever it writes here: count events that the CPU
 * offers, for all threads; write into the PD's own pages, as far as the PD itself may write to
 * them; and take time from whatever runs, a sample after every mkperf_least_interval events of a
 * counter at the soonest. A session whose last 1024 interrupts took more than half of the core's time
 * is switched off (`storm`), and no session starts for as long again as these 1024 interrupts lasted,
 * from the first to the last. So a thread takes at most twice its time. The hook measures the time of
 * some of the interrupts, and estimates that of their entry and exit from the number of instructions
 * (capture.c). What the owner's own threads do comes in addition; their priorities and budgets limit
 * it. With scheduling events a session also costs an event and a sample at each switch. A profiler PD
 * reads how many events all threads cause, where they are in their programs, and the return addresses
 * on their stacks: that is what profiling is.
 */
#ifndef MKPERF_DESCRIPTOR_H
#define MKPERF_DESCRIPTOR_H

#include <stdint.h>

#include <mkperf/record.h>

#define MKPERF_CORE_HERE UINT32_MAX                          /* whatever core the caller runs on */
#define MKPERF_DESCRIPTOR_MAGIC UINT64_C(0x33637365646b706d) /* "mpkdesc3" */

/*
 * What a sample costs in the kernel, in instructions, rounded up: without frames (256 on a release
 * kernel of seL4, 352 on a debug kernel for QEMU), for each frame, for values of other counters, for
 * each of those, and for each caller in another thread (75 to 80). No interval has fewer events than
 * its sample costs instructions.
 */
#define MKPERF_HOOK_SAMPLE_COST 400
#define MKPERF_HOOK_FRAME_COST 17
#define MKPERF_HOOK_READS_COST 70
#define MKPERF_HOOK_READ_COST 45
#define MKPERF_HOOK_CALLER_COST 80
/* The shortest interval of any counter: twice the cost, because one instruction may be two events, as
 * with cycles in QEMU. Where it is more than two, the limit of time above still holds. */
#define MKPERF_HOOK_MIN_PERIOD (2 * MKPERF_HOOK_SAMPLE_COST)
/* Of a counter that counts in the kernel: by far more than what counts between the hook and user
 * mode. With less, each way back to a thread would overflow the counter again, and no thread would
 * ever run. */
#define MKPERF_MIN_KERNEL_PERIOD 2000

/* The shortest interval that the hook arms a counter with. max_frames: of the sampled thread;
 * callers seldom have as many again, and samples that cost more than their interval too often are a
 * storm. reads: counters whose values ride in its samples. kernel: the counter counts in the
 * kernel, whether or not in user mode. */
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

/* What is asked: one of these, and MKPERF_REQUEST_SNAPSHOT beside it or alone. */
enum mkperf_request {
    /* The configuration is a new session. Its ring is empty: head and tail are 0. */
    MKPERF_REQUEST_APPLY = 1,
    /* Other counters and filters; the session, its ring and its losses continue. The ring's size,
     * max_frames and the tables are ignored. */
    MKPERF_REQUEST_CONTINUE = 2,
    /* period and jitter_mask of the session's counters, and the watermark; nothing else is looked
     * at. A counter that has more than two new periods left before its overflow is set forward:
     * its interval ends one period from now, and its sample weighs what was counted. */
    MKPERF_REQUEST_UPDATE = 3,
    /* The counters stand still. The session continues: CONTINUE, or WITHDRAW. */
    MKPERF_REQUEST_STOP = 4,
    /* The session is over: counters off, nothing remembered. */
    MKPERF_REQUEST_WITHDRAW = 5,
    MKPERF_REQUEST_OP = 7, /* mask */
    /* The answer's counter[], too: after STOP and WITHDRAW have stopped them, before the others
     * have set them again. */
    MKPERF_REQUEST_SNAPSHOT = 8,
};

/* Why a request was refused: it has then changed nothing, but that a CONTINUE has stopped the
 * counters, and BAD_EVENT leaves no session. */
enum mkperf_request_status {
    MKPERF_REQUEST_OK = 0,
    MKPERF_REQUEST_BAD_OP = 1,       /* no such operation */
    MKPERF_REQUEST_BAD_CORE = 2,     /* the kernel has no such core, or the interrupt is another
                                        core's than the caller's */
    MKPERF_REQUEST_BAD_COUNTERS = 3, /* no counters, or some that the CPU has not */
    MKPERF_REQUEST_BAD_RING = 4,     /* its size, or it is not within one mapping of the caller's */
    MKPERF_REQUEST_BAD_TABLE = 5,    /* the same for the table of counts, or of software events */
    MKPERF_REQUEST_BAD_FEATURE = 6,  /* this kernel was built without counts, software events or
                                        scheduling events */
    MKPERF_REQUEST_BAD_STATE = 7,    /* no session of the caller's to continue */
    MKPERF_REQUEST_BAD_EVENT = 8,    /* the PMU did not take the `select` of counter `what` */
    MKPERF_REQUEST_BAD_TIME = 9,     /* too soon after a storm */
};

/* Bits of an answer's `features`. */
enum mkperf_hook_features {
    MKPERF_FEATURE_COUNTS = 1,    /* counts by thread (counts.h) */
    MKPERF_FEATURE_SOFT = 2,      /* software events (soft.h) */
    MKPERF_FEATURE_FOLLOWERS = 4, /* in an emulator: overflows of user events come in time for as
                                     many counters as a session leaves over (docs/sel4.md, "QEMU") */
    MKPERF_FEATURE_SCHED = 8,     /* scheduling events (sched.h) */
};

enum mkperf_sched_wish {
    MKPERF_SCHED_EVENTS = 1,  /* scheduling events in the ring, */
    MKPERF_SCHED_OFF_CPU = 2, /* and before each switch from a thread that waits a sample of it */
};

struct mkperf_request_counter {
    /* What the counter's event selector is to hold: kernel/arch/ says which bits the kernel takes
     * over, and pd/pmu makes the values. Whether it counts in user mode, in the kernel or in both
     * stands here and nowhere else. */
    uint32_t select;
    uint32_t left;        /* events from the start to its first overflow, */
    uint32_t first;       /* which ends an interval of so many; at least `left` */
    uint32_t period;      /* events between samples, before jitter */
    uint32_t jitter_mask; /* 2^k - 1 <= period, low bits may be clear; 0 = no jitter */
    uint32_t reads;       /* of one that samples: those of read_mask to be read with it */
    uint64_t read;        /* of one in read_mask: what it had counted, modulo 2^64, at the last
                             overflow of the one that it is read with, where MKPERF_COUNT_PERIOD
                             events before its own next overflow is 0 */
};

/* Samples of this thread are wanted. */
struct mkperf_filter {
    uint64_t badge;   /* as a record has it, */
    uint64_t sc;      /* and of its scheduling context's badge */
    uint64_t sc_mask; /* the bits that count */
};

/*
 * What a session is. Jitter: after each overflow the hook arms the counter with
 *   period - (jitter_mask + 1) / 2 + r,   r uniform in [0, jitter_mask]   (jitter_mask != 0)
 * as jitter.h defines r, so that the mean is period - 1/2 and every value in the range can occur;
 * but never with less than mkperf_least_interval. Each sample carries the period that it really had.
 */
struct mkperf_configuration {
    uint32_t counter_mask; /* counters that belong to the session, bit = number; not 0 */
    uint32_t enable_mask;  /* those of them that count from now on */
    uint32_t read_mask;    /* those of them that do not sample: their values ride in others' samples
                              or are asked for. To be armed with MKPERF_COUNT_PERIOD, so that they
                              never wrap unseen */
    uint32_t
        slice_mask; /* those of them whose overflow is reported with a SLICE record, and wakes */
    uint32_t max_frames; /* depth of each thread's walk, 0 .. MKPERF_MAX_FRAMES */
    uint32_t watermark;  /* bytes used in the ring at which the profiler PD is woken */
    uint32_t ring_bytes; /* data bytes of the ring, see mkperf_ring_size_ok */
    uint32_t callers;    /* in other threads, with which chains go on: 0 .. MKPERF_MAX_CALLERS */
    uint32_t filters;    /* 0: samples of all threads; else only of filter[] */
    uint64_t ring;       /* this core's ring: address in the profiler PD; header and data within
                              one page of its mapping */
    uint64_t reply;      /* where a thread keeps the capability by which it replies to a call: an
                              address in its CSpace. Ignored by a kernel that needs none */
    /* A thread that has one of these bits in its badge is identified by the badge of its scheduling
     * context, too, of which these bits count: in the tables, not in records. */
    uint64_t sc_if;
    uint64_t sc_mask;
    uint64_t counts;     /* table of counts by thread: address in the profiler PD, 0 = none */
    uint64_t soft;       /* table of software events: address in the profiler PD, or 0 */
    uint32_t count_mask; /* counters that count by thread, */
    uint32_t soft_mask;  /* software events that are wanted, bit = enum mkperf_soft_kind */
    uint32_t sched;      /* enum mkperf_sched_wish, 0: no scheduling events */
    uint32_t reserved;
    uint8_t slot[32]; /* the slot that each counter counts for by thread (counts.h) */
    struct mkperf_filter filter[MKPERF_MAX_FILTERS];
    struct mkperf_request_counter counter[MKPERF_MAX_COUNTERS];
};

struct mkperf_answer_counter {
    uint32_t value; /* as the counter holds it: 2^32 - n when n events are left to the overflow */
    uint32_t interval; /* events from its last overflow to its next */
    uint64_t read;     /* as in the request */
};

struct mkperf_answer {
    uint32_t status; /* enum mkperf_request_status */
    uint32_t what;   /* counter that it is about */
    uint32_t features;
    uint32_t counters; /* that the CPU has, bit = number */
    uint32_t session;  /* counters of the session, 0: there is none */
    uint32_t storm;    /* != 0: the hook has switched the session's counters off */
    uint32_t cores;    /* that the kernel has */
    uint32_t core;     /* which one this is about */
    /* Registers that say what the PMU is. Armv8: MIDR_EL1, PMCR_EL0, PMCEID0_EL0, PMCEID1_EL0. */
    uint64_t pmu[4];
    uint64_t time; /* ticks: of a snapshot; when counters were started or stopped */
    uint64_t tick_hz;
    uint64_t head;     /* the hook's position in the ring: what counter[] says comes after it */
    uint64_t captures; /* since boot: interrupts of sessions, */
    uint64_t spurious; /* and such of the PMU that were no session's */
    uint64_t
        disturbed; /* what the PMU held otherwise than it was programmed: found and put right */
    struct mkperf_answer_counter counter[MKPERF_MAX_COUNTERS]; /* with SNAPSHOT */
};

/*
 * Protocol: the PD fills in everything but the answer, with a `sequence` that is not `answered`,
 * and acknowledges the interrupt. The kernel fills in the answer and copies the sequence to
 * `answered`. If it has not done so when the acknowledgement returns, there is no hook, or `core`
 * is another core, which has not answered yet: one descriptor a core, so that all of them work on
 * their requests at the same time. The same sequence again is no request.
 */
struct mkperf_descriptor {
    uint64_t magic; /* MKPERF_DESCRIPTOR_MAGIC */
    uint32_t sequence;
    uint32_t op;   /* enum mkperf_request */
    uint32_t core; /* that it is about, from 0, or MKPERF_CORE_HERE */
    uint32_t pad;
    struct mkperf_configuration want;
    uint32_t answered; /* from here on the kernel writes */
    uint32_t reserved;
    struct mkperf_answer answer;
};

_Static_assert(sizeof(struct mkperf_descriptor) <= 4096, "the descriptor must fit a page");
_Static_assert(sizeof(struct mkperf_configuration) % 8 == 0, "the kernel copies words");

#endif
