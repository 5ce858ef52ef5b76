/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The functions of chains, for the commands that show a recording.
 *
 * Owns: the reading of a recording into a profile, and the functions of which its chains consist, each once. profile/places.h
 * names them. A function is one label: PD, mode, name and, if lines are asked for, its line. With places.inlined, an inlined
 * function is a function of its own, "NAME (inlined)". Where a chain has more than MKPERF_FRAMES_MAX functions, inlined ones
 * are left out.
 */
#ifndef MKPERF_HOST_PROFILE_FRAMES_H
#define MKPERF_HOST_PROFILE_FRAMES_H

#include "profile.h"

enum { MKPERF_FRAMES_MAX = 4 * MKPERF_PLACES_MAX }; /* most functions of a chain */

struct mkperf_label {
    uint32_t pd;
    bool kernel, inlined;
    char guest;          /* mkperf_guest_letter */
    uint32_t name, line; /* numbers of texts; line 0: lines are not asked for */
};

/* Returns the letter of perf for the code's mode. */
static inline char mkperf_mode_letter(bool kernel, char guest)
{
    if (kernel) {
        return 'k';
    }
    return (char)(guest != 0 ? guest : '.');
}

struct mkperf_frames {
    struct mkperf_profile *profile;
    bool with_line;
    struct mkperf_hash functions;
    /* The function of each frame of places.h, plus 1. It is 0 while nobody has asked for the function. */
    uint32_t *function_of;
    uint32_t room;
    /* The place of each chain's functions in `list`, plus 1. It is 0 while they are not in `list`. */
    size_t *chain_at;
    uint32_t chain_room;
    uint32_t *list; /* A chain has the number of its functions there, and then the functions. */
    size_t listed, list_room;
};

/* A recording that a command reads: its options are members of the profile. */
struct mkperf_recording {
    struct mkperf_profile profile;
    struct mkperf_frames frames;
};
/* Frees what was read. `recording` is a struct mkperf_recording. A command uses this function as its `end` if its state begins
 * with one. */
void mkperf_recording_free(void *recording);

/* Makes times of a filter's percentages, for which it reads the recording. Errors: the reader's; USAGE: the path is "-". */
enum mkperf_status mkperf_frames_time(struct report_filter *filter, const char *path,
                                      struct mkperf_error *e);

/*
 * Reads the recording at path into a profile, of which the caller has set the options, and checks that it has the PD and event
 * of `names` (NULL: no check). A missing ELF is no error: see mkperf_frames_warn. The caller closes f and frees the profile in
 * any case.
 */
enum mkperf_status mkperf_frames_read(struct mkperf_frames *f, struct mkperf_profile *profile,
                                      const char *path, bool with_line,
                                      const struct report_names *names, struct mkperf_error *e);

void mkperf_frames_close(struct mkperf_frames *f);

/* Returns an error, USAGE, if the recording has no such PD or event (NULL: not asked for), or if its filter lets no
 * sample pass: the table would be empty. */
enum mkperf_status report_check_names(const struct mkperf_profile *p, const char *path,
                                      const char *pd, const char *event, struct mkperf_error *e);

/* Returns the ELF that names an address of a PD or of the kernel, or NULL if there is none. */
static inline struct mkperf_module *mkperf_frames_module(const struct mkperf_frames *f, uint64_t pd,
                                                         bool kernel)
{
    const struct mkperf_places *s = &f->profile->places;

    return kernel ? s->kernel : pd < s->npds ? s->pd[pd].module : NULL;
}

/* Calls `put` for each ELF that is missing, and also if the end of the recording is missing. */
void mkperf_frames_warnings(const struct mkperf_frames *f, mkperf_put_warning *put, void *self);
/* Prints these warnings as lines of a report's head. */
void mkperf_frames_warn(const struct mkperf_frames *f, FILE *out);

/* Returns "; did you mean 'X'?" for the name of a function that no sample hit, or "" if no name is
 * near. */
const char *mkperf_frames_guess(struct mkperf_frames *f, const char *wanted,
                                char buffer[MKPERF_GUESS_TEXT]);

/* Prints the cost of profiling for each event, as far as it is known. */
void mkperf_frames_cost(struct mkperf_frames *f, FILE *out);

/* Stores the numbers of the functions of a chain, innermost first. Returns their number, at least 1. */
uint32_t mkperf_frames_of(struct mkperf_frames *f, uint32_t chain,
                          uint32_t function[MKPERF_FRAMES_MAX]);

struct mkperf_label mkperf_frames_label(const struct mkperf_frames *f, uint32_t number);
const char *mkperf_frames_text(const struct mkperf_frames *f, uint32_t number);

#endif
