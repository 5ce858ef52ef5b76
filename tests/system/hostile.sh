#!/bin/sh
# SPDX-License-Identifier: BSD-2-Clause
# Attacks on the PMU and through the kernel hook, beside a recording: a PD without authority that tries every
# register of the PMU (tests/pd/hostile.c), sessions that ask for too much, and a profiler PD that is hostile
# itself (tests/pd/hostile_profiler.c).
# Environment: HOSTILE_DIR, HOSTILE_QEMU, EVIL_QEMU for another platform; HOSTILE_DIR empty: the last part alone.
set -u
NAME=${NAME:-hostile}
. tests/system/lib.sh
t=${HOSTILE_DIR-$B/tests/pd/hostile}
QEMU=${HOSTILE_QEMU:-$(cat "$t/qemu-command")}
EVIL_QEMU=${EVIL_QEMU:-$(cat "$B/tests/pd/hostile_profiler/qemu-command")}
export QEMU D t

S="--system $t/hostile.system --elf-path $t"
export S
talk() {
    log=$D/$1.log
    shift
    timeout -k 5 600 scripts/qemu-talk "$D" "$@" >"$log" 2>&1 || {
        cat "$log"
        return 1
    }
}

# What the guard says: each access begun was a fault, none reached the PMU. Where EL2 traps all accesses, reading
# PMUSERENR_EL0 once a round is one more.
all_fault() {
    grep -o 'hostile: rounds .*' "$1" | tail -n 1 >"$D/said"
    cat "$D/said"
    awk '{ exit !($3 > 10 && $5 >= 50 * $3 && ($5 == $7 || $5 + $3 == $7) && $9 == 0 && $11 == 0) }' "$D/said"
}
# Three parts of the work in one function, one in the other: within six standard errors (one run in 500 million).
right_shares() {
    "$MKPERF" script -i "$1" -F comm,sym | tr '\n' ' ' | sed 's/steady/\nsteady/g; s/attacker/\nattacker/g' | awk '
        $1 == "steady" && /three_parts/ { three++ } $1 == "steady" && /one_part/ { one++ }
        END {
            n = three + one; p = three / n; e = (p - 0.75) / sqrt(0.75 * 0.25 / n)
            printf "%d samples, %.4f of them in three_parts: %.1f standard errors off\n", n, p, e
            exit !(n > 4000 && e > -6 && e < 6)
        }'
}
beside() {
    talk beside '$MKPERF record -t $T -e cycles:u -c 50021 --duration 0.6 $S -o $D/beside.data' || return 1
    all_fault "$D/beside.log" && right_shares "$D/beside.data" &&
        ! grep -E 'disturbed|storm' "$D/beside.log"
}
# The review's attack hung the system in the middle of a session of a rare event, with the shortest period.
rare() {
    talk rare '$MKPERF record -t $T -e sw_incr:u -c 1000 --duration 0.3 $S -o $D/rare.data' \
        '$MKPERF record -t $T -e cycles:u -c 50021 --duration 0.3 $S -o $D/after.data' || return 1
    all_fault "$D/rare.log" && "$MKPERF" report --stdio -i "$D/after.data" | grep -q three_parts
}
short() {
    talk short '! $MKPERF record -t $T -e cycles:u -c 999 $S -o $D/none.data' \
        '! $MKPERF record -t $T -e cycles:u,instructions:u,r11:u -c 2000 $S -o $D/none.data' || return 1
    grep 'the period of .cycles. must be from 1000 to' "$D/short.log" &&
        grep 'must be from 2166 to .* for each event that samples' "$D/short.log" && [ ! -e "$D/none.data" ]
}

# Runs until it says `done`; each of its results is one of ours.
evil() {
    $EVIL_QEMU -serial "file:$D/evil" </dev/null >"$D/evil-qemu.log" 2>&1 &
    await "$D/evil" '^done' $! >"$D/evil-end"
    ended=$?
    tr -d '\r' <"$D/evil" | sed -n "s/^ok \(.*\)/ok $NAME: profiler PD: \1/p; s/^not ok \(.*\)/not ok $NAME: profiler PD: \1: see $NAME's log/p"
    return $ended
}

if [ -n "$t" ]; then
    check "every access of the PMU from user mode faults, and the profile beside it is right" beside
    check "a rare event's session beside it ends, and the next one works" rare
    check "periods that are too short, alone or together, are refused with the shortest" short
fi
evil || not_ok "a hostile profiler PD" "$(cat "$D/evil-end" "$D/evil-qemu.log")"
