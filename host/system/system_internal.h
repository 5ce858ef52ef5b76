/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Shared by the files of this directory: the parser's state until the whole .system file is read,
 * because names may be used before they are defined.
 */
#ifndef MKPERF_HOST_SYSTEM_SYSTEM_INTERNAL_H
#define MKPERF_HOST_SYSTEM_SYSTEM_INTERNAL_H

#include <expat.h>

#include "system.h"

/* Names whose meaning is looked up at the end, in this order. */
enum reference_kind {
    REFER_MAP,    /* map -> region */
    REFER_SETVAR, /* setvar -> region */
    REFER_END,    /* channel end -> PD */
    REFER_ID,     /* symbol of setvar_id: channel end -> that PD's setvar */
    REFER_TCB,    /* cap_tcb -> PD */
    REFERENCE_KINDS,
};

struct references {
    unsigned n;
    struct reference {
        char *name;
        unsigned pd;   /* whose item it is; or the channel */
        unsigned item; /* index of the map, setvar or cap_tcb in it; or the channel's end */
        int line;
    } * at;
};

/* Messages "path:line: ...": the first error is kept, later ones follow from it. */
struct place {
    const char *path;
    int line;
    struct mkperf_error *e;
    bool failed;
};
/* Always returns false. */
bool system_error(struct place *at, const char *format, ...) __attribute__((format(printf, 2, 3)));

/* Room for one more in an array that doubles; NULL and an error if there are too many. */
void *system_append(struct place *at, void **array, unsigned *n, size_t size, const char *what);

bool system_add_setvar(struct place *at, struct mkperf_system_pd *pd, const char *symbol,
                       enum mkperf_setvar_kind kind, unsigned index, uint64_t value);

/* Looks up all names, then checks everything that needs the whole system. */
bool system_resolve(struct mkperf_system *s, const struct references names[REFERENCE_KINDS],
                    struct place *at);
bool system_check(const struct mkperf_system *s, struct place *at);

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
    struct mkperf_system *system;
    struct references names[REFERENCE_KINDS];
    struct place at;
    const char **attributes; /* of the element that begins */
    unsigned depth;
    enum element open[SYSTEM_MAX_DEPTH];
    int pd_open[SYSTEM_MAX_DEPTH]; /* the innermost PD at each depth, -1 */
    unsigned ends;                 /* of the channel being read */
};

/*
 * attributes.c: an attribute of the element that begins. After an error, of which the element's
 * function need not know, there is some valid value: "", 0 or the default.
 */
const char *system_attribute(struct reader *r, const char *name); /* NULL: it is not there */
const char *system_required(struct reader *r, const char *name);
/* Decimal or 0x hexadecimal, with underscores anywhere; at most max. */
uint64_t system_number(struct reader *r, const char *name, uint64_t max);
uint64_t system_number_or(struct reader *r, const char *name, uint64_t max, uint64_t otherwise);
bool system_bool_or(struct reader *r, const char *name, bool otherwise);
/* A copy of a printable text; NULL after an error. */
char *system_copy(struct reader *r, const char *name, const char *text);
/* Remembers that `name` is to be looked up for an item of a PD or channel. */
void system_refer(struct reader *r, enum reference_kind kind, const char *name, unsigned pd,
                  unsigned item);

/* elements.c */
void system_start_pd(struct reader *r);
void system_start_program(struct reader *r);
void system_start_region(struct reader *r);
void system_start_map(struct reader *r);
void system_start_irq(struct reader *r);
void system_start_setvar(struct reader *r);
void system_start_vm(struct reader *r);
void system_start_vcpu(struct reader *r);
void system_start_channel(struct reader *r);
void system_start_end(struct reader *r);
struct mkperf_system_pd *system_current_pd(struct reader *r);

/* newer.c: elements that Microkit 2.0.1 does not have. */
void system_beyond(struct reader *r, const char *what);
void system_start_cspace(struct reader *r);
void system_start_cap_tcb(struct reader *r);
void system_start_cap_other(struct reader *r);
void system_start_domains(struct reader *r);
void system_start_domain(struct reader *r);
void system_start_schedule(struct reader *r);
void system_start_schedule_entry(struct reader *r);

#endif
