/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Scheduling events in perf.data: everything is read back, from a file, a pipe and a recovered file;
 * unmodified perf sched reads them. Needs perf.
 */
#include "story_recording.h"

#include <sys/stat.h>

#include "perfdata/perfdata.h"

enum { ROUNDS = 20, READINGS = 40 };

static const struct mkperf_queue queues[] = {
    {.name = "rx_active",
     .kind = "net",
     .producer = "driver",
     .consumer = "client",
     .capacity = 512,
     .index_bits = 16,
     .seen = true},
    {.name = "rx_free",
     .kind = "net",
     .consumer = "driver",
     .capacity = UINT64_C(1) << 40,
     .index_bits = 64,
     .returns = true},
};

struct back {
    struct mkperf_session session;
    uint32_t npds;
    struct mkperf_pd pd[16];
    unsigned events, samples, readings;
    struct mkperf_queue queue[2]; /* queues without texts */
    struct mkperf_queue_reading reading[READINGS];
    unsigned after[READINGS]; /* the number of events before a reading */
    struct mkperf_sched event[STORY_EVENTS];
    struct mkperf_totals totals;
    bool ended;
};

/* Checks the texts of queues, which are valid during the call. Keeps their numbers. */
static void keep_queues(struct back *b, const struct mkperf_session *s)
{
    for (unsigned i = 0; i < s->nqueues && i < 2; i++) {
        const struct mkperf_queue *q = &s->queue[i];
        assert_string_equal(q->name, queues[i].name);
        assert_string_equal(q->kind, "net");
        assert_string_equal(q->consumer, queues[i].consumer);
        assert_int_equal(q->producer == NULL, queues[i].producer == NULL);
        assert_true(q->producer == NULL || strcmp(q->producer, "driver") == 0);
        b->queue[i] = *q;
    }
}

static enum mkperf_status keep_items(void *self, const struct mkperf_item *item,
                                     struct mkperf_error *e)
{
    struct back *b = self;

    (void)e;
    switch (item->kind) {
    case MKPERF_ITEM_BEGIN:
        b->session = *item->session;
        keep_queues(b, item->session);
        break;
    case MKPERF_ITEM_PD:
        assert_true(item->pd->id < 16);
        b->pd[item->pd->id] = *item->pd;
        b->pd[item->pd->id].name = strdup(item->pd->name);
        b->npds++;
        break;
    case MKPERF_ITEM_SAMPLE:
        b->samples++;
        break;
    case MKPERF_ITEM_SCHED:
        assert_true(b->events < STORY_EVENTS);
        b->event[b->events++] = *item->sched;
        break;
    case MKPERF_ITEM_READING:
        assert_true(b->readings < READINGS);
        b->after[b->readings] = b->events;
        b->reading[b->readings++] = *item->reading;
        break;
    case MKPERF_ITEM_END:
        b->totals = *item->totals;
        b->ended = true;
        break;
    default:
        break;
    }
    return MKPERF_OK;
}

static struct back back;
static struct story story;

static const char *name_of(uint32_t pd)
{
    return pd == MKPERF_SCHED_NOBODY ? "nobody" : story_names[pd];
}

static const char *name_back(uint32_t pd)
{
    return pd == MKPERF_SCHED_NOBODY ? "nobody" : back.pd[pd].name;
}

static void read_back(const char *path)
{
    struct mkperf_sink sink = {.take = keep_items, .splits = true, .self = &back};
    struct mkperf_error e = {.text = ""};

    for (unsigned i = 0; i < 16; i++) {
        free((void *)(uintptr_t)back.pd[i].name);
    }
    memset(&back, 0, sizeof back);
    if (mkperf_perfdata_read(path, -1, &sink, &e) != MKPERF_OK) {
        fail_msg("%s", e.text);
    }
    assert_true(back.ended);
}

static struct mkperf_queue_reading reading(unsigned i)
{
    return (struct mkperf_queue_reading){.time_ns = 5000000 + 100 * i,
                                         .core = i % 2,
                                         .queue = i / 2 % 2,
                                         .head = i % 2 != 0 ? UINT64_MAX - i : i,
                                         .tail = UINT64_MAX / 3 * i};
}

