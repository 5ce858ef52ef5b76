#!/bin/sh
# SPDX-License-Identifier: BSD-2-Clause
# Counting in QEMU, where one instruction is one cycle and one nanosecond: counts are compared with
# what they must be, not with earlier ones. Also `mkperf list`, multiplexing, and sampling of selected PDs.
# The system is tests/pd/path.c: each 500 us `virt`, `app` and `server` work 40,000, 60,000 and 17,000 instructions of user
# mode, and then it is idle. So short sessions tell as much as long ones.
set -u
NAME=stat
. tests/system/lib.sh
t=$B/tests/pd/path
system="--system $t/path.system --elf-path $t"
QEMU=$(cat "$t/qemu-command")
kernel=$B/demo/kernel.elf
export QEMU D t system

# on NAME COMMAND...: mkperf commands on a newly booted system; what they print is in NAME.log
on() {
    log=$D/$1.log
    shift
    scripts/qemu-talk "$D" "$@" >"$log" 2>&1 || {
        cat "$log"
        return 1
    }
}

# Sessions in which it does not matter how much PDs work. Here `driver` has a budget for two of its periods in 20 ms: QEMU takes nearly
# no time for idle. A busy machine skips intervals: a live command that prints for programs ends when it has printed enough.
ends='until [ "$(wc -l <$out)" -ge $lines ] || ! kill -0 $!; do sleep 0.1; done; kill -INT $!; wait $!'
idle() {
    sed '/name="driver"/s/ priority/ budget="20" period="20000" priority/' "$t/path.system" >"$D/idle.system" && packed idle || return 1
    QEMU=$(sed "s|[^ ]*path.img|$D/idle.img|" "$t/qemu-command") on idle '$MKPERF list -t $T >$D/list' \
        '$MKPERF stat -t $T -e cycles,instructions -x , --duration 10 -o $D/long.csv' \
        '! $MKPERF stat -t $T -e no-such-event' '! $MKPERF stat -t $T -e branch-misses' \
        '! $MKPERF stat -t $T -e {cycles,instructions,cycles},cycles' '! $MKPERF stat -t $T -e {cycles' \
        '! $MKPERF record -t $T -e cycles -c 10 $system -o $D/none' '! $MKPERF record -t $T -e cycles:k -c 1500 $system -o $D/none' \
        '! $MKPERF record -t $T -e {cycles}:S $system' '! $MKPERF record -t $T -e cycles --max-frames 64 -c 1200 $system -o $D/none' \
        '! $MKPERF stat -t $T -M ipc,bus --duration 0.1' \
        '$MKPERF stat -t $T -I 100 --duration 20 -o $D/intervals' \
        '$MKPERF stat -t $T -r 3 --per-core --duration 0.5 -o $D/repeat' \
        '$MKPERF stat -t $T --pd app,idle --duration 0.5 -o $D/pds --system $t/path.system' \
        'out=$D/counts.json lines=80; $MKPERF stat -t $T -I 100 --per-pd --json --system $t/path.system >$out & '"$ends" \
        '$MKPERF stat -t $T --per-core --util --duration 0.2 -j >$D/cores.json' \
        '$MKPERF latency -t $T --duration 0.5 --json >$D/latency.json' '$MKPERF list -t $T --json cycles >$D/list.json'
}
check "sessions of a system that is mostly idle" idle

busy() {
    on busy '$MKPERF stat -t $T -x , --duration 0.5 -o $D/multiplexed.csv \
            -e cycles,instructions,{cycles:u,instructions:u},{cycles:k,instructions:k}' \
        '$MKPERF record -t $T -F 1500 --duration 0.6 $system -o $D/turned.data \
            -e cycles,instructions,{cycles:u,instructions:u},{cycles:k,instructions:k}' \
        '$MKPERF record -t $T -e "{cycles,instructions}:S" -F 3200 --duration 0.5 $system -o $D/leader.data' \
        '$MKPERF record -t $T -e cycles -F 4300 --pd app,virt --duration 0.5 $system -o $D/only.data' \
        '$MKPERF stat -t $T --estimate -e cycles,instructions,r11 --duration 0.2 -o $D/many --system $t/path.system' \
        '$MKPERF stat -t $T --estimate --duration 0.5 -o $D/estimate --system $t/path.system' \
        '$MKPERF stat -t $T -e cycles -x , --per-pd --duration 0.5 -o $D/a.csv --system $t/path.system' \
        '$MKPERF stat -t $T -e cycles -x , --estimate --duration 2.5 -o $D/b.csv --system $t/path.system' \
        '$MKPERF stat -t $T -M ipc,stall --per-pd -x , --duration 0.4 -o $D/metrics.csv --system $t/path.system' \
        'out=$D/top.json lines=4; $MKPERF top -t $T -d 0.1 --json --util $system >$out & '"$ends"
}
check "sessions of a system that works for a quarter of the time" busy

