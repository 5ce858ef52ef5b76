/* SPDX-License-Identifier: BSD-2-Clause */
/* Owns: the layout of the container. See page.h. */
#include "page.h"

void page_bytes_put(struct page_bytes *b, const void *p, size_t n)
{
    if (n == 0) {
        return;
    }
    MKPERF_GROW(b->p, b->room, b->n + n);
    memcpy(b->p + b->n, p, n);
    b->n += n;
}

void page_bytes_free(struct page_bytes *b)
{
    free(b->p);
    *b = (struct page_bytes){.n = 0};
}

/* Makes room for `more` bytes, and for no others: columns may be large, and realloc moves large memory without copying it. */
static void reserve(struct page_bytes *b, size_t more)
{
    if (b->n + more > b->room) {
        b->room = b->n + more;
        b->p = mkperf_xrealloc(b->p, b->room, 1);
    }
}

static void align(struct page_bytes *b)
{
    while (b->n % 8 != 0) {
        page_bytes_put(b, " ", 1);
    }
}

void page_columns_begin(struct page_columns *c)
{
    *c = (struct page_columns){.text = NULL};
    c->json.over = mkperf_memstream_open(&c->text, &c->text_length);
    c->index = mkperf_memstream_open(&c->index_text, &c->index_length);
}

void page_column(struct page_columns *c, const char *name, const uint64_t *value, size_t n)
{
    static const char *const types[] = {[1] = "u8", [2] = "u16", [4] = "u32", [8] = "f64"};
    uint64_t most = 0;

    for (size_t i = 0; i < n; i++) {
        most = value[i] > most ? value[i] : most;
    }
    unsigned size = most <= UINT8_MAX ? 1 : most <= UINT16_MAX ? 2 : most <= UINT32_MAX ? 4 : 8;
    align(&c->data);
    fprintf(c->index, "%s\"%s\":[\"%s\",%zu,%zu]", c->columns++ > 0 ? "," : "", name, types[size],
            c->data.n, n);
    reserve(&c->data, n * size);
    uint8_t *out = c->data.p + c->data.n;
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
    struct page_bytes head = {.n = 0}, out = c->data;

    mkperf_memstream_close(c->index);
    mkperf_json(&c->json, ",'columns':{");
    mkperf_textout_puts(&c->json, c->index_text);
    mkperf_json(&c->json, "}}");
    mkperf_memstream_close(c->json.over);
    const uint32_t numbers[] = {htole32(PAGE_VERSION), htole32((uint32_t)c->text_length)};
    page_bytes_put(&head, "mkpv", 4);
    page_bytes_put(&head, numbers, sizeof numbers);
    page_bytes_put(&head, c->text, c->text_length);
    align(&head);
    reserve(&out, head.n); /* the head is put before the columns, which are moved and not copied */
    memmove(out.p + head.n, out.p, out.n);
    memcpy(out.p, head.p, head.n);
    out.n += head.n;
    free(c->text);
    free(c->index_text);
    page_bytes_free(&head);
    c->data = (struct page_bytes){.n = 0};
    return out;
}
