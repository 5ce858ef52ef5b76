/* SPDX-License-Identifier: BSD-2-Clause */
/* Owns: see perfdata_session.h. */
#include "perfdata_session.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "../sink/perfdata.h"

enum { /* feature bits of perf */
       FEATURE_HOSTNAME = 3,
       FEATURE_NRCPUS = 7,
       FEATURE_CPUDESC = 8,
       FEATURE_CMDLINE = 11,
       FEATURE_EVENT_DESC = 12,
       ATTR_EXCLUDE_USER = 4,
       ATTR_EXCLUDE_KERNEL = 5,
       TYPE_HARDWARE = 0,
       TYPE_SOFTWARE = 1,
       TYPE_RAW = 4,
};

bool perfin_set_text(char **to, const void *p, size_t n)
{
    char *copy = strndup(p, n);

    if (!copy) {
        return false;
    }
    free(*to);
    *to = copy;
    return true;
}

int64_t perfin_process_of(struct perfin_session *s, uint32_t pid)
{
    struct perfin_process *more;
    char name[32];

    if (s->last < s->nprocesses && s->process[s->last].pid == pid) {
        return s->last;
    }
    for (uint32_t i = 0; i < s->nprocesses; i++) {
        if (s->process[i].pid == pid) {
            return s->last = i;
        }
    }
    if (s->nprocesses == PERFIN_PROCESSES_MAX) {
        return -1;
    }
    if (s->nprocesses == s->room) {
        more = reallocarray(s->process, s->room ? 2 * s->room : 16, sizeof *more);
        if (!more) {
            return -1;
        }
        s->process = more;
        s->room = s->room ? 2 * s->room : 16;
    }
    s->process[s->nprocesses] = (struct perfin_process){.pid = pid, .thread = pid};
    snprintf(name, sizeof name, ":%" PRId32, (int32_t)pid);
    if (!perfin_set_text(&s->process[s->nprocesses].name, name, sizeof name)) {
        return -1;
    }
    return s->nprocesses++;
}

/* perf's string: length with padding, then the text. Returns the bytes used, 0 if cut. */
static size_t perf_string(const uint8_t *p, size_t n, char **out)
{
    uint32_t length;

    if (n < 4 || (length = perfin_u32(p)) > n - 4 || !perfin_set_text(out, p + 4, length)) {
        return 0;
    }
    return 4 + (size_t)length;
}

static void read_string(struct perfin_bytes *b, const struct perfin_frame *f, unsigned bit,
                        char **out)
{
    size_t n;
    uint8_t *p = perfin_feature(b, f, bit, &n);

    if (p) {
        perf_string(p, n, out);
        free(p);
    }
}

/* The words of the command line, joined by blanks. */
static void read_command(struct perfin_bytes *b, const struct perfin_frame *f, char **out)
{
    size_t n, at = 4;
    uint8_t *p = perfin_feature(b, f, FEATURE_CMDLINE, &n);
    char *word = NULL, *text = NULL;
    size_t size;
    FILE *joined = open_memstream(&text, &size);

    if (p && joined && n >= 4) {
        for (uint32_t i = 0, words = perfin_u32(p); i < words; i++) {
            size_t used = perf_string(p + at, n - at, &word);
            if (used == 0) {
                break;
            }
            fprintf(joined, "%s%s", i ? " " : "", word);
            at += used;
        }
    }
    if (joined && fclose(joined) == 0 && size > 0) {
        perfin_set_text(out, text, size);
    }
    free(text);
    free(word);
    free(p);
}

static void set_event_name(struct mkperf_event *event, const char *name)
{
    snprintf(event->name, sizeof event->name, "%s", name);
}

static void read_event_names(struct perfin_bytes *b, const struct perfin_frame *f,
                             struct mkperf_session *s)
{
    size_t n, at = 8;
    uint8_t *p = perfin_feature(b, f, FEATURE_EVENT_DESC, &n);
    uint32_t events = p && n >= 8 ? perfin_u32(p) : 0;
    size_t attr = events ? perfin_u32(p + 4) : 0;

