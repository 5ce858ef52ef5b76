/* SPDX-License-Identifier: BSD-2-Clause */
/* Queues and throughput: counts, occupancy, Little's law, and what limits, against a simulator that knows the truth. */
#include <math.h>
#include <time.h>

#include "flow/flow.h"

#include "perfdata/perfdata.h"
#include "profile/profile.h"
#include "report/report.h"

#include "flow_pipeline.h"
#include "recording.h"

#include "hostile_text.h"

enum { MS = 1000000, PLANTED = 20, LOADED = 10 };

static struct sim s;
static struct mkperf_analysis *a;
static struct mkperf_flow f;

static void begin(void)
{
    a = mkperf_analysis_new();
    mkperf_flow_init(&f, a);
    sim_begin(&s, mkperf_flow_sink(&f));
}

static void end(void)
{
    mkperf_flow_free(&f);
    mkperf_analysis_free(a);
}

static const struct mkperf_flow_stage *stage_of(unsigned pd)
{
    for (unsigned i = 0; i < f.nstages; i++) {
        if (f.stage[i].pd == pd) {
            return &f.stage[i];
        }
    }
    return NULL;
}

/* Compares all counts with the truth. Queues with more than one entry on average are within `near` of their true occupancy. */
static void compare(double near)
{
    for (unsigned i = 0; i < s.nqueues; i++) {
        const struct mkperf_flow_queue *q = &f.queue[i];
        const struct sim_queue *t = &s.queue[i];
        double mean = q->area / (double)q->known_ns, truth = t->area / (double)(s.now - s.begin);
        double stay = (double)q->stay.total / (double)q->stay.count;
        double truly = t->stayed / (double)t->left;
        double rate = (double)q->consumed / (double)q->known_ns;

        assert_int_equal(q->now, t->tail - t->head);
        assert_int_equal(q->produced + q->first, q->consumed + q->now);
        assert_int_equal(q->consumed, t->left);
        assert_int_equal(q->produced, s.pd[t->producer].packets);
        assert_int_equal(q->unknown + q->implausible, 0);
        assert_true(fabs(q->area - t->area) <= q->doubt * 1.001 + 1);
        assert_true(q->most <= t->capacity);
        if (truth > 1 && (fabs(mean - truth) > near * truth || fabs(stay - truly) > near * truly)) {
            fail_msg("%s: mean %g, truly %g; stay %g, truly %g", t->name, mean, truth, stay, truly);
        }
        if (mean > 0.1 && fabs(mean - rate * stay) > 0.01 * mean) {
            fail_msg("%s: mean %g, rate * stay %g", t->name, mean, rate * stay);
        }
    }
    for (unsigned i = 0; i < s.npds; i++) {
        const struct mkperf_flow_stage *stage = stage_of(i);
        const struct sim_pd *p = &s.pd[i];

        if (stage != NULL) {
            assert_true(mkperf_flow_packets(stage) - p->packets <= 1); /* one packet is in work */
            assert_true(p->activations - stage->activations <=
                        2); /* the first one and the last one */
            assert_true(stage->packets.max <= p->most_in_activation + 1);
            assert_int_equal(stage->in_state[MKPERF_PD_RUNNING], p->ran);
        }
    }
}

/* Returns the number of a column of the tables, by its name. */
static unsigned column(const char *name)
{
    unsigned n = 0;
    const char *at = strstr(report_flow_columns, name);

    assert_non_null(at);
    for (const char *c = report_flow_columns; c < at; c++) {
        n += *c == ' ';
    }
    return n;
}

static struct mkperf_flow_limit run_for(uint64_t ms)
{
    begin();
    sim_start(&s);
    sim_run(&s, ms * MS);
    sim_end(&s);
    return mkperf_flow_limit(&f);
}

/* Five PDs on one core and on two cores, with random work and an open load. */
static void a_pipeline_of_five(void **state)
{
    (void)state;
    for (unsigned cores = 1; cores <= 2; cores++) {
        sim_reset(&s, cores);
        sim_line(&s, 5, cores, 2000, 1000, 128);
        for (unsigned i = 0; i < 5; i++) {
            s.pd[i].random = 1000;
            s.pd[i].fixed = 500;
        }
        s.pd[0].arrival = cores == 1 ? 25000 : 14000;
        s.pd[0].arrival_rand = 10000;
        struct mkperf_flow_limit l = run_for(1000);
        compare(0.05);
        assert_int_equal(l.cause, MKPERF_FLOW_LOAD);
        end();
    }
}

