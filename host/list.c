/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * `mkperf list`: events by name, number and description, and whether the target has them.
 *
 * Owns: the merging of what the target says with the table of its CPU, and the print. The target
 * is the authority on what it knows; events of the table that it does not know are marked so.
 */
#include <getopt.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "cmd.h"
#include "pmu/tables.h"
#include "talk.h"

enum { MAX_LISTED = 1024, ATTEMPTS = 3, OPT_CPU = 256, OPT_TIMEOUT, OPT_KEY_FILE };

struct list {
    struct mkperf_talk talk;
    const char *cpu;     /* NULL: as the target says */
    const char *pattern; /* part of a name, NULL: all */
    bool last;           /* the last part of the target's list came */
    unsigned n;
    mkperf_EventInfo event[MAX_LISTED];
};

static const struct option options[] = {
    {"target", required_argument, NULL, 't'},
    {"cpu", required_argument, NULL, OPT_CPU},
    {"timeout", required_argument, NULL, OPT_TIMEOUT},
    {"help", no_argument, NULL, 'h'},
    {"key-file", required_argument, NULL, OPT_KEY_FILE},
    {NULL, 0, NULL, 0},
};

static void print_help(void)
{
    puts("usage: mkperf list [-t TARGET] [--cpu NAME] [PART-OF-NAME]\n\n"
         "Shows the events that a target can count, asked from the target, and those of its CPU's\n"
         "table, whose presence the CPU itself does not tell. Without -t: the table of --cpu.\n\n"
         "  -t TARGET      as for record\n"
         "  --cpu NAME     the CPU, where the target cannot say which it has\n"
         "  --timeout S    patience with a silent target\n"
         "  --key-file F   the target's key\n\n"
         "rNN counts any event by its number in hexadecimal, listed or not.\n\nTables:");
    for (const struct mkperf_pmu_table *t = mkperf_pmu_tables; t->cpu != NULL; t++) {
        printf("  %s\n", t->cpu);
    }
}

static void add(struct list *l, const mkperf_EventInfo *info)
{
    for (unsigned i = 0; i < l->n; i++) {
        if (strcmp(l->event[i].name, info->name) == 0) {
            /* A name may stand for several numbers: the one that the CPU has counts. */
            if (info->supported && !l->event[i].supported) {
                l->event[i] = *info;
            }
            return;
        }
    }
    if (l->n < MAX_LISTED) {
        l->event[l->n++] = *info;
    }
}

static void on_control(void *self, const mkperf_ToHost *m)
{
    struct list *l = self;

    if (m->which_msg == mkperf_ToHost_events_tag) {
        for (unsigned i = 0; i < m->msg.events.events_count; i++) {
            add(l, &m->msg.events.events[i]);
        }
        l->last = !m->msg.events.more;
    }
}

/* All parts of the list: a second time, should a frame have been lost. */
static enum mkperf_status fetch(struct list *l, struct mkperf_error *e)
{
    struct mkperf_recorder *r = &l->talk.recorder;

    for (unsigned attempt = 0; attempt < ATTEMPTS; attempt++) {
        mkperf_ToTarget m = {.which_msg = mkperf_ToTarget_list_events_tag};
        uint64_t gaps = r->stream->gaps;
        double began = mkperf_now_s();
        l->last = false;
        if (mkperf_recorder_ask(r, &m, "ListEvents", e) != MKPERF_OK ||
            mkperf_recorder_refused(r, e) != MKPERF_OK) {
            return e->status;
        }
        while (!l->last && mkperf_now_s() - began < l->talk.options.link.timeout_s) {
            if (mkperf_peer_pump(&r->link, 20, e) != MKPERF_OK) {
                return e->status;
            }
        }
        if (l->last && r->stream->gaps == gaps) {
            return MKPERF_OK;
        }
    }
    return mkperf_error_set(e, MKPERF_ERR_SILENT, "%s: the list of events does not arrive whole",
                            l->talk.options.link.target);
}

static void print_event(const struct list *l, const char *name, uint32_t code, const char *has,
                        const char *description)
{
    if (l->pattern == NULL || strstr(name, l->pattern) != NULL) {
        printf("  %-28s r%-5" PRIx32 " %-4s %s\n", name, code, has, description);
    }
}

