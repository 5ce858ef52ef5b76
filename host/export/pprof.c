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
 *   The table of strings contains the profile's texts, then names with a PD, then extra strings.
 */
#include <zlib.h>

#include "parts.h"

enum { CHUNK = 16384, MESSAGE_MAX = 4096 };

/* The fields of the message Profile. */
enum field {
    PROFILE_SAMPLE_TYPE = 1,
    PROFILE_SAMPLE = 2,
    PROFILE_MAPPING = 3,
    PROFILE_LOCATION = 4,
    PROFILE_FUNCTION = 5,
    PROFILE_STRING_TABLE = 6,
    PROFILE_DURATION_NANOS = 10,
    PROFILE_PERIOD_TYPE = 11,
    PROFILE_PERIOD = 12,
    PROFILE_COMMENT = 13,
    PROFILE_DEFAULT_SAMPLE_TYPE = 14,
};

struct message {
    size_t n;
    uint8_t byte[MESSAGE_MAX];
};

struct pprof {
    struct mkperf_profile *c;
    struct mkperf_textout *t;
    z_stream z;
    struct function_names names;
    struct mkperf_hash extra; /* all other strings of the file */
    uint32_t texts;           /* the number of strings that precede the extra ones */
    struct message m;         /* the message that emit writes next */
};

static void put_varint(struct message *m, uint64_t v)
{
    while (v >= 0x80 && m->n < MESSAGE_MAX) {
        m->byte[m->n++] = (uint8_t)(v | 0x80);
        v >>= 7;
    }
    if (m->n < MESSAGE_MAX) {
        m->byte[m->n++] = (uint8_t)v;
    }
}

/* Appends a number as a field; 0 is omitted, as it is the default. */
static void put_number(struct message *m, unsigned field, uint64_t v)
{
    if (v != 0) {
        put_varint(m, field << 3);
        put_varint(m, v);
    }
}

static void put_nested(struct message *m, unsigned field, const struct message *inner)
{
    put_varint(m, field << 3 | 2);
    put_varint(m, inner->n);
    if (inner->n <= MESSAGE_MAX - m->n) {
        memcpy(m->byte + m->n, inner->byte, inner->n);
        m->n += inner->n;
    }
}

static void put_packed(struct message *m, unsigned field, const uint64_t *v, size_t n)
{
    struct message inner = {.n = 0};

    for (size_t i = 0; i < n; i++) {
        put_varint(&inner, v[i]);
    }
    put_nested(m, field, &inner);
}

/* Compresses n bytes into the file. */
static void compress_bytes(struct pprof *p, const void *bytes, size_t n, int flush)
{
    uint8_t out[CHUNK];

    p->z.next_in = (Bytef *)(uintptr_t)bytes;
    p->z.avail_in = (uInt)n;
    do {
        p->z.next_out = out;
        p->z.avail_out = sizeof out;
        deflate(&p->z, flush);
        mkperf_textout_put(p->t, out, sizeof out - p->z.avail_out);
    } while (p->z.avail_out == 0);
}

/* Writes p->m as a field of the profile, and empties it. */
static void emit(struct pprof *p, unsigned field)
{
    struct message head = {.n = 0};

    put_varint(&head, field << 3 | 2);
    put_varint(&head, p->m.n);
    compress_bytes(p, head.byte, head.n, Z_NO_FLUSH);
    compress_bytes(p, p->m.byte, p->m.n, Z_NO_FLUSH);
    p->m.n = 0;
}

static void emit_number(struct pprof *p, unsigned field, uint64_t v)
{
    struct message m = {.n = 0};

    put_number(&m, field, v);
    compress_bytes(p, m.byte, m.n, Z_NO_FLUSH);
}

/* The number of an extra string, which is added if it is new. */
static uint64_t extra_string(struct pprof *p, const char *text)
{
    return p->texts + mkperf_hash_text_number(&p->extra, text);
}

static uint64_t event_string(struct pprof *p, uint32_t event)
{
    char room[32];

    return extra_string(p, mkperf_places_event_name(&p->c->places, event, room));
}

