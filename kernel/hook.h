/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The kernel hook's state of one core, and what a kernel calls.
 *
 * Concept: a profiler PD describes a session in a descriptor. The hook checks it, programs the PMU,
 * and writes records into a ring of that PD until the session ends.
 *
 *     request ──► request.c ──► struct mkperf_hook ◄── capture.c ◄── an overflow
 *                 (the PMU)          │      ▲
 *                                    │      └── sched.c ◄── switches, messages, interrupts
 *                                    ▼             │
 *                           ring of this core      └──► counted.c ──► tables of counts
 *
 * Owns: struct mkperf_hook. A kernel has one for each core, in its own memory, zero at boot.
 *
 * Invariants
 * 1. Each function is called on the core to which the state belongs, with interrupts masked, and by
 *    nothing else meanwhile. docs/porting.md has the contract of a port (mkperf_port.h).
 * 2. What a sample writes belongs to its core only: the state, the PMU and the ring. The ring's
 *    consumer may run on another core at the same time (ring.h).
 * 3. A kernel with one lock holds it in all functions, for three reasons. mkperf_hook_unmapped and
 *    mkperf_hook_end are called for the states of other cores. A mapping that a sample follows must
 *    not be removed under it. And waking the owner changes the scheduler's state. The tables may be
 *    one for all cores, because they are written with the lock.
 * 4. `mask` is 0 if and only if there is no session. `owner` may then be any value.
 * 5. `reports` is true if and only if the session has scheduling events, counts by thread or software
 *    events. While it is false, no function of sched.c and counted.c is called.
 *
 * Example: a request starts a session with counter 0 and a ring. Counter 0 overflows, the port calls
 * mkperf_capture(s, 1, now) and mkperf_captured(s, now), and a SAMPLE is in the ring.
 */
#ifndef MKPERF_KERNEL_HOOK_H
#define MKPERF_KERNEL_HOOK_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include <mkperf/bits.h>
#include <mkperf/descriptor.h>
#include <mkperf/jitter.h>
#include <mkperf/ring.h>
#include <mkperf/sched.h>
#include <mkperf/tables.h>

/* INLINE is for functions on the path of every sample or event. NOINLINE is for rare cases, so that
 * the path does not save registers for them. */
#define MKPERF_INLINE static inline __attribute__((always_inline))
#define MKPERF_NOINLINE static __attribute__((noinline))

/* The identity of a thread in records. The hook compares it and copies it; only the profiler PD knows
 * what it means. */
struct mkperf_identity {
    uint64_t badge; /* badge of its fault handler; or MKPERF_THREAD_IDLE, _INITIAL or _NONE */
    uint64_t sc;    /* the badge of its scheduling context; 0 without one */
};

/* The user code that a sample describes. The port fills it in. */
struct mkperf_port_context {
    uint64_t pc;
    uint64_t lr;
    uint64_t fp;        /* The walk over frame records begins here. 0: no walk is possible. */
    const void *thread; /* The hook gives it back to the port. NULL: the thread is unknown. */
    uint32_t guest;     /* enum mkperf_guest_mode */
};

/*
 * A call or a reply that was delivered, and that no event in the ring reports yet. The switch that
 * follows it is often to the same thread. One event then reports both.
 */
struct mkperf_hook_delivery {
    const void *to; /* the thread that the message reached; NULL: no delivery waits */
    uint64_t time;
    uint64_t limit; /* the `limit` below, which is 0 while a delivery waits */
    unsigned kind;  /* MKPERF_SCHED_CALL or MKPERF_SCHED_REPLY */
};

/* Scheduling events. sched.c describes `limit` and slots. */
struct mkperf_hook_sched {
    uint64_t header;    /* the bits that are equal in the headers of all events of this core */
    uint64_t limit;     /* An event that ends at this position or before it needs no checks. */
    uint64_t reported;  /* the part of the hook's `lost.sched` that SCHED_LOSS records have */
    uint64_t lost_from; /* the time of the first loss that is not reported */
    struct mkperf_hook_delivery delivery;
    bool special; /* A switch counts, reads words, or samples the thread that stops to wait. */
    bool counted; /* The session has counts by thread or software events. */
    bool called;  /* The call for which the running thread is about to stop was counted. */
    const void *slot[MKPERF_SCHED_SLOTS]; /* the thread that each slot means in the ring */
};

/* Two words of user memory that are read at switches. Most queues have two. */
struct mkperf_hook_pair {
    const uint64_t *at[2]; /* the kernel's view of each word */
    uint64_t mask[2];      /* the bits of each word that are read */
    uint64_t last[2];      /* the values in the last reading */
};

