/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Two PDs that do little but system calls: a caller, which makes one protected call after the other
 * and sometimes notifies, and a server, which replies. The PD's name selects its part.
 */
#include <microkit.h>

enum { CH_OTHER = 1 };

static volatile unsigned long work;

__attribute__((noinline)) static void some_work(unsigned n)
{
    for (unsigned i = 0; i < n; i++) {
        work++;
    }
}

void init(void)
{
    if (microkit_name[0] != 'c') {
        return; /* the server */
    }
    for (unsigned i = 0;; i++) {
        microkit_mr_set(0, i);
        microkit_ppcall(CH_OTHER, microkit_msginfo_new(i & 7, 1));
        some_work(i & 63);
        if (i % 5 == 0) {
            microkit_notify(CH_OTHER);
        }
    }
}

void notified(microkit_channel ch)
{
    (void)ch;
    some_work(10);
}

microkit_msginfo protected(microkit_channel ch, microkit_msginfo msginfo)
{
    (void)ch;
    some_work((unsigned)microkit_mr_get(0) & 31);
    return msginfo;
}
