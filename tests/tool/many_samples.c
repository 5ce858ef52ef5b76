/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Writes a large recording for tests of speed: many-samples OUT SAMPLES [EVENTS]
 *
 * Owns: its form. 20 PDs on 4 cores at 4000 samples per second and core, a fifth of them idle, some
 * thousands of distinct callchains, marks; if asked for, scheduling events during the same time: on
 * each core nested calls of three PDs, an interrupt that wakes a fourth, and a notification. No PD has
 * an ELF, so functions are pages of addresses. The same arguments give the same recording.
 */
#include <stdio.h>
#include <stdlib.h>

#include "base/base.h"
#include "perfdata/perfdata.h"

enum { PDS = 20, CORES = 4, INTERVAL_NS = 250000, PERIOD = 250000 };

static uint32_t next_random(void)
{
    static uint64_t state = 1;

    state = state * 6364136223846793005u + 1442695040888963407u;
    return (uint32_t)(state >> 33);
}

static enum mkperf_status put_sample(const struct mkperf_sink *sink, uint64_t i,
                                     struct mkperf_error *e)
{
    struct mkperf_chain chain = {.n = 6};
    struct mkperf_sample s = {.time_ns = (1 + i / CORES) * INTERVAL_NS + next_random() % 1000,
                              .period = PERIOD,
                              .core = (uint32_t)(i % CORES),
                              .pd = (uint32_t)(i / 64 % 5 == 0 ? PDS : next_random() % PDS),
                              .callers = &chain};
    uint32_t path = next_random() % 64;

    for (unsigned n = 0; n < chain.n; n++) {
        chain.caller[n] = (struct mkperf_caller){
            .addr = 0x200004 + UINT64_C(0x1000) * (n + (path >> n)), .pd = s.pd};
    }
    s.pc = 0x300000 + 0x1000 * path;
    if (s.pd == PDS || path % 8 == 0) {
        s.flags = MKPERF_SAMPLE_KERNEL | (s.pd == PDS ? MKPERF_SAMPLE_NO_USER : 0);
        s.kernel_pc = 0xffffff8040000000 + UINT64_C(0x1000) * (path % 4);
        chain.n = s.pd == PDS ? 0 : chain.n;
    }
    return sink->take(sink->self, MKPERF_ITEM(SAMPLE, sample, &s), e);
}

/* What happens on a core again and again; PDs are counted per core, PDS_OF_CORE is idle. */
enum { PDS_OF_CORE = PDS / CORES };
static const struct {
    enum mkperf_sched_kind kind;
    enum mkperf_sched_reason reason;
    uint32_t from, to;
} round_of_events[] = {
    {MKPERF_SCHED_SWITCH, MKPERF_STOPPED_CALLED, 0, 1},
    {MKPERF_SCHED_SWITCH, MKPERF_STOPPED_CALLED, 1, 2},
    {MKPERF_SCHED_SWITCH, MKPERF_STOPPED_REPLIED, 2, 1},
    {MKPERF_SCHED_SWITCH, MKPERF_STOPPED_REPLIED, 1, 0},
    {MKPERF_SCHED_SWITCH, MKPERF_STOPPED_WAIT_NOTIFICATION, 0, PDS_OF_CORE},
    {MKPERF_SCHED_IRQ, MKPERF_STOPPED_UNKNOWN, PDS_OF_CORE, 3},
    {MKPERF_SCHED_SWITCH, MKPERF_STOPPED_IDLE, PDS_OF_CORE, 3},
    {MKPERF_SCHED_NOTIFY, MKPERF_STOPPED_UNKNOWN, 3, 0},
    {MKPERF_SCHED_SWITCH, MKPERF_STOPPED_WAIT_NOTIFICATION, 3, 0},
};
enum { ROUND = sizeof round_of_events / sizeof *round_of_events };

static uint32_t pd_on(uint32_t core, uint32_t n)
{
    return n == PDS_OF_CORE ? PDS : core + CORES * n;
}

