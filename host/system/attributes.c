/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * .system files: an element's attributes, read strictly: a number is all digits and within
 * its bounds, a truth is 'true' or 'false'. Called by elements.c and newer.c; messages name the
 * attribute.
 */
#include <stdlib.h>
#include <string.h>

#include "base/printable.h"
#include "base/xalloc.h"
#include "system_internal.h"

const char *system_attribute(struct reader *r, const char *name)
{
    for (const char **a = r->attributes; *a != NULL; a += 2) {
        if (strcmp(a[0], name) == 0) {
            return a[1];
        }
    }
    return NULL;
}

const char *system_required(struct reader *r, const char *name)
{
    const char *value = system_attribute(r, name);

    if (value == NULL) {
        system_error(&r->at, "attribute '%s' is missing", name);
    }
    return value != NULL ? value : "";
}

static int digit(char c)
{
    return c >= '0' && c <= '9' ? c - '0' : (c | 32) >= 'a' && (c | 32) <= 'f' ? (c | 32) - 87 : 16;
}

static uint64_t number(struct reader *r, const char *name, const char *text, uint64_t max)
{
    const char *p = text;
    uint64_t value = 0;
    int base = 10;
    unsigned digits = 0;

    if (p[0] == '0' && p[1] == 'x') {
        base = 16;
        p += 2;
    }
    for (; *p != '\0'; p++) {
        int d = digit(*p);
        if (*p == '_') {
            continue;
        }
        if (d >= base || __builtin_mul_overflow(value, (uint64_t)base, &value) ||
            __builtin_add_overflow(value, (uint64_t)d, &value)) {
            digits = 0;
            break;
        }
        digits++;
    }
    if (digits == 0) {
        system_error(&r->at, "%s: '%.64s' is not a number", name, text);
    } else if (value > max) {
        system_error(&r->at, "%s: %.64s is above the maximum, %llu", name, text,
                     (unsigned long long)max);
    }
    return r->at.failed ? 0 : value;
}

uint64_t system_number(struct reader *r, const char *name, uint64_t max)
{
    return number(r, name, system_required(r, name), max);
}

uint64_t system_number_or(struct reader *r, const char *name, uint64_t max, uint64_t otherwise)
{
    const char *text = system_attribute(r, name);

    return text != NULL ? number(r, name, text, max) : otherwise;
}

bool system_bool_or(struct reader *r, const char *name, bool otherwise)
{
    const char *text = system_attribute(r, name);
    bool value = text == NULL ? otherwise : strcmp(text, "true") == 0;

    if (text != NULL && !value && strcmp(text, "false") != 0) {
        system_error(&r->at, "%s must be 'true' or 'false', not '%.64s'", name, text);
    }
    return value;
}

char *system_copy(struct reader *r, const char *name, const char *text)
{
    if (*text == '\0') {
        system_error(&r->at, "%s is empty", name);
    } else if (!mkperf_is_printable(text)) { /* commands print names as they are */
        system_error(&r->at, "%s has characters that are not printable", name);
    }
    return r->at.failed ? NULL : mkperf_xstrdup(text);
}

void system_refer(struct reader *r, enum reference_kind kind, const char *name, unsigned pd,
                  unsigned item)
{
    struct references *list = &r->names[kind];
    char *copy = system_copy(r, "reference", name);
    struct reference *added = copy != NULL ? system_append(&r->at, (void **)&list->at, &list->n,
                                                           sizeof *added, "references")
                                           : NULL;

    if (added != NULL) {
        *added = (struct reference){copy, pd, item, r->at.line};
    } else {
        free(copy);
    }
}
