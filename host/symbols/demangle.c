/* SPDX-License-Identifier: BSD-2-Clause */
/* Owns: the C++ runtime's demangler, found at run time, and the strings that are not the ELF's. */
#include "demangle.h"

#include <dlfcn.h>
#include <stdlib.h>
#include <string.h>

#include "base/printable.h"
#include "base/xalloc.h"

typedef char *demangle_fn(const char *mangled, char *out, size_t *n, int *status);

struct name {
    struct name *next;
    const char *raw;
    char *text;
};

enum { BUCKETS = 1024 };

struct mkperf_demangler {
    void *library;
    demangle_fn *demangle;
    struct name *bucket[BUCKETS];
};

struct mkperf_demangler *mkperf_demangler_new(void)
{
    return mkperf_xcalloc(1, sizeof(struct mkperf_demangler));
}

void mkperf_demangler_free(struct mkperf_demangler *d)
{
    if (!d) {
        return;
    }
    for (unsigned i = 0; i < BUCKETS; i++) {
        while (d->bucket[i]) {
            struct name *n = d->bucket[i];
            d->bucket[i] = n->next;
            free(n->text);
            free(n);
        }
    }
    if (d->library) {
        dlclose(d->library);
    }
    free(d);
}

static demangle_fn *find(struct mkperf_demangler *d)
{
    if (!d->library) {
        d->library = dlopen("libstdc++.so.6", RTLD_LAZY | RTLD_LOCAL);
        if (d->library) {
            *(void **)&d->demangle = dlsym(d->library, "__cxa_demangle");
        }
    }
    return d->demangle;
}

static unsigned hash(const char *s)
{
    unsigned h = 2166136261u;

    while (*s) {
        h = (h ^ (unsigned char)*s++) * 16777619u;
    }
    return h % BUCKETS;
}

const char *mkperf_demangler_name(struct mkperf_demangler *d, const char *raw)
{
    struct name **bucket, *n;
    int status = 0;

    bool mangled = strncmp(raw, "_Z", 2) == 0 && find(d);
    if (!mangled && mkperf_is_printable(raw)) {
        return raw;
    }
    bucket = &d->bucket[hash(raw)];
    for (n = *bucket; n; n = n->next) {
        if (strcmp(n->raw, raw) == 0) {
            return n->text;
        }
    }
    n = mkperf_xcalloc(1, sizeof *n);
    n->raw = raw;
    n->text = mangled ? d->demangle(raw, NULL, NULL, &status) : NULL;
    n->text = n->text ? n->text : mkperf_xstrdup(raw);
    mkperf_printable(n->text);
    n->next = *bucket;
    *bucket = n;
    return n->text;
}
