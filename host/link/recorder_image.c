/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Owns: the first conversation of a recorder, see recorder.h: the connection, and the image's own
 * list of its programs.
 */
#include "recorder.h"

#include <stdlib.h>

#include "base/xalloc.h"
#include "symbols/find_elf.h"
#include "symbols/identity.h"

/* The list in parts, each asked for until it is there. A target that refuses has none. */
static enum mkperf_status fetch(struct mkperf_recorder *r, struct mkperf_error *e)
{
    mkperf_ToTarget m = {.which_msg = mkperf_ToTarget_get_stamp_tag};
    struct mkperf_stream *s = r->stream;

    while (!mkperf_stream_stamp_whole(s)) {
        uint32_t had = s->names.have;
        m.msg.get_stamp.offset = had;
        if (mkperf_recorder_ask(r, &m, "GetStamp", e) != MKPERF_OK) {
            return e->status;
        }
        if (s->names.have == had) {
            return MKPERF_OK; /* refused, or invalid: reported when names are settled */
        }
    }
    return MKPERF_OK;
}

enum mkperf_status mkperf_recorder_connect(struct mkperf_recorder *r, struct mkperf_error *e)
{
    if (mkperf_peer_connect(&r->link, e) != MKPERF_OK) {
        return e->status;
    }
    while (r->stream->hello.stamp_bytes != 0 && fetch(r, e) != MKPERF_OK) {
        /* The parts that arrived stay, unless the target has another image now. */
        r->breaks++;
        if (e->status != MKPERF_ERR_LINK || mkperf_peer_reconnect(&r->link, e) != MKPERF_OK) {
            return e->status;
        }
    }
    if (mkperf_stream_settle(r->stream, e) == MKPERF_OK) {
        mkperf_recorder_keep_elfs(r);
    }
    return e->status;
}

static void cannot_keep(const struct mkperf_recorder *r, const char *why)
{
    char *text = mkperf_xprintf("an ELF was not kept: %s; once its program is built again, this "
                                "recording has no names for it (-N keeps none)",
                                why);

    if (r->warn != NULL) {
        r->warn(r->self, text);
    }
    free(text);
}

static void add_copy(struct mkperf_elf_copy *elf, size_t *n, const struct mkperf_module *m)
{
    if (m != NULL) {
        elf[*n].path = mkperf_module_path(m);
        elf[*n].bytes = mkperf_module_file(m, &elf[*n].n);
        mkperf_module_identity(m, &elf[*n].id);
        (*n)++;
    }
}

void mkperf_recorder_keep_elfs(struct mkperf_recorder *r)
{
    uint32_t npds = mkperf_pds_count(r->pds);
    struct mkperf_session session = {.nevents = 0};
    struct mkperf_error e = {.status = MKPERF_OK};
    struct mkperf_module *kernel = NULL;
    size_t n = 0;

    if (r->perfdata == NULL || r->options.keep_no_elfs) {
        return;
    }
    struct mkperf_elf_copy *elf = mkperf_xcalloc((size_t)npds + 1, sizeof *elf);
    char *directory = mkperf_elf_cache_directory();
    for (uint32_t i = 0; i < npds; i++) {
        add_copy(elf, &n, mkperf_pds_module(r->pds, i));
    }
    mkperf_pds_describe(r->pds, &session);
    if (session.kernel_elf != NULL) {
        (void)mkperf_symbols_module(r->symbols, session.kernel_elf, &kernel, &e);
    }
    add_copy(elf, &n, kernel);
    if (n != 0 && directory == NULL) {
        cannot_keep(r, "neither HOME nor PERF_BUILDID_DIR is set");
    } else if (n != 0 &&
               mkperf_elf_cache_keep(directory, elf, n, MKPERF_ELF_CACHE_BYTES, &e) != MKPERF_OK) {
        cannot_keep(r, e.text);
    }
    free(elf);
    free(directory);
}
