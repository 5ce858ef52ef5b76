/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * OTLP profiles: the request that servers of OpenTelemetry take over HTTP, gzipped, by schema 1.10.
 *
 * Owns: the encoding. Called through the table of formats, and for the uploads of mkperf agent.
 *   Each event is a profile; its values are the periods.
 *   Each distinct chain, core and event is a sample with the attributes pd, core and mode.
 *   The resource has the service, the target, and the identity of the image.
 *   What profiles share is in a dictionary of tables. The first element of each table is empty, as the schema demands.
 *   Messages before 1.10 have other numbers: a sample's values were field 2.
 */
#include "parts.h"

enum otlp_field {
    REQUEST_RESOURCE_PROFILES = 1,
    REQUEST_DICTIONARY = 2,
    RESOURCE_PROFILES_RESOURCE = 1,
    RESOURCE_PROFILES_SCOPES = 2,
    SCOPE_PROFILES_SCOPE = 1,
    SCOPE_PROFILES_PROFILES = 2,
    OTLP_PROFILE_SAMPLE_TYPE = 1,
    OTLP_PROFILE_SAMPLES = 2,
    OTLP_PROFILE_TIME_UNIX_NANO = 3,
    OTLP_PROFILE_DURATION_NANO = 4,
    OTLP_PROFILE_PERIOD_TYPE = 5,
    OTLP_PROFILE_PERIOD = 6,
    SAMPLE_STACK = 1,
    SAMPLE_ATTRIBUTES = 2,
    SAMPLE_VALUES = 4,
    TABLE_MAPPING = 1,
    TABLE_LOCATION = 2,
    TABLE_FUNCTION = 3,
    TABLE_LINK = 4,
    TABLE_STRING = 5,
    TABLE_ATTRIBUTE = 6,
    TABLE_STACK = 7,
};

struct otlp {
    const struct mkperf_export *x;
    struct mkperf_profile *c;
    struct pb_file f;
    struct mkperf_hash attributes; /* key and value, as strings */
    struct mkperf_hash stacks;
};

/* Returns the number of an attribute with a text. */
static uint64_t attribute(struct otlp *o, const char *key, const char *value)
{
    const uint64_t pair[] = {pb_string(&o->f, key), pb_string(&o->f, value)};

    return mkperf_hash_number(&o->attributes, pair, 2) + UINT64_C(1);
}

static void put_resource_attribute(struct otlp *o, const char *key, const char *value)
{
    if (value != NULL && value[0] != '\0') {
        size_t at = pb_begin(&o->f, 1), inner;

        pb_text(&o->f, 1, key);
        inner = pb_begin(&o->f, 2);
        pb_text(&o->f, 1, value);
        pb_end(&o->f, inner);
        pb_end(&o->f, at);
    }
}

static void put_profile(struct otlp *o, uint32_t event)
{
    const struct mkperf_places *s = &o->c->places;
    size_t at = pb_begin(&o->f, SCOPE_PROFILES_PROFILES);
    struct mkperf_profile_chain chain;
    uint64_t stack[MKPERF_PLACES_MAX];
    char room[32], core[16];
    uint64_t name = pb_string(&o->f, mkperf_places_event_name(s, event, room)),
             count = pb_string(&o->f, "count");

    pb_pair(&o->f, OTLP_PROFILE_SAMPLE_TYPE, name, count);
    for (uint32_t i = 0; i < o->c->chains.count; i++) {
        mkperf_profile_chain(o->c, i, &chain);
        if (chain.event != event) {
            continue;
        }
        for (uint32_t k = 0; k < chain.n; k++) {
            stack[k] = (uint64_t)chain.place[k] + 1;
        }
        snprintf(core, sizeof core, "%u", chain.core);
        const uint64_t attributes[] = {
            attribute(o, "pd", mkperf_places_pd_name(s, chain.pd)), attribute(o, "core", core),
            attribute(o, "mode", s->place[chain.place[0]].kernel ? "kernel" : "user")};
        size_t sample = pb_begin(&o->f, OTLP_PROFILE_SAMPLES);
        pb_number(&o->f, SAMPLE_STACK,
                  mkperf_hash_number(&o->stacks, stack, chain.n) + UINT64_C(1));
        pb_packed(&o->f, SAMPLE_ATTRIBUTES, attributes, 3);
        pb_packed(&o->f, SAMPLE_VALUES, &chain.weight.period, 1);
        pb_end(&o->f, sample);
    }
    pb_fixed64(&o->f, OTLP_PROFILE_TIME_UNIX_NANO, o->x->unix_ns);
    pb_number(&o->f, OTLP_PROFILE_DURATION_NANO, o->c->last_ns - o->c->first_ns);
    pb_pair(&o->f, OTLP_PROFILE_PERIOD_TYPE, name, count);
    pb_number(&o->f, OTLP_PROFILE_PERIOD, mkperf_export_period(o->c, event));
    pb_end(&o->f, at);
}

