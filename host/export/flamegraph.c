/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The flame graph: one SVG file that contains its script and needs nothing else.
 *
 * Owns: layout and colours. Called through the table of formats. The tree of stacks is folded.c's.
 *   1. Widths are periods. The root is on top unless --upward is given.
 *   2. Each PD has the same colour as in the other views (base/colour.h). Kernel frames are darker, inlined functions
 *      are lighter, unknown code is grey.
 *   3. Idle is omitted unless --idle is given. Its share is in the title. Shares include idle in both cases.
 *   4. In a comparison, frames with a larger share than before are red, and those with a smaller share are blue. Frames
 *      that only the other profile has are not drawn; their share is in the subtitle.
 *   5. Frames narrower than NARROWEST pixels are omitted; their number is in the description.
 *   6. Losses are in the subtitle. Below it is the first warning (model/figures.h), with all warnings in its tooltip.
 *      Notes are in the description.
 */
#include "parts.h"

#include <math.h>

MKPERF_EMBED(flamegraph_js, "host/export/flamegraph.js");

enum { WIDTH = 1200, MARGIN = 10, ROW = 16, TOP = 64, BOTTOM = 44, CHARACTER = 7, ALARM = 120 };

static const double NARROWEST = 0.1;

struct picture {
    const struct stack_tree *tree;
    const struct mkperf_export *x;
    struct mkperf_textout *t;
    uint32_t rows;     /* the number of rows of frames */
    uint64_t left_out; /* the number of frames that are too narrow to be drawn */
    double scale;      /* pixels per event */
    uint64_t all[2];   /* the events of this profile and of the one before, with idle */
    uint64_t idle;     /* the events of idle, if they are omitted */
    struct mkperf_colours colours;
};

static uint32_t colour_of(struct picture *p, struct stack_label n)
{
    bool of_pd = n.kind != STACK_ROOT && n.kind != STACK_UNKNOWN;
    uint32_t pd = of_pd ? mkperf_colours_of(&p->colours, stack_tree_text(p->tree, n.pd_name)) : 0;

    return n.kind == STACK_ROOT      ? 0xebebeb
           : n.kind == STACK_UNKNOWN ? MKPERF_COLOUR_UNKNOWN
           : n.kind == STACK_KERNEL  ? mkperf_kernel_colour(pd)
           : n.kind == STACK_INLINED ? mkperf_lighter(pd, 0.45)
                                     : pd;
}

/* Returns whether text on the colour must be white to be legible. */
static bool is_dark(uint32_t rgb)
{
    double red = rgb >> 16, green = rgb >> 8 & 255, blue = rgb & 255;

    return 0.2126 * red * red + 0.7152 * green * green + 0.0722 * blue * blue < 0.22 * 255 * 255;
}

/* Returns the share of a node in per cent: side 0 of this profile, side 1 of the one before. */
static double share(const struct picture *p, uint32_t node, unsigned side)
{
    const struct mkperf_tree *t = &p->tree->tree;
    uint64_t other = t->other != NULL ? t->other[node] : 0;

    return mkperf_percent(side == 0 ? t->node[node].total.period : other, p->all[side]);
}

/* Returns the colour of a change of the share, in points: red or blue, of the lightness of HSL. The square root makes small changes
 * visible. */
static uint32_t change_colour(double points)
{
    double lightness = 0.93 - 0.33 * sqrt(fmin(fabs(points) / 10, 1));
    double hue = points > 0 ? 0 : 220, a = points == 0 ? 0 : 0.9 * (1 - lightness);
    uint32_t rgb = 0;

    for (int i = 0; i < 3; i++) {
        double k = fmod((i == 0 ? 0 : 12 - 4 * i) + hue / 30, 12);
        double ramp = fmax(-1, fmin(1, fmin(k - 3, 9 - k)));
        rgb = rgb << 8 | (uint32_t)(255 * (lightness - a * ramp) + 0.5);
    }
    return rgb;
}

/* Writes the part of the name that fits, cut at the beginning of a character. */
static void put_frame_label(const struct picture *p, const char *name, double width)
{
    size_t room = width > 6 ? (size_t)((width - 6) / CHARACTER) : 0, whole = strlen(name),
           n = whole;
    char cut[256];

    if (room < 3) {
        return;
    }
    if (whole > room) {
        for (n = room - 2; n > 0 && ((unsigned char)name[n] & 0xc0) == 0x80; n--) {
        }
    }
    snprintf(cut, sizeof cut, "%.*s%s", (int)n, name, n < whole ? ".." : "");
    mkperf_textout_xml(p->t, cut);
}

