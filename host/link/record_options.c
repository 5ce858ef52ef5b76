/* SPDX-License-Identifier: BSD-2-Clause */
/* Owns: the tables of options, their parsing and checks; see recorder.h. */
#include "recorder.h"

#include <math.h>

#include <mkperf/session.h>

#include "pmu/events.h"

/* ---- the connection: struct mkperf_peer_options ---- */

const struct mkperf_option mkperf_link_options[] = {
    MKPERF_OPTION('t', "target", "where the target is, see below", MKPERF_TAKES(TARGET, "TARGET"),
                  MKPERF_TEXT(struct mkperf_peer_options, target)),
    MKPERF_OPTION(0, "timeout", "patience with a silent target (default %d)", .value = "S",
                  .number = MKPERF_DEFAULT_TIMEOUT_S,
                  MKPERF_SECONDS(struct mkperf_peer_options, timeout_s)),
    MKPERF_OPTION(0, "key-file",
                  "the key for the target: 32 bytes, or a line [NAME] and 64 hexadecimal digits",
                  MKPERF_TAKES(FILE, "FILE"), MKPERF_TEXT(struct mkperf_peer_options, key_file)),
    {.letter = 0},
};

const struct mkperf_option mkperf_watch_options[] = {
    MKPERF_OPTION(0, "watch", "watch the running session: change nothing, stop nothing",
                  MKPERF_SETS(struct mkperf_peer_options, watch)),
    {.letter = 0},
};

const struct mkperf_option mkperf_control_options[] = {
    MKPERF_OPTION(0, "take-over", "control the target although another host does",
                  MKPERF_SETS(struct mkperf_peer_options, take_over)),
    {.letter = 0},
};

const struct mkperf_option mkperf_reconnect_options[] = {
    MKPERF_OPTION(0, "reconnect", "try a broken connection again for S seconds (default %d)",
                  .value = "S", .number = MKPERF_RECONNECT_S,
                  MKPERF_SECONDS(struct mkperf_peer_options, reconnect_s)),
    MKPERF_OPTION(0, "no-reconnect", "a broken connection is the end",
                  MKPERF_SECONDS(struct mkperf_peer_options, reconnect_s)),
    {.letter = 0},
};

void mkperf_target_help(mkperf_put *put, void *to)
{
    char word[64];

    for (const struct mkperf_source_ops *k = mkperf_source_kinds; k->scheme != NULL; k++) {
        snprintf(word, sizeof word, "%s:%s", k->scheme, k->where);
        put(to, word, k->help);
    }
}

/* ---- sampling and names: struct mkperf_record_options ---- */

enum mkperf_status mkperf_take_events(void *member, const struct mkperf_given *g)
{
    return mkperf_events_parse(g->value, member, g->e);
}

enum mkperf_status mkperf_take_core_mask(void *member, const struct mkperf_given *g)
{
    struct mkperf_cpu_list cores;

    MKPERF_TRY(mkperf_given_cpus(g, MKPERF_MAX_CORES, &cores));
    *(uint32_t *)member = (uint32_t)cores.bits[0];
    return MKPERF_OK;
}

static enum mkperf_status take_frequency(void *member, const struct mkperf_given *g)
{
    *(uint64_t *)member = MKPERF_MAX_FREQUENCY;
    return strcmp(g->value, "max") == 0 ? MKPERF_OK : mkperf_given_number(g, member);
}

static enum mkperf_status check_call_graph(void *member, const struct mkperf_given *g)
{
    (void)member;
    return g->value == NULL || strcmp(g->value, "fp") == 0
               ? MKPERF_OK
               : mkperf_usage_error(g->e, g->command,
                                    "%s: the kernel follows frame pointers (fp), it does not copy "
                                    "stacks for %s; see docs/record.md",
                                    g->name, g->value);
}

