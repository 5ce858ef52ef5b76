/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * What scheduling events cost, with the real profiler PD: `caller` is its client, and calls and
 * notifies `callee` without and with events (bench/sched.sh). One program, two PDs.
 *
 * A call and its reply are four events in two records: each is delivered with the switch. A notification, the
 * switch to `callee`, and the one when that waits again are an event and a record each.
 *
 * The events of ROUNDS rounds fit the core's ring below its watermark, so no other PD runs between them;
 * the events of one that does are counted, too. Time is instructions; a loop of known length measures
 * how many a tick has. Reading of queues at switches is measured with 8 and with 24 of them. Prints `figure NAME VALUE`, VALUE in thousandths.
 */
#include "../../pd/profiler/latency.h"

#include "client.h"

enum { CH_CALLEE = 2, ROUNDS = 1000, ITERATIONS = 1000000, LOOP = 2, EVENTS = 5 };

uintptr_t mkperf_rings; /* set by the system description */
uintptr_t bench_queues; /* a page that the profiler PD maps at PROFILER_QUEUES */

/* Queues in the page, each with two indices of 32 bits in words of their own. */
enum { FEW_QUEUES = 8, MANY_QUEUES = 24, QUEUE_BYTES = 128, TAIL = 64, READINGS = 500 };
#define PROFILER_QUEUES UINT64_C(0x20000000)

/* The ticks of ITERATIONS * LOOP instructions. */
static uint64_t calibrate(void)
{
    uint64_t before = ticks();

    spin(ITERATIONS);
    return ticks() - before;
}

static uint64_t calls(void)
{
    uint64_t before = ticks();

    for (unsigned i = 0; i < ROUNDS; i++) {
        microkit_ppcall(CH_CALLEE, microkit_msginfo_new(0, 0));
    }
    return ticks() - before;
}

static uint64_t notifications(void)
{
    uint64_t before = ticks();

    for (unsigned i = 0; i < ROUNDS; i++) {
        microkit_notify(CH_CALLEE);
    }
    return ticks() - before;
}

/* READINGS notifications, two switches each. */
static uint64_t readings(void)
{
    uint64_t before = ticks();

    for (unsigned i = 0; i < READINGS; i++) {
        microkit_notify(CH_CALLEE);
    }
    return ticks() - before;
}

/* The same; one index moves before each of them. */
static uint64_t moved_readings(void)
{
    volatile uint32_t *tail = (volatile uint32_t *)(bench_queues + TAIL);
    uint64_t before = ticks();

    for (unsigned i = 0; i < READINGS; i++) {
        ++*tail;
        microkit_notify(CH_CALLEE);
    }
    return ticks() - before;
}

/* Events in the core's ring between two positions. */
static uint64_t events_between(const struct mkperf_ring *ring, uint64_t from, uint64_t to)
{
    uint64_t events = 0;

    while (from < to) {
        uint64_t header = ring->data[from % MKPERF_CORE_RING_BYTES / 8];
        unsigned size = mkperf_record_size(header);
        events += mkperf_record_type(header) == MKPERF_RECORD_SCHED;
        from += size != 0 ? size : 8;
    }
    return events;
}

/* Rounds in a session: ticks, events, and bytes in the ring. */
struct session {
    uint64_t ticks;
    uint64_t events;
    uint64_t bytes;
};

/* least: events that there must be. False: it was refused, or events are missing. */
static bool in_session(uint64_t (*rounds)(void), unsigned queues, unsigned least,
                       struct session *out)
{
    const struct mkperf_ring *ring = mkperf_core_ring(mkperf_rings, 0);
    struct mkperf_session_request *r = &page()->request;

    *r = MKPERF_SESSION_REQUEST_ZERO;
    r->configure.sched = true;
    r->configure.words_count = (pb_size_t)(2 * queues);
    for (unsigned i = 0; i < 2 * queues; i++) {
        uint64_t at = PROFILER_QUEUES + (uint64_t)i / 2 * QUEUE_BYTES + (i % 2 != 0 ? TAIL : 0);
        r->configure.words[i] = at | UINT64_C(0x0f) << MKPERF_WORD_BYTES_SHIFT;
    }
    if (call(MKPERF_OP_CONFIGURE) != MKPERF_RESULT_OK ||
        call(MKPERF_OP_START) != MKPERF_RESULT_OK) {
        microkit_dbg_puts("sched_cost: the profiler refuses: ");
        microkit_dbg_puts(page()->error.text);
        microkit_dbg_puts("\n");
        return false;
    }
    uint64_t from = __atomic_load_n(&ring->head, __ATOMIC_ACQUIRE);
    out->ticks = rounds();
    uint64_t to = __atomic_load_n(&ring->head, __ATOMIC_ACQUIRE);
    out->bytes = to - from;
    out->events = events_between(ring, from, to);
    call(MKPERF_OP_STOP);
    if (out->events < least || page()->status.sched_lost_ring != 0) {
        microkit_dbg_puts("sched_cost: events are missing\n");
        return false;
    }
    return true;
}

