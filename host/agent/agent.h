/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The parts of mkperf agent: outboxes, the recording of a target in windows, metrics, and uploads.
 */
#ifndef MKPERF_HOST_AGENT_AGENT_H
#define MKPERF_HOST_AGENT_AGENT_H

#include <pthread.h>
#include <sys/queue.h>

#include "export/formats.h"
#include "flow/flow.h"
#include "link/recorder.h"

/*
 * An outbox: the windows that wait for one destination of --to, as files of a directory.
 *
 *      SEQUENCE.UNIX_MS.SAMPLES.TARGET.data      000000000017.1764242205123.1000.board1.data
 *
 * Owns: the files, their order and their number of bytes. A window is in the directory of each destination, as a hard link where
 * the file system allows it. The oldest windows are given up if all would be more than `limit` bytes, and are counted. When the agent
 * starts, it finishes the window that a killed agent was writing. The sequence is the order, so that a clock that is set
 * changes only the time in the name.
 */

struct agent;
enum { AGENT_DESTINATIONS = 16 };
enum agent_kind { AGENT_FILE, AGENT_PPROF, AGENT_OTLP, AGENT_PYROSCOPE, AGENT_KINDS };

struct agent_waiting {
    STAILQ_ENTRY(agent_waiting) next;
    char *name;
    uint64_t bytes, samples;
};

struct agent_outbox {
    struct agent *agent;
    const char *spec; /* the name that --to gives it */
    enum agent_kind kind;
    char *directory;
    const char *url;                      /* URL of the server */
    uint64_t limit, bytes;                /* bytes of waiting files: the most, and now */
    STAILQ_HEAD(, agent_waiting) waiting; /* the oldest first */
    uint64_t sent;                        /* windows that the server accepted */
    /* Windows given up for want of space, and their samples. */
    uint64_t given_up, given_up_samples;
    /* Windows that the server refused, their samples; attempts that failed. */
    uint64_t refused, refused_samples, failures;
    pthread_t thread;
    bool has_thread;
};

/* Makes the outbox of SCHEME:WHERE. spool: the directory for servers' windows. Finds what waits in it, and sets *sequence above all
 * of it. Errors: USAGE, OUTPUT. */
enum mkperf_status agent_outbox_open(struct agent_outbox *o, const char *spec, const char *spool,
                                     uint64_t limit, uint64_t *sequence, struct mkperf_error *e);
uint64_t agent_unix_ms(void); /* the wall clock */
/* Prints a notice or a warning about a target, a struct agent_target. It is a recorder's `notice` and `warn`. */
void agent_print(void *target, const char *text);
/* Returns where the ELFs of a window are that began at unix_ms. They stay open for other windows. They are opened again
 * for a window that began later, because its target may have been built again. Called with the turn. */
struct mkperf_elf_search agent_elfs(struct agent *a, uint64_t unix_ms);
/* Puts the finished file at `path` into the outbox. The file's name is the window's. elfs: for names in a pprof file. Errors: OUTPUT;
 * the window is counted as given up. */
enum mkperf_status agent_outbox_add(struct agent_outbox *o, const char *path,
                                    const struct mkperf_totals *totals,
                                    const struct mkperf_elf_search *elfs, struct mkperf_error *e);
/* Removes the oldest window, which was sent or given up; the caller has counted it. */
void agent_outbox_drop(struct agent_outbox *o);
void agent_outbox_free(struct agent_outbox *o);
/* What the name of a window's file holds. */
struct agent_name {
    uint64_t sequence, unix_ms, samples;
    char target[MKPERF_MODEL_NAME];
};
/* Returns false if it is no such name. */
bool agent_name_parse(const char *name, struct agent_name *out);
/* Returns the path of a window's recording, which the caller frees. */
char *agent_name_path(const struct agent_outbox *o, const struct agent_name *w);
extern const char *const agent_kind_names[AGENT_KINDS];
void agent_kind_help(mkperf_put *put, void *to);

/*
 * The recording of one target, in windows.
 *
 * Owns: the sink of the target's stream. It passes each item to two places. One is the file of the present window, which the first
 * record opens and which is closed after the length of a window. The other is the counts for metrics, which grow until the stream
 * ends. Counts of lost records are in the window in which the loss was noticed. If the disk is full, the
 * window has no file, its samples are counted, and the metrics have them.
 *
 *      stream ─► window ─┬─► checks ─► perf.data of this window ─► outboxes
 *                        └─► flow ─► analysis, counts ─► metrics, at the end of each window
 */

enum { AGENT_FAMILIES = 17 };

struct agent_window {
    struct agent_target *of; /* the target whose window this is */

