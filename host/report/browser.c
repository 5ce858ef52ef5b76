/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Owns: see browser.h. What is on the screen is a list of items: rows, and below a row that is
 * open the nodes of its call tree. A row's tree is built when it is opened and lives until it is
 * closed; its nodes share it.
 */
#include "browser.h"

#include <inttypes.h>
#include <ncurses.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "../annotate/print.h"
#include "head.h"
#include "pager.h"

enum { TEXT = 700, KEY_ESC = 27 };

struct item {
    uint32_t row, node; /* node 0: the row itself */
    uint32_t pd;        /* of its function */
    int depth;
    bool open;
    struct report_tree *tree; /* NULL: the row is closed */
};

struct browser {
    struct report_frames *frames;
    struct report_options options;
    const char *path;
    uint32_t event;
    struct report_rows rows;
    struct item *item;
    size_t n, room, top, at;
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

static bool make_room(struct browser *b, size_t at, size_t count)
{
    if (b->n + count > b->room) {
        size_t room = 2 * (b->n + count);
        struct item *more = reallocarray(b->item, room, sizeof *more);

        if (!more) {
            return false;
        }
        b->item = more;
        b->room = room;
    }
    memmove(b->item + at + count, b->item + at, (b->n - at) * sizeof *b->item);
    b->n += count;
    return true;
}

static void free_items(struct browser *b)
{
    for (size_t i = 0; i < b->n; i++) {
        if (b->item[i].node == 0 && b->item[i].tree) {
            report_tree_free(b->item[i].tree);
            free(b->item[i].tree);
        }
    }
    b->n = b->at = b->top = 0;
}

/* The rows anew: another event, or another PD. */
static enum mkperf_status build(struct browser *b, struct mkperf_error *e)
{
    uint64_t whole = b->frames->profile->total[b->event].period;
    uint32_t n = 0;

    free_items(b);
    report_rows_free(&b->rows);
    if (report_rows_build(&b->rows, b->frames, &b->options, b->event, e) != MKPERF_OK) {
        return e->status;
    }
    while (n < b->rows.n &&
           100.0 * (double)b->rows.row[n].children.period >= b->options.limit * (double)whole) {
        n++;
    }
    if (!make_room(b, 0, n)) {
        return mkperf_error_set(e, MKPERF_ERR_FAILED, "out of memory");
    }
    for (uint32_t i = 0; i < n; i++) {
        b->item[i] = (struct item){.row = i, .pd = b->rows.row[i].key.pd};
    }
    return MKPERF_OK;
}

static struct report_tree *tree_of(struct browser *b, const struct item *row)
{
    struct report_tree *tree = malloc(sizeof *tree);
    struct mkperf_error e;

