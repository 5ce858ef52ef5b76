#!/bin/sh
# SPDX-License-Identifier: BSD-2-Clause
# mkperf flow on pipelines with known service times (tests/pd/flow.c): what limits is named, all packets are counted, Little's law
# holds, the service times come back, predicted gains are measured with the change, and a PD that writes anything into its queue is counted.
# Environment: B and MKPERF.
set -u
NAME=flow
. tests/system/lib.sh

analysed() { # NAME SECONDS: a recording of the system with that name, and what flow prints of it
    t=$B/tests/pd/$1
    QEMU=$(cat "$t/qemu-command") scripts/qemu-record "$D" --queues --duration "$2" --system "$t/$1.system" --elf-path "$t" \
        -o "$D/$1.data" >"$D/record.log" 2>&1 || { cat "$D/record.log"; return 1; }
    grep -q ', 0 lost,' "$D/record.log" && "$MKPERF" flow "$D/$1.data" >"$D/$1.txt" && "$MKPERF" flow --json "$D/$1.data" >"$D/$1.json"
}
# rows FILE PYTHON: runs the code with `stage`, `queue` (rows by name) and `limit`.
rows() {
    python3 - "$1" "$2" <<'END'
import json, sys
stage, queue, limit = {}, {}, None
for line in open(sys.argv[1]):
    r = json.loads(line)
    if r["type"] == "stage":
        stage[r["pd"]] = r
    elif r["type"] == "queue":
        queue[r["queue"]] = r
    elif r["type"] == "limit":
        limit = r
exec(sys.argv[2])
END
}

# Each queue's consumer has what its producer has, but for the entries in the queue. Instructions are nanoseconds here.
figures() {
    analysed flow 0.5 && rows "$D/flow.json" '
line = ["src", "a2", "b8", "c4", "d1"]
for i in range(4):
    q = queue["q%d" % (i + 1)]
    assert q["arrivals"] > 12000 and q["implausible"] == q["unknown"] == 0, q
    assert q["arrivals"] + q["first"] == q["departures"] + q["last"], q
    assert stage[line[i]]["out"] == q["arrivals"] and stage[line[i + 1]]["in"] == q["departures"], (q, stage)
    rate = q["departures"] / q["known_ns"]
    assert abs(q["mean"] - rate * q["stay_ns"]) <= 0.01 * q["mean"], q
    known = int(line[i + 1][1:]) * 1000
    each = stage[line[i + 1]]["own_ns"] / stage[line[i + 1]]["in"]
    assert known <= each <= known + 200, (line[i + 1], each)'
}
check "packets are counted, Little's law holds, service times come back" figures

# The path through the pipeline: each stage has the queue before it, with the times of `mkperf flow`, which the check above has proved.
in_queues() {
    "$MKPERF" latency --path 'src -> a2 -> b8 -> c4 -> d1' --json "$D/flow.data" | tee "$D/path.json" | tests/tool/check-json path-queue &&
        cat "$D/flow.json" "$D/path.json" >"$D/both.json" && rows "$D/both.json" '
rows = [json.loads(line) for line in open(sys.argv[1])]
queues = {r["queue"]: r for r in rows if r["type"] == "path-queue"}
assert [(r["stage"], q) for q, r in queues.items()] == [(1, "q1"), (2, "q2"), (3, "q3"), (4, "q4")], queues
for name, r in queues.items():
    q = queue[name]
    assert r["count"] == q["stayed"] and abs(r["total_ns"] / r["count"] - q["stay_ns"]) <= 1, (r, q)
    assert r["p50_ns"] <= r["p99_ns"] == q["stay_99_ns"] <= r["max_ns"], (r, q)'
}
check "each stage of a path has the time in the queue before it" in_queues

source_limits() { # its budget: 100 us of each 1000 us
    head -n 1 "$D/flow.txt" | grep -qx 'the budget of src limits: the PD is throttled for 89.[0-9] % of the time.' ||
        { cat "$D/flow.txt"; return 1; }
}
check "the budget of the source limits" source_limits

