/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * For tests of network connections: programs that connect, break connections, and send bytes that no
 * mkperf would send.
 *
 *   net-tool port [N]
 *     prints N (1) different ports of 127.0.0.1, each free for TCP and for UDP, on one line
 *   net-tool proxy LISTEN PORT PLAN...
 *     forwards connections, and breaks them by plans: see net_proxy.c
 *   net-tool send PORT FILE SECONDS
 *     sends the file and prints the answer; exit status 0: the other end closed it, 3: it is open
 *     after that many seconds
 *   net-tool crowd PORT RATE HOLD FILE
 *     opens RATE connections per second, sends the file on each, and holds the newest HOLD open
 *   net-tool slots PORT HOLD FILE
 *     holds HOLD connections open, each after sending the file; one that is closed is opened again a millisecond later
 *   crowd, slots and syns print `many` on standard error once MANY connections, or SYNs, were made
 *   net-tool syns PATH RATE
 *     sends RATE TCP SYNs per second to the target's port 1236, and never the rest of a handshake, as
 *     Ethernet frames in datagrams to the Unix socket PATH, where QEMU's `-netdev dgram` is. They have
 *     many source ports, of addresses that do not exist
 *   A second of a RATE is one in which the process $PACE, which is QEMU's, did not wait for a core, if it is set
 *   net-tool pipe PORT
 *     standard input and output to a connection and back
 *   net-tool monitor PATH COMMAND
 *     a command for QEMU's monitor
 *
 * Owns: its sockets, all on loopback.
 */
#include "net_tool.h"

#include <arpa/inet.h>
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <netinet/tcp.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <time.h>
#include <unistd.h>

enum { MEMBERS = 512, STILL_OPEN = 3, MANY = 8, MANY_SYNS = 250 };

_Noreturn void net_die(const char *what)
{
    perror(what);
    exit(1);
}

double net_now_s(void)
{
    struct timespec t;

    clock_gettime(CLOCK_MONOTONIC, &t);
    return (double)t.tv_sec + (double)t.tv_nsec / 1e9;
}

/* Returns for how long the threads of a process have waited for a core, in seconds. */
static double waited_s(const char *pid)
{
    char path[64];
    unsigned long long ns, sum = 0;
    struct dirent *entry;

    snprintf(path, sizeof path, "/proc/%s/task", pid);
    DIR *tasks = opendir(path);
    if (tasks == NULL) {
        net_die(path);
    }
    while ((entry = readdir(tasks)) != NULL) {
        char file[sizeof path + sizeof entry->d_name + sizeof "//schedstat"];
        snprintf(file, sizeof file, "%s/%s/schedstat", path, entry->d_name);
        FILE *f = fopen(file, "r");
        if (f != NULL) {
            sum += fscanf(f, "%*u %llu", &ns) == 1 ? ns : 0;
            (void)fclose(f);
        }
    }
    (void)closedir(tasks);
    return (double)sum / 1e9;
}

/*
 * Returns the time that rates are about. On a busy machine QEMU gets a part of each second, and the attackers do as much
 * in that part as they would in a whole second of an idle machine. The time never goes back.
 */
static double paced_s(void)
{
    static const double LOOK_S = 0.02;
    static double looked_s, waited, last_s;
    const char *pid = getenv("PACE");
    double now_s = net_now_s();

    if (pid != NULL && now_s >= looked_s + LOOK_S) {
        waited = waited_s(pid);
        looked_s = now_s;
    }
    last_s = now_s - waited > last_s ? now_s - waited : last_s;
    return last_s;
}

struct sockaddr_in net_loopback(const char *port)
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
        net_die(path);
    }
    memcpy(a.sun_path, path, strlen(path) + 1);
    return a;
}

