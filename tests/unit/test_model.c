/* SPDX-License-Identifier: BSD-2-Clause */
/* The registry of PDs, call chains, and the event list of -e. */
#include <setjmp.h>
#include <signal.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cmocka.h>

#include "model/arrival.h"
#include "model/pds.h"
#include "pmu/events.h"
#include "system/system.h"

static char directory[] = "/tmp/mkperf-model-XXXXXX";

static const char *in_directory(const char *name)
{
    static char path[4][96];
    static unsigned i;

    i = (i + 1) % 4;
    snprintf(path[i], sizeof path[i], "%s/%s", directory, name);
    return path[i];
}

static void write_file(const char *name, const char *text)
{
    FILE *f = fopen(in_directory(name), "w");

    assert_non_null(f);
    fputs(text, f);
    assert_int_equal(fclose(f), 0);
}

static int setup(void **state)
{
    char command[512];

    (void)state;
    assert_non_null(mkdtemp(directory));
    write_file("a.s", ".globl _start\n.text\n_start: ret\n");
    write_file("two.system", "<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n<system>\n"
                             "<protection_domain name=\"alpha\" priority=\"9\">\n"
                             "<program_image path=\"some/where/alpha.elf\"/></protection_domain>\n"
                             "<protection_domain name=\"beta\" priority=\"8\">\n"
                             "<program_image path=\"beta.elf\"/></protection_domain>\n</system>\n");
#define CHILD(name, id, more) \
    "<protection_domain name='" name "' id='" id "'" more "><program_image path='x.elf'/>"
    write_file(
        "children.system",
        "<system><protection_domain name='a'><program_image path='x.elf'/>" CHILD("b", "7", "")
            CHILD("d", "3", " passive='true'") "</protection_domain></protection_domain>" CHILD(
                "c", "5",
                "") "</protection_domain></protection_domain>"
                    "<protection_domain name='e'><program_image path='x.elf'/>" CHILD(
                        "f", "7", "") "</protection_domain>" CHILD("g", "9", " passive='true'")
                        CHILD("h", "9",
                              " passive='true'") "</protection_domain></protection_domain></"
                                                 "protection_domain></system>");
    write_file("bad.system", "<system>\n<nonsense/>\n</system>\n");
    snprintf(command, sizeof command,
             "cd %s && mkdir elf empty && aarch64-linux-gnu-gcc -nostdlib -static -o elf/alpha.elf "
             "a.s && cp elf/alpha.elf elf/sel4.elf && "
             "mkdir sdk && cp elf/alpha.elf sdk/monitor.elf && cp elf/alpha.elf sdk/sel4.elf",
             directory);
    return system(command);
}

static int teardown(void **state)
{
    char command[128];

    (void)state;
    snprintf(command, sizeof command, "rm -rf %s", directory);
    return system(command);
}

struct warnings {
    unsigned n;
    char text[2048];
};

static void on_warning(void *self, const char *text)
{
    struct warnings *w = self;

    w->n++;
    strncat(w->text, text, sizeof w->text - strlen(w->text) - 1);
}

