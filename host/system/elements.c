/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * .system files: the elements, one function each, which reads the attributes and checks a single
 * element. Called by parse.c, which has checked that the element is valid in its place and has no
 * unknown attribute.
 */
#include <string.h>

#include "system_internal.h"

enum { MAX_STACK_BYTES = 16 << 20, SMALL_PAGE = 0x1000, LARGE_PAGE = 0x200000 };

#define MAX_ADDRESS (UINT64_C(1) << 47)

struct mkperf_system_pd *system_current_pd(struct reader *r)
{
    return &r->draft.system->pd[r->pd_open[r->depth]];
}

/* Microseconds; Microkit's defaults. */
static bool budget(struct reader *r, const char **attrs, uint64_t *b, uint64_t *p)
{
    return system_optional_number(r, attrs, "budget", UINT64_MAX, 1000, b) &&
           system_optional_number(r, attrs, "period", UINT64_MAX, *b, p) &&
           (*b <= *p || system_error(&r->at, "budget must not be above period"));
}

static bool pd_numbers(struct reader *r, const char **attrs, struct mkperf_system_pd *pd)
{
    uint64_t priority;
    uint64_t cpu;
    bool fpu;

    if (!budget(r, attrs, &pd->budget, &pd->period) ||
        !system_optional_number(r, attrs, "priority", MKPERF_SYSTEM_MAX_PRIORITY, 0, &priority) ||
        !system_optional_number(r, attrs, "cpu", 63, 0, &cpu) ||
        !system_optional_number(r, attrs, "stack_size", MAX_STACK_BYTES, SMALL_PAGE,
                                &pd->stack_size) ||
        !system_optional_bool(r, attrs, "passive", false, &pd->passive) ||
        !system_optional_bool(r, attrs, "smc", false, &pd->smc) ||
        !system_optional_bool(r, attrs, "fpu", true, &fpu)) {
        return false;
    }
    if (system_attribute(attrs, "domain") != NULL) {
        system_beyond(r, "domains");
    }
    pd->limited = pd->budget < pd->period;
    pd->priority = (unsigned)priority;
    pd->cpu = (unsigned)cpu;
    if (pd->stack_size == 0 || pd->stack_size % SMALL_PAGE != 0) {
        return system_error(&r->at, "stack_size is not a positive multiple of 0x1000");
    }
    return true;
}

bool system_start_pd(struct reader *r, const char **attrs)
{
    struct mkperf_system *s = r->draft.system;
    int parent = r->pd_open[r->depth];
    const char *symbol = system_attribute(attrs, "setvar_id");
    const char *name;
    uint64_t id = 0;

    if (s->npds == MKPERF_SYSTEM_MAX_PDS) {
        return system_error(&r->at, "too many protection_domains, the maximum is %d",
                            MKPERF_SYSTEM_MAX_PDS);
    }
    if (parent < 0 && (system_attribute(attrs, "id") != NULL || symbol != NULL)) {
        return system_error(&r->at, "id belongs to a child protection_domain only");
    }
    if (!system_required(r, attrs, "name", &name) ||
        (parent >= 0 && !system_required_number(r, attrs, "id", MKPERF_SYSTEM_MAX_ID, &id))) {
        return false;
    }
    struct mkperf_system_pd *pd =
        system_append(&r->at, (void **)&s->pd, &s->npds, sizeof *pd, "protection_domains");
    if (pd == NULL) {
        return false;
    }
    pd->line = r->at.line;
    pd->parent = parent;
    pd->child_id = (unsigned)id;
    r->pd_open[r->depth] = (int)s->npds - 1;
    return system_copy_string(r, "name", name, &pd->name) && pd_numbers(r, attrs, pd) &&
           (symbol == NULL ||
            system_add_setvar(&r->at, &s->pd[parent], symbol, MKPERF_SETVAR_ID, 0, id));
}

bool system_start_program(struct reader *r, const char **attrs)
{
    struct mkperf_system_pd *pd = system_current_pd(r);
    const char *path;
    const char *symbols = system_attribute(attrs, "path_for_symbols");

    if (pd->program != NULL) {
        return system_error(&r->at, "protection_domain '%s' has a program_image already", pd->name);
    }
    return system_required(r, attrs, "path", &path) &&
           system_copy_string(r, "path", path, &pd->program) &&
           (symbols == NULL || system_copy_string(r, "path_for_symbols", symbols, &pd->symbols));
}