const struct mkperf_option mkperf_sampling_options[] = {
    MKPERF_OPTION(
        'e', "event",
        "events, as perf: cycles, instructions:u, r1b:k, ...; NAME/period=N/ or NAME/freq=N/ "
        "for one event (default cycles)",
        MKPERF_TAKES(WORDS, "EVENTS"), .list = mkperf_pmu_events,
        MKPERF_TAKEN(mkperf_take_events, struct mkperf_record_options, configure)),
    MKPERF_OPTION('c', "count", "events between samples", .value = "N",
                  MKPERF_NUMBER(struct mkperf_record_options, count, 1, UINT32_MAX)),
    MKPERF_OPTION('F', "freq",
                  "samples per second and core (default %d); max: as many as a target takes",
                  .value = "N", .number = MKPERF_DEFAULT_FREQUENCY,
                  .store = {.take = take_frequency,
                            .at = offsetof(struct mkperf_record_options, frequency),
                            .bytes = sizeof(uint64_t),
                            .min = 1,
                            .max = UINT32_MAX}),
    MKPERF_OPTION('g', "call-graph", "callchains (on by default), by frame pointers (fp)",
                  MKPERF_TAKES(WORD, "[HOW]"),
                  .words = "fp dwarf lbr" /* the others are refused with the reason */,
                  .store.take = check_call_graph),
    MKPERF_OPTION(
        'C', "cpu", "sample these cores only, as in 0-2; default: all that the target samples",
        .value = "LIST",
        MKPERF_TAKEN(mkperf_take_core_mask, struct mkperf_record_options, configure.cores)),
    MKPERF_OPTION('a', "all-cpus", "always so; perf has this option", MKPERF_IGNORED),
    MKPERF_OPTION(
        0, "max-frames", "depth of callchains; 0 = none (default %d)", .value = "N",
        .number = MKPERF_DEFAULT_FRAMES,
        MKPERF_NUMBER(struct mkperf_record_options, configure.max_frames, 0, MKPERF_MAX_FRAMES)),
    MKPERF_OPTION(
        0, "callers",
        "PDs in which a callchain continues, from a protected call's callee to its caller, at "
        "most 8 (default %d)",
        .value = "N", .number = MKPERF_DEFAULT_CALLERS,
        MKPERF_NUMBER(struct mkperf_record_options, configure.callers, 0, MKPERF_MAX_CALLERS)),
    MKPERF_OPTION(0, "no-callers", "callchains end at the PD, as with --callers 0",
                  MKPERF_NUMBER(struct mkperf_record_options, configure.callers, 0, 0)),
    MKPERF_OPTION(
        0, "aggregate",
        "count samples on the target, by call chain and address, and send the counts every S "
        "seconds (10): a tenth of the bytes, without the times of samples",
        .value = "[S]",
        MKPERF_SECONDS_OR(struct mkperf_record_options, aggregate_s, MKPERF_AGGREGATE_S)),
    MKPERF_OPTION(0, "no-jitter", "exact periods: samples may run in step with the program",
                  MKPERF_SETS(struct mkperf_record_options, configure.no_jitter)),
    MKPERF_OPTION(
        0, "duration",
        "seconds of the target's time, which may take longer here; without samples: S seconds "
        "here, and then 2 s, or up to 20 s if the target runs slowly",
        .value = "S", MKPERF_SECONDS(struct mkperf_record_options, duration_s)),
    {.letter = 0},
};

const struct mkperf_option mkperf_names_options[] = {
    MKPERF_OPTION(
        0, "system",
        "the .system file: names of PDs, where the image does not list them; -e timer needs it",
        MKPERF_TAKES(FILE, "FILE"), MKPERF_TEXT(struct mkperf_record_options, system)),
    MKPERF_OPTION(
        0, "elf-path",
        "directories of the PDs' ELFs, with those below them (default: that of the .system file); "
        "mkperf also searches elsewhere by build id, see docs/formats.md",
        MKPERF_TAKES(DIRS, "DIR[:DIR]"), MKPERF_TEXT(struct mkperf_record_options, elf_path)),
    {.letter = 0},
};

