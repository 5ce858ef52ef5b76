#!/bin/sh
# SPDX-License-Identifier: BSD-2-Clause
# Differences on a terminal (a pseudo-terminal of script(1)): colours, and a progress line.
# Environment: B and MKPERF.
set -u
NAME=terminal
B=$(realpath "$B")
. tests/system/lib.sh
. tests/system/lib-demo.sh
unset NO_COLOR
export TERM=xterm
escape=$(printf '\033')

record() {
    scripts/qemu-record "$D" -e cycles -F 1000 -g --duration 1.1 --system "$B/demo/demo.system" \
        --elf-path "$B/demo" -o "$data" >"$D/record.log" 2>&1 || { cat "$D/record.log"; return 1; }
}
check "recorded" record
[ -s "$data" ] || exit 1

# on_terminal COMMAND...: its output there, without the terminal's carriage returns
on_terminal() {
    script -qec "$*" /dev/null </dev/null | tr -d '\r'
}
bare() { # removes the colours
    sed "s/$escape\[[0-9]*m//g"
}
has_colours() {
    grep -q "$escape\[3[12]m" "$1"
}

colours_of() { # COMMAND...: plain, coloured and never have the same text; colours where they should be
    "$@" >"$D/plain" || return 1
    has_colours "$D/plain" && { echo "$*: colours in a file"; return 1; }
    "$@" --color=always >"$D/always" && has_colours "$D/always" || { echo "$*: always"; return 1; }
    "$@" --color >"$D/when" && cmp "$D/when" "$D/always" || return 1
    bare <"$D/always" | cmp - "$D/plain" || return 1
    on_terminal "$@" >"$D/terminal"
    cmp "$D/terminal" "$D/always" || { echo "$*: on a terminal"; return 1; }
    NO_COLOR=1 on_terminal "$@" | cmp - "$D/plain" || { echo "$*: NO_COLOR"; return 1; }
    NO_COLOR= on_terminal "$@" | cmp - "$D/always" || { echo "$*: NO_COLOR, empty"; return 1; }
    TERM=dumb on_terminal "$@" | cmp - "$D/plain" || { echo "$*: dumb"; return 1; }
    NO_COLOR=1 on_terminal "$@" --color=always | cmp - "$D/always" || return 1
    on_terminal "$@" --color=never | cmp - "$D/plain" || { echo "$*: never"; return 1; }
}
check "report's colours" colours_of "$MKPERF" report -i "$data" --stdio
check "report -g's colours" colours_of "$MKPERF" report -i "$data" --stdio -g --children
check "annotate's colours" colours_of "$MKPERF" annotate -i "$data" known_leaf_40
check "diff's colours" colours_of "$MKPERF" diff "$data" "$data"

# Shares with their colours, sorted.
shares() {
    sed -nE "s/^ *($escape\[3[12]m)? *([0-9.]+)%.*/\1 \2/p" "$1" | sed "s/$escape//" | sort
}
as_perf() {
    perf_quiet report --stdio --stdio-color always -i "$data" --no-children -g none -s comm,sym \
        >"$D/perf.txt" || return 1
    "$MKPERF" report -i "$data" --stdio --stdio-color always >"$D/mkperf.txt" || return 1
    shares "$D/perf.txt" >"$D/perf.shares"
    shares "$D/mkperf.txt" >"$D/mkperf.shares"
    grep -q '31m' "$D/mkperf.shares" && cmp "$D/perf.shares" "$D/mkperf.shares"
}
check "the colours are perf's" as_perf

# slowly COMMAND: the recording on its standard input, with a pause in it
"$MKPERF" convert -q "$data" -o - --to perf >"$D/pipe.data"
half=$(($(wc -c <"$D/pipe.data") / 2))
cat >"$D/slowly" <<END
#!/bin/sh
(head -c $half '$D/pipe.data'; sleep 2.5; tail -c +$((half + 1)) '$D/pipe.data') | "\$@"
END
chmod +x "$D/slowly"
waited='\([2-9]\|[1-9][0-9]\{1,\}\)' # seconds: more than the pause where the machine is busy
progress() {
    on_terminal "$D/slowly" "$MKPERF" convert --from perf - -o "$D/slow.folded" >"$D/slow" || return 1
    grep -q "standard input  [0-9.]* MB, $waited s$escape\[K" "$D/slow" || { cat "$D/slow"; return 1; }
    # It is removed before the next output.
    grep -q "$escape\[Kmkperf convert: .* samples" "$D/slow" || { cat "$D/slow"; return 1; }
    on_terminal "$D/slowly" "$MKPERF" report -i - --stdio >"$D/slow" || return 1
    grep -q "standard input  [0-9.]* MB, $waited s$escape\[K$escape\[K# file" "$D/slow" || return 1
    # Not in a file, not with --quiet, and not for a quick command.
    "$D/slowly" "$MKPERF" convert --from perf - -o "$D/slow.folded" 2>"$D/slow" || return 1
    grep -q "MB" "$D/slow" && { echo "in a file"; return 1; }
    on_terminal "$D/slowly" "$MKPERF" convert -q --from perf - -o "$D/slow.folded" >"$D/slow"
    [ ! -s "$D/slow" ] || { echo "with -q"; return 1; }
    began=$(date +%s%N)
    on_terminal "$MKPERF" convert "$data" -o "$D/quick.folded" >"$D/quick"
    took=$((($(date +%s%N) - began) / 1000000))
    [ $took -ge 2000 ] || ! grep -q "MB" "$D/quick" || { echo "progress of what took $took ms"; return 1; }
    [ -s "$D/quick.folded" ]
}
check "progress on what takes more than two seconds" progress
