/* SPDX-License-Identifier: BSD-2-Clause */
/* Owns: metrics as text, and the server that answers scrapes. See agent.h. */
#include "agent.h"

#include <netdb.h>
#include <sys/resource.h>
#include <sys/socket.h>

#include "view/view.h"

enum {
    LEAST_POWER = 10,
    MOST_POWER = 34,
    CONNECTIONS = 16,
    IDLE_S = 30,
    REQUEST_BYTES = 16 * 1024
};

/* ---- the families of a target ---- */

/* A family that is written for one target. */
struct series {
    struct mkperf_textout *t;
    const char *name;
    const struct agent_window *w; /* the target's window */
    unsigned which;               /* which of the numbers the family's function writes */
};

/*
 * Begins a line, NAME{target="T", and returns where its rest is written. Labels are quoted as strings of JSON are:
 *
 *      mkperf_json(begin_line(s), ",where=%s} %" PRIu64 "\n", where, n);
 */
static struct mkperf_textout *begin_line(const struct series *s)
{
    mkperf_textout_puts(s->t, s->name);
    mkperf_json(s->t, "{target=%s", s->w->of->name);
    return s->t;
}

/* Seconds with all digits, in a format, and their arguments. */
#define SECONDS "%" PRIu64 ".%09" PRId64
#define IN_SECONDS(ns) ((ns) / 1000000000), ((int64_t)((ns) % 1000000000))

static void put_info(const struct series *s)
{
    const struct mkperf_session *of = &s->w->session;
    char platform[64], cpu[64], image[128];

    mkperf_json(begin_line(s), ",platform=%s,cpu=%s,image=%s} 1\n",
                mkperf_printable_copy(of->platform, platform, sizeof platform),
                mkperf_printable_copy(of->cpu, cpu, sizeof cpu),
                of->image != NULL ? mkperf_printable_copy(of->image, image, sizeof image) : "");
}

/* Writes one number of the target. */
static void put_count(const struct series *s)
{
    const uint64_t counts[] = {s->w->windows, s->w->sched->calls_void, s->w->spoiled,
                               s->w->spoiled_samples};

    mkperf_json(begin_line(s), "} %" PRIu64 "\n", counts[s->which]);
}

/* Writes the numbers of samples, or of the events that they represent. */
static void put_weights(const struct series *s)
{
    for (uint32_t i = 0; i < s->w->weight_keys.count; i++) {
        const uint64_t *key = mkperf_hash_key(&s->w->weight_keys, i);
        const struct mkperf_event *event = &s->w->session.event[key[0]];
        const char *pd = s->w->of->recorder.pds->pd[(uint32_t)key[1]].name;
        char text[MKPERF_MODEL_NAME + 2], room[64];

        snprintf(text, sizeof text, "%s%s", event->name, mkperf_event_modes(event));
        mkperf_json(begin_line(s), ",event=%s,pd=%s,core='%" PRIu64 "',mode=%s} %" PRIu64 "\n",
                    text, mkperf_printable_copy(pd, room, sizeof room), key[2],
                    key[3] ? "kernel" : "user",
                    s->which == 0 ? s->w->weight[i].samples : s->w->weight[i].period);
    }
}

static void put_lost(const struct series *s)
{
    for (unsigned i = 0; i < MKPERF_LOST_PLACES; i++) {
        mkperf_json(begin_line(s), ",where=%s} %" PRIu64 "\n", mkperf_loss_places[i].key,
                    s->w->sum.lost[i]);
    }
}

/* Writes the time of each PD on each core, or the time of cores for which events are missing. */
static void put_core_time(const struct series *s)
{
    for (uint32_t i = 0; i < s->w->ran_keys.count; i++) {
        const uint64_t *key = mkperf_hash_key(&s->w->ran_keys, i);
        bool unknown = key[0] == MKPERF_SCHED_NOBODY;

        if (unknown == (s->which != 0)) {
            mkperf_json(begin_line(s), ",core='%" PRIu64 "'", key[1]);
            if (!unknown) {
                mkperf_json(s->t, ",pd=%s", mkperf_analysis_name(s->w->sched, (uint32_t)key[0]));
            }
            mkperf_json(s->t, "} " SECONDS "\n", IN_SECONDS(s->w->ran_ns[i]));
        }
    }
}

