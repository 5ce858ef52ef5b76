/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * A profiler PD that is hostile: it has the PMU's interrupt and asks the kernel hook for all that it
 * should not get. For tests/system/hostile.sh and, on real seL4, tests/sel4/check. One program, two
 * PDs, distinguished by their names.
 *
 * `evil` makes the requests. `victim` has it do so, one attack after the other, and measures how
 * long the same work takes meanwhile. Prints `ok NAME`, `not ok NAME` and `figure NAME VALUE`.
 */
#include <microkit.h>

#include <stdbool.h>
#include <stdint.h>

#include <mkperf/descriptor.h>
#include <mkperf/ring.h>

#include "say.h"
#include "spin.h"

enum {
    CH_PMU = 0,
    CH_EVIL = 1,
    RING_BYTES = 1 << 20,
    DEPTH = 60,
    REGION_BYTES = 0x200000,
    WORK = 4000000,
    CYCLES = 0x11,
    INSTRUCTIONS = 0x08,
    COUNTERS = 6, /* that are asked for, if there are so many, */
    FOLLOWED = 3, /* or if the kernel wants others to follow them (docs/qemu.md) */
    MOST = 204,   /* per cent of its own time that work may take: twice, and 2 in 100 */
    HARMLESS = 150,
    SECRET = 0x5ec2e7,
};

/* The counter that PDs may read. */
#ifndef MKPERF_CLOCK
#define MKPERF_CLOCK cntvct_el0
#endif
#define CLOCK_TEXT_OF(name) #name
#define CLOCK_TEXT(name) CLOCK_TEXT_OF(name)

#define NOT_AT_EL1 (UINT32_C(1) << 31)
#define NOT_AT_EL0 (UINT32_C(1) << 30)

/* What victim asks evil for. */
enum attack {
    ATTACK_NONE, /* no session */
    ATTACK_MEMORY,
    ATTACK_ONE,    /* the shortest interval of one counter, without frames, */
    ATTACK_FRAMES, /* and with 64 */
    ATTACK_ALL,    /* overflows of all counters, in user mode and in the kernel */
    ATTACK_AGAIN,  /* and another session whenever the hook has ended one */
    ATTACK_CYCLES, /* the same: some counters of cycles with an interval, one after the other */
    ATTACKS,
    ASK =
        ATTACKS, /* what came of it; and the ring is emptied, since a sample that is lost is cheap, */
    NUDGE,       /* and if the hook has ended a session, there is to be another */
};

uintptr_t rings;     /* evil: writable, a large page */
uintptr_t read_only; /* evil: may only read it */
uintptr_t device;    /* evil: a device's registers */
uintptr_t secret;    /* victim: its own, at an address that evil has not */

static struct mkperf_descriptor descriptor __attribute__((aligned(4096)));
static enum attack again; /* the attack that is begun again after a storm, or ATTACK_NONE; */
static uint32_t cycles_counters, cycles_interval; /* counters and interval of ATTACK_CYCLES */
static uint64_t storms;
static uint64_t all_storms; /* that the victim was sent */

static int am(const char *name)
{
    unsigned i = 0;

    while (name[i] != '\0' && microkit_name[i] == name[i]) {
        i++;
    }
    return microkit_name[i] == name[i];
}

static void result(const char *name, bool ok)
{
    say(ok ? "ok " : "not ok ");
    say(name);
    say("\n");
}

static void figure(const char *name, uint64_t value)
{
    say("figure ");
    say(name);
    say(" ");
    say_number(value);
    say("\n");
}

/* ---- evil ----------------------------------------------------------------------------------- */

static bool answered(void)
{
    return __atomic_load_n(&descriptor.answered, __ATOMIC_ACQUIRE) == descriptor.sequence;
}

/* Returns the status, or UINT32_MAX without an answer. */
static uint32_t request(uint32_t op)
{
    descriptor.op = op;
    __atomic_store_n(&descriptor.sequence, descriptor.sequence + 1, __ATOMIC_RELEASE);
    microkit_irq_ack(CH_PMU);
    return answered() ? descriptor.answer.status : UINT32_MAX;
}

