/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * As much of Microkit's C interface as the profiler PD uses, for a program that tests it on the
 * host. The test defines the functions.
 */
#ifndef MOCK_MICROKIT_H
#define MOCK_MICROKIT_H

#include <stdint.h>

typedef uint64_t seL4_Word;
typedef int8_t seL4_Bool;
#define seL4_False 0
#define seL4_True 1
enum { seL4_Fault_UserException = 3, seL4_Fault_VMFault = 6, seL4_VMFault_Addr = 1 };

typedef struct {
    seL4_Word pc, sp, spsr, x0, x1, x2, x3, x4, x5, x6, x7, x8, x16, x17, x18, x29, x30;
    seL4_Word rest[19];
} seL4_UserContext;

typedef seL4_Word seL4_CPtr;
#define BASE_ENDPOINT_CAP 74
#define BASE_TCB_CAP 202
#define MICROKIT_MAX_USER_CAPS 64
static inline seL4_CPtr microkit_cspace_root_slot_to_cptr(seL4_Word slot)
{
    return slot < MICROKIT_MAX_USER_CAPS ? slot << 58 : 0;
}
int seL4_TCB_ReadRegisters(seL4_Word tcb, seL4_Bool suspend, uint8_t arch_flags, seL4_Word count,
                           seL4_UserContext *regs);
seL4_Word seL4_GetMR(int i);

extern char microkit_name[64];
extern seL4_Word microkit_irqs;

typedef unsigned int microkit_child;
typedef unsigned int microkit_channel;
typedef struct {
    uint64_t label;
} microkit_msginfo;

typedef struct {
    seL4_Word userData;
} seL4_IPCBuffer;
extern seL4_IPCBuffer *__sel4_ipc_buffer;

void init(void);
void notified(microkit_channel ch);
microkit_msginfo protected(microkit_channel ch, microkit_msginfo msginfo);
seL4_Bool fault(microkit_child child, microkit_msginfo msginfo, microkit_msginfo *reply_msginfo);

void microkit_dbg_puts(const char *s);
void microkit_notify(microkit_channel ch);
void microkit_irq_ack(microkit_channel ch);

static inline microkit_msginfo microkit_msginfo_new(uint64_t label, uint16_t count)
{
    (void)count;
    return (microkit_msginfo){label};
}

static inline uint64_t microkit_msginfo_get_label(microkit_msginfo msginfo)
{
    return msginfo.label;
}

#endif