static void put_states(const struct series *s)
{
    for (uint32_t i = 0; i < s->w->sched->npds; i++) {
        const struct mkperf_sched_pd *pd = &s->w->sched->pd[i];

        for (unsigned k = 0; k < MKPERF_PD_STATES && pd->name != NULL && !pd->idle; k++) {
            if (pd->in[k] != 0) {
                mkperf_json(begin_line(s), ",pd=%s,state=%s} " SECONDS "\n", pd->name,
                            mkperf_pd_state_names[k], IN_SECONDS(pd->in[k]));
            }
        }
    }
}

/* Begins a line of a histogram. `about` is the third label, with its key. */
static void begin_edge(const struct series *of, const char *suffix, const char *from,
                       const char *to, const char *about)
{
    mkperf_textout_puts(of->t, of->name);
    mkperf_textout_puts(of->t, suffix);
    mkperf_json(of->t, "{target=%s,from=%s,to=%s,", of->w->of->name, from, to);
    mkperf_textout_puts(of->t, about);
}

/* Writes a histogram. Its bounds are 2^n - 1 ns, so that each is the end of a bucket of `h`. */
static void put_histogram(const struct series *s, const char *from, const char *to,
                          const char *about, const struct mkperf_log_histogram *h)
{
    uint64_t n = 0;
    uint32_t i = 0;

    for (unsigned power = LEAST_POWER; power <= MOST_POWER; power++) {
        uint64_t bound = (UINT64_C(1) << power) - 1;

        while (i < h->room && i <= mkperf_log_bucket(bound)) {
            n += h->in[i++];
        }
        begin_edge(s, "_bucket", from, to, about);
        mkperf_json(s->t, ",le='" SECONDS "'} %" PRIu64 "\n", IN_SECONDS(bound), n);
    }
    while (i < h->room) {
        n += h->in[i++];
    }
    begin_edge(s, "_bucket", from, to, about);
    mkperf_json(s->t, ",le='+Inf'} %" PRIu64 "\n", n);
    begin_edge(s, "_sum", from, to, about);
    mkperf_json(s->t, "} " SECONDS "\n", IN_SECONDS(h->total));
    begin_edge(s, "_count", from, to, about);
    mkperf_json(s->t, "} %" PRIu64 "\n", h->count);
}

/* Writes the calls, or the exits of guests. */
static void put_calls(const struct series *s)
{
    for (unsigned i = 0; i < s->w->sched->nedges; i++) {
        const struct mkperf_call_edge *e = &s->w->sched->edge[i];
        bool exits = s->which != 0;
        char reason[64], about[80];

        if ((e->exit != 0) == exits) {
            snprintf(about, sizeof about, "%s=\"%s\"", exits ? "reason" : "irq",
                     exits ? mkperf_exit_name(e->exit, reason) : "");
            put_histogram(s, mkperf_analysis_name(s->w->sched, e->from),
                          mkperf_analysis_name(s->w->sched, e->to), about, &e->wall);
        }
    }
}

static void put_wakes(const struct series *s)
{
    for (unsigned i = 0; i < s->w->sched->nwakes; i++) {
        const struct mkperf_wakeup *k = &s->w->sched->wake[i];
        bool irq = k->kind == MKPERF_SCHED_IRQ;
        char about[32];

        snprintf(about, sizeof about, irq ? "irq=\"%" PRIu32 "\"" : "irq=\"\"", k->irq);
        put_histogram(s, irq ? "" : mkperf_analysis_name(s->w->sched, k->from),
                      mkperf_analysis_name(s->w->sched, k->to), about, &k->delay);
    }
}

static void put_entries(const struct series *s)
{
    for (unsigned i = 0; i < s->w->flow.nqueues; i++) {
        const struct mkperf_flow_queue *q = &s->w->flow.queue[i];

        mkperf_json(begin_line(s), ",queue=%s,end='produced'} %" PRIu64 "\n", q->about.name,
                    q->produced);
        mkperf_json(begin_line(s), ",queue=%s,end='consumed'} %" PRIu64 "\n", q->about.name,
                    q->consumed);
    }
}

