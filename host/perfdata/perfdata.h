/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The format of perf.data, as mkperf writes it and reads it.
 *
 * Owns: the numbers of the format, for writer and reader. perf's numbers have the names of Linux's
 * perf_event.h and of perf's header.h. This comment describes what mkperf adds to the format.
 *
 * Layout: header | ids | attributes | index | prepared features | data | feature table | features
 *
 * The index and the features that are known at the start are before the data, where perf does not
 * look. The feature table at the end points to them. To finish a file, only the table, the time range
 * and the totals are needed behind its data, and recovery can count those.
 *
 *   index    8 bytes MKPERF_PERFDATA_INDEX, u64 number of entries, then for each entry
 *            u64 feature bit, u64 offset in the file, u64 size; at attrs.offset + attrs.size
 *
 * Two features are mkperf's own. perf, hotspot and samply ignore bits that they do not know. Both
 * are text, one `key value` in a line ('\n' after each; unknown keys are to be skipped):
 *
 *   MKPERF_PERFDATA_SESSION
 *       platform NAME
 *       cores N
 *       target_cores N          if the target has more
 *       core_mask HEX           if only some cores were sampled
 *       frames N                depth of callchains, 0 = none
 *       jitter 0|1
 *       kernel_elf PATH         if known
 *       kernel_build_id HEX     if known; empty: the ELF has none
 *       kernel_content HEX      the identity of an ELF without a build id (symbols/symbols.h)
 *       kernel_unnamed REASON   why no ELF is used for its addresses
 *       image HEX               identity of the image, if its own list gave the names
 *       unverified REASON       why nothing confirms the names, if it did not
 *       event INDEX CODE USER KERNEL PERIOD FREQUENCY NAME
 *                               the id of its samples is INDEX + 1
 *       group INDEX GROUP READ  after the line of an event that is in a group
 *       guests_only INDEX       it counts only in guests (:G); no_guests INDEX: not in guests (:H)
 *       all_cores INDEX         each core's counter of this event counts what all cores do
 *       pd ID THREAD PARENT NAME
 *                               known at the start; THREAD in hex, PARENT "-": none
 *       build_id ID HEX         of the program of PD ID
 *       content ID HEX          the identity of a program without a build id
 *       unnamed ID REASON       why no ELF is used for its addresses
 *       profiler ID             it is one of mkperf's own PDs
 *       modes_inferred 1        modes are where overflows were found: counters count in all modes
 *       turns 1                 the cores are QEMU's, which take turns
 *       exact 1                 each instruction was counted (mkperf exact)
 *       selected 1              only some PDs were sampled (record --pd)
 *       stat 1                  events were counted in addition to the samples (record --stat)
 *       queue NUMBER CAPACITY BITS RETURNS SEEN KIND PRODUCER CONSUMER NAME
 *                               struct mkperf_queue; "-": not known. A reading is mkperf:queue, tracepoints.h
 *       sched 0                 if there are queues, and no scheduling events
 *       scheduling ID PRIORITY PASSIVE CPU BUDGET PERIOD
 *                               from its .system file; microseconds
 *
 *   MKPERF_PERFDATA_TOTALS      each a decimal number unless stated; see mkperf_totals in model.h
 *       event ...               as above, for events that came later
 *       marks, marks_lost, restarts
 *       samples
 *       lost_ring, lost_output, lost_link, lost_transit, lost_chain
 *       late_events, spurious, disturbed, guest_accesses, storms, unrepaired
 *       proved, inferred, ambiguous
 *                               samples by attribution; none of them for the hook's samples
 *       inferred_callers        of the timer's samples, whose event is `timer`: those with callers in
 *                               other PDs, which registers prove (docs/stock.md)
 *       suspect ID SAMPLES DOUBTFUL OUTSIDE NO_CALL
 *                               struct mkperf_suspect, one line each
 *       core N STATE SAMPLES LATE_EVENTS BEGAN_NS ENDED_NS LOST_RING .. LOST_CHAIN LATE_ANSWERS
 *                               of each core, if there are several: struct mkperf_core
 *       overwritten, looks_us, unread, unordered
 *       shares_compared, shares_contradicted, share_by_samples_ppm, share_by_events_ppm, share_error_ppm
 *                               struct mkperf_agreed; readers compare again
 *       user_count EVENT OWN COUNT PD
 *                               struct mkperf_pd_count, one line each (figures.h)
 *       counts_compared, counts_contradicted, count_by_samples_ppm, count_by_counts_ppm, count_error_ppm
 *                               as shares_compared and the rest, of samples and counts
 *       own_ns, known_ns, faulted, only_idle, own_ppm
 *                               as in struct mkperf_totals; readers calculate them again
 *       sched_events, sched_lost_ring, sched_lost_output, sched_lost_link, sched_lost_transit,
 *       sched_lost_code, sched_overwritten
 *                               scheduling events
 *       queue_readings
 *       stopped_ns, stopped_at_ns
 *       stopped TEXT            what ended a flight recording
 *       ring_bytes, ring_peak
 *       ring_fill TIME_NS BYTES struct mkperf_fill_point, one line each; only if the target reported it
 *       soft_ns NS, soft_dropped N, soft_total N N N N
 *                               struct mkperf_interactions (model/figures.h)
 *       soft_edge CALLS NOTIFICATIONS FROM<tab>TO
 *                               struct mkperf_interaction, one line each
 *       soft_pd N N N N PD      struct mkperf_soft_counts, one line each
 *       soft_stack LEAST BOTTOM TOP LOWEST PD
 *                               the stack of that PD, with record --stacks
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
 * first sample, which perf accepts in the middle of the data.
 *
 * Marks: samples of an event "mkperf:mark" with the id MKPERF_PERFDATA_MARK, declared in the same
 * way. To perf it is a bpf-output event, whose raw data perf script shows as text:
 * ("point" | "begin" | "end") ID NAME, with a final 0.
 *
 * Compressed records: perfdata_internal.h. The feature HEADER_COMPRESSED has five numbers of 32 bits: 0, 1 (zstd),
 * the level, the ratio (0 until the file is finished, and in a pipe), and the most bytes that a compressed
 * record yields.
 *
 * LOST_SAMPLES records: pid = -1, tid = enum mkperf_lost_where, time and cpu of the report; cpu -1:
 * of several cores, not known of which.
 */
