/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * mkperf report on a terminal: rows to walk through, call trees to unfold, code to look at.
 *
 * Owns: the list of items, the keys and the screen while it runs. pager.c draws lines and shows texts. See report.h.
 */
#include "report.h"

#include <ncurses.h>

#include "annotate/annotate.h"

enum { TEXT = 1400 };

/* A line of the list: a row, or a node of the call tree of a row that is open. */
struct item {
    uint32_t row, node; /* node 0: the row itself */
    uint32_t pd;        /* the PD that ran the function */
    int depth;
    bool open;
};

/* The list: the rows of an event, and below each open row its call tree. */
struct browser {
    struct report_options options;
    struct report_rows rows;
    /* Each row has a tree, which is without nodes until the row is opened. */
    struct mkperf_tree *tree;
    struct item *item;
    size_t n, room;
    const char *path;
    size_t top, at; /* items: the first one on the screen, and the current one */
    char words[REPORT_SEARCH];
    const char *message;
};

static void free_list(struct browser *b)
{
    for (uint32_t i = 0; i < b->rows.n; i++) {
        mkperf_tree_free(&b->tree[i]);
    }
    free(b->tree);
    report_rows_free(&b->rows);
}

/* Opens an item that is closed. Returns the number of items below it. */
static uint32_t open_item(struct browser *b, size_t at)
{
    struct item parent = b->item[at];
    double least = b->options.graph_limit * (double)b->rows.whole / 100;
    uint32_t n = 0;

    if (b->tree[parent.row].n == 0) {
        report_tree_build(&b->tree[parent.row], &b->rows, &b->rows.row[parent.row]);
    }
    const struct mkperf_tree_node *node = b->tree[parent.row].node;
    for (uint32_t i = node[parent.node].child; i != 0 && (double)node[i].total.period >= least;
         i = node[i].next) {
        struct item below = {.row = parent.row,
                             .node = i,
                             .pd = mkperf_frames_label(b->rows.frames, node[i].label).pd,
                             .depth = parent.depth + 1};
        size_t to = at + 1 + n++;
        MKPERF_GROW(b->item, b->room, b->n + 1);
        memmove(b->item + to + 1, b->item + to, (b->n++ - to) * sizeof *b->item);
        b->item[to] = below;
    }
    b->item[at].open = n > 0;
    return n;
}

static void items_close(struct browser *b, size_t at)
{
    size_t end = at + 1;

    while (end < b->n && b->item[end].depth > b->item[at].depth) {
        end++;
    }
    memmove(b->item + at + 1, b->item + end, (b->n - end) * sizeof *b->item);
    b->n -= end - at - 1;
    b->item[at].open = false;
}

/* Returns the item that contains the item at `at`; `at` itself if it is a row. */
static size_t items_parent(const struct browser *b, size_t at)
{
    int depth = b->item[at].depth;

    while (at > 0 && depth > 0 && b->item[at].depth >= depth) {
        at--;
    }
    return at;
}

static void items_text(const struct browser *b, size_t at, char *text, size_t n)
{
    const struct item *i = &b->item[at];
    unsigned n_keys = b->options.keys.n;
    char part[TEXT / 2], children[16] = "";

    if (i->node != 0) {
        report_tree_text(&b->tree[i->row], &b->rows, i->node, b->item[items_parent(b, at)].pd, part,
                         sizeof part);
        snprintf(text, n, "%*s%c-%s", 8 + 4 * i->depth, "", i->open ? '-' : '|', part);
        return;
    }
    const struct report_row *r = &b->rows.row[i->row];
    if (b->options.children) {
        snprintf(children, sizeof children, " %6.2f%%", report_row_share(&b->rows, i->row));
    }
    size_t used = (size_t)snprintf(text, n, "%c%s %6.2f%% %8" PRIu64 "  ", i->open ? '-' : '+',
                                   children, mkperf_percent(r->self.period, b->rows.whole),
                                   r->self.samples);
    for (unsigned k = 0; k < n_keys && used < n; k++) {
        used += (size_t)snprintf(text + used, n - used, k + 1 < n_keys ? "%-12s  " : "%s",
                                 report_row_text(&b->rows, r, k, part));
    }
}

static const char browser_help[] =
    "  arrows, PgUp, PgDn, Home, End   move\n"
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
    "  [k] is the kernel, working for the PD; [.] is the PD's own code; [g] and [u] "
    "are a guest's kernel and programs.\n";

bool report_browser_usable(void)
{
    const char *term = getenv("TERM");

    return isatty(STDIN_FILENO) && isatty(STDOUT_FILENO) && term && strcmp(term, "dumb") != 0;
}

static void build_list(struct browser *b, struct mkperf_frames *f, uint32_t event)
{
    b->at = b->top = 0;
    uint32_t n = 0;
    free_list(b);
    report_rows_build(&b->rows, f, &b->options, event);
    b->tree = mkperf_xcalloc(b->rows.n, sizeof *b->tree);
    MKPERF_GROW(b->item, b->room, b->rows.n);
    for (uint32_t i = 0; i < b->rows.n; i++) {
        if (report_row_share(&b->rows, i) >= b->options.limit) {
            b->item[n++] = (struct item){.row = i, .pd = b->rows.row[i].key.pd};
        }
    }
    b->n = n;
}

static void search(struct browser *b)
{
    char text[TEXT];

    for (size_t i = 1; b->words[0] && i <= b->n; i++) {
        size_t at = (b->at + i) % b->n;

        items_text(b, at, text, sizeof text);
        if (strcasestr(text, b->words)) {
            b->at = at;
            return;
        }
    }
    b->message = "not found";
}

