/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * For tests of network connections: breaks a connection at a place that the test chooses, and sends
 * bytes that no mkperf would send.
 *
 *   net-tool port [N]
 *     prints N (1) different ports of 127.0.0.1, each free for TCP and for UDP, on one line
 *   net-tool proxy LISTEN PORT PLAN...
 *     forwards connections, each by the first PLAN that is left, or by the last one. A connection that
 *     ends before its N bytes leaves its PLAN to a later one. A PLAN is
 *     - pass
 *     - up:N, down:N: cut after N bytes to the target, from the target; N odd: reset, even: closed
 *     - freeze:N: after N bytes from the target nothing is forwarded, and nothing is closed
 *     - stall:N: after N bytes from the target it is not read from until the proxy gets SIGUSR1
 *     - delay:MS: passes; bytes, and the ends of connections, arrive MS later, each way
 *     - tap:FILE: passes; the bytes to the target are stored
 *   net-tool send PORT FILE SECONDS
 *     sends the file and prints the answer; exit status 0: the other end closed it, 3: it is open
 *     after that many seconds
 *   net-tool crowd PORT RATE HOLD FILE
 *     opens RATE connections per second, sends the file on each, and holds the newest HOLD open
 *   net-tool slots PORT HOLD FILE
 *     holds HOLD connections open, each after sending the file; one that is closed is opened again at once
 *   crowd, slots and syns print `many` on standard error once MANY connections, or SYNs, were made
 *   net-tool syns PATH RATE
 *     sends RATE TCP SYNs per second to the target's port 1236, and never the rest of a handshake, as
 *     Ethernet frames in datagrams to the Unix socket PATH, where QEMU's `-netdev dgram` is. They have
 *     many source ports, of addresses that do not exist
 *   A second of a RATE is one of processor time of the process $PACE, which is QEMU's, if it is set
 *   net-tool pipe PORT
 *     standard input and output to a connection and back
 *   net-tool monitor PATH COMMAND
 *     a command for QEMU's monitor
 *
 * Owns: its sockets, all on loopback. It prints a line on standard error at each connection's end.
 */
#include <arpa/inet.h>
#include <errno.h>
#include <fcntl.h>
#include <netinet/tcp.h>
#include <poll.h>
#include <signal.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <time.h>
#include <unistd.h>

enum { PAIRS = 512, CHUNK = 2048, STILL_OPEN = 3, MONITOR_MS = 300, MANY = 8, MANY_SYNS = 250 };
enum kind { PASS, UP, DOWN, FREEZE, STALL, DELAY };

struct late { /* bytes on their way, or the connection's end: n = 0 */
    struct late *next;
    double due_s;
    size_t n;
    uint8_t bytes[CHUNK];
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

static void die(const char *what)
{
    perror(what);
    exit(1);
}

static double now_s(void)
{
    struct timespec t;

    clock_gettime(CLOCK_MONOTONIC, &t);
    return (double)t.tv_sec + (double)t.tv_nsec / 1e9;
}

/* The time that rates are about. On a busy machine a target gets a part of each second, and the hosts as much. */
static double paced_s(void)
{
    const char *pid = getenv("PACE");
    unsigned long user, system;
    char path[64];

    if (pid == NULL) {
        return now_s();
    }
    snprintf(path, sizeof path, "/proc/%s/stat", pid);
    FILE *f = fopen(path, "r");
    if (f == NULL || fscanf(f,
                            "%*d (%*[^)]) %*c %*d %*d %*d %*d %*d %*u %*u %*u %*u %*u "
                            "%lu %lu",
                            &user, &system) != 2) {
        die(path);
    }
    (void)fclose(f);
    return (double)(user + system) / (double)sysconf(_SC_CLK_TCK);
}

static struct sockaddr_in loopback(const char *port)
{
    struct sockaddr_in a = {.sin_family = AF_INET, .sin_port = htons((uint16_t)atoi(port))};

