/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * The hook's place in seL4: who may profile, and what becomes of the profiling interrupt.
 *
 * Authority: the interrupt's handler is bound to a notification, the notification to a thread, and
 * that thread's IPC buffer page holds a descriptor. Whoever can arrange this owns the interrupt;
 * without it the interrupt is an interrupt like any other.
 */
#include <mkperf_port.h>

#include <arch/machine.h>
#include <mkperf.h>
#include <mode/machine.h>
#include <object/notification.h>
#include <plat/machine/devices_gen.h>

enum { MKPERF_MAX_RAM_REGIONS = 8 };

/*
 * The machine's RAM, as far as the kernel's window reaches: a copy, since the kernel's own list is
 * discarded after boot. A user may map a device as if it were memory; the hook must not follow.
 */
struct mkperf_ram {
    word_t n;
    struct {
        paddr_t start;
        word_t size;
    } region[MKPERF_MAX_RAM_REGIONS];
};

/*
 * Fields of a page table entry, each as structures.bf and vspace.c encode them: the type, cached
 * write-back memory (S2_NORMAL, NORMAL), and the right of user code to read, to read and write.
 */
#define MKPERF_PTE_TYPE (BIT(58) | MASK(2))
#define MKPERF_PTE_TABLE SEL4_WORD_CONST(3)
#define MKPERF_PTE_PAGE SEL4_WORD_CONST(1)
#define MKPERF_PTE_4K_PAGE (BIT(58) | 3)
#ifdef CONFIG_ARM_HYPERVISOR_SUPPORT
#define MKPERF_PTE_ATTRIBUTES (MASK(4) << 2)
#define MKPERF_PTE_NORMAL (SEL4_WORD_CONST(15) << 2)
#define MKPERF_PTE_READ_WRITE (SEL4_WORD_CONST(3) << 6)
#else
#define MKPERF_PTE_ATTRIBUTES (MASK(3) << 2)
#define MKPERF_PTE_NORMAL (SEL4_WORD_CONST(4) << 2)
#define MKPERF_PTE_READ_WRITE (SEL4_WORD_CONST(1) << 6)
#endif
#define MKPERF_PTE_BASE (MASK(36) << 12)
#define MKPERF_PTE_ACCESS (MASK(2) << 6)
#define MKPERF_PTE_READ (SEL4_WORD_CONST(1) << 6) /* set by read-only and by read-write */

struct mkperf_node mkperf_node[CONFIG_MAX_NUM_NODES];
static struct mkperf_ram mkperf_ram;

enum {
    PMUSERENR_EN = BIT(0),
    PMCR_N_SHIFT = 11,
    PMCR_N_MASK = MASK(5),
    MDCR_HPMN_MASK = MASK(5),
    MDCR_TPMCR = BIT(5),
    MDCR_TPM = BIT(6),
    MDCR_HPMD = BIT(17),
};

/*
 * Every event counter may interrupt and may count in the kernel. The cycle counter's interrupt is
 * left alone.
 */
BOOT_CODE void mkperf_initCPU(void)
{
    word_t value;

#ifdef CONFIG_ARM_HYPERVISOR_SUPPORT
    word_t counters;

    MRS("pmcr_el0", counters);
    counters = (counters >> PMCR_N_SHIFT) & PMCR_N_MASK;
    MRS("mdcr_el2", value);
    value &= ~(word_t)(MDCR_HPMN_MASK | MDCR_TPMCR | MDCR_TPM | MDCR_HPMD);
    MSR("mdcr_el2", value | counters);
#endif
    MRS("pmuserenr_el0", value);
    MSR("pmuserenr_el0", value | PMUSERENR_EN);
    MSR("pmintenset_el1", MASK(MKPERF_MAX_COUNTERS));

    mkperf_ram.n = 0;
    for (word_t i = 0; i < ARRAY_SIZE(avail_p_regs) && i < MKPERF_MAX_RAM_REGIONS; i++) {
        mkperf_ram.region[i].start = MIN(avail_p_regs[i].start, PADDR_TOP);
        mkperf_ram.region[i].size = MIN(avail_p_regs[i].end, PADDR_TOP) -
                                    mkperf_ram.region[i].start;
        mkperf_ram.n = i + 1;
    }
}

