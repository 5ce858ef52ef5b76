#!/bin/sh
# SPDX-License-Identifier: BSD-2-Clause
# A loop of 1000 instructions sampled every 1,000,000 cycles: without jitter the sampler is in step
# with it and the profile is wrong; with jitter (the default) it is right.
set -u
NAME=lockstep
D=$B/tests/run-lockstep
rm -rf "$D"
mkdir -p "$D"
. tests/system/lib.sh
t=$B/tests/target/lockstep
QEMU=$(cat "$t/qemu-command")
export QEMU

# chi-square of ten phases that have equal shares (9 degrees of freedom)
chi_square() {
    scripts/qemu-record "$D" -e cycles:u -c 1000000 "$@" --duration 3 \
        --system "$t/lockstep.system" --elf-path "$t" -o "$D/perf.data" >"$D/record.log" 2>&1 || {
        cat "$D/record.log" >&2
        return 1
    }
    chains "$D/perf.data" | awk '
        $1 == "lockstep" && match($3, /^phase_[0-9]/) { count[substr($3, 1, RLENGTH)]++; n++ }
        END {
            if (n < 1000) { print "too few samples:", n + 0 > "/dev/stderr"; exit 1 }
            for (i = 0; i < 10; i++) { d = count["phase_" i] - n / 10; x += d * d / (n / 10) }
            printf "%d %d\n", x, n
        }'
}

right() {
    set -- $(chi_square)
    [ $# -eq 2 ] || return 1
    echo "chi-square $1 with $2 samples; 27.9 is one in a thousand"
    [ "$1" -lt 28 ]
}
wrong() {
    set -- $(chi_square --no-jitter)
    [ $# -eq 2 ] || return 1
    echo "chi-square $1 with $2 samples: not wrong enough to prove anything"
    [ "$1" -gt 100 ]
}
check "with jitter the shares are right" right
check "without jitter they are seen to be wrong" wrong
