/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Shared by the files of this directory: the state of reading one .system file. References are kept
 * until the whole file is read, because names may be used before they are defined.
 */
#ifndef MKPERF_HOST_SYSTEM_SYSTEM_INTERNAL_H
#define MKPERF_HOST_SYSTEM_SYSTEM_INTERNAL_H

#include <expat.h>

#include "system.h"

/* Kinds of references. They are resolved in this order: REFER_ID needs the PDs of REFER_END. */
enum reference_kind {
    REFER_MAP,    /* map -> region */
    REFER_SETVAR, /* setvar -> region */
    REFER_END,    /* channel end -> PD */
    REFER_ID,     /* symbol of setvar_id: channel end -> that PD's setvar */
    REFER_TCB,    /* cap_tcb -> PD */
    REFER_DOMAIN, /* protection_domain -> domain */
    REFER_WINDOW, /* schedule_entry -> domain */
    REFERENCE_KINDS,
};

struct references {
    unsigned n;
    struct reference {
        char *name;
        unsigned owner; /* index of the PD; of the channel for REFER_END and REFER_ID */
        unsigned item;  /* index of the map, setvar, cap_tcb or channel end in the owner */
        int line;
    } * at;
};

/* The place in a file that error messages name. Only the first error is kept, because the others follow from it. */
struct place {
    const char *path;
    int line;
    struct mkperf_error *e;
    bool failed;
    /* An item that has no place in its array. */
    _Alignas(max_align_t) char spare[sizeof(struct mkperf_system_pd)];
};
/* elements.c. Sets the message "path:line: ..." if it is the first error. Always returns false. */
bool system_error(struct place *at, const char *format, ...) __attribute__((format(printf, 2, 3)));

/* Appends a setvar to the PD. Returns false, with an error, if the symbol is empty or has a setvar already. */
bool system_add_setvar(struct place *at, struct mkperf_system_pd *pd, const char *symbol,
                       enum mkperf_setvar_kind kind, unsigned index, uint64_t value);

/* check.c. Resolves all references; then the other checks everything that needs the whole system. */
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
    XML_Parser xml;
    struct mkperf_system *system;
    struct references names[REFERENCE_KINDS];
    struct place at;
    const char *text;
    const char **attributes; /* attributes of the element that begins */
    unsigned depth;
    enum element open[SYSTEM_MAX_DEPTH];
    int pd_open[SYSTEM_MAX_DEPTH]; /* the innermost PD at each depth, -1 */
    unsigned ends_read;            /* ends that were read of the open channel */
    int schedule;                  /* line of the domain_schedule, 0 if there is none yet */
    uint64_t start_index;          /* the start index of the domain schedule */
    struct mkperf_system_vcpu vm;  /* what the vCPUs of the open virtual machine have */
};

/* elements.c: the language, by enum element. */
extern const struct system_element {
    const char *name;
    unsigned parents; /* a set of elements: 1 << enum element */
    /* The names of attributes, with a space before and after each. */
    const char *attributes;
    void (*start)(struct reader *r); /* reads them; NULL if there is nothing to read */
} system_language[ELEMENTS];

struct mkperf_system_pd *system_current_pd(struct reader *r);

#endif
