#!/bin/sh
# SPDX-License-Identifier: BSD-2-Clause
# The demo over the network in QEMU: recorded over TCP at a rate that no serial line carries, while the
# echo server has load and other hosts watch; lost hosts; and the same image with a key.
# Environment: B and MKPERF; for a platform other than the built-in one also NET_DIR (net.system),
# NET_ELFS, NET_QEMU (command that boots the image, without its network), KERNEL and NAME.
set -u
NAME=${NAME:-net}
. tests/system/lib.sh
. tests/system/lib-net.sh
data=$D/perf.data
key_option=

sampled() { # SECONDS RATE ARGUMENTS...
    seconds=$1
    rate=$2
    shift 2
    record "$port" -F "$rate" -g --duration "$seconds" "$@"
}

boot "${NET_QEMU:-$(cat "$net/qemu-command")}" ""
check "the target answers" answers

# The echo server has a network device, and an address, of its own.
reached() {
    wait_for 60 "$B/echo-load" 127.0.0.1 "$echo" tcp 1000 0.2
}
check "the echo server answers" reached
load() {
    "$B/echo-load" 127.0.0.1 "$echo" tcp 1000 1 && "$B/echo-load" 127.0.0.1 "$echo" udp 500 0.5
}
check "TCP and UDP echo" load

"$B/echo-load" 127.0.0.1 "$echo" tcp 1000 2 >"$D/load" 2>&1 &
loader=$!
watch() { # another host, once the session runs
    wait_for 60 running "$D/watched" 1
}
running() { # FILE SESSION
    say --watch -c status >"$1" 2>&1 && grep -q "session $2, runs" "$1"
}
watch &
watcher=$!
recorded() {
    sampled 2.5 20000 -o "$data" >"$D/record.log" 2>&1 || { cat "$D/record.log"; return 1; }
}
check "recorded over TCP at 20 kHz under load" recorded
[ -s "$data" ] || exit 1
wait $watcher
wait $loader
load_status=$?
watched() {
    grep -q 'session 1, runs' "$D/watched" || { cat "$D/watched"; return 1; }
}
check "another host watches at the same time" watched
loaded() {
    cat "$D/load"
    return $load_status
}
check "the echo server served at the same time" loaded

# Twice what a 115200 baud line carries, which is 11520 bytes a second.
rate() {
    n=$(sed -n 's/.*perf.data: \([0-9]*\) samples.*/\1/p' "$D/record.log")
    bytes=$(sed -n 's/^  line *\([0-9]*\) bytes.*/\1/p' "$D/record.log")
    echo "$n samples, $bytes bytes"
    [ "$n" -ge 18000 ] && [ "$bytes" -ge 57600 ] && grep -q ' 0 lost' "$D/record.log" &&
        grep -q ' 0 missing' "$D/record.log"
}
check "no loss at a rate that a serial line does not carry" rate

script() {
    chains "$data" >"$D/chains"
}
check "perf script is silent" script
shares() {
    awk '$1 == "known" && match($3, /^known_[a-z]+_[0-9]+/) {
            f = substr($3, 1, RLENGTH); n++; w[f] += $2; total += $2 }
        END {
            split("known_leaf_10 known_framed_20 known_deep_30 known_leaf_40", name, " ")
            if (n < 2000) { print "only", n + 0, "samples"; exit 1 }
            for (i = 1; i <= 4; i++) {
                p = i / 10; got = w[name[i]] / total; se = sqrt(p * (1 - p) / n)
                printf "%s %.4f expected %.1f, %.1f standard errors\n", name[i], got, p, (got - p) / se
                if (got < p - 6 * se || got > p + 6 * se) bad = 1
            }
            exit bad
        }' "$D/chains"
}
check "known shares within six standard errors" shares
seen() {
    for pd in client echo server known; do
        grep -q "^$pd " "$D/chains" || { echo "no sample of $pd"; return 1; }
    done
    grep -q '^echo .*received' "$D/chains" || { echo "no stack of the echo server's"; return 1; }
}
check "client, echo server and the others have samples" seen
marked() {
    grep -q '^  marks *[1-9]' "$D/record.log" || { cat "$D/record.log"; return 1; }
}
check "marks of the echo server" marked

commands() {
    say -c "timer period 500; timer all on; prof_btdepth 8; start" >"$D/commands" || return 1
    say -c "status" | tee -a "$D/commands" | grep -q 'session 2, runs' || return 1
    say -c "stop" >>"$D/commands"
}
check "controlled by text, and the session outlives the host" commands

# After a recorder was killed, the next one can use the target.
killed() {
    RUN="start $D/killed.log" record "$port" -F 1000 --duration 20 -o "$D/killed.data"
    recorder=$pid
    wait_for 60 running "$D/third" 3 || { cat "$D/killed.log"; return 1; }
    kill -9 $recorder
    wait $recorder 2>/dev/null
    running "$D/third" 3 || { cat "$D/third"; return 1; }
    sampled 0.3 1000 -o "$D/next.data" >"$D/next.log" 2>&1 || { cat "$D/next.log"; return 1; }
}
check "another host continues after one was killed" killed
stop_qemu
[ -z "${NET_QEMU:-}" ] || exit 0

test_keys
key_target
boot "$boots" ""
check "the target with a key answers" answers
good_key() {
    sampled 1 5000 -o "$D/key.data" >"$D/key.log" 2>&1 || { cat "$D/key.log"; return 1; }
    grep ' 0 lost' "$D/key.log"
}
check "recorded with a key" good_key
bad_key() {
    key_option=
    ! sampled 1 1000 -o "$D/bad.data" --key-file "$D/wrong.key" >"$D/wrong.log" 2>&1 &&
        ! sampled 1 1000 -o "$D/bad.data" >"$D/none.log" 2>&1 &&
        grep -i key "$D/wrong.log" && grep -i key "$D/none.log"
}
check "refused without the key and with a wrong one" bad_key
counted() {
    say -c status | grep 'refused [1-9]'
}
check "connections without a proof are counted" counted
