/* SPDX-License-Identifier: BSD-2-Clause */
/* mkperf recover: finishes the perf.data file of a recorder that was killed. host/perfdata does the work. */
#include "cmd.h"
#include "model/figures.h"
#include "perfdata/perfdata.h"

static const struct mkperf_option recover_options[] = {
    MKPERF_OPTION(
        'o', "output",
        "the finished file; without it FILE is finished in place and loses its \".partial\"",
        MKPERF_TAKES(FILE, "OUTPUT"), .store = {.how = MKPERF_STORE_TEXT}),
    {.letter = 0},
};

static enum mkperf_status run_recover(void *self, const struct mkperf_args *args,
                                      struct mkperf_error *e)
{
    const char *path = args->operand[0], *output = *(const char **)self;
    struct mkperf_totals totals;

    mkperf_progress_begin(path);
    enum mkperf_status status = mkperf_perfdata_recover(path, output, &totals, e);
    mkperf_progress_end();
    if (status != MKPERF_OK) {
        return status;
    }
    fprintf(stderr, "mkperf: %s: %" PRIu64 " sample%s over %.3f s, %" PRIu64 " known to be lost\n",
            path, totals.samples, mkperf_plural(totals.samples),
            (double)(totals.last_ns - totals.first_ns) / 1e9, mkperf_lost_sum(totals.lost));
    return MKPERF_OK;
}

const struct mkperf_command mkperf_recover_command = {
    .name = "recover",
    .summary = "finish the file of a recorder that was killed",
    .synopsis = "FILE [-o OUTPUT]",
    .description =
        "Finishes FILE (OUT.partial), which mkperf record -o OUT left when it was killed.",
    .options = {{recover_options, 0}},
    .operand = MKPERF_VALUE_FILE,
    .operands_min = 1,
    .operands_max = 1,
    .self = {.bytes = sizeof(const char *)}, /* the value of --output */
    .run = run_recover,
};
