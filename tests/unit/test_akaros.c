/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * kprof2perf with the ELFs of an Akaros machine, which is an x86-64: names, kernel chains, the
 * architecture, read by perf and by mkperf; and with ELFs of other builds. Needs perf and a gcc for x86-64.
 */
#include "recording.h"

enum { KERNEL_SAMPLE = 1, USER_SAMPLE = 2, MAP = 3 };

static const char program[] =
    "asm(\".globl _start, outer, inner\\n"
    ".type _start,@function\\n_start: call outer\\n jmp _start\\n.size _start,.-_start\\n"
    ".type outer,@function\\nouter: call inner\\n ret\\n.size outer,.-outer\\n"
    ".type inner,@function\\ninner: nop\\n nop\\n ret\\n.size inner,.-inner\\n\");\n";

/* Offsets: _start 0, outer 7, inner 13; behind the calls 5 and 12. */
enum { INNER = 13, IN_START = 5, IN_OUTER = 12 };

/* Other builds: one without calls where there were some, one without code there. */
static const char moved[] = "asm(\".globl _start\\n"
                            ".type _start,@function\\n_start: .skip 32, 0x90\\n"
                            "jmp _start\\n.size _start,.-_start\\n\");\n";
static const char shorter[] = "asm(\".globl _start\\n"
                              ".type _start,@function\\n_start: jmp _start\\n"
                              ".size _start,.-_start\\n\");\n";

static FILE *kpdata;

static void put(uint64_t v, int bytes)
{
    while (bytes-- > 0) {
        fputc((int)(v & 0xff), kpdata);
        v >>= 8;
    }
}

static void put_sample(int type, uint64_t time, const char *elf, unsigned cpu)
{
    uint64_t start = recording_address(elf, "_start");

    put((uint64_t)type, 1);
    put(24 + 3 * 8, 1);
    put(0, 8);
    put(time, 8);
    put(5, 4);
    put(cpu, 2);
    put(3, 2);
    put(start + INNER, 8);
    put(start + IN_OUTER, 8);
    put(start + IN_START, 8);
}

static void put_map(const char *path)
{
    put(MAP, 1);
    put(36 + strlen(path) + 1, 1);
    put(0, 8);
    put(0x400000, 8);
    put(0x100000, 8);
    put(0, 8);
    put(5, 4);
    fwrite(path, 1, strlen(path) + 1, kpdata);
}

static int setup(void **state)
{
    static const struct {
        const char *name, *text, *flags;
    } elf[] = {{"akaros", program, "-Wl,-Ttext=0xffffffffc2000000"},
               {"prog", program, "-Wl,-Ttext=0x401000"},
               {"other", shorter, "-Wl,-Ttext=0xffffffffc2000000"},
               {"moved", moved, "-Wl,-Ttext=0x401000"},
               {"shifted", moved, "-Wl,-Ttext=0xffffffffc2000000"}};

    (void)state;
    assert_non_null(mkdtemp(recording_dir));
    for (unsigned i = 0; i < sizeof elf / sizeof *elf; i++) {
        char name[16];
        snprintf(name, sizeof name, "%s.c", elf[i].name);
        FILE *f = fopen(recording_path(name), "w");
        assert_non_null(f);
        fputs(elf[i].text, f);
        assert_int_equal(fclose(f), 0);
        free(recording_shell("cd %s && gcc -g -no-pie -nostdlib -static -Wl,--build-id "
                             "%s -o %s.elf %s.c",
                             recording_dir, elf[i].flags, elf[i].name, elf[i].name));
    }
    kpdata = fopen(recording_path("kpdata"), "w");
    assert_non_null(kpdata);
    put_map("/prog.elf");
    for (unsigned i = 0; i < 10; i++) {
        put_sample(KERNEL_SAMPLE, 1000 + 10 * i, "akaros.elf", i);
        put_sample(USER_SAMPLE, 1005 + 10 * i, "prog.elf", 3 * i);
    }
    assert_int_equal(fclose(kpdata), 0);
    return 0;
}

static unsigned count(const char *text, const char *what)
{
    unsigned n = 0;

    for (const char *at = text; (at = strstr(at, what)) != NULL; at += strlen(what)) {
        n++;
    }
    return n;
}

