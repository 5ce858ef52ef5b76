#!/bin/sh
# SPDX-License-Identifier: BSD-2-Clause
# Budgets with known answers (tests/pd/budget.c): how long they throttle, how often they are used up, and who pays for a
# passive PD. Environment: BUDGET_DIR, BUDGET_QEMU for another platform; SLACK, nanoseconds that a refill or an
# exhaustion may be late there; REFILLS=merged, see below.
set -u
NAME=${NAME:-budget}
t=${BUDGET_DIR:-$B/tests/pd/budget}
QEMU=${BUDGET_QEMU:-$(cat "$t/qemu-command")}
SLACK=${SLACK:-1000}
export QEMU
. tests/system/lib.sh

recording() {
    scripts/qemu-record "$D" --sched --duration 2 --system "$t/budget.system" --elf-path "$t" -o "$D/b.data" \
        >"$D/record.log" 2>&1 || {
        cat "$D/record.log"
        return 1
    }
    "$MKPERF" latency -x ' ' -o "$D/values" "$D/b.data" && "$MKPERF" latency -o "$D/tables" "$D/b.data" || return 1
    perf_quiet script --ns -i "$D/b.data" -F trace:time,event,trace |
        sed -nE 's/^ *([0-9]+)\.([0-9]{9}): +(sched:sched_switch|mkperf:sched): /\1\2 /p' >"$D/events"
    grep -q ', 0 lost,' "$D/record.log" || { cat "$D/record.log"; return 1; }
}

# Of the time that is known: 2 ms of 10 run, 80 % +- 0.5 throttled. Where seL4 puts refills together, the next exhaustion is 18 ms
# after the last one instead of 10: less than 2 ms of 10 run, but still 2 ms before each exhaustion.
throttled() {
    awk -v merged="${REFILLS:-}" '$1 == "pd" && $2 == "spinner" {
            known = $5 + $6 + $7 + $8 + $9 + $10
            want = merged ? 1 - $13 * 2000000 / known : 0.8
            near = merged ? 0.001 : 0.005
            printf "throttled %.3f %%, expected %.3f %%, running %.3f %%\n", 100 * $9 / known, 100 * want, 100 * $5 / known
            ok = known > 1900000000 && $9 / known >= want - near && $9 / known <= want + near
        }
        END { exit !ok }' "$D/values"
}

# One exhaustion in each period, and no other: each 10 ms after the one before, each followed by a refill that is 10 ms
# after the one before. What latency counts is the number of switches. seL4 sometimes puts what came back twice together
# (REFILLS=merged): there is one refill between two exhaustions, and no period is shorter.
exhausted() {
    awk -v slack="$SLACK" -v merged="${REFILLS:-}" '
        function apart(what, last, time) {
            # The interrupts of others take microseconds.
            if (last && (time - last < 9900000 || !merged && time - last > 10000000 + (what == "refill" ? slack : 100000))) {
                print what, "after", time - last, "ns"
                bad++
            }
        }
        FILENAME ~ /values$/ { if ($1 == "pd" && $2 == "spinner") told = $13; next }
        / prev_comm=spinner .* reason=budget$/ {
            n++
            apart("exhaustion", out, $1)
            if (out && !between) { print "no refill before", $1; bad++ }
            between = 0
            first = first ? first : $1
            out = $1
        }
        $2 == "wake" && $3 == "comm=spinner" {
            wakes++
            apart("refill", refill, $1)
            between++
            if (between > 1) { print "two refills, the second at", $1; bad++ }
            refill = $1
        }
        END {
            periods = int((out - first) / 10000000 + 0.5) + 1
            print n, "exhaustions in", periods, "periods,", wakes, "refills, latency says", told
            exit bad || n > periods || n < (merged ? 0.95 : 1) * periods || n != told || wakes < n - 1 || wakes > n || n < 180
        }' "$D/values" "$D/events"
}

# The asker pays for its helper: 1 of 5 ms for both together, a call of 1.5 ms cannot do without a refill, and the
# parts of its calls add up. The time of `helper` that is known may begin and end with an exhaustion, and
# the first may be late by the slack; that of `asker` begins up to two periods later.
passive() {
    awk -v slack="$SLACK" -v merged="${REFILLS:-}" '$1 == "pd" && ($2 == "asker" || $2 == "helper") { ran += $5 }
        $1 == "pd" && $2 == "helper" { span = $5 + $6 + $7 + $8 + $9 + $10; out = $13 }
        $1 == "call" && $2 == "asker" { calls = $5 }
        $1 == "parts" && $2 == "asker" { wall = $4; budget = $9; sum = $5 + $6 + $7 + $8 + $9 + $10 }
        END {
            printf "ran %.3f %%, %d calls, %d exhaustions, %.3f %% of the calls without budget\n", 100 * ran / span, calls,
                out, 100 * budget / wall
            # Each preemption of the two makes a refill of its own, and seL4 puts more than two together: late.
            exit !(ran / span > (merged ? 0.1 : 0.19) && ran / span < 0.205 && calls >= 50 && out >= calls &&
                (merged || out <= (span + slack) / 5000000 + 1) && budget / wall > 0.5 && sum == wall)
        }' "$D/values"
}

tables() {
    grep ' spinner (254) ' "$D/tables" | grep 'budget 2000 of 10000 us (20.00 %), .*head room .* used up [0-9]* times' ||
        { cat "$D/tables"; return 1; }
}

check "a recording with budgets, none lost" recording
check "2 ms of 10 ms: throttled 80 % +- 0.5" throttled
check "an exhaustion and a refill in each period" exhausted
check "a passive PD runs on its caller's budget" passive
check "the table says what budgets were used" tables
explained() {
    explains "$D/b.data" budget problem 'spinner used up its budget [0-9]* times and was throttled for [0-9.]* %'
}
check "mkperf explain names whose budget is used up" explained

# The target ends a recording itself: at an exhaustion, and at a call that needs a refill. The recording has what the target names.
stop_if() { # stop_if CONDITION PATTERN
    scripts/qemu-talk "$D" "$MKPERF record -t \$T --stop-if '$1' --system $t/budget.system --elf-path $t -o $D/stop.data" >"$D/stop.log" 2>&1 ||
        { cat "$D/stop.log"; return 1; }
    cat "$D/stop.log"
    "$MKPERF" explain "$D/stop.data" | grep -Eq "^Ended $2" && "$MKPERF" latency -x ' ' -o "$D/stop" "$D/stop.data"
}
stop_throttled() {
    stop_if 'throttled spinner' 'by spinner: its budget was used up at [0-9.]+ s$' &&
        awk '$1 == "pd" && $2 == "spinner" { print; exit $13 < 1 }' "$D/stop"
}
stop_call() {
    stop_if 'ready nobody > 1s,call asker->helper > 4ms' 'x' && return 1
    grep -q '"ready nobody > 1s": no PD has that name' "$D/stop.log" || return 1
    stop_if 'call asker->helper > 4ms' 'by a call asker -> helper that took ([4-9]|[12][0-9])[0-9]{3}\.[0-9]{3} us, until [0-9.]+ s$' &&
        took=$(sed -n 's/.*that took \([0-9.]*\) us.*/\1/p' "$D/stop.log") &&
        awk -v took="$took" '$1 == "call" && $2 == "asker" { print; n += $11 / 1000 > took - 1 } END { exit !n }' "$D/stop"
}
check "record --stop-if: an exhausted budget ends the recording" stop_throttled
check "a call that waits for a refill ends it" stop_call
