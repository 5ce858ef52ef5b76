/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Messages of protocol buffers in a gzip file.
 *
 * Owns: the encoding of fields and the compression. Used by pprof.c and otlp.c. A message is appended to a buffer, nested ones in
 * their place; pb_flush compresses what is in it.
 *
 *      size_t at = pb_begin(f, PROFILE_SAMPLE);   pb_number(f, 1, 7);   pb_end(f, at);
 */
#ifndef MKPERF_HOST_EXPORT_PROTOBUF_H
#define MKPERF_HOST_EXPORT_PROTOBUF_H

#include <zlib.h>

#include "base/outfile.h"
#include "profile/places.h"

struct pb_file {
    struct mkperf_textout *t;
    z_stream z;
    size_t n, room;
    uint8_t *byte;
};

void pb_open(struct pb_file *f, struct mkperf_textout *t);
void pb_close(struct pb_file *f); /* compresses the rest, and ends the file */
void pb_flush(struct pb_file *f); /* outside of nested messages */

/* A field with a number; 0 is omitted, as it is the default. */
void pb_number(struct pb_file *f, unsigned field, uint64_t v);
void pb_fixed64(struct pb_file *f, unsigned field, uint64_t v); /* 0 is omitted */
void pb_packed(struct pb_file *f, unsigned field, const uint64_t *v, size_t n);
/* A string. Bytes that are not printable become '?'. An empty one is an element of a repeated field, and is not omitted. */
void pb_text(struct pb_file *f, unsigned field, const char *text);
/* A nested message: begin returns its place, for end. */
size_t pb_begin(struct pb_file *f, unsigned field);
void pb_end(struct pb_file *f, size_t at);

/* The begin and the end of a module's code, and its offset in the file: the fields from `field` on. module may be NULL. */
void pb_code(struct pb_file *f, unsigned field, const struct mkperf_module *module);
/* The lines of a place: a message for each function, the innermost first. */
void pb_lines(struct pb_file *f, unsigned field, const struct mkperf_places *s, uint32_t place);
/* A message of two numbers, its fields 1 and 2: the type and the unit of values, for one. */
void pb_pair(struct pb_file *f, unsigned field, uint64_t first, uint64_t second);

#endif
