/* SPDX-License-Identifier: BSD-2-Clause */
/* Scheduling events from the wire into the model: codes, times, gaps, counts, several cores. */
#include "wire_host.h"

#include "model/figures.h"
#include "system/system.h"

#include <pb_decode.h>

#define mkperf_chain client_chain /* The host has another struct of that name. */
#include "pd/client/sched.h"
#undef mkperf_chain

enum { HZ = 62500000, NS = 16, BITS = 6, KEEP = 4096, CODE_A = 1, CODE_B, CODE_IRQ, CODE_IDLE };

static uint32_t words; /* words of the next Session */

struct seen {
    struct wire_host wire;
    struct mkperf_session session;
    unsigned begins, npds, n;
    struct mkperf_sched event[KEEP];
    unsigned readings[MKPERF_MAX_CORES];
};

/* What the words of readings hold at each tick. */
enum { TICKS = 20000, WORDS = 3 };
static uint64_t truth[TICKS][WORDS];

/* Checks that a reading is what its queue had at that time. */
static void check_reading(const struct mkperf_queue_reading *r)
{
    uint64_t tick = r->time_ns / NS;

    assert_true(r->queue < 2 && tick < TICKS);
    if (r->queue == 0) {
        assert_int_equal(r->head, truth[tick][0] >> 32);
        assert_int_equal(r->tail, truth[tick][1] & UINT32_MAX);
    } else {
        assert_int_equal(r->head, truth[tick][2] >> 16 & 0xffff);
        assert_int_equal(r->tail, truth[tick][2] & 0xffff);
    }
}

static enum mkperf_status keep_events(void *self, const struct mkperf_item *item,
                                      struct mkperf_error *e)
{
    struct seen *seen = self;
    const struct mkperf_sched *s = item->sched;

    (void)e;
    switch (item->kind) {
    case MKPERF_ITEM_BEGIN:
        seen->begins++;
        seen->session = *item->session;
        break;
    case MKPERF_ITEM_PD:
        assert_int_equal(item->pd->id, seen->npds++);
        break;
    case MKPERF_ITEM_SCHED:
        assert_true(seen->begins == 1 && (words != 0 || seen->n < KEEP));
        assert_true(s->to == MKPERF_SCHED_NOBODY || s->to < seen->npds);
        assert_true(s->from == MKPERF_SCHED_NOBODY || s->from < seen->npds);
        seen->event[seen->n++ % KEEP] = *s;
        break;
    case MKPERF_ITEM_READING:
        assert_int_equal(seen->begins, 1);
        check_reading(item->reading);
        seen->readings[item->reading->core]++;
        break;
    default:
        break;
    }
    return MKPERF_OK;
}

static struct seen *seen;
static struct fake *f;

static void session(uint32_t id, bool running)
{
    static mkperf_ToHost m;

    memset(&m, 0, sizeof m);
    m.request = 2 + running;
    m.which_msg = mkperf_ToHost_session_tag;
    m.msg.session.id = id;
    m.msg.session.running = running;
    m.msg.session.sched = true;
    m.msg.session.words = words;
    fake_send(f, &m);
}

static int begin(void **state)
{
    const struct mkperf_pds_config pds = {.system = NULL};

    words = *state != NULL ? WORDS : 0;
    f = wire_host_fake();
    seen = calloc(1, sizeof *seen);
    assert_non_null(seen);
    wire_host_begin(&seen->wire, (struct mkperf_sink){.take = keep_events, .self = seen}, &pds,
                    false);
    fake_hello(f, 1, 77, MKPERF_PROTOCOL);
    session(1, false);
    session(1, true);
    return 0;
}

static int end(void **state)
{
    (void)state;
    wire_host_end(&seen->wire);
    free(seen);
    free(f);
    return 0;
}

static void push(void)
{
    struct mkperf_error e;

    if (wire_host_push(&seen->wire, f, sizeof f->bytes, &e) != MKPERF_OK) {
        fail_msg("%s", e.text);
    }
}

static mkperf_ToHost message;

