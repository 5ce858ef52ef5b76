/* SPDX-License-Identifier: BSD-2-Clause */
/* A text on the screen, see report.h. */
#include "report.h"

#include <ncurses.h>

enum { KEY_ESC = 27, PAIR_HOT = 1, PAIR_WARM };

static bool coloured;

void report_screen_start(bool colour)
{
    initscr();
    cbreak();
    noecho();
    keypad(stdscr, TRUE);
    set_escdelay(50);
    curs_set(0);
    if (colour && has_colors() && start_color() == OK) {
        short background = use_default_colors() == OK ? -1 : COLOR_BLACK;

        init_pair(PAIR_HOT, COLOR_RED, background);
        init_pair(PAIR_WARM, COLOR_GREEN, background);
        coloured = true;
    }
}

void report_put_line(int y, const char *text, bool reverse)
{
    attr_t style = reverse ? A_REVERSE : A_NORMAL;

    attr_on(style, NULL);
    mvhline(y, 0, ' ', COLS);
    mvaddnstr(y, 0, text, COLS);
    char *end;
    double share = strtod(text, &end);
    short pair = share >= MKPERF_COLOUR_HOT ? PAIR_HOT : PAIR_WARM;
    bool is_share = end != text && (*end == '%' || strncmp(end, " :", 2) == 0);
    if (coloured && is_share && share >= MKPERF_COLOUR_WARM) {
        mvchgat(y, 0, (int)(end - text) + (*end == '%'), style, pair, NULL);
    }
    attr_off(style, NULL);
}

int report_moved(int key, int at, int n, int page)
{
    int by = key == KEY_DOWN || key == 'j' ? 1
             : key == KEY_UP || key == 'k' ? -1
             : key == KEY_NPAGE            ? page
             : key == KEY_PPAGE            ? -page
             : key == KEY_HOME             ? -at
             : key == KEY_END              ? n
                                           : 0;

    at = at + by < n ? at + by : n - 1;
    return at > 0 ? at : 0;
}

bool report_ask(const char *prompt, char words[REPORT_SEARCH])
{
    char text[REPORT_SEARCH + 64], typed[REPORT_SEARCH] = "";
    size_t n = 0;
    int key;

    for (;;) {
        snprintf(text, sizeof text, "%s%s", prompt, typed);
        report_put_line(LINES - 1, text, false);
        refresh();
        key = getch();
        if (key == '\n' || key == KEY_ENTER || key == KEY_ESC || key == ERR) {
            break;
        }
        if ((key == KEY_BACKSPACE || key == 127 || key == '\b') && n > 0) {
            typed[--n] = '\0';
        } else if (key >= ' ' && key < 127 && n + 1 < sizeof typed) {
            typed[n++] = (char)key;
            typed[n] = '\0';
        }
    }
    if (key == KEY_ESC || key == ERR) {
        return false;
    }
    if (n > 0) {
        memcpy(words, typed, sizeof typed);
    }
    return words[0] != '\0';
}

void report_pager_show(const char *title, const char *text)
{
    char *copy = mkperf_xstrdup(text), **line = NULL, words[REPORT_SEARCH] = "";
    int n = 0, top = 0;
    size_t room = 0;

    for (char *rest = copy, *at; (at = strsep(&rest, "\n")) != NULL;) {
        if (rest || *at) {
            MKPERF_GROW(line, room, (size_t)n + 1);
            line[n++] = at;
        }
    }
    for (int key = 0; key != 'q' && key != KEY_LEFT && key != KEY_ESC && key != ERR;) {
        int page = LINES > 3 ? LINES - 3 : 1, found = 1;
        char foot[256];
        erase();
        report_put_line(0, title, true);
        for (int i = 0; i < LINES - 2 && top + i < n; i++) {
            const char *at = line[top + i];
            attrset(at[0] != '#' && strtod(at, NULL) >= MKPERF_COLOUR_HOT ? A_BOLD : A_NORMAL);
            report_put_line(1 + i, at, false);
            attrset(A_NORMAL);
        }
        snprintf(foot, sizeof foot,
                 "line %d of %d   arrows, PgUp, PgDn   / search   n next   q back", n ? top + 1 : 0,
                 n);
        report_put_line(LINES - 1, foot, true);
        refresh();
        key = getch();
        if (key == '/' ? report_ask("search: ", words) : key == 'n' && words[0]) {
            while (found <= n && !strcasestr(line[(top + found) % n], words)) {
                found++;
            }
            if (found <= n) {
                top = (top + found) % n;
            } else {
                beep();
            }
        } else if (key != '/' && key != 'n') {
            top = report_moved(key == ' ' ? KEY_NPAGE : key, top, n, page);
            top = key == KEY_END && n > page ? n - page : top;
        }
    }
    free(copy);
    free(line);
}
