/* SPDX-License-Identifier: BSD-2-Clause */
/* The calls that `busy` makes to `sampler` in pocket's test of the kernel hook. */
#ifndef SELFTEST_SAMPLING_H
#define SELFTEST_SAMPLING_H

enum call {
    CALL_NOTHING,
    CALL_START, /* words: counters (bit 0 user cycles, bit 1 kernel cycles), period, watermark,
                   discard */
    CALL_STOP,  /* answers: enum answer */
};

enum answer {
    ANSWER_SAMPLES, /* samples of user code */
    ANSWER_KERNEL,  /* samples of the kernel while a PD ran */
    ANSWER_IDLE,
    ANSWER_WAKES,
    ANSWER_FRAMES,     /* frames of the last user sample */
    ANSWER_BAD,        /* invalid samples */
    ANSWER_LOST,       /* dropped, late, disturbed */
    ANSWER_EVENTS,     /* sum of the samples' weights */
    ANSWER_KERNEL_PCS, /* how many words follow: distinct kernel pcs seen */
    ANSWERS = ANSWER_KERNEL_PCS + 1 + 16,
};

#endif