static mkperf_Sched *sched(uint32_t core, uint32_t epoch, uint64_t first, uint64_t ticks)
{
    mkperf_Sched *m = &message.msg.sched;

    memset(&message, 0, sizeof message);
    message.which_msg = mkperf_ToHost_sched_tag;
    *m = (mkperf_Sched){.session = 1,
                        .core = core,
                        .epoch = epoch,
                        .first_event = first,
                        .tick_hz = HZ,
                        .time_ticks = ticks,
                        .code_bits = BITS};
    return m;
}

static void code(mkperf_Sched *m, uint32_t number, mkperf_SchedKind kind, mkperf_SchedReason reason,
                 uint64_t thread)
{
    m->codes[m->codes_count++] = (mkperf_SchedCode){
        .code = number, .kind = kind, .reason = reason, .thread = thread, .irq = number * 11};
}

static void codes(mkperf_Sched *m)
{
    code(m, CODE_A, mkperf_SchedKind_SCHED_SWITCH, mkperf_SchedReason_STOPPED_CALLED, 10);
    code(m, CODE_B, mkperf_SchedKind_SCHED_SWITCH, mkperf_SchedReason_STOPPED_REPLIED, 11);
    code(m, CODE_IRQ, mkperf_SchedKind_SCHED_IRQ, mkperf_SchedReason_STOPPED_UNKNOWN, 12);
    code(m, CODE_IDLE, mkperf_SchedKind_SCHED_SWITCH, mkperf_SchedReason_STOPPED_WAIT_MESSAGE, 1);
}

static void put(mkperf_Sched *m, uint64_t delta, uint32_t number)
{
    m->event[m->event_count++] = delta << BITS | number;
}

static void status(uint64_t sent, uint64_t ring, uint64_t output)
{
    static mkperf_ToHost m;

    memset(&m, 0, sizeof m);
    m.which_msg = mkperf_ToHost_status_tag;
    m.msg.status = (mkperf_Status){.session = 1,
                                   .sched_captured = sent + output,
                                   .sched_sent = sent,
                                   .sched_lost_ring = ring,
                                   .sched_lost_output = output};
    fake_send(f, &m);
}

static void finish(void)
{
    struct mkperf_error e = {.text = ""};

    push();
    assert_int_equal(mkperf_stream_finish(seen->wire.stream, &e), MKPERF_OK);
}

static void is(unsigned i, uint64_t ns, enum mkperf_sched_kind kind, const char *from,
               const char *to)
{
    const struct mkperf_sched *s = &seen->event[i];
    const char *names[2] = {"nobody", "nobody"};

    assert_true(i < seen->n);
    for (unsigned k = 0; k < 2; k++) {
        uint32_t pd = k == 0 ? s->from : s->to;
        names[k] = pd == MKPERF_SCHED_NOBODY ? "nobody" : seen->wire.pds->pd[pd].name;
    }
    assert_int_equal(s->time_ns, ns);
    assert_int_equal(s->kind, kind);
    assert_string_equal(names[0], from);
    assert_string_equal(names[1], to);
}

static void whole(void **state)
{
    const struct mkperf_totals *t = &seen->wire.stream->totals;
    mkperf_Sched *m = sched(0, 1, 0, 1000);

    (void)state;
    codes(m);
    put(m, 0, CODE_A);
    put(m, 100, CODE_IRQ);
    put(m, 0, CODE_B);
    put(m, 1 << 20, CODE_IDLE);
    fake_send(f, &message);
    m = sched(0, 1, 4, 2000000);
    put(m, 5, CODE_A); /* codes remain valid */
    fake_send(f, &message);
    status(5, 0, 0);
    finish();
    assert_true(seen->session.sched);
    assert_int_equal(seen->session.nevents, 0);
    assert_int_equal(seen->n, 5);
    is(0, 1000 * NS, MKPERF_SCHED_SWITCH, "nobody", "unknown-8");
    is(1, 1100 * NS, MKPERF_SCHED_IRQ, "unknown-8", "unknown-a");
    assert_int_equal(seen->event[1].irq, CODE_IRQ * 11);
    is(2, 1100 * NS, MKPERF_SCHED_SWITCH, "unknown-8", "unknown-9");
    assert_int_equal(seen->event[2].reason, MKPERF_STOPPED_REPLIED);
    is(3, (1100 + (1 << 20)) * NS, MKPERF_SCHED_SWITCH, "unknown-9", "idle");
    is(4, 2000005 * NS, MKPERF_SCHED_SWITCH, "idle", "unknown-8");
    assert_int_equal(t->sched_events, 5);
    assert_int_equal(mkperf_lost_sum(t->sched_lost), 0);
    assert_true(t->complete);
    assert_int_equal(t->first_ns, 1000 * NS);
    assert_int_equal(t->last_ns, 2000005 * NS);
}

