/* SPDX-License-Identifier: GPL-2.0-only */
/* For memory.c: the translation on RISC-V. A page has no cache attributes, so isRAM alone tells devices from memory. */

/* Returns the kernel's view of va in the address space of a thread, and in *room the bytes from there to the end of the
 * page. 0: va is not mapped there as RAM that user code may read (write: and write). */
static word_t translate(tcb_t *thread, word_t va, bool_t write, word_t *room)
{
    cap_t root = TCB_PTR_CTE_PTR(thread, tcbVTable)->cap;

    if (unlikely(!isValidVTableRoot(root) || va >= USER_TOP)) {
        return 0;
    }

    pte_t *table = PTE_PTR(cap_page_table_cap_get_capPTBasePtr(root));
    asid_t asid = cap_page_table_cap_get_capPTMappedASID(root);
    asid_pool_t *pool = riscvKSASIDTable[asid >> asidLowBits];

    if (unlikely(pool == NULL || pool->array[asid & MASK(asidLowBits)] != table)) {
        return 0;
    }

    lookupPTSlot_ret_t found = lookupPTSlot(table, va);
    pte_t pte = *found.ptSlot;
    paddr_t frame = pte_get_ppn(pte) << seL4_PageBits;
    word_t offset = va & MASK(found.ptBitsLeft);

    /* A page table has none of these rights. */
    if (unlikely(!pte_get_valid(pte) || !pte_get_user(pte) || !pte_get_read(pte) ||
                 (write && !pte_get_write(pte)) || !isRAM(frame))) {
        return 0;
    }
    *room = BIT(found.ptBitsLeft) - offset;
    return (word_t)paddr_to_pptr(frame) + offset;
}
