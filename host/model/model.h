/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The one in-memory model of a profile's event stream, between decoders and sinks.
 *
 * Owns: the types that pass from a decoder to a sink, and the sink contract. A decoder calls the
 * sink's functions in the order of the stream; nothing is kept for longer than a call, so memory
 * does not grow with the stream.
 */
#ifndef MKPERF_HOST_MODEL_MODEL_H
#define MKPERF_HOST_MODEL_MODEL_H

#include <stdbool.h>
#include <stdint.h>

#include <mkperf/observe.h>
#include <mkperf/record.h>

#include "base/error.h"
#include "fill.h"
#include "sched_event.h"
#include "symbols/identity.h"

enum mkperf_model_limits {
    MKPERF_MODEL_EVENTS = 32,
    MKPERF_MODEL_NAME = 64,
    MKPERF_MODEL_CORES = 4096, /* a sample's core is below this */
};

/* A sampled event as the session runs it. */
struct mkperf_event {
    char name[MKPERF_MODEL_NAME]; /* perf's name, or rHH */
    uint32_t code;                /* PMU event number */
    bool user, kernel;            /* modes in which it counts */
    uint64_t period;              /* 0 with a frequency */
    uint32_t frequency;           /* samples per second and core, 0 with a period */
    uint32_t group;               /* events with the same number, not 0, count at the same times */
    bool read;      /* does not sample: its counts are read in samples of the group's first event */
    bool all_cores; /* each core's counters count what all cores do: an emulator's */
};

/* ":u" or ":k" behind the name of an event that counts in one mode only; "". */
static inline const char *mkperf_event_modes(const struct mkperf_event *event)
{
    return event->user == event->kernel ? "" : event->user ? ":u" : ":k";
}

/* How the kernel schedules a PD, as its .system file says. */
struct mkperf_scheduling {
    bool known;
    bool passive; /* runs on its callers' budgets */
    uint32_t priority, cpu;
    uint64_t budget_us, period_us; /* equal: it may always run */
};

/* The thread that ran: a protection domain, the idle thread, or an unnamed thread. */
struct mkperf_pd {
    uint64_t thread;                 /* identity, mkperf/record.h */
    uint32_t id;                     /* index in the model, from 0; dense; never reused */
    const char *name;                /* never NULL; "idle", "unknown-<thread in hex>" */
    const char *elf;                 /* path of its program, NULL if none is known */
    const char *parent;              /* name of the parent PD, NULL */
    struct mkperf_build_id build_id; /* of the ELF that ran, if the decoder knows */
    const char *unnamed;             /* why no ELF is used for its addresses, NULL */
    struct mkperf_scheduling scheduling;
    bool profiler; /* one of mkperf's own: a profiler PD, or a client PD */
};

struct mkperf_session {
    const char *platform; /* of the target: "pocket", "microkit"; "" if unknown */
    const char *cpu;
    char arch[MKPERF_ARCH_BYTES];           /* perf's name: "aarch64", "x86_64"; "" if unknown */
    const char *kernel_elf;                 /* path, NULL if none is known */
    struct mkperf_build_id kernel_build_id; /* of the kernel that ran, if the decoder knows */
    const char *kernel_unnamed; /* why no ELF is used for the kernel's addresses, NULL */
    /* Whose names these are: `image` is the identity of the image that ran, in hexadecimal, whose
     * own list of programs gave the names and the build ids of their ELFs. If it is NULL, nothing
     * says that the names belong to what ran, and `unverified` says why. Both NULL: not known. */
    const char *image, *unverified;
    /* All PDs of the system, also those without a sample, as far as they are known: each name and a line's end;
     * NULL: none is known. */
    const char *pd_names;
    unsigned cores;        /* that the target samples */
    uint32_t core_mask;    /* of them, those that the session samples; 0: all */
    unsigned target_cores; /* that the target is known to have at least; 0: not known */
    unsigned nevents;
    struct mkperf_event event[MKPERF_MODEL_EVENTS];
    unsigned max_frames;
    bool jitter;
    bool selected;       /* it samples selected PDs; of others there are no samples */
    bool sched;          /* it has scheduling events, and maybe no samples: nevents may be 0 */
    const char *command; /* the command line that recorded it, NULL if unknown */
};

/* A caller: a return address in a PD's address space. */
struct mkperf_caller {
    uint64_t addr;
    uint32_t pd;
};

