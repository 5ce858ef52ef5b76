/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * mkperf script: every sample of a recording in perf script's format, in the order of time.
 *
 * Owns: the command's options and the format. Addresses are those of the ELFs, as nm and objdump
 * show them (perf shows offsets in the file for PDs). Callers are named by the call, not by the
 * instruction behind it.
 */
#include <errno.h>
#include <getopt.h>
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "cmd.h"
#include "report/frames.h"

static const char usage[] =
    "usage: mkperf script [options]\n"
    "  -i, --input FILE       the recording (perf.data)\n"
    "  -F, --fields LIST      of comm, tid, pid, cpu, time, period, event, ip, sym, symoff, dso,\n"
    "                         srcline; +NAME adds to the default, -NAME takes from it\n"
    "                         (comm,tid,cpu,time,period,event,ip,sym,symoff,dso)\n"
    "  -G, --hide-call-graph  the innermost frame only, on the sample's line\n"
    "      --ns               times in nanoseconds\n"
    "      --pd NAME          only samples of this protection domain\n"
    "  -C, --core N           only samples of this core\n"
    "      --time START,STOP  only samples of this time, seconds of the target's clock\n"
    "  -e, --event NAME       only this event\n"
    "  -h, --help\n";

enum { OPTION_PD = 256, OPTION_TIME, OPTION_NS };

static const struct option options[] = {
    {"input", required_argument, NULL, 'i'},
    {"fields", required_argument, NULL, 'F'},
    {"hide-call-graph", no_argument, NULL, 'G'},
    {"ns", no_argument, NULL, OPTION_NS},
    {"pd", required_argument, NULL, OPTION_PD},
    {"core", required_argument, NULL, 'C'},
    {"time", required_argument, NULL, OPTION_TIME},
    {"event", required_argument, NULL, 'e'},
    {"help", no_argument, NULL, 'h'},
    {NULL, 0, NULL, 0},
};

enum field {
    FIELD_COMM = 1 << 0,
    FIELD_TID = 1 << 1,
    FIELD_PID = 1 << 2,
    FIELD_CPU = 1 << 3,
    FIELD_TIME = 1 << 4,
    FIELD_PERIOD = 1 << 5,
    FIELD_EVENT = 1 << 6,
    FIELD_IP = 1 << 7,
    FIELD_SYM = 1 << 8,
    FIELD_SYMOFF = 1 << 9,
    FIELD_DSO = 1 << 10,
    FIELD_SRCLINE = 1 << 11,
    FIELD_DEFAULT = FIELD_SRCLINE - 1 - FIELD_PID,
    FIELD_FRAME = FIELD_IP | FIELD_SYM | FIELD_DSO | FIELD_SRCLINE,
};

static const char *const field_names[] = {"comm",  "tid", "pid", "cpu",    "time", "period",
                                          "event", "ip",  "sym", "symoff", "dso",  "srcline"};

struct command {
    const char *input, *pd, *event;
    unsigned fields;
    bool help, flat, ns;
    struct report_filter filter;
    int event_width;
};

static enum mkperf_status bad_usage(struct mkperf_error *e, const char *what, const char *value)
{
    return mkperf_error_set(e, MKPERF_ERR_USAGE, "%s '%s'; see mkperf script --help", what, value);
}

static unsigned field_of(const char *name, size_t n)
{
    for (unsigned i = 0; i < sizeof field_names / sizeof *field_names; i++) {
        if (strlen(field_names[i]) == n && strncmp(field_names[i], name, n) == 0) {
            return 1U << i;
        }
    }
    return 0;
}

static enum mkperf_status parse_fields(struct command *c, const char *list, struct mkperf_error *e)
{
    c->fields = *list == '+' || *list == '-' ? FIELD_DEFAULT : 0;
    for (const char *p = list;; p++) {
        bool less = *p == '-';
        size_t n;
        unsigned field;

        p += *p == '+' || less;
        n = strcspn(p, ",");
        field = field_of(p, n);
        if (field == 0) {
            return bad_usage(e, "--fields: no such field in", list);
        }
        c->fields = less ? c->fields & ~field : c->fields | field;
        p += n;
        if (*p == '\0') {
            return MKPERF_OK;
        }
    }
}