/* Writes event i of `events` in `ns`; cores take turns. */
static enum mkperf_status put_event(const struct mkperf_sink *sink, uint64_t i, uint64_t events,
                                    uint64_t ns, struct mkperf_error *e)
{
    uint32_t core = (uint32_t)(i % CORES);
    uint64_t step = i / CORES, width = ns / (events / CORES + 1);
    struct mkperf_sched s = {.time_ns = INTERVAL_NS + step * width + next_random() % (width + 1),
                             .core = core,
                             .kind = round_of_events[step % ROUND].kind,
                             .reason = round_of_events[step % ROUND].reason,
                             .from = pd_on(core, round_of_events[step % ROUND].from),
                             .to = pd_on(core, round_of_events[step % ROUND].to),
                             .irq = 27};

    return sink->take(sink->self, MKPERF_ITEM(SCHED, sched, &s), e);
}

static enum mkperf_status put_all(const struct mkperf_sink *sink, uint64_t n, uint64_t events,
                                  struct mkperf_error *e)
{
    struct mkperf_session session = {
        .platform = "test",
        .cpu = "",
        .cores = CORES,
        .nevents = 1,
        .max_frames = 16,
        .sched = events > 0,
        .event[0] = {
            .name = "cycles", .code = 0x11, .user = true, .kernel = true, .period = PERIOD}};
    struct mkperf_totals totals = {.samples = n, .complete = true, .sched_events = events};
    uint64_t event = 0, ns = n / CORES * INTERVAL_NS;
    char name[16];

    if (sink->take(sink->self, MKPERF_ITEM(BEGIN, session, &session), e) != MKPERF_OK) {
        return e->status;
    }
    for (uint32_t i = 0; i <= PDS; i++) {
        struct mkperf_pd pd = {
            .thread = i < PDS ? i + 2 : MKPERF_THREAD_IDLE, .id = i, .name = "idle"};
        snprintf(name, sizeof name, "component%u", (unsigned)i);
        pd.name = i < PDS ? name : pd.name;
        if (sink->take(sink->self, MKPERF_ITEM(PD, pd, &pd), e) != MKPERF_OK) {
            return e->status;
        }
    }
    for (uint64_t i = 0; i < n; i++) {
        struct mkperf_mark mark = {
            .time_ns = (1 + i / CORES) * INTERVAL_NS, .pd = (uint32_t)(i % PDS), .name = "round"};
        if (put_sample(sink, i, e) != MKPERF_OK ||
            (i % 1000 == 0 &&
             sink->take(sink->self, MKPERF_ITEM(MARK, mark, &mark), e) != MKPERF_OK)) {
            return e->status;
        }
        for (; event < events && event * n < events * (i + 1); event++) {
            if (put_event(sink, event, events, ns, e) != MKPERF_OK) {
                return e->status;
            }
        }
    }
    return sink->take(sink->self, MKPERF_ITEM(END, totals, &totals), e);
}

int main(int argc, char **argv)
{
    struct mkperf_symbols *symbols = mkperf_symbols_new();
    struct mkperf_perfdata *writer;
    struct mkperf_error e = {.status = MKPERF_OK};

    if (argc < 3 || argc > 4 || mkperf_perfdata_new(argv[1], symbols, &writer, &e) != MKPERF_OK) {
        fprintf(stderr, "many-samples OUT SAMPLES [EVENTS]: %s\n", e.text);
        return 2;
    }
    struct mkperf_sink sink = mkperf_perfdata_sink(writer);
    uint64_t events = argc == 4 ? strtoull(argv[3], NULL, 10) : 0;
    if (put_all(&sink, strtoull(argv[2], NULL, 10), events, &e) != MKPERF_OK) {
        fprintf(stderr, "many-samples: %s\n", e.text);
    }
    mkperf_perfdata_free(writer);
    mkperf_symbols_free(symbols);
    return (int)e.status;
}
