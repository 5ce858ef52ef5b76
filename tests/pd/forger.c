/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * A hostile profiler PD: holds the PMU's interrupt and makes 20,000 requests of random content. What
 * it must not be able to do: stop the system, make the kernel fault, or have it write where this PD
 * may not. For tests/sel4/forger.sh.
 *
 * Addresses are of memory that it may write to, of a page that it may only read (another PD writes a
 * pattern there), of a device, of the kernel, and random; sizes, masks, periods and events are
 * random, or plausible. At the end an honest session has to work.
 */
#include <microkit.h>

#include <mkperf/descriptor.h>
#include <mkperf/ring.h>
#include <mkperf/words.h>

#include "say.h"
#include "spin.h"

uintptr_t rings;       /* 2 MiB that it may write to */
uintptr_t descriptors; /* a page for the descriptor */
uintptr_t others;      /* a page of another PD's, to read */

enum {
    CH_PMU = 0,
    CH_GUEST = 1,
    REQUESTS = 20000,
    STATUS = 9,
    LOOK_EACH = 64,
    SMALL_RING = 4096,
    RING = 65536,
    CYCLES = 0x11,
    PERIOD = 100000,
    WORK = 20000000,
};

static uint64_t random = 88172645463325252;
static uint64_t status[STATUS + 1];
static uint64_t unanswered;
static uint64_t changed;
static uint32_t sequence;

static uint64_t any(void)
{
    random ^= random << 13;
    random ^= random >> 7;
    random ^= random << 17;
    return random;
}

static uint64_t below(uint64_t n)
{
    return (any() >> 32) % n;
}

static uint64_t address(void)
{
    switch (below(12)) {
    case 0:
        return any();
    case 1:
        return others;
    case 2:
        return mkperf_uart;
    case 3:
        return UINT64_C(0x8060000000); /* the kernel's own image, and its window */
    case 4:
        return UINT64_C(0x8000000000) + below(UINT64_C(1) << 32);
    case 5:
        return rings + below(0x200000); /* mostly not aligned */
    case 6:
        return rings + 0x200000 - 8;
    case 7:
        return 0;
    case 8:
        return descriptors;
    default:
        return rings + below(256) * 0x1000;
    }
}

static uint32_t small(void)
{
    return (uint32_t)(any() >> (32 + below(32)));
}

static void forge(struct mkperf_descriptor *d)
{
    struct mkperf_configuration *want = &d->want;
    uint64_t *word = (uint64_t *)d;

    for (unsigned i = 0; i < sizeof *d / 8; i++) {
        word[i] = any();
    }
    d->magic = MKPERF_DESCRIPTOR_MAGIC;
    d->op = below(16) == 0 ? (uint32_t)any() : (uint32_t)below(16);
    d->core = below(16) == 0 ? (uint32_t)any() : 0;
    d->answered = sequence;
    d->sequence = ++sequence;
    want->ring = address();
    want->tables = below(2) ? address() : 0;
    if (below(2)) {
        want->soft_mask = 0;
    }
    if (below(8) != 0) {
        want->counter_mask &= 0x3f;
        want->ring_bytes = SMALL_RING << below(10);
        want->filters = (uint32_t)below(MKPERF_MAX_FILTERS + 1);
        want->max_frames = (uint32_t)below(MKPERF_MAX_FRAMES + 1);
        want->callers = (uint32_t)below(MKPERF_MAX_CALLERS + 1);
        want->words = (uint32_t)below(MKPERF_MAX_WORDS + 1);
    }
    if (below(4) != 0) {
        want->counter_mask &= 0xf;
        want->ring = rings + below(16) * 0x10000;
    }
    if (below(8) != 0) { /* otherwise counters that are not the session's */
        uint32_t *parts[] = {&want->enable_mask, &want->read_mask, &want->slice_mask,
                             &want->count_mask, &want->kernel_mask};
        for (unsigned i = 0; i < sizeof parts / sizeof *parts; i++) {
            *parts[i] &= want->counter_mask;
        }
    }
    for (unsigned i = 0; i < MKPERF_MAX_COUNTERS; i++) {
        struct mkperf_request_counter *c = &want->counter[i];
        c->period = small();
        c->left = small();
        c->interval = small();
        if (below(4) != 0) { /* cycles, somewhere */
            c->select = CYCLES | ((uint32_t)any() & 0xcc000000);
        }
    }
}

static void request(struct mkperf_descriptor *d, uint64_t at)
{
    __sel4_ipc_buffer->userData = at;
    microkit_irq_ack(CH_PMU);
    __sel4_ipc_buffer->userData = 0;
    if (d != NULL && at == (uintptr_t)d) {
        if (d->answered != d->sequence) {
            unanswered++;
        } else {
            status[d->answer.status < STATUS ? d->answer.status : STATUS]++;
        }
    }
}

static void look(void)
{
    const volatile uint64_t *word = (const volatile uint64_t *)others;

    for (unsigned i = 0; i < 512; i++) {
        changed += word[i] != (0x5a5a000000000000 | i);
    }
}

/* Samples of this PD's own loop; in its middle a guest, if the kernel has any, tries the PMU. */
static void honest(struct mkperf_descriptor *d)
{
    struct mkperf_configuration *want = &d->want;
    uint64_t *word = (uint64_t *)d;
    uint64_t applied;

    for (unsigned i = 0; i < sizeof *d / 8; i++) {
        word[i] = 0;
    }
    d->magic = MKPERF_DESCRIPTOR_MAGIC;
    d->answered = sequence;
    d->sequence = ++sequence;
    d->op = MKPERF_REQUEST_APPLY;
    want->counter_mask = 1;
    want->enable_mask = 1;
    want->max_frames = 16;
    want->ring = rings;
    want->ring_bytes = RING;
    want->watermark = 2 * RING;
    want->counter[0].select = 0x80000000 | CYCLES;
    want->counter[0].left = PERIOD;
    want->counter[0].interval = PERIOD;
    want->counter[0].period = PERIOD;
    request(d, (uintptr_t)d);
    applied = d->answer.status;
    spin(WORK / 2);
#ifdef CONFIG_ARM_HYPERVISOR_SUPPORT
    microkit_notify(CH_GUEST);
#endif
    spin(WORK / 2);
    d->sequence = ++sequence;
    d->op = MKPERF_REQUEST_STOP | MKPERF_REQUEST_SNAPSHOT;
    request(d, (uintptr_t)d);
    say("forger: honest session: status ");
    say_number(applied);
    say(", samples ");
    say_number(d->answer.captures);
    say(", disturbed ");
    say_number(d->answer.disturbed);
    say(", guests ");
    say_number(d->answer.guest_accesses);
    say(", written ");
    say_number(d->answer.head != 0);
    say("\n");
}

void init(void)
{
    struct mkperf_descriptor *d = (struct mkperf_descriptor *)descriptors;

    look();
    for (unsigned i = 0; i < REQUESTS; i++) {
        forge(d);
        request(d, below(16) != 0 ? (uintptr_t)d : address());
        if (i % LOOK_EACH == 0) {
            look();
        }
    }
    look();
    say("forger: ");
    say_number(REQUESTS);
    say(" requests, done ");
    say_number(status[MKPERF_REQUEST_OK]);
    say(", refused");
    for (unsigned i = 1; i <= STATUS; i++) {
        say(" ");
        say_number(status[i]);
    }
    say(", unanswered ");
    say_number(unanswered);
    say(", changed ");
    say_number(changed);
    say("\n");
    honest(d);
}

void notified(microkit_channel ch)
{
    microkit_irq_ack(ch);
}
