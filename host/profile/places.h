/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * From addresses to named frames: the one step between the model and every sink that names code.
 *
 * Owns: copies of the PDs and the session, the ELFs, and each place, which is resolved once into frames. profile.c and the
 * streamed exports ask for the places of addresses. Memory grows with the number of distinct places.
 *
 *      sample ─► address[]         place[]                frame[]                   function[]
 *                pc 0x2100         0: PD 1, 0x2100  ─┬─►  0: inlined, line 12  ──►  "get"
 *                return 0x2404     1: PD 1, 0x2403   │    1: line 40           ──►  "loop"
 *                (each address)    first, nframes ───┘    (innermost first)         (each function once)
 *
 * Invariants
 *  1. Numbers of places, functions and texts are dense and never change. Text 0 is "".
 *  2. A place has at least one frame. Code without a name is "[unknown]" with the page of its address; nothing is left out.
 *  3. The address of a caller is inside its call: one byte before the return address.
 *
 * Example: the sample above has places 0 and 1. With `inlined`, place 0 has the frames "get" and "loop", else only "loop".
 */
#ifndef MKPERF_HOST_PROFILE_PLACES_H
#define MKPERF_HOST_PROFILE_PLACES_H

#include "model/figures.h"

enum {
    MKPERF_PLACES_MAX = MKPERF_MAX_FRAMES + 3, /* most places of a sample: kernel, pc, callers */
    MKPERF_PLACES_INLINED = 16,                /* most frames of a place */
};

struct mkperf_places_pd {
    char *name, *elf, *parent; /* elf, parent: NULL if unknown */
    uint64_t thread;
    uint32_t priority;
    uint64_t samples;             /* the profile counts them */
    struct mkperf_module *module; /* NULL: none */
    char *problem;                /* why there is no module; NULL: no ELF is known */
    /* The PD's program is a part of mkperf: the profiler or a client. */
    bool profiler;
};

struct mkperf_function {
    uint32_t pd; /* the PD with this address space; of the kernel, the PD for which it worked */
    bool kernel, inlined, known;
    char guest;          /* mkperf_guest_letter */
    uint32_t name, file; /* numbers of texts; file 0: unknown */
    uint64_t start;      /* the link address; 0 if it is unknown or inlined */
    uint64_t size;
};

struct mkperf_frame {
    uint32_t function;
    uint32_t file, line; /* the code's source line; 0: unknown */
};

struct mkperf_place {
    uint32_t pd;
    bool kernel;
    char guest;   /* mkperf_guest_letter */
    bool blocked; /* it is no code: addr is the `wait` of a sample (scheduling.h) */
    bool edge; /* it is no code, but a protected call into the PD; addr 1: the call is inferred */
    bool is_return; /* addr is a byte before a return address, and inside the call */
    uint64_t addr;
    uint32_t first, nframes; /* its frames, once it has a number */
};

struct mkperf_places {
    /* Set before the first item: */
    bool inlined;  /* inlined functions are frames */
    bool no_lines; /* frames have no files and lines, which is quicker */
    bool no_elfs;  /* only names and figures of PDs are needed, and no places */
    struct mkperf_elf_search search;

    struct mkperf_session session; /* a copy; its texts are those of the first session */
    struct mkperf_places_pd *pd;
    uint32_t npds, pd_room;
    struct mkperf_symbols *symbols;
    struct mkperf_module *kernel;
    char *kernel_problem;
    uint64_t capture; /* address of the kernel's function that takes samples; 0: unknown */
    struct mkperf_hash texts, functions, places;
    struct mkperf_function *function;
    struct mkperf_place *place;
    struct mkperf_frame *frame;
    uint32_t function_room, place_room, nframes, frame_room;
    /* For each text the owner of the functions of that name: 0 for none, a number above, or OWNER_SEVERAL (places.c). */
    uint32_t *owner;
    uint32_t owner_room;
};

/* Takes a session, its PDs, and the events of a later session; self is the struct mkperf_places. The texts remain those of the
 * first session. Errors: FAILED, a PD was announced before. */
mkperf_take_item mkperf_places_take;
void mkperf_places_free(struct mkperf_places *s);

/*
 * Stores the addresses of a sample as places without frames, innermost first. Returns their number, 0 if no address is known.
 * In a sample with KERNEL and NO_USER the callers are those of the kernel.
 */
uint32_t mkperf_sample_addresses(const struct mkperf_sample *sample,
                                 struct mkperf_place out[MKPERF_PLACES_MAX]);

/* Stores the numbers of the places of n addresses of a sample of `pd`. Returns their number: n, or 1 unknown place if n is 0. */
uint32_t mkperf_places_of(struct mkperf_places *s, uint32_t pd,
                          const struct mkperf_place address[MKPERF_PLACES_MAX], uint32_t n,
                          uint32_t place[MKPERF_PLACES_MAX]);

