#!/bin/sh
# SPDX-License-Identifier: BSD-2-Clause
# docs/first-system.md, as it stands: its files are written, its commands run, in the built-in
# platform, and the functions that it names are in the profile. What the first command would build of
# mkperf is there already. Environment: B and MKPERF; for a Microkit SDK its board's directory in FIRST_BOARD and the
# QEMU that has the board in FIRST_QEMU.
set -u
NAME=${NAME:-first-system}
B=$(realpath "$B")
. tests/system/lib.sh
mkdir -p "$D/build/mkperf"
page=docs/first-system.md
sources=$PWD
MKPERF=$(realpath "$MKPERF")
export MKPERF
pids=
trap 'for p in $pids; do kill "$p" 2>/dev/null; done' EXIT
ln -s "$(realpath "$B")" "$D/build/mkperf/build"

extract() { # the files, and commands1, commands2
    awk -v dir="$D" '
        /^<!-- file / { out = dir "/" $3; next }
        /^<!-- commands -->/ { out = dir "/commands" ++n; next }
        out != "" && /^```/ { if (inside) out = ""; inside = !inside; next }
        inside { print > out }' "$page"
    if [ -n "${FIRST_BOARD:-}" ]; then # SDK/board/BOARD/CONFIG
        board=$(dirname "$FIRST_BOARD")
        sed -n 's/^    \(make .*MICROKIT_SDK=.*\)/\1/p' "$page" |
            sed "s|/path/to/sdk|${board%/board/*}|; s|\(MICROKIT_BOARD\)=[^ ]*|\1=${board##*/}|; s|\(MICROKIT_CONFIG\)=[^ ]*|\1=${FIRST_BOARD##*/} MICROKIT_QEMU=$FIRST_QEMU|" \
                >"$D/commands1"
    fi
    sed -i "s|/path/to/mkperf|$sources|" "$D"/commands1
    [ -s "$D/Makefile" ] && [ -s "$D/commands2" ] && [ "$(ls "$D"/*.c | wc -l)" -eq 4 ]
}
check "the page's files" extract
cd "$D" || exit 1
MAKEFLAGS='SETUP_PACKAGES=no'
export MAKEFLAGS

. ./commands1 >"$D/build.log" 2>&1 # its last command keeps running
pids=$!
image() {
    [ -s build/loader.img ] || { cat "$D/build.log"; return 1; }
}
check "the image is built" image
for i in $(seq 600); do
    [ -S build/line ] && break
    sleep 0.1
done
. ./commands2 >"$D/output" 2>&1
check "recorded" grep -q '^mkperf: perf.data: .* samples in .*, 0 lost' "$D/output"

rows() { # PD and function of the report's rows, in their order
    awk '/^ / && $1 ~ /%$/ && $5 == "[.]" { print $4, $6 }' "$D/output"
}
named() { # no ELF is missing
    ! grep 'no ELF' "$D/output"
}
order() {
    rows >"$D/rows"
    for name in "sensor measure" "filter smooth" "codec crc_bits" "store rank"; do
        grep -qx "$name" "$D/rows" || { echo "no $name in:"; cat "$D/output"; return 1; }
    done
    sed -n '/^<!-- report -->/,$p' "$sources/$page" | awk '/^ / && $1 ~ /%$/ && $5 == "[.]" { print $4, $6 }' | head -n 4 >"$D/told"
    [ "$(wc -l <"$D/told")" -eq 4 ] && head -n 4 "$D/rows" | diff "$D/told" -
}
check "its functions are in the order that the page shows" order
# Not pocket's kernel: mkperf's parts are behind a link here, into which no search goes.
[ -z "${FIRST_BOARD:-}" ] || check "each ELF is found" named
# mkperf's programs have names of their own: a user's client.elf is in the image. (Later SDKs compress images.)
own_client() {
    mv codec.c client.c && echo 'const char mine[] __attribute__((used)) = "the client.elf of the user";' >>client.c &&
        sed -i 's/codec[.]elf/client.elf/' first.system && sed -i 's/^\(PROGRAMS := .*\)codec/\1client/' Makefile &&
        make MKPERF_SOURCES="$sources" && grep -q "the client.elf of the user" build/loader.img
}
[ -n "${FIRST_BOARD:-}" ] || check "a program called client.elf stays the user's" own_client
check "the page for a browser" grep -q 'id="profile-data"' profile.html
