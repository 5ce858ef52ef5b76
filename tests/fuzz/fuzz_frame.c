/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Any bytes into the frame decoder and the link; and any message encoded and decoded.
 */
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <mkperf/frame.h>

#include "pd/client/link.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void there_and_back(const uint8_t *data, size_t size)
{
    static uint8_t frame[MKPERF_FRAME_BYTES];
    size_t n = size < MKPERF_MESSAGE_BYTES ? size : MKPERF_MESSAGE_BYTES;
    size_t length = mkperf_frame_encode(frame, 0x1234, data, n);
    uint16_t sequence;

    if (length == 0 || memchr(frame + 1, 0, length - 2) != NULL ||
        mkperf_frame_decode(frame + 1, length - 2, &sequence) != (int)n || sequence != 0x1234 ||
        memcmp(frame + 3, data, n) != 0) {
        abort();
    }
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    static struct mkperf_link link;
    const uint8_t *message;
    uint8_t *copy = malloc(size != 0 ? size : 1);
    uint16_t sequence;

    if (size != 0) {
        memcpy(copy, data, size);
        mkperf_frame_decode(copy, size, &sequence);
    }
    free(copy);
    there_and_back(data, size);
    link = (struct mkperf_link){0};
    for (size_t i = 0; i < size; i++) {
        int n = mkperf_link_byte(&link, data[i], &message);
        if (n > MKPERF_MESSAGE_BYTES) {
            abort();
        }
    }
    return 0;
}
