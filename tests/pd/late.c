/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * A delay in a server's path, for docs/latency.md and tests/system/late.sh. One program, four PDs:
 *
 *   user      asks `echo` again and again
 *   echo      serves: some work, a call of `checksum`, and once in ROTATE requests a notification to
 *             `logger`
 *   checksum  serves: some work
 *   logger    when notified ROTATION instructions; the delay, since its priority is above echo's
 */
#include <microkit.h>

#include <stdint.h>

enum {
    CH_ECHO = 1,     /* user to echo */
    CH_CHECKSUM = 2, /* echo to checksum */
    CH_LOGGER = 3,   /* echo to logger */
    THINK = 100000,
    SERVE = 3000,
    SUM = 2000,
    ROTATE = 128,
    ROTATION = 400000,
};

/* n instructions, an even number of at least 2. */
static void work(uint64_t n)
{
    uint64_t iterations = n / 2;

    __asm__ volatile("1: subs %0, %0, #1\n\tb.ne 1b" : "+r"(iterations) : : "cc");
}

void init(void)
{
    while (microkit_name[0] == 'u') {
        microkit_ppcall(CH_ECHO, microkit_msginfo_new(0, 0));
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
