/* SPDX-License-Identifier: BSD-2-Clause */
/* The stamp as the host writes and reads it, hostile tables, and `mkperf stamp` over the demo's
 * ELFs, which `make target` has left in $B. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include <mkperf/frame.h>
#include <mkperf/record.h>

#include "cmd/cmd.h"
#include "symbols/symbols.h"
#include "system/system.h"

static struct mkperf_image image;
static uint8_t table[2 * MKPERF_STAMP_BYTES];
static size_t table_bytes;
static const char *build;
static char directory[] = "/tmp/test_image.XXXXXX";

static void make_image(void)
{
    image = (struct mkperf_image){
        .id = {1, 2, 3},
        .system = {4, 5},
        .kernel = {.parent = -1, .build_id = {.n = 20, .byte = {9, 8, 7}}, .file = "sel4.elf"},
        .n = 3,
        .windows = "1 2 us a",
        .program = {{.thread = 1,
                     .parent = -1,
                     .name = "codec",
                     .file = "codec.elf",
                     .build_id = {.n = 20, .byte = {1}}},
                    {.thread = MKPERF_THREAD_CHILD(0, 5),
                     .parent = 0,
                     .scheduling = {true, true, 254, 3, 1000, UINT32_MAX},
                     .name = "child",
                     .build_id = {.n = 20, .byte = {2}, .derived = true},
                     .file = "c.elf"},
                    {.thread = 3, .parent = -1, .name = "vm"}}};
    memset(table, 0xee, sizeof table);
    table_bytes = mkperf_image_write(&image, table);
}

static void put(size_t at, unsigned bytes, uint64_t value)
{
    for (unsigned i = 0; i < bytes; i++) {
        table[at + i] = (uint8_t)(value >> 8 * i);
    }
}

static void crc(size_t n)
{
    put(MKPERF_STAMP_SIZE_AT, 4, n);
    put(MKPERF_STAMP_CRC_AT, 4,
        mkperf_crc32(0, table + MKPERF_STAMP_IMAGE_AT, n - MKPERF_STAMP_IMAGE_AT));
}

static void refused(size_t n, const char *reason)
{
    static struct mkperf_image out;
    struct mkperf_error e = {.status = MKPERF_OK};

    assert_int_equal(mkperf_image_read(table, n, &out, &e), MKPERF_ERR_INPUT);
    if (strstr(e.text, reason) == NULL) {
        fail_msg("\"%s\" without \"%s\"", e.text, reason);
    }
}

static void round_trip(void **state)
{
    static struct mkperf_image out;
    struct mkperf_error e = {.status = MKPERF_OK};

    (void)state;
    make_image();
    assert_int_equal(mkperf_image_read(table, table_bytes, &out, &e), MKPERF_OK);
    assert_memory_equal(&out, &image, sizeof out);
}

static void largest(void **state)
{
    static struct mkperf_image out;
    struct mkperf_error e = {.status = MKPERF_OK};

    (void)state;
    make_image();
    image.n = MKPERF_STAMP_PROGRAMS;
    for (unsigned i = 0; i < image.n; i++) {
        image.program[i] = (struct mkperf_image_program){.thread = i + 1,
                                                         .parent = (int)i - 1,
                                                         .scheduling = {.known = true},
                                                         .build_id = {.n = 20}};
        memset(image.program[i].name, 'n', MKPERF_STAMP_NAME_BYTES);
        image.program[i].name[0] = (char)('0' + i); /* two of one name are refused */
        memset(image.program[i].file, 'f', MKPERF_STAMP_FILE_BYTES);
    }
    memset(image.windows, 'w', MKPERF_STAMP_WINDOWS_BYTES);
    table_bytes = mkperf_image_write(&image, table);
    assert_true(table_bytes <= MKPERF_STAMP_BYTES);
    assert_int_equal(mkperf_image_read(table, table_bytes, &out, &e), MKPERF_OK);
    assert_memory_equal(&out, &image, sizeof out);
    put(MKPERF_STAMP_COUNT_AT, 2, MKPERF_STAMP_PROGRAMS + 1);
    crc(table_bytes);
    refused(table_bytes, "too many programs");
}

