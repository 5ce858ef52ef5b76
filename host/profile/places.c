/* SPDX-License-Identifier: BSD-2-Clause */
/* From addresses to named frames, see places.h. */
#include "places.h"

#include "model/relays.h"
#include "scheduling.h"

enum { PAGE = 4096 };

/* Values of `owner`: OWNER_PDS + a PD, or one of the others. */
enum { OWNER_KERNEL = 1, OWNER_PDS };
#define OWNER_SEVERAL UINT32_MAX

const char *mkperf_places_text(const struct mkperf_places *s, uint32_t number)
{
    return mkperf_hash_text(&s->texts, number);
}

/* Opens an ELF. *problem is why the recorder had none, or NULL; it is replaced by why there is none here. */
static struct mkperf_module *open_module(struct mkperf_places *s, const char *elf,
                                         const struct mkperf_build_id *id, char **problem)
{
    struct mkperf_module *m = NULL;
    char *recorded = *problem;
    struct mkperf_error e;

    if (elf == NULL && id->n == 0) {
        return NULL;
    }
    if (mkperf_symbols_recorded(s->symbols, elf, id, &m, &e) == MKPERF_OK) {
        *problem = NULL;
    } else if (elf == NULL && recorded != NULL) {
        *problem = mkperf_xprintf("%s; --elf-path DIR names where that build is", recorded);
    } else {
        *problem = mkperf_xstrdup(e.text);
    }
    free(recorded);
    return m;
}

static void begin(struct mkperf_places *s, const struct mkperf_session *session)
{
    mkperf_session_keep(&s->session, session);
    if (s->no_elfs) {
        return;
    }
    s->symbols = s->search.open != NULL ? s->search.open : mkperf_symbols_new();
    mkperf_hash_text_number(&s->texts, ""); /* text 0 */
    s->kernel_problem = mkperf_xstrdup(session->kernel_unnamed);
    mkperf_symbols_expect(s->symbols, session->arch);
    mkperf_symbols_search(s->symbols, &s->search);
    s->kernel = open_module(s, session->kernel_elf, &session->kernel_build_id, &s->kernel_problem);
    s->capture = s->kernel != NULL ? mkperf_symbol_address(s->kernel, "mkperf_capture") : 0;
}

static enum mkperf_status add_pd(struct mkperf_places *s, const struct mkperf_pd *pd,
                                 struct mkperf_error *e)
{
    MKPERF_GROW(s->pd, s->pd_room, (size_t)pd->id + 1);
    s->npds = s->npds > pd->id ? s->npds : pd->id + 1;
    struct mkperf_places_pd *p = &s->pd[pd->id];
    MKPERF_FAIL_IF(p->name != NULL, e, MKPERF_ERR_FAILED, "PD %s is announced twice", p->name);
    p->thread = pd->thread;
    p->priority = pd->scheduling.priority;
    p->name = mkperf_xstrdup(pd->name);
    p->elf = mkperf_xstrdup(pd->elf);
    p->parent = mkperf_xstrdup(pd->parent);
    p->problem = mkperf_xstrdup(pd->unnamed);
    p->module = s->no_elfs ? NULL : open_module(s, p->elf, &pd->build_id, &p->problem);
    if (p->elf == NULL && p->module != NULL) {
        p->elf = mkperf_xstrdup(mkperf_module_path(p->module));
    }
    p->profiler = pd->profiler || mkperf_module_is_profiler(p->module);
    return MKPERF_OK;
}

enum mkperf_status mkperf_places_take(void *self, const struct mkperf_item *item,
                                      struct mkperf_error *e)
{
    struct mkperf_places *s = self;

    if (item->kind == MKPERF_ITEM_BEGIN) {
        begin(s, item->session);
    } else if (item->kind == MKPERF_ITEM_EVENTS) {
        s->session.nevents = item->session->nevents;
        memcpy(s->session.event, item->session->event, sizeof s->session.event);
    }
    return item->kind == MKPERF_ITEM_PD ? add_pd(s, item->pd, e) : MKPERF_OK;
}

void mkperf_places_free(struct mkperf_places *s)
{
    for (uint32_t i = 0; i < s->npds; i++) {
        free(s->pd[i].name);
        free(s->pd[i].elf);
        free(s->pd[i].parent);
        free(s->pd[i].problem);
    }
    free(s->pd);
    mkperf_session_free(&s->session);
    free(s->kernel_problem);
    free(s->function);
    free(s->place);
    free(s->frame);
    free(s->owner);
    mkperf_hash_free(&s->texts);
    mkperf_hash_free(&s->functions);
    mkperf_hash_free(&s->places);
    if (s->symbols != s->search.open) {
        mkperf_symbols_free(s->symbols);
    }
    *s = (struct mkperf_places){.npds = 0};
}

