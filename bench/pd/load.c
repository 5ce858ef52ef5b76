/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Puts load on the demo's echo server over a wire (wire.c) and measures the cost of an echo, for
 * bench/echo.sh.
 *
 * Runs batches for ever, UDP and TCP in turn. A batch sends BLOCKS blocks of BLOCK bytes, each when
 * the last one is back, so the processor is never idle. Takes the time, in nanoseconds: on the
 * emulator that this is for, that is the number of instructions, at every exception level and in
 * every PD. Prints for each batch batch udp|tcp SESSION INSTRUCTIONS BLOCKS P50 P99 P999 WORST
 * SESSION: 1 if a session sampled from its beginning to its end, 0 if none did, 2 else. P50 and the
 * rest: instructions from sending a block until it was back.
 */
#include <microkit.h>
#include <stdint.h>
#include <string.h>

#include <lwip/tcp.h>
#include <lwip/udp.h>

#include <mkperf/client.h>

#include "../../pd/lib/text.h"
#include "../../pd/net/stack.h"

enum {
    PORT = 7,
    BLOCK = 1024,
    BLOCKS = 16384,
    WARM_UP = 512, /* blocks that are not counted */
    CH_MKPERF = 7,
    LOOK_EACH = 256, /* blocks after which it looks for a session */
    NANOSECONDS = 1000000000,
};

static struct udp_pcb *udp;
static struct tcp_pcb *tcp;
static uint8_t block[BLOCK];
static uint32_t latency[BLOCKS];
static bool by_tcp, warm;
static unsigned at;    /* blocks of the batch that returned */
static uint32_t back;  /* bytes of the current block that did */
static uint32_t begun; /* counter's value when it was sent, */
static uint32_t last;  /* and when the batch's sum was added to last */
static uint64_t sum;
static bool on, changed;

static bool session(void)
{
    return mkperf_app_runs(CH_MKPERF);
}

static uint32_t instructions(void)
{
    uint64_t ticks, hz;

    __asm__ volatile("isb\n\tmrs %0, cntvct_el0" : "=r"(ticks) : : "memory");
    __asm__("mrs %0, cntfrq_el0" : "=r"(hz));
    return (uint32_t)(ticks * (NANOSECONDS / hz));
}

static void sort(uint32_t *p, unsigned n) /* Shell's, gaps of Ciura's up to 701 */
{
    static const unsigned gap[] = {701, 301, 132, 57, 23, 10, 4, 1};

    for (unsigned g = 0; g < sizeof gap / sizeof *gap; g++) {
        for (unsigned i = gap[g]; i < n; i++) {
            uint32_t v = p[i];
            unsigned j = i;
            for (; j >= gap[g] && p[j - gap[g]] > v; j -= gap[g]) {
                p[j] = p[j - gap[g]];
            }
            p[j] = v;
        }
    }
}

static void print(void)
{
    char line[160];
    struct mkperf_text t = mkperf_text_begin(line, sizeof line);

    sort(latency, BLOCKS);
    mkperf_text_print(&t, "batch %s %u %lu %u %u %u %u %u\n", by_tcp ? "tcp" : "udp",
                      changed ? 2U : on, sum, (unsigned)BLOCKS, latency[BLOCKS / 2],
                      latency[BLOCKS * 99 / 100], latency[BLOCKS * 999 / 1000],
                      latency[BLOCKS - 1]);
    microkit_dbg_puts(line);
}

static void send_block(void)
{
    back = 0;
    begun = instructions();
    if (by_tcp) {
        if (tcp_write(tcp, block, BLOCK, 0) == ERR_OK) {
            tcp_output(tcp);
        }
        return;
    }
    struct pbuf *p = pbuf_alloc(PBUF_TRANSPORT, BLOCK, PBUF_RAM);
    if (p != NULL) {
        pbuf_take(p, block, BLOCK);
        udp_send(udp, p);
        pbuf_free(p);
    }
}

static void begin(void)
{
    at = 0;
    sum = 0;
    on = session();
    changed = false;
    last = instructions();
    send_block();
}

/* n bytes of the current block returned. */
static void came_back(uint32_t n)
{
    back += n;
    if (back < BLOCK) {
        return;
    }
    uint32_t now = instructions();
    latency[at++] = now - begun;
    sum += now - last;
    last = now;
    changed |= (at % LOOK_EACH == 0) && on != session();
    if (!warm && at == WARM_UP) {
        warm = true;
        begin();
    } else if (at == BLOCKS) {
        print();
        by_tcp = !by_tcp;
        warm = false;
        begin();
    } else {
        send_block();
    }
}

static void datagram(void *arg, struct udp_pcb *pcb, struct pbuf *p, const ip_addr_t *from,
                     u16_t port)
{
    uint32_t n = p->tot_len;

    (void)arg;
    (void)pcb;
    (void)from;
    (void)port;
    pbuf_free(p);
    came_back(n);
}

static err_t stream(void *arg, struct tcp_pcb *pcb, struct pbuf *p, err_t err)
{
    (void)arg;
    (void)err;
    if (p == NULL) {
        microkit_dbg_puts("load: the echo server hung up\n");
        return ERR_OK;
    }
    uint32_t n = p->tot_len;
    tcp_recved(pcb, p->tot_len);
    pbuf_free(p);
    came_back(n);
    return ERR_OK;
}

static err_t connected(void *arg, struct tcp_pcb *pcb, err_t err)
{
    (void)arg;
    (void)err;
    tcp_nagle_disable(pcb);
    tcp_recv(pcb, stream);
    begin();
    return ERR_OK;
}

static void failed(void *arg, err_t err)
{
    (void)arg;
    (void)err;
    microkit_dbg_puts("load: no connection to the echo server\n");
}

void init(void)
{
    static const struct mkperf_stack_address address = {"10.9.0.2", "255.255.255.0", "10.9.0.1"};
    ip_addr_t to;

    for (unsigned i = 0; i < BLOCK; i++) {
        block[i] = (uint8_t)(i * 7);
    }
    if (!mkperf_stack_init(&address) || ipaddr_aton("10.9.0.1", &to) == 0) {
        return;
    }
    udp = udp_new();
    tcp = tcp_new();
    if (udp == NULL || tcp == NULL || udp_connect(udp, &to, PORT) != ERR_OK) {
        microkit_dbg_puts("load: no sockets\n");
        return;
    }
    udp_recv(udp, datagram, NULL);
    tcp_err(tcp, failed);
    tcp_connect(tcp, &to, PORT, connected);
    mkperf_stack_poll();
}

void notified(microkit_channel ch)
{
    mkperf_stack_notified(ch);
    mkperf_stack_done(ch);
}