#ifndef MKPERF_HOST_PERFDATA_PERFDATA_H
#define MKPERF_HOST_PERFDATA_PERFDATA_H

#include "model/model.h"
#include <linux/perf_event.h>

/* What is in perf.data files only. perf.h of the Linux tree has these numbers; the others are those of the kernel. */
enum perf_file_record {
    PERF_RECORD_HEADER_ATTR = 64,
    PERF_RECORD_HEADER_EVENT_TYPE = 65, /* from an old perf; perf skips it */
    PERF_RECORD_HEADER_TRACING_DATA = 66,
    PERF_RECORD_HEADER_BUILD_ID = 67,
    PERF_RECORD_FINISHED_ROUND = 68,
    PERF_RECORD_AUXTRACE = 71,
    PERF_RECORD_EVENT_UPDATE = 78,
    PERF_RECORD_HEADER_FEATURE = 80,
    PERF_RECORD_COMPRESSED = 81,
    PERF_RECORD_COMPRESSED2 = 83,
};

enum { PERF_RECORD_MISC_BUILD_ID_SIZE = 1 << 15, PERF_EVENT_UPDATE_NAME = 2 };

/* Bits of the flags of an attribute, which the kernel describes as bit-fields. */
enum perf_attr_flags {
    PERF_ATTR_EXCLUDE_USER = 1 << 4,
    PERF_ATTR_EXCLUDE_KERNEL = 1 << 5,
    PERF_ATTR_MMAP = 1 << 8,
    PERF_ATTR_COMM = 1 << 9,
    PERF_ATTR_FREQ = 1 << 10,
    PERF_ATTR_SAMPLE_ID_ALL = 1 << 18,
    PERF_ATTR_EXCLUDE_HOST = 1 << 19,
    PERF_ATTR_EXCLUDE_GUEST = 1 << 20,
    PERF_ATTR_MMAP2 = 1 << 23,
};

enum perf_feature {
    HEADER_TRACING_DATA = 1,
    HEADER_BUILD_ID = 2,
    HEADER_HOSTNAME = 3,
    HEADER_OSRELEASE = 4,
    HEADER_VERSION = 5,
    HEADER_ARCH = 6,
    HEADER_NRCPUS = 7,
    HEADER_CPUDESC = 8,
    HEADER_CMDLINE = 11,
    HEADER_EVENT_DESC = 12,
    HEADER_GROUP_DESC = 17,
    HEADER_SAMPLE_TIME = 21,
    HEADER_COMPRESSED = 27,
    HEADER_FEAT_BITS = 256,
};

enum perf_layout { /* sizes, and offsets in the header */
                   PERF_HEADER_BYTES = 104,
                   PERF_PIPE_HEADER_BYTES = 16,
                   PERF_HEADER_ATTR_SIZE = 16,
                   PERF_HEADER_ATTRS = 24, /* sections, each an offset and a size */
                   PERF_HEADER_DATA = 40,
                   PERF_HEADER_FEATURES = 72,
                   PERF_ATTR_BYTES = 112,
};