/* The readings that returned, each before the event that was recorded behind it. */
static void compare_readings(unsigned n)
{
    assert_int_equal(back.session.nqueues, 2);
    for (unsigned i = 0; i < 2; i++) {
        assert_int_equal(back.queue[i].capacity, queues[i].capacity);
        assert_int_equal(back.queue[i].index_bits, queues[i].index_bits);
        assert_int_equal(back.queue[i].returns, queues[i].returns);
        assert_int_equal(back.queue[i].seen, queues[i].seen);
    }
    assert_int_equal(back.readings, n);
    assert_int_equal(back.totals.queue_readings, n);
    for (unsigned i = 0; i < n; i++) {
        struct mkperf_queue_reading r = reading(i);
        assert_memory_equal(&back.reading[i], &r, sizeof r);
        assert_int_equal(back.after[i], back.after[0] + i);
    }
}

static void compare(void)
{
    assert_true(back.session.sched);
    assert_int_equal(back.events, story.events);
    for (unsigned i = 0; i < back.events; i++) {
        const struct mkperf_sched *a = &story.kept[i], *b = &back.event[i];

        assert_int_equal(a->time_ns, b->time_ns);
        assert_int_equal(a->core, b->core);
        assert_int_equal(a->kind, b->kind);
        assert_int_equal(a->reason, b->reason);
        assert_int_equal(a->irq, b->irq);
        assert_int_equal(a->lost, b->lost);
        assert_int_equal(a->since_ns, b->since_ns);
        assert_string_equal(name_of(a->from), name_back(b->from));
        assert_string_equal(name_of(a->to), name_back(b->to));
    }
}

/* Every kind of event and reason. */
static void all_kinds(struct story *s)
{
    uint64_t t = 1000000 + 200 * (uint64_t)ROUNDS * 1000;

    for (unsigned kind = MKPERF_SCHED_CALL; kind < MKPERF_SCHED_GAP; kind++) {
        event(s, t += 100, (enum mkperf_sched_kind)kind, kind % 3);
    }
    for (unsigned reason = 0; reason < MKPERF_STOPPED_REASONS; reason++) {
        run(s, t += 100, (reason + 1) % 4, (enum mkperf_sched_reason)reason);
    }
    gap(s, t, t + 1000, 17);
    event(s, t + 1000, MKPERF_SCHED_NOTIFY, SERVER);
    run(s, t + 2000, CLIENT, MKPERF_STOPPED_PREEMPTED);
    on_core(s, 1, t + 500, IDLE, MKPERF_STOPPED_UNKNOWN);
    on_core(s, 1, t + 1500, STORE, MKPERF_STOPPED_IDLE);
}

/* Each reading precedes an event with its time. */
static void add_readings(struct story *s)
{
    for (unsigned i = 0; i < READINGS; i++) {
        struct mkperf_queue_reading r = reading(i);

        assert_int_equal(mkperf_sink_queue_reading(&s->sink, &r, &s->e), MKPERF_OK);
        on_core(s, r.core, r.time_ns, i % 4, MKPERF_STOPPED_PREEMPTED);
    }
}

static void write_story(const char *name, unsigned nevents, bool all)
{
    struct mkperf_session session = {
        .cores = all ? 2 : 1, .nevents = nevents, .nqueues = all ? 2 : 0, .queue = queues};
    struct mkperf_chain none = {.n = 0};
    struct recording r;

    snprintf(session.event[0].name, sizeof session.event[0].name, "cycles");
    session.event[0].period = 1000;
    session.event[0].user = session.event[0].kernel = true;
    story_record(&story, &r, name, &session);
    story_rounds(&story, ROUNDS);
    for (unsigned i = 0; nevents != 0 && i < ROUNDS; i++) {
        struct mkperf_sample s = {.time_ns = 1000500 + UINT64_C(100000) * i,
                                  .period = 1000,
                                  .pd = IDLE,
                                  .flags = MKPERF_SAMPLE_KERNEL | MKPERF_SAMPLE_NO_USER,
                                  .kernel_pc = 0xffff000000001000,
                                  .callers = &none};
        assert_int_equal(mkperf_sink_sample(&story.sink, &s, &r.e), MKPERF_OK);
    }
    if (all) {
        all_kinds(&story);
        add_readings(&story);
    }
    struct mkperf_totals t = {.samples = nevents * ROUNDS,
                              .sched_events = story.events - all,
                              .first_ns = story.first,
                              .last_ns = story.last,
                              .complete = true};
    t.sched_lost[MKPERF_LOST_RING] = 17;
    t.sched_overwritten = 5;
    assert_int_equal(story.sink.take(story.sink.self, MKPERF_ITEM(END, totals, &t), &r.e),
                     MKPERF_OK);
    recording_free(&r);
}

