/* SPDX-License-Identifier: BSD-2-Clause */
/* Owns: decoding of a target's messages but batches, with texts that may be printed. */
#include "wire_message.h"

#include <pb_common.h>
#include <pb_decode.h>

#include "base/printable.h"

/* All strings of a message, those of its parts too. A reply is text of several lines. */
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
