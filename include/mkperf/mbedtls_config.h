/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * What is compiled of mbed TLS: SHA-256 and the clearing of memory. No heap, no I/O.
 *
 * Owns: MBEDTLS_CONFIG_FILE of both halves.
 */
#ifndef MKPERF_MBEDTLS_CONFIG_H
#define MKPERF_MBEDTLS_CONFIG_H

#define MBEDTLS_SHA256_C

#endif
