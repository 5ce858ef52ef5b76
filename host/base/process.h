/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * mkperf as a process: descriptors 0 to 2 and signals. Called by main, and by the commands that run
 * until they are interrupted.
 */
#ifndef MKPERF_HOST_BASE_PROCESS_H
#define MKPERF_HOST_BASE_PROCESS_H

/*
 * Opens /dev/null for each of descriptors 0 to 2 that is closed: otherwise messages would be
 * written into the next file that is opened, maybe an output. Ignores signals whose cause is an
 * error with a text (SIGPIPE, SIGXFSZ).
 */
void mkperf_process_init(void);

/*
 * From now on SIGINT, SIGTERM and SIGHUP end a command in order. Returns the number of such signals
 * so far, which begins at 0 with each call. SIGHUP stays ignored if it is (nohup).
 */
volatile int *mkperf_process_interrupts(void);

#endif
