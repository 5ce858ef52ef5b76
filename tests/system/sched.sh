#!/bin/sh
# SPDX-License-Identifier: BSD-2-Clause
# Scheduling events of the demo: recorded over the serial line, read by unmodified perf sched, and the
# same latencies from the target itself. Environment: B and MKPERF.
set -u
NAME=sched
. tests/system/lib.sh
. tests/system/lib-demo.sh

record() {
    scripts/qemu-record "$D" --sched --duration 2 $system -o "$data" >"$D/record.log" 2>&1 || {
        cat "$D/record.log"
        return 1
    }
}
check "scheduling events recorded" record
[ -s "$data" ] || exit 1
check "mkperf latency" "$MKPERF" latency -x ' ' -o "$D/values" "$data"

nothing_lost() {
    cat "$D/record.log"
    grep -q ' scheduling events in .* 0 lost' "$D/record.log" && ! grep -q '^ *lost\|the counts do not match' "$D/record.log" &&
        awk '$1 == "total" { found = $6 == 0 && $7 == 0 && $8 <= 3 } END { exit !found }' "$D/values"
}
check "none lost, no gap" nothing_lost

# Both of mkperf's PDs are known as such: the share of one core that the summary states is the sum of their run times.
own_pds() {
    awk '$1 == "total" { span = $3 - $2 }
        $1 == "pd" && ($2 == "profiler" || $2 == "client") { own += $5; pds += $5 > 0 }
        FILENAME ~ /log$/ && /mkperf.s PDs ran/ { sub(/.*PDs ran /, ""); stated = $1 }
        END { printf "stated %.2f %%, %.4f %% by the table\n", stated, 100 * own / span
              d = stated - 100 * own / span
              exit pds != 2 || d > 0.02 || d < -0.02 }' "$D/values" "$D/record.log"
}
check "the time of mkperf's PDs" own_pds

small() { # at most 4 bytes an event on the line
    bytes=$(sed -n 's/^  line .* \([0-9.]*\) an event;.*/\1/p' "$D/record.log")
    echo "$bytes bytes an event"
    awk -v b="$bytes" 'BEGIN { exit !(b > 0 && b <= 4) }'
}
check "at most 4 bytes an event" small

small_file() { # at most 8 bytes an event in the file
    events=$(sed -n 's/^mkperf: .*: \([0-9]*\) scheduling events in .*/\1/p' "$D/record.log")
    bytes=$(stat -c %s "$data")
    echo "$bytes bytes, $events events"
    awk -v b="$bytes" -v n="$events" 'BEGIN { exit !(n > 10000 && b / n <= 8) }'
}
check "at most 8 bytes an event in perf.data" small_file

plain() { # what hotspot needs
    "$MKPERF" convert "$data" -o "$D/plain.data" --to perf 2>"$D/log" &&
        [ "$(stat -c %s "$D/plain.data")" -gt $((20 * $(stat -c %s "$data"))) ] &&
        "$MKPERF" latency -x ' ' -o "$D/plain.values" "$D/plain.data" && cmp "$D/values" "$D/plain.values"
}
check "the same without compression" plain

# Each nanosecond of a call, and of a PD, is in one part.
sums() {
    awk '$1 == "parts" { calls++; if ($4 != $5 + $6 + $7 + $8 + $9 + $10) { print; bad++ } }
        $1 == "total" { span = $3 - $2 }
        $1 == "pd" { sum[$2] = $4 + $5 + $6 + $7 + $8 + $9 + $10 }
        END { for (pd in sum) if (sum[pd] != span) { print pd, sum[pd], span; bad++ }
              exit bad > 0 || calls == 0 || span < 1900000000 }' "$D/values"
}
check "parts add up to the nanosecond" sums

calls() { # thousands of the requester's calls, served at once: 91 instructions
    grep '^call requester server ' "$D/values"
    awk '$1 == "call" && $2 == "requester" && $3 == "server" { ok = $5 > 10000 && $7 < 2000 }
        END { exit !ok }' "$D/values"
}
check "the requester's calls" calls

perf_ok() { # perf_ok ARGUMENTS...: perf's output in $D/perf
    perf "$@" -i "$data" >"$D/perf" 2>"$D/perf.err" || { cat "$D/perf.err"; return 1; }
    ! grep -v 'Samples do not have callchains\|^Written \|unwind: target platform' "$D/perf.err"
}

