/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * A fake target in a process, for tests of commands that talk to one.
 *
 * Owns: the process, of which there is one at a time, and its address for -t.
 */
#ifndef MKPERF_TESTS_ONE_TARGET_H
#define MKPERF_TESTS_ONE_TARGET_H

#include <signal.h>
#include <sys/wait.h>

#include "fake_net.h"

static char address[64];
static pid_t target_pid;

static inline void begin(struct how how)
{
    uint16_t port;

    target_pid = start_target(how, &port);
    snprintf(address, sizeof address, "tcp:127.0.0.1:%u", port);
}

/* Ends the target, which has ended by itself if the host misbehaved. */
static inline void end(void)
{
    int ended;

    kill(target_pid, SIGKILL);
    assert_int_equal(waitpid(target_pid, &ended, 0), target_pid);
    assert_true(WIFSIGNALED(ended));
}

#endif
