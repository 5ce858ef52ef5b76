#!/bin/sh
# SPDX-License-Identifier: BSD-2-Clause
# Names that are right or said to be unknown: the demo's image, which lists its programs, and the same
# image without the list, each recorded once; then read with names swapped, stale ELFs, a stale kernel
# and stale .system files.
# Environment: B and MKPERF.
set -u
NAME=stamp
B=$(realpath "$B")
. tests/system/lib.sh
mkdir -p "$D/elfs" "$D/home" "$D/empty" "$D/stamped" "$D/plain"
here=$PWD
MKPERF=$(realpath "$MKPERF")
demo=$B/demo
export HOME="$D/home" DEBUGINFOD_CACHE_PATH="$D/home/cache" # nothing of this machine's user
unset PERF_BUILDID_DIR
export MKPERF

# replay NAME RAW ARGUMENTS...: records a capture again, in a directory without ELFs below it
replay() {
    replay_name=$1
    raw=$2
    shift 2
    (cd "$D/empty" && "$MKPERF" record -N -t "file:$D/$raw" -o "$D/$replay_name.data" "$@") \
        >"$D/$replay_name.log" 2>&1 || {
        cat "$D/$replay_name.log"
        return 1
    }
    report "$replay_name"
}
# report NAME: of NAME.data into NAME.txt, in a directory without ELFs below it
report() {
    (cd "$D/empty" && "$MKPERF" report --stdio -i "$D/$1.data") >"$D/$1.txt" 2>&1
}
# has FILE PATTERN; hasnt FILE PATTERN
has() {
    grep -q -e "$2" "$D/$1" || {
        echo "$1 without: $2"
        cat "$D/$1"
        return 1
    }
}
hasnt() {
    if grep -q -e "$2" "$D/$1"; then
        echo "$1 with: $2"
        cat "$D/$1"
        return 1
    fi
}

live() {
    (QEMU=$(sed "s|[^ ]*demo/demo.img|$demo/demo.img|" "$demo/qemu-command") &&
        export QEMU && cd "$demo" &&
        "$here/scripts/qemu-record" "$D/stamped" -N -e cycles -F 1000 -g --duration 2 -o "$D/live.data" \
            --raw "$D/stamped.raw") >"$D/live.log" 2>&1 || {
        cat "$D/live.log"
        return 1
    }
    report live
    has live.log 'image   [0-9a-f]\{32\}, which lists' && has live.txt '# image  *[0-9a-f]\{32\}' &&
        has live.txt 'known .* known_leaf_40' && has live.txt '\[k\] idle_loop' &&
        hasnt live.log 'warning' && hasnt live.txt 'WARNING\|ERROR\|\[unknown\]'
}
check "a record without --system has the image's names, ELFs found below the directory" live
[ -s "$D/stamped.raw" ] || exit 1
# Each PD's priority: in a line of the file, as the .system file has it.
priorities() {
    grep -a '^scheduling ' "$D/live.data" | awk '{ print $3 }' | sort >"$D/priorities"
    sed -n 's/.*<protection_domain .*priority="\([0-9]*\)".*/\1/p' "$demo/demo.system" | sort | diff - "$D/priorities" &&
        [ -s "$D/priorities" ]
}
check "and its PDs' priorities" priorities

