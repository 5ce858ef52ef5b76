/* SPDX-License-Identifier: BSD-2-Clause */
/* host/system: valid and invalid .system files, and what is read from them. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>
#include <stdio.h>
#include <string.h>

#include "host/system/system.h"

#include <mkperf/record.h>

#define PROGRAM "<program_image path='p.elf'/>"

/* Parses text, which must be right. */
static struct mkperf_system *parse(const char *text)
{
    struct mkperf_error e = {.text = ""};
    struct mkperf_system *s = NULL;

    if (mkperf_system_parse("t.system", text, strlen(text), &s, &e) != MKPERF_OK) {
        fail_msg("%s", e.text);
    }
    return s;
}

/* Parses text, which must be refused with exactly this message. */
static void refused(const char *text, const char *message)
{
    struct mkperf_error e = {.text = ""};
    struct mkperf_system *s = NULL;

    assert_int_equal(mkperf_system_parse("t.system", text, strlen(text), &s, &e), MKPERF_ERR_INPUT);
    assert_int_equal(e.status, MKPERF_ERR_INPUT);
    assert_null(s);
    assert_string_equal(e.text, message);
}

/* The same for a body of <system> that starts on line 1. */
static void body_refused(const char *body, const char *message)
{
    char text[4096];

    snprintf(text, sizeof text, "<system>%s</system>", body);
    refused(text, message);
}

static void everything(void **state)
{
    (void)state;
    struct mkperf_system *s = parse(
        "<?xml version='1.0'?>\n<!-- c -->\n<system>\n"
        "<channel><end pd='b' id='1' pp='true' setvar_id='peer'/>"
        "<end pd='a' id='61' notify='false'/></channel>\n"
        "<protection_domain name='a' priority='254' budget='10' period='20' passive='true' "
        "stack_size='0x2000' smc='true' cpu='1'>" PROGRAM
        "<map mr='m' vaddr='0x20_0000' perms='r' cached='false' setvar_vaddr='v' setvar_size='z' "
        "setvar_paddr='p'/>"
        "<irq irq='23' id='0' trigger='edge'/><irq irq='33' id='2'/>"
        "<setvar symbol='q' region_paddr='m'/></protection_domain>\n"
        "<protection_domain name='b'>" PROGRAM "</protection_domain>\n"
        "<memory_region name='m' size='0x200000' page_size='0x200000' phys_addr='0x4000_0000'/>\n"
        "</system>");

    assert_int_equal(s->npds, 2);
    assert_int_equal(s->nregions, 1);
    assert_int_equal(s->nchannels, 1);
    const struct mkperf_system_pd *a = &s->pd[0];
    assert_string_equal(a->name, "a");
    assert_string_equal(a->program, "p.elf");
    assert_int_equal(a->scheduling.priority, 254);
    assert_int_equal(a->parent, -1);
    assert_int_equal(a->stack_size, 0x2000);
    assert_true(a->scheduling.passive && a->smc && a->scheduling.cpu == 1 &&
                a->virtual_machine == 0);
    assert_int_equal(a->line, 5);
    assert_int_equal(a->nmaps, 1);
    assert_int_equal(a->map[0].vaddr, 0x200000);
    assert_true(a->map[0].read && !a->map[0].write && !a->map[0].execute && !a->map[0].cached);
    assert_int_equal(a->nirqs, 2);
    assert_true(a->irq[0].irq == 23 && a->irq[0].edge && !a->irq[1].edge && a->irq[1].id == 2);
    assert_int_equal(a->nsetvars, 4);
    assert_int_equal(a->setvar[0].kind, MKPERF_SETVAR_VADDR);
    assert_int_equal(a->setvar[1].kind, MKPERF_SETVAR_SIZE);
    assert_int_equal(a->setvar[2].kind, MKPERF_SETVAR_PADDR);
    assert_int_equal(a->setvar[3].kind, MKPERF_SETVAR_PADDR);
    assert_string_equal(a->setvar[3].symbol, "q");
    const struct mkperf_system_pd *b = &s->pd[1];
    assert_true(b->scheduling.priority == 0 && b->stack_size == 0x1000 && !b->scheduling.passive &&
                b->nsetvars == 1);
    assert_true(b->setvar[0].kind == MKPERF_SETVAR_ID && b->setvar[0].value == 1);
    assert_true(s->region[0].has_phys_addr && s->region[0].phys_addr == 0x40000000);
    const struct mkperf_system_end *end = s->channel[0].end;
    assert_true(end[0].pd == 1 && end[0].id == 1 && end[0].pp && end[0].notify);
    assert_true(end[1].pd == 0 && end[1].id == 61 && !end[1].pp && !end[1].notify);
    mkperf_system_free(s);
}

