#!/bin/sh
# SPDX-License-Identifier: BSD-2-Clause
# The highest rates of samples without loss: over TCP (QEMU's user network, a busy system: that of
# echo.sh), and over serial lines of 115200 and 3,000,000 baud (the demo; bench/pd/line.h paces the
# line by the target's clock). Seconds are the target's. The short form does not try rates on the serial
# lines; it computes them from the bytes a sample.
set -eu
. bench/lib.sh
r=$d/rates
mkdir -p "$r"

# tcp PERIOD: whether nothing is lost with a sample each PERIOD cycles; $r/tcp has what came
tcp() {
    "$MKPERF" record -t "$T" -e cycles -c "$1" -g --duration 0.3 --system bench/pd/echo.system \
        --elf-path "$d/echo:$B/demo" -o "$r/data" >"$r/tcp" 2>&1 || {
        cat "$r/tcp" >&2
        exit 1
    }
    grep -q ', 0 lost,' "$r/tcp"
}
# Inside qemu-net: the shortest period without loss, to 5 per cent; in the short form, to the next of the list.
if [ "${1:-}" = search ]; then
    good=100000
    bad=0
    for period in 1000 1500 2000 3000 4000 5000 7000 10000 20000 50000; do
        if tcp $period; then
            good=$period
            cp "$r/tcp" "$r/best"
            break
        fi
        bad=$period
    done
    while [ -n "$BENCH_FULL" ] && [ $bad != 0 ] && [ $((good * 100)) -gt $((bad * 105)) ]; do
        period=$(((good + bad) / 2))
        if tcp $period; then
            good=$period
            cp "$r/tcp" "$r/best"
        else
            bad=$period
        fi
    done
    echo "$good $bad" >"$r/period"
    exit 0
fi

# rate FILE: samples a second of a recording's summary
rate() {
    sed -n 's/^mkperf: .*: \([0-9]*\) samples in \([0-9.]*\) s.*/\1 \2/p' "$1" |
        awk '{ printf "%.0f\n", $1 / $2 }'
}
# line FILE: bytes that came, and bytes a sample
line() {
    sed -n 's/^  line *\([0-9]*\) bytes, \([0-9.]*\) a sample.*/\1 \2/p' "$1"
}

ONE_DEVICE=1 QEMU="$(cat "$d/echo/qemu-command")" scripts/qemu-net "$r" "bench/rates.sh search" \
    >"$r/log" 2>&1 || {
    cat "$r/log" >&2
    exit 1
}
read -r good bad <"$r/period"
set -- $(line "$r/best")
limit="with $bad samples are lost"
[ "$bad" != 0 ] || limit="no shorter one is allowed"
value tcp_samples_per_second "$(rate "$r/best")" samples/s - \
    "without loss: period $good cycles, $2 bytes a sample; $limit"

# serial BAUD HZ SECONDS: records; the summary in $r/serial
serial() {
    QEMU="$(cat "$d/line$1/qemu-command")" scripts/qemu-record "$r" -e cycles -F "$2" -g \
        --duration "$3" --system "$d/line$1/line$1.system" --elf-path "$B/demo" -o "$r/data" \
        >"$r/serial" 2>&1 || {
        cat "$r/serial" >&2
        exit 1
    }
}
# Nothing is lost, and no backlog grows: what came in the session is no more than the line carries.
carried() { # BAUD
    grep -q ', 0 lost,' "$r/serial" || return 1
    set -- "$1" $(line "$r/serial") \
        $(sed -n 's/^mkperf: .* samples in \([0-9.]*\) s.*/\1/p' "$r/serial")
    awk "BEGIN { exit $2 > $1 / 10 * $4 }"
}
while read -r baud start seconds; do
    # How full batches are depends a little on when this machine reads: the better of two.
    serial "$baud" "$start" "$seconds"
    first=$(bytes_per_sample "$r/serial")
    serial "$baud" "$start" "$seconds"
    set -- $(line "$r/serial")
    computed=$(awk "BEGIN { printf \"%.0f\", $baud / 10 / $2 }")
    value serial_${baud}_samples_per_second_computed "$computed" samples/s - \
        "$((baud / 10)) bytes a second, $2 a sample at $start Hz"
    value serial_${baud}_bytes_per_sample "$(printf '%s\n' "$first" "$(bytes_per_sample "$r/serial")" | sort -n | head -n 1)" bytes - "a sample of the demo at $start Hz, up to 16 frames, on a line of $baud baud"
    [ -n "$BENCH_FULL" ] || continue
    for percent in 110 105 100 95 90 85 80; do
        hz=$((computed * percent / 100))
        [ "$hz" -le 100000 ] || hz=100000 # what a session may ask for (MKPERF_MAX_FREQUENCY)
        serial "$baud" $hz "$seconds"
        if carried "$baud"; then
            set -- $(line "$r/serial")
            value serial_${baud}_samples_per_second "$(rate "$r/serial")" samples/s - \
                "on a paced line, in steps of 5 %; $2 bytes a sample"
            break
        fi
    done
done <<END
115200 1200 4
3000000 36000 1
END
