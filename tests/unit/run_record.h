/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * `mkperf record` as a user runs it, in the program of a test: its arguments in one string, its
 * output in another, its files in a separate directory. For tests/unit/test_source.c and
 * test_network.c.
 */
#ifndef MKPERF_TEST_RUN_RECORD_H
#define MKPERF_TEST_RUN_RECORD_H

#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "cmd/cmd.h"

static char directory[] = "/tmp/mkperf-record-XXXXXX";

static const char *in_directory(const char *name)
{
    static char path[4][96];
    static unsigned i;

    i = (i + 1) % 4;
    snprintf(path[i], sizeof path[i], "%s/%s", directory, name);
    return path[i];
}

static char said[1 << 16]; /* what record wrote to stderr */

/* `mkperf record` with these arguments (separated by spaces); its exit status. */
static int record(const char *arguments)
{
    char copy[1024], *argv[40] = {(char[]){"record"}};
    int argc = 1, saved = dup(STDERR_FILENO);

    snprintf(copy, sizeof copy, "%s", arguments);
    for (char *word = strtok(copy, " "); word != NULL; word = strtok(NULL, " ")) {
        argv[argc++] = word;
    }
    argv[argc] = NULL;
    assert_non_null(freopen(in_directory("stderr"), "w", stderr));
    int status = mkperf_command_main(&mkperf_record_command, argc, argv);
    assert_int_equal(fflush(stderr), 0);
    dup2(saved, STDERR_FILENO);
    close(saved);
    FILE *f = fopen(in_directory("stderr"), "r");
    assert_non_null(f);
    said[fread(said, 1, sizeof said - 1, f)] = '\0';
    assert_int_equal(fclose(f), 0);
    return status;
}

static int teardown(void **state)
{
    char command[128];

    (void)state;
    snprintf(command, sizeof command, "rm -rf %s", directory);
    return system(command);
}

#endif
