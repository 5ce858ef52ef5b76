/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * From a sample to named frames: the one step between the model and every sink that names code.
 *
 * Owns: PDs and session of the profile as copies, the ELFs, and each place (an address in a PD or
 * in the kernel) resolved once into frames. Memory grows with the number of distinct places. What
 * has no name is "[unknown]" with the page of its address; nothing is left out.
 */
#ifndef MKPERF_HOST_PROFILE_PLACES_H
#define MKPERF_HOST_PROFILE_PLACES_H

#include <stdio.h>

#include "base/hash.h"
#include "model/warnings.h"
#include "symbols/symbols.h"

enum {
    MKPERF_PLACES_MAX = MKPERF_MAX_FRAMES + 3, /* places of a sample: kernel, pc, callers */
    MKPERF_PLACES_INLINED = 16,                /* frames of a place */
};

struct mkperf_places_pd {
    char *name, *elf, *parent; /* elf, parent: NULL if unknown */
    uint64_t thread;
    uint64_t samples;             /* counted by the profile */
    struct mkperf_module *module; /* NULL: none */
    char *problem;                /* why there is none, NULL: no ELF is known */
    bool profiler;                /* its program is mkperf's own, the profiler or a client */
};

struct mkperf_function {
    uint32_t pd; /* of the address space; a kernel function has the PD it worked for */
    bool kernel, inlined, known;
    uint32_t name, file; /* texts; file 0: unknown */
    uint64_t start;      /* link address; 0 if unknown or inlined */
    uint64_t size;
};

struct mkperf_frame {
    uint32_t function;
    uint32_t file, line; /* of the code, 0: unknown */
};

struct mkperf_place {
    uint32_t pd;
    bool kernel;
    bool blocked;  /* no code: addr is what a thread waits for, blocked.h */
    bool edge;     /* no code: a protected call into the PD; addr 1: it is inferred */
    uint64_t addr; /* of code: for callers, inside the call */
    uint32_t first, nframes;
};

struct mkperf_places {
    bool inlined;  /* set before begin: inlined functions are frames of their own */
    bool no_lines; /* the same: frames have no files and lines, which is quicker */
    struct mkperf_elf_search search; /* the same */
    struct mkperf_session session;
    char *platform, *cpu, *kernel_elf, *image, *unverified, *command, *pd_names;
    struct mkperf_places_pd *pd;
    uint32_t npds, pd_room;
    struct mkperf_symbols *symbols;
    struct mkperf_module *kernel;
    char *kernel_problem;
    uint64_t capture; /* the kernel's function that takes samples, 0: unknown */
    struct mkperf_hash texts, functions, places;
    struct mkperf_function *function;
    struct mkperf_place *place;
    struct mkperf_frame *frame;
    uint32_t function_room, place_room, nframes, frame_room;
};

void mkperf_places_begin(struct mkperf_places *s, const struct mkperf_session *session);
/* FAILED: it was announced before. */
enum mkperf_status mkperf_places_pd(struct mkperf_places *s, const struct mkperf_pd *pd,
                                    struct mkperf_error *e);
/* Takes over the events of a later session; its texts stay those of begin. */
void mkperf_places_events(struct mkperf_places *s, const struct mkperf_session *session);
void mkperf_places_free(struct mkperf_places *s);

struct mkperf_address {
    uint64_t addr;
    uint32_t pd;
    bool kernel;
    bool blocked;   /* as of a place */
    bool is_return; /* of a caller: the call stands before it */
};

/*
 * The addresses of a sample, innermost first. Returns how many; 0: nothing is known of it. In a
 * sample with KERNEL and NO_USER the callers are the kernel's own.
 */
uint32_t mkperf_sample_addresses(const struct mkperf_sample *sample,
                                 struct mkperf_address out[MKPERF_PLACES_MAX]);

/* The places of these addresses: at least one, which may be unknown. Returns how many. */
uint32_t mkperf_places_of(struct mkperf_places *s, const struct mkperf_sample *sample,
                          uint32_t place[MKPERF_PLACES_MAX]);

/* The number of a place between the frames of a PD and those of its caller in another PD, with one frame:
 * "[PD]", or "[PD] (inferred)". */
uint32_t mkperf_places_edge(struct mkperf_places *s, uint32_t pd, bool inferred);

/* The frames of a place, innermost first; at least one. Valid until the next place is resolved. */
static inline const struct mkperf_frame *mkperf_places_frames(const struct mkperf_places *s,
                                                              uint32_t place, uint32_t *n)
{
    *n = s->place[place].nframes;
    return s->frame + s->place[place].first;
}

/* A text's number; "" is 0. Texts are cut, see base/hash.h. */
uint32_t mkperf_places_text_number(struct mkperf_places *s, const char *text);
const char *mkperf_places_text(const struct mkperf_places *s, uint32_t number);
static inline const char *mkperf_places_name(const struct mkperf_places *s, uint32_t function)
{
    return mkperf_places_text(s, s->function[function].name);
}

/* What code without a name is called: "[unknown]" with the page of its address. */
enum { MKPERF_PLACES_UNKNOWN = 64 };
void mkperf_places_unknown(bool kernel, uint64_t addr, char name[MKPERF_PLACES_UNKNOWN]);

const char *mkperf_places_pd_name(const struct mkperf_places *s, uint32_t pd);
/* Whether its samples are of one of several PDs: their callers are candidates, not callers. */
bool mkperf_places_ambiguous(const struct mkperf_places *s, uint32_t pd);
/* Whether callers in other PDs, of samples of that event, were inferred from registers (docs/stock.md):
 * those of the timer's samples are, and of what is read in them. */
bool mkperf_places_inferred(const struct mkperf_places *s, uint32_t event);
bool mkperf_places_idle(const struct mkperf_places *s, uint32_t pd);
/* The event's name, "event-N" if the session does not say. */
const char *mkperf_places_event_name(const struct mkperf_places *s, uint32_t event, char room[32]);

/* What a reader must know to trust the numbers: model/warnings.h. */
void mkperf_places_warnings(const struct mkperf_places *s, const struct mkperf_totals *totals,
                            mkperf_put_warning *put, void *self);

/* Says which ELFs are missing, one line each, with `prefix` in front. */
void mkperf_places_warn(const struct mkperf_places *s, FILE *out, const char *prefix);

/* What users call a kind of mark. */
extern const char *const mkperf_mark_names[MKPERF_MARK_END + 1];

#endif
