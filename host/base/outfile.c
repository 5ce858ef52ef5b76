/* SPDX-License-Identifier: BSD-2-Clause */
/* Owns: output files, and the streams into them. Interrupted system calls are resumed. See outfile.h. */
#include "outfile.h"

enum { PUBLIC = 0666, PRIVATE = 0600 }; /* permissions, before umask */
enum { OPEN_FILES = 8 };

/* Keeps the first error. */
static void keep_first_error(struct mkperf_outfile *o)
{
    if (o->error.status == MKPERF_OK) {
        mkperf_error_set(&o->error, MKPERF_ERR_OUTPUT, "%s: %s", o->partial ? o->partial : o->path,
                         strerror(errno));
    }
}

enum mkperf_status mkperf_outfile_missing(const char *path, struct mkperf_error *e)
{
    int why = errno;
    char *partial = mkperf_xprintf("%s.partial", path);
    bool unfinished = why == ENOENT && access(partial, F_OK) == 0;
    bool first = why == ENOENT && strcmp(path, "perf.data") == 0;

    mkperf_error_set(e, MKPERF_ERR_INPUT, "%s: %s%s%s", path, strerror(why),
                     unfinished ? "; mkperf recover makes it from "
                     : first    ? "; mkperf record -t TARGET makes it"
                                : "",
                     unfinished ? partial : "");
    free(partial);
    return MKPERF_ERR_INPUT;
}

enum mkperf_status mkperf_outfile_status(const struct mkperf_outfile *o, struct mkperf_error *e)
{
    if (o->error.status != MKPERF_OK) {
        *e = o->error;
    }
    return o->error.status;
}

/* The files that are open, for a process that ends for want of memory. */
static struct mkperf_outfile *open_files[OPEN_FILES];

static void flush_open_files(void)
{
    for (unsigned i = 0; i < OPEN_FILES; i++) {
        if (open_files[i] != NULL) {
            mkperf_outfile_flush(open_files[i]);
        }
    }
}

/* Ends the opening of a file. If it failed, errno has the reason. */
static enum mkperf_status end_opening(struct mkperf_outfile *o, bool failed, struct mkperf_error *e)
{
    unsigned i = 0;

    if (failed) {
        keep_first_error(o);
        o->kept |= o->fd < 0; /* a file of this name that is there is another process's */
        mkperf_outfile_close(o);
        return mkperf_outfile_status(o, e);
    }
    while (i < OPEN_FILES && open_files[i] != NULL) {
        i++;
    }
    if (i < OPEN_FILES) {
        open_files[i] = o;
    }
    mkperf_out_of_memory = flush_open_files;
    return MKPERF_OK;
}

enum mkperf_status mkperf_outfile_open(struct mkperf_outfile *o, const char *path, bool private,
                                       struct mkperf_error *e)
{
    bool standard_output = strcmp(path, "-") == 0;
    struct stat st;

    *o = (struct mkperf_outfile){.fd = -1};
    MKPERF_FAIL_IF(path[0] == '\0', e, MKPERF_ERR_USAGE, "the name of the output is empty");
    o->path = mkperf_xstrdup(standard_output ? "standard output" : path);
    o->buffer = mkperf_xcalloc(1, MKPERF_OUTFILE_BUFFER);
    if (!standard_output && (stat(path, &st) != 0 || S_ISREG(st.st_mode))) {
        o->partial = mkperf_xprintf("%s.partial", path);
    }
    o->fd = standard_output
                ? fcntl(STDOUT_FILENO, F_DUPFD_CLOEXEC, 3)
                : open(o->partial ? o->partial : o->path, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC,
                       private ? PRIVATE : PUBLIC);
    o->kept = private;
    o->keep_old = private && o->partial != NULL;
    if (o->fd >= 0 && o->keep_old) {
        (void)fchmod(o->fd, PRIVATE); /* a file that was left there may be readable by others */
    }
    o->stream = o->fd >= 0 && (standard_output || lseek(o->fd, 0, SEEK_CUR) < 0);
    return end_opening(o, o->fd < 0, e);
}

enum mkperf_status mkperf_outfile_adopt(struct mkperf_outfile *o, const char *from, uint64_t n,
                                        const char *path, struct mkperf_error *e)
{
    *o = (struct mkperf_outfile){
        .fd = -1, .path = mkperf_xstrdup(path), .partial = mkperf_xstrdup(from), .kept = true};
    o->buffer = mkperf_xcalloc(1, MKPERF_OUTFILE_BUFFER);
    o->written = n;
    o->fd = open(from, O_RDWR | O_CLOEXEC);
    return end_opening(
        o, o->fd < 0 || ftruncate(o->fd, (off_t)n) != 0 || lseek(o->fd, 0, SEEK_END) != (off_t)n,
        e);
}

void mkperf_outfile_write_through(struct mkperf_outfile *o, const uint8_t *p, size_t n)
{
    if (o->error.status == MKPERF_OK) {
        size_t written = mkperf_write_all(o->fd, p, n);

        o->written += written;
        if (written < n) {
            keep_first_error(o);
        }
    }
}