    a.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    return a;
}

static struct sockaddr_un unix_address(const char *path)
{
    struct sockaddr_un a = {.sun_family = AF_UNIX};

    if (strlen(path) >= sizeof a.sun_path) {
        errno = ENAMETOOLONG;
        die(path);
    }
    memcpy(a.sun_path, path, strlen(path) + 1);
    return a;
}

/* -1: no listener. receive: bytes of the receive buffer; 0: default. */
static int connect_to(const char *port, int receive)
{
    struct sockaddr_in a = loopback(port);
    int fd = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0), on = 1, segment = 536;

    if (receive != 0) { /* small segments limit the other end's buffer, too */
        setsockopt(fd, SOL_SOCKET, SO_RCVBUF, &receive, sizeof receive);
        setsockopt(fd, IPPROTO_TCP, TCP_MAXSEG, &segment, sizeof segment);
    }
    if (connect(fd, (struct sockaddr *)&a, sizeof a) != 0) {
        close(fd);
        return -1;
    }
    setsockopt(fd, IPPROTO_TCP, TCP_NODELAY, &on, sizeof on);
    return fd;
}

static int listen_at(const char *port)
{
    struct sockaddr_in a = loopback(port);
    int fd = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0), on = 1;

    setsockopt(fd, SOL_SOCKET, SO_REUSEADDR, &on, sizeof on);
    if (bind(fd, (struct sockaddr *)&a, sizeof a) != 0 || listen(fd, 16) != 0) {
        die("listen");
    }
    return fd;
}

/* The sockets stay open until the end, so that the ports differ. QEMU forwards one number for both protocols. */
static int ports(unsigned n)
{
    enum { TRIES = 100 };

    for (unsigned i = 0, tries = 0; i < n; tries++) {
        struct sockaddr_in a = loopback("0");
        socklen_t length = sizeof a;
        int tcp = socket(AF_INET, SOCK_STREAM, 0), udp = socket(AF_INET, SOCK_DGRAM, 0);

        if (bind(tcp, (struct sockaddr *)&a, length) == 0 &&
            getsockname(tcp, (struct sockaddr *)&a, &length) == 0 &&
            bind(udp, (struct sockaddr *)&a, length) == 0) {
            printf("%d%c", ntohs(a.sin_port), ++i < n ? ' ' : '\n');
        } else if (tries == TRIES) {
            die("no port");
        }
    }
    return 0;
}

static bool write_all(int fd, const uint8_t *p, size_t n)
{
    while (n > 0) {
        ssize_t done = write(fd, p, n);
        if (done <= 0) {
            return false;
        }
        p += done;
        n -= (size_t)done;
    }
    return true;
}

/* ---- proxy ---- */

static volatile sig_atomic_t go_on;
static enum { LEFT, TAKEN, DONE } plan_state[PAIRS];

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
    p->target = connect_to(to, p->kind == STALL ? 4096 : 0);
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
        die("memory");
    }
    ssize_t n = read(up ? p->host : p->target, late->bytes, sizeof late->bytes);
    late->n = n > 0 ? (size_t)n : 0;
    late->due_s = now_s() + (double)p->limit / 1e3;
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
        while (p->queue[up] != NULL && p->queue[up]->due_s <= now_s()) {
            struct late *late = p->queue[up];
            int to = up ? p->target : p->host;
            if (late->n == 0 || !write_all(to, late->bytes, late->n)) {
                end(p, up ? "closed by the host" : "closed by the target");
                return most;
            }
            *(up ? &p->up : &p->down) += late->n;
            p->queue[up] = late->next;
            free(late);
        }
        if (p->queue[up] != NULL) {
            int wait = (int)((p->queue[up]->due_s - now_s()) * 1e3) + 1;
            most = wait < most ? wait : most;
        }
    }
    return most;
}

