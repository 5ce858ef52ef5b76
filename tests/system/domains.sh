#!/bin/sh
# SPDX-License-Identifier: BSD-2-Clause
# The windows of a domain schedule: three domains with 2, 3 and 5 ms (tests/pd/domains.c). The truth is in the machine's memory: each
# PD stores when its first instruction in a window ran. QEMU keeps the memory in a file.
# Environment: B and MKPERF. For another platform: DOMAINS_DIR, DOMAINS_QEMU, KERNEL; EARLY: us that its kernel may end a window
# before its time.
set -u
NAME=${NAME:-domains}
. tests/system/lib.sh
EARLY=${EARLY:-0}
t=${DOMAINS_DIR:-$B/tests/pd/domains}
boots=${DOMAINS_QEMU:-$(cat "$t/qemu-command")}
size=$(echo "$boots" | sed -n 's/.* -m \(size=\)\{0,1\}\([0-9]*[MG]\).*/\2/p')
QEMU=$(echo "$boots" | sed "s/ -machine virt/&,memory-backend=ram/")" -object memory-backend-file,id=ram,size=$size,mem-path=$D/ram,share=on"
export QEMU

recorded() {
    scripts/qemu-record "$D" --sched --duration 1.2 --system "$t/domains.system" --elf-path "$t" --kernel "${KERNEL:-$B/demo/kernel.elf}" \
        -o "$D/domains.data" >"$D/record.log" 2>&1 && grep -q ', 0 lost,' "$D/record.log" || { cat "$D/record.log"; return 1; }
    "$MKPERF" budget --json "$D/domains.data" >"$D/domains.json" && "$MKPERF" budget "$D/domains.data" >"$D/domains.txt" &&
        tests/tool/check-json budget window window-pd <"$D/domains.json" &&
        "$MKPERF" latency --json "$D/domains.data" >"$D/latency.json" &&
        perf script --ns -F time,trace -i "$D/domains.data" >"$D/events" 2>/dev/null
}
# known PYTHON: an expression about the rows and the truth
known() {
    python3 - "$D" "$1" "$EARLY" <<'EOF2'
import json, mmap, re, struct, sys
d, early = sys.argv[1], int(sys.argv[3]) * 1000
rows = [json.loads(line) for line in open(d + "/domains.json")]
window = {r["window"]: r for r in rows if r["type"] == "window"}
pd = {(r["window"], r["pd"]): r for r in rows if r["type"] == "window-pd"}
core = [r for r in map(json.loads, open(d + "/latency.json")) if r["type"] == "core"]
begins = {1: [], 2: [], 3: []}  # by the recording's events, ns
for line in open(d + "/events"):
    m = re.match(r"\s*(\d+)\.(\d{9}): +window .*irq=(\d+)", line)
    if m:
        begins[int(m.group(3))].append(int(m.group(1)) * 10**9 + int(m.group(2)))
truth = {}  # by the PDs' clock, ticks
with open(d + "/ram", "rb") as f:
    ram = mmap.mmap(f.fileno(), 0, prot=mmap.PROT_READ)
    at = ram.find(b"mkperf-windows!!")
    while at >= 0:
        name, n = struct.unpack_from("<QQ", ram, at + 16)
        if 0 < n <= 4096:
            truth["fst".index(chr(name)) + 1] = struct.unpack_from("<%dQ" % n, ram, at + 32)
        at = ram.find(b"mkperf-windows!!", at + 16)
tick = 16  # ns: QEMU's generic timer has 62.5 MHz
# For each begin, how much later the first instruction of the window's PD ran; a window without one is left out.
after = {w: [min((t * tick - b for t in truth[w] if t * tick >= b), default=10**9) for b in begins[w]] for w in begins}
after = {w: [x for x in v if x < 10**6] for w, v in after.items()}
print({w: (len(begins[w]), sorted((x, v.count(x)) for x in set(v))) for w, v in after.items()})
print(*window.values(), *pd.values(), *core, sep="\n")
sys.exit(not eval("(" + sys.argv[2] + ")"))
EOF2
}
# From the event that a window begins to the first instruction there are as many instructions each time, except where an event
# was the first of its thread, or the ring ended. `first` polls, and reads its clock within a few instructions; `third` runs in
# every second window.
to_a_tick() {
    known 'all(len(v) >= (50 if w == 3 else 100) and sum(abs(x - sorted(v)[len(v) // 2]) <= 2 * tick for x in v) >= len(v) - 5 for w, v in after.items())'
}
# A window lasts its time and the kernel entry that ends it; a frame is the sum.
lengths() {
    known 'all(window[w]["duration_ns"] == ms * 10**6 and window[w]["frame_ns"] == 10**7 and window[w]["domain"] == name and
            ms * 10**6 - early - 1000 < window[w]["min_ns"] and window[w]["max_ns"] < ms * 10**6 + 5000 + early and
            [b - a for a, b in zip(begins[w], begins[w % 3 + 1] if w < 3 else begins[1][1:])][:window[w]["count"]] and
            sum(b - a for a, b in zip(begins[w], begins[w % 3 + 1] if w < 3 else begins[1][1:])) == window[w]["length_ns"]
            for w, ms, name in ((1, 2, "fast"), (2, 3, "half"), (3, 5, "tools")))'
}
# Use and slack of all windows are the frames that were recorded, and the slack is the core's idle time in them.
sums() {
    known 'all(r["used_ns"] + r["slack_ns"] == r["length_ns"] and
            sum(p["used_ns"] for (w, _), p in pd.items() if w == r["window"]) == r["used_ns"] for r in window.values()) and
        0 <= core[0]["idle_ns"] - sum(r["slack_ns"] for r in window.values()) < 12000000 and
        window[1]["slack_ns"] == 0 and
        abs(pd[2, "second"]["used_ns"] / window[2]["count"] - 10**6) < 10000 and
        2 * 10**6 <= pd[3, "third"]["max_ns"] < 2 * 10**6 + 10000'
}
cut() {
    known 'pd[1, "first"]["cut"] == window[1]["count"] and pd[2, "second"]["cut"] == 0 and pd[3, "third"]["cut"] == 0' &&
        contains "$D/domains.txt" "cut [0-9]* times  first$" "  fast$" "  tools$"
}
# A PD of another domain is in nobody's way by its priority.
no_inversion() {
    contains "$D/latency.json" '"core"' && ! grep '"inversion"' "$D/latency.json"
}
check "three domains are recorded, nothing lost" recorded
check "each window begins when its PD says so, to a tick" to_a_tick
check "windows last 2, 3 and 5 ms" lengths
check "use and slack are the frame" sums
check "who was cut is named" cut
check "no inversion between domains" no_inversion
