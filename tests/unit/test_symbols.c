/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The symbolizer on real AArch64 programs, compiled here by gcc and clang.
 *
 * Leaf repair is checked at every instruction of every function against the truth, which this file
 * derives on its own: it executes the function's frame handling along its control flow, branch by
 * branch, and knows at each instruction whether fp is the caller's.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <elf.h>

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "symbols/symbols.h"
#include "symbols/symbols_internal.h"

static char dir[] = "/tmp/mkperf-symbols-XXXXXX";

static const char program[] =
    "volatile int sink;\n"
    "__attribute__((noinline)) int leaf(int a) { return a * 3 + 1; }\n"
    "__attribute__((noinline)) int nonleaf(int a) { return leaf(a) + leaf(a + 1); }\n"
    "__attribute__((noinline)) int shrink(int a) {\n"
    "    int s = 0;\n"
    "    if (a < 0) return -1;\n"
    "    for (int i = 0; i < a; i++) s += leaf(i);\n"
    "    return s;\n"
    "}\n"
    "__attribute__((noinline)) int tail(int a) { sink = nonleaf(a); return leaf(a); }\n"
    "__attribute__((noinline)) int big(int a) {\n"
    "    volatile char b[5000];\n"
    "    b[a] = 1;\n"
    "    sink = nonleaf(a);\n"
    "    return b[a + 1];\n"
    "}\n"
    "__attribute__((noinline)) int va(int a) {\n"
    "    char *p = __builtin_alloca(a);\n"
    "    p[0] = 1;\n"
    "    sink = leaf((int)(long)p);\n"
    "    return p[a - 1];\n"
    "}\n"
    "static inline __attribute__((always_inline)) int inner(int a) {\n"
    "    sink = a;\n"
    "    return a / 7;\n"
    "}\n"
    "static inline __attribute__((always_inline)) int middle(int a) {\n"
    "    return inner(a) + 1;\n"
    "}\n"
    "__attribute__((noinline)) int outer(int a) {\n"
    "    return middle(a) * leaf(a);\n"
    "}\n"
    "int data_is_no_function = 3;\n"
    "void _start(void) {\n"
    "    sink = nonleaf(sink) + shrink(sink) + tail(sink) + big(sink) + va(sink) + outer(sink);\n"
    "}\n";

static const char assembler[] =
    ".text\n.global bare\nbare: add x0, x0, #1\n ret\n"
    ".global framed\n.type framed, %function\nframed: stp x29, x30, [sp, #-16]!\n mov x29, sp\n"
    " bl bare\n cbz x0, 1f\nlabel_inside: bl bare\n1: ldp x29, x30, [sp], #16\n ret\n"
    ".size framed, . - framed\n"
    ".global spoilt\nspoilt: mov x9, x30\n bl bare\n mov x30, x9\n ret\n"
    ".word 0\n";

static char path_buffer[256];

static const char *path(const char *name)
{
    snprintf(path_buffer, sizeof path_buffer, "%s/%s", dir, name);
    return path_buffer;
}

static void write_file(const char *name, const void *p, size_t n)
{
    FILE *f = fopen(path(name), "wb");

    assert_non_null(f);
    assert_int_equal(fwrite(p, 1, n, f), n);
    assert_int_equal(fclose(f), 0);
}

static void build(const char *name, const char *compiler, const char *flags)
{
    char command[1024];

    snprintf(command, sizeof command,
             "cd %s && %s -g -ffreestanding -fno-omit-frame-pointer -fno-stack-protector %s -c "
             "program.c -o %s.o && aarch64-linux-gnu-gcc -c asm.S -o asm.o && "
             "aarch64-linux-gnu-ld --build-id %s.o asm.o -o %s",
             dir, compiler, flags, name, name, name);
    assert_int_equal(system(command), 0);
}

#define GCC "aarch64-linux-gnu-gcc"
#define CLANG "clang --target=aarch64-linux-gnu"

static const struct {
    const char *name, *compiler, *flags;
} builds[] = {
    {"gcc-O0", GCC, "-O0"},
    {"gcc-O2", GCC, "-O2"},
    {"gcc-Os-debug-frame", GCC, "-Os -fno-asynchronous-unwind-tables -fno-unwind-tables"},
    {"gcc-O2-no-cfi", GCC, "-O2 -g0 -fno-asynchronous-unwind-tables -fno-unwind-tables"},
    {"gcc-O2-pac", GCC, "-O2 -mbranch-protection=standard"},
    {"gcc-O3", GCC, "-O3"},
    {"clang-O0", CLANG, "-O0"},
    {"clang-O2", CLANG, "-O2"},
};

