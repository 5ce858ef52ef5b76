#!/bin/sh
# SPDX-License-Identifier: BSD-2-Clause
# How fast the host reads captures, and its memory. The short form has one length.
set -eu
. bench/lib.sh

samples=1000000
for n in $samples ${BENCH_FULL:+$((3 * samples))}; do
    [ -s "$d/capture-$n" ] || "$d/gen_capture" "$n" >"$d/capture-$n"
    best "host-$n" "$MKPERF" record -q -t "file:$d/capture-$n" -o "$d/capture.data"
done
best host-plain "$MKPERF" record -q --no-compress -t "file:$d/capture-$samples" -o "$d/capture.data"
read -r cpu wall rss <"$d/host-plain"
value host_plain_samples_per_second "$(awk "BEGIN { printf \"%.0f\", $samples / $cpu }")" samples/s \
    '>=5000000' "capture to perf.data with --no-compress, per second of one core"
read -r cpu wall rss <"$d/host-$samples"
value host_samples_per_second "$(awk "BEGIN { printf \"%.0f\", $samples / $cpu }")" samples/s - \
    "capture to perf.data, per second of one core"
value host_peak_rss_mib "$(awk "BEGIN { printf \"%.1f\", $rss / 1024 }")" MiB '<=32' \
    "1,000,000 samples"
[ -n "$BENCH_FULL" ] || exit 0
read -r cpu3 wall3 rss3 <"$d/host-$((3 * samples))"
value host_peak_rss_mib_3m "$(awk "BEGIN { printf \"%.1f\", $rss3 / 1024 }")" MiB '<=32' \
    "3,000,000 samples"
