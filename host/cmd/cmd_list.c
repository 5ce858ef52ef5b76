/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * mkperf list: shows events with name, number and description, and whether the target has them.
 *
 * Owns: the output, which merges the target's list with the table of its CPU. The target's list takes precedence. Events
 * that only the table has are marked.
 */
#include "cmd.h"
#include "link/recorder.h"
#include "pmu/events.h"
#include "report/report.h"

enum { MAX_LISTED = 1024, ATTEMPTS = 3 };

struct list {
    struct mkperf_recorder recorder; /* the first member, as mkperf_recorder_talk_init requires */
    const char *cpu;                 /* NULL: the target's CPU */
    const char *pattern;             /* a part of the names to list; NULL: all */
    bool json;
    struct mkperf_textout values; /* the values that --json prints */
    bool last;                    /* the last part of the target's list has arrived */
    unsigned n;
    mkperf_EventInfo event[MAX_LISTED];
};

static void put_tables(mkperf_put *put, void *to)
{
    for (const struct mkperf_pmu_table *t = mkperf_pmu_tables; t->cpu != NULL; t++) {
        put(to, t->cpu, "");
    }
}

static const struct mkperf_option list_options[] = {
    MKPERF_OPTION(0, "cpu", "the CPU, where the target cannot detect which it has",
                  MKPERF_TAKES(WORD, "NAME"), .list = put_tables, MKPERF_TEXT(struct list, cpu)),
    MKPERF_OPTION(0, "json", "rows as JSON Lines", MKPERF_SETS(struct list, json)),
    {.letter = 0},
};

/* Returns the number of an event in the target's list; l->n: it is not there. */
static unsigned event_named(const struct list *l, const char *name)
{
    unsigned i = 0;

    while (i < l->n && strcmp(l->event[i].name, name) != 0) {
        i++;
    }
    return i;
}

static void take_events(void *self, const mkperf_ToHost *m)
{
    struct list *l = self;

    if (m->which_msg == mkperf_ToHost_events_tag) {
        for (unsigned i = 0; i < m->msg.events.events_count; i++) {
            const mkperf_EventInfo *info = &m->msg.events.events[i];
            unsigned at = event_named(l, info->name);
            bool new = at == l->n &&at < MAX_LISTED;
            /* A name may have several numbers. The number that the CPU supports is used. */
            if (new || (at < l->n && info->supported && !l->event[at].supported)) {
                l->event[at] = *info;
                l->n += new;
            }
        }
        l->last = !m->msg.events.more;
    }
}

static void print_event_row(struct list *l, const char *name, uint32_t code, const char *has,
                            const char *description)
{
    if (l->pattern != NULL && strstr(name, l->pattern) == NULL) {
        return;
    }
    if (l->json) {
        mkperf_json(&l->values,
                    "{'type':'known_event','name':%s,'code':%u,'supported':%s,'description':%s}\n",
                    name, code, *has == '?' ? "unknown" : has, description);
    } else {
        printf("  %-28s r%-5" PRIx32 " %-4s %s\n", name, code, has, description);
    }
}

static void print_table_of_cpu(struct list *l)
{
    const struct mkperf_pmu_table *t = mkperf_pmu_table(l->cpu);

    if (t->cpu == NULL) {
        fprintf(l->json ? stderr : stdout,
                "\nNo table of %s here: give its own events by number, rNN.\n",
                l->cpu[0] != '\0' ? l->cpu : "this CPU (its name is unknown, see --cpu)");
        return;
    }
    if (!l->json) {
        printf("\nFrom the table of %s (\"?\": the CPU cannot be asked):\n\n", t->cpu);
    }
    for (unsigned i = 0; i < t->n; i++) {
        if (event_named(l, t->event[i].name) == l->n) {
            print_event_row(l, t->event[i].name, t->event[i].code, "?", t->event[i].description);
        }
    }
}

static enum mkperf_status run_list(void *self, const struct mkperf_args *args,
                                   struct mkperf_error *e)
{
    struct list *l = self;

