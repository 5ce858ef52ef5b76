/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * `mkperf console` against a target on loopback: commands from -c, from a pipe, and typed at a
 * pseudo-terminal.
 */
#include "fake_net.h"

#include <fcntl.h>
#include <poll.h>
#include <pty.h>
#include <signal.h>
#include <stdlib.h>
#include <sys/prctl.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/base.h"
#include "cmd/cmd.h"

static char directory[] = "/tmp/mkperf-console-XXXXXX";
static char said[1 << 16]; /* what the console printed */
static size_t length;

/* In the child: the console with these arguments (separated by '|'). */
static void console(uint16_t port, const char *more)
{
    char copy[512], target[32], *argv[20] = {(char[]){"console"}, (char[]){"-t"}, target};
    int argc = 3;

    snprintf(target, sizeof target, "tcp:127.0.0.1:%u", port);
    snprintf(copy, sizeof copy, "%s", more);
    for (char *word = strtok(copy, "|"); word != NULL; word = strtok(NULL, "|")) {
        argv[argc++] = word;
    }
    argv[argc] = NULL;
    int status = mkperf_command_main(&mkperf_console_command, argc, argv);
    (void)fflush(stdout);
    exit(status);
}

/* Reads until `text` was said, at most a minute. */
static void wait_for(int fd, const char *text)
{
    while (strstr(said, text) == NULL) {
        struct pollfd ready = {.fd = fd, .events = POLLIN};
        ssize_t n = poll(&ready, 1, 60000) > 0 ? read(fd, said + length, sizeof said - 1 - length)
                                               : 0;
        if (n <= 0) {
            fail_msg("\"%s\" was not said, but: %s", text, said);
        }
        length += (size_t)n;
        said[length] = '\0';
    }
}

static void forget(void)
{
    length = 0;
    said[0] = '\0';
}

static int ended(pid_t child)
{
    int status;

    assert_int_equal(waitpid(child, &status, 0), child);
    return WIFEXITED(status) ? WEXITSTATUS(status) : -1;
}

/* The console with its output in a pipe and `input` at its standard input. */
static int piped(struct how how, const char *more, const char *input)
{
    uint16_t port;
    pid_t target = start_target(how, &port);
    int out[2], in[2];
    ssize_t n;

    assert_int_equal(pipe(out) | pipe(in), 0);
    pid_t child = fork();
    if (child == 0) {
        dup2(in[0], 0);
        dup2(out[1], 1);
        dup2(out[1], 2);
        close(in[1]);
        console(port, more);
    }
    close(out[1]);
    close(in[0]);
    assert_int_equal(write(in[1], input, strlen(input)), (ssize_t)strlen(input));
    close(in[1]);
    forget();
    while ((n = read(out[0], said + length, sizeof said - 1 - length)) > 0) {
        length += (size_t)n;
        said[length] = '\0';
    }
    close(out[0]);
    int status = ended(child);
    kill(target, SIGKILL);
    waitpid(target, NULL, 0);
    return status;
}

static void expect(int status, int wanted, const char *text)
{
    if (status != wanted || strstr(said, text) == NULL) {
        fail_msg("exit status %d (want %d, \"%s\"): %s", status, wanted, text, said);
    }
}

static void commands_from_the_command_line(void **state)
{
    struct how how = {.dials = false};
    char long_line[700];

    (void)state;
    expect(piped(how, "-c|status; status", ""), 0, "part one\n");
    expect(0, 0, "part two\n");
    expect(0, 0, "this console controls the target");
    expect(piped(how, "-c|nonsense", ""), MKPERF_ERR_REFUSED, "usage: start|stop|status");
    expect(piped(how, "-c|help", ""), 0, "Of this console:");
    expect(0, 0, "prof_btdepth DEPTH: ");
    expect(0, 0, "exit: gives up control");
    expect(piped(how, "-c|status 'now", ""), MKPERF_ERR_REFUSED, "pairs of '");
    expect(piped(how, "", "status\n# a comment\n\n"), 0, "part two\n");
    expect(0, 0, "target: printed by the target\n");
    /* The end of a long line is no command. */
    snprintf(long_line, sizeof long_line, "%0512d status\n", 0);
    expect(piped(how, "", long_line), MKPERF_ERR_REFUSED, "a line of more than 511 characters");
    assert_null(strstr(said, "part one"));
    expect(piped(how, "", "exit\nstatus\n"), 0, "controls");
    assert_null(strstr(said, "part one"));
}

