/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Selftest: runs the tests that need nothing but time, each a state entered from an event, and
 * prints `ok NAME` or `not ok NAME`. tests/system/pocket.sh reads that. Ends with `done`.
 */
#include <microkit.h>

#include <stdbool.h>

#include "shared.h"

enum {
    SERVER = 1,
    RELAY = 2,
    VICTIM = 4,
    ROGUE = 5,
    SPIN1 = 10,
    SPIN2 = 11,
    TIMER = 20,
    CHILD = 3
};

volatile struct shared *shared;
uint64_t shared_size;
uint64_t fixed_paddr;

static enum { WAIT_TIMER, FAULTS, ROGUE_FAULT, SPINNING, DONE } state;
static unsigned spun;
static uint64_t expected_fault[ACT_LAST + 1] = {
    [ACT_NULL_READ] = seL4_Fault_VMFault,      [ACT_WRITE_TEXT] = seL4_Fault_VMFault,
    [ACT_JUMP_DATA] = seL4_Fault_VMFault,      [ACT_UNDEFINED] = seL4_Fault_UserException,
    [ACT_STACK_OVERFLOW] = seL4_Fault_VMFault, [ACT_WRITE_SHARED] = seL4_Fault_VMFault,
    [ACT_READ_KERNEL] = seL4_Fault_VMFault,    [ACT_SYSREG] = seL4_Fault_UserException,
    [ACT_SYSCALL] = seL4_Fault_UserException,
};
static const char *const fault_names[ACT_LAST + 1] = {
    [ACT_NULL_READ] = "fault-null",          [ACT_WRITE_TEXT] = "fault-write-text",
    [ACT_JUMP_DATA] = "fault-jump-data",     [ACT_UNDEFINED] = "fault-undefined",
    [ACT_STACK_OVERFLOW] = "fault-stack",    [ACT_WRITE_SHARED] = "fault-read-only-map",
    [ACT_READ_KERNEL] = "fault-read-kernel", [ACT_SYSREG] = "fault-system-register",
    [ACT_SYSCALL] = "fault-system-call",
};

static void result(const char *name, bool ok)
{
    microkit_dbg_puts(ok ? "ok " : "not ok ");
    microkit_dbg_puts(name);
    microkit_dbg_puts("\n");
}

static void timer_after_ms(uint64_t ms)
{
    __asm__ volatile("msr cntv_tval_el0, %0\n\tmsr cntv_ctl_el0, %1\n\tisb"
                     :
                     : "r"(hz() * ms / 1000), "r"((uint64_t)1));
}

static void timer_off(void)
{
    __asm__ volatile("msr cntv_ctl_el0, xzr\n\tisb");
}

static void test_layout(void)
{
    shared->act = 0;
    result("setvar", shared_size == 0x1000 && fixed_paddr == 0x48000000);
    *(volatile uint64_t *)0x4002000 = 5;
    result("fixed-region", *(volatile uint64_t *)0x4002000 == 5);
}

static void test_call(void)
{
    uint64_t low;
    uint64_t high;
    microkit_msginfo answer;

    for (unsigned i = 0; i < 64; i++) {
        microkit_mr_set((uint8_t)i, (seL4_Word)i * 1000);
    }
    __asm__ volatile("dup v8.2d, %0\n\tdup v31.2d, %0" : : "r"((uint64_t)0x1234));
    answer = microkit_ppcall(SERVER, microkit_msginfo_new(41, 64));
    __asm__ volatile("umov %0, v8.d[0]\n\tumov %1, v31.d[1]" : "=r"(low), "=r"(high));
    result("ppcall", microkit_msginfo_get_label(answer) == 42 &&
                         microkit_msginfo_get_count(answer) == 3 && microkit_mr_get(0) == 2016000 &&
                         microkit_mr_get(2) == 7);
    result("setvar-id", microkit_mr_get(1) == 7);
    result("fp-registers", low == 0x1234 && high == 0x1234);
    microkit_mr_set(0, 10);
    answer = microkit_ppcall(RELAY, microkit_msginfo_new(1, 1));
    result("ppcall-nested", microkit_msginfo_get_label(answer) == 3 && microkit_mr_get(0) == 11 &&
                                microkit_mr_get(2) == 8);
}

static void next_fault(void)
{
    if (shared->act == ACT_LAST) {
        state = ROGUE_FAULT;
        shared->act = ACT_NULL_READ;
        microkit_notify(ROGUE); /* `rogue` has a lower priority, so it runs when this returns */
        timer_after_ms(5);
    } else {
        shared->act++;
        microkit_notify(VICTIM);
    }
}

void init(void)
{
    microkit_dbg_puts("start\n");
    test_layout();
    test_call();
    timer_after_ms(10);
}

static void start_spinning(void)
{
    state = SPINNING;
    microkit_notify(SPIN1);
    microkit_notify(SPIN2);
    timer_after_ms(100);
}

/* Both got their turns, and this PD took the processor from them at once. */
static void check_spinning(uint64_t late)
{
    uint64_t a = shared->ticks[0];
    uint64_t b = shared->ticks[1];

    shared->stop = 1;
    result("preemption", late < hz() / 1000 && shared->alive == 2);
    result("round-robin", a > 1000 && b > 1000 && a < 2 * b && b < 2 * a);
}

static void on_timer(void)
{
    int32_t value;

    __asm__ volatile("mrs %x0, cntv_tval_el0" : "=r"(value));
    timer_off();
    microkit_irq_ack(TIMER);
    if (state == WAIT_TIMER) {
        result("irq", true);
        state = FAULTS;
        next_fault();
    } else if (state == ROGUE_FAULT) {
        start_spinning();
    } else if (state == SPINNING) {
        check_spinning((uint64_t) - (int64_t)value);
    }
}

void notified(microkit_channel ch)
{
    if (ch == TIMER) {
        on_timer();
    } else if (ch == VICTIM && state == FAULTS) {
        result(fault_names[shared->act], false);
        next_fault();
    } else if (ch == SPIN1 || ch == SPIN2) {
        if (++spun == 2) {
            result("notifications", true);
            microkit_dbg_puts("done\n");
        }
    }
}

/* Handles the victim's fault: it is as expected, and a restart makes it wait for the next
 * notification. */
seL4_Bool fault(microkit_child child, microkit_msginfo info, microkit_msginfo *reply)
{
    uint64_t pc = microkit_mr_get(seL4_VMFault_IP);

    (void)reply;
    result(fault_names[shared->act],
           child == CHILD && state == FAULTS && pc != 0 &&
               microkit_msginfo_get_label(info) == expected_fault[shared->act]);
    if (shared->act == ACT_LAST) {
        microkit_pd_stop(child);
    } else {
        microkit_pd_restart(child, 0x200000);
    }
    next_fault();
    return seL4_False;
}
