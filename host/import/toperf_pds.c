/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * samples.json: elf_tcb_mappings, and the PDs made of them. A PD is named after its ELF, without
 * directory and ".elf". If two PDs run the same ELF, "#id" is appended to the later ones.
 */

#include "symbols/symbols.h"

#include <fcntl.h>
#include <unistd.h>

#include "toperf_internal.h"

/*
 * samples.json: the count of findings, the iteration over an object or an array, and numbers.
 *
 * A finding is text that a strict reading refuses and a lenient one repairs and counts. Called by the
 * decoder's other files.
 */

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

void toperf_note(struct toperf *t, enum toperf_finding what)
{
    if (t->finding[what].count++ == 0) {
        t->finding[what].first = t->json.place;
    }
}

enum mkperf_status toperf_found(struct toperf *t, enum toperf_finding what, const char *reason)
{
    if (!t->in->lenient && what < TOPERF_ELF) {
        return mkperf_json_bad(&t->json, t->e, "%s (--lenient continues)", reason);
    }
    toperf_note(t, what);
    return MKPERF_OK;
}

void toperf_warn_of_findings(const struct toperf *t)
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

enum mkperf_status toperf_object(struct toperf *t,
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

enum mkperf_status toperf_array(struct toperf *t,
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

enum mkperf_status toperf_skip(struct toperf *t)
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

const char *toperf_number(const struct mkperf_json *j, uint64_t *out)
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

enum mkperf_status toperf_mapping(struct toperf *t)
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

enum mkperf_status toperf_header_file(struct toperf *t)
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

enum mkperf_status toperf_begin(struct toperf *t, uint64_t period)
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

int64_t toperf_pd_of(struct toperf *t, uint64_t pid)
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

void toperf_free_pds(struct toperf *t)
{
    for (uint32_t i = 0; i < t->npds; i++) {
        mkperf_shape_free(mkperf_pd_rows, &t->pd[i]);
    }
    free(t->pd);
}
