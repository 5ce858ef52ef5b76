#!/bin/sh
# SPDX-License-Identifier: BSD-2-Clause
# How big the target's parts are.
set -eu
. bench/lib.sh

size_of() { # code and data
    "${CROSS}size" "$1" | awk 'NR == 2 { print $1 + $2 }'
}
zeros_of() { # memory that starts as zero
    "${CROSS}size" "$1" | awk 'NR == 2 { print $3 }'
}
value hook_bytes "$(size_of "$B/obj/pocket/kernel/capture.o")" bytes - "code and data of kernel/capture.c"
value profiler_bytes "$(size_of "$B/demo/profiler.elf")" bytes - "code and data of the profiler PD, with 64 KiB for tables of call frames"
value profiler_zero_bytes "$(zeros_of "$B/demo/profiler.elf")" bytes - "its memory that starts as zero"
value client_bytes "$(size_of "$B/demo/client.elf")" bytes - "code and data of the client PD"
value client_zero_bytes "$(zeros_of "$B/demo/client.elf")" bytes - "its memory that starts as zero"