/* The source always has packets: the queue before the slow PD is full, that behind it is empty. */
static void a_slow_pd(void **state)
{
    (void)state;
    for (unsigned slow = 0; slow < 4; slow++) {
        sim_reset(&s, slow);
        sim_line(&s, 4, 4, 3000, 0, 64);
        s.pd[slow].each = 5000;
        s.pd[slow].random = 500;
        s.pd[slow].batch = 16;
        struct mkperf_flow_limit l = run_for(500);
        compare(0.05);
        assert_int_equal(l.cause, MKPERF_FLOW_OWN);
        assert_int_equal(l.by, slow);
        assert_true(l.share > 0.99);
        assert_true(fabs(l.rate - 1e9 / 5250) < 0.01 * l.rate);
        assert_true(l.next >= 0 && fabs(l.next_share - 3000.0 / 5250) < 0.02);
        if (slow > 0) {
            assert_int_equal(l.full, slow - 1);
            assert_true(f.queue[l.full].area / (double)f.queue[l.full].known_ns > 40);
            assert_in_range(mkperf_log_quantile(&f.queue[l.full].filled, 990), 40, 64);
        }
        if (slow < 3) {
            assert_int_equal(l.empty, slow);
        }
        end();
    }
}

/* The same figures from a file. */
static void through_a_file(void **state)
{
    struct mkperf_error e = {.text = ""};
    struct recording r;

    (void)state;
    sim_reset(&s, 7);
    sim_line(&s, 4, 2, 3000, 0, 64);
    s.pd[2].each = 9000;
    recording_new(&r, "flow.data");
    sim_begin(&s, r.sink);
    sim_start(&s);
    sim_run(&s, UINT64_C(300) * MS);
    sim_end(&s);
    recording_free(&r);
    a = mkperf_analysis_new();
    mkperf_flow_init(&f, a);
    struct mkperf_sink sink = mkperf_flow_sink(&f);
    if (mkperf_perfdata_read(recording_path("flow.data"), -1, &sink, &e) != MKPERF_OK) {
        fail_msg("%s", e.text);
    }
    compare(0.05);
    struct mkperf_flow_limit l = mkperf_flow_limit(&f);
    assert_string_equal(mkperf_analysis_name(a, l.by), "copy");
    char *text = NULL;
    size_t size = 0;
    FILE *to = mkperf_memstream_open(&text, &size);
    mkperf_flow_sentence(&f, &l, to);
    mkperf_memstream_close(to);
    assert_ptr_equal(strstr(text, "copy limits: it is busy for 8"), text);
    free(text);
    report_flow_sort(&f, column("own"));
    assert_string_equal(f.stage[0].name, "copy");
    report_flow_sort(&f, column("mean"));
    for (unsigned i = 0; i + 1 < f.nqueues; i++) {
        assert_true(f.queue[i].area / (double)f.queue[i].known_ns >=
                    f.queue[i + 1].area / (double)f.queue[i + 1].known_ns);
    }
    report_flow_sort(&f, column("change"));
    for (unsigned i = 0; i + 1 < f.nqueues; i++) {
        assert_true((int64_t)(f.queue[i].now - f.queue[i].first) >=
                    (int64_t)(f.queue[i + 1].now - f.queue[i + 1].first));
    }
    end();
    struct mkperf_profile p = {.times = true, .keep_schedule = true, .events_suffice = true};
    sink = mkperf_profile_sink(&p);
    assert_int_equal(mkperf_perfdata_read(recording_path("flow.data"), -1, &sink, &e), MKPERF_OK);
    assert_int_equal(p.fills.fills, s.readings);
    assert_string_equal(p.fills.queue[2].consumer, "echo");
    const struct mkperf_queue_fill *last = &p.fills.fill[p.fills.fills - 1];
    assert_int_equal(last->entries, s.queue[last->queue].tail - s.queue[last->queue].head);
    struct mkperf_queue_reading bad = {.time_ns = UINT64_MAX, .queue = 1, .head = 1, .tail = 0};
    for (unsigned i = 0; i < 1200000; i++) { /* of so many readings every fourth one is kept */
        mkperf_fills_add(&p.fills, &bad);
    }
    assert_true(p.fills.step == 4 && p.fills.fills < 1 << 19 && p.fills.fills > 1 << 18);
    assert_true(p.fills.fill[p.fills.fills - 1].entries == MKPERF_FILL_UNKNOWN);
    bad.queue = 99; /* there is no such queue */
    mkperf_fills_add(&p.fills, &bad);
    mkperf_profile_free(&p);
    CHECK_JSON(flow, "limit stage queue", recording_path("flow.data"), "--json");
    CHECK_JSON(flow, "limit stage queue", recording_path("flow.data"), "--json", "--sort=stay",
               "--time=20%-80%");
    int status;
    assert_non_null(strstr(RUN(flow, &status, "--time=90,", recording_path("flow.data")),
                           "the recording has no switch in this time"));
    assert_int_not_equal(status, 0);
    check_rows(RUN_ONCE(flow, &status, "--json", "--advise", recording_path("flow.data")),
               "prediction");
    assert_int_equal(status, 0);
}

