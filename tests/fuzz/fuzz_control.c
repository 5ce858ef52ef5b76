/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The client PD with hosts, applications, a profiler PD and an output ring that behave arbitrarily:
 * the input is a script of connections, frames (some with a valid MAC), lines of text, results of
 * calls, records, and how many bytes each link accepts.
 *
 * The mutator runs an input to learn where its steps begin, and puts steps with whole requests,
 * commands and records there.
 */
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <mkperf/client.h>
#include <mkperf/frame.h>
#include <mkperf/sched.h>
#include <pb_encode.h>

#include "fuzz/input.h"
#include "fuzz/mutate_message.h"
#include "pd/client/control.h"

enum { RING = 4096, PLACES = 4, QUEUES = 2, STEPS = 256 };

enum step {
    FRAME,
    BYTE,
    RECORDS,
    RECORD,
    DRAIN,
    SEALED,
    PROVE,
    RAW,
    APP,
    OPEN_CLOSE,
    PUMP,
    KINDS,
    HELLO = 220, /* and above: other bytes have the meaning that they had */
    EVENT = 231,
    BYTES_OF_STEP = 256,
};

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static size_t step_at[STEPS]; /* where the steps of the last input begin */
static unsigned steps;
static struct mkperf_client client;
static struct mkperf_connection places[PLACES];
static uint8_t queues[QUEUES][MKPERF_LINK_BYTES];
static const struct mkperf_shared_key keys[] = {{"", {1, 2, 3}}, {"a", {4}}};
static uint64_t page[MKPERF_SESSION_PAGE_BYTES / 8];
static uint64_t ring[(MKPERF_RING_HEADER_BYTES + RING) / 8];

/* Makes a call of the profiler PD. Before it, the input writes any bytes to any place of the page. */
static uint32_t call(uint32_t op)
{
    size_t n = byte();
    size_t at = (size_t)(byte() | byte() << 8) % sizeof page;
    const uint8_t *p = take_bytes(&n);

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
    const uint8_t *p = take_bytes(&n);

    say(who, p, n);
}

/* Sends a frame with a valid MAC. */
static void sealed_frame(void)
{
    unsigned who = connection();
    struct mkperf_link *l = &client.connection[who].link;
    uint8_t message[256 + MKPERF_MAC_BYTES];
    uint8_t out[MKPERF_FRAME_BYTES];
    size_t n = byte();
    const uint8_t *p = take_bytes(&n);
    uint64_t number = l->accepted + 1;

    if (n != 0) {
        memcpy(message, p, n);
    }
    n = mkperf_auth_mac(l->in_key, number, message, n);
    n = mkperf_frame_encode(out, (uint16_t)number, message, n);
    for (size_t i = 0; i < n; i++) {
        mkperf_client_byte(&client, who, out[i]);
    }
}

/* Sends a hello of this protocol, with a nonce and a key that exist, or not. */
static void hello(void)
{
    mkperf_ToTarget m = {.request = 1, .which_msg = mkperf_ToTarget_hello_tag};
    mkperf_HostHello *h = &m.msg.hello;
    uint8_t message[MKPERF_CONTENT_BYTES];
    pb_ostream_t out = pb_ostream_from_buffer(message, sizeof message);
    unsigned who = connection(), how = byte();

    h->protocol = MKPERF_PROTOCOL;
    h->watch = how & 1;
    h->nonce.size = how & 2 ? byte() % (MKPERF_NONCE_BYTES + 1) : MKPERF_NONCE_BYTES;
    h->name[0] = (char)(how & 4 ? 0 : byte());
    h->key[0] = (char)(how & 8 ? byte() : 0);
    if (pb_encode(&out, mkperf_ToTarget_fields, &m)) {
        say(who, message, out.bytes_written);
    }
}

/* Sends the right proof for the hellos. */
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
    const uint8_t *p = take_bytes(&n);

    for (size_t i = 0; i < n; i++) {
        mkperf_client_byte(&client, who, p[i]);
    }
}

