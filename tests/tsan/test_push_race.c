/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * mkperf agent's outboxes under ThreadSanitizer: one thread adds windows, one for each server uploads them, and one scrapes metrics,
 * while the server accepts some, refuses some, and cannot answer for some. The space is too small, so that a window may be
 * given up while it is uploaded. Each window is accepted, refused or given up, and counted once.
 */
#include <microhttpd.h>
#include <stdatomic.h>

#include "host/agent/metrics.c" // NOLINT(bugprone-suspicious-include)
#include "host/agent/outbox.c"  // NOLINT(bugprone-suspicious-include)
#include "host/agent/push.c"    // NOLINT(bugprone-suspicious-include)

static char *sample; /* a window's file */
enum {
    WINDOWS = 120,
    BOXES = 2,
    SPACE = 8000,
    REFUSE_EACH = 7,
    BUSY_AT = 8,
    TOGETHER = 6,
    PATH_BYTES = 256
};

static atomic_uint accepted[BOXES], refused[BOXES], requests[BOXES];
static atomic_bool over;
static int interrupted;
static struct agent agent = {.service = "test", .window_s = 1, .nto = BOXES, .stop = &interrupted};

/* libcurl and libmicrohttpd are not instrumented, so what orders their accesses is not seen. */
const char *__tsan_default_suppressions(void); // NOLINT(bugprone-reserved-identifier)
const char *__tsan_default_suppressions(void)  // NOLINT(bugprone-reserved-identifier)
{
    return "called_from_lib:libcurl\ncalled_from_lib:libmicrohttpd\nthread:libmicrohttpd\n";
}

static void require(bool ok, const char *what)
{
    if (!ok) {
        fprintf(stderr, "%s\n", what);
        exit(1);
    }
}

/* Answers as the server does, after the body. */
static enum MHD_Result answer(void *self, struct MHD_Connection *c, const char *url,
                              const char *method, const char *version, const char *upload,
                              size_t *bytes, void **state)
{
    unsigned box = strcmp(url, "/ingest") == 0;

    (void)self, (void)method, (void)version, (void)upload;
    if (*state == NULL || *bytes != 0) {
        *state = &over;
        *bytes = 0;
        return MHD_YES;
    }
    unsigned n = atomic_fetch_add(&requests[box], 1);
    unsigned status = n == BUSY_AT           ? MHD_HTTP_SERVICE_UNAVAILABLE
                      : n % REFUSE_EACH == 5 ? HTTP_REFUSED
                                             : MHD_HTTP_OK;
    atomic_fetch_add(&accepted[box], status == MHD_HTTP_OK);
    atomic_fetch_add(&refused[box], status == HTTP_REFUSED);
    struct MHD_Response *r = MHD_create_response_from_buffer(0, NULL, MHD_RESPMEM_PERSISTENT);
    enum MHD_Result result = MHD_queue_response(c, status, r);
    MHD_destroy_response(r);
    return result;
}

static void *scrape(void *self)
{
    unsigned scrapes = 0;

    (void)self;
    for (; !atomic_load(&over); scrapes++) {
        size_t n;
        mkperf_turn_take();
        char *text = agent_metrics_text(&agent, &n);
        mkperf_turn_give();
        require(strstr(text, "\nmkperf_agent_sent_windows_total{") != NULL, "a metric is missing");
        free(text);
        poll(NULL, 0, 1);
    }
    require(scrapes > 10, "no scrapes");
    return NULL;
}

static void add(unsigned i, const char *dir)
{
    static const struct mkperf_totals totals = {.samples = 1};
    const struct mkperf_elf_search elfs = {.elf_path = NULL};
    char name[PATH_BYTES], path[2 * PATH_BYTES];
    struct mkperf_error e;

    snprintf(name, sizeof name, "%012u.%013u.1.t.data", i, i);
    snprintf(path, sizeof path, "%s/%s", dir, name);
    require(link_or_copy(sample, path) == 0 || errno == EEXIST, "the sample cannot be copied");
    for (unsigned k = 0; k < BOXES; k++) {
        require(agent_outbox_add(&agent.outbox[k], path, &totals, &elfs, &e) == MKPERF_OK, e.text);
    }
    unlink(path);
}

int main(void)
{
    char dir[] = "/tmp/test_push_race.XXXXXX", spec[BOXES][PATH_BYTES];
    struct mkperf_error e = {.status = MKPERF_OK};
    uint64_t sequence = 0;
    pthread_t scraper;

    /* Conversions look for ELFs in the working directory. */
    sample = realpath("tests/fuzz/corpus/fuzz_perfdata/one-sample.data", NULL);
    require(sample != NULL && mkdtemp(dir) != NULL && chdir(dir) == 0,
            "no directory, or no sample");
    require(agent_push_load(&e) == MKPERF_OK, e.text);
    struct MHD_Daemon *server =
        MHD_start_daemon(MHD_USE_INTERNAL_POLLING_THREAD | MHD_USE_THREAD_PER_CONNECTION, 0, NULL,
                         NULL, answer, NULL, MHD_OPTION_END);
    require(server != NULL, "no server");
    unsigned port = MHD_get_daemon_info(server, MHD_DAEMON_INFO_BIND_PORT)->port;
    mkperf_turns_begin();
    for (unsigned k = 0; k < BOXES; k++) {
        snprintf(spec[k], sizeof spec[k], "%s:http://127.0.0.1:%u",
                 agent_kind_names[k == 0 ? AGENT_OTLP : AGENT_PYROSCOPE], port);
        require(agent_outbox_open(&agent.outbox[k], spec[k], dir, SPACE, &sequence, &e) ==
                    MKPERF_OK,
                e.text);
        agent_push_start(&agent, &agent.outbox[k]);
    }
    require(pthread_create(&scraper, NULL, scrape, NULL) == 0, "no thread");
    for (unsigned i = 0; i < WINDOWS; i++) {
        add(i, dir);
        for (unsigned k = 0; k < BOXES && i % TOGETHER == TOGETHER - 1; k++) {
            while (atomic_load(&requests[k]) < (i + 1) / TOGETHER) {
                mkperf_poll(NULL, 0, 1);
            }
        }
    }
    for (unsigned k = 0; k < BOXES; k++) {
        while (!STAILQ_EMPTY(&agent.outbox[k].waiting)) {
            mkperf_poll(NULL, 0, 1);
        }
    }
    agent.ending = true;
    atomic_store(&over, true);
    mkperf_turn_give();
    pthread_join(scraper, NULL);
    mkperf_turn_take();
    for (unsigned k = 0; k < BOXES; k++) {
        struct agent_outbox *o = &agent.outbox[k];

        agent_push_join(o);
        fprintf(stderr, "%s: %u accepted, %u refused; %d given up\n", o->spec, accepted[k],
                refused[k], (int)o->given_up);
        require(o->sent <= accepted[k] && o->sent > 0, "uploads are not counted");
        require(o->refused <= refused[k], "refusals are not counted");
        /* What was given up while it was uploaded is counted as that, and may have been accepted all the same. */
        require(o->sent + o->refused + o->given_up == WINDOWS, "a window is not counted once");
        require(o->given_up > 0 && refused[k] > 0 && o->failures > refused[k],
                "nothing was given up, refused, or sent again");
        agent_outbox_free(o);
    }
    mkperf_turn_give();
    MHD_stop_daemon(server);
    char *command = mkperf_xprintf("rm -rf %s", dir);
    require(system(command) == 0, "the directory stays"); // NOLINT(cert-env33-c)
    free(command);
    free(sample);
    return 0;
}
