/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The client PD's link layer: TCP, up to MKPERF_HOSTS hosts at once, and as many connections more
 * as MKPERF_CONNECTIONS leaves for those that have not proved themselves.
 *
 * A connection gets its place with its first bytes. Until then lwIP keeps it, half open or open,
 * among up to MEMP_NUM_TCP_PCB, and drops the one that was silent longest for a new one. A host on
 * a slow link is therefore not closed before its hello is here, and a silent stranger costs no
 * place.
 *
 * Owns: the network device (channel 0), lwIP, and the connections' sockets. Channel 2 is a ticker,
 * if there is one. Listens at MKPERF_TCP_PORT; with MKPERF_NET_DIAL (ADDRESS or ADDRESS:PORT) it
 * calls that host instead, once a second while there is no connection.
 */
#include <microkit.h>

#include <lwip/sys.h>
#include <lwip/tcp.h>

#include "../client/link_layer.h"
#include "stack.h"

#ifndef MKPERF_NET_ADDRESS
#define MKPERF_NET_ADDRESS NULL /* DHCP */
#define MKPERF_NET_MASK NULL
#define MKPERF_NET_GATEWAY NULL
#endif
#ifndef MKPERF_NET_DIAL
#define MKPERF_NET_DIAL NULL
#endif

enum {
    MAX_ROUNDS = 8, /* pump and send, in one transmit */
    KEEP_IDLE_MS = 10000,
    KEEP_EVERY_MS = 2000,
    KEEP_TRIES = 4,
    DIAL_MS = 1000, /* between calls: an absent host must not keep us busy */
};

/* If there is no room for a connection, lwIP drops the oldest of the lowest priority. */
enum { PRIO_SILENT = TCP_PRIO_MIN, PRIO_NOT_ADMITTED, PRIO_ADMITTED = TCP_PRIO_MAX };

static struct mkperf_client *client;
static struct mkperf_connection connection[MKPERF_CONNECTIONS];
static uint8_t queue[MKPERF_HOSTS][MKPERF_LINK_BYTES];
static struct tcp_pcb *socket[MKPERF_CONNECTIONS];
static uint32_t sockets;                              /* open sockets, bit = index */
static const char *const dial_text = MKPERF_NET_DIAL; /* NULL: listen */
static struct {
    bool wanted; /* dial_text is valid */
    bool busy;   /* a call is in progress */
    ip_addr_t to;
    uint16_t port;
    uint32_t last_ms;
} dialling;

/* Returns what lwIP passes to a socket's callbacks: the connection's index + 1. */
static void *to_arg(unsigned who)
{
    return (void *)(uintptr_t)(who + 1);
}

static unsigned from_arg(const void *arg)
{
    return (unsigned)(uintptr_t)arg - 1;
}

/* No callback of this socket from here on. */
static void forget(unsigned who)
{
    tcp_arg(socket[who], NULL);
    tcp_recv(socket[who], NULL);
    tcp_err(socket[who], NULL);
    socket[who] = NULL;
    sockets &= ~(UINT32_C(1) << who);
    mkperf_client_closed(client, who);
}

static err_t close_socket(unsigned who)
{
    struct tcp_pcb *pcb = socket[who];

    forget(who);
    if (tcp_close(pcb) == ERR_OK) {
        return ERR_OK;
    }
    tcp_abort(pcb);
    return ERR_ABRT;
}

/* lwIP has freed the socket: reset by the other end, or given up. */
static void failed(void *arg, err_t err)
{
    (void)err;
    if (arg == NULL) {
        dialling.busy = false;
        return;
    }
    unsigned who = from_arg(arg);
    socket[who] = NULL;
    sockets &= ~(UINT32_C(1) << who);
    mkperf_client_closed(client, who);
}

