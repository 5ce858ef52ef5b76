/* SPDX-License-Identifier: BSD-2-Clause */
/* Owns: filling a struct mkperf_error; the meaning of statuses, for help and man pages; memory that is always there (base.h). */
#include "base.h"

enum mkperf_status mkperf_error_set(struct mkperf_error *e, enum mkperf_status status,
                                    const char *format, ...)
{
    va_list args;

    e->status = status;
    va_start(args, format);
    vsnprintf(e->text, sizeof e->text, format, args);
    va_end(args);
    mkperf_printable(e->text);
    return status;
}

const char *mkperf_status_text(enum mkperf_status status)
{
    static const struct {
        const char *text;
    } texts[MKPERF_ERR_USAGE + 1] = {
        [MKPERF_OK] = {"done"},
        [MKPERF_ERR_FAILED] = {"any error without its own status"},
        [MKPERF_ERR_INPUT] = {"bad input: a file, ELF or stream that is missing or invalid; the "
                              "message has the place and the reason"},
        [MKPERF_ERR_OUTPUT] = {"writing failed (disk full, permission)"},
        [MKPERF_ERR_SILENT] = {"the target does not answer"},
        [MKPERF_ERR_PROTOCOL] = {"the target speaks another version of the protocol"},
        [MKPERF_ERR_NOISE] =
            {"bytes arrive, but no frame: wrong baud rate, or no client PD on that "
             "line"},
        [MKPERF_ERR_REFUSED] = {"the target refused, with its reason: unknown event, too few "
                                "counters, no kernel hook, ..."},
        [MKPERF_ERR_LINK] = {"the connection failed, or broke and could not be restored in time; "
                             "what was received is kept"},
        [MKPERF_ERR_USAGE] = {"usage error: unknown option, value or name"},
    };

    return (unsigned)status <= MKPERF_ERR_USAGE ? texts[status].text : NULL;
}

enum { FIRST_ROOM = 64 };

void (*mkperf_out_of_memory)(void);

void mkperf_die(void)
{
    void (*last)(void) = mkperf_out_of_memory;

    mkperf_out_of_memory = NULL; /* if it runs out of memory itself, it is not called again */
    if (last != NULL) {
        last();
    }
    fputs("mkperf: out of memory\n", stderr);
    exit(MKPERF_ERR_FAILED);
}

void *mkperf_xcalloc(size_t n, size_t size)
{
    void *p = calloc(n != 0 ? n : 1, size);

    if (p == NULL) {
        mkperf_die();
    }
    return p;
}

void *mkperf_xrealloc(void *p, size_t n, size_t size)
{
    p = reallocarray(p, n != 0 ? n : 1, size);
    if (p == NULL) {
        mkperf_die();
    }
    return p;
}

char *mkperf_xstrdup(const char *text)
{
    char *copy = text != NULL ? strdup(text) : NULL;

    if (copy == NULL && text != NULL) {
        mkperf_die();
    }
    return copy;
}

const char *mkperf_hex(const void *bytes, size_t n, char *text)
{
    for (size_t i = 0; i < n; i++) {
        snprintf(text + 2 * i, 3, "%02x", ((const uint8_t *)bytes)[i]);
    }
    return text;
}

char *mkperf_xprintf(const char *format, ...)
{
    va_list list;
    char *text;

    va_start(list, format);
    int n = vasprintf(&text, format, list);
    va_end(list);
    if (n < 0) {
        mkperf_die();
    }
    return text;
}

bool mkperf_read_number(const char *text, size_t n, unsigned base, uint64_t *out)
{
    *out = 0;
    for (size_t i = 0; i < n; i++) {
        unsigned digit = mkperf_digit(text[i]);
        if (digit >= base || *out > (UINT64_MAX - digit) / base) {
            return false;
        }
        *out = *out * base + digit;
    }
    return n > 0;
}

char *mkperf_shell_word(const char *text)
{
    char *word;
    size_t n;

    if (*text != '\0' && text[strcspn(text, " \t\n'\"\\$`;&|<>()*?[]{}~#!")] == '\0') {
        return mkperf_xstrdup(text);
    }
    FILE *to = mkperf_memstream_open(&word, &n);
    fputc('\'', to);
    for (; *text != '\0'; text++) {
        if (*text == '\'') {
            fputs("'\\''", to);
        } else {
            fputc(*text, to);
        }
    }
    fputc('\'', to);
    mkperf_memstream_close(to);
    return word;
}

size_t mkperf_write_all(int fd, const void *bytes, size_t n)
{
    const uint8_t *p = bytes;
    size_t written = 0;

    while (written < n) {
        ssize_t done = write(fd, p + written, n - written);
        if (done > 0) {
            written += (size_t)done;
        } else if (done == 0 || errno != EINTR) {
            break;
        }
    }
    return written;
}

FILE *mkperf_memstream_open(char **text, size_t *n)
{
    FILE *f = open_memstream(text, n);

    if (f == NULL) {
        mkperf_die();
    }
    return f;
}

void mkperf_memstream_close(FILE *f)
{
    if (fclose(f) != 0) {
        mkperf_die();
    }
}

size_t mkperf_room(size_t room, size_t n)
{
    if (room > SIZE_MAX / 2) {
        mkperf_die();
    }
    room = room != 0 ? 2 * room : FIRST_ROOM;
    return room > n ? room : n;
}

void *mkperf_xgrow(void *p, size_t from, size_t to, size_t size)
{
    if (to < from) { /* the type that counts the room was too small */
        mkperf_die();
    }
    p = mkperf_xrealloc(p, to, size);
    memset((char *)p + from * size, 0, (to - from) * size);
    return p;
}

size_t mkperf_named(const void *items, size_t n, size_t size, const char *name)
{
    const char *at = items;
    size_t i = 0;

    while (i < n && strcmp(*(const char *const *)(const void *)at, name) != 0) {
        at += size;
        i++;
    }
    return i;
}

size_t mkperf_first_behind(const void *items, size_t n, size_t size, uint64_t value)
{
    size_t low = 0;

    while (low < n) {
        size_t middle = low + (n - low) / 2;

        if (*(const uint64_t *)(const void *)((const char *)items + middle * size) <= value) {
            low = middle + 1;
        } else {
            n = middle;
        }
    }
    return low;
}

/* Returns the member of a sort key. */
static uint64_t member_of(const void *element, const struct mkperf_sort_key *key)
{
    const void *at = (const char *)element + key->at;

    assert(key->bytes == sizeof(uint32_t) || key->bytes == sizeof(uint64_t));
    return key->bytes == sizeof(uint32_t) ? *(const uint32_t *)at : *(const uint64_t *)at;
}

int mkperf_compare_by(const void *a, const void *b, void *keys)
{
    int order = 0;

    for (const struct mkperf_sort_key *key = keys; key->bytes != 0 && order == 0; key++) {
        order = mkperf_compare(member_of(a, key), member_of(b, key));
        order = key->down ? -order : order;
    }
    return order;
}

void mkperf_sort_by(void *p, size_t n, size_t size, const struct mkperf_sort_key *keys)
{
    assert(p != NULL || n == 0);
    if (n > 1) {
        qsort_r(p, n, size, mkperf_compare_by, (void *)(uintptr_t)keys);
    }
}
