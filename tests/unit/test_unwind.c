/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Chains of programs without frame pointers: the tables that `mkperf stamp` makes, the profiler PD's check of
 * them, and the hook's walk. The stacks are random words, so that all rules are needed; the judge is the
 * unwinder of elfutils, which reads the call-frame information itself. Tables and stacks are blocks of memory of
 * their own, so that the sanitizer finds a read outside.
 *
 * With UNWIND_STACKS=FILE the stacks of programs that were stopped are compared instead (tests/stopped-stacks).
 */
#include <pthread.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>
#include <elfutils/libdwfl.h>

#include "kernel/capture.c"     // NOLINT(bugprone-suspicious-include)
#include "kernel/counted.c"     // NOLINT(bugprone-suspicious-include)
#include "kernel/unwind_walk.c" // NOLINT(bugprone-suspicious-include)

#include "tests/hook_no_pmu.h"

#include <mkperf/frame.h>

#include "cmd/cmd.h"
#include "pd/profiler/unwind_load.h"

enum {
    FRAMES = 16,
    PAGE_WORDS = 512,
    STACK_WORDS = 2 * PAGE_WORDS,
    RANDOM_STACKS = 4000, /* stacks of each program */
    RANDOM_TABLES = 20000,
    BADGE = 3,
    ROOM = MKPERF_UNWIND_BYTES + MKPERF_UNWIND_SLACK,
};

static const char *build;
static uint64_t stack_at;                  /* the address of the stack's page for the thread */
static struct mkperf_port_context sampled; /* the thread that is sampled */
static struct mkperf_hook hook;
static struct mkperf_unwind_tables *tables; /* ROOM bytes */
static struct {
    struct mkperf_ring ring;
    uint64_t data[MKPERF_RING_MIN_BYTES / 8];
} memory;
static bool mapped;
uint32_t mock_features;

static struct {
    struct mkperf_symbols *symbols;
    struct mkperf_module *module;
    struct mkperf_segment text;
    uint64_t *site; /* addresses behind calls */
    size_t sites;
    Dwfl *dwfl;
    Elf *elf;
    uint64_t *stack; /* a stack of two pages */
    struct mkperf_stamp_unwind made;
} program;

/* ---- the hook's port ------------------------------------------------------------------------ */

bool mkperf_port_context(struct mkperf_port_context *c, bool kernel)
{
    (void)kernel;
    *c = sampled;
    return true;
}

const void *mkperf_port_caller(const void *thread, uint64_t reply)
{
    (void)reply;
    return hook.session.callers != 0 && thread == NULL
               ? &sampled
               : NULL; /* it serves a thread in the same state */
}

void mkperf_port_blocked(struct mkperf_port_context *c, const void *thread)
{
    (void)thread;
    *c = sampled;
    c->thread = &sampled;
}

struct mkperf_identity mkperf_port_identity(const void *thread)
{
    (void)thread;
    return (struct mkperf_identity){BADGE, 0};
}

void *mkperf_port_memory(const void *thread, uint64_t va, uint64_t bytes)
{
    (void)thread;
    (void)bytes; /* only the first ROOM bytes are there */
    return mapped && va == (uintptr_t)tables ? tables : NULL;
}

uintptr_t mkperf_port_user_page(const void *thread, unsigned level, uint64_t va)
{
    (void)thread;
    (void)level;
    uint64_t offset = va - stack_at;

    return offset < 8 * STACK_WORDS ? (uintptr_t)program.stack + offset : 0;
}

uint64_t mkperf_port_kernel_pc(void)
{
    return 0;
}

/* ---- a program and its table ----------------------------------------------------------------- */

static uint64_t next_random(void)
{
    static uint64_t state = 1;

    state ^= state << 13;
    state ^= state >> 7;
    state ^= state << 17;
    return state;
}

/* Tells the hook of the tables, as a session with APPLY does. */
static void begin(void)
{
    memset(&hook, 0, sizeof hook);
    hook.mask = 1;
    hook.out.ring = &memory.ring;
    hook.tables = (struct mkperf_tables *)tables;
    hook.session.ring_bytes = hook.out.size = MKPERF_RING_MIN_BYTES;
    hook.session.watermark = UINT32_MAX;
    hook.session.max_frames = FRAMES;
    hook.room = 8 * (MKPERF_SAMPLE_FIXED_WORDS + 1 + MKPERF_MAX_FRAMES);
    hook.special = 1;
    hook.session.tables = (uintptr_t)tables;
    hook.session.unwind = 1;
    hook.session.sc_if = MKPERF_THREAD_CHILD_BIT;
    hook.session.sc_mask = MKPERF_THREAD_SC;
    hook.session.counter[0] =
        (struct mkperf_request_counter){.period = 1000, .least = 500, .interval = 1000};
    mapped = true;
}