    for (uint32_t i = 0; i < events && i < s->nevents; i++) {
        char *name = NULL;
        size_t used, ids;

        if (attr > n - at || n - at - attr < 4) {
            break;
        }
        ids = perfin_u32(p + at + attr);
        at += attr + 4;
        used = perf_string(p + at, n - at, &name);
        if (used > 0) {
            set_event_name(&s->event[i], name);
        }
        free(name);
        at += used;
        if (used == 0 || ids > (n - at) / 8) {
            break;
        }
        at += 8 * ids;
    }
    free(p);
}

/* An event by what perf's attribute says, for files without names. */
static struct mkperf_event event_of(const struct perfin_attr *a)
{
    static const char *const hardware[] = {
        "cycles",
        "instructions",
        "cache-references",
        "cache-misses",
        "branches",
        "branch-misses",
        "bus-cycles",
        "stalled-cycles-frontend",
        "stalled-cycles-backend",
        "ref-cycles",
    };
    bool frequency = a->flags >> PERFIN_ATTR_FREQ & 1;
    struct mkperf_event event = {
        .code = (uint32_t)a->config,
        .user = !(a->flags >> ATTR_EXCLUDE_USER & 1),
        .kernel = !(a->flags >> ATTR_EXCLUDE_KERNEL & 1),
        .period = frequency ? 0 : a->period,
        .frequency = frequency ? (uint32_t)a->period : 0,
    };

    if (a->type == TYPE_HARDWARE && a->config < sizeof hardware / sizeof *hardware) {
        set_event_name(&event, hardware[a->config]);
    } else if (a->type == TYPE_SOFTWARE && a->config <= 1) {
        set_event_name(&event, a->config ? "task-clock" : "cpu-clock");
    } else if (a->type == TYPE_RAW) {
        snprintf(event.name, sizeof event.name, "r%" PRIx64, a->config);
    } else {
        snprintf(event.name, sizeof event.name, "event-%" PRIu64 ":%" PRIu64, a->type, a->config);
    }
    return event;
}

static void event_line(struct perfin_session *in, const char *text)
{
    struct mkperf_session *s = &in->model;
    unsigned index, user, kernel;
    struct mkperf_event v = {.code = 0};
    int at = 0;

    if (sscanf(text, "%u %" SCNu32 " %u %u %" SCNu64 " %" SCNu32 " %n", &index, &v.code, &user,
               &kernel, &v.period, &v.frequency, &at) == 6 &&
        at > 0 && index < MKPERF_MODEL_EVENTS && index <= s->nevents) {
        s->nevents += index == s->nevents; /* of a later session */
        in->described = in->described <= index ? index + 1 : in->described;
        v.user = user;
        v.kernel = kernel;
        set_event_name(&v, text + at);
        s->event[index] = v;
    }
}

/* group INDEX NUMBER READ, behind the event's own line */
static void group_line(struct perfin_session *in, const char *text)
{
    unsigned index, read;
    uint32_t group;

    if (sscanf(text, "%u %" SCNu32 " %u", &index, &group, &read) == 3 &&
        index < in->model.nevents) {
        in->model.event[index].group = group;
        in->model.event[index].read = read != 0;
    }
}

/* counted INDEX RUNNING_NS ENABLED_NS */
static void counted_line(struct mkperf_totals *t, const char *text)
{
    uint64_t running, enabled;
    unsigned index;

    if (sscanf(text, "%u %" SCNu64 " %" SCNu64, &index, &running, &enabled) == 3 &&
        index < MKPERF_MODEL_EVENTS && running <= enabled) {
        t->running_ns[index] = running;
        t->enabled_ns[index] = enabled;
    }
}

void perfin_more_event(struct perfin_session *s, const struct perfin_attr *a)
{
    s->model.event[s->model.nevents++] = event_of(a);
}

