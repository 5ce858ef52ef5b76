/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * A perf.data file's data on the session: events, machine, PDs, totals.
 *
 * Owns: the model's session and PDs while a file is read, and every string in them. Filled from
 * mkperf's own features where the file has them, else from perf's. Called by the perf.data decoder.
 */
#ifndef MKPERF_HOST_PERFDATA_READER_SESSION_H
#define MKPERF_HOST_PERFDATA_READER_SESSION_H

#include "model/interactions.h"
#include "reader_file.h"

enum { PERFIN_PROCESSES_MAX = 1 << 16 };

struct perfin_process {
    uint32_t pid;
    bool announced; /* announced to the sink: name and ELF are final */
    uint64_t thread;
    bool profiler;   /* one of mkperf's own */
    bool has_thread; /* from the session, not guessed */
    char *name, *elf, *parent, *unnamed;
    struct mkperf_build_id build_id; /* of its program */
    struct mkperf_scheduling scheduling;
};

struct perfin_session {
    struct mkperf_session model;
    struct mkperf_totals totals;
    bool native;        /* mkperf wrote it: identities and slides are known */
    bool has_totals;    /* and finished it */
    unsigned described; /* events that mkperf's own features describe */
    char *platform, *cpu, *kernel_elf, *kernel_unnamed, *image, *unverified, *command, *pd_names;
    struct mkperf_interactions *interactions; /* NULL: none */
    struct perfin_process *process;           /* index = the model's PD id */
    uint32_t nprocesses, room;
    uint32_t last; /* found; most often asked for again */
};

enum mkperf_status perfin_read_session(struct perfin_bytes *b, const struct perfin_frame *f,
                                       struct perfin_session *s, struct mkperf_error *e);
/* reader_own.c. The session as mkperf's own feature says, if there is one. */
enum mkperf_status perfin_read_own(struct perfin_bytes *b, const struct perfin_frame *f,
                                   struct perfin_session *s, struct mkperf_error *e);
/* The totals, which a pipe has after its data. */
enum mkperf_status perfin_read_totals(struct perfin_bytes *b, const struct perfin_frame *f,
                                      struct perfin_session *s, struct mkperf_error *e);
void perfin_free_session(struct perfin_session *s);

/* One more event of a later session, by its attribute. The caller checked that there is room. */
void perfin_more_event(struct perfin_session *s, const struct perfin_attr *a);
/* The name that a record gives to event number `index`, n bytes with a 0 among them. */
void perfin_name_event(struct perfin_session *s, uint32_t index, const char *name);

/* The PD id of a pid, made if it is new; -1: out of memory or too many. */
int64_t perfin_process_of(struct perfin_session *s, uint32_t pid);

void perfin_set_event_name(struct mkperf_event *event, const char *name);

/* Replaces *to by a copy of n bytes at p, up to the first 0. */
void perfin_set_text(char **to, const void *p, size_t n);

#endif
