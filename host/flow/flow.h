/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * What limits throughput: the queues between PDs, the work of each PD, and the conclusion.
 *
 * Owns: the counts of each queue by its readings, the work of each PD at its queues by scheduling events, and the rules that
 * name what limits. `mkperf flow` shows them. A sink in front of the analysis of scheduling events (sched/analysis.h).
 *
 *      readings ─► queues.c  produced, consumed, occupancy over time, time that an entry stays      ┐
 *      events   ─► stages.c  activations, packets per activation, where the time of each PD went    ├─► limit.c  what limits
 *      samples  ─► stages.c  cycles of each PD: own, in the kernel, in other PDs that it calls      ┘
 *
 * Invariants
 *  1. An index is of another party and may be anything. A reading that no queue can have is counted as implausible. A difference
 *     that may have wrapped more than once is counted as unknown. Neither changes a count of entries.
 *  2. produced + first = consumed + now, for each queue, after each reading that is neither implausible nor unknown.
 *  3. Each nanosecond of a PD from first_ns to last_ns is in one sum of its stage.
 *
 * What may be wrong: indices are known at switches. Between two switches the work on all entries is assumed to be equal; `doubt` is the
 * greatest error of the area under the occupancy that this can cause.
 *
 * Memory grows with queues and PDs, and with the entries that are in queues at one time.
 *
 * Example: `echo` takes 8 entries of a queue between two switches, at 10 and 18 us, and the queue is empty then. It is assumed to
 * take one per us, the first one at once. The mean occupancy in these 8 us is 3.5, with a doubt of 8.
 */
#ifndef MKPERF_HOST_FLOW_FLOW_H
#define MKPERF_HOST_FLOW_FLOW_H

#include "sched/analysis.h"

enum { MKPERF_FLOW_SLICES = 128, MKPERF_FLOW_NONE = -1 };

/* Entries of a queue that are in it still, by the times at which they arrived. */
struct mkperf_flow_arrival {
    double first, step; /* ns: when the first one arrived, and the time to the next one */
    uint64_t n;
};

struct mkperf_flow_queue {
    struct mkperf_queue about; /* description of the queue; its texts are the analysis's */
    /* PDs of the analysis; MKPERF_SCHED_NOBODY: a device, or not known */
    uint32_t producer, consumer;
    bool began;          /* there was a plausible reading */
    uint64_t head, tail; /* the indices in that reading */
    uint64_t now;        /* entries in the queue at the last one */
    struct mkperf_flow_arrival *arrival;
    size_t arrival_first, arrivals, arrival_room;
    uint64_t unmatched; /* entries in the queue that arrived before the first of `arrival` */
    /* Sums, which begin again in flow_queue_restart: */
    uint64_t first;              /* entries in the queue at the first plausible reading */
    uint64_t produced, consumed; /* entries since the first plausible reading */
    uint64_t readings, unknown, implausible;
    uint64_t first_ns, since_ns; /* the sums are of the time between */
    uint64_t known_ns, unknown_ns, empty_ns, full_ns;
    uint64_t most;
    double area, doubt;                 /* entries * ns: under the occupancy; its greatest error */
    struct mkperf_log_histogram filled; /* ns by occupancy */
    struct mkperf_log_histogram stay;   /* ns from arrival to departure, of entries that did both */
    double slice_area[MKPERF_FLOW_SLICES];
    double slice_full[MKPERF_FLOW_SLICES]; /* ns */
};

/* Why a PD waited. It is decided when the PD begins to wait. */
enum mkperf_flow_wait {
    MKPERF_FLOW_STARVED, /* its queues had no entry that it could take */
    MKPERF_FLOW_BLOCKED, /* a queue that it produces for was full, or it had no free buffer */
    MKPERF_FLOW_ASLEEP,  /* there was work, which it did not do */
    MKPERF_FLOW_WAITS,
};

