/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Load for the demo's echo server, and what it makes of it: throughput and latency.
 *   echo-load HOST PORT tcp|udp BYTES SECONDS
 * Sends blocks of BYTES, waits for each to come back and compares it. Prints one line; exit status
 * 1 if anything came back wrong or late (UDP: lost datagrams are counted, not an error).
 */
#include <errno.h>
#include <netdb.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/time.h>
#include <time.h>
#include <unistd.h>

enum { MAX_BYTES = 65536, PATIENCE_S = 5 };

struct load {
    int fd;
    bool udp;
    size_t bytes;
    unsigned long blocks, lost;
    double sum_ms, worst_ms;
};

static double now_ms(void)
{
    struct timespec t;

    clock_gettime(CLOCK_MONOTONIC, &t);
    return (double)t.tv_sec * 1e3 + (double)t.tv_nsec / 1e6;
}

static int dial(const char *host, const char *port, bool udp)
{
    struct addrinfo hints = {.ai_family = AF_INET, .ai_socktype = udp ? SOCK_DGRAM : SOCK_STREAM};
    struct timeval patience = {.tv_sec = udp ? 1 : PATIENCE_S};
    struct addrinfo *found;

    if (getaddrinfo(host, port, &hints, &found) != 0) {
        return -1;
    }
    int fd = socket(found->ai_family, found->ai_socktype, 0);
    if (fd >= 0 && connect(fd, found->ai_addr, found->ai_addrlen) != 0) {
        close(fd);
        fd = -1;
    }
    freeaddrinfo(found);
    if (fd >= 0) {
        (void)setsockopt(fd, SOL_SOCKET, SO_RCVTIMEO, &patience, sizeof patience);
    }
    return fd;
}

/* All of it there and back. 1: done, 0: a datagram is lost, -1: failed. */
static int round_trip(const struct load *l, const unsigned char *out, unsigned char *in)
{
    size_t there = 0;
    size_t back = 0;

    while (there < l->bytes) {
        ssize_t n = send(l->fd, out + there, l->bytes - there, MSG_NOSIGNAL);
        if (n <= 0) {
            return -1;
        }
        there += (size_t)n;
    }
    while (back < l->bytes) {
        ssize_t n = recv(l->fd, in + back, l->bytes - back, 0);
        if (n < 0 && l->udp && (errno == EAGAIN || errno == EWOULDBLOCK)) {
            return 0;
        }
        if (n <= 0) {
            return -1;
        }
        back += (size_t)n;
    }
    return memcmp(in, out, l->bytes) == 0 ? 1 : -1;
}

static bool run(struct load *l, double seconds)
{
    static unsigned char out[MAX_BYTES], in[MAX_BYTES];
    double end = now_ms() + seconds * 1e3;

    while (now_ms() < end) {
        double t = now_ms();

        for (size_t i = 0; i < l->bytes; i++) {
            out[i] = (unsigned char)(l->blocks + i * 7);
        }
        int done = round_trip(l, out, in);
        double ms = now_ms() - t;
        if (done < 0) {
            fprintf(stderr, "echo-load: block %lu did not come back right\n", l->blocks);
            return false;
        }
        l->lost += done == 0;
        l->blocks += done == 1;
        l->sum_ms += done == 1 ? ms : 0;
        l->worst_ms = done == 1 && ms > l->worst_ms ? ms : l->worst_ms;
    }
    return l->blocks != 0;
}

int main(int argc, char **argv)
{
    if (argc != 6 || strtoul(argv[4], NULL, 10) - 1 >= MAX_BYTES) {
        fputs("usage: echo-load HOST PORT tcp|udp BYTES SECONDS\n", stderr);
        return 2;
    }
    struct load l = {.udp = strcmp(argv[3], "udp") == 0, .bytes = strtoul(argv[4], NULL, 10)};
    double seconds = strtod(argv[5], NULL);

    l.fd = dial(argv[1], argv[2], l.udp);
    if (l.fd < 0) {
        perror("echo-load");
        return 1;
    }
    bool good = run(&l, seconds);
    close(l.fd);
    printf("%s %zu bytes: %lu round trips, %lu lost, %.1f KB/s each way, latency mean %.3f ms, "
           "worst %.3f ms\n",
           argv[3], l.bytes, l.blocks, l.lost, (double)l.blocks * (double)l.bytes / 1024 / seconds,
           l.blocks != 0 ? l.sum_ms / (double)l.blocks : 0.0, l.worst_ms);
    return good ? 0 : 1;
}
