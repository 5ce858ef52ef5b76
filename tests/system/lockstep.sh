#!/bin/sh
# SPDX-License-Identifier: BSD-2-Clause
# A loop of 1000 instructions sampled every 1,000,000 cycles: without jitter the sampler is in step
# with it and samples one place a hundred times in a row; with jitter (the default) the profile is right.
set -u
NAME=lockstep
. tests/system/lib.sh
t=$B/tests/pd/lockstep
QEMU=$(cat "$t/qemu-command")
export QEMU

phases() {
    scripts/qemu-record "$D" -e cycles:u -c 1000000 "$@" --duration 3 \
        --system "$t/lockstep.system" --elf-path "$t" -o "$D/perf.data" >"$D/record.log" 2>&1 || {
        cat "$D/record.log" >&2
        return 1
    }
    chains "$D/perf.data" | awk '$1 == "lockstep" && match($3, /^phase_[0-9]/) { print substr($3, RLENGTH, 1) }' \
        >"$D/phases"
    [ "$(wc -l <"$D/phases")" -ge 1000 ] || { echo "too few samples: $(wc -l <"$D/phases")"; return 1; }
}

# Of ten phases with equal shares: chi-square (9 degrees of freedom).
right() {
    phases || return 1
    awk '{ count[$1]++ }
        END { for (i = 0; i < 10; i++) { d = count[i] - NR / 10; x += d * d / (NR / 10) }
              print "chi-square", x, "with", NR, "samples; 50 is one in 10 million"; exit x >= 50 }' "$D/phases"
}
# Samples in the same phase as the one before: one in ten if the loop is sampled evenly. In step all of them
# are, except where the client's own cycles for a batch come between (once in a hundred samples). Those shift
# the phase by the same number each time, so that even the sum over many batches can look right.
wrong() {
    phases --no-jitter || return 1
    awk 'NR > 1 && $1 == last { same++ } { last = $1 }
        END { print same + 0, "of", NR, "samples in the phase of the one before; in step"; exit same < 0.5 * NR }' "$D/phases"
}
check "with jitter the shares are right" right
check "without jitter the sampler is in step" wrong
