/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * A profile as the page's data.
 *
 * Owns: what the container of container.h holds. Called by mkperf view's server and by the HTML
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
 * Scheduling events: page_schedule.h.
 */
#ifndef MKPERF_HOST_PAGE_PAGE_DATA_H
#define MKPERF_HOST_PAGE_PAGE_DATA_H

#include "container.h"
#include "model/interactions.h"
#include "page_schedule.h"
#include "profile/frames.h"

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
