/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * mkperf as a process: its descriptors, signals and clock, and the progress line of a long command.
 *
 * Owns: the count of signals that end a command, the lock of a command with several threads, and the one progress line. Called
 * by main and the commands; decoders and long loops report their position.
 */
#ifndef MKPERF_HOST_BASE_PROCESS_H
#define MKPERF_HOST_BASE_PROCESS_H

#include <poll.h>
#include <time.h>

#include "base.h"

/*
 * Opens /dev/null for each of descriptors 0 to 2 that is closed. Otherwise messages would be written to the next file that
 * is opened, which may be an output. Ignores SIGPIPE and SIGXFSZ, because the failed write is an error with a text.
 */
void mkperf_process_init(void);

/*
 * Counts SIGINT, SIGTERM and SIGHUP from now on, so that the command can end in order. Returns the count, which each
 * call sets to 0. A SIGHUP that is ignored (nohup) stays ignored.
 */
volatile int *mkperf_process_interrupts(void);

/* Returns the path of a file next to mkperf's own program, or of the second one relative to that, where it is if mkperf is
 * installed; a new string. Returns NULL if there is neither. */
char *mkperf_beside(const char *name, const char *installed);

/* Loads a shared library, and stores the address of each function of `names`, whose end is NULL, in the next member of the
 * structure of pointers at `to`. For libraries that few commands need and that take long to load. Errors: FAILED. */
enum mkperf_status mkperf_library_load(const char *library, const char *const *names, void *to,
                                       struct mkperf_error *e);

/* Returns the host's monotonic clock in seconds. Targets have their own. */
static inline double mkperf_now_s(void)
{
    struct timespec t;

    clock_gettime(CLOCK_MONOTONIC, &t);
    return (double)t.tv_sec + (double)t.tv_nsec / 1e9;
}

/*
 * ---- one lock for a command that has a thread for each target ----
 *
 * A thread holds it except while it waits. Everything else in mkperf is therefore as with one thread. A command with
 * one thread does not call mkperf_turns_begin; these functions then take no lock.
 */
void mkperf_turns_begin(void); /* the caller holds the lock from here on */
void mkperf_turn_take(void);
void mkperf_turn_give(void);
/* Calls poll(2) without the lock. If n is 0, fds may be NULL: a pause. */
int mkperf_poll(struct pollfd *fds, nfds_t n, int timeout_ms);

/*
 * ---- the progress line: on standard error, if that is a terminal, from the third second on ----
 *
 * It is removed before anything else is printed there. A command begins and ends it. A report of a position costs nothing
 * while no line has begun.
 */

/* Begins the progress line. what: the text before the amount, for example "perf.data". It lives
 * until the end. */
void mkperf_progress_begin(const char *what);
/* Shows how much is done, and how much there is (0: unknown). */
enum mkperf_progress_unit { MKPERF_BYTES, MKPERF_SECONDS_OVER, MKPERF_STEPS };
void mkperf_progress(enum mkperf_progress_unit unit, double done, double all);
/* The caller has drawn a line of its own, which is removed like this one. */
void mkperf_progress_drawn(void);
/* Removes the line. The next report of a position draws it again. */
void mkperf_progress_clear(void);
void mkperf_progress_end(void); /* idempotent */

/* Print a line on standard error, "mkperf: TEXT" and "mkperf: warning: TEXT": for whom a function gives texts for the user. */
void mkperf_print_notice(void *self, const char *text);
void mkperf_print_warning(void *self, const char *text);

#endif
