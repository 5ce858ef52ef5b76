/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The page of mkperf view and of the HTML export, in sections: containers, its files, code, intervals, scheduling, and all data.
 */
#ifndef MKPERF_HOST_PAGE_PAGE_H
#define MKPERF_HOST_PAGE_PAGE_H

#include "annotate/annotate.h"
#include "base/outfile.h"
#include "model/interactions.h"
#include "profile/frames.h"
#include "profile/scheduling.h"

/*
 * The container of the page's data: one JSON text and columns of numbers.
 *
 * Owns: its layout, little-endian. "mkpv", a version (u32), the length of the JSON text (u32), the
 * text, blanks up to a multiple of 8, the columns, each at a multiple of 8 from the first. The text
 * ends with "columns": {name: [type, offset from the first column, count]}. A column's type is the
 * narrowest of u8, u16, u32, f64 that holds its numbers; f64 is exact up to 2^53. The page's
 * data.js reads it.
 */

enum { PAGE_VERSION = 1 };

struct page_bytes { /* grows as it is written */
    uint8_t *p;
    size_t n, room;
};

struct page_columns {
    struct mkperf_textout json; /* the text without its end: `{"a":1,...`, written by the caller */
    char *text;
    size_t text_length;
    FILE *index;
    char *index_text;
    size_t index_length;
    unsigned columns;
    struct page_bytes data;
};

void page_columns_begin(struct page_columns *c);
void page_column(struct page_columns *c, const char *name, const uint64_t *value, size_t n);

/* A column of n values; `expression` may use i. */
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

/* The whole container, which the caller frees. */
struct page_bytes page_columns_finish(struct page_columns *c);

void page_bytes_put(struct page_bytes *b, const void *p, size_t n);
void page_bytes_free(struct page_bytes *b);

/*
 * The page's files, part of the program.
 *
 * Owns: their bytes, and the page as one file. Served by view/http_server.c, written by
 * export/html.c.
 */

struct page_asset {
    const char *name; /* below the token; "" is the page itself */
    const char *type;
    const char *begin, *end;
};

extern const struct page_asset page_assets[];
extern const size_t page_nassets;

/*
 * Writes the page with its styles and scripts inside, by `put`, and calls `data` where the profile's
 * data belongs.
 */
struct page_writer {
    void (*put)(void *self, const void *p, size_t n);
    void (*data)(void *self);
    void *self;
};
void page_write_whole(const struct page_writer *w);

/*
 * A function's instructions and the source lines that they are of, for the page.
 *
 * Owns: the form. Shares are not in it: the page sums them from its samples, by offset.
 *
 *   {function, name, elf, start (hexadecimal), size, problem, insn: [[offset, size, text, file,
 *    line]], files: [{name, path, from, text: [line]}]}
 *
 * `file` is a number in files, -1 if unknown. `problem` is why there are no instructions, "" if
 * there are. A file that is not on this machine has no text.
 */

enum { PAGE_CODE_FILES = 32, PAGE_CODE_LINES = 4000, PAGE_CODE_INSNS = 20000 };

/*
 * Where each function of f begins: the address of its symbol, 0 if unknown. Functions of a PD with
 * the same name are one; it is the one that was seen first. The caller frees the array.
 */
uint64_t *page_function_starts(const struct mkperf_frames *f);

/* function < f->functions.count */
void page_code_json(const struct mkperf_frames *f, uint32_t function,
                    struct annotate_sources *sources, FILE *out);

/*
 * Intervals of PDs in the page's data: each of them, or sums where there are more than a page can show.
 *
 * Owns: the lists (one PD in one state on one core) of a stretch of time, and the search for its
 * intervals in a recording that is not in memory. Called by page_schedule.c.
 *
 * Of a stretch with at most `most` intervals each is in a list, in the order of time. Of one with more
 * the page gets `parts` equal parts of it and the time of each list in each part, to the nanosecond;
 * lists of PDs that wait for work are left out. Nothing is lost: the page asks for a shorter stretch.
 */

enum { PAGE_INTERVALS = 1000000 };

struct page_schedule { /* in the order of their ends */
    const struct mkperf_interval *interval;
    size_t intervals;
    const struct mkperf_schedule_call *call;
    size_t calls;
    const struct mkperf_core_interval *gap;
    size_t gaps;
    const struct mkperf_woken *woken; /* in the order of time */
    size_t wokens;
    struct mkperf_schedule *kept; /* not NULL: has intervals and wakings, instead of the arrays */
    uint64_t lost;                /* events, as far as gaps name them */
    uint64_t since_ns;            /* what was before is not known any more; 0: nothing was */
    const struct mkperf_analysis *analysis; /* NULL: none were recorded */
};

/* Calls `each` with blocks of intervals, which contain all that touch from..to and may contain others, in
 * the order of the recording. False: the temporary file cannot be read. */
