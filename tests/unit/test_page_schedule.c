/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Scheduling events in the data of mkperf view's page: intervals of each PD and state, calls and gaps
 * of a known story, as the page reads them; and of a running target the newest part of it.
 */
#include <inttypes.h>

#include "sched_story.h"

#include "page/page.h"
#include "view/view.h"

enum { ROUNDS = 3 };

static struct mkperf_profile profile;
static struct mkperf_frames frames;
static struct page_bytes data;
static char *json;
static struct story story;

/* A profile of a session without events that are sampled, with a gap behind the rounds. */
static int setup(void **state)
{
    struct mkperf_session session = {.platform = "test", .cpu = ""};

    (void)state;
    memset(&profile, 0, sizeof profile);
    profile.cores = profile.times = profile.keep_schedule = true;
    story_begin(&story, mkperf_profile_sink(&profile), &session);
    story_rounds(&story, ROUNDS);
    gap(&story, 1000000 + ROUNDS * 100000, 2000000, 7);
    run(&story, 2000000, SERVER, MKPERF_STOPPED_UNKNOWN);
    run(&story, 2050000, IDLE, MKPERF_STOPPED_WAIT_MESSAGE);
    story_end(&story);
    assert_int_equal(mkperf_profile_order(&profile, &story.e), MKPERF_OK);
    frames = (struct mkperf_frames){.profile = &profile};
    const struct page_input in = page_input_of(&frames, "story");
    data = page_data_make(&in);
    uint32_t length = data.p[8] | (uint32_t)data.p[9] << 8 | (uint32_t)data.p[10] << 16;
    json = strndup((const char *)data.p + 12, length);
    return 0;
}

static int teardown(void **state)
{
    (void)state;
    free(json);
    page_bytes_free(&data);
    mkperf_frames_close(&frames);
    mkperf_profile_free(&profile);
    return 0;
}

/* Returns a value of a column; its length in *n. */
static uint64_t column(const char *name, size_t i, size_t *n)
{
    char key[32], type[4] = "";
    size_t offset = 0, first = (12 + strlen(json) + 7) / 8 * 8;
    uint64_t value = 0;

    snprintf(key, sizeof key, "\"%s\":[", name);
    const char *at = strstr(json, key);
    assert_non_null(at);
    assert_int_equal(sscanf(at + strlen(key), "\"%3[a-z0-9]\",%zu,%zu", type, &offset, n), 3);
    assert_true(i < *n || *n == 0);
    unsigned size = (unsigned)atoi(type + 1) / 8;
    assert_in_range(size, 1, 4); /* nothing here needs more */
    for (unsigned byte = 0; byte < size && i < *n; byte++) {
        value |= (uint64_t)data.p[first + offset + i * size + byte] << 8 * byte;
    }
    return value;
}

/* Returns the ns and the number of the intervals of a PD in a state; checks that a list's do not overlap. */
static uint64_t in_state(uint32_t pd, const char *state, size_t *count)
{
    char key[64];
    size_t first = 0, columns;
    uint64_t sum = 0;

    *count = 0;
    snprintf(key, sizeof key, "{\"pd\":%u,\"state\":\"%s\",\"core\":0,", (unsigned)pd, state);
    const char *at = strstr(json, key);
    if (at == NULL) {
        return 0;
    }
    assert_int_equal(sscanf(at + strlen(key), "\"first\":%zu,\"n\":%zu}", &first, count), 2);
    for (size_t i = first; i < first + *count; i++) {
        assert_true(column("i_length", i, &columns) > 0);
        sum += column("i_length", i, &columns);
    }
    return sum;
}

static void check_state(uint32_t pd, const char *state, uint64_t ns, size_t count)
{
    size_t n;
    uint64_t sum = in_state(pd, state, &n);

    if (sum != ns || n != count) {
        fail_msg("%s %s: %llu ns in %zu intervals, not %llu in %zu", story_names[pd], state,
                 (unsigned long long)sum, n, (unsigned long long)ns, count);
    }
}

