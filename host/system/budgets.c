/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * A .system file with other budgets, as a unified diff.
 *
 * Owns: the diff's form. Called by `mkperf budget --system`. A budget is a number without a line's end, so each changed line
 * becomes one line, and both files have the same lines otherwise. Bytes outside the changed values are printed as they are.
 */
#include "system.h"

enum { CONTEXT = 3 };

struct line {
    size_t at, n; /* where the line is in the text, and its bytes without the line's end */
    bool changes;
};

static bool is_changed(const struct mkperf_system_pd *pd, uint64_t budget_us)
{
    return budget_us != 0 && pd->budget_at.n != 0 && budget_us != pd->scheduling.budget_us;
}

static void print_line(FILE *out, const struct mkperf_system *s, char sign, const struct line *l,
                       const uint64_t *budget_us)
{
    size_t at = l->at, end = l->at + l->n;

    (void)fputc(sign, out);
    for (unsigned pd = 0; sign == '+' && pd < s->npds; pd++) {
        struct mkperf_system_span span = s->pd[pd].budget_at;
        if (is_changed(&s->pd[pd], budget_us[pd]) && span.at >= at && span.at < end) {
            (void)fwrite(s->text + at, 1, span.at - at, out);
            (void)fprintf(out, "%" PRIu64, budget_us[pd]);
            at = span.at + span.n;
        }
    }
    (void)fwrite(s->text + at, 1, end - at, out);
    (void)fputs(end < s->bytes ? "\n" : "\n\\ No newline at end of file\n", out);
}

void mkperf_system_print_budgets(FILE *out, const struct mkperf_system *s, const char *path,
                                 const uint64_t *budget_us)
{
    struct line *line = NULL;
    size_t room = 0, n = 0, end = 0;
    unsigned pd = 0; /* the next PD: PDs are in the order of the text */

    for (size_t at = 0; at < s->bytes; n++) {
        const char *newline = memchr(s->text + at, '\n', s->bytes - at);
        MKPERF_GROW(line, room, n + 1);
        line[n] = (struct line){.at = at};
        line[n].n = (newline != NULL ? (size_t)(newline - s->text) : s->bytes) - at;
        at += line[n].n + 1;
        for (; pd < s->npds && s->pd[pd].budget_at.at < at; pd++) {
            line[n].changes |= is_changed(&s->pd[pd], budget_us[pd]);
        }
    }
    for (size_t i = 0; i < n; i++) {
        if (!line[i].changes) {
            continue;
        }
        if (end == 0) {
            (void)fprintf(out, "--- %s\n+++ %s\n", path, path);
        }
        size_t begin = i - end > CONTEXT ? i - CONTEXT : end;
        /* End of the part: behind the last changed line that is near, and what follows it. */
        end = i + 1;
        for (size_t k = i; k < n && k < end + 2 * (size_t)CONTEXT; k++) {
            end = line[k].changes ? k + 1 : end;
        }
        end = n - end > CONTEXT ? end + CONTEXT : n;
        fprintf(out, "@@ -%zu,%zu +%zu,%zu @@\n", begin + 1, end - begin, begin + 1, end - begin);
        for (size_t k = begin; k < end; k++) {
            if (line[k].changes) {
                print_line(out, s, '-', &line[k], budget_us);
            }
            print_line(out, s, line[k].changes ? '+' : ' ', &line[k], budget_us);
        }
        i = end - 1;
    }
    free(line);
}
