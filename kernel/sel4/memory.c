/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * From an address in a thread's address space to the kernel's own view of the memory there.
 *
 * Owns: the translation, by the kernel's page table structures in software. The MMU is not asked:
 * so nothing that a user address holds can fault, and PAR_EL1, which belongs to a guest, is left
 * alone. lookupPTSlot, which this repeats, is private to vspace.c.
 */
#include <mkperf_port.h>

#include <linker.h>

#include <arch/kernel/vspace.h>
#include <kernel/boot.h>
#include <mode/machine.h>
#include <plat/machine/devices_gen.h>

enum { MKPERF_MAX_RAM_REGIONS = 8 };

/*
 * The machine's RAM, as far as the kernel's window reaches: a copy, since the kernel's own list is
 * discarded after boot. A user may map a device as if it were memory; the hook must not follow.
 */
static struct {
    word_t n;
    p_region_t region[MKPERF_MAX_RAM_REGIONS];
} mkperf_ram ALIGN_BSS(sizeof(word_t));

BOOT_CODE void mkperf_initMemory(void)
{
    mkperf_ram.n = 0;
    for (word_t i = 0; i < ARRAY_SIZE(avail_p_regs) && i < MKPERF_MAX_RAM_REGIONS; i++) {
        mkperf_ram.region[i].start = MIN(avail_p_regs[i].start, PADDR_TOP);
        mkperf_ram.region[i].end = MIN(avail_p_regs[i].end, PADDR_TOP);
        mkperf_ram.n = i + 1;
    }
}

/* Whether the frame at paddr is memory. A frame is wholly within a region, or wholly outside. */
static bool_t mkperf_isRAM(paddr_t paddr)
{
    for (word_t i = 0; i < mkperf_ram.n; i++) {
        if (mkperf_ram.region[i].start <= paddr && paddr < mkperf_ram.region[i].end) {
            return true;
        }
    }
    return false;
}

/* Whether pte maps memory, cached as the kernel's own view of it is, that user code may read, or
 * also write. MKPERF_AP_READ is set in what both encode. */
static bool_t mkperf_mapsMemory(pte_t pte, bool_t write)
{
    word_t attributes;
    word_t ap;

    if (pte_get_pte_type(pte) == pte_pte_4k_page) {
        attributes = pte_pte_4k_page_get_AttrIndx(pte);
        ap = pte_pte_4k_page_get_AP(pte);
    } else if (pte_get_pte_type(pte) == pte_pte_page) {
        attributes = pte_pte_page_get_AttrIndx(pte);
        ap = pte_pte_page_get_AP(pte);
    } else {
        return false;
    }
    return attributes == MKPERF_PTE_NORMAL &&
           (write ? ap == MKPERF_AP_READ_WRITE : (ap & MKPERF_AP_READ) != 0);
}

/*
 * The kernel's view of va in the address space of thread, 0 unless it is mapped there for user
 * access (writable, if asked), as cached memory, in RAM. *room: bytes from there to the end of the
 * page. The address space is looked up through its ASID as the kernel itself does when it switches
 * to a thread: a page table is reachable from there as long as it exists, and no longer.
 */
static word_t mkperf_translate(tcb_t *thread, word_t va, bool_t write, word_t *room)
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

    if (unlikely(!mkperf_mapsMemory(pte, write))) {
        return 0;
    }

    paddr_t frame = pte_get_page_base_address(pte);
    word_t offset = va & MASK(bits);

    if (unlikely(!mkperf_isRAM(frame))) {
        return 0;
    }
    *room = BIT(bits) - offset;
    return (word_t)paddr_to_pptr(frame) + offset;
}

/* `bytes` from va on, 8-byte aligned and within one page of owner's that it may write; or NULL. */
NO_INLINE void *mkperf_memoryOf(tcb_t *owner, word_t va, word_t bytes)
{
    word_t room = 0;
    word_t window = va % sizeof(word_t) == 0 ? mkperf_translate(owner, va, true, &room) : 0;

    return window != 0 && bytes <= room ? (void *)window : NULL;
}

NO_INLINE word_t mkperf_stackPage(struct mkperf_stack *stack, tcb_t *thread, word_t page)
{
    word_t room;
    word_t window = mkperf_translate(thread, page, false, &room);

    if (likely(window != 0)) {
        stack->space = mkperf_spaceOf(thread);
        stack->page = page;
        stack->window = window;
    }
    return window;
}
