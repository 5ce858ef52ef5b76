#!/bin/sh
# SPDX-License-Identifier: BSD-2-Clause
# Latencies and critical paths in the page of mkperf view, of a server that is late (tests/pd/late.c): the same rows as mkperf
# latency prints, to the nanosecond, on the server's page and in the page as one file; the path on the lanes.
# Environment: B and MKPERF. Leaves pictures in its directory.
set -u
NAME=view-path
B=$(realpath "$B")
. tests/system/lib.sh
MKPERF=$(realpath "$MKPERF")
t=$B/tests/pd/late
QEMU=$(cat "$t/qemu-command")
export QEMU MKPERF
. tests/system/screens.sh
data=$D/perf.data
. tests/system/lib-view.sh

check "recorded" scripts/qemu-record "$D" --sched -e cycles -F 1000 -g --duration 1 --system "$t/late.system" --elf-path "$t" -o "$data"
[ -s "$data" ] || exit 1

open_table() { # above it is the longest call
    tab latency || return 1
    waits "/^longest call: [0-9.]* µs, user → echo$/.test(document.getElementById('longest').textContent)" || return 1
    waits "document.querySelectorAll('#latencies tbody tr').length > 4 && document.querySelector('#latencies button').checkVisibility()"
}
latencies() { # count, mean, quantiles, longest, from -> to, as mkperf latency has them
    open_table || return 1
    "$MKPERF" latency -i "$data" | awk '/->/ && $1 ~ /^[0-9]+$/ && $2 ~ /\./ { last = $NF; from = $(NF - 2); irq = $(NF - 3) == "irq" ? "irq " : ""
        print $1, $2, $3, $4, $5, $6, $7, irq from, "→", last }' | sort >"$D/want"
    cells '#latencies tbody tr[data-path]' | tr -d , | sort >"$D/page"
    equal "$D/page" "$D/want" 4
}
utilisation() { # Ran: report's, of idle as well; over time: as much in the sum over columns
    tab pds || return 1
    "$MKPERF" report -i "$data" -s pd,util --percent-limit 0 | awk '/^ / && $1 ~ /%$/ { for (i = 2; i <= NF; i++) if ($i ~ /%$/) print $i, $(i - 1) }' | sort -k 2 >"$D/want"
    js "const at = [...document.querySelectorAll('#pds th:not([hidden])')].findIndex(th => th.textContent === 'Ran'); return [...document.querySelectorAll('#pds tbody tr')].map(r => r.cells[at].textContent.replace(' ', '') + ' ' + r.dataset.pd + ';').join('')" |
        tr ';' '\n' | sort -k 2 >"$D/page"
    equal "$D/page" "$D/want" 5 || return 1
    js "const s = profile.schedule, n = 120, parts = new Map(), { cores } = profile.info.sched, idle = profile.pds.findIndex(pd => pd.idle); for (const core of cores) { const c = s.columns({ kind: 'core', core }, s.from, s.to, n); for (const [pd, all] of [...c.map(({ list, all }) => [list.pd, all]), [idle, s.rest({ core }, c, s.from, s.to, n).idle]]) parts.set(pd, (parts.get(pd) ?? 0) + all.reduce((a, b) => a + b) / n / cores.length); } return [...parts].map(([pd, part]) => (100 * part).toFixed(1) + ' ' + profile.pdName(pd) + ';').join('')" |
        tr ';' '\n' | sort -k 2 >"$D/page"
    join -j 2 "$D/want" "$D/page" |
        awk '{ n++; d = $2 - $3; if (d < -0.06 || d > 0.06) { print; bad = 1 } } END { exit bad || n < 5 }'
}
open_longest() {
    tab latency || return 1
    press "[...document.querySelectorAll('#latencies button')].find(b => b.textContent === 'user → echo')"
}
longest() { # a row's button: the path of its longest call, in view, and named as the command has it
    open_longest && path_equal --critical-path=user:echo || return 1
    grep -q 'echo is ready, logger runs' "$D/page" || return 1
    command=$(js "return document.querySelector('#path code').textContent")
    [ "$command" = "mkperf latency --critical-path=user:echo" ] || { echo "$command"; return 1; }
    waits "state.viewFrom !== null && state.viewFrom <= path.path.from && state.viewTo >= path.path.to && state.viewTo - state.viewFrom < 2 * (path.path.to - path.path.from)" || return 1
    # a click on its count does the same; on another figure: the path of a call that took so long
    press "document.querySelector('#latencies tr[data-path=\\\"echo:checksum\\\"]').cells[0]" && path_equal --critical-path=echo:checksum || return 1
    press "document.querySelector('#latencies tr[data-path=\\\"user:echo\\\"]').cells[4].firstChild" || return 1
    waits "state.at !== null && Math.abs(path.path.to - path.path.from - 1000 * document.querySelector('#latencies tr[data-path=\\\"user:echo\\\"]').cells[4].textContent) < 0.07 * (path.path.to - path.path.from)"
}
# The path is below the states of the lane where it is: solid where the PD runs, and where it goes to another PD a line
# between the two lanes. Colours of pixels.
on_lanes() {
    open_longest || return 1
    press "[...document.querySelectorAll('#path-steps button')].find(b => b.textContent === 'checksum runs, for echo')" || return 1
    waits "document.querySelector('#path-steps tr.chosen') && state.viewTo - state.viewFrom < 20000" || return 1
    waits "tracks.paint() === undefined && (() => { const t = tracks, s = window.devicePixelRatio || 1, step = path.path.steps[tracks.pds.pathStep]; const is = (time, y, name) => { const d = t.context.getImageData(Math.round(t.xOf(time) * s), Math.round(y * s), 1, 1).data; return d[3] === 255 && '#' + [...d.slice(0, 3)].map(v => v.toString(16).padStart(2, '0')).join('') === t.colour(name).trim(); }; const lane = (name) => t.lanes.find(l => l.name === name); const line = (l) => l.top + l.strip - 0.5; const middle = (step.from + step.to) / 2; const a = line(lane('echo')), b = line(lane('checksum')); return is(middle, b, '--path') && !is(middle, a, '--path') && [step.from, step.to].every(time => is(time, (a + b) / 2, '--path')); })()" || return 1
    picture "$D/step.png"
}
# The time of a worst, as mkperf latency prints it, in the search: the call that was under way, and its path; under the pointer, too.
target_time() {
    clear_all || return 1
    worst=$("$MKPERF" latency -i "$data" | awk '$1 ~ /^[0-9]+$/ && $9 == "user" && $11 == "echo" { print $7, $8; exit }')
    keys_to "#search" "${worst#* }"
    waits "/Enter shows it/.test(document.getElementById('found').textContent)" || return 1
    keys_to "#search" ' s\uE007'
    waits "document.querySelector('#picked button')" || return 1
    js "return document.getElementById('picked').textContent" >"$D/log"
    grep -q "(target time ${worst#* }[0-9]* s): call user → echo: ${worst% *} µs " "$D/log" || { echo "$worst"; cat "$D/log"; return 1; }
    press "document.querySelector('#picked button')" && least=3 path_equal --critical-path=user:echo || return 1
    waits "state.viewFrom <= path.path.from && state.viewTo >= path.path.to" || return 1
    pointer 0 0 || return 1
    waits "/^[0-9.]+ s .target time [0-9.]+ s.$/.test(document.getElementById('tip').textContent.split(String.fromCharCode(10))[0]) && (([shown, target]) => Math.abs(target - shown - Number(profile.start) / 1e9) < 1e-4)(document.getElementById('tip').textContent.match(/[0-9.]+/g).map(Number))" || return 1
    clear_all || return 1
    keys_to "#search" '999999.5'
    waits "/^the recording is from [0-9.]+ to [0-9.]+ s$/.test(document.getElementById('found').textContent)" && clear_all
}
picked() { # a click on a call in a lane offers its path: that of mkperf latency with the same words
    clear_all || return 1
    js "const p = profile, s = p.schedule, i = [...p.a_from.keys()].filter(i => p.pdName(p.a_from[i]) === 'user')[100]; window.at = s.callStart[i] + p.a_length[i] / 2; tracks.look(s.callStart[i] - p.a_length[i], s.callStart[i] + 2 * p.a_length[i]);" >"$D/log"
    waits "state.viewFrom !== null && tracks.xOf(window.at) > 0" || return 1
    x=$(js "const t = tracks, l = t.lanes.find(l => l.name === 'user'); return [Math.round(t.xOf(window.at) - t.canvas.clientWidth / 2), Math.round(l.top + 5 - t.canvas.clientHeight / 2)].join()")
    pointer "${x%,*}" "${x#*,}" || return 1
    waits "document.querySelector('#picked button')" || return 1
    press "document.querySelector('#picked button')" || return 1
    waits "document.querySelector('#path code')" || return 1
    command=$(js "return document.querySelector('#path code').textContent")
    case $command in *"--critical-path=user:echo --at "*) ;; *) echo "$command"; return 1 ;; esac
    least=3 path_equal --critical-path=user:echo --at "${command##* }" && clear_all
}
selected_time() { # the same stretch as a selected time is the same path
    clear_all || return 1
    js "const l = new Latencies(profile).choose('user:echo', null); change({ from: l.from, to: l.to, pd: 'echo' });" >"$D/log"
    press "document.getElementById('path-time')" && path_equal --critical-path=user:echo || return 1
    js "return document.querySelector('#path p').textContent" | grep -q 'until echo was done' || return 1
    # without a PD: that which ran last; and rows are of calls in that time
    js "change({ pd: '' })" >"$D/log"
    waits "/until echo was done .echo ran last/.test(document.querySelector('#path p').textContent)" || return 1
    [ "$(js "return document.querySelector('#latencies tr[data-path=\\\"user:echo\\\"]').cells[0].textContent")" = 1 ] || return 1
    clear_all && waits "document.getElementById('path').hidden"
}
not_known() { # before a PD's first event nothing is known, and that is said
    clear_all || return 1
    js "const s = profile.schedule; change({ from: s.from, to: s.callStart[0] + 100, pd: 'checksum' });" >"$D/log"
    press "document.getElementById('path-time')" || return 1
    waits "/µs of it .* are not known: events are missing there/.test(document.querySelector('#path .bad').textContent)" || return 1
    # as much as the steps without events
    js "return [...document.querySelectorAll('#path-steps tbody tr')].filter(r => /^not known: no events of (user|echo|checksum)$/.test(r.cells[3].textContent)).reduce((ns, r) => ns + Math.round(1000 * r.cells[1].textContent), 0) - Math.round(1000 * parseFloat(document.querySelector('#path .bad').textContent))" >"$D/log"
    grep -qx 0 "$D/log" || { cat "$D/log"; return 1; }
    clear_all
}
address() { # holds the path, also of one at a time
    visit "$1#path=user%3Aecho" && path_equal --critical-path=user:echo || return 1
    at=$(js "return Math.floor((profile.schedule.from + profile.schedule.to) / 2)")
    visit "$1#path=echo%3Achecksum&at=$at" || return 1
    waits "document.querySelector('#path code') || /at that time/.test(document.getElementById('path').textContent)"
}
screens() { # light, dark, narrow, and as people see it who cannot tell red from green
    open_longest || return 1
    light_and_dark || return 1
    wd POST "$session/goog/cdp/execute" '{"cmd":"Emulation.setEmulatedVisionDeficiency","params":{"type":"deuteranopia"}}' >"$D/log"
    picture "$D/deuteranopia.png" || return 1
    wd POST "$session/goog/cdp/execute" '{"cmd":"Emulation.setEmulatedVisionDeficiency","params":{"type":"none"}}' >"$D/log"
    wd POST "$session/window/rect" '{"width":500,"height":1000}' >"$D/log"
    waits "document.documentElement.scrollWidth <= window.innerWidth" || return 1
    picture "$D/narrow.png"
    wd POST "$session/window/rect" '{"width":1200,"height":1000}' >"$D/log"
}
labelled() {
    [ "$(js "return [...document.querySelectorAll('button, select, table')].filter(e => e.checkVisibility() && !(e.getAttribute('aria-label') || e.textContent.trim() || e.labels?.length)).map(e => e.outerHTML).join()")" = "" ]
}
one_file() { # the page as one file has all of it, without a server
    "$MKPERF" convert -q "$data" -o "$D/profile.html" && visit "file://$D/profile.html" && latencies && longest && selected_time &&
        address "file://$D/profile.html"
}

