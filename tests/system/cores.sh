#!/bin/sh
# SPDX-License-Identifier: BSD-2-Clause
# Four cores in QEMU, or CORES: known shares on all of them at the same time, a call from core to core, counts, many
# sessions after each other, and a machine that has fewer cores than the system was made for. With several cores
# QEMU counts instructions of the whole machine, so shares are of time, and sums are compared with the clock.
# Environment: CORES_DIR, CORES_QEMU, CORES and KERNEL for another platform.
set -u
NAME=${NAME:-cores}
. tests/system/lib.sh
t=${CORES_DIR:-$B/tests/pd/cores}
files="--system $t/cores.system --elf-path $t:$B/demo${KERNEL:+ --kernel $KERNEL}"
export D t files

QEMU=${CORES_QEMU:-$(cat "$t/qemu-command")}
CORES=${CORES:-4}
CALLS_S=${CORES_QEMU:+0.5} # an instruction of real seL4 takes two cycles in QEMU: half as many calls a second
CALLS_S=${CALLS_S:-0.3}
export QEMU CALLS_S
cat >"$D/sessions" <<'EOF'
for i in 1 2 3 4 5; do
    $MKPERF record -t $T -e cycles -F 10000 --duration 0.03 $files -o $D/short$i.data || exit 1
done
EOF
check "$CORES cores are recorded and counted" scripts/qemu-talk "$D" \
    '$MKPERF record -t $T -e cycles -F 3000 --callers 2 --duration 0.3 $files -o $D/slow.data >$D/slow.log 2>&1' \
    '$MKPERF record -t $T -e cycles -F 10000 --duration 0.1 $files -o $D/fast.data >$D/fast.log 2>&1' \
    '$MKPERF record -t $T -e cycles -F 50000 --duration 0.03 $files -o $D/fastest.data >$D/fastest.log 2>&1' \
    '$MKPERF record -t $T --sched --duration $CALLS_S $files -o $D/calls.data >$D/calls.log 2>&1' \
    '$MKPERF latency -t $T --duration $CALLS_S >$D/latency.live 2>$D/latency.log' \
    '$MKPERF record -t $T -e cycles -F 1000 --interactions --duration 0.05 $files -o $D/edges.data >$D/edges.log 2>&1' \
    '$MKPERF stat -t $T -e cycles:u,cycles:k -x , --duration 0.05 -o $D/stat.csv >$D/stat.log 2>&1' \
    'sh $D/sessions >$D/sessions.log 2>&1'

