/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * samples.json: the structure of the file, read strictly or leniently, and its samples: their members, their consistency, and
 * their way to the sink. The format's rules are in import.h.
 */
#include "toperf_internal.h"

enum toperf_member {
    TOPERF_IP = 1 << 0,
    TOPERF_PID = 1 << 1,
    TOPERF_TIME = 1 << 2,
    TOPERF_PERIOD = 1 << 3,
    TOPERF_IPS = 1 << 4,
    TOPERF_CPU = 1 << 5,
    TOPERF_NR = 1 << 6,
};

/* A sample as the file has it. */
struct toperf_raw {
    unsigned seen; /* a set of enum toperf_member */
    bool bad;      /* a value was invalid: a lenient reading drops the sample */
    uint64_t ip, pid, time, period, cpu, nr;
    uint64_t ips[MKPERF_MAX_FRAMES];
    unsigned nips;
    struct mkperf_json_place place; /* the place of its '{' */
};

#define NUMBER(member) offsetof(struct toperf_raw, member)
static const struct {
    const char *name;
    enum toperf_member member;
    size_t at; /* where the number is stored */
} members[] = {
    {"ip", TOPERF_IP, NUMBER(ip)},
    {"pid", TOPERF_PID, NUMBER(pid)},
    {"time", TOPERF_TIME, NUMBER(time)},
    {"nr", TOPERF_NR, NUMBER(nr)},
    {"ips", TOPERF_IPS, 0},
    {"period", TOPERF_PERIOD, NUMBER(period)},
    {"cpu", TOPERF_CPU, NUMBER(cpu)},
};

static bool hexadecimal(const struct mkperf_json *j, uint64_t *out)
{
    size_t i = j->length > 2 && j->text[0] == '0' && (j->text[1] | 0x20) == 'x' ? 2 : 0;
    bool any = i < j->length && j->length - i <= 16;

    for (*out = 0; any && i < j->length; i++) {
        unsigned digit = mkperf_digit(j->text[i]);
        any = digit < 16;
        *out = *out << 4 | (digit & 15);
    }
    return any;
}

/* Reads an ip leniently: it is hexadecimal if it has a letter, or if it is of a serial client's log. */
static bool lenient_ip(struct toperf *t, uint64_t *out)
{
    uint64_t decimal;

    if (!t->in->lenient ||
        (t->json.token != MKPERF_JSON_WORD && t->json.token != MKPERF_JSON_STRING) ||
        (!t->serial && toperf_number(&t->json, &decimal) == NULL) || !hexadecimal(&t->json, out)) {
        return false;
    }
    toperf_note(t, TOPERF_HEX_IP);
    return true;
}

/* Reports an invalid value: an error, except in a lenient reading, which drops the sample. */
static enum mkperf_status bad_value(struct toperf *t, struct toperf_raw *r, const char *key,
                                    const char *reason)
{
    if (!t->in->lenient) {
        return mkperf_json_bad(&t->json, t->e, "%s: %s", key, reason);
    }
    r->bad = true;
    return toperf_skip(t);
}

static enum mkperf_status element_ip(struct toperf *t, void *self)
{
    struct toperf_raw *r = self;
    uint64_t v = 0;
    const char *reason = toperf_number(&t->json, &v);

    if (reason == NULL && r->nips == MKPERF_MAX_FRAMES) {
        reason = "more than 64 entries";
    }
    if (reason != NULL) {
        return bad_value(t, r, "ips", reason);
    }
    r->ips[r->nips++] = v;
    return MKPERF_OK;
}

static enum mkperf_status member_of_sample(struct toperf *t, void *self, const char *key)
{
    struct toperf_raw *r = self;
    size_t n = sizeof members / sizeof *members;
    size_t i = mkperf_named(members, n, sizeof *members, key);

    if (i == n) {
        toperf_note(t, TOPERF_UNKNOWN_KEY);
        return toperf_skip(t);
    }
    enum toperf_member member = members[i].member;
    if (r->seen & member) {
        return bad_value(t, r, key, "twice in one sample");
    }
    r->seen |= member;
    if (member == TOPERF_IPS) {
        if (t->json.token != MKPERF_JSON_OPEN_ARRAY) {
            return bad_value(t, r, "ips", "expected an array");
        }
        MKPERF_TRY(toperf_array(t, element_ip, r));
        r->bad |= t->json.cut;
        return MKPERF_OK;
    }
    if (member == TOPERF_IP && lenient_ip(t, &r->ip)) {
        return MKPERF_OK;
    }
    uint64_t *number = (uint64_t *)(void *)((char *)r + members[i].at);
    const char *reason = toperf_number(&t->json, number);
    return reason == NULL ? MKPERF_OK : bad_value(t, r, key, reason);
}