static void copy_made(void)
{
    memset(tables, 0, ROOM);
    assert_int_equal(mkperf_unwind_load(tables, program.made.bytes, sizeof program.made.bytes),
                     MKPERF_UNWIND_LOADED);
}

static const Dwfl_Thread_Callbacks judge_callbacks;

static void open_program(const char *path)
{
    static const Dwfl_Callbacks callbacks = {.find_elf = dwfl_linux_proc_find_elf,
                                             .find_debuginfo = dwfl_standard_find_debuginfo};
    struct mkperf_image image = {.n = 1,
                                 .program[0] = {.thread = BADGE, .parent = -1, .name = "pd"}};
    struct mkperf_error e = {.status = MKPERF_OK};
    GElf_Addr bias;

    program.symbols = mkperf_symbols_new();
    assert_int_equal(mkperf_symbols_module(program.symbols, path, &program.module, &e), MKPERF_OK);
    assert_true(mkperf_module_text(program.module, &program.text));
    program.site = calloc(program.text.size / 4, sizeof *program.site);
    program.sites = 0;
    for (uint64_t at = 4; at < program.text.size; at += 4) {
        if (mkperf_module_follows_call(program.module, program.text.vaddr + at)) {
            program.site[program.sites++] = program.text.vaddr + at;
        }
    }
    mkperf_stamp_unwind_make(&program.made, &image, &program.module, MKPERF_UNWIND_ALL);
    assert_int_equal(program.made.pds, 1);
    copy_made();
    program.dwfl = dwfl_begin(&callbacks);
    Dwfl_Module *m = dwfl_report_elf(program.dwfl, "pd", path, -1, 0, true);
    assert_non_null(m);
    dwfl_report_end(program.dwfl, NULL, NULL);
    program.elf = dwfl_module_getelf(m, &bias);
    assert_int_equal(bias, 0);
    assert_true(dwfl_attach_state(program.dwfl, program.elf, 1, &judge_callbacks, NULL));
    begin();
}

static void close_program(void)
{
    dwfl_end(program.dwfl);
    free(program.site);
    mkperf_symbols_free(program.symbols);
}

/* ---- the unwinder of elfutils ---------------------------------------------------------------- */

struct judged {
    uint64_t frame[FRAMES];
    unsigned n;
    bool begun; /* the sampled pc was seen */
};

static bool get_thread(Dwfl *dwfl, pid_t tid, void *dwfl_arg, void **thread_arg)
{
    (void)dwfl;
    (void)tid;
    *thread_arg = dwfl_arg;
    return true;
}

static pid_t no_more_threads(Dwfl *dwfl, void *dwfl_arg, void **thread_arg)
{
    (void)dwfl;
    (void)dwfl_arg;
    (void)thread_arg;
    return 0;
}

static bool read_memory(Dwfl *dwfl, Dwarf_Addr addr, Dwarf_Word *result, void *arg)
{
    uint64_t offset = addr - stack_at;

    (void)dwfl;
    (void)arg;
    if (offset % 8 != 0 || offset >= 8 * STACK_WORDS) {
        return false;
    }
    *result = program.stack[offset / 8];
    return true;
}

static bool set_registers(Dwfl_Thread *t, void *arg)
{
    Dwarf_Word x[32] = {[29] = sampled.fp, [30] = sampled.lr, [31] = mock_sp};

    (void)arg;
    dwfl_thread_state_register_pc(t, sampled.pc);
    return dwfl_thread_state_registers(t, 0, 32, x);
}

static int take_frame(Dwfl_Frame *frame, void *arg)
{
    struct judged *j = arg;
    Dwarf_Addr pc;

    if (!dwfl_frame_pc(frame, &pc, NULL) || j->n == FRAMES) {
        return DWARF_CB_ABORT;
    }
    if (j->begun) {
        j->frame[j->n++] = pc;
    }
    j->begun = true;
    return DWARF_CB_OK;
}

static const Dwfl_Thread_Callbacks judge_callbacks = {.next_thread = no_more_threads,
                                                      .get_thread = get_thread,
                                                      .memory_read = read_memory,
                                                      .set_initial_registers = set_registers};

