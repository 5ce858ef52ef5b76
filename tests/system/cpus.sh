#!/bin/sh
# SPDX-License-Identifier: BSD-2-Clause
# What users see of several cores: the demo on two cores, recorded, shown by core, and read by perf.
set -u
NAME=cpus
. tests/system/lib.sh
t=$B/cores
files="--system $t/cores.system --elf-path $t:$B/demo"
QEMU=$(cat "$t/qemu-command")
export D files QEMU

# dump NAME: what the flight recording has, when each core has more than 30 samples.
cat >"$D/dump" <<'EOF'
for i in $(seq 50); do
    $MKPERF dump -t "$T" -o "$D/$1.data" $files >"$D/$1.log" 2>&1 || exit 1
    sed -n 's/^ .* core [01]  *\([0-9]*\) samples.*/\1/p' "$D/$1.log" | awk '{ n += $1 > 30 } END { exit n < 2 }' && break
done
EOF
# The demo works in the first third of each second: what counts work takes a second.
check "two cores are recorded, and one of them" scripts/qemu-talk "$D" \
    '$MKPERF record -t $T -F 2000 --duration 0.5 --raw $D/both.raw $files -o $D/both.data >$D/both.log 2>&1' \
    '$MKPERF record -t $T -C 1 --duration 0.1 $files -o $D/one.data >$D/one.log 2>&1' \
    '! $MKPERF record -t $T -C 2 --duration 0.1 $files -o $D/none.data >$D/none.log 2>&1' \
    '$MKPERF top -t $T --stdio --duration 0.2 $files >$D/top 2>&1' \
    '$MKPERF stat -t $T --per-core -e cycles -x , --duration 0.1 -o $D/stat.csv >$D/stat.log 2>&1' \
    '$MKPERF stat -t $T -e instructions -x , --duration 0.1 -o $D/insn.csv >$D/insn.log 2>&1' \
    '! $MKPERF stat -t $T --per-core -e cs --duration 0.1 >$D/soft.log 2>&1' \
    '$MKPERF record -t $T -e "{cycles,instructions}:S" -F 1000 --duration 1 $files -o $D/leader.data >$D/leader.log 2>&1' \
    '$MKPERF record -t $T -F 1000 --interactions --sched --duration 1 $files -o $D/all.data >$D/all.log 2>&1' \
    '$MKPERF record -t $T -F 5000 --overwrite --sched $files >$D/record.log 2>&1' \
    '$MKPERF dump -t $T -o $D/first.data $files >>$D/record.log 2>&1' \
    'sh $D/dump flight' \
    '$MKPERF record -t $T -e "{cycles,instructions}" -F 1000 --duration 1 $files -o $D/group.data >$D/group.log 2>&1'

named() {
    "$MKPERF" report --stdio -s core "$D/both.data" >"$D/both" &&
        contains "$D/both.log" '^  cores   core 0  .* 0 lost$' '^          core 1  .* 0 lost$' &&
        contains "$D/both" '^# base  *100 % are the samples of cores 0-1 together' '^# cores  *core 0 ' '^#  *core 1 ' &&
        contains "$D/none.log" 'the target samples cores 0-1, and no others' &&
        contains "$D/top" '  core 0$' '  core 1$' ' of 2 cores'
}
check "summary, report and top name the cores and what percentages are of" named

alone() {
    "$MKPERF" script -F cpu,time -G "$D/one.data" >"$D/one.txt" && contains "$D/one.txt" '^\[001\]' &&
        ! grep -v '^\[001\]\|^$' "$D/one.txt" && "$MKPERF" report --stdio "$D/one.data" >"$D/one" &&
        contains "$D/one" 'only core 1 is sampled: percentages are of core 1'
}
check "record -C 1 has samples of core 1 alone" alone