# Each queue is a track behind the first one of its PDs; its readings are those that perf script prints, and one is under the pointer.
queues() {
    flow=$B/tests/pd/flow_slow
    QEMU=$(cat "$flow/qemu-command") scripts/qemu-record "$D" --queues --duration 0.3 --system "$flow/flow_slow.system" --elf-path "$flow" \
        -o "$D/flow.data" >"$D/record.log" 2>&1 || { cat "$D/record.log"; return 1; }
    perf_quiet script -i "$D/flow.data" | awk '/mkperf:queue:/ { split($0, at, /queue=|head=|tail=/)
        print at[2] + 0, at[4] - at[3] }' >"$D/want"
    "$MKPERF" convert -q "$D/flow.data" -o "$D/flow.html" && visit "file://$D/flow.html" || return 1
    js "return [...profile.q_queue].map((q, i) => q + ' ' + profile.q_entries[i] + ';').join('')" | tr ';' '\n' >"$D/page"
    equal "$D/page" "$D/want" 1000 || return 1
    order=$(js "return tracks.lanes.filter(l => l.kind !== 'core').map(l => l.name).join(' ')")
    for pair in 'src q1\|a2 q2 q1\|a2 q1' 'c4 q4\|c4 q3 q4\|d1 q4'; do
        echo "$order" | grep -q "$pair" || { echo "$order"; return 1; }
    done
    js "const q2 = tracks.lanes.find(l => l.name === 'q2'), i = q2.steps.values.indexOf(q2.steps.most); return [...q2.hit(q2.steps.times[i], q2.top).tip, q2.figures().note].join()" >"$D/tip"
    contains "$D/tip" '^queue q2: 64 of 64 entries,64 of 64: a2 → b80$' || { cat "$D/tip"; return 1; }
    track q2 && waits "state.pd === 'b80'" && picture "$D/queues.png"
}

