/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The perf.data reader on files written here byte by byte, so that it is checked against the format
 * and not against our own writer.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "perfdata/perfdata.h"

/* A file under construction. */
struct file {
    uint8_t b[1 << 20];
    size_t n;
    size_t data; /* where the records start */
};

static struct file file;

static void put(uint64_t value, unsigned bytes)
{
    for (unsigned i = 0; i < bytes; i++) {
        file.b[file.n++] = (uint8_t)(value >> 8 * i);
    }
}

static void put64(uint64_t value)
{
    put(value, 8);
}

static void patch64(size_t at, uint64_t value)
{
    size_t n = file.n;

    file.n = at;
    put64(value);
    file.n = n;
}

static void put_text(const char *text, size_t room)
{
    memset(file.b + file.n, 0, room);
    memcpy(file.b + file.n, text, strlen(text));
    file.n += room;
}

enum {
    IP_TID_TIME_CPU_PERIOD = 1 | 2 | 4 | 128 | 256,
    CHAIN = 32,
    IDENTIFIER = 1 << 16,
    ID_ALL = 1 << 18,
    FREQUENCY = 1 << 10,
};

/* Header, one id each for `events` attributes, attributes. */
static void start(unsigned events, uint64_t sample_type, uint64_t flags)
{
    memset(&file, 0, sizeof file);
    put_text("PERFILE2", 8);
    put64(104);
    put64(112 + 16);
    put64(104 + 8 * events);
    put64((112 + 16) * events);
    file.n = 104;
    for (unsigned i = 0; i < events; i++) {
        put64(i + 1);
    }
    for (unsigned i = 0; i < events; i++) {
        put(4, 4);
        put(112, 4);
        put64(0x11 + i);
        put64(1000 * (i + 1));
        put64(sample_type);
        put64(0);
        put64(flags);
        file.n += 112 - 48;
        put64(104 + 8 * i);
        put64(8);
    }
    file.data = file.n;
}

static size_t record(unsigned type, unsigned misc)
{
    put(type, 4);
    put(misc, 2);
    put(0, 2);
    return file.n - 8;
}

static void close_record(size_t at)
{
    file.b[at + 6] = (uint8_t)(file.n - at);
    file.b[at + 7] = (uint8_t)((file.n - at) >> 8);
}

static void trailer(uint32_t pid, uint32_t tid, uint64_t time, uint32_t cpu)
{
    put(pid, 4);
    put(tid, 4);
    put64(time);
    put64(cpu);
    put64(1);
}

static void comm(uint32_t pid, const char *name)
{
    size_t at = record(3, 0);

    put(pid, 4);
    put(pid, 4);
    put_text(name, 16);
    trailer(pid, pid, 0, 0);
    close_record(at);
}

static void map(unsigned type, unsigned misc, uint32_t pid, uint64_t addr, const char *path)
{
    size_t at = record(type, misc);

    put(pid, 4);
    put(pid, 4);
    put64(addr);
    put64(0x1000);
    put64(0);
    file.n += type == 10 ? 32 : 0;
    put_text(path, 32);
    trailer(pid, pid, 0, 0);
    close_record(at);
}

static void sample(uint64_t id, unsigned misc, uint32_t pid, uint64_t time, const uint64_t *chain,
                   unsigned n)
{
    size_t at = record(9, misc);

    put64(id);
    put64(n > 1 ? chain[1] : 0);
    put(pid, 4);
    put(pid, 4);
    put64(time);
    put64(1);
    put64(100 * id);
    put64(n);
    for (unsigned i = 0; i < n; i++) {
        put64(chain[i]);
    }
    close_record(at);
}

static void lost(uint32_t where, uint64_t samples)
{
    size_t at = record(13, 0);

    put64(samples);
    trailer(UINT32_MAX, where, 7, 1);
    close_record(at);
}

struct feature {
    unsigned bit;
    const char *text;
};

