/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * What a sample costs, with the real profiler PD: the PD `cost` is its client and the work at once. And
 * what a caller in it costs: the PD `served`, of the same program, does the work in a protected call.
 *
 * It runs the same work without and with sampling and takes the time, in an emulator whose time is
 * instructions; the work itself measures how many a tick has. The difference divided by the
 * number of samples is the hook, the wake-ups (one for 64 samples) and the profiler PD's copy into
 * the output ring, which is not emptied during the measurement. The caller has one return address.
 * Prints `figure NAME VALUE`, VALUE in thousandths.
 */
#include "client.h"

enum {
    CH_SERVED = 2,
    DEPTH = 6, /* with the surrounding functions: eight return addresses */
    ITERATIONS = 50000000,
    PERIOD = 100003,
    WAKE_SAMPLES = 64,
    LOOP = 2, /* instructions of an iteration */
};

__attribute__((noinline)) static void descend(int depth) // NOLINT(misc-no-recursion)
{
    if (depth > 1) {
        descend(depth - 1);
    } else {
        spin(ITERATIONS);
    }
    __asm__ volatile("" ::: "memory");
}

static uint64_t work(void)
{
    uint64_t before = ticks();

    descend(DEPTH);
    return ticks() - before;
}

/* microkit_ppcall by a function that no frame leads from. */
microkit_msginfo call_without_frames(microkit_channel ch, microkit_msginfo msginfo);
__asm__("call_without_frames:\n\t"
        "stp x29, x30, [sp, #-16]!\n\t"
        "mov x29, xzr\n\t"
        "bl microkit_ppcall\n\t"
        "ldp x29, x30, [sp], #16\n\t"
        "ret");

static uint64_t served_work(void)
{
    microkit_msginfo done = call_without_frames(CH_SERVED, microkit_msginfo_new(0, 0));

    return microkit_msginfo_get_label(done);
}

/* Frames of the samples in the output ring, and how many samples. */
static uint64_t frames_seen(uint64_t *samples)
{
    struct mkperf_ring_consumer c = {mkperf_output_ring(mkperf_output), MKPERF_OUTPUT_RING_BYTES,
                                     mkperf_output_ring(mkperf_output)->tail};
    uint64_t frames = 0;
    bool corrupt = false;
    unsigned size;
    const uint64_t *record;

    *samples = 0;
    while ((record = mkperf_ring_peek(&c, &size, &corrupt)) != NULL) {
        if (mkperf_record_type(record[0]) == MKPERF_RECORD_SAMPLE) {
            frames += mkperf_record_nframes(record[0]);
            ++*samples;
        }
        mkperf_ring_release(&c, size);
    }
    return frames;
}

struct cost {
    uint64_t samples, words; /* words: of chains, a sample */
    uint64_t thousandths;    /* instructions a sample */
};

/* What samples of that work cost, with so many callers. Without jitter the numbers of samples of two
 * measurements are equal, so that their difference is exact. False: it was said why not. */
static bool measure(uint64_t (*do_work)(void), bool jitter, uint32_t callers, struct cost *c)
{
    struct mkperf_session_request *r = &page()->request;

    *r = MKPERF_SESSION_REQUEST_ZERO;
    r->wake_samples = WAKE_SAMPLES;
    r->configure.max_frames = 16;
    r->configure.callers = callers;
    r->configure.no_jitter = !jitter;
    r->configure.events_count = 1;
    r->configure.events[0].raw = 0x11;
    r->configure.events[0].user = true;
    r->configure.events[0].period = PERIOD;
    if (call(MKPERF_OP_CONFIGURE) != MKPERF_RESULT_OK) {
        microkit_dbg_puts("cost: the profiler refuses: ");
        microkit_dbg_puts(page()->error.text);
        microkit_dbg_puts("\n");
        return false;
    }
    uint64_t off = do_work();
    if (call(MKPERF_OP_START) != MKPERF_RESULT_OK) {
        microkit_dbg_puts("cost: the profiler does not start\n");
        return false;
    }
    uint64_t on = do_work();
    call(MKPERF_OP_STOP);
    uint64_t frames = frames_seen(&c->samples);
    if (c->samples == 0 || page()->status.lost_ring + page()->status.lost_output != 0) {
        microkit_dbg_puts("cost: no samples, or lost ones\n");
        return false;
    }
    c->words = frames * 1000 / c->samples;
    c->thousandths = (on - off) * LOOP * ITERATIONS / c->samples * 1000 / off;
    return true;
}

static void measure_all(void)
{
    struct cost plain, alone, called;

    if (!measure(work, true, 0, &plain) || !measure(served_work, false, 0, &alone) ||
        !measure(served_work, false, 1, &called)) {
        return;
    }
    figure("samples", plain.samples * 1000);
    figure("frames", plain.words);
    figure("hook_and_copy_instructions_per_sample", plain.thousandths);
    figure("caller_words", called.words - alone.words);
    figure("hook_and_copy_instructions_per_caller", called.thousandths - alone.thousandths);
}

void init(void)
{
    if (microkit_name[0] == 's') {
        return;
    }
    measure_all();
    measure_all(); /* again, now warm */
    microkit_dbg_puts("cost: done\n");
}

microkit_msginfo protected(microkit_channel ch, microkit_msginfo msginfo)
{
    (void)ch;
    (void)msginfo;
    return microkit_msginfo_new(work(), 0);
}

void notified(microkit_channel ch)
{
    (void)ch;
}
