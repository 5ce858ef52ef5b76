/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Owns: see assets.h. The files are taken in by the assembler, from the top of the source tree. In
 * page.html a style or script stands alone on a line, which the page as one file replaces by the
 * file's contents.
 */
#include "assets.h"

#include <string.h>

#define EMBED(name, file)                                \
    __asm__(".pushsection .rodata\n"                     \
            ".globl " #name "_begin\n" #name "_begin:\n" \
            ".incbin \"" file "\"\n"                     \
            ".globl " #name "_end\n" #name "_end:\n"     \
            ".popsection\n");                            \
    extern const char name##_begin[], name##_end[]

#define CSS "text/css; charset=utf-8"
#define SCRIPT "text/javascript; charset=utf-8"

EMBED(page_html, "host/page/page.html");
EMBED(page_css, "host/page/page.css");
EMBED(page_data_js, "host/page/data.js");
EMBED(page_select_js, "host/page/select.js");
EMBED(page_schedule_js, "host/page/schedule.js");
EMBED(page_critical_path_js, "host/page/critical_path.js");
EMBED(page_latency_js, "host/page/latency.js");
EMBED(page_path_lanes_js, "host/page/path_lanes.js");
EMBED(page_path_panel_js, "host/page/path_panel.js");
EMBED(page_states_js, "host/page/states.js");
EMBED(page_state_js, "host/page/state.js");
EMBED(page_compare_js, "host/page/compare.js");
EMBED(page_tracks_js, "host/page/tracks.js");
EMBED(page_lanes_js, "host/page/lanes.js");
EMBED(page_flame_js, "host/page/flame.js");
EMBED(page_tables_js, "host/page/tables.js");
EMBED(page_code_js, "host/page/code.js");
EMBED(page_page_js, "host/page/page.js");

const struct page_asset page_assets[] = {
    {"", "text/html; charset=utf-8", page_html_begin, page_html_end},
    {"page.css", CSS, page_css_begin, page_css_end},
    {"data.js", SCRIPT, page_data_js_begin, page_data_js_end},
    {"select.js", SCRIPT, page_select_js_begin, page_select_js_end},
    {"schedule.js", SCRIPT, page_schedule_js_begin, page_schedule_js_end},
    {"critical_path.js", SCRIPT, page_critical_path_js_begin, page_critical_path_js_end},
    {"latency.js", SCRIPT, page_latency_js_begin, page_latency_js_end},
    {"path_lanes.js", SCRIPT, page_path_lanes_js_begin, page_path_lanes_js_end},
    {"path_panel.js", SCRIPT, page_path_panel_js_begin, page_path_panel_js_end},
    {"states.js", SCRIPT, page_states_js_begin, page_states_js_end},
    {"state.js", SCRIPT, page_state_js_begin, page_state_js_end},
    {"compare.js", SCRIPT, page_compare_js_begin, page_compare_js_end},
    {"tracks.js", SCRIPT, page_tracks_js_begin, page_tracks_js_end},
    {"lanes.js", SCRIPT, page_lanes_js_begin, page_lanes_js_end},
    {"flame.js", SCRIPT, page_flame_js_begin, page_flame_js_end},
    {"tables.js", SCRIPT, page_tables_js_begin, page_tables_js_end},
    {"code.js", SCRIPT, page_code_js_begin, page_code_js_end},
    {"page.js", SCRIPT, page_page_js_begin, page_page_js_end},
};
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

/* A line `<link ... href="NAME">` or `<script src="NAME"></script>`: the file instead of it. */
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
