/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The page's files, part of the program.
 *
 * Owns: nothing but their bytes. Served by http_server.c.
 */
#ifndef MKPERF_HOST_VIEW_PAGE_H
#define MKPERF_HOST_VIEW_PAGE_H

#include <stddef.h>

struct view_page {
    const char *name; /* below the token; "" is the page itself */
    const char *type;
    const char *begin, *end;
};

extern const struct view_page view_pages[];
extern const size_t view_npages;

#endif
