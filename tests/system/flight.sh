#!/bin/sh
# SPDX-License-Identifier: BSD-2-Clause
# The flight recorder and software events, with tests/pd/flight.c: known numbers of calls and
# notifications, and a fault at a known place. Environment: as demo.sh, with FLIGHT_DIR and FLIGHT_QEMU;
# KERNEL: the kernel's ELF.
set -u
NAME=${NAME:-flight}
. tests/system/lib.sh
t=${FLIGHT_DIR:-$B/tests/pd/flight}
QEMU=${FLIGHT_QEMU:-$(cat "$t/qemu-command")}
S="--system $t/flight.system --elf-path $t --kernel ${KERNEL:-$B/demo/kernel.elf}"
export QEMU D S

# talk LOG COMMAND...: mkperf commands on a newly booted system
talk() {
    log=$D/$1.log
    shift
    scripts/qemu-talk "$D" "$@" >"$log" 2>&1 || {
        cat "$log"
        return 1
    }
}

# A recording of 8 KiB from before the fault, fetched twice, and one that a program ends.
recorded() {
    talk flight \
        '$MKPERF record -t $T -c 200000 --overwrite -m 8K --dump-on-fault victim --interactions $S' \
        '$MKPERF dump -t $T --wait -o $D/fault.data $S' \
        '$MKPERF dump -t $T -o $D/again.data $S' \
        '$MKPERF record -t $T -c 200000 --overwrite -m 4K $S' \
        '$MKPERF dump -t $T --wait -o $D/mark.data $S' \
        '$MKPERF record -t $T -F 5000 --overwrite $S' \
        '$MKPERF dump -t $T -o $D/first.data $S' \
        '$MKPERF dump -t $T -o $D/second.data $S' &&
        grep -q 'ended by a fault of victim' "$D/flight.log" &&
        grep -q "ended by an application's mark" "$D/flight.log" &&
        grep -q 'the recording continues' "$D/flight.log" || {
        cat "$D/flight.log"
        return 1
    }
}

# Scheduling events before a fault, and before a program's mark: the newest that fit, up to the last moment.
sched_recorded() {
    talk sched \
        '$MKPERF record -t $T --overwrite -m 64K --stop-if "fault victim" $S' \
        '$MKPERF dump -t $T --wait -o $D/sched-fault.data $S' \
        '$MKPERF record -t $T --sched --overwrite -m 64K $S' \
        '$MKPERF dump -t $T --wait -o $D/sched-mark.data $S' &&
        grep -q 'ended by a fault of victim' "$D/sched.log" &&
        grep -q "ended by an application's mark" "$D/sched.log" || {
        cat "$D/sched.log"
        return 1
    }
}
# sched_last FILE EVENTS PATTERN: the pattern is among the last ten switches, so many events are there, no gap.
# Within the last LAST switches: the profiler PD freezes the recording. pocket's hook wakes it at once, seL4's at the next
# interrupt of a counter.
sched_last() {
    "$MKPERF" latency -x ' ' "$D/$1.data" >"$D/$1.values" || return 1
    perf_quiet script --ns -i "$D/$1.data" -F trace:time,event,trace | grep 'sched:sched_switch' | tail -n "${LAST:-10}" >"$D/$1.last"
    tail -n 10 "$D/$1.last"
    awk -v events="$2" '$1 == "total" { print; found = $4 > events && $6 == 0 } END { exit !found }' "$D/$1.values" &&
        grep -q "$3" "$D/$1.last"
}

