/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * mkperf exact: counts each instruction of a system that runs in QEMU, into a recording.
 *
 *     QEMU with platform/qemu/exact_plugin.c ──► a file of counts ──► mkperf_input_read ──► perf.data
 *
 * Owns: the command's options, the functions at which counting begins and ends, and QEMU's process. The system needs no part of
 * mkperf. Two runs of an image count the same if QEMU counts time by instructions (-icount) and nothing from outside reaches
 * the machine; what prevents that is refused, or a warning.
 */
#include <signal.h>
#include <sys/wait.h>

#include "cmd.h"
#include "import/import.h"
#include "model/pds.h"
#include "perfdata/perfdata.h"

enum { CODE_BYTES = 32, ARGUMENTS_MAX = 1000 };

struct exact {
    struct mkperf_input in;
    const char *output, *from, *until;
    uint64_t times;
    char *counts; /* the path of the plugin's file */
    struct mkperf_error *e;
};

static const struct mkperf_option exact_options[] = {
    MKPERF_OPTION('o', "output", "the recording to write (perf.data); - is standard output",
                  MKPERF_TAKES(FILE, "FILE"), MKPERF_TEXT(struct exact, output)),
    MKPERF_OPTION(0, "until",
                  "end where this function begins: FUNCTION, or PD:FUNCTION if several programs "
                  "have one; without it, count until QEMU ends",
                  .value = "FUNCTION", MKPERF_TEXT(struct exact, until)),
    MKPERF_OPTION(0, "times", "end where it begins for the Nth time (1)", .value = "N",
                  MKPERF_NUMBER(struct exact, times, 1, UINT64_MAX)),
    MKPERF_OPTION(0, "from",
                  "begin where this function begins for the first time; without it, at reset",
                  .value = "FUNCTION", MKPERF_TEXT(struct exact, from)),
    MKPERF_OPTION(0, "system", "the .system file, names of PDs and of their ELFs",
                  MKPERF_TAKES(FILE, "FILE"), MKPERF_TEXT(struct exact, in.pds.system)),
    MKPERF_OPTION(0, "elf-path", "directories of the ELFs (that of the .system file)",
                  MKPERF_TAKES(DIRS, "DIR[:DIR]"), MKPERF_TEXT(struct exact, in.pds.elf_path)),
    MKPERF_OPTION(0, "kernel", "the kernel's ELF (default: kernel.elf or sel4.elf in --elf-path)",
                  MKPERF_TAKES(FILE, "ELF"), MKPERF_TEXT(struct exact, in.pds.kernel)),
    {.letter = 0},
};

/* Appends the place of [PD:]FUNCTION as ",KEY=ADDR:CODE". USAGE: no ELF has it, or several ELFs have. */
static enum mkperf_status put_function(struct exact *x, FILE *to, const struct mkperf_pds *pds,
                                       struct mkperf_module *kernel, const char *key,
                                       const char *wanted)
{
    const char *colon = strchr(wanted, ':');
    const char *name = colon != NULL && colon[1] != ':' ? colon + 1 : wanted;
    struct mkperf_module *found = NULL;

    for (uint32_t i = 0; i <= pds->n; i++) {
        bool last = i == pds->n;
        struct mkperf_module *m = last ? kernel : pds->module[i];
        const char *pd = last ? "kernel" : pds->pd[i].name;
        bool named = name == wanted || (strlen(pd) == (size_t)(colon - wanted) &&
                                        strncmp(pd, wanted, (size_t)(colon - wanted)) == 0);

        if (!named || m == NULL || m == found || mkperf_symbol_address(m, name) == 0) {
            continue;
        }
        if (found != NULL) {
            return mkperf_usage_error(x->e, "exact", "--%s: several programs have %s: give PD:%s",
                                      key, name, name);
        }
        found = m;
    }
    uint64_t addr = found != NULL ? mkperf_symbol_address(found, name) : 0;
    const uint8_t *code = NULL;
    size_t n = CODE_BYTES; /* fewer at the end of a segment */
    while (found != NULL && n > 0 && (code = mkperf_module_code(found, addr, n)) == NULL) {
        n--;
    }
    if (code != NULL) {
        fprintf(to, ",%s=%" PRIx64 ":", key, addr);
        for (size_t i = 0; i < n; i++) {
            fprintf(to, "%02x", code[i]);
        }
        return MKPERF_OK;
    }
    return mkperf_usage_error(x->e, "exact", "--%s: no program has a function %s", key, wanted);
}

