/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The image's list of programs in the stream: names come from it, nothing is named before, and what
 * is missing, damaged or of another image is reported.
 */
#include "wire_host.h"

#include <unistd.h>

#include "system/system.h"

struct seen {
    struct wire_host wire;
    unsigned samples;
    char image[64], unverified[256], name[64], unnamed[256], warnings[2048];
};

static struct mkperf_image image;
static uint8_t table[MKPERF_STAMP_BYTES];
static uint32_t table_bytes;

static enum mkperf_status keep_names(void *self, const struct mkperf_item *item,
                                     struct mkperf_error *e)
{
    struct seen *seen = self;
    const struct mkperf_session *s = item->session;

    (void)e;
    switch (item->kind) {
    case MKPERF_ITEM_BEGIN:
        snprintf(seen->image, sizeof seen->image, "%s", s->image != NULL ? s->image : "");
        snprintf(seen->unverified, sizeof seen->unverified, "%s",
                 s->unverified != NULL ? s->unverified : "");
        break;
    case MKPERF_ITEM_PD:
        if (item->pd->unnamed != NULL) {
            snprintf(seen->unnamed, sizeof seen->unnamed, "%s", item->pd->unnamed);
        }
        break;
    case MKPERF_ITEM_SAMPLE:
        seen->samples++;
        snprintf(seen->name, sizeof seen->name, "%s", seen->wire.pds->pd[item->sample->pd].name);
        break;
    default:
        break;
    }
    return MKPERF_OK;
}

static void on_warning(void *self, const char *text)
{
    struct seen *seen = self;
    size_t n = strlen(seen->warnings);

    snprintf(seen->warnings + n, sizeof seen->warnings - n, "%s\n", text);
}

static struct seen *begin(bool asks, const char *system)
{
    struct seen *seen = calloc(1, sizeof *seen);
    const struct mkperf_pds_config pds = {.system = system,
                                          .elf_path = "/nonexistent",
                                          .later = true,
                                          .warn = on_warning,
                                          .self = seen};

    assert_non_null(seen);
    wire_host_begin(&seen->wire,
                    (struct mkperf_sink){.take = keep_names, .splits = true, .self = seen}, &pds,
                    asks);
    return seen;
}

static void end(struct seen *seen, struct fake *f)
{
    wire_host_end(&seen->wire);
    free(seen);
    free(f);
}

static enum mkperf_status push(struct seen *seen, struct fake *f, struct mkperf_error *e)
{
    return wire_host_push(&seen->wire, f, sizeof f->bytes, e);
}

static void make_table(const char *first)
{
    image = (struct mkperf_image){
        .id = {0xab, 0xcd}, .kernel = {.parent = -1, .build_id = {.n = 20, .byte = {1}}}, .n = 30};
    for (unsigned i = 0; i < image.n; i++) { /* more than one part */
        struct mkperf_image_program *p = &image.program[i];
        *p = (struct mkperf_image_program){.thread = i + 1,
                                           .parent = -1,
                                           .scheduling = {.known = true, .priority = 100 + i},
                                           .build_id = {.n = 20, .byte = {2}}};
        snprintf(p->name, sizeof p->name, "%s%u", first, i);
        snprintf(p->file, sizeof p->file, "%s%u.elf", first, i);
    }
    table_bytes = (uint32_t)mkperf_image_write(&image, table);
    assert_true(table_bytes > MKPERF_STAMP_PART_BYTES);
}

static void hello(struct fake *f, uint64_t boot, bool stamped)
{
    static mkperf_ToHost m;

    memset(&m, 0, sizeof m);
    m.which_msg = mkperf_ToHost_hello_tag;
    m.msg.hello = (mkperf_TargetHello){
        .protocol = MKPERF_PROTOCOL, .boot_id = boot, .platform = "fake", .cores = 1};
    if (stamped) {
        m.msg.hello.stamp_bytes = table_bytes;
        m.msg.hello.image.size = MKPERF_STAMP_IMAGE_BYTES;
        memcpy(m.msg.hello.image.bytes, image.id, MKPERF_STAMP_IMAGE_BYTES);
    }
    fake_send(f, &m);
}

