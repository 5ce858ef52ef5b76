/* SPDX-License-Identifier: BSD-2-Clause */
/* Owns: separating frames, text and noise, see wire_stream.h. */
#include "wire_stream.h"

#include <mkperf/frame.h>

/* Returns whether all of p reads as text: printing characters, white space, terminal control, UTF-8. A byte 0 follows it. */
static bool is_text(const uint8_t *p, size_t n)
{
    const char *s = (const char *)p, *end = s + n;

    for (size_t length; s < end; s += length) {
        length = mkperf_utf8(s);
        if (length == 0 || *s == 0x7f ||
            ((unsigned char)*s < 0x20 && *s != 0x1b && (*s < '\a' || *s > '\r'))) {
            return false;
        }
    }
    return true;
}

static void pass_on_text(struct mkperf_receiver *w, const uint8_t *p, size_t n)
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

/* Handles the n bytes between two delimiters. The first `shown` of them were passed on as text. */
static enum mkperf_status take_chunk(struct mkperf_receiver *w, uint8_t *p, size_t n, size_t shown,
                                     struct mkperf_error *e)
{
    uint8_t whole[MKPERF_FRAME_BYTES];
    uint16_t sequence;

    int length = -1;
    if (n <= MKPERF_FRAME_BYTES) {
        memcpy(whole, p, n); /* decoding overwrites the bytes, which may be text */
        length = mkperf_frame_decode(whole, n, &sequence);
    }
    if (length < 0) {
        pass_on_text(w, p + shown, n - shown);
        return MKPERF_OK;
    }
    unsigned gap = w->numbered ? (uint16_t)(sequence - w->next) : 0;
    if (gap != 0 && sequence == 0) {
        gap = MKPERF_WIRE_MAX_GAP + 1; /* a capture of several connections: the next one begins */
    }
    w->numbered = true;
    w->next = (uint16_t)(sequence + 1);
    w->frames++;
    return w->ops->message(w->self, whole + 2, (size_t)length, gap, e);
}

/* Stores bytes until their delimiter arrives. More bytes than a frame can have are no frame. */
static void store(struct mkperf_receiver *w, const uint8_t *p, size_t n)
{
    while (n > 0) {
        size_t room = MKPERF_FRAME_BYTES - w->n;
        size_t part = n < room ? n : room;
        if (part == 0) {
            pass_on_text(w, w->chunk + w->shown, w->n - w->shown);
            w->n = w->shown = 0;
            continue;
        }
        memcpy(w->chunk + w->n, p, part);
        w->n += part;
        w->chunk[w->n] = 0;
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
            store(w, p, (size_t)(end - p));
            break;
        }
        if (w->n > 0) {
            store(w, p, (size_t)(zero - p));
            size_t length = w->n, shown = w->shown;
            w->n = w->shown = 0;
            status = take_chunk(w, w->chunk, length, shown, e);
        } else if (zero > p) {
            status = take_chunk(w, p, (size_t)(zero - p), 0, e);
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

    /* The bytes are kept, because they may be the beginning of a frame. */
    if (n > 0 && is_text(w->chunk + w->shown, n)) {
        w->ops->text(w->self, (const char *)w->chunk + w->shown, n);
        w->shown = w->n;
    }
}
