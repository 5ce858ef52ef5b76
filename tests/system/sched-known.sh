#!/bin/sh
# SPDX-License-Identifier: BSD-2-Clause
# Scheduling events with known answers: rounds of calls, notifications, preemption and an inversion of
# priorities (tests/pd/sched.c), as unmodified perf shows them, against the kernel's own counts.
# Environment: SCHED_DIR, SCHED_QEMU for another platform; NS, nanoseconds that an instruction takes there; ENTRY, the most
# nanoseconds that the kernel adds to a run without an interruption; MOST, how many times that a run with interruptions may take; SECONDS_SCHED, how long to record; PPCALL, the function that a PD is in when it
# calls; KERNEL, the kernel's ELF.
set -u
NAME=${NAME:-sched-known}
. tests/system/lib.sh
t=${SCHED_DIR:-$B/tests/pd/sched}
QEMU=${SCHED_QEMU:-$(cat "$t/qemu-command")}
ENTRY=${ENTRY:-600}
MOST=${MOST:-4}
PPCALL=${PPCALL:-microkit_ppcall}
NS=${NS:-1}
export QEMU

# Lines of sched.txt: TIME(ns) EVENT FIELD=VALUE..., by perf.
recording() {
    scripts/qemu-record "$D" -e cycles -F 1000 --sched --interactions --duration "${SECONDS_SCHED:-0.35}" \
        --system "$t/sched.system" --elf-path "$t" -o "$D/s.data" >"$D/record.log" 2>&1 || {
        cat "$D/record.log"
        return 1
    }
    perf_quiet script --ns -i "$D/s.data" -F trace:time,event,trace >"$D/script" || return 1
    sed -nE 's/^ *([0-9]+)\.([0-9]{9}): +sched:(sched_[a-z_]+): /\1\2 \3 /p' "$D/script" |
        sed 's/ ==>//; s/ \[ns\]//g' >"$D/sched.txt"
    "$MKPERF" report --stdio --interactions -i "$D/s.data" >"$D/interactions" || return 1
    cat "$D/record.log"
    grep -q ', 0 lost,' "$D/record.log" && ! grep -q 'get no names' "$D/record.log"
}

# Each PD stopped as often as the kernel counted, and called as often; there are 100,000 calls. At its start and its
# end the session may have cut one off. A call that finds another thread running first is a switch to that one, so
# calls are summed up by the caller.
counted() {
    awk '
        FILENAME ~ /interactions$/ && /->/ { calls[$4] += $1; most += $4 == "first" && $6 == "third" ? $1 : 0 }
        FILENAME ~ /interactions$/ && NF == 5 && !/->/ && $1 ~ /^[0-9]+$/ { switches[$5] = $1; next }
        $2 != "sched_switch" { next }
        {
            for (i = 3; i <= NF; i++) { split($i, f, "="); v[f[1]] = f[2] }
            stopped[v["prev_comm"]]++
            if (v["reason"] == "called") called[v["prev_comm"]]++
        }
        END {
            print "first called", called["first"], "times, the kernel counted", calls["first"], "and of third", most
            bad = most < 100000
            for (pd in switches) {
                n++
                d = stopped[pd] - switches[pd]
                c = called[pd] - calls[pd]
                if (d > 1 || d < -1) { print "switches of", pd, stopped[pd], "counted", switches[pd]; bad = 1 }
                if (c > 1 || c < -1) { print "calls of", pd, called[pd], "counted", calls[pd]; bad = 1 }
            }
            exit bad || n < 9
        }' "$D/interactions" "$D/sched.txt"
}

