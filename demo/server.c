/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The server: a hash table behind protected procedures (server.h). Notifies its client each time
 * the table is full and has been emptied.
 */
#include <microkit.h>
#include <stdint.h>

#include <mkperf/client.h>

#include "demo.h"
#include "server.h"

enum {
    CH_REQUESTER = 1,
    CH_PROFILE = 16, /* to the client PD, if the system description has it */
    SLOTS = 256,
    FULL = SLOTS * 3 / 4,
    MARK_EACH = 64, /* times emptied */
};

static struct {
    uint64_t key; /* 0 = free; keys are stored plus one */
    uint64_t value;
} table[SLOTS];
static unsigned used;
static uint32_t emptied;

DEMO_LAYER static uint64_t hash(uint64_t key)
{
    uint64_t h = UINT64_C(14695981039346656037); /* FNV-1a */

    for (int i = 0; i < 8; i++) {
        h = (h ^ (key >> 8 * i & 0xff)) * UINT64_C(1099511628211);
    }
    return h;
}

DEMO_LAYER static unsigned probe(uint64_t key)
{
    unsigned at = hash(key) % SLOTS;

    while (table[at].key != 0 && table[at].key != key + 1) {
        at = (at + 1) % SLOTS;
    }
    return at;
}

DEMO_LAYER static void empty_table(void)
{
    for (int i = 0; i < SLOTS; i++) {
        table[i].key = 0;
    }
    used = 0;
    if (++emptied % MARK_EACH == 0 && microkit_pps >> CH_PROFILE & 1) {
        mkperf_app_mark(CH_PROFILE, MKPERF_MARK_POINT, emptied, "table emptied");
    }
    microkit_notify(CH_REQUESTER);
}

DEMO_LAYER static uint64_t store(uint64_t key, uint64_t value)
{
    if (used == FULL) {
        empty_table();
    }
    unsigned at = probe(key);
    used += table[at].key == 0;
    table[at].key = key + 1;
    table[at].value = value;
    return value;
}

DEMO_LAYER static uint64_t lookup(uint64_t key)
{
    unsigned at = probe(key);

    return table[at].key != 0 ? table[at].value : 0;
}

void init(void)
{
}

void notified(microkit_channel ch)
{
    (void)ch;
}

microkit_msginfo protected(microkit_channel ch, microkit_msginfo msginfo)
{
    uint64_t key = microkit_mr_get(0);
    uint64_t value = microkit_mr_get(1);
    uint64_t answer = 0;

    (void)ch;
    if (microkit_msginfo_get_label(msginfo) == SERVER_STORE) {
        answer = store(key, value);
    } else {
        answer = lookup(key);
    }
    microkit_mr_set(0, answer);
    return microkit_msginfo_new(0, 1);
}
