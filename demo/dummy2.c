/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Dummy program 2: builds a message, compresses its runs and computes a checksum, through several
 * layers. Runs once for each notification, then notifies the requester.
 */
#include <microkit.h>
#include <stddef.h>
#include <stdint.h>

#include "demo.h"

enum {
    CH_DUMMY1 = 0,
    CH_REQUESTER = 1,
    BYTES = 2048,
};

static uint8_t message[BYTES];
static uint8_t packed[2 * BYTES];
static volatile uint32_t checksum;

DEMO_LAYER static void compose(uint32_t serial)
{
    for (size_t i = 0; i < BYTES; i++) {
        message[i] = (uint8_t)((i / 7 + serial) & 15);
    }
}

DEMO_LAYER static size_t run_length(size_t from)
{
    size_t n = 1;

    while (from + n < BYTES && n < 255 && message[from + n] == message[from]) {
        n++;
    }
    return n;
}

DEMO_LAYER static size_t pack(void)
{
    size_t out = 0;

    for (size_t i = 0; i < BYTES;) {
        size_t n = run_length(i);
        packed[out++] = (uint8_t)n;
        packed[out++] = message[i];
        i += n;
    }
    return out;
}

DEMO_LAYER static uint32_t crc_byte(uint32_t crc, uint8_t byte)
{
    crc ^= byte;
    for (int bit = 0; bit < 8; bit++) {
        crc = crc >> 1 ^ (0xedb88320 & -(crc & 1));
    }
    return crc;
}

DEMO_LAYER static uint32_t crc_of(const uint8_t *p, size_t n)
{
    uint32_t crc = UINT32_MAX;

    for (size_t i = 0; i < n; i++) {
        crc = crc_byte(crc, p[i]);
    }
    return ~crc;
}

DEMO_LAYER static void pack_job(void)
{
    static uint32_t serial;

    compose(serial++);
    checksum = crc_of(packed, pack());
}

void init(void)
{
}

void notified(microkit_channel ch)
{
    if (ch == CH_DUMMY1) {
        pack_job();
        microkit_notify(CH_REQUESTER);
    }
}
