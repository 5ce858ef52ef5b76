/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * A PD's page tables: three levels, 4 KiB pages and 2 MiB blocks (Arm ARM D8.3, VMSAv8-64).
 *
 * RAM is mapped as normal memory, anything else as device memory; the kernel's hook relies on it.
 */
#include <stdlib.h>

#include "pack.h"

#define ENTRY_TABLE UINT64_C(3)
#define ENTRY_PAGE UINT64_C(3)
#define ENTRY_BLOCK UINT64_C(1)
#define ENTRY_ADDRESS UINT64_C(0x0000fffffffff000)
#define ENTRY_USER (UINT64_C(1) << 6)
#define ENTRY_READ_ONLY (UINT64_C(1) << 7)
#define ENTRY_SHARED (UINT64_C(3) << 8)
#define ENTRY_ACCESSED (UINT64_C(1) << 10)
#define ENTRY_NOT_GLOBAL (UINT64_C(1) << 11)
#define ENTRY_KERNEL_NX (UINT64_C(1) << 53)
#define ENTRY_USER_NX (UINT64_C(1) << 54)

bool tables_new(struct packer *p, uint64_t *tables)
{
    uint8_t *bytes = calloc(1, PAGE);

    return bytes != NULL && layout_allocate(p, PAGE, PAGE, bytes, tables);
}

static uint64_t rights(const struct mapping *m)
{
    bool in_ram = m->at >= POCKET_RAM && m->at < POCKET_RAM + (uint64_t)POCKET_RAM_BYTES;
    uint64_t attribute = !in_ram     ? POCKET_ATTR_DEVICE
                         : m->cached ? POCKET_ATTR_NORMAL
                                     : POCKET_ATTR_UNCACHED;

    return attribute << 2 | ENTRY_USER | ENTRY_SHARED | ENTRY_ACCESSED | ENTRY_NOT_GLOBAL |
           ENTRY_KERNEL_NX | (m->write ? 0 : ENTRY_READ_ONLY) | (m->execute ? 0 : ENTRY_USER_NX);
}

/* The entry for vaddr at `level` (2 or 3); makes missing tables. NULL: out of memory. */
static uint64_t *entry_at(struct packer *p, uint64_t tables, uint64_t vaddr, unsigned level)
{
    for (unsigned l = 1;; l++) {
        unsigned shift = 39 - 9 * l;
        uint64_t *table = (uint64_t *)(void *)layout_bytes(&p->layout, tables);
        uint64_t *entry = &table[vaddr >> shift & 511];
        if (l == level) {
            return entry;
        }
        if (*entry == 0) {
            uint64_t next;
            if (!tables_new(p, &next)) {
                return NULL;
            }
            *entry = next | ENTRY_TABLE;
        } else if ((*entry & ENTRY_TABLE) != ENTRY_TABLE) {
            return entry; /* a block where a table should be: taken */
        }
        tables = *entry & ENTRY_ADDRESS;
    }
}

bool tables_map(struct packer *p, uint64_t tables, const struct mapping *m)
{
    bool blocks = m->page_size == BLOCK;

    if (m->vaddr >= POCKET_USER_TOP || m->size > POCKET_USER_TOP - m->vaddr) {
        return refuse(p, m->line, "%s: pocket's address space ends at 0x%llx", m->what,
                      (unsigned long long)POCKET_USER_TOP);
    }
    for (uint64_t done = 0; done < m->size; done += m->page_size) {
        uint64_t *entry = entry_at(p, tables, m->vaddr + done, blocks ? 2 : 3);
        if (entry == NULL) {
            return refuse(p, m->line, "%s: no memory left for page tables", m->what);
        }
        if (*entry != 0) {
            unsigned long long vaddr = m->vaddr + done;
            return refuse(p, m->line, "%s at 0x%llx overlaps something else in the PD", m->what,
                          vaddr);
        }
        *entry = (m->at + done) | rights(m) | (blocks ? ENTRY_BLOCK : ENTRY_PAGE);
    }
    return true;
}