static void put_occupancy(const struct series *s)
{
    for (unsigned i = 0; i < s->w->flow.nqueues; i++) {
        const struct mkperf_flow_queue *q = &s->w->flow.queue[i];

        mkperf_json(begin_line(s), ",queue=%s} %.9f\n", q->about.name, q->area / 1e9);
    }
}

static void put_queue_time(const struct series *s)
{
    for (unsigned i = 0; i < s->w->flow.nqueues; i++) {
        const struct mkperf_flow_queue *q = &s->w->flow.queue[i];
        const uint64_t ns[] = {q->known_ns, q->unknown_ns, q->empty_ns, q->full_ns};
        static const char *const states[] = {"known", "unknown", "empty", "full"};

        for (unsigned k = 0; k < 4; k++) {
            mkperf_json(begin_line(s), ",queue=%s,state=%s} " SECONDS "\n", q->about.name,
                        states[k], IN_SECONDS(ns[k]));
        }
    }
}

static const struct {
    const char *name, *type, *help;
    void (*put)(const struct series *s);
    unsigned which;
} families[] = {
    {"mkperf_target_info", "gauge", "What is recorded.", put_info, 0},
    {"mkperf_windows_total", "counter", "Windows of which the other metrics are.", put_count, 0},
    {"mkperf_samples_total", "counter", "Samples.", put_weights, 0},
    {"mkperf_sample_events_total", "counter", "Events that the samples represent.", put_weights, 1},
    {"mkperf_lost_samples_total", "counter", "Samples that were lost, by place.", put_lost, 0},
    {"mkperf_run_seconds_total", "counter",
     "How long each PD ran on each core, by scheduling events.", put_core_time, 0},
    {"mkperf_core_unknown_seconds_total", "counter",
     "Time for which scheduling events are missing.", put_core_time, 1},
    {"mkperf_pd_state_seconds_total", "counter", "How long each PD was in each state.", put_states,
     0},
    {"mkperf_call_seconds", "histogram", "Protected calls.", put_calls, 0},
    {"mkperf_exit_seconds", "histogram", "Exits of guests, until the guest runs again.", put_calls,
     1},
    {"mkperf_calls_cut_total", "counter", "Protected calls of unknown duration.", put_count, 1},
    {"mkperf_wakeup_seconds", "histogram", "From a notification or an interrupt until its PD runs.",
     put_wakes, 0},
    {"mkperf_queue_entries_total", "counter", "Entries of queues.", put_entries, 0},
    {"mkperf_queue_entry_seconds_total", "counter", "Sum of the time of all entries in a queue.",
     put_occupancy, 0},
    {"mkperf_queue_seconds_total", "counter", "Time of queues by state.", put_queue_time, 0},
    {"mkperf_unwritten_windows_total", "counter", "Windows without a file: the disk refused it.",
     put_count, 2},
    {"mkperf_unwritten_samples_total", "counter", "Samples of these windows.", put_count, 3},
};
_Static_assert(sizeof families / sizeof *families == AGENT_FAMILIES, "each family has a text");

void agent_metrics_make(struct agent_window *w)
{
    size_t size;

    if (w->session.sched) {
        mkperf_flow_settle(&w->flow);
    }
    for (unsigned i = 0; i < AGENT_FAMILIES; i++) {
        free(w->text[i]);
        struct mkperf_textout t = {.over = mkperf_memstream_open(&w->text[i], &size)};
        families[i].put(&(struct series){&t, families[i].name, w, families[i].which});
        mkperf_memstream_close(t.over);
    }
}

/* ---- a scrape ---- */

static void put_head(struct mkperf_textout *t, const char *name, const char *type, const char *help)
{
    mkperf_textout_printf(t, "# HELP %s %s\n# TYPE %s %s\n", name, help, name, type);
}

/* What is known of a target at any time. */
static const struct {
    const char *name, *type, *help;
} target_metrics[] = {
    {"mkperf_up", "gauge", "1: the target is being recorded."},
    {"mkperf_unrecorded_seconds_total", "counter", "Time without a recording of the target."},
    {"mkperf_link_breaks_total", "counter", "Broken connections."},
    {"mkperf_received_bytes_total", "counter", "Bytes of the present connection's recorder."},
};