    if (tree && report_tree_build(tree, &b->rows.row[row->row], b->frames, &b->options, b->event,
                                  &e) != MKPERF_OK) {
        report_tree_free(tree);
        free(tree);
        tree = NULL;
    }
    return tree;
}

static void open_item(struct browser *b, size_t at)
{
    struct item parent = b->item[at];
    double whole = (double)b->frames->profile->total[b->event].period;
    uint32_t n, *list;

    if (parent.open) {
        return;
    }
    if (!parent.tree && !(parent.tree = tree_of(b, &parent))) {
        b->message = "out of memory";
        return;
    }
    b->item[at] = parent;
    list = report_tree_children(parent.tree, b->frames, parent.node,
                                b->options.graph_limit * whole / 100, &n);
    if (n == 0) {
        b->message = "nobody called it";
    } else if (make_room(b, at + 1, n)) {
        b->item[at].open = true;
        for (uint32_t i = 0; i < n; i++) {
            struct report_function fn =
                report_function(b->frames, parent.tree->node[list[i]].function);

            b->item[at + 1 + i] = (struct item){.row = parent.row,
                                                .node = list[i],
                                                .pd = fn.pd,
                                                .depth = parent.depth + 1,
                                                .tree = parent.tree};
        }
    }
    free(list);
}

/* Opens an item, and what is below it as long as there is no choice. */
static void open_chain(struct browser *b, size_t at)
{
    size_t n = b->n;

    open_item(b, at);
    while (b->n == n + 1) {
        at++;
        n = b->n;
        open_item(b, at);
        b->message = NULL;
    }
}

static void close_item(struct browser *b, size_t at)
{
    size_t end = at + 1;

    while (end < b->n && b->item[end].depth > b->item[at].depth) {
        end++;
    }
    memmove(b->item + at + 1, b->item + end, (b->n - end) * sizeof *b->item);
    b->n -= end - at - 1;
    b->item[at].open = false;
}

/* Left: closes an open item, or goes to the one that holds it. */
static void leave_item(struct browser *b)
{
    int depth = b->item[b->at].depth;

    if (b->item[b->at].open) {
        close_item(b, b->at);
        return;
    }
    while (b->at > 0 && depth > 0 && b->item[b->at].depth >= depth) {
        b->at--;
    }
}

static void row_text(const struct browser *b, const struct item *at, char *text, size_t n)
{
    const struct report_row *r = &b->rows.row[at->row];
    uint64_t whole = b->frames->profile->total[b->event].period;
    char columns[TEXT];
    char mark = at->open ? '-' : '+';

    report_row_text(b->frames, &b->options, r, columns, sizeof columns);
    if (b->options.children) {
        snprintf(text, n, "%c %6.2f%% %6.2f%% %8" PRIu64 "  %s", mark,
                 whole ? 100.0 * (double)r->children.period / (double)whole : 0,
                 whole ? 100.0 * (double)r->self.period / (double)whole : 0, r->self.samples,
                 columns);
    } else {
        snprintf(text, n, "%c %6.2f%% %8" PRIu64 "  %s", mark,
                 whole ? 100.0 * (double)r->self.period / (double)whole : 0, r->self.samples,
                 columns);
    }
}

static void item_text(const struct browser *b, size_t at, char *text, size_t n)
{
    const struct item *i = &b->item[at], *parent = i;
    uint64_t whole = b->frames->profile->total[b->event].period;
    char node[TEXT];

    if (i->node == 0) {
        row_text(b, i, text, n);
        return;
    }
    while (parent->depth >= i->depth) {
        parent--;
    }
    report_tree_text(i->tree, b->frames, i->node, parent->pd, whole, node, sizeof node);
    snprintf(text, n, "%*s%c-%s", 8 + 4 * i->depth, "", i->open ? '-' : '|', node);
}

static void draw_head(const struct browser *b)
{
    const struct report_profile *p = b->frames->profile;
    uint64_t lost = report_lost(p), all = p->totals.samples + lost;
    char text[TEXT];

    snprintf(text, sizeof text,
             "%s: %" PRIu64 " samples of '%s'%s%s   lost %" PRIu64 " (%.2f %%)%s", b->path,
             p->total[b->event].samples, p->session.event[b->event].name,
             b->options.pd ? ", PD " : "", b->options.pd ? b->options.pd : "", lost,
             all ? 100.0 * (double)lost / (double)all : 0,
             p->totals.complete ? "" : "  totals incomplete");
    report_put_line(0, text, true);
    report_put_line(1, b->options.children ? "  Children    Self  Samples" : "  Overhead  Samples",
                    false);
}

static void draw(struct browser *b)
{
    size_t lines = LINES > 4 ? (size_t)LINES - 3 : 1;
    char text[2 * TEXT];

    b->top = b->at < b->top ? b->at : b->top;
    b->top = b->at >= b->top + lines ? b->at - lines + 1 : b->top;
    erase();
    draw_head(b);
    for (size_t i = 0; i < lines && b->top + i < b->n; i++) {
        item_text(b, b->top + i, text, sizeof text);
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
    char text[2 * TEXT];

    for (size_t i = 1; b->words[0] && i <= b->n; i++) {
        size_t at = (b->at + i) % b->n;

        item_text(b, at, text, sizeof text);
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
    struct mkperf_error e = {.status = MKPERF_OK, .text = "out of memory"};
    char *text = NULL;
    size_t n = 0;
    FILE *out = open_memstream(&text, &n);
    enum mkperf_status status = out ? print(b, out, &e) : MKPERF_ERR_FAILED;

    if (out && fclose(out) != 0) {
        status = MKPERF_ERR_FAILED;
    }
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
    const struct item *at = &b->item[b->at];
    uint32_t name = b->rows.row[at->row].key.name;
    struct annotate_choice choice = {.pd = b->options.pd, .event = b->event};
    struct annotate_style style = {.source = true};
    struct annotate_sources sources = {.n = 0};
    struct annotate_hits hits;
    enum mkperf_status status;

    if (at->node) {
        name = report_function(b->frames, at->tree->node[at->node].function).name;
    }
    choice.symbol = report_text(b->frames, name);
    status = annotate_hits_find(&hits, b->frames, &choice, e);
    for (uint32_t i = 0; status == MKPERF_OK && i < hits.nfunctions; i++) {
        status =
            annotate_print(&hits, &hits.function[i], b->frames, &choice, &style, &sources, out, e);
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
    report_head_print(b->frames->profile, b->path, out);
    report_filter_print(&b->frames->profile->filter, out);
    report_frames_warn(b->frames, out);
    return MKPERF_OK;
}

static enum mkperf_status next_event(struct browser *b, struct mkperf_error *e)
{
    if (b->options.event) {
        b->message = "only one event was asked for";
        return MKPERF_OK;
    }
    b->event = (b->event + 1) % b->frames->profile->session.nevents;
    return build(b, e);
}

static enum mkperf_status zoom(struct browser *b, struct mkperf_error *e)
{
    if (b->options.pd) {
        b->options.pd = NULL;
    } else if (b->n > 0) {
        b->options.pd = report_pd_name(b->frames->profile, b->item[b->at].pd);
    }
    return build(b, e);
}

static void step(struct browser *b, long by)
{
    long to = (long)b->at + by;

    to = to >= (long)b->n ? (long)b->n - 1 : to;
    b->at = to < 0 ? 0 : (size_t)to;
}

static void act_on_item(struct browser *b, int key)
{
    if (b->n == 0) {
        return;
    }
    switch (key) {
    case '\n':
    case KEY_ENTER:
        if (b->item[b->at].open) {
            close_item(b, b->at);
            break;
        }
        open_chain(b, b->at);
        break;
    case KEY_RIGHT:
        open_chain(b, b->at);
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

static enum mkperf_status act(struct browser *b, int key, struct mkperf_error *e)
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
        step(b, (long)b->n);
        break;
    case '\t':
        return next_event(b, e);
    case 'd':
        return zoom(b, e);
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
    return MKPERF_OK;
}

static void start_screen(void)
{
    initscr();
    cbreak();
    noecho();
    keypad(stdscr, TRUE);
    set_escdelay(50);
    curs_set(0);
}

enum mkperf_status report_browse(struct report_frames *f, const struct report_options *o,
                                 const char *path, struct mkperf_error *e)
{
    struct browser b = {.frames = f, .options = *o, .path = path};
    const struct mkperf_session *s = &f->profile->session;
    enum mkperf_status status;
    int key = 0;

    if (o->graph == REPORT_GRAPH_NONE) {
        b.options.graph = REPORT_GRAPH_CALLERS;
    }
    while (o->event && b.event + 1 < s->nevents && strcmp(s->event[b.event].name, o->event) != 0) {
        b.event++;
    }
    status = build(&b, e);
    if (status == MKPERF_OK) {
        start_screen();
        while (status == MKPERF_OK && key != 'q' && key != ERR) {
            draw(&b);
            key = getch();
            status = act(&b, key, e);
        }
        endwin();
    }
    free_items(&b);
    report_rows_free(&b.rows);
    free(b.item);
    return status;
}
