/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Where bytes of a target come from: a serial line, a socket, a capture.
 *
 * Owns: opening, reading, writing, closing. Called by the link; independent of frames. A kind of
 * source is one struct of functions and one line in the table in source.c.
 */
#ifndef MKPERF_HOST_LINK_SOURCE_H
#define MKPERF_HOST_LINK_SOURCE_H

#include <stdbool.h>
#include <stddef.h>

#include "base/error.h"

struct mkperf_source;

struct mkperf_source_ops {
    const char *scheme; /* the part before the colon */
    const char *where;  /* the part after it, for the help text */
    const char *help;
    bool interactive; /* a target listens at the other end; otherwise a replay */
    bool network;     /* a second attempt to open may succeed */
    enum mkperf_status (*open)(struct mkperf_source *s, const char *where, struct mkperf_error *e);
    /* Up to n bytes; *got = 0: nothing now. MKPERF_ERR_LINK: the other end is gone; of a replay,
     * its end. */
    enum mkperf_status (*read)(struct mkperf_source *s, void *p, size_t n, size_t *got,
                               struct mkperf_error *e);
    /* All n bytes, or MKPERF_ERR_LINK. NULL if not interactive. */
    enum mkperf_status (*write)(struct mkperf_source *s, const void *p, size_t n,
                                struct mkperf_error *e);
};

struct mkperf_source {
    const struct mkperf_source_ops *ops;
    const char *spec;         /* as given, for messages; not owned */
    int fd;                   /* to poll for reading; -1: closed */
    int listener;             /* of listen:, from the first open to the end; -1: none */
    bool ended;               /* a replay: all of it was read */
    double patience_s;        /* for a connection to be made */
    double accept_s;          /* for a target that dials; 0: without end */
    const volatile int *stop; /* not 0: give up waiting; NULL: never */
    void (*notice)(void *self, const char *text); /* messages for the user; may be NULL */
    void *self;
};

extern const struct mkperf_source_ops *const mkperf_source_kinds[]; /* ends with NULL */

/* A source SCHEME:WHERE that is not open yet, with defaults for how to wait. Errors: USAGE. */
enum mkperf_status mkperf_source_init(struct mkperf_source *s, const char *spec,
                                      struct mkperf_error *e);
/*
 * Opens it, again after mkperf_source_close. Errors: USAGE for the spec, INPUT with the system's
 * reason, LINK if there is no listener (now).
 */
enum mkperf_status mkperf_source_open(struct mkperf_source *s, struct mkperf_error *e);
void mkperf_source_close(struct mkperf_source *s); /* idempotent; may be opened again */
void mkperf_source_end(struct mkperf_source *s);   /* closes permanently; idempotent */

/* For kinds that are a non-blocking descriptor. */
enum mkperf_status mkperf_source_fd_read(struct mkperf_source *s, void *p, size_t n, size_t *got,
                                         struct mkperf_error *e);
enum mkperf_status mkperf_source_fd_write(struct mkperf_source *s, const void *p, size_t n,
                                          struct mkperf_error *e);
/* Waits for a descriptor: 0, or ETIMEDOUT (seconds; 0: never), or EINTR: the user stops it. */
int mkperf_source_wait(const struct mkperf_source *s, int fd, short events, double seconds);
void mkperf_source_say(const struct mkperf_source *s, const char *text);

extern const struct mkperf_source_ops mkperf_source_serial;
extern const struct mkperf_source_ops mkperf_source_unix;
extern const struct mkperf_source_ops mkperf_source_tcp;
extern const struct mkperf_source_ops mkperf_source_listen;
extern const struct mkperf_source_ops mkperf_source_sddf;
extern const struct mkperf_source_ops mkperf_source_file;

#endif