/* Whether the frame at paddr is memory. A frame is wholly within a region, or wholly outside. */
static bool_t isRAM(paddr_t paddr)
{
    for (word_t i = 0; i < mkperf_ram.n; i++) {
        if (likely(paddr - mkperf_ram.region[i].start < mkperf_ram.region[i].size)) {
            return true;
        }
    }
    return false;
}

NO_INLINE word_t mkperf_translate(struct mkperf_translation *t, tcb_t *thread, word_t va,
                                  bool_t write)
{
    const word_t fields = MKPERF_PTE_TYPE | MKPERF_PTE_ATTRIBUTES |
                          (write ? MKPERF_PTE_ACCESS : MKPERF_PTE_READ);
    const word_t wanted = MKPERF_PTE_NORMAL | (write ? MKPERF_PTE_READ_WRITE : MKPERF_PTE_READ);
    cap_t root = TCB_PTR_CTE_PTR(thread, tcbVTable)->cap;

    if (unlikely(cap_get_capType(root) != cap_vspace_cap ||
                 !cap_vspace_cap_get_capVSIsMapped(root))) {
        return 0;
    }

    pte_t *table = PT_PTR(cap_vspace_cap_get_capVSBasePtr(root));
    asid_map_t map = findMapForASID(cap_vspace_cap_get_capVSMappedASID(root));
    word_t bits = PT_INDEX_BITS * (UPT_LEVELS - 1) + seL4_PageBits;

    if (unlikely(asid_map_get_type(map) != asid_map_asid_map_vspace ||
                 asid_map_asid_map_vspace_get_vspace_root(map) != (word_t)table ||
                 va >> bits >= BIT(seL4_VSpaceIndexBits) || va % sizeof(word_t) != 0)) {
        return 0;
    }

    word_t entry = table[va >> bits].words[0];
    word_t level = 1;

    while (level < UPT_LEVELS && (entry & MKPERF_PTE_TYPE) == MKPERF_PTE_TABLE) {
        level++;
        bits -= PT_INDEX_BITS;
        table = paddr_to_pptr(entry & MKPERF_PTE_BASE);
        entry = table[(va >> bits) & MASK(PT_INDEX_BITS)].words[0];
    }

    word_t type = level == UPT_LEVELS ? MKPERF_PTE_4K_PAGE : MKPERF_PTE_PAGE;
    paddr_t frame = entry & MKPERF_PTE_BASE;

    if (unlikely((entry & fields) != (wanted | type) || !isRAM(frame))) {
        return 0;
    }

    word_t offset = va & MASK(bits);

    t->space = root.words[1];
    t->va = va;
    t->window = (word_t)paddr_to_pptr(frame) + offset;
    t->room = BIT(bits) - offset;
    return t->window;
}

bool_t mkperf_handleInterrupt(irq_t irq)
{
    struct mkperf_node *node = &mkperf_node[CURRENT_CPU_INDEX()];

    if (IRQT_TO_IRQ(irq) != CONFIG_MKPERF_IRQ || (!node->captured && !mkperf_sample(node, irq))) {
        return false;
    }
    node->captured = false;
    if (node->attention & MKPERF_ATTENTION_WAKE) {
        node->attention &= ~(word_t)MKPERF_ATTENTION_WAKE;
        cap_t cap = mkperf_notificationOf(irq);

        if (cap_get_capType(cap) == cap_notification_cap) {
            sendSignal(NTFN_PTR(cap_notification_cap_get_capNtfnPtr(cap)),
                       cap_notification_cap_get_capNtfnBadge(cap));
        }
    }
    mkperf_complete(irq);
    return true;
}

