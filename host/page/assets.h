/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The page's files, part of the program.
 *
 * Owns: their bytes, and the page as one file. Served by view/http_server.c, written by
 * export/html.c.
 */
#ifndef MKPERF_HOST_PAGE_ASSETS_H
#define MKPERF_HOST_PAGE_ASSETS_H

#include "base/base.h"

struct page_asset {
    const char *name; /* below the token; "" is the page itself */
    const char *type;
    const char *begin, *end;
};

extern const struct page_asset page_assets[];
extern const size_t page_nassets;

/*
 * Writes the page with its styles and scripts inside, by `put`, and calls `data` where the profile's
 * data belongs.
 */
struct page_writer {
    void (*put)(void *self, const void *p, size_t n);
    void (*data)(void *self);
    void *self;
};
void page_write_whole(const struct page_writer *w);

#endif