static void put_frame_box(struct picture *p, uint32_t node, uint64_t x, uint32_t depth)
{
    uint64_t period = p->tree->tree.node[node].total.period;
    struct stack_label label = stack_tree_label(p->tree, node);
    uint32_t row = p->x->upward ? p->rows - 1 - depth : depth;
    double at = MARGIN + (double)x * p->scale, width = (double)period * p->scale;
    const char *name = stack_tree_text(p->tree, label.name);
    double now = share(p, node, 0), before = share(p, node, 1);
    bool changed = p->x->base != NULL && depth > 0;
    uint32_t colour = changed ? change_colour(now - before) : colour_of(p, label);

    mkperf_textout_printf(
        p->t, "<g data-x=\"%" PRIu64 "\" data-w=\"%" PRIu64 "\" data-d=\"%u\" data-n=\"", x, period,
        depth);
    mkperf_textout_xml(p->t, name);
    mkperf_textout_puts(p->t, "\"><title>");
    const struct mkperf_tree_node *n = &p->tree->tree.node[node];
    uint32_t file = p->tree->code[node].file;
    struct mkperf_weight self = mkperf_tree_self(&p->tree->tree, node);
    mkperf_textout_xml(p->t, name);
    mkperf_textout_printf(p->t, "&#10;%" PRIu64 ", %.2f%%", period, now);
    if (self.period != 0) {
        mkperf_textout_printf(p->t, ", itself %" PRIu64 " in %" PRIu64 " samples", self.period,
                              self.samples);
    }
    if (p->x->base != NULL) {
        mkperf_textout_printf(p->t, "&#10;before %.2f%%, change %+.2f points", before,
                              now - before);
    }
    if (label.kind == STACK_PD) {
        mkperf_textout_puts(p->t, n->parent == 0 ? "&#10;PD" : "&#10;PD, called by the one before");
    } else if (label.kind == STACK_KERNEL || label.kind == STACK_INLINED) {
        mkperf_textout_puts(p->t, label.kind == STACK_KERNEL ? "&#10;kernel" : "&#10;inlined");
    }
    if (file != 0) {
        mkperf_textout_puts(p->t, "&#10;");
        mkperf_textout_xml(p->t, stack_tree_text(p->tree, file));
    }
    mkperf_textout_puts(p->t, "</title>");
    mkperf_textout_printf(p->t,
                          "<rect x=\"%.2f\" y=\"%u\" width=\"%.2f\" height=\"%d\" fill=\"#%06x\" "
                          "rx=\"2\"/><text x=\"%.2f\" y=\"%u\"%s>",
                          at, TOP + row * ROW, width, ROW - 1, colour, at + 3, TOP + row * ROW + 11,
                          is_dark(colour) ? " class=\"white\"" : "");
    put_frame_label(p, name, width);
    mkperf_textout_puts(p->t, "</text></g>\n");
}

/* Draws the node and its descendants, if `draw` is set. x is the number of events to the left of the node. Returns the number of
 * rows down to the lowest of them, without those too narrow to be drawn. */
static uint32_t put_branch(struct picture *p, uint32_t node, uint64_t x, uint32_t depth, bool draw)
{
    const struct mkperf_tree_node *n = p->tree->tree.node;
    uint32_t rows = depth + 1;

    if (draw) {
        put_frame_box(p, node, x, depth);
    }
    for (uint32_t i = n[node].child; i != 0; i = n[i].next) {
        uint64_t width = n[i].total.period;
        if ((double)width * p->scale >= NARROWEST) {
            uint32_t below = put_branch(p, i, x, depth + 1, draw);
            rows = below > rows ? below : rows;
        } else {
            p->left_out += draw && width > 0;
        }
        x += width;
    }
    return rows;
}

/* Returns the events that the profile before has in frames which this one does not have. */
static uint64_t gone(const struct mkperf_tree *t, uint32_t node)
{
    const struct mkperf_tree_node *n = t->node;
    uint64_t sum = 0;

    for (uint32_t i = n[node].child; i != 0; i = n[i].next) {
        sum += n[i].total.period != 0 ? gone(t, i) : t->other != NULL ? t->other[i] : 0;
    }
    return sum;
}

