/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * A target that is hostile to a recording: the whole conversation of `mkperf record` and `mkperf
 * dump`, from the hello to Stop and over broken connections, with answers that are right, wrong,
 * late, repeated or something else. Time is simulated: it passes when the recorder waits. The first
 * byte chooses the options of the command.
 *
 * Owns: the input's meaning, the target's end of the connection, the clock. Aborts if the recorder
 * waits for ever, if a sample names a PD or an event that does not exist, or if its own count of
 * samples is not the sink's.
 */
#include <poll.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

#include <mkperf/frame.h>
#include <mkperf/session.h>
#include <pb_encode.h>

#include "fuzz/target_messages.h"
#include "link/recorder.h"
#include "system/system.h"

enum { NO_FD = 1000, /* none is open */ LONGEST_S = 5000 };

/* The first byte. */
enum {
    FROM_FILE = 1,
    WATCH = 2,
    TAKE_OVER = 4,
    NAMES = 8, /* asks for the image's list of programs */
    TIMER = 16,
    INTERACTIONS = 32,
    DUMP = 64,
    WAIT = 128,
};

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static struct mkperf_recorder recorder;
static volatile int stop;
static double now_s;
static uint16_t sequence;
static uint64_t samples;
static uint32_t parts;                    /* parts of an answer that were sent so far */
static uint8_t stamp[MKPERF_STAMP_BYTES]; /* a valid list of programs */
static size_t stamp_size;
static FILE *null;

/* ---- time ---- */

static void pass(double seconds)
{
    now_s += seconds;
    if (now_s > LONGEST_S) {
        abort(); /* no duration, patience or retry is as long as that */
    }
}

/* Replaces the C library's function. */
int simulated_clock(clockid_t clock, struct timespec *t) __asm__("clock_gettime");
int simulated_usleep(useconds_t us) __asm__("usleep");
int simulated_poll(struct pollfd *fds, nfds_t n, int timeout_ms) __asm__("poll");

int simulated_clock(clockid_t clock, struct timespec *t)
{
    if (clock != CLOCK_MONOTONIC) {
        return (int)syscall(SYS_clock_gettime, clock, t);
    }
    *t = (struct timespec){.tv_sec = (time_t)now_s,
                           .tv_nsec = (long)((now_s - (double)(time_t)now_s) * 1e9)};
    return 0;
}

int simulated_usleep(useconds_t us)
{
    pass(us / 1e6);
    return 0;
}

int simulated_poll(struct pollfd *fds, nfds_t n, int timeout_ms)
{
    if (n != 0 && fds[0].fd == NO_FD && input.size != 0) {
        pass(1e-3);
        return 1;
    }
    if (timeout_ms < 0) {
        return 1; /* it waits for ever; what is there is the end */
    }
    pass((timeout_ms > 0 ? timeout_ms : 1) / 1e3);
    return 0;
}

/* ---- the target's end ---- */

static void fill_hello(mkperf_TargetHello *h, bool right)
{
    struct mkperf_peer *l = &recorder.link;

    h->protocol = right ? MKPERF_PROTOCOL : byte();
    h->boot_id = 1 + byte() / 128;
    h->cores = byte() % 9;
    strcpy(h->cpu, "Cortex-A53");
    h->stamp_bytes = recorder.stream->config.asks ? (uint32_t)stamp_size : 0;
    h->image.size = byte() % 17;
    if (l->has_key != (byte() == 255)) {
        h->authentication = mkperf_Authentication_AUTHENTICATION_KEY;
        h->nonce.size = MKPERF_NONCE_BYTES;
        h->proof.size = MKPERF_PROOF_BYTES;
        memcpy(l->hellos.target_nonce, h->nonce.bytes, MKPERF_NONCE_BYTES);
        l->hellos.boot_id = h->boot_id;
        mkperf_auth_proof(l->key.bytes, MKPERF_ROLE_TARGET, &l->hellos, h->proof.bytes);
        h->proof.bytes[0] ^= !right;
    }
}

static void fill_session(mkperf_Session *s)
{
    unsigned flags = byte();

    s->id = flags & 3;
    s->running = flags & 4;
    s->overwrite = flags & 8;
    s->source = flags & 16 ? mkperf_SampleSource_SOURCE_TIMER : mkperf_SampleSource_SOURCE_HOOK;
    s->events_count = byte() % 5;
    for (unsigned i = 0; i < s->events_count; i++) {
        s->events[i].name[0] = (char)('a' + byte() % 26);
        s->events[i].user_counter = byte() % 8;
        s->events[i].kernel_counter = byte() % 8;
        s->events[i].period = byte();
        s->events[i].read = i != 0 && flags & 32;
        s->events[i].group = flags >> 6;
    }
}

