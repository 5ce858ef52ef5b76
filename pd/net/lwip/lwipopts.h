/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * lwIP as the client PD and the demo's echo server use it: the raw API, no threads, IPv4, TCP, UDP
 * and DHCP. lwIP reads this file; the names are its own.
 */
#ifndef LWIPOPTS_H
#define LWIPOPTS_H

#include "checksum.h"

#define NO_SYS 1
#define SYS_LIGHTWEIGHT_PROT 0
#define LWIP_NETCONN 0
#define LWIP_SOCKET 0
#define LWIP_STATS 0
#define LWIP_IPV6 0
#define LWIP_ALTCP 0
#define LWIP_DNS 0
#define LWIP_IGMP 0
#define LWIP_AUTOIP 0
#define LWIP_DHCP 1
#define DHCP_DOES_ARP_CHECK 0 /* an address is used at once: nothing wakes us to wait */
#define LWIP_DHCP_DOES_ACD_CHECK 0
#define LWIP_ACD 0
#define IP_FRAG 0
#define IP_REASSEMBLY 0

#define MEM_ALIGNMENT 8
#define MEM_SIZE (512 * 1024)
#define ETH_PAD_SIZE 2
#define PBUF_POOL_SIZE 96
#define PBUF_POOL_BUFSIZE 1536
#define MEMP_NUM_TCP_PCB 1024 /* most for connections that have sent nothing yet, see tcp.c */
#define MEMP_NUM_TCP_SEG 1280 /* one for each half-open connection's answer */
#define MEMP_NUM_PBUF 64

#define TCP_MSS 1460
#define TCP_WND (22 * TCP_MSS)
#define TCP_SND_BUF (40 * TCP_MSS)
#define TCP_SND_QUEUELEN 160
#define TCP_MAXRTX 6                /* a peer that is gone is noticed in half a minute */
#define TCP_LISTEN_BACKLOG 0        /* MEMP_NUM_TCP_PCB is the limit */
#define LWIP_TCP_PCB_NUM_EXT_ARGS 1 /* a callback for each SYN, see tcp.c */
#define LWIP_TCP_KEEPALIVE 1
#define LWIP_NETIF_TX_SINGLE_PBUF 1
#define LWIP_CHKSUM mkperf_checksum

/* sDDF defines NETWORK_HW_HAS_CHECKSUM for boards on which the device fills in checksums. Such a
 * device expects empty fields. Received checksums are verified here on every board. */
#ifdef MKPERF_SDDF
#include <sddf/network/constants.h>
#ifdef NETWORK_HW_HAS_CHECKSUM
#define CHECKSUM_GEN_IP 0
#define CHECKSUM_GEN_UDP 0
#define CHECKSUM_GEN_TCP 0
#define CHECKSUM_GEN_ICMP 0
#endif
#endif

#endif
