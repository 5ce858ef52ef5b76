#!/bin/sh
# SPDX-License-Identifier: BSD-2-Clause
# Callers in other PDs that are inferred (samples of a timer, tests/pd/called.system.in), in the page of mkperf view: each frame of a
# PD that was called says so, with the time that mkperf convert has for it. Environment: B and MKPERF.
set -u
NAME=view-callers
B=$(realpath "$B")
. tests/system/lib.sh
MKPERF=$(realpath "$MKPERF")
t=$B/tests/pd/called
QEMU=$(cat "$t/qemu-command")
export QEMU MKPERF
. tests/system/screens.sh
data=$D/perf.data
. tests/system/lib-view.sh

check "recorded" scripts/qemu-record "$D" -e timer -c 500 -g --duration 1 --system "$t/called.system" --elf-path "$t" -o "$data"
[ -s "$data" ] || exit 1

# The time of each pair of PDs, the outer one and that which it called, over all stacks.
pairs() {
    "$MKPERF" convert -q "$data" -o "$D/stacks.folded" || return 1
    awk '{
        weight = $NF
        sub(/ [0-9]+$/, "")
        n = split($0, frame, ";")
        outer = frame[1]
        delete of
        for (i = 2; i <= n; i++) if (frame[i] ~ / \(inferred\)$/) {
            inner = frame[i]
            sub(/ \(inferred\)$/, "", inner)
            of[outer " " inner]
            outer = inner
        }
        for (pair in of) sum[pair] += weight
    } END { for (pair in sum) print pair, sum[pair] }' "$D/stacks.folded" | sort >"$D/want"
    js "const t = flame.tree, p = profile, sum = {}; const pd = (i) => { for (; i > 0 && !p.label(t.nodes[i].label).isPd; i = t.nodes[i].parent) ; return i; }; t.nodes.forEach((node, i) => { if (i > 0 && node.depth > 0 && p.label(node.label).isPd) { const key = nodeName(p.label(t.nodes[pd(node.parent)].label)).slice(3) + ' ' + nodeName(p.label(node.label)).slice(3); sum[key] = (sum[key] ?? 0) + flame.total[i]; } }); return Object.entries(sum).map(([key, ns]) => key + ' ' + ns + ';').join('')" | tr ';' '\n' | sort >"$D/page"
    [ "$(wc -l <"$D/want")" -ge 3 ] && diff "$D/page" "$D/want"
}
marked() { # in the frame, for a screen reader, and where the pointer is
    js "return [...document.querySelectorAll('.frame.pd')].map(e => [e.getAttribute('aria-level') > 1, e.textContent, e.getAttribute('aria-label')].join(':') + ';').join('')" | tr ';' '\n' >"$D/frames"
    [ "$(grep -c '^true:PD [a-z]* (inferred):PD [a-z]* (inferred): ' "$D/frames")" -ge 3 ] || { cat "$D/frames"; return 1; }
    ! grep '^true' "$D/frames" | grep -v '(inferred)' && ! grep '^false' "$D/frames" | grep '(inferred)' || return 1
    js "[...document.querySelectorAll('.frame.pd')].find(e => /inferred/.test(e.textContent)).focus()" >"$D/log"
    waits "/^PD [a-z]+ .inferred.: [0-9.]+ %/.test(document.getElementById('tip').textContent)"
}
selects() { # such a frame selects as any other: its path in the address has no mark
    press "[...document.querySelectorAll('.frame.pd')].find(e => e.textContent === 'PD middle (inferred)')" || return 1
    waits "state.node.at(-1) === 'PD middle' && document.querySelectorAll('#tracks tbody tr').length > 0" || return 1
    visit "$url$(js "return '#' + writeState()")" || return 1
    waits "state.node.at(-1) === 'PD middle' && /Selected/.test(document.getElementById('selected').textContent)"
}

if start_view "$data" && start_browser; then
    check "page opens" visit "$url"
    check "time of inferred callers equals mkperf convert" pairs
    check "frames of inferred callers say so" marked
    check "a frame of an inferred caller selects" selects
    check "no error, nothing from outside" quiet
    wd DELETE "$session" >"$D/log"
else
    not_ok "view and Chromium start" "$(tail -n 5 "$D/view.log" "$D/chromedriver.log")"
fi