/* Adds a frame of the function named `name` to those of the place that is being resolved. */
static void add_frame(struct mkperf_places *s, struct mkperf_function f, const char *name,
                      const struct mkperf_line *at)
{
    char whole[MKPERF_HASH_TEXT];

    f.name = mkperf_hash_text_number(&s->texts, name);
    if (at != NULL && at->file != NULL) { /* the whole path */
        snprintf(whole, sizeof whole, "%s%s%s", at->directory != NULL ? at->directory : "",
                 at->directory != NULL ? "/" : "", at->file);
        f.file = mkperf_hash_text_number(&s->texts, whole);
    }
    uint64_t key[3] = {f.pd | (uint64_t)f.kernel << 32 | (uint64_t)f.inlined << 33 |
                           (uint64_t)(uint8_t)f.guest << 40,
                       f.name, f.inlined ? f.file : f.start};
    uint32_t known = s->functions.count, number = mkperf_hash_number(&s->functions, key, 3);
    MKPERF_GROW(s->function, s->function_room, s->functions.count);
    if (number == known) {
        uint32_t own = f.kernel ? OWNER_KERNEL : OWNER_PDS + f.pd;

        s->function[number] = f;
        MKPERF_GROW(s->owner, s->owner_room, (size_t)f.name + 1);
        uint32_t *owner = &s->owner[f.name];
        *owner = *owner == 0 || *owner == own ? own : OWNER_SEVERAL;
    }
    MKPERF_GROW(s->frame, s->frame_room, (size_t)s->nframes + 1);
    s->frame[s->nframes++] = (struct mkperf_frame){
        .function = number,
        .file = f.file,
        .line = at != NULL && at->line > 0 ? (uint32_t)at->line : 0,
    };
}

void mkperf_places_unknown(bool kernel, uint64_t addr, char name[MKPERF_PLACES_UNKNOWN])
{
    uint64_t page = addr & ~(uint64_t)(PAGE - 1);

    if (kernel && addr == 0) {
        snprintf(name, MKPERF_PLACES_UNKNOWN, "[unknown]");
    } else {
        snprintf(name, MKPERF_PLACES_UNKNOWN, "[unknown] 0x%" PRIx64 "-0x%" PRIx64, page,
                 page + PAGE - 1);
    }
}

static const char *name_of_pd(const void *self, uint32_t pd)
{
    return mkperf_places_pd_name(self, pd);
}

/* Returns the number of a place. A new place is resolved. */
static uint32_t place_number(struct mkperf_places *s, struct mkperf_place p)
{
    uint64_t key[2] = {p.pd | (uint64_t)p.kernel << 32 | (uint64_t)p.blocked << 33 |
                           (uint64_t)p.edge << 34 | (uint64_t)(uint8_t)p.guest << 40,
                       p.addr};
    uint32_t known = s->places.count;
    uint32_t number = mkperf_hash_number(&s->places, key, 2);
    struct mkperf_function f = {.pd = p.pd, .kernel = p.kernel, .guest = p.guest};
    struct mkperf_line line[MKPERF_PLACES_INLINED];
    struct mkperf_symbol symbol;
    char text[288];

    _Static_assert(sizeof text >= MKPERF_BLOCKED_TEXT && sizeof text >= MKPERF_PLACES_UNKNOWN,
                   "room");
    if (number != known) {
        return number;
    }
    struct mkperf_module *m = p.kernel ? s->kernel : p.pd < s->npds ? s->pd[p.pd].module : NULL;
    MKPERF_GROW(s->place, s->place_room, s->places.count);
    p.first = s->nframes;
    f.known = p.blocked || p.edge;
    if (p.blocked) {
        mkperf_blocked_text(p.addr, name_of_pd, s, text);
        add_frame(s, f, text, NULL);
    } else if (p.edge) {
        snprintf(text, sizeof text, "[%.255s]%s", mkperf_places_pd_name(s, p.pd),
                 p.addr != 0 ? " (inferred)" : "");
        add_frame(s, f, text, NULL);
    } else if (m != NULL && mkperf_symbol_at(m, p.addr, &symbol)) {
        size_t n = s->no_lines ? 0 : mkperf_lines_at(m, p.addr, line, MKPERF_PLACES_INLINED);
        f.known = true;
        for (size_t i = 0; s->inlined && i + 1 < n; i++) {
            struct mkperf_function in = f;
            in.inlined = true;
            add_frame(s, in, line[i].function != NULL ? line[i].function : "[inlined]", &line[i]);
        }
        f.start = symbol.start;
        f.size = symbol.size;
        add_frame(s, f, symbol.name, n > 0 ? &line[n - 1] : NULL);
    } else {
        mkperf_places_unknown(f.kernel, p.addr, text);
        if (!f.kernel || p.addr != 0) {
            f.start = p.addr & ~(uint64_t)(PAGE - 1);
            f.size = PAGE;
        }
        add_frame(s, f, text, NULL);
    }
    p.nframes = s->nframes - p.first;
    s->place[number] = p;
    return number;
}

uint32_t mkperf_places_edge(struct mkperf_places *s, uint32_t pd, bool inferred)
{
    return place_number(s, (struct mkperf_place){.pd = pd, .edge = true, .addr = inferred});
}

uint32_t mkperf_sample_addresses(const struct mkperf_sample *sample,
                                 struct mkperf_place out[MKPERF_PLACES_MAX])
{
    bool user = !(sample->flags & MKPERF_SAMPLE_NO_USER);
    char guest = mkperf_guest_letter(sample->flags);
    uint32_t n = 0;

