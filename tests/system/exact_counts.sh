#!/bin/sh
# SPDX-License-Identifier: BSD-2-Clause
# mkperf exact: counts are equal in 20 runs, and diff shows one added instruction of a function that is called a thousand times.
# The examples of docs/ci.md, as they are there: the first build is the one to compare with, and the second one fails.
# Environment: COUNTED, the directory of both systems, KERNEL, and COUNTED_QEMU, COUNTED_MORE_QEMU for another platform.
set -u
NAME=${NAME:-exact_counts}
. tests/system/lib.sh
COUNTED=${COUNTED:-$B/tests/pd}
KERNEL=${KERNEL:-$B/demo/kernel.elf}
BEFORE=${COUNTED_QEMU:-$(cat "$COUNTED/counted/qemu-command")}
AFTER=${COUNTED_MORE_QEMU:-$(cat "$COUNTED/counted_more/qemu-command")}
RUNS=20
ELFS=$COUNTED/counted:$COUNTED/counted_more:$(dirname "$KERNEL")

# count SYSTEM QEMU FILE: a recording from the first call of `counted` on
count() {
    # shellcheck disable=SC2086 # QEMU's command, in words
    "$MKPERF" exact --system "$COUNTED/$1/$1.system" --kernel "$KERNEL" --from counted --until finished -o "$3" -- \
        $2 -serial null 2>"$D/log" || { cat "$D/log"; return 1; }
}

# counts FILE: the counts of all functions
counts() {
    "$MKPERF" report --stdio -x , --sort pd,sym --elf-path "$ELFS" "$1" >"$1.rows" && ! grep -q 'other code' "$1.rows" && sed 's/^row,[^,]*,[^,]*,//; /^total/d' "$1.rows"
}

# A NOP more, a thousand times, and every other function of both PDs as before.
one_instruction() {
    count counted "$BEFORE" "$D/before.data" && count counted_more "$AFTER" "$D/after.data" &&
        "$MKPERF" diff --exact --elf-path "$ELFS" --json "$D/before.data" "$D/after.data" >"$D/diff.json" && tests/tool/check-json exact_change difference <"$D/diff.json" || return 1
    jq -es '[.[] | select(.type == "exact_change" and .before != .after)] as $rows | [.[] | select(.type == "difference") | .what] as $what |
        ($rows | length) == 1 and $rows[0].symbol == "[.] counted" and $rows[0].after - $rows[0].before == 1000 and
        $what == ["build of server,caller"]' "$D/diff.json" >"$D/jq" || { cat "$D/diff.json"; return 1; }
    "$MKPERF" diff --exact --elf-path "$ELFS" "$D/before.data" "$D/after.data" >"$D/diff.txt" && contains "$D/diff.txt" '+1000  server,caller  \[.\] counted' &&
        "$MKPERF" diff --exact --elf-path "$ELFS" --fail-above 5% "$D/before.data" "$D/after.data" >"$D/gate.txt" 2>&1
    [ $? = 1 ] && contains "$D/gate.txt" 'server,caller \[.\] counted'
}
check "one instruction more in a function that is called 1000 times is 1000 more" one_instruction

equal_runs() {
    list=
    for run in $(seq $RUNS); do
        count counted "$BEFORE" "$D/run$run.data" && counts "$D/run$run.data" >"$D/run$run.txt" && cmp "$D/run1.txt" "$D/run$run.txt" || return 1
        list=$list,$D/run$run.data
    done
    "$MKPERF" diff --exact --elf-path "$ELFS" "${list#,}" "$D/before.data" >"$D/equal.txt" && contains "$D/equal.txt" '# 0 of [0-9]* rows differ'
}
check "$RUNS runs count the same instructions in each function" equal_runs

