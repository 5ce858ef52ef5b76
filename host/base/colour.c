/* SPDX-License-Identifier: BSD-2-Clause */
/* Owns: the options and sequences of coloured text, and the choice of PDs' colours. See colour.h. */
#include "colour.h"

/* The group's self is the enum mkperf_colour, of which the first value is that of the first word. */
const struct mkperf_option mkperf_colour_options[] = {
    MKPERF_OPTION(
        0, "color",
        "shares in red from 5 per cent on, in green from 0.5 on: auto (on a terminal, unless "
        "NO_COLOR is set; the default), always (also without WHEN), never",
        MKPERF_TAKES(WORD, "[WHEN]"), .words = "auto always never",
        .store = {.how = MKPERF_STORE_WORD, .none = MKPERF_COLOUR_ALWAYS}),
    MKPERF_OPTION(0, "stdio-color", "the same, as perf calls it", MKPERF_TAKES(WORD, "WHEN"),
                  .words = "auto always never",
                  .store = {.how = MKPERF_STORE_WORD, .none = MKPERF_COLOUR_ALWAYS}),
    {.letter = 0},
};

bool mkperf_colour_wanted(enum mkperf_colour when, FILE *out)
{
    const char *no = getenv("NO_COLOR"), *term = getenv("TERM");

    return when == MKPERF_COLOUR_ALWAYS || (when == MKPERF_COLOUR_AUTO && isatty(fileno(out)) &&
                                            !(no && *no) && !(term && strcmp(term, "dumb") == 0));
}

const char *mkperf_colour_begin(bool on, double percent)
{
    return !on                             ? ""
           : percent >= MKPERF_COLOUR_HOT  ? "\033[31m"
           : percent >= MKPERF_COLOUR_WARM ? "\033[32m"
                                           : "";
}

const char *mkperf_colour_end(bool on, double percent)
{
    return on && percent >= MKPERF_COLOUR_WARM ? "\033[0m" : "";
}

/* Each colour is as far as possible from those before it, in CIELAB and as the colour-blind see it. */
const uint32_t mkperf_pd_palette[MKPERF_PD_COLOURS] = {
    0xb2d87b, 0xb571b6, 0x0286fb, 0xd6636c, 0xe8c8de, 0x8e901c, 0x49caff, 0x7fada3,
    0xbc7847, 0x84dea4, 0xe8ce47, 0x9d84e9, 0xfca491, 0xfb984d, 0xe94f85, 0xd0a2d6,
    0x9ca765, 0xd3d86b, 0x8b94d9, 0xf77ea1, 0xfcb9c1, 0x88b542, 0x12c984, 0xb2d3f7,
};

static const double KERNEL_DARK = 0.72;

/* Returns whether the PD is mkperf's own. Those have samples only in some recordings of a system, so they get the
 * colours that the others leave. */
static bool is_own(const char *name)
{
    static const char *const own[] = {"profiler", "client", "client_net", "mkperf_profiler",
                                      "mkperf_client"};
    size_t n = sizeof own / sizeof *own;

    return mkperf_named(own, n, sizeof *own, name) < n;
}

static int by_name(const void *a, const void *b)
{
    const char *x = **(const char *const *const *)a, *y = **(const char *const *const *)b;

    return is_own(x) != is_own(y) ? (is_own(x) ? 1 : -1) : strcmp(x, y);
}

static bool is_grey(const char *name)
{
    return *name == '\0' || strcmp(name, "idle") == 0;
}

void mkperf_pd_colours(const char *const *name, size_t n, uint32_t *colour)
{
    const char *const **order = mkperf_xcalloc(n + 1, sizeof *order);
    static const uint32_t steps[] = {1, 5, 7, 11, 13, 17, 19, 23}; /* each reaches all colours */
    unsigned used[MKPERF_PD_COLOURS] = {0}, round = 0, coloured = 0, colours = 8;

    for (size_t i = 0; i < n; i++) {
        order[i] = &name[i];
        coloured += !is_grey(name[i]);
    }
    if (coloured > colours) { /* the first colours of the palette are the farthest apart */
        colours = coloured > 12 ? MKPERF_PD_COLOURS : 12;
    }
    qsort(order, n, sizeof *order, by_name);
    for (size_t i = 0; i < n; i++) {
        uint32_t wanted = 2166136261u, tries = 0; /* the hash FNV-1a of the name */
        for (const char *s = *order[i]; *s != '\0'; s++) {
            wanted = (wanted ^ (unsigned char)*s) * 16777619u;
        }
        wanted ^= wanted >> 15;
        uint32_t at = wanted % colours;
        uint32_t step = steps[wanted / colours % (sizeof steps / sizeof *steps)];
        size_t number = (size_t)(order[i] - name);

        if (is_grey(*order[i])) {
            colour[number] = **order[i] == '\0' ? MKPERF_COLOUR_UNKNOWN : MKPERF_COLOUR_IDLE;
            continue;
        }
        for (; used[at] > round; tries++) {
            at = (at + step) % colours;
            round += tries == colours;
        }
        used[at]++;
        colour[number] = mkperf_pd_palette[at];
    }
    free(order);
}

static uint32_t mix(uint32_t colour, double factor, double add)
{
    uint32_t out = 0;

    for (int shift = 16; shift >= 0; shift -= 8) {
        double part = (double)(colour >> shift & 255) * factor + add;
        out |= (uint32_t)(part + 0.5) << shift;
    }
    return out;
}

uint32_t mkperf_kernel_colour(uint32_t pd)
{
    return mix(pd, KERNEL_DARK, 0);
}

uint32_t mkperf_lighter(uint32_t colour, double part)
{
    return mix(colour, 1 - part, 255 * part);
}