/* Returns the number of a place between the frames of a PD and the frames of its caller in another PD. It has one
 * frame: "[PD]", or "[PD] (inferred)". */
uint32_t mkperf_places_edge(struct mkperf_places *s, uint32_t pd, bool inferred);

/* Returns the frames of a place, innermost first; at least one. Valid until the next place is
 * resolved. */
static inline const struct mkperf_frame *mkperf_places_frames(const struct mkperf_places *s,
                                                              uint32_t place, uint32_t *n)
{
    *n = s->place[place].nframes;
    return s->frame + s->place[place].first;
}

const char *mkperf_places_text(const struct mkperf_places *s, uint32_t number);
static inline const char *mkperf_places_name(const struct mkperf_places *s, uint32_t function)
{
    return mkperf_places_text(s, s->function[function].name);
}

/* Returns the PD of a function, or "kernel", if other PDs have functions of its name, or NULL. Some readers of exports join
 * functions of one name. They would draw an edge from one PD's `notified` to a function that only another PD's `notified` calls.
 * Called when all places are known. */
const char *mkperf_places_one_of_several(const struct mkperf_places *s, uint32_t function);

/* The name of code without a name: "[unknown]" with the page of its address. */
enum { MKPERF_PLACES_UNKNOWN = 64 };
void mkperf_places_unknown(bool kernel, uint64_t addr, char name[MKPERF_PLACES_UNKNOWN]);

const char *mkperf_places_pd_name(const struct mkperf_places *s, uint32_t pd);
/* Returns whether its samples belong to one of several PDs. Their callers are candidates for the PD, not callers. */
bool mkperf_places_ambiguous(const struct mkperf_places *s, uint32_t pd);
/* Returns whether callers in other PDs were inferred from registers (docs/stock.md) in samples of this event. They are
 * in samples of the timer and of events that are read in them. */
bool mkperf_places_inferred(const struct mkperf_places *s, uint32_t event);
bool mkperf_places_idle(const struct mkperf_places *s, uint32_t pd);
/* Returns the name of an event; "event-N" if the session has none. */
const char *mkperf_places_event_name(const struct mkperf_places *s, uint32_t event, char room[32]);

/* Puts what a reader must know to trust the numbers, see model/figures.h. */
void mkperf_places_warnings(const struct mkperf_places *s, const struct mkperf_totals *totals,
                            mkperf_put_warning *put, void *self);

/* Puts which code has no names, and why. `none` is the reason if no ELF of sampled code is known; NULL: this is not put. */
void mkperf_places_unnamed(const struct mkperf_places *s, const char *none, mkperf_put_warning *put,
                           void *self);
/* Prints which ELFs are missing, one line each. */
void mkperf_places_warn(const struct mkperf_places *s, FILE *out);

/*
 * The cost of profiling: the part of the samples that the profiler itself took.
 *
 * Owns: the sums for each event. Sinks add each sample or chain. The profiler is recognised by its functions: mkperf_capture in
 * the kernel, and the main function of the profiler or of a client in a PD. Therefore the cost is known only if their ELFs are.
 */

/* Sums of periods for each event. */
struct mkperf_cost {
    uint64_t kernel[MKPERF_MODEL_EVENTS], pds[MKPERF_MODEL_EVENTS];
    uint64_t snapshots_us; /* a part of `pds` of the event `timer` */
};

/* Adds `period` events of PD pd whose innermost place is `leaf`. */
void mkperf_cost_add(struct mkperf_cost *c, const struct mkperf_places *s, uint32_t event,
                     uint32_t pd, uint32_t leaf, uint64_t period);

/* Adds snapshots_us of the totals: the time of register snapshots, which no sample shows. Called once after the last
 * mkperf_cost_add. Does nothing without the event `timer`. */
void mkperf_cost_snapshots(struct mkperf_cost *c, const struct mkperf_places *s, uint64_t us);

/*
 * Stores the cost of an event with the period sum `all` as text: "0.42 % of cycles (kernel 0.11 %, PDs 0.31 %)", or
 * which part is not known.
 */
void mkperf_cost_text(const struct mkperf_cost *c, const struct mkperf_places *s, uint32_t event,
                      uint64_t all, char *text, size_t n);

/* Returns whether the kernel's part is known, and the PDs' part. With a timer no sample shows the kernel's part, and
 * the target leaves out the PDs' part of the events that it counts in addition. */
bool mkperf_cost_kernel_known(const struct mkperf_places *s);
bool mkperf_cost_pds_known(const struct mkperf_cost *c, const struct mkperf_places *s,
                           uint32_t event);

#endif
