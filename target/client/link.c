/* SPDX-License-Identifier: BSD-2-Clause */
/* Frames over a byte stream: see link.h, which says what is owned, who calls, what is dropped. */
#include "link.h"

#include <mkperf/frame.h>

unsigned mkperf_link_room(const struct mkperf_link *l)
{
    return (MKPERF_LINK_BYTES - (l->head - l->tail)) / MKPERF_FRAME_BYTES;
}

bool mkperf_link_send(struct mkperf_link *l, const uint8_t *message, size_t n)
{
    if (n > MKPERF_MESSAGE_BYTES || mkperf_link_room(l) == 0) {
        return false;
    }
    size_t length = mkperf_frame_encode(l->frame, l->sequence, message, n);

    l->sequence++;
    for (size_t i = 0; i < length; i++) {
        l->out[l->head++ % MKPERF_LINK_BYTES] = l->frame[i];
    }
    return true;
}

const uint8_t *mkperf_link_out(const struct mkperf_link *l, size_t *n)
{
    uint32_t at = l->tail % MKPERF_LINK_BYTES;
    uint32_t queued = l->head - l->tail;

    *n = queued < MKPERF_LINK_BYTES - at ? queued : MKPERF_LINK_BYTES - at;
    return &l->out[at];
}

void mkperf_link_sent(struct mkperf_link *l, size_t n)
{
    l->tail += (uint32_t)n;
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

    l->received = 0;
    l->skipping = false;
    if (n == 0) {
        return -1; /* two delimiters in a row are no frame */
    }
    uint16_t sequence;
    int length = skipped ? -1 : mkperf_frame_decode(l->in, n, &sequence);
    if (length < 0) {
        l->bad_frames++;
        return -1;
    }
    *message = l->in + 2;
    return length;
}
