/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Many targets in one process, for the scale of mkperf agent (bench/agent.sh).
 *
 *     fleet PORT TARGETS RATE PC    at ports PORT, PORT + 1, ... of loopback, until it is killed
 *
 * Owns: the target's half of the protocol, as far as a recording needs it. Each target sends RATE samples/s of the host's time, in a
 * batch each FLUSH_MS, of 8 chains with three addresses from PC on. It prints the number of samples once per second.
 */
#include <arpa/inet.h>
#include <poll.h>
#include <stdlib.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <time.h>
#include <unistd.h>

#include <pb_decode.h>

#include "fake_target.h"

enum { FLUSH_MS = 100, TARGETS_MAX = 4096, CHAINS = 4, FILES = 3 * TARGETS_MAX };

struct one {
    uint64_t sent, ticks;
    size_t n;
    int listener, fd;
    uint16_t sequence;
    bool running, defined;
    uint8_t in[2 * MKPERF_FRAME_BYTES];
};

static struct one target[TARGETS_MAX];
static struct pollfd ready[2 * TARGETS_MAX];
static struct fake out;

static void put_out(struct one *t)
{
    if (t->fd >= 0 && write(t->fd, out.bytes, out.n) != (ssize_t)out.n) {
        close(t->fd);
        t->fd = -1;
        t->running = false;
    }
    t->sequence = out.sequence;
    out.n = 0;
}

static void on_request(struct one *t, const mkperf_ToTarget *m)
{
    out.sequence = t->sequence;
    switch (m->which_msg) {
    case mkperf_ToTarget_hello_tag:
        fake_hello(&out, m->request, 1 + (uint64_t)(t - target), MKPERF_PROTOCOL);
        break;
    case mkperf_ToTarget_start_tag:
        t->running = true;
        t->sent = 0;
        t->defined = false;
        fake_session(&out, m->request, 1, true);
        break;
    case mkperf_ToTarget_configure_tag:
        fake_session(&out, m->request, 1, false);
        break;
    case mkperf_ToTarget_stop_tag:
        t->running = false;
        fake_status(&out, m->request, 1, false, t->sent, 0);
        break;
    default:
        fake_status(&out, m->request, 1, t->running, t->sent, 0);
    }
    put_out(t);
}

static void receive(struct one *t)
{
    static mkperf_ToTarget m;
    uint8_t byte[4096];
    ssize_t n = read(t->fd, byte, sizeof byte);

    if (n <= 0) {
        close(t->fd);
        t->fd = -1;
        t->running = false;
        return;
    }
    for (ssize_t i = 0; i < n; i++) {
        uint16_t sequence;
        if (byte[i] != 0) {
            t->in[t->n] = byte[i];
            t->n += t->n < sizeof t->in - 1;
            continue;
        }
        int length = t->n > 0 ? mkperf_frame_decode(t->in, t->n, &sequence) : -1;
        pb_istream_t in = pb_istream_from_buffer(t->in + 2, length > 0 ? (size_t)length : 0);
        if (length > 0 && pb_decode(&in, mkperf_ToTarget_fields, &m)) {
            on_request(t, &m);
        }
        t->n = 0;
    }
}

static void send_samples(struct one *t, unsigned n, unsigned rate, uint64_t pc)
{
    static struct fake_batch b;

    fake_batch_init(&b, t->sent, n, t->ticks);
    for (unsigned i = 0; i < n; i++) {
        b.sample[i].time = t->ticks += FAKE_HZ / rate;
        b.sample[i].slot = (unsigned)((t->sent + i) % CHAINS);
    }
    b.batch.time_ticks = b.sample[0].time;
    for (unsigned i = 0; i < CHAINS && !t->defined; i++) {
        fake_chain(&b, i, i, 1 + i % 2, pc + UINT64_C(64) * i);
    }
    t->defined = true;
    out.sequence = t->sequence;
    fake_batch(&out, &b);
    t->sent += n;
    put_out(t);
}

static double now_s(void)
{
    struct timespec now;

    clock_gettime(CLOCK_MONOTONIC, &now);
    return (double)now.tv_sec + (double)now.tv_nsec / 1e9;
}

int main(int argc, char **argv)
{
    unsigned n = argc > 4 ? (unsigned)atoi(argv[2]) : 0, rate = n > 0 ? (unsigned)atoi(argv[3]) : 0;
    struct rlimit files = {FILES, FILES};

    (void)setrlimit(RLIMIT_NOFILE, &files);
    for (unsigned i = 0; i < n && n <= TARGETS_MAX; i++) {
        struct sockaddr_in at = {.sin_family = AF_INET,
                                 .sin_port = htons((uint16_t)(atoi(argv[1]) + (int)i)),
                                 .sin_addr.s_addr = htonl(INADDR_LOOPBACK)};
        const int on = 1;

        target[i].fd = -1;
        target[i].ticks = FAKE_HZ;
        target[i].listener = socket(AF_INET, SOCK_STREAM, 0);
        setsockopt(target[i].listener, SOL_SOCKET, SO_REUSEADDR, &on, sizeof on);
        if (bind(target[i].listener, (struct sockaddr *)&at, sizeof at) != 0 ||
            listen(target[i].listener, 2) != 0) {
            perror("fleet");
            return 1;
        }
    }
    double next = now_s(), shown = next;
    while (n > 0) {
        double now = now_s();
        for (unsigned i = 0; i < n; i++) {
            ready[i] = (struct pollfd){.fd = target[i].listener, .events = POLLIN};
            ready[n + i] = (struct pollfd){.fd = target[i].fd, .events = POLLIN};
        }
        if (poll(ready, 2 * (nfds_t)n, now < next ? (int)((next - now) * 1000) + 1 : 0) > 0) {
            for (unsigned i = 0; i < n; i++) {
                if (ready[n + i].revents != 0) {
                    receive(&target[i]);
                }
                if (ready[i].revents != 0 && target[i].fd < 0) {
                    target[i].fd = accept(target[i].listener, NULL, NULL);
                    target[i].sequence = 0;
                    target[i].n = 0;
                }
            }
        }
        uint64_t sum = 0;
        for (unsigned i = 0; i < n && now_s() >= next; i++) {
            if (target[i].running) {
                send_samples(&target[i], rate * FLUSH_MS / 1000, rate, strtoull(argv[4], NULL, 0));
            }
            sum += target[i].sent;
            if (i + 1 == n) {
                next += FLUSH_MS / 1000.0;
                break;
            }
        }
        if (sum != 0 && now_s() - shown >= 1) {
            shown = now_s();
            printf("%llu\n", (unsigned long long)sum);
            (void)fflush(stdout);
        }
    }
    return 0;
}