/* Microkit numbers PDs in the order in which they begin; children with one id stay distinct. */
static void identities(void **state)
{
    (void)state;
    struct mkperf_system *s = parse(
        "<system><protection_domain name='a'>" PROGRAM "<protection_domain name='b' id='7'>" PROGRAM
        "<protection_domain name='d' id='3' passive='true'>" PROGRAM
        "</protection_domain></protection_domain>"
        "<protection_domain name='c' id='5'>" PROGRAM "</protection_domain></protection_domain>"
        "<protection_domain name='e'>" PROGRAM "<protection_domain name='f' id='7'>" PROGRAM
        "</protection_domain></protection_domain>"
        "</system>");

    assert_int_equal(s->npds, 6);
    assert_string_equal(s->pd[2].name, "d");
    assert_int_equal(s->pd[2].parent, 1);
    assert_int_equal(s->pd[3].parent, 0);
    assert_int_equal(s->pd[5].parent, 4);
    assert_true(s->pd[0].thread == 1 && s->pd[4].thread == 5);
    assert_true(s->pd[1].thread == MKPERF_THREAD_CHILD(1, 7));
    assert_true(s->pd[2].thread == MKPERF_THREAD_CHILD(2, 3));
    assert_true(s->pd[5].thread == MKPERF_THREAD_CHILD(5, 7));
    mkperf_system_free(s);
}

static void virtual_machine(void **state)
{
    (void)state;
    struct mkperf_system *s =
        parse("<system><protection_domain name='a'>" PROGRAM "\n<virtual_machine name='v' "
              "priority='2'><vcpu id='0'/><map mr='m' vaddr='0'/></virtual_machine>"
              "</protection_domain></system>");

    assert_int_equal(s->pd[0].virtual_machine, 2);
    assert_int_equal(s->pd[0].nmaps, 0);
    assert_int_equal(s->nvcpus, 1);
    assert_string_equal(s->vcpu[0].name, "VM v, vcpu 0");
    assert_true(s->vcpu[0].thread == MKPERF_THREAD_VCPU(0, 2, 0));
    assert_true(mkperf_thread_is_vcpu(s->vcpu[0].thread));
    mkperf_system_free(s);
    /* Two that differ in their cores, and a third that nothing distinguishes from the second. The first is on its monitor's core. */
    s = parse("<system><protection_domain name='a' cpu='2'>" PROGRAM
              "<virtual_machine name='v' priority='2'><vcpu id='0'/></virtual_machine>"
              "</protection_domain><protection_domain name='b'>" PROGRAM
              "<virtual_machine name='w' priority='2'><vcpu id='0' cpu='1'/></virtual_machine>"
              "</protection_domain><protection_domain name='c'>" PROGRAM
              "<virtual_machine name='x' priority='2'><vcpu id='0' cpu='1'/></virtual_machine>"
              "</protection_domain></system>");
    assert_int_equal(s->nvcpus, 2);
    assert_string_equal(s->vcpu[0].name, "VM v, vcpu 0");
    assert_true(s->vcpu[0].thread == MKPERF_THREAD_VCPU(2, 2, 0));
    assert_string_equal(s->vcpu[1].name, "VM w, vcpu 0 or another");
    assert_int_equal(s->vcpu[1].parent, 1);
    assert_false(mkperf_thread_is_vcpu(MKPERF_THREAD_CHILD(62, 255)));
    assert_false(mkperf_thread_is_vcpu(MKPERF_THREAD_IDLE));
    mkperf_system_free(s);
}

