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

/* Returns whether a RISC-V instruction is a call: jal or jalr that links (ra, t0), or ecall. */
static bool is_riscv_call(uint32_t i)
{
    return (((i & 0x7f) == 0x6f || (i & 0x707f) == 0x67) && (i >> 7 & 27) == 1) || i == 0x73;
}

/* call rel32; call r/m, which has two to seven bytes after an optional prefix; syscall */
static bool follows_x86_call(const struct mkperf_module *m, uint64_t addr)
{
    const uint8_t *p = mkperf_module_code(m, addr - 5, 5);

    if (p != NULL && p[0] == 0xe8) {
        return true;
    }
    p = mkperf_module_code(m, addr - 2, 2);
    if (p != NULL && p[0] == 0x0f && p[1] == 0x05) {
        return true;
    }
    for (unsigned n = 2; n <= 7; n++) {
        p = mkperf_module_code(m, addr - n, n);
        if (p != NULL && p[0] == 0xff && (p[1] >> 3 & 7) == 2) {
            return true;
        }
    }
    return false;
}

bool mkperf_module_follows_call(const struct mkperf_module *m, uint64_t addr)
{
    const uint8_t *p;

    switch (m->machine) {
    case EM_AARCH64:
        p = mkperf_module_code(m, addr - 4, 4);
        return addr % 4 == 0 && p != NULL &&
               (mkperf_is_call(mkperf_get32(p)) || is_system_call(m, p, 4));
    case EM_RISCV:
        p = mkperf_module_code(m, addr - 4, 4);
        if (addr % 2 == 0 && p != NULL && is_riscv_call(mkperf_get32(p))) {
            return true;
        }
        p = mkperf_module_code(m, addr - 2, 2); /* c.jalr */
        return addr % 2 == 0 && p != NULL && (mkperf_get16(p) & 0xf07f) == 0x9002 &&
               (mkperf_get16(p) >> 7 & 31) != 0;
    default:
        return follows_x86_call(m, addr);
    }
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

static int compare_addresses(const void *a, const void *b)
{
    return mkperf_compare(*(const uint64_t *)a, *(const uint64_t *)b);
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
    mkperf_sort(site, *n, sizeof *site, compare_addresses);
    return site;
}
