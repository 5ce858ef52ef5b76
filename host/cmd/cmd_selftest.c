/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * mkperf selftest: checks mkperf on a target, and prints one text that can be sent back.
 *
 * Owns: the checks and their limits. Two recordings are made by mkperf record in a child process, read into profiles, and
 * removed. The first has samples only. The second also has scheduling events, which check the samples.
 *
 * A check passes, fails, or is left out with its reason. Lines of figures have no verdict: what they should be depends on the
 * board. The known shares need the demo's PD `known` (demo/known.c) in the target's image.
 */
#include <sys/wait.h>

#include "cmd.h"
#include "link/recorder.h"
#include "report/report.h"

/* Bounds of the checks. By chance, a chi-square with 3 degrees of freedom exceeds 33 once in 3 million times. */
static const double CHI_SQUARE_MOST = 33, RATE_ERROR = 0.1, LATE_PERCENT = 5;
enum { FREQUENCY = 1000, KNOWN_LEAST = 500, ARGUMENTS = 24 };

/* The functions of the demo's PD `known`, and their parts of its instructions. */
static const struct {
    const char *name;
    double share;
} known_work[] = {{"known_leaf_10", 0.1},
                  {"known_framed_20", 0.2},
                  {"known_deep_30", 0.3},
                  {"known_leaf_40", 0.4}};
enum { KNOWN = sizeof known_work / sizeof *known_work };

struct selftest {
    struct mkperf_peer_options link;
    const char *system, *elf_path, *output;
    double duration_s;
    struct mkperf_printout text;
    unsigned failed, left_out;
};

enum verdict { PASSED, FAILED, LEFT_OUT, FIGURE };

/* Prints a line of the text: the verdict, what was checked, and the figures. */
__attribute__((format(printf, 4, 5))) static void result(struct selftest *s, enum verdict verdict,
                                                         const char *what, const char *format, ...)
{
    static const char *const names[] = {"ok", "FAILED", "left out", ""};
    char *figures = NULL;
    va_list list;

    va_start(list, format);
    if (vasprintf(&figures, format, list) >= 0) {
        mkperf_print_line(s->text.to, "%-9s %-10s %s", names[verdict], what, figures);
    }
    va_end(list);
    free(figures);
    s->failed += verdict == FAILED;
    s->left_out += verdict == LEFT_OUT;
}

/* Records into `path` in a child process, so that messages are those of mkperf record. Returns its exit status. */
static int record(const struct selftest *s, const char *path, bool sched)
{
    char duration[32], timeout[32];
    const char *argv[ARGUMENTS] = {"record", "-q", "-e", "cycles", "-F", "1000", "-g"};
    int argc = 7, status;

    snprintf(duration, sizeof duration, "%g", s->duration_s);
    snprintf(timeout, sizeof timeout, "%g", s->link.timeout_s);
    const struct {
        const char *option, *value;
    } given[] = {{"-t", s->link.target},           {"-o", path},
                 {"--duration", duration},         {"--timeout", timeout},
                 {"--key-file", s->link.key_file}, {"--system", s->system},
                 {"--elf-path", s->elf_path}};
    for (size_t i = 0; i < sizeof given / sizeof *given; i++) {
        if (given[i].value != NULL) {
            argv[argc++] = given[i].option;
            argv[argc++] = given[i].value;
        }
    }
    if (sched) {
        argv[argc++] = "--sched";
    }
    (void)fflush(NULL); /* the child has a copy of what is not written */
    pid_t child = fork();
    if (child == 0) {
        _exit(mkperf_command_main(&mkperf_record_command, argc, (char **)(uintptr_t)argv));
    }
    if (child < 0 || waitpid(child, &status, 0) != child || !WIFEXITED(status)) {
        return MKPERF_ERR_FAILED;
    }
    return WEXITSTATUS(status);
}

static void check_rate(struct selftest *s, const struct mkperf_profile *p)
{
    const struct mkperf_totals *t = &p->totals;
    double seconds = (double)(p->last_ns - p->first_ns) / 1e9;
    unsigned cores = t->ncores > 1 ? t->ncores : 1;
    double rate = seconds > 0 ? (double)p->total[0].samples / seconds / cores : 0;
    bool near = rate > FREQUENCY * (1 - RATE_ERROR) && rate < FREQUENCY * (1 + RATE_ERROR);

    result(s, near ? PASSED : FAILED, "rate",
           "%" PRIu64 " samples in %.3f s: %.1f per second and core, of %d wanted",
           p->total[0].samples, seconds, rate, FREQUENCY);
    result(s, FIGURE, "cycles",
           "%.4g per second and core in the session; a sleeping core of hardware counts none",
           seconds > 0 ? (double)p->total[0].period / seconds / cores : 0);
    double late = mkperf_percent(t->late_events, p->total[0].period);
    result(s, late < LATE_PERCENT ? PASSED : FAILED, "late",
           "%.3f %% of the cycles were counted into samples that were taken late", late);
}

