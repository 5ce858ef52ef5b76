/* SPDX-License-Identifier: BSD-2-Clause */
/* A PD's page tables: three levels, 4 KiB pages and 2 MiB blocks. */
#include <stdlib.h>

#include "pack.h"

bool tables_new(struct packer *p, uint64_t *tables)
{
    uint8_t *bytes = calloc(1, PAGE);

    return bytes != NULL && layout_allocate(p, PAGE, PAGE, bytes, tables);
}

/* Returns the entry for vaddr at `level` (2 or 3); makes missing tables. Returns NULL if there is
 * no memory for them. */
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
            *entry = p->machine->entry(next, p->machine->table_bits);
        }
        if (!p->machine->table(*entry, &tables)) {
            return entry; /* a block where a table should be: taken */
        }
    }
}

bool tables_map(struct packer *p, uint64_t tables, const struct mapping *m)
{
    bool blocks = m->page_size == BLOCK;
    uint64_t top = p->machine->user_top;
    bool in_ram = m->at >= p->machine->ram && m->at < p->machine->ram + (uint64_t)POCKET_RAM_BYTES;

    if (m->vaddr >= top || m->size > top - m->vaddr) {
        return refuse(p, m->line, "%s: pocket's address space ends at 0x%llx", m->what,
                      (unsigned long long)top);
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
        *entry = p->machine->entry(m->at + done, p->machine->leaf(m, in_ram));
    }
    return true;
}
