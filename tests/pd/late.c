/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * A delay in a server's path, for docs/latency.md and tests/system/late.sh. One program, four PDs:
 *
 *   user      asks `echo` again and again
 *   echo      serves: some work, a call of `checksum`, and once in ROTATE requests a notification to
 *             `logger`
 *   checksum  serves: some work
 *   logger    when notified ROTATION instructions; the delay, since its priority is above echo's
 *   timed     instead of `user`, in deadline.system: an answer that takes longer than DEADLINE_US ends the
 *             flight recording
 */
#include <microkit.h>

#include <stdint.h>

#include <mkperf/client.h>

#include "spin.h"
#include "time.h"

enum {
    CH_ECHO = 1,     /* user to echo */
    CH_CHECKSUM = 2, /* echo to checksum */
    CH_LOGGER = 3,   /* echo to logger */
    CH_MKPERF = 4,   /* timed to client */
    DEADLINE_US = 300,
    THINK = 100000,
    SERVE = 3000,
    SUM = 2000,
    ROTATE = 128,
    ROTATION = 400000,
};

static uint64_t now_us(void)
{
    uint64_t ticks = time_ticks();
    uint64_t hz = time_hz();

    return ticks / hz * 1000000 + ticks % hz * 1000000 / hz;
}

void init(void)
{
    while (microkit_name[0] == 'u') {
        microkit_ppcall(CH_ECHO, microkit_msginfo_new(0, 0));
        work(THINK);
    }
    while (microkit_name[0] == 't') {
        uint64_t asked = now_us();
        microkit_ppcall(CH_ECHO, microkit_msginfo_new(0, 0));
        uint64_t took = now_us() - asked;
        if (took > DEADLINE_US) {
            mkperf_app_dump(CH_MKPERF, (uint32_t)took, "deadline missed");
        }
        work(THINK);
    }
}

void notified(microkit_channel ch)
{
    (void)ch;
    work(ROTATION);
}

microkit_msginfo protected(microkit_channel ch, microkit_msginfo msginfo)
{
    static unsigned requests;

    (void)ch;
    if (microkit_name[0] == 'c') {
        work(SUM);
        return msginfo;
    }
    work(SERVE / 2);
    microkit_ppcall(CH_CHECKSUM, microkit_msginfo_new(0, 0));
    if (++requests % ROTATE == 0) {
        microkit_notify(CH_LOGGER);
    }
    work(SERVE / 2);
    return msginfo;
}
