#!/bin/sh
# SPDX-License-Identifier: BSD-2-Clause
# The demo, recorded in QEMU over the serial line at 3 kHz, and read back with the real perf.
# Environment: B and MKPERF; for a platform other than the built-in one also DEMO_DIR (ELFs and
# demo.system), DEMO_QEMU (command that boots the image), KERNEL (its kernel's ELF), NAME, and PDS (that
# must have samples).
set -u
NAME=${NAME:-demo}
. tests/system/lib.sh
PDS=${PDS:-server requester dummy2 dummy1 known idle}
demo=${DEMO_DIR:-$B/demo}
kernel=${KERNEL:-$demo/kernel.elf}
data=$D/perf.data
QEMU=${DEMO_QEMU:-$(cat "$demo/qemu-command")}
export QEMU

record() {
    scripts/qemu-record "$D" -e cycles -F 3000 -g --duration 1.2 --system "$demo/demo.system" \
        --elf-path "$demo" --kernel "$kernel" -o "$data" --raw "$D/raw" >"$D/record.log" 2>&1 || {
        cat "$D/record.log"
        return 1
    }
}
check "recorded over the serial line" record
[ -s "$data" ] || exit 1
named() {
    ! grep 'no ELF\|get no names' "$D/record.log"
}
check "each ELF of the image is found" named
# The PDs work for a part of each second. On the built-in platform, agreement.sh compares more.
counted() {
    scripts/qemu-record "$D" -e cycles -F 2000 --stat --duration 1.2 --system "$demo/demo.system" \
        --elf-path "$demo" --kernel "$kernel" -o "$D/counted.data" >"$D/counted.log" 2>&1 &&
        contains "$D/counted.log" 'checked samples and counts agree in all [0-9]* shares'
}
# Where an event has one counter, it cannot be counted and sampled.
refused() {
    counted && return 1
    contains "$D/counted.log" 'this CPU counts an event with one counter at a time: it is sampled or counted'
}
if [ "${ARCH:-}" = riscv64 ]; then
    check "counts beside samples of the same event are refused" refused
elif [ -n "${DEMO_QEMU:-}" ]; then
    check "samples agree with counts of the same event" counted
fi
report() {
    perf_quiet report --stdio -i "$data" -g none --sort comm,dso,symbol >"$D/report"
}
script() {
    chains "$data" >"$D/chains"
}
check "perf report is silent" report
check "perf script is silent" script

samples_enough() {
    n=$(wc -l <"$D/chains")
    echo "$n samples"
    [ "$n" -ge 3000 ]
}
check "at least 3000 samples" samples_enough

nothing_lost() {
    "$MKPERF" report -i "$data" --percent-limit 50 >"$D/mkperf-report" || return 1
    grep -i 'lost' "$D/mkperf-report" "$D/report"
    grep -q '^# lost  *0 of [1-9]' "$D/mkperf-report" && grep -q 'Total Lost Samples: 0$' "$D/report"
}
check "no loss at 3 kHz" nothing_lost

known_symbols() {
    ! grep -F '[unknown]' "$D/chains" | head -n 5 | grep .
}
check "no unknown symbol" known_symbols

pds_seen() {
    for pd in $PDS; do
        grep -q "^$pd " "$D/chains" || {
            echo "no sample of $pd"
            return 1
        }
    done
}
check "idle and every PD that is busy have samples" pds_seen

# shares CHAINS N: shares of the four known functions, by weight, within N standard errors
shares() {
    awk -v n_errors="$2" '$1 == "known" && match($3, /^known_[a-z]+_[0-9]+/) {
            f = substr($3, 1, RLENGTH); n++; w[f] += $2; total += $2 }
        END {
            split("known_leaf_10 known_framed_20 known_deep_30 known_leaf_40", name, " ")
            if (n < 500) { print "only", n + 0, "samples"; exit 1 }
            for (i = 1; i <= 4; i++) {
                p = i / 10; got = w[name[i]] / total; se = sqrt(p * (1 - p) / n)
                printf "%s %.4f expected %.1f, %.1f standard errors\n", name[i], got, p, (got - p) / se
                if (got < p - n_errors * se || got > p + n_errors * se) bad = 1
            }
            exit bad
        }' "$1"
}
check "known shares within six standard errors" shares "$D/chains" 6 # by chance, one run in 100 million fails

