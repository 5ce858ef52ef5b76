/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * samples.json: the structure of the file, read strictly or leniently. The format's rules are in
 * import.h.
 */

#include "toperf_internal.h"

#include <fcntl.h>
#include <unistd.h>

static enum mkperf_status read_sample(struct toperf *t, void *self)
{
    (void)self;
    return t->json.token == MKPERF_JSON_OPEN_OBJECT
               ? toperf_sample(t)
               : mkperf_json_bad(&t->json, t->e, "expected a sample, an object");
}

/* Reads the mapping that follows the samples, if there is one. The '[' of the samples is the current
 * token before and after. */
static enum mkperf_status find_mapping_ahead(struct toperf *t)
{
    struct mkperf_json_place here = t->json.place;
    unsigned depth = 0;

    do {
        enum mkperf_json_token token = t->json.token;
        depth += token == MKPERF_JSON_OPEN_ARRAY || token == MKPERF_JSON_OPEN_OBJECT;
        depth -= (token == MKPERF_JSON_CLOSE_ARRAY || token == MKPERF_JSON_CLOSE_OBJECT) &&
                 depth > 0;
        if (depth == 0 && token == MKPERF_JSON_STRING &&
            mkperf_json_is(&t->json, "elf_tcb_mappings") &&
            mkperf_json_next(&t->json) == MKPERF_JSON_COLON &&
            mkperf_json_next(&t->json) == MKPERF_JSON_OPEN_OBJECT &&
            toperf_mapping(t) != MKPERF_OK) {
            return t->e->status;
        }
        mkperf_json_next(&t->json);
    } while (!t->has_mapping && t->json.token != MKPERF_JSON_END &&
             t->json.token != MKPERF_JSON_BAD);
    t->looked_ahead = t->has_mapping;
    if (!mkperf_json_seek(&t->json, here)) {
        return mkperf_json_bad(&t->json, t->e, "cannot go back to the samples");
    }
    mkperf_json_next(&t->json);
    return MKPERF_OK;
}

/* Gets a mapping for the samples that follow: that of this file, or else that of the header file. */
static enum mkperf_status need_mapping(struct toperf *t)
{
    if (mkperf_json_tail_has(&t->json, "\"elf_tcb_mappings\"") &&
        find_mapping_ahead(t) != MKPERF_OK) {
        return t->e->status;
    }
    if (!t->has_mapping && toperf_header_file(t) != MKPERF_OK) {
        return t->e->status;
    }
    if (!t->has_mapping) {
        t->has_mapping = true;
        return toperf_found(t, TOPERF_NO_MAPPING,
                            "no elf_tcb_mappings, neither here nor in sample_header.json in the "
                            "build directory");
    }
    return MKPERF_OK;
}

static enum mkperf_status top_member(struct toperf *t, void *self, const char *key)
{
    bool *has_samples = self;

    if (strcmp(key, "elf_tcb_mappings") == 0) {
        if (t->has_mapping) {
            return t->looked_ahead || toperf_found(t, TOPERF_SECOND_MAPPING,
                                                   "elf_tcb_mappings again, or behind the samples "
                                                   "and too far from the end") == MKPERF_OK
                       ? toperf_skip(t)
                       : t->e->status;
        }
        return t->json.token == MKPERF_JSON_OPEN_OBJECT
                   ? toperf_mapping(t)
                   : mkperf_json_bad(&t->json, t->e, "elf_tcb_mappings: expected an object");
    }
    if (strcmp(key, "samples") == 0) {
        *has_samples = true;
        bool cut = false;
        if (t->json.token != MKPERF_JSON_OPEN_ARRAY) {
            return mkperf_json_bad(&t->json, t->e, "samples: expected an array");
        }
        if (!t->has_mapping && need_mapping(t) != MKPERF_OK) {
            return t->e->status;
        }
        return toperf_array(t, &cut, read_sample, NULL);
    }
    toperf_note(t, TOPERF_UNKNOWN_KEY);
    return toperf_skip(t);
}

static enum mkperf_status read_strict(struct toperf *t)
{
    bool has_samples = false, cut = false;

