/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The client PD with a host, a profiler PD and an output ring that all do what they like: the input
 * is a script of frames, results of calls, records, and of how much the line takes.
 */
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <mkperf/frame.h>

#include "target/client/control.h"

enum { RING = 4096 };

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static struct {
    const uint8_t *data;
    size_t size;
} input;

static struct mkperf_client client;
static uint64_t page[MKPERF_SESSION_PAGE_BYTES / 8];
static uint64_t ring[(MKPERF_RING_HEADER_BYTES + RING) / 8];

static uint8_t byte(void)
{
    if (input.size == 0) {
        return 0;
    }
    input.size--;
    return *input.data++;
}

static const uint8_t *take(size_t *n)
{
    const uint8_t *p = input.data;

    *n = *n < input.size ? *n : input.size;
    input.data += *n;
    input.size -= *n;
    return p;
}

/* The page holds whatever the input says, at a place that it chooses. */
static uint32_t call(uint32_t op)
{
    size_t n = byte();
    size_t at = (size_t)(byte() | byte() << 8) % sizeof page;
    const uint8_t *p = take(&n);

    (void)op;
    if (n > sizeof page - at) {
        n = sizeof page - at;
    }
    if (n != 0) {
        memcpy((uint8_t *)page + at, p, n);
    }
    return byte() % 12;
}

static void frame(void)
{
    uint8_t out[MKPERF_FRAME_BYTES];
    size_t n = byte();
    const uint8_t *p = take(&n);
    size_t length = mkperf_frame_encode(out, 0, p, n);

    for (size_t i = 0; i < length; i++) {
        mkperf_client_byte(&client, 0, out[i]);
    }
}

/* Bytes into the ring's data, and its head somewhere. */
static void records(struct mkperf_ring *r)
{
    size_t n = byte();
    const uint8_t *p = take(&n);
    size_t at = r->head % RING;

    for (size_t i = 0; i < n; i++) {
        ((uint8_t *)r->data)[(at + i) % RING] = p[i];
    }
    r->head += byte() & 1 ? (n & ~(size_t)7) : byte();
}

/* A record that is one: few words of input, whole structure. */
static void record(struct mkperf_ring *r)
{
    struct mkperf_ring_producer p = {.ring = r, .size = RING, .head = r->head};
    unsigned nframes = byte() % (MKPERF_MAX_FRAMES + 2);
    unsigned flags = byte() & 15;
    unsigned words = MKPERF_SAMPLE_FIXED_WORDS + (flags & 1) + nframes;
    uint64_t *w = r->head % 8 == 0 ? mkperf_ring_reserve(&p, UINT64_C(8) * words) : NULL;

    if (w == NULL) {
        return;
    }
    w[0] = mkperf_record_header(1 + byte() % 2, 8 * words, nframes, byte(), flags, byte() % 3);
    for (unsigned i = 1; i < words; i++) {
        w[i] = byte() * UINT64_C(0x0101010101010101) << byte() % 64;
    }
    mkperf_ring_commit(&p, 8 * (uint64_t)words);
}

static void drain_line(size_t n)
{
    size_t there;

    mkperf_link_out(&client.connection[0].link, &there);
    mkperf_link_sent(&client.connection[0].link, n < there ? n : there);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct mkperf_ring *r = (struct mkperf_ring *)ring;

    input.data = data;
    input.size = size;
    memset(&client, 0, sizeof client);
    memset(page, 0, sizeof page);
    memset(ring, 0, sizeof ring);
    client.platform = "fuzz";
    client.page = (struct mkperf_session_page *)page;
    client.ring = (struct mkperf_ring_consumer){.ring = r, .size = RING};
    client.call = call;
    mkperf_client_init(&client);
    mkperf_client_open(&client, false);
    while (input.size != 0) {
        switch (byte() % 6) {
        case 0:
            frame();
            break;
        case 1:
            mkperf_client_byte(&client, 0, byte());
            break;
        case 2:
            records(r);
            break;
        case 3:
            record(r);
            break;
        case 4:
            drain_line((size_t)byte() << 8);
            break;
        default:
            mkperf_client_pump(&client);
        }
    }
    return 0;
}
