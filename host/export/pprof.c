/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * pprof: the gzipped protocol buffer that go tool pprof and related programs read.
 *
 * Owns: the encoding (profile.proto: six messages of varints and lengths). Called through the table of formats.
 *   Each distinct chain and core is a sample with the labels pd, core, event and mode. Its values are the number of
 *     samples and the period of each event.
 *   Each PD is a mapping, and the kernel is one, too.
 *   Losses, periods and the command are in comments.
 *   The target's clock is not wall time: the file has a duration and no date.
 */
#include "parts.h"

/* The fields of the message Profile. */
enum pprof_field {
    PPROF_SAMPLE_TYPE = 1,
    PPROF_SAMPLE = 2,
    PPROF_MAPPING = 3,
    PPROF_LOCATION = 4,
    PPROF_FUNCTION = 5,
    PPROF_STRING_TABLE = 6,
    PPROF_DURATION_NANOS = 10,
    PPROF_PERIOD_TYPE = 11,
    PPROF_PERIOD = 12,
    PPROF_COMMENT = 13,
    PPROF_DEFAULT_SAMPLE_TYPE = 14,
};

struct pprof {
    struct mkperf_profile *c;
    struct pb_file f;
};

static uint64_t event_string(struct pprof *p, uint32_t event)
{
    char room[32];

    return pb_string(&p->f, mkperf_places_event_name(&p->c->places, event, room));
}

static void put_sample_label(struct pprof *p, const char *key, uint64_t text)
{
    pb_pair(&p->f, 3, pb_string(&p->f, key), text);
}

static void put_mapping_message(struct pprof *p, uint64_t number, struct mkperf_module *module,
                                const char *name)
{
    const struct mkperf_build_id *id = mkperf_module_build_id(module);
    char hex[MKPERF_BUILD_ID_TEXT];
    size_t at = pb_begin(&p->f, PPROF_MAPPING);

    pb_number(&p->f, 1, number);
    pb_code(&p->f, 2, module);
    pb_number(&p->f, 5, pb_string(&p->f, module != NULL ? mkperf_module_path(module) : name));
    pb_number(&p->f, 6, pb_string(&p->f, id->n != 0 ? mkperf_build_id_text(id, hex) : ""));
    /* The fields has_functions, has_filenames, has_line_numbers and has_inline_frames. */
    for (unsigned field = 7; field <= 10; field++) {
        pb_number(&p->f, field, 1);
    }
    pb_end(&p->f, at);
}

static void put_comment(void *self, const char *line)
{
    struct pprof *p = self;

    pb_number(&p->f, PPROF_COMMENT, pb_string(&p->f, line));
}

static void put_tables(struct pprof *p)
{
    const struct mkperf_places *s = &p->c->places;

    /* The kernel is first, because pprof shows the first mapping as "File". */
    put_mapping_message(p, 1, s->kernel, "[kernel]");
    for (uint32_t i = 0; i < s->npds; i++) {
        if (s->pd[i].name != NULL) {
            put_mapping_message(p, i + UINT64_C(2), s->pd[i].module, s->pd[i].name);
        }
    }
    pb_places(&p->f, s, PPROF_LOCATION, PPROF_FUNCTION, true);
    mkperf_profile_notes(p->c, put_comment, p);
    pb_strings(&p->f, PPROF_STRING_TABLE);
}

enum mkperf_status mkperf_pprof_write(const struct mkperf_export *x, struct mkperf_profile *c,
                                      struct mkperf_textout *t, struct mkperf_error *e)
{
    struct pprof whole = {.c = c, .f = {.t = t}}, *p = &whole;
    struct mkperf_profile_chain chain;

    (void)x;
    (void)e;
    uint64_t samples = pb_string(&p->f, "samples"), count = pb_string(&p->f, "count");

    pb_pair(&p->f, PPROF_SAMPLE_TYPE, samples, count);
    for (uint32_t i = 0; i < p->c->nevents; i++) {
        pb_pair(&p->f, PPROF_SAMPLE_TYPE, event_string(p, i), count);
    }
    if (p->c->nevents > 0) {
        pb_pair(&p->f, PPROF_PERIOD_TYPE, event_string(p, 0), count);
        pb_number(&p->f, PPROF_PERIOD, mkperf_export_period(p->c, 0));
        pb_number(&p->f, PPROF_DEFAULT_SAMPLE_TYPE, event_string(p, 0));
    }
    pb_number(&p->f, PPROF_DURATION_NANOS, p->c->last_ns - p->c->first_ns);
    for (uint32_t i = 0; i < p->c->chains.count; i++) {
        mkperf_profile_chain(p->c, i, &chain);
        uint64_t location[MKPERF_PLACES_MAX], value[1 + MKPERF_MODEL_EVENTS] = {0};
        size_t at = pb_begin(&p->f, PPROF_SAMPLE);
        char core[16];
        for (uint32_t k = 0; k < chain.n; k++) {
            location[k] = (uint64_t)chain.place[k] + 1;
        }
        value[0] = chain.weight.samples;
        value[1 + chain.event] = chain.weight.period;
        pb_packed(&p->f, 1, location, chain.n);
        pb_packed(&p->f, 2, value, 1 + c->nevents);
        snprintf(core, sizeof core, "%u", chain.core);
        put_sample_label(p, "pd", pb_string(&p->f, mkperf_places_pd_name(&c->places, chain.pd)));
        put_sample_label(p, "core", pb_string(&p->f, core));
        put_sample_label(p, "event", event_string(p, chain.event));
        put_sample_label(
            p, "mode",
            pb_string(&p->f, c->places.place[chain.place[0]].kernel ? "kernel" : "user"));
        pb_end(&p->f, at);
    }
    put_tables(p);
    pb_close(&p->f);
    return MKPERF_OK;
}
