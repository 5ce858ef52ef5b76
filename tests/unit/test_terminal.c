/* SPDX-License-Identifier: BSD-2-Clause */
/* Colours of shares, and the line of progress on a pseudo-terminal. */
#include <pty.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <cmocka.h>

#include "base/colour.h"
#include "set_clock.h"

static void test_colours_are_perfs(void **state)
{
    (void)state;
    assert_string_equal(mkperf_colour_begin(true, 5.0), "\033[31m");
    assert_string_equal(mkperf_colour_begin(true, 100), "\033[31m");
    assert_string_equal(mkperf_colour_begin(true, 4.99), "\033[32m");
    assert_string_equal(mkperf_colour_begin(true, 0.5), "\033[32m");
    assert_string_equal(mkperf_colour_begin(true, 0.49), "");
    assert_string_equal(mkperf_colour_end(true, 0.49), "");
    assert_string_equal(mkperf_colour_end(true, 0.5), "\033[0m");
    assert_string_equal(mkperf_colour_begin(false, 50), "");
    assert_string_equal(mkperf_colour_end(false, 50), "");
}

/*
 * Returns what was written to the terminal since the last call. The kernel hands over what is written some time later, but in its
 * order, so all of it has arrived when a mark behind it has.
 */
static const char *shown(int terminal)
{
    static char text[4096];
    char *mark = NULL;
    size_t n = 0;

    assert_int_equal(write(STDERR_FILENO, "#", 1), 1);
    while (mark == NULL) {
        ssize_t got = read(terminal, text + n, sizeof text - 1 - n);
        assert_true(got > 0);
        n += (size_t)got;
        text[n] = '\0';
        mark = strchr(text, '#');
    }
    *mark = '\0';
    return text;
}

static void test_progress(void **state)
{
    int terminal, tty, was = dup(STDERR_FILENO);
    const char *text;

    (void)state;
    assert_int_equal(openpty(&terminal, &tty, NULL, NULL, NULL), 0);
    dup2(tty, STDERR_FILENO);
    mkperf_progress(MKPERF_BYTES, 1, 2); /* no line has begun */
    mkperf_progress_begin("x.data");
    mkperf_progress(MKPERF_BYTES, 1, 2); /* too early */
    assert_string_equal(shown(terminal), "");
    set_clock_ms += 2100;
    mkperf_progress(MKPERF_BYTES, 42000000, 100000000);
    text = shown(terminal);
    assert_non_null(strstr(text, "x.data [============..................]  42 %  42.0 MB, 2 s"));
    mkperf_progress(MKPERF_BYTES, 43000000, 100000000); /* too soon */
    assert_string_equal(shown(terminal), "");
    set_clock_ms += 250;
    mkperf_progress(MKPERF_SECONDS_OVER, 3, 0); /* an amount without a known end */
    assert_non_null(strstr(shown(terminal), "x.data  3.0 s"));
    set_clock_ms += 250;
    mkperf_progress(MKPERF_STEPS, 9, 9);
    assert_non_null(strstr(shown(terminal), "[==============================] 100 %"));
    mkperf_progress_end();
    assert_string_equal(shown(terminal), "\r\033[K");
    mkperf_progress_end();
    mkperf_progress(MKPERF_STEPS, 9, 9);
    assert_string_equal(shown(terminal), "");
    dup2(was, STDERR_FILENO);
    close(was);
    close(tty);
    close(terminal);
}

static void test_no_progress_in_a_file(void **state)
{
    int pipes[2], was = dup(STDERR_FILENO);

    (void)state;
    assert_int_equal(pipe(pipes), 0);
    dup2(pipes[1], STDERR_FILENO);
    mkperf_progress_begin("x.data");
    set_clock_ms += 2100;
    mkperf_progress(MKPERF_BYTES, 42, 100);
    mkperf_progress_end();
    assert_string_equal(shown(pipes[0]), "");
    dup2(was, STDERR_FILENO);
    close(was);
    close(pipes[0]);
    close(pipes[1]);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_colours_are_perfs),
        cmocka_unit_test(test_progress),
        cmocka_unit_test(test_no_progress_in_a_file),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
