/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Owns: the first conversation of a recorder, see recorder.h: the connection, and the image's own
 * list of its programs.
 */
#include "recorder.h"

/* The list in parts, each asked for until it is there. A target that refuses has none. */
static enum mkperf_status fetch(struct mkperf_recorder *r, struct mkperf_error *e)
{
    mkperf_ToTarget m = {.which_msg = mkperf_ToTarget_get_stamp_tag};
    struct mkperf_stream *s = r->stream;

    while (!mkperf_stream_stamp_whole(s)) {
        uint32_t had = s->stamp_have;
        m.msg.get_stamp.offset = had;
        if (mkperf_recorder_ask(r, &m, "GetStamp", e) != MKPERF_OK) {
            return e->status;
        }
        if (s->stamp_have == had) {
            return MKPERF_OK; /* refused, or invalid: reported when names are settled */
        }
    }
    return MKPERF_OK;
}

enum mkperf_status mkperf_recorder_connect(struct mkperf_recorder *r, struct mkperf_error *e)
{
    if (mkperf_peer_connect(&r->link, e) != MKPERF_OK) {
        return e->status;
    }
    while (r->stream->hello.stamp_bytes != 0 && fetch(r, e) != MKPERF_OK) {
        /* The parts that arrived stay, unless the target has another image now. */
        r->breaks++;
        if (e->status != MKPERF_ERR_LINK || mkperf_peer_reconnect(&r->link, e) != MKPERF_OK) {
            return e->status;
        }
    }
    return mkperf_stream_settle(r->stream, e);
}
