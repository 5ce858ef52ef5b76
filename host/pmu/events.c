/* SPDX-License-Identifier: BSD-2-Clause */
/* Owns: the parser of -e, and the look-ups in the tables of CPUs. See events.h. */
#include "events.h"

#include <strings.h>

#include <mkperf/event_attributes.h>

#include "model/figures.h"

const struct mkperf_pmu_table *mkperf_pmu_table(const char *cpu)
{
    const struct mkperf_pmu_table *t = mkperf_pmu_tables;

    while (t->cpu != NULL && (cpu == NULL || strcasecmp(t->cpu, cpu) != 0)) {
        t++;
    }
    return t;
}

const struct mkperf_pmu_table_event *mkperf_pmu_table_find(const struct mkperf_pmu_table *t,
                                                           const char *name)
{
    for (unsigned i = 0; i < t->n; i++) {
        if (strcasecmp(t->event[i].name, name) == 0) {
            return &t->event[i];
        }
    }
    return NULL;
}

/* Returns the number of a group's figures. */
static unsigned figures(const struct mkperf_pmu_metric *m, const char *group)
{
    unsigned n = 0;

    for (; m->unit != NULL; m++) {
        n += strcmp(m->group, group) == 0;
    }
    return n;
}

enum mkperf_status mkperf_pmu_metric_groups(const char *groups, const char *cpu,
                                            mkperf_Configure *c, char *missing, size_t size,
                                            struct mkperf_error *e)
{
    const struct mkperf_pmu_metric *metric = mkperf_pmu_table(cpu)->metric;
    const unsigned max = sizeof c->events / sizeof *c->events, before = c->events_count;
    char lacks[64] = "", full[64] = "";

    for (const char *at = groups; at != NULL;) {
        char group[16];
        size_t length = strcspn(at, ",");

        snprintf(group, sizeof group, "%.*s", (int)length, at);
        unsigned n = figures(metric, group);
        MKPERF_FAIL_IF(length == 0 || length >= sizeof group ||
                           figures(mkperf_pmu_table(NULL)->metric, group) == 0,
                       e, MKPERF_ERR_USAGE, "-M: '%.*s': want ipc, cache, branch, stall or bus",
                       (int)length, at);
        /* An event that has several figures is counted for the first one. */
        bool fits = n != 0 && c->events_count + 2 * n <= max;
        for (const struct mkperf_pmu_metric *m = metric; fits && m->unit != NULL; m++) {
            char text[80];

            if (strcmp(m->group, group) == 0) {
                snprintf(text, sizeof text, "{%s,%s}", m->event, m->of);
                MKPERF_TRY(mkperf_events_parse(text, c, e));
            }
        }
        if (!fits) {
            char *list = n == 0 ? lacks : full;
            size_t used = strlen(list);
            snprintf(list + used, sizeof lacks - used, "%s%s", used != 0 ? ", " : "", group);
        }
        at = at[length] == ',' ? at + length + 1 : NULL;
    }
    snprintf(missing, size, "%s%s%s%s%s%s", lacks[0] != '\0' ? cpu : "",
             lacks[0] != '\0' ? " has no events for " : "", lacks,
             lacks[0] != '\0' && full[0] != '\0' ? "; " : "",
             full[0] != '\0' ? "a session has at most 16 events, so this one is without " : "",
             full);
    return c->events_count != before ? MKPERF_OK
                                     : mkperf_error_set(e, MKPERF_ERR_INPUT, "%s", missing);
}

/* perf's names of events, which targets use, too (pd/pmu). */
static const char *const perf_names[] = {
    "cycles",
    "instructions",
    "branches",
    "branch-misses",
    "cache-references",
    "cache-misses",
    "bus-cycles",
    "stalled-cycles-frontend",
    "stalled-cycles-backend",
    "L1-dcache-loads",
    "L1-dcache-load-misses",
    "L1-icache-loads",
    "L1-icache-load-misses",
    "dTLB-loads",
    "dTLB-load-misses",
    "iTLB-loads",
    "iTLB-load-misses",
    "LLC-loads",
    "LLC-load-misses",
};

void mkperf_pmu_events(mkperf_put *put, void *to)
{
    for (size_t i = 0; i < sizeof perf_names / sizeof *perf_names; i++) {
        put(to, perf_names[i], "");
    }
    for (size_t i = 0; i < MKPERF_SOFT_KINDS; i++) {
        put(to, mkperf_soft_names[i], "");
    }
    for (const struct mkperf_pmu_table *t = mkperf_pmu_tables; t->cpu != NULL; t++) {
        for (unsigned i = 0; i < t->n; i++) {
            const struct mkperf_pmu_table *before = mkperf_pmu_tables;

            while (before < t && mkperf_pmu_table_find(before, t->event[i].name) == NULL) {
                before++;
            }
            if (before == t) {
                put(to, t->event[i].name, t->event[i].description);
            }
        }
    }
}

static enum mkperf_status parse_event(const char **at, mkperf_EventSpec *spec,
                                      struct mkperf_error *e)
{
    const char *start = *at;
    bool modifiers = false;