static void test_states(void **state)
{
    (void)state;
    check_state(CLIENT, "running", UINT64_C(9000) * ROUNDS, (size_t)2 * ROUNDS);
    check_state(CLIENT, "calling", UINT64_C(38000) * ROUNDS, ROUNDS);
    check_state(SERVER, "running", UINT64_C(13000) * ROUNDS + 50000, (size_t)2 * ROUNDS + 1);
    check_state(SERVER, "calling", UINT64_C(25000) * ROUNDS, ROUNDS);
    check_state(STORE, "running", UINT64_C(20000) * ROUNDS, (size_t)2 * ROUNDS);
    check_state(STORE, "ready", UINT64_C(5000) * ROUNDS, ROUNDS);
    /* before the first interrupt it is not known whether the driver waited */
    check_state(DRIVER, "ready", UINT64_C(1000) * (ROUNDS - 1), ROUNDS - 1);
    check_state(DRIVER, "running", UINT64_C(5000) * ROUNDS, ROUNDS);
    check_state(DRIVER, "waiting", UINT64_C(94000) * (ROUNDS - 1) + 67000, ROUNDS);
    check_state(IDLE, "running", 0, 0);
}

/* Who ran while the store was ready: the driver; on whom the client waited: the server. */
static void test_reasons(void **state)
{
    size_t n, first, columns;

    (void)state;
    const char *at = strstr(json, "{\"pd\":2,\"state\":\"ready\",\"core\":0,");
    assert_non_null(at);
    assert_int_equal(sscanf(strstr(at, "\"first\""), "\"first\":%zu,\"n\":%zu}", &first, &n), 2);
    for (size_t i = first; i < first + n; i++) {
        assert_int_equal(column("i_by", i, &columns), DRIVER + 1);
    }
    at = strstr(json, "{\"pd\":0,\"state\":\"calling\",\"core\":0,");
    assert_int_equal(sscanf(strstr(at, "\"first\""), "\"first\":%zu,\"n\":%zu}", &first, &n), 2);
    for (size_t i = first; i < first + n; i++) {
        assert_int_equal(column("i_by", i, &columns), SERVER + 1);
    }
    /* the first begins 8 us after the story, each other one 62 us after the end of the one before */
    assert_int_equal(column("i_gap", first, &columns), 8000);
    assert_int_equal(column("i_gap", first + 1, &columns), 62000);
}

static void test_calls(void **state)
{
    size_t n;
    uint64_t end = 0;

    (void)state;
    for (unsigned i = 0; i < ROUNDS; i++) { /* the inner call ends first */
        end += column("a_delta", (size_t)2 * i, &n);
        assert_int_equal(n, 2 * ROUNDS);
        assert_int_equal(end, 43000 + i * 100000);
        assert_int_equal(column("a_to", (size_t)2 * i, &n), STORE);
        assert_int_equal(column("a_length", (size_t)2 * i, &n), 25000);
        end += column("a_delta", (size_t)2 * i + 1, &n);
        assert_int_equal(end, 46000 + i * 100000);
        assert_int_equal(column("a_from", (size_t)2 * i + 1, &n), CLIENT);
        assert_int_equal(column("a_to", (size_t)2 * i + 1, &n), SERVER);
        assert_int_equal(column("a_wait", (size_t)2 * i + 1, &n), 0);
        assert_int_equal(column("a_length", (size_t)2 * i + 1, &n), 38000);
    }
}

