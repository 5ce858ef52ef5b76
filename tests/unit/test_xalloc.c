/* SPDX-License-Identifier: BSD-2-Clause */
/* Memory: arrays that grow, and what is left when there is no more. Internal invariants are checked here. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/base.h"
#include "base/outfile.h"

static void grown_memory_is_zero(void **state)
{
    uint32_t *list = NULL;
    uint32_t room = 0;

    (void)state;
    for (uint32_t n = 0; n < 1000; n++) {
        MKPERF_GROW(list, room, (size_t)n + 1);
        assert_true(room > n);
        for (uint32_t i = n; i < room; i++) {
            assert_int_equal(list[i], 0);
        }
        list[n] = n + 1;
    }
    for (uint32_t n = 0; n < 1000; n++) {
        assert_int_equal(list[n], n + 1);
    }
    free(list);
}

/* A process without memory ends with a message; what its files were given is in them. */
static void received_is_kept(void **state)
{
    char dir[] = "/tmp/mkperf-xalloc-XXXXXX", path[64], partial[80], text[200] = "";
    struct mkperf_outfile out;
    struct mkperf_error e;
    int status, pipes[2];

    (void)state;
    assert_non_null(mkdtemp(dir));
    snprintf(path, sizeof path, "%s/out", dir);
    snprintf(partial, sizeof partial, "%s.partial", path);
    assert_int_equal(pipe(pipes), 0);
    pid_t child = fork();
    if (child == 0) {
        dup2(pipes[1], STDERR_FILENO);
        if (mkperf_outfile_open(&out, path, false, &e) != MKPERF_OK) {
            _exit(99);
        }
        mkperf_outfile_write(&out, "received", 8);
        mkperf_die();
    }
    close(pipes[1]);
    assert_int_equal(waitpid(child, &status, 0), child);
    assert_true(read(pipes[0], text, sizeof text - 1) > 0);
    close(pipes[0]);
    assert_non_null(strstr(text, "mkperf: out of memory\n"));
    assert_true(WIFEXITED(status));
    assert_int_equal(WEXITSTATUS(status), MKPERF_ERR_FAILED);
    assert_int_not_equal(access(path, F_OK), 0); /* the file has no name, because it is not whole */
    FILE *f = fopen(partial, "r");
    assert_non_null(f);
    assert_int_equal(fread(text, 1, sizeof text, f), 8);
    assert_memory_equal(text, "received", 8);
    fclose(f);
    unlink(partial);
    rmdir(dir);
}

/* The library of the unit tests is compiled with its assertions. */
static void a_wrong_number_is_an_assertion(void **state)
{
    struct mkperf_hash table = {.count = 0};
    int status;

    (void)state;
    assert_int_equal(mkperf_hash_text_number(&table, "first"), 0);
    assert_string_equal(mkperf_hash_text(&table, 0), "first");
    pid_t child = fork();
    if (child == 0) {
        signal(SIGABRT, SIG_DFL);
        (void)freopen("/dev/null", "w", stderr);
        (void)mkperf_hash_key(&table, 1);
        _exit(0);
    }
    assert_int_equal(waitpid(child, &status, 0), child);
    assert_true(WIFSIGNALED(status));
    assert_int_equal(WTERMSIG(status), SIGABRT);
    mkperf_hash_free(&table);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(grown_memory_is_zero),
        cmocka_unit_test(received_is_kept),
        cmocka_unit_test(a_wrong_number_is_an_assertion),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
