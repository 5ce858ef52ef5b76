/* SPDX-License-Identifier: BSD-2-Clause */
/* The receiver and the stream decoder: frames among text and noise, and exact counts of losses. */
#include "link/recorder.h"
#include "wire_host.h"

enum { KEEP = 4096 };

struct seen {
    struct wire_host wire;
    unsigned begins, pds_told, samples, flushes;
    struct mkperf_sample sample[KEEP];
    unsigned callers[KEEP];
    uint64_t caller[KEEP][3];
    uint64_t lost[MKPERF_LOST_PLACES];
};

static void keep_sample(struct seen *seen, const struct mkperf_sample *s)
{
    unsigned i = seen->samples++;

    assert_true(s->pd < seen->pds_told);
    assert_true(i < KEEP);
    seen->sample[i] = *s;
    seen->callers[i] = s->callers->n;
    for (unsigned k = 0; k < s->callers->n && k < 3; k++) {
        seen->caller[i][k] = s->callers->caller[k].addr;
    }
}

static enum mkperf_status keep_items(void *self, const struct mkperf_item *item,
                                     struct mkperf_error *e)
{
    struct seen *seen = self;

    (void)e;
    switch (item->kind) {
    case MKPERF_ITEM_BEGIN:
        seen->begins++;
        break;
    case MKPERF_ITEM_PD:
        assert_int_equal(item->pd->id, seen->pds_told++);
        break;
    case MKPERF_ITEM_SAMPLE:
        keep_sample(seen, item->sample);
        break;
    case MKPERF_ITEM_LOST:
        seen->lost[item->lost->where] += item->lost->samples;
        break;
    default:
        break;
    }
    return MKPERF_OK;
}

/* asks: names are settled when the test requests it. */
static struct seen *begin_asking(bool asks)
{
    const struct mkperf_pds_config pds = {.later = asks};
    struct seen *seen = calloc(1, sizeof *seen);

    assert_non_null(seen);
    wire_host_begin(&seen->wire,
                    (struct mkperf_sink){.take = keep_items, .splits = true, .self = seen}, &pds,
                    asks);
    return seen;
}

static struct seen *begin(void)
{
    return begin_asking(false);
}

static void end(struct seen *seen, struct fake *f)
{
    wire_host_end(&seen->wire);
    free(seen);
    free(f);
}

static enum mkperf_status push(struct seen *seen, struct fake *f, size_t piece,
                               struct mkperf_error *e)
{
    return wire_host_push(&seen->wire, f, piece, e);
}

static struct fake *started(void)
{
    struct fake *f = wire_host_fake();

    fake_hello(f, 1, 77, MKPERF_PROTOCOL);
    fake_session(f, 2, 1, false);
    fake_session(f, 3, 1, true);
    return f;
}

static void send_batch(struct fake *f, uint64_t first, unsigned n, bool with_chain)
{
    struct fake_batch b;

    fake_batch_init(&b, first, n, 1000000 + first * 1000);
    if (with_chain) {
        fake_chain(&b, 0, 0, 3, 0x200000);
    }
    fake_batch(f, &b);
}

static void whole_session(void **state)
{
    struct seen *seen = begin();
    struct fake *f = started();
    struct mkperf_error e;

    (void)state;
    fake_text(f, "hello from the console\n");
    send_batch(f, 0, 100, true);
    fake_text(f, "and again\n");
    send_batch(f, 100, 100, false);
    fake_status(f, 4, 1, false, 200, 0);
    assert_int_equal(push(seen, f, 7, &e), MKPERF_OK);
    assert_int_equal(mkperf_stream_finish(seen->wire.stream, &e), MKPERF_OK);
    assert_string_equal(seen->wire.text, "hello from the console\nand again\n");
    assert_int_equal(seen->samples, 200);
    assert_int_equal(seen->begins, 1);
    assert_true(seen->wire.stream->totals.complete);
    assert_int_equal(seen->wire.stream->totals.samples, 200);
    assert_int_equal(seen->wire.stream->totals.late_events, 5);
    assert_int_equal(seen->wire.stream->totals.spurious, 6);
    assert_int_equal(seen->wire.stream->totals.disturbed, 7);
    assert_int_equal(seen->wire.stream->totals.storms, 1);
    assert_int_equal(seen->wire.stream->totals.snapshots_us, 7);
    assert_int_equal(seen->wire.stream->totals.unread, 8);
    assert_int_equal(seen->wire.receiver.noise, 0);
    assert_int_equal(seen->wire.stream->totals.unrepaired, 200); /* the PD has no ELF */
    assert_int_equal(seen->sample[150].time_ns, (1000000 + 150000) * UINT64_C(16));
    assert_int_equal(seen->sample[150].pc, 0x200000);
    assert_int_equal(seen->sample[150].period, FAKE_PERIOD);
    assert_int_equal(seen->callers[150], 2);
    assert_int_equal(seen->caller[150][0], 0x200200);
    assert_int_equal(seen->caller[150][1], 0x200210);
    end(seen, f);
}