    l->pattern = args->n > 0 ? args->operand[0] : NULL;
    if (l->recorder.options.link.target != NULL) {
        l->recorder.control = take_events;
        l->recorder.self = l;
        l->recorder.options.link.watch = true;
        struct mkperf_recorder *r = &l->recorder;
        MKPERF_TRY(mkperf_recorder_talk(r, NULL, NULL, e));
        /* Fetches all parts of the list, and starts again if a frame was lost. */
        bool whole = false;
        for (unsigned attempt = 0; attempt < ATTEMPTS && !whole; attempt++) {
            mkperf_ToTarget m = {.which_msg = mkperf_ToTarget_list_events_tag};
            uint64_t gaps = r->stream->gaps;
            double began = mkperf_now_s();
            l->last = false;
            MKPERF_TRY(mkperf_recorder_ask(r, &m, "ListEvents", e));
            MKPERF_TRY(mkperf_recorder_refused(r, e));
            while (!l->last && mkperf_now_s() - began < r->options.link.timeout_s) {
                MKPERF_TRY(mkperf_peer_pump(&r->link, 20, e));
            }
            whole = l->last && r->stream->gaps == gaps;
        }
        MKPERF_FAIL_IF(!whole, e, MKPERF_ERR_SILENT, "%s: the list of events did not arrive whole",
                       r->options.link.target);
        const mkperf_TargetHello *h = &l->recorder.stream->hello;
        if (l->json) {
            l->values = report_values_begin(stdout, NULL, "list", l->recorder.options.link.target);
            mkperf_json(&l->values,
                        "{'type':'target','platform':%s,'cpu':%s,'pmu':%s,'counters':%u}\n",
                        h->platform, h->cpu, h->pmu, h->counters);
        } else {
            printf("Events of %s (%s, cpu %s, PMU %s, %" PRIu32 " counters):\n\n",
                   l->recorder.options.link.target, h->platform,
                   h->cpu[0] != '\0' ? h->cpu : "unknown", h->pmu, h->counters);
        }
        for (unsigned i = 0; i < l->n; i++) {
            const mkperf_EventInfo *v = &l->event[i];
            print_event_row(l, v->name, v->code, v->supported ? "yes" : "no", v->description);
        }
        l->cpu = l->cpu != NULL ? l->cpu : h->cpu;
    } else {
        MKPERF_TRY(MKPERF_RULES(e, "list", {l->cpu == NULL, "want -t TARGET or --cpu NAME"}));
        if (mkperf_pmu_table(l->cpu)->cpu == NULL) {
            return mkperf_usage_error(e, "list", "no table of \"%s\"", l->cpu);
        }
        if (l->json) {
            l->values = report_values_begin(stdout, NULL, "list", NULL);
        }
    }
    print_table_of_cpu(l);
    return MKPERF_OK;
}

const struct mkperf_command mkperf_list_command = {
    .name = "list",
    .summary = "show the events that a target can count",
    .synopsis = "[-t TARGET] [--cpu NAME] [PART-OF-NAME]",
    .description =
        "Shows the events that a target can count, asked from the target, and the events of its "
        "CPU's table, of which the CPU does not report the presence. Without -t: the table of "
        "--cpu.\n\n"
        "rNN counts any event by its number in hexadecimal, listed or not.",
    .options = {{mkperf_link_options, offsetof(struct list, recorder.options.link)},
                {list_options, 0}},
    .operand = MKPERF_VALUE_WORD,
    .operand_list = mkperf_pmu_events,
    .operands_max = 1,
    .sections = {{.title = "TARGET is one of", .list = mkperf_target_help},
                 {.title = "Tables", .list = put_tables}},
    .statuses = MKPERF_STATUSES_READ | MKPERF_STATUSES_TARGET,
    .self = {.bytes = sizeof(struct list)},
    .init = mkperf_recorder_talk_init,
    .run = run_list,
    .end = mkperf_recorder_free,
};