static void finish(const struct feature *f, unsigned n)
{
    size_t table = file.n;

    patch64(40, file.data);
    patch64(48, table - file.data);
    file.n += 16 * n;
    for (unsigned i = 0; i < n; i++) {
        size_t at = file.n;

        file.b[72 + f[i].bit / 8] |= (uint8_t)(1 << f[i].bit % 8);
        put_text(f[i].text, strlen(f[i].text));
        patch64(table + 16 * i, at);
        patch64(table + 16 * i + 8, strlen(f[i].text));
    }
}

/* What the sink heard, as text. */
static char heard[1 << 20];
static size_t nheard;

static void hear(const char *format, ...) __attribute__((format(printf, 1, 2)));
static void hear(const char *format, ...)
{
    va_list args;

    va_start(args, format);
    nheard += (size_t)vsnprintf(heard + nheard, sizeof heard - nheard, format, args);
    assert_true(nheard < sizeof heard);
    va_end(args);
}

static void hear_session(const struct mkperf_session *s)
{
    hear("begin %s|%s|%s|%u cores|depth %u|jitter %d\n", s->platform, s->cpu,
         s->kernel_elf ? s->kernel_elf : "-", s->cores, s->max_frames, s->jitter);
    for (unsigned i = 0; i < s->nevents; i++) {
        hear("event %s %llu %u\n", s->event[i].name, (unsigned long long)s->event[i].period,
             s->event[i].frequency);
    }
}

static void hear_sample(const struct mkperf_sample *s)
{
    hear("sample t%llu e%u pd%u core%u w%llu flags%u k%llx u%llx", (unsigned long long)s->time_ns,
         s->event, s->pd, s->core, (unsigned long long)s->period, s->flags,
         (unsigned long long)s->kernel_pc, (unsigned long long)s->pc);
    for (unsigned i = 0; i < s->callers->n; i++) {
        hear(" %u:%llx", s->callers->caller[i].pd, (unsigned long long)s->callers->caller[i].addr);
    }
    hear("\n");
}

static enum mkperf_status hear_item(void *self, const struct mkperf_item *item,
                                    struct mkperf_error *e)
{
    const struct mkperf_pd *pd = item->pd;
    const struct mkperf_lost *l = item->lost;
    const struct mkperf_totals *t = item->totals;

    (void)self, (void)e;
    switch (item->kind) {
    case MKPERF_ITEM_BEGIN:
        hear_session(item->session);
        break;
    case MKPERF_ITEM_PD:
        hear("pd %u %llx %s %s %s\n", pd->id, (unsigned long long)pd->thread, pd->name,
             pd->elf ? pd->elf : "-", pd->parent ? pd->parent : "-");
        break;
    case MKPERF_ITEM_SAMPLE:
        hear_sample(item->sample);
        break;
    case MKPERF_ITEM_LOST:
        hear("lost %d %llu core%u t%llu\n", l->where, (unsigned long long)l->samples, l->core,
             (unsigned long long)l->time_ns);
        break;
    case MKPERF_ITEM_END:
        hear("end %llu lost %llu/%llu late %llu complete %d\n", (unsigned long long)t->samples,
             (unsigned long long)t->lost[MKPERF_LOST_RING],
             (unsigned long long)t->lost[MKPERF_LOST_LINK], (unsigned long long)t->late_events,
             t->complete);
        break;
    case MKPERF_ITEM_ABANDON:
        hear("abandon\n");
        break;
    default:
        break;
    }
    return MKPERF_OK;
}

static enum mkperf_status decode(size_t n, struct mkperf_error *e)
{
    struct mkperf_sink sink = {.take = hear_item, .splits = true, .self = NULL};

    nheard = 0;
    heard[0] = 0;
    return mkperf_perfdata_read_memory("test", file.b, n, &sink, e);
}

#define KERNEL ((uint64_t)-128)
#define USER ((uint64_t)-512)

static const char session[] = "platform pocket\ncores 2\nframes 16\njitter 1\nkernel_elf /k.elf\n"
                              "event 0 17 1 1 1000 0 cycles\nevent 1 8 1 0 0 99 instructions\n"
                              "pd 0 a1 - client one\npd 1 a2 client one\nnonsense\nfuture 7\n";
