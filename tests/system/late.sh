#!/bin/sh
# SPDX-License-Identifier: BSD-2-Clause
# docs/latency.md's examples, as they are there: three commands name the PD that makes a server late (tests/pd/late.c).
# Environment: B and MKPERF.
set -u
NAME=late
t=$B/tests/pd/late
QEMU=$(cat "$t/qemu-command")
export QEMU
. tests/system/lib.sh
D=$(realpath "$D")
mkdir "$D/bin"
ln -s "$(realpath "$MKPERF")" "$D/bin/mkperf"
cp "$t"/*.elf "$B/demo/kernel.elf" "$D" # where `record` runs: it keeps copies, and no command searches the whole tree

# The page's first six commands; path.sh has the others.
sed -n 's/^    \$ \(mkperf .*\)/\1/p' docs/latency.md | head -n 6 >"$D/commands"
# The N-th command of the page, where it records, of a machine that is booted for it, and for half a second, which has 18 late calls.
command() {
    sed -n "$1p" "$D/commands" | sed "s/-t TARGET/-t \$T/; s/--duration 2/--duration 0.5/"
}
live() { # live FIRST LAST: these commands on one machine; output in $D/LAST
    {
        echo "cd $D && PATH=$D/bin:\$PATH"
        # shellcheck disable=SC2016 # the session's
        echo 'case $T in unix:/*) ;; unix:*) T=unix:'"$PWD"'/${T#unix:} ;; esac'
        for i in $(seq "$1" "$2"); do command "$i"; done
    } >"$D/session"
    scripts/qemu-talk "$B/tests/run-late" "sh -e $D/session" >"$D/$2" 2>&1 || { cat "$D/$2"; return 1; }
}
at_home() { # the N-th, of a recording
    (cd "$D" && PATH=$D/bin:$PATH sh -c "$(command "$1")") >"$D/$1" 2>"$D/err" || { cat "$D/err"; return 1; }
}
three() {
    cat "$D/commands"
    [ "$(wc -l <"$D/commands")" -eq 6 ] && live 1 1 && at_home 2 && at_home 3
}
# The second says which call: hundreds of times its median, for it was preempted, most of all by the logger.
which_call() {
    awk '/user -> echo$/ && $1 ~ /^[0-9]+$/ { print; found = $7 > 50 * $3 }
        /user -> echo$/ && $1 ~ /\./ { parts = 1; next }
        parts && /preempted by:/ {
            for (i = 3; i < NF; i++) if ($i == "logger") culprit = $(i + 1) >= 20
            parts = 0
        }
        / -> / && !/user -> echo$/ { parts = 0 }
        END { exit !(found && culprit) }' "$D/2" || { cat "$D/2"; return 1; }
}
# The third says what that call was: the first line of the table is what took longest.
culprit() {
    awk '/^ *us +% +times/ { table = 1; next }
        table && NF { print; exit !($1 >= 400 && $0 ~ /echo is ready, logger runs$/) }' "$D/3" || { cat "$D/3"; return 1; }
}
check "three commands of the page" three
check "which call, and who preempts it" which_call
check "the culprit by name" culprit
# One command says all of it: the slowest call, and first what it waited for longest.
check "mkperf explain says why" explains "$D/perf.data" slow-call answer \
    'user called echo for [0-9.]* us .* of these, [0-9.]* us: echo is ready, logger runs'

# The page's last example: the program ends the flight recording when an answer is late, and the recording has that one.
deadline() {
    QEMU=$(cat "$B/tests/pd/deadline/qemu-command") live 4 5 && at_home 6 || return 1
    cat "$D/5"
    grep -q "ended by an application's mark" "$D/5" &&
        { ! command -v perf >/dev/null || perf_quiet script -i "$D/perf.data" | grep '^ *timed .* mkperf:mark:'; } &&
        awk '$1 == "#" && $3 ~ /^us,/ { print; late = $2 > 300 } # of 7 steps
            /^ *us +% +times/ { table = 1; next }
            table && NF { print; exit !(late && $1 >= 400 && $0 ~ /echo is ready, logger runs$/) }' "$D/6"
}
check "what happened before a missed deadline" deadline
# Without a program's help: the target ends the recording at the first call that takes long, or at the first PD that waits long for
# the core. The recording has that moment, and the head of reports the target's own figure for it. The logger runs for 400 us;
# the profiler and the client may run in that time, too.
stop_if() {
    scripts/qemu-talk "$B/tests/run-late" "$MKPERF record -t \$T --stop-if '$1' -o $D/stop.data --elf-path $t" >"$D/stop.log" 2>&1 ||
        { cat "$D/stop.log"; return 1; }
    "$MKPERF" explain "$D/stop.data" >"$D/stop" && cat "$D/stop.log" "$D/stop" && grep -Eq "^Ended  *$2" "$D/stop"
}
slow_call() {
    stop_if 'throttled echo,call user->echo > 400us' 'by a call user -> echo that took [4-9][0-9][0-9]\.[0-9]* us' &&
        explains "$D/stop.data" slow-call answer 'user called echo for [4-9][0-9][0-9].* echo is ready, logger runs' &&
        took=$(sed -n 's/.*that took \([0-9.]*\) us.*/\1/p' "$D/stop.log") &&
        "$MKPERF" explain --why slow-call "$D/stop.data" | sed -n 's/.*user called echo for \([0-9.]*\) us.*/\1/p' |
        awk -v took="$took" '{ d = $1 - took; n++ } END { exit !(n == 1 && d > -0.1 && d < 0.1) }'
}
long_ready() {
    stop_if 'ready echo > 300us' 'by echo: it was ready and did not run for [3-9][0-9][0-9]\.[0-9]* us'
}
check "record --stop-if: a call that takes long ends the recording, which has it" slow_call
check "a PD that is ready for long ends it" long_ready
refused_condition() {
    scripts/qemu-talk "$B/tests/run-late" "! $MKPERF record -t \$T --stop-if '$1' -o $D/no.data" 2>&1 | tee "$D/refused" | grep -q "$2" && [ ! -e "$D/no.data" ] ||
        { cat "$D/refused"; return 1; }
}
check "a condition that names no PD is refused by its place" refused_condition 'ready echo > 1ms,call nobody->echo > 1ms' '"call nobody->echo > 1ms": no PD has the first name'
check "a time without a unit is refused" refused_condition 'call echo > 500' '"call echo > 500": want a time with its unit'