static void fill_status(mkperf_Status *s)
{
    unsigned flags = byte();

    s->session = flags & 3;
    s->running = flags & 4;
    s->tick_hz = flags & 8 ? 1000000 : byte();
    s->captured = byte();
    s->sent = byte();
    s->lost_ring = byte();
    s->lost_link = flags & 16 ? UINT64_MAX : byte();
    s->flight = (mkperf_FlightState)(flags >> 5 & 3);
    s->has_attribution = s->captured % 2;
    s->attribution.right = s->sent;
    s->attribution.unread = s->lost_ring;
}

/* Makes the next part of the list of programs, or another one. */
static void fill_stamp(mkperf_Stamp *s)
{
    unsigned flags = byte();
    const struct mkperf_stream *stream = recorder.stream;

    s->size = flags & 1 ? byte() : (uint32_t)stamp_size;
    s->offset = flags & 2 ? byte() : stream->names.have;
    s->table.size = flags & 4 ? byte() : (pb_size_t)(stamp_size / 2 + 1);
    if (s->offset <= stamp_size && s->table.size > stamp_size - s->offset) {
        s->table.size = (pb_size_t)(stamp_size - s->offset);
    }
    memcpy(s->table.bytes, stamp + (s->offset < stamp_size ? s->offset : 0), s->table.size);
}

static void fill_interactions(mkperf_Interactions *i)
{
    i->session = byte() & 3;
    i->part = byte() & 3;
    i->parts = byte() & 3;
    i->tick_hz = 1000000;
    i->total_count = byte() % 5;
    i->edges_count = byte() % (MKPERF_ROOM(mkperf_Interactions, edges) + 1);
    for (unsigned k = 0; k < i->edges_count; k++) {
        i->edges[k] = (mkperf_Edge){.from = byte(), .to = byte(), .calls = byte()};
    }
    i->threads_count = byte() % (MKPERF_ROOM(mkperf_Interactions, threads) + 1);
    for (unsigned k = 0; k < i->threads_count; k++) {
        i->threads[k].thread = byte();
        i->threads[k].count_count = byte() % 5;
    }
}

/* Messages that only some recordings wait for. */
static void make_other(mkperf_ToHost *m, unsigned kind)
{
    switch (kind % 4) {
    case 0:
        m->which_msg = mkperf_ToHost_stamp_tag;
        fill_stamp(&m->msg.stamp);
        break;
    case 1:
        m->which_msg = mkperf_ToHost_interactions_tag;
        fill_interactions(&m->msg.interactions);
        break;
    case 2:
        m->which_msg = mkperf_ToHost_observer_tag;
        snprintf(m->msg.observer.pd, sizeof m->msg.observer.pd, "%s",
                 byte() & 1 ? "nobody" : "profiler");
        break;
    default:
        m->which_msg = mkperf_ToHost_gap_tag;
        m->msg.gap.samples = byte();
    }
}

