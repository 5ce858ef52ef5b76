/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The page of mkperf view and of the HTML export, in sections: containers, its files, code, scheduling, and all data.
 */
#ifndef MKPERF_HOST_PAGE_PAGE_H
#define MKPERF_HOST_PAGE_PAGE_H

#include "annotate/annotate.h"
#include "base/outfile.h"

/*
 * The container of the page's data: one JSON text and columns of numbers.
 *
 * Owns: its layout, little-endian. "mkpv", a version (u32), the length of the JSON text (u32), the
 * text, blanks up to a multiple of 8, the columns, each at a multiple of 8 from the first. The text
 * ends with "columns": {name: [type, offset from the first column, count]}. A column's type is the
 * narrowest of u8, u16, u32, f64 that holds its numbers; f64 is exact up to 2^53. The page's
 * data.js reads it.
 */

enum { PAGE_VERSION = 1, PAGE_COLUMNS = 64 };

/* Bytes in memory. */
struct page_bytes {
    uint8_t *p;
    size_t n;
};

struct page_columns {
    struct mkperf_textout json; /* the text without its end: `{"a":1,...`, written by the caller */
    char *text;
    size_t text_length;
    struct page_column {
        const char *name, *type; /* name: a constant */
        size_t offset, n;
    } column[PAGE_COLUMNS];
    unsigned columns;
    struct page_bytes data;
};

void page_columns_begin(struct page_columns *c);
void page_column(struct page_columns *c, const char *name, const uint64_t *value, size_t n);

/* Adds a column of n values. `expression` is value number i. */
#define PAGE_COLUMN(c, name, n, expression)                        \
    do {                                                           \
        size_t n_ = (n);                                           \
        uint64_t *value_ = mkperf_xcalloc(n_ + 1, sizeof *value_); \
        for (size_t i = 0; i < n_; i++) {                          \
            value_[i] = (expression);                              \
        }                                                          \
        page_column((c), (name), value_, n_);                      \
        free(value_);                                              \
    } while (0)

/* Returns the whole container, which the caller frees, and releases c. */
struct page_bytes page_columns_finish(struct page_columns *c);

void page_bytes_free(struct page_bytes *b);

/*
 * The files of the page, which are embedded in the program.
 *
 * Owns: their bytes, and the page as one file. view/answer.c serves the files, and export/html.c writes the one file.
 */

struct page_asset {
    const char *name; /* the path behind the token in an address; "" is the page itself */
    const char *type;
    const char *begin, *end;
};

extern const struct page_asset page_assets[];
extern const size_t page_nassets;

/* Write the page as one file, with its style and scripts in it: what is before the profile's data, and what follows them. */
void page_write_begin(struct mkperf_textout *t);
void page_write_end(struct mkperf_textout *t);

/*
 * The instructions of a function, and the source lines that they were compiled from.
 *
 * Owns: the form. It has no shares: the page computes them from its samples and their offsets in the function.
 *
 *   {function, name, elf, start (hexadecimal), problem, insn: [[offset, size, text, file, line]],
 *    files: [{name, path, from, text: [line]}]}
 *
 * `file` is an index of files, or -1 if the file is not known. `problem` is the reason why there are no instructions; it is ""
 * if there are any. A source file that is not on this machine has no text.
 */

enum { PAGE_CODE_FILES = 32, PAGE_CODE_LINES = 4000, PAGE_CODE_INSNS = 20000 };

/*
 * Returns the address of each function of f, or 0 if it is not known. If a PD has several functions of one name, they are one
 * function of f, with the address of the one that was sampled first. The caller frees the array.
 */
uint64_t *page_function_starts(const struct mkperf_frames *f);

/* Writes the object above for a function of f. `function` is less than f->functions.count. */
void page_code_json(const struct mkperf_frames *f, uint32_t function,
                    struct annotate_sources *sources, FILE *out);

enum { PAGE_INTERVALS = 1000000 };

/* What a page is made of. Calls are in the order of their ends, and so are the intervals of each PD. */
struct page_schedule {
    struct mkperf_interval *interval;
    size_t intervals;
    struct mkperf_schedule_call *call;
    size_t calls;
    struct mkperf_core_interval *gap;
    size_t gaps;
    struct mkperf_woken *woken; /* in the order of time */
    size_t wokens;
    const struct mkperf_schedule_window *window; /* in the order of time */
    size_t windows;
    struct mkperf_schedule *kept;           /* of more than PAGE_INTERVALS intervals: their files */
    uint64_t lost;                          /* the number of lost events that the gaps report */
    uint64_t since_ns;                      /* earlier events were discarded; 0: none were */
    const struct mkperf_analysis *analysis; /* NULL: none were recorded */
};

