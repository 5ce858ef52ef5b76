/* SPDX-License-Identifier: BSD-2-Clause */
/* Questions that are asked again, see import.h. */
#include "import.h"

#include "model/relays.h"

const struct mkperf_shape_row mkperf_asked_rows[] = {
    MKPERF_SHAPE_ARRAY(struct mkperf_asked, session, sessions, session_room, mkperf_session_rows),
    MKPERF_SHAPE_ARRAY(struct mkperf_asked, pd, pds, pd_room, mkperf_pd_rows),
    MKPERF_SHAPE_ARRAY(struct mkperf_asked, totals, ntotals, totals_room, NULL),
    MKPERF_SHAPE_ARRAY(struct mkperf_asked, interactions, ninteractions, interactions_room, NULL),
    MKPERF_SHAPE_END};

/* ---- reading ---- */

static void keep_session(struct mkperf_asked *a, const struct mkperf_session *session)
{
    MKPERF_GROW(a->session, a->session_room, (size_t)a->sessions + 1);
    mkperf_session_keep(&a->session[a->sessions++], session);
}

static enum mkperf_status inner_begin(void *self, const struct mkperf_session *session,
                                      struct mkperf_error *e)
{
    struct mkperf_asked_relay *r = self;

    keep_session(r->asked, session);
    return mkperf_sink_begin(&r->to, session, e);
}

static enum mkperf_status inner_events(void *self, const struct mkperf_session *session,
                                       struct mkperf_error *e)
{
    struct mkperf_asked_relay *r = self;

    keep_session(r->asked, session);
    return mkperf_sink_events(&r->to, session, e);
}

static enum mkperf_status inner_pd(void *self, const struct mkperf_pd *pd, struct mkperf_error *e)
{
    struct mkperf_asked_relay *r = self;
    struct mkperf_asked *a = r->asked;

    MKPERF_GROW(a->pd, a->pd_room, (size_t)a->pds + 1);
    struct mkperf_asked_pd *to = &a->pd[a->pds++];
    *to = (struct mkperf_asked_pd){.pd = *pd, .recorded = a->recorded};
    mkperf_shape_own(mkperf_pd_rows, &to->pd);
    return mkperf_sink_pd(&r->to, pd, e);
}

static enum mkperf_status inner_end(void *self, const struct mkperf_totals *totals,
                                    struct mkperf_error *e)
{
    struct mkperf_asked_relay *r = self;
    struct mkperf_asked *a = r->asked;
    const struct mkperf_shaped *kept = a->question->kept;

    a->ntotals = a->totals_room = 1;
    a->totals = mkperf_xcalloc(1, sizeof *a->totals);
    *a->totals = *totals;
    a->totals->interactions = NULL;
    a->totals->counts =
        NULL; /* no answer from a snapshot shows them; the result of the comparison is a figure */
    if (totals->interactions != NULL) {
        a->ninteractions = a->interactions_room = 1;
        a->interactions = mkperf_xcalloc(1, sizeof *a->interactions);
        *a->interactions = *totals->interactions;
    }
    if (a->question->conclude != NULL) {
        MKPERF_TRY(mkperf_sink_end(&r->to, totals, e));
        a->question->conclude(a->question->self);
    }
    mkperf_shape_put(mkperf_asked_rows, a, &a->bytes);
    for (unsigned i = 0; i < MKPERF_QUESTION_KEPT && kept[i].rows != NULL; i++) {
        mkperf_shape_put(kept[i].rows, kept[i].at, &a->bytes);
    }
    return a->question->conclude != NULL ? MKPERF_OK : mkperf_sink_end(&r->to, totals, e);
}

struct mkperf_sink mkperf_asked_inner(struct mkperf_asked *a, struct mkperf_sink to)
{
    static const struct mkperf_sink_ops ops = {
        .reads = true,
        .relays = true,
        .begin = inner_begin,
        .pd = inner_pd,
        .events = inner_events,
        .end = inner_end,
    };

    a->inner = (struct mkperf_asked_relay){.to = to, .asked = a};
    return (struct mkperf_sink){
        .ops = &ops, .self = &a->inner, .leaves_only = to.leaves_only, .every_pd = to.every_pd};
}

static enum mkperf_status outer_pd(void *self, const struct mkperf_pd *pd, struct mkperf_error *e)
{
    struct mkperf_asked_relay *r = self;

