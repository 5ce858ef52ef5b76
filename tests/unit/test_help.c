/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Descriptions of commands against their code: every option of every table is accepted, and
 * nothing else is; names, words and texts are fit for man pages and completion.
 */
#include <ctype.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "cmd/cmd.h"

enum { SELF_BYTES = 16 << 20 };

/* One of these is valid for every option with a value. */
static const char *const samples[] = {"1",    "cycles", "tcp:localhost", "A",     "pd",
                                      "perf", "delta",  "bash",          "1.5,2", "always",
                                      "comm", "10ms",   "mark:request"};

static char *self;
static struct mkperf_error e;

/* Parses one option with as many operands as the command wants. */
static enum mkperf_status parse(const struct mkperf_command *c, const char *option,
                                const char *value)
{
    char *argv[8] = {strdup(c->name), strdup(option), value != NULL ? strdup(value) : NULL};
    char *all[8];
    int argc = value != NULL ? 3 : 2;
    struct mkperf_args args;
    enum mkperf_status status;

    for (int i = 0; i < c->operands_min; i++) {
        argv[argc++] = strdup("operand");
    }
    memcpy(all, argv, sizeof all);
    memset(self, 0, SELF_BYTES);
    memset(&e, 0, sizeof e);
    status = mkperf_args_parse(c, self, argc, argv, &args, &e);
    for (int i = 0; i < argc; i++) {
        free(all[i]);
    }
    return status;
}

static void takes(const struct mkperf_command *c, const struct mkperf_option *o, const char *form)
{
    bool attached = o->value != NULL && o->value[0] == '[' && o->words == NULL;
    bool taken = (o->value == NULL || attached) && parse(c, form, NULL) == MKPERF_OK;
    char first[64] = "";

    if (o->words != NULL) {
        snprintf(first, sizeof first, "%.*s", (int)strcspn(o->words, " "), o->words);
        taken |= parse(c, form, first) == MKPERF_OK;
    }
    for (size_t i = 0; o->value != NULL && i < sizeof samples / sizeof *samples && !taken; i++) {
        taken = parse(c, form, samples[i]) == MKPERF_OK;
    }
    if (attached) { /* its value is not a word of its own, as in -z3 */
        snprintf(first, sizeof first, "%s%s%s", form, form[1] == '-' ? "=" : "", samples[0]);
        taken &= parse(c, first, NULL) == MKPERF_OK;
    }
    if (!taken) {
        fail_msg("%s %s: %s", c->name, form, e.text);
    }
    if (o->value != NULL && o->value[0] != '[' && c->operands_min == 0) {
        assert_int_equal(parse(c, form, NULL), MKPERF_ERR_USAGE);
        assert_non_null(strstr(e.text, "needs a value"));
    }
}

static void test_every_option_is_taken(void **state)
{
    const struct mkperf_option *o;
    char form[64];
    unsigned n = 0;

    (void)state;
    for (unsigned c = 0; mkperf_commands[c] != NULL; c++) {
        for (unsigned i = 0; (o = mkperf_command_option(mkperf_commands[c], i)) != NULL; i++) {
            if (o->letter != 0) {
                snprintf(form, sizeof form, "-%c", o->letter);
                takes(mkperf_commands[c], o, form);
            }
            if (o->name != NULL) {
                snprintf(form, sizeof form, "--%s", o->name);
                takes(mkperf_commands[c], o, form);
            }
            n++;
        }
    }
    assert_true(n > 80);
}

static void test_nothing_else_is_taken(void **state)
{
    const struct mkperf_option *o;
    char form[3] = "-x";

    (void)state;
    for (unsigned c = 0; mkperf_commands[c] != NULL; c++) {
        for (form[1] = '!'; form[1] < 127; form[1]++) {
            unsigned i = 0;

            while ((o = mkperf_command_option(mkperf_commands[c], i)) != NULL &&
                   o->letter != form[1]) {
                i++;
            }
            if (o == NULL && form[1] != 'h' && form[1] != '-') {
                assert_int_equal(parse(mkperf_commands[c], form, NULL), MKPERF_ERR_USAGE);
                assert_non_null(strstr(e.text, "no such option"));
            }
        }
        assert_int_equal(parse(mkperf_commands[c], "--nonsense", NULL), MKPERF_ERR_USAGE);
        assert_non_null(strstr(e.text, "--nonsense"));
        assert_non_null(strstr(e.text, "--help"));
    }
}

/* Letters and names are unique; a value is named after its kind. */
static void test_tables_make_sense(void **state)
{
    const struct mkperf_option *a, *b;

    (void)state;
    for (unsigned c = 0; mkperf_commands[c] != NULL; c++) {
        const struct mkperf_command *at = mkperf_commands[c];

        assert_non_null(at->run);
        assert_true(at->summary[0] != '\0' && at->description[0] != '\0');
        for (unsigned i = 0; (a = mkperf_command_option(at, i)) != NULL; i++) {
            assert_true(a->letter != 0 ? isalnum(a->letter) : a->name != NULL);
            assert_true(a->help[0] != '\0');
            assert_true(a->store.how != MKPERF_STORE_TAKEN || a->store.take != NULL);
            assert_int_equal(strstr(a->help, "%d") != NULL, a->number != 0);
            assert_true(a->value != NULL || a->kind == MKPERF_VALUE_TEXT);
            if (a->kind == MKPERF_VALUE_WORD || a->kind == MKPERF_VALUE_WORDS) {
                assert_true(a->words != NULL || a->list != NULL);
            }
            for (unsigned j = 0; j < i; j++) {
                b = mkperf_command_option(at, j);
                if ((a->letter != 0 && a->letter == b->letter) ||
                    (a->name != NULL && b->name != NULL && strcmp(a->name, b->name) == 0)) {
                    fail_msg("%s: two options -%c --%s", at->name, a->letter, a->name);
                }
            }
        }
    }
}

static int set_up(void **state)
{
    (void)state;
    self = calloc(1, SELF_BYTES);
    return self == NULL;
}

static int tear_down(void **state)
{
    (void)state;
    free(self);
    return 0;
}

/* The beginning of a name is not the name: --time is another command's option. */
static void whole_names(void **state)
{
    static const char *const words[][2] = {
        {"--time", "5"}, {"--time=5", NULL}, {"--tim", "5"}, {"--timeou", "5"}};

    (void)state;
    for (unsigned i = 0; i < sizeof words / sizeof *words; i++) {
        assert_int_equal(parse(&mkperf_latency_command, words[i][0], words[i][1]),
                         MKPERF_ERR_USAGE);
        assert_non_null(strstr(e.text, "no such option: --tim"));
        assert_non_null(strstr(e.text, "did you mean '--timeout'?"));
    }
    assert_int_equal(parse(&mkperf_latency_command, "--timeout", "5"), MKPERF_OK);
    assert_int_equal(parse(&mkperf_latency_command, "--timeout=5", NULL), MKPERF_OK);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_every_option_is_taken),
        cmocka_unit_test(test_nothing_else_is_taken),
        cmocka_unit_test(test_tables_make_sense),
        cmocka_unit_test(whole_names),
    };

    return cmocka_run_group_tests(tests, set_up, tear_down);
}