slow() {
    analysed flow_slow 0.4 && head -n 1 "$D/flow_slow.txt" | grep -q '^b80 limits: .* with its own work for \(9[0-9.]*\|100.0\) %.$' &&
        "$MKPERF" explain --why throughput "$D/flow_slow.data" | grep -q 'b80 limits: ' && rows "$D/flow_slow.json" '
assert limit["cause"] == "own work" and limit["by"] == "b80" and limit["busy"] > 95, limit
assert abs(limit["packets_per_s"] - stage["b80"]["in"] * 1e9 / stage["b80"]["known_ns"]) < 0.01 * limit["packets_per_s"], limit
assert queue["q2"]["mean"] > 40 and queue["q4"]["mean"] < 10, queue' || { cat "$D/flow_slow.txt"; return 1; }
}
check "the slow stage on the second core is named" slow

live() { # the same tables while the system runs; --window 0: of the whole session
    t=$B/tests/pd/flow_slow
    QEMU=$(cat "$t/qemu-command") scripts/qemu-talk "$D" \
        "\$MKPERF top -t \$T --flow --stdio --delay 0.1 --duration 0.6 --system $t/flow_slow.system --elf-path $t >$D/live" \
        "\$MKPERF top -t \$T --flow --stdio --window 0 --duration 0.3 --system $t/flow_slow.system --elf-path $t >$D/all" \
        >"$D/live.log" 2>&1 && [ "$(grep -c '^b80 limits: ' "$D/live")" -ge 2 ] && [ "$(grep -c ' limits' "$D/all")" -ge 1 ] &&
        awk '/^Since/ { if ($2 < until) exit 1; until = $5 } END { exit !until }' "$D/live" &&
        tail -n 8 "$D/all" | awk '$NF == "c4)" { n++; if ($10 + 0 < 4000 || $10 + 0 > 6500) exit 1 } END { exit n != 1 }' ||
        { cat "$D/live.log"; tail -n 40 "$D/all"; return 1; }
}
check "top --flow names the limit while the system runs" live

# variant NAME SYSTEM SESSIONS SED...: recordings of a pipeline with changed names, priorities or budgets. SESSIONS: `queues=S` with scheduling
# events for S seconds, `sample-queues=S` without them.
variant() {
    d=$D/$1 v=$1 system=$2 t=$B/tests/pd/$2 sessions=$3
    shift 3
    mkdir -p "$d/stamped" && sed "$@" "$t/$system.system" >"$d/x.system" && sed "$@" "$t/$system.queues" >"$d/x.queues" &&
        "$MKPERF" stamp -q --queues "$d/x.queues" "$d/x.system" --elf-path "$t" --kernel "$B/demo/kernel.elf" -o "$d/stamped/client.elf" &&
        "$B/pocket-pack" "$d/x.system" --elf-path "$d/stamped:$t" --kernel "$B/demo/kernel.elf" -o "$d/x.img" || return 1
    for session in $sessions; do
        QEMU=$(sed "s|[^ ]*$system.img|$d/x.img|" "$t/qemu-command") scripts/qemu-record "$D" --${session%=*} --duration "${session#*=}" \
            --system "$d/x.system" --elf-path "$t" -o "$D/$v.${session%=*}" >"$D/record.log" 2>&1 && grep -q ', 0 lost,' "$D/record.log" ||
            { cat "$D/record.log"; return 1; }
    done
}
# gains CHANGE BEFORE AFTER: the change is predicted from the events of BEFORE, and measured by the readings of both
gains() {
    "$MKPERF" flow --json --what-if "$1" "$D/$2.queues" >"$D/what-if.json" && for v in "$2" "$3"; do
        "$MKPERF" flow --json "$D/$v.sample-queues" >"$D/$v.json" || return 1
    done && python3 - "$1" "$D/what-if.json" "$D/$2.json" "$D/$3.json" <<'END'
import json, sys
rate = lambda f: next(r["departures"] / r["known_ns"] for r in map(json.loads, open(f)) if r["type"] == "queue" and r["queue"] == "q2")
p = next(r for r in map(json.loads, open(sys.argv[2])) if r["type"] == "prediction")
gain = 100 * (rate(sys.argv[4]) / rate(sys.argv[3]) - 1)
print(f"{sys.argv[1]}: predicted {p['gain']:.1f} % ({p['least']:.1f} to {p['most']:.1f}), measured {gain:.1f} %")
assert p["least"] <= p["gain"] <= p["most"] and abs(p["gain"] - gain) <= 5, (p, gain)
END
}
own() { # b80 with half of its work is b40
    variant before flow 'queues=0.5 sample-queues=0.5' 's/\bb8\b/b80/g' && variant after flow sample-queues=0.5 's/\bb8\b/b40/g' && gains 'b80 own -50%' before after
}
check "a predicted gain is measured after the change" own
priority() { # src uses up its budget in vain, at a high priority
    variant after flow sample-queues=0.5 's/\bb8\b/b80/g; /"src"/s/"200"/"100"/' && gains 'src priority 100' before after
}
check "with another priority" priority
budget() {
    variant small flow 'queues=0.3 sample-queues=0.5' 's/\bb8\b/b80/g; /name="b80"/s/ priority/ budget="400" period="1000" priority/' &&
        variant large flow sample-queues=0.5 's/\bb8\b/b80/g; /name="b80"/s/ priority/ budget="800" period="1000" priority/' &&
        gains 'b80 budget 800/1000' small large
}
check "with another budget" budget