static void put_subtitle(const struct picture *p, const struct mkperf_profile *c, uint32_t event)
{
    uint64_t lost = mkperf_lost_sum(c->lost), all = 0;
    char room[32];

    for (uint32_t i = 0; i < c->nevents; i++) {
        all += c->total[i].samples;
    }
    mkperf_textout_puts(p->t, "<text id=\"subtitle\" x=\"50%\" y=\"38\" text-anchor=\"middle\">");
    mkperf_textout_xml(p->t, mkperf_places_event_name(&c->places, event, room));
    mkperf_textout_printf(p->t,
                          ": %" PRIu64 " samples, period sum %" PRIu64 "; lost samples: %" PRIu64,
                          c->total[event].samples, c->total[event].period, lost);
    if (lost > 0) {
        mkperf_textout_printf(p->t, " (%.2f%%)", 100.0 * (double)lost / (double)(lost + all));
    }
    if (p->x->base != NULL) {
        mkperf_textout_puts(p->t, "; compared with ");
        mkperf_textout_xml(p->t, p->x->base_name != NULL ? p->x->base_name : "another profile");
        mkperf_textout_printf(
            p->t, " (%" PRIu64 " samples, lost %" PRIu64 "; %.2f%% in frames that are gone)",
            p->x->base->total[event].samples, mkperf_lost_sum(p->x->base->lost),
            mkperf_percent(gone(&p->tree->tree, 0), p->all[1]));
    }
    mkperf_textout_puts(p->t, "</text>\n");
}

static void put_description(void *self, const char *line)
{
    struct mkperf_textout *t = self;

    mkperf_textout_xml(t, line);
    mkperf_textout_put(t, "\n", 1);
}

struct alarms {
    char *text;
    size_t n;
    FILE *out;
    unsigned count;
    const char *of; /* a prefix of each line: "", or "before: " for the other profile */
};

static void add_alarm(void *self, enum mkperf_warning_level level, const char *text)
{
    struct alarms *a = self;

    if (level != MKPERF_NOTE) {
        fprintf(a->out, "%s%s%s: %s", a->count++ > 0 ? "\n" : "", a->of,
                mkperf_warning_names[level], text);
    }
}

static void put_title(const struct picture *p)
{
    const char *title = p->x->title != NULL ? p->x->title : p->x->input;

    mkperf_textout_xml(p->t, title != NULL ? title : "Flame graph");
    if (p->idle > 0) {
        mkperf_textout_printf(p->t, ", without idle (%.2f%%)", mkperf_percent(p->idle, p->all[0]));
    }
}

