/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The kernel hook's state of one core, and what a kernel calls.
 *
 * Owns: struct mkperf_hook. A kernel has one for each core, in its own memory, zero at boot. Each
 * function is called on the core that the state belongs to, with interrupts masked, and by nothing
 * else meanwhile. docs/porting.md has the contract of a port (mkperf_port.h).
 *
 * Several cores. What a sample writes is its core's alone: the state, the PMU and the ring, whose
 * consumer may run on another core at the same time (ring.h). A kernel with one lock holds it in all
 * functions, for three reasons: mkperf_hook_unmapped and mkperf_hook_end are called for the states
 * of other cores; a mapping that a sample follows must not be removed under it; and waking the owner
 * changes the scheduler's state. The tables of counts and of software events may be one for all
 * cores, since they are written with the lock.
 */
#ifndef MKPERF_KERNEL_HOOK_H
#define MKPERF_KERNEL_HOOK_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include <mkperf/counts.h>
#include <mkperf/descriptor.h>
#include <mkperf/jitter.h>
#include <mkperf/ring.h>
#include <mkperf/sched.h>
#include <mkperf/soft.h>

struct mkperf_hook_counter {
    uint32_t period;
    uint32_t jitter_mask;
    uint32_t least; /* no interval is shorter, mkperf_least_interval */
    uint32_t armed; /* the interval that the counter is in */
};

struct mkperf_hook_sched {
    uint64_t header; /* what those of all events of this core have in common */
    uint64_t limit;  /* an event that ends at this position of the ring, or before, needs no look */
    uint64_t lost;   /* events since the last one that was written, */
    uint64_t lost_from;   /* and the time of the first of them */
    uint64_t lost_before; /* events of the session that were lost before those */
    /* A message was delivered to this thread, and no event says so yet: kind and time. */
    const void *delivered;
    uint64_t sampled; /* reasons of switches that a sample is taken at, bit = number */
    unsigned kind;
    uint64_t time;
    const void *slot[MKPERF_SCHED_SLOTS]; /* the threads with a record in the session */
};

struct mkperf_hook {
    /* What every sample needs. */
    uint32_t mask;            /* counters of the session; 0: there is none */
    uint32_t kernel_mask;     /* those of them that count in the kernel alone */
    struct mkperf_ring *ring; /* as the kernel sees it; NULL: to be looked up again */
    uint64_t head;            /* our position in it, */
    uint64_t wrote;           /* and the bytes of the last record, 0: it was lost */
    uint32_t ring_bytes;
    uint32_t watermark;
    uint32_t room; /* bytes of the longest sample, without values of other counters */
    uint32_t max_frames;
    uint32_t callers; /* in other threads, at most */
    uint32_t special; /* filters, read_mask or slice_mask are not 0 */
    uint64_t mix;     /* MKPERF_JITTER_MIX */
    uint64_t captures;
    uint64_t look_at; /* which of them is measured next */
    uint64_t dropped_samples;
    uint64_t dropped_events;
    uint64_t late_events;
    struct mkperf_hook_counter counter[MKPERF_MAX_COUNTERS];

    /* What some need. */
    uint32_t enabled; /* counters that count */
    bool watches;     /* the session has kernel counters, or one of the next two: */
    bool tables;      /* counts by thread, or software events */
    bool schedules;   /* scheduling events */
    uint32_t storm;
    uint64_t disturbed;
    uint64_t spurious; /* for the port: interrupts of the PMU that went the ordinary way */
    uint64_t spent;    /* ticks in the hook, of `looks` captures, */
    uint64_t seen;     /* and the instructions that these take at least, */
    uint64_t since;    /* since then: ticks, */
    uint64_t first;    /* and this capture */
    uint32_t looks;
    uint64_t quiet; /* no new session before: ticks */
    uint64_t read[MKPERF_MAX_COUNTERS];
    const void *owner;            /* the thread whose session it is */
    struct mkperf_counts *counts; /* as the kernel sees the tables; NULL: to be looked up again */
    struct mkperf_soft *soft;
    uint32_t count_last[MKPERF_MAX_COUNTERS]; /* values when counts by thread were last taken, */
    bool count_known;                         /* or not, since counters were set again */

    struct mkperf_hook_sched sched;

    struct mkperf_configuration session; /* as it was asked for, and checked */
    struct mkperf_configuration want;    /* a request while it is checked */
};

/* What tells a thread: the badge of its fault handler, or MKPERF_THREAD_*, and the badge of its
 * scheduling context. Raw: what they mean is the profiler PD's business. */
struct mkperf_identity {
    uint64_t badge;
    uint64_t sc;
};

/* capture.c */

