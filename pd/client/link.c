/* SPDX-License-Identifier: BSD-2-Clause */
/* Frames over a byte stream: see link.h for ownership, callers and drops. */
#include "link.h"

#include <string.h>

#include <mkperf/frame.h>

static uint8_t *queue_of(struct mkperf_link *l)
{
    return l->large != NULL ? l->large : l->small;
}

static uint32_t queue_bytes(const struct mkperf_link *l)
{
    return l->large != NULL ? MKPERF_LINK_BYTES : MKPERF_LINK_SMALL;
}

unsigned mkperf_link_room(const struct mkperf_link *l)
{
    return (queue_bytes(l) - (l->head - l->tail)) / MKPERF_FRAME_BYTES;
}

static void append(struct mkperf_link *l, const void *bytes, size_t n)
{
    uint32_t size = queue_bytes(l);
    uint32_t at = l->head % size;
    size_t first = n < size - at ? n : size - at;

    memcpy(queue_of(l) + at, bytes, first);
    memcpy(queue_of(l), (const uint8_t *)bytes + first, n - first);
    l->head += (uint32_t)n;
}

void mkperf_link_grow(struct mkperf_link *l, uint8_t *large)
{
    uint32_t head = l->head;

    for (l->head = l->tail; l->head != head; l->head++) {
        large[l->head % MKPERF_LINK_BYTES] = l->small[l->head % MKPERF_LINK_SMALL];
    }
    l->large = large;
}

bool mkperf_link_send(struct mkperf_link *l, const uint8_t *message, size_t n)
{
    static uint8_t frame[MKPERF_FRAME_BYTES], with_mac[MKPERF_MESSAGE_BYTES];

    if (n > (l->authenticated ? MKPERF_CONTENT_BYTES : MKPERF_MESSAGE_BYTES) ||
        mkperf_link_room(l) == 0) {
        return false;
    }
    if (l->authenticated) {
        memcpy(with_mac, message, n);
        n = mkperf_auth_mac(l->out_key, l->number, with_mac, n);
        message = with_mac;
    }
    append(l, frame, mkperf_frame_encode(frame, (uint16_t)l->number, message, n));
    l->number++;
    return true;
}

bool mkperf_link_text(struct mkperf_link *l, const char *text, size_t n)
{
    if (n > queue_bytes(l) - (l->head - l->tail)) {
        return false;
    }
    append(l, text, n);
    return true;
}

const uint8_t *mkperf_link_out(const struct mkperf_link *l, size_t *n)
{
    uint32_t size = queue_bytes(l);
    uint32_t at = l->tail % size;
    uint32_t queued = l->head - l->tail;

    *n = queued < size - at ? queued : size - at;
    return (l->large != NULL ? l->large : l->small) + at;
}

void mkperf_link_sent(struct mkperf_link *l, size_t n)
{
    l->tail += (uint32_t)n;
}

static bool newline(uint8_t byte)
{
    return byte == '\n' || byte == '\r';
}

int mkperf_link_byte(struct mkperf_link *l, uint8_t byte, const uint8_t **message)
{
    if (byte != 0) {
        if (l->received == sizeof l->in) {
            l->skipping = true;
        } else {
            l->in[l->received++] = byte;
        }
        return -1;
    }
    uint32_t n = l->received;
    bool skipped = l->skipping;
    uint32_t newlines = 0; /* at the beginning */

    while (newlines < n && newline(l->in[newlines])) {
        newlines++;
    }
    l->received = 0;
    l->skipping = false;
    l->delimited = true;
    if (newlines == n && n <= MKPERF_FRAME_OVERHEAD) {
        return -1; /* Two delimiters in a row are no frame, even with empty lines between them. */
    }
    int length = skipped ? -1 : mkperf_frame_decode(l->in, n, &l->sequence);
    if (length < 0) {
        l->bad_frames++;
        return -1;
    }
    *message = l->in + 2;
    return length;
}

bool mkperf_link_accept(struct mkperf_link *l, const uint8_t *message, size_t n)
{
    uint64_t number = mkperf_auth_number(l->accepted, l->sequence);

    if (!mkperf_auth_verify(l->in_key, number, message, n)) {
        return false;
    }
    l->accepted = number;
    return true;
}

int mkperf_link_line(struct mkperf_link *l, const char **line)
{
    uint32_t n = l->received;
    uint32_t first = 0; /* index of the first byte of the last line */

    if (n == 0 || l->skipping || !newline(l->in[n - 1])) {
        return -1;
    }
    for (uint32_t i = 0; i + 1 < n; i++) {
        if (newline(l->in[i])) {
            first = i + 1;
        } else if ((l->in[i] < ' ' && l->in[i] != '\t') || l->in[i] > '~') {
            return -1;
        }
    }
    uint32_t length = n - 1 - first;
    if (l->delimited && length < MKPERF_LINK_MAYBE_FRAME) {
        return -1;
    }
    l->received = 0;
    l->delimited = false;
    *line = (const char *)l->in + first;
    return (int)length;
}
