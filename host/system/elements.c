/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * .system files: the elements. Each has one function, which reads the attributes and checks what
 * can be checked without the other elements.
 *
 * Called by parse.c, which has checked that the element is valid in its place and has no unknown
 * attribute. Elements that mkperf does not need are checked for their form. The first of those that
 * mkperf's own packer cannot build is remembered as "beyond" it.
 */
#include "system_internal.h"

#include <mkperf/record.h>

/* ---- errors, arrays that grow, and the values of attributes, which are read strictly: a number consists of digits and is within
 * its bounds, a truth value is 'true' or 'false' ---- */

bool system_demand(struct reader *r, bool met, const char *format, ...)
{
    char reason[512];
    va_list args;

    if (met || r->failed) {
        return met;
    }
    r->failed = true;
    va_start(args, format);
    vsnprintf(reason, sizeof reason, format, args);
    va_end(args);
    mkperf_error_set(r->e, MKPERF_ERR_INPUT, "%s:%d: %s", r->path, r->line, reason);
    if (r->xml != NULL) {
        XML_StopParser(r->xml, XML_FALSE);
    }
    return false;
}

void *system_keep(struct mkperf_system *s, void *p)
{
    MKPERF_GROW(s->kept, s->kept_room, s->nkept + 1);
    return s->kept[s->nkept++] = p;
}

/* Appends a zeroed item to an array that doubles its room. If the array has MKPERF_SYSTEM_MAX_ITEMS already, that is an error which
 * calls the items `what`, and the item has no place in it. */
static void *system_append(struct reader *r, void **array, unsigned *n, size_t size,
                           const char *what)
{
    if (!system_demand(r, *n < MKPERF_SYSTEM_MAX_ITEMS, "too many %s, the maximum is %d", what,
                       MKPERF_SYSTEM_MAX_ITEMS)) {
        return system_keep(r->system, mkperf_xcalloc(1, size));
    }
    if ((*n & (*n - 1)) == 0) { /* 0, 1, 2, 4, ...: full */
        void *more = mkperf_xcalloc(*n == 0 ? 1 : 2 * (size_t)*n, size);
        *array = system_keep(r->system, *n == 0 ? more : memcpy(more, *array, *n * size));
    }
    return (char *)*array + (*n)++ * size;
}

/* Appends an item to the array `array` of n items, which are `what` in a message. */
#define APPEND(r, array, n, what) \
    system_append((r), (void **)&(array), &(n), sizeof *(array), (what))

bool system_add_setvar(struct reader *r, struct mkperf_system_pd *pd, const char *symbol,
                       enum mkperf_setvar_kind kind, unsigned index, uint64_t value)
{
    for (unsigned i = 0; i < pd->nsetvars; i++) {
        system_demand(r, strcmp(pd->setvar[i].symbol, symbol) != 0,
                      "symbol '%s' is already set on line %d", symbol, pd->setvar[i].line);
    }
    system_demand(r, *symbol != '\0', "symbol is empty");
    struct mkperf_system_setvar *v = APPEND(r, pd->setvar, pd->nsetvars, "setvars");
    *v = (struct mkperf_system_setvar){system_keep(r->system, mkperf_xstrdup(symbol)), kind, index,
                                       value, r->line};
    return !r->failed;
}

/* Returns the value of an attribute of the element that begins, or NULL. After an error, the functions below return a valid value
 * ("", 0 or the default), so that the element's function need not check. */
static const char *system_attribute(struct reader *r, const char *name)
{
    for (const char **a = r->attributes; *a != NULL; a += 2) {
        if (strcmp(a[0], name) == 0) {
            return a[1];
        }
    }
    return NULL;
}

/* Finds where the value of an attribute is. expat has checked the element's form: <NAME, then attributes as name =
 * "value" or 'value'. In UTF-16, none is found. */
static struct mkperf_system_span system_span(struct reader *r, const char *attribute)
{
    const char *text = r->system->text, *p = text + XML_GetCurrentByteIndex(r->xml);
    char name[32];
    int n = 0;

    p += strcspn(p, " \t\r\n");
    while (sscanf(p, " %31[^>/= \t\r\n] = %n", name, &n) == 1 && n != 0) {
        const char *value = p + n + 1;
        size_t bytes = strcspn(value, p[n] == '"' ? "\"" : "'");
        if (strcmp(name, attribute) == 0) {
            return (struct mkperf_system_span){(size_t)(value - text), bytes};
        }
        p = value + bytes + 1;
        n = 0;
    }
    return (struct mkperf_system_span){0, 0};
}

