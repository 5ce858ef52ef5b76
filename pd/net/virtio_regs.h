/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * How the virtio driver reaches its registers, and how much memory it shares with the device. The
 * unit test defines MKPERF_VIRTIO_REGS_H and puts a model in its place.
 */
#ifndef MKPERF_VIRTIO_REGS_H
#define MKPERF_VIRTIO_REGS_H

#include <stdint.h>

enum { MKPERF_NIC_DMA_BYTES = 0x50000 };

static inline uint32_t virtio_get(uintptr_t device, unsigned reg)
{
    return *(volatile uint32_t *)(device + reg);
}

static inline uint8_t virtio_get8(uintptr_t device, unsigned reg)
{
    return *(volatile uint8_t *)(device + reg);
}

static inline void virtio_set(uintptr_t device, unsigned reg, uint32_t value)
{
    *(volatile uint32_t *)(device + reg) = value;
}

#endif
