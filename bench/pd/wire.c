/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * A network device that is a wire to another PD, for measurements without a host's influence: the
 * work of two IP stacks is then the same in each run, to the instruction.
 *
 * Owns: one end of the region `wire` (wire.h); `wire_end` selects it, 0 or 1. Channel 0 is the
 * other PD, channel 2 a ticker.
 */
#include <microkit.h>

#include "../../pd/net/nic.h"
#include "wire.h"

uintptr_t wire;     /* WIRE_REGION_BYTES (setvar_vaddr) */
uintptr_t wire_end; /* not 0: the second end (set at that PD only) */

enum { CHANNEL_PEER = 0, CHANNEL_TICK = 2 };

static bool held; /* a slot must be given back */

static struct wire_queue *out(void)
{
    return (struct wire_queue *)wire + (wire_end != 0);
}

static struct wire_queue *in(void)
{
    return (struct wire_queue *)wire + (wire_end == 0);
}

static bool wire_init(uint8_t mac[6])
{
    for (unsigned i = 0; i < 6; i++) {
        mac[i] = 0;
    }
    mac[0] = 2; /* locally administered */
    mac[5] = wire_end != 0;
    return true;
}

static uint8_t *wire_room(void)
{
    struct wire_queue *q = out();
    uint32_t taken = __atomic_load_n(&q->taken, __ATOMIC_ACQUIRE);

    return q->sent - taken < WIRE_SLOTS ? q->slot[q->sent % WIRE_SLOTS].frame + WIRE_SHIFT : NULL;
}

static void wire_send(size_t n)
{
    struct wire_queue *q = out();

    q->slot[q->sent % WIRE_SLOTS].bytes = n;
    __atomic_store_n(&q->sent, q->sent + 1, __ATOMIC_RELEASE);
}

static void wire_kick(void)
{
    microkit_notify(CHANNEL_PEER);
}

static const uint8_t *wire_receive(size_t *n)
{
    struct wire_queue *q = in();

    if (held) {
        held = false;
        __atomic_store_n(&q->taken, q->taken + 1, __ATOMIC_RELEASE);
    }
    if (q->taken == __atomic_load_n(&q->sent, __ATOMIC_ACQUIRE)) {
        return NULL;
    }
    held = true;
    *n = q->slot[q->taken % WIRE_SLOTS].bytes;
    return q->slot[q->taken % WIRE_SLOTS].frame + WIRE_SHIFT;
}

static void wire_interrupt(void)
{
}

static enum mkperf_nic_event wire_event(unsigned channel)
{
    if (channel == CHANNEL_TICK) {
        return MKPERF_NIC_TICK;
    }
    return channel == CHANNEL_PEER ? MKPERF_NIC_FRAMES : MKPERF_NIC_NOTHING;
}

static void wire_done(unsigned channel)
{
    (void)channel;
}

const struct mkperf_nic mkperf_nic = {
    .tick_ms = 1000,
    .event = wire_event,
    .done = wire_done,
    .init = wire_init,
    .room = wire_room,
    .send = wire_send,
    .kick = wire_kick,
    .receive = wire_receive,
    .interrupt = wire_interrupt,
};
