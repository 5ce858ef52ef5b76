/* SPDX-License-Identifier: BSD-2-Clause */
/* Owns: frames, text and noise in a stream of bytes, see receiver.h. */
#include "receiver.h"

#include <string.h>

#include <mkperf/frame.h>

void mkperf_receiver_init(struct mkperf_receiver *w, const struct mkperf_receiver_ops *ops,
                          void *self)
{
    memset(w, 0, sizeof *w);
    w->ops = ops;
    w->self = self;
}

/* Length of the UTF-8 sequence that c begins; 0: none. */
static size_t utf8_length(uint8_t c)
{
    if (c >= 0xc2 && c <= 0xdf) {
        return 2;
    }
    if (c >= 0xe0 && c <= 0xef) {
        return 3;
    }
    return c >= 0xf0 && c <= 0xf4 ? 4 : 0;
}

/* Whether all of p reads as text: printing characters, white space, terminal control, UTF-8. */
static bool is_text(const uint8_t *p, size_t n)
{
    size_t i = 0;

    while (i < n) {
        uint8_t c = p[i++];
        if ((c >= 0x20 && c < 0x7f) || (c >= '\a' && c <= '\r') || c == 0x1b) {
            continue;
        }
        size_t length = utf8_length(c);
        if (length == 0 || length - 1 > n - i) {
            return false;
        }
        for (size_t k = 1; k < length; k++) {
            if ((p[i++] & 0xc0) != 0x80) {
                return false;
            }
        }
    }
    return true;
}

static void hand_on(struct mkperf_receiver *w, const uint8_t *p, size_t n)
{
    if (n == 0) {
        return;
    }
    if (is_text(p, n)) {
        w->ops->text(w->self, (const char *)p, n);
    } else {
        w->noise++;
        w->noise_bytes += n;
    }
}

/* The bytes between two delimiters: n bytes, `shown` of them already known as text. */
static enum mkperf_status chunk(struct mkperf_receiver *w, uint8_t *p, size_t n, size_t shown,
                                struct mkperf_error *e)
{
    uint8_t whole[MKPERF_FRAME_BYTES];
    uint16_t sequence;

    if (n > MKPERF_FRAME_BYTES) {
        hand_on(w, p + shown, n - shown);
        return MKPERF_OK;
    }
    memcpy(whole, p, n); /* decoding destroys, and it may be text */
    int length = mkperf_frame_decode(whole, n, &sequence);
    if (length < 0) {
        hand_on(w, p + shown, n - shown);
        return MKPERF_OK;
    }
    unsigned gap = w->numbered ? (uint16_t)(sequence - w->next) : 0;
    if (gap != 0 && sequence == 0) {
        gap = MKPERF_WIRE_MAX_GAP + 1; /* a new connection, in a capture of several */
    }
    w->numbered = true;
    w->next = (uint16_t)(sequence + 1);
    w->frames++;
    return w->ops->message(w->self, whole + 2, (size_t)length, gap, e);
}

/* Bytes without a delimiter: stored until it arrives; too many are no frame. */
static void keep(struct mkperf_receiver *w, const uint8_t *p, size_t n)
{
    while (n > 0) {
        size_t room = sizeof w->chunk - w->n;
        size_t part = n < room ? n : room;
        if (part == 0) {
            hand_on(w, w->chunk + w->shown, w->n - w->shown);
            w->n = w->shown = 0;
            continue;
        }
        memcpy(w->chunk + w->n, p, part);
        w->n += part;
        p += part;
        n -= part;
    }
}

enum mkperf_status mkperf_receiver_push(struct mkperf_receiver *w, uint8_t *p, size_t n,
                                        struct mkperf_error *e)
{
    enum mkperf_status status = MKPERF_OK;
    uint8_t *end = p + n;

    w->bytes += n;
    while (p < end && status == MKPERF_OK) {
        uint8_t *zero = memchr(p, 0, (size_t)(end - p));
        if (zero == NULL) {
            keep(w, p, (size_t)(end - p));
            break;
        }
        if (w->n > 0) {
            keep(w, p, (size_t)(zero - p));
            size_t length = w->n, shown = w->shown;
            w->n = w->shown = 0;
            status = chunk(w, w->chunk, length, shown, e);
        } else if (zero > p) {
            status = chunk(w, p, (size_t)(zero - p), 0, e);
        }
        p = zero + 1;
    }
    return status;
}

void mkperf_receiver_restart(struct mkperf_receiver *w)
{
    mkperf_receiver_idle(w);
    w->n = w->shown = 0;
    w->numbered = false;
}

void mkperf_receiver_idle(struct mkperf_receiver *w)
{
    size_t n = w->n - w->shown;

    /* Kept nevertheless: should it be the beginning of a frame after all, the frame is whole. */
    if (n > 0 && is_text(w->chunk + w->shown, n)) {
        w->ops->text(w->self, (const char *)w->chunk + w->shown, n);
        w->shown = w->n;
    }
}
