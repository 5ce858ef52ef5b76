/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * For tests of text from elsewhere: files whose texts are replaced by hostile ones, and the check of
 * what a command printed, which must be UTF-8 without control characters, escape sequences and
 * bidirectional controls, and in which no text from elsewhere begins a line of its own.
 *
 * Owns: read_file, write_file, patch, check_text, CHECK, CHECK_JSON. Included after recording.h.
 */
#ifndef MKPERF_TESTS_HOSTILE_TEXT_H
#define MKPERF_TESTS_HOSTILE_TEXT_H

#include <sys/stat.h>

/* Of the same length as what they replace, in the bytes of a file. */
struct patch {
    const char *from, *to;
};

static inline char *read_file(const char *path, size_t *n)
{
    struct stat st;
    FILE *f = fopen(path, "rb");

    assert_non_null(f);
    assert_int_equal(fstat(fileno(f), &st), 0);
    char *p = malloc((size_t)st.st_size + 1);
    assert_non_null(p);
    *n = fread(p, 1, (size_t)st.st_size, f);
    assert_int_equal(*n, st.st_size);
    p[*n] = '\0';
    fclose(f);
    return p;
}

static inline void write_file(const char *path, const char *p, size_t n)
{
    FILE *f = fopen(path, "wb");

    assert_non_null(f);
    assert_int_equal(fwrite(p, 1, n, f), n);
    assert_int_equal(fclose(f), 0);
}

/* A copy of a file in which each of the patches is made wherever it fits, at least once. */
static inline void patch(const char *from, const char *to, const struct patch *patches,
                         size_t count)
{
    size_t n;
    char *p = read_file(from, &n);

    for (size_t i = 0; i < count; i++) {
        size_t length = strlen(patches[i].from), made = 0;
        char *at = p;

        assert_int_equal(strlen(patches[i].to), length);
        while ((at = memmem(at, n - (size_t)(at - p), patches[i].from, length)) != NULL) {
            memcpy(at, patches[i].to, length);
            made++;
        }
        assert_true(made > 0);
    }
    write_file(to, p, n);
    free(p);
}

/* The length of the UTF-8 sequence at s and its character; 0: it is none. */
static inline size_t character(const unsigned char *s, uint32_t *c)
{
    size_t n = s[0] < 0x80 ? 1 : s[0] >= 0xf0 ? 4 : s[0] >= 0xe0 ? 3 : s[0] >= 0xc2 ? 2 : 0;

    *c = n == 1 ? s[0] : s[0] & (0x7fU >> n);
    for (size_t i = 1; i < n; i++) {
        if ((s[i] & 0xc0) != 0x80) {
            return 0;
        }
        *c = *c << 6 | (s[i] & 0x3f);
    }
    return n;
}

static inline bool is_bad(uint32_t c)
{
    return (c < 0x20 && c != '\n' && c != '\t') || (c >= 0x7f && c < 0xa0) || c == 0x61c ||
           (c >= 0x200b && c <= 0x200f) || (c >= 0x2028 && c <= 0x202e) ||
           (c >= 0x2060 && c <= 0x206f) || c == 0xfeff;
}

/* own_lines: text from elsewhere begins no line. */
static inline void check_text(const char *what, const char *text, size_t n, bool own_lines)
{
    uint32_t c;

    for (size_t i = 0; i < n;) {
        size_t length = character((const unsigned char *)text + i, &c);

        if (length == 0 || is_bad(c) ||
            (own_lines && strncmp(text + i, "F!", 2) == 0 && (i == 0 || text[i - 1] == '\n'))) {
            size_t from = i > 60 ? i - 60 : 0;
            fail_msg("%s: byte %zu, 0x%02x, behind: %.*s", what, i, (unsigned char)text[i],
                     (int)(i - from), text + from);
        }
        i += length;
    }
}

/* What the command wrote is text, and long enough to hold what it should. */
static inline void check(const char *what, const char *text)
{
    if (strlen(text) < 10) {
        fail_msg("%s printed: %s", what, text);
    }
    check_text(what, text, strlen(text), strcmp(what, "console") != 0); /* replies are lines */
}

#define CHECK(command, wanted, ...)                               \
    do {                                                          \
        int status_;                                              \
        char *text_ = RUN(command, &status_, __VA_ARGS__);        \
        check(#command, text_);                                   \
        if (status_ != (wanted)) {                                \
            fail_msg(#command ": status %d: %s", status_, text_); \
        }                                                         \
    } while (0)

/* The same, and its rows for programs are those of docs/mkperf.schema.json, among them one of type `type`. What is printed on
 * standard error is in the text as well: no such line begins with a brace. */
static inline void check_rows(const char *text, const char *type)
{
    char command[600];

    write_file(recording_path("rows"), text, strlen(text));
    snprintf(command, sizeof command, "grep '^{' %s | tests/tool/check-json %s",
             recording_path("rows"), type);
    if (system(command) != 0) {
        fail_msg("rows that are not of the schema: %s", text);
    }
}

#define CHECK_JSON(command, type, ...)                            \
    do {                                                          \
        int status_;                                              \
        char *text_ = RUN(command, &status_, __VA_ARGS__);        \
        check(#command, text_);                                   \
        if (status_ != 0) {                                       \
            fail_msg(#command ": status %d: %s", status_, text_); \
        }                                                         \
        check_rows(text_, type);                                  \
    } while (0)

#endif
