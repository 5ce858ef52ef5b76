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
    uint32_t pd;        /* the PD of its function */
    int depth;
    bool open;
    struct mkperf_tree *tree; /* shared by a row and its nodes; NULL: the row was never opened */
};

/* The list: the rows of an event, and below each open row its call tree. A tree lives until the rows are built again. */
struct items {
    struct report_options options;
    struct report_rows rows;
    struct item *item;
    size_t n, room;
};

static void free_trees(struct items *l)
{
    for (size_t i = 0; i < l->n; i++) {
        if (l->item[i].node == 0 && l->item[i].tree) {
            mkperf_tree_free(l->item[i].tree);
            free(l->item[i].tree);
        }
    }
    l->n = 0;
}

/* Opens an item that is closed. Returns the number of items below it. */
static uint32_t open_item(struct items *l, size_t at)
{
    struct item parent = l->item[at];
    double least = l->options.graph_limit * (double)l->rows.whole / 100;
    uint32_t n = 0;

    if (parent.tree == NULL) {
        parent.tree = mkperf_xcalloc(1, sizeof *parent.tree);
        report_tree_build(parent.tree, &l->rows, &l->rows.row[parent.row]);
        l->item[at].tree = parent.tree;
    }
    const struct mkperf_tree_node *node = parent.tree->node;
    for (uint32_t i = node[parent.node].child; i != 0 && (double)node[i].total.period >= least;
         i = node[i].next) {
        struct item below = {.row = parent.row,
                             .node = i,
                             .pd = mkperf_frames_label(l->rows.frames, node[i].label).pd,
                             .depth = parent.depth + 1,
                             .tree = parent.tree};
        size_t to = at + 1 + n++;
        MKPERF_GROW(l->item, l->room, l->n + 1);
        memmove(l->item + to + 1, l->item + to, (l->n++ - to) * sizeof *l->item);
        l->item[to] = below;
    }
    l->item[at].open = n > 0;
    return n;
}

/*
 * Opens an item, and the items below it as long as there is only one. Returns why it cannot be opened, or NULL.
 */
static const char *items_open(struct items *l, size_t at)
{
    if (l->item[at].open) {
        return NULL;
    }
    uint32_t n = open_item(l, at);
    const char *problem = n > 0 ? NULL : "no caller";

    while (n == 1) {
        n = open_item(l, ++at);
    }
    return problem;
}

static void items_close(struct items *l, size_t at)
{
    size_t end = at + 1;

    while (end < l->n && l->item[end].depth > l->item[at].depth) {
        end++;
    }
    memmove(l->item + at + 1, l->item + end, (l->n - end) * sizeof *l->item);
    l->n -= end - at - 1;
    l->item[at].open = false;
}

/* Returns the item that contains the item at `at`; `at` itself if it is a row. */
static size_t items_parent(const struct items *l, size_t at)
{
    int depth = l->item[at].depth;

    while (at > 0 && depth > 0 && l->item[at].depth >= depth) {
        at--;
    }
    return at;
}

static void items_text(const struct items *l, size_t at, char *text, size_t n)
{
    const struct item *i = &l->item[at];
    const struct report_column_list *keys = &l->options.keys;
    char part[TEXT / 2], children[16] = "";

    if (i->node != 0) {
        report_tree_text(i->tree, &l->rows, i->node, l->item[items_parent(l, at)].pd, part,
                         sizeof part);
        snprintf(text, n, "%*s%c-%s", 8 + 4 * i->depth, "", i->open ? '-' : '|', part);
        return;
    }
    const struct report_row *r = &l->rows.row[i->row];
    if (l->options.children) {
        snprintf(children, sizeof children, " %6.2f%%", report_row_share(&l->rows, i->row));
    }
    size_t used = (size_t)snprintf(text, n, "%c%s %6.2f%% %8" PRIu64 "  ", i->open ? '-' : '+',
                                   children, mkperf_percent(r->self.period, l->rows.whole),
                                   r->self.samples);
    for (unsigned k = 0; k < keys->n && used < n; k++) {
        report_column_text(keys->column[k], l->rows.frames, &r->key, part, sizeof part);
        used += (size_t)snprintf(text + used, n - used, k + 1 < keys->n ? "%-12s  " : "%s", part);
    }
}

struct browser {
    struct items list;
    const char *path;
    size_t top, at; /* items: the first one on the screen, and the current one */
    char words[REPORT_SEARCH];
    const char *message;
};

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
    struct items *l = &b->list;
    uint32_t n = 0;
    free_trees(l);
    report_rows_free(&l->rows);
    report_rows_build(&l->rows, f, &l->options, event);
    MKPERF_GROW(l->item, l->room, l->rows.n);
    for (uint32_t i = 0; i < l->rows.n; i++) {
        if (report_row_share(&l->rows, i) >= l->options.limit) {
            l->item[n++] = (struct item){.row = i, .pd = l->rows.row[i].key.pd};
        }
    }
    l->n = n;
}

