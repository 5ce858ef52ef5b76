#!/bin/sh
# SPDX-License-Identifier: BSD-2-Clause
# The page of mkperf view in Firefox, as one file and from the server: its numbers, tabs, a critical path, a selection, two widths.
# Environment: B and MKPERF. Leaves pictures in its directory.
set -u
NAME=view-firefox
B=$(realpath "$B")
. tests/system/lib.sh
MKPERF=$(realpath "$MKPERF")
t=$B/tests/pd/late
QEMU=$(cat "$t/qemu-command")
export QEMU MKPERF
data=$D/perf.data
pids=
trap 'for p in $pids; do kill "$p" 2>/dev/null; done' EXIT
. tests/system/lib-view.sh

check "recorded" scripts/qemu-record "$D" --sched -e cycles -F 1000 -g --duration 0.3 --system "$t/late.system" --elf-path "$t" -o "$data"
[ -s "$data" ] || exit 1

firefox() { # firefox PICTURE ADDRESS WIDTH HEIGHT <SCRIPTS
    timeout 300 node tests/npm/firefox.mjs "$D/profile-$1" "$2" "$D/$1.png" "$3" "$4" && [ "$(wc -c <"$D/$1.png")" -gt 20000 ]
}
# The shares of PDs, of the label and as mkperf report has them; then a click, a drag's state, each tab, a critical path.
served() {
    rows=$("$MKPERF" report --stdio -i "$data" -e cycles -s pd | awk '/^ / && $1 ~ /%$/ && $4 != "idle" { sub(/%/, " %", $1); print $4 " " $1 }')
    {
        echo "document.body.dataset.ready"
        echo "$rows" | while read -r pd share; do
            echo "document.querySelector('#tracks tr[data-track=\"pd $pd\"] td').textContent === '$share'"
        done
        echo "document.querySelector('#tracks tr[data-track=\"pd echo\"] button').click() || document.getElementById('selected').textContent.includes('PD echo')"
        echo "document.getElementById('reset').click() || document.querySelectorAll('#tracks tr.chosen').length === 0"
        for tab in tree inverted chart functions pds latency source recording flame; do
            echo "document.getElementById('tab-$tab').click() || (document.querySelector('main > .current').dataset.tab === '$tab' && document.querySelector('main > .current').checkVisibility())"
        done
        echo "document.documentElement.scrollWidth <= innerWidth && document.documentElement.scrollHeight <= innerHeight"
        echo "document.getElementById('tab-latency').click() || [...document.querySelectorAll('#latencies button')].find(b => b.textContent === 'user → echo').click() || document.querySelectorAll('#path-steps tbody tr').length >= 4"
        echo "document.getElementById('problem').hidden"
    } >"$D/scripts"
    [ "$(wc -l <"$D/scripts")" -ge 18 ] && firefox served "$url" 1440 900 <"$D/scripts"
}
one_file() { # narrow
    "$MKPERF" convert -q "$data" -o "$D/profile.html" || return 1
    firefox file "file://$D/profile.html#tab=functions" 500 900 <<'END'
document.body.dataset.ready
document.querySelectorAll('#functions tbody tr').length > 5
document.documentElement.scrollWidth <= innerWidth
document.getElementById('problem').hidden
END
}

if start_view "$data" && has firefox-esr "view in Firefox"; then
    check "the server's page" served
    check "the page as one file, narrow" one_file
fi
