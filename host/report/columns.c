/* SPDX-License-Identifier: BSD-2-Clause */
/* The table of columns, see report.h. */
#include "report.h"

#include "base/args.h"

enum { MIN_UNKNOWN_NS = 500 }; /* a shorter time is not shown: it is half of the last digit */

/* Words of struct report_row_key. The event has none, because rows of different events always differ. */
enum { PD = 1, NAME = 2, CORE = 4, MODE = 8, LINE = 16, DSO = 32, SLICE = 64 };

struct column {
    const char *name;    /* its name as a key of rows; NULL: it is no key */
    const char *field;   /* perf script's name for it as a field of samples; NULL: it is no field */
    const char *aliases; /* other names of either, separated by blanks */
    const char *title;
    unsigned words; /* the words in which its rows differ */
};

/* clang-format off */
static const struct column columns[REPORT_COLUMNS] = {
    /*                       -s        -F         other names                 title */
    [REPORT_SORT_PD]      = {"pd",     "comm",    "",                         "PD",     PD},
    [REPORT_SORT_SYMBOL]  = {"symbol", "sym",     "",                         "Symbol", NAME | MODE},
    [REPORT_SORT_EVENT]   = {"event",  "event",   "",                         "Event",  0},
    [REPORT_SORT_CORE]    = {"core",   "cpu",     "",                         "Core",   CORE},
    [REPORT_SORT_MODE]    = {"mode",   NULL,      "cpumode",                  "Mode",   MODE},
    [REPORT_SORT_LINE]    = {"line",   "srcline", "",                         "Line",   LINE},
    [REPORT_SORT_DSO]     = {"dso",    "dso",     "elf",                      "ELF",    DSO},
    [REPORT_SORT_TIME]    = {"time",   "time",    "",                         "Time",   SLICE},
    [REPORT_SORT_UTIL]    = {"util",   NULL,      "utilisation utilization",  "Ran",    PD | SLICE},
    [REPORT_FIELD_TID]    = {NULL,     "tid",     "",                         NULL,     0},
    [REPORT_FIELD_PID]    = {NULL,     "pid",     "",                         NULL,     0},
    [REPORT_FIELD_PERIOD] = {NULL,     "period",  "",                         NULL,     0},
    [REPORT_FIELD_IP]     = {NULL,     "ip",      "",                         NULL,     0},
    [REPORT_FIELD_SYMOFF] = {NULL,     "symoff",  "",                         NULL,     0},
};
/* clang-format on */

static const char always_there[] = "overhead samples period"; /* columns of every table of rows */

bool report_columns_have(const struct report_column_list *list, enum report_column_id column)
{
    for (unsigned i = 0; i < list->n; i++) {
        if (list->column[i] == column) {
            return true;
        }
    }
    return false;
}

/* Returns the number of an ELF. PDs that run the same program have the same number. */
static uint32_t dso_of(const struct mkperf_places *s, const struct mkperf_label *label)
{
    const char *elf = label->pd < s->npds ? s->pd[label->pd].elf : NULL;

    if (label->kernel) {
        return s->session.kernel_elf != NULL ? 1 : 0;
    }
    for (uint32_t i = 0; elf != NULL && i < s->npds; i++) {
        if (s->pd[i].elf != NULL && strcmp(s->pd[i].elf, elf) == 0) {
            return 2 + i;
        }
    }
    return 0;
}

struct report_row_key report_columns_key(const struct report_column_list *list,
                                         const struct mkperf_frames *f, uint32_t chain,
                                         uint32_t function)
{
    const struct mkperf_chain_head head = mkperf_profile_head(f->profile, chain);
    const struct mkperf_label label = mkperf_frames_label(f, function);
    unsigned words = 0;

    for (unsigned i = 0; i < list->n; i++) {
        words |= columns[list->column[i]].words;
    }
    return (struct report_row_key){
        .pd = words & PD ? label.pd : 0,
        .name = words & NAME ? label.name : 0,
        .core = words & CORE ? head.core : 0,
        .mode = words & MODE ? mkperf_mode_letter(label.kernel, label.guest) : 0,
        .line = words & LINE ? label.line : 0,
        .event = head.event,
        .dso = words & DSO ? dso_of(&f->profile->places, &label) : 0,
        .slice = words & SLICE ? head.slice : 0,
    };
}

