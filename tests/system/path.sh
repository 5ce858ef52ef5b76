#!/bin/sh
# SPDX-License-Identifier: BSD-2-Clause
# End-to-end paths of interrupts at known times (tests/pd/path.c): found, timed by parts, and what made the longest ones long.
# Environment: B and MKPERF. For another platform: PATH_DIR, PATH_QEMU, KERNEL; ENTRY, ns
# of a run that the kernel used.
set -u
NAME=${NAME:-path}
. tests/system/lib.sh
ENTRY=${ENTRY:-0}
t=${PATH_DIR:-$B/tests/pd/path}
QEMU=${PATH_QEMU:-$(cat "$t/qemu-command")}
kernel=${KERNEL:-$B/demo/kernel.elf}
export QEMU
irq=$(sed -n 's/.*irq irq="\([0-9]*\)" id="0" trigger="level".*/\1/p' "$t/path.system" | tail -n 1)
path="irq $irq -> driver -> virt -> app"

recorded() {
    scripts/qemu-record "$D" --sched --duration 2.2 --system "$t/path.system" --elf-path "$t" \
        --kernel "$kernel" -o "$D/path.data" >"$D/record.log" 2>&1 &&
        grep -q ', 0 lost,' "$D/record.log" || { cat "$D/record.log"; return 1; }
    "$MKPERF" latency --path "$path" --json --worst 20000 "$D/path.data" >"$D/path.json" &&
        "$MKPERF" latency --path "$path" "$D/path.data" >"$D/path.txt"
}
# The first time, the state of `spoiler` is not known yet.
found() {
    "$MKPERF" latency --paths "$D/path.data" >"$D/paths" || return 1
    cat "$D/paths"
    sed -n 2p "$D/paths" | grep -q "irq $irq -> driver -> virt -> app -> server\$" &&
        awk "/ irq $irq -> driver -> virt -> spoiler\$/ { n = \$1 } END { exit n < 7 }" "$D/paths"
}
# known PYTHON: an expression about the rows of the path
known() {
    python3 - "$D/path.json" "$1" <<'EOF2'
import json, sys
rows = [json.loads(line) for line in open(sys.argv[1])]
whole = next(r for r in rows if r["type"] == "end-to-end")
part = {(r["pd"], r["part"]): r for r in rows if r["type"] == "path-stage"}
paths, steps = [], []
for r in rows:
    if r["type"] == "path":
        paths.append(r)
        steps.append([])
    elif r["type"] == "step":
        steps[-1].append(r)
print(whole, {k: (v["p50_ns"], v["p999_ns"]) for k, v in part.items() if v["total_ns"]})
sys.exit(not eval("(" + sys.argv[2] + ")"))
EOF2
}
# Each 500 us to the tick of 16 ns, and what an interrupt may wait until the kernel is left.
at_known_times() {
    known 'whole["count"] >= 4000 and whole["open"] <= 1 and whole["gaps"] == 0 and len(paths) == whole["count"] and
        (at := sorted(p["from_ns"] for p in paths)) and
        all(abs(t - at[0] - i * 500000) < 3000 for i, t in enumerate(at))'
}
# The work of each PD, and the entries into the kernel around it, are in one bucket, which is 1/16 wide.
parts() {
    known 'all(ns <= part[k]["p50_ns"] <= part[k]["p999_ns"] < 1.125 * ns + '"$ENTRY"' for k, ns in
            ((("driver", "own"), 10000), (("virt", "own"), 40000), (("app", "own"), 60000))) and
        17000 <= part["app", "calls"]["p50_ns"] < 1.125 * 17000 + '"$ENTRY"' and
        all(r["count"] == whole["count"] for r in part.values()) and
        sum(r["total_ns"] for r in part.values()) == whole["total_ns"] and
        all(sum(s["to_ns"] - s["from_ns"] for s in ss) == p["to_ns"] - p["from_ns"] for p, ss in zip(paths, steps))'
}
spoiled() {
    known 'all(sum(s["to_ns"] - s["from_ns"] for s in ss if s["pd"] == "virt" and s["by"] == "spoiler") >= 300000 for ss in steps[:8]) and
        [p["to_ns"] - p["from_ns"] for p in paths] == sorted((p["to_ns"] - p["from_ns"] for p in paths), reverse=True)' &&
        awk '/^ *us +% +times/ { table = 1; next } table && NF { exit $0 !~ /virt is ready, spoiler runs$/ }' "$D/path.txt"
}
# docs/realtime.md: with the spoiler's priority below those of the path, nothing of the kind happens again. An interrupt that arrives
# while it runs still waits for a microsecond, until the kernel has taken it.
repaired() {
    sed '/name="spoiler"/s/priority="180"/priority="90"/' "$t/path.system" >"$D/better.system" && packed better || return 1
    QEMU=$(echo "$QEMU" | sed "s,$t/[a-z]*\.img,$D/better.img,") scripts/qemu-record "$D" --sched --duration 0.6 --system "$D/better.system" \
        --elf-path "$D/better:$t" --kernel "$kernel" -o "$D/better.data" >"$D/record.log" 2>&1 &&
        "$MKPERF" latency --path "$path" --json "$D/better.data" >"$D/better.json" || { cat "$D/record.log"; return 1; }
    python3 - "$D/path.json" "$D/better.json" <<'EOF2'
import json, sys
before, after = ([json.loads(line) for line in open(f)] for f in sys.argv[1:])
worst = [next(r for r in rows if r["type"] == "end-to-end")["max_ns"] for rows in (before, after)]
by = [sum(r["ns"] for r in rows if r["type"] == "path-stage-by" and r["by"] == "spoiler") for rows in (before, after)]
print(worst, by)
sys.exit(not (by[0] > 300000 and by[1] < 20000 and worst[1] < worst[0] - 100000))
EOF2
}
unbudgeted() {
    "$MKPERF" budget --system "$t/path.system" "$D/path.data" >"$D/budget.diff" 2>"$D/err" && [ ! -s "$D/budget.diff" ] &&
        contains "$D/err" "path.system: no budget changes"
}
unknown() {
    "$MKPERF" latency --path "irq $irq -> nobody" "$D/path.data" 2>"$D/err" && return 1
    contains "$D/err" "'nobody': no PD of that name is recorded"
}
# An interrupt while the profiler PD reads events waits for it: the first one ends the recording.
late_interrupt() {
    scripts/qemu-talk "$D" "$MKPERF record -t \$T --stop-if 'wake irq $irq > 20us' --system $t/path.system --elf-path $t -o $D/stop.data" \
        >"$D/stop.log" 2>&1 || { cat "$D/stop.log"; return 1; }
    "$MKPERF" explain "$D/stop.data" >"$D/stop" && contains "$D/stop" "^Ended by a wake-up irq $irq -> driver that took [0-9.]* us"
}
check "a recording of 4,000 interrupts, none lost" recorded
check "--paths finds the path, and the one that spoils it" found
check "an instance for each interrupt, at its time" at_known_times
check "each part in its bucket, and parts add up" parts
check "the preemptor is named, 8 of 8" spoiled
check "with a lower priority it delays nothing" repaired
check "a description without budgets: no diff, and the reason" unbudgeted
check "a PD that is not recorded is refused" unknown
check "record --stop-if: an interrupt that waits for long ends the recording" late_interrupt
