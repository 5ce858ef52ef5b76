/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * What the two files of the kpdata decoder share: kprof_maps.c owns processes, mappings and messages,
 * kprof.c everything else.
 */
#ifndef MKPERF_HOST_IMPORT_KPROF_INTERNAL_H
#define MKPERF_HOST_IMPORT_KPROF_INTERNAL_H

#include "base/spool.h"
#include "import.h"
#include "symbols/symbols.h"

enum {
    KPROF_RECORD_MAX = 32 << 20, /* the Akaros readers' limit */
    KPROF_PATH_MAX = 4096,
    KPROF_MAPS_MAX = 1 << 20,
    KPROF_PDS_MAX = MKPERF_MODEL_PDS,
    KPROF_NO_PID = -1,
};

enum kprof_type { KPROF_KERNEL = 1, KPROF_USER = 2, KPROF_MMAP = 3, KPROF_PROCESS = 4 };

struct kprof_record {
    uint64_t offset; /* offset of the record, for messages */
    uint64_t type;
    const uint8_t *p; /* payload */
    size_t n;
};

/* One sample of the file, for sorting by time. */
struct kprof_index {
    uint64_t time_ns, offset;
};

struct kprof_map {
    uint64_t time_ns, start, length, file_offset;
    uint32_t pid, order; /* `order` is the number of the record; it keeps sorting stable */
    char *path;
    int64_t pd;                   /* -1 until a sample needs it */
    struct mkperf_module *module; /* the ELF of `pd` */
};

struct kprof_process {
    uint64_t time_ns;
    uint32_t pid;
    char *path;
};

struct kprof_pd {
    uint32_t pid;
    char *name, *path; /* `path` is that on the target, "" if unknown */
    struct mkperf_module *module;
};

struct kprof {
    const char *path;
    const uint8_t *p;
    size_t n;
    const struct mkperf_input *in;
    const struct mkperf_sink *sink;
    struct mkperf_error *e;
    enum mkperf_kprof_era era;
    uint64_t fits[MKPERF_KPROF_ERAS];
    uint64_t samples, unknown_types, not_fitting, deep, unread;
    struct mkperf_spool index;
    struct kprof_map *map; /* sorted by pid, then time, after the first reading */
    struct kprof_process *process;
    struct kprof_pd *pd;
    uint32_t nmaps, map_room, nprocesses, process_room, npds, pd_room;
    int64_t kernel_pd; /* the PD of kernel samples without a process; -1 until one needs it */
    struct mkperf_symbols *symbols;
    uint64_t info[MKPERF_MODEL_EVENTS]; /* the info of each event of the session */
    uint64_t other_infos;               /* samples of events beyond MKPERF_MODEL_EVENTS */
    uint32_t cores;
    struct mkperf_session session;
    struct mkperf_totals totals;
    struct mkperf_chain chain;
};

/* The fields of a sample, found at the positions of its era. */
struct kprof_sample {
    uint64_t info, time_ns;
    int64_t pid; /* KPROF_NO_PID if there is none */
    uint32_t cpu, n;
    const uint8_t *pc; /* n addresses of 8 bytes */
};

enum mkperf_status kprof_bad(const struct kprof *k, uint64_t offset, const char *reason);
/* Reports an invalid record: an error, except in a lenient reading, which omits and counts it. */
enum mkperf_status kprof_refuse(struct kprof *k, const struct kprof_record *r, const char *reason);
void kprof_warn(const struct kprof *k, const char *format, ...)
    __attribute__((format(printf, 2, 3)));

enum mkperf_status kprof_add_map(struct kprof *k, const struct kprof_record *r);
enum mkperf_status kprof_add_process(struct kprof *k, const struct kprof_record *r);
void kprof_sort_maps(struct kprof *k);
/*
 * Returns the PD whose code is at a user address of a process at a time; *addr becomes its address
 * in that PD's ELF. Returns -1 with the reason in *k->e if there is none.
 */
int64_t kprof_code_at(struct kprof *k, uint32_t pid, uint64_t time_ns, uint64_t *addr);
int64_t kprof_process_pd(struct kprof *k, uint32_t pid, uint64_t time_ns);
int64_t kprof_kernel_pd(struct kprof *k);
void kprof_free_maps(struct kprof *k);

#endif
