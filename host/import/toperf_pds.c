/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * samples.json: elf_tcb_mappings, and the PDs made of them. A PD is named after its ELF, without
 * directory and ".elf". If two PDs run the same ELF, "#id" is appended to the later ones.
 */
#include <fcntl.h>
#include <unistd.h>

#include "symbols/symbols.h"
#include "toperf_internal.h"

static int64_t find_pd(struct toperf *t, uint64_t pid)
{
    if (t->last < t->npds && t->pd[t->last].pid == pid) {
        return t->last;
    }
    for (uint32_t i = 0; i < t->npds; i++) {
        if (t->pd[i].pid == pid) {
            t->last = i;
            return i;
        }
    }
    return -1;
}

/* Takes name and elf. */
static void add_pd(struct toperf *t, uint64_t pid, char *name, char *elf)
{
    MKPERF_GROW(t->pd, t->room, (size_t)t->npds + 1);
    t->pd[t->npds++] = (struct toperf_pd){.name = name, .elf = elf, .pid = (uint32_t)pid};
}

/* Why a name is not that of a file below the build directory; NULL if it is. */
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

static bool name_taken(const struct toperf *t, const char *name)
{
    for (uint32_t i = 0; i < t->npds; i++) {
        if (strcmp(t->pd[i].name, name) == 0) {
            return true;
        }
    }
    return false;
}

static char *pd_name(const struct toperf *t, const char *file, uint64_t pid)
{
    const char *base = basename(file);
    size_t n = strlen(base);

    if (n > 4 && strcmp(base + n - 4, ".elf") == 0) {
        n -= 4;
    }
    char *name = mkperf_xprintf("%.*s", (int)n, base);
    if (!name_taken(t, name)) {
        return name;
    }
    char *numbered = mkperf_xprintf("%s#%" PRIu64, name, pid);
    free(name);
    return numbered;
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
    add_pd(t, pid, pd_name(t, file, pid), elf);
    return MKPERF_OK;
}

enum mkperf_status toperf_mapping(struct toperf *t)
{
    bool cut = false;

    t->has_mapping = true;
    return toperf_object(t, &cut, member_of_mapping, NULL);
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
    bool cut = false;

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
                 ? toperf_object(t, &cut, member_of_header, NULL)
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
    struct mkperf_pd pd = {.thread = t->pd[i].pid, .id = i, .name = t->pd[i].name};
    struct mkperf_module *module;
    struct mkperf_error why;

    if (t->pd[i].elf != NULL && symbols != NULL) {
        if (mkperf_symbols_module(symbols, t->pd[i].elf, &module, &why) == MKPERF_OK) {
            pd.elf = t->pd[i].elf;
        } else {
            toperf_note(t, TOPERF_ELF);
            if (t->in->warn != NULL) {
                t->in->warn(t->in->self, why.text);
            }
        }
    }
    return mkperf_sink_pd(t->sink, &pd, t->e);
}

static enum mkperf_status announce_all(struct toperf *t)
{
    struct mkperf_symbols *symbols = mkperf_symbols_new();
    enum mkperf_status status = MKPERF_OK;

    for (uint32_t i = 0; status == MKPERF_OK && i < t->npds; i++) {
        status = announce_pd(t, symbols, i);
    }
    mkperf_symbols_free(symbols);
    return status;
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
    if (mkperf_sink_begin(t->sink, &t->session, t->e) != MKPERF_OK) {
        return t->e->status;
    }
    return announce_all(t);
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
    add_pd(t, pid, mkperf_xprintf("unknown-%" PRIx64, pid), NULL);
    return announce_pd(t, NULL, t->npds - 1) == MKPERF_OK ? (int64_t)t->npds - 1 : -1;
}

void toperf_free_pds(struct toperf *t)
{
    for (uint32_t i = 0; i < t->npds; i++) {
        free(t->pd[i].name);
        free(t->pd[i].elf);
    }
    free(t->pd);
}