# A colon separates directories in --elf-path only. What is written has the name that the packer looks for.
colon() {
    mkdir -p "$D/a:b" && cp "$demo"/*.elf "$demo/demo.system" "$D/a:b" && mv "$D/a:b/profiler.elf" "$D/a:b/profiler-1.elf" &&
        ln -s profiler-1.elf "$D/a:b/profiler.elf" &&
        "$MKPERF" stamp --kernel "$D/a:b/kernel.elf" "$D/a:b/demo.system" -o "$D/colon.elf" &&
        [ -s "$D/profiler.elf" ] && [ ! -e "$D/profiler-1.elf" ] || return 1
    ! "$MKPERF" stamp --kernel "$D/a:b/kernel.elf" "$D/a:b/demo.system" -o "$D/a:b/profiler.elf" 2>"$D/refused" &&
        grep -q "the profiler PD's ELF gets this name" "$D/refused"
}
check "programs are found in a directory with a colon, and by the names of links" colon

plain() {
    "$B/pocket-pack" "$demo/demo.system" --elf-path "$demo" --kernel "$demo/kernel.elf" \
        -o "$D/plain.img" || return 1
    QEMU=$(sed "s|[^ ]*demo/demo.img|$D/plain.img|" "$demo/qemu-command")
    export QEMU
    scripts/qemu-record "$D/plain" -N -e cycles -F 1000 -g --duration 2 --system "$demo/demo.system" \
        -o "$D/plain.data" --raw "$D/plain.raw" >"$D/plain.log" 2>&1 || {
        cat "$D/plain.log"
        return 1
    }
    report plain
    has plain.log 'image   unverified: the image does not list its programs' &&
        has plain.txt '# image  *unverified: the image does not list' &&
        hasnt plain.log 'ERROR' && hasnt plain.txt 'ERROR' && has plain.txt 'known .* known_leaf_40'
}
check "an image without a list is unverified in summary and report, and nothing is suspect" plain
[ -s "$D/plain.raw" ] || exit 1

same() {
    replay same stamped.raw --elf-path "$demo" &&
        sed '/^# \(file\|command\|ring\)/d' "$D/same.txt" >"$D/same.cut" &&
        sed '/^# \(file\|command\|ring\)/d' "$D/live.txt" | diff - "$D/same.cut"
}
check "a replay of the raw stream has the same names" same

none() {
    replay none stamped.raw
    has none.log "none of the image's 8 programs has its ELF here" &&
        has none.log 'kernel: no ELF with the build id' && has none.txt 'known .*\[unknown\] 0x' &&
        has none.txt '# WARNING: no symbols for known: no ELF with the build id' &&
        hasnt none.txt 'known_leaf' && hasnt none.txt 'idle_loop'
}
check "without ELFs there are names of PDs, addresses, and the reason" none

# where ELFs are found by build id
id_of() {
    readelf -n "$1" | sed -n 's/ *Build ID: //p'
}
caches() {
    id=$(id_of "$demo/known.elf")
    kernel=$(id_of "$demo/kernel.elf")
    dir=$HOME/.debug/.build-id/$(echo "$id" | cut -c1-2)/$(echo "$id" | cut -c3-)
    mkdir -p "$dir" "$DEBUGINFOD_CACHE_PATH/$kernel"
    cp "$demo/known.elf" "$dir/elf"
    cp "$demo/kernel.elf" "$DEBUGINFOD_CACHE_PATH/$kernel/executable"
    cp "$demo/dummy1.elf" "$D/home/renamed"
    replay caches stamped.raw --elf-path "$D/home"
    rm -rf "$HOME/.debug" "$DEBUGINFOD_CACHE_PATH" "$D/home/renamed"
    has caches.txt 'known .* known_leaf_40' && has caches.txt '\[k\] idle_loop' &&
        has caches.txt 'dummy1 .* insert' && hasnt caches.txt 'dummy2 .* crc_byte'
}
check "ELFs are found in perf's and debuginfod's caches and under another name" caches

swapped_system() {
    sed -e 's/name="known"/name="@"/; s/name="dummy1"/name="known"/; s/name="@"/name="dummy1"/' \
        "$demo/demo.system" >"$D/swapped.system"
}
swapped() {
    swapped_system
    replay swapped stamped.raw --system "$D/swapped.system" --elf-path "$demo"
    has swapped.log 'swapped.system is not of the image that runs: known has the number' &&
        has swapped.txt 'known .* known_leaf_40' && hasnt swapped.txt 'dummy1 .* known_leaf'
}
check "swapped names in --system are said, and the image's hold" swapped

swapped_plain() {
    replay swapped_plain plain.raw --system "$D/swapped.system" --elf-path "$demo"
    # the files' names go with the programs here, so that the names alone are wrong: unverified
    has swapped_plain.log 'unverified' || return 1
    sed -e 's/known.elf/@/; s/dummy1.elf/known.elf/; s/@/dummy1.elf/' "$demo/demo.system" \
        >"$D/programs.system"
    replay programs plain.raw --system "$D/programs.system" --elf-path "$demo"
    has programs.log 'ERROR: known: [0-9]* of [0-9]* samples cannot be of its ELF' &&
        has programs.txt '# ERROR: known: ' && has programs.txt 'unverified' &&
        hasnt programs.log 'ERROR: dummy2' && hasnt programs.log 'ERROR: server'
}
check "without a list, ELFs of other PDs are an error that names the PD" swapped_plain

# The other build's addresses belong to other functions.
stale_elf() {
    rm -rf "$D/elfs" && mkdir "$D/elfs" && cp "$demo"/*.elf "$D/elfs"
    cp "$demo/dummy2.elf" "$D/elfs/known.elf"
    replay stale stamped.raw --elf-path "$D/elfs"
    has stale.log 'known: .*/elfs/known.elf is another build ([0-9a-f]*) than the running one' &&
        has stale.txt '# WARNING: no symbols for known: .*is another build' &&
        has stale.txt 'known .*\[unknown\] 0x' && hasnt stale.txt 'known .* crc_byte' &&
        has stale.txt 'dummy2 .* crc_byte' || return 1
    [ "$(grep -c 'known.elf is another build' "$D/stale.log")" = 1 ] || return 1
    perf_quiet report --stdio -i "$D/stale.data" -g none --sort comm,symbol >"$D/stale.perf" || return 1
    hasnt stale.perf 'known .* crc_byte' && hasnt stale.perf 'known_leaf'
    replay stale_plain plain.raw --system "$demo/demo.system" --elf-path "$D/elfs"
    has stale_plain.log 'ERROR: known: '
}
check "a stale ELF is refused with the reason, once; without a list it is an error" stale_elf