/* The work of a PD at the queues of one class. */
struct mkperf_flow_stage {
    uint32_t pd; /* MKPERF_SCHED_NOBODY: it has no record */
    const char *name, *kind;
    bool consumes; /* packets; otherwise it is a source */
    enum mkperf_pd_state state;
    enum mkperf_flow_wait wait;
    /* Sums, which begin again at from_ns: */
    uint64_t in, out; /* packets that it consumed and produced */
    uint64_t in_state[MKPERF_PD_STATES], waited[MKPERF_FLOW_WAITS]; /* ns */
    uint64_t running_full;  /* ns that it ran while a queue that it produces for was full */
    uint64_t running_empty; /* ns that it ran while all queues that it consumes were empty */
    /* Activations: from a wake-up until the PD waits again. */
    bool active;
    uint64_t in0, out0, ran0;    /* the sums when this activation began */
    uint64_t activations, empty; /* empty: of these, without packets */
    struct mkperf_log_histogram packets;
    /* Sums over activations with packets, for running time = fixed + each * packets: n, ns, n^2, n * ns. */
    double sum_n, sum_ns, sum_nn, sum_n_ns;
    uint64_t cycles_own, cycles_kernel, cycles_calls;
    double slice_busy[MKPERF_FLOW_SLICES]; /* ns */
    double slice_packets[MKPERF_FLOW_SLICES];
};

enum mkperf_flow_cause {
    MKPERF_FLOW_UNDECIDED, /* there are no readings, or no scheduling events */
    MKPERF_FLOW_LOAD,      /* nothing in the system: all of them wait for packets */
    MKPERF_FLOW_OWN,       /* a PD's own work */
    MKPERF_FLOW_CALLS,     /* calls to another PD */
    MKPERF_FLOW_CORE,      /* the PDs of a core together */
    MKPERF_FLOW_PRIORITY,  /* a PD that is no stage runs instead */
    MKPERF_FLOW_BUDGET,
    MKPERF_FLOW_SLEEP, /* a PD waits although it has work */
    MKPERF_FLOW_CAUSES,
};
extern const char *const mkperf_flow_cause_names[MKPERF_FLOW_CAUSES];

/* The conclusion. Shares are of the time of the recording, from 0 to 1. */
struct mkperf_flow_limit {
    enum mkperf_flow_cause cause;
    int stage;   /* the stage that limits, else the busiest one; MKPERF_FLOW_NONE */
    uint32_t by; /* the PD that is the reason: the stage's own, a callee, another one on its core */
    double share; /* share of the time in which the stage had work and could do it */
    double own, calls, ready, throttled, asleep; /* the parts of that time */
    double core_busy;   /* share of the time for which the core of `by` is busy */
    double rate, error; /* packets/s of the stage, and half the width of its interval at 95 % */
    int next;           /* the stage that would limit next; MKPERF_FLOW_NONE */
    double next_share;  /* share of the time that `next`, or its core, needs at this rate */
    int full, empty;    /* the queue before, and the queue behind; MKPERF_FLOW_NONE */
    uint64_t from, to;  /* ns: the longest time in which the share is near to this one */
};

struct mkperf_flow {
    struct mkperf_sink to; /* the analysis, or a sink that passes all on to it */
    struct mkperf_analysis *analysis;
    unsigned nqueues, nstages;
    struct mkperf_flow_queue *queue;
    struct mkperf_flow_stage *stage;
    /* Set after mkperf_flow_init, which sets all time. Sums begin again after the first switch at or after from_ns, which is 0 from
     * then on; states of PDs and entries of queues are kept. What is later than to_ns is ignored. */
    uint64_t from_ns, to_ns;
    bool began;
    uint64_t first_ns, last_ns;
    uint64_t read_ns; /* the last time at which a core read the queues */
    uint64_t slice_ns;
    uint32_t cycles; /* number of the event `cycles`; MKPERF_MODEL_EVENTS: there is none */
};

/* Begins with an analysis that has had no event. The caller frees both, the flow first. */
void mkperf_flow_init(struct mkperf_flow *f, struct mkperf_analysis *a);
void mkperf_flow_free(struct mkperf_flow *f);
struct mkperf_sink mkperf_flow_sink(struct mkperf_flow *f);
/* Reads a recording into it and its analysis, or answers from a snapshot. Errors: those of mkperf_input_read. */
enum mkperf_status mkperf_flow_read(struct mkperf_flow *f, const char *path,
                                    struct mkperf_error *e);

/* Counts until the last event, so that a conclusion can be drawn before the end of the stream. */
void mkperf_flow_settle(struct mkperf_flow *f);
/* Returns the packets of a stage: the greater number of what it consumed and what it produced. */
uint64_t mkperf_flow_packets(const struct mkperf_flow_stage *s);
/* Returns how many packets a stage consumed and did not produce. NAN: a driver, a source or a sink, or there are no
 * scheduling events. */
