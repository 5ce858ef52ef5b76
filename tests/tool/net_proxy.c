/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * net-tool proxy LISTEN PORT PLAN...: for tests of broken, slow and silent connections.
 *
 * Forwards connections, each by the first PLAN that is left, or by the last one. A connection that
 * ends before its N bytes leaves its PLAN to a later one. A PLAN is
 * - pass
 * - up:N, down:N: cut after N bytes to the target, from the target; N odd: reset, even: closed
 * - freeze:N: after N bytes from the target nothing is forwarded, and nothing is closed
 * - stall:N: after N bytes from the target it is not read from until the proxy gets SIGUSR1
 * - delay:MS: passes; bytes, and the ends of connections, arrive MS later, each way
 * - tap:FILE: passes; the bytes to the target are stored
 *
 * Owns: its sockets. It prints a line on standard error at each connection's end.
 */
#include "net_tool.h"

#include <fcntl.h>
#include <netinet/tcp.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

enum kind { PASS, UP, DOWN, FREEZE, STALL, DELAY };

struct late { /* bytes on their way, or the connection's end: n = 0 */
    struct late *next;
    double due_s;
    size_t n;
    uint8_t bytes[NET_CHUNK];
};

struct pair {
    int host, target, tap; /* descriptors, -1: none */
    enum kind kind;
    uint64_t limit, up, down;
    bool frozen, stalled;
    bool ended[2];         /* DELAY: nothing more comes from the host, from the target */
    struct late *queue[2]; /* DELAY: from the host, from the target; the oldest first */
    unsigned number, plan;
};

static int listen_at(const char *port)
{
    struct sockaddr_in a = net_loopback(port);
    int fd = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0), on = 1;

    setsockopt(fd, SOL_SOCKET, SO_REUSEADDR, &on, sizeof on);
    if (bind(fd, (struct sockaddr *)&a, sizeof a) != 0 || listen(fd, 16) != 0) {
        net_die("listen");
    }
    return fd;
}

static volatile sig_atomic_t go_on;
static enum { LEFT, TAKEN, DONE } plan_state[NET_PROXY_PLANS];

static void on_signal(int number)
{
    (void)number;
    go_on = 1;
}

static void follow(struct pair *p, const char *plan)
{
    static const char *const words[] = {
        [UP] = "up:",       [DOWN] = "down:",   [FREEZE] = "freeze:",
        [STALL] = "stall:", [DELAY] = "delay:",
    };

    p->kind = PASS;
    p->tap = -1;
    for (int k = UP; k <= DELAY; k++) {
        size_t n = strlen(words[k]);
        if (strncmp(plan, words[k], n) == 0) {
            p->kind = (enum kind)k;
            p->limit = strtoull(plan + n, NULL, 10);
        }
    }
    if (strncmp(plan, "tap:", 4) == 0) {
        p->tap = open(plan + 4, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0600);
    }
}

static void end(struct pair *p, const char *why)
{
    struct linger reset = {.l_onoff = 1};

    if (p->kind != DELAY && p->limit % 2 != 0) {
        setsockopt(p->host, SOL_SOCKET, SO_LINGER, &reset, sizeof reset);
        setsockopt(p->target, SOL_SOCKET, SO_LINGER, &reset, sizeof reset);
    }
    close(p->host);
    close(p->target);
    if (p->tap >= 0) {
        close(p->tap);
    }
    p->host = p->target = -1;
    for (int up = 0; up < 2; up++) {
        for (struct late *late; (late = p->queue[up]) != NULL;) {
            p->queue[up] = late->next;
            free(late);
        }
    }
    if (plan_state[p->plan] == TAKEN) {
        plan_state[p->plan] = LEFT;
    }
    fprintf(stderr, "connection %u: %s, up %llu, down %llu\n", p->number, why,
            (unsigned long long)p->up, (unsigned long long)p->down);
}

static void cut(struct pair *p)
{
    plan_state[p->plan] = DONE;
    end(p, "cut");
}

static unsigned next_plan(unsigned plans)
{
    unsigned k = 0;

    while (k < plans && plan_state[k] != LEFT) {
        k++;
    }
    return k < plans ? k : plans - 1;
}

static void accept_one(int listener, const char *to, char **plan, unsigned plans, struct pair *p,
                       unsigned k)
{
    int on = 1;

    *p = (struct pair){.number = k, .plan = next_plan(plans)};
    plan_state[p->plan] = TAKEN;
    follow(p, plan[p->plan]);
    p->host = accept4(listener, NULL, NULL, SOCK_CLOEXEC);
    p->target = net_connect(to, p->kind == STALL ? 4096 : 0);
    setsockopt(p->host, IPPROTO_TCP, TCP_NODELAY, &on, sizeof on);
    if (p->target < 0) {
        p->target = dup(p->host);
        end(p, "no program at the other end");
    } else if (p->limit == 0 && (p->kind == UP || p->kind == DOWN)) {
        cut(p);
    }
}

