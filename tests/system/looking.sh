#!/bin/sh
# SPDX-License-Identifier: BSD-2-Clause
# The commands that look at a recording, on the demo's: script and annotate against perf, top live
# and on a capture, the terminal browser in tmux, the flame graph in a headless Chromium, driven by
# chromedriver. Environment: B and MKPERF. Leaves in its directory the screens (browser.txt,
# top.txt) and pictures of the flame graph (svg.png). mkperf view: view.sh.
set -u
NAME=looking
B=$(realpath "$B")
. tests/system/lib.sh
. tests/system/lib-demo.sh
. tests/system/screens.sh

record() {
    scripts/qemu-record "$D" -e cycles -F 1000 -g --duration 2 $system -o "$data" --raw "$D/raw" \
        >"$D/record.log" 2>&1 || { cat "$D/record.log"; return 1; }
}
check "recorded" record
[ -s "$data" ] || exit 1

# perf's addresses of PDs are offsets in the file, mkperf's are the ELF's: both are removed.
no_address() {
    sed 's/^\t *[0-9a-f]* /\t/'
}

script() {
    "$MKPERF" script -i "$data" | no_address >"$D/script"
    perf_quiet script -i "$data" | no_address >"$D/script.perf"
    [ "$(wc -l <"$D/script")" -gt 5000 ] && cmp "$D/script" "$D/script.perf"
}
check "script prints what perf script prints" script

shares() {
    grep -E '^ +[0-9]+\.[0-9]+ +:' | awk '{ print $1 }'
}
annotate() {
    for symbol in known_leaf_40 known_deep_30 insert crc_byte; do
        "$MKPERF" annotate -i "$data" "$symbol" | shares >"$D/annotate"
        perf annotate --stdio -i "$data" -s "$symbol" 2>/dev/null | shares >"$D/annotate.perf"
        [ -s "$D/annotate" ] || { echo "nothing for $symbol"; return 1; }
        cmp "$D/annotate" "$D/annotate.perf" || return 1
    done
}
check "annotate has perf annotate's shares" annotate

# The compiler inlines `handle_message` into pocket_main: its share with what it calls, by report and by the folded stacks.
report_inline() {
    "$MKPERF" report -i "$data" --inline --children -S handle_message -x '|' |
        awk -F'|' '$1 == "row" && $7 == "known" { print $3 }' >"$D/inline"
    "$MKPERF" convert -q "$data" --to folded -o - |
        awk '{ all += $NF } /^known;.*;handle_message_\[i\];/ { sum += $NF } END { printf "%.4f\n", 100 * sum / all }' >"$D/inline.folded"
    [ -s "$D/inline" ] && cmp "$D/inline" "$D/inline.folded" || return 1
    "$MKPERF" report -i "$data" --inline --children -S handle_message -g callee | grep -q -e '-- notified$' || return 1
    "$MKPERF" report -i "$data" --children >"$D/report" && ! grep '(inlined)' "$D/report"
}
check "report --inline has the share of the folded stacks" report_inline

# The report's share, samples, PD and function, as top prints them.
rows() {
    awk '/^ / && $1 ~ /%$/ && NF >= 5 { print }' "$1" | tr -s ' '
}
top_replay() {
    "$MKPERF" top -t "file:$D/raw" --stdio --window 0 --rows 0 $system >"$D/top-replay" 2>&1 || return 1
    "$MKPERF" report --stdio -i "$data" >"$D/report"
    rows "$D/top-replay" | awk '{ print $1, $2, $3, $4, $5 }' | sort >"$D/top-rows"
    rows "$D/report" | awk '{ print $1, $2, $4, $5, $6 }' | sort >"$D/report-rows"
    [ -s "$D/top-rows" ] && diff "$D/top-rows" "$D/report-rows" || return 1
    "$MKPERF" top -t "file:$D/raw" --stdio --window 0 --rows 0 --no-idle $system >"$D/top-replay" 2>&1 || return 1
    "$MKPERF" report --stdio -i "$data" --no-idle >"$D/report"
    rows "$D/top-replay" | awk '{ print $1, $2, $3, $4, $5 }' | sort >"$D/top-rows"
    rows "$D/report" | awk '{ print $1, $2, $4, $5, $6 }' | sort >"$D/report-rows"
    [ -s "$D/top-rows" ] && ! grep -q ' idle ' "$D/top-rows" && diff "$D/top-rows" "$D/report-rows"
}
check "top of a capture equals the report, with and without idle" top_replay

