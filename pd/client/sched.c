/* SPDX-License-Identifier: BSD-2-Clause */
/* From scheduling events to Sched messages: see sched.h for ownership and callers. */
#include "sched.h"

#include <string.h>

#include "varint.h"

#include "mkperf.pb.h"

enum {
    /* Outside of codes and events: tag, length and value of each field at its longest. */
    FIXED_BYTES = 4 + 6 + 6 + 6 + 11 + 11 + 11 + 3 + 4,
    CODE_BYTES = 2 + 3 + 2 + 2 + 11 + 3 + 2, /* a definition at its longest */
    MAX_EVENTS = sizeof((mkperf_Sched *)0)->event / sizeof(uint64_t),
    MAX_DEFINITIONS = sizeof((mkperf_Sched *)0)->codes / sizeof(mkperf_SchedCode),
    LEAST_BITS = 5,
};

void mkperf_sched_encoder_new_epoch(struct mkperf_sched_encoder *e)
{
    e->epoch++;
    e->messages = 0;
    e->codes = 0;
    for (unsigned i = 0; i < MKPERF_SCHED_PLACES; i++) {
        e->place[i].what = 0;
    }
}

static void empty_message(struct mkperf_sched_encoder *e)
{
    e->events = 0;
    e->definitions = 0;
    e->code_bytes = 0;
    e->event_bytes = 0;
}

void mkperf_sched_encoder_begin(struct mkperf_sched_encoder *e, uint32_t session, uint64_t tick_hz)
{
    empty_message(e);
    e->session = session;
    e->tick_hz = tick_hz;
    e->sent = 0;
    for (unsigned i = 0; i < MKPERF_MAX_CORES; i++) {
        e->seen[i] = 0;
    }
    mkperf_sched_encoder_new_epoch(e);
}

/* The first event of a message decides what the width of codes is: a few more than there are. */
static void begin_message(struct mkperf_sched_encoder *e, unsigned core, uint64_t time)
{
    e->core = core;
    e->first = e->seen[core];
    e->first_time = time;
    e->last_time = time;
    e->bits = LEAST_BITS;
    while (e->codes + (e->codes / 8) >= UINT32_C(1) << e->bits) {
        e->bits++;
    }
}

/* The place of a code, or the free one that it would have. */
static struct mkperf_sched_code *find_code(struct mkperf_sched_encoder *e, uint32_t what,
                                           uint64_t thread)
{
    uint64_t at = (thread * 31 + what) * UINT64_C(0x9e3779b97f4a7c15) >> 32;

    for (;; at++) { /* there are more places than codes */
        struct mkperf_sched_code *c = &e->place[at % MKPERF_SCHED_PLACES];
        if (c->what == 0 || (c->what == what && c->thread == thread)) {
            return c;
        }
    }
}

static void define_code(struct mkperf_sched_encoder *e, const struct mkperf_sched_code *c,
                        uint64_t header)
{
    uint8_t bytes[CODE_BYTES];
    uint8_t *at = mkperf_put_field(bytes, mkperf_SchedCode_code_tag, c->code);

    at = mkperf_put_field(at, mkperf_SchedCode_kind_tag, mkperf_sched_kind_of(header));
    at = mkperf_put_field(at, mkperf_SchedCode_reason_tag, mkperf_sched_reason_of(header));
    at = mkperf_put_field(at, mkperf_SchedCode_thread_tag, mkperf_thread_to_wire(c->thread));
    at = mkperf_put_field(at, mkperf_SchedCode_irq_tag, mkperf_sched_irq_of(header));
    at = mkperf_put_bytes(e->code + e->code_bytes, mkperf_Sched_codes_tag, bytes,
                          (uint32_t)(at - bytes));
    e->code_bytes = (uint32_t)(at - e->code);
    e->definitions++;
}

static bool has_room(const struct mkperf_sched_encoder *e)
{
    return e->events < MAX_EVENTS && e->definitions < MAX_DEFINITIONS &&
           FIXED_BYTES + e->code_bytes + CODE_BYTES + e->event_bytes + MKPERF_VARINT <=
               MKPERF_CONTENT_BYTES;
}

