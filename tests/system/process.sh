#!/bin/sh
# SPDX-License-Identifier: BSD-2-Clause
# mkperf as a process of a shell: closed descriptors, nohup, full disks. Signals and exit statuses
# that need no shell are in tests/unit/test_process.c. Environment: B and MKPERF.
set -u
NAME=process
B=$(realpath "$B")
. tests/system/lib.sh
. tests/system/lib-demo.sh

record() {
    scripts/qemu-record "$D" -e cycles -F 1000 -g --duration 1 $system -o "$D/good.data" \
        --raw "$D/good.raw" >"$D/record.log" 2>&1 || { cat "$D/record.log"; return 1; }
}
check "recorded" record
[ -s "$D/good.data" ] || exit 1

# What is written is the same whichever of descriptors 0 to 2 are closed.
closed_descriptors() {
    "$MKPERF" record -t "file:$D/good.raw" $system -o "$D/open.data" 2>"$D/words" || return 1
    (
        exec 2>&-
        "$MKPERF" record -t "file:$D/good.raw" $system -o "$D/closed.data"
    ) || { echo "status $?"; return 1; }
    "$MKPERF" report --stdio -i "$D/closed.data" >"$D/report" || return 1
    grep -q 'known_leaf_40' "$D/report" || return 1
    for descriptors in '<&-' '>&-' '<&- >&-' '<&- >&- 2>&-' '<&- 2>&-'; do
        rm -f "$D/closed.data" "$D/closed.folded"
        eval "\"\$MKPERF\" record -t 'file:$D/good.raw' $system -o '$D/closed.data' $descriptors" \
            2>"$D/words" || { echo "$descriptors: record"; return 1; }
        # The command line is in the file; the samples are the same.
        "$MKPERF" convert -q "$D/open.data" -o "$D/open.folded" || return 1
        eval "\"\$MKPERF\" convert '$D/closed.data' -o '$D/closed.folded' $descriptors" \
            2>"$D/words" || { echo "$descriptors: convert"; return 1; }
        grep -v '^#' "$D/open.folded" >"$D/open" && grep -v '^#' "$D/closed.folded" | cmp - "$D/open" ||
            { echo "$descriptors: not the same"; return 1; }
    done
}
check "closed descriptors 0 to 2 do not spoil an output" closed_descriptors

# nohup: SIGHUP stays ignored.
ignored_hangup() {
    (
        trap '' HUP
        exec "$MKPERF" view "$D/good.data" >"$D/view.log" 2>&1
    ) &
    view=$!
    for i in $(seq 600); do
        grep -q 'http:' "$D/view.log" && break
        sleep 0.05
    done
    kill -HUP $view
    url=$(sed -n 's/^mkperf view: \(http.*\)/\1/p' "$D/view.log")
    curl -s --noproxy '*' -f --compressed -o "$D/answer" "${url}data/profile"
    answered=$?
    kill -TERM $view
    wait $view || return 1
    [ $answered -eq 0 ] && grep -qa known "$D/answer"
}
check "an ignored SIGHUP stays ignored" ignored_hangup

# A disk that is full, for the output and for temporary files: status 4 and nothing half done.
full() {
    (
        ulimit -f 16
        "$MKPERF" record -t "file:$D/good.raw" $system -o "$D/full.data"
    ) 2>"$D/words"
    [ $? -eq 4 ] && [ ! -e "$D/full.data" ] || { cat "$D/words"; return 1; }
    # Enough samples for temporary files that do not fit.
    "$MKPERF" convert -q "$D/good.data" -o "$D/one.firefox.json" || return 1
    (
        ulimit -f 8
        "$MKPERF" convert -q "$D/good.data" --to firefox -o -
    ) >"$D/cut.json" 2>"$D/words"
    [ $? -eq 4 ] && grep -q 'temporary file' "$D/words" || { cat "$D/words"; return 1; }
    for format in folded flamegraph jsonl callgrind speedscope pprof perf; do
        "$MKPERF" convert -q "$D/good.data" --to $format -o /dev/full 2>"$D/words"
        [ $? -eq 4 ] || { echo "$format: $(cat "$D/words")"; return 1; }
    done
}
check "a full disk ends with status 4" full

# What is printed and cannot be written is an error, for every command.
lost() {
    for command in --version --help help 'report --help' 'list --cpu cortex-a53' \
        "report --stdio -i $D/good.data" "script -i $D/good.data" "diff $D/good.data $D/good.data" \
        "top --stdio -t file:$D/good.raw"; do
        # shellcheck disable=SC2086 # words
        "$MKPERF" $command >/dev/full 2>"$D/words"
        status=$?
        [ $status -eq 4 ] && grep -q 'standard output: No space left' "$D/words" || {
            echo "$command: $status"
            cat "$D/words"
            return 1
        }
    done
}
check "output that cannot be written ends with status 4" lost

hardened() {
    readelf -hd "$MKPERF" >"$D/elf" && nm -D "$MKPERF" >"$D/names" &&
        contains "$D/elf" 'Position-Independent Executable' 'BIND_NOW' && contains "$D/names" __stack_chk_fail
}
check "mkperf is position-independent, bound at its start, with guarded stacks" hardened
