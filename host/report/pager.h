/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * A text on the screen that the user scrolls and searches, and the lines and colours of screens.
 *
 * Owns: the use of curses that browser.c and top/screen.c share. Call report_screen_start first.
 */
#ifndef MKPERF_HOST_REPORT_PAGER_H
#define MKPERF_HOST_REPORT_PAGER_H

#include "base/base.h"

enum { REPORT_SEARCH = 128 };

/* Shows a text until the user leaves it. A line that begins with a share of MKPERF_COLOUR_HOT per cent or more is bold. */
void report_pager_show(const char *title, const char *text);

/* Asks for words to search on the last line. `words` are the words of the last search, and remain if none are typed. False:
 * there are none, or the user gave up. */
bool report_ask(const char *prompt, char words[REPORT_SEARCH]);

/* Starts curses for a program that reads keys. `colour`: shares are in colour. The caller ends with endwin. */
void report_screen_start(bool colour);

/*
 * Writes a text into line y; the part that is wider than the screen is cut. A share at its begin ("12.50%" or "12.50 :") is in
 * colour.
 */
void report_put_line(int y, const char *text, bool reverse);

#endif
