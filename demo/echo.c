/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The echo server: TCP and UDP echo at port 7, the workload of the network demo. If it has a
 * channel to the client PD (16), it marks each TCP connection as a phase. On the console it prints
 * the bytes and the speed of each connection.
 *
 * Owns: its own network device, and lwIP on it. Data waits in lwIP's buffers until the peer accepts
 * it; TCP's window bounds the memory of a connection.
 */
#include <microkit.h>

#include <lwip/tcp.h>
#include <lwip/udp.h>

#include <mkperf/client.h>

#include "../pd/lib/clock.h"
#include "../pd/lib/text.h"
#include "../pd/net/stack.h"
#include "demo.h"

#ifndef ECHO_ADDRESS
#define ECHO_ADDRESS NULL /* DHCP */
#define ECHO_MASK NULL
#define ECHO_GATEWAY NULL
#endif

enum { CH_PROFILE = 16, PORT = 7, CONNECTIONS = 8 };

struct echo {
    struct tcp_pcb *pcb; /* NULL: free */
    struct pbuf *waiting;
    bool closing; /* the peer has closed its direction */
    uint32_t number;
    uint64_t bytes; /* sent back */
    uint64_t begin; /* ticks of the clock */
};

static struct echo connections[CONNECTIONS];

static void mark(enum mkperf_mark_kind kind, const struct echo *e)
{
    if (microkit_pps >> CH_PROFILE & 1) {
        mkperf_app_mark(CH_PROFILE, kind, e->number, "connection");
    }
}

/* Prints: echo: connection 1: 4188 KiB in 2004 ms, 2089 KiB/s each way by the target's clock. */
static void print_rates(const struct echo *e)
{
    char line[128];
    struct mkperf_text t = mkperf_text_begin(line, sizeof line);
    uint64_t hz = mkperf_clock_hz();
    uint64_t ticks = mkperf_clock_ticks() - e->begin;

    mkperf_text_print(&t, "echo: connection %u: %lu KiB", e->number, e->bytes / 1024);
    if (hz != 0 && ticks != 0) {
        mkperf_text_print(&t, " in %lu ms, %lu KiB/s each way by the target's clock",
                          ticks * 1000 / hz, e->bytes * hz / ticks / 1024);
    }
    mkperf_text_put(&t, "\n");
    microkit_dbg_puts(line);
}

static void over(struct echo *e)
{
    if (e->waiting != NULL) {
        pbuf_free(e->waiting);
    }
    e->waiting = NULL;
    e->pcb = NULL;
    mark(MKPERF_MARK_END, e);
    print_rates(e);
}

/* Sends back what waits, as far as lwIP accepts it. */
DEMO_LAYER static void send_back(struct echo *e)
{
    while (e->waiting != NULL) {
        struct pbuf *p = e->waiting;
        if (p->len > tcp_sndbuf(e->pcb) ||
            tcp_write(e->pcb, p->payload, p->len, TCP_WRITE_FLAG_COPY) != ERR_OK) {
            break;
        }
        tcp_recved(e->pcb, p->len);
        e->bytes += p->len;
        e->waiting = p->next;
        if (p->next != NULL) {
            pbuf_ref(p->next);
        }
        pbuf_free(p);
    }
    tcp_output(e->pcb);
}

static err_t close_when_done(struct echo *e)
{
    struct tcp_pcb *pcb = e->pcb;

    if (!e->closing || e->waiting != NULL) {
        return ERR_OK;
    }
    tcp_arg(pcb, NULL);
    tcp_recv(pcb, NULL);
    tcp_sent(pcb, NULL);
    tcp_err(pcb, NULL);
    over(e);
    if (tcp_close(pcb) == ERR_OK) {
        return ERR_OK;
    }
    tcp_abort(pcb);
    return ERR_ABRT;
}

static void failed(void *arg, err_t err)
{
    (void)err;
    over(arg);
}

DEMO_LAYER static err_t received(void *arg, struct tcp_pcb *pcb, struct pbuf *p, err_t err)
{
    struct echo *e = arg;

    (void)pcb;
    (void)err;
    if (p == NULL) {
        e->closing = true;
    } else if (e->waiting == NULL) {
        e->waiting = p;
    } else {
        pbuf_cat(e->waiting, p);
    }
    send_back(e);
    return close_when_done(e);
}

static err_t sent(void *arg, struct tcp_pcb *pcb, u16_t n)
{
    (void)pcb;
    (void)n;
    send_back(arg);
    return close_when_done(arg);
}

static err_t accepted(void *arg, struct tcp_pcb *pcb, err_t err)
{
    static uint32_t number;

    (void)arg;
    if (err != ERR_OK || pcb == NULL) {
        return ERR_VAL;
    }
    for (unsigned i = 0; i < CONNECTIONS; i++) {
        struct echo *e = &connections[i];
        if (e->pcb != NULL) {
            continue;
        }
        number++;
        *e = (struct echo){.pcb = pcb, .number = number, .begin = mkperf_clock_ticks()};
        tcp_arg(pcb, e);
        tcp_recv(pcb, received);
        tcp_sent(pcb, sent);
        tcp_err(pcb, failed);
        tcp_nagle_disable(pcb);
        mark(MKPERF_MARK_BEGIN, e);
        return ERR_OK;
    }
    tcp_abort(pcb);
    return ERR_ABRT;
}

DEMO_LAYER static void echo_datagram(void *arg, struct udp_pcb *pcb, struct pbuf *p,
                                     const ip_addr_t *from, u16_t port)
{
    (void)arg;
    udp_sendto(pcb, p, from, port);
    pbuf_free(p);
}

void init(void)
{
    static const struct mkperf_stack_address address = {
        .address = ECHO_ADDRESS,
        .mask = ECHO_MASK,
        .gateway = ECHO_GATEWAY,
    };

    if (!mkperf_stack_init(&address)) {
        return;
    }
    struct tcp_pcb *tcp = tcp_new();
    struct udp_pcb *udp = udp_new();
    if (tcp == NULL || udp == NULL || tcp_bind(tcp, IP_ADDR_ANY, PORT) != ERR_OK ||
        udp_bind(udp, IP_ADDR_ANY, PORT) != ERR_OK) {
        microkit_dbg_puts("echo: cannot listen\n");
        return;
    }
    tcp_accept(tcp_listen(tcp), accepted);
    udp_recv(udp, echo_datagram, NULL);
}

void notified(microkit_channel ch)
{
    mkperf_stack_notified(ch);
    mkperf_stack_done(ch);
}