static void comes_back(void **state)
{
    (void)state;
    for (unsigned nevents = 0; nevents <= 1; nevents++) {
        write_story("all.data", nevents, true);
        read_back(recording_path("all.data"));
        compare();
        compare_readings(READINGS);
        assert_int_equal(back.session.nevents, nevents);
        assert_int_equal(back.samples, nevents * ROUNDS);
        assert_int_equal(back.totals.sched_events, story.events - 1);
        assert_int_equal(back.totals.sched_lost[MKPERF_LOST_RING], 17);
        assert_int_equal(back.totals.sched_overwritten, 5);
        assert_true(back.totals.complete);
        for (uint32_t i = 0; i < back.npds; i++) {
            bool idle = strcmp(back.pd[i].name, "idle") == 0;
            assert_int_equal(back.pd[i].scheduling.known, !idle);
            if (strcmp(back.pd[i].name, "driver") == 0) {
                assert_int_equal(back.pd[i].scheduling.priority, 200);
                assert_int_equal(back.pd[i].scheduling.budget_us, 2000);
                assert_int_equal(back.pd[i].scheduling.period_us, 10000);
            }
        }
    }
}

static void comes_back_from_a_pipe(void **state)
{
    char command[700];

    (void)state;
    for (unsigned nevents = 0; nevents <= 1; nevents++) {
        unlink(recording_path("fifo"));
        assert_int_equal(mkfifo(recording_path("fifo"), 0600), 0);
        snprintf(command, sizeof command, "cat %s", recording_path("fifo"));
        snprintf(command + strlen(command), 300, " >%s", recording_path("pipe.data"));
        FILE *reader = popen(command, "r");
        assert_non_null(reader);
        write_story("fifo", nevents, true);
        assert_int_equal(pclose(reader), 0);
        read_back(recording_path("pipe.data"));
        compare();
        compare_readings(READINGS);
        assert_int_equal(back.samples, nevents * ROUNDS);
    }
}

/* Finishes recording `name` as if its writer had died `less` bytes before the end, as whole.data. */
static void recover_killed(const char *name, unsigned less, struct mkperf_totals *totals)
{
    struct mkperf_error e = {.text = ""};

    free(recording_shell("f=%s; cp $f $f.cut; dd if=/dev/zero of=$f.cut bs=1 seek=48 count=8 "
                         "conv=notrunc status=none; truncate -s -%u $f.cut; mv $f.cut %s/cut",
                         recording_path(name), less, recording_dir));
    if (mkperf_perfdata_recover(recording_path("cut"), recording_path("whole.data"), totals, &e) !=
        MKPERF_OK) {
        fail_msg("%s", e.text);
    }
    read_back(recording_path("whole.data"));
    assert_int_equal(totals->sched_events, back.totals.sched_events);
}

/* Of a writer that died in the middle of a record. */
static void comes_back_recovered(void **state)
{
    struct mkperf_totals totals;

    (void)state;
    write_story("all.data", 0, true);
    recover_killed("all.data", 2500, &totals);
    assert_true(totals.sched_events > story.events / 2 && totals.sched_events < story.events);
    assert_int_equal(totals.samples, 0);
    story.events = back.events;
    compare();
    assert_true(back.readings > 0 && back.readings < READINGS);
    assert_int_equal(totals.queue_readings, back.readings);
    compare_readings(back.readings);
}

/* Returns what perf prints of a recording; it must not complain. */
static char *perf(const char *arguments, const char *name)
{
    char *text = recording_shell("cd %s && perf %s -i %s 2>%s/err", recording_dir, arguments,
                                 recording_path(name), recording_dir);
    char *complaint = recording_shell(
        "grep -Ev '^(Samples do not have callchains|Written )' %s/err", recording_dir);

    assert_string_equal(complaint, "");
    free(complaint);
    return text;
}

/* A line of `text` that has all the words. */
static void has_line(const char *text, const char *a, const char *b, const char *c)
{
    const char *line = text;

    while (line != NULL && *line != '\0') {
        char copy[512];

        snprintf(copy, sizeof copy, "%.*s", (int)strcspn(line, "\n"), line);
        if (strstr(copy, a) != NULL && strstr(copy, b) != NULL && strstr(copy, c) != NULL) {
            return;
        }
        line = strchr(line, '\n');
        line = line != NULL ? line + 1 : NULL;
    }
    fail_msg("no line with '%s', '%s' and '%s' in:\n%s", a, b, c, text);
}

