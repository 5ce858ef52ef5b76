/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Whether samples can be of the ELFs that name them, and whether they agree with scheduling events about which PD ran, and with the
 * counts of record --stat. See relays.h.
 *
 * Owns: the counts of doubtful samples by PD with a cache of answers, because addresses recur; the sums by core and PD, and by event
 * and PD, and their comparison. Three more figures come from the same sums: the time of mkperf's own PDs, PDs that stopped with a fault, and
 * whether only idle was sampled.
 *
 * The PDs' shares of a core's time are compared. mkperf's own PDs are in no share: they run right after samples, so
 * they have fewer samples than their share of the time (docs/accuracy.md). Idle is a share where it has at least half of the samples that
 * its time would have. On hardware cycles stand still in idle, and shares are those of the busy time. If the session
 * samples selected PDs, the PDs that have samples are compared.
 *
 * Two shares contradict each other if they differ by more than chance explains. With the share p by events and
 * n = (sum of weights)^2 / (sum of squared weights), the limit is Bernstein's inequality:
 *     sqrt(2 V L) + L / 3 * (largest weight) / (sum of weights),  V = 1.8 p (1 - p) / n,  L = ln(2 m / 10^-4)
 * m is the number of shares of the recording. The chance that a true recording is named is at most 10^-4. 1.8 is the largest
 * factor by which jitter leaves the variance above that of independent samples (docs/design.md, Jitter). The limit is
 * some 6.5 standard errors for 7 shares with many samples. It is wider by time and samples that may belong to any PD: lost and late samples,
 * the time of lost events, and 200 ns for each switch of the PD. Around a switch, a sample in the kernel belongs to the
 * thread that entered the kernel, and the event to the thread that leaves it.
 *
 * Counts: a second counter of each event that samples counts user mode, by PD. The PDs' shares of the event in user mode are compared,
 * without mkperf's own PDs, and the sum of all periods with the sum of all counts. If the session samples selected PDs, those that
 * have samples are compared, and not the sum. The rule is the same. The limit is wider by what may belong to any PD: lost and late
 * samples, what mkperf's own PDs have more by counts than by samples, and of each core the interval that had not ended. The sum has
 * only this last error.
 */
#include "relays.h"

#include <math.h>

#include "figures.h"

static const double SWITCH_NS =
    200; /* the time of a switch, which samples and events may count for different PDs */
static const double UNKNOWN_MAX =
    0.25; /* part of the time or of the samples; if more is missing, nothing is compared */
enum {
    SUSPECT_LEAST = 3,   /* doubtful samples of a suspect */
    CACHE = 4096,        /* answers, direct mapped; a power of two */
    LEAST_SAMPLES = 100, /* a core, or a counted event, with fewer samples is not compared */
    /* The first and the last interval of a core are partly outside of the recording. An interval that has not ended has, with jitter,
     * at most as many events as this many of the heaviest samples. */
    ENDS = 2,
};
#define NONE UINT32_MAX

/* The samples of a PD on a core, or of an event in user mode, and its exact part of the same: its ns, or its count. */
struct cell {
    uint32_t group, pd; /* group: the core, or the event. pd: from npds on, a count without a PD */
    double weight, squares;
    uint64_t samples, exact, switches;
};

struct cells {
    struct mkperf_hash keys; /* group and PD */
    struct cell *cell;
    uint32_t room;
};

struct core {
    uint32_t running; /* index of the cell of the PD that runs; NONE: not known */
    uint64_t since, last, unknown_ns;
    double own, all; /* weight of samples: of mkperf's own PDs, and of all */
    double heaviest; /* weight of a sample */
};

struct doubts {
    uint64_t samples, doubtful, outside, no_call;
};

struct pd {
    char *name;
    bool idle, profiler, vcpu;
    struct mkperf_module *module; /* NULL: its addresses cannot be checked */
    struct doubts doubts;
};

/* Whether an address of a module can be what it should be. */
struct answer {
    const struct mkperf_module *module;
    uint64_t addr;
    bool is_return, good;
};

