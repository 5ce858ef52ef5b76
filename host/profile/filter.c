/* SPDX-License-Identifier: BSD-2-Clause */
/* The filters of samples and their options, see filter.h. */
#include "filter.h"

#include "pmu/events.h"

static const uint64_t SECOND = 1000000000;

const char *report_filter_seconds(const char *text, uint64_t *ns)
{
    uint64_t unit = SECOND;

    if (!isdigit((unsigned char)*text)) {
        return NULL;
    }
    for (*ns = 0; isdigit((unsigned char)*text) && *ns < UINT64_MAX / SECOND / 10 - 1; text++) {
        *ns = 10 * *ns + (uint64_t)(*text - '0');
    }
    *ns *= SECOND;
    if (*text == '.') {
        for (text++; isdigit((unsigned char)*text) && unit > 1; text++) {
            unit /= 10;
            *ns += (uint64_t)(*text - '0') * unit;
        }
    }
    return text;
}

/* --time START,STOP: seconds of the target's clock, either may be missing; or A%-B% of the
 * recording's time, B% from its beginning. USAGE. */
static enum mkperf_status take_time(void *filter, const struct mkperf_given *g)
{
    struct report_filter *f = filter;
    const char *text = g->value, *p = text;

    f->has_time = true;
    f->from_ns = 0;
    f->to_ns = UINT64_MAX;
    f->percent = strchr(text, '%') != NULL;
    if (f->percent) { /* "A%-B%" or "B%" */
        char *end;
        f->from_percent = 0;
        f->to_percent = strtod(text, &end);
        if (end != text && end[0] == '%' && end[1] == '-') {
            f->from_percent = f->to_percent;
            p = end + 2;
            f->to_percent = strtod(p, &end);
        }
        return end != p && strcmp(end, "%") == 0 && f->from_percent >= 0 &&
                       f->from_percent <= f->to_percent && f->to_percent <= 100
                   ? MKPERF_OK
                   : mkperf_error_set(
                         g->e, MKPERF_ERR_USAGE,
                         "--time: want A%%-B%% of the recording (as in 10%%-20%%), not '%s'", text);
    }
    if (*p != ',') {
        p = report_filter_seconds(p, &f->from_ns);
    }
    if (p && *p == ',' && p[1]) {
        p = report_filter_seconds(p + 1, &f->to_ns);
    } else if (p && *p == ',') {
        p++;
    }
    MKPERF_FAIL_IF(!p || *p || f->from_ns > f->to_ns, g->e, MKPERF_ERR_USAGE,
                   "--time: want START,STOP in seconds (as in 1.5,2), not '%s'", text);
    return MKPERF_OK;
}

static void print_seconds(uint64_t ns, FILE *out)
{
    fprintf(out, "%" PRIu64 ".%09" PRIu64 " s", ns / SECOND, ns % SECOND);
}

void report_filter_print(const struct report_filter *f, FILE *out)
{
    char text[MKPERF_CPU_LIST_TEXT];

    if (!f->cores.given && !f->has_time) {
        return;
    }
    fprintf(out, "# only       ");
    if (f->cores.given) {
        fprintf(out, " %s", mkperf_cpu_list_text(&f->cores, text));
    }
    if (f->has_time) {
        fprintf(out, "%s from ", f->cores.given ? "," : "");
        print_seconds(f->from_ns, out);
        if (f->to_ns != UINT64_MAX) {
            fprintf(out, " to ");
            print_seconds(f->to_ns, out);
        }
    }
    fprintf(out, ": percentages are of these\n");
}

const struct mkperf_option report_input_options[] = {
    MKPERF_OPTION('i', "input", "the recording (perf.data); - is standard input",
                  MKPERF_TAKES(FILE, "FILE"), .store = {.how = MKPERF_STORE_TEXT}),
    {.letter = 0},
};

const struct mkperf_option report_elf_options[] = {
    MKPERF_OPTION(0, "elf-path",
                  "directories with the ELFs of the recorded build, if they are no longer at their "
                  "place; they are found by build id",
                  MKPERF_TAKES(DIRS, "DIR[:DIR]"), MKPERF_TEXT(struct mkperf_elf_search, elf_path)),
    MKPERF_OPTION(0, "symfs",
                  "look for the recording's ELFs below DIR, at DIR/PATH instead of PATH",
                  MKPERF_TAKES(DIR, "DIR"), MKPERF_TEXT(struct mkperf_elf_search, symfs)),
    {.letter = 0},
};

const struct mkperf_option report_objdump_options[] = {
    MKPERF_OPTION(0, "objdump",
                  "the program that disassembles (default: aarch64-linux-gnu-objdump and such, or "
                  "llvm-objdump)",
                  MKPERF_TAKES(FILE, "PATH"), MKPERF_TEXT(struct mkperf_elf_search, objdump)),
    {.letter = 0},
};

const struct mkperf_option report_names_options[] = {
    MKPERF_OPTION(0, "pd", "only samples of this protection domain", .value = "NAME",
                  MKPERF_TEXT(struct report_names, pd)),
    MKPERF_OPTION(0, "comm", "the same, as perf calls it", .value = "NAME",
                  MKPERF_TEXT(struct report_names, pd)),
    MKPERF_OPTION(0, "comms", "the same", .value = "NAME", MKPERF_TEXT(struct report_names, pd)),
    MKPERF_OPTION('e', "event", "only this event", MKPERF_TAKES(WORD, "NAME"),
                  .list = mkperf_pmu_events, MKPERF_TEXT(struct report_names, event)),
    {.letter = 0},
};

const struct mkperf_option report_filter_options[] = {
    MKPERF_OPTION('C', "cpu", "only samples of these cores, as in 0-2,5", .value = "LIST",
                  MKPERF_TAKEN(mkperf_take_cpus, struct report_filter, cores)),
    MKPERF_OPTION(0, "core", "the same", .value = "LIST",
                  MKPERF_TAKEN(mkperf_take_cpus, struct report_filter, cores)),
    MKPERF_OPTION(0, "time",
                  "only this time: seconds of the target's clock, either may be missing; or A%-B% "
                  "of the recording",
                  .value = "START,STOP", .store.take = take_time),
    {.letter = 0}};