static void begin(void)
{
    volatile uint64_t *word = (volatile uint64_t *)&descriptor.want; /* there may be no memset */

    for (unsigned i = 0; i < sizeof descriptor.want / sizeof *word; i++) {
        word[i] = 0;
    }
    descriptor.magic = MKPERF_DESCRIPTOR_MAGIC;
    descriptor.want.counter_mask = 1;
    descriptor.want.enable_mask = 1;
    descriptor.want.ring_bytes = RING_BYTES;
    descriptor.want.ring = rings;
    descriptor.want.watermark = UINT32_MAX;
    for (unsigned i = 0; i < MKPERF_MAX_COUNTERS; i++) {
        descriptor.want.counter[i].select = CYCLES | NOT_AT_EL1;
        descriptor.want.counter[i].jitter_mask = i % 2 != 0 ? UINT32_MAX : 0;
    }
}

/* Memory that is not evil's to write, not memory, or not within one page: refused, everywhere. */
static bool memory(void)
{
    const uint64_t too_long = rings + REGION_BYTES - RING_BYTES; /* by the header */
    uint64_t bad[] = {
        0,
        (uintptr_t)memory, /* code */
        read_only,
        device,
        UINT64_C(0xffffff8040200000), /* pocket's kernel, */
        UINT64_C(0xffffff8080000000), /* seL4's, */
        UINT64_C(0x40000000),         /* and memory by its physical address */
        UINT64_C(0x20000000),         /* the victim's secret */
        rings + 4,
        too_long,
        rings + REGION_BYTES,
        UINT64_MAX - 7,
        UINT64_C(1) << 63,
    };
    bool ok = true;

    for (unsigned i = 0; i < sizeof bad / sizeof *bad; i++) {
        begin();
        descriptor.want.ring = bad[i];
        ok &= request(MKPERF_REQUEST_APPLY) == MKPERF_REQUEST_BAD_RING;
        if (bad[i] == too_long) {
            bad[i] = rings + REGION_BYTES - 64; /* where no table, and no descriptor, is whole */
        }
        begin();
        descriptor.want.tables = bad[i] != 0 ? bad[i] : 8;
        ok &= request(MKPERF_REQUEST_APPLY) == MKPERF_REQUEST_BAD_TABLE;
        if (!ok) {
            figure("accepted", i);
            return false;
        }
    }
    /* The descriptor itself in such memory: not a request. */
    for (unsigned i = 0; i < sizeof bad / sizeof *bad; i++) {
        begin();
        __sel4_ipc_buffer->userData = bad[i];
        ok &= request(MKPERF_REQUEST_APPLY) == UINT32_MAX;
        __sel4_ipc_buffer->userData = (uintptr_t)&descriptor;
    }
    begin();
    return ok && request(0) == MKPERF_REQUEST_OK && descriptor.answer.session == 0;
}

static bool followed(void)
{
    return (descriptor.answer.features & MKPERF_FEATURE_FOLLOWERS) != 0;
}

/* Every existing counter, up to COUNTERS, at the shortest interval. */
static void all_counters(void)
{
    request(0);
    uint32_t there = descriptor.answer.counters & ((1 << (followed() ? FOLLOWED : COUNTERS)) - 1);

    begin();
    descriptor.want.counter_mask = there;
    descriptor.want.enable_mask = there;
    descriptor.want.max_frames = MKPERF_MAX_FRAMES;
    for (unsigned i = 0; i < COUNTERS; i++) {
        descriptor.want.counter[i].select = (i % 2 != 0 ? CYCLES : INSTRUCTIONS) |
                                            (i % 3 == 2 ? NOT_AT_EL0 : NOT_AT_EL1);
        descriptor.want.kernel_mask |= (uint32_t)(i % 3 == 2) << i & there;
    }
}

/* `counters` counters of cycles whose first overflows are spread over an interval, so that each is an interrupt of
 * its own. Samples have no frames, so entry and exit, which the hook only estimates, are the largest part of their
 * time. Even numbers: see docs/qemu.md. */