struct mkperf_checks {
    struct mkperf_sink to;
    struct mkperf_symbols *symbols, *own;
    bool addresses; /* samples are compared with ELFs */
    struct mkperf_module *kernel;
    struct doubts kernel_doubts;
    struct answer cache[CACHE];
    bool on;    /* samples are compared with events */
    bool sched; /* there are events */
    bool selected;
    uint32_t event;
    uint64_t samples, work; /* all, and those that are neither of idle nor of mkperf's own PDs */
    uint64_t switches;
    uint64_t faulted;
    uint32_t faulted_pd;
    struct cells by_core;
    struct core *core;
    uint32_t ncores, core_room;
    struct pd *pd;
    uint32_t npds, pd_room;
    struct mkperf_agreed agreed;
    bool counted; /* samples are compared with counts */
    struct cells by_event;
    struct {
        double heaviest; /* weight of a sample */
        uint64_t cores;  /* a bit for each core that has samples */
    } event_of[MKPERF_MODEL_EVENTS];
    const struct mkperf_pd_counts *counts; /* at the end */
    struct mkperf_session session;         /* kept for that; else without texts */
    bool ended;
    struct mkperf_totals result;
};

/* The sums of a core or an event: over the PDs that are compared, over all, and what mkperf's own PDs have more by counts. */
struct sums {
    const char *event; /* "": the group is a core */
    double weight, squares, exact, all_weight, all_exact, own_more;
    double unknown; /* the part of the time, the events or the samples that may belong to any PD */
    double heaviest, ends;    /* weight of a sample, and of the parts of intervals at the ends */
    uint64_t samples, shares; /* shares 0: nothing is compared */
    uint32_t group;
    bool idle; /* the sums include idle */
};

bool mkperf_module_is_profiler(struct mkperf_module *module)
{
    /* Functions that each profiler PD and each client PD has: in pd/profiler/drain.c and pd/client/control.h. */
    return module != NULL && (mkperf_symbol_address(module, "mkperf_drain") != 0 ||
                              mkperf_symbol_address(module, "mkperf_client_pump") != 0);
}

struct mkperf_checks *mkperf_checks_new(struct mkperf_sink to, struct mkperf_symbols *symbols,
                                        bool addresses)
{
    struct mkperf_checks *a = mkperf_xcalloc(1, sizeof *a);

    a->to = to;
    a->addresses = addresses;
    a->own = symbols == NULL ? mkperf_symbols_new() : NULL;
    a->symbols = symbols != NULL ? symbols : a->own;
    return a;
}

void mkperf_checks_free(struct mkperf_checks *a)
{
    if (a == NULL) {
        return;
    }
    for (uint32_t i = 0; i < a->npds; i++) {
        free(a->pd[i].name);
    }
    mkperf_session_free(&a->session);
    mkperf_hash_free(&a->by_core.keys);
    free(a->by_core.cell);
    mkperf_hash_free(&a->by_event.keys);
    free(a->by_event.cell);
    free(a->core);
    free(a->pd);
    mkperf_symbols_free(a->own);
    free(a);
}

const struct mkperf_totals *mkperf_checks_totals(const struct mkperf_checks *a)
{
    return a->ended ? &a->result : NULL;
}

static struct mkperf_module *open_module(struct mkperf_checks *a, const char *elf,
                                         const struct mkperf_build_id *id)
{
    struct mkperf_module *module = NULL;
    struct mkperf_error e;

    if (elf != NULL) { /* an error is reported where names are looked up */
        (void)mkperf_symbols_recorded(a->symbols, elf, id, &module, &e);
    }
    return module;
}

static void on_begin(struct mkperf_checks *a, const struct mkperf_session *session)
{
    a->sched = session->sched;
    /* Samples are compared with time by the first event that counts time in user mode and in the kernel. */
    a->event = MKPERF_MODEL_EVENTS;
    for (uint32_t i = 0; i < session->nevents && a->event == MKPERF_MODEL_EVENTS; i++) {
        const struct mkperf_event *v = &session->event[i];

        if ((strcmp(v->name, "cycles") == 0 || strcmp(v->name, "cpu-cycles") == 0) && v->user &&
            v->kernel && !v->guest && !v->host && !v->read) {
            a->event = i;
        }
    }
    a->on = session->sched && a->event != MKPERF_MODEL_EVENTS;
    a->selected = session->selected;
    if (session->sched && session->nevents != 0 && !a->on) {
        snprintf(a->agreed.not, sizeof a->agreed.not, "cycles were not sampled in both modes");
    }
    a->counted = session->counts;
    if (a->counted) {
        mkperf_session_keep(&a->session, session);
    }
    mkperf_symbols_expect(a->symbols, session->arch);
    if (a->addresses) {
        a->kernel = open_module(a, session->kernel_elf, &session->kernel_build_id);
    }
}

