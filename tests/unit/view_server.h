/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * A server of `mkperf view` in a child, asked with curl: for tests. Included after recording.h.
 *
 * Owns: the child, and its address, which view_start sets.
 */
#ifndef MKPERF_TESTS_VIEW_SERVER_H
#define MKPERF_TESTS_VIEW_SERVER_H

#include <signal.h>
#include <sys/prctl.h>

static pid_t server;
static char address[200];

/* False: it does not say its address. */
static inline bool view_start(const char *recording)
{
    FILE *f = NULL;

    server = fork();
    if (server == 0) {
        prctl(PR_SET_PDEATHSIG, SIGKILL); /* a test that fails does not stop it */
        char *argv[] = {(char[]){"view"}, (char[]){"-i"}, strdup(recording), NULL};

        if (!freopen(recording_path("address"), "w", stdout)) {
            _exit(99);
        }
        _exit(mkperf_command_main(&mkperf_view_command, 3, argv));
    }
    for (int tries = 0; tries < 200 && address[0] == '\0'; tries++) {
        usleep(20000);
        f = fopen(recording_path("address"), "r");
        if (f && fscanf(f, "mkperf view: %199s", address) != 1) {
            address[0] = '\0';
        }
        if (f) {
            fclose(f);
        }
    }
    return address[0] != '\0';
}

static inline void view_stop(void)
{
    int status;

    assert_int_equal(kill(server, SIGTERM), 0);
    assert_int_equal(waitpid(server, &status, 0), server);
    assert_true(WIFEXITED(status));
    assert_int_equal(WEXITSTATUS(status), 0);
}

/* The status of the answer. */
static inline int ask(const char *options, const char *url, const char *path)
{
    char *text =
        recording_shell("curl -s --noproxy '*' --path-as-is -o %s -w '%%{http_code}' %s '%s%s'",
                        recording_path("answer"), options, url, path);
    int status = atoi(text);

    free(text);
    return status;
}

static inline char *answer(const char *path)
{
    assert_int_equal(ask("", address, path), 200);
    return recording_shell("cat %s", recording_path("answer"));
}

#endif
