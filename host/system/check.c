/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * .system files: looking up names, and the rules that need the whole system.
 *
 * Owns: everything that is wrong only in context: unknown names, duplicates, overlaps, and
 * priorities of protected calls. It also computes the identity that samples of each PD carry. Called
 * by parse.c.
 */
#include <mkperf/record.h>

#include "system_internal.h"

#define USER_TOP UINT64_C(0x800000000000) /* the largest of Microkit's AArch64 boards */

/* Returns the index of the first of n items with that name, -1 if there is none. */
static int find_named(const void *items, unsigned n, size_t size, const char *name)
{
    size_t i = mkperf_named(items, n, size, name);

    return i < n ? (int)i : -1;
}

int mkperf_system_region_named(const struct mkperf_system *s, const char *name)
{
    return find_named(s->region, s->nregions, sizeof *s->region, name);
}

int mkperf_system_pd_named(const struct mkperf_system *s, const char *name)
{
    return find_named(s->pd, s->npds, sizeof *s->pd, name);
}

static int find_domain(const struct mkperf_system *s, const char *name)
{
    return find_named(s->domain, s->ndomains, sizeof *s->domain, name);
}

/* How each kind of reference is looked up, and the message if nothing has that name. */
static const struct {
    const char *unknown;
    int (*find)(const struct mkperf_system *s, const char *name);
} targets[REFERENCE_KINDS] = {
    [REFER_MAP] = {"map of unknown memory_region", mkperf_system_region_named},
    [REFER_SETVAR] = {"setvar of unknown memory_region", mkperf_system_region_named},
    [REFER_END] = {"end of a channel at unknown protection_domain", mkperf_system_pd_named},
    [REFER_TCB] = {"cap_tcb of unknown protection_domain", mkperf_system_pd_named},
    [REFER_DOMAIN] = {"protection_domain in unknown domain", find_domain},
    [REFER_WINDOW] = {"schedule_entry of unknown domain", find_domain},
};

bool system_resolve(struct mkperf_system *s, const struct references names[REFERENCE_KINDS],
                    struct place *at)
{
    for (enum reference_kind kind = 0; kind < REFERENCE_KINDS; kind++) {
        for (unsigned i = 0; i < names[kind].n; i++) {
            const struct reference *r = &names[kind].at[i];
            int found = targets[kind].find != NULL ? targets[kind].find(s, r->name) : 0;
            const struct mkperf_system_end *end = NULL;

            at->line = r->line;
            if (found < 0) {
                return system_error(at, "%s '%s'", targets[kind].unknown, r->name);
            }
            switch (kind) {
            case REFER_MAP:
                s->pd[r->owner].map[r->item].region = (unsigned)found;
                break;
            case REFER_SETVAR:
                s->pd[r->owner].setvar[r->item].index = (unsigned)found;
                break;
            case REFER_END:
                s->channel[r->owner].end[r->item].pd = (unsigned)found;
                break;
            case REFER_TCB:
                s->pd[r->owner].tcb[r->item].pd = (unsigned)found;
                break;
            case REFER_DOMAIN:
                s->pd[r->owner].domain = found;
                break;
            case REFER_WINDOW:
                s->window[r->owner].domain = found;
                break;
            default:
                end = &s->channel[r->owner].end[r->item];
            }
            if (end != NULL &&
                !system_add_setvar(at, &s->pd[end->pd], r->name, MKPERF_SETVAR_ID, 0, end->id)) {
                return false;
            }
        }
    }
    return true;
}

static bool check_pds(const struct mkperf_system *s, struct place *at)
{
    for (unsigned i = 0; i < s->npds; i++) {
        const struct mkperf_system_pd *a = &s->pd[i];
        int first = mkperf_system_pd_named(s, a->name);
        at->line = a->line;
        if (first != (int)i) {
            return system_error(at, "protection_domain '%s' is already defined on line %d", a->name,
                                s->pd[first].line);
        }
        for (unsigned j = 0; j < i; j++) {
            if (a->parent >= 0 && a->parent == s->pd[j].parent &&
                a->child_id == s->pd[j].child_id) {
                return system_error(at, "child id %u is already used on line %d", a->child_id,
                                    s->pd[j].line);
            }
        }
    }
    return true;
}

static bool ranges_overlap(uint64_t a, uint64_t a_size, uint64_t b, uint64_t b_size)
{
    return a < b + b_size && b < a + a_size;
}

static bool check_regions(const struct mkperf_system *s, struct place *at)
{
    for (unsigned i = 0; i < s->nregions; i++) {
        const struct mkperf_system_region *a = &s->region[i];
        at->line = a->line;
        int first = mkperf_system_region_named(s, a->name);
        if (first != (int)i) {
            return system_error(at, "memory_region '%s' is already defined on line %d", a->name,
                                s->region[first].line);
        }
        for (unsigned j = 0; j < i; j++) {
            const struct mkperf_system_region *b = &s->region[j];
            if (a->has_phys_addr && b->has_phys_addr &&
                ranges_overlap(a->phys_addr, a->size, b->phys_addr, b->size)) {
                return system_error(at, "memory_region '%s' overlaps '%s' in physical memory",
                                    a->name, b->name);
            }
        }
    }
    return true;
}

