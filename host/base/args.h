/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Arguments of commands: one description of each command, from which mkperf makes everything else.
 *
 *     struct mkperf_command ───┬─► args.c          parsing: options store their values in the command's own structure (self)
 *       options[] ─► table     ├─► usage.c         --help
 *         mkperf_option[]      └─► host/help       the man pages, and completion for bash and zsh
 *
 * Owns: the form of descriptions, which are constants in the commands' files. To add an option: a row in the table of the
 * command or a shared table. The row names the member of self that stores the value, and, if no form of it is right, a function
 * that reads the value.
 */
#ifndef MKPERF_HOST_BASE_ARGS_H
#define MKPERF_HOST_BASE_ARGS_H

#include "base.h"

enum { MKPERF_OPTION_TABLES = 11, MKPERF_SECTIONS = 4 };

/* Called for each item of a list that a shell can complete or the help shows. help may be "". */
typedef void mkperf_put(void *to, const char *word, const char *help);
typedef void mkperf_list(mkperf_put *put, void *to);

/* The kind of a value or an operand, for completion. */
enum mkperf_value {
    MKPERF_VALUE_TEXT, /* text that a shell cannot complete */
    MKPERF_VALUE_FILE,
    MKPERF_VALUE_DIR,
    MKPERF_VALUE_DIRS, /* DIR[:DIR] */
    MKPERF_VALUE_TARGET,
    MKPERF_VALUE_WORD,  /* one of words or list */
    MKPERF_VALUE_WORDS, /* several, with commas between */
};

/* An option from the command line. */
struct mkperf_given {
    const struct mkperf_option *option;
    const char *name;  /* the option as it was typed, "--core" or "-c" */
    const char *value; /* NULL: none */
    const char *command;
    struct mkperf_error *e;
};

/* Stores the value of an option in a member of self. Errors: USAGE, with mkperf_given_bad or another text. */
typedef enum mkperf_status mkperf_take(void *member, const struct mkperf_given *g);

/* How an option is stored, and in which member of self. */
struct mkperf_store {
    enum {
        MKPERF_STORE_TAKEN, /* `take` stores it */
        MKPERF_STORE_NONE,
        MKPERF_STORE_TRUE,
        MKPERF_STORE_FALSE,
        MKPERF_STORE_TEXT,
        MKPERF_STORE_REAL,
        MKPERF_STORE_NUMBER,
        MKPERF_STORE_WORD,
    } how;
    size_t at, bytes;   /* where the member is; the size of a number */
    uint64_t min, max;  /* limits of a number; min is the value of the first word, too */
    uint64_t none;      /* what is stored if no value is given */
    double least, most; /* limits of a real number */
    const char *want;   /* and what it is, for the error */
    mkperf_take *take;
};

/*
 * A row of a table of options: letter (or 0), long name, help; then what it takes, how it is stored, and other members.
 *
 *     MKPERF_OPTION('o', "output", "the file to write", MKPERF_TAKES(FILE, "FILE"), MKPERF_TEXT(struct command, output)),
 */
#define MKPERF_OPTION(short_name, long_name, text, ...)                          \
    {                                                                            \
        .letter = (short_name), .name = (long_name), .help = (text), __VA_ARGS__ \
    }

/* For rows: the name of an option's value, and what it is for completion. */
#define MKPERF_TAKES(what, name) .value = (name), .kind = MKPERF_VALUE_##what

/* For rows: in which member of self the value is stored. The compiler rejects a member that is not of the type in the comment. */
/* clang-format off */
#define MKPERF_IGNORED .store = {.how = MKPERF_STORE_NONE}
/* Bool. */
#define MKPERF_SETS(type, member) .store = {MKPERF_STORE_(TRUE, type, member, bool)}
/* Bool. */
#define MKPERF_CLEARS(type, member) .store = {MKPERF_STORE_(FALSE, type, member, bool)}
#define MKPERF_TEXT(type, member) .store = {MKPERF_STORE_(TEXT, type, member, const char *)}   /* const char *; NULL: no value */
/* Double, > 0; `without` is stored if the option is given without a value. */
#define MKPERF_SECONDS(type, member) MKPERF_SECONDS_OR(type, member, 0)
#define MKPERF_SECONDS_OR(type, member, without) \
    .store = {MKPERF_STORE_(REAL, type, member, double), .none = (without), MKPERF_WITHIN(1e-300, 999999999, "seconds")}
