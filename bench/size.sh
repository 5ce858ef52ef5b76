#!/bin/sh
# SPDX-License-Identifier: BSD-2-Clause
# How big the target's parts are.
set -eu
. bench/lib.sh

size_of() {
    "${CROSS}size" "$1" | awk 'NR == 2 { print $1 + $2 }'
}
value hook_bytes "$(size_of "$B/obj/pocket/kernel/capture.o")" bytes - "kernel/capture.c, code and data"
value profiler_bytes "$(size_of "$B/demo/profiler.elf")" bytes - "profiler PD, code and data"
value client_bytes "$(size_of "$B/demo/client.elf")" bytes - "client PD, code and data"
