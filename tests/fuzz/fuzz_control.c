/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The client PD with hosts, applications, a profiler PD and an output ring that behave arbitrarily:
 * the input is a script of connections, frames (some with a valid MAC), lines of text, results of
 * calls, records, and how many bytes each link accepts.
 */
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <mkperf/frame.h>

#include "pd/client/control.h"

enum { RING = 4096, PLACES = 4, QUEUES = 2 };

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static struct {
    const uint8_t *data;
    size_t size;
} input;

static struct mkperf_client client;
static struct mkperf_connection places[PLACES];
static uint8_t queues[QUEUES][MKPERF_LINK_BYTES];
static const struct mkperf_shared_key keys[] = {{"", {1, 2, 3}}, {"a", {4}}};
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

/* The input writes any bytes to any place of the page. */
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
    ((struct mkperf_session_page *)page)->output_bytes = RING; /* what the region holds */
    return byte() % 12;
}

static unsigned connection(void)
{
    return byte() % PLACES;
}

static void say(unsigned who, const uint8_t *message, size_t n)
{
    uint8_t out[MKPERF_FRAME_BYTES];
    size_t length = mkperf_frame_encode(out, byte(), message, n);

    for (size_t i = 0; i < length; i++) {
        mkperf_client_byte(&client, who, out[i]);
    }
}

static void frame(void)
{
    unsigned who = connection();
    size_t n = byte();
    const uint8_t *p = take(&n);

    say(who, p, n);
}

/* With a valid MAC. */
static void sealed_frame(void)
{
    unsigned who = connection();
    struct mkperf_link *l = &client.connection[who].link;
    uint8_t message[256 + MKPERF_SEAL_BYTES];
    uint8_t out[MKPERF_FRAME_BYTES];
    size_t n = byte();
    const uint8_t *p = take(&n);
    uint64_t number = l->accepted + 1;

    if (n != 0) {
        memcpy(message, p, n);
    }
    n = mkperf_auth_seal(l->in_key, number, message, n);
    n = mkperf_frame_encode(out, (uint16_t)number, message, n);
    for (size_t i = 0; i < n; i++) {
        mkperf_client_byte(&client, who, out[i]);
    }
}

/* The right proof for the hellos. */
static void prove(void)
{
    unsigned who = connection();
    const struct mkperf_connection *c = &client.connection[who];
    uint8_t message[4 + MKPERF_PROOF_BYTES] = {
        mkperf_ToTarget_prove_tag << 3 | 2, 2 + MKPERF_PROOF_BYTES, 1 << 3 | 2, MKPERF_PROOF_BYTES};

    if (c->claim.open) {
        mkperf_auth_proof(c->claim.key, MKPERF_ROLE_HOST, &c->claim.hellos, message + 4);
    }
    say(who, message, sizeof message);
}

static void raw(void)
{
    unsigned who = connection();
    size_t n = byte();
    const uint8_t *p = take(&n);

    for (size_t i = 0; i < n; i++) {
        mkperf_client_byte(&client, who, p[i]);
    }
}

static void app(void)
{
    uint64_t words[16] = {0};
    size_t n = sizeof words;
    uint64_t label = byte() % 5;
    const uint8_t *p = take(&n);

    if (n != 0) {
        memcpy(words, p, n);
    }
    mkperf_client_app(&client, label, words, byte() % 17);
}

static void open_or_close(void)
{
    unsigned who = connection();

    if (client.connection[who].used) {
        mkperf_client_closed(&client, who);
    } else {
        mkperf_client_open(&client, byte() & 1);
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

/* A valid record from a few words of input. */
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

static void drain_line(unsigned who, size_t n)
{
    struct mkperf_link *l = &client.connection[who].link;
    size_t there;

    mkperf_link_out(l, &there);
    mkperf_link_sent(l, n < there ? n : there);
    if (mkperf_client_finished(&client, who)) {
        mkperf_client_closed(&client, who);
    }
}

static uint64_t clock_ticks(void)
{
    return input.size * 100000;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct mkperf_ring *r = (struct mkperf_ring *)ring;

    input.data = data;
    input.size = size;
    memset(&client, 0, sizeof client);
    memset(places, 0, sizeof places);
    memset(page, 0, sizeof page);
    memset(ring, 0, sizeof ring);
    client.platform = "fuzz";
    client.page = (struct mkperf_session_page *)page;
    client.ring = (struct mkperf_ring_consumer){.ring = r, .size = RING};
    client.call = call;
    client.connection = places;
    client.places = PLACES;
    client.queue = queues;
    client.hosts = QUEUES;
    client.key = byte() & 1 ? keys : NULL;
    client.keys = 2;
    client.clock = byte() & 1 ? clock_ticks : NULL;
    client.clock_hz = 1000;
    mkperf_client_init(&client);
    mkperf_client_open(&client, false);
    while (input.size != 0) {
        switch (byte() % 11) {
        case 0:
            frame();
            break;
        case 1:
            mkperf_client_byte(&client, connection(), byte());
            break;
        case 2:
            records(r);
            break;
        case 3:
            record(r);
            break;
        case 4:
            drain_line(connection(), (size_t)byte() << 8);
            break;
        case 5:
            sealed_frame();
            break;
        case 6:
            prove();
            break;
        case 7:
            raw();
            break;
        case 8:
            app();
            break;
        case 9:
            open_or_close();
            break;
        default:
            mkperf_client_pump(&client);
        }
    }
    return 0;
}
