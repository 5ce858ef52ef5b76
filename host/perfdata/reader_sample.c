/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * SAMPLE records of a perf.data file: samples, marks and scheduling events.
 *
 * Owns: the fields of such a record, the meaning of its callchain, and the raw data of tracepoints
 * (tracepoints.h). Called by reader.c, also for gaps of scheduling events.
 */
#include "perfdata_internal.h"

enum { MARK_BYTES = 128 };

struct raw_sample {
    struct mkperf_sample out; /* its event is the number of an attribute */
    unsigned misc;
    uint64_t ip;
    uint32_t pid;
    const uint8_t *chain; /* nchain words */
    uint64_t nchain;
    const uint8_t *raw; /* nraw bytes of a mark or a tracepoint */
    uint32_t nraw;
    bool longer; /* the record is longer than its known fields, so that nr is wrong */
    struct mkperf_read read[MKPERF_MODEL_EVENTS]; /* values of the group's other events */
};

/* Adds an event's value in a sample of its group. The difference to the last value is the sample's. */
static void add_count(const struct perfin_reader *r, struct raw_sample *s, uint64_t count,
                      uint64_t id)
{
    struct perfin_id *of = perfin_find_id(&r->frame, id);

    if (of == NULL || of->event >= PERFDATA_MARK_ATTR) {
        return;
    }
    uint64_t since = count - of->count;
    of->count = count;
    if (of->event == s->out.event) {
        s->out.period = since != 0 ? since : s->out.period;
    } else if (s->out.nreads < MKPERF_MODEL_EVENTS) {
        s->read[s->out.nreads++] = (struct mkperf_read){.event = of->event, .count = since};
    }
}

/* Reads the values of counters in a sample. The value of a single counter is not needed. */
static void take_read(const struct perfin_reader *r, struct perfin_cursor *c, uint64_t format,
                      struct raw_sample *s)
{
    size_t times = (format & PERF_FORMAT_TOTAL_TIME_ENABLED ? 8 : 0) +
                   (format & PERF_FORMAT_TOTAL_TIME_RUNNING ? 8 : 0);
    size_t rest = format & PERF_FORMAT_LOST ? 8 : 0;
    size_t each = 8 + (format & PERF_FORMAT_ID ? 8 : 0) + rest;

    if (!(format & PERF_FORMAT_GROUP)) {
        perfin_take(c, times + each);
        return;
    }
    uint64_t n = perfin_take64(c);
    perfin_take(c, times);
    if (n > c->n / each) {
        c->cut = true;
        return;
    }
    for (uint64_t i = 0; i < n; i++) {
        uint64_t count = perfin_take64(c);
        if (format & PERF_FORMAT_ID) {
            add_count(r, s, count, perfin_take64(c));
        }
        perfin_take(c, rest);
    }
}

/* Finds the event, which defines the fields. Its id is at a fixed place, or the file has only one event. */
static bool find_event(const struct perfin_reader *r, const struct perfin_cursor *record,
                       struct raw_sample *s)
{
    uint64_t type = r->frame.first.sample_type;
    const struct perfin_id *id = NULL;
    struct perfin_cursor c = *record;

    if (type & (PERF_SAMPLE_IDENTIFIER | PERF_SAMPLE_ID)) {
        if (!(type & PERF_SAMPLE_IDENTIFIER)) {
            perfin_take(&c, (type & PERF_SAMPLE_IP ? 8 : 0) + (type & PERF_SAMPLE_TID ? 8 : 0) +
                                (type & PERF_SAMPLE_TIME ? 8 : 0) +
                                (type & PERF_SAMPLE_ADDR ? 8 : 0));
        }
        id = perfin_find_id(&r->frame, perfin_take64(&c));
    }
    s->out.event = id != NULL ? id->event : 0;
    return !c.cut && (id != NULL || (r->frame.nattrs == 1 && !r->frame.has_trace));
}

