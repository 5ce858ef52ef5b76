/* SPDX-License-Identifier: BSD-2-Clause */
/* Owns: the answers to requests, and the recording that they are about. See view.h. */
#include "view.h"

#include "export/formats.h"

enum { STRETCH_MOST = 1000000 }; /* single intervals in an answer */

static const char own_policy[] = "default-src 'none'; script-src 'self'; style-src 'self'; img-src "
                                 "'self' data:; connect-src 'self'; "
                                 "base-uri 'none'; form-action 'none'; frame-ancestors 'none'";
/* speedscope writes styles and compiles WebAssembly; it may still load from here only. */
static const char speedscope_policy[] =
    "default-src 'none'; script-src 'self' 'wasm-unsafe-eval'; style-src 'self' 'unsafe-inline'; "
    "img-src 'self' data:; font-src 'self' data:; connect-src 'self' data:; worker-src 'self'; "
    "base-uri 'none'; form-action 'none'; frame-ancestors 'none'";

static const char json_type[] = "application/json", columns_type[] = "application/octet-stream";
static const char bad_parameter[] = "an invalid parameter", no_page[] = "no such page",
                  unreadable[] = "cannot be read";

/* Sends the response and frees it. */
static enum MHD_Result reply(struct MHD_Connection *c, unsigned status, struct MHD_Response *r,
                             const char *type, const char *policy)
{
    enum MHD_Result result;

    if (!r) {
        return MHD_NO;
    }
    view_http.add_response_header(r, "Content-Type", type);
    view_http.add_response_header(r, "Content-Security-Policy", policy);
    view_http.add_response_header(r, "X-Content-Type-Options", "nosniff");
    view_http.add_response_header(r, "Referrer-Policy", "no-referrer");
    view_http.add_response_header(r, "Cross-Origin-Resource-Policy", "same-origin");
    view_http.add_response_header(r, "Cross-Origin-Opener-Policy", "same-origin");
    view_http.add_response_header(r, "Cache-Control", "no-store");
    result = view_http.queue_response(c, status, r);
    view_http.destroy_response(r);
    return result;
}

/* Answers with n bytes. memory: whether they stay, are copied or are freed. */
static enum MHD_Result answer_bytes(struct MHD_Connection *c, unsigned status, const void *p,
                                    size_t n, enum MHD_ResponseMemoryMode memory, const char *type)
{
    return reply(c, status, view_http.create_response_from_buffer(n, (void *)(uintptr_t)p, memory),
                 type, own_policy);
}

enum MHD_Result view_answer_problem(struct MHD_Connection *c, unsigned status, const char *text)
{
    return answer_bytes(c, status, text, strlen(text), MHD_RESPMEM_MUST_COPY,
                        "text/plain; charset=utf-8");
}

/* Stores a parameter's number. Leaves *out unchanged if it is absent. Returns whether *out is a number of at most max then. */
static bool read_number(struct MHD_Connection *c, const char *name, uint64_t max, uint64_t *out)
{
    const char *text = view_http.lookup_connection_value(c, MHD_GET_ARGUMENT_KIND, name);
    char *end = NULL;

    errno = 0;
    *out = text != NULL ? strtoull(text, &end, 10) : *out;
    return *out <= max &&
           (text == NULL || (isdigit((unsigned char)*text) && *end == '\0' && errno == 0));
}

/* Answers with a profile's container: of the recording (0), or of one of those with which it is compared. */
static enum MHD_Result answer_profile(const struct view_server *s, struct MHD_Connection *c)
{
    uint64_t number = 0;

    if (!read_number(c, "number", 64, &number)) {
        return view_answer_problem(c, MHD_HTTP_BAD_REQUEST, bad_parameter);
    }
    if (number >= s->nshown) { /* nothing to compare with */
        return view_answer_problem(c, MHD_HTTP_NO_CONTENT, "");
    }
    const struct page_bytes b = s->live != NULL ? view_live_data(s->live) : s->shown[number].data;
    return answer_bytes(c, MHD_HTTP_OK, b.p, b.n,
                        s->live != NULL ? MHD_RESPMEM_MUST_FREE : MHD_RESPMEM_PERSISTENT,
                        columns_type);
}

/* Answers with the states of PDs in a stretch of time, of a recording that is too large for a page. */
static enum MHD_Result answer_stretch(const struct view_server *s, struct MHD_Connection *c)
{
    uint64_t from = UINT64_MAX, to = UINT64_MAX, most = UINT64_MAX; /* invalid if absent */
    uint64_t first, last;

    if (!read_number(c, "from", INT64_MAX, &from) || !read_number(c, "to", INT64_MAX, &to) ||
        !read_number(c, "most", STRETCH_MOST, &most)) {
        return view_answer_problem(c, MHD_HTTP_BAD_REQUEST, bad_parameter);
    }
    const struct page_input *in = &s->shown[0].in;
    page_data_span(in, &first, &last);
    if (in->schedule.kept == NULL || from >= to ||
        to - 1 > last - first) { /* if the page has all intervals, kept is NULL */
        return view_answer_problem(c, MHD_HTTP_NOT_FOUND, "no scheduling events can be read there");
    }
    struct page_bytes b = page_schedule_stretch(&in->schedule, first, from, to, most);
    return answer_bytes(c, MHD_HTTP_OK, b.p, b.n, MHD_RESPMEM_MUST_FREE, columns_type);
}

static enum MHD_Result answer_code(const struct view_server *s, struct MHD_Connection *c)
{
    const struct mkperf_frames *f = s->live != NULL ? &s->live->frames : &s->shown[0].frames;
    uint64_t function = UINT64_MAX;
    char *text = NULL;
    size_t n = 0;