static void part(struct fake *f, uint32_t offset, uint32_t size, uint32_t n)
{
    static mkperf_ToHost m;

    memset(&m, 0, sizeof m);
    m.request = 9;
    m.which_msg = mkperf_ToHost_stamp_tag;
    m.msg.stamp.offset = offset;
    m.msg.stamp.size = size;
    m.msg.stamp.table.size = (pb_size_t)n;
    for (uint32_t i = 0; i < n; i++) {
        m.msg.stamp.table.bytes[i] = table[(offset + i) % sizeof table];
    }
    fake_send(f, &m);
}

static void parts(struct fake *f)
{
    for (uint32_t at = 0; at < table_bytes; at += MKPERF_STAMP_PART_BYTES) {
        uint32_t n = table_bytes - at;
        part(f, at, table_bytes, n < MKPERF_STAMP_PART_BYTES ? n : MKPERF_STAMP_PART_BYTES);
    }
}

/* One sample of the PD with number 3. */
static void sample_of_epoch(struct fake *f, uint64_t first, uint32_t epoch)
{
    struct fake_batch b;

    fake_batch_init(&b, first, 1, 5000 + 1000 * first);
    b.batch.epoch = epoch;
    fake_chain(&b, 0, 0, 3, 0x200000);
    fake_batch(f, &b);
}

static void sample(struct fake *f, uint64_t first)
{
    sample_of_epoch(f, first, 1);
}

/* Sends the hello of a target with a list, the list, and a running session with one sample. */
static void send_session(struct fake *f)
{
    hello(f, 1, true);
    parts(f);
    fake_session(f, 3, 1, true);
    sample(f, 0);
}

/* A recorder that joins a session: what is received before the list has no names yet, and is not
 * stored. Nor is the rest of that epoch, whose chains were defined before. */
static void asked_for(void **state)
{
    struct seen *seen = begin(true, NULL);
    struct fake *f = wire_host_fake();
    struct mkperf_error e;

    (void)state;
    make_table("pd");
    hello(f, 1, true);
    fake_session(f, 0, 1, true);
    sample(f, 0);
    assert_int_equal(push(seen, f, &e), MKPERF_OK);
    assert_int_equal(seen->samples, 0);
    part(f, 0, table_bytes, 1000);
    part(f, 0, table_bytes, 1000);    /* repeated */
    part(f, 1100, table_bytes, 1000); /* the one before it was lost */
    assert_int_equal(push(seen, f, &e), MKPERF_OK);
    assert_false(mkperf_stream_stamp_whole(seen->wire.stream));
    assert_int_equal(seen->wire.stream->names.have, 1000);
    part(f, 1000, table_bytes, table_bytes - 1000);
    sample(f, 1);
    assert_int_equal(push(seen, f, &e), MKPERF_OK);
    assert_true(mkperf_stream_stamp_whole(seen->wire.stream));
    assert_int_equal(mkperf_stream_settle(seen->wire.stream, &e), MKPERF_OK);
    sample(f, 2);
    assert_int_equal(push(seen, f, &e), MKPERF_OK);
    assert_int_equal(seen->samples, 0);
    assert_true(seen->wire.stream->damaged); /* so that the host asks for a new epoch */
    sample_of_epoch(f, 3, 2);
    assert_int_equal(push(seen, f, &e), MKPERF_OK);
    assert_int_equal(seen->samples, 1);
    assert_int_equal(seen->wire.stream->skipped, 3);
    assert_string_equal(seen->name, "pd2");
    assert_int_equal(seen->wire.pds->pd[2].scheduling.priority, 102);
    assert_true(seen->wire.pds->pd[2].scheduling.known);
    assert_memory_equal(seen->image, "abcd00", 6);
    assert_string_equal(seen->unverified, "");
    assert_non_null(strstr(seen->unnamed, "no ELF with the build id 02"));
    assert_non_null(strstr(seen->warnings, "none of the image's 30 programs has its ELF here"));
    assert_non_null(strstr(seen->warnings, "kernel: no ELF with the build id 01"));
    end(seen, f);
}

static void in_a_capture(void **state)
{
    struct seen *seen = begin(false, NULL);
    struct fake *f = wire_host_fake();
    struct mkperf_error e;

    (void)state;
    make_table("pd");
    hello(f, 1, true);
    fake_session(f, 0, 1, false);
    parts(f);
    fake_session(f, 3, 1, true);
    sample(f, 0);
    assert_int_equal(push(seen, f, &e), MKPERF_OK);
    assert_int_equal(seen->samples, 1);
    assert_string_equal(seen->name, "pd2");
    assert_memory_equal(seen->image, "abcd00", 6);
    end(seen, f);
}