bool system_start_region(struct reader *r, const char **attrs)
{
    struct mkperf_system *s = r->draft.system;
    const char *name;
    const char *phys = system_attribute(attrs, "phys_addr");
    bool filled = system_attribute(attrs, "prefill_path") != NULL;
    bool of_file = filled &&
                   system_attribute(attrs, "size") == NULL; /* 0: it has the file's size */
    struct mkperf_system_region *region =
        system_append(&r->at, (void **)&s->region, &s->nregions, sizeof *region, "memory_regions");

    if (region == NULL) {
        return false;
    }
    region->line = r->at.line;
    if (filled || system_attribute(attrs, "prefill_bootinfo") != NULL) {
        system_beyond(r, "prefilled memory_regions");
    }
    if (!system_required(r, attrs, "name", &name) ||
        !system_copy_string(r, "name", name, &region->name) ||
        !(of_file ? system_optional_number(r, attrs, "size", 0, 0, &region->size)
                  : system_required_number(r, attrs, "size", MAX_ADDRESS, &region->size)) ||
        !system_optional_number(r, attrs, "page_size", UINT64_MAX, SMALL_PAGE,
                                &region->page_size)) {
        return false;
    }
    if (region->page_size != SMALL_PAGE && region->page_size != LARGE_PAGE) {
        return system_error(&r->at, "page_size must be 0x1000 or 0x200000");
    }
    if ((region->size == 0 && !of_file) || region->size % region->page_size != 0) {
        return system_error(&r->at, "size is not a positive multiple of the page size");
    }
    if (phys == NULL) {
        return true;
    }
    region->has_phys_addr = true;
    if (!system_number(r, "phys_addr", phys, MAX_ADDRESS, &region->phys_addr)) {
        return false;
    }
    return region->phys_addr % region->page_size == 0 ||
           system_error(&r->at, "phys_addr is not a multiple of the page size");
}

static bool permissions(struct reader *r, const char *text, struct mkperf_system_map *map)
{
    for (const char *p = text; *p != '\0'; p++) {
        map->read |= *p == 'r';
        map->write |= *p == 'w';
        map->execute |= *p == 'x';
        if (strchr("rwx", *p) == NULL) {
            return system_error(&r->at, "perms may hold 'r', 'w' and 'x' only, not '%.64s'", text);
        }
    }
    if (map->write && !map->read && !map->execute) {
        return system_error(&r->at, "perms must not be 'w' alone");
    }
    return map->read || map->write || map->execute || system_error(&r->at, "perms is empty");
}

static bool map_setvars(struct reader *r, const char **attrs, const char *region)
{
    static const struct {
        const char *name;
        enum mkperf_setvar_kind kind;
    } kinds[] = {{"setvar_vaddr", MKPERF_SETVAR_VADDR},
                 {"setvar_size", MKPERF_SETVAR_SIZE},
                 {"setvar_paddr", MKPERF_SETVAR_PADDR}};
    struct mkperf_system_pd *pd = system_current_pd(r);
    unsigned index = (unsigned)r->pd_open[r->depth];

    for (unsigned i = 0; i < sizeof kinds / sizeof *kinds; i++) {
        const char *symbol = system_attribute(attrs, kinds[i].name);
        if (symbol == NULL) {
            continue;
        }
        if (!system_add_setvar(&r->at, pd, symbol, kinds[i].kind, pd->nmaps - 1, 0)) {
            return false;
        }
        if (kinds[i].kind != MKPERF_SETVAR_VADDR &&
            !system_refer(r, &r->draft.setvars, region, index, pd->nsetvars - 1)) {
            return false;
        }
    }
    return true;
}

static bool read_map(struct reader *r, const char **attrs, struct mkperf_system_map *map)
{
    const char *perms = system_attribute(attrs, "perms");

    map->line = r->at.line;
    return system_required_number(r, attrs, "vaddr", MAX_ADDRESS - 1, &map->vaddr) &&
           permissions(r, perms != NULL ? perms : "rw", map) &&
           system_optional_bool(r, attrs, "cached", true, &map->cached);
}

/* A virtual machine's maps are read for their form alone. */
bool system_start_map(struct reader *r, const char **attrs)
{
    struct mkperf_system_pd *pd = system_current_pd(r);
    struct mkperf_system_map map = {0};
    const char *region;

    if (!system_required(r, attrs, "mr", &region) || !read_map(r, attrs, &map)) {
        return false;
    }
    if (r->open[r->depth - 1] == VM) {
        return (system_attribute(attrs, "setvar_vaddr") == NULL &&
                system_attribute(attrs, "setvar_size") == NULL &&
                system_attribute(attrs, "setvar_paddr") == NULL) ||
               system_error(&r->at, "a virtual_machine has no symbols to set");
    }
    struct mkperf_system_map *kept =
        system_append(&r->at, (void **)&pd->map, &pd->nmaps, sizeof map, "maps");
    if (kept == NULL) {
        return false;
    }
    *kept = map;
    if (system_attribute(attrs, "setvar_prefill_size") != NULL) {
        system_beyond(r, "prefilled memory_regions");
    }
    return system_refer(r, &r->draft.maps, region, (unsigned)r->pd_open[r->depth], pd->nmaps - 1) &&
           map_setvars(r, attrs, region);
}