/* A recording of a line of PDs for 100 ms, with n samples of `copy`, which has work for `each` ns for each packet. */
static void record_samples(const char *name, uint64_t each, unsigned n)
{
    struct mkperf_chain none = {.n = 0};
    struct recording r;

    sim_reset(&s, 7);
    sim_line(&s, 4, 2, 3000, 0, 64);
    s.pd[2].each = each;
    s.sampled = true;
    recording_new(&r, name);
    sim_begin(&s, r.sink);
    sim_start(&s);
    sim_run(&s, UINT64_C(100) * MS);
    for (unsigned i = 0; i < n; i++) {
        const struct mkperf_sample sample = {
            .time_ns = s.now, .period = 1000, .pd = i % 2 == 0 ? 2 : 3, .callers = &none};
        assert_int_equal(mkperf_sink_sample(&r.sink, &sample, &r.e), MKPERF_OK);
    }
    sim_end(&s);
    recording_free(&r);
}

/* Costs per packet: the numbers of packets are the simulator's. */
static void costs(void **state)
{
    uint64_t packets[2];
    char wanted[64];
    int status;

    (void)state;
    record_samples("fast.data", 3000, 400);
    packets[0] = s.pd[3].packets;
    record_samples("slow.data", 9000, 400);
    packets[1] = s.pd[3].packets;
    char *text = RUN(diff, &status, "--per", "packets:echo", recording_path("fast.data"),
                     recording_path("slow.data"));
    const char *at = strstr(text, "cycles per packets:echo, of which there are ");
    assert_non_null(at);
    double counted[2] = {strtod(strstr(at, "are ") + 4, NULL),
                         strtod(strstr(at, "and ") + 4, NULL)};
    for (unsigned i = 0; i < 2; i++) { /* a packet may have begun at an end of the recording */
        assert_true(fabs(counted[i] - (double)packets[i]) <= 1);
    }
    assert_true(packets[0] > 2 * packets[1]);
    snprintf(wanted, sizeof wanted, "%12.6g %12.6g", 200000 / counted[0], 200000 / counted[1]);
    has(text, wanted);
}