/* Reports a finding about the whole sample. Its place is the beginning of the sample. */
static enum mkperf_status found_in_sample(struct toperf *t, const struct toperf_raw *r,
                                          enum toperf_finding what, const char *reason)
{
    struct mkperf_json_place here = t->json.place;

    t->json.place = r->place;
    enum mkperf_status status = toperf_found(t, what, reason);
    t->json.place = here;
    return status;
}

static enum mkperf_status check_members(struct toperf *t, struct toperf_raw *r)
{
    char reason[64];

    for (unsigned i = 0; !r->bad && i < sizeof members / sizeof *members; i++) {
        if (r->seen & members[i].member) {
            continue;
        }
        if (members[i].member == TOPERF_CPU) {
            toperf_note(t, TOPERF_NO_CPU);
            continue;
        }
        snprintf(reason, sizeof reason, "a sample without %s", members[i].name);
        r->bad = true;
        return found_in_sample(t, r, TOPERF_BAD_VALUE, reason);
    }
    if (!r->bad && (r->cpu >= MKPERF_MODEL_CORES || r->pid > UINT32_MAX)) {
        r->bad = true;
        return found_in_sample(t, r, TOPERF_BAD_VALUE,
                               r->cpu >= MKPERF_MODEL_CORES ? "no core has such a number"
                                                            : "pid: beyond 32 bits");
    }
    if (r->bad && t->in->lenient) {
        return found_in_sample(t, r, TOPERF_BAD_VALUE, "");
    }
    return MKPERF_OK;
}

/* Checks that ips has nr addresses, and then only zeros. */
static enum mkperf_status check_chain(struct toperf *t, struct toperf_raw *r)
{
    unsigned used = 0;

    while (used < r->nips && r->ips[used] != 0) {
        used++;
    }
    unsigned last = r->nips;
    while (last > 0 && r->ips[last - 1] == 0) {
        last--;
    }
    if (r->nr == used && last == used) {
        return MKPERF_OK;
    }
    const char *reason = r->nr > r->nips ? "nr is more than ips has"
                                         : "ips has a 0 among its first nr entries";
    bool more = r->nr <= used; /* what is behind nr entries was not written for this sample */
    r->nr = r->nr < used ? r->nr : used;
    if (more) {
        toperf_note(t, TOPERF_BAD_NR);
        return MKPERF_OK;
    }
    return found_in_sample(t, r, TOPERF_BAD_NR, reason);
}

/* Notes times that go back; a lenient reading unwraps them. Times of 32 bits wrap every 4.3 s. */
static uint64_t unwrap_time(struct toperf *t, uint64_t time)
{
    uint64_t last = t->raw_time;

    t->raw_time = time;
    if (t->totals.samples > 0 && time < last && last - time > UINT64_C(1) << 31 &&
        last < UINT64_C(1) << 32) {
        if (t->in->lenient) {
            toperf_note(t, TOPERF_WRAPPED);
            t->wraps++;
        } else {
            toperf_note(t, TOPERF_BACKWARDS);
        }
    } else if (t->totals.samples > 0 && time < last) {
        toperf_note(t, TOPERF_DISORDER);
    }
    return time + (t->wraps << 32);
}

static enum mkperf_status deliver_sample(struct toperf *t, const struct toperf_raw *r, uint32_t pd)
{
    __extension__ typedef unsigned __int128 wide;
    uint64_t time = unwrap_time(t, r->time), hz = t->in->time_hz;
    struct mkperf_sample s = {.time_ns = hz == 0 ? time : (uint64_t)((wide)time * 1000000000 / hz),
                              .period = r->period,
                              .pd = pd,
                              .core = (uint32_t)r->cpu,
                              .pc = r->ip,
                              .callers = &t->chain};

    t->chain.n = (unsigned)r->nr;
    for (unsigned i = 0; i < t->chain.n; i++) {
        t->chain.caller[i] = (struct mkperf_caller){.addr = r->ips[i], .pd = pd};
    }
    if (t->totals.samples++ == 0 || s.time_ns < t->totals.first_ns) {
        t->totals.first_ns = s.time_ns;
    }
    if (s.time_ns > t->totals.last_ns) {
        t->totals.last_ns = s.time_ns;
    }
    return mkperf_sink_sample(t->sink, &s, t->e);
}

