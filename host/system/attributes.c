/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * .system files: what the functions that read elements share.
 *
 * Owns: the first error with its line, arrays that grow, and the values of attributes, which are
 * read strictly: a number consists of digits and is within its bounds, a truth value is 'true' or
 * 'false'. Called by elements.c, check.c and parse.c.
 */
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

const char *system_attribute(struct reader *r, const char *name)
{
    for (const char **a = r->attributes; *a != NULL; a += 2) {
        if (strcmp(a[0], name) == 0) {
            return a[1];
        }
    }
    return NULL;
}

static const char *skip_space(const char *p, const char *end)
{
    while (p < end && strchr(" \t\r\n", *p) != NULL) {
        p++;
    }
    return p;
}

/* Finds where the value of an attribute is. expat has checked the element's form: NAME, then attributes as name =
 * "value" or 'value'. In UTF-16, none is found. */
struct mkperf_system_span system_span(struct reader *r, const char *name)
{
    const char *p = r->text + XML_GetCurrentByteIndex(r->xml);
    const char *end = p + XML_GetCurrentByteCount(r->xml);
    size_t length = strlen(name);

    while (p < end && strchr(" \t\r\n", *p) == NULL) {
        p++;
    }
    for (p = skip_space(p, end); p < end;) {
        const char *equals = memchr(p, '=', (size_t)(end - p));
        const char *quote = equals != NULL ? skip_space(equals + 1, end) : end;
        const char *close = quote < end ? memchr(quote + 1, *quote, (size_t)(end - quote - 1))
                                        : NULL;
        if (close == NULL) {
            break;
        }
        if (strncmp(p, name, length) == 0 && skip_space(p + length, end) == equals) {
            return (struct mkperf_system_span){(size_t)(quote + 1 - r->text),
                                               (size_t)(close - quote - 1)};
        }
        p = skip_space(close + 1, end);
    }
    return (struct mkperf_system_span){0, 0};
}

const char *system_required(struct reader *r, const char *name)
{
    const char *value = system_attribute(r, name);

    if (value == NULL) {
        system_error(&r->at, "attribute '%s' is missing", name);
    }
    return value != NULL ? value : "";
}

static uint64_t parse_number(struct reader *r, const char *name, const char *text, uint64_t max)
{
    const char *p = text;
    uint64_t value = 0;
    unsigned base = 10;
    unsigned digits = 0;

    if (p[0] == '0' && p[1] == 'x') {
        base = 16;
        p += 2;
    }
    for (; *p != '\0'; p++) {
        unsigned d = mkperf_digit(*p);
        if (*p == '_') {
            continue;
        }
        if (d >= base || __builtin_mul_overflow(value, base, &value) ||
            __builtin_add_overflow(value, d, &value)) {
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
    return parse_number(r, name, system_required(r, name), max);
}

uint64_t system_duration(struct reader *r, const char *name, bool *in_ticks)
{
    char value[32] = "";
    const char *text = system_required(r, name), *space = strchr(text, ' ');
    const char *unit = space != NULL ? space + 1 : "";

    *in_ticks = strcmp(unit, "ticks") == 0;
    if ((!*in_ticks && strcmp(unit, "us") != 0) || space - text >= (int)sizeof value) {
        system_error(&r->at, "%s: '%.64s' is not a number and us or ticks", name, text);
        return 0;
    }
    memcpy(value, text, (size_t)(space - text));
    uint64_t duration = parse_number(r, name, value, UINT64_MAX >> 12);
    if (duration == 0) {
        system_error(&r->at, "%s is 0", name);
    }
    return duration;
}

uint64_t system_number_or(struct reader *r, const char *name, uint64_t max, uint64_t otherwise)
{
    const char *text = system_attribute(r, name);

    return text != NULL ? parse_number(r, name, text, max) : otherwise;
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

void system_refer(struct reader *r, enum reference_kind kind, const char *name, unsigned owner,
                  unsigned item)
{
    struct references *list = &r->names[kind];
    char *copy = system_copy(r, "reference", name);
    struct reference *added = copy != NULL ? system_append(&r->at, (void **)&list->at, &list->n,
                                                           sizeof *added, "references")
                                           : NULL;

    if (added != NULL) {
        *added = (struct reference){copy, owner, item, r->at.line};
    } else {
        free(copy);
    }
}
