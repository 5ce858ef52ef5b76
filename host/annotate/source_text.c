/* SPDX-License-Identifier: BSD-2-Clause */
/* Owns: see source_text.h. A file is read once; of very large ones only the beginning. */
#include "source_text.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/printable.h"
#include "base/xalloc.h"

static char *read_text(const char *path)
{
    FILE *f = fopen(path, "rb");
    char *text = NULL;
    size_t n = 0;

    if (!f) {
        return NULL;
    }
    if (fseeko(f, 0, SEEK_END) == 0 && ftello(f) > 0) {
        n = (size_t)ftello(f) < ANNOTATE_SOURCE_BYTES ? (size_t)ftello(f) : ANNOTATE_SOURCE_BYTES;
    }
    rewind(f);
    text = mkperf_xcalloc(n + 1, 1);
    text[fread(text, 1, n, f)] = '\0';
    mkperf_printable_lines(text);
    (void)fclose(f);
    return text;
}

static void split(struct annotate_source *f)
{
    int n = 1;

    for (const char *p = f->text; *p; p++) {
        n += *p == '\n';
    }
    f->line = mkperf_xcalloc((size_t)n, sizeof *f->line);
    for (char *p = f->text; p; f->nlines++) {
        char *end = strchr(p, '\n');

        f->line[f->nlines] = p;
        if (end) {
            *end++ = '\0';
        }
        p = end;
    }
}

static struct annotate_source *find(struct annotate_sources *s, const char *path)
{
    for (size_t i = 0; i < s->n; i++) {
        if (strcmp(s->file[i].path, path) == 0) {
            return &s->file[i];
        }
    }
    if (s->n == ANNOTATE_SOURCES_MAX) {
        return NULL;
    }
    s->file = mkperf_xrealloc(s->file, s->n + 1, sizeof *s->file);
    s->file[s->n] = (struct annotate_source){.path = mkperf_xstrdup(path), .text = read_text(path)};
    if (s->file[s->n].text) {
        split(&s->file[s->n]);
    }
    return &s->file[s->n++];
}

const char *annotate_source_line(struct annotate_sources *s, const char *directory,
                                 const char *path, int line)
{
    const struct annotate_source *f = NULL;
    char *whole = NULL;

    if (directory && asprintf(&whole, "%s/%s", directory, path) >= 0) {
        f = find(s, whole);
        free(whole);
    }
    if (!f || !f->text) {
        f = find(s, path);
    }
    return f && line >= 1 && line <= f->nlines ? f->line[line - 1] : NULL;
}

void annotate_sources_free(struct annotate_sources *s)
{
    for (size_t i = 0; i < s->n; i++) {
        free(s->file[i].path);
        free(s->file[i].text);
        free(s->file[i].line);
    }
    free(s->file);
    *s = (struct annotate_sources){.n = 0};
}
