/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Lines of source files, as far as the files are on this machine.
 *
 * Owns: the files that were read. Called by listing.c.
 */
#ifndef MKPERF_HOST_ANNOTATE_SOURCE_TEXT_H
#define MKPERF_HOST_ANNOTATE_SOURCE_TEXT_H

#include <stddef.h>

enum { ANNOTATE_SOURCES_MAX = 256, ANNOTATE_SOURCE_BYTES = 4 << 20 };

struct annotate_source {
    char *path, *text; /* text NULL: there is no such file */
    char **line;
    int nlines;
};

struct annotate_sources {
    struct annotate_source *file;
    size_t n;
};

/*
 * Line number `line` (from 1) of a file; NULL if it is not to be had. A relative path is tried in
 * directory (NULL: none), then here.
 */
const char *annotate_source_line(struct annotate_sources *s, const char *directory,
                                 const char *path, int line);
void annotate_sources_free(struct annotate_sources *s);

#endif
