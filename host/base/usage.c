/* SPDX-License-Identifier: BSD-2-Clause */
/* Owns: the output of --help, 80 columns wide; iteration over descriptions. See args.h. */
#include <string.h>

#include "args.h"

enum { WIDTH = 80, INDENT = 2, COLUMN = 26 };

const struct mkperf_option *mkperf_command_option(const struct mkperf_command *c, unsigned i)
{
    for (unsigned g = 0; g < MKPERF_OPTION_GROUPS && c->options[g].group != NULL; g++) {
        for (const struct mkperf_option *o = c->options[g].group->options; !mkperf_option_is_end(o);
             o++) {
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

/* Fills lines from column `indent` on; the cursor is at column `at`. Ends the line. */
static void fill(FILE *out, const char *text, int indent, int at)
{
    bool first = at >= indent;

    while (*(text += strspn(text, " \n")) != '\0') {
        int n = (int)strcspn(text, " \n");

        if (!first && at + 1 + n > WIDTH) {
            fprintf(out, "\n%*s", indent, "");
            at = indent;
            first = true;
        }
        at += fprintf(out, "%s%.*s", first ? "" : " ", n, text);
        first = false;
        text += n;
    }
    fputc('\n', out);
}

static void paragraphs(FILE *out, const char *text, int indent)
{
    char paragraph[4096];

    while (*text != '\0') {
        const char *end = strstr(text, "\n\n");
        size_t n = end != NULL ? (size_t)(end - text) : strlen(text);

        snprintf(paragraph, sizeof paragraph, "%.*s", (int)n, text);
        fprintf(out, "%*s", indent, "");
        fill(out, paragraph, indent, indent);
        text += n + (end != NULL ? 2 : 0);
        fputs(*text != '\0' ? "\n" : "", out);
    }
}

/* A term, and its description in the column to the right (or on the next line). */
static void entry(FILE *out, const char *term, const char *help)
{
    int at = fprintf(out, "%*s%s", INDENT, "", term);

    if (at + 2 > COLUMN && *help != '\0') {
        fputc('\n', out);
        at = 0;
    }
    fprintf(out, "%*s", *help != '\0' ? COLUMN - at : 0, "");
    fill(out, help, COLUMN, COLUMN);
}

static void put_entry(void *to, const char *word, const char *help)
{
    entry(to, word, help);
}

static void option(FILE *out, const struct mkperf_option *o)
{
    char term[96], buffer[MKPERF_HELP_BYTES], letter[8] = "    ";
    const char *name = o->name != NULL ? o->name : "", *value = o->value != NULL ? o->value : "";
    bool optional = value[0] == '[';

    if (mkperf_option_has_letter(o)) {
        snprintf(letter, sizeof letter, "-%c%s", o->id, o->name != NULL ? ", " : "");
    }
    snprintf(term, sizeof term, "%s%s%s%s%s", letter, o->name != NULL ? "--" : "", name,
             optional           ? "[="
             : value[0] != '\0' ? " "
                                : "",
             value + optional);
    entry(out, term, mkperf_option_help(o, buffer));
}

static void statuses(FILE *out, unsigned set)
{
    fputs("\nExit status:\n", out);
    for (int i = 0; i <= MKPERF_ERR_USAGE; i++) {
        bool is_common = i == MKPERF_OK || i == MKPERF_ERR_FAILED || i == MKPERF_ERR_USAGE;
        if (is_common || (i < 32 && (set >> i & 1))) {
            fprintf(out, "%*s%-5d", INDENT, "", i);
            fill(out, mkperf_status_text((enum mkperf_status)i), INDENT + 5, INDENT + 5);
        }
    }
}

void mkperf_help_text(const struct mkperf_command *c, FILE *out)
{
    const struct mkperf_option *o;

    fprintf(out, "usage: mkperf %s %s\n\n", c->name, c->synopsis);
    paragraphs(out, c->description, 0);
    fputs("\nOptions:\n", out);
    for (unsigned i = 0; (o = mkperf_command_option(c, i)) != NULL; i++) {
        option(out, o);
    }
    entry(out, "-h, --help", "this text");
    for (unsigned i = 0; i < MKPERF_SECTIONS && c->sections[i].title != NULL; i++) {
        const struct mkperf_help_section *s = &c->sections[i];

        fprintf(out, "\n%s:\n", s->title);
        if (s->text != NULL) {
            paragraphs(out, s->text, INDENT);
        }
        if (s->list != NULL) {
            s->list(put_entry, out);
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
    statuses(out, c->statuses);
}
