/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Runs a command and writes one line to a file: user and system seconds, wall seconds, peak
 * resident set in KiB. For bench/lib.sh. measure FILE COMMAND ARGUMENTS...
 */
#include <stdio.h>
#include <stdlib.h>
#include <sys/resource.h>
#include <sys/time.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

static double seconds(struct timeval t)
{
    return (double)t.tv_sec + (double)t.tv_usec / 1e6;
}

static double now(void)
{
    struct timespec t;

    clock_gettime(CLOCK_MONOTONIC, &t);
    return (double)t.tv_sec + (double)t.tv_nsec / 1e9;
}

int main(int argc, char **argv)
{
    struct rusage usage;
    int status = 0;

    if (argc < 3) {
        fprintf(stderr, "usage: measure FILE COMMAND ARGUMENTS...\n");
        return 2;
    }
    double start = now();
    pid_t child = fork();
    if (child == 0) {
        execvp(argv[2], argv + 2);
        perror(argv[2]);
        _exit(127);
    }
    if (child < 0 || wait4(child, &status, 0, &usage) < 0) {
        perror("measure");
        return 1;
    }
    double wall = now() - start;
    FILE *f = fopen(argv[1], "w");
    if (f == NULL) {
        perror(argv[1]);
        return 1;
    }
    fprintf(f, "%.4f %.4f %ld\n", seconds(usage.ru_utime) + seconds(usage.ru_stime), wall,
            usage.ru_maxrss);
    if (fclose(f) != 0) {
        perror(argv[1]);
        return 1;
    }
    return WIFEXITED(status) ? WEXITSTATUS(status) : 1;
}
