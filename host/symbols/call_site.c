/* SPDX-License-Identifier: BSD-2-Clause */
/* Owns: see call_site.h. */
#include "call_site.h"

#include "base/get.h"
#include "symbols_internal.h"

/* bl; blr and its authenticated forms; svc */
static bool aarch64_call(uint32_t i)
{
    return (i & 0xfc000000) == 0x94000000 || (i & 0xfefff800) == 0xd63f0000 ||
           (i & 0xfffffc1f) == 0xd63f0000 || (i & 0xffe0001f) == 0xd4000001;
}

static bool links(unsigned rd) /* ra or t0 */
{
    return rd == 1 || rd == 5;
}

/* jal and jalr that link; ecall */
static bool riscv_call(uint32_t i)
{
    return (((i & 0x7f) == 0x6f || (i & 0x707f) == 0x67) && links(i >> 7 & 31)) || i == 0x73;
}

static bool riscv_short_call(uint32_t i) /* c.jalr */
{
    return (i & 0xf07f) == 0x9002 && (i >> 7 & 31) != 0;
}

/* call rel32; call r/m, of two to seven bytes and a prefix; syscall */
static bool x86_call(const struct mkperf_module *m, uint64_t addr)
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
        return addr % 4 == 0 && p != NULL && aarch64_call(mkperf_get32(p));
    case EM_RISCV:
        p = mkperf_module_code(m, addr - 4, 4);
        if (addr % 2 == 0 && p != NULL && riscv_call(mkperf_get32(p))) {
            return true;
        }
        p = mkperf_module_code(m, addr - 2, 2);
        return addr % 2 == 0 && p != NULL && riscv_short_call(mkperf_get16(p));
    default:
        return x86_call(m, addr);
    }
}

bool mkperf_module_is_code(struct mkperf_module *m, uint64_t addr)
{
    unsigned unit = m->machine == EM_AARCH64 ? 4 : m->machine == EM_RISCV ? 2 : 1;
    struct mkperf_symbol symbol;

    if (addr % unit != 0 || mkperf_module_code(m, addr, unit) == NULL) {
        return false;
    }
    return mkperf_symbol_at(m, addr, &symbol) || m->nfunctions == 0;
}
