/* SPDX-License-Identifier: BSD-2-Clause */
/* Compressed records of perf.data. mkperf and perf read what mkperf writes, whole files and those of a killed writer.
 * mkperf reads what perf writes, and refuses an attacker's file within bounds. */
#include <zstd.h>

#include "base/base.h"
#include "perfdata/perfdata.h"
#include "recording.h"

enum { SAMPLES = 4000, FILE_MAX = 4 << 20 };

/* What was read: the samples, and a number that depends on each of them and on their order. */
struct seen {
    uint64_t samples, mark;
    bool complete, cut;
};

static enum mkperf_status sum_up(void *self, const struct mkperf_item *item, struct mkperf_error *e)
{
    struct seen *seen = self;
    const struct mkperf_sample *s = item->sample;

    (void)e;
    if (item->kind == MKPERF_ITEM_SAMPLE) {
        const uint64_t values[] = {s->time_ns, s->pc, s->period, s->pd, s->callers->n};

        for (unsigned i = 0; i < sizeof values / sizeof *values; i++) {
            seen->mark = (seen->mark ^ values[i]) * UINT64_C(0x100000001b3);
        }
        seen->samples++;
    } else if (item->kind == MKPERF_ITEM_END) {
        seen->complete = item->totals->complete;
        seen->cut = item->totals->cut;
    }
    return MKPERF_OK;
}

static enum mkperf_status read_bytes(const uint8_t *p, size_t n, struct seen *seen,
                                     struct mkperf_error *e)
{
    struct mkperf_sink sink = {.take = sum_up, .splits = true, .self = seen};

    *seen = (struct seen){0};
    *e = (struct mkperf_error){.status = MKPERF_OK};
    return mkperf_perfdata_read_memory("bytes", p, n, &sink, e);
}

static uint8_t *load(const char *name, size_t *n)
{
    uint8_t *p = malloc(FILE_MAX);
    FILE *f = fopen(recording_path(name), "r");

    assert_non_null(p);
    assert_non_null(f);
    *n = fread(p, 1, FILE_MAX, f);
    assert_int_equal(fclose(f), 0);
    return p;
}

static void store(const char *name, const uint8_t *p, size_t n)
{
    FILE *f = fopen(recording_path(name), "w");

    assert_non_null(f);
    assert_int_equal(fwrite(p, 1, n, f), n);
    assert_int_equal(fclose(f), 0);
}

/* SAMPLES samples with periods that hardly compress; the buffer reaches the file now and then. */
static void make(const char *name, int level, bool end)
{
    uint64_t callers[] = {recording_at.beta + 12, recording_at.start + 12, 0}, random = 1;
    struct recording r;

    recording_new(&r, name);
    mkperf_perfdata_compress(r.writer, level);
    struct mkperf_session session = {
        .platform = "pocket", .cores = 1, .nevents = 1, .max_frames = 16};
    session.event[0] = (struct mkperf_event){
        .name = "cycles", .code = 0x11, .user = true, .kernel = true, .period = 1000};
    assert_int_equal(r.sink.take(r.sink.self, MKPERF_ITEM(BEGIN, session, &session), &r.e),
                     MKPERF_OK);
    recording_pd(&r, 0, 1, "client", recording_path("one.elf"));
    for (unsigned i = 0; i < SAMPLES; i++) {
        random = random * 6364136223846793005u + 1442695040888963407u;
        struct mkperf_chain chain = {.n = 2, .caller = {{callers[0], 0}, {callers[1], 0}}};
        struct mkperf_sample s = {.time_ns = 1000000 + i * UINT64_C(1000000) + random % 1000,
                                  .period = random >> 32,
                                  .pc = recording_at.alpha + random % 8 * 4,
                                  .callers = &chain};
        assert_int_equal(r.sink.take(r.sink.self, MKPERF_ITEM(SAMPLE, sample, &s), &r.e),
                         MKPERF_OK);
        r.samples++;
        r.time = s.time_ns;
        if (i % 500 == 499) {
            assert_int_equal(mkperf_sink_flush(&r.sink, &r.e), MKPERF_OK);
            assert_int_equal(mkperf_perfdata_sync(r.writer, &r.e), MKPERF_OK);
        }
    }
    if (end) {
        recording_end(&r, 0);
    } else { /* the file ends as if its writer was killed */
        mkperf_sink_abandon(&r.sink);
        recording_free(&r);
    }
}

