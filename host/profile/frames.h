/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * From addresses to functions, for the commands that look at a recording.
 *
 * Owns: the functions that chains consist of, each once, as profile/places.h names them.
 */
#ifndef MKPERF_HOST_PROFILE_FRAMES_H
#define MKPERF_HOST_PROFILE_FRAMES_H

#include <stdio.h>

#include "places.h"
#include "profile.h"

struct report_function {
    uint32_t pd;
    bool kernel;
    uint32_t name, line; /* numbers of texts; line 0 = not asked for */
};

struct report_frames {
    const struct report_profile *profile;
    bool with_line;
    struct mkperf_stack stack; /* the ELFs, texts, and what each address is called */
    struct mkperf_hash functions;
    uint32_t *function_of; /* of each place of the stack, + 1; 0: not asked for yet */
    uint32_t room;
};

/* Opens the ELFs. Missing ones are not errors: see report_frames_warn. */
enum mkperf_status report_frames_open(struct report_frames *f, const struct report_profile *profile,
                                      bool with_line, struct mkperf_error *e);
void report_frames_close(struct report_frames *f);

/* Reads the recording at path into profile and opens its ELFs. */
enum mkperf_status report_frames_read(struct report_frames *f, struct report_profile *profile,
                                      const char *path, bool with_line, struct mkperf_error *e);

/* The ELF that names an address of a PD or of the kernel; NULL: none. */
static inline struct mkperf_module *report_module(const struct report_frames *f, uint64_t pd,
                                                  bool kernel)
{
    const struct mkperf_stack *s = &f->stack;

    return kernel ? s->kernel : pd < s->npds ? s->pd[pd].module : NULL;
}

/* Says which ELFs are missing, and that the recording's end is. */
void report_frames_warn(const struct report_frames *f, FILE *out);

/* Says what profiling cost, for each event, as far as that is known. */
void report_frames_cost(struct report_frames *f, FILE *out);

/*
 * The functions of a chain, innermost first, as numbers. Returns how many; 0: out of memory (every
 * chain has one).
 */
uint32_t report_frames_of(struct report_frames *f, uint32_t chain,
                          uint32_t function[REPORT_FRAMES_MAX]);

struct report_function report_function(const struct report_frames *f, uint32_t number);
const char *report_text(const struct report_frames *f, uint32_t number);

#endif
