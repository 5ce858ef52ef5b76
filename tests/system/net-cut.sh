#!/bin/sh
# SPDX-License-Identifier: BSD-2-Clause
# A target on the network with a key, in QEMU, over connections that are cut at any byte and that freeze,
# beside other hosts that lack the key, replay another host's messages, or send garbage.
# Environment: as for net.sh, but NETKEY_QEMU boots the image, whose key is tests/pd/test.key.
set -u
NAME=${NAME:-net-cut}
. tests/system/lib.sh
. tests/system/lib-net.sh
test_keys
key_target

frames=yes
boot "$boots" ""
check "the target answers" answers

# The first connection is cut within the handshake, Configure, Start or Stop; the second is not.
cut_once() { # PLAN...
    proxy "$@" pass
    record "$proxy" -F 2000 --duration 0.05 -o "$D/once.data" >"$D/once.log" 2>&1 ||
        { cat "$D/once.log" "$D/proxy.log"; return 1; }
    kill "$proxy_pid"
    balanced "$D/once.log" >"$D/once.statistics" 2>&1 || { cat "$D/once.statistics" "$D/once.log"; return 1; }
}
beginnings() {
    for at in 0 3 31 47 58 70 79 88 97 106 115 124 133 142 151 160; do
        cut_once up:$at || { echo "cut after $at bytes to the target"; return 1; }
    done
    for at in 1 60 105 106 130 190 260 350 480 700 1000 1201; do
        cut_once down:$at || { echo "cut after $at bytes from the target"; return 1; }
    done
}
check "cut once, anywhere from hello to Stop: recorded, and the counts match" beginnings

# One recording over many connections, cut in the bytes of the handshake, the reconnection and the stream. A
# reconnection sends 124 bytes; later ones are optional while samples flow.
sweep() {
    plan=
    for i in $(seq 0 12); do
        plan="$plan up:$((i * 10 + 1)) down:$((i * 340 + 110)) down:$((i * 10)) down:$((4000 + i * 631))"
    done
    proxy $plan pass
    RUN="start $D/sweep.log" record "$proxy" -F 4000 -o "$D/sweep.data"
    wait_for 120 all_cut || { tail -n 3 "$D/sweep.log" "$D/proxy.log"; return 1; }
    wait_for 60 connected || { tail -n 3 "$D/sweep.log" "$D/proxy.log"; return 1; }
    kill -INT $pid
    wait $pid || { tail "$D/sweep.log"; return 1; }
    kill "$proxy_pid"
    balanced "$D/sweep.log"
}
connected() { # again: nothing has broken since
    tail -n 1 "$D/sweep.log" | grep 'connected again\|samples arrive again'
}
all_cut() {
    [ "$(grep -c ' cut, ' "$D/proxy.log")" -eq 52 ]
}
check "cut 52 times in one recording, and the counts match" sweep
told() {
    grep 'samples arrive again; lost in transit in between: [1-9]' "$D/sweep.log" &&
        grep '^  lost .*on the way' "$D/sweep.log" && grep '^  link *broke' "$D/sweep.log" || return 1
    "$MKPERF" report -i "$D/sweep.data" --percent-limit 50 | grep '^# lost *[1-9]'
}
check "the gaps are reported, and are in the file" told
no_hosts # of a check that failed: they would disturb the next one

# Neither end notices the connection's end.
frozen() {
    proxy freeze:9000 pass
    record "$proxy" -F 4000 --duration 3 --timeout 1 -o "$D/frozen.data" >"$D/frozen.log" 2>&1 ||
        { cat "$D/frozen.log"; return 1; }
    kill "$proxy_pid"
    grep 'has been silent' "$D/frozen.log" && grep 'connected again' "$D/frozen.log" &&
        balanced "$D/frozen.log"
}
check "a connection that freezes is left, and its controller's place taken" frozen
no_hosts

