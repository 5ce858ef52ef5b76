/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * What each PD of net.system and serial.system is given about its queues and devices, in the structures
 * of sDDF's headers: what sdfgen makes for a system that it describes. sddf.mk takes each variable,
 * by the section of its name, and puts it into a copy of the PD's ELF. Nothing here is linked.
 * Written for sDDF 0.6 and 0.7.
 */
#include <os/sddf.h>
#include <sddf/network/config.h>
#include <sddf/resources/device.h>
#include <sddf/serial/config.h>
#include <sddf/timer/config.h>

#include "layout.h"

#define PLACE(name) __attribute__((section(".config." name), used))
#define AT(a) ((void *)(uintptr_t)(a))
#define MAGIC(class)              \
    {                             \
        's', 'D', 'D', 'F', class \
    }
enum { DEVICE = 1, SERIAL = 3, NET = 5, TIMER = 6, LWIP = 8 };
enum { BAUD = 115200 };

#define REGION(a, n)                \
    {                               \
        .vaddr = AT(a), .size = (n) \
    }
#define SERIAL_QUEUE(a, channel)                                                          \
    {                                                                                     \
        .queue = REGION(a, SERIAL_REGION - SERIAL_BYTES),                                 \
        .data = REGION((a) + SERIAL_REGION - SERIAL_BYTES, SERIAL_BYTES), .id = (channel) \
    }
#define NET_QUEUES(a, n, channel)                                                               \
    {                                                                                           \
        .free_queue = REGION(a, NET_QUEUE), .active_queue = REGION((a) + NET_QUEUE, NET_QUEUE), \
        .num_buffers = (n), .id = (channel)                                                     \
    }
#define DMA(a, physical)                                           \
    {                                                              \
        .region = REGION(a, NET_DATA_BYTES), .io_addr = (physical) \
    }

/* Locally administered addresses. Then what sDDF 0.7 says otherwise than 0.6. */
#define MAC_BYTES(last)                    \
    {                                      \
        0x52, 0x54, 0x01, 0x00, 0x00, last \
    }
#if __has_include(<sddf/network/mac802.h>)
#define MAC(last)               \
    {                           \
        .addr = MAC_BYTES(last) \
    }
#define RX_MAC(last) .mac_addrs = {MAC(last)}, .num_macs = 1
#define TX_DATA(a, physical) \
    .regions = {{.data = DMA(a, physical), .num_buffers = NET_BUFFERS}}, .num_regions = 1
