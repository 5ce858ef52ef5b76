/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Records of address spaces: of the kernel, and of each PD as a process.
 *
 * Owns: MMAP, MMAP2 and COMM records and the build-id table. Called by the writer.
 */
#include "writer_internal.h"

enum { PAGE = 4096, PROT_READ_EXEC = 5, MAP_PRIVATE_FLAG = 2 };

/*
 * perf warns if a file has no kernel map. With a real one at our kernel's address, it would look up
 * names of the host's kernel. This map is therefore one page at which no kernel has code, with a build
 * id that no file has. It is the last record: perf looks for its symbols, and warns, only if a sample
 * follows. It always does so with a pipe, and if it takes the file's machine for its own.
 */
#define DUMMY_KERNEL UINT64_C(0xfffffffffff00000)
#define DUMMY_NAME "[kernel.kallsyms]"
static const struct mkperf_build_id dummy_build_id = {.n = MKPERF_BUILD_ID_BYTES,
                                                      .byte = "mkperf: no linux"};

void perfdata_build_id_entry(FILE *f, unsigned misc, const char *path,
                             const struct mkperf_build_id *id)
{
    uint8_t entry[8 + 4 + 24 + PERF_PATH_MAX + PERF_STRING_ALIGN];
    struct mkperf_put c = {entry};
    size_t length = strlen(path);
    size_t room = (length + 1 + PERF_STRING_ALIGN - 1) / PERF_STRING_ALIGN * PERF_STRING_ALIGN;

    if (id->n == 0 || length >= PERF_PATH_MAX) {
        return;
    }
    /* In a pipe the entry is a record. In a file, its type is not read. */
    perfdata_record(&c, PERF_RECORD_HEADER_BUILD_ID, misc | PERF_RECORD_MISC_BUILD_ID_SIZE,
                    8 + 4 + 24 + room);
    mkperf_put32(&c, UINT32_MAX); /* the host's machine, not a guest's */
    mkperf_put_padded(&c, id->byte, id->n, MKPERF_BUILD_ID_BYTES);
    mkperf_put32(&c, id->n);
    mkperf_put_padded(&c, path, length, room);
    (void)fwrite(entry, 1, (size_t)(c.p - entry), f); /* into memory: fclose reports errors */
}

static void kernel_map(struct mkperf_outfile *out, struct mkperf_segment s, const char *path,
                       uint64_t ns)
{
    struct mkperf_put c = perfdata_begin(out, PERF_RECORD_MMAP, PERF_RECORD_MISC_KERNEL);
    mkperf_put32(&c, UINT32_MAX);
    mkperf_put32(&c, 0);
    mkperf_put64(&c, s.vaddr);
    mkperf_put64(&c, s.size);
    mkperf_put64(&c, s.offset);
    perfdata_put_text(&c, path, strlen(path));
    perfdata_sample_id(&c, 0, 0, ns, 0);
    perfdata_end(out, c);
}

/* The whole pages that a loader would map for a segment. */
static struct mkperf_segment pages(struct mkperf_segment s)
{
    uint64_t front = s.vaddr % PAGE == s.offset % PAGE ? s.vaddr % PAGE : 0;

    s.vaddr -= front;
    s.offset -= front;
    s.size = (s.size + front + PAGE - 1) & ~(uint64_t)(PAGE - 1);
    return s;
}

/*
 * Adds only the build id of the map above. If our kernel's ELF had an entry, perf 6.1 would look for
 * its build id everywhere except in the file, and warn. If it were listed as a user's file, perf would
 * not resolve its addresses.
 */
void perfdata_kernel_build_ids(struct mkperf_perfdata *w)
{
    perfdata_build_id_entry(w->build_ids, PERF_RECORD_MISC_KERNEL, DUMMY_NAME, &dummy_build_id);
}

/*
 * Maps exactly .text of our kernel. When perf 6.1 loads the symbols, it moves the first map of a
 * kernel's ELF to .text, and makes maps of its own for the other sections. The addresses of a map of
 * another segment would therefore get wrong names. Until perf has read an address in .text, addresses
 * in other sections have no names.
 */
void perfdata_kernel_maps(struct mkperf_perfdata *w)
{
    struct mkperf_segment text;

    if (w->kernel == NULL || !mkperf_module_text(w->kernel, &text)) {
        return;
    }
    kernel_map(&w->out, text, mkperf_module_path(w->kernel), 0);
}

void perfdata_kernel_dummy(struct mkperf_outfile *out, uint64_t ns)
{
    struct mkperf_segment page = {.vaddr = DUMMY_KERNEL, .size = PAGE, .offset = DUMMY_KERNEL};

    kernel_map(out, page, DUMMY_NAME "_text", ns);
}

void perfdata_pd_comm(struct mkperf_perfdata *w, uint32_t pid, const char *name)
{
    struct mkperf_put c = perfdata_begin(&w->out, PERF_RECORD_COMM, 0);
    mkperf_put32(&c, pid);
    mkperf_put32(&c, pid);
    perfdata_put_text(&c, name, strnlen(name, PAGE));
    perfdata_sample_id(&c, pid, pid, 0, 0);
    perfdata_end(&w->out, c);
}

void perfdata_pd_map(struct mkperf_perfdata *w, uint32_t pd, uint32_t in)
{
    struct mkperf_module *module = w->pd[pd].module;
    size_t n;
    const struct mkperf_segment *s = mkperf_module_segments(module, &n);
    const struct mkperf_build_id *id = mkperf_module_build_id(module);
    unsigned misc = PERF_RECORD_MISC_USER | (id->n != 0 ? PERF_RECORD_MISC_MMAP_BUILD_ID : 0);
    uint32_t pid = in + 1;

    /* A guest's own addresses may be anywhere, or not be known: one page says which file has its names. */
    bool guest = module != NULL && w->pd[pd].guest;
    const struct mkperf_segment page = {.vaddr = 0, .size = PAGE};

    for (size_t i = 0; i < (guest ? 1 : n); i++) {
        struct mkperf_segment p = guest ? page : pages(s[i]);
        if (p.vaddr >= MKPERF_PERFDATA_WINDOW || p.size > MKPERF_PERFDATA_WINDOW - p.vaddr) {
            continue; /* mkperf_perfdata_slid writes addresses there as unknown */
        }
        p.vaddr = mkperf_perfdata_slid(pd, p.vaddr);
        const char *path = mkperf_module_path(module);
        struct mkperf_put c = perfdata_begin(&w->out, PERF_RECORD_MMAP2, misc);
        mkperf_put32(&c, pid);
        mkperf_put32(&c, pid);
        mkperf_put64(&c, p.vaddr);
        mkperf_put64(&c, p.size);
        mkperf_put64(&c, p.offset);
        mkperf_put32(&c, id->n);
        mkperf_put_padded(&c, id->byte, id->n, MKPERF_BUILD_ID_BYTES);
        mkperf_put32(&c, PROT_READ_EXEC);
        mkperf_put32(&c, MAP_PRIVATE_FLAG);
        perfdata_put_text(&c, path, strlen(path));
        perfdata_sample_id(&c, pid, pid, 0, 0);
        perfdata_end(&w->out, c);
    }
}