int net_connect(const char *port, int receive)
{
    struct sockaddr_in a = net_loopback(port);
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

/* Returns n free ports. The sockets stay open until the end, so that the ports differ. QEMU forwards one number for
 * both protocols. */
static int ports(unsigned n)
{
    enum { TRIES = 100 };

    for (unsigned i = 0, tries = 0; i < n; tries++) {
        struct sockaddr_in a = net_loopback("0");
        socklen_t length = sizeof a;
        int tcp = socket(AF_INET, SOCK_STREAM, 0), udp = socket(AF_INET, SOCK_DGRAM, 0);

        if (bind(tcp, (struct sockaddr *)&a, length) == 0 &&
            getsockname(tcp, (struct sockaddr *)&a, &length) == 0 &&
            bind(udp, (struct sockaddr *)&a, length) == 0) {
            printf("%d%c", ntohs(a.sin_port), ++i < n ? ' ' : '\n');
        } else if (tries == TRIES) {
            net_die("no port");
        }
    }
    return 0;
}

bool net_write_all(int fd, const uint8_t *p, size_t n)
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

static int send_file(const char *to, const char *path, double seconds)
{
    uint8_t chunk[NET_CHUNK];
    int fd = net_connect(to, 0), file = open(path, O_RDONLY | O_CLOEXEC);
    double until = net_now_s() + seconds;
    ssize_t n;

    if (fd < 0 || file < 0) {
        net_die(fd < 0 ? to : path);
    }
    while ((n = read(file, chunk, sizeof chunk)) > 0 && net_write_all(fd, chunk, (size_t)n)) {
    }
    while (net_now_s() < until) {
        struct pollfd ready = {.fd = fd, .events = POLLIN};
        if (poll(&ready, 1, 50) <= 0) {
            continue;
        }
        n = read(fd, chunk, sizeof chunk);
        if (n <= 0) {
            return 0;
        }
        if (!net_write_all(STDOUT_FILENO, chunk, (size_t)n)) {
            net_die("output");
        }
    }
    return STILL_OPEN;
}

/* Sends on a connection once it is made, and forgets the answer. Returns whether it was sent. */
static bool say_when_open(int fd, const uint8_t *p, size_t n)
{
    uint8_t back[NET_CHUNK];
    struct pollfd ready = {.fd = fd, .events = POLLOUT};

    if (poll(&ready, 1, 0) != 1 || ready.revents != POLLOUT) {
        return false;
    }
    return n == 0 || send(fd, p, n, MSG_NOSIGNAL) == (ssize_t)n ||
           recv(fd, back, sizeof back, MSG_DONTWAIT) >= 0;
}

/* Counts another connection, or SYN. */
static void count_made(unsigned many)
{
    static unsigned made;

    if (++made == many) {
        fputs("many\n", stderr);
    }
}

/*
 * Returns a connection of a stranger, not yet open. Its port is not one that the system chooses for
 * others: QEMU's user network gives a connection's port on, so one of a host and one of a stranger,
 * over two forwarded ports, would be the same to the target.
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
    net_die("no port");
    return -1;
}

/* Reads the text that each of `hold` connections sends. Returns its bytes, at most NET_CHUNK. */
static size_t read_text(const char *path, uint8_t *text, unsigned hold)
{
    int file = open(path, O_RDONLY | O_CLOEXEC);
    ssize_t n = file >= 0 ? read(file, text, NET_CHUNK) : -1;

    if (n < 0 || hold == 0 || hold > MEMBERS) {
        net_die(path);
    }
    return (size_t)n;
}

/* Opens connections without waiting for them. */
static _Noreturn void crowd(const char *to, double rate, unsigned hold, const char *path)
{
    static struct {
        int fd;
        bool said;
    } member[MEMBERS];
    uint8_t text[NET_CHUNK];
    struct sockaddr_in a = net_loopback(to);
    size_t n = read_text(path, text, hold);
    double began = paced_s();

    for (uint64_t k = 0;;) {
        double due = (paced_s() - began) * rate;
        for (unsigned i = 0; i < hold && i < k; i++) {
            if (!member[i].said && say_when_open(member[i].fd, text, n)) {
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
    static struct pollfd slot[MEMBERS];
    static bool said[MEMBERS];
    uint8_t text[NET_CHUNK], back[NET_CHUNK];
    struct sockaddr_in a = net_loopback(to);
    size_t n = read_text(path, text, hold);

    for (unsigned i = 0; i < hold; i++) {
        slot[i].fd = -1;
    }
    for (;;) {
        for (unsigned i = 0; i < hold; i++) {
            struct pollfd *p = &slot[i];
            if (p->fd >= 0 && !said[i] && p->revents == POLLOUT) {
                said[i] = n == 0 || send(p->fd, text, n, MSG_NOSIGNAL) == (ssize_t)n;
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
        if (poll(slot, hold, -1) > 0) {
            /* Without the pause, connections that are closed before they send anything can take all places of the others, for ever. */
            nanosleep(&(struct timespec){.tv_nsec = 1000000}, NULL);
        }
    }
}

enum { ETHERNET = 14, IP = 20, TCP = 20, FRAME = ETHERNET + IP + TCP, SOURCES = 4 };

static void put16(uint8_t *p, unsigned v)
{
    p[0] = (uint8_t)(v >> 8);
    p[1] = (uint8_t)v;
}

/* Returns the sum of an even number of bytes, added to that of the bytes before them. */
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

/* Makes the k-th SYN, to the address and the hardware address that QEMU gives the first guest. */
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
                net_die(to);
            }
            count_made(MANY_SYNS);
        }
    }
}

static int pipe_through(const char *to)
{
    uint8_t chunk[NET_CHUNK];
    int fd = net_connect(to, 0);

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
                           !net_write_all(i == 0 ? fd : STDOUT_FILENO, chunk, (size_t)n))) {
                return 0;
            }
        }
    }
}

/* QEMU has carried the command out when its prompt comes for the second time. */
static int monitor(const char *path, const char *command)
{
    static const char prompt[] = "(qemu) ";
    struct sockaddr_un a = unix_address(path);
    char said[NET_CHUNK];
    size_t n = 0;
    int fd = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);

    if (connect(fd, (struct sockaddr *)&a, sizeof a) != 0) {
        net_die(path);
    }
    dprintf(fd, "%s\n", command);
    for (const char *first = NULL; first == NULL || strstr(first + 1, prompt) == NULL;) {
        ssize_t got = read(fd, said + n, sizeof said - 1 - n);
        if (got <= 0) {
            net_die(path);
        }
        n += (size_t)got;
        said[n] = '\0';
        first = strstr(said, prompt);
    }
    return net_write_all(STDOUT_FILENO, (const uint8_t *)said, n) ? 0 : 1;
}

int main(int argc, char **argv)
{
    const char *what = argc > 1 ? argv[1] : "";

    signal(SIGPIPE, SIG_IGN);
    if (strcmp(what, "port") == 0 && argc <= 3) {
        return ports(argc == 3 ? (unsigned)atoi(argv[2]) : 1);
    }
    if (strcmp(what, "proxy") == 0 && argc > 4 && argc - 4 <= NET_PROXY_PLANS) {
        net_proxy(argv[2], argv[3], argv + 4, (unsigned)argc - 4);
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