static bool take_fields(const struct perfin_reader *r, struct perfin_cursor *c,
                        struct raw_sample *s)
{
    const struct perfin_attr *a = &r->frame.attr[s->out.event];
    uint64_t type = a->sample_type;

    perfin_take(c, type & PERF_SAMPLE_IDENTIFIER ? 8 : 0);
    s->ip = type & PERF_SAMPLE_IP ? perfin_take64(c) : 0;
    if (type & PERF_SAMPLE_TID) {
        s->pid = perfin_take32(c);
        perfin_take(c, 4);
    }
    s->out.time_ns = type & PERF_SAMPLE_TIME ? perfin_take64(c) : 0;
    perfin_take(c, (type & PERF_SAMPLE_ADDR ? 8 : 0) + (type & PERF_SAMPLE_ID ? 8 : 0) +
                       (type & PERF_SAMPLE_STREAM_ID ? 8 : 0));
    s->out.core = type & PERF_SAMPLE_CPU ? (uint32_t)perfin_take64(c) : 0;
    s->out.period = type & PERF_SAMPLE_PERIOD   ? perfin_take64(c)
                    : a->flags & PERF_ATTR_FREQ ? 1
                                                : a->period;
    if (type & PERF_SAMPLE_READ) {
        take_read(r, c, a->read_format, s);
    }
    if (type & PERF_SAMPLE_CALLCHAIN) {
        s->nchain = perfin_take64(c);
        s->chain = s->nchain <= c->n / 8 ? perfin_take(c, 8 * (size_t)s->nchain) : NULL;
        c->cut |= !s->chain;
    }
    if (s->out.event >= PERFDATA_MARK_ATTR && type & PERF_SAMPLE_RAW) {
        s->nraw = perfin_take32(c);
        s->raw = perfin_take(c, s->nraw);
    }
    bool all = !(type & ~(uint64_t)PERFIN_FIELDS_READ);
    uint64_t weight = all && type & PERF_SAMPLE_WEIGHT ? perfin_take64(c) : 1;
    s->out.more = r->session.model.aggregate_ms != 0 && weight != 0 ? weight - 1 : 0;
    s->longer = s->out.event < PERFDATA_MARK_ATTR && c->n > 0 && all;
    return !c->cut;
}

static bool is_kernel_mode(unsigned misc)
{
    unsigned mode = misc & PERF_RECORD_MISC_CPUMODE_MASK;

    return mode == PERF_RECORD_MISC_KERNEL || mode == PERF_RECORD_MISC_HYPERVISOR;
}

/* Adds a kernel address. Kernel callers are kept as long as no user frame follows: see model.h. */
static void add_kernel_frame(struct perfin_reader *r, struct mkperf_sample *out, uint64_t addr)
{
    if (!(out->flags & MKPERF_SAMPLE_KERNEL)) {
        out->flags |= MKPERF_SAMPLE_KERNEL;
        out->kernel_pc = addr;
    } else if (out->flags & MKPERF_SAMPLE_NO_USER && r->chain.n <= MKPERF_MAX_FRAMES) {
        r->chain.caller[r->chain.n++] = (struct mkperf_caller){.addr = addr, .pd = out->pd};
    } else if (out->flags & MKPERF_SAMPLE_NO_USER) {
        out->flags |= MKPERF_SAMPLE_DEPTH_LIMIT;
    }
}

static enum mkperf_status add_user_frame(struct perfin_reader *r, struct mkperf_sample *out,
                                         uint32_t pid, uint64_t addr)
{
    uint32_t pd = pid - 1;

    if (r->session.native) {
        addr = mkperf_perfdata_unslid(&pd, addr);
    }
    if (out->flags & MKPERF_SAMPLE_NO_USER) {
        out->flags &= ~(uint32_t)(MKPERF_SAMPLE_NO_USER | MKPERF_SAMPLE_DEPTH_LIMIT);
        out->pc = addr;
        r->chain.n = 0;
        return MKPERF_OK;
    }
    if (r->chain.n == MKPERF_MAX_FRAMES + 1) {
        out->flags |= MKPERF_SAMPLE_DEPTH_LIMIT;
        return MKPERF_OK;
    }
    struct mkperf_caller *to = &r->chain.caller[r->chain.n++];
    to->addr = addr;
    to->pd = out->pd;
    return pd == pid - 1 ? MKPERF_OK : perfin_pd_of(r, pd + 1, &to->pd);
}

