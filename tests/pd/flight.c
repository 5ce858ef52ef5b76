/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Known numbers of calls and notifications and a fault at a known place, for tests/system/flight.sh
 * and, on real seL4, tests/sel4/check. One program, six PDs, distinguished by their names.
 *
 * In the first session that samples, `talker` calls `server` and `quick` and notifies `sink` a
 * fixed number of times, and then notifies `victim` once, whose work ends in a fault. Its parent
 * `boss` leaves it stopped. In the second session the talker holds the flight recording. All work
 * after that is in after_all_is_over.
 */
#include <microkit.h>

#include <stdint.h>

#include <mkperf/client.h>

#include "spin.h"

enum { CH_SERVER = 1, CH_SINK = 2, CH_VICTIM = 3, CH_QUICK = 4, CH_MKPERF = 7 };
enum { CALLS = 500, QUICK_CALLS = 200, NOTIFICATIONS = 300, CHILD_VICTIM = 5, MARK = 42 };
enum { WORK = 20000000, REST = 1000 };

static int session_runs(void)
{
    return mkperf_app_runs(CH_MKPERF);
}

static int am(const char *name)
{
    unsigned i = 0;

    while (name[i] != '\0' && microkit_name[i] == name[i]) {
        i++;
    }
    return microkit_name[i] == name[i];
}

/* Each layer has work after its call, so that it is no tail call. */
static volatile uint64_t depth;

__attribute__((noinline)) static void last_work(void)
{
    spin(WORK);
    depth++;
}

__attribute__((noinline)) static void crash(void)
{
    *(volatile uint64_t *)(depth * 8 + 0x600000000) = 1;
    depth++;
}

__attribute__((noinline)) static void approach(void)
{
    last_work();
    crash();
    depth++;
}

__attribute__((noinline)) static void after_all_is_over(void)
{
    while (session_runs()) {
        spin(REST);
        depth++;
    }
}

__attribute__((noinline)) static void before_the_mark(void)
{
    spin(WORK);
    mkperf_app_dump(CH_MKPERF, MARK, "too late");
    depth++;
}

static void first_session(void)
{
    for (int i = 0; i < CALLS; i++) {
        microkit_ppcall(CH_SERVER, microkit_msginfo_new(0, 0));
    }
    for (int i = 0; i < QUICK_CALLS; i++) {
        microkit_ppcall(CH_QUICK, microkit_msginfo_new(0, 0));
    }
    for (int i = 0; i < NOTIFICATIONS; i++) {
        microkit_notify(CH_SINK);
    }
    microkit_notify(CH_VICTIM);
}

static void talk(void)
{
    for (unsigned session = 0;; session++) {
        while (!session_runs()) {
            spin(REST);
        }
        if (session == 0) {
            first_session();
        } else if (session == 1) {
            before_the_mark();
        }
        after_all_is_over();
    }
}

void init(void)
{
    if (am("talker")) {
        talk();
    }
}

void notified(microkit_channel ch)
{
    (void)ch;
    if (am("victim")) {
        approach();
    }
}

microkit_msginfo protected(microkit_channel ch, microkit_msginfo msginfo)
{
    (void)ch;
    return msginfo;
}

seL4_Bool fault(microkit_child child, microkit_msginfo msginfo, microkit_msginfo *reply)
{
    (void)child;
    (void)msginfo;
    (void)reply;
    return 0; /* no reply: the PD stays stopped */
}
