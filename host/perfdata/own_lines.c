/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * mkperf's own features of a perf.data file: lines `key value` about the session and its totals (perfdata.h).
 *
 * Owns: the table of lines, by which they are written and read. A line of values that are members of one structure is a row.
 * The few other lines have a function that reads them. Lines with too few values are skipped.
 */
#include "perfdata_internal.h"

/* ---- lines of values that are not members of one structure ---- */

/* sched 0: its tracepoints are those of queues only */
static bool read_sched_line(struct perfin_session *s, const char *text)
{
    s->no_sched = text[0] == '0';
    return true;
}

/* counted INDEX RUNNING_NS ENABLED_NS */
static bool read_counted(struct perfin_session *s, const char *text)
{
    uint64_t number[3]; /* the event, running, enabled */

    for (unsigned i = 0; i < 3; i++, text += *text == ' ') {
        size_t n = strcspn(text, " ");
        if (!mkperf_read_number(text, n, 10, &number[i])) {
            s->damaged = true;
            return true;
        }
        text += n;
    }
    if (*text == '\0' && number[0] < MKPERF_MODEL_EVENTS && number[1] <= number[2]) {
        s->totals.running_ns[number[0]] = number[1];
        s->totals.enabled_ns[number[0]] = number[2];
    } else {
        s->damaged = true;
    }
    return true;
}

/* ---- the table of lines ---- */

enum form {
    END,
    NUMBER, /* also a bool */
    NEWER,  /* a number that older files do not have */
    HEXADECIMAL,
    PRESENT,   /* a bool, which is true if there is such a line */
    WORD,      /* a text whose blanks become '?' */
    OPTIONAL,  /* a word, "-" for NULL */
    TEXT,      /* the rest of the line */
    NAME,      /* the rest of the line, in an array */
    TABBED,    /* a text in an array; a tab follows */
    BUILD_ID,  /* an id that is not derived */
    CONTENT,   /* an id that is derived */
    KERNEL_ID, /* the id of a kernel that is not derived; empty if a kernel has none */
    NOTHING,   /* no value, behind the last one */
};

enum { FIELDS = 12 };

struct field {
    enum form form;
    size_t at, bytes; /* where the member is in its structure, and its size */
};

/* clang-format off */
#define MEMBER(form, type, member) {form, offsetof(struct type, member), sizeof(((struct type *)0)->member)}
#define SESSION(form, member) MEMBER(form, mkperf_session, member)
#define PD(form, member) MEMBER(form, mkperf_pd, member)
#define EVENT(form, member) MEMBER(form, mkperf_event, member)
#define QUEUE(form, member) MEMBER(form, mkperf_queue, member)
#define SUSPECT(form, member) MEMBER(form, mkperf_suspect, member)
#define CORE(form, member) MEMBER(form, mkperf_core, member)
#define ALL(form, member) MEMBER(form, mkperf_interactions, member)
#define SOFT(form, member) MEMBER(form, mkperf_soft_counts, member)
#define COUNT(form, member) MEMBER(form, mkperf_pd_count, member)