/* Takes the callers in the sample's own PD at the start of n words. Most frames are of this kind. Returns
 * their number. */
static uint64_t take_callers(struct perfin_reader *r, const struct mkperf_sample *out,
                             uint64_t base, const uint8_t *chain, uint64_t n)
{
    struct mkperf_chain *to = &r->chain;
    uint64_t i = 0;

    for (; i < n && to->n < MKPERF_MAX_FRAMES + 1; i++) {
        uint64_t addr = mkperf_get64(chain + 8 * i) - base;
        if (addr >= MKPERF_PERFDATA_WINDOW) {
            break;
        }
        to->caller[to->n].addr = addr;
        to->caller[to->n++].pd = out->pd;
    }
    return i;
}

/* Sorts the chain's frames into kernel, user pc and callers. */
static enum mkperf_status split_chain(struct perfin_reader *r, struct raw_sample *raw)
{
    struct mkperf_sample *out = &raw->out;
    bool kernel = is_kernel_mode(raw->misc);
    uint64_t base = MKPERF_PERFDATA_SLIDE + (uint64_t)(raw->pid - 1) * MKPERF_PERFDATA_WINDOW;
    bool slid = r->session.native && raw->pid - 1 < MKPERF_PERFDATA_PDS;

    for (uint64_t i = 0; i < raw->nchain; i++) {
        if (!(out->flags & MKPERF_SAMPLE_NO_USER)) {
            if (r->sink->leaves_only) {
                break;
            }
            if (slid && !kernel) {
                i += take_callers(r, out, base, raw->chain + 8 * i, raw->nchain - i);
            }
            if (i == raw->nchain) {
                break;
            }
        }
        uint64_t addr = mkperf_get64(raw->chain + 8 * i);
        if (addr >= PERF_CONTEXT_MAX) {
            kernel = addr == PERF_CONTEXT_KERNEL;
            out->flags |= addr == PERF_CONTEXT_GUEST_KERNEL ? MKPERF_GUEST_KERNEL
                          : addr == PERF_CONTEXT_GUEST_USER ? MKPERF_GUEST_USER
                                                            : MKPERF_GUEST_NONE;
        } else if (kernel) {
            add_kernel_frame(r, out, addr);
        } else if (add_user_frame(r, out, raw->pid, addr) != MKPERF_OK) {
            return r->e->status;
        }
    }
    return MKPERF_OK;
}

static enum mkperf_status read_mark(struct perfin_reader *r, const struct raw_sample *raw)
{
    struct mkperf_mark mark = {.time_ns = raw->out.time_ns};
    char text[MARK_BYTES] = "", kind[8] = "";
    int end = 0;

    if (raw->raw != NULL) {
        memcpy(text, raw->raw, raw->nraw < sizeof text - 1 ? raw->nraw : sizeof text - 1);
    }
    (void)sscanf(text, "%7s %" SCNu32 "%n", kind, &mark.id, &end); /* perfdata.h has the form */
    mark.kind = (enum mkperf_mark_kind)mkperf_named(mkperf_mark_names, MKPERF_MARK_KINDS,
                                                    sizeof *mkperf_mark_names, kind);
    mark.name = text + end + 1;
    if (mark.kind == MKPERF_MARK_KINDS || end == 0 || text[end] != ' ') {
        return perfin_fail(r, "a mark without kind, number and name");
    }
    r->seen.marks++;
    MKPERF_TRY(perfin_pd_of(r, raw->pid, &mark.pd));
    return mkperf_sink_mark(r->sink, &mark, r->e);
}

