/* SPDX-License-Identifier: BSD-2-Clause */
/* Owns: the count of signals that end a command, the lock, loading libraries, and the progress line. See base.h. */
#include "base.h"

#include <dlfcn.h>
#include <pthread.h>
#include <signal.h>

static volatile int interrupts;

void mkperf_process_init(void)
{
    for (int fd = STDIN_FILENO; fd <= STDERR_FILENO; fd++) {
        if (fcntl(fd, F_GETFD) < 0 &&
            open("/dev/null", fd == STDIN_FILENO ? O_RDONLY : O_WRONLY) != fd) {
            abort(); /* the lower ones are open: there is no /dev/null */
        }
    }
    signal(SIGPIPE, SIG_IGN);
    signal(SIGXFSZ, SIG_IGN);
}

static void on_signal(int number)
{
    (void)number;
    interrupts++;
}

volatile int *mkperf_process_interrupts(void)
{
    static const int signals[] = {SIGINT, SIGTERM, SIGHUP};
    struct sigaction a = {.sa_handler = on_signal}, before;

    interrupts = 0;
    for (unsigned i = 0; i < sizeof signals / sizeof *signals; i++) {
        if (sigaction(signals[i], NULL, &before) == 0 &&
            (signals[i] != SIGHUP || before.sa_handler != SIG_IGN)) {
            sigaction(signals[i], &a, NULL);
        }
    }
    return &interrupts;
}

char *mkperf_beside(const char *name, const char *installed)
{
    const char *const names[] = {name, installed};
    char self[4096];
    ssize_t n = readlink("/proc/self/exe", self, sizeof self - 1);

    self[n > 0 ? n : 0] = '\0';
    char *slash = strrchr(self, '/');
    for (unsigned i = 0; i < 2 && slash != NULL; i++) {
        char *path = mkperf_xprintf("%.*s/%s", (int)(slash - self), self, names[i]);
        if (access(path, R_OK) == 0) {
            return path;
        }
        free(path);
    }
    return NULL;
}

enum mkperf_status mkperf_library_load(const char *library, const char *const *names, void *to,
                                       struct mkperf_error *e)
{
    void *loaded = dlopen(library, RTLD_NOW);

    for (unsigned i = 0; loaded != NULL && names[i] != NULL; i++) {
        void *function = dlsym(loaded, names[i]);
        if (function == NULL) {
            loaded = NULL;
        }
        memcpy((char *)to + i * sizeof function, &function, sizeof function);
    }
    return loaded != NULL ? MKPERF_OK : mkperf_error_set(e, MKPERF_ERR_FAILED, "%s", dlerror());
}

static pthread_mutex_t turn = PTHREAD_MUTEX_INITIALIZER;
static bool turns;

void mkperf_turns_begin(void)
{
    turns = true;
    mkperf_turn_take();
}

void mkperf_turn_take(void)
{
    if (turns) {
        pthread_mutex_lock(&turn);
    }
}

void mkperf_turn_give(void)
{
    if (turns) {
        pthread_mutex_unlock(&turn);
    }
}

int mkperf_poll(struct pollfd *fds, nfds_t n, int timeout_ms)
{
    mkperf_turn_give();
    int ready = poll(fds, n, timeout_ms);
    int why = errno;
    mkperf_turn_take();
    errno = why;
    return ready;
}

enum { BAR = 30 };

static const double PATIENCE_S = 2.0, BETWEEN_S = 0.2;

static struct {
    const char *what; /* NULL: not begun, or no terminal */
    double began_s, next_s;
    bool drawn;
} progress;

void mkperf_progress_begin(const char *what)
{
    mkperf_progress_end();
    if (isatty(STDERR_FILENO)) {
        progress.what = what;
        progress.began_s = mkperf_now_s();
        progress.next_s = progress.began_s + PATIENCE_S;
    }
}

void mkperf_progress(enum mkperf_progress_unit unit, double done, double all)
{
    static const char full[BAR + 1] = "==============================",
                                 empty[BAR + 1] = "..............................";
    double now;

    if (progress.what == NULL || (now = mkperf_now_s()) < progress.next_s) {
        return;
    }
    progress.next_s = now + BETWEEN_S;
    progress.drawn = true;
    fprintf(stderr, "\r%.40s", progress.what);
    if (all > 0) {
        int n = done > all ? BAR : (int)(done / all * BAR);
        fprintf(stderr, " [%.*s%.*s] %3.0f %%", n, full, BAR - n, empty, 100 * done / all);
    }
    if (unit == MKPERF_BYTES) {
        fprintf(stderr, "  %.1f MB, %.0f s", done / 1e6, now - progress.began_s);
    } else if (unit == MKPERF_SECONDS_OVER) {
        fprintf(stderr, "  %.1f s", done);
    }
    fputs("\033[K", stderr);
    (void)fflush(stderr);
}

void mkperf_progress_drawn(void)
{
    progress.drawn = true;
}

void mkperf_progress_clear(void)
{
    if (progress.drawn) {
        fputs("\r\033[K", stderr);
        (void)fflush(stderr);
        progress.drawn = false;
    }
}

void mkperf_progress_end(void)
{
    mkperf_progress_clear();
    progress.what = NULL;
}

void mkperf_print_line(FILE *out, const char *format, ...)
{
    char line[1024];
    va_list args;

    va_start(args, format);
    vsnprintf(line, sizeof line, format, args);
    va_end(args);
    mkperf_printable(line);
    mkperf_progress_clear();
    fprintf(out, "%s\n", line);
}

void mkperf_print_notice(void *self, const char *text)
{
    (void)self;
    mkperf_print_line(stderr, "mkperf: %s", text);
}

void mkperf_print_warning(void *self, const char *text)
{
    (void)self;
    mkperf_print_line(stderr, "mkperf: warning: %s", text);
}
