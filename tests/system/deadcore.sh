#!/bin/sh
# SPDX-License-Identifier: BSD-2-Clause
# A core that stands still while a session runs, and one that comes late to it: both are named on the screen, in the
# file and in the report, the others are sampled as ever, and the next session has them all. QEMU stops the core
# (tests/tool/stop_core.c).
set -u
NAME=deadcore
. tests/system/lib.sh
t=$B/cores
files="--system $t/cores.system --elf-path $t:$B/demo"
QEMU="$(cat "$t/qemu-command") -chardev socket,path=$D/gdb.sock,server=on,wait=off,id=gdb -gdb chardev:gdb"
IDLE=$(aarch64-linux-gnu-nm "$B/demo/kernel.elf" | awk '$3 == "idle_loop" { print $1 }')
export D files QEMU IDLE

# during NAME KIB COMMAND MORE: records; runs the command when so much of the file is there, and ends the recording
# when there is so much more: what happens when is a matter of the target's time alone. The file is read while the
# command runs: QEMU does not answer it as long as the target's serial line is full.
cat >"$D/during" <<'EOF'
mkfifo "$D/$1.pipe" || exit 1
$MKPERF record -t "$T" -F 2000 $files --raw "$D/$1.raw" -o - >"$D/$1.pipe" 2>"$D/$1.log" &
record=$!
{
    dd bs=1024 count="$2" iflag=fullblock status=none
    { $3 >&2 || kill $record; echo >"$D/$1.done"; } &
    until [ -s "$D/$1.done" ]; do
        dd bs=1024 count=1 iflag=fullblock status=none
    done
    dd bs=1024 count="$4" iflag=fullblock status=none
    kill -INT $record
    cat
} <"$D/$1.pipe" >"$D/$1.data"
wait $record
EOF
# Core 1 is stopped when it has been counted. Three intervals later the counting ends.
cat >"$D/counting" <<'EOF'
printed() { # printed PATTERN LINES: waits for so many lines of the counts
    until [ "$(grep -c "$1" "$D/dies.csv")" -ge "$2" ]; do
        kill -0 $stat || exit 1
        sleep 0.05
    done
}
: >"$D/dies.csv"
$MKPERF stat -t "$T" --per-core -e cycles:u,cycles:k -I 100 -x , >"$D/dies.csv" 2>&1 &
stat=$!
printed ',C1,1,[1-9]' 1 && "$B/stop-core" "$D/gdb.sock" 1 2 "$IDLE" && printed , $(($(grep -c , "$D/dies.csv") + 12)) || kill $stat
kill -INT $stat
wait $stat
EOF
check "sessions with a core that dies, and one that comes late" scripts/qemu-talk "$D" \
    'sh $D/during dead 150 "$B/stop-core $D/gdb.sock 1 2 $IDLE" 200' \
    '$MKPERF stat -t $T --per-core -e cycles:u,cycles:k --duration 0.2 -x , -o $D/stat.csv >$D/stat.log 2>&1' \
    'sh $D/during late 120 "$B/stop-core $D/gdb.sock" 400' \
    '$MKPERF record -t $T -F 2000 --duration 0.2 $files -o $D/after.data >$D/after.log 2>&1' \
    'sh $D/counting'

# when NAME: `core first last` of samples, in ms since the first of all.
when() {
    "$MKPERF" convert -q "$D/$1.data" -o "$D/$1.jsonl" &&
        jq -r 'select(.type == "sample") | [.core // 0, .time_ns] | @tsv' "$D/$1.jsonl" | awk '
            NR == 1 { zero = $2 }
            !($1 in first) { first[$1] = $2 - zero }
            { last[$1] = $2 - zero; n[$1]++ }
            END { for (c in n) printf "%d %d %d %d\n", c, first[c] / 1e6, last[c] / 1e6, n[c] }' | sort
}

# Core 1's samples end; core 0 has two a millisecond all the time.
dead() {
    when dead >"$D/dead.times"
    cat "$D/dead.times" "$D/dead.log"
    "$MKPERF" report --stdio "$D/dead.data" >"$D/dead.txt" || return 1
    contains "$D/dead.log" '^mkperf: warning: core 1 did not answer' 'core 1  .* 1 late answer$' ' 0 lost' &&
        contains "$D/dead.txt" '^# WARNING: core 1 did not answer' '^#  *core 1  .* 1 late answer$' &&
        contains "$D/dead.jsonl" '"core":1,"state":"late"' &&
        awk '$1 == 0 { last = $3; n = $4 } $1 == 1 { its = $3; m = $4 }
            END { exit !(n > 1.8 * last && n < 2.2 * last && m > 1.8 * its && m < 2.2 * its && its > 100 && last > its + 200) }' "$D/dead.times"
}
check "a core that dies during a session is named, and what it had is there" dead

# From the capture of the line as well.
raw() {
    "$MKPERF" convert -q --from raw $files "$D/dead.raw" -o "$D/raw.jsonl" && contains "$D/raw.jsonl" '"core":1,"state":"late","samples":[1-9]'
}
check "the stream names it" raw

# What it does is in no count, and the others' are whole.
counted() {
    cat "$D/stat.csv" "$D/stat.log"
    contains "$D/stat.log" '^mkperf: warning: core 1 did not answer' &&
        awk -F, '$5 ~ /^cycles/ { sum[$1] += $3; ns = $6 }
            END { exit !(sum["C0"] > 0.99 * ns && sum["C0"] < 1.01 * ns && !("C1" in sum)) }' "$D/stat.csv"
}
check "counts of the others, with a warning" counted

# Core 1's samples begin when it goes on.
late() {
    when late >"$D/late.times"
    cat "$D/late.times" "$D/late.log"
    "$MKPERF" report --stdio "$D/late.data" >"$D/late.txt" || return 1
    contains "$D/late.log" '^mkperf: warning: core 1 did not answer 1 request of the target in time' ' 0 lost' &&
        contains "$D/late.txt" '^# WARNING: core 1 did not answer 1 request' &&
        contains "$D/late.jsonl" '"core":1,"state":"runs",.*"late_answers":1' &&
        awk '$1 == 0 { n = $4; last = $3 } $1 == 1 { first = $2; m = $4; its = $3 - $2 }
            END { exit !(n > 1.8 * last && n < 2.2 * last && first > 100 && m > 1.8 * its && m < 2.2 * its && its > 100) }' "$D/late.times"
}
check "a core that comes late to a session is named, and takes part from then on" late

after() {
    when after
    ! grep warning "$D/after.log" | grep -v "cores take turns" && [ "$(when after | awk '$4 > 180' | wc -l)" = 2 ]
}
check "the next session has both" after

# From when the core is late on, what it counts is not known, in each interval and at the end: no zero.
dies() {
    cat "$D/dies.csv"
    contains "$D/dies.csv" '^mkperf: warning: core 1 did not answer' &&
        awk -F, '$2 == "C1" && $4 == "<not counted>" { late++; bad += $7 != 0 || $12 != "" }
            $2 == "C1" && $4 != "<not counted>" { early++; bad += late > 0 }
            $2 == "C0" { bad += $4 !~ /^[0-9]+$/ }
            END { exit !(early >= 2 && late >= 2 && !bad) }' "$D/dies.csv"
}
check "a core that dies while it is counted has no count" dies