void perfin_name_event(struct perfin_session *s, uint32_t index, const char *name)
{
    struct mkperf_event *event = &s->model.event[index];
    size_t n = strlen(name);

    if (index < s->described || index >= s->model.nevents) {
        return;
    }
    set_event_name(event, name);
    if (n > 2 && n < sizeof event->name && name[n - 2] == ':' && event->user != event->kernel) {
        event->name[n - 2] = '\0'; /* the modes, which the attribute says */
    }
}

static bool pd_line(struct perfin_session *s, const char *text)
{
    uint32_t id;
    uint64_t thread;
    int parent = 0, after = 0, name = 0;
    int64_t index;

    if (sscanf(text, "%" SCNu32 " %" SCNx64 " %n%*s%n %n", &id, &thread, &parent, &after, &name) <
            2 ||
        name <= after || id >= MKPERF_PERFDATA_PDS) {
        return true;
    }
    index = perfin_process_of(s, id + 1);
    if (index < 0) {
        return false;
    }
    s->process[index].thread = thread;
    s->process[index].has_thread = true;
    if (strncmp(text + parent, "- ", 2) != 0 &&
        !perfin_set_text(&s->process[index].parent, text + parent, (size_t)(after - parent))) {
        return false;
    }
    return perfin_set_text(&s->process[index].name, text + name, strlen(text + name));
}

static struct mkperf_build_id from_hex(const char *text)
{
    struct mkperf_build_id id = {.n = 0};
    unsigned byte;

    for (; id.n < MKPERF_BUILD_ID_BYTES && text[0] && text[1]; text += 2) {
        if (sscanf(text, "%2x", &byte) != 1) {
            break;
        }
        id.byte[id.n++] = (uint8_t)byte;
    }
    return id;
}

static bool session_line(struct perfin_session *s, const char *key, const char *value)
{
    struct mkperf_session *m = &s->model;

    if (strcmp(key, "platform") == 0) {
        return perfin_set_text(&s->platform, value, strlen(value));
    } else if (strcmp(key, "kernel_elf") == 0) {
        return perfin_set_text(&s->kernel_elf, value, strlen(value));
    } else if (strcmp(key, "kernel_build_id") == 0) {
        m->kernel_build_id = from_hex(value);
    } else if (strcmp(key, "cores") == 0) {
        m->cores = (unsigned)strtoul(value, NULL, 10);
    } else if (strcmp(key, "frames") == 0) {
        m->max_frames = (unsigned)strtoul(value, NULL, 10);
    } else if (strcmp(key, "jitter") == 0) {
        m->jitter = value[0] == '1';
    } else if (strcmp(key, "event") == 0) {
        event_line(s, value);
    } else if (strcmp(key, "group") == 0) {
        group_line(s, value);
    } else if (strcmp(key, "pd") == 0) {
        return pd_line(s, value);
    }
    return true;
}

static bool interactions_line(struct perfin_session *s, const char *key, const char *value)
{
    if (s->interactions == NULL) {
        s->interactions = calloc(1, sizeof *s->interactions);
        s->totals.interactions = s->interactions;
    }
    return s->interactions != NULL && mkperf_interactions_line(s->interactions, key, value);
}

static bool totals_line(struct perfin_session *s, const char *key, const char *value)
{
    struct mkperf_totals *t = &s->totals;
    uint64_t number = strtoull(value, NULL, 10);
    const struct {
        const char *key;
        uint64_t *to;
    } fields[] = {
        {"samples", &t->samples},
        {"lost_ring", &t->lost[MKPERF_LOST_RING]},
        {"lost_output", &t->lost[MKPERF_LOST_OUTPUT]},
        {"lost_link", &t->lost[MKPERF_LOST_LINK]},
        {"lost_transit", &t->lost[MKPERF_LOST_TRANSIT]},
        {"lost_chain", &t->lost[MKPERF_LOST_CHAIN]},
        {"late_events", &t->late_events},
        {"spurious", &t->spurious},
        {"unrepaired", &t->unrepaired},
        {"proved", &t->confidence[MKPERF_PROVED]},
        {"inferred", &t->confidence[MKPERF_INFERRED]},
        {"ambiguous", &t->confidence[MKPERF_AMBIGUOUS]},
        {"marks", &t->marks},
        {"marks_lost", &t->marks_lost},
        {"restarts", &t->restarts},
        {"overwritten", &t->overwritten},
        {"first_ns", &t->first_ns},
        {"last_ns", &t->last_ns},
    };

    for (size_t i = 0; i < sizeof fields / sizeof *fields; i++) {
        if (strcmp(key, fields[i].key) == 0) {
            *fields[i].to = number;
        }
    }
    if (strcmp(key, "complete") == 0) {
        t->complete = number != 0;
    } else if (mkperf_interactions_is_line(key)) {
        return interactions_line(s, key, value);
    } else if (strcmp(key, "event") == 0) {
        event_line(s, value);
    } else if (strcmp(key, "group") == 0) {
        group_line(s, value);
    } else if (strcmp(key, "counted") == 0) {
        counted_line(t, value);
    }
    return true;
}