static void system_names_pds(void **state)
{
    struct warnings w = {.n = 0};
    struct mkperf_pds_config c = {.system = in_directory("two.system"),
                                  .elf_path = in_directory("elf"),
                                  .warn = on_warning,
                                  .self = &w};
    struct mkperf_symbols *symbols = mkperf_symbols_new();
    struct mkperf_error e = {.text = ""};
    struct mkperf_pds *p;

    (void)state;
    if (mkperf_pds_new(&c, symbols, &p, &e) != MKPERF_OK) {
        fail_msg("%s", e.text);
    }
    assert_int_equal(p->n, 3);
    assert_string_equal(p->pd[0].name, "alpha");
    assert_non_null(p->pd[0].elf);
    assert_non_null(p->module[0]);
    assert_string_equal(p->pd[1].name, "beta");
    assert_null(p->pd[1].elf);
    assert_string_equal(p->pd[2].name, "idle");
    struct mkperf_session session = {.cores = 1};
    mkperf_pds_describe(p, &session);
    assert_non_null(strstr(session.kernel_elf, "elf/sel4.elf"));
    assert_int_equal(w.n, 1);
    assert_non_null(strstr(w.text, "beta.elf"));
    assert_int_equal(mkperf_pds_find(p, p->pd[1].thread), 1);
    assert_int_equal(mkperf_pds_find(p, MKPERF_THREAD_IDLE), 2);
    assert_int_equal(mkperf_pds_find(p, 0xabc), 3);
    assert_int_equal(mkperf_pds_find(p, 0xabc), 3);
    assert_string_equal(p->pd[3].name, "unknown-abc");
    assert_int_equal(mkperf_pds_find(p, MKPERF_THREAD_INITIAL), 4);
    assert_string_equal(p->pd[4].name, "monitor");
    assert_int_equal(mkperf_pds_find(p, MKPERF_THREAD_AMBIGUOUS), 5);
    for (uint32_t i = 3; i < 6; i++) { /* a file has the name alone */
        uint64_t thread;
        assert_true(mkperf_pds_other_thread(p->pd[i].name, &thread));
        assert_int_equal(thread, p->pd[i].thread);
    }
    uint64_t none;
    assert_false(mkperf_pds_other_thread("unknown", &none));
    assert_false(mkperf_pds_other_thread("alpha", &none));
    mkperf_pds_free(p);
    mkperf_symbols_free(symbols);
}

/* In an SDK the monitor's ELF is in the directory of the kernel's, which --kernel names. */
static void monitor_is_beside_the_kernel(void **state)
{
    struct mkperf_pds_config c = {.kernel = in_directory("sdk/sel4.elf")};
    struct mkperf_symbols *symbols = mkperf_symbols_new();
    struct mkperf_error e = {.text = ""};
    struct mkperf_pds *p;

    (void)state;
    assert_int_equal(mkperf_pds_new(&c, symbols, &p, &e), MKPERF_OK);
    const struct mkperf_pd *monitor = &p->pd[mkperf_pds_find(p, MKPERF_THREAD_INITIAL)];
    assert_non_null(strstr(monitor->elf, "sdk/monitor.elf"));
    mkperf_pds_free(p);
    mkperf_symbols_free(symbols);
}

static void wrong_inputs_are_errors(void **state)
{
    struct mkperf_symbols *symbols = mkperf_symbols_new();
    struct mkperf_pds_config c = {.system = in_directory("bad.system")};
    struct mkperf_error e = {.text = ""};
    struct mkperf_pds *p;

    (void)state;
    assert_int_equal(mkperf_pds_new(&c, symbols, &p, &e), MKPERF_ERR_INPUT);
    assert_non_null(strstr(e.text, "bad.system:"));
    c.system = in_directory("two.system");
    c.elf_path = in_directory("empty");
    assert_int_equal(mkperf_pds_new(&c, symbols, &p, &e), MKPERF_ERR_INPUT);
    assert_non_null(strstr(e.text, "none of the programs"));
    c.elf_path = NULL;
    c.kernel = in_directory("a.s");
    assert_int_equal(mkperf_pds_new(&c, symbols, &p, &e), MKPERF_ERR_INPUT);
    mkperf_symbols_free(symbols);
}

