#!/bin/sh
# SPDX-License-Identifier: BSD-2-Clause
# Converting, reporting and drawing a million samples, beside the programs that do the same: the seL4
# profiler's toperf (PEER_TOPERF: the path of a release build of it) and perf. A peer that is not there
# is left out with a line that says so. Seconds are user and system time of one core, the best of
# three. Ends with an error if what is compared is not the same.
set -eu
. bench/lib.sh
export MKPERF_SNAPSHOTS=no # ask.sh measures answers from snapshots

samples=1000000
mkdir -p "$d/build" "$d/peer"
for elf in known dummy1 dummy2; do
    cp "$B/demo/$elf.elf" "$d/build/"
done
# The newest form of that profiler: the mapping is beside the ELFs.
echo '{"elf_tcb_mappings": {"known.elf": 1, "dummy1.elf": 2, "dummy2.elf": 3}}' >"$d/build/sample_header.json"

# generate N: samples as the netconn client of that profiler writes them (protobuf's JSON), 8 of 16
# ips used, in functions of the three programs; 1 in 2 on the stack of the one before
generate() {
    for elf in known dummy1 dummy2; do
        "${CROSS}nm" -S --defined-only "$d/build/$elf.elf" |
            awk -v elf=$elf '($3 == "t" || $3 == "T") && NF == 4 { print elf, "0x" $1, "0x" $2 }'
    done >"$d/functions"
    while read -r elf address size; do
        echo "$elf $((address)) $((size))"
    done <"$d/functions" | awk -v n="$1" '
        $3 >= 8 { pd = $1 == "known" ? 1 : $1 == "dummy1" ? 2 : 3
                  for (a = $2 + 4; a < $2 + $3 && a < $2 + 36; a += 4) code[pd, count[pd]++] = a }
        function draw(m) { seed = (seed * 1103515245 + 12345) % 2147483648; return int(seed / 65536) % m }
        END {
            seed = 1
            print "{\n\"samples\": ["
            for (i = 0; i < n; i++) {
                pd = draw(3) + 1
                if (!(pd in stack) || draw(2)) {
                    stack[pd] = ""
                    at = draw(count[pd])
                    for (k = 0; k < 16; k++)
                        stack[pd] = stack[pd] sprintf("    \"%d\"%s\n",
                            k < 8 ? code[pd, (at + k * 5 + draw(3)) % count[pd]] : 0, k < 15 ? "," : "")
                }
                printf "%s{\n  \"ip\": \"%d\",\n  \"pid\": %d,\n  \"time\": \"%d\",\n  \"cpu\": %d,\n" \
                    "  \"period\": \"1000000\",\n  \"nr\": \"8\",\n  \"ips\": [\n%s  ]\n}", i ? "," : "",
                    code[pd, draw(count[pd])], pd, i * 1000, i % 4, stack[pd]
            }
            print "]\n}"
        }'
}
for n in $((samples / 10)) $samples; do
    [ -s "$d/samples-$n.json" ] || generate "$n" >"$d/samples-$n.json"
done

rate() {
    awk -v n=$samples -v s="$1" 'BEGIN { printf "%.0f", n / s }'
}
mib() {
    awk -v k="$1" 'BEGIN { printf "%.1f", k / 1024 }'
}
ratio() { # ratio SLOW FAST
    awk -v a="$1" -v b="$2" 'BEGIN { printf "%.1f", a / b }'
}

best toperf-small "$MKPERF" toperf -s "$d/samples-$((samples / 10)).json" -b "$d/build" -o "$d/toperf.data"
best toperf "$MKPERF" toperf -s "$d/samples-$samples.json" -b "$d/build" -o "$d/toperf.data"
read -r small wall small_rss <"$d/toperf-small"
read -r cpu wall rss <"$d/toperf"
value toperf_samples_per_second "$(rate "$cpu")" samples/s - "samples.json, 8 frames, to perf.data"
value toperf_peak_rss_mib "$(mib "$rss")" MiB '<=32' "1,000,000 samples"
value toperf_peak_rss_mib_tenth "$(mib "$small_rss")" MiB '<=32' "100,000 samples"
if [ -x "${PEER_TOPERF:-}" ]; then
    best peer-toperf sh -c 'cd "$1" && exec "$2" -s "$3" -b "$4"' sh "$d/peer" "$(realpath "$PEER_TOPERF")" \
        "$(realpath "$d/samples-$samples.json")" "$(realpath "$d/build")"
    read -r peer wall peer_rss <"$d/peer-toperf"
    value peer_toperf_samples_per_second "$(rate "$peer")" samples/s - "the seL4 profiler's own toperf"
    value peer_toperf_peak_rss_mib "$(mib "$peer_rss")" MiB - "the same"
    value toperf_times_peer "$(ratio "$peer" "$cpu")" times '>=2' "faster than that"
else
    echo "left out: the seL4 profiler's toperf: no PEER_TOPERF"
fi

