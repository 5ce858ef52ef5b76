/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * A profile that is answered from a snapshot: see profile.h, and import/import.h for snapshots.
 *
 * Owns: the members that a snapshot has, the text of the question, and the step from what a snapshot has to what was asked.
 *
 *      reading, or a snapshot ─► chains with callers and cores ─► mkperf_profile_narrow ─► chains as they were asked for
 *
 * Questions that differ only in callers and cores thus share a snapshot.
 */
#include "profile.h"

static const struct mkperf_shape_row pd_rows[] = {
    MKPERF_SHAPE_BYTES(struct mkperf_places_pd, samples, samples), MKPERF_SHAPE_END};

static const struct mkperf_shape_row profile_rows[] = {
    MKPERF_SHAPE_INSIDE(struct mkperf_profile, places.texts, mkperf_hash_rows),
    MKPERF_SHAPE_EACH(struct mkperf_profile, places.pd, places.npds, pd_rows),
    MKPERF_SHAPE_INSIDE(struct mkperf_profile, slices.numbers, mkperf_hash_rows),
    MKPERF_SHAPE_INSIDE(struct mkperf_profile, chains, mkperf_hash_rows),
    MKPERF_SHAPE_ARRAY(struct mkperf_profile, weight, chains.count, weight_room, NULL),
    MKPERF_SHAPE_BYTES(struct mkperf_profile, nevents, last_ns),
    MKPERF_SHAPE_BEHIND(struct mkperf_profile, sched, mkperf_analysis_rows),
    MKPERF_SHAPE_BYTES(struct mkperf_profile, blocked.woken, blocked.woken),
    MKPERF_SHAPE_BYTES(struct mkperf_profile, schedule.lost, schedule.lost),
    MKPERF_SHAPE_INSIDE(struct mkperf_profile, util.pds, mkperf_hash_rows),
    MKPERF_SHAPE_ARRAY(struct mkperf_profile, util.ran_ns, util.pds.count, util.ran_room, NULL),
    MKPERF_SHAPE_INSIDE(struct mkperf_profile, util.cores, mkperf_hash_rows),
    MKPERF_SHAPE_ARRAY(struct mkperf_profile, util.core, util.cores.count, util.core_room, NULL),
    MKPERF_SHAPE_BYTES(struct mkperf_profile, parallel, parallel),
    MKPERF_SHAPE_INSIDE(struct mkperf_profile, mark_keys, mkperf_hash_rows),
    MKPERF_SHAPE_ARRAY(struct mkperf_profile, mark_sum, mark_keys.count, mark_room, NULL),
    MKPERF_SHAPE_BYTES(struct mkperf_profile, nmarks_passed, nmarks),
    MKPERF_SHAPE_END};

struct mkperf_question mkperf_profile_question(struct mkperf_profile *p)
{
    struct mkperf_question q = {.kept = {{p, profile_rows}}};
    const struct report_filter *f = &p->filter;
    char *text;
    size_t n;

    if (p->times || p->keep_schedule) {
        return q;
    }
    FILE *to = mkperf_memstream_open(&text, &n);
    fprintf(to, "profile");
    fprintf(to, "%s%s%s", p->wide || !p->leaves_only ? " callers" : "",
            p->wide || p->cores ? " cores" : "", p->off_cpu ? " off-cpu" : "");
    fprintf(to, "%s%s%s", p->utilisation ? " util" : "", p->runs ? " runs" : "",
            p->latency ? " latency" : "");
    fprintf(to, " quantum %" PRIu64, p->slices.quantum_ns);
    if (f->has_time) {
        fprintf(to, " time %" PRIu64 " %" PRIu64, f->from_ns, f->to_ns);
    }
    for (unsigned i = 0; f->cores.given && i < MKPERF_CPU_LIST_MAX / 64; i++) {
        fprintf(to, " %" PRIx64, f->cores.bits[i]);
    }
    mkperf_memstream_close(to);
    q.text = text;
    return q;
}

void mkperf_profile_narrow(struct mkperf_profile *p)
{
    struct mkperf_hash chains = {.count = 0};
    struct mkperf_weight *weight = NULL;
    uint32_t room = 0, words;

    for (uint32_t i = 0; i < p->chains.count; i++) {
        uint64_t key[MKPERF_PROFILE_WORDS_MAX];
        const uint64_t *wide = mkperf_hash_key(&p->chains, i, &words);

        memcpy(key, wide, words * sizeof *key);
        if (p->leaves_only) {
            uint64_t flags = key[MKPERF_PROFILE_FLAGS];
            words = MKPERF_PROFILE_ADDRESSES + ((flags & MKPERF_SAMPLE_KERNEL) != 0) +
                    ((flags & MKPERF_SAMPLE_BLOCKED) != 0) + ((flags & MKPERF_SAMPLE_NO_USER) == 0);
            key[MKPERF_PROFILE_FLAGS] &= ~(uint64_t)MKPERF_PROFILE_OTHER_PDS;
        }
        if (!p->cores) {
            key[MKPERF_PROFILE_FLAGS] &=
                ~((uint64_t)(MKPERF_MODEL_CORES - 1) << MKPERF_PROFILE_CORE_AT);
        }
        uint32_t number = mkperf_hash_number(&chains, key, words);
        MKPERF_GROW(weight, room, (size_t)number + 1);
        mkperf_weight_add(&weight[number], &p->weight[i]);
    }
    mkperf_hash_free(&p->chains);
    free(p->weight);
    p->chains = chains;
    p->weight = weight;
    p->weight_room = room;
}
