/* SPDX-License-Identifier: BSD-2-Clause */
/* What a change would bring (`mkperf flow --what-if`, `--advise`): predicted gains and loads, against a simulator with the change. */
#include <math.h>

#include "flow/flow.h"

#include "flow_pipeline.h"
#include "recording.h"

enum { MS = 1000000, PREDICTED = 20 };

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

/* Packets per second of a PD by the simulator's own count, with a change or without one. */
static double true_rate(uint64_t seed, const struct mkperf_flow_change *c, unsigned *n)
{
    sim_reset(&s, seed);
    (void)sim_random(&s, 1);
    *n = sim_random_line(&s);
    unsigned slow = (unsigned)sim_random(&s, *n);
    s.pd[slow].each += sim_random(&s, 10000);
    for (unsigned i = 0; i < *n; i++) {
        struct sim_pd *p = &s.pd[i];
        if (c == NULL || c->pd != i) {
            continue;
        }
        if (c->what == MKPERF_FLOW_CHANGE_OWN) {
            p->each = (uint64_t)((double)p->each * c->factor);
            p->random = (uint64_t)((double)p->random * c->factor);
            p->fixed = (uint64_t)((double)p->fixed * c->factor);
        } else if (c->what == MKPERF_FLOW_CHANGE_PRIORITY) {
            p->priority = (unsigned)c->value;
        }
    }
    begin();
    sim_start(&s);
    sim_run(&s, UINT64_C(400) * MS);
    sim_end(&s);
    return (double)s.pd[*n - 1].packets * 1e9 / (double)(s.now - s.begin);
}

/* The gain of a change, against the gain that the simulator measures with it. Seeds are fixed. */
static void predictions_come_true(void **state)
{
    (void)state;
    for (unsigned i = 0; i < PREDICTED; i++) {
        unsigned n;
        double before = true_rate(1000 + i, NULL, &n);
        struct mkperf_flow_limit l = mkperf_flow_limit(&f);
        struct mkperf_flow_change c = {.pd = l.by,
                                       .what = i % 4 != 3 ? MKPERF_FLOW_CHANGE_OWN
                                                          : MKPERF_FLOW_CHANGE_PRIORITY,
                                       .factor = 0.3 + 0.1 * (i % 6),
                                       .value = 255};
        struct mkperf_flow_prediction p = mkperf_flow_predict(&f, &l, &c, 1);
        end();
        double gain = 100 * (true_rate(1000 + i, &c, &n) / before - 1);
        end();
        if (fabs(p.gain - gain) > 5 || p.least > p.gain || p.most < p.gain) {
            fail_msg("case %u: predicted %g %% (%g to %g), truly %g %%", i, p.gain, p.least, p.most,
                     gain);
        }
    }
}

/* A system without queues: PDs that run every so often, one of which calls a server. `core` has the core of each. */
static void without_queues(const unsigned core[4])
{
    static const char *const name[4] = {"known", "dummy", "requester", "server"};
    static const uint64_t each[4] = {1200000, 300000, 150000, 100000};

    sim_reset(&s, 1);
    for (unsigned i = 0; i < 4; i++) {
        struct sim_pd *p = sim_add(&s, name[i], core[i], 100 + 10 * i, each[i]);
        p->hog_every = i < 3 ? UINT64_C(4) * MS >> i : 0;
        p->arrival_rand = i < 3 ? 50000 : 0;
    }
    s.ncores = 2;
    s.pd[2].callee = 3;
    begin();
    sim_run(&s, UINT64_C(2000) * MS);
    sim_end(&s);
}

