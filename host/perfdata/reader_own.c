/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The session of a perf.data file, as far as mkperf's own features describe it.
 *
 * Owns: the contents of these features, lines `key value` about the session and its totals (perfdata.h).
 * A line that only sets a member is a row of the table `rows`; a line of several values has a function.
 * Invalid lines are skipped.
 */
#include "model/figures.h"
#include "reader_internal.h"

/* ---- Lines of several values. Each function reads what follows the key, and returns false if the file has more PDs or
 * queues than fit. ---- */

/* event INDEX CODE USER KERNEL PERIOD FREQUENCY NAME */
static bool read_event(struct perfin_session *in, const char *text)
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
    return true;
}

/* group INDEX NUMBER READ, after the event's own line */
static bool read_group(struct perfin_session *in, const char *text)
{
    unsigned index, read;
    uint32_t group;

    if (sscanf(text, "%u %" SCNu32 " %u", &index, &group, &read) == 3 &&
        index < in->model.nevents) {
        in->model.event[index].group = group;
        in->model.event[index].read = read != 0;
    }
    return true;
}

/* sched 0: its tracepoints are those of queues only */
static bool read_sched_line(struct perfin_session *s, const char *text)
{
    s->no_sched = text[0] == '0';
    return true;
}

/* counted INDEX RUNNING_NS ENABLED_NS */
static bool read_counted(struct perfin_session *s, const char *text)
{
    uint64_t running, enabled;
    unsigned index;

    if (sscanf(text, "%u %" SCNu64 " %" SCNu64, &index, &running, &enabled) == 3 &&
        index < MKPERF_MODEL_EVENTS && running <= enabled) {
        s->totals.running_ns[index] = running;
        s->totals.enabled_ns[index] = enabled;
    }
    return true;
}

/* user_count EVENT OWN COUNT PD */
static bool read_count(struct perfin_session *s, const char *text)
{
    if (s->counts == NULL) {
        s->totals.counts = s->counts = mkperf_xcalloc(1, sizeof *s->counts);
    }
    mkperf_pd_counts_line(s->counts, text);
    return true;
}

/* stopped TEXT */
static bool read_stopped(struct perfin_session *s, const char *text)
{
    snprintf(s->totals.stopped, sizeof s->totals.stopped, "%s", text);
    mkperf_printable(s->totals.stopped);
    return true;
}

/* Reads the rest of a line "suspect PD SAMPLES DOUBTFUL OUTSIDE NO_CALL". */
static bool read_suspect(struct perfin_session *in, const char *text)
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

/* queue NUMBER CAPACITY BITS RETURNS SEEN KIND PRODUCER CONSUMER NAME; queues are in the order of their numbers. */
static bool read_queue_line(struct perfin_session *s, const char *text)
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

/* ---- lines about a PD, from behind its id on ---- */

/* pd ID THREAD PARENT NAME; a PD without a parent has "-" */
static void read_pd(struct perfin_process *p, const char *text)
{
    uint64_t thread;
    int parent = 0, after = 0, name = 0;

    if (sscanf(text, "%" SCNx64 " %n%*s%n %n", &thread, &parent, &after, &name) < 1 ||
        name <= after) {
        return;
    }
    p->thread = thread;
    p->has_thread = true;
    if (strncmp(text + parent, "- ", 2) != 0) {
        perfin_set_text(&p->parent, text + parent, (size_t)(after - parent));
    }
    perfin_set_text(&p->name, text + name, strlen(text + name));
}

/* scheduling ID PRIORITY PASSIVE CPU BUDGET PERIOD */
static void read_scheduling(struct perfin_process *p, const char *text)
{
    struct mkperf_scheduling v = {.known = true};
    unsigned passive;

    if (sscanf(text, "%" SCNu32 " %u %" SCNu32 " %" SCNu64 " %" SCNu64, &v.priority, &passive,
               &v.cpu, &v.budget_us, &v.period_us) == 5) {
        v.passive = passive != 0;
        p->scheduling = v;
    }
}

static struct mkperf_build_id from_hex(const char *text, bool derived)
{
    struct mkperf_build_id id = {.derived = derived};
    unsigned byte;

