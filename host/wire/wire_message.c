/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Owns: the decoding of a target's messages. Batches are decoded by the functions of the first part,
 * without nanopb; all other messages by nanopb, in the second part.
 */
#include "wire_message.h"

#include <pb_common.h>
#include <pb_decode.h>

enum { WIRE_VARINT = 0, WIRE_64 = 1, WIRE_BYTES = 2, WIRE_32 = 5 };

struct in {
    const uint8_t *p, *end;
};

struct field {
    unsigned tag, type;
    uint64_t value;  /* of a varint */
    struct in bytes; /* of a length-delimited field */
};

static inline bool get_varint(struct in *in, uint64_t *out)
{
    uint64_t v = 0;

    if (in->p < in->end && *in->p < 0x80) {
        *out = *in->p++;
        return true;
    }
    for (unsigned shift = 0; shift < 70 && in->p < in->end; shift += 7) {
        uint8_t byte = *in->p++;
        v |= shift < 64 ? (uint64_t)(byte & 0x7f) << shift : 0;
        if (byte < 0x80) {
            *out = v;
            return true;
        }
    }
    return false;
}

static bool skip(struct in *in, size_t n)
{
    if (n > (size_t)(in->end - in->p)) {
        return false;
    }
    in->p += n;
    return true;
}

static bool next_field(struct in *in, struct field *f)
{
    uint64_t key;

    if (!get_varint(in, &key) || key >> 3 == 0 || key >> 32 != 0) {
        return false;
    }
    f->tag = (unsigned)(key >> 3);
    f->type = key & 7;
    f->value = 0;
    f->bytes = (struct in){in->p, in->p};
    switch (f->type) {
    case WIRE_VARINT:
        return get_varint(in, &f->value);
    case WIRE_64:
        return skip(in, 8);
    case WIRE_32:
        return skip(in, 4);
    case WIRE_BYTES:
        if (!get_varint(in, &f->value) || f->value > (size_t)(in->end - in->p)) {
            return false;
        }
        f->bytes = (struct in){in->p, in->p + f->value};
        in->p = f->bytes.end;
        return true;
    default:
        return false;
    }
}

/* Appends the values of a repeated field, packed or not, to a column. */
static bool get_column(const struct field *f, uint64_t *column, unsigned *n, unsigned max)
{
    struct in in = f->bytes;
    unsigned at = *n;

    if (f->type == WIRE_VARINT) {
        if (at == max) {
            return false;
        }
        column[(*n)++] = f->value;
        return true;
    }
    while (in.p < in.end) {
        if (at == max || !get_varint(&in, &column[at++])) {
            return false;
        }
    }
    *n = at;
    return f->type == WIRE_BYTES;
}

static bool get_signed(const struct field *f, uint64_t *column, unsigned *n, unsigned max)
{
    unsigned from = *n;

    if (!get_column(f, column, n, max)) {
        return false;
    }
    for (unsigned i = from; i < *n; i++) {
        column[i] = mkperf_zigzag(column[i]);
    }
    return true;
}

/* The place of a field's value in a structure. A table of them has the field's tag as index, and
 * bytes 0 where a field is skipped. */
struct number {
    uint8_t at, bytes;
};

#define NUMBER(type, member)                                                 \
    {                                                                        \
        offsetof(struct type, member), sizeof(((struct type *)NULL)->member) \
    }

static const struct number loss_numbers[] = {
    [mkperf_Loss_where_tag] = NUMBER(mkperf_batch_loss, where),
    [mkperf_Loss_time_ticks_tag] = NUMBER(mkperf_batch_loss, time_ticks),
    [mkperf_Loss_samples_tag] = NUMBER(mkperf_batch_loss, samples),
    [mkperf_Loss_events_tag] = NUMBER(mkperf_batch_loss, events),
};

static const struct number batch_numbers[] = {
    [mkperf_Batch_session_tag] = NUMBER(mkperf_batch, session),
    [mkperf_Batch_core_tag] = NUMBER(mkperf_batch, core),
    [mkperf_Batch_epoch_tag] = NUMBER(mkperf_batch, epoch),
    [mkperf_Batch_first_sample_tag] = NUMBER(mkperf_batch, first_sample),
    [mkperf_Batch_tick_hz_tag] = NUMBER(mkperf_batch, tick_hz),
    [mkperf_Batch_time_ticks_tag] = NUMBER(mkperf_batch, time_ticks),
    [mkperf_Batch_until_ticks_tag] = NUMBER(mkperf_batch, until_ticks),
};

