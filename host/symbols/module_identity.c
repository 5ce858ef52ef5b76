/* SPDX-License-Identifier: BSD-2-Clause */
/* What identifies a module: identity.h over an ELF that module.c opened. */
#include "identity.h"
#include "symbols_internal.h"

void mkperf_module_identity(const struct mkperf_module *m, struct mkperf_build_id *out)
{
    (void)mkperf_elf_identity(m->elf, m->bytes, m->size, out);
}

bool mkperf_module_content(const struct mkperf_module *m, struct mkperf_blank blank,
                           uint8_t out[MKPERF_CONTENT_HASH_BYTES])
{
    return mkperf_elf_content(m->elf, m->bytes, m->size, blank, out);
}

bool mkperf_module_object(const struct mkperf_module *m, const char *name, uint64_t at_least,
                          uint64_t *offset, uint64_t *size)
{
    return mkperf_elf_object(m->elf, m->size, name, at_least, offset, size);
}

const uint8_t *mkperf_module_file(const struct mkperf_module *m, size_t *n)
{
    *n = m->size;
    return m->bytes;
}
