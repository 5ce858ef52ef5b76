/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Selftest: the smallest user of the kernel hook. Counter 0 counts cycles at EL0, counter 1 cycles
 * at EL1.
 */
#include <microkit.h>

#include <stdbool.h>

#include <mkperf/descriptor.h>
#include <mkperf/ring.h>

#include "sampling.h"

enum { RING_BYTES = 1 << 18, BUSY_THREAD = 2, CODE_START = 0x200000, CODE_END = 0x300000 };

#define NOT_AT_EL1 (UINT32_C(1) << 31)
#define NOT_AT_EL0 (UINT32_C(1) << 30)
#define CPU_CYCLES UINT32_C(0x11)

uintptr_t rings;
static struct mkperf_ring_consumer ring;
static uint64_t answers[ANSWERS];
static struct mkperf_descriptor descriptor __attribute__((aligned(4096)));
static bool discard; /* drop what is there unread at a wake-up, to measure only the wake-up */

static bool request(uint32_t op)
{
    descriptor.op = op;
    __atomic_store_n(&descriptor.sequence, descriptor.sequence + 1, __ATOMIC_RELEASE);
    microkit_irq_ack(0);
    return __atomic_load_n(&descriptor.answered, __ATOMIC_ACQUIRE) == descriptor.sequence &&
           descriptor.answer.status == MKPERF_REQUEST_OK;
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

static void take_record(const uint64_t *w)
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
        take_record(w);
        mkperf_ring_release(&ring, size);
    }
    answers[ANSWER_BAD] += corrupt;
}

static void start_sampling(uint32_t counters, uint32_t period, uint32_t watermark)
{
    struct mkperf_configuration *want = &descriptor.want;
    struct mkperf_ring *shared = (struct mkperf_ring *)rings;

    *shared = (struct mkperf_ring){0};
    ring = (struct mkperf_ring_consumer){shared, RING_BYTES, 0};
    for (unsigned i = 0; i < ANSWERS; i++) {
        answers[i] = 0;
    }
    want->counter_mask = counters;
    want->enable_mask = counters;
    want->kernel_mask = counters & 2;
    want->max_frames = 16;
    want->watermark = watermark;
    want->ring_bytes = RING_BYTES;
    want->ring = rings;
    for (unsigned i = 0; i < 2; i++) {
        want->counter[i] = (struct mkperf_request_counter){
            .select = CPU_CYCLES | (i == 0 ? NOT_AT_EL1 : NOT_AT_EL0),
            .left = period,
            .interval = period,
            .least = i == 0 ? MKPERF_HOOK_MIN_PERIOD : MKPERF_MIN_KERNEL_PERIOD,
            .period = period};
    }
    answers[ANSWER_BAD] += !request(MKPERF_REQUEST_APPLY);
}

static void stop_sampling(void)
{
    const struct mkperf_ring *r = ring.ring;

    answers[ANSWER_BAD] += !request(MKPERF_REQUEST_WITHDRAW);
    drain();
    answers[ANSWER_LOST] = r->lost.samples + r->lost.late + descriptor.answer.disturbed;
}

void init(void)
{
    descriptor.magic = MKPERF_DESCRIPTOR_MAGIC;
    __sel4_ipc_buffer->userData = (uintptr_t)&descriptor;
}

void notified(microkit_channel ch)
{
    answers[ANSWER_WAKES]++;
    if (discard) {
        mkperf_ring_release(&ring, (unsigned)(ring.ring->head - ring.tail));
    } else {
        drain();
        microkit_irq_ack(ch);
    }
}

microkit_msginfo protected(microkit_channel ch, microkit_msginfo info)
{
    (void)ch;
    switch (microkit_msginfo_get_label(info)) {
    case CALL_START:
        discard = microkit_mr_get(3) != 0;
        start_sampling((uint32_t)microkit_mr_get(0), (uint32_t)microkit_mr_get(1),
                       (uint32_t)microkit_mr_get(2));
        break;
    case CALL_STOP:
        stop_sampling();
        for (unsigned i = 0; i < ANSWERS; i++) {
            microkit_mr_set((uint8_t)i, answers[i]);
        }
        return microkit_msginfo_new(0, ANSWERS);
    default:
        break;
    }
    return microkit_msginfo_new(0, 0);
}
