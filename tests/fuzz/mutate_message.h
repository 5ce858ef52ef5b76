/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Mutation of protocol buffers messages by their schema: fields are added, removed, repeated, moved
 * and changed, in messages within messages too, and all lengths stay right. The schema is the one
 * that nanopb generated, so new messages and fields are used without a change here.
 *
 * Owns: mutate_message, mutate_message_new, and mutate_list for inputs that are lists of messages.
 */
#ifndef MKPERF_TESTS_FUZZ_MUTATE_MESSAGE_H
#define MKPERF_TESTS_FUZZ_MUTATE_MESSAGE_H

#include <mkperf/wire.h>
#include <pb_common.h>

#include "mkperf.pb.h"
#include "mutate.h"

enum {
    MUTATE_VARINT = 0,
    MUTATE_64 = 1,
    MUTATE_BYTES = 2,
    MUTATE_32 = 5,
    MUTATE_FIELDS = 300,
    MUTATE_NESTED = 4,
};

struct mutate_field {
    size_t at, body, end; /* key, content, what follows */
    unsigned tag, type;
    uint64_t value;
};

static inline size_t mutate_put_varint(uint8_t *p, uint64_t v)
{
    size_t n = 0;

    for (; v >= 0x80; v >>= 7) {
        p[n++] = (uint8_t)(v | 0x80);
    }
    p[n++] = (uint8_t)v;
    return n;
}

/* Returns the bytes of a varint, 0 if there is none. */
static inline size_t mutate_get_varint(const uint8_t *p, size_t n, uint64_t *v)
{
    *v = 0;
    for (size_t i = 0; i < n && i < 10; i++) {
        *v |= (uint64_t)(p[i] & 0x7f) << 7 * i;
        if (p[i] < 0x80) {
            return i + 1;
        }
    }
    return 0;
}

/* Returns the fields of a message up to the first that is none. */
static inline unsigned mutate_parse(const uint8_t *p, size_t n,
                                    struct mutate_field field[MUTATE_FIELDS])
{
    unsigned count = 0;

    for (size_t at = 0; at < n && count < MUTATE_FIELDS;) {
        struct mutate_field *f = &field[count];
        uint64_t key;
        size_t k = mutate_get_varint(p + at, n - at, &key);
        *f = (struct mutate_field){
            .at = at, .body = at + k, .tag = (unsigned)(key >> 3), .type = key & 7};
        size_t v = f->type == MUTATE_VARINT || f->type == MUTATE_BYTES
                       ? mutate_get_varint(p + f->body, n - f->body, &f->value)
                   : f->type == MUTATE_64 ? 8
                   : f->type == MUTATE_32 ? 4
                                          : 0;
        if (k == 0 || v == 0 || v > n - f->body) {
            break;
        }
        f->body += f->type == MUTATE_BYTES ? v : 0;
        f->end = f->body + (f->type == MUTATE_BYTES ? f->value : v);
        if (f->end < f->body || f->end > n) {
            break;
        }
        at = f->end;
        count++;
    }
    return count;
}

/* Finds the field with this number, any field if the number is 0. */
static inline bool mutate_find(pb_field_iter_t *at, const pb_msgdesc_t *type, unsigned tag)
{
    static uint64_t none[8192]; /* nanopb computes addresses in a message; nothing is read there */

    if (type == NULL || !pb_field_iter_begin(at, type, none)) {
        return false;
    }
    for (unsigned n = tag == 0 ? mutate_random(type->field_count) : 0; n > 0; n--) {
        (void)pb_field_iter_next(at);
    }
    return tag == 0 || pb_field_iter_find(at, tag);
}

static inline size_t mutate_message_new(uint8_t *out, const pb_msgdesc_t *type, unsigned depth);

