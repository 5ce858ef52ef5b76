#!/bin/sh
# SPDX-License-Identifier: BSD-2-Clause
# Two, five and ten times as many samples as a line of 115200 baud carries, paced by the target's clock
# (bench/pd/line.h): what the target took is what arrived and what is counted as lost, to the sample.
set -u
NAME=overload
. tests/system/lib.sh
demo=$B/demo
line=$B/bench/line115200
. tests/system/lib-net.sh
socket=$D/line
start "$D/qemu.log" $(cat "$line/qemu-command") -serial "unix:$socket,server=on,wait=off" -monitor none
echo $pid >"$D/qemu.pid"
wait_for 20 test -S "$socket"

say_serial() {
    "$MKPERF" console -t "unix:$socket" "$@"
}
# The output ring's share is small, so that it is full soon: beside it the link's queue holds some 8000 samples.
small() {
    wait_for 60 say_serial --timeout 1 -c "prof_qlimit 32"
}
check "the target answers on a line of 115200 baud" small

# A session ends when a sample of the time SECONDS has arrived, TIMES as late. The queues hold some 8000 samples.
recorded() { # TIMES SECONDS
    hz=$((3900 * $1)) # 2.95 bytes a sample; 3.0 to 3.1 are seen
    "$MKPERF" record -t "unix:$socket" -e cycles -F $hz -g --duration "$2" --timeout 60 --system "$line/line115200.system" \
        --elf-path "$demo" --kernel "$demo/kernel.elf" -o "$D/$1.data" >"$D/$1.log" 2>&1 || { cat "$D/$1.log"; return 1; }
    say_serial --watch --timeout 60 -c status >"$D/$1.status"
}
check "twice what it carries is recorded" recorded 2 1.5
check "five times what it carries" recorded 5 0.2
check "ten times what it carries" recorded 10 0.08
kill "$pid" # the machine works all the time

overloaded() { # TIMES
    captured=$(sed -n 's/^captured \([0-9]*\),.*/\1/p' "$D/$1.status")
    perf script -i "$D/$1.data" -F time >"$D/$1.times" 2>"$D/perf.err" || return 1 # it warns of the losses
    arrived=$(grep -c . "$D/$1.times")
    lost=$(sed -n 's/^mkperf: .* \([0-9]*\) lost, .*/\1/p' "$D/$1.log")
    bytes=$(sed -n 's/^  line *[0-9]* bytes, \([0-9.]*\) a sample.*/\1/p' "$D/$1.log")
    seconds=$(sed -n 's/^mkperf: .* samples in \([0-9.]*\) s.*/\1/p' "$D/$1.log")
    cat "$D/$1.log"
    echo "captured $captured, arrived $arrived, lost $lost"
    [ "$captured" -eq $((arrived + lost)) ] && [ "$lost" -gt 0 ] || return 1
    grep "^  lost *$lost samples in the profiler.s output" "$D/$1.log" || return 1
    grep 'the counts do not match' "$D/$1.log" && return 1
    # It was as much more than the line carries, or more, within a tenth.
    awk "BEGIN { times = $captured / $seconds / (11520 / $bytes); print times; exit times < 0.9 * $1 }"
}
check "twice what it carries: captured = arrived + lost" overloaded 2
check "five times what it carries: captured = arrived + lost" overloaded 5
check "ten times what it carries: captured = arrived + lost" overloaded 10
check "mkperf explain names the place of the losses" explains "$D/10.data" lost problem '[0-9]* of [0-9]* samples .* were lost; [0-9]*: '
