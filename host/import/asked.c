/* SPDX-License-Identifier: BSD-2-Clause */
/* Questions that are asked again, see import.h. */
#include "import.h"

#include "model/relays.h"

const struct mkperf_shape_row mkperf_asked_rows[] = {
    MKPERF_SHAPE_ARRAY(struct mkperf_asked, session, sessions, session_room, mkperf_session_rows),
    MKPERF_SHAPE_ARRAY(struct mkperf_asked, pd, pds, pd_room, mkperf_pd_rows),
    MKPERF_SHAPE_BYTES(struct mkperf_asked, totals, totals),
    MKPERF_SHAPE_ARRAY(struct mkperf_asked, interactions, ninteractions, ninteractions, NULL),
    MKPERF_SHAPE_END};

/* ---- reading ---- */

static enum mkperf_status keep_end(struct mkperf_asked *a, const struct mkperf_item *item,
                                   struct mkperf_error *e)
{
    const struct mkperf_totals *totals = item->totals;
    const struct mkperf_shaped *kept = a->question->kept;

    a->totals = *totals;
    a->totals.interactions = NULL;
    /* No answer from a snapshot shows the counts. The result of their comparison is a figure. */
    a->totals.counts = NULL;
    if (totals->interactions != NULL) {
        a->ninteractions = 1;
        a->interactions = mkperf_xcalloc(1, sizeof *a->interactions);
        *a->interactions = *totals->interactions;
    }
    if (a->question->conclude != NULL) {
        MKPERF_TRY(mkperf_sink_put(&a->to, item, e));
        a->question->conclude(a->question->self);
    }
    mkperf_shape_put(mkperf_asked_rows, a, &a->bytes);
    for (unsigned i = 0; i < MKPERF_QUESTION_KEPT && kept[i].rows != NULL; i++) {
        mkperf_shape_put(kept[i].rows, kept[i].at, &a->bytes);
    }
    return a->question->conclude != NULL ? MKPERF_OK : mkperf_sink_put(&a->to, item, e);
}

static enum mkperf_status keep_item(void *self, const struct mkperf_item *item,
                                    struct mkperf_error *e)
{
    struct mkperf_asked *a = self;

    if (item->kind == MKPERF_ITEM_BEGIN || item->kind == MKPERF_ITEM_EVENTS) {
        MKPERF_GROW(a->session, a->session_room, (size_t)a->sessions + 1);
        mkperf_session_keep(&a->session[a->sessions++], item->session);
    } else if (item->kind == MKPERF_ITEM_PD) {
        MKPERF_GROW(a->pd, a->pd_room, (size_t)a->pds + 1);
        a->pd[a->pds] = *item->pd;
        mkperf_shape_own(mkperf_pd_rows, &a->pd[a->pds++]);
    }
    return item->kind == MKPERF_ITEM_END ? keep_end(a, item, e) : mkperf_sink_put(&a->to, item, e);
}

struct mkperf_sink mkperf_asked_sink(struct mkperf_asked *a, struct mkperf_sink to)
{
    a->to = to;
    return (struct mkperf_sink){
        .take = keep_item, .self = a, .leaves_only = to.leaves_only, .every_pd = to.every_pd};
}

/* ---- replay ---- */

/* Returns whether the PDs that are marked as mkperf's own by their ELFs would be marked now. The marks that the recording has do not
 * change. */
static bool are_marked(const struct mkperf_asked *a)
{
    struct mkperf_symbols *symbols = mkperf_symbols_new();
    bool same = true;

    mkperf_symbols_expect(symbols, a->session->arch);
    for (unsigned i = 0; same && i < a->pds; i++) {
        const struct mkperf_pd *pd = &a->pd[i];
        struct mkperf_module *module = NULL;
        struct mkperf_error why;

        if (pd->elf != NULL && !pd->profiler_recorded) {
            (void)mkperf_symbols_recorded(symbols, pd->elf, &pd->build_id, &module, &why);
        }
        same = pd->profiler == (pd->profiler_recorded || mkperf_module_is_profiler(module));
    }
    mkperf_symbols_free(symbols);
    return same;
}

/* Passes the items of a recording, except BEGIN, and fills the members of the question. */
static enum mkperf_status fill_sink(struct mkperf_asked *a, const struct mkperf_sink *sink,
                                    struct mkperf_shape_input *from, struct mkperf_error *e)
{
    const struct mkperf_question *q = a->question;
    bool whole = true;

    for (unsigned i = 0; i < a->pds; i++) {
        MKPERF_TRY(mkperf_sink_pd(sink, &a->pd[i], e));
    }
    if (a->sessions > 1) {
        MKPERF_TRY(mkperf_sink_events(sink, &a->session[a->sessions - 1], e));
    }
    a->totals.interactions = a->interactions;
    if (q->conclude != NULL) {
        MKPERF_TRY(mkperf_sink_end(sink, &a->totals, e));
    }
    for (unsigned i = 0; i < MKPERF_QUESTION_KEPT && q->kept[i].rows != NULL; i++) {
        whole = whole && mkperf_shape_take(q->kept[i].rows, q->kept[i].at, from);
    }
    /* The snapshot has a right MAC, so this is a fault of mkperf. */
    MKPERF_FAIL_IF(!whole || from->n != 0, e, MKPERF_ERR_FAILED,
                   "the snapshot is not of this question (MKPERF_SNAPSHOTS=no reads "
                   "the recording)");
    return q->conclude != NULL ? MKPERF_OK : mkperf_sink_end(sink, &a->totals, e);
}

bool mkperf_asked_replay(struct mkperf_asked *a, const struct mkperf_sink *sink, const uint8_t *p,
                         size_t n, struct mkperf_error *e)
{
    struct mkperf_shape_input from = {p, n};

    if (!mkperf_shape_take(mkperf_asked_rows, a, &from) || a->sessions == 0 ||
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
