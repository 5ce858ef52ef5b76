/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The parts of mkperf view: the server, its answers, a recording that is shown, and a running target.
 */
#ifndef MKPERF_HOST_VIEW_VIEW_H
#define MKPERF_HOST_VIEW_VIEW_H

#include <microhttpd.h>

#include "link/recorder.h"
#include "page/page.h"

/*
 * The server of mkperf view: HTTP on loopback, for users who have the address.
 *
 * Owns: the connections, the token, valid requests. One thread, one request after the other. Every
 * path begins with the token (128 random bits); without it the answer is 403. The Host must be the
 * loopback address that was printed, so that another site's name that points here gets nothing.
 * Nothing is loaded from outside (Content-Security-Policy), nothing may embed or read the page (no
 * CORS headers).
 */

/*
 * libmicrohttpd. A server loads it before it starts, mkperf agent's server of metrics as well. Every command would start
 * more slowly if it was linked: it and its TLS library take as long to load as the rest of mkperf.
 */
#define VIEW_HTTP_FUNCTIONS(X)     \
    X(start_daemon)                \
    X(stop_daemon)                 \
    X(get_daemon_info)             \
    X(run_wait)                    \
    X(get_connection_info)         \
    X(lookup_connection_value)     \
    X(create_response_from_buffer) \
    X(create_response_from_fd)     \
    X(add_response_header)         \
    X(queue_response)              \
    X(destroy_response)
/* NOLINTNEXTLINE(bugprone-macro-parentheses): declares a member */
#define VIEW_HTTP_MEMBER(name) __typeof__(MHD_##name) *name;
#define VIEW_HTTP_NAME(name) "MHD_" #name,
extern struct view_http {
    VIEW_HTTP_FUNCTIONS(VIEW_HTTP_MEMBER)
} view_http;
enum mkperf_status view_http_load(struct mkperf_error *e); /* Errors: FAILED, it is not there. */

enum { VIEW_TOKEN = 32, VIEW_CONNECTIONS = 32 };

/* A connection is silent until it sends a request. When nearly all places are taken, the oldest silent connection is closed. */
struct view_connection {
    int fd;
    uint64_t number; /* larger than that of each earlier connection */
    bool open, silent;
};

struct view_server {
    /* The next members, up to `port`, are set before the server starts. */
    struct view_shown *shown; /* the recording, and those that are compared with it */
    unsigned nshown;
    struct view_live *live;        /* a running target, without a recording; NULL */
    const char *path;              /* path of the recording */
    const char *speedscope;        /* the directory of speedscope's release; NULL: none */
    struct mkperf_elf_search elfs; /* where the recording's ELFs are */
    uint16_t port;                 /* 0: any; the server stores the port that it has */
    char token[VIEW_TOKEN + 1];
    struct MHD_Daemon *daemon;
    struct view_connection connection[VIEW_CONNECTIONS];
    uint64_t connections; /* the number of connections so far */
};

/* Errors: FAILED, with the port and the reason. */
enum mkperf_status view_server_start(struct view_server *s, struct mkperf_error *e);
void view_server_run(struct view_server *s, const volatile int *stop); /* until *stop is not 0 */
/* Answers the requests that have arrived, and returns. `server` is a struct view_server. */
void view_server_poll(void *server);
void view_server_stop(struct view_server *s);

/*
 * The answers to requests with the right token and Host.
 *
 * Owns: the paths behind the token, their parameters, the headers of responses. Called by http_server.c.
 */

enum MHD_Result view_answer(const struct view_server *s, struct MHD_Connection *c,
                            const char *path);
enum MHD_Result view_answer_problem(struct MHD_Connection *c, unsigned status, const char *text);

/*
 * A recording that mkperf view shows.
 *
 * Owns: its profile, and the container that is made of it. The page asks later for the code of functions, and for stretches of
 * time if the recording has more intervals than a page can show.
 */

struct view_shown {
    const char *path;
    bool speedscope; /* the page has a link to speedscope */
    struct mkperf_profile profile;
    struct mkperf_frames frames;
    struct annotate_sources sources;
    struct page_input in;
    struct page_bytes data; /* made of `in` */
};

/* Reads the recording at `path`. view_shown_free follows, also after an error. */
enum mkperf_status view_shown_read(struct view_shown *s, const char *path,
                                   const struct mkperf_elf_search *elfs, bool speedscope,
                                   struct mkperf_error *e);
void view_shown_free(struct view_shown *s);

/*
 * The newest part of the scheduling of a running target, for its page. The part has no hole.
 *
 * Owns: the choice of this part. Each PD has an interval of unknown state for the time before it, and each core has a gap. The
 * state that a PD has now lasts until the last event. Called by live.c.
 */

/* Copies at most `most` intervals, calls, gaps and wakings. The page's time begins at from_ns. view_live_schedule_free follows. */
struct page_schedule view_live_schedule(struct mkperf_profile *p, size_t most, uint64_t from_ns);
void view_live_schedule_free(struct page_schedule *s);

/*
 * mkperf view of a running target.
 *
 * Owns: the session with the target, and the profile that grows. All samples are kept in a temporary file (base/spool.c). A page
 * gets the newest VIEW_LIVE_SAMPLES, and the number of older ones. The server answers requests between reads from the target.
 */

enum { VIEW_LIVE_SAMPLES = 200000, VIEW_LIVE_LOSSES = 1000 };

struct view_live {
    struct mkperf_recorder
        recorder; /* the caller sets its options, stop, progress, and self, which progress gets */
    struct mkperf_profile profile;
    struct mkperf_frames frames;
    struct annotate_sources sources;
};

/* Runs until it is interrupted or the session ends. The server was started, and `progress` answers its requests. Errors are those
 * of the functions of link/recorder.h. view_live_free follows, also after an error. */
enum mkperf_status view_live_run(struct view_live *l, struct mkperf_error *e);
void view_live_free(struct view_live *l);

/* Returns the container that the server sends. */
struct page_bytes view_live_data(struct view_live *l);

#endif