# What runs without an interruption takes its instructions, a nanosecond each, and the kernel's: one exit and one entry,
# the same each time, but for 48 ns, or for one step of the clock where that is more. On imx8mm_evk a step is 125 ns (8 MHz),
# and the same duration is now 16 steps and now 17. The step is the greatest common divisor of all times. An interruption that
# switches to nobody (a sample, an overflow of the counter that wakes, the kernel's timer) adds to a run, each less than the
# longest exit and entry here. A run is too short for two of one kind. So no run takes more than four of those, MOST: "$D/slack". The
# profiler PD and the client PD preempt now and then; such runs are no whole ones.
durations() {
    awk -v entry="$ENTRY" -v most="$MOST" -v ns="$NS" -v ratio="$D/ratio" -v near_file="$D/near" '
        { for (rest = $1; rest > 0; step = a) { a = rest; rest = step % a } }
        $2 == "sched_switch" {
            for (i = 3; i <= NF; i++) { split($i, f, "="); v[f[1]] = f[2] }
            reason = v["reason"]
            pd = v["prev_comm"]
            ran = $1 - since
            # A PD in the middle of whose run the session begins has no whole run either.
            if (reason != "preempted" && last != "preempted" && known && (pd in seen)) {
                if (pd == "driver") put("driver", 5000 * ns, ran)
                if (pd == "middle") put("middle", 30000 * ns, ran)
                if (pd == "third" && ran > 8000 * ns) put("third", 10000 * ns, ran)
            }
            # A PD that continues after a preemption has no whole run.
            last = (v["next_comm"] in cut) ? "preempted" : ""
            delete cut[v["next_comm"]]
            if (reason == "preempted") cut[pd]
            seen[pd]
            since = $1
            known = 1
        }
        function put(pd, work, took) {
            took -= work
            n[pd]++
            times[pd, took]++
            if (!(pd in min) || took < min[pd]) min[pd] = took
            if (took > max[pd]) max[pd] = took
        }
        END {
            near = step > 48 ? step : 48
            for (pd in n) longest = min[pd] > longest ? min[pd] : longest
            print most * longest
            print near >near_file
            print (30000 * ns + min["middle"]) / (5000 * ns + min["driver"]) >ratio
            for (pd in n) {
                for (t = min[pd]; t <= min[pd] + near; t++) same[pd] += times[pd, t]
                printf "%s: %d runs, the kernel took %d ns, and at most %d more in %d of them; at most %d\n", pd, n[pd],
                    min[pd], near, same[pd], max[pd] >"/dev/stderr"
                bad += n[pd] < 900 || min[pd] < 0 || min[pd] > entry || same[pd] < 0.8 * n[pd] || max[pd] > most * longest
            }
            exit bad || length(n) != 3
        }' "$D/sched.txt" >"$D/slack"
}

# Each PD has the same share of the time by samples as by events: more than six standard errors are no chance.
agreed() {
    contains "$D/record.log" '^  checked samples and scheduling events agree in all [5-9] shares; '
}

# All run times, and idle, are the time of the session, to the nanosecond.
sums() {
    awk '
        $2 == "sched_stat_runtime" { split($5, f, "="); sum += f[2] }
        $2 == "sched_switch" {
            if (first == "") first = $1
            end = $1
            if (idle_since != "") { sum += $1 - idle_since; idle_since = "" }
            if ($0 ~ /next_pid=0 /) idle_since = $1
        }
        END { print "sum", sum, "span", end - first; exit sum != end - first || sum < 300000000 }' "$D/sched.txt"
}

# Each round `low`, for which `high` waits, makes way for `middle`, and gets on after it. An overflow that is taken at the
# same entry wakes the profiler PD, which then runs first, and the client PD after it. So the thread that follows is the next one
# that is not mkperf's. The inversion is the same in both cases.
inversion() {
    awk '
        $2 != "sched_switch" { next }
        {
            for (i = 3; i <= NF; i++) { split($i, f, "="); v[f[1]] = f[2] }
            if (v["prev_comm"] != "profiler" && v["prev_comm"] != "client") stopped = v["prev_comm"] " " v["reason"]
            if (v["next_comm"] != "profiler" && v["next_comm"] != "client") edge[stopped " " v["next_comm"]]++
        }
        END {
            began = edge["low preempted middle"]
            ended = edge["middle waits-notification low"]
            rounds = edge["high preempted first"] + edge["high waits-notification first"]
            print "inversions", began, ended, "rounds", rounds
            exit began < 900 || began - ended > 1 || ended - began > 1
        }' "$D/sched.txt"
}

