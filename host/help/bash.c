/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Owns: completion for bash, from the descriptions of args.h: two functions with the options of
 * each command and the values of each option, and one that is the same for all.
 */

#include "help.h"

/* Bash has split the line at "=" and ":", which options and targets have inside. */
static const char machine[] =
    "_mkperf_reply()\n"
    "{\n"
    "    # $1: what stands before the words; $2: the words; $3: added to each\n"
    "    local word\n"
    "    for word in $2; do\n"
    "        [[ $1$word == \"$cur\"* ]] && COMPREPLY+=(\"$1$word$3\")\n"
    "    done\n"
    "}\n"
    "\n"
    "_mkperf()\n"
    "{\n"
    "    local cur= prev= option= command= word line i kind words before "
    "raw=${COMP_WORDS[COMP_CWORD]}\n"
    "    local -a merged=()\n"
    "    COMPREPLY=()\n"
    "    [[ $raw == [:=]* ]] && raw=${raw##*[:=]}\n"
    "    for ((i = 0; i <= COMP_CWORD; i++)); do\n"
    "        word=${COMP_WORDS[i]}\n"
    "        if ((${#merged[@]} > 1)) && [[ $word == [:=]* || ${merged[-1]} == *[:=] ]]; then\n"
    "            merged[-1]+=$word\n"
    "        else\n"
    "            merged+=(\"$word\")\n"
    "        fi\n"
    "    done\n"
    "    cur=${merged[-1]}\n"
    "    ((${#merged[@]} > 1)) && prev=${merged[-2]}\n"
    "    case ${merged[0]##*/} in\n"
    "    toperf | kprof2perf) command=${merged[0]##*/} ;;\n"
    "    *)\n"
    "        if ((${#merged[@]} <= 2)); then\n"
    "            _mkperf_reply '' \"$_mkperf_commands --help --version\" ''\n"
    "            return\n"
    "        fi\n"
    "        command=${merged[1]}\n"
    "        ;;\n"
    "    esac\n"
    "    before=${cur%\"$raw\"}\n"
    "    if [[ $cur == --*=* ]]; then\n"
    "        option=${cur%%=*}\n"
    "        cur=${cur#*=}\n"
    "        before=${before#*=}\n"
    "    elif [[ $cur != -* ]]; then\n"
    "        option=$prev\n"
    "    fi\n"
    "    kind= words=\n"
    "    [[ -n $option ]] && _mkperf_value \"$command\" \"$option\"\n"
    "    if [[ -z $kind && $cur == -* ]]; then\n"
    "        _mkperf_options \"$command\"\n"
    "        _mkperf_reply '' \"$words\" ''\n"
    "        return\n"
    "    fi\n"
    "    [[ -z $kind ]] && _mkperf_value \"$command\" ''\n"
    "    case $kind in\n"
    "    file)\n"
    "        compopt -o filenames 2>/dev/null\n"
    "        mapfile -t COMPREPLY < <(compgen -f -- \"$cur\")\n"
    "        ;;\n"
    "    dir)\n"
    "        compopt -o filenames 2>/dev/null\n"
    "        mapfile -t COMPREPLY < <(compgen -d -- \"${cur##*:}\")\n"
    "        return\n"
    "        ;;\n"
    "    target)\n"
    "        case $cur in\n"
    "        serial:* | unix:* | file:*) mapfile -t COMPREPLY < <(compgen -f -P \"${cur%%:*}:\" -- "
    "\"${cur#*:}\") ;;\n"
    "        *) _mkperf_reply '' \"$words\" '' ;;\n"
    "        esac\n"
    "        compopt -o nospace 2>/dev/null\n"
    "        ;;\n"
    "    word) _mkperf_reply '' \"$words\" '' ;;\n"
    "    words)\n"
    "        line=${cur%\"${cur##*,}\"}\n"
    "        _mkperf_reply \"$line\" \"$words\" ''\n"
    "        compopt -o nospace 2>/dev/null\n"
    "        ;;\n"
    "    esac\n"
    "    COMPREPLY=(\"${COMPREPLY[@]#\"$before\"}\")\n"
    "    [[ ${#COMPREPLY[@]} -eq 1 && -z ${COMPREPLY[0]} ]] && COMPREPLY=()\n"
    "    return 0\n"
    "}\n"
    "\n"
    "complete -F _mkperf mkperf toperf kprof2perf\n";

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
    fputs(machine, out);
}