static void hostile(void **state)
{
    enum { KERNEL = MKPERF_STAMP_HEADER_BYTES };
    const size_t first = KERNEL + MKPERF_STAMP_ENTRY_BYTES + 20 + strlen("sel4.elf");
    const size_t name = first + MKPERF_STAMP_ENTRY_BYTES + 20;

    (void)state;
    for (size_t n = 0; n < table_bytes; n++) { /* the table may be cut at any byte */
        make_image();
        refused(n, "size");
        if (n >= KERNEL && n < table_bytes - strlen(image.windows)) { /* a text may be shorter */
            crc(n);
            refused(n, "stamp");
        }
    }
    const struct {
        size_t at;
        unsigned bytes;
        uint64_t value;
        const char *reason;
    } bad[] = {
        {0, 1, 'M', "not a stamp"},
        {MKPERF_STAMP_COUNT_AT, 2, 0xffff, "too many programs"},
        {MKPERF_STAMP_COUNT_AT, 2, 2, "a zero in a name"},
        {MKPERF_STAMP_COUNT_AT, 2, 4, "ends within an entry"},
        {KERNEL + 10, 1, 21, "build id"},
        {KERNEL + 11, 1, 1, "kernel's entry"},
        {first + 10, 1, 255, "build id"},
        {first + 11, 1, 0, "without a name"},
        {first + 11, 1, 65, "too long"},
        {first + 12, 1, 255, "too long"},
        {first + 8, 1, 4, "parent"},
        {first, 8, MKPERF_THREAD_IDLE, "number"},
        {first, 8, 3, "two PDs"},
        {name, 1, 0, "a zero in a name"},
        {name, 1, '\n', "not printable"},
        {name, 1, 0x1b, "not printable"},
    };
    for (size_t i = 0; i < sizeof bad / sizeof *bad; i++) {
        make_image();
        put(bad[i].at, bad[i].bytes, bad[i].value);
        crc(table_bytes);
        refused(table_bytes, bad[i].reason);
    }
    make_image();
    table[first] ^= 1;
    refused(table_bytes, "CRC");
    make_image();
    refused(table_bytes + 1, "size");
}

static int stamp(const char *const *argv)
{
    char *copy[16];
    int n = 0;

    for (; argv[n] != NULL; n++) {
        copy[n] = strdup(argv[n]);
    }
    copy[n] = NULL;
    char **order = malloc((size_t)(n + 1) * sizeof *order);
    memcpy(order, copy, (size_t)(n + 1) * sizeof *order);
    int status = mkperf_command_main(&mkperf_stamp_command, n, order);
    for (int i = 0; i < n; i++) {
        free(copy[i]);
    }
    free(order);
    return status;
}

static const char *in(const char *dir, const char *name)
{
    static char path[8][256];
    static unsigned next;

    next = (next + 1) % 8;
    snprintf(path[next], sizeof path[next], "%s/%s", dir, name);
    return path[next];
}

/* The table in the ELF at path. */
static void read_stamped(const char *path, struct mkperf_image *out, struct mkperf_build_id *id)
{
    struct mkperf_symbols *s = mkperf_symbols_new();
    struct mkperf_module *m;
    struct mkperf_error e = {.status = MKPERF_OK};
    uint64_t offset, bytes;
    size_t n;

    assert_int_equal(mkperf_symbols_module(s, path, &m, &e), MKPERF_OK);
    assert_true(mkperf_module_object(m, MKPERF_STAMP_SYMBOL, 1, &offset, &bytes));
    const uint8_t *p = mkperf_module_file(m, &n) + offset;
    uint32_t size = (uint32_t)(p[8] | p[9] << 8 | p[10] << 16);
    assert_int_equal(mkperf_image_read(p, size, out, &e), MKPERF_OK);
    mkperf_module_identity(m, id);
    mkperf_symbols_free(s);
}

static void demo(void **state)
{
    static struct mkperf_image once, twice, other;
    const char *system = in(build, "demo/demo.system"), *elfs = in(build, "demo"),
               *kernel = in(build, "demo/kernel.elf"), *out = in(directory, "client.elf");
    struct mkperf_build_id id, before;
    struct mkperf_symbols *s = mkperf_symbols_new();
    struct mkperf_module *m;
    struct mkperf_error e = {.status = MKPERF_OK};

    (void)state;
    assert_int_equal(stamp((const char *const[]){"stamp", "-q", "--elf-path", elfs, "--kernel",
                                                 kernel, "-o", out, system, NULL}),
                     0);
    read_stamped(out, &once, &id);
    assert_int_equal(mkperf_symbols_module(s, in(build, "demo/client.elf"), &m, &e), MKPERF_OK);
    mkperf_module_identity(m, &before);
    assert_true(mkperf_build_id_same(&id, &before)); /* the client PD's build id stays */
    assert_int_equal(once.n, 8);
    assert_string_equal(once.program[2].file, "pacer.elf");
    assert_int_equal(once.program[0].build_id.n, 20);
    assert_false(once.program[0].build_id.derived);
    assert_string_equal(once.kernel.file, "kernel.elf");
    /* a stamp over a stamp, in place, from another directory: the same image */
    char path[256];
    snprintf(path, sizeof path, "%s:%s", directory, elfs);
    assert_int_equal(stamp((const char *const[]){"stamp", "-q", "--elf-path", path, "--kernel",
                                                 kernel, system, NULL}),
                     0);
    read_stamped(out, &twice, &id);
    assert_memory_equal(&once, &twice, sizeof once);
    /* another kernel: another image */
    assert_int_equal(stamp((const char *const[]){"stamp", "-q", "--elf-path", path, "--kernel",
                                                 in(build, "demo/known.elf"), system, NULL}),
                     0);
    read_stamped(out, &other, &id);
    assert_memory_not_equal(once.id, other.id, sizeof once.id);
    struct stat st;
    assert_int_equal(stat(out, &st), 0);
    assert_true(st.st_mode & 0100);
    mkperf_symbols_free(s);
}

