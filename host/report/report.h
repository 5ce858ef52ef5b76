/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * What other folders use of the reports, in sections: columns, rows for programs, the screen, rows and their call trees, the
 * printed tables, latencies, and the answers of `mkperf explain`.
 */
#ifndef MKPERF_HOST_REPORT_REPORT_H
#define MKPERF_HOST_REPORT_REPORT_H

#include "flow/flow.h"
#include "profile/frames.h"
#include "sched/end_to_end.h"

/*
 * The table of columns that report, diff and script share: the names of each column, its text, and the words of a key in which
 * its rows differ.
 *
 * Owns: the names of sort keys (-s) and fields (-F), and their parsing. A new column is a row in columns.c, and a case of
 * report_row_text. If its rows differ in no word of struct report_row_key, add a word there and in report_columns_key.
 */

enum report_column_id {
    /* Columns of rows. Some are also fields of samples. */
    REPORT_SORT_PD,
    REPORT_SORT_SYMBOL,
    REPORT_SORT_EVENT,
    REPORT_SORT_CORE,
    REPORT_SORT_MODE,
    REPORT_SORT_LINE,
    REPORT_SORT_DSO,
    REPORT_SORT_TIME,
    REPORT_SORT_UTIL,
    REPORT_SORT_KEYS,
    /* Fields of samples only. */
    REPORT_FIELD_TID = REPORT_SORT_KEYS,
    REPORT_FIELD_PID,
    REPORT_FIELD_PERIOD,
    REPORT_FIELD_IP,
    REPORT_FIELD_SYMOFF,
    REPORT_COLUMNS,
};

struct report_column {
    const char *name;    /* its name as a key of rows (-s) and for programs; NULL: it is no key */
    const char *field;   /* perf script's name for it as a field of samples; NULL: it is no field */
    const char *aliases; /* other names of either, separated by blanks */
    const char *title;
    unsigned words; /* the words in which its rows differ, as columns.c numbers them */
};
extern const struct report_column report_columns[REPORT_COLUMNS];

/* The key of a row. A word that no chosen column needs is 0. */
struct report_row_key {
    uint32_t pd, name, core, mode, line, event;
    uint32_t dso;   /* 0: unknown, 1: the kernel, else 2 + the first PD with that ELF */
    uint32_t slice; /* number of the slice of time */
};

/* A list of columns in the order in which they were given, each once. */
struct report_column_list {
    enum report_column_id column[REPORT_COLUMNS];
    unsigned n;
};

bool report_columns_have(const struct report_column_list *list, enum report_column_id column);

/* Returns the key of a row in these columns, for a function of a chain. Rows of different events always differ. */
struct report_row_key report_columns_key(const struct report_column_list *list,
                                         const struct mkperf_frames *f, uint32_t chain,
                                         uint32_t function);

/*
 * Parses a comma-separated list of columns of rows (-s). Other names that perf uses are known. The names of columns that are
 * always shown (overhead, samples, period) are accepted. Errors: USAGE, with the valid names and the most similar one.
 */
mkperf_take report_columns_sort; /* in a struct report_column_list */
/* Parses a list of fields (-F) into a set of bits, 1 << column. +NAME and -NAME change the set `standard`. */
enum mkperf_status report_columns_fields(unsigned *fields, unsigned standard,
                                         const struct mkperf_given *g);

/* Puts the names of columns, for help and completion (mkperf_list). */
void report_columns_put_keys(mkperf_put *put, void *to);
void report_columns_put_fields(mkperf_put *put, void *to);

/* What differs between two recordings apart from their samples, one call each, as texts (head.c). */
typedef void report_put_difference(void *self, const char *what, const char *a, const char *b);
void report_differences(const struct mkperf_places *a, const struct mkperf_places *b,
                        report_put_difference *put, void *self);

