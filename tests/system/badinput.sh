#!/bin/sh
# SPDX-License-Identifier: BSD-2-Clause
# Every kind of input with every kind of damage, read by mkperf with sanitizers. Each case ends with exit
# status 2 and a message that has the file's name, the place and the reason, or with 0 and a warning that
# names what was skipped or is unknown. No case crashes, and an older output is unchanged after an error. Environment: B.
set -u
NAME=badinput
B=$(realpath "$B")
. tests/system/lib.sh
mkdir -p "$D/elf"
demo=$(realpath "$B/demo")
mkperf=$(realpath "$B/tests/mkperf-asan")
QEMU=$(cat "$B/demo/qemu-command")
MKPERF=$(realpath "$B/mkperf")
export QEMU MKPERF
# A sanitizer's status is none of mkperf's.
export ASAN_OPTIONS=detect_leaks=1:exitcode=99 UBSAN_OPTIONS=halt_on_error=1:exitcode=99

record() {
    scripts/qemu-record "$D" -N -e cycles -F 400 -g --duration 2 --system "$demo/demo.system" \
        --elf-path "$demo" -o "$D/good.data" --raw "$D/good.raw" >"$D/record.log" 2>&1 ||
        { cat "$D/record.log"; return 1; }
    "$MKPERF" convert -q "$D/good.data" -o - --to perf >"$D/good.pipe"
}
check "recorded" record
[ -s "$D/good.pipe" ] || exit 1
cd "$D" || exit 1
raw="--from raw --system $demo/demo.system --elf-path $demo"

# le BYTES NUMBER: little-endian bytes, for printf
le() {
    n=$2
    for i in $(seq "$1"); do
        printf '\\%03o' $((n & 255))
        n=$((n >> 8))
    done
}
# patch FROM TO OFFSET BYTES NUMBER: a copy with a number written over
patch() {
    cp "$1" "$2"
    printf "$(le "$4" "$5")" | dd of="$2" bs=1 seek="$3" conv=notrunc 2>/dev/null
}

failed=0
complain() {
    echo "$1"
    failed=1
}
# run STATUS PATTERN COMMAND...: expects that status and a message with the pattern
run() {
    want=$1
    pattern=$2
    shift 2
    printf older >older.out
    timeout 60 "$mkperf" "$@" >stdout 2>stderr </dev/null
    got=$?
    cat stdout stderr >said
    [ "$got" -eq "$want" ] || complain "$*: status $got, not $want: $(cat stderr)"
    grep -Eq -- "$pattern" said || [ -z "$pattern" ] || complain "$*: no '$pattern' in: $(head -c 400 stderr)"
    [ "$got" -eq 0 ] || { read -r older <older.out; [ "$older" = older ]; } || complain "$*: the older output is lost"
    [ ! -e older.out.partial ] || { complain "$*: a partial output"; rm -f older.out.partial; }
}
to=perf
bad() { # bad PATTERN ARGUMENTS OF CONVERT; in turn with two writers, which the readers do not know
    pattern=$1
    shift
    [ "$to" = perf ] && to=folded || to=perf
    run 2 "$pattern" convert -o older.out --to "$to" "$@"
}
warns() {
    pattern=$1
    shift
    run 0 "$pattern" convert -o older.out --to folded "$@"
}
finish() {
    n=$failed
    failed=0
    [ "$n" -eq 0 ]
}

