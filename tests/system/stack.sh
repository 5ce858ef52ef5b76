#!/bin/sh
# SPDX-License-Identifier: BSD-2-Clause
# How deep stacks of known depth have been (tests/pd/stack.c): to the page by the scan, and never deeper than the truth by
# samples. Environment: B and MKPERF; STACK_DIR, STACK_QEMU, KERNEL for another platform.
set -u
NAME=${NAME:-stack}
. tests/system/lib.sh
t=${STACK_DIR:-$B/tests/pd/stack}
QEMU=${STACK_QEMU:-$(cat "$t/qemu-command")}
export QEMU

# recorded FILE OPTION...
recorded() {
    file=$1
    shift
    scripts/qemu-record "$D" "$@" --duration 1 --system "$t/stack.system" --elf-path "$t" ${KERNEL:+--kernel "$KERNEL"} \
        -o "$D/$file" >"$D/record.log" 2>&1 || { cat "$D/record.log"; return 1; }
    "$MKPERF" report --stacks --json "$D/$file" | tee "$D/$file.json" | tests/tool/check-json stack &&
        "$MKPERF" report --stacks "$D/$file"
}
# known FILE EXPRESSION: of python, about what is known of each PD
known() {
    python3 - "$D/$1.json" "$2" <<'EOF2'
import json, sys
rows = {r["pd"]: r for r in map(json.loads, open(sys.argv[1])) if r["type"] == "stack"}
size, seen, used = ({n: r.get(k) for n, r in rows.items()} for k in ("size", "seen", "used"))
print(rows)
deep, often, hollow = 0x5064, 0x2400, 0x3000  # tests/pd/stack.c
frame = 64                                    # at most, of descend
sys.exit(not eval(sys.argv[2]))
EOF2
}
sizes='size["deep"] == 0x8000 and size["often"] == size["hollow"] == 0x4000'
scan='deep <= used["deep"] < deep + frame and often <= used["often"] < often + frame'
never='seen["deep"] < 0x1000 and seen["often"] < often + frame and seen["hollow"] <= hollow and seen["often"] > 0x400'

check "a recording with a scan of the stacks" recorded scan.data -e cycles:u -F 2000 --stack-scan
check "the sizes are those of the description" known scan.data "$sizes"
check "the scan: recursion of known depth to the frame" known scan.data "$scan"
check "samples: never deeper than the truth" known scan.data "$never"
check "words that were never written: only samples find them" known scan.data 'used["hollow"] == seen["hollow"] == hollow'
check "with scheduling events, whose slots name the threads" recorded sched.data --sched --stack-scan
check "they tell the same" known sched.data "$sizes and $scan and seen['often'] < often + frame"
check "without the scan" recorded seen.data -e cycles:u -F 2000 --stacks
check "what was not searched for is not known" known seen.data "$sizes and $never and not any(used.values())"
no_stacks() {
    scripts/qemu-record "$D" -e cycles:u -F 2000 --duration 0.1 --interactions --system "$t/stack.system" --elf-path "$t" -o "$D/none.data" \
        >"$D/record.log" 2>&1 || { cat "$D/record.log"; return 1; }
    "$MKPERF" report --stacks "$D/none.data" 2>&1 | grep 'no stacks were recorded (mkperf record --stack-scan)'
}
check "a recording without stacks is an error" no_stacks