static const char *system_required(struct reader *r, const char *name)
{
    const char *value = system_attribute(r, name);

    return system_demand(r, value != NULL, "attribute '%s' is missing", name) ? value : "";
}

/* Reads a number from 0 to max, decimal or 0x hexadecimal. Underscores are ignored. */
static uint64_t parse_number(struct reader *r, const char *name, const char *text, uint64_t max)
{
    const char *p = text;
    uint64_t value = 0;
    unsigned base = 10;
    unsigned digits = 0;

    if (p[0] == '0' && p[1] == 'x') {
        base = 16;
        p += 2;
    }
    for (; *p != '\0'; p++) {
        unsigned d = mkperf_digit(*p);
        if (*p == '_') {
            continue;
        }
        if (d >= base || __builtin_mul_overflow(value, base, &value) ||
            __builtin_add_overflow(value, d, &value)) {
            digits = 0;
            break;
        }
        digits++;
    }
    system_demand(r, digits != 0, "%s: '%.64s' is not a number", name, text);
    system_demand(r, value <= max, "%s: %.64s is above the maximum, %llu", name, text,
                  (unsigned long long)max);
    return r->failed ? 0 : value;
}

static uint64_t system_number(struct reader *r, const char *name, uint64_t max)
{
    return parse_number(r, name, system_required(r, name), max);
}

static uint64_t system_number_or(struct reader *r, const char *name, uint64_t max,
                                 uint64_t otherwise)
{
    const char *text = system_attribute(r, name);

    return text != NULL ? parse_number(r, name, text, max) : otherwise;
}

static bool system_bool_or(struct reader *r, const char *name, bool otherwise)
{
    const char *text = system_attribute(r, name);
    bool value = text == NULL ? otherwise : strcmp(text, "true") == 0;

    system_demand(r, text == NULL || value || strcmp(text, "false") == 0,
                  "%s must be 'true' or 'false', not '%.64s'", name, text);
    return value;
}

/* Returns a new copy of `text`, which must be printable and not empty. NULL after an error. */
static char *system_copy(struct reader *r, const char *name, const char *text)
{
    system_demand(r, *text != '\0', "%s is empty", name);
    /* Commands print names as they are. */
    system_demand(r, mkperf_is_printable(text), "%s has characters that are not printable", name);
    return r->failed ? NULL : system_keep(r->system, mkperf_xstrdup(text));
}

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

int system_domain_named(const struct mkperf_system *s, const char *name)
{
    return find_named(s->domain, s->ndomains, sizeof *s->domain, name);
}

/* Adds a reference. When the whole file is read, the number at `index`, which is in the array behind `array`, becomes that of the
 * item with this name. */
static void system_refer(struct reader *r, const char *unknown, system_find *find, const char *name,
                         void **array, void *index)
{
    struct reference *added = system_keep(r->system, mkperf_xcalloc(1, sizeof *added));

    *added = (struct reference){.unknown = unknown,
                                .find = find,
                                .name = system_copy(r, "reference", name),
                                .array = array,
                                .at = (size_t)((char *)index - (char *)*array),
                                .line = r->line};
    *r->last = added;
    r->last = &added->next;
}

/* Refers by a name to an item that `find` finds, in a member of the last of n items. */
#define REFER(r, unknown, find, name, array, n, member) \
    system_refer((r), (unknown), (find), (name), (void **)&(array), &(array)[(n)-1].member)

/* ---- the elements ---- */

enum { MAX_STACK_BYTES = 16 << 20, SMALL_PAGE = 0x1000, LARGE_PAGE = 0x200000 };

#define MAX_ADDRESS (UINT64_C(1) << 47)

static void note_beyond(struct reader *r, const char *what)
{
    struct mkperf_system *s = r->system;

    if (s->beyond == NULL) {
        s->beyond = what;
        s->beyond_line = r->line;
    }
}

/* Reads what protection_domains and virtual_machines both have. The defaults are Microkit's. */
static void read_scheduling(struct reader *r, struct mkperf_scheduling *s)
{
    s->known = true;
    s->budget_us = system_number_or(r, "budget", MKPERF_SYSTEM_MAX_US, 1000);
    s->period_us = system_number_or(r, "period", MKPERF_SYSTEM_MAX_US, s->budget_us);
    system_demand(r, s->budget_us <= s->period_us, "budget must not be above period");
    s->priority = (uint32_t)system_number_or(r, "priority", MKPERF_SYSTEM_MAX_PRIORITY, 0);
}