    if (mkperf_json_next(&t->json) == MKPERF_JSON_BAD && t->json.place.offset == 0 &&
        t->json.n >= 3 && memcmp(t->json.buffer, "\xef\xbb\xbf", 3) == 0) {
        t->json.at = 3; /* a byte order mark */
        mkperf_json_next(&t->json);
    }
    if (t->json.token != MKPERF_JSON_OPEN_OBJECT) {
        return mkperf_json_bad(&t->json, t->e,
                               t->json.token == MKPERF_JSON_END ? "the file is empty"
                                                                : "expected an object");
    }
    MKPERF_TRY(toperf_object(t, &cut, top_member, &has_samples));
    if (!has_samples) {
        return mkperf_json_bad(&t->json, t->e, "no samples");
    }
    return mkperf_json_next(&t->json) == MKPERF_JSON_END
               ? MKPERF_OK
               : mkperf_json_bad(&t->json, t->e, "something follows the end");
}

/* Reads an object in a lenient reading, which is a whole file or a single sample. Its '{' is the
 * current token. */
static enum mkperf_status lenient_object(struct toperf *t, bool *has_samples)
{
    bool cut = false;
    bool whole =
        mkperf_json_next(&t->json) == MKPERF_JSON_STRING &&
        (mkperf_json_is(&t->json, "samples") || mkperf_json_is(&t->json, "elf_tcb_mappings"));

    if (!whole && !t->has_mapping && need_mapping(t) != MKPERF_OK) {
        return t->e->status;
    }
    mkperf_json_unread(&t->json);
    if (whole) {
        return toperf_object(t, &cut, top_member, has_samples);
    }
    *has_samples = true;
    return toperf_sample(t);
}

/* Reads any text that contains samples, or a whole file. */
static enum mkperf_status read_lenient(struct toperf *t)
{
    bool noise = false, has_samples = false;
    enum mkperf_status status = MKPERF_OK;

    while (status == MKPERF_OK && mkperf_json_next(&t->json) != MKPERF_JSON_END) {
        if (t->json.failed) {
            return mkperf_json_bad(&t->json, t->e, "read error");
        }
        if (t->json.token == MKPERF_JSON_OPEN_OBJECT) {
            noise = false;
            status = lenient_object(t, &has_samples);
        } else if (t->json.token != MKPERF_JSON_COMMA && !noise) {
            noise = true;
            toperf_note(t, TOPERF_NOISE);
        }
    }
    if (status == MKPERF_OK && !has_samples) {
        return mkperf_json_bad(&t->json, t->e, "no samples");
    }
    return status;
}

enum mkperf_status mkperf_toperf_read_fd(const char *name, int fd, const struct mkperf_input *in,
                                         const struct mkperf_sink *sink, struct mkperf_error *e)
{
    struct toperf *t = mkperf_xcalloc(1, sizeof *t);
    struct mkperf_order order;
    const struct mkperf_sink checked = mkperf_sink_in_order(*sink, &order);

    t->in = in;
    t->sink = &checked;
    t->e = e;
    mkperf_json_open(&t->json, name, fd);
    enum mkperf_status status = in->lenient ? read_lenient(t) : read_strict(t);
    if (status == MKPERF_OK && !t->began) {
        status = toperf_begin(t, 0);
    }
    if (status == MKPERF_OK) {
        toperf_warn_of_findings(t);
    }
    status = mkperf_sink_finish(&checked, status, &t->totals, e);
    mkperf_json_close(&t->json);
    toperf_free_pds(t);
    free(t);
    return status;
}

enum mkperf_status mkperf_toperf_read(const char *path, const struct mkperf_input *in,
                                      const struct mkperf_sink *sink, struct mkperf_error *e)
{
    int fd = strcmp(path, "-") == 0 ? dup(STDIN_FILENO) : open(path, O_RDONLY | O_CLOEXEC);

    if (fd < 0) {
        mkperf_error_set(e, MKPERF_ERR_INPUT, "%s: %s", path, strerror(errno));
        return mkperf_sink_finish(sink, e->status, NULL, e);
    }
    return mkperf_toperf_read_fd(path, fd, in, sink, e);
}
