/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The words of a command: numbers, and events as in `cycles:u,period=1000`.
 *
 * Owns: nothing; see command.h for who calls. Words end in a NUL and are shorter than a line.
 */
#include "command.h"

#include <mkperf/event_attributes.h>

#include "../lib/text.h"

bool mkperf_command_same(const char *a, const char *b)
{
    return mkperf_text_is(a, MKPERF_COMMAND_BYTES, b);
}

static unsigned digit(char c)
{
    if (c >= '0' && c <= '9') {
        return (unsigned)(c - '0');
    }
    if (c >= 'a' && c <= 'f') {
        return (unsigned)(c - 'a') + 10;
    }
    return c >= 'A' && c <= 'F' ? (unsigned)(c - 'A') + 10 : 16;
}

/* Parses the number at *word and moves *word behind it. False: no digit, or above max. */
static bool parse_number(const char **word, unsigned base, uint64_t max, uint64_t *out)
{
    const char *w = *word;

    *out = 0;
    for (; digit(*w) < base; w++) {
        if (*out > (max - digit(*w)) / base) {
            return false;
        }
        *out = *out * base + digit(*w);
    }
    bool any = w != *word;
    *word = w;
    return any;
}

bool mkperf_command_number(const char *word, bool any, uint64_t max, uint64_t *out)
{
    unsigned base = 10;

    if (any && word[0] == '0' && (word[1] == 'x' || word[1] == 'X')) {
        base = 16;
        word += 2;
    }
    return parse_number(&word, base, max, out) && *word == '\0';
}

/* The event's name or number, up to ':' or ','. */
static bool event_name(const char **word, mkperf_EventSpec *out)
{
    const char *w = *word;
    uint64_t raw;
    size_t n = 0;

    if (*w == 'r' && digit(w[1]) < 16) {
        w++;
        if (parse_number(&w, 16, UINT32_MAX, &raw) && (*w == ':' || *w == ',' || *w == '\0')) {
            out->raw = (uint32_t)raw;
            *word = w;
            return true;
        }
        w = *word;
    }
    for (; *w != ':' && *w != ',' && *w != '\0'; w++) {
        if (n + 1 >= sizeof out->name) {
            return false;
        }
        out->name[n++] = *w;
    }
    *word = w;
    return n != 0;
}

static bool modifiers(const char **word, mkperf_EventSpec *out)
{
    if (**word != ':') {
        return true;
    }
    const char *w = *word + 1;
    while (mkperf_event_modifier(*w, false, out)) {
        w++;
    }
    bool any = w != *word + 1;
    *word = w;
    return any;
}

/* Parses `,KEY=N` at *word and moves *word behind it. */
static bool term(const char **word, mkperf_EventSpec *out)
{
    const char *key = *word + 1, *end = key;
    uint64_t value;

    while (*end != '=' && *end != '\0') {
        end++;
    }
    size_t n = (size_t)(end - key);
    uint64_t max = mkperf_event_term_max(key, n);
    if (*end != '=' || max == 0) {
        return false;
    }
    *word = end + 1;
    if (!parse_number(word, 10, max, &value) || value == 0) {
        return false;
    }
    mkperf_event_set_term(key, n, value, out);
    return true;
}

bool mkperf_command_event(const char *word, uint32_t period_us, mkperf_EventSpec *out)
{
    *out = (mkperf_EventSpec)mkperf_EventSpec_init_zero;
    if (!event_name(&word, out) || !modifiers(&word, out)) {
        return false;
    }
    out->frequency = 1000000 / period_us;
    return *word == '\0' || (*word == ',' && term(&word, out) && *word == '\0');
}