static void lost_frame(void **state)
{
    struct seen *seen = begin();
    struct fake *f = started();
    struct mkperf_error e;

    (void)state;
    send_batch(f, 0, 10, true);
    f->lose = true;
    send_batch(f, 10, 17, false);
    f->lose = false;
    send_batch(f, 27, 10, false); /* refers to a chain that may be another one by now */
    send_batch(f, 37, 5, true);
    f->lose = true;
    send_batch(f, 42, 3, false);
    f->lose = false;
    fake_status(f, 4, 1, false, 45, 9);
    assert_int_equal(push(seen, f, 4096, &e), MKPERF_OK);
    assert_true(seen->wire.stream->damaged);
    assert_int_equal(mkperf_stream_finish(seen->wire.stream, &e), MKPERF_OK);
    assert_int_equal(seen->samples, 15);
    assert_int_equal(seen->lost[MKPERF_LOST_TRANSIT], 20);
    assert_int_equal(seen->lost[MKPERF_LOST_CHAIN], 10);
    assert_int_equal(seen->lost[MKPERF_LOST_RING], 9); /* known only from the status */
    assert_int_equal(seen->wire.stream->gaps, 2);
    assert_true(seen->wire.stream->totals.complete);
    end(seen, f);
}

static void damaged_frame(void **state)
{
    struct seen *seen = begin();
    struct fake *f = started();
    struct mkperf_error e;

    (void)state;
    size_t from = f->n;
    send_batch(f, 0, 10, true);
    f->bytes[from + 20] ^= 1; /* never makes a zero of these bytes */
    send_batch(f, 10, 10, true);
    assert_int_equal(push(seen, f, 4096, &e), MKPERF_OK);
    assert_int_equal(seen->samples, 10);
    assert_int_equal(seen->lost[MKPERF_LOST_TRANSIT], 10);
    assert_int_equal(seen->wire.receiver.noise, 1);
    end(seen, f);
}

static void late_join(void **state)
{
    struct seen *seen = begin();
    struct fake *f = started();
    struct fake_batch b;
    struct mkperf_error e;

    (void)state;
    send_batch(f, 0, 10, true);
    f->n = 20; /* the middle of a frame is where we come in */
    memmove(f->bytes, f->bytes + 5, f->n -= 5);
    send_batch(f, 10, 10, false);
    fake_hello(f, 0, 77, MKPERF_PROTOCOL);
    fake_session(f, 0, 1, true);
    send_batch(f, 20, 10, false);
    fake_batch_init(&b, 30, 10, 2000000);
    b.batch.epoch = 2;
    fake_chain(&b, 0, 0, 3, 0x200000);
    fake_batch(f, &b);
    assert_int_equal(push(seen, f, 100, &e), MKPERF_OK);
    assert_false(seen->wire.stream->damaged);
    assert_int_equal(mkperf_stream_finish(seen->wire.stream, &e), MKPERF_OK);
    assert_int_equal(seen->samples, 10);
    assert_int_equal(seen->wire.stream->skipped, 20);
    assert_int_equal(seen->wire.stream->totals.lost[MKPERF_LOST_CHAIN], 20);
    assert_int_equal(seen->wire.stream->totals.lost[MKPERF_LOST_TRANSIT], 0);
    assert_false(seen->wire.stream->totals.complete);
    end(seen, f);
}

/* A watcher joins at the very start of a session, and asks for the names of programs: the first
 * batches, with the chains, pass by. It joins with the next epoch, and nothing is lost. */
