/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Selftest: the smallest user of the kernel hook. Counter 0 counts cycles at EL0, counter 1 cycles
 * at EL1, counter 2 all retired instructions (for `busy`, never sampled).
 */
#include <microkit.h>

#include <stdbool.h>

#include <mkperf/descriptor.h>
#include <mkperf/ring.h>

#include "sampling.h"

enum { RING_BYTES = 1 << 18, BUSY_THREAD = 2, CODE_START = 0x200000, CODE_END = 0x300000 };

#define NOT_AT_EL1 (UINT64_C(1) << 31)
#define NOT_AT_EL0 (UINT64_C(1) << 30)
#define CPU_CYCLES UINT64_C(0x11)
#define INST_RETIRED UINT64_C(0x08)

#define WRITE(name, value) __asm__ volatile("msr " #name ", %0\n\tisb" : : "r"((uint64_t)(value)))

uintptr_t rings;
static struct mkperf_ring_consumer ring;
static uint64_t answers[ANSWERS];
static uint32_t generation;
static bool discard; /* on a wake, release what is there unread: to measure the wake alone */

static volatile struct mkperf_descriptor *descriptor(void)
{
    return (volatile struct mkperf_descriptor *)(void *)((char *)__sel4_ipc_buffer +
                                                         MKPERF_DESCRIPTOR_OFFSET);
}

static void note_kernel_pc(uint64_t pc)
{
    uint64_t n = answers[ANSWER_KERNEL_PCS];

    for (uint64_t i = 0; i < n; i++) {
        if (answers[ANSWER_KERNEL_PCS + 1 + i] == pc) {
            return;
        }
    }
    if (ANSWER_KERNEL_PCS + 1 + n < ANSWERS) {
        answers[ANSWER_KERNEL_PCS + 1 + n] = pc;
        answers[ANSWER_KERNEL_PCS] = n + 1;
    }
}

static int in_code(uint64_t pc)
{
    return pc >= CODE_START && pc < CODE_END;
}

static void take(const uint64_t *w)
{
    unsigned flags = mkperf_record_flags(w[MKPERF_WORD_HEADER]);
    unsigned nframes = mkperf_record_nframes(w[MKPERF_WORD_HEADER]);
    const uint64_t *frames = w + MKPERF_SAMPLE_FIXED_WORDS + (flags & MKPERF_SAMPLE_KERNEL ? 1 : 0);

    answers[ANSWER_EVENTS] += w[MKPERF_WORD_PERIOD];
    if (flags & MKPERF_SAMPLE_NO_USER) {
        answers[ANSWER_IDLE]++;
        answers[ANSWER_BAD] += w[MKPERF_WORD_THREAD] != MKPERF_THREAD_IDLE;
        return;
    }
    if (flags & MKPERF_SAMPLE_KERNEL) {
        answers[ANSWER_KERNEL]++;
        note_kernel_pc(w[MKPERF_SAMPLE_FIXED_WORDS]);
    } else {
        answers[ANSWER_SAMPLES]++;
        answers[ANSWER_BAD] += w[MKPERF_WORD_THREAD] != BUSY_THREAD;
        answers[ANSWER_FRAMES] = nframes;
    }
    answers[ANSWER_BAD] += !in_code(w[MKPERF_WORD_PC]) || (flags & MKPERF_SAMPLE_BAD_FP) != 0;
    for (unsigned i = 0; i < nframes; i++) {
        answers[ANSWER_BAD] += !in_code(frames[i]);
    }
}

static void drain(void)
{
    bool corrupt = false;
    unsigned size;
    const uint64_t *w;

    while ((w = mkperf_ring_peek(&ring, &size, &corrupt)) != NULL) {
        take(w);
        mkperf_ring_release(&ring, size);
    }
    answers[ANSWER_BAD] += corrupt;
}

static void start(uint32_t counters, uint32_t period, uint32_t watermark)
{
    volatile struct mkperf_descriptor *d = descriptor();
    struct mkperf_ring *shared = (struct mkperf_ring *)rings;

    *shared = (struct mkperf_ring){0};
    ring = (struct mkperf_ring_consumer){shared, RING_BYTES, 0};
    for (unsigned i = 0; i < ANSWERS; i++) {
        answers[i] = 0;
    }
    d->generation = ++generation;
    d->counter_mask = counters;
    d->kernel_mask = 2;
    d->max_frames = 16;
    d->watermark = watermark;
    d->ring_bytes = RING_BYTES;
    d->ring[0] = rings;
    for (unsigned i = 0; i < 2; i++) {
        d->counter[i].first = period;
        d->counter[i].period = period;
        d->counter[i].jitter_mask = 0;
    }
    __atomic_store_n(&d->magic, MKPERF_DESCRIPTOR_MAGIC, __ATOMIC_RELEASE);
    WRITE(pmevtyper0_el0, CPU_CYCLES | NOT_AT_EL1);
    WRITE(pmevtyper1_el0, CPU_CYCLES | NOT_AT_EL0);
    WRITE(pmevcntr0_el0, (uint32_t)-period);
    WRITE(pmevcntr1_el0, (uint32_t)-period);
    WRITE(pmovsclr_el0, 7);
    WRITE(pmcntenset_el0, counters);
}

static void stop(void)
{
    const struct mkperf_ring *r = ring.ring;

    WRITE(pmcntenclr_el0, 3);
    descriptor()->magic = 0;
    drain();
    answers[ANSWER_LOST] = r->dropped_samples + r->spurious + r->late_events;
}

void init(void)
{
    WRITE(pmevtyper2_el0, INST_RETIRED);
    WRITE(pmevcntr2_el0, 0);
    WRITE(pmcr_el0, 1);
    WRITE(pmcntenset_el0, 4);
}

void notified(microkit_channel ch)
{
    answers[ANSWER_WAKES]++;
    if (discard) {
        mkperf_ring_release(&ring, (unsigned)(ring.ring->head - ring.tail));
    } else if (descriptor()->magic == MKPERF_DESCRIPTOR_MAGIC) {
        drain();
    } else {
        microkit_irq_ack(ch);
    }
}

microkit_msginfo protected(microkit_channel ch, microkit_msginfo info)
{
    (void)ch;
    switch (microkit_msginfo_get_label(info)) {
    case CALL_START:
        discard = microkit_mr_get(3) != 0;
        start((uint32_t)microkit_mr_get(0), (uint32_t)microkit_mr_get(1),
              (uint32_t)microkit_mr_get(2));
        break;
    case CALL_STOP:
        stop();
        for (unsigned i = 0; i < ANSWERS; i++) {
            microkit_mr_set((uint8_t)i, answers[i]);
        }
        return microkit_msginfo_new(0, ANSWERS);
    default:
        break;
    }
    return microkit_msginfo_new(0, 0);
}