/*
 * The callers of a sample, innermost first, complete: the leaf's caller is there. They are callers
 * of its user code; in a sample with KERNEL and NO_USER they are the kernel's own, and their PD is
 * the sample's.
 */
struct mkperf_chain {
    unsigned n;
    struct mkperf_caller caller[MKPERF_MAX_FRAMES + 1];
};

/* What an event of a sample's group counted since the last sample of the sample's mode. */
struct mkperf_read {
    uint32_t event; /* index into the session's events */
    uint64_t count;
};

struct mkperf_sample {
    uint64_t time_ns; /* target's monotonic clock */
    uint64_t period;  /* events that this sample represents */
    uint32_t pd;
    uint32_t event; /* index into the session's events */
    uint32_t core;
    uint32_t flags; /* enum mkperf_sample_flags */
    union {
        uint64_t kernel_pc; /* with MKPERF_SAMPLE_KERNEL; 0: an unknown place in the kernel */
        uint64_t wait;      /* with MKPERF_SAMPLE_BLOCKED: what the thread waits for */
    };
    uint64_t pc;                        /* user pc; absent with MKPERF_SAMPLE_NO_USER */
    const struct mkperf_chain *callers; /* never NULL; valid during the call */
    unsigned nreads;
    const struct mkperf_read *reads; /* nreads of them, valid during the call */
};

/* Samples known to be missing. */
enum mkperf_lost_where { /* the first three are enum mkperf_loss_where */
                         MKPERF_LOST_RING = MKPERF_LOSS_RING,
                         MKPERF_LOST_OUTPUT = MKPERF_LOSS_OUTPUT,
                         MKPERF_LOST_LINK = MKPERF_LOSS_LINK,
                         MKPERF_LOST_TRANSIT, /* in frames that did not arrive whole */
                         MKPERF_LOST_CHAIN, /* arrived, but their chain was defined in a lost frame
                                             */
                         MKPERF_LOST_PLACES,
};

struct mkperf_lost {
    uint64_t time_ns; /* of the report, 0 = unknown */
    uint64_t samples;
    uint64_t events; /* that they represented; 0 = unknown */
    enum mkperf_lost_where where;
    uint32_t core; /* or MKPERF_CORE_UNKNOWN: of several */
};

/* A flag of samples that only the host sets: the thread is blocked, and no code is known. `wait` is what it waits for
 * (profile/scheduling.h). */
#define MKPERF_SAMPLE_BLOCKED (UINT32_C(1) << 16)

#define MKPERF_CORE_UNKNOWN UINT32_MAX

enum mkperf_core_state {
    MKPERF_CORE_RUNS,
    MKPERF_CORE_LATE,   /* did not answer the last request in time */
    MKPERF_CORE_ABSENT, /* never answered */
};

/* A core's part of the totals: cores.h. */
struct mkperf_core {
    enum mkperf_core_state state;
    uint64_t samples, lost[MKPERF_LOST_PLACES], late_events;
    uint64_t late_answers;       /* requests of the target that it did not answer in time */
    uint64_t began_ns, ended_ns; /* its part in the session; 0: not known */
};

/* A moment that a program marked, or where a phase of its work begins or ends. */
enum mkperf_mark_kind {
    MKPERF_MARK_POINT,
    MKPERF_MARK_BEGIN,
    MKPERF_MARK_END, /* of the phase begun last with the same PD, id and name */
};

struct mkperf_mark {
    uint64_t time_ns;
    uint32_t pd; /* as a sample's */
    enum mkperf_mark_kind kind;
    uint32_t id;      /* the program's number for it */
    const char *name; /* the program's, never NULL; valid during the call */
};

struct mkperf_interactions;

/* A PD of whose samples more than one in a hundred cannot be of the ELF that names them. */
enum { MKPERF_SUSPECTS = 16 };
#define MKPERF_SUSPECT_KERNEL UINT32_MAX

struct mkperf_suspect {
    uint32_t pd;       /* or MKPERF_SUSPECT_KERNEL */
    uint64_t samples;  /* in user mode, of the PD; the kernel's: in the kernel */
    uint64_t doubtful; /* of them */
    uint64_t outside,
        no_call; /* of these: where the ELF has no code; a return address after no call */
};