static enum mkperf_status parse_option(struct command *c, int option, char **argv,
                                       struct mkperf_error *e)
{
    switch (option) {
    case 'i':
        c->input = optarg;
        return MKPERF_OK;
    case 'F':
        return parse_fields(c, optarg, e);
    case 'G':
        c->flat = true;
        return MKPERF_OK;
    case OPTION_NS:
        c->ns = true;
        return MKPERF_OK;
    case OPTION_PD:
        c->pd = optarg;
        return MKPERF_OK;
    case 'C':
        return report_filter_core(&c->filter, optarg, e);
    case OPTION_TIME:
        return report_filter_time(&c->filter, optarg, e);
    case 'e':
        c->event = optarg;
        return MKPERF_OK;
    case 'h':
        c->help = true;
        return MKPERF_OK;
    default:
        return bad_usage(e, "no such option, or its value is missing:", argv[optind - 1]);
    }
}

static enum mkperf_status parse(struct command *c, int argc, char **argv, struct mkperf_error *e)
{
    int option;

    *c = (struct command){.input = "perf.data", .fields = FIELD_DEFAULT};
    optind = 0;
    while ((option = getopt_long(argc, argv, ":i:F:GC:e:h", options, NULL)) != -1) {
        if (parse_option(c, option, argv, e) != MKPERF_OK) {
            return e->status;
        }
    }
    return optind < argc ? bad_usage(e, "what is", argv[optind]) : MKPERF_OK;
}

static void print_time(const struct command *c, uint64_t ns)
{
    if (c->ns) {
        printf("%5" PRIu64 ".%09" PRIu64 ": ", ns / 1000000000, ns % 1000000000);
    } else {
        printf("%5" PRIu64 ".%06" PRIu64 ": ", ns / 1000000000, ns % 1000000000 / 1000);
    }
}

/* What stands before the frames. pid = tid = the PD's number + 1, as in the file. */
static void print_start(const struct command *c, const struct report_profile *p,
                        const struct report_sample *s)
{
    uint32_t words;
    const uint64_t *key = report_table_key(&p->chains, s->chain, &words);
    uint64_t pid = key[REPORT_CHAIN_PD] + 1;
    bool chains = c->fields & FIELD_FRAME && !c->flat;

    if (c->fields & FIELD_COMM) {
        printf("%*s ", chains ? 0 : 16, report_pd_name(p, key[REPORT_CHAIN_PD]));
    }
    if ((c->fields & FIELD_PID) && (c->fields & FIELD_TID)) {
        printf("%5" PRIu64 "/%-5" PRIu64 " ", pid, pid);
    } else if (c->fields & (FIELD_PID | FIELD_TID)) {
        printf("%5" PRIu64 " ", pid);
    }
    if (c->fields & FIELD_CPU) {
        printf("[%03" PRIu64 "] ", key[REPORT_CHAIN_CORE]);
    }
    if (c->fields & FIELD_TIME) {
        print_time(c, s->time_ns);
    }
    if (c->fields & FIELD_PERIOD) {
        printf("%10" PRIu64 " ", s->period);
    }
    if (c->fields & FIELD_EVENT) {
        printf("%*s: ", c->event_width, p->session.event[key[REPORT_CHAIN_EVENT]].name);
    }
}

static void print_source(struct mkperf_module *m, uint64_t addr)
{
    struct mkperf_line line;
    const char *file;

    if (m && mkperf_lines_at(m, addr, &line, 1) > 0 && line.file) {
        file = strrchr(line.file, '/');
        printf("\n  %s:%d", file ? file + 1 : line.file, line.line);
    }
}

static void print_dso(const struct report_frames *f, const struct report_address *a)
{
    const struct mkperf_module *m = report_module(f, a->pd, a->kernel);
    const char *path = m ? mkperf_module_path(m) : NULL;

    if (!path && !a->kernel && a->pd < f->profile->npds) {
        path = f->profile->pd[a->pd].elf;
    }
    if (path && a->kernel && strrchr(path, '/')) {
        path = strrchr(path, '/') + 1;
    }
    printf(" (%s)", path ? path : "[unknown]");
}

