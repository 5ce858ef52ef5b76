/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * One PD: its ELF patched and placed, its address space, and its entry in the image's header.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "pack.h"

static bool unsupported(struct packer *p, const struct mkperf_system_pd *pd)
{
    if (p->system->beyond != NULL) {
        refuse(p, p->system->beyond_line, "pocket does not support %s", p->system->beyond);
    } else if (pd->virtual_machine != 0) {
        refuse(p, pd->virtual_machine, "pocket does not support virtual machines");
    } else if (pd->smc) {
        refuse(p, pd->line, "pocket does not support secure monitor calls (smc)");
    } else if (pd->domain >= 0 && pd->scheduling.cpu != 0) {
        refuse(p, pd->line, "pocket has domains on core 0 only");
    } else if (pd->scheduling.cpu >= p->machine->cores) {
        refuse(p, pd->line, "pocket has at most %u cores on %s, cpu must be less",
               p->machine->cores, p->machine->name);
    } else if (mkperf_is_limited(&pd->scheduling) &&
               pd->scheduling.budget_us < POCKET_LEAST_BUDGET) {
        refuse(p, pd->line, "pocket's budgets are at least %d microseconds", POCKET_LEAST_BUDGET);
    } else if (strlen(pd->name) >= POCKET_NAME_BYTES) {
        refuse(p, pd->line, "the name of a protection_domain may have %d characters",
               POCKET_NAME_BYTES - 1);
    } else {
        return false;
    }
    return true;
}

static void put_word(uint8_t *at, uint64_t value)
{
    for (unsigned i = 0; i < 8; i++) {
        at[i] = (uint8_t)(value >> 8 * i);
    }
}

static uint64_t setvar_value(const struct packer *p, const struct mkperf_system_pd *pd,
                             const struct mkperf_system_setvar *v)
{
    switch (v->kind) {
    case MKPERF_SETVAR_VADDR:
        return pd->map[v->index].vaddr;
    case MKPERF_SETVAR_SIZE:
        return p->system->region[v->index].size;
    case MKPERF_SETVAR_PADDR:
        return p->region_at[v->index];
    case MKPERF_SETVAR_ID:
        break;
    }
    return v->value;
}

static bool patch_setvars(struct packer *p, const struct mkperf_system_pd *pd, struct program *g)
{
    for (unsigned i = 0; i < pd->nsetvars; i++) {
        const struct mkperf_system_setvar *v = &pd->setvar[i];
        uint8_t *at = program_symbol(g, v->symbol, 8);
        if (at == NULL) {
            return refuse(p, v->line, "%s has no 8-byte symbol '%s' to set", g->path, v->symbol);
        }
        put_word(at, setvar_value(p, pd, v));
    }
    return true;
}

/* Patches the variables of libmicrokit: the name, and the valid uses of each channel. */
static bool patch_library(struct packer *p, const struct pocket_pd *out, int line,
                          struct program *g)
{
    static const struct {
        const char *symbol;
        unsigned flag;
    } sets[] = {{"microkit_irqs", POCKET_CHANNEL_IRQ},
                {"microkit_notifications", POCKET_CHANNEL_NOTIFY},
                {"microkit_pps", POCKET_CHANNEL_CALL}};
    uint8_t *name = program_symbol(g, "microkit_name", POCKET_NAME_BYTES);

    if (name == NULL) {
        return refuse(p, line, "%s is not linked with libmicrokit: no symbol 'microkit_name'",
                      g->path);
    }
    memcpy(name, out->name, POCKET_NAME_BYTES);
    for (unsigned i = 0; i < sizeof sets / sizeof *sets; i++) {
        uint8_t *at = program_symbol(g, sets[i].symbol, 8);
        uint64_t channels = 0;
        for (unsigned c = 0; c < POCKET_CHANNELS; c++) {
            channels |= (uint64_t)((out->channel[c].flags & sets[i].flag) != 0) << c;
        }
        if (at == NULL) {
            return refuse(p, line, "%s is not linked with libmicrokit: no symbol '%s'", g->path,
                          sets[i].symbol);
        }
        put_word(at, channels);
    }
    return true;
}

/* Places one segment, padded to whole pages, and maps it. */
static bool place_segment(struct packer *p, struct pocket_pd *out, int line, struct segment *s,
                          const char *path)
{
    uint64_t start = s->vaddr & ~(uint64_t)(PAGE - 1);
    uint64_t size = (s->vaddr + s->size + PAGE - 1 - start) & ~(uint64_t)(PAGE - 1);
    uint8_t *bytes = calloc(1, size);
    struct mapping m = {start, 0, size, PAGE, s->write, s->execute, true, path, line};

    if (s->write && s->execute) {
        free(bytes);
        return refuse(p, line, "%s has a segment that is writable and executable", path);
    }
    if (bytes == NULL) {
        return refuse(p, line, "out of memory");
    }
    memcpy(bytes + (s->vaddr - start), s->bytes, s->size);
    if (!layout_allocate(p, size, PAGE, bytes, &m.at)) {
        return refuse(p, line, "%s does not fit into RAM", path);
    }
    return tables_map(p, out->tables, &m);
}

static bool map_zeroed(struct packer *p, struct pocket_pd *out, struct mapping m)
{
    if (!layout_allocate(p, m.size, PAGE, NULL, &m.at)) {
        return refuse(p, m.line, "the %s does not fit into RAM", m.what);
    }
    if (strcmp(m.what, "IPC buffer") == 0) {
        out->ipc_buffer = m.at;
    }
    return tables_map(p, out->tables, &m);
}

