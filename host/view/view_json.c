/* SPDX-License-Identifier: BSD-2-Clause */
/* Owns: see view_json.h: what is said of the whole recording. The selection's is in view_profile.c.
 */
#include "view_json.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "base/printable.h"
#include "report/head.h"

void view_json_text(const char *text, FILE *out)
{
    fputc('"', out);
    while (*text) {
        size_t n = mkperf_utf8(text);
        unsigned char c = (unsigned char)*text;

        if (n != 1 && mkperf_printable_char(text) == 0) {
            fputs("\\ufffd", out);
            n = n != 0 ? n : 1;
        } else if (c == '"' || c == '\\') {
            fprintf(out, "\\%c", c);
        } else if (c < 0x20 || c == 0x7f) {
            fprintf(out, "\\u%04x", c);
        } else {
            fprintf(out, "%.*s", (int)n, text);
        }
        text += n;
    }
    fputc('"', out);
}

/* What mkperf report says above its tables. */
static void print_head(const struct mkperf_frames *f, const char *path, FILE *out)
{
    char *text = NULL;
    size_t n = 0;
    FILE *head = open_memstream(&text, &n);

    if (head) {
        report_head_print(f->profile, path, true, head);
        mkperf_frames_warn(f, head);
        (void)fclose(head);
    }
    view_json_text(text ? text : "", out);
    free(text);
}

void view_json_info(const struct mkperf_frames *f, const char *path, bool speedscope, FILE *out)
{
    const struct mkperf_profile *p = f->profile;
    const struct mkperf_profile_sample *sample = p->samples.map;
    size_t n = p->samples.count;

    fputs("{\"file\":", out);
    view_json_text(path, out);
    fputs(",\"head\":", out);
    print_head(f, path, out);
    fputs(",\"events\":[", out);
    for (unsigned i = 0; i < p->places.session.nevents; i++) {
        fputs(i ? "," : "", out);
        view_json_text(p->places.session.event[i].name, out);
    }
    fputs("],\"pds\":[", out);
    for (uint32_t i = 0; i < p->places.npds; i++) {
        fprintf(out, "%s{\"name\":", i ? "," : "");
        view_json_text(mkperf_profile_pd_name(p, i), out);
        fprintf(out, ",\"samples\":%" PRIu64 ",\"idle\":%s}", p->places.pd[i].samples,
                p->places.pd[i].thread == MKPERF_THREAD_IDLE ? "true" : "false");
    }
    fprintf(out, "],\"cores\":%u,\"from\":\"%" PRIu64 "\",\"to\":\"%" PRIu64 "\"", p->cores_seen,
            n > 0 ? sample[0].time_ns : 0, n > 0 ? sample[n - 1].time_ns : 0);
    fprintf(out, ",\"samples\":%" PRIu64 ",\"lost\":%" PRIu64 ",\"complete\":%s,\"speedscope\":%s}",
            p->totals.samples, mkperf_profile_lost(p), p->totals.complete ? "true" : "false",
            speedscope ? "true" : "false");
}

/* Which lane each PD has on the timeline: the heaviest their own, the rest the last. */
struct lanes {
    uint32_t *lane; /* of each PD */
    uint32_t pd[VIEW_LANES];
    uint32_t n;       /* with the last */
    uint64_t *weight; /* [core][lane][bin] */
};

static bool assign_lanes(const struct mkperf_profile *p, struct lanes *l)
{
    l->lane = calloc((size_t)p->places.npds + 1, sizeof *l->lane);
    for (uint32_t i = 0; l->lane && i < p->places.npds; i++) {
        l->lane[i] = VIEW_LANES;
    }
    while (l->lane && l->n < VIEW_LANES) {
        uint32_t best = p->places.npds;

        for (uint32_t i = 0; i < p->places.npds; i++) {
            if (l->lane[i] == VIEW_LANES && p->places.pd[i].samples > 0 &&
                (best == p->places.npds || p->places.pd[i].samples > p->places.pd[best].samples)) {
                best = i;
            }
        }
        if (best == p->places.npds) {
            break;
        }
        l->pd[l->n] = best;
        l->lane[best] = l->n++;
    }
    return l->lane != NULL;
}

static void fill_bins(const struct mkperf_profile *p, uint32_t event, uint32_t cores,
                      struct lanes *l)
{
    const struct mkperf_profile_sample *sample = p->samples.map;
    size_t n = p->samples.count;
    uint64_t from = n > 0 ? sample[0].time_ns : 0;
    uint64_t span = n > 0 ? sample[n - 1].time_ns - from + 1 : 1;

    for (size_t i = 0; i < n; i++) {
        const struct mkperf_profile_sample *s = &sample[i];
        struct mkperf_chain_head head = mkperf_profile_head(p, s->chain);
        double at = (double)(s->time_ns - from) / (double)span * VIEW_BINS;
        uint32_t bin = at < VIEW_BINS ? (uint32_t)at : VIEW_BINS - 1;

        if (head.event == event && s->core < cores) {
            uint64_t row = (uint64_t)s->core * (VIEW_LANES + 1) + l->lane[head.pd];

            l->weight[row * VIEW_BINS + bin] += s->period;
        }
    }
}

static void print_lane(const struct lanes *l, uint32_t core, uint32_t lane, bool first, FILE *out)
{
    const uint64_t *w = l->weight + ((uint64_t)core * (VIEW_LANES + 1) + lane) * VIEW_BINS;

    fputs(first ? "{" : ",{", out);
    if (lane < VIEW_LANES) {
        fprintf(out, "\"pd\":%" PRIu32 ",", l->pd[lane]);
    }
    fputs("\"weight\":[", out);
    for (unsigned i = 0; i < VIEW_BINS; i++) {
        fprintf(out, i ? ",%" PRIu64 : "%" PRIu64, w[i]);
    }
    fputs("]}", out);
}

bool view_json_timeline(const struct mkperf_profile *whole, uint32_t event, FILE *out)
{
    struct lanes l = {.n = 0};
    uint32_t cores = whole->cores_seen < VIEW_CORES ? whole->cores_seen : VIEW_CORES;

    l.weight = calloc(((size_t)cores + 1) * (VIEW_LANES + 1) * VIEW_BINS, sizeof *l.weight);
    if (!l.weight || !assign_lanes(whole, &l)) {
        free(l.weight);
        return false;
    }
    fill_bins(whole, event, cores, &l);
    fprintf(out, "{\"bins\":%d,\"cores\":[", VIEW_BINS);
    for (uint32_t core = 0; core < cores; core++) {
        fprintf(out, "%s{\"core\":%" PRIu32 ",\"lanes\":[", core ? "," : "", core);
        for (uint32_t lane = 0; lane < l.n; lane++) {
            print_lane(&l, core, lane, lane == 0, out);
        }
        print_lane(&l, core, VIEW_LANES, l.n == 0, out);
        fputs("]}", out);
    }
    fputs("]}", out);
    free(l.lane);
    free(l.weight);
    return true;
}
