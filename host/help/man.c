/* SPDX-License-Identifier: BSD-2-Clause */
/* Owns: the output of mkperf --help, and man pages in the language of man(7), from the descriptions of base/args.h. */
#include <mkperf/version.h>

#include "help.h"

enum { LINE = 66 }; /* bytes of text in a line; mandoc accepts 80, with escapes */

/* Writes lines of which none is a request of man(7), with the dashes of options as \-, because - is a hyphen. */
static void put_escaped(FILE *out, const char *text)
{
    for (const char *p = text; *p != '\0'; p++) {
        bool begins = p == text || p[-1] == '\n';

        if (begins && *p == '\n' && p != text) {
            fputs(".PP", out);
        } else if (begins && (*p == '.' || *p == '\'')) {
            fputs("\\&", out);
        }
        if (*p == '\\') {
            fputs("\\e", out);
        } else if (*p == '-' && (begins || strchr("-([\" ", p[-1]) != NULL)) {
            fputs("\\-", out);
        } else {
            fputc(*p, out);
        }
    }
}

/* Writes paragraphs in lines of at most LINE bytes. */
static void put_filled(FILE *out, const char *text)
{
    char *lines;
    size_t n;
    FILE *to = mkperf_memstream_open(&lines, &n);

    mkperf_help_fill(to, text, LINE, 0);
    mkperf_memstream_close(to);
    put_escaped(out, lines);
    free(lines);
}

static void put_upper(FILE *out, const char *text)
{
    while (*text != '\0') {
        fputc(toupper((unsigned char)*text++), out);
    }
}

static void put_term(void *to, const char *word, const char *help)
{
    fputs(".TP\n.B ", to);
    put_filled(to, word);
    if (*help != '\0') {
        put_filled(to, help);
    } else {
        fputs("\\&\n", to);
    }
}

static void put_statuses(FILE *out, const struct mkperf_command *c)
{
    fputs(".SH EXIT STATUS\n", out);
    for (int i = 0; i <= MKPERF_ERR_USAGE; i++) {
        const char *text = mkperf_command_status(c, i);

        if (text != NULL) {
            fprintf(out, ".TP\n%d\n", i);
            put_filled(out, text);
        }
    }
}

/* Writes the references to all pages except that of `page`; NULL: mkperf(1). */
static void put_see_also(FILE *out, const struct mkperf_command *page)
{
    fputs(".SH SEE ALSO\n", out);
    if (page != NULL) {
        fputs(".BR mkperf (1),\n", out);
    }
    for (unsigned i = 0; mkperf_commands[i] != NULL; i++) {
        if (mkperf_commands[i] != page) {
            fprintf(out, ".BR mkperf\\-%s (1),\n", mkperf_commands[i]->name);
        }
    }
    fputs(".BR perf\\-report (1)\n", out);
}

static void put_head(FILE *out, const char *command, const char *summary)
{
    fputs(".TH MKPERF", out);
    if (command != NULL) {
        fputc('-', out);
        put_upper(out, command);
    }
    fprintf(out, " 1 " MKPERF_VERSION_DATE " \"mkperf " MKPERF_VERSION "\" \"mkperf\"\n");
    fprintf(out, ".SH NAME\nmkperf%s%s \\- %s\n", command != NULL ? "\\-" : "",
            command != NULL ? command : "", summary);
}

void mkperf_help_man(const struct mkperf_command *c, FILE *out)
{
    const struct mkperf_option *o;

    if (c == NULL) {
        put_head(out, NULL, "profiler for systems on seL4 and Microkit");
        fputs(".SH SYNOPSIS\n.B mkperf\n\\fICOMMAND\\fR [options]\n.SH DESCRIPTION\n"
              "Samples and counts the work of a system built with seL4 and Microkit: every\n"
              "protection domain, the kernel and idle, on any event of the CPU's performance\n"
              "monitoring unit.\n"
              ".SH COMMANDS\n",
              out);
        for (unsigned i = 0; mkperf_commands[i] != NULL; i++) {
            fprintf(out, ".TP\n.BR mkperf\\-%s (1)\n", mkperf_commands[i]->name);
            put_filled(out, mkperf_commands[i]->summary);
        }
        fputs(".SH OPTIONS\n.TP\n\\fB\\-h\\fR, \\fB\\-\\-help\\fR\nthe list of commands\n"
              ".TP\n\\fB\\-v\\fR, \\fB\\-\\-version\\fR\nthe version\n",
              out);
        put_statuses(out, NULL);
        put_see_also(out, NULL);
        return;
    }
    put_head(out, c->name, c->summary);
    fprintf(out, ".SH SYNOPSIS\n.B mkperf %s\n", c->name);
    put_filled(out, c->synopsis);
    fputs(".SH DESCRIPTION\n", out);
    put_filled(out, c->description);
    fputs(".SH OPTIONS\n", out);
    for (unsigned i = 0; (o = mkperf_command_option(c, i)) != NULL; i++) {
        const char *value = o->value != NULL ? o->value : "";
        char buffer[MKPERF_HELP_BYTES];
        bool optional = value[0] == '[';
        fputs(".TP\n", out);
        if (o->letter != 0) {
            fprintf(out, "\\fB\\-%c\\fR%s", o->letter, o->name != NULL ? ", " : "");
        }
        if (o->name != NULL) {
            fputs("\\fB\\-\\-", out);
            for (const char *p = o->name; *p != '\0'; p++) {
                fputs(*p == '-' ? "\\" : "", out);
                fputc(*p, out);
            }
            fputs("\\fR", out);
        }
        if (optional) {
            fprintf(out, "[=\\fI%.*s\\fR]", (int)strlen(value) - 2, value + 1);
        } else if (*value != '\0') {
            fprintf(out, " \\fI%s\\fR", value);
        }
        fputc('\n', out);
        put_filled(out, mkperf_option_help(o, buffer));
    }
    fputs(".TP\n\\fB\\-h\\fR, \\fB\\-\\-help\\fR\nprints this\n", out);
    for (unsigned i = 0; i < MKPERF_SECTIONS && c->sections[i].title != NULL; i++) {
        fputs(".SH ", out);
        put_upper(out, c->sections[i].title);
        fputc('\n', out);
        if (c->sections[i].text != NULL) {
            put_filled(out, c->sections[i].text);
        }
        if (c->sections[i].list != NULL) {
            c->sections[i].list(put_term, out);
        }
    }
    if (c->examples != NULL) {
        fputs(".SH EXAMPLES\n.nf\n", out);
        put_escaped(out, c->examples);
        fputs("\n.fi\n", out);
    }
    put_statuses(out, c);
    put_see_also(out, c);
}

void mkperf_help_overview(FILE *out)
{
    fputs("usage: mkperf COMMAND [options]\n\nA profiler for systems on seL4 and Microkit.\n\n",
          out);
    for (unsigned i = 0; mkperf_commands[i] != NULL; i++) {
        fprintf(out, "  %-10s  %s\n", mkperf_commands[i]->name, mkperf_commands[i]->summary);
    }
    fputs("\nmkperf help COMMAND (or mkperf COMMAND --help) describes a command; mkperf\n"
          "--version prints the version.\n",
          out);
}