/* Elements and attributes of Microkit 2.1 to 2.3. */
static void newer(void **state)
{
    (void)state;
    struct mkperf_system *s =
        parse("<system><protection_domain name='a' fpu='false'>"
              "<program_image path='p.elf' path_for_symbols='s.elf'/>\n"
              "<irq irq='40' id='5' setvar_id='line'/>"
              "<cspace><cap_tcb slot='63' pd='c'/><cap_tcb slot='1' pd='a'/></cspace>"
              "<protection_domain name='b' id='7' setvar_id='child'>" PROGRAM
              "<virtual_machine name='v'><vcpu id='0' setvar_id='x'/></virtual_machine>"
              "</protection_domain></protection_domain>"
              "<protection_domain name='c'>" PROGRAM "</protection_domain></system>");
    const struct mkperf_system_pd *a = &s->pd[0];

    assert_null(s->beyond);
    assert_string_equal(a->symbols, "s.elf");
    assert_int_equal(a->cspace, 2);
    assert_int_equal(a->ntcbs, 2);
    assert_true(a->tcb[0].slot == 63 && a->tcb[0].pd == 2 && a->tcb[1].slot == 1 &&
                a->tcb[1].pd == 0);
    assert_true(a->nsetvars == 2 && a->setvar[0].value == 5 && a->setvar[1].value == 7);
    assert_string_equal(a->setvar[1].symbol, "child");
    mkperf_system_free(s);
    s = parse("<system><domains><domain name='d' id='1'/><domain_schedule start_index='0'>"
              "<schedule_entry domain='d' duration='10 "
              "us'/><schedule_end_marker/></domain_schedule></domains>\n"
              "<memory_region name='m' prefill_path='f'/>"
              "<protection_domain name='a' domain='d'>" PROGRAM
              "<map mr='m' vaddr='0' setvar_prefill_size='n'/>"
              "<cspace><cap_sc slot='2' pd='a'/><cap_vspace slot='3' pd='a'/></cspace>"
              "</protection_domain></system>");
    assert_string_equal(s->beyond, "prefilled memory_regions");
    assert_int_equal(s->beyond_line, 2);
    assert_int_equal(s->region[0].size, 0);
    mkperf_system_free(s);
    s = parse(
        "<system><protection_domain name='a'>" PROGRAM "\n"
        "<irq pin='20' vector='7' id='2' ioapic='0' polarity='high' trigger='level'/>"
        "<irq pcidev='01:1f.2' handle='3' vector='8' id='3'/>"
        "<ioport id='0' addr='0x3f8' size='8' setvar_addr='p'/></protection_domain></system>");
    assert_string_equal(s->beyond, "interrupts of x86-64");
    assert_int_equal(s->beyond_line, 2);
    assert_true(s->pd[0].nirqs == 2 && s->pd[0].irq[0].irq == 7 && s->pd[0].irq[1].id == 3);
    mkperf_system_free(s);

#define CSPACE(caps) \
    "<protection_domain name='a'>" PROGRAM "<cspace>" caps "</cspace></protection_domain>"
    body_refused(CSPACE("<cap_tcb slot='1' pd='b'/>"),
                 "t.system:1: cap_tcb of unknown protection_domain 'b'");
    body_refused(CSPACE("<cap_tcb slot='0' pd='a'/>"), "t.system:1: slot must not be 0");
    body_refused(CSPACE("<cap_tcb slot='64' pd='a'/>"),
                 "t.system:1: slot: 64 is above the maximum, 63");
    body_refused(CSPACE("<cap_tcb slot='1' pd='a'/>\n<cap_tcb slot='1' pd='a'/>"),
                 "t.system:2: slot 1 is already used on line 1");
    body_refused(CSPACE("") CSPACE("</cspace><cspace>"),
                 "t.system:1: protection_domain 'a' has a cspace already");
    body_refused("<cspace/>", "t.system:1: element 'cspace' is not allowed here");
    body_refused("<protection_domain name='a' setvar_id='x'/>",
                 "t.system:1: id belongs to a child protection_domain only");
    body_refused("<memory_region name='m'/>", "t.system:1: attribute 'size' is missing");
}

#define DOMAINS(schedule) \
    "<domains><domain name='d'/><domain name='e|f' id='7'/>" schedule "</domains>"
