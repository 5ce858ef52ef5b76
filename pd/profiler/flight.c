/* SPDX-License-Identifier: BSD-2-Clause */
/* The flight recorder: see flight.h, which says what is owned and who calls. */
#include "flight.h"

#include "profiler.h"

bool mkperf_flight_begin(struct mkperf_profiler *p, mkperf_Error *error)
{
    mkperf_flight_forget(p);
    if (!p->plan.overwrite) {
        return true;
    }
    if (mkperf_ring_used(&p->output) != 0) {
        return mkperf_plan_refuse(error, MKPERF_RESULT_STATE, 0,
                                  "the last session's samples are still on their way");
    }
    p->flight = (struct mkperf_flight){.on = true, .tail = p->output.head, .shown = p->output.head};
    return true;
}

/* The ring continues at the position that the client has. */
void mkperf_flight_forget(struct mkperf_profiler *p)
{
    if (p->flight.on) {
        p->output.head = p->flight.shown;
    }
    p->flight = (struct mkperf_flight){0};
}

/* The client can write to the ring: invalid contents are discarded as a whole. */
static void give_up(struct mkperf_profiler *p, struct mkperf_ring_producer *output)
{
    p->flight.overwritten += p->flight.samples;
    p->flight.samples = 0;
    p->flight.events_overwritten += p->flight.events;
    p->flight.events = 0;
    p->statistics.corrupt++;
    output->tail = output->head;
}

static void drop_oldest(struct mkperf_profiler *p, struct mkperf_ring_producer *output)
{
    unsigned size = 0;
    const uint64_t *record = mkperf_ring_oldest(output, &size);

    if (record == NULL) {
        give_up(p, output);
        return;
    }
    unsigned type = mkperf_record_type(record[MKPERF_WORD_HEADER]);
    if (type == MKPERF_RECORD_SAMPLE && p->flight.samples != 0) {
        p->flight.samples--;
        p->flight.overwritten++;
    } else if (type == MKPERF_RECORD_SCHED && p->flight.events != 0) {
        p->flight.events--;
        p->flight.events_overwritten++;
    }
    output->tail += size;
}

/* Bounded: the shortest record is 8 bytes, and at most two of the longest are removed. */
uint64_t *mkperf_flight_room(struct mkperf_profiler *p, struct mkperf_ring_producer *output,
                             unsigned size)
{
    output->tail = p->flight.tail;
    while (!mkperf_ring_fits(output, size)) {
        drop_oldest(p, output);
    }
    p->flight.tail = output->tail;
    return mkperf_ring_place(output, size);
}

void mkperf_flight_fault(struct mkperf_profiler *p, uint64_t thread)
{
    for (unsigned i = 0; i < p->plan.faults; i++) {
        if (p->plan.fault[i] == thread && !p->flight.triggered) {
            p->flight.triggered = p->flight.on && p->running;
            p->flight.thread = thread;
        }
    }
}

bool mkperf_flight_may_drain(struct mkperf_profiler *p)
{
    if (p->flight.dumping && mkperf_ring_used(&p->output) == 0) {
        p->flight.dumping = false;
    }
    return !p->flight.dumping;
}

bool mkperf_flight_settle(struct mkperf_profiler *p)
{
    mkperf_Error none;

    return p->flight.triggered &&
           mkperf_flight_hold(p, MKPERF_FLIGHT_FAULT, p->flight.thread, &none);
}

bool mkperf_flight_hold(struct mkperf_profiler *p, uint32_t why, uint64_t thread,
                        mkperf_Error *error)
{
    if (!p->flight.on || !p->running) {
        return mkperf_plan_refuse(error, MKPERF_RESULT_STATE, 0, "no flight recording runs");
    }
    p->flight.triggered = false;
    p->flight.why = why;
    p->flight.thread = thread;
    mkperf_sampling_stop(p);
    return true;
}

bool mkperf_flight_dump(struct mkperf_profiler *p, mkperf_Error *error)
{
    uint64_t bytes = 0;

    if (!p->flight.on) {
        return mkperf_plan_refuse(error, MKPERF_RESULT_STATE, 0,
                                  "no flight recording: mkperf record --overwrite");
    }
    if (mkperf_flight_may_drain(p)) {
        mkperf_drain_ring(p, &bytes);
        mkperf_flight_settle(p);
    }
    p->id++; /* each dump is a separate session for its receiver */
    p->flight.dumping = true;
    p->flight.dumped = p->flight.samples;
    p->flight.events_dumped = p->flight.events;
    p->flight.shown = p->output.head;
    mkperf_ring_show(&p->output, p->flight.tail);
    return true;
}

void mkperf_flight_fill(const struct mkperf_profiler *p, mkperf_Status *out)
{
    const struct mkperf_flight *f = &p->flight;

    out->flight = !f->on       ? mkperf_FlightState_FLIGHT_NONE
                  : p->running ? mkperf_FlightState_FLIGHT_RECORDING
                               : mkperf_FlightState_FLIGHT_HELD;
    out->trigger = (mkperf_FlightTrigger)f->why;
    out->trigger_thread = f->why == MKPERF_FLIGHT_FAULT ? mkperf_thread_to_wire(f->thread) : 0;
    out->held = f->samples;
    out->overwritten = f->overwritten;
    out->sched_held = f->on ? f->events : 0;
    out->sched_overwritten = f->events_overwritten;
}
