/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Owns: uploads to servers, see agent.h.
 *
 * A window stays in its outbox until the server has accepted it. A server that is gone is tried again with growing pauses. A window
 * that the server does not accept (status 4xx, except those that ask for a later attempt) is removed and counted.
 */
#include "agent.h"

#include <curl/curl.h>
#include <math.h>

enum { PUSH_TICK_MS = 100, URL_BYTES = 2048, ANSWER_BYTES = 256, HEADER_BYTES = 4096 };
/* The first digit of a status is its class: 2 means accepted, 4 means refused. */
enum { HTTP_CLASS = 100, HTTP_ACCEPTED = 200, HTTP_REFUSED = 400 };
static const double PUSH_PAUSE_S = 1, PUSH_PAUSE_MAX_S = 60;
static const long CONNECT_S = 10, WHOLE_S = 60;

/* libcurl, which takes long to load. Its type checks of options are macros, which a call by pointer does not use. */
#define PUSH_FUNCTIONS(X) \
    X(global_init)        \
    X(easy_init)          \
    X(easy_cleanup)       \
    X(easy_reset)         \
    X(easy_setopt)        \
    X(easy_perform)       \
    X(easy_getinfo)       \
    X(easy_escape)        \
    X(free)               \
    X(mime_init)          \
    X(mime_addpart)       \
    X(mime_name)          \
    X(mime_filename)      \
    X(mime_data)          \
    X(mime_free)          \
    X(slist_append)       \
    X(slist_free_all)
/* NOLINTNEXTLINE(bugprone-macro-parentheses): declares a member */
#define PUSH_MEMBER(name) __typeof__(curl_##name) *name;
#define PUSH_NAME(name) "curl_" #name,
static struct {
    PUSH_FUNCTIONS(PUSH_MEMBER)
} library;

enum mkperf_status agent_push_load(struct mkperf_error *e)
{
    static const char *const names[] = {PUSH_FUNCTIONS(PUSH_NAME) NULL};

    MKPERF_TRY(mkperf_library_load("libcurl.so.4", names, &library, e));
    library.global_init(CURL_GLOBAL_DEFAULT);
    return MKPERF_OK;
}

struct answer {
    size_t n;
    char text[ANSWER_BYTES];
};

/* Returns what the server states; the begin is kept for the message. */
static size_t take_answer(char *p, size_t size, size_t n, void *self)
{
    struct answer *a = self;
    size_t more = size * n < sizeof a->text - 1 - a->n ? size * n : sizeof a->text - 1 - a->n;

    memcpy(a->text + a->n, p, more);
    a->n += more;
    a->text[a->n] = '\0';
    return size * n;
}

/* Converts a window into the server's format, in memory. */
static char *convert(const struct agent_outbox *o, const char *name, const struct agent_name *w,
                     size_t *n, struct mkperf_error *e)
{
    char *from = mkperf_xprintf("%s/%s", o->directory, name), *body;
    FILE *to = mkperf_memstream_open(&body, n);
    const struct mkperf_export x = {.to = to,
                                    .input = from,
                                    .service = o->agent->service,
                                    .target = w->target,
                                    .unix_ns = w->unix_ms * 1000000,
                                    .elfs = agent_elfs(o->agent, w->unix_ms)};
    enum mkperf_status status =
        mkperf_format_convert(o->kind == AGENT_OTLP ? "otlp" : "pprof", &x, e);

    mkperf_memstream_close(to);
    free(from);
    if (status != MKPERF_OK) {
        free(body);
        body = NULL;
    }
    return body;
}

/* Makes the URL for a window. Pyroscope's has names and times in it. */
static void make_url(const struct agent_outbox *o, CURL *curl, const struct agent_name *w,
                     char url[URL_BYTES])
{
    size_t n = strlen(o->url);
    int base = (int)(n > 0 && o->url[n - 1] == '/' ? n - 1 : n);
    bool own = strchr(strstr(o->url, "://") + 3, '/') != NULL &&
               o->url[n - 1] != '/'; /* it has a path */
    char app[2 * MKPERF_MODEL_NAME + 64];

    if (o->kind == AGENT_OTLP) {
        snprintf(url, URL_BYTES, "%.*s%s", base, o->url, own ? "" : "/v1development/profiles");
        return;
    }
    snprintf(app, sizeof app, "%.63s{target=\"%s\"}", o->agent->service, w->target);
    char *escaped = library.easy_escape(curl, app, 0);
    snprintf(url, URL_BYTES,
             "%.*s%s?name=%s&from=%" PRIu64 "&until=%" PRIu64 "&format=pprof&spyName=mkperf", base,
             o->url, own ? "" : "/ingest", escaped, w->unix_ms / 1000,
             (w->unix_ms + (uint64_t)(o->agent->window_s * 1000) + 999) / 1000);
    library.free(escaped);
}

