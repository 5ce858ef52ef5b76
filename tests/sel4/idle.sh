#!/bin/sh
# SPDX-License-Identifier: BSD-2-Clause
# Where idle cores are, on seL4 with several cores: the demo with a part of its PDs on a second core. Idle time belongs to
# the idle thread's function, and not to the kernel's entry that came before it.
# Environment: IDLE_DIR (the system's description), IDLE_QEMU, CORES and KERNEL.
set -u
NAME=${NAME:-sel4-idle}
. tests/system/lib.sh
QEMU=$IDLE_QEMU
files="--system $IDLE_DIR/cores.system --elf-path $B/demo --kernel $KERNEL"
export D files QEMU

# An idle millisecond takes QEMU about a second: the core that makes turns fair (docs/qemu.md) does not idle.
check "the demo on two of $CORES cores is recorded" scripts/qemu-talk "$D" \
    '$MKPERF record -t $T -e cycles -F 10000 --duration 0.02 $files -o $D/idle.data >$D/idle.log 2>&1'

# The kernel's work for an interrupt of an idle core is a part of idle, too; it must be less than a tenth.
functions() {
    "$MKPERF" convert -q "$D/idle.data" -o "$D/idle.jsonl" &&
        jq -r 'select(.type == "sample" and .pd == "idle") | [.core // 0, .period, .stack[0].function // "?"] | @tsv' \
            "$D/idle.jsonl" | awk -F '\t' -v cores="$CORES" '
            { n[$1]++; all[$1] += $2; samples[$1, $3]++ }
            $3 == "idle_thread" { idle[$1] += $2 }
            END {
                for (key in samples) { split(key, part, SUBSEP); print "core " part[1] ": " samples[key] " samples of idle in " part[2] }
                for (c = 0; c < cores; c++) bad += n[c] < 100 || idle[c] < 0.9 * all[c]
                exit bad != 0
            }'
}
check "idle cores are in idle_thread" functions
