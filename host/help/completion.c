/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Completion for bash and zsh, from the descriptions of base/args.h.
 *
 * Owns: the generated parts, which precede the embedded scripts. For bash they are two functions: the options of each
 * command, and the values of each option. For zsh they are one call of _arguments for each command. Lists of words,
 * such as the names of events, are variables or functions with a number.
 */
#include "help.h"

MKPERF_EMBED(help_bash, "host/help/completion.bash");
MKPERF_EMBED(help_zsh, "host/help/completion.zsh");

enum { LISTS_MAX = 32 };

/* The lists of words that options and operands of all commands have, each once; NULL behind the last one. */
static mkperf_list *lists[LISTS_MAX + 1];

/* Returns the number of a list, which is added if it is new. */
static unsigned list_number(mkperf_list *list)
{
    unsigned i = 0;

    while (lists[i] != NULL && lists[i] != list) {
        i++;
    }
    assert(i < LISTS_MAX);
    lists[i] = list;
    return i;
}

static void number_lists(void)
{
    const struct mkperf_option *o;

    for (unsigned c = 0; mkperf_commands[c] != NULL; c++) {
        for (unsigned i = 0; (o = mkperf_command_option(mkperf_commands[c], i)) != NULL; i++) {
            (void)(o->list != NULL ? list_number(o->list) : 0);
        }
        mkperf_list *operands = mkperf_commands[c]->operand_list;
        (void)(operands != NULL ? list_number(operands) : 0);
    }
}

/* The names of kinds of values for the script of bash, and what completes them in zsh; NULL: the words. */
static const struct {
    const char *bash, *zsh;
} kinds[] = {[MKPERF_VALUE_TEXT] = {"text", " "},
             [MKPERF_VALUE_FILE] = {"file", "_files"},
             [MKPERF_VALUE_DIR] = {"dir", "_files -/"},
             [MKPERF_VALUE_DIRS] = {"dir", "_dir_list"},
             [MKPERF_VALUE_TARGET] = {"target", "_mkperf_target"},
             [MKPERF_VALUE_WORD] = {"word", NULL},
             [MKPERF_VALUE_WORDS] = {"words", NULL}};

/* Writes an embedded script without the comment at its beginning, which the first empty line ends. */
static void put_script(const char *begin, const char *end, FILE *out)
{
    const char *from = (const char *)memmem(begin, (size_t)(end - begin), "\n\n", 2) + 2;

    (void)fwrite(from, 1, (size_t)(end - from), out);
}

static void put_bash_word(void *to, const char *word, const char *help)
{
    (void)help;
    fprintf(to, " %s", word);
}

/* Writes the kind of a value, and the words that it may be. */
static void put_bash_value(FILE *out, enum mkperf_value kind, const char *words, mkperf_list *list)
{
    fprintf(out, " kind=%s", kinds[kind].bash);
    if (list != NULL) {
        fprintf(out, " words=$_mkperf_list_%u", list_number(list));
    } else if (words != NULL) {
        fprintf(out, " words='%s'", words);
    } else if (kind == MKPERF_VALUE_TARGET) {
        fprintf(out, " words='serial: tcp: listen: unix: sddf: file:'");
    }
    fputs(" ;;\n", out);
}

void mkperf_help_bash(FILE *out)
{
    number_lists();
    fputs("# bash completion of mkperf, made by: mkperf help --completion bash\n", out);
    fputs("_mkperf_commands='", out);
    for (unsigned i = 0; mkperf_commands[i] != NULL; i++) {
        fprintf(out, "%s%s", i > 0 ? " " : "", mkperf_commands[i]->name);
    }
    fputs("'\n", out);
    for (unsigned i = 0; lists[i] != NULL; i++) {
        fprintf(out, "_mkperf_list_%u='", i);
        lists[i](put_bash_word, out);
        fputs("'\n", out);
    }
    const struct mkperf_option *o;
    fputs("\n_mkperf_options()\n{\n    case $1 in\n", out);
    for (unsigned c = 0; mkperf_commands[c] != NULL; c++) {
        fprintf(out, "    %s) words='", mkperf_commands[c]->name);
        for (unsigned i = 0; (o = mkperf_command_option(mkperf_commands[c], i)) != NULL; i++) {
            if (o->name != NULL) {
                fprintf(out, "--%s ", o->name);
            } else {
                fprintf(out, "-%c ", o->letter);
            }
        }
        fputs("--help' ;;\n", out);
    }
    fputs("    esac\n}\n", out);
    fputs("\n_mkperf_value()\n{\n    case $1,$2 in\n", out);
    for (unsigned c = 0; mkperf_commands[c] != NULL; c++) {
        const struct mkperf_command *command = mkperf_commands[c];

        for (unsigned i = 0; (o = mkperf_command_option(command, i)) != NULL; i++) {
            if (o->value == NULL) {
                continue;
            }
            fputs("    ", out);
            if (o->letter != 0) {
                fprintf(out, "%s,-%c%s", command->name, o->letter, o->name != NULL ? " | " : ")");
            }
            if (o->name != NULL) {
                fprintf(out, "%s,--%s)", command->name, o->name);
            }
            put_bash_value(out, o->kind, o->words, o->list);
        }
        if (command->operands_max > 0) {
            fprintf(out, "    %s,)", command->name);
            put_bash_value(out, command->operand, NULL, command->operand_list);
        }
    }
    fputs("    esac\n}\n\n", out);
    put_script(help_bash_begin, help_bash_end, out);
}