    if (sample->flags & MKPERF_SAMPLE_KERNEL) {
        out[n++] =
            (struct mkperf_place){.addr = sample->kernel_pc, .pd = sample->pd, .kernel = true};
    }
    if (sample->flags & MKPERF_SAMPLE_BLOCKED) {
        out[n++] = (struct mkperf_place){.addr = sample->wait, .pd = sample->pd, .blocked = true};
    }
    if (user) {
        out[n++] = (struct mkperf_place){.addr = sample->pc, .pd = sample->pd, .guest = guest};
    }
    for (unsigned i = 0; i < sample->callers->n; i++) {
        const struct mkperf_caller *c = &sample->callers->caller[i];
        out[n++] = (struct mkperf_place){.addr = c->addr - (c->addr != 0),
                                         .pd = c->pd,
                                         .kernel = !user,
                                         .guest = guest,
                                         .is_return = c->addr != 0};
    }
    return n;
}

uint32_t mkperf_places_of(struct mkperf_places *s, uint32_t pd,
                          const struct mkperf_place address[MKPERF_PLACES_MAX], uint32_t n,
                          uint32_t place[MKPERF_PLACES_MAX])
{
    if (n == 0) { /* it ran neither in the kernel nor in user mode, as far as is known */
        place[0] = place_number(s, (struct mkperf_place){.pd = pd, .kernel = true});
        return 1;
    }
    for (uint32_t i = 0; i < n; i++) {
        place[i] = place_number(s, address[i]);
    }
    return n;
}

const char *mkperf_places_one_of_several(const struct mkperf_places *s, uint32_t function)
{
    const struct mkperf_function *f = &s->function[function];

    return s->owner[f->name] != OWNER_SEVERAL ? NULL
           : f->kernel                        ? "kernel"
                                              : mkperf_places_pd_name(s, f->pd);
}

const char *mkperf_places_pd_name(const struct mkperf_places *s, uint32_t pd)
{
    return pd < s->npds && s->pd[pd].name != NULL ? s->pd[pd].name : "[unknown]";
}

bool mkperf_places_ambiguous(const struct mkperf_places *s, uint32_t pd)
{
    return pd < s->npds && s->pd[pd].thread == MKPERF_THREAD_AMBIGUOUS;
}

bool mkperf_places_inferred(const struct mkperf_places *s, uint32_t event)
{
    const struct mkperf_event *all = s->session.event;

    if (event >= s->session.nevents) {
        return false;
    }
    for (uint32_t i = 0; i < s->session.nevents; i++) {
        if (all[i].code == MKPERF_TIMER_CODE &&
            (i == event || (all[i].group != 0 && all[i].group == all[event].group))) {
            return true;
        }
    }
    return false;
}

bool mkperf_places_idle(const struct mkperf_places *s, uint32_t pd)
{
    return pd < s->npds && s->pd[pd].thread == MKPERF_THREAD_IDLE;
}

const char *mkperf_places_event_name(const struct mkperf_places *s, uint32_t event, char room[32])
{
    if (event < s->session.nevents && s->session.event[event].name[0] != '\0') {
        return s->session.event[event].name;
    }
    snprintf(room, 32, "event-%" PRIu32, event);
    return room;
}

void mkperf_places_warnings(const struct mkperf_places *s, const struct mkperf_totals *totals,
                            mkperf_put_warning *put, void *self)
{
    mkperf_warnings_each(&s->session, totals, name_of_pd, s, put, self);
}

static void put_unnamed(const char *of, const char *why, enum mkperf_warning_level level,
                        mkperf_put_warning *put, void *self)
{
    char text[1024];

    if (why != NULL) {
        snprintf(text, sizeof text, "no symbols for %s: %s", of, why);
        put(self, level, text);
    }
}

void mkperf_places_unnamed(const struct mkperf_places *s, const char *none, mkperf_put_warning *put,
                           void *self)
{
    for (uint32_t i = 0; i < s->npds; i++) {
        const struct mkperf_places_pd *p = &s->pd[i];
        bool asked = p->module == NULL && p->samples > 0 && p->thread != MKPERF_THREAD_IDLE &&
                     p->thread != MKPERF_THREAD_AMBIGUOUS;

        put_unnamed(mkperf_places_pd_name(s, i),
                    p->problem != NULL ? p->problem
                    : asked            ? none
                                       : NULL,
                    MKPERF_WARNING, put, self);
    }
    if (s->kernel_problem != NULL) {
        put_unnamed("the kernel", s->kernel_problem, MKPERF_WARNING, put, self);
    } else if (s->kernel == NULL) {
        put_unnamed("the kernel", none, MKPERF_NOTE, put, self);
    }
}

static void print_unnamed(void *out, enum mkperf_warning_level level, const char *text)
{
    (void)level;
    mkperf_print_line(out, "mkperf: warning: %s", text);
}

void mkperf_places_warn(const struct mkperf_places *s, FILE *out)
{
    mkperf_places_unnamed(s, NULL, print_unnamed, out);
}