static void search(struct browser *b)
{
    char text[TEXT];

    for (size_t i = 1; b->words[0] && i <= b->list.n; i++) {
        size_t at = (b->at + i) % b->list.n;

        items_text(&b->list, at, text, sizeof text);
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
    const struct item *at = &b->list.item[b->at];
    uint32_t name = b->list.rows.row[at->row].key.name;
    struct annotate_choice choice = {.pd = b->list.options.pd, .event = b->list.rows.event};
    struct annotate_style style = {.source = true};
    struct annotate_sources sources = {.n = 0};
    struct annotate_hits hits;
    enum mkperf_status status = MKPERF_OK;

    if (at->node) {
        name = mkperf_frames_label(b->list.rows.frames, at->tree->node[at->node].label).name;
    }
    choice.symbol = mkperf_frames_text(b->list.rows.frames, name);
    annotate_hits_find(&hits, b->list.rows.frames, &choice);
    for (uint32_t i = 0; status == MKPERF_OK && i < hits.nfunctions; i++) {
        status = annotate_print(&hits, &hits.function[i], b->list.rows.frames, &choice, &style,
                                &sources, out, e);
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
    report_head_print(b->list.rows.frames->profile, b->path, false, out);
    report_filter_print(&b->list.rows.frames->profile->filter, out);
    mkperf_frames_warn(b->list.rows.frames, out);
    return MKPERF_OK;
}

static void act_on_item(struct browser *b, int key)
{
    struct items *l = &b->list;
    bool is_open = l->item[b->at].open;

    switch (key) {
    case '\n':
    case KEY_ENTER:
    case KEY_RIGHT:
        if (is_open && key != KEY_RIGHT) {
            items_close(l, b->at);
        } else {
            b->message = items_open(l, b->at);
        }
        break;
    case KEY_LEFT:
        if (is_open) {
            items_close(l, b->at);
        } else {
            b->at = items_parent(l, b->at);
        }
        break;
    case 'a':
        show_text(b, "annotate", print_code);
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

static void act_on_browser_key(struct browser *b, int key)
{
    struct items *l = &b->list;
    struct mkperf_frames *f = l->rows.frames;

    b->at = (size_t)report_moved(key, (int)b->at, (int)l->n, LINES - 4);
    switch (key) {
    case '\t':
        if (l->options.event) {
            b->message = "only one event was asked for";
            break;
        }
        build_list(b, f, (l->rows.event + 1) % f->profile->places.session.nevents);
        break;
    case 'd':
        if (l->options.pd) {
            l->options.pd = NULL;
        } else if (l->n > 0) {
            l->options.pd = mkperf_profile_pd_name(f->profile, l->item[b->at].pd);
        }
        build_list(b, f, l->rows.event);
        break;
    case 'i':
        show_text(b, "the recording", print_info);
        break;
    case 'h':
    case '?':
        report_pager_show("keys", browser_help);
        break;
    default:
        if (l->n > 0) {
            act_on_item(b, key);
        }
        break;
    }
}

void report_browse(struct mkperf_frames *f, const struct report_options *o, const char *path)
{
    struct browser b = {.list = {.options = *o}, .path = path};
    const struct mkperf_profile *p = f->profile;
    const struct mkperf_session *s = &p->places.session;
    const struct report_options *shown = &b.list.options;
    uint32_t event = 0;

    if (o->graph == REPORT_GRAPH_NONE) {
        b.list.options.graph = REPORT_GRAPH_CALLERS;
    }
    while (o->event && event + 1 < s->nevents && strcmp(s->event[event].name, o->event) != 0) {
        event++;
    }
    build_list(&b, f, event);
    report_screen_start(o->colour);
    for (int key = 0; key != 'q' && key != ERR; act_on_browser_key(&b, key)) {
        size_t lines = LINES > 4 ? (size_t)LINES - 3 : 1;
        uint64_t lost = mkperf_profile_lost(p), samples = p->total[b.list.rows.event].samples;
        char text[TEXT];

        b.top = b.at < b.top ? b.at : b.top;
        b.top = b.at >= b.top + lines ? b.at - lines + 1 : b.top;
        erase();
        snprintf(text, sizeof text,
                 "%s: %" PRIu64 " sample%s of '%s'%s%s   lost %" PRIu64 " (%.2f %%)%s", path,
                 samples, mkperf_plural(samples), s->event[b.list.rows.event].name,
                 shown->pd ? ", PD " : "", shown->pd ? shown->pd : "", lost,
                 mkperf_percent(lost, p->totals.samples + lost),
                 p->totals.complete ? "" : "  totals incomplete");
        report_put_line(0, text, true);
        report_put_line(1, o->children ? "  Children    Self  Samples" : "  Overhead  Samples",
                        false);
        for (size_t i = 0; i < lines && b.top + i < b.list.n; i++) {
            items_text(&b.list, b.top + i, text, sizeof text);
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
    free_trees(&b.list);
    report_rows_free(&b.list.rows);
    free(b.list.item);
}
