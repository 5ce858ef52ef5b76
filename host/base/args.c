/* SPDX-License-Identifier: BSD-2-Clause */
/* Owns: the parsing of command lines by their descriptions, and sets of cores. See args.h. */
#include "args.h"
#include "outfile.h"

/* Finds the option of a name of n bytes; without is_long, of the letter `name`. Stores where in self its structure is. */
static const struct mkperf_option *find_option(const struct mkperf_command *c, bool is_long,
                                               const char *name, size_t n, size_t *offset)
{
    for (unsigned t = 0; t < MKPERF_OPTION_TABLES && c->options[t].table != NULL; t++) {
        const struct mkperf_option *o = c->options[t].table;
        *offset = c->options[t].offset;
        for (; o->name != NULL || o->letter != 0; o++) {
            if (is_long ? o->name != NULL && strlen(o->name) == n && memcmp(o->name, name, n) == 0
                        : o->letter == *name) {
                return o;
            }
        }
    }
    return NULL;
}

/* A search for a word in the list of an option. */
struct find {
    const char *word;
    size_t n; /* the length before the first comma, as in perf's -g graph,0.5,caller */
    bool found;
    unsigned before; /* words of the list before it */
    char list[320];  /* its words, for a message */
};

static void find_word(void *to, const char *word, const char *help)
{
    struct find *f = to;
    size_t at = strlen(f->list);

    (void)help;
    f->found |= strlen(word) == f->n && memcmp(word, f->word, f->n) == 0;
    f->before += !f->found;
    snprintf(f->list + at, sizeof f->list - at, "%s%s", at > 0 ? ", " : "one of ", word);
}

enum mkperf_status mkperf_given_real(const struct mkperf_given *g, double *out)
{
    const struct mkperf_store *s = &g->option->store;
    char *end;

    *out = (double)s->none;
    if (g->value == NULL) {
        return MKPERF_OK;
    }
    *out = strtod(g->value, &end);
    return end != g->value && *end == '\0' && *out >= s->least && *out <= s->most
               ? MKPERF_OK
               : mkperf_given_bad(g, s->want);
}

/* Stores the value of a word of o->words: that of the first word plus the word's index. */
static enum mkperf_status store_word(const struct mkperf_given *g, unsigned *out)
{
    struct find f = {.word = g->value, .n = g->value != NULL ? strlen(g->value) : 0};

    *out = (unsigned)g->option->store.none;
    if (g->value == NULL) {
        return MKPERF_OK;
    }
    mkperf_words(g->option->words, NULL, find_word, &f);
    *out = (unsigned)g->option->store.min + f.before;
    return f.found ? MKPERF_OK : mkperf_given_bad(g, f.list);
}

enum mkperf_status mkperf_given_number(const struct mkperf_given *g, void *out)
{
    const struct mkperf_store *s = &g->option->store;
    uint64_t n = s->none;
    char *end, want[80];

    if (g->value != NULL) {
        errno = 0;
        n = strtoull(g->value, &end, 10);
        if (!isdigit((unsigned char)*g->value) || *end != '\0' || errno != 0 || n < s->min ||
            n > s->max) {
            snprintf(want, sizeof want, "a number from %" PRIu64 " to %" PRIu64, s->min, s->max);
            return mkperf_given_bad(g, want);
        }
    }
    if (s->bytes == sizeof(uint32_t)) {
        *(uint32_t *)out = (uint32_t)n;
    } else {
        *(uint64_t *)out = n;
    }
    return MKPERF_OK;
}

/* Stores an option's value in the member that its row names, of the structure at `self`. */
static enum mkperf_status store_value(const struct mkperf_given *g, char *self)
{
    const struct mkperf_store *s = &g->option->store;
    void *at = self + s->at;

    switch (s->how) {
    case MKPERF_STORE_NONE:
        return MKPERF_OK;
    case MKPERF_STORE_TRUE:
    case MKPERF_STORE_FALSE:
        *(bool *)at = s->how == MKPERF_STORE_TRUE;
        return MKPERF_OK;
    case MKPERF_STORE_TEXT:
        *(const char **)at = g->value;
        return MKPERF_OK;
    case MKPERF_STORE_REAL:
        return mkperf_given_real(g, at);
    case MKPERF_STORE_NUMBER:
        return mkperf_given_number(g, at);
    case MKPERF_STORE_WORD:
        return store_word(g, at);
    default:
        assert(s->take != NULL);
        return s->take(at, g);
    }
}

/* Reports an option that the command does not have, as it was typed. */
static enum mkperf_status complain(const struct mkperf_command *c, const char *option,
                                   struct mkperf_error *e)
{
    size_t n = strcspn(option, "=");
    char near[MKPERF_GUESS_TEXT] = "", name[64], word[64];
    const struct mkperf_option *o;
    struct mkperf_guess guess;