static enum mkperf_status on_pd(struct mkperf_checks *a, const struct mkperf_pd *pd,
                                struct mkperf_error *e)
{
    struct mkperf_module *module =
        a->addresses || !pd->profiler ? open_module(a, pd->elf, &pd->build_id) : NULL;
    struct mkperf_pd marked = *pd;

    MKPERF_GROW(a->pd, a->pd_room, (size_t)pd->id + 1);
    a->npds = pd->id >= a->npds ? pd->id + 1 : a->npds;
    marked.profiler_recorded = pd->profiler;
    marked.profiler |= mkperf_module_is_profiler(module);
    free(a->pd[pd->id].name);
    a->pd[pd->id] = (struct pd){.name = mkperf_xstrdup(pd->name),
                                .idle = pd->thread == MKPERF_THREAD_IDLE,
                                .vcpu = mkperf_thread_is_vcpu(pd->thread),
                                .profiler = marked.profiler,
                                .module = a->addresses ? module : NULL};
    return mkperf_sink_pd(&a->to, &marked, e);
}

static struct core *core_of(struct mkperf_checks *a, uint32_t core)
{
    MKPERF_GROW(a->core, a->core_room, (size_t)core + 1);
    for (; a->ncores <= core; a->ncores++) {
        a->core[a->ncores] = (struct core){.running = NONE};
    }
    return &a->core[core];
}

/* Returns the number of a PD's cell. */
static uint32_t cell_of(struct cells *cells, uint32_t group, uint32_t pd)
{
    const uint64_t key = (uint64_t)group << 32 | pd;
    uint32_t at = mkperf_hash_number(&cells->keys, &key, 1);

    MKPERF_GROW(cells->cell, cells->room, cells->keys.count);
    cells->cell[at].group = group;
    cells->cell[at].pd = pd;
    return at;
}

/* Adds a sample, whose weight is that of n samples. */
static void add_sample(struct cells *cells, uint32_t group, uint32_t pd, double weight, uint64_t n)
{
    uint32_t number = cell_of(cells, group, pd); /* which may move the cells */
    struct cell *cell = &cells->cell[number];

    cell->samples += n;
    cell->weight += weight;
    cell->squares += weight * weight / (double)n;
}

/* Returns whether the address can be what it should be: code, or the end of a call. A return address may be behind its
 * function if the last call of that never returns. */
static bool is_good(struct mkperf_checks *a, struct mkperf_module *m, uint64_t addr, bool is_return)
{
    struct answer *at = &a->cache[(addr >> 1 ^ addr >> 13 ^ (uintptr_t)m >> 6 ^ is_return) % CACHE];

    if (at->module != m || at->addr != addr || at->is_return != is_return) {
        bool answer = is_return ? mkperf_module_follows_call(m, addr)
                                : mkperf_module_is_code(m, addr);
        *at = (struct answer){.module = m, .addr = addr, .is_return = is_return, .good = answer};
    }
    return at->good;
}

/* Counts a sample with its pc, and with its callers if they belong to the same code. */
static void check_sample(struct mkperf_checks *a, struct mkperf_module *m, struct doubts *d,
                         const struct mkperf_sample *s, uint64_t pc, bool callers)
{
    bool outside = !is_good(a, m, pc, false), no_call = false;

    for (unsigned i = 0; callers && i < s->callers->n && !no_call; i++) {
        const struct mkperf_caller *c = &s->callers->caller[i];
        bool again = i == 0 && c->addr == pc; /* the pc is in the chains of some tools, too */
        no_call = c->pd == s->pd && !again && !is_good(a, m, c->addr, true);
    }
    uint64_t count = mkperf_sample_count(s);
    d->samples += count;
    d->outside += outside ? count : 0;
    d->no_call += no_call ? count : 0;
    d->doubtful += outside || no_call ? count : 0;
}