static err_t received(void *arg, struct tcp_pcb *pcb, struct pbuf *p, err_t err)
{
    unsigned who = from_arg(arg);

    (void)err;
    if (p == NULL) {
        return close_socket(who);
    }
    for (const struct pbuf *q = p; q != NULL; q = q->next) {
        for (u16_t i = 0; i < q->len; i++) {
            mkperf_client_byte(client, who, ((const uint8_t *)q->payload)[i]);
        }
    }
    tcp_recved(pcb, p->tot_len);
    pbuf_free(p);
    return ERR_OK;
}

/* Frees a place for a new connection. Nothing of the old one stays, not even in lwIP. */
static void evict(void)
{
    int last = mkperf_client_least(client);

    if (last >= 0) {
        struct tcp_pcb *pcb = socket[last];
        client->refused += !client->connection[last].claim.made; /* else its end is counted */
        forget((unsigned)last);
        tcp_abort(pcb);
    }
}

/* Gives the connection a place, if necessary that of another one. */
static err_t take_place(struct tcp_pcb *pcb)
{
    evict();
    int who = mkperf_client_open(client, true);
    if (who < 0) {
        tcp_abort(pcb);
        return ERR_ABRT;
    }
    socket[who] = pcb;
    sockets |= UINT32_C(1) << who;
    tcp_setprio(pcb, PRIO_NOT_ADMITTED);
    tcp_arg(pcb, to_arg((unsigned)who));
    tcp_recv(pcb, received);
    tcp_err(pcb, failed);
    return ERR_OK;
}

/* Called for the first bytes of a connection, or for its end without any byte. */
static err_t first_received(void *arg, struct tcp_pcb *pcb, struct pbuf *p, err_t err)
{
    (void)arg;
    if (p == NULL) {
        tcp_err(pcb, NULL);
        if (tcp_close(pcb) == ERR_OK) {
            return ERR_OK;
        }
        tcp_abort(pcb);
        return ERR_ABRT;
    }
    if (take_place(pcb) != ERR_OK) {
        pbuf_free(p);
        return ERR_ABRT;
    }
    return received(pcb->callback_arg, pcb, p, err);
}

/* lwIP has freed a connection that had sent nothing: reset by the other end, or for a newer one. */
static void silent_failed(void *arg, err_t err)
{
    (void)arg;
    client->refused += err == ERR_ABRT;
}

static err_t accepted(void *arg, struct tcp_pcb *pcb, err_t err)
{
    (void)arg;
    if (err != ERR_OK || pcb == NULL) {
        return ERR_VAL;
    }
    tcp_arg(pcb, NULL);
    tcp_recv(pcb, first_received);
    tcp_err(pcb, silent_failed);
    tcp_nagle_disable(pcb);
    ip_set_option(pcb, SOF_KEEPALIVE);
    pcb->keep_idle = KEEP_IDLE_MS;
    pcb->keep_intvl = KEEP_EVERY_MS;
    pcb->keep_cnt = KEEP_TRIES;
    return ERR_OK;
}

static err_t dialled(void *arg, struct tcp_pcb *pcb, err_t err)
{
    dialling.busy = false;
    err = accepted(arg, pcb, err);
    if (err != ERR_OK) {
        return err;
    }
    return take_place(pcb);
}

/* Reads the host of the build's options, ADDRESS[:PORT]. Returns whether it is one. */
static bool read_dial_text(const char *p)
{
    char address[sizeof "255.255.255.255"];
    unsigned n = 0;
    uint32_t number = 0;

    while (*p != '\0' && *p != ':' && n + 1 < sizeof address) {
        address[n++] = *p++;
    }
    address[n] = '\0';
    dialling.port = MKPERF_TCP_PORT;
    if (*p == ':') {
        while (*++p >= '0' && *p <= '9' && number <= UINT16_MAX) {
            number = 10 * number + (uint32_t)(*p - '0');
        }
        dialling.port = number <= UINT16_MAX ? (uint16_t)number : 0;
    }
    return *p == '\0' && dialling.port != 0 && ipaddr_aton(address, &dialling.to) != 0;
}

