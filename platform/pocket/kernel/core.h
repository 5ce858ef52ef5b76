/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The kernel's objects: tasks (one a PD, and the idle task) and cores.
 *
 * Owns: their definitions and the contracts between the kernel's files. The kernel runs with
 * interrupts masked from entry to exit, on its core's stack, and blocks nowhere: an entry changes
 * states, and sched_exit picks who runs next. If the image has several cores, whoever is in the kernel
 * holds the one lock (smp.c), and each PD stays on its core.
 */
#ifndef POCKET_CORE_H
#define POCKET_CORE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include <mkperf/ring.h>

#include "../../../kernel/hook.h"
#include "arch.h"
#include "image.h"

enum { PRIORITIES = 256, MESSAGE_WORDS = 120, FAULT_WORDS = 5 };

#define NEVER UINT64_MAX /* a time in ticks that is never reached */

enum task_state {
    TASK_READY,     /* running or in a ready queue */
    TASK_RECEIVING, /* waits for a notification or a message */
    TASK_SENDING,   /* waits in its server's queue with a call, or in its parent's with a fault */
    TASK_AWAITING,  /* its message was delivered; waits for the reply */
    TASK_STOPPED,   /* runs again only if its parent restarts it */
    TASK_THROTTLED, /* ready, and waits for its budget's refill */
};

enum { BUDGET_REFILLS = 2 };

struct refill {
    uint64_t at; /* ticks */
    uint64_t amount;
};

struct budget {
    uint64_t period;                      /* ticks */
    unsigned refills;                     /* 0: there is no budget */
    struct refill refill[BUDGET_REFILLS]; /* refills in the order of time */
};

struct task {
    struct context context; /* the first member, because the assembly uses the address of either */
    struct fp_context fp;
    const struct pocket_pd *pd;      /* NULL: the idle task */
    struct mkperf_identity identity; /* the identity that samples have */
    /* The number that scheduling events have: below POCKET_MAX_PDS, or idle's. */
    unsigned number;
    bool served;       /* a task may send it a message */
    bool calling;      /* entered the kernel by a system call, and has not run since */
    bool faulted;      /* the message being sent is the fault below, not the IPC buffer's */
    bool restart;      /* was restarted while another core ran it: continues at restart_pc */
    uint64_t space;    /* the address space, from arch_space */
    uint64_t *message; /* the message words of its IPC buffer */
    struct core *core; /* where it runs */
    struct ready_queues *queues; /* the queues of its domain; NULL: the idle task */
    struct task *next;           /* the next task in a ready queue or in a server's queue */
    enum task_state state;
    int priority;         /* idle: -1 */
    uint64_t notified;    /* channels notified and not yet received */
    struct task *senders; /* waiting to be received, highest priority first */
    struct task *serving; /* whose call or fault this task has received and not answered */
    struct task *server;  /* while SENDING or AWAITING: to whom */
    uint64_t badge;       /* belongs to the message that it sends */
    uint64_t info;        /* belongs to the message that it sends */
    struct budget budget;
    uint64_t slice; /* what a preempted task has left of its time slice, ticks; 0: all */
    uint64_t restart_pc;
    uint64_t fault[FAULT_WORDS];
};

struct ready_queues {
    uint64_t occupied[PRIORITIES / 64]; /* bit set: the queue of that priority is not empty */
    struct task *head[PRIORITIES];
    struct task *tail[PRIORITIES];
};

/* The page of a task's stack that the hook found last. */
struct found_page {
    const void *thread;
    uint64_t va;
    uintptr_t window; /* 0: it has none there */
};