/* The lines of a structure in the order in which they are written. */
static const struct row {
    const char *key;
    enum perfdata_owner owner;
    bool always; /* it is also written if its first value is 0 or NULL */
    struct field field[FIELDS];
    bool (*read)(struct perfin_session *s, const char *text); /* instead of fields. False: more than fits */
} rows[] = {
    {"platform", OF_SESSION, true, {SESSION(TEXT, platform)}, NULL},
    {"cores", OF_SESSION, true, {SESSION(NUMBER, cores)}, NULL},
    {"frames", OF_SESSION, true, {SESSION(NUMBER, max_frames)}, NULL},
    {"jitter", OF_SESSION, true, {SESSION(NUMBER, jitter)}, NULL},
    {"target_cores", OF_SESSION, false, {SESSION(NUMBER, target_cores)}, NULL},
    {"core_mask", OF_SESSION, false, {SESSION(HEXADECIMAL, core_mask)}, NULL},
    {"selected", OF_SESSION, false, {SESSION(NUMBER, selected)}, NULL},
    {"stat", OF_SESSION, false, {SESSION(NUMBER, counts)}, NULL},
    {"exact", OF_SESSION, false, {SESSION(NUMBER, exact)}, NULL},
    {"modes_inferred", OF_SESSION, false, {SESSION(NUMBER, inferred)}, NULL},
    {"turns", OF_SESSION, false, {SESSION(NUMBER, turns)}, NULL},
    {"aggregate_ms", OF_SESSION, false, {SESSION(NUMBER, aggregate_ms)}, NULL},
    {"image", OF_SESSION, false, {SESSION(TEXT, image)}, NULL},
    {"unverified", OF_SESSION, false, {SESSION(TEXT, unverified)}, NULL},
    {"windows", OF_SESSION, false, {SESSION(TEXT, windows)}, NULL},
    {"kernel_elf", OF_SESSION, false, {SESSION(TEXT, kernel_elf)}, NULL},
    {"kernel_build_id", OF_SESSION, false, {SESSION(KERNEL_ID, kernel_build_id)}, NULL},
    {"kernel_content", OF_SESSION, false, {SESSION(CONTENT, kernel_build_id)}, NULL},
    {"kernel_unnamed", OF_SESSION, false, {SESSION(TEXT, kernel_unnamed)}, NULL},
    {"pd", OF_PD, true, {PD(HEXADECIMAL, thread), PD(OPTIONAL, parent), PD(TEXT, name)}, NULL},
    {"build_id", OF_PD, false, {PD(BUILD_ID, build_id)}, NULL},
    {"content", OF_PD, false, {PD(CONTENT, build_id)}, NULL},
    {"scheduling", OF_PD, false, {PD(PRESENT, scheduling.known), PD(NUMBER, scheduling.priority), PD(NUMBER, scheduling.passive),
                                  PD(NUMBER, scheduling.cpu), PD(NUMBER, scheduling.budget_us), PD(NUMBER, scheduling.period_us)}, NULL},
    {"profiler", OF_PD, false, {PD(PRESENT, profiler)}, NULL},
    {"unnamed", OF_PD, false, {PD(TEXT, unnamed)}, NULL},
    {"event", OF_EVENT, true, {EVENT(NUMBER, code), EVENT(NUMBER, user), EVENT(NUMBER, kernel), EVENT(NUMBER, period),
                               EVENT(NUMBER, frequency), EVENT(NAME, name)}, NULL},
    {"group", OF_EVENT, false, {EVENT(NUMBER, group), EVENT(NUMBER, read)}, NULL},
    {"guests_only", OF_EVENT, false, {EVENT(PRESENT, guest)}, NULL},
    {"no_guests", OF_EVENT, false, {EVENT(PRESENT, host)}, NULL},
    {"all_cores", OF_EVENT, false, {EVENT(PRESENT, all_cores)}, NULL},
    {"queue", OF_QUEUE, true, {QUEUE(NUMBER, capacity), QUEUE(NUMBER, index_bits), QUEUE(NUMBER, returns), QUEUE(NUMBER, seen),
                               QUEUE(WORD, kind), QUEUE(OPTIONAL, producer), QUEUE(OPTIONAL, consumer), QUEUE(WORD, name), {NOTHING, 0, 0}}, NULL},
    {"suspect", OF_SUSPECT, true, {SUSPECT(NUMBER, samples), SUSPECT(NUMBER, doubtful), SUSPECT(NUMBER, outside), SUSPECT(NUMBER, no_call)}, NULL},
    {"stopped", OF_TOTALS, false, {MEMBER(NAME, mkperf_totals, stopped)}, NULL},
    {"complete", OF_TOTALS, true, {MEMBER(NUMBER, mkperf_totals, complete)}, NULL},
    {.key = "sched", .owner = OF_TOTALS, .read = read_sched_line},
    {.key = "counted", .owner = OF_TOTALS, .read = read_counted},
    {"core", OF_CORE, true, {CORE(NUMBER, state), CORE(NUMBER, samples), CORE(NUMBER, late_events), CORE(NUMBER, began_ns),
                             CORE(NUMBER, ended_ns), CORE(NEWER, lost[0]), CORE(NEWER, lost[1]), CORE(NEWER, lost[2]),
                             CORE(NEWER, lost[3]), CORE(NEWER, lost[4]), CORE(NEWER, late_answers)}, NULL},
    {"ring_bytes", OF_FILL, true, {MEMBER(NUMBER, mkperf_fill, size)}, NULL},
    {"ring_peak", OF_FILL, true, {MEMBER(NUMBER, mkperf_fill, peak)}, NULL},
    {"ring_fill", OF_FILL_POINT, true, {MEMBER(NUMBER, mkperf_fill_point, time_ns), MEMBER(NUMBER, mkperf_fill_point, bytes)}, NULL},
    {"soft_ns", OF_INTERACTIONS, true, {ALL(NUMBER, ns)}, NULL},
    {"soft_dropped", OF_INTERACTIONS, true, {ALL(NUMBER, records_dropped)}, NULL},
    {"soft_total", OF_INTERACTIONS, true, {ALL(NUMBER, total[0]), ALL(NUMBER, total[1]), ALL(NUMBER, total[2]), ALL(NUMBER, total[3])}, NULL},
    {"soft_edge", OF_EDGE, true, {MEMBER(NUMBER, mkperf_interaction, calls), MEMBER(NUMBER, mkperf_interaction, notifications),
                                  MEMBER(TABBED, mkperf_interaction, from), MEMBER(NAME, mkperf_interaction, to)}, NULL},
    {"soft_pd", OF_SOFT, true, {SOFT(NUMBER, count[0]), SOFT(NUMBER, count[1]), SOFT(NUMBER, count[2]), SOFT(NUMBER, count[3]),
                                SOFT(NAME, pd)}, NULL},
    {"soft_stack", OF_SOFT, false, {SOFT(NUMBER, stack.least), SOFT(NUMBER, stack.bottom), SOFT(NUMBER, stack.top),
                                    SOFT(NUMBER, stack.lowest), SOFT(NAME, pd)}, NULL},
    {"user_count", OF_COUNT, true, {COUNT(NUMBER, event), COUNT(NUMBER, own), COUNT(NUMBER, user), COUNT(NAME, pd)}, NULL},
    {.key = NULL},
};
/* clang-format on */
_Static_assert(MKPERF_LOST_PLACES == 5 && MKPERF_SOFT_KINDS == 4, "the rows have all elements");

