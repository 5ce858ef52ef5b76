/* SPDX-License-Identifier: BSD-2-Clause */
/* Owns: see browser.h: the screen, the keys. What is shown is the list of items.h. */
#include "browser.h"

#include <inttypes.h>
#include <ncurses.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "annotate/annotate.h"
#include "base/xalloc.h"
#include "head.h"
#include "items.h"
#include "pager.h"

enum { TEXT = REPORT_ITEM_TEXT };

struct browser {
    struct report_items list;
    const char *path;
    size_t top, at; /* items */
    char words[REPORT_SEARCH];
    const char *message;
};

static const char help[] = "  arrows, PgUp, PgDn, Home, End   move\n"
                           "  Enter, right                    open a row: who called it; and on\n"
                           "  Enter, left                     close it\n"
                           "  a    the function's instructions and source lines with their shares\n"
                           "  d    only samples of this row's PD; again: of all\n"
                           "  /    search for a function or PD        n    the next one\n"
                           "  Tab  the next event\n"
                           "  i    the recording: target, losses, what to distrust\n"
                           "  h    this help                          q    quit\n"
                           "\n"
                           "  Percentages are of the event's period sum over all PDs.\n"
                           "  [k] is the kernel, working for the PD; [.] is the PD's own code.\n";

bool report_browser_usable(void)
{
    const char *term = getenv("TERM");

    return isatty(STDIN_FILENO) && isatty(STDOUT_FILENO) && term && strcmp(term, "dumb") != 0;
}

static void build(struct browser *b)
{
    b->at = b->top = 0;
    report_items_build(&b->list);
}

static void draw_head(const struct browser *b)
{
    const struct mkperf_profile *p = b->list.frames->profile;
    uint64_t lost = mkperf_profile_lost(p);
    char text[TEXT];

    snprintf(text, sizeof text,
             "%s: %" PRIu64 " samples of '%s'%s%s   lost %" PRIu64 " (%.2f %%)%s", b->path,
             p->total[b->list.event].samples, p->places.session.event[b->list.event].name,
             b->list.options.pd ? ", PD " : "", b->list.options.pd ? b->list.options.pd : "", lost,
             mkperf_percent(lost, p->totals.samples + lost),
             p->totals.complete ? "" : "  totals incomplete");
    report_put_line(0, text, true);
    report_put_line(
        1, b->list.options.children ? "  Children    Self  Samples" : "  Overhead  Samples", false);
}

static void draw(struct browser *b)
{
    size_t lines = LINES > 4 ? (size_t)LINES - 3 : 1;
    char text[TEXT];

    b->top = b->at < b->top ? b->at : b->top;
    b->top = b->at >= b->top + lines ? b->at - lines + 1 : b->top;
    erase();
    draw_head(b);
    for (size_t i = 0; i < lines && b->top + i < b->list.n; i++) {
        report_items_text(&b->list, b->top + i, text, sizeof text);
        report_put_line(2 + (int)i, text, b->top + i == b->at);
    }
    report_put_line(LINES - 1,
                    b->message ? b->message
                               : "Enter open   a annotate   d this PD   / search   i info   "
                                 "h help   q quit",
                    true);
    b->message = NULL;
    refresh();
}

static void search(struct browser *b)
{
    char text[TEXT];

    for (size_t i = 1; b->words[0] && i <= b->list.n; i++) {
        size_t at = (b->at + i) % b->list.n;

        report_items_text(&b->list, at, text, sizeof text);
        if (strcasestr(text, b->words)) {
            b->at = at;
            return;
        }
    }
    b->message = "not found";
}

/* Shows what `print` writes. */
static void show(struct browser *b, const char *title,
                 enum mkperf_status (*print)(struct browser *b, FILE *out, struct mkperf_error *e))
{
    static char problem[sizeof((struct mkperf_error *)0)->text];
    struct mkperf_error e = {.status = MKPERF_OK};
    char *text = NULL;
    size_t n = 0;
    FILE *out = mkperf_memstream_open(&text, &n);
    enum mkperf_status status = print(b, out, &e);

    mkperf_memstream_close(out);
    if (status == MKPERF_OK) {
        report_pager_show(title, text);
    } else {
        memcpy(problem, e.text, sizeof problem);
        b->message = problem;
    }
    free(text);
}

static enum mkperf_status print_code(struct browser *b, FILE *out, struct mkperf_error *e)
{
    const struct report_item *at = &b->list.item[b->at];
    uint32_t name = b->list.rows.row[at->row].key.name;
    struct annotate_choice choice = {.pd = b->list.options.pd, .event = b->list.event};
    struct annotate_style style = {.source = true};
    struct annotate_sources sources = {.n = 0};
    struct annotate_hits hits;
    enum mkperf_status status = MKPERF_OK;