static size_t data_at(const uint8_t *p, size_t *size)
{
    *size = (size_t)mkperf_get64(p + PERF_HEADER_DATA + 8);
    return (size_t)mkperf_get64(p + PERF_HEADER_DATA);
}

static void plain_and_compressed_are_equal(void **state)
{
    struct seen plain, small;
    struct mkperf_error e;
    size_t n, m;

    (void)state;
    make("plain.data", 0, true);
    uint8_t *p = load("plain.data", &n);
    assert_int_equal(read_bytes(p, n, &plain, &e), MKPERF_OK);
    assert_true(plain.samples == SAMPLES && plain.complete);
    for (int level = MKPERF_COMPRESS_FILES; level <= MKPERF_COMPRESSED_LEVELS; level += 4) {
        make("z.data", level == 0 ? 1 : level, true);
        uint8_t *q = load("z.data", &m);
        assert_int_equal(read_bytes(q, m, &small, &e), MKPERF_OK);
        assert_memory_equal(&plain, &small, sizeof plain);
        assert_true(m < n / 3);
        free(q);
    }
    free(p);
    char *text = recording_shell("perf script -i %s 2>&1 | md5sum; perf script -i %s 2>&1 | md5sum",
                                 recording_path("plain.data"), recording_path("z.data"));
    assert_memory_equal(text, text + 36, 32);
    free(text);
    text = recording_shell("perf report --header-only -i %s 2>&1", recording_path("z.data"));
    has(text, "# compressed : Zstd, level = 19, ratio = ");
    lacks(text, "ratio = 0");
    free(text);
    text =
        recording_shell("perf script -i %s 2>/dev/null | grep -c cycles", recording_path("z.data"));
    assert_int_equal(atoi(text), SAMPLES);
    free(text);
}

/* Without a level, a pipe has its records as they are. */
static void pipes(void **state)
{
    static const char *const names[] = {"pipe", "pipe.z"};
    const int levels[] = {MKPERF_COMPRESS_FILES, 1};
    struct seen seen[2];

    (void)state;
    for (unsigned i = 0; i < 2; i++) {
        char *text = recording_shell("mkfifo %s; cat %s >%s.copy & echo", recording_path(names[i]),
                                     recording_path(names[i]), recording_path(names[i]));
        free(text);
        make(names[i], levels[i], true);
        char copy[32];
        snprintf(copy, sizeof copy, "%s.copy", names[i]);
        text = recording_shell("for i in $(seq 100); do perf script -i - <%s 2>/dev/null | grep -c "
                               "cycles | grep %u && "
                               "break; sleep 0.1; done",
                               recording_path(copy), SAMPLES);
        assert_int_equal(atoi(text), SAMPLES);
        free(text);
        struct mkperf_error e;
        size_t n;
        uint8_t *p = load(copy, &n);
        assert_int_equal(read_bytes(p, n, &seen[i], &e), MKPERF_OK);
        assert_int_equal(n < 200000, i == 1);
        free(p);
    }
    assert_memory_equal(&seen[0], &seen[1], sizeof *seen);
    assert_true(seen[0].samples == SAMPLES && seen[0].complete);
}

/* Of a file that is cut anywhere, each whole part is read, and recovered so that perf reads as many. */
static void killed(void **state)
{
    struct seen seen, again;
    struct mkperf_error e;
    struct mkperf_totals totals;
    uint64_t before = 0;
    size_t n, m, size;

    (void)state;
    make("killed.data", 1, false);
    uint8_t *p = load("killed.data.partial", &n);
    size_t data = data_at(p, &size);
    assert_int_equal(size, 0);
    for (size_t at = data; at <= n; at += at + 997 < n || at == n ? 997 : n - at) {
        assert_int_equal(read_bytes(p, at, &seen, &e), MKPERF_OK);
        assert_true(seen.samples >= before && !seen.complete && seen.cut);
        before = seen.samples;
        store("cut.data", p, at);
        if (mkperf_perfdata_recover(recording_path("cut.data"), NULL, &totals, &e) != MKPERF_OK) {
            fail_msg("%s", e.text);
        }
        assert_int_equal(totals.samples, seen.samples);
        uint8_t *q = load("cut.data", &m);
        assert_int_equal(read_bytes(q, m, &again, &e), MKPERF_OK);
        assert_true(again.samples == seen.samples && again.mark == seen.mark && !again.cut);
        free(q);
    }
    assert_int_equal(before, SAMPLES);
    char *text = recording_shell("perf script -i %s 2>/dev/null | grep -c cycles; perf report "
                                 "--header-only -i %s 2>/dev/null",
                                 recording_path("cut.data"), recording_path("cut.data"));
    assert_int_equal(atoi(text), SAMPLES);
    lacks(text, "ratio = 0");
    free(text);
    free(p);
}