/*
 * Scheduling events in the page's data.
 *
 * Owns: the member `sched` of the JSON text, its columns, and the answers about a stretch of time. The intervals of a PD follow
 * each other without a hole, like those of a timeline (sched/critical_path.h). Therefore the page finds the same critical paths.
 *
 *   sched: events, lost (counts), from, to (ns since `from`: when they began and ended), cut (live: events before
 *          sched.from are not in the page any more), kinds (names of w_kind), cores (numbers of those with
 *          events), windows [{number, domain, us (0: not known)}] (a frame of the domain schedule), exact, lists [{pd, state, core, first, n}], and if it is not exact: found (the number
 *          of intervals), parts (equal parts of the time from..to); absent: none were recorded
 *   interval  if exact. i_gap (ns since the end of the one before in its list, the first: since `from`),
 *             i_length, i_by (1 + the PD that ran, or on which it waited; 0: not known),
 *             i_for (1 + the PD whose call it serves; 0: none)
 *   part      if not exact. b_ns (ns of the part in the state of the list)
 *   call      in the order of ends: a_delta (ns since the end of the one before, the first: since `from`),
 *             a_wait (until the callee ran with it), a_length (until the reply), a_from, a_to
 *   waking    if not exact, only by notifications and interrupts. w_delta (ns since the one before, the first:
 *             since `from`), w_kind (of kinds), w_from (1 + the PD that sent it; 0: an interrupt, the kernel,
 *             not known), w_to, w_irq, w_ran (1 + ns until its PD ran; 0: not known)
 *   window    d_delta (ns since the begin of the one before, the first: since `from`), d_window (1 + its number, until the next
 *             one begins; 0: events are missing). Not while the target runs
 *   gap       g_from (ns since `from`), g_length, g_core: what ran there is not known
 *
 * A recording with more than PAGE_INTERVALS intervals stays in its temporary files, and the page gets sums. The page then asks
 * for stretches of time. An answer is a container with from, to, exact, and what follows from exact above. If it is exact, it
 * also has the columns of all wakings, except w_ran.
 */

/* Writes all of it. `from` is the beginning of the page's time; what was before is cut off. `lost` is the number of lost events
 * that the end of the session reported. While the session runs, it is 0, and the number that the gaps report is written. */
void page_schedule_put(struct page_columns *c, const struct page_schedule *s, uint64_t from,
                       uint64_t lost);
/* Returns the answer about the stretch from..to, in ns since `origin`. It has single intervals if there are at most `most`. The
 * caller frees it. */
struct page_bytes page_schedule_stretch(const struct page_schedule *s, uint64_t origin,
                                        uint64_t from, uint64_t to, size_t most);

static inline uint64_t page_later(uint64_t a, uint64_t b)
{
    return a > b ? a : b;
}

/*
 * A profile as the page's data.
 *
 * Owns: the contents of the container. Called by the server of mkperf view and by the HTML export.
 *
 * The JSON text: file, head (lines), live, events [{name, inferred}] (inferred: which
 * PD called is a conclusion, profile/places.h), pds [{name, idle, colour,
 * kernel}], texts, cores, from and to (decimal strings of nanoseconds), samples, lost,
 * complete, older {samples, marks, losses} (live: how many of each came before those that are here), warnings
 * [{level, text}] (model/figures.h), calls [{from, to, calls, notifications}] (names of PDs),
 * queues [{name, producer, consumer (names of PDs, or ""), size, returns}].
 * Columns, one value for each
 *   sample    s_delta (ns since the one before, the first: since `from`), s_chain, s_core,
 *             s_period, s_span (ns that it represents, profile/profile.h)
 *   chain     c_event, c_pd, c_node (innermost), c_offset (bytes from its function's start + 1; 0:
 *             unknown)
 *   node      n_parent, n_label: a function, or functions + PD; node 0 is the root. Parents come
 *             before their children
 *   function  f_pd, f_kernel, f_inlined, f_name (of texts)
 *   mark      m_delta, m_pd, m_kind, m_id, m_name
 *   loss      l_time (ns since `from`), l_core
 *   reading   q_delta (ns since the one before, the first: since `from`), q_queue, q_entries
 *             (4294967295: no queue can have such indices)
 * The columns of scheduling events are described above.
 */

/* Samples, marks and losses are in the order of time. */
struct page_input {
    struct mkperf_frames *frames;
    const struct mkperf_profile_sample *sample;
    size_t samples;
    const struct mkperf_profile_mark *mark;
    size_t marks;
    const struct mkperf_lost *loss;
    size_t losses;
    struct page_schedule schedule;
    const char *file; /* the name that the page shows */
    bool live, speedscope;
    size_t older_samples, older_marks, older_losses; /* live: the page does not get these */
};

/* Returns the input for a profile that keeps times and is in the order of time
 * (mkperf_profile_order). */
struct page_input page_input_of(struct mkperf_frames *f, const char *file);

/* Stores the page's time, in ns: from the first to the last sample, mark or scheduling event. A live page with samples begins at its
 * first sample or mark. */
void page_data_span(const struct page_input *in, uint64_t *first, uint64_t *last);

/* Returns the container, which the caller frees. */
struct page_bytes page_data_make(const struct page_input *in);

#endif
