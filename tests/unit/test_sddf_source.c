/* SPDX-License-Identifier: BSD-2-Clause */
/* What the host writes to a line through sDDF's serial class, against a model of the virtualiser.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

#include <cmocka.h>

#include "link/connection.h"

/* The receiving virtualiser, up to one byte. */
static struct {
    enum { NORMAL, SWITCHED, NUMBER } mode;
    unsigned client, number, digits;
    char got[2][4096];
    size_t ngot[2];
} virtualiser;

static void virtualise_byte(unsigned char c)
{
    if (virtualiser.mode == NORMAL && c == 28) {
        virtualiser.mode = SWITCHED;
        virtualiser.number = virtualiser.digits = 0;
    } else if (virtualiser.mode == NORMAL || (virtualiser.mode == SWITCHED && c == 28)) {
        virtualiser.got[virtualiser.client][virtualiser.ngot[virtualiser.client]++] = (char)c;
        virtualiser.mode = NORMAL;
    } else if (c >= '0' && c <= '9' && virtualiser.digits < 4) {
        virtualiser.mode = NUMBER;
        virtualiser.number = virtualiser.number * 10 + c - '0';
        virtualiser.digits++;
    } else {
        if (virtualiser.mode == NUMBER && c == '\r' && virtualiser.number < 2) {
            virtualiser.client = virtualiser.number;
        }
        virtualiser.mode = NORMAL;
    }
}

/* Regardless of earlier calls. */
static void host_reaches_its_client(void **state)
{
    static const char *const before[] = {"",
                                         "x",
                                         "\x1c",
                                         "\x1c"
                                         "4",
                                         "\x1c"
                                         "0\r",
                                         "\x1c\x1c"};
    char directory[] = "/tmp/mkperf-sddf-XXXXXX";
    struct sockaddr_un address = {.sun_family = AF_UNIX};
    char spec[128], all[1024], got[4096];
    struct mkperf_source s;
    struct mkperf_error e = {.text = ""};

    (void)state;
    assert_non_null(mkdtemp(directory));
    snprintf(address.sun_path, sizeof address.sun_path, "%s/line", directory);
    snprintf(spec, sizeof spec, "sddf:1,unix:%s", address.sun_path);
    for (unsigned i = 0; i < sizeof all; i++) {
        all[i] = (char)(i % 5 == 0 ? 28 : i);
    }
    int listener = socket(AF_UNIX, SOCK_STREAM, 0);
    assert_int_equal(bind(listener, (struct sockaddr *)&address, sizeof address), 0);
    assert_int_equal(listen(listener, 1), 0);
    for (size_t i = 0; i < sizeof before / sizeof *before; i++) {
        memset(&virtualiser, 0, sizeof virtualiser);
        for (const char *b = before[i]; *b != '\0'; b++) {
            virtualise_byte((unsigned char)*b);
        }
        if (mkperf_source_init(&s, spec, &e) != MKPERF_OK ||
            mkperf_source_open(&s, &e) != MKPERF_OK) {
            fail_msg("%s", e.text);
        }
        int fd = accept(listener, NULL, NULL);
        assert_int_equal(s.ops->write(&s, all, sizeof all, &e), MKPERF_OK);
        mkperf_source_end(&s);
        for (ssize_t n; (n = read(fd, got, sizeof got)) > 0;) {
            for (ssize_t k = 0; k < n; k++) {
                virtualise_byte((unsigned char)got[k]);
            }
        }
        close(fd);
        assert_int_equal(virtualiser.ngot[1], sizeof all);
        assert_memory_equal(virtualiser.got[1], all, sizeof all);
    }
    close(listener);
    unlink(address.sun_path);
    rmdir(directory);
}

static void wrong_specs(void **state)
{
    static const char *const wrong[] = {"sddf:",      "sddf:unix:x",   "sddf:64,unix:x",
                                        "sddf:1unix", "sddf:1,tcp:x",  "sddf:-1,unix:x",
                                        "sddf:1,",    "sddf:1,unixx:", "sddf:1,unix:"};
    struct mkperf_source s;
    struct mkperf_error e = {.text = ""};

    (void)state;
    for (size_t i = 0; i < sizeof wrong / sizeof *wrong; i++) {
        assert_int_equal(mkperf_source_init(&s, wrong[i], &e), MKPERF_OK);
        assert_int_equal(mkperf_source_open(&s, &e), MKPERF_ERR_USAGE);
        assert_non_null(strstr(e.text, wrong[i]));
        mkperf_source_end(&s);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(wrong_specs),
        cmocka_unit_test(host_reaches_its_client),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