/*
 * Who ran by samples and by scheduling events, agreement.h. A share is a PD's, of the time of a core that is compared.
 * The rest is of the PD that differs most, as measured by what chance allows.
 */
struct mkperf_agreed {
    uint64_t compared;     /* shares; 0: none */
    uint64_t contradicted; /* of them: they differ by more than chance allows */
    uint64_t by_samples_ppm, by_events_ppm;
    uint64_t error_ppm; /* standard error of the share by samples */
    uint32_t core;
    bool busy_only; /* shares are those of its time without idle */
    double off;     /* above 1: more than chance allows */
    char pd[MKPERF_MODEL_NAME];
    char not [MKPERF_MODEL_NAME]; /* why a core, or all, is not compared; "": they are */
};

/* Totals for a trustworthy head of a report. */
struct mkperf_totals {
    uint64_t samples;
    uint64_t lost[MKPERF_LOST_PLACES];
    uint64_t late_events;
    uint64_t spurious;
    uint64_t disturbed;  /* times that the PMU held something else than the target had written */
    uint64_t storms;     /* sessions that the target ended, since they took most of its time */
    uint64_t unrepaired; /* samples whose leaf's caller could not be determined (no unwind data) */
    uint64_t marks;
    uint64_t marks_lost;
    uint64_t restarts;         /* of the target, seen in the stream */
    uint64_t confidence[4];    /* samples, by enum mkperf_confidence */
    uint64_t inferred_callers; /* the timer's samples with callers in other PDs: by registers */
    uint64_t first_ns, last_ns;
    uint64_t
        snapshots_us; /* that the timer's register snapshots took, which no sample shows; 0: not known, or none */
    uint64_t unread; /* the timer's samples without their events' counts: too long an interval */
    /* Scheduling events, and those that are missing, by place (_CHAIN: their code was lost). */
    uint64_t sched_events, sched_lost[MKPERF_LOST_PLACES], sched_overwritten;
    uint64_t off_cpu_unpaired; /* samples of blocked threads: for how long is not known */
    uint64_t overwritten;      /* samples of a flight recording that had given way to these */
    const struct mkperf_interactions *interactions; /* valid during the call; NULL: none */
    /* Of multiplexed events: how long their sessions ran, and of that, how long
     * they were counted. 0: an event was counted all the time. */
    uint64_t enabled_ns[MKPERF_MODEL_EVENTS], running_ns[MKPERF_MODEL_EVENTS];
    struct mkperf_fill fill;
    uint64_t unordered; /* samples that came too late for their place in the order of cores */
    unsigned ncores;    /* of a target with several; else 0 */
    struct mkperf_core core[MKPERF_MAX_CORES];
    struct mkperf_agreed agreed;
    /* By scheduling events: the time that mkperf's own PDs ran, and the longest that is known of a core. */
    uint64_t own_ns, known_ns;
    uint64_t faulted; /* times that a PD stopped with a fault; the last one's name: */
    char faulted_pd[MKPERF_MODEL_NAME];
    uint64_t only_idle; /* samples, if all are of idle and of mkperf's own PDs; else 0 */
    unsigned nsuspects; /* the most doubtful samples first */
    struct mkperf_suspect suspect[MKPERF_SUSPECTS];
    bool complete; /* the target's totals at stop agree with what arrived */
    /* The input ends early: the missing part is in no count. */
    bool cut;
    uint64_t cut_bytes; /* at its end, of no use */
};

/* What arrived, whatever it was. */
static inline uint64_t mkperf_totals_received(const struct mkperf_totals *t)
{
    return t->samples + t->sched_events;
}

/*
 * A sink: a consumer of a profile. Functions return MKPERF_OK or fill *e. Order of calls: begin,
 * then any of pd (once for each PD, before its first sample), events, sample, mark, sched, lost, and
 * flush (a batch is over), then end; abandon instead of end releases everything and keeps the part that
 * was written. NULL functions are skipped.
 *
 * relays: the sink is in front of another one, the struct mkperf_sink that is the first member of
 * what self points to. Calls of functions that are NULL here go to that one; the others call it
 * with mkperf_sink_... for what they pass on.
 *
 * events: a later session of the same stream has other events: session->event has grown at its end
 * (the older ones are unchanged; the rest of *session is the later session's). A sink without this
 * function cannot represent them: its stream ends there with an error.
 *
 * reads: the sink handles a sample's reads. A sink without it gets, after a sample with reads, one
 * more for each event that was read and counted anything: the same place, with that event and its
 * count as the period, as in perf (mkperf_sink_sample).
 *
 * mark: its time may be before that of earlier samples. Samples of one core are in the order of
 * time. A target's samples and events are merged, so cores are ordered among each other, apart from
 * totals->unordered ones; those of a file are as the file has them.
 */
