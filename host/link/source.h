/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * A source of a target's bytes: a serial line, a socket, a capture.
 *
 * Owns: opening, reading, writing, closing. Called by the connection; it knows nothing of frames. A kind
 * of source is a row of the table in source.c, and the function that opens it.
 */
#ifndef MKPERF_HOST_LINK_SOURCE_H
#define MKPERF_HOST_LINK_SOURCE_H

#include "base/base.h"

struct mkperf_source;

typedef enum mkperf_status mkperf_source_open_fn(struct mkperf_source *s, const char *where,
                                                 struct mkperf_error *e);

struct mkperf_source_ops {
    const char *scheme; /* the part before the colon */
    const char *where;  /* the part after it, for the help text */
    const char *help;
    bool interactive; /* a target is at the other end; otherwise it is a replay */
    bool network;     /* a second attempt to open may succeed */
    mkperf_source_open_fn *open;
    /* Reads up to n bytes. *got = 0: none have arrived. MKPERF_ERR_LINK: the other end is gone, or the
     * replay has ended. */
    enum mkperf_status (*read)(struct mkperf_source *s, void *p, size_t n, size_t *got,
                               struct mkperf_error *e);
    /* Writes all n bytes, or fails with MKPERF_ERR_LINK. NULL: the source is not interactive. */
    enum mkperf_status (*write)(struct mkperf_source *s, const void *p, size_t n,
                                struct mkperf_error *e);
};

struct mkperf_source {
    const struct mkperf_source_ops *ops;
    const char *spec;         /* as given, for messages; not owned */
    int fd;                   /* to poll for reading; -1: closed */
    int listener;             /* of listen:, from the first open to the end; -1: none */
    bool ended;               /* a replay was read to its end */
    double patience_s;        /* how long to wait for a connection */
    double accept_s;          /* how long to wait for a target that dials out; 0: without end */
    const volatile int *stop; /* not 0: stop waiting; may be NULL */
    void (*notice)(void *self, const char *text); /* messages for the user; may be NULL */
    void *self;
};

extern const struct mkperf_source_ops mkperf_source_kinds[]; /* the last has no scheme */

/* Makes a closed source of SCHEME:WHERE, with defaults for waiting. Errors: USAGE. */
enum mkperf_status mkperf_source_init(struct mkperf_source *s, const char *spec,
                                      struct mkperf_error *e);
/*
 * Opens a source, also again after mkperf_source_close. Errors: USAGE: an invalid WHERE; INPUT with the
 * system's reason; LINK: nothing listens there at present.
 */
enum mkperf_status mkperf_source_open(struct mkperf_source *s, struct mkperf_error *e);
void mkperf_source_close(struct mkperf_source *s); /* idempotent; may be opened again */
void mkperf_source_end(struct mkperf_source *s);   /* closes permanently; idempotent */

/* ---- source_line.c: for kinds with a non-blocking descriptor ---- */

enum mkperf_status mkperf_source_fd_read(struct mkperf_source *s, void *p, size_t n, size_t *got,
                                         struct mkperf_error *e);
enum mkperf_status mkperf_source_fd_write(struct mkperf_source *s, const void *p, size_t n,
                                          struct mkperf_error *e);
/* Waits for a descriptor. Returns 0, ETIMEDOUT after some seconds (0: never), or EINTR: the user stops it. */
int mkperf_source_wait(const struct mkperf_source *s, int fd, short events, double seconds);
void mkperf_source_say(const struct mkperf_source *s, const char *text);

/* ---- what the table in source.c refers to ---- */

mkperf_source_open_fn mkperf_open_serial, mkperf_open_unix, mkperf_open_sddf, mkperf_open_file;
mkperf_source_open_fn mkperf_open_tcp, mkperf_open_listen;
enum mkperf_status mkperf_write_sddf(struct mkperf_source *s, const void *p, size_t n,
                                     struct mkperf_error *e);
enum mkperf_status mkperf_read_file(struct mkperf_source *s, void *p, size_t n, size_t *got,
                                    struct mkperf_error *e);

/* ---- source_network.c: HOST[:PORT] and connections ---- */

enum { MKPERF_NET_PORT = 1236, MKPERF_NET_HOST = 256, MKPERF_NET_PORT_TEXT = 6 };

struct mkperf_net_address {
    char host[MKPERF_NET_HOST]; /* "": none was given */
    char port[MKPERF_NET_PORT_TEXT];
};

/*
 * "board", "board:99", "10.0.0.2", "::1" (two colons and no brackets: no port), "[::1]:99".
 * lone_port: text with only a number is the port, and the port is required, as for listen:. False: text
 * has another form.
 */
bool mkperf_net_address_parse(const char *text, bool lone_port, struct mkperf_net_address *a);

/* Makes a socket send small messages at once, and notice that its peer is gone while nothing is sent. */
void mkperf_net_tune(int fd);

#endif
