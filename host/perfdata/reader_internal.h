/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * What the files of the perf.data decoder share while they walk over records.
 *
 * Owns: the reader's state and the cursor over a record. reader.c owns the walk and the records
 * about losses and events, reader_process.c those about processes, reader_sample.c samples and
 * marks.
 */
#ifndef MKPERF_HOST_PERFDATA_READER_INTERNAL_H
#define MKPERF_HOST_PERFDATA_READER_INTERNAL_H

#include "base/xalloc.h"
#include "compressed.h"
#include "reader_session.h"

/* What a sample that is read to its end may have. */
enum { PERFIN_FIELDS_READ = PERF_SAMPLE_IDENTIFIER | (PERF_SAMPLE_RAW - 1) };

struct perfin_cursor {
    const uint8_t *p;
    size_t n;
    bool cut;
};

struct perfin_reader {
    struct perfin_bytes bytes;
    struct perfin_frame frame;
    struct perfin_session session;
    const struct mkperf_sink *sink;
    bool began;
    bool damaged; /* the compressed records of an unfinished file, from the present one on */
    struct perfin_inflate inflate;
    unsigned events; /* that the sink knows */
    uint64_t offset; /* of the current record */
    uint64_t samples, marks, first_ns, last_ns;
    bool has_time;
    uint64_t sched_events;
    unsigned cores_room; /* of sched_ns */
    uint64_t *sched_ns;  /* time of each core's last scheduling event */
    uint64_t lost[MKPERF_LOST_PLACES];
    struct mkperf_chain chain;
    struct mkperf_error *e;
};

static inline const uint8_t *perfin_take(struct perfin_cursor *c, size_t n)
{
    const uint8_t *p = c->p;

    if (n > c->n) {
        c->cut = true;
        return NULL;
    }
    c->p += n;
    c->n -= n;
    return p;
}

static inline uint64_t perfin_take64(struct perfin_cursor *c)
{
    const uint8_t *p = perfin_take(c, 8);

    return p ? mkperf_get64(p) : 0;
}

static inline uint32_t perfin_take32(struct perfin_cursor *c)
{
    const uint8_t *p = perfin_take(c, 4);

    return p ? mkperf_get32(p) : 0;
}

/* INPUT, with the offset of the current record. */
enum mkperf_status perfin_fail(struct perfin_reader *r, const char *reason);
/* Tells the sink of the session, once. */
enum mkperf_status perfin_begin(struct perfin_reader *r);

/* reader_process.c. The PDs that the file's head lists, announced to the sink before the first record. */
enum mkperf_status perfin_announce_listed(struct perfin_reader *r);
/* The PD of a pid, announced to the sink. */
enum mkperf_status perfin_pd_of(struct perfin_reader *r, uint32_t pid, uint32_t *id);
/* A COMM record; an MMAP or MMAP2 record. */
enum mkperf_status perfin_read_comm(struct perfin_reader *r, struct perfin_cursor c);
enum mkperf_status perfin_read_map(struct perfin_reader *r, struct perfin_cursor c, bool mmap2,
                                   unsigned misc);

/* reader_sample.c. The event of an id, PERFIN_MARK for that of marks; -1: none. */
int64_t perfin_event_of(const struct perfin_reader *r, uint64_t id);
/* A SAMPLE record: a sample, or a mark. */
enum mkperf_status perfin_read_sample(struct perfin_reader *r, struct perfin_cursor c,
                                      unsigned misc);

/* Includes a sample's or event's time in the recording's. */
void perfin_note_time(struct perfin_reader *r, uint64_t time);

/* reader_sched.c. Raw data of a tracepoint; *out has time and core. */
enum mkperf_status perfin_read_sched(struct perfin_reader *r, struct mkperf_sched *out,
                                     enum mkperf_trace_point point, const uint8_t *raw, size_t n);
enum mkperf_status perfin_read_gap(struct perfin_reader *r, uint64_t lost, uint64_t time,
                                   uint32_t core);

#endif
