/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Dummy program 1: fills a table with numbers, sorts it and checks the order, through several
 * layers. Runs once for each notification, then notifies dummy 2.
 */
#include <microkit.h>
#include <stdint.h>

#include "demo.h"

enum {
    CH_KNOWN = 0,
    CH_DUMMY2 = 1,
    ITEMS = 200,
};

static uint32_t items[ITEMS];
static uint32_t seed = 1;
static volatile uint32_t failures;

DEMO_LAYER static uint32_t next_number(void)
{
    seed ^= seed << 13; /* Marsaglia's xorshift32 */
    seed ^= seed >> 17;
    seed ^= seed << 5;
    return seed;
}

DEMO_LAYER static void fill(void)
{
    for (int i = 0; i < ITEMS; i++) {
        items[i] = next_number();
    }
}

DEMO_LAYER static int comes_before(uint32_t a, uint32_t b)
{
    return a < b;
}

DEMO_LAYER static void insert(int end, uint32_t value)
{
    int i = end;

    while (i > 0 && comes_before(value, items[i - 1])) {
        items[i] = items[i - 1];
        i--;
    }
    items[i] = value;
}

DEMO_LAYER static void sort(void)
{
    for (int i = 1; i < ITEMS; i++) {
        insert(i, items[i]);
    }
}

DEMO_LAYER static void check(void)
{
    for (int i = 1; i < ITEMS; i++) {
        if (comes_before(items[i], items[i - 1])) {
            failures++;
        }
    }
}

DEMO_LAYER static void sort_job(void)
{
    fill();
    sort();
    check();
}

void init(void)
{
}

void notified(microkit_channel ch)
{
    if (ch == CH_KNOWN) {
        sort_job();
        microkit_notify(CH_DUMMY2);
    }
}
