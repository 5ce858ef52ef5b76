/* SPDX-License-Identifier: BSD-2-Clause */
/* Owns: the distance of words, see guess.h. */
#include "guess.h"

#include <ctype.h>
#include <stdio.h>
#include <string.h>

enum { LENGTH_MAX = 63 };

static unsigned smaller(unsigned a, unsigned b)
{
    return a < b ? a : b;
}

/* Edits (insert, delete, replace, swap neighbours) from a to b; letters' case does not count. */
static unsigned distance(const char *a, size_t na, const char *b, size_t nb)
{
    unsigned row[3][LENGTH_MAX + 1], *before = row[0], *last = row[1], *now = row[2];

    for (size_t j = 0; j <= nb; j++) {
        last[j] = (unsigned)j;
    }
    for (size_t i = 1; i <= na; i++) {
        now[0] = (unsigned)i;
        for (size_t j = 1; j <= nb; j++) {
            int x = tolower((unsigned char)a[i - 1]), y = tolower((unsigned char)b[j - 1]);
            now[j] = smaller(smaller(last[j], now[j - 1]) + 1, last[j - 1] + (x != y));
            if (i > 1 && j > 1 && x == tolower((unsigned char)b[j - 2]) &&
                tolower((unsigned char)a[i - 2]) == y) {
                now[j] = smaller(now[j], before[j - 2] + 1);
            }
        }
        unsigned *reused = before;
        before = last;
        last = now;
        now = reused;
    }
    return last[nb];
}

void mkperf_guess_begin(struct mkperf_guess *g, const char *word)
{
    size_t n = strlen(word);

    *g = (struct mkperf_guess){.word = word};
    g->distance = (n < 3 ? 1 : (unsigned)n / 3) + 1; /* what is as far as this is no guess */
}

/* A word that begins with what was typed is as near as one mistake. */
void mkperf_guess_try(struct mkperf_guess *g, const char *candidate)
{
    size_t n = strlen(g->word), length = strlen(candidate);
    unsigned d;

    if (n > LENGTH_MAX || length > LENGTH_MAX || length >= sizeof g->best) {
        return;
    }
    d = distance(g->word, n, candidate, length);
    if (n >= 3 && strncmp(candidate, g->word, n) == 0) {
        d = smaller(d, 1);
    }
    if (d < g->distance && d < n) {
        g->distance = d;
        snprintf(g->best, sizeof g->best, "%s", candidate);
    }
}

void mkperf_guess_put(void *to, const char *candidate, const char *help)
{
    (void)help;
    mkperf_guess_try(to, candidate);
}

const char *mkperf_guess_text(const struct mkperf_guess *g, char buffer[MKPERF_GUESS_TEXT])
{
    snprintf(buffer, MKPERF_GUESS_TEXT, g->best[0] != '\0' ? "; did you mean '%s'?" : "%s",
             g->best);
    return buffer;
}
