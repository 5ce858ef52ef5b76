#!/bin/sh
# SPDX-License-Identifier: BSD-2-Clause
# Queues of a pipeline with known service times (tests/pd/flow.c): readings at switches against the PDs' own counts of packets and
# activations, on one core and on two; a PD that writes anything into its queue; what stamp and record refuse.
# Environment: B and MKPERF.
set -u
NAME=queues
. tests/system/lib.sh

recorded() { # NAME SECONDS: a recording of the system with that name
    t=$B/tests/pd/$1
    QEMU=$(cat "$t/qemu-command") scripts/qemu-record "$D" --queues --duration "$2" --system "$t/$1.system" --elf-path "$t" \
        -o "$D/$1.data" >"$D/record.log" 2>&1 || { cat "$D/record.log"; return 1; }
    grep -q ', 0 lost,' "$D/record.log" && perf_quiet script -i "$D/$1.data" >"$D/$1.txt" ||
        { cat "$D/record.log"; return 1; }
}
# judge FILE PYTHON: `q` are the last indices (head, tail) of each queue, `first` the first ones. The code is run for each reading,
# when all of the same moment are known (`at` its queue, `now` its time), and, with `at` None, at the end.
judge() {
    python3 - "$1" "$2" <<'END'
import re, sys
q, first, readings, moment, now = {}, {}, 0, [], None
code = compile(sys.argv[2], "judge", "exec")
def judge():
    for g["at"] in moment:
        exec(code, g)
    moment.clear()
g = globals()
for line in open(sys.argv[1]):
    r = re.search(r"(\[\d+\] +\S+): +mkperf:queue: queue=(\d+) head=(\d+) tail=(\d+)", line)
    if not r or r.group(1) != now:
        judge()
    if r:
        now, at = r.group(1), int(r.group(2))
        q[at] = int(r.group(3)), int(r.group(4))
        first.setdefault(at, q[at])
        readings += 1
        moment.append(at)
judge()
moment.append(None)
judge()
END
}
# Queues 0 to 3 are q1 to q4; 4 to 8 are the counts of src and the four stages: (activations, packets). A switch may come between
# the write of an index and that of a count, so they differ by at most one; over the recording they agree.
counts() {
    recorded flow_counted 2 && judge "$D/flow_counted.txt" '
stages = range(4)
if at is None:
    for i in stages:
        packets = q[5 + i][1] - first[5 + i][1]
        assert packets > 50000 and abs(q[i][0] - first[i][0] - packets) <= 1, (i, q, first)
        assert abs(q[i][1] - first[i][1] - (q[4 + i][1] - first[4 + i][1])) <= 1, (i, q, first)
    assert readings > 10000
elif len(q) == 9:
    for i in stages:
        assert abs(q[i][0] - q[5 + i][1]) <= 1 and abs(q[i][1] - q[4 + i][1]) <= 1, (now, q)
        assert 0 <= q[i][1] - q[i][0] <= 64, (now, q)'
}
check "packets at each switch are those that the PDs count" counts
two_cores() { # the stage on the other core takes 80 us a packet: its queue is full, the next one empty
    recorded flow_slow 1 && grep -q '\[001\].*mkperf:queue' "$D/flow_slow.txt" && judge "$D/flow_slow.txt" '
if at is None:
    assert full > 0.9 * seen and 5000 < q[1][0] - first[1][0] < 12600, (full, seen, q, first)
else:
    seen = globals().get("seen", 0) + (at == 1)
    full = globals().get("full", 0) + (at == 1 and q[1][1] - q[1][0] >= 32)
    assert 0 <= q[at][1] - q[at][0] <= 64, (now, q)'
}
check "two cores: the queue before the slow stage is full" two_cores
evil() { # the last queue has any head; the other queues are right
    recorded flow_evil 1 && judge "$D/flow_evil.txt" '
if at is None:
    assert wild > 100, wild
else:
    wild = globals().get("wild", 0) + (at == 3 and q[3][1] - q[3][0] not in range(65))
    assert at == 3 or 0 <= q[at][1] - q[at][0] <= 64, (now, q)' && "$MKPERF" flow "$D/flow_evil.data" >"$D/flow.txt"
}
check "a PD that writes anything into its queue" evil

no_queues() {
    t=$B/demo
    QEMU=$(cat "$t/qemu-command") scripts/qemu-record "$D" --queues --duration 0.1 --system "$t/demo.system" --elf-path "$t" \
        -o "$D/demo.data" >"$D/record.log" 2>&1 && return 1
    contains "$D/record.log" 'the image lists no queues' && [ ! -e "$D/demo.data" ]
}
check "an image without queues: said" no_queues
refused() { # LINE REASON
    t=$B/tests/pd/flow
    echo "$1" >"$D/bad.queues"
    "$MKPERF" stamp -q --queues "$D/bad.queues" "$t/flow.system" --elf-path "$t" --kernel "$B/demo/kernel.elf" -o "$D/out.elf" 2>"$D/err" &&
        return 1
    contains "$D/err" "bad.queues:1: $2" && [ ! -e "$D/out.elf" ]
}
bad_lines() {
    refused "q1 region=q9 head=0 tail=64 bits=32 slots=64 producer=src" "no memory region is named q9" &&
        refused "q1 region=q1 head=0 tail=64 bits=24 slots=64 producer=src" "q1: bits: want 8, 16, 32 or 64" &&
        refused "q1 region=q1 head=0 tail=4094 bits=32 slots=64 producer=src" "q1: head and tail" &&
        refused "q1 region=q1 head=0 tail=4096 bits=32 slots=64 producer=src" "q1: head and tail" &&
        refused "q1 region=q1 head=0 tail=64 bits=32 slots=64" "q1: want region" &&
        refused "q1 region=q1 head=0 tail=64 bits=32 slots=64 producer=nobody" "no protection domain is named nobody" &&
        refused "q1 region=q1 head=x tail=64 bits=32 slots=64 producer=src" "head=x: want a number" &&
        refused "q1 color=red" "color=: want region"
}
check "a wrong description of a queue: file, line and reason" bad_lines