# The code that led to the fault. The fault's mark, and at most two other samples are with it; mkperf's own
# PDs answer the host meanwhile, as often as it asks. LATE: samples of what runs after the fault, none on pocket: the profiler
# PD has the highest priority, and the fault's kernel entry wakes it. On seL4 it is woken at the next interrupt of a counter. A
# sample that is taken at another entry wakes nobody, so there may be more than one. Where the kernel is built with frame
# pointers, a sample at an interrupt's entry has that function first.
led_to_fault() {
    chains "$D/fault.data" | awk -v most="${LATE:-0}" '
        $1 == "victim" && $3 ~ /^(c_handle_interrupt;)?last_work(;|_).*approach/ { n++ }
        $1 == "client" || $1 == "profiler" { own++ }
        /after_all_is_over/ { late++ }
        END { print NR, "samples,", n + 0, "of the way to the fault,", own + 0, "of mkperf,", late + 0, "of later"
              exit !(n > 50 && n + own >= NR - 3 - most && late <= most) }'
}
overwritten() {
    "$MKPERF" report --stdio -i "$D/fault.data" >"$D/report" || return 1
    head -n 12 "$D/report"
    grep -q '^# flight  *[1-9][0-9]* older samples had been overwritten' "$D/report" &&
        grep -q 'victim: fault at 0x' "$D/report"
}
at_the_fault() {
    # The mark names the pc: the store in crash.
    pc=$(sed -n 's/.*victim: fault at \(0x[0-9a-f]*\).*/\1/p' "$D/report")
    addr2line -f -e "$t/flight.elf" "$pc" | head -n 1 | grep -x crash
}
same_again() {
    chains "$D/fault.data" >"$D/one" && chains "$D/again.data" >"$D/two" && [ -s "$D/one" ] &&
        cmp "$D/one" "$D/two"
}
mark() {
    chains "$D/mark.data" | awk '
        $1 == "talker" && $3 ~ /^before_the_mark/ { n++ }
        END { print NR, "samples,", n + 0, "before the mark"; exit !(n > 20 && n >= NR - 3) }' &&
        "$MKPERF" report --stdio -i "$D/mark.data" | grep 'talker: too late (42)'
}
# Two dumps of a running recording: the second has the samples in between, and both are complete.
goes_on() {
    for f in first second; do
        "$MKPERF" report --stdio -i "$D/$f.data" >"$D/$f" || return 1
        ! grep WARNING "$D/$f" | grep -v "counters count in all modes" || return 1
    done
    last=$(perf_quiet script -i "$D/first.data" -F time | tail -n 1)
    later=$(perf_quiet script -i "$D/second.data" -F time | tail -n 1)
    echo "$last then $later"
    awk "BEGIN { exit !(${later%:*} > ${last%:*}) }"
}
check "a fault, a mark and a dump each bring the recording" recorded
# A target that stops in the middle of a dump, and whose line carries text for ever.
endless() {
    talk endless \
        '$MKPERF record -t $T -c 200000 --overwrite -m 8K --dump-on-fault victim $S' \
        'tests/tool/endless-dump ${T#unix:} $D/relay.sock 1200 & until [ -S $D/relay.sock ]; do sleep 0.1; done;
         timeout 60 $MKPERF dump -t unix:$D/relay.sock --timeout 0.5 -o $D/endless.data $S; echo status $?' &&
        contains "$D/endless.log" 'fell silent in the middle of the recording' 'status 9'
}
check "the recording shows the code that led to the fault" led_to_fault
check "a dump that does not end is given up" endless
check "what was overwritten is reported, and where the fault was" overwritten
check "the fault's mark is at its instruction" at_the_fault
check "fetched again it is the same" same_again
check "the recording that a program ended" mark
check "a recording that runs can be fetched and continues" goes_on

edges() {
    "$MKPERF" report -i "$D/fault.data" --interactions >"$D/edges" || return 1
    cat "$D/edges"
    grep -q '^ *500 *0 .* talker -> server$' "$D/edges" &&
        grep -q '^ *200 *0 .* talker -> quick$' "$D/edges" &&
        grep -q '^ *0 *300 .* talker -> sink$' "$D/edges" &&
        grep -q '^ *0 *1 .* talker -> victim$' "$D/edges" &&
        grep -q '^# faults  *1$' "$D/edges" && ! grep -q WARNING "$D/edges" &&
        awk '/^# context-switches/ { all = $3 } / by$/ { by = 1; next }
             by { sum += $1; calls += $3; notifications += $4 }
             /^# ppcalls/ { c = $3 } /^# notifications/ { n = $3 }
             END { exit !(by && sum == all && calls == c && notifications == n) }' "$D/edges"
}
graph() {
    "$MKPERF" report -i "$D/fault.data" --interactions -o "$D/x.dot" &&
        dot -Tsvg "$D/x.dot" -o "$D/x.svg" && grep -q 'talker&#45;&gt;server' "$D/x.svg" &&
        "$MKPERF" report -i "$D/fault.data" --dot | cmp - "$D/x.dot"
}
# The report's numbers are in the exports that have a place for them.
exported() {
    "$MKPERF" convert -q "$D/fault.data" -o "$D/fault.jsonl" &&
        "$MKPERF" convert -q "$D/fault.data" -o "$D/fault.speedscope.json" || return 1
    awk 'NF == 6 && $1 + 0 && $5 == "->" { print $1, $(NF - 2), "->", $NF }' "$D/edges" | sort >"$D/calls"
    awk 'NF == 6 && $2 + 0 && $5 == "->" { print $2, $(NF - 2), "->", $NF }' "$D/edges" | sort >"$D/notifications"
    for kind in call notification; do
        [ "$(wc -l <"$D/${kind}s")" -ge 2 ] &&
            sed -n 's/^{"type":"calls","from":"\([^"]*\)","to":"\([^"]*\)",.*"'$kind's":\([1-9][0-9]*\).*/\3 \1 -> \2/p' \
                "$D/fault.jsonl" | sort | diff - "$D/${kind}s" || return 1
    done
    awk '/^# (context-switches|faults|ppcalls|notifications)/ { print $2, $3 }' "$D/edges" >"$D/soft"
    [ "$(wc -l <"$D/soft")" -eq 4 ] &&
        awk '{ printf ",\"%s\":%s", $1, $2 } END { print "}" }' "$D/soft" | sed 's/^/{"type":"soft"/' |
        grep -qxFf - "$D/fault.jsonl" || { cat "$D/soft" "$D/fault.jsonl"; return 1; }
    sum=$(awk '{ sum += $1 } END { print sum }' "$D/calls")
    grep -q '"name":"talker -> server"' "$D/fault.speedscope.json" &&
        grep -q "\"name\":\"\[interactions\] (ppcalls)\".*\"endValue\":$sum}" "$D/fault.speedscope.json"
}
none() {
    ! "$MKPERF" report -i "$D/mark.data" --interactions 2>"$D/none" &&
        grep 'no interactions were recorded' "$D/none"
}
check "calls and notifications are exactly the known ones" edges
check "graphviz takes the graph" graph
check "the interactions are in JSON Lines and speedscope" exported
check "a recording without interactions says so" none