static const struct number chain_numbers[] = {
    [mkperf_Chain_slot_tag] = NUMBER(mkperf_batch_chain, slot),
    [mkperf_Chain_at_tag] = NUMBER(mkperf_batch_chain, at),
    [mkperf_Chain_thread_tag] = NUMBER(mkperf_batch_chain, thread),
    [mkperf_Chain_counter_tag] = NUMBER(mkperf_batch_chain, counter),
    [mkperf_Chain_flags_tag] = NUMBER(mkperf_batch_chain, flags),
    [mkperf_Chain_pc_tag] = NUMBER(mkperf_batch_chain, pc),
    [mkperf_Chain_reads_tag] = NUMBER(mkperf_batch_chain, reads),
    [mkperf_Chain_lr_tag] = NUMBER(mkperf_batch_chain, lr),
    [mkperf_Chain_kernel_pc_tag] = NUMBER(mkperf_batch_chain, kernel_pc),
};

static void get_number(const struct field *f, const struct number *numbers, size_t n, void *to)
{
    if (f->type != WIRE_VARINT || f->tag >= n) {
        return;
    }
    uint8_t *p = (uint8_t *)to + numbers[f->tag].at;
    uint32_t low = (uint32_t)f->value;
    if (numbers[f->tag].bytes == sizeof f->value) {
        memcpy(p, &f->value, sizeof f->value);
    } else if (numbers[f->tag].bytes == sizeof low) {
        memcpy(p, &low, sizeof low);
    }
}

#define GET_NUMBER(f, numbers, to) get_number(f, numbers, sizeof(numbers) / sizeof *(numbers), to)

static bool get_loss(const struct field *f, struct mkperf_batch *b)
{
    struct in in = f->bytes;
    struct field g;

    if (f->type != WIRE_BYTES || b->nlosses == MKPERF_LOSS_PLACES) {
        return false;
    }
    struct mkperf_batch_loss *loss = &b->loss[b->nlosses++];
    *loss = (struct mkperf_batch_loss){0};
    while (in.p < in.end) {
        if (!next_field(&in, &g)) {
            return false;
        }
        GET_NUMBER(&g, loss_numbers, loss);
    }
    return loss->where < MKPERF_LOSS_PLACES;
}

static bool get_chain(const struct field *f, struct mkperf_batch *b)
{
    if (f->type != WIRE_BYTES || b->nchains == sizeof b->chain / sizeof *b->chain) {
        return false;
    }
    b->chain[b->nchains].p = f->bytes.p;
    b->chain[b->nchains++].n = (size_t)(f->bytes.end - f->bytes.p);
    return true;
}

static bool get_repeated(const struct field *f, struct mkperf_batch *b)
{
    switch (f->tag) {
    case mkperf_Batch_base_period_tag:
        return get_column(f, b->base, &b->nbases, MKPERF_MAX_COUNTERS);
    case mkperf_Batch_width_tag:
        return get_column(f, b->width, &b->nwidths, MKPERF_MAX_COUNTERS);
    case mkperf_Batch_rate_tag:
        return get_column(f, b->rate, &b->nrates, MKPERF_MAX_COUNTERS);
    case mkperf_Batch_chains_tag:
        return get_chain(f, b);
    case mkperf_Batch_slot_tag:
        return get_column(f, b->slot, &b->nslots, MKPERF_BATCH_SAMPLES);
    case mkperf_Batch_pc_tag:
        return get_column(f, b->pc, &b->samples, MKPERF_BATCH_SAMPLES);
    case mkperf_Batch_time_tag:
        return get_signed(f, b->time, &b->ntimes, MKPERF_BATCH_SAMPLES);
    case mkperf_Batch_period_tag:
        return get_signed(f, b->period, &b->nperiods, MKPERF_BATCH_SAMPLES);
    case mkperf_Batch_count_tag:
        return get_column(f, b->count, &b->ncounts, MKPERF_BATCH_SAMPLES);
    case mkperf_Batch_change_tag:
        return get_column(f, b->change, &b->nchanges, MKPERF_CONTENT_BYTES);
    case mkperf_Batch_read_tag:
        return get_column(f, b->read, &b->nreads, MKPERF_CONTENT_BYTES);
    case mkperf_Batch_losses_tag:
        return get_loss(f, b);
    default:
        return true;
    }
}

