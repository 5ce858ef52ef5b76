/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * mkperf view's server, requested with curl: access, the contents of answers, and that its numbers
 * equal mkperf report's. The page itself is tested in a browser by tests/system/looking.sh.
 */
#include "recording.h"

#include "view_server.h"

#include <arpa/inet.h>
#include <errno.h>
#include <sys/socket.h>

static int setup(void **state)
{
    recording_setup(state);
    recording_make("perf.data", 40, 5);
    return view_start(recording_path("perf.data")) ? 0 : -1;
}

static int teardown(void **state)
{
    view_stop();
    return recording_teardown(state);
}

static void test_who(void **state)
{
    char other[200];
    size_t n = strlen(view_address);

    (void)state;
    assert_int_equal(view_status("", view_address, ""), 200);
    memcpy(other, view_address, sizeof other);
    other[n - 2] = other[n - 2] == '0' ? '1' : '0';
    assert_int_equal(view_status("", other, ""), 403);
    assert_int_equal(view_status("", other, "data/profile"), 403);
    other[n - 2] = '\0'; /* a token that is too short */
    assert_int_equal(view_status("", other, ""), 403);
    assert_int_equal(view_status("-H 'Host: example.org'", view_address, ""), 403);
    assert_int_equal(view_status("-X POST -d x", view_address, ""), 405);
    assert_int_equal(view_status("", view_address, "nothing"), 404);
    assert_int_equal(view_status("", view_address, "speedscope/../../etc/passwd"), 404);
    assert_int_equal(view_status("", view_address, "data/"), 404);
}

static void test_headers(void **state)
{
    char *text = recording_shell("curl -s --noproxy '*' -D - -o /dev/null %s", view_address);

    (void)state;
    assert_non_null(
        strstr(text, "Content-Security-Policy: default-src 'none'; script-src 'self';"));
    assert_non_null(strstr(text, "Referrer-Policy: no-referrer"));
    assert_non_null(strstr(text, "X-Content-Type-Options: nosniff"));
    assert_null(strstr(text, "Access-Control"));
    free(text);
    text =
        recording_shell("ss -ltnHp 2>/dev/null | grep 'pid=%d,' | awk '{print $4}'", view_server);
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
    a.sin_port = htons((uint16_t)atoi(strrchr(view_address, ':') + 1));
    for (int i = 0; i < SILENT; i++) {
        fd[i] = socket(AF_INET, SOCK_STREAM | SOCK_NONBLOCK, 0);
        assert_true(connect(fd[i], (struct sockaddr *)&a, sizeof a) == 0 || errno == EINPROGRESS);
    }
    assert_int_equal(view_status("", view_address, "data/profile"), 200);
    for (int i = 0; i < SILENT; i++) {
        open_still += recv(fd[i], &byte, 1, 0) < 0 && errno == EAGAIN;
        close(fd[i]);
    }
    assert_in_range(open_still, SILENT / 2, SILENT - 2);
}

static void test_parameters(void **state)
{
    (void)state;
    assert_int_equal(view_status("", view_address, "data/code"), 400);
    assert_int_equal(view_status("", view_address, "data/code?function=-1"), 400);
    assert_int_equal(view_status("", view_address, "data/code?function=99999"), 400);
    assert_int_equal(view_status("", view_address, "data/code?function=99999999999999999999999"),
                     400);
    assert_int_equal(view_status("", view_address, "data/stretch?from=0&to=1"), 400);
    assert_int_equal(view_status("", view_address, "data/stretch?from=0&to=-1&most=10"), 400);
    assert_int_equal(
        view_status("", view_address, "data/stretch?from=0&to=9223372036854775808&most=1"), 400);
    assert_int_equal(view_status("", view_address, "data/stretch?from=0&to=1&most=1000001"), 400);
    assert_int_equal(view_status("", view_address, "data/stretch?from=0&to=1&most=10"),
                     404); /* the page has all intervals */
    assert_int_equal(view_status("", view_address, "data/profile?number=1"), 204);
    assert_int_equal(view_status("", view_address, "data/profile?number=64"),
                     204); /* there are not so many */
    assert_int_equal(view_status("", view_address, "data/profile?number=65"), 400);
    assert_int_equal(view_status("", view_address, "data/profile?number=-1"), 400);
}

/* The container as the page reads it. */
static struct {
    uint8_t bytes[1 << 20];
    size_t n, first;
    char *json;
} got;

static void get_profile(void)
{
    FILE *f;
    uint32_t length;

    free(view_fetch("data/profile"));
    f = fopen(recording_path("answer"), "rb");
    assert_non_null(f);
    got.n = fread(got.bytes, 1, sizeof got.bytes, f);
    assert_int_equal(fclose(f), 0);
    assert_in_range(got.n, 12, sizeof got.bytes - 1);
    assert_memory_equal(got.bytes, "mkpv\1\0\0\0", 8);
    memcpy(&length, got.bytes + 8, sizeof length);
    got.first = (12 + (size_t)length + 7) / 8 * 8;
    assert_in_range(got.first, 0, got.n);
    free(got.json);
    got.json = strndup((char *)got.bytes + 12, length);
}

static size_t column_size(const char *name, size_t *at, unsigned *width)
{
    char want[64], type[4];
    const char *found;
    size_t n;

    snprintf(want, sizeof want, "\"%s\":[", name);
    found = strstr(got.json, want);
    assert_non_null(found);
    assert_int_equal(sscanf(found + strlen(want), "\"%3[uf0-9]\",%zu,%zu]", type, at, &n), 3);
    *width = (unsigned)atoi(type + 1) / 8;
    assert_true(type[0] == 'u' || *width == 8);
    *at += got.first;
    assert_int_equal(*at % 8, 0);
    assert_in_range(*at + n * *width, 0, got.n);
    return n;
}

