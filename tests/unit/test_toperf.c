/* SPDX-License-Identifier: BSD-2-Clause */
/* The decoder of samples.json: samples, refusals with their place, repairs. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include "import/import.h"
#include "log_sink.h"

#define MAPPING "\"elf_tcb_mappings\": {\"a.elf\": 1, \"b.elf\": 2}"
#define SAMPLE(ip, pid, time, period, nr, ips)                                               \
    "{\"ip\": " ip ", \"pid\": " pid ", \"time\": " time ", \"cpu\": 1, \"period\": " period \
    ", \"nr\": " nr ", \"ips\": [" ips "]}"
#define GOOD SAMPLE("100", "1", "5", "10", "1", "7, 0")

static char warnings[8192];
static char dir[] = "/tmp/mkperf-toperf-XXXXXX";

static void warn(void *self, const char *text)
{
    (void)self;
    strncat(warnings, text, sizeof warnings - strlen(warnings) - 2);
    strcat(warnings, "\n");
}

static enum mkperf_status read_with(const char *text, bool lenient, const char *build_dir,
                                    struct log_sink *l, struct mkperf_error *e)
{
    struct mkperf_input config = {.lenient = lenient, .build_dir = build_dir, .pds.warn = warn};
    struct mkperf_sink sink = log_sink(l);

    warnings[0] = '\0';
    *e = (struct mkperf_error){.status = MKPERF_OK};
    int fd = memfd_create("f", MFD_CLOEXEC);
    assert_int_equal(write(fd, text, strlen(text)), strlen(text));
    assert_int_equal(lseek(fd, 0, SEEK_SET), 0);
    enum mkperf_status status = mkperf_toperf_read("f", fd, &config, &sink, e);
    assert_false(l->broken);
    assert_true(l->ended == (status == MKPERF_OK));
    assert_true(l->abandoned == (status != MKPERF_OK));
    return status;
}

static struct log_sink l;
static struct mkperf_error e;

static void put_file(const char *name, const char *text)
{
    char path[256];
    FILE *f;

    snprintf(path, sizeof path, "%s/%s", dir, name);
    f = fopen(path, "w");
    assert_non_null(f);
    fputs(text, f);
    assert_int_equal(fclose(f), 0);
}

static void gives_what_is_in_it(void **state)
{
    (void)state;
    assert_int_equal(read_with("{" MAPPING ", \"samples\": [" GOOD
                               ",\n" SAMPLE("\"18446744073709551615\"", "2", "\"6\"", "\"20\"",
                                            "\"2\"", "\"7\", \"8\", \"0\"") "]}",
                               false, NULL, &l, &e),
                     MKPERF_OK);
    assert_string_equal(l.text, "event cycles 10\n"
                                "pd 0 a - -\n"
                                "pd 1 b - -\n"
                                "5 core 1 pd 0 event 0 period 10 user 64 7@0\n"
                                "6 core 1 pd 1 event 0 period 20 user ffffffffffffffff 7@1 8@1\n");
    assert_string_equal(warnings, "");
}

static void takes_a_mapping_behind_the_samples(void **state)
{
    (void)state;
    assert_int_equal(read_with("{\"samples\": [" GOOD
                               "], \"x\": {\"elf_tcb_mappings\": 1}, " MAPPING "}",
                               false, NULL, &l, &e),
                     MKPERF_OK);
    assert_int_equal(l.samples, 1);
    assert_int_equal(l.npds, 2);
    assert_non_null(strstr(warnings, "1 unknown keys"));
}

/* The layout of netconn; KEY spells ip. One that is escaped is read by tokens, not at once. */
#define NETCONN(KEY, more)                                                                     \
    "{\n" MAPPING ",\n\"samples\": [\n{\n  \"" KEY "\": \"100\",\n  \"pid\": 2,\n  \"time\": " \
    "\"18446744073709551615\",\n  \"cpu\": 3,\n  \"period\": \"10\",\n  \"nr\": \"2\",\n  "    \
    "\"ips\": "                                                                                \
    "[\n    \"7\",\n    \"1234567890123456789\",\n    \"0\"\n  ]\n}" more "]\n}"

static void reads_at_once_what_the_tokens_say(void **state)
{
    static char at_once[sizeof l.text];
    struct mkperf_error error;

    (void)state;
    assert_int_equal(read_with(NETCONN("ip", ",\n" GOOD), false, NULL, &l, &e), MKPERF_OK);
    assert_int_equal(l.samples, 2);
    strcpy(at_once, l.text);
    assert_int_equal(read_with(NETCONN("\\u0069p", ",\n" GOOD), false, NULL, &l, &e), MKPERF_OK);
    assert_string_equal(l.text, at_once);

    assert_int_equal(read_with(NETCONN("ip", ",\n{\"ip\": -1}"), false, NULL, &l, &error),
                     MKPERF_ERR_INPUT);
    assert_int_equal(read_with(NETCONN("\\u0069p", ",\n{\"ip\": -1}"), false, NULL, &l, &e),
                     MKPERF_ERR_INPUT);
    assert_string_equal(error.text, "f:17:8: ip: a negative number");
    assert_string_equal(e.text, error.text);
}