static void join_at_start(void **state)
{
    struct seen *seen = begin_asking(true);
    struct fake *f = wire_host_fake();
    struct fake_batch b;
    struct mkperf_error e;

    (void)state;
    fake_hello(f, 1, 77, MKPERF_PROTOCOL);
    fake_session(f, 0, 1, true);
    send_batch(f, 0, 10, true);
    assert_int_equal(push(seen, f, 100, &e), MKPERF_OK);
    assert_int_equal(mkperf_stream_settle(seen->wire.stream, &e), MKPERF_OK);
    assert_false(mkperf_stream_needs_reset(seen->wire.stream));
    send_batch(f, 10, 10, false);
    assert_int_equal(push(seen, f, 100, &e), MKPERF_OK);
    assert_true(mkperf_stream_needs_reset(seen->wire.stream));
    fake_hello(f, 0, 77, MKPERF_PROTOCOL);
    fake_session(f, 0, 1, true);
    fake_batch_init(&b, 20, 10, 2000000);
    b.batch.epoch = 2;
    fake_chain(&b, 0, 0, 3, 0x200000);
    fake_batch(f, &b);
    assert_int_equal(push(seen, f, 100, &e), MKPERF_OK);
    assert_false(mkperf_stream_needs_reset(seen->wire.stream));
    assert_int_equal(mkperf_stream_finish(seen->wire.stream, &e), MKPERF_OK);
    assert_int_equal(seen->samples, 10);
    assert_int_equal(seen->wire.stream->skipped, 20);
    for (unsigned i = 0; i < MKPERF_LOST_PLACES; i++) {
        assert_int_equal(seen->wire.stream->totals.lost[i], 0);
    }
    end(seen, f);
}

/* The target returns with another boot id: its session and its clock restart. */
static void reboot(void **state)
{
    struct seen *seen = begin();
    struct fake *f = started();
    struct mkperf_error e;

    (void)state;
    send_batch(f, 0, 10, true);
    fake_status(f, 0, 1, true, 15, 0); /* five are on their way, which will not come */
    assert_int_equal(push(seen, f, 4096, &e), MKPERF_OK);
    uint64_t before = seen->wire.stream->totals.last_ns;
    mkperf_receiver_restart(&seen->wire.receiver);
    f->sequence = 0;
    fake_hello(f, 1, 78, MKPERF_PROTOCOL);
    fake_session(f, 2, 1, true);
    send_batch(f, 0, 10, true);
    fake_status(f, 3, 1, false, 10, 0);
    seen->wire.stream->clock.pause_ns = 5000;
    assert_int_equal(push(seen, f, 4096, &e), MKPERF_OK);
    assert_int_equal(seen->samples, 20);
    assert_int_equal(seen->wire.stream->core_ns[0] - before, 5000 + 9 * 16000);
    assert_int_equal(mkperf_stream_finish(seen->wire.stream, &e), MKPERF_OK);
    assert_int_equal(seen->wire.stream->totals.lost[MKPERF_LOST_TRANSIT], 5);
    assert_int_equal(seen->wire.stream->totals.restarts, 1);
    assert_false(seen->wire.stream->totals.complete);
    end(seen, f);
}

static void other_protocol(void **state)
{
    struct seen *seen = begin();
    struct fake *f = wire_host_fake();
    struct mkperf_error e;

    (void)state;
    fake_hello(f, 1, 77, MKPERF_PROTOCOL + 1);
    assert_int_equal(push(seen, f, 4096, &e), MKPERF_ERR_PROTOCOL);
    assert_int_equal(mkperf_stream_finish(seen->wire.stream, &e), MKPERF_ERR_INPUT);
    end(seen, f);
}

static void send_window(struct fake *f, uint64_t first, uint32_t slot, const uint32_t *count,
                        unsigned n)
{
    mkperf_ToHost m = {.which_msg = mkperf_ToHost_batch_tag};
    mkperf_Batch *b = &m.msg.batch;

    *b = (mkperf_Batch){.session = 1,
                        .epoch = 1,
                        .first_sample = first,
                        .tick_hz = FAKE_HZ,
                        .time_ticks = 1000000,
                        .until_ticks = 2000000,
                        .base_period_count = 1,
                        .base_period = {FAKE_PERIOD},
                        .slot_count = 1,
                        .slot = {slot},
                        .pc_count = (pb_size_t)n,
                        .count_count = (pb_size_t)n,
                        .period_count = (pb_size_t)n};
    for (unsigned i = 0; i < n; i++) {
        b->pc[i] = 4 * i + (i == 0);
        b->count[i] = count[i] - 1;
        b->period[i] = 5;
    }
    fake_send(f, &m);
}

