/* SPDX-License-Identifier: BSD-2-Clause */
/* Owns: reading of key files, see connection.h. */
#include "connection.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

enum { FILE_ROOM = 4096, OTHERS = S_IRWXG | S_IRWXO };

static int digit(uint8_t c)
{
    static const char digits[] = "0123456789abcdefABCDEF";
    const char *at = c != 0 ? strchr(digits, c) : NULL;

    if (at == NULL) {
        return -1;
    }
    return (int)(at - digits) < 16 ? (int)(at - digits) : (int)(at - digits) - 6;
}

static bool is_space(uint8_t c)
{
    return c == ' ' || c == '\t' || c == '\r' || c == '\n';
}

/* Parses one line: a key, with or without a name before it. */
static bool parse_line(const uint8_t *p, size_t n, struct mkperf_shared_key *key)
{
    size_t name = 0;

    while (name < n && !is_space(p[name])) {
        name++;
    }
    if (name == n) { /* one word */
        name = 0;
    }
    if (name >= sizeof key->name) {
        return false;
    }
    memset(key->name, 0, sizeof key->name);
    memcpy(key->name, p, name);
    for (p += name, n -= name; n > 0 && is_space(p[0]); n--) {
        p++;
    }
    if (n != (size_t)2 * MKPERF_KEY_BYTES) {
        return false;
    }
    for (size_t i = 0; i < MKPERF_KEY_BYTES; i++) {
        int high = digit(p[2 * i]), low = digit(p[2 * i + 1]);
        if (high < 0 || low < 0) {
            return false;
        }
        key->bytes[i] = (uint8_t)(high << 4 | low);
    }
    return true;
}

bool mkperf_key_parse(const uint8_t *p, size_t n, struct mkperf_shared_key *key)
{
    unsigned keys = 0;

    if (n == MKPERF_KEY_BYTES) {
        memset(key->name, 0, sizeof key->name);
        memcpy(key->bytes, p, n);
        return true;
    }
    while (n > 0) {
        size_t line = 0, end;
        while (line < n && p[line] != '\n') {
            line++;
        }
        size_t next = line < n ? line + 1 : n;
        for (end = line; end > 0 && is_space(p[end - 1]); end--) {
        }
        size_t from = 0;
        while (from < end && is_space(p[from])) {
            from++;
        }
        if (from < end && p[from] != '#' &&
            (++keys > 1 || !parse_line(p + from, end - from, key))) {
            return false;
        }
        p += next;
        n -= next;
    }
    return keys == 1;
}

/* Checks the open file, so that nothing changes between the check and the reading. */
static enum mkperf_status check_access(int fd, const char *path, struct mkperf_error *e)
{
    struct stat st;

    if (fstat(fd, &st) != 0) {
        return mkperf_error_set(e, MKPERF_ERR_INPUT, "%s: %s", path, strerror(errno));
    }
    if (S_ISREG(st.st_mode) && (st.st_mode & OTHERS) != 0) {
        return mkperf_error_set(
            e, MKPERF_ERR_INPUT,
            "%s: others can read or write this key: chmod 600 %s, and make a new "
            "key if they did",
            path, path);
    }
    return MKPERF_OK;
}

enum mkperf_status mkperf_key_read(const char *path, struct mkperf_shared_key *key,
                                   struct mkperf_error *e)
{
    int fd = open(path, O_RDONLY | O_CLOEXEC);
    uint8_t text[FILE_ROOM];
    size_t n = 0;
    ssize_t got = 0;

    if (fd < 0) {
        return mkperf_error_set(e, MKPERF_ERR_INPUT, "%s: %s", path, strerror(errno));
    }
    if (check_access(fd, path, e) != MKPERF_OK) {
        close(fd);
        return e->status;
    }
    while (n < sizeof text && (got = read(fd, text + n, sizeof text - n)) > 0) {
        n += (size_t)got;
    }
    close(fd);
    bool ok = got >= 0 && mkperf_key_parse(text, n, key);
    mbedtls_platform_zeroize(text, sizeof text);
    return ok ? MKPERF_OK
              : mkperf_error_set(
                    e, MKPERF_ERR_INPUT,
                    "%s: not a key: want 32 bytes, or one line of 64 hexadecimal digits, "
                    "maybe with a name before them",
                    path);
}
