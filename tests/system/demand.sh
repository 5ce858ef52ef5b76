#!/bin/sh
# SPDX-License-Identifier: BSD-2-Clause
# mkperf budget, of PDs with known demands (tests/pd/demand.c): 1.7 ms in 10, 2 ms in 10 with a passive PD, 3 ms in 20, and 3 ms in
# 20 with short runs between, which needs more than twice as much by seL4's rules for refills. The description is changed by the
# diff of `mkperf budget --system`. With that image nobody is throttled, and with budgets 5 % below the advice all are.
# Environment: B and MKPERF. For another platform: DEMAND_DIR, DEMAND_QEMU, KERNEL, and MICROKIT, the SDK's tool with its board and
# configuration.
set -u
NAME=${NAME:-demand}
. tests/system/lib.sh
t=${DEMAND_DIR:-$B/tests/pd/demand}
boots=${DEMAND_QEMU:-$(cat "$t/qemu-command")}
kernel=${KERNEL:-$B/demo/kernel.elf}

recorded() { # NAME: of the system $D/NAME.system with the image $D/NAME.img
    QEMU=$(echo "$boots" | sed "s,$t/[a-z]*\.img,$D/$1.img,") scripts/qemu-record "$D" --sched --duration 1 --system "$D/$1.system" \
        --elf-path "$D/$1:$t" --kernel "$kernel" -o "$D/$1.data" >"$D/record.log" 2>&1 || { cat "$D/record.log"; return 1; }
    grep -q ', 0 lost,' "$D/record.log" || { cat "$D/record.log"; return 1; }
    "$MKPERF" budget --margin 0 --json "$D/$1.data" >"$D/$1.json" && "$MKPERF" budget "$D/$1.data" >"$D/$1.txt"
}
# each NAME PYTHON: an expression that holds for the rows short, burst, third and often; `want` is the planted demand in us
each() {
    python3 - "$D/$1.json" "$2" <<'EOF2'
import json, sys
rows = {r["pd"]: r for r in map(json.loads, open(sys.argv[1])) if r["type"] == "budget"}
ok = True
for pd, want in ("short", 1700), ("burst", 2000), ("third", 3000), ("often", 0):
    r = rows[pd]
    print(pd, "used", r["used_ns"], "advised", r["advised_us"], "budget", r["budget_us"], "throttled", r["throttled"])
    ok = bool(eval("(" + sys.argv[2] + ")")) and ok
sys.exit(not ok)
EOF2
}
advice() {
    cp "$t/demand.system" "$D" && cp "$t"/*.img "$D/demand.img" && mkdir "$D/demand" && recorded demand &&
        each demand 'want <= r["used_ns"] / 1000 <= r["advised_us"] <= 1.02 * (want or 6800) and
            (want or 3000 <= r["used_ns"] / 1000 <= 3060 and r["advised_us"] >= 6700)' &&
        grep -q '\(49\.[5-9]\|50\.[0-4]\)[0-9]%.* burst$' "$D/demand.txt" || { cat "$D/demand.txt"; return 1; }
}
patched() { # only numbers of budgets change; `pace`, which is throttled, keeps its own
    cp "$D/demand.system" "$D/enough.system"
    "$MKPERF" budget --margin 2 --system "$D/enough.system" "$D/demand.data" >"$D/enough.diff" 2>"$D/err" &&
        patch -s "$D/enough.system" "$D/enough.diff" && contains "$D/err" "'pace' was throttled" || return 1
    diff "$D/demand.system" "$D/enough.system"
    [ "$(grep -c '^-  ' "$D/enough.diff")" -eq 4 ] && [ "$(grep -c '^+  ' "$D/enough.diff")" -eq 4 ] &&
        [ "$(sed 's/budget="[0-9]*"/budget/' "$D/demand.system" | cksum)" = "$(sed 's/budget="[0-9]*"/budget/' "$D/enough.system" | cksum)" ]
}
# pocket counts refills from when a PD became ready, and throttles `often` with what suffices on seL4.
enough() {
    packed enough && recorded enough &&
        each enough 'r["budget_us"] < 9000 and (r["throttled"] == 0 or not want and not "'"${MICROKIT:-}"'")'
}
less() {
    cp "$D/demand.system" "$D/less.system"
    "$MKPERF" budget --margin 0 --system "$D/less.system" "$D/demand.data" 2>/dev/null | patch -s "$D/less.system" || return 1
    python3 - "$D/less.system" <<'EOF2'
import re, sys
text = open(sys.argv[1]).read()
open(sys.argv[1], "w").write(re.sub(r'budget="(\d{4,})"', lambda m: 'budget="%d"' % (int(m.group(1)) * 0.95), text))
EOF2
    packed less && recorded less && each less 'r["throttled"] > 0 and r["advised_us"] == 0' &&
        grep -q 'more-than 1[56][0-9][0-9]  short' "$D/less.txt" || { cat "$D/less.txt"; return 1; }
}
check "advice within 2 % of the truth; short runs between need more" advice
check "a diff of the description, which changes budgets only" patched
check "with the advice and 2 %, nobody is throttled" enough
check "with 5 % less than the advice, all are, and no budget is advised" less
# Half the period takes the same budget, because `short` runs once in 10 ms. Throttled, `helper` costs its caller time.
costs() {
    python3 - "$D/demand.json" "$D/less.json" <<'EOF2'
import json, sys
demand, less = ([json.loads(line) for line in open(f)] for f in sys.argv[1:])
periods = {(r["pd"], r["period_us"]): r["budget_us"] for r in demand if r["type"] == "budget-period"}
advised = {r["pd"]: r["advised_us"] for r in demand if r["type"] == "budget"}
cost = {(r["pd"], r["who"]): r["ns"] for r in less if r["type"] == "budget-cost"}
print(periods, cost)
sys.exit(not (all(periods[pd, p] == advised[pd] for pd, p in (("short", 10000), ("burst", 10000), ("third", 20000), ("often", 20000))) and
              abs(periods["short", 5000] - periods["short", 10000]) <= 1 and ("pace", 2550) not in periods and
              cost["helper", "burst"] > 100000000 and cost["short", "short"] > 100000000))
EOF2
}
check "other periods, and who lost time because of whom" costs
# Those below: what others leave, by their budgets. `helper` works for `burst` above `short`, so `burst` takes from `short`, too. With
# the budgets of the changed image, no PD waited longer than the bound of that image says; mkperf's PDs, which the bound is without, ran
# in between.
below() {
    "$MKPERF" latency --json "$D/enough.data" >"$D/enough.latency" || return 1
    python3 - "$D/demand.json" "$D/enough.json" "$D/enough.latency" <<'EOF2'
import json, sys
demand, enough, latency = ([json.loads(line) for line in open(f)] for f in sys.argv[1:])
advised = {r["pd"]: r["advised_us"] or r["budget_us"] for r in demand if r["type"] == "budget"}
now = {r["pd"]: r["budget_us"] for r in demand if r["type"] == "budget"}
below = {r["pd"]: r for r in demand if r["type"] == "budget-below"}
def left(budget, period, above):
    return 1000 * (period - sum(budget[pd] * -(-period // t) for pd, t in above))
pace, short, burst, third = ("pace", 10200), ("short", 10000), ("burst", 10000), ("third", 20000)
want = {"short": (10000, (pace, burst)), "burst": (10000, (pace, short)), "third": (20000, (pace, short, burst)),
        "often": (20000, (pace, short, burst, third))}
ok = "profiler" not in below
for pd, (period, above) in want.items():
    b = below[pd]
    print(pd, b)
    ok &= b["left_advised_ns"] == left(advised, period, above) and b["left_ns"] == max(0, left(now, period, above))
ok &= below["third"]["wait_advised_ns"] == 1000 * sum(advised[pd] for pd in ("pace", "short", "burst"))
ok &= "wait_ns" not in below["often"]
bound = {r["pd"]: r["wait_ns"] for r in enough if r["type"] == "budget-below"}
own = max(r["used_ns"] for r in enough if r["type"] == "budget" and r["pd"] in ("profiler", "client"))
seen = {r["to"]: r["max_ns"] for r in latency if r["type"] == "notification" and r["from"] == "pace"}
for pd in want:
    print(pd, "waited", seen[pd], "bound", bound[pd], "mkperf", own)
    ok &= seen[pd] <= bound[pd] + 2 * own
sys.exit(not ok)
EOF2
}
check "what is left to those below, and that nobody waits longer" below
other() { # the advice is for the periods that were recorded
    sed 's/name="third" \(.*\) period="20000"/name="third" \1 period="30000"/' "$D/demand.system" >"$D/other.system"
    "$MKPERF" budget --system "$D/other.system" "$D/demand.data" >"$D/other.diff" 2>"$D/err" && return 1
    contains "$D/err" "other.system:[0-9]*: 'third' was recorded with a budget in a period of 20000 us" && [ ! -s "$D/other.diff" ]
}
check "another period in the file: refused, with its place" other
no_events() {
    QEMU=$boots scripts/qemu-record "$D" -e cycles --duration 0.1 --system "$t/demand.system" --elf-path "$t" --kernel "$kernel" \
        -o "$D/samples.data" >"$D/record.log" 2>&1 || { cat "$D/record.log"; return 1; }
    "$MKPERF" budget "$D/samples.data" 2>"$D/err" && return 1
    contains "$D/err" 'no scheduling events were recorded'
}
check "without scheduling events: said" no_events