struct mkperf_hook_words {
    uint32_t pairs; /* 0: the session has no words, or a request has to look them up again */
    uint64_t seen;  /* the set of words that are mapped, bit = number */
    struct mkperf_hook_pair pair[MKPERF_MAX_WORDS / 2];
};

struct mkperf_hook {
    /* What every sample uses. */

    uint32_t mask; /* the counters of the session, bit = number; 0: there is no session */
    /* The session's kernel_mask. If the PMU cannot limit counters to modes, the port sets this whenever
     * the kernel is entered or left: to 0 if an overflow before it was in user mode, and to `mask` if it
     * was in the kernel. */
    uint32_t kernel_mask;
    struct mkperf_ring_producer out; /* this core's ring; `ring` NULL: it has to be looked up */
    struct mkperf_tables *tables;    /* known if the ring is; NULL: there are none */
    uint64_t wrote;                  /* bytes of the last record; 0: the last sample was dropped */
    uint32_t room; /* bytes of the longest sample, without values of other counters */
    /* Not 0: the session has something that the shortest path does not do: filters, guests, values of other
     * counters, slices, counts, stacks, or tables for unwinding. */
    uint32_t special;
    uint64_t mix;              /* MKPERF_JITTER_MIX, because a load is shorter than the constant */
    uint64_t look_at;          /* the number of the next capture whose time is measured */
    struct mkperf_losses lost; /* The ring's header has them, too, while it is mapped. */
    /* The session as it was requested, zero without one. The hook keeps some members up to date.
     * enable_mask has the counters that count now, and of each counter
     *
     *   interval  is the number of events from its last overflow to its next one,
     *   read      is its count at the last reading (read_mask),
     *   left      has the events that were left before its overflow when it was last counted (count_mask).
     */
    struct mkperf_configuration session;

    bool reports;                   /* invariant 5 */
    const void *owner;              /* the thread that started the session */
    struct mkperf_identity running; /* the running thread's, at the time when it began to run */

    /* The measurement of mkperf_hook_look, over all sessions. Times are in ticks. */

    uint32_t looks; /* captures that were measured since the last decision */
    uint64_t spent; /* the time of these captures */
    uint64_t seen;  /* the instructions that these captures have at least */
    uint64_t since; /* the time of the last decision */
    uint64_t first; /* the answer's `captures` at that time */
    uint64_t quiet; /* No session starts before this time. */

    struct mkperf_hook_sched sched;
    struct mkperf_hook_words words;

    /* What the answer to the next request says. The hook counts here, and the port counts `spurious` and
     * `guest_accesses`. The rest is filled in by the request, but for its arrays, which have no use here. */
    struct mkperf_answer answer;
};

/* ---- capture.c -------------------------------------------------------------------------------- */

/*
 * One profiling interrupt: takes a sample for each counter of `hit`, arms these counters again, and
 * wakes the owner if the ring reaches the watermark. hit: counters of the session that overflowed, not
 * 0: mkperf_pmu_overflow() & s->mask. If that is 0, the interrupt does not belong to the hook: the
 * port masks it and signals it as any other. now: mkperf_port_time(), as soon as the port has the
 * interrupt. mkperf_captured must follow.
 *
 * Called in the interrupt path with the interrupted thread's registers saved and its address space
 * current. Bounded: at most MKPERF_MAX_COUNTERS samples of at most MKPERF_MAX_FRAMES frames each. Never
 * faults, whatever user memory contains.
 */
void mkperf_capture(struct mkperf_hook *s, uint32_t hit, uint64_t now);

void mkperf_hook_look(struct mkperf_hook *s, uint64_t entered); /* only mkperf_captured calls it */

/*
 * The port has nothing left to do for the interrupt, except to wake the owner and to return to user
 * mode. The time of some captures is measured up to here. A session that takes too much is switched
 * off, and the owner is woken. entered: the `now` of mkperf_capture.
 */
static inline void mkperf_captured(struct mkperf_hook *s, uint64_t entered)
{
    if (__builtin_expect(s->answer.captures >= s->look_at, 0)) {
        mkperf_hook_look(s, entered);
    }
}

/*
 * Samples of counters that have overflowed, if the interrupt was not taken. An overflow becomes a
 * sample at the first boundary that it passes, in the context in which it happened. The boundaries are
 *
 *   each entry into the kernel, before the port notes the new entry: a user counter has overflowed in
 *   the user mode that ends here, a kernel counter in the kernel's work before;
 *
 *   each switch to another thread, before it: a kernel counter has overflowed in the kernel's present
 *   work.
 *
 * Without the first, an interrupt or a system call that coincides with an overflow would move the
 * sample to the thread that runs next. hit: counters of the session with flags set at the boundary; with
 * 0 nothing is done.
 */