/* Returns the text of a value; NULL: there is none. It may be in `room`. */
static const char *value_of(const struct field *v, const void *owner,
                            char room[MKPERF_BUILD_ID_TEXT])
{
    const void *at = (const char *)owner + v->at;
    const struct mkperf_build_id *id = at;

    switch (v->form) {
    case WORD:
    case OPTIONAL:
    case TEXT:
        return *(const char *const *)at;
    case NAME:
        return *(const char *)at != '\0' ? at : NULL;
    case TABBED:
        return at;
    case KERNEL_ID:
        if ((id->n == 0 || id->derived) && ((const struct mkperf_session *)owner)->kernel_elf) {
            return "";
        }
        return id->derived ? "" : id->n != 0 ? mkperf_build_id_text(id, room) : NULL;
    case BUILD_ID:
    case CONTENT:
        return id->n != 0 && id->derived == (v->form == CONTENT) ? mkperf_build_id_text(id, room)
                                                                 : NULL;
    case NOTHING:
        return "";
    default:
        snprintf(room, MKPERF_BUILD_ID_TEXT, v->form == HEXADECIMAL ? "%" PRIx64 : "%" PRIu64,
                 v->bytes == sizeof(bool)       ? *(const bool *)at
                 : v->bytes == sizeof(uint32_t) ? *(const uint32_t *)at
                                                : *(const uint64_t *)at);
        return room;
    }
}