# Cycles are nanoseconds; in 10 s both counters of cycles pass 2^32.
wrap() {
    awk -F, '$3 == "cycles" { off = $1 - $4
            print "cycles", $1, "ns", $4, "user", $8, "kernel", $9
            exit !($1 > 4294967296 * 2 && off * off < 1e10 && $9 > 4294967296) }' "$D/long.csv"
}
check "cycles agree with the clock over 32-bit overflows" wrap

# The same events multiplexed: estimates are near the counts, shares add up, groups stay together.
multiplexed() {
    cat "$D/multiplexed.csv"
    awk -F, '
        { count[$3] = $1; share[$3] = $5 }
        function near(a, b) { return a > b * 0.96 && a < b * 1.04 }
        END {
            exit !(near(count["cycles:u"] + count["cycles:k"], count["cycles"]) &&
                   near(count["instructions:u"] + count["instructions:k"], count["instructions"]) &&
                   count["cycles:u"] == count["instructions:u"] &&
                   share["cycles:u"] == share["instructions:u"] &&
                   near(share["cycles"] + share["cycles:u"], 100) && share["cycles"] < 60)
        }' "$D/multiplexed.csv"
}
check "multiplexed events are scaled right" multiplexed

# What live commands print for programs is of the schema, and has what was asked for.
rows() {
    for i in "counts count" "cores count" "top top" "latency call run total" "list target known_event"; do
        tests/tool/check-json ${i#* } <"$D/${i%% *}.json" || return 1
    done
    jq -se 'map(select(.type == "count" and .event == "cycles")) | (map(select(.pd == "app").time_s)) as $app
        | ($app | length >= 3) and $app == map(select(.pd == null).time_s)
        and ([.[] | select(.pd == null) | .count] | add) > 300000000' "$D/counts.json" >/dev/null || { cat "$D/counts.json"; return 1; }
    jq -se 'map(select(.type == "top")) | length >= 3 and ([.[-1].pds[].samples] | add) == .[-1].shown_samples
        and .[-1].all_functions >= (.[-1].functions | length)' "$D/top.json" >/dev/null || { cat "$D/top.json"; return 1; }
}
check "rows for programs of live commands" rows

# Group reads in the samples of the leader: in QEMU an instruction takes a cycle, so a PD has equal counts
# of both, and idle has almost no instructions. Checked with perf as well. PDs work for some 0.26 of the time.
leader() {
    perf_quiet report -i "$D/leader.data" --stdio --group -g none --no-children --sort comm \
        -F overhead,period,comm >"$D/group" || return 1
    cat "$D/group"
    grep -q "anon group { cycles, instructions }" "$D/group" &&
        perf_quiet script -i "$D/leader.data" -F event,period -G >"$D/members" &&
        awk '{ sum[$2] += $1; n[$2]++ }
             END { exit !(n["cycles:"] > 1500 && sum["instructions:"] > 0.2 * sum["cycles:"] &&
                          sum["instructions:"] < 0.35 * sum["cycles:"]) }' "$D/members" &&
        $MKPERF convert "$D/leader.data" -o "$D/leader.jsonl" &&
        jq -r 'select(.type == "sample") | [.pd, .mode, .period, ([.reads[]?.count] | add // 0)] | @csv' "$D/leader.jsonl" |
        awk -F, '{ all += $3 }
             $1 == "\"app\"" && $2 == "\"user\"" { period += $3; read += $4 }
             $1 == "\"idle\"" { idle += $4 }
             END { print "app", period, read, "idle", idle, "all", all
                   exit !(period > 0.08 * all && read > 0.999 * period && read < 1.001 * period &&
                          idle < 0.01 * all) }'
}
check "leader sampling: a group's values ride in samples, and perf shows them" leader

# The same events all the time and multiplexed: scaled sums agree.
record_multiplexed() {
    $MKPERF report --stdio -i "$D/turned.data" --percent-limit 50 >"$D/turned" || return 1
    grep '^# event\|multiplexed' "$D/turned"
    grep -q 'counted .* % of the time' "$D/busy.log" &&
        took=$(sed -n 's/^mkperf: .*turned.data: .* samples in \([0-9.]*\) s.*/\1/p' "$D/busy.log") && awk -v took="$took" '
        /^# event / { name = $3; mode = /user only/ ? "u" : /kernel only/ ? "k" : "" }
        /multiplexed/ { share[name mode] = $4; scaled[name mode] = $NF }
        END {
            all = scaled["cycles,"] / 1e9
            modes = (scaled["cycles,u"] + scaled["cycles,k"]) / 1e9
            print took, all, modes, share["cycles,"], share["cycles,u"]
            exit !(all > 0.975 * took && all < 1.025 * took && modes > 0.93 * all && modes < 1.07 * all &&
                   share["cycles,"] > 30 && share["cycles,"] < 70)
        }' "$D/turned"
}
check "record: more events than counters are multiplexed" record_multiplexed

forms() {
    cat "$D/intervals" "$D/repeat" "$D/pds" "$D/estimate"
    [ "$(grep -c ' cycles ' "$D/intervals")" -ge 2 ] && grep -q '(3 runs)' "$D/repeat" &&
        grep -q '^C0  *1 .*insn per cycle .*( +- ' "$D/repeat" && grep -q '^ *app .* cycles ' "$D/pds" &&
        ! grep -q virt "$D/pds" && grep -q 'That work is' "$D/pds" && ! grep -q 'That work is' "$D/estimate" && grep -q '^ *app~.*( +- ' "$D/estimate"
}
check "intervals, repeats, chosen PDs, estimates" forms
compared() {
    contains "$D/busy.log" '^mkperf: samples and counts are not compared: the target refuses: counts of sampled events need 9 counters' \
        '^mkperf: samples and counts agree in all [0-9]* shares; the largest difference: ' &&
        [ "$(grep -c 'compared:' "$D/busy.log")" = 1 ] && grep -q '^ *app~.*raw_0x11' "$D/many"
}
check "an estimate is compared with counts of the same events, or the reason is printed" compared

# Shares of three PDs among themselves: an estimate is within six standard errors of the exact count. The standard error is
# that of the expected count, not of the measured one. The exact counts are those of the program.
estimate() {
    awk -F, '
        $1 != "app" && $1 != "virt" && $1 != "server" { next }
        FNR == NR { exact[$1] = $2; user[$1] = $9; all_exact += $2; next }
        { got[$1] = $2; error[$1] = $11; all += $2; n++ }
        END {
            for (pd in got) {
                want = exact[pd] / all_exact * all
                far = 6 * error[pd] * sqrt(want / got[pd])
                print pd, got[pd], "expected", want, "standard error", error[pd]
                if (got[pd] > want + far || got[pd] < want - far) bad = 1
            }
            print "user mode", user["app"], user["virt"], user["server"]
            bad += user["app"] < 1.49 * user["virt"] || user["app"] > 1.51 * user["virt"]
            exit bad || n != 3
        }' "$D/a.csv" "$D/b.csv"
}
check "an estimate is as good as it says" estimate

refusals() {
    for why in 'no event is called' 'PMU does not implement' 'needs 6 counters at the same time' \
        'must be from 1000 to' 'a group { is not closed' 'from 2000 to 2147483647 events' 'group of one event' \
        'a sample costs about 1538 instructions'; do
        grep -q "$why" "$D/idle.log" || { cat "$D/idle.log"; return 1; }
    done
}
check "bad requests are refused with the reason" refusals

list() {
    grep -q '^  cycles  *r11  *yes' "$D/list" && grep -q '^  branch-misses .* no ' "$D/list" &&
        grep -q '^  ext_mem_req  *rc0  *?' "$D/list" || { cat "$D/list"; return 1; }
}
check "list asks the target and knows its CPU's own events" list

only() {
    perf_quiet script -i "$D/only.data" -F comm | awk '{ print $1 }' | sort | uniq -c >"$D/comms"
    cat "$D/comms"
    [ "$(awk '{ print $2 }' "$D/comms" | tr '\n' ' ')" = "app virt " ] &&
        awk '$2 == "app" { exit $1 < 150 }' "$D/comms"
}
check "samples of chosen PDs only" only
# Figures by PD, in turns: in QEMU an instruction is a cycle, and a PD that runs has one per cycle. The PMU's model has no bus.
metrics() {
    contains "$D/idle.log" "refuses event bus_access: this CPU cannot count 'bus_access'" || return 1
    awk -F, '$4 == "inst_retired" && $2 > 0 && $1 != "system" && $1 != "idle" {
            print $1, $2, $7, $8, $6
            n++
            bad += $7 < 0.9999 || $7 > 1.0001 || $8 != "insn per cycle" || $6 > 60
        }
        $4 == "ld_dep_stall" && $8 == "% of cycles: load miss" { stalls++ }
        END { exit !(n >= 3 && stalls >= 3 && !bad) }' "$D/metrics.csv" || { cat "$D/metrics.csv"; return 1; }
}
check "figures by PD, in turns; an event that the CPU lacks is named" metrics