/* Sends one request, without the lock. Returns the server's status; 0: there was no answer, for the reason in *e. */
static long post(const struct agent_outbox *o, CURL *curl, const char *url, const char *body,
                 size_t n, struct mkperf_error *e)
{
    struct answer answer = {.n = 0};
    char why[CURL_ERROR_SIZE] = "";
    curl_mime *form = NULL;
    struct curl_slist *headers = NULL;
    long status = 0;

    if (o->agent->header_file != NULL) { /* such as "Authorization: Bearer ..." */
        char line[HEADER_BYTES];
        size_t length;

        if (mkperf_secret_read(o->agent->header_file, (uint8_t *)line, sizeof line - 1, &length,
                               e) != MKPERF_OK) {
            return 0;
        }
        line[length] = '\0';
        line[strcspn(line, "\r\n")] = '\0';
        headers = library.slist_append(headers, line);
        mbedtls_platform_zeroize(line, sizeof line);
    }
    library.easy_reset(curl);
    library.easy_setopt(curl, CURLOPT_URL, url);
    library.easy_setopt(curl, CURLOPT_NOSIGNAL, 1L);
    library.easy_setopt(curl, CURLOPT_CONNECTTIMEOUT, CONNECT_S);
    library.easy_setopt(curl, CURLOPT_TIMEOUT, WHOLE_S);
    library.easy_setopt(curl, CURLOPT_ERRORBUFFER, why);
    library.easy_setopt(curl, CURLOPT_WRITEFUNCTION, take_answer);
    library.easy_setopt(curl, CURLOPT_WRITEDATA, &answer);
    library.easy_setopt(curl, CURLOPT_USERAGENT, "mkperf");
    if (o->kind == AGENT_OTLP) {
        headers = library.slist_append(headers, "Content-Type: application/x-protobuf");
        headers = library.slist_append(headers, "Content-Encoding: gzip");
        library.easy_setopt(curl, CURLOPT_POSTFIELDS, body);
        library.easy_setopt(curl, CURLOPT_POSTFIELDSIZE_LARGE, (curl_off_t)n);
    } else {
        form = library.mime_init(curl);
        curl_mimepart *part = library.mime_addpart(form);
        library.mime_name(part, "profile");
        library.mime_filename(part, "profile.pprof");
        library.mime_data(part, body, n);
        library.easy_setopt(curl, CURLOPT_MIMEPOST, form);
    }
    library.easy_setopt(curl, CURLOPT_HTTPHEADER, headers);
    if (library.easy_perform(curl) != CURLE_OK) {
        mkperf_error_set(e, MKPERF_ERR_LINK, "%s: %s", o->spec, why);
    } else {
        library.easy_getinfo(curl, CURLINFO_RESPONSE_CODE, &status);
        mkperf_printable(answer.text);
        mkperf_error_set(e, MKPERF_ERR_REFUSED, "%s: status %ld: %s", o->spec, status, answer.text);
    }
    library.mime_free(form);
    library.slist_free_all(headers);
    return status;
}

/* Returns whether no later attempt with this window can succeed. A wrong key is not the window's fault. */
static bool is_refusal(long status)
{
    static const long later[] = {401, 403, 408, 425, 429}; /* a key, a timeout, too early or many */
    bool refusal = status / HTTP_CLASS == HTTP_REFUSED / HTTP_CLASS;

    for (size_t i = 0; i < sizeof later / sizeof *later; i++) {
        refusal &= status != later[i];
    }
    return refusal;
}

/* Sends the oldest window. Returns whether the next one can be sent at once. */
static bool push_oldest(struct agent_outbox *o, CURL *curl)
{
    struct mkperf_error e = {.status = MKPERF_OK};
    char *name = mkperf_xstrdup(STAILQ_FIRST(&o->waiting)->name), url[URL_BYTES];
    size_t n = 0;
    long status = HTTP_REFUSED; /* the status for a window that cannot be converted */
    struct agent_name w;
    (void)agent_name_parse(name, &w);
    char *body = convert(o, name, &w, &n, &e);

    if (body != NULL) {
        make_url(o, curl, &w, url);
        mkperf_turn_give();
        status = post(o, curl, url, body, n, &e);
        mkperf_turn_take();
    }
    /* A window that was given up during its upload stays counted as that, also if the server has accepted it. */
    const struct agent_waiting *first = STAILQ_FIRST(&o->waiting);
    bool there = first != NULL && strcmp(first->name, name) == 0;
    bool sent = status / HTTP_CLASS == HTTP_ACCEPTED / HTTP_CLASS, refused = is_refusal(status);
    o->failures += !sent;
    if (refused || (!sent && o->failures == 1)) {
        mkperf_print_line(stderr, "mkperf agent: %s", e.text);
    }
    if (there && (sent || refused)) {
        o->sent += sent;
        o->refused += refused;
        o->refused_samples += refused ? first->samples : 0;
        agent_outbox_drop(o);
    }
    free(body);
    free(name);
    return sent || refused;
}

static void *push_always(void *self)
{
    struct agent_outbox *o = self;
    CURL *curl = library.easy_init();
    double pause = PUSH_PAUSE_S;

    mkperf_turn_take();
    while (!o->agent->ending && curl != NULL) {
        if (STAILQ_EMPTY(&o->waiting)) {
            mkperf_poll(NULL, 0, PUSH_TICK_MS);
        } else if (push_oldest(o, curl)) {
            pause = PUSH_PAUSE_S;
        } else {
            for (double until = mkperf_now_s() + pause;
                 !o->agent->ending && mkperf_now_s() < until;) {
                mkperf_poll(NULL, 0, PUSH_TICK_MS);
            }
            pause = fmin(2 * pause, PUSH_PAUSE_MAX_S);
        }
    }
    mkperf_turn_give();
    library.easy_cleanup(curl);
    return NULL;
}

void agent_push_start(struct agent *a, struct agent_outbox *o)
{
    o->agent = a;
    if (pthread_create(&o->thread, NULL, push_always, o) != 0) {
        mkperf_die();
    }
    o->has_thread = true;
}

void agent_push_join(struct agent_outbox *o)
{
    if (o->has_thread) {
        mkperf_turn_give();
        pthread_join(o->thread, NULL);
        mkperf_turn_take();
        o->has_thread = false;
    }
}
