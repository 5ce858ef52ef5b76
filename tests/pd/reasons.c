/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Each reason for which a thread can stop, for tests/system/reasons.sh. One program, six PDs:
 *
 *   asker    calls `helper` again and again; its budget is 1 ms of each 5 ms
 *   other    the same; it finds the helper busy
 *   helper   serves: WORK instructions, on its caller's budget
 *   guard    restarts its child `faulter` behind the instruction that faulted
 *   faulter  faults again and again
 *   crash    faults once, after the recording has begun, and is not restarted
 */
#include <microkit.h>

#include <mkperf/ring.h>

#include "spin.h"

enum { CH_HELPER = 1, WORK = 1500000, PAUSE = 400000, INSTRUCTION = 4 };

/* The memory that the kernel hook writes, mapped read-only into `crash`. Set by the system file. */
volatile const struct mkperf_ring *rings = NULL;

static void fault_now(void)
{
#ifdef __riscv
    __asm__ volatile(".4byte 0"); /* no instruction */
#else
    __asm__ volatile("udf #0");
#endif
}

void init(void)
{
    while (microkit_name[0] == 'a' || microkit_name[0] == 'o') {
        microkit_ppcall(CH_HELPER, microkit_msginfo_new(0, 0));
        work(2);
    }
    while (microkit_name[0] == 'f') {
        work(PAUSE);
        fault_now();
    }
    if (microkit_name[0] == 'c') {
        while (rings->head == 0) { /* no record yet: the recording has not begun */
            work(PAUSE);
        }
        fault_now();
    }
}

void notified(microkit_channel ch)
{
    (void)ch;
}

microkit_msginfo protected(microkit_channel ch, microkit_msginfo msginfo)
{
    (void)ch;
    (void)msginfo;
    work(WORK);
    return microkit_msginfo_new(0, 0);
}

seL4_Bool fault(microkit_child child, microkit_msginfo msginfo, microkit_msginfo *reply)
{
    (void)msginfo;
    (void)reply;
    microkit_pd_restart(child, microkit_mr_get(seL4_UserException_FaultIP) + INSTRUCTION);
    return 0;
}
