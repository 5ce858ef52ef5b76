#!/bin/sh
# SPDX-License-Identifier: BSD-2-Clause
# A condition of --stop-if that is rarely met (tests/pd/rare.c: one call in 100,000 is slow). No host is connected when it is met, and
# the dump that follows has the slow call. Environment: B and MKPERF. For another platform: RARE_DIR, RARE_QEMU, KERNEL.
set -u
NAME=${NAME:-rare}
. tests/system/lib.sh
t=${RARE_DIR:-$B/tests/pd/rare}
QEMU=${RARE_QEMU:-$(cat "$t/qemu-command")}
S="--system $t/rare.system --elf-path $t --kernel ${KERNEL:-$B/demo/kernel.elf}"
export QEMU D S

# Between `record` and `dump` nobody sends or reads a byte, until the target's clock is past the slow call.
recorded() {
    scripts/qemu-talk "$D" '$MKPERF record -t $T --overwrite --stop-if "ready nobody > 1s" $S; [ $? != 0 ]' \
        '$MKPERF record -t $T --overwrite --stop-if "wake irq 4000 > 1us, call caller->server > 3ms" $S' \
        'for i in 1 2; do $MKPERF dump -t $T --wait -o $D/$i.data $S || exit 1; done' >"$D/log" 2>&1 &&
        contains "$D/log" '0 older samples and [1-9][0-9]* scheduling events were overwritten; ended by a call caller -> server that took 5[0-9]*\.[0-9]* us' || { cat "$D/log"; return 1; }
}
has_it() {
    for i in 1 2; do
        "$MKPERF" explain "$D/$i.data" >"$D/$i" &&
            contains "$D/$i" '^Ended by a call caller -> server that took 5[0-9]*\.[0-9]* us' \
                'caller called server for 5[0-9]*\.[0-9]* us until' 'of these, 500[0-9]\.[0-9]* us:' || { cat "$D/$i"; return 1; }
    done
    [ "$(grep -v "$D" "$D/1")" = "$(grep -v "$D" "$D/2")" ]
}
# All others are quick: the slow one is the only one above the condition, and it is among the last events.
only() {
    "$MKPERF" latency -x ' ' "$D/1.data" >"$D/values" &&
        awk '$1 == "call" && $2 == "caller" { count = $5; median = $7; max = $11; at = $12 } $1 == "total" { last = $3 }
            END { print count, median, max, at, last; exit !(count > 5000 && median < 2000 && max > 5000000 && last - at < 20000000) }' "$D/values"
}
check "one slow call in 100,000 ends the recording" recorded
check "both dumps have it, and say why" has_it
check "it is the only slow one, and at the end" only
