/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The architectures that pocket has: where RAM is, and the entries of page tables (Arm ARM D8.3, VMSAv8-64; RISC-V
 * privileged specification 4.4, Sv39).
 *
 * RAM is mapped as normal memory, anything else as device memory; the kernel's hook relies on it.
 */
#include <elf.h>

#include "pack.h"

#define ARM_TABLE UINT64_C(3)
#define ARM_PAGE UINT64_C(3)
#define ARM_BLOCK UINT64_C(1)
#define ARM_ADDRESS UINT64_C(0x0000fffffffff000)
#define ARM_USER (UINT64_C(1) << 6)
#define ARM_READ_ONLY (UINT64_C(1) << 7)
#define ARM_SHARED (UINT64_C(3) << 8)
#define ARM_ACCESSED (UINT64_C(1) << 10)
#define ARM_NOT_GLOBAL (UINT64_C(1) << 11)
#define ARM_KERNEL_NX (UINT64_C(1) << 53)
#define ARM_USER_NX (UINT64_C(1) << 54)

static uint64_t arm_leaf(const struct mapping *m, bool in_ram)
{
    uint64_t attribute = !in_ram     ? POCKET_ATTR_DEVICE
                         : m->cached ? POCKET_ATTR_NORMAL
                                     : POCKET_ATTR_UNCACHED;

    return attribute << 2 | ARM_USER | ARM_SHARED | ARM_ACCESSED | ARM_NOT_GLOBAL | ARM_KERNEL_NX |
           (m->write ? 0 : ARM_READ_ONLY) | (m->execute ? 0 : ARM_USER_NX) |
           (m->page_size == BLOCK ? ARM_BLOCK : ARM_PAGE);
}

static uint64_t arm_entry(uint64_t at, uint64_t bits)
{
    return at | bits;
}

static bool arm_table(uint64_t entry, uint64_t *at)
{
    *at = entry & ARM_ADDRESS;
    return (entry & ARM_TABLE) == ARM_TABLE;
}

#define RISCV_VALID UINT64_C(1)
#define RISCV_READ UINT64_C(2)
#define RISCV_WRITE UINT64_C(4)
#define RISCV_EXECUTE UINT64_C(8)
#define RISCV_USER UINT64_C(0x10)
#define RISCV_USED UINT64_C(0xc0) /* accessed, dirty: not every CPU sets them */

static uint64_t riscv_leaf(const struct mapping *m, bool in_ram)
{
    (void)in_ram; /* the CPU knows what is memory */
    return RISCV_VALID | RISCV_READ | RISCV_USER | RISCV_USED | (m->write ? RISCV_WRITE : 0) |
           (m->execute ? RISCV_EXECUTE : 0);
}

static uint64_t riscv_entry(uint64_t at, uint64_t bits)
{
    return at >> 2 | bits;
}

static bool riscv_table(uint64_t entry, uint64_t *at)
{
    *at = entry >> 10 << 12;
    return (entry & (RISCV_READ | RISCV_EXECUTE)) == 0;
}

static const struct machine machines[] = {
    {.elf = EM_AARCH64,
     .name = "AArch64",
     .ram = POCKET_AARCH64_RAM,
     .user_top = POCKET_AARCH64_TOP,
     .cores = POCKET_MAX_CORES,
     .first_irq = 16,
     .own_irq = 30,
     .table_bits = ARM_TABLE,
     .leaf = arm_leaf,
     .entry = arm_entry,
     .table = arm_table},
    {.elf = EM_RISCV,
     .name = "RISC-V",
     .ram = POCKET_RISCV64_RAM,
     .user_top = POCKET_RISCV64_TOP,
     .cores = 1,
     .first_irq = 1,
     .own_irq = POCKET_RISCV64_TICK_IRQ,
     .table_bits = RISCV_VALID,
     .leaf = riscv_leaf,
     .entry = riscv_entry,
     .table = riscv_table},
};

const struct machine *machine_of(unsigned elf)
{
    for (unsigned i = 0; i < sizeof machines / sizeof *machines; i++) {
        if (machines[i].elf == elf) {
            return &machines[i];
        }
    }
    return NULL;
}
