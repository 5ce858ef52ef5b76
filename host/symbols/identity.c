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

bool mkperf_elf_content(Elf *elf, struct mkperf_blank blank, uint8_t out[MKPERF_CONTENT_HASH_BYTES])
{
    mbedtls_sha256_context hash;
    size_t headers = 0, n = 0;
    const uint8_t *file = (const uint8_t *)elf_rawfile(elf, &n);
    bool any = false, whole = elf_getphdrnum(elf, &headers) == 0;
    uint8_t *copy = NULL;

    if (blank.n != 0 && blank.offset < n) {
        file = copy = memcpy(mkperf_xcalloc(n, 1), file, n);
        memset(copy + blank.offset, 0, blank.n < n - blank.offset ? blank.n : n - blank.offset);
    }
    mbedtls_sha256_init(&hash);
    (void)mbedtls_sha256_starts_ret(&hash, 0);
    for (size_t i = 0; whole && i < headers; i++) {
        GElf_Phdr h;
        if (gelf_getphdr(elf, (int)i, &h) == NULL) {
            whole = false;
        } else if (h.p_type == PT_LOAD && h.p_filesz != 0) {
            const uint64_t head[] = {htole64(h.p_vaddr), htole64(h.p_filesz)};
            any = true;
            whole = h.p_offset <= n && h.p_filesz <= n - h.p_offset;
            (void)mbedtls_sha256_update_ret(&hash, (const uint8_t *)head, sizeof head);
            (void)mbedtls_sha256_update_ret(&hash, file + h.p_offset, whole ? h.p_filesz : 0);
        }
    }
    (void)mbedtls_sha256_finish_ret(&hash, out);
    mbedtls_sha256_free(&hash);
    free(copy);
    return whole && any;
}

bool mkperf_elf_identity(Elf *elf, struct mkperf_build_id *out)
{
    uint8_t hash[MKPERF_CONTENT_HASH_BYTES];

    if (mkperf_elf_build_id(elf, out)) {
        return true;
    }
    if (!mkperf_elf_content(elf, (struct mkperf_blank){0}, hash)) {
        return false;
    }
    out->n = MKPERF_BUILD_ID_BYTES;
    out->derived = true;
    memcpy(out->byte, hash, out->n);
    return true;
}

void mkperf_sha256(const void *bytes, size_t n, uint8_t out[MKPERF_CONTENT_HASH_BYTES])
{
    (void)mbedtls_sha256_ret(bytes, n, out, 0);
}

const char *mkperf_build_id_text(const struct mkperf_build_id *id, char text[MKPERF_BUILD_ID_TEXT])
{
    memcpy(text, "none", sizeof "none");
    for (unsigned i = 0; i < id->n && i < MKPERF_BUILD_ID_BYTES; i++) {
        snprintf(text + 2 * (size_t)i, 3, "%02x", id->byte[i]);
    }
    return text;
}