    for (; id.n < MKPERF_BUILD_ID_BYTES && text[0] && text[1]; text += 2) {
        if (sscanf(text, "%2x", &byte) != 1) {
            break;
        }
        id.byte[id.n++] = (uint8_t)byte;
    }
    return id;
}

/* ---- the table of lines ---- */

enum owner { SESSION, TOTALS, PD, EVENT }; /* PD, EVENT: the number of one is before the value */
enum form { TEXT, DECIMAL, HEXADECIMAL, FLAG, PRESENT, BUILD_ID, CONTENT };

#define ROW(key, owner, form, type, member)                         \
    {                                                               \
        key, owner, form, offsetof(struct type, member), NULL, NULL \
    }

/* clang-format off */
static const struct row {
    const char *key;
    enum owner owner;
    enum form form;
    size_t at; /* offset in the owner */
    bool (*read)(struct perfin_session *s, const char *text); /* instead, if not NULL */
    void (*read_pd)(struct perfin_process *p, const char *text);
} rows[] = {
    ROW("platform", SESSION, TEXT, mkperf_session, platform),
    ROW("kernel_elf", SESSION, TEXT, mkperf_session, kernel_elf),
    ROW("kernel_unnamed", SESSION, TEXT, mkperf_session, kernel_unnamed),
    ROW("kernel_build_id", SESSION, BUILD_ID, mkperf_session, kernel_build_id),
    ROW("kernel_content", SESSION, CONTENT, mkperf_session, kernel_build_id),
    ROW("image", SESSION, TEXT, mkperf_session, image),
    ROW("unverified", SESSION, TEXT, mkperf_session, unverified),
    ROW("windows", SESSION, TEXT, mkperf_session, windows),
    ROW("cores", SESSION, DECIMAL, mkperf_session, cores),
    ROW("target_cores", SESSION, DECIMAL, mkperf_session, target_cores),
    ROW("core_mask", SESSION, HEXADECIMAL, mkperf_session, core_mask),
    ROW("frames", SESSION, DECIMAL, mkperf_session, max_frames),
    ROW("turns", SESSION, FLAG, mkperf_session, turns),
    ROW("aggregate_ms", SESSION, DECIMAL, mkperf_session, aggregate_ms),
    ROW("modes_inferred", SESSION, FLAG, mkperf_session, inferred),
    ROW("jitter", SESSION, FLAG, mkperf_session, jitter),
    ROW("exact", SESSION, FLAG, mkperf_session, exact),
    ROW("selected", SESSION, FLAG, mkperf_session, selected),
    ROW("stat", SESSION, FLAG, mkperf_session, counts),
    ROW("complete", TOTALS, FLAG, mkperf_totals, complete),
    ROW("build_id", PD, BUILD_ID, perfin_process, build_id),
    ROW("content", PD, CONTENT, perfin_process, build_id),
    ROW("unnamed", PD, TEXT, perfin_process, unnamed),
    ROW("profiler", PD, PRESENT, perfin_process, profiler),
    ROW("guests_only", EVENT, PRESENT, mkperf_event, guest),
    ROW("no_guests", EVENT, PRESENT, mkperf_event, host),
    ROW("all_cores", EVENT, PRESENT, mkperf_event, all_cores),
    {.key = "pd", .owner = PD, .read_pd = read_pd},
    {.key = "scheduling", .owner = PD, .read_pd = read_scheduling},
    {.key = "sched", .read = read_sched_line},
    {.key = "event", .read = read_event},
    {.key = "group", .read = read_group},
    {.key = "queue", .read = read_queue_line},
    {.key = "counted", .read = read_counted},
    {.key = "stopped", .read = read_stopped},
    {.key = MKPERF_PD_COUNT_KEY, .read = read_count},
    {.key = "suspect", .read = read_suspect},
};
/* clang-format on */

static void set_member(const struct row *row, void *owner, const char *text)
{
    void *to = (char *)owner + row->at;

    switch (row->form) {
    case TEXT:
        perfin_set_text(to, text, strlen(text));
        break;
    case DECIMAL:
    case HEXADECIMAL:
        *(unsigned *)to = (unsigned)strtoul(text, NULL, row->form == DECIMAL ? 10 : 16);
        break;
    case FLAG:
    case PRESENT:
        *(bool *)to = row->form == PRESENT || text[0] == '1';
        break;
    case BUILD_ID:
    case CONTENT:
        *(struct mkperf_build_id *)to = from_hex(text, row->form == CONTENT);
    }
}

