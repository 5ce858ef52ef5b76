/* SPDX-License-Identifier: BSD-2-Clause */
/* Owns: the computation of identities. An ELF's sizes are compared with the file's size before they are used. */
#include "symbols.h"

#include <elfutils/libdwelf.h>
#include <gelf.h>
#include <mbedtls/sha256.h>

bool mkperf_elf_build_id(Elf *elf, struct mkperf_build_id *out)
{
    const void *id = NULL;
    /* A file that was cut has no sections: its program headers are not trusted. */
    ssize_t n = elf_nextscn(elf, NULL) != NULL ? dwelf_elf_gnu_build_id(elf, &id) : 0;

    *out = (struct mkperf_build_id){0};
    if (n <= 0 || n > MKPERF_BUILD_ID_BYTES) {
        return false;
    }
    out->n = (uint8_t)n;
    memcpy(out->byte, id, out->n);
    return true;
}

static void hash_number(mbedtls_sha256_context *hash, uint64_t value)
{
    uint64_t bytes = htole64(value);

    (void)mbedtls_sha256_update_ret(hash, (const uint8_t *)&bytes, sizeof bytes);
}

/* Hashes the file's bytes from `from` to `to`. The bytes of the blank count as zeros. */
static void hash_bytes(mbedtls_sha256_context *hash, const uint8_t *file, uint64_t from,
                       uint64_t to, struct mkperf_blank blank)
{
    static const uint8_t zeros[256];

    while (from < to) {
        bool in = from >= blank.offset && from - blank.offset < blank.n;
        uint64_t end = in ? blank.offset + blank.n : from < blank.offset ? blank.offset : to;
        uint64_t n = (end < to ? end : to) - from;
        if (in) {
            n = n < sizeof zeros ? n : sizeof zeros;
        }
        (void)mbedtls_sha256_update_ret(hash, in ? zeros : file + from, n);
        from += n;
    }
}

bool mkperf_elf_content(Elf *elf, const uint8_t *file, size_t n, struct mkperf_blank blank,
                        uint8_t out[MKPERF_CONTENT_HASH_BYTES])
{
    mbedtls_sha256_context hash;
    size_t headers = 0;
    bool any = false, whole = elf_getphdrnum(elf, &headers) == 0;

    mbedtls_sha256_init(&hash);
    (void)mbedtls_sha256_starts_ret(&hash, 0);
    for (size_t i = 0; whole && i < headers; i++) {
        GElf_Phdr h;
        if (gelf_getphdr(elf, (int)i, &h) == NULL) {
            whole = false;
        } else if (h.p_type == PT_LOAD && h.p_filesz != 0) {
            whole = h.p_offset <= n && h.p_filesz <= n - h.p_offset;
            any = true;
            hash_number(&hash, h.p_vaddr);
            hash_number(&hash, h.p_filesz);
            hash_bytes(&hash, file, h.p_offset, whole ? h.p_offset + h.p_filesz : 0, blank);
        }
    }
    (void)mbedtls_sha256_finish_ret(&hash, out);
    mbedtls_sha256_free(&hash);
    return whole && any;
}

bool mkperf_elf_identity(Elf *elf, const uint8_t *file, size_t n, struct mkperf_build_id *out)
{
    uint8_t hash[MKPERF_CONTENT_HASH_BYTES];

    if (mkperf_elf_build_id(elf, out)) {
        return true;
    }
    if (!mkperf_elf_content(elf, file, n, (struct mkperf_blank){0}, hash)) {
        return false;
    }
    out->n = MKPERF_BUILD_ID_BYTES;
    out->derived = true;
    memcpy(out->byte, hash, out->n);
    return true;
}

enum mkperf_status mkperf_file_hash(const char *path, uint8_t out[MKPERF_CONTENT_HASH_BYTES],
                                    struct mkperf_error *e)
{
    FILE *f = fopen(path, "rb");
    mbedtls_sha256_context hash;
    uint8_t bytes[4096];
    size_t n;

    if (f == NULL) {
        return mkperf_error_set(e, MKPERF_ERR_INPUT, "%s: %s", path, strerror(errno));
    }
    mbedtls_sha256_init(&hash);
    (void)mbedtls_sha256_starts_ret(&hash, 0);
    while ((n = fread(bytes, 1, sizeof bytes, f)) != 0) {
        (void)mbedtls_sha256_update_ret(&hash, bytes, n);
    }
    (void)mbedtls_sha256_finish_ret(&hash, out);
    mbedtls_sha256_free(&hash);
    bool failed = ferror(f) != 0;
    (void)fclose(f);
    return failed ? mkperf_error_set(e, MKPERF_ERR_INPUT, "%s: it cannot be read", path)
                  : MKPERF_OK;
}

const char *mkperf_build_id_text(const struct mkperf_build_id *id, char text[MKPERF_BUILD_ID_TEXT])
{
    memcpy(text, "none", sizeof "none");
    for (unsigned i = 0; i < id->n && i < MKPERF_BUILD_ID_BYTES; i++) {
        snprintf(text + 2 * (size_t)i, 3, "%02x", id->byte[i]);
    }
    return text;
}