static void on_sample(struct mkperf_checks *a, const struct mkperf_sample *s)
{
    struct mkperf_module *module = s->pd < a->npds ? a->pd[s->pd].module : NULL;
    bool no_user = s->flags & MKPERF_SAMPLE_NO_USER;

    if (a->kernel != NULL && s->flags & MKPERF_SAMPLE_KERNEL && s->kernel_pc != 0) {
        check_sample(a, a->kernel, &a->kernel_doubts, s, s->kernel_pc, no_user);
    }
    if (module != NULL && !no_user && !(s->flags & MKPERF_GUEST_MASK)) {
        check_sample(a, module, &a->pd[s->pd].doubts, s, s->pc, true);
    }
    if (s->pd < a->npds && !(s->flags & MKPERF_SAMPLE_BLOCKED)) {
        uint64_t count = mkperf_sample_count(s);

        a->samples += count;
        a->work += !a->pd[s->pd].idle && !a->pd[s->pd].profiler ? count : 0;
    }
    if (s->event == a->event && s->core < MKPERF_MODEL_CORES && s->pd < a->npds) {
        struct core *c = core_of(a, s->core);

        c->all += (double)s->period;
        c->own += a->pd[s->pd].profiler ? (double)s->period : 0;
        c->last = a->on && s->time_ns > c->last ? s->time_ns : c->last;
        if (a->on && c->running != NONE) {
            add_sample(&a->by_core, s->core, s->pd, (double)s->period, 1);
            c->heaviest = fmax(c->heaviest, (double)s->period);
        }
    }
    if (a->counted && !(s->flags & (MKPERF_SAMPLE_KERNEL | MKPERF_SAMPLE_BLOCKED))) {
        double weight = (double)s->period, n = (double)mkperf_sample_count(s);

        add_sample(&a->by_event, s->event, s->pd, weight, mkperf_sample_count(s));
        /* The samples of a window have one sum. None has twice their mean, because jitter is at most half a period. */
        weight = n > 1 ? 2 * weight / n : weight;
        a->event_of[s->event].heaviest = fmax(a->event_of[s->event].heaviest, weight);
        a->event_of[s->event].cores |= UINT64_C(1) << (s->core & 63);
    }
}

/* Charges the time until `now` to the thread that runs on a core. */
static void charge(struct mkperf_checks *a, uint32_t core, uint64_t now)
{
    struct core *c = &a->core[core];

    if (now > c->since) {
        if (c->running != NONE) {
            a->by_core.cell[c->running].exact += now - c->since;
        }
        c->since = now;
    }
}

static void on_sched(struct mkperf_checks *a, const struct mkperf_sched *s)
{
    if (a->sched && s->core < MKPERF_MODEL_CORES) {
        struct core *c = core_of(a, s->core);

        c->last = s->time_ns > c->last ? s->time_ns : c->last;
        if (s->kind == MKPERF_SCHED_SWITCH && s->reason == MKPERF_STOPPED_FAULTED &&
            s->from < a->npds && !a->pd[s->from].vcpu) {
            a->faulted++;
            a->faulted_pd = s->from;
        }
        if (s->kind == MKPERF_SCHED_GAP) {
            charge(a, s->core, s->since_ns);
            c->unknown_ns += c->running != NONE && s->time_ns > c->since ? s->time_ns - c->since
                                                                         : 0;
            c->running = NONE;
        } else if (s->kind == MKPERF_SCHED_SWITCH && s->to < a->npds) {
            charge(a, s->core, s->time_ns);
            a->switches++;
            if (c->running != NONE) {
                a->by_core.cell[c->running].switches++;
            }
            c->running = cell_of(&a->by_core, s->core, s->to);
        }
    }
}

static bool is_own(const struct mkperf_checks *a, const struct cell *cell)
{
    return cell->pd < a->npds ? a->pd[cell->pd].profiler : a->counts->at[cell->pd - a->npds].own;
}

static const char *name_of(const struct mkperf_checks *a, uint32_t pd)
{
    return pd >= a->npds            ? a->counts->at[pd - a->npds].pd
           : a->pd[pd].name != NULL ? a->pd[pd].name
                                    : "";
}

