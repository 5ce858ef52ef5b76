/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Sources, and `mkperf record` as a whole against a target in another process that behaves, or
 * misbehaves, in one particular way.
 */
#include "fake_target.h"
#include "run_record.h"

#include <fcntl.h>
#include <pb_decode.h>
#include <poll.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <sys/wait.h>
#include <unistd.h>

#include "link/connection.h"

enum behaviour {
    GOOD,
    SILENT,
    NOISE,
    CONSOLE, /* alive, but without a profiler */
    OLD,     /* another protocol version */
    REFUSE,  /* the target refuses an event */
    BUSY,    /* a session runs already */
    DEAF,    /* to every second frame */
    VANISH,  /* the target vanishes after some samples */
    LOSSY,   /* one batch does not arrive */
    STORMY,  /* ends the session after some samples: they take too much time */
    SLOW_STOP,
    LOOP, /* RX and TX are joined: what the host sends returns */
    SLOW, /* a slow emulator: the second batch arrives after 2.3 s */
};

struct target {
    enum behaviour how;
    int fd;
    struct fake out;
    uint64_t sent;
    bool running, busy, lossy_done;
    unsigned frames, resets;
    uint32_t epoch;
    bool new_epoch;
};

static void flush_out(struct target *t)
{
    size_t done = 0;

    while (done < t->out.n) {
        ssize_t n = write(t->fd, t->out.bytes + done, t->out.n - done);
        if (n <= 0) {
            _exit(0);
        }
        done += (size_t)n;
    }
    t->out.n = 0;
}

static void send_samples(struct target *t)
{
    struct fake_batch b;

    if (t->how == SLOW && t->sent < 200) {
        usleep(t->sent == 0 ? 100000 : 2300000);
    }
    fake_batch_init(&b, t->sent, 100, 1000000 + t->sent * 1000);
    b.batch.epoch = t->epoch;
    if (t->new_epoch) {
        fake_hello(&t->out, 0, 77, MKPERF_PROTOCOL);
        fake_session(&t->out, 0, 1, true);
        fake_chain(&b, 0, 0, 3, 0x200000);
    }
    t->out.lose = t->how == LOSSY && t->sent == 300;
    fake_batch(&t->out, &b);
    t->out.lose = false;
    t->new_epoch = false;
    t->sent += 100;
    if (t->how == STORMY && t->sent == 500) {
        t->running = false;
        fake_status(&t->out, 0, 1, false, t->sent, 0);
    }
    flush_out(t);
    if (t->how == VANISH && t->sent == 1000) {
        _exit(0);
    }
}

static void on_request(struct target *t, const mkperf_ToTarget *m)
{
    switch (m->which_msg) {
    case mkperf_ToTarget_hello_tag:
        if (t->how == OLD) {
            fake_hello(&t->out, m->request, 77, MKPERF_PROTOCOL + 1);
            break;
        }
        fake_text(&t->out, "\x1b[1;31mboo\x1b[0mted\x1b[0m\x1b[31m\r\n");
        fake_hello(&t->out, m->request, 77, MKPERF_PROTOCOL);
        break;
    case mkperf_ToTarget_configure_tag:
        if (t->busy) {
            fake_error(&t->out, m->request, mkperf_ErrorCode_ERROR_STATE, 0, "running");
        } else if (t->how == REFUSE) {
            fake_error(&t->out, m->request, mkperf_ErrorCode_ERROR_EVENT_UNKNOWN, 2,
                       "there is no such event here");
        } else {
            fake_session(&t->out, m->request, 1, false);
        }
        break;
    case mkperf_ToTarget_start_tag:
        if (t->running) {
            fake_error(&t->out, m->request, mkperf_ErrorCode_ERROR_STATE, 0, "running");
        } else {
            fake_session(&t->out, m->request, 1, true);
        }
        t->running = t->new_epoch = true;
        t->epoch++;
        break;
    case mkperf_ToTarget_stop_tag:
        t->running = t->busy = false;
        if (t->how == SLOW_STOP) {
            send_samples(t);
            usleep(300000);
            send_samples(t);
        }
        fake_status(&t->out, m->request, 1, false, t->sent, 0);
        break;
    case mkperf_ToTarget_reset_chains_tag:
        t->resets++;
        t->new_epoch = true;
        t->epoch++;
        break;
    default:
        fake_status(&t->out, m->request, 1, t->running, t->sent, 0);
        break;
    }
    flush_out(t);
}