/* Events that the target dropped, and a message that did not arrive. */
static void gaps(void **state)
{
    const struct mkperf_totals *t = &seen->wire.stream->totals;
    mkperf_Sched *m = sched(0, 1, 0, 1000);

    (void)state;
    codes(m);
    put(m, 0, CODE_A);
    put(m, 10, CODE_B);
    fake_send(f, &message);
    m = sched(0, 1, 9, 5000); /* 7 were dropped */
    put(m, 0, CODE_A);
    fake_send(f, &message);
    f->lose = true;
    m = sched(0, 1, 10, 6000); /* 2 are lost on the way */
    put(m, 0, CODE_A);
    put(m, 0, CODE_B);
    fake_send(f, &message);
    f->lose = false;
    m = sched(0, 1, 12, 7000); /* 1 whose code may be another one by now */
    put(m, 0, CODE_B);
    fake_send(f, &message);
    push();
    assert_true(mkperf_stream_needs_reset(seen->wire.stream));
    assert_false(seen->wire.stream->damaged); /* there are no chains */
    m = sched(0, 2, 13, 8000);
    codes(m);
    put(m, 1, CODE_IDLE);
    fake_send(f, &message);
    status(7, 4, 3);
    finish();
    assert_false(mkperf_stream_needs_reset(seen->wire.stream));
    assert_int_equal(seen->n, 6);
    is(1, 1010 * NS, MKPERF_SCHED_SWITCH, "unknown-8", "unknown-9");
    is(2, 5000 * NS, MKPERF_SCHED_GAP, "nobody", "nobody");
    assert_int_equal(seen->event[2].lost, 7);
    assert_int_equal(seen->event[2].since_ns, 1010 * NS);
    is(3, 5000 * NS, MKPERF_SCHED_SWITCH, "nobody", "unknown-8");
    is(4, 8001 * NS, MKPERF_SCHED_GAP, "nobody", "nobody");
    assert_int_equal(seen->event[4].lost, 3);
    assert_int_equal(seen->event[4].since_ns, 5000 * NS);
    is(5, 8001 * NS, MKPERF_SCHED_SWITCH, "nobody", "idle");
    assert_int_equal(t->sched_events, 4);
    assert_int_equal(t->sched_lost[MKPERF_LOST_RING], 4);
    assert_int_equal(t->sched_lost[MKPERF_LOST_OUTPUT], 3);
    assert_int_equal(t->sched_lost[MKPERF_LOST_TRANSIT], 2);
    assert_int_equal(t->sched_lost[MKPERF_LOST_CHAIN], 1);
    assert_true(t->complete); /* the totals agree */
}

