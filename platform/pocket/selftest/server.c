/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Selftest: answers protected calls. As `server` it adds up the words of the message; as `relay` it
 * passes the message on to `server` and answers with that answer, plus one.
 */
#include <microkit.h>

#include <stdbool.h>

uint64_t server_client; /* like `server`: the id of its end of driver's channel */

void init(void)
{
}

void notified(microkit_channel ch)
{
    (void)ch;
}

static uint64_t sum(unsigned n)
{
    uint64_t total = 0;

    for (unsigned i = 0; i < n; i++) {
        total += microkit_mr_get((uint8_t)i);
    }
    return total;
}

microkit_msginfo protected(microkit_channel ch, microkit_msginfo info)
{
    unsigned n = (unsigned)microkit_msginfo_get_count(info);
    bool relay = (microkit_pps >> 1 & 1) != 0;

    /* The floating-point registers here are not the caller's. */
    for (unsigned i = 0; i < 2; i++) {
        __asm__ volatile("dup v8.2d, %0\n\tdup v31.2d, %0" : : "r"((uint64_t)0xdead));
    }
    if (relay) {
        info =
            microkit_ppcall(1, microkit_msginfo_new(microkit_msginfo_get_label(info), (uint16_t)n));
        microkit_mr_set(0, microkit_mr_get(0) + 1);
    } else {
        microkit_mr_set(0, sum(n));
        microkit_mr_set(1, server_client);
    }
    microkit_mr_set(2, ch);
    return microkit_msginfo_new(microkit_msginfo_get_label(info) + 1, 3);
}
