/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * mkperf agent: records many targets all the time, and feeds servers with profiles and metrics.
 *
 * Owns: the options, their checks, and the begin and end. host/agent does the work.
 */
#include <malloc.h>

#include "agent/agent.h"
#include "cmd.h"

enum {
    TARGETS = 64,
    DEFAULT_WINDOW_S = 10,
    DEFAULT_KEEP_MIB = 1024,
    DEFAULT_FREQUENCY = 100,
    LONGEST_AGGREGATE_S = 60,
    MMAP_BYTES = 128 * 1024
};

struct agent_command {
    struct agent agent; /* the first member, because it has the options of a recording first */
    const char *target[TARGETS + 1]; /* NULL behind the last one */
};

/* Stores one value of several in an array, behind which is a NULL. The row's `max` is its room. */
static enum mkperf_status take_one(void *member, const struct mkperf_given *g)
{
    const char **list = member;
    uint64_t n = 0;

    while (list[n] != NULL) {
        n++;
    }
    if (n == g->option->store.max) {
        return mkperf_usage_error(g->e, "agent",
                                  "too many %s: --targets names any number of targets", g->name);
    }
    list[n] = g->value;
    return MKPERF_OK;
}

static const struct mkperf_option agent_options[] = {
    MKPERF_OPTION(
        't', "target", "a target, see below; several times for several",
        MKPERF_TAKES(TARGET, "TARGET"),
        .store = {.take = take_one, .at = offsetof(struct agent_command, target), .max = TARGETS}),
    MKPERF_OPTION(0, "targets",
                  "a file with a line NAME TARGET [KEY-FILE] for each target; it is read again "
                  "when it changes",
                  MKPERF_TAKES(FILE, "FILE"), MKPERF_TEXT(struct agent_command, agent.list)),
    MKPERF_OPTION(0, "to", "where windows go, see below; several times for several",
                  .value = "DESTINATION",
                  .store = {.take = take_one,
                            .at = offsetof(struct agent_command, agent.to),
                            .max = AGENT_DESTINATIONS}),
    MKPERF_OPTION(0, "metrics", "answer Prometheus at this address; without an address on loopback",
                  .value = "ADDRESS:PORT", MKPERF_TEXT(struct agent_command, agent.metrics)),
    MKPERF_OPTION(0, "window", "length of a window (%d)", .value = "S", .number = DEFAULT_WINDOW_S,
                  MKPERF_SECONDS(struct agent_command, agent.window_s)),
    MKPERF_OPTION(0, "spool", "directory of windows that wait for a server",
                  MKPERF_TAKES(DIR, "DIR"), MKPERF_TEXT(struct agent_command, agent.spool)),
    MKPERF_OPTION(0, "keep",
                  "MiB that each destination's windows may have here (%d); the oldest are given up",
                  .value = "MIB", .number = DEFAULT_KEEP_MIB,
                  MKPERF_NUMBER(struct agent_command, agent.keep_mib, 1, 1 << 30)),
    MKPERF_OPTION(0, "service", "name of the service on servers (mkperf)", .value = "NAME",
                  MKPERF_TEXT(struct agent_command, agent.service)),
    MKPERF_OPTION(0, "header-file",
                  "a line for the head of each upload, such as Authorization: Bearer TOKEN",
                  MKPERF_TAKES(FILE, "FILE"), MKPERF_TEXT(struct agent_command, agent.header_file)),
    MKPERF_OPTION(
        0, "key-file", "the key for targets: 32 bytes, or a line [NAME] and 64 hexadecimal digits",
        MKPERF_TAKES(FILE, "FILE"), MKPERF_TEXT(struct agent_command, agent.options.link.key_file)),
    MKPERF_OPTION(0, "timeout", "patience with a silent target (default %d)", .value = "S",
                  .number = MKPERF_DEFAULT_TIMEOUT_S,
                  MKPERF_SECONDS(struct agent_command, agent.options.link.timeout_s)),
    MKPERF_OPTION(0, "sched", "with scheduling events, for metrics of calls and run times",
                  MKPERF_SETS(struct agent_command, agent.options.configure.sched)),
    MKPERF_OPTION(0, "queues", "with the indices of queues, for metrics of flow; implies --sched",
                  MKPERF_SETS(struct agent_command, agent.options.queues)),
    {.letter = 0},
};

static enum mkperf_status run_agent(void *self, const struct mkperf_args *args,
                                    struct mkperf_error *e)
{
    struct agent_command *c = self;
    struct agent *a = &c->agent;
    bool servers = false;

