/* SPDX-License-Identifier: BSD-2-Clause */
/* mkperf annotate against perf annotate, and the disassembly against objdump. */
#include "annotate/annotate.h"
#include "recording.h"

#include <sys/stat.h>

static const char shares[] = "grep -E '^ +[0-9]+\\.[0-9]+ +:' | awk '{print $1}'";

static void agrees(const char *symbol, const char *event)
{
    int status;
    char *a, *b;

    RUN(annotate, &status, "-i", recording_path("perf.data"), "-e", event, symbol);
    assert_int_equal(status, 0);
    a = recording_shell("cat %s | %s", recording_path("out"), shares);
    b = recording_shell("perf annotate --stdio -i %s -s %s 2>/dev/null | "
                        "awk '/Percent.*for/ {on = index($0, \"for %s\") > 0} on' | %s",
                        recording_path("perf.data"), symbol, event, shares);
    assert_true(strlen(b) > 10);
    assert_string_equal(a, b);
    free(a);
    free(b);
}

static void test_equals_perf(void **state)
{
    (void)state;
    agrees("alpha", "cycles");
    agrees("beta", "cycles");
    agrees("gamma_", "instructions");
}

/* The kernel's functions are counted for the PD that entered it. */
static void test_kernel(void **state)
{
    char *text;
    int status;

    (void)state;
    text = RUN(annotate, &status, "-i", recording_path("perf.data"), "handleSyscall");
    assert_int_equal(status, 0);
    assert_non_null(strstr(text, "# handleSyscall in kernel.elf: 40 samples of event 'cycles'"));
    assert_non_null(strstr(text, "  100.00 : "));
    text = RUN(annotate, &status, "-i", recording_path("perf.data"), "handleSyscall", "--pd",
               "server");
    assert_int_equal(status, MKPERF_ERR_USAGE);
    assert_non_null(strstr(text, "no sample hit a function handleSyscall in PD server"));
}

/* Every instruction of gamma_ is there, with its source line and the targets of its calls. */
static void test_code(void **state)
{
    char *text, *count;
    int status;

    (void)state;
    text = RUN(annotate, &status, "-i", recording_path("perf.data"), "gamma_");
    assert_int_equal(status, 0);
    assert_non_null(strstr(text, "one.c:4  __attribute__((noinline)) int gamma_(int a)"));
    assert_non_null(strstr(text, "<beta>"));
    assert_non_null(strstr(text, "<gamma_>"));
    count = recording_shell("aarch64-linux-gnu-objdump -d --disassemble=gamma_ %s | "
                            "grep -cE '^ +[0-9a-f]+:' ; grep -cE '^ +[0-9.]+ : ' %s",
                            recording_path("one.elf"), recording_path("out"));
    assert_int_equal(strtoul(count, NULL, 10), strtoul(strchr(count, '\n'), NULL, 10));
    free(count);
    text = RUN(annotate, &status, "-i", recording_path("perf.data"), "gamma_", "--no-source");
    assert_null(strstr(text, "one.c"));
}

/* Returns the instructions of a function: a line with the address, the bytes and the text of each. */
static char *listing(const char *elf, const char *function, const char *objdump, char *problem)
{
    struct mkperf_symbols *symbols = mkperf_symbols_new();
    struct mkperf_module *module;
    struct mkperf_symbol symbol;
    struct mkperf_error e;
    struct annotate_code code;
    struct annotate_insn insn;
    char *text;
    size_t n;
    FILE *out = mkperf_memstream_open(&text, &n);

    assert_int_equal(mkperf_symbols_module(symbols, recording_path(elf), &module, &e), MKPERF_OK);
    assert_true(mkperf_symbol_at(module, recording_address(elf, function), &symbol));
    assert_int_equal(annotate_code_open(&code, module, symbol.start, symbol.size, objdump, &e),
                     MKPERF_OK);
    while (annotate_code_next(&code, &insn)) {
        fprintf(out, "%" PRIx64 " %zu %s\n", insn.addr, insn.size, insn.text);
    }
    assert_int_equal(code.addr, symbol.start + symbol.size);
    strcpy(problem, code.problem);
    annotate_code_close(&code);
    mkperf_symbols_free(symbols);
    mkperf_memstream_close(out);
    return text;
}