/* Writes text for a place inside single quotes. The characters `special` have a meaning for functions of zsh. */
static void put_quoted(FILE *out, const char *text, const char *special)
{
    for (; *text != '\0'; text++) {
        if (*text == '\'') {
            fputs("'\\''", out);
        } else {
            fprintf(out, "%s%c", strchr(special, *text) != NULL ? "\\" : "", *text);
        }
    }
}

static void put_zsh_word(void *to, const char *word, const char *help)
{
    (void)help;
    fprintf(to, " '%s'", word);
}

/* Writes the action that completes a value. */
static void put_zsh_action(FILE *out, enum mkperf_value kind, const char *words, mkperf_list *list)
{
    if (kinds[kind].zsh != NULL) {
        fputs(kinds[kind].zsh, out);
    } else if (list != NULL) {
        fprintf(out, "_mkperf_list_%u", list_number(list));
    } else {
        fprintf(out, "(%s)", words);
    }
}

static void put_zsh_command(FILE *out, const struct mkperf_command *c)
{
    const struct mkperf_option *o;

    fprintf(out, "_mkperf_%s()\n{\n    _arguments -s", c->name);
    for (unsigned i = 0; (o = mkperf_command_option(c, i)) != NULL; i++) {
        char buffer[MKPERF_HELP_BYTES];
        const char *help = mkperf_option_help(o, buffer);
        bool optional = o->value != NULL && o->value[0] == '[';
        for (int form = 0; form < 2; form++) {
            if (form == 0 ? o->letter == 0 : o->name == NULL) {
                continue;
            }
            fputs(" \\\n        '", out);
            if (o->letter != 0 && o->name != NULL) {
                fprintf(out, "(-%c --%s)", o->letter, o->name);
            }
            if (form == 0) {
                fprintf(out, "-%c%s", o->letter, optional ? "-" : o->value != NULL ? "+" : "");
            } else {
                fprintf(out, "--%s%s", o->name, optional ? "=-" : o->value != NULL ? "=" : "");
            }
            fputc('[', out);
            put_quoted(out, help, "[]:\\");
            fputc(']', out);
            if (o->value != NULL) {
                fputs(optional ? "::" : ":", out);
                put_quoted(out, o->value, ":\\");
                fputc(':', out);
                put_zsh_action(out, o->kind, o->words, o->list);
            }
            fputc('\'', out);
        }
    }
    fputs(" \\\n        '(- *)'{-h,--help}'[what the command does]'", out);
    for (int i = 0; i < c->operands_max; i++) {
        fprintf(out, " \\\n        '%s:argument:", i < c->operands_min ? "" : ":");
        put_zsh_action(out, c->operand, "", c->operand_list);
        fputc('\'', out);
    }
    fputs("\n}\n\n", out);
}

void mkperf_help_zsh(FILE *out)
{
    number_lists();
    fputs("#compdef mkperf toperf kprof2perf\n"
          "# zsh completion of mkperf, made by: mkperf help --completion zsh\n\n"
          "typeset -ga _mkperf_commands\n_mkperf_commands=(\n",
          out);
    for (unsigned i = 0; mkperf_commands[i] != NULL; i++) {
        fprintf(out, "    '%s:", mkperf_commands[i]->name);
        put_quoted(out, mkperf_commands[i]->summary, "\\");
        fputs("'\n", out);
    }
    fputs(")\n\n", out);
    for (unsigned i = 0; lists[i] != NULL; i++) {
        fprintf(out, "_mkperf_list_%u()\n{\n    compset -P '*,'\n    compadd -S '' --", i);
        lists[i](put_zsh_word, out);
        fputs("\n}\n\n", out);
    }
    for (unsigned i = 0; mkperf_commands[i] != NULL; i++) {
        put_zsh_command(out, mkperf_commands[i]);
    }
    put_script(help_zsh_begin, help_zsh_end, out);
}