# The demo in QEMU, its line at $D/live.sock.
boot() {
    $QEMU -serial "unix:$D/live.sock,server=on,wait=on" </dev/null >"$D/live.log" 2>&1 &
    pids="$pids $!"
    for i in $(seq 600); do
        [ -S "$D/live.sock" ] && return 0
        sleep 0.05
    done
    return 1
}

browser() {
    screen -f /dev/null new-session -d -x 110 -y 30 "$MKPERF report -i $data; sleep 5" || return 1
    shows "$D/browser.txt" 'lost 0 (0.00 %)' '^+ .*known .*known_leaf_40' || return 1
    keys / && screen send-keys -l 'known_leaf_40' && keys Enter Enter
    shows "$D/browser.txt" '-- notified' '-- middle' || return 1
    keys a
    shows "$D/annotate.txt" 'LEAF known_leaf_40' 'subs .*x9, x9' || return 1
    keys q d
    shows "$D/browser.txt" ', PD known' || return 1
    keys q
}
check "the report's browser: search, open, annotate, one PD" browser

top_live() {
    screen respawn-pane -k "$MKPERF top -t unix:$D/live.sock -d 0.3 --rows 5 $system; sleep 5" || return 1
    shows "$D/top.txt" '^lost 0 (0.00 %)' '[0-9]% .* idle' '\[k\] ' || return 1
    keys Down Enter
    shows "$D/top.txt" 'shown: last 10 s, PD ' || return 1
    keys u c
    shows "$D/top.txt" ', charged' ' Charged      Self   Imposed  For others  PD' '%               by server' || return 1
    keys c i
    shows "$D/top.txt" ', without idle' || return 1
    if screen capture-pane -p | grep -q '% .* idle$'; then return 1; fi
    keys '?'
    shows "$D/top.txt" 'h, ?  .*this text' 'Tab  .*the next event' || return 1
    if screen capture-pane -p | grep -q 'Samples  PD'; then return 1; fi
    keys x
    shows "$D/top.txt" 'Samples  PD  ' ', without idle' || return 1
    keys i s p
    shows "$D/top.txt" 'PAUSED' ', by name' || return 1
    keys q
    shows "$D/top.txt" '^# lost 0'
}
boot # not in check's subshell, which would forget the processes to end
check "top of a running system: zoom, charged time, idle, help, sort, pause, quit" top_live
screen kill-server 2>/dev/null

quiet() { # nothing was refused, and nothing failed
    wd POST "$session/se/log" '{"type":"browser"}' | grep -v SEVERE >"$D/log" || { cat "$D/log"; return 1; }
}

# The flame graph in the browser: details, a click, a search in the field, Escape.
svg_frame() { # svg_frame NAME: a script's expression
    echo "document.querySelector('g[data-n=\\\"$1\\\"]')"
}
svg_click() {
    "$MKPERF" convert -q "$data" -o "$D/demo.svg" || return 1
    wd POST "$session/url" "{\"url\":\"file://$D/demo.svg\"}" >"$D/log"
    waits "$(svg_frame known)" || return 1
    picture "$D/svg.png" || return 1
    element=$(wd POST "$session/element" '{"using":"css selector","value":"g[data-n=\"known\"]"}' |
        sed -n 's/.*:"\([^"]*\)"}}$/\1/p')
    wd POST "$session/element/$element/click" '{}' >"$D/log"
    waits "Math.abs($(svg_frame known).children[1].getBoundingClientRect().width - window.innerWidth) < 40" || return 1
    waits "$(svg_frame dummy1).getAttribute('display') === 'none'" || return 1
    waits "!$(svg_frame idle)" || return 1
    idle=$("$MKPERF" report --stdio -i "$data" -s pd | awk '$NF == "idle" { print $1 }')
    waits "document.getElementById('title').textContent.endsWith('perf.data, without idle ($idle)')" || return 1
    waits "/^known .*%/.test(document.getElementById('details').textContent)"
}
svg_search() { # its number equals mkperf report's
    element=$(wd POST "$session/element" '{"using":"css selector","value":"#search"}' |
        sed -n 's/.*:"\([^"]*\)"}}$/\1/p')
    wd POST "$session/element/$element/click" '{}' >"$D/log"
    element=$(wd POST "$session/element" '{"using":"css selector","value":"#words"}' |
        sed -n 's/.*:"\([^"]*\)"}}$/\1/p')
    wd POST "$session/element/$element/value" '{"text":"known_leaf_40$"}' >"$D/log"
    part=$(share_of known_leaf_40 "$data")
    waits "document.getElementById('matched').textContent === 'matched: $part'" || {
        js "return document.getElementById('matched').textContent + ' not $part'"
        return 1
    }
    picture "$D/svg-zoomed.png" || return 1
    wd POST "$session/actions" '{"actions":[{"type":"key","id":"k","actions":[
        {"type":"keyDown","value":"\uE00C"},{"type":"keyUp","value":"\uE00C"}]}]}' >"$D/log"
    waits "$(svg_frame dummy1).getAttribute('display') !== 'none'" &&
        waits "document.getElementById('matched').textContent === ''"
}

