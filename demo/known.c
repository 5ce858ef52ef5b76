/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The known-answer PD: its functions run for exactly known shares of its instructions, on known
 * call chains. At each tick of the pacer it runs a fixed number of rounds. A round is one million
 * of its own instructions, and starts the other PDs.
 *
 *   known_leaf_10    10 %   round <- notified
 *   known_framed_20  20 %   middle <- round <- notified
 *   known_deep_30    30 %   descend x 8 <- round <- notified
 *   known_leaf_40    40 %   inner <- middle <- outer <- round <- notified
 */
#include <microkit.h>

#include "demo.h"

enum {
    CH_PACER = 0,
    CH_DUMMY1 = 1,
    ROUNDS = 280, /* less than a second of work, also on seL4 in QEMU at two cycles an
                     instruction */
    DEPTH = 8,
};

void known_leaf_10(void);
void known_framed_20(void);
void known_deep_30(void);
void known_leaf_40(void);

DEMO_LAYER static void inner(void)
{
    known_leaf_40();
    DEMO_NO_TAIL_CALL;
}

DEMO_LAYER static void middle(int which)
{
    if (which == 40) {
        inner();
    } else {
        known_framed_20();
    }
    DEMO_NO_TAIL_CALL;
}

DEMO_LAYER static void outer(void)
{
    middle(40);
    DEMO_NO_TAIL_CALL;
}

DEMO_LAYER static void descend(int depth) // NOLINT(misc-no-recursion): the chain is the point
{
    if (depth > 1) {
        descend(depth - 1);
    } else {
        known_deep_30();
    }
    DEMO_NO_TAIL_CALL;
}

DEMO_LAYER static void round(void)
{
    known_leaf_10();
    middle(20);
    descend(DEPTH);
    outer();
}

void init(void)
{
}

void notified(microkit_channel ch)
{
    if (ch != CH_PACER) {
        return;
    }
    for (int i = 0; i < ROUNDS; i++) {
        round();
        microkit_notify(CH_DUMMY1);
    }
}
