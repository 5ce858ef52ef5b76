/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Microkit's C interface for protection domains, on pocket.
 *
 * Owns: what a PD's source sees. Names, types and behaviour are those of Microkit 2.0.1, so that a
 * PD compiles unchanged for both; the text is our own. Of seL4's names it has those that PDs
 * use: message registers, message infos, and the words of a fault message.
 */
#ifndef POCKET_MICROKIT_H
#define POCKET_MICROKIT_H

#include <stdint.h>

#include "pocket_syscall.h"

typedef uint64_t seL4_Word;
typedef uint64_t seL4_Uint64;
typedef uint32_t seL4_Uint32;
typedef uint16_t seL4_Uint16;
typedef uint8_t seL4_Uint8;
typedef int8_t seL4_Bool;
#define seL4_False 0
#define seL4_True 1

/* bits 0-6 length in words, 7-11 capabilities (always 0 here), 12-63 label */
typedef struct seL4_MessageInfo {
    seL4_Uint64 words[1];
} seL4_MessageInfo_t;

enum { seL4_MsgMaxLength = 120, seL4_MsgMaxExtraCaps = 3 };

typedef struct seL4_IPCBuffer_ {
    seL4_MessageInfo_t tag;
    seL4_Word msg[seL4_MsgMaxLength];
    seL4_Word userData;
    seL4_Word caps_or_badges[seL4_MsgMaxExtraCaps];
    seL4_Word receiveCNode;
    seL4_Word receiveIndex;
    seL4_Word receiveDepth;
} seL4_IPCBuffer;

extern seL4_IPCBuffer *__sel4_ipc_buffer;

/* Labels of the messages that fault() receives, and the positions of their words. */
enum { seL4_Fault_UserException = 3, seL4_Fault_VMFault = 6 };
enum {
    seL4_UserException_FaultIP,
    seL4_UserException_SP,
    seL4_UserException_SPSR,
    seL4_UserException_Number,
    seL4_UserException_Code,
    seL4_UserException_Length,
};
enum {
    seL4_VMFault_IP,
    seL4_VMFault_Addr,
    seL4_VMFault_PrefetchFault,
    seL4_VMFault_FSR,
    seL4_VMFault_Length,
};

static inline seL4_MessageInfo_t seL4_MessageInfo_new(seL4_Uint64 label, seL4_Uint64 unwrapped,
                                                      seL4_Uint64 extra, seL4_Uint64 length)
{
    return (seL4_MessageInfo_t){
        {label << 12 | (unwrapped & 7) << 9 | (extra & 3) << 7 | (length & 127)}};
}

static inline seL4_Uint64 seL4_MessageInfo_get_label(seL4_MessageInfo_t info)
{
    return info.words[0] >> 12;
}

static inline seL4_Uint64 seL4_MessageInfo_get_length(seL4_MessageInfo_t info)
{
    return info.words[0] & 127;
}

static inline void seL4_SetMR(int i, seL4_Word value)
{
    __sel4_ipc_buffer->msg[i] = value;
}

static inline seL4_Word seL4_GetMR(int i)
{
    return __sel4_ipc_buffer->msg[i];
}

/* A thread's registers, in seL4's order. */
#ifdef __riscv
typedef struct seL4_UserContext_ {
    seL4_Word pc, ra, sp, gp, s0, s1, s2, s3, s4, s5, s6, s7, s8, s9, s10, s11;
    seL4_Word a0, a1, a2, a3, a4, a5, a6, a7, t0, t1, t2, t3, t4, t5, t6, tp;
} seL4_UserContext;
#else
typedef struct seL4_UserContext_ {
    seL4_Word pc, sp, spsr, x0, x1, x2, x3, x4, x5, x6, x7, x8, x16, x17, x18, x29, x30;
    seL4_Word x9, x10, x11, x12, x13, x14, x15, x19, x20, x21, x22, x23, x24, x25, x26, x27, x28;
    seL4_Word tpidr_el0, tpidrro_el0;
} seL4_UserContext;
#endif