/*
 * One profiling interrupt: takes a sample for each counter of `hit`, re-arms them, and wakes the
 * owner when the ring reaches the watermark. hit: counters of the session that overflowed, not 0:
 * mkperf_pmu_overflow() & s->mask. If that is 0, the interrupt is none of the hook's: it goes the
 * ordinary way, masked and signalled to whoever holds it.
 * now: mkperf_port_time(), as soon as the port has the interrupt. mkperf_captured is to follow.
 *
 * Called in the interrupt path with the interrupted thread's registers saved and its address space
 * current. Bounded: at most MKPERF_MAX_COUNTERS samples of at most MKPERF_MAX_FRAMES frames each.
 * Never faults, whatever user memory holds.
 */
void mkperf_capture(struct mkperf_hook *s, uint32_t hit, uint64_t now);

void mkperf_hook_look(struct mkperf_hook *s, uint64_t entered); /* for mkperf_captured */

/*
 * The port has nothing left to do for the interrupt, but to wake the owner and to return to user
 * mode. Some captures are measured, up to here: a session that takes too much is switched off, and
 * the owner woken. entered: what mkperf_capture was given as `now`.
 */
static inline void mkperf_captured(struct mkperf_hook *s, uint64_t entered)
{
    if (__builtin_expect(s->captures >= s->look_at, 0)) {
        mkperf_hook_look(s, entered);
    }
}

/*
 * Samples of counters that have overflowed and whose interrupt was not taken. An overflow becomes a sample
 * at the first boundary that it passes, in the context that it happened in. There are two boundaries:
 *
 *   an entry into the kernel, whatever enters it, before the port notes the new entry: a user counter
 *   has overflowed in the user mode that ends here, a kernel counter in the kernel's last work;
 *
 *   a switch to another thread, before it: a kernel counter has overflowed in the kernel's present work.
 *
 * Without the first, an interrupt or a system call that coincides with an overflow moves the sample to
 * the thread that runs next. hit: counters of the session, not 0, whose flags were set at the boundary.
 */
void mkperf_hook_take(struct mkperf_hook *s, uint32_t hit);

/*
 * Whether each sample wakes the session's owner. The counter of such a session stands in for a timer whose
 * interrupt is checked (`record -e timer --check-timer`), so a port leaves its overflows to the interrupt.
 */
static inline bool mkperf_hook_wakes_each(const struct mkperf_hook *s)
{
    return s->watermark <= sizeof(uint64_t); /* less than any record has */
}

/* For sched.c: a sample of `thread`, which stops to wait and whose registers are saved, with
 * MKPERF_OFF_CPU_COUNTER. */
void mkperf_capture_waiting(struct mkperf_hook *s, const void *thread, uint64_t now);

/* For request.c: the next interval of counter i, which begins at this time. */
uint32_t mkperf_hook_interval(const struct mkperf_hook *s, unsigned i, uint64_t time);

/* For request.c and sched.c: looks the session's ring up, if it is not known; what was lost since it was
 * unmapped is then in its header. s->ring NULL: it is not mapped as it was. */
void mkperf_hook_find_ring(struct mkperf_hook *s);

/* request.c */

/* At boot, on each core: user mode cannot reach the PMU, and no counter counts or interrupts. */
void mkperf_hook_boot(void);

/* Which core a request is about, of a caller that runs on `here`: any number. d as for
 * mkperf_hook_request. */
static inline uint32_t mkperf_hook_core(const struct mkperf_descriptor *d, uint32_t here)
{
    uint32_t core = __atomic_load_n(&d->core, __ATOMIC_RELAXED);

    return core == MKPERF_CORE_HERE ? here : core;
}

/*
 * A request of `caller` about this core: it is the current thread here, or was that of another core
 * which has called this one since. here false: about no core that the kernel has; it is refused.
 * d: the kernel's view of the descriptor that its IPC buffer named, 8-byte aligned, all of it within
 * one page that the caller may read and write: looked up again on this core.
 * Bounded; d may change meanwhile.
 */
void mkperf_hook_request(struct mkperf_hook *s, struct mkperf_descriptor *d, const void *caller,
                         bool here);

/* The session is over: its owner or the interrupt's handler was deleted. here: the state is this
 * core's. Another core's counters stay on; the next overflow of one goes the ordinary way, masked.
 * The state of a core without a session may be passed, too. */
void mkperf_hook_end(struct mkperf_hook *s, bool here);

/* Something was unmapped, or an address space was deleted: no kernel address that was found by way
 * of page tables is to be used again. */
static inline void mkperf_hook_unmapped(struct mkperf_hook *s)
{
    s->ring = NULL;
    s->sched.limit = 0;
    s->counts = NULL;
    s->soft = NULL;
}

/* Whether the session samples the kernel, counts by thread, or watches software or scheduling events. This
 * is all that a kernel need look at where those happen. It changes only with requests and mkperf_hook_end. */
static inline bool mkperf_hook_watches(const struct mkperf_hook *s)
{
    return s->watches;
}