void perfdata_lines_write(FILE *f, enum perfdata_owner owner, unsigned number, const void *of)
{
    for (const struct row *row = rows; row->key != NULL; row++) {
        char room[MKPERF_BUILD_ID_TEXT];
        bool written = row->owner == owner && row->read == NULL;
        const char *text = written ? value_of(row->field, of, room) : NULL;
        if (!written || (!row->always && (text == NULL || strcmp(text, "0") == 0))) {
            continue;
        }
        fputs(row->key, f);
        if (owner >= OF_PD) {
            fprintf(f, " %u", number);
        }
        for (const struct field *v = row->field; v->form != END; v++) {
            bool word = v->form == WORD || v->form == OPTIONAL;
            text = v->form != PRESENT ? value_of(v, of, room) : NULL;
            text = text == NULL || *text == '\0' ? word ? "-" : "" : text;
            fputs(v->form == PRESENT ? "" : v > row->field && v[-1].form == TABBED ? "\t" : " ", f);
            for (; *text != '\0'; text++) { /* it must remain one line, and one word */
                fputc((unsigned char)*text < ' ' + word ? '?' : *text, f);
            }
        }
        fputc('\n', f);
    }
}

/* Returns the number of bytes of a value of this form at `text`. */
static size_t value_size(enum form form, const char *text)
{
    return form == PRESENT ? 0
                           : strcspn(text, form == TEXT || form == NAME ? ""
                                           : form == TABBED             ? "\t"
                                                                        : " ");
}

/* Returns whether a line has all values that its row needs, and numbers where the row wants numbers. */
static bool is_whole(const struct row *row, const char *text)
{
    for (const struct field *v = row->field; v->form != END; v++) {
        bool number = v->form == NUMBER || v->form == HEXADECIMAL;
        size_t n = value_size(v->form, text);
        uint64_t value;
        if (n == 0 && (number || v->form == WORD || v->form == OPTIONAL || *text == ' ')) {
            return false;
        }
        if (n != 0 && (number || v->form == NEWER) &&
            (!mkperf_read_number(text, n, v->form == HEXADECIMAL ? 16 : 10, &value) ||
             (v->bytes == 4 && value > UINT32_MAX))) {
            return false;
        }
        text += v->form != PRESENT ? n + (text[n] != '\0') : 0;
    }
    return true;
}

/* Reads the values of a line into their structure. Returns false if the line is not whole; the structure is unchanged then. */
static bool read_fields(const struct row *row, const char *text, void *owner)
{
    if (!is_whole(row, text)) {
        return false;
    }
    for (const struct field *v = row->field; v->form != END; v++) {
        void *to = (char *)owner + v->at;
        size_t n = value_size(v->form, text);
        uint64_t number;
        (void)mkperf_read_number(text, n, v->form == HEXADECIMAL ? 16 : 10, &number);
        if (v->form == PRESENT) {
            *(bool *)to = true;
            continue;
        }
        if (v->form == NAME || v->form == TABBED) {
            snprintf(to, v->bytes, "%.*s", (int)n, text);
            mkperf_printable(to);
        } else if (v->form == TEXT || v->form == WORD || v->form == OPTIONAL) {
            if (v->form != OPTIONAL || n != 1 || *text != '-') {
                perfin_set_text(to, text, n);
            }
        } else if (v->form == BUILD_ID || v->form == CONTENT || v->form == KERNEL_ID) {
            struct mkperf_build_id *id = to;
            *id = (struct mkperf_build_id){.derived = v->form == CONTENT};
            for (size_t k = 0; k + 1 < n && id->n < MKPERF_BUILD_ID_BYTES; k += 2) {
                unsigned high = mkperf_digit(text[k]), low = mkperf_digit(text[k + 1]);
                if (high > 15 || low > 15) {
                    break;
                }
                id->byte[id->n++] = (uint8_t)(high << 4 | low);
            }
        } else if (v->bytes == sizeof(bool)) {
            *(bool *)to = number != 0;
        } else if (v->bytes == sizeof(uint32_t)) {
            *(uint32_t *)to = (uint32_t)number;
        } else if (v->bytes == sizeof(uint64_t)) {
            *(uint64_t *)to = number;
        }
        text += n + (text[n] != '\0');
    }
    return true;
}