    if (!read_number(c, "function", UINT32_MAX, &function) || function >= f->functions.count) {
        return view_answer_problem(c, MHD_HTTP_BAD_REQUEST, bad_parameter);
    }
    FILE *out = mkperf_memstream_open(&text, &n);
    page_code_json(f, (uint32_t)function,
                   s->live != NULL ? &s->live->sources : &s->shown[0].sources, out);
    mkperf_memstream_close(out);
    return answer_bytes(c, MHD_HTTP_OK, text, n, MHD_RESPMEM_MUST_FREE, json_type);
}

static enum MHD_Result answer_speedscope(const struct view_server *s, struct MHD_Connection *c,
                                         const char *name)
{
    static const char *const types[][2] = {{".html", "text/html; charset=utf-8"},
                                           {".js", "text/javascript; charset=utf-8"},
                                           {".css", "text/css; charset=utf-8"},
                                           {".json", json_type},
                                           {".wasm", "application/wasm"},
                                           {".png", "image/png"},
                                           {".ico", "image/x-icon"},
                                           {".woff2", "font/woff2"}};
    const char *dot = strrchr(name, '.'), *type = "application/octet-stream";

    if (strcmp(name, "profile.json") == 0 && s->live == NULL) {
        /* The recording in speedscope's format, by mkperf convert's writer. */
        char *text = NULL;
        size_t n = 0;
        const struct mkperf_export x = {
            .to = mkperf_memstream_open(&text, &n), .input = s->path, .elfs = s->elfs};
        struct mkperf_error e;
        enum mkperf_status status = mkperf_format_convert("speedscope", &x, &e);

        mkperf_memstream_close(x.to);
        if (status == MKPERF_OK) {
            return answer_bytes(c, MHD_HTTP_OK, text, n, MHD_RESPMEM_MUST_FREE, json_type);
        }
        free(text);
        return view_answer_problem(c, MHD_HTTP_INTERNAL_SERVER_ERROR, unreadable);
    }
    for (size_t i = 0; dot && i < sizeof types / sizeof *types; i++) {
        type = strcmp(dot, types[i][0]) == 0 ? types[i][1] : type;
    }
    /* A file in that directory itself: not below it, not above it, not where a link leads. */
    char *path = mkperf_xprintf("%s/%s", s->speedscope != NULL ? s->speedscope : "", name);
    bool here = s->speedscope != NULL && *name != '.' && *name != '\0' && strchr(name, '/') == NULL;
    int fd = here ? open(path, O_RDONLY | O_CLOEXEC | O_NOFOLLOW) : -1;
    struct stat st;
    free(path);
    if (fd < 0) {
        return view_answer_problem(c, MHD_HTTP_NOT_FOUND, no_page);
    }
    if (fstat(fd, &st) != 0 || !S_ISREG(st.st_mode)) {
        close(fd);
        return view_answer_problem(c, MHD_HTTP_INTERNAL_SERVER_ERROR, unreadable);
    }
    struct MHD_Response *r = view_http.create_response_from_fd((size_t)st.st_size, fd);
    if (r == NULL) { /* a response closes the file */
        close(fd);
        return view_answer_problem(c, MHD_HTTP_INTERNAL_SERVER_ERROR, unreadable);
    }
    return reply(c, MHD_HTTP_OK, r, type, speedscope_policy);
}

enum MHD_Result view_answer(const struct view_server *s, struct MHD_Connection *c, const char *path)
{
    for (size_t i = 0; i < page_nassets; i++) {
        if (strcmp(path, page_assets[i].name) == 0) {
            const struct page_asset *p = &page_assets[i];
            return answer_bytes(c, MHD_HTTP_OK, p->begin, (size_t)(p->end - p->begin),
                                MHD_RESPMEM_PERSISTENT, p->type);
        }
    }
    static const char speedscope[] = "speedscope/";
    return strcmp(path, "data/profile") == 0   ? answer_profile(s, c)
           : strcmp(path, "data/stretch") == 0 ? answer_stretch(s, c)
           : strcmp(path, "data/code") == 0    ? answer_code(s, c)
           : strncmp(path, speedscope, sizeof speedscope - 1) == 0
               ? answer_speedscope(s, c, path + sizeof speedscope - 1)
               : view_answer_problem(c, MHD_HTTP_NOT_FOUND, no_page);
}

/* ---- the recording that is shown -------------------------------------------------------------- */

/* Makes the page's data at the end of the recording, while the profile has its interactions. */
static enum mkperf_status make_data(void *self, struct mkperf_error *e)
{
    struct view_shown *s = self;

    MKPERF_TRY(mkperf_profile_order(&s->profile, e));
    mkperf_profile_cost(&s->profile);
    s->in = page_input_of(&s->frames, s->path);
    s->in.speedscope = s->speedscope;
    if (s->in.schedule.intervals > PAGE_INTERVALS) {
        s->in.schedule.kept = &s->profile.schedule;
    }
    s->data = page_data_make(&s->in);
    return MKPERF_OK;
}

enum mkperf_status view_shown_read(struct view_shown *s, const char *path,
                                   const struct mkperf_elf_search *elfs, bool speedscope,
                                   struct mkperf_error *e)
{
    *s = (struct view_shown){.path = path,
                             .speedscope = speedscope,
                             .profile = {.cores = true,
                                         .times = true,
                                         .keep_schedule = true,
                                         .whole = make_data,
                                         .self = s,
                                         .places = {.search = *elfs, .inlined = true}}};
    return mkperf_frames_read(&s->frames, &s->profile, path, false, NULL, e);
}

void view_shown_free(struct view_shown *s)
{
    mkperf_frames_close(&s->frames);
    mkperf_profile_free(&s->profile);
    annotate_sources_free(&s->sources);
    page_bytes_free(&s->data);
}
