#!/bin/sh
# SPDX-License-Identifier: BSD-2-Clause
# Every export, read by its program; the numbers must equal the input. The files are
# those of tests/unit/test_sinks.c (two events: cpu-cycles, 16 samples of 1000; r17, 2 of 25; lost: 5
# in the ring, 7 on the link), and a samples.json that passes through the whole command.
# Environment: B and MKPERF. A check whose program is missing fails, and names it.
set -u
NAME=exports
B=$(realpath "$B")
. tests/system/lib.sh
npm=$PWD/tests/npm
modules=$D/../npm/node_modules
MKPERF=$(realpath "$MKPERF")

files() {
    MKPERF_SINKS_DIR=$D "$B/tests/unit/test_sinks" >"$D/files.log" 2>&1 || {
        tail -n 20 "$D/files.log"
        return 1
    }
}
check "the files are written" files
[ -s "$D/out.svg" ] || exit 1

# want FILE PATTERN...: every pattern is in the file
want() {
    file=$1
    shift
    for pattern; do
        grep -q -- "$pattern" "$file" || {
            echo "no \"$pattern\" in:"
            head -n 40 "$file"
            return 1
        }
    done
}

pprof() {
    export PPROF_TMPDIR=$D HOME=$D
    go tool pprof -top -sample_index=cpu-cycles "$D/out.pb.gz" >"$D/pprof" 2>&1 || { cat "$D/pprof"; return 1; }
    want "$D/pprof" 'Showing nodes accounting for 16000, 100% of 16000 total' \
        '6000 37.50%.* leaf$' '4000 25.00%.* idle_thread$' '3000 18.75%.* handle$' &&
        go tool pprof -comments "$D/out.pb.gz" >"$D/pprof" 2>&1 &&
        want "$D/pprof" 'lost samples: 12, ring 5, link 7' 'event cpu-cycles: 16 samples' \
            'cost of profiling: unknown' 'phase request of PD client: ' &&
        go tool pprof -tags -sample_index=samples "$D/out.pb.gz" >"$D/pprof" 2>&1 &&
        want "$D/pprof" 'pd: Total 18.0' '11.0 (61.11%): client' 'core: Total 18' 'mode: Total 18' &&
        go tool pprof -top -sample_index=r17 -tagfocus=pd=client "$D/out.pb.gz" >"$D/pprof" 2>&1 &&
        want "$D/pprof" '50   100%.* middle$'
}
has go "pprof" && check "go tool pprof" pprof

callgrind() {
    (cd / && callgrind_annotate --inclusive=yes "$D/callgrind.out") >"$D/annotate" 2>"$D/annotate.err" ||
        { cat "$D/annotate.err"; return 1; }
    want "$D/annotate" '16,000 (100.0%) 50 (100.0%) 18 (100.0%)  PROGRAM TOTALS' \
        '10,000 (62.50%) 50 (100.0%) 12 (66.67%)  .*/client.c:middle \[client\]' \
        '10,000 (62.50%) 50 (100.0%) 12 (66.67%)  ???:client \[client\]' \
        ' 9,000 (56.25%)  *0  *9 (50.00%)  .*/client.c:_start' \
        'lost samples: 12, ring 5, link 7' && ! grep . "$D/annotate.err"
}
has callgrind_annotate "callgrind" && check "callgrind_annotate" callgrind

svg() {
    for f in out upward diff empty; do
        [ "$f" = empty ] && f=empty.flamegraph
        [ -e "$D/$f" ] || f=$f.svg
        xmllint --noout --nonet "$D/$f" || return 1
    done
    ! grep -E '(href|src)=|https?://' "$D/out.svg" | grep -v "xmlns=\|createElementNS('http://www.w3.org/"
}
has xmllint "well-formed SVG" && check "flame graphs are well-formed and load nothing" svg

svg_runs() {
    node "$npm/svg.mjs" "$D/out.svg" client 'le.f|handle' >"$D/svg" 2>&1 || { head -c 2000 "$D/svg"; return 1; }
    want "$D/svg" '^frames 1[0-9]$' 'details client   10000, 62.50%' '^zoomed 1[01] width 1180.00$' \
        '^matched: 56.25%$' '^reset 1[0-9] width 737.50 \[\]$'
}
has node "flame graph's script" && check "flame graph: details, zoom, search, reset" svg_runs