static struct mkperf_latency replayed;
static mkperf_StopIf condition[MKPERF_MAX_STOPS];
static mkperf_Status status; /* whose trigger no condition sets */

/* The ticks of a replay of ROUNDS calls and notifications of thread 2 by thread 1, five events each round, with so many conditions
 * that are never met. Each kind is among the first ones. */
static uint64_t replay(unsigned conditions)
{
    const uint64_t header[] = {
        mkperf_sched_header(MKPERF_SCHED_SWITCH, MKPERF_STOPPED_CALLED, 0),
        mkperf_sched_header(MKPERF_SCHED_SWITCH, MKPERF_STOPPED_REPLIED, 0),
        mkperf_sched_header(MKPERF_SCHED_NOTIFY, 0, 0),
        mkperf_sched_header(MKPERF_SCHED_SWITCH, MKPERF_STOPPED_PREEMPTED, 0),
        mkperf_sched_header(MKPERF_SCHED_SWITCH, MKPERF_STOPPED_WAIT_NOTIFICATION, 0)};
    static const uint64_t to[] = {2, 1, 2, 2, 1};
    uint64_t time = 0;

    mkperf_latency_begin(&replayed);
    for (unsigned i = 0; i < conditions; i++) {
        condition[i] =
            (mkperf_StopIf){.kind = (mkperf_StopKind)i, .from = 3, .to = 4, .ns = 1000000000};
    }
    mkperf_latency_limit(&replayed, condition, conditions, 1000000, &status);
    uint64_t before = ticks();
    for (unsigned i = 0; i < ROUNDS * EVENTS; i++) {
        time += 100;
        mkperf_latency_event(&replayed, 0, header[i % EVENTS], to[i % EVENTS], time);
    }
    return ticks() - before;
}

static void measure(void)
{
    uint64_t loop = calibrate();
    uint64_t call_off = calls();
    uint64_t notify_off = notifications();
    struct session called, notified, none, few, many, moved;

    if (!in_session(calls, 0, 2 * ROUNDS, &called) ||
        !in_session(notifications, 0, 3 * ROUNDS, &notified) ||
        !in_session(readings, 0, 3 * READINGS, &none) ||
        !in_session(readings, FEW_QUEUES, 3 * READINGS, &few) ||
        !in_session(readings, MANY_QUEUES, 3 * READINGS, &many) ||
        !in_session(moved_readings, FEW_QUEUES, 3 * READINGS, &moved)) {
        return;
    }
    uint64_t instructions = UINT64_C(1000) * LOOP * ITERATIONS / loop; /* thousandths, a tick */
    figure("events", called.events * 1000);
    figure("sched_instructions_per_event",
           (notified.ticks - notify_off) * instructions / notified.events);
    figure("sched_instructions_per_delivery_and_switch",
           (called.ticks - call_off) * instructions / called.events);
    figure("sched_call_and_reply_instructions", called.ticks * instructions / ROUNDS);
    figure("call_and_reply_instructions", call_off * instructions / ROUNDS);
    uint64_t queue = (many.ticks - few.ticks) * instructions /
                     (UINT64_C(2) * READINGS * (MANY_QUEUES - FEW_QUEUES));
    figure("queue_instructions_per_switch", queue);
    figure("queues_instructions_per_switch",
           (few.ticks - none.ticks) * instructions / (UINT64_C(2) * READINGS) - FEW_QUEUES * queue);
    figure("queue_instructions_per_change", (moved.ticks - few.ticks) * instructions / READINGS);
    uint64_t without = replay(0);
    figure("replay_instructions_per_event",
           without * instructions / (UINT64_C(1) * ROUNDS * EVENTS));
    figure("conditions_instructions_per_event",
           (replay(MKPERF_MAX_STOPS) - without) * instructions / (UINT64_C(1) * ROUNDS * EVENTS));
    figure("sched_ring_bytes_per_event", called.bytes * 1000 / called.events);
}

void init(void)
{
    if (microkit_name[5] == 'r') { /* caller */
        measure();
        measure(); /* again, now warm */
        microkit_dbg_puts("sched_cost: done\n");
    }
}

void notified(microkit_channel ch)
{
    (void)ch;
}

microkit_msginfo protected(microkit_channel ch, microkit_msginfo msginfo)
{
    (void)ch;
    return msginfo;
}
