/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The reader of samples.json, the format of the seL4 profiler.
 *
 * Owns: the file's structure, its PDs and its samples, whose members it checks and delivers to the sink. A lenient reading
 * repairs findings and counts them; a strict one refuses them. json.c owns the tokens. The format's rules are in import.h.
 */
#include "import.h"
#include "json.h"

enum { TOPERF_PDS_MAX = 1024, TOPERF_DEPTH_MAX = 64 };

/* Findings. A strict reading accepts those from TOPERF_ELF on as well. */
enum toperf_finding {
    TOPERF_MISSING_COMMA,
    TOPERF_TRAILING_COMMA,
    TOPERF_UNTERMINATED,
    TOPERF_NOISE,
    TOPERF_HEX_IP,
    TOPERF_BAD_VALUE,
    TOPERF_BAD_NR,
    TOPERF_UNKNOWN_PID,
    TOPERF_ZERO_PERIOD,
    TOPERF_SAME_ID,
    TOPERF_SECOND_MAPPING,
    TOPERF_NO_MAPPING,
    TOPERF_WRAPPED,
    TOPERF_ELF,
    TOPERF_NO_CPU,
    TOPERF_UNKNOWN_KEY,
    TOPERF_BACKWARDS,
    TOPERF_DISORDER,
    TOPERF_FINDINGS,
};

struct toperf {
    struct mkperf_json json;
    const struct mkperf_input *in;
    const struct mkperf_sink *sink;
    struct mkperf_error *e;
    struct {
        uint64_t count;
        struct mkperf_json_place first;
    } finding[TOPERF_FINDINGS];
    struct mkperf_pd *pd;      /* their threads are the pids */
    uint32_t npds, room, last; /* `last` was found last, and is usually wanted next */
    bool has_mapping, looked_ahead, began;
    bool serial; /* commas are missing, as in the log of a serial client */
    struct mkperf_session session;
    struct mkperf_totals totals;
    uint64_t wraps;    /* how often times have wrapped at 2^32 ns */
    uint64_t raw_time; /* the time of the last sample, as the file has it */
    struct mkperf_chain chain;
};

/* ---- findings: text that a strict reading refuses and a lenient one repairs and counts ---- */

static const char *const texts[TOPERF_FINDINGS] = {
    [TOPERF_MISSING_COMMA] = "missing commas put in",
    [TOPERF_TRAILING_COMMA] = "trailing commas ignored",
    [TOPERF_UNTERMINATED] = "the input ends early: closed there, the incomplete part is dropped",
    [TOPERF_NOISE] = "pieces of other text skipped",
    [TOPERF_HEX_IP] = "values of ip read as hexadecimal",
    [TOPERF_BAD_VALUE] = "samples dropped: a value is invalid or missing",
    [TOPERF_BAD_NR] = "samples in which nr and ips disagree: the shorter chain was used",
    [TOPERF_UNKNOWN_PID] = "samples of a pid that is not in elf_tcb_mappings: shown as unknown",
    [TOPERF_ZERO_PERIOD] = "samples with period 0: counted as 1",
    [TOPERF_SAME_ID] = "ELFs with the id of another: ignored",
    [TOPERF_SECOND_MAPPING] = "mappings ignored: there was one before",
    [TOPERF_NO_MAPPING] = "no elf_tcb_mappings: PDs are named after their pid",
    [TOPERF_WRAPPED] = "times wrapped at 2^32 ns: unwrapped",
    [TOPERF_ELF] = "ELFs unusable: their PDs' addresses get no names",
    [TOPERF_NO_CPU] = "samples without cpu: taken as core 0",
    [TOPERF_UNKNOWN_KEY] = "unknown keys ignored",
    [TOPERF_DISORDER] = "samples earlier than the one before: left so, but in perf.data",
    [TOPERF_BACKWARDS] = "times jump back by more than 2 s: wrapped? --lenient unwraps",
};

/* Counts a finding that is no error in a strict reading either. */
static void toperf_note(struct toperf *t, enum toperf_finding what)
{
    if (t->finding[what].count++ == 0) {
        t->finding[what].first = t->json.place;
    }
}