/* Returns whether a cell is compared; idle: the comparison includes idle. */
static bool is_compared(const struct mkperf_checks *a, const struct cell *cell, bool idle)
{
    return !is_own(a, cell) && (idle || !a->pd[cell->pd].idle) &&
           (!a->selected || cell->samples != 0);
}

static struct sums sum_cells(const struct mkperf_checks *a, const struct cells *cells,
                             uint32_t group, bool idle)
{
    struct sums s = {.group = group, .event = "", .idle = idle};

    for (uint32_t i = 0; i < cells->keys.count; i++) {
        const struct cell *cell = &cells->cell[i];

        if (cell->group != group) {
            continue;
        }
        s.all_weight += cell->weight;
        s.all_exact += (double)cell->exact;
        s.own_more += is_own(a, cell) ? (double)cell->exact - cell->weight : 0;
        if (is_compared(a, cell, idle)) {
            s.shares++;
            s.samples += cell->samples;
            s.weight += cell->weight;
            s.squares += cell->squares;
            s.exact += (double)cell->exact;
        }
    }
    return s;
}

/* Decides whether a group is compared. If not, *why gets the reason, unless the group is an event that did not occur. */
static void check_group(struct sums *s, const char **why)
{
    bool few = s->samples < LEAST_SAMPLES || s->exact <= 0;

    if (few || s->unknown > UNKNOWN_MAX) {
        s->shares = 0;
        if (*s->event == '\0' || s->all_exact + s->all_weight > 0) {
            *why = few ? "too few samples" : "too much is lost";
        }
    }
}

double mkperf_share_limit(double p, double weight, double squares, double heaviest, double m,
                          double *error)
{
    /* the highest probability of a false alarm in a whole recording */
    static const double FALSE_ALARM = 1e-4;
    static const double EXCESS = 1.8; /* factor of the variance above that of independent samples */
    double l = log(2 * m / FALSE_ALARM);

    *error = sqrt(p * (1 - p) * squares) / weight;
    return *error * sqrt(2 * EXCESS * l) + l / 3 * heaviest / weight;
}

/* Notes a difference in relation to what may be. */
static void note_difference(struct mkperf_agreed *to, const struct sums *of, const char *pd,
                            double by_samples, double exact, double error, double may)
{
    double off = fabs(by_samples - exact) / may;

    to->compared++;
    to->contradicted += off > 1;
    if (off >= to->off) {
        to->off = off;
        to->by_samples_ppm = (uint64_t)(by_samples * 1e6 + 0.5);
        to->by_events_ppm = (uint64_t)(exact * 1e6 + 0.5);
        to->error_ppm = (uint64_t)(error * 1e6 + 0.5);
        to->core = of->group;
        to->busy_only = !of->idle;
        snprintf(to->pd, sizeof to->pd, "%s", pd);
        snprintf(to->event, sizeof to->event, "%s", of->event);
    }
}

/* Compares the shares of PDs in their groups, of which there are sums. m: how many shares are compared. */
static void compare_cells(const struct mkperf_checks *a, const struct cells *cells,
                          const struct sums *sums, double m, struct mkperf_agreed *to)
{
    for (uint32_t i = 0; i < cells->keys.count; i++) {
        const struct cell *cell = &cells->cell[i];
        const struct sums *s = &sums[cell->group];

        if (s->shares != 0 && is_compared(a, cell, s->idle)) {
            double p = (double)cell->exact / s->exact, error;
            double may = mkperf_share_limit(p, s->weight, s->squares, s->heaviest, m, &error) +
                         s->ends / s->weight + s->unknown +
                         SWITCH_NS * (double)cell->switches / s->exact;
            note_difference(to, s, name_of(a, cell->pd), cell->weight / s->weight, p, error, may);
        }
    }
}

/* Compares the PDs' shares of the time of all cores. */
static void compare_cores(const struct mkperf_checks *a, const struct mkperf_totals *totals,
                          struct mkperf_agreed *to)
{
    struct sums *sums = mkperf_xcalloc((size_t)a->ncores + 1, sizeof *sums);
    const char *why = a->ncores == 0 ? "too few samples" : "";
    double m = 0; /* how many shares are compared */