/* Calls that host, if no host is connected and a call is due. */
static void dial(void)
{
    if (sockets != 0 || dialling.busy || !mkperf_stack_up() ||
        sys_now() - dialling.last_ms < DIAL_MS) {
        return;
    }
    struct tcp_pcb *pcb = tcp_new();
    if (pcb == NULL) {
        return;
    }
    dialling.last_ms = sys_now();
    tcp_err(pcb, failed);
    dialling.busy = tcp_connect(pcb, &dialling.to, dialling.port, dialled) == ERR_OK;
    if (!dialling.busy) {
        tcp_abort(pcb);
    }
}

/* A SYN arrived. The connection would have the listener's priority, above that of connections that
 * have a place: a flood of SYNs that nothing follows would close them all. */
static err_t half_open(u8_t id, struct tcp_pcb_listen *listener, struct tcp_pcb *pcb)
{
    (void)id, (void)listener;
    pcb->prio = PRIO_SILENT;
    return ERR_OK;
}

static void listen(void)
{
    static const struct tcp_ext_arg_callbacks callbacks = {.passive_open = half_open};
    struct tcp_pcb *pcb = tcp_new();

    if (pcb == NULL || tcp_bind(pcb, IP_ADDR_ANY, MKPERF_TCP_PORT) != ERR_OK) {
        microkit_dbg_puts("mkperf: cannot listen\n");
        return;
    }
    tcp_ext_arg_set_callbacks(pcb, tcp_ext_arg_alloc_id(), &callbacks);
    pcb = tcp_listen(pcb);
    tcp_accept(pcb, accepted);
}

static void init_net(struct mkperf_client *c)
{
    static const struct mkperf_stack_address address = {
        .address = MKPERF_NET_ADDRESS,
        .mask = MKPERF_NET_MASK,
        .gateway = MKPERF_NET_GATEWAY,
    };

    client = c;
    if (!mkperf_stack_init(&address)) {
        return;
    }
    if (dial_text == NULL) {
        listen();
        return;
    }
    dialling.wanted = read_dial_text(dial_text);
    if (!dialling.wanted) {
        microkit_dbg_puts("mkperf: MKPERF_NET_DIAL is not ADDRESS[:PORT]\n");
    }
}

static void wake(unsigned channel)
{
    mkperf_stack_notified(channel);
    if (dialling.wanted) {
        dial();
    }
}

/* Moves bytes from the queue into lwIP's buffers. Returns their number. */
static size_t send(unsigned who)
{
    struct mkperf_link *link = &client->connection[who].link;
    size_t all = 0;
    size_t n;

    for (;;) {
        const uint8_t *bytes = mkperf_link_out(link, &n);
        size_t room = tcp_sndbuf(socket[who]);
        n = n < room ? n : room;
        if (n == 0 || tcp_write(socket[who], bytes, (u16_t)n, TCP_WRITE_FLAG_COPY) != ERR_OK) {
            return all;
        }
        mkperf_link_sent(link, n);
        all += n;
    }
}

static void transmit(void)
{
    for (unsigned round = 0; round < MAX_ROUNDS; round++) {
        size_t moved = 0;
        MKPERF_EACH_BIT (i, sockets) {
            moved += send(i);
        }
        if (moved == 0) {
            break; /* no queue has gained space since the pump ran */
        }
        mkperf_client_pump(client);
    }
    MKPERF_EACH_BIT (who, sockets) {
        tcp_output(socket[who]);
        if (!(sockets >> who & 1)) {
            continue; /* lwIP has given it up */
        }
        if (mkperf_client_finished(client, who)) {
            close_socket(who);
        } else if (client->admitted >> who & 1) {
            socket[who]->prio = PRIO_ADMITTED;
        }
    }
    mkperf_stack_poll();
}

const struct mkperf_link_layer mkperf_link_layer = {
    .connection = connection,
    .places = MKPERF_CONNECTIONS,
    .queue = queue,
    .hosts = MKPERF_HOSTS,
    .init = init_net,
    .notified = wake,
    .transmit = transmit,
    .done = mkperf_stack_done,
};
