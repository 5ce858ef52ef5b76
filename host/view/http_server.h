/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The server of mkperf view: HTTP on loopback, for users who have the address.
 *
 * Owns: the connections, the token, valid requests. One thread, one request after the other. Every
 * path begins with the token (128 random bits); without it the answer is 403. The Host must be the
 * loopback address that was printed, so that another site's name that points here gets nothing.
 * Nothing is loaded from outside (Content-Security-Policy), nothing may embed or read the page (no
 * CORS headers).
 */
#ifndef MKPERF_HOST_VIEW_HTTP_SERVER_H
#define MKPERF_HOST_VIEW_HTTP_SERVER_H

#include "page/container.h"
#include "symbols/symbols.h"

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
    /* Set before. Each gives a container (page/container.h) or a text; the server frees what it
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

#endif