    for (uint32_t core = 0; core < a->ncores; core++) {
        struct sums *b = &sums[core], busy = sum_cells(a, &a->by_core, core, false);
        bool by_core = core < totals->ncores;
        const struct mkperf_core *its = by_core ? &totals->core[core] : NULL;
        double lost = (double)mkperf_lost_sum(by_core ? its->lost : totals->lost);
        double samples = (double)(by_core ? its->samples : totals->samples);
        double late = (double)(by_core ? its->late_events : totals->late_events);
        double gaps = (double)a->core[core].unknown_ns;

        *b = sum_cells(a, &a->by_core, core, true);
        if (2 * (b->weight - busy.weight) * busy.exact < busy.weight * (b->exact - busy.exact)) {
            *b = busy; /* idle has less than half of the samples that its time would have */
        }
        b->heaviest = a->core[core].heaviest;
        b->ends = ENDS * b->heaviest;
        b->unknown = gaps / (b->all_exact + gaps + 1) +
                     (lost + (double)totals->unordered) / (samples + lost + 1) +
                     late / (b->all_weight + 1);
        check_group(b, &why);
        m += (double)b->shares;
    }
    snprintf(to->not, sizeof to->not, "%s", why);
    compare_cells(a, &a->by_core, sums, m, to);
    free(sums);
}

/* Compares all samples with the counts of the target. */
static void compare_counts(struct mkperf_checks *a, const struct mkperf_totals *t,
                           struct mkperf_agreed *to)
{
    uint32_t cores = (uint32_t)__builtin_popcount(mkperf_session_cores(&a->session));
    double lost = (double)mkperf_lost_sum(t->lost);
    double lost_share = lost / ((double)t->samples + lost + 1);
    struct sums sums[MKPERF_MODEL_EVENTS] = {{.shares = 0}};
    const char *why = "";

    a->counts = t->counts;
    if (t->counts == NULL || t->counts->n == 0 || t->restarts != 0) {
        snprintf(to->not, sizeof to->not, "%s",
                 t->restarts != 0 ? "the target was restarted"
                                  : "there are no counts of these samples");
        return;
    }
    /* Gives the counts to cells. A PD that has no sample of its event gets a cell. */
    for (unsigned i = 0; i < t->counts->n; i++) {
        const struct mkperf_pd_count *count = &t->counts->at[i];
        uint32_t pd = 0;
        while (pd < a->npds && strcmp(name_of(a, pd), count->pd) != 0) {
            pd++;
        }
        /* Counts without a PD have the numbers behind those of all PDs. */
        if (count->user != 0) {
            uint32_t number = cell_of(&a->by_event, count->event, pd < a->npds ? pd : a->npds + i);
            a->by_event.cell[number].exact = count->user;
        }
    }
    for (uint32_t event = 0; event < a->session.nevents; event++) {
        struct sums *s = &sums[event];

        *s = sum_cells(a, &a->by_event, event, true);
        double own = s->own_more > 0 && !a->selected ? s->own_more : 0;
        s->event = a->session.event[event].name;
        s->heaviest = a->event_of[event].heaviest;
        s->ends = ENDS * s->heaviest * (cores > 1 ? cores : 1);
        s->unknown = lost_share + ((double)t->late_events + own) / (s->weight + 1);
        check_group(s, &why);
    }
    snprintf(to->not, sizeof to->not, "%s", why);
    compare_cells(a, &a->by_event, sums, (double)a->by_event.keys.count, to);
    for (uint32_t event = 0; event < a->session.nevents && !a->selected; event++) {
        const struct sums *s = &sums[event];

        /* A core without a sample may have any part of its first interval. */
        if (s->shares != 0 && (uint32_t)__builtin_popcountll(a->event_of[event].cores) >= cores) {
            note_difference(to, s, "the sum", s->all_weight / s->all_exact, 1, 0,
                            s->ends / s->all_exact + lost_share);
        }
    }
}

/* Adds a suspect in the order of doubtful samples. If there are too many, those with the fewest are dropped. */
static void add_suspect(struct mkperf_totals *t, uint32_t pd, const struct doubts *d)
{
    unsigned at = t->nsuspects;

    if (d->doubtful < SUSPECT_LEAST || d->doubtful <= d->samples / 100) {
        return;
    }
    if (t->nsuspects < MKPERF_SUSPECTS) {
        t->nsuspects++;
    } else if (t->suspect[--at].doubtful >= d->doubtful) {
        return;
    }
    for (; at > 0 && t->suspect[at - 1].doubtful < d->doubtful; at--) {
        t->suspect[at] = t->suspect[at - 1];
    }
    t->suspect[at] = (struct mkperf_suspect){pd, d->samples, d->doubtful, d->outside, d->no_call};
}