static void expect_unverified(void (*list)(struct fake *f), const char *why)
{
    struct seen *seen = begin(false, NULL);
    struct fake *f = wire_host_fake();
    struct mkperf_error e;

    hello(f, 1, list != NULL);
    fake_session(f, 0, 1, false);
    if (list != NULL) {
        list(f);
    }
    fake_session(f, 3, 1, true);
    sample(f, 0);
    assert_int_equal(push(seen, f, &e), MKPERF_OK);
    assert_int_equal(seen->samples, 1);
    assert_string_equal(seen->name, "unknown-3");
    assert_string_equal(seen->image, "");
    if (strstr(seen->unverified, why) == NULL) {
        fail_msg("\"%s\" without \"%s\"", seen->unverified, why);
    }
    end(seen, f);
}

static void half(struct fake *f)
{
    part(f, 0, table_bytes, 1024);
}

static void hostile(struct fake *f)
{
    part(f, 0, MKPERF_STAMP_BYTES + 1, 1024);
    part(f, UINT32_MAX, table_bytes, 1024);
    part(f, table_bytes - 10, table_bytes, 1024);
    part(f, 0, 100, 1024);
    part(f, 0, UINT32_MAX, 1024);
}

static void without(void **state)
{
    (void)state;
    make_table("pd");
    expect_unverified(NULL, "does not list its programs");
    expect_unverified(half, "did not arrive whole");
    expect_unverified(hostile, "did not arrive whole");
    table[100] ^= 1;
    expect_unverified(parts, "the CRC is wrong");
}

/* Another image's programs would get the first one's names. */
static void another_image(void **state)
{
    struct seen *seen = begin(false, NULL);
    struct fake *f = wire_host_fake();
    struct mkperf_error e;

    (void)state;
    make_table("pd");
    send_session(f);
    hello(f, 2, true); /* restarted with the same one */
    fake_session(f, 3, 1, true);
    sample(f, 0);
    assert_int_equal(push(seen, f, &e), MKPERF_OK);
    assert_int_equal(seen->samples, 2);
    image.id[0]++;
    hello(f, 3, true);
    assert_int_equal(push(seen, f, &e), MKPERF_ERR_FAILED);
    assert_non_null(strstr(e.text, "another image"));
    end(seen, f);
    seen = begin(false, NULL);
    f = wire_host_fake();
    send_session(f);
    hello(f, 2, false); /* a target without a list */
    assert_int_equal(push(seen, f, &e), MKPERF_ERR_FAILED);
    end(seen, f);
}

/* What differs between the .system file and the image is reported; the image's names hold. */
static void compared(void **state)
{
    static const char text[] = "<system><protection_domain name=\"pd1\" priority=\"1\">"
                               "<program_image path=\"a.elf\"/></protection_domain>"
                               "<protection_domain name=\"gone\" priority=\"1\">"
                               "<program_image path=\"b.elf\"/></protection_domain></system>";
    char path[] = "/tmp/test_wire_stamp.XXXXXX";
    int fd = mkstemp(path);
    FILE *file = fdopen(fd, "w");
    struct fake *f = wire_host_fake();
    struct mkperf_error e;

    (void)state;
    assert_non_null(file);
    fputs(text, file);
    assert_int_equal(fclose(file), 0);
    struct seen *seen = begin(false, path);
    make_table("pd");
    send_session(f);
    assert_int_equal(push(seen, f, &e), MKPERF_OK);
    assert_string_equal(seen->name, "pd2");
    assert_non_null(strstr(seen->warnings, "pd1 has the number 1 in the file, 2 in the image"));
    assert_non_null(strstr(seen->warnings, "gone is not in the image"));
    assert_non_null(strstr(seen->warnings, "pd0 is not in the file"));
    assert_null(mkperf_pds_system(seen->wire.pds));
    end(seen, f);
    remove(path);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(asked_for),     cmocka_unit_test(in_a_capture), cmocka_unit_test(without),
        cmocka_unit_test(another_image), cmocka_unit_test(compared),
    };

    setenv("HOME", "/nonexistent", 1);
    if (chdir("/proc/self/task") != 0) { /* a small tree without ELFs */
        return 1;
    }
    return cmocka_run_group_tests_name("wire stamp", tests, NULL, NULL);
}
