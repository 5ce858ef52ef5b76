/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The reader of samples.json, the format of the seL4 profiler.
 *
 * Owns: the tokens of the file, its structure, its PDs and its samples, whose members it checks and delivers to the sink. A lenient
 * reading repairs findings and counts them; a strict one refuses them. The format's rules are in import.h.
 */
#include "import.h"

#include <jansson.h>

enum {
    TOPERF_PDS_MAX = 1024,
    TOPERF_TOKEN_MAX = 4095, /* bytes of a string or word */
    TOPERF_TAIL = 1024 * 1024,
};

/* Tokens. One of {}[]:, is its own number. */
enum { TOKEN_END, TOKEN_STRING, TOKEN_WORD, TOKEN_BAD };

struct toperf_place {
    uint64_t offset, line, line_start; /* bytes from the beginning of the input; lines from 1 */
};

/* A file of JSON as a stream of tokens. Numbers, true, false and null are words. The tokens do not interpret them. */
struct toperf_json {
    const char *path; /* the path that messages name */
    FILE *f;
    struct toperf_place at;    /* the place of the next byte */
    struct toperf_place place; /* the place of the current token */
    int token;
    bool again;         /* the current token is the next one, too */
    bool cut;           /* the input ended inside an object or an array, in a lenient reading */
    const char *reason; /* why a token is TOKEN_BAD; NULL: an unexpected character */
    char text[TOPERF_TOKEN_MAX + 2]; /* of a string or word */
};

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
    struct toperf_json json;
    const struct mkperf_input *in;
    const struct mkperf_sink *sink;
    struct mkperf_error *e;
    struct {
        uint64_t count;
        struct toperf_place first;
    } finding[TOPERF_FINDINGS];
    struct mkperf_hash pids; /* the number of a pid is that of its PD */
    struct mkperf_pd *pd;
    uint32_t room;
    bool has_mapping, began;
    uint64_t size; /* of a regular file; else 0 */
    /* The offset of a mapping that follows the samples and was read before them; else 0. */
    uint64_t ahead;
    bool serial; /* commas are missing, as in the log of a serial client */
    struct mkperf_session session;
    struct mkperf_totals totals;
    uint64_t wraps;    /* how often times have wrapped at 2^32 ns */
    uint64_t raw_time; /* the time of the last sample, as the file has it */
    struct mkperf_chain chain;
};

/* ---- tokens ---- */

static int bad_token(struct toperf_json *j, const char *reason)
{
    j->reason = reason;
    return j->token = TOKEN_BAD;
}

/* Reads the rest of a string. */
static int read_string(struct toperf_json *j)
{
    bool escaped = false;
    size_t n = 0;
    int c;

    while ((c = getc_unlocked(j->f)) >= ' ' && c != '"' && n < TOPERF_TOKEN_MAX) {
        j->text[n++] = (char)c;
        if (c == '\\') {
            escaped = true;
            if ((c = getc_unlocked(j->f)) < ' ') {
                break;
            }
            j->text[n++] = (char)c;
        }
    }
    j->text[n] = '\0';
    j->at.offset += n + (c == '"');
    if (c != '"') {
        (void)ungetc(c, j->f);
        return bad_token(j, n >= TOPERF_TOKEN_MAX ? "a string longer than 4095 bytes"
                                                  : "a string without its closing quote");
    }
    if (escaped) {
        char *quoted = mkperf_xprintf("\"%s\"", j->text);
        json_t *string = json_loads(quoted, JSON_DECODE_ANY, NULL);
        free(quoted);
        if (string == NULL) {
            return bad_token(j, "an escape that does not exist");
        }
        snprintf(j->text, sizeof j->text, "%s", json_string_value(string));
        json_decref(string);
    }
    return j->token = TOKEN_STRING;
}