static bool map_regions(struct packer *p, const struct mkperf_system_pd *pd,
                        const struct pocket_pd *out)
{
    for (unsigned i = 0; i < pd->nmaps; i++) {
        const struct mkperf_system_map *map = &pd->map[i];
        const struct mkperf_system_region *region = &p->system->region[map->region];
        struct mapping m = {map->vaddr,   p->region_at[map->region],
                            region->size, region->page_size,
                            map->write,   map->execute,
                            map->cached,  region->name,
                            map->line};
        if (!tables_map(p, out->tables, &m)) {
            return false;
        }
    }
    return true;
}

static bool build_space(struct packer *p, const struct mkperf_system_pd *pd, struct pocket_pd *out,
                        struct program *g)
{
    struct mapping stack = {p->machine->user_top - pd->stack_size,
                            0,
                            pd->stack_size,
                            PAGE,
                            true,
                            false,
                            true,
                            "stack",
                            pd->line};
    struct mapping ipc = {0, 0, PAGE, PAGE, true, false, true, "IPC buffer", pd->line};

    if (!program_symbol_address(g, "__sel4_ipc_buffer_obj", &ipc.vaddr) || ipc.vaddr % PAGE != 0) {
        return refuse(p, pd->line, "%s has no page for the IPC buffer (__sel4_ipc_buffer_obj)",
                      g->path);
    }
    if (!tables_new(p, &out->tables)) {
        return refuse(p, pd->line, "no memory left for page tables");
    }
    for (unsigned i = 0; i < g->n; i++) {
        if (!place_segment(p, out, pd->line, &g->segment[i], g->path)) {
            return false;
        }
    }
    out->entry = g->entry;
    out->stack_top = p->machine->user_top;
    return map_zeroed(p, out, ipc) && map_zeroed(p, out, stack) && map_regions(p, pd, out);
}

static bool add_irqs(struct packer *p, const struct mkperf_system_pd *pd, struct pocket_pd *out)
{
    for (unsigned i = 0; i < pd->nirqs; i++) {
        const struct mkperf_system_irq *irq = &pd->irq[i];
        if (irq->irq >= POCKET_MAX_IRQS || irq->irq < p->machine->first_irq ||
            irq->irq == p->machine->own_irq) {
            return refuse(p, irq->line, "irq %u: pocket can give out %u to %d but for %u, its own",
                          irq->irq, p->machine->first_irq, POCKET_MAX_IRQS - 1,
                          p->machine->own_irq);
        }
        out->channel[irq->id] =
            (struct pocket_channel){POCKET_CHANNEL_IRQ, 0, 0, irq->edge, irq->irq};
    }
    return true;
}

static void add_channels(const struct packer *p, unsigned index, struct pocket_pd *out)
{
    for (unsigned i = 0; i < p->system->nchannels; i++) {
        const struct mkperf_system_end *end = p->system->channel[i].end;
        for (unsigned j = 0; j < 2; j++) {
            if (end[j].pd == index) {
                out->channel[end[j].id] =
                    (struct pocket_channel){(uint8_t)((end[j].notify ? POCKET_CHANNEL_NOTIFY : 0) |
                                                      (end[j].pp ? POCKET_CHANNEL_CALL : 0)),
                                            (uint8_t)end[1 - j].pd, (uint8_t)end[1 - j].id, 0, 0};
            }
        }
    }
}

/* Stores the path of the program in the first directory of the ELF path that has it, else in the
 * last. */
static void find_program(const struct packer *p, const char *program, char *path, size_t n)
{
    const char *at = p->elf_path;

    for (;;) {
        size_t length = strcspn(at, ":");
        snprintf(path, n, "%.*s/%s", (int)length, at, program);
        if (at[length] == '\0' || access(path, R_OK) == 0) {
            return;
        }
        at += length + 1;
    }
}

bool build_schedule(struct packer *p)
{
    const struct mkperf_system *s = p->system;

    if (s->ndomains > POCKET_DOMAINS || s->first_window + s->nwindows > POCKET_WINDOWS) {
        return refuse(p, s->window[0].line,
                      "pocket's domain schedules have at most %d domains and %d entries",
                      POCKET_DOMAINS, POCKET_WINDOWS);
    }
    p->image->first_window = s->first_window;
    p->image->windows = s->nwindows;
    for (unsigned i = 0; i < s->nwindows; i++) {
        const struct mkperf_system_window *w = &s->window[i];
        p->image->window[s->first_window + i] =
            (struct pocket_window){(uint32_t)w->domain, w->in_ticks, w->duration};
    }
    return true;
}

bool build_pd(struct packer *p, unsigned index)
{
    const struct mkperf_system_pd *pd = &p->system->pd[index];
    struct pocket_pd *out = &p->image->pd[index];
    struct program g;
    char path[4096];
    bool ok;

    if (unsupported(p, pd)) {
        return false;
    }
    memcpy(out->name, pd->name, strlen(pd->name));
    out->priority = pd->scheduling.priority;
    out->cpu = pd->scheduling.cpu;
    out->budget = mkperf_is_limited(&pd->scheduling) ? pd->scheduling.budget_us : 0;
    out->period = pd->scheduling.period_us;
    out->passive = pd->scheduling.passive;
    out->domain = pd->domain >= 0 ? (uint32_t)pd->domain : 0;
    out->parent = pd->parent;
    out->child_id = pd->child_id;
    out->thread = pd->thread;
    if (!add_irqs(p, pd, out)) {
        return false;
    }
    add_channels(p, index, out);
    for (unsigned i = 0; i < pd->ntcbs; i++) {
        out->tcb[pd->tcb[i].slot] = (uint8_t)(pd->tcb[i].pd + 1);
    }
    find_program(p, pd->program, path, sizeof path);
    ok = program_load(p, path, pd->line, false, &g) && patch_setvars(p, pd, &g) &&
         patch_library(p, out, pd->line, &g) && build_space(p, pd, out, &g);
    program_free(&g);
    return ok;
}
