/* SPDX-License-Identifier: BSD-2-Clause */
/* Owns: see http_server_internal.h. */
#include "http_server_internal.h"

#include <ctype.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "export/formats.h"
#include "page.h"
#include "perfdata/reader.h"
#include "view_json.h"

static const char own_policy[] = "default-src 'none'; script-src 'self'; style-src 'self'; img-src "
                                 "'self' data:; connect-src 'self'; "
                                 "base-uri 'none'; form-action 'none'; frame-ancestors 'none'";
/* speedscope writes styles and compiles WebAssembly; it may still load from here only. */
static const char speedscope_policy[] =
    "default-src 'none'; script-src 'self' 'wasm-unsafe-eval'; style-src 'self' 'unsafe-inline'; "
    "img-src 'self' data:; font-src 'self' data:; connect-src 'self' data:; worker-src 'self'; "
    "base-uri 'none'; form-action 'none'; frame-ancestors 'none'";

static const char json_type[] = "application/json";
static const char data_prefix[] = "data/", speedscope_prefix[] = "speedscope/";

/* Sends and gives up the response. */
static enum MHD_Result reply(struct MHD_Connection *c, unsigned status, struct MHD_Response *r,
                             const char *type, const char *policy)
{
    enum MHD_Result result;

    if (!r) {
        return MHD_NO;
    }
    MHD_add_response_header(r, "Content-Type", type);
    MHD_add_response_header(r, "Content-Security-Policy", policy);
    MHD_add_response_header(r, "X-Content-Type-Options", "nosniff");
    MHD_add_response_header(r, "Referrer-Policy", "no-referrer");
    MHD_add_response_header(r, "Cross-Origin-Resource-Policy", "same-origin");
    MHD_add_response_header(r, "Cross-Origin-Opener-Policy", "same-origin");
    MHD_add_response_header(r, "Cache-Control", "no-store");
    result = MHD_queue_response(c, status, r);
    MHD_destroy_response(r);
    return result;
}

enum MHD_Result view_answer_problem(struct MHD_Connection *c, unsigned status, const char *text)
{
    return reply(c, status,
                 MHD_create_response_from_buffer(strlen(text), (void *)(uintptr_t)text,
                                                 MHD_RESPMEM_MUST_COPY),
                 "text/plain; charset=utf-8", own_policy);
}

static enum MHD_Result answer_page(struct MHD_Connection *c, const struct view_page *p)
{
    return reply(c, MHD_HTTP_OK,
                 MHD_create_response_from_buffer((size_t)(p->end - p->begin),
                                                 (void *)(uintptr_t)p->begin,
                                                 MHD_RESPMEM_PERSISTENT),
                 p->type, own_policy);
}

/* A parameter's number, up to max; absent: leaves *out and *has. False: it is none. */
static bool number(struct MHD_Connection *c, const char *name, uint64_t max, uint64_t *out,
                   bool *has)
{
    const char *text = MHD_lookup_connection_value(c, MHD_GET_ARGUMENT_KIND, name);
    char *end;

    if (!text) {
        return true;
    }
    errno = 0;
    *out = strtoull(text, &end, 10);
    *has = true;
    return isdigit((unsigned char)*text) && *end == '\0' && errno == 0 && *out <= max;
}

static bool parse_query(const struct view_server *s, struct MHD_Connection *c, struct view_query *q)
{
    const struct mkperf_profile *p = s->frames->profile;
    uint64_t event = 0, core = 0, pd = 0;
    bool has_event = false, has_core = false, has_pd = false, to = false;

    *q = (struct view_query){.filter = {.to_ns = UINT64_MAX}};
    if (!number(c, "event", p->places.session.nevents - 1, &event, &has_event) ||
        !number(c, "core", MKPERF_CPU_LIST_MAX - 1, &core, &has_core) ||
        !number(c, "from", UINT64_MAX, &q->filter.from_ns, &q->filter.has_time) ||
        !number(c, "to", UINT64_MAX, &q->filter.to_ns, &to) ||
        !number(c, "pd", UINT32_MAX, &pd, &has_pd) || (has_pd && pd >= p->places.npds)) {
        return false;
    }
    q->event = (uint32_t)event;
    if (has_core) {
        mkperf_cpu_list_add(&q->filter.cores, (uint32_t)core);
    }
    q->filter.has_time |= to;
    q->pd = has_pd ? mkperf_profile_pd_name(p, pd) : NULL;
    return true;
}

static enum mkperf_status write_profile(const struct view_server *s, const struct view_query *q,
                                        FILE *out, struct mkperf_error *e)
{
    struct view_whole whole;
    enum mkperf_status status;

    view_query_select(q, s->frames->profile, &whole);
    status = view_json_profile(s->frames, q, out, e);
    view_query_restore(s->frames->profile, &whole);
    return status;
}