/* Windows of samples: rows have a count and a sum, and each loss is that of all samples in the row. */
static void rows_of_windows(void **state)
{
    static const uint32_t many[] = {1, 1000, UINT32_MAX};
    struct seen *seen = begin();
    struct fake *f = started();
    struct mkperf_error e;

    (void)state;
    send_batch(f, 0, 1, true);
    send_window(f, 1, 0, many, 2);
    send_window(f, 1002, 9, many, 3); /* a row with an unknown chain */
    f->lose = true;
    send_window(f, UINT64_C(4294969298), 0, many, 2);
    f->lose = false;
    fake_status(f, 4, 1, false, UINT64_C(4294970299), 0);
    assert_int_equal(push(seen, f, 4096, &e), MKPERF_OK);
    assert_int_equal(mkperf_stream_finish(seen->wire.stream, &e), MKPERF_OK);
    assert_int_equal(seen->samples, 3);
    assert_int_equal(seen->wire.stream->totals.samples, 1002);
    assert_int_equal(mkperf_sample_count(&seen->sample[2]), 1000);
    assert_int_equal(seen->sample[2].period, 1000 * FAKE_PERIOD + 5);
    assert_int_equal(seen->sample[2].pc, 0x200004);
    assert_int_equal(seen->sample[2].time_ns, 32000000);
    assert_int_equal(seen->wire.stream->window_ns, 16000000);
    assert_int_equal(seen->lost[MKPERF_LOST_CHAIN], UINT64_C(4294968296));
    assert_int_equal(seen->lost[MKPERF_LOST_TRANSIT], 1001);
    assert_true(seen->wire.stream->totals.complete);
    end(seen, f);
}

/* Adds the bytes behind a mark in docs/protocol.md. */
static void add_example(struct fake *f, const char *mark)
{
    FILE *page = fopen("docs/protocol.md", "r");
    char line[1024];
    bool found = false;

    assert_non_null(page);
    while (fgets(line, sizeof line, page) != NULL) {
        if (found && line[0] != ' ' && line[0] != '\n') {
            break;
        }
        for (char *at = line, *end; found; at = end) {
            unsigned long byte = strtoul(at, &end, 16);

            if (end == at) {
                break;
            }
            f->bytes[f->n++] = (uint8_t)byte;
        }
        found = found || strcmp(line, mark) == 0;
    }
    fclose(page);
}

/* The examples of docs/protocol.md, "Batches". */
static void documented_examples(void **state)
{
    struct seen *seen = begin();
    struct fake *f = started();
    struct mkperf_error e;

    (void)state;
    add_example(f, "<!-- batch -->\n");
    add_example(f, "<!-- window -->\n");
    assert_int_equal(push(seen, f, 4096, &e), MKPERF_OK);
    assert_int_equal(seen->samples, 3);
    assert_int_equal(seen->sample[0].pc, 0x200000 - 4);
    assert_int_equal(seen->sample[0].time_ns, 16000000);
    assert_int_equal(seen->sample[0].period, 101234);
    assert_int_equal(seen->sample[1].pc, 0x200000 + 4);
    assert_int_equal(seen->sample[1].time_ns, 1007655 * 16);
    assert_int_equal(seen->sample[1].period, 122402);
    assert_int_equal(seen->sample[2].pc, 0x200000);
    assert_int_equal(seen->sample[2].time_ns, 32000000);
    assert_int_equal(seen->sample[2].period, 300300);
    assert_int_equal(mkperf_sample_count(&seen->sample[2]), 3);
    end(seen, f);
}

