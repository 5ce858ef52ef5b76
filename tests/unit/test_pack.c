/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * pocket-pack: the layout of the image, and refusals with their exact messages.
 *
 * The packer is a program, so its sources are included here. The whole runs use the ELFs of
 * pocket's selftest, which `make target` has left in $B.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>
#include <sys/stat.h>

int pack_main(int argc, char **argv);
#define main pack_main
#include "platform/pocket/pack/main.c"
#undef main
#include "platform/pocket/pack/architectures.c"
#include "platform/pocket/pack/build.c"
#include "platform/pocket/pack/layout.c"
#include "platform/pocket/pack/program.c"
#include "platform/pocket/pack/tables.c"
#include "platform/pocket/pack/write.c"

/* Of AArch64's machine. */
#define IMAGE (POCKET_AARCH64_RAM + POCKET_IMAGE_OFFSET)

static char directory[] = "/tmp/test_pack.XXXXXX";
static const char *build;

static void layout(void **state)
{
    struct packer p = {.machine = machine_of(EM_AARCH64)};
    uint64_t at;

    (void)state;
    assert_true(layout_place(&p, IMAGE, 0x1234, NULL));
    assert_false(layout_place(&p, IMAGE + 0x1000, PAGE, NULL));
    assert_true(layout_place(&p, IMAGE + 0x3000, PAGE, NULL));
    assert_true(layout_allocate(&p, PAGE, PAGE, NULL, &at));
    assert_int_equal(at, IMAGE + 0x2000); /* the hole between the two */
    assert_true(layout_allocate(&p, PAGE, PAGE, NULL, &at));
    assert_int_equal(at, IMAGE + 0x4000);
    assert_true(layout_allocate(&p, BLOCK, BLOCK, NULL, &at));
    assert_int_equal(at, IMAGE + BLOCK);
    assert_false(layout_allocate(&p, POCKET_RAM_BYTES, PAGE, NULL, &at));
    assert_false(layout_allocate(&p, UINT64_MAX - PAGE + 1, PAGE, NULL, &at));
    for (unsigned i = 1; i < p.layout.n; i++) {
        const struct chunk *c = p.layout.chunk;
        assert_true(c[i - 1].at + c[i - 1].size <= c[i].at);
    }
    layout_free(&p.layout);
}

static uint64_t word_at(const struct packer *p, uint64_t table, uint64_t index)
{
    const uint64_t *words = (const uint64_t *)(void *)layout_bytes(&p->layout, table);

    return words[index];
}

/* Entries as the Arm ARM has them: a page and a block, rights, memory kind. */
static void tables(void **state)
{
    struct mkperf_error e;
    struct packer p = {.machine = machine_of(EM_AARCH64), .e = &e, .system_path = "t"};
    struct mapping code = {0x200000, 0x41000000, PAGE, PAGE, false, true, true, "code", 1};
    struct mapping data = {0x10000000, 0x42000000, BLOCK, BLOCK, true, false, true, "data", 2};
    struct mapping uart = {0x201000, 0x09000000, PAGE, PAGE, true, false, true, "uart", 3};
    struct mapping high = {
        POCKET_AARCH64_TOP, 0x41000000, PAGE, PAGE, true, false, true, "high", 4};
    uint64_t top = 0;

    (void)state;
    assert_true(tables_new(&p, &top));
    assert_true(tables_map(&p, top, &code) && tables_map(&p, top, &data) &&
                tables_map(&p, top, &uart));
    uint64_t l2 = word_at(&p, top, 0) & ARM_ADDRESS;
    uint64_t l3 = word_at(&p, l2, 1) & ARM_ADDRESS;
    assert_int_equal(word_at(&p, l3, 0), UINT64_C(0x0020000041000fc7));
    assert_int_equal(word_at(&p, l3, 1), UINT64_C(0x0060000009000f43));
    assert_int_equal(word_at(&p, l2, 128), UINT64_C(0x0060000042000f45));
    assert_false(tables_map(&p, top, &code));
    assert_string_equal(e.text, "t:1: code at 0x200000 overlaps something else in the PD");
    data.page_size = PAGE; /* pages where the block is */
    assert_false(tables_map(&p, top, &data));
    assert_false(tables_map(&p, top, &high));
    assert_string_equal(e.text, "t:4: high: pocket's address space ends at 0x8000000000");
    layout_free(&p.layout);
}