/* Events that have names in perf. Of two names of one event, the first is the one that perf shows. */
struct perfdata_generic {
    const char *name; /* NULL: the end of the table */
    uint32_t type, config;
};
extern const struct perfdata_generic perfdata_generic[];

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
 * Returns the address in the file of an address of a PD. One outside the PD's 64 GiB (a wild frame) becomes an address
 * at which nothing is mapped, and which is no context marker of perf.
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

/* Returns the PD's own address of an address in the file. *pd is changed only if the address is a
 * PD's. */
static inline uint64_t mkperf_perfdata_unslid(uint32_t *pd, uint64_t addr)
{
    if (addr >= MKPERF_PERFDATA_SLIDE && addr < MKPERF_PERFDATA_END) {
        *pd = (uint32_t)((addr - MKPERF_PERFDATA_SLIDE) / MKPERF_PERFDATA_WINDOW);
        return addr % MKPERF_PERFDATA_WINDOW;
    }
    return addr >> 47 == 1 ? addr & ~MKPERF_PERFDATA_END : addr;
}

/*
 * The perf.data reader: passes a recording on to a sink.
 *
 * Owns: the path from records to the sink's calls. Called by all commands that read a recording.
 * Files of perf itself are read as far as the model reaches: processes are PDs, addresses are
 * unchanged, and records of other kinds are skipped. The pipe's layout is read from a pipe or from
 * a file; the file's layout only from a file. A file whose writer was killed is read up to its last
 * whole record; its totals are incomplete then.
 *
 * Memory does not grow with the file, only with the number of its processes.
 */

/*
 * Reads the file (standard input if it is called "-") into sink, from begin to end (abandon on
 * error). fd: the file, if it is open already, which is closed in the end; or -1. A FIFO must not be opened
 * twice: its writer may have ended, and would be waited for.
 * What is passed lives until end has returned. `samples` and `lost` of the totals are at
 * least what the records say, and `complete` is false if the two disagree or the file has no
 * totals. Errors: MKPERF_ERR_INPUT "path: offset N: reason"; those of the sink.
 */
enum mkperf_status mkperf_perfdata_read(const char *path, int fd, const struct mkperf_sink *sink,
                                        struct mkperf_error *e);

/* Reads a recording from n bytes of memory. name: for messages. */
enum mkperf_status mkperf_perfdata_read_memory(const char *name, const void *p, size_t n,
                                               const struct mkperf_sink *sink,
                                               struct mkperf_error *e);

/*
 * The perf.data writer: a sink that writes a file for perf, hotspot and samply.
 *
 * Owns: the file while it is written; its layout is that of perfdata.h. Called by `mkperf record`;
 * `mkperf recover` finishes a file whose writer died. Nothing is lost unless the disk is full, which
 * is an error. A killed writer leaves PATH.partial, which is whole up to the last buffer written.
 */

struct mkperf_perfdata;

/*
 * Makes a writer for PATH, "-": standard output. Until `end` it is called PATH.partial; something
 * that is not a regular file (/dev/null) is written in place. symbols: for segments and build ids
 * of the PDs' ELFs, must outlive the sink. Errors: MKPERF_ERR_OUTPUT.
 */
enum mkperf_status mkperf_perfdata_new(const char *path, struct mkperf_symbols *symbols,
                                       struct mkperf_perfdata **out, struct mkperf_error *e);
/*
 * Records are compressed at this level of zstd, 1 to MKPERF_COMPRESSED_LEVELS; 0: not at all.
 * MKPERF_COMPRESS_FILES: at MKPERF_COMPRESSED_LEVEL, unless the output is a stream. To be called before the
 * sink's first call. Without it: not at all.
 */
enum { MKPERF_COMPRESS_FILES = -1, MKPERF_COMPRESSED_LEVEL = 1, MKPERF_COMPRESSED_LEVELS = 22 };
void mkperf_perfdata_compress(struct mkperf_perfdata *w, int level);
struct mkperf_sink mkperf_perfdata_sink(struct mkperf_perfdata *w);
uint64_t mkperf_perfdata_bytes(const struct mkperf_perfdata *w); /* written so far */
/* Writes the buffer to the kernel, so that a killed writer's file has it. Cheap once per second. */
enum mkperf_status mkperf_perfdata_sync(struct mkperf_perfdata *w, struct mkperf_error *e);
/* Allowed after end, after abandon, and without either. */
void mkperf_perfdata_free(struct mkperf_perfdata *w);

/*
 * Finishes the file at `path` that a killed writer left, into `out` (or in place, renamed without
 * ".partial", if NULL). *totals are the file's.
 */
enum mkperf_status mkperf_perfdata_recover(const char *path, const char *out,
                                           struct mkperf_totals *totals, struct mkperf_error *e);

#endif