static void value_type(struct message *m, uint64_t type, uint64_t unit)
{
    put_number(m, 1, type);
    put_number(m, 2, unit);
}

static void put_types(struct pprof *p)
{
    uint64_t count = extra_string(p, "count");
    const struct mkperf_session *session = &p->c->places.session;

    value_type(&p->m, extra_string(p, "samples"), count);
    emit(p, PROFILE_SAMPLE_TYPE);
    for (uint32_t i = 0; i < p->c->nevents; i++) {
        value_type(&p->m, event_string(p, i), count);
        emit(p, PROFILE_SAMPLE_TYPE);
    }
    if (p->c->nevents > 0) {
        value_type(&p->m, event_string(p, 0), count);
        emit(p, PROFILE_PERIOD_TYPE);
        emit_number(p, PROFILE_PERIOD, session->event[0].period);
        emit_number(p, PROFILE_DEFAULT_SAMPLE_TYPE, event_string(p, 0));
    }
    emit_number(p, PROFILE_DURATION_NANOS, p->c->last_ns - p->c->first_ns);
}

static void put_label(struct pprof *p, const char *key, uint64_t text, uint64_t value)
{
    struct message m = {.n = 0};

    put_number(&m, 1, extra_string(p, key));
    put_number(&m, 2, text);
    put_number(&m, 3, value);
    put_nested(&p->m, 3, &m);
}

static void put_sample(struct pprof *p, const struct mkperf_profile_chain *chain)
{
    uint64_t location[MKPERF_PLACES_MAX], value[1 + MKPERF_MODEL_EVENTS] = {0};
    const struct mkperf_places *s = &p->c->places;
    char core[16];

    for (uint32_t i = 0; i < chain->n; i++) {
        location[i] = (uint64_t)chain->place[i] + 1;
    }
    value[0] = chain->weight.samples;
    value[1 + chain->event] = chain->weight.period;
    put_packed(&p->m, 1, location, chain->n);
    put_packed(&p->m, 2, value, 1 + p->c->nevents);
    snprintf(core, sizeof core, "%u", chain->core);
    put_label(p, "pd", extra_string(p, mkperf_places_pd_name(s, chain->pd)), 0);
    put_label(p, "core", extra_string(p, core), 0);
    put_label(p, "event", event_string(p, chain->event), 0);
    put_label(p, "mode", extra_string(p, s->place[chain->place[0]].kernel ? "kernel" : "user"), 0);
    emit(p, PROFILE_SAMPLE);
}

static void put_mapping(struct pprof *p, uint64_t id, struct mkperf_module *module,
                        const char *name)
{
    size_t n = 0, id_size = 0;
    const struct mkperf_segment *s = module != NULL ? mkperf_module_segments(module, &n) : NULL;
    const uint8_t *build_id = module != NULL ? mkperf_module_build_id(module, &id_size) : NULL;
    char hex[2 * 20 + 1] = "";

    for (size_t i = 0; build_id != NULL && i < id_size && i < 20; i++) {
        snprintf(hex + 2 * i, 3, "%02x", build_id[i]);
    }
    put_number(&p->m, 1, id);
    if (n > 0) {
        put_number(&p->m, 2, s[0].vaddr);
        put_number(&p->m, 3, s[n - 1].vaddr + s[n - 1].size);
        put_number(&p->m, 4, s[0].offset);
    }
    put_number(&p->m, 5, extra_string(p, module != NULL ? mkperf_module_path(module) : name));
    put_number(&p->m, 6, extra_string(p, hex));
    /* The fields has_functions, has_filenames, has_line_numbers and has_inline_frames. */
    for (unsigned field = 7; field <= 10; field++) {
        put_number(&p->m, field, 1);
    }
    emit(p, PROFILE_MAPPING);
}

/* Writes a string of the table. Unprintable bytes become '?'. */
static void put_string(struct pprof *p, const char *text)
{
    p->m.n = 0;
    while (*text != '\0' && p->m.n < MESSAGE_MAX - 8) {
        size_t n = mkperf_printable_char(text);
        if (n == 0) {
            p->m.byte[p->m.n++] = '?';
            text++;
            continue;
        }
        memcpy(p->m.byte + p->m.n, text, n);
        p->m.n += n;
        text += n;
    }
    emit(p, PROFILE_STRING_TABLE);
}

