/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The image's list of programs in the stream: its parts, and what waits for it.
 *
 * Owns: the table until it is whole, and the Session that came before it. Nothing that carries an
 * identity is decoded before names are settled, so that no PD has two names in one profile.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/xalloc.h"
#include "system/image_table.h"
#include "wire_internal.h"

/* Why there is no list; for the file and the report. */
static void explain(const struct mkperf_stream *s, const struct mkperf_error *invalid, char *out,
                    size_t n)
{
    if (!s->has_hello) {
        snprintf(out, n, "the target's first message is missing");
    } else if (s->hello.stamp_bytes == 0) {
        snprintf(out, n, "the image does not list its programs (mkperf stamp)");
    } else if (invalid != NULL) {
        snprintf(out, n, "%s", invalid->text);
    } else {
        snprintf(out, n, "the image's list of programs did not arrive whole");
    }
}

bool mkperf_stream_stamp_whole(const struct mkperf_stream *s)
{
    return s->stamp_bytes != 0 && s->stamp_have == s->stamp_bytes;
}

enum mkperf_status mkperf_stream_settle(struct mkperf_stream *s, struct mkperf_error *e)
{
    struct mkperf_image *image = NULL;
    struct mkperf_error invalid = {.status = MKPERF_OK};
    char why[sizeof invalid.text];

    if (mkperf_pds_settled(s->config.pds)) {
        return MKPERF_OK;
    }
    if (mkperf_stream_stamp_whole(s)) {
        image = mkperf_xcalloc(1, sizeof *image);
        if (mkperf_image_read(s->stamp, s->stamp_bytes, image, &invalid) != MKPERF_OK) {
            free(image);
            image = NULL;
        }
    }
    explain(s, invalid.status != MKPERF_OK ? &invalid : NULL, why, sizeof why);
    enum mkperf_status status = mkperf_pds_settle(s->config.pds, image, why, e);
    free(image);
    if (status != MKPERF_OK || !s->has_held) {
        return status;
    }
    s->has_held = false;
    return stream_session(s, &s->held, s->held_answer, e);
}

enum mkperf_status stream_stamp(struct mkperf_stream *s, const mkperf_Stamp *m,
                                struct mkperf_error *e)
{
    if (mkperf_pds_settled(s->config.pds)) {
        return MKPERF_OK;
    }
    if (m->size > MKPERF_STAMP_BYTES || m->offset > m->size ||
        m->table.size > m->size - m->offset) {
        s->malformed++;
        return MKPERF_OK;
    }
    if (m->size != s->stamp_bytes) {
        s->stamp_bytes = m->size;
        s->stamp_have = 0;
    }
    if (m->offset != s->stamp_have) {
        return MKPERF_OK; /* repeated, or one before it was lost: it is asked for again */
    }
    s->stamp = s->stamp != NULL ? s->stamp : mkperf_xcalloc(1, MKPERF_STAMP_BYTES);
    memcpy(s->stamp + m->offset, m->table.bytes, m->table.size);
    s->stamp_have += m->table.size;
    /* A caller that asks settles itself when it has the last answer. */
    return mkperf_stream_stamp_whole(s) && !s->config.asks ? mkperf_stream_settle(s, e) : MKPERF_OK;
}

bool stream_hold_session(struct mkperf_stream *s, const mkperf_Session *m, bool answer)
{
    bool comes = s->config.asks || (s->has_hello && s->hello.stamp_bytes != 0);

    if (mkperf_pds_settled(s->config.pds) || !comes) {
        return false;
    }
    s->held = *m;
    s->held_answer = answer;
    s->has_held = true;
    return true;
}

enum mkperf_status stream_need_names(struct mkperf_stream *s, bool *drop, struct mkperf_error *e)
{
    *drop = s->config.asks && !mkperf_pds_settled(s->config.pds);
    return *drop ? MKPERF_OK : mkperf_stream_settle(s, e);
}

enum mkperf_status stream_same_image(const struct mkperf_stream *s, const mkperf_TargetHello *hello,
                                     struct mkperf_error *e)
{
    const mkperf_TargetHello *first = &s->hello;

    if (!s->has_hello || !mkperf_pds_settled(s->config.pds) ||
        (hello->image.size == first->image.size &&
         memcmp(hello->image.bytes, first->image.bytes, first->image.size) == 0)) {
        return MKPERF_OK;
    }
    return mkperf_error_set(e, MKPERF_ERR_FAILED,
                            "the target was restarted with another image: the recording ends "
                            "before it, since its names are those of the first image");
}