    const char *name = *at;
    size_t n = 0;
    while (isalnum((unsigned char)name[n]) || (name[n] != '\0' && strchr("-_.", name[n]))) {
        n++;
    }
    *at += n;
    MKPERF_FAIL_IF(n == 0 || n >= sizeof spec->name, e, MKPERF_ERR_USAGE, "-e: %s \"%.60s\"",
                   n == 0 ? "want an event's name at" : "no event has a name as long as", name);
    if (name[0] == 'r' && n >= 2 && n <= 9 && strspn(name + 1, "0123456789abcdefABCDEF") >= n - 1) {
        spec->raw = (uint32_t)strtoul(name + 1, NULL, 16);
    } else {
        memcpy(spec->name, name, n);
    }
    if (**at == '/') {
        const char *end = strchr(++*at, '/');
        MKPERF_FAIL_IF(end == NULL, e, MKPERF_ERR_USAGE, "-e: no closing / after \"%.60s\"", *at);
        for (const char *term; (term = *at) < end;) { /* the terms of /period=N,freq=N/ */
            size_t length = strcspn(term, ",/");
            char *behind = NULL;
            const char *equals = memchr(term, '=', length);
            size_t key = equals != NULL ? (size_t)(equals - term) : length;
            uint64_t max = mkperf_event_term_max(term, key);
            MKPERF_FAIL_IF(max == 0, e, MKPERF_ERR_USAGE, "-e: \"%.*s\": want period=N or freq=N",
                           (int)length, term);
            errno = 0;
            uint64_t value = key < length ? strtoull(equals + 1, &behind, 10) : 0;
            MKPERF_FAIL_IF(value < 1 || value > max || errno != 0 ||
                               !isdigit((unsigned char)equals[1]) || behind != term + length,
                           e, MKPERF_ERR_USAGE, "-e: \"%.*s\": want a number from 1 to %" PRIu64,
                           (int)length, term, max);
            mkperf_event_set_term(term, key, value, spec);
            *at += length + (*at + length < end);
        }
        *at = end + 1;
        modifiers = true;
    }
    if (**at == ':') {
        ++*at;
        modifiers = true;
    }
    while (modifiers && mkperf_event_modifier(**at, false, spec)) {
        ++*at;
    }
    if (**at != '\0' && **at != ',' && **at != '}') {
        return mkperf_error_set(
            e, MKPERF_ERR_USAGE,
            "-e: \"%.60s\": '%c' is not a modifier (u user, k kernel, G guests, H no guests)",
            start, **at);
    }
    return MKPERF_OK;
}

/* Parses the modifiers behind a group. They apply to its events without modifiers of their own. */
static enum mkperf_status close_group(const char **at, mkperf_Configure *c, pb_size_t first,
                                      struct mkperf_error *e)
{
    const char *start = *at;
    mkperf_EventSpec all = mkperf_EventSpec_init_zero;

    if (**at == ':') {
        do {
            ++*at;
        } while (mkperf_event_modifier(**at, true, &all));
    }
    MKPERF_FAIL_IF(**at != '\0' && **at != ',', e, MKPERF_ERR_USAGE,
                   "-e: behind a group at \"%.60s\": expected a comma, :u, :k, :G, :H or :S",
                   start);
    MKPERF_FAIL_IF(all.read && c->events_count - first < 2, e, MKPERF_ERR_USAGE,
                   "-e: :S after a group of one event: no other event to read");
    for (pb_size_t i = first; i < c->events_count; i++) {
        mkperf_EventSpec *spec = &c->events[i];
        spec->read = all.read && i > first;
        MKPERF_FAIL_IF(spec->read && (spec->period != 0 || spec->frequency != 0), e,
                       MKPERF_ERR_USAGE,
                       "-e: with :S only the first event of a group samples: no "
                       "period= or freq= for the others");
        if (!spec->user && !spec->kernel) {
            spec->user = all.user;
            spec->kernel = all.kernel;
        }
        if (!spec->guest && !spec->host) {
            spec->guest = all.guest;
            spec->host = all.host;
        }
    }
    return MKPERF_OK;
}

enum mkperf_status mkperf_events_parse(const char *text, mkperf_Configure *c,
                                       struct mkperf_error *e)
{
    uint32_t group = 0;  /* the open group's number; 0: no group is open */
    pb_size_t first = 0; /* the index of its first event */

    for (const char *at = text;; at++) {
        if (*at == '{' && group == 0) {
            first = c->events_count;
            group = first + 1U;
            at++;
        }
        const pb_size_t max = sizeof c->events / sizeof *c->events;
        mkperf_EventSpec spec = mkperf_EventSpec_init_zero;
        MKPERF_FAIL_IF(c->events_count == max, e, MKPERF_ERR_USAGE, "-e: more than %d events", max);
        MKPERF_TRY(parse_event(&at, &spec, e));
        spec.group = group;
        c->events[c->events_count++] = spec;
        if (*at == '}' && group != 0) {
            at++;
            MKPERF_TRY(close_group(&at, c, first, e));
            group = 0;
        }
        if (*at == '\0') {
            return group == 0
                       ? MKPERF_OK
                       : mkperf_error_set(e, MKPERF_ERR_USAGE, "-e: a group { is not closed");
        }
        MKPERF_FAIL_IF(*at != ',', e, MKPERF_ERR_USAGE, "-e: a } without a {: \"%.60s\"", text);
    }
}

void mkperf_events_resolve(mkperf_Configure *c, const char *cpu)
{
    const struct mkperf_pmu_table *table = mkperf_pmu_table(cpu);

    for (unsigned i = 0; i < c->events_count; i++) {
        mkperf_EventSpec *spec = &c->events[i];
        const struct mkperf_pmu_table_event *known = mkperf_pmu_table_find(table, spec->name);
        if (known != NULL) {
            spec->raw = known->code;
        }
    }
}