# ---- samples.json ----
map='"elf_tcb_mappings": {"a.elf": 1}'
sample='{"ip": 100, "pid": 1, "time": 5, "cpu": 0, "period": 10, "nr": 1, "ips": [7]}'
json() { # json PATTERN KEY VALUE: one member of the second sample is wrong
    printf '{%s, "samples": [%s,\n%s]}' "$map" "$sample" \
        "$(echo "$sample" | sed "s/\"$2\": [^],]*\\(]\\|\\)/\"$2\": $3/")" >bad.json
    bad "bad.json:2:[0-9]+: .*$1" bad.json
}
text() { # text PATTERN CONTENTS
    printf '%s' "$2" >bad.json
    bad "bad.json:[0-9]+:[0-9]+: .*$1" --from toperf bad.json
}
long=$(seq -s, 65)
samples_json() {
    text 'file is empty' ''
    text 'file is empty' '   '
    text 'expected an object' '[1]'
    text 'ends inside' "{$map, \"samples\": [$sample"
    text 'no samples' "{$map}"
    text 'no elf_tcb_mappings' "{\"samples\": [$sample]}"
    text 'again' "{$map, $map, \"samples\": []}"
    text 'expected an array' "{$map, \"samples\": {}}"
    json 'ip: a negative number' ip -1
    json 'ip: a number beyond 64 bits' ip 18446744073709551616
    json 'ip: not a decimal' ip 1.5
    json 'ip: not a decimal' ip '"x"'
    json 'ip: expected a number' ip '{}'
    json 'time: a negative number' time -7
    json 'time: a number beyond' time 99999999999999999999
    json 'period: a negative' period -1
    json 'period: 0' period 0
    json 'no core has such a number' cpu 65536
    json 'pid: beyond 32 bits' pid 4294967296
    json 'pid' pid 2
    json 'nr: a negative' nr -1
    json 'nr is more than ips has' nr 2
    json 'nr is more than ips has' nr 18446744073709551615
    # As in the example of the tool that is replaced: what is behind nr entries is left out, and said so.
    for more in 's/"nr": 1/"nr": 0/' 's/\[7\]/[7, 8]/'; do
        printf '{%s, "samples": [%s,\n%s]}' "$map" "$sample" "$(echo "$sample" | sed "$more")" >bad.json
        warns '1 sample in which nr and ips disagree: the shorter chain was used' bad.json
    done
    json 'nr is more than ips has' ips '[]'
    json 'expected an array' ips 7
    json 'ips: a negative number' ips '[-1]'
    json 'ips: more than 64 entries' ips "[$long]"
    printf '{%s, "samples": [%s, {"ip": 1}, %s' "$map" "$sample" "$sample" >bad.json
    warns '[0-9]+ .*samples? .*(dropped|left out)|[0-9]+ samples' --lenient bad.json
    run 2 'missing.json: No such file' convert missing.json -o older.out --to folded
    # ELFs: missing, none, cut, of another machine.
    printf '{%s, "samples": [%s]}' "$map" "$sample" >good.json
    rm -f elf/*
    bad 'a.elf: No such file' --build-dir elf good.json
    warns '1 ELFs unusable' --lenient --build-dir elf good.json
    echo "no ELF" >elf/a.elf
    warns 'a.elf.*(ELF|magic)' --build-dir elf good.json
    head -c 1000 "$demo/known.elf" >elf/a.elf
    warns 'a.elf' --build-dir elf good.json
    : >elf/a.elf
    warns 'a.elf' --build-dir elf good.json
    patch "$demo/known.elf" elf/a.elf 18 2 8 # EM_MIPS
    warns 'a.elf' --build-dir elf good.json
    # Times that go back are sorted or reported.
    printf '{%s, "samples": [%s, %s]}' "$map" "$sample" \
        "$(echo "$sample" | sed 's/"time": 5/"time": 3/')" >bad.json
    run 0 'bad.json:1:[0-9]+: 1 sample earlier' convert bad.json -o sorted.data
    run 0 '' script -i sorted.data -F time --ns
    grep -o '0\.0000000..' stdout >times
    [ "$(tr '\n' ' ' <times)" = '0.000000003 0.000000005 ' ] || complain "perf.data: times are $(cat times)"
    finish
}
check "samples.json" samples_json

# ---- kpdata ----
# user PC... (era B): a user's sample; head SIZE is computed
user() { # user TIME PID CPU N PC...
    time=$1 pid=$2 cpu=$3 frames=$4
    shift 4
    printf "$(le 1 2)$(le 1 $((24 + 8 * $#)))$(le 8 0)$(le 8 "$time")$(le 4 "$pid")$(le 2 "$cpu")$(le 2 "$frames")"
    for pc; do printf "$(le 8 "$pc")"; done
}
kpdata() {
    user 7 5 0 1 4198400 >good.kp
    : >bad.kp
    bad 'bad.kp: .*empty' --from kprof bad.kp
    head -c 30 good.kp >bad.kp
    bad 'bad.kp: offset 0: ' --from kprof bad.kp
    (cat good.kp; head -c 20 good.kp) >bad.kp
    bad 'bad.kp: offset 34: ' --from kprof bad.kp
    warns 'the last 20 bytes' --lenient --from kprof bad.kp
    (cat good.kp; printf '\002\377\377\377\377\377\377\377\377\377\177') >bad.kp
    bad 'bad.kp: offset 34: ' --from kprof bad.kp
    (cat good.kp; printf '\011\040'; head -c 32 /dev/zero) >bad.kp
    warns 'unknown types|unknown' --from kprof bad.kp
    (cat good.kp; user 8 5 0 9 4198400) >bad.kp
    bad 'bad.kp: ' --from kprof bad.kp
    (cat good.kp; user 8 5 0 0 4198400) >bad.kp
    bad 'bad.kp: ' --from kprof bad.kp
    bad 'bad.kp: .*era A|offset' --from kprof --kprof-era A good.kp
    bad 'missing: No such file' --kernel missing --from kprof good.kp
    bad 'text: .*ELF' --kernel text --from kprof good.kp
    bad 'missing.kp: No such file' --from kprof missing.kp
    (user 9 5 0 1 4198400; user 7 5 0 1 4198404) >bad.kp
    run 0 '' convert --from kprof bad.kp -o sorted.jsonl -q
    sed -n 's/^{"type":"sample","time_ns":\([0-9]*\),.*/\1/p' sorted.jsonl >times
    [ "$(wc -l <times)" -eq 2 ] || complain "not two times"
    sort -n times | cmp -s - times || complain "times are out of order"
    finish
}
echo "just text" >text
check "kpdata" kpdata

