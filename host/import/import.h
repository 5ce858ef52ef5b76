/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Other tools' files into the model: the table of input formats, the options of their readers, and
 * the readers themselves.
 *
 * Called by `mkperf convert`, its relatives, and the commands that read a recording. An input format
 * is a reader and a row in the table of input.c.
 *
 * All readers call the sink from begin to end; after an error they call abandon. The path "-" is
 * standard input. Errors: MKPERF_ERR_INPUT with the path, the place and the reason, or that of the
 * sink.
 */
#ifndef MKPERF_HOST_IMPORT_IMPORT_H
#define MKPERF_HOST_IMPORT_IMPORT_H

#include "model/figures.h"
#include "model/pds.h"

/* The layouts that kpdata had. */
enum mkperf_kprof_era {
    MKPERF_KPROF_AUTO, /* the one that most samples fit */
    MKPERF_KPROF_A,    /* October to December 2015: samples have no info field */
    MKPERF_KPROF_B,    /* the form until June 2016: samples have an info field */
    MKPERF_KPROF_C,    /* the form since then: kernel samples have a pid as well */
    MKPERF_KPROF_ERAS,
};

/* What the user chose. NULL and 0 are "not given". Each reader uses the options of its format. */
struct mkperf_input {
    const char *from; /* name of the format, NULL: it is detected */
    bool lenient;     /* toperf, kprof: repair or omit invalid data, and report that */
    /* raw, exact: names of PDs and ELFs, as in mkperf record. kprof: only `kernel`. All formats: `warn`, which may be NULL, and
     * `self`. */
    struct mkperf_pds_config pds;
    const char *build_dir;     /* toperf: where the ELFs and sample_header.json are */
    uint64_t time_hz;          /* toperf: frequency of the times in the file, 0: nanoseconds */
    const char *root_dir;      /* kprof: where the files of the target are */
    enum mkperf_kprof_era era; /* kprof */
    const char *command;       /* the command line, for the session */
};

/* A reader: reads what fd is open for, from its position on, and closes fd. Messages call the file `path`. */
typedef enum mkperf_status mkperf_read_input(const char *path, int fd,
                                             const struct mkperf_input *in,
                                             const struct mkperf_sink *sink,
                                             struct mkperf_error *e);

/* Calls put for each format, for the help text. */
void mkperf_input_help(void (*put)(void *self, const char *name, const char *help), void *self);

/* Puts the path before the text of an error that does not have it. Returns its status. */
enum mkperf_status mkperf_input_name_file(const char *path, struct mkperf_error *e);

/* Reads a file of the format that in->from names, or that is detected. USAGE: an unknown name. */
enum mkperf_status mkperf_input_read(const char *path, const struct mkperf_input *in,
                                     const struct mkperf_sink *sink, struct mkperf_error *e);

/*
 * Questions that are asked again: what a sink has collected from a recording is kept in a snapshot (base/shape.h), and the next
 * reading of the same recording for the same question fills the sink from it.
 *
 * Owns: what is in a snapshot, and the replay. input.c decides whether there is one.
 *
 *      first time    reader ─► checks ─► asked ─► sink          asked, at the end: session, PDs, totals, and the
 *                                                               members that the question lists ─► snapshot
 *      next time     snapshot ─► begin, pd, pd, ..., the listed members, end ─► sink
 *
 * Concept: a snapshot has the members as they are just before `end`. So `begin` and `pd` open ELFs as always, `end` draws its
 * conclusions as always, and no name comes from a snapshot. A question with `conclude` has the members as they are after `end`.
 *
 * model/checks.c marks a PD as mkperf's own if the recording says so or if its ELF shows it. If other PDs would be marked now, the
 * recording is read instead of the snapshot.
 */

enum { MKPERF_QUESTION_KEPT = 4 };

struct mkperf_question {
    /* The kind of the result, and each option on which the members depend. NULL: there is no snapshot. */
    const char *text;
    /* The structures of the sink whose members a snapshot has. Unused elements have no rows. */
    struct mkperf_shaped kept[MKPERF_QUESTION_KEPT];
    /* Completes the members after `end`, before they are kept. A replay takes them after `end`. NULL: see above. */
    void (*conclude)(void *self);
    void *self;
};