static enum mkperf_status on_end(struct mkperf_checks *a, const struct mkperf_totals *totals,
                                 struct mkperf_error *e)
{
    struct mkperf_totals more = *totals;

    more.own_ns = more.known_ns = 0;
    for (uint32_t core = 0; core < a->ncores; core++) {
        charge(a, core, a->core[core].last);
    }
    if (a->on) {
        compare_cores(a, totals, &a->agreed);
    }
    /* Sums the time of mkperf's own PDs. */
    uint64_t work_ns = 0;
    for (uint32_t core = 0; core < a->ncores; core++) {
        uint64_t known = 0;
        const struct core *c = &a->core[core];
        uint64_t ppm = c->own > 0 ? (uint64_t)(1e6 * c->own / c->all) : 0;
        more.own_ppm = ppm > more.own_ppm ? ppm : more.own_ppm;
        for (uint32_t i = 0; i < a->by_core.keys.count; i++) {
            const struct cell *cell = &a->by_core.cell[i];
            known += cell->group == core ? cell->exact : 0;
            work_ns += a->pd[cell->pd].profiler || a->pd[cell->pd].idle ? 0 : cell->exact;
            more.own_ns += cell->group == core && a->pd[cell->pd].profiler ? cell->exact : 0;
        }
        more.known_ns = known > more.known_ns ? known : more.known_ns;
    }
    more.agreed = a->agreed;
    more.counted = (struct mkperf_agreed){.compared = 0};
    if (a->counted) {
        compare_counts(a, totals, &more.counted);
    }
    more.faulted = a->faulted;
    snprintf(more.faulted_pd, sizeof more.faulted_pd, "%s",
             a->faulted != 0 ? a->pd[a->faulted_pd].name : "");
    bool none_ran = a->work == 0 && work_ns == 0 && !a->selected;
    more.only_idle =
        none_ran && a->samples + a->switches >= LEAST_SAMPLES ? a->samples + a->switches : 0;
    if (a->addresses) {
        more.nsuspects = 0;
        for (uint32_t i = 0; i < a->npds; i++) {
            add_suspect(&more, i, &a->pd[i].doubts);
        }
        add_suspect(&more, MKPERF_SUSPECT_KERNEL, &a->kernel_doubts);
    }
    a->result = more;
    a->ended = true;
    return mkperf_sink_end(&a->to, &more, e);
}

static enum mkperf_status check_item(void *self, const struct mkperf_item *item,
                                     struct mkperf_error *e)
{
    struct mkperf_checks *a = self;

    switch (item->kind) {
    case MKPERF_ITEM_BEGIN:
        on_begin(a, item->session);
        break;
    case MKPERF_ITEM_PD:
        return on_pd(a, item->pd, e);
    case MKPERF_ITEM_SAMPLE:
        on_sample(a, item->sample);
        break;
    case MKPERF_ITEM_SCHED:
        on_sched(a, item->sched);
        break;
    case MKPERF_ITEM_END:
        return on_end(a, item->totals, e);
    default:
        break;
    }
    return mkperf_sink_put(&a->to, item, e);
}

struct mkperf_sink mkperf_checks_sink(struct mkperf_checks *a)
{
    return (struct mkperf_sink){.take = check_item,
                                .self = a,
                                .leaves_only = a->to.leaves_only,
                                .every_pd = a->to.every_pd};
}

const char *mkperf_suspect_text(const struct mkperf_suspect *s, const char *name, char *text,
                                size_t n)
{
    snprintf(text, n,
             "%s: %" PRIu64 " of %" PRIu64 " sample%s cannot be of its ELF (%" PRIu64
             " where it has no code, %" PRIu64 " with a return address that follows no call)%s",
             name, s->doubtful, s->samples, mkperf_plural(s->samples), s->outside, s->no_call,
             s->no_call > s->outside ? ": another program or build ran, or it has no frame pointers"
                                     : ": another program or build ran");
    return text;
}
