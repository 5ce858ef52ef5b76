/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Parts that several formats have in common.
 *
 * Owns: the choice of one event, its period, and compression. Called by the formats.
 */
#include <zlib.h>

#include "parts.h"

enum mkperf_status mkperf_export_event(const struct mkperf_export *x,
                                       const struct mkperf_profile *c, uint32_t *event,
                                       struct mkperf_error *e)
{
    char room[32];

    *event = 0;
    if (x->event == NULL) {
        if (c->nevents > 1 && x->warnings != NULL) {
            mkperf_print_line(x->warnings,
                              "mkperf: note: shown is event %s of %u; --event NAME for another",
                              mkperf_places_event_name(&c->places, 0, room), c->nevents);
        }
        return MKPERF_OK;
    }
    for (; *event < c->nevents; ++*event) {
        if (strcmp(x->event, mkperf_places_event_name(&c->places, *event, room)) == 0) {
            return MKPERF_OK;
        }
    }
    return mkperf_error_set(e, MKPERF_ERR_USAGE, "the profile has no event '%s'", x->event);
}

uint64_t mkperf_export_period(const struct mkperf_profile *c, uint32_t event)
{
    const struct mkperf_session *s = &c->places.session;
    uint64_t period = event < s->nevents ? s->event[event].period : 0;
    uint64_t samples = c->total[event].samples;

    return period != 0    ? period
           : samples != 0 ? (c->total[event].period + samples / 2) / samples
                          : 0;
}

uint8_t *mkperf_export_gzip(const void *p, size_t n, size_t *size)
{
    enum { LEVEL = 6, GZIP = 16, MEMORY = 8 };
    z_stream z = {.next_in = (uint8_t *)(uintptr_t)p, .avail_in = (uInt)n};

    if (deflateInit2(&z, LEVEL, Z_DEFLATED, MAX_WBITS + GZIP, MEMORY, Z_DEFAULT_STRATEGY) != Z_OK) {
        mkperf_die(); /* deflateInit2 fails only without memory */
    }
    z.avail_out = (uInt)deflateBound(&z, n);
    uint8_t *out = z.next_out = mkperf_xcalloc(1, z.avail_out);
    (void)deflate(&z, Z_FINISH); /* deflateBound has made room for all of it */
    *size = z.total_out;
    deflateEnd(&z);
    return out;
}
