/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * A session whose samples a timer takes, with an unchanged kernel: `-e timer`.
 *
 * Owns: mkperf_ticks: the times of snapshots, the attribution's statistics, and a ring of
 * samples that the drain reads in the hook's place. Called by main.c only, as hook_session.h is for
 * the hook's sessions. ticks.c plans sessions and schedules snapshots, observe.c takes them,
 * timer_reads.c reads counters, ticks_sample.c makes the samples.
 *
 *   timer:  ... |look|------- window -------|look = sample| ............ |look| ...
 *                    threads that run in here have other registers afterwards
 *
 * Each sample takes two interrupts: a snapshot of all threads' registers, and shortly afterwards
 * another one, which is the sample. The threads that ran between the two are known for certain.
 */
#ifndef MKPERF_TICKS_H
#define MKPERF_TICKS_H

#include <microkit.h>

#include "../../lib/registers.h"
#include "../../timer/timer.h"
#include "../pipeline.h"
#include "attribute.h"

/*
 * ---- observe.c: the threads that this PD observes ----
 *
 * It holds the capabilities of their TCBs: those of its child PDs with any Microkit, and those that
 * its <cspace> names with Microkit 2.3. mkperf_seen has the host's data on each PD
 * (priority, addresses of its system call instructions, stacks that both map), its registers at the
 * last snapshot, and the observations from them. A snapshot costs a system call for each PD.
 */

enum mkperf_observation_limits {
    MKPERF_OBSERVED = 62,    /* a Microkit system has at most 63 PDs */
    MKPERF_ALL_SITES = 8192, /* of all observed PDs together */
    MKPERF_ALL_CALLS = 512,  /* of all observed PDs together */
    MKPERF_MAX_CHILD_ID = 61,
};

struct mkperf_observed_call {
    uint64_t callee;
    uint32_t channel;
};

struct mkperf_observed {
    uint64_t thread;
    uint32_t child;      /* id of the child, if slot is 0 */
    uint32_t slot;       /* slot in the cspace */
    uint32_t first_site; /* index of its first site in the observation's list */
    uint32_t sites;
    uint32_t first_call; /* the same */
    uint32_t calls;
    uint32_t windows;
    mkperf_StackWindow window[MKPERF_OBSERVE_WINDOWS];
    seL4_UserContext regs;
};

struct mkperf_observation {
    bool reported;      /* part 0 was received */
    uint32_t part;      /* the last one */
    uint64_t self;      /* identity of the profiler PD */
    int32_t unobserved; /* highest priority of PDs that cannot be observed, -1 */
    bool partial;       /* the kernel refused the registers of a PD in the last snapshot */
    uint64_t stopped;   /* children that faulted, bit = id */
    unsigned n;
    struct mkperf_observed thread[MKPERF_OBSERVED];
    struct mkperf_evidence evidence[MKPERF_OBSERVED];
    uint32_t all_sites;
    uint32_t site
        [MKPERF_ALL_SITES]; /* addresses of system call instructions, divided by MKPERF_CODE_UNIT */
    uint32_t all_calls;
    struct mkperf_observed_call call[MKPERF_ALL_CALLS];
};

extern struct mkperf_observation mkperf_seen;

/* Takes a part that mkperf_request_take_observe gave. False: mkperf_refusal has the reason, and the part is
 * discarded. */
bool mkperf_observe_reported(const mkperf_Observe *part);

/* Takes a snapshot of all threads. evidence[].ran: compared with the previous snapshot. */
void mkperf_observe_look(void);

/*
 * Returns the index of the caller that the thread `callee` was serving at the last snapshot. The
 * proof is its pc, which is at its call to `callee`, while no other PD is at such a call. -1: there
 * is no proof. docs/stock.md has the argument. The time is bounded by the numbers of threads and
 * channels.
 */
int mkperf_observe_caller(uint64_t callee);

/*
 * Stores the return addresses of thread i at the last snapshot into frame, at most max of them,
 * innermost first. Returns their number. It follows the frame pointer as far as the stack is in
 * memory that this PD maps, too, and reads only within the reported windows. *flags: the reason for
 * the chain's end, bits of enum mkperf_sample_flags.
 */
unsigned mkperf_observe_walk(unsigned i, uint64_t *frame, unsigned max, unsigned *flags);

/*
 * ---- timer_reads.c: counters that are read in the timer's samples, -e '{timer,cycles,...}:S' ----
 *
 * With the kernel hook they are one of its sessions. Without it they need a kernel that lets user
 * mode use the PMU. Each event has one counter, for both modes unless the host wants one of them.
 * Counters are stopped while this PD handles an interrupt, so that no value includes its own work.
 *
 * What may be lost: the values of an interval that was too long for counters of 32 bits. Its sample
 * has no values, and `unread` counts it.
 */

