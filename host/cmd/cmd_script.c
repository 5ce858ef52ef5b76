/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * mkperf script: prints every sample of a recording in the format of perf script, in the order of time.
 *
 * Owns: the command's options and the format. Addresses are those of the ELFs, as nm and objdump show them, while perf
 * shows offsets in the file for PDs. The name of a caller is that of the call, and not of the instruction after it.
 */
#include "cmd.h"
#include "report/report.h"

/* Sets of columns, as bits: the fields of a line without -F, and those of a frame. */
enum {
    FIELDS_DEFAULT = 1 << REPORT_SORT_PD | 1 << REPORT_FIELD_TID | 1 << REPORT_SORT_CORE |
                     1 << REPORT_SORT_TIME | 1 << REPORT_FIELD_PERIOD | 1 << REPORT_SORT_EVENT |
                     1 << REPORT_FIELD_IP | 1 << REPORT_SORT_SYMBOL | 1 << REPORT_FIELD_SYMOFF |
                     1 << REPORT_SORT_DSO,
    FIELDS_FRAME = 1 << REPORT_FIELD_IP | 1 << REPORT_SORT_SYMBOL | 1 << REPORT_SORT_DSO |
                   1 << REPORT_SORT_LINE,
};

struct script_command {
    struct mkperf_recording recording; /* the first member, as mkperf_recording_free requires */
    const char *input;
    unsigned fields;
    bool flat, ns;
    struct report_names names;
    int event_width;
};

static enum mkperf_status take_fields(void *member, const struct mkperf_given *g)
{
    return report_columns_fields(member, FIELDS_DEFAULT, g);
}

static const struct mkperf_option script_options[] = {
    MKPERF_OPTION(
        'F', "fields",
        "of comm, tid, pid, cpu, time, period, event, ip, sym, symoff, dso, srcline; +NAME adds to "
        "the default, -NAME takes from it (comm,tid,cpu,time,period,event,ip,sym,symoff,dso)",
        MKPERF_TAKES(WORDS, "LIST"), .list = report_columns_put_fields,
        MKPERF_TAKEN(take_fields, struct script_command, fields)),
    MKPERF_OPTION('G', "hide-call-graph", "the innermost frame only, on the sample's line",
                  MKPERF_SETS(struct script_command, flat)),
    MKPERF_OPTION(0, "ns", "times in nanoseconds", MKPERF_SETS(struct script_command, ns)),
    {.letter = 0},
};

static bool shows(const struct script_command *c, enum report_column_id column)
{
    return (c->fields >> column & 1) != 0;
}

/* Prints a frame. `inferred`: only registers show that it is in the chain (docs/stock.md). */
static void print_frame(const struct script_command *c, const struct mkperf_frames *f,
                        const struct mkperf_place *a, bool inferred)
{
    struct mkperf_module *m = mkperf_frames_module(f, a->pd, a->kernel);
    struct mkperf_symbol symbol;

    putchar(c->flat ? ' ' : '\t');
    if (shows(c, REPORT_FIELD_IP)) {
        printf("%16" PRIx64, a->addr + a->is_return);
    }
    if (shows(c, REPORT_SORT_SYMBOL) && m && mkperf_symbol_at(m, a->addr, &symbol)) {
        printf(" %s", symbol.name);
        if (shows(c, REPORT_FIELD_SYMOFF)) {
            printf("+0x%" PRIx64, a->addr + a->is_return - symbol.start);
        }
    } else if (shows(c, REPORT_SORT_SYMBOL)) {
        printf(" [unknown]");
    }
    if (shows(c, REPORT_SORT_DSO)) {
        const char *path = m ? mkperf_module_path(m) : NULL;
        char text[MKPERF_PRINTABLE_PATH];

        if (!path && !a->kernel && a->pd < f->profile->places.npds) {
            path = f->profile->places.pd[a->pd].elf;
        }
        path = path && a->kernel ? basename(path) : path;
        printf(" (%s)", path ? mkperf_printable_copy(path, text, sizeof text) : "[unknown]");
    }
    if (inferred) {
        fputs(" (inferred)", stdout);
    }
    if (shows(c, REPORT_SORT_LINE)) {
        struct mkperf_line line;
        if (m && mkperf_lines_at(m, a->addr, &line, 1) > 0 && line.file) {
            printf("\n  %s:%d", basename(line.file), line.line);
        }
    }
    if (!c->flat) {
        putchar('\n');
    }
}