/* Compares the shares of the known functions with their parts of the instructions, and shows where in its loop of two
 * instructions the last one is sampled. */
static void check_known(struct selftest *s, struct mkperf_profile *p)
{
    uint64_t samples[KNOWN] = {0}, first = 0, at_first = 0, n = 0;
    double chi_square = 0;

    for (uint32_t i = 0; i < p->chains.count; i++) {
        struct mkperf_profile_chain c;
        uint32_t frames;

        mkperf_profile_chain(p, i, &c);
        if (c.event != 0 || p->places.place[c.place[0]].kernel) {
            continue;
        }
        const char *name = mkperf_places_name(
            &p->places, mkperf_places_frames(&p->places, c.place[0], &frames)->function);
        for (unsigned k = 0; k < KNOWN; k++) {
            if (strcmp(name, known_work[k].name) == 0) {
                samples[k] += c.weight.samples;
                n += c.weight.samples;
                if (k == KNOWN - 1) {
                    uint64_t address = p->places.place[c.place[0]].addr;
                    at_first = first == 0 || address < first ? 0 : at_first;
                    first = first == 0 || address < first ? address : first;
                    at_first += address == first ? c.weight.samples : 0;
                }
            }
        }
    }
    if (n < KNOWN_LEAST) {
        result(s, LEFT_OUT, "shares",
               "%" PRIu64 " samples in the functions of the PD known, of %d wanted: build the demo "
               "for this board, and give --elf-path",
               n, KNOWN_LEAST);
        return;
    }
    for (unsigned k = 0; k < KNOWN; k++) {
        double expected = known_work[k].share * (double)n;
        chi_square += ((double)samples[k] - expected) * ((double)samples[k] - expected) / expected;
    }
    result(s, chi_square < CHI_SQUARE_MOST ? PASSED : FAILED, "shares",
           "%.2f, %.2f, %.2f, %.2f %% of %" PRIu64
           " samples; 10, 20, 30, 40 are planted; chi-square %.1f, at most %.0f",
           mkperf_percent(samples[0], n), mkperf_percent(samples[1], n),
           mkperf_percent(samples[2], n), mkperf_percent(samples[3], n), n, chi_square,
           CHI_SQUARE_MOST);
    result(s, FIGURE, "skid",
           "%.1f %% of the samples of %s are at its lowest sampled address; without skid a loop of "
           "two instructions has 50 %%",
           mkperf_percent(at_first, samples[KNOWN - 1]), known_work[KNOWN - 1].name);
}

static void put_warning_figure(void *self, enum mkperf_warning_level level, const char *text)
{
    if (level != MKPERF_NOTE) {
        result(self, FIGURE, "warning", "%s", text);
    }
}

/* Prints figures that make other numbers doubtful: a board on which they are not 0 is of interest. */
static void put_figure(void *self, bool warns, const char *title, const char *text)
{
    if (warns || (title != NULL && strcmp(title, "checked") == 0)) {
        result(self, FIGURE, title != NULL ? title : "", "%s", text);
    }
}

/* Makes a recording and checks it. sched: with scheduling events. */
static enum mkperf_status check_recording(struct selftest *s, const char *path, bool sched,
                                          struct mkperf_error *e)
{
    struct mkperf_profile profile = {.cores = true, .utilisation = sched};
    struct mkperf_frames frames = {0};
    const char *what = sched ? "samples and scheduling events" : "samples";
    int status = record(s, path, sched);

