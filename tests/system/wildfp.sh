#!/bin/sh
# SPDX-License-Identifier: BSD-2-Clause
# A PD that runs with 27 kinds of broken frame pointer (tests/pd/wildfp.c) is sampled: nothing
# faults, all cases run, each sample has its leaf and its true caller and no invented frames.
# Environment: as demo.sh, with WILDFP_DIR and WILDFP_QEMU.
set -u
NAME=${NAME:-wildfp}
. tests/system/lib.sh
t=${WILDFP_DIR:-$B/tests/pd/wildfp}
QEMU=${WILDFP_QEMU:-$(cat "$t/qemu-command")}
export QEMU

all_cases() {
    [ "$(grep -c 'wildfp: all cases run' "$D/record.log")" -ge 2 ] || { cat "$D/record.log"; return 1; }
}
no_fault() {
    ! grep -i -e fault -e stopped "$D/record.log"
}
leaves() {
    chains "$D/perf.data" | awk '
        $1 == "wildfp" && $3 ~ /^wildfp_spin/ {
            n++
            frames = split($3, f, ";")
            if (f[2] != "run_all") { if (bad++ < 5) print }
            if (frames > 5) { if (bad++ < 5) print "deep:", $0 }
        }
        END { print n + 0, "samples", bad + 0, "wrong"; exit n < 1000 || bad > 0 }'
}
check "recorded" recorded wildfp
check "all cases ran, twice and more" all_cases
check "nothing faulted" no_fault
check "every sample has its leaf and true caller" leaves
