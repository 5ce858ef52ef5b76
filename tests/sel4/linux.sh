#!/bin/sh
# SPDX-License-Identifier: BSD-2-Clause
# A Linux guest below libvmm on a kernel with the hook: it boots, with and without a session, and its time is that of its kernel
# and programs. Environment: LINUX_DIR, LINUX_QEMU, KERNEL.
set -u
NAME=${NAME:-sel4-linux}
. tests/system/lib.sh
. tests/system/lib-net.sh
key_option=
files="--system $LINUX_DIR/linux.system --elf-path $LINUX_DIR --kernel $KERNEL"

up() { # the guest's kernel says on its console that it runs its first program
    wait_for 600 grep 'Run /init as init process' "$D/console" || { tail -n 5 "$D/console"; return 1; }
}
# Its kernel finds a PMU, and programs it. To a guest that is a PMU without counters, or without events.
alone() {
    boot "$LINUX_QEMU" "" && up && grep -h 'perfevents\|PMU' "$D/console"
    kill "$qemu"
    wait "$qemu" 2>/dev/null
    grep -q 'Run /init' "$D/console"
}
recorded() {
    boot "$LINUX_QEMU" "" && answers || return 1
    "$MKPERF" record -t "tcp:127.0.0.1:$port" -e cycles -F 500 --duration 4000 $files -o "$D/boot.data" >"$D/boot.log" 2>&1 &
    recorder=$!
    up || return 1
    kill -INT "$recorder"
    wait "$recorder" && "$MKPERF" record -t "tcp:127.0.0.1:$port" -e cycles -F 500 --sched --duration 2 $files -o "$D/runs.data" >"$D/runs.log" 2>&1 ||
        { cat "$D/boot.log" "$D/runs.log"; return 1; }
}
# No guest's address is under a function of seL4, and no time of seL4's in the guest.
modes() {
    for i in boot runs; do
        "$MKPERF" convert -q "$D/$i.data" -o "$D/$i.jsonl" && jq -r 'select(.type == "sample") | [.pd, .mode] | @tsv' "$D/$i.jsonl" |
            sort | uniq -c | awk -v of=$i '{ print of, $0 } $2 == "VM" { n[$(NF - 1) " " $NF] += $1 } $2 != "VM" && /guest/ { wrong += $1 }
                END { exit wrong != 0 || n[of == "boot" ? "guest kernel" : "guest user"] < 50 }' || return 1
    done
}
check "the guest boots without a session" alone
check "it boots while it is recorded" recorded
check "its samples have the mode of its kernel and programs" modes
# Its timer and its interrupt controller: each exit has a reason, and no part of it is unknown.
exits() {
    "$MKPERF" latency --json "$D/runs.data" | jq -r 'select(.type == "exit") | [.exit, .count] | @tsv' >"$D/rows" && cat "$D/rows" &&
        awk -F '\t' '{ n[$1] = $2 } END { exit n["virtual timer"] < 100 || n["interrupt maintenance"] < 100 }' "$D/rows" &&
        ! grep -q 'faulted' "$D/runs.log"
}
check "its exits have reasons" exits
