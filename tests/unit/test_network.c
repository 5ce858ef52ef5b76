/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * `mkperf record` over TCP, on loopback, against a target in another process: who may connect, who
 * controls, and connections that break at each message, between hosts and targets of all kinds.
 */
#include "fake_net.h"
#include "run_record.h"

#include <ctype.h>
#include <fcntl.h>
#include <netinet/tcp.h>
#include <pty.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "link/connection.h"
#include "perfdata/perfdata.h"

/* ---- the host ---- */

/* Records from such a target, which fails if the host misbehaves. */
static int record_from(struct how how, const char *more)
{
    char arguments[512];
    uint16_t port;
    pid_t child = start_target(how, &port);
    int ended;

    snprintf(arguments, sizeof arguments, "-t %s:%s:%u -o %s --duration 0.05 %s",
             how.dials ? "listen" : "tcp", how.v6 ? "[::1]" : "127.0.0.1", port,
             in_directory("out.data"), more);
    unlink(in_directory("out.data"));
    int status = record(arguments);
    kill(child, SIGKILL);
    waitpid(child, &ended, 0);
    if (!WIFSIGNALED(ended)) {
        fail_msg("the target gave up with %d: %s", WEXITSTATUS(ended), said);
    }
    return status;
}

static void expect(int status, int wanted, const char *text)
{
    if (status != wanted || strstr(said, text) == NULL) {
        fail_msg("exit status %d (want %d, \"%s\"): %s", status, wanted, text, said);
    }
}

static void write_key(const char *name, const char *text, mode_t mode)
{
    int fd = open(in_directory(name), O_WRONLY | O_CREAT | O_TRUNC, 0600);

    assert_int_equal(write(fd, text, strlen(text)), (ssize_t)strlen(text));
    assert_int_equal(fchmod(fd, mode), 0);
    close(fd);
}

static const char right_key[] =
    "000102030405060708090a0b0c0d0e0f101112131415161718191A1B1C1D1E1F\n";

static const char *key_option(const char *name)
{
    static char text[128];

    snprintf(text, sizeof text, "--key-file %s", in_directory(name));
    return text;
}

/* What the file has. */
struct content {
    unsigned nevents, marks;
    uint64_t samples, of_event[MKPERF_MODEL_EVENTS], lost, restarts, last_ns;
    bool complete;
    char mark[64];
};

static enum mkperf_status keep_content(void *self, const struct mkperf_item *item,
                                       struct mkperf_error *e)
{
    struct content *c = self;

    (void)e;
    switch (item->kind) {
    case MKPERF_ITEM_BEGIN:
        c->nevents = item->session->nevents;
        break;
    case MKPERF_ITEM_SAMPLE:
        assert_true(item->sample->time_ns >= c->last_ns); /* time ascends over restarts, too */
        c->last_ns = item->sample->time_ns;
        c->samples++;
        c->of_event[item->sample->event]++;
        break;
    case MKPERF_ITEM_MARK:
        c->marks++;
        snprintf(c->mark, sizeof c->mark, "%d %u %s", (int)item->mark->kind, item->mark->id,
                 item->mark->name);
        break;
    case MKPERF_ITEM_LOST:
        c->lost += item->lost->samples;
        break;
    case MKPERF_ITEM_END:
        c->complete = item->totals->complete;
        c->restarts = item->totals->restarts;
        break;
    default:
        break;
    }
    return MKPERF_OK;
}

static struct content read_back(void)
{
    struct content c = {.nevents = 0};
    struct mkperf_error e = {.text = ""};
    struct mkperf_sink sink = {.take = keep_content, .splits = true, .self = &c};

    if (mkperf_perfdata_read(in_directory("out.data"), -1, &sink, &e) != MKPERF_OK) {
        fail_msg("%s", e.text);
    }
    return c;
}

static void both_ways(void **state)
{
    struct how how = {.dials = false};

    (void)state;
    expect(record_from(how, ""), 0, " 0 lost");
    expect(0, 0, "the target has no key");
    assert_true(read_back().complete);
    how.dials = true;
    expect(record_from(how, ""), 0, " 0 lost");
    expect(0, 0, "listening on port");
    expect(0, 0, "connection from 127.0.0.1");
    assert_true(read_back().complete);
}

/* Between hosts that have IPv6, as this one has or the test is skipped. */
static void both_ways_v6(void **state)
{
    struct how how = {.v6 = true};
    union net_address a = net_loopback(&how, 0);
    int fd = socket(AF_INET6, SOCK_STREAM, 0);
    bool there = fd >= 0 && bind(fd, &a.any, sizeof a) == 0;

    (void)state;
    close(fd);
    if (!there) {
        skip();
    }
    expect(record_from(how, ""), 0, " 0 lost");
    assert_true(read_back().complete);
    how.dials = true;
    expect(record_from(how, ""), 0, "connection from ::1");
    assert_true(read_back().complete);
}