/* A child's identity has the scheduling context on which it runs: of a passive child, that of its caller. */
static void children_are_found_by_their_ids(void **state)
{
    struct mkperf_pds_config c = {.system = in_directory("children.system"), .names_only = true};
    static const struct mkperf_image image = {
        .n = 3,
        .program = {{.thread = 1, .parent = -1, .name = "a"},
                    {.thread = MKPERF_THREAD_CHILD(0, 5), .name = "b", .scheduling.passive = true},
                    {.thread = MKPERF_THREAD_CHILD(0, 6), .name = "c"}}};
    struct mkperf_error e;
    struct mkperf_pds *p;

    (void)state;
    assert_int_equal(mkperf_pds_new(&c, NULL, &p, &e), MKPERF_OK);
    assert_int_equal(mkperf_pds_find(p, 5), 4);
    assert_int_equal(mkperf_pds_find(p, MKPERF_THREAD_CHILD(1, 7)), 1);
    assert_int_equal(mkperf_pds_find(p, MKPERF_THREAD_CHILD(5, 7)), 5);
    assert_int_equal(mkperf_pds_find(p, MKPERF_THREAD_CHILD(2, 3)), 2);
    assert_int_equal(mkperf_pds_find(p, MKPERF_THREAD_CHILD(0, 3)), 2); /* on the context of a */
    /* Not passive, several passive ones, none with this id, and a vCPU: each is a thread of its own. */
    assert_string_equal(p->pd[8].name, "idle");
    assert_int_equal(mkperf_pds_find(p, MKPERF_THREAD_CHILD(4, 7)), 9);
    assert_int_equal(mkperf_pds_find(p, MKPERF_THREAD_CHILD(0, 9)), 10);
    assert_int_equal(mkperf_pds_find(p, MKPERF_THREAD_CHILD(0, 8)), 11);
    assert_int_equal(mkperf_pds_find(p, MKPERF_THREAD_VCPU(0, 0, 3)), 12);
    assert_int_equal(mkperf_pds_find(p, MKPERF_THREAD_IDLE), 8);
    mkperf_pds_free(p);
    c = (struct mkperf_pds_config){.later = true, .names_only = true};
    assert_int_equal(mkperf_pds_new(&c, NULL, &p, &e), MKPERF_OK);
    assert_int_equal(mkperf_pds_settle(p, &image, NULL, &e), MKPERF_OK);
    assert_int_equal(mkperf_pds_find(p, MKPERF_THREAD_CHILD(7, 5)), 1);
    assert_int_equal(mkperf_pds_find(p, MKPERF_THREAD_CHILD(7, 6)), 4);
    mkperf_pds_free(p);
}

static void unknown_threads_are_bounded(void **state)
{
    struct mkperf_pds_config c = {.system = NULL};
    struct mkperf_error e;
    struct mkperf_pds *p;

    (void)state;
    assert_int_equal(mkperf_pds_new(&c, NULL, &p, &e), MKPERF_OK);
    for (uint64_t thread = 1; thread < 5000; thread++) {
        assert_true(mkperf_pds_find(p, thread) < MKPERF_MAX_PDS);
    }
    assert_int_equal(p->n, MKPERF_MAX_PDS);
    assert_string_equal(p->pd[MKPERF_MAX_PDS - 1].name, "unknown");
    assert_int_equal(mkperf_pds_find(p, 3), 3);
    mkperf_pds_free(p);
}

static uint32_t find(struct mkperf_pds *pds, uint64_t thread)
{
    (void)pds;
    return (uint32_t)thread + 100;
}

/* Of functions at even addresses the link register holds the caller; PD 108 has no ELF. */
static enum mkperf_lr leaf_at(const struct mkperf_pds *pds, uint32_t pd, uint64_t pc)
{
    (void)pds;
    return pd == 108 ? MKPERF_LR_UNKNOWN : pc / 4 % 2 == 0 ? MKPERF_LR_YES : MKPERF_LR_NO;
}

static const struct mkperf_chain_lookup lookup = {find, leaf_at, NULL};

static void chains_go_on_in_callers(void **state)
{
    static struct mkperf_chain_forms c;
    const uint64_t frame[] = {0x10, MKPERF_FRAME_CALLER, 7, 0x50, 0x24,
                              0x30, MKPERF_FRAME_CALLER, 9, 0x60, 0x28,
                              0x70, MKPERF_FRAME_CALLER, 8, 0x80, 0x90};
    const struct mkperf_caller want[] = {{0x10, 4},   {0x24, 107}, {0x50, 107}, {0x30, 107},
                                         {0x28, 109}, {0x70, 109}, {0x90, 108}};

    (void)state;
    mkperf_chain_prepare(&c, 4, 0, frame, sizeof frame / sizeof *frame, &lookup);
    assert_int_equal(c.plain.n, sizeof want / sizeof *want);
    for (unsigned i = 0; i < c.plain.n; i++) {
        assert_int_equal(c.plain.caller[i].addr, want[i].addr);
        assert_int_equal(c.plain.caller[i].pd, want[i].pd);
    }
    assert_true(c.unrepaired);
    for (unsigned n = 12; n < 15; n++) { /* a marker without all of its words */
        mkperf_chain_prepare(&c, 4, 0, frame, n, &lookup);
        assert_int_equal(c.plain.n, 6);
        assert_false(c.unrepaired);
    }
}