# An event that counts once an instruction: QEMU needs help to notice its overflows in time.
instructions() {
    scripts/qemu-record "$D" -e instructions -F 4001 --duration 1.1 --system "$demo/demo.system" \
        --elf-path "$demo" --kernel "$kernel" -o "$D/instructions.data" >"$D/instructions.log" 2>&1 || {
        cat "$D/instructions.log"
        return 1
    }
    ! grep 'QEMU counts' "$D/instructions.log" || return 1 # of several cores alone
    chains "$D/instructions.data" >"$D/instructions" && shares "$D/instructions" 6
}
check "known shares of instructions within six standard errors" instructions

# Every user sample of the known functions has the whole chain of the source.
complete() {
    awk '
        BEGIN {
            d = "descend;descend;descend;descend;descend;descend;descend;descend;"
            expected["known_leaf_10"] = "round;notified;"
            expected["known_framed_20"] = "middle;round;notified;"
            expected["known_deep_30"] = d "round;notified;"
            expected["known_leaf_40"] = "inner;middle;outer;round;notified;"
        }
        $1 == "known" {
            f = $3; sub(/;.*/, "", f)
            if (!(f in expected)) next
            n++
            if (index($3, f ";" expected[f]) != 1) { if (bad++ < 5) print $3 }
        }
        END { print n + 0, "chains,", bad + 0, "incomplete"; exit n == 0 || bad > 0 }' "$D/chains"
}
check "every known chain complete" complete

# Kernel samples are of the target's kernel, and no name is from this machine's kernel.
kernel_symbols() {
    nm "$kernel" | awk '{ print $3 }' | sort -u >"$D/kernel-names"
    perf_quiet script -i "$data" -F comm,ip,sym,dso | grep -F "($(basename "$(realpath "$kernel")"))" |
        awk '{ print $2 }' | sort -u >"$D/kernel-seen"
    [ -s "$D/kernel-seen" ] || { echo "no kernel samples"; return 1; }
    ! comm -23 "$D/kernel-seen" "$D/kernel-names" | grep .
}
check "kernel samples are the target kernel's" kernel_symbols

