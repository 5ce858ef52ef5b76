/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Owns: completion for bash, from the descriptions of args.h: two functions with the options of
 * each command and the values of each option, and one that is the same for all.
 */
#include "base/embed.h"
#include "help.h"

MKPERF_EMBED(help_bash, "host/help/completion.bash");

static void put_word(void *to, const char *word, const char *help)
{
    (void)help;
    fprintf(to, " %s", word);
}

/* The kind of a value, and its words. */
static void value(FILE *out, enum mkperf_value kind, const char *words, mkperf_list *list,
                  mkperf_list *const *lists, unsigned n)
{
    static const char *const kinds[] = {
        [MKPERF_VALUE_TEXT] = "text",     [MKPERF_VALUE_FILE] = "file",
        [MKPERF_VALUE_DIR] = "dir",       [MKPERF_VALUE_DIRS] = "dir",
        [MKPERF_VALUE_TARGET] = "target", [MKPERF_VALUE_WORD] = "word",
        [MKPERF_VALUE_WORDS] = "words"};

    fprintf(out, " kind=%s", kinds[kind]);
    if (list != NULL) {
        fprintf(out, " words=$_mkperf_list_%u", mkperf_list_number(lists, n, list));
    } else if (words != NULL) {
        fprintf(out, " words='%s'", words);
    } else if (kind == MKPERF_VALUE_TARGET) {
        fprintf(out, " words='serial: tcp: listen: unix: sddf: file:'");
    }
    fputs(" ;;\n", out);
}

static void lists_of(FILE *out, mkperf_list *const *lists, unsigned n)
{
    fputs("_mkperf_commands='", out);
    for (unsigned i = 0; mkperf_commands[i] != NULL; i++) {
        fprintf(out, "%s%s", i > 0 ? " " : "", mkperf_commands[i]->name);
    }
    fputs("'\n", out);
    for (unsigned i = 0; i < n; i++) {
        fprintf(out, "_mkperf_list_%u='", i);
        lists[i](put_word, out);
        fputs("'\n", out);
    }
}

static void options(FILE *out)
{
    const struct mkperf_option *o;

    fputs("\n_mkperf_options()\n{\n    case $1 in\n", out);
    for (unsigned c = 0; mkperf_commands[c] != NULL; c++) {
        fprintf(out, "    %s) words='", mkperf_commands[c]->name);
        for (unsigned i = 0; (o = mkperf_command_option(mkperf_commands[c], i)) != NULL; i++) {
            if (o->name != NULL) {
                fprintf(out, "--%s ", o->name);
            } else {
                fprintf(out, "-%c ", o->id);
            }
        }
        fputs("--help' ;;\n", out);
    }
    fputs("    esac\n}\n", out);
}

static void values(FILE *out, mkperf_list *const *lists, unsigned n)
{
    const struct mkperf_option *o;

    fputs("\n_mkperf_value()\n{\n    case $1,$2 in\n", out);
    for (unsigned c = 0; mkperf_commands[c] != NULL; c++) {
        const struct mkperf_command *command = mkperf_commands[c];

        for (unsigned i = 0; (o = mkperf_command_option(command, i)) != NULL; i++) {
            if (o->value == NULL) {
                continue;
            }
            fputs("    ", out);
            if (mkperf_option_has_letter(o)) {
                fprintf(out, "%s,-%c%s", command->name, o->id, o->name != NULL ? " | " : ")");
            }
            if (o->name != NULL) {
                fprintf(out, "%s,--%s)", command->name, o->name);
            }
            value(out, o->kind, o->words, o->list, lists, n);
        }
        if (command->operands_max > 0) {
            fprintf(out, "    %s,)", command->name);
            value(out, command->operand, NULL, command->operand_list, lists, n);
        }
    }
    fputs("    esac\n}\n\n", out);
}

void mkperf_help_bash(FILE *out)
{
    mkperf_list *lists[MKPERF_LISTS_MAX];
    unsigned n = mkperf_lists(lists);

    fputs("# bash completion of mkperf, made by: mkperf help --completion bash\n", out);
    lists_of(out, lists, n);
    options(out);
    values(out, lists, n);
    mkperf_help_put_script(help_bash_begin, help_bash_end, out);
}