static void wrong_calls(void **state)
{
    const char *system = in(build, "demo/demo.system"), *elfs = in(build, "demo"),
               *kernel = in(build, "demo/kernel.elf"), *out = in(directory, "none.elf");

    (void)state;
    assert_int_equal(stamp((const char *const[]){"stamp", system, NULL}), MKPERF_ERR_USAGE);
    assert_int_equal(stamp((const char *const[]){"stamp", system, "--elf-path", elfs, "--kernel",
                                                 "/nonexistent", "-o", out, NULL}),
                     MKPERF_ERR_INPUT);
    assert_int_equal(stamp((const char *const[]){"stamp", system, "--elf-path", directory,
                                                 "--kernel", kernel, "-o", out, NULL}),
                     MKPERF_ERR_INPUT);
    assert_int_equal(stamp((const char *const[]){
                         "stamp", "platform/pocket/selftest/selftest.system", "--elf-path",
                         in(build, "pocket/selftest"), "--kernel", kernel, "-o", out, NULL}),
                     MKPERF_ERR_INPUT); /* the system has no client PD */
    assert_int_equal(stamp((const char *const[]){"stamp", system, "--elf-path", elfs, "--kernel",
                                                 kernel, "-o", "/nonexistent/client.elf", NULL}),
                     MKPERF_ERR_OUTPUT);
    /* The packer's choice between two programs of one name is not the user's. */
    char *other = realpath(in(build, "demo/dummy1.elf"), NULL), path[256];
    const char *same_name = in(directory, "known.elf");
    snprintf(path, sizeof path, "%s:%s", directory, elfs);
    assert_int_equal(symlink(other, same_name), 0);
    assert_int_equal(stamp((const char *const[]){"stamp", "-q", system, "--elf-path", path,
                                                 "--kernel", kernel, "-o", out, NULL}),
                     MKPERF_ERR_INPUT);
    assert_int_equal(unlink(same_name), 0);
    free(other);
    assert_int_not_equal(access(out, F_OK), 0);
}

/* What identifies an ELF without a build id changes with what is loaded of it. */
static void derived(void **state)
{
    struct mkperf_symbols *s = mkperf_symbols_new();
    struct mkperf_module *m, *k;
    struct mkperf_error e = {.status = MKPERF_OK};
    uint8_t a[MKPERF_CONTENT_HASH_BYTES], b[MKPERF_CONTENT_HASH_BYTES];

    (void)state;
    assert_int_equal(mkperf_symbols_module(s, in(build, "demo/known.elf"), &m, &e), MKPERF_OK);
    assert_int_equal(mkperf_symbols_module(s, in(build, "demo/dummy1.elf"), &k, &e), MKPERF_OK);
    assert_true(mkperf_module_content(m, (struct mkperf_blank){0}, a));
    assert_true(mkperf_module_content(m, (struct mkperf_blank){0x1000, 0}, b));
    assert_memory_equal(a, b, sizeof a);
    assert_true(mkperf_module_content(m, (struct mkperf_blank){0, 1 << 30}, b));
    assert_memory_not_equal(a, b, sizeof a);
    assert_true(mkperf_module_content(k, (struct mkperf_blank){0}, b));
    assert_memory_not_equal(a, b, sizeof a);
    mkperf_symbols_free(s);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(round_trip), cmocka_unit_test(largest),     cmocka_unit_test(hostile),
        cmocka_unit_test(demo),       cmocka_unit_test(wrong_calls), cmocka_unit_test(derived),
    };

    build = getenv("B") != NULL ? getenv("B") : "build";
    if (mkdtemp(directory) == NULL) {
        return 1;
    }
    return cmocka_run_group_tests_name("image", tests, NULL, NULL);
}