/* Gives bytes that leave the buffer to the filter or to the file. */
static void pass_on(struct mkperf_outfile *o, const uint8_t *p, size_t n)
{
    o->passed += n;
    if (o->error.status != MKPERF_OK) {
        return;
    }
    if (o->filter != NULL) {
        o->filter(o->filter_self, p, n);
    } else {
        mkperf_outfile_write_through(o, p, n);
    }
}

void mkperf_outfile_flush(struct mkperf_outfile *o)
{
    size_t n = o->used;

    o->used = 0;
    pass_on(o, o->buffer, n);
}

void mkperf_outfile_write(struct mkperf_outfile *o, const void *p, size_t n)
{
    if (n > MKPERF_OUTFILE_BUFFER) {
        mkperf_outfile_flush(o);
        pass_on(o, p, n);
        return;
    }
    memcpy(mkperf_outfile_reserve(o, n), p, n);
    mkperf_outfile_commit(o, n);
}

void mkperf_outfile_patch(struct mkperf_outfile *o, uint64_t offset, const void *p, size_t n)
{
    mkperf_outfile_flush(o);
    if (o->error.status == MKPERF_OK && pwrite(o->fd, p, n, (off_t)offset) != (ssize_t)n) {
        keep_first_error(o);
    }
}

enum mkperf_status mkperf_outfile_finish(struct mkperf_outfile *o, struct mkperf_error *e)
{
    mkperf_outfile_flush(o);
    if (o->error.status == MKPERF_OK) {
        int fd = o->fd;
        o->fd = -1; /* also if close fails: the number may be another file's then */
        if (close(fd) != 0) {
            keep_first_error(o);
        }
    }
    if (o->error.status == MKPERF_OK) {
        if (o->keep_old) {
            char *old = mkperf_xprintf("%s.old", o->path);
            (void)rename(o->path, old); /* if this fails, the older file is replaced */
            free(old);
        }
        if (o->partial != NULL && rename(o->partial, o->path) != 0) {
            keep_first_error(o);
        }
    }
    mkperf_outfile_close(o);
    return mkperf_outfile_status(o, e);
}

void mkperf_outfile_close(struct mkperf_outfile *o)
{
    for (unsigned i = 0; i < OPEN_FILES; i++) {
        open_files[i] = open_files[i] != o ? open_files[i] : NULL;
    }
    bool unfinished = o->fd >= 0 || o->error.status != MKPERF_OK;
    if (unfinished && o->kept) {
        mkperf_outfile_flush(o);
    } else if (unfinished && o->partial != NULL) {
        unlink(o->partial);
    }
    if (o->fd >= 0) {
        close(o->fd);
    }
    o->fd = -1;
    o->used = 0;
    free(o->path);
    free(o->partial);
    free(o->buffer);
    o->path = o->partial = NULL;
    o->buffer = NULL;
}

/* Writes a part that leaves the stream's own buffer, at once. */
static ssize_t write_through(void *self, const char *text, size_t n)
{
    struct mkperf_printout *p = self;

    mkperf_outfile_write(&p->file, text, n);
    mkperf_outfile_flush(&p->file);
    return p->file.error.status == MKPERF_OK ? (ssize_t)n : 0;
}

enum mkperf_status mkperf_printout_open(struct mkperf_printout *p, const char *path,
                                        struct mkperf_error *e)
{
    *p = (struct mkperf_printout){.to = NULL};
    MKPERF_TRY(mkperf_outfile_open(&p->file, path, false, e));
    p->to = fopencookie(p, "w", (cookie_io_functions_t){.write = write_through});
    if (p->to == NULL) {
        mkperf_die();
    }
    return MKPERF_OK;
}

enum mkperf_status mkperf_printout_close(struct mkperf_printout *p, struct mkperf_error *e)
{
    if (p->to == NULL) {
        return e->status;
    }
    (void)fclose(p->to); /* the file keeps an error of its stream */
    p->to = NULL;
    p->file.kept = p->file.written > 0;
    if (e->status == MKPERF_OK && mkperf_outfile_status(&p->file, e) == MKPERF_OK) {
        return mkperf_outfile_finish(&p->file, e);
    }
    /* The file is not complete. It keeps its temporary name, unless it is empty. */
    if (p->file.partial != NULL && p->file.kept) {
        const struct mkperf_error why = *e;
        mkperf_error_set(e, why.status, "%s; what was printed until then is in %s", why.text,
                         p->file.partial);
    }
    mkperf_outfile_close(&p->file);
    return e->status;
}

enum mkperf_status mkperf_stdout_flush(struct mkperf_error *e)
{
    if (fflush(stdout) == 0 && !ferror(stdout)) {
        return MKPERF_OK;
    }
    if (errno == EPIPE) { /* its reader wants no more, as `head` */
        return mkperf_error_set(e, MKPERF_ERR_OUTPUT, "%s", "");
    }
    return mkperf_error_set(e, MKPERF_ERR_OUTPUT, "standard output: %s", strerror(errno));
}
