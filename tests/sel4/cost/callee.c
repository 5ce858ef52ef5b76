/* SPDX-License-Identifier: BSD-2-Clause */
/* Answers as many words as it got; after a short call it uses a vector register. */
#include <microkit.h>

#include "entries.h"

void init(void)
{
}

void notified(microkit_channel ch)
{
    (void)ch;
}

microkit_msginfo protected(microkit_channel ch, microkit_msginfo msginfo)
{
    seL4_Word words = microkit_msginfo_get_count(msginfo);

    (void)ch;
    if (words == 0) {
        use_vector_register();
    }
    return microkit_msginfo_new(0, (seL4_Uint16)words);
}
