/* SPDX-License-Identifier: BSD-2-Clause */
/* Owns: the names of scheduling events, see sched_event.h. */
#include "sched_event.h"

const char *const mkperf_sched_kind_names[MKPERF_SCHED_KINDS] = {
    [MKPERF_SCHED_SWITCH] = "switch", [MKPERF_SCHED_CALL] = "call",
    [MKPERF_SCHED_REPLY] = "reply",   [MKPERF_SCHED_NOTIFY] = "notify",
    [MKPERF_SCHED_IRQ] = "irq",       [MKPERF_SCHED_FAULT] = "fault",
    [MKPERF_SCHED_LOCK] = "lock",     [MKPERF_SCHED_LOCK_WAIT] = "lock-wait",
    [MKPERF_SCHED_WAKE] = "wake",     [MKPERF_SCHED_RECEIVE] = "receive",
    [MKPERF_SCHED_GAP] = "gap",
};

const char *const mkperf_sched_reason_names[MKPERF_STOPPED_REASONS] = {
    [MKPERF_STOPPED_UNKNOWN] = "unknown",
    [MKPERF_STOPPED_CALLED] = "called",
    [MKPERF_STOPPED_REPLIED] = "replied",
    [MKPERF_STOPPED_WAIT_MESSAGE] = "waits-message",
    [MKPERF_STOPPED_WAIT_NOTIFICATION] = "waits-notification",
    [MKPERF_STOPPED_PREEMPTED] = "preempted",
    [MKPERF_STOPPED_BUDGET] = "budget",
    [MKPERF_STOPPED_FAULTED] = "faulted",
    [MKPERF_STOPPED_SUSPENDED] = "suspended",
    [MKPERF_STOPPED_IDLE] = "idle",
    [MKPERF_STOPPED_QUEUED] = "queued",
};