static void app(void)
{
    uint64_t words[16] = {0};
    size_t n = sizeof words;
    uint64_t label = byte() % 8;
    bool whole = label > 4; /* MKPERF_APP_DUMP, with as many words as it has */
    const uint8_t *p = take_bytes(&n);

    if (n != 0) {
        memcpy(words, p, n);
    }
    label = whole ? MKPERF_APP_DUMP : label;
    mkperf_client_app(&client, label, words, whole ? MKPERF_APP_MARK_WORDS : byte() % 17);
}

static void open_or_close(void)
{
    unsigned who = connection();

    unsigned how = client.connection[who].used ? 0 : byte();

    if (client.connection[who].used) {
        mkperf_client_closed(&client, who);
    } else {
        mkperf_client_open(&client, how & 1);
        while (how & 2 && mkperf_client_open(&client, how & 1) >= 0) {
        }
        int oldest = mkperf_client_least(&client);
        if (oldest >= PLACES || (oldest >= 0 && !client.connection[oldest].used)) {
            abort();
        }
    }
}

/* Bytes into the ring's data, and its head somewhere. */
static void records(struct mkperf_ring *r)
{
    size_t n = byte();
    const uint8_t *p = take_bytes(&n);
    size_t at = r->head % RING;

    for (size_t i = 0; i < n; i++) {
        ((uint8_t *)r->data)[(at + i) % RING] = p[i];
    }
    r->head += byte() & 1 ? (n & ~(size_t)7) : byte();
}

/* Writes a valid sample or loss, made of a few words of input. */
static void record(struct mkperf_ring *r)
{
    struct mkperf_ring_producer p = {.ring = r, .size = RING, .head = r->head};
    unsigned nframes = byte() % (MKPERF_MAX_FRAMES + 2);
    unsigned flags = byte() & 63;
    unsigned reads = flags & MKPERF_SAMPLE_READ ? 1 + nframes % 3 : 0;
    unsigned words = MKPERF_SAMPLE_FIXED_WORDS + (flags & 1) + nframes +
                     (reads != 0 ? 1 + reads : 0);
    uint64_t *w = r->head % 8 == 0 ? mkperf_ring_reserve(&p, UINT64_C(8) * words) : NULL;

    if (w == NULL) {
        return;
    }
    w[0] = mkperf_record_header(1 + byte() % 2, 8 * words, nframes, byte(), flags, byte() % 3);
    for (unsigned i = 1; i < words; i++) {
        w[i] = byte() * UINT64_C(0x0101010101010101) << byte() % 64;
    }
    if (reads != 0) {
        w[words - 1 - reads] = reads;
    }
    for (unsigned i = 0; i < reads; i++) {
        w[words - reads + i] = (uint64_t)(2 * i + byte() % 2) << MKPERF_READ_COUNTER_SHIFT | byte();
    }
    mkperf_ring_commit(&p, 8 * (uint64_t)words);
}