    /* These are of the window that is open now. */
    bool open;
    bool failed; /* The window's file could not be written. */
    double opened_s;
    struct agent_name name;
    char *path;
    struct mkperf_perfdata *perfdata; /* NULL: no outbox wants a file */
    struct mkperf_checks *checks;
    struct mkperf_sink to;
    struct mkperf_totals counts; /* samples, losses and times of this window */
    struct mkperf_totals before; /* the stream's totals at the end of the last window */

    /* These are of the whole stream. */
    struct mkperf_session session; /* its texts live as long as the stream */
    uint32_t npds;
    struct mkperf_hash weight_keys; /* event, PD, core, kernel */
    struct mkperf_weight *weight;
    uint32_t weight_room;
    struct mkperf_hash ran_keys; /* PD, core */
    uint64_t *ran_ns;
    uint32_t ran_room;
    struct mkperf_analysis *sched;
    struct mkperf_flow flow;
    struct mkperf_sink live;
    struct mkperf_totals sum;                   /* the sum over all windows */
    uint64_t windows, spoiled, spoiled_samples; /* spoiled: without a file, for want of space */
    char *text[AGENT_FAMILIES];                 /* metrics at the end of the last window */
};

struct mkperf_sink agent_window_sink(struct agent_window *w);
/* Ends the present window: its file is put into the outboxes, and metrics are renewed. */
void agent_window_end(struct agent_window *w);
void agent_window_free(struct agent_window *w);

/*
 * Metrics in Prometheus' text format.
 *
 * Owns: the families, their names and texts. A window's end makes the text of each family for its target, so that all numbers of a
 * scrape are of whole windows. `mkperf_windows_total` is the number of these windows.
 */
void agent_metrics_make(struct agent_window *w);
/* Returns the whole answer to a scrape. The caller frees it. */
char *agent_metrics_text(struct agent *a, size_t *n);
/* Listens at HOST:PORT, of which HOST may be missing (loopback). Errors: USAGE, FAILED. */
enum mkperf_status agent_metrics_serve(struct agent *a, const char *address,
                                       struct mkperf_error *e);

/* ---- push.c: uploads. A thread for each server, which takes the oldest window of its outbox. ---- */

enum mkperf_status
agent_push_load(struct mkperf_error *e); /* Before the first start. Errors: FAILED. */
void agent_push_start(struct agent *a, struct agent_outbox *o);
void agent_push_join(struct agent_outbox *o);

/* ---- targets.c: the threads that record, and the file that lists targets ---- */

struct agent_target {
    struct agent *agent;
    char *name, *spec, *key_file; /* key_file: NULL: that of the agent */
    volatile int stop;
    bool over;    /* the thread has ended */
    bool listed;  /* the file of targets had it when it was read last */
    bool of_file; /* the file of targets has named it; false: an option -t has */
    pthread_t thread;
    struct mkperf_recorder recorder;
    struct agent_window window;
    char why[256];   /* why it is not recorded; "": it is */
    bool up;         /* it was recorded at the last tick */
    double missed_s; /* seconds without a recording */
    double synced_s;
    uint64_t attempts;
};

struct agent {
    struct mkperf_record_options options; /* the options of each recording */
    const char *spool, *list, *metrics, *service, *header_file;
    double window_s;
    uint64_t keep_mib;
    /* number of signals that end the agent; the main thread then sets `ending` for the others */
    volatile int *stop;
    bool ending;
    const char *to[AGENT_DESTINATIONS + 1]; /* NULL behind the last one */
    unsigned nto;
    struct agent_outbox outbox[AGENT_DESTINATIONS];
    uint64_t sequence; /* the number of the next window */
    struct mkperf_symbols *elfs;
    uint64_t elfs_unix_ms; /* when the first of them was opened */
    double elfs_s;
    struct agent_target **target;
    size_t ntargets;
    struct MHD_Daemon *daemon;
    uint64_t clock_steps;
    double clock_offset_s; /* wall time minus monotonic time */
};

/* Adds a target and starts its thread. name: that of the file of targets; NULL: made of the target. Errors: USAGE. */
enum mkperf_status agent_add(struct agent *a, const char *name, const char *spec,
                             const char *key_file, struct mkperf_error *e);
/* Reads the file of targets if it has changed: starts new ones, stops those that are gone. */
enum mkperf_status agent_read_list(struct agent *a, struct mkperf_error *e);
/* Records until *a->stop is not 0, or all targets are over. */
void agent_run(struct agent *a);
void agent_free(void *agent); /* the end of a command of which the state begins with the agent */

#endif