struct mkperf_asked {
    struct mkperf_sink to;
    const struct mkperf_question *question;
    struct mkperf_shape_bytes bytes; /* They are the snapshot, after `end`. */
    /* The first part of the snapshot. The members of the question follow it. */
    /* The first session is that of BEGIN. Each later one is that of an EVENTS. */
    struct mkperf_session *session;
    unsigned sessions, session_room;
    struct mkperf_pd *pd; /* They own their texts (mkperf_pd_rows). */
    unsigned pds, pd_room;
    struct mkperf_totals totals;              /* Its pointers are NULL. */
    struct mkperf_interactions *interactions; /* There is one, or none. */
    unsigned ninteractions;
};
extern const struct mkperf_shape_row mkperf_asked_rows[];

/* Returns the relay of a reading in front of the question's sink. */
struct mkperf_sink mkperf_asked_sink(struct mkperf_asked *a, struct mkperf_sink to);

/* Fills the sink from a snapshot. Returns false if the recording must be read. The sink has then taken nothing, or has refused BEGIN. */
bool mkperf_asked_replay(struct mkperf_asked *a, const struct mkperf_sink *sink, const uint8_t *p,
                         size_t n, struct mkperf_error *e);
void mkperf_asked_free(struct mkperf_asked *a);

/*
 * Reads like mkperf_input_read, for a question that may have been asked before: *sink is filled from a snapshot if
 * there is one, otherwise the recording is read, and a snapshot is written if it is large. The members that
 * question->kept lists are all that the sink collects between `begin` and `end`, apart from what `pd` and `events` set.
 */
enum mkperf_status mkperf_input_ask(const char *path, const struct mkperf_input *in,
                                    const struct mkperf_sink *sink,
                                    const struct mkperf_question *question, struct mkperf_error *e);
/* Returns whether what is read from there would be kept. */
bool mkperf_input_keeps(const char *path, const char *from);

/*
 * kpdata of Akaros, in its three layouts.
 *
 * kpdata is not in the order of time, so it is read twice. The first reading collects processes,
 * mappings and an index of samples (16 bytes each, in an unnamed temporary file), which is then
 * sorted. Memory grows only with the number of processes and mappings.
 *
 * A process is a PD. Each other file that is mapped into it is a PD of its own, named "PROGRAM:FILE",
 * with the process as its parent, because a PD has one ELF. Kernel samples belong to their process
 * (era C) or to a PD "kernel", and so do their callers (flags KERNEL and NO_USER). Addresses are
 * moved to where the ELF was linked. kpdata has no losses, so totals are never `complete`. It has no
 * periods except for timers: other samples count as 1.
 */
mkperf_read_input mkperf_kprof_read;
/* Returns whether the first records have types that exist and sizes that a record can have. */
bool mkperf_kprof_is(const uint8_t *p, size_t n);
enum mkperf_status mkperf_kprof_read_memory(const char *name, const void *p, size_t n,
                                            const struct mkperf_input *in,
                                            const struct mkperf_sink *sink, struct mkperf_error *e);

/*
 * samples.json of the seL4 profiler.
 *
 * Memory does not grow with the input. The format has no losses, so totals are never `complete`. Its
 * samples are all of user code and of one event, which is named cycles.
 *
 * A strict reading ends at the first invalid item, with its place. A lenient reading repairs or drops
 * it, counts it, and reports it at the end, with one line for each kind. It also reads the log of the
 * serial client: objects without commas, ip in hexadecimal, other text in between.
 */
mkperf_read_input mkperf_toperf_read;

/*
 * Reads the counts of mkperf's plugin for QEMU, which `mkperf exact` makes: each instruction with its number of
 * executions. It needs in->pds.system and the ELFs. What no ELF of the system has is in a PD "other code".
 */
mkperf_read_input mkperf_exact_read;

#endif
