/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The parts of mkperf view: the server, its answers, a recording that is shown, and a running target.
 */
#ifndef MKPERF_HOST_VIEW_VIEW_H
#define MKPERF_HOST_VIEW_VIEW_H

#include <microhttpd.h>

#include "annotate/annotate.h"
#include "link/recorder.h"
#include "model/interactions.h"
#include "page/page.h"
#include "profile/frames.h"
#include "profile/profile.h"
#include "symbols/symbols.h"

/*
 * The server of mkperf view: HTTP on loopback, for users who have the address.
 *
 * Owns: the connections, the token, valid requests. One thread, one request after the other. Every
 * path begins with the token (128 random bits); without it the answer is 403. The Host must be the
 * loopback address that was printed, so that another site's name that points here gets nothing.
 * Nothing is loaded from outside (Content-Security-Policy), nothing may embed or read the page (no
 * CORS headers).
 */

struct MHD_Daemon;

enum { VIEW_TOKEN = 32, VIEW_FILES_MAX = 64, VIEW_CONNECTIONS = 32 };

/* Those that have not sent a request are silent. When nearly all places are taken, the oldest of
 * them makes room for a new one. */
struct view_connection {
    int fd;
    uint64_t number; /* in the order of arrival */
    bool open, silent;
};

struct view_server {
    /* Set before. Each gives a container (page/page.h) or a text; the server frees what it
     * gets. `*kept`: this one stays valid until the server stops, and is not freed. */
    struct page_bytes (*data)(void *self, bool base, bool *kept); /* n 0: there is none */
    /* page_schedule_stretch; n 0: nothing can be said about from..to */
    struct page_bytes (*stretch)(void *self, uint64_t from, uint64_t to, uint64_t most);
    bool (*code)(void *self, uint64_t function, bool base, FILE *out); /* false: no such function */
    void *self;
    const char *path;              /* set before: the recording, NULL: live */
    const char *speedscope;        /* set before: directory of its release, NULL */
    struct mkperf_elf_search elfs; /* set before: for the recording */
    uint16_t port;                 /* set before: 0 = any; then the one that it has */
    char token[VIEW_TOKEN + 1];
    struct MHD_Daemon *daemon;
    char *file[VIEW_FILES_MAX]; /* names in the directory of speedscope */
    unsigned nfiles;
    struct view_connection connection[VIEW_CONNECTIONS];
    uint64_t connections; /* so far */
};

/* Errors: FAILED with the port and the reason. */
enum mkperf_status view_server_start(struct view_server *s, struct mkperf_error *e);
void view_server_run(struct view_server *s, const volatile int *stop); /* until *stop is not 0 */
void view_server_poll(struct view_server *s); /* answers what is waiting, and waits for nothing */
void view_server_stop(struct view_server *s);

/*
 * What is answered to a request that may ask.
 *
 * Owns: paths below the token, their parameters, response headers. Called by http_server.c.
 */

enum MHD_Result view_answer(const struct view_server *s, struct MHD_Connection *c,
                            const char *path);
enum MHD_Result view_answer_problem(struct MHD_Connection *c, unsigned status, const char *text);

/*
 * A recording that mkperf view shows.
 *
 * Owns: its profile, and the container that was made of it. The code of its functions, and scheduling in
 * a stretch of time if it is too much for a page, are asked for later.
 */

struct view_shown {
    struct mkperf_profile profile;
    struct mkperf_frames frames;
    struct mkperf_interactions *interactions; /* NULL: not recorded */
    struct annotate_sources sources;
    struct page_bytes data;
    struct page_schedule schedule; /* of data */
    uint64_t first_ns, last_ns;    /* the page's time */
};

/* Reads the recording at path. Free it in any case. */
enum mkperf_status view_shown_read(struct view_shown *s, const char *path,
                                   const struct mkperf_elf_search *elfs, bool speedscope,
                                   struct mkperf_error *e);
/* page_schedule_stretch of it; empty as well if the page has all of it, or from..to is not in it. */
struct page_bytes view_shown_stretch(const struct view_shown *s, uint64_t from, uint64_t to,
                                     uint64_t most);
void view_shown_free(struct view_shown *s);

/*
 * What the page of a running target shows of its scheduling: the newest part, without a hole.
 *
 * Owns: which part that is. What was before it is not known any more: each PD has an interval of that, and
 * each core a gap. A PD is in the state that it has now until the last event. Called by live.c.
 */

/* Leaves out the records of an array of n for which `keep`, which may use i, is false. */
#define VIEW_KEEP(array, n, keep)              \
    do {                                       \
        size_t kept_ = 0;                      \
        for (size_t i = 0; i < (n); i++) {     \
            if (keep) {                        \
                (array)[kept_++] = (array)[i]; \
            }                                  \
        }                                      \
        (n) = kept_;                           \
    } while (0)

struct view_live_schedule {
    struct mkperf_interval *interval;
    struct mkperf_schedule_call *call;
    struct mkperf_core_interval *gap;
    struct mkperf_woken *woken;
    struct page_schedule shown; /* of the arrays above */
};

/* most: intervals, calls and wakings of each. from_ns: where the page's time begins. Free it. */
void view_live_schedule_take(struct view_live_schedule *s, struct mkperf_profile *p, size_t most,
                             uint64_t from_ns);
void view_live_schedule_free(struct view_live_schedule *s);

/*
 * mkperf view of a running target: samples as they arrive.
 *
 * Owns: the session with the target, and the profile that grows. All samples are kept in a temporary
 * file (base/spool.h); a page gets the newest VIEW_LIVE_SAMPLES and the
 * number of older ones, which it shows. Between reads the server answers requests.
 */

enum { VIEW_LIVE_SAMPLES = 200000, VIEW_LIVE_LOSSES = 1000 };

struct view_live {
    volatile int *interrupts;        /* set before: not 0 ends it */
    struct mkperf_recorder recorder; /* its options: set before */
    struct mkperf_profile profile;
    struct mkperf_frames frames;
    struct annotate_sources sources;
    struct view_server *server;
};

/* Runs until it is interrupted or the session ends, with a server that was started. Errors: those
 * of mkperf_recorder_run and its kin. Free it in any case. */
enum mkperf_status view_live_run(struct view_live *l, struct view_server *server,
                                 struct mkperf_error *e);
void view_live_free(struct view_live *l);

/* For the server. */
struct page_bytes view_live_data(struct view_live *l);

#endif