/* Counts a finding. In a strict reading it is an error, with `reason`. */
static enum mkperf_status toperf_found(struct toperf *t, enum toperf_finding what,
                                       const char *reason)
{
    if (!t->in->lenient && what < TOPERF_ELF) {
        return mkperf_json_bad(&t->json, t->e, "%s (--lenient continues)", reason);
    }
    toperf_note(t, what);
    return MKPERF_OK;
}

/* Warns of each kind of finding, with its place and its number. */
static void toperf_warn_of_findings(const struct toperf *t)
{
    char line[512];

    for (unsigned i = 0; i < TOPERF_FINDINGS && t->in->warn != NULL; i++) {
        const struct mkperf_json_place *p = &t->finding[i].first;
        if (t->finding[i].count > 0) {
            bool one = t->finding[i].count == 1 && strncmp(texts[i], "samples ", 8) == 0;
            snprintf(line, sizeof line, "%s:%" PRIu64 ":%" PRIu64 ": %" PRIu64 " %s%s",
                     t->json.path, p->line, p->offset - p->line_start + 1, t->finding[i].count,
                     one ? "sample" : "", texts[i] + (one ? strlen("samples") : 0));
            t->in->warn(t->in->self, line);
        }
    }
}

/*
 * Goes to the token that begins the next member or element, past the comma before it. Sets *done at
 * the end of the object or array.
 */
static enum mkperf_status next_item(struct toperf *t, bool first, enum mkperf_json_token close,
                                    bool *done)
{
    enum mkperf_json_token token = mkperf_json_next(&t->json);
    bool comma = false;

    while (!first && token == MKPERF_JSON_COMMA && !comma) {
        comma = true;
        token = mkperf_json_next(&t->json);
    }
    if (token == MKPERF_JSON_END) {
        t->json.cut = *done = true;
        return toperf_found(t, TOPERF_UNTERMINATED,
                            close == MKPERF_JSON_CLOSE_OBJECT ? "the file ends inside an object"
                                                              : "the file ends inside an array");
    }
    if (token == close) {
        *done = true;
        return comma ? toperf_found(t, TOPERF_TRAILING_COMMA, "a comma and nothing after it")
                     : MKPERF_OK;
    }
    if (!first && !comma) {
        t->serial |= close == MKPERF_JSON_CLOSE_OBJECT;
        return toperf_found(t, TOPERF_MISSING_COMMA, "expected a comma or the end");
    }
    return MKPERF_OK;
}

/*
 * Calls `member` for each member of the object whose '{' is the current token. At each call the value
 * is the current token. A key is cut at 1023 bytes. Ends after '}', or with json.cut at the end of the input.
 */
static enum mkperf_status toperf_object(struct toperf *t,
                                        enum mkperf_status (*member)(struct toperf *t, void *self,
                                                                     const char *key),
                                        void *self)
{
    char key[1024];
    bool done = false;

    for (bool first = true;; first = false) {
        MKPERF_TRY(next_item(t, first, MKPERF_JSON_CLOSE_OBJECT, &done));
        if (done) {
            return MKPERF_OK;
        }
        if (t->json.token != MKPERF_JSON_STRING) {
            return mkperf_json_bad(&t->json, t->e, "expected a key in quotes");
        }
        snprintf(key, sizeof key, "%.*s", (int)t->json.length, t->json.text);
        if (mkperf_json_next(&t->json) != MKPERF_JSON_COLON) {
            return mkperf_json_bad(&t->json, t->e, "expected a colon after the key");
        }
        mkperf_json_next(&t->json);
        MKPERF_TRY(member(t, self, key));
    }
}

/* Calls `element` for each element of the array, as toperf_object does for members. */
static enum mkperf_status toperf_array(struct toperf *t,
                                       enum mkperf_status (*element)(struct toperf *t, void *self),
                                       void *self)
{
    bool done = false;

    for (bool first = true;; first = false) {
        MKPERF_TRY(next_item(t, first, MKPERF_JSON_CLOSE_ARRAY, &done));
        if (done) {
            return MKPERF_OK;
        }
        MKPERF_TRY(element(t, self));
    }
}

/* Skips the current value. */
static enum mkperf_status toperf_skip(struct toperf *t)
{
    unsigned depth = 0;

