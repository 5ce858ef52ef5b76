/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * mkperf explain: answers the questions that people ask about a recording, in a page of text.
 *
 * Owns: the table of questions and the form of the page. report/report.h has the rule of each answer.
 */
#include "cmd.h"
#include "report/comparison.h"

enum { WIDTH = 100, TITLE = 14, PAGE = 2048 };

/* A page that is longer than PAGE bytes is printed in the next form of these: what was ruled out is names only, and then no text
 * is longer than so many bytes. */
static const struct form {
    bool names_only;
    size_t most;
} forms[] = {{false, SIZE_MAX}, {true, SIZE_MAX}, {true, 300}, {true, 150}, {true, 75}};
enum { FORMS = sizeof forms / sizeof *forms };

static const char *const verdict_names[REPORT_VERDICTS] = {"problem", "answer", "ruled out",
                                                           "undecided"};

struct explain_command {
    struct report_question x;
    /* Only the question `regression` compares two recordings. */
    struct report_comparison comparison;
    char *const *sides; /* Their files, as the user named them; NULL with another question. */
    unsigned why;       /* the number of a question, from 0 on; ALL_QUESTIONS */
    bool json;
    struct mkperf_elf_search elfs;
};

/* The questions, in the order of a page. `next` is a command that shows more; the recording follows it. */
static const struct question {
    const char *name;
    report_explain *explain;
    const char *next;
    bool of_events; /* only scheduling events can answer it */
    bool on_demand; /* other answers of the page contain it: it is given to --why only */
    const char *help;
} questions[] = {
    {"faults", report_explain_faults, "latency", true, false, "whether a PD stopped with a fault"},
    {"ran", report_explain_ran, "report", false, false, "whether PDs of the system ran at all"},
    {"profiler-cost", report_explain_cost, "report --header-only", false, false,
     "what recording took"},
    {"trust", report_explain_trust, "report --header-only", false, false,
     "whether the figures can be trusted"},
    {"lost", report_explain_lost, "report --header-only", false, false,
     "where samples and events were lost"},
    {"names", report_explain_names, "report --stdio -s pd,dso", false, false,
     "how many samples have no function's name"},
    {"time", report_explain_time, "report", false, false, "where the time passes"},
    {"throughput", report_explain_throughput, "latency", true, false, "what limits the throughput"},
    {"idle", report_explain_idle, "latency", true, false,
     "how long cores are idle, and what PDs wait for"},
    {"cores", report_explain_cores, "latency", true, false, "how busy each core is, and with what"},
    {"slow-call", report_explain_call, "latency --critical-path", true, false,
     "the slowest call, and why"},
    {"wakeups", report_explain_wakeups, "latency", true, false,
     "the longest wait after a notification or an interrupt"},
    {"budget", report_explain_budget, "budget", true, false, "which PDs used up their budgets"},
    {"inversion", report_explain_inversion, "latency", true, false, "priority inversions"},
    {"latency", report_explain_latency, "latency", true, true, "slow-call and wakeups"},
    {"throttled", report_explain_budget, "budget", true, true, "the same as budget"},
    {"core1", report_explain_cores, "latency", true, true, "the same as cores"},
    {"regression", report_explain_regression, "diff", false, true,
     "of two recordings: what became slower from A to B"},
};
enum {
    QUESTIONS = sizeof questions / sizeof *questions,
    REGRESSION = QUESTIONS - 1, /* the last question, which compares two recordings */
    ALL_QUESTIONS = QUESTIONS,
};
/* Their names, in the same order: the number of a word is that of its question. */
static const char question_words[] =
    "faults ran profiler-cost trust lost names time throughput idle cores slow-call wakeups budget "
    "inversion latency throttled core1 regression";

static const struct mkperf_option explain_options[] = {
    MKPERF_OPTION(0, "why", "answer only this question", MKPERF_TAKES(WORD, "QUESTION"),
                  .words = question_words,
                  MKPERF_ENUM(struct explain_command, why, 0, ALL_QUESTIONS)),
    MKPERF_OPTION(0, "json", "as JSON Lines: one object for each question",
                  MKPERF_SETS(struct explain_command, json)),
    {.letter = 0},
};

static void put_questions(mkperf_put *put, void *to)
{
    for (unsigned i = 0; i < QUESTIONS; i++) {
        put(to, questions[i].name, questions[i].help);
    }
}

/* Prints a title and a text in lines of at most WIDTH columns. Of more than `most` bytes, the words that are within them are
 * printed. */
static void put_wrapped(const char *title, const char *text, size_t most, FILE *to)
{
    size_t n = strlen(text);
    bool cut = n > most;

    for (n = cut ? most : n; cut && n > 0 && text[n] != ' '; n--) {
    }
    char *shown = mkperf_xprintf("%.*s%s", (int)n, text, cut ? " ..." : ""), *rest = shown, *line;
    for (; (line = strsep(&rest, "\n")) != NULL; title = "") {
        fprintf(to, "  %-*s ", TITLE, title);
        mkperf_help_fill(to, line, WIDTH, TITLE + 3);
    }
    free(shown);
}

