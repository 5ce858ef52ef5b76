/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Owns: a thread for each target, the file that lists targets, and what happens each second. See agent.h.
 *
 * A thread records its target as mkperf record does, without an end. It tries a target that cannot be recorded again, with growing pauses.
 * A connection that breaks is restored by the recorder, which knows then what was lost. The main thread ends windows, so that a window also
 * ends while its target is silent.
 */
#include "agent.h"

#include <math.h>

#include "view/view.h"

enum { TARGET_TICK_MS = 200, LINE = 1024, STACK_BYTES = 512 * 1024 };
static const double TARGET_PAUSE_S = 1, TARGET_PAUSE_MAX_S = 30, STEP_S = 1, SYNC_S = 1,
                    FOREVER_S = 1e9;

static double wall_s(void)
{
    return (double)agent_unix_ms() / 1000;
}

/* Records until the target is to be stopped, or until an error. */
static enum mkperf_status record(struct agent_target *t, struct mkperf_error *e)
{
    struct mkperf_recorder *r = &t->recorder;

    r->options = t->agent->options;
    r->options.link.target = t->spec;
    r->options.link.key_file = t->key_file != NULL ? t->key_file : t->agent->options.link.key_file;
    r->options.link.reconnect_s = FOREVER_S;
    r->options.keep_no_elfs = true;
    r->notice = r->warn = agent_print;
    r->stop = &t->stop;
    r->self = t;
    MKPERF_TRY(mkperf_recorder_init(r, false, e));
    mkperf_recorder_decode(r, agent_window_sink(&t->window), r->options.command);
    MKPERF_TRY(mkperf_recorder_start(r, e));
    t->why[0] = '\0';
    t->attempts = 0;
    agent_print(t, "is being recorded");
    return mkperf_recorder_run(r, e) == MKPERF_OK ? mkperf_recorder_stop(r, e) : e->status;
}

static void *record_always(void *self)
{
    struct agent_target *t = self;
    struct mkperf_recorder *r = &t->recorder;
    double pause = TARGET_PAUSE_S;

    mkperf_turn_take();
    do {
        struct mkperf_error e = {.status = MKPERF_OK}, late = {.status = MKPERF_OK};
        enum mkperf_status status = record(t, &e);

        if (r->stream != NULL && r->stream->began) {
            (void)mkperf_stream_finish(r->stream, &late);
        }
        bool same = status != MKPERF_OK && strcmp(t->why, e.text) == 0;
        snprintf(t->why, sizeof t->why, "%.255s",
                 status != MKPERF_OK ? e.text : "its session has ended");
        if (!same && t->stop == 0) {
            agent_print(t, t->why);
        }
        pause = t->attempts++ == 0 ? TARGET_PAUSE_S : fmin(2 * pause, TARGET_PAUSE_MAX_S);
        agent_window_free(&t->window);
        mkperf_recorder_free(r);
        for (double until = mkperf_now_s() + pause;
             t->stop == 0 && t->agent->options.duration_s == 0 && mkperf_now_s() < until;) {
            mkperf_poll(NULL, 0, TARGET_TICK_MS);
        }
    } while (t->stop == 0 && t->agent->options.duration_s == 0);
    t->over = true;
    mkperf_turn_give();
    return NULL;
}

/* ---- which targets ---- */

static struct agent_target *find_target(const struct agent *a, const char *name)
{
    for (size_t i = 0; i < a->ntargets; i++) {
        if (strcmp(a->target[i]->name, name) == 0 && a->target[i]->stop == 0) {
            return a->target[i];
        }
    }
    return NULL;
}

