/* SPDX-License-Identifier: BSD-2-Clause */
/* Owns: connections, and the decision whether a request gets an answer. answer.c makes the answers. See view.h. */
#include "view.h"

#include <arpa/inet.h>
#include <sys/random.h>
#include <sys/socket.h>

struct view_http view_http;

enum mkperf_status view_http_load(struct mkperf_error *e)
{
    static const char *const names[] = {VIEW_HTTP_FUNCTIONS(VIEW_HTTP_NAME) NULL};

    return mkperf_library_load("libmicrohttpd.so.12", names, &view_http, e);
}

enum { IDLE_S = 30, REQUEST_BYTES = 16 * 1024, WAIT_MS = 100 };

static void on_connection(void *self, struct MHD_Connection *connection, void **context,
                          enum MHD_ConnectionNotificationCode what)
{
    struct view_server *s = self;
    struct view_connection *c = *context, *place = NULL,
                           *oldest = NULL; /* oldest: of the silent ones */
    unsigned n = 0;

    if (what == MHD_CONNECTION_NOTIFY_CLOSED) {
        c->open = false;
        return;
    }
    for (unsigned i = 0; i < VIEW_CONNECTIONS; i++) {
        struct view_connection *other = &s->connection[i];
        n += other->open;
        place = other->open ? place : other;
        if (other->open && other->silent && (oldest == NULL || other->number < oldest->number)) {
            oldest = other;
        }
    }
    assert(place != NULL); /* the daemon has as many places */
    if (n + 2 > VIEW_CONNECTIONS && oldest != NULL) {
        shutdown(oldest->fd, SHUT_RDWR); /* the daemon reads its end, and closes it */
        oldest->silent = false;
    }
    *place = (struct view_connection){
        .fd = view_http.get_connection_info(connection, MHD_CONNECTION_INFO_CONNECTION_FD)
                  ->connect_fd,
        .number = ++s->connections,
        .open = true,
        .silent = true};
    *context = place;
}

static enum MHD_Result on_request(void *self, struct MHD_Connection *c, const char *url,
                                  const char *method, const char *version, const char *upload,
                                  size_t *upload_size, void **state)
{
    const struct view_server *s = self;

    (void)version, (void)upload, (void)upload_size, (void)state;
    /* The connection has sent a request, so it is not closed for another one. */
    struct view_connection *connection =
        view_http.get_connection_info(c, MHD_CONNECTION_INFO_SOCKET_CONTEXT)->socket_context;
    connection->silent = false;
    const char *host = view_http.lookup_connection_value(c, MHD_HEADER_KIND, "Host");
    char address[32], local[32];
    snprintf(address, sizeof address, "127.0.0.1:%u", s->port);
    snprintf(local, sizeof local, "localhost:%u", s->port);
    bool here = host != NULL && (strcmp(host, address) == 0 || strcmp(host, local) == 0);
    /* The comparison with the token takes the same time wherever they differ. */
    bool whole = url[0] == '/' && strnlen(url, VIEW_TOKEN + 2) == VIEW_TOKEN + 2;
    unsigned char difference = 0;
    for (size_t i = 0; i < VIEW_TOKEN && whole; i++) {
        difference |= (unsigned char)(url[1 + i] ^ s->token[i]);
    }
    if (!here || !whole || difference != 0 || url[1 + VIEW_TOKEN] != '/') {
        return view_answer_problem(c, MHD_HTTP_FORBIDDEN, "not with this address");
    }
    if (strcmp(method, "GET") != 0 && strcmp(method, "HEAD") != 0) {
        return view_answer_problem(c, MHD_HTTP_METHOD_NOT_ALLOWED, "only GET");
    }
    return view_answer(s, c, url + 1 + VIEW_TOKEN + 1);
}

enum mkperf_status view_server_start(struct view_server *s, struct mkperf_error *e)
{
    struct sockaddr_in here = {.sin_family = AF_INET,
                               .sin_port = htons(s->port),
                               .sin_addr.s_addr = htonl(INADDR_LOOPBACK)};
    const union MHD_DaemonInfo *info;

    uint8_t random[VIEW_TOKEN / 2];

    MKPERF_TRY(view_http_load(e));
    MKPERF_FAIL_IF(getrandom(random, sizeof random, 0) != sizeof random, e, MKPERF_ERR_FAILED,
                   "no random numbers: %s", strerror(errno));
    mkperf_hex(random, sizeof random, s->token);
    errno = 0;
    s->daemon = view_http.start_daemon(
        MHD_USE_AUTO, s->port, NULL, NULL, on_request, s, MHD_OPTION_SOCK_ADDR, &here,
        MHD_OPTION_CONNECTION_LIMIT, (unsigned)VIEW_CONNECTIONS, MHD_OPTION_CONNECTION_TIMEOUT,
        (unsigned)IDLE_S, MHD_OPTION_CONNECTION_MEMORY_LIMIT, (size_t)REQUEST_BYTES,
        MHD_OPTION_NOTIFY_CONNECTION, on_connection, s, MHD_OPTION_END);
    MKPERF_FAIL_IF(!s->daemon, e, MKPERF_ERR_FAILED, "127.0.0.1:%u: cannot listen: %s", s->port,
                   errno ? strerror(errno) : "is the port taken?");
    info = view_http.get_daemon_info(s->daemon, MHD_DAEMON_INFO_BIND_PORT);
    s->port = info ? info->port : s->port;
    return MKPERF_OK;
}

void view_server_run(struct view_server *s, const volatile int *stop)
{
    while (*stop == 0) {
        view_http.run_wait(s->daemon, WAIT_MS);
    }
}

void view_server_poll(void *server)
{
    view_http.run_wait(((const struct view_server *)server)->daemon, 0);
}

void view_server_stop(struct view_server *s)
{
    if (s->daemon) {
        view_http.stop_daemon(s->daemon);
        s->daemon = NULL;
    }
}