void mkperf_threadDeleted(tcb_t *tcb)
{
    for (word_t i = 0; i < CONFIG_MAX_NUM_NODES; i++) {
        if (mkperf_node[i].entryThread == tcb) {
            mkperf_node[i].entryThread = NULL;
        }
    }
}

/* The table of software events, and the descriptor that speaks of it; NULL, and no more events, if
 * nobody wants them. */
static struct mkperf_soft *softTable(struct mkperf_node *node, const struct mkperf_descriptor **d)
{
    struct mkperf_soft *table = NULL;

    *d = mkperf_published(node, CORE_IRQ_TO_IRQT(CURRENT_CPU_INDEX(), CONFIG_MKPERF_IRQ));
    if (*d != NULL) {
        table = mkperf_port_soft(*d);
    }
    if (table == NULL && !node->counted) {
        node->attention &= ~(word_t)MKPERF_ATTENTION_WATCH;
    }
    return table;
}

/* What the counters counted since the last time. */
static void count(struct mkperf_node *node, uint64_t user, uint64_t kernel)
{
    const struct mkperf_descriptor *d =
        mkperf_published(node, CORE_IRQ_TO_IRQT(CURRENT_CPU_INDEX(), CONFIG_MKPERF_IRQ));
    struct mkperf_counts *table = NULL;

    node->counted = false;
    if (d != NULL) {
        table = mkperf_port_counts(d);
    }
    if (table != NULL) {
        mkperf_counts_entry(d, &node->counting, table, user, kernel,
                            mkperf_port_identity(node->consumer));
    }
}

void mkperf_countIdle(void)
{
    struct mkperf_node *node = &mkperf_node[CURRENT_CPU_INDEX()];

    if (node->counted && node->entryKnown) {
        count(node, node->entryId, node->entryId);
    }
}

static void softEvent(word_t kind, uint64_t from, uint64_t to)
{
    const struct mkperf_descriptor *d;
    struct mkperf_soft *table = softTable(&mkperf_node[CURRENT_CPU_INDEX()], &d);

    if (table != NULL) {
        mkperf_soft_event(d, table, kind, from, to);
    }
}

NO_INLINE void mkperf_softEvent(word_t kind, tcb_t *from, tcb_t *to)
{
    softEvent(kind, mkperf_port_identity(from), mkperf_port_identity(to));
}

NO_INLINE void mkperf_softSwitch(void)
{
    struct mkperf_node *node = &mkperf_node[CURRENT_CPU_INDEX()];
    tcb_t *thread = NODE_STATE(ksCurThread);
    uint64_t id = mkperf_port_identity(thread);

    if (node->counted) {
        /* The idle thread is the kernel's own code. */
        bool_t before = node->entryKnown && thread != NODE_STATE(ksIdleThread);

        count(node, id, before ? node->entryId : id);
    }
    if (node->entryKnown && node->entryThread != thread) {
        softEvent(MKPERF_SOFT_SWITCH, node->entryId, id);
    }
    node->entryId = id;
    node->entryKnown = mkperf_watching();
}

/* What a thread itself did wrong: not a guest's exit, nor a budget that is used up. */
NO_INLINE void mkperf_softFault(tcb_t *tcb)
{
    struct mkperf_node *node = &mkperf_node[CURRENT_CPU_INDEX()];
    const struct mkperf_descriptor *d;
    struct mkperf_soft *table = softTable(node, &d);
    word_t type = seL4_Fault_get_seL4_FaultType(current_fault);
    bool_t memory = type == seL4_Fault_VMFault;

    if (table != NULL && (memory || type == seL4_Fault_CapFault ||
                          type == seL4_Fault_UnknownSyscall || type == seL4_Fault_UserException)) {
        mkperf_soft_fault(d, &node->capture, table, mkperf_port_identity(tcb),
                          getRegister(tcb, FaultIP),
                          memory ? seL4_Fault_VMFault_get_address(current_fault) : 0);
    }
}