/* Whether it counts by thread, or software events; whether it has scheduling events. Both change as that
 * does. */
static inline bool mkperf_hook_has_tables(const struct mkperf_hook *s)
{
    return s->tables;
}

static inline bool mkperf_hook_schedules(const struct mkperf_hook *s)
{
    return s->schedules;
}

/* counts.c, optional: MKPERF_FEATURE_COUNTS */

/*
 * Gives what the counters counted since the last call to `thread`, which ran meanwhile. To be
 * called before another thread runs, after each mkperf_capture (a counter must not pass 2^31
 * events between two calls) and before mkperf_hook_request; only while mkperf_hook_watches. About
 * 12 instructions for each counter.
 */
void mkperf_counts_switch(struct mkperf_hook *s, struct mkperf_identity thread);

/*
 * The same where counts are read at each entry into the kernel instead: what was counted in user
 * mode since the last call is `user`'s, which ran until the entry, and what was counted in the
 * kernel is `kernel`'s, which had entered it before.
 */
void mkperf_counts_entry(struct mkperf_hook *s, struct mkperf_identity user,
                         struct mkperf_identity kernel);

/* soft.c, optional: MKPERF_FEATURE_SOFT */

/*
 * One event, of thread `from`. to: which thread a call or notification reached; not looked at for
 * other kinds. Only while mkperf_hook_watches. Not to be called on two cores at a time.
 * Bounded: MKPERF_COUNT_THREADS and MKPERF_SOFT_PROBES entries are looked at.
 */
void mkperf_soft_event(struct mkperf_hook *s, unsigned kind, struct mkperf_identity from,
                       struct mkperf_identity to);

/*
 * A fault of `thread` at user address pc; address: of the memory that it wanted, 0 if that was not
 * it. Beside the count, a FAULT record in the core's ring, if the session wants them, for which the
 * owner is woken.
 */
void mkperf_soft_fault(struct mkperf_hook *s, struct mkperf_identity thread, uint64_t pc,
                       uint64_t address);

/* sched.c, optional: MKPERF_FEATURE_SCHED; each only while mkperf_hook_schedules. A thread is
 * identified by its address (mkperf_port_identity). A record goes into the core's ring; if that is full, the
 * event is counted as lost. The owner is woken at the watermark, as for samples. */

/* `thread` runs from `time` on. reason: why `last`, which ran before it and whose registers are saved,
 * stopped (enum mkperf_sched_reason). time: read before the overflows of the switch's boundary (mkperf_hook_take), and once
 * more after a sample of them, so that samples and events agree about who ran. That a call or a reply was delivered, mkperf_sched_delivered has
 * said; or on a fast path STOPPED_CALLED and STOPPED_REPLIED say that it was, to `thread`. */
void mkperf_sched_switch(struct mkperf_hook *s, unsigned reason, const void *last,
                         const void *thread, uint64_t time);

/* Any other kind, but IRQ. */
void mkperf_sched_event(struct mkperf_hook *s, unsigned kind, const void *thread);
/* An interrupt was delivered to `thread`; irq: below 4096. */
void mkperf_sched_irq(struct mkperf_hook *s, unsigned irq, const void *thread);

/* `thread` runs, and waited for the kernel's lock from `began` until `got` (ticks): two events. Only if
 * it had to wait; with the lock, before other events of this entry. */
void mkperf_sched_lock(struct mkperf_hook *s, const void *thread, uint64_t began, uint64_t got);

/* The thread is deleted, its address may become another's. At any time, for the states of all
 * cores. */
void mkperf_sched_forget(struct mkperf_hook *s, const void *thread);

/* For request.c. begin: a session has started at `time`; its first event names the running thread. flush: writes the
 * event of a delivery that waits for its switch. */
void mkperf_sched_begin(struct mkperf_hook *s, uint64_t time);
void mkperf_sched_flush(struct mkperf_hook *s);

/* A call (MKPERF_SCHED_CALL) or a reply (_REPLY) by the running thread was delivered now, at `time`, to
 * `thread`, which runs on this core. If the next event is the switch to it, that says both; else an event
 * of its own comes first. Of a thread of another core mkperf_sched_event says it: this would be held back
 * while that core continues. */
void mkperf_sched_deliver_next(struct mkperf_hook *s, unsigned kind, const void *thread,
                               uint64_t time); /* the same behind another */
static inline void mkperf_sched_delivered(struct mkperf_hook *s, unsigned kind, const void *thread,
                                          uint64_t time)
{
    if (__builtin_expect(s->sched.delivered != NULL, 0)) {
        mkperf_sched_deliver_next(s, kind, thread, time);
        return;
    }
    s->sched.delivered = thread;
    s->sched.kind = kind;
    s->sched.time = time;
}

#endif
