/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The words of a command: numbers, and events as in `cycles:u,period=1000`.
 *
 * Owns: nothing; see command.h for who calls. Words end in a NUL and are shorter than a line.
 */
#include "command.h"

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

/* The number at *word, which is moved behind it. False: no digit, or above max. */
static bool number(const char **word, unsigned base, uint64_t max, uint64_t *out)
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
    return number(&word, base, max, out) && *word == '\0';
}

/* Whether *word begins with `start`; it is moved behind that. */
static bool begins(const char **word, const char *start)
{
    const char *w = *word;

    for (; *start != '\0'; w++, start++) {
        if (*w != *start) {
            return false;
        }
    }
    *word = w;
    return true;
}

/* The event's name or number, up to ':' or ','. */
static bool event_name(const char **word, mkperf_EventSpec *out)
{
    const char *w = *word;
    uint64_t raw;
    size_t n = 0;

    if (*w == 'r' && digit(w[1]) < 16) {
        w++;
        if (number(&w, 16, UINT32_MAX, &raw) && (*w == ':' || *w == ',' || *w == '\0')) {
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
    for (; *w == 'u' || *w == 'k'; w++) {
        out->user = out->user || *w == 'u';
        out->kernel = out->kernel || *w == 'k';
    }
    bool any = w != *word + 1;
    *word = w;
    return any;
}

bool mkperf_command_event(const char *word, uint32_t period_us, mkperf_EventSpec *out)
{
    uint64_t value = 1000000 / period_us;

    *out = (mkperf_EventSpec)mkperf_EventSpec_init_zero;
    if (!event_name(&word, out) || !modifiers(&word, out)) {
        return false;
    }
    if (begins(&word, ",period=")) {
        return number(&word, 10, MKPERF_MAX_PERIOD, &out->period) && out->period != 0 &&
               *word == '\0';
    }
    if (begins(&word, ",freq=") &&
        (!number(&word, 10, MKPERF_MAX_FREQUENCY, &value) || value == 0)) {
        return false;
    }
    out->frequency = (uint32_t)value;
    return *word == '\0';
}
