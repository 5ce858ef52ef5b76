/* SPDX-License-Identifier: BSD-2-Clause */
/* Owns: the C++ runtime's demangler, found at run time, and the strings that are not the ELF's. */
#include "demangle.h"

#include <dlfcn.h>
#include <search.h>
#include <stdlib.h>
#include <string.h>

#include "base/printable.h"
#include "base/xalloc.h"

typedef char *demangle_fn(const char *mangled, char *out, size_t *n, int *status);

struct name {
    const char *raw;
    char *text;
};

struct mkperf_demangler {
    void *library;
    demangle_fn *demangle;
    void *names; /* tree of struct name, by raw */
};

struct mkperf_demangler *mkperf_demangler_new(void)
{
    return mkperf_xcalloc(1, sizeof(struct mkperf_demangler));
}

static int compare(const void *a, const void *b)
{
    return strcmp(((const struct name *)a)->raw, ((const struct name *)b)->raw);
}

static void free_name(void *p)
{
    struct name *n = p;

    free(n->text);
    free(n);
}

void mkperf_demangler_free(struct mkperf_demangler *d)
{
    if (!d) {
        return;
    }
    tdestroy(d->names, free_name);
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

const char *mkperf_demangler_name(struct mkperf_demangler *d, const char *raw)
{
    bool mangled = strncmp(raw, "_Z", 2) == 0 && find(d);
    int status = 0;

    if (!mangled && mkperf_is_printable(raw)) {
        return raw;
    }
    struct name **known = tfind(&(struct name){.raw = raw}, &d->names, compare);
    if (known != NULL) {
        return (*known)->text;
    }
    struct name *n = mkperf_xcalloc(1, sizeof *n);
    n->raw = raw;
    n->text = mangled ? d->demangle(raw, NULL, NULL, &status) : NULL;
    n->text = n->text ? n->text : mkperf_xstrdup(raw);
    mkperf_printable(n->text);
    if (tsearch(n, &d->names, compare) == NULL) {
        mkperf_die();
    }
    return n->text;
}
