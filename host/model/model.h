/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The model of a profile: what passes from a decoder to a sink, one event at a time.
 *
 *      decoder                      relays (relays.h)                 sink
 *      wire: a target's stream ─┐   checks,                    ┌─► perf.data, report, exports, page
 *      perf.data, other files  ─┴─► only_cores, off_cpu ───────┘
 *
 *      begin(session)  pd  pd  sample  sched  sample  mark  lost  flush  ...  end(totals)
 *                      the stream, in the order in which the decoder meets it
 *
 * Owns: the types of these items, and the contract of sinks (below). Invariants:
 *
 *   1. An item is valid during the call that passes it. Nothing is kept between calls, so memory does not grow with the stream.
 *   2. A PD has a dense id from 0 on, which is never reused, and its item precedes its first sample, event and mark.
 *   3. Indices are valid: a sample's event is below nevents, its core below MKPERF_MODEL_CORES.
 *   4. Names and texts are printable; paths are unchanged, because they are opened.
 *   5. What is missing is counted: by `lost` when it is noticed, and in the totals.
 *
 * Example: a PD `client` is interrupted in the kernel, in a call from its function at 0x200404.
 *
 *      pd     {.id = 0, .name = "client", .elf = "build/client.elf"}
 *      sample {.time_ns = 5000, .period = 1000, .pd = 0, .flags = MKPERF_SAMPLE_KERNEL,
 *              .kernel_pc = 0xffffff8080001234, .pc = 0x200404, .callers = {1, {{0x200010, 0}}}}
 */
#ifndef MKPERF_HOST_MODEL_MODEL_H
#define MKPERF_HOST_MODEL_MODEL_H

#include <mkperf/observe.h>
#include <mkperf/sched.h>

#include "base/shape.h"
#include "system/system.h"

enum mkperf_model_limits {
    MKPERF_MODEL_EVENTS = 32,
    MKPERF_MODEL_NAME = 64,
    MKPERF_MODEL_CORES = 4096, /* a sample's core is below this */
    MKPERF_MODEL_PDS = 65536,  /* the id of a PD is below this */
};

/* A sampled event as the session runs it. */
struct mkperf_event {
    char name[MKPERF_MODEL_NAME]; /* perf's name, or rHH */
    uint32_t code;                /* PMU event number */
    bool user, kernel;            /* modes in which it counts */
    /* It counts only in guests, or not in guests; at most one of them is set. */
    bool guest, host;
    uint64_t period;    /* 0 with a frequency */
    uint32_t frequency; /* samples per second and core, 0 with a period */
    uint32_t group;     /* events with the same number, not 0, count at the same times */
    bool read;          /* it does not sample; samples of the group's first event have its counts */
    bool all_cores;     /* an emulator: each core's counter counts the events of all cores */
};

/* Returns what follows the name of an event that does not count everywhere, as perf writes it: ":u" to ":kH"; "". */
static inline const char *mkperf_event_modes(const struct mkperf_event *event)
{
    static const char *const modes[3][3] = {
        {"", ":G", ":H"}, {":u", ":uG", ":uH"}, {":k", ":kG", ":kH"}};
    unsigned mode = event->user == event->kernel ? 0 : event->user ? 1 : 2;

    return modes[mode][event->guest ? 1 : event->host ? 2 : 0];
}

/* The thread that ran: a protection domain, the idle thread, or an unnamed thread. */
struct mkperf_pd {
    uint64_t thread;                 /* identity, mkperf/record.h */
    uint32_t id;                     /* index in the model, from 0; dense; never reused */
    const char *name;                /* never NULL; "idle", "unknown-<thread in hex>" */
    const char *elf;                 /* path of its program, NULL if none is known */
    const char *parent;              /* name of the parent PD, NULL */
    struct mkperf_build_id build_id; /* build id of the ELF that ran, if the decoder knows it */
    const char *unnamed;             /* the reason why its addresses get no names, NULL */
    struct mkperf_scheduling scheduling;
    bool profiler; /* it is mkperf's own: a profiler PD or a client PD */
    bool
        profiler_recorded; /* the recording says so; set by checks.c, which finds the others by their ELFs */
};