streamed() {
    talk streamed '$MKPERF record -t $T -c 200000 --interactions --duration 0.15 -o $D/stream.data $S' &&
        "$MKPERF" report -i "$D/stream.data" --interactions >"$D/stream" || return 1
    cat "$D/stream"
    grep -q '^ *500 *0 .* talker -> server$' "$D/stream" &&
        grep -q '^ *0 *300 .* talker -> sink$' "$D/stream" &&
        "$MKPERF" report --stdio -i "$D/stream.data" | grep 'victim: fault at 0x'
}
# Beside counters; and all by PD. The talker asks the client, too, whether the session still runs.
counted() {
    talk counted "\$MKPERF stat -t \$T -e cycles,context-switches,faults,ppcalls,notifications $1 -x , \
        --duration 0.15 -o \$D/stat.csv --system $t/flight.system" || return 1
    cat "$D/stat.csv"
}
stat_system() {
    counted '' && awk -F, '{ count[$3] = $1 }
        END { exit !(count["notifications"] == 301 && count["faults"] == 1 && count["ppcalls"] >= 700 &&
                     count["context-switches"] >= 2000 && count["cycles"] > 40000000) }' "$D/stat.csv"
}
stat_pds() {
    counted --per-pd && awk -F, '{ count[$1, $4] = $2; if ($1 != "system") sum[$4] += $2 }
        END { for (e in sum) if (sum[e] != count["system", e]) bad = 1
              exit bad || !(count["talker", "ppcalls"] > 700 && count["victim", "faults"] == 1 &&
                            count["talker", "notifications"] == 301 && count["sink", "context-switches"] >= 300 &&
                            count["server", "context-switches"] >= 500 && count["quick", "context-switches"] >= 200) }' "$D/stat.csv"
}
refusals() {
    talk refusals '! $MKPERF dump -t $T -o $D/none.data' \
        '! $MKPERF record -t $T --dump-on-fault victim $S -o $D/none.data' \
        '! $MKPERF record -t $T --overwrite --dump-on-fault nobody $S' \
        '! $MKPERF record -t $T --overwrite -m 3K $S' '! $MKPERF record -t $T -e faults -o $D/none.data' \
        '! $MKPERF stat -t $T -e context-switches:u' || return 1
    for why in 'no flight recording' 'are for --overwrite' 'no PD is named "nobody"' \
        'want a power of two' 'can be counted (mkperf stat), not sampled' 'no user half'; do
        grep -q "$why" "$D/refusals.log" || { cat "$D/refusals.log"; return 1; }
    done
    [ ! -e "$D/none.data" ]
}
# A PD and its children, chosen in the kernel: the child alone works here, others spin beside it.
subtree() {
    talk subtree '$MKPERF record -t $T -c 200000 --subtree boss --duration 0.03 -o $D/tree.data $S' || return 1
    chains "$D/tree.data" | awk '{ n[$1]++ }
        END { for (pd in n) { print n[pd], pd; if (pd != "victim" && pd != "boss") others = 1 }
              exit others || n["victim"] < 50 }'
}
check "interactions and faults of an ordinary recording" streamed
check "samples of a PD and its children only" subtree
check "software events beside counters, exactly" stat_system
check "software events and cycles by PD: exact, and their sum the system's" stat_pds
check "bad requests are refused with the reason" refusals
check "scheduling events before a fault and before a mark" sched_recorded
check "the last switches lead to the fault" sched_last sched-fault 1000 'prev_comm=victim .*reason=faulted'
# Between the session's begin and the mark, the talker alone works: how many switches there are depends on what the
# host asks meanwhile.
check "the last switches lead to the mark" sched_last sched-mark 10 'prev_comm=talker .*reason=called'
