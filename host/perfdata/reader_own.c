/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The session of a perf.data file, as far as mkperf's own features describe it.
 *
 * Owns: the contents of these features, lines `key value` about the session and its totals (perfdata.h).
 * Invalid lines are skipped.
 */
#include "model/figures.h"
#include "reader_internal.h"

static void event_line(struct perfin_session *in, const char *text)
{
    struct mkperf_session *s = &in->model;
    unsigned index, user, kernel;
    struct mkperf_event v = {.code = 0};
    int at = 0;

    if (sscanf(text, "%u %" SCNu32 " %u %u %" SCNu64 " %" SCNu32 " %n", &index, &v.code, &user,
               &kernel, &v.period, &v.frequency, &at) == 6 &&
        at > 0 && index < MKPERF_MODEL_EVENTS && index <= s->nevents) {
        s->nevents += index == s->nevents; /* an event of a later session */
        in->described = in->described <= index ? index + 1 : in->described;
        v.user = user;
        v.kernel = kernel;
        perfin_set_event_name(&v, text + at);
        s->event[index] = v;
    }
}

/* group INDEX NUMBER READ, after the event's own line */
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

/* all_cores INDEX */
static void all_cores_line(struct perfin_session *in, const char *text)
{
    unsigned long index = strtoul(text, NULL, 10);

    if (index < in->model.nevents) {
        in->model.event[index].all_cores = true;
    }
}

