/* SPDX-License-Identifier: BSD-2-Clause */
/* The display of mkperf top, see top.h. */
#include "top.h"

#include <ncurses.h>

#include "report/report.h"

enum { UTIL_WIDTH = 9 }; /* width of the column "Util" in the table of charged time */

static const char *const sorts[TOP_SORTS] = {"share", "name", "PD"};

static const char keys[] =
    "h help   Enter this PD only   u all PDs   i idle   c charged   s sort   "
    "z window/all   Tab event   p pause   q quit";

static const char *const help[] = {
    "  h, ?            this text; any key returns to the tables",
    "  Up, Down, j, k  select a PD or a function",
    "  PgUp, PgDn      move by a page; Home, End: to the first or the last line",
    "  Enter           only functions of the selected PD",
    "  u, Backspace    functions of all PDs",
    "  i               without idle, or with it",
    "  c               time by the PD that used it, or by the PD that it was used for",
    "  s               sort by share, name or PD",
    "  z               samples of the last seconds (--window), or of the whole session",
    "  Tab             the next event",
    "  p, Space        pause and continue; samples are still counted",
    "  q               quit",
};

static void head_text(const struct top_screen *s, char *text, size_t n)
{
    const struct mkperf_totals *t = s->totals;
    const struct mkperf_session *session = &s->counts->session;
    uint64_t lost = mkperf_lost_sum(t->lost);
    char window[64] = "all", cores[32] = "";

    if (s->flow != NULL && !s->counts->all) {
        snprintf(window, sizeof window, "since the last refresh");
    } else if (!s->counts->all) {
        snprintf(window, sizeof window, "last %g s", (double)s->counts->window_ns / 1e9);
    }
    if (t->ncores > 1) {
        snprintf(cores, sizeof cores, " of %u cores", t->ncores);
    }
    snprintf(text, n,
             "lost %" PRIu64 " (%.2f %%)  %s%s: %.1f s, %" PRIu64
             " samples; shown: %s%s%s%s%s%s%s%s%s%s  %s",
             lost, mkperf_percent(lost, t->samples + lost),
             s->event < session->nevents ? session->event[s->event].name : "no event yet",
             s->event < session->nevents && session->event[s->event].all_cores
                 ? " (of all cores on each, QEMU)"
                 : "",
             (double)(t->last_ns - t->first_ns) / 1e9, t->samples, window,
             session->target_cores > session->cores ? " of the sampled cores only" : cores,
             s->pd ? ", PD " : "", s->pd ? s->pd : "", s->sort != TOP_BY_SHARE ? ", by " : "",
             s->sort != TOP_BY_SHARE ? sorts[s->sort] : "", s->charged ? ", charged" : "",
             s->counts->no_idle ? ", without idle" : "",
             s->counts->sched != NULL && s->flow == NULL ? ", Util of one core" : "",
             s->paused ? ", PAUSED" : "", s->target);
}

/* Stores the line of a core, such as "  49.90%     1234  core 1, lost 3". Returns false if there is no such core, or if only one
 * core is sampled. */
static bool core_text(const struct top_screen *s, unsigned core, char *text, size_t n)
{
    const struct mkperf_totals *t = s->totals;
    char room[MKPERF_CORE_PROBLEM_TEXT], losses[32] = "";

    if (core >= t->ncores || t->ncores < 2) {
        return false;
    }
    const struct mkperf_weight *w = &s->list.core[core];
    const char *problem = mkperf_core_problem(&t->core[core], room);
    uint64_t lost = mkperf_lost_sum(t->core[core].lost);
    if (lost != 0) {
        snprintf(losses, sizeof losses, ", lost %" PRIu64, lost);
    }
    snprintf(text, n, "%7.2f%% %8" PRIu64 "  core %u%s%s%s",
             mkperf_percent(w->period, s->list.whole.period), w->samples, core, losses,
             problem != NULL ? ", " : "", problem != NULL ? problem : "");
    return true;
}

