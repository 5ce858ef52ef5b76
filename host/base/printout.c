/* SPDX-License-Identifier: BSD-2-Clause */
/* Owns: see printout.h. */
#include "printout.h"

#include <errno.h>
#include <string.h>
#include <unistd.h>

#include "xalloc.h"

/* The stream has a buffer of its own, so what it hands over is written at once. */
static ssize_t write_through(void *self, const char *text, size_t n)
{
    struct mkperf_printout *p = self;

    if (p->error.status == MKPERF_OK &&
        mkperf_outfile_write(&p->file, text, n, &p->error) == MKPERF_OK) {
        mkperf_outfile_flush(&p->file, &p->error);
    }
    return p->error.status == MKPERF_OK ? (ssize_t)n : 0;
}

enum mkperf_status mkperf_printout_open(struct mkperf_printout *p, const char *path,
                                        struct mkperf_error *e)
{
    *p = (struct mkperf_printout){.to = NULL};
    if (mkperf_outfile_open(&p->file, path, e) != MKPERF_OK) {
        return e->status;
    }
    p->to = fopencookie(p, "w", (cookie_io_functions_t){.write = write_through});
    if (p->to == NULL) {
        mkperf_die();
    }
    return MKPERF_OK;
}

/* It stays under its temporary name, if something is in it. */
static void give_up(struct mkperf_printout *p, struct mkperf_error *e)
{
    if (p->file.partial != NULL && p->file.written > 0) {
        const struct mkperf_error why = *e;
        mkperf_error_set(e, why.status, "%s; what was printed until then is in %s", why.text,
                         p->file.partial);
    } else if (p->file.partial != NULL) {
        unlink(p->file.partial);
    }
    p->file.used = 0;
    mkperf_outfile_close(&p->file);
}

enum mkperf_status mkperf_printout_close(struct mkperf_printout *p, struct mkperf_error *e)
{
    if (p->to == NULL) {
        return e->status;
    }
    (void)fclose(p->to); /* its error is in p->error */
    p->to = NULL;
    if (e->status == MKPERF_OK && p->error.status != MKPERF_OK) {
        *e = p->error;
    }
    if (e->status == MKPERF_OK) {
        return mkperf_outfile_finish(&p->file, e);
    }
    give_up(p, e);
    return e->status;
}

enum mkperf_status mkperf_stdout_flush(struct mkperf_error *e)
{
    return fflush(stdout) == 0 && !ferror(stdout)
               ? MKPERF_OK
               : mkperf_error_set(e, MKPERF_ERR_OUTPUT, "standard output: %s", strerror(errno));
}
