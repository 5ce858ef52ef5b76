#!/bin/sh
# SPDX-License-Identifier: BSD-2-Clause
# The demo on RISC-V (make ARCH=riscv64): known shares, chains, modes, groups of events, scheduling events and losses in QEMU,
# whose counters count in all modes; what such counters cannot do is refused with the reason. `late`: the latency of a delayed
# call.
# Environment: as demo.sh; the images are in $B/riscv64.
set -u
NAME=riscv
. tests/system/lib.sh
d=$B/riscv64/demo
l=$B/riscv64/tests/pd/late
QEMU=$(cat "$d/qemu-command")
export QEMU

# record WHAT ARGUMENTS...
record() {
    what=$1
    shift
    scripts/qemu-record "$D" "$@" --system "$d/demo.system" --elf-path "$d" -o "$D/$what.data" >"$D/$what.log" 2>&1 || {
        cat "$D/$what.log"
        return 1
    }
    contains "$D/$what.log" ' 0 lost'
}
# The four functions, of all that they execute: each within six standard errors of its share.
shares() {
    "$MKPERF" report --stdio -i "$D/samples.data" --pd known --percentage relative >"$D/shares.txt"
    awk '$NF ~ /^known_/ { split($NF, part, "_"); want[$NF] = part[3]; got[$NF] = $2; n += $2 }
         END { for (f in want) { p = want[f] / 100; t = (got[f] - n * p) / sqrt(n * p * (1 - p)); k++
                 if (t > 6 || t < -6) { print f, got[f], "of", n; bad = 1 } }
               exit bad || k != 4 || n < 200 }' "$D/shares.txt" || { cat "$D/shares.txt"; return 1; }
}
# Every sample of the deep function has its eight callers, and its chain ends where the PD began.
deep() {
    chains "$D/samples.data" | awk '$1 == "known" && $3 ~ /^known_deep_30/ {
            n++; if ($3 !~ /^known_deep_30;descend;descend;descend;descend;descend;descend;descend;descend;round;notified;pocket_main;_start$/ && bad++ < 5) print }
        END { print n + 0, "samples", bad + 0, "wrong"; exit n < 50 || bad > 0 }'
}
# A function without a frame, and one that calls nothing with a frame that has no return address: both have their callers.
leaves() {
    chains "$D/samples.data" | awk '
        $1 == "known" && $3 ~ /^known_leaf_40/ { n++; bad += $3 !~ /^known_leaf_40;inner;middle;outer;round;notified;/ }
        $1 == "dummy1" && $3 ~ /^comes_before/ { k++; bad += $3 !~ /^comes_before;(insert;sort|check);sort_job;notified;/ }
        END { print n + 0, k + 0, bad + 0; exit n < 60 || bad > 0 || k < 5 }'
}
# known runs in user mode, and the PDs that only call mostly in the kernel.
modes() {
    "$MKPERF" report --stdio -i "$D/samples.data" --sort pd,mode >"$D/modes.txt"
    awk '$NF == "[.]" && $4 == "known" { user = $2 } $NF == "[k]" && $4 == "known" { kernel = $2 }
         $NF == "[k]" && $4 ~ /^(requester|server)$/ { calls += $2 } $NF == "[.]" && $4 ~ /^(requester|server)$/ { own += $2 }
         END { exit user < 200 || kernel > user / 100 || calls <= own }' "$D/modes.txt" || { cat "$D/modes.txt"; return 1; }
}
said() {
    contains "$D/samples.log" "warning: the CPU's counters count in all modes" &&
        "$MKPERF" report --stdio -i "$D/samples.data" >"$D/report.txt" &&
        contains "$D/report.txt" "WARNING: the CPU's counters count in all modes" 'riscv64' || return 1
    perf report --header-only -i "$D/samples.data" >"$D/header.txt" && contains "$D/header.txt" 'arch : riscv64'
}
# Run times by scheduling events agree with shares by samples, which record compares itself.
scheduling() {
    ! grep -i 'contradict' "$D/sched.log" && "$MKPERF" latency "$D/sched.data" >"$D/latency.txt" &&
        contains "$D/latency.txt" 'requester' 'server'
}
# refused PATTERN ARGUMENTS...
refused() {
    pattern=$1
    shift
    ! scripts/qemu-record "$D" "$@" --system "$d/demo.system" --elf-path "$d" -o "$D/refused.data" >"$D/refused.log" 2>&1 &&
        contains "$D/refused.log" "$pattern"
}
delayed() {
    QEMU=$(cat "$l/qemu-command") scripts/qemu-talk "$l" "$MKPERF record -t \$T --timeout 60 --stop-if 'call user->echo > 400us' --elf-path $l -o $D/late.data" \
        >"$D/late.log" 2>&1 || { cat "$D/late.log"; return 1; }
    "$MKPERF" explain --why slow-call "$D/late.data" >"$D/slow.txt"
    contains "$D/slow.txt" 'user called echo for [4-9][0-9][0-9]\.' '40[0-9]\.[0-9]* us: echo is ready, logger runs'
}
# An instruction is a cycle in QEMU. What both counters counted is therefore equal, but for what the firmware executes while one
# of them is stopped and started at each sample: some thousand instructions of a million.
# sums DATA FIELDS: the sums of two fields of a sample, and how many samples there are
sums() {
    "$MKPERF" convert -q "$1" -o "$1.jsonl" && jq -r "select(.type == \"sample\") | $2 | @tsv" "$1.jsonl" |
        awk '{ a += $1; b += $2 } END { off = a / b - 1; print NR, a, b, off; exit !(NR > 400 && off > -0.003 && off < 0.003) }'
}
group() {
    record leader -e '{cycles,instructions}:S' -F 1000 --duration 0.6 && sums "$D/leader.data" '[.period, .reads[0].count]' || return 1
    ! grep 'taken late' "$D/leader.log"
}
both() {
    record both -e cycles,instructions -F 1000 --duration 0.6 &&
        sums "$D/both.data" 'if .event == "cycles" then [.period, 0] else [0, .period] end' || return 1
    ! grep 'taken late' "$D/both.log"
}
# Four events on two counters, while a third one counts cycles for the turns. An instruction is a nanosecond. Modes are not known.
# A later session counts as well: it has its events on other counters.
turns() {
    QEMU=$(sed 's/sscofpmf=on/&,pmu-num=3/' "$d/qemu-command") scripts/qemu-talk "$D" "for i in 1 2; do $MKPERF stat -t \$T -x , \
        --duration 0.5 -e instructions,dTLB-load-misses,iTLB-load-misses,dTLB-store-misses -o $D/turns\$i.csv; done" >"$D/turns.log" 2>&1 &&
        cat "$D/turns1.csv" "$D/turns2.csv" || { cat "$D/turns.log"; return 1; }
    awk -F, '$8 != "<not counted>" || $9 != "<not counted>" || $5 < 48 || $5 > 52 || $1 < 1000 { bad = 1 }
        $3 == "instructions" { n++; off = $1 * $5 / 100 / $4 - 1; bad += off > 0.003 || off < -0.003 }
        END { exit bad || n != 2 || NR != 8 }' "$D/turns1.csv" "$D/turns2.csv"
}
check "samples, and none is lost" record samples -e cycles -F 2500 -g --duration 1
check "known shares within six standard errors" shares
check "a chain of eight calls, complete" deep
check "callers of functions that call nothing" leaves
check "modes are inferred right" modes
check "record, report and file say so" said
check "samples and scheduling events, none lost" record sched --sched -e cycles -F 1000 --duration 0.5
check "latencies, and run times that agree" scheduling
check "a group: what its leader's samples stand for is what the other event counted" group
check "two events that sample: their samples stand for as much" both
# Programs without frame pointers. GCC saves s0 where a frame pointer would be. LLVM's epilogues have no call-frame information.
check "chains without frame pointers (GCC, LLVM)" env B="$B/riscv64" NAME=riscv-unframed tests/system/unframed.sh
check "more events than counters take turns, also in a later session" turns
check "an event twice is refused" refused "counts 'cycles' with one counter at a time" -e cycles,cycles:u
check "a timer is refused" refused "timer" -e timer
check "a call is late, and the reason is found" delayed