static void put_comment(void *self, const char *line)
{
    struct pprof *p = self;

    emit_number(p, PROFILE_COMMENT, extra_string(p, line));
}

static void put_tables(struct pprof *p)
{
    const struct mkperf_places *s = &p->c->places;

    /* The kernel is first, because pprof shows the first mapping as "File". */
    put_mapping(p, (uint64_t)s->npds + 1, s->kernel, "[kernel]");
    for (uint32_t i = 0; i < s->npds; i++) {
        if (s->pd[i].name != NULL) {
            put_mapping(p, (uint64_t)i + 1, s->pd[i].module, s->pd[i].name);
        }
    }
    for (uint32_t i = 0; i < s->places.count; i++) {
        const struct mkperf_place *place = &s->place[i];
        uint32_t n;
        const struct mkperf_frame *frame = mkperf_places_frames(s, i, &n);
        put_number(&p->m, 1, (uint64_t)i + 1);
        bool of_pd = !place->kernel && place->pd < s->npds && s->pd[place->pd].name != NULL;
        put_number(&p->m, 2, (of_pd ? place->pd : s->npds) + UINT64_C(1));
        put_number(&p->m, 3, place->edge ? 0 : place->addr);
        for (uint32_t k = 0; k < n; k++) {
            struct message line = {.n = 0};
            put_number(&line, 1, (uint64_t)frame[k].function + 1);
            put_number(&line, 2, frame[k].line);
            put_nested(&p->m, 4, &line);
        }
        emit(p, PROFILE_LOCATION);
    }
    uint64_t with_pd = s->texts.count;
    for (uint32_t i = 0; i < s->functions.count; i++) {
        put_number(&p->m, 1, (uint64_t)i + 1);
        put_number(&p->m, 2,
                   function_names_pd(&p->names, i) != NULL ? with_pd++ : s->function[i].name);
        put_number(&p->m, 3, s->function[i].name);
        put_number(&p->m, 4, s->function[i].file);
        emit(p, PROFILE_FUNCTION);
    }
    mkperf_profile_notes(p->c, put_comment, p);
    for (uint32_t i = 0; i < s->texts.count; i++) {
        put_string(p, mkperf_places_text(s, i));
    }
    char text[MESSAGE_MAX];
    for (uint32_t i = 0; i < s->functions.count; i++) {
        const char *pd = function_names_pd(&p->names, i);
        if (pd != NULL) {
            snprintf(text, sizeof text, "%s {%.255s}", mkperf_places_name(s, i), pd);
            put_string(p, text);
        }
    }
    for (uint32_t i = 0; i < p->extra.count; i++) {
        put_string(p, mkperf_hash_text(&p->extra, i));
    }
    compress_bytes(p, "", 0, Z_FINISH);
}

enum mkperf_status mkperf_pprof_write(const struct mkperf_export *x, struct mkperf_profile *c,
                                      struct mkperf_textout *t, struct mkperf_error *e)
{
    struct pprof *p = mkperf_xcalloc(1, sizeof *p);

    (void)x;
    (void)e;
    if (deflateInit2(&p->z, 6, Z_DEFLATED, 15 + 16 /* gzip */, 8, Z_DEFAULT_STRATEGY) != Z_OK) {
        mkperf_die(); /* deflateInit2 fails only without memory */
    }
    p->c = c;
    p->t = t;
    function_names_init(&p->names, &c->places);
    struct mkperf_profile_chain chain;
    p->texts = p->c->places.texts.count;
    for (uint32_t i = 0; i < p->c->places.functions.count; i++) {
        p->texts += function_names_pd(&p->names, i) != NULL;
    }
    put_types(p);
    for (uint32_t i = 0; i < p->c->chains.count; i++) {
        mkperf_profile_chain(p->c, i, &chain);
        put_sample(p, &chain);
    }
    put_tables(p);
    function_names_free(&p->names);
    deflateEnd(&p->z);
    mkperf_hash_free(&p->extra);
    free(p);
    return MKPERF_OK;
}
