#!/bin/sh
# SPDX-License-Identifier: BSD-2-Clause
# A PD without frame pointers (tests/pd/unframed.c) is sampled with the tables of its image: each chain is whole, and is
# one that the program has. Environment: as demo.sh, with UNFRAMED_DIR and UNFRAMED_QEMU; UNFRAMED=llvm: only the
# program that LLVM made.
set -u
NAME=${NAME:-unframed}
. tests/system/lib.sh
t=${UNFRAMED_DIR:-$B/tests/pd/unframed}
[ "${UNFRAMED:-gcc}" = gcc ] || t=$B/tests/pd/unframed_llvm
QEMU=${UNFRAMED_QEMU:-$(cat "$t/qemu-command")}
export QEMU

# spin, seven times descend, variable, many, work: from the innermost function that had begun on. Then the platform's
# start code, which is at least two functions.
whole() {
    chains "$D/perf.data" | awk '
        $1 == "unframed" {
            n++
            chain = $3
            depth = gsub(/descend;/, "", chain)
            right = chain ~ /^spin;/ ? depth == 7 : chain ~ /^variable;/ ? depth <= 7 : depth == 0
            if (!right || chain !~ /^(((spin;)?variable;)?many;)?work;init;(.*_start|main)$/) {
                if (bad++ < 5) print
            }
        }
        END { print n + 0, "samples", bad + 0, "wrong"; exit n < 1000 || bad * 1000 > n }'
}
none_cut() {
    ! "$MKPERF" report -i "$D/perf.data" 2>/dev/null | grep 'cut off'
}
if [ "${UNFRAMED:-gcc}" != llvm ]; then
    check "recorded" recorded unframed
    check "every chain is whole" whole
    check "no chain is reported as cut off" none_cut
    rm "$D/perf.data"
fi

# By LLVM, where the compiler does not describe the beginning and the end of functions. Only on pocket.
if [ -z "${UNFRAMED_DIR:-}" ]; then
    t=$B/tests/pd/unframed_llvm
    QEMU=$(cat "$t/qemu-command")
    check "recorded (LLVM)" recorded unframed_llvm
    check "every chain is whole (LLVM)" whole
    check "no chain is reported as cut off (LLVM)" none_cut
fi
