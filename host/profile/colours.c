/* SPDX-License-Identifier: BSD-2-Clause */
/* The colours of the PDs of a profile, see profile.h. */
#include "profile.h"

static void add_names(struct mkperf_colours *c, const struct mkperf_profile *p)
{
    const char *line = p->places.session.pd_names, *end;
    char name[MKPERF_MODEL_NAME * 4];

    for (; line != NULL && (end = strchr(line, '\n')) != NULL; line = end + 1) {
        snprintf(name, sizeof name, "%.*s", (int)(end - line), line);
        mkperf_hash_text_number(&c->names, name);
    }
    for (uint32_t pd = 0; pd < p->places.npds; pd++) {
        mkperf_hash_text_number(&c->names, mkperf_profile_pd_name(p, pd));
    }
}

void mkperf_colours_choose(struct mkperf_colours *c, const struct mkperf_profile *a,
                           const struct mkperf_profile *b)
{
    const char **name;

    add_names(c, a);
    if (b != NULL) {
        add_names(c, b);
    }
    name = mkperf_xcalloc((size_t)c->names.count + 1, sizeof *name);
    c->colour = mkperf_xcalloc((size_t)c->names.count + 1, sizeof *c->colour);
    for (uint32_t i = 0; i < c->names.count; i++) {
        name[i] = mkperf_hash_text(&c->names, i);
    }
    mkperf_pd_colours(name, c->names.count, c->colour);
    free(name);
}

uint32_t mkperf_colours_of(struct mkperf_colours *c, const char *name)
{
    uint32_t before = c->names.count, number = mkperf_hash_text_number(&c->names, name);

    return number < before && c->colour != NULL ? c->colour[number] : MKPERF_COLOUR_UNKNOWN;
}

void mkperf_colours_free(struct mkperf_colours *c)
{
    mkperf_hash_free(&c->names);
    free(c->colour);
    *c = (struct mkperf_colours){.colour = NULL};
}
