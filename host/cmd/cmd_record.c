/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * mkperf record: writes the samples of a target, or of a capture, into a perf.data file. mkperf dump: writes those of a
 * flight recording.
 *
 * Owns: the messages (console text of the target, progress, summary), signals, and the end of the output. After the
 * first sample, every end finishes the file, except an error of the disk.
 */
#include "cmd.h"
#include "link/recorder.h"

struct record {
    /* the first member, because the groups of options store into it */
    struct mkperf_recorder recorder;
    struct mkperf_checks *checks;  /* passes samples on to the recorder's perfdata */
    struct mkperf_only_cores only; /* passes those of -C on to checks */
    volatile int *interrupts;
    uint64_t repeat;   /* recordings; 0: one, under its own name */
    bool dump;         /* fetch a flight recording, and start nothing */
    bool terminal;     /* standard error is a terminal: show progress */
    double drawn_s;    /* the time at which it was drawn */
    uint64_t samples;  /* the number of samples that it showed */
    uint64_t shown_ns; /* the time of the last of these samples */
};

static void show_target_line(void *self, const char *line)
{
    const struct record *rec = self;

    if (!rec->recorder.options.quiet) {
        mkperf_progress_clear();
        fprintf(stderr, "target: %s\n", line);
    }
}

static void show_progress(void *self)
{
    struct record *rec = self;
    const struct mkperf_stream *s = rec->recorder.stream;
    const struct mkperf_totals *t = &s->totals;
    double now;

    if (!rec->terminal || mkperf_totals_received(t) == 0 ||
        (now = mkperf_now_s()) - rec->drawn_s < 0.5) {
        return;
    }
    /* The rate is in the target's time, because pauses of the connection or of this machine are not pauses of the target.
     * The rate of the first line is that of all samples before it. */
    uint64_t ns = t->last_ns - (rec->samples != 0 ? rec->shown_ns : t->first_ns);
    uint64_t more = mkperf_totals_received(t) - rec->samples;
    double rate = ns != 0 ? (double)more * 1e9 / (double)ns : 0;
    fprintf(stderr, "\r\033[K%8.1f s  %" PRIu64 " %s  %.0f/s  lost:",
            (double)(t->last_ns - t->first_ns) / 1e9, mkperf_totals_received(t),
            s->session.sched ? "events" : "samples", rate);
    /* The target's last Status may contain more losses than the reports that arrived. */
    const uint64_t status[MKPERF_LOST_PLACES] = {[MKPERF_LOST_RING] = s->status.lost_ring,
                                                 [MKPERF_LOST_OUTPUT] = s->status.lost_output,
                                                 [MKPERF_LOST_LINK] = s->status.lost_link};
    for (unsigned i = 0; i < MKPERF_LOST_PLACES; i++) {
        bool further = s->has_status && s->from_start && status[i] > s->seen[i];

        fprintf(stderr, " %s %" PRIu64, mkperf_loss_places[i].brief,
                t->lost[i] + (further ? status[i] - s->seen[i] : 0));
    }
    fprintf(stderr, "  %.1f MB", (double)rec->recorder.link.receiver.bytes / 1e6);
    mkperf_progress_drawn();
    rec->drawn_s = now;
    rec->samples = mkperf_totals_received(t);
    rec->shown_ns = t->last_ns;
}

static const char *name_of_pd(const void *pds, uint32_t pd)
{
    return ((const struct mkperf_pds *)pds)->pd[pd].name;
}

/* Prints wrong names, and with --quiet also what makes numbers doubtful. Otherwise the summary has that. */
static void print_summary_warning(void *self, enum mkperf_warning_level level, const char *text)
{
    const struct record *rec = self;

    if (level == MKPERF_ERROR || (level != MKPERF_NOTE && rec->recorder.options.quiet)) {
        fprintf(stderr, "mkperf: %s: %s\n", mkperf_warning_names[level], text);
    }
}

