/* SPDX-License-Identifier: BSD-2-Clause */
/* The table of columns, see report.h. */
#include "report.h"

enum { MIN_UNKNOWN_NS = 500 }; /* a shorter time is not shown: it is half of the last digit */

/* Words of struct report_row_key. The event has none, because rows of different events always differ. */
enum { PD = 1, NAME = 2, CORE = 4, MODE = 8, LINE = 16, DSO = 32, SLICE = 64 };

/* clang-format off */
const struct report_column report_columns[REPORT_COLUMNS] = {
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

struct report_row_key report_columns_key(const struct report_column_list *list,
                                         const struct mkperf_frames *f, uint32_t chain,
                                         uint32_t function)
{
    const struct mkperf_chain_head head = mkperf_profile_head(f->profile, chain);
    const struct mkperf_label label = mkperf_frames_label(f, function);
    const struct mkperf_places *s = &f->profile->places;
    const char *elf = label.pd < s->npds ? s->pd[label.pd].elf : NULL;
    uint32_t dso = label.kernel && s->session.kernel_elf != NULL ? 1 : 0;
    unsigned words = 0;

    for (unsigned i = 0; i < list->n; i++) {
        words |= report_columns[list->column[i]].words;
    }
    /* PDs that run the same program have the same number of their ELF. */
    for (uint32_t i = 0; words & DSO && !label.kernel && elf != NULL && dso == 0; i++) {
        dso = s->pd[i].elf != NULL && strcmp(s->pd[i].elf, elf) == 0 ? 2 + i : 0;
    }
    return (struct report_row_key){
        .pd = words & PD ? label.pd : 0,
        .name = words & NAME ? label.name : 0,
        .core = words & CORE ? head.core : 0,
        .mode = words & MODE ? mkperf_mode_letter(label.kernel, label.guest) : 0,
        .line = words & LINE ? label.line : 0,
        .event = head.event,
        .dso = words & DSO ? dso : 0,
        .slice = words & SLICE ? head.slice : 0,
    };
}

const char *report_row_text(const struct report_rows *rows, const struct report_row *row,
                            unsigned k, char text[REPORT_ROW_TEXT])
{
    const struct mkperf_frames *f = rows->frames;
    const struct mkperf_profile *p = f->profile;
    const struct mkperf_places *s = &p->places;
    const struct report_row_key *key = &row->key;
    uint64_t ns = mkperf_time_slice_ns(&p->slices, key->slice), unknown_ns;
    bool us = p->slices.quantum_ns % 1000 == 0;
    double percent;

    switch (rows->options->keys.column[k]) {
    case REPORT_SORT_PD:
        return mkperf_profile_pd_name(p, key->pd);
    case REPORT_SORT_SYMBOL:
        snprintf(text, REPORT_ROW_TEXT, "[%c] %s", (char)key->mode,
                 mkperf_frames_text(f, key->name));
        return text;
    case REPORT_SORT_EVENT:
        return s->session.event[key->event].name;
    case REPORT_SORT_CORE:
        snprintf(text, REPORT_ROW_TEXT, "%03" PRIu32, key->core); /* perf prints three digits */
        return text;
    case REPORT_SORT_MODE:
        snprintf(text, REPORT_ROW_TEXT, "[%c]", (char)key->mode);
        return text;
    case REPORT_SORT_LINE:
        return mkperf_frames_text(f, key->line);
    case REPORT_SORT_DSO:
        return mkperf_printable_copy(basename(key->dso == 0   ? "[unknown]"
                                              : key->dso == 1 ? s->session.kernel_elf
                                                              : s->pd[key->dso - 2].elf),
                                     text, REPORT_ROW_TEXT);
    case REPORT_SORT_TIME: /* the begin of the slice in seconds, in the form that perf uses */
        snprintf(text, REPORT_ROW_TEXT, "%" PRIu64 ".%0*" PRIu64, ns / 1000000000, us ? 6 : 9,
                 ns % 1000000000 / (us ? 1000 : 1));
        return text;
    default: /* by scheduling events, whatever event the samples count; without gaps */
        assert(rows->options->keys.column[k] == REPORT_SORT_UTIL);
        if (!mkperf_utilisation_of(&p->util, key->pd, key->slice, &percent, &unknown_ns)) {
            return "-";
        }
        if (unknown_ns >= MIN_UNKNOWN_NS && p->slices.quantum_ns != 0) {
            snprintf(text, REPORT_ROW_TEXT, "%.2f%% (%.6f s unknown)", percent,
                     (double)unknown_ns / 1e9);
        } else { /* The unknown time is too short to show, or the head of the report shows it once for all rows. */
            snprintf(text, REPORT_ROW_TEXT, "%.2f%%", percent);
        }
        return text;
    }
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

/* Finds the column whose name, as a key of -s or as a field of -F, is at *at, and moves on behind the name. The number is
 * REPORT_COLUMNS for a column that is always there, which is no field. */
static enum mkperf_status take_column(const char **at, bool fields, const struct mkperf_given *g,
                                      unsigned *column)
{
    size_t n = strcspn(*at, ","), used = 0;
    char word[64], all[256] = "", near[MKPERF_GUESS_TEXT];
    const char *name = *at;
    struct mkperf_guess guess;

    *at += n;
    for (*column = 0; *column < REPORT_COLUMNS; ++*column) {
        const struct report_column *c = &report_columns[*column];
        if ((fields ? c->field : c->name) != NULL &&
            (is_word(c->name, name, n) || is_word(c->field, name, n) ||
             is_word(c->aliases, name, n))) {
            return MKPERF_OK;
        }
    }
    if (!fields && is_word(always_there, name, n)) {
        return MKPERF_OK;
    }
    snprintf(word, sizeof word, "%.*s", (int)n, name);
    mkperf_guess_begin(&guess, word);
    for (unsigned i = 0; i < REPORT_COLUMNS; i++) {
        const char *valid = fields ? report_columns[i].field : report_columns[i].name;
        if (valid != NULL) {
            mkperf_guess_try(&guess, valid, "");
            used += (size_t)snprintf(all + used, sizeof all - used, "%s%s", used > 0 ? ", " : "",
                                     valid);
        }
    }
    return mkperf_usage_error(g->e, g->command, "%s: no %s '%s', there are %s%s", g->name,
                              fields ? "field" : "key", word, all, mkperf_guess_text(&guess, near));
}

enum mkperf_status report_columns_sort(void *columns, const struct mkperf_given *g)
{
    struct report_column_list *list = columns;
    const char *at = g->value;
    unsigned i;

    list->n = 0;
    do {
        MKPERF_TRY(take_column(&at, false, g, &i));
        if (i < REPORT_COLUMNS && !report_columns_have(list, (enum report_column_id)i)) {
            list->column[list->n++] = (enum report_column_id)i;
        }
    } while (*at++ == ',');
    return list->n > 0 ? MKPERF_OK
                       : mkperf_given_bad(g, "a key in addition to what is always shown");
}

enum mkperf_status report_columns_fields(unsigned *fields, unsigned standard,
                                         const struct mkperf_given *g)
{
    const char *at = g->value;
    unsigned i;

    *fields = *at == '+' || *at == '-' ? standard : 0;
    do {
        bool less = *at == '-';
        at += *at == '+' || less;
        MKPERF_TRY(take_column(&at, true, g, &i));
        *fields = less ? *fields & ~(1U << i) : *fields | 1U << i;
    } while (*at++ == ',');
    return MKPERF_OK;
}

void report_columns_put_keys(mkperf_put *put, void *to)
{
    for (unsigned i = 0; i < REPORT_SORT_KEYS; i++) {
        put(to, report_columns[i].name, "");
    }
}

void report_columns_put_fields(mkperf_put *put, void *to)
{
    for (unsigned i = 0; i < REPORT_COLUMNS; i++) {
        if (report_columns[i].field != NULL) {
            put(to, report_columns[i].field, "");
        }
    }
}