    for (;;) {
        switch (t->json.token) {
        case MKPERF_JSON_OPEN_OBJECT:
        case MKPERF_JSON_OPEN_ARRAY:
            if (++depth > TOPERF_DEPTH_MAX) {
                return mkperf_json_bad(&t->json, t->e, "nested too deeply");
            }
            break;
        case MKPERF_JSON_CLOSE_OBJECT:
        case MKPERF_JSON_CLOSE_ARRAY:
            if (depth-- == 0) {
                return mkperf_json_bad(&t->json, t->e, "expected a value");
            }
            break;
        case MKPERF_JSON_END:
            return toperf_found(t, TOPERF_UNTERMINATED, "the file ends inside a value");
        case MKPERF_JSON_BAD:
            return mkperf_json_bad(&t->json, t->e, "expected a value");
        default:
            break;
        }
        if (depth == 0) {
            return MKPERF_OK;
        }
        mkperf_json_next(&t->json);
    }
}

/* Stores the current token, a word or a string, as a number. Returns why it is none, NULL if it is one. */
static const char *toperf_number(const struct mkperf_json *j, uint64_t *out)
{
    uint64_t v = 0;

    if ((j->token != MKPERF_JSON_WORD && j->token != MKPERF_JSON_STRING) || j->length == 0) {
        return "expected a number";
    }
    for (size_t i = 0; i < j->length; i++) {
        unsigned digit = (unsigned char)j->text[i] - (unsigned)'0';
        if (digit > 9) {
            return i == 0 && j->text[i] == '-' ? "a negative number" : "not a decimal integer";
        }
        if (v > UINT64_MAX / 10 || v * 10 > UINT64_MAX - digit) {
            return "a number beyond 64 bits";
        }
        v = v * 10 + digit;
    }
    *out = v;
    return NULL;
}

/*
 * ---- elf_tcb_mappings, and the PDs made of them. A PD is named after its ELF, without directory and ".elf". If two PDs run
 * the same ELF, "#id" is appended to the later ones. ----
 */

static int64_t find_pd(struct toperf *t, uint64_t pid)
{
    if (t->last < t->npds && t->pd[t->last].thread == pid) {
        return t->last;
    }
    for (uint32_t i = 0; i < t->npds; i++) {
        if (t->pd[i].thread == pid) {
            t->last = i;
            return i;
        }
    }
    return -1;
}

/* Takes name and elf. */
static void append_pd(struct toperf *t, uint64_t pid, char *name, char *elf)
{
    MKPERF_GROW(t->pd, t->room, (size_t)t->npds + 1);
    t->pd[t->npds] = (struct mkperf_pd){.thread = pid, .id = t->npds, .name = name, .elf = elf};
    t->npds++;
}

/* Returns why a name is not that of a file below the build directory, or NULL if it is. */
static const char *bad_name(const char *name)
{
    if (*name == '\0' || strlen(name) > 1000) {
        return "elf_tcb_mappings: not a file name";
    }
    if (name[0] == '/') {
        return "elf_tcb_mappings: an absolute file name";
    }
    for (; *name != '\0'; name += strcspn(name, "/"), name += *name == '/') {
        if (strncmp(name, "..", 2) == 0 && (name[2] == '\0' || name[2] == '/')) {
            return "elf_tcb_mappings: a file name that leaves the build directory";
        }
    }
    return NULL;
}

static char *pd_name(const struct toperf *t, const char *file, uint64_t pid)
{
    const char *base = basename(file);
    size_t n = strlen(base);

    if (n > 4 && strcmp(base + n - 4, ".elf") == 0) {
        n -= 4;
    }
    char *name = mkperf_xprintf("%.*s", (int)n, base);
    for (uint32_t i = 0; i < t->npds; i++) {
        if (strcmp(t->pd[i].name, name) == 0) {
            free(name);
            return mkperf_xprintf("%.*s#%" PRIu64, (int)n, base, pid);
        }
    }
    return name;
}

static enum mkperf_status member_of_mapping(struct toperf *t, void *self, const char *file)
{
    uint64_t pid = 0;
    const char *reason = toperf_number(&t->json, &pid);
    char *elf;