/*
 * Rows for programs (-x SEP, --json): one row per line, beginning with its kind.
 *
 *      -x ,      row,cycles,12.5000,40
 *      --json    {"type":"row","event":"cycles","percent":12.5000,"samples":40}
 *
 * mkperf_json writes both (base/outfile.h): "{'type':%s,'event':%s,...}\n". Shares have four decimals, other real numbers six digits;
 * NAN is a value that is not known. Only JSON contains the names of values, so the order of the values of each kind is fixed. All
 * kinds of rows and their values are in docs/mkperf.schema.json; a change that a program can notice changes REPORT_SCHEMA.
 */

enum { REPORT_SCHEMA = 1 };

/* Prepares rows for a stream. JSON Lines begin with a row "mkperf": schema, version, command and input (NULL: none). */
struct mkperf_textout report_values_begin(FILE *out, const char *separator, const char *command,
                                          const char *input);

/*
 * A text on the screen that the user scrolls and searches, and the lines and colours of screens.
 *
 * Owns: the use of curses that browser.c and top/screen.c share. Call report_screen_start first.
 */

enum { REPORT_SEARCH = 128 };

/* Shows a text until the user leaves it. A line that begins with a share of MKPERF_COLOUR_HOT per cent or more is bold. */
void report_pager_show(const char *title, const char *text);

/* Asks for words to search on the last line. `words` are the words of the last search, and remain if none are typed. False:
 * there are none, or the user gave up. */
bool report_ask(const char *prompt, char words[REPORT_SEARCH]);

/* Returns the line, of n, to which a key moves from line `at`. Other keys do not move. page: the number of lines of a page. */
int report_moved(int key, int at, int n, int page);

/* Starts curses for a program that reads keys. `colour`: shares are in colour. The caller ends with endwin. */
void report_screen_start(bool colour);

/*
 * Writes a text into line y; the part that is wider than the screen is cut. A share at its begin ("12.50%" or "12.50 :") is in
 * colour.
 */
void report_put_line(int y, const char *text, bool reverse);

/*
 * The rows of a report: chains summed by the keys that the user sorts by; and the call trees below them.
 *
 * Owns: the options of the table, the rows and their order, and the trees of callers or callees. `report`, its browser and
 * `diff` build rows of a profile that is complete.
 *
 *      chain (innermost first)     weight     sorted by pd,symbol            self    children
 *      read  <- copy <- main         3        row  client  read                3        3
 *      copy  <- main                 2        row  client  copy                2        5
 *                                             row  client  main                0        5
 *
 * Invariants
 *  1. `self` is the weight of the chains of which the row's function is the innermost one. The sum of `self` over all rows is
 *     `shown`, unless o->symbol selects rows.
 *  2. `children` is the weight of all chains in which the function occurs. A chain counts once, however often it recurs.
 *  3. Rows are sorted by `children`, then by `self`, then by their texts; with the key `time` in the order of time.
 */

enum report_graph { REPORT_GRAPH_NONE, REPORT_GRAPH_CALLERS, REPORT_GRAPH_CALLEES };

struct report_options {
    struct report_column_list keys; /* the columns in which rows differ */
    bool children;                  /* rows also for functions that only call others */
    enum report_graph graph;
    double limit;       /* rows with fewer per cent are left out */
    double graph_limit; /* branches of call trees with fewer per cent are left out */
    const char *pd;     /* only samples of this PD are shown; NULL: all */
    const char *event;  /* only this event is shown; NULL: all */
    bool colour;        /* shares are in colour */
    const char *symbol; /* only rows of this function are shown; NULL: all */
    bool no_idle;       /* the idle thread's samples are left out, also of the 100 per cent */
    /* Which samples are 100 per cent: all of the recording, or only those that are shown. */
    enum { REPORT_OF_ALL, REPORT_OF_SHOWN } of;
    bool interval; /* shares are printed with their intervals at 95 % */
};

struct report_row {
    struct report_row_key key;
    uint32_t first;      /* order of appearance */
    uint32_t last_chain; /* 1 + the last chain in which its function occurs */
    uint32_t last_hit;   /* 1 + the index of that chain in `hit`; 0: it has none */
    struct mkperf_weight self, children;
};

