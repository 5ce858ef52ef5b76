/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The pre-shared key of --key-file.
 *
 * Owns: reading it. Called by the link's users.
 */
#ifndef MKPERF_HOST_LINK_KEY_FILE_H
#define MKPERF_HOST_LINK_KEY_FILE_H

#include <mkperf/auth.h>

#include "base/error.h"

/*
 * 32 bytes, as they are or as 64 hexadecimal digits (white space around them is skipped). A file
 * that others can read or write is refused: it is no secret. Errors: INPUT.
 */
enum mkperf_status mkperf_key_read(const char *path, uint8_t key[MKPERF_KEY_BYTES],
                                   struct mkperf_error *e);
/* The same from memory; false: neither form. */
bool mkperf_key_parse(const uint8_t *p, size_t n, uint8_t key[MKPERF_KEY_BYTES]);

#endif
