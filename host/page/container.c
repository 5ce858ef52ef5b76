/* SPDX-License-Identifier: BSD-2-Clause */
/* Owns: the layout of the container. See page.h. */
#include "page.h"

void page_bytes_free(struct page_bytes *b)
{
    free(b->p);
    *b = (struct page_bytes){.n = 0};
}

/* Returns the next multiple of 8. */
static size_t align(size_t n)
{
    return (n + 7) / 8 * 8;
}

void page_columns_begin(struct page_columns *c)
{
    *c = (struct page_columns){.text = NULL};
    c->json.over = mkperf_memstream_open(&c->text, &c->text_length);
}

void page_column(struct page_columns *c, const char *name, const uint64_t *value, size_t n)
{
    static const char *const types[] = {[1] = "u8", [2] = "u16", [4] = "u32", [8] = "f64"};
    uint64_t most = 0;

    for (size_t i = 0; i < n; i++) {
        most = value[i] > most ? value[i] : most;
    }
    unsigned size = most <= UINT8_MAX ? 1 : most <= UINT16_MAX ? 2 : most <= UINT32_MAX ? 4 : 8;
    size_t offset = align(c->data.n);
    assert(c->columns < PAGE_COLUMNS);
    c->column[c->columns++] = (struct page_column){name, types[size], offset, n};
    c->data.p =
        mkperf_xrealloc(c->data.p, offset + n * size, 1); /* large memory is moved, not copied */
    while (c->data.n < offset) {
        c->data.p[c->data.n++] = ' ';
    }
    uint8_t *out = c->data.p + offset;
    for (size_t i = 0; i < n; i++) {
        uint64_t bits = value[i];
        if (size == 8) {
            double number = (double)value[i];
            memcpy(&bits, &number, sizeof bits);
        }
        for (unsigned byte = 0; byte < size; byte++) {
            *out++ = (uint8_t)(bits >> 8 * byte);
        }
    }
    c->data.n += n * size;
}

struct page_bytes page_columns_finish(struct page_columns *c)
{
    struct page_bytes out = c->data;

    mkperf_json(&c->json, ",'columns':{");
    for (unsigned i = 0; i < c->columns; i++) {
        const struct page_column *of = &c->column[i];
        mkperf_json(&c->json, ",%s:[%s,%zu,%zu]", of->name, of->type, of->offset, of->n);
    }
    mkperf_json(&c->json, "}}");
    mkperf_memstream_close(c->json.over);
    const uint32_t numbers[] = {htole32(PAGE_VERSION), htole32((uint32_t)c->text_length)};
    size_t head = align(12 + c->text_length);
    out.p = mkperf_xrealloc(out.p, head + out.n, 1); /* the head is put before the columns */
    memmove(out.p + head, out.p, out.n);
    memset(out.p, ' ', head);
    memcpy(out.p, "mkpv", 4);
    memcpy(out.p + 4, numbers, sizeof numbers);
    memcpy(out.p + 12, c->text, c->text_length);
    out.n += head;
    free(c->text);
    return out;
}