static uint64_t column(const char *name, size_t i)
{
    size_t at;
    unsigned width;
    uint64_t value = 0;

    assert_in_range(i, 0, column_size(name, &at, &width) - 1);
    memcpy(&value, got.bytes + at + i * width, width);
    if (width == 8) {
        double number;
        memcpy(&number, &value, sizeof number);
        value = (uint64_t)number;
    }
    return value;
}

static size_t column_count(const char *name)
{
    size_t at;
    unsigned width;

    return column_size(name, &at, &width);
}

static void test_info(void **state)
{
    (void)state;
    get_profile();
    assert_non_null(strstr(got.json, "\"events\":[{\"name\":\"cycles\",\"inferred\":false},"
                                     "{\"name\":\"instructions\",\"inferred\":false}]"));
    assert_non_null(strstr(got.json, "{\"name\":\"client one\",\"idle\":false,"));
    assert_non_null(strstr(got.json, "{\"name\":\"idle\",\"idle\":true,"));
    assert_non_null(strstr(got.json, "\"cores\":2,\"from\":\"1000000\",\"to\":\"200000000\""));
    assert_non_null(strstr(got.json, "\"samples\":200,\"lost\":5,\"complete\":true"));
    assert_int_equal(column_count("s_chain"), 200);
    assert_int_equal(column_count("c_node"), column_count("c_event"));
}

/* Returns the weight of a function itself or with what it called, and its samples, from the
 * columns. */
static uint64_t weight_of(const char *name, bool with_called, uint64_t *samples)
{
    uint64_t sum = 0, chains = column_count("c_node");
    size_t functions = column_count("f_name");

    *samples = 0;
    for (size_t i = 0; i < column_count("s_chain"); i++) {
        uint64_t chain = column("s_chain", i), node;
        bool leaf = true, found = false;

        assert_in_range(chain, 0, chains - 1);
        for (node = column("c_node", chain); node != 0; node = column("n_parent", node)) {
            uint64_t label = column("n_label", node);
            const char *text = strstr(got.json, "\"texts\":[") + 9;
            for (uint64_t k = label < functions ? column("f_name", label) + 1 : 0; k > 0; k--) {
                text = strchr(text, '"') + 1;
                text = k > 1 ? strchr(text, '"') + 1 : text;
            }
            found |= label < functions && (leaf || with_called) &&
                     strncmp(text, name, strlen(name)) == 0 && text[strlen(name)] == '"';
            leaf = false;
            assert_in_range(column("n_parent", node), 0, node - 1);
        }
        if (found && column("c_event", chain) == 0) {
            sum += column("s_period", i);
            ++*samples;
        }
    }
    return sum;
}

/* Self, total and samples of a function, as the report's --children has them. */
static void test_equals_report(void **state)
{
    uint64_t samples;
    char *report;
    int status;

    (void)state;
    get_profile();
    assert_int_equal(weight_of("alpha", false, &samples), 41460);
    assert_int_equal(samples, 40);
    assert_int_equal(weight_of("gamma_", false, &samples), 0);
    assert_int_equal(weight_of("gamma_", true, &samples), 82240 + 40120);
    assert_int_equal(weight_of("handleSyscall", false, &samples), 40780);
    report = RUN(report, &status, "--stdio", "-i", recording_path("perf.data"), "--children", "-e",
                 "cycles");
    assert_non_null(
        strstr(report, "    25.54%    25.54%       40            41460  client one  [.] alpha"));
    assert_non_null(
        strstr(report, "    50.67%     0.00%        0                0  client one  [.] gamma_"));
}

/* A sample fills the time since the one before on its core, of its event; never more, so that no
 * core is busy for more than the time there is. */
static void test_spans(void **state)
{
    uint64_t last[2][2] = {{0}}, now = 0;

    (void)state;
    get_profile();
    for (size_t i = 0; i < column_count("s_chain"); i++) {
        uint64_t core = column("s_core", i), event = column("c_event", column("s_chain", i));
        uint64_t span = column("s_span", i);

        now += column("s_delta", i);
        if (last[event][core] != 0) {
            assert_in_range(span, 0, now - last[event][core]);
        }
        if (event == 1 && last[event][core] != 0) { /* it does not count with time: all of it */
            assert_int_equal(span, now - last[event][core]);
        }
        last[event][core] = now;
    }
    assert_int_equal(now, 199000000);
}

static void test_code(void **state)
{
    size_t functions;
    bool seen = false;

    (void)state;
    get_profile();
    functions = column_count("f_name");
    for (size_t i = 0; i < functions; i++) {
        char path[64], *text;

        snprintf(path, sizeof path, "data/code?function=%zu", i);
        text = view_fetch(path);
        assert_non_null(strstr(text, "\"insn\":[[0,4,\""));
        if (strstr(text, "\"name\":\"beta\"") != NULL) {
            seen = true;
            assert_non_null(strstr(text, "<alpha>\""));
            assert_non_null(strstr(text, "int beta(int a) { return alpha(a) + alpha(a + 1); }"));
            assert_non_null(strstr(text, "\"elf\":\"one.elf\""));
        }
        free(text);
    }
    assert_true(seen);
}

static void test_speedscope_profile(void **state)
{
    char *text = view_fetch("speedscope/profile.json");

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
        cmocka_unit_test(test_spans),
        cmocka_unit_test(test_code),
        cmocka_unit_test(test_speedscope_profile),
        cmocka_unit_test(test_bad_input),
    };

    return cmocka_run_group_tests(tests, setup, teardown);
}
