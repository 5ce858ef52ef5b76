/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Files that become a part of the program: scripts and styles. The assembler reads them, below the top of the source tree.
 *
 * Owns: nothing. host/build.mk makes the objects depend on these files.
 */
#ifndef MKPERF_HOST_BASE_EMBED_H
#define MKPERF_HOST_BASE_EMBED_H

/* The file's bytes from name_begin to name_end, where a NUL follows. */
#define MKPERF_EMBED(name, file)                         \
    __asm__(".pushsection .rodata\n"                     \
            ".globl " #name "_begin\n" #name "_begin:\n" \
            ".incbin \"" file "\"\n"                     \
            ".globl " #name "_end\n" #name "_end:\n"     \
            ".byte 0\n"                                  \
            ".popsection\n");                            \
    extern const char name##_begin[], name##_end[]

#endif