    MKPERF_FAIL_IF(status != MKPERF_OK, e, (enum mkperf_status)status, "no recording of %s", what);
    profile.places.search = (struct mkperf_elf_search){.elf_path = s->elf_path};
    if (mkperf_frames_read(&frames, &profile, path, false, NULL, e) == MKPERF_OK) {
        const struct mkperf_session *session = &profile.places.session;
        const struct mkperf_totals *t = &profile.totals;

        if (!sched) {
            result(s, FIGURE, "target", "%s, cpu %s, %u sampled core%s, image %s",
                   session->platform[0] != '\0' ? session->platform : "unknown",
                   session->cpu[0] != '\0' ? session->cpu : "unknown",
                   t->ncores > 1 ? t->ncores : 1, t->ncores > 1 ? "s" : "",
                   profile.places.session.image != NULL ? profile.places.session.image
                                                        : "without a stamp");
            check_rate(s, &profile);
            check_known(s, &profile);
        } else {
            enum verdict verdict = t->agreed.contradicted != 0 ? FAILED
                                   : t->agreed.compared != 0   ? PASSED
                                                               : LEFT_OUT;
            result(s, verdict, "agreement",
                   "of shares by samples and by scheduling events: %" PRIu64 " of %" PRIu64
                   " contradict; the line `checked` has the largest difference or the reason",
                   t->agreed.contradicted, t->agreed.compared);
            /* Samples cannot show how long a core was idle if cycles stop in a sleeping core. */
            for (uint32_t i = 0; profile.sched != NULL && i < profile.sched->ncores; i++) {
                const struct mkperf_sched_core *c = &profile.sched->core[i];
                uint64_t all = c->busy + c->idle + c->unknown;
                result(s, FIGURE, "idle",
                       "core %" PRIu32 ": %.2f %% of %.3f s by scheduling events", i,
                       mkperf_percent(c->idle, all), (double)all / 1e9);
            }
        }
        uint64_t lost = mkperf_lost_sum(t->lost) + mkperf_lost_sum(t->sched_lost);
        result(s, lost == 0 && t->complete ? PASSED : FAILED, "losses",
               "%" PRIu64 " of %" PRIu64 " lost (%s)%s", lost, mkperf_totals_received(t), what,
               t->complete ? "" : "; the counts do not match the target's: more may be lost");
        mkperf_figures_texts(MKPERF_FIGURE_SUMMARY, MKPERF_SECTION_FIRST, MKPERF_SECTION_END, t,
                             put_figure, s);
        mkperf_places_warnings(&profile.places, t, put_warning_figure, s);
    }
    mkperf_frames_close(&frames);
    mkperf_profile_free(&profile);
    return e->status;
}

static enum mkperf_status run_selftest(void *self, const struct mkperf_args *args,
                                       struct mkperf_error *e)
{
    struct selftest *s = self;
    const char *directory = getenv("TMPDIR");

    (void)args;
    MKPERF_TRY(MKPERF_RULES(e, "selftest", {s->link.target == NULL, "want -t TARGET"}));
    MKPERF_TRY(mkperf_printout_open(&s->text, s->output, e));
    char *path = mkperf_xprintf("%s/mkperf-selftest-XXXXXX",
                                directory != NULL && *directory != '\0' ? directory : "/tmp");
    int fd = mkstemp(path);
    if (fd < 0) {
        mkperf_error_set(e, MKPERF_ERR_OUTPUT, "%s: %s", path, strerror(errno));
    } else {
        close(fd);
        fprintf(s->text.to, "mkperf selftest, version %s\n", MKPERF_VERSION);
        if (check_recording(s, path, false, e) == MKPERF_OK &&
            check_recording(s, path, true, e) == MKPERF_OK) {
            fprintf(s->text.to, "%u failed, %u left out\n", s->failed, s->left_out);
        }
        unlink(path);
    }
    free(path);
    if (mkperf_printout_close(&s->text, e) == MKPERF_OK && s->failed != 0) {
        mkperf_error_set(e, MKPERF_ERR_FAILED, "%u checks failed", s->failed);
    }
    return e->status;
}

static const struct mkperf_option selftest_options[] = {
    MKPERF_OPTION(0, "system", "the .system file that the image was built from",
                  MKPERF_TAKES(FILE, "FILE"), MKPERF_TEXT(struct selftest, system)),
    MKPERF_OPTION(0, "elf-path", "where the programs are: DIR[:DIR]",
                  MKPERF_TAKES(DIRS, "DIR[:DIR]"), MKPERF_TEXT(struct selftest, elf_path)),
    MKPERF_OPTION(0, "duration", "seconds of each of the two recordings (default 10)", .value = "S",
                  MKPERF_SECONDS(struct selftest, duration_s)),
    MKPERF_OPTION('o', "output", "write the text to FILE", MKPERF_TAKES(FILE, "FILE"),
                  MKPERF_TEXT(struct selftest, output)),
    {.letter = 0},
};

const struct mkperf_command mkperf_selftest_command = {
    .name = "selftest",
    .summary = "check mkperf on a target: rates, losses, known shares",
    .synopsis = "-t TARGET [options]",
    .description =
        "Makes two recordings and checks them: the rate of samples, losses, the shares of the "
        "demo's PD known, and whether samples agree with scheduling events. Prints one text that "
        "can be sent back from a board. The status is 1 if a check failed.",
    .options = {{mkperf_link_options, offsetof(struct selftest, link)}, {selftest_options, 0}},
    .sections = {{.title = "TARGET is one of", .list = mkperf_target_help}},
    .examples = "mkperf selftest -t serial:/dev/ttyUSB0,115200 --elf-path build -o board.txt",
    .statuses = MKPERF_STATUSES_FILES | MKPERF_STATUSES_TARGET,
    .self = MKPERF_SELF(struct selftest, .duration_s = 10, .output = "-",
                        .link = {.timeout_s = MKPERF_DEFAULT_TIMEOUT_S}),
    .run = run_selftest,
};