/* Makes the random value of a field, without its key. Returns its wire type. */
static inline unsigned mutate_value(uint8_t *out, size_t *n, const pb_field_iter_t *f,
                                    unsigned depth)
{
    uint8_t body[256];
    size_t length = 0;

    switch (PB_LTYPE(f->type)) {
    case PB_LTYPE_FIXED64:
        mutate_put(out, 8, mutate_number(3));
        *n = 8;
        return MUTATE_64;
    case PB_LTYPE_STRING:
    case PB_LTYPE_BYTES:
        length = mutate_random(40);
        for (size_t i = 0; i < length; i++) {
            body[i] = (uint8_t)(mutate_random(8) ? 'a' + mutate_random(26) : mutate_random(256));
        }
        break;
    case PB_LTYPE_SUBMESSAGE:
    case PB_LTYPE_SUBMSG_W_CB:
        length = mutate_message_new(body, f->submsg_desc, depth + 1);
        break;
    default:
        if (PB_HTYPE(f->type) != PB_HTYPE_REPEATED || mutate_random(4) == 0) {
            *n = mutate_put_varint(out, mutate_number(mutate_random(8)));
            return MUTATE_VARINT;
        }
        for (unsigned i = mutate_random(20); i > 0; i--) {
            length += mutate_put_varint(body + length, mutate_number(mutate_random(8)));
        }
    }
    *n = mutate_put_varint(out, length);
    memcpy(out + *n, body, length);
    *n += length;
    return MUTATE_BYTES;
}

/* Makes a field of the message's schema. Returns its length, at most 256 bytes. */
static inline size_t mutate_field_new(uint8_t *out, const pb_msgdesc_t *type, unsigned tag,
                                      unsigned depth)
{
    uint8_t value[300];
    pb_field_iter_t f;
    size_t n = 0;

    if (!mutate_find(&f, type, tag)) {
        return 0;
    }
    unsigned wire = mutate_value(value, &n, &f, depth);
    size_t key = mutate_put_varint(out, (uint64_t)f.tag << 3 | wire);
    if (key + n > 256) {
        return 0;
    }
    memcpy(out + key, value, n);
    return key + n;
}

/* Makes a message with random fields. Returns its length, below 256 bytes. */
static inline size_t mutate_message_new(uint8_t *out, const pb_msgdesc_t *type, unsigned depth)
{
    uint8_t field[256];
    size_t n = 0;

    for (unsigned i = depth < MUTATE_NESTED ? 1 + mutate_random(6) : 0; i > 0; i--) {
        size_t m = mutate_field_new(field, type, 0, depth);
        if (n + m < 256) {
            memcpy(out + n, field, m);
            n += m;
        }
    }
    return n;
}

/* Changes, removes or repeats one number of a packed column. */
static inline size_t mutate_column(uint8_t *p, size_t n, size_t max)
{
    uint8_t with[20];
    uint64_t v;
    size_t at = 0, length = mutate_get_varint(p, n, &v);

    for (unsigned skip = mutate_random(32); skip > 0 && at + length < n && length != 0; skip--) {
        at += length;
        length = mutate_get_varint(p + at, n - at, &v);
    }
    unsigned how = mutate_random(4);
    size_t m = how == 0 ? 0 : mutate_put_varint(with, how == 1 ? v : mutate_number(v));
    if (how == 1) {
        m += mutate_put_varint(with + m, v);
    }
    return mutate_replace(p, n, max, at, length, with, m);
}

static inline size_t mutate_message(uint8_t *p, size_t n, size_t max, const pb_msgdesc_t *type);

/* Gives a field another value, with a valid length. */
static inline size_t mutate_change(uint8_t *p, size_t n, size_t max, const pb_msgdesc_t *type,
                                   const struct mutate_field *f)
{
    uint8_t with[MKPERF_CONTENT_BYTES + 16];
    size_t head = mutate_put_varint(with, (uint64_t)f->tag << 3 | f->type);
    size_t length = f->end - f->body, room = MKPERF_CONTENT_BYTES;
    pb_field_iter_t at;

    if (f->type != MUTATE_BYTES) {
        size_t m = f->type == MUTATE_VARINT
                       ? mutate_put_varint(with + head, mutate_number(f->value))
                       : length;
        if (f->type != MUTATE_VARINT) {
            mutate_put(with + head, (unsigned)m,
                       mutate_number(mutate_get(p + f->body, (unsigned)m)));
        }
        return mutate_replace(p, n, max, f->at, f->end - f->at, with, head + m);
    }
    if (length > room) {
        return n;
    }
    uint8_t body[MKPERF_CONTENT_BYTES];
    memcpy(body, p + f->body, length);
    bool formed = mutate_find(&at, type, f->tag) && mutate_random(16) != 0;
    if (formed && PB_LTYPE_IS_SUBMSG(at.type)) {
        length = mutate_message(body, length, room, at.submsg_desc);
    } else if (formed && PB_LTYPE(at.type) <= PB_LTYPE_LAST_PACKABLE) {
        length = mutate_column(body, length, room);
    } else {
        length = LLVMFuzzerMutate(body, length, room);
    }
    head += mutate_put_varint(with + head, length);
    if (head + length > sizeof with) {
        return n;
    }
    memcpy(with + head, body, length);
    return mutate_replace(p, n, max, f->at, f->end - f->at, with, head + length);
}