static void judge(struct judged *j)
{
    *j = (struct judged){.n = 0};
    (void)dwfl_getthread_frames(program.dwfl, 1, take_frame, j);
}

/* ---- both unwind the same stack -------------------------------------------------------------- */

static struct {
    uint64_t stacks, frames, judged, cut, more;
} seen;

struct walked {
    uint32_t frames;
    uint32_t flags; /* enum mkperf_sample_flags */
};

/* Walks the sampled thread's chain by its table. False: it has none. */
static bool unwind(uint64_t frame[static FRAMES], struct walked *out)
{
    struct mkperf_identity id = {BADGE, 0};
    uint32_t walked = mkperf_unwind(&hook, &sampled, id, 0, frame, FRAMES);

    *out = (struct walked){walked & MKPERF_WALKED_FRAMES, walked >> MKPERF_WALKED_FLAGS_SHIFT};
    return walked != MKPERF_NO_TABLE;
}

/* Frames of one thread by both: the hook's are the judge's, or the first of them if it ended early. */
static void compare_walks(void)
{
    uint64_t frame[FRAMES];
    struct walked walked;
    struct judged j;

    assert_true(unwind(frame, &walked));
    judge(&j);
    assert_true(walked.frames <= FRAMES);
    for (unsigned i = 0; i < walked.frames; i++) {
        if (i >= j.n || frame[i] != j.frame[i]) {
            fail_msg("pc 0x%lx: frame %u is 0x%lx, and 0x%lx of %u by elfutils", sampled.pc, i,
                     frame[i], i < j.n ? j.frame[i] : 0, j.n);
        }
    }
    seen.stacks++;
    seen.frames += walked.frames;
    seen.judged += j.n;
    seen.cut += walked.flags == MKPERF_SAMPLE_BAD_FP;
    bool more = j.n > walked.frames && j.frame[walked.frames] != 0;
    seen.more += more;
    if (walked.flags == 0 && more) { /* the flags show a complete chain */
        fail_msg("pc 0x%lx: %u frames, and elfutils has %u", sampled.pc, walked.frames, j.n);
    }
}

/* Most words are return addresses, some are 0 or addresses of the stack. */
static uint64_t random_word(void)
{
    uint64_t r = next_random();

    if (r % 64 == 0) {
        return 0;
    }
    if (r % 16 == 1) {
        return stack_at + 8 * (r >> 32 & (STACK_WORDS - 1));
    }
    return program.site[(r >> 8) % program.sites];
}

static void random_stack(void)
{
    for (unsigned i = 0; i < STACK_WORDS; i++) {
        program.stack[i] = random_word();
    }
    mock_sp = stack_at + 16 * (next_random() % 32);
    sampled.fp = random_word();
    sampled.lr = random_word();
    sampled.pc = program.text.vaddr + 4 * (next_random() % (program.text.size / 4));
}

static void agrees_with_elfutils(void **state)
{
    static const char *const programs[] = {"echo", "client", "known", "server"};

    (void)state;
    for (unsigned p = 0; p < sizeof programs / sizeof *programs; p++) {
        char path[256];
        snprintf(path, sizeof path, "%s/demo/%s.elf", build, programs[p]);
        open_program(path);
        memset(&seen, 0, sizeof seen);
        for (unsigned i = 0; i < RANDOM_STACKS; i++) {
            random_stack();
            compare_walks();
        }
        printf("# %s: %lu stacks, %lu frames, %lu by elfutils, %lu cut off, %lu of them by "
               "elfutils not\n",
               programs[p], seen.stacks, seen.frames, seen.judged, seen.cut, seen.more);
        assert_true(seen.frames > RANDOM_STACKS);
        close_program();
    }
}

/* Stops of a system: each line of the file is one. */
static void agrees_about_stopped_programs(void **state)
{
    FILE *f = fopen(getenv("UNWIND_STACKS"), "r");
    static char line[64 * 1024];
    char path[256] = "";
    uint64_t whole = 0;

    (void)state;
    assert_non_null(f);
    memset(&seen, 0, sizeof seen);
    while (fgets(line, sizeof line, f) != NULL) {
        char *rest = line;
        char *name = strsep(&rest, " ");
        uint64_t cut = seen.cut;
        if (strcmp(name, path) != 0) {
            if (path[0] != '\0') {
                close_program();
            }
            snprintf(path, sizeof path, "%s", name);
            open_program(path);
        }
        sampled.pc = strtoull(rest, &rest, 16);
        sampled.lr = strtoull(rest, &rest, 16);
        sampled.fp = strtoull(rest, &rest, 16);
        mock_sp = strtoull(rest, &rest, 16);
        stack_at = strtoull(rest, &rest, 16);
        for (unsigned i = 0; i < STACK_WORDS; i++) {
            program.stack[i] = strtoull(rest, &rest, 16);
        }
        compare_walks();
        whole += seen.cut == cut;
    }
    fclose(f);
    printf("# %lu stopped stacks, %lu frames, %lu by elfutils, %lu chains whole\n", seen.stacks,
           seen.frames, seen.judged, whole);
    assert_true(seen.stacks > 0 && whole * 1000 >= seen.stacks * 999);
    close_program();
}