#define ONE(start, domain, duration) \
    DOMAINS("<domain_schedule" start ">" ENTRY(domain, duration) "</domain_schedule>")
#define ENTRY(domain, duration) "<schedule_entry domain='" domain "' duration='" duration "'/>"
#define IN_DOMAIN(name) \
    "<protection_domain name='a' domain='" name "'>" PROGRAM "</protection_domain>"

/* A frame is from where the schedule starts to the end marker behind that entry. */
static void domains(void **state)
{
    struct mkperf_schedule_entry window[MKPERF_WINDOWS];
    struct mkperf_system *s = parse("<system>" DOMAINS(
        "<domain_schedule start_index='1' index_shift='10'>" ENTRY("d", "5 us")
            ENTRY("d", "1_000 us") ENTRY("e|f", "0x20 ticks")
                ENTRY("d", "3 us") "<schedule_end_marker/>" ENTRY("d", "4 us") "</domain_schedule>")
                                        IN_DOMAIN("e|f") "</system>");

    (void)state;
    assert_null(s->beyond);
    assert_int_equal(s->pd[0].domain, 1);
    assert_int_equal(s->nwindows, 3);
    char *text = mkperf_windows_text(s);
    assert_string_equal(text, "11 1000 us d|12 32 ticks e/f|13 3 us d");
    assert_int_equal(mkperf_windows_read(text, window), 3);
    assert_true(window[0].number == 11 && window[0].us == 1000 && window[0].ticks == 0);
    assert_true(window[1].number == 12 && window[1].us == 0 && window[1].ticks == 32);
    assert_string_equal(window[1].domain, "e/f");
    free(text);
    mkperf_system_free(s);
    assert_int_equal(mkperf_windows_read("1 2 us a|2 0 us b|3 4 us c", window), 1);
    assert_int_equal(mkperf_windows_read(NULL, window), 0);

    body_refused(ONE("", "d", "1 ms") IN_DOMAIN("d"),
                 "t.system:1: duration: '1 ms' is not a number and us or ticks");
    body_refused(ONE("", "d", "0 us") IN_DOMAIN("d"), "t.system:1: duration is 0");
    body_refused(ONE("", "g", "1 us") IN_DOMAIN("d"),
                 "t.system:1: schedule_entry of unknown domain 'g'");
    body_refused(ONE("", "d", "1 us") IN_DOMAIN("g"),
                 "t.system:1: protection_domain in unknown domain 'g'");
    body_refused(ONE(" start_index='1'", "d", "1 us") IN_DOMAIN("d"),
                 "t.system:1: the domain_schedule has no entry at its start_index");
    body_refused(DOMAINS("") IN_DOMAIN("d"),
                 "t.system:1: the domain_schedule has no entry at its start_index");
    body_refused(DOMAINS("<domain_schedule>" ENTRY("d", "1 us") "</domain_schedule>"
                                                                "<domain_schedule/>")
                     IN_DOMAIN("d"),
                 "t.system:1: there is a domain_schedule on line 1 already");
    body_refused("<domains><domain name='d'/><domain name='d'/><domain_schedule>" ENTRY(
                     "d", "1 us") "</domain_schedule></domains>" IN_DOMAIN("d"),
                 "t.system:1: domain 'd' is defined twice");
    body_refused(IN_DOMAIN("d"), "t.system:1: protection_domain in unknown domain 'd'");
    body_refused(ONE("", "d", "1 us") "<protection_domain name='a'>" PROGRAM "</protection_domain>",
                 "t.system:1: protection_domain 'a' needs a domain, as all do with <domains>");
}

