/* SPDX-License-Identifier: BSD-2-Clause */
/* Pairs the marks of phases, see model.h. */
#include "model.h"

const char *const mkperf_mark_names[MKPERF_MARK_KINDS] = {"point", "begin", "end"};

/* A begin of a phase. It is in the list of its phase's begins that have no end yet, or, if it is
 * unused, in the list of unused ones. */
struct mkperf_begun {
    struct mkperf_phase_begin begin;
    uint32_t next; /* index + 1 of the next one in the list; 0: this is the last one */
};

bool mkperf_marks_add(struct mkperf_marks *m, enum mkperf_mark_kind kind,
                      const struct mkperf_phase *phase, struct mkperf_phase_begin *begin)
{
    const uint64_t key[2] = {phase->pd | (uint64_t)phase->id << 32, phase->name};

    if (kind == MKPERF_MARK_POINT) {
        return false;
    }
    uint32_t number = mkperf_hash_number(&m->phases, key, 2), at = m->unused;
    MKPERF_GROW(m->last, m->last_room, m->phases.count);
    uint32_t *list = &m->last[number];
    if (kind == MKPERF_MARK_BEGIN) {
        if (at != 0) {
            m->unused = m->begun[at - 1].next;
        } else {
            MKPERF_GROW(m->begun, m->begun_room, m->nbegun + 1);
            at = ++m->nbegun;
        }
        m->begun[at - 1] = (struct mkperf_begun){.begin = *begin, .next = *list};
        *list = at;
        return false;
    }
    at = *list;
    if (at != 0) {
        *begin = m->begun[at - 1].begin;
        *list = m->begun[at - 1].next;
        m->begun[at - 1].next = m->unused;
        m->unused = at;
    }
    return at != 0;
}

void mkperf_marks_free(struct mkperf_marks *m)
{
    mkperf_hash_free(&m->phases);
    free(m->last);
    free(m->begun);
    memset(m, 0, sizeof *m);
}