struct mkperf_sink_ops {
    const char *name;
    bool reads, relays;
    enum mkperf_status (*begin)(void *self, const struct mkperf_session *session,
                                struct mkperf_error *e);
    enum mkperf_status (*pd)(void *self, const struct mkperf_pd *pd, struct mkperf_error *e);
    enum mkperf_status (*events)(void *self, const struct mkperf_session *session,
                                 struct mkperf_error *e);
    enum mkperf_status (*sample)(void *self, const struct mkperf_sample *sample,
                                 struct mkperf_error *e);
    enum mkperf_status (*mark)(void *self, const struct mkperf_mark *mark, struct mkperf_error *e);
    enum mkperf_status (*sched)(void *self, const struct mkperf_sched *event,
                                struct mkperf_error *e);
    enum mkperf_status (*lost)(void *self, const struct mkperf_lost *lost, struct mkperf_error *e);
    enum mkperf_status (*flush)(void *self, struct mkperf_error *e);
    enum mkperf_status (*end)(void *self, const struct mkperf_totals *totals,
                              struct mkperf_error *e);
    void (*abandon)(void *self);
};

struct mkperf_sink {
    const struct mkperf_sink_ops *ops;
    void *self;
    bool leaves_only; /* a decoder may leave out a sample's callers, to save time */
    bool every_pd;    /* of a file: all PDs that it lists, too, not only those of its records */
};

/* Whether calls of a function reach the sink, or one behind it. */
#define MKPERF_SINK_HAS(sink, function) ((sink)->ops->function != NULL || (sink)->ops->relays)

/*
 * How decoders and relays call a sink. Names and texts are printable (base/printable.h) when the
 * sink gets them; paths are as they were, for they are opened. Errors of begin: INPUT, the session
 * has scheduling events alone and the sink takes none; of events: INPUT, the sink has no such function.
 */
enum mkperf_status mkperf_sink_begin(const struct mkperf_sink *sink,
                                     const struct mkperf_session *session, struct mkperf_error *e);
enum mkperf_status mkperf_no_samples(struct mkperf_error *e); /* sets the error of begin */
enum mkperf_status mkperf_sink_pd(const struct mkperf_sink *sink, const struct mkperf_pd *pd,
                                  struct mkperf_error *e);
enum mkperf_status mkperf_sink_events(const struct mkperf_sink *sink,
                                      const struct mkperf_session *session, struct mkperf_error *e);
/* The function of a sink to which events do not matter. */
enum mkperf_status mkperf_ignore_events(void *self, const struct mkperf_session *session,
                                        struct mkperf_error *e);
enum mkperf_status mkperf_sink_mark(const struct mkperf_sink *sink, const struct mkperf_mark *mark,
                                    struct mkperf_error *e);
enum mkperf_status mkperf_sink_sample(const struct mkperf_sink *sink,
                                      const struct mkperf_sample *sample, struct mkperf_error *e);
enum mkperf_status mkperf_sink_sched(const struct mkperf_sink *sink,
                                     const struct mkperf_sched *event, struct mkperf_error *e);
enum mkperf_status mkperf_sink_lost(const struct mkperf_sink *sink, const struct mkperf_lost *lost,
                                    struct mkperf_error *e);
enum mkperf_status mkperf_sink_flush(const struct mkperf_sink *sink, struct mkperf_error *e);
enum mkperf_status mkperf_sink_end(const struct mkperf_sink *sink,
                                   const struct mkperf_totals *totals, struct mkperf_error *e);
void mkperf_sink_abandon(const struct mkperf_sink *sink);
/* A decoder's last call. status: how it went until now; OK: end, else, or if that fails, abandon.
 * totals: not read if the status is not OK. Returns the status, or end's. */
enum mkperf_status mkperf_sink_finish(const struct mkperf_sink *sink, enum mkperf_status status,
                                      const struct mkperf_totals *totals, struct mkperf_error *e);

#endif