/* RISC-V's instructions of two and of four bytes are objdump's, also of an extension that only the ELF names. */
static void test_riscv(void **state)
{
    char problem[160], *text, *want;

    (void)state;
    free(recording_shell(
        "echo 'int f(int a) { return a; } "
        "__attribute__((noinline)) void g(long *a) { asm volatile(\"andn a0, a1, a2\"); *a *= 3; } "
        "void _start(long *a) { for (;;) g(a); }' | "
        "riscv64-linux-gnu-gcc -march=rv64gc_zbb -xc - -O1 -nostdlib -static -o %s",
        recording_path("riscv.elf")));
    for (unsigned i = 0; i < 2; i++) {
        const char *function = i == 0 ? "g" : "_start";
        text = listing("riscv.elf", function, NULL, problem);
        want =
            recording_shell("riscv64-linux-gnu-objdump -d --disassemble=%s %s | awk -F'\\t' "
                            "'/^ +[0-9a-f]+:/ { gsub(/[ :]/, \"\", $1); gsub(/ /, \"\", $2); "
                            "printf $4 == \"\" ? \"%%s %%d %%s%%s\\n\" : \"%%s %%d %%-7s %%s\\n\", "
                            "$1, length($2) / 2, $3, $4 }'",
                            function, recording_path("riscv.elf"));
        assert_string_equal(text, want);
        assert_non_null(strstr(text, i == 0 ? " 4 andn    a0,a1,a2\n" : " <g>\n"));
        assert_string_equal(problem, "");
        free(text);
        free(want);
    }
}

/* An ELF's names cannot reach the terminal as they are, nor can what a program prints that is no objdump. */
static void test_untrusted(void **state)
{
    char problem[160], *text;

    (void)state;
    recording_compile("evil",
                      "__attribute__((noinline)) void evileve(void) { asm(\"\"); } "
                      "void _start(void) { evileve(); evileve(); }",
                      "");
    free(
        recording_shell("LC_ALL=C sed -i 's/evileve/ev\\x1b[31m/' %s", recording_path("evil.elf")));
    text = listing("evil.elf", "_start", NULL, problem);
    assert_non_null(strstr(text, "bl      "));
    assert_non_null(strstr(text, "ev"));
    assert_null(strchr(text, '\033'));
    free(text);
    FILE *script = fopen(recording_path("my $(objdump)"), "w");
    fputs("#!/bin/sh\nprintf '%s:\\t\\033[31mnop\\tx\\n' 0 ${3#*0x} ffffffffffffffff\n", script);
    assert_int_equal(fclose(script) + chmod(recording_path("my $(objdump)"), 0755), 0);
    text = listing("one.elf", "gamma_", recording_path("my $(objdump)"), problem);
    assert_non_null(strstr(text, " 4 ?[31mnop x\n"));
    assert_non_null(strstr(text, " 4 .word   0x"));
    assert_string_equal(problem, "");
    free(text);
}

