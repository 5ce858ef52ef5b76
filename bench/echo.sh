#!/bin/sh
# SPDX-License-Identifier: BSD-2-Clause
# What a profile costs the demo's echo server: instructions for each echoed KiB, and latencies, without
# a profile and with one at 1, 4 and 10 kHz that is sent away over TCP. Everything in the machine is
# counted, kernel and profiler included, and the processor is never idle. The echoes go over a wire
# within the machine (bench/pd/echo.system), so that they are the same each time; where the profiler's
# wake-ups fall in them, and how many packets the host acknowledges the profile with, is not. So what 1 kHz
# costs is measured ECHO_RUNS times, and the standard deviation of one run goes with the mean. More
# than 2 % there is a failure. Most of it is not the samples: during a session pocket looks at each entry into the kernel
# whether a counter has overflowed (docs/accuracy.md), and an echo has many entries. One instruction is one nanosecond.
#
# A session's first seconds cost more, since its call chains are new. So a run at 1 kHz lasts 27 s, in the short form 9 s.
#
# Then the same with the host's load over QEMU's user network, in this machine's time. The short form has one
# run of 9 s at 1 kHz, one of 1 s at 10 kHz, and none at 4 kHz and over the user network.
set -eu
. bench/lib.sh
seconds=${ECHO_SECONDS:-${BENCH_FULL:+3}} # of each recording, the target's; nine times as many at 1 kHz
seconds=${seconds:-1}
long=$((9 * seconds))
runs=${ECHO_RUNS:-${BENCH_FULL:+3}}
runs=${runs:-1}
rates="4000 10000"
[ -n "$BENCH_FULL" ] || rates=10000

# echoes RATE RUN SECONDS: a line `RATE RUN udp|tcp ...` for each batch that bench/pd/load.c reported
echoes() {
    rate=$1
    record="record -q -t \$T --timeout 60 -e cycles -g --duration $3 --system bench/pd/echo.system"
    record="$record --elf-path $d/echo:$B/demo -o $d/echo.data"
    if [ "$rate" = 0 ]; then
        command="n=0; until [ \$(grep -c '^batch' $d/echo.run/console) -ge 11 ] || [ \$n -ge 600 ]; do
            n=\$((n + 1)); sleep 0.1; done"
    else
        command="\$MKPERF $record -F $rate"
    fi
    ONE_DEVICE=1 QEMU="$(cat "$d/echo/qemu-command")" scripts/qemu-net "$d/echo.run" "$command" \
        >"$d/echo.log" 2>&1 || {
        cat "$d/echo.log" >&2
        exit 1
    }
    sed -n "s/^batch /$rate $2 /p" "$d/echo.run/console" >>"$d/echo.rates"
}
: >"$d/echo.rates"
echoes 0 1 0
for run in $(seq "$runs"); do
    echoes 1000 "$run" "$long"
done
for rate in $rates; do
    echoes "$rate" 1 "$seconds"
done

# RATE PROTOCOL COLUMN [RUN]: the mean over the batches that a session sampled all the time, or of none their
# median: now and then one has the end of a connection in it. Never the first of a run: the first over TCP takes
# 0.24 % less than all others, with a profile and without, which is more than a profile at 1 kHz costs.
mean() {
    awk -v rate="$1" -v protocol="$2" -v column="$3" -v run="${4:-all}" '
        $1 == rate && (run == "all" || run == $2) && $3 == protocol && seen[$2]++ && $4 == (rate != 0) {
            print $column
        }' "$d/echo.rates" | sort -n | awk -v rate="$1" '
        { sum += $1; value[NR] = $1 }
        END { if (NR == 0) exit 1; printf "%.2f\n", rate == 0 ? value[int((NR + 1) / 2)] : sum / NR }' || {
        echo "bench: no batch of $2 at $1 Hz" >&2
        cat "$d/echo.rates" >&2
        exit 1
    }
}
# RATE: instructions for each sample, of the batches of both protocols. The host's acknowledgements arrive during one kind of load or the other. A batch of n instructions
# (n ns) contains n / 1e9 * RATE samples.
per_sample() {
    awk -v rate="$1" \
        -v udp="$(mean 0 udp 5)" -v tcp="$(mean 0 tcp 5)" '
        $1 == rate && $4 == 1 {
            if (seen[$2, $3]++) {
                more += $5 - ($3 == "udp" ? udp : tcp)
                all += $5
            }
        }
        END { if (all == 0) exit 1; printf "%.0f\n", more / (all / 1e9 * rate) }' "$d/echo.rates" || {
        echo "bench: no samples at $1 Hz" >&2
        exit 1
    }
}
# RATE PROTOCOL: the greatest latency of all batches
worst() {
    awk -v rate="$1" -v protocol="$2" '
        $1 == rate && $3 == protocol && $4 == (rate != 0) && $10 > most { most = $10 }
        END { print most }' "$d/echo.rates"
}
# OFF PROTOCOL: percent that each run at 1 kHz costs more; their mean and standard deviation
spread() {
    for run in $(seq "$runs"); do
        echo "$1 $(mean 1000 "$2" 5 "$run")"
    done | awk '{ more = ($2 - $1) / $1 * 100; sum += more; squares += more * more }
        END {
            mean = sum / NR
            variance = NR > 1 ? (squares - NR * mean * mean) / (NR - 1) : 0
            printf "%.4f %.4f\n", mean, sqrt(variance > 0 ? variance : 0)
        }'
}

