/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * .system files: from a file or its text to struct mkperf_system, with expat.
 *
 * Owns: the life of a struct mkperf_system, and the order of elements. elements.c has their table
 * and reads their attributes; check.c checks what needs the whole file. The first error ends parsing. Document types are refused, so that there are no
 * entities to expand.
 */
#include <mkperf/record.h>

#include "system_internal.h"

/* Keeps the windows of a frame: from where the schedule starts to the end marker behind it. */
static void cut_schedule(struct reader *r)
{
    struct mkperf_system *s = r->system;
    unsigned first = (unsigned)r->start_index, end = first;

    while (end < s->nwindows && s->window[end].domain >= 0) {
        end++;
    }
    if (r->schedule == 0 && s->ndomains == 0) {
        return;
    }
    r->line = r->schedule != 0 ? r->schedule : 1;
    if (!system_demand(r, end != first, "the domain_schedule has no entry at its start_index")) {
        return;
    }
    memmove(s->window, s->window + first, (end - first) * sizeof *s->window);
    s->nwindows = end - first;
    s->first_window += first;
}

/*
 * Takes the line of what expat reports now, for messages. False: reading has failed, and the report
 * is to be ignored, because expat may call once more after XML_StopParser.
 */
static bool take_line(struct reader *r)
{
    if (!r->failed) {
        r->line = (int)XML_GetCurrentLineNumber(r->xml);
    }
    return !r->failed;
}

static void XMLCALL on_start(void *data, const char *name, const char **attrs)
{
    struct reader *r = data;

    if (take_line(r)) {
        r->attributes = attrs;
        enum element element = SYSTEM, parent = r->open[r->depth];
        while (element < ELEMENTS && strcmp(system_language[element].name, name) != 0) {
            element++;
        }

        if (system_demand(r, element < ELEMENTS, "unknown element '%.64s'", name) &&
            system_demand(r, system_language[element].parents >> parent & 1,
                          "element '%s' is not allowed here", name) &&
            system_demand(r, r->depth + 1 < SYSTEM_MAX_DEPTH, "elements are nested too deeply")) {
            r->depth++;
            r->open[r->depth] = element;
            for (const char **a = r->attributes; *a != NULL; a += 2) {
                char spaced[40];
                int n = snprintf(spaced, sizeof spaced, " %s ", a[0]);
                system_demand(r,
                              n < (int)sizeof spaced &&
                                  strstr(system_language[element].attributes, spaced) != NULL,
                              "element '%s' has no attribute '%.64s'",
                              system_language[element].name, a[0]);
            }
        }
        if (!r->failed && system_language[element].start != NULL) {
            system_language[element].start(r);
        }
    }
}

static void XMLCALL on_end(void *data, const char *name)
{
    struct reader *r = data;

    (void)name;
    if (take_line(r)) {
        enum element element = r->open[r->depth];
        if (element == PD) {
            system_demand(r, r->pd->program != NULL, "protection_domain '%s' has no program_image",
                          r->pd->name);
            r->pd = r->pd->parent >= 0 ? &r->system->pd[r->pd->parent] : NULL;
        } else if (element == CHANNEL) {
            r->line = r->system->channel[r->system->nchannels - 1].line;
            system_demand(r, r->ends_read == 2, "channel must have two ends");
        }
        r->depth--;
    }
}

static void XMLCALL on_text(void *data, const char *text, int n)
{
    struct reader *r = data;

    for (int i = 0; i < n; i++) {
        if (take_line(r)) {
            system_demand(r, strchr(" \t\r\n", text[i]) != NULL, "text does not belong here");
        }
    }
}

static void XMLCALL on_doctype(void *data, const char *name, const char *system, const char *public,
                               int internal)
{
    struct reader *r = data;

    (void)name;
    (void)system;
    (void)public;
    (void)internal;
    if (take_line(r)) {
        system_demand(r, false, "document types are not supported");
    }
}

void mkperf_system_free(struct mkperf_system *s)
{
    for (size_t i = 0; s != NULL && i < s->nkept; i++) {
        free(s->kept[i]);
    }
    if (s != NULL) {
        free(s->kept);
        free(s);
    }
}

enum mkperf_status mkperf_system_parse(const char *path, const char *text, size_t n,
                                       struct mkperf_system **out, struct mkperf_error *e)
{
    struct mkperf_system *s = mkperf_xcalloc(1, sizeof *s);
    struct reader r = {.system = s, .path = path, .line = 1, .e = e};

    s->pd = system_keep(s, mkperf_xcalloc(MKPERF_SYSTEM_MAX_PDS, sizeof *s->pd));
    r.last = &r.names;
    if (system_demand(&r, n <= MKPERF_SYSTEM_MAX_BYTES, "larger than %d bytes",
                      MKPERF_SYSTEM_MAX_BYTES) &&
        system_demand(&r, (r.xml = XML_ParserCreate(NULL)) != NULL, "out of memory")) {
        s->text = memcpy(system_keep(s, mkperf_xcalloc(n + 1, 1)), text, n);
        s->bytes = n;
        XML_SetUserData(r.xml, &r);
        XML_SetElementHandler(r.xml, on_start, on_end);
        XML_SetCharacterDataHandler(r.xml, on_text);
        XML_SetStartDoctypeDeclHandler(r.xml, on_doctype);
        if (XML_Parse(r.xml, text, (int)n, XML_TRUE) != XML_STATUS_OK && take_line(&r)) {
            system_demand(&r, false, "%s", XML_ErrorString(XML_GetErrorCode(r.xml)));
        }
        XML_ParserFree(r.xml);
        r.xml = NULL;
    }
    if (!r.failed) {
        system_resolve(&r);
        cut_schedule(&r);
    }
    if (!r.failed) {
        system_check(&r);
    }
    if (r.failed) {
        mkperf_system_free(s);
        return e->status;
    }
    *out = s;
    return MKPERF_OK;
}

enum mkperf_status mkperf_system_load(const char *path, struct mkperf_system **out,
                                      struct mkperf_error *e)
{
    char *text = mkperf_xrealloc(NULL, MKPERF_SYSTEM_MAX_BYTES + 1, 1);
    FILE *f = fopen(path, "rb");
    size_t n = f != NULL ? fread(text, 1, MKPERF_SYSTEM_MAX_BYTES + 1, f) : 0;
    enum mkperf_status status;

    if (f == NULL || ferror(f)) {
        status = mkperf_error_set(e, MKPERF_ERR_INPUT, "%s: %s", path, strerror(errno));
    } else {
        status = mkperf_system_parse(path, text, n, out, e);
    }
    free(text);
    if (f != NULL) {
        (void)fclose(f);
    }
    return status;
}
