/* SPDX-License-Identifier: BSD-2-Clause */
/* Owns: the output of --help, 80 columns wide; the iteration over descriptions; "did you mean". See args.h. */
#include "args.h"

enum { WIDTH = 80, INDENT = 2, COLUMN = 26 };

const struct mkperf_option *mkperf_command_option(const struct mkperf_command *c, unsigned i)
{
    for (unsigned t = 0; t < MKPERF_OPTION_TABLES && c->options[t].table != NULL; t++) {
        const struct mkperf_option *o = c->options[t].table;
        for (; o->name != NULL || o->letter != 0; o++) {
            if (i-- == 0) {
                return o;
            }
        }
    }
    return NULL;
}

const char *mkperf_option_help(const struct mkperf_option *o, char buffer[MKPERF_HELP_BYTES])
{
    const char *number = strstr(o->help, "%d");

    if (number == NULL) {
        return o->help;
    }
    snprintf(buffer, MKPERF_HELP_BYTES, "%.*s%d%s", (int)(number - o->help), o->help, o->number,
             number + 2);
    return buffer;
}

void mkperf_words(const char *words, mkperf_list *list, mkperf_put *put, void *to)
{
    char word[64];

    for (const char *p = words; p != NULL && *p != '\0';) {
        size_t n = strcspn(p, " ");

        snprintf(word, sizeof word, "%.*s", (int)n, p);
        put(to, word, "");
        p += n + strspn(p + n, " ");
    }
    if (list != NULL) {
        list(put, to);
    }
}

void mkperf_help_fill(FILE *out, const char *text, int width, int indent)
{
    int at = indent;

    while (*(text += strspn(text, " \n")) != '\0') {
        int n = (int)strcspn(text, " \n"), columns = 0;

        if (text[n] == ' ' && text[n + 1] == '%') { /* a number and its % sign stay in one line */
            n += 2 + (int)strcspn(text + n + 2, " \n");
        }
        for (int i = 0; i < n; i++) {
            columns += ((unsigned char)text[i] & 0xc0) != 0x80;
        }
        if (at > indent && at + 1 + columns > width) {
            fprintf(out, "\n%*s", indent, "");
            at = indent;
        }
        fprintf(out, "%s%.*s", at > indent ? " " : "", n, text);
        at += (at > indent) + columns;
        text += n;
        if (strncmp(text, "\n\n", 2) == 0) {
            fprintf(out, "\n\n%*s", indent, "");
            at = indent;
        }
    }
    fputc('\n', out);
}

/* Prints a term, and its description in the column to the right or on the next line. */
static void print_entry(void *to, const char *term, const char *help)
{
    FILE *out = to;
    int at = fprintf(out, "%*s%s", INDENT, "", term);

    if (at + 2 > COLUMN && *help != '\0') {
        fputc('\n', out);
        at = 0;
    }
    fprintf(out, "%*s", *help != '\0' ? COLUMN - at : 0, "");
    mkperf_help_fill(out, help, WIDTH, COLUMN);
}

const char *mkperf_command_status(const struct mkperf_command *c, int i)
{
    unsigned set = c == NULL ? UINT_MAX : c->statuses != 0 ? c->statuses : MKPERF_STATUSES_FILES;
    bool common = i == MKPERF_OK || i == MKPERF_ERR_FAILED || i == MKPERF_ERR_USAGE;

    return common || (i < 32 && (set >> i & 1)) ? mkperf_status_text((enum mkperf_status)i) : NULL;
}

void mkperf_help_text(const struct mkperf_command *c, FILE *out)
{
    const struct mkperf_option *o;

    fprintf(out, "usage: mkperf %s %s\n\n", c->name, c->synopsis);
    mkperf_help_fill(out, c->description, WIDTH, 0);
    fputs("\nOptions:\n", out);
    for (unsigned i = 0; (o = mkperf_command_option(c, i)) != NULL; i++) {
        char term[96], buffer[MKPERF_HELP_BYTES], letter[8] = "    ";
        const char *name = o->name != NULL ? o->name : "",
                   *value = o->value != NULL ? o->value : "";
        bool optional = value[0] == '[';

        if (o->letter != 0) {
            snprintf(letter, sizeof letter, "-%c%s", o->letter, o->name != NULL ? ", " : "");
        }
        snprintf(term, sizeof term, "%s%s%s%s%s", letter, o->name != NULL ? "--" : "", name,
                 optional           ? "[="
                 : value[0] != '\0' ? " "
                                    : "",
                 value + optional);
        print_entry(out, term, mkperf_option_help(o, buffer));
    }
    print_entry(out, "-h, --help", "this text");
    for (unsigned i = 0; i < MKPERF_SECTIONS && c->sections[i].title != NULL; i++) {
        const struct mkperf_help_section *s = &c->sections[i];

        fprintf(out, "\n%s:\n", s->title);
        if (s->text != NULL) {
            fprintf(out, "%*s", INDENT, "");
            mkperf_help_fill(out, s->text, WIDTH, INDENT);
        }
        if (s->list != NULL) {
            s->list(print_entry, out);
        }
    }
    if (c->examples != NULL) {
        fputs("\nExamples:\n", out);
        for (const char *p = c->examples; *p != '\0';) {
            int n = (int)strcspn(p, "\n");

            fprintf(out, "%*s%.*s\n", INDENT, "", n, p);
            p += n + (p[n] == '\n');
        }
    }
    fputs("\nExit status:\n", out);
    for (int i = 0; i <= MKPERF_ERR_USAGE; i++) {
        const char *text = mkperf_command_status(c, i);
        if (text != NULL) {
            fprintf(out, "%*s%-5d", INDENT, "", i);
            mkperf_help_fill(out, text, WIDTH, INDENT + 5);
        }
    }
}

/* ---- "did you mean" ---- */

enum { LENGTH_MAX = 63 };

static unsigned smaller(unsigned a, unsigned b)
{
    return a < b ? a : b;
}

/* Edits (insert, delete, replace, swap neighbours) from a to b; letters' case does not count. */
static unsigned distance_of(const char *a, size_t na, const char *b, size_t nb)
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
    g->distance = (n < 3 ? 1 : (unsigned)n / 3) + 1; /* a word this far away is no guess */
}

/* Compares a candidate with the typed word. A candidate that begins with it is as near as one
 * mistake. */
void mkperf_guess_try(void *guess, const char *candidate, const char *help)
{
    struct mkperf_guess *g = guess;
    size_t n = strlen(g->word), length = strlen(candidate);
    unsigned d;

    (void)help;
    if (n > LENGTH_MAX || length > LENGTH_MAX || length >= sizeof g->best) {
        return;
    }
    d = distance_of(g->word, n, candidate, length);
    if (n >= 3 && strncmp(candidate, g->word, n) == 0) {
        d = smaller(d, 1);
    }
    if (d < g->distance && d < n) {
        g->distance = d;
        snprintf(g->best, sizeof g->best, "%s", candidate);
    }
}

const char *mkperf_guess_text(const struct mkperf_guess *g, char buffer[MKPERF_GUESS_TEXT])
{
    snprintf(buffer, MKPERF_GUESS_TEXT, g->best[0] != '\0' ? "; did you mean '%s'?" : "%s",
             g->best);
    return buffer;
}