void mkperf_hook_take(struct mkperf_hook *s, uint32_t hit);

/*
 * Whether each sample wakes the session's owner. The counter of such a session replaces a timer whose
 * interrupt is checked (`record -e timer --check-timer`), so a port leaves its overflows to the
 * interrupt.
 */
static inline bool mkperf_hook_wakes_each(const struct mkperf_hook *s)
{
    return s->session.watermark <= sizeof(uint64_t); /* less than any record has */
}

/* For sched.c. Takes a sample of `thread`, which stops to wait and has saved its registers. The sample's
 * counter is MKPERF_OFF_CPU_COUNTER. */
void mkperf_capture_waiting(struct mkperf_hook *s, const void *thread, uint64_t now);

/* Returns the length of counter i's interval that begins at this time, with the jitter of jitter.h. */
uint32_t mkperf_hook_interval(const struct mkperf_hook *s, unsigned i, uint64_t time);

/* Looks up the session's memory, and stores in the ring's header what was lost meanwhile. The ring is NULL afterwards
 * if it is no longer mapped. */
void mkperf_hook_look_up(struct mkperf_hook *s);

/* Looks up the session's memory if it is unknown. Whatever writes records begins with this. */
static inline void mkperf_hook_find(struct mkperf_hook *s)
{
    if (__builtin_expect(s->out.ring == NULL, 0)) {
        mkperf_hook_look_up(s);
    }
}

/* Counts a scheduling event or a reading of words, of this time, that found no room. */
void mkperf_hook_lose_event(struct mkperf_hook *s, uint64_t time);

/* ---- request.c -------------------------------------------------------------------------------- */

/* Returns the core to which a request refers, which may be any number. here: the core on which it is made. */
static inline uint32_t mkperf_hook_core(const struct mkperf_descriptor *d, uint32_t here)
{
    uint32_t core = __atomic_load_n(&d->core, __ATOMIC_RELAXED);

    return core == MKPERF_CORE_HERE ? here : core;
}

/*
 * Carries out a request of `caller` for this core. The caller is the current thread here, or was that
 * of another core which has interrupted this one since. here false: the kernel has no such core, and
 * the request is refused. d: the kernel's view of the descriptor that the caller's IPC buffer named,
 * 8-byte aligned, wholly within one page that the caller may read and write, and looked up again on
 * this core. Bounded; d may change meanwhile.
 */
void mkperf_hook_request(struct mkperf_hook *s, struct mkperf_descriptor *d, const void *caller,
                         bool here);

/* Ends the session, if there is one: its owner or the interrupt's handler was deleted. here: the state
 * is that of this core. The counters of another core stay on; their next overflow is masked and
 * signalled as any other interrupt. */
void mkperf_hook_end(struct mkperf_hook *s, bool here);

/* Something was unmapped, or an address space was deleted: no kernel address that was found through
 * page tables is used again. */
static inline void mkperf_hook_unmapped(struct mkperf_hook *s)
{
    s->out.ring = NULL;
    s->tables = NULL;
    s->sched.limit = 0;
    s->sched.delivery.limit = 0;
    s->words.pairs = 0;
}

/* Copies words from memory that may change meanwhile: each is loaded once. */
static inline void mkperf_hook_copy(void *to, const void *from, unsigned bytes)
{
    typedef uint64_t __attribute__((may_alias)) aliased;

    for (unsigned i = 0; i < bytes / sizeof(aliased); i++) {
        ((aliased *)to)[i] = __atomic_load_n((const aliased *)from + i, __ATOMIC_RELAXED);
    }
}

/* Returns what tells a thread of this identity apart from others with its badge in the tables. sc_if in
 * descriptor.h has the rule. */
static inline uint64_t mkperf_hook_sc(const struct mkperf_hook *s, struct mkperf_identity id)
{
    return (id.badge & s->session.sc_if) != 0 ? id.sc & s->session.sc_mask : 0;
}

/* ---- sched.c, optional: each only while `reports` -------------------------------------------- */

/*
 * What happened to threads. Each becomes a scheduling event in the core's ring, a count of software
 * events, or both, as the session wants. A thread is identified by its address (mkperf_port_identity).
 * If the ring is full, the event is counted as lost. The owner is woken at the watermark, as for
 * samples. A kernel calls these in the order in which things happen.
 */

/*
 * `thread` runs from `time` on. reason: why `last` stopped, which ran before and whose registers are
 * saved (enum mkperf_sched_reason); last NULL: it was deleted. time: read before the overflows of the
 * switch's boundary are looked at, and once more after a sample of them, so that samples and events
 * agree about who ran. A fast path has the reason STOPPED_CALLED or STOPPED_REPLIED for the message that
 * it delivers with the switch.
 */
