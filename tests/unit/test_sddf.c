/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The client PD's end of a line through sDDF's serial class (pd/sddf/serial.c) against a model
 * of the virtualiser that it meets.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "pd/sddf/serial.c" // NOLINT(bugprone-suspicious-include)

enum { CAPACITY = 256, STREAM = 40000, LONGEST = 100, RX = 5, TX = 6 };

static const struct mkperf_transport *const t = &mkperf_sddf_serial;
static serial_queue_t out, in;
static char out_bytes[CAPACITY], in_bytes[CAPACITY];
static unsigned notified_virtualiser;
static const char *console;

void sddf_notify(unsigned channel)
{
    assert_int_equal(channel, TX);
    notified_virtualiser++;
}

void microkit_dbg_puts(const char *s)
{
    console = s;
}

static void start(uint32_t index)
{
    out = in = (serial_queue_t){.head = index, .tail = index};
    notified_virtualiser = 0;
    serial_config = (serial_client_config_t){
        .magic = {'s', 'D', 'D', 'F', 3},
        .rx = {{&in, sizeof in}, {in_bytes, CAPACITY}, RX},
        .tx = {{&out, sizeof out}, {out_bytes, CAPACITY}, TX},
    };
    there = false;
    t->init();
}

static uint32_t random_below(uint32_t n)
{
    static uint32_t state = 1;

    state = state * 1664525 + 1013904223;
    return (uint32_t)((uint64_t)state * n >> 32);
}

static struct {
    uint8_t sent[STREAM]; /* what the client has to send, frames and delimiters */
    unsigned n;
    unsigned taken;    /* bytes that the virtualiser consumed */
    bool client_awake; /* a notification for the client is pending */
    unsigned in_parts; /* transfers that ended within a frame */
} line;

/* As sDDF's: all or nothing, and a signal if one was asked for. */
static void virtualise(void)
{
    if (out.tail == out.head) {
        return;
    }
    for (; out.head != out.tail; out.head++) {
        assert_int_equal((uint8_t)out_bytes[out.head % CAPACITY], line.sent[line.taken++]);
    }
    line.in_parts += line.sent[line.taken - 1] != 0;
    if (out.producer_signalled == 0) {
        out.producer_signalled = 1;
        line.client_awake = true;
    }
}

/* One transmit of the client: as much as fits, in up to two pieces. */
static unsigned transmit(unsigned from)
{
    unsigned piece = from + random_below(line.n - from + 1);

    from += (unsigned)t->write(line.sent + from, piece - from);
    if (from == piece) {
        from += (unsigned)t->write(line.sent + from, line.n - from);
    }
    t->more(from < line.n);
    return from;
}

static void send_frames(unsigned longest)
{
    unsigned written = 0;

    memset(&line, 0, sizeof line);
    while (line.n + longest + 1 < STREAM) {
        for (unsigned i = random_below(longest); i > 0; i--) {
            line.sent[line.n++] = (uint8_t)(1 + random_below(255));
        }
        line.sent[line.n++] = 0;
    }
    line.client_awake = true;
    while (line.taken < line.n) {
        unsigned before = line.taken + written;
        if (line.client_awake) {
            line.client_awake = false;
            written = transmit(written);
        }
        /* The virtualiser is sometimes busy, but always serves the queue in the end. */
        if (notified_virtualiser != 0 && (random_below(3) == 0 || !line.client_awake)) {
            notified_virtualiser = 0;
            virtualise();
        }
        if (line.taken + written == before && !line.client_awake && notified_virtualiser == 0) {
            fail_msg("stands still with %u of %u bytes taken", line.taken, line.n);
        }
    }
}

static void frames_go_out_whole(void **state)
{
    (void)state;
    start(UINT32_MAX - 1000); /* the indices wrap on the way */
    send_frames(LONGEST);
    assert_int_equal(line.in_parts, 0);
}

static void longer_than_the_queue(void **state)
{
    (void)state;
    start(0);
    send_frames(4 * CAPACITY);
    assert_true(line.in_parts > 0);
}

/* Text has no delimiter: it is sent when nothing follows it. */
static void text(void **state)
{
    (void)state;
    start(0);
    assert_int_equal(t->write((const uint8_t *)"hello\n", 6), 6);
    assert_int_equal(out.tail, 0);
    t->more(0);
    assert_int_equal(out.tail, 6);
    assert_int_equal(notified_virtualiser, 1);
    t->more(0);
    assert_int_equal(notified_virtualiser, 1);
}

static void received(void **state)
{
    (void)state;
    start(UINT32_MAX - 10);
    for (unsigned i = 0; i < 4 * CAPACITY; i++) {
        unsigned n = 1 + i % CAPACITY;
        for (unsigned k = 0; k < n; k++) {
            in_bytes[in.tail++ % CAPACITY] = (char)(k * 7 + i);
        }
        assert_int_equal(t->read(), -1); /* before it was notified */
        t->interrupt();
        for (unsigned k = 0; k < n; k++) {
            assert_int_equal(t->read(), (uint8_t)(k * 7 + i));
        }
        assert_int_equal(t->read(), -1);
    }
    assert_true(t->own(RX) && t->own(TX) && !t->own(1));
}

/* Indices that no queue can have: nothing is read or written by them. */
static void wild_indices(void **state)
{
    uint8_t bytes[CAPACITY] = {0};

    (void)state;
    start(0);
    in.tail = CAPACITY + 1;
    t->interrupt();
    assert_int_equal(t->read(), -1);
    in.head = 7;
    in.tail = 3;
    t->interrupt();
    assert_int_equal(t->read(), -1);
    out.head = 5;
    assert_int_equal(t->write(bytes, sizeof bytes), 0);
    t->more(1);
    assert_int_equal(out.tail, 0);
}

static void no_configuration(void **state)
{
    uint8_t byte = 0;

    (void)state;
    start(0);
    serial_config.rx.data.size = CAPACITY - 1; /* no power of two */
    console = NULL;
    there = false;
    t->init();
    assert_non_null(console);
    assert_int_equal(t->write(&byte, 1), 0);
    t->more(1);
    t->interrupt();
    assert_int_equal(t->read(), -1);
    assert_false(t->own(RX));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(frames_go_out_whole),
        cmocka_unit_test(longer_than_the_queue),
        cmocka_unit_test(text),
        cmocka_unit_test(received),
        cmocka_unit_test(wild_indices),
        cmocka_unit_test(no_configuration),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
