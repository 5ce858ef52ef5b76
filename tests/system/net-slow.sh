#!/bin/sh
# SPDX-License-Identifier: BSD-2-Clause
# A target on the network with a key, in QEMU. Hosts that have the key reach it over a slow link, while others
# that lack the key attack it over a fast one: all of them get in, beside each of eight attacks.
# Environment: as for net-cut.sh; DELAYS: milliseconds each way; PATIENCE: seconds that a host may take; HELLOS: a second; HOSTS: beside
# each attack, 9. An attack that keeps out 3 hosts of 10 is noticed with 9 hosts in 96 % of runs, and with 20 in 99.9 %.
set -u
NAME=${NAME:-net-slow}
. tests/system/lib.sh
. tests/system/lib-net.sh
test_keys
key_target
count=${HOSTS:-9}
patience=${PATIENCE:-20} # tests/unit/test_client_auth.c holds the target to its own time

# The attackers have a port of QEMU's of their own: they compete for the target, not for QEMU's queue of
# connections.
frames=yes
fast=$port2
boot "$boots" ",hostfwd=tcp:127.0.0.1:$fast-:1236"
check "the target answers" answers

# What the attackers send: nothing, half a hello, a hello that shows no key, a whole handshake of another host,
# and bytes that are no frame.
tapped() { # KEY FILE: the hello of a host with that key
    proxy "tap:$2"
    "$MKPERF" console -t "tcp:127.0.0.1:$proxy" --key-file "$1" --watch -c status >/dev/null 2>&1
    kill "$proxy_pid"
}
tapped "$D/key" "$D/replay"
tapped "$D/wrong.key" "$D/hello"
head -c 30 "$D/hello" >"$D/half"
head -c 2000 /dev/zero | tr '\0' U >"$D/garbage"
recorded() {
    [ -s "$D/replay" ] && [ "$(stat -c %s "$D/hello")" -gt 60 ]
}
check "a host's bytes are recorded for the attackers" recorded

# Three hosts at a time, $count in all; each is one line of $D/hosts: its exit status, and how long it took.
host() {
    began=$(date +%s%N)
    "$MKPERF" console -t "tcp:127.0.0.1:$proxy" $key_option --watch --timeout "$patience" -c status \
        >"$D/host.$1" 2>&1
    echo "$? $((($(date +%s%N) - began) / 1000000)) ms" >>"$D/hosts"
}
hosts() {
    for i in $(seq "$1" 3 $count); do
        host "$i"
    done
}
get_in() { # MS ATTACK...
    proxy "delay:$1"
    shift
    start "$D/attack.log" "$@"
    attack=$pid
    wait_for 60 grep many "$D/attack.log" || { echo "there is no attack"; return 1; }
    : >"$D/hosts"
    hosts 1 &
    first=$!
    hosts 2 &
    second=$!
    hosts 3
    wait $first $second
    kill $attack "$proxy_pid"
    cat "$D/hosts" >>"$D/times"
    [ "$(grep -c '^0 ' "$D/hosts")" -eq $count ] || { cat "$D/hosts"; grep -h '^mkperf' "$D"/host.*; return 1; }
}
for ms in ${DELAYS:-300}; do
    beside() {
        what=$1
        shift
        check "$count of $count hosts get in, $ms ms away each way, beside $what" get_in $ms "$@"
    }
    beside "64 silent connections" "$tool" slots "$fast" 64 /dev/null
    beside "64 connections with half a hello" "$tool" slots "$fast" 64 "$D/half"
    beside "64 connections whose hello shows no key" "$tool" slots "$fast" 64 "$D/hello"
    beside "64 connections that replay a handshake" "$tool" slots "$fast" 64 "$D/replay"
    beside "64 connections that send garbage" "$tool" slots "$fast" 64 "$D/garbage"
    beside "200 connections a second that are closed at once" "$tool" crowd "$fast" 200 1 /dev/null
    beside "${HELLOS:-250} connections a second with a hello" "$tool" crowd "$fast" "${HELLOS:-250}" 64 "$D/hello"
    beside "a flood of SYNs" "$tool" syns "$D/frames" 250
done