static void refuses_a_second_mapping(void **state)
{
    (void)state;
    assert_int_equal(
        read_with("{" MAPPING ", \"samples\": [" GOOD "], " MAPPING "}", false, NULL, &l, &e),
        MKPERF_ERR_INPUT);
    assert_non_null(strstr(e.text, "elf_tcb_mappings again"));
    assert_int_equal(
        read_with("{" MAPPING ", \"samples\": [" GOOD "], " MAPPING "}", true, NULL, &l, &e),
        MKPERF_OK);
    assert_non_null(strstr(warnings, "1 mappings ignored"));
}

/* The last mapping near the end is read ahead. If it is not the file's own, the file is refused rather than read with it. */
static void refuses_a_mapping_of_something_else(void **state)
{
    (void)state;
    assert_int_equal(read_with("{\"samples\": [" GOOD "], " MAPPING
                               ", \"x\": {\"elf_tcb_mappings\": {\"c.elf\": 1}}}",
                               false, NULL, &l, &e),
                     MKPERF_ERR_INPUT);
    assert_non_null(strstr(e.text, "elf_tcb_mappings again"));
}

static void keeps_pds_with_one_elf_apart(void **state)
{
    (void)state;
    assert_int_equal(
        read_with("{\"elf_tcb_mappings\": {\"x/a.elf\": 1, \"a.elf\": 2}, \"samples\": "
                  "[" GOOD "]}",
                  false, NULL, &l, &e),
        MKPERF_OK);
    assert_non_null(strstr(l.text, "pd 0 a - -\npd 1 a#2 - -\n"));
}

static void uses_the_header_file(void **state)
{
    (void)state;
    put_file("sample_header.json", "{\"elf_tcb_mappings\": {\"a.elf\": 1}}");
    put_file("a.elf", "not an ELF");
    assert_int_equal(read_with("{\"samples\": [" GOOD "]}", false, dir, &l, &e), MKPERF_OK);
    assert_non_null(strstr(l.text, "pd 0 a - -\n")); /* unusable, and that is reported */
    assert_non_null(strstr(warnings, "a.elf"));
    assert_non_null(strstr(warnings, "1 ELFs unusable"));
}

static void prefers_its_own_mapping(void **state)
{
    (void)state;
    put_file("own.elf", "");
    put_file("sample_header.json", "{\"elf_tcb_mappings\": {\"missing.elf\": 1}}");
    assert_int_equal(read_with("{\"elf_tcb_mappings\": {\"own.elf\": 1}, \"samples\": [" GOOD "]}",
                               false, dir, &l, &e),
                     MKPERF_OK);
    assert_non_null(strstr(l.text, "pd 0 own"));
}

static void names_the_missing_elf(void **state)
{
    (void)state;
    assert_int_equal(read_with("{\"elf_tcb_mappings\": {\"nope.elf\": 1}, \"samples\": [" GOOD "]}",
                               false, dir, &l, &e),
                     MKPERF_ERR_INPUT);
    assert_non_null(strstr(e.text, "nope.elf: No such file"));
}