static bool listed(const struct list *l, const char *name)
{
    for (unsigned i = 0; i < l->n; i++) {
        if (strcmp(l->event[i].name, name) == 0) {
            return true;
        }
    }
    return false;
}

static void print_table(const struct list *l, const char *cpu)
{
    const struct mkperf_pmu_table *t = mkperf_pmu_table(cpu);

    if (t == NULL) {
        printf("\nNo table of %s here: its own events can be had by number, rNN.\n",
               cpu[0] != '\0' ? cpu : "this CPU (it does not say its name, see --cpu)");
        return;
    }
    printf("\nFrom the table of %s (\"?\": the CPU cannot be asked):\n\n", t->cpu);
    for (unsigned i = 0; i < t->n; i++) {
        if (!listed(l, t->event[i].name)) {
            print_event(l, t->event[i].name, t->event[i].code, "?", t->event[i].description);
        }
    }
}

static enum mkperf_status list_target(struct list *l, struct mkperf_error *e)
{
    if (mkperf_talk_open(&l->talk, e) != MKPERF_OK || fetch(l, e) != MKPERF_OK) {
        return e->status;
    }
    const mkperf_TargetHello *h = mkperf_talk_hello(&l->talk);
    printf("Events of %s (%s, cpu %s, PMU %s, %" PRIu32 " counters):\n\n",
           l->talk.options.link.target, h->platform, h->cpu[0] != '\0' ? h->cpu : "unknown", h->pmu,
           h->counters);
    for (unsigned i = 0; i < l->n; i++) {
        const mkperf_EventInfo *v = &l->event[i];
        print_event(l, v->name, v->code, v->supported ? "yes" : "no", v->description);
    }
    print_table(l, l->cpu != NULL ? l->cpu : h->cpu);
    return MKPERF_OK;
}

static enum mkperf_status run(struct list *l, struct mkperf_error *e)
{
    if (l->talk.options.link.target != NULL) {
        return list_target(l, e);
    }
    if (l->cpu == NULL) {
        return mkperf_error_set(e, MKPERF_ERR_USAGE, "list: want -t TARGET or --cpu NAME");
    }
    if (mkperf_pmu_table(l->cpu) == NULL) {
        return mkperf_error_set(e, MKPERF_ERR_USAGE, "list: no table of \"%s\", see --help",
                                l->cpu);
    }
    print_table(l, l->cpu);
    return MKPERF_OK;
}

static enum mkperf_status parse(int argc, char **argv, struct list *l, bool *help,
                                struct mkperf_error *e)
{
    int option;

    optind = 0;
    while ((option = getopt_long(argc, argv, "t:h", options, NULL)) != -1) {
        if (option == 't') {
            l->talk.options.link.target = optarg;
        } else if (option == OPT_KEY_FILE) {
            l->talk.options.link.key_file = optarg;
        } else if (option == OPT_CPU) {
            l->cpu = optarg;
        } else if (option == OPT_TIMEOUT && atof(optarg) > 0) {
            l->talk.options.link.timeout_s = atof(optarg);
        } else if (option == 'h') {
            *help = true;
            return MKPERF_OK;
        } else {
            return mkperf_error_set(e, MKPERF_ERR_USAGE, "list: see mkperf list --help");
        }
    }
    if (argc - optind > 1) {
        return mkperf_error_set(e, MKPERF_ERR_USAGE, "list: what is \"%s\"?", argv[optind + 1]);
    }
    l->pattern = argv[optind];
    return MKPERF_OK;
}

int mkperf_cmd_list(int argc, char **argv)
{
    struct list *l = calloc(1, sizeof *l);
    struct mkperf_error e = {.status = MKPERF_OK};
    bool help = false;

    if (l == NULL) {
        return MKPERF_ERR_FAILED;
    }
    l->talk.control = on_control;
    l->talk.self = l;
    l->talk.options.link =
        (struct mkperf_peer_options){.timeout_s = MKPERF_DEFAULT_TIMEOUT_S, .watch = true};
    if (parse(argc, argv, l, &help, &e) == MKPERF_OK) {
        if (help) {
            print_help();
        } else {
            run(l, &e);
        }
    }
    if (e.status != MKPERF_OK) {
        fprintf(stderr, "mkperf: %s\n", e.text);
    }
    mkperf_talk_close(&l->talk);
    free(l);
    return (int)e.status;
}