static void send_back(const struct target *t)
{
    char bytes[256];
    ssize_t n;

    while ((n = read(t->fd, bytes, sizeof bytes)) > 0 && write(t->fd, bytes, (size_t)n) == n) {
    }
    _exit(0);
}

static void on_frame(struct target *t, uint8_t *p, size_t n)
{
    static mkperf_ToTarget m;
    uint16_t sequence;
    int length = mkperf_frame_decode(p, n, &sequence);

    if (length < 0 || t->how == SILENT || t->how == NOISE || t->how == CONSOLE ||
        (t->how == DEAF && t->frames++ % 2 == 0)) {
        return;
    }
    pb_istream_t in = pb_istream_from_buffer(p + 2, (size_t)length);
    if (!pb_decode(&in, mkperf_ToTarget_fields, &m)) {
        _exit(9);
    }
    on_request(t, &m);
}

static void chatter(struct target *t)
{
    if (t->how == NOISE) {
        memcpy(t->out.bytes, "\xff\xfe\x81\x00\x9c\xff\x00", t->out.n = 7);
    } else if (t->how == CONSOLE) {
        fake_text(&t->out, "tick\n");
    }
    flush_out(t);
}

static void serve(struct target *t)
{
    static uint8_t chunk[4096];
    size_t n = 0;

    for (;;) {
        struct pollfd ready = {.fd = t->fd, .events = POLLIN};
        uint8_t byte;
        if (poll(&ready, 1, t->running ? 1 : 20) > 0) {
            if (read(t->fd, &byte, 1) != 1) {
                _exit(0);
            }
            if (byte != 0) {
                chunk[n++ % sizeof chunk] = byte;
            } else if (n > 0) {
                on_frame(t, chunk, n);
                n = 0;
            }
        } else if (t->running) {
            send_samples(t);
        } else {
            chatter(t);
        }
    }
}

static pid_t start_target(enum behaviour how)
{
    static struct target t;
    struct sockaddr_un address = {.sun_family = AF_UNIX};
    int listener = socket(AF_UNIX, SOCK_STREAM, 0);

    snprintf(address.sun_path, sizeof address.sun_path, "%s", in_directory("line"));
    unlink(address.sun_path);
    assert_int_equal(bind(listener, (struct sockaddr *)&address, sizeof address), 0);
    assert_int_equal(listen(listener, 1), 0);
    pid_t child = fork();
    if (child == 0) {
        memset(&t, 0, sizeof t);
        t.how = how;
        t.busy = how == BUSY;
        t.fd = accept(listener, NULL, NULL);
        if (how == LOOP) {
            send_back(&t);
        }
        serve(&t);
    }
    close(listener);
    return child;
}

static int record_from(enum behaviour how, const char *more)
{
    char arguments[512];
    pid_t child = start_target(how);

    snprintf(arguments, sizeof arguments, "-t unix:%s -o %s %s", in_directory("line"),
             in_directory("out.data"), more);
    unlink(in_directory("out.data"));
    int status = record(arguments);
    kill(child, SIGKILL);
    waitpid(child, NULL, 0);
    return status;
}

static void expect(int status, int wanted, const char *text)
{
    if (status != wanted || strstr(said, text) == NULL) {
        fail_msg("exit status %d (want %d, \"%s\"): %s", status, wanted, text, said);
    }
}

static bool exists(const char *name)
{
    return access(in_directory(name), R_OK) == 0;
}

static void a_good_target(void **state)
{
    char arguments[256];

    (void)state;
    snprintf(arguments, sizeof arguments, "--duration 0.05 --raw %s", in_directory("raw"));
    expect(record_from(GOOD, arguments), 0, "target: booted\n");
    expect(0, 0, " 0 lost");
    assert_null(strstr(said, "do not match"));
    assert_true(exists("out.data"));
    assert_true(exists("raw"));
    assert_false(exists("out.data.partial"));
    /* The capture yields the same file again, except for its command line. */
    char first[256], *again;
    snprintf(first, sizeof first, "%s", strstr(said, "samples in"));
    *strchr(first, ',') = '\0';
    snprintf(arguments, sizeof arguments, "-t file:%s -o %s", in_directory("raw"),
             in_directory("replay.data"));
    expect(record(arguments), 0, " 0 lost");
    again = strstr(said, "samples in");
    assert_memory_equal(first, again, strlen(first));
}