/* Notes that the packer shall set the symbol that a setvar_id names to `id`. */
static void set_id(struct reader *r, struct mkperf_system_pd *pd, uint64_t id)
{
    const char *symbol = system_attribute(r, "setvar_id");

    if (symbol != NULL) {
        system_add_setvar(r, pd, symbol, MKPERF_SETVAR_ID, 0, id);
    }
}

static void start_pd(struct reader *r)
{
    struct mkperf_system *s = r->system;
    struct mkperf_system_pd *parent = r->pd;

    if (!system_demand(r, s->npds < MKPERF_SYSTEM_MAX_PDS,
                       "too many protection_domains, the maximum is %d", MKPERF_SYSTEM_MAX_PDS)) {
        return;
    }
    system_demand(r,
                  parent != NULL || (system_attribute(r, "id") == NULL &&
                                     system_attribute(r, "setvar_id") == NULL),
                  "id belongs to a child protection_domain only");
    const char *name = system_required(r, "name");
    uint64_t id = parent != NULL ? system_number(r, "id", MKPERF_SYSTEM_MAX_ID) : 0;
    struct mkperf_system_pd *pd = r->pd = &s->pd[s->npds++];
    pd->line = r->line;
    pd->parent = parent != NULL ? (int)(parent - s->pd) : -1;
    pd->child_id = (unsigned)id;
    pd->name = system_copy(r, "name", name);
    read_scheduling(r, &pd->scheduling);
    pd->budget_at = system_span(r, "budget");
    pd->scheduling.cpu = (uint32_t)system_number_or(r, "cpu", 63, 0);
    pd->stack_size = system_number_or(r, "stack_size", MAX_STACK_BYTES, SMALL_PAGE);
    pd->scheduling.passive = system_bool_or(r, "passive", false);
    pd->smc = system_bool_or(r, "smc", false);
    system_bool_or(r, "fpu", true);
    pd->domain = -1;
    if (system_attribute(r, "domain") != NULL) {
        REFER(r, "protection_domain in unknown domain", system_domain_named,
              system_attribute(r, "domain"), s->pd, s->npds, domain);
    }
    system_demand(r, pd->stack_size != 0 && pd->stack_size % SMALL_PAGE == 0,
                  "stack_size is not a positive multiple of 0x1000");
    if (parent != NULL) {
        set_id(r, parent, id);
    }
}

static void start_program(struct reader *r)
{
    const char *symbols = system_attribute(r, "path_for_symbols");

    system_demand(r, r->pd->program == NULL, "protection_domain '%s' has a program_image already",
                  r->pd->name);
    r->pd->program = system_copy(r, "path", system_required(r, "path"));
    r->pd->symbols = symbols != NULL ? system_copy(r, "path_for_symbols", symbols) : NULL;
}

static void start_region(struct reader *r)
{
    struct mkperf_system *s = r->system;
    bool filled = system_attribute(r, "prefill_path") != NULL;
    /* A region with the size of its file has size 0 here. */
    bool of_file = filled && system_attribute(r, "size") == NULL;
    struct mkperf_system_region *region = APPEND(r, s->region, s->nregions, "memory_regions");

    region->line = r->line;
    if (filled || system_attribute(r, "prefill_bootinfo") != NULL) {
        note_beyond(r, "prefilled memory_regions");
    }
    region->name = system_copy(r, "name", system_required(r, "name"));
    region->size = of_file ? 0 : system_number(r, "size", MAX_ADDRESS);
    region->page_size = system_number_or(r, "page_size", UINT64_MAX, SMALL_PAGE);
    region->has_phys_addr = system_attribute(r, "phys_addr") != NULL;
    region->phys_addr = system_number_or(r, "phys_addr", MAX_ADDRESS, 0);
    if (system_demand(r, region->page_size == SMALL_PAGE || region->page_size == LARGE_PAGE,
                      "page_size must be 0x1000 or 0x200000")) {
        system_demand(r, (region->size != 0 || of_file) && region->size % region->page_size == 0,
                      "size is not a positive multiple of the page size");
        system_demand(r, region->phys_addr % region->page_size == 0,
                      "phys_addr is not a multiple of the page size");
    }
}

