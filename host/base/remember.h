/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Answers that were given before: the output of a command, which is printed again if nothing has changed since.
 *
 * Owns: the directory $XDG_CACHE_HOME/mkperf/answers (without it ~/.cache), and the decision that an answer is still right.
 *
 *      command line, directory,     ┐
 *      environment, mkperf itself   ├─► key ─► a file of the directory: key | files and their identities | status | output
 *      each path that a run looked at, with its identity before the run: device, inode, size, times, a sum of its ends
 *
 * Invariants
 *  1. An answer is printed only if the whole key is equal and each path has the identity that it had: also one that did not exist.
 *  2. An answer is kept only if no path changed during the run, or in the two seconds before it: times of files are that coarse.
 *  3. A run is not kept if it wrote a file, read a stream, or had an error other than FAILED.
 *  4. The directory has at most REMEMBER_FILES answers of at most REMEMBER_BYTES; the oldest ones are removed.
 *
 * MKPERF_REMEMBER in the environment: `no` neither reads nor keeps answers, `always` keeps those of short runs, too.
 *
 * What is lost if the directory cannot be written is only time. Called by args.c, and by each place that opens an input.
 */
#ifndef MKPERF_HOST_BASE_REMEMBER_H
#define MKPERF_HOST_BASE_REMEMBER_H

#include "base.h"

/* Prints the answer of a command line, and stores its status. False: there is none, or something has changed. */
bool mkperf_remember_answer(int argc, char *const *argv, int *status);
/* Begins to note what this run reads and prints. */
void mkperf_remember_begin(void);
/* Keeps the answer, if the run was long enough to be worth it. */
void mkperf_remember_end(int argc, char *const *argv, int status);

/* The run looks at this path, a file or a directory, or whether it exists. Called before the path is opened. */
void mkperf_remember_path(const char *path);
/* The run does what an answer cannot repeat, or depends on more than paths. */
void mkperf_remember_not(void);

#endif
