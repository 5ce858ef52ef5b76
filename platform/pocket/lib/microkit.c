/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * libmicrokit on pocket: a PD's main loop and the operations of microkit.h.
 *
 * Owns: the variables that the packer fills in, and the one deferred operation. Every PD links it.
 */
#include <microkit.h>

#include <stdbool.h>
#include <stddef.h>

enum { CHANNEL_MASK = 0x3f, CHILD_MASK = 0xff };

char microkit_name[MICROKIT_PD_NAME_LENGTH];
seL4_Word microkit_irqs;
seL4_Word microkit_notifications;
seL4_Word microkit_pps;

extern seL4_IPCBuffer __sel4_ipc_buffer_obj; /* a page of its own, from the linker script */
seL4_IPCBuffer *__sel4_ipc_buffer = &__sel4_ipc_buffer_obj;

typedef void (*init_function)(void);
extern const init_function __init_array_start[];
extern const init_function __init_array_end[];

void pocket_main(void);

struct message {
    uint64_t badge;
    microkit_msginfo info;
};

/* One system call: x0 and x1 in and out. Message words in memory may change, hence "memory". x7 is
 * for PDs that read this PD's registers, as on seL4. */
#ifdef __riscv
#define SYSCALL_X7(number, a, b, kind)             \
    register uint64_t x0 __asm__("a0") = (a);      \
    register uint64_t x1 __asm__("a1") = (b);      \
    register uint64_t x7 __asm__("a7") = (kind);   \
    register uint64_t t0 __asm__("t0") = (number); \
    __asm__ volatile("ecall" : "+r"(x0), "+r"(x1) : "r"(x7), "r"(t0) : "memory")
#else
#define SYSCALL_X7(number, a, b, kind)           \
    register uint64_t x0 __asm__("x0") = (a);    \
    register uint64_t x1 __asm__("x1") = (b);    \
    register uint64_t x7 __asm__("x7") = (kind); \
    __asm__ volatile("svc %2" : "+r"(x0), "+r"(x1) : "i"(number), "r"(x7) : "memory")
#endif
#define SYSCALL(number, a, b) SYSCALL_X7(number, a, b, POCKET_X7_OTHER)

static enum { NOTHING, NOTIFY, IRQ_ACK } deferred;
static microkit_channel deferred_channel;

void microkit_dbg_putc(int c)
{
    SYSCALL(POCKET_SYS_DBG_PUTC, (uint64_t)c, 0);
}

static bool valid(seL4_Word channels, microkit_channel ch, const char *operation)
{
    if (ch <= MICROKIT_MAX_CHANNEL_ID && (channels >> ch & 1) != 0) {
        return true;
    }
    microkit_dbg_puts(microkit_name);
    microkit_dbg_puts(": ");
    microkit_dbg_puts(operation);
    microkit_dbg_puts(": invalid channel ");
    microkit_dbg_put32(ch);
    microkit_dbg_puts("\n");
    return false;
}

void microkit_notify(microkit_channel ch)
{
    if (valid(microkit_notifications, ch, "microkit_notify")) {
        SYSCALL(POCKET_SYS_NOTIFY, ch, 0);
    }
}

void microkit_irq_ack(microkit_channel ch)
{
    if (valid(microkit_irqs, ch, "microkit_irq_ack")) {
        SYSCALL(POCKET_SYS_IRQ_ACK, ch, 0);
    }
}

_Static_assert(BASE_ENDPOINT_CAP == POCKET_ENDPOINT, "one number for endpoints");

microkit_msginfo microkit_ppcall(microkit_channel ch, microkit_msginfo msginfo)
{
    if (!valid(microkit_pps, ch, "microkit_ppcall")) {
        return microkit_msginfo_new(0, 0);
    }
    SYSCALL_X7(POCKET_SYS_PPCALL, BASE_ENDPOINT_CAP + ch, msginfo.words[0], POCKET_X7_CALL);
    return (microkit_msginfo){{x1}};
}

void microkit_deferred_notify(microkit_channel ch)
{
    if (valid(microkit_notifications, ch, "microkit_deferred_notify")) {
        deferred = NOTIFY;
        deferred_channel = ch;
    }
}

