/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Owns: iteration over an object or array of samples.json, and skipping of values that are not
 * needed. Wrong text between items is a finding: an error, or repaired. Called by the decoder's
 * other files.
 */
#include <string.h>

#include "toperf_internal.h"

/*
 * The token that begins a member or an element, after the comma that belongs before it. Sets *done
 * at the end of the object or array.
 */
static enum mkperf_status next_item(struct toperf *t, bool first, enum mkperf_json_token close,
                                    bool *done, bool *cut)
{
    enum mkperf_json_token token = mkperf_json_next(&t->json);
    bool comma = false;

    while (!first && token == MKPERF_JSON_COMMA && !comma) {
        comma = true;
        token = mkperf_json_next(&t->json);
    }
    if (token == MKPERF_JSON_END) {
        *cut = *done = true;
        return toperf_found(t, TOPERF_UNTERMINATED,
                            close == MKPERF_JSON_CLOSE_OBJECT ? "the file ends inside an object"
                                                              : "the file ends inside an array");
    }
    if (token == close) {
        *done = true;
        return comma ? toperf_found(t, TOPERF_TRAILING_COMMA, "a comma and nothing after it")
                     : MKPERF_OK;
    }
    if (!first && !comma) {
        t->serial |= close == MKPERF_JSON_CLOSE_OBJECT;
        return toperf_found(t, TOPERF_MISSING_COMMA, "expected a comma or the end");
    }
    return MKPERF_OK;
}

enum mkperf_status toperf_object(struct toperf *t, bool *cut,
                                 enum mkperf_status (*member)(struct toperf *t, void *self,
                                                              const char *key, size_t n),
                                 void *self)
{
    char key[1024];
    bool done = false;

    for (bool first = true;; first = false) {
        if (next_item(t, first, MKPERF_JSON_CLOSE_OBJECT, &done, cut) != MKPERF_OK) {
            return t->e->status;
        }
        if (done) {
            return MKPERF_OK;
        }
        if (t->json.token != MKPERF_JSON_STRING) {
            return mkperf_json_bad(&t->json, t->e, "expected a key in quotes");
        }
        size_t n = t->json.length < sizeof key ? t->json.length : sizeof key;
        memcpy(key, t->json.text, n);
        if (mkperf_json_next(&t->json) != MKPERF_JSON_COLON) {
            return mkperf_json_bad(&t->json, t->e, "expected a colon after the key");
        }
        mkperf_json_next(&t->json);
        if (member(t, self, key, n) != MKPERF_OK) {
            return t->e->status;
        }
    }
}

enum mkperf_status toperf_array(struct toperf *t, bool *cut,
                                enum mkperf_status (*element)(struct toperf *t, void *self),
                                void *self)
{
    bool done = false;

    for (bool first = true;; first = false) {
        if (next_item(t, first, MKPERF_JSON_CLOSE_ARRAY, &done, cut) != MKPERF_OK) {
            return t->e->status;
        }
        if (done) {
            return MKPERF_OK;
        }
        if (element(t, self) != MKPERF_OK) {
            return t->e->status;
        }
    }
}

enum mkperf_status toperf_skip(struct toperf *t)
{
    unsigned depth = 0;

    for (;;) {
        switch (t->json.token) {
        case MKPERF_JSON_OPEN_OBJECT:
        case MKPERF_JSON_OPEN_ARRAY:
            if (++depth > TOPERF_DEPTH_MAX) {
                return mkperf_json_bad(&t->json, t->e, "nested too deeply");
            }
            break;
        case MKPERF_JSON_CLOSE_OBJECT:
        case MKPERF_JSON_CLOSE_ARRAY:
            if (depth-- == 0) {
                return mkperf_json_bad(&t->json, t->e, "expected a value");
            }
            break;
        case MKPERF_JSON_END:
            return toperf_found(t, TOPERF_UNTERMINATED, "the file ends inside a value");
        case MKPERF_JSON_BAD:
            return mkperf_json_bad(&t->json, t->e, "expected a value");
        default:
            break;
        }
        if (depth == 0) {
            return MKPERF_OK;
        }
        mkperf_json_next(&t->json);
    }
}