/* Whose call is served, and what made a PD ready. */
static void test_wakings(void **state)
{
    size_t n, first, columns;
    uint64_t at = 0;

    (void)state;
    const char *list = strstr(json, "{\"pd\":2,\"state\":\"running\",\"core\":0,");
    assert_non_null(list);
    assert_int_equal(sscanf(strstr(list, "\"first\""), "\"first\":%zu,\"n\":%zu}", &first, &n), 2);
    for (size_t i = first; i < first + n; i++) {
        assert_int_equal(column("i_for", i, &columns), SERVER + 1);
    }
    assert_non_null(strstr(json, "\"kinds\":[\"switch\",\"call\",\"reply\",\"notify\",\"irq\""));
    assert_non_null(strstr(json, "\"cores\":[0]"));
    /* of each round: the server is called, the store, it replies, the server replies; from the second one on the
     * client and the driver are known to wait for a notification and an interrupt */
    for (size_t i = 0; i < 4; i++) {
        static const struct {
            uint64_t at;
            uint32_t from, to, kind;
        } want[4] = {{8000, CLIENT, SERVER, MKPERF_SCHED_CALL},
                     {18000, SERVER, STORE, MKPERF_SCHED_CALL},
                     {43000, STORE, SERVER, MKPERF_SCHED_REPLY},
                     {46000, SERVER, CLIENT, MKPERF_SCHED_REPLY}};
        at += column("w_delta", i, &n);
        assert_int_equal(at, want[i].at);
        assert_int_equal(column("w_from", i, &columns), want[i].from + 1);
        assert_int_equal(column("w_to", i, &columns), want[i].to);
        assert_int_equal(column("w_kind", i, &columns), want[i].kind);
    }
    assert_int_equal(n, 4 + 6 * (ROUNDS - 1));
}

/* What is missing is a gap of its core, and each PD is not known in the meantime. */
static void test_gap(void **state)
{
    size_t n;

    (void)state;
    assert_int_equal(column("g_from", 0, &n), ROUNDS * 100000);
    assert_int_equal(n, 1);
    assert_int_equal(column("g_length", 0, &n), 1000000 - ROUNDS * 100000);
    /* and before its first event */
    check_state(SERVER, "unknown", 8000 + 1000000 - UINT64_C(100000) * ROUNDS, 2);
    check_state(STORE, "unknown", 18000 + 1050000 - UINT64_C(100000) * ROUNDS, 2);
    assert_non_null(strstr(json, "\"lost\":7,\"from\":0,\"to\":1050000,\"cut\":false,\"kinds\":["));
    assert_non_null(strstr(json, "\"from\":\"1000000\",\"to\":\"2050000\""));
}

/* Of a recording with too many intervals the page asks for stretches: the answer has single intervals if there are at
 * most `most`, else sums; both have the same time of each PD in each state. */
static void check_stretch(uint64_t from, uint64_t to, size_t most, bool exact)
{
    static const struct {
        uint32_t pd;
        enum mkperf_pd_state state;
    } lists[] = {{CLIENT, MKPERF_PD_RUNNING}, {CLIENT, MKPERF_PD_CALLING},
                 {SERVER, MKPERF_PD_RUNNING}, {STORE, MKPERF_PD_READY},
                 {STORE, MKPERF_PD_RUNNING},  {DRIVER, MKPERF_PD_RUNNING},
                 {STORE, MKPERF_PD_UNKNOWN}};
    struct page_schedule kept = page_input_of(&frames, "story").schedule;
    char *whole = json, key[64];
    struct page_bytes all = data;

    kept.kept = &profile.schedule;
    data = page_schedule_stretch(&kept, 1000000, from, to, most);
    uint32_t length = data.p[8] | (uint32_t)data.p[9] << 8 | (uint32_t)data.p[10] << 16;
    json = strndup((const char *)data.p + 12, length);
    assert_non_null(strstr(json, exact ? "\"exact\":true" : "\"exact\":false"));
    for (size_t k = 0; k < sizeof lists / sizeof *lists; k++) {
        const struct mkperf_interval *i = profile.schedule.intervals.map;
        size_t first = 0, n = 0, columns;
        uint64_t want = 0, sum = 0, at = 0;
        for (size_t j = 0; j < profile.schedule.intervals.count; j++) {
            uint64_t begin = i[j].from > 1000000 + from ? i[j].from : 1000000 + from;
            uint64_t end = i[j].to < 1000000 + to ? i[j].to : 1000000 + to;
            if (i[j].pd == lists[k].pd && i[j].state == lists[k].state && end > begin) {
                want += end - begin;
            }
        }
        snprintf(key, sizeof key, "{\"pd\":%u,\"state\":\"%s\",\"core\":0,", (unsigned)lists[k].pd,
                 mkperf_pd_state_names[lists[k].state]);
        const char *list = strstr(json, key);
        if (list != NULL) {
            assert_int_equal(
                sscanf(strstr(list, "\"first\""), "\"first\":%zu,\"n\":%zu}", &first, &n), 2);
        }
        for (size_t j = first; j < first + n && !exact; j++) {
            sum += column("b_ns", j, &columns);
        }
        for (size_t j = first; j < first + n && exact;
             j++) { /* an interval may begin before, and end after */
            uint64_t begin = at + column("i_gap", j, &columns);
            at = begin + column("i_length", j, &columns);
            uint64_t low = begin > from ? begin : from, high = at < to ? at : to;
            sum += high > low ? high - low : 0;
        }
        if (sum != want) {
            fail_msg("%s%" PRIu64 "..%" PRIu64 ": %" PRIu64 " ns, not %" PRIu64, key, from, to, sum,
                     want);
        }
    }
    free(json);
    page_bytes_free(&data);
    json = whole;
    data = all;
}