static void bad_form(void **state)
{
    (void)state;
    refused("", "t.system:1: no element found");
    refused("<system>\n<x", "t.system:2: unclosed token");
    refused("<system>\n</sys>", "t.system:2: mismatched tag");
    refused("<system/>", "t.system:1: no protection_domain is defined");
    refused("<pd/>", "t.system:1: unknown element 'pd'");
    refused("<!DOCTYPE s [<!ENTITY e 'e'>]><system>&e;</system>",
            "t.system:1: document types are not supported");
    body_refused("\ntext", "t.system:2: text does not belong here");
    body_refused("\n<irq/>", "t.system:2: element 'irq' is not allowed here");
    body_refused("<memory_region name='m' size='4096' colour='red'/>",
                 "t.system:1: element 'memory_region' has no attribute 'colour'");
    body_refused("<protection_domain/>", "t.system:1: attribute 'name' is missing");
    body_refused("<protection_domain name='a\xc2\x9b"
                 "31m'>" PROGRAM "</protection_domain>",
                 "t.system:1: name has characters that are not printable");
    body_refused("<protection_domain name='a&#x202e;b'>" PROGRAM "</protection_domain>",
                 "t.system:1: name has characters that are not printable");
    body_refused("<protection_domain name='a'>\n</protection_domain>",
                 "t.system:2: protection_domain 'a' has no program_image");
    body_refused("<protection_domain name='a'>" PROGRAM PROGRAM "</protection_domain>",
                 "t.system:1: protection_domain 'a' has a program_image already");
    body_refused("<protection_domain name='a' id='1'/>",
                 "t.system:1: id belongs to a child protection_domain only");
}

static void bad_numbers(void **state)
{
    static const struct {
        const char *attributes;
        const char *message;
    } pd[] = {
        {"priority='255'", "priority: 255 is above the maximum, 254"},
        {"priority='-1'", "priority: '-1' is not a number"},
        {"priority=''", "priority: '' is not a number"},
        {"priority='0x'", "priority: '0x' is not a number"},
        {"priority='1f'", "priority: '1f' is not a number"},
        {"budget='99999999999999999999'", "budget: '99999999999999999999' is not a number"},
        {"budget='9' period='8'", "budget must not be above period"},
        {"stack_size='0'", "stack_size is not a positive multiple of 0x1000"},
        {"stack_size='5000'", "stack_size is not a positive multiple of 0x1000"},
        {"passive='yes'", "passive must be 'true' or 'false', not 'yes'"},
    };
    (void)state;
    for (size_t i = 0; i < sizeof pd / sizeof *pd; i++) {
        char body[256];
        char message[256];
        snprintf(body, sizeof body,
                 "<protection_domain name='a' %s>" PROGRAM "</protection_domain>",
                 pd[i].attributes);
        snprintf(message, sizeof message, "t.system:1: %s", pd[i].message);
        body_refused(body, message);
    }
    body_refused("<memory_region name='m' size='0'/>",
                 "t.system:1: size is not a positive multiple of the page size");
    body_refused("<memory_region name='m' size='0x1000' page_size='0x4000'/>",
                 "t.system:1: page_size must be 0x1000 or 0x200000");
    body_refused("<memory_region name='m' size='0x1000' phys_addr='0x10'/>",
                 "t.system:1: phys_addr is not a multiple of the page size");
}

/* Puts items into PD a (priority 5), next to PD b (priority 5) and a region m of two pages. */
static void in_pd_refused(const char *items, const char *more, const char *message)
{
    char body[2048];

    snprintf(body, sizeof body,
             "<memory_region name='m' size='0x2000'/>"
             "<protection_domain name='a' priority='5'>" PROGRAM "%s</protection_domain>"
             "<protection_domain name='b' priority='5'>" PROGRAM "</protection_domain>%s",
             items, more);
    body_refused(body, message);
}