/* A chain in which a row's function occurs. */
struct report_hit {
    uint32_t chain;
    uint32_t next; /* the hit of the row before: an index, plus 1; 0: it is the first one */
};

struct report_rows {
    struct mkperf_frames *frames;
    const struct report_options *options;
    uint32_t event;
    struct mkperf_hash numbers;
    struct report_row *row;
    uint32_t n, room;
    struct report_hit *hit; /* the hits of all rows; empty if the profile does not keep callers */
    uint32_t nhits, hit_room;
    struct mkperf_weight shown; /* the samples of the event that pass the filters by PD and idle */
    uint64_t whole;             /* the period sum that is 100 per cent */
};

/* Returns the share of a row in per cent. With o->children it includes the functions that the row's function called. */
static inline double report_row_share(const struct report_rows *rows, uint32_t row)
{
    return mkperf_percent(rows->row[row].children.period, rows->whole);
}

/* Returns the text of a row in key k of the options: a constant, or stored in `text`. */
enum { REPORT_ROW_TEXT = 600 };
const char *report_row_text(const struct report_rows *rows, const struct report_row *row,
                            unsigned k, char text[REPORT_ROW_TEXT]);

/* Builds all rows of an event, sorted. Frames and options must live as long. The caller frees them. */
void report_rows_build(struct report_rows *rows, struct mkperf_frames *f,
                       const struct report_options *o, uint32_t event);
void report_rows_free(struct report_rows *rows);

/*
 * Builds the call tree of row r of rows: its callers or its callees, as the option `graph` requires. The root is the row, and the
 * labels of nodes are functions of the frames. The children of a node are ordered by weight, greatest first. The caller frees the
 * tree with mkperf_tree_free.
 */
void report_tree_build(struct mkperf_tree *t, const struct report_rows *rows,
                       const struct report_row *r);

/* Stores the text of a node in a tree of rows: share, function, line, and the PD if it is not parent_pd. */
void report_tree_text(const struct mkperf_tree *t, const struct report_rows *rows, uint32_t node,
                      uint32_t parent_pd, char *text, size_t n);

/* Prints the call tree of row r. Percentages have the same base as those of rows. */
void report_tree_print(const struct report_rows *rows, const struct report_row *r);

/* ---- what is printed: the head, the table of rows, the table of PDs, and the browser ---- */

/*
 * head.c: prints what a reader must know to trust the numbers below it: origin, losses, warnings. `path` names the
 * recording. With `marks` all marks are listed.
 */
void report_head_print(const struct mkperf_profile *p, const char *path, bool marks, FILE *out);
/* Prints its first lines, which are those of each report: see mkperf_first of model/figures.h. */
void report_first_print(const struct mkperf_totals *t, FILE *out);

/* Prints how many rows below a limit in per cent are omitted. */
void report_omitted_print(uint64_t n, double limit);

/* rows_print.c: prints the table of rows, with the option `graph` also the call tree below each row. */
void report_rows_print(const struct report_rows *rows);
/* Prints rows as a tree with a level for each sort key. The weight of a line includes all lines below it. The rows were built
 * without the options `children` and `graph`. */
void report_hierarchy_print(const struct report_rows *rows);
/* Writes for programs: a row "row" for each row, then a row "event". */
void report_rows_values(const struct report_rows *rows, struct mkperf_textout *v);
/* Writes for programs: the row "total" of a recording, after the rows of all events. */
void report_total_values(const struct mkperf_profile *p, struct mkperf_textout *v);
/* Writes for programs: what a recording is, as in the format jsonl without its samples and marks. Rows are JSON. */
void report_head_values(struct mkperf_profile *p, struct mkperf_textout *v);
/* Writes for programs: a JSON row "warning" for each problem of a recording. */
void report_warning_values(const struct mkperf_frames *f, struct mkperf_textout *v);

