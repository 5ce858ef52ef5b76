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

const char *system_attribute(const char **attrs, const char *name)
{
    for (; *attrs != NULL; attrs += 2) {
        if (strcmp(attrs[0], name) == 0) {
            return attrs[1];
        }
    }
    return NULL;
}

bool system_required(struct reader *r, const char **attrs, const char *name, const char **value)
{
    *value = system_attribute(attrs, name);
    if (*value == NULL) {
        return system_error(&r->at, "attribute '%s' is missing", name);
    }
    return true;
}

static int digit(char c)
{
    return c >= '0' && c <= '9' ? c - '0' : (c | 32) >= 'a' && (c | 32) <= 'f' ? (c | 32) - 87 : 16;
}

/* Decimal or 0x hexadecimal, with underscores anywhere; at most max. */
bool system_number(struct reader *r, const char *name, const char *text, uint64_t max,
                   uint64_t *value)
{
    const char *p = text;
    int base = 10;
    unsigned digits = 0;

    if (p[0] == '0' && p[1] == 'x') {
        base = 16;
        p += 2;
    }
    *value = 0;
    for (; *p != '\0'; p++) {
        int d = digit(*p);
        if (*p == '_') {
            continue;
        }
        if (d >= base || __builtin_mul_overflow(*value, (uint64_t)base, value) ||
            __builtin_add_overflow(*value, (uint64_t)d, value)) {
            return system_error(&r->at, "%s: '%.64s' is not a number", name, text);
        }
        digits++;
    }
    if (digits == 0) {
        return system_error(&r->at, "%s: '%.64s' is not a number", name, text);
    }
    if (*value > max) {
        return system_error(&r->at, "%s: %.64s is above the maximum, %llu", name, text,
                            (unsigned long long)max);
    }
    return true;
}

bool system_required_number(struct reader *r, const char **attrs, const char *name, uint64_t max,
                            uint64_t *value)
{
    const char *text;

    return system_required(r, attrs, name, &text) && system_number(r, name, text, max, value);
}

bool system_optional_number(struct reader *r, const char **attrs, const char *name, uint64_t max,
                            uint64_t otherwise, uint64_t *value)
{
    const char *text = system_attribute(attrs, name);

    *value = otherwise;
    return text == NULL || system_number(r, name, text, max, value);
}

bool system_optional_bool(struct reader *r, const char **attrs, const char *name, bool otherwise,
                          bool *value)
{
    const char *text = system_attribute(attrs, name);

    *value = text == NULL ? otherwise : strcmp(text, "true") == 0;
    if (text != NULL && !*value && strcmp(text, "false") != 0) {
        return system_error(&r->at, "%s must be 'true' or 'false', not '%.64s'", name, text);
    }
    return true;
}

bool system_copy_string(struct reader *r, const char *name, const char *text, char **copy)
{
    if (*text == '\0') {
        return system_error(&r->at, "%s is empty", name);
    }
    if (!mkperf_is_printable(text)) { /* commands print names as they are */
        return system_error(&r->at, "%s has characters that are not printable", name);
    }
    *copy = mkperf_xstrdup(text);
    return true;
}

/* Remembers that `name` is to be looked up for an item of a PD or channel. */
bool system_refer(struct reader *r, struct references *list, const char *name, unsigned pd,
                  unsigned item)
{
    char *copy = NULL;

    if (!system_copy_string(r, "reference", name, &copy)) {
        return false;
    }
    struct reference *ref =
        system_append(&r->at, (void **)&list->at, &list->n, sizeof *ref, "references");
    if (ref == NULL) {
        free(copy);
        return false;
    }
    *ref = (struct reference){copy, pd, item, r->at.line};
    return true;
}