    if (at->node) {
        name = mkperf_frames_label(b->list.frames, at->tree->node[at->node].label).name;
    }
    choice.symbol = mkperf_frames_text(b->list.frames, name);
    annotate_hits_find(&hits, b->list.frames, &choice);
    for (uint32_t i = 0; status == MKPERF_OK && i < hits.nfunctions; i++) {
        status = annotate_print(&hits, &hits.function[i], b->list.frames, &choice, &style, &sources,
                                out, e);
    }
    if (status == MKPERF_OK && hits.nfunctions == 0) {
        status = mkperf_error_set(e, MKPERF_ERR_USAGE, "no sample hit %s itself", choice.symbol);
    }
    annotate_hits_free(&hits);
    annotate_sources_free(&sources);
    return status;
}

static enum mkperf_status print_info(struct browser *b, FILE *out, struct mkperf_error *e)
{
    (void)e;
    report_head_print(b->list.frames->profile, b->path, false, out);
    report_filter_print(&b->list.frames->profile->filter, out);
    mkperf_frames_warn(b->list.frames, out);
    return MKPERF_OK;
}

static void next_event(struct browser *b)
{
    if (b->list.options.event) {
        b->message = "only one event was asked for";
        return;
    }
    b->list.event = (b->list.event + 1) % b->list.frames->profile->places.session.nevents;
    build(b);
}

static void zoom(struct browser *b)
{
    if (b->list.options.pd) {
        b->list.options.pd = NULL;
    } else if (b->list.n > 0) {
        b->list.options.pd =
            mkperf_profile_pd_name(b->list.frames->profile, b->list.item[b->at].pd);
    }
    build(b);
}

static void step(struct browser *b, long by)
{
    long to = (long)b->at + by;

    to = to >= (long)b->list.n ? (long)b->list.n - 1 : to;
    b->at = to < 0 ? 0 : (size_t)to;
}

/* Left: closes an open item, or goes to the one that holds it. */
static void leave_item(struct browser *b)
{
    if (b->list.item[b->at].open) {
        report_items_close(&b->list, b->at);
    } else {
        b->at = report_items_parent(&b->list, b->at);
    }
}

static void act_on_item(struct browser *b, int key)
{
    if (b->list.n == 0) {
        return;
    }
    switch (key) {
    case '\n':
    case KEY_ENTER:
        if (b->list.item[b->at].open) {
            report_items_close(&b->list, b->at);
            break;
        }
        b->message = report_items_open(&b->list, b->at);
        break;
    case KEY_RIGHT:
        b->message = report_items_open(&b->list, b->at);
        break;
    case KEY_LEFT:
        leave_item(b);
        break;
    case 'a':
        show(b, "annotate", print_code);
        break;
    case '/':
        if (report_ask("search: ", b->words)) {
            search(b);
        }
        break;
    case 'n':
        search(b);
        break;
    default:
        break;
    }
}

static void act(struct browser *b, int key)
{
    switch (key) {
    case KEY_DOWN:
    case 'j':
        step(b, 1);
        break;
    case KEY_UP:
    case 'k':
        step(b, -1);
        break;
    case KEY_NPAGE:
        step(b, LINES - 4);
        break;
    case KEY_PPAGE:
        step(b, 4 - LINES);
        break;
    case KEY_HOME:
        b->at = 0;
        break;
    case KEY_END:
        step(b, (long)b->list.n);
        break;
    case '\t':
        next_event(b);
        break;
    case 'd':
        zoom(b);
        break;
    case 'i':
        show(b, "the recording", print_info);
        break;
    case 'h':
    case '?':
        report_pager_show("keys", help);
        break;
    default:
        act_on_item(b, key);
        break;
    }
}

void report_browse(struct mkperf_frames *f, const struct report_options *o, const char *path)
{
    struct browser b = {.list = {.frames = f, .options = *o}, .path = path};
    const struct mkperf_session *s = &f->profile->places.session;
    int key = 0;

    if (o->graph == REPORT_GRAPH_NONE) {
        b.list.options.graph = REPORT_GRAPH_CALLERS;
    }
    while (o->event && b.list.event + 1 < s->nevents &&
           strcmp(s->event[b.list.event].name, o->event) != 0) {
        b.list.event++;
    }
    build(&b);
    report_screen_start(o->colour);
    while (key != 'q' && key != ERR) {
        draw(&b);
        key = getch();
        act(&b, key);
    }
    endwin();
    report_items_free(&b.list);
}