/*
 * interactions_table.c: the form of `mkperf report --interactions`, and of --stacks, which shows how deep each PD's stack has been.
 * The table has one line for each edge, the busiest first, then one for each PD. DOT is a directed graph: PDs, and an arrow for each
 * edge and kind.
 */
enum report_form { REPORT_TABLE, REPORT_DOT, REPORT_JSON, REPORT_STACKS, REPORT_STACKS_JSON };
void report_interactions_print(const struct mkperf_interactions *i, enum report_form form,
                               const char *path, FILE *out);
/* `mkperf report --interactions`, --stacks: reads path and writes to output (NULL: standard output). */
enum mkperf_status report_interactions(const char *path, enum report_form form, const char *output,
                                       struct mkperf_error *e);

/*
 * The titles of the table of charged time (profile/profile.h). `more` is the text of columns before the PD, as wide as that of
 * rows; "" if there are none.
 */
#define REPORT_CHARGED_TITLES(more) " Charged      Self   Imposed  For others" more "  PD"
/* Prints the row of a PD. `more` is its text in those columns, `name` the name of the PD. */
void report_charged_row(const struct mkperf_charge *c, const struct mkperf_charge_pd *pd,
                        const char *more, const char *name, char *text, size_t n);
/* Prints a row below that of a PD: another PD, `name`, worked on its behalf. `more` is the width of those columns. */
void report_charged_by(const struct mkperf_charge *c, const struct mkperf_charge_pair *pair,
                       int more, const char *name, char *text, size_t n);
/* Prints the table of charged time of one event. The last line states how many rows are below `limit` per cent. */
void report_charged_print(const struct mkperf_profile *p, uint32_t event, double limit);
/* Writes for programs: rows "charged" and "charged_by" of one event, without a limit. */
void report_charged_values(const struct mkperf_profile *p, uint32_t event,
                           struct mkperf_textout *v);

/* browser.c: whether standard input and output are a terminal on which curses can draw. */
bool report_browser_usable(void);
/* Shows the recording that was read from `path` until the user quits. */
void report_browse(struct mkperf_frames *f, const struct report_options *o, const char *path);

/*
 * The output of `mkperf latency`: latencies and critical paths, as tables for people and as rows for programs.
 *
 * Owns: the form. latency_table.c prints tables, and rows with a separator or as JSON Lines. Both have the same contents. A step of
 * a path names the PD that ran or waited, the reason, and the PD that it served.
 */

struct report_latency {
    const char *title; /* the file, or the target */
    const struct mkperf_latency_rows *rows;
    const struct mkperf_analysis *analysis; /* NULL: latencies of a target */
};

/* Returns the text of a pair, which the caller frees: "client -> server", with the reason of a guest's exit behind `before_exit`. */
char *report_pair(const struct mkperf_latency_row *row, const char *before_exit);
void report_latency_print(const struct report_latency *l, FILE *out);
/* Prints one row per line, beginning with its kind. Times are ns. */
void report_latency_values(const struct report_latency *l, struct mkperf_textout *v);

/* Writes JSON rows "warning", which precede the rows of an analysis: what must be known first, and
 * how many events are missing. */
void report_gap_values(const struct mkperf_analysis *a, struct mkperf_textout *v);

/* title: the time that the path explains. */
void report_path_print(const struct mkperf_analysis *a, const struct mkperf_path *path,
                       const char *title, FILE *out);
/* Prints rows "path" and "step". */
void report_path_values(const struct mkperf_analysis *a, const struct mkperf_path *path,
                        struct mkperf_textout *v);

/* The time of all steps of a path that wait for the same thing or run for the same PD. */
struct report_path_sum {
    size_t first; /* the index of the first one */
    uint64_t ns, times;
};
/* Sums up the steps of a path, most time first. Returns their number. The caller frees *sums. */
size_t report_path_sums(const struct mkperf_path *path, struct report_path_sum **sums);