# Below the server's work are the frames of the PD that asked for it.
requested() {
    "$MKPERF" convert -q "$data" -o "$D/perf.jsonl" || return 1
    jq -r 'select(.type == "sample" and .pd == "server" and .mode == "user") |
            [.stack[] | (if .pd then .pd + ":" else "" end) + (.function // "?")] | join(" ")' "$D/perf.jsonl" |
        awk '/(^| )protected / { n++; whole += / requester:ask requester:request_batch / }
            END { print whole + 0, "of", n + 0; exit !(n >= 5 && whole == n) }'
}
check "the server's work has its requester's frames" requested

annotated() {
    perf annotate --stdio -i "$data" -s known_leaf_40 2>&1 | grep -q 'subs.*x9'
}
if [ "${ARCH:-}" = riscv64 ]; then
    echo "left out $NAME: perf annotate: Debian 12's perf has no disassembler for RISC-V"
else
    check "perf annotate shows the code" annotated
fi

replayed() {
    "$MKPERF" record -t "file:$D/raw" --system "$demo/demo.system" --elf-path "$demo" \
        --kernel "$kernel" -o "$D/replay.data" >"$D/replay.log" 2>&1 || { cat "$D/replay.log"; return 1; }
    chains "$D/replay.data" | cmp - "$D/chains"
}
check "a replay of the raw stream gives the same samples" replayed

piped() {
    "$MKPERF" record -q -t "file:$D/raw" --system "$demo/demo.system" --elf-path "$demo" \
        --kernel "$kernel" -o - 2>"$D/piped.log" | perf script -i - 2>"$D/perf.err" >"$D/piped" || return 1
    ! grep -v 'unwind: target platform=arm64 is not supported' "$D/perf.err" || return 1
    perf_quiet script -i "$D/replay.data" | cmp - "$D/piped"
}
check "record -o - | perf script -i - gives the same samples" piped

# What the console's commands start goes into its file, with the ELFs that complete call chains.
commanded() {
    export D demo
    scripts/qemu-talk "$D" '{
        echo "events cycles"
        echo start
        tries=0
        until [ "$(wc -c 2>"$D/wc.err" <"$D/console.data.partial" || echo 0)" -gt 20000 ] || [ $tries -gt 600 ]; do
            tries=$((tries + 1))
            sleep 0.1
        done
        echo stop
    } | $MKPERF console -t $T --system "$demo/demo.system" --elf-path "$demo" -o "$D/console.data"' \
        >"$D/console.log" 2>&1 || { cat "$D/console.log"; return 1; }
    "$MKPERF" report -i "$D/console.data" --stdio >"$D/console.report" && contains "$D/console.report" known_leaf_40
}
check "samples of a session that the console started, in its file" commanded

console() {
    grep -q 'demo: tick' "$D/record.log" || { cat "$D/record.log"; return 1; }
}
check "the console's text came through" console

# The text that somebody with a board sends back: all checks pass, and none is left out.
selftest() {
    export D demo
    scripts/qemu-talk "$D" '$MKPERF selftest -t $T --duration 2.2 --system "$demo/demo.system" --elf-path "$demo" \
        -o "$D/selftest.txt"' >"$D/selftest.log" 2>&1 || { cat "$D/selftest.log" "$D"/selftest.txt*; return 1; }
    cat "$D/selftest.txt"
    [ "$(grep -c '^ok ' "$D/selftest.txt")" -eq 6 ] && grep -qx '0 failed, 0 left out' "$D/selftest.txt"
}
check "selftest passes" selftest

# A system without the known work.
selftest_fails() {
    export D
    QEMU=$(cat "$B/tests/pd/late/qemu-command") scripts/qemu-talk "$D" \
        '$MKPERF selftest -t $T --duration 0.1 >$D/late.txt' >"$D/selftest.log" 2>&1
    grep '^left out  shares' "$D/late.txt"
}
[ -n "${DEMO_QEMU:-}" ] || check "selftest names the check that it left out" selftest_fails

# Counted on the target in windows of 13,000 samples, as of 13 s at 1 kHz: nothing is lost, the shares are the same, and perf reads the
# weights. WINDOW_BYTES: how many of the whole line, with its begin and Status, a sample may take; a debug kernel has more chains.
windows() {
    scripts/qemu-record "$D" -e cycles -F 13000 -g --duration 3 --aggregate=1 --system "$demo/demo.system" --elf-path "$demo" \
        --kernel "$kernel" -o "$D/windows.data" >"$D/windows.log" 2>&1 &&
        contains "$D/windows.log" ' 0 lost' 'in windows of 1' ||
        { cat "$D/windows.log"; return 1; }
    sed -n 's/.*: \([0-9]*\) samples in .*/samples \1/p; s/.* line *\([0-9]*\) bytes.*/bytes \1/p' \
        "$D/windows.log" | awk -v most="${WINDOW_BYTES:-0.28}" '{ v[$1] = $2 }
            END { print v["bytes"] / v["samples"], "bytes a sample"
                exit !(v["samples"] >= 27000 && v["bytes"] <= most * v["samples"]) }' || return 1
    "$MKPERF" convert -q "$D/windows.data" -o "$D/windows.jsonl" || return 1
    jq -r 'select(.type == "sample") | [.pd, .period / (.samples // 1), .stack[0].function, .samples // 1] | @tsv' \
        "$D/windows.jsonl" | awk '{ for (i = 0; i < $4; i++) print $1, $2, $3 }' >"$D/windows.chains"
    shares "$D/windows.chains" 6 || return 1
    counted=$(wc -l <"$D/windows.chains")
    perf_quiet script -i "$D/windows.data" -F comm,weight,period | awk -v counted="$counted" '
        { n += $3 } END { print n, "samples by weight"; exit n != counted || n < 27000 }'
}
check "samples counted on the target in a window: the same shares, a tenth of the bytes" windows