/* A peer that is gone is noticed by the kernel in about 20 s. */
static void tuned(void **state)
{
    static const struct {
        int level, option, least, most;
    } wanted[] = {
        {SOL_SOCKET, SO_KEEPALIVE, 1, 1},   {IPPROTO_TCP, TCP_NODELAY, 1, 1},
        {IPPROTO_TCP, TCP_KEEPIDLE, 1, 10}, {IPPROTO_TCP, TCP_KEEPINTVL, 1, 5},
        {IPPROTO_TCP, TCP_KEEPCNT, 1, 3},   {IPPROTO_TCP, TCP_USER_TIMEOUT, 1, 20000},
    };
    int fd = socket(AF_INET, SOCK_STREAM, 0);

    (void)state;
    mkperf_net_tune(fd);
    for (size_t i = 0; i < sizeof wanted / sizeof *wanted; i++) {
        int value = 0;
        socklen_t n = sizeof value;
        assert_int_equal(getsockopt(fd, wanted[i].level, wanted[i].option, &value, &n), 0);
        assert_in_range(value, wanted[i].least, wanted[i].most);
    }
    close(fd);
}

/* Cut off after each frame of a session's beginning, and in the middle of it: nothing is unknown. */
static void cuts(void **state)
{
    struct how how = {.cut = 1};

    (void)state;
    for (; how.cut <= 14; how.cut++) {
        how.cut_midframe = how.cut % 2 == 0;
        how.has_key = how.cut % 3 == 0;
        expect(record_from(how, how.has_key ? key_option("key") : ""), 0, "samples in");
        struct content c = read_back();
        if (!c.complete || c.samples < 1000) {
            fail_msg("cut after %u frames: %s", how.cut, said);
        }
        if (how.cut > 8) {
            expect(0, 0, "connected again after");
            assert_true(c.lost >= 50); /* the file has them */
        }
    }
}

/* The bytes of both connections, one after the other, give the same file. */
static void cut_capture(void **state)
{
    struct how how = {.cut = 25};
    char arguments[256];
    struct content first, again;

    (void)state;
    snprintf(arguments, sizeof arguments, "--raw %s", in_directory("raw"));
    expect(record_from(how, arguments), 0, "connected again");
    first = read_back();
    snprintf(arguments, sizeof arguments, "-t file:%s -o %s", in_directory("raw"),
             in_directory("out.data"));
    expect(record(arguments), 0, " 0 missing");
    again = read_back();
    assert_true(first.complete && again.complete);
    assert_int_equal(first.samples, again.samples);
    assert_int_equal(first.lost, again.lost);
}

static void no_second_try(void **state)
{
    struct how how = {.cut = 20};

    (void)state;
    expect(record_from(how, "--no-reconnect"), MKPERF_ERR_LINK, "closed the connection");
    assert_true(read_back().samples > 0);
}

static void reboots(void **state)
{
    struct how how = {.cut = 20, .reboots = true};

    (void)state;
    for (unsigned i = 0; i < 2; i++) {
        how.same_boot = i == 1; /* a deterministic emulator */
        /* The time without a connection is a part of it, and the machine may pause. */
        expect(record_from(how, "--duration 1.5"), 0, "the target was restarted");
        struct content c = read_back();
        assert_int_equal(c.restarts, 1);
        assert_false(c.complete);
        assert_true(c.samples > 2000);
    }
}

static void keys(void **state)
{
    struct how how = {.has_key = true};

    (void)state;
    write_key("wrong", "ff0102030405060708090a0b0c0d0e0f101112131415161718191A1B1C1D1E1F", 0600);
    write_key("open", right_key, 0644);
    write_key("short", "0011", 0600);
    expect(record_from(how, key_option("key")), 0, " 0 lost");
    assert_null(strstr(said, "no key"));
    expect(record_from(how, ""), MKPERF_ERR_REFUSED, "the target requires a key: --key-file");
    expect(record_from(how, key_option("wrong")), MKPERF_ERR_REFUSED, "wrong key");
    char named[160];
    snprintf(named, sizeof named, "# of the board\n\nalice %s", right_key);
    write_key("named", named, 0600);
    expect(record_from(how, key_option("named")), 0, " 0 lost");
    strncat(named, "bob ", sizeof named - strlen(named) - 1);
    strncat(named, right_key, sizeof named - strlen(named) - 1);
    write_key("two", named, 0600);
    expect(record_from(how, key_option("two")), MKPERF_ERR_INPUT, "one line of 64");
    expect(record_from(how, key_option("open")), MKPERF_ERR_INPUT, "others can read");
    expect(record_from(how, key_option("short")), MKPERF_ERR_INPUT, "want 32 bytes");
    how.has_key = false;
    expect(record_from(how, key_option("key")), MKPERF_ERR_REFUSED, "the target has no key");
}