/* Calls line for each `key value` of one of our features. True if the feature is there. */
static bool each_line(struct perfin_bytes *b, const struct perfin_frame *f, unsigned bit,
                      struct perfin_session *s,
                      bool (*line)(struct perfin_session *, const char *, const char *),
                      bool *memory)
{
    size_t n;
    uint8_t *p = perfin_feature(b, f, bit, &n);
    char *rest = NULL, *text;

    if (!p) {
        return false;
    }
    for (text = strtok_r((char *)p, "\n", &rest); text && *memory;
         text = strtok_r(NULL, "\n", &rest)) {
        char *value = strchr(text, ' ');

        if (value) {
            *value = 0;
            *memory = line(s, text, value + 1);
        }
    }
    free(p);
    return true;
}

static void read_cores(struct perfin_bytes *b, const struct perfin_frame *f,
                       struct mkperf_session *s)
{
    size_t n;
    uint8_t *p = perfin_feature(b, f, FEATURE_NRCPUS, &n);

    if (p && n >= 8) {
        s->cores = perfin_u32(p);
    }
    free(p);
}

enum mkperf_status perfin_read_totals(struct perfin_bytes *b, const struct perfin_frame *f,
                                      struct perfin_session *s, struct mkperf_error *e)
{
    bool memory = true;

    s->has_totals = each_line(b, f, MKPERF_PERFDATA_TOTALS, s, totals_line, &memory);
    return memory ? MKPERF_OK : perfin_bad(b, 0, "out of memory", e);
}

enum mkperf_status perfin_read_session(struct perfin_bytes *b, const struct perfin_frame *f,
                                       struct perfin_session *s, struct mkperf_error *e)
{
    bool memory = true;

    memset(s, 0, sizeof *s);
    s->model.nevents = f->nattrs;
    for (unsigned i = 0; i < f->nattrs; i++) {
        s->model.event[i] = event_of(&f->attr[i]);
        s->model.max_frames = f->attr[i].max_stack;
    }
    read_event_names(b, f, &s->model);
    read_cores(b, f, &s->model);
    read_string(b, f, FEATURE_HOSTNAME, &s->platform);
    read_string(b, f, FEATURE_CPUDESC, &s->cpu);
    read_command(b, f, &s->command);
    s->native = each_line(b, f, MKPERF_PERFDATA_SESSION, s, session_line, &memory);
    if (!memory || perfin_read_totals(b, f, s, e) != MKPERF_OK) {
        return perfin_bad(b, 0, "out of memory", e);
    }
    s->model.platform = s->platform ? s->platform : "";
    s->model.cpu = s->cpu ? s->cpu : "";
    s->model.command = s->command;
    return MKPERF_OK;
}

void perfin_free_session(struct perfin_session *s)
{
    for (uint32_t i = 0; i < s->nprocesses; i++) {
        free(s->process[i].name);
        free(s->process[i].elf);
        free(s->process[i].parent);
    }
    free(s->process);
    free(s->platform);
    free(s->cpu);
    free(s->kernel_elf);
    free(s->command);
    free(s->interactions);
}
