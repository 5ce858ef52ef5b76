#!/bin/sh
# SPDX-License-Identifier: BSD-2-Clause
# mkperf agent's memory and processor time by the number of targets, which are simulated (tests/tool/fleet.c) at 100 samples/s each.
# Prints for each number: targets, samples/s, MiB, per cent of a core, samples that the targets sent and that metrics have.
#   make host build/fleet build/net-tool; bench/agent.sh [NUMBER...]     Environment: B, MKPERF, SECONDS_AGENT (30), RATE (100), OPTIONS of the agent
set -eu
B=${B:-build}
MKPERF=${MKPERF:-$B/mkperf}
seconds=${SECONDS_AGENT:-30}
D=$(mktemp -d)
trap 'kill $agent $fleet 2>/dev/null; wait 2>/dev/null; rm -rf "$D"' EXIT
ulimit -n "$(ulimit -Hn)"
ticks() { sed 's/.*) //' "/proc/$agent/stat" | awk '{ print $12 + $13 }'; }
port=20000
for n in "${@:-100}"; do
    rm -rf "$D"/*
    "$B/fleet" $port "$n" "${RATE:-100}" 0x200130 >"$D/sent" &
    fleet=$!
    i=0
    while [ $i -lt "$n" ]; do
        echo "board$i tcp:127.0.0.1:$((port + i))"
        i=$((i + 1))
    done >"$D/targets"
    metrics=$("$B/net-tool" port)
    # shellcheck disable=SC2086 # words
    "$MKPERF" agent --targets "$D/targets" --metrics "$metrics" --to "file:$D/windows" --keep 256 --elf-path "$B/demo" \
        --system "$B/demo/demo.system" ${OPTIONS:-} >"$D/log" 2>&1 &
    agent=$!
    up() { curl -s "http://127.0.0.1:$metrics/metrics" | awk '/^mkperf_up/ && $2 == 1 { n++ } END { print n + 0 }'; }
    tries=0
    until [ "$(up)" = "$n" ]; do
        tries=$((tries + 1))
        [ $tries -lt 200 ] || { tail -n 5 "$D/log"; exit 1; }
        sleep 0.5
    done
    from=$(ticks) began=$(date +%s.%N)
    sleep "$seconds"
    used=$(($(ticks) - from)) ended=$(date +%s.%N)
    memory=$(awk '/^VmHWM/ { print $2 / 1024 }' "/proc/$agent/status")
    kill -INT $agent
    wait $agent || :
    sent=$(tail -n 1 "$D/sent") got=$(awk -F'"samples":' '{ n += $2 } END { print n }' "$D/windows/index.jsonl")
    kill $fleet
    wait $fleet 2>/dev/null || :
    echo "$n $began $ended $used $memory $sent $got" |
        awk -v rate="${RATE:-100}" '{ printf "%d targets  %d samples/s  %.0f MiB  %.1f %% of a core  sent %d, recorded %d\n", $1, $1 * rate, $5, $4 / ($3 - $2), $6, $7 }'
    port=$((port + n))
done