void report_column_text(enum report_column_id column, const struct mkperf_frames *f,
                        const struct report_row_key *key, char *text, size_t n)
{
    const struct mkperf_profile *p = f->profile;
    const struct mkperf_places *s = &p->places;
    uint64_t ns = mkperf_time_slice_ns(&p->slices, key->slice), unknown_ns;
    char mode = (char)key->mode;
    double percent;

    switch (column) {
    case REPORT_SORT_PD:
        snprintf(text, n, "%s", mkperf_profile_pd_name(p, key->pd));
        break;
    case REPORT_SORT_SYMBOL:
        snprintf(text, n, "[%c] %s", mode, mkperf_frames_text(f, key->name));
        break;
    case REPORT_SORT_EVENT:
        snprintf(text, n, "%s", s->session.event[key->event].name);
        break;
    case REPORT_SORT_CORE:
        snprintf(text, n, "%03" PRIu32, key->core); /* perf prints three digits */
        break;
    case REPORT_SORT_MODE:
        snprintf(text, n, "[%c]", mode);
        break;
    case REPORT_SORT_LINE:
        snprintf(text, n, "%s", mkperf_frames_text(f, key->line));
        break;
    case REPORT_SORT_DSO:
        snprintf(text, n, "%s",
                 basename(key->dso == 0   ? "[unknown]"
                          : key->dso == 1 ? s->session.kernel_elf
                                          : s->pd[key->dso - 2].elf));
        mkperf_printable(text);
        break;
    case REPORT_SORT_TIME: /* the begin of the slice in seconds, in the form that perf uses */
        if (p->slices.quantum_ns % 1000 == 0) {
            snprintf(text, n, "%" PRIu64 ".%06" PRIu64, ns / 1000000000, ns / 1000 % 1000000);
        } else {
            snprintf(text, n, "%" PRIu64 ".%09" PRIu64, ns / 1000000000, ns % 1000000000);
        }
        break;
    case REPORT_SORT_UTIL: /* by scheduling events, whatever event the samples count; without gaps */
        if (!mkperf_utilisation_of(&p->util, key->pd, key->slice, &percent, &unknown_ns)) {
            snprintf(text, n, "-");
        } else if (unknown_ns >= MIN_UNKNOWN_NS && p->slices.quantum_ns != 0) {
            snprintf(text, n, "%.2f%% (%.6f s unknown)", percent, (double)unknown_ns / 1e9);
        } else { /* the head of a report prints the gaps of the whole recording */
            snprintf(text, n, "%.2f%%", percent);
        }
        break;
    default:
        assert(!"a field of samples, which has no text of a row");
    }
}

const char *report_column_title(enum report_column_id column)
{
    return columns[column].title;
}

const char *report_column_name(enum report_column_id column)
{
    return columns[column].name;
}

/* Returns whether the n bytes at name are one of the words. */
static bool is_word(const char *words, const char *name, size_t n)
{
    for (const char *at = words; at != NULL && *at != '\0';) {
        size_t length = strcspn(at, " ");
        if (length == n && memcmp(at, name, n) == 0) {
            return true;
        }
        at += length + strspn(at + length, " ");
    }
    return false;
}

/* Returns the number of the column that has this name, as a key of -s or as a field of -F; REPORT_COLUMNS if there is none.
 * fields: only columns that are fields are found; otherwise only columns that are keys. */
static unsigned find_column(const char *name, size_t n, bool fields)
{
    unsigned i = 0;

    while (i < REPORT_COLUMNS &&
           ((fields ? columns[i].field : columns[i].name) == NULL ||
            (!is_word(columns[i].name, name, n) && !is_word(columns[i].field, name, n) &&
             !is_word(columns[i].aliases, name, n)))) {
        i++;
    }
    return i;
}

struct joined {
    char text[256];
};

static void join(void *to, const char *word, const char *help)
{
    struct joined *j = to;
    size_t n = strlen(j->text);

    (void)help;
    snprintf(j->text + n, sizeof j->text - n, "%s%s", n > 0 ? ", " : "", word);
}

static enum mkperf_status no_such(const struct mkperf_given *g, const char *name, size_t n,
                                  mkperf_list *list, const char *what)
{
    char word[64], near[MKPERF_GUESS_TEXT];
    struct joined all = {""};
    struct mkperf_guess guess;

    snprintf(word, sizeof word, "%.*s", (int)n, name);
    mkperf_guess_begin(&guess, word);
    list(mkperf_guess_put, &guess);
    list(join, &all);
    return mkperf_usage_error(g->e, g->command, "%s: no %s '%s', there are %s%s", g->name, what,
                              word, all.text, mkperf_guess_text(&guess, near));
}

enum mkperf_status report_columns_sort(struct report_column_list *list,
                                       const struct mkperf_given *g)
{
    bool seen[REPORT_COLUMNS] = {false};

    list->n = 0;
    for (const char *at = g->value;; at++) {
        size_t n = strcspn(at, ",");
        unsigned i = find_column(at, n, false);

        if (i == REPORT_COLUMNS && !is_word(always_there, at, n)) {
            return no_such(g, at, n, report_columns_put_keys, "key");
        }
        if (i < REPORT_COLUMNS && !seen[i]) {
            seen[i] = true;
            list->column[list->n++] = (enum report_column_id)i;
        }
        at += n;
        if (*at == '\0') {
            break;
        }
    }
    return list->n > 0 ? MKPERF_OK
                       : mkperf_given_bad(g, "a key in addition to what is always shown");
}

enum mkperf_status report_columns_fields(unsigned *fields, unsigned standard,
                                         const struct mkperf_given *g)
{
    *fields = *g->value == '+' || *g->value == '-' ? standard : 0;
    for (const char *at = g->value;; at++) {
        bool less = *at == '-';

        at += *at == '+' || less;
        size_t n = strcspn(at, ",");
        unsigned i = find_column(at, n, true);
        if (i == REPORT_COLUMNS) {
            return no_such(g, at, n, report_columns_put_fields, "field");
        }
        *fields = less ? *fields & ~(1U << i) : *fields | 1U << i;
        at += n;
        if (*at == '\0') {
            return MKPERF_OK;
        }
    }
}

void report_columns_put_keys(mkperf_put *put, void *to)
{
    for (unsigned i = 0; i < REPORT_SORT_KEYS; i++) {
        put(to, columns[i].name, "");
    }
}

void report_columns_put_fields(mkperf_put *put, void *to)
{
    for (unsigned i = 0; i < REPORT_COLUMNS; i++) {
        if (columns[i].field != NULL) {
            put(to, columns[i].field, "");
        }
    }
}