/* suspect PD SAMPLES DOUBTFUL OUTSIDE NO_CALL */
static bool suspect_line(struct perfin_session *in, const char *text)
{
    struct mkperf_totals *t = &in->totals;
    struct mkperf_suspect s;
    int64_t index = 0;

    if (sscanf(text, "%" SCNu32 " %" SCNu64 " %" SCNu64 " %" SCNu64 " %" SCNu64, &s.pd, &s.samples,
               &s.doubtful, &s.outside, &s.no_call) == 5 &&
        t->nsuspects < MKPERF_SUSPECTS &&
        (s.pd == MKPERF_SUSPECT_KERNEL || s.pd < MKPERF_PERFDATA_PDS)) {
        if (s.pd != MKPERF_SUSPECT_KERNEL) {
            index = perfin_process_of(in, s.pd + 1);
            s.pd = (uint32_t)index;
        }
        t->suspect[t->nsuspects++] = s;
    }
    return index >= 0;
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
    if (strncmp(text + parent, "- ", 2) != 0) {
        perfin_set_text(&s->process[index].parent, text + parent, (size_t)(after - parent));
    }
    perfin_set_text(&s->process[index].name, text + name, strlen(text + name));
    return true;
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

/* build_id ID HEX, content ID HEX or unnamed ID TEXT, after the PD's own line. */
static bool program_line(struct perfin_session *s, const char *key, const char *text)
{
    uint32_t id;
    int at = 0;

    if (sscanf(text, "%" SCNu32 " %n", &id, &at) != 1 || at == 0 || id >= MKPERF_PERFDATA_PDS) {
        return true;
    }
    int64_t index = perfin_process_of(s, id + 1);
    if (index < 0) {
        return false;
    }
    struct perfin_process *p = &s->process[index];
    if (strcmp(key, "unnamed") == 0) {
        perfin_set_text(&p->unnamed, text + at, strlen(text + at));
        return true;
    }
    p->build_id = from_hex(text + at);
    p->build_id.derived = strcmp(key, "content") == 0;
    return true;
}

/* scheduling ID PRIORITY PASSIVE CPU BUDGET PERIOD, after the PD's own line. */
static bool scheduling_line(struct perfin_session *s, const char *text)
{
    struct mkperf_scheduling v = {.known = true};
    unsigned passive;
    uint32_t id;

    if (sscanf(text, "%" SCNu32 " %" SCNu32 " %u %" SCNu32 " %" SCNu64 " %" SCNu64, &id,
               &v.priority, &passive, &v.cpu, &v.budget_us, &v.period_us) != 6 ||
        id >= MKPERF_PERFDATA_PDS) {
        return true;
    }
    int64_t index = perfin_process_of(s, id + 1);
    if (index >= 0) {
        v.passive = passive != 0;
        s->process[index].scheduling = v;
    }
    return index >= 0;
}

/* queue NUMBER CAPACITY BITS RETURNS SEEN KIND PRODUCER CONSUMER NAME; queues are in the order of their numbers. */
static bool queue_line(struct perfin_session *s, const char *text)
{
    struct mkperf_queue q = {.name = NULL};
    char kind[MKPERF_MODEL_NAME], producer[MKPERF_MODEL_NAME], consumer[MKPERF_MODEL_NAME],
        name[MKPERF_MODEL_NAME];
    unsigned number, returns, seen, n = s->model.nqueues;

    if (sscanf(text, "%u %" SCNu64 " %u %u %u %63s %63s %63s %63s", &number, &q.capacity,
               &q.index_bits, &returns, &seen, kind, producer, consumer, name) != 9 ||
        number != n || n >= PERFIN_QUEUES_MAX ||
        (q.index_bits != 8 && q.index_bits != 16 && q.index_bits != 32 && q.index_bits != 64)) {
        return false;
    }
    q.returns = returns != 0;
    q.seen = seen != 0;
    q.kind = mkperf_xstrdup(kind);
    q.name = mkperf_xstrdup(name);
    q.producer = strcmp(producer, "-") != 0 ? mkperf_xstrdup(producer) : NULL;
    q.consumer = strcmp(consumer, "-") != 0 ? mkperf_xstrdup(consumer) : NULL;
    MKPERF_GROW(s->queue, s->queue_room, n + 1);
    s->queue[n] = q;
    s->model.queue = s->queue;
    s->model.nqueues = n + 1;
    return true;
}

static bool session_line(struct perfin_session *s, const char *key, const char *value)
{
    struct mkperf_session *m = &s->model;

    if (strcmp(key, "platform") == 0) {
        perfin_set_text(&s->platform, value, strlen(value));
    } else if (strcmp(key, "kernel_elf") == 0) {
        perfin_set_text(&s->kernel_elf, value, strlen(value));
    } else if (strcmp(key, "kernel_build_id") == 0) {
        m->kernel_build_id = from_hex(value);
    } else if (strcmp(key, "kernel_content") == 0) {
        m->kernel_build_id = from_hex(value);
        m->kernel_build_id.derived = true;
    } else if (strcmp(key, "kernel_unnamed") == 0) {
        perfin_set_text(&s->kernel_unnamed, value, strlen(value));
    } else if (strcmp(key, "image") == 0) {
        perfin_set_text(&s->image, value, strlen(value));
    } else if (strcmp(key, "unverified") == 0) {
        perfin_set_text(&s->unverified, value, strlen(value));
    } else if (strcmp(key, "build_id") == 0 || strcmp(key, "content") == 0 ||
               strcmp(key, "unnamed") == 0) {
        return program_line(s, key, value);
    } else if (strcmp(key, "cores") == 0) {
        m->cores = (unsigned)strtoul(value, NULL, 10);
    } else if (strcmp(key, "target_cores") == 0) {
        m->target_cores = (unsigned)strtoul(value, NULL, 10);
    } else if (strcmp(key, "core_mask") == 0) {
        m->core_mask = (uint32_t)strtoul(value, NULL, 16);
    } else if (strcmp(key, "frames") == 0) {
        m->max_frames = (unsigned)strtoul(value, NULL, 10);
    } else if (strcmp(key, "turns") == 0) {
        m->turns = value[0] == '1';
    } else if (strcmp(key, "jitter") == 0) {
        m->jitter = value[0] == '1';
    } else if (strcmp(key, "selected") == 0) {
        m->selected = value[0] == '1';
    } else if (strcmp(key, "profiler") == 0) {
        /* profiler ID, after the PD's own line. */
        unsigned long id = strtoul(value, NULL, 10);
        int64_t index = id < MKPERF_PERFDATA_PDS ? perfin_process_of(s, (uint32_t)id + 1) : -1;
        if (index >= 0) {
            s->process[index].profiler = true;
        }
        return index >= 0 || id >= MKPERF_PERFDATA_PDS;
    } else if (strcmp(key, "scheduling") == 0) {
        return scheduling_line(s, value);
    } else if (strcmp(key, "queue") == 0) {
        return queue_line(s, value);
    } else if (strcmp(key, "sched") == 0) {
        s->no_sched = value[0] == '0';
    } else if (strcmp(key, "event") == 0) {
        event_line(s, value);
    } else if (strcmp(key, "group") == 0) {
        group_line(s, value);
    } else if (strcmp(key, "all_cores") == 0) {
        all_cores_line(s, value);
    } else if (strcmp(key, "pd") == 0) {
        return pd_line(s, value);
    }
    return true;
}

static bool totals_line(struct perfin_session *s, const char *key, const char *value)
{
    struct mkperf_totals *t = &s->totals;

    if (mkperf_figures_read(t, key, value) || mkperf_cores_line(t, key, value)) {
        return true;
    } else if (strcmp(key, "stopped") == 0) {
        snprintf(t->stopped, sizeof t->stopped, "%s", value);
        mkperf_printable(t->stopped);
    } else if (strcmp(key, "complete") == 0) {
        t->complete = value[0] == '1';
    } else if (mkperf_interactions_is_line(key)) {
        if (s->interactions == NULL) {
            s->interactions = mkperf_xcalloc(1, sizeof *s->interactions);
            s->totals.interactions = s->interactions;
        }
        return mkperf_interactions_line(s->interactions, key, value);
    } else if (strcmp(key, "event") == 0) {
        event_line(s, value);
    } else if (strcmp(key, "group") == 0) {
        group_line(s, value);
    } else if (strcmp(key, "all_cores") == 0) {
        all_cores_line(s, value);
    } else if (strcmp(key, "counted") == 0) {
        /* counted INDEX RUNNING_NS ENABLED_NS */
        uint64_t running, enabled;
        unsigned index;
        if (sscanf(value, "%u %" SCNu64 " %" SCNu64, &index, &running, &enabled) == 3 &&
            index < MKPERF_MODEL_EVENTS && running <= enabled) {
            t->running_ns[index] = running;
            t->enabled_ns[index] = enabled;
        }
    } else if (strcmp(key, "suspect") == 0) {
        return suspect_line(s, value);
    } else {
        mkperf_fill_line(&t->fill, key, value);
    }
    return true;
}

/* Calls `line` for each `key value` of a feature, until *fits is false. True: the file has the feature. */
static bool each_line(struct perfin_bytes *b, const struct perfin_frame *f, unsigned bit,
                      struct perfin_session *s,
                      bool (*line)(struct perfin_session *, const char *, const char *), bool *fits)
{
    size_t n;
    uint8_t *p = perfin_feature(b, f, bit, &n);
    char *rest = NULL, *text;

    if (!p) {
        return false;
    }
    for (text = strtok_r((char *)p, "\n", &rest); text && *fits;
         text = strtok_r(NULL, "\n", &rest)) {
        char *value = strchr(text, ' ');

        if (value) {
            *value = 0;
            *fits = line(s, text, value + 1);
        }
    }
    free(p);
    return true;
}

static enum mkperf_status read_own_session(struct perfin_bytes *b, const struct perfin_frame *f,
                                           struct perfin_session *s, struct mkperf_error *e)
{
    bool fits = true;

    s->native = each_line(b, f, MKPERF_PERFDATA_SESSION, s, session_line, &fits);
    return fits ? MKPERF_OK
                : perfin_bad(b, 0, "more PDs than fit, or a damaged description of a queue", e);
}

enum mkperf_status perfin_read_totals(struct perfin_bytes *b, const struct perfin_frame *f,
                                      struct perfin_session *s, struct mkperf_error *e)
{
    bool fits = true;

    s->has_totals = each_line(b, f, MKPERF_PERFDATA_TOTALS, s, totals_line, &fits);
    return fits ? MKPERF_OK : perfin_bad(b, 0, "more PDs or interactions than fit", e);
}

enum mkperf_status perfin_read_session(struct perfin_bytes *b, const struct perfin_frame *f,
                                       struct perfin_session *s, struct mkperf_error *e)
{
    memset(s, 0, sizeof *s);
    perfin_read_perf_features(b, f, s);
    if (read_own_session(b, f, s, e) != MKPERF_OK || perfin_read_totals(b, f, s, e) != MKPERF_OK) {
        return e->status;
    }
    s->model.platform = s->platform ? s->platform : "";
    s->model.cpu = s->cpu ? s->cpu : "";
    s->model.command = s->command;
    return MKPERF_OK;
}
