/* SPDX-License-Identifier: BSD-2-Clause */
/* The functions of chains, and the reading of a recording into a profile; see frames.h. */
#include "frames.h"

const char *mkperf_frames_text(const struct mkperf_frames *f, uint32_t number)
{
    return mkperf_places_text(&f->profile->places, number);
}

static enum mkperf_status take_end(void *self, const struct mkperf_item *item,
                                   struct mkperf_error *e)
{
    struct mkperf_totals *t = self;

    (void)e;
    if (item->kind == MKPERF_ITEM_END) {
        t->first_ns = item->totals->first_ns;
        t->last_ns = item->totals->last_ns;
    }
    return MKPERF_OK;
}

enum mkperf_status mkperf_frames_time(struct report_filter *filter, const char *path,
                                      struct mkperf_error *e)
{
    const struct mkperf_input in = {.from = "perf"};
    const struct mkperf_question question = {.text = "time"};
    struct mkperf_totals t = {.samples = 0};
    struct mkperf_sink sink = {.take = take_end, .self = &t, .leaves_only = true};

    e->status = MKPERF_OK;
    if (!filter->has_time || !filter->percent) {
        return MKPERF_OK;
    }
    MKPERF_FAIL_IF(strcmp(path, "-") == 0, e, MKPERF_ERR_USAGE,
                   "--time: percentages need a file, standard input is read once");
    MKPERF_TRY(mkperf_input_ask(path, &in, &sink, &question, e));
    double span = t.last_ns > t.first_ns ? (double)(t.last_ns - t.first_ns) : 0;
    filter->from_ns = t.first_ns + (uint64_t)(span * filter->from_percent / 100);
    filter->to_ns = t.first_ns + (uint64_t)(span * filter->to_percent / 100);
    return MKPERF_OK;
}

enum mkperf_status report_check_names(const struct mkperf_profile *p, const char *path,
                                      const char *pd, const char *event, struct mkperf_error *e)
{
    const struct report_filter *f = &p->filter;
    char list[MKPERF_CPU_LIST_TEXT], core[sizeof list + 4] = "", time[128] = "";
    uint64_t passed = 0;
    for (unsigned i = 0; i < p->places.session.nevents; i++) {
        passed += p->total[i].samples;
    }
    if (f->cores.given) {
        snprintf(core, sizeof core, " of %s", mkperf_cpu_list_text(&f->cores, list));
    }
    if (f->has_time) {
        snprintf(time, sizeof time, " in that time (the first is at %.9f s, the last at %.9f s)",
                 (double)p->totals.first_ns / 1e9, (double)p->totals.last_ns / 1e9);
    }
    MKPERF_FAIL_IF(passed == 0 && p->totals.samples != 0 && (f->cores.given || f->has_time), e,
                   MKPERF_ERR_USAGE, "%s: no sample%s%s", path, core, time);
    for (unsigned events = 0; events < 2; events++) { /* its PDs, then its events */
        const char *wanted = events ? event : pd;
        bool has = wanted == NULL;
        struct mkperf_guess guess;
        char near[MKPERF_GUESS_TEXT];
        mkperf_guess_begin(&guess, has ? "" : wanted);
        for (uint32_t i = 0; !has && i < (events ? p->places.session.nevents : p->places.npds);
             i++) {
            const char *name = events ? p->places.session.event[i].name
                                      : mkperf_profile_pd_name(p, i);
            has = strcmp(wanted, name) == 0;
            mkperf_guess_try(&guess, name, "");
        }
        MKPERF_FAIL_IF(!has, e, MKPERF_ERR_USAGE,
                       events ? "%s: no event '%s'%s" : "%s: no sample of a PD '%s'%s", path,
                       wanted, mkperf_guess_text(&guess, near));
    }
    return MKPERF_OK;
}

enum mkperf_status mkperf_frames_read(struct mkperf_frames *f, struct mkperf_profile *profile,
                                      const char *path, bool with_line,
                                      const struct report_names *names, struct mkperf_error *e)
{
    const struct mkperf_input in = {.from = "perf"};
    enum mkperf_status status;

    *f = (struct mkperf_frames){.profile = profile, .with_line = with_line};
    profile->places.no_lines = !profile->places.inlined;
    MKPERF_TRY(mkperf_frames_time(&profile->filter, path, e));
    mkperf_progress_begin(strcmp(path, "-") == 0 ? "standard input" : path);
    profile->wide = mkperf_input_keeps(path, in.from);
    const struct mkperf_question question = mkperf_profile_question(profile);
    const struct mkperf_sink sink = mkperf_profile_sink(profile);
    status = mkperf_input_ask(path, &in, &sink, &question, e);
    free((char *)question.text);
    mkperf_progress_end();
    if (status != MKPERF_OK) {
        return mkperf_input_name_file(path, e);
    }
    return names != NULL ? report_check_names(profile, path, names->pd, names->event, e) : status;
}

void mkperf_frames_close(struct mkperf_frames *f)
{
    free(f->function_of);
    free(f->chain_at);
    free(f->list);
    mkperf_hash_free(&f->functions);
}

void mkperf_recording_free(void *recording)
{
    struct mkperf_recording *r = recording;

    mkperf_frames_close(&r->frames);
    mkperf_profile_free(&r->profile);
}