double mkperf_flow_drops(const struct mkperf_flow *f, const struct mkperf_flow_stage *s);
/* Returns the ns in which it is known what the stage did. */
uint64_t mkperf_flow_known(const struct mkperf_flow_stage *s);
/* Returns the ns in which the stage had work and could do it. */
uint64_t mkperf_flow_busy(const struct mkperf_flow_stage *s);
/* Returns the conclusion, after the end of the stream or after mkperf_flow_settle. */
struct mkperf_flow_limit mkperf_flow_limit(const struct mkperf_flow *f);

/* Writes the conclusion as a sentence without its full stop. */
void mkperf_flow_sentence(const struct mkperf_flow *f, const struct mkperf_flow_limit *l, FILE *to);

/* A change of a PD, for a prediction. */
enum mkperf_flow_what {
    MKPERF_FLOW_CHANGE_OWN,   /* the stage's own work changes by a factor */
    MKPERF_FLOW_CHANGE_CALLS, /* the work of its callees for it, by a factor */
    MKPERF_FLOW_CHANGE_PRIORITY,
    MKPERF_FLOW_CHANGE_CORE,
    MKPERF_FLOW_CHANGE_BUDGET, /* microseconds */
    MKPERF_FLOW_CHANGE_BATCH,  /* packets until it notifies */
};
struct mkperf_flow_change {
    uint32_t pd;
    enum mkperf_flow_what what;
    double factor;
    uint64_t value, period; /* period of a budget in microseconds; 0: as it is */
};

/* Rates are in packets/s of the stage that limits, gains in per cent. */
struct mkperf_flow_prediction {
    double recorded, replayed; /* the rate of the recording, and of its replay without the change */
    double after;              /* the rate that is predicted */
    double gain, least, most;  /* what is predicted, and its interval */
    /* Points in the interval: the error of the replay, and half the interval of the rate. */
    double error;
};

/* Reads a change: "PD own -20%", "PD priority 100", "PD budget 500/10000" and so on. Errors: USAGE. */
enum mkperf_status mkperf_flow_parse(const struct mkperf_flow *f, const char *text,
                                     struct mkperf_flow_change *c, struct mkperf_error *e);
/* Replays the recording with n changes. l has a stage. */
struct mkperf_flow_prediction mkperf_flow_predict(const struct mkperf_flow *f,
                                                  const struct mkperf_flow_limit *l,
                                                  const struct mkperf_flow_change *change,
                                                  unsigned n);

/* Shares of time, from 0 to 1; above 1: the PDs of the core would need more time than there is. */
struct mkperf_flow_loads {
    double busy[MKPERF_MAX_CORES];
    unsigned cores, busiest;
    double calls_per_s; /* between PDs that are on different cores only after the changes */
};
/* Returns the load of cores after n changes, only by scheduling events. Changes of priorities and batches change no
 * load. */
struct mkperf_flow_loads mkperf_flow_loads(const struct mkperf_flow *f,
                                           const struct mkperf_flow_change *change, unsigned n);

/* Returns the error of a queue's mean occupancy: with scheduling events the greatest one, otherwise half the interval
 * at 95 %. */
double mkperf_flow_doubt(const struct mkperf_flow *f, const struct mkperf_flow_queue *q);
/* Returns the mean time of an entry in a queue, ns; without scheduling events by Little's law. */
double mkperf_flow_stay(const struct mkperf_flow *f, const struct mkperf_flow_queue *q);

/* ---- within this folder ---- */

/* Returns half the interval at 95 % of the mean per ns, by the slices that are whole. */
double flow_interval(const struct mkperf_flow *f, const double *slice);

/* Returns whether a PD begins and ends the way of packets: interrupts wake it, and its packets come back to it. */
bool flow_is_driver(const struct mkperf_flow *f, const struct mkperf_flow_stage *s);
/* Makes the slices reach to a time, which is not before f->first_ns. */
void flow_slices_reach(struct mkperf_flow *f, uint64_t time);
/* Adds per_ns for each ns between two times, which the slices reach. */
void flow_slices_add(const struct mkperf_flow *f, double *slice, uint64_t from, uint64_t to,
                     double per_ns);
/* Makes the sums of a queue begin again at f->last_ns. */
void flow_queue_restart(const struct mkperf_flow *f, struct mkperf_flow_queue *q);
/* Adds a reading; its time is not before f->read_ns. False: it has no counts. *made, *took: entries since the last one. */
bool flow_queue_read(struct mkperf_flow *f, const struct mkperf_queue_reading *r, uint64_t *made,
                     uint64_t *took);
/* Counts the last occupancy until the end of the recording. */
void flow_queue_end(const struct mkperf_flow *f, struct mkperf_flow_queue *q);

#endif
