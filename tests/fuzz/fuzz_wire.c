/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Any bytes into the receiver and the stream decoder. The first byte chooses: raw bytes of a line,
 * or messages (each with a length of two bytes) that are framed here, so that the CRC does not keep
 * the fuzzer out, or a script of messages as a target makes them; whether names come from the image's
 * list of programs, and who asks for it; whether the sink takes events of later sessions; whether the
 * start was requested; whether the sink fails. In a script the second byte chooses whether there is
 * a system with ELFs.
 */
#include <stdlib.h>
#include <string.h>

#include <mkperf/frame.h>

#include "fuzz/checking_sink.h"
#include "fuzz/failing_sink.h"
#include "fuzz/mutate_message.h"
#include "fuzz/target_messages.h"
#include "wire/wire_stream.h"

enum {
    MESSAGES = 1,
    NAMES_LATER = 2,
    ASKS = 4,
    SPLITS = 8,
    STARTING = 16,
    WAITING = 32,
    FAILING = 64,
    SCRIPT = 128
};

enum { STEP_HELLO = TARGET_KINDS, STEP_STAMP, STEP_BYTES, STEP_DAMAGED, STEPS };

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t n);

static void on_text(void *self, const char *p, size_t n)
{
    (void)self, (void)p, (void)n;
}

static enum mkperf_status on_message(void *self, const uint8_t *p, size_t n, unsigned gap,
                                     struct mkperf_error *e)
{
    const struct mkperf_stream *s = self;
    enum mkperf_status status = mkperf_stream_message(self, p, n, gap, e);

    if (s->control != NULL && s->control->which_msg == mkperf_ToHost_batch_tag) {
        abort();
    }
    return status;
}

static void feed(struct mkperf_receiver *r, const uint8_t *data, size_t n)
{
    static uint8_t frame[MKPERF_FRAME_BYTES];
    struct mkperf_error e;
    uint16_t sequence = 0;

    while (n >= 2) {
        size_t length = data[0] | (size_t)(data[1] & 7) << 8;
        sequence = (uint16_t)(sequence + 1 + (data[1] >> 7)); /* sometimes a frame is missing */
        data += 2;
        n -= 2;
        length = length < n ? length : n;
        size_t size = mkperf_frame_encode(frame, sequence, data, length);
        data += length;
        n -= length;
        if (mkperf_receiver_push(r, frame, size, &e) != MKPERF_OK) {
            break;
        }
    }
}

static void make_hello(mkperf_TargetHello *h)
{
    unsigned how = byte();

    h->protocol = how & 1 ? byte() : MKPERF_PROTOCOL;
    h->boot_id = 1 + (how >> 1 & 1);
    h->cores = how & 4 ? byte() : 1;
    h->target_cores = how & 8 ? byte() : h->cores;
    h->stamp_bytes = how & 16 ? 200 : 0;
    h->image.size = how >> 5;
    strcpy(h->cpu, "Cortex-A53");
}

static size_t step_message(uint8_t *message, unsigned kind)
{
    static mkperf_ToHost m;
    pb_ostream_t to = pb_ostream_from_buffer(message, MKPERF_CONTENT_BYTES);

    if (kind < TARGET_KINDS) {
        unsigned how = byte();
        return target_message(message, kind, how & 1, how >> 1);
    }
    if (kind == STEP_BYTES) {
        return copy_bytes(message, byte());
    }
    m = (mkperf_ToHost)mkperf_ToHost_init_zero;
    m.which_msg = kind == STEP_HELLO ? mkperf_ToHost_hello_tag : mkperf_ToHost_stamp_tag;
    if (kind == STEP_HELLO) {
        make_hello(&m.msg.hello);
    } else {
        m.msg.stamp.size = byte();
        m.msg.stamp.offset = byte();
        m.msg.stamp.table.size = (pb_size_t)copy_bytes(m.msg.stamp.table.bytes, byte());
    }
    return pb_encode(&to, mkperf_ToHost_fields, &m) ? to.bytes_written : 0;
}

