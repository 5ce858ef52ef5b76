/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Writes a capture of N samples to the standard output, as `mkperf record --raw` would have written
 * it: hello, session, batches, status. Used by the benchmarks to load the host half.
 *
 *   gen_capture SAMPLES [CHAINS [FRAMES]]    chains in use (at most 512), frames in each
 *
 * The samples imitate a busy system: half of the neighbours share a chain, pcs are in one function,
 * every batch has a new chain.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <mkperf/frame.h>
#include <mkperf/jitter.h>
#include <mkperf/record.h>
#include <pb_encode.h>

#include "mkperf.pb.h"

enum { BATCH = 200, TICK_HZ = 62500000, STEP = 625, BASE = 100000, WIDTH = 16, PDS = 4 };

/* Ticks for 2^16 events: 1/16 of a tick for each. */
#define RATE (UINT64_C(1) << (MKPERF_RATE_SHIFT - 4))

struct generator {
    uint16_t sequence;
    uint64_t sent, time, random;
    unsigned chains, frames, epoch, batches;
    bool known[MKPERF_CHAIN_SLOTS];
    unsigned define[BATCH][2]; /* slot, at */
    unsigned ndefine;
    mkperf_ToHost m;
};

/* n > 0 */
static uint32_t draw(struct generator *g, uint32_t n)
{
    g->random = g->random * UINT64_C(6364136223846793005) + UINT64_C(1442695040888963407);
    return (uint32_t)((g->random >> 32) * n >> 32);
}

static void send(struct generator *g)
{
    uint8_t message[2 * MKPERF_MESSAGE_BYTES], frame[MKPERF_FRAME_BYTES];
    pb_ostream_t out = pb_ostream_from_buffer(message, sizeof message);

    if (!pb_encode(&out, mkperf_ToHost_fields, &g->m)) {
        fprintf(stderr, "gen_capture: %s\n", PB_GET_ERROR(&out));
        exit(1);
    }
    size_t n = mkperf_frame_encode(frame, g->sequence++, message, out.bytes_written);
    if (n == 0) {
        fprintf(stderr, "gen_capture: a batch of %zu bytes\n", out.bytes_written);
        exit(1);
    }
    if (fwrite(frame, 1, n, stdout) != n) {
        perror("gen_capture");
        exit(1);
    }
}

static uint64_t chain_pc(unsigned slot)
{
    return 0x200000 + (uint64_t)slot * 64;
}

static bool put_chains(pb_ostream_t *out, const pb_field_t *field, void *const *arg)
{
    struct generator *g = *arg;

    for (unsigned i = 0; i < g->ndefine; i++) {
        mkperf_Chain c = mkperf_Chain_init_zero;
        c.slot = g->define[i][0];
        c.at = g->define[i][1];
        c.thread = 2 + 1 + c.slot % PDS;
        c.flags = c.slot % 5 == 0 ? MKPERF_SAMPLE_KERNEL : 0;
        c.pc = chain_pc(c.slot);
        c.lr = c.pc + 0x400;
        c.kernel_pc = c.slot % 5 == 0 ? UINT64_C(0xffff000000080000) + c.slot * UINT64_C(16) : 0;
        c.frames_count = (pb_size_t)g->frames;
        for (unsigned k = 0; k < g->frames; k++) {
            c.frames[k] = 200 + 4 * k;
        }
        if (!pb_encode_tag_for_field(out, field) ||
            !pb_encode_submessage(out, mkperf_Chain_fields, &c)) {
            return false;
        }
    }
    return true;
}

static void hello(struct generator *g)
{
    mkperf_TargetHello *h = &g->m.msg.hello;

    memset(&g->m, 0, sizeof g->m);
    g->m.which_msg = mkperf_ToHost_hello_tag;
    *h = (mkperf_TargetHello){.protocol = MKPERF_PROTOCOL, .boot_id = 1, .counters = 6, .cores = 1};
    strcpy(h->platform, "generated");
    strcpy(h->cpu, "none");
    send(g);
}

