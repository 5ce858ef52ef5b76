/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * A sink in front of another: whether samples and scheduling events agree about who ran.
 *
 * Owns: two sums for each PD of each core, the weight of its samples of `cycles` and the time that it ran by events, and
 * the comparison at the end, which is in the totals (model.h). Memory grows with cores and PDs only. It passes everything on,
 * and marks mkperf's own PDs on the way (`profiler` of struct mkperf_pd).
 *
 * Three more figures come from the same sums: how long mkperf's own PDs ran, PDs that stopped with a fault, and whether only
 * idle was sampled.
 *
 * The PDs' shares of a core's time are compared. mkperf's own PDs are in no share: they run right after samples, so
 * they have fewer samples than their part (docs/accuracy.md). Idle is a share where it has at least half of the samples that
 * its time would have. On hardware cycles stand still in idle, and shares are those of the busy time. If the session
 * samples selected PDs, the PDs that have samples are compared.
 *
 * Two shares contradict each other if they differ by more than chance explains. With the share p by events and
 * n = (sum of weights)^2 / (sum of squared weights), the limit is Bernstein's inequality:
 *     sqrt(2 V L) + L / 3 * (largest weight) / (sum of weights),  V = 1.8 p (1 - p) / n,  L = ln(2 m / 10^-4)
 * m is the number of shares of the recording. The chance that a true recording is named is at most 10^-4. 1.8 is the largest
 * factor by which jitter leaves the variance above that of independent samples (docs/design.md, Jitter). The limit is
 * some 6.5 standard errors for 7 shares with many samples. It is wider by what may belong to any PD: lost and late samples,
 * the time of lost events, and 200 ns for each switch of the PD. Around a switch, a sample in the kernel belongs to the
 * thread that entered the kernel, and the event to the thread that leaves it.
 */
#ifndef MKPERF_HOST_MODEL_AGREEMENT_H
#define MKPERF_HOST_MODEL_AGREEMENT_H

#include "model.h"
#include "symbols/symbols.h"

struct mkperf_agreement;

/* symbols: whose modules are used, NULL = its own. */
struct mkperf_agreement *mkperf_agreement_new(struct mkperf_sink to,
                                              struct mkperf_symbols *symbols);
struct mkperf_sink mkperf_agreement_sink(struct mkperf_agreement *a);
void mkperf_agreement_free(struct mkperf_agreement *a); /* NULL: nothing */

/* After the end: the totals that the next sink got; interactions are not valid any more. */
const struct mkperf_totals *mkperf_agreement_totals(const struct mkperf_agreement *a);

/* Whether a program is one of mkperf's own: it has the main function of the profiler PD or of a client PD. */
bool mkperf_module_is_profiler(struct mkperf_module *module);

#endif