# The same as mkperf names it: high waited for low while middle ran, and from when to when. One in which the profiler PD
# runs is reported as two.
named() {
    "$MKPERF" latency -x ' ' "$D/s.data" >"$D/values" || return 1
    grep '^inversion' "$D/values"
    awk -v work="$((30000 * NS))" -v slack="$(cat "$D/slack")" '
        $1 == "inversion" && $2 == "high" && $3 == "low" && $4 == "middle" { n = $5; worst = $7; at = $8 }
        $1 == "notification" && $2 == "low" && $3 == "high" { rounds = $5 }
        END { exit !(n >= rounds && n <= rounds * 1.05 && rounds > 900 && worst >= work && worst <= work + slack && at > 0) }' \
        "$D/values"
}

# What calls are made of, as mkperf latency says: what a callee took itself is the time that it ran in those calls as
# perf shows it, to the nanosecond, and the parts of all calls are their time. For second, third's runs have a known time, and
# so the median has. Second's own are twice as many instructions; what it waits for is all of third's time for it, and the
# driver preempts it for its own 5000 instructions and the kernel.
answers() {
    awk -v ns="$NS" -v slack="$(cat "$D/slack")" -v near="$(cat "$D/near")" '
        function end_of_bucket(v,    width) {
            for (width = 1; width * 32 <= v; width *= 2) { }
            return (int(v / width) + 1) * width - 1
        }
        function wrong(what, got, least, most) {
            printf "%s: %.1f ns, expected %.1f to %.1f\n", what, got, least, most
            bad += got < least || got > most
        }
        FILENAME ~ /values$/ && $1 == "call" {
            n[$2 " " $3] = $5; wall[$2 " " $3] = $6; worst[$2 " " $3] = $11; median[$2 " " $3] = $7
        }
        FILENAME ~ /values$/ && $1 == "parts" {
            own[$2 " " $3] = $6
            nested[$2 " " $3] = $7
            if ($4 != $5 + $6 + $7 + $8 + $9 + $10 || $4 != wall[$2 " " $3]) { print; bad++ }
        }
        FILENAME ~ /values$/ && $1 == "preempted" && $2 == "first" && $3 == "second" && $4 == "driver" { driver = $5 }
        # The callee is woken by nothing but calls, and its caller by the reply; the switch may be to a PD that preempts.
        $2 == "sched_wakeup" {
            sub("comm=", "", $3)
            if ($3 == "second" || $3 == "third") woken = $3
            if (caller[runs] == $3) {
                call = $3 " " runs
                took = sum[runs] + $1 - since
                ran[call] += took
                if (call == "second third" && (!least || took < least)) least = took
                caller[runs] = ""
            }
        }
        $2 == "sched_switch" {
            for (i = 3; i <= NF; i++) { split($i, f, "="); v[f[1]] = f[2] }
            sum[runs] += $1 - since
            if (v["reason"] == "called" && (runs == "first" || runs == "second")) { caller[woken] = runs; sum[woken] = 0 }
            runs = v["next_comm"]
            since = $1
        }
        END {
            split("first third,second third,first second", calls, ",")
            for (i in calls) wrong(calls[i] ", own", own[calls[i]], ran[calls[i]], ran[calls[i]])
            wrong("median", median["second third"], end_of_bucket(least), end_of_bucket(least + near))
            wrong("second, own", own["first second"] / n["first second"], 20000 * ns, 20000 * ns + 3 * slack)
            # One of them may belong to a call of second that has no reply at the end.
            wrong("second, nested", nested["first second"], wall["second third"] - worst["second third"], wall["second third"])
            wrong("second, preempted by driver", driver / n["first second"], 5000 * ns, 5000 * ns + slack)
            exit bad || n["second third"] < 900
        }' "$D/values" "$D/sched.txt"
}