# The colours in the browser, the root below or on top, and a comparison with another recording, whose
# numbers equal mkperf diff's.
svg_seen() { # svg_seen FILE: into seen, and the same by line into rows
    wd POST "$session/url" "{\"url\":\"file://$1\"}" >"$D/log"
    waits "document.querySelectorAll('#frames g').length > 20" || return 1
    js "$(grep -v '^//' tests/npm/flame.js | sed 's|// .*||' | tr '\n' ' ' | sed 's/\\/\\\\/g; s/"/\\"/g')" >"$D/seen"
    sed 's/.* rows://' "$D/seen" | tr ';' '\n' >"$D/seen-rows"
    grep -q '^wrong=0 ' "$D/seen" || { cat "$D/seen"; return 1; }
}
svg_colours() {
    svg_seen "$D/demo.svg" || return 1
    grep -Eq ' kernel=[1-9][0-9]* pds=[4-9] called=[1-9][0-9]* down=[1-9][0-9]+ up=0 ' "$D/seen" || { cat "$D/seen"; return 1; }
}
svg_upward() { # the root below; with idle
    "$MKPERF" convert -q "$data" -o "$D/upward.svg" --upward --idle && svg_seen "$D/upward.svg" || return 1
    waits "$(svg_frame idle)" || return 1
    grep -Eq ' down=0 up=[1-9][0-9]+ ' "$D/seen" || { cat "$D/seen"; return 1; }
}
share_of() {
    "$MKPERF" report --stdio --children -S "$1" -i "$2" | awk -v name="$1" '$NF == name { print $1 }'
}
svg_diff() {
    scripts/qemu-record "$D" -e cycles -F 1000 -g --duration 1.3 $system -o "$D/before.data" >"$D/record.log" 2>&1 ||
        { cat "$D/record.log"; return 1; }
    "$MKPERF" convert -q "$data" -o "$D/change.svg" --diff "$D/before.data" && svg_seen "$D/change.svg" || return 1
    grep -Eq ' grew=[1-9][0-9]* shrank=[1-9]' "$D/seen" || { cat "$D/seen"; return 1; }
    picture "$D/svg-diff.png" || return 1
    # name, before, now, change of PDs that have a frame; of functions that are in one place the first three,
    # with what they call, as the report says of each recording
    "$MKPERF" diff -s pd "$D/before.data" "$data" | awk '/^ / { print ($6 == "~" ? $7 : $6), $1, $2, $3 }' >"$D/diff-rows"
    for f in known_leaf_10 known_framed_20 known_deep_30 known_leaf_40; do
        echo "$f $(share_of $f "$D/before.data") $(share_of $f "$data")"
    done >>"$D/diff-rows"
    tr -d % <"$D/diff-rows" | sort >"$D/diff-want"
    [ "$(grep -c '^known_' "$D/seen-rows")" -eq 4 ] && [ "$(wc -l <"$D/seen-rows")" -ge 6 ] || { cat "$D/seen"; return 1; }
    sed 's/^\(known_.*\) .*/\1/' "$D/seen-rows" | sort | comm -23 - "$D/diff-want" >"$D/differ"
    [ ! -s "$D/differ" ] || { cat "$D/differ" "$D/diff-want"; return 1; }
}

port= session=
if start_browser; then
    check "flame graph: a click zooms" svg_click
    check "flame graph: a search's share is the report's" svg_search
    check "flame graph: colours by PD and by kernel and user" svg_colours
    check "flame graph: the root below, and idle" svg_upward
    check "flame graph: a comparison has the numbers of mkperf diff, and its colours" svg_diff
    check "flame graph: no error, nothing from outside" quiet
    wd DELETE "$session" >"$D/log"
else
    not_ok "Chromium starts" "$(tail -n 5 "$D/chromedriver.log")"
fi