/* A ring between two PDs with two indices, which run free. The producer writes `tail`, the consumer writes `head`. */
struct mkperf_queue {
    const char *name;
    const char *kind;                /* "net", "serial", "blk"; "ring" of a description file */
    const char *producer, *consumer; /* names of PDs; NULL: a device, or not known */
    uint64_t capacity;               /* slots; of a serial queue bytes */
    unsigned index_bits;             /* 8, 16, 32 or 64 */
    bool returns;                    /* it carries free buffers back; its entries are no packets */
    bool seen; /* the profiler PD has a mapping of it; otherwise it has no readings */
};

/* A session as the target runs it: what is sampled, where, and whose names its threads have. */
struct mkperf_session {
    const char *platform; /* the target's: "pocket", "microkit"; "" if unknown */
    const char *cpu;
    char arch[MKPERF_ARCH_BYTES]; /* perf's name: "aarch64", "x86_64"; "" if unknown */
    const char *kernel_elf;       /* path, NULL if none is known */
    /* Build id of the kernel that ran, if the decoder knows it. */
    struct mkperf_build_id kernel_build_id;
    const char *kernel_unnamed; /* the reason why the kernel's addresses get no names, NULL */
    /* The source of names. `image` is the identity of the image that ran, in hexadecimal; its own list of programs gave
     * names and build ids. Without it `unverified` gives the reason why names may belong to another image. Both NULL: not
     * known. */
    const char *image, *unverified;
    /* The names of all PDs that are known, also of those without a sample, each with a line's end; NULL: none. */
    const char *pd_names;
    unsigned cores;        /* the cores that the target can sample */
    uint32_t core_mask;    /* the cores that the session samples; 0: all of them */
    unsigned target_cores; /* the cores that the target has at least; 0: not known */
    unsigned
        nevents; /* 0: no samples, but scheduling events, or latencies that the target counts by itself */
    struct mkperf_event event[MKPERF_MODEL_EVENTS];
    unsigned max_frames;
    bool jitter;
    bool inferred; /* modes are where overflows were found, since counters count in all modes */
    bool turns;    /* QEMU runs the cores in turns */
    bool selected; /* it samples selected PDs only */
    uint32_t aggregate_ms; /* the target counts samples in windows of this length; 0: no windows */
    bool exact;            /* each instruction was counted: periods are counts, not estimates */
    bool sched;            /* it has scheduling events */
    bool counts;           /* each event has a second counter: its counts are totals->counts */
    /* The queues that the target knows, by their numbers in readings. Valid during the call, as strings are. */
    unsigned nqueues;
    const struct mkperf_queue *queue;
    /* The domain schedule of the target (system/system.h), NULL: none is known */
    const char *windows;
    const char *command; /* the command line of the recording, NULL if unknown */
};

/* What copies of a PD and of a session own. */
extern const struct mkperf_shape_row mkperf_pd_rows[], mkperf_session_rows[];
/* Copies a session with its texts and queues. mkperf_session_free frees those of a copy. */
void mkperf_session_keep(struct mkperf_session *to, const struct mkperf_session *from);
void mkperf_session_free(struct mkperf_session *s);

/* A caller: a return address in a PD's address space. */
struct mkperf_caller {
    uint64_t addr;
    uint32_t pd;
};

/*
 * The callers of a sample, innermost first. The leaf's caller is included. They are callers of its user code; in a sample
 * with KERNEL and NO_USER they are the kernel's own, and have the sample's PD.
 */
struct mkperf_chain {
    unsigned n;
    struct mkperf_caller caller[MKPERF_MAX_FRAMES + 1];
};

/* The count of a group's event since the last sample of the same mode (user or kernel). */
struct mkperf_read {
    uint32_t event; /* index into the session's events */
    uint64_t count;
};