static void print_samples(struct script_command *c, const struct mkperf_frames *f)
{
    const struct mkperf_profile *p = f->profile;

    for (unsigned i = 0; i < p->places.session.nevents; i++) {
        int n = (int)strlen(p->places.session.event[i].name);

        c->event_width = n > c->event_width ? n : c->event_width;
    }
    const struct mkperf_profile_sample *sample = p->samples.map;
    for (size_t i = 0; i < p->samples.count && !ferror(stdout); i++) {
        struct mkperf_place address[MKPERF_PLACES_MAX];
        struct mkperf_chain_head head = mkperf_profile_head(p, sample[i].chain);
        bool inferred = mkperf_places_inferred(&p->places, head.event) &&
                        !mkperf_places_ambiguous(&p->places, head.pd);

        if ((c->names.pd && strcmp(c->names.pd, mkperf_profile_pd_name(p, head.pd)) != 0) ||
            (c->names.event &&
             strcmp(c->names.event, p->places.session.event[head.event].name) != 0)) {
            continue;
        }
        const struct mkperf_profile_sample *s = &sample[i];
        bool chains = c->fields & FIELDS_FRAME && !c->flat;
        uint64_t pid = (uint64_t)head.pd + 1; /* and the tid, as in perf.data */
        if (shows(c, REPORT_SORT_PD)) {
            printf("%*s ", chains ? 0 : 16, mkperf_profile_pd_name(p, head.pd));
        }
        if (shows(c, REPORT_FIELD_PID) && shows(c, REPORT_FIELD_TID)) {
            printf("%5" PRIu64 "/%-5" PRIu64 " ", pid, pid);
        } else if (shows(c, REPORT_FIELD_PID) || shows(c, REPORT_FIELD_TID)) {
            printf("%5" PRIu64 " ", pid);
        }
        if (shows(c, REPORT_SORT_CORE)) {
            printf("[%03" PRIu32 "] ", s->core);
        }
        if (shows(c, REPORT_SORT_TIME)) {
            uint64_t part = s->time_ns % 1000000000;
            printf("%5" PRIu64 ".%0*" PRIu64 ": ", s->time_ns / 1000000000, c->ns ? 9 : 6,
                   c->ns ? part : part / 1000);
        }
        if (shows(c, REPORT_FIELD_PERIOD)) {
            printf("%10" PRIu64 " ", s->period);
        }
        if (shows(c, REPORT_SORT_EVENT)) {
            printf("%*s: ", c->event_width, p->places.session.event[head.event].name);
        }
        uint32_t n = c->fields & FIELDS_FRAME ? mkperf_profile_addresses(p, s->chain, address) : 0;
        fputs(chains ? "\n" : "", stdout);
        for (uint32_t k = 0; k < n && (k == 0 || !c->flat); k++) {
            print_frame(c, f, &address[k], inferred && address[k].pd != head.pd);
        }
        putchar('\n');
    }
}

static enum mkperf_status run_script(void *self, const struct mkperf_args *args,
                                     struct mkperf_error *e)
{
    struct script_command *c = self;

    c->input = args->n > 0 ? args->operand[0] : c->input;
    MKPERF_TRY(mkperf_frames_read(&c->recording.frames, &c->recording.profile, c->input, false,
                                  &c->names, e));
    MKPERF_TRY(mkperf_profile_order(&c->recording.profile, e));
    mkperf_frames_warn(&c->recording.frames, stderr);
    print_samples(c, &c->recording.frames);
    return MKPERF_OK;
}

const struct mkperf_command mkperf_script_command = {
    .name = "script",
    .summary = "print every sample",
    .synopsis = "[options] [FILE]",
    .description =
        "Every sample of a recording in perf script's format, in the order of time, with "
        "its callchain. Addresses are those of the ELFs, as nm and objdump show them.",
    .options = {{report_input_options, offsetof(struct script_command, input)},
                {script_options, 0},
                {report_names_options, offsetof(struct script_command, names)},
                {report_filter_options, offsetof(struct script_command, recording.profile.filter)},
                {report_elf_options,
                 offsetof(struct script_command, recording.profile.places.search)}},
    .operand = MKPERF_VALUE_FILE,
    .operands_max = 1,
    .self = MKPERF_SELF(struct script_command, .input = "perf.data", .fields = FIELDS_DEFAULT,
                        .recording.profile = {.cores = true, .times = true}),
    .run = run_script,
    .end = mkperf_recording_free,
};