void mkperf_sched_switch(struct mkperf_hook *s, unsigned reason, const void *last,
                         const void *thread, uint64_t time);

/* A message of `from` was delivered to `to` through an endpoint; the running thread is one of them.
 * fault: of enum mkperf_fault. here: `to` belongs to this core. */
void mkperf_sched_message(struct mkperf_hook *s, const void *from, const void *to, unsigned fault,
                          bool here);

/* The running thread's reply was delivered to `to`. */
void mkperf_sched_reply(struct mkperf_hook *s, const void *to, bool here);

/*
 * Another event of `thread`, at this time (ticks). number: below 4096; 0 for kinds without one.
 *
 *   NOTIFY     the running thread's notification reached `thread`
 *   WAKE       `thread` can run again
 *   IRQ        an interrupt with this number was delivered to `thread`
 *   WINDOW     the window of the domain schedule with this number begins, and `thread` is the first to
 *              run in it. Before the switch to that thread, and with the switch's time
 *   LOCK_WAIT  `thread` runs, and began to wait for the kernel's lock at this time
 *   LOCK       `thread` got the lock at this time. These two follow one another with the lock held, before
 *              other events of this entry, and only if the thread had to wait
 */
void mkperf_sched_event(struct mkperf_hook *s, unsigned kind, unsigned number, const void *thread,
                        uint64_t time);

/*
 * A fault of `thread` at user address pc. address: the memory that it accessed, or 0 if it faulted for
 * another reason. In addition to the count, a FAULT record in the core's ring, if the session wants
 * that; the owner is then woken. Only while `reports`.
 */
void mkperf_soft_fault(struct mkperf_hook *s, struct mkperf_identity thread, uint64_t pc,
                       uint64_t address);

/* Forgets a thread that is deleted, because its address may be reused. A kernel calls this for the states of all
 * cores, in a session or not. */
void mkperf_sched_forget(struct mkperf_hook *s, const void *thread);

/* Both are called by request.c. begin: a session starts at s->answer.time; its first event names the
 * running thread. flush: writes the event of a delivery that waits for its switch. */
void mkperf_sched_begin(struct mkperf_hook *s);
void mkperf_sched_flush(struct mkperf_hook *s);

/* ---- counted.c, optional ---------------------------------------------------------------------- */

/* Counts a software event of thread `from`. to: the thread that a call or notification reached,
 * ignored for other kinds. Bounded: MKPERF_COUNT_THREADS and MKPERF_SOFT_PROBES rows are looked
 * at. */
void mkperf_soft_event(struct mkperf_hook *s, unsigned kind, struct mkperf_identity from,
                       struct mkperf_identity to);

/* Notes the stack pointer of a thread if it is the least one, in a session with MKPERF_SOFT_STACKS.
 * Guests, and the idle thread, have none. */
void mkperf_soft_stack(struct mkperf_hook *s, const void *thread, struct mkperf_identity id);

/* Carries out MKPERF_REQUEST_PAGE for request.c, and returns its status. Bounded: the words of a
 * page. */
uint32_t mkperf_soft_page(struct mkperf_hook *s, const struct mkperf_descriptor *d);

/* Adds what the counters counted since the last call to the counts of s->running. Called before
 * another thread runs, after each capture (a counter must not count 2^31 events between two calls)
 * and at requests. Does nothing in a session without a table of counts. */
void mkperf_counts_take(struct mkperf_hook *s);

/* ---- unwind_walk.c --------------------------------------------------------------------------------- */

/*
 * For capture.c. Walks a thread's chain by the table of its PD, while tables are mapped, into
 * frames[0 .. max). level: as in mkperf_walk. The frames include the caller that is only in the link
 * register. Returns what mkperf_walk returns, or MKPERF_NO_TABLE if the PD has no table and nothing was
 * stored.
 */
#define MKPERF_NO_TABLE UINT32_MAX
uint32_t mkperf_unwind(const struct mkperf_hook *s, const struct mkperf_port_context *c,
                       struct mkperf_identity id, unsigned level, uint64_t *frames, uint32_t max);

/* ---- words.c, optional ------------------------------------------------------------------------ */

/*
 * For the other files of the hook. Writes the words of the session that have changed since this core's
 * last reading into the ring, or counts the reading as lost. all: all words, after they were looked up
 * again. Bounded: MKPERF_MAX_WORDS words.
 */
void mkperf_words_read(struct mkperf_hook *s, bool all, uint64_t time);

#endif