/* ---- files that others write ---- */

struct made {
    uint8_t *p;
    size_t n, data;
};

/* Returns the plain file's head, behind which records are put. */
static struct made head_of_plain(void)
{
    size_t n, size;
    struct made f = {.p = load("plain.data", &n)};

    f.data = f.n = data_at(f.p, &size);
    return f;
}

static void put_record(struct made *f, unsigned type, const void *p, size_t n)
{
    size_t extra = type == PERF_RECORD_COMPRESSED2 ? 8 : 0, padding = extra != 0 ? -n % 8 : 0;
    struct mkperf_put c = {f->p + f->n};

    mkperf_put32(&c, type);
    mkperf_put16(&c, 0);
    mkperf_put16(&c, (uint16_t)(8 + extra + n + padding));
    if (extra != 0) {
        mkperf_put64(&c, n);
    }
    memcpy(c.p, p, n);
    memset(c.p + n, 0, padding);
    f->n += 8 + extra + n + padding;
    assert_true(f->n < FILE_MAX);
}

/* Reads the file as if its writer had been killed, or as a finished file without features. */
static enum mkperf_status read_made(struct made *f, bool finished, struct seen *seen,
                                    struct mkperf_error *e)
{
    struct mkperf_put c = {f->p + PERF_HEADER_DATA + 8};

    mkperf_put64(&c, finished ? f->n - f->data : 0);
    memset(f->p + PERF_HEADER_FEATURES, 0, HEADER_FEAT_BITS / 8);
    return read_bytes(f->p, f->n, seen, e);
}

/* The plain file's records as one stream, in parts of `part` bytes of it: records begin and end anywhere. */
static void compress_records(struct made *f, unsigned type, size_t part, size_t records)
{
    static uint8_t out[FILE_MAX];
    size_t n, size;
    uint8_t *p = load("plain.data", &n);
    size_t at = data_at(p, &size), used = 0;

    size = records < size ? records : size;
    ZSTD_CCtx *z = ZSTD_createCCtx();
    for (size_t done = 0; done < size; done += part) {
        ZSTD_inBuffer in = {.src = p + at + done, .size = size - done < part ? size - done : part};
        ZSTD_outBuffer to = {.dst = out, .size = sizeof out};
        assert_int_equal(ZSTD_compressStream2(z, &to, &in, ZSTD_e_flush), 0);
        for (used = 0; used < to.pos;) {
            size_t bytes = to.pos - used < 5000 ? to.pos - used : 5000;
            put_record(f, type, out + used, bytes);
            used += bytes;
        }
    }
    ZSTD_freeCCtx(z);
    free(p);
}

static void records_across_parts(void **state)
{
    const unsigned types[] = {PERF_RECORD_COMPRESSED, PERF_RECORD_COMPRESSED2};
    struct seen plain, seen;
    struct mkperf_error e;
    size_t n;

    (void)state;
    struct made f = head_of_plain();
    (void)data_at(f.p, &n);
    f.n += n;
    assert_int_equal(read_made(&f, true, &plain, &e), MKPERF_OK);
    free(f.p);
    for (unsigned i = 0; i < 2; i++) {
        for (size_t part = 13; part < 500000; part *= 21) {
            f = head_of_plain();
            compress_records(&f, types[i], part, SIZE_MAX);
            assert_int_equal(read_made(&f, true, &seen, &e), MKPERF_OK);
            assert_true(seen.samples == SAMPLES && seen.mark == plain.mark);
            free(f.p);
        }
    }
    f = head_of_plain();
    compress_records(&f, PERF_RECORD_COMPRESSED, 1000, 100001);
    assert_int_equal(read_made(&f, true, &seen, &e), MKPERF_ERR_INPUT);
    has(e.text, "the compressed records end within a record");
    assert_int_equal(read_made(&f, false, &seen, &e), MKPERF_OK);
    assert_true(seen.cut && seen.samples > 500);
    free(f.p);
}