/* Batches that no target makes: what can be read of them is, and the rest is counted. */
static void wrong_columns(void **state)
{
    static const struct {
        unsigned others, slots, times, periods, changes, samples;
        uint64_t change[3], width, malformed;
    } wrong[] = {
        {2, 2, 3, 1, 0, 3, {0}, 0, 0},                         /* a valid batch */
        {2, 1, 3, 1, 0, 0, {0}, 0, 1},                         /* a slot is missing, */
        {1, 2, 3, 1, 0, 0, {0}, 0, 1},                         /* or too many, */
        {2, 2, 2, 1, 0, 0, {0}, 0, 1},                         /* a time */
        {2, 2, 3, 0, 0, 0, {0}, 0, 1},                         /* the first period */
        {2, 2, 3, 1, 1, 1, {1 << 2, 0, 0}, 0, 1},              /* half a change */
        {2, 2, 3, 1, 3, 1, {1 << 2 | 3, 0, 0}, 0, 1},          /* of an unknown kind */
        {2, 2, 3, 1, 2, 1, {1 << 2 | 1, 0, 0}, 0, 1},          /* without the width */
        {2, 2, 3, 1, 3, 1, {1 << 2 | 1, 0, 3 + 32 * 4}, 0, 1}, /* with an impossible one */
        {2, 2, 3, 1, 0, 0, {0}, 1 + 32 * 2, 1},
    };

    (void)state;
    for (unsigned i = 0; i < sizeof wrong / sizeof *wrong; i++) {
        static mkperf_ToHost m = {.which_msg = mkperf_ToHost_batch_tag};
        mkperf_Batch *batch = &m.msg.batch;
        struct seen *seen = begin();
        struct fake *f = started();
        struct fake_batch b;
        struct mkperf_error e;

        fake_batch_init(&b, 0, 0, 1000000);
        fake_chain(&b, 0, 0, 3, 0x200000);
        fake_chain(&b, 1, 0, 3, 0x300000);
        *batch = b.batch;
        batch->chains = (pb_callback_t){.funcs.encode = fake_put_chains, .arg = &b};
        batch->base_period_count = batch->width_count = batch->rate_count = 1;
        batch->base_period[0] = 1000;
        batch->width[0] = (uint32_t)wrong[i].width;
        batch->pc_count = 3;
        batch->pc[0] = 1;
        batch->pc[2] = wrong[i].others > 1;
        batch->time_count = (pb_size_t)wrong[i].times;
        batch->slot_count = (pb_size_t)wrong[i].slots;
        batch->period_count = (pb_size_t)wrong[i].periods;
        batch->change_count = (pb_size_t)wrong[i].changes;
        memcpy(batch->change, wrong[i].change, sizeof wrong[i].change);
        fake_send(f, &m);
        assert_int_equal(push(seen, f, 4096, &e), MKPERF_OK);
        assert_int_equal(seen->samples, wrong[i].samples);
        assert_int_equal(seen->wire.stream->malformed, wrong[i].malformed);
        end(seen, f);
    }
}

static void chain_in_the_middle(void **state)
{
    struct seen *seen = begin();
    struct fake *f = started();
    struct fake_batch b;
    struct mkperf_error e;

    (void)state;
    fake_batch_init(&b, 0, 10, 5000);
    fake_chain(&b, 0, 0, 3, 0x200000);
    fake_chain(&b, 1, 4, 4, 0x300000);
    fake_chain(&b, 0, 6, 3, 0x210000);
    b.sample[4].slot = b.sample[5].slot = 1;
    b.sample[7].away = -4;
    for (unsigned i = 3; i < 10; i++) {
        b.sample[i].time -= 2500; /* backwards */
    }
    b.sample[7].period = 1;
    b.chain[1].flags = MKPERF_SAMPLE_KERNEL;
    b.chain[1].kernel_pc = 0x8000001000;
    fake_batch(f, &b);
    assert_int_equal(push(seen, f, 4096, &e), MKPERF_OK);
    assert_int_equal(seen->samples, 10);
    assert_int_equal(seen->sample[3].pc, 0x200000);
    assert_int_equal(seen->sample[3].time_ns, seen->sample[2].time_ns);
    assert_int_equal(seen->sample[4].pc, 0x300000);
    assert_int_equal(seen->sample[4].kernel_pc, 0x8000001000);
    assert_int_not_equal(seen->sample[4].pd, seen->sample[3].pd);
    assert_int_equal(seen->sample[7].pc, 0x20fffc);
    assert_int_equal(seen->sample[7].period, 1);
    end(seen, f);
}

static void idle_and_markers(void **state)
{
    struct seen *seen = begin();
    struct fake *f = started();
    struct fake_batch b;
    struct mkperf_error e;

    (void)state;
    fake_batch_init(&b, 0, 2, 5000);
    fake_chain(&b, 0, 0, MKPERF_THREAD_IDLE, 0);
    b.chain[0].flags = MKPERF_SAMPLE_KERNEL | MKPERF_SAMPLE_NO_USER;
    b.chain[0].kernel_pc = UINT64_C(0xffff000000080000);
    b.chain[0].frames_count = 0;
    b.sample[0].away = 8;
    b.sample[1].slot = 1;
    fake_chain(&b, 1, 1, 3, 0x200000);
    b.chain[1].frames_count = 4; /* a return address, the marker, PD 9, a return address there */
    b.chain[1].frames[0] = 0x10;
    b.chain[1].frames[1] = (int64_t)(MKPERF_FRAME_PD - 0x200010);
    b.chain[1].frames[2] = (int64_t)(9 - MKPERF_FRAME_PD);
    b.chain[1].frames[3] = 0x400000 - 9;
    fake_batch(f, &b);
    assert_int_equal(push(seen, f, 4096, &e), MKPERF_OK);
    assert_int_equal(seen->samples, 2);
    assert_int_equal(seen->sample[0].pd, 0); /* without a system, idle is the first */
    assert_int_equal(seen->sample[0].kernel_pc, UINT64_C(0xffff000000080008));
    assert_int_equal(seen->sample[0].pc, 0);
    assert_int_equal(seen->callers[1], 2);
    assert_int_equal(seen->caller[1][0], 0x200010);
    assert_int_equal(seen->caller[1][1], 0x400000);
    assert_string_equal(seen->wire.pds->pd[2].name, "unknown-9");
    end(seen, f);
}

