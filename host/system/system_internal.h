/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Shared by the files of this directory: the parser's state until the whole .system file is read,
 * because names may be used before they are defined.
 */
#ifndef MKPERF_HOST_SYSTEM_SYSTEM_INTERNAL_H
#define MKPERF_HOST_SYSTEM_SYSTEM_INTERNAL_H

#include <expat.h>

#include "system.h"

/* A name whose meaning is looked up at the end. */
struct reference {
    char *name;
    unsigned pd;   /* whose map or setvar; or the channel */
    unsigned item; /* index of the map or setvar in it; or the channel's end */
    int line;
};

struct references {
    unsigned n;
    struct reference *at;
};

struct draft {
    struct mkperf_system *system;
    struct references maps;    /* map -> region */
    struct references setvars; /* setvar -> region */
    struct references ends;    /* channel end -> PD */
    struct references ids;     /* symbol of setvar_id: channel end -> that PD's setvar */
    struct references tcbs;    /* cap_tcb -> PD */
};

/* Messages "path:line: ...". Always returns false. */
struct place {
    const char *path;
    int line;
    struct mkperf_error *e;
};
bool system_error(const struct place *at, const char *format, ...)
    __attribute__((format(printf, 2, 3)));

/* Room for one more in an array that doubles; NULL and an error if there are too many. */
void *system_append(const struct place *at, void **array, unsigned *n, size_t size,
                    const char *what);

bool system_add_setvar(const struct place *at, struct mkperf_system_pd *pd, const char *symbol,
                       enum mkperf_setvar_kind kind, unsigned index, uint64_t value);

/* Looks up all names, then checks everything that needs the whole system. */
bool system_resolve(struct draft *d, const char *path, struct mkperf_error *e);
bool system_check(const struct mkperf_system *s, const char *path, struct mkperf_error *e);

enum { SYSTEM_MAX_DEPTH = 80 };

enum element {
    DOCUMENT,
    SYSTEM,
    PD,
    PROGRAM,
    REGION,
    MAP,
    IRQ,
    SETVAR,
    VM,
    VCPU,
    CHANNEL,
    END,
    CSPACE,
    CAP_TCB,
    CAP_SC,
    CAP_VSPACE,
    DOMAINS,
    DOMAIN,
    SCHEDULE,
    SCHEDULE_ENTRY,
    SCHEDULE_END,
    ELEMENTS,
};

struct reader {
    XML_Parser xml;
    struct draft draft;
    struct place at;
    bool failed;
    unsigned depth;
    enum element open[SYSTEM_MAX_DEPTH];
    int pd_open[SYSTEM_MAX_DEPTH]; /* the innermost PD at each depth, -1 */
    unsigned ends;                 /* of the channel being read */
};

/* attributes.c: false after an error. NULL: the element does not have it. */
const char *system_attribute(const char **attrs, const char *name);
bool system_required(struct reader *r, const char **attrs, const char *name, const char **value);
/* Decimal or 0x hexadecimal, with underscores anywhere; at most max. */
bool system_number(struct reader *r, const char *name, const char *text, uint64_t max,
                   uint64_t *value);
bool system_required_number(struct reader *r, const char **attrs, const char *name, uint64_t max,
                            uint64_t *value);
bool system_optional_number(struct reader *r, const char **attrs, const char *name, uint64_t max,
                            uint64_t otherwise, uint64_t *value);
bool system_optional_bool(struct reader *r, const char **attrs, const char *name, bool otherwise,
                          bool *value);
bool system_copy_string(struct reader *r, const char *name, const char *text, char **copy);
/* Remembers that `name` is to be looked up for an item of a PD or channel. */
bool system_refer(struct reader *r, struct references *list, const char *name, unsigned pd,
                  unsigned item);

/* elements.c */
bool system_start_pd(struct reader *r, const char **attrs);
bool system_start_program(struct reader *r, const char **attrs);
bool system_start_region(struct reader *r, const char **attrs);
bool system_start_map(struct reader *r, const char **attrs);
bool system_start_irq(struct reader *r, const char **attrs);
bool system_start_setvar(struct reader *r, const char **attrs);
bool system_start_vm(struct reader *r, const char **attrs);
bool system_start_vcpu(struct reader *r, const char **attrs);
bool system_start_channel(struct reader *r, const char **attrs);
bool system_start_end(struct reader *r, const char **attrs);
struct mkperf_system_pd *system_current_pd(struct reader *r);

/* newer.c: elements that Microkit 2.0.1 does not have. */
void system_beyond(struct reader *r, const char *what);
bool system_start_cspace(struct reader *r, const char **attrs);
bool system_start_cap_tcb(struct reader *r, const char **attrs);
bool system_start_cap_other(struct reader *r, const char **attrs);
bool system_start_domains(struct reader *r, const char **attrs);
bool system_start_domain(struct reader *r, const char **attrs);
bool system_start_schedule(struct reader *r, const char **attrs);
bool system_start_schedule_entry(struct reader *r, const char **attrs);
bool system_start_schedule_end(struct reader *r, const char **attrs);

#endif
