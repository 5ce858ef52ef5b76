/* SPDX-License-Identifier: BSD-2-Clause */
/* Owns: reading of key files, see connection.h. */
#include "connection.h"

enum { FILE_ROOM = 4096, OTHERS = S_IRWXG | S_IRWXO };

bool mkperf_key_parse(const uint8_t *p, size_t n, struct mkperf_shared_key *key)
{
    static const char space[] = " \t\r";
    unsigned keys = 0;

    if (n == MKPERF_KEY_BYTES) {
        memset(key->name, 0, sizeof key->name);
        memcpy(key->bytes, p, n);
        return true;
    }
    char *text = mkperf_xcalloc(n + 1, 1), *rest = NULL;
    memcpy(text, p, n);
    bool ok = strlen(text) == n; /* A file with a byte 0 is no text. */
    for (char *line = strtok_r(text, "\n", &rest); ok && line != NULL;
         line = strtok_r(NULL, "\n", &rest)) {
        char *in, *first = strtok_r(line, space, &in);
        if (first == NULL || *first == '#') {
            continue;
        }
        /* A key, with or without a name before it. */
        char *second = strtok_r(NULL, space, &in);
        const char *name = second != NULL ? first : "", *digits = second != NULL ? second : first;
        ok = ++keys == 1 && strlen(name) < sizeof key->name &&
             strlen(digits) == (size_t)2 * MKPERF_KEY_BYTES &&
             (second == NULL || strtok_r(NULL, space, &in) == NULL);
        if (ok) {
            memset(key->name, 0, sizeof key->name);
            memcpy(key->name, name, strlen(name));
        }
        for (size_t i = 0; ok && i < MKPERF_KEY_BYTES; i++) {
            unsigned high = mkperf_digit(digits[2 * i]), low = mkperf_digit(digits[2 * i + 1]);
            ok = high < 16 && low < 16;
            key->bytes[i] = (uint8_t)(high << 4 | low);
        }
    }
    mbedtls_platform_zeroize(text, n);
    free(text);
    return ok && keys == 1;
}

enum mkperf_status mkperf_secret_read(const char *path, uint8_t *text, size_t room, size_t *n,
                                      struct mkperf_error *e)
{
    int fd = open(path, O_RDONLY | O_CLOEXEC);
    struct stat st;
    ssize_t got = 0;

    *n = 0;
    MKPERF_FAIL_IF(fd < 0, e, MKPERF_ERR_INPUT, "%s: %s", path, strerror(errno));
    /* The open file is checked, so that nothing changes between the check and the reading. */
    if (fstat(fd, &st) == 0 && S_ISREG(st.st_mode) && (st.st_mode & OTHERS) != 0) {
        close(fd);
        return mkperf_error_set(e, MKPERF_ERR_INPUT,
                                "%s: others can read or write this key: chmod 600 %s, and make a "
                                "new key if they did",
                                path, path);
    }
    while (*n < room && (got = read(fd, text + *n, room - *n)) > 0) {
        *n += (size_t)got;
    }
    int why = errno;
    close(fd);
    return got >= 0 ? MKPERF_OK
                    : mkperf_error_set(e, MKPERF_ERR_INPUT, "%s: %s", path, strerror(why));
}

enum mkperf_status mkperf_key_read(const char *path, struct mkperf_shared_key *key,
                                   struct mkperf_error *e)
{
    uint8_t text[FILE_ROOM];
    size_t n;

    MKPERF_TRY(mkperf_secret_read(path, text, sizeof text, &n, e));
    bool ok = mkperf_key_parse(text, n, key);
    mbedtls_platform_zeroize(text, sizeof text);
    return ok ? MKPERF_OK
              : mkperf_error_set(
                    e, MKPERF_ERR_INPUT,
                    "%s: not a key: want 32 bytes, or one line of 64 hexadecimal digits, "
                    "maybe with a name before them",
                    path);
}