    for (const struct mkperf_refusal *r = c->refused; r != NULL && r->option != NULL; r++) {
        if (strncmp(option, r->option, n) == 0 && r->option[n] == '\0') {
            return mkperf_usage_error(e, c->name, "no such option: %s: %s", r->option, r->instead);
        }
    }
    snprintf(name, sizeof name, "%.*s", (int)n, option);
    mkperf_guess_begin(&guess, name);
    for (unsigned i = 0; option[1] == '-' && (o = mkperf_command_option(c, i)) != NULL; i++) {
        snprintf(word, sizeof word, "--%s", o->name != NULL ? o->name : "");
        mkperf_guess_try(&guess, word, "");
    }
    return mkperf_usage_error(e, c->name, "no such option: %s%s", option,
                              mkperf_guess_text(&guess, near));
}

/*
 * Takes the options of the word *at, which is --NAME, --NAME=VALUE, or letters of which the last one may have a value behind it. A
 * value may be the next word, too; one that is optional, only if the option's list has that word, as perf's -g.
 */
static enum mkperf_status take_word(const struct mkperf_command *c, char *self, char ***at,
                                    char **end, struct mkperf_args *args, struct mkperf_error *e)
{
    const char *word = **at, *rest = word + 1;
    bool is_long = *rest == '-';

    do {
        size_t n = is_long ? strcspn(++rest, "=") : 1, offset = 0;
        const struct mkperf_option *o = find_option(c, is_long, rest, n, &offset);
        struct mkperf_given g = {.option = o, .command = c->name, .e = e};
        char name[64];

        snprintf(name, sizeof name, "%s%.*s", is_long ? "--" : "-", (int)n, rest);
        rest += n;
        bool attached = is_long && *rest == '=';
        if (o == NULL && !attached && (strcmp(name, "-h") == 0 || strcmp(name, "--help") == 0)) {
            mkperf_help_text(c, stdout);
            args->helped = true;
            return MKPERF_OK;
        }
        if (o == NULL || (o->value == NULL && attached)) {
            return complain(c, is_long ? word : name, e);
        }
        g.name = name;
        if (o->value != NULL) {
            const char *next = *at + 1 < end ? (*at)[1] : NULL;
            struct find f = {.word = next, .n = next != NULL ? strcspn(next, ",") : 0};

            if (o->value[0] == '[' && *rest == '\0' && next != NULL) {
                mkperf_words(o->words, o->list, find_word, &f);
            }
            if (*rest != '\0') {
                g.value = rest + attached;
            } else if (next != NULL && (f.found || o->value[0] != '[')) {
                g.value = *++*at;
            } else if (o->value[0] != '[') {
                return mkperf_usage_error(e, c->name, "%s: needs a value", name);
            }
            rest = "";
        }
        MKPERF_TRY(store_value(&g, self + offset));
    } while (*rest != '\0');
    return MKPERF_OK;
}

enum mkperf_status mkperf_args_parse(const struct mkperf_command *c, void *self, int argc,
                                     char **argv, struct mkperf_args *args, struct mkperf_error *e)
{
    bool operands_only = false;

    *args = (struct mkperf_args){.operand = argv + 1};
    for (char **at = argv + 1, **end = argv + argc; at < end && !args->helped; at++) {
        if (operands_only || (*at)[0] != '-' || (*at)[1] == '\0') {
            char *word = *at; /* it changes places with an option before it */
            *at = args->operand[args->n];
            args->operand[args->n++] = word;
        } else if (strcmp(*at, "--") == 0) {
            operands_only = true;
        } else {
            MKPERF_TRY(take_word(c, self, &at, end, args, e));
        }
    }
    if (args->helped) {
        return MKPERF_OK;
    }
    if (args->n > c->operands_max && c->no_operands != NULL) {
        return mkperf_usage_error(e, c->name, "unexpected argument '%s': %s",
                                  args->operand[c->operands_max], c->no_operands);
    }
    if (args->n > c->operands_max) {
        return mkperf_usage_error(e, c->name, "unexpected argument '%s'",
                                  args->operand[c->operands_max]);
    }
    return args->n >= c->operands_min ? MKPERF_OK
                                      : mkperf_usage_error(e, c->name, "want %s", c->synopsis);
}

enum mkperf_status mkperf_usage_error(struct mkperf_error *e, const char *command,
                                      const char *format, ...)
{
    va_list list;
    size_t n;

    e->status = MKPERF_ERR_USAGE;
    va_start(list, format);
    vsnprintf(e->text, sizeof e->text, format, list);
    va_end(list);
    mkperf_printable(e->text);
    n = strlen(e->text);
    snprintf(e->text + n, sizeof e->text - n, "; see mkperf %s --help", command);
    return e->status;
}

enum mkperf_status mkperf_rules_check(struct mkperf_error *e, const char *command,
                                      const struct mkperf_rule *rules)
{
    for (; rules->text != NULL; rules++) {
        if (rules->broken) {
            return mkperf_usage_error(e, command, "%s", rules->text);
        }
    }
    return MKPERF_OK;
}

enum mkperf_status mkperf_given_bad(const struct mkperf_given *g, const char *want)
{
    return mkperf_usage_error(g->e, g->command, "%s: want %s, not '%s'", g->name, want,
                              g->value != NULL ? g->value : "");
}

