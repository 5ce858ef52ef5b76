/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The page of mkperf view with a profile in it: one HTML file that loads nothing else.
 *
 * Owns: the form of the data in the file. The container of page/page.h is compressed by gzip and written in base64.
 * The profile to compare with (--diff) is a second container. The file has the code of the CODE_FUNCTIONS functions with
 * the largest weights of their own; for other functions the page reports that their code is not in the file.
 */
#include "page/page.h"
#include "parts.h"

enum { CODE_FUNCTIONS = 200 };

struct html {
    const struct mkperf_export *x;
    struct mkperf_frames frames;
    struct mkperf_textout *t;
    struct page_bytes data;
};

/* Writes an element with the bytes, compressed by gzip, in base64. */
static void put_container(struct html *h, const char *id, const struct page_bytes *b)
{
    static const char digit[] =
        "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/="; /* '=': no digit */
    size_t n;
    uint8_t *out = mkperf_export_gzip(b->p, b->n, &n);

    mkperf_textout_printf(h->t, "<script type=\"application/octet-stream\" id=\"%s\">", id);
    for (size_t i = 0; i < n; i += 3) {
        uint32_t bits = (uint32_t)out[i] << 16 | (i + 1 < n ? (uint32_t)out[i + 1] << 8 : 0) |
                        (i + 2 < n ? out[i + 2] : 0U);
        char base64[] = {digit[bits >> 18], digit[bits >> 12 & 63],
                         digit[i + 1 < n ? bits >> 6 & 63 : 64], digit[i + 2 < n ? bits & 63 : 64]};
        mkperf_textout_put(h->t, base64, sizeof base64);
    }
    mkperf_textout_puts(h->t, "</script>\n");
    free(out);
}

struct heavy {
    uint64_t period;
    uint32_t function;
};

static struct page_bytes container_of(struct mkperf_frames *f, const char *name)
{
    const struct page_input in = page_input_of(f, name);

    return page_data_make(&in);
}

static void put_page_data(struct html *h)
{
    put_container(h, "profile-data", &h->data);
    if (h->x->base != NULL) {
        struct mkperf_frames f = {.profile = h->x->base};
        struct page_bytes b =
            container_of(&f, h->x->base_name != NULL ? h->x->base_name : "another profile");

        put_container(h, "base-data", &b);
        page_bytes_free(&b);
        mkperf_frames_close(&f);
    }
    /* All functions, sorted by their own weight over all events, the largest first. */
    uint32_t n_functions = h->frames.functions.count, function[MKPERF_FRAMES_MAX];
    struct heavy *list = mkperf_xcalloc((size_t)n_functions + 1, sizeof *list);
    for (uint32_t i = 0; i < n_functions; i++) {
        list[i].function = i;
    }
    for (uint32_t i = 0; i < h->frames.profile->chains.count; i++) {
        mkperf_frames_of(&h->frames, i, function);
        list[function[0]].period += h->frames.profile->weight[i].period;
    }
    MKPERF_SORT(list, n_functions, MKPERF_DOWN(list, period), MKPERF_UP(list, function));
    struct annotate_sources sources = {.n = 0};
    char *text = NULL;
    size_t n = 0;
    FILE *out = mkperf_memstream_open(&text, &n);
    for (uint32_t i = 0; i < h->frames.functions.count && i < CODE_FUNCTIONS; i++) {
        fputs(i > 0 ? ",\n" : "[", out);
        page_code_json(&h->frames, list[i].function, &sources, out);
    }
    fputs(h->frames.functions.count != 0 ? "]" : "[]", out);
    mkperf_memstream_close(out);
    put_container(h, "code-data", &(struct page_bytes){.p = (uint8_t *)text, .n = n});
    annotate_sources_free(&sources);
    free(text);
    free(list);
}

enum mkperf_status mkperf_html_write(const struct mkperf_export *x, struct mkperf_profile *c,
                                     struct mkperf_textout *t, struct mkperf_error *e)
{
    struct html h = {.x = x, .frames = {.profile = c}, .t = t};

    if (mkperf_profile_order(c, e) != MKPERF_OK ||
        (x->base != NULL && mkperf_profile_order(x->base, e) != MKPERF_OK)) {
        return e->status;
    }
    h.data = container_of(&h.frames, x->title != NULL   ? x->title
                                     : x->input != NULL ? x->input
                                                        : "");
    page_write_begin(t);
    put_page_data(&h);
    page_write_end(t);
    page_bytes_free(&h.data);
    mkperf_frames_close(&h.frames);
    return MKPERF_OK;
}
