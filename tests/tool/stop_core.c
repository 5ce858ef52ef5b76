/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * For tests of cores that die: stands in for QEMU's debugger (-gdb, a socket in the file system).
 *
 *   stop-core SOCKET CORE CORES IDLE
 *     CORE of CORES stands still from now on, in user mode or in its idle loop at IDLE (hexadecimal): it holds no
 *     lock of the kernel's. The others continue
 *   stop-core SOCKET
 *     all continue
 *
 * Owns: its connection. QEMU stops all cores when it is connected, and leaves them as they are when it ends. The
 * protocol is GDB's (GDB manual, appendix E); cores are its threads, from 1 on.
 */
#include <poll.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

enum {
    PACKET = 8192,
    ANSWER_MS = 10000,
    TRIES = 10000,
    PC_AT = 32 * 16, /* behind x0 to x30 and sp, in hexadecimal digits of `g`'s answer */
    CPSR_AT = 33 * 16,
    IDLE_BYTES = 8, /* bytes of the idle loop */
    CPSR_MODE = 0x1f,
    USER_MODE = 0,
    CORES_MAX = 8,
};

static int qemu = -1;

static void die(const char *what)
{
    fprintf(stderr, "stop-core: %s\n", what);
    exit(1);
}

static void put(const char *bytes, size_t n)
{
    if (write(qemu, bytes, n) != (ssize_t)n) {
        die("the connection broke");
    }
}

static char get(void)
{
    struct pollfd p = {.fd = qemu, .events = POLLIN};
    char c;

    if (poll(&p, 1, ANSWER_MS) != 1 || read(qemu, &c, 1) != 1) {
        die("no answer");
    }
    return c;
}

static void send_packet(const char *text)
{
    char packet[PACKET];
    unsigned sum = 0;

    for (const char *c = text; *c != '\0'; c++) {
        sum += (unsigned char)*c;
    }
    put(packet, (size_t)snprintf(packet, sizeof packet, "$%s#%02x", text, sum & 0xff));
}

/* Receives the next packet's text. */
static void receive(char text[PACKET])
{
    size_t n = 0;

    while (get() != '$') {
    }
    for (char c = get(); c != '#'; c = get()) {
        if (n == PACKET - 1) {
            die("a packet is too long");
        }
        text[n++] = c;
    }
    text[n] = '\0';
    get();
    get();
    put("+", 1);
}

static bool says_stopped(const char *answer)
{
    return answer[0] == 'T';
}

/* Asks and waits for the answer. A message that the machine has stopped may precede it. */
static void ask(const char *text, char answer[PACKET])
{
    send_packet(text);
    do {
        receive(answer);
    } while (says_stopped(answer));
}

/* Returns whether the core, which stands still, is in user mode or idle. */
static bool holds_nothing(unsigned core, uint64_t idle)
{
    char answer[PACKET], select[16];
    unsigned low = ~0U, byte;
    uint64_t pc = 0;

    snprintf(select, sizeof select, "Hg%x", core + 1);
    ask(select, answer);
    ask("g", answer);
    if (strlen(answer) < CPSR_AT + 8 || sscanf(answer + CPSR_AT, "%2x", &low) != 1) {
        die("no registers");
    }
    for (int i = 7; i >= 0 && sscanf(answer + PC_AT + (size_t)(2 * i), "%2x", &byte) == 1; i--) {
        pc = pc << 8 | byte;
    }
    return (low & CPSR_MODE) == USER_MODE || pc - idle < IDLE_BYTES;
}

static void stop(unsigned core, unsigned cores, uint64_t idle)
{
    char answer[PACKET], resume[PACKET] = "vCont";

    for (unsigned tries = 0; !holds_nothing(core, idle); tries++) {
        if (tries == TRIES) {
            die("the core is never in user mode nor idle");
        }
        send_packet("vCont;c");
        put("\x03", 1);
        do {
            receive(answer);
        } while (!says_stopped(answer));
    }
    for (unsigned i = 0; i < cores; i++) {
        size_t used = strlen(resume);
        if (i != core) {
            snprintf(resume + used, sizeof resume - used, ";c:%x", i + 1);
        }
    }
    send_packet(resume);
    while (get() != '+') { /* it has understood */
    }
}

int main(int argc, char **argv)
{
    struct sockaddr_un to = {.sun_family = AF_UNIX};

    if (argc != 2 && argc != 5) {
        die("usage: stop-core SOCKET [CORE CORES IDLE]");
    }
    snprintf(to.sun_path, sizeof to.sun_path, "%s", argv[1]);
    qemu = socket(AF_UNIX, SOCK_STREAM, 0);
    if (qemu < 0 || connect(qemu, (struct sockaddr *)&to, sizeof to) != 0) {
        die("QEMU's debugger is not there");
    }
    if (argc == 2) {
        send_packet("vCont;c");
        while (get() != '+') {
        }
        return 0;
    }
    unsigned core = (unsigned)strtoul(argv[2], NULL, 10);
    unsigned cores = (unsigned)strtoul(argv[3], NULL, 10);
    if (cores > CORES_MAX || core >= cores) {
        die("no such core");
    }
    stop(core, cores, strtoull(argv[4], NULL, 16));
    return 0;
}