/* Reads the sample whose '{' is the current token. */
static enum mkperf_status read_sample(struct toperf *t)
{
    struct toperf_raw r; /* ips is not worth clearing */

    r.place = t->json.place;
    r.bad = false;
    r.seen = r.nips = 0;
    r.cpu = 0;
    MKPERF_TRY(toperf_object(t, member_of_sample, &r));
    if (t->json.cut) { /* the end of the input was reported when it was read */
        return MKPERF_OK;
    }
    MKPERF_TRY(check_members(t, &r));
    if (r.bad) {
        return MKPERF_OK;
    }
    MKPERF_TRY(check_chain(t, &r));
    if (r.period == 0) {
        r.period = 1;
        if (found_in_sample(t, &r, TOPERF_ZERO_PERIOD, "period: 0 stands for nothing") !=
            MKPERF_OK) {
            return t->e->status;
        }
    }
    if (!t->began && toperf_begin(t, r.period) != MKPERF_OK) {
        return t->e->status;
    }
    int64_t pd = toperf_pd_of(t, r.pid);
    if (pd < 0) {
        return t->e->status;
    }
    return deliver_sample(t, &r, (uint32_t)pd);
}

/* ---- the file ---- */

static enum mkperf_status element_sample(struct toperf *t, void *self)
{
    (void)self;
    return t->json.token == MKPERF_JSON_OPEN_OBJECT
               ? read_sample(t)
               : mkperf_json_bad(&t->json, t->e, "expected a sample, an object");
}

/* Reads the mapping that follows the samples, if there is one. The '[' of the samples is the current
 * token before and after. */
static enum mkperf_status find_mapping_ahead(struct toperf *t)
{
    struct mkperf_json_place here = t->json.place;
    unsigned depth = 0;

    do {
        enum mkperf_json_token token = t->json.token;
        depth += token == MKPERF_JSON_OPEN_ARRAY || token == MKPERF_JSON_OPEN_OBJECT;
        depth -= (token == MKPERF_JSON_CLOSE_ARRAY || token == MKPERF_JSON_CLOSE_OBJECT) &&
                 depth > 0;
        if (depth == 0 && token == MKPERF_JSON_STRING &&
            mkperf_json_is(&t->json, "elf_tcb_mappings") &&
            mkperf_json_next(&t->json) == MKPERF_JSON_COLON &&
            mkperf_json_next(&t->json) == MKPERF_JSON_OPEN_OBJECT &&
            toperf_mapping(t) != MKPERF_OK) {
            return t->e->status;
        }
        mkperf_json_next(&t->json);
    } while (!t->has_mapping && t->json.token != MKPERF_JSON_END &&
             t->json.token != MKPERF_JSON_BAD);
    t->looked_ahead = t->has_mapping;
    if (!mkperf_json_seek(&t->json, here)) {
        return mkperf_json_bad(&t->json, t->e, "cannot go back to the samples");
    }
    mkperf_json_next(&t->json);
    return MKPERF_OK;
}

/* Gets a mapping for the samples that follow: that of this file, or else that of the header file. */
static enum mkperf_status need_mapping(struct toperf *t)
{
    if (mkperf_json_tail_has(&t->json, "\"elf_tcb_mappings\"") &&
        find_mapping_ahead(t) != MKPERF_OK) {
        return t->e->status;
    }
    if (!t->has_mapping && toperf_header_file(t) != MKPERF_OK) {
        return t->e->status;
    }
    if (!t->has_mapping) {
        t->has_mapping = true;
        return toperf_found(t, TOPERF_NO_MAPPING,
                            "no elf_tcb_mappings, neither here nor in sample_header.json in the "
                            "build directory");
    }
    return MKPERF_OK;
}

static enum mkperf_status top_member(struct toperf *t, void *self, const char *key)
{
    bool *has_samples = self;