/* `times` copies of a record of n bytes, compressed as one stream in one record. */
static void put_copies(struct made *f, const void *record, size_t n, size_t times)
{
    static uint8_t out[65000];
    ZSTD_CCtx *z = ZSTD_createCCtx();
    ZSTD_outBuffer to = {.dst = out, .size = sizeof out};

    for (size_t i = 0; i < times; i++) {
        ZSTD_inBuffer in = {.src = record, .size = n};
        (void)ZSTD_compressStream2(z, &to, &in, ZSTD_e_continue);
    }
    ZSTD_inBuffer none = {.src = NULL};
    (void)ZSTD_compressStream2(z, &to, &none, ZSTD_e_flush);
    ZSTD_freeCCtx(z);
    assert_true(to.pos < to.size);
    put_record(f, PERF_RECORD_COMPRESSED, out, to.pos);
}

static void hostile(void **state)
{
    /* a frame of zstd whose window is 2 GiB: magic, descriptor, exponent 21 */
    static const uint8_t window[] = {0x28, 0xb5, 0x2f, 0xfd, 0, 21 << 3, 1, 0, 0};
    static const uint8_t noise[] = "this is no stream of zstd";
    uint8_t skipped[8] = {PERF_RECORD_FINISHED_ROUND, 0, 0, 0, 0, 0, 8, 0};
    struct seen seen;
    struct mkperf_error e;

    (void)state;
    struct made f = head_of_plain();
    put_record(&f, PERF_RECORD_COMPRESSED, window, sizeof window);
    assert_int_equal(read_made(&f, true, &seen, &e), MKPERF_ERR_INPUT);
    has(e.text, "need more than 128 MiB");
    f.n = f.data;
    put_record(&f, PERF_RECORD_COMPRESSED, noise, sizeof noise);
    assert_int_equal(read_made(&f, true, &seen, &e), MKPERF_ERR_INPUT);
    has(e.text, "damaged compressed records");
    assert_int_equal(read_made(&f, false, &seen, &e),
                     MKPERF_OK); /* the rest of a killed writer's file */
    assert_true(seen.cut);
    f.n = f.data;
    put_copies(&f, skipped, 8, 20 << 20); /* 160 MB in a few KB */
    assert_true(f.n - f.data < 40000);
    assert_int_equal(read_made(&f, true, &seen, &e), MKPERF_ERR_INPUT);
    has(e.text, "yield more than 1024 times their size");
    f.n = f.data;
    put_copies(&f, skipped, 8, 1 << 20); /* 8 MB are allowed */
    assert_int_equal(read_made(&f, true, &seen, &e), MKPERF_OK);
    const uint8_t refused[] = {PERF_RECORD_COMPRESSED, PERF_RECORD_COMPRESSED2,
                               PERF_RECORD_AUXTRACE};
    for (unsigned i = 0; i < sizeof refused; i++) {
        f.n = f.data;
        skipped[0] = refused[i];
        put_copies(&f, skipped, 8, 2);
        assert_int_equal(read_made(&f, true, &seen, &e), MKPERF_ERR_INPUT);
        has(e.text, "of a kind that cannot be compressed");
    }
    f.n = f.data;
    skipped[6] = 7;
    put_copies(&f, skipped, 8, 2);
    assert_int_equal(read_made(&f, true, &seen, &e), MKPERF_ERR_INPUT);
    has(e.text, "of impossible size");
    f.n = f.data;
    put_record(&f, PERF_RECORD_COMPRESSED2, noise, 8);
    memset(f.p + f.data + 8, 0xff, 8);
    assert_int_equal(read_made(&f, true, &seen, &e), MKPERF_ERR_INPUT);
    has(e.text, "a compressed record is cut");
    free(f.p);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(plain_and_compressed_are_equal),
        cmocka_unit_test(pipes),
        cmocka_unit_test(killed),
        cmocka_unit_test(records_across_parts),
        cmocka_unit_test(hostile),
    };

    return cmocka_run_group_tests(tests, recording_setup, recording_teardown);
}