const struct mkperf_option mkperf_kernel_options[] = {
    MKPERF_OPTION(0, "kernel", "the kernel's ELF (default: kernel.elf or sel4.elf in --elf-path)",
                  MKPERF_TAKES(FILE, "ELF"), MKPERF_TEXT(struct mkperf_record_options, kernel)),
    MKPERF_OPTION(0, "guest",
                  "symbols of a virtual machine's guest: its vmlinux, or a copy of its "
                  "/proc/kallsyms; several with a colon between them",
                  .value = "VM=FILE", MKPERF_TEXT(struct mkperf_record_options, guest)),
    {.letter = 0},
};

/* ---- which PDs are sampled, and the output: struct mkperf_record_options ---- */

const struct mkperf_option mkperf_choice_options[] = {
    MKPERF_OPTION('p', "pd", "sample these PDs only (at most 16 in all)", .value = "NAME[,NAME]",
                  MKPERF_TEXT(struct mkperf_record_options, pd)),
    MKPERF_OPTION(0, "subtree", "and this one with its children", .value = "NAME",
                  MKPERF_TEXT(struct mkperf_record_options, subtree)),
    MKPERF_OPTION(
        's', "stat",
        "also count the events, in user mode and by PD, with a second counter of each; the "
        "summary and reports show whether samples and counts agree",
        MKPERF_SETS(struct mkperf_record_options, configure.per_pd)),
    MKPERF_OPTION(0, "check-timer",
                  "with -e timer and a kernel that has the extension: compare its threads with the "
                  "kernel's",
                  MKPERF_SETS(struct mkperf_record_options, configure.check)),
    {.letter = 0},
};

const struct mkperf_option mkperf_output_options[] = {
    MKPERF_OPTION('o', "output",
                  "output (default perf.data); - is standard output, for perf report -i -",
                  MKPERF_TAKES(FILE, "FILE"), MKPERF_TEXT(struct mkperf_record_options, output)),
    MKPERF_OPTION(0, "raw", "keep the line's bytes too, for -t file:FILE",
                  MKPERF_TAKES(FILE, "FILE"), MKPERF_TEXT(struct mkperf_record_options, raw)),
    MKPERF_OPTION(
        'N', "no-buildid-cache",
        "keep no copies of the ELFs; without it they are kept in ~/.debug, perf's cache, so that "
        "the recording has names after the programs are built again",
        MKPERF_SETS(struct mkperf_record_options, keep_no_elfs)),
    MKPERF_OPTION(
        'B', "no-buildid",
        "as -N; the build ids are in the file nevertheless, since names are verified by them",
        MKPERF_SETS(struct mkperf_record_options, keep_no_elfs)),
    MKPERF_OPTION(
        'z', "compression-level",
        "compress records at level N of zstd, 1 (default, fastest) to 22 (smallest); files are "
        "compressed at level %d without this option, pipes are not",
        .value = "[N]", .number = MKPERF_COMPRESSED_LEVEL,
        MKPERF_NUMBER_OR(struct mkperf_record_options, compression, 0, MKPERF_COMPRESSED_LEVELS,
                         MKPERF_COMPRESSED_LEVEL)),
    MKPERF_OPTION(0, "no-compress",
                  "records as they are, for programs that do not read compressed ones (hotspot)",
                  MKPERF_NUMBER(struct mkperf_record_options, compression, 0, 0)),
    MKPERF_OPTION('q', "quiet",
                  "no progress, no summary, no lines of the target's console; warnings are printed",
                  MKPERF_SETS(struct mkperf_record_options, quiet)),
    {.letter = 0},
};

/* ---- flight recordings and events of scheduling: struct mkperf_record_options ---- */

/* Stores how stacks are measured; the store's `min` says how. The more thorough way of two counts. */
static enum mkperf_status take_stacks(void *self, const struct mkperf_given *g)
{
    mkperf_Configure *c = &((struct mkperf_record_options *)self)->configure;
    uint32_t stacks = (uint32_t)g->option->store.min;