/* One for each core, at the top of its stack. Other cores reach it with the lock. */
struct core {
    struct task *current;  /* the first member, because the assembly reads it */
    struct task *fp_owner; /* whose FP registers the core holds */
    uint64_t last_entry;   /* the C function of the last kernel entry, for samples */
    uint32_t iar;          /* the interrupt being handled */
    unsigned number;
    bool reschedule;      /* current may no longer be the right one */
    bool ticking;         /* current has a time slice, until: */
    bool slice_over;      /* current has used it up */
    bool inside;          /* kernel samples are of what the kernel does now: irq_boundary_inside */
    uint64_t slice_end;   /* ticks */
    uint64_t timer;       /* when the scheduler needs the timer; NEVER: it does not */
    uint64_t armed;       /* what the timer is set to; NEVER: it is off */
    struct budget *payer; /* whose budget is being used, NULL: none; */
    uint64_t charged;     /* has paid until this time */
    struct task idle;
    struct mkperf_hook hook;
    /* pages of threads that do not run, by level */
    struct found_page stack[MKPERF_MAX_CALLERS + 1];
    struct ready_queues ready[POCKET_DOMAINS];
    struct ready_queues *queues; /* the queues of the domain that may run now */
    unsigned window;             /* number of the present window in the domain schedule */
    uint64_t window_end;         /* ticks; NEVER: there is no domain schedule */
    bool window_new;             /* it was not reported yet */
    /* If there are several cores: */
    bool called;              /* another core's interrupt is on its way here */
    bool asleep;              /* idle's counters are off */
    uint32_t pace_random;     /* state of the pacer's jitter */
    uint64_t pace_at;         /* when the pacer needs the timer; NEVER: it does not run */
    uint32_t overflowed;      /* the PMU's flags when the kernel was entered */
    const struct task *asked; /* whose request of the profiler's is to be carried out here, NULL: */
    uint64_t asked_at;        /* none; where its descriptor is */
};

static inline bool in_ram(uint64_t physical)
{
    return physical - POCKET_RAM < POCKET_RAM_BYTES;
}

/* main.c */
extern struct task tasks[POCKET_MAX_PDS];
extern unsigned ntasks;
extern struct core *cores[POCKET_MAX_CORES];
extern unsigned ncores;
void boot_main(struct core *core);

/* aarch64/smp.c: only where ncores > 1 */
void smp_boot(void);
struct task *smp_first(struct core *core);
bool smp_irq_fast(struct core *core);
struct task *smp_irq_slow(void);
struct task *smp_trap_from_user(void);

/* sched.c */
void sched_ready(struct task *t, bool front);
void sched_enqueue(struct task *t, bool front);
void sched_remove(struct task *t);
void sched_tick(void);
uint64_t sched_clock(void);
void sched_arm_timer(struct core *core);
extern const struct pocket_image *sched_image; /* has the domain schedule */
struct task *sched_exit(void);

/* budget.c */
extern bool budgets;
uint64_t ticks_of(uint64_t us);
void budget_init(struct task *t);
struct budget *budget_of(struct task *t);
void budget_charge(struct core *core, uint64_t now);
void budget_resume(struct budget *b, uint64_t now);
void budget_release(struct core *core, uint64_t now);
uint64_t budget_deadline(const struct core *core, struct task *t);

/* ipc.c */
void ipc_notify(struct task *to, uint64_t badge);
void ipc_send(struct task *from, struct task *to, uint64_t badge, uint64_t info);
void ipc_cancel(struct task *t);
struct task *task_child(const struct task *parent, uint64_t child_id);
void sys_notify(struct task *t);
void sys_ppcall(struct task *t);
void sys_recv(struct task *t);
void sys_reply_recv(struct task *t);
void sys_pd_restart(struct task *t);
void sys_pd_stop(struct task *t);
void sys_tcb_read_registers(struct task *t);

/* revoke.c */
void sys_page(struct task *t);
void sys_pd_delete(struct task *t);

/* trap.c */
struct task *trap_from_user(void);
void __attribute__((noreturn)) trap_in_kernel(uint64_t vector);
void fault_entry(struct task *t, uint64_t esr, uint64_t far);

/* irq.c: the task that profiling interrupts notify, NULL without a holder of irq 23 */
extern struct task *pmu_task;
extern uint64_t pmu_badge;
void irq_bind_all(const struct core *core);
void irq_entry(struct core *core);
void irq_boundary(struct core *core, uint32_t hit);
void irq_boundary_inside(struct core *core, uint32_t hit);
struct task *irq_slow(void);
void *irq_find_memory(const struct task *t, uint64_t va, uint64_t bytes, bool write);
void irq_request(struct core *core, struct task *t);
void irq_request_here(struct core *core);
void sys_irq_ack(struct task *t);

#include "qemu_pmu.h"

/* Returns whether something looks at switches. If not, this test is all that they cost. */
static inline bool watched(const struct core *core)
{
    return __builtin_expect(core->hook.reports || pmu_watches_kernel(&core->hook), 0);
}

/* Returns whether kernel/sched.c reports what happens on this core. */
static inline bool reported(const struct core *core)
{
    return __builtin_expect(core->hook.reports, 0);
}

/* console.c of the architecture: the UART of QEMU's virt machine */
void console_putc(char c);
void console_flush(bool anyway); /* writes what waits for a PD; anyway: even if it still writes */
void console_puts(const char *s);
void console_hex(uint64_t value);
void sys_dbg_putc(struct task *t);

#endif
