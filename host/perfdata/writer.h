/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The perf.data writer: a sink whose output is a file that perf, hotspot and samply read.
 *
 * Owns: the layout of the file. Called by `mkperf record`; `mkperf recover` finishes a file whose
 * writer died. Nothing that was handed over is lost unless the disk takes no more, which is an
 * error; a killed writer leaves PATH.partial, whole up to the last buffer written.
 *
 * Layout: header | ids | attributes | index | prepared features | data | feature table | features
 *
 * The index and the features that are known at the start stand before the data, where perf does
 * not look; the feature table at the end points there. So all that a finished file needs beyond
 * its data is the table, the time range and the totals: recovering is counting.
 *
 *   index    8 bytes MKPERF_PERFDATA_INDEX, u64 number of entries, then per entry
 *            u64 feature bit, u64 offset in the file, u64 size; at attrs.offset + attrs.size
 *
 * Two features are mkperf's own. perf, hotspot and samply ignore bits that they do not know. Both
 * are text, one `key value` in a line ('\n' after each; unknown keys are to be skipped):
 *
 *   MKPERF_PERFDATA_SESSION
 *       platform NAME
 *       cores N
 *       frames N                depth of callchains, 0 = none
 *       jitter 0|1
 *       kernel_elf PATH         if known
 *       kernel_build_id HEX     if known; empty: it has none, but
 *       kernel_content HEX      what identifies it then (symbols/identity.h)
 *       kernel_unnamed REASON   why no ELF is used for its addresses
 *       image HEX               identity of the image, whose own list gave the names; or
 *       unverified REASON       nothing confirms them
 *       event INDEX CODE USER KERNEL PERIOD FREQUENCY NAME
 *                               the id of its samples is INDEX + 1
 *       pd ID THREAD PARENT NAME
 *                               known at the start; THREAD in hex, PARENT "-": none
 *       build_id ID HEX         of the program of PD ID; or, if it has none,
 *       content ID HEX          what identifies it then
 *       unnamed ID REASON       why no ELF is used for its addresses
 *
 *   MKPERF_PERFDATA_TOTALS      each a decimal number unless stated; see mkperf_totals in model.h
 *       event ...               as above, for events that came later
 *       marks, marks_lost, restarts
 *       samples
 *       lost_ring, lost_output, lost_link, lost_transit, lost_chain
 *       late_events, spurious, disturbed, storms, unrepaired
 *       proved, inferred, ambiguous
 *                               samples by attribution; none of them for the hook's samples
 *       suspect ID SAMPLES DOUBTFUL OUTSIDE NO_CALL
 *                               struct mkperf_suspect, one line each
 *       overwritten, looks_us, unread
 *       ring_bytes, ring_peak
 *       ring_fill TIME_NS BYTES two numbers (model/fill.h); only if the target reported it
 *       first_ns, last_ns
 *       complete 0|1
 *       recovered 0|1           1: late_events to unread, ring_bytes and the rest, marks_lost and
 *                               restarts are missing
 *
 * A pipe, standard output among them, gets perf's layout for pipes, where nothing is patched:
 * header of 16 bytes | HEADER_ATTR and EVENT_UPDATE of each event | HEADER_FEATURE, HEADER_BUILD_ID
 * | data | HEADER_FEATURE of the time range. mkperf's own features are HEADER_EVENT_TYPE records
 * there: u64 feature bit, then the text, in several records if it is long, zeros behind it.
 *
 * Identity: pid = tid = PD id + 1, name in COMM. Kernel addresses are the kernel ELF's own; user
 * addresses are moved by the PD's slide, so that one callchain can hold frames of several PDs.
 *
 * Events of a later session in the stream: HEADER_ATTR and EVENT_UPDATE (name) records before their
 * first sample, which perf takes in the midst of the data.
 *
 * Marks: samples of an event "mkperf:mark" with the id MKPERF_PERFDATA_MARK, declared in the same
 * way. To perf it is a bpf-output event, whose raw data perf script shows as text:
 * ("point" | "begin" | "end") ID NAME, with a final 0.
 *
 * LOST_SAMPLES records: pid = -1, tid = enum mkperf_lost_where, time and cpu of the report.
 */