/* Double, 0 to 100. */
#define MKPERF_PER_CENT(type, member) MKPERF_REAL(type, member, 0, 100, "a percentage")
#define MKPERF_REAL(type, member, from, to, text) .store = {MKPERF_STORE_(REAL, type, member, double), MKPERF_WITHIN(from, to, text)}
#define MKPERF_WITHIN(from, to, text) .least = (from), .most = (to), .want = (text)
#define MKPERF_NUMBER(type, member, least, most) MKPERF_NUMBER_OR(type, member, least, most, least) /* uint32_t or uint64_t */
#define MKPERF_NUMBER_OR(type, member, least, most, without) \
    .store = {.how = MKPERF_STORE_NUMBER, .bytes = sizeof ((type *)0)->member, .min = (least), .max = (most), .none = (without), \
              .at = _Generic(((type *)0)->member, uint32_t: offsetof(type, member), uint64_t: offsetof(type, member))}
#define MKPERF_ENUM(type, member, first, without) /* an enum, whose values are in the order of the words */ \
    .store = {MKPERF_STORE_(WORD, type, member, unsigned), .min = (first), .none = (without)}
/* Of any type, which the function knows. */
#define MKPERF_TAKEN(function, type, member) .store = {.take = (function), .at = offsetof(type, member)}
#define MKPERF_STORE_(kind, type, member, of) \
    .how = MKPERF_STORE_##kind, .at = _Generic(((type *)0)->member, __typeof__(of) : offsetof(type, member))
/* clang-format on */

struct mkperf_option {
    char letter;       /* the short form; 0: none */
    const char *name;  /* the long form, without dashes; NULL: none */
    const char *value; /* the name of its argument; "[X]": optional; NULL: none */
    const char *help;  /* "%d" in it is replaced by `number` */
    int number;
    enum mkperf_value kind;
    const char *words; /* separated by blanks; NULL */
    mkperf_list *list; /* more words; NULL */
    struct mkperf_store store;
};

struct mkperf_help_section {
    const char *title; /* NULL: the end */
    const char *text;  /* text in the form of a command's description; NULL */
    mkperf_list *list; /* terms, below the text; NULL */
};

struct mkperf_args {
    bool helped; /* --help was answered: nothing more to do */
    int n;
    char **operand;
    const char *line; /* "mkperf ARGV...", for files that name the command which wrote them */
};

struct mkperf_command {
    const char *name, *summary;
    const char *synopsis;    /* what usage has after the command's name */
    const char *description; /* paragraphs separated by empty lines; lines are refilled */
    struct {
        const struct mkperf_option
            *table;    /* ends with an option without a name and a letter; NULL: the end */
        size_t offset; /* where in self the structure is of which its rows name members */
    } options[MKPERF_OPTION_TABLES];
    enum mkperf_value operand; /* the kind of the operands */
    mkperf_list *operand_list;
    int operands_min, operands_max;
    /* perf's options that the command does not have, and what to use; the last one has no name. NULL */
    const struct mkperf_refusal {
        const char *option, *instead;
    } * refused;
    /* why the command takes no more operands, for users who expect perf's; NULL */
    const char *no_operands;
    struct mkperf_help_section sections[MKPERF_SECTIONS];
    const char *examples; /* lines, shown as they are; NULL */
    /* 1 << status for each that it may end with; 0: MKPERF_STATUSES_FILES; see base.h */
    unsigned statuses;
    struct {
        size_t bytes;
        const void *initial; /* NULL: zeros */
        /* The command's state, into which options are parsed. */
    } self;
    /* Sets the members that are no constants, before options are parsed; NULL. */
    void (*init)(void *self);
    enum mkperf_status (*run)(void *self, const struct mkperf_args *args, struct mkperf_error *e);
    void (*end)(void *self); /* called in any case, after run; NULL */
};

/* For the row self: the type of the command's state, and the members that are not zero. */
#define MKPERF_SELF(type, ...)      \
    {                               \
        sizeof(type), &(const type) \
        {                           \
            __VA_ARGS__             \
        }                           \
    }

/*
 * Runs a command with argv[0] = its name: makes its state, parses into it, runs unless help was
 * requested, prints an error after the command's name unless it has no text. Returns the exit status.
 */
int mkperf_command_main(const struct mkperf_command *c, int argc, char **argv);

/* ---- parsing ---- */

/*
 * Parses options into self, in their order; the operands go into *args (of argv, which is
 * reordered). -h and --help of every command are answered here, on standard output. Errors: USAGE.
 */
enum mkperf_status mkperf_args_parse(const struct mkperf_command *c, void *self, int argc,
                                     char **argv, struct mkperf_args *args, struct mkperf_error *e);

