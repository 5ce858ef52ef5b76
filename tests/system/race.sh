#!/bin/sh
# SPDX-License-Identifier: BSD-2-Clause
# A thread is deleted, its stack or the ring is unmapped, the session is stopped, while another core takes samples
# (tests/pd/race.c): no sample has what was not mapped, records are whole, and the kernel continues. Once with QEMU's
# cores in turns, which is fast, and once as threads of the host, at the same time.
#
# RACE_ROUNDS: how many changes (20,000). A million take 80 s of processor time:
#   RACE_ROUNDS=1000000 B=build tests/system/race.sh
set -u
NAME=race
. tests/system/lib.sh
t=$B/tests/pd/race
turns=$(cat "$t/qemu-command")
threads=$(echo "$turns" | sed 's/-icount [^ ]*/-accel tcg,thread=multi/')

qemu=
trap 'test -z "$qemu" || kill "$qemu" 2>/dev/null' EXIT

# rounds HOW-MANY COMMAND: the line after so many; or the first that says that something is wrong.
rounds() {
    : >"$D/out"
    $2 -serial "file:$D/out" </dev/null >"$D/qemu" 2>&1 &
    qemu=$!
    : >"$D/line"
    while [ ! -s "$D/line" ] && kill -0 "$qemu" 2>/dev/null; do
        sleep 0.2
        awk -v n="$1" '/exception/ || /bad [0-9]*$/ && ($2 >= n || $NF != 0) { print; exit }' "$D/out" >"$D/line"
    done
    kill "$qemu" 2>/dev/null
    wait "$qemu" 2>/dev/null
    qemu=
    cat "$D/line" "$D/qemu"
    awk -v n="$1" '
        { for (i = 1; i < NF; i += 2) v[$i] = $(i + 1) }
        END { exit !(v["rounds"] >= n && v["bad"] == "0" && v["sessions"] > n / 20 && v["samples"] > n / 10 && v["cut"] > n / 100) }' \
        "$D/line"
}

n=${RACE_ROUNDS:-20000}
check "$n changes on one core while another is sampled" rounds "$n" "$turns"
[ -z "${RACE_ROUNDS:-}" ] || cat "$D/line"
check "100 changes with cores that run at the same time" rounds 100 "$threads"
