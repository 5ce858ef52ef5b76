/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Shared by the files of this directory: the state of reading one .system file. References are kept
 * until the whole file is read, because names may be used before they are defined.
 */
#ifndef MKPERF_HOST_SYSTEM_SYSTEM_INTERNAL_H
#define MKPERF_HOST_SYSTEM_SYSTEM_INTERNAL_H

#include <expat.h>

#include "system.h"

/* Returns the index of an item by its name, or -1. */
typedef int system_find(const struct mkperf_system *s, const char *name);

/* A name of an item, of which the number belongs at `at` in the array behind `array`. That may still move. */
struct reference {
    struct reference *next;
    const char *name, *unknown; /* unknown: the message if nothing has that name */
    system_find *find;
    void **array;
    size_t at;
    int line;
};

enum { SYSTEM_MAX_DEPTH = 80 };

enum element {
    DOCUMENT,
    SYSTEM,
    PD,
    PROGRAM,
    REGION,
    MAP,
    IRQ,
    IOPORT,
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
    struct mkperf_system *system;
    /* The place in the file that error messages name. */
    const char *path;
    int line;
    struct mkperf_error *e;
    bool failed;
    XML_Parser xml;                  /* NULL: the file is read */
    struct reference *names, **last; /* in the order of the file; where the next one belongs */
    const char **attributes;         /* attributes of the element that begins */
    unsigned depth;
    enum element open[SYSTEM_MAX_DEPTH];
    struct mkperf_system_pd *pd;  /* the innermost open PD; NULL: none is open */
    unsigned ends_read;           /* ends that were read of the open channel */
    int schedule;                 /* line of the domain_schedule, 0 if there is none yet */
    uint64_t start_index;         /* the start index of the domain schedule */
    struct mkperf_system_vcpu vm; /* what the vCPUs of the open virtual machine have */
};

/* elements.c: the language, by enum element. */
extern const struct system_element {
    const char *name;
    unsigned parents; /* a set of elements: 1 << enum element */
    /* The names of attributes, with a space before and after each. */
    const char *attributes;
    void (*start)(struct reader *r); /* reads them; NULL if there is nothing to read */
} system_language[ELEMENTS];

/* Sets the message "path:line: ..." if a demand is not met that the system must meet, and ends reading. Only the first error is kept,
 * because the others follow from it. Returns whether it is met. */
bool system_demand(struct reader *r, bool met, const char *format, ...)
    __attribute__((format(printf, 3, 4)));

system_find system_domain_named;

/* Returns memory of malloc, which then lives as long as the system. */
void *system_keep(struct mkperf_system *s, void *p);

/* Appends a setvar to the PD. Returns false, with an error, if the symbol is empty or has a setvar already. */
bool system_add_setvar(struct reader *r, struct mkperf_system_pd *pd, const char *symbol,
                       enum mkperf_setvar_kind kind, unsigned index, uint64_t value);

/* check.c. Resolves all references; then, if all are known, the other checks everything that needs the whole system. */
void system_resolve(struct reader *r);
void system_check(struct reader *r);

#endif
