/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The requester: a client of the server PD. For each notification it makes a few protected calls
 * (store and look up), and counts the server's own notifications.
 */
#include <microkit.h>
#include <stdint.h>

#include "demo.h"
#include "server.h"

enum {
    CH_DUMMY2 = 0,
    CH_SERVER = 1,
    REQUESTS = 48,
};

static volatile uint64_t wrong_answers;
static volatile uint64_t server_notices;

DEMO_LAYER static uint64_t ask(uint64_t operation, uint64_t key, uint64_t value)
{
    microkit_mr_set(0, key);
    microkit_mr_set(1, value);
    microkit_ppcall(CH_SERVER, microkit_msginfo_new(operation, 2));
    return microkit_mr_get(0);
}

DEMO_LAYER static void request_batch(uint64_t serial)
{
    for (uint64_t i = 0; i < REQUESTS; i++) {
        uint64_t key = serial * REQUESTS + i;
        ask(SERVER_STORE, key, key * 3);
        if (ask(SERVER_LOOKUP, key, 0) != key * 3) {
            wrong_answers++;
        }
    }
}

void init(void)
{
}

void notified(microkit_channel ch)
{
    static uint64_t serial;

    if (ch == CH_DUMMY2) {
        request_batch(serial++);
    } else {
        server_notices++;
    }
}