static const struct {
    const char *name, *type, *help;
    size_t at;
} boxes[] = {
    {"mkperf_agent_sent_windows_total", "counter", "Windows that the server accepted.",
     offsetof(struct agent_outbox, sent)},
    {"mkperf_agent_failures_total", "counter", "Uploads that failed.",
     offsetof(struct agent_outbox, failures)},
    {"mkperf_agent_given_up_windows_total", "counter",
     "Windows that were removed for want of space.", offsetof(struct agent_outbox, given_up)},
    {"mkperf_agent_given_up_samples_total", "counter", "Samples of these windows.",
     offsetof(struct agent_outbox, given_up_samples)},
    {"mkperf_agent_refused_windows_total", "counter", "Windows that the server does not accept.",
     offsetof(struct agent_outbox, refused)},
    {"mkperf_agent_refused_samples_total", "counter", "Samples of these windows.",
     offsetof(struct agent_outbox, refused_samples)},
    {"mkperf_agent_outbox_bytes", "gauge", "Bytes of the windows that are kept.",
     offsetof(struct agent_outbox, bytes)},
};

struct scrape {
    const struct agent *a;
    struct mkperf_textout *t;
};

/* Writes the family of a figure for all targets that have a window. The figure's key is its name. Times are seconds, as everywhere
 * in Prometheus. */
static void put_figure(void *self, const char *key, uint64_t value)
{
    const struct scrape *all = self;
    int n = (int)strlen(key);
    bool ns = n > 3 && strcmp(key + n - 3, "_ns") == 0, head = false;
    char *name = mkperf_xprintf("mkperf_%.*s%s_total", ns ? n - 3 : n, key, ns ? "_seconds" : "");

    (void)value; /* of no target */
    for (size_t k = 0; k < all->a->ntargets && strcmp(key, "samples") != 0; k++) {
        const struct agent_window *w = &all->a->target[k]->window;
        const uint64_t *count = mkperf_figure_count(&w->sum, key);

        if (w->windows == 0 || count == NULL) {
            continue;
        }
        if (!head) {
            put_head(all->t, name, "counter", "This figure of docs/formats.md.");
            head = true;
        }
        begin_line(&(struct series){all->t, name, w, 0});
        if (ns) {
            mkperf_json(all->t, "} " SECONDS "\n", IN_SECONDS(*count));
        } else {
            mkperf_json(all->t, "} %" PRIu64 "\n", *count);
        }
    }
    free(name);
}

char *agent_metrics_text(struct agent *a, size_t *n)
{
    static const struct mkperf_totals none;
    char *text;
    struct mkperf_textout t = {.over = mkperf_memstream_open(&text, n)};

    for (unsigned i = 0; i < sizeof target_metrics / sizeof *target_metrics; i++) {
        put_head(&t, target_metrics[i].name, target_metrics[i].type, target_metrics[i].help);
        for (size_t k = 0; k < a->ntargets; k++) {
            const struct agent_target *of = a->target[k];
            const double value[] = {of->up, of->missed_s, of->recorder.breaks,
                                    (double)of->recorder.link.receiver.bytes};

            begin_line(&(struct series){&t, target_metrics[i].name, &of->window, 0});
            mkperf_json(&t, i == 1 ? "} %.3f\n" : "} %.0f\n", value[i]);
        }
    }
    for (unsigned i = 0; i < AGENT_FAMILIES; i++) {
        put_head(&t, families[i].name, families[i].type, families[i].help);
        for (size_t k = 0; k < a->ntargets; k++) {
            const char *lines = a->target[k]->window.text[i];
            mkperf_textout_puts(&t, lines != NULL ? lines : "");
        }
    }
    mkperf_figures_each(MKPERF_SECTION_FIRST, MKPERF_SECTION_END, &none, put_figure,
                        &(struct scrape){a, &t});
    struct rusage used;

    for (size_t i = 0; a->nto != 0 && i < sizeof boxes / sizeof *boxes; i++) {
        put_head(&t, boxes[i].name, boxes[i].type, boxes[i].help);
        for (unsigned k = 0; k < a->nto; k++) {
            const char *at = (const char *)&a->outbox[k] + boxes[i].at;

            mkperf_textout_puts(&t, boxes[i].name);
            mkperf_json(&t, "{to=%s} %" PRIu64 "\n", a->outbox[k].spec,
                        *(const uint64_t *)(const void *)at);
        }
    }
    put_head(&t, "mkperf_agent_clock_steps_total", "counter",
             "Times that this machine's clock was set.");
    mkperf_json(&t, "mkperf_agent_clock_steps_total %" PRIu64 "\n", a->clock_steps);
    getrusage(RUSAGE_SELF, &used);
    put_head(&t, "process_cpu_seconds_total", "counter", "Processor time of the agent.");
    mkperf_json(&t, "process_cpu_seconds_total %.3f\n",
                (double)(used.ru_utime.tv_sec + used.ru_stime.tv_sec) +
                    (double)(used.ru_utime.tv_usec + used.ru_stime.tv_usec) / 1e6);
    mkperf_memstream_close(t.over);
    return text;
}