/* Returns the options of QEMU's -plugin, a new string, or NULL if *x->e is set. */
static char *plugin_option(struct exact *x)
{
    const char *set = getenv("MKPERF_QEMU_PLUGIN");
    char *plugin = set != NULL ? mkperf_xstrdup(set)
                               : mkperf_beside("mkperf-qemu.so", "../lib/mkperf/mkperf-qemu.so");
    struct mkperf_symbols *symbols = mkperf_symbols_new();
    struct mkperf_session session = {.cores = 1};
    struct mkperf_module *kernel = NULL;
    struct mkperf_pds *pds = NULL;
    char *text = NULL;
    size_t n;
    FILE *to = mkperf_memstream_open(&text, &n);

    if (plugin == NULL || access(plugin, R_OK) != 0) {
        mkperf_error_set(x->e, MKPERF_ERR_INPUT,
                         "%s: mkperf's plugin for QEMU is missing; $MKPERF_QEMU_PLUGIN names it",
                         plugin != NULL ? plugin : "../lib/mkperf/mkperf-qemu.so");
    } else if (strchr(plugin, ',') != NULL || strchr(x->counts, ',') != NULL) {
        mkperf_error_set(x->e, MKPERF_ERR_USAGE, "QEMU reads no comma in a path: %s, %s", plugin,
                         x->counts);
    } else if (mkperf_pds_new(&x->in.pds, symbols, &pds, x->e) == MKPERF_OK) {
        mkperf_pds_describe(pds, &session);
        fprintf(to, "file=%s,out=%s", plugin, x->counts);
        if ((session.kernel_elf == NULL ||
             mkperf_symbols_module(symbols, session.kernel_elf, &kernel, x->e) == MKPERF_OK) &&
            (x->from == NULL || put_function(x, to, pds, kernel, "from", x->from) == MKPERF_OK) &&
            x->until != NULL && put_function(x, to, pds, kernel, "until", x->until) == MKPERF_OK) {
            fprintf(to, ":%" PRIu64, x->times);
        }
    }
    mkperf_memstream_close(to);
    mkperf_pds_free(pds);
    mkperf_symbols_free(symbols);
    free(plugin);
    if (x->e->status != MKPERF_OK) {
        free(text);
        return NULL;
    }
    return text;
}

/* Returns whether one of QEMU's arguments begins with a text. */
static bool has_argument(const struct mkperf_args *args, const char *text)
{
    for (int i = 0; i < args->n; i++) {
        if (strncmp(args->operand[i], text, strlen(text)) == 0) {
            return true;
        }
    }
    return false;
}

/* Runs QEMU with the plugin until it ends. What it prints on standard output is printed on standard error. */
static enum mkperf_status run_qemu(struct exact *x, const struct mkperf_args *args,
                                   const char *plugin)
{
    char **argv = mkperf_xcalloc((size_t)args->n + 3, sizeof *argv);
    volatile int *interrupts = mkperf_process_interrupts();
    int status = 0;

    for (int i = 0; i < args->n; i++) {
        argv[i] = args->operand[i];
    }
    argv[args->n] = (char *)(uintptr_t) "-plugin";
    argv[args->n + 1] = (char *)(uintptr_t)plugin;
    pid_t child = fork();
    if (child == 0) {
        int null = open("/dev/null", O_RDONLY | O_CLOEXEC);

        (void)dup2(null, STDIN_FILENO);
        (void)dup2(STDERR_FILENO, STDOUT_FILENO);
        execvp(argv[0], argv);
        fprintf(stderr, "mkperf exact: %s: %s\n", argv[0], strerror(errno));
        _exit(127);
    }
    while (child > 0 && waitpid(child, &status, 0) < 0 && errno == EINTR) {
        if (*interrupts != 0) {
            kill(child, SIGKILL);
        }
    }
    free(argv);
    MKPERF_FAIL_IF(child < 0, x->e, MKPERF_ERR_INPUT, "QEMU: %s", strerror(errno));
    MKPERF_FAIL_IF(*interrupts != 0 || WIFSIGNALED(status), x->e, MKPERF_ERR_INPUT,
                   "a signal ended QEMU%s%s: counts until an arbitrary moment are not "
                   "exact, and none are written",
                   x->until != NULL ? " before " : "", x->until != NULL ? x->until : "");
    return WEXITSTATUS(status) == 0
               ? MKPERF_OK
               : mkperf_error_set(x->e, MKPERF_ERR_INPUT, "%s ended with status %d",
                                  args->operand[0], WEXITSTATUS(status));
}

