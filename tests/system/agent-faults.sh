#!/bin/sh
# SPDX-License-Identifier: BSD-2-Clause
# What mkperf agent counts when something goes wrong: a disk that refuses files, a clock that is set, a target that is restarted or
# gone, a list of targets that changes, a key that others can read. tests/system/push.sh has servers, space and a killed agent.
# Environment: B and MKPERF.
set -u
NAME=agent-faults
. tests/system/lib.sh
. tests/system/lib-agent.sh
t=$B/demo
metric() { # metric NAME [LABELS]: its value for the target
    curl -s "http://127.0.0.1:$metrics/metrics" | awk -v series="$1${2-{target=\"board\"\}}" '$1 == series { print $2; found = 1 } END { exit !found }'
}
at_least() { # at_least N NAME [LABELS]
    least=$1
    shift
    value=$(metric "$@") && awk -v v="$value" -v n="$least" 'BEGIN { exit !(v >= n) }'
}
echo "board unix:$D/serial.sock" >"$D/targets"
echo 0 >"$D/step"
agent_qemu "$t" real
start_agent "$D/agent.log" --targets "$D/targets" --spool "$D/spool" --to "file:$D/windows" --window 1 -F 1000 --elf-path "$t" --timeout 2
check "the list's target is recorded" patiently 60 at_least 1 mkperf_windows_total

# A target that is restarted: one recording goes on, and the time in between is counted.
kill -9 $qemu
wait $qemu 2>/dev/null
rm -f "$D/serial.sock"
gone() { [ "$(metric mkperf_up)" = 0 ]; }
qemu=$$
check "a target that is gone is not up" patiently 60 gone
agent_qemu "$t" real
restarted() { [ "$(metric mkperf_up)" = 1 ] && at_least 1 mkperf_restarts_total && at_least 0.1 mkperf_unrecorded_seconds_total; }
check "its restart and the time in between are counted" patiently 60 restarted

# The list changes.
echo "absent tcp:127.0.0.1:$("$tool" port)" >>"$D/targets"
joined() { [ "$(metric mkperf_up '{target="absent"}')" = 0 ]; }
check "a target joins" patiently 60 joined
printf '#%1100s\n' board >>"$D/targets"
too_long() { grep -q 'targets:3: a line of more than 1022 characters' "$D/agent.log"; }
check "a line that is too long is an error with its place" patiently 60 too_long
echo "board nowhere:x" >"$D/targets"
still() { grep -q "targets:1: .*nowhere:x" "$D/agent.log" && [ "$(metric mkperf_up '{target="board"}')" = 1 ]; }
check "a wrong line keeps the target that it would change" patiently 60 still
echo "board unix:$D/serial.sock" >"$D/targets"
left() { ! metric mkperf_up '{target="absent"}'; }
check "a target leaves" patiently 60 left
kill -INT "$agent"
wait "$agent"

# A disk that takes no more than 4 KiB of a file (ulimit counts 512 bytes), and a clock that is set back by an hour.
gcc -shared -fPIC -O1 tests/tool/step_clock.c -o "$D/step_clock.so" || not_ok "the clock's tool" "does not compile"
metrics=$("$tool" port)
in_background "$D/agent2.log" sh -c 'ulimit -f 8; exec "$@"' sh env LD_PRELOAD="$D/step_clock.so" STEP_CLOCK="$D/step" \
    "$MKPERF" agent --metrics "127.0.0.1:$metrics" --targets "$D/targets" --spool "$D/spool2" --to "file:$D/windows2" --window 1 -F 1000 \
    --elf-path "$t"
agent=$pid
refused() { at_least 2 mkperf_unwritten_windows_total && at_least 2 mkperf_unwritten_samples_total && at_least 2 mkperf_windows_total; }
check "a full disk costs files, which are counted" patiently 60 refused
all_counted() { # each sample of the metrics is one of a window without a file
    curl -s "http://127.0.0.1:$metrics/metrics" >"$D/scrape"
    awk '/^mkperf_samples_total/ { n += $2 } /^mkperf_unwritten_samples_total/ { u = $2 } END { print n, u; exit !(n > 0 && n == u) }' "$D/scrape" &&
        ! ls "$D"/windows2/*.data 2>/dev/null
}
check "the metrics have all samples" all_counted
echo -3600 >"$D/step"
set_back() { at_least 1 mkperf_agent_clock_steps_total ''; }
before=$(metric mkperf_windows_total)
check "a clock that is set is counted" patiently 60 set_back
check "windows go on" patiently 60 at_least $((before + 2)) mkperf_windows_total
kill -INT "$agent"
wait "$agent"

open_secret() {
    echo "Authorization: Bearer x" >"$D/secret"
    chmod 644 "$D/secret"
    "$MKPERF" agent --targets "$D/targets" --metrics "$("$tool" port)" --header-file "$D/secret" >"$D/log" 2>&1
    [ $? = 2 ] && contains "$D/log" "others can read or write"
}
check "a secret that others can read is refused" open_secret
