/* SPDX-License-Identifier: BSD-2-Clause */
/* Owns: see colour.h. */
#include "colour.h"

#include <stdlib.h>
#include <string.h>
#include <unistd.h>

/* Self is the enum mkperf_colour. */
#define WHEN                                                                             \
    {                                                                                    \
        .how = MKPERF_STORE_WORD, .min = MKPERF_COLOUR_AUTO, .max = MKPERF_COLOUR_ALWAYS \
    }

static const struct mkperf_option options[] = {
    {.name = "color",
     MKPERF_TAKES(WORD, "[WHEN]"),
     .words = "auto always never",
     .help = "shares in red from 5 per cent on, in green from 0.5 on: auto (on a terminal, unless "
             "NO_COLOR is set; the default), always (also without WHEN), never",
     .store = WHEN},
    {.name = "stdio-color",
     MKPERF_TAKES(WORD, "WHEN"),
     .words = "auto always never",
     .help = "the same, as perf calls it",
     .store = WHEN},
    {.id = 0},
};

const struct mkperf_option_group mkperf_colour_options = {options, NULL};

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