static void show_summary(const struct record *rec, uint64_t bytes)
{
    const struct mkperf_stream *s = rec->recorder.stream;
    const struct mkperf_receiver *w = &rec->recorder.link.receiver;
    const struct mkperf_totals *t = &s->totals;
    char text[MKPERF_CORES_TEXT], room[MKPERF_CORE_PROBLEM_TEXT];
    bool sched = s->session.sched && s->session.nevents == 0;

    uint64_t n = sched ? t->sched_events : t->samples;

    fprintf(stderr, "mkperf: %s: %" PRIu64 " %s%s in %.3f s", rec->recorder.options.output, n,
            sched ? "scheduling event" : "sample", mkperf_plural(n),
            (double)(t->last_ns - t->first_ns) / 1e9);
    fprintf(stderr, ", %" PRIu64 " lost, %" PRIu64 " bytes\n",
            mkperf_lost_sum(sched ? t->sched_lost : t->lost), bytes);
    if (s->session.image != NULL) {
        fprintf(stderr, "  image   %s, which lists its programs\n", s->session.image);
    } else if (s->session.unverified != NULL) {
        fprintf(stderr, "  image   unverified: %s\n", s->session.unverified);
    }
    for (unsigned i = 0; mkperf_cores_warning(&s->session, i, text); i++) {
        fprintf(stderr, "mkperf: warning: %s\n", text);
    }
    mkperf_cores_print(t, "  cores   ", "          ", stderr);
    for (unsigned i = 0; i < t->ncores; i++) {
        const char *problem = mkperf_core_problem(&t->core[i], room);
        if (problem != NULL) {
            fprintf(stderr, "mkperf: warning: core %u %s\n", i, problem);
        }
    }
    for (unsigned i = 0; i < s->session.nevents; i++) {
        const struct mkperf_event *v = &s->session.event[i];
        fprintf(stderr, "  event   %s%s, ", v->name, mkperf_event_modes(v));
        if (v->read) {
            fprintf(stderr, "read in samples of its group");
        } else if (v->period != 0) {
            fprintf(stderr, "every %" PRIu64, v->period);
        } else {
            fprintf(stderr, "%" PRIu32 " samples/s and core", v->frequency);
        }
        if (t->enabled_ns[i] != 0) { /* the event was multiplexed */
            fprintf(stderr, ", counted %.2f %% of the time (%.3f of %.3f s)",
                    100 * (double)t->running_ns[i] / (double)t->enabled_ns[i],
                    (double)t->running_ns[i] / 1e9, (double)t->enabled_ns[i] / 1e9);
        }
        fputc('\n', stderr);
    }
    if (rec->dump && s->has_status) {
        fprintf(stderr, "  flight  %" PRIu64 " older sample%s", t->overwritten,
                mkperf_plural(t->overwritten));
        if (t->sched_overwritten != 0) {
            fprintf(stderr, " and %" PRIu64 " scheduling event%s", t->sched_overwritten,
                    mkperf_plural(t->sched_overwritten));
        }
        fprintf(stderr, " were overwritten; %s%s\n",
                t->stopped[0] != '\0' ? "ended " : "the recording continues", t->stopped);
    }
    char aggregate[MKPERF_CORES_TEXT];
    if (mkperf_aggregate_text(&s->session, aggregate)) {
        fprintf(stderr, "  windows %s\n", aggregate);
    }
    mkperf_observe_summary(s, stderr);
    for (unsigned i = 0; i < MKPERF_LOST_PLACES; i++) {
        if (t->lost[i] != 0) {
            fprintf(stderr, "  lost    %" PRIu64 " sample%s %s\n", t->lost[i],
                    mkperf_plural(t->lost[i]), mkperf_loss_places[i].summary);
        }
    }
    if (s->skipped != 0) {
        fprintf(stderr, "  joined  after %" PRIu64 " sample%s of the session\n", s->skipped,
                mkperf_plural(s->skipped));
    }
    if (s->others != 0) {
        fprintf(stderr, "  others  %" PRIu64 " sample%s of an earlier session: not stored\n",
                s->others, mkperf_plural(s->others));
    }
    mkperf_figures_print(MKPERF_FIGURE_SUMMARY, MKPERF_SECTION_FIRST, MKPERF_SECTION_SECOND, t,
                         stderr);
    if (t->fill.size != 0) {
        mkperf_fill_text(&t->fill, text, sizeof text);
        fprintf(stderr, "  ring    %s waited for the link\n", text);
    }
    mkperf_figures_print(MKPERF_FIGURE_SUMMARY, MKPERF_SECTION_SECOND, MKPERF_SECTION_END, t,
                         stderr);
    if (s->has_status && s->status.running) {
        fprintf(stderr, "  the session continued after this recording\n");
    } else if (!t->complete) {
        fprintf(stderr, "  the counts do not match the target's: more may be lost\n");
    }
    if (rec->recorder.breaks != 0) {
        fprintf(stderr, "  link    broke %u time%s\n", rec->recorder.breaks,
                mkperf_plural(rec->recorder.breaks));
    }
    if (rec->recorder.link.bad_macs != 0) {
        fprintf(stderr, "  MACs    %" PRIu64 " with a wrong MAC: these messages were dropped\n",
                rec->recorder.link.bad_macs);
    }
    if (mkperf_totals_received(t) != 0) {
        fprintf(stderr, "  line    %" PRIu64 " bytes, %.1f %s; %" PRIu64 " frame%s", w->bytes,
                (double)w->bytes / (double)mkperf_totals_received(t),
                s->session.sched ? "an event" : "a sample", w->frames, mkperf_plural(w->frames));
        fprintf(stderr, ", %" PRIu64 " missing, %" PRIu64 " noise, %" PRIu64 " malformed\n",
                s->gaps, w->noise, s->malformed);
    }
}

