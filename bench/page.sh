#!/bin/sh
# SPDX-License-Identifier: BSD-2-Clause
# mkperf view of a large recording in a headless Chromium: how long it takes to open, what a picture costs while
# zooming, and the memory of both. The full form has 9,750,000 scheduling events (1.6 GB), the short one 1,000,000.
# Times are seconds of the processor. Left out, with a line that says so, without chromedriver.
set -eu
. bench/lib.sh

if ! command -v chromedriver >/dev/null || ! command -v chromium >/dev/null; then
    echo "left out: the page of mkperf view: no chromium or no chromedriver"
    exit 0
fi
events=1000000
[ -z "$BENCH_FULL" ] || events=9750000
D=$d/page data=$d/page/events.data
rm -rf "$D" && mkdir -p "$D"
. tests/system/screens.sh
. tests/system/lib-view.sh

fail() {
    echo "bench: $1" >&2
    exit 1
}
patiently() { # patiently SCRIPT: waits for a minute
    for patience in 1 2 3 4 5 6 7 8 9 10 11 12; do
        waits "$1" >"$D/log" && return 0
    done
    fail "not in time: $1"
}
heap() { # MiB of the page: objects and arrays that are in use
    wd POST "$session/goog/cdp/execute" '{"cmd":"HeapProfiler.collectGarbage","params":{}}' >"$D/log"
    wd POST "$session/goog/cdp/execute" '{"cmd":"Runtime.getHeapUsage","params":{}}' | tr ',{}' '\n\n\n' |
        awk -F: '/UsedSize|usedSize|backingStorageSize/ { n += $2 } END { printf "%.0f", n / 1048576 }'
}
server() { # server FIELD: of its process
    case $1 in
    cpu) awk -v hz="$(getconf CLK_TCK)" '{ printf "%.2f", ($14 + $15) / hz }' "/proc/$view/stat" ;;
    peak) awk '/^VmHWM/ { printf "%.0f", $2 / 1024 }' "/proc/$view/status" ;;
    esac
}
difference() {
    awk -v a="$1" -v b="$2" -v by="$3" 'BEGIN { printf "%.'"$4"'f", (b - a) * by }'
}

"$B/many-samples" "$data" 200000 $events
start_view "$data" >"$D/log" || fail "mkperf view does not start"
start_browser || fail "chromium does not start"
wd POST "$session/goog/cdp/execute" '{"cmd":"Performance.enable","params":{"timeDomain":"threadTicks"}}' >"$D/log"
read_cpu=$(server cpu)
wd POST "$session/url" '{"url":"about:blank"}' >"$D/log"
before=$(thread_time)
wd POST "$session/url" "{\"url\":\"$url\"}" >"$D/log"
patiently "document.body.dataset.ready"
open_cpu=$(difference "$before" "$(thread_time)" 1 2)
[ "$(js "return profile.info.sched.events")" = $events ] || fail "the page has not all scheduling events"
opened=$(heap)

value page_read_seconds "$read_cpu" s - "mkperf view, $events scheduling events, until its address is there"
value page_open_seconds "$open_cpu" s - "the page's thread, until it is drawn"
value page_ready_seconds "$(difference 0 "$read_cpu" 1 2 | awk -v b="$open_cpu" '{ print $1 + b }')" s '<=10' "both"
for part in 1 10 100 1000 10000; do
    js "tracks.look(profile.span / 8, profile.span / 8 + profile.span / $part); window.first = tracks.frames; tracks.draw();" >"$D/log"
    patiently "tracks.frames > window.first"
    before=$(thread_time)
    js "delete window.zoomed; const zoom = (n) => { tracks.zoom(n % 8 < 4 ? 0.8 : 1.25); requestAnimationFrame(() => { if (n) zoom(n - 1); else window.zoomed = true; }); }; zoom(40);" >"$D/log"
    patiently "window.zoomed"
    value "page_picture_ms_$part" "$(difference "$before" "$(thread_time)" 24.39 1)" ms '<=33' \
        "a picture while zooming, the page's thread, 1/$part of the time"
done
js "change({ tab: 'latency' })" >"$D/log"
patiently "document.querySelectorAll('#latencies tbody tr').length > 4"
used=$(heap)
[ "$opened" -gt "$used" ] && used=$opened
bounded page_heap_mib "$used" MiB '<=400' "the page's objects and arrays, after zooming, with latencies"
bounded page_server_peak_mib "$(server peak)" MiB '<=300' "peak memory of mkperf view"
wd DELETE "$session" >"$D/log"
rm -f "$data"