# Of the recording and of the line's bytes: the same samples of core 0.
chosen() {
    "$MKPERF" convert -q -C 0 "$D/both.data" -o "$D/a.jsonl" &&
        "$MKPERF" convert -q -C 0 --from raw $files "$D/both.raw" -o "$D/b.jsonl" || return 1
    for i in a b; do
        jq -r 'select(.type == "sample") | [.time_ns, .core, .pd, .event, .mode, .period] | @csv' "$D/$i.jsonl" >"$D/$i"
    done
    [ "$(wc -l <"$D/a")" -ge 900 ] && cmp "$D/a" "$D/b" && ! awk -F, '$2 != 0' "$D/a" | grep .
}
check "convert -C 0 of the file and of the capture" chosen

# perf has the same cores, in one order of time, and the same shares.
perf_agrees() {
    perf_quiet script -i "$D/both.data" -F cpu,time >"$D/order" || return 1
    awk '{ sub(":", "", $2); if ($2 + 0 < last) late++; last = $2 + 0; n[$1]++ }
        END { print n["[000]"], n["[001]"], late + 0; exit !(n["[000]"] > 900 && n["[001]"] > 900 && late == 0) }' \
        "$D/order" || return 1
    perf_quiet report --stdio --no-children -g none --sort cpu -i "$D/both.data" |
        awk '/%/ { print $1, $2 }' | sort >"$D/perf.cpu"
    awk '/^ .*%/ { print $1, $4 }' "$D/both" | sort >"$D/mkperf.cpu"
    cat "$D/perf.cpu" "$D/mkperf.cpu"
    [ -s "$D/perf.cpu" ] && cmp "$D/perf.cpu" "$D/mkperf.cpu"
}
check "perf report --sort cpu agrees" perf_agrees

# Either core counts a cycle each nanosecond, and QEMU's instructions come with a warning. Software events have one table for all cores.
counted() {
    cat "$D/stat.csv"
    awk -F, '$5 == "cycles" { n[$1]++; rate = $3 / $6; bad += rate < 0.99 || rate > 1.01 }
        END { exit !(n["C0"] == 1 && n["C1"] == 1 && !bad) }' "$D/stat.csv" &&
        contains "$D/insn.log" 'QEMU counts instructions on each core for all cores together' && ! grep "QEMU counts" "$D/stat.log" &&
        contains "$D/soft.log" "is a software event, which the target does not count by core"
}
check "stat --per-core counts each core" counted

# by_core FILE FILTER: how many of core 0's and core 1's samples jq selects.
by_core() {
    "$MKPERF" convert -q "$D/$1.data" -o "$D/$1.jsonl" &&
        jq -r "select(.type == \"sample\" and ($2)) | .core // 0" "$D/$1.jsonl" | sort | uniq -c | tr '\n' ' '
}

# Each sample of either core has the value. With QEMU's clock an instruction is a cycle, and idle has none.
leader() {
    "$MKPERF" convert -q "$D/leader.data" -o "$D/leader.jsonl" &&
        jq -r 'select(.type == "sample") | [.core // 0, .mode, .period, (.reads | length), .reads[0].event, .reads[0].count] | @tsv' \
            "$D/leader.jsonl" >"$D/leader" || return 1
    grep -q ' 0 lost,' "$D/leader.log" && awk '
        { rate = $6 / $3; bad += $4 != 1 || $5 != "instructions" || rate > 1.1; busy[$1] += rate > 0.9 }
        $2 == "user" { user++; few += rate < 0.9 }
        END {
            print busy[0] + 0, busy[1] + 0, "samples of busy cores,", few + 0, "of", user + 0, "user samples with less"
            exit !(busy[0] >= 20 && busy[1] >= 20 && !bad && few < user / 20)
        }' "$D/leader"
}
check "leader sampling reads on each core" leader

flight() {
    by_core flight true >"$D/n"
    cat "$D/n" "$D/flight.log" "$D/record.log"
    ! grep ', [1-9][0-9]* lost,' "$D/flight.log" "$D/record.log" && ! grep '^  lost' "$D/flight.log" &&
        awk '{ exit !($1 > 30 && $2 == 0 && $3 > 30 && $4 == 1) }' "$D/n" || return 1
    perf_quiet script --ns -i "$D/flight.data" -F cpu,time,event |
        awk '/sched:sched_switch/ { n[$1]++; sub(":", "", $2); bad += $2 + 0 < last[$1]; last[$1] = $2 + 0 }
            END { print n["[000]"], n["[001]"], bad + 0; exit !(n["[000]"] > 20 && n["[001]"] > 20 && !bad) }'
}
check "the flight recorder keeps samples and scheduling events of both cores" flight

