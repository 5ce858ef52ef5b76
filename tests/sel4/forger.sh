#!/bin/sh
# SPDX-License-Identifier: BSD-2-Clause
# Hostile PDs on real seL4 (tests/pd/forger.system.in): 20,000 forged requests of a profiler PD, after
# which an honest session works, a guest that tries every register of the PMU during that session, and a
# PD without authority that does.
# Environment: B, FORGER_QEMU; FORGER_GUEST, not empty if the kernel has virtual machines.
set -u
NAME=sel4-forger
. tests/system/lib.sh

# Boots, and ends when the last PD has spoken, or QEMU is given up.
run() {
    $FORGER_QEMU -serial "file:$D/text" </dev/null >"$D/qemu.log" 2>&1 &
    await "$D/text" '^intruder: .*through' $!
}
requests() {
    grep '^forger: 20000 requests' "$D/text" | tee /dev/stderr |
        grep -q 'done [1-9][0-9]*, refused .* unanswered 0, changed 0'
}
honest() {
    grep '^forger: honest' "$D/text" | tee /dev/stderr |
        grep -Eq 'status 0, samples [1-9][0-9]{2,}, disturbed 0, guests [0-9]*, written 1'
}
intruder() {
    grep '^intruder:' "$D/text" | tee /dev/stderr | tr -d '\r' |
        awk '$2 > 50 && $2 == $4 && $6 == 0 { good = 1 } END { exit !good }'
}
guest() {
    grep '^guest:' "$D/text" | tee /dev/stderr | tr -d '\r' |
        awk '$2 > 50 && $2 == $4 && $7 == 0 && $NF == 5 { print $2; good = 1 } END { exit !good }'
}
counted() { grep '^forger: honest' "$D/text" | grep -q "guests $(guest 2>/dev/null)\>"; }
check "all PDs end" run
check "forged requests are answered, and change no other PD's memory" requests
check "an honest session works afterwards${FORGER_GUEST:+, with a guest that tries to disturb it}" honest
if [ -n "$FORGER_GUEST" ]; then
    check "every access to the PMU from a guest reads 0 and changes nothing" guest
    check "the kernel counts all of them" counted
fi
check "every access to the PMU from user mode faults" intruder
