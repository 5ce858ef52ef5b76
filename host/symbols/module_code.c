/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * A module's code: its bytes, the calls in it, and where it enters the kernel.
 *
 * Owns: the instructions of the three architectures that call. Called by unwind.c, by model/checks.c, and by
 * `mkperf record -e timer` for the system calls (docs/stock.md). Each place in an executable segment that has the
 * form of one counts. Data, and parts of instructions, can have that form, too; that does no harm, because a thread
 * never waits there.
 */
#include "symbols_internal.h"

#include <sys/mman.h>

const uint8_t *mkperf_module_code(const struct mkperf_module *m, uint64_t addr, uint64_t n)
{
    for (size_t i = 0; i < m->nsegments; i++) {
        const struct mkperf_segment *s = &m->segment[i];
        uint64_t at = addr - s->vaddr;

        if (addr >= s->vaddr && at < s->size && n <= s->size - at &&
            mkperf_inside(m, s->offset, at) && mkperf_inside(m, s->offset + at, n)) {
            return m->bytes + s->offset + at;
        }
    }
    return NULL;
}

int mkperf_module_copy(const struct mkperf_module *m)
{
    int fd = memfd_create("elf", MFD_CLOEXEC);

    if (fd >= 0 && mkperf_write_all(fd, m->bytes, m->size) != m->size) {
        close(fd);
        return -1;
    }
    return fd;
}

/* Returns whether there is a system call in the first of n bytes. */
static bool is_system_call(const struct mkperf_module *m, const uint8_t *p, uint64_t n)
{
    switch (m->machine) {
    case EM_AARCH64: /* SVC #imm16: Arm ARM, C6.2.365 */
        return n >= 4 && (mkperf_get32(p) & 0xffe0001f) == 0xd4000001;
    case EM_RISCV: /* ecall */
        return n >= 4 && mkperf_get32(p) == 0x73;
    default: /* syscall */
        return n >= 2 && p[0] == 0x0f && p[1] == 0x05;
    }
}

/* Returns whether n bytes are one instruction that calls. */
static bool is_call(const struct mkperf_module *m, const uint8_t *p, unsigned n)
{
    switch (m->machine) {
    case EM_AARCH64:
        return mkperf_is_call(mkperf_get32(p)) || is_system_call(m, p, n);
    case EM_RISCV: {
        uint32_t i = n == 4 ? mkperf_get32(p) : mkperf_get16(p);
        bool links = (i >> 7 & 27) == 1; /* ra, t0 */
        return n == 4 ? i == 0x73 || (((i & 0x7f) == 0x6f || (i & 0x707f) == 0x67) && links)
                      : (i & 0xf07f) == 0x9002 && (i >> 7 & 31) != 0; /* c.jalr */
    }
    default: /* call r/m, which has two to seven bytes after an optional prefix; call rel32; syscall */
        return n >= 2 && ((p[0] == 0xff && (p[1] >> 3 & 7) == 2) || (n == 5 && p[0] == 0xe8) ||
                          (n == 2 && is_system_call(m, p, n)));
    }
}

bool mkperf_module_follows_call(const struct mkperf_module *m, uint64_t addr)
{
    const unsigned unit = mkperf_module_unit(m), most = unit == 1 ? 7 : 4;
    bool follows = false;

    for (unsigned n = unit; n <= most && !follows && addr % unit == 0; n += unit) {
        const uint8_t *p = mkperf_module_code(m, addr - n, n);
        follows = p != NULL && is_call(m, p, n);
    }
    return follows;
}

unsigned mkperf_module_unit(const struct mkperf_module *m)
{
    return m->machine == EM_AARCH64 ? 4 : m->machine == EM_RISCV ? 2 : 1;
}

bool mkperf_module_is_code(struct mkperf_module *m, uint64_t addr)
{
    unsigned unit = mkperf_module_unit(m);
    struct mkperf_symbol symbol;

    if (addr % unit != 0 || mkperf_module_code(m, addr, unit) == NULL) {
        return false;
    }
    return mkperf_symbol_at(m, addr, &symbol) || m->nfunctions == 0;
}

uint64_t *mkperf_module_system_calls(const struct mkperf_module *m, size_t *n)
{
    size_t room = 0;
    uint64_t *site = NULL;

    *n = 0;
    MKPERF_GROW(site, room, 1);
    for (size_t i = 0; i < m->nsegments; i++) {
        const struct mkperf_segment *s = &m->segment[i];
        /* A segment's size in memory can be any number, so the search ends with the file. */
        uint64_t rest = s->offset < m->size ? m->size - s->offset : 0;
        uint64_t bytes = s->size < rest ? s->size : rest;

        for (uint64_t at = 0; at < bytes; at += mkperf_module_unit(m)) {
            if (is_system_call(m, m->bytes + s->offset + at, bytes - at)) {
                MKPERF_GROW(site, room, *n + 1);
                site[(*n)++] = s->vaddr + at;
            }
        }
    }
    mkperf_sort_by(site, *n, sizeof *site,
                   (const struct mkperf_sort_key[]){{0, sizeof *site, false}, {0, 0, false}});
    return site;
}
