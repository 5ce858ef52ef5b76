/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Owns: the files of the page; see page.h. A line of page.html that names a style or a script has nothing else. In the page as
 * one file, the contents of that file replace the line.
 */
#include "page.h"

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

static void put_text(const struct page_writer *w, const char *text)
{
    w->put(w->self, text, strlen(text));
}

/* Writes the contents of the file that a line `<link ... href="NAME">` or `<script src="NAME"></script>` names. False: the line is
 * another one. */
static bool put_asset(const struct page_writer *w, const char *line, const char *end)
{
    static const char script[] = "<script src=\"", link[] = "<link rel=\"stylesheet\" href=\"";
    bool is_script = strncmp(line, script, sizeof script - 1) == 0;
    const char *name = line + (is_script ? sizeof script : sizeof link) - 1;
    size_t n = strcspn(name, "\""), i = 1; /* 0 is page.html itself */

    if (!is_script && strncmp(line, link, sizeof link - 1) != 0) {
        return false;
    }
    while (i < page_nassets &&
           (strlen(page_assets[i].name) != n || memcmp(page_assets[i].name, name, n) != 0)) {
        i++;
    }
    if (i == page_nassets || name > end) {
        return false;
    }
    const struct page_asset *a = &page_assets[i];
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
        } else if (!put_asset(w, line, end)) {
            w->put(w->self, line, n);
        }
        if (n == sizeof charset - 1 && memcmp(line, charset, n) == 0) {
            put_text(w, policy);
        }
        line = end;
    }
}
