/* SPDX-License-Identifier: BSD-2-Clause */
/* Owns: completion for zsh, from the descriptions of base/args.h: one _arguments call a command. */
#include <string.h>

#include "base/embed.h"
#include "help.h"

MKPERF_EMBED(help_zsh, "host/help/completion.zsh");

/* Text inside single quotes, in which `special` have a meaning for zsh's functions. */
static void quoted(FILE *out, const char *text, const char *special)
{
    for (; *text != '\0'; text++) {
        if (*text == '\'') {
            fputs("'\\''", out);
        } else {
            fprintf(out, "%s%c", strchr(special, *text) != NULL ? "\\" : "", *text);
        }
    }
}

static void put_word(void *to, const char *word, const char *help)
{
    (void)help;
    fprintf(to, " '%s'", word);
}

/* The action that completes a value. */
static void action(FILE *out, enum mkperf_value kind, const char *words, mkperf_list *list,
                   mkperf_list *const *lists, unsigned n)
{
    switch (kind) {
    case MKPERF_VALUE_FILE:
        fputs("_files", out);
        break;
    case MKPERF_VALUE_DIR:
        fputs("_files -/", out);
        break;
    case MKPERF_VALUE_DIRS:
        fputs("_dir_list", out);
        break;
    case MKPERF_VALUE_TARGET:
        fputs("_mkperf_target", out);
        break;
    case MKPERF_VALUE_WORD:
    case MKPERF_VALUE_WORDS:
        if (list != NULL) {
            fprintf(out, "_mkperf_list_%u", mkperf_list_number(lists, n, list));
        } else {
            fprintf(out, "(%s)", words);
        }
        break;
    default:
        fputc(' ', out);
        break;
    }
}

static void value(FILE *out, const struct mkperf_option *o, mkperf_list *const *lists, unsigned n)
{
    if (o->value != NULL) {
        fputs(o->value[0] == '[' ? "::" : ":", out);
        quoted(out, o->value, ":\\");
        fputc(':', out);
        action(out, o->kind, o->words, o->list, lists, n);
    }
}

static void option(FILE *out, const struct mkperf_option *o, mkperf_list *const *lists, unsigned n)
{
    char buffer[MKPERF_HELP_BYTES];
    const char *help = mkperf_option_help(o, buffer);
    bool optional = o->value != NULL && o->value[0] == '[';

    for (int form = 0; form < 2; form++) {
        if (form == 0 ? !mkperf_option_has_letter(o) : o->name == NULL) {
            continue;
        }
        fputs(" \\\n        '", out);
        if (mkperf_option_has_letter(o) && o->name != NULL) {
            fprintf(out, "(-%c --%s)", o->id, o->name);
        }
        if (form == 0) {
            fprintf(out, "-%c%s", o->id, optional ? "-" : o->value != NULL ? "+" : "");
        } else {
            fprintf(out, "--%s%s", o->name, optional ? "=-" : o->value != NULL ? "=" : "");
        }
        fputc('[', out);
        quoted(out, help, "[]:\\");
        fputc(']', out);
        value(out, o, lists, n);
        fputc('\'', out);
    }
}

static void command(FILE *out, const struct mkperf_command *c, mkperf_list *const *lists,
                    unsigned n)
{
    const struct mkperf_option *o;

    fprintf(out, "_mkperf_%s()\n{\n    _arguments -s", c->name);
    for (unsigned i = 0; (o = mkperf_command_option(c, i)) != NULL; i++) {
        option(out, o, lists, n);
    }
    fputs(" \\\n        '(- *)'{-h,--help}'[what the command does]'", out);
    for (int i = 0; i < c->operands_max; i++) {
        fprintf(out, " \\\n        '%s:argument:", i < c->operands_min ? "" : ":");
        action(out, c->operand, "", c->operand_list, lists, n);
        fputc('\'', out);
    }
    fputs("\n}\n\n", out);
}

void mkperf_help_zsh(FILE *out)
{
    mkperf_list *lists[MKPERF_LISTS_MAX];
    unsigned n = mkperf_lists(lists);

    fputs("#compdef mkperf toperf kprof2perf\n"
          "# zsh completion of mkperf, made by: mkperf help --completion zsh\n\n"
          "typeset -ga _mkperf_commands\n_mkperf_commands=(\n",
          out);
    for (unsigned i = 0; mkperf_commands[i] != NULL; i++) {
        fprintf(out, "    '%s:", mkperf_commands[i]->name);
        quoted(out, mkperf_commands[i]->summary, "\\");
        fputs("'\n", out);
    }
    fputs(")\n\n", out);
    for (unsigned i = 0; i < n; i++) {
        fprintf(out, "_mkperf_list_%u()\n{\n    compset -P '*,'\n    compadd -S '' --", i);
        lists[i](put_word, out);
        fputs("\n}\n\n", out);
    }
    for (unsigned i = 0; mkperf_commands[i] != NULL; i++) {
        command(out, mkperf_commands[i], lists, n);
    }
    mkperf_help_put_script(help_zsh_begin, help_zsh_end, out);
}