static int setup(void **state)
{
    (void)state;
    if (!mkdtemp(dir)) {
        return -1;
    }
    write_file("program.c", program, strlen(program));
    write_file("asm.S", assembler, strlen(assembler));
    for (size_t i = 0; i < sizeof builds / sizeof *builds; i++) {
        build(builds[i].name, builds[i].compiler, builds[i].flags);
    }
    return 0;
}

static int teardown(void **state)
{
    char command[300];

    (void)state;
    snprintf(command, sizeof command, "rm -rf %s", dir);
    return system(command);
}

struct opened {
    struct mkperf_symbols *symbols;
    struct mkperf_module *module;
    struct mkperf_error e;
};

static void open_program(struct opened *o, const char *name)
{
    o->symbols = mkperf_symbols_new();
    assert_non_null(o->symbols);
    assert_int_equal(mkperf_symbols_module(o->symbols, path(name), &o->module, &o->e), MKPERF_OK);
}

/* One line of objdump -d: address, mnemonic and operands. */
struct instruction {
    uint64_t addr;
    char text[100];
    int state; /* bit 0: fp is the caller's; bit 1: fp is its own */
};

enum { MAX = 4096, CALLERS = 1, OWN = 2 };

static size_t disassemble(const char *name, struct instruction *insn)
{
    char command[400], line[400];
    size_t n = 0;
    FILE *p;

    snprintf(command, sizeof command, "aarch64-linux-gnu-objdump -d --no-show-raw-insn %s",
             path(name));
    p = popen(command, "r");
    assert_non_null(p);
    while (fgets(line, sizeof line, p) && n < MAX) {
        char *colon = strchr(line, ':');

        if (line[0] == ' ' && colon && colon[1] == '\t') {
            insn[n].addr = strtoull(line, NULL, 16);
            insn[n].state = 0;
            snprintf(insn[n].text, sizeof insn[n].text, "%s", colon + 2);
            n++;
        }
    }
    pclose(p);
    return n;
}

static bool starts(const char *text, const char *with)
{
    return strncmp(text, with, strlen(with)) == 0;
}

/* Runs from instruction i in `state`, into every branch. */
static void execute(struct instruction *insn, size_t n, size_t i, int state, uint64_t start,
                    uint64_t end)
{
    while (i < n && insn[i].addr >= start && insn[i].addr < end && !(insn[i].state & state)) {
        const char *t = insn[i].text;
        bool jump = starts(t, "b\t"),
             conditional = starts(t, "b.") || starts(t, "cb") || starts(t, "tb");

        insn[i].state |= state;
        if (starts(t, "mov\tx29, sp") || starts(t, "add\tx29, sp")) {
            state = OWN;
        } else if (starts(t, "ldp\tx29, x30")) {
            state = CALLERS;
        }
        if (jump || conditional) {
            const char *comma = strrchr(t, ',');
            const char *to = comma ? comma + 1 : t + 2;
            uint64_t target = strtoull(to, NULL, 16);

            if (target >= start && target < end) {
                execute(insn, n, i + (size_t)((int64_t)(target - insn[i].addr) / 4), state, start,
                        end);
            }
        }
        if (jump || starts(t, "ret") || starts(t, "br\t")) {
            return;
        }
        i++;
    }
}

static void check_every_instruction(const char *name)
{
    static struct instruction insn[MAX];
    struct opened o;
    size_t n = disassemble(name, insn), checked = 0, no = 0;

    open_program(&o, name);
    assert_true(n > 80);
    for (size_t i = 0; i < n; i++) {
        struct mkperf_symbol s;

        if (mkperf_symbol_at(o.module, insn[i].addr, &s) && s.start == insn[i].addr) {
            execute(insn, n, i, CALLERS, s.start, s.start + s.size);
        }
    }
    for (size_t i = 0; i < n; i++) {
        enum mkperf_lr want = insn[i].state == CALLERS ? MKPERF_LR_YES : MKPERF_LR_NO, got;
        struct mkperf_symbol s;

        if (!mkperf_symbol_at(o.module, insn[i].addr, &s) || strcmp(s.name, "spoilt") == 0 ||
            insn[i].state == 0) {
            continue;
        }
        got = mkperf_lr_is_caller(o.module, insn[i].addr);
        if (got != want) {
            print_error("%s %s+0x%x: %d, wanted %d: %s", name, s.name,
                        (unsigned)(insn[i].addr - s.start), got, want, insn[i].text);
        }
        assert_int_equal(got, want);
        /* the second answer is from the cache */
        assert_int_equal(mkperf_lr_is_caller(o.module, insn[i].addr), want);
        checked++;
        no += want == MKPERF_LR_NO;
    }
    print_message("%s: %zu instructions, %zu with a frame\n", name, checked, no);
    assert_true(checked > 80 && no > 20);
    mkperf_symbols_free(o.symbols);
}