void microkit_deferred_irq_ack(microkit_channel ch)
{
    if (valid(microkit_irqs, ch, "microkit_deferred_irq_ack")) {
        deferred = IRQ_ACK;
        deferred_channel = ch;
    }
}

static void __attribute__((noreturn)) crash(const char *what)
{
    microkit_dbg_puts(microkit_name);
    microkit_dbg_puts(what);
    for (;;) {
        __builtin_trap();
    }
}

void microkit_pd_restart(microkit_child pd, seL4_Word entry_point)
{
    SYSCALL(POCKET_SYS_PD_RESTART, pd, entry_point);
    if (x0 == 0) {
        crash(": microkit_pd_restart: no such child\n");
    }
}

void microkit_pd_stop(microkit_child pd)
{
    SYSCALL(POCKET_SYS_PD_STOP, pd, 0);
    if (x0 == 0) {
        crash(": microkit_pd_stop: no such child\n");
    }
}

int seL4_TCB_ReadRegisters(seL4_TCB tcb, seL4_Bool suspend, seL4_Uint8 arch_flags, seL4_Word count,
                           seL4_UserContext *regs)
{
    seL4_Word *word = (seL4_Word *)regs;
    seL4_Word slot = tcb >> MICROKIT_SLOT_SHIFT;
    seL4_Word which = slot != 0 ? POCKET_TCB_SLOT | slot : tcb - BASE_TCB_CAP;

    (void)suspend;
    (void)arch_flags;
    SYSCALL(POCKET_SYS_TCB_READ_REGISTERS, which, count);
    for (seL4_Word i = 0; x0 != 0 && i < count; i++) {
        word[i] = __sel4_ipc_buffer->msg[i];
    }
    return x0 == 0;
}

static struct message recv(void)
{
    SYSCALL_X7(POCKET_SYS_RECV, 0, 0, POCKET_X7_RECV);
    return (struct message){x0, {{x1}}};
}

static struct message reply_recv(microkit_msginfo reply)
{
    SYSCALL_X7(POCKET_SYS_REPLY_RECV, 0, reply.words[0], POCKET_X7_REPLY_RECV);
    return (struct message){x0, {{x1}}};
}

__attribute__((weak)) void notified(microkit_channel ch)
{
    (void)ch;
    crash(" is missing the 'notified' entry point\n");
}

__attribute__((weak)) microkit_msginfo protected(microkit_channel ch, microkit_msginfo msginfo)
{
    (void)ch;
    (void)msginfo;
    crash(" is missing the 'protected' entry point\n");
}

__attribute__((weak)) seL4_Bool fault(microkit_child child, microkit_msginfo msginfo,
                                      microkit_msginfo *reply_msginfo)
{
    (void)child;
    (void)msginfo;
    (void)reply_msginfo;
    crash(" is missing the 'fault' entry point\n");
}

static void run_deferred(void)
{
    if (deferred == NOTIFY) {
        microkit_notify(deferred_channel);
    } else if (deferred == IRQ_ACK) {
        microkit_irq_ack(deferred_channel);
    }
    deferred = NOTHING;
}

/* Handles one message; true if *reply is to be sent. */
static bool handle_message(struct message m, microkit_msginfo *reply)
{
    if (m.badge & POCKET_BADGE_CALL) {
        *reply = protected((microkit_channel)m.badge & CHANNEL_MASK, m.info);
        return true;
    }
    if (m.badge & POCKET_BADGE_FAULT) {
        return fault((microkit_child)m.badge & CHILD_MASK, m.info, reply) != seL4_False;
    }
    for (uint64_t left = m.badge; left != 0; left &= left - 1) {
        notified((microkit_channel)__builtin_ctzll(left));
    }
    return false;
}

void pocket_main(void)
{
    microkit_msginfo reply = microkit_msginfo_new(0, 0);
    bool have_reply = false;

    for (const init_function *f = __init_array_start; f != __init_array_end; f++) {
        (*f)();
    }
    init();
    for (;;) {
        run_deferred();
        have_reply = handle_message(have_reply ? reply_recv(reply) : recv(), &reply);
    }
}
