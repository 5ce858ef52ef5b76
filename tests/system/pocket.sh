#!/bin/sh
# SPDX-License-Identifier: BSD-2-Clause
# pocket's tests of itself: boots platform/pocket/selftest in QEMU and reports each check.
#   B: build directory, with the images (make target)
#   QEMU: the command that boots an image; the default is platform/pocket/build.mk's
set -u
B=${B:-build}
QEMU=${QEMU:-$(make -s --no-print-directory -f - <<MAKE
include platform/pocket/qemu.mk
all: ; @echo '\$(QEMU)'
MAKE
)}
dir=$B/pocket/selftest
out=$(mktemp -d)
qemu=
trap 'test -z "$qemu" || kill "$qemu" 2>/dev/null; rm -rf "$out"' EXIT

# Boots image $1 until it prints `done`, at most 10 s; leaves its output in $out/$1.
boot() {
    : >"$out/$1"
    $QEMU "$dir/$1.img" -serial "file:$out/$1" </dev/null >"$out/qemu" 2>&1 &
    qemu=$!
    tries=0
    while ! grep -q '^done' "$out/$1" && [ $tries -lt 200 ] && kill -0 $qemu 2>/dev/null; do
        sleep 0.05
        tries=$((tries + 1))
    done
    kill $qemu 2>/dev/null
    wait $qemu 2>/dev/null
    qemu=
    tr -d '\r' <"$out/$1" | sed -n -e 's/^ok \(.*\)/ok pocket: \1/p' \
        -e 's/^not ok \(.*\)/not ok pocket: \1: see platform\/pocket\/selftest/p'
    grep -q '^done' "$out/$1" ||
        echo "not ok pocket: $1: it did not come to its end: $(tail -n 1 "$out/$1") $(head -n 1 "$out/qemu")"
}

# check NAME CONDITION-COMMAND...
check() {
    name=$1
    shift
    if "$@"; then echo "ok pocket: $name"; else echo "not ok pocket: $name: $*"; fi
}

figure() {
    sed -n "s/^figure $1 //p" "$out/sampling"
}

boot selftest
check fault-report grep -q "PD 'rogue' stopped: read of unmapped address, pc 0x[0-9a-f]*, address 0x0," \
    "$out/selftest"

boot sampling
for cost in $(figure instructions-per-sample); do
    check "a sample with 8 frames costs $cost instructions, at most 500" test "$cost" -le 500
    # Several cores, or anything else, cost a kernel with one core not one more (Debian 12's compiler).
    kept=$(jq .hook_instructions_per_sample bench/figures.json)
    check "and on one core at most the $kept of bench/figures.json" test "$cost" -le "$kept"
done
# The kernel's pcs are functions for entries from a PD that only calls.
for pc in $(figure kernel-pc); do
    symbol=$(aarch64-linux-gnu-nm "$B/demo/kernel.elf" |
        awk -v pc="$(printf '%08x' "$pc")" 'substr($1, 9) == pc && $2 == "T" { print $3 }')
    case $symbol in
    sys_ppcall | sys_recv | sys_reply_recv | mkperf_capture) echo "ok pocket: kernel entry $symbol" ;;
    *) echo "not ok pocket: kernel entry $symbol ($pc): not one that a call makes" ;;
    esac
done