/* Reads a line about the PD, event, queue, suspect or core of a number. Returns false if the file has more than fits. */
static bool read_numbered(struct perfin_session *s, const struct row *row, unsigned long number,
                          const char *text)
{
    struct mkperf_suspect suspect = {.pd = (uint32_t)number};
    struct mkperf_event event = {.code = 0};
    struct mkperf_core core = {.samples = 0};
    unsigned queues = s->model.nqueues;
    struct perfin_process *process;

    switch (row->owner) {
    case OF_EVENT:
        if (!row->always && number < s->model.nevents) {
            read_fields(row, text, &s->model.event[number]);
        } else if (row->always && number < MKPERF_MODEL_EVENTS && number <= s->model.nevents &&
                   read_fields(row, text, &event)) {
            s->model.nevents += number == s->model.nevents; /* an event of a later session */
            s->described = s->described <= number ? (unsigned)number + 1 : s->described;
            s->model.event[number] = event;
        }
        break;
    case OF_QUEUE: /* queues are in the order of their numbers */
        if (number != queues || queues >= PERFIN_QUEUES_MAX) {
            return false;
        }
        MKPERF_GROW(s->queue, s->queue_room, queues + 1);
        s->model.queue = s->queue;
        s->model.nqueues = queues + 1;
        return read_fields(row, text, &s->queue[queues]) &&
               (s->queue[queues].index_bits == 8 || s->queue[queues].index_bits == 16 ||
                s->queue[queues].index_bits == 32 || s->queue[queues].index_bits == 64);
    case OF_CORE:
        if (number < MKPERF_MAX_CORES && read_fields(row, text, &core) &&
            core.state <= MKPERF_CORE_ABSENT) {
            s->totals.core[number] = core;
            s->totals.ncores = number >= s->totals.ncores ? (unsigned)number + 1 : s->totals.ncores;
        }
        break;
    case OF_SUSPECT:
        if ((number < MKPERF_PERFDATA_PDS || number == MKPERF_SUSPECT_KERNEL) &&
            s->totals.nsuspects < MKPERF_SUSPECTS && read_fields(row, text, &suspect)) {
            if (number != MKPERF_SUSPECT_KERNEL) {
                process = perfin_process_of(s, suspect.pd + 1);
                if (process == NULL) {
                    return false;
                }
                suspect.pd = process->pd.id;
            }
            s->totals.suspect[s->totals.nsuspects++] = suspect;
        }
        break;
    default:
        if (number < MKPERF_PERFDATA_PDS) {
            process = perfin_process_of(s, (uint32_t)number + 1);
            if (process == NULL) {
                return false;
            }
            struct mkperf_scheduling *how = &process->pd.scheduling;
            process->has_thread |= read_fields(row, text, &process->pd) && row->always;
            how->known &= how->budget_us <= MKPERF_SYSTEM_MAX_US &&
                          how->period_us <= MKPERF_SYSTEM_MAX_US;
        }
    }
    return true;
}