# `PD switches`: perf counts a switch to a PD that waited or was ready; the first may be unknown.
perf_latency() {
    perf_ok sched latency || return 1
    awk -F '|' '$2 ~ / ms *$/ { split($1, name, ":"); sub(/^ */, "", name[1]); split($2, ms, " ")
            print name[1], $3 + 0, ms[1] }' "$D/perf" | sort >"$D/perf.switches"
    awk '$1 == "pd" && $11 > 0 { printf "%s %d %.3f\n", $2, $11, $5 / 1e6 }' "$D/values" | sort >"$D/switches"
    [ "$(wc -l <"$D/switches")" -ge 6 ] || return 1
    join "$D/switches" "$D/perf.switches" | awk '{ n++; d = $2 - $4; t = $3 - $5; print
            if (d < -1 || d > 1 || t < -0.002 || t > 0.002) bad++ }
        END { exit bad > 0 || n < 6 }'
}
timehist() { # run time, wait time and delay by PD
    perf_ok sched timehist --summary || return 1
    for pd in server requester dummy1 dummy2 known; do
        grep -q "^ *$pd\[" "$D/perf" || { echo "no $pd"; cat "$D/perf"; return 1; }
    done
}
if has perf "perf sched"; then
    check "perf sched latency: the same switches and run times" perf_latency
    check "perf sched timehist" timehist
    check "perf sched map" perf_ok sched map
    check "perf timechart" perf_ok timechart -o "$D/chart.svg"
    check "perf script" perf_ok script
fi

# Exports: each PD's time in slices, each call as a flow; each event in CTF.
chrome() {
    "$MKPERF" convert -q "$data" -o "$D/x.trace.json" && python3 - "$D/x.trace.json" "$D/values" <<'EOF'
import json, sys
trace = json.load(open(sys.argv[1]))["traceEvents"]
name = {e["tid"]: e["args"]["name"] for e in trace if e["ph"] == "M" and e["name"] == "thread_name" and e["pid"] == 1}
ran, cores = {}, 0
for e in trace:
    ns = round(e.get("dur", 0) * 1000)
    if e["ph"] == "X" and e["pid"] == 1 and e["name"] == "running":
        ran[name[e["tid"]]] = ran.get(name[e["tid"]], 0) + ns
    cores += ns if e["pid"] == 2 else 0
rows = [line.split(" ") for line in open(sys.argv[2]).read().splitlines()]
want = {r[1]: int(r[4]) for r in rows if r[0] == "pd" and int(r[4])}
calls = sum(int(r[4]) for r in rows if r[0] == "call")
flows = [sum(e["ph"] == p for e in trace) for p in "sf"]
assert ran == want and cores == sum(want.values()), (ran, want, cores)
assert flows == [calls, calls], (flows, calls)
# As Perfetto reads it: times are cut to ns and sorted, a slice ends where it ends or another on its track begins
# behind it, and the ends of a flow are in the slice that is open then. No tracks share a number.
track = {}
for e in trace:
    track.setdefault(e["tid"], set()).add(e["pid"])
assert all(len(pids) == 1 for pids in track.values()), track
slices, start, bound = {}, {}, 0
for e in sorted((e for e in trace if e["ph"] in "Xsf"), key=lambda e: int(e["ts"] * 1000.0)):
    ts, on = int(e["ts"] * 1000.0), slices.setdefault(e["tid"], [])
    if e["ph"] == "X":
        end = ts + int(e["dur"] * 1000.0)
        while on and on[-1][1] <= ts:
            on.pop()
        assert not on, (e, on) # slices of these tracks are one behind another
        on.append((e["name"], end))
    elif e["ph"] == "s":
        # The caller runs until the kernel has switched: 128 ns later if the call also wakes the profiler PD.
        assert on[-1][0] == "running" and on[-1][1] > ts, (e, on)
        start[e["id"]] = ts
    else:
        assert on[-1][0] == "running" and on[-1][1] > ts > start[e["id"]] and e["bp"] == "e", (e, on)
        bound += 1
assert bound == calls
EOF
}
check "Chrome trace: times and calls" chrome
# Markers: each PD's states without a hole, each call as a flow from the caller to the callee that the reply ends.
firefox() {
    "$MKPERF" convert -q "$data" -o "$D/x.firefox.json" && python3 - "$D/x.firefox.json" "$D/values" <<'EOF'
import json, sys
rows = [line.split(" ") for line in open(sys.argv[2]).read().splitlines()]
pds = {r[1]: r for r in rows if r[0] == "pd"}
span = [int(r[2]) - int(r[1]) for r in rows if r[0] == "total"][0]
calls = sum(int(r[4]) for r in rows if r[0] == "call")
flows, states = {}, ["unknown", "running", "ready", "in a call", "waiting", "throttled", "stopped"]
profile = json.load(open(sys.argv[1]))
formats = {f["key"]: f["format"] for s in profile["meta"]["markerSchema"] if s["name"] == "reply" for f in s["data"]}
assert formats["flow"] == "terminating-flow-id", formats
for t in profile["threads"]:
    m, text, sums = t["markers"], t["stringArray"], dict.fromkeys(states, 0)
    for data, name, start, end in zip(m["data"], m["name"], m["startTime"], m["endTime"]):
        if data["type"] == "sched":
            sums[text[name]] += round(end * 1e6) - round(start * 1e6)
        else:
            flows.setdefault(text[data["flow"]], []).append((text[name], start, end))
    if t["name"] in pds and m["length"]:
        assert [sums[s] for s in states] == [int(v) for v in pds[t["name"]][3:10]], (t["name"], sums)
        assert sum(sums.values()) == span
assert len(flows) == calls
for parts in flows.values():
    parts.sort(key=lambda p: ["reply", "call", "serve"].index(p[0]))
    (a, reply, _), (b, call, end), (c, taken, until) = parts
    assert (a, b, c) == ("reply", "call", "serve") and call <= taken <= until == end == reply, parts
EOF
}
check "Firefox Profiler: states and calls" firefox
ctf() { # the same events in order, and no time before another
    "$MKPERF" convert -q "$data" -o "$D/x.ctf" && babeltrace2 --no-delta "$D/x.ctf" >"$D/ctf" || return 1
    events=$(awk '$1 == "total" { print $4 }' "$D/values")
    [ "$(wc -l <"$D/ctf")" -eq "$events" ] && sort -c -k 1,1 "$D/ctf" &&
        grep -q 'prev_comm = "requester".* next_comm = "server".* reason = "called"' "$D/ctf" &&
        grep -q 'mkperf_sched: .* kind = "irq".* comm = "client"' "$D/ctf"
}
if has babeltrace2 "CTF"; then
    check "CTF, read by babeltrace2" ctf
