/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The contract between the IP stack and the driver of a network device. A driver is one const
 * struct, and the stack is linked with one. Frames begin with the destination's address and have no checksum at their end.
 */
#ifndef MKPERF_NIC_H
#define MKPERF_NIC_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum { MKPERF_NIC_FRAME_BYTES = 1514 };

enum mkperf_nic_event { MKPERF_NIC_NOTHING, MKPERF_NIC_FRAMES, MKPERF_NIC_TICK };

struct mkperf_nic {
    uint32_t tick_ms; /* between ticks */
    /* The meaning of a notification on this channel of the PD. */
    enum mkperf_nic_event (*event)(unsigned channel);
    /* Called when the event has been dealt with. */
    void (*done)(unsigned channel);
    /* Prepares the device and returns its address. False: no working device. */
    bool (*init)(uint8_t mac[6]);
    /* A buffer of MKPERF_NIC_FRAME_BYTES for a frame to send; NULL: all are in use. */
    uint8_t *(*room)(void);
    /* Sends its n bytes. The device may notice them only after `kick`. */
    void (*send)(size_t n);
    void (*kick)(void);
    /* The next frame received, or NULL. Valid until the next call, which gives it back. */
    const uint8_t *(*receive)(size_t *n);
    /* Called first for each interrupt: clears it at the device. */
    void (*interrupt)(void);
};

/* The device of this PD. */
extern const struct mkperf_nic mkperf_nic;

#endif