    r->asked->recorded = pd->profiler;
    return mkperf_sink_pd(&r->to, pd, e);
}

struct mkperf_sink mkperf_asked_outer(struct mkperf_asked *a, struct mkperf_sink to)
{
    static const struct mkperf_sink_ops ops = {
        .reads = true,
        .relays = true,
        .pd = outer_pd,
    };

    a->outer = (struct mkperf_asked_relay){.to = to, .asked = a};
    return (struct mkperf_sink){
        .ops = &ops, .self = &a->outer, .leaves_only = to.leaves_only, .every_pd = to.every_pd};
}

/* ---- replay ---- */

struct marked {
    const struct mkperf_asked *asked;
    unsigned pds;
    bool same;
};

static enum mkperf_status compare_pd(void *self, const struct mkperf_pd *pd, struct mkperf_error *e)
{
    struct marked *m = self;

    (void)e;
    m->same = m->same && pd->profiler == m->asked->pd[m->pds++].pd.profiler;
    return MKPERF_OK;
}

/* Returns whether the PDs that are mkperf's own by the recording and their ELFs are the ones of the snapshot. */
static bool are_marked(const struct mkperf_asked *a)
{
    static const struct mkperf_sink_ops ops = {.pd = compare_pd, .sched = mkperf_ignore_sched};
    struct marked m = {.asked = a, .same = true};
    struct mkperf_checks *checks =
        mkperf_checks_new((struct mkperf_sink){.ops = &ops, .self = &m}, NULL, false);
    struct mkperf_sink sink = mkperf_checks_sink(checks);
    struct mkperf_error e;
    enum mkperf_status status = mkperf_sink_begin(&sink, a->session, &e);

    for (unsigned i = 0; status == MKPERF_OK && m.same && i < a->pds; i++) {
        struct mkperf_pd pd = a->pd[i].pd;

        pd.profiler = a->pd[i].recorded;
        status = mkperf_sink_pd(&sink, &pd, &e);
    }
    mkperf_checks_free(checks);
    return status == MKPERF_OK && m.same;
}

/* Makes the calls of the recording, except begin, and fills the members of the question. */
static enum mkperf_status fill_sink(struct mkperf_asked *a, const struct mkperf_sink *sink,
                                    struct mkperf_shape_input *from, struct mkperf_error *e)
{
    const struct mkperf_question *q = a->question;
    bool whole = true;

    for (unsigned i = 0; i < a->pds; i++) {
        MKPERF_TRY(mkperf_sink_pd(sink, &a->pd[i].pd, e));
    }
    if (a->sessions > 1) {
        MKPERF_TRY(mkperf_sink_events(sink, &a->session[a->sessions - 1], e));
    }
    a->totals->interactions = a->interactions;
    if (q->conclude != NULL) {
        MKPERF_TRY(mkperf_sink_end(sink, a->totals, e));
    }
    for (unsigned i = 0; i < MKPERF_QUESTION_KEPT && q->kept[i].rows != NULL; i++) {
        whole = whole && mkperf_shape_take(q->kept[i].rows, q->kept[i].at, from);
    }
    if (!whole || from->n != 0) { /* it has a right MAC, so this is a fault of mkperf */
        return mkperf_error_set(e, MKPERF_ERR_FAILED,
                                "the snapshot is not of this question (MKPERF_SNAPSHOTS=no reads "
                                "the recording)");
    }
    return q->conclude != NULL ? MKPERF_OK : mkperf_sink_end(sink, a->totals, e);
}

bool mkperf_asked_replay(struct mkperf_asked *a, const struct mkperf_sink *sink, const uint8_t *p,
                         size_t n, struct mkperf_error *e)
{
    struct mkperf_shape_input from = {p, n};

    if (!mkperf_shape_take(mkperf_asked_rows, a, &from) || a->sessions == 0 || a->ntotals != 1 ||
        a->ninteractions > 1 || !are_marked(a) ||
        mkperf_sink_begin(sink, a->session, e) != MKPERF_OK) {
        return false;
    }
    if (fill_sink(a, sink, &from, e) != MKPERF_OK) {
        mkperf_sink_abandon(sink);
    }
    return true;
}

void mkperf_asked_free(struct mkperf_asked *a)
{
    mkperf_shape_free(mkperf_asked_rows, a);
    free(a->bytes.p);
    *a = (struct mkperf_asked){.question = NULL};
}
