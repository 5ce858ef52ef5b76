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
    struct mkperf_system *s = r->draft.system;

    if (s->beyond == NULL) {
        s->beyond = what;
        s->beyond_line = r->at.line;
    }
}

bool system_start_cspace(struct reader *r, const char **attrs)
{
    struct mkperf_system_pd *pd = system_current_pd(r);

    (void)attrs;
    if (pd->cspace != 0) {
        return system_error(&r->at, "protection_domain '%s' has a cspace already", pd->name);
    }
    pd->cspace = r->at.line;
    return true;
}

/* Slot 0 is Microkit's own. */
static bool slot(struct reader *r, const char **attrs, uint64_t *value)
{
    if (!system_required_number(r, attrs, "slot", MKPERF_SYSTEM_MAX_SLOT, value)) {
        return false;
    }
    return *value != 0 || system_error(&r->at, "slot must not be 0");
}

bool system_start_cap_tcb(struct reader *r, const char **attrs)
{
    struct mkperf_system_pd *pd = system_current_pd(r);
    const char *of;
    uint64_t value;

    if (!system_required(r, attrs, "pd", &of) || !slot(r, attrs, &value)) {
        return false;
    }
    for (unsigned i = 0; i < pd->ntcbs; i++) {
        if (pd->tcb[i].slot == value) {
            return system_error(&r->at, "slot %u is already used on line %d", pd->tcb[i].slot,
                                pd->tcb[i].line);
        }
    }
    struct mkperf_system_tcb *kept =
        system_append(&r->at, (void **)&pd->tcb, &pd->ntcbs, sizeof *kept, "cap_tcbs");
    if (kept == NULL) {
        return false;
    }
    *kept = (struct mkperf_system_tcb){.slot = (unsigned)value, .line = r->at.line};
    return system_refer(r, &r->draft.tcbs, of, (unsigned)r->pd_open[r->depth], pd->ntcbs - 1);
}

bool system_start_cap_other(struct reader *r, const char **attrs)
{
    const char *of;
    uint64_t value;

    system_beyond(r, "capabilities but cap_tcb");
    return system_required(r, attrs, "pd", &of) && slot(r, attrs, &value);
}

bool system_start_domains(struct reader *r, const char **attrs)
{
    (void)attrs;
    system_beyond(r, "domains");
    return true;
}

bool system_start_domain(struct reader *r, const char **attrs)
{
    const char *name;
    uint64_t id;

    return system_required(r, attrs, "name", &name) &&
           system_optional_number(r, attrs, "id", 255, 0, &id);
}

bool system_start_schedule(struct reader *r, const char **attrs)
{
    uint64_t value;

    return system_optional_number(r, attrs, "start_index", UINT32_MAX, 0, &value) &&
           system_optional_number(r, attrs, "index_shift", UINT32_MAX, 0, &value);
}

bool system_start_schedule_entry(struct reader *r, const char **attrs)
{
    const char *value;

    return system_required(r, attrs, "domain", &value) &&
           system_required(r, attrs, "duration", &value);
}

bool system_start_schedule_end(struct reader *r, const char **attrs)
{
    (void)r;
    (void)attrs;
    return true;
}