/* Adds a line of a PD or of one of its functions. Returns where its text is written, TOP_TEXT bytes. */
static char *add_line(struct top_screen *s, const char *pd)
{
    s->line[s->nlines].pd = pd;
    return s->line[s->nlines++].text;
}

/* Adds the line of a PD or a function. */
static void add_entry(struct top_screen *s, const struct top_entry *at)
{
    const char mode[] = {' ', '[', at->mode, ']', ' ', '\0'};
    char util[16] = "";

    if (at->name == NULL && s->counts->sched != NULL) {
        snprintf(util, sizeof util, " %7.2f%%", at->util);
    }
    snprintf(add_line(s, at->pd), TOP_TEXT, "%7.2f%% %8" PRIu64 "%s  %-*s%s%s",
             mkperf_percent(at->weight.period, s->list.total.period), at->weight.samples, util,
             at->name ? 16 : 0, at->pd, at->name ? mode : "", at->name ? at->name : "");
}

static const char *pd_titles(const struct top_screen *s)
{
    static const char *const titles[2][2] = {
        {"  Share   Samples  PD", "  Share   Samples     Util  PD"},
        {REPORT_CHARGED_TITLES(""), REPORT_CHARGED_TITLES("     Util")}};

    return titles[s->charged][s->counts->sched != NULL];
}

/* Adds the line of a PD with its charged time. With scheduling events the line also shows how long the PD ran. */
static void add_charged(struct top_screen *s, const struct mkperf_charge_pd *pd, const char *name)
{
    char util[16] = "";
    uint32_t i = 0;

    while (i < s->list.npds && strcmp(s->list.pd[i].pd, name) != 0) {
        i++;
    }
    if (s->counts->sched != NULL) {
        snprintf(util, sizeof util, "%8.2f%%", i < s->list.npds ? s->list.pd[i].util : 0);
    }
    report_charged_row(&s->charge, pd, util, name, add_line(s, name), TOP_TEXT);
}

static void print_entry(const struct top_screen *s, const char *text, FILE *out)
{
    double share = strtod(text, NULL);
    int n = (int)strcspn(text, "%") + 1;

    fprintf(out, "%s%.*s%s%s\n", mkperf_colour_begin(s->colour, share), n, text,
            mkperf_colour_end(s->colour, share), text + n);
}

void top_screen_print(const struct top_screen *s, FILE *out)
{
    char text[TOP_TEXT];

    head_text(s, text, sizeof text);
    fprintf(out, "# %s\n#\n", text);
    if (s->flow != NULL) {
        fprintf(out, "%s\n", s->flow);
        return;
    }
    for (unsigned i = 0; core_text(s, i, text, sizeof text); i++) {
        fprintf(out, "%s%s\n", i == 0 ? "#  Share   Samples  Core\n" : "", text);
    }
    fprintf(out, "#%s\n", pd_titles(s));
    for (uint32_t i = 0; i < s->npds; i++) {
        print_entry(s, s->line[i].text, out);
    }
    fprintf(out, "#\n#  Share   Samples  PD               Function\n");
    for (uint32_t i = s->npds; i < s->nlines && (s->rows == 0 || i - s->npds < s->rows); i++) {
        print_entry(s, s->line[i].text, out);
    }
    if (s->rows && s->list.nfunctions > s->rows) {
        uint64_t more = s->list.nfunctions - s->rows;
        fprintf(out, "# and %" PRIu64 " more function%s\n", more, mkperf_plural(more));
    }
    fputc('\n', out);
}

/* Writes one of the lists of PDs and functions, at most `most` entries. */
static void put_list(struct mkperf_textout *t, const struct top_screen *s, const char *key,
                     const struct top_entry *list, uint32_t n, uint64_t most)
{
    mkperf_json(t, ",%s:[", key);
    for (uint32_t i = 0; i < n && i < most; i++) {
        mkperf_json(t, ",{'pd':%s,'percent':%.4f,'samples':%" PRIu64 ",'period':%" PRIu64,
                    list[i].pd, mkperf_percent(list[i].weight.period, s->list.total.period),
                    list[i].weight.samples, list[i].weight.period);
        if (list[i].name != NULL) {
            mkperf_json(t, ",'function':%s,'kernel':%hhd", list[i].name, list[i].mode == 'k');
        } else if (s->counts->sched != NULL) {
            mkperf_json(t, ",'util_percent':%.4f", list[i].util);
        }
        mkperf_textout_puts(t, "}");
    }
    mkperf_textout_puts(t, "]");
}

