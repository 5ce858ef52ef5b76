/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * A part of the hook's port, for machines under test that have one core and map no user memory.
 *
 * Owns: these functions. Included behind the kernel's sources.
 */
#ifndef MKPERF_TESTS_HOOK_ONE_CORE_H
#define MKPERF_TESTS_HOOK_ONE_CORE_H

unsigned mkperf_port_core(void)
{
    return 0;
}

/* The one page of threads that the kernel can read, at its own address; NULL: none is mapped. */
static const uint64_t *hook_page;

uintptr_t mkperf_port_user_page(const void *thread, unsigned level, uint64_t va)
{
    (void)thread;
    (void)level;
    return hook_page != NULL && va == (uintptr_t)hook_page ? va : 0;
}

#endif