/* Reads a line about a fill level, an edge, a PD's software events or a count, or about the interactions as a whole. */
static void read_item_line(struct perfin_session *s, const struct row *row, const char *text)
{
    struct mkperf_fill *fill = &s->totals.fill;
    struct mkperf_fill_point point = {.bytes = 0};
    struct mkperf_interaction edge = {.calls = 0};
    struct mkperf_soft_counts soft = {.count = {0}};
    struct mkperf_pd_count count = {.own = false};

    if (row->owner == OF_FILL_POINT && fill->n < MKPERF_FILL_POINTS &&
        read_fields(row, text, &point)) {
        fill->point[fill->n++] = point;
    } else if (row->owner == OF_COUNT && read_fields(row, text, &count) &&
               count.event < MKPERF_MODEL_EVENTS) {
        if (s->counts == NULL) {
            s->totals.counts = s->counts = mkperf_xcalloc(1, sizeof *s->counts);
        }
        mkperf_pd_counts_add(s->counts, &count);
    } else if (row->owner == OF_INTERACTIONS || row->owner == OF_EDGE || row->owner == OF_SOFT) {
        if (s->interactions == NULL) {
            s->totals.interactions = s->interactions = mkperf_xcalloc(1, sizeof *s->interactions);
        }
        if (row->owner == OF_INTERACTIONS) {
            read_fields(row, text, s->interactions);
        } else if (row->owner == OF_EDGE) {
            if (strchr(text, '\t') != NULL && read_fields(row, text, &edge)) {
                mkperf_interactions_add(s->interactions, &edge);
            }
        } else if (read_fields(row, text, &soft)) {
            mkperf_interactions_add_pd(s->interactions, &soft);
        }
    }
}

bool perfdata_line_read(struct perfin_session *s, const char *key, const char *text)
{
    const size_t n = sizeof rows / sizeof *rows - 1;
    size_t i = mkperf_named(rows, n, sizeof *rows, key);
    const struct row *row = &rows[i];

    if (i == n) {
        s->damaged |= !mkperf_figures_read(&s->totals, key, text);
        return true;
    }
    if (row->read != NULL) {
        return row->read(s, text);
    }
    if (row->owner >= OF_PD) {
        char *end;
        unsigned long number = strtoul(text, &end, 10);
        return end != text ? read_numbered(s, row, number, end + (*end == ' '))
                           : row->owner != OF_QUEUE;
    }
    if (row->owner == OF_SESSION) {
        read_fields(row, text, &s->model);
    } else if (row->owner == OF_TOTALS) {
        read_fields(row, text, &s->totals);
    } else if (row->owner == OF_FILL) {
        read_fields(row, text, &s->totals.fill);
    } else {
        read_item_line(s, row, text);
    }
    return true;
}

/* Reads the lines of a feature. *has: the file has it. `reason` is the error if more is in it than fits. */
static enum mkperf_status read_lines(struct perfin_reader *r, unsigned bit, bool *has,
                                     const char *reason)
{
    struct perfin_cursor feature = perfin_feature(r, bit);
    char *text = (char *)feature.p, *rest = NULL;
    bool fits = true;

    *has = text != NULL;
    for (size_t i = *has ? strlen(text) : 0; *has && i < feature.n; i++) {
        r->session.damaged |= text[i] != '\0'; /* zeros may fill a record of a pipe */
    }
    for (char *line = *has ? strtok_r(text, "\n", &rest) : NULL; line != NULL && fits;
         line = strtok_r(NULL, "\n", &rest)) {
        char *value = strchr(line, ' ');
        if (value != NULL) {
            *value = '\0';
            fits = perfdata_line_read(&r->session, line, value + 1);
        }
    }
    return fits ? MKPERF_OK : perfin_bad(&r->bytes, 0, reason, r->e);
}

enum mkperf_status perfin_read_totals(struct perfin_reader *r)
{
    return read_lines(r, MKPERF_PERFDATA_TOTALS, &r->session.has_totals, "more PDs than fit");
}

enum mkperf_status perfin_read_session(struct perfin_reader *r)
{
    struct perfin_session *s = &r->session;

    if (s->known) {
        return MKPERF_OK;
    }
    if (r->frame.nattrs == 0 && !r->frame.has_trace) {
        return perfin_fail(r, "no event is before the first record");
    }
    s->known = true;
    perfin_set_text(&s->model.platform, "", 0);
    perfin_set_text(&s->model.cpu, "", 0);
    perfin_read_perf_features(r);
    MKPERF_TRY(read_lines(r, MKPERF_PERFDATA_SESSION, &s->native,
                          "more PDs than fit, or a damaged description of a queue"));
    return perfin_read_totals(r);
}