static void test_leaf_repair(void **state)
{
    (void)state;
    for (size_t i = 0; i < sizeof builds / sizeof *builds; i++) {
        check_every_instruction(builds[i].name);
    }
}

/* A function that keeps its return address in another register: no caller after the call. */
static void test_undecidable(void **state)
{
    struct opened o;
    struct mkperf_symbol s = {.name = NULL};
    uint64_t addr = 0;

    (void)state;
    open_program(&o, "gcc-O2");
    for (addr = 0x400000; addr < 0x410000; addr += 4) {
        if (mkperf_symbol_at(o.module, addr, &s) && strcmp(s.name, "spoilt") == 0) {
            break;
        }
    }
    assert_string_equal(s.name, "spoilt");
    assert_int_equal(mkperf_lr_is_caller(o.module, addr), MKPERF_LR_YES);
    assert_int_equal(mkperf_lr_is_caller(o.module, addr + 4), MKPERF_LR_YES);
    assert_int_equal(mkperf_lr_is_caller(o.module, addr + 8), MKPERF_LR_UNKNOWN);
    assert_int_equal(mkperf_lr_is_caller(o.module, 0x10), MKPERF_LR_UNKNOWN);
    assert_int_equal(mkperf_lr_is_caller(o.module, UINT64_MAX), MKPERF_LR_UNKNOWN);
    mkperf_symbols_free(o.symbols);
}

/* Every function of nm, at its first and last byte; labels and data are not functions. */
static void test_functions(void **state)
{
    struct opened o;
    char command[400], name[100], kind;
    unsigned long start, size, n = 0;
    struct mkperf_symbol s;
    FILE *p;

    (void)state;
    open_program(&o, "gcc-O2");
    snprintf(command, sizeof command, "aarch64-linux-gnu-nm -S %s | grep -i ' t ' | awk NF==4",
             path("gcc-O2"));
    p = popen(command, "r");
    assert_non_null(p);
    while (fscanf(p, "%lx %lx %c %99s", &start, &size, &kind, name) == 4) {
        assert_true(mkperf_symbol_at(o.module, start, &s));
        assert_string_equal(s.name, name);
        assert_true(mkperf_symbol_at(o.module, start + size - 1, &s));
        assert_string_equal(s.name, name);
        assert_int_equal(s.start, start);
        assert_int_equal(s.size, size);
        n++;
    }
    pclose(p);
    assert_true(n >= 8);
    assert_false(mkperf_symbol_at(o.module, 0, &s));
    assert_null(s.name);
    assert_false(mkperf_symbol_at(o.module, UINT64_MAX, &s));
    for (uint64_t a = 0x400000; a < 0x430000; a += 4) {
        if (mkperf_symbol_at(o.module, a, &s)) {
            assert_string_not_equal(s.name, "label_inside");
            assert_string_not_equal(s.name, "data_is_no_function");
        }
    }
    mkperf_symbols_free(o.symbols);
}

