/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Puts load on the demo's echo server and measures throughput and latency.
 *   echo-load HOST PORT tcp|udp BYTES SECONDS [WINDOW [RATE]]
 * Keeps WINDOW (1) blocks of BYTES in flight and sends at most RATE new ones a second (0: no
 * limit). Compares each returned block with what was sent. A block's latency is the time from the
 * first attempt to send it to its last byte. SECONDS 0: until SIGTERM or SIGINT. Prints two lines;
 * exit status 1 if a block was returned wrong, or none was returned. Datagrams that do not return
 * within a second are counted as lost, which is no error; TCP must return all blocks.
 *
 * Over UDP a block begins with its number, so BYTES is at least 8.
 */
#include <errno.h>
#include <netdb.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <poll.h>
#include <signal.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <time.h>
#include <unistd.h>

enum {
    MIN_BYTES = 8,
    MAX_BYTES = 65000, /* what a datagram can hold */
    MAX_WINDOW = 64,
    TCP_PATIENCE_MS = 5000,
    UDP_PATIENCE_MS = 1000,
    POLL_MS = 100,
};

struct load {
    int fd;
    bool udp;
    size_t bytes;
    unsigned window;
    double rate;                 /* blocks a second, 0: no limit */
    double begin;                /* ms */
    uint64_t sent, back, lost;   /* blocks */
    size_t there, here;          /* TCP: bytes of the current block that were sent, and received */
    double start[MAX_WINDOW];    /* ms, of the blocks in flight, by number modulo the window */
    uint64_t number[MAX_WINDOW]; /* UDP: which block that is, + 1; 0: none */
    double *latency;             /* ms, of each returned block */
    size_t room;
    double last_ms; /* when data was last received */
};

static volatile sig_atomic_t over;

static void end(int signal)
{
    (void)signal;
    over = 1;
}

static double now_ms(void)
{
    struct timespec t;

    clock_gettime(CLOCK_MONOTONIC, &t);
    return (double)t.tv_sec * 1e3 + (double)t.tv_nsec / 1e6;
}

static int dial(const char *host, const char *port, bool udp)
{
    struct addrinfo hints = {.ai_family = AF_INET, .ai_socktype = udp ? SOCK_DGRAM : SOCK_STREAM};
    struct addrinfo *found;
    int at_once = 1;

    if (getaddrinfo(host, port, &hints, &found) != 0) {
        return -1;
    }
    int fd = socket(found->ai_family, found->ai_socktype, 0);
    if (fd >= 0 && connect(fd, found->ai_addr, found->ai_addrlen) != 0) {
        close(fd);
        fd = -1;
    }
    freeaddrinfo(found);
    if (fd >= 0 && !udp) {
        (void)setsockopt(fd, IPPROTO_TCP, TCP_NODELAY, &at_once, sizeof at_once);
    }
    return fd;
}

/* Block n as it is sent: its number, then bytes computed from it. */
static void make_block(const struct load *l, uint64_t n, unsigned char *block)
{
    for (size_t i = 0; i < l->bytes; i++) {
        block[i] = (unsigned char)(i < 8 ? n >> 8 * i : n + i * 7);
    }
}

static bool keep(struct load *l, double ms)
{
    if (l->back == l->room) {
        size_t room = l->room != 0 ? 2 * l->room : 4096;
        double *more = realloc(l->latency, room * sizeof *more);
        if (more == NULL) {
            return false;
        }
        l->latency = more;
        l->room = room;
    }
    l->latency[l->back++] = ms;
    return true;
}

static bool busy(int error)
{
    return error == EAGAIN || error == EWOULDBLOCK || error == EINTR;
}

static bool may_begin(const struct load *l, double now)
{
    return !over && l->sent - l->back - l->lost < l->window &&
           (l->rate <= 0 || (double)l->sent <= (now - l->begin) * l->rate / 1e3);
}

/* Sends blocks while the window, the rate and the socket permit. */
static bool send_some(struct load *l, double now)
{
    static unsigned char block[MAX_BYTES];

    while (l->there != 0 || may_begin(l, now)) {
        unsigned at = (unsigned)(l->sent % l->window);
        if (l->udp && l->number[at] != 0) {
            return true; /* still in flight, though later ones have returned */
        }
        if (l->there == 0) {
            l->start[at] = now;
        }
        make_block(l, l->sent, block);
        ssize_t n = send(l->fd, block + l->there, l->bytes - l->there, MSG_NOSIGNAL | MSG_DONTWAIT);
        if (n < 0) {
            return busy(errno) || (l->udp && errno == ENOBUFS);
        }
        l->there += (size_t)n;
        if (l->there == l->bytes) {
            l->number[at] = l->sent + 1;
            l->sent++;
            l->there = 0;
        }
    }
    return true;
}

/* Whether the bytes at `in` are block n's next ones, from `here` on. */
static bool same(const struct load *l, uint64_t n, size_t here, const unsigned char *in,
                 size_t bytes)
{
    static unsigned char block[MAX_BYTES];

    make_block(l, n, block);
    return memcmp(block + here, in, bytes) == 0;
}

static bool wrong(uint64_t n)
{
    fprintf(stderr, "echo-load: block %llu did not come back right\n", (unsigned long long)n);
    return false;
}

static bool take_stream(struct load *l, const unsigned char *in, size_t n, double now)
{
    while (n != 0) {
        size_t part = l->bytes - l->here < n ? l->bytes - l->here : n;
        if (!same(l, l->back, l->here, in, part)) {
            return wrong(l->back);
        }
        l->here += part;
        in += part;
        n -= part;
        if (l->here == l->bytes) {
            l->here = 0;
            if (!keep(l, now - l->start[l->back % l->window])) {
                return false;
            }
        }
    }
    return true;
}

