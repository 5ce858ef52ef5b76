/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * As much of Microkit's C interface as the profiler PD uses, for a program that tests it on the
 * host. The test defines the functions.
 */
#ifndef MOCK_MICROKIT_H
#define MOCK_MICROKIT_H

#include <stdint.h>

typedef unsigned int microkit_channel;
typedef struct {
    uint64_t label;
} microkit_msginfo;

extern void *__sel4_ipc_buffer;

void init(void);
void notified(microkit_channel ch);
microkit_msginfo protected(microkit_channel ch, microkit_msginfo msginfo);

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
