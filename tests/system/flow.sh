#!/bin/sh
# SPDX-License-Identifier: BSD-2-Clause
# mkperf flow on pipelines with known service times (tests/pd/flow.c): what limits is named, all packets are counted, Little's law
# holds, the service times come back, and a PD that writes anything into its queue is counted.
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
    analysed flow 2 && rows "$D/flow.json" '
line = ["src", "a2", "b8", "c4", "d1"]
for i in range(4):
    q = queue["q%d" % (i + 1)]
    assert q["arrivals"] > 50000 and q["implausible"] == q["unknown"] == 0, q
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
    analysed flow_slow 1 && head -n 1 "$D/flow_slow.txt" | grep -q '^b80 limits: .* with its own work for \(9[0-9.]*\|100.0\) %.$' &&
        "$MKPERF" explain --why throughput "$D/flow_slow.data" | grep -q 'b80 limits: ' && rows "$D/flow_slow.json" '
assert limit["cause"] == "own work" and limit["by"] == "b80" and limit["busy"] > 95, limit
assert abs(limit["packets_per_s"] - stage["b80"]["in"] * 1e9 / stage["b80"]["known_ns"]) < 0.01 * limit["packets_per_s"], limit
assert queue["q2"]["mean"] > 40 and queue["q4"]["mean"] < 10, queue' || { cat "$D/flow_slow.txt"; return 1; }
}
check "the slow stage on the second core is named" slow

live() { # the same tables while the system runs; --window 0: of the whole session
    t=$B/tests/pd/flow_slow
    QEMU=$(cat "$t/qemu-command") scripts/qemu-talk "$D" \
        "\$MKPERF top -t \$T --flow --stdio --delay 0.1 --duration 1 --system $t/flow_slow.system --elf-path $t >$D/live" \
        "\$MKPERF top -t \$T --flow --stdio --window 0 --duration 0.5 --system $t/flow_slow.system --elf-path $t >$D/all" \
        >"$D/live.log" 2>&1 && [ "$(grep -c '^b80 limits: ' "$D/live")" -ge 2 ] && [ "$(grep -c ' limits' "$D/all")" -ge 1 ] &&
        awk '/^Since/ { if ($2 < until) exit 1; until = $5 } END { exit !until }' "$D/live" &&
        tail -n 8 "$D/all" | awk '$NF == "c4)" { n++; if ($10 + 0 < 4000 || $10 + 0 > 6500) exit 1 } END { exit n != 1 }' ||
        { cat "$D/live.log"; tail -n 40 "$D/all"; return 1; }
}
check "top --flow names the limit while the system runs" live

predicted() { # b80 with half of its work is b40, which has another system
    analysed flow_before 1 && analysed flow_after 1 && "$MKPERF" flow --json --what-if 'b80 own -50%' "$D/flow_before.data" >"$D/what-if.json" &&
        python3 - "$D/what-if.json" "$D/flow_before.json" "$D/flow_after.json" <<'END'
import json, sys
rate = lambda f: next(r["out"] / r["known_ns"] * 1e9 for r in map(json.loads, open(f)) if r["type"] == "stage" and r["pd"][0] == "b")
p = next(r for r in map(json.loads, open(sys.argv[1])) if r["type"] == "prediction")
gain = 100 * (rate(sys.argv[3]) / rate(sys.argv[2]) - 1)
print(f"predicted {p['gain']:.1f} % ({p['least']:.1f} to {p['most']:.1f}), measured {gain:.1f} %")
assert p["least"] <= p["gain"] <= p["most"] and abs(p["gain"] - gain) <= 5, (p, gain)
END
}
check "a predicted gain is measured after the change" predicted

evil() { # the last queue has any head; the figures of the others are right
    analysed flow_evil 1 && grep -q '^# WARNING: q4: of [0-9]* readings, [0-9]* are implausible' "$D/flow_evil.txt" &&
        rows "$D/flow_evil.json" '
assert queue["q4"]["implausible"] > 100, queue
for q in "q1", "q2", "q3":
    assert queue[q]["implausible"] == 0 and queue[q]["arrivals"] + queue[q]["first"] == queue[q]["departures"] + queue[q]["last"], queue[q]'
}
check "a PD that writes anything into its queue: counted, and nothing else changes" evil