static void replayed_message(void **state)
{
    struct how how = {.has_key = true, .replays = true};

    (void)state;
    expect(record_from(how, key_option("key")), 0, "without the right MAC");
    expect(0, 0, "connected again");
    assert_true(read_back().complete);
}

/* What is not authenticated does not belong on a connection with a key: text, and a frame that is
 * none. Without a key, text is shown. */
static void foreign_bytes(void **state)
{
    struct how how = {.has_key = true, .between = "\0forged text\n", .between_n = 14};

    (void)state;
    expect(record_from(how, key_option("key")), 0, "between authenticated messages");
    expect(0, 0, "connected again");
    assert_null(strstr(said, "forged text"));
    assert_true(read_back().complete);
    how.between = "\0\5\1\2\3\377\0";
    how.between_n = 7;
    expect(record_from(how, key_option("key")), 0, "between authenticated messages");
    assert_true(read_back().complete);
    how = (struct how){.between = "\0true text\n\0", .between_n = 12};
    expect(record_from(how, ""), 0, "true text");
}

static void watchers(void **state)
{
    struct how how = {.bob = true};

    (void)state;
    expect(record_from(how, ""), MKPERF_ERR_REFUSED, "bob@desk controls the target");
    expect(record_from(how, "--watch"), 0, "watching");
    assert_true(read_back().samples > 1000);
    how.late = 4; /* a host requests one each second, and a duration has 2 s of grace */
    expect(record_from(how, "--watch"), 0, "watching");
    assert_true(read_back().samples > 40);
    how.late = 0;
    how.idle = true;
    expect(record_from(how, "--watch --timeout 1.5"), MKPERF_ERR_INPUT,
           "the watched session recorded nothing");
    expect(0, 0, ": 0 samples in ");
    how.idle = false;
    expect(record_from(how, "--take-over"), 0, " 0 lost");
    how.held = true;
    expect(record_from(how, "--watch"), MKPERF_ERR_INPUT, "no session ran while it was watched");
    how = (struct how){.bob_comes = true};
    expect(record_from(how, ""), 0, "bob@desk took over control");
    assert_true(read_back().samples > 2000);
}

/* A host died and left its session; its samples are not the next host's. */
static void abandoned(void **state)
{
    struct how how = {.abandoned = true};

    (void)state;
    expect(record_from(how, ""), 0, "a session was running: it is ended");
    expect(0, 0, " 0 lost");
    assert_non_null(strstr(said, "samples of an earlier session: not stored"));
    struct content c = read_back();
    assert_true(c.complete); /* the totals are of our session alone */
    assert_int_equal(c.lost, 0);
    assert_true(c.samples > 1000 && c.samples % 100 == 0);
    how.has_key = true;
    how.cut = 6; /* in the middle of taking over */
    expect(record_from(how, key_option("key")), 0, "connected again");
    assert_true(read_back().complete);
}

static void other_events_and_marks(void **state)
{
    struct how how = {.other_events = true, .marks = true};
    struct content c;

    (void)state;
    expect(record_from(how, "--duration 2"), 0, " 0 lost");
    c = read_back();
    assert_true(c.complete);
    assert_int_equal(c.nevents, 2);
    assert_int_equal(c.of_event[0], 1000);
    assert_true(c.of_event[1] > 1000);
    assert_true(c.marks > 2);
    assert_string_equal(c.mark, "1 7 request");
}

/* A target that states how many parts an answer has is not asked for ever. */
static void parts_of_interactions(void **state)
{
    struct how how = {.parts = 3};

    (void)state;
    expect(record_from(how, "--interactions"), 0, " 0 lost");
    how.parts = UINT32_MAX;
    expect(record_from(how, "--interactions"), MKPERF_ERR_INPUT,
           "an answer that is not to GetInteractions: part 0 of 4294967295 in the place of part 0");
    assert_true(read_back().samples > 1000); /* the samples that arrived are kept */
    how = (struct how){.parts = 3, .same_part = true};
    expect(record_from(how, "--interactions"), MKPERF_ERR_INPUT, "in the place of part 1");
}

/* On a terminal: each status line has the rate in the target's time, the first one, too. The target's
 * samples are 1000 ticks from each other. */
