/* SPDX-License-Identifier: BSD-2-Clause */
/* Owns: the conversion of a chain from a record's form to the wire's, see wire_frames.h. */
#include "wire_frames.h"

#include <string.h>

/* n return addresses that the hook found in a thread's stack. What looks like a marker is none: the
 * thread put it there. */
static unsigned add_frames(uint64_t *to, const uint64_t *from, unsigned n)
{
    for (unsigned i = 0; i < n; i++) {
        to[i] = from[i] < MKPERF_FRAME_MARKERS ? from[i] : 0;
    }
    return n;
}

unsigned mkperf_wire_frames(uint64_t *to, uint64_t header, uint64_t thread, const uint64_t *word)
{
    unsigned n = mkperf_record_nframes(header);
    unsigned own = n;
    unsigned out;

    if (thread == MKPERF_THREAD_AMBIGUOUS) { /* the profiler PD's own markers */
        memcpy(to, word, n * sizeof *to);
        return n;
    }
    if (mkperf_record_flags(header) & MKPERF_SAMPLE_CALLERS && n != 0) {
        own = word[n - 1] < n ? n - 1 - (unsigned)word[n - 1] : n - 1;
        n--;
    }
    out = add_frames(to, word, own);
    while (own + MKPERF_CALLER_WORDS <= n) {
        const uint64_t *caller = word + own;
        unsigned frames = caller[MKPERF_CALLER_FRAMES] & 0xff;
        own += MKPERF_CALLER_WORDS + frames;
        if (own > n) {
            break;
        }
        to[out++] = MKPERF_FRAME_CALLER;
        to[out++] = mkperf_thread_of(caller[MKPERF_CALLER_THREAD], caller[MKPERF_CALLER_SC]);
        to[out++] = caller[MKPERF_CALLER_LR];
        out += add_frames(to + out, caller + MKPERF_CALLER_PC, 1 + frames);
    }
    return out;
}