enum mkperf_status agent_add(struct agent *a, const char *name, const char *spec,
                             const char *key_file, struct mkperf_error *e)
{
    struct mkperf_source source;
    const char *colon = strchr(spec, ':'), *behind = colon != NULL ? colon + 1 : spec;
    char *own = name != NULL ? mkperf_xstrdup(name)
                             : mkperf_xprintf("%.*s", MKPERF_MODEL_NAME - 16, behind);
    pthread_attr_t attributes;
    struct agent_target *old; /* that of an older line with this name, which ends */

    for (char *p = own; *p != '\0' && name == NULL; p++) { /* what a file's name cannot have */
        *p = isalnum((unsigned char)*p) || strchr("._-", *p) != NULL ? *p : '_';
    }
    old = find_target(a, own);
    if (strspn(own, "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789._-") !=
            strlen(own) ||
        own[0] == '\0' || strlen(own) >= MKPERF_MODEL_NAME - 8) {
        mkperf_usage_error(e, "agent",
                           "the name of a target may have letters, digits, '.', '_' and '-': '%s'",
                           own);
    } else if (old != NULL && (name == NULL || old->listed)) {
        mkperf_usage_error(e, "agent", "two targets have the name %s", own);
    } else if (mkperf_source_init(&source, spec, e) == MKPERF_OK && !source.ops->interactive) {
        mkperf_usage_error(e, "agent",
                           "%s is a capture, not a running target: mkperf record reads it", spec);
    }
    if (e->status != MKPERF_OK) {
        free(own);
        return e->status;
    }
    if (old != NULL) {
        old->stop = 1;
    }
    struct agent_target *t = mkperf_xcalloc(1, sizeof *t);
    t->agent = a;
    t->window.of = t;
    t->name = own;
    t->spec = mkperf_xstrdup(spec);
    t->key_file = mkperf_xstrdup(key_file);
    t->listed = true;
    t->of_file = name != NULL;
    snprintf(t->why, sizeof t->why, "no attempt yet");
    /* Counts the time since the last window of an earlier agent. The file's time is the end of that window. */
    char *path = mkperf_xprintf("%s/%s.last", t->agent->spool, t->name);
    struct stat st;

    if (t->agent->spool != NULL && stat(path, &st) == 0) {
        double pause = wall_s() - (double)st.st_mtim.tv_sec - (double)st.st_mtim.tv_nsec / 1e9;
        t->missed_s = pause > 0 ? pause : 0;
    }
    free(path);
    a->target = mkperf_xrealloc(a->target, a->ntargets + 1, sizeof(void *));
    a->target[a->ntargets++] = t;
    pthread_attr_init(&attributes);
    pthread_attr_setstacksize(&attributes, STACK_BYTES);
    if (pthread_create(&t->thread, &attributes, record_always, t) != 0) {
        mkperf_die();
    }
    pthread_attr_destroy(&attributes);
    return MKPERF_OK;
}

/* Removes targets of which the threads have ended. */
static void collect(struct agent *a)
{
    for (size_t i = 0; i < a->ntargets;) {
        struct agent_target *t = a->target[i];

        if (!t->over || t->stop == 0) {
            i++;
            continue;
        }
        mkperf_turn_give();
        pthread_join(t->thread, NULL);
        mkperf_turn_take();
        free(t->name);
        free(t->spec);
        free(t->key_file);
        free(t);
        a->target[i] = a->target[--a->ntargets];
    }
}

enum mkperf_status agent_read_list(struct agent *a, struct mkperf_error *e)
{
    static const char space[] = " \t\r\n";
    FILE *f = fopen(a->list, "re");
    char line[LINE], *rest;

    MKPERF_FAIL_IF(f == NULL, e, MKPERF_ERR_INPUT, "%s: %s", a->list, strerror(errno));
    for (size_t i = 0; i < a->ntargets; i++) {
        a->target[i]->listed = !a->target[i]->of_file;
    }
    /* A line is NAME TARGET [KEY-FILE]; blank lines and lines that begin with # are skipped. */
    for (unsigned number = 1; e->status == MKPERF_OK && fgets(line, sizeof line, f) != NULL;
         number++) {
        if (strchr(line, '\n') == NULL && !feof(f)) {
            mkperf_error_set(e, MKPERF_ERR_INPUT, "%s:%u: a line of more than %d characters",
                             a->list, number, LINE - 2);
            break;
        }
        const char *name = strtok_r(line, space, &rest), *spec = strtok_r(NULL, space, &rest),
                   *key = strtok_r(NULL, space, &rest);

        if (name == NULL || name[0] == '#') {
            continue;
        }
        struct agent_target *t = find_target(a, name);
        bool same_key = t != NULL &&
                        (key == NULL || t->key_file == NULL ? key == t->key_file
                                                            : strcmp(key, t->key_file) == 0);
        if (spec == NULL || strtok_r(NULL, space, &rest) != NULL) {
            mkperf_error_set(e, MKPERF_ERR_INPUT, "%s:%u: want NAME TARGET [KEY-FILE]", a->list,
                             number);
        } else if (same_key && strcmp(t->spec, spec) == 0) {
            t->listed = true;
        } else if (agent_add(a, name, spec, key, e) !=
                   MKPERF_OK) { /* it is new, or has another address or key */
            struct mkperf_error why = *e;
            mkperf_error_set(e, why.status, "%s:%u: %.600s", a->list, number, why.text);
        }
    }
    if (e->status == MKPERF_OK && ferror(f)) {
        mkperf_error_set(e, MKPERF_ERR_INPUT, "%s: %s", a->list, strerror(errno));
    }
    (void)fclose(f);
    for (size_t i = 0; e->status == MKPERF_OK && i < a->ntargets; i++) {
        a->target[i]->stop |= !a->target[i]->listed;
    }
    return e->status;
}

