/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The call chain on RISC-V: the linked list of aapcs64.h, with the record below the address in s0 (the psABI's frame pointer
 * convention).
 *
 *     s0 - 16: [ caller's s0 | ret ]      s0 - 8 of a function that calls nothing: [ caller's s0 ]
 *
 * Owns: where the first record is. gcc gives a function that calls nothing a frame without a return address, and stores the
 * caller's s0 in the place of the return address. The value shows which of the two it is: stacks are above a program's code, so
 * a word above the frame is a frame pointer. The return address of such a function is in ra, which is in the sample.
 */
#ifndef MKPERF_RISCV_FRAMES_H
#define MKPERF_RISCV_FRAMES_H

#include <stdint.h>

#define MKPERF_RECORD_BELOW 16

/* Returns the address of the first record for the frame pointer fp of a thread. */
static inline uint64_t mkperf_first_record(const void *thread, unsigned level, uint64_t fp)
{
    uint64_t at = fp - MKPERF_RECORD_BELOW;
    uint64_t offset = at % 4096;
    uintptr_t window = offset <= 4096 - MKPERF_RECORD_BELOW && at % sizeof at == 0
                           ? mkperf_port_user_page(thread, level, at - offset)
                           : 0;
    uint64_t ret = window != 0 ? __atomic_load_n((const uint64_t *)(window + offset + sizeof at),
                                                 __ATOMIC_RELAXED)
                               : 0;

    return ret > fp ? ret - MKPERF_RECORD_BELOW : at;
}

#include "aapcs64.h"

#endif