static void link_register_goes_in_front(void **state)
{
    static struct mkperf_chain_forms c;
    const uint64_t frame[] = {0x10, MKPERF_FRAME_PD, 7, 0x20, 0x30, MKPERF_FRAME_PD};
    uint64_t full[MKPERF_MAX_FRAMES + 5] = {0};

    (void)state;
    mkperf_chain_prepare(&c, 4, 0x99, frame, 6, &lookup);
    assert_int_equal(c.plain.n, 3);
    assert_int_equal(c.plain.caller[0].pd, 4);
    assert_int_equal(c.plain.caller[1].addr, 0x20);
    assert_int_equal(c.plain.caller[1].pd, 107);
    assert_int_equal(c.repaired.n, 4);
    assert_int_equal(c.repaired.caller[0].addr, 0x99);
    assert_int_equal(c.repaired.caller[0].pd, 4);
    assert_int_equal(c.repaired.caller[3].addr, 0x30);
    mkperf_chain_prepare(&c, 4, 0, frame, 1, &lookup);
    assert_int_equal(c.repaired.n, 1);
    mkperf_chain_prepare(&c, 4, 0x99, full, MKPERF_MAX_FRAMES + 5, &lookup);
    assert_int_equal(c.plain.n, MKPERF_MAX_FRAMES);
    assert_int_equal(c.repaired.n, MKPERF_MAX_FRAMES + 1);
}

static void event_lists(void **state)
{
    mkperf_Configure c = mkperf_Configure_init_zero;
    struct mkperf_error e = {.text = ""};

    (void)state;
    assert_int_equal(
        mkperf_events_parse("cycles,instructions:u,r1b:k,a-b/period=77/uk,c/freq=9/", &c, &e),
        MKPERF_OK);
    assert_int_equal(c.events_count, 5);
    assert_string_equal(c.events[0].name, "cycles");
    assert_false(c.events[0].user || c.events[0].kernel);
    assert_true(c.events[1].user && !c.events[1].kernel);
    assert_string_equal(c.events[2].name, "");
    assert_int_equal(c.events[2].raw, 0x1b);
    assert_true(c.events[2].kernel && !c.events[2].user);
    assert_int_equal(c.events[3].period, 77);
    assert_true(c.events[3].user && c.events[3].kernel);
    assert_int_equal(c.events[4].frequency, 9);
}

static void wrong_event_lists(void **state)
{
    static const char *const wrong[] = {"",
                                        ",cycles",
                                        "cycles,",
                                        "cycles:x",
                                        "cycles/period=0/",
                                        "cycles/",
                                        "a b",
                                        "cycles/period=-1/",
                                        "cycles/nothing=3/",
                                        "cycles/freq=100001/",
                                        "cycles/period=2147483648/",
                                        "cycles:S",
                                        "{cycles:S,instructions}",
                                        "cycles/period=1/z",
                                        "a,a,a,a,a,a,a,a,a,a,a,a,a,a,a,a,a",
                                        "aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa"};

    (void)state;
    for (size_t i = 0; i < sizeof wrong / sizeof *wrong; i++) {
        mkperf_Configure c = mkperf_Configure_init_zero;
        struct mkperf_error e = {.text = ""};
        if (mkperf_events_parse(wrong[i], &c, &e) != MKPERF_ERR_USAGE || e.text[0] == '\0') {
            fail_msg("%s was taken", wrong[i]);
        }
    }
}

/* The calls that a decoder makes, one letter each: b begin, p pd, s sample, e events, m mark, w switch, l lost, f flush,
 * E end, A abandon; S and C are samples of an unknown PD and of an unknown caller, V of an unknown event, P the same
 * PD again. */
