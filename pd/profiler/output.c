/* SPDX-License-Identifier: BSD-2-Clause */
/* The ring to the client PD: see output.h. */
#include "output.h"

#include "request.h"

bool mkperf_output_begin(struct mkperf_output *o, const struct mkperf_plan *plan,
                         mkperf_Error *error)
{
    mkperf_output_forget(o);
    bool empty = mkperf_ring_used(&o->ring) == 0;
    if (plan->request.overwrite && !empty) {
        return mkperf_refuse(error, MKPERF_RESULT_STATE, 0,
                             "the last session's samples are still on their way");
    }
    if (empty) {
        o->ring.size = plan->output_bytes;
    }
    o->flight = plan->request.overwrite;
    o->tail = o->ring.head;
    o->shown = o->ring.head;
    return true;
}

void mkperf_output_forget(struct mkperf_output *o)
{
    if (o->flight) {
        o->ring.head = o->shown;
    }
    *o = (struct mkperf_output){.status = o->status, .ring = o->ring};
}

/* At most `most` records of one kind are no longer held. */
static void overwrite(uint64_t *held, uint64_t *overwritten, uint64_t most)
{
    uint64_t n = *held < most ? *held : most;

    *held -= n;
    *overwritten += n;
}

static void drop_oldest(struct mkperf_output *o)
{
    mkperf_Status *s = o->status;
    unsigned size = 0;
    const uint64_t *record = mkperf_ring_oldest(&o->ring, &size);

    if (record == NULL) { /* The client has written into the records. */
        overwrite(&s->held, &s->overwritten, UINT64_MAX);
        overwrite(&s->sched_held, &s->sched_overwritten, UINT64_MAX);
        s->corrupt++;
        o->ring.tail = o->ring.head;
        return;
    }
    unsigned type = mkperf_record_type(record[MKPERF_WORD_HEADER]);
    if (type == MKPERF_RECORD_SAMPLE) {
        overwrite(&s->held, &s->overwritten, 1);
    } else if (type == MKPERF_RECORD_SCHED || type == MKPERF_RECORD_WORDS) {
        overwrite(&s->sched_held, &s->sched_overwritten, 1);
    }
    o->ring.tail += size;
}

/* Bounded: the shortest record has 8 bytes, and what is dropped is not much longer than `bytes`. */
uint64_t *mkperf_output_overwrite(struct mkperf_output *o, uint64_t bytes)
{
    o->ring.tail = o->tail;
    while (!mkperf_ring_fits(&o->ring, bytes)) {
        drop_oldest(o);
    }
    o->tail = o->ring.tail;
    return mkperf_ring_place(&o->ring, bytes);
}

bool mkperf_output_open(struct mkperf_output *o)
{
    if (o->dumping && mkperf_ring_used(&o->ring) == 0) {
        o->dumping = false;
    }
    return !o->dumping;
}

bool mkperf_output_dump(struct mkperf_output *o, mkperf_Error *error)
{
    if (!o->flight) {
        return mkperf_refuse(error, MKPERF_RESULT_STATE, 0,
                             "no flight recording: mkperf record --overwrite");
    }
    o->dumping = true;
    o->dumped = o->status->held;
    o->sched_dumped = o->status->sched_held;
    o->shown = o->ring.head;
    mkperf_ring_show(&o->ring, o->tail);
    return true;
}

void mkperf_output_status(const struct mkperf_output *o, bool running, mkperf_Status *out)
{
    out->flight = !o->flight ? mkperf_FlightState_FLIGHT_NONE
                  : running  ? mkperf_FlightState_FLIGHT_RECORDING
                             : mkperf_FlightState_FLIGHT_HELD;
    if (o->flight) { /* To its receiver a dump is a session of its own. */
        out->captured = o->dumped;
        out->sched_captured = o->sched_dumped;
    }
}