/* Stores the PD of a pid in a tracepoint. Pid 0 is the idle thread. */
static enum mkperf_status traced_pd(struct perfin_reader *r, uint32_t pid, bool known, uint32_t *pd)
{
    const struct perfin_session *s = &r->session;

    *pd = MKPERF_SCHED_NOBODY;
    if (!known) {
        return MKPERF_OK;
    }
    for (uint32_t i = 0; pid == 0 && i < s->nprocesses; i++) {
        if (s->process[i].has_thread && s->process[i].pd.thread == MKPERF_THREAD_IDLE) {
            pid = s->process[i].pid;
        }
    }
    return perfin_pd_of(r, pid, pd);
}

/* Reads the raw data of a tracepoint. */
static enum mkperf_status read_sched_sample(struct perfin_reader *r, const struct raw_sample *s)
{
    enum mkperf_trace_point point = (enum mkperf_trace_point)(s->out.event - PERFDATA_TRACE_ATTR);
    struct mkperf_sched out = {.time_ns = s->out.time_ns, .core = s->out.core};
    const uint8_t *raw = s->raw;
    bool is_switch = point == MKPERF_TRACE_SWITCH;
    uint32_t from, to, kind, known;

    if (!is_switch && point != MKPERF_TRACE_SCHED) {
        return MKPERF_OK; /* the writer derived it from the others */
    }
    if (raw == NULL || s->nraw < (is_switch ? TRACE_SWITCH_BYTES : TRACE_SCHED_BYTES)) {
        return perfin_fail(r, "a scheduling event is cut");
    }
    from = mkperf_get32(raw + TRACE_COMMON_PID);
    to = mkperf_get32(raw + (is_switch ? TRACE_SWITCH_NEXT : TRACE_SCHED_PID));
    known = mkperf_get32(raw + (is_switch ? TRACE_SWITCH_KNOWN : TRACE_SCHED_KNOWN));
    kind = is_switch ? MKPERF_SCHED_SWITCH : mkperf_get32(raw + TRACE_SCHED_KIND);
    out.reason = is_switch ? (enum mkperf_sched_reason)mkperf_get32(raw + TRACE_SWITCH_REASON)
                           : MKPERF_STOPPED_UNKNOWN;
    out.irq = is_switch ? 0 : mkperf_get32(raw + TRACE_SCHED_IRQ);
    if (kind >= MKPERF_SCHED_GAP || (unsigned)out.reason >= MKPERF_STOPPED_REASONS) {
        return perfin_fail(r, "a scheduling event of an unknown kind");
    }
    if (out.core >= MKPERF_MODEL_CORES) {
        return perfin_fail(r, "a scheduling event of a core beyond 4095");
    }
    out.kind = (enum mkperf_sched_kind)kind;
    MKPERF_TRY(traced_pd(r, from, known != 0, &out.from));
    MKPERF_TRY(traced_pd(r, to, true, &out.to));
    perfin_note_time(&r->seen, out.time_ns);
    r->seen.sched_events++;
    MKPERF_GROW(r->sched_ns, r->cores_room, (size_t)out.core + 1);
    r->sched_ns[out.core] = out.time_ns;
    return mkperf_sink_sched(r->sink, &out, r->e);
}

/* Reads the raw data of mkperf:queue. */
static enum mkperf_status read_queue_sample(struct perfin_reader *r, const struct raw_sample *raw)
{
    struct mkperf_queue_reading out = {.time_ns = raw->out.time_ns, .core = raw->out.core};

    if (raw->raw == NULL || raw->nraw < TRACE_QUEUE_BYTES) {
        return perfin_fail(r, "a reading of a queue is cut");
    }
    out.queue = mkperf_get32(raw->raw + TRACE_QUEUE_NUMBER);
    out.head = mkperf_get64(raw->raw + TRACE_QUEUE_HEAD);
    out.tail = mkperf_get64(raw->raw + TRACE_QUEUE_TAIL);
    if (out.queue >= r->session.model.nqueues || out.core >= MKPERF_MODEL_CORES) {
        return perfin_fail(r, "a reading of an unknown queue, or of a core beyond 4095");
    }
    perfin_note_time(&r->seen, out.time_ns);
    r->seen.queue_readings++;
    return mkperf_sink_queue_reading(r->sink, &out, r->e);
}