# ---- perf.data ----
perf_data() {
    : >bad.data
    bad 'bad.data: .*empty' bad.data
    bad 'bad.data: offset 0: ' --from perf bad.data
    bad 'text: offset 0: ' --from perf text
    bad 'text: neither perf.data nor' text
    bad 'missing.data: No such file' missing.data
    bad '/: (not a regular|Is a dir)' /
    printf '2ELIFREP' | cat - good.data >bad.data # another byte order
    bad 'bad.data: ' --from perf bad.data
    for offset in 8 16 24 32 40 48; do # of the head: its size, the attributes, the data
        patch good.data bad.data $offset 8 $((1 << 62))
        bad 'bad.data: offset [0-9]+: ' bad.data
        patch good.data bad.data $offset 8 -1
        bad 'bad.data: offset [0-9]+: ' bad.data
    done
    # Truncated. tests/unit/test_compressed.c cuts a file each 997 bytes, test_perfdata_pipe.c a pipe at each byte.
    size=$(wc -c <good.data)
    for i in 0 1 6 12 18 23 24; do
        head -c $((size * i / 25 + i % 7)) good.data >bad.data
        timeout 60 "$mkperf" convert bad.data -o older.out --to folded >stdout 2>said
        status=$?
        if [ $status -eq 2 ]; then
            grep -q 'bad.data: ' said || complain "cut at $i: $(cat said)"
        elif [ $status -eq 0 ]; then
            grep -Eq 'bad.data.*(cut|end|incomplete|finish|without)|warning|incomplete' said ||
                complain "cut at $i/25 of $size: no warning: $(cat said)"
        else
            complain "cut at $i: status $status: $(cat said)"
        fi
    done
    for command in report script annotate view; do
        run 2 'text: offset 0: ' $command -i text
        run 2 'missing.data: No such file' $command -i missing.data
    done
    run 2 'text: offset 0: ' diff text good.data
    run 2 'text: offset 0: ' diff good.data text
    run 2 'text: ' recover text -o older.out
    run 2 'missing' recover missing -o older.out
    : >bad.data
    run 2 'bad.data: ' recover bad.data -o older.out
    finish
}
check "perf.data" perf_data