static void make_calls(const char *calls)
{
    struct mkperf_order order;
    const struct mkperf_sink sink =
        mkperf_sink_in_order((struct mkperf_sink){.take = mkperf_take_nothing}, &order);
    const struct mkperf_session session = {.nevents = 1};
    const struct mkperf_totals totals = {.samples = 0};
    struct mkperf_pd pd = {.name = "pd"};
    struct mkperf_error e;
    uint32_t npds = 0;

    for (; *calls != '\0'; calls++) {
        const struct mkperf_chain callers = {.n = 1, .caller = {{1, *calls == 'C' ? 7 : 0}}};
        const struct mkperf_sample sample = {
            .callers = &callers, .pd = *calls == 'S' ? npds : 0, .event = *calls == 'V' ? 1 : 0};
        switch (*calls) {
        case 'b':
            mkperf_sink_begin(&sink, &session, &e);
            break;
        case 'p':
        case 'P':
            npds -= *calls == 'P';
            pd.id = npds++;
            mkperf_sink_pd(&sink, &pd, &e);
            break;
        case 'e':
            mkperf_sink_events(&sink, &session, &e);
            break;
        case 'm':
            mkperf_sink_mark(&sink, &(struct mkperf_mark){.name = "mark"}, &e);
            break;
        case 'w':
            mkperf_sink_sched(&sink, &(struct mkperf_sched){.from = MKPERF_SCHED_NOBODY}, &e);
            break;
        case 'l':
            mkperf_sink_lost(&sink, &(struct mkperf_lost){.samples = 1}, &e);
            break;
        case 'f':
            mkperf_sink_flush(&sink, &e);
            break;
        case 'E':
            mkperf_sink_end(&sink, &totals, &e);
            break;
        case 'A':
            mkperf_sink_abandon(&sink);
            break;
        default:
            mkperf_sink_sample(&sink, &sample, &e);
        }
    }
}

/* Returns whether a process that makes these calls is ended by an assertion. */
static bool is_stopped(const char *calls)
{
    int status;

    fflush(NULL);
    pid_t child = fork();
    if (child == 0) {
        (void)freopen("/dev/null", "w", stderr); /* the assertion's message */
        signal(SIGABRT, SIG_DFL);
        make_calls(calls);
        _exit(0);
    }
    assert_true(child > 0 && waitpid(child, &status, 0) == child);
    return WIFSIGNALED(status) && WTERMSIG(status) == SIGABRT;
}

static void calls_out_of_order_are_stopped(void **state)
{
    static const char *const right[] = {"bpsemwlfE", "bpspsE", "bE", "A", "bA", "bpsEA"};
    static const char *const wrong[] = {"bb",  "s",   "p",   "l",   "f",   "e",   "E",
                                        "bs",  "bm",  "bpP", "bpS", "bpC", "bpV", "bpEs",
                                        "bEE", "bEp", "bAE", "bAA", "bEf", "Ab"};

    (void)state;
    for (size_t i = 0; i < sizeof right / sizeof *right; i++) {
        if (is_stopped(right[i])) {
            fail_msg("%s was stopped", right[i]);
        }
    }
    for (size_t i = 0; i < sizeof wrong / sizeof *wrong; i++) {
        if (!is_stopped(wrong[i])) {
            fail_msg("%s was not stopped", wrong[i]);
        }
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(system_names_pds),
        cmocka_unit_test(monitor_is_beside_the_kernel),
        cmocka_unit_test(wrong_inputs_are_errors),
        cmocka_unit_test(children_are_found_by_their_ids),
        cmocka_unit_test(unknown_threads_are_bounded),
        cmocka_unit_test(link_register_goes_in_front),
        cmocka_unit_test(chains_go_on_in_callers),
        cmocka_unit_test(event_lists),
        cmocka_unit_test(wrong_event_lists),
        cmocka_unit_test(calls_out_of_order_are_stopped),
    };

    return cmocka_run_group_tests(tests, setup, teardown);
}