/* Returns the ns of a whole number with its unit, as "10ms" (s, ms, us, ns), or 0 if it is none, 0, or too long. */
uint64_t mkperf_duration_ns(const char *text);

/* For functions that take an option: USAGE, with the valid values. */
enum mkperf_status mkperf_given_bad(const struct mkperf_given *g, const char *want);
enum mkperf_status mkperf_given_number(const struct mkperf_given *g, void *out); /* by its row */
enum mkperf_status mkperf_given_real(const struct mkperf_given *g, double *out); /* by its row */

/* Sets the error USAGE with a text of the caller and the way to the help. */
enum mkperf_status mkperf_usage_error(struct mkperf_error *e, const char *command,
                                      const char *format, ...)
    __attribute__((format(printf, 3, 4)));

/* A rule of a command line: the text of the first one that is broken becomes the error of mkperf_usage_error. */
struct mkperf_rule {
    bool broken;
    const char *text; /* NULL: the end */
};
enum mkperf_status mkperf_rules_check(struct mkperf_error *e, const char *command,
                                      const struct mkperf_rule *rules);
#define MKPERF_RULES(e, command, ...) \
    mkperf_rules_check((e), (command), (const struct mkperf_rule[]){__VA_ARGS__, {false, NULL}})

/* ---- walking and printing ---- */

/* Returns the option number i of a command over all tables, or NULL if there are no more. */
const struct mkperf_option *mkperf_command_option(const struct mkperf_command *c, unsigned i);
/* Returns the help text of an option, with its number in place of %d. The text may be in `buffer`. */
enum { MKPERF_HELP_BYTES = 1024 };
const char *mkperf_option_help(const struct mkperf_option *o, char buffer[MKPERF_HELP_BYTES]);
/* Puts the words of an option or operand, from `words` and `list`. */
void mkperf_words(const char *words, mkperf_list *list, mkperf_put *put, void *to);
/* Returns the meaning of exit status i if this command can end with it, else NULL. c NULL: any command. */
const char *mkperf_command_status(const struct mkperf_command *c, int i);
void mkperf_help_text(const struct mkperf_command *c, FILE *out); /* --help */
/* Prints words in lines from column `indent` on, where the cursor is. An empty line begins a paragraph. Ends the last line. */
void mkperf_help_fill(FILE *out, const char *text, int width, int indent);

/* ---- "did you mean": the word of a list that is nearest to a typed one (usage.c) ---- */

struct mkperf_guess {
    const char *word; /* the typed word */
    /* the distance of the best word; before the first one, that of words that are too far away */
    unsigned distance;
    char best[128]; /* "": no word is near */
};

void mkperf_guess_begin(struct mkperf_guess *g, const char *word);
mkperf_put mkperf_guess_try; /* of a struct mkperf_guess; help is not read */

/* Writes "; did you mean 'X'?", or "" without a guess, and returns buffer. */
enum { MKPERF_GUESS_TEXT = 160 };
const char *mkperf_guess_text(const struct mkperf_guess *g, char buffer[MKPERF_GUESS_TEXT]);

/* ---- a set of cores, as perf's -C has it: "0", "1,3", "0-2,5" (args.c) ---- */

enum { MKPERF_CPU_LIST_MAX = 4096 };

struct mkperf_cpu_list {
    bool given; /* false: all cores */
    uint64_t bits[MKPERF_CPU_LIST_MAX / 64];
};

static inline bool mkperf_cpu_list_has(const struct mkperf_cpu_list *l, uint32_t cpu)
{
    return !l->given || (cpu < MKPERF_CPU_LIST_MAX && l->bits[cpu / 64] >> cpu % 64 & 1);
}

/* Parses an option's value, of which all numbers must be below `most`. Errors: USAGE. */
enum mkperf_status mkperf_given_cpus(const struct mkperf_given *g, uint32_t most,
                                     struct mkperf_cpu_list *l);
mkperf_take mkperf_take_cpus; /* -C LIST, in a struct mkperf_cpu_list */

/* The text of a set that is given and not empty: "core 0", "cores 0-2,5". A long text ends with "...". */
enum { MKPERF_CPU_LIST_TEXT = 128 };
const char *mkperf_cpu_mask_text(uint64_t mask, char text[MKPERF_CPU_LIST_TEXT]);
const char *mkperf_cpu_list_text(const struct mkperf_cpu_list *l, char text[MKPERF_CPU_LIST_TEXT]);

#endif