# records FILE: the records of the data section, a line each: offset, type, size
records() {
    od -An -v -tu1 -w1 "$1" | awk '
        { byte[n++] = $1 }
        function le(at, bytes,  v) { for (v = 0; bytes-- > 0;) v = 256 * v + byte[at + bytes]; return v }
        END { at = le(40, 8); end = at + le(48, 8)
              for (; at + 8 <= end && (size = le(at + 6, 2)) >= 8; at += size) print at, le(at, 4), size }'
}
# A sample whose nr is not what its record has. A record of mkperf's: identifier, ip, pid and tid, time,
# id or core, period, nr, chain; nr is the number that fits what is left.
frames() {
    "$MKPERF" convert -q good.data -o plain.data --to perf # a field of a compressed record cannot be patched
    records plain.data | awk '$2 == 9 && $3 >= 88' >samples
    [ "$(wc -l <samples)" -gt 50 ] || { echo "too few samples"; return 1; }
    read -r at _ size <samples
    where=
    for field in $(seq 8 8 $((size - 8))); do
        nr=$(od -An -tu8 -j $((at + field)) -N 8 plain.data | tr -d ' ')
        [ "$nr" = $(((size - field) / 8 - 1)) ] && where=$((at + field)) && break
    done
    [ -n "$where" ] || { echo "no nr in a sample of $size bytes"; return 1; }
    for wrong in $((nr + 1)) $((nr + 100)) $(((1 << 61) + nr)) -1; do
        patch plain.data bad.data "$where" 8 "$wrong"
        bad "bad.data: offset $at: a sample is cut" bad.data
        run 2 "bad.data: offset $at: a sample is cut" report -i bad.data --stdio
    done
    for wrong in $((nr - 1)) 1 0; do
        patch plain.data bad.data "$where" 8 "$wrong"
        bad "bad.data: offset $at: a sample is longer than its fields" bad.data
        run 2 "bad.data: offset $at: a sample is longer" script -i bad.data
    done
    finish
}
check "perf.data: frames that are not as many as nr says" frames

# Of another architecture than the present ELFs, a known one and an unknown one; and a real one of this
# machine's perf, if it may record.
architecture() {
    for arch in 'x86_64\x00' 'riscv64' 'mips64\x00' 'ppc64le'; do
        LC_ALL=C sed "s/aarch64/$arch/" good.data >bad.data
        [ "$(wc -c <bad.data)" = "$(wc -c <good.data)" ] && ! cmp -s good.data bad.data ||
            { echo "$arch is not in it"; return 1; }
        name=$(printf '%s' "$arch" | sed 's/.x00//')
        warns "warning: no symbols for known: .*known.elf: an ELF for aarch64, the recording is of $name;" bad.data
        run 0 "WARNING: no symbols for the kernel: .*an ELF for aarch64, the recording is of $name" \
            report -i bad.data --stdio
        grep -Eq 'known_leaf_40|idle_loop' said && complain "$arch: a name out of nowhere"
        run 2 "an ELF for aarch64, the recording is of $name" convert bad.data -o older.out --to perf
    done
    if perf record -q -e cpu-clock -o here.data -- true >perf.log 2>&1 && [ -s here.data ]; then
        run 0 '^# Samples: [0-9]* of event' report -i here.data --stdio
        run 0 '' convert here.data -o older.out --to folded
    else
        echo "perf may not record here: $(tail -n 1 perf.log)"
    fi
    finish
}
check "perf.data of another architecture" architecture

pipe_data() {
    size=$(wc -c <good.pipe)
    for i in 0 1 6 12 18 23 24; do
        head -c $((size * i / 25 + i % 7)) good.pipe >bad.pipe
        timeout 60 "$mkperf" convert --from perf bad.pipe -o older.out --to folded >stdout 2>said
        status=$?
        if [ $status -eq 2 ]; then
            grep -q 'bad.pipe: ' said || complain "cut at $i: $(cat said)"
        elif [ $status -eq 0 ]; then
            grep -Eq 'warning|incomplete|cut' said || complain "cut at $i/25: no warning: $(cat said)"
        else
            complain "cut at $i: status $status: $(cat said)"
        fi
    done
    finish
}
check "perf.data from a pipe" pipe_data

