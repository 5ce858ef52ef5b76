/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * mkperf convert, toperf and kprof2perf as commands: options, detection of formats, exit statuses,
 * and that bad input never destroys an older file.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/base.h"
#include "cmd/cmd.h"

static char dir[] = "/tmp/mkperf-convert-XXXXXX";
static char said[8192]; /* what the last command printed on stderr */

#define SAMPLE(ip, pid, time)                                                             \
    "{\"ip\": " ip ", \"pid\": " pid ", \"time\": " time ", \"cpu\": 0, \"period\": 10, " \
    "\"nr\": 1, \"ips\": [4096]}"
static const char samples[] =
    "{\"elf_tcb_mappings\": {\"a.elf\": 1, \"b.elf\": 2}, \"samples\": [" SAMPLE(
        "100", "1", "5") ", " SAMPLE("200", "2", "6") ", " SAMPLE("100", "1", "7") "]}";

static void put_file(const char *name, const void *p, size_t n)
{
    FILE *f = fopen(name, "wb");

    assert_non_null(f);
    assert_int_equal(fwrite(p, 1, n, f), n);
    assert_int_equal(fclose(f), 0);
}

static const char *get_file(const char *name)
{
    static char text[65536];
    FILE *f = fopen(name, "rb");

    assert_non_null(f);
    text[fread(text, 1, sizeof text - 1, f)] = '\0';
    fclose(f);
    return text;
}

/* Runs "command option..." with stderr caught and stdout in the file "out". */
static int run(const char *line)
{
    char copy[1024], *argv[32];
    int argc = 0, status, err = dup(2), out = dup(1);

    snprintf(copy, sizeof copy, "%s", line);
    for (char *word = strtok(copy, " "); word != NULL; word = strtok(NULL, " ")) {
        argv[argc++] = word;
    }
    argv[argc] = NULL;
    fflush(NULL);
    int to = open("err", O_RDWR | O_CREAT | O_TRUNC, 0600);
    int to_out = open("out", O_RDWR | O_CREAT | O_TRUNC, 0600);
    dup2(to, 2);
    dup2(to_out, 1);
    status = mkperf_command_main(mkperf_command_by_name(argv[0]), argc, argv);
    fflush(NULL);
    dup2(err, 2);
    dup2(out, 1);
    close(err);
    close(out);
    close(to);
    close(to_out);
    snprintf(said, sizeof said, "%s", get_file("err"));
    return status;
}

static void tells_formats(void **state)
{
    (void)state;
    assert_int_equal(run("convert s.json -o x.folded"), MKPERF_OK);
    assert_string_equal(get_file("x.folded"), "a;[unknown] 0x0-0xfff;[unknown] 0x0-0xfff 20\n"
                                              "b;[unknown] 0x0-0xfff;[unknown] 0x0-0xfff 10\n");
    assert_non_null(strstr(said, "x.folded: 3 samples"));
    assert_int_equal(run("convert s.json -o x.data"), MKPERF_OK);
    assert_int_equal(run("convert -q x.data --to folded -o -"), MKPERF_OK);
    assert_string_equal(get_file("out"), get_file("x.folded"));
    assert_string_equal(said, "");
    assert_int_equal(run("convert k -o k.jsonl"), MKPERF_OK);
    assert_non_null(strstr(get_file("k.jsonl"),
                           "{\"type\":\"sample\",\"time_ns\":7,\"core\":0,\"pd\":\"pid-5\","
                           "\"event\":\"samples\",\"period\":1,\"mode\":\"user\""));
}

static void refuses_bad_command_lines(void **state)
{
    static const char *const lines[] = {
        "convert",
        "convert s.json",
        "convert s.json -o x.json",
        "convert s.json -o x.folded --to nothing",
        "convert s.json -o x.folded --from nothing",
        "convert s.json more -o x.folded",
        "convert s.json -o x.folded --nothing",
        "convert s.json -o x.folded --event nothing",
        "convert s.json -o x.folded --diff s.json",
        "convert s.json -o x.folded --kprof-era D",
        "convert s.json -o x.folded --time-hz 0",
        "convert - -o x.folded",
        "toperf",
        "toperf -s s.json",
        "toperf -b . -s s.json extra",
        "toperf -b",
        "kprof2perf --nothing",
        "kprof2perf extra",
    };

    (void)state;
    for (size_t i = 0; i < sizeof lines / sizeof *lines; i++) {
        if (run(lines[i]) != MKPERF_ERR_USAGE) {
            fail_msg("%s", lines[i]);
        }
        assert_memory_equal(said, "mkperf ", 7);
    }
    assert_int_equal(run("convert --help"), MKPERF_OK);
    assert_int_equal(run("toperf --help"), MKPERF_OK);
    assert_int_equal(run("kprof2perf --help"), MKPERF_OK);
}

/* CSV was removed. Its users are sent to JSON Lines, and nothing is written. */
static void csv_names_its_successor(void **state)
{
    (void)state;
    assert_int_equal(run("convert k -o k.csv"), MKPERF_ERR_USAGE);
    assert_non_null(strstr(said, "'k.csv' determines no format (jsonl has all that csv had; "));
    assert_int_equal(run("convert k -o k.jsonl --to csv"), MKPERF_ERR_USAGE);
    assert_non_null(strstr(said, "no format 'csv' (jsonl has all that csv had; "));
    assert_int_equal(run("convert k -o k.table"), MKPERF_ERR_USAGE);
    assert_null(strstr(said, "jsonl"));
    assert_int_not_equal(access("k.csv", F_OK), 0);
}