static void print_frame(const struct command *c, const struct report_frames *f,
                        const struct report_address *a)
{
    struct mkperf_module *m = report_module(f, a->pd, a->kernel);
    uint64_t inside = a->is_return && a->addr ? a->addr - 1 : a->addr;
    struct mkperf_symbol symbol;

    putchar(c->flat ? ' ' : '\t');
    if (c->fields & FIELD_IP) {
        printf("%16" PRIx64, a->addr);
    }
    if ((c->fields & FIELD_SYM) && m && mkperf_symbol_at(m, inside, &symbol)) {
        printf(" %s", symbol.name);
        if (c->fields & FIELD_SYMOFF) {
            printf("+0x%" PRIx64, a->addr - symbol.start);
        }
    } else if (c->fields & FIELD_SYM) {
        printf(" [unknown]");
    }
    if (c->fields & FIELD_DSO) {
        print_dso(f, a);
    }
    if (c->fields & FIELD_SRCLINE) {
        print_source(m, inside);
    }
    if (!c->flat) {
        putchar('\n');
    }
}

static void print_sample(const struct command *c, const struct report_frames *f,
                         const struct report_sample *s)
{
    struct report_address address[REPORT_FRAMES_MAX];
    uint32_t n = report_chain_addresses(f->profile, s->chain, address);

    print_start(c, f->profile, s);
    if (c->fields & FIELD_FRAME) {
        if (!c->flat) {
            putchar('\n');
        }
        for (uint32_t i = 0; i < n && (i == 0 || !c->flat); i++) {
            print_frame(c, f, &address[i]);
        }
    }
    putchar('\n');
}

static bool is_wanted(const struct command *c, const struct report_profile *p, uint32_t chain)
{
    uint32_t words;
    const uint64_t *key = report_table_key(&p->chains, chain, &words);

    return (!c->pd || strcmp(c->pd, report_pd_name(p, key[REPORT_CHAIN_PD])) == 0) &&
           (!c->event || strcmp(c->event, p->session.event[key[REPORT_CHAIN_EVENT]].name) == 0);
}

static enum mkperf_status print_all(struct command *c, const struct report_frames *f,
                                    struct mkperf_error *e)
{
    const struct report_profile *p = f->profile;

    for (unsigned i = 0; i < p->session.nevents; i++) {
        int n = (int)strlen(p->session.event[i].name);

        c->event_width = n > c->event_width ? n : c->event_width;
    }
    for (uint32_t i = 0; i < p->nsamples && !ferror(stdout); i++) {
        if (is_wanted(c, p, p->sample[i].chain)) {
            print_sample(c, f, &p->sample[i]);
        }
    }
    if (fflush(stdout) != 0 || ferror(stdout)) {
        return mkperf_error_set(e, MKPERF_ERR_OUTPUT, "standard output: %s", strerror(errno));
    }
    return MKPERF_OK;
}

static enum mkperf_status run(struct command *c, struct mkperf_error *e)
{
    struct report_profile p = {.with_core = true, .keep_samples = true, .filter = c->filter};
    struct report_frames f;
    enum mkperf_status status = report_frames_read(&f, &p, c->input, false, e);

    if (status == MKPERF_OK) {
        status = report_check_names(&p, c->input, c->pd, c->event, e);
    }
    if (status == MKPERF_OK) {
        report_profile_sort(&p);
        report_frames_warn(&f, stderr);
        status = print_all(c, &f, e);
    }
    report_frames_close(&f);
    report_profile_free(&p);
    return status;
}

int mkperf_cmd_script(int argc, char **argv)
{
    struct mkperf_error e;
    struct command c;
    enum mkperf_status status = parse(&c, argc, argv, &e);

    if (status == MKPERF_OK && c.help) {
        fputs(usage, stdout);
        return MKPERF_OK;
    }
    if (status == MKPERF_OK) {
        status = run(&c, &e);
    }
    if (status != MKPERF_OK) {
        fprintf(stderr, "mkperf script: %s\n", e.text);
    }
    return status;
}