bool page_intervals_each(const struct page_schedule *s, uint64_t from, uint64_t to,
                         void (*each)(void *self, const struct mkperf_interval *i, size_t n),
                         void *self);

struct page_stretch {
    uint64_t origin;   /* ns: the page's time begins with it */
    uint64_t from, to; /* ns: intervals that touch it */
    size_t most;       /* SIZE_MAX: there is no limit */
};

/* `exact`, `found`, `parts` and `lists` of the JSON text, and columns: see above. False as above; then the
 * text and the columns are incomplete. */
bool page_intervals_put(struct page_columns *c, const struct page_schedule *s,
                        const struct page_stretch *stretch, bool *exact);

/* 1 + a PD; 0: nobody. */
static inline uint64_t page_pd_or_none(uint32_t pd)
{
    return pd == MKPERF_SCHED_NOBODY ? 0 : (uint64_t)pd + 1;
}

/*
 * What scheduling events say, as part of the page's data.
 *
 * Owns: `sched` of the JSON text, its columns, and the answers about a stretch of time. A list has the
 * intervals of one PD in one state on one core, in the order of time. A PD's intervals follow each other
 * without a hole, as those of a timeline (sched/critical_path.h), so that the page finds the same critical paths.
 *
 *   sched: events, lost (counts), from, to (ns since `from`: when they began and ended), cut (live: events before
 *          sched.from are not in the page any more), kinds (names of w_kind), cores (numbers of those with
 *          events), exact, lists [{pd, state, core, first, n}], and if it is not exact: found (the number
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
 *   gap       g_from (ns since `from`), g_length, g_core: what ran there is not known
 *
 * A recording with more than PAGE_INTERVALS intervals stays in its temporary files, and the page gets the
 * sums. It asks for a stretch of time: a container with from, to, exact, lists and the like, the columns
 * of intervals or parts, and if it is exact of all wakings, without w_ran.
 */

/* from: the beginning of the page's time; what was before is cut. lost: by the session's end; while
 * it runs, 0: then those that gaps name count. False: a temporary file cannot be read. */
bool page_schedule_put(struct page_columns *c, const struct page_schedule *s, uint64_t from,
                       uint64_t lost);
/* The answer about from..to, ns since `origin`, with single intervals if there are at most `most`. The
 * caller frees it. Empty: a temporary file cannot be read. Only with `kept`. */
struct page_bytes page_schedule_stretch(const struct page_schedule *s, uint64_t origin,
                                        uint64_t from, uint64_t to, size_t most);
/* The times of the first and the last interval; false: there is none. */
bool page_schedule_span(const struct page_schedule *s, uint64_t *from, uint64_t *to);

/*
 * A profile as the page's data.
 *
 * Owns: what the container holds. Called by mkperf view's server and by the HTML
 * export.
 *
 * The JSON text: file, head (lines), live, events [{name, time, inferred}] (inferred: which
 * PD called is a conclusion, profile/places.h), pds [{name, idle, profiler,
 * colour, kernel}], texts, cores, from and to (decimal strings of nanoseconds), samples, lost,
 * complete, older {samples, marks, losses} (live: how many of each came before those that are here), warnings
 * [{level, text}] (model/figures.h), calls [{from, to, calls, notifications}] (names of PDs), calls_ns.
 * Columns, one value for each
 *   sample    s_delta (ns since the one before, the first: since `from`), s_chain, s_core,
 *             s_period, s_span (ns that it stands for, profile/spans.h)
 *   chain     c_event, c_pd, c_node (innermost), c_offset (bytes from its function's start + 1; 0:
 *             unknown)
 *   node      n_parent, n_label: a function, or functions + PD; node 0 is the root. Parents come
 *             before their children
 *   function  f_pd, f_kernel, f_name (of texts)
 *   mark      m_delta, m_pd, m_kind, m_id, m_name
 *   loss      l_time (ns since `from`), l_samples, l_core
 * Scheduling events: see above.
 */

struct page_input {
    struct mkperf_frames *frames;
    const struct mkperf_profile_sample *sample; /* in the order of time, as marks and losses */
    size_t samples;
    const struct mkperf_profile_mark *mark;
    size_t marks;
    const struct mkperf_lost *loss;
    size_t losses;
    struct page_schedule schedule;
    const struct mkperf_interactions *interactions; /* NULL: not recorded */
    const char *file;                               /* what the page calls it */
    bool live, speedscope;
    size_t older_samples, older_marks, older_losses; /* live: how many the page does not get */
};

/* Of a profile that was read with times, in order (mkperf_profile_order). */
struct page_input page_input_of(struct mkperf_frames *f, const char *file);

/* The page's time: of the first and the last of what there is. */
void page_data_span(const struct page_input *in, uint64_t *first, uint64_t *last);

/* The container; the caller frees it. Empty: a temporary file cannot be read (schedule.kept). */
struct page_bytes page_data_make(const struct page_input *in);

#endif