static bool check_maps(const struct mkperf_system *s, const struct mkperf_system_pd *pd,
                       struct place *at)
{
    for (unsigned i = 0; i < pd->nmaps; i++) {
        const struct mkperf_system_map *map = &pd->map[i];
        const struct mkperf_system_region *region = &s->region[map->region];

        at->line = map->line;
        if (map->vaddr % region->page_size != 0) {
            return system_error(at, "vaddr 0x%llx is not a multiple of the page size 0x%llx",
                                (unsigned long long)map->vaddr,
                                (unsigned long long)region->page_size);
        }
        if (map->vaddr + region->size > USER_TOP) {
            return system_error(at, "map of '%s' ends above the user address space", region->name);
        }
        for (const struct mkperf_system_map *other = pd->map; other < map; other++) {
            const struct mkperf_system_region *its = &s->region[other->region];
            if (ranges_overlap(map->vaddr, region->size, other->vaddr, its->size)) {
                return system_error(at, "map of '%s' overlaps the map of '%s' on line %d",
                                    region->name, its->name, other->line);
            }
        }
    }
    return true;
}

/* Marks `id` in `used`, the set of ids that the channels and irqs of this PD have so far. */
static bool claim_id(uint64_t *used, const struct mkperf_system_pd *pd, uint32_t id,
                     struct place *at)
{
    if (*used >> id & 1) {
        return system_error(at, "id %u is used twice in protection_domain '%s'", id, pd->name);
    }
    *used |= UINT64_C(1) << id;
    return true;
}

static bool check_irqs(const struct mkperf_system *s, uint64_t *used, struct place *at)
{
    for (unsigned i = 0; i < s->npds; i++) {
        for (unsigned j = 0; j < s->pd[i].nirqs; j++) {
            const struct mkperf_system_irq *irq = &s->pd[i].irq[j];
            at->line = irq->line;
            if (!claim_id(&used[i], &s->pd[i], irq->id, at)) {
                return false;
            }
            for (unsigned k = 0; k <= i; k++) {
                for (unsigned l = 0; l < (k == i ? j : s->pd[k].nirqs); l++) {
                    if (s->pd[k].irq[l].irq == irq->irq) {
                        return system_error(at, "irq %u is already used on line %d", irq->irq,
                                            s->pd[k].irq[l].line);
                    }
                }
            }
        }
    }
    return true;
}

static bool check_channels(const struct mkperf_system *s, uint64_t *used, struct place *at)
{
    for (unsigned i = 0; i < s->nchannels; i++) {
        const struct mkperf_system_end *end = s->channel[i].end;
        at->line = s->channel[i].line;
        if (end[0].pd == end[1].pd) {
            return system_error(at, "channel of protection_domain '%s' with itself",
                                s->pd[end[0].pd].name);
        }
        if (end[0].pp && end[1].pp) {
            return system_error(at, "channel with pp at both ends");
        }
        for (unsigned j = 0; j < 2; j++) {
            at->line = end[j].line;
            if (!claim_id(&used[end[j].pd], &s->pd[end[j].pd], end[j].id, at)) {
                return false;
            }
            /* Microkit lets the callee run at once (its manual, "Protected procedures"). */
            const struct mkperf_system_pd *caller = &s->pd[end[j].pd],
                                          *callee = &s->pd[end[1 - j].pd];
            if (end[j].pp && caller->priority >= callee->priority) {
                return system_error(at,
                                    "pp: '%s' (priority %u) may only call a protection_domain of "
                                    "higher priority, but '%s' has %u",
                                    caller->name, caller->priority, callee->name, callee->priority);
            }
        }
    }
    return true;
}

static bool check_domains(const struct mkperf_system *s, struct place *at)
{
    for (unsigned i = 0; i < s->npds; i++) {
        if ((s->pd[i].domain < 0) != (s->ndomains == 0)) {
            at->line = s->pd[i].line;
            return system_error(at,
                                "protection_domain '%s' needs a domain, as all do with <domains>",
                                s->pd[i].name);
        }
    }
    for (unsigned i = 0; i < s->ndomains; i++) {
        if (find_domain(s, s->domain[i]) != (int)i) {
            return system_error(at, "domain '%s' is defined twice", s->domain[i]);
        }
    }
    return true;
}

bool system_check(const struct mkperf_system *s, struct place *at)
{
    uint64_t used[MKPERF_SYSTEM_MAX_PDS] = {0};

    at->line = 1;
    if (s->npds == 0) {
        return system_error(at, "no protection_domain is defined");
    }
    for (unsigned i = 0; i < s->npds; i++) {
        struct mkperf_system_pd *pd = &s->pd[i];
        pd->thread = pd->parent < 0 ? (uint64_t)i + 1 : MKPERF_THREAD_CHILD(i, pd->child_id);
    }
    bool good = check_pds(s, at) && check_regions(s, at);
    for (unsigned i = 0; i < s->npds && good; i++) {
        good = check_maps(s, &s->pd[i], at);
    }
    return good && check_domains(s, at) && check_irqs(s, used, at) && check_channels(s, used, at);
}
