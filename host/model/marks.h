/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Which begin of a phase an end belongs to: the latest one with the end's PD, id and name that has
 * no end yet. Phases with different ids may therefore overlap, and equal ones may nest.
 *
 *     begin 7   begin 8   end 7   end 8        two phases
 *     begin 7   begin 7   end 7                one phase; the first begin has no end, which was lost
 *
 * Owns: the begins that have no end yet. Called with the marks in the order of their times.
 */
#ifndef MKPERF_HOST_MODEL_MARKS_H
#define MKPERF_HOST_MODEL_MARKS_H

#include "base/base.h"

struct mkperf_phase {
    uint32_t pd, id, name; /* name: a number that the caller gave to it */
};

struct mkperf_phase_begin {
    uint64_t time_ns;
    uint64_t tag; /* the caller's */
};

struct mkperf_marks { /* all zero: no mark yet */
    struct mkperf_hash phases;
    uint32_t *last; /* for each phase the latest begin without an end: 1 + its index in `begun` */
    uint32_t last_room;
    struct mkperf_begun *begun;
    uint32_t nbegun, begun_room, unused; /* unused: the first one of a list, + 1; 0: none */
};

void mkperf_marks_begin(struct mkperf_marks *m, const struct mkperf_phase *phase,
                        const struct mkperf_phase_begin *begin);
/* Returns whether the phase had begun. Then *begin is what mkperf_marks_begin got. */
bool mkperf_marks_end(struct mkperf_marks *m, const struct mkperf_phase *phase,
                      struct mkperf_phase_begin *begin);
void mkperf_marks_free(struct mkperf_marks *m);

#endif
