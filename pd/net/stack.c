/* SPDX-License-Identifier: BSD-2-Clause */
/* lwIP on a network device: see stack.h for ownership, callers and time. */
#include "stack.h"

#include <microkit.h>

#include <lwip/dhcp.h>
#include <lwip/etharp.h>
#include <lwip/init.h>
#include <lwip/netif.h>
#include <lwip/sys.h>
#include <lwip/timeouts.h>
#include <netif/ethernet.h>

#include "../lib/clock.h"
#include "nic.h"

enum { MAX_FRAMES = 256 /* in one poll: a busy network must not keep the PD here */ };

static struct netif interface;
static bool there;
static bool sending; /* the device must be notified */
static uint32_t passed_ms;

u32_t sys_now(void)
{
    uint64_t hz = mkperf_clock_hz();

    return hz != 0 ? (u32_t)(mkperf_clock_ticks() * 1000 / hz) : passed_ms;
}

void mkperf_stack_assert(const char *what)
{
    microkit_dbg_puts("lwip: ");
    microkit_dbg_puts(what);
    microkit_dbg_puts("\n");
}

/* Port and transaction numbers that differ from boot to boot: no secret depends on them. */
uint32_t mkperf_stack_random(void)
{
    static uint64_t state;

    state = (state + mkperf_clock_ticks() + 1) * UINT64_C(6364136223846793005);
    return (uint32_t)(state >> 32);
}

static err_t output(struct netif *n, struct pbuf *p)
{
    uint8_t *frame = mkperf_nic.room();

    (void)n;
    if (frame == NULL || p->tot_len - ETH_PAD_SIZE > MKPERF_NIC_FRAME_BYTES) {
        return ERR_MEM; /* TCP sends it again */
    }
    mkperf_nic.send(pbuf_copy_partial(p, frame, (u16_t)(p->tot_len - ETH_PAD_SIZE), ETH_PAD_SIZE));
    sending = true;
    return ERR_OK;
}

static err_t init_interface(struct netif *n)
{
    n->name[0] = 'v';
    n->name[1] = 'n';
    n->mtu = 1500;
    n->hwaddr_len = ETH_HWADDR_LEN;
    n->flags = NETIF_FLAG_BROADCAST | NETIF_FLAG_ETHARP | NETIF_FLAG_ETHERNET | NETIF_FLAG_LINK_UP;
    n->output = etharp_output;
    n->linkoutput = output;
    return ERR_OK;
}

static void kick(void)
{
    if (sending) {
        sending = false;
        mkperf_nic.kick();
    }
}

bool mkperf_stack_init(const struct mkperf_stack_address *address)
{
    ip4_addr_t ip = {0};
    ip4_addr_t mask = {0};
    ip4_addr_t gateway = {0};
    bool fixed = address->address != NULL && ip4addr_aton(address->address, &ip) != 0 &&
                 ip4addr_aton(address->mask, &mask) != 0 &&
                 ip4addr_aton(address->gateway, &gateway) != 0;

    if (!mkperf_nic.init(interface.hwaddr)) {
        microkit_dbg_puts("mkperf: no network device\n");
        return false;
    }
    lwip_init();
    netif_add(&interface, &ip, &mask, &gateway, NULL, init_interface, ethernet_input);
    netif_set_default(&interface);
    netif_set_up(&interface);
    if (!fixed) {
        dhcp_start(&interface);
    }
    there = true;
    kick();
    return true;
}

static void take_frame(const uint8_t *frame, size_t n)
{
    struct pbuf *p = pbuf_alloc(PBUF_RAW, (u16_t)(n + ETH_PAD_SIZE), PBUF_POOL);

    if (p == NULL) {
        return; /* as if the frame had been lost on the wire */
    }
    if (pbuf_take_at(p, frame, (u16_t)n, ETH_PAD_SIZE) != ERR_OK ||
        interface.input(p, &interface) != ERR_OK) {
        pbuf_free(p);
    }
}

void mkperf_stack_poll(void)
{
    const uint8_t *frame;
    size_t n;

    if (!there) {
        return;
    }
    for (unsigned i = 0; i < MAX_FRAMES && (frame = mkperf_nic.receive(&n)) != NULL; i++) {
        if (n != 0 && n <= MKPERF_NIC_FRAME_BYTES) {
            take_frame(frame, n);
        }
    }
    sys_check_timeouts();
    kick();
}

void mkperf_stack_notified(unsigned channel)
{
    enum mkperf_nic_event event = mkperf_nic.event(channel);

    if (event == MKPERF_NIC_TICK) {
        passed_ms += mkperf_nic.tick_ms;
    } else if (event == MKPERF_NIC_FRAMES && there) {
        mkperf_nic.interrupt();
    }
    mkperf_stack_poll();
}

void mkperf_stack_done(unsigned channel)
{
    mkperf_nic.done(channel);
}

bool mkperf_stack_up(void)
{
    return there && !ip4_addr_isany_val(*netif_ip4_addr(&interface));
}