# The run times of scheduling events, and the cycles that the kernel counted by PD, one a nanosecond: of two clocks, which the
# kernel reads one after the other at each switch. Of all PDs, the profiler PD as well. A tick of the machine's clock is 16 ns, and
# each run of a PD begins and ends in some tick; where a tick is a nanosecond (as on Armv8.6) there is no such difference. With ticks
# of 16 ns a run's error has a deviation of 16 / sqrt(6) ns, and the sum over at most 5,400 runs one of 0.48 us. 2.75 us are 5.7 of them:
# odds of one in 10^7 for the seven PDs.
run_times() { # run_times NS QEMU-COMMAND
    QEMU=$2 scripts/qemu-talk "$B/tests/run-late" "$MKPERF stat -t \$T -e cycles --util --duration 0.3 --system $t/late.system -x ' '" \
        >"$D/stat" 2>&1 || { cat "$D/stat"; return 1; }
    awk -v most="$1" '$3 == "cycles" { cycles[$1] = $2 }
        $3 == "task-clock" {
            d = $2 - cycles[$1]
            print $1, $2, "ns,", d, "ns from its cycles"
            n++
            bad += d < -most || d > most
        }
        END { exit bad || n != 7 }' "$D/stat"
}
check "run times are the kernel's own counts of cycles, within 2.75 us in 0.3 s" run_times 2750 "$QEMU"
# The session begins and ends some instructions after its time is read, and a PD gets its entry of the table at its first switch.
check "and within 20 ns by a clock of 1 GHz" run_times 20 "$(echo "$QEMU" | sed 's/cortex-a53/&,cntfrq=1000000000/')"

# Three recordings of one boot: none replaces another, and mkperf diff takes two of them as one side.
repeated() {
    scripts/qemu-talk "$D" "$MKPERF record -t \$T --repeat 3 --duration 0.05 -e cycles -q --elf-path $t -o $D/r.data" >"$D/repeat.log" 2>&1 ||
        { cat "$D/repeat.log"; return 1; }
    "$MKPERF" diff --fail-above 0 "$D/r.data.1,$D/r.data.2" "$D/r.data.3" >"$D/diff" 2>"$D/err" || { cat "$D/diff" "$D/err"; return 1; }
    grep -q '^# Shares are means of 2 recordings in A and 1 in B' "$D/diff" && ! cmp -s "$D/r.data.1" "$D/r.data.3" && [ ! -e "$D/r.data" ]
}
check "record --repeat 3, and mkperf diff of two against one" repeated