# All bytes of one host, for later.
proxy "tap:$D/said"
record "$proxy" -F 1000 --duration 0.1 -o "$D/said.data" >"$D/said.log" 2>&1
kill "$proxy_pid"
counter() { # NAME: of the target's
    say --watch -c status | sed -n "s/.*$1 \([0-9]*\).*/\1/p"
}
RUN="start $D/meanwhile.log" record "$port" -F 4000 --duration 2 -o "$D/meanwhile.data"
recorder=$pid
wait_for 10 grep -q . "$D/meanwhile.data.partial"
replayed() {
    before=$(counter 'wrong keys')
    "$tool" send "$port" "$D/said" 10 >"$D/replayed" || { echo "not closed"; return 1; }
    after=$(counter 'wrong keys')
    echo "wrong keys: $before, then $after"
    [ "$after" -eq $((before + 1)) ]
}
check "a handshake that is replayed is refused, counted, and the connection closed" replayed
garbage() {
    before=$(counter refused)
    head -c 4000 /dev/zero | tr '\0' U | head -c 3000 >"$D/garbage"
    printf '\0\1\2\3\0' >>"$D/garbage"
    "$tool" send "$port" "$D/garbage" 10 >"$D/garbled" || { echo "not closed"; return 1; }
    after=$(counter refused)
    echo "refused: $before, then $after"
    [ "$after" -gt "$before" ]
}
check "garbage closes its connection and is counted" garbage
wrong() {
    before=$(counter refused)
    key_option="--key-file $D/wrong.key"
    record "$port" -F 1000 --duration 1 -o "$D/wrong.data" >"$D/wrong.log" 2>&1 && return 1
    key_option=
    record "$port" -F 1000 --duration 1 -o "$D/none.data" >"$D/none.log" 2>&1 && return 1
    key_option="--key-file $D/key"
    grep 'wrong key' "$D/wrong.log" && grep 'requires a key' "$D/none.log" || return 1
    after=$(counter refused)
    echo "refused: $before, then $after"
    [ "$after" -eq $((before + 2)) ] && [ ! -e "$D/wrong.data" ] && [ ! -e "$D/none.data" ]
}
check "a wrong key and none are refused and counted" wrong
wait $recorder
meanwhile_status=$?
undisturbed() {
    cat "$D/meanwhile.log"
    [ $meanwhile_status -eq 0 ] && grep ' 0 lost' "$D/meanwhile.log" &&
        ! grep 'link *broke' "$D/meanwhile.log" && balanced "$D/meanwhile.log"
}
check "none of that disturbed the recording that ran at the same time" undisturbed

# A host without a key does not keep out hosts that have one: 20 of 20 get in, each within a timeout that allows for
# a busy machine; tests/unit/test_client_auth.c holds the 2 s of the target's own time.
crowded() { # RATE HOLD FILE: what the crowd does
    no_hosts
    start "$D/crowd.log" "$tool" crowd "$port" "$@"
    crowd=$pid
    wait_for 60 grep many "$D/crowd.log" || { echo "the crowd is not there"; return 1; }
    get_in
}
get_in() {
    for i in $(seq 20); do
        say --watch --timeout 60 -c status >"$D/crowded" 2>&1 || { echo "$i"; cat "$D/crowded"; return 1; }
    done
    cat "$D/crowded"
    record "$port" -F 1000 --duration 0.1 --timeout 60 -o "$D/crowded.data" >"$D/crowded.log" 2>&1 ||
        { cat "$D/crowded.log"; return 1; }
    kill $crowd
    grep ' 0 lost' "$D/crowded.log"
}
syns=250 # a second: 50 in 20 s once kept all hosts out
flooded() {
    no_hosts
    start "$D/crowd.log" "$tool" syns "$D/frames" $syns
    crowd=$pid
    wait_for 60 grep many "$D/crowd.log" || { echo "there is no flood"; return 1; }
    get_in
}
check "20 of 20 get in while nine wrong proofs a second come" crowded 9 9 "$D/said"
check "20 of 20 get in beside eight silent connections that are renewed" crowded 2 8 /dev/null
check "20 of 20 get in beside 1000 connections a second" crowded 1000 200 /dev/null
check "20 of 20 get in beside a flood of SYNs" flooded

# And a recorder whose link breaks in this time comes back. How long that may take is checked above: its patience and the waits are
# the host's time, of which a busy host may need several times as much.
returns() { # COMMAND...: which runs in this time
    no_hosts
    start "$D/crowd.log" "$@"
    crowd=$pid
    proxy down:9000 pass
    RUN="start $D/returns.log" record "$proxy" -F 4000 --timeout 60 -o "$D/returns.data"
    recorder=$pid
    wait_for 300 grep 'connected again' "$D/returns.log" || { cat "$D/returns.log"; return 1; }
    kill $crowd
    wait_for 300 grep 'samples arrive again' "$D/returns.log" || { cat "$D/returns.log"; return 1; }
    kill -INT $recorder
    wait $recorder || { cat "$D/returns.log"; return 1; }
    balanced "$D/returns.log"
}
check "a recorder whose link breaks comes back beside nine wrong proofs a second" \
    returns "$tool" crowd "$port" 9 9 "$D/said"
check "a recorder whose link breaks comes back beside eight silent connections" \
    returns "$tool" crowd "$port" 2 8 /dev/null
check "a recorder whose link breaks comes back beside 1000 connections a second" \
    returns "$tool" crowd "$port" 1000 200 "$D/said"
check "a recorder whose link breaks comes back beside a flood of SYNs" \
    returns "$tool" syns "$D/frames" $syns