static enum mkperf_status receive_samples(struct record *rec, struct mkperf_error *e)
{
    struct mkperf_recorder *r = &rec->recorder;

    if (!r->link.source.ops->interactive) {
        return mkperf_recorder_replay(r, e);
    }
    if (rec->dump) {
        if (mkperf_recorder_dump(r, e) == MKPERF_OK) {
            mkperf_flight_reason(r, &r->stream->totals);
        }
        return e->status;
    }
    MKPERF_TRY(mkperf_recorder_start(r, e));
    MKPERF_TRY(mkperf_recorder_run(r, e));
    MKPERF_TRY(mkperf_recorder_stop(r, e));
    if (r->options.configure.interactions) {
        MKPERF_TRY(mkperf_recorder_snapshot(r, MKPERF_TARGET_INTERACTIONS, NULL, e));
    }
    return r->options.configure.per_pd && !r->watching
               ? mkperf_recorder_snapshot(r, MKPERF_TARGET_COUNTS, NULL, e)
               : MKPERF_OK;
}

/* Finishes the file. Samples that precede an error are kept, except after an error of the disk. */
static enum mkperf_status finish_file(struct record *rec, enum mkperf_status received,
                                      struct mkperf_error *e)
{
    struct mkperf_recorder *r = &rec->recorder;
    const struct mkperf_sink sink = r->stream->config.sink;
    if (received == MKPERF_OK && r->options.link.watch &&
        (!r->stream->began || mkperf_totals_received(&r->stream->totals) == 0)) {
        received = mkperf_error_set(e, MKPERF_ERR_INPUT, "%s: %s", r->link.source.spec,
                                    r->stream->began
                                        ? "the watched session recorded nothing in this time"
                                        : "no session ran while it was watched; mkperf dump "
                                          "fetches a flight recording");
    }
    struct mkperf_error why = *e;

    if (received == MKPERF_ERR_OUTPUT || (received != MKPERF_OK && !r->stream->began)) {
        mkperf_sink_abandon(&sink);
        return received;
    }
    MKPERF_TRY(
        mkperf_sink_finish(&sink, mkperf_stream_finish(r->stream, e), &r->stream->totals, e));
    MKPERF_TRY(r->link.raw.path != NULL ? mkperf_outfile_finish(&r->link.raw, e) : MKPERF_OK);
    *e = why;
    return received;
}

