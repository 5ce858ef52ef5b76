/* SPDX-License-Identifier: BSD-2-Clause */
/* Records in a temporary file: the last ones, and sorting whatever order they came in. Outputs that cannot be opened. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <unistd.h>

#include "base/outfile.h"

enum { RECORDS = 20000 };

struct record {
    uint64_t key;
    uint32_t number, pad;
};

static int by_key(const void *a, const void *b)
{
    const struct record *x = a, *y = b;

    return x->key != y->key ? (x->key > y->key) - (x->key < y->key)
                            : (x->number > y->number) - (x->number < y->number);
}

static uint64_t next_random(void)
{
    static uint64_t state = 1;

    state = state * 6364136223846793005u + 1442695040888963407u;
    return state >> 33;
}

static uint64_t ascending(uint32_t i)
{
    return i;
}

static uint64_t nearly(uint32_t i) /* as samples of several cores */
{
    return i + next_random() % 8;
}

static uint64_t descending(uint32_t i)
{
    return RECORDS - i;
}

static uint64_t any(uint32_t i)
{
    return next_random() % (i + 1);
}

static void test_sorts(void **state)
{
    uint64_t (*const orders[])(uint32_t i) = {ascending, nearly, descending, any};
    struct record *want = malloc(RECORDS * sizeof *want);
    struct mkperf_error e;

    (void)state;
    for (unsigned order = 0; order < sizeof orders / sizeof *orders; order++) {
        struct mkperf_spool s;
        struct record last[3];

        assert_int_equal(mkperf_spool_open(&s, sizeof *want, &e), MKPERF_OK);
        for (uint32_t i = 0; i < RECORDS; i++) {
            want[i] = (struct record){.key = orders[order](i), .number = i};
            assert_int_equal(mkperf_spool_add(&s, &want[i], &e), MKPERF_OK);
        }
        assert_int_equal(mkperf_spool_last(&s, last, 3), 3);
        assert_memory_equal(last, want + RECORDS - 3, sizeof last);
        assert_int_equal(mkperf_spool_map(&s, &e), MKPERF_OK);
        MKPERF_SPOOL_SORT(&s, MKPERF_UP(want, key), MKPERF_UP(want, number));
        qsort(want, RECORDS, sizeof *want, by_key);
        assert_memory_equal(s.map, want, RECORDS * sizeof *want);
        mkperf_spool_close(&s);
    }
    free(want);
}

/* FILE.partial may be another process's. It remains if it cannot be opened. */
static void test_unopened(void **state)
{
    char directory[] = "/tmp/mkperf-outfile-XXXXXX", path[64], partial[80];
    struct mkperf_outfile o;
    struct mkperf_error e;
    struct rlimit before, none;

    (void)state;
    assert_non_null(mkdtemp(directory));
    snprintf(path, sizeof path, "%s/x", directory);
    snprintf(partial, sizeof partial, "%s.partial", path);
    FILE *f = fopen(partial, "w");
    assert_non_null(f);
    fclose(f);
    assert_int_equal(getrlimit(RLIMIT_NOFILE, &before), 0);
    none = before;
    none.rlim_cur = 0;
    assert_int_equal(setrlimit(RLIMIT_NOFILE, &none), 0);
    enum mkperf_status status = mkperf_outfile_open(&o, path, false, &e);
    assert_int_equal(setrlimit(RLIMIT_NOFILE, &before), 0);
    assert_int_equal(status, MKPERF_ERR_OUTPUT);
    assert_int_equal(access(partial, F_OK), 0);
    assert_int_equal(mkperf_outfile_open(&o, "", false, &e), MKPERF_ERR_USAGE);
    errno = ENOENT;
    assert_int_equal(mkperf_outfile_missing(path, &e), MKPERF_ERR_INPUT);
    assert_non_null(strstr(e.text, "mkperf recover makes it from "));
    unlink(partial);
    errno = ENOENT;
    (void)mkperf_outfile_missing(path, &e);
    assert_null(strstr(e.text, "recover"));
    rmdir(directory);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_sorts),
                                       cmocka_unit_test(test_unopened)};

    return cmocka_run_group_tests(tests, NULL, NULL);
}