struct mkperf_sample {
    uint64_t time_ns; /* target's monotonic clock */
    uint64_t period;  /* events that this sample represents */
    /* Further samples that it stands for: a window on the target counted them; period is
     * their sum. */
    uint64_t more;
    uint32_t pd;
    uint32_t event; /* index into the session's events */
    uint32_t core;
    uint32_t flags; /* enum mkperf_sample_flags */
    union {
        /* The kernel's pc, with MKPERF_SAMPLE_KERNEL; 0: an unknown place in the kernel. */
        uint64_t kernel_pc;
        uint64_t wait; /* what the thread waits for, with MKPERF_SAMPLE_BLOCKED */
    };
    uint64_t pc;                        /* user pc; absent with MKPERF_SAMPLE_NO_USER */
    const struct mkperf_chain *callers; /* never NULL; valid during the call */
    unsigned nreads;
    const struct mkperf_read *reads; /* nreads of them, valid during the call */
};

/* Returns the number of samples of the target that a sample stands for. */
static inline uint64_t mkperf_sample_count(const struct mkperf_sample *s)
{
    return s->more + 1;
}

/* Returns the letter by which perf shows code of a guest: g in its kernel, u in its programs. Returns 0 if it is no
 * guest's code. */
static inline char mkperf_guest_letter(uint32_t flags)
{
    uint32_t guest = flags & MKPERF_GUEST_MASK;

    return (char)(guest == MKPERF_GUEST_KERNEL ? 'g' : guest == MKPERF_GUEST_USER ? 'u' : 0);
}

/* Samples known to be missing. */
enum mkperf_lost_where {
    MKPERF_LOST_RING = MKPERF_LOSS_RING, /* the first three are those of enum mkperf_loss_where */
    MKPERF_LOST_OUTPUT = MKPERF_LOSS_OUTPUT,
    MKPERF_LOST_LINK = MKPERF_LOSS_LINK,
    MKPERF_LOST_TRANSIT, /* samples in frames that did not arrive whole */
    MKPERF_LOST_CHAIN,   /* the sample arrived, but the frame that defined its chain did not */
    MKPERF_LOST_PLACES,
};

