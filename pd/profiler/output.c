/* SPDX-License-Identifier: BSD-2-Clause */
/* The ring to the client PD: see pipeline.h. */
#include "pipeline.h"

struct mkperf_output mkperf_out;

bool mkperf_output_begin(void)
{
    mkperf_output_forget();
    bool empty = mkperf_ring_used(&mkperf_out.ring) == 0;
    if (mkperf_plan.request.overwrite && !empty) {
        return mkperf_refuse(MKPERF_RESULT_STATE, 0,
                             "the last session's samples are still on their way");
    }
    if (empty) {
        mkperf_out.ring.size = mkperf_plan.output_bytes;
    }
    mkperf_out.flight = mkperf_plan.request.overwrite;
    mkperf_out.tail = mkperf_out.ring.head;
    mkperf_out.shown = mkperf_out.ring.head;
    return true;
}

void mkperf_output_forget(void)
{
    if (mkperf_out.flight) {
        mkperf_out.ring.head = mkperf_out.shown;
    }
    mkperf_out = (struct mkperf_output){.ring = mkperf_out.ring};
}

/* At most `most` records of one kind are no longer held. */
static void overwrite(uint64_t *held, uint64_t *overwritten, uint64_t most)
{
    uint64_t n = *held < most ? *held : most;

    *held -= n;
    *overwritten += n;
}

static void drop_oldest(void)
{
    unsigned size = 0;
    const uint64_t *record = mkperf_ring_oldest(&mkperf_out.ring, &size);

    if (record == NULL) { /* The client has written into the records. */
        overwrite(&mkperf_status.held, &mkperf_status.overwritten, UINT64_MAX);
        overwrite(&mkperf_status.sched_held, &mkperf_status.sched_overwritten, UINT64_MAX);
        mkperf_status.corrupt++;
        mkperf_out.ring.tail = mkperf_out.ring.head;
        return;
    }
    unsigned type = mkperf_record_type(record[MKPERF_WORD_HEADER]);
    if (type == MKPERF_RECORD_SAMPLE) {
        overwrite(&mkperf_status.held, &mkperf_status.overwritten, 1);
    } else if (type == MKPERF_RECORD_SCHED || type == MKPERF_RECORD_WORDS) {
        overwrite(&mkperf_status.sched_held, &mkperf_status.sched_overwritten, 1);
    }
    mkperf_out.ring.tail += size;
}

/* Bounded: the shortest record has 8 bytes, and what is dropped is not much longer than `bytes`. */
uint64_t *mkperf_output_overwrite(uint64_t bytes)
{
    mkperf_out.ring.tail = mkperf_out.tail;
    while (!mkperf_ring_fits(&mkperf_out.ring, bytes)) {
        drop_oldest();
    }
    mkperf_out.tail = mkperf_out.ring.tail;
    return mkperf_ring_place(&mkperf_out.ring, bytes);
}

bool mkperf_output_open(void)
{
    if (mkperf_out.dumping && mkperf_ring_used(&mkperf_out.ring) == 0) {
        mkperf_out.dumping = false;
    }
    return !mkperf_out.dumping;
}

bool mkperf_output_dump(void)
{
    if (!mkperf_out.flight) {
        return mkperf_refuse(MKPERF_RESULT_STATE, 0,
                             "no flight recording: mkperf record --overwrite");
    }
    mkperf_out.dumping = true;
    mkperf_out.dumped = mkperf_status.held;
    mkperf_out.sched_dumped = mkperf_status.sched_held;
    mkperf_out.shown = mkperf_out.ring.head;
    mkperf_ring_show(&mkperf_out.ring, mkperf_out.tail);
    return true;
}

void mkperf_output_status(mkperf_Status *out)
{
    out->flight = !mkperf_out.flight      ? mkperf_FlightState_FLIGHT_NONE
                  : mkperf_kernel.session ? mkperf_FlightState_FLIGHT_RECORDING
                                          : mkperf_FlightState_FLIGHT_HELD;
    if (mkperf_out.flight) { /* To its receiver a dump is a session of its own. */
        out->captured = mkperf_out.dumped;
        out->sched_captured = mkperf_out.sched_dumped;
    }
}
