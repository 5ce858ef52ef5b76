/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Where the sDDF systems of this directory put what: read by config.c and, for the @NAME@ in
 * net.system and serial.system, by sddf.mk. One definition a line, numbers only. A region has the
 * same address in every PD that maps it.
 */
#ifndef MKPERF_SDDF_LAYOUT_H
#define MKPERF_SDDF_LAYOUT_H

/* QEMU's virt machine: virtio-mmio-bus.31, the generic timer's EL1 physical interrupt. (The UART
 * and the pacer's device are the board's, as in demo/demo.system.in.) */
#define ETH_PADDR 0xa003000
#define ETH_OFFSET 0xe00
#define ETH_IRQ 79
#define TIMER_IRQ 30

/* Devices' registers, and memory that a network device reads and writes. */
#define UART_REGS 0x10000000
#define ETH_REGS 0x10001000
#define ETH_RING 0x10100000
#define ETH_RING_PADDR 0x4c000000
#define ETH_RING_BYTES 0x10000

/* Serial: a page for the two indices, then the bytes. */
#define SERIAL_BYTES 0x8000
#define SERIAL_REGION 0x9000
#define SERIAL_DRIVER_RX 0x20000000
#define SERIAL_DRIVER_TX 0x20010000
#define SERIAL_MKPERF_RX 0x20020000
#define SERIAL_MKPERF_TX 0x20030000
#define SERIAL_ECHO_TX 0x20040000

/* Network: a queue of free buffers and one of filled ones; the driver's sending side has room for
 * all buffers of both clients. */
#define NET_BUFFERS 512
#define NET_DRIVER_TX_BUFFERS 1024
#define NET_QUEUE 0x8000
#define NET_REGION 0x10000
#define NET_DRIVER_RX 0x21000000
#define NET_DRIVER_TX 0x21010000
#define NET_MKPERF_VIRT_RX 0x21020000
#define NET_MKPERF_RX 0x21030000
#define NET_MKPERF_TX 0x21040000
#define NET_ECHO_VIRT_RX 0x21050000
#define NET_ECHO_RX 0x21060000
#define NET_ECHO_TX 0x21070000
#define NET_REFERENCES 0x21080000
#define NET_REFERENCES_BYTES 0x1000
#define ECHO_PBUFS 0x21100000
#define ECHO_PBUFS_BYTES 0x20000

/* NET_BUFFERS of 2 KiB each: received, copied to a client, to be sent. */
#define NET_DATA_BYTES 0x200000
#define NET_DATA 0x30000000
#define NET_DATA_PADDR 0x4c200000
#define NET_MKPERF_RX_DATA 0x30200000
#define NET_MKPERF_TX_DATA 0x30400000
#define NET_MKPERF_TX_PADDR 0x4c400000
#define NET_ECHO_RX_DATA 0x30600000
#define NET_ECHO_TX_DATA 0x30800000
#define NET_ECHO_TX_PADDR 0x4c600000

/* Channels. The profiler's with the client PD is 1 at both ends; sDDF 0.6's timer driver takes
 * numbers below 6. */
#define CH_IRQ 0
#define CH_RX 2
#define CH_TX 3
#define CH_TIMER 4
#define CH_SERIAL_RX 5
#define CH_SERIAL_TX 6
#define CH_DRIVER 0
#define CH_MKPERF 1
#define CH_ECHO 2

#endif
