/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The pre-shared key of --key-file, with its name if it has one.
 *
 * Owns: reading it. Called by the connection.
 */
#ifndef MKPERF_HOST_LINK_KEY_FILE_H
#define MKPERF_HOST_LINK_KEY_FILE_H

#include <mkperf/auth.h>

#include "base/base.h"

/*
 * A file of exactly 32 bytes, or one line `[NAME] KEY` with 64 hexadecimal digits; blank lines and
 * lines that begin with # are skipped. A file that others can read or write is refused, because its
 * key is no secret. Errors: INPUT.
 */
enum mkperf_status mkperf_key_read(const char *path, struct mkperf_shared_key *key,
                                   struct mkperf_error *e);
/* Reads a key from n bytes of memory. False: they have neither form, or more than one key. */
bool mkperf_key_parse(const uint8_t *p, size_t n, struct mkperf_shared_key *key);

#endif