void mkperf_frames_warnings(const struct mkperf_frames *f, mkperf_put_warning *put, void *self)
{
    const struct mkperf_profile *p = f->profile;
    char text[1024];

    if (p->totals.cut) {
        snprintf(text, sizeof text,
                 "cut off, or its end has no totals of losses (the last %" PRIu64
                 " bytes are an incomplete record): more may be missing than is known%s",
                 p->totals.cut_bytes,
                 p->totals.recoverable ? "; mkperf recover finishes the file" : "");
        put(self, MKPERF_WARNING, text);
    }
    if (!p->runs) { /* a report of runs shows no functions */
        mkperf_places_unnamed(&p->places, "no ELF of it is known", put, self);
    }
}

static void print_warning(void *out, enum mkperf_warning_level level, const char *text)
{
    fprintf(out, "# %s: %s\n", level == MKPERF_WARNING ? "WARNING" : mkperf_warning_names[level],
            text);
}

void mkperf_frames_warn(const struct mkperf_frames *f, FILE *out)
{
    mkperf_frames_warnings(f, print_warning, out);
}

void mkperf_frames_cost(struct mkperf_frames *f, FILE *out)
{
    struct mkperf_profile *p = f->profile;
    char text[256];

    mkperf_profile_cost(p);
    for (uint32_t i = 0; i < p->places.session.nevents && !p->off_cpu && !p->runs; i++) {
        mkperf_cost_text(&p->cost, &p->places, i, p->total[i].period, text, sizeof text);
        fprintf(out, "# cost        of profiling: %s\n", text);
    }
}

/* Returns the number of the function of frame `at`, which is a frame of the place. */
static uint32_t function_of(struct mkperf_frames *f, const struct mkperf_place *place, uint32_t at)
{
    struct mkperf_places *places = &f->profile->places;

    MKPERF_GROW(f->function_of, f->room, (size_t)at + 1);
    if (f->function_of[at] == 0) {
        const struct mkperf_frame *frame = &places->frame[at];
        uint32_t name = places->function[frame->function].name;
        uint32_t line = 0;
        char text[MKPERF_HASH_TEXT] = "??:0";

        if (f->with_line) { /* "file:line" of the frame, or of the innermost code */
            struct mkperf_module *m = mkperf_frames_module(f, place->pd, place->kernel);
            struct mkperf_line at_line;

            if (places->inlined && frame->file != 0) {
                snprintf(text, sizeof text, "%s:%" PRIu32,
                         basename(mkperf_places_text(places, frame->file)), frame->line);
            } else if (m != NULL && mkperf_lines_at(m, place->addr, &at_line, 1) != 0 &&
                       at_line.file != NULL) {
                snprintf(text, sizeof text, "%s:%d", basename(at_line.file), at_line.line);
            }
            line = mkperf_hash_text_number(&places->texts, text);
        }
        if (places->function[frame->function].inlined) {
            snprintf(text, sizeof text, "%s (inlined)", mkperf_places_text(places, name));
            name = mkperf_hash_text_number(&places->texts, text);
        }
        uint64_t key[4] = {place->pd,
                           place->kernel |
                               (uint64_t)places->function[frame->function].inlined << 1 |
                               (uint64_t)(uint8_t)place->guest << 8,
                           name, line};
        f->function_of[at] = mkperf_hash_number(&f->functions, key, 4) + 1;
    }
    return f->function_of[at] - 1;
}

uint32_t mkperf_frames_of(struct mkperf_frames *f, uint32_t chain,
                          uint32_t function[MKPERF_FRAMES_MAX])
{
    MKPERF_GROW(f->chain_at, f->chain_room, (size_t)chain + 1);
    if (f->chain_at[chain] == 0) {
        struct mkperf_profile_chain c;
        uint32_t n = 0;

        mkperf_profile_chain(f->profile, chain, &c);
        MKPERF_GROW(f->list, f->list_room, f->listed + 1 + MKPERF_FRAMES_MAX);
        for (uint32_t i = 0; i < c.n; i++) {
            struct mkperf_place place = f->profile->places.place[c.place[i]];
            uint32_t room = MKPERF_FRAMES_MAX - n - (c.n - i - 1); /* each later place needs one */
            uint32_t left_out = place.nframes > room ? place.nframes - room : 0;

            for (uint32_t j = left_out; j < place.nframes; j++) {
                f->list[f->listed + ++n] = function_of(f, &place, place.first + j);
            }
        }
        f->chain_at[chain] = f->listed + 1;
        f->list[f->listed] = n;
        f->listed += 1 + n;
    }
    const uint32_t *list = f->list + f->chain_at[chain] - 1;
    memcpy(function, list + 1, list[0] * sizeof *list);
    return list[0];
}

struct mkperf_label mkperf_frames_label(const struct mkperf_frames *f, uint32_t number)
{
    const uint64_t *key = mkperf_hash_key(&f->functions, number);

    return (struct mkperf_label){.pd = (uint32_t)key[0],
                                 .kernel = key[1] & 1,
                                 .inlined = key[1] >> 1 & 1,
                                 .guest = (char)(key[1] >> 8),
                                 .name = (uint32_t)key[2],
                                 .line = (uint32_t)key[3]};
}

const char *mkperf_frames_guess(struct mkperf_frames *f, const char *wanted,
                                char buffer[MKPERF_GUESS_TEXT])
{
    uint32_t function[MKPERF_FRAMES_MAX];
    struct mkperf_guess guess;

    mkperf_guess_begin(&guess, wanted);
    for (uint32_t i = 0; i < f->profile->chains.count; i++) {
        if (mkperf_frames_of(f, i, function) > 0) {
            mkperf_guess_try(&guess,
                             mkperf_frames_text(f, mkperf_frames_label(f, function[0]).name), "");
        }
    }
    return mkperf_guess_text(&guess, buffer);
}