# samples NAME: core, PD, mode, innermost function, period, time, chain
samples() {
    "$MKPERF" convert -q "$D/$1.data" -o "$D/$1.jsonl" &&
        jq -r 'select(.type == "sample") | [.core // 0, .pd, .mode, (.stack[0].function // "?"), .period, .time_ns,
            ([.stack[] | (if .pd then .pd + ":" else "" end) + (.function // "?")] | join(" "))] | @tsv' \
            "$D/$1.jsonl" >"$D/$1"
}

# Each core's functions have their shares of that core's samples, within six standard errors (48 comparisons: by
# chance one run in 10 million fails). Each core has about as many samples a second of the target's time as the rate
# says: when a session ends is a matter of the host's time. At 50,000 samples/s up to 10 % of the events are late. They are counted
# into later samples, so there are as many samples less. No sample is lost.
shares() {
    samples "$1" || return 1
    grep -q ' 0 lost' "$D/$1.log" || { cat "$D/$1.log"; return 1; }
    awk -F '\t' -v rate="$2" -v cores="$CORES" '
        { core[$1]++; time[$1] += $5; first = first == 0 || $6 < first ? $6 : first; last = $6 > last ? $6 : last }
        $2 == "known" $1 && $3 == "user" && $4 ~ /^known_/ {
            n[$1]++; split($4, part, "_"); hit[$1, part[3]]++
        }
        END {
            for (c = 0; c < cores; c++) {
                line = "core " c ": " core[c] + 0 " samples"
                wanted = rate * (last - first) / 1e9
                line = line sprintf(" of %d,", wanted)
                if (core[c] < (rate > 10000 ? 0.85 : 0.9) * wanted || core[c] > 1.2 * wanted || n[c] < 100) bad = 1
                for (p = 10; p <= 40; p += 10) {
                    s = p / 100
                    off = hit[c, p] - s * n[c]
                    if (off < 0) off = -off
                    if (off > 6 * sqrt(s * (1 - s) * n[c])) bad = 1
                    line = line sprintf(" %d%% %.1f", p, 100 * hit[c, p] / (n[c] ? n[c] : 1))
                }
                print line
            }
            exit bad
        }' "$D/$1"
}
check "known shares on each core, none lost: 3000 samples/s and core" shares slow 3000
check "known shares on each core, none lost: 10000 samples/s and core" shares fast 10000

check "known shares on each core, none lost: 50000 samples/s and core" shares fastest 50000

# Calls from core 0 to core 1, whose parts are in two rings: the target's own latencies, and those that the host
# computes from the events of another session. known0 causes one call in each of its rounds, and all rounds have the same
# instructions. So calls are compared for the time that known0 ran. They are not compared for the sessions' time: known0
# shares core 0 with mkperf's PDs, which had 4 % of it in a recording and 12 to 21 % with live latencies.
# A call is the service's 200,000 instructions, which take core 1 about as many times as long as there are cores, since
# QEMU's cores take turns. Calls have a standard deviation of 16 % for that: two means of 40 calls that differ by 20 % are
# 5.6 standard errors apart.
latencies() {
    "$MKPERF" latency "$D/calls.data" >"$D/latency.events" 2>&1
    cat "$D/latency.live" "$D/latency.events" "$D/latency.log"
    grep -q ' 0 lost' "$D/calls.log" && awk -v us=$((200 * CORES)) '
        /^# / { pds = /^# PDs/ }
        / (latencies of|scheduling events in) [0-9.]+ s$/ { took[FILENAME] = $(NF - 1) } # a session ends when the host says so
        / caller -> server$/ && NF > 9 { n[FILENAME] = $1; mean[FILENAME] = $2; lines++ }
        pds && (NF == 3 ? $3 : $10) == "known0" { ran[FILENAME] = $1 / 100 * took[FILENAME] }
        END {
            for (f in n) {
                printf "%s: %d calls while known0 ran for %.3f s\n", f, n[f], ran[f]
                if (n[f] < 30 || ran[f] <= 0 || mean[f] < us / 2 || mean[f] > us * 2) bad = 1
            }
            for (f in n) for (g in n)
                if (n[f] * ran[g] > (n[g] * 1.1 + 2) * ran[f] || mean[f] > mean[g] * 1.2) bad = 1
            exit bad || lines != 2 || length(ran) != 2
        }' "$D/latency.live" "$D/latency.events"
}
check "latencies of calls from core to core, by the target and by the host" latencies

# All samples of a core stand for the whole time.
whole() {
    jq -r 'select(.type == "sample") | [.core // 0, .period, .time_ns] | @tsv' "$D/slow.jsonl" | awk -v cores="$CORES" '
        { sum[$1] += $2; first[$1] = first[$1] == 0 ? $3 : first[$1]; last[$1] = $3 }
        END {
            for (c = 0; c < cores; c++) {
                ns = (last[c] - first[c])
                print "core", c, sum[c], "cycles in", ns, "ns"
                if (ns <= 0 || sum[c] < 0.98 * ns || sum[c] > 1.02 * ns) bad = 1
            }
            exit bad
        }'
}
check "each core's periods sum up to the time" whole

# The work that core 0 asks core 1 for is on core 1, and its callchain continues in the caller on core 0.
call() {
    awk -F '\t' '
        $7 ~ /cores_service/ { n++; other += $1 != 1 || $2 != "server"; whole += $7 ~ /caller:/ }
        END {
            print n + 0, "samples of the service,", other + 0, "elsewhere,", whole + 0, "with the caller"
            exit !(n >= 50 && other == 0 && whole >= 0.95 * n)
        }' "$D/slow"
}
check "a call from core 0 is served on core 1, with its caller" call

edges() {
    "$MKPERF" report --interactions -i "$D/edges.data" >"$D/edges" 2>&1 || { cat "$D/edges"; return 1; }
    grep -E '(caller|known0)' "$D/edges"
    awk '$0 ~ /caller/ && $0 ~ /server/ { found = 1 } END { exit !found }' "$D/edges"
}
check "calls from core to core are counted" edges

# Busy cores: user and kernel cycles together are the clock, as many times as there are cores.
counts() {
    cat "$D/stat.csv"
    awk -F, -v cores="$CORES" '$3 ~ /^cycles/ { sum += $1; ns = $4 > ns ? $4 : ns }
        END { print sum, "cycles in", ns, "ns"; ns *= cores; exit !(sum > 0.95 * ns && sum < 1.05 * ns) }' "$D/stat.csv"
}
check "counts are of all cores" counts

sessions() {
    for i in 1 2 3 4 5; do
        samples "short$i" || return 1
        cut -f 1 "$D/short$i" | sort | uniq -c | awk -v i="$i" -v all="$CORES" '
            { if ($1 < 150) bad = 1; cores++; line = line " " $1 }
            END { if (bad || cores != all) { print "session", i, "samples a core:" line; exit 1 } }' || return 1
    done
    ! grep -v ' 0 lost' "$D/sessions.log" | grep ' lost'
}
check "five sessions after each other, each on all cores" sessions

# The same system where cores 2 and 3 do not start.
absent() {
    QEMU=$(echo "$QEMU" | sed 's/-smp 4/-smp 2/') scripts/qemu-talk "$D" \
        '$MKPERF record -t $T -e cycles -F 5000 --duration 0.04 $files -o $D/absent.data >$D/absent.log 2>&1' || {
        cat "$D/absent.log"
        return 1
    }
    samples absent || return 1
    cut -f 1 "$D/absent" | sort | uniq -c
    cat "$D/absent.log"
    grep -q 'this machine has no core 0x2' "$D/absent.log" && grep -q "warning: QEMU's cores take turns" "$D/absent.log" &&
        [ "$(cut -f 1 "$D/absent" | sort -u | tr '\n' ' ')" = '0 1 ' ]
}
[ -n "${CORES_QEMU:-}" ] || check "cores that do not start are named, the others are sampled" absent