/* Six placements on two cores, predicted from a recording of one core, and what the simulator measures with them. */
static void placements_without_queues(void **state)
{
    static const char *const texts[6] = {"known core 1",
                                         "dummy core 1",
                                         "requester core 1, server core 1",
                                         "known core 1, dummy core 1",
                                         "known core 1, requester core 1, server core 1",
                                         "dummy core 1, requester core 1, server core 1"};
    static const unsigned cores[6][4] = {{1, 0, 0, 0}, {0, 1, 0, 0}, {0, 0, 1, 1},
                                         {1, 1, 0, 0}, {1, 0, 1, 1}, {0, 1, 1, 1}};
    double predicted[6][2], most[6] = {0}, least = 1;
    unsigned best = 0;
    struct mkperf_error e;

    (void)state;
    without_queues((const unsigned[4]){0, 0, 0, 0});
    for (unsigned i = 0; i < 6; i++) {
        struct mkperf_flow_change change[3];
        unsigned n = 0;
        for (const char *one = texts[i]; one != NULL; one = strchr(one + 1, ',')) {
            char text[32];
            snprintf(text, sizeof text, "%.*s", (int)strcspn(one + 1, ",") + 1,
                     one + (*one == ','));
            text[strcspn(text, ",")] = '\0';
            assert_int_equal(mkperf_flow_parse(&f, text, &change[n++], &e), MKPERF_OK);
        }
        struct mkperf_flow_loads l = mkperf_flow_loads(&f, change, n);
        predicted[i][0] = l.busy[0];
        predicted[i][1] = l.busy[1];
        assert_true(l.calls_per_s == 0);
        best = l.busy[l.busiest] < least ? i : best;
        least = fmin(least, l.busy[l.busiest]);
    }
    struct mkperf_flow_change change;
    assert_int_equal(mkperf_flow_parse(&f, "server core 1", &change, &e), MKPERF_OK);
    assert_true(mkperf_flow_loads(&f, &change, 1).calls_per_s > 900);
    assert_int_equal(mkperf_flow_parse(&f, "requester calls -50%", &change, &e), MKPERF_OK);
    assert_true(mkperf_flow_loads(&f, &change, 1).busy[0] <
                mkperf_flow_loads(&f, NULL, 0).busy[0] - 0.04);
    end();
    for (unsigned i = 0; i < 6; i++) {
        without_queues(cores[i]);
        for (unsigned core = 0; core < 2; core++) {
            double load = (double)a->core[core].busy / (double)(s.now - s.begin);
            most[i] = fmax(most[i], load);
            if (fabs(load - predicted[i][core]) > 0.1 * load) {
                fail_msg("%s, core %u: predicted %g, truly %g", texts[i], core, predicted[i][core],
                         load);
            }
        }
        end();
    }
    for (unsigned i = 0; i < 6;
         i++) { /* a placement and its mirror image are equal except for chance */
        assert_true(most[best] < most[i] + 0.005);
    }
}

static void parse(const char *text, const char *problem)
{
    struct mkperf_error e = {.text = ""};
    struct mkperf_flow_change c;
    enum mkperf_status status = mkperf_flow_parse(&f, text, &c, &e);

    assert_int_equal(status, problem == NULL ? MKPERF_OK : MKPERF_ERR_USAGE);
    if (problem != NULL && strstr(e.text, problem) == NULL) {
        fail_msg("%s: %s", text, e.text);
    }
}

static void changes_as_text(void **state)
{
    struct mkperf_error e;
    struct mkperf_flow_change c;

    (void)state;
    sim_reset(&s, 1);
    sim_line(&s, 3, 1, 1000, 0, 16);
    begin();
    assert_int_equal(mkperf_flow_parse(&f, "virt own -20%", &c, &e), MKPERF_OK);
    assert_true(c.pd == 1 && c.what == MKPERF_FLOW_CHANGE_OWN && fabs(c.factor - 0.8) < 1e-9);
    assert_int_equal(mkperf_flow_parse(&f, "copy budget 500/20000", &c, &e), MKPERF_OK);
    assert_true(c.pd == 2 && c.value == 500 && c.period == 20000);
    parse("driver calls +50%", NULL);
    parse("driver batch 8", NULL);
    parse("driver core 1", NULL);
    parse("driver own", "three words");
    parse("nobody own -20%", "no PD of this name");
    parse("driver size 3", "changes are");
    parse("driver own -101%", "per cent");
    parse("driver own 20", "per cent");
    parse("driver own nan%", "per cent");
    parse("driver priority 256", "a number from 0 to 255");
    parse("driver batch 0", "a number from 1");
    parse("driver core -1", "a number from 0");
    parse("driver budget 5/x", "a number from 1");
    parse("driver own -20% copy own -90%", "commas between changes");
    parse("driver priority 0000000000000000000000000000000200", "three words");
    parse("driver budget 5/4", "above the period");
    parse("driver budget 5/", "a number from 1");
    parse("driver budget 5/-1", "a number from 1");
    parse("driver budget 5/4294967296", "a number from 1");
    end();
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(predictions_come_true),
        cmocka_unit_test(placements_without_queues),
        cmocka_unit_test(changes_as_text),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
