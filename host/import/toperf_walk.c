/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * samples.json: the count of findings, the iteration over an object or an array, and numbers.
 *
 * A finding is text that a strict reading refuses and a lenient one repairs and counts. Called by the
 * decoder's other files.
 */
#include "toperf_internal.h"

static const char *const texts[TOPERF_FINDINGS] = {
    [TOPERF_MISSING_COMMA] = "missing commas put in",
    [TOPERF_TRAILING_COMMA] = "trailing commas ignored",
    [TOPERF_UNTERMINATED] = "the input ends early: closed there, the incomplete part is dropped",
    [TOPERF_NOISE] = "pieces of other text skipped",
    [TOPERF_HEX_IP] = "values of ip read as hexadecimal",
    [TOPERF_BAD_VALUE] = "samples dropped: a value is invalid or missing",
    [TOPERF_BAD_NR] = "samples in which nr and ips disagree: the shorter chain was used",
    [TOPERF_UNKNOWN_PID] = "samples of a pid that is not in elf_tcb_mappings: shown as unknown",
    [TOPERF_ZERO_PERIOD] = "samples with period 0: counted as 1",
    [TOPERF_SAME_ID] = "ELFs with the id of another: ignored",
    [TOPERF_SECOND_MAPPING] = "mappings ignored: there was one before",
    [TOPERF_NO_MAPPING] = "no elf_tcb_mappings: PDs are named after their pid",
    [TOPERF_WRAPPED] = "times wrapped at 2^32 ns: unwrapped",
    [TOPERF_ELF] = "ELFs unusable: their PDs' addresses get no names",
    [TOPERF_NO_CPU] = "samples without cpu: taken as core 0",
    [TOPERF_UNKNOWN_KEY] = "unknown keys ignored",
    [TOPERF_DISORDER] = "samples are earlier than the one before: left so, but in perf.data",
    [TOPERF_BACKWARDS] = "times jump back by more than 2 s: wrapped? --lenient unwraps",
};

void toperf_note(struct toperf *t, enum toperf_finding what)
{
    if (t->finding[what].count++ == 0) {
        t->finding[what].first = t->json.place;
    }
}

enum mkperf_status toperf_found(struct toperf *t, enum toperf_finding what, const char *reason)
{
    if (!t->in->lenient && what < TOPERF_ELF) {
        return mkperf_json_bad(&t->json, t->e, "%s (--lenient continues)", reason);
    }
    toperf_note(t, what);
    return MKPERF_OK;
}

void toperf_warn_of_findings(const struct toperf *t)
{
    char line[512];

    for (unsigned i = 0; i < TOPERF_FINDINGS && t->in->warn != NULL; i++) {
        const struct mkperf_json_place *p = &t->finding[i].first;
        if (t->finding[i].count > 0) {
            snprintf(line, sizeof line, "%s:%" PRIu64 ":%" PRIu64 ": %" PRIu64 " %s", t->json.path,
                     p->line, p->offset - p->line_start + 1, t->finding[i].count, texts[i]);
            t->in->warn(t->in->self, line);
        }
    }
}

/*
 * Goes to the token that begins the next member or element, past the comma before it. Sets *done at
 * the end of the object or array.
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
                                                              const char *key),
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
        snprintf(key, sizeof key, "%.*s", (int)t->json.length, t->json.text);
        if (mkperf_json_next(&t->json) != MKPERF_JSON_COLON) {
            return mkperf_json_bad(&t->json, t->e, "expected a colon after the key");
        }
        mkperf_json_next(&t->json);
        if (member(t, self, key) != MKPERF_OK) {
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

const char *toperf_number(const struct mkperf_json *j, uint64_t *out)
{
    uint64_t v = 0;

    if ((j->token != MKPERF_JSON_WORD && j->token != MKPERF_JSON_STRING) || j->length == 0) {
        return "expected a number";
    }
    for (size_t i = 0; i < j->length; i++) {
        unsigned digit = (unsigned char)j->text[i] - (unsigned)'0';
        if (digit > 9) {
            return i == 0 && j->text[i] == '-' ? "a negative number" : "not a decimal integer";
        }
        if (v > UINT64_MAX / 10 || v * 10 > UINT64_MAX - digit) {
            return "a number beyond 64 bits";
        }
        v = v * 10 + digit;
    }
    *out = v;
    return NULL;
}