/* Makes one message. Returns its length. */
static size_t make_message(uint8_t *message)
{
    static const pb_size_t tags[] = {mkperf_ToHost_hello_tag,  mkperf_ToHost_ack_tag,
                                     mkperf_ToHost_error_tag,  mkperf_ToHost_session_tag,
                                     mkperf_ToHost_status_tag, mkperf_ToHost_role_tag};
    static mkperf_ToHost m;
    unsigned kind = byte();
    pb_ostream_t out = pb_ostream_from_buffer(message, MKPERF_CONTENT_BYTES);

    if (kind & 128) { /* as the target makes it */
        bool answers = kind % TARGET_KINDS >= TARGET_INTERACTIONS;
        uint32_t request = answers || kind & 64 ? recorder.link.request : 0;
        return target_message(message, kind, request, answers ? parts++ : 0);
    }
    if (kind % 8 >= 6) { /* what stands in the input, as a whole message or as a batch's content */
        unsigned n = byte();
        size_t head = kind % 8 == 6 ? 0 : 3;
        n = (unsigned)copy_bytes(message + head, n);
        if (head != 0) {
            message[0] = mkperf_ToHost_batch_tag << 3 | 2;
            message[1] = (uint8_t)(n | 0x80);
            message[2] = (uint8_t)(n >> 7);
        }
        return head + n;
    }
    m = (mkperf_ToHost)mkperf_ToHost_init_zero;
    m.which_msg = kind & 8 ? 0 : tags[kind % 8];
    m.request = kind & 64 ? byte() : kind & 32 ? 0 : recorder.link.request;
    if (kind & 8) {
        make_other(&m, kind);
    }
    switch (m.which_msg) {
    case mkperf_ToHost_hello_tag:
        fill_hello(&m.msg.hello, !(kind & 16));
        break;
    case mkperf_ToHost_error_tag:
        m.msg.error.code = (mkperf_ErrorCode)(byte() % 32);
        m.msg.error.event = byte() % 4;
        m.msg.error.text[0] = (char)byte();
        break;
    case mkperf_ToHost_session_tag:
        fill_session(&m.msg.session);
        break;
    case mkperf_ToHost_status_tag:
        fill_status(&m.msg.status);
        break;
    case mkperf_ToHost_role_tag:
        m.msg.role.control = byte() & 1;
        m.msg.role.controlled = byte() & 1;
        snprintf(m.msg.role.controller, sizeof m.msg.role.controller, "%s",
                 byte() & 1 ? recorder.link.name : "h");
        break;
    default:
        break;
    }
    return pb_encode(&out, mkperf_ToHost_fields, &m) ? out.bytes_written : 0;
}

static size_t make_frame(uint8_t *frame)
{
    struct mkperf_peer *l = &recorder.link;
    uint8_t message[MKPERF_MESSAGE_BYTES];
    unsigned how = byte();
    size_t n = make_message(message);

    sequence = (uint16_t)(sequence + (how & 1 ? byte() : 1));
    if ((l->state == MKPERF_PEER_PROVING || l->state == MKPERF_PEER_SEALED) && !(how & 2)) {
        n = mkperf_auth_mac(l->mac_in, mkperf_auth_number(l->number_in, sequence), message, n);
    }
    return mkperf_frame_encode(frame, sequence, message, n);
}

static enum mkperf_status no_more(const struct mkperf_source *s, struct mkperf_error *e)
{
    return mkperf_error_set(e, MKPERF_ERR_LINK, "%s: closed", s->spec);
}

static enum mkperf_status fuzz_open(struct mkperf_source *s, const char *where,
                                    struct mkperf_error *e)
{
    (void)where;
    stop |= input.size == 0;
    if (byte() % 8 == 7) {
        return no_more(s, e);
    }
    s->fd = NO_FD;
    sequence = byte();
    return MKPERF_OK;
}

static enum mkperf_status fuzz_read(struct mkperf_source *s, void *p, size_t n, size_t *got,
                                    struct mkperf_error *e)
{
    uint8_t frame[MKPERF_FRAME_BYTES];

    *got = 0;
    switch (byte() % 8) {
    case 0:
        return no_more(s, e);
    case 1:
        *got = copy_bytes(p, byte());
        break;
    case 2:
        pass(byte() / 16.0);
        break;
    default:
        *got = make_frame(frame);
        if (*got > n) {
            abort();
        }
        memcpy(p, frame, *got);
    }
    stop |= input.size == 0; /* as ^C: what was begun is brought to an end */
    return MKPERF_OK;
}

static enum mkperf_status fuzz_write(struct mkperf_source *s, const void *p, size_t n,
                                     struct mkperf_error *e)
{
    (void)p, (void)n;
    return byte() == 255 ? no_more(s, e) : MKPERF_OK;
}

/* ---- the recording's end ---- */

static enum mkperf_status count_samples(void *self, const struct mkperf_item *item,
                                        struct mkperf_error *e)
{
    const struct mkperf_sample *s = item->sample;

    (void)self, (void)e;
    if (item->kind == MKPERF_ITEM_SAMPLE) {
        samples += mkperf_sample_count(s);
        if (s->event >= recorder.stream->session.nevents || s->pd >= MKPERF_MAX_PDS) {
            abort();
        }
    }
    return MKPERF_OK;
}

static void on_line(void *self, const char *line)
{
    (void)self, (void)line;
}

static void on_notice(void *self, const char *text)
{
    (void)self;
    if (strlen(text) > 2000) {
        abort();
    }
}

static void on_progress(void *self)
{
    (void)self;
}