static enum mkperf_status run_exact(void *self, const struct mkperf_args *args,
                                    struct mkperf_error *e)
{
    static const char *const outside[] = {"-netdev", "socket", "unix:", "tcp:", "pty"};
    struct exact *x = self;
    const char *directory = getenv("TMPDIR");

    x->e = e;
    MKPERF_TRY(MKPERF_RULES(e, "exact", {x->in.pds.system == NULL, "--system is required"}));
    MKPERF_FAIL_IF(!has_argument(args, "-icount"), x->e, MKPERF_ERR_USAGE,
                   "QEMU needs -icount: without it, its time is the host's, and two runs execute "
                   "different instructions");
    for (unsigned i = 0; i < sizeof outside / sizeof *outside; i++) {
        if (has_argument(args, outside[i])) {
            mkperf_print_line(stderr,
                              "mkperf exact: warning: QEMU's %s: what arrives from outside arrives "
                              "at another instruction in each run, so that counts can differ",
                              outside[i]);
        }
    }
    x->counts = mkperf_xprintf("%s/mkperf-exact-XXXXXX", directory != NULL ? directory : "/tmp");
    int fd = mkstemp(x->counts);
    MKPERF_FAIL_IF(fd < 0, e, MKPERF_ERR_OUTPUT, "%s: %s", x->counts, strerror(errno));
    close(fd);
    char *plugin = plugin_option(x);
    if (plugin != NULL && run_qemu(x, args, plugin) == MKPERF_OK) {
        /* Makes the recording of the plugin's file. */
        struct mkperf_symbols *symbols = mkperf_symbols_new();
        struct mkperf_perfdata *w;
        if (mkperf_perfdata_new(x->output, symbols, &w, e) == MKPERF_OK) {
            struct mkperf_sink sink = mkperf_perfdata_sink(w);

            mkperf_perfdata_compress(w, MKPERF_COMPRESS_FILES);
            x->in.from = "exact";
            x->in.command = args->line;
            x->in.pds.warn = mkperf_print_warning;
            mkperf_input_read(x->counts, &x->in, &sink, e);
            mkperf_perfdata_free(w);
        }
        mkperf_symbols_free(symbols);
    }
    free(plugin);
    unlink(x->counts);
    return e->status;
}

static void end_exact(void *self)
{
    free(((struct exact *)self)->counts);
}

const struct mkperf_command mkperf_exact_command = {
    .name = "exact",
    .summary = "count each instruction of a system in QEMU",
    .synopsis = "[options] --system FILE -- QEMU [ARGUMENT...]",
    .description =
        "Runs QEMU and counts how often each instruction is executed, in PDs and in the kernel, "
        "without any change of the system. Two runs of one image count the same, so that mkperf "
        "diff shows one added instruction. report, annotate, view and convert show the "
        "recording.\n\nQEMU must count time by instructions (-icount), and must be able to load "
        "plugins, as Debian's can (tested: 7.2). Nothing from outside may reach the machine. PDs "
        "of one program are counted together, and so is the kernel's work for all PDs.",
    .options = {{exact_options, 0}},
    .operand = MKPERF_VALUE_TEXT,
    .operands_min = 1,
    .operands_max = ARGUMENTS_MAX,
    .examples =
        "mkperf exact --system my.system --elf-path build --until finished -o after.data \\\n"
        "    -- qemu-system-aarch64 -machine virt -icount shift=0,sleep=off ...\n"
        "mkperf diff --exact before.data after.data",
    .self = MKPERF_SELF(struct exact, .output = "perf.data", .times = 1),
    .run = run_exact,
    .end = end_exact,
};
