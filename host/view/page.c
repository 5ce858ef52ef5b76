/* SPDX-License-Identifier: BSD-2-Clause */
/* Owns: see page.h. The files are taken in by the assembler, from the top of the source tree. */
#include "page.h"

#define EMBED(name, file)                                \
    __asm__(".pushsection .rodata\n"                     \
            ".globl " #name "_begin\n" #name "_begin:\n" \
            ".incbin \"" file "\"\n"                     \
            ".globl " #name "_end\n" #name "_end:\n"     \
            ".popsection\n");                            \
    extern const char name##_begin[], name##_end[]

EMBED(view_html, "host/view/page.html");
EMBED(view_css, "host/view/page.css");
EMBED(view_js, "host/view/page.js");
EMBED(view_flame_js, "host/view/flame.js");
EMBED(view_timeline_js, "host/view/timeline.js");

const struct view_page view_pages[] = {
    {"", "text/html; charset=utf-8", view_html_begin, view_html_end},
    {"page.css", "text/css; charset=utf-8", view_css_begin, view_css_end},
    {"page.js", "text/javascript; charset=utf-8", view_js_begin, view_js_end},
    {"flame.js", "text/javascript; charset=utf-8", view_flame_js_begin, view_flame_js_end},
    {"timeline.js", "text/javascript; charset=utf-8", view_timeline_js_begin, view_timeline_js_end},
};
const size_t view_npages = sizeof view_pages / sizeof *view_pages;
