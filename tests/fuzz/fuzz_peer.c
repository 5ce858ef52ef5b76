/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * A target that says anything: hellos with any nonce, proof and boot id, authenticated and unauthenticated
 * messages, between any bytes. The first byte chooses: with or without a key, and whether what
 * follows is raw bytes or messages that are framed (and now and then authenticated) here. Also the text
 * forms of keys and addresses.
 */
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <unistd.h>

#include <mkperf/frame.h>

#include "fuzz/descriptor.h"
#include "fuzz/mutate_message.h"
#include "link/connection.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static unsigned handed_on;

static void on_text(void *self, const char *p, size_t n)
{
    (void)self, (void)p, (void)n;
}

static enum mkperf_status on_message(void *self, const uint8_t *p, size_t n, unsigned gap,
                                     struct mkperf_error *e)
{
    const struct mkperf_peer *peer = *(struct mkperf_peer **)self;

    (void)p, (void)n, (void)gap, (void)e;
    /* With a key, nothing but the hello gets through before the target has shown that it has it. */
    if (peer->state == MKPERF_PEER_GREETING || peer->has_key == (peer->state == MKPERF_PEER_OPEN)) {
        abort();
    }
    handed_on++;
    return MKPERF_OK;
}

static enum mkperf_status on_tick(void *self, struct mkperf_error *e)
{
    (void)self, (void)e;
    return MKPERF_OK;
}

int LLVMFuzzerInitialize(int *argc, char ***argv);

/* Makes once what does not depend on an input. */
int LLVMFuzzerInitialize(int *argc, char ***argv)
{
    struct mkperf_shared_key key;
    struct mkperf_error e;
    int fd = socket(AF_INET, SOCK_STREAM, 0);

    (void)argc, (void)argv;
    mkperf_net_tune(fd);
    close(fd);
    return mkperf_key_read("/nonexistent", &key, &e) == MKPERF_ERR_INPUT ? 0 : -1;
}

static void readers(const uint8_t *data, size_t n)
{
    struct mkperf_shared_key key;
    struct mkperf_net_address a;
    struct mkperf_error e;
    char *text = strndup((const char *)data, n);

    bool is_key = mkperf_key_parse(data, n, &key);
    if (n % 16 < 3) { /* a file that others may read, one that they may not, a pipe */
        struct descriptor d = descriptor_open(data, n, n % 16 == 2);
        (void)fchmod(d.fd, n % 16 == 0 ? 0644 : 0600);
        if (mkperf_key_read(d.path, &key, &e) == MKPERF_OK && (n % 16 == 0 || !is_key)) {
            abort();
        }
        descriptor_close(&d);
    }
    for (int lone = 0; text != NULL && lone < 2; lone++) {
        if (mkperf_net_address_parse(text, lone, &a) && strtoul(a.port, NULL, 10) - 1 >= 65535) {
            abort();
        }
    }
    free(text);
}

/* Messages with a length of two bytes; the highest bit of it asks for a MAC that is right. */
static void feed(struct mkperf_peer *p, const uint8_t *data, size_t n)
{
    uint8_t message[MKPERF_MESSAGE_BYTES], frame[MKPERF_FRAME_BYTES];
    struct mkperf_error e;
    uint16_t sequence = 0;

    while (n >= 2) {
        size_t length = data[0] | (size_t)(data[1] & 3) << 8;
        bool mac = data[1] & 0x80;
        sequence = (uint16_t)(sequence + 1 + (data[1] >> 2 & 3));
        data += 2;
        n -= 2;
        length = length < n ? length : n;
        memcpy(message, data, length);
        data += length;
        n -= length;
        if (mac) {
            length = mkperf_auth_mac(p->mac_in, sequence, message, length);
        }
        size_t size = mkperf_frame_encode(frame, sequence, message, length);
        if (mkperf_receiver_push(&p->receiver, frame, size, &e) != MKPERF_OK) {
            break;
        }
    }
}

static void converse(struct mkperf_peer *p, const uint8_t *data, size_t n)
{
    struct mkperf_error e;

    p->state = MKPERF_PEER_GREETING;
    p->hellos = (struct mkperf_auth_hellos){.name = p->name, .name_bytes = strlen(p->name)};
    memset(p->hellos.host_nonce, 7, sizeof p->hellos.host_nonce); /* the same in each run */
    p->request = 1;
    if (data[0] & 2) {
        feed(p, data + 1, n - 1);
    } else {
        uint8_t *copy = malloc(n);
        memcpy(copy, data + 1, n - 1);
        (void)mkperf_receiver_push(&p->receiver, copy, n - 1, &e);
        free(copy);
    }
    mkperf_receiver_idle(&p->receiver);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    static const struct mkperf_peer_ops ops = {
        .text = on_text, .message = on_message, .tick = on_tick};
    static const struct mkperf_peer_options options = {.target = "tcp:nowhere"};
    static struct mkperf_peer peer, *self = &peer;
    struct mkperf_error e;

    if (size == 0 || mkperf_peer_init(&peer, &options, &ops, &self, NULL, &e) != MKPERF_OK) {
        return 0;
    }
    readers(data + 1, size - 1);
    peer.has_key = data[0] & 1;
    converse(&peer, data, size);
    mkperf_peer_end(&peer);
    return 0;
}

size_t LLVMFuzzerCustomMutator(uint8_t *data, size_t size, size_t max, unsigned seed)
{
    mutate_seed(seed);
    if (size == 0 || !(data[0] & 2) || mutate_random(64) == 0) {
        return LLVMFuzzerMutate(data, size, max);
    }
    return 1 + mutate_list(data + 1, size - 1, max - 1, 0x3ff, mkperf_ToHost_fields);
}
