# SPDX-License-Identifier: BSD-2-Clause
# Shared by the tests of a target on QEMU's network. Sourced after lib.sh, with $D, $B and MKPERF set.

net=${NET_DIR:-$B/net}
elfs=${NET_ELFS:-$B/demo}
described=$net/net.system
kernel=${KERNEL:-$B/demo/kernel.elf}
tool=$B/net-tool
# Ports of loopback, all different: QEMU's two, and two of a second QEMU or of the test.
read -r port echo port2 echo2 <<EOF
$("$tool" port 4)
EOF
# Commands started with `start`, and QEMU, end with the test. check runs its command in a subshell, so their
# process ids are in a file.
: >"$D/pids"
: >"$D/qemu.pid"
trap 'kill -9 $(cat "$D/pids" "$D/qemu.pid") 2>/dev/null; wait 2>/dev/null' EXIT

# The test's key, and a wrong one.
test_keys() {
    (umask 077 && cat tests/pd/test.key >"$D/key" && tr 0 1 <"$D/key" >"$D/wrong.key")
}

# quiet_target NAME [BOOTS]: the image NAME of tests/pd/quiet.system is in $boots, which boots it, and is described to mkperf. BOOTS: the
# command of another platform, whose image may be another one. The machine sleeps unless hosts want something.
quiet_target() {
    boots=${2:-}
    [ -n "$boots" ] || boots=$(cat "$B/tests/pd/$1/qemu-command") described=$B/tests/pd/quiet/quiet.system elfs=$B/tests/pd/$1
}
key_target() { # that requires the key of test_keys
    quiet_target netkey "${NETKEY_QEMU:-}"
    key_option="--key-file $D/key"
}

# start LOG COMMAND...: in the background, $pid
start() {
    log=$1
    shift
    "$@" >"$log" 2>&1 &
    pid=$!
    echo $pid >>"$D/pids"
}

# wait_for SECONDS COMMAND...: waits until it succeeds. Gives up when QEMU has used that many seconds of a core, or less than 0.2 s
# in 600 tries, or has ended.
wait_for() {
    wait_most=$(($1 * 100)) wait_mark=0 wait_tries=0
    wait_qemu=$(cat "$D/qemu.pid")
    wait_from=$(processor_time "$wait_qemu")
    shift
    until "$@" >/dev/null 2>&1; do
        wait_used=$(processor_time "$wait_qemu")
        [ -n "$wait_used" ] && [ $((wait_used - wait_from)) -lt $wait_most ] && [ $wait_tries -lt 600 ] || return 1
        wait_tries=$((wait_tries + 1))
        [ "$wait_used" -lt $((wait_mark + 20)) ] || wait_tries=0 wait_mark=$wait_used
        sleep 0.1
    done
}

say() { # ARGUMENTS of console
    "$MKPERF" console -t "tcp:127.0.0.1:$port" $key_option "$@"
}

answers() {
    wait_for 60 say --timeout 1 --watch -c status
}

# boot COMMAND [HOSTFWD]: QEMU with two network devices, whose servers are at $port and $echo on loopback; its
# console goes to $D/console, and its monitor is at $D/monitor. With frames=yes before it, the first network
# takes Ethernet frames as well, in datagrams to $D/frames. Its own frames go to a path where nobody
# is: a frame that comes back resets its connection, because QEMU's network takes it for the other end's.
boot() {
    command=$1
    ulimit -n "$(ulimit -Hn)" # QEMU's user network keeps a descriptor for a minute after a connection's end
    rm -f "$D/monitor"
    : >"$D/console"
    user="user,hostfwd=tcp:127.0.0.1:$port-:1236${2:-}" # words of a command may be in it
    set -- -netdev "$user,id=n0"
    if [ -n "${frames:-}" ]; then
        set -- -netdev "$user,id=users" \
            -netdev "dgram,id=frames,local.type=unix,local.path=$D/frames,remote.type=unix,remote.path=$D/no-frames" \
            -netdev hubport,id=hub0,hubid=0,netdev=users -netdev hubport,id=hub1,hubid=0,netdev=frames \
            -netdev hubport,id=n0,hubid=0
    fi
    start "$D/qemu.log" $command -serial "file:$D/console" -monitor "unix:$D/monitor,server=on,wait=off" \
        "$@" -device virtio-net-device,netdev=n0,bus=virtio-mmio-bus.0 \
        -netdev "user,id=n1,hostfwd=tcp:127.0.0.1:$echo-:7,hostfwd=udp:127.0.0.1:$echo-:7" \
        -device virtio-net-device,netdev=n1,bus=virtio-mmio-bus.8
    qemu=$pid
    echo $qemu >"$D/qemu.pid"
    PACE=$qemu # net-tool's
    export PACE
    : >"$D/pids"
}

# Ends what the last check left running.
no_hosts() {
    kill -9 $(cat "$D/pids") 2>/dev/null
    : >"$D/pids"
}

stop_qemu() {
    kill $qemu 2>/dev/null
    wait $qemu 2>/dev/null
}

# proxy PLAN...: between hosts and the target, at $proxy on loopback; its output is in $D/proxy.log
proxy() {
    proxy=$("$tool" port)
    start "$D/proxy.log" "$tool" proxy "$proxy" "$port" "$@"
    proxy_pid=$pid
}

# record PORT ARGUMENTS...; with RUN="start LOG" before it in the background. EVENTS: not only cycles. Not compressed: tests see in the file's
# size, and in its text, how much was recorded.
record() {
    at=$1
    shift
    ${RUN:-} "$MKPERF" record -t "tcp:127.0.0.1:$at" -e "${EVENTS:-cycles}" --no-compress --system "$described" \
        --elf-path "$elfs" --kernel "$kernel" $key_option "$@"
}

# balanced LOG: every sample of that recording's session arrived or is a counted loss, and the target's
# counts agree: captured = received + lost. Call it before another session begins.
balanced() {
    if grep -q 'the counts do not match' "$1"; then
        cat "$1"
        return 1
    fi
    received=$(sed -n 's/^mkperf: .*: \([0-9]*\) samples in .*/\1/p' "$1")
    lost=$(sed -n 's/^mkperf: .* \([0-9]*\) lost, .*/\1/p' "$1")
    captured=$(say --watch -c status | sed -n 's/^captured \([0-9]*\),.*/\1/p')
    echo "captured $captured, received $received, lost $lost"
    [ -n "$captured" ] && [ "$captured" -gt 0 ] && [ "$captured" -eq $((received + lost)) ]
}