static void cycles(uint32_t counters, uint32_t interval)
{
    begin();
    descriptor.want.counter_mask = (UINT32_C(1) << counters) - 1;
    descriptor.want.enable_mask = descriptor.want.counter_mask;
    for (uint32_t i = 0; i < counters; i++) {
        struct mkperf_request_counter *c = &descriptor.want.counter[i];
        c->period = interval;
        c->left = c->interval = interval + (i * interval / counters & ~UINT32_C(1));
        c->jitter_mask = 0;
    }
}

static uint64_t begin_again(void)
{
    if (again == ATTACK_CYCLES) {
        cycles(cycles_counters, cycles_interval);
    } else {
        all_counters();
    }
    return request(MKPERF_REQUEST_APPLY) == MKPERF_REQUEST_OK;
}

static uint64_t begin_attack(enum attack attack)
{
    request(MKPERF_REQUEST_WITHDRAW);
    storms = 0;
    again = attack == ATTACK_AGAIN || attack == ATTACK_CYCLES ? attack : ATTACK_NONE;
    begin();
    switch (attack) {
    case ATTACK_MEMORY:
        return memory();
    case ATTACK_ONE:
        return request(MKPERF_REQUEST_APPLY) == MKPERF_REQUEST_OK;
    case ATTACK_FRAMES:
        descriptor.want.max_frames = MKPERF_MAX_FRAMES;
        return request(MKPERF_REQUEST_APPLY) == MKPERF_REQUEST_OK;
    case ATTACK_ALL:
    case ATTACK_AGAIN:
    case ATTACK_CYCLES:
        return begin_again();
    default:
        return request(0) == MKPERF_REQUEST_OK && descriptor.answer.session == 0;
    }
}

microkit_msginfo protected(microkit_channel ch, microkit_msginfo msginfo)
{
    enum attack asked = (enum attack)microkit_msginfo_get_label(msginfo);

    (void)ch;
    if (asked < ATTACKS) {
        cycles_counters = (uint32_t)microkit_mr_get(0);
        cycles_interval = (uint32_t)microkit_mr_get(1);
        return microkit_msginfo_new(begin_attack(asked), 0);
    }
    struct mkperf_ring *ring = (struct mkperf_ring *)rings;
    __atomic_store_n(&ring->tail, __atomic_load_n(&ring->head, __ATOMIC_ACQUIRE), __ATOMIC_RELEASE);
    request(0);
    if (asked == NUDGE && again != ATTACK_NONE && descriptor.answer.storm != 0) {
        begin_again();
    }
    microkit_mr_set(0, descriptor.answer.captures);
    microkit_mr_set(1, storms + (again == ATTACK_NONE && descriptor.answer.storm != 0));
    microkit_mr_set(2, followed());
    return microkit_msginfo_new(0, 3);
}

/* Woken: by a storm. The session that it wants again may be refused for a time; then the victim's
 * next call is the next attempt. */
void notified(microkit_channel ch)
{
    (void)ch;
    request(0);
    if (descriptor.answer.storm != 0 && again != ATTACK_NONE) {
        storms++;
        begin_again();
    }
}

/* ---- the victim ----------------------------------------------------------------------------- */

static uint64_t now(void)
{
    uint64_t t;

    __asm__ volatile("isb\n\tmrs %0, " CLOCK_TEXT(MKPERF_CLOCK) : "=r"(t) : : "memory");
    return t;
}

/* The work, in many pieces, between which evil may try again, at the end of a long call chain. */
__attribute__((noinline)) static void descend(int depth) // NOLINT(misc-no-recursion)
{
    if (depth > 0) {
        descend(depth - 1);
    } else {
        for (unsigned i = 0; i < 100; i++) {
            spin(WORK / 100);
            microkit_ppcall(CH_EVIL, microkit_msginfo_new(NUDGE, 0));
        }
    }
    __asm__ volatile("" ::: "memory");
}

/* Does the work. Returns how many ticks it takes. */
static uint64_t work_time(void)
{
    uint64_t began = now();

    descend(DEPTH);
    return now() - began;
}

/* 1: the attack began. counters and interval are for ATTACK_CYCLES. */
static uint64_t call_evil(enum attack attack, uint32_t counters, uint32_t interval)
{
    microkit_mr_set(0, counters);
    microkit_mr_set(1, interval);
    return microkit_msginfo_get_label(
        microkit_ppcall(CH_EVIL, microkit_msginfo_new((uint64_t)attack, 2)));
}