# The critical path of the longest call of second: its steps are without a hole, and they are the parts of that call.
# Between the delivery of a call and the switch to its callee, the caller still runs: that time is the caller's own in both.
path() {
    "$MKPERF" latency --critical-path=first:second -x ' ' "$D/s.data" >"$D/path" || return 1
    awk '
        FILENAME ~ /values$/ && $1 == "worst" && $2 == "first" && $3 == "second" {
            wall = $4; want["own"] = $6; want["nested"] = $7; want["preempted"] = $8 + $5 # before its first run, too
        }
        $1 == "path" { at = $2; end = $3 }
        $1 == "step" {
            if ($2 != at) { print "a hole before", $0; bad++ }
            at = $3
            part = $4 == "third" ? "nested" : $5 == "running" ? "own" : "preempted"
            got[part] += $3 - $2
        }
        END {
            for (part in want) if (want[part] != got[part] + 0) { print part, want[part], got[part]; bad++ }
            exit bad || wall == 0 || at != end || got["own"] < 20000
        }' FS=' ' "$D/values" "$D/path"
}

# The line: at most 4 bytes an event.
bytes() {
    sed -nE 's/^ *line .* ([0-9.]+) an event.*/\1/p' "$D/record.log" | awk '{ print; ok = $1 > 0 && $1 <= 4 } END { exit !ok }'
}

# The flight recorder keeps the newest events. It is fetched until it has 10,000 switches, at most 50 times.
cat >"$D/fetch" <<EOF
for i in \$(seq 50); do
    $MKPERF dump -t \$T --system $t/sched.system --elf-path $t -o $D/f.data || exit
    perf script --ns -i $D/f.data -F event 2>/dev/null >$D/flight.events
    [ "\$(grep -c sched_switch $D/flight.events)" -lt 10000 ] || break
done
EOF
flight() {
    scripts/qemu-talk "$D" '$MKPERF record -t $T --overwrite --sched' "sh $D/fetch" >"$D/flight.log" 2>&1 || {
        cat "$D/flight.log"
        return 1
    }
    cat "$D/flight.log"
    perf_quiet script --ns -i "$D/f.data" -F trace:time,event,trace >"$D/flight.txt" || return 1
    [ "$(grep -c sched_switch "$D/flight.txt")" -ge 10000 ]
}

# With a callchain of each thread that stops to wait: first stops once in each call and once in each round. On pocket
# calls are in a function of their own: for as long as they take, and what first is ready after the reply; in
# unmodified perf as well. A target's kernel may not have these samples.
off_cpu() {
    "$MKPERF" latency -x ' ' "$D/off.data" >"$D/off.values" &&
        "$MKPERF" report --stdio --off-cpu "$D/off.data" >"$D/off" && grep -q '^# lost  *0 of' "$D/off" || return 1
    ! grep 'totals are incomplete' "$D/off" || return 1
    awk '
        FILENAME ~ /values$/ && $1 == "call" && $2 == "first" { calls += $5; total += $6 }
        FILENAME ~ /values$/ && $1 == "notification" && $3 == "first" { rounds += $5 + $13 }
        FILENAME ~ /values$/ && $1 == "pd" && $2 == "first" { ready = $6 }
        FILENAME ~ /off$/ && $4 == "first" { all += $2 }
        FILENAME ~ /off$/ && $4 == "first" && $6 == "microkit_ppcall" { samples = $2; ns = $3 }
        END { print "calls of first", calls, total, "ns; rounds", rounds, "; blocked", all, ", in microkit_ppcall", samples, ns, "ns"
              if (samples != 0 && (samples < calls - 2 || samples > calls + 2 || ns < 0.99 * total || ns > 1.01 * (total + ready))) exit 1
              exit !(calls > 10000 && all >= calls && all <= calls + rounds + 3) }' \
        "$D/off.values" "$D/off" || return 1
    [ -n "${SCHED_DIR:-}" ] && return
    perf_quiet report --stdio --no-children -g none -i "$D/off.data" >"$D/off.perf" &&
        grep -q '[0-9.]*%.* first .* microkit_ppcall' "$D/off.perf"
}

