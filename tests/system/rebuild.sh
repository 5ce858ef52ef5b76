#!/bin/sh
# SPDX-License-Identifier: BSD-2-Clause
# Before and after: the demo is recorded, one of its programs is changed and built again in its place, and the demo is
# recorded again. Both recordings have right names, since mkperf record keeps copies of ELFs.
# Environment: B and MKPERF.
set -u
NAME=rebuild
B=$(realpath "$B")
. tests/system/lib.sh
MKPERF=$(realpath "$MKPERF")
export MKPERF
here=$PWD
demo=$B/demo
sys=$D/sys
unset PERF_BUILDID_DIR
export HOME="$D/home" DEBUGINFOD_CACHE_PATH="$D/home/cache"
cache=$HOME/.debug
mkdir -p "$HOME" "$D/empty" "$sys"
cp "$demo"/*.elf "$demo/demo.system" "$sys/"

# pack: the image of the programs in $sys, which lists them
pack() {
    mkdir -p "$D/stamped" &&
        "$MKPERF" stamp -q "$sys/demo.system" --elf-path "$sys" --kernel "$sys/kernel.elf" -o "$D/stamped/client.elf" &&
        "$B/pocket-pack" "$sys/demo.system" --elf-path "$D/stamped:$sys" --kernel "$sys/kernel.elf" -o "$D/demo.img"
}
# record NAME ARGUMENTS...: in the directory of the programs
record() {
    name=$1
    shift
    (QEMU=$(sed "s|[^ ]*demo/demo.img|$D/demo.img|" "$demo/qemu-command") && export QEMU && cd "$sys" &&
        "$here/scripts/qemu-record" "$D/qemu" -e cycles -F 1000 -g --duration 2 -o "$D/$name.data" "$@") \
        >"$D/$name.log" 2>&1 || {
        cat "$D/$name.log"
        return 1
    }
    ! grep warning "$D/$name.log"
}
# in_empty OUTPUT COMMAND...: in a directory without ELFs
in_empty() {
    output=$1
    shift
    (cd "$D/empty" && "$@") >"$D/$output" 2>&1 || {
        cat "$D/$output"
        return 1
    }
}
id_of() {
    readelf -n "$1" | sed -n 's/ *Build ID: //p'
}
names() {
    contains "$D/$1" 'known .*known_leaf_40' 'known .*known_deep_30' && ! grep 'known .*\[unknown\]' "$D/$1"
}

before() {
    pack && record none -N || return 1
    [ ! -e "$cache" ] || {
        echo "record -N kept copies"
        return 1
    }
    record before || return 1
    old=$(id_of "$sys/known.elf")
    cp "$sys/known.elf" "$D/old-known.elf"
    for elf in known.elf server.elf kernel.elf; do
        id=$(id_of "$sys/$elf")
        link=$cache/.build-id/$(echo "$id" | cut -c1-2)/$(echo "$id" | cut -c3-)
        cmp "$link/elf" "$sys/$elf" || return 1
    done
    perf buildid-cache -l >"$D/list" && contains "$D/list" "$old .*known.elf"
}
check "record keeps copies of the programs' and the kernel's ELFs, which perf lists; record -N keeps none" before

# Another function comes first, so that all addresses change.
after() {
    echo 'int added(int x); int added(int x) { for (int i = 0; i < x; i++) x ^= i * 7; return x; }' >"$D/added.c"
    aarch64-linux-gnu-gcc -ffreestanding -O1 -falign-functions=2048 -c "$D/added.c" -o "$D/added.o" &&
        aarch64-linux-gnu-gcc -nostdlib -static -no-pie -Wl,--gc-sections -Wl,-u,added -Wl,--build-id \
            -Wl,-z,max-page-size=4096 -T platform/pocket/lib/pd.ld "$D/added.o" "$B/obj/target/demo/known.o" \
            "$B/obj/target/demo/known_work.o" "$B/pocket/libmicrokit.a" -o "$sys/known.elf" || return 1
    [ "$old" != "$(id_of "$sys/known.elf")" ] || {
        echo "the build id has not changed"
        return 1
    }
    pack && record after
}
old=
[ ! -f "$sys/known.elf" ] || old=$(id_of "$sys/known.elf")
check "the changed program is recorded" after

both() {
    in_empty diff "$MKPERF" diff "$D/before.data" "$D/after.data" && names diff &&
        in_empty report "$MKPERF" report --stdio -i "$D/before.data" && names report &&
        ! grep warning "$D/diff" "$D/report"
}
check "diff and report name the functions of both builds, without options" both

page() {
    in_empty page "$MKPERF" convert "$D/after.data" --diff "$D/before.data" -o "$D/diff.html" &&
        ! grep 'no symbols' "$D/page" &&
        in_empty pages "$MKPERF" convert "$D/after.data" --diff "$D/before.data" -o "$D/diff.svg" &&
        contains "$D/diff.svg" known_leaf_40 && ! grep '\[unknown\]' "$D/diff.svg"
}
check "the page and the flame graph that compare name them, too" page

stock() {
    perf_quiet report --stdio -i "$D/before.data" --sort comm,sym >"$D/perf" && contains "$D/perf" known_leaf_40
}
check "perf takes the names of the older build from the copies" stock

# what each reader of the older recording says without copies, and with the two options
advice() {
    export PERF_BUILDID_DIR="$D/no-copies"
    in_empty advice "$MKPERF" report --stdio -i "$D/before.data" &&
        contains "$D/advice" "no symbols for known: .*another build.*no copy in $D/no-copies: --elf-path DIR" &&
        ! grep -q known_leaf "$D/advice"
}
check "without copies, the warning says what to do" advice

options() {
    export PERF_BUILDID_DIR="$D/no-copies"
    mkdir -p "$D/kept" "$D/root$sys"
    cp "$D/old-known.elf" "$D/kept/other-name"
    cp "$D/old-known.elf" "$D/root$sys/known.elf"
    for option in --elf-path="$D/kept" --symfs="$D/root"; do
        in_empty opt "$MKPERF" report --stdio "$option" -i "$D/before.data" && names opt &&
            in_empty opt "$MKPERF" annotate "$option" -i "$D/before.data" known_leaf_40 && contains "$D/opt" 'subs  *x9' &&
            in_empty opt "$MKPERF" script "$option" -i "$D/before.data" && contains "$D/opt" known_leaf_40 &&
            in_empty opt "$MKPERF" diff "$option" "$D/before.data" "$D/after.data" && names opt &&
            in_empty opt "$MKPERF" convert "$option" "$D/before.data" -o "$D/folded.txt" &&
            contains "$D/folded.txt" known_leaf_40 || return 1
    done
    in_empty opt "$MKPERF" --buildid-dir "$cache" report --stdio -i "$D/before.data" && names opt
}
check "--elf-path, --symfs and --buildid-dir find the older build for every reader" options