static int next_token(struct toperf *t)
{
    struct toperf_json *j = &t->json;
    size_t n = 0;
    int c;

    if (j->again) {
        j->again = false;
        return j->token;
    }
    while ((c = getc_unlocked(j->f)) == ' ' || c == '\n' || c == '\r' || c == '\t') {
        j->at.offset++;
        if (c == '\n') {
            j->at.line++;
            j->at.line_start = j->at.offset;
        }
    }
    j->place = j->at;
    if (c == EOF) {
        return ferror(j->f) ? bad_token(j, strerror(errno)) : (j->token = TOKEN_END);
    }
    j->at.offset++;
    if (c == '{' || c == '}' || c == '[' || c == ']' || c == ':' || c == ',') {
        return j->token = c;
    }
    if (c == '"') {
        return read_string(j);
    }
    j->text[0] = (char)c;
    while (n < TOPERF_TOKEN_MAX && (isalnum(c) || c == '.' || c == '-' || c == '+' || c == '_')) {
        j->text[n++] = (char)c;
        c = getc_unlocked(j->f);
    }
    if (n == 0) {
        return bad_token(j, NULL);
    }
    (void)ungetc(c, j->f);
    j->at.offset += n - 1;
    j->text[n] = '\0';
    return n == TOPERF_TOKEN_MAX ? bad_token(j, "a word longer than 4094 bytes")
                                 : (j->token = TOKEN_WORD);
}

/* Sets the error MKPERF_ERR_INPUT "path:line:column: reason" for the current token. */
static enum mkperf_status toperf_bad(const struct toperf *t, const char *reason)
{
    const struct toperf_json *j = &t->json;

    return mkperf_error_set(t->e, MKPERF_ERR_INPUT, "%s:%" PRIu64 ":%" PRIu64 ": %s", j->path,
                            j->place.line, j->place.offset - j->place.line_start + 1,
                            j->token == TOKEN_BAD && j->reason != NULL ? j->reason : reason);
}

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
        char text[256];
        snprintf(text, sizeof text, "%s (--lenient continues)", reason);
        return toperf_bad(t, text);
    }
    toperf_note(t, what);
    return MKPERF_OK;
}

/* Warns of each kind of finding, with its place and its number. */
static void toperf_warn_of_findings(const struct toperf *t)
{
    char line[512];

    for (unsigned i = 0; i < TOPERF_FINDINGS && t->in->pds.warn != NULL; i++) {
        const struct toperf_place *p = &t->finding[i].first;
        if (t->finding[i].count > 0) {
            bool one = t->finding[i].count == 1 && strncmp(texts[i], "samples ", 8) == 0;
            snprintf(line, sizeof line, "%s:%" PRIu64 ":%" PRIu64 ": %" PRIu64 " %s%s",
                     t->json.path, p->line, p->offset - p->line_start + 1, t->finding[i].count,
                     one ? "sample" : "", texts[i] + (one ? strlen("samples") : 0));
            t->in->pds.warn(t->in->pds.self, line);
        }
    }
}

/* ---- objects and arrays ---- */

typedef enum mkperf_status toperf_item(struct toperf *t, void *self, const char *key);

/*
 * Calls `item` for each member of the object, or element of the array, that begins with the current token. At each call its value
 * is the current token. key: cut at 1023 bytes; "" for an element. Ends after `close`, or with json.cut at the end of the input.
 */
static enum mkperf_status each_item(struct toperf *t, int close, toperf_item *item, void *self)
{
    char key[1024] = "";

    for (bool first = true;; first = false) {
        bool comma = next_token(t) == ',' && !first;
        if (comma) {
            next_token(t);
        }
        if (t->json.token == TOKEN_END) {
            t->json.cut = true;
            return toperf_found(t, TOPERF_UNTERMINATED,
                                close == '}' ? "the file ends inside an object"
                                             : "the file ends inside an array");
        }
        if (t->json.token == close) {
            return comma ? toperf_found(t, TOPERF_TRAILING_COMMA, "a comma and nothing after it")
                         : MKPERF_OK;
        }
        if (!first && !comma) {
            t->serial |= close == '}';
            MKPERF_TRY(toperf_found(t, TOPERF_MISSING_COMMA, "expected a comma or the end"));
        }
        if (close == '}') {
            if (t->json.token != TOKEN_STRING) {
                return toperf_bad(t, "expected a key in quotes");
            }
            snprintf(key, sizeof key, "%.1023s", t->json.text);
            if (next_token(t) != ':') {
                return toperf_bad(t, "expected a colon after the key");
            }
            next_token(t);
        }
        MKPERF_TRY(item(t, self, key));
    }
}