/* Returns the command that shows more about the question, or NULL if the recording lacks what such a command needs. */
static const char *next_of(const struct report_question *x, const struct question *q)
{
    if (x->comparison != NULL) {
        return q->next;
    }
    const char *of_events = x->events != NULL ? "latency" : NULL;

    if (strncmp(q->next, "report", strlen("report")) == 0) {
        return x->profile.total[0].samples != 0 ? q->next : of_events;
    }
    bool lacks_calls = of_events == NULL || x->events->nedges == 0;
    return of_events == NULL || (q->explain == report_explain_call && lacks_calls) ? of_events
                                                                                   : q->next;
}

struct answer {
    enum report_verdict verdict; /* REPORT_VERDICTS: it was not asked */
    char *text;
};

/* Prints the answers of a verdict. Questions without an answer for the same reason share a line. */
static void print_answers_of(const struct answer answers[QUESTIONS], enum report_verdict verdict,
                             const struct form *form, FILE *to)
{
    static const char *const titles[REPORT_VERDICTS] = {"Problems", "Answers", "Ruled out",
                                                        "Not decided"};
    bool printed[QUESTIONS] = {false}, any = false;

    for (unsigned i = 0; i < QUESTIONS; i++) {
        if (answers[i].verdict != verdict || printed[i]) {
            continue;
        }
        fprintf(to, "%s%s%s", any ? "" : "\n", any ? "" : titles[verdict], any ? "" : "\n");
        any = true;
        for (unsigned j = i + 1; verdict == REPORT_UNDECIDED && j < QUESTIONS; j++) {
            if (!printed[j] && answers[j].verdict == verdict &&
                strcmp(answers[i].text, answers[j].text) == 0) {
                printed[j] = true;
                fprintf(to, "  %s\n", questions[j].name);
            }
        }
        if (verdict == REPORT_RULED_OUT && form->names_only) {
            fprintf(to, "  %s\n", questions[i].name);
        } else {
            put_wrapped(questions[i].name, answers[i].text, form->most, to);
        }
    }
}

/* Prints the page in the first form that is short enough. One question has no limit. */
static void print_page(const struct explain_command *c, const struct answer answers[QUESTIONS])
{
    const struct report_question *x = &c->x;
    const struct mkperf_totals *t = &x->profile.totals;
    unsigned cores = x->profile.places.session.cores;
    /* As words of a shell. Those of two recordings are that already. */
    char *input = c->sides == NULL ? mkperf_shell_word(x->input) : mkperf_xstrdup(x->input);

    for (unsigned form = 0;; form++) {
        bool last = c->why != ALL_QUESTIONS || form + 1 == FORMS;
        char *page;
        size_t bytes;
        FILE *to = mkperf_memstream_open(&page, &bytes);

        if (c->sides != NULL) {
            fprintf(to, "%s against %s\n", c->sides[REPORT_B], c->sides[REPORT_A]);
        } else {
            fprintf(to,
                    "%s: %.3f s, %u core%s, %" PRIu64 " sample%s, %" PRIu64 " scheduling event%s\n",
                    c->x.input,
                    (double)(t->last_ns > t->first_ns ? t->last_ns - t->first_ns : c->x.span) / 1e9,
                    cores, mkperf_plural(cores), t->samples, mkperf_plural(t->samples),
                    t->sched_events, mkperf_plural(t->sched_events));
        }
        if (c->sides == NULL && t->stopped[0] != '\0') {
            fprintf(to, "Ended %s\n", t->stopped);
        }
        for (unsigned k = 0; k < REPORT_VERDICTS; k++) {
            print_answers_of(answers, (enum report_verdict)k, &forms[form], to);
        }
        /* Prints commands that show more: of the question, or of samples and of the slowest call, as far as there are any. */
        for (unsigned i = 0, shown = 0; i < QUESTIONS; i++) {
            const struct question *q = &questions[i];
            const char *next = next_of(x, q);
            bool useful =
                (q->explain == report_explain_time && x->profile.total[0].samples != 0) ||
                (q->explain == report_explain_call && x->events != NULL && x->events->nedges != 0);

            if (next != NULL && (c->why != ALL_QUESTIONS ? c->why == i : useful)) {
                fprintf(to, "%s  mkperf %s %s\n", shown++ > 0 ? "" : "\nNext\n", next, input);
            }
        }
        if (form > 0) {
            fprintf(to, "A text that is cut: mkperf explain --why QUESTION %s\n", input);
        }
        mkperf_memstream_close(to);
        bool fits = bytes <= PAGE || last;
        fputs(fits ? page : "", stdout);
        free(page);
        if (fits) {
            break;
        }
    }
    free(input);
}

