#!/bin/sh
# SPDX-License-Identifier: BSD-2-Clause
# Questions about one large recording: the first one, which reads it, and the next one, which a snapshot answers. The answers of both
# and of a reading without snapshots are equal. The full form has 10,000,000 samples and 10,000,000 scheduling events, the short one
# 1,000,000 of each. Times are seconds of the processor.
set -eu
. bench/lib.sh

n=1000000
[ -z "$BENCH_FULL" ] || n=10000000
D=$d/ask
rm -rf "$D" && mkdir -p "$D"
XDG_CACHE_HOME=$PWD/$D/cache
export XDG_CACHE_HOME

# ask KEY FILE COMMAND...
ask() {
    key=$1 file=$2
    shift 2
    export MKPERF_SNAPSHOTS=no
    "$MKPERF" "$@" "$file" >"$D/read" 2>&1
    export MKPERF_SNAPSHOTS=always
    "$d/measure" "$D/first" "$MKPERF" "$@" "$file" >"$D/answer" 2>&1
    cmp "$D/read" "$D/answer"
    best ask-again "$MKPERF" "$@" "$file"
    cat "$d/ask-again.out" "$d/ask-again.log" >"$D/answer"
    cmp "$D/read" "$D/answer"
    read -r cpu wall rss <"$D/first"
    value "ask_${key}_first_seconds" "$cpu" s - "$*: the first time"
    read -r cpu wall rss <"$d/ask-again"
    bounded "ask_${key}_seconds" "$cpu" s '<=0.2' "again, $n $(basename "$file" .data)"
}

"$B/many-samples" "$D/samples.data" $n
ask report "$D/samples.data" report --stdio
ask report_sorted "$D/samples.data" report --stdio -s core,pd
ask report_graph "$D/samples.data" report --stdio -g
ask explain "$D/samples.data" explain
ask folded "$D/samples.data" convert -q --to folded -o -
rm -f "$D/samples.data"
"$B/many-samples" "$D/events.data" 200000 $n
ask events_report "$D/events.data" report --stdio
ask events_explain "$D/events.data" explain
ask events_slow_call "$D/events.data" explain --why slow-call
ask latency "$D/events.data" latency
ask critical_path "$D/events.data" latency --critical-path
ask budget "$D/events.data" budget
ask flow "$D/events.data" flow --advise
rm -rf "$D"