struct mkperf_timer_reads {
    /* The hardware counters, from 0 on without a gap; 0: there are none. */
    uint32_t mask;
    bool hook;                        /* the hook has them, else they are used from user mode */
    uint32_t count[MKPERF_MAX_READS]; /* counts since the last sample */
    uint32_t last[MKPERF_MAX_READS];  /* user mode: value at the last reading */
    uint64_t at;                      /* ticks: time of the last sample */
    uint64_t unread;                  /* samples without values */
};

extern struct mkperf_timer_reads mkperf_timer_reads;

/* Plans the events after the first of a timer's session, which is planned; they are at most
 * MKPERF_MAX_READS. False: mkperf_refusal has the reason, and the plan is invalid. */
bool mkperf_timer_reads_plan(void);
/* With the session. start: counters are programmed and count from `now` (ticks) on; false: mkperf_refusal
 * names the one that failed. */
bool mkperf_timer_reads_start(uint64_t now);
void mkperf_timer_reads_stop(void);
/* Called at the beginning and at the end of an interrupt. */
void mkperf_timer_reads_pause(void);
void mkperf_timer_reads_resume(void);
/*
 * Stores the events since the last call, until this PD's interrupt at `now` (ticks), as words of a
 * sample with MKPERF_SAMPLE_READ (record.h) into out, of 1 + MKPERF_MAX_READS words. Returns
 * their number; 0: there is nothing to report. hz: ticks per second.
 */
unsigned mkperf_timer_reads_take(uint64_t hz, uint64_t now, uint64_t *out);

/* ---- ticks.c and ticks_sample.c: the session ---- */

enum {
    /* Between the two snapshots: many times the return to the interrupted thread. */
    MKPERF_TICKS_WINDOW_US = 20,
    MKPERF_TICKS_US_PER_S = 1000000,
};

struct mkperf_ticks {
    const struct mkperf_timer *timer;
    const char *no_timer; /* the reason for which there is no timer, or NULL */
    bool sample_next;     /* The first snapshot was taken. */
    uint64_t due;         /* ticks: time of the next sample */
    uint64_t from;        /* ticks: time at which the last sample was due */
    uint64_t rest;        /* of a microsecond, in ticks * 10^6, not yet in a sample's weight */
    uint64_t entered;     /* ticks: start of the current interrupt; 0: none */
    uint64_t spent;       /* ticks spent at interrupts */
    uint64_t left;        /* ticks: end of this PD's last work */
    uint64_t period;      /* ticks */
    uint64_t window;      /* ticks between the two snapshots */
    uint64_t jitter;      /* ticks: the width from which intervals are drawn */
    uint64_t cost;        /* ticks that a snapshot takes */
    uint32_t wake;        /* samples between two drains */
    uint32_t waiting;
    struct mkperf_ring_producer ring;
    /* Reads the hook's samples, with which the timer's are compared. */
    struct mkperf_ring_consumer hook;
    uint32_t faults; /* faults of children since boot */
};

extern struct mkperf_ticks mkperf_ticks;

static inline bool mkperf_ticks_running(void)
{
    return mkperf_kernel.session && mkperf_plan_timed();
}

/* Finds the timer. Called once. */
void mkperf_ticks_init(void);
/* Returns whether the request is for the timer. */
bool mkperf_ticks_wanted(const mkperf_Configure *request);
/* CONFIGURE and OBSERVE. False: mkperf_refusal has the reason, and main.c restores the earlier plan. */
bool mkperf_ticks_plan(const struct mkperf_session_request *request);
bool mkperf_ticks_observe(struct mkperf_session_page *page);
/* START and STOP. False: mkperf_refusal has the reason, and nothing is running. */
bool mkperf_ticks_start(void);
void mkperf_ticks_stop(void);
/* Handles the timer's interrupt, or the hook's wake-up while it checks. Returns whether the output
 * ring has new records. */
bool mkperf_ticks_interrupt(bool hook);
/* Notes that a child of this PD faulted. It looks like one that was interrupted, so the fault is
 * remembered. */
void mkperf_ticks_fault(uint32_t child);
/* Called before this PD waits again. */
void mkperf_ticks_leave(void);
/* Completes the session's part of the status. late_events are microseconds: the total delay of samples. */
void mkperf_ticks_status(void);

/* The hook's sample at the same time: its thread, and the callers that this thread was serving. */
struct mkperf_ticks_truth {
    uint64_t thread;
    unsigned callers;
    uint64_t caller[MKPERF_MAX_CALLERS];
};

/* ticks_sample.c: makes the sample that is due, at `now` (ticks). truth: NULL without a check. */
void mkperf_ticks_take(uint64_t now, const struct mkperf_ticks_truth *truth);
/* Microseconds, rounded down. */
static inline uint64_t mkperf_ticks_us(uint64_t ticks)
{
    return ticks * MKPERF_TICKS_US_PER_S / mkperf_ticks.timer->hz();
}

#endif
