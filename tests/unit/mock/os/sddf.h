/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * As much of sDDF's serial interface as pd/sddf/serial.c uses, for programs that test it on the
 * host: a queue is two indices and a flag in one region, and bytes in another. The test defines
 * sddf_notify.
 */
#ifndef MOCK_SDDF_H
#define MOCK_SDDF_H

#include <stdbool.h>
#include <stdint.h>

void sddf_notify(unsigned channel);

typedef struct {
    void *vaddr;
    uint64_t size;
} region_resource_t;

typedef struct {
    region_resource_t queue;
    region_resource_t data;
    uint8_t id;
} serial_connection_resource_t;

typedef struct {
    char magic[5];
    serial_connection_resource_t rx;
    serial_connection_resource_t tx;
} serial_client_config_t;

typedef struct {
    uint32_t tail;
    uint32_t head;
    uint32_t producer_signalled;
} serial_queue_t;

typedef struct {
    serial_queue_t *queue;
    uint32_t capacity;
    char *data_region;
} serial_queue_handle_t;

static inline bool serial_config_check_magic(const void *config)
{
    const char *magic = config;

    return magic[0] == 's' && magic[1] == 'D' && magic[2] == 'D' && magic[3] == 'F' &&
           magic[4] == 3;
}

static inline void serial_queue_init(serial_queue_handle_t *handle, serial_queue_t *queue,
                                     uint32_t capacity, char *data_region)
{
    *handle = (serial_queue_handle_t){queue, capacity, data_region};
}

/* A test of a race lets the other side run here. */
#ifndef MOCK_SDDF_PAUSE
#define MOCK_SDDF_PAUSE() ((void)0)
#endif

static inline void serial_request_consumer_signal(serial_queue_handle_t *handle)
{
    MOCK_SDDF_PAUSE();
    __atomic_store_n(&handle->queue->producer_signalled, 0, __ATOMIC_SEQ_CST);
}

#endif