    (void)self;
    if (reason == NULL && pid > UINT32_MAX) {
        reason = "an id beyond 32 bits";
    }
    reason = reason != NULL ? reason : bad_name(file);
    reason = reason != NULL || t->npds < TOPERF_PDS_MAX ? reason : "more than 1024 PDs";
    if (reason != NULL) {
        return mkperf_json_bad(&t->json, t->e, "%s", reason);
    }
    if (find_pd(t, pid) >= 0) {
        return toperf_found(t, TOPERF_SAME_ID, "two ELFs with the same id");
    }
    elf = t->in->build_dir != NULL ? mkperf_xprintf("%s/%s", t->in->build_dir, file) : NULL;
    if (elf != NULL && access(elf, R_OK) != 0) {
        if (!t->in->lenient) {
            mkperf_error_set(t->e, MKPERF_ERR_INPUT, "%s: %s (elf_tcb_mappings names it)", elf,
                             strerror(errno));
            free(elf);
            return t->e->status;
        }
        toperf_note(t, TOPERF_ELF);
        free(elf);
        elf = NULL;
    }
    append_pd(t, pid, pd_name(t, file, pid), elf);
    return MKPERF_OK;
}

/* Reads the mapping from the current object. */
static enum mkperf_status toperf_mapping(struct toperf *t)
{
    t->has_mapping = true;
    return toperf_object(t, member_of_mapping, NULL);
}

static enum mkperf_status member_of_header(struct toperf *t, void *self, const char *key)
{
    (void)self;
    if (strcmp(key, "elf_tcb_mappings") == 0 && t->json.token == MKPERF_JSON_OPEN_OBJECT &&
        !t->has_mapping) {
        return toperf_mapping(t);
    }
    toperf_note(t, TOPERF_UNKNOWN_KEY);
    return toperf_skip(t);
}

/* Reads the mapping from sample_header.json in the build directory, if that exists. */
static enum mkperf_status toperf_header_file(struct toperf *t)
{
    struct mkperf_json samples = t->json;
    enum mkperf_status status;
    if (t->in->build_dir == NULL) {
        return MKPERF_OK;
    }
    char *path = mkperf_xprintf("%s/sample_header.json", t->in->build_dir);
    int fd = open(path, O_RDONLY | O_CLOEXEC);
    if (fd < 0) {
        status = errno == ENOENT || errno == ENOTDIR
                     ? MKPERF_OK
                     : mkperf_error_set(t->e, MKPERF_ERR_INPUT, "%s: %s", path, strerror(errno));
        free(path);
        return status;
    }
    mkperf_json_open(&t->json, path, fd);
    status = mkperf_json_next(&t->json) == MKPERF_JSON_OPEN_OBJECT
                 ? toperf_object(t, member_of_header, NULL)
                 : mkperf_json_bad(&t->json, t->e, "expected an object");
    if (status == MKPERF_OK && !t->has_mapping) {
        status = mkperf_json_bad(&t->json, t->e, "no elf_tcb_mappings");
    }
    mkperf_json_close(&t->json);
    t->json = samples;
    free(path);
    return status;
}

/* Announces PD i to the sink, with its ELF if that can be used. */
static enum mkperf_status announce_pd(struct toperf *t, struct mkperf_symbols *symbols, uint32_t i)
{
    struct mkperf_pd pd = t->pd[i];
    struct mkperf_module *module;
    struct mkperf_error why;

    if (pd.elf != NULL && mkperf_symbols_module(symbols, pd.elf, &module, &why) != MKPERF_OK) {
        pd.elf = NULL;
        toperf_note(t, TOPERF_ELF);
        if (t->in->warn != NULL) {
            t->in->warn(t->in->self, why.text);
        }
    }
    return mkperf_sink_pd(t->sink, &pd, t->e);
}

/* Begins the sink's recording, and announces the PDs of the mapping. */
static enum mkperf_status toperf_begin(struct toperf *t, uint64_t period)
{
    t->began = true;
    t->session = (struct mkperf_session){
        .platform = "microkit",
        .unverified = "samples.json does not show which build of a program ran",
        .cpu = "",
        .cores = 1,
        .nevents = 1,
        .max_frames = MKPERF_DEFAULT_FRAMES,
        .command = t->in->command};
    t->session.event[0] =
        (struct mkperf_event){.name = "cycles", .code = 0x11, .user = true, .period = period};
    MKPERF_TRY(mkperf_sink_begin(t->sink, &t->session, t->e));
    struct mkperf_symbols *symbols = mkperf_symbols_new();
    enum mkperf_status status = MKPERF_OK;