static void says_where_and_why(void **state)
{
    static const struct {
        const char *text, *message;
    } cases[] = {
        {"", "f:1:1: the file is empty"},
        {" \n ", "f:2:2: the file is empty"},
        {"[]", "f:1:1: expected an object"},
        {"{" MAPPING ", \"samples\": []", "the file ends inside an object"},
        {"{" MAPPING "}", "no samples"},
        {"{" MAPPING ",\n \"samples\": [" GOOD ",]}", "f:2:95: a comma and nothing after it"},
        {"{" MAPPING ", \"samples\": [" GOOD " " GOOD "]}", "expected a comma"},
        {"{" MAPPING ", \"samples\": [" GOOD "]} x", "something follows the end"},
        {"{" MAPPING ", \"samples\": [{]}", "expected a key"},
        {"{" MAPPING ", \"samples\": [{\"ip\" 5}]}", "expected a colon"},
        {"{" MAPPING ", \"samples\": [7]}", "expected a sample"},
        {"{" MAPPING ", \"samples\": {}}", "expected an array"},
        {"{" MAPPING ", \"samples\": [" GOOD, "the file ends inside an array"},
        {"{" MAPPING ", \"samples\": [{\"ip\": 5", "the file ends inside an object"},
        {"{" MAPPING ", \"samples\": [{\"ip\": \"5", "without its closing quote"},
        {"{\"samples\": [" GOOD "]}", "no elf_tcb_mappings"},
        {"{\"elf_tcb_mappings\": {\"a\": 1, \"b\": 1}, \"samples\": []}", "the same id"},
        {"{\"elf_tcb_mappings\": {\"a\": -1}, \"samples\": []}", "negative"},
        {"{\"elf_tcb_mappings\": {\"../a\": 1}, \"samples\": []}", "leaves the build"},
        {"{\"elf_tcb_mappings\": {\"x/..\": 1}, \"samples\": []}", "leaves the build"},
        {"{\"elf_tcb_mappings\": {\"/a\": 1}, \"samples\": []}", "absolute"},
        {"{\"elf_tcb_mappings\": {\"\": 1}, \"samples\": []}", "not a file name"},
        {"{" MAPPING ", \"samples\": [{\"ip\": 1}]}", "a sample without "},
        {"{" MAPPING ", \"samples\": [{\"ip\": 1, \"ip\": 1}]}", "ip: twice"},
#define BAD(ip, pid, time, period, nr, ips) \
    "{" MAPPING ", \"samples\": [" SAMPLE(ip, pid, time, period, nr, ips) "]}"
        {BAD("-1", "1", "1", "1", "0", ""), "ip: a negative number"},
        {BAD("\"20a4\"", "1", "1", "1", "0", ""), "ip: not a decimal integer"},
        {BAD("18446744073709551616", "1", "1", "1", "0", ""), "ip: a number beyond 64 bits"},
        {BAD("1.5", "1", "1", "1", "0", ""), "ip: not a decimal integer"},
        {BAD("true", "1", "1", "1", "0", ""), "ip: not a decimal integer"},
        {BAD("[]", "1", "1", "1", "0", ""), "ip: expected a number"},
        {BAD("\"\"", "1", "1", "1", "0", ""), "ip: expected a number"},
        {BAD("1", "3", "1", "1", "0", ""), "pid 3 is not in elf_tcb_mappings"},
        {BAD("1", "4294967296", "1", "1", "0", ""), "pid: beyond 32 bits"},
        {"{" MAPPING ", \"samples\": [{\"ip\": 1, \"pid\": 1, \"time\": 1, \"cpu\": 4096, "
         "\"period\": 1, \"nr\": 0, \"ips\": []}]}",
         "no core has such a number"},
        {BAD("1", "1", "1", "0", "0", ""), "period: 0"},
        {BAD("1", "1", "1", "1", "2", "5"), "nr is more than ips has"},
        {BAD("1", "1", "1", "1", "2", "5, 0"), "a 0 among its first nr"},
        {BAD("1", "1", "1", "1", "9223372036854775808", "5, 6"), "nr is more than"},
        {BAD("1", "1", "1", "1", "0", "\"x\""), "ips: not a decimal"},
        {BAD("1", "1", "1", "1", "0", "[]"), "ips: expected a number"},
    };

    (void)state;
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        assert_int_equal(read_with(cases[i].text, false, NULL, &l, &e), MKPERF_ERR_INPUT);
        assert_memory_equal(e.text, "f:", 2);
        if (strstr(e.text, cases[i].message) == NULL) {
            fail_msg("%s: \"%s\" instead of \"%s\"", cases[i].text, e.text, cases[i].message);
        }
    }
}

static void repairs_and_says_so(void **state)
{
    static const struct {
        const char *text;
        unsigned samples;
        const char *warning;
    } cases[] = {
        {"{" MAPPING ", \"samples\": [" GOOD ",]}", 1, "1 trailing commas"},
        {"{" MAPPING ", \"samples\": [" GOOD ", ", 1, "ends early"},
        {"{" MAPPING ", \"samples\": [" GOOD ", {\"ip\": 5, ", 1, "ends early"},
        {"{" MAPPING ", \"samples\": [" GOOD " " GOOD "]}", 2, "1 missing commas"},
        {BAD("\"2f\"", "1", "1", "1", "0", ""), 1, "hexadecimal"},
        {BAD("1", "9", "1", "1", "0", ""), 1, "1 sample of a pid"},
        {BAD("1", "1", "1", "0", "0", ""), 1, "period 0"},
        {BAD("1", "1", "1", "1", "9", "5, 6, 0"), 1, "nr and ips disagree"},
        {BAD("-1", "1", "1", "1", "0", ""), 0, "1 sample dropped"},
        {"{\"samples\": [" GOOD "]}", 1, "no elf_tcb_mappings"},
        {"boot: hello\n" GOOD "\n" GOOD "bye", 2, "2 pieces of other text"},
        {"{\"ip\": 20a400 \"pid\": 1 \"time\": 5 \"cpu\": 0 \"period\": 3 \"nr\": 0 \"ips\": []}\n"
         "{\"ip\": 200100 \"pid\": 1 \"time\": 6 \"cpu\": 0 \"period\": 3 \"nr\": 0 \"ips\": []}",
         2, "read as hexadecimal"},
    };

    (void)state;
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        assert_int_equal(read_with(cases[i].text, true, NULL, &l, &e), MKPERF_OK);
        assert_int_equal(l.samples, cases[i].samples);
        if (strstr(warnings, cases[i].warning) == NULL) {
            fail_msg("%s: \"%s\" instead of \"%s\"", cases[i].text, warnings, cases[i].warning);
        }
    }
    assert_non_null(strstr(l.text, "user 200100")); /* the second has no letter, but no comma */
}

