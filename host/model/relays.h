/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Relays: sinks in front of another sink, which check, complete or select what passes.
 *
 *     checks       counts samples that cannot be of the ELFs that name them,     end: totals->suspect, agreed, counted, own_ns,
 *                  and compares samples with scheduling events and with counts        faulted, only_idle
 *     only_cores   passes on samples and events of some cores only               end: totals of these cores
 *     off_cpu      holds a blocked thread's sample until the thread runs again   end: totals->off_cpu_unpaired
 *
 * Each passes on all items that it does not need.
 */
#ifndef MKPERF_HOST_MODEL_RELAYS_H
#define MKPERF_HOST_MODEL_RELAYS_H

#include "base/args.h"

#include "model.h"

/*
 * ---- checks: a program that was rebuilt, or has the name of another PD, is noticed in most of its samples. A sample is
 * doubtful at an address where the ELF has no code, or with a return address that follows no call. A PD is suspect if more
 * than one sample in a hundred, and at least 3, are doubtful.
 *
 * For each PD of each core the weight of its samples of `cycles` and its running time by events are summed, and the shares are
 * compared at the end; checks.c has the rule. Memory grows only with cores and PDs. The relay also sets `profiler` of mkperf's
 * own PDs (struct mkperf_pd). ----
 */

struct mkperf_checks;

/* Makes the relay. symbols: the modules that are used; NULL: the relay opens its own. addresses: samples are compared
 * with their ELFs, otherwise the totals' suspects stay as they are. */
struct mkperf_checks *mkperf_checks_new(struct mkperf_sink to, struct mkperf_symbols *symbols,
                                        bool addresses);
struct mkperf_sink mkperf_checks_sink(struct mkperf_checks *a);
void mkperf_checks_free(struct mkperf_checks *a); /* NULL is allowed */

/* Returns the totals that the next sink got at the end, except interactions and counts, which are not valid any more,
 * or NULL before the end. */
const struct mkperf_totals *mkperf_checks_totals(const struct mkperf_checks *a);

/* Returns the sentence for a suspect of the totals; name: that of its PD. */
const char *mkperf_suspect_text(const struct mkperf_suspect *s, const char *name, char *text,
                                size_t n);

/*
 * Returns how much a share may differ by chance from p, which is exact: Bernstein's inequality, as in checks.c. The
 * share is that of samples with these sums of weights and of their squares. m: how many shares are compared in all.
 * *error: the standard error.
 */
double mkperf_share_limit(double p, double weight, double squares, double heaviest, double m,
                          double *error);

/* Returns whether a program is one of mkperf's own: it has the main function of the profiler PD or of a client PD. */
bool mkperf_module_is_profiler(struct mkperf_module *module);

/*
 * ---- only_cores: the session's core_mask and the totals are those of the chosen cores. Losses of an unknown core are passed
 * on. ----
 */

struct mkperf_only_cores {
    struct mkperf_sink to;
    struct mkperf_cpu_list cores;
    uint64_t samples, dropped_events, dropped_lost[MKPERF_LOST_PLACES];
};

/* Returns the relay, or o->to if no cores were given. The caller has set o->to and o->cores. */
struct mkperf_sink mkperf_only_cores_sink(struct mkperf_only_cores *o);

/*
 * ---- off_cpu: samples of threads that stop to wait (record --off-cpu). The target sends such a sample at the time of the
 * switch from its thread. When the thread runs again, the sample is passed on with the time in between, in nanoseconds, as
 * its period and the end of that time as its time, as in perf. It is between the stream decoder and its sink, behind the
 * merge of cores. A sample without both switches (gap, end of the session) is omitted and counted. ----
 */

#define MKPERF_OFF_CPU_EVENT "offcpu-time" /* perf's name */

/* A PD, and the sample of it that waits until the PD runs again. */
struct mkperf_blocked {
    bool waits;          /* a sample of the PD waits in `sample` */
    uint64_t stopped_ns; /* the PD's last switch */
    uint64_t sampled_ns;
    struct mkperf_sample sample;
    struct mkperf_chain callers;
};

struct mkperf_off_cpu {
    struct mkperf_sink to;
    uint32_t event;               /* number of MKPERF_OFF_CPU_EVENT in the session */
    struct mkperf_totals *totals; /* omitted samples move from samples to off_cpu_unpaired */
    uint32_t npds, room;
    struct mkperf_blocked *pd;
};

/* Returns the number of the event in a session, or MKPERF_MODEL_EVENTS if there is none. */
uint32_t mkperf_off_cpu_event(const struct mkperf_session *session);

/* Returns the relay. The caller has set o->to, o->event and o->totals. */
struct mkperf_sink mkperf_off_cpu_sink(struct mkperf_off_cpu *o);
/* Omits the samples that still wait at the end of the session. */
void mkperf_off_cpu_close(struct mkperf_off_cpu *o);
void mkperf_off_cpu_free(struct mkperf_off_cpu *o);

#endif
