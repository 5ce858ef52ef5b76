/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Translation: from an address in a thread's address space to the kernel's view of the memory there.
 *
 * Owns: what is RAM, and the pages that were found. The walk through the kernel's page table structures is in
 * arm_memory.h and riscv_memory.h. It is done in software, without the MMU: nothing that is at a user address can fault.
 */
#include <mkperf_port.h>

#include <kernel/boot.h>
#include <mode/machine.h>
#include <plat/machine/devices_gen.h>

/*
 * The machine's RAM. It is needed because a user may map a device as if it were memory, which the hook must not
 * read. This is a copy, because the kernel discards its own list after boot.
 */
static p_region_t mkperf_ram[ARRAY_SIZE(avail_p_regs)];

BOOT_CODE void mkperf_initMemory(void)
{
    memcpy(mkperf_ram, avail_p_regs, sizeof mkperf_ram);
}

/* Returns whether the frame at paddr is RAM that the kernel's window reaches. A frame is either
 * wholly within a region or wholly outside. */
static bool_t isRAM(paddr_t paddr)
{
    for (word_t i = 0; i < ARRAY_SIZE(mkperf_ram); i++) {
        if (mkperf_ram[i].start <= paddr && paddr < MIN(mkperf_ram[i].end, PADDR_TOP)) {
            return true;
        }
    }
    return false;
}

#ifdef CONFIG_ARCH_RISCV
#include <riscv_memory.h>
#else
#include <arm_memory.h>
#endif

NO_INLINE void *mkperf_port_memory(const void *owner, uint64_t va, uint64_t bytes)
{
    word_t room = 0;
    word_t window = va % sizeof(word_t) == 0 ? translate((tcb_t *)owner, va, true, &room) : 0;

    return window != 0 && bytes <= room ? (void *)window : NULL;
}

NO_INLINE word_t mkperf_stackPage(struct mkperf_stack *stack, tcb_t *thread, word_t page)
{
    word_t room;
    word_t window = translate(thread, page, false, &room);

    if (likely(window != 0)) {
        stack->space = mkperf_spaceOf(thread);
        stack->page = page;
        stack->window = window;
    }
    return window;
}
