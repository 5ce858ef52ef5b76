/* SPDX-License-Identifier: BSD-2-Clause */
/* Owns: the table of charged time, see charged.h. */
#include "charged.h"

#include <inttypes.h>

#include "base/percent.h"

static double share(const struct mkperf_charge *c, const struct mkperf_weight *w)
{
    return mkperf_percent(w->period, c->total.period);
}

void report_charged_row(const struct mkperf_charge *c, const struct mkperf_charge_pd *pd,
                        const char *more, const char *name, char *text, size_t n)
{
    snprintf(text, n, "%8.2f%% %8.2f%% %8.2f%% %10.2f%%%s  %s", share(c, &pd->charged),
             share(c, &pd->self), share(c, &pd->imposed), share(c, &pd->served), more, name);
}

void report_charged_by(const struct mkperf_charge *c, const struct mkperf_charge_pair *pair,
                       int more, const char *name, char *text, size_t n)
{
    snprintf(text, n, "%28.2f%%%*s               by %s", share(c, &pair->weight), more, "", name);
}

static void print_imposed(const struct mkperf_charge *c, const struct mkperf_profile *p,
                          uint32_t pd, double limit, FILE *out)
{
    char text[512];

    for (uint32_t i = 0; i < c->npairs; i++) {
        const struct mkperf_charge_pair *pair = &c->pair[i];
        if (pair->to == pd && pair->by != pd && share(c, &pair->weight) >= limit) {
            report_charged_by(c, pair, 0, mkperf_profile_pd_name(p, pair->by), text, sizeof text);
            fprintf(out, "%s\n", text);
        }
    }
}

void report_charged_print(const struct mkperf_profile *p, uint32_t event, double limit, FILE *out)
{
    struct mkperf_charge c;
    uint32_t hidden = 0;
    char text[512];

    mkperf_charge_make(&c, p, event);
    fprintf(out,
            "#\n# Charged: what each PD used itself, and what others used on its behalf (by\n"
            "# the outermost PD of each callchain), of event '%s'\n#\n"
            "#" REPORT_CHARGED_TITLES("") "\n#\n",
            p->places.session.event[event].name);
    for (uint32_t i = 0; i < c.npds; i++) {
        const struct mkperf_charge_pd *pd = &c.pd[i];
        if (share(&c, &pd->charged) < limit && share(&c, &pd->served) < limit) {
            hidden++;
            continue;
        }
        report_charged_row(&c, pd, "", mkperf_profile_pd_name(p, pd->pd), text, sizeof text);
        fprintf(out, "%s\n", text);
        print_imposed(&c, p, pd->pd, limit, out);
    }
    if (hidden != 0) {
        fprintf(out, "# %" PRIu32 " rows below %g %% are omitted\n", hidden, limit);
    }
    mkperf_charge_free(&c);
}
