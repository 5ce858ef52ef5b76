/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * For memory.c: the translation on AArch64. The MMU is not asked, so PAR_EL1, which belongs to a guest, keeps its value.
 * lookupPTSlot would do a part of this, but is private to vspace.c.
 */

/* Returns whether pte maps memory that user code may read (write: and write), with the cache
 * attributes of the kernel's own view. The bit MKPERF_AP_READ is set in both encodings of
 * rights. */
static bool_t mapsMemory(pte_t pte, bool_t write)
{
    /* Pages of all sizes have these fields at the same bits, and the kernel has functions for each size. */
    word_t attributes = pte.words[0] >> 2 & MKPERF_PTE_ATTRIBUTES;
    word_t ap = pte.words[0] >> 6 & MASK(2);

    return (pte_get_pte_type(pte) == pte_pte_4k_page || pte_get_pte_type(pte) == pte_pte_page) &&
           attributes == MKPERF_PTE_NORMAL &&
           (write ? ap == MKPERF_AP_READ_WRITE : (ap & MKPERF_AP_READ) != 0);
}

/*
 * Returns the kernel's view of va in the address space of a thread, and in *room the bytes from there to the
 * end of the page. 0: va is not mapped there as cached RAM that user code may read (write: and write). The
 * address space is looked up through its ASID, as in setVMRoot: a page table can be reached that way as long
 * as it exists, and not afterwards.
 */
static word_t translate(tcb_t *thread, word_t va, bool_t write, word_t *room)
{
    cap_t root = TCB_PTR_CTE_PTR(thread, tcbVTable)->cap;

    if (unlikely(!isValidVTableRoot(root) || va >= USER_TOP)) {
        return 0;
    }

    pte_t *table = PT_PTR(cap_vspace_cap_get_capVSBasePtr(root));
    asid_map_t map = findMapForASID(cap_vspace_cap_get_capVSMappedASID(root));

    if (unlikely(asid_map_get_type(map) != asid_map_asid_map_vspace ||
                 asid_map_asid_map_vspace_get_vspace_root(map) != (word_t)table)) {
        return 0;
    }

    word_t level = UPT_LEVELS - 1;
    word_t bits = PT_INDEX_BITS * level + seL4_PageBits;
    pte_t *slot = table + ((va >> bits) & MASK(seL4_VSpaceIndexBits));

    while (pte_pte_table_ptr_get_present(slot) && level > 0) {
        level--;
        bits -= PT_INDEX_BITS;
        table = paddr_to_pptr(pte_pte_table_ptr_get_pt_base_address(slot));
        slot = table + ((va >> bits) & MASK(PT_INDEX_BITS));
    }

    pte_t pte = *slot;

    if (unlikely(!mapsMemory(pte, write))) {
        return 0;
    }

    paddr_t frame = pte_get_page_base_address(pte);
    word_t offset = va & MASK(bits);

    if (unlikely(!isRAM(frame))) {
        return 0;
    }
    *room = BIT(bits) - offset;
    return (word_t)paddr_to_pptr(frame) + offset;
}