static const char totals[] = "samples 3\nlost_ring 4\nlost_link 0\nlate_events 9\ncomplete 1\n";

static void ours(void)
{
    uint64_t slide0 = mkperf_perfdata_slid(0, 0), slide1 = mkperf_perfdata_slid(1, 0);
    uint64_t user[] = {USER, slide0 + 0x200010, slide0 + 0x200020, slide1 + 0x200030};
    uint64_t both[] = {KERNEL, 0xffffff8000001000, USER, slide1 + 0x200040};
    uint64_t idle[] = {KERNEL, 0xffffff8000002000};

    start(2, IP_TID_TIME_CPU_PERIOD | CHAIN | IDENTIFIER, ID_ALL);
    map(1, 1, UINT32_MAX, 0xfffffffffff00000, "[kernel.kallsyms]_text");
    comm(1, "client one");
    comm(2, "server");
    comm(9, "unknown-beef");
    map(10, 2, 1, slide0 + 0x200000, "/one.elf");
    map(10, 2, 1, slide1 + 0x200000, "/two.elf"); /* the server's, in the client */
    sample(1, 2, 1, 10, user, 4);
    close_record(record(68, 0));
    close_record(record(1000, 0)); /* a record of a later perf */
    sample(2, 1, 2, 20, both, 4);
    lost(MKPERF_LOST_RING, 4);
    sample(1, 1, 9, 30, idle, 2);
}

static void test_ours(void **state)
{
    static const struct feature features[] = {{MKPERF_PERFDATA_TOTALS, totals},
                                              {MKPERF_PERFDATA_SESSION, session}};
    struct mkperf_error e;

    (void)state;
    ours();
    finish(features, 2);
    assert_int_equal(decode(file.n, &e), MKPERF_OK);
    assert_string_equal(heard, "begin pocket||/k.elf|2 cores|depth 16|jitter 1\n"
                               "event cycles 1000 0\nevent instructions 0 99\n"
                               "pd 0 a1 client one /one.elf -\n"
                               "pd 1 a2 server /two.elf client\n"
                               "sample t10 e0 pd0 core1 w100 flags0 k0 u200010 0:200020 1:200030\n"
                               "sample t20 e1 pd1 core1 w200 flags1 kffffff8000001000 u200040\n"
                               "lost 0 4 core1 t7\n"
                               "pd 2 beef unknown-beef - -\n"
                               "sample t30 e0 pd2 core1 w100 flags3 kffffff8000002000 u0\n"
                               "end 3 lost 4/0 late 9 complete 1\n");
}

/* A thread that is no PD gets its name while samples are written: the reader finds its thread. */
static void test_other_thread(void **state)
{
    static const struct feature features[] = {{MKPERF_PERFDATA_TOTALS, totals},
                                              {MKPERF_PERFDATA_SESSION, session}};
    uint64_t idle[] = {KERNEL, 0xffffff8000002000};
    struct mkperf_error e;

    (void)state;
    ours();
    comm(11, "ambiguous");
    sample(1, 1, 11, 40, idle, 2);
    finish(features, 2);
    assert_int_equal(decode(file.n, &e), MKPERF_OK);
    assert_non_null(strstr(heard, "pd 3 fffffffffffffffd ambiguous - -\n"));
}

/* The kernel's own callers, unless user code follows; then the model has no place for them. */
static void test_kernel_chains(void **state)
{
    uint64_t own[] = {KERNEL, 0xffffff8000001000, 0xffffff8000002004, 0xffffff8000003004};
    uint64_t both[] = {KERNEL, 0xffffff8000001000, 0xffffff8000002004, USER, 0x1000, 0x2000};
    uint64_t deep[200] = {KERNEL};
    struct mkperf_error e;

    (void)state;
    for (unsigned i = 1; i < 200; i++) {
        deep[i] = i;
    }
    start(1, IP_TID_TIME_CPU_PERIOD | CHAIN | IDENTIFIER, ID_ALL);
    sample(1, 1, 7, 5, own, 4);
    sample(1, 1, 7, 6, both, 6);
    sample(1, 1, 7, 7, deep, 200);
    finish(NULL, 0);
    assert_int_equal(decode(file.n, &e), MKPERF_OK);
    assert_non_null(strstr(heard, "flags3 kffffff8000001000 u0 0:ffffff8000002004 "
                                  "0:ffffff8000003004\n"));
    assert_non_null(strstr(heard, "flags1 kffffff8000001000 u1000 0:2000\n"));
    assert_non_null(strstr(heard, "flags7 k1 u0 0:2 ")); /* cut, and so it says */
    assert_non_null(strstr(heard, " 0:42\n"));
}