/* ---- tables that are wrong ------------------------------------------------------------------- */

static void open_echo(void)
{
    char path[256];

    snprintf(path, sizeof path, "%s/demo/echo.elf", build);
    open_program(path);
}

/* Walks by any tables: the walk ends, and reads nothing outside. */
static void walk_anyhow(void)
{
    uint64_t frame[FRAMES];
    struct walked walked;

    random_stack();
    if (unwind(frame, &walked)) {
        assert_true(walked.frames <= FRAMES);
        assert_true(walked.flags == 0 || walked.flags == MKPERF_SAMPLE_BAD_FP ||
                    walked.flags == MKPERF_SAMPLE_DEPTH_LIMIT);
    }
}

static void spoil(uint8_t *at, size_t n)
{
    for (unsigned k = 0; k < 1 + next_random() % 32; k++) {
        at[next_random() % n] = (uint8_t)next_random();
    }
}

static void corrupt_tables(void **state)
{
    enum { ENTRY = offsetof(struct mkperf_unwind_tables, entry) };
    uint8_t *bytes = (uint8_t *)tables;

    (void)state;
    open_echo();
    for (unsigned i = 0; i < RANDOM_TABLES; i++) {
        copy_made();
        struct mkperf_unwind_entry *e = &tables->entry[BADGE];
        if (i % 4 == 0) { /* positions may be anywhere */
            spoil((uint8_t *)&e->blocks, sizeof *e - offsetof(struct mkperf_unwind_entry, blocks));
        } else if (i % 4 == 1) {
            memset(bytes + sizeof *tables, (int)next_random(), ROOM - sizeof *tables);
        }
        spoil(bytes + sizeof *tables, program.made.size - sizeof *tables);
        walk_anyhow();
    }
    close_program();
}

static void *change(void *stop)
{
    uint64_t state = 88172645463325252;
    volatile uint8_t *bytes = (uint8_t *)tables;

    while (!__atomic_load_n((bool *)stop, __ATOMIC_RELAXED)) {
        state ^= state << 13;
        state ^= state >> 7;
        state ^= state << 17;
        bytes[state % ROOM] = (uint8_t)(state >> 32);
    }
    return NULL;
}

static void changed_during_walks(void **state)
{
    bool stop = false;
    pthread_t changer;

    (void)state;
    open_echo();
    assert_int_equal(pthread_create(&changer, NULL, change, &stop), 0);
    for (unsigned i = 0; i < RANDOM_TABLES; i++) {
        tables->entry[BADGE] = (struct mkperf_unwind_entry){BADGE,
                                                            0,
                                                            program.text.vaddr & ~UINT64_C(63),
                                                            UINT32_MAX,
                                                            (uint32_t)next_random(),
                                                            (uint32_t)next_random(),
                                                            (uint32_t)next_random()};
        walk_anyhow();
    }
    __atomic_store_n(&stop, true, __ATOMIC_RELAXED);
    pthread_join(changer, NULL);
    close_program();
}

