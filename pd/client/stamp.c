/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Sends the stamp, the image's table of programs, to hosts in parts.
 *
 * Owns: the check of its size. Called by control.c (GetStamp) and report.c (TargetHello). The
 * entries are not read here: the host that asked for them checks them.
 */
#include <string.h>

#include "control.h"

static uint32_t get32(const uint8_t *p)
{
    return p[0] | (uint32_t)p[1] << 8 | (uint32_t)p[2] << 16 | (uint32_t)p[3] << 24;
}

/* Bytes of the table; 0: the image is not stamped, or the table is damaged. */
static uint32_t table_bytes(const struct mkperf_client *c)
{
    if (c->stamp == NULL || c->stamp_reserved < MKPERF_STAMP_HEADER_BYTES ||
        memcmp(c->stamp, MKPERF_STAMP_MAGIC, MKPERF_STAMP_MAGIC_BYTES) != 0) {
        return 0;
    }
    uint32_t size = get32(c->stamp + MKPERF_STAMP_SIZE_AT);
    return size >= MKPERF_STAMP_HEADER_BYTES && size <= c->stamp_reserved ? size : 0;
}

void mkperf_client_stamp_hello(const struct mkperf_client *c, mkperf_TargetHello *m)
{
    m->stamp_bytes = table_bytes(c);
    m->image.size = m->stamp_bytes != 0 ? MKPERF_STAMP_IMAGE_BYTES : 0;
    if (m->image.size != 0) {
        memcpy(m->image.bytes, c->stamp + MKPERF_STAMP_IMAGE_AT, MKPERF_STAMP_IMAGE_BYTES);
    }
}

void mkperf_client_stamp(struct mkperf_client *c, unsigned who, uint32_t request, uint32_t offset)
{
    uint32_t size = table_bytes(c);
    mkperf_Stamp *m = &c->out.stamp;

    if (size == 0) {
        mkperf_report_error(c, who, request, mkperf_ErrorCode_ERROR_STATE,
                            "this image has no stamp: mkperf stamp writes one");
        return;
    }
    if (offset >= size) {
        mkperf_report_error(c, who, request, mkperf_ErrorCode_ERROR_RANGE,
                            "the stamp ends before this offset");
        return;
    }
    uint32_t n = size - offset;
    n = n < MKPERF_STAMP_PART_BYTES ? n : MKPERF_STAMP_PART_BYTES;
    m->offset = offset;
    m->size = size;
    m->table.size = (pb_size_t)n;
    memcpy(m->table.bytes, c->stamp + offset, n);
    mkperf_report_send(c, who, request, mkperf_ToHost_stamp_tag, mkperf_Stamp_fields, m);
}