static void test_lines(void **state)
{
    struct opened o;
    struct mkperf_line line[8];
    struct mkperf_symbol s;
    size_t deepest = 0, n;

    (void)state;
    open_program(&o, "gcc-O2");
    for (uint64_t a = 0x400000; a < 0x410000; a += 4) {
        if (!mkperf_symbol_at(o.module, a, &s)) {
            continue;
        }
        n = mkperf_lines_at(o.module, a, line, 8);
        if (strcmp(s.name, "leaf") == 0) {
            assert_int_equal(n, 1);
            assert_string_equal(line[0].function, "leaf");
            assert_int_equal(line[0].line, 2);
            assert_non_null(strstr(line[0].file, "program.c"));
        } else if (strcmp(s.name, "bare") == 0) {
            assert_true(n == 0 || strcmp(line[0].function, "bare") == 0);
        } else if (strcmp(s.name, "outer") == 0 && n > deepest) {
            deepest = n;
            if (n == 3) {
                assert_string_equal(line[0].function, "inner");
                assert_string_equal(line[1].function, "middle");
                assert_int_equal(line[1].line, 28);
                assert_string_equal(line[2].function, "outer");
                assert_int_equal(line[2].line, 31);
                assert_int_equal(mkperf_lines_at(o.module, a, line, 2), 2);
            }
        }
    }
    assert_int_equal(deepest, 3);
    assert_int_equal(mkperf_lines_at(o.module, 0x10, line, 8), 0);
    mkperf_symbols_free(o.symbols);
}

static void test_module(void **state)
{
    struct opened o;
    struct mkperf_module *again;
    size_t n;

    (void)state;
    open_program(&o, "gcc-O0");
    assert_int_equal(mkperf_module_machine(o.module), 183);
    assert_string_equal(mkperf_module_path(o.module), path("gcc-O0"));
    assert_int_equal(mkperf_module_build_id(o.module)->n, 20);
    assert_int_equal(mkperf_module_segments(o.module, &n)[0].vaddr, 0x400000);
    assert_int_equal(n, 1);
    assert_int_equal(mkperf_symbols_module(o.symbols, path("./gcc-O0"), &again, &o.e), MKPERF_OK);
    assert_ptr_equal(again, o.module);
    mkperf_symbols_free(o.symbols);
}

static void expect_error(const char *file, const char *why)
{
    struct mkperf_symbols *s = mkperf_symbols_new();
    struct mkperf_module *m;
    struct mkperf_error e;

    assert_int_equal(mkperf_symbols_module(s, file, &m, &e), MKPERF_ERR_INPUT);
    assert_null(m);
    assert_non_null(strstr(e.text, file));
    if (!strstr(e.text, why)) {
        print_error("'%s' lacks '%s'\n", e.text, why);
    }
    assert_non_null(strstr(e.text, why));
    mkperf_symbols_free(s);
}

static void test_errors(void **state)
{
    static uint8_t elf[1 << 20];
    FILE *f = fopen(path("gcc-O2"), "rb");
    size_t n;

    (void)state;
    assert_non_null(f);
    n = fread(elf, 1, sizeof elf, f);
    fclose(f);
    for (size_t cut = 64; cut < n; cut += 97) {
        write_file("cut", elf, cut);
        expect_error(path("cut"), "cut short");
    }
    write_file("cut", elf, 40);
    expect_error(path("cut"), "cut short in its header");
    write_file("cut", "x", 1);
    expect_error(path("cut"), "too short");
    write_file("cut", "this is a text, not a program", 29);
    expect_error(path("cut"), "not an ELF");
    expect_error(path("missing"), "No such file");
    expect_error(dir, "not a regular file");
    elf[offsetof(Elf64_Ehdr, e_machine)] = EM_386;
    write_file("cut", elf, n);
    expect_error(path("cut"), "neither AArch64 nor RISC-V nor x86-64");
    expect_error(path("gcc-O2.o"), "not a linked program");
}

/* A copy of /proc/kallsyms: only code has names, and a function extends to the next one. */
static void test_kallsyms(void **state)
{
    static const char text[] = "ffff800080000000 T _text\nffff800080010000 t helper\n"
                               "ffff800080010000 T do_work\nffff800080010040 t next\t[module]\n"
                               "ffff800080020000 D variable\nffff800080000000 t $x.1\n"
                               "ffff8000800300";
    static const char hidden[] = "0000000000000000 T _text\n0000000000000000 T do_work\n";
    struct mkperf_symbols *s = mkperf_symbols_new();
    struct mkperf_symbol found;
    struct mkperf_module *m;
    struct mkperf_error e;

    (void)state;
    write_file("kallsyms", text, sizeof text - 1);
    assert_int_equal(mkperf_symbols_module(s, path("kallsyms"), &m, &e), MKPERF_OK);
    assert_true(mkperf_symbol_at(m, UINT64_C(0xffff80008001003f), &found));
    assert_string_equal(found.name, "do_work");
    assert_int_equal(found.size, 0x40);
    assert_true(mkperf_symbol_at(m, UINT64_C(0xffff800080010040), &found));
    assert_string_equal(found.name, "next");
    assert_false(mkperf_symbol_at(m, UINT64_C(0xffff800080030000), &found));
    assert_false(mkperf_symbol_at(m, 0x1000, &found));
    assert_false(mkperf_module_is_code(m, UINT64_C(0xffff800080010040)));
    mkperf_symbols_free(s);
    write_file("kallsyms", hidden, sizeof hidden - 1);
    expect_error(path("kallsyms"), "not an ELF");
}

