#!/bin/sh
# SPDX-License-Identifier: BSD-2-Clause
# What a scheduling event costs the target, in instructions and bytes, and the line, in bytes. On pocket, whose calls
# have no fast path; that seL4's stay below 60 and 760 instructions, make check-sel4 COST=1 sees to.
set -eu
. bench/lib.sh

guest "$d/sched_cost/sched_cost.img" 'sched_cost: done' 60 "$d/sched.txt"
thousandth() {
    awk "BEGIN { printf \"%.1f\", $(figure "$d/sched.txt" "$1") / 1000 }"
}
bounded sched_instructions_per_event "$(thousandth sched_instructions_per_event)" instructions '<=60' \
    "an event: a notification, or a switch"
per_record=$(thousandth sched_instructions_per_delivery_and_switch)
bounded sched_instructions_per_call_event "$(awk "BEGIN { printf \"%.1f\", $per_record / 2 }")" instructions '<=60' \
    "an event of a call or a reply, which is delivered and switched to in one record of $per_record"
value sched_call_and_reply_instructions "$(thousandth sched_call_and_reply_instructions)" instructions - \
    "a protected call and its reply with events; $(thousandth call_and_reply_instructions) without a session"
bounded sched_ring_bytes_per_event "$(thousandth sched_ring_bytes_per_event)" bytes '<=16' "an event in the core's ring"
bounded queue_instructions_per_switch "$(thousandth queue_instructions_per_switch)" instructions '<=20' \
    "a queue of two words, read at each switch, and $(thousandth queues_instructions_per_switch) per switch for all queues"
value queue_instructions_per_change "$(thousandth queue_instructions_per_change)" instructions - \
    "more for a switch at which a queue has changed: its record"
bounded condition_instructions_per_event "$(thousandth conditions_instructions_per_event)" instructions '<=10' \
    "four conditions of --stop-if that are not met, in the profiler PD, and $(thousandth replay_instructions_per_event) for latencies"
demo=$B/demo
QEMU="$(cat "$demo/qemu-command")" scripts/qemu-record "$d" --sched --duration 2 --system "$demo/demo.system" \
    --elf-path "$demo" -o "$d/sched.data" >"$d/sched.log" 2>&1 || {
    cat "$d/sched.log" >&2
    exit 1
}
bounded sched_wire_bytes_per_event "$(sed -n 's/^  line .* \([0-9.]*\) an event;.*/\1/p' "$d/sched.log")" bytes/event '<=4' \
    "on the line, the demo"
