/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * A network device that is a client's share of sDDF's network class (the seL4 Device Driver
 * Framework), and ticks from its timer class: the client PD then runs on every board that sDDF has
 * drivers for.
 *
 * Owns: the PD's end of the queues that the sections .net_client_config and .timer_client_config
 * describe; sDDF's tools fill those in. Offsets and lengths that the other side writes are bounded
 * before they are used.
 */
#include <microkit.h>
#include <string.h>

#include <os/sddf.h>
#include <sddf/network/config.h>
#include <sddf/network/queue.h>
#include <sddf/timer/client.h>
#include <sddf/timer/config.h>

#include "../net/nic.h"

enum { TICK_MS = 100 };
#define TICK_NS (UINT64_C(1000000) * TICK_MS)

extern net_client_config_t net_config;
extern timer_client_config_t timer_config;
__attribute__((__section__(".net_client_config"))) net_client_config_t net_config;
__attribute__((__section__(".timer_client_config"))) timer_client_config_t timer_config;

static net_queue_handle_t rx;
static net_queue_handle_t tx;
static net_buff_desc_t filling; /* the buffer that room() gave out */
static net_buff_desc_t held;    /* the one that receive() gave out */
static bool is_filling;
static bool is_held;
/* Buffers were given back to the receiving side, which was not notified yet. */
static bool gave_back;

static bool init_device(uint8_t mac[6])
{
    if (!net_config_check_magic(&net_config) || !timer_config_check_magic(&timer_config)) {
        return false;
    }
    net_queue_init(&rx, net_config.rx.free_queue.vaddr, net_config.rx.active_queue.vaddr,
                   net_config.rx.num_buffers);
    net_queue_init(&tx, net_config.tx.free_queue.vaddr, net_config.tx.active_queue.vaddr,
                   net_config.tx.num_buffers);
    net_buffers_init(&tx, 0);
    _Static_assert(sizeof net_config.mac_addr == 6, "an Ethernet address");
    memcpy(mac, &net_config.mac_addr, 6); /* an array in sDDF 0.6, a struct of one in 0.7 */
    sddf_timer_set_timeout(timer_config.driver_id, TICK_NS);
    return true;
}

/* Returns whether a buffer from the other side is within its region. */
static bool within(const net_buff_desc_t *b, const region_resource_t *region)
{
    return region->size >= NET_BUFFER_SIZE && b->io_or_offset <= region->size - NET_BUFFER_SIZE;
}

static uint8_t *room(void)
{
    if (!is_filling) {
        is_filling = net_dequeue_free(&tx, &filling) == 0 && within(&filling, &net_config.tx_data);
    }
    return is_filling ? (uint8_t *)net_config.tx_data.vaddr + filling.io_or_offset : NULL;
}

static void send(size_t n)
{
    filling.len = (uint16_t)n;
    is_filling = false;
    (void)net_enqueue_active(&tx, filling); /* The queue has a place for each buffer. */
}

static void kick(void)
{
    if (net_require_signal_active(&tx)) {
        net_cancel_signal_active(&tx);
        sddf_notify(net_config.tx.id);
    }
}

static void give_back(void)
{
    if (is_held) {
        held.len = 0;
        (void)net_enqueue_free(&rx, held);
        is_held = false;
        gave_back = true;
    }
}

static const uint8_t *receive(size_t *n)
{
    give_back();
    if (net_dequeue_active(&rx, &held) != 0) {
        net_request_signal_active(&rx);
        if (gave_back && net_require_signal_free(&rx)) {
            net_cancel_signal_free(&rx);
            sddf_notify(net_config.rx.id);
        }
        gave_back = false;
        if (net_dequeue_active(&rx, &held) != 0) {
            return NULL; /* nothing arrived between the last check and the request for a signal */
        }
        net_cancel_signal_active(&rx);
    }
    is_held = true;
    if (!within(&held, &net_config.rx_data)) {
        *n = 0;
        return (const uint8_t *)net_config.rx_data.vaddr;
    }
    /* sDDF 0.6's virtio driver reports the buffer's length, not the frame's. */
    *n = held.len < MKPERF_NIC_FRAME_BYTES ? held.len : MKPERF_NIC_FRAME_BYTES;
    return (const uint8_t *)net_config.rx_data.vaddr + held.io_or_offset;
}

static void interrupt(void)
{
}

static enum mkperf_nic_event event(unsigned channel)
{
    if (channel == timer_config.driver_id) {
        sddf_timer_set_timeout(timer_config.driver_id, TICK_NS);
        return MKPERF_NIC_TICK;
    }
    return channel == net_config.rx.id ? MKPERF_NIC_FRAMES : MKPERF_NIC_NOTHING;
}

static void done(unsigned channel)
{
    (void)channel;
}

const struct mkperf_nic mkperf_nic = {
    .tick_ms = TICK_MS,
    .event = event,
    .done = done,
    .init = init_device,
    .room = room,
    .send = send,
    .kick = kick,
    .receive = receive,
    .interrupt = interrupt,
};
