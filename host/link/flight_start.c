/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Owns: the start of a flight recording (`mkperf record --overwrite` and `--stop-if`), the conditions that end it, and the reason of
 * its end. See recorder.h.
 */
#include "recorder.h"

#include <mkperf/session.h>

/* ---- conditions ---- */

/* A condition: its first word, how it is sent, and which of its parts it has. */
static const struct form {
    const char *word;
    mkperf_StopKind kind;
    bool from, time; /* "A->B" is possible; "> T" is needed */
} forms[] = {
    {"call", mkperf_StopKind_STOP_CALL, true, true},
    {"wake irq", mkperf_StopKind_STOP_IRQ, false, true},
    {"wake", mkperf_StopKind_STOP_NOTIFY, true, true},
    {"ready", mkperf_StopKind_STOP_READY, false, true},
    {"throttled", mkperf_StopKind_STOP_THROTTLED, false, false},
};

/* Stores the identity of a PD as the wire has it: 0 for "". False: no PD has that name. */
static bool find_pd(const struct mkperf_pds *pds, const char *name, uint64_t *out)
{
    const struct mkperf_pd *pd = mkperf_pds_named(pds, name, strlen(name));

    *out = pd != NULL ? pd->thread + 2 : 0;
    return pd != NULL || name[0] == '\0';
}

/* Removes blanks at both ends. */
static char *trimmed(char *text)
{
    text += strspn(text, " ");
    for (size_t n = strlen(text); n > 0 && text[n - 1] == ' '; n--) {
        text[n - 1] = '\0';
    }
    return text;
}

/* Reads what is behind the first word: "A->B > T", "N > T" or "NAME". NULL, or what is wrong with it. */
static const char *read_condition(const struct form *f, char *text, const struct mkperf_pds *pds,
                                  mkperf_StopIf *out)
{
    char *arrow = f->from ? strstr(text, "->") : NULL;
    char *time = strchr(arrow != NULL ? arrow + 2 : text, '>');

    *out = (mkperf_StopIf){.kind = f->kind};
    if ((time != NULL) != f->time) {
        return f->time ? "\"> TIME\" is missing" : "it has no time";
    }
    if (time != NULL) {
        *time = '\0';
        out->ns = mkperf_duration_ns(trimmed(time + 1));
        if (out->ns == 0 || out->ns > 10000000000) {
            return "want a time with its unit up to 10s, as in 500us";
        }
    }
    if (arrow != NULL) {
        *arrow = '\0';
        if (!find_pd(pds, trimmed(text), &out->from)) {
            return "no PD has the first name (names come from the image, or from --system)";
        }
        text = arrow + 2;
    }
    text = trimmed(text);
    if (f->kind == mkperf_StopKind_STOP_IRQ) {
        char *end;
        unsigned long irq = strtoul(text, &end, 10);
        out->from = irq + 1;
        return *text >= '0' && *text <= '9' && *end == '\0' && irq < 4096
                   ? NULL
                   : "want an interrupt's number below 4096";
    }
    return find_pd(pds, text, &out->to)
               ? NULL
               : "no PD has that name (names come from the image, or from --system)";
}

/* Reads the condition "fault NAME", or "fault" for all PDs. */
static const char *read_fault(char *text, const struct mkperf_pds *pds, mkperf_Configure *c)
{
    uint64_t thread;

    text = trimmed(text);
    if (!find_pd(pds, text, &thread)) {
        return "no PD has that name (names come from the image, or from --system)";
    }
    for (uint32_t i = 0; i < (thread != 0 ? 1 : pds->n); i++) {
        if (c->dump_on_fault_count == MKPERF_MAX_FAULTS) {
            return thread != 0 ? "too many PDs" : "the system has too many PDs: name some";
        }
        c->dump_on_fault[c->dump_on_fault_count++] = thread != 0 ? thread : pds->pd[i].thread + 2;
    }
    return NULL;
}

/*
 * Fills c->stop_if, or c->dump_on_fault, with the conditions of --stop-if. Errors: USAGE, with the place: no such condition or PD, or
 * too many.
 */
