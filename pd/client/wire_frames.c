/* SPDX-License-Identifier: BSD-2-Clause */
/* Owns: the conversion of a chain from a record's form to the wire's, see wire_frames.h. */
#include "wire_frames.h"

#include <string.h>

#include "varint.h"

#include "mkperf.pb.h"

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

/* Frames of a chain as field `frames`, differences packed. Returns the bytes written. */
static uint32_t put_frames(uint8_t *at, const uint64_t *frames, unsigned nframes, uint64_t before)
{
    enum { HEAD = 2 }; /* tag, and the length if it is short */
    uint32_t n = HEAD;

    if (nframes == 0) {
        return 0;
    }
    for (unsigned i = 0; i < nframes; i++) {
        n += mkperf_put_varint(at + n, mkperf_zigzag(frames[i] - before));
        before = frames[i];
    }
    uint32_t length = n - HEAD;
    if (length > 0x7f) {
        memmove(at + HEAD + 1, at + HEAD, length);
        n++;
    }
    mkperf_put_length(at, mkperf_Chain_frames_tag, length);
    return n;
}

uint32_t mkperf_wire_chain(uint8_t *at, uint64_t header, const uint64_t *record, unsigned slot,
                           uint32_t sample, uint32_t reads)
{
    uint64_t wire[MKPERF_MAX_FRAMES];
    const uint64_t *frames = record + MKPERF_SAMPLE_FIXED_WORDS;
    uint64_t pc = record[MKPERF_WORD_PC];
    uint64_t kernel_pc = mkperf_record_flags(header) & MKPERF_SAMPLE_KERNEL ? *frames++ : 0;
    uint32_t n = mkperf_put_field(at, mkperf_Chain_slot_tag, slot);

    n += mkperf_put_field(at + n, mkperf_Chain_at_tag, sample);
    n += mkperf_put_field(at + n, mkperf_Chain_thread_tag,
                          mkperf_thread_to_wire(record[MKPERF_WORD_THREAD]));
    n += mkperf_put_field(at + n, mkperf_Chain_counter_tag, mkperf_record_counter(header));
    n += mkperf_put_field(at + n, mkperf_Chain_flags_tag, mkperf_record_flags(header));
    n += mkperf_put_field(at + n, mkperf_Chain_pc_tag, pc);
    n += mkperf_put_field(
        at + n, mkperf_Chain_lr_tag,
        mkperf_record_flags(header) & MKPERF_SAMPLE_NO_USER ? 0 : record[MKPERF_WORD_LR]);
    n += mkperf_put_field(at + n, mkperf_Chain_kernel_pc_tag, kernel_pc);
    n += put_frames(at + n, wire,
                    mkperf_wire_frames(wire, header, record[MKPERF_WORD_THREAD], frames), pc);
    n += mkperf_put_field(at + n, mkperf_Chain_reads_tag, reads);
    return n;
}
