# SPDX-License-Identifier: BSD-2-Clause
# mkperf view's page in a headless Chromium, for the tests of it. Sourced after screens.sh, with D, MKPERF and data set. url: where the
# page is; session: the browser's.

port= session= url=

start_view() { # start_view ARGUMENT...: sets url
    : >"$D/view.log" # or the address of the last one is found there
    "$MKPERF" view "$@" >"$D/view.log" 2>&1 &
    view=$!
    pids="$pids $view"
    while kill -0 "$view"; do
        url=$(sed -n 's/^mkperf view: \(http.*\)/\1/p' "$D/view.log")
        [ -n "$url" ] && return 0
        sleep 0.1
    done
    cat "$D/view.log"
    return 1
}
visit() { # visit ADDRESS: a new page, also if just the part behind # is another
    wd POST "$session/url" '{"url":"about:blank"}' >"$D/log"
    wd POST "$session/url" "{\"url\":\"$1\"}" >"$D/log"
    waits "document.body.dataset.ready"
}
answered_element() { # sets element: its name in the last answer, {"value":{"element-...":"NAME"}}; "none" if it has none
    case $answer in
    '{"value":{"element-'*) element=${answer##*:\"} element=${element%%\"*} ;;
    *) element=none ;;
    esac
}
press() { # press EXPRESSION: a real click on the element that the script's expression gives
    for try in $(seq 20); do # a live page may draw it anew in between: then it is another element
        in_page POST "return $1"
        answered_element
        wd POST "$session/element/$element/click" '{}' >"$D/click"
        grep -q 'stale element reference' "$D/click" || break
        sleep 0.05
    done
    grep -q '"value":null' "$D/click" || { echo "not clicked: $1: $(head -c 300 "$D/click")"; return 1; }
}
keys_to() { # keys_to CSS TEXT
    ask POST "$session/element" "{\"using\":\"css selector\",\"value\":\"$1\"}"
    answered_element
    wd POST "$session/element/$element/value" "{\"text\":\"$2\"}" >"$D/log"
}
tab() { # tab NAME: opens a tab of the panel
    [ "$(js "return currentTab()")" = "$1" ] || press "document.getElementById('tab-$1')" || return 1
    waits "currentTab() === '$1' && document.querySelector('main > .current').dataset.tab === '$1'"
}
track() { # track NAME: a click on a track's label
    press "[...document.querySelectorAll('#tracks tbody button')].find(b => b.textContent === '$1')"
}
clear_all() {
    keys_to "#tracks canvas" '\uE00C'
    waits "document.getElementById('reset').disabled"
}
# drag X X [Y]: over the canvas, from its middle
drag() {
    at='"origin":{"element-6066-11e4-a52e-4f735466cecf":"'$(wd POST "$session/element" \
        '{"using":"css selector","value":"#tracks canvas"}' | sed -n 's/.*:"\([^"]*\)"}}$/\1/p')'"}'
    wd POST "$session/actions" '{"actions":[{"type":"pointer","id":"m","actions":[
        {"type":"pointerMove","x":'"$1"',"y":'"${3:-0}"','"$at"'},{"type":"pointerDown","button":0},
        {"type":"pointerMove","x":'"$2"',"y":'"${3:-0}"','"$at"'},{"type":"pointerUp","button":0}]}]}' >"$D/log"
}
pointer() { # pointer X Y: a click on the canvas, from its middle
    at='"origin":{"element-6066-11e4-a52e-4f735466cecf":"'$(wd POST "$session/element" \
        '{"using":"css selector","value":"#tracks canvas"}' | sed -n 's/.*:"\([^"]*\)"}}$/\1/p')'"}'
    wd POST "$session/actions" '{"actions":[{"type":"pointer","id":"m","actions":[
        {"type":"pointerMove","x":'"$1"',"y":'"$2"','"$at"'},{"type":"pointerDown","button":0},
        {"type":"pointerUp","button":0}]}]}' >"$D/log"
    grep -q '"value":null' "$D/log" || { cat "$D/log"; return 1; }
}
# Seconds of the processor that the page's main thread took so far; Performance.enable comes before it.
thread_time() {
    wd POST "$session/goog/cdp/execute" '{"cmd":"Performance.getMetrics","params":{}}' |
        sed 's/.*"TaskDuration","value":\([0-9.e-]*\).*/\1/'
}
quiet() { # the page's policy refused nothing, and nothing failed
    wd POST "$session/se/log" '{"type":"browser"}' | grep -v SEVERE >"$D/log" || { cat "$D/log"; return 1; }
}
equal() { # equal PAGE WANT LEAST: files of lines
    [ "$(wc -l <"$2")" -ge "$3" ] && diff "$1" "$2"
}
# Lines of a table's cells, with a blank between them.
cells() { # cells CSS
    js "return [...document.querySelectorAll('$1')].map(r => [...r.cells].map(c => c.textContent).join(' ')).map(t => t + ';').join('')" | tr ';' '\n' | sed 's/  */ /g; s/^ //'
}
# What the panel has, and what mkperf latency --critical-path prints: both tables without the shares.
wanted_path() { # wanted_path OPTION...
    "$MKPERF" latency -i "$data" "$@" >"$D/text" || return 1
    awk '/^ *us  *% / { sums = 1; next } /after, us/ { sums = 0; steps = 1; next } !NF { next }
        sums { $2 = ""; print } steps { print }' "$D/text" | sed 's/  */ /g; s/^ //; s/ $//' >"$D/want"
}
path_equal() { # path_equal OPTION...
    waits "!document.getElementById('path').hidden && document.querySelector('#path-steps tbody tr')" || return 1
    wanted_path "$@" || return 1
    js "return [...document.querySelectorAll('#path-sums tbody tr')].map(r => [0, 2, 3].map(i => r.cells[i].textContent).join(' ') + ';').join('')" | tr ';' '\n' >"$D/page"
    cells '#path-steps tbody tr' >>"$D/page"
    equal "$D/page" "$D/want" "${least:-4}"
}
light_and_dark() { # pictures of the page in both colour schemes
    for scheme in light dark; do
        wd POST "$session/goog/cdp/execute" '{"cmd":"Emulation.setEmulatedMedia","params":{"features":[{"name":"prefers-color-scheme","value":"'"$scheme"'"}]}}' >"$D/log"
        sleep 0.3
        picture "$D/$scheme.png" || return 1
    done
    wd POST "$session/goog/cdp/execute" '{"cmd":"Emulation.setEmulatedMedia","params":{"features":[]}}' >"$D/log"
}
