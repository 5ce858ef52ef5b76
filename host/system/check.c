/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * .system files: the references by name, and the rules that need the whole system.
 *
 * Owns: everything that is wrong only in context: unknown names, duplicates, overlaps, and
 * priorities of protected calls. It also computes the identity that samples of each PD carry. Called
 * by parse.c.
 */
#include <mkperf/record.h>

#include "system_internal.h"

#define USER_TOP UINT64_C(0x800000000000) /* the largest of Microkit's AArch64 boards */

void system_resolve(struct reader *r)
{
    struct mkperf_system *s = r->system;

    for (const struct reference *one = r->names; one != NULL; one = one->next) {
        int found = one->find(s, one->name);
        r->line = one->line;
        if (!system_demand(r, found >= 0, "%s '%s'", one->unknown, one->name)) {
            return;
        }
        int *number = (void *)((char *)*one->array + one->at);
        *number = found;
    }
    for (unsigned i = 0; i < 2 * s->nchannels; i++) {
        const struct mkperf_system_end *end = &s->channel[i / 2].end[i % 2];
        r->line = end->line;
        if (end->symbol != NULL) {
            system_add_setvar(r, &s->pd[end->pd], end->symbol, MKPERF_SETVAR_ID, 0, end->id);
        }
    }
}

static void check_pds(struct reader *r)
{
    const struct mkperf_system *s = r->system;

    for (unsigned i = 0; i < s->npds; i++) {
        const struct mkperf_system_pd *a = &s->pd[i];
        int first = mkperf_system_pd_named(s, a->name);
        r->line = a->line;
        system_demand(r, first == (int)i, "protection_domain '%s' is already defined on line %d",
                      a->name, s->pd[first].line);
        for (const struct mkperf_system_pd *b = s->pd; b < a; b++) {
            system_demand(r, a->parent < 0 || a->parent != b->parent || a->child_id != b->child_id,
                          "child id %u is already used on line %d", a->child_id, b->line);
        }
    }
}

static bool ranges_overlap(uint64_t a, uint64_t a_size, uint64_t b, uint64_t b_size)
{
    return a < b + b_size && b < a + a_size;
}

static void check_regions(struct reader *r)
{
    const struct mkperf_system *s = r->system;

    for (unsigned i = 0; i < s->nregions; i++) {
        const struct mkperf_system_region *a = &s->region[i];
        int first = mkperf_system_region_named(s, a->name);
        r->line = a->line;
        system_demand(r, first == (int)i, "memory_region '%s' is already defined on line %d",
                      a->name, s->region[first].line);
        for (const struct mkperf_system_region *b = s->region; b < a; b++) {
            system_demand(r,
                          !a->has_phys_addr || !b->has_phys_addr ||
                              !ranges_overlap(a->phys_addr, a->size, b->phys_addr, b->size),
                          "memory_region '%s' overlaps '%s' in physical memory", a->name, b->name);
        }
    }
}

static void check_maps(struct reader *r, const struct mkperf_system_pd *pd)
{
    const struct mkperf_system *s = r->system;

    for (unsigned i = 0; i < pd->nmaps; i++) {
        const struct mkperf_system_map *map = &pd->map[i];
        const struct mkperf_system_region *region = &s->region[map->region];

        r->line = map->line;
        system_demand(r, map->vaddr % region->page_size == 0,
                      "vaddr 0x%llx is not a multiple of the page size 0x%llx",
                      (unsigned long long)map->vaddr, (unsigned long long)region->page_size);
        system_demand(r, map->vaddr + region->size <= USER_TOP,
                      "map of '%s' ends above the user address space", region->name);
        for (const struct mkperf_system_map *other = pd->map; other < map; other++) {
            const struct mkperf_system_region *its = &s->region[other->region];
            system_demand(r, !ranges_overlap(map->vaddr, region->size, other->vaddr, its->size),
                          "map of '%s' overlaps the map of '%s' on line %d", region->name,
                          its->name, other->line);
        }
    }
}

/* Marks `id` in `used`, the set of ids that the channels and irqs of this PD have so far. */
static void claim_id(struct reader *r, uint64_t *used, const struct mkperf_system_pd *pd,
                     uint32_t id)
{
    system_demand(r, (*used >> id & 1) == 0, "id %u is used twice in protection_domain '%s'", id,
                  pd->name);
    *used |= UINT64_C(1) << id;
}

static void check_irqs(struct reader *r, uint64_t *used)
{
    const struct mkperf_system *s = r->system;
    int first[MKPERF_SYSTEM_MAX_IRQ + 1] = {0}; /* the line of each irq */

    for (unsigned i = 0; i < s->npds; i++) {
        for (unsigned j = 0; j < s->pd[i].nirqs; j++) {
            const struct mkperf_system_irq *irq = &s->pd[i].irq[j];
            r->line = irq->line;
            claim_id(r, &used[i], &s->pd[i], irq->id);
            system_demand(r, first[irq->irq] == 0, "irq %u is already used on line %d", irq->irq,
                          first[irq->irq]);
            first[irq->irq] = irq->line;
        }
    }
}

static void check_channels(struct reader *r, uint64_t *used)
{
    const struct mkperf_system *s = r->system;

    for (unsigned i = 0; i < s->nchannels; i++) {
        const struct mkperf_system_end *end = s->channel[i].end;
        r->line = s->channel[i].line;
        system_demand(r, end[0].pd != end[1].pd, "channel of protection_domain '%s' with itself",
                      s->pd[end[0].pd].name);
        system_demand(r, !end[0].pp || !end[1].pp, "channel with pp at both ends");
        for (unsigned j = 0; j < 2; j++) {
            /* Microkit lets the callee run at once (its manual, "Protected procedures"). */
            const struct mkperf_system_pd *caller = &s->pd[end[j].pd],
                                          *callee = &s->pd[end[1 - j].pd];
            r->line = end[j].line;
            claim_id(r, &used[end[j].pd], caller, end[j].id);
            system_demand(r,
                          !end[j].pp || caller->scheduling.priority < callee->scheduling.priority,
                          "pp: '%s' (priority %u) may only call a protection_domain of "
                          "higher priority, but '%s' has %u",
                          caller->name, caller->scheduling.priority, callee->name,
                          callee->scheduling.priority);
        }
    }
}

static void check_domains(struct reader *r)
{
    const struct mkperf_system *s = r->system;

    for (unsigned i = 0; i < s->npds; i++) {
        r->line = s->pd[i].line;
        system_demand(r, (s->pd[i].domain < 0) == (s->ndomains == 0),
                      "protection_domain '%s' needs a domain, as all do with <domains>",
                      s->pd[i].name);
    }
    for (unsigned i = 0; i < s->ndomains; i++) {
        r->line = 1;
        system_demand(r, system_domain_named(s, s->domain[i]) == (int)i,
                      "domain '%s' is defined twice", s->domain[i]);
    }
}

void system_check(struct reader *r)
{
    const struct mkperf_system *s = r->system;
    uint64_t used[MKPERF_SYSTEM_MAX_PDS] = {0};

    r->line = 1;
    system_demand(r, s->npds != 0, "no protection_domain is defined");
    for (unsigned i = 0; i < s->npds; i++) {
        struct mkperf_system_pd *pd = &s->pd[i];
        pd->thread = pd->parent < 0 ? (uint64_t)i + 1 : MKPERF_THREAD_CHILD(i, pd->child_id);
    }
    check_pds(r);
    check_regions(r);
    for (unsigned i = 0; i < s->npds; i++) {
        check_maps(r, &s->pd[i]);
    }
    check_domains(r);
    check_irqs(r, used);
    check_channels(r, used);
}
