/* SPDX-License-Identifier: BSD-2-Clause */
/* Owns: the decoding of a target's messages by nanopb. See wire_message.h. */
#include "wire_message.h"

#include <pb_common.h>
#include <pb_decode.h>

/* What the callbacks of a batch fill, and the message that its chains must lie in. */
struct taking {
    struct mkperf_batch *batch;
    const uint8_t *begin, *end;
};

/* Keeps the place of a chain. Only a chain that has the type of a message lies in the batch's bytes. */
static bool take_chain(pb_istream_t *in, const pb_field_t *field, void **arg)
{
    const struct taking *t = *arg;
    struct mkperf_batch *b = t->batch;
    const uint8_t *p = in->state;

    (void)field;
    if (b->nchains == sizeof b->chain / sizeof *b->chain || p < t->begin || p > t->end) {
        return false;
    }
    b->chain[b->nchains].p = p;
    b->chain[b->nchains++].n = in->bytes_left;
    return pb_read(in, NULL, in->bytes_left);
}

static bool take_read(pb_istream_t *in, const pb_field_t *field, void **arg)
{
    struct mkperf_batch *b = ((const struct taking *)*arg)->batch;

    (void)field;
    while (in->bytes_left != 0) {
        if (b->nreads == MKPERF_CONTENT_BYTES || !pb_decode_varint(in, &b->read[b->nreads++])) {
            return false;
        }
    }
    return true;
}

bool mkperf_batch_decode(struct mkperf_batch *b, const uint8_t *p, size_t n)
{
    struct taking taking = {b, p, p + n};
    pb_istream_t in = pb_istream_from_buffer(p, n);
    mkperf_Batch *m = &b->m;

    b->nchains = b->nreads = 0;
    m->chains = (pb_callback_t){.funcs.decode = take_chain, .arg = &taking};
    m->read = (pb_callback_t){.funcs.decode = take_read, .arg = &taking};
    if (!pb_decode(&in, mkperf_Batch_fields, m)) {
        return false;
    }
    unsigned others = 0;
    for (unsigned i = 0; i < m->pc_count; i++) {
        others += m->pc[i] & 1;
    }
    for (unsigned i = 0; i < m->slot_count; i++) {
        if (m->slot[i] >= MKPERF_CHAIN_SLOTS) {
            return false;
        }
    }
    for (unsigned i = 0; i < m->losses_count; i++) {
        if (m->losses[i].where >= MKPERF_LOSS_PLACES) {
            return false;
        }
    }
    b->weight = m->pc_count;
    for (unsigned i = 0; i < m->count_count; i++) {
        b->weight += m->count[i];
    }
    bool whole = m->count_count != 0
                     ? m->pc_count == m->count_count && m->pc_count == m->period_count &&
                           m->time_count == 0
                     : m->pc_count == m->time_count && m->period_count <= MKPERF_MAX_COUNTERS;
    return whole && others == m->slot_count && m->core < MKPERF_MAX_CORES &&
           (m->pc_count == 0 || (m->pc[0] & 1) != 0);
}

bool mkperf_batch_chain_decode(mkperf_Chain *c, const uint8_t *p, size_t n)
{
    pb_istream_t in = pb_istream_from_buffer(p, n);

    if (!pb_decode(&in, mkperf_Chain_fields, c)) {
        return false;
    }
    c->thread -= 2;
    uint64_t before = c->pc;
    for (unsigned i = 0; i < c->frames_count; i++) {
        before += (uint64_t)c->frames[i];
        c->frames[i] = (int64_t)before;
    }
    return c->slot < MKPERF_CHAIN_SLOTS;
}

const uint8_t *mkperf_batch_find(const uint8_t *p, size_t n, size_t *length)
{
    pb_istream_t in = pb_istream_from_buffer(p, n), batch = {.state = NULL};
    pb_wire_type_t type;
    uint32_t tag;
    bool end;

    while (pb_decode_tag(&in, &type, &tag, &end)) {
        if (tag != mkperf_ToHost_batch_tag || type != PB_WT_STRING) {
            if (!pb_skip_field(&in, type)) {
                break;
            }
            continue;
        }
        pb_istream_t found;
        if (!pb_make_string_substream(&in, &found)) {
            break;
        }
        batch = found;
        if (!pb_read(&found, NULL, found.bytes_left) || !pb_close_string_substream(&in, &found)) {
            break;
        }
    }
    *length = batch.bytes_left;
    return batch.state;
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
