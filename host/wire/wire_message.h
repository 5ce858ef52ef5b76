/* SPDX-License-Identifier: BSD-2-Clause */
/* A target's message, decoded: the one way into mkperf for what a target says beside its samples.
 */
#ifndef MKPERF_HOST_WIRE_WIRE_MESSAGE_H
#define MKPERF_HOST_WIRE_WIRE_MESSAGE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "mkperf.pb.h"

/*
 * Decodes n bytes into *m. Its strings are printable afterwards (base/printable.h), whichever of
 * the message they are in. False: the bytes are no such message.
 */
bool mkperf_wire_decode(const uint8_t *p, size_t n, mkperf_ToHost *m);

#endif