static void unwraps_time(void **state)
{
    static const char text[] = "{" MAPPING ", \"samples\": [" SAMPLE(
        "1", "1", "4294967000", "1", "0", "") ", " SAMPLE("1", "1", "10", "1", "0", "") "]}";

    (void)state;
    assert_int_equal(read_with(text, true, NULL, &l, &e), MKPERF_OK);
    assert_non_null(strstr(l.text, "4294967306 core"));
    assert_int_equal(read_with(text, false, NULL, &l, &e), MKPERF_OK);
    assert_non_null(strstr(l.text, "\n10 core"));
    assert_non_null(strstr(warnings, "wrapped?"));
}

/* Many buffers long, so that every kind of token crosses a boundary; and positions stay right. */
static void reads_what_is_larger_than_the_buffer(void **state)
{
    enum { N = 40000 };
    size_t size = N * 120 + 1024, used;
    char *text = malloc(size);

    (void)state;
    assert_non_null(text);
    used = (size_t)sprintf(text, "{" MAPPING ", \"samples\": [");
    for (unsigned i = 0; i < N; i++) {
        used += (size_t)sprintf(text + used, "%s\n" SAMPLE("%u", "1", "%u", "3", "1", "%u"),
                                i > 0 ? "," : "", i * 7, i, i + 1);
    }
    strcpy(text + used, "]}");
    assert_int_equal(read_with(text, false, NULL, &l, &e), MKPERF_OK);
    assert_int_equal(l.samples, N);
    assert_int_equal(l.period, 3 * N);
    strcpy(text + used, ",\n!");
    assert_int_equal(read_with(text, false, NULL, &l, &e), MKPERF_ERR_INPUT);
    assert_string_equal(e.text, "f:40002:1: expected a sample, an object");
    free(text);
}

static void reads_files_and_says_which_is_missing(void **state)
{
    struct mkperf_input config = {.build_dir = dir};
    char path[256];

    (void)state;
    put_file("s.json", "{\"samples\": [" GOOD "], \"elf_tcb_mappings\": {\"own.elf\": 1}}");
    snprintf(path, sizeof path, "%s/s.json", dir);
    struct mkperf_sink sink = log_sink(&l);
    assert_int_equal(mkperf_input_read(path, &config, &sink, &e), MKPERF_OK);
    assert_int_equal(l.samples, 1);
    sink = log_sink(&l);
    assert_int_equal(mkperf_input_read("/nowhere/x", &config, &sink, &e), MKPERF_ERR_INPUT);
    assert_string_equal(e.text, "/nowhere/x: No such file or directory");
    assert_true(l.abandoned);
}

static int set_up(void **state)
{
    (void)state;
    return mkdtemp(dir) == NULL;
}

static int tear_down(void **state)
{
    char command[128];

    (void)state;
    snprintf(command, sizeof command, "rm -rf %s", dir);
    return system(command);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(gives_what_is_in_it),
        cmocka_unit_test(takes_a_mapping_behind_the_samples),
        cmocka_unit_test(refuses_a_second_mapping),
        cmocka_unit_test(refuses_a_mapping_of_something_else),
        cmocka_unit_test(reads_at_once_what_the_tokens_say),
        cmocka_unit_test(keeps_pds_with_one_elf_apart),
        cmocka_unit_test(uses_the_header_file),
        cmocka_unit_test(prefers_its_own_mapping),
        cmocka_unit_test(names_the_missing_elf),
        cmocka_unit_test(says_where_and_why),
        cmocka_unit_test(repairs_and_says_so),
        cmocka_unit_test(unwraps_time),
        cmocka_unit_test(reads_what_is_larger_than_the_buffer),
        cmocka_unit_test(reads_files_and_says_which_is_missing),
    };

    return cmocka_run_group_tests(tests, set_up, tear_down);
}