/* Writes a scheduling event or a fault in this way. */
static void event(struct mkperf_ring *r)
{
    static const struct {
        unsigned type, words;
    } kinds[] = {{MKPERF_RECORD_SCHED, MKPERF_SCHED_OUTPUT_WORDS},
                 {MKPERF_RECORD_SCHED, MKPERF_SCHED_OUTPUT_WORDS},
                 {MKPERF_RECORD_SCHED_LOSS, MKPERF_SCHED_LOSS_WORDS},
                 {MKPERF_RECORD_FAULT, MKPERF_FAULT_WORDS}};
    struct mkperf_ring_producer p = {.ring = r, .size = RING, .head = r->head};
    unsigned kind = byte() % 4, words = kinds[kind].words;
    uint64_t *w = r->head % 8 == 0 ? mkperf_ring_reserve(&p, UINT64_C(8) * words) : NULL;

    if (w == NULL) {
        return;
    }
    w[0] = kinds[kind].type | (uint64_t)(8 * words) << 16 | (uint64_t)byte() << 32 |
           (uint64_t)byte() << 40 | (uint64_t)byte() << 48 | (uint64_t)(byte() % 3) << 56;
    for (unsigned i = 1; i < words; i++) {
        w[i] = (uint64_t)byte() << byte() % 64;
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
    steps = 0;
    while (input.size != 0) {
        if (steps < STEPS) {
            step_at[steps++] = size - input.size;
        }
        unsigned kind = byte();
        switch (kind >= EVENT ? EVENT : kind >= HELLO ? HELLO : kind % KINDS) {
        case FRAME:
            frame();
            break;
        case BYTE:
            mkperf_client_byte(&client, connection(), byte());
            break;
        case RECORDS:
            records(r);
            break;
        case RECORD:
            record(r);
            break;
        case DRAIN:
            drain_line(connection(), (size_t)byte() << 8);
            break;
        case SEALED:
            sealed_frame();
            break;
        case PROVE:
            prove();
            break;
        case HELLO:
            hello();
            break;
        case RAW:
            raw();
            break;
        case APP:
            app();
            break;
        case OPEN_CLOSE:
            open_or_close();
            break;
        case EVENT:
            event(r);
            break;
        default:
            mkperf_client_pump(&client);
        }
    }
    return 0;
}

/* Makes a step of random content. Returns its length. */
static size_t new_step(uint8_t out[BYTES_OF_STEP + 64])
{
    static const char *const commands[] = {
        "events\n",         "events cycles\n", "events cycles:u,instructions:k\n",
        "period 1000\n",    "status\n",        "help\n",
        "start\n",          "stop\n",          "connect\n",
        "events {a,b}:S\n", "flush\n",         "frequency 100\n",
        "exit\n",           "clear\n",         "sched on\n",
        "sched off\n",      "sched\n",         "events a,b,c,d,e,f,g,h,i,j,k,l,m,n,o,p,q\n",
    };
    static const uint8_t kinds[] = {HELLO, HELLO, FRAME, FRAME, SEALED, SEALED,     RAW,    RECORD,
                                    APP,   PROVE, PUMP,  EVENT, DRAIN,  OPEN_CLOSE, RECORDS};
    unsigned kind = kinds[mutate_random(sizeof kinds)];
    const char *command = commands[mutate_random(sizeof commands / sizeof *commands)];
    size_t n = 0;

    out[n++] = (uint8_t)kind;
    if (kind == PUMP) {
        return n;
    }
    out[n++] = (uint8_t)mutate_random(PLACES);
    if (kind == FRAME || kind == SEALED) {
        size_t length = mutate_message_new(out + n + 1, mkperf_ToTarget_fields, 0);
        out[n] = (uint8_t)length;
        n += 1 + length;
    } else if (kind == RAW) {
        out[n++] = (uint8_t)strlen(command);
        memcpy(out + n, command, strlen(command));
        n += strlen(command);
    } else if (kind != PROVE) {
        for (unsigned i = mutate_random(32); i > 0; i--) {
            out[n++] = (uint8_t)mutate_number(0);
        }
    }
    for (unsigned i = mutate_random(8); i > 0;
         i--) { /* the bytes that calls of the profiler PD consume */
        out[n++] = 0;
    }
    return n;
}

size_t LLVMFuzzerCustomMutator(uint8_t *data, size_t size, size_t max, unsigned seed)
{
    uint8_t step[BYTES_OF_STEP + 64];

    mutate_seed(seed);
    if (size < 3 || mutate_random(2) == 0) {
        return LLVMFuzzerMutate(data, size, max);
    }
    (void)LLVMFuzzerTestOneInput(data, size);
    if (steps == 0) {
        return LLVMFuzzerMutate(data, size, max);
    }
    unsigned i = mutate_random(steps);
    size_t at = step_at[i], end = i + 1 < steps ? step_at[i + 1] : size;
    if (mutate_random(4) == 0) {
        return mutate_replace(data, size, max, at, end - at, NULL, 0);
    }
    return mutate_replace(data, size, max, at, 0, step, new_step(step));
}