static enum MHD_Result answer_data(const struct view_server *s, struct MHD_Connection *c,
                                   const char *what)
{
    struct view_query q;
    struct mkperf_error e;
    char *text = NULL;
    size_t n = 0;
    FILE *out;
    bool ok = true;

    if (!parse_query(s, c, &q)) {
        return view_answer_problem(c, MHD_HTTP_BAD_REQUEST, "a parameter is invalid");
    }
    out = open_memstream(&text, &n);
    if (!out) {
        return view_answer_problem(c, MHD_HTTP_INTERNAL_SERVER_ERROR, "out of memory");
    }
    if (strcmp(what, "info") == 0) {
        view_json_info(s->frames, s->path, s->nfiles > 0, out);
    } else if (strcmp(what, "timeline") == 0) {
        ok = view_json_timeline(s->frames->profile, q.event, out);
    } else {
        ok = write_profile(s, &q, out, &e) == MKPERF_OK;
    }
    ok &= fclose(out) == 0;
    if (!ok) {
        free(text);
        return view_answer_problem(c, MHD_HTTP_INTERNAL_SERVER_ERROR, "out of memory");
    }
    return reply(c, MHD_HTTP_OK, MHD_create_response_from_buffer(n, text, MHD_RESPMEM_MUST_FREE),
                 json_type, own_policy);
}

static enum MHD_Result answer_fd(struct MHD_Connection *c, int fd, const char *type)
{
    struct stat st;
    struct MHD_Response *r = NULL;

    if (fd >= 0 && fstat(fd, &st) == 0 && S_ISREG(st.st_mode)) {
        r = MHD_create_response_from_fd((size_t)st.st_size, fd);
    }
    if (!r) {
        if (fd >= 0) {
            close(fd);
        }
        return view_answer_problem(c, MHD_HTTP_INTERNAL_SERVER_ERROR, "cannot be read");
    }
    return reply(c, MHD_HTTP_OK, r, type, speedscope_policy);
}

/* The recording in speedscope's format, by mkperf convert's writer, in a file without a name. */
static enum MHD_Result answer_speedscope_profile(const struct view_server *s,
                                                 struct MHD_Connection *c)
{
    char dir[] = "/tmp/mkperf-view-XXXXXX", path[sizeof dir + 16];
    struct mkperf_export x = {.path = path};
    struct mkperf_output out;
    struct mkperf_error e;
    int fd = -1;

    if (!mkdtemp(dir)) {
        return view_answer_problem(c, MHD_HTTP_INTERNAL_SERVER_ERROR, "no temporary directory");
    }
    snprintf(path, sizeof path, "%s/profile", dir);
    if (mkperf_speedscope_open(&x, &out, &e) == MKPERF_OK) {
        if (mkperf_perfdata_read(s->path, &out.sink, &e) == MKPERF_OK) {
            fd = open(path, O_RDONLY | O_CLOEXEC);
        }
        mkperf_output_free(&out);
    }
    unlink(path);
    rmdir(dir);
    return answer_fd(c, fd, json_type);
}

static const char *type_of(const char *name)
{
    static const char *const types[][2] = {{".html", "text/html; charset=utf-8"},
                                           {".js", "text/javascript; charset=utf-8"},
                                           {".css", "text/css; charset=utf-8"},
                                           {".json", json_type},
                                           {".wasm", "application/wasm"},
                                           {".png", "image/png"},
                                           {".ico", "image/x-icon"},
                                           {".woff2", "font/woff2"}};
    const char *dot = strrchr(name, '.');

    for (size_t i = 0; dot && i < sizeof types / sizeof *types; i++) {
        if (strcmp(dot, types[i][0]) == 0) {
            return types[i][1];
        }
    }
    return "application/octet-stream";
}

static enum MHD_Result answer_speedscope(const struct view_server *s, struct MHD_Connection *c,
                                         const char *name)
{
    char *path = NULL;
    int fd;

    if (strcmp(name, "profile.json") == 0) {
        return answer_speedscope_profile(s, c);
    }
    for (unsigned i = 0; i < s->nfiles; i++) {
        if (strcmp(s->file[i], name) == 0 && asprintf(&path, "%s/%s", s->speedscope, name) > 0) {
            fd = open(path, O_RDONLY | O_CLOEXEC | O_NOFOLLOW);
            free(path);
            return answer_fd(c, fd, type_of(name));
        }
    }
    return view_answer_problem(c, MHD_HTTP_NOT_FOUND, "no such page");
}

enum MHD_Result view_answer(const struct view_server *s, struct MHD_Connection *c, const char *path)
{
    static const char *const data[] = {"info", "timeline", "profile"};
    size_t prefix = sizeof data_prefix - 1;

    for (size_t i = 0; i < view_npages; i++) {
        if (strcmp(path, view_pages[i].name) == 0) {
            return answer_page(c, &view_pages[i]);
        }
    }
    for (size_t i = 0; i < sizeof data / sizeof *data; i++) {
        if (strncmp(path, data_prefix, prefix) == 0 && strcmp(path + prefix, data[i]) == 0) {
            return answer_data(s, c, data[i]);
        }
    }
    if (strncmp(path, speedscope_prefix, sizeof speedscope_prefix - 1) == 0) {
        return answer_speedscope(s, c, path + sizeof speedscope_prefix - 1);
    }
    return view_answer_problem(c, MHD_HTTP_NOT_FOUND, "no such page");
}