static void bad_context(void **state)
{
    (void)state;
    in_pd_refused("\n<map mr='x' vaddr='0'/>", "", "t.system:2: map of unknown memory_region 'x'");
    in_pd_refused("<map mr='m' vaddr='0'/>\n<map mr='m' vaddr='0x1000'/>", "",
                  "t.system:2: map of 'm' overlaps the map of 'm' on line 1");
    in_pd_refused("<map mr='m' vaddr='0x10'/>", "",
                  "t.system:1: vaddr 0x10 is not a multiple of the page size 0x1000");
    in_pd_refused("<map mr='m' vaddr='0x7ffffffff000'/>", "",
                  "t.system:1: map of 'm' ends above the user address space");
    in_pd_refused("<map mr='m' vaddr='0' perms='w'/>", "",
                  "t.system:1: perms must not be only 'w'");
    in_pd_refused("<map mr='m' vaddr='0' setvar_vaddr='s' setvar_size='s'/>", "",
                  "t.system:1: symbol 's' is already set on line 1");
    in_pd_refused("<setvar symbol='s' region_paddr='x'/>", "",
                  "t.system:1: setvar of unknown memory_region 'x'");
    in_pd_refused("<irq irq='40' id='1'/>\n<irq irq='40' id='2'/>", "",
                  "t.system:2: irq 40 is already used on line 1");
    in_pd_refused("<irq irq='40' id='1'/>\n<irq irq='41' id='1'/>", "",
                  "t.system:2: id 1 is used twice in protection_domain 'a'");
    in_pd_refused("<irq irq='40' id='62'/>", "", "t.system:1: id: 62 is above the maximum, 61");
    in_pd_refused("<irq vector='7' id='2'/>", "", "t.system:1: attribute 'pin' is missing");
    in_pd_refused("<irq pin='7' id='2'/>", "", "t.system:1: attribute 'irq' is missing");
    in_pd_refused("<irq pin='7' vector='108' id='2'/>", "",
                  "t.system:1: vector: 108 is above the maximum, 107");
    in_pd_refused("<ioport id='0' addr='0x3f8'/>", "", "t.system:1: attribute 'size' is missing");
    in_pd_refused("", "\n<protection_domain name='a'>" PROGRAM "</protection_domain>",
                  "t.system:2: protection_domain 'a' is already defined on line 1");
    in_pd_refused("", "\n<memory_region name='m' size='0x1000'/>",
                  "t.system:2: memory_region 'm' is already defined on line 1");
    in_pd_refused("",
                  "<memory_region name='x' size='0x2000' phys_addr='0x1000'/>\n"
                  "<memory_region name='y' size='0x1000' phys_addr='0x2000'/>",
                  "t.system:2: memory_region 'y' overlaps 'x' in physical memory");
    in_pd_refused("<protection_domain name='c' id='1'>" PROGRAM "</protection_domain>\n"
                  "<protection_domain name='d' id='1'>" PROGRAM "</protection_domain>",
                  "", "t.system:2: child id 1 is already used on line 1");
}

static void bad_channels(void **state)
{
    (void)state;
    in_pd_refused("", "\n<channel><end pd='a' id='1'/></channel>",
                  "t.system:2: channel must have two ends");
    in_pd_refused(
        "", "<channel><end pd='a' id='1'/><end pd='b' id='1'/>\n<end pd='b' id='2'/></channel>",
        "t.system:2: channel with more than two ends");
    in_pd_refused("", "<channel><end pd='a' id='1'/><end pd='z' id='1'/></channel>",
                  "t.system:1: end of a channel at unknown protection_domain 'z'");
    in_pd_refused("", "<channel><end pd='a' id='1'/><end pd='a' id='2'/></channel>",
                  "t.system:1: channel of protection_domain 'a' with itself");
    in_pd_refused("",
                  "<channel><end pd='a' id='1' pp='true'/><end pd='b' id='2' pp='true'/></channel>",
                  "t.system:1: channel with pp at both ends");
    in_pd_refused("", "<channel><end pd='a' id='1' pp='true'/><end pd='b' id='2'/></channel>",
                  "t.system:1: pp: 'a' (priority 5) may only call a protection_domain of higher "
                  "priority, but 'b' has 5");
    in_pd_refused("<irq irq='40' id='1'/>",
                  "\n<channel><end pd='a' id='1'/><end pd='b' id='2'/></channel>",
                  "t.system:2: id 1 is used twice in protection_domain 'a'");
}

/* The diff that gives the PDs these budgets. */
static void budgets(const char *text, const uint64_t *budget_us, const char *diff)
{
    struct mkperf_system *s = parse(text);
    char *printed = NULL;
    size_t n = 0;
    FILE *out = open_memstream(&printed, &n);

    mkperf_system_print_budgets(out, s, "a.system", budget_us);
    fclose(out);
    assert_string_equal(printed, diff);
    free(printed);
    mkperf_system_free(s);
}

