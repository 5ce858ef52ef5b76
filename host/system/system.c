/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * .system files: reading them from disk, the small things the other files here share, and finding a
 * PD by the identity in a sample.
 */
#include "system.h"

#include <errno.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <mkperf/record.h>

#include "base/xalloc.h"
#include "system_internal.h"

bool system_error(struct place *at, const char *format, ...)
{
    char reason[512];
    va_list args;

    if (at->failed) {
        return false;
    }
    at->failed = true;
    va_start(args, format);
    vsnprintf(reason, sizeof reason, format, args);
    va_end(args);
    mkperf_error_set(at->e, MKPERF_ERR_INPUT, "%s:%d: %s", at->path, at->line, reason);
    return false;
}

void *system_append(struct place *at, void **array, unsigned *n, size_t size, const char *what)
{
    if (*n >= MKPERF_SYSTEM_MAX_ITEMS) {
        system_error(at, "too many %s, the maximum is %d", what, MKPERF_SYSTEM_MAX_ITEMS);
        return NULL;
    }
    if ((*n & (*n - 1)) == 0) { /* 0, 1, 2, 4, ...: full */
        *array = mkperf_xrealloc(*array, *n == 0 ? 1 : 2 * (size_t)*n, size);
    }
    void *item = (char *)*array + *n * size;
    memset(item, 0, size);
    (*n)++;
    return item;
}

bool system_add_setvar(struct place *at, struct mkperf_system_pd *pd, const char *symbol,
                       enum mkperf_setvar_kind kind, unsigned index, uint64_t value)
{
    for (unsigned i = 0; i < pd->nsetvars; i++) {
        if (strcmp(pd->setvar[i].symbol, symbol) == 0) {
            return system_error(at, "symbol '%s' is already set on line %d", symbol,
                                pd->setvar[i].line);
        }
    }
    if (*symbol == '\0') {
        return system_error(at, "symbol is empty");
    }
    struct mkperf_system_setvar *v =
        system_append(at, (void **)&pd->setvar, &pd->nsetvars, sizeof *v, "setvars");
    if (v == NULL) {
        return false;
    }
    *v = (struct mkperf_system_setvar){mkperf_xstrdup(symbol), kind, index, value, at->line};
    return true;
}

/* Reads all of f, at most MKPERF_SYSTEM_MAX_BYTES; NULL with errno set. */
static char *read_all(FILE *f, size_t *n)
{
    char *text = mkperf_xrealloc(NULL, MKPERF_SYSTEM_MAX_BYTES + 1, 1);

    *n = fread(text, 1, MKPERF_SYSTEM_MAX_BYTES + 1, f);
    if (ferror(f) || *n > MKPERF_SYSTEM_MAX_BYTES) {
        errno = ferror(f) ? errno : EFBIG;
        free(text);
        return NULL;
    }
    return text;
}

enum mkperf_status mkperf_system_load(const char *path, struct mkperf_system **out,
                                      struct mkperf_error *e)
{
    FILE *f = fopen(path, "rb");
    size_t n = 0;
    char *text = f != NULL ? read_all(f, &n) : NULL;
    enum mkperf_status status;

    if (text == NULL) {
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

static void free_pd(struct mkperf_system_pd *pd)
{
    for (unsigned i = 0; i < pd->nsetvars; i++) {
        free(pd->setvar[i].symbol);
    }
    free(pd->name);
    free(pd->program);
    free(pd->symbols);
    free(pd->tcb);
    free(pd->map);
    free(pd->irq);
    free(pd->setvar);
}

void mkperf_system_free(struct mkperf_system *s)
{
    if (s == NULL) {
        return;
    }
    for (unsigned i = 0; i < s->npds; i++) {
        free_pd(&s->pd[i]);
    }
    for (unsigned i = 0; i < s->nregions; i++) {
        free(s->region[i].name);
    }
    free(s->pd);
    free(s->region);
    free(s->channel);
    free(s);
}

/* A passive child runs on the scheduling context of its caller: its number alone is left. */
static bool passive_child(const struct mkperf_system_pd *pd, uint64_t thread)
{
    return pd->parent >= 0 && pd->passive && (thread & MKPERF_THREAD_CHILD_BIT) != 0 &&
           pd->child_id == (thread & 0xff);
}

int mkperf_system_find(const struct mkperf_system *s, uint64_t thread)
{
    int found = -1;

    if (thread >= MKPERF_THREAD_NONE) {
        return -1;
    }
    for (unsigned i = 0; i < s->npds; i++) {
        if (s->pd[i].thread == thread) {
            return (int)i;
        }
    }
    for (unsigned i = 0; i < s->npds; i++) {
        if (passive_child(&s->pd[i], thread)) {
            if (found >= 0) {
                return -1;
            }
            found = (int)i;
        }
    }
    return found;
}
