#!/bin/sh
# SPDX-License-Identifier: BSD-2-Clause
# A guest on real seL4 whose kernel executes three quarters of its instructions: what is shown of its time, with the
# names of a kallsyms, while it writes the PMU's registers.
# Environment: BARE_DIR, BARE_QEMU, KERNEL, CROSS; FILES, how many recordings (1).
set -u
NAME=${NAME:-sel4-bare}
. tests/system/lib.sh
. tests/sel4/lib-guests.sh
QEMU=$BARE_QEMU
files="--system $BARE_DIR/bare.system --elf-path $BARE_DIR --kernel $KERNEL --guest bare=$D/kallsyms"
export D files QEMU

guest_symbols "$BARE_DIR/vmm.elf" >"$D/kallsyms"

record() {
    scripts/qemu-talk "$D" '
        for i in $(seq ${FILES:-1}); do
            $MKPERF record -t $T -e cycles -F 1000 --duration 1 $files -o $D/$i.data >$D/$i.log 2>&1 || exit 1
        done
        $MKPERF record -t $T -e cycles:k -F 1000 --duration 1 $files -o $D/kernel.data >$D/kernel.log 2>&1 || exit 1
        $MKPERF stat -t $T -e cycles,cycles:k --duration 1 -x , -o $D/counts.csv >$D/stat.log 2>&1 || exit 1
        $MKPERF record -t $T -e cycles:G -F 1000 --duration 1 $files -o $D/guests.data >$D/guests.log 2>&1 || exit 1
        $MKPERF record -t $T -e cycles:H -F 1000 --duration 1 $files -o $D/host.data >$D/host.log 2>&1 || exit 1
        $MKPERF stat -t $T -e cycles:u,cycles:G,cycles:uG,cycles:kG,cycles:uH --duration 1 -x , -o $D/guests.csv \
            >$D/stat.log 2>&1 || exit 1
        $MKPERF latency -t $T --duration 1 --record $D/live.data --json -o $D/live.json >$D/live.log 2>&1 || exit 1
        $MKPERF stat -t $T -e faults --duration 0.5 -x , -o $D/faults.csv >$D/stat.log 2>&1 || exit 1
        $MKPERF record -t $T --queues --duration 1 $files -o $D/exits.data >$D/exits.log 2>&1' >"$D/talk.log" 2>&1 ||
        { cat "$D/talk.log" "$D"/*.log; return 1; }
}
check "a guest that writes the PMU's registers is recorded" record

# samples FILE: PD, mode and function of each sample.
samples() {
    "$MKPERF" convert -q "$1" -o "$D/samples.jsonl" &&
        jq -r 'select(.type == "sample") | [.pd, .mode, .stack[0].function // "?"] | @tsv' "$D/samples.jsonl"
}

# All of its samples have the right function. Chance is 1 in 10^6 (4.9 standard errors) for the share of each recording.
shares() {
    for i in $(seq "${FILES:-1}"); do
        samples "$D/$i.data" | awk -F '\t' '
            $1 != "VM bare, vcpu 0" { next }
            $2 == "guest user" { user++; wrong += $3 != "guest_user" }
            $2 == "guest kernel" { kernel++; wrong += $3 != "guest_kernel" && $3 != "guest_boot" }
            $2 == "kernel" { sel4++ }
            END {
                n = user + kernel
                share = n ? user / n : 0
                error = n ? sqrt(0.25 * 0.75 / n) : 1
                print n " samples, " 100 * share " % in user mode, " (share - 0.25) / error " standard errors, " wrong + 0 " wrong, " sel4 + 0 " in seL4"
                exit !(n > 500 && share - 0.25 < 4.9 * error && 0.25 - share < 4.9 * error && wrong == 0)
            }' || return 1
    done
}
check "a guest's time is that of its kernel and of its program, 3 to 1" shares

# cycles:k counts at EL2 only. Before, 75 % of the time was in seL4's functions.
of_kernel() {
    samples "$D/kernel.data" | awk -F '\t' '
        $2 != "kernel" { wrong++ }
        { n++ }
        END { print n + 0 " samples of cycles:k, " wrong + 0 " outside of the kernel"; exit wrong != 0 }' &&
        grep -q . "$D/kernel.log"
}
check "cycles:k is seL4 alone" of_kernel
# The share of samples in seL4, and of cycles by counters that count at EL2 only: chance is 1 in 10^6.
kernel_share() {
    samples "$D/1.data" | awk -F '\t' -v counts="$D/counts.csv" '
        { n++; kernel += $2 == "kernel" }
        END {
            while ((getline line <counts) > 0) { split(line, f, ","); count[f[3]] = f[1] }
            p = count["cycles:k"] / count["cycles"]
            error = sqrt(p * (1 - p) / n)
            print kernel + 0 " of " n " samples in seL4, by counters " 100 * p " %, " (kernel / n - p) / error " standard errors"
            exit !(p > 0.01 && kernel / n - p < 4.9 * error && p - kernel / n < 4.9 * error)
        }'
}
check "samples and counters agree about the kernel's share" kernel_share

# :G is guests alone, and :H has none. What is left out is no loss.
of_guests() {
    for i in guests host; do
        samples "$D/$i.data" | awk -F '\t' -v of=$i '
            { n++; guest += $2 ~ /^guest/; vm += $1 ~ /^VM bare/; user += $2 == "guest user" }
            END {
                error = sqrt(0.25 * 0.75 / (guest + 1))
                print of ": " n + 0 " samples, " guest + 0 " in a guest, " user / (guest + 1) " in user mode"
                if (of == "host") exit n < 50 || guest != 0
                share = user / guest - 0.25
                exit n < 500 || guest != n || vm != n || share > 4.9 * error || -share > 4.9 * error
            }' && grep ' 0 lost' "$D/$i.log" || return 1
    done
}
check "cycles:G is only the guest, and cycles:H is without it" of_guests
counted() {
    cut -d, -f1,3 "$D/guests.csv"
    awk -F, '{ n[$3] = $1 }
        END {
            share = n["cycles:uG"] / n["cycles:G"]
            exit !(n["cycles:uH"] > 0 && n["cycles:u"] == n["cycles:G"] + n["cycles:uH"] &&
                n["cycles:G"] == n["cycles:uG"] + n["cycles:kG"] && share > 0.249 && share < 0.251)
        }' "$D/guests.csv"
}
check "they are counted exactly" counted
# perf sees the same modes in the file.
attributes() {
    for i in guests:host host:guest; do
        perf_quiet evlist -v -i "$D/${i%:*}.data" | tee "$D/attributes" | grep -q "^cycles:[GH].* exclude_${i#*:}: 1" || { cat "$D/attributes"; return 1; }
    done
    perf_quiet evlist -v -i "$D/1.data" >"$D/attributes"
    grep -q '^cycles:' "$D/attributes" && ! grep -q 'exclude_' "$D/attributes"
}
check "perf shows whose events they are" attributes
# The target's own count of exits is that of the events which it sends meanwhile.
live() {
    for i in live.json live.rows; do
        [ $i = live.json ] || "$MKPERF" latency --json "$D/live.data" >"$D/$i"
        jq -r 'select(.type == "exit") | [.from, .to, .exit, .count] | @tsv' "$D/$i" | sort >"$D/$i.exits"
        cat "$D/$i.exits"
    done
    cmp "$D/live.json.exits" "$D/live.rows.exits" && [ "$(wc -l <"$D/live.rows.exits")" = 2 ]
}
check "latency -t counts the same exits" live

# Each exit is recorded: as many as the monitor counted between two readings of its counter. Half are hypercalls. The first reading
# may be between an exit and its count.
exits() {
    "$MKPERF" latency --json "$D/exits.data" | jq -r 'select(.type == "exit") | [.exit, .count] | @tsv' >"$D/rows" && cat "$D/rows" &&
        perf_quiet script --ns -i "$D/exits.data" -F trace:event,trace | awk '
            $1 == "mkperf:queue:" { match($0, /tail=[0-9]+/); last = substr($0, RSTART + 5, RLENGTH - 5); if (++seen == 2) first = last; at = n }
            $1 == "mkperf:sched:" && $2 == "fault" && seen > 1 { n++ }
            END { print last - first " counted, " at + 0 " recorded"; exit !(at > 10000 && at == last - first) }' &&
        awk -F '\t' '{ n[$1] = $2 } END { h = n["HVC"]; a = n["access to page 0x9000"]; exit !(NR == 2 && h > 5000 && h - a <= 1 && a - h <= 1) }' "$D/rows"
}
check "exits by reason, as many as the monitor counts" exits
no_faults() {
    cat "$D/faults.csv"
    [ "$(cut -d, -f1,3 "$D/faults.csv")" = 0,faults ]
}
check "an exit is no fault" no_faults
check "the guest's accesses to the PMU are counted" grep -q '^ *guests .*accessed the PMU [1-9]' "$D/1.log"
