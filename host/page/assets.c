/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Owns: the files of the page; see page.h. A line of page.html that names a style or a script has nothing else. In the page as
 * one file, the contents of that file replace the line.
 */
#include "page.h"

/* Owns: the layout of the container. See page.h. */

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

#define STYLE "text/css; charset=utf-8"
#define SCRIPT "text/javascript; charset=utf-8"

/* The files that page.html refers to: the name of their symbol, their own name, their type. */
#define FILES(EACH)                                         \
    EACH(page_css, "page.css", STYLE)                       \
    EACH(page_data_js, "data.js", SCRIPT)                   \
    EACH(page_select_js, "select.js", SCRIPT)               \
    EACH(page_schedule_js, "schedule.js", SCRIPT)           \
    EACH(page_critical_path_js, "critical_path.js", SCRIPT) \
    EACH(page_latency_js, "latency.js", SCRIPT)             \
    EACH(page_paths_js, "paths.js", SCRIPT)                 \
    EACH(page_states_js, "states.js", SCRIPT)               \
    EACH(page_state_js, "state.js", SCRIPT)                 \
    EACH(page_tracks_js, "tracks.js", SCRIPT)               \
    EACH(page_pd_tracks_js, "pd_tracks.js", SCRIPT)         \
    EACH(page_pds_js, "pds.js", SCRIPT)                     \
    EACH(page_trees_js, "trees.js", SCRIPT)                 \
    EACH(page_chart_js, "chart.js", SCRIPT)                 \
    EACH(page_lanes_js, "lanes.js", SCRIPT)                 \
    EACH(page_flame_js, "flame.js", SCRIPT)                 \
    EACH(page_tables_js, "tables.js", SCRIPT)               \
    EACH(page_code_js, "code.js", SCRIPT)                   \
    EACH(page_page_js, "page.js", SCRIPT)

#define EMBED(symbol, file, type) MKPERF_EMBED(symbol, "host/page/" file);
#define ROW(symbol, file, type) {file, type, symbol##_begin, symbol##_end},

MKPERF_EMBED(page_html, "host/page/page.html");
FILES(EMBED)

const struct page_asset page_assets[] = {
    {"", "text/html; charset=utf-8", page_html_begin, page_html_end}, FILES(ROW)};
const size_t page_nassets = sizeof page_assets / sizeof *page_assets;

static const struct page_asset *asset_of(const char *name, size_t n)
{
    for (size_t i = 1; i < page_nassets; i++) {
        if (strlen(page_assets[i].name) == n && memcmp(page_assets[i].name, name, n) == 0) {
            return &page_assets[i];
        }
    }
    return NULL;
}

static void put_text(const struct page_writer *w, const char *text)
{
    w->put(w->self, text, strlen(text));
}

/* Writes the contents of the file that a line `<link ... href="NAME">` or `<script src="NAME"></script>` names. False: the line is
 * another one. */
static bool put_file(const struct page_writer *w, const char *line, const char *end)
{
    static const char script[] = "<script src=\"", link[] = "<link rel=\"stylesheet\" href=\"";
    bool is_script = strncmp(line, script, sizeof script - 1) == 0;
    const char *name = line + (is_script ? sizeof script : sizeof link) - 1;
    const struct page_asset *a;

    if (!is_script && strncmp(line, link, sizeof link - 1) != 0) {
        return false;
    }
    a = asset_of(name, strcspn(name, "\""));
    if (a == NULL || name > end) {
        return false;
    }
    put_text(w, is_script ? "<script>\n" : "<style>\n");
    w->put(w->self, a->begin, (size_t)(a->end - a->begin));
    put_text(w, is_script ? "</script>\n" : "</style>\n");
    return true;
}

void page_write_whole(const struct page_writer *w)
{
    static const char policy[] =
        "<meta http-equiv=\"Content-Security-Policy\" content=\"default-src 'none'; script-src "
        "'unsafe-inline'; style-src 'unsafe-inline'; img-src data:; connect-src data:\">\n";
    static const char charset[] = "<meta charset=\"utf-8\">\n", here[] = "<!-- data -->\n";
    const char *line = page_html_begin;

    while (line < page_html_end) {
        const char *end = memchr(line, '\n', (size_t)(page_html_end - line));
        end = end != NULL ? end + 1 : page_html_end;
        size_t n = (size_t)(end - line);
        if (n == sizeof here - 1 && memcmp(line, here, n) == 0) {
            w->data(w->self);
        } else if (!put_file(w, line, end)) {
            w->put(w->self, line, n);
        }
        if (n == sizeof charset - 1 && memcmp(line, charset, n) == 0) {
            put_text(w, policy);
        }
        line = end;
    }
}