    for (; a->to[a->nto] != NULL; a->nto++) {
        servers |= strstr(a->to[a->nto], "://") != NULL;
    }
    MKPERF_TRY(MKPERF_RULES(
        e, "agent",
        {c->target[0] == NULL && a->list == NULL, "no target: give -t TARGET or --targets FILE"},
        {a->nto == 0 && a->metrics == NULL, "nothing to do: give --to or --metrics"},
        {servers && a->spool == NULL, "a server needs --spool DIR, for windows that wait"},
        {a->window_s < 1 || a->window_s > 3600, "--window: want 1 to 3600 s"}));
    a->options.link.target = c->target[0] != NULL ? c->target[0] : a->list;
    if (a->options.aggregate_s == MKPERF_AGGREGATE_S && a->window_s <= LONGEST_AGGREGATE_S) {
        a->options.aggregate_s = a->window_s; /* the default: one window each */
    }
    if (a->options.count == 0 && a->options.frequency == 0) {
        a->options.frequency = DEFAULT_FREQUENCY;
    }
    uint8_t line[4096];
    size_t n;
    struct mkperf_shared_key key;
    MKPERF_TRY(a->header_file != NULL ? mkperf_secret_read(a->header_file, line, sizeof line, &n, e)
                                      : MKPERF_OK);
    MKPERF_TRY(a->options.link.key_file != NULL ? mkperf_key_read(a->options.link.key_file, &key, e)
                                                : MKPERF_OK);
    a->options.command = args->line;
    MKPERF_TRY(mkperf_record_options_finish(&a->options, "agent", e));
    a->stop = mkperf_process_interrupts();
    /* Large blocks, such as the buffer of each file, are returned when they are freed, and only their used pages are memory: without
     * that, 100 targets take twice as much. One thread at a time allocates. */
    (void)mallopt(M_MMAP_THRESHOLD, MMAP_BYTES);
    (void)mallopt(M_ARENA_MAX, 1);
    MKPERF_TRY(agent_push_load(e));
    mkperf_turns_begin();
    MKPERF_FAIL_IF(a->spool != NULL && mkdir(a->spool, 0700) != 0 && errno != EEXIST, e,
                   MKPERF_ERR_OUTPUT, "%s: %s", a->spool, strerror(errno));
    for (unsigned i = 0; i < a->nto; i++) {
        MKPERF_TRY(agent_outbox_open(&a->outbox[i], a->to[i], a->spool, a->keep_mib << 20,
                                     &a->sequence, e));
    }
    MKPERF_TRY(a->metrics != NULL ? agent_metrics_serve(a, a->metrics, e) : MKPERF_OK);
    for (unsigned i = 0; i < a->nto; i++) {
        if (a->outbox[i].url != NULL) {
            agent_push_start(a, &a->outbox[i]);
        }
    }
    for (unsigned i = 0; c->target[i] != NULL; i++) {
        MKPERF_TRY(agent_add(a, NULL, c->target[i], NULL, e));
    }
    MKPERF_TRY(a->list != NULL ? agent_read_list(a, e) : MKPERF_OK);
    agent_run(a);
    return MKPERF_OK;
}

const struct mkperf_command mkperf_agent_command = {
    .name = "agent",
    .summary = "feed servers with profiles and metrics of many targets",
    .synopsis = "-t TARGET... [--to DESTINATION...] [options]",
    .description = "Records targets all the time, at 100 samples/s without -c and -F, in windows "
                   "of --window. Each window is uploaded, or "
                   "becomes a file. Metrics are those of all windows that have ended.\n\n"
                   "A target that is not there, and a server that is gone, are tried again without "
                   "an end. What is given up is counted in the metrics. With --duration the agent "
                   "ends after S seconds of the targets' time.",
    .options = {{agent_options, 0},
                {mkperf_sampling_options, 0},
                {mkperf_names_options, 0},
                {mkperf_kernel_options, 0}},
    .sections = {{.title = "TARGET is one of", .list = mkperf_target_help},
                 {.title = "DESTINATION is one of", .list = agent_kind_help}},
    .examples = "mkperf agent -t tcp:10.0.0.5 --to file:/var/lib/mkperf/windows\n"
                "mkperf agent --targets /etc/mkperf/targets --metrics 9464 --sched\n"
                "mkperf agent --targets targets --spool spool --to otlp:https://otel.example:4318",
    .self = MKPERF_SELF(
        struct agent_command,
        .agent = {.window_s = DEFAULT_WINDOW_S, .keep_mib = DEFAULT_KEEP_MIB, .service = "mkperf"}),
    .init = mkperf_record_options_init,
    .run = run_agent,
    .end = agent_free,
};
