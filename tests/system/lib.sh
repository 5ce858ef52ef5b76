# SPDX-License-Identifier: BSD-2-Clause
# Shared by the system tests. Sourced, with NAME set to the test's name. D is the test's directory, empty; a test
# that changes its directory makes B absolute before.

D=$B/tests/run-$NAME
rm -rf "$D"
mkdir -p "$D"
PERF_BUILDID_DIR=$(realpath "$D")/debug # copies of ELFs: not the user's ~/.debug
export PERF_BUILDID_DIR

ok() {
    echo "ok $NAME: $1"
}

not_ok() {
    echo "not ok $NAME: $1: $2"
}

# check WHAT COMMAND...: passes if the command succeeds; its output is the reason if not
check() {
    what=$1
    shift
    if out=$("$@" 2>&1); then
        ok "$what"
    else
        not_ok "$what" "$(echo "$out" | tail -n 20)"
    fi
}

# has PROGRAM WHAT: whether the program that a check needs is installed. Without it the check fails.
has() {
    command -v "$1" >/dev/null && return 0
    not_ok "$2" "there is no $1: scripts/setup test installs it"
    return 1
}

# processor_time PROCESS: in hundredths of a second; nothing if it has ended
processor_time() {
    { read -r stat <"/proc/$1/stat"; } 2>/dev/null || return
    # shellcheck disable=SC2086 # words: the state is the first behind the name, which is in parentheses
    set -- ${stat##*) }
    [ "$1" = Z ] || echo $((${12} + ${13}))
}

# await FILE PATTERN PROCESS: waits for PATTERN in FILE, the serial line of QEMU's PROCESS, and ends that process. Fails if
# QEMU ends, if it used five minutes of a core, or if it used less than 0.2 s in 30 s: an idle machine writes nothing more.
await() {
    idle=0 mark=0 why=
    until grep -q -- "$2" "$1" 2>/dev/null; do
        used=$(processor_time "$3")
        [ "${used:-0}" -lt $((mark + 20)) ] && idle=$((idle + 1)) || { idle=0 mark=$used; }
        [ -n "$used" ] || why="QEMU has ended"
        [ "$mark" -lt 30000 ] || why="QEMU used five minutes of a core"
        [ "$idle" -lt 150 ] || why="the machine is idle"
        if [ -n "$why" ]; then
            [ -s "$1" ] || why="$why, and nothing was printed: does tests/pd/say.h have the driver of this UART?"
            echo "no '$2': $why"
            tail -n 20 "$1"
            break
        fi
        sleep 0.2
    done
    kill "$3" 2>/dev/null
    wait "$3" 2>/dev/null
    [ -z "$why" ]
}

# contains FILE PATTERN...: each is in it; if not, the file is the reason
contains() {
    file=$1
    shift
    for pattern; do
        grep -q -- "$pattern" "$file" || { echo "no '$pattern' in"; cat "$file"; return 1; }
    done
}

# explains FILE QUESTION VERDICT PATTERN: mkperf explain answers the question about FILE so, in JSON and in its page. The
# commands that it advises next work.
explains() {
    "$MKPERF" explain --json --why "$2" "$1" >"$D/explained" && contains "$D/explained" "\"verdict\":\"$3\",\"text\":\"[^\"]*$4" &&
        [ "$("$MKPERF" explain --json "$1" | tee "$D/explained" | wc -l)" = 15 ] && tests/tool/check-json answer <"$D/explained" &&
        "$MKPERF" explain "$1" >"$D/explained.txt" && contains "$D/explained.txt" "^  $2 " || return 1
    [ "$(wc -c <"$D/explained.txt")" -le 2048 ] || { echo "more than a page"; return 1; }
    sed -n 's/.*"next":"\([^"][^"]*\)".*/\1/p' "$D/explained" | sort -u >"$D/next"
    [ -s "$D/next" ] || { echo "no advice"; return 1; }
    while read -r next; do
        # shellcheck disable=SC2086 # a command and its options
        "$MKPERF" $next "$1" >"$D/next.txt" 2>&1 </dev/null || { echo "mkperf $next $1"; cat "$D/next.txt"; return 1; }
    done <"$D/next"
}

# Installs the programs of tests/npm in $B/tests/npm, once. B is absolute.
install_npm() (
    to=$B/tests/npm
    mkdir -p "$to" && exec 9>"$to/lock" && flock 9 || return 1
    sum=$(cksum <tests/npm/package-lock.json)
    [ "$(cat "$to/stamp" 2>/dev/null)" = "$sum" ] && return 0
    cp tests/npm/package.json tests/npm/package-lock.json "$to/" &&
        (cd "$to" && npm ci --ignore-scripts --no-audit --no-fund >"$D/npm.log" 2>&1) || {
        tail -n 5 "$D/npm.log"
        return 1
    }
    echo "$sum" >"$to/stamp"
)

# perf for x86 prints on stderr that it cannot unwind AArch64; nothing else may be there.
perf_quiet() {
    perf "$@" 2>"$D/perf.err" || {
        cat "$D/perf.err" >&2
        return 1
    }
    if grep -v 'unwind: target platform=arm64 is not supported' "$D/perf.err" >&2; then
        return 1
    fi
}

# One line a sample from perf script: `comm period leaf;caller;caller...`
chains() {
    perf_quiet script -i "$1" -F comm,period,ip,sym >"$D/script" || return 1
    awk '
        NF == 0 { if (head != "") print head, chain; head = ""; chain = ""; next }
        head == "" { head = $1 " " $2; next }
        { sym = $2; for (i = 3; i <= NF; i++) sym = sym "_" $i
          chain = chain == "" ? sym : chain ";" sym }
        END { if (head != "") print head, chain }' "$D/script"
}

# recorded NAME: records 0.3 s of the system NAME, whose description and programs are in $t, a sample each 100,000 cycles of user mode.
recorded() {
    scripts/qemu-record "$D" -e cycles:u -c 100000 --duration 0.3 --system "$t/$1.system" \
        --elf-path "$t" ${KERNEL:+--kernel "$KERNEL"} -o "$D/perf.data" >"$D/record.log" 2>&1 || {
        cat "$D/record.log"
        return 1
    }
}

# packed NAME: makes the image $D/NAME.img of the description $D/NAME.system and the programs in $t, with the kernel $kernel.
# MICROKIT: the SDK's tool with its board and configuration; without it an image for the built-in platform.
packed() {
    mkdir -p "$D/$1" &&
        "$MKPERF" stamp -q "$D/$1.system" --elf-path "$t" --kernel "$kernel" -o "$D/$1/client.elf" || return 1
    if [ -n "${MICROKIT:-}" ]; then
        env $MICROKIT "$D/$1.system" --search-path "$D/$1" "$t" -o "$D/$1.img" -r "$D/$1.report" >"$D/pack.log" 2>&1 ||
            { cat "$D/pack.log"; return 1; }
    else
        "$B/pocket-pack" "$D/$1.system" --elf-path "$D/$1:$t" --kernel "$kernel" -o "$D/$1.img"
    fi
}