/* ---- each tick ---- */

void agent_run(struct agent *a)
{
    double last = mkperf_now_s();
    struct timespec seen = {.tv_sec = 0};
    struct stat st;
    size_t running = 1;

    while (*a->stop == 0 && running > 0) {
        mkperf_poll(NULL, 0, TARGET_TICK_MS);
        double now = mkperf_now_s();
        double offset = wall_s() - now;
        double step = offset - a->clock_offset_s;
        if (a->clock_offset_s != 0 && (step > STEP_S || step < -STEP_S)) {
            a->clock_steps++;
            mkperf_print_line(stderr, "mkperf agent: this machine's clock was set by %.3f s", step);
        }
        a->clock_offset_s = offset;
        if (a->list != NULL && stat(a->list, &st) == 0 &&
            (st.st_mtim.tv_sec != seen.tv_sec || st.st_mtim.tv_nsec != seen.tv_nsec)) {
            struct mkperf_error e = {.status = MKPERF_OK};

            seen = st.st_mtim;
            if (agent_read_list(a, &e) != MKPERF_OK) {
                mkperf_print_line(stderr, "mkperf agent: %s", e.text);
            }
        }
        running = a->list != NULL;
        for (size_t i = 0; i < a->ntargets; i++) {
            struct agent_target *t = a->target[i];

            running += !t->over;
            enum mkperf_peer_state state = t->recorder.link.state;
            t->up = t->why[0] == '\0' &&
                    (state == MKPERF_PEER_OPEN || state == MKPERF_PEER_SEALED) &&
                    now - t->recorder.link.heard_s < a->options.link.timeout_s;
            t->missed_s += t->up ? 0 : now - last;
            /* Writes each second what was recorded, so that a killed agent leaves it. */
            struct mkperf_error e;

            if (t->window.perfdata != NULL && now - t->synced_s >= SYNC_S) {
                t->synced_s = now;
                (void)mkperf_perfdata_sync(t->window.perfdata,
                                           &e); /* the next record reports the error */
            }
            if (t->window.open && now - t->window.opened_s >= a->window_s) {
                agent_window_end(&t->window);
                if (t->agent->spool != NULL) {
                    char *path = mkperf_xprintf("%s/%s.last", t->agent->spool, t->name);
                    FILE *f = fopen(path, "we");

                    if (f != NULL) {
                        (void)fclose(f);
                    }
                    free(path);
                }
            }
        }
        last = now;
        collect(a);
    }
}

void agent_free(void *agent)
{
    struct agent *a = agent;

    a->ending = true;
    for (size_t i = 0; i < a->ntargets; i++) {
        a->target[i]->stop = 1;
    }
    while (a->ntargets > 0) {
        mkperf_poll(NULL, 0, 10);
        collect(a);
    }
    if (a->daemon != NULL) {
        mkperf_turn_give();
        view_http.stop_daemon(a->daemon);
        mkperf_turn_take();
    }
    for (unsigned i = 0; i < a->nto; i++) {
        agent_push_join(&a->outbox[i]);
        agent_outbox_free(&a->outbox[i]);
    }
    mkperf_symbols_free(a->elfs);
    free(a->target);
}