#ifndef MKPERF_HOST_PERFDATA_WRITER_H
#define MKPERF_HOST_PERFDATA_WRITER_H

#include "model/model.h"
#include "symbols/symbols.h"

#define MKPERF_PERFDATA_INDEX "mkpfidx1"

enum mkperf_perfdata_features {
    MKPERF_PERFDATA_TOTALS = 240,
    MKPERF_PERFDATA_SESSION = 241,
};

enum { MKPERF_PERFDATA_MARK = 1000 };

/*
 * Slides: PD n has the 64 GiB from 2^40 + n * 2^36 on; 2^47 is the end. Kernels live elsewhere
 * (seL4: 0x8000000000 with EL2, 0xffffff80.. with EL1; pocket: 0xffff..).
 */
#define MKPERF_PERFDATA_SLIDE UINT64_C(0x10000000000)
#define MKPERF_PERFDATA_WINDOW UINT64_C(0x1000000000)
#define MKPERF_PERFDATA_END UINT64_C(0x800000000000)
#define MKPERF_PERFDATA_PDS ((MKPERF_PERFDATA_END - MKPERF_PERFDATA_SLIDE) / MKPERF_PERFDATA_WINDOW)

/*
 * Where address addr of a PD stands in the file. An address outside the PD's 64 GiB (a wild frame)
 * goes where nothing is mapped and nothing is a perf context marker.
 */
static inline uint64_t mkperf_perfdata_slid(uint32_t pd, uint64_t addr)
{
    if (addr < MKPERF_PERFDATA_WINDOW) {
        return MKPERF_PERFDATA_SLIDE + pd * MKPERF_PERFDATA_WINDOW + addr;
    }
    if (addr < MKPERF_PERFDATA_END) {
        return addr | MKPERF_PERFDATA_END;
    }
    return addr >= (uint64_t)-4096 ? addr & UINT64_MAX >> 1 : addr;
}

/* The way back: the PD's own address; *pd is changed only if the address tells the PD. */
static inline uint64_t mkperf_perfdata_unslid(uint32_t *pd, uint64_t addr)
{
    if (addr >= MKPERF_PERFDATA_SLIDE && addr < MKPERF_PERFDATA_END) {
        *pd = (uint32_t)((addr - MKPERF_PERFDATA_SLIDE) / MKPERF_PERFDATA_WINDOW);
        return addr % MKPERF_PERFDATA_WINDOW;
    }
    return addr >> 47 == 1 ? addr & ~MKPERF_PERFDATA_END : addr;
}

struct mkperf_perfdata;

/*
 * A writer for PATH, "-": standard output. Until `end` it is called PATH.partial; something that is
 * not a regular file (/dev/null) is written in place. symbols: for segments and build ids of the
 * PDs' ELFs, must outlive the sink. Errors: MKPERF_ERR_OUTPUT.
 */
enum mkperf_status mkperf_perfdata_new(const char *path, struct mkperf_symbols *symbols,
                                       struct mkperf_perfdata **out, struct mkperf_error *e);
struct mkperf_sink mkperf_perfdata_sink(struct mkperf_perfdata *w);
uint64_t mkperf_perfdata_bytes(const struct mkperf_perfdata *w); /* written so far */
/* Gives the kernel what is in the buffer: a killed writer's file has it. Cheap once a second. */
enum mkperf_status mkperf_perfdata_sync(struct mkperf_perfdata *w, struct mkperf_error *e);
void mkperf_perfdata_free(struct mkperf_perfdata *w); /* after end or abandon; or without either */

/*
 * Finishes the file at `path` that a killed writer left, into `out` (or in place, renamed without
 * ".partial", if NULL). *totals is what the file holds.
 */
enum mkperf_status mkperf_perfdata_recover(const char *path, const char *out,
                                           struct mkperf_totals *totals, struct mkperf_error *e);

#endif
