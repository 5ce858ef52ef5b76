#!/bin/sh
# SPDX-License-Identifier: BSD-2-Clause
# mkperf agent with a target in QEMU (tests/pd/late.c), and Debian's prometheus: its answers are those of mkperf report and mkperf
# latency of the same windows, and the sample rules of share/fleet notice the planted late call.
# Environment: B and MKPERF.
set -u
NAME=agent
. tests/system/lib.sh
. tests/system/lib-agent.sh
t=$B/tests/pd/late
has prometheus "metrics in prometheus" || exit 1

agent_qemu "$t"
start_agent "$D/agent.log" -t "unix:$D/serial.sock" --to "file:$D/windows" --sched --window 1 -F 1000 --elf-path "$t"
start_prometheus

# The time of a scrape of at least three windows, $at, and their number, $n.
three_windows() {
    at=$(prom_value 'timestamp(mkperf_windows_total)' 2>/dev/null) &&
        n=$(prom_value mkperf_windows_total "$at") && [ "${n%.*}" -ge 3 ]
}
check "prometheus scrapes three windows" patiently 60 three_windows
three_windows || { cat "$D/agent.log" "$D/prometheus.log"; exit 1; }
files=$(ls "$D"/windows/*.data | head -n "$n")

# Samples and events of each PD, by both.
shares() {
    for f in $files; do
        "$MKPERF" report -x ' ' -s pd "$f" || return 1
    done 2>"$D/log" | awk '$1 == "row" { n[$6] += $4; w[$6] += $5 } END { for (p in n) print p, n[p], w[p] }' | sort >"$D/shares"
    prom 'sum by (pd) (mkperf_samples_total)' "$at" | jq -r '.data.result[] | .metric.pd + " " + .value[1]' | sort >"$D/s1"
    prom 'sum by (pd) (mkperf_sample_events_total)' "$at" | jq -r '.data.result[] | .metric.pd + " " + .value[1]' | sort >"$D/s2"
    join "$D/s1" "$D/s2" >"$D/metrics"
    cat "$D/shares" "$D/metrics"
    [ "$(wc -l <"$D/shares")" -ge 4 ] && cmp "$D/shares" "$D/metrics"
}
check "samples of each PD as mkperf report" shares

# Each call that ended is counted by both. The end of a window cuts calls: they are void in the next file, and whole in the metrics.
calls() {
    for f in $files; do
        "$MKPERF" latency -x ' ' "$f" || return 1
    done >"$D/latency"
    prom 'mkperf_call_seconds_count' "$at" | jq -r '.data.result[] | .metric.from + " " + .metric.to + " " + .value[1]' >"$D/counts"
    cut=$(prom_value mkperf_calls_cut_total "$at")
    cat "$D/counts"
    awk -v cut="$cut" -v n="$n" '
        FILENAME ~ /counts$/ { live[$1 " " $2] = $3; all += $3; next }
        $1 == "call" { f[$2 " " $3] += $5; files += $5 }
        $1 == "total" { voids += $8 }
        END {
            print all, "calls and", cut, "cut by metrics;", files, "and", voids, "by files"
            for (e in live) if (live[e] < f[e] || live[e] > f[e] + n) { print e, live[e], f[e]; exit 1 }
            exit !(files > 1000 && all + cut == files + voids)
        }' "$D/counts" "$D/latency"
}
check "calls as mkperf latency" calls

# Each bucket of each histogram: as many latencies are below 2^n ns. The metrics have more by those that the end of a window cuts in the
# files, at most one for each window and pair.
buckets() { # buckets METRIC KINDS
    prom "$1_bucket" "$at" | jq -r '.data.result[] | .metric.from + ">" + .metric.to + ">" + .metric.irq + " " + .metric.le + " " + .value[1]' |
        sort -k1,1 -k2,2g >"$D/buckets"
    awk -v kinds="$2" -v n="$n" '
        FILENAME ~ /latency$/ {
            if ($1 != "bucket" || !index(kinds, $2)) next
            pair = $2 == "irq" ? ">" $3 ">" $4 : $3 ">" $4 ">" # an interrupt is from nobody
            below[pair, ++rows[pair]] = $(NF - 1)
            count[pair, rows[pair]] = $NF
            next
        }
        {
            files = 0
            for (i = 1; i <= rows[$1]; i++) if ($2 == "+Inf" || below[$1, i] <= $2 * 1e9 + 1.5) files += count[$1, i]
            more = $3 - files
            if ($1 != last) before = 0
            if (more < before || more > n) { print $0, "in files", files; wrong = 1 }
            last = $1
            before = more
            compared += files > 0
        }
        END { print compared, "buckets"; exit wrong || compared < 40 }' "$D/latency" "$D/buckets"
}
check "each bucket of calls as mkperf latency" buckets mkperf_call_seconds call
check "each bucket of wake-ups as mkperf latency" buckets mkperf_wakeup_seconds 'notification irq'

# How long each PD ran. Files miss the time between the last event of one and the first of the next, and do not know what a PD does
# before its first event.
run_times() {
    prom 'sum by (pd) (mkperf_run_seconds_total)' "$at" | jq -r '.data.result[] | .metric.pd + " " + .value[1]' >"$D/run"
    awk 'FILENAME ~ /run$/ { live[$1] = $2 * 1e9; next }
        $1 == "pd" { f[$2] += $5; unknown[$2] += $4 }
        $1 == "total" { between += last ? $2 - last : 0; last = $3; span += $3 - $2 }
        END {
            for (p in f) {
                d = live[p] - f[p]
                printf "%s %.0f %.0f\n", p, live[p], f[p]
                if (d < -1 || d > between + unknown[p] + 1) exit 1
            }
            print "between files", between, "of", span
            exit !(span > 0 && between < span / 100)
        }' "$D/run" "$D/latency"
}
check "run times as mkperf latency" run_times

agreed() {
    [ "$(prom_value mkperf_shares_contradicted_total "$at")" = 0 ] && [ "$(prom_value mkperf_shares_compared_total "$at")" -gt 0 ] &&
        [ "$(prom_value 'sum(mkperf_lost_samples_total)' "$at")" = 0 ] && [ "$(prom_value mkperf_up "$at")" = 1 ]
}
check "samples and events agree, nothing is lost" agreed

fires() {
    curl -s "http://127.0.0.1:$prom/api/v1/alerts" >"$D/alerts"
    jq -e '.data.alerts[] | select(.labels.alertname == "MkperfLateCall" and .labels.from == "user" and .labels.to == "echo" and .state == "firing")' "$D/alerts"
}
check "the late call fires the alert" patiently 60 fires
quiet() { # the other rules do not fire
    jq -r '.data.alerts[].labels.alertname' "$D/alerts" | sort -u
    [ "$(jq -r '.data.alerts[].labels.alertname' "$D/alerts" | sort -u)" = MkperfLateCall ]
}
check "no other alert" quiet

# Each query of the dashboard has an answer, unless the session lacks what it shows (queues).
dashboard() {
    jq -r '.panels[] | .targets[]?.expr' share/fleet/dashboard.json | sed 's/\$target/.*/g; s/\$__rate_interval/1m/g' >"$D/queries"
    [ "$(wc -l <"$D/queries")" -ge 8 ] || return 1
    while read -r query; do
        prom "$query" >"$D/answer"
        jq -e '.status == "success"' "$D/answer" >/dev/null || { echo "$query"; cat "$D/answer"; return 1; }
        case $query in *mkperf_queue* | *given_up* | *failures*) ;; *) jq -e '.data.result | length > 0' "$D/answer" >/dev/null || { echo "no answer: $query"; return 1; } ;; esac
    done <"$D/queries"
}
check "the queries of the dashboard" dashboard
lint() {
    curl -s "http://127.0.0.1:$metrics/metrics" >"$D/scrape" && promtool check metrics <"$D/scrape"
}
check "promtool accepts the metrics" lint

kill -INT "$agent"
wait "$agent"
status=$?
ends() {
    [ $status = 0 ] && [ -z "$(ls "$D"/windows/*.partial 2>/dev/null)" ] &&
        [ "$(wc -l <"$D/windows/index.jsonl")" = "$(ls "$D"/windows/*.data | wc -l)" ]
}
check "the agent ends in order" ends