    if (strcmp(key, "elf_tcb_mappings") == 0) {
        if (t->has_mapping) {
            return t->looked_ahead || toperf_found(t, TOPERF_SECOND_MAPPING,
                                                   "elf_tcb_mappings again, or behind the samples "
                                                   "and too far from the end") == MKPERF_OK
                       ? toperf_skip(t)
                       : t->e->status;
        }
        return t->json.token == MKPERF_JSON_OPEN_OBJECT
                   ? toperf_mapping(t)
                   : mkperf_json_bad(&t->json, t->e, "elf_tcb_mappings: expected an object");
    }
    if (strcmp(key, "samples") == 0) {
        *has_samples = true;
        if (t->json.token != MKPERF_JSON_OPEN_ARRAY) {
            return mkperf_json_bad(&t->json, t->e, "samples: expected an array");
        }
        if (!t->has_mapping && need_mapping(t) != MKPERF_OK) {
            return t->e->status;
        }
        return toperf_array(t, element_sample, NULL);
    }
    toperf_note(t, TOPERF_UNKNOWN_KEY);
    return toperf_skip(t);
}

static enum mkperf_status read_strict(struct toperf *t)
{
    bool has_samples = false;

    if (mkperf_json_next(&t->json) == MKPERF_JSON_BAD && t->json.place.offset == 0 &&
        t->json.n >= 3 && memcmp(t->json.buffer, "\xef\xbb\xbf", 3) == 0) {
        t->json.at = 3; /* a byte order mark */
        mkperf_json_next(&t->json);
    }
    if (t->json.token != MKPERF_JSON_OPEN_OBJECT) {
        return mkperf_json_bad(&t->json, t->e,
                               t->json.token == MKPERF_JSON_END ? "the file is empty"
                                                                : "expected an object");
    }
    MKPERF_TRY(toperf_object(t, top_member, &has_samples));
    if (!has_samples) {
        return mkperf_json_bad(&t->json, t->e, "no samples");
    }
    return mkperf_json_next(&t->json) == MKPERF_JSON_END
               ? MKPERF_OK
               : mkperf_json_bad(&t->json, t->e, "something follows the end");
}

/* Reads an object in a lenient reading, which is a whole file or a single sample. Its '{' is the
 * current token. */
static enum mkperf_status lenient_object(struct toperf *t, bool *has_samples)
{
    bool whole =
        mkperf_json_next(&t->json) == MKPERF_JSON_STRING &&
        (mkperf_json_is(&t->json, "samples") || mkperf_json_is(&t->json, "elf_tcb_mappings"));

    if (!whole && !t->has_mapping && need_mapping(t) != MKPERF_OK) {
        return t->e->status;
    }
    mkperf_json_unread(&t->json);
    if (whole) {
        return toperf_object(t, top_member, has_samples);
    }
    *has_samples = true;
    return read_sample(t);
}

/* Reads any text that contains samples, or a whole file. */
static enum mkperf_status read_lenient(struct toperf *t)
{
    bool noise = false, has_samples = false;
    enum mkperf_status status = MKPERF_OK;

    while (status == MKPERF_OK && mkperf_json_next(&t->json) != MKPERF_JSON_END) {
        if (t->json.failed) {
            return mkperf_json_bad(&t->json, t->e, "read error");
        }
        if (t->json.token == MKPERF_JSON_OPEN_OBJECT) {
            noise = false;
            status = lenient_object(t, &has_samples);
        } else if (t->json.token != MKPERF_JSON_COMMA && !noise) {
            noise = true;
            toperf_note(t, TOPERF_NOISE);
        }
    }
    if (status == MKPERF_OK && !has_samples) {
        return mkperf_json_bad(&t->json, t->e, "no samples");
    }
    return status;
}

enum mkperf_status mkperf_toperf_read(const char *path, int fd, const struct mkperf_input *in,
                                      const struct mkperf_sink *sink, struct mkperf_error *e)
{
    struct toperf *t = mkperf_xcalloc(1, sizeof *t);
    struct mkperf_order order;
    const struct mkperf_sink checked = mkperf_sink_in_order(*sink, &order);

    t->in = in;
    t->sink = &checked;
    t->e = e;
    mkperf_json_open(&t->json, path, fd);
    enum mkperf_status status = in->lenient ? read_lenient(t) : read_strict(t);
    if (status == MKPERF_OK && !t->began) {
        status = toperf_begin(t, 0);
    }
    if (status == MKPERF_OK) {
        toperf_warn_of_findings(t);
    }
    status = mkperf_sink_finish(&checked, status, &t->totals, e);
    mkperf_json_close(&t->json);
    toperf_free_pds(t);
    free(t);
    return status;
}