/* The same for Sv39: entries point with bits 10 and up, and every page can be read. */
static void riscv_tables(void **state)
{
    struct mkperf_error e;
    struct packer p = {.machine = machine_of(EM_RISCV), .e = &e, .system_path = "t"};
    struct mapping code = {0x200000, 0x81000000, PAGE, PAGE, false, true, true, "code", 1};
    struct mapping data = {0x10000000, 0x82000000, BLOCK, BLOCK, true, false, true, "data", 2};
    struct mapping high = {
        POCKET_RISCV64_TOP, 0x81000000, PAGE, PAGE, true, false, true, "high", 4};
    uint64_t top = 0;
    uint64_t l2 = 0;
    uint64_t l3 = 0;

    (void)state;
    assert_true(tables_new(&p, &top));
    assert_true(tables_map(&p, top, &code) && tables_map(&p, top, &data));
    assert_true(riscv_table(word_at(&p, top, 0), &l2) && riscv_table(word_at(&p, l2, 1), &l3));
    assert_int_equal(word_at(&p, l3, 0), UINT64_C(0x204000db));
    assert_int_equal(word_at(&p, l2, 128), UINT64_C(0x208000d7));
    data.page_size = PAGE; /* pages where the block is */
    assert_false(tables_map(&p, top, &data));
    assert_false(tables_map(&p, top, &high));
    assert_string_equal(e.text, "t:4: high: pocket's address space ends at 0x4000000000");
    layout_free(&p.layout);
}

static char *inside(const char *name)
{
    static char paths[4][256];
    static unsigned next;
    char *path = paths[next++ % 4];

    snprintf(path, sizeof paths[0], "%s/%s", directory, name);
    return path;
}

/* Runs the packer on a system with this body; leaves its message in `message`. */
static int run(const char *body, const char *kernel, char *message, size_t n)
{
    char elfs[256];
    char *system = inside("t.system");
    const char *argv[] = {"pocket-pack", system, "--elf-path",    elfs, "--kernel",
                          kernel,        "-o",   inside("image"), NULL};
    FILE *f = fopen(system, "w");
    int saved = dup(2);
    int status;

    snprintf(elfs, sizeof elfs, "%s/pocket/selftest", build);
    fprintf(f, "<system>%s</system>", body);
    fclose(f);
    assert_non_null(freopen(inside("stderr"), "w", stderr));
    optind = 1;
    status = pack_main(8, (char **)(uintptr_t)argv);
    fflush(stderr);
    dup2(saved, 2);
    close(saved);
    f = fopen(inside("stderr"), "r");
    message[fread(message, 1, n - 1, f)] = '\0';
    fclose(f);
    return status;
}

static char *kernel_path(void)
{
    static char path[256];

    snprintf(path, sizeof path, "%s/demo/kernel.elf", build);
    return path;
}

/* `part` must stand in the message, which begins with the system's name and this line. */
static void refused(const char *body, const char *part)
{
    char message[2048];
    char start[300];

    assert_int_equal(run(body, kernel_path(), message, sizeof message), MKPERF_ERR_INPUT);
    snprintf(start, sizeof start, "pocket-pack: %s:1: ", inside("t.system"));
    if (strncmp(message, start, strlen(start)) != 0 || strstr(message, part) == NULL) {
        fail_msg("%s", message);
    }
    assert_int_not_equal(access(inside("image"), F_OK), 0);
    assert_int_not_equal(access(inside("image.partial"), F_OK), 0);
}

#define PD(attributes, program, items)                                                     \
    "<protection_domain name='a' " attributes "><program_image path='" program "'/>" items \
    "</protection_domain>"