static void silent_targets(void **state)
{
    (void)state;
    expect(record_from(SILENT, "--timeout 0.5"), MKPERF_ERR_SILENT, "no byte arrived");
    expect(record_from(CONSOLE, "--timeout 0.5"), MKPERF_ERR_SILENT, "console text arrives");
    expect(0, 0, "target: tick");
    expect(record_from(NOISE, "--timeout 0.5"), MKPERF_ERR_NOISE, "no frame");
    expect(record_from(LOOP, ""), MKPERF_ERR_NOISE, "RX and TX are joined");
    assert_false(exists("out.data"));
    assert_false(exists("out.data.partial"));
}

static void targets_that_refuse(void **state)
{
    (void)state;
    expect(record_from(OLD, ""), MKPERF_ERR_PROTOCOL, "protocol 3, this mkperf 2");
    expect(record_from(REFUSE, "-e cycles,bananas"), MKPERF_ERR_REFUSED,
           "event bananas: there is no such event here");
    assert_false(exists("out.data.partial"));
}

static void imperfect_lines(void **state)
{
    (void)state;
    expect(record_from(DEAF, "--duration 0.05"), 0, " 0 lost");
    expect(record_from(BUSY, "--duration 0.05"), 0, " 0 lost");
    expect(record_from(SLOW_STOP, "--duration 0.05"), 0, " 0 lost");
    expect(record_from(SLOW, "--duration 0.02"), 0, " 0 lost");
    assert_null(strstr(said, "samples in 0.00")); /* record has waited for samples */
    assert_null(strstr(said, "do not match"));
    expect(record_from(LOSSY, "--duration 0.2"), 0, "100 samples on the way");
    assert_null(strstr(said, "do not match"));
}

static void a_target_that_vanishes(void **state)
{
    (void)state;
    expect(record_from(VANISH, "--no-reconnect"), MKPERF_ERR_LINK, "closed the connection");
    expect(0, 0, "1000 samples");
    expect(0, 0, "do not match");
    assert_true(exists("out.data"));
}

static void a_session_that_takes_too_much(void **state)
{
    (void)state;
    expect(record_from(STORMY, ""), 0,
           "samples took more than half of its time; a longer period "
           "(-c, or a lower -F), fewer events or a shallower call "
           "chain (--max-frames) take less\n");
    expect(0, 0, " 500 samples");
    expect(0, 0, "  storm   ended by the target");
    assert_true(exists("out.data"));
}

static void full_disks(void **state)
{
    (void)state;
    expect(record_from(GOOD, "--duration 0.05 -o /dev/full"), MKPERF_ERR_OUTPUT, "No space left");
    expect(record_from(GOOD, "--duration 0.05 -o /nowhere/x"), MKPERF_ERR_OUTPUT, "/nowhere/x");
}

static void wrong_arguments(void **state)
{
    static const char *const wrong[] = {"",
                                        "-t pigeon:x",
                                        "-t file:x -c 0",
                                        "-t file:x -c 5 -F 5",
                                        "-t file:x y",
                                        "-t unix:",
                                        "-t file:x -F x",
                                        "-t serial:/dev/x,12",
                                        "-t file:x -e :",
                                        "-t file:x --duration 0",
                                        "-t file:x --max-frames 65"};

    (void)state;
    for (size_t i = 0; i < sizeof wrong / sizeof *wrong; i++) {
        expect(record(wrong[i]), MKPERF_ERR_USAGE, "mkperf record: ");
    }
    expect(record("-t file:/nowhere/x"), MKPERF_ERR_INPUT, "/nowhere/x: No such file");
    expect(record("-t serial:/dev/null,115200"), MKPERF_ERR_INPUT, "not a serial line");
    expect(record("-t unix:/nowhere/x"), MKPERF_ERR_INPUT, "/nowhere/x");
    expect(record("-t file:/dev/null -o /dev/null"), MKPERF_ERR_INPUT, "no session");
}