static enum MHD_Result on_request(void *self, struct MHD_Connection *c, const char *url,
                                  const char *method, const char *version, const char *upload,
                                  size_t *upload_size, void **state)
{
    static const char problem[] = "GET /metrics\n";
    bool ok = strcmp(url, "/metrics") == 0 && strcmp(method, "GET") == 0;
    size_t n = sizeof problem - 1;
    char *text = NULL;

    (void)version, (void)upload, (void)upload_size, (void)state;
    if (ok) {
        mkperf_turn_take();
        text = agent_metrics_text(self, &n);
        mkperf_turn_give();
    }
    struct MHD_Response *r =
        view_http.create_response_from_buffer(n, ok ? text : (void *)(uintptr_t)problem,
                                              ok ? MHD_RESPMEM_MUST_FREE : MHD_RESPMEM_PERSISTENT);
    view_http.add_response_header(r, "Content-Type", "text/plain; version=0.0.4; charset=utf-8");
    enum MHD_Result result = view_http.queue_response(c, ok ? MHD_HTTP_OK : MHD_HTTP_NOT_FOUND, r);
    view_http.destroy_response(r);
    return result;
}

enum mkperf_status agent_metrics_serve(struct agent *a, const char *address, struct mkperf_error *e)
{
    struct addrinfo hints = {.ai_socktype = SOCK_STREAM}, *list;
    struct mkperf_net_address at;

    MKPERF_TRY(view_http_load(e));
    if (!mkperf_net_address_parse(address, true, &at)) {
        return mkperf_usage_error(e, "agent", "--metrics %s: want PORT or ADDRESS:PORT", address);
    }
    MKPERF_FAIL_IF(
        getaddrinfo(at.host[0] != '\0' ? at.host : "127.0.0.1", at.port, &hints, &list) != 0, e,
        MKPERF_ERR_FAILED, "--metrics %s: no such address", address);
    errno = 0;
    a->daemon = view_http.start_daemon(MHD_USE_INTERNAL_POLLING_THREAD | MHD_USE_AUTO |
                                           (list->ai_family == AF_INET6 ? MHD_USE_IPv6 : 0),
                                       0, NULL, NULL, on_request, a, MHD_OPTION_SOCK_ADDR,
                                       list->ai_addr, MHD_OPTION_CONNECTION_LIMIT,
                                       (unsigned)CONNECTIONS, MHD_OPTION_CONNECTION_TIMEOUT,
                                       (unsigned)IDLE_S, MHD_OPTION_CONNECTION_MEMORY_LIMIT,
                                       (size_t)REQUEST_BYTES, MHD_OPTION_END);
    freeaddrinfo(list);
    MKPERF_FAIL_IF(a->daemon == NULL, e, MKPERF_ERR_FAILED, "--metrics %s: cannot listen: %s",
                   address, errno ? strerror(errno) : "is the port taken?");
    const union MHD_DaemonInfo *info =
        view_http.get_daemon_info(a->daemon, MHD_DAEMON_INFO_BIND_PORT);
    mkperf_print_line(stderr, "mkperf agent: metrics at http://%s:%u/metrics",
                      at.host[0] != '\0' ? at.host : "127.0.0.1", info != NULL ? info->port : 0);
    return MKPERF_OK;
}