static void noise_and_malformed(void **state)
{
    struct seen *seen = begin();
    struct fake *f = started();
    struct mkperf_error e;
    static const uint8_t odd[] = {0x32, 0x05, 0x52, 0x7f, 1, 2, 3}; /* a batch cut in the middle */

    (void)state;
    fake_frame(f, odd, sizeof odd);
    for (unsigned i = 0; i < 5000; i++) {
        f->bytes[f->n++] = (uint8_t)(0x80 + i % 64);
    }
    f->bytes[f->n++] = 0;
    send_batch(f, 0, 10, true);
    assert_int_equal(push(seen, f, 333, &e), MKPERF_OK);
    assert_int_equal(seen->samples, 10);
    assert_int_equal(seen->wire.stream->malformed, 1);
    assert_int_equal(seen->wire.receiver.noise_bytes, 5000);
    end(seen, f);
}

static void text_without_end(void **state)
{
    struct seen *seen = begin();
    struct fake *f = wire_host_fake();
    struct mkperf_error e;

    (void)state;
    fake_text(f, "login: ");
    assert_int_equal(push(seen, f, 4096, &e), MKPERF_OK);
    assert_string_equal(seen->wire.text, "login: ");
    fake_text(f, "root\n");
    fake_hello(f, 1, 1, MKPERF_PROTOCOL);
    assert_int_equal(push(seen, f, 4096, &e), MKPERF_OK);
    assert_string_equal(seen->wire.text, "login: root\n");
    assert_int_equal(seen->wire.receiver.frames, 1);
    end(seen, f);
}

/* A program ends a flight recording: the reason has the name of its mark, which is the last one, unless marks are missing. */
static void name_of_the_last_mark(void **state)
{
    static struct mkperf_recorder r;
    struct mkperf_totals t = {.marks = 0};
    struct seen *seen = begin();
    struct fake *f = started();
    struct mkperf_error e;

    (void)state;
    for (unsigned i = 0; i < 2; i++) {
        mkperf_ToHost *m = fake_message(0, mkperf_ToHost_mark_tag);
        m->msg.mark = (mkperf_Mark){.session = 1, .tick_hz = FAKE_HZ, .thread = 3 + 2};
        strcpy(m->msg.mark.name, i == 0 ? "request" : "deadline\nmissed");
        fake_send(f, m);
    }
    mkperf_ToHost *m = fake_message(0, mkperf_ToHost_status_tag);
    m->msg.status = (mkperf_Status){.session = 1,
                                    .flight = mkperf_FlightState_FLIGHT_HELD,
                                    .trigger = mkperf_FlightTrigger_FLIGHT_MARK};
    fake_send(f, m);
    assert_int_equal(push(seen, f, 4096, &e), MKPERF_OK);
    r.stream = seen->wire.stream;
    mkperf_flight_reason(&r, &t);
    assert_string_equal(t.stopped, "by an application's mark \"deadline?missed\"");
    t.marks_lost = 1;
    mkperf_flight_reason(&r, &t);
    assert_string_equal(t.stopped, "by an application's mark");
    end(seen, f);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(whole_session),         cmocka_unit_test(lost_frame),
        cmocka_unit_test(damaged_frame),         cmocka_unit_test(late_join),
        cmocka_unit_test(join_at_start),         cmocka_unit_test(reboot),
        cmocka_unit_test(other_protocol),        cmocka_unit_test(idle_and_markers),
        cmocka_unit_test(chain_in_the_middle),   cmocka_unit_test(documented_examples),
        cmocka_unit_test(rows_of_windows),       cmocka_unit_test(wrong_columns),
        cmocka_unit_test(text_without_end),      cmocka_unit_test(noise_and_malformed),
        cmocka_unit_test(name_of_the_last_mark),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