/* A guest accesses a page, above all that 24 bits have, and calls its monitor: pages are no events of the model. */
static void exits(void **state)
{
    enum { HIGH = 8, LOW, ACCESS, HVC };
    static const struct {
        uint32_t code, irq;
    } numbers[] = {
        {HIGH, 0xab}, {LOW, 0xcde}, {ACCESS, MKPERF_EXIT_ACCESS}, {HVC, MKPERF_EXIT_HVC}};
    const struct mkperf_totals *t = &seen->wire.stream->totals;
    mkperf_Sched *m = sched(0, 1, 0, 1000);
    char text[64];

    (void)state;
    codes(m);
    for (unsigned i = 0; i < 4; i++) {
        code(m, numbers[i].code, i < 2 ? mkperf_SchedKind_SCHED_PAGE : mkperf_SchedKind_SCHED_FAULT,
             mkperf_SchedReason_STOPPED_UNKNOWN, 10);
        m->codes[m->codes_count - 1].irq = numbers[i].irq;
    }
    put(m, 0, CODE_B);
    put(m, 1, HIGH);
    put(m, 0, LOW);
    put(m, 0, ACCESS);
    put(m, 5, HVC);
    fake_send(f, &message);
    status(5, 0, 0);
    finish();
    assert_int_equal(seen->n, 3);
    is(1, 1001 * NS, MKPERF_SCHED_FAULT, "unknown-9", "unknown-8");
    assert_int_equal(seen->event[1].irq, 0xabcde << 8 | MKPERF_EXIT_ACCESS);
    assert_string_equal(mkperf_exit_name(seen->event[1].irq, text), "access to page 0xabcde");
    assert_int_equal(seen->event[2].irq, MKPERF_EXIT_HVC);
    assert_string_equal(mkperf_exit_name(seen->event[2].irq, text), "HVC");
    assert_string_equal(mkperf_exit_name(MKPERF_EXIT + 0x3f, text), "exception class 0x3f");
    assert_true(t->complete && t->sched_events == 5);
}

static void cores_are_apart(void **state)
{
    mkperf_Sched *m = sched(0, 1, 0, 1000);

    (void)state;
    codes(m);
    put(m, 0, CODE_A);
    fake_send(f, &message);
    m = sched(1, 5, 0, 900); /* codes of its own, another running thread */
    code(m, CODE_A, mkperf_SchedKind_SCHED_SWITCH, mkperf_SchedReason_STOPPED_UNKNOWN, 1);
    put(m, 0, CODE_A);
    fake_send(f, &message);
    m = sched(0, 1, 1, 1200);
    put(m, 0, CODE_B);
    fake_send(f, &message);
    m = sched(1, 5, 1, 1300);
    put(m, 0, CODE_A);
    fake_send(f, &message);
    status(4, 0, 0);
    finish();
    is(0, 1000 * NS, MKPERF_SCHED_SWITCH, "nobody", "unknown-8");
    is(1, 900 * NS, MKPERF_SCHED_SWITCH, "nobody", "idle");
    is(2, 1200 * NS, MKPERF_SCHED_SWITCH, "unknown-8", "unknown-9");
    is(3, 1300 * NS, MKPERF_SCHED_SWITCH, "idle", "idle");
    assert_int_equal(seen->event[3].core, 1);
    assert_true(seen->wire.stream->totals.complete);
}

/* What a target of ours does not send is no event, and counted. */
static void nonsense(void **state)
{
    const struct mkperf_totals *t = &seen->wire.stream->totals;
    mkperf_Sched *m = sched(0, 1, 0, 1000);

    (void)state;
    codes(m);
    /* a kind of a newer target */
    code(m, 5, (mkperf_SchedKind)40, mkperf_SchedReason_STOPPED_UNKNOWN, 1);
    code(m, 2000, mkperf_SchedKind_SCHED_SWITCH, mkperf_SchedReason_STOPPED_UNKNOWN, 1);
    put(m, 0, 5);
    put(m, 0, 60); /* this code was never defined */
    put(m, 7, CODE_A);
    fake_send(f, &message);
    m = sched(MKPERF_MAX_CORES, 1, 0, 1000);
    put(m, 0, CODE_A);
    fake_send(f, &message);
    m = sched(0, 1, 0, 1000);
    m->tick_hz = 0;
    fake_send(f, &message);
    m = sched(0, 1, 0, 1000);
    m->code_bits = 64;
    put(m, 0, CODE_A);
    fake_send(f, &message);
    m = sched(0, 1, 3, 1000);
    m->session = 9; /* the message is of another session */
    put(m, 0, CODE_A);
    fake_send(f, &message);
    status(3, 0, 0);
    finish();
    assert_int_equal(seen->wire.stream->malformed, 3);
    assert_int_equal(t->sched_lost[MKPERF_LOST_CHAIN], 2);
    assert_int_equal(t->sched_events, 1);
    assert_int_equal(seen->n, 2);
    is(0, 1007 * NS, MKPERF_SCHED_GAP, "nobody", "nobody");
    assert_int_equal(seen->event[0].lost, 2);
    is(1, 1007 * NS, MKPERF_SCHED_SWITCH, "nobody", "unknown-8");
}