static char *kprof2perf(const char *kernel, const char *root, const char *out)
{
    int status;
    char *text = RUN(kprof2perf, &status, "-i", recording_path("kpdata"), "-k",
                     recording_path(kernel), "--root-dir", root, "-o", recording_path(out));

    if (status != 0) {
        fail_msg("%s", text);
    }
    return text;
}

static void perf_names_akaros(void **state)
{
    char *text;

    (void)state;
    kprof2perf("akaros.elf", recording_dir, "k.data");
    text =
        recording_shell("perf script -F comm,cpu,ip,sym,dso -i %s 2>&1", recording_path("k.data"));
    assert_int_equal(count(text, " inner ("), 20);
    assert_int_equal(count(text, " outer ("), 20);
    assert_int_equal(count(text, " _start ("), 20);
    assert_int_equal(count(text, "[unknown]"), 0);
    assert_int_equal(count(text, "akaros.elf"), 30);
    assert_int_equal(count(text, "[027]"), 1);
    assert_int_equal(count(text, "No kallsyms"), 0);
    free(text);
    text =
        recording_shell("perf report --header-only --stdio -i %s 2>&1", recording_path("k.data"));
    assert_non_null(strstr(text, "arch : x86_64\n"));
    free(text);
}

static void mkperf_names_akaros(void **state)
{
    char *text;
    int status;

    (void)state;
    text = RUN(report, &status, "--stdio", "-g", "-i", recording_path("k.data"));
    assert_int_equal(status, 0);
    assert_non_null(strstr(text, "[k] inner"));
    assert_non_null(strstr(text, "[.] inner"));
    assert_null(strstr(text, "[unknown]"));
    RUN(convert, &status, "-q", recording_path("k.data"), "-o", recording_path("k.folded"));
    text = recording_shell("cat %s", recording_path("k.folded"));
    assert_non_null(strstr(text, ";_start_[k];outer_[k];inner_[k] 10\n"));
    assert_non_null(strstr(text, ";_start;outer;inner 10\n"));
    free(text);
    text = RUN(annotate, &status, "-i", recording_path("k.data"), "inner");
    assert_int_equal(status, 0);
    assert_non_null(strstr(text, "nop"));
    assert_non_null(strstr(text, "ret"));
}

/* ELFs of another build are errors, with the number of samples that cannot be of them, on the screen and in the
 * file. The ELFs that ran give no error. */
static void plausible(void **state)
{
    char *text;
    int status;

    (void)state;
    text = kprof2perf("akaros.elf", recording_dir, "good.data");
    assert_null(strstr(text, "ERROR"));
    text = RUN(report, &status, "--stdio", "-i", recording_path("good.data"));
    assert_null(strstr(text, "ERROR"));
    free(recording_shell("mkdir %s/root && cp %s %s/root/prog.elf", recording_dir,
                         recording_path("moved.elf"), recording_dir));
    text = kprof2perf("other.elf", recording_path("root"), "bad.data");
    assert_int_equal(count(text, "mkperf kprof2perf: ERROR: "), 2);
    assert_non_null(strstr(text,
                           "ERROR: kernel: 10 of 10 samples cannot be of its ELF (10 where it "
                           "has no code, 10 with a return address that follows no call)"));
    assert_non_null(strstr(text, "10 of 10 samples cannot be of its ELF (0 where it has no code, "
                                 "10 with a return address that follows no call): another program "
                                 "or build ran, or it has no frame pointers"));
    text = RUN(report, &status, "--stdio", "-i", recording_path("bad.data"));
    assert_int_equal(count(text, "# ERROR: "), 2);
    /* A kernel that has code at each pc, and no calls before the callers of the kernel. */
    text = kprof2perf("shifted.elf", recording_dir, "shifted.data");
    assert_int_equal(count(text, "mkperf kprof2perf: ERROR: "), 1);
    assert_non_null(strstr(text,
                           "ERROR: kernel: 10 of 10 samples cannot be of its ELF (0 where it has "
                           "no code, 10 with a return address that follows no call)"));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(perf_names_akaros),
        cmocka_unit_test(mkperf_names_akaros),
        cmocka_unit_test(plausible),
    };

    return cmocka_run_group_tests(tests, setup, recording_teardown);
}
