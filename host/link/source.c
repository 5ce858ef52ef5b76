/* SPDX-License-Identifier: BSD-2-Clause */
/* Owns: the table of the kinds of sources, and what is common to opening and closing them; see source.h. */
#include "source.h"

#include <unistd.h>

enum { CONNECT_PATIENCE_S = 5 };

const struct mkperf_source_ops *const mkperf_source_kinds[] = {
    &mkperf_source_serial,
    &mkperf_source_tcp,
    &mkperf_source_listen,
    &mkperf_source_unix,
    &mkperf_source_sddf,
    &mkperf_source_file,
    NULL,
};

enum mkperf_status mkperf_source_init(struct mkperf_source *s, const char *spec,
                                      struct mkperf_error *e)
{
    *s = (struct mkperf_source){
        .spec = spec, .fd = -1, .listener = -1, .patience_s = CONNECT_PATIENCE_S};
    for (size_t i = 0; mkperf_source_kinds[i] != NULL; i++) {
        size_t n = strlen(mkperf_source_kinds[i]->scheme);
        if (strncmp(spec, mkperf_source_kinds[i]->scheme, n) == 0 && spec[n] == ':') {
            s->ops = mkperf_source_kinds[i];
            return MKPERF_OK;
        }
    }
    return mkperf_error_set(e, MKPERF_ERR_USAGE,
                            "-t %s: not serial:DEVICE,BAUD, tcp:HOST[:PORT], listen:[ADDR:]PORT, "
                            "unix:PATH, sddf:CLIENT,SOURCE or file:CAPTURE",
                            spec);
}

enum mkperf_status mkperf_source_open(struct mkperf_source *s, struct mkperf_error *e)
{
    mkperf_source_close(s);
    return s->ops->open(s, s->spec + strlen(s->ops->scheme) + 1, e);
}

void mkperf_source_end(struct mkperf_source *s)
{
    if (s->ops == NULL) {
        return;
    }
    mkperf_source_close(s);
    if (s->listener >= 0) {
        close(s->listener);
        s->listener = -1;
    }
}