/* Makes one change. Returns the new length, at most max. */
static inline size_t mutate_message(uint8_t *p, size_t n, size_t max, const pb_msgdesc_t *type)
{
    struct mutate_field field[MUTATE_FIELDS];
    uint8_t copy[MKPERF_CONTENT_BYTES];
    unsigned count = mutate_parse(p, n, field), how = mutate_random(16);

    if (count == 0 || how < 4) { /* a field more; often one that is there already */
        const struct mutate_field *f = count ? &field[mutate_random(count)] : NULL;
        size_t m = mutate_field_new(copy, type, f && mutate_random(2) ? f->tag : 0, 0);
        return mutate_replace(p, n, max, f ? f->at : 0, 0, copy, m);
    }
    const struct mutate_field *f = &field[mutate_random(count)];
    size_t length = f->end - f->at;
    if (how >= 7 || length > sizeof copy) {
        return mutate_change(p, n, max, type, f);
    }
    memcpy(copy, p + f->at, length);
    if (how == 4) {
        return mutate_replace(p, n, max, f->at, length, NULL, 0);
    }
    if (how == 5) {
        return mutate_replace(p, n, max, f->at, 0, copy, length);
    }
    size_t to = field[mutate_random(count)].at; /* moved */
    n = mutate_replace(p, n, max, f->at, length, NULL, 0);
    return mutate_replace(p, n, max, to > f->at ? to - length : to, 0, copy, length);
}

/*
 * Changes a list of messages. Each has two bytes before it, the length in the bits of `mask`, and
 * what the target does with the rest. data begins with the first of them.
 */
static inline size_t mutate_list(uint8_t *data, size_t size, size_t max, unsigned mask,
                                 const pb_msgdesc_t *type)
{
    uint8_t one[2 + 2 * MKPERF_CONTENT_BYTES];
    size_t at = 0, length = 0, room = mask < MKPERF_CONTENT_BYTES ? mask : MKPERF_CONTENT_BYTES;
    unsigned head = 0, how = mutate_random(16);

    for (unsigned skip = mutate_random(64); size - at >= 2; skip--) {
        head = data[at] | (unsigned)data[at + 1] << 8;
        length = head & mask;
        length = length < size - at - 2 ? length : size - at - 2;
        if (skip == 0 || at + 2 + length >= size) {
            break;
        }
        at += 2 + length;
    }
    if (size - at < 2 || length > MKPERF_CONTENT_BYTES) {
        return LLVMFuzzerMutate(data, size, max);
    }
    memcpy(one, data + at, 2 + length);
    size_t now = length, old = 2 + length;
    switch (how) {
    case 0: /* removed */
        return mutate_replace(data, size, max, at, old, NULL, 0);
    case 1: /* twice */
        old = 0;
        break;
    case 2: /* a new one before it */
    case 3:
        old = 0;
        now = mutate_message_new(one + 2, type, 0);
        break;
    case 4: /* what the target does with it */
        head = mutate_random(1U << 16);
        break;
    case 5:
        return LLVMFuzzerMutate(data, size, max);
    default:
        for (unsigned i = 1 + mutate_random(3); i > 0; i--) {
            now = mutate_message(one + 2, now, room, type);
        }
    }
    mutate_put(one, 2, (head & ~mask) | now);
    return mutate_replace(data, size, max, at, old, one, 2 + now);
}

#endif