enum mkperf_status perfin_read_gap(struct perfin_reader *r, uint64_t lost, uint64_t time,
                                   uint32_t core)
{
    struct mkperf_sched gap = {
        .time_ns = time,
        .core = core,
        .kind = MKPERF_SCHED_GAP,
        .from = MKPERF_SCHED_NOBODY,
        .to = MKPERF_SCHED_NOBODY,
        .lost = lost,
        .since_ns = core < r->cores_room ? r->sched_ns[core] : 0,
    };

    if (core >= MKPERF_MODEL_CORES) {
        return perfin_fail(r, "a gap of a core beyond 4095");
    }
    return mkperf_sink_sched(r->sink, &gap, r->e);
}

enum mkperf_status perfin_read_sample(struct perfin_reader *r, struct perfin_cursor c,
                                      unsigned misc)
{
    struct raw_sample raw;
    struct mkperf_sample *out = &raw.out;

    /* Only these members need a value. An initialiser would clear the whole array for every sample. */
    *out = (struct mkperf_sample){
        .flags = MKPERF_SAMPLE_NO_USER, .callers = &r->chain, .reads = raw.read};
    raw.misc = misc;
    raw.pid = 0;
    raw.chain = raw.raw = NULL;
    raw.nchain = 0;
    raw.nraw = 0;
    if (!find_event(r, &c, &raw)) {
        return perfin_fail(r, "a sample of an unknown event");
    }
    if (!take_fields(r, &c, &raw)) {
        return perfin_fail(r, "a sample is cut");
    }
    if (raw.longer) {
        return perfin_fail(r, "a sample is longer than its fields: it has more frames than nr");
    }
    if (out->event == PERFDATA_MARK_ATTR) {
        return read_mark(r, &raw);
    }
    if (out->event == PERFDATA_TRACE_ATTR + MKPERF_TRACE_QUEUE) {
        return read_queue_sample(r, &raw);
    }
    if (out->event >= PERFDATA_TRACE_ATTR) {
        return read_sched_sample(r, &raw);
    }
    if (out->core >= MKPERF_MODEL_CORES) {
        return perfin_fail(r, "a sample of a core beyond 4095");
    }
    unsigned mode = misc & PERF_RECORD_MISC_CPUMODE_MASK;
    out->flags |= mode == PERF_RECORD_MISC_GUEST_KERNEL ? MKPERF_GUEST_KERNEL
                  : mode == PERF_RECORD_MISC_GUEST_USER ? MKPERF_GUEST_USER
                                                        : MKPERF_GUEST_NONE;
    r->chain.n = 0;
    if (out->event >= r->events) { /* one of a later session */
        r->events = r->session.model.nevents;
        MKPERF_TRY(mkperf_sink_events(r->sink, &r->session.model, r->e));
    }
    MKPERF_TRY(perfin_pd_of(r, raw.pid, &out->pd));
    MKPERF_TRY(split_chain(r, &raw));
    if (raw.nchain == 0 && is_kernel_mode(misc)) {
        add_kernel_frame(r, out, raw.ip);
    } else if (raw.nchain == 0) {
        MKPERF_TRY(add_user_frame(r, out, raw.pid, raw.ip));
    }
    perfin_note_time(&r->seen, out->time_ns);
    r->seen.samples += mkperf_sample_count(out);
    if (out->core < MKPERF_MAX_CORES) {
        r->seen.core[out->core].samples += mkperf_sample_count(out);
        r->seen.ncores = out->core >= r->seen.ncores ? out->core + 1 : r->seen.ncores;
    }
    return mkperf_sink_sample(r->sink, out, r->e);
}