static void bad_input_costs_nothing(void **state)
{
    static const char *const lines[] = {
        "convert bad.json -o %s",  "convert empty -o %s",    "convert missing -o %s",
        "convert text -o %s",      "convert cut.data -o %s", "convert bad.raw -o %s",
        "convert cut.kprof -o %s", "convert . -o %s",        "convert late.json -o %s",
    };
    static const char *const outputs[] = {
        "older.svg",   "older.folded",          "older.data",
        "older.pb.gz", "older.speedscope.json", "older.firefox.json",
        "older.jsonl", "older.callgrind"};
    char line[256], partial[64];

    (void)state;
    for (size_t i = 0; i < sizeof lines / sizeof *lines; i++) {
        for (size_t k = 0; k < sizeof outputs / sizeof *outputs; k++) {
            put_file(outputs[k], "older", 5);
            snprintf(line, sizeof line, lines[i], outputs[k]);
            if (run(line) != MKPERF_ERR_INPUT) {
                fail_msg("%s: %s", line, said);
            }
            assert_string_equal(get_file(outputs[k]), "older");
            snprintf(partial, sizeof partial, "%s.partial", outputs[k]);
            assert_int_not_equal(access(partial, F_OK), 0);
        }
    }
    assert_int_equal(run("convert bad.json -o x.svg"), MKPERF_ERR_INPUT);
    assert_string_equal(said, "mkperf convert: bad.json:1:3: expected a key in quotes\n");
    assert_int_equal(run("convert s.json -o missing/x.svg"), MKPERF_ERR_OUTPUT);
}

static void toperf_as_its_users_know_it(void **state)
{
    (void)state;
    unlink("perf.data");
    put_file("a.elf", "", 0);
    put_file("b.elf", "", 0);
    assert_int_equal(run("toperf --samples-path s.json --build-dir . --print-summary"), MKPERF_OK);
    assert_string_equal(get_file("out"), "a: time 5 cpu 0 period 10 ip 0x64 < 0x1000\n"
                                         "b: time 6 cpu 0 period 10 ip 0xc8 < 0x1000\n"
                                         "a: time 7 cpu 0 period 10 ip 0x64 < 0x1000\n");
    assert_int_equal(access("perf.data", R_OK), 0);
    assert_non_null(strstr(said, "a.elf")); /* the file is no ELF, and that is reported */
    unlink("b.elf");
    assert_int_equal(run("toperf -s s.json -b . -o y.data"), MKPERF_ERR_INPUT);
    assert_int_not_equal(access("y.data", F_OK), 0);
    assert_int_equal(run("toperf -s s.json -b . -o y.data --lenient --time-hz 1000"), MKPERF_OK);
    assert_int_equal(run("convert -q y.data --to jsonl -o -"), MKPERF_OK);
    assert_non_null(
        strstr(get_file("out"), "\"sample\",\"time_ns\":5000000,\"core\":0,\"pd\":\"a\","));
}

static void kprof2perf_as_its_users_know_it(void **state)
{
    (void)state;
    assert_int_equal(run("kprof2perf -i k -o k.data -s 4096 -D 8"), MKPERF_OK);
    assert_non_null(strstr(said, "pid-5: time 7 cpu 0 period 1 ip 0x401000\n"));
    assert_int_equal(run("kprof2perf -i k"), MKPERF_OK);
    assert_memory_equal(get_file("out"), "PERFILE2", 8);
    assert_int_equal(run("kprof2perf -i k -o k.data -k missing"), MKPERF_ERR_INPUT);
    assert_int_equal(run("kprof2perf -i k -o k.data --kprof-era A"), MKPERF_ERR_INPUT);
    assert_int_equal(access("k.data", R_OK), 0);
}

static int set_up(void **state)
{
    static const uint8_t user_sample[] = {2, 32, 0, 0, 0, 0, 0, 0, 0, 0, 7,    0,    0, 0, 0, 0, 0,
                                          0, 5,  0, 0, 0, 0, 0, 1, 0, 0, 0x10, 0x40, 0, 0, 0, 0, 0};

    (void)state;
    if (mkdtemp(dir) == NULL || chdir(dir) != 0) {
        return 1;
    }
    put_file("s.json", samples, strlen(samples));
    put_file("late.json", samples, strlen(samples) - 3);
    put_file("bad.json", "{ x", 3);
    put_file("empty", "", 0);
    put_file("text", "hello, world\n", 13);
    put_file("cut.data", "PERFILE2 and no more", 20);
    put_file("bad.raw", "\0\1\2\3\0no frame\0", 15);
    put_file("k", user_sample, sizeof user_sample);
    put_file("cut.kprof", user_sample, sizeof user_sample - 1);
    return 0;
}

static int tear_down(void **state)
{
    char command[128];

    (void)state;
    snprintf(command, sizeof command, "rm -rf %s", dir);
    return chdir("/") != 0 || system(command);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(tells_formats),
        cmocka_unit_test(refuses_bad_command_lines),
        cmocka_unit_test(csv_names_its_successor),
        cmocka_unit_test(bad_input_costs_nothing),
        cmocka_unit_test(toperf_as_its_users_know_it),
        cmocka_unit_test(kprof2perf_as_its_users_know_it),
    };

    return cmocka_run_group_tests(tests, set_up, tear_down);
}