static void put_resource_profiles(struct otlp *o)
{
    char lost[32];
    size_t at = pb_begin(&o->f, REQUEST_RESOURCE_PROFILES),
           inner = pb_begin(&o->f, RESOURCE_PROFILES_RESOURCE);

    put_resource_attribute(o, "service.name", o->x->service != NULL ? o->x->service : "mkperf");
    put_resource_attribute(o, "service.instance.id", o->x->target);
    put_resource_attribute(o, "mkperf.platform", o->c->places.session.platform);
    put_resource_attribute(o, "mkperf.cpu", o->c->places.session.cpu);
    put_resource_attribute(o, "mkperf.image", o->c->places.session.image);
    snprintf(lost, sizeof lost, "%" PRIu64, mkperf_lost_sum(o->c->lost));
    put_resource_attribute(o, "mkperf.lost_samples", lost);
    pb_end(&o->f, inner);
    inner = pb_begin(&o->f, RESOURCE_PROFILES_SCOPES);
    size_t scope = pb_begin(&o->f, SCOPE_PROFILES_SCOPE);
    pb_text(&o->f, 1, "mkperf");
    pb_end(&o->f, scope);
    for (uint32_t i = 0; i < o->c->nevents; i++) {
        if (o->c->total[i].samples != 0) {
            put_profile(o, i);
        }
    }
    pb_end(&o->f, inner);
    pb_end(&o->f, at);
}

static void put_empty(struct otlp *o, unsigned table)
{
    pb_end(&o->f, pb_begin(&o->f, table));
}

static void put_mapping(struct otlp *o, struct mkperf_module *module, const char *name)
{
    const struct mkperf_build_id *id = mkperf_module_build_id(module);
    char hex[MKPERF_BUILD_ID_TEXT];
    size_t at = pb_begin(&o->f, TABLE_MAPPING);

    pb_code(&o->f, 1, module);
    pb_number(&o->f, 4, pb_string(&o->f, module != NULL ? mkperf_module_path(module) : name));
    if (id->n != 0) {
        const uint64_t number =
            attribute(o, "process.executable.build_id.gnu", mkperf_build_id_text(id, hex));
        pb_packed(&o->f, 5, &number, 1);
    }
    pb_end(&o->f, at);
}

/* Writes the dictionary. It is the last part, because all strings and attributes are known then. */
static void put_dictionary(struct otlp *o)
{
    const struct mkperf_places *s = &o->c->places;
    size_t at = pb_begin(&o->f, REQUEST_DICTIONARY);

    put_empty(o, TABLE_MAPPING);
    put_mapping(o, s->kernel, "[kernel]");
    for (uint32_t i = 0; i < s->npds; i++) {
        put_mapping(o, s->pd[i].module, s->pd[i].name != NULL ? s->pd[i].name : "");
    }
    put_empty(o, TABLE_LOCATION);
    put_empty(o, TABLE_FUNCTION);
    pb_places(&o->f, s, TABLE_LOCATION, TABLE_FUNCTION, false);
    put_empty(o, TABLE_LINK);
    put_empty(o, TABLE_STACK);
    for (uint32_t i = 0; i < o->stacks.count; i++) {
        const uint64_t *key = mkperf_hash_key(&o->stacks, i);
        size_t stack = pb_begin(&o->f, TABLE_STACK);

        pb_packed(&o->f, 1, key, mkperf_hash_words(key));
        pb_end(&o->f, stack);
    }
    put_empty(o, TABLE_ATTRIBUTE);
    for (uint32_t i = 0; i < o->attributes.count; i++) {
        const uint64_t *key = mkperf_hash_key(&o->attributes, i);
        size_t pair = pb_begin(&o->f, TABLE_ATTRIBUTE), value;

        pb_number(&o->f, 1, key[0]);
        value = pb_begin(&o->f, 2);
        pb_text(&o->f, 1, key[1] != 0 ? mkperf_hash_text(&o->f.strings, (uint32_t)key[1] - 1) : "");
        pb_end(&o->f, value);
        pb_end(&o->f, pair);
    }
    pb_strings(&o->f, TABLE_STRING);
    pb_end(&o->f, at);
}

enum mkperf_status mkperf_otlp_write(const struct mkperf_export *x, struct mkperf_profile *c,
                                     struct mkperf_textout *t, struct mkperf_error *e)
{
    struct otlp o = {.x = x, .c = c, .f = {.t = t}};

    (void)e;
    put_resource_profiles(&o);
    put_dictionary(&o);
    pb_close(&o.f);
    mkperf_hash_free(&o.attributes);
    mkperf_hash_free(&o.stacks);
    return MKPERF_OK;
}
