/* SPDX-License-Identifier: BSD-2-Clause */
/* The client PD and the stamp: whole tables in parts, and tables whose size is invalid. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "client_hosts.h"

static uint8_t table[MKPERF_STAMP_BYTES];

/* A table of n bytes, each different from its neighbours. */
static void make_table(const char *magic, uint32_t n)
{
    for (size_t i = 0; i < sizeof table; i++) {
        table[i] = (uint8_t)(i * 7 + i / 256);
    }
    memcpy(table, magic, MKPERF_STAMP_MAGIC_BYTES);
    for (unsigned i = 0; i < 4; i++) {
        table[MKPERF_STAMP_SIZE_AT + i] = (uint8_t)(n >> 8 * i);
    }
    begin_test(NULL);
    client.stamp = table;
    client.stamp_reserved = sizeof table;
}

static const mkperf_ToHost *get(struct test_host *h, uint32_t offset)
{
    mkperf_ToTarget m = {.which_msg = mkperf_ToTarget_get_stamp_tag};

    m.msg.get_stamp.offset = offset;
    return ask(h, &m);
}

static void in_parts(void **state)
{
    const uint32_t sizes[] = {MKPERF_STAMP_HEADER_BYTES, 1024, 1025, 5000, MKPERF_STAMP_BYTES};

    (void)state;
    for (size_t k = 0; k < sizeof sizes / sizeof *sizes; k++) {
        make_table(MKPERF_STAMP_MAGIC, sizes[k]);
        struct test_host *h = connect_host(0);
        const mkperf_ToHost *m = greet(h, k % 2 != 0, "host"); /* a watcher may ask, too */
        assert_int_equal(m->msg.hello.stamp_bytes, sizes[k]);
        assert_int_equal(m->msg.hello.image.size, MKPERF_STAMP_IMAGE_BYTES);
        assert_memory_equal(m->msg.hello.image.bytes, table + MKPERF_STAMP_IMAGE_AT, 16);
        for (uint32_t at = 0; at < sizes[k];) {
            m = get(h, at);
            assert_int_equal(m->which_msg, mkperf_ToHost_stamp_tag);
            assert_int_equal(m->msg.stamp.offset, at);
            assert_int_equal(m->msg.stamp.size, sizes[k]);
            assert_true(m->msg.stamp.table.size > 0);
            assert_true(m->msg.stamp.table.size <= sizes[k] - at);
            assert_memory_equal(m->msg.stamp.table.bytes, table + at, m->msg.stamp.table.size);
            at += m->msg.stamp.table.size;
        }
    }
}

static void beyond_the_end(void **state)
{
    (void)state;
    make_table(MKPERF_STAMP_MAGIC, 300);
    struct test_host *h = join_host(0, false, "host");
    const uint32_t offsets[] = {300, 301, MKPERF_STAMP_BYTES, UINT32_MAX};
    for (size_t i = 0; i < sizeof offsets / sizeof *offsets; i++) {
        const mkperf_ToHost *m = get(h, offsets[i]);
        assert_int_equal(m->which_msg, mkperf_ToHost_error_tag);
        assert_int_equal(m->msg.error.code, mkperf_ErrorCode_ERROR_RANGE);
    }
    assert_int_equal(get(h, 299)->msg.stamp.table.size, 1);
    assert_false(mkperf_client_finished(&client, (unsigned)h->who));
}

static void expect_none(void)
{
    struct test_host *h = connect_host(0);
    const mkperf_ToHost *m = greet(h, false, "host");

    assert_int_equal(m->which_msg, mkperf_ToHost_hello_tag);
    assert_int_equal(m->msg.hello.stamp_bytes, 0);
    assert_int_equal(m->msg.hello.image.size, 0);
    m = get(h, 0);
    assert_int_equal(m->which_msg, mkperf_ToHost_error_tag);
    assert_int_equal(m->msg.error.code, mkperf_ErrorCode_ERROR_STATE);
    assert_int_equal(ask_for(h, mkperf_ToTarget_get_status_tag)->which_msg,
                     mkperf_ToHost_status_tag);
}

/* A table that says it is larger than what is reserved must not make the client read beyond it. */
static void invalid_tables(void **state)
{
    const uint32_t sizes[] = {
        0, 8, MKPERF_STAMP_HEADER_BYTES - 1, MKPERF_STAMP_BYTES + 1, 0x80000000, UINT32_MAX};

    (void)state;
    for (size_t i = 0; i < sizeof sizes / sizeof *sizes; i++) {
        make_table(MKPERF_STAMP_MAGIC, sizes[i]);
        expect_none();
    }
    make_table(MKPERF_STAMP_EMPTY, 300);
    expect_none();
    make_table("\0\0\0\0\0\0\0", 300);
    expect_none();
    make_table(MKPERF_STAMP_MAGIC, 300);
    client.stamp_reserved = MKPERF_STAMP_HEADER_BYTES - 1;
    expect_none();
    make_table(MKPERF_STAMP_MAGIC, 300);
    client.stamp_reserved = 299;
    expect_none();
    make_table(MKPERF_STAMP_MAGIC, 300);
    client.stamp = NULL;
    expect_none();
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(in_parts),
        cmocka_unit_test(beyond_the_end),
        cmocka_unit_test(invalid_tables),
    };

    return cmocka_run_group_tests_name("client stamp", tests, NULL, NULL);
}