/* Only the target's totals show the loss of a message's end. */
static void lost_at_the_end(void **state)
{
    const struct mkperf_totals *t = &seen->wire.stream->totals;
    mkperf_Sched *m = sched(0, 1, 0, 1000);

    (void)state;
    codes(m);
    put(m, 0, CODE_A);
    fake_send(f, &message);
    status(100, 0, 0);
    finish();
    assert_int_equal(t->sched_lost[MKPERF_LOST_TRANSIT], 99);
}

/* A second session: codes and numbers begin again; between the two is a gap. */
static void two_sessions(void **state)
{
    mkperf_Sched *m = sched(0, 1, 0, 1000);

    (void)state;
    codes(m);
    put(m, 0, CODE_A);
    fake_send(f, &message);
    status(1, 0, 0);
    session(2, true);
    m = sched(0, 1, 0, 9000);
    m->session = 2;
    code(m, CODE_B, mkperf_SchedKind_SCHED_SWITCH, mkperf_SchedReason_STOPPED_UNKNOWN, 11);
    put(m, 0, CODE_B);
    fake_send(f, &message);
    push();
    assert_int_equal(seen->n, 3);
    is(1, 9000 * NS, MKPERF_SCHED_GAP, "nobody", "nobody");
    assert_int_equal(seen->event[1].lost, 0);
    is(2, 9000 * NS, MKPERF_SCHED_SWITCH, "nobody", "unknown-9");
    assert_int_equal(seen->begins, 1);
}

/* ---- readings of queues ---------------------------------------------------------------------- */

static struct mkperf_sched_encoder encoder;

/* Sends the encoder's message, or loses it. */
static void send_words(bool lost)
{
    static uint8_t out[MKPERF_CONTENT_BYTES];
    size_t n = mkperf_sched_encoder_finish(&encoder, out);

    if (n == 0 || lost) {
        return;
    }
    pb_istream_t stream = pb_istream_from_buffer(out, n);
    memset(&message, 0, sizeof message);
    assert_true(pb_decode(&stream, mkperf_ToHost_fields, &message));
    fake_send(f, &message);
    push();
}

static void add_record(const uint64_t *record, unsigned words_of_it)
{
    enum mkperf_encode_result result = mkperf_sched_encoder_add(&encoder, record, 8 * words_of_it);

    if (result == MKPERF_ENCODE_FULL) {
        send_words(rand() % 16 == 0);
        result = mkperf_sched_encoder_add(&encoder, record, 8 * words_of_it);
    }
    assert_int_equal(result, MKPERF_ENCODE_ADDED);
}

/* The values of a core's words, of which `changed` are written, in pairs. */
static void add_words(unsigned core, uint64_t time, uint64_t changed, bool all)
{
    uint64_t record[MKPERF_WORDS_FIXED + 4];
    unsigned n = MKPERF_WORDS_FIXED;

    for (unsigned i = 0; i < 4; i += 2) {
        if (all || (changed >> i & 3) != 0) {
            record[n++] = truth[time][i];
            record[n++] = i + 1 < WORDS ? truth[time][i + 1] : 0;
            changed |= UINT64_C(3) << i;
        }
    }
    record[0] =
        mkperf_record_header(MKPERF_RECORD_WORDS, 8 * n, 0, all ? MKPERF_WORDS_ALL : 0, 0, core);
    record[MKPERF_WORD_TIME] = time;
    record[MKPERF_WORDS_SET] = changed & ((UINT64_C(1) << WORDS) - 1);
    add_record(record, n);
}