void top_screen_values(const struct top_screen *s, struct mkperf_textout *t)
{
    const struct mkperf_totals *all = s->totals;
    const struct mkperf_session *session = &s->counts->session;

    mkperf_json(t, "{'type':'top','time_ns':%" PRIu64 ",'window_ns':%" PRIu64, all->last_ns,
                s->counts->all ? all->last_ns - all->first_ns : s->counts->window_ns);
    if (s->event < session->nevents) {
        mkperf_json_known(t, "event", session->event[s->event].name);
    }
    mkperf_json(t,
                ",'samples':%" PRIu64 ",'lost':%" PRIu64 ",'shown_samples':%" PRIu64
                ",'shown_period':%" PRIu64 ",'cores':[",
                all->samples, mkperf_lost_sum(all->lost), s->list.total.samples,
                s->list.total.period);
    for (unsigned i = 0; i < all->ncores; i++) {
        mkperf_json(
            t, ",{'core':%u,'state':%s,'percent':%.4f,'samples':%" PRIu64 ",'lost':%" PRIu64 "}", i,
            mkperf_core_states[all->core[i].state],
            mkperf_percent(s->list.core[i].period, s->list.whole.period), s->list.core[i].samples,
            mkperf_lost_sum(all->core[i].lost));
    }
    mkperf_textout_puts(t, "]");
    put_list(t, s, "pds", s->list.pd, s->list.npds, UINT32_MAX);
    put_list(t, s, "functions", s->list.function, s->list.nfunctions,
             s->rows != 0 ? s->rows : UINT64_MAX);
    mkperf_json(t, ",'all_functions':%" PRIu32 "}\n", s->list.nfunctions);
}

void top_screen_start(struct top_screen *s)
{
    report_screen_start(s->colour);
    nodelay(stdscr, TRUE);
    s->curses = true;
}

void top_screen_stop(struct top_screen *s)
{
    if (s->curses) {
        endwin();
        s->curses = false;
    }
}

bool top_screen_keys(struct top_screen *s)
{
    struct top_counts *c = s->counts;
    bool any = false;
    int key;

    while (s->curses && (key = getch()) != ERR) {
        any = true;
        if (s->help && key != 'q') {
            s->help = false;
            continue;
        }
        s->at = (uint32_t)report_moved(key, (int)s->at, (int)s->nlines, LINES / 2);
        switch (key) {
        case 'q':
            s->quit = true;
            break;
        case 'h':
        case '?':
            s->help = true;
            break;
        case 'p':
        case ' ':
            s->paused = !s->paused;
            break;
        case 's':
            s->sort = (enum top_sort)((s->sort + 1) % TOP_SORTS);
            break;
        case 'c':
            s->charged = !s->charged;
            s->at = 0;
            break;
        case 'i':
            c->no_idle = !c->no_idle;
            s->at = 0;
            break;
        case 'z':
            c->all = !c->all;
            break;
        case '\t':
            s->event = c->session.nevents ? (s->event + 1) % c->session.nevents : 0;
            break;
        case '\n':
        case KEY_ENTER:
            s->pd = s->at < s->nlines ? s->line[s->at].pd : s->pd;
            break;
        case 'u':
        case KEY_BACKSPACE:
            s->pd = NULL;
            break;
        default:
            break;
        }
    }
    return any;
}

