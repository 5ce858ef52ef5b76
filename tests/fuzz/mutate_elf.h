/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Mutation of 64-bit little-endian ELF files: numbers of the header, of program and section headers
 * and of symbols, instructions, notes and the content of sections. Offsets stay right: no section
 * changes its size.
 *
 * Owns: mutate_elf. An input that is no such file is mutated in any way.
 */
#ifndef MKPERF_TESTS_FUZZ_MUTATE_ELF_H
#define MKPERF_TESTS_FUZZ_MUTATE_ELF_H

#include <elf.h>

#include "mutate.h"

struct mutate_elf_field {
    uint8_t at, bytes;
};

static const struct mutate_elf_field mutate_ehdr[] = {{16, 2}, {18, 2}, {24, 8}, {32, 8},
                                                      {40, 8}, {48, 4}, {52, 2}, {54, 2},
                                                      {56, 2}, {60, 2}, {62, 2}};
static const struct mutate_elf_field mutate_phdr[] = {{0, 4},  {4, 4},  {8, 8}, {16, 8},
                                                      {32, 8}, {40, 8}, {48, 8}};
static const struct mutate_elf_field mutate_shdr[] = {{0, 4},  {4, 4},  {8, 8},  {16, 8}, {24, 8},
                                                      {32, 8}, {40, 4}, {44, 4}, {48, 8}, {56, 8}};
static const struct mutate_elf_field mutate_symbol[] = {{0, 4}, {4, 1}, {6, 2}, {8, 8}, {16, 8}};

/* Changes one field of the structure at p. */
static inline void mutate_struct(uint8_t *p, const struct mutate_elf_field *field, size_t n)
{
    const struct mutate_elf_field *f = &field[mutate_random((unsigned)n)];

    mutate_put(p + f->at, f->bytes, mutate_number(mutate_get(p + f->at, f->bytes)));
}

#define MUTATE_STRUCT(p, field) mutate_struct(p, field, sizeof(field) / sizeof *(field))

/* Returns an instruction that the symbolizer looks for, or one that ends its walks. */
static inline uint32_t mutate_instruction(void)
{
    static const uint32_t insns[] = {
        0xd65f03c0, /* ret */
        0x94000001, /* bl */
        0xd63f0020, /* blr x1 */
        0xd61f0020, /* br x1 */
        0x14000002, /* b */
        0x54000040, /* b.eq */
        0x34000040, /* cbz */
        0x36000040, /* tbz */
        0xa9bf7bfd, /* stp x29, x30, [sp, #-16]! */
        0xa8c17bfd, /* ldp x29, x30, [sp], #16 */
        0xf84107fe, /* ldr x30, [sp], #16 */
        0x910003fd, /* mov x29, sp */
        0xd4000001, /* svc #0 */
        0x00000000, /* udf */
        0xd503201f, /* nop */
    };
    uint32_t i = insns[mutate_random(sizeof insns / sizeof *insns)];

    /* Branches go anywhere near, both ways. */
    return (i & 0x7c000000) == 0x14000000
               ? i ^ mutate_random(16) ^ (mutate_random(2) ? 0x3fffff0 : 0)
           : (i & 0x7c000000) == 0x34000000
               ? i ^ mutate_random(16) << 5 ^ (mutate_random(2) ? 0x7ff00 : 0)
               : i;
}

static inline void mutate_content(uint8_t *p, size_t n, uint32_t type, uint64_t flags)
{
    if ((type == SHT_SYMTAB || type == SHT_DYNSYM) && n >= sizeof(Elf64_Sym)) {
        p += mutate_random((unsigned)(n / sizeof(Elf64_Sym))) * sizeof(Elf64_Sym);
        MUTATE_STRUCT(p, mutate_symbol);
    } else if (flags & SHF_EXECINSTR && n >= 4) {
        mutate_put(p + 4 * (size_t)mutate_random((unsigned)(n / 4)), 4, mutate_instruction());
    } else if (mutate_random(2)) {
        unsigned bytes = 8U >> mutate_random(4);
        size_t at = mutate_random((unsigned)n);
        if (at + bytes <= n) {
            mutate_put(p + at, bytes, mutate_number(mutate_get(p + at, bytes)));
        }
    } else { /* shorter: the rest stays as it was */
        (void)LLVMFuzzerMutate(p, n, n);
    }
}

static inline size_t mutate_elf(uint8_t *data, size_t size, size_t max)
{
    if (size < sizeof(Elf64_Ehdr) || memcmp(data, ELFMAG, SELFMAG) != 0 || mutate_random(64) == 0) {
        return LLVMFuzzerMutate(data, size, max);
    }
    unsigned how = mutate_random(16);
    uint64_t phoff = mutate_get(data + 32, 8), shoff = mutate_get(data + 40, 8);
    unsigned phnum = (unsigned)mutate_get(data + 56, 2), shnum = (unsigned)mutate_get(data + 60, 2);
    if (how == 0) {
        MUTATE_STRUCT(data, mutate_ehdr);
        return size;
    }
    if (how < 3 && phnum != 0) {
        uint64_t at = phoff + (uint64_t)mutate_random(phnum) * sizeof(Elf64_Phdr);
        if (at <= size && size - at >= sizeof(Elf64_Phdr)) {
            MUTATE_STRUCT(data + at, mutate_phdr);
        }
        return size;
    }
    uint64_t at = shoff + (uint64_t)mutate_random(shnum + 1) * sizeof(Elf64_Shdr);
    if (at > size || size - at < sizeof(Elf64_Shdr)) {
        return size;
    }
    if (how < 6) {
        MUTATE_STRUCT(data + at, mutate_shdr);
        return size;
    }
    uint64_t offset = mutate_get(data + at + 24, 8), n = mutate_get(data + at + 32, 8);
    if (offset < size && n != 0 && n <= size - offset) {
        mutate_content(data + offset, (size_t)n, (uint32_t)mutate_get(data + at + 4, 4),
                       mutate_get(data + at + 8, 8));
    }
    return size;
}

#endif