static bool take_datagram(struct load *l, const unsigned char *in, size_t n, double now)
{
    uint64_t number = 0;

    for (size_t i = 0; i < 8 && i < n; i++) {
        number |= (uint64_t)in[i] << 8 * i;
    }
    if (n != l->bytes || number >= l->sent || !same(l, number, 0, in, n)) {
        return wrong(number);
    }
    unsigned at = (unsigned)(number % l->window);
    if (l->number[at] != number + 1) {
        return true; /* already given up */
    }
    l->number[at] = 0;
    return keep(l, now - l->start[at]);
}

static bool receive_some(struct load *l)
{
    static unsigned char in[MAX_BYTES];

    for (;;) {
        ssize_t n = recv(l->fd, in, sizeof in, MSG_DONTWAIT);
        double now = now_ms();
        if (n < 0 && (busy(errno) || (l->udp && errno == ECONNREFUSED))) {
            return true;
        }
        if (n <= 0) {
            fprintf(stderr, "echo-load: the connection ended: %s\n",
                    n < 0 ? strerror(errno) : "by the target");
            return false;
        }
        l->last_ms = now;
        if (!(l->udp ? take_datagram(l, in, (size_t)n, now) : take_stream(l, in, (size_t)n, now))) {
            return false;
        }
    }
}

/* Counts datagrams that do not return. False: a stream that has stalled. */
static bool patient(struct load *l, double now)
{
    if (!l->udp) {
        if (l->sent != l->back && now - l->last_ms > TCP_PATIENCE_MS) {
            fprintf(stderr, "echo-load: nothing came back for %d s\n", TCP_PATIENCE_MS / 1000);
            return false;
        }
        return true;
    }
    for (unsigned i = 0; i < l->window; i++) {
        if (l->number[i] != 0 && now - l->start[i] > UDP_PATIENCE_MS) {
            l->number[i] = 0;
            l->lost++;
        }
    }
    return true;
}

/* Returns true on success; *ms: how long it ran. */
static bool run(struct load *l, double seconds, double *ms)
{
    double now = now_ms();
    bool good = true;

    l->begin = now;
    l->last_ms = now;
    while (good && (!over || l->there != 0 || l->sent != l->back + l->lost)) {
        now = now_ms();
        if (seconds > 0 && now - l->begin > seconds * 1e3) {
            over = 1;
        }
        if (l->sent == l->back) {
            l->last_ms = now; /* no block is in flight */
        }
        struct pollfd p = {.fd = l->fd, .events = (short)(POLLIN | (l->there != 0 ? POLLOUT : 0))};
        good = send_some(l, now);
        if (!good) {
            perror("echo-load: send");
        } else if (poll(&p, 1, l->rate > 0 ? 1 : POLL_MS) > 0) {
            good = receive_some(l);
        }
        good = good && patient(l, now_ms());
    }
    *ms = now_ms() - l->begin;
    return good && l->back != 0;
}

static int by_size(const void *a, const void *b)
{
    double x = *(const double *)a;
    double y = *(const double *)b;

    return (x > y) - (x < y);
}

static double percentile(const struct load *l, double share)
{
    return l->latency[(size_t)(share * (double)(l->back - 1))];
}

static void print(struct load *l, double ms)
{
    printf("%s, blocks of %zu bytes, %u under way: %llu came back in %.1f s, %llu lost, "
           "%.1f KiB/s each way by this machine's clock\n",
           l->udp ? "udp" : "tcp", l->bytes, l->window, (unsigned long long)l->back, ms / 1e3,
           (unsigned long long)l->lost, (double)l->back * (double)l->bytes / 1024 / (ms / 1e3));
    if (l->back != 0) {
        qsort(l->latency, l->back, sizeof *l->latency, by_size);
        printf("  latency in ms: 50 %% %.3f, 90 %% %.3f, 99 %% %.3f, 99.9 %% %.3f, worst %.3f\n",
               percentile(l, 0.5), percentile(l, 0.9), percentile(l, 0.99), percentile(l, 0.999),
               percentile(l, 1));
    }
}

int main(int argc, char **argv)
{
    unsigned long bytes = argc > 5 ? strtoul(argv[4], NULL, 10) : 0;
    unsigned long window = argc > 6 ? strtoul(argv[6], NULL, 10) : 1;
    double rate = argc > 7 ? strtod(argv[7], NULL) : 0;
    bool udp = argc > 5 && strcmp(argv[3], "udp") == 0;
    double ms = 0;

    if (argc < 6 || argc > 8 || bytes < MIN_BYTES || bytes > MAX_BYTES ||
        window - 1 >= MAX_WINDOW || (!udp && strcmp(argv[3], "tcp") != 0)) {
        fprintf(stderr,
                "usage: echo-load HOST PORT tcp|udp BYTES SECONDS [WINDOW [RATE]]\n"
                "BYTES %d to %d, WINDOW 1 to %d, SECONDS 0: until SIGTERM or SIGINT, "
                "RATE in blocks a second\n",
                MIN_BYTES, MAX_BYTES, MAX_WINDOW);
        return 2;
    }
    struct load l = {.udp = udp, .bytes = bytes, .window = (unsigned)window, .rate = rate};
    struct sigaction action = {.sa_handler = end};
    sigaction(SIGTERM, &action, NULL);
    sigaction(SIGINT, &action, NULL);
    l.fd = dial(argv[1], argv[2], udp);
    if (l.fd < 0) {
        perror("echo-load");
        return 1;
    }
    bool good = run(&l, strtod(argv[5], NULL), &ms);
    close(l.fd);
    print(&l, ms);
    free(l.latency);
    return good ? 0 : 1;
}