static const char UNKNOWN_OF_SETVAR[] = "setvar of unknown memory_region";

static const char *const map_symbols[] = {[MKPERF_SETVAR_VADDR] = "setvar_vaddr",
                                          [MKPERF_SETVAR_SIZE] = "setvar_size",
                                          [MKPERF_SETVAR_PADDR] = "setvar_paddr"};

/* Reads a map. The maps of a virtual machine are checked for their form, and not kept. */
static void start_map(struct reader *r)
{
    bool of_vm = r->open[r->depth - 1] == VM;
    const char *region = system_required(r, "mr"), *perms = system_attribute(r, "perms");
    struct mkperf_system_map map = {.line = r->line};

    map.vaddr = system_number(r, "vaddr", MAX_ADDRESS - 1);
    const char *text = perms != NULL ? perms : "rw";
    map.read = strchr(text, 'r') != NULL;
    map.write = strchr(text, 'w') != NULL;
    map.execute = strchr(text, 'x') != NULL;
    system_demand(r, text[strspn(text, "rwx")] == '\0',
                  "perms may hold 'r', 'w' and 'x' only, not '%.64s'", text);
    system_demand(r, !map.write || map.read || map.execute, "perms must not be only 'w'");
    system_demand(r, *text != '\0', "perms is empty");
    map.cached = system_bool_or(r, "cached", true);
    if (!of_vm) {
        struct mkperf_system_map *kept = APPEND(r, r->pd->map, r->pd->nmaps, "maps");
        *kept = map;
        REFER(r, "map of unknown memory_region", mkperf_system_region_named, region, r->pd->map,
              r->pd->nmaps, region);
        if (system_attribute(r, "setvar_prefill_size") != NULL) {
            note_beyond(r, "prefilled memory_regions");
        }
    }
    for (unsigned kind = 0; kind < sizeof map_symbols / sizeof *map_symbols; kind++) {
        const char *symbol = system_attribute(r, map_symbols[kind]);
        if (symbol != NULL && system_demand(r, !of_vm, "a virtual_machine has no symbols to set") &&
            system_add_setvar(r, r->pd, symbol, (enum mkperf_setvar_kind)kind, r->pd->nmaps - 1,
                              0) &&
            kind != MKPERF_SETVAR_VADDR) {
            REFER(r, UNKNOWN_OF_SETVAR, mkperf_system_region_named, region, r->pd->setvar,
                  r->pd->nsetvars, index);
        }
    }
}

static void start_irq(struct reader *r)
{
    const char *trigger = system_attribute(r, "trigger");
    struct mkperf_system_irq *irq = APPEND(r, r->pd->irq, r->pd->nirqs, "irqs");

    irq->line = r->line;
    if (system_attribute(r, "vector") !=
        NULL) { /* x86-64: pins and MSIs, each with a vector of its own */
        note_beyond(r, "interrupts of x86-64");
        system_required(r, system_attribute(r, "pcidev") != NULL ? "handle" : "pin");
        irq->irq = (uint32_t)system_number(r, "vector", 107);
    } else {
        irq->irq = (uint32_t)system_number(r, "irq", MKPERF_SYSTEM_MAX_IRQ);
    }
    irq->id = (uint32_t)system_number(r, "id", MKPERF_SYSTEM_MAX_ID);
    irq->edge = trigger != NULL && strcmp(trigger, "edge") == 0;
    system_demand(r, trigger == NULL || irq->edge || strcmp(trigger, "level") == 0,
                  "trigger must be 'level' or 'edge'");
    set_id(r, r->pd, irq->id);
}

static void start_ioport(struct reader *r)
{
    note_beyond(r, "I/O ports");
    system_number(r, "id", MKPERF_SYSTEM_MAX_ID);
    system_number(r, "addr", UINT16_MAX);
    system_number(r, "size", UINT16_MAX + UINT64_C(1));
}

static void start_setvar(struct reader *r)
{
    const char *symbol = system_required(r, "symbol");
    const char *region = system_required(r, "region_paddr");

    if (system_add_setvar(r, r->pd, symbol, MKPERF_SETVAR_PADDR, 0, 0)) {
        REFER(r, UNKNOWN_OF_SETVAR, mkperf_system_region_named, region, r->pd->setvar,
              r->pd->nsetvars, index);
    }
}