static void explain(const struct mkperf_flow_limit *l, uint64_t seed, unsigned kind,
                    unsigned planted)
{
    for (unsigned i = 0; i < s.npds; i++) {
        const struct mkperf_flow_stage *stage = stage_of(i);
        uint64_t total = stage != NULL ? mkperf_flow_known(stage) : 0;
        const struct mkperf_sched_pd *p = &a->pd[i];
        print_message(
            "%s core %u priority %u each %g us batch %u: busy %g, ran %g ready %g calls %g\n",
            s.pd[i].name, s.pd[i].core, s.pd[i].priority, (double)s.pd[i].each / 1e3, s.pd[i].batch,
            total != 0 ? (double)mkperf_flow_busy(stage) / (double)total : 0,
            (double)p->in[MKPERF_PD_RUNNING] / (double)(s.now - s.begin),
            (double)p->in[MKPERF_PD_READY] / (double)(s.now - s.begin),
            (double)p->in[MKPERF_PD_CALLING] / (double)(s.now - s.begin));
    }
    for (unsigned i = 0; i < s.nqueues; i++) {
        const struct mkperf_flow_queue *q = &f.queue[i];
        print_message("%s of %g: mean %g full %g empty %g\n", q->about.name,
                      (double)q->about.capacity, q->area / (double)q->known_ns,
                      (double)q->full_ns / (double)q->known_ns,
                      (double)q->empty_ns / (double)q->known_ns);
    }
    print_message("seed %" PRIu64 ": planted kind %u at %s; found %s, %s, share %g\n", seed, kind,
                  s.pd[planted].name, mkperf_flow_cause_names[l->cause],
                  l->by < s.npds ? s.pd[l->by].name : "-", l->share);
}

/* Limits that are planted so that they take at least twice what the rest of the line takes. Returns how many are not named. */
static unsigned missed_limits(uint64_t base)
{
    enum { OWN, CALLS, BUDGET, PRIORITY, KINDS };
    unsigned missed = 0;

    for (unsigned i = 0; i < PLANTED; i++) {
        unsigned kind = i % KINDS;
        sim_reset(&s, base + i);
        (void)sim_random(&s, 1);
        unsigned n = sim_random_line(&s), planted = (unsigned)sim_random(&s, n), by = planted;
        struct sim_pd *p = &s.pd[planted];
        if (kind == OWN) {
            p->each = 40000 + sim_random(&s, 20000);
        } else if (kind == CALLS) {
            sim_add(&s, "timer", p->core, 255, 40000 + sim_random(&s, 20000));
            p->callee = (int)n;
            by = n;
        } else if (kind == BUDGET) {
            p->period = 10 * MS;
            p->budget = 500000;
        } else {
            struct sim_pd *hog = sim_add(&s, "hog", p->core, 255, 950000);
            hog->hog_every = 1 * MS;
            by = n;
        }
        struct mkperf_flow_limit l = run_for(200);
        bool named = l.by == by;
        named = named &&
                (kind == OWN      ? l.cause == MKPERF_FLOW_OWN || l.cause == MKPERF_FLOW_CORE
                 : kind == CALLS  ? l.cause == MKPERF_FLOW_CALLS || l.cause == MKPERF_FLOW_CORE
                 : kind == BUDGET ? l.cause == MKPERF_FLOW_BUDGET
                                  : l.cause == MKPERF_FLOW_PRIORITY);
        if (!named) {
            explain(&l, base + i, kind, planted);
            missed++;
        }
        end();
    }
    return missed;
}

/* The load is at most 70 % of what the busiest core can do. Returns how often something else is named. */
static unsigned missed_loads(uint64_t base)
{
    unsigned missed = 0;

    for (unsigned i = 0; i < LOADED; i++) {
        uint64_t needs[SIM_CORES] = {0}, most = 0;
        sim_reset(&s, base + i);
        (void)sim_random(&s, 1);
        unsigned n = sim_random_line(&s);
        for (unsigned k = 0; k < n; k++) {
            needs[s.pd[k].core] += s.pd[k].each + s.pd[k].random + s.pd[k].fixed;
            most = needs[s.pd[k].core] > most ? needs[s.pd[k].core] : most;
        }
        s.pd[0].arrival = most;
        s.pd[0].arrival_rand = most + sim_random(&s, 3 * most);
        struct mkperf_flow_limit l = run_for(200);
        if (l.cause != MKPERF_FLOW_LOAD) {
            explain(&l, base + i, 99, 0);
            missed++;
        }
        end();
    }
    return missed;
}

/*
 * All are named with fixed seeds. With seeds that differ in each run, three may be missed: of 1,800 lines none was, so that with
 * 95 % confidence less than 1 of 600 is, and the odds of four in 20 are below 10^-7.
 */