static enum mkperf_encode_result add_event(struct mkperf_sched_encoder *e, uint64_t header,
                                           const uint64_t *record)
{
    uint64_t time = record[MKPERF_WORD_TIME];
    uint64_t thread = record[MKPERF_SCHED_IDENTITY];
    unsigned core = mkperf_record_core(header);
    uint32_t what = (uint32_t)(header >> 32 & 0xff00ff) + 1;

    if (e->events != 0 && (e->core != core || time < e->last_time || !has_room(e))) {
        return MKPERF_ENCODE_FULL;
    }
    struct mkperf_sched_code *c = find_code(e, what, thread);
    if (c->what == 0 && (e->codes == MKPERF_SCHED_CODES ||
                         (e->events != 0 && e->codes >= UINT32_C(1) << e->bits))) {
        if (e->events != 0) {
            return MKPERF_ENCODE_FULL;
        }
        mkperf_sched_encoder_new_epoch(e);
        c = find_code(e, what, thread);
    }
    if (e->events == 0) {
        begin_message(e, core, time);
    }
    if (c->what == 0) {
        *c = (struct mkperf_sched_code){.thread = thread, .what = what, .code = (uint16_t)e->codes};
        e->codes++;
    }
    if (!(c->reported >> core & 1)) {
        c->reported |= (uint8_t)(1U << core);
        define_code(e, c, header);
    }
    e->event_bytes +=
        mkperf_put_varint(e->event + e->event_bytes, (time - e->last_time) << e->bits | c->code);
    e->last_time = time;
    e->events++;
    e->seen[core]++;
    return MKPERF_ENCODE_ADDED;
}

enum mkperf_encode_result mkperf_sched_encoder_add(struct mkperf_sched_encoder *e,
                                                   const uint64_t *record, unsigned size)
{
    uint64_t header = record[MKPERF_WORD_HEADER]; /* once: what is checked is what is used */
    unsigned core = mkperf_record_core(header);

    if (core >= MKPERF_MAX_CORES) {
        return MKPERF_ENCODE_BAD;
    }
    if (mkperf_record_type(header) == MKPERF_RECORD_SCHED &&
        size == 8 * MKPERF_SCHED_OUTPUT_WORDS) {
        return add_event(e, header, record);
    }
    if (mkperf_record_type(header) != MKPERF_RECORD_SCHED_LOSS ||
        size != 8 * MKPERF_SCHED_LOSS_WORDS) {
        return MKPERF_ENCODE_BAD;
    }
    if (e->events != 0 && e->core == core) {
        return MKPERF_ENCODE_FULL; /* a gap is between two messages */
    }
    e->seen[core] += record[MKPERF_SCHED_LOST];
    return MKPERF_ENCODE_ADDED;
}

size_t mkperf_sched_encoder_finish(struct mkperf_sched_encoder *e, uint8_t *out)
{
    uint8_t *start = out + 4; /* tag and length of two bytes each; the length once it is known */
    uint8_t *at = start;

    if (e->events == 0) {
        return 0;
    }
    at = mkperf_put_field(at, mkperf_Sched_session_tag, e->session);
    at = mkperf_put_field(at, mkperf_Sched_core_tag, e->core);
    at = mkperf_put_field(at, mkperf_Sched_epoch_tag, e->epoch);
    at = mkperf_put_field(at, mkperf_Sched_first_event_tag, e->first);
    at = mkperf_put_field(at, mkperf_Sched_tick_hz_tag, e->tick_hz);
    at = mkperf_put_field(at, mkperf_Sched_time_ticks_tag, e->first_time);
    memcpy(at, e->code, e->code_bytes);
    at += e->code_bytes;
    at = mkperf_put_field(at, mkperf_Sched_code_bits_tag, e->bits);
    at = mkperf_put_bytes(at, mkperf_Sched_event_tag, e->event, e->event_bytes);
    mkperf_put_value(out, (uint64_t)mkperf_ToHost_sched_tag << 3 | 2);
    out[2] = (uint8_t)((at - start) | 0x80);
    out[3] = (uint8_t)((at - start) >> 7);
    e->sent += e->events;
    e->messages++;
    empty_message(e);
    return (size_t)(at - out);
}
