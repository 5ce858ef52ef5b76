#!/bin/sh
# SPDX-License-Identifier: BSD-2-Clause
# A target with a key that dials out, in QEMU: recorded with -t listen:, cut off, and waited for by
# later hosts. QEMU's network passes its calls to $port on loopback, where only mkperf listens.
set -u
NAME=net-dial
. tests/system/lib.sh
. tests/system/lib-net.sh
test_keys

# The address that the target dials (tests/pd/net_dial.c); `net-tool pipe` passes it to mkperf, or to a
# proxy before it.
called=$port2
boot "$(cat "$B/tests/pd/dial/qemu-command")" \
    ",guestfwd=tcp:10.0.2.100:1237-cmd:$tool pipe $called"

listen() { # PORT LOG ARGUMENTS...
    at=$1
    log=$2
    shift 2
    timeout 600 "$MKPERF" record -t "listen:127.0.0.1:$at" -e cycles --system "$B/tests/pd/quiet/quiet.system" \
        --elf-path "$B/tests/pd/dial" --kernel "$kernel" "$@" >"$log" 2>&1 ||
        { cat "$log"; return 1; }
}
recorded() {
    listen "$called" "$D/record.log" -F 2000 --duration 1 --key-file "$D/key" -o "$D/perf.data" ||
        return 1
    cat "$D/record.log"
    grep 'listening on port' "$D/record.log" && grep 'connection from 127.0.0.1' "$D/record.log" &&
        grep ' 0 lost' "$D/record.log" && ! grep 'the counts do not match' "$D/record.log" || return 1
    perf_quiet script -i "$D/perf.data" -F comm >"$D/script" && grep -q idle "$D/script"
}
check "recorded by a host that listens" recorded
again() {
    listen "$called" "$D/again.log" -F 2000 --duration 0.3 --key-file "$D/key" -o "$D/again.data" &&
        grep ' 0 lost' "$D/again.log"
}
check "and by one that comes later" again
wrong() {
    listen "$called" "$D/wrong.log" --duration 0.3 --timeout 5 --key-file "$D/wrong.key" -o "$D/wrong.data" \
        >/dev/null && return 1
    grep 'wrong key' "$D/wrong.log" && [ ! -e "$D/wrong.data" ]
}
check "not with another key" wrong
refused() {
    "$MKPERF" console -t "listen:127.0.0.1:$called" --watch --key-file "$D/key" -c status >"$D/status" 2>&1
    cat "$D/status"
    grep 'refused [1-9]' "$D/status"
}
check "which is counted; a console may be called, too" refused

# The proxy accepts the calls and cuts some; mkperf listens behind it.
cut() {
    behind=$("$tool" port)
    start "$D/cut.log" "$MKPERF" record -t "listen:127.0.0.1:$behind" -e cycles -F 4000 --duration 3 \
        --system "$B/tests/pd/quiet/quiet.system" --key-file "$D/key" -o "$D/cut.data"
    recorder=$pid
    wait_for 20 grep 'listening on port' "$D/cut.log"
    start "$D/proxy.log" "$tool" proxy "$called" "$behind" up:150 up:5000 down:110 up:9001 pass
    wait $recorder || { cat "$D/cut.log"; return 1; }
    cat "$D/proxy.log" "$D/cut.log"
    [ "$(grep -c ' cut, ' "$D/proxy.log")" -eq 4 ] && grep 'connected again' "$D/cut.log" &&
        ! grep 'counts do not match' "$D/cut.log"
}
check "cut off, it calls again, the recording continues, and the counts match" cut
