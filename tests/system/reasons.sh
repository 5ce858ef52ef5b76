#!/bin/sh
# SPDX-License-Identifier: BSD-2-Clause
# Each reason for which a thread can stop, and each kind of event, is seen where it happens (tests/pd/reasons.c).
# Environment: REASONS_DIR, REASONS_QEMU for another platform; REASONS, those that can be seen there.
set -u
NAME=${NAME:-reasons}
. tests/system/lib.sh
t=${REASONS_DIR:-$B/tests/pd/reasons}
QEMU=${REASONS_QEMU:-$(cat "$t/qemu-command")}
export QEMU
REASONS=${REASONS:-called replied waits-message waits-notification preempted budget faulted suspended idle queued}
KINDS="notify irq fault wake receive reply"

recording() {
    scripts/qemu-record "$D" --sched --duration 2 --system "$t/reasons.system" --elf-path "$t" -o "$D/r.data" \
        >"$D/record.log" 2>&1 && grep -q ', 0 lost,' "$D/record.log" || {
        cat "$D/record.log"
        return 1
    }
    perf_quiet script --ns -i "$D/r.data" -F trace:time,event,trace >"$D/script"
    sed -nE 's/.*(prev_comm=[^ ]*) .*(reason=.*)/\1 \2/p' "$D/script" | sort | uniq -c >"$D/reasons"
    sed -nE 's/.*mkperf:sched: ([a-z]*) (comm=[^ ]*) .*/\1 \2/p' "$D/script" | sort | uniq -c >"$D/kinds"
}

# Each is seen, of the PD that it is planned for.
reasons() {
    cat "$D/reasons"
    for reason in $REASONS; do
        case $reason in
        budget | queued) who='asker|other|helper|crash|faulter' ;;
        faulted) who=faulter ;;
        suspended) who=crash ;;
        idle) who='swapper.*|idle' ;;
        *) who='.*' ;;
        esac
        grep -qE " prev_comm=($who) reason=$reason\$" "$D/reasons" || { echo "not seen: $reason"; return 1; }
    done
}
kinds() {
    cat "$D/kinds"
    for kind in $KINDS; do
        grep -q " $kind comm=" "$D/kinds" || { echo "not seen: $kind"; return 1; }
    done
    grep -q ' irq comm=client$' "$D/kinds" && grep -q ' fault comm=guard$' "$D/kinds"
}
check "a recording, none lost" recording
check "reasons seen: $REASONS" reasons
check "events without a switch seen: $KINDS" kinds
check "mkperf explain names the PD that faults" explains "$D/r.data" faults problem \
    'a PD stopped with a fault [0-9]* times, the last time [a-z]*'
