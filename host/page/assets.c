/* SPDX-License-Identifier: BSD-2-Clause */
/* Owns: the files of the page, of which page.html names the style and the script. See page.h. */
#include "page.h"

/* scripts.js is these files, in this order. */
#define SCRIPT(name) MKPERF_INCLUDED("host/page/" name ".js")
/* clang-format off */
MKPERF_EMBED_ALL(page_scripts,
    SCRIPT("data") SCRIPT("schedule") SCRIPT("critical_path") SCRIPT("latency") SCRIPT("state") SCRIPT("select")
    SCRIPT("tables") SCRIPT("lanes") SCRIPT("tracks") SCRIPT("states") SCRIPT("paths") SCRIPT("pd_tracks")
    SCRIPT("pds") SCRIPT("flame") SCRIPT("trees") SCRIPT("chart") SCRIPT("code") SCRIPT("page"));
/* clang-format on */
MKPERF_EMBED(page_css, "host/page/page.css");
MKPERF_EMBED(page_html, "host/page/page.html");

const struct page_asset page_assets[] = {
    {"", "text/html; charset=utf-8", page_html_begin, page_html_end},
    {"page.css", "text/css; charset=utf-8", page_css_begin, page_css_end},
    {"scripts.js", "text/javascript; charset=utf-8", page_scripts_begin, page_scripts_end}};
const size_t page_nassets = sizeof page_assets / sizeof *page_assets;

static const char here[] = "<!-- data -->\n"; /* the place of the data */

/* Writes the part of page.html from `html` on that ends before `mark`. Returns the text behind the mark. */
static const char *put_until(struct mkperf_textout *t, const char *html, const char *mark)
{
    const char *end = strstr(html, mark);

    assert(end != NULL);
    mkperf_textout_put(t, html, (size_t)(end - html));
    return end + strlen(mark);
}

void page_write_begin(struct mkperf_textout *t)
{
    const char *html = put_until(t, page_html_begin, "<link rel=\"stylesheet\" href=\"page.css\">");

    mkperf_textout_puts(
        t, "<meta http-equiv=\"Content-Security-Policy\" content=\"default-src 'none'; script-src "
           "'unsafe-inline'; style-src 'unsafe-inline'; img-src data:; connect-src "
           "data:\">\n<style>\n");
    mkperf_textout_puts(t, page_css_begin);
    mkperf_textout_puts(t, "</style>");
    put_until(t, html, here);
}

void page_write_end(struct mkperf_textout *t)
{
    const char *html = strstr(page_html_begin, here) + strlen(here);

    html = put_until(t, html, "<script src=\"scripts.js\"></script>");
    mkperf_textout_puts(t, "<script>\n");
    mkperf_textout_puts(t, page_scripts_begin);
    mkperf_textout_puts(t, "</script>");
    mkperf_textout_puts(t, html);
}