typedef seL4_Word seL4_CPtr;
typedef seL4_CPtr seL4_TCB;
#define BASE_ENDPOINT_CAP 74 /* + the channel: where protected calls go */
#define BASE_TCB_CAP 202     /* + the id of a child */

/* Capabilities that the system description's <cspace> gives, as Microkit 2.3 does: its slots have
 * separate CPtrs. 0 = seL4_CapNull: no such slot. */
#define MICROKIT_MAX_USER_CAPS 64
#define MICROKIT_SLOT_SHIFT 58
static inline seL4_CPtr microkit_cspace_root_slot_to_cptr(seL4_Word slot)
{
    return slot < MICROKIT_MAX_USER_CAPS ? slot << MICROKIT_SLOT_SHIFT : 0;
}

/*
 * The first `count` words of a PD's registers, of a child or one whose cap_tcb this PD has, as they
 * were when it last entered the kernel: pc is that of the instruction that was interrupted, or of
 * its system call instruction while it is in one. Returns 0, or another value if the capability is
 * missing. A PD is never suspended: suspend is ignored.
 */
int seL4_TCB_ReadRegisters(seL4_TCB tcb, seL4_Bool suspend, seL4_Uint8 arch_flags, seL4_Word count,
                           seL4_UserContext *regs);

typedef unsigned int microkit_channel;
typedef unsigned int microkit_child;
typedef seL4_MessageInfo_t microkit_msginfo;

#define MICROKIT_MAX_CHANNELS 62
#define MICROKIT_MAX_CHANNEL_ID (MICROKIT_MAX_CHANNELS - 1)
#define MICROKIT_PD_NAME_LENGTH 64

/* What a PD defines. init is required; a call of one that is missing stops the PD. */
void init(void);
void notified(microkit_channel ch);
microkit_msginfo protected(microkit_channel ch, microkit_msginfo msginfo);
seL4_Bool fault(microkit_child child, microkit_msginfo msginfo, microkit_msginfo *reply_msginfo);

/* Filled in by the packer: the PD's name, and a bit for each channel that is valid for a use. */
extern char microkit_name[MICROKIT_PD_NAME_LENGTH];
extern seL4_Word microkit_irqs;
extern seL4_Word microkit_notifications;
extern seL4_Word microkit_pps;

/* Prints on the debug console, where characters of several PDs may mix. */
void microkit_dbg_putc(int c);
void microkit_dbg_puts(const char *s);
void microkit_dbg_put8(seL4_Uint8 x);
void microkit_dbg_put32(seL4_Uint32 x);

/* Notifies the PD at the other end of a channel. If the channel does not exist, or cannot be notified, nothing is
 * done but a line on the console. */
void microkit_notify(microkit_channel ch);
void microkit_irq_ack(microkit_channel ch);
microkit_msginfo microkit_ppcall(microkit_channel ch, microkit_msginfo msginfo);

/* Notifies a PD when the current entry point returns. Only the last such call has an effect. */
void microkit_deferred_notify(microkit_channel ch);
void microkit_deferred_irq_ack(microkit_channel ch);

/* Lets a child run from entry_point (registers but the pc as they were), or stops it. */
void microkit_pd_restart(microkit_child pd, seL4_Word entry_point);
void microkit_pd_stop(microkit_child pd);

static inline microkit_msginfo microkit_msginfo_new(seL4_Word label, seL4_Uint16 count)
{
    return seL4_MessageInfo_new(label, 0, 0, count);
}

static inline seL4_Word microkit_msginfo_get_label(microkit_msginfo msginfo)
{
    return seL4_MessageInfo_get_label(msginfo);
}

static inline seL4_Word microkit_msginfo_get_count(microkit_msginfo msginfo)
{
    return seL4_MessageInfo_get_length(msginfo);
}

static inline void microkit_mr_set(seL4_Uint8 mr, seL4_Word value)
{
    seL4_SetMR(mr, value);
}

static inline seL4_Word microkit_mr_get(seL4_Uint8 mr)
{
    return seL4_GetMR(mr);
}

#endif
