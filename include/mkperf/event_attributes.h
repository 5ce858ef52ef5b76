/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The attributes after the name of an event: `cycles:u`, `cycles/freq=100/`, `cycles,period=1000`.
 *
 * Owns: the table of modifiers and the table of terms, with their fields of EventSpec. The parsers
 * of both grammars use it: the host's -e (host/pmu/events.c) and the target's text commands
 * (pd/client/command.c). A new attribute is a row here; pd/profiler/plan.c decides what it means.
 */
#ifndef MKPERF_EVENT_ATTRIBUTES_H
#define MKPERF_EVENT_ATTRIBUTES_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include <mkperf/session.h>

#include "mkperf.pb.h"

/* clang-format off */
/* X(letter, field of EventSpec, only behind a group, meaning) */
#define MKPERF_EVENT_MODIFIERS(X)            \
    X('u', user,   false, "user")            \
    X('k', kernel, false, "kernel")          \
    X('G', guest,  false, "only guests")    \
    X('H', host,   false, "no guests")       \
    X('S', read,   true,  "group read")

/* X(key, field of EventSpec, the field that it excludes, greatest value); the least value is 1 */
#define MKPERF_EVENT_TERMS(X)                                \
    X("period", period,    frequency, MKPERF_MAX_PERIOD)     \
    X("freq",   frequency, period,    MKPERF_MAX_FREQUENCY)
/* clang-format on */

/* Sets the field of a modifier. group: the modifier follows a group. False: it is not allowed
 * there. */
static inline bool mkperf_event_modifier(char letter, bool group, mkperf_EventSpec *spec)
{
    switch (letter) {
#define MODIFIER(c, field, of_group, meaning) \
    case c:                                   \
        spec->field |= !(of_group) || group;  \
        return !(of_group) || group;
        MKPERF_EVENT_MODIFIERS(MODIFIER)
#undef MODIFIER
    default:
        return false;
    }
}

static inline bool mkperf_event_same_bytes(const char *a, const char *b, size_t n)
{
    size_t i = 0;

    while (i < n && a[i] == b[i]) {
        i++;
    }
    return i == n;
}

/* Returns the greatest value of the term that the n bytes at `key` name, or 0 if there is no such
 * term. */
static inline uint64_t mkperf_event_term_max(const char *key, size_t n)
{
#define TERM(name, field, other, max)                                     \
    if (n == sizeof(name) - 1 && mkperf_event_same_bytes(key, name, n)) { \
        return max;                                                       \
    }
    MKPERF_EVENT_TERMS(TERM)
#undef TERM
    return 0;
}

/* Sets the field of that term to a value from 1 to its greatest, and the excluded field to 0. */
static inline void mkperf_event_set_term(const char *key, size_t n, uint64_t value,
                                         mkperf_EventSpec *spec)
{
#define TERM(name, field, other, max)                                     \
    if (n == sizeof(name) - 1 && mkperf_event_same_bytes(key, name, n)) { \
        spec->other = 0;                                                  \
        spec->field = (__typeof__(spec->field))value;                     \
    }
    MKPERF_EVENT_TERMS(TERM)
#undef TERM
}

#endif