# ELFs of a recording: missing, cut, none, of another machine, of another build.
elfs() {
    mkdir -p moved && cp "$demo"/*.elf moved/
    "$MKPERF" convert -q good.raw --from raw --system "$demo/demo.system" --elf-path "$D/moved" \
        -o moved.data || return 1
    for how in missing cut none empty mips; do
        rm -f moved/known.elf
        case $how in
        cut) head -c 500 "$demo/known.elf" >moved/known.elf ;;
        none) echo "no ELF" >moved/known.elf ;;
        empty) : >moved/known.elf ;;
        mips) patch "$demo/known.elf" moved/known.elf 18 2 8 ;;
        esac
        run 0 'WARNING.*known' report -i moved.data --stdio
        grep -q 'known_leaf_40' said && complain "$how: a name out of nowhere"
        run 0 'known.elf' convert moved.data -o older.out --to folded
        # A new perf.data that would mislead perf is not written.
        run 2 'known.elf' convert moved.data -o older.out --to perf
    done
    cp "$demo/dummy1.elf" moved/known.elf
    run 0 'WARNING.*known.*another build' report -i moved.data --stdio
    finish
}
check "ELFs of a recording" elfs

# What a user needs next: the unfinished recording, quotation marks around a name with a blank, no word about a reader that ended.
advice() {
    : >gone.data.partial
    run 2 'gone.data: No such file or directory; mkperf recover makes it from gone.data.partial' report -i gone.data
    rm gone.data.partial
    cp moved.data 'a name.data'
    run 0 "mkperf (report|latency) 'a name.data'" explain 'a name.data'
    "$MKPERF" report --stdio -i moved.data 2>stderr | :
    [ ! -s stderr ] || complain "a closed pipe: $(cat stderr)"
    finish
}
check "advice in messages" advice

# DWARF with every abstract origin turned into a specification: mkperf continues, and nothing leaks. libdw's own search for
# scopes (dwarf_getscopes of 0.188) leaks 64 bytes for each such address.
abstract_origins() {
    "$MKPERF" convert -q good.raw --from raw --system "$demo/demo.system" --elf-path "$D/moved" \
        -o moved.data || return 1
    for elf in "$demo"/*.elf; do
        moved=moved/$(basename "$elf")
        set -- $(aarch64-linux-gnu-readelf -SW "$elf" |
            sed -n 's/.* \.debug_abbrev *PROGBITS *[0-9a-f]* \([0-9a-f]*\) \([0-9a-f]*\) .*/\1 \2/p')
        at=$((0x$1)) n=$((0x$2))
        (
            head -c $at "$elf"
            tail -c +$((at + 1)) "$elf" | head -c $n | LC_ALL=C tr '\061' '\107'
            tail -c +$((at + n + 1)) "$elf"
        ) >"$moved"
        cmp -s "$moved" "$elf" && complain "no abstract origin in $elf"
    done
    ASAN_OPTIONS=detect_leaks=1:exitcode=99:fast_unwind_on_malloc=0 \
        run 0 known_leaf_40 report -i moved.data --stdio -s pd,symbol,line
    finish
}
cp "$demo/known.elf" moved/known.elf
check "ELF with damaged DWARF: nothing leaks" abstract_origins

# ---- a raw capture ----
raw_capture() {
    : >bad.raw
    bad 'bad.raw: .*(empty|no frame)' $raw bad.raw
    head -c 100000 /dev/zero >bad.raw
    bad 'bad.raw: no frame' $raw bad.raw
    head -c 100000 /dev/urandom >bad.raw
    bad 'bad.raw: no (frame|session)' $raw bad.raw
    bad 'text: no frame' $raw text
    bad 'missing.raw: No such file' $raw missing.raw
    bad 'missing.system: No such file' --from raw --system missing.system good.raw
    bad 'text:1: ' --from raw --system text good.raw
    bad 'text: ' $raw --kernel text good.raw
    bad 'missing' $raw --kernel missing good.raw
    # Truncated: the missing end is reported.
    size=$(wc -c <good.raw)
    for i in 1 3 5 7 9 11 13 15 17 19; do
        head -c $((size * i / 20)) good.raw >bad.raw
        timeout 60 "$mkperf" convert $raw bad.raw -o older.out --to folded >stdout 2>said
        status=$?
        [ $status -eq 2 ] && grep -q 'bad.raw: ' said && continue
        [ $status -eq 0 ] && grep -Eq 'warning|incomplete|lost' said &&
            ! grep -q 'none known to be lost' said || complain "cut at $i/20: $status: $(cat said)"
    done
    # A piece is missing in the middle, and one is repeated: counted as lost.
    (head -c $((size / 3)) good.raw; tail -c $((size / 2)) good.raw) >bad.raw
    warns 'lost [a-z]+ [1-9]' $raw bad.raw
    (head -c $((size / 2)) good.raw; head -c 5000 /dev/urandom; tail -c $((size / 2)) good.raw) >bad.raw
    warns 'samples' $raw bad.raw
    (head -c $((size / 3)) good.raw; tail -c $((size / 3)) good.raw; tail -c +$((size / 3)) good.raw |
        head -c $((size / 3))) >bad.raw
    timeout 60 "$mkperf" convert $raw bad.raw -o older.out --to folded >stdout 2>said
    status=$?
    [ $status -eq 0 ] || [ $status -eq 2 ] || complain "reordered: status $status: $(cat said)"
    [ $status -eq 2 ] || grep -Eq 'lost|warning' said || complain "reordered: $(cat said)"
    finish
}
check "raw capture" raw_capture