speedscope() {
    node "$npm/speedscope.mjs" "$modules" "$D/out.speedscope.json" >"$D/speedscope" 2>"$D/speedscope.err" || {
        head -c 2000 "$D/speedscope.err"
        return 1
    }
    want "$D/speedscope" '^all (cpu-cycles) 16000$' '^  leaf 6000 9000$' '^  client 0 10000$' \
        '^  handle \[kernel\] 3000 3000$' '^client (cpu-cycles) 9000$' '^client (r17) 50$' \
        '^idle (cpu-cycles) 6000$' '^\[lost\] (samples) 12$' '^\[marks\] (times) [1-9]'
}

# speedscope opens .cpuprofile, too. Times are shares of 17,500 us: 6, 3, 4, 1 and 2 of 16 samples.
cpuprofile() {
    node "$npm/speedscope.mjs" "$modules" "$D/out.cpuprofile" >"$D/cpuprofile" 2>"$D/cpuprofile.err" || {
        tail -c 2000 "$D/cpuprofile.err"
        return 1
    }
    want "$D/cpuprofile" '^out.cpuprofile 17500$' '^  leaf 656[23] 984[34]$' '^  client 0 1093[78]$' \
        '^  handle \[kernel\] 328[12] 328[12]$' '^  \[unknown\] \[kernel\] 218[78] 218[78]$' '^  idle_thread \[kernel\] 437[45] 437[45]$'
}

# Its daemon is started here, because the command itself waits only half a second, too little on a busy machine.
firefox() {
    PROFILER_CLI_SESSION_DIR=$(mktemp -d /tmp/mkperf-pq-XXXXXX)
    export PROFILER_CLI_SESSION_DIR PROFILER_CLI_NO_SYMBOLICATE=1
    cli=$modules/@firefox-devtools/profiler-cli/dist/profiler-cli.js
    node "$cli" --daemon "$D/out.firefox.json" --session t >"$D/firefox.daemon" 2>&1 &
    daemon=$!
    tries=0 # a client that connects before the socket exists ends the session
    until [ -S "$PROFILER_CLI_SESSION_DIR/t.sock" ] || [ $tries -ge 100 ]; do
        tries=$((tries + 1))
        sleep 0.2
    done
    until node "$cli" profile info --all --session t >"$D/firefox" 2>&1 || [ $tries -ge 100 ]; do
        tries=$((tries + 1))
        sleep 0.2
    done
    status=0
    for t in 0 1 2 3 4 5 6 7; do
        node "$cli" thread samples --thread t-$t --include-idle --session t
    done >>"$D/firefox" 2>&1 || status=1
    for t in 0 7; do
        node "$cli" thread markers --thread t-$t --session t >>"$D/firefox" 2>&1 || status=1
    done
    node "$cli" counter list --session t >>"$D/firefox" 2>&1 || status=1
    kill $daemon
    wait $daemon 2>/dev/null
    rm -rf "$PROFILER_CLI_SESSION_DIR"
    [ $status -eq 0 ] || { tail -n 20 "$D/firefox"; return 1; }
    want "$D/firefox" 'client core 0 (cpu-cycles)' 'client core 1 (r17)' 'lost samples' \
        'leaf - self: 3000 (60.0%)' 'leaf - self: 3000 (75.0%)' 'handle - self: 2000 (40.0%)' \
        'handle - self: 1000 (25.0%)' 'idle_thread - self: 2000 (66.7%)' \
        'middle - self: 25 (100.0%)' 'Kernel .* 2000 ' 'Lost samples' 'request .*3 markers .*max=4ms' \
        'cpu-cycles (PMU) .*client' 'r17 (PMU) .*client' 'lost samples (PMU)'
}

# The tracks' steps add up to the weights of the PDs' samples, over both cores.
tracks() {
    node -e '
        const profile = JSON.parse(require("fs").readFileSync(process.argv[1], "utf8"));
        const sum = {};
        for (const c of profile.counters) {
            const of = `${profile.threads[c.mainThreadIndex].processName} ${c.name}`;
            sum[of] = c.samples.count.reduce((a, b) => a + b, sum[of] || 0);
        }
        for (const of in sum) {
            console.log(`${of} ${sum[of]}`);
        }' "$D/out.firefox.json" >"$D/tracks" 2>&1
    want "$D/tracks" '^client cpu-cycles 9000$' '^client r17 50$' '^idle cpu-cycles 6000$' \
        '^lost samples lost samples 12$'
}
has node "tracks of counters" && check "Firefox Profiler's counters" tracks
if has node "speedscope, Firefox Profiler" && has npm "speedscope, Firefox Profiler"; then
    check "the readers are installed" install_npm
    check "speedscope's importer" speedscope
    check "speedscope's importer of .cpuprofile" cpuprofile
    check "Firefox Profiler's command" firefox