# What makes counts inexact is refused, and nothing is written.
refusals() {
    rm -f "$D/no.data"
    count counted "$(echo "$BEFORE" | sed 's/-icount [^ ]*//')" "$D/no.data" >"$D/refused" && return 1
    contains "$D/refused" 'needs -icount' && [ ! -e "$D/no.data" ] || return 1
    "$MKPERF" exact --system "$COUNTED/counted/counted.system" --until nowhere -o "$D/no.data" -- true -icount 2>"$D/refused" && return 1
    contains "$D/refused" 'no program has a function nowhere' || return 1
    "$MKPERF" diff --exact --elf-path "$ELFS" "$D/before.data,$D/after.data" "$D/before.data" >"$D/refused" 2>&1 && return 1
    contains "$D/refused" 'not deterministic' 'before.data has 3000, .*after.data has 4000: server,caller \[.\] counted'
}
# A kernel's ELF of another build: its instructions have no name, and a warning says so.
other_build() {
    # shellcheck disable=SC2086
    "$MKPERF" exact --system "$COUNTED/counted/counted.system" --kernel "$COUNTED/counted/counted.elf" --until finished -o "$D/other.data" -- \
        $BEFORE -serial null 2>"$D/other" && contains "$D/other" 'are in no ELF of the system'
}
check "code of another build is a warning" other_build
check "runs without -icount and unequal runs are refused, with the reason" refusals

# project DIR SYSTEM QEMU: a clean checkout of a system, whose `make image` has nothing to do
project() {
    mkdir -p "$1/build" && cp "$COUNTED/$2/$2.system" "$1/my.system" && cp "$COUNTED/$2/"*.elf "$1/build/" && cp "$KERNEL" "$1/build/kernel.elf" &&
        echo "$3 -serial null" | sed "s|\([ =]\)build/|\1$PWD/build/|g" >"$1/build/qemu-command" && echo 'image:' >"$1/Makefile"
}
# steps SERVICE: the commands of its example, one a line
steps() {
    if [ "$1" = GitHub ]; then
        sed -n '/^## GitHub/,/^## GitLab/p' docs/ci.md | awk '/^ *- run: [^|]/ { sub(/^ *- run: /, ""); print } /^ *- / { block = 0 }
            block && /^          / { sub(/^ */, ""); print } /^ *- run: \|/ { block = 1 }'
    else
        sed -n '/^## GitLab/,$p' docs/ci.md | awk '/^    - / { sub(/^ *- /, ""); gsub(/^"|"$/, ""); print }'
    fi
}
# ci SERVICE: both builds in their own environment, with the recording of the first one as the cache has it
ci() {
    rm -rf "$D/ci" "$D/ci-more" && mkdir -p "$D/bin" "$D/home" && ln -sf "$(realpath "$MKPERF")" "$D/bin/mkperf" &&
        printf '#!/bin/sh\n' >"$D/bin/apt-get" && chmod +x "$D/bin/apt-get" && steps "$1" >"$D/steps" && [ "$(wc -l <"$D/steps")" = 5 ] || return 1
    project "$D/ci" counted "$BEFORE" && project "$D/ci-more" counted_more "$AFTER" || return 1
    for build in ci ci-more; do
        (cd "$D/$build" && env -i HOME="$(realpath ../home)" PATH="$(realpath ../bin):$PATH" GITHUB_STEP_SUMMARY=summary sh -e "$(realpath ../steps)" >log 2>&1)
        echo $? >"$D/$build/status"
        cp "$D/ci/before.data" "$D/ci-more/" || { cat "$D/ci/log"; return 1; }
    done
    [ "$(cat "$D/ci/status" "$D/ci-more/status" | tr '\n' ' ')" = '0 1 ' ] || { cat "$D/ci/log" "$D/ci-more/log"; return 1; }
    contains "$D/ci-more/log" 'server,caller \[.\] counted'
}
github() { ci GitHub && contains "$D/ci-more/summary" '^| 3000 | 4000 | +1000 | 0 | server,caller | \\\[.\\\] counted |$'; }
gitlab() { ci GitLab && xmllint --noout "$D/ci-more/diff.xml" && contains "$D/ci-more/diff.xml" 'failure message="from 3000 to 4000'; }
check "docs/ci.md's GitHub example, in a clean checkout" github
check "docs/ci.md's GitLab example" gitlab
