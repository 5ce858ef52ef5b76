/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * mkperf view's server, requested with curl: access, the contents of answers, and that its numbers
 * equal mkperf report's. The page itself is tested in a browser by tests/system/looking.sh.
 */
#include "recording.h"

#include <arpa/inet.h>
#include <errno.h>
#include <signal.h>
#include <sys/socket.h>

static pid_t server;
static char address[200];

static int setup(void **state)
{
    FILE *f = NULL;

    (void)state;
    recording_setup();
    recording_make("perf.data", 40, 5);
    server = fork();
    if (server == 0) {
        const char *path = recording_path("perf.data");
        char *argv[] = {(char[]){"view"}, (char[]){"-i"}, strdup(path), NULL};

        if (!freopen(recording_path("address"), "w", stdout)) {
            _exit(99);
        }
        _exit(mkperf_view_command.run(3, argv));
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
    return address[0] ? 0 : -1;
}

static int teardown(void **state)
{
    int status;

    assert_int_equal(kill(server, SIGTERM), 0);
    assert_int_equal(waitpid(server, &status, 0), server);
    assert_true(WIFEXITED(status));
    assert_int_equal(WEXITSTATUS(status), 0);
    return recording_teardown(state);
}

/* The status of the answer. */
static int ask(const char *options, const char *url, const char *path)
{
    char *text =
        recording_shell("curl -s --noproxy '*' --path-as-is -o %s -w '%%{http_code}' %s '%s%s'",
                        recording_path("answer"), options, url, path);
    int status = atoi(text);

    free(text);
    return status;
}

static char *answer(const char *path)
{
    assert_int_equal(ask("", address, path), 200);
    return recording_shell("cat %s", recording_path("answer"));
}

static void test_who(void **state)
{
    char other[200];
    size_t n = strlen(address);

    (void)state;
    assert_int_equal(ask("", address, ""), 200);
    memcpy(other, address, sizeof other);
    other[n - 2] = other[n - 2] == '0' ? '1' : '0';
    assert_int_equal(ask("", other, ""), 403);
    assert_int_equal(ask("", other, "data/info"), 403);
    other[n - 2] = '\0'; /* too short */
    assert_int_equal(ask("", other, ""), 403);
    assert_int_equal(ask("-H 'Host: example.org'", address, ""), 403);
    assert_int_equal(ask("-X POST -d x", address, ""), 405);
    assert_int_equal(ask("", address, "nothing"), 404);
    assert_int_equal(ask("", address, "speedscope/../../etc/passwd"), 404);
    assert_int_equal(ask("", address, "data/"), 404);
}

static void test_headers(void **state)
{
    char *text = recording_shell("curl -s --noproxy '*' -D - -o /dev/null %s", address);

    (void)state;
    assert_non_null(
        strstr(text, "Content-Security-Policy: default-src 'none'; script-src 'self';"));
    assert_non_null(strstr(text, "Referrer-Policy: no-referrer"));
    assert_non_null(strstr(text, "X-Content-Type-Options: nosniff"));
    assert_null(strstr(text, "Access-Control"));
    free(text);
    text = recording_shell("ss -ltnHp 2>/dev/null | grep 'pid=%d,' | awk '{print $4}'", server);
    assert_true(text[0] == '\0' || strncmp(text, "127.0.0.1:", 10) == 0);
    free(text);
}

/* As many silent connections as the server has places, and more: who asks is answered at once,
 * while most of the silent ones are still open. */
static void test_silent_connections(void **state)
{
    enum { SILENT = 40 };
    struct sockaddr_in a = {.sin_family = AF_INET, .sin_addr.s_addr = htonl(INADDR_LOOPBACK)};
    int fd[SILENT], open_still = 0;
    char byte;

    (void)state;
    a.sin_port = htons((uint16_t)atoi(strrchr(address, ':') + 1));
    for (int i = 0; i < SILENT; i++) {
        fd[i] = socket(AF_INET, SOCK_STREAM | SOCK_NONBLOCK, 0);
        assert_true(connect(fd[i], (struct sockaddr *)&a, sizeof a) == 0 || errno == EINPROGRESS);
    }
    assert_int_equal(ask("", address, "data/info"), 200);
    for (int i = 0; i < SILENT; i++) {
        open_still += recv(fd[i], &byte, 1, 0) < 0 && errno == EAGAIN;
        close(fd[i]);
    }
    assert_in_range(open_still, SILENT / 2, SILENT - 2);
}

static void test_parameters(void **state)
{
    (void)state;
    assert_int_equal(ask("", address, "data/profile?event=2"), 400);
    assert_int_equal(ask("", address, "data/profile?event=-1"), 400);
    assert_int_equal(ask("", address, "data/profile?pd=9"), 400);
    assert_int_equal(ask("", address, "data/profile?from=99999999999999999999999"), 400);
    assert_int_equal(ask("", address, "data/profile?core=x"), 400);
}

static void test_info(void **state)
{
    char *text = answer("data/info");

    (void)state;
    assert_non_null(strstr(text, "\"events\":[\"cycles\",\"instructions\"]"));
    assert_non_null(strstr(text, "{\"name\":\"client one\",\"samples\":120,\"idle\":false}"));
    assert_non_null(strstr(text, "\"cores\":2,\"from\":\"1000000\",\"to\":\"200000000\""));
    assert_non_null(strstr(text, "\"samples\":200,\"lost\":5,\"complete\":true"));
    free(text);
}

/* Self, total and samples of a row, as the report's --children has them. */
static void test_equals_report(void **state)
{
    char *text = answer("data/profile?event=0"), *report;
    int status;

    (void)state;
    assert_non_null(strstr(text, "{\"samples\":160,\"period\":162320,\"whole\":162320"));
    assert_non_null(strstr(text, "[0,\"alpha\",0,41460,41460,40]"));
    assert_non_null(strstr(text, "[0,\"gamma_\",0,0,82240,0]"));
    assert_non_null(strstr(text, "[0,\"handleSyscall\",1,40780,40780,40]"));
    assert_non_null(strstr(text, "\"left\":0"));
    report = RUN(report, &status, "--stdio", "-i", recording_path("perf.data"), "--children", "-e",
                 "cycles");
    assert_non_null(
        strstr(report, "    25.54%    25.54%       40            41460  client one  [.] alpha"));
    assert_non_null(
        strstr(report, "    50.67%     0.00%        0                0  client one  [.] gamma_"));
    /* the tree: PD, _start, gamma_, beta, alpha */
    assert_non_null(strstr(text, "\"tree\":[[0,-1,82240],[1,0,82240],[2,1,82240],"));
    free(text);
}

static void test_selection(void **state)
{
    char *text = answer("data/profile?event=0&core=0&from=1000000&to=5000000");

    (void)state;
    /* the first round: alpha and instructions on core 0, beta on 1, the call on 1, idle on 0 */
    assert_non_null(strstr(text, "{\"samples\":2,\"period\":1899,\"whole\":1899"));
    free(text);
    text = answer("data/profile?event=0&pd=1");
    assert_non_null(strstr(text, "{\"samples\":40,\"period\":40120,\"whole\":162320"));
    assert_null(strstr(text, "alpha"));
    free(text);
    text = answer("data/timeline?event=1");
    assert_non_null(strstr(text, "{\"bins\":600,\"cores\":[{\"core\":0,\"lanes\":[{\"pd\":0,"));
    free(text);
}

static void test_speedscope_profile(void **state)
{
    char *text = answer("speedscope/profile.json");

    (void)state;
    assert_non_null(strstr(text, "speedscope.app/file-format-schema.json"));
    assert_non_null(strstr(text, "\"alpha\""));
    free(text);
}

static void test_bad_input(void **state)
{
    char *text;
    int status;

    (void)state;
    RUN(view, &status, "--port", "x");
    assert_int_equal(status, MKPERF_ERR_USAGE);
    text = RUN(view, &status, recording_cut("perf.data", 3000));
    assert_int_equal(status, MKPERF_ERR_INPUT);
    assert_non_null(strstr(text, "offset "));
    text = RUN(view, &status, "--speedscope", "/nowhere", recording_path("perf.data"));
    assert_int_equal(status, MKPERF_ERR_USAGE);
    assert_non_null(strstr(text, "/nowhere: no index.html"));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_who),
        cmocka_unit_test(test_headers),
        cmocka_unit_test(test_silent_connections),
        cmocka_unit_test(test_parameters),
        cmocka_unit_test(test_info),
        cmocka_unit_test(test_equals_report),
        cmocka_unit_test(test_selection),
        cmocka_unit_test(test_speedscope_profile),
        cmocka_unit_test(test_bad_input),
    };

    return cmocka_run_group_tests(tests, setup, teardown);
}