/* The profiler PD takes what is right, and refuses each entry that leads outside. */
static void check_in_the_pd(void **state)
{
    static uint8_t changed[MKPERF_UNWIND_BYTES];
    struct mkperf_unwind_tables head;
    static const size_t fields[] = {
        offsetof(struct mkperf_unwind_entry, badge),  offsetof(struct mkperf_unwind_entry, base),
        offsetof(struct mkperf_unwind_entry, blocks), offsetof(struct mkperf_unwind_entry, block),
        offsetof(struct mkperf_unwind_entry, row),    offsetof(struct mkperf_unwind_entry, rule)};

    (void)state;
    open_echo();
    memcpy(changed, MKPERF_UNWIND_EMPTY, sizeof MKPERF_UNWIND_EMPTY);
    assert_int_equal(mkperf_unwind_load(tables, changed, sizeof changed), MKPERF_UNWIND_NONE);
    for (unsigned i = 0; i < sizeof fields / sizeof *fields; i++) {
        memcpy(changed, program.made.bytes, sizeof changed);
        uint8_t *at = changed + MKPERF_UNWIND_HEADER_BYTES + BADGE * sizeof head.entry[0] +
                      fields[i];
        *at ^= 0x21;
        at[2] ^= 0x7f;
        assert_int_equal(mkperf_unwind_load(tables, changed, sizeof changed),
                         MKPERF_UNWIND_INVALID);
        memcpy(&head, changed, sizeof head);
        head.crc = mkperf_crc32(0, changed + MKPERF_UNWIND_HEADER_BYTES,
                                head.size - MKPERF_UNWIND_HEADER_BYTES);
        memcpy(changed, &head, sizeof head);
        assert_int_equal(mkperf_unwind_load(tables, changed, sizeof changed),
                         MKPERF_UNWIND_INVALID);
    }
    assert_int_equal(mkperf_unwind_load(tables, program.made.bytes, program.made.size - 1),
                     MKPERF_UNWIND_INVALID);
    close_program();
}

/* ---- a sample -------------------------------------------------------------------------------- */

static const uint64_t *sample(void)
{
    struct mkperf_ring_consumer c = {
        .ring = &memory.ring, .size = MKPERF_RING_MIN_BYTES, .tail = memory.ring.tail};
    unsigned size = 0;
    bool corrupt = false;

    mkperf_capture(&hook, 1, mkperf_port_time());
    const uint64_t *w = mkperf_ring_peek(&c, &size, &corrupt);
    assert_non_null(w);
    mkperf_ring_release(&c, size);
    return w;
}

static void samples(void **state)
{
    uint64_t frame[FRAMES];
    struct walked walked;

    (void)state;
    open_echo();
    do {
        random_stack();
        sampled.lr = 0x1234;
        assert_true(unwind(frame, &walked));
    } while (walked.frames < 4 || walked.flags == 0);
    const uint64_t *w = sample();
    assert_int_equal(mkperf_record_nframes(w[0]), walked.frames);
    assert_int_equal(mkperf_record_flags(w[0]), walked.flags);
    assert_int_equal(w[MKPERF_WORD_LR], 0); /* the chain has it */
    assert_memory_equal(w + MKPERF_SAMPLE_FIXED_WORDS, frame, 8 * walked.frames);

    hook.session.callers = 1; /* the chain continues in a thread that waits, by the same table */
    w = sample();
    assert_true(mkperf_record_flags(w[0]) & MKPERF_SAMPLE_CALLERS);
    const uint64_t *caller = w + MKPERF_SAMPLE_FIXED_WORDS + walked.frames;
    assert_int_equal(caller[MKPERF_CALLER_FRAMES] & 0xff, walked.frames);
    assert_int_equal(caller[MKPERF_CALLER_LR], 0);
    assert_memory_equal(caller + MKPERF_CALLER_WORDS, frame, 8 * walked.frames);
    hook.session.callers = 0;

    sampled.fp = 0;
    tables->entry[BADGE].badge = BADGE + 64; /* another PD's: this one has frame pointers */
    w = sample();
    assert_int_equal(mkperf_record_nframes(w[0]), 0);
    assert_int_equal(w[MKPERF_WORD_LR], 0x1234);
    tables->entry[BADGE].badge = BADGE;
    mkperf_hook_unmapped(&hook);
    mapped = false;
    hook.out.ring = &memory.ring;
    assert_int_equal(sample()[MKPERF_WORD_LR], 0x1234);
    close_program();
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(agrees_with_elfutils),
        cmocka_unit_test(corrupt_tables),
        cmocka_unit_test(changed_during_walks),
        cmocka_unit_test(check_in_the_pd),
        cmocka_unit_test(samples),
    };

    build = getenv("B") != NULL ? getenv("B") : "build";
    stack_at = UINT64_C(0x7ffff000);
    program.stack = malloc(8 * STACK_WORDS);
    tables = malloc(ROOM);
    const struct CMUnitTest stopped[] = {cmocka_unit_test(agrees_about_stopped_programs)};
    int failed = getenv("UNWIND_STACKS") != NULL
                     ? cmocka_run_group_tests_name("stopped", stopped, NULL, NULL)
                     : cmocka_run_group_tests_name("unwind", tests, NULL, NULL);
    free(tables);
    free(program.stack);
    return failed;
}
