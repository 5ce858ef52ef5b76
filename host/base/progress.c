/* SPDX-License-Identifier: BSD-2-Clause */
/* Owns: see progress.h. */
#include "progress.h"

#include <stdbool.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "monotonic.h"

enum { BAR = 30 };

static const double PATIENCE_S = 2.0, BETWEEN_S = 0.2;

static struct {
    const char *what; /* NULL: not begun, or no terminal */
    double began_s, next_s;
    bool drawn;
} progress;

void mkperf_progress_begin(const char *what)
{
    mkperf_progress_end();
    if (isatty(STDERR_FILENO)) {
        progress.what = what;
        progress.began_s = mkperf_now_s();
        progress.next_s = progress.began_s + PATIENCE_S;
    }
}

static bool is_due(void)
{
    double now;

    if (progress.what == NULL || (now = mkperf_now_s()) < progress.next_s) {
        return false;
    }
    progress.next_s = now + BETWEEN_S;
    progress.drawn = true;
    return true;
}

static void draw(double done, double all, const char *amount)
{
    double share = all > 0 ? done / all : 0;
    int full = share > 1 ? BAR : (int)(share * BAR);
    char bar[BAR + 1];

    memset(bar, '.', BAR);
    memset(bar, '=', (size_t)full);
    bar[BAR] = '\0';
    if (all > 0) {
        fprintf(stderr, "\r%.40s [%s] %3.0f %%%s\033[K", progress.what, bar, 100 * share, amount);
    } else {
        fprintf(stderr, "\r%.40s%s\033[K", progress.what, amount);
    }
    (void)fflush(stderr);
}

void mkperf_progress_bytes(uint64_t done, uint64_t all)
{
    char amount[64];

    if (is_due()) {
        snprintf(amount, sizeof amount, "  %.1f MB, %.0f s", (double)done / 1e6,
                 mkperf_now_s() - progress.began_s);
        draw((double)done, (double)all, amount);
    }
}

void mkperf_progress_steps(uint64_t done, uint64_t all)
{
    if (is_due()) {
        draw((double)done, (double)all, "");
    }
}

void mkperf_progress_seconds(double done, double all)
{
    char amount[64];

    if (is_due()) {
        snprintf(amount, sizeof amount, "  %.1f s", done);
        draw(done, all, amount);
    }
}

void mkperf_progress_clear(void)
{
    if (progress.drawn) {
        fputs("\r\033[K", stderr);
        (void)fflush(stderr);
        progress.drawn = false;
    }
}

void mkperf_progress_end(void)
{
    mkperf_progress_clear();
    progress.what = NULL;
}