# A counter of cycles wakes the profiler PD at the latest after 4,000,000 + 2^20 of them (pd/profiler/kernel.c), each time: 5.05 ms
# at 1 GHz. These events fill the core's ring in 7 ms, so a wake-up that is left out is a loss.
woken() {
    perf_quiet script --ns -i "$D/off.data" -F trace:time,event,trace >"$D/off.txt" || return 1
    sed -nE 's/^ *([0-9]+)\.([0-9]{9}): +sched:sched_switch: .* next_comm=profiler .*/\1\2/p' "$D/off.txt" | awk '
        NR > 1 && $1 - last > longest { longest = $1 - last }
        { last = $1 }
        END { print NR, "runs of the profiler PD, from one to the next at most", longest, "ns"; exit !(NR > 15 && longest < 5200000) }'
}

# How long each PD ran, as the target counts it: each round middle and driver run once, and interruptions add alike to both.
# All PDs and idle are the session, to the nanosecond.
util() {
    scripts/qemu-talk "$D" "\$MKPERF stat -t \$T --util -e cycles --duration 0.2 --system $t/sched.system -x , -o $D/stat" \
        "\$MKPERF top -t \$T --util --stdio --window 0 --duration 0.2 --system $t/sched.system --elf-path $t >$D/top" \
        "\$MKPERF top -t \$T --util --charged --stdio --window 0 --duration 0.2 --system $t/sched.system --elf-path $t >$D/charged" \
        >"$D/util.log" 2>&1 || { cat "$D/util.log"; return 1; }
    awk -F , '$4 == "task-clock" { ran[$1] = $2; sum += $1 != "system" ? $2 : 0; n++; took = $5 }
        END { print "sum", sum, "of", ran["system"], "elapsed", took
              print ran["middle"], ran["driver"] >"/dev/stderr"
              exit n < 10 || sum != ran["system"] || sum < 0.99 * took || sum > 1.01 * took }' \
        "$D/stat" 2>"$D/util.stat" || { cat "$D/stat"; return 1; }
    awk '$1 == "#" && $4 == "Util" { n = 0; sum = 0 }
        $3 ~ /%$/ && NF == 4 { util[$4] = $3 + 0; sum += $3; n++ }
        END { print util["middle"], util["driver"]
              exit n < 9 || sum < 99.9 || sum > 100.1 }' "$D/top" >"$D/util.top" || { cat "$D/top"; return 1; }
    awk '$1 == "#" && $2 == "Charged" { n = 0; sum = 0; title = $7 == "Util" }
        $5 ~ /%$/ && NF == 6 { sum += $5; n++ }
        END { exit !title || n < 9 || sum < 99.9 || sum > 100.1 }' "$D/charged" || { cat "$D/charged"; return 1; }
    cat "$D/ratio" "$D/util.stat" "$D/util.top"
    awk 'FNR == 1 && FILENAME ~ /ratio$/ { want = $1; next }
        { n++; bad += $2 <= 0 || $1 / $2 < 0.97 * want || $1 / $2 > 1.03 * want }
        END { exit n != 2 || bad }' "$D/ratio" "$D/util.stat" "$D/util.top"
}

check "a recording of scheduling events, none lost" recording
check "100,000 calls, none missing; switches as the kernel counted them" counted
check "samples and scheduling events agree" agreed
check "runs take their known instructions" durations
check "run times and idle are the session, to the nanosecond" sums
check "each round has its inversion" inversion
check "mkperf latency names it, and how long" named
check "mkperf explain names it" explains "$D/s.data" inversion problem \
    'high waited for low while middle ran, which has a lower priority: [0-9]* times'
check "calls are made of their known parts" answers
check "the critical path of a call is its parts" path
check "at most 4 bytes an event on the line" bytes
# As many instructions everywhere: 10,000 calls fit.
if scripts/qemu-record "$D" --off-cpu --duration "0.$NS" --system "$t/sched.system" --elf-path "$t" -o "$D/off.data" \
    >"$D/off.log" 2>&1; then
    check "callchains of threads that wait, and for how long" off_cpu
    check "the profiler PD is woken in time" woken
elif grep -q 'no samples of blocked threads' "$D/off.log" && [ -n "${SCHED_DIR:-}" ]; then
    echo "left out: callchains of threads that wait: this kernel has none"
else
    check "callchains of threads that wait" false
fi
check "the flight recorder keeps events" flight
check "how long each PD runs, in mkperf stat and top" util
