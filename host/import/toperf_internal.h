/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * What the files of the samples.json decoder share: toperf.c owns the structure of the file,
 * toperf_walk.c that of an object and an array, toperf_sample.c a sample (toperf_fast.c: nearly all
 * of them), toperf_pds.c the mapping of ELFs to ids.
 */
#ifndef MKPERF_HOST_IMPORT_TOPERF_INTERNAL_H
#define MKPERF_HOST_IMPORT_TOPERF_INTERNAL_H

#include "json.h"
#include "toperf.h"

enum { TOPERF_PDS_MAX = 1024, TOPERF_DEPTH_MAX = 64 };

/* Findings of a reading. The last ones are accepted by strict readings as well. */
enum toperf_finding {
    TOPERF_MISSING_COMMA,
    TOPERF_TRAILING_COMMA,
    TOPERF_UNTERMINATED,
    TOPERF_NOISE,
    TOPERF_HEX_IP,
    TOPERF_BAD_VALUE,
    TOPERF_BAD_NR,
    TOPERF_UNKNOWN_PID,
    TOPERF_ZERO_PERIOD,
    TOPERF_SAME_ID,
    TOPERF_SECOND_MAPPING,
    TOPERF_NO_MAPPING,
    TOPERF_WRAPPED,
    TOPERF_ELF, /* from here on: notes */
    TOPERF_NO_CPU,
    TOPERF_UNKNOWN_KEY,
    TOPERF_BACKWARDS,
    TOPERF_DISORDER,
    TOPERF_FINDINGS,
};

enum toperf_member { /* of a sample */
                     TOPERF_IP = 1 << 0,
                     TOPERF_PID = 1 << 1,
                     TOPERF_TIME = 1 << 2,
                     TOPERF_PERIOD = 1 << 3,
                     TOPERF_IPS = 1 << 4,
                     TOPERF_CPU = 1 << 5,
                     TOPERF_NR = 1 << 6,
                     TOPERF_MEMBERS = (1 << 7) - 1,
};

/* A sample as it is in the file. */
struct toperf_raw {
    unsigned seen; /* enum toperf_member */
    bool bad;      /* lenient: a value was invalid */
    uint64_t ip, pid, time, period, cpu, nr;
    uint64_t ips[MKPERF_MAX_FRAMES];
    unsigned nips;
    struct mkperf_json_place place; /* of its '{' */
};

struct toperf_pd {
    char *name, *elf;
    uint32_t pid;
    bool announced;
};

struct toperf {
    struct mkperf_json json;
    const struct mkperf_input *in;
    const struct mkperf_sink *sink;
    struct mkperf_error *e;
    struct {
        uint64_t count;
        struct mkperf_json_place first;
    } finding[TOPERF_FINDINGS];
    struct toperf_pd *pd;
    uint32_t npds, room, last; /* last: found; most often asked for again */
    bool has_mapping, looked_ahead, began;
    bool serial; /* commas are missing: a serial client's log */
    struct mkperf_session session;
    struct mkperf_totals totals;
    uint64_t wraps, raw_time; /* of 2^32 ns; the last sample's time as it stands in the file */
    struct mkperf_chain chain;
};

/* Notes a finding. A strict reading's error: the reason is the text. */
enum mkperf_status toperf_found(struct toperf *t, enum toperf_finding what, const char *reason);
void toperf_note(struct toperf *t, enum toperf_finding what);

/*
 * The members of the object whose '{' is the current token; member(t, self) is called with the
 * value as the current token and the key in key. Ends after '}'; *cut: the input ended first
 * (lenient).
 */
enum mkperf_status toperf_object(struct toperf *t, bool *cut,
                                 enum mkperf_status (*member)(struct toperf *t, void *self,
                                                              const char *key, size_t n),
                                 void *self);
enum mkperf_status toperf_array(struct toperf *t, bool *cut,
                                enum mkperf_status (*element)(struct toperf *t, void *self),
                                void *self);
enum mkperf_status toperf_skip(struct toperf *t); /* the current value */

/* The current token as a number, word or string. Reason NULL: valid. */
const char *toperf_number(const struct mkperf_json *j, uint64_t *out);

enum mkperf_status toperf_mapping(struct toperf *t);     /* the current object */
enum mkperf_status toperf_header_file(struct toperf *t); /* sample_header.json, if there is one */
enum mkperf_status toperf_announce(struct toperf *t);    /* all that the mapping has */
/* The PD of a pid, which may be new (lenient). -1: *t->e has the reason. */
int64_t toperf_pd_of(struct toperf *t, uint64_t pid);
void toperf_free_pds(struct toperf *t);

/* A sample object; its '{' is the current token. */
enum mkperf_status toperf_sample(struct toperf *t);
/* The same at once, if it is an ordinary one; false: nothing was read. */
bool toperf_fast(struct toperf *t, struct toperf_raw *r);
enum mkperf_status toperf_begin(struct toperf *t, uint64_t period);

/* Where a member that is a number goes. */
static inline uint64_t *toperf_target(struct toperf_raw *r, unsigned member)
{
    switch (member) {
    case TOPERF_IP:
        return &r->ip;
    case TOPERF_PID:
        return &r->pid;
    case TOPERF_TIME:
        return &r->time;
    case TOPERF_PERIOD:
        return &r->period;
    case TOPERF_CPU:
        return &r->cpu;
    default:
        return &r->nr;
    }
}

#endif