struct mkperf_lost {
    uint64_t time_ns; /* time of the report; 0: unknown */
    uint64_t samples;
    uint64_t events; /* the sum of the samples' periods; 0 = unknown */
    enum mkperf_lost_where where;
    uint32_t core; /* the core, or MKPERF_CORE_UNKNOWN for several cores */
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

/* A core's part of the totals. */
struct mkperf_core {
    enum mkperf_core_state state;
    uint64_t samples, lost[MKPERF_LOST_PLACES], late_events;
    uint64_t late_answers;       /* requests of the target that the core answered too late */
    uint64_t began_ns, ended_ns; /* when the core took part in the session; 0: not known */
};

/* A moment that a program marked, or where a phase of its work begins or ends. */
enum mkperf_mark_kind {
    MKPERF_MARK_POINT,
    MKPERF_MARK_BEGIN,
    MKPERF_MARK_END, /* the end of a phase; mkperf_marks_add finds its begin */
    MKPERF_MARK_KINDS,
};
extern const char *const mkperf_mark_names[MKPERF_MARK_KINDS];

struct mkperf_mark {
    uint64_t time_ns;
    uint32_t pd; /* the number of the PD, as in a sample */
    enum mkperf_mark_kind kind;
    uint32_t id;      /* the program's number for it */
    const char *name; /* the program's, never NULL; valid during the call */
};

/*
 * Which begin of a phase an end belongs to: the latest one with the end's PD, id and name that has
 * no end yet. Phases with different ids may therefore overlap, and equal ones may nest.
 *
 *     begin 7   begin 8   end 7   end 8        two phases
 *     begin 7   begin 7   end 7                one phase; the first begin has no end, which was lost
 */

struct mkperf_phase {
    uint32_t pd, id, name; /* name: a number that the caller gave to it */
};

struct mkperf_phase_begin {
    uint64_t time_ns;
    uint64_t tag; /* the caller's */
};

struct mkperf_marks { /* all zero: no mark yet */
    struct mkperf_hash phases;
    uint32_t *last; /* for each phase the latest begin without an end: 1 + its index in `begun` */
    uint32_t last_room;
    struct mkperf_begun *begun;
    uint32_t nbegun, begun_room, unused; /* unused: the first one of a list, + 1; 0: none */
};

/* Adds a mark; marks are in the order of their times. Returns whether it ends a phase; then *begin is that of the phase's begin. */
bool mkperf_marks_add(struct mkperf_marks *m, enum mkperf_mark_kind kind,
                      const struct mkperf_phase *phase, struct mkperf_phase_begin *begin);
void mkperf_marks_free(struct mkperf_marks *m);

/* ---- scheduling events: those of one core are in the order of time ---- */

#define MKPERF_SCHED_NOBODY UINT32_MAX /* no PD, or an unknown one */

/* perf's name of running time in ns; mkperf's comes from scheduling events. */
#define MKPERF_RUN_TIME_EVENT "task-clock"

struct mkperf_sched {
    uint64_t time_ns; /* target's monotonic clock */
    uint32_t core;
    enum mkperf_sched_kind kind;
    enum mkperf_sched_reason reason; /* why `from` stopped, if the event is a switch */
    uint32_t from;                   /* PD that ran; MKPERF_SCHED_NOBODY: not known */
    uint32_t to;                     /* PD of the event; of a gap MKPERF_SCHED_NOBODY */
    uint32_t irq;      /* number of an interrupt; for a fault or its RECEIVE see mkperf_exit_name */
    uint64_t lost;     /* number of events that are missing in a gap; 0: not known */
    uint64_t since_ns; /* time of the last event before a gap; 0: none */
};

/* Names: "switch", "call", ...; "called", "preempted", ... */
extern const char *const mkperf_sched_kind_names[MKPERF_SCHED_KINDS];
extern const char *const mkperf_sched_reason_names[MKPERF_STOPPED_REASONS];

/*
 * Returns why a guest exited. exit: `irq` of a fault: enum mkperf_fault in 8 bits, and above them the page of a guest's
 * access. Below MKPERF_EXIT it is no exit. The text, of fewer than 64 bytes, is stored in `text`: "access to page
 * 0x8000".
 */
const char *mkperf_exit_name(uint32_t exit, char text[static 64]);
static inline bool mkperf_is_exit(uint32_t exit)
{
    return (exit & 0xff) >= MKPERF_EXIT && (exit & 0xff) < MKPERF_EXITS;
}

/*
 * A reading of a queue: its indices at one moment, as the target read them. With scheduling events, a core reads all queues
 * at each switch and sends those with new indices; such a reading has the time of the switch and precedes it. No index that
 * another party wrote is checked before a sink gets it.
 */
struct mkperf_queue_reading {
    uint64_t time_ns; /* target's monotonic clock */
    uint32_t core;
    uint32_t queue;      /* number of the queue in the session, below nqueues */
    uint64_t head, tail; /* indices with index_bits bits */
};

/* ---- totals ---- */

struct mkperf_interactions;
struct mkperf_pd_counts;

/* A suspect PD: more than one in a hundred of its samples cannot be of its ELF. */
enum { MKPERF_SUSPECTS = 16 };
#define MKPERF_SUSPECT_KERNEL UINT32_MAX

struct mkperf_suspect {
    uint32_t pd;       /* number of the PD, or MKPERF_SUSPECT_KERNEL */
    uint64_t samples;  /* samples of the PD in user mode, or of the kernel */
    uint64_t doubtful; /* samples that cannot be of the ELF */
    uint64_t outside;  /* doubtful ones at an address where the ELF has no code */
    uint64_t no_call;  /* doubtful ones with a return address that follows no call */
};

/*
 * The comparison of samples with scheduling events, or with counts (checks.c). A share is a PD's part of the
 * time of a core, or of the counted events of all cores. The members from by_samples_ppm on describe the PD that differs most,
 * in relation to what chance allows.
 */
struct mkperf_agreed {
    uint64_t compared;                      /* shares; 0: none */
    uint64_t contradicted;                  /* how many of them differ by more than chance allows */
    uint64_t by_samples_ppm, by_events_ppm; /* by_events_ppm: or by counts */
    uint64_t error_ppm;                     /* standard error of the share by samples */
    uint32_t core;
    bool busy_only; /* shares are of the core's time without idle */
    double off;     /* above 1: more than chance allows */
    char pd[MKPERF_MODEL_NAME];
    char event[MKPERF_MODEL_NAME]; /* the counted event, if counts were compared; else "" */
    char not [MKPERF_MODEL_NAME];  /* why a core, or all, is not compared; "": they are */
};

/*
 * How full the target's output ring was over time. Samples wait there for the link. About once per second of its time the
 * target reports the most bytes that waited since its last report. When all points are used, each two neighbours become
 * one, which has the higher value.
 */
enum { MKPERF_FILL_POINTS = 256 };

struct mkperf_fill_point {
    uint64_t time_ns; /* time of the report, which covers the time since the previous point */
    uint64_t bytes;
};

struct mkperf_fill {
    uint64_t size; /* the ring's bytes by the last report; 0: there was no report */
    uint64_t peak; /* bytes */
    uint32_t n;
    uint32_t merged;  /* reports in a point, a power of two; 0: one */
    uint32_t in_last; /* reports in the last point */
    struct mkperf_fill_point point[MKPERF_FILL_POINTS]; /* points in the order of time */
};

enum { MKPERF_STOPPED_TEXT = 256 };

/* The figures of a whole recording. figures.h has their names and texts. */
struct mkperf_totals {
    uint64_t samples;
    uint64_t lost[MKPERF_LOST_PLACES];
    uint64_t late_events;
    uint64_t spurious;
    uint64_t disturbed;      /* times that the PMU had another value than the target had written */
    uint64_t guest_accesses; /* accesses of guests to the PMU, which read 0 and changed nothing */
    uint64_t storms;         /* sessions that the target ended because they took most of its time */
    uint64_t unrepaired;     /* samples that may lack the leaf's caller: there are no unwind data */
    uint64_t cut_chains; /* samples whose chain ends early: at a frame that could not be unwound */
    uint64_t marks;
    uint64_t marks_lost;
    uint64_t restarts;         /* restarts of the target that the stream shows */
    uint64_t confidence[4];    /* samples, by enum mkperf_confidence */
    uint64_t inferred_callers; /* the timer's samples with callers in other PDs, from registers */
    uint64_t first_ns, last_ns;
    uint64_t snapshots_us; /* the time of the timer's register snapshots, which no sample shows */
    /* The timer's samples without their events' counts: the interval was too long */
    uint64_t unread;
    /* Scheduling events, and missing ones by place. MKPERF_LOST_CHAIN: the event's code was in a lost frame. */
    uint64_t sched_events, sched_lost[MKPERF_LOST_PLACES], sched_overwritten;
    uint64_t queue_readings;
    /* Samples of blocked threads that were left out: how long is not known */
    uint64_t off_cpu_unpaired;
    uint64_t overwritten;               /* older samples that a flight recording had overwritten */
    uint64_t stopped_ns, stopped_at_ns; /* the latency that ended it, and the end of that latency */
    char stopped[MKPERF_STOPPED_TEXT];  /* what ended a flight recording; "": it was not held */
    const struct mkperf_interactions *interactions; /* valid during the call; NULL: none */
    const struct mkperf_pd_counts *counts;          /* valid during the call; NULL: none */
    /* Multiplexed events: how long their sessions ran, and how long of that they were counted. 0: all the time. */
    uint64_t enabled_ns[MKPERF_MODEL_EVENTS], running_ns[MKPERF_MODEL_EVENTS];
    struct mkperf_fill fill;
    uint64_t unordered; /* samples that arrived too late for their place in the order of cores */
    unsigned ncores;    /* number of cores of a target with several; else 0 */
    struct mkperf_core core[MKPERF_MAX_CORES];
    struct mkperf_agreed agreed, counted;
    /* By scheduling events: the time of mkperf's own PDs, and the longest time that is known of one core. */
    uint64_t own_ns, known_ns;
    uint64_t faulted;                   /* times that a PD stopped with a fault */
    char faulted_pd[MKPERF_MODEL_NAME]; /* the last of these PDs */
    uint64_t only_idle; /* all samples and switches, if they are of idle and mkperf's PDs; else 0 */
    uint64_t own_ppm;   /* share of mkperf's own PDs in a core's time, by samples; 0: not known */
    unsigned nsuspects; /* the most doubtful samples first */
    struct mkperf_suspect suspect[MKPERF_SUSPECTS];
    bool complete;      /* the target's totals at stop agree with what arrived */
    bool cut;           /* the input ends early: the missing part is in no count */
    bool recoverable;   /* cut, and mkperf recover can finish the file */
    uint64_t cut_bytes; /* the incomplete record at the input's end */
};

/* Returns how many samples and scheduling events arrived. */
static inline uint64_t mkperf_totals_received(const struct mkperf_totals *t)
{
    return t->samples + t->sched_events;
}

/* ---- sinks ---- */

/* What passes from a decoder to a sink. */
enum mkperf_item_kind {
    MKPERF_ITEM_BEGIN,
    MKPERF_ITEM_PD, /* once for each PD */
    /* A later session of the same stream has other events. session->event has new ones behind the older ones, which are unchanged;
     * the rest of *session is the later session's. */
    MKPERF_ITEM_EVENTS,
    MKPERF_ITEM_SAMPLE,
    MKPERF_ITEM_MARK,
    MKPERF_ITEM_SCHED,
    MKPERF_ITEM_READING,
    MKPERF_ITEM_LOST,
    MKPERF_ITEM_FLUSH, /* the end of a batch */
    MKPERF_ITEM_END,
    MKPERF_ITEM_ABANDON, /* instead of the end: release everything, and keep the part that was written */
};

struct mkperf_item {
    enum mkperf_item_kind kind;
    union { /* valid during the call; nothing with FLUSH and ABANDON */
        const struct mkperf_session *session; /* of BEGIN and EVENTS */
        const struct mkperf_pd *pd;
        const struct mkperf_sample *sample;
        const struct mkperf_mark *mark;
        const struct mkperf_sched *sched;
        const struct mkperf_queue_reading *reading;
        const struct mkperf_lost *lost;
        const struct mkperf_totals *totals; /* of END */
    };
};

/* Takes an item. Returns MKPERF_OK or fills *e. A kind that it does not need is no error; *e of ABANDON is not read. */
typedef enum mkperf_status mkperf_take_item(void *self, const struct mkperf_item *item,
                                            struct mkperf_error *e);

/*
 * What a decoder has passed to its sink. Assertions compare each item with the order and the invariants above: BEGIN; then
 * any of the others; then END. ABANDON may be at any time.
 */
struct mkperf_order {
    bool began, ended, abandoned;
    unsigned nevents;
    uint64_t pds[MKPERF_MODEL_PDS / 64]; /* a bit for the id of each PD */
};

/*
 * A sink: a consumer of a profile.
 *
 * Order of time: samples of one core are in it. Those of several cores are merged if they come from a target, except
 * totals->unordered ones; those of a file have the file's order. A mark's time may be before that of earlier samples.
 *
 * Readings of queues are in one order of time with the scheduling events of their core.
 *
 * A relay is a sink in front of another one. It passes on all items that it does not need.
 */
struct mkperf_sink {
    mkperf_take_item *take;
    void *self;
    /* Each count above 0 in a sample of a group becomes a sample of its own behind it: at the same place, with that event
     * and the count as the period, as in perf. Otherwise the sink uses the counts in samples, or passes them on. */
    bool splits;
    bool leaves_only;           /* a decoder may omit a sample's callers, to save time */
    bool every_pd;              /* a reader of a file passes on PDs without records, too */
    struct mkperf_order *order; /* the order of a decoder's items; NULL: they are not checked */
};

/* Returns the sink as a decoder uses it: with *order, which lives as long as the decoder. */
static inline struct mkperf_sink mkperf_sink_in_order(struct mkperf_sink sink,
                                                      struct mkperf_order *order)
{
    *order = (struct mkperf_order){.began = false};
#ifndef NDEBUG
    sink.order = order;
#endif
    return sink;
}

/* Passes an item that is not ready for the sink. It checks the order, makes texts printable (base/base.h), and makes samples of
 * counts. */
enum mkperf_status mkperf_sink_prepare(const struct mkperf_sink *sink,
                                       const struct mkperf_item *item, struct mkperf_error *e);
/* Decoders and relays pass items to a sink with this function. Most items are samples and events, which have no text: they go
 * straight to the sink. */
static inline enum mkperf_status mkperf_sink_put(const struct mkperf_sink *sink,
                                                 const struct mkperf_item *item,
                                                 struct mkperf_error *e)
{
    bool ready = item->kind == MKPERF_ITEM_SAMPLE
                     ? !sink->splits || item->sample->nreads == 0
                     : item->kind == MKPERF_ITEM_SCHED || item->kind == MKPERF_ITEM_READING;