/* Totals that disagree with the records are not complete. */
static void test_totals_disagree(void **state)
{
    static const struct feature features[] = {{MKPERF_PERFDATA_TOTALS, "samples 4\ncomplete 1\n"},
                                              {MKPERF_PERFDATA_SESSION, session}};
    struct mkperf_error e;

    (void)state;
    ours();
    finish(features, 2);
    assert_int_equal(decode(file.n, &e), MKPERF_OK);
    assert_non_null(strstr(heard, "end 3 lost 4/0 late 0 complete 0\n"));
}

/* A killed writer: no data size in the header, and the last record is cut anywhere. */
static void test_unfinished(void **state)
{
    struct mkperf_error e;

    (void)state;
    ours();
    patch64(40, file.data);
    assert_int_equal(decode(file.n, &e), MKPERF_OK);
    assert_non_null(strstr(heard, "end 3 lost 4/0 late 0 complete 0\n"));
    assert_int_equal(decode(file.n - 1, &e), MKPERF_OK);
    assert_non_null(strstr(heard, "end 2 "));
    for (size_t n = file.data; n < file.n; n++) {
        assert_int_equal(decode(n, &e), MKPERF_OK);
    }
}

/* A file of perf's own kind: frequency, no features, no slides, real processes. */
static void test_foreign(void **state)
{
    uint64_t chain[] = {USER, 0x7f0000001000, 0x555500000123};
    struct mkperf_error e;

    (void)state;
    start(1, IP_TID_TIME_CPU_PERIOD | CHAIN | IDENTIFIER, ID_ALL | FREQUENCY);
    comm(4711, "bash");
    map(10, 2, 4711, 0x555500000000, "/bin/bash");
    sample(1, 2, 4711, 5, chain, 3);
    finish(NULL, 0);
    assert_int_equal(decode(file.n, &e), MKPERF_OK);
    assert_non_null(strstr(heard, "event r11 0 1000\n"));
    assert_non_null(strstr(heard, "pd 0 1267 bash /bin/bash -\n"));
    assert_non_null(strstr(heard, "u7f0000001000 0:555500000123\n"));
    assert_non_null(strstr(heard, "end 1 lost 0/0 late 0 complete 0\n"));
}

static void test_deep_chain_is_bounded(void **state)
{
    uint64_t chain[200] = {USER};
    struct mkperf_error e;

    (void)state;
    for (unsigned i = 1; i < 200; i++) {
        chain[i] = i;
    }
    start(1, IP_TID_TIME_CPU_PERIOD | CHAIN | IDENTIFIER, ID_ALL);
    sample(1, 2, 1, 5, chain, 200);
    finish(NULL, 0);
    assert_int_equal(decode(file.n, &e), MKPERF_OK);
    assert_non_null(strstr(heard, "flags4 "));
    assert_non_null(strstr(heard, " 0:42\n")); /* frame 66 is the last: pc and 65 callers */
}

static void expect(size_t n, const char *text)
{
    struct mkperf_error e;

    assert_int_equal(decode(n, &e), MKPERF_ERR_INPUT);
    if (strncmp(e.text, text, strlen(text)) != 0) {
        print_error("'%s', wanted '%s'\n", e.text, text);
    }
    assert_int_equal(strncmp(e.text, text, strlen(text)), 0);
    assert_non_null(strstr(heard, "abandon\n"));
}

