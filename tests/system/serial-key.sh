#!/bin/sh
# SPDX-License-Identifier: BSD-2-Clause
# The demo with a key over a serial line, QEMU's socket: only a host with the key records, and after a host
# was killed, the next one can use the line.
set -u
NAME=serial-key
. tests/system/lib.sh
demo=$B/demo
. tests/system/lib-net.sh
test_keys
line=$D/line
# Not sleep=off: hosts connect and leave in real time.
start "$D/qemu.log" $(sed 's/,sleep=off//' "$B/tests/pd/demokey/qemu-command") \
    -serial "unix:$line,server=on,wait=off" -monitor "unix:$D/monitor,server=on,wait=off"
echo $pid >"$D/qemu.pid"
wait_for 20 test -S "$line"

serial() { # LOG ARGUMENTS...
    log=$1
    shift
    "$MKPERF" record -t "unix:$line" -e cycles --system "$demo/demo.system" --elf-path "$demo" \
        --kernel "$demo/kernel.elf" "$@" >"$log" 2>&1
}
recorded() { # NAME
    serial "$D/$1.log" -F 1000 --duration 0.3 --key-file "$D/key" -o "$D/$1.data" ||
        { cat "$D/$1.log"; return 1; }
    cat "$D/$1.log"
    grep ' 0 lost' "$D/$1.log" && ! grep -E 'wrong MAC|the counts do not match|no key' "$D/$1.log"
}
check "recorded with the key" recorded first
others() {
    serial "$D/wrong.log" --duration 1 --key-file "$D/wrong.key" -o "$D/wrong.data" && return 1
    serial "$D/none.log" --duration 1 -o "$D/none.data" && return 1
    cat "$D/wrong.log" "$D/none.log"
    grep 'wrong key' "$D/wrong.log" && grep 'requires a key' "$D/none.log" &&
        [ ! -e "$D/wrong.data" ] && [ ! -e "$D/none.data" ]
}
check "not with another key, nor without" others
check "the line is as good as before" recorded second
killed() {
    start "$D/killed.log" "$MKPERF" record -t "unix:$line" -e cycles -F 1000 --no-compress --key-file "$D/key" \
        --system "$demo/demo.system" --elf-path "$demo" -o "$D/killed.data"
    wait_for 30 written "$D/killed.data.partial" || return 1
    kill -9 $pid
    recorded next && grep 'a session was running: it is ended' "$D/next.log"
}
written() {
    [ "$(stat -c %s "$1")" -gt 20000 ]
}
check "another host takes over from one that was killed" killed
commands() {
    "$MKPERF" console -t "unix:$line" --key-file "$D/key" -c "timer all on; start; status" >"$D/console" 2>&1 ||
        { cat "$D/console"; return 1; }
    "$MKPERF" console -t "unix:$line" --key-file "$D/key" -c "stop; status" >>"$D/console" 2>&1
    cat "$D/console"
    grep 'with a key\|, runs' "$D/console" && grep 'does not run' "$D/console"
}
check "commands with the key" commands

# The target forgets the connection's keys: the host shakes hands again, and the same file continues.
restarted() {
    start "$D/restart.log" "$MKPERF" record -t "unix:$line" -e cycles -F 1000 --no-compress --timeout 5 --key-file "$D/key" \
        --system "$demo/demo.system" --elf-path "$demo" -o "$D/restart.data"
    recorder=$pid
    wait_for 60 larger "$D/restart.data.partial" 20000 || { cat "$D/restart.log"; return 1; }
    "$tool" monitor "$D/monitor" system_reset >/dev/null
    wait_for 60 grep 'the target was restarted' "$D/restart.log" || { cat "$D/restart.log"; return 1; }
    wait_for 60 larger "$D/restart.data.partial" $(($(stat -c %s "$D/restart.data.partial") + 20000)) ||
        { cat "$D/restart.log"; return 1; }
    kill -INT $recorder
    wait $recorder || { cat "$D/restart.log"; return 1; }
    cat "$D/restart.log"
    grep "no longer knows this connection's keys" "$D/restart.log" && grep '^  restarts 1' "$D/restart.log" || return 1
    # What the machine prints when it boots is shown, and marked as not authenticated before.
    awk '/text on this line is not authenticated/ { told = 1 } /^target: / { shown++; bad += !told }
         END { exit !(shown && !bad) }' "$D/restart.log"
}
larger() { # FILE BYTES
    [ "$(stat -c %s "$1")" -gt "$2" ]
}
check "a target that is restarted: the hosts shake hands again" restarted