uint64_t mkperf_duration_ns(const char *text)
{
    static const struct {
        const char *name;
        uint64_t ns;
    } units[] = {{"s", 1000000000}, {"ms", 1000000}, {"us", 1000}, {"ns", 1}};
    char *end;

    errno = 0;
    uint64_t n = strtoull(text, &end, 10);
    for (size_t i = 0; i < sizeof units / sizeof *units; i++) {
        if (strcmp(end, units[i].name) == 0 && *text >= '0' && *text <= '9' && errno == 0 &&
            n <= UINT64_MAX / units[i].ns) {
            return n * units[i].ns;
        }
    }
    return 0;
}

int mkperf_command_main(const struct mkperf_command *c, int argc, char **argv)
{
    void *self = mkperf_xcalloc(1, c->self.bytes);
    struct mkperf_error e = {.status = MKPERF_OK};
    struct mkperf_args args;
    char *line;
    size_t n;
    FILE *to = mkperf_memstream_open(&line, &n);

    fputs("mkperf", to);
    for (int i = 0; i < argc; i++) {
        char *word = mkperf_shell_word(argv[i]);
        fprintf(to, " %s", word);
        free(word);
    }
    mkperf_memstream_close(to);
    if (c->self.initial != NULL) {
        memcpy(self, c->self.initial, c->self.bytes);
    }
    if (c->init != NULL) {
        c->init(self);
    }
    enum mkperf_status status = mkperf_args_parse(c, self, argc, argv, &args, &e);
    args.line = line;
    if (status == MKPERF_OK && !args.helped) {
        status = c->run(self, &args, &e);
    }
    if (status == MKPERF_OK) { /* what is lost is an error, whatever the command has printed */
        e.status = MKPERF_OK;
        status = mkperf_stdout_flush(&e);
    }
    if (status != MKPERF_OK && e.text[0] != '\0') {
        fprintf(stderr, "mkperf %s: %s\n", c->name, e.text);
    }
    if (c->end != NULL) {
        c->end(self);
    }
    free(self);
    free(line);
    return (int)status;
}

/* ---- sets of cores ---- */

/* Returns a number and sets *end behind it. -1: there is no number, or it is too large. */
static int64_t parse_core(const char *text, uint32_t most, char **end)
{
    unsigned long n = isdigit((unsigned char)*text) ? strtoul(text, end, 10) : most;

    return n < most ? (int64_t)n : -1;
}

enum mkperf_status mkperf_given_cpus(const struct mkperf_given *g, uint32_t most,
                                     struct mkperf_cpu_list *l)
{
    char want[64], *at = NULL;

    snprintf(want, sizeof want, "cores below %u, as in 0-2,5", most);
    memset(l, 0, sizeof *l);
    for (const char *text = g->value;; text = at + 1) {
        int64_t first = parse_core(text, most, &at);
        int64_t last = first >= 0 && *at == '-' ? parse_core(at + 1, most, &at) : first;

        if (first < 0 || last < first || (*at != ',' && *at != '\0')) {
            return mkperf_given_bad(g, want);
        }
        for (; first <= last; first++) {
            l->given = true;
            l->bits[first / 64] |= UINT64_C(1) << first % 64;
        }
        if (*at == '\0') {
            return MKPERF_OK;
        }
    }
}

enum mkperf_status mkperf_take_cpus(void *member, const struct mkperf_given *g)
{
    return mkperf_given_cpus(g, MKPERF_CPU_LIST_MAX, member);
}

static void append_core(char text[MKPERF_CPU_LIST_TEXT], const char *before, uint32_t cpu)
{
    size_t n = strlen(text);

    if (n + 16 < MKPERF_CPU_LIST_TEXT) {
        snprintf(text + n, MKPERF_CPU_LIST_TEXT - n, "%s%u", before, cpu);
    } else if (strcmp(text + n - 3, "...") != 0) {
        snprintf(text + n, MKPERF_CPU_LIST_TEXT - n, "...");
    }
}

const char *mkperf_cpu_list_text(const struct mkperf_cpu_list *l, char text[MKPERF_CPU_LIST_TEXT])
{
    unsigned n = 0;

    assert(l->given);
    for (unsigned i = 0; i < MKPERF_CPU_LIST_MAX / 64; i++) {
        n += (unsigned)__builtin_popcountll(l->bits[i]);
    }
    snprintf(text, MKPERF_CPU_LIST_TEXT, n > 1 ? "cores" : "core");
    const char *before = " ";
    for (uint32_t i = 0, last; i < MKPERF_CPU_LIST_MAX; i = last + 1) {
        last = i;
        if (!mkperf_cpu_list_has(l, i)) {
            continue;
        }
        while (mkperf_cpu_list_has(l, last + 1)) {
            last++;
        }
        append_core(text, before, i);
        if (last > i) {
            append_core(text, "-", last);
        }
        before = ",";
    }
    return text;
}

const char *mkperf_cpu_mask_text(uint64_t mask, char text[MKPERF_CPU_LIST_TEXT])
{
    const struct mkperf_cpu_list l = {.given = true, .bits = {mask}};

    return mkperf_cpu_list_text(&l, text);
}
