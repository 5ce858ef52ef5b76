/* SPDX-License-Identifier: BSD-2-Clause */
/* Owns: the parsing of command lines by their descriptions, and sets of cores. See args.h. */
#include <getopt.h>
#include <math.h>

#include "args.h"
#include "outfile.h"

enum { FIRST_LONG = 256, HELP_LONG = FIRST_LONG + MKPERF_OPTIONS_MAX };

/* The options of a command in getopt's form. The value of an option is FIRST + its number. */
struct table {
    struct option option[MKPERF_OPTIONS_MAX + 2];
    char letters[3 * MKPERF_OPTIONS_MAX + 8];
    const struct mkperf_option *from[MKPERF_OPTIONS_MAX];
    size_t offset[MKPERF_OPTIONS_MAX]; /* of the structure of which the option names a member */
    unsigned n, nlong;
};

static int argument_of(const struct mkperf_option *o)
{
    return o->value == NULL     ? no_argument
           : o->value[0] == '[' ? optional_argument
                                : required_argument;
}

static void add_option(struct table *t, const struct mkperf_option *o, size_t offset)
{
    static const char *const colons[] = {
        [no_argument] = "", [required_argument] = ":", [optional_argument] = "::"};
    size_t n = strlen(t->letters);

    if (o->letter != 0) {
        snprintf(t->letters + n, sizeof t->letters - n, "%c%s", o->letter, colons[argument_of(o)]);
    }
    if (o->name != NULL) {
        t->option[t->nlong++] =
            (struct option){o->name, argument_of(o), NULL, FIRST_LONG + (int)t->n};
    }
    t->from[t->n] = o;
    t->offset[t->n++] = offset;
}

/* Returns the number of the option that getopt found. */
static unsigned option_number(const struct table *t, int found)
{
    unsigned i = 0;

    if (found >= FIRST_LONG) {
        return (unsigned)(found - FIRST_LONG);
    }
    while (i < t->n && t->from[i]->letter != found) {
        i++;
    }
    return i;
}

/* A search for a word in the list of an option. */
struct find {
    const char *word;
    size_t n; /* the length before the first comma, as in perf's -g graph,0.5,caller */
    bool found;
};

static void find_word(void *to, const char *word, const char *help)
{
    struct find *f = to;

    (void)help;
    f->found |= strlen(word) == f->n && memcmp(word, f->word, f->n) == 0;
}

/* Returns the value of an option. An optional value may also be the next word, as with perf's -g. */
static const char *value_of(const struct mkperf_option *o, int argc, char **argv)
{
    struct find f = {.found = false};

    if (optarg == NULL && o->value != NULL && optind < argc) {
        f.word = argv[optind];
        f.n = strcspn(f.word, ",");
        mkperf_words(o->words, o->list, find_word, &f);
    }
    return f.found ? argv[optind++] : optarg;
}

static bool parse_real(const char *text, double *out)
{
    char *end;

    *out = strtod(text, &end);
    return end != text && *end == '\0' && isfinite(*out);
}

enum mkperf_status mkperf_given_percent(const struct mkperf_given *g, double *out)
{
    return parse_real(g->value, out) && *out >= 0 && *out <= 100
               ? MKPERF_OK
               : mkperf_given_bad(g, "a percentage");
}

static enum mkperf_status store_seconds(const struct mkperf_given *g, double *out)
{
    *out = (double)g->option->store.none;
    return g->value == NULL || (parse_real(g->value, out) && *out > 0 && *out < 1e9)
               ? MKPERF_OK
               : mkperf_given_bad(g, "seconds");
}

/* Stores the value of a word of o->words: that of the first word plus the word's index. */
static enum mkperf_status store_word(const struct mkperf_given *g, unsigned *out)
{
    char want[256] = "";

    *out = (unsigned)(g->value != NULL ? g->option->store.min : g->option->store.none);
    for (const char *p = g->option->words; g->value != NULL && *p != '\0'; ++*out) {
        size_t n = strcspn(p, " "), at = strlen(want);

        if (strlen(g->value) == n && memcmp(g->value, p, n) == 0) {
            return MKPERF_OK;
        }
        snprintf(want + at, sizeof want - at, "%s%.*s",
                 at == 0        ? ""
                 : p[n] == '\0' ? " or "
                                : ", ",
                 (int)n, p);
        p += n + strspn(p + n, " ");
    }
    return g->value != NULL ? mkperf_given_bad(g, want) : MKPERF_OK;
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
    case MKPERF_STORE_SECONDS:
        return store_seconds(g, at);
    case MKPERF_STORE_PERCENT:
        return mkperf_given_percent(g, at);
    case MKPERF_STORE_NUMBER:
        return mkperf_given_number(g, at);
    case MKPERF_STORE_WORD:
        return store_word(g, at);
    default:
        assert(s->take != NULL);
        return s->take(at, g);
    }
}

