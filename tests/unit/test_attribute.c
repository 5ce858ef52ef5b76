/* SPDX-License-Identifier: BSD-2-Clause */
/* Who ran when the timer interrupted: the rule of pd/profiler/timer/attribute.c, case by case. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "pd/profiler/timer/attribute.h"

enum { LOW = 10, MIDDLE = 20, HIGH = 30, NONE = -1 };

static struct mkperf_evidence running(int32_t priority)
{
    return (struct mkperf_evidence){.priority = priority, .ran = true};
}

static struct mkperf_evidence preempted(int32_t priority)
{
    return (struct mkperf_evidence){.priority = priority};
}

static struct mkperf_evidence waiting(int32_t priority, bool ran)
{
    return (struct mkperf_evidence){
        .priority = priority, .ran = ran, .at_call = true, .waits = true};
}

static struct mkperf_evidence calling(int32_t priority, bool ran)
{
    return (struct mkperf_evidence){
        .priority = priority, .ran = ran, .at_call = true, .calls = true};
}

/* At a system call that does not wait. */
static struct mkperf_evidence sending(int32_t priority, bool ran)
{
    return (struct mkperf_evidence){.priority = priority, .ran = ran, .at_call = true};
}

static void expect(const struct mkperf_evidence *e, unsigned n, int32_t unobserved,
                   enum mkperf_confidence confidence, int who)
{
    struct mkperf_verdict v = mkperf_attribute(e, n, unobserved);

    assert_int_equal(v.confidence, confidence);
    if (confidence != MKPERF_AMBIGUOUS) {
        assert_int_equal(v.who, who);
        assert_int_equal(v.candidates, 0);
    }
}

#define EXPECT(unobserved, confidence, who, ...)                         \
    do {                                                                 \
        const struct mkperf_evidence e_[] = {__VA_ARGS__};               \
        expect(e_, sizeof e_ / sizeof *e_, unobserved, confidence, who); \
    } while (0)

static void test_one_ran(void **state)
{
    (void)state;
    EXPECT(NONE, MKPERF_PROVED, 1, waiting(HIGH, false), running(LOW), preempted(LOW));
    /* The last of three that run round robin. */
    EXPECT(NONE, MKPERF_PROVED, 2, preempted(LOW), preempted(LOW), running(LOW));
    /* It woke a thread that waits again. */
    EXPECT(NONE, MKPERF_INFERRED, 1, waiting(HIGH, true), running(LOW));
    /* It was set going by a lower one. */
    EXPECT(NONE, MKPERF_INFERRED, 0, running(HIGH), sending(LOW, true));
    EXPECT(NONE, MKPERF_INFERRED, 0, running(HIGH), calling(LOW, true));
}

static void test_several_ran(void **state)
{
    (void)state;
    EXPECT(NONE, MKPERF_INFERRED, 1, running(LOW), running(HIGH), running(MIDDLE));
    EXPECT(NONE, MKPERF_AMBIGUOUS, 0, running(LOW), running(HIGH), running(HIGH));
    struct mkperf_evidence e[] = {waiting(HIGH, false), running(LOW), running(LOW)};
    struct mkperf_verdict v = mkperf_attribute(e, 3, NONE);
    assert_int_equal(v.candidates, 2);
    assert_int_equal(v.candidate[0], 1);
    assert_int_equal(v.candidate[1], 2);
}

static void test_idle(void **state)
{
    (void)state;
    EXPECT(NONE, MKPERF_PROVED, MKPERF_WHO_IDLE, waiting(HIGH, false), waiting(LOW, false));
    EXPECT(NONE, MKPERF_INFERRED, MKPERF_WHO_IDLE, waiting(HIGH, false), waiting(LOW, true));
    /* A call without a reply yet: the server is about to reply. */
    EXPECT(NONE, MKPERF_AMBIGUOUS, 0, waiting(HIGH, true), calling(LOW, true));
    EXPECT(NONE, MKPERF_AMBIGUOUS, 0, waiting(HIGH, true), sending(LOW, true));
    /* It may be a PD that cannot be seen. */
    EXPECT(LOW, MKPERF_AMBIGUOUS, 0, waiting(HIGH, false));
}

static void test_nobody_changed(void **state)
{
    struct mkperf_evidence held_back = preempted(HIGH);
    struct mkperf_evidence faulted = preempted(HIGH);

    (void)state;
    held_back.limited = true;
    faulted.stopped = true;
    /* A loop that changes nothing. */
    EXPECT(NONE, MKPERF_INFERRED, 0, preempted(HIGH), preempted(LOW));
    EXPECT(NONE, MKPERF_AMBIGUOUS, 0, preempted(HIGH), preempted(HIGH));
    EXPECT(NONE, MKPERF_AMBIGUOUS, 0, held_back, preempted(LOW));
    EXPECT(NONE, MKPERF_INFERRED, 1, faulted, preempted(LOW));
    EXPECT(NONE, MKPERF_PROVED, 1, held_back, running(LOW));
    /* A lower one ran and waits: the upper one could not run, so it is held back. */
    EXPECT(NONE, MKPERF_AMBIGUOUS, 0, preempted(HIGH), waiting(LOW, true));
    /* An upper one has just gone to wait. */
    EXPECT(NONE, MKPERF_INFERRED, 1, waiting(HIGH, true), preempted(LOW));
    /* One above can run, but is at a call: it was about to make it, or set this one going. */
    EXPECT(NONE, MKPERF_AMBIGUOUS, 0, sending(HIGH, true), preempted(LOW));
    EXPECT(NONE, MKPERF_AMBIGUOUS, 0, sending(HIGH, true), running(LOW));
}

static void test_unobserved(void **state)
{
    (void)state;
    EXPECT(MIDDLE, MKPERF_PROVED, 0, running(HIGH), waiting(LOW, false));
    EXPECT(MIDDLE, MKPERF_INFERRED, 1, waiting(HIGH, false), running(LOW));
    EXPECT(MIDDLE, MKPERF_AMBIGUOUS, 0, waiting(HIGH, false), preempted(LOW));
    EXPECT(MIDDLE, MKPERF_INFERRED, 0, preempted(HIGH), preempted(LOW));
}

static void test_many(void **state)
{
    struct mkperf_evidence e[62];

    (void)state;
    for (unsigned i = 0; i < 62; i++) {
        e[i] = running(LOW);
    }
    struct mkperf_verdict v = mkperf_attribute(e, 62, NONE);
    assert_int_equal(v.confidence, MKPERF_AMBIGUOUS);
    assert_int_equal(v.candidates, MKPERF_MAX_CANDIDATES);
    EXPECT(NONE, MKPERF_PROVED, MKPERF_WHO_IDLE, waiting(LOW, false));
    assert_int_equal(mkperf_attribute(e, 0, NONE).who, MKPERF_WHO_IDLE);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_one_ran),    cmocka_unit_test(test_several_ran),
        cmocka_unit_test(test_idle),       cmocka_unit_test(test_nobody_changed),
        cmocka_unit_test(test_unobserved), cmocka_unit_test(test_many),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
