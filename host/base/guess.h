/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * "Did you mean": the word of a list that is nearest to one that was typed. For messages about
 * unknown commands, options, keys, events, PDs and functions.
 */
#ifndef MKPERF_HOST_BASE_GUESS_H
#define MKPERF_HOST_BASE_GUESS_H

struct mkperf_guess {
    const char *word; /* that was typed */
    unsigned distance;
    char best[128]; /* "": none is near */
};

void mkperf_guess_begin(struct mkperf_guess *g, const char *word);
void mkperf_guess_try(struct mkperf_guess *g, const char *candidate);
/* The same for lists of help.h (mkperf_put); to is a struct mkperf_guess. */
void mkperf_guess_put(void *to, const char *candidate, const char *help);

/* "; did you mean 'X'?" in a buffer of n bytes, "" without a guess. */
enum { MKPERF_GUESS_TEXT = 160 };
const char *mkperf_guess_text(const struct mkperf_guess *g, char buffer[MKPERF_GUESS_TEXT]);

#endif
