#!/bin/sh
# SPDX-License-Identifier: BSD-2-Clause
# What users see of several cores: the demo on two cores, recorded, looked at by core, and read by perf.
set -u
NAME=cpus
. tests/system/lib.sh
t=$B/cores
files="--system $t/cores.system --elf-path $t:$B/demo"
QEMU=$(cat "$t/qemu-command")
export D files QEMU

check "two cores are recorded, and one of them" scripts/qemu-talk "$D" \
    '$MKPERF record -t $T --duration 1 --raw $D/both.raw $files -o $D/both.data >$D/both.log 2>&1' \
    '$MKPERF record -t $T -C 1 --duration 0.5 $files -o $D/one.data >$D/one.log 2>&1' \
    '! $MKPERF record -t $T -C 2 --duration 0.1 $files -o $D/none.data >$D/none.log 2>&1' \
    '$MKPERF top -t $T --stdio --duration 0.5 $files >$D/top 2>&1' \
    '$MKPERF stat -t $T --per-core -e cycles -x , --duration 0.5 -o $D/stat.csv >$D/stat.log 2>&1'

# has FILE PATTERN...
has() {
    file=$1
    shift
    for pattern; do
        grep -q -- "$pattern" "$file" || { echo "no '$pattern' in"; cat "$file"; return 1; }
    done
}

named() {
    "$MKPERF" report --stdio -s core "$D/both.data" >"$D/both" &&
        has "$D/both.log" '^  cores   core 0  .* 0 lost$' '^          core 1  .* 0 lost$' &&
        has "$D/both" '^# base  *100 % are the samples of cores 0-1 together' '^# cores  *core 0 ' '^#  *core 1 ' &&
        has "$D/none.log" 'the target samples cores 0-1, and no others' &&
        has "$D/top" '  core 0$' '  core 1$' ' of 2 cores'
}
check "summary, report and top name the cores and what percentages are of" named

alone() {
    "$MKPERF" script -F cpu,time -G "$D/one.data" >"$D/one.txt" && has "$D/one.txt" '^\[001\]' &&
        ! grep -v '^\[001\]\|^$' "$D/one.txt" && "$MKPERF" report --stdio "$D/one.data" >"$D/one" &&
        has "$D/one" 'only core 1 is sampled: percentages are of core 1'
}
check "record -C 1 has samples of core 1 alone" alone

# Of the recording and of the line's bytes: the same samples of core 0.
chosen() {
    "$MKPERF" convert -q -C 0 "$D/both.data" -o "$D/a.csv" &&
        "$MKPERF" convert -q -C 0 --from raw $files "$D/both.raw" -o "$D/b.csv" || return 1
    for i in a b; do
        grep ^sample "$D/$i.csv" | cut -d, -f1-8 >"$D/$i"
    done
    [ "$(wc -l <"$D/a")" -ge 900 ] && cmp "$D/a" "$D/b" && ! awk -F, '$3 != 0' "$D/a" | grep .
}
check "convert -C 0 of the file and of the capture" chosen

# perf has the same cores, in one order of time, and the same shares.
perf_agrees() {
    perf_quiet script -i "$D/both.data" -F cpu,time >"$D/order" || return 1
    awk '{ sub(":", "", $2); if ($2 + 0 < last) late++; last = $2 + 0; n[$1]++ }
        END { print n["[000]"], n["[001]"], late + 0; exit !(n["[000]"] > 900 && n["[001]"] > 900 && late == 0) }' \
        "$D/order" || return 1
    perf_quiet report --stdio --no-children -g none --sort cpu -i "$D/both.data" |
        awk '/%/ { print $1, $2 }' | sort >"$D/perf.cpu"
    awk '/^ .*%/ { print $1, $4 }' "$D/both" | sort >"$D/mkperf.cpu"
    cat "$D/perf.cpu" "$D/mkperf.cpu"
    [ -s "$D/perf.cpu" ] && cmp "$D/perf.cpu" "$D/mkperf.cpu"
}
check "perf report --sort cpu agrees" perf_agrees

# Either core counts a cycle each nanosecond; by core, if the target counts so.
counted() {
    cat "$D/stat.csv"
    awk -F, '$5 == "cycles" { rate += $3 / $6 } END { exit !(rate > 1.98 && rate < 2.02) }' "$D/stat.csv"
}
check "stat counts both cores" counted