fi

lines() {
    node -e '
        const fs = require("fs");
        let period = 0, lost = 0;
        for (const line of fs.readFileSync(process.argv[1], "utf8").split("\n")) {
            if (line === "") continue;
            const o = JSON.parse(line);
            if (o.type === "sample" && o.event === "cpu-cycles") period += o.period;
            if (o.type === "lost") lost += o.samples;
        }
        console.log(period, lost);' "$D/out.jsonl" >"$D/lines" 2>&1
    want "$D/lines" '^16000 12$' || return 1
}
has node "JSON Lines" && check "JSON Lines" lines

# perf's report of the command's output, against its other formats.
whole_way() {
    cd "$D" || return 1
    leaf=$(aarch64-linux-gnu-nm client.elf | awk '$3 == "leaf" { print $1 }')
    middle=$(aarch64-linux-gnu-nm client.elf | awk '$3 == "middle" { print $1 }')
    awk -v leaf=$((0x$leaf)) -v middle=$((0x$middle + 12)) 'BEGIN {
        printf "{\"elf_tcb_mappings\": {\"client.elf\": 1}, \"samples\": ["
        for (i = 0; i < 1000; i++)
            printf "%s{\"ip\": \"%d\", \"pid\": 1, \"time\": \"%d\", \"cpu\": 0, \"period\": 7, " \
                "\"nr\": \"%d\", \"ips\": [%s, 0]}", i ? "," : "", leaf, i * 1000, i % 4 != 0,
                i % 4 ? middle : 0
        print "]}" }' >samples.json
    "$MKPERF" toperf -s samples.json -b . 2>toperf.log || { cat toperf.log; return 1; }
    cd - >/dev/null || return 1
    perf_quiet report --stdio -i "$D/perf.data" -g none --no-children --sort comm,symbol >"$D/perf" || return 1
    want "$D/perf" 'Event count (approx.): 7000' '100.00%  client   \[\.\] leaf' || return 1
    chains "$D/perf.data" >"$D/perf.chains"
    "$MKPERF" convert -q "$D/perf.data" -o "$D/perf.jsonl" || return 1
    awk '{ print $3 }' "$D/perf.chains" | sort | uniq -c >"$D/perf.counts"
    want "$D/perf.counts" '^ *250 leaf;*$' '^ *750 leaf;middle;*$' || return 1
    "$MKPERF" convert -q "$D/perf.data" --to perf -o - |
        perf_quiet report --stdio -i - -g none --no-children --sort comm,symbol >"$D/perf.piped" || return 1
    sed -i '/(Tip: /d' "$D/perf" "$D/perf.piped" # one of many, by chance
    cmp "$D/perf" "$D/perf.piped" || return 1
    "$MKPERF" convert -q "$D/perf.data" --to perf -o - |
        "$MKPERF" convert -q - --from perf -o - --to jsonl | cmp - "$D/perf.jsonl" || return 1
    "$MKPERF" convert -q "$D/perf.data" --no-inline --to folded -o - >"$D/perf.folded" || return 1
    want "$D/perf.folded" '^client;leaf 1750$' '^client;middle;leaf 5250$'
}
has perf "toperf" && check "samples.json through toperf, perf and convert" whole_way

# The links behave as the commands of their names.
installed() {
    MAKEFLAGS='' make -s install BUILD_DIR="$B" DESTDIR="$D/root" PREFIX=/usr >"$D/install.log" 2>&1 || {
        cat "$D/install.log"
        return 1
    }
    "$D/root/usr/bin/toperf" -s "$D/samples.json" -b "$D" -o "$D/link.data" 2>"$D/link.log" || { cat "$D/link.log"; return 1; }
    want "$D/link.log" '1000 samples' && "$D/root/usr/bin/kprof2perf" --help >"$D/link.log" && want "$D/link.log" 'kpdata'
}
check "make install: mkperf, toperf, kprof2perf" installed

agrees_with_report() {
    "$MKPERF" report -i "$D/perf.data" >"$D/report" 2>&1 || { cat "$D/report"; return 1; }
    want "$D/report" '1000 of event .cycles:u., period sum 7000' '100.00% .*leaf'
}
check "mkperf report agrees" agrees_with_report