fi

# With samples, and in the flight recorder; then the target's own table, and the events from which it was made.
cat >"$D/session" <<EOF
set -eu
$MKPERF record -t \$T --sched -e cycles -F 1000 --duration 1 $system -o $D/both.data -q
$MKPERF record -t \$T --overwrite --sched $system -q
for i in \$(seq 100); do # until the demo has worked: the flight recording has its calls
    $MKPERF dump -t \$T $system -o $D/flight.data -q
    $MKPERF latency -x ' ' -o $D/flight $D/flight.data
    ! grep -q '^call requester server ' $D/flight || break
done
$MKPERF latency -t \$T --duration 1 -x ' ' -o $D/live
$MKPERF latency -t \$T --duration 1 -x , -o $D/both.live --record $D/both.events --system $demo/demo.system
$MKPERF stat -t \$T --util -e cycles --duration 1 -x , -o $D/stat --system $demo/demo.system
$MKPERF top -t \$T --util --stdio --window 0 --duration 1 $system >$D/top
EOF
talk() {
    scripts/qemu-talk "$D" "sh $D/session" >"$D/talk.log" 2>&1 || { cat "$D/talk.log"; return 1; }
}
check "samples beside events, flight recorder, live latencies" talk
both() {
    "$MKPERF" report --stdio -i "$D/both.data" --percent-limit 5 >"$D/both" || return 1
    "$MKPERF" latency -x ' ' "$D/both.data" | grep -q '^call requester server ' && grep -q ' known ' "$D/both"
}
check "samples and events in one recording" both
util() { # a PD's share of the time, in a column of its samples' table
    "$MKPERF" report --stdio -s pd,util -i "$D/both.data" >"$D/util" || return 1
    "$MKPERF" latency -x ' ' "$D/both.data" | awk '$1 == "total" { span = $3 - $2 }
        $1 == "pd" { ran[$2] = $5 } $1 == "core" { ran["idle"] = $4 }
        END { for (pd in ran) printf "%s %.2f%%\n", pd, 100 * ran[pd] / span }' >"$D/util.want"
    for pd in known idle requester; do
        want=$(sed -n "s/^$pd //p" "$D/util.want")
        grep -q " $pd  *$want *$" "$D/util" || { echo "$pd $want"; cat "$D/util"; return 1; }
    done
}
check "utilisation in mkperf report" util
# Over time: of each slice all PDs and idle are 100 %, and the slices of a PD are what it ran in all.
util_slices() {
    "$MKPERF" report --util -s time,pd,util --time-quantum 50ms -x ' ' "$data" >"$D/slices" || return 1
    cat "$D/values" "$D/slices" | awk '$1 == "pd" { want[$2] = $5 } $1 == "core" { want["idle"] += $4 }
        $1 == "row" { share[$6] += $8; ran[$7] += $5; rows++ }
        END { for (pd in want) if (want[pd] != ran[pd]) { print pd, want[pd], ran[pd] + 0; bad++ }
              for (s in share) { n++; if (share[s] < 99.999 || share[s] > 100.001) { print s, share[s]; bad++ } }
              print n, "slices", rows, "rows"; exit bad > 0 || n < 40 }'
}
check "utilisation over time in mkperf report" util_slices
# How long each PD and idle ran, as the target counted it: all of the session.
live_runs() {
    grep '^run\|^total' "$D/live"
    awk '$1 == "run" { sum += $3; n++ } $1 == "total" { all = $2 }
        END { exit !(n >= 8 && sum == all) }' "$D/live"
}
check "run times that the target counted are its time" live_runs
# Counted while the core runs at 1 GHz, also in idle: a PD's cycles are the nanoseconds that it ran.
util_counted() {
    awk -F , '$4 == "cycles" { cycles[$1] = $2 }
        $4 == "task-clock" && $1 != "system" {
            d = cycles[$1] - $2; print $1, cycles[$1], $2; n++
            if (d < -1000000 || d > 1000000) bad++
        }
        END { exit bad > 0 || n < 8 }' "$D/stat"
}
check "utilisation in mkperf stat: that of the cycles" util_counted
# Util of the last table: a PD that runs for a quarter of the time, as sampled; all are the whole time.
util_live() {
    awk '$1 == "#" && $4 == "Util" { n = 0; split("", util) }
        $3 ~ /%$/ && NF == 4 { util[$4] = $3 + 0; share[$4] = $1 + 0; n++ }
        END { for (pd in util) { sum += util[pd]; print pd, share[pd], util[pd] }
              d = util["known"] - share["known"]
              exit !(n >= 8 && sum > 99.9 && sum < 100.1 && d > -8 && d < 8 && util["known"] > 10) }' "$D/top"
}
check "utilisation in mkperf top" util_live
flight() {
    grep '^call requester server ' "$D/flight" || { cat "$D/flight"; return 1; }
}
check "events of the flight recorder" flight
same() { # the median of the target's own table: the same but for the width of a bucket
    a=$(awk '$1 == "call" && $2 == "requester" { print $7 }' "$D/values")
    b=$(awk '$1 == "call" && $2 == "requester" { print $7 }' "$D/live")
    echo "recorded $a ns, on the target $b ns"
    awk -v a="$a" -v b="$b" 'BEGIN { exit !(a > 0 && b > 0 && a <= b * 1.0625 && b <= a * 1.0625) }'
}
check "the target's own latencies are the same" same
# Of one session: what the target aggregated, and what the same command makes of the events that it sent meanwhile. Counts, sums,
# quantiles, the worst and when, and notifications that found their PD busy. The recording has interrupts without any.
same_session() {
    "$MKPERF" latency -x , -o "$D/both.values" "$D/both.events" || return 1
    for which in live values; do
        grep -E '^(call|notification|irq),' "$D/both.$which" | awk -F , '$5 + $13 > 0' | sort >"$D/both.$which.rows"
    done
    cat "$D/both.live.rows"
    awk -F , '$1 == "call" && $5 > 10000 { calls++ } END { exit !(calls == 1 && NR >= 7) }' "$D/both.live.rows" &&
        diff "$D/both.live.rows" "$D/both.values.rows"
}
check "one session, aggregated on the target and recorded: the same numbers" same_session
