#!/bin/sh
# SPDX-License-Identifier: BSD-2-Clause
# The demo's recording, in every output, read by its program: the numbers of every function equal mkperf
# report's. Environment: B and MKPERF. A check whose program is missing fails;
# exports.sh installs the readers from npm.
set -u
NAME=viewers
B=$(realpath "$B")
. tests/system/lib.sh
demo=$B/demo
data=$D/perf.data
npm=$PWD/tests/npm
modules=$B/tests/npm/node_modules
MKPERF=$(realpath "$MKPERF")
QEMU=$(cat "$demo/qemu-command")
export QEMU MKPERF

record() {
    scripts/qemu-record "$D" -e cycles -F 1000 -g --duration 2 --system "$demo/demo.system" --elf-path "$demo" \
        -o "$data" >"$D/record.log" 2>&1 || { cat "$D/record.log"; return 1; }
}
check "recorded" record
[ -s "$data" ] || exit 1

convert() { # convert NAME [OPTION]: without inlined functions, which mkperf report adds to those around them
    name=$1
    shift
    "$MKPERF" convert -q --no-inline "$@" "$data" -o "$D/$name"
}

# `function events`, over all PDs, sorted: the report's.
"$MKPERF" report --stdio -i "$data" >"$D/report"
sums() {
    awk '{ sum[$1] += $2 } END { for (f in sum) if (sum[f]) printf "%s %.0f\n", f, sum[f] }' | sort
}
awk '/^ / && $1 ~ /%$/ { print $6, $3 }' "$D/report" | sums >"$D/want"
same() { # same FILE: of such lines
    [ "$(wc -l <"$D/want")" -gt 10 ] && diff "$D/want" "$1"
}

perf_report() {
    perf_quiet report --stdio --no-children -g none -F period,sym -i "$data" |
        awk '/^ / { print $3, $1 }' | sums >"$D/perf"
    same "$D/perf"
}
has perf "perf report" && check "perf report" perf_report

pprof() {
    export PPROF_TMPDIR="$D" HOME="$D"
    convert out.pb.gz && go tool pprof -top -sample_index=cycles -nodecount 100000 -nodefraction 0 "$D/out.pb.gz" \
        2>"$D/err" | awk 'body { print $6, $1 } $1 == "flat" { body = 1 }' | sums >"$D/pprof"
    same "$D/pprof"
}
has go "pprof" && check "pprof" pprof

callgrind() {
    convert callgrind.out && callgrind_annotate --threshold=100 --auto=no --show=cycles "$D/callgrind.out" 2>"$D/err" |
        sed -n 's/^ *\([0-9,]*\) *([ 0-9.]*%) *[^ ]*:\([^ :{]*\).*\[.*\]$/\2 \1/p' | tr -d , | sums >"$D/callgrind"
    same "$D/callgrind"
}
has callgrind_annotate "callgrind" && check "callgrind_annotate" callgrind

speedscope() {
    convert out.speedscope.json && node "$npm/speedscope.mjs" "$modules" "$D/out.speedscope.json" 2>"$D/err" |
        awk 'NR > 1 && !/^  / { exit } NR > 1 { print $1, $(NF - 1) }' | sums >"$D/speedscope"
    same "$D/speedscope"
}
firefox() { # the front end's own command, thread by thread; it shows a PD's functions, the heaviest first
    PROFILER_CLI_SESSION_DIR=$(mktemp -d /tmp/mkperf-pq-XXXXXX)
    export PROFILER_CLI_SESSION_DIR PROFILER_CLI_NO_SYMBOLICATE=1
    cli=$modules/@firefox-devtools/profiler-cli/dist/profiler-cli.js
    convert out.firefox.json || return 1
    node "$cli" --daemon "$D/out.firefox.json" --session v >"$D/firefox.daemon" 2>&1 &
    daemon=$!
    tries=0
    until [ -S "$PROFILER_CLI_SESSION_DIR/v.sock" ] || [ $tries -ge 100 ]; do
        tries=$((tries + 1))
        sleep 0.2
    done
    until node "$cli" profile info --all --session v >"$D/firefox.info" 2>&1 || [ $tries -ge 100 ]; do
        tries=$((tries + 1))
        sleep 0.2
    done
    for t in 0 1 2 3 4 5 6 7 8 9; do
        node "$cli" thread functions --thread t-$t --include-idle --limit 1000 --session v 2>&1 || break
    done >"$D/firefox.functions"
    kill $daemon
    wait $daemon 2>/dev/null
    rm -rf "$PROFILER_CLI_SESSION_DIR"
    sed -n 's/^ *\(f-[0-9]*\.\{0,1\}\)\{0,1\} *\([^ ]*\) - self: \([0-9]*\) .*/\2 \3/p' "$D/firefox.functions" | sums >"$D/firefox"
    same "$D/firefox" || { head -n 20 "$D/firefox.functions"; return 1; }
}
if [ -s "$modules/speedscope/package.json" ] && has node "speedscope, Firefox Profiler"; then
    check "speedscope" speedscope
    check "Firefox Profiler" firefox
else
    echo "left out: speedscope, Firefox Profiler: not installed"
fi

