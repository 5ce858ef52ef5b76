#!/bin/sh
# SPDX-License-Identifier: BSD-2-Clause
# Two guests on real seL4, each below its own monitor: on one core, or on two. The first has a quarter of its instructions in user
# mode, and the second three fifths. Each one's samples and exits must be its own.
# Environment: GUESTS_DIR, GUESTS_QEMU, KERNEL, CORES, CROSS.
set -u
NAME=${NAME:-sel4-guests}
. tests/system/lib.sh
. tests/sel4/lib-guests.sh
QEMU=$GUESTS_QEMU
files="--system $GUESTS_DIR/guests.system --elf-path $GUESTS_DIR --kernel $KERNEL --guest bare=$D/kallsyms:second=$D/kallsyms"
export D files QEMU
guest_symbols "$GUESTS_DIR/vmm.elf" >"$D/kallsyms"

check "two guests are recorded" scripts/qemu-talk "$D" \
    '$MKPERF record -t $T -e cycles -F 2000 --duration 1 $files -o $D/all.data >$D/all.log 2>&1' \
    '$MKPERF record -t $T -e cycles:G -F 2000 --duration 1 $files -o $D/guests.data >$D/guests.log 2>&1' \
    '$MKPERF stat -t $T --per-pd -e cycles:uG,cycles:kG --duration 0.5 -x ";" -o $D/counts.csv >$D/stat.log 2>&1' \
    '$MKPERF record -t $T --queues --duration 0.5 $files -o $D/exits.data >$D/exits.log 2>&1'

# rows FILE: PD, mode, function and core of each sample.
rows() {
    "$MKPERF" convert -q "$1" -o "$D/rows.jsonl" &&
        jq -r 'select(.type == "sample") | [.pd, .mode, .stack[0].function // "?", .core // 0] | @tsv' "$D/rows.jsonl"
}
# The share of each guest's samples, within 4.9 standard errors: chance is 1 in 10^6 for each.
shares() {
    for i in all guests; do
        rows "$D/$i.data" | awk -F '\t' -v of=$i -v cores="$CORES" '
            { guest = $1 ~ /^VM (bare|second), vcpu 0$/ }
            !guest { other++; wrong += $2 ~ /^guest/ }
            guest && $2 == "guest user" { user[$1]++; wrong += $3 != "guest_user" }
            guest && $2 == "guest kernel" { kernel[$1]++; wrong += $3 != "guest_kernel" && $3 != "guest_boot" }
            guest && $2 == "kernel" { sel4[$1]++; wrong += $3 == "?" || $3 ~ /^guest_/ }
            guest && $2 !~ /^(guest user|guest kernel|kernel)$/ { wrong++ }
            guest { wrong += $4 != ($1 ~ /second/ && cores > 1) }
            END {
                true["VM bare, vcpu 0"] = 0.25
                true["VM second, vcpu 0"] = 0.6
                for (name in true) {
                    n = user[name] + kernel[name]
                    share = n ? user[name] / n : 0
                    error = n ? (share - true[name]) / sqrt(true[name] * (1 - true[name]) / n) : 99
                    print of ": " name ": " n " samples, " 100 * share " % in user mode, " error " standard errors, " sel4[name] + 0 " in seL4"
                    bad += n < 300 || error > 4.9 || error < -4.9
                }
                print of ": " wrong + 0 " wrong, " other + 0 " others"
                exit bad || wrong || (of == "guests" && other)
            }' || return 1
        grep -q ' 0 lost' "$D/$i.log" || { cat "$D/$i.log"; return 1; }
    done
}
check "each guest's time is that of its kernel and its program" shares

# Exactly counted, to a tenth of a point.
counted() {
    awk -F ';' '
        /^VM / { print; n[$1 " " $4] = $2 }
        END {
            bare = n["VM bare, vcpu 0 cycles:uG"] / (n["VM bare, vcpu 0 cycles:uG"] + n["VM bare, vcpu 0 cycles:kG"])
            second = n["VM second, vcpu 0 cycles:uG"] / (n["VM second, vcpu 0 cycles:uG"] + n["VM second, vcpu 0 cycles:kG"])
            print bare, second
            exit !(bare > 0.249 && bare < 0.251 && second > 0.599 && second < 0.601)
        }' "$D/counts.csv"
}
check "each guest's cycles are counted as its own" counted

# A count is read between two exits, or between an exit and its count: its difference to the recorded exits has at most two values.
# A core's first readings can be before another core's first event.
exits() {
    grep -q ' 0 lost' "$D/exits.log" || { cat "$D/exits.log"; return 1; }
    perf_quiet script --ns -i "$D/exits.data" -F trace:event,trace | awk -v cores="$CORES" '
        match($0, /mkperf:sched: fault comm=[a-z_]+/) { n[substr($0, RSTART + 25, RLENGTH - 25)]++ }
        match($0, /mkperf:queue: queue=[01] /) {
            name = substr($0, RSTART + 20, 1) == 0 ? "vmm" : "second_vmm"
            match($0, /tail=[0-9]+/)
            tail = substr($0, RSTART + 5, RLENGTH - 5)
            if (++seen[name] <= cores + 1) next
            behind = tail - n[name]
            if (!(name in first)) { first[name] = tail; since[name] = n[name]; least[name] = most[name] = behind }
            if (behind < least[name]) least[name] = behind
            if (behind > most[name]) most[name] = behind
            last[name] = tail
            upto[name] = n[name]
        }
        END {
            for (name in n) {
                print name ": " last[name] - first[name] " counted, " upto[name] - since[name] " recorded, apart by " most[name] - least[name] + 0 " in " seen[name] " readings"
                bad += last[name] - first[name] < 2000 || most[name] - least[name] > 1
                monitors++
            }
            exit bad || monitors != 2
        }'
}
check "each guest's exits are as many as its own monitor counts" exits