    c->interactions = true;
    c->stacks = stacks > c->stacks ? stacks : c->stacks;
    return MKPERF_OK;
}

static enum mkperf_status take_size(void *member, const struct mkperf_given *g)
{
    char *end;
    uint64_t size = strtoull(g->value, &end, 10);
    uint64_t unit = strcmp(end, "B") == 0   ? 1
                    : strcmp(end, "K") == 0 ? 1024
                    : strcmp(end, "M") == 0 ? 1 << 20
                    : *end == '\0'          ? 4096
                                            : 0;

    if (end == g->value || g->value[0] == '-' || size > MKPERF_OUTPUT_RING_BYTES || unit == 0 ||
        !mkperf_ring_size_ok(size * unit) || size * unit > MKPERF_OUTPUT_RING_BYTES) {
        return mkperf_given_bad(g, "a power of two, from 4K to 512K");
    }
    *(uint32_t *)member = (uint32_t)(size * unit);
    return MKPERF_OK;
}

const struct mkperf_option mkperf_flight_options[] = {
    MKPERF_OPTION(
        0, "overwrite",
        "flight recorder: the newest samples stay on the target and nothing is sent before "
        "mkperf dump asks; record returns at once",
        MKPERF_SETS(struct mkperf_record_options, configure.overwrite)),
    MKPERF_OPTION(
        'm', "mmap-pages",
        "with --overwrite, so much memory for them: a power of two, with B, K or M behind it "
        "or in pages of 4 KiB (default and at most %dK)",
        .value = "SIZE", .number = MKPERF_OUTPUT_RING_BYTES / 1024,
        MKPERF_TAKEN(take_size, struct mkperf_record_options, configure.overwrite_bytes)),
    MKPERF_OPTION(0, "dump-on-fault",
                  "with --overwrite: a fault of one of these PDs ends the recording and keeps it",
                  .value = "NAME[,NAME]", MKPERF_TEXT(struct mkperf_record_options, dump_on_fault)),
    MKPERF_OPTION(
        0, "stop-if",
        "flight recorder that ends when this happened, and is fetched then: 'call A->B > 500us', "
        "'wake A->B > T', 'wake irq N > T', 'ready NAME > T', 'throttled NAME', 'fault NAME', "
        "several separated by commas; implies --overwrite and --sched. A and NAME may be left "
        "out. With --overwrite, record returns at once and mkperf dump fetches it",
        .value = "CONDITION", MKPERF_TEXT(struct mkperf_record_options, stop_if)),
    MKPERF_OPTION(
        0, "interactions",
        "count context switches, faults, protected calls and notifications, by PD and by who "
        "reached whom: mkperf report --interactions",
        MKPERF_SETS(struct mkperf_record_options, configure.interactions)),
    MKPERF_OPTION(
        0, "stacks",
        "note the least stack pointer of each PD and the size of its stack: mkperf report "
        "--stacks; implies --interactions",
        .store = {.take = take_stacks, .min = 1}),
    MKPERF_OPTION(0, "stack-scan",
                  "the same, and the kernel finds the lowest word of each stack that is not 0 when "
                  "the recording ends; it reads no value",
                  .store = {.take = take_stacks, .min = 2}),
    MKPERF_OPTION(
        0, "sched",
        "record scheduling events: mkperf latency, perf sched; without -e, -c and -F nothing "
        "is sampled",
        MKPERF_SETS(struct mkperf_record_options, configure.sched)),
    MKPERF_OPTION(
        0, "queues",
        "with the indices of the queues that the image lists, read at each switch: mkperf flow; "
        "implies --sched",
        MKPERF_SETS(struct mkperf_record_options, queues)),
    MKPERF_OPTION(
        0, "sample-queues",
        "with their indices some hundred times per second, without --sched: mkperf flow estimates "
        "how full they are",
        MKPERF_SETS(struct mkperf_record_options, sample_queues)),
    MKPERF_OPTION(
        0, "off-cpu",
        "with the callchain of each thread that stops to wait, and for how long: mkperf report "
        "--off-cpu; implies --sched",
        MKPERF_SETS(struct mkperf_record_options, configure.off_cpu)),
    {.letter = 0},
};