static void session(struct generator *g, uint32_t request)
{
    mkperf_Session *s = &g->m.msg.session;

    memset(&g->m, 0, sizeof g->m);
    g->m.request = request;
    g->m.which_msg = mkperf_ToHost_session_tag;
    s->id = 1;
    s->running = true;
    s->max_frames = MKPERF_DEFAULT_FRAMES;
    s->events_count = 1;
    strcpy(s->events[0].name, "cycles");
    s->events[0].code = 0x11;
    s->events[0].user_counter = 1;
    s->events[0].kernel_counter = 1;
    s->events[0].period = BASE;
    send(g);
}

/* At most 3 new chains in a batch, so that it fits a frame; others are deferred. */
static unsigned pick(struct generator *g, unsigned before, unsigned at)
{
    unsigned slot = at != 0 && draw(g, 2) ? before : draw(g, g->chains);

    if (g->known[slot]) {
        return slot;
    }
    if (g->ndefine == 3) {
        return before;
    }
    g->known[slot] = true;
    g->define[g->ndefine][0] = slot;
    g->define[g->ndefine++][1] = at;
    return slot;
}

static void new_epoch(struct generator *g)
{
    g->epoch++;
    memset(g->known, 0, sizeof g->known);
    hello(g);
    session(g, 0);
}

static void batch(struct generator *g, unsigned n)
{
    mkperf_Batch *b = &g->m.msg.batch;
    unsigned slot = 0;

    if (g->batches++ % MKPERF_EPOCH_BATCHES == 0) {
        new_epoch(g);
    }
    memset(&g->m, 0, sizeof g->m);
    g->m.which_msg = mkperf_ToHost_batch_tag;
    *b = (mkperf_Batch){.session = 1,
                        .epoch = g->epoch,
                        .first_sample = g->sent,
                        .tick_hz = TICK_HZ,
                        .time_ticks = g->time,
                        .base_period_count = 1,
                        .base_period = {BASE},
                        .width_count = 1,
                        .width = {WIDTH},
                        .rate_count = 1,
                        .rate = {RATE}};
    g->ndefine = 0;
    for (unsigned i = 0; i < n; i++) {
        unsigned before = slot;
        uint64_t period = mkperf_jitter_interval(BASE, (1 << WIDTH) - 1,
                                                 mkperf_jitter_draw(g->time, 0, MKPERF_JITTER_MIX));
        slot = pick(g, slot, i);
        bool other = i == 0 || slot != before;
        b->pc[i] = 4 * (uint64_t)draw(g, 16) + other;
        if (other) {
            b->slot[b->slot_count++] = slot;
        }
        b->time[i] = i == 0 ? 0 : (int64_t)draw(g, 40) - 20;
        g->time += i == 0 ? 0 : (period * RATE >> MKPERF_RATE_SHIFT) + (uint64_t)b->time[i];
    }
    b->pc_count = b->time_count = (pb_size_t)n;
    b->period_count = n != 0;
    g->time += STEP;
    b->chains.funcs.encode = put_chains;
    b->chains.arg = g;
    send(g);
    g->sent += n;
}

static void status(struct generator *g)
{
    memset(&g->m, 0, sizeof g->m);
    g->m.which_msg = mkperf_ToHost_status_tag;
    g->m.msg.status.session = 1;
    g->m.msg.status.captured = g->m.msg.status.sent = g->sent;
    send(g);
}

int main(int argc, char **argv)
{
    static struct generator g = {.random = 1};
    uint64_t samples = argc > 1 ? strtoull(argv[1], NULL, 10) : 0;

    g.chains = argc > 2 ? (unsigned)strtoul(argv[2], NULL, 10) : 256;
    g.frames = argc > 3 ? (unsigned)strtoul(argv[3], NULL, 10) : 8;
    if (samples == 0 || g.chains == 0 || g.chains > MKPERF_CHAIN_SLOTS ||
        g.frames > MKPERF_MAX_FRAMES) {
        fputs("usage: gen_capture SAMPLES [CHAINS [FRAMES]]\n", stderr);
        return 2;
    }
    hello(&g);
    session(&g, 1);
    while (g.sent < samples) {
        batch(&g, samples - g.sent < BATCH ? (unsigned)(samples - g.sent) : BATCH);
    }
    status(&g);
    return fclose(stdout) == 0 ? 0 : 1;
}