static void status_line(void **state)
{
    uint16_t port;
    pid_t child = start_target((struct how){.marks = false}, &port);
    int terminal, status;
    size_t n = 0;
    ssize_t got;

    (void)state;
    pid_t host = forkpty(&terminal, NULL, NULL, NULL);
    if (host == 0) {
        char target[64], out[128];
        char *argv[] = {(char[]){"record"},     (char[]){"-t"}, target, (char[]){"-o"}, out,
                        (char[]){"--duration"}, (char[]){"2"},  NULL};

        snprintf(target, sizeof target, "tcp:127.0.0.1:%u", port);
        snprintf(out, sizeof out, "%s", in_directory("terminal.data"));
        setvbuf(stderr, NULL, _IONBF, 0); /* record() left it with a buffer */
        _exit(mkperf_command_main(&mkperf_record_command, 7, argv));
    }
    assert_true(host > 0);
    while (n < sizeof said - 1 && (got = read(terminal, said + n, sizeof said - 1 - n)) > 0) {
        n += (size_t)got;
    }
    said[n] = '\0';
    close(terminal);
    assert_int_equal(waitpid(host, &status, 0), host);
    kill(child, SIGKILL);
    waitpid(child, NULL, 0);
    assert_true(WIFEXITED(status) && WEXITSTATUS(status) == 0);
    unsigned lines = 0;
    unsigned long before = 0, samples, rate;
    for (const char *at = said; (at = strstr(at, " samples  ")) != NULL;
         lines++, before = samples) {
        const char *number = at;
        while (number > said && isdigit((unsigned char)number[-1])) {
            number--;
        }
        samples = strtoul(number, NULL, 10);
        rate = strtoul(at += strlen(" samples  "), NULL, 10);
        bool right = rate >= FAKE_HZ / 1000 * 9 / 10 && rate <= FAKE_HZ / 1000 * 11 / 10;
        if (!right && !(rate == 0 && samples == before)) { /* the machine may pause the target */
            fail_msg("%lu/s: %s", rate, said);
        }
    }
    if (lines == 0) {
        fail_msg("no status line: %s", said);
    }
}

static void nobody_there(void **state)
{
    char arguments[128];
    uint16_t port;
    pid_t child = start_target((struct how){.dials = true}, &port);

    (void)state;
    kill(child, SIGKILL);
    waitpid(child, NULL, 0);
    snprintf(arguments, sizeof arguments, "-t tcp:127.0.0.1:%u --timeout 0.3 -o %s", port,
             in_directory("out.data"));
    expect(record(arguments), MKPERF_ERR_LINK, "Connection refused");
    expect(record("-t tcp:no.such.host.invalid"), MKPERF_ERR_INPUT, "no.such.host.invalid");
}

static void addresses(void **state)
{
    static const struct {
        const char *text;
        bool lone_port, ok;
        const char *host, *port;
    } cases[] = {
        {"board", false, true, "board", "1236"},
        {"board:99", false, true, "board", "99"},
        {"::1", false, true, "::1", "1236"},
        {"[::1]:7", false, true, "::1", "7"},
        {"[::1]", false, true, "::1", "1236"},
        {"99", true, true, "", "99"},
        {"10.0.0.1:9", true, true, "10.0.0.1", "9"},
        {"[::]:9", true, true, "::", "9"},
        {"", false, false, "", ""},
        {"board:", false, false, "", ""},
        {"board:65536", false, false, "", ""},
        {"board:0", false, false, "", ""},
        {"[::1", false, false, "", ""},
        {"[::1]9", false, false, "", ""},
        {"board", true, false, "", ""},
        {"a b", false, false, "", ""},
        {"::1", true, false, "", ""},
        {"x:-1", false, false, "", ""},
    };
    struct mkperf_net_address a;

    (void)state;
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        if (mkperf_net_address_parse(cases[i].text, cases[i].lone_port, &a) != cases[i].ok) {
            fail_msg("\"%s\"", cases[i].text);
        }
        if (cases[i].ok) {
            assert_string_equal(a.host, cases[i].host);
            assert_string_equal(a.port, cases[i].port);
        }
    }
}

static int setup(void **state)
{
    (void)state;
    signal(SIGPIPE, SIG_IGN);
    if (mkdtemp(directory) == NULL) {
        return -1;
    }
    write_key("key", right_key, 0600);
    return 0;
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(addresses),
        cmocka_unit_test(both_ways),
        cmocka_unit_test(both_ways_v6),
        cmocka_unit_test(tuned),
        cmocka_unit_test(cuts),
        cmocka_unit_test(cut_capture),
        cmocka_unit_test(no_second_try),
        cmocka_unit_test(reboots),
        cmocka_unit_test(keys),
        cmocka_unit_test(foreign_bytes),
        cmocka_unit_test(replayed_message),
        cmocka_unit_test(watchers),
        cmocka_unit_test(other_events_and_marks),
        cmocka_unit_test(parts_of_interactions),
        cmocka_unit_test(status_line),
        cmocka_unit_test(nobody_there),
        cmocka_unit_test(abandoned),
    };

    return cmocka_run_group_tests(tests, setup, teardown);
}