static void limits_are_named(void **state)
{
    (void)state;
    assert_int_equal(missed_limits(1), 0);
    assert_int_equal(missed_loads(1), 0);
    assert_true(missed_limits((uint64_t)time(NULL) * 1000) <= 3);
    assert_true(missed_loads((uint64_t)time(NULL) * 1000 + 500) <= 3);
}

static double per_capacity(unsigned queue)
{
    const struct mkperf_flow_queue *q = &f.queue[queue];

    return q->area / (double)q->known_ns / (double)q->about.capacity;
}

/* A part of a recording: the PD that runs all the time is known from its begin on. */
static void a_part_of_the_time(void **state)
{
    (void)state;
    sim_reset(&s, 3);
    sim_line(&s, 3, 3, 3000, 0, 64);
    s.pd[1].each = 30000;
    s.pd[1].batch = 16;
    a = mkperf_analysis_new();
    mkperf_flow_init(&f, a);
    f.from_ns = UINT64_C(101) * MS;
    f.to_ns = UINT64_C(151) * MS;
    sim_begin(&s, mkperf_flow_sink(&f));
    sim_start(&s);
    sim_run(&s, UINT64_C(200) * MS);
    sim_end(&s);
    struct mkperf_flow_limit l = mkperf_flow_limit(&f);
    const uint64_t span = f.last_ns - f.first_ns;
    assert_int_equal(l.by, 1);
    assert_true(f.first_ns >= UINT64_C(101) * MS && f.first_ns < UINT64_C(105) * MS);
    assert_true(f.last_ns <= f.to_ns && f.last_ns > f.to_ns - 4 * MS);
    assert_true(fabs(l.rate - 1e9 / 30000) < 0.01 * l.rate && l.share > 0.999);
    for (unsigned i = 0; i < f.nstages; i++) { /* the state of each PD is known from the begin on */
        assert_int_equal(mkperf_flow_known(&f.stage[i]), span);
    }
    assert_int_equal(a->core[1].busy, span);
    for (unsigned i = 0; i < f.nqueues;
         i++) { /* so are the entries of a queue that never changes */
        const struct mkperf_flow_queue *q = &f.queue[i];
        assert_int_equal(q->known_ns, span);
        assert_int_equal(q->produced + q->first, q->consumed + q->now);
        assert_true(fabs((double)q->consumed * 30000 - (double)span) < 0.05 * (double)span);
    }
    assert_true(per_capacity(0) > 0.8 && per_capacity(1) < 0.2);
    end();
}

static void read_queue(uint64_t time, uint64_t head, uint64_t tail)
{
    const struct mkperf_queue_reading r = {.time_ns = time, .head = head, .tail = tail};
    const struct mkperf_sched event = {.time_ns = time, .to = 0, .from = MKPERF_SCHED_NOBODY};

    assert_int_equal(mkperf_sink_queue_reading(&s.sink, &r, &s.e), MKPERF_OK);
    assert_int_equal(mkperf_sink_sched(&s.sink, &event, &s.e), MKPERF_OK);
}

static void one_queue(unsigned bits, uint64_t capacity)
{
    sim_reset(&s, 1);
    sim_line(&s, 2, 1, 1000, 0, capacity);
    s.queue[0].bits = bits;
    begin();
}

/* What a hostile component writes is counted as implausible, changes no count, and is no reason to stop. */
static void indices_of_a_hostile_component(void **state)
{
    const struct mkperf_flow_queue *q;

    (void)state;
    one_queue(16, 512);
    q = &f.queue[0];
    read_queue(1000, 10, 700); /* more than the capacity, at once */
    assert_false(q->began);
    read_queue(2000, 65530, 65535);
    read_queue(3000, 65533, 4); /* wraps */
    assert_int_equal(q->produced, 5);
    assert_int_equal(q->consumed, 3);
    assert_int_equal(q->now, 7);
    read_queue(4000, 65533, 2); /* an index moves backwards */
    assert_int_equal(q->implausible, 2);
    read_queue(5000, 65533, 2 + 600); /* more entries than the capacity */
    assert_int_equal(q->implausible, 3);
    read_queue(6000, 65533, 10);
    assert_int_equal(q->implausible, 3);
    assert_int_equal(q->produced, 5 + 8);
    assert_int_equal(q->produced + q->first, q->consumed + q->now);
    end();
    for (unsigned bits = 8; bits <= 64; bits *= 2) {
        one_queue(bits, bits == 64 ? UINT64_MAX : UINT64_MAX >> (64 - bits));
        q = &f.queue[0];
        for (uint64_t i = 0; i < 20000; i++) {
            uint64_t head = sim_random(&s, UINT64_C(1) << 31) << 33 | sim_random(&s, 1 << 30);
            read_queue(1000 + 10 * i, head,
                       i % 3 != 0 ? head + i % 100 : sim_random(&s, 1 << 30) << 34);
            assert_int_equal(q->produced + q->first, q->consumed + q->now);
        }
        assert_int_equal(q->readings, 20000);
        mkperf_flow_limit(&f);
        end();
    }
}

