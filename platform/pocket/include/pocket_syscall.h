/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The system calls between libmicrokit and pocket's kernel. PDs never use them directly.
 *
 * The number is svc's immediate. Arguments and results are in x0 and x1; message words are in
 * the IPC buffer. An operation that the PD has no right to returns 0 and does nothing.
 */
#ifndef POCKET_SYSCALL_H
#define POCKET_SYSCALL_H

#define POCKET_SYS_NOTIFY 0  /* x0 channel */
#define POCKET_SYS_IRQ_ACK 1 /* x0 channel */
#define POCKET_SYS_PPCALL \
    2 /* x0 POCKET_ENDPOINT + channel, x1 message info; returns x0 0, x1 info of \
                                   the reply */
#define POCKET_SYS_RECV 3       /* returns x0 badge, x1 info */
#define POCKET_SYS_REPLY_RECV 4 /* x1 info of the reply; returns as RECV */
#define POCKET_SYS_DBG_PUTC 5   /* x0 character */
#define POCKET_SYS_PD_RESTART 6 /* x0 child, x1 entry point; returns x0 1 = done */
#define POCKET_SYS_PD_STOP 7    /* x0 child; returns x0 1 = done */
#define POCKET_SYS_TCB_READ_REGISTERS \
    8 /* x0 child or POCKET_TCB_SLOT | slot of the cspace; returns x0 1 = done, words in \
         the message, in seL4_UserContext's order */
#define POCKET_SYS_PAGE \
    9 /* x0 child or POCKET_PAGE_OWN, and maybe POCKET_PAGE_MAP; x1 address: unmaps the page, or maps \
         it as it was; returns x0 1 = done */
#define POCKET_SYS_PD_DELETE 10 /* x0 child; returns x0 1 = done */
#define POCKET_SYSCALLS 11

#define POCKET_PAGE_OWN UINT64_C(0x7fffffff)
#define POCKET_PAGE_MAP (UINT64_C(1) << 63)

/* What names a channel's endpoint: Microkit's number, for those who look at a PD's registers. */
#define POCKET_ENDPOINT 74

#define POCKET_TCB_SLOT (UINT64_C(1) << 63)

/* x7 at a system call that waits: seL4's numbers, for those who look at a PD's registers. */
#define POCKET_X7_CALL UINT64_C(-1)
#define POCKET_X7_REPLY_RECV UINT64_C(-2)
#define POCKET_X7_OTHER UINT64_C(-5)
#define POCKET_X7_RECV UINT64_C(-7)

/* The badge that RECV returns: a call, a child's fault, or else a set of notified channels. */
#define POCKET_BADGE_CALL (UINT64_C(1) << 63)  /* bits 0-5 channel */
#define POCKET_BADGE_FAULT (UINT64_C(1) << 62) /* bits 0-7 child */

#endif