static void put_picture_head(const struct picture *p, const struct mkperf_profile *c,
                             uint32_t event)
{
    uint32_t height = TOP + p->rows * ROW + BOTTOM;

    mkperf_textout_printf(p->t,
                          "<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n<svg version=\"1.1\" "
                          "xmlns=\"http://www.w3.org/2000/svg\" width=\"%d\" height=\"%u\" "
                          "viewBox=\"0 0 %d %u\" onload=\"init()\">\n<title>",
                          WIDTH, height, WIDTH, height);
    put_title(p);
    mkperf_textout_puts(p->t, "</title>\n<desc>mkperf flame graph\n");
    mkperf_profile_notes(c, put_description, p->t);
    mkperf_textout_puts(p->t,
                        "</desc>\n<style>text{font:12px monospace;fill:#111}#title{font-size:17px}"
                        "#frames g{cursor:pointer}#frames text{pointer-events:none}"
                        "#frames .white{fill:#fff}#warning{fill:#b00000}"
                        "#frames g:hover rect{stroke:#000;stroke-width:1}"
                        ".button{cursor:pointer;fill:#05c}</style>\n<script><![CDATA[\n");
    /* The comment at the beginning of the script's file is omitted. */
    mkperf_textout_puts(p->t, strstr(flamegraph_js_begin, "'use strict'"));
    mkperf_textout_printf(p->t,
                          "]]></script>\n<rect width=\"100%%\" height=\"%u\" fill=\"#fdfdfa\"/>\n"
                          "<text id=\"title\" x=\"50%%\" y=\"20\" text-anchor=\"middle\">",
                          height);
    put_title(p);
    mkperf_textout_puts(p->t, "</text>\n");
    put_subtitle(p, c, event);
    /* Writes the first warning, cut to the width of the picture. */
    struct alarms a = {.of = ""};
    char line[ALARM + 1], more[64] = "";
    a.out = mkperf_memstream_open(&a.text, &a.n);
    mkperf_profile_warnings(c, add_alarm, &a);
    if (p->x->base != NULL) {
        a.of = "before: ";
        mkperf_profile_warnings(p->x->base, add_alarm, &a);
    }
    mkperf_memstream_close(a.out);
    if (a.count > 0) {
        size_t first = strcspn(a.text, "\n");
        snprintf(line, sizeof line, "%.*s", (int)first, a.text);
        if (a.count > 1) {
            snprintf(more, sizeof more, " (and %u more)", a.count - 1);
        }
        mkperf_textout_puts(p->t, "<text id=\"warning\" x=\"10\" y=\"56\"><title>");
        mkperf_textout_xml(p->t, a.text);
        mkperf_textout_puts(p->t, "</title>");
        mkperf_textout_xml(p->t, line);
        mkperf_textout_puts(p->t, first >= sizeof line ? "..." : "");
        mkperf_textout_xml(p->t, more);
        mkperf_textout_puts(p->t, "</text>\n");
    }
    free(a.text);
    mkperf_textout_printf(
        p->t,
        "<text id=\"reset\" class=\"button\" x=\"10\" y=\"20\" display=\"none\">Reset"
        "</text>\n<text id=\"search\" class=\"button\" x=\"100%%\" dx=\"-10\" y=\"20\" "
        "text-anchor=\"end\">Search</text>\n<text id=\"matched\" x=\"100%%\" dx=\"-10\" y=\"56\" "
        "text-anchor=\"end\"> </text>\n<text id=\"details\" x=\"10\" y=\"%u\"> </text>\n",
        height - 26);
    mkperf_textout_printf(
        p->t,
        "<text id=\"legend\" x=\"10\" y=\"%u\">%s</text>\n<g id=\"frames\" data-all=\"%" PRIu64
        "\">\n",
        height - 8,
        p->x->base != NULL ? "red: more than before; blue: less"
                           : "a colour for each PD; darker: kernel; lighter: inlined; "
                             "grey: unknown",
        p->all[0]);
}

enum mkperf_status mkperf_flamegraph_write(const struct mkperf_export *x, struct mkperf_profile *c,
                                           struct mkperf_textout *t, struct mkperf_error *e)
{
    struct stack_tree tree;
    struct picture p = {.tree = &tree, .x = x, .t = t};
    uint32_t event, base_event = 0;

    if (mkperf_export_event(x, c, &event, e) != MKPERF_OK ||
        (x->base != NULL && mkperf_export_event(x, x->base, &base_event, e) != MKPERF_OK)) {
        return e->status;
    }
    mkperf_colours_choose(&p.colours, c, x->base);
    p.all[0] = c->total[event].period;
    stack_tree_init(&tree);
    for (uint32_t i = 0; !x->idle && i < c->chains.count; i++) {
        struct mkperf_chain_head head = mkperf_profile_head(c, i);
        bool idle = head.event == event && mkperf_places_idle(&c->places, head.pd);
        p.idle += idle ? c->weight[i].period : 0;
    }
    p.idle = p.idle < p.all[0] ? p.idle : 0; /* idle is drawn if there is nothing else */
    stack_tree_add(&tree, c, event, 0, p.idle == 0);
    if (x->base != NULL) {
        p.all[1] = x->base->total[base_event].period;
        stack_tree_add(&tree, x->base, base_event, 1, p.idle == 0);
    }
    stack_tree_finish(&tree);
    uint64_t all = tree.tree.node[0].total.period;
    p.scale = all != 0 ? (WIDTH - 2 * MARGIN) / (double)all : 0;
    p.rows = put_branch(&p, 0, 0, 0, false);
    put_picture_head(&p, c, event);
    (void)put_branch(&p, 0, 0, 0, true);
    mkperf_textout_printf(
        t, "</g>\n<desc>frames too narrow to be drawn: %" PRIu64 "</desc>\n</svg>\n", p.left_out);
    stack_tree_free(&tree);
    mkperf_colours_free(&p.colours);
    return MKPERF_OK;
}