best report "$MKPERF" report --stdio -i "$d/toperf.data"
"$MKPERF" report --stdio -i "$d/toperf.data" >"$d/report.txt"
best report-chains "$MKPERF" report --stdio --children -g -i "$d/toperf.data"
best flamegraph "$MKPERF" convert -q "$d/toperf.data" -o "$d/million.svg"
read -r report wall rss <"$d/report"
read -r chains wall chains_rss <"$d/report-chains"
read -r svg wall svg_rss <"$d/flamegraph"
value report_seconds "$report" s - "mkperf report --stdio, 1,000,000 samples"
value report_peak_rss_mib "$(mib "$rss")" MiB - "the same"
value report_chains_seconds "$chains" s '<=0.15' "mkperf report --stdio --children -g"
if command -v perf >/dev/null; then
    best perf-report perf report --stdio -i "$d/toperf.data"
    best perf-flat perf report --stdio --no-children -g none -i "$d/toperf.data"
    perf report --stdio --no-children -g none -F overhead,sample,comm,sym -i "$d/toperf.data" \
        >"$d/perf-report.txt" 2>/dev/null
    read -r perf wall perf_rss <"$d/perf-report"
    read -r flat wall flat_rss <"$d/perf-flat"
    value perf_report_seconds "$perf" s - "perf report --stdio"
    value perf_report_flat_seconds "$flat" s - "perf report --stdio --no-children -g none"
    value perf_report_peak_rss_mib "$(mib "$flat_rss")" MiB - "the same"
    value report_times_perf "$(ratio "$flat" "$report")" times '>=3' "report: faster than that"
    value report_chains_times_perf "$(ratio "$perf" "$chains")" times '>=3' \
        "with callers and callees: faster than perf report --stdio"
    # Share, samples, PD and function of each row.
    awk '/^ / && $1 ~ /%$/ { print $1, $2, $4, $6 }' "$d/report.txt" | sort >"$d/report.rows"
    awk '/^ / && $1 ~ /%$/ { print $1, $2, $3, $5 }' "$d/perf-report.txt" | sort >"$d/perf-report.rows"
    [ -s "$d/report.rows" ] && cmp "$d/report.rows" "$d/perf-report.rows" || {
        echo "bench: mkperf report and perf report differ" >&2
        exit 1
    }
    value report_rows_equal "$(wc -l <"$d/report.rows")" rows - "the same shares, all rows"
else
    echo "left out: perf report: no perf"
fi
value flamegraph_seconds "$svg" s '<=1' "flame graph, 1,000,000 samples"
value flamegraph_peak_rss_mib "$(mib "$svg_rss")" MiB - "the same"

# Memory for each node of a flame graph's tree, beyond that of pprof, which has no tree: chains of 16 functions at random, of
# which few begin in the same way.
awk -v n=50000 '
    { code[NR - 1] = $2 + 4 }
    function draw(m) { seed = (seed * 69069 + 1) % 4294967296; return int(seed / 65536) % m }
    END {
        seed = 1
        print "{\n\"samples\": ["
        for (i = 0; i < n; i++) {
            printf "%s{\n  \"ip\": \"%d\",\n  \"pid\": 1,\n  \"time\": \"%d\",\n  \"cpu\": 0,\n  \"period\": \"1000000\"," \
                "\n  \"nr\": \"16\",\n  \"ips\": [\n", i ? "," : "", code[draw(NR)], i * 1000
            for (k = 0; k < 16; k++) printf "    \"%d\"%s\n", code[draw(NR)], k < 15 ? "," : ""
            printf "  ]\n}"
        }
        print "]\n}"
    }' <<END >"$d/chains.json"
$(sed -n 's/^known //p' "$d/functions" | while read -r address size; do echo known $((address)); done)
END
"$MKPERF" toperf -s "$d/chains.json" -b "$d/build" -o "$d/chains.data" >"$d/chains.log" 2>&1
best chains-pprof "$MKPERF" convert -q "$d/chains.data" --to pprof -o "$d/chains.pb.gz"
best chains-svg "$MKPERF" convert -q "$d/chains.data" -o "$d/chains.svg"
"$MKPERF" convert -q "$d/chains.data" --to folded -o "$d/chains.folded"
read -r cpu wall rss <"$d/chains-pprof"
read -r cpu wall svg_rss <"$d/chains-svg"
# Stacks are in the order of the tree: each has as many nodes as it does not share with the stack before.
nodes=$(sed 's/ [0-9]*$//' "$d/chains.folded" | awk -F ';' '
    { for (same = 0; same < n && same < NF && $(same + 1) == last[same + 1]; same++); total += NF - same
      n = NF; for (i = 1; i <= n; i++) last[i] = $i }
    END { print total }')
bounded tree_bytes_per_node "$(awk -v a="$rss" -v b="$svg_rss" -v n="$nodes" 'BEGIN { printf "%.1f", (b - a) * 1024 / n }')" B '<=64' \
    "a flame graph's memory for each of $nodes nodes, beyond pprof's"
