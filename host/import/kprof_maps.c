/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Akaros' kpdata: processes and mappings, the PDs made of them, and the decoder's messages. The rules
 * are in import.h. Called by kprof.c.
 *
 * Several mappings may contain an address. The last one made before the sample is used. If all were
 * made later, it is the first one, because mappings that existed at the start are reported late.
 */
#include "kprof_internal.h"

enum mkperf_status kprof_bad(const struct kprof *k, uint64_t offset, const char *reason)
{
    return mkperf_error_set(k->e, MKPERF_ERR_INPUT, "%s: offset %" PRIu64 ": %s", k->path, offset,
                            reason);
}

enum mkperf_status kprof_refuse(struct kprof *k, const struct kprof_record *r, const char *reason)
{
    k->not_fitting += k->in->lenient;
    return k->in->lenient ? MKPERF_OK : kprof_bad(k, r->offset, reason);
}

void kprof_warn(const struct kprof *k, const char *format, ...)
{
    char line[512];
    va_list args;
    int n = snprintf(line, sizeof line, "%.200s: ", k->path);

    if (k->in->warn != NULL) {
        va_start(args, format);
        vsnprintf(line + n, sizeof line - (size_t)n, format, args);
        va_end(args);
        k->in->warn(k->in->self, line);
    }
}

/* Returns why the n bytes are not a path that ends with a 0, or NULL if they are. */
static const char *bad_path(const uint8_t *p, size_t n)
{
    if (n == 0 || p[n - 1] != 0) {
        return "a path without its end";
    }
    return n > KPROF_PATH_MAX ? "a path of more than 4096 bytes" : NULL;
}

enum mkperf_status kprof_add_map(struct kprof *k, const struct kprof_record *r)
{
    const char *reason = r->n < 37 ? "a mapping that is too short" : bad_path(r->p + 36, r->n - 36);

    if (reason == NULL && k->nmaps == KPROF_MAPS_MAX) {
        reason = "too many mappings";
    }
    if (reason != NULL) {
        return kprof_refuse(k, r, reason);
    }
    char *path = mkperf_xstrdup((const char *)r->p + 36);
    MKPERF_GROW(k->map, k->map_room, (size_t)k->nmaps + 1);
    k->map[k->nmaps] = (struct kprof_map){.time_ns = mkperf_get64(r->p),
                                          .start = mkperf_get64(r->p + 8),
                                          .length = mkperf_get64(r->p + 16),
                                          .file_offset = mkperf_get64(r->p + 24),
                                          .pid = mkperf_get32(r->p + 32),
                                          .order = k->nmaps,
                                          .path = path,
                                          .pd = -1};
    k->nmaps++;
    return MKPERF_OK;
}

enum mkperf_status kprof_add_process(struct kprof *k, const struct kprof_record *r)
{
    const char *reason = r->n < 13 ? "a process record that is too short"
                                   : bad_path(r->p + 12, r->n - 12);

    if (reason == NULL && k->nprocesses == KPROF_MAPS_MAX) {
        reason = "too many processes";
    }
    if (reason != NULL) {
        return kprof_refuse(k, r, reason);
    }
    char *path = mkperf_xstrdup((const char *)r->p + 12);
    MKPERF_GROW(k->process, k->process_room, (size_t)k->nprocesses + 1);
    k->process[k->nprocesses++] = (struct kprof_process){
        .time_ns = mkperf_get64(r->p), .pid = mkperf_get32(r->p + 8), .path = path};
    return MKPERF_OK;
}

void kprof_sort_maps(struct kprof *k)
{
    MKPERF_SORT(k->map, k->nmaps, MKPERF_UP(k->map, pid), MKPERF_UP(k->map, time_ns),
                MKPERF_UP(k->map, order));
}

/* Returns the index of the first mapping of a pid, k->nmaps if it has none. */
static uint32_t first_map(const struct kprof *k, uint32_t pid)
{
    uint32_t low = 0, high = k->nmaps;

    while (low < high) {
        uint32_t middle = low + (high - low) / 2;
        if (k->map[middle].pid < pid) {
            low = middle + 1;
        } else {
            high = middle;
        }
    }
    return low < k->nmaps && k->map[low].pid == pid ? low : k->nmaps;
}

static const char *base_name(const char *path)
{
    const char *slash = strrchr(path, '/');

    return slash != NULL && slash[1] != '\0' ? slash + 1 : path;
}

/* Returns the path of the program that pid ran at a time; NULL if unknown. */
static const char *program_of_process(const struct kprof *k, uint32_t pid, uint64_t time_ns)
{
    const char *path = NULL;

    for (uint32_t i = 0; i < k->nprocesses; i++) {
        const struct kprof_process *p = &k->process[i];
        if (p->pid == pid && (path == NULL || p->time_ns <= time_ns)) {
            path = p->path;
        }
    }
    uint32_t map = first_map(k, pid);
    return path != NULL ? path : map < k->nmaps ? k->map[map].path : NULL;
}

/* Returns the ELF of a file of the target, below the root directory. NULL if there is none, or if
 * it is unusable, of which the user is warned. */
static struct mkperf_module *module_of(struct kprof *k, const char *path)
{
    struct mkperf_module *m = NULL;
    struct mkperf_error why;