changed_later() {
    rm -rf "$D/elfs" && mkdir "$D/elfs" && cp "$demo"/*.elf "$D/elfs"
    replay later stamped.raw --elf-path "$D/elfs"
    cp "$demo/dummy2.elf" "$D/elfs/known.elf"
    report later
    has later.txt '# WARNING: no symbols for known: .*another build' && hasnt later.txt 'known .* crc_byte'
}
check "an ELF that changed after the recording is refused by report" changed_later

stale_kernel() {
    replay kernel stamped.raw --elf-path "$demo" --kernel "$demo/dummy1.elf"
    has kernel.log 'kernel: .*dummy1.elf: another build' && has kernel.txt 'no symbols for the kernel' &&
        hasnt kernel.txt '\[k\] idle_loop' && has kernel.txt 'known .* known_leaf_40'
}
check "a stale kernel is refused with the reason" stale_kernel

# .system files of another day: a PD more, one less, another order
systems() {
    python3 - "$demo/demo.system" "$D" <<'END'
import re
import sys
text = open(sys.argv[1]).read()
pds = re.findall(r' *<protection_domain.*?</protection_domain>\n', text, re.S)
known = next(p for p in pds if 'name="known"' in p)
new = known.replace('"known"', '"added"')
out = sys.argv[2]
first = pds[0]
# before all others: each number moves
open(out + '/added.system', 'w').write(text.replace(first, new + first, 1))
gone = re.sub(r' *<channel>(?:(?!</channel>).)*"known".*?</channel>\n', '', text.replace(known, ''),
              flags=re.S)
open(out + '/removed.system', 'w').write(gone)
last = pds[-1]
open(out + '/renumbered.system', 'w').write(text.replace(last, '').replace(first, last + first, 1))
END
    for s in added removed renumbered; do
        replay $s stamped.raw --system "$D/$s.system" --elf-path "$demo"
        has $s.log "$s.system is not of the image that runs" && has $s.txt 'known .* known_leaf_40' &&
            hasnt $s.txt '% .* added ' || return 1
        replay ${s}_plain plain.raw --system "$D/$s.system" --elf-path "$demo"
        has ${s}_plain.log 'unverified' || return 1
        # numbers that moved name other programs
        [ $s = removed ] || has ${s}_plain.log 'ERROR: ' || return 1
    done
    has added.log 'added is not in the image' && has removed.log 'known is not in the file' &&
        has renumbered.log 'has the number'
}
check "a .system file with a PD added, removed or renumbered is said" systems

changed_text() {
    sed 's|<system>|<system><!-- another day -->|' "$demo/demo.system" >"$D/text.system"
    replay text stamped.raw --system "$D/text.system" --elf-path "$demo"
    has text.log 'text.system was changed since the image was built' && hasnt text.log 'is not of the image'
    replay own stamped.raw --system "$demo/demo.system" --elf-path "$demo"
    hasnt own.log 'warning'
}
check "a changed .system file with the same PDs is said" changed_text

converted() {
    (cd "$D/empty" && "$MKPERF" convert -q --from raw --system "$D/programs.system" --elf-path "$demo" \
        "$D/plain.raw" -o "$D/x.folded") >"$D/convert.log" 2>&1 || return 1
    has convert.log 'ERROR: known: ' || return 1
    (cd "$D/empty" && "$MKPERF" convert -q --from raw --elf-path "$demo" "$D/stamped.raw" -o "$D/x.svg") \
        >"$D/convert.log" 2>&1 || return 1
    hasnt convert.log 'ERROR' && grep -q known_leaf_40 "$D/x.svg"
}
check "convert of a raw capture takes the image's names, or says what is suspect" converted

# samples.json of the seL4 profiler: the same addresses with the right program and with another one
toperf() {
    mkdir -p "$D/right" "$D/wrong"
    cp "$demo/known.elf" "$D/right/known.elf"
    cp "$demo/dummy2.elf" "$D/wrong/known.elf"
    addr=$(aarch64-linux-gnu-nm "$demo/known.elf" | sed -n 's/^0*\([0-9a-f]*\) . known_leaf_40$/\1/p')
    after=$(aarch64-linux-gnu-objdump -d "$demo/known.elf" | grep -A1 'bl.*<known_leaf_40>' |
        sed -n '2s/^ *\([0-9a-f]*\):.*/\1/p')
    python3 - "$addr" "$after" >"$D/samples.json" <<'END'
import sys
ip, caller = int(sys.argv[1], 16), int(sys.argv[2], 16)
one = '{"ip": %d, "pid": 1, "time": %d, "cpu": 0, "period": 1000, "nr": 1, "ips": [%d%s]}'
print('{"elf_tcb_mappings": {"known.elf": 1}, "samples": [%s]}' %
      ','.join(one % (ip, 1000 + i, caller, ', 0' * 15) for i in range(200)))
END
    for d in right wrong; do
        "$MKPERF" toperf -s "$D/samples.json" -b "$D/$d" -o "$D/toperf_$d.data" >"$D/toperf_$d.log" 2>&1 ||
            { cat "$D/toperf_$d.log"; return 1; }
        "$MKPERF" report --stdio -i "$D/toperf_$d.data" >"$D/toperf_$d.txt" 2>&1
        has toperf_$d.txt '# image  *unverified: samples.json' || return 1
    done
    has toperf_wrong.log 'ERROR: known: 200 of 200 samples' && has toperf_wrong.txt '# ERROR: known: ' &&
        hasnt toperf_right.log 'ERROR' && hasnt toperf_right.txt 'ERROR' &&
        has toperf_right.txt 'known_leaf_40'
}
check "samples.json with another build's ELF is an error that names the PD" toperf

# names in options are those of the image
only() {
    cd "$demo" && QEMU=$(sed "s|[^ ]*demo/demo.img|$demo/demo.img|" "$B/demo/qemu-command")
    export QEMU
    "$here/scripts/qemu-record" "$D/stamped" -N -e cycles -F 1000 --pd "$1" --duration 1 -o "$D/only.data" \
        >"$D/only.log" 2>&1
}
chosen() {
    (only known) || { cat "$D/only.log"; return 1; }
    "$MKPERF" report --stdio -i "$D/only.data" --sort pd >"$D/only.txt" 2>&1
    has only.txt '% .*known' && hasnt only.txt '% .*dummy1\|% .*idle' || return 1
    if (only nosuch); then
        return 1
    fi
    has only.log 'no PD is named "nosuch"'
}
check "--pd takes a name of the image" chosen