static void converse(struct mkperf_recorder *r, bool dump, struct mkperf_error *e)
{
    if (dump) {
        (void)mkperf_recorder_dump(r, e);
        return;
    }
    if (mkperf_recorder_start(r, e) == MKPERF_OK && mkperf_recorder_run(r, e) == MKPERF_OK &&
        mkperf_recorder_stop(r, e) == MKPERF_OK && r->options.configure.interactions) {
        (void)mkperf_recorder_snapshot(r, MKPERF_TARGET_INTERACTIONS, NULL, e);
    }
}

/* Asks what `mkperf latency -t` asks, and puts it into rows. */
static void latencies(struct mkperf_recorder *r, struct mkperf_error *e)
{
    struct mkperf_latency_rows rows = {.n = 0};

    r->own = true;
    r->options.configure.latency = true;
    if (mkperf_recorder_connect(r, e) == MKPERF_OK && mkperf_recorder_begin(r, e) == MKPERF_OK) {
        (void)mkperf_latency_query(r, &rows, e);
        parts = 0;
        (void)mkperf_latency_query(r, &rows, e);
    }
    mkperf_latency_rows_free(&rows);
}

static void record(const struct mkperf_source_ops *ops, mkperf_Configure *configure, bool dump)
{
    struct mkperf_recorder *r = &recorder;
    struct mkperf_error e = {.status = MKPERF_OK};

    r->link.source.ops = ops;
    unsigned how = byte();
    r->link.has_key = how & 1;
    configure->sched = how & 2;
    configure->cores = how & 4 ? 2 : 0;
    if (how & 16) { /* without a system, or with one that is not the image's */
        snprintf(configure->events[0].name, sizeof configure->events[0].name, "timer");
    }
    recorder.options.system = how & 32 ? "other.system" : NULL;
    if (how & 8) {
        (void)mkperf_recorder_replay(r, &e);
    } else if (how & 64) {
        latencies(r, &e);
    } else {
        converse(r, dump, &e);
    }
    mkperf_observe_summary(r->stream, null);
    if (mkperf_stream_finish(r->stream, &e) == MKPERF_OK && r->stream->totals.samples != samples) {
        abort();
    }
}

int LLVMFuzzerInitialize(int *argc, char ***argv);

int LLVMFuzzerInitialize(int *argc, char ***argv)
{
    static struct mkperf_image image = {.n = 2,
                                        .program = {{.thread = 0x1000, .parent = -1, .name = "a"},
                                                    {.thread = 0x2000, .parent = 0, .name = "b"}}};

    (void)argc, (void)argv;
    stamp_size = mkperf_image_write(&image, stamp);
    null = fopen("/dev/null", "w");
    return null != NULL ? 0 : -1;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct mkperf_source_ops ops = {.scheme = "tcp",
                                    .interactive = true,
                                    .open = fuzz_open,
                                    .read = fuzz_read,
                                    .write = fuzz_write};
    struct mkperf_error e;

    recorder = (struct mkperf_recorder){
        .options = {.link = {.target = "tcp:nowhere", .timeout_s = 2, .reconnect_s = 5},
                    .duration_s = 1},
        .text = {.print = on_line},
        .notice = on_notice,
        .progress = on_progress,
        .stop = &stop};
    struct mkperf_record_options *options = &recorder.options;

    input.data = data;
    input.size = size;
    now_s = 1;
    stop = 0;
    samples = 0;
    parts = 0;
    target_begin();
    unsigned flags = byte();
    ops.network = !(flags & FROM_FILE);
    options->link.watch = flags & WATCH;
    options->link.take_over = flags & TAKE_OVER;
    options->wait = flags & WAIT;
    options->configure.interactions = flags & INTERACTIONS;
    options->configure.events_count = 1;
    snprintf(options->configure.events[0].name, sizeof options->configure.events[0].name, "%s",
             flags & TIMER ? "timer" : "cycles");
    if (flags & TIMER) { /* a system whose profiler PD can observe others */
        options->system = "tests/fuzz/corpus/fuzz_system/observed.system";
        options->elf_path = "tests/fuzz/corpus/fuzz_elf";
    }
    if (mkperf_recorder_init(&recorder, !(flags & TIMER), &e) == MKPERF_OK) {
        struct mkperf_stream_config config = {
            .sink = {.take = count_samples}, .pds = recorder.pds, .asks = flags & NAMES};
        recorder.stream = mkperf_stream_new(&config);
        record(&ops, &options->configure, flags & DUMP);
    }
    mkperf_recorder_free(&recorder);
    return 0;
}