static void start_vm(struct reader *r)
{
    const char *name = system_required(r, "name");

    system_demand(r, r->pd->virtual_machine == 0,
                  "protection_domain '%s' has a virtual_machine already", r->pd->name);
    r->pd->virtual_machine = r->line;
    r->vm = (struct mkperf_system_vcpu){.machine = system_keep(r->system, mkperf_xstrdup(name)),
                                        .parent = (unsigned)(r->pd - r->system->pd)};
    read_scheduling(r, &r->vm.scheduling);
}

/* Reads a vCPU. vCPUs that the kernel's records cannot tell apart become one. Without `cpu` Microkit 2.3 puts a vCPU on
 * its monitor's core. */
static void start_vcpu(struct reader *r)
{
    struct mkperf_system *s = r->system;
    unsigned id = (unsigned)system_number(r, "id", MKPERF_SYSTEM_MAX_ID);
    uint32_t cpu = (uint32_t)system_number_or(r, "cpu", 63, r->pd->scheduling.cpu);
    uint64_t thread = MKPERF_THREAD_VCPU(cpu, r->vm.scheduling.priority, id);

    for (unsigned i = 0; i < s->nvcpus; i++) {
        if (s->vcpu[i].thread == thread) {
            if (!s->vcpu[i].shared) {
                s->vcpu[i].name = system_keep(s, mkperf_xprintf("%s or another", s->vcpu[i].name));
                s->vcpu[i].shared = true;
            }
            return;
        }
    }
    struct mkperf_system_vcpu *v = APPEND(r, s->vcpu, s->nvcpus, "vcpus");
    *v = r->vm;
    v->id = id;
    v->scheduling.cpu = cpu;
    v->thread = thread;
    v->name = system_keep(s, mkperf_xprintf("VM %s, vcpu %u", r->vm.machine, id));
}

static void start_channel(struct reader *r)
{
    struct mkperf_system *s = r->system;
    struct mkperf_system_channel *c = APPEND(r, s->channel, s->nchannels, "channels");

    r->ends_read = 0;
    c->line = r->line;
}

static void start_end(struct reader *r)
{
    struct mkperf_system *s = r->system;
    const char *symbol = system_attribute(r, "setvar_id");

    if (!system_demand(r, r->ends_read < 2, "channel with more than two ends")) {
        return;
    }
    struct mkperf_system_end *end = &s->channel[s->nchannels - 1].end[r->ends_read];
    end->line = r->line;
    const char *pd = system_required(r, "pd");
    end->id = (uint32_t)system_number(r, "id", MKPERF_SYSTEM_MAX_ID);
    end->pp = system_bool_or(r, "pp", false);
    end->notify = system_bool_or(r, "notify", true);
    end->symbol = symbol != NULL ? system_copy(r, "setvar_id", symbol) : NULL;
    REFER(r, "end of a channel at unknown protection_domain", mkperf_system_pd_named, pd,
          s->channel, s->nchannels, end[r->ends_read].pd);
    r->ends_read++;
}

/* Capabilities for PDs, and the domain schedule: Microkit 2.3. */

static void start_cspace(struct reader *r)
{
    system_demand(r, r->pd->cspace == 0, "protection_domain '%s' has a cspace already",
                  r->pd->name);
    r->pd->cspace = r->line;
}

/* Reads a capability for a PD. Only those of TCBs are kept. */
static void start_cap(struct reader *r)
{
    const char *of = system_required(r, "pd");
    unsigned slot = (unsigned)system_number(r, "slot", MKPERF_SYSTEM_MAX_SLOT);

    system_demand(r, slot != 0, "slot must not be 0"); /* Microkit uses it itself */
    if (r->open[r->depth] != CAP_TCB) {
        note_beyond(r, "capabilities but cap_tcb");
        return;
    }
    for (unsigned i = 0; i < r->pd->ntcbs; i++) {
        system_demand(r, r->pd->tcb[i].slot != slot, "slot %u is already used on line %d", slot,
                      r->pd->tcb[i].line);
    }
    struct mkperf_system_tcb *kept = APPEND(r, r->pd->tcb, r->pd->ntcbs, "cap_tcbs");
    *kept = (struct mkperf_system_tcb){.slot = slot, .line = r->line};
    REFER(r, "cap_tcb of unknown protection_domain", mkperf_system_pd_named, of, r->pd->tcb,
          r->pd->ntcbs, pd);
}