/* Forwards available bytes, exactly up to a limit. */
static void move(struct pair *p, bool up)
{
    uint8_t chunk[CHUNK];
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
    if (n <= 0 || !write_all(up ? p->target : p->host, chunk, (size_t)n)) {
        end(p, up ? "closed by the host" : "closed by the target");
        return;
    }
    if (up && p->tap >= 0 && !write_all(p->tap, chunk, (size_t)n)) {
        die("tap");
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

static _Noreturn void proxy(const char *listen_port, const char *to, char **plan, unsigned plans)
{
    static struct pair pairs[PAIRS];
    static struct pollfd fds[2 * PAIRS + 1];
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
        if (fds[0].revents != 0 && n < PAIRS) {
            accept_one(listener, to, plan, plans, &pairs[n], n);
            n++;
        }
    }
}

/* ---- the others ---- */

static int send_file(const char *to, const char *path, double seconds)
{
    uint8_t chunk[CHUNK];
    int fd = connect_to(to, 0), file = open(path, O_RDONLY | O_CLOEXEC);
    double until = now_s() + seconds;
    ssize_t n;

    if (fd < 0 || file < 0) {
        die(fd < 0 ? to : path);
    }
    while ((n = read(file, chunk, sizeof chunk)) > 0 && write_all(fd, chunk, (size_t)n)) {
    }
    while (now_s() < until) {
        struct pollfd ready = {.fd = fd, .events = POLLIN};
        if (poll(&ready, 1, 50) <= 0) {
            continue;
        }
        n = read(fd, chunk, sizeof chunk);
        if (n <= 0) {
            return 0;
        }
        if (!write_all(STDOUT_FILENO, chunk, (size_t)n)) {
            die("output");
        }
    }
    return STILL_OPEN;
}

/* Sends on a connection once it is made, and forgets what comes back. Returns whether it was sent. */
static bool say_when_open(int fd, const uint8_t *p, size_t n)
{
    uint8_t back[CHUNK];
    struct pollfd ready = {.fd = fd, .events = POLLOUT};

    if (poll(&ready, 1, 0) != 1 || ready.revents != POLLOUT) {
        return false;
    }
    return n == 0 || send(fd, p, n, MSG_NOSIGNAL) == (ssize_t)n ||
           recv(fd, back, sizeof back, MSG_DONTWAIT) >= 0;
}

/* Another connection, or SYN, was made. */
static void count_made(unsigned many)
{
    static unsigned made;

    if (++made == many) {
        fputs("many\n", stderr);
    }
}

/*
 * A connection of a stranger, not yet open. Its port is not one that the system chooses for others:
 * QEMU's user network gives a connection's port on, so one of a host and one of a stranger, over
 * two forwarded ports, would be the same to the target.
 */
static int stranger(const struct sockaddr_in *to)
{
    enum { FIRST_PORT = 10000, PORTS = 20000, TRIES = 100 };
    static unsigned next;
    int on = 1;

    for (unsigned i = 0; i < TRIES; i++) {
        int fd = socket(AF_INET, SOCK_STREAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0);
        struct sockaddr_in from = {.sin_family = AF_INET};
        from.sin_port = htons((uint16_t)(FIRST_PORT + next++ % PORTS));
        setsockopt(fd, SOL_SOCKET, SO_REUSEADDR, &on, sizeof on);
        if (bind(fd, (struct sockaddr *)&from, sizeof from) == 0 &&
            (connect(fd, (const struct sockaddr *)to, sizeof *to) == 0 || errno == EINPROGRESS)) {
            return fd;
        }
        close(fd);
    }
    die("no port");
    return -1;
}

/* Opens connections without waiting for them. */
static _Noreturn void crowd(const char *to, double rate, unsigned hold, const char *path)
{
    static struct {
        int fd;
        bool said;
    } member[PAIRS];
    uint8_t text[CHUNK];
    struct sockaddr_in a = loopback(to);
    int file = open(path, O_RDONLY | O_CLOEXEC);
    ssize_t n = file >= 0 ? read(file, text, sizeof text) : -1;
    double began = paced_s();

    if (n < 0 || hold == 0 || hold > PAIRS) {
        die(path);
    }
    for (uint64_t k = 0;;) {
        double due = (paced_s() - began) * rate;
        for (unsigned i = 0; i < hold && i < k; i++) {
            if (!member[i].said && say_when_open(member[i].fd, text, (size_t)n)) {
                member[i].said = true;
                count_made(MANY);
            }
        }
        for (; (double)k < due; k++) {
            if (k >= hold) {
                close(member[k % hold].fd);
            }
            member[k % hold].fd = stranger(&a);
            member[k % hold].said = false;
        }
        usleep(1000);
    }
}

static _Noreturn void slots(const char *to, unsigned hold, const char *path)
{
    static struct pollfd slot[PAIRS];
    static bool said[PAIRS];
    uint8_t text[CHUNK], back[CHUNK];
    struct sockaddr_in a = loopback(to);
    int file = open(path, O_RDONLY | O_CLOEXEC);
    ssize_t n = file >= 0 ? read(file, text, sizeof text) : -1;

    if (n < 0 || hold == 0 || hold > PAIRS) {
        die(path);
    }
    for (unsigned i = 0; i < hold; i++) {
        slot[i].fd = -1;
    }
    for (;;) {
        for (unsigned i = 0; i < hold; i++) {
            struct pollfd *p = &slot[i];
            if (p->fd >= 0 && !said[i] && p->revents == POLLOUT) {
                said[i] = n == 0 || send(p->fd, text, (size_t)n, MSG_NOSIGNAL) == n;
                p->events = POLLIN;
                count_made(MANY);
            } else if (p->fd >= 0 && p->revents != 0 &&
                       recv(p->fd, back, sizeof back, MSG_DONTWAIT) <= 0) {
                close(p->fd);
                p->fd = -1;
            }
            if (p->fd < 0) {
                p->fd = stranger(&a);
                p->events = POLLOUT;
                said[i] = false;
            }
            p->revents = 0;
        }
        poll(slot, hold, -1);
    }
}

enum { ETHERNET = 14, IP = 20, TCP = 20, FRAME = ETHERNET + IP + TCP, SOURCES = 4 };

static void put16(uint8_t *p, unsigned v)
{
    p[0] = (uint8_t)(v >> 8);
    p[1] = (uint8_t)v;
}

/* Of an even number of bytes, with the sum of what comes before them. */
static unsigned internet_sum(const uint8_t *p, size_t n, unsigned sum)
{
    for (size_t i = 0; i < n; i += 2) {
        sum += (unsigned)p[i] << 8 | p[i + 1];
    }
    return sum;
}

static unsigned internet_checksum(unsigned sum)
{
    while (sum >> 16 != 0) {
        sum = (sum & 0xffff) + (sum >> 16);
    }
    return ~sum & 0xffff;
}

/* The k-th SYN, to the address and the hardware address that QEMU gives the first guest. */
static void make_syn(uint8_t frame[FRAME], uint64_t k)
{
    static const uint8_t head[] = {
        0x52, 0x54, 0,    0x12, 0x34, 0x56,     2,  0, 0, 0,  0,  1, /* to, from */
        8,    0,    0x45, 0,    0,    IP + TCP, 0,  0, 0, 0,  64, 6, /* IPv4, TCP */
        0,    0,    10,   0,    2,    100,      10, 0, 2, 15,        /* checksum, from, to */
    };
    uint8_t *ip = frame + ETHERNET, *tcp = ip + IP;

    memset(frame, 0, FRAME);
    memcpy(frame, head, sizeof head);
    ip[15] = (uint8_t)(ip[15] + k % SOURCES);
    put16(ip + 10, internet_checksum(internet_sum(ip, IP, 0)));
    put16(tcp, 1024 + (unsigned)(k / SOURCES % 60000));
    put16(tcp + 2, 1236);
    put16(tcp + 4, (unsigned)(k * 40503 & 0xffff));
    tcp[12] = TCP / 4 << 4;
    tcp[13] = 2; /* SYN */
    put16(tcp + 14, 8192);
    put16(tcp + 16, internet_checksum(internet_sum(tcp, TCP, internet_sum(ip + 12, 8, 6 + TCP))));
}

static _Noreturn void syns(const char *to, double rate)
{
    struct sockaddr_un at = unix_address(to);
    uint8_t frame[FRAME];
    int fd = socket(AF_UNIX, SOCK_DGRAM | SOCK_CLOEXEC, 0);
    double began = paced_s();

    for (uint64_t k = 0;; usleep(1000)) {
        for (double due = (paced_s() - began) * rate; (double)k < due; k++) {
            make_syn(frame, k);
            if (sendto(fd, frame, sizeof frame, 0, (struct sockaddr *)&at, sizeof at) < 0) {
                die(to);
            }
            count_made(MANY_SYNS);
        }
    }
}

static int pipe_through(const char *to)
{
    uint8_t chunk[CHUNK];
    int fd = connect_to(to, 0);

    if (fd < 0) {
        return 1; /* no listener: the target may try again */
    }
    for (;;) {
        struct pollfd ready[2] = {{.fd = STDIN_FILENO, .events = POLLIN},
                                  {.fd = fd, .events = POLLIN}};
        poll(ready, 2, -1);
        for (int i = 0; i < 2; i++) {
            ssize_t n = ready[i].revents != 0 ? read(ready[i].fd, chunk, sizeof chunk) : 1;
            if (n <= 0 || (ready[i].revents != 0 &&
                           !write_all(i == 0 ? fd : STDOUT_FILENO, chunk, (size_t)n))) {
                return 0;
            }
        }
    }
}

static int monitor(const char *path, const char *command)
{
    struct sockaddr_un a = unix_address(path);
    uint8_t chunk[CHUNK];
    int fd = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);

    if (connect(fd, (struct sockaddr *)&a, sizeof a) != 0) {
        die(path);
    }
    dprintf(fd, "%s\n", command);
    for (struct pollfd ready = {.fd = fd, .events = POLLIN}; poll(&ready, 1, MONITOR_MS) > 0;) {
        ssize_t n = read(fd, chunk, sizeof chunk);
        if (n <= 0 || !write_all(STDOUT_FILENO, chunk, (size_t)n)) {
            break;
        }
    }
    return 0;
}