/* A pseudo-terminal is as good as a serial line: raw, so that every byte passes. */
static void serial_line(void **state)
{
    int master = posix_openpt(O_RDWR | O_NOCTTY);
    struct mkperf_source s;
    struct mkperf_error e = {.text = ""};
    char spec[128], got[256], all[256];
    size_t n, total = 0;

    (void)state;
    assert_int_equal(grantpt(master) | unlockpt(master), 0);
    snprintf(spec, sizeof spec, "serial:%s,115200", ptsname(master));
    if (mkperf_source_init(&s, spec, &e) != MKPERF_OK || mkperf_source_open(&s, &e) != MKPERF_OK) {
        fail_msg("%s", e.text);
    }
    for (unsigned i = 0; i < sizeof all; i++) {
        all[i] = (char)i;
    }
    assert_int_equal(write(master, all, sizeof all), sizeof all);
    while (total < sizeof all) {
        struct pollfd ready = {.fd = s.fd, .events = POLLIN};
        assert_int_equal(poll(&ready, 1, 60000), 1);
        assert_int_equal(s.ops->read(&s, got + total, sizeof got - total, &n, &e), MKPERF_OK);
        total += n;
    }
    assert_memory_equal(got, all, sizeof all);
    assert_int_equal(s.ops->write(&s, all, sizeof all, &e), MKPERF_OK);
    for (total = 0; total < sizeof got; total += n) { /* it may arrive in parts */
        ssize_t part = read(master, got + total, sizeof got - total);
        assert_true(part > 0);
        n = (size_t)part;
    }
    assert_memory_equal(got, all, sizeof all);
    struct mkperf_source second; /* and nothing is read of another program's line */
    assert_int_equal(mkperf_source_init(&second, spec, &e), MKPERF_OK);
    assert_int_equal(mkperf_source_open(&second, &e), MKPERF_ERR_INPUT);
    assert_non_null(strstr(e.text, ": in use by another program"));
    mkperf_source_end(&second);
    assert_int_equal(write(master, "x", 1), 1);
    assert_int_equal(poll(&(struct pollfd){.fd = s.fd, .events = POLLIN}, 1, 60000), 1);
    assert_int_equal(s.ops->read(&s, got, sizeof got, &n, &e), MKPERF_OK);
    assert_int_equal(n, 1);
    close(master);
    assert_int_equal(s.ops->read(&s, got, sizeof got, &n, &e), MKPERF_ERR_LINK);
    mkperf_source_end(&s);
}

/* Ctrl-C while it waits for a target is the user's wish, and no fault. */
static void stopped_listening(void **state)
{
    static const volatile int stop = 1;
    struct mkperf_source s;
    struct mkperf_error e = {.text = ""};
    int ends[2];

    (void)state;
    assert_int_equal(pipe(ends), 0);
    assert_int_equal(mkperf_source_init(&s, "listen:1236", &e), MKPERF_OK);
    s.stop = &stop;
    s.listener = ends[0]; /* so that no port is taken */
    assert_int_equal(mkperf_source_open(&s, &e), MKPERF_ERR_LINK);
    assert_string_equal(e.text, "listen:1236: no target has connected: stopped");
    mkperf_source_end(&s);
    close(ends[1]);
}

static int setup(void **state)
{
    (void)state;
    signal(SIGPIPE, SIG_IGN);
    return mkdtemp(directory) != NULL ? 0 : -1;
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_good_target),
        cmocka_unit_test(silent_targets),
        cmocka_unit_test(imperfect_lines),
        cmocka_unit_test(targets_that_refuse),
        cmocka_unit_test(a_session_that_takes_too_much),
        cmocka_unit_test(full_disks),
        cmocka_unit_test(a_target_that_vanishes),
        cmocka_unit_test(serial_line),
        cmocka_unit_test(stopped_listening),
        cmocka_unit_test(wrong_arguments),
    };

    return cmocka_run_group_tests(tests, setup, teardown);
}
