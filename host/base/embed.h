/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Files that are part of the program, taken in by the assembler from the top of the source tree: scripts, styles.
 *
 * Owns: nothing. The objects of those who use it depend on the files in host/build.mk.
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