/* Without an objdump the instructions are words, and the listing says so. One that the user names must exist. */
static void test_no_objdump(void **state)
{
    char *text;
    int status;

    (void)state;
    text = RUN(annotate, &status, "-i", recording_path("perf.data"), "gamma_", "--objdump=false");
    assert_int_equal(status, 0);
    assert_non_null(strstr(text, "# false prints no instructions of this ELF: words"));
    assert_non_null(strstr(text, ":  .word   0x"));
    text =
        RUN(annotate, &status, "-i", recording_path("perf.data"), "gamma_", "--objdump=/no such");
    assert_int_equal(status, MKPERF_ERR_INPUT);
    assert_non_null(strstr(text, "--objdump=/no such: No such file or directory"));
    char *path = strdup(getenv("PATH"));
    setenv("PATH", "/nothing", 1);
    text = RUN(annotate, &status, "-i", recording_path("perf.data"), "gamma_");
    setenv("PATH", path, 1);
    free(path);
    assert_int_equal(status, 0);
    assert_non_null(strstr(text, "# no aarch64-linux-gnu-objdump is installed"));
    assert_non_null(strstr(text, ":  .word   0x"));
}

static void test_all(void **state)
{
    char *text;
    int status;

    (void)state;
    text = RUN(annotate, &status, "-i", recording_path("perf.data"), "-e", "cycles");
    assert_int_equal(status, 0);
    assert_non_null(strstr(text, "# alpha in one.elf"));
    assert_non_null(strstr(text, "# idle_thread in kernel.elf"));
    /* the function with more samples is first */
    assert_true(strstr(text, "# alpha") < strstr(text, "# idle_thread"));
    text = RUN(annotate, &status, "-i", recording_path("perf.data"), "alpha", "--pd", "client one");
    assert_non_null(strstr(text, "PD client one only"));
}

/* A CPU that executes out of order is named, also with its revision; others are not. */
static void test_skid(void **state)
{
    static const struct {
        const char *cpu, *warned; /* NULL: it is not */
    } cases[] = {
        {"cortex-a53", NULL},
        {"Cortex-A35", NULL},
        {"Cortex-A55 r2p0", NULL},
        {"Cortex-A710", NULL},
        {"", NULL},
        {"cortex-a57", "Cortex-A57"},
        {"Cortex-A72 r0p3", "Cortex-A72"},
        {"Cortex-A76", "Cortex-A76"},
        {"Neoverse-N1", "Neoverse-N1"},
    };

    (void)state;
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        char want[128];
        int status;
        recording_cpu = cases[i].cpu;
        recording_make("skid.data", 4, 0);
        char *text = RUN(annotate, &status, "-i", recording_path("skid.data"), "gamma_");
        assert_int_equal(status, 0);
        if (cases[i].warned == NULL) {
            assert_null(strstr(text, "out of order"));
        } else {
            snprintf(want, sizeof want, "mkperf annotate: warning: %s executes out of order",
                     cases[i].warned);
            assert_non_null(strstr(text, want));
        }
    }
    recording_cpu = "cortex-a53";
}

static void test_bad_input(void **state)
{
    char *text;
    int status;

    (void)state;
    text = RUN(annotate, &status, "-i", recording_path("perf.data"), "nothing");
    assert_int_equal(status, MKPERF_ERR_USAGE);
    assert_non_null(strstr(text, "no sample hit a function nothing"));
    RUN(annotate, &status, "-i", recording_path("perf.data"), "alpha", "beta");
    assert_int_equal(status, MKPERF_ERR_USAGE);
    RUN(annotate, &status, "-i", recording_path("perf.data"), "--percent-limit", "101");
    assert_int_equal(status, MKPERF_ERR_USAGE);
    RUN(annotate, &status, "-i", recording_cut("perf.data", 100));
    assert_int_equal(status, MKPERF_ERR_INPUT);
}

static int setup(void **state)
{
    recording_setup(state);
    recording_make("perf.data", 40, 0);
    return 0;
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_equals_perf), cmocka_unit_test(test_kernel),
        cmocka_unit_test(test_code),        cmocka_unit_test(test_all),
        cmocka_unit_test(test_riscv),       cmocka_unit_test(test_untrusted),
        cmocka_unit_test(test_no_objdump),  cmocka_unit_test(test_skid),
        cmocka_unit_test(test_bad_input),
    };

    return cmocka_run_group_tests(tests, setup, recording_teardown);
}