int main(int argc, char **argv)
{
    const char *what = argc > 1 ? argv[1] : "";

    signal(SIGPIPE, SIG_IGN);
    if (strcmp(what, "port") == 0 && argc <= 3) {
        return ports(argc == 3 ? (unsigned)atoi(argv[2]) : 1);
    }
    if (strcmp(what, "proxy") == 0 && argc > 4 && argc - 4 <= PAIRS) {
        proxy(argv[2], argv[3], argv + 4, (unsigned)argc - 4);
    }
    if (strcmp(what, "send") == 0 && argc == 5) {
        return send_file(argv[2], argv[3], atof(argv[4]));
    }
    if (strcmp(what, "crowd") == 0 && argc == 6) {
        crowd(argv[2], atof(argv[3]), (unsigned)atoi(argv[4]), argv[5]);
    }
    if (strcmp(what, "slots") == 0 && argc == 5) {
        slots(argv[2], (unsigned)atoi(argv[3]), argv[4]);
    }
    if (strcmp(what, "syns") == 0 && argc == 4) {
        syns(argv[2], atof(argv[3]));
    }
    if (strcmp(what, "pipe") == 0 && argc == 3) {
        return pipe_through(argv[2]);
    }
    if (strcmp(what, "monitor") == 0 && argc == 4) {
        return monitor(argv[2], argv[3]);
    }
    fprintf(stderr, "net-tool: see tests/tool/net_tool.c\n");
    return 2;
}
