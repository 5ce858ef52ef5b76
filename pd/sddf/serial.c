/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * A serial line that is a client's share of sDDF's serial class: the client PD then streams over
 * every UART that sDDF has a driver for.
 *
 * Owns: the PD's end of the two queues that the section .serial_client_config describes; sDDF's
 * tools fill that in. Called by pd/client/serial.c. What the other side writes into a queue's
 * head and tail is bounded before it is used.
 *
 * The virtualiser sends the contents of a client's queue at once, and inserts other clients' text,
 * or colours, in between. So the queue's tail moves only to the end of a delimiter: a frame is sent
 * in one piece, unless it is longer than the queue.
 *
 * Barriers: the tail's store releases the bytes before it, the head's load acquires the space that
 * the virtualiser gave back; vice versa for the receive queue.
 *
 * May lose: nothing. The virtualiser takes bytes out of what comes in, see docs/net.md.
 */
#include <microkit.h>

#include <os/sddf.h>
#include <sddf/serial/config.h>
#include <sddf/serial/queue.h>

#include "../client/transport.h"

extern serial_client_config_t serial_config;
__attribute__((__section__(".serial_client_config"))) serial_client_config_t serial_config;

static serial_queue_handle_t rx;
static serial_queue_handle_t tx;
static bool there;
static uint32_t tail;  /* behind the last byte written, modulo 2^32 */
static uint32_t whole; /* behind the last delimiter of those */
static uint32_t came;  /* behind the last byte received, at the last notification */

/* Returns whether a queue has memory, and a capacity that is a power of two because its indices
 * wrap at 2^32. */
static bool usable(const serial_connection_resource_t *c)
{
    return c->queue.vaddr != NULL && c->data.vaddr != NULL && c->data.size != 0 &&
           c->data.size <= UINT32_MAX && (c->data.size & (c->data.size - 1)) == 0;
}

static void init_line(void)
{
    if (!serial_config_check_magic(&serial_config) || !usable(&serial_config.rx) ||
        !usable(&serial_config.tx)) {
        microkit_dbg_puts(
            "mkperf: .serial_client_config: no queues in both directions, of a power of two\n");
        return;
    }
    serial_queue_init(&rx, serial_config.rx.queue.vaddr, (uint32_t)serial_config.rx.data.size,
                      serial_config.rx.data.vaddr);
    serial_queue_init(&tx, serial_config.tx.queue.vaddr, (uint32_t)serial_config.tx.data.size,
                      serial_config.tx.data.vaddr);
    tail = whole = tx.queue->tail;
    came = rx.queue->head;
    there = true;
}

static uint32_t room(void)
{
    uint32_t used = tail - __atomic_load_n(&tx.queue->head, __ATOMIC_ACQUIRE);

    return used <= tx.capacity ? tx.capacity - used : 0;
}

/* The signal for more space is requested before the last check of the free space. */
static size_t write(const uint8_t *bytes, size_t n)
{
    size_t free;

    if (!there) {
        return 0;
    }
    free = room();
    if (free < n) {
        serial_request_consumer_signal(&tx);
        free = room();
    }
    n = n < free ? n : free;
    for (size_t i = 0; i < n; i++) {
        tx.data_region[tail++ & (tx.capacity - 1)] = (char)bytes[i];
        if (bytes[i] == 0) {
            whole = tail;
        }
    }
    return n;
}

/* Called last each time. Text, which is no frame, waits for a delimiter only while more follows. */
static void more(int wanted)
{
    if (!there) {
        return;
    }
    uint32_t seen = tx.queue->tail;
    bool stuck = whole == seen && __atomic_load_n(&tx.queue->head, __ATOMIC_ACQUIRE) == seen;

    if (!wanted || stuck) {
        whole = tail;
    }
    if (whole != seen) {
        __atomic_store_n(&tx.queue->tail, whole, __ATOMIC_RELEASE);
        sddf_notify(serial_config.tx.id);
    }
}

/* Every transfer into the queue is followed by a notification: later bytes are not missed. */
static void interrupt(void)
{
    came = __atomic_load_n(&rx.queue->tail, __ATOMIC_ACQUIRE);
}

static int read(void)
{
    uint32_t head = rx.queue->head;
    uint32_t n = came - head;

    if (n == 0 || n > rx.capacity) {
        return -1;
    }
    uint8_t byte = (uint8_t)rx.data_region[head & (rx.capacity - 1)];
    __atomic_store_n(&rx.queue->head, head + 1, __ATOMIC_RELEASE);
    return byte;
}

static bool own(unsigned channel)
{
    return there && (channel == serial_config.rx.id || channel == serial_config.tx.id);
}

static void done(unsigned channel)
{
    (void)channel;
}

const struct mkperf_transport mkperf_sddf_serial = {
    .init = init_line,
    .write = write,
    .more = more,
    .read = read,
    .bounded = true,
    .interrupt = interrupt,
    .own = own,
    .done = done,
};