static void test_errors(void **state)
{
    char where[64];

    (void)state;
    ours();
    finish(NULL, 0);
    expect(0, "test: offset 0: too short");
    expect(50, "test: offset 8: its header has an impossible size");
    snprintf(where, sizeof where, "test: offset %zu: cut short", file.n - 1);
    expect(file.n - 1, where);
    snprintf(where, sizeof where, "test: offset %zu: a record of impossible size", file.data);
    file.b[file.data + 6] = 4;
    file.b[file.data + 7] = 0;
    expect(file.n, where);
    file.b[0] = 'X';
    expect(file.n, "test: offset 0: not a perf.data file");
    memcpy(file.b, "2ELIFREP", 8);
    expect(file.n, "test: offset 0: written on a big-endian machine");
    start(1, IP_TID_TIME_CPU_PERIOD | CHAIN | IDENTIFIER, ID_ALL);
    size_t at = record(81, 0);
    put_text("not of zstd", 12);
    close_record(at);
    finish(NULL, 0);
    expect(file.n, "test: offset 240: damaged compressed records");
    start(2, IP_TID_TIME_CPU_PERIOD | CHAIN | IDENTIFIER, ID_ALL);
    sample(77, 2, 1, 5, NULL, 0);
    finish(NULL, 0);
    expect(file.n, "test: offset 376: a sample of an unknown event");
    start(1, IP_TID_TIME_CPU_PERIOD | CHAIN | IDENTIFIER, ID_ALL);
    sample(1, 2, 1, 5, NULL, 0);
    patch64(file.n - 24, 4096); /* the core of the record */
    finish(NULL, 0);
    expect(file.n, "test: offset 240: a sample of a core beyond 4095");
    start(1, IP_TID_TIME_CPU_PERIOD | CHAIN | IDENTIFIER, ID_ALL);
    sample(1, 2, 1, 5, NULL, 0);
    patch64(file.n - 8, 1000);
    finish(NULL, 0);
    expect(file.n, "test: offset 240: a sample is cut");
}

static enum mkperf_status hear_samples_and_end(void *self, const struct mkperf_item *item,
                                               struct mkperf_error *e)
{
    bool wanted = item->kind == MKPERF_ITEM_SAMPLE || item->kind == MKPERF_ITEM_END;

    return wanted ? hear_item(self, item, e) : MKPERF_OK;
}

/* A file of many records, through a buffer of fixed size, yields the same as memory. */
static void test_file_equals_memory(void **state)
{
    char path[] = "/tmp/mkperf-read-XXXXXX", *copy;
    uint64_t chain[] = {USER, 0x1000, 0x2000};
    struct mkperf_error e;
    struct mkperf_sink sink = {.take = hear_samples_and_end, .splits = true, .self = NULL};
    int fd = mkstemp(path);

    (void)state;
    start(1, IP_TID_TIME_CPU_PERIOD | CHAIN | IDENTIFIER, ID_ALL);
    for (unsigned i = 0; i < 9000; i++) {
        sample(1, 2, 1, i, chain, 3);
    }
    finish(NULL, 0);
    assert_int_equal(write(fd, file.b, file.n), (ssize_t)file.n);
    close(fd);
    nheard = 0;
    heard[0] = 0;
    assert_int_equal(mkperf_perfdata_read(path, -1, &sink, &e), MKPERF_OK);
    copy = strdup(heard);
    assert_non_null(copy);
    nheard = 0;
    heard[0] = 0;
    assert_int_equal(mkperf_perfdata_read_memory("m", file.b, file.n, &sink, &e), MKPERF_OK);
    assert_string_equal(copy, heard);
    assert_non_null(strstr(heard, "end 9000 "));
    free(copy);
    assert_int_equal(unlink(path), 0);
    assert_int_equal(mkperf_perfdata_read(path, -1, &sink, &e), MKPERF_ERR_INPUT);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_ours),
        cmocka_unit_test(test_other_thread),
        cmocka_unit_test(test_kernel_chains),
        cmocka_unit_test(test_totals_disagree),
        cmocka_unit_test(test_unfinished),
        cmocka_unit_test(test_foreign),
        cmocka_unit_test(test_deep_chain_is_bounded),
        cmocka_unit_test(test_errors),
        cmocka_unit_test(test_file_equals_memory),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
