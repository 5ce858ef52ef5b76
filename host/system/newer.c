/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * .system files: the elements that came after Microkit 2.0.1: capabilities for PDs (2.3: cspace)
 * and the domain schedule (2.3).
 *
 * Capabilities of TCBs, by which one PD may read another's registers, are stored (docs/stock.md).
 * The rest is checked for its form, and marked as "beyond" what mkperf's own packer can build.
 * Called by parse.c, as elements.c is.
 */
#include "system_internal.h"

void system_beyond(struct reader *r, const char *what)
{
    struct mkperf_system *s = r->system;

    if (s->beyond == NULL) {
        s->beyond = what;
        s->beyond_line = r->at.line;
    }
}

void system_start_cspace(struct reader *r)
{
    struct mkperf_system_pd *pd = system_current_pd(r);

    if (pd->cspace != 0) {
        system_error(&r->at, "protection_domain '%s' has a cspace already", pd->name);
    }
    pd->cspace = r->at.line;
}

/* Slot 0 is Microkit's own. */
static unsigned slot(struct reader *r)
{
    uint64_t value = system_number(r, "slot", MKPERF_SYSTEM_MAX_SLOT);

    if (value == 0) {
        system_error(&r->at, "slot must not be 0");
    }
    return (unsigned)value;
}

void system_start_cap_tcb(struct reader *r)
{
    struct mkperf_system_pd *pd = system_current_pd(r);
    const char *of = system_required(r, "pd");
    unsigned value = slot(r);

    for (unsigned i = 0; i < pd->ntcbs; i++) {
        if (pd->tcb[i].slot == value) {
            system_error(&r->at, "slot %u is already used on line %d", value, pd->tcb[i].line);
        }
    }
    struct mkperf_system_tcb *kept =
        system_append(&r->at, (void **)&pd->tcb, &pd->ntcbs, sizeof *kept, "cap_tcbs");
    if (kept != NULL) {
        *kept = (struct mkperf_system_tcb){.slot = value, .line = r->at.line};
        system_refer(r, REFER_TCB, of, (unsigned)r->pd_open[r->depth], pd->ntcbs - 1);
    }
}

void system_start_cap_other(struct reader *r)
{
    system_beyond(r, "capabilities but cap_tcb");
    system_required(r, "pd");
    slot(r);
}

void system_start_domains(struct reader *r)
{
    system_beyond(r, "domains");
}

void system_start_domain(struct reader *r)
{
    system_required(r, "name");
    system_number_or(r, "id", 255, 0);
}

void system_start_schedule(struct reader *r)
{
    system_number_or(r, "start_index", UINT32_MAX, 0);
    system_number_or(r, "index_shift", UINT32_MAX, 0);
}

void system_start_schedule_entry(struct reader *r)
{
    system_required(r, "domain");
    system_required(r, "duration");
}