bool mkperf_batch_decode(struct mkperf_batch *b, const uint8_t *p, size_t n)
{
    struct in in = {p, p + n};
    struct field f;

    memset(b, 0, offsetof(struct mkperf_batch, chain));
    while (in.p < in.end) {
        if (!next_field(&in, &f)) {
            return false;
        }
        GET_NUMBER(&f, batch_numbers, b);
        if (!get_repeated(&f, b)) {
            return false;
        }
    }
    unsigned others = 0;
    for (unsigned i = 0; i < b->samples; i++) {
        others += b->pc[i] & 1;
    }
    for (unsigned i = 0; i < b->nslots; i++) {
        if (b->slot[i] >= MKPERF_CHAIN_SLOTS) {
            return false;
        }
    }
    b->weight = b->samples;
    for (unsigned i = 0; i < b->ncounts; i++) {
        if (b->count[i] > UINT32_MAX) {
            return false;
        }
        b->weight += b->count[i];
    }
    bool whole = b->ncounts != 0
                     ? b->samples == b->ncounts && b->samples == b->nperiods && b->ntimes == 0
                     : b->samples == b->ntimes && b->nperiods <= MKPERF_MAX_COUNTERS;
    return whole && others == b->nslots && b->core < MKPERF_MAX_CORES &&
           (b->samples == 0 || (b->pc[0] & 1) != 0);
}

bool mkperf_batch_chain_decode(struct mkperf_batch_chain *c, const uint8_t *p, size_t n)
{
    struct in in = {p, p + n};
    struct field f;

    *c = (struct mkperf_batch_chain){.thread = MKPERF_THREAD_NONE + 2};
    while (in.p < in.end) {
        if (!next_field(&in, &f)) {
            return false;
        }
        GET_NUMBER(&f, chain_numbers, c);
        if (f.tag == mkperf_Chain_frames_tag &&
            !get_signed(&f, c->frame, &c->nframes, MKPERF_MAX_FRAMES)) {
            return false;
        }
    }
    c->thread -= 2;
    uint64_t before = c->pc;
    for (unsigned i = 0; i < c->nframes; i++) {
        before = c->frame[i] += before;
    }
    return c->slot < MKPERF_CHAIN_SLOTS;
}

const uint8_t *mkperf_batch_find(const uint8_t *p, size_t n, size_t *length)
{
    struct in in = {p, p + n}, batch = {NULL, NULL};
    struct field f;

    while (in.p < in.end && next_field(&in, &f)) {
        if (f.tag == mkperf_ToHost_batch_tag && f.type == WIRE_BYTES) {
            batch = f.bytes;
        }
    }
    *length = (size_t)(batch.end - batch.p);
    return batch.p;
}

/* Makes all strings of a message and of its parts printable. Only a Reply keeps line ends. */
static void make_printable(const pb_msgdesc_t *type, void *message)
{
    pb_field_iter_t at;

    if (!pb_field_iter_begin(&at, type, message)) {
        return;
    }
    do {
        bool chosen = PB_HTYPE(at.type) != PB_HTYPE_ONEOF || *(const pb_size_t *)at.pSize == at.tag;
        bool repeated = PB_HTYPE(at.type) == PB_HTYPE_REPEATED;
        unsigned n = repeated && PB_ATYPE(at.type) == PB_ATYPE_STATIC ? *(pb_size_t *)at.pSize : 1;

        for (unsigned i = 0; chosen && PB_ATYPE(at.type) == PB_ATYPE_STATIC && i < n; i++) {
            char *value = (char *)at.pData + (size_t)i * at.data_size;
            if (PB_LTYPE_IS_SUBMSG(at.type)) {
                make_printable(at.submsg_desc, value);
            } else if (PB_LTYPE(at.type) == PB_LTYPE_STRING && type == mkperf_Reply_fields) {
                mkperf_printable_lines(value);
            } else if (PB_LTYPE(at.type) == PB_LTYPE_STRING) {
                mkperf_printable(value);
            }
        }
    } while (pb_field_iter_next(&at));
}

bool mkperf_wire_decode(const uint8_t *p, size_t n, mkperf_ToHost *m)
{
    pb_istream_t in = pb_istream_from_buffer(p, n);

    if (!pb_decode(&in, mkperf_ToHost_fields, m)) {
        return false;
    }
    make_printable(mkperf_ToHost_fields, m);
    return true;
}