# Each domain is a track, in the order of the schedule; its windows are those that perf script prints.
domains() {
    of=$B/tests/pd/domains
    QEMU=$(cat "$of/qemu-command") scripts/qemu-record "$D" --sched --duration 0.3 --system "$of/domains.system" --elf-path "$of" \
        -o "$D/domains.data" >"$D/record.log" 2>&1 || { cat "$D/record.log"; return 1; }
    perf_quiet script --ns -F time,trace -i "$D/domains.data" | awk '/ window .*irq=/ { split($0, at, /: |irq=/); split(at[1], t, ".")
        now = t[1] * 1000000000 + t[2]; if (before) print number + 0, now - before; before = now; number = at[3] }' | sort >"$D/want"
    "$MKPERF" convert -q "$D/domains.data" -o "$D/domains.html" && visit "file://$D/domains.html" || return 1
    js "return tracks.lanes.filter(l => l.kind === 'domain').flatMap(l => l.windows.map(w => w.number + ' ' + (w.to - w.from) + ';')).join('')" |
        tr ';' '\n' | sort >"$D/page"
    equal "$D/page" "$D/want" 80 || return 1
    js "const lanes = tracks.lanes.filter(l => l.kind === 'domain'), w = lanes[1].windows[0]; return [lanes.map(l => l.name), lanes[1].hit(w.from, 0).tip, lanes[0].hit(w.from, 0).tip].join()" >"$D/tip"
    contains "$D/tip" "^fast,half,tools,domain half: window 2, .* of 3 ms,domain fast: another domain's window$" && picture "$D/domains.png"
}

if start_view "$data" && start_browser; then
    check "page opens" visit "$url"
    check "latencies equal mkperf latency" latencies
    check "utilisation as a column and over time" utilisation
    check "the critical path of the longest call equals mkperf latency --critical-path" longest
    check "the path and a step on the lanes" on_lanes
    check "a call that is picked" picked
    check "the time of a worst in the search" target_time
    check "the path of the selected time" selected_time
    check "what is not known is said" not_known
    check "the address holds the path" address "$url"
    check "light, dark, colour-blind, narrow" screens
    check "controls have names" labelled
    check "the page as one file" one_file
    check "queues as tracks" queues
    check "domains as tracks" domains
    check "no error, nothing from outside" quiet
    wd DELETE "$session" >"$D/log"
else
    not_ok "view and Chromium start" "$(tail -n 5 "$D/view.log" "$D/chromedriver.log")"
fi