/* Shows the text that `print` writes, in the pager. */
static void show_text(struct browser *b, const char *title,
                      enum mkperf_status (*print)(struct browser *b, FILE *out,
                                                  struct mkperf_error *e))
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
    const struct item *at = &b->item[b->at];
    uint32_t name = b->rows.row[at->row].key.name;
    struct annotate_choice choice = {.pd = b->options.pd, .event = b->rows.event};
    struct annotate_style style = {.source = true};
    struct annotate_sources sources = {.n = 0};
    struct annotate_hits hits;
    enum mkperf_status status = MKPERF_OK;

    if (at->node) {
        name = mkperf_frames_label(b->rows.frames, b->tree[at->row].node[at->node].label).name;
    }
    choice.symbol = mkperf_frames_text(b->rows.frames, name);
    annotate_hits_find(&hits, b->rows.frames, &choice);
    for (uint32_t i = 0; status == MKPERF_OK && i < hits.nfunctions; i++) {
        status = annotate_print(&hits, &hits.function[i], b->rows.frames, &choice, &style, &sources,
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
    report_head_print(b->rows.frames->profile, b->path, false, out);
    report_filter_print(&b->rows.frames->profile->filter, out);
    mkperf_frames_warn(b->rows.frames, out);
    return MKPERF_OK;
}

static void act_on_browser_key(struct browser *b, int key)
{
    struct mkperf_frames *f = b->rows.frames;

    b->at = (size_t)report_moved(key, (int)b->at, (int)b->n, LINES - 4);
    switch (key) {
    case '\n':
    case KEY_ENTER:
    case KEY_RIGHT:
    case KEY_LEFT:
        if (b->n == 0) {
            break;
        }
        if (b->item[b->at].open && key != KEY_RIGHT) {
            items_close(b, b->at);
        } else if (key == KEY_LEFT) {
            b->at = items_parent(b, b->at);
        } else if (!b->item[b->at]
                        .open) { /* opens the items below, too, as long as there is only one */
            uint32_t n = open_item(b, b->at);
            b->message = n > 0 ? NULL : "no caller";
            for (size_t at = b->at; n == 1;) {
                n = open_item(b, ++at);
            }
        }
        break;
    case 'a':
        if (b->n > 0) {
            show_text(b, "annotate", print_code);
        }
        break;
    case '/':
        if (report_ask("search: ", b->words)) {
            search(b);
        }
        break;
    case 'n':
        search(b);
        break;
    case '\t':
        if (b->options.event) {
            b->message = "only one event was asked for";
            break;
        }
        build_list(b, f, (b->rows.event + 1) % f->profile->places.session.nevents);
        break;
    case 'd':
        if (b->options.pd) {
            b->options.pd = NULL;
        } else if (b->n > 0) {
            b->options.pd = mkperf_profile_pd_name(f->profile, b->item[b->at].pd);
        }
        build_list(b, f, b->rows.event);
        break;
    case 'i':
        show_text(b, "the recording", print_info);
        break;
    case 'h':
    case '?':
        report_pager_show("keys", browser_help);
        break;
    default:
        break;
    }
}

void report_browse(struct mkperf_frames *f, const struct report_options *o, const char *path)
{
    struct browser b = {.options = *o, .path = path};
    const struct mkperf_profile *p = f->profile;
    const struct mkperf_session *s = &p->places.session;
    const struct report_options *shown = &b.options;
    uint32_t event = 0;

    if (o->graph == REPORT_GRAPH_NONE) {
        b.options.graph = REPORT_GRAPH_CALLERS;
    }
    while (o->event && event + 1 < s->nevents && strcmp(s->event[event].name, o->event) != 0) {
        event++;
    }
    build_list(&b, f, event);
    report_screen_start(o->colour);
    for (int key = 0; key != 'q' && key != ERR; act_on_browser_key(&b, key)) {
        size_t lines = LINES > 4 ? (size_t)LINES - 3 : 1;
        uint64_t lost = mkperf_lost_sum(p->lost), samples = p->total[b.rows.event].samples;
        char text[TEXT];

        b.top = b.at < b.top ? b.at : b.top;
        b.top = b.at >= b.top + lines ? b.at - lines + 1 : b.top;
        erase();
        snprintf(text, sizeof text,
                 "%s: %" PRIu64 " sample%s of '%s'%s%s   lost %" PRIu64 " (%.2f %%)%s", path,
                 samples, mkperf_plural(samples), s->event[b.rows.event].name,
                 shown->pd ? ", PD " : "", shown->pd ? shown->pd : "", lost,
                 mkperf_percent(lost, p->totals.samples + lost),
                 p->totals.complete ? "" : "  totals incomplete");
        report_put_line(0, text, true);
        report_put_line(1, o->children ? "  Children    Self  Samples" : "  Overhead  Samples",
                        false);
        for (size_t i = 0; i < lines && b.top + i < b.n; i++) {
            items_text(&b, b.top + i, text, sizeof text);
            report_put_line(2 + (int)i, text, b.top + i == b.at);
        }
        report_put_line(LINES - 1,
                        b.message ? b.message
                                  : "Enter open   a annotate   d this PD   / search   i info   "
                                    "h help   q quit",
                        true);
        b.message = NULL;
        refresh();
        key = getch();
    }
    endwin();
    free_list(&b);
    free(b.item);
}
