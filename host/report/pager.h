/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * A text on the screen: scrolled, searched, left.
 *
 * Owns: the screen while it shows the text; curses is running already. Called by the browser.
 */
#ifndef MKPERF_HOST_REPORT_PAGER_H
#define MKPERF_HOST_REPORT_PAGER_H

#include <stdbool.h>

enum { REPORT_SEARCH = 128 };

/* Shows text until q. A line that begins with `hot` percent or more, as annotate's do, is bold. */
void report_pager_show(const char *title, const char *text);

/* Asks for words to search on the last line; false: none. The last words are kept in `words`. */
bool report_ask(const char *prompt, char words[REPORT_SEARCH]);

/* Curses for a program with keys; `colour`: shares have them. ends with endwin. */
void report_screen_start(bool colour);

/*
 * Writes a text that may be wider than the screen at the beginning of line y. A share that it
 * begins with ("12.50%" or "12.50 :") is in colour.
 */
void report_put_line(int y, const char *text, bool reverse);

#endif