static enum mkperf_status answer_questions(struct explain_command *c)
{
    struct report_question *x = &c->x;
    struct answer answers[QUESTIONS];

    for (unsigned i = 0; i < QUESTIONS; i++) {
        size_t bytes;
        FILE *to = mkperf_memstream_open(&answers[i].text, &bytes);
        bool asked = c->why == ALL_QUESTIONS ? !questions[i].on_demand : c->why == i;

        answers[i].verdict = !asked ? REPORT_VERDICTS
                             : questions[i].of_events && report_lacks_events(x, to)
                                 ? REPORT_UNDECIDED
                                 : questions[i].explain(x, to);
        mkperf_memstream_close(to);
    }
    struct mkperf_textout v = {.over = NULL};
    if (c->json) {
        v = report_values_begin(stdout, NULL, "explain", c->x.input);
    } else {
        print_page(c, answers);
    }
    for (unsigned i = 0; i < QUESTIONS; i++) {
        const char *next = next_of(&c->x, &questions[i]);

        for (char *end = answers[i].text; (end = strchr(end, '\n')) != NULL;) {
            *end = ' ';
        }
        if (c->json && answers[i].verdict != REPORT_VERDICTS) {
            mkperf_json(&v, "{'type':'answer','question':%s,'verdict':%s,'text':%s,'next':%s}\n",
                        questions[i].name, verdict_names[answers[i].verdict], answers[i].text,
                        next != NULL ? next : "");
        }
        free(answers[i].text);
    }
    return mkperf_stdout_flush(x->e);
}

static enum mkperf_status run_explain(void *self, const struct mkperf_args *args,
                                      struct mkperf_error *e)
{
    struct explain_command *c = self;
    struct report_question *x = &c->x;

    x->e = e;
    bool regression = c->why == REGRESSION;
    x->input = args->n > 0 ? args->operand[0] : x->input;
    MKPERF_TRY(MKPERF_RULES(
        e, "explain",
        {(args->n == REPORT_SIDES) != regression, "two recordings are for --why regression A B"},
        {c->comparison.per != NULL && !regression, "--per is for --why regression"},
        {strcmp(x->input, "-") == 0, "the recording is read twice: give a file, not -"}));
    if (regression) {
        /* Answers the question about two recordings. */
        char *a = mkperf_shell_word(args->operand[REPORT_A]);
        char *b = mkperf_shell_word(args->operand[REPORT_B]);
        char *both = mkperf_xprintf("%s %s", a, b);

        free(a);
        free(b);
        c->x.comparison = &c->comparison;
        c->x.input = both;
        c->comparison.elfs = c->elfs;
        c->sides = args->operand;
        if (report_comparison_read(&c->comparison, args->operand, c->x.e) == MKPERF_OK) {
            answer_questions(c);
        }
        report_comparison_free(&c->comparison);
        free(both);
        return c->x.e->status;
    }
    x->profile.leaves_only = true;
    x->profile.events_suffice = true;
    x->profile.places.search = c->elfs;
    if (mkperf_frames_read(&x->frames, &x->profile, x->input, false, NULL, e) == MKPERF_OK) {
        const struct mkperf_analysis *a = x->profile.sched;

        x->events = a != NULL && a->events != 0 ? a : NULL;
        x->span = x->events != NULL ? a->last_ns - a->first_ns : 0;
        answer_questions(c);
    }
    mkperf_frames_close(&x->frames);
    mkperf_profile_free(&x->profile);
    return e->status;
}

const struct mkperf_command mkperf_explain_command = {
    .name = "explain",
    .summary = "answer questions about a recording in a page of text",
    .synopsis = "[options] [FILE | --why regression A[,A] B[,B]]",
    .description =
        "Shows whether a recording can be trusted, where the time passes, what limits, the slowest "
        "call and why, and what was ruled out, each with its figures. Most questions need "
        "scheduling events (mkperf record --sched).",
    .options = {{report_input_options, offsetof(struct explain_command, x.input)},
                {explain_options, 0},
                {report_per_options, offsetof(struct explain_command, comparison.per)},
                {report_elf_options, offsetof(struct explain_command, elfs)}},
    .operand = MKPERF_VALUE_FILE,
    .operands_max = REPORT_SIDES,
    .sections = {{.title = "QUESTION is one of", .list = put_questions}},
    .examples = "mkperf record -t tcp:192.168.1.5 -e cycles --sched --duration 5\n"
                "mkperf explain\n"
                "mkperf explain --why slow-call\n"
                "mkperf explain --why regression before.data after.data",
    .self = MKPERF_SELF(
        struct explain_command, .x = {.input = "perf.data"}, .why = ALL_QUESTIONS,
        .comparison = {.confidence = 95, .keys = {{REPORT_SORT_PD, REPORT_SORT_SYMBOL}, 2}}),
    .run = run_explain,
};