/* ---- all of them ---- */

void mkperf_record_options_init(void *options)
{
    struct mkperf_record_options *o = options;

    *o = (struct mkperf_record_options){
        .output = "perf.data",
        .compression = MKPERF_COMPRESS_FILES,
        .link = {.timeout_s = MKPERF_DEFAULT_TIMEOUT_S, .reconnect_s = MKPERF_RECONNECT_S}};
    o->configure.max_frames = MKPERF_DEFAULT_FRAMES;
    o->configure.callers = MKPERF_DEFAULT_CALLERS;
}

enum mkperf_status mkperf_record_options_finish(struct mkperf_record_options *o,
                                                const char *command, struct mkperf_error *e)
{
    bool flight = o->configure.overwrite || o->stop_if != NULL;

    MKPERF_TRY(MKPERF_RULES(
        e, command, {o->link.target == NULL, "no target: give -t TARGET"},
        {o->link.watch && o->link.take_over, "--watch and --take-over exclude each other"},
        {o->count != 0 && o->frequency != 0, "-c and -F exclude each other"},
        {!flight && (o->dump_on_fault != NULL || o->configure.overwrite_bytes != 0),
         "--dump-on-fault and -m are for --overwrite and --stop-if"},
        {flight && (o->duration_s > 0 || o->link.watch || o->raw != NULL),
         "--overwrite and --stop-if begin a recording that the target keeps: no --duration, "
         "--watch or --raw"}));
    o->configure.sched |= o->configure.off_cpu || o->stop_if != NULL || o->queues;
    o->queues |= o->sample_queues;
    /* The length of --aggregate's windows. A duration is a whole number of windows, which are a little longer than its part, because
     * a window ends with the last sample before its end. */
    double s = o->aggregate_s;
    if (s != 0) {
        s = o->duration_s > 0 ? 1.005 * o->duration_s / ceil(o->duration_s / s) : s;
        o->configure.aggregate_ms = (uint32_t)fmin(s * 1e3, MKPERF_MOST_AGGREGATE_MS);
    }
    bool samples = !o->configure.sched || o->count != 0 || o->frequency != 0;
    MKPERF_TRY(MKPERF_RULES(
        e, command,
        {s != 0 && (o->configure.sched || o->configure.overwrite),
         "--aggregate counts samples on the target: it has neither scheduling events nor a flight "
         "recording. Record those without it"},
        {s != 0 && (s * 1e3 < MKPERF_LEAST_AGGREGATE_MS ||
                    o->aggregate_s * 1e3 > MKPERF_MOST_AGGREGATE_MS),
         "--aggregate: want 0.1 to 60 s"},
        {o->configure.events_count == 0 && !samples && o->configure.per_pd,
         "--stat counts what is sampled: add -e, -c or -F"}));
    if (o->configure.events_count == 0 && samples) {
        MKPERF_TRY(mkperf_events_parse("cycles", &o->configure, e));
    }
    if (o->configure.events_count == 0 && !o->configure.off_cpu &&
        (o->pd != NULL || o->subtree != NULL)) {
        return mkperf_usage_error(e, command,
                                  "%s selects samples, and scheduling events are of all PDs: to "
                                  "sample as well, add -e, -c or -F",
                                  o->pd != NULL ? "--pd" : "--subtree");
    }
    for (unsigned i = 0; i < o->configure.events_count; i++) {
        mkperf_EventSpec *spec = &o->configure.events[i];
        if (spec->period == 0 && spec->frequency == 0 && !spec->read) {
            spec->period = o->count;
            spec->frequency = o->count != 0       ? 0
                              : o->frequency != 0 ? (uint32_t)o->frequency
                                                  : MKPERF_DEFAULT_FREQUENCY;
        }
    }
    return MKPERF_OK;
}