/* Names of C++ and of both of Rust's schemes. What is no mangled name is shown as it is, and so is a name that a demangler
 * would never finish: each of its 40 types is a pair of the one before. */
static void test_demangling(void **state)
{
    static const char *const NAMES[][2] = {
        {"_ZN3foo3barEi", "foo::bar(int)"},
        {"_ZN4core5slice4sort7recurse17h69bacf8545b1e7f8E.llvm.431668693015428786",
         "core::slice::sort::recurse"},
        {"_ZN50_$LT$$RF$mut$u20$W$u20$as$u20$core..fmt..Write$GT$10write_char17h2d1d135ad9706d5cE",
         "<&mut W as core::fmt::Write>::write_char"},
        {"_RNvMsa_NtCscSuVdRmqwCT_4core3fmtNtB5_9Formatter12pad_integral",
         "<core::fmt::Formatter>::pad_integral"},
        {"_Zebra", "_Zebra"},
        {"_Reset", "_Reset"},
        {"init", "init"},
    };
    static const char ENDLESS[] =
        "_RIC1aTmmETB3_B3_ETB7_B7_ETBf_Bf_ETBn_Bn_ETBv_Bv_ETBD_BD_ETBL_BL_ETBT_BT_ETB11_B"
        "11_ETB19_B19_ETB1j_B1j_ETB1t_B1t_ETB1D_B1D_ETB1N_B1N_ETB1X_B1X_ETB27_B27_ETB2h_B"
        "2h_ETB2r_B2r_ETB2B_B2B_ETB2L_B2L_ETB2V_B2V_ETB35_B35_ETB3f_B3f_ETB3p_B3p_ETB3z_B"
        "3z_ETB3J_B3J_ETB3T_B3T_ETB43_B43_ETB4d_B4d_ETB4n_B4n_ETB4x_B4x_ETB4H_B4H_ETB4R_B"
        "4R_ETB51_B51_ETB5b_B5b_ETB5l_B5l_ETB5v_B5v_ETB5F_B5F_ETB5P_B5P_ETB5Z_B5Z_EE";
    void *names = NULL;

    (void)state;
    for (size_t i = 0; i < sizeof NAMES / sizeof NAMES[0]; i++) {
        assert_string_equal(mkperf_demangle(&names, NAMES[i][0]), NAMES[i][1]);
    }
    assert_string_equal(mkperf_demangle(&names, ENDLESS), ENDLESS);
    mkperf_names_free(names);
}

/* Encodings by the GNU assembler, for Armv8.3. */
static void test_calls(void **state)
{
    static const uint32_t calls[] = {
        0x94000000, 0xd63f0000, 0xd63f081f, /* bl, blr x0, blraaz x0 */
        0xd63f0c7f, 0xd73f0801, 0xd73f0cbf, /* blrabz x3, blraa x0, x1, blrab x5, sp */
    };
    static const uint32_t others[] = {
        0x14000000, 0xd61f0000, 0xd71f0801, /* b, br x0, braa x0, x1 */
        0xd65f03c0, 0xd65f0bff, 0xd69f03e0, /* ret, retaa, eret */
    };

    (void)state;
    for (size_t i = 0; i < sizeof calls / sizeof *calls; i++) {
        assert_true(mkperf_is_call(calls[i]));
        assert_false(mkperf_is_call(others[i]));
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_module),      cmocka_unit_test(test_functions),
        cmocka_unit_test(test_lines),       cmocka_unit_test(test_leaf_repair),
        cmocka_unit_test(test_undecidable), cmocka_unit_test(test_errors),
        cmocka_unit_test(test_kallsyms),    cmocka_unit_test(test_demangling),
        cmocka_unit_test(test_calls),
    };

    return cmocka_run_group_tests(tests, setup, teardown);
}