/*
 * Two queues, in three words, on two cores, among scheduling events, with losses of records and of
 * messages and with new epochs: each reading that arrives is right, and after an epoch and a reading of
 * all words they arrive again.
 */
static void readings(void **state)
{
    static struct mkperf_image image;
    uint64_t last[2][WORDS] = {{0}};
    uint64_t word[MKPERF_MAX_WORDS];
    struct mkperf_image_place place[MKPERF_STAMP_QUEUES][2];
    struct mkperf_error e;

    (void)state;
    srand(26);
    image.nqueues = 2;
    image.queue[0] = (struct mkperf_image_queue){
        .name = "a", .producer = -1, .consumer = -1, .bits = 32, .head = 0x1004, .tail = 0x1040};
    image.queue[1] = (struct mkperf_image_queue){
        .name = "b", .producer = -1, .consumer = -1, .bits = 16, .head = 0x2002, .tail = 0x2000};
    assert_int_equal(mkperf_image_words(&image, word, place), WORDS);
    assert_int_equal(word[0] >> MKPERF_WORD_BYTES_SHIFT, 0xf0);
    assert_int_equal(word[2], 0x2000 | UINT64_C(0x0f) << MKPERF_WORD_BYTES_SHIFT);
    assert_int_equal(mkperf_pds_settle(seen->wire.pds, &image, NULL, &e), MKPERF_OK);
    mkperf_sched_encoder_begin(&encoder, 1, HZ);
    for (uint64_t time = 1; time < TICKS; time++) {
        unsigned core = (unsigned)rand() % 2;
        bool all = rand() % 50 == 0;
        uint64_t changed = 0;
        memcpy(truth[time], truth[time - 1], sizeof truth[time]);
        unsigned which = (unsigned)rand() % WORDS;
        truth[time][which] += rand() % 20 == 0 ? (uint64_t)rand() << 40
                              : which == 0     ? UINT64_C(1) << 32
                              : which == 2     ? 0x10001
                                               : 1;
        truth[time][0] &= UINT64_C(0xffffffff00000000);
        truth[time][1] &= UINT32_MAX;
        truth[time][2] &= UINT32_MAX;
        for (unsigned i = 0; i < WORDS; i++) {
            changed |= (uint64_t)(last[core][i] != truth[time][i]) << i;
        }
        if (rand() % 100 == 0) { /* The reading is lost on its way to the client. */
            const uint64_t lost[] = {
                mkperf_record_header(MKPERF_RECORD_SCHED_LOSS, 24, 0, 0, 0, core), time, 1};
            add_record(lost, 3);
            memcpy(last[core], truth[time], sizeof last[core]);
            continue;
        }
        if (changed != 0 || all) {
            add_words(core, time, changed, all);
            memcpy(last[core], truth[time], sizeof last[core]);
        }
        const uint64_t event[] = {
            (mkperf_sched_header(MKPERF_SCHED_SWITCH, MKPERF_STOPPED_PREEMPTED, 0) + (8 << 16)) |
                (uint64_t)core << 56,
            time, 7};
        add_record(event, 3);
        if (rand() % 300 == 0) {
            send_words(false);
            mkperf_sched_encoder_new_epoch(&encoder);
        }
    }
    send_words(false);
    assert_true(seen->readings[0] > TICKS / 8);
    assert_true(seen->readings[1] > TICKS / 8);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(whole, begin, end),
        cmocka_unit_test_setup_teardown(gaps, begin, end),
        cmocka_unit_test_setup_teardown(exits, begin, end),
        cmocka_unit_test_setup_teardown(cores_are_apart, begin, end),
        cmocka_unit_test_setup_teardown(nonsense, begin, end),
        cmocka_unit_test_setup_teardown(lost_at_the_end, begin, end),
        cmocka_unit_test_setup_teardown(two_sessions, begin, end),
        cmocka_unit_test_prestate_setup_teardown(readings, begin, end, &words),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