static void perf_sched_reads_it(void **state)
{
    (void)state;
    for (unsigned nevents = 0; nevents <= 1; nevents++) {
        write_story("perf.data", nevents, false);
        char *text = perf("sched latency -p", "perf.data");
        /* 20 rounds: 2 runs of 20 us in all, 1 us after its interrupt */
        has_line(text, "driver", "0.100 ms", "20");
        has_line(text, "driver", "avg:   0.001 ms", "max:   0.001 ms");
        has_line(text, "store", "0.400 ms", "|");
        has_line(text, "server", "0.260 ms", "|");
        has_line(text, "client", "0.180 ms", "|");
        free(text);
        text = perf("sched timehist --state", "perf.data");
        has_line(text, "driver", "0.001", "0.005");
        has_line(text, "client", "0.007", "D");
        has_line(text, "client", "0.002", "S");
        free(text);
        text = perf("sched timehist -s", "perf.data");
        has_line(text, "server[2]", "40", "0.260");
        free(text);
        text = perf("sched map", "perf.data");
        has(text, "=> driver:4");
        free(text);
        text = perf("script", "perf.data");
        has(text, "prev_comm=client prev_pid=1 prev_prio=50 prev_state=2 ==> next_comm=server "
                  "next_pid=2 next_prio=100 reason=called");
        has(text, "mkperf:sched: irq comm=driver pid=4 irq=33");
        has(text, "comm=driver pid=4 prio=200 target_cpu=000");
        has(text, "comm=store pid=3 runtime=400000 [ns] vruntime=400000 [ns]");
        free(text);
        free(perf("timechart -o chart.svg", "perf.data"));
        assert_int_equal(access(recording_path("chart.svg"), R_OK), 0);
    }
    char *stats = recording_shell("perf report --stats -i %s", recording_path("perf.data"));
    has(stats, "sched:sched_switch stats:");
    free(stats);
}

/* perf prints readings. */
static void perf_prints_readings(void **state)
{
    (void)state;
    write_story("queues.data", 1, true);
    char *text = recording_shell("perf script -i %s 2>&1", recording_path("queues.data"));
    has(text, "mkperf:queue: queue=0 head=18446744073709551614 tail=6148914691236517205");
    has(text, "mkperf:sched: ");
    free(text);
}

static void lock(struct story *s, uint64_t ns, enum mkperf_sched_kind kind, uint32_t core)
{
    story_pass(s, (struct mkperf_sched){.time_ns = ns,
                                        .core = core,
                                        .kind = kind,
                                        .from = s->running[core],
                                        .to = s->running[core]});
}

/* Waiting for the kernel's lock: the client on core 0 waits 2 us each time, the server on core 1
 * 5 us. */
static void perf_lock_reads_it(void **state)
{
    struct mkperf_session session = {.cores = 2, .kernel_elf = recording_path("kernel.elf")};
    struct recording r;
    uint64_t t = 1000000;

    (void)state;
    story_record(&story, &r, "lock.data", &session);
    on_core(&story, 0, t, CLIENT, MKPERF_STOPPED_UNKNOWN);
    on_core(&story, 1, t, SERVER, MKPERF_STOPPED_UNKNOWN);
    for (unsigned i = 0; i < ROUNDS; i++, t += 20000) {
        lock(&story, t + 1000, MKPERF_SCHED_LOCK_WAIT, 0);
        lock(&story, t + 2000, MKPERF_SCHED_LOCK_WAIT, 1);
        lock(&story, t + 3000, MKPERF_SCHED_LOCK, 0);
        lock(&story, t + 7000, MKPERF_SCHED_LOCK, 1);
    }
    story_end(&story);
    recording_free(&r);
    read_back(recording_path("lock.data"));
    compare();
    char *text = recording_shell("perf lock contention -t -i %s 2>&1", recording_path("lock.data"));
    has_line(text, "20", "100.00 us", "server");
    has_line(text, "20", "40.00 us", "client");
    free(text);
    text = recording_shell("perf lock contention -i %s 2>&1", recording_path("lock.data"));
    has_line(text, "40", "140.00 us", "take_lock"); /* by the function that takes the lock */
    free(text);
    free(perf("sched timehist", "lock.data"));
    struct mkperf_totals totals;
    recover_killed("lock.data", 0, &totals);
    compare();
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(comes_back),           cmocka_unit_test(comes_back_from_a_pipe),
        cmocka_unit_test(comes_back_recovered), cmocka_unit_test(perf_sched_reads_it),
        cmocka_unit_test(perf_lock_reads_it),   cmocka_unit_test(perf_prints_readings),
    };

    return cmocka_run_group_tests(tests, recording_setup, recording_teardown);
}