#define COPY_FROM(who)                                             \
    .rx = NET_QUEUES(NET_##who##_VIRT_RX, NET_BUFFERS, CH_DRIVER), \
    .rx_data = {REGION(NET_DATA, NET_DATA_BYTES)}
#else
#define MAC(last) MAC_BYTES(last)
#define RX_MAC(last) .mac_addr = MAC(last)
#define TX_DATA(a, physical) .data = DMA(a, physical)
#define COPY_FROM(who)                                                  \
    .virt_rx = NET_QUEUES(NET_##who##_VIRT_RX, NET_BUFFERS, CH_DRIVER), \
    .device_data = REGION(NET_DATA, NET_DATA_BYTES)
#endif
enum { MAC_MKPERF = 0x10, MAC_ECHO = 0x11 };

/* Devices. */
PLACE("serial_driver.device")
device_resources_t serial_device = {
    .magic = MAGIC(DEVICE),
    .num_regions = 1,
    .num_irqs = 1,
    .regions = {{.region = REGION(UART_REGS, 0x1000)}},
    .irqs = {{CH_IRQ}},
};
PLACE("timer_driver.device")
device_resources_t timer_device = {
    .magic = MAGIC(DEVICE),
    .num_irqs = 1,
    .irqs = {{CH_IRQ}},
};
PLACE("eth_driver.device")
device_resources_t eth_device = {
    .magic = MAGIC(DEVICE),
    .num_regions = 2,
    .num_irqs = 1,
    .regions = {{.region = REGION(ETH_REGS + ETH_OFFSET, 0x1000),
                 .io_addr = ETH_PADDR + ETH_OFFSET},
                {.region = REGION(ETH_RING, ETH_RING_BYTES), .io_addr = ETH_RING_PADDR}},
    .irqs = {{CH_IRQ}},
};

/* Serial: the PD `client` is the only one that receives; in net.system it is the echo server, which
 * only sends. */
PLACE("serial_driver.serial")
serial_driver_config_t serial_driver = {
    .magic = MAGIC(SERIAL),
    .rx = SERIAL_QUEUE(SERIAL_DRIVER_RX, CH_RX),
    .tx = SERIAL_QUEUE(SERIAL_DRIVER_TX, CH_TX),
    .default_baud = BAUD,
    .rx_enabled = true,
};
PLACE("serial_driver_tx.serial")
serial_driver_config_t serial_driver_tx = {
    .magic = MAGIC(SERIAL),
    .tx = SERIAL_QUEUE(SERIAL_DRIVER_TX, CH_TX),
    .default_baud = BAUD,
};
PLACE("serial_virt_rx.serial")
serial_virt_rx_config_t serial_virt_rx = {
    .magic = MAGIC(SERIAL),
    .driver = SERIAL_QUEUE(SERIAL_DRIVER_RX, CH_DRIVER),
    .clients = {SERIAL_QUEUE(SERIAL_MKPERF_RX, CH_MKPERF)},
    .num_clients = 1,
    .switch_char = 28, /* sdfgen's: host/source/sddf.c knows them */
    .terminate_num_char = '\r',
};
PLACE("serial_virt_tx.serial")
serial_virt_tx_config_t serial_virt_tx = {
    .magic = MAGIC(SERIAL),
    .driver = SERIAL_QUEUE(SERIAL_DRIVER_TX, CH_DRIVER),
    .clients = {{.conn = SERIAL_QUEUE(SERIAL_MKPERF_TX, CH_MKPERF), .name = "client"}},
    .num_clients = 1,
    .enable_colour = true, /* between the client's frames */
    .enable_rx = true,
};
PLACE("serial_virt_tx_net.serial")
serial_virt_tx_config_t serial_virt_tx_net = {
    .magic = MAGIC(SERIAL),
    .driver = SERIAL_QUEUE(SERIAL_DRIVER_TX, CH_DRIVER),
    .clients = {{.conn = SERIAL_QUEUE(SERIAL_ECHO_TX, CH_ECHO), .name = "echo"}},
    .num_clients = 1,
};
PLACE("client.serial")
serial_client_config_t client_serial = {
    .magic = MAGIC(SERIAL),
    .rx = SERIAL_QUEUE(SERIAL_MKPERF_RX, CH_SERIAL_RX),
    .tx = SERIAL_QUEUE(SERIAL_MKPERF_TX, CH_SERIAL_TX),
};
PLACE("echo.serial")
serial_client_config_t echo_serial = {
    .magic = MAGIC(SERIAL),
    .tx = SERIAL_QUEUE(SERIAL_ECHO_TX, CH_SERIAL_TX),
};

/* Timer. */
PLACE("client.timer")
timer_client_config_t client_timer = {
    .magic = MAGIC(TIMER),
    .driver_id = CH_TIMER,
};

/* Network. */
PLACE("eth_driver.net")
net_driver_config_t eth_driver = {
    .magic = MAGIC(NET),
    .virt_rx = NET_QUEUES(NET_DRIVER_RX, NET_BUFFERS, CH_RX),
    .virt_tx = NET_QUEUES(NET_DRIVER_TX, NET_DRIVER_TX_BUFFERS, CH_TX),
};
PLACE("net_virt_rx.net")
net_virt_rx_config_t net_virt_rx = {
    .magic = MAGIC(NET),
    .driver = NET_QUEUES(NET_DRIVER_RX, NET_BUFFERS, CH_DRIVER),
    .data = DMA(NET_DATA, NET_DATA_PADDR),
    .buffer_metadata = REGION(NET_REFERENCES, NET_REFERENCES_BYTES),
    .clients = {{.conn = NET_QUEUES(NET_MKPERF_VIRT_RX, NET_BUFFERS, CH_MKPERF),
                 RX_MAC(MAC_MKPERF)},
                {.conn = NET_QUEUES(NET_ECHO_VIRT_RX, NET_BUFFERS, CH_ECHO), RX_MAC(MAC_ECHO)}},
    .num_clients = 2,
};
PLACE("net_virt_tx.net")
net_virt_tx_config_t net_virt_tx = {
    .magic = MAGIC(NET),
    .driver = NET_QUEUES(NET_DRIVER_TX, NET_DRIVER_TX_BUFFERS, CH_DRIVER),
    .clients = {{.conn = NET_QUEUES(NET_MKPERF_TX, NET_BUFFERS, CH_MKPERF),
                 TX_DATA(NET_MKPERF_TX_DATA, NET_MKPERF_TX_PADDR)},
                {.conn = NET_QUEUES(NET_ECHO_TX, NET_BUFFERS, CH_ECHO),
                 TX_DATA(NET_ECHO_TX_DATA, NET_ECHO_TX_PADDR)}},
    .num_clients = 2,
};
#define COPIER(who)                                                   \
    {                                                                 \
        .magic = MAGIC(NET), COPY_FROM(who),                          \
        .client = NET_QUEUES(NET_##who##_RX, NET_BUFFERS, CH_MKPERF), \
        .client_data = REGION(NET_##who##_RX_DATA, NET_DATA_BYTES),   \
    }
#define CLIENT(who)                                                                         \
    {                                                                                       \
        .magic = MAGIC(NET), .rx = NET_QUEUES(NET_##who##_RX, NET_BUFFERS, CH_RX),          \
        .rx_data = REGION(NET_##who##_RX_DATA, NET_DATA_BYTES),                             \
        .tx = NET_QUEUES(NET_##who##_TX, NET_BUFFERS, CH_TX),                               \
        .tx_data = REGION(NET_##who##_TX_DATA, NET_DATA_BYTES), .mac_addr = MAC(MAC_##who), \
    }
PLACE("net_copy_mkperf.net") net_copy_config_t net_copy_mkperf = COPIER(MKPERF);
PLACE("net_copy_echo.net") net_copy_config_t net_copy_echo = COPIER(ECHO);
PLACE("client.net") net_client_config_t client_net = CLIENT(MKPERF);
PLACE("echo.net") net_client_config_t echo_net = CLIENT(ECHO);

/* sDDF's library around lwIP, in the echo server: sddf/network/lib_sddf_lwip.h, which needs lwIP's.
 */
PLACE("echo.lwip") struct {
    char magic[5];
    region_resource_t pool;
    uint64_t pbufs;
} echo_lwip = {
    .magic = MAGIC(LWIP),
    .pool = REGION(ECHO_PBUFS, ECHO_PBUFS_BYTES),
    .pbufs = NET_BUFFERS * 2,
};