static void samples_into_a_file(void **state)
{
    struct how how = {.marks = true};
    char more[256];
    struct stat st;

    (void)state;
    snprintf(more, sizeof more, "-o|%s/out.data", directory);
    expect(piped(how, more, "start\nstatus\nstatus\nstatus\nstatus\nstop\n"), 0, "out.data: ");
    expect(0, 0, "session 1 runs");
    expect(0, 0, "session 1 is stopped");
    snprintf(more, sizeof more, "%s/out.data", directory);
    assert_int_equal(stat(more, &st), 0);
}

static void wrong_arguments(void **state)
{
    struct how how = {.has_key = true};

    (void)state;
    expect(piped(how, "-c|status", ""), MKPERF_ERR_REFUSED, "--key-file");
    expect(piped(how, "--timeout|0", ""), MKPERF_ERR_USAGE, "--help");
    expect(piped(how, "more", ""), MKPERF_ERR_USAGE, "--help");
    expect(piped(how, "--help", ""), 0, "usage: mkperf console");
}

static void type(int fd, const char *text)
{
    assert_int_equal(write(fd, text, strlen(text)), (ssize_t)strlen(text));
}

/* One Ctrl-D ends the console, whether it arrives at a prompt or before it. */
static void leave(int fd)
{
    type(fd, "\004");
    while (poll(&(struct pollfd){.fd = fd, .events = POLLIN}, 1, 60000) > 0) {
        if (read(fd, said, sizeof said) <= 0) {
            return;
        }
    }
    fail_msg("the console does not end at Ctrl-D");
}

/* A person: a corrected typing error, a line from history, marks that arrive in between. */
static void at_a_terminal(void **state)
{
    struct how how = {.marks = true};
    char history[128];
    struct stat st;
    uint16_t port;
    pid_t target = start_target(how, &port), child;
    int fd;

    (void)state;
    forget();
    child = forkpty(&fd, NULL, NULL, NULL);
    if (child == 0) {
        setenv("HOME", directory, 1);
        setenv("TERM", "xterm", 1);
        console(port, "");
    }
    wait_for(fd, "mkperf> ");
    type(fd, "stax\btus\r");
    wait_for(fd, "part two");
    forget();
    type(fd, "\033[A\r"); /* up: the same again */
    wait_for(fd, "part two");
    forget();
    type(fd, "start\r");
    wait_for(fd, "session 1 runs");
    wait_for(fd, "begin request (7)");
    type(fd, "stop\r");
    wait_for(fd, "session 1 is stopped");
    forget();
    close(0);
    leave(fd);
    assert_int_equal(ended(child), 0);
    close(fd);
    kill(target, SIGKILL);
    waitpid(target, NULL, 0);
    snprintf(history, sizeof history, "%s/.mkperf_history", directory);
    assert_int_equal(stat(history, &st), 0);
    assert_int_equal(st.st_mode & 077, 0);
}

static int setup(void **state)
{
    (void)state;
    signal(SIGPIPE, SIG_IGN);
    return mkdtemp(directory) != NULL ? 0 : -1;
}

static int teardown(void **state)
{
    char command[128];

    (void)state;
    snprintf(command, sizeof command, "rm -rf %s", directory);
    return system(command);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(commands_from_the_command_line),
        cmocka_unit_test(samples_into_a_file),
        cmocka_unit_test(wrong_arguments),
        cmocka_unit_test(at_a_terminal),
    };

    return cmocka_run_group_tests(tests, setup, teardown);
}