void top_screen_refresh(struct top_screen *s)
{
    if (!s->paused || s->list.pd == NULL) {
        top_screen_free(s);
        top_counts_list(s->counts, s->event, s->pd, s->sort, &s->list);
        top_counts_charge(s->counts, s->event, &s->charge);
    }
    /* Makes the lines. Below a PD with charged time are the PDs that worked for it. PDs that ran without a sample are last. */
    const struct mkperf_charge *c = &s->charge;
    const struct mkperf_charge_pd none = {.pd = 0};

    free(s->line);
    s->line = mkperf_xcalloc((size_t)c->npds + c->npairs + s->list.npds + s->list.nfunctions + 1,
                             sizeof *s->line);
    s->nlines = 0;
    for (uint32_t i = 0; i < c->npds && s->charged; i++) {
        add_charged(s, &c->pd[i], s->counts->pds->pd[c->pd[i].pd].name);
        for (uint32_t k = 0; k < c->npairs; k++) {
            if (c->pair[k].to == c->pd[i].pd && c->pair[k].by != c->pd[i].pd) {
                const char *name = s->counts->pds->pd[c->pair[k].by].name;
                report_charged_by(c, &c->pair[k], s->counts->sched != NULL ? UTIL_WIDTH : 0, name,
                                  add_line(s, name), TOP_TEXT);
            }
        }
    }
    for (uint32_t i = 0; i < s->list.npds; i++) {
        const char *name = s->list.pd[i].pd;
        uint32_t k = 0;

        while (k < s->nlines && strcmp(s->line[k].pd, name) != 0) {
            k++;
        }
        if (k == s->nlines && s->charged) {
            add_charged(s, &none, name);
        } else if (k == s->nlines) {
            add_entry(s, &s->list.pd[i]);
        }
    }
    s->npds = s->nlines;
    for (uint32_t i = 0; i < s->list.nfunctions; i++) {
        add_entry(s, &s->list.function[i]);
    }
    s->at = s->at < s->nlines ? s->at : 0;
}

void top_screen_free(struct top_screen *s)
{
    top_list_free(&s->list);
    mkperf_charge_free(&s->charge);
    free(s->line);
    s->line = NULL;
    s->npds = s->nlines = 0;
}

/* Draws the lines `from` to `to` of the tables in so many rows of the screen, so that the selected line is visible. */
static void draw_lines(const struct top_screen *s, uint32_t from, uint32_t to, int y, uint32_t rows)
{
    if (s->at < to && s->at >= from + rows) {
        from = s->at - rows + 1;
    }
    for (uint32_t i = from; i < to && i < from + rows; i++) {
        report_put_line(y++, s->line[i].text, s->at == i);
    }
}

void top_screen_draw(struct top_screen *s)
{
    int cores = 0;
    char text[TOP_TEXT];

    if (LINES < 7) {
        return;
    }
    erase();
    head_text(s, text, sizeof text);
    report_put_line(0, text, true);
    for (unsigned i = 0; s->help && i < sizeof help / sizeof *help; i++) {
        report_put_line((int)i + 2, help[i], false);
    }
    const char *line = s->help ? NULL : s->flow;
    for (int i = 1; line != NULL && *line != '\0' && i < LINES - 2; i++) {
        size_t n = strcspn(line, "\n");
        snprintf(text, sizeof text, "%.*s", (int)n, line);
        report_put_line(i, text, false);
        line += n + (line[n] == '\n');
    }
    if (!s->help && s->flow == NULL) {
        while (cores < LINES - 7 && core_text(s, (unsigned)cores, text, sizeof text)) {
            report_put_line(++cores, text, false);
        }
        int pds = (LINES - 5 - cores) / 2;
        pds = s->npds < (uint32_t)pds ? (int)s->npds : pds;
        int y = 2 + cores + pds;
        report_put_line(1 + cores, pd_titles(s), false);
        draw_lines(s, 0, s->npds, 2 + cores, (uint32_t)pds);
        report_put_line(y, "  Share   Samples  PD               Function", false);
        draw_lines(s, s->npds, s->nlines, y + 1, (uint32_t)(LINES - 3 - y));
    }
    report_put_line(LINES - 2, s->message, false);
    report_put_line(LINES - 1, keys, true);
    refresh();
}