    for (uint32_t i = 0; status == MKPERF_OK && i < t->npds; i++) {
        status = announce_pd(t, symbols, i);
    }
    mkperf_symbols_free(symbols);
    return status;
}

/* Returns the PD of a pid. In a lenient reading it may be a new one. Returns -1 with the reason in *t->e if there is none. */
static int64_t toperf_pd_of(struct toperf *t, uint64_t pid)
{
    int64_t i = find_pd(t, pid);
    char reason[96];

    if (i >= 0) {
        return i;
    }
    snprintf(reason, sizeof reason, "pid %" PRIu64 " is not in elf_tcb_mappings", pid);
    if (t->npds == TOPERF_PDS_MAX) {
        mkperf_json_bad(&t->json, t->e, "more than 1024 PDs");
        return -1;
    }
    if (toperf_found(t, TOPERF_UNKNOWN_PID, reason) != MKPERF_OK) {
        return -1;
    }
    append_pd(t, pid, mkperf_xprintf("unknown-%" PRIx64, pid), NULL);
    return announce_pd(t, NULL, t->npds - 1) == MKPERF_OK ? (int64_t)t->npds - 1 : -1;
}

/* ---- a sample ---- */

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

/* Reads an ip leniently: it is hexadecimal if it has a letter, or if it is of a serial client's log. */
static bool lenient_ip(struct toperf *t, uint64_t *out)
{
    const struct mkperf_json *j = &t->json;
    uint64_t decimal;

    if (!t->in->lenient || (j->token != MKPERF_JSON_WORD && j->token != MKPERF_JSON_STRING) ||
        (!t->serial && toperf_number(j, &decimal) == NULL)) {
        return false;
    }
    size_t i = j->length > 2 && j->text[0] == '0' && (j->text[1] | 0x20) == 'x' ? 2 : 0;
    bool any = i < j->length && j->length - i <= 16;
    for (*out = 0; any && i < j->length; i++) {
        unsigned digit = mkperf_digit(j->text[i]);
        any = digit < 16;
        *out = *out << 4 | (digit & 15);
    }
    if (any) {
        toperf_note(t, TOPERF_HEX_IP);
    }
    return any;
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

static enum mkperf_status deliver_sample(struct toperf *t, const struct toperf_raw *r, uint32_t pd)
{
    __extension__ typedef unsigned __int128 wide;
    bool back = t->totals.samples > 0 && r->time < t->raw_time;
    bool wrapped = back && t->raw_time - r->time > UINT64_C(1) << 31 &&
                   t->raw_time < UINT64_C(1) << 32; /* 32 bits wrap every 4.3 s */

    if (back) {
        toperf_note(t, !wrapped         ? TOPERF_DISORDER
                       : t->in->lenient ? TOPERF_WRAPPED
                                        : TOPERF_BACKWARDS);
    }
    t->wraps += wrapped && t->in->lenient;
    t->raw_time = r->time;
    uint64_t time = r->time + (t->wraps << 32), hz = t->in->time_hz;
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
            noise = false; /* it is a whole file or a single sample */
            bool whole = mkperf_json_next(&t->json) == MKPERF_JSON_STRING &&
                         (mkperf_json_is(&t->json, "samples") ||
                          mkperf_json_is(&t->json, "elf_tcb_mappings"));
            if (!whole && !t->has_mapping && need_mapping(t) != MKPERF_OK) {
                return t->e->status;
            }
            mkperf_json_unread(&t->json);
            has_samples |= !whole;
            status = whole ? toperf_object(t, top_member, &has_samples) : read_sample(t);
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
    for (uint32_t i = 0; i < t->npds; i++) {
        mkperf_shape_free(mkperf_pd_rows, &t->pd[i]);
    }
    free(t->pd);
    free(t);
    return status;
}