static enum mkperf_status record_target(struct record *rec, struct mkperf_error *e)
{
    struct mkperf_recorder *r = &rec->recorder;
    const struct mkperf_record_options *o = &r->options;

    r->text.print = show_target_line;
    r->notice = mkperf_print_notice;
    r->warn = mkperf_print_warning;
    r->progress = show_progress;
    r->stop = rec->interrupts;
    r->self = rec;
    MKPERF_TRY(mkperf_recorder_init(r, false, e));
    MKPERF_TRY(mkperf_perfdata_new(o->output, r->symbols, &r->perfdata, e));
    mkperf_perfdata_compress(r->perfdata, (int)o->compression);
    MKPERF_TRY(o->raw != NULL ? mkperf_outfile_open(&r->link.raw, o->raw, true, e) : MKPERF_OK);
    rec->checks = mkperf_checks_new(mkperf_perfdata_sink(r->perfdata), r->symbols, true);
    rec->only.to = mkperf_checks_sink(rec->checks);
    rec->only.cores =
        (struct mkperf_cpu_list){.given = o->configure.cores != 0, .bits = {o->configure.cores}};
    mkperf_recorder_decode(r, mkperf_only_cores_sink(&rec->only), o->command);
    enum mkperf_status status = finish_file(rec, receive_samples(rec, e), e);
    struct mkperf_stream *s = r->stream;
    const struct mkperf_totals *checked = mkperf_checks_totals(rec->checks);
    const struct mkperf_interactions *interactions = s->totals.interactions;

    if (checked != NULL) {
        s->totals = *checked;
        s->totals.interactions = interactions;
        s->totals.counts = s->counts;
    }
    mkperf_console_text_end(&r->text);
    mkperf_progress_clear();
    if (s->began && status != MKPERF_ERR_OUTPUT) {
        if (!o->quiet) {
            show_summary(rec, mkperf_perfdata_bytes(r->perfdata));
        }
        mkperf_warnings_each(&s->session, &s->totals, name_of_pd, r->pds, print_summary_warning,
                             rec);
    }
    char *partial = mkperf_xprintf("%s.partial", o->output);
    if (s->began && status == MKPERF_ERR_OUTPUT && access(partial, F_OK) == 0) {
        fprintf(stderr,
                "mkperf record: %s\n"
                "mkperf record: the written part can be recovered with: mkperf recover %s\n",
                e->text, partial);
        e->text[0] = '\0';
    }
    free(partial);
    return status;
}

/* Ends a recording. Another one with the same options may follow. */
static void end_record(void *self)
{
    struct record *rec = self;

    mkperf_checks_free(rec->checks);
    rec->checks = NULL;
    mkperf_recorder_free(&rec->recorder);
}

static enum mkperf_status run_record(void *self, const struct mkperf_args *args,
                                     struct mkperf_error *e)
{
    struct record *rec = self;
    struct mkperf_record_options *o = &rec->recorder.options;

    o->command = args->line;
    MKPERF_TRY(mkperf_record_options_finish(o, rec->dump ? "dump" : "record", e));
    MKPERF_TRY(
        MKPERF_RULES(e, "record",
                     {rec->repeat != 0 && (o->duration_s == 0 || strcmp(o->output, "-") == 0),
                      "--repeat needs --duration, and files"}));
    rec->interrupts = mkperf_process_interrupts();
    rec->drawn_s = mkperf_now_s(); /* the first progress line is drawn 0.5 s from now */
    rec->terminal = !o->quiet && isatty(STDERR_FILENO);
    bool leaves = o->configure.overwrite;
    enum mkperf_status status = MKPERF_OK;
    if (leaves || o->stop_if != NULL) {
        o->configure.overwrite = true;
        o->wait = !leaves;
        status = mkperf_flight_start(&rec->recorder, e);
    }
    if (status == MKPERF_OK && !leaves) {
        if (o->stop_if != NULL) { /* What follows is `mkperf dump --wait`. */
            end_record(rec);
            rec->dump = true;
        }
        /* Records --repeat times, each time under a name with its number. A recording that fails is the last one. */
        const mkperf_Configure configure = o->configure;
        const char *output = o->output;
        for (uint64_t i = 1; i <= rec->repeat && status == MKPERF_OK; i++) {
            char *name = mkperf_xprintf("%s.%" PRIu64, output, i);
            if (i > 1) {
                end_record(rec);
                o->configure = configure;
            }
            o->output = name;
            status = record_target(rec, e);
            o->output = output;
            free(name);
            if (*rec->interrupts != 0) {
                break;
            }
        }
        status = rec->repeat == 0 ? record_target(rec, e) : status;
    }
    return status;
}

