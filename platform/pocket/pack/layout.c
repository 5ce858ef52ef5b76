/* SPDX-License-Identifier: BSD-2-Clause */
/* The layout of physical memory. Chunks are ordered by address and never overlap. */
#include <stdlib.h>
#include <string.h>

#include "pack.h"

/* Returns the first chunk that ends above `at`. */
static unsigned first_above(const struct layout *l, uint64_t at)
{
    unsigned i = 0;

    while (i < l->n && l->chunk[i].at + l->chunk[i].size <= at) {
        i++;
    }
    return i;
}

bool layout_place(struct packer *p, uint64_t at, uint64_t size, uint8_t *bytes)
{
    struct layout *l = &p->layout;
    unsigned i = first_above(l, at);

    if (i < l->n && l->chunk[i].at < at + size) {
        free(bytes);
        return false;
    }
    struct chunk *more = realloc(l->chunk, (l->n + 1) * sizeof *more);
    if (more == NULL) {
        free(bytes);
        return false;
    }
    l->chunk = more;
    memmove(more + i + 1, more + i, (l->n - i) * sizeof *more);
    more[i] = (struct chunk){at, size, bytes};
    l->n++;
    return true;
}

/* Places a chunk at the first fit after the image's header. */
bool layout_allocate(struct packer *p, uint64_t size, uint64_t align, uint8_t *bytes, uint64_t *at)
{
    const struct layout *l = &p->layout;
    uint64_t place = p->machine->ram + POCKET_IMAGE_OFFSET;

    for (unsigned i = first_above(l, place); i < l->n && l->chunk[i].at < place + size; i++) {
        uint64_t end = l->chunk[i].at + l->chunk[i].size;
        if (end > place) {
            place = (end + align - 1) & ~(align - 1);
        }
    }
    if (size > POCKET_RAM_BYTES || place + size > p->machine->ram + (uint64_t)POCKET_RAM_BYTES) {
        free(bytes);
        return false;
    }
    *at = place;
    return layout_place(p, place, size, bytes);
}

/* Returns the bytes of the chunk that begins at `at`. */
uint8_t *layout_bytes(const struct layout *l, uint64_t at)
{
    return l->chunk[first_above(l, at)].bytes;
}

void layout_free(struct layout *l)
{
    for (unsigned i = 0; i < l->n; i++) {
        free(l->chunk[i].bytes);
    }
    free(l->chunk);
}