static void script(struct mkperf_receiver *r, struct mkperf_stream *stream)
{
    uint8_t message[MKPERF_CONTENT_BYTES], frame[MKPERF_FRAME_BYTES];
    struct mkperf_error e;
    uint16_t sequence = 0;

    target_begin();
    while (input.size != 0) {
        unsigned kind = byte();
        if (kind % STEPS == STEP_DAMAGED) {
            mkperf_stream_damaged(stream);
            continue;
        }
        size_t n = step_message(message, kind % STEPS);
        sequence = (uint16_t)(sequence + 1 + (kind > 240)); /* sometimes a frame is missing */
        n = mkperf_frame_encode(frame, sequence, message, n);
        if (mkperf_receiver_push(r, frame, n, &e) != MKPERF_OK) {
            break;
        }
    }
}

static void on_warning(void *self, const char *text)
{
    (void)self;
    if (text[0] == '\0') {
        abort();
    }
}

static void run(struct mkperf_pds *pds, const uint8_t *data, size_t n)
{
    static const struct mkperf_receiver_ops ops = {.text = on_text, .message = on_message};
    static struct mkperf_receiver receiver;
    unsigned how = *data++;
    struct checking_sink checking = {
        .cores = MKPERF_MAX_CORES, .pds = MKPERF_MAX_PDS, .mark_max = 31, .may_be_empty = true};
    struct mkperf_sink to = {.take = check_item, .splits = (how & SPLITS) != 0, .self = &checking};
    struct failing_sink failing = {.left = 1};
    if (how & FAILING) {
        to = failing_sink(&failing, to, n > 1 ? 1 + data[n / 2 - 1] % 64U : 1);
    }
    struct mkperf_stream_config config = {.sink = to, .pds = pds, .asks = how & ASKS};
    struct mkperf_stream *stream = mkperf_stream_new(&config);
    struct mkperf_error e;

    n--;
    stream->starting = how & STARTING;
    stream->waiting = how & WAITING;
    receiver = (struct mkperf_receiver){.ops = &ops, .self = stream};
    if (how & SCRIPT) {
        script(&receiver, stream);
    } else if (how & MESSAGES) {
        feed(&receiver, data, n);
    } else {
        uint8_t *copy = malloc(n + 1);
        memcpy(copy, data, n);
        mkperf_receiver_push(&receiver, copy, n, &e);
        free(copy);
    }
    if (failing.left != 0) {
        mkperf_receiver_idle(&receiver);
    }
    unsigned sampled = mkperf_stream_sampled_event(stream, 1);
    if (sampled != UINT_MAX && sampled >= stream->session.nevents) {
        abort();
    }
    if (failing.left != 0) {
        mkperf_stream_finish(stream, &e);
    }
    mkperf_stream_free(stream);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t n)
{
    static struct mkperf_symbols *symbols; /* the symbols that all inputs share */
    struct mkperf_pds_config config = {
        .warn = on_warning, .names_only = true, .later = n != 0 && data[0] & NAMES_LATER};
    struct mkperf_error e;
    struct mkperf_pds *pds;

    if (n == 0) {
        return 0;
    }
    input.data = data + 1;
    input.size = n - 1;
    if (data[0] & SCRIPT && byte() & 1) {
        symbols = symbols != NULL ? symbols : mkperf_symbols_new();
        config.names_only = false;
        config.system = "tests/fuzz/corpus/fuzz_system/observed.system";
        config.elf_path = "tests/fuzz/corpus/fuzz_elf";
    }
    if (mkperf_pds_new(&config, symbols, &pds, &e) != MKPERF_OK) {
        return 0;
    }
    run(pds, data, n);
    mkperf_pds_free(pds);
    return 0;
}

size_t LLVMFuzzerCustomMutator(uint8_t *data, size_t size, size_t max, unsigned seed)
{
    mutate_seed(seed);
    if (size == 0 || !(data[0] & MESSAGES) || data[0] & SCRIPT || mutate_random(64) == 0) {
        return LLVMFuzzerMutate(data, size, max);
    }
    return 1 + mutate_list(data + 1, size - 1, max - 1, 0x7ff, mkperf_ToHost_fields);
}
