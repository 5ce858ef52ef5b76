/* SPDX-License-Identifier: BSD-2-Clause */
/* Owns: the table of charged time, see rows_print.h. */
#include "rows_print.h"

#include <inttypes.h>

#include "profile/charge.h"

static double percent(const struct mkperf_weight *w, const struct mkperf_weight *total)
{
    return total->period != 0 ? 100.0 * (double)w->period / (double)total->period : 0;
}

static void print_imposed(const struct mkperf_charge *c, const struct mkperf_profile *p,
                          uint32_t pd, double limit, FILE *out)
{
    for (uint32_t i = 0; i < c->npairs; i++) {
        const struct mkperf_charge_pair *pair = &c->pair[i];
        double share = percent(&pair->weight, &c->total);
        if (pair->to == pd && pair->by != pd && share >= limit) {
            fprintf(out, "%28.2f%%               by %s\n", share,
                    mkperf_profile_pd_name(p, pair->by));
        }
    }
}

void report_charged_print(const struct mkperf_profile *p, uint32_t event, double limit, FILE *out)
{
    struct mkperf_charge c;
    uint32_t hidden = 0;

    mkperf_charge_make(&c, p, event);
    fprintf(out,
            "#\n# Charged: what each PD used itself, and what others used on its behalf (by\n"
            "# the outermost PD of each callchain), of event '%s'\n#\n"
            "# Charged      Self   Imposed  For others  PD\n#\n",
            p->places.session.event[event].name);
    for (uint32_t i = 0; i < c.npds; i++) {
        const struct mkperf_charge_pd *pd = &c.pd[i];
        if (percent(&pd->charged, &c.total) < limit && percent(&pd->served, &c.total) < limit) {
            hidden++;
            continue;
        }
        fprintf(out, "%8.2f%% %8.2f%% %8.2f%% %10.2f%%  %s\n", percent(&pd->charged, &c.total),
                percent(&pd->self, &c.total), percent(&pd->imposed, &c.total),
                percent(&pd->served, &c.total), mkperf_profile_pd_name(p, pd->pd));
        print_imposed(&c, p, pd->pd, limit, out);
    }
    if (hidden != 0) {
        fprintf(out, "# %" PRIu32 " rows below %g %% are omitted\n", hidden, limit);
    }
    mkperf_charge_free(&c);
}