# Without scheduling events: the indices are read 250 times a second. A short index that may have wrapped is unknown.
estimates() {
    "$MKPERF" flow --json "$D/before.queues" >"$D/exact.json" && "$MKPERF" flow "$D/before.sample-queues" | grep -q '^# Queues were read 2[0-9][0-9] times' &&
        cat "$D/exact.json" "$D/before.json" | python3 -c '
import json, sys
exact, sampled = {}, {}
for r in map(json.loads, sys.stdin):
    if r["type"] == "queue":
        (sampled if r["queue"] in exact else exact)[r["queue"]] = r
for name in "q1", "q4":
    e, s = exact[name], sampled[name]
    print(name, e["mean"], e["doubt"], s["mean"], s["doubt"])
    assert s["doubt"] < 3 and abs(e["mean"] - s["mean"]) <= e["doubt"] + 3.5 * s["doubt"], name'
}
check "readings without scheduling events estimate occupancy" estimates
wraps() { # `short` has 16 bits of the indices of q1, `narrow` 8 bits. 32 packets each 360 us: 65536 in 0.74 s
    variant wraps flow_counted sample-queues=0.8 's/\ba2\b/a1/g; s/\bb8\b/b1/g; s/\bc4\b/c1/g; /"src"/s/period="1000"/period="360"/' &&
        "$MKPERF" flow "$D/wraps.sample-queues" >"$D/wraps.txt" &&
        grep -q '^# WARNING: narrow: .* unknown: an index may have wrapped' "$D/wraps.txt" && ! grep -q '^# WARNING: [qsw]' "$D/wraps.txt" &&
        "$MKPERF" flow --json "$D/wraps.sample-queues" >"$D/wraps.json" && rows "$D/wraps.json" '
q, short, narrow = queue["q1"], queue["short"], queue["narrow"]
assert q["arrivals"] == short["arrivals"] > 65536 and q["departures"] == short["departures"], (q, short)
assert narrow["unknown"] > 0.9 * narrow["readings"] and narrow["known_ns"] < 0.1 * q["known_ns"], narrow
assert abs(queue["work"]["arrivals"] - queue["q2"]["departures"]) <= 1, queue' ||
        { cat "$D/record.log" "$D/wraps.txt"; return 1; }
}
check "entries between rare readings are counted, or unknown" wraps
drops() { # c4y8 drops each eighth packet
    variant drops flow queues=0.3 's/\bc4\b/c4y8/g' && "$MKPERF" flow --json "$D/drops.queues" >"$D/drops.json" && rows "$D/drops.json" '
c = stage["c4y8"]
assert c["in"] > 7000 and abs(c["drops"] - c["in"] / 8) <= 1, c
assert stage["src"]["drops"] is None and stage["a2"]["drops"] <= 64, stage'
}
check "dropped packets" drops

evil() { # the last queue has any head; the figures of the others are right
    analysed flow_evil 0.3 && grep -q '^# WARNING: q4: of [0-9]* readings, [0-9]* are implausible' "$D/flow_evil.txt" &&
        rows "$D/flow_evil.json" '
assert queue["q4"]["implausible"] > 100, queue
for q in "q1", "q2", "q3":
    assert queue[q]["implausible"] == 0 and queue[q]["arrivals"] + queue[q]["first"] == queue[q]["departures"] + queue[q]["last"], queue[q]'
}
check "a PD that writes anything into its queue: counted, and nothing else changes" evil