/* 16 bits wrap after 43 ms at 1.5 million entries per second: a longer pause makes the counts unknown. */
static void a_pause_in_which_an_index_may_wrap(void **state)
{
    const struct mkperf_flow_queue *q;

    (void)state;
    one_queue(16, 512);
    q = &f.queue[0];
    read_queue(1000000, 0, 0);
    read_queue(41000000, 60000, 60100); /* 40 ms: as many as that are possible */
    assert_int_equal(q->unknown, 0);
    assert_int_equal(q->produced, 60100);
    read_queue(91000000, 60300, 60400);
    assert_int_equal(q->unknown, 1);
    assert_int_equal(q->produced, 60100);
    assert_int_equal(q->unknown_ns, 50000000);
    read_queue(92000000, 60400, 60450);
    assert_int_equal(q->produced, 60150);
    assert_int_equal(q->consumed, 60100);
    const struct mkperf_sched notified = {
        .time_ns = 140000000, .kind = MKPERF_SCHED_NOTIFY, .from = 0, .to = 1};
    assert_int_equal(mkperf_sink_sched(&s.sink, &notified, &s.e), MKPERF_OK);
    mkperf_flow_settle(&f); /* the settled state is no reading */
    read_queue(141000000, 60500, 60600);
    assert_int_equal(q->unknown, 2);
    assert_int_equal(q->produced, 60150);
    end();
}

/* What top shows: sums that are settled often are those of the whole, and so are the sums of parts. */
static void live(void **state)
{
    uint64_t known = 0, packets = 0;

    (void)state;
    for (unsigned parts = 0; parts < 2; parts++) {
        sim_reset(&s, 5);
        sim_line(&s, 3, 3, 3000, 0, 64);
        s.pd[1].each = 30000;
        s.pd[1].batch = 16;
        begin();
        sim_start(&s);
        known = packets = 0;
        for (unsigned i = 0; i < 20; i++) {
            sim_run(&s, UINT64_C(5) * MS + 777);
            mkperf_flow_settle(&f);
            struct mkperf_flow_limit l = mkperf_flow_limit(&f);
            assert_int_equal(l.stage, 1);
            assert_int_equal(f.queue[0].known_ns, f.last_ns - f.queue[0].first_ns);
            if (parts) {
                known += f.queue[0].known_ns;
                packets += f.queue[0].consumed;
                f.from_ns = 1;
            }
        }
        if (parts == 0) {
            sim_end(&s);
            compare(0.06);
        } else { /* a part begins at a switch, at most 16 packets after the end of the one before */
            assert_true(known > UINT64_C(100) * MS - 20 * UINT64_C(16 * 30000 + 777));
            assert_true(fabs((double)packets * 30000 - (double)known) < 0.05 * (double)known);
        }
        end();
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_pipeline_of_five),
        cmocka_unit_test(a_slow_pd),
        cmocka_unit_test(through_a_file),
        cmocka_unit_test(costs),
        cmocka_unit_test(a_part_of_the_time),
        cmocka_unit_test(indices_of_a_hostile_component),
        cmocka_unit_test(a_pause_in_which_an_index_may_wrap),
        cmocka_unit_test(live),
        cmocka_unit_test(limits_are_named),
    };

    return cmocka_run_group_tests(tests, recording_setup, recording_teardown);
}