    if (k->in->root_dir == NULL || *path == '\0' || strstr(path, "..") != NULL) {
        return NULL;
    }
    char *host = mkperf_xprintf("%s/%s", k->in->root_dir, path);
    if (mkperf_symbols_module(k->symbols, host, &m, &why) != MKPERF_OK) {
        kprof_warn(k, "%s; its addresses get no names", why.text);
        m = NULL;
    }
    free(host);
    return m;
}

/* Announces a new PD to the sink. Takes `name`. -1: *k->e has the reason. */
static int64_t announce_kprof_pd(struct kprof *k, uint32_t pid, char *name, const char *path,
                                 const char *parent)
{
    uint64_t thread = pid == UINT32_MAX ? MKPERF_THREAD_NONE
                                        : pid | (uint64_t)(*path == '\0') << 63;

    if (k->npds == KPROF_PDS_MAX) {
        free(name);
        kprof_bad(k, 0, "more than 65536 programs");
        return -1;
    }
    MKPERF_GROW(k->pd, k->pd_room, (size_t)k->npds + 1);
    struct kprof_pd *p = &k->pd[k->npds];
    *p = (struct kprof_pd){.pid = pid, .name = name, .path = mkperf_xstrdup(path)};
    p->module = module_of(k, path);
    struct mkperf_pd pd = {.thread = parent == NULL ? thread
                                                    : thread | (uint64_t)(k->npds + 1) << 32,
                           .id = k->npds++,
                           .name = name,
                           .elf = p->module != NULL ? mkperf_module_path(p->module) : NULL,
                           .parent = parent};
    if (mkperf_sink_pd(k->sink, &pd, k->e) != MKPERF_OK) {
        return -1;
    }
    return pd.id;
}

/* Returns the PD of a file in a process, which may be new, or -1 if *k->e has the reason. */
static int64_t pd_of(struct kprof *k, uint32_t pid, const char *program, const char *file)
{
    for (uint32_t i = 0; i < k->npds; i++) {
        if (k->pd[i].pid == pid && strcmp(k->pd[i].path, file) == 0) {
            return i;
        }
    }
    if (strcmp(program, file) == 0) {
        return announce_kprof_pd(k, pid, mkperf_xstrdup(base_name(program)), file, NULL);
    }
    return announce_kprof_pd(k, pid, mkperf_xprintf("%s:%s", base_name(program), base_name(file)),
                             file, base_name(program));
}

int64_t kprof_process_pd(struct kprof *k, uint32_t pid, uint64_t time_ns)
{
    const char *program = program_of_process(k, pid, time_ns);

    if (program != NULL) {
        return pd_of(k, pid, program, program);
    }
    for (uint32_t i = 0; i < k->npds; i++) {
        if (k->pd[i].pid == pid && k->pd[i].path[0] == '\0') {
            return i;
        }
    }
    return announce_kprof_pd(k, pid, mkperf_xprintf("pid-%" PRIu32, pid), "", NULL);
}

int64_t kprof_kernel_pd(struct kprof *k)
{
    if (k->kernel_pd < 0) {
        k->kernel_pd = announce_kprof_pd(k, UINT32_MAX, mkperf_xstrdup("kernel"), "", NULL);
    }
    return k->kernel_pd;
}

/* Returns the mapping that contains an address of a process at a time, NULL if there is none. */
static struct kprof_map *map_at(struct kprof *k, uint32_t pid, uint64_t time_ns, uint64_t addr)
{
    struct kprof_map *found = NULL;

    for (uint32_t i = first_map(k, pid); i < k->nmaps && k->map[i].pid == pid; i++) {
        struct kprof_map *m = &k->map[i];
        if (addr - m->start >= m->length) {
            continue;
        }
        if (found != NULL && m->time_ns > time_ns) {
            break;
        }
        found = m;
    }
    return found;
}

/* Returns the address in the ELF of an address in the process; the latter if the ELF does not have
 * it. */
static uint64_t linked_address(const struct kprof_map *m, uint64_t addr)
{
    size_t n;
    const struct mkperf_segment *s = mkperf_module_segments(m->module, &n);
    uint64_t offset = addr - m->start + m->file_offset;

    for (size_t i = 0; i < n; i++) {
        if (offset - s[i].offset < s[i].size) {
            return s[i].vaddr + (offset - s[i].offset);
        }
    }
    return addr;
}

int64_t kprof_code_at(struct kprof *k, uint32_t pid, uint64_t time_ns, uint64_t *addr)
{
    struct kprof_map *m = map_at(k, pid, time_ns, *addr);

    if (m == NULL) {
        return kprof_process_pd(k, pid, time_ns);
    }
    if (m->pd < 0) {
        const char *program = program_of_process(k, pid, time_ns);
        if (program == NULL) { /* not reached: the mapping names a file */
            return kprof_process_pd(k, pid, time_ns);
        }
        m->pd = pd_of(k, pid, program, m->path);
        m->module = m->pd >= 0 ? k->pd[m->pd].module : NULL;
    }
    *addr = linked_address(m, *addr);
    return m->pd;
}

void kprof_free_maps(struct kprof *k)
{
    for (uint32_t i = 0; i < k->nmaps; i++) {
        free(k->map[i].path);
    }
    for (uint32_t i = 0; i < k->nprocesses; i++) {
        free(k->process[i].path);
    }
    for (uint32_t i = 0; i < k->npds; i++) {
        free(k->pd[i].name);
        free(k->pd[i].path);
    }
    free(k->map);
    free(k->process);
    free(k->pd);
}
