/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The call chain on AArch64: a linked list of frame records (AAPCS64 6.4.6).
 *
 *     x29 ──► [ caller | ret ] ──► [ caller | ret ] ──► [ ... | 0 ]   towards higher addresses
 *
 * Owns: the walk. Ports include this file after mkperf_port_user_page, and only capture.c calls the walk. A file
 * for another architecture offers the same function.
 */
#ifndef MKPERF_AAPCS64_H
#define MKPERF_AAPCS64_H

#include <stdbool.h>
#include <stdint.h>

#include <mkperf/record.h>

#define MKPERF_PAGE_BYTES UINT64_C(4096)
#ifndef MKPERF_RECORD_BELOW   /* riscv_frames.h has others */
#define MKPERF_RECORD_BELOW 0 /* bytes from a frame record to the address in the frame pointer */
#define mkperf_first_record(thread, level, fp) (fp)
#endif

struct mkperf_frame_record {
    uint64_t caller; /* the caller's frame record */
    uint64_t ret;    /* where it returns to */
};

/* Rotates an address right by 3. The order of aligned addresses stays, and a misaligned one becomes larger than
 * all of them. One comparison therefore detects both a wrong order and a wrong alignment. */
static inline uint64_t mkperf_rotated(uint64_t address)
{
    return address >> 3 | address << 61;
}

/* What a walk returns: the number of frames, and the reason for which it ended early (enum mkperf_sample_flags), as
 * in a record's word MKPERF_CALLER_FRAMES. */
#define MKPERF_WALKED_FRAMES 0xff
#define MKPERF_WALKED_FLAGS_SHIFT 8

/*
 * Walks a thread's frame records from fp into frames[0 .. max). level: 0 for the thread that a sample is about,
 * 1 for the thread whose call that one serves, and so on; the port remembers a page for each. Each record must
 * be 8-byte aligned, within one page that the thread itself could read, and at a higher address than the one
 * before. The walk therefore ends and never faults, whatever memory contains.
 *
 * Within a page, positions are addresses in the kernel (window). They differ from the thread's addresses by one
 * number, modulo 2^64.
 */
static inline __attribute__((always_inline)) uint32_t
mkperf_walk(const void *thread, unsigned level, uint64_t fp, uint64_t *frames, uint32_t max)
{
    uint32_t flags = MKPERF_SAMPLE_DEPTH_LIMIT;
    uint64_t *frame = frames;
    uint64_t *end = frames + max;
    const uint64_t edge = MKPERF_PAGE_BYTES - sizeof(struct mkperf_frame_record);

    fp = mkperf_first_record(thread, level, fp);
    while (frame != end) {
        uint64_t page = fp & ~(MKPERF_PAGE_BYTES - 1);
        /* A record that is misaligned, or not wholly in the page, is none. */
        uint64_t window = mkperf_rotated(fp - page) <= mkperf_rotated(edge)
                              ? mkperf_port_user_page(thread, level, page)
                              : 0;

        if (window == 0) {
            flags = MKPERF_SAMPLE_BAD_FP;
            break;
        }
        uint64_t to_window = window - page;
        uint64_t last = mkperf_rotated(window + edge);
        uint64_t next = fp + to_window;
        uint64_t rotated = mkperf_rotated(next);
        uint64_t at;
        uint64_t ret;
        do {
            const struct mkperf_frame_record *record = (const struct mkperf_frame_record *)next;
            ret = record->ret;
            next = record->caller - MKPERF_RECORD_BELOW + to_window;
            /* A thread on another core may write to the record meanwhile. The compiler cannot load these words
             * again after this line. Atomic loads would not be one instruction (ldp). */
            __asm__("" : "+r"(next), "+r"(ret));
            at = rotated;
            rotated = mkperf_rotated(next);
            if (ret == 0) { /* start code: the outermost frame */
                break;
            }
            *frame = ret;
            frame++;
        } while ((rotated > at) & (rotated <= last) & (frame != end));
        fp = next - to_window;
        bool outermost = fp + MKPERF_RECORD_BELOW == 0;
        if (ret == 0 || (MKPERF_RECORD_BELOW != 0 && outermost) || fp <= at * 8 - to_window) {
            flags = ret != 0 && !outermost ? MKPERF_SAMPLE_BAD_FP : 0;
            break;
        }
    }
    return (uint32_t)(frame - frames) | flags << MKPERF_WALKED_FLAGS_SHIFT;
}

#endif