static bool read_row(struct perfin_session *s, const struct row *row, const char *text)
{
    void *owner = row->owner == TOTALS ? (void *)&s->totals : &s->model;

    if (row->read != NULL) {
        return row->read(s, text);
    }
    if (row->owner == PD || row->owner == EVENT) {
        char *end;
        unsigned long number = strtoul(text, &end, 10);
        if (end == text || number >= (row->owner == PD ? MKPERF_PERFDATA_PDS : s->model.nevents)) {
            return true;
        }
        int64_t index = row->owner == PD ? perfin_process_of(s, (uint32_t)number + 1) : 0;
        if (index < 0) {
            return false;
        }
        owner = row->owner == PD ? (void *)&s->process[index] : &s->model.event[number];
        text = end + (*end == ' ');
    }
    if (row->read_pd != NULL) {
        row->read_pd(owner, text);
    } else {
        set_member(row, owner, text);
    }
    return true;
}

/* Reads a line of the session's or the totals' feature. Returns false if it is about one more PD, queue or count than a
 * recording can have. A line with an unknown key is skipped. */
static bool read_line(struct perfin_session *s, const char *key, const char *value)
{
    struct mkperf_totals *t = &s->totals;

    size_t row = mkperf_named(rows, sizeof rows / sizeof *rows, sizeof *rows, key);

    if (row < sizeof rows / sizeof *rows) {
        return read_row(s, &rows[row], value);
    }
    if (strncmp(key, MKPERF_INTERACTIONS_KEYS, sizeof MKPERF_INTERACTIONS_KEYS - 1) == 0) {
        if (s->interactions == NULL) {
            t->interactions = s->interactions = mkperf_xcalloc(1, sizeof *s->interactions);
        }
        return mkperf_interactions_line(s->interactions, key, value);
    }
    if (!mkperf_figures_read(t, key, value) && !mkperf_cores_line(t, key, value)) {
        mkperf_fill_line(&t->fill, key, value);
    }
    return true;
}

/* Reads the lines of a feature. *has: the file has it. `reason` is the error if more is in it than fits. */
static enum mkperf_status read_lines(struct perfin_bytes *b, const struct perfin_frame *f,
                                     unsigned bit, struct perfin_session *s, bool *has,
                                     const char *reason, struct mkperf_error *e)
{
    size_t n;
    char *text = (char *)perfin_feature(b, f, bit, &n), *rest = NULL;
    bool fits = true;

    *has = text != NULL;
    for (char *line = *has ? strtok_r(text, "\n", &rest) : NULL; line != NULL && fits;
         line = strtok_r(NULL, "\n", &rest)) {
        char *value = strchr(line, ' ');
        if (value != NULL) {
            *value = '\0';
            fits = read_line(s, line, value + 1);
        }
    }
    free(text);
    return fits ? MKPERF_OK : perfin_bad(b, 0, reason, e);
}

enum mkperf_status perfin_read_totals(struct perfin_bytes *b, const struct perfin_frame *f,
                                      struct perfin_session *s, struct mkperf_error *e)
{
    return read_lines(b, f, MKPERF_PERFDATA_TOTALS, s, &s->has_totals,
                      "more PDs or interactions than fit", e);
}

enum mkperf_status perfin_read_session(struct perfin_bytes *b, const struct perfin_frame *f,
                                       struct perfin_session *s, struct mkperf_error *e)
{
    memset(s, 0, sizeof *s);
    perfin_set_text(&s->model.platform, "", 0);
    perfin_set_text(&s->model.cpu, "", 0);
    perfin_read_perf_features(b, f, s);
    return read_lines(b, f, MKPERF_PERFDATA_SESSION, s, &s->native,
                      "more PDs than fit, or a damaged description of a queue", e) == MKPERF_OK
               ? perfin_read_totals(b, f, s, e)
               : e->status;
}