    return ready && sink->order == NULL ? sink->take(sink->self, item, e)
                                        : mkperf_sink_prepare(sink, item, e);
}
/* clang-format off */
#define MKPERF_ITEM(of, member, value) &(struct mkperf_item){.kind = MKPERF_ITEM_##of, .member = (value)}
#define mkperf_sink_begin(sink, s, e) mkperf_sink_put(sink, MKPERF_ITEM(BEGIN, session, s), e)
#define mkperf_sink_pd(sink, p, e) mkperf_sink_put(sink, MKPERF_ITEM(PD, pd, p), e)
#define mkperf_sink_events(sink, s, e) mkperf_sink_put(sink, MKPERF_ITEM(EVENTS, session, s), e)
#define mkperf_sink_sample(sink, s, e) mkperf_sink_put(sink, MKPERF_ITEM(SAMPLE, sample, s), e)
#define mkperf_sink_mark(sink, m, e) mkperf_sink_put(sink, MKPERF_ITEM(MARK, mark, m), e)
#define mkperf_sink_sched(sink, s, e) mkperf_sink_put(sink, MKPERF_ITEM(SCHED, sched, s), e)
#define mkperf_sink_queue_reading(sink, r, e) mkperf_sink_put(sink, MKPERF_ITEM(READING, reading, r), e)
#define mkperf_sink_lost(sink, l, e) mkperf_sink_put(sink, MKPERF_ITEM(LOST, lost, l), e)
#define mkperf_sink_flush(sink, e) mkperf_sink_put(sink, MKPERF_ITEM(FLUSH, session, NULL), e)
#define mkperf_sink_end(sink, t, e) mkperf_sink_put(sink, MKPERF_ITEM(END, totals, t), e)
/* clang-format on */
void mkperf_sink_abandon(const struct mkperf_sink *sink);
mkperf_take_item mkperf_take_nothing; /* discards every item */
/* Sets the error of a sink that needs samples, for a session that has only scheduling events: INPUT. */
enum mkperf_status mkperf_no_samples(struct mkperf_error *e);
/* Passes a decoder's last item: END if the decoder's status is OK, ABANDON if it is not or if END fails. totals is used
 * only by END. Returns the status, or that of END. */
enum mkperf_status mkperf_sink_finish(const struct mkperf_sink *sink, enum mkperf_status status,
                                      const struct mkperf_totals *totals, struct mkperf_error *e);

#endif
