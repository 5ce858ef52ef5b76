/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The files that an earlier mkperf agent left in an outbox: any names, and any bytes in windows that it had not finished. The next
 * agent takes windows in their order, within the limit, and leaves no unfinished one.
 *
 * The input: a byte for the limit, then files: the length of the name, the name, two bytes of length, the bytes.
 */
#include <dirent.h>
#include <regex.h>
#include <stdlib.h>
#include <unistd.h>

#include "fuzz/input.h"
#include "host/agent/outbox.c" // NOLINT(bugprone-suspicious-include)

enum { FILES = 16, NAME = 100, LIMIT_UNIT = 512 };

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

/* Is not reached: only windows that are made now are converted. */
enum mkperf_status mkperf_format_convert(const char *format, const struct mkperf_export *x,
                                         struct mkperf_error *e)
{
    (void)format, (void)x, (void)e;
    abort();
}

static void require(bool ok)
{
    if (!ok) {
        abort();
    }
}

static void leave_file(const char *dir)
{
    char name[NAME + 1];
    size_t n = copy_bytes(name, byte() % NAME), bytes = byte();

    name[n] = '\0';
    bytes = bytes << 8 | byte();
    const uint8_t *p = take_bytes(&bytes);
    char *path = mkperf_xprintf("%s/%s", dir, name);
    FILE *f = strchr(name, '/') == NULL && strlen(name) == n ? fopen(path, "w") : NULL;
    if (f != NULL) {
        require(bytes == 0 || fwrite(p, bytes, 1, f) == 1);
        require(fclose(f) == 0);
    }
    free(path);
}

/* Checks that each name describes its window, only in digits. */
static void check_window(const struct agent_waiting *w, uint64_t below)
{
    struct agent_name n;
    static regex_t form;
    static bool made;

    if (!made) {
        require(regcomp(&form, "^[0-9]{12}(\\.[0-9]+){2}\\.[A-Za-z0-9._-]+\\.(data|pprof)$",
                        REG_EXTENDED | REG_NOSUB) == 0);
        made = true;
    }
    require(regexec(&form, w->name, 0, NULL, 0) == 0);
    require(agent_name_parse(w->name, &n));
    require(n.sequence < below && n.samples == w->samples && n.target[0] != '\0');
}

static void remove_all(const char *dir)
{
    DIR *d = opendir(dir);

    require(d != NULL);
    for (const struct dirent *f; (f = readdir(d)) != NULL;) {
        char *path = mkperf_xprintf("%s/%s", dir, f->d_name);
        require(fnmatch("?*.data.partial", f->d_name, 0) != 0);
        (void)unlink(path);
        free(path);
    }
    closedir(d);
    require(rmdir(dir) == 0);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    char dir[] = "/dev/shm/fuzz_agent.XXXXXX";
    struct agent_outbox o = {.kind = AGENT_FILE};
    struct mkperf_error e = {.status = MKPERF_OK};
    uint64_t sequence = 0, bytes = 0;

    input.data = data;
    input.size = size;
    uint64_t limit = (uint64_t)byte() * LIMIT_UNIT;
    require(mkdtemp(dir) != NULL);
    for (unsigned i = 0; i < FILES && input.size != 0; i++) {
        leave_file(dir);
    }
    char *spec = mkperf_xprintf("file:%s", dir);
    require(agent_outbox_open(&o, spec, dir, limit, &sequence, &e) == MKPERF_OK);
    const char *before = "";
    const struct agent_waiting *w;
    STAILQ_FOREACH(w, &o.waiting, next)
    {
        require(strcmp(before, w->name) < 0);
        check_window(w, sequence);
        bytes += w->bytes;
        before = w->name;
    }
    require(o.bytes == bytes && bytes <= limit);
    while (!STAILQ_EMPTY(&o.waiting)) {
        agent_outbox_drop(&o);
    }
    require(o.bytes == 0);
    agent_outbox_free(&o);
    free(spec);
    remove_all(dir);
    return 0;
}