static void move_later(struct pair *p, bool up)
{
    struct late *late = malloc(sizeof *late), **last = &p->queue[up];

    if (late == NULL) {
        net_die("memory");
    }
    ssize_t n = read(up ? p->host : p->target, late->bytes, sizeof late->bytes);
    late->n = n > 0 ? (size_t)n : 0;
    late->due_s = net_now_s() + (double)p->limit / 1e3;
    late->next = NULL;
    p->ended[up] = late->n == 0;
    while (*last != NULL) {
        last = &(*last)->next;
    }
    *last = late;
}

/* Forwards what is due. Returns the milliseconds until more is, at most `most`. */
static int deliver_late(struct pair *p, int most)
{
    for (int up = 0; up < 2; up++) {
        while (p->queue[up] != NULL && p->queue[up]->due_s <= net_now_s()) {
            struct late *late = p->queue[up];
            int to = up ? p->target : p->host;
            if (late->n == 0 || !net_write_all(to, late->bytes, late->n)) {
                end(p, up ? "closed by the host" : "closed by the target");
                return most;
            }
            *(up ? &p->up : &p->down) += late->n;
            p->queue[up] = late->next;
            free(late);
        }
        if (p->queue[up] != NULL) {
            int wait = (int)((p->queue[up]->due_s - net_now_s()) * 1e3) + 1;
            most = wait < most ? wait : most;
        }
    }
    return most;
}

/* Forwards available bytes, exactly up to a limit. */
static void move(struct pair *p, bool up)
{
    uint8_t chunk[NET_CHUNK];
    bool limited = up ? p->kind == UP : p->kind != PASS && p->kind != UP;
    uint64_t *moved = up ? &p->up : &p->down;
    size_t most = sizeof chunk;

    if (p->kind == DELAY) {
        move_later(p, up);
        return;
    }
    if (limited && *moved < p->limit && p->limit - *moved < most) {
        most = (size_t)(p->limit - *moved);
    }
    ssize_t n = read(up ? p->host : p->target, chunk, most);
    if (n <= 0 || !net_write_all(up ? p->target : p->host, chunk, (size_t)n)) {
        end(p, up ? "closed by the host" : "closed by the target");
        return;
    }
    if (up && p->tap >= 0 && !net_write_all(p->tap, chunk, (size_t)n)) {
        net_die("tap");
    }
    *moved += (uint64_t)n;
    if (!limited || *moved != p->limit) {
        return;
    }
    if (p->kind == FREEZE) {
        p->frozen = true;
        plan_state[p->plan] = DONE;
        fprintf(stderr, "connection %u: frozen, up %llu, down %llu\n", p->number,
                (unsigned long long)p->up, (unsigned long long)p->down);
    } else if (p->kind == STALL) {
        p->stalled = true;
        plan_state[p->plan] = DONE;
        fprintf(stderr, "connection %u: stalled\n", p->number);
    } else {
        cut(p);
    }
}

_Noreturn void net_proxy(const char *listen_port, const char *to, char **plan, unsigned plans)
{
    static struct pair pairs[NET_PROXY_PLANS];
    static struct pollfd fds[2 * NET_PROXY_PLANS + 1];
    unsigned n = 0;
    int listener = listen_at(listen_port);

    signal(SIGUSR1, on_signal);
    for (;;) {
        int wait = 50;
        fds[0] = (struct pollfd){.fd = listener, .events = POLLIN};
        for (unsigned i = 0; i < n; i++) {
            struct pair *p = &pairs[i];
            wait = deliver_late(p, wait);
            fds[1 + 2 * i] =
                (struct pollfd){.fd = p->frozen || p->ended[1] ? -1 : p->host, .events = POLLIN};
            fds[2 + 2 * i] = (struct pollfd){
                .fd = p->frozen || p->ended[0] || (p->stalled && !go_on) ? -1 : p->target,
                .events = POLLIN};
        }
        if (poll(fds, 2 * n + 1, wait) <= 0) {
            continue;
        }
        for (unsigned i = 0; i < n; i++) {
            if (pairs[i].host >= 0 && fds[1 + 2 * i].revents != 0) {
                move(&pairs[i], true);
            }
            if (pairs[i].host >= 0 && fds[2 + 2 * i].revents != 0) {
                move(&pairs[i], false);
            }
        }
        if (fds[0].revents != 0 && n < NET_PROXY_PLANS) {
            accept_one(listener, to, plan, plans, &pairs[n], n);
            n++;
        }
    }
}
