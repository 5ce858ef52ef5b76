/* SPDX-License-Identifier: BSD-2-Clause */
/* Owns: the count of signals that end a command, see process.h. */
#include "process.h"

#include <fcntl.h>
#include <signal.h>
#include <stdlib.h>
#include <unistd.h>

static volatile int interrupts;

void mkperf_process_init(void)
{
    for (int fd = STDIN_FILENO; fd <= STDERR_FILENO; fd++) {
        if (fcntl(fd, F_GETFD) < 0 &&
            open("/dev/null", fd == STDIN_FILENO ? O_RDONLY : O_WRONLY) != fd) {
            abort(); /* the lower ones are open: there is no /dev/null */
        }
    }
    signal(SIGPIPE, SIG_IGN);
    signal(SIGXFSZ, SIG_IGN);
}

static void on_signal(int number)
{
    (void)number;
    interrupts++;
}

volatile int *mkperf_process_interrupts(void)
{
    static const int signals[] = {SIGINT, SIGTERM, SIGHUP};
    struct sigaction a = {.sa_handler = on_signal}, before;

    interrupts = 0;
    for (unsigned i = 0; i < sizeof signals / sizeof *signals; i++) {
        if (sigaction(signals[i], NULL, &before) == 0 &&
            (signals[i] != SIGHUP || before.sa_handler != SIG_IGN)) {
            sigaction(signals[i], &a, NULL);
        }
    }
    return &interrupts;
}