static enum mkperf_status add_conditions(const char *list, const struct mkperf_pds *pds,
                                         mkperf_Configure *c, struct mkperf_error *e)
{
    for (const char *at = list; at != NULL; at = *at == ',' ? at + 1 : NULL) {
        char *one = mkperf_xprintf("%.*s", (int)strcspn(at, ","), at), *text = trimmed(one);
        const char *wrong = "want call, wake, ready, throttled or fault";
        size_t n;

        if (strncmp(text, "fault", 5) == 0 && (text[5] == ' ' || text[5] == '\0')) {
            wrong = read_fault(text + 5, pds, c);
        }
        for (size_t i = 0; i < sizeof forms / sizeof *forms; i++) {
            n = strlen(forms[i].word);
            if (strncmp(text, forms[i].word, n) == 0 && (text[n] == ' ' || text[n] == '\0')) {
                wrong =
                    c->stop_if_count == MKPERF_MAX_STOPS
                        ? "more than 4 conditions"
                        : read_condition(&forms[i], text + n, pds, &c->stop_if[c->stop_if_count]);
                c->stop_if_count += wrong == NULL;
                break;
            }
        }
        free(one);
        n = strcspn(at, ",");
        MKPERF_FAIL_IF(wrong != NULL, e, MKPERF_ERR_USAGE, "--stop-if: \"%.*s\": %s", (int)n, at,
                       wrong);
        at += n;
    }
    return MKPERF_OK;
}

enum mkperf_status mkperf_flight_start(struct mkperf_recorder *r, struct mkperf_error *e)
{
    const struct mkperf_record_options *o = &r->options;
    mkperf_Configure *c = &r->options.configure;

    r->notice = mkperf_print_notice;
    MKPERF_TRY(mkperf_recorder_talk(r, NULL, NULL, e));
    MKPERF_TRY(mkperf_filter(&r->options, r->pds, e));
    MKPERF_TRY(add_conditions(o->stop_if, r->pds, c, e));
    MKPERF_TRY(mkperf_recorder_begin(r, e));
    if (!o->quiet) {
        uint32_t bytes = c->overwrite_bytes != 0 ? c->overwrite_bytes : MKPERF_OUTPUT_RING_BYTES;
        fprintf(stderr,
                "mkperf: %s: the flight recorder runs and stores the last %" PRIu32 " KiB of %s; ",
                o->link.target, bytes / 1024,
                c->events_count == 0 ? "scheduling events"
                : c->sched           ? "samples and scheduling events"
                                     : "samples");
        fprintf(stderr, o->wait ? "record waits for its end\n" : "mkperf dump -t %s fetches them\n",
                o->link.target);
    }
    return MKPERF_OK;
}

/* ---- the end ---- */

void mkperf_flight_reason(const struct mkperf_recorder *r, struct mkperf_totals *t)
{
    const mkperf_Status *s = &r->stream->status;
    double hz = (double)s->tick_hz;
    const size_t room = sizeof t->stopped;
    char *text = t->stopped, irq[32];

    text[0] = '\0';
    if (s->flight != mkperf_FlightState_FLIGHT_HELD) {
        return;
    }
    const char *to = mkperf_recorder_pd(r, s->trigger_thread);
    if (s->trigger == mkperf_FlightTrigger_FLIGHT_CONDITION) {
        if (hz > 0) {
            t->stopped_ns = (uint64_t)((double)s->trigger_ticks / hz * 1e9);
            t->stopped_at_ns = (uint64_t)((double)s->trigger_at / hz * 1e9);
        }
        /* Writes which latency ended the recording. */
        double us = (double)t->stopped_ns / 1e3, until = (double)t->stopped_at_ns / 1e9;
        if (s->trigger_kind == mkperf_StopKind_STOP_READY) {
            snprintf(text, room, "by %s: it was ready and did not run for %.3f us, until %.6f s",
                     to, us, until);
        } else if (s->trigger_kind == mkperf_StopKind_STOP_THROTTLED) {
            snprintf(text, room, "by %s: its budget was used up at %.6f s", to, until);
        } else {
            snprintf(irq, sizeof irq, "irq %" PRIu64, s->trigger_from);
            bool by_irq = s->trigger_kind == mkperf_StopKind_STOP_IRQ;
            const char *from = by_irq ? irq : mkperf_recorder_pd(r, s->trigger_from);
            snprintf(text, room, "by a %s %s -> %s that took %.3f us, until %.6f s",
                     s->trigger_kind == mkperf_StopKind_STOP_CALL ? "call" : "wake-up", from, to,
                     us, until);
        }
    } else if (s->trigger == mkperf_FlightTrigger_FLIGHT_MARK) {
        /* The target sends that mark as the last one, unless it had no space for it. */
        const char *mark = t->marks_lost == 0 ? r->stream->last_mark : "";
        const char *quote = *mark != '\0' ? "\"" : "";
        snprintf(text, room, "by an application's mark%s%s%s%s", *mark != '\0' ? " " : "", quote,
                 mark, quote);
        mkperf_printable(text);
    } else if (s->trigger == mkperf_FlightTrigger_FLIGHT_FAULT) {
        snprintf(text, room, "by a fault of %s", to);
    } else {
        snprintf(text, room, "by a stop");
    }
}
