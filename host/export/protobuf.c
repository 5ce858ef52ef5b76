/* SPDX-License-Identifier: BSD-2-Clause */
/* Owns: the encoding of messages, see parts.h. */
#include "parts.h"

#include <mkperf/varint.h>

void pb_close(struct pb_file *f)
{
    size_t n;
    uint8_t *gzip = mkperf_export_gzip(f->byte, f->n, &n);

    mkperf_textout_put(f->t, gzip, n);
    free(gzip);
    free(f->byte);
    mkperf_hash_free(&f->strings);
}

static void put_varint(struct pb_file *f, uint64_t v)
{
    MKPERF_GROW(f->byte, f->room, f->n + MKPERF_VARINT);
    f->n += mkperf_put_varint(f->byte + f->n, v);
}

void pb_number(struct pb_file *f, unsigned field, uint64_t v)
{
    if (v != 0) {
        put_varint(f, field << 3);
        put_varint(f, v);
    }
}

void pb_fixed64(struct pb_file *f, unsigned field, uint64_t v)
{
    if (v != 0) {
        put_varint(f, field << 3 | 1);
        MKPERF_GROW(f->byte, f->room, f->n + sizeof v);
        mkperf_put64(&(struct mkperf_put){f->byte + f->n}, v);
        f->n += sizeof v;
    }
}

size_t pb_begin(struct pb_file *f, unsigned field)
{
    put_varint(f, field << 3 | 2);
    return f->n;
}

void pb_end(struct pb_file *f, size_t at)
{
    uint8_t length[MKPERF_VARINT];
    size_t n = f->n - at, k = mkperf_put_varint(length, n);

    MKPERF_GROW(f->byte, f->room, f->n + k);
    memmove(f->byte + at + k, f->byte + at, n);
    memcpy(f->byte + at, length, k);
    f->n += k;
}

void pb_packed(struct pb_file *f, unsigned field, const uint64_t *v, size_t n)
{
    size_t at = pb_begin(f, field);

    for (size_t i = 0; i < n; i++) {
        put_varint(f, v[i]);
    }
    pb_end(f, at);
}

void pb_text(struct pb_file *f, unsigned field, const char *text)
{
    size_t at = pb_begin(f, field);

    MKPERF_GROW(f->byte, f->room, f->n + strlen(text));
    while (*text != '\0') {
        size_t n = mkperf_printable_char(text);
        if (n == 0) {
            f->byte[f->n++] = '?';
            text++;
            continue;
        }
        memcpy(f->byte + f->n, text, n);
        f->n += n;
        text += n;
    }
    pb_end(f, at);
}

void pb_code(struct pb_file *f, unsigned field, const struct mkperf_module *module)
{
    size_t n;
    const struct mkperf_segment *s = mkperf_module_segments(module, &n);

    if (n > 0) {
        pb_number(f, field, s[0].vaddr);
        pb_number(f, field + 1, s[n - 1].vaddr + s[n - 1].size);
        pb_number(f, field + 2, s[0].offset);
    }
}

uint64_t pb_string(struct pb_file *f, const char *text)
{
    return text[0] != '\0' ? mkperf_hash_text_number(&f->strings, text) + UINT64_C(1) : 0;
}

void pb_strings(struct pb_file *f, unsigned field)
{
    pb_text(f, field, "");
    for (uint32_t i = 0; i < f->strings.count; i++) {
        pb_text(f, field, mkperf_hash_text(&f->strings, i));
    }
}

void pb_places(struct pb_file *f, const struct mkperf_places *s, unsigned locations,
               unsigned functions, bool ids)
{
    for (uint32_t i = 0; i < s->places.count; i++) {
        const struct mkperf_place *place = &s->place[i];
        bool of_pd = !place->kernel && place->pd < s->npds && s->pd[place->pd].name != NULL;
        size_t at = pb_begin(f, locations);
        uint32_t n;
        const struct mkperf_frame *frame = mkperf_places_frames(s, i, &n);

        pb_number(f, 1, ids ? i + UINT64_C(1) : 0);
        pb_number(f, 1 + ids, of_pd ? place->pd + UINT64_C(2) : 1);
        pb_number(f, 2 + ids, place->edge ? 0 : place->addr);
        for (uint32_t k = 0; k < n; k++) {
            pb_pair(f, 3 + ids, frame[k].function + UINT64_C(1), frame[k].line);
        }
        pb_end(f, at);
    }
    for (uint32_t i = 0; i < s->functions.count; i++) {
        const char *pd = mkperf_places_one_of_several(s, i), *name = mkperf_places_name(s, i);
        char *own = pd != NULL ? mkperf_xprintf("%.1000s {%.255s}", name, pd)
                               : mkperf_xstrdup(name);
        size_t at = pb_begin(f, functions);

        pb_number(f, 1, ids ? i + UINT64_C(1) : 0);
        pb_number(f, 1 + ids, pb_string(f, own));
        pb_number(f, 2 + ids, pb_string(f, name));
        pb_number(f, 3 + ids, pb_string(f, mkperf_places_text(s, s->function[i].file)));
        pb_end(f, at);
        free(own);
    }
}

void pb_pair(struct pb_file *f, unsigned field, uint64_t first, uint64_t second)
{
    size_t at = pb_begin(f, field);

    pb_number(f, 1, first);
    pb_number(f, 2, second);
    pb_end(f, at);
}