missed=
for protocol in udp tcp; do
    off=$(mean 0 $protocol 5)
    blocks=$(mean 0 $protocol 6)
    value echo_${protocol}_instructions_per_kib "$(awk "BEGIN { printf \"%.0f\", $off / $blocks }")" \
        instructions - "a KiB over $protocol, sent, echoed and received, without a profile"
    value echo_${protocol}_kib_per_second "$(awk "BEGIN { printf \"%.0f\", 1e9 / ($off / $blocks) }")" \
        KiB/s - "each way, one block at a time"
    read -r more deviation <<END
$(spread "$off" $protocol)
END
    value echo_${protocol}_percent_more_1000hz "$more" % '<=2' \
        "instructions for each KiB, sampled at 1000 Hz, over TCP; +- $deviation in one of $runs runs"
    awk "BEGIN { exit !($more > 2) }" && missed="$missed
bench: $protocol echoes cost $more % more instructions with a profile at 1 kHz: more than 2 %"
    for rate in $rates; do
        on=$(mean $rate $protocol 5)
        value echo_${protocol}_percent_more_${rate}hz \
            "$(awk "BEGIN { printf \"%.3f\", ($on - $off) / $off * 100 }")" % - \
            "instructions for each KiB, sampled at $rate Hz, over TCP"
    done
    for rate in 0 1000 10000; do
        value echo_${protocol}_latency_p99_${rate}hz "$(mean $rate $protocol 8)" ns - \
            "median $(mean $rate $protocol 7), 99.9 % $(mean $rate $protocol 9), worst $(mean $rate $protocol 10) of $(mean $rate $protocol 6), $(worst $rate $protocol) of all"
    done
done

way="hook, profiler PD, client PD, TCP and driver, up to 16 frames"
# What a session costs at each entry into the kernel does not depend on its rate. So a sample's cost is the difference between
# two rates, and the rest of what 1 kHz costs is the session's.
at_1khz=$(per_sample 1000)
further=$(awk "BEGIN { printf \"%.0f\", ($(per_sample 10000) * 10000 - $at_1khz * 1000) / 9000 }")
value echo_instructions_per_sample "$further" instructions '<=650' "$way; each further one between 1 and 10 kHz"
value echo_session_percent "$(awk "BEGIN { printf \"%.2f\", ($at_1khz - $further) * 1000 / 1e9 * 100 }")" % - \
    "of all instructions: the session's checks at entries into the kernel, at any rate"
[ "$further" -le 650 ] || missed="$missed
bench: a sample over TCP takes $further instructions: more than 650"

# loads: what scripts/echo-load printed, as values
loads() { # RATE
    for protocol in udp tcp; do
        sed -n "/^$protocol/,/latency/p" "$d/load.log" >"$d/load.$protocol"
        value host_echo_${protocol}_kib_per_second_$1hz \
            "$(sed -n 's/.* \([0-9.]*\) KiB.s each way.*/\1/p' "$d/load.$protocol")" KiB/s - \
            "user network, 4 blocks under way$(sed -n 's/.*latency in ms/, ms/p' "$d/load.$protocol")"
    done
}
for rate in ${BENCH_FULL:+0 1000 10000}; do
    command="sleep 3"
    [ $rate = 0 ] || command="$MKPERF record -q -t \$T -F $rate -e cycles -g --duration 2 --system $B/net/net.system --elf-path $B/demo -o $d/echo.data"
    LOAD_RATE=0 QEMU="$(cat "$B/net/qemu-command")" scripts/qemu-net "$d/echo.run" \
        "scripts/echo-load $d $command" >"$d/load.log" 2>&1 || {
        cat "$d/load.log" >&2
        exit 1
    }
    loads $rate
done
if [ -n "$missed" ]; then
    echo "${missed#?}" >&2
    exit 1
fi