# What a viewer opens on, and what it adds up, must not mislead.
counters() { # Firefox: no step of a core has more cycles than the core counts (1 a ns here), and none is lost
    convert out.firefox.json || return 1
    jq -r '[.counters[] | select(.name == "cycles").samples] | .[0].time[1] as $ms | (map(.count) | transpose | map(add)) as $all
        | [$ms * 1e6, ($all | max), ($all | add)] | map(round) | join(" ")' "$D/out.firefox.json" >"$D/counters"
    sum=$(awk '{ sum += $2 } END { printf "%.0f", sum }' "$D/want")
    awk -v sum="$sum" '{ exit !($2 <= $1 && $2 > 0.9 * $1 && $3 == sum) }' "$D/counters" || { cat "$D/counters"; echo "sum $sum"; return 1; }
}
speedscope_order() { # it opens on all PDs in the order of time
    convert out.speedscope.json || return 1
    jq -r '.activeProfileIndex, .profiles[0].name' "$D/out.speedscope.json" | tr '\n' ' ' | grep -qx '0 all (cycles) ' || return 1
    "$MKPERF" script -i "$data" -F comm -G | awk '{ print $1 }' | uniq >"$D/script-order"
    # the PD that runs is the innermost one: those before it called
    jq -r --rawfile ran "$D/script-order" '($ran | split("\n") | map({(.): true}) | add) as $pd | [.shared.frames[].name] as $f
        | .profiles[0].samples[] | map($f[.]) | map(select($pd[.])) | last' "$D/out.speedscope.json" | uniq >"$D/speedscope-order"
    [ "$(wc -l <"$D/script-order")" -gt 100 ] && cmp "$D/speedscope-order" "$D/script-order"
}
# pprof's picture with a root for each PD: what a root leads to belongs to it, or to its clients, whose frames
# are around those of the PD that they called.
tagroot() {
    export PPROF_TMPDIR="$D" HOME="$D"
    convert out.pb.gz && go tool pprof -dot -tagroot=pd -nodecount=100000 -nodefraction=0 -edgefraction=0 "$D/out.pb.gz" \
        2>"$D/err" >"$D/tagroot.dot" || return 1
    awk '
        /^N[0-9]+ \[label="/ { name[$1] = $0; sub(/^[^"]*"/, "", name[$1]); sub(/\\n.*/, "", name[$1]) }
        /^N[0-9]+ -> N[0-9]+ / { n[$1]++; to[$1, n[$1]] = $3; inner[$3] = 1 }
        function walk(node, root, i) {
            if (seen[root, node]++) return
            if (n[node] > 0 && node != root) print name[node], name[root]
            for (i = 1; i <= n[node]; i++) walk(to[node, i], root)
        }
        END { for (node in name) if (!(node in inner)) walk(node, node) }' "$D/tagroot.dot" | sort -u >"$D/tagroot"
    [ "$(awk '{ print $NF }' "$D/tagroot" | sort -u | wc -l)" -ge 4 ] || return 1
    # functions (not leaves) that two roots lead to
    awk '{ root = $NF; $NF = ""; if ($0 in of) print $0, of[$0], root; of[$0] = root }' "$D/tagroot" |
        grep -Ev ' (server requester|requester server|client profiler|profiler client)$' >"$D/joined"
    [ ! -s "$D/joined" ] || { cat "$D/joined"; return 1; }
}
if has jq "Firefox's counters, speedscope's order"; then
    check "Firefox Profiler: no bin above a core" counters
    check "speedscope opens on all PDs in the order of time" speedscope_order
fi
has go "pprof's picture" && check "pprof: -tagroot does not join PDs" tagroot

text() { # the leaf of each line
    convert out.folded && sed 's/_\[k\] / /; s/.*;\([^;]*\) \([0-9]*\)$/\1 \2/' "$D/out.folded" | sums >"$D/folded"
    convert out.jsonl && node -e '
        for (const line of require("fs").readFileSync(process.argv[1], "utf8").split("\n")) {
            const o = line === "" ? {} : JSON.parse(line);
            if (o.type === "sample") console.log(o.stack[0].function, o.period);
        }' "$D/out.jsonl" | sums >"$D/jsonl"
    same "$D/folded" && same "$D/jsonl"
}
has node "folded stacks, JSON Lines" && check "folded stacks, JSON Lines" text

# A PD in the graph: its width and share.
svg() {
    convert out.svg --idle || return 1
    for pd in known idle dummy1; do
        node "$npm/svg.mjs" "$D/out.svg" "$pd" x | sed -n 's/^details [^ ]* *\([0-9]*\), .*/\1/p' >"$D/svg"
        awk -v pd="$pd" '/^ / && $1 ~ /%$/ && $4 == pd { sum += $3 } END { printf "%.0f\n", sum }' "$D/report" |
            cmp - "$D/svg" || return 1
    done
}
has node "flame graph" && check "flame graph" svg

# The exports' cost of profiling equals that of the report's rows.
cost() {
    want=$(awk '/^ / && $1 ~ /%$/ && $6 != "mkperf_capture" && ($4 == "profiler" || $4 == "client") { sum += $3 }
        END { printf "%.0f", sum }' "$D/report")
    kernel=$(awk '/^ / && $1 ~ /%$/ && $6 == "mkperf_capture" { sum += $3 } END { printf "%.0f", sum }' "$D/report")
    pds=",\"pds\":$want"
    [ "$want" != 0 ] || pds='\(,"pds":0\)\{0,1\}'
    grep -q "\"cost\":\[{\"event\":\"cycles\",\"kernel\":$kernel$pds}\]" "$D/out.jsonl" &&
        grep -q '^cost of profiling: [0-9.]* % of cycles' "$D/out.svg" &&
        grep -q '^# cost  *of profiling: [0-9.]* % of cycles' "$D/report"
}
check "the cost of profiling" cost