bool system_start_irq(struct reader *r, const char **attrs)
{
    struct mkperf_system_pd *pd = system_current_pd(r);
    const char *trigger = system_attribute(attrs, "trigger");
    const char *symbol = system_attribute(attrs, "setvar_id");
    uint64_t irq;
    uint64_t id;

    if (!system_required_number(r, attrs, "irq", 1019, &irq) ||
        !system_required_number(r, attrs, "id", MKPERF_SYSTEM_MAX_ID, &id)) {
        return false;
    }
    bool edge = trigger != NULL && strcmp(trigger, "edge") == 0;
    if (trigger != NULL && !edge && strcmp(trigger, "level") != 0) {
        return system_error(&r->at, "trigger must be 'level' or 'edge'");
    }
    struct mkperf_system_irq *kept =
        system_append(&r->at, (void **)&pd->irq, &pd->nirqs, sizeof *kept, "irqs");
    if (kept == NULL) {
        return false;
    }
    *kept = (struct mkperf_system_irq){(uint32_t)irq, (uint32_t)id, edge, r->at.line};
    return symbol == NULL || system_add_setvar(&r->at, pd, symbol, MKPERF_SETVAR_ID, 0, id);
}

bool system_start_setvar(struct reader *r, const char **attrs)
{
    struct mkperf_system_pd *pd = system_current_pd(r);
    const char *symbol;
    const char *region;

    return system_required(r, attrs, "symbol", &symbol) &&
           system_required(r, attrs, "region_paddr", &region) &&
           system_add_setvar(&r->at, pd, symbol, MKPERF_SETVAR_PADDR, 0, 0) &&
           system_refer(r, &r->draft.setvars, region, (unsigned)r->pd_open[r->depth],
                        pd->nsetvars - 1);
}

bool system_start_vm(struct reader *r, const char **attrs)
{
    struct mkperf_system_pd *pd = system_current_pd(r);
    const char *name;
    uint64_t of_vm, period;
    uint64_t priority;

    if (pd->virtual_machine != 0) {
        return system_error(&r->at, "protection_domain '%s' has a virtual_machine already",
                            pd->name);
    }
    pd->virtual_machine = r->at.line;
    return system_required(r, attrs, "name", &name) && budget(r, attrs, &of_vm, &period) &&
           system_optional_number(r, attrs, "priority", MKPERF_SYSTEM_MAX_PRIORITY, 0, &priority);
}

bool system_start_vcpu(struct reader *r, const char **attrs)
{
    uint64_t value;

    return system_required_number(r, attrs, "id", MKPERF_SYSTEM_MAX_ID, &value) &&
           system_optional_number(r, attrs, "cpu", 63, 0, &value);
}

bool system_start_channel(struct reader *r, const char **attrs)
{
    struct mkperf_system *s = r->draft.system;
    struct mkperf_system_channel *c =
        system_append(&r->at, (void **)&s->channel, &s->nchannels, sizeof *c, "channels");

    (void)attrs;
    r->ends = 0;
    if (c == NULL) {
        return false;
    }
    c->line = r->at.line;
    return true;
}

bool system_start_end(struct reader *r, const char **attrs)
{
    struct mkperf_system *s = r->draft.system;
    struct mkperf_system_end end = {.line = r->at.line};
    unsigned channel = s->nchannels - 1;
    unsigned item = r->ends++;
    const char *symbol = system_attribute(attrs, "setvar_id");
    const char *pd;
    uint64_t id;

    if (item == 2) {
        return system_error(&r->at, "channel with more than two ends");
    }
    if (!system_required(r, attrs, "pd", &pd) ||
        !system_required_number(r, attrs, "id", MKPERF_SYSTEM_MAX_ID, &id) ||
        !system_optional_bool(r, attrs, "pp", false, &end.pp) ||
        !system_optional_bool(r, attrs, "notify", true, &end.notify)) {
        return false;
    }
    end.id = (uint32_t)id;
    s->channel[channel].end[item] = end;
    return system_refer(r, &r->draft.ends, pd, channel, item) &&
           (symbol == NULL || system_refer(r, &r->draft.ids, symbol, channel, item));
}