static void start_domain(struct reader *r)
{
    struct mkperf_system *s = r->system;
    const char *name = system_required(r, "name");
    char **domain = APPEND(r, s->domain, s->ndomains, "domains");

    system_number_or(r, "id", 255, 0); /* the kernel's; events have the number of the window */
    *domain = system_copy(r, "name", name);
}

static void start_schedule(struct reader *r)
{
    system_demand(r, r->schedule == 0, "there is a domain_schedule on line %d already",
                  r->schedule);
    r->schedule = r->line;
    r->start_index = system_number_or(r, "start_index", UINT16_MAX, 0);
    r->system->first_window = (unsigned)system_number_or(r, "index_shift", UINT16_MAX, 0);
}

/* Reads an entry of the domain schedule, or the marker of the end of a frame. */
static void start_window(struct reader *r)
{
    struct mkperf_system *s = r->system;
    struct mkperf_system_window *w = APPEND(r, s->window, s->nwindows, "schedule_entries");

    *w = (struct mkperf_system_window){.domain = -1, .line = r->line};
    if (r->open[r->depth] == SCHEDULE_END) {
        return;
    }
    const char *domain = system_required(r, "domain");
    /* A duration: "1000 us" or "1000 ticks", not 0. */
    char value[32] = "";
    const char *text = system_required(r, "duration"), *space = strchr(text, ' ');
    const char *unit = space != NULL ? space + 1 : "";
    w->in_ticks = strcmp(unit, "ticks") == 0;
    if (system_demand(r,
                      (w->in_ticks || strcmp(unit, "us") == 0) && space - text < (int)sizeof value,
                      "duration: '%.64s' is not a number and us or ticks", text)) {
        memcpy(value, text, (size_t)(space - text));
        w->duration = parse_number(r, "duration", value, UINT64_MAX >> 12);
        system_demand(r, w->duration != 0, "duration is 0");
    }
    REFER(r, "schedule_entry of unknown domain", system_domain_named, domain, s->window,
          s->nwindows, domain);
}

#define IN(element) (1u << (element))

const struct system_element system_language[ELEMENTS] = {
    [SYSTEM] = {"system", IN(DOCUMENT), "", NULL},
    [PD] = {"protection_domain", IN(SYSTEM) | IN(PD),
            " name priority budget period passive stack_size smc cpu id setvar_id fpu domain ",
            start_pd},
    [PROGRAM] = {"program_image", IN(PD), " path path_for_symbols ", start_program},
    [REGION] = {"memory_region", IN(SYSTEM),
                " name size page_size phys_addr prefill_path prefill_bootinfo ", start_region},
    [MAP] = {"map", IN(PD) | IN(VM),
             " mr vaddr perms cached setvar_vaddr setvar_size setvar_paddr setvar_prefill_size ",
             start_map},
    [IRQ] = {"irq", IN(PD), " irq id trigger setvar_id pin ioapic polarity vector pcidev handle ",
             start_irq},
    [IOPORT] = {"ioport", IN(PD), " id addr size setvar_id setvar_addr ", start_ioport},
    [SETVAR] = {"setvar", IN(PD), " symbol region_paddr ", start_setvar},
    [VM] = {"virtual_machine", IN(PD), " name budget period priority ", start_vm},
    [VCPU] = {"vcpu", IN(VM), " id cpu setvar_id ", start_vcpu},
    [CHANNEL] = {"channel", IN(SYSTEM), "", start_channel},
    [END] = {"end", IN(CHANNEL), " pd id pp notify setvar_id ", start_end},
    [CSPACE] = {"cspace", IN(PD), "", start_cspace},
    [CAP_TCB] = {"cap_tcb", IN(CSPACE), " slot pd ", start_cap},
    [CAP_SC] = {"cap_sc", IN(CSPACE), " slot pd ", start_cap},
    [CAP_VSPACE] = {"cap_vspace", IN(CSPACE), " slot pd ", start_cap},
    [DOMAINS] = {"domains", IN(SYSTEM), "", NULL},
    [DOMAIN] = {"domain", IN(DOMAINS), " name id ", start_domain},
    [SCHEDULE] = {"domain_schedule", IN(DOMAINS), " start_index index_shift ", start_schedule},
    [SCHEDULE_ENTRY] = {"schedule_entry", IN(SCHEDULE), " domain duration ", start_window},
    [SCHEDULE_END] = {"schedule_end_marker", IN(SCHEDULE), "", start_window},
};