#define REGION(attributes) "<memory_region name='m' " attributes "/>"
#define MAP(attributes) "<map mr='m' " attributes "/>"

static void refusals(void **state)
{
    (void)state;
    refused(PD("smc='true'", "server.elf", ""), "does not support secure monitor calls");
    refused(PD("cpu='4'", "server.elf", ""), "has at most 4 cores");
    refused(PD("", "server.elf", "<virtual_machine name='v'><vcpu id='0'/></virtual_machine>"),
            "does not support virtual machines");
    refused(PD("", "server.elf", "<cspace><cap_sc slot='1' pd='a'/></cspace>"),
            "does not support capabilities but cap_tcb");
    refused(PD("", "none.elf", ""), "none.elf: No such file or directory");
    refused(PD("", "selftest.img", ""), "selftest.img has");
    refused(PD("", "../../pocket-pack", ""), "is not for the kernel's architecture");
    refused(PD("", "../../../Makefile", ""), "is not an ELF file");
    refused(PD("", "server.elf", "<irq irq='30' id='1'/>"), "irq 30: pocket can give out");
    refused(REGION("size='0x1000'") PD("", "server.elf", MAP("vaddr='0x200000'")),
            "m at 0x200000 overlaps something else");
    refused(REGION("size='0x1000'")
                PD("", "server.elf", MAP("vaddr='0x4000000' setvar_vaddr='nosuch'")),
            "server.elf has no 8-byte symbol 'nosuch' to set");
    refused(REGION("size='0x1000'") PD("", "server.elf", MAP("vaddr='0x8000000000'")),
            "pocket's address space ends at");
    refused(REGION("size='0x10000000'") PD("", "server.elf", MAP("vaddr='0x4000000'")),
            "memory_region 'm' does not fit into RAM (256 MiB)");
    refused(REGION("size='0x1000' phys_addr='0x40200000'")
                PD("", "server.elf", MAP("vaddr='0x4000000'")),
            "memory_region 'm' collides with pocket's own memory");
    refused(REGION("size='0x1000' phys_addr='0x40600000'")
                PD("", "server.elf", MAP("vaddr='0x4000000'")),
            "memory_region 'm' collides with pocket's image header");
}

static void other_failures(void **state)
{
    char message[2048];

    (void)state;
    assert_int_equal(run(PD("", "server.elf", ""), "/nonexistent", message, sizeof message),
                     MKPERF_ERR_INPUT);
    assert_non_null(strstr(message, "/nonexistent: No such file or directory"));
    assert_int_equal(mkdir(inside("image"), 0700), 0);
    assert_int_equal(run(PD("", "server.elf", ""), kernel_path(), message, sizeof message),
                     MKPERF_ERR_OUTPUT);
    assert_int_not_equal(access(inside("image.partial"), F_OK), 0);
    rmdir(inside("image"));
}

static void image(void **state)
{
    char message[2048];
    unsigned char start[20];
    FILE *f;

    (void)state;
    assert_int_equal(run(PD("", "server.elf", ""), kernel_path(), message, sizeof message), 0);
    assert_string_equal(message, "");
    f = fopen(inside("image"), "rb");
    assert_non_null(f);
    assert_int_equal(fread(start, 1, sizeof start, f), sizeof start);
    assert_memory_equal(start, "\177ELF\2\1\1", 7);
    fclose(f);
}

static int set_up(void **state)
{
    (void)state;
    build = getenv("B") != NULL ? getenv("B") : "build";
    return mkdtemp(directory) == NULL;
}

static int tear_down(void **state)
{
    static const char *const names[] = {"image", "t.system", "stderr"};

    (void)state;
    for (unsigned i = 0; i < sizeof names / sizeof *names; i++) {
        unlink(inside(names[i]));
    }
    return rmdir(directory);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(layout),         cmocka_unit_test(tables),
        cmocka_unit_test(riscv_tables),   cmocka_unit_test(refusals),
        cmocka_unit_test(other_failures), cmocka_unit_test(image),
    };
    return cmocka_run_group_tests_name("pack", tests, set_up, tear_down);
}