/* Begins the attack. After a storm the kernel refuses it for some time, so it is tried again. */
static void attack_with(enum attack attack, uint32_t counters, uint32_t interval)
{
    while (call_evil(attack, counters, interval) != 1) {
        spin(WORK / 100);
    }
}

/*
 * The work's time under an attack, in per cent of its time without one. The hook may take half of the
 * time, so it must be 200 at most, and some more for what is estimated. On pocket, `storm` shows whether
 * the hook must end the session. On seL4 in QEMU an instruction is two cycles and fewer counters are
 * left for the attacker, so other attacks are storms there and only the time is checked.
 */
static void under(enum attack attack, const char *name, uint64_t alone, bool storm)
{
    attack_with(attack, 0, 0);
    microkit_ppcall(CH_EVIL, microkit_msginfo_new(ASK, 0));
    uint64_t before = microkit_mr_get(0);
    uint64_t took = work_time() * 100 / alone;
    microkit_ppcall(CH_EVIL, microkit_msginfo_new(ASK, 0));
    uint64_t captures = microkit_mr_get(0) - before;
    uint64_t stormed = microkit_mr_get(1);
    bool emulated = microkit_mr_get(2) != 0;

    figure(name, took);
    figure("interrupts", captures);
    figure("storms", stormed);
    /* The samples that decide about a storm may be those of the attack before, except for a few. */
    uint64_t least = stormed != 0 ? 1 : 500;
    result(name, captures > least && ((stormed != 0) == storm || emulated) && took <= MOST);
    all_storms += stormed;
    attack_with(ATTACK_NONE, 0, 0);
}

/*
 * `counters` counters of cycles, at longer and longer intervals until the work is hardly slower; the
 * attack begins again after each storm. It is worst just below the limit at which the hook ends it.
 */
static void under_cycles(uint32_t counters, const char *name, uint64_t alone)
{
    uint64_t worst = 0;
    uint64_t worst_at = 0;
    uint64_t allowed = 0;
    uint64_t took = MOST;
    unsigned tried = 0;

    for (uint32_t interval = MKPERF_HOOK_MIN_PERIOD; took > HARMLESS || tried < 2;
         interval += interval / 8 & ~UINT32_C(1)) {
        attack_with(ATTACK_CYCLES, counters, interval);
        took = work_time() * 100 / alone;
        if (took > worst) {
            worst = took;
            worst_at = interval;
        }
        microkit_ppcall(CH_EVIL, microkit_msginfo_new(ASK, 0));
        if (microkit_mr_get(1) == 0 && took > allowed) {
            allowed = took;
        }
        tried++;
        attack_with(ATTACK_NONE, 0, 0);
    }
    figure(name, worst);
    figure("interval", worst_at);
    figure("without a storm", allowed);
    result(name, worst > 100 && worst <= MOST);
}

static void run_all(void)
{
    volatile uint64_t *mine = (volatile uint64_t *)secret;

    *mine = SECRET;
    result("nothing to begin with", call_evil(ATTACK_NONE, 0, 0) == 1);
    uint64_t alone = work_time();
    result("memory of others is refused", call_evil(ATTACK_MEMORY, 0, 0) == 1);
    under(ATTACK_ONE, "one counter", alone, false);
    under(ATTACK_FRAMES, "one counter with frames", alone, true);
    under(ATTACK_ALL, "all counters", alone, true);
    under(ATTACK_AGAIN, "all counters, again and again", alone, true);
    under_cycles(1, "one counter, all intervals", alone);
    under_cycles(FOLLOWED, "three counters, all intervals", alone);
    under_cycles(COUNTERS, "six counters, all intervals", alone);
    result("a session that takes too much is switched off", all_storms != 0);
    uint64_t after = work_time();
    result("all is as before", after <= alone + alone / 100 && *mine == SECRET);
    say("done\n");
}

void init(void)
{
    if (am("evil")) {
        descriptor.magic = MKPERF_DESCRIPTOR_MAGIC;
        __sel4_ipc_buffer->userData = (uintptr_t)&descriptor;
    } else {
        run_all();
    }
}
