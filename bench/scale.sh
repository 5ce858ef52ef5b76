#!/bin/sh
# SPDX-License-Identifier: BSD-2-Clause
# Time and memory by the number of samples: a capture to perf.data in a pipe, and a report with callers and callees
# of what comes out of it, so that no disk is in the figures; and an output that needs samples in order, which
# keeps them in an unnamed file. Seconds are user and system time of each process.
set -eu
. bench/lib.sh
export MKPERF_SNAPSHOTS=no # ask.sh measures answers from snapshots

million=1000000
mib() {
    awk -v k="$1" 'BEGIN { printf "%.1f", k / 1024 }'
}

for m in 1 3 ${BENCH_FULL:+10 30 100}; do
    capture=$d/capture-$((m * million))
    [ -s "$capture" ] || "$d/gen_capture" $((m * million)) >"$capture"
    "$d/measure" "$d/scale-record" "$MKPERF" record -q -t "file:$capture" -o - 2>"$d/scale.log" |
        "$d/measure" "$d/scale-report" "$MKPERF" report --stdio --children -g -i - >"$d/scale.txt" 2>>"$d/scale.log"
    grep -q "^# Samples: $((m * million)) of" "$d/scale.txt" || {
        cat "$d/scale.log" >&2
        exit 1
    }
    read -r cpu wall rss <"$d/scale-record"
    value "scale_record_seconds_${m}m" "$cpu" s - "$m million samples: capture to a pipe's perf.data"
    value "scale_record_rss_mib_${m}m" "$(mib "$rss")" MiB '<=32' "the same"
    read -r cpu wall rss <"$d/scale-report"
    value "scale_report_seconds_${m}m" "$cpu" s - "report --children -g of that"
    value "scale_report_rss_mib_${m}m" "$(mib "$rss")" MiB '<=32' "the same"
    [ "$m" -gt 10 ] || {
        "$MKPERF" record -q -t "file:$capture" -o - 2>"$d/scale.log" |
            "$d/measure" "$d/scale-order" "$MKPERF" convert -q --from perf - --to speedscope -o /dev/null 2>>"$d/scale.log"
        read -r cpu wall rss <"$d/scale-order"
        value "scale_ordered_seconds_${m}m" "$cpu" s - "speedscope of that: 32 bytes a sample in a file"
        value "scale_ordered_rss_mib_${m}m" "$(mib "$rss")" MiB - "the same, with that file's pages"
    }
    [ "$m" -le 3 ] || rm -f "$capture"
done