/* The output of `mkperf latency --path` and --paths. */
struct report_route {
    const struct mkperf_routes *routes;
    const struct mkperf_route_times *times;
    const struct mkperf_flow *flow; /* the queues of the recording */
    size_t worst;                   /* instances of which the critical path is printed */
};
void report_route_print(const struct report_route *r, FILE *out);
/* Prints rows "end-to-end", "path-stage", "path-stage-by", "path-queue", and for each of the worst instances "path" and "step". */
void report_route_values(const struct report_route *r, struct mkperf_textout *v);
/* Prints a line of the table of --paths; NULL prints its head. */
void report_route_line(const struct report_route *r, FILE *out);

/* Stores the text of a step, such as "server runs, for client" or "store is ready, driver runs". */
void report_path_text(const struct mkperf_analysis *a, const struct mkperf_path_step *step,
                      char *text, size_t n);

/*
 * The output of `mkperf flow`, flow_table.c: what limits, and the tables of PDs and queues.
 */
enum { REPORT_FLOW_UNSORTED = 1000 };
extern const char report_flow_columns[]; /* words with blanks between: of PDs, then of queues */
/* Prints what limits, by how much, since when, and the figures that show it. */
void report_flow_answer(const struct mkperf_flow *f, const struct mkperf_flow_limit *l, FILE *to);
/* Prints both tables, and what may be wrong with them. */
void report_flow_tables(const struct mkperf_flow *f, FILE *to);
/* Sorts the PDs or the queues by a column: the number of a word of report_flow_columns. The indices of a struct mkperf_flow_limit
 * that was made before are then wrong. */
void report_flow_sort(struct mkperf_flow *f, unsigned column);

/*
 * The answers of `mkperf explain`: one function for each question about a recording.
 *
 * Owns: the rule that leads to each answer. Every figure comes from the profile, from the analysis of scheduling events, or from
 * the list of warnings; nothing is measured here. answers.c asks the samples and figures, answers_sched.c the events.
 *
 *      recording ─► profile (samples)    ┐    question ─► verdict and text
 *                └► analysis (events)    ├──► PROBLEM     something is wrong, or the figures cannot be trusted
 *      worst call ─► its critical path   ┘    ANSWER      what the recording shows
 *      A, B ─► comparison                     RULED_OUT   what is not the reason, with the figure that shows it
 *                                             UNDECIDED   the recording that would decide it
 *
 * An answer that depends on chance has its interval at 95 %. Times by scheduling events are exact, apart from gaps.
 */
enum report_verdict {
    REPORT_PROBLEM,
    REPORT_ANSWER,
    REPORT_RULED_OUT,
    REPORT_UNDECIDED,
    REPORT_VERDICTS
};

/* What questions are about. */
struct report_question {
    const char *input;
    struct mkperf_profile profile;
    struct mkperf_frames frames;
    /* analysis of scheduling events; NULL: none were recorded */
    const struct mkperf_analysis *events;
    uint64_t span;                        /* ns from the first event to the last */
    struct report_comparison *comparison; /* comparison.h: for `regression`; else NULL */
    struct mkperf_error *e;
};

/* Writes the answer without its full stop. A line's end separates parts. Errors of a second reading of the input are in x->e. */
typedef enum report_verdict report_explain(struct report_question *x, FILE *to);
report_explain report_explain_trust, report_explain_lost, report_explain_names, report_explain_cost,
    report_explain_faults, report_explain_ran, report_explain_time, report_explain_regression,
    report_explain_throughput, report_explain_idle, report_explain_cores, report_explain_call,
    report_explain_wakeups, report_explain_latency, report_explain_budget, report_explain_inversion;

/* Returns whether the scheduling events cannot answer a question. If so, prints which recording
 * would. */
bool report_lacks_events(const struct report_question *x, FILE *to);

/* answers_sched.c: without samples, the PDs that ran longest. */
report_explain report_explain_run_times;

#endif