static void test_stretches(void **state)
{
    static const uint64_t edges[] = {0,      1,      8000,   17999,   18001,
                                     100000, 123456, 299999, 1000000, 1050000};
    const size_t n = sizeof edges / sizeof *edges;

    (void)state;
    for (size_t i = 0; i < n; i++) {
        for (size_t k = i + 1; k < n; k++) {
            check_stretch(edges[i], edges[k], 1000, true);
            check_stretch(edges[i], edges[k], 0, false);
        }
    }
    check_stretch(0, 1050000, profile.schedule.intervals.count, true);
    check_stretch(0, 1050000, profile.schedule.intervals.count - 1, false);
}

/* How long after each notification and interrupt its PD ran: the same if they are read from the file, where
 * others are left out. */
static void test_wake_ups(void **state)
{
    struct page_input in = page_input_of(&frames, "story");
    struct page_bytes all = data;
    char *whole = json;
    size_t n, wake_ups = 0;

    (void)state;
    in.schedule.kept = &profile.schedule;
    for (unsigned kept = 0; kept < 2; kept++) {
        uint64_t at = 0, seen = 0;
        if (kept == 1) {
            data = page_data_make(&in);
            json = strndup((const char *)data.p + 12,
                           data.p[8] | (uint32_t)data.p[9] << 8 | (uint32_t)data.p[10] << 16);
        }
        column("w_kind", 0, &n);
        for (size_t i = 0; i < n; i++) {
            size_t columns;
            uint64_t kind = column("w_kind", i, &columns);
            at += column("w_delta", i, &columns);
            if (kind == MKPERF_SCHED_IRQ || kind == MKPERF_SCHED_NOTIFY) {
                uint64_t ran = column("w_ran", i, &columns);
                /* the driver runs 1 us after its interrupt; the client at once or after the driver */
                assert_true(column("w_to", i, &columns) != DRIVER || ran == 1 + 1000);
                assert_true(ran > 0 && ran < 100000);
                seen++;
            } else {
                assert_int_equal(kept, 0);
            }
        }
        assert_true(seen >= 2 && (kept == 0 || seen == wake_ups));
        wake_ups = seen;
    }
    assert_int_equal(column("a_to", 0, &n), STORE);
    free(json);
    page_bytes_free(&data);
    data = all;
    json = whole;
}