/* Skips the current value, whatever tokens are in it. */
static enum mkperf_status toperf_skip(struct toperf *t)
{
    for (unsigned depth = 0;; next_token(t)) {
        int token = t->json.token;
        bool closes = token == '}' || token == ']';

        if (token == TOKEN_END) {
            return toperf_found(t, TOPERF_UNTERMINATED, "the file ends inside a value");
        }
        if (token == TOKEN_BAD || (closes && depth == 0)) {
            return toperf_bad(t, "expected a value");
        }
        depth += token == '{' || token == '[';
        depth -= closes;
        if (depth == 0) {
            return MKPERF_OK;
        }
    }
}

/* Stores the current token, a word or a string, as a number to base 10 or 16. Returns why it is none, NULL if it is one. */
static const char *toperf_number(const struct toperf_json *j, int base, uint64_t *out)
{
    char *end;

    if ((j->token != TOKEN_WORD && j->token != TOKEN_STRING) || j->text[0] == '\0') {
        return "expected a number";
    }
    errno = 0;
    uint64_t number = strtoull(j->text, &end, base);
    if (!isxdigit((unsigned char)j->text[0]) || *end != '\0') {
        return j->text[0] == '-' ? "a negative number" : "not a decimal integer";
    }
    *out = number;
    return errno == ERANGE ? "a number beyond 64 bits" : NULL;
}

/*
 * ---- elf_tcb_mappings, and the PDs made of them. A PD is named after its ELF, without directory and ".elf". If two PDs run
 * the same ELF, "#id" is appended to the later ones. ----
 */

