/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * From addresses to functions, for the commands that look at a recording.
 *
 * Owns: the functions that chains consist of, each once, as profile/places.h names them.
 */
#ifndef MKPERF_HOST_PROFILE_FRAMES_H
#define MKPERF_HOST_PROFILE_FRAMES_H

#include <stdio.h>

#include "base/guess.h"
#include "places.h"
#include "profile.h"

struct mkperf_label {
    uint32_t pd;
    bool kernel;
    uint32_t name, line; /* numbers of texts; line 0 = not asked for */
};

struct mkperf_frames {
    struct mkperf_profile *profile;
    bool with_line;
    struct mkperf_hash functions;
    uint32_t *function_of; /* of each place of the stack, + 1; 0: not asked for yet */
    uint32_t room;
    size_t
        *chain_at; /* of each chain: where its functions are in list, + 1; 0: not asked for yet */
    uint32_t chain_room;
    uint32_t *list; /* of each chain: how many, and these */
    size_t listed, list_room;
};

/* Reads the recording at path into profile, which has its options, and checks that it has what
 * `names` asks for (NULL: nothing). Missing ELFs are not errors: see mkperf_frames_warn. Close f, and
 * free the profile, in any case. */
enum mkperf_status mkperf_frames_read(struct mkperf_frames *f, struct mkperf_profile *profile,
                                      const char *path, bool with_line,
                                      const struct report_names *names, struct mkperf_error *e);

void mkperf_frames_close(struct mkperf_frames *f);

/* The ELF that names an address of a PD or of the kernel; NULL: none. */
static inline struct mkperf_module *mkperf_frames_module(const struct mkperf_frames *f, uint64_t pd,
                                                         bool kernel)
{
    const struct mkperf_places *s = &f->profile->places;

    return kernel ? s->kernel : pd < s->npds ? s->pd[pd].module : NULL;
}

/* Says which ELFs are missing, and that the recording's end is. */
void mkperf_frames_warn(const struct mkperf_frames *f, FILE *out);

/* "; did you mean 'X'?" for the name of a function that no sample hit; "" if none is near. */
const char *mkperf_frames_guess(struct mkperf_frames *f, const char *wanted,
                                char buffer[MKPERF_GUESS_TEXT]);

/* Says what profiling cost, for each event, as far as that is known. */
void mkperf_frames_cost(struct mkperf_frames *f, FILE *out);

/* The functions of a chain, innermost first, as numbers. Returns how many: at least one. */
uint32_t mkperf_frames_of(struct mkperf_frames *f, uint32_t chain,
                          uint32_t function[MKPERF_PLACES_MAX]);

struct mkperf_label mkperf_frames_label(const struct mkperf_frames *f, uint32_t number);
const char *mkperf_frames_text(const struct mkperf_frames *f, uint32_t number);

#endif