/* A PD whose number is below others', and that the stream never names, has no intervals. */
static void test_not_announced(void **state)
{
    struct mkperf_session session = {.platform = "test", .cpu = ""};
    struct mkperf_profile p = {.cores = true, .times = true, .keep_schedule = true};
    const struct mkperf_pd last = {.thread = 99, .id = STORY_PDS + 1, .name = "last"};
    struct mkperf_sink sink = mkperf_profile_sink(&p);
    static struct story s;
    size_t named = 0;

    (void)state;
    story_begin(&s, sink, &session);
    assert_int_equal(sink.take(sink.self, MKPERF_ITEM(PD, pd, &last), &s.e), MKPERF_OK);
    story_rounds(&s, ROUNDS);
    gap(&s, 1000000 + ROUNDS * 100000, 2000000, 7);
    run(&s, 2000000, SERVER, MKPERF_STOPPED_UNKNOWN);
    story_end(&s);
    assert_int_equal(mkperf_profile_order(&p, &s.e), MKPERF_OK);
    const struct mkperf_interval *i = p.schedule.intervals.map;
    for (size_t k = 0; k < p.schedule.intervals.count; k++) {
        assert_int_not_equal(i[k].pd, STORY_PDS);
        named += i[k].pd == STORY_PDS + 1;
    }
    assert_true(named > 0);
    mkperf_profile_free(&p);
}

/* A live page gets at most `most` records of each kind. From some time on it has all of them; the states before that
 * time are "unknown", and the page's data show that events were cut (`cut`). */
static void newest(size_t most, bool cut)
{
    struct mkperf_session session = {.platform = "test", .cpu = ""};
    struct mkperf_profile p = {.cores = true, .times = true, .keep_schedule = true};
    struct mkperf_frames f = {.profile = &p};
    static struct story s;
    uint64_t since, known[STORY_PDS] = {0}, unknown[STORY_PDS] = {0}, calls = 0;

    story_begin(&s, mkperf_profile_sink(&p), &session);
    story_rounds(&s, 20);
    struct page_schedule live = view_live_schedule(&p, most, 0);
    since = cut ? live.since_ns : p.sched->first_ns;
    assert_true(cut == (live.since_ns > p.sched->first_ns));
    for (size_t i = 0; i < live.intervals; i++) {
        const struct mkperf_interval *of = &live.interval[i];
        if (of->from < since) {
            assert_int_equal(of->state, MKPERF_PD_UNKNOWN);
            unknown[of->pd] += of->to - of->from;
        } else {
            known[of->pd] += of->to - of->from;
        }
    }
    for (uint32_t pd = 0; pd < IDLE; pd++) { /* no hole, no overlap */
        assert_int_equal(unknown[pd], since - p.sched->first_ns);
        assert_int_equal(known[pd], p.sched->last_ns - since);
    }
    for (unsigned i = 0; i < 20; i++) {
        calls += 1000000 + i * 100000 + 8000 >= since;
        calls += 1000000 + i * 100000 + 18000 >= since;
    }
    assert_int_equal(live.calls, calls);
    assert_true(calls > 0 && (cut ? calls < 40 : calls == 40));
    for (size_t i = 0; i < live.wokens; i++) {
        assert_true(live.woken[i].time >= since);
    }
    struct page_input in = {
        .frames = &f, .file = "story", .live = true, .older_samples = 12, .schedule = live};
    struct page_bytes b = page_data_make(&in);
    char *text = strndup((const char *)b.p + 12, b.n - 12);
    assert_non_null(strstr(text, cut ? "\"cut\":true" : "\"cut\":false"));
    assert_non_null(strstr(text, "\"older\":{\"samples\":12,\"marks\":0,\"losses\":0}"));
    free(text);
    page_bytes_free(&b);
    view_live_schedule_free(&live);
    mkperf_frames_close(&f);
    mkperf_profile_free(&p);
}

static void test_newest(void **state)
{
    (void)state;
    newest(10000, false);
    newest(60, true);
    newest(25, true);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_states),        cmocka_unit_test(test_reasons),
        cmocka_unit_test(test_calls),         cmocka_unit_test(test_wakings),
        cmocka_unit_test(test_gap),           cmocka_unit_test(test_stretches),
        cmocka_unit_test(test_wake_ups),      cmocka_unit_test(test_newest),
        cmocka_unit_test(test_not_announced),
    };

    return cmocka_run_group_tests(tests, setup, teardown);
}