/* Takes name and elf. */
static void append_pd(struct toperf *t, uint64_t pid, char *name, char *elf)
{
    uint32_t id = mkperf_hash_number(&t->pids, &pid, 1);

    MKPERF_GROW(t->pd, t->room, (size_t)id + 1);
    t->pd[id] = (struct mkperf_pd){.thread = pid, .id = id, .name = name, .elf = elf};
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
    for (uint32_t i = 0; i < t->pids.count; i++) {
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
    const char *reason = toperf_number(&t->json, 10, &pid);
    char *elf;

    (void)self;
    if (reason == NULL && pid > UINT32_MAX) {
        reason = "an id beyond 32 bits";
    }
    reason = reason != NULL ? reason : bad_name(file);
    reason = reason != NULL || t->pids.count < TOPERF_PDS_MAX ? reason : "more than 1024 PDs";
    if (reason != NULL) {
        return toperf_bad(t, reason);
    }
    if (mkperf_hash_find(&t->pids, &pid, 1) >= 0) {
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
    return each_item(t, '}', member_of_mapping, NULL);
}

static enum mkperf_status member_of_header(struct toperf *t, void *self, const char *key)
{
    (void)self;
    if (strcmp(key, "elf_tcb_mappings") == 0 && t->json.token == '{' && !t->has_mapping) {
        return toperf_mapping(t);
    }
    toperf_note(t, TOPERF_UNKNOWN_KEY);
    return toperf_skip(t);
}

/* Reads the mapping from sample_header.json in the build directory, if that exists. */
static enum mkperf_status toperf_header_file(struct toperf *t)
{
    const struct toperf_json samples = t->json;
    enum mkperf_status status = MKPERF_OK;

    if (t->in->build_dir == NULL) {
        return MKPERF_OK;
    }
    char *path = mkperf_xprintf("%s/sample_header.json", t->in->build_dir);
    FILE *f = fopen(path, "re");
    if (f != NULL) {
        t->json = (struct toperf_json){.path = path, .f = f, .at = {.line = 1}};
        status = next_token(t) == '{' ? each_item(t, '}', member_of_header, NULL)
                                      : toperf_bad(t, "expected an object");
        if (status == MKPERF_OK && !t->has_mapping) {
            status = toperf_bad(t, "no elf_tcb_mappings");
        }
        (void)fclose(f);
        t->json = samples;
    } else if (errno != ENOENT && errno != ENOTDIR) {
        status = mkperf_error_set(t->e, MKPERF_ERR_INPUT, "%s: %s", path, strerror(errno));
    }
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
        if (t->in->pds.warn != NULL) {
            t->in->pds.warn(t->in->pds.self, why.text);
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

    for (uint32_t i = 0; status == MKPERF_OK && i < t->pids.count; i++) {
        status = announce_pd(t, symbols, i);
    }
    mkperf_symbols_free(symbols);
    return status;
}

/* Returns the PD of a pid. In a lenient reading it may be a new one. Returns -1 with the reason in *t->e if there is none. */
static int64_t toperf_pd_of(struct toperf *t, uint64_t pid)
{
    int64_t i = mkperf_hash_find(&t->pids, &pid, 1);
    char reason[96];

    if (i >= 0) {
        return i;
    }
    snprintf(reason, sizeof reason, "pid %" PRIu64 " is not in elf_tcb_mappings", pid);
    if (t->pids.count == TOPERF_PDS_MAX) {
        toperf_bad(t, "more than 1024 PDs");
        return -1;
    }
    if (toperf_found(t, TOPERF_UNKNOWN_PID, reason) != MKPERF_OK) {
        return -1;
    }
    append_pd(t, pid, mkperf_xprintf("unknown-%" PRIx64, pid), NULL);
    return announce_pd(t, NULL, t->pids.count - 1) == MKPERF_OK ? (int64_t)t->pids.count - 1 : -1;
}

/* ---- a sample ---- */

enum toperf_member {
    TOPERF_IP,
    TOPERF_PID,
    TOPERF_TIME,
    TOPERF_NR,
    TOPERF_IPS,
    TOPERF_PERIOD,
    TOPERF_CPU,
    TOPERF_MEMBERS
};
static const char *const members[TOPERF_MEMBERS] = {"ip",  "pid",    "time", "nr",
                                                    "ips", "period", "cpu"};

/* A sample as the file has it. */
struct toperf_raw {
    struct toperf_place place;      /* the place of its '{' */
    unsigned seen;                  /* a bit for each member that it has */
    bool bad;                       /* a value was invalid: a lenient reading drops the sample */
    uint64_t value[TOPERF_MEMBERS]; /* not that of TOPERF_IPS */
    unsigned nips;
    uint64_t ips[MKPERF_MAX_FRAMES];
};

/* Reads an ip leniently: it is hexadecimal if it has a letter, or if it is of a serial client's log. */
static bool lenient_ip(struct toperf *t, uint64_t *out)
{
    bool hex = t->in->lenient && (t->serial || toperf_number(&t->json, 10, out) != NULL) &&
               toperf_number(&t->json, 16, out) == NULL;

    if (hex) {
        toperf_note(t, TOPERF_HEX_IP);
    }
    return hex;
}

/* Reports an invalid value: an error, except in a lenient reading, which drops the sample. */
static enum mkperf_status bad_value(struct toperf *t, struct toperf_raw *r, const char *key,
                                    const char *reason)
{
    char text[1200];

    if (!t->in->lenient) {
        snprintf(text, sizeof text, "%s: %s", key, reason);
        return toperf_bad(t, text);
    }
    r->bad = true;
    return toperf_skip(t);
}

static enum mkperf_status element_ip(struct toperf *t, void *self, const char *key)
{
    struct toperf_raw *r = self;
    uint64_t v = 0;
    const char *reason = toperf_number(&t->json, 10, &v);

    (void)key;
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
    size_t i = mkperf_named(members, TOPERF_MEMBERS, sizeof *members, key);

    if (i == TOPERF_MEMBERS) {
        toperf_note(t, TOPERF_UNKNOWN_KEY);
        return toperf_skip(t);
    }
    if (r->seen >> i & 1) {
        return bad_value(t, r, key, "twice in one sample");
    }
    r->seen |= 1U << i;
    if (i == TOPERF_IPS) {
        return t->json.token == '[' ? each_item(t, ']', element_ip, r)
                                    : bad_value(t, r, key, "expected an array");
    }
    if (i == TOPERF_IP && lenient_ip(t, &r->value[i])) {
        return MKPERF_OK;
    }
    const char *reason = toperf_number(&t->json, 10, &r->value[i]);
    return reason == NULL ? MKPERF_OK : bad_value(t, r, key, reason);
}

/* Checks that ips has nr addresses, and then only zeros. */
static enum mkperf_status check_chain(struct toperf *t, struct toperf_raw *r)
{
    uint64_t *nr = &r->value[TOPERF_NR];
    unsigned used = 0, last = r->nips;

    while (used < r->nips && r->ips[used] != 0) {
        used++;
    }
    while (last > 0 && r->ips[last - 1] == 0) {
        last--;
    }
    if (*nr == used && last == used) {
        return MKPERF_OK;
    }
    const char *reason = *nr > r->nips ? "nr is more than ips has"
                                       : "ips has a 0 among its first nr entries";
    if (*nr <= used) { /* what is behind nr entries was not written for this sample */
        toperf_note(t, TOPERF_BAD_NR);
        return MKPERF_OK;
    }
    *nr = used;
    return toperf_found(t, TOPERF_BAD_NR, reason);
}

static enum mkperf_status deliver_sample(struct toperf *t, const struct toperf_raw *r, uint32_t pd)
{
    __extension__ typedef unsigned __int128 wide;
    const uint64_t *value = r->value;
    bool back = t->totals.samples > 0 && value[TOPERF_TIME] < t->raw_time;
    bool wrapped = back && t->raw_time - value[TOPERF_TIME] > UINT64_C(1) << 31 &&
                   t->raw_time < UINT64_C(1) << 32; /* 32 bits wrap every 4.3 s */

    if (back) {
        toperf_note(t, !wrapped         ? TOPERF_DISORDER
                       : t->in->lenient ? TOPERF_WRAPPED
                                        : TOPERF_BACKWARDS);
    }
    t->wraps += wrapped && t->in->lenient;
    t->raw_time = value[TOPERF_TIME];
    uint64_t time = value[TOPERF_TIME] + (t->wraps << 32), hz = t->in->time_hz;
    struct mkperf_sample s = {.time_ns = hz == 0 ? time : (uint64_t)((wide)time * 1000000000 / hz),
                              .period = value[TOPERF_PERIOD],
                              .pd = pd,
                              .core = (uint32_t)value[TOPERF_CPU],
                              .pc = value[TOPERF_IP],
                              .callers = &t->chain};

    t->chain.n = (unsigned)value[TOPERF_NR];
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

/* Reads the sample whose '{' is the current token, or whose first key is the next one again. */
static enum mkperf_status read_sample(struct toperf *t)
{
    struct toperf_raw r; /* ips is not worth clearing */
    const char *problem = NULL;
    char text[64];

    r.place = t->json.place;
    r.bad = false;
    r.seen = r.nips = 0;
    r.value[TOPERF_CPU] = 0;
    MKPERF_TRY(each_item(t, '}', member_of_sample, &r));
    if (t->json.cut) { /* the end of the input was reported when it was read */
        return MKPERF_OK;
    }
    t->json.place = r.place; /* what follows is about the sample as a whole */
    for (unsigned i = 0; !r.bad && problem == NULL && i < TOPERF_MEMBERS; i++) {
        if (!(r.seen >> i & 1) && i == TOPERF_CPU) {
            toperf_note(t, TOPERF_NO_CPU);
        } else if (!(r.seen >> i & 1)) {
            snprintf(text, sizeof text, "a sample without %s", members[i]);
            problem = text;
        }
    }
    problem = r.bad                                       ? ""
              : problem != NULL                           ? problem
              : r.value[TOPERF_CPU] >= MKPERF_MODEL_CORES ? "no core has such a number"
              : r.value[TOPERF_PID] > UINT32_MAX          ? "pid: beyond 32 bits"
                                                          : NULL;
    if (problem != NULL) {
        return toperf_found(t, TOPERF_BAD_VALUE, problem);
    }
    MKPERF_TRY(check_chain(t, &r));
    if (r.value[TOPERF_PERIOD] == 0) {
        r.value[TOPERF_PERIOD] = 1;
        MKPERF_TRY(toperf_found(t, TOPERF_ZERO_PERIOD, "period: 0 stands for nothing"));
    }
    if (!t->began) {
        MKPERF_TRY(toperf_begin(t, r.value[TOPERF_PERIOD]));
    }
    int64_t pd = toperf_pd_of(t, r.value[TOPERF_PID]);
    return pd >= 0 ? deliver_sample(t, &r, (uint32_t)pd) : t->e->status;
}

/* ---- the file ---- */

static enum mkperf_status element_sample(struct toperf *t, void *self, const char *key)
{
    (void)self;
    (void)key;
    mkperf_progress(MKPERF_BYTES, (double)t->json.place.offset, (double)t->size);
    return t->json.token == '{' ? read_sample(t) : toperf_bad(t, "expected a sample, an object");
}

/* Reads the mapping that follows the samples, if there is one near the end of the file. The current token stays. */
static enum mkperf_status find_mapping_ahead(struct toperf *t)
{
    static const char key[] = "\"elf_tcb_mappings\"";
    const struct toperf_place here = t->json.place;
    uint64_t from = t->size > TOPERF_TAIL ? t->size - TOPERF_TAIL : 0, at = 0;
    char *tail = mkperf_xcalloc(1, TOPERF_TAIL);
    ssize_t n = t->size != 0 ? pread(fileno(t->json.f), tail, TOPERF_TAIL, (off_t)from) : 0;

    for (char *p = tail; n > 0 && (p = memmem(p, (size_t)(tail + n - p), key, sizeof key - 1));
         p++) {
        at = from + (uint64_t)(p - tail);
    }
    free(tail);
    if (at <= here.offset) {
        return MKPERF_OK;
    }
    while (t->json.place.offset < at && t->json.token != TOKEN_END && t->json.token != TOKEN_BAD) {
        next_token(t);
    }
    if (t->json.place.offset == at && t->json.token == TOKEN_STRING && next_token(t) == ':' &&
        next_token(t) == '{') {
        t->ahead = t->json.place.offset;
        MKPERF_TRY(toperf_mapping(t));
    }
    if (fseeko(t->json.f, (off_t)here.offset, SEEK_SET) != 0) {
        return toperf_bad(t, "cannot go back to the samples");
    }
    t->json.at = here;
    t->json.cut = false;
    next_token(t);
    return MKPERF_OK;
}

/* Gets a mapping for the samples that follow: that of this file, or else that of the header file. */
static enum mkperf_status need_mapping(struct toperf *t)
{
    MKPERF_TRY(find_mapping_ahead(t));
    if (!t->has_mapping) {
        MKPERF_TRY(toperf_header_file(t));
    }
    if (t->has_mapping) {
        return MKPERF_OK;
    }
    t->has_mapping = true;
    return toperf_found(t, TOPERF_NO_MAPPING,
                        "no elf_tcb_mappings, neither here nor in sample_header.json in the "
                        "build directory");
}

static enum mkperf_status top_member(struct toperf *t, void *self, const char *key)
{
    bool *has_samples = self;

    if (strcmp(key, "elf_tcb_mappings") == 0 && !t->has_mapping) {
        return t->json.token == '{' ? toperf_mapping(t)
                                    : toperf_bad(t, "elf_tcb_mappings: expected an object");
    }
    if (strcmp(key, "samples") == 0) {
        *has_samples = true;
        if (t->json.token != '[') {
            return toperf_bad(t, "samples: expected an array");
        }
        if (!t->has_mapping) {
            MKPERF_TRY(need_mapping(t));
        }
        return each_item(t, ']', element_sample, NULL);
    }
    if (strcmp(key, "elf_tcb_mappings") != 0) {
        toperf_note(t, TOPERF_UNKNOWN_KEY);
    } else if (t->json.place.offset != t->ahead) {
        MKPERF_TRY(toperf_found(t, TOPERF_SECOND_MAPPING,
                                "elf_tcb_mappings again, or behind the samples and too far from "
                                "the end"));
    }
    return toperf_skip(t);
}

static enum mkperf_status read_strict(struct toperf *t)
{
    static const char mark[] = "\xef\xbb\xbf"; /* a byte order mark */
    bool has_samples = false;

    next_token(t);
    for (const char *p = mark; *p != '\0' && t->json.token == TOKEN_BAD && t->json.text[0] == *p;
         p++) {
        next_token(t);
    }
    if (t->json.token != '{') {
        return toperf_bad(t,
                          t->json.token == TOKEN_END ? "the file is empty" : "expected an object");
    }
    MKPERF_TRY(each_item(t, '}', top_member, &has_samples));
    if (!has_samples) {
        return toperf_bad(t, "no samples");
    }
    return next_token(t) == TOKEN_END ? MKPERF_OK : toperf_bad(t, "something follows the end");
}

/* Reads any text that contains samples, or a whole file. */
static enum mkperf_status read_lenient(struct toperf *t)
{
    bool noise = false, has_samples = false;
    enum mkperf_status status = MKPERF_OK;

    while (status == MKPERF_OK && next_token(t) != TOKEN_END) {
        if (ferror(t->json.f)) {
            return toperf_bad(t, "read error");
        }
        if (t->json.token == '{') {
            noise = false; /* it is a whole file or a single sample */
            bool whole = next_token(t) == TOKEN_STRING &&
                         (strcmp(t->json.text, "samples") == 0 ||
                          strcmp(t->json.text, "elf_tcb_mappings") == 0);
            if (!whole && !t->has_mapping) {
                MKPERF_TRY(need_mapping(t));
            }
            t->json.again = true;
            has_samples |= !whole;
            status = whole ? each_item(t, '}', top_member, &has_samples) : read_sample(t);
        } else if (t->json.token != ',' && !noise) {
            noise = true;
            toperf_note(t, TOPERF_NOISE);
        }
    }
    return status == MKPERF_OK && !has_samples ? toperf_bad(t, "no samples") : status;
}

enum mkperf_status mkperf_toperf_read(const char *path, int fd, const struct mkperf_input *in,
                                      const struct mkperf_sink *sink, struct mkperf_error *e)
{
    struct toperf *t = mkperf_xcalloc(1, sizeof *t);
    struct mkperf_order order;
    const struct mkperf_sink checked = mkperf_sink_in_order(*sink, &order);
    struct stat st;

    t->in = in;
    t->sink = &checked;
    t->e = e;
    t->size = fstat(fd, &st) == 0 && S_ISREG(st.st_mode) ? (uint64_t)st.st_size : 0;
    t->json = (struct toperf_json){.path = path, .f = fdopen(fd, "re"), .at = {.line = 1}};
    if (t->json.f == NULL) {
        mkperf_die();
    }
    enum mkperf_status status = in->lenient ? read_lenient(t) : read_strict(t);
    if (status == MKPERF_OK && !t->began) {
        status = toperf_begin(t, 0);
    }
    if (status == MKPERF_OK) {
        toperf_warn_of_findings(t);
    }
    status = mkperf_sink_finish(&checked, status, &t->totals, e);
    (void)fclose(t->json.f);
    for (uint32_t i = 0; i < t->pids.count; i++) {
        mkperf_shape_free(mkperf_pd_rows, &t->pd[i]);
    }
    free(t->pd);
    mkperf_hash_free(&t->pids);
    free(t);
    return status;
}