# Two events that sample, of a group. QEMU counts instructions of the whole machine on each core, and says so. A core
# that sleeps has none (an overflow on its way to sleep may strike there); one that runs has as many as it has cycles.
# A counter that overflows in the kernel's way into idle becomes a sample when idle ends, with an address of idle: 12 to 18 of
# 1,100 samples, 0.8 to 1.0 % of the instructions, in five recordings. 4 % are 44 samples; with a mean of 18, chance makes them
# once in six million.
group() {
    "$MKPERF" report --stdio "$D/group.data" >"$D/group.txt" && "$MKPERF" convert -q "$D/group.data" -o "$D/group.jsonl" || return 1
    warning='QEMU counts instructions on each core for all cores together'
    contains "$D/group.log" "^mkperf: warning: $warning" ' 0 lost,' && contains "$D/group.txt" "^# WARNING: $warning" &&
        contains "$D/group.jsonl" '"name":"instructions",.*"all_cores":true' && contains "$D/leader.log" "$warning" || return 1
    ! grep "QEMU counts" "$D/both.log" "$D/both" || return 1
    jq -r 'select(.type == "sample") | [.core // 0, .event, .period, .mode, .stack[0].function // "?"] | @tsv' "$D/group.jsonl" |
        awk '
            { n[$1, $2]++; sum[$2] += $3; if ($4 == "user") { user[$1, $2] += $3; if ($3 > most) most = $3 } }
            $5 == "idle_loop" { asleep[$2] += $3 }
            END {
                print asleep["cycles"], "cycles and", asleep["instructions"] + 0, "instructions in idle_loop"
                bad = asleep["cycles"] == 0 || asleep["instructions"] > sum["instructions"] / 25
                for (c = 0; c < 2; c++) {
                    off = user[c, "cycles"] - user[c, "instructions"]
                    print "core", c, user[c, "cycles"] + 0, "cycles,", user[c, "instructions"] + 0, "instructions of user mode"
                    if (n[c, "cycles"] < 200 || n[c, "instructions"] < 20 || off * off > (2 * most) ^ 2) bad = 1
                }
                exit bad
            }'
}
check "a group that samples: both events on both cores, and a warning" group

# The requester on core 0 calls the server on core 1: an edge of the counts, and calls of the events.
across() {
    "$MKPERF" report --stdio --interactions -i "$D/all.data" >"$D/edges" && "$MKPERF" latency -x ' ' "$D/all.data" >"$D/latency" || return 1
    cat "$D/edges" "$D/latency"
    awk '
        NR == FNR { if ($4 == "requester" && $6 == "server") edge = $1; next }
        $1 == "call" && $2 == "requester" && $3 == "server" { calls = $5 }
        END { exit !(edge > 1000 && calls >= edge - 2 && calls <= edge + 2) }' "$D/edges" "$D/latency"
}
check "interactions and calls across cores agree" across

# A lane for each core, in Firefox's and Chrome's traces.
lanes() {
    "$MKPERF" convert -q "$D/all.data" -o "$D/firefox.json" --to firefox &&
        "$MKPERF" convert -q "$D/all.data" -o "$D/chrome.json" --to chrome || return 1
    grep -o '"name":"[^"]* core [01]"' "$D/firefox.json" | cut -d '"' -f 4 >"$D/lanes"
    grep '^{"ph":"M","pid":2,' "$D/chrome.json" | jq -Rr 'rtrimstr(",") | fromjson | .args.name' >>"$D/lanes"
    contains "$D/lanes" '^server core 1$' '^requester core 0$' '^core 0$' '^core 1$' && ! grep '^server core 0' "$D/lanes"
}
check "Firefox's and Chrome's lanes are of cores" lanes
