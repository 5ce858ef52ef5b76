/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Reads a sample of samples.json in one step, in the form that nearly all of them have: known keys
 * in quotes, each once, decimal numbers with or without quotes, nothing else.
 *
 * Owns: the fast path around the tokens. Called by toperf_sample with the '{' as the current token.
 * A sample that it does not accept is left unchanged to the tokens, which report errors; so it must
 * accept only what they accept, with the same result.
 */
#include "base/get.h"
#include "toperf_internal.h"

enum { DIGITS_MAX = 19 }; /* always below 2^64 */

/* The 0 after the buffer's contents ends every scan; words reach MKPERF_JSON_SLACK beyond them. */
struct cursor {
    const uint8_t *p, *line;
    uint64_t lines;
};

static inline void space(struct cursor *c)
{
    while (*c->p <= ' ') {
        if (*c->p == '\n') {
            c->lines++;
            c->line = c->p + 1;
        } else if (*c->p != ' ' && *c->p != '\r' && *c->p != '\t') {
            return;
        }
        c->p++;
    }
}

static inline bool take(struct cursor *c, uint8_t byte)
{
    space(c);
    if (*c->p != byte) {
        return false;
    }
    c->p++;
    return true;
}

static inline bool number(struct cursor *c, uint64_t *out)
{
    bool quoted = *c->p == '"';
    const uint8_t *from = c->p += quoted;
    uint64_t v = 0;

    for (unsigned digit; (digit = *c->p - (unsigned)'0') <= 9; c->p++) {
        v = v * 10 + digit;
    }
    if (c->p == from || c->p - from > DIGITS_MAX || (quoted && *c->p != '"')) {
        return false;
    }
    c->p += quoted;
    *out = v;
    return true;
}

/* As the file's writer lays them out: a comma, a new line of four blanks, all in one word. */
static inline bool next_line(struct cursor *c)
{
    static const uint8_t usual[8] = {',', '\n', ' ', ' ', ' ', ' ', '"', 0};

    if (((mkperf_get64(c->p) ^ mkperf_get64(usual)) << 8) != 0) {
        return false;
    }
    c->p += 6;
    c->lines++;
    c->line = c->p - 4;
    return true;
}

static bool addresses(struct cursor *c, struct toperf_raw *r)
{
    if (!take(c, '[')) {
        return false;
    }
    space(c);
    for (r->nips = 0; r->nips < MKPERF_MAX_FRAMES; r->nips++) {
        if (!number(c, &r->ips[r->nips])) {
            return false;
        }
        if (next_line(c)) {
            continue;
        }
        if (!take(c, ',')) {
            r->nips++;
            return take(c, ']');
        }
        space(c);
    }
    return false;
}

/* The key at the cursor, enum toperf_member; 0: not one of a sample's, or seen before. */
static inline unsigned key(struct cursor *c, unsigned seen)
{
    static const struct { /* in the order of enum toperf_member */
        uint8_t text[8];
        unsigned n;
    } keys[] = {
        {"\"ip\"", 4},  {"\"pid\"", 5}, {"\"time\"", 6}, {"\"period\"", 8},
        {"\"ips\"", 5}, {"\"cpu\"", 5}, {"\"nr\"", 4},
    };
    uint64_t word = mkperf_get64(c->p);

    for (unsigned left = TOPERF_MEMBERS & ~seen; left != 0; left &= left - 1) {
        unsigned i = (unsigned)__builtin_ctz(left);
        if ((word ^ mkperf_get64(keys[i].text)) << (64 - 8 * keys[i].n) == 0) {
            c->p += keys[i].n;
            return 1U << i;
        }
    }
    return 0;
}

static bool members(struct cursor *c, struct toperf_raw *r)
{
    do {
        space(c);
        unsigned member = key(c, r->seen);
        if (member == 0 || !take(c, ':')) {
            return false;
        }
        r->seen |= member;
        space(c);
        if (member == TOPERF_IPS ? !addresses(c, r) : !number(c, toperf_target(r, member))) {
            return false;
        }
    } while (take(c, ','));
    return take(c, '}');
}

bool toperf_fast(struct toperf *t, struct toperf_raw *r)
{
    struct mkperf_json *j = &t->json;
    struct cursor c = {.p = j->buffer + j->at, .line = NULL};

    if (t->serial || !members(&c, r)) {
        r->seen = r->nips = 0;
        r->cpu = 0;
        return false;
    }
    mkperf_json_skip(j, (size_t)(c.p - j->buffer), c.lines,
                     c.line != NULL ? (size_t)(c.line - j->buffer) : 0);
    return true;
}