/* In any form that an attribute has: two on a line, alone on one, with a name that others end with, within a child. */
static void other_budgets(void **state)
{
    static const char text[] =
        "<system>\n"
        "<protection_domain name='budget=9' period ='20' budget\t= \"1_0\"><program_image "
        "path='p'/>"
        "<protection_domain id='1' name='b>' budget='1'><program_image path='p'/>"
        "</protection_domain></protection_domain>\n"
        "<protection_domain name='c'><program_image path='p'/></protection_domain>\n"
        "\n\n\n\n\n\n"
        "<protection_domain\r\n  budget='0x5'\r\n  name='d'>\n"
        "<program_image path='p'/></protection_domain></system>";
    const uint64_t all[] = {11, 12, 13, 14}, none[] = {10, 0, 7, 5}, last[] = {0, 0, 0, 6};

    (void)state;
    budgets(text, none, "");
    budgets(text, all,
            "--- a.system\n+++ a.system\n"
            "@@ -1,5 +1,5 @@\n"
            " <system>\n"
            "-<protection_domain name='budget=9' period ='20' budget\t= \"1_0\"><program_image "
            "path='p'/>"
            "<protection_domain id='1' name='b>' budget='1'><program_image path='p'/>"
            "</protection_domain></protection_domain>\n"
            "+<protection_domain name='budget=9' period ='20' budget\t= \"11\"><program_image "
            "path='p'/>"
            "<protection_domain id='1' name='b>' budget='12'><program_image path='p'/>"
            "</protection_domain></protection_domain>\n"
            " <protection_domain name='c'><program_image path='p'/></protection_domain>\n"
            " \n \n"
            "@@ -8,6 +8,6 @@\n"
            " \n \n"
            " <protection_domain\r\n"
            "-  budget='0x5'\r\n"
            "+  budget='14'\r\n"
            "   name='d'>\n"
            " <program_image path='p'/></protection_domain></system>\n"
            "\\ No newline at end of file\n");
    budgets("<system><protection_domain name='a'><program_image path='p'/></protection_domain>"
            "<protection_domain name='b'><program_image path='p'/></protection_domain>"
            "<protection_domain name='c'><program_image path='p'/></protection_domain>"
            "<protection_domain name='d' budget='5'><program_image "
            "path='p'/></protection_domain></system>",
            last,
            "--- a.system\n+++ a.system\n@@ -1,1 +1,1 @@\n"
            "-<system><protection_domain name='a'><program_image path='p'/></protection_domain>"
            "<protection_domain name='b'><program_image path='p'/></protection_domain>"
            "<protection_domain name='c'><program_image path='p'/></protection_domain>"
            "<protection_domain name='d' budget='5'><program_image "
            "path='p'/></protection_domain></system>\n"
            "\\ No newline at end of file\n"
            "+<system><protection_domain name='a'><program_image path='p'/></protection_domain>"
            "<protection_domain name='b'><program_image path='p'/></protection_domain>"
            "<protection_domain name='c'><program_image path='p'/></protection_domain>"
            "<protection_domain name='d' budget='6'><program_image "
            "path='p'/></protection_domain></system>\n"
            "\\ No newline at end of file\n");
}

static void file(void **state)
{
    struct mkperf_error e = {.text = ""};
    struct mkperf_system *s = NULL;

    (void)state;
    assert_int_equal(mkperf_system_load("/nonexistent/x.system", &s, &e), MKPERF_ERR_INPUT);
    assert_string_equal(e.text, "/nonexistent/x.system: No such file or directory");
    assert_int_equal(mkperf_system_load("platform/pocket/selftest/selftest.system", &s, &e),
                     MKPERF_OK);
    assert_int_equal(s->npds, 7);
    mkperf_system_free(s);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(everything),
        cmocka_unit_test(identities),
        cmocka_unit_test(virtual_machine),
        cmocka_unit_test(newer),
        cmocka_unit_test(bad_form),
        cmocka_unit_test(bad_numbers),
        cmocka_unit_test(bad_context),
        cmocka_unit_test(bad_channels),
        cmocka_unit_test(other_budgets),
        cmocka_unit_test(domains),
        cmocka_unit_test(file),
    };
    return cmocka_run_group_tests_name("system", tests, NULL, NULL);
}