static enum mkperf_status store_found(const struct mkperf_command *c, const struct table *t,
                                      void *self, int found, int argc, char **argv,
                                      struct mkperf_error *e)
{
    unsigned i = option_number(t, found);
    const struct mkperf_option *o = t->from[i];
    struct mkperf_given g = {.option = o, .command = c->name, .e = e};
    char name[64];

    if (found >= FIRST_LONG) {
        snprintf(name, sizeof name, "--%s", o->name);
    } else {
        snprintf(name, sizeof name, "-%c", found);
    }
    g.name = name;
    g.value = value_of(o, argc, argv);
    return store_value(&g, (char *)self + t->offset[i]);
}

static enum mkperf_status complain(const struct mkperf_command *c, int found, char **argv,
                                   struct mkperf_error *e)
{
    char letter[3] = {'-', (char)optopt, '\0'};
    bool is_letter = optopt > 0 && optopt < FIRST_LONG;

    const char *option = is_letter ? letter : argv[optind - 1];
    char near[MKPERF_GUESS_TEXT] = "", word[64];
    const struct mkperf_option *o;
    struct mkperf_guess guess;

    if (found == ':') {
        return mkperf_usage_error(e, c->name, "%s: needs a value", option);
    }
    for (const struct mkperf_refusal *r = c->refused; r != NULL && r->option != NULL; r++) {
        if (strncmp(option, r->option, strcspn(option, "=")) == 0 &&
            r->option[strcspn(option, "=")] == '\0') {
            return mkperf_usage_error(e, c->name, "no such option: %s: %s", r->option, r->instead);
        }
    }
    mkperf_guess_begin(&guess, option);
    for (unsigned i = 0; !is_letter && (o = mkperf_command_option(c, i)) != NULL; i++) {
        snprintf(word, sizeof word, "--%s", o->name != NULL ? o->name : "");
        mkperf_guess_try(&guess, word);
    }
    return mkperf_usage_error(e, c->name, "no such option: %s%s", option,
                              mkperf_guess_text(&guess, near));
}

/* Refuses a shortened name: getopt accepts the beginning of a name. The user may mean an option of
 * another command: `latency --time 5` must not become `--timeout 5`. */
static enum mkperf_status check_whole(const struct mkperf_command *c, const struct mkperf_option *o,
                                      char **argv, struct mkperf_error *e)
{
    const char *word = argv[optind - 1];

    if (word == optarg) { /* the value is a word of its own */
        word = argv[optind - 2];
    }
    size_t n = strcspn(word, "=");
    return n == strlen("--") + strlen(o->name)
               ? MKPERF_OK
               : mkperf_usage_error(e, c->name, "no such option: %.*s; did you mean '--%s'?",
                                    (int)n, word, o->name);
}

enum mkperf_status mkperf_args_parse(const struct mkperf_command *c, void *self, int argc,
                                     char **argv, struct mkperf_args *args, struct mkperf_error *e)
{
    struct table t;
    int found;

    *args = (struct mkperf_args){.helped = false};
    memset(&t, 0, sizeof t);
    memcpy(t.letters, ":h", 3);
    for (unsigned i = 0; i < MKPERF_OPTION_TABLES && c->options[i].table != NULL; i++) {
        const struct mkperf_option *o = c->options[i].table;
        for (; o->name != NULL || o->letter != 0; o++) {
            assert(t.n < MKPERF_OPTIONS_MAX);
            add_option(&t, o, c->options[i].offset);
        }
    }
    t.option[t.nlong] = (struct option){"help", no_argument, NULL, HELP_LONG};
    optind = 0; /* makes getopt begin again, in case of a second call */
    while ((found = getopt_long(argc, argv, t.letters, t.option, NULL)) != -1) {
        if (found == HELP_LONG || (found == 'h' && option_number(&t, 'h') == t.n)) {
            mkperf_help_text(c, stdout);
            args->helped = true;
            return MKPERF_OK;
        }
        if (found == '?' || found == ':') {
            return complain(c, found, argv, e);
        }
        if ((found >= FIRST_LONG &&
             check_whole(c, t.from[option_number(&t, found)], argv, e) != MKPERF_OK) ||
            store_found(c, &t, self, found, argc, argv, e) != MKPERF_OK) {
            return e->status;
        }
    }
    args->n = argc - optind;
    args->operand = argv + optind;
    if (args->n > c->operands_max && c->no_operands != NULL) {
        return mkperf_usage_error(e, c->name, "unexpected argument '%s': %s",
                                  argv[optind + c->operands_max], c->no_operands);
    }
    if (args->n > c->operands_max) {
        return mkperf_usage_error(e, c->name, "unexpected argument '%s'",
                                  argv[optind + c->operands_max]);
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
        fprintf(to, " %s", argv[i]);
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