static const struct mkperf_option repeat_options[] = {
    MKPERF_OPTION(
        'r', "repeat",
        "N recordings of --duration, FILE.1 to FILE.N, of which mkperf diff takes several",
        .value = "N", MKPERF_NUMBER(struct record, repeat, 1, 1000)),
    {.letter = 0},
};

const struct mkperf_command mkperf_record_command = {
    .name = "record",
    .summary = "sample a running system into a perf.data file",
    .synopsis = "-t TARGET [options]",
    .description = "Samples a running seL4/Microkit system into a perf.data file. Ends after "
                   "--duration or with Ctrl-C.",
    .options = {{mkperf_link_options, offsetof(struct mkperf_record_options, link)},
                {mkperf_sampling_options, 0},
                {mkperf_names_options, 0},
                {mkperf_kernel_options, 0},
                {mkperf_choice_options, 0},
                {mkperf_output_options, 0},
                {repeat_options, 0},
                {mkperf_flight_options, 0},
                {mkperf_watch_options, offsetof(struct mkperf_record_options, link)},
                {mkperf_control_options, offsetof(struct mkperf_record_options, link)},
                {mkperf_reconnect_options, offsetof(struct mkperf_record_options, link)}},
    .sections = {{.title = "TARGET is one of", .list = mkperf_target_help}},
    .examples = "mkperf record -t serial:/dev/ttyUSB0,115200 --system my.system\n"
                "mkperf record -t tcp:192.168.1.5 -e cycles:k,r16 -F 2000 --duration 10\n"
                "mkperf record -t file:capture.raw -o perf.data",
    .no_operands = "mkperf profiles the whole target, which runs already: --pd and --duration "
                   "choose what and how long",
    .statuses = MKPERF_STATUSES_FILES | MKPERF_STATUSES_TARGET,
    .self = {.bytes = sizeof(struct record)},
    .init = mkperf_record_options_init,
    .run = run_record,
    .end = end_record,
};

static const struct mkperf_option dump_options[] = {
    MKPERF_OPTION(0, "wait", "wait until a fault, a mark or a stop has ended the recording",
                  MKPERF_SETS(struct mkperf_record_options, wait)),
    {.letter = 0},
};

const struct mkperf_command mkperf_dump_command = {
    .name = "dump",
    .summary = "fetch the samples of the flight recorder",
    .synopsis = "-t TARGET [options]",
    .description =
        "Writes the samples that mkperf record --overwrite has kept on the target into a perf.data "
        "file. They stay there and can be fetched again, until the next recording. A recording "
        "that still runs continues.",
    .options = {{mkperf_link_options, offsetof(struct mkperf_record_options, link)},
                {mkperf_names_options, 0},
                {mkperf_kernel_options, 0},
                {dump_options, 0},
                {mkperf_output_options, 0},
                {mkperf_control_options, offsetof(struct mkperf_record_options, link)}},
    .sections = {{.title = "TARGET is one of", .list = mkperf_target_help}},
    .examples = "mkperf record -t tcp:10.0.0.5 --overwrite --dump-on-fault server\n"
                "mkperf dump -t tcp:10.0.0.5 --wait --elf-path build",
    .statuses = MKPERF_STATUSES_FILES | MKPERF_STATUSES_TARGET,
    .self = MKPERF_SELF(struct record, .dump = true),
    .init = mkperf_record_options_init,
    .run = run_record,
    .end = end_record,
};
