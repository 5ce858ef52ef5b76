#!/bin/sh
# SPDX-License-Identifier: BSD-2-Clause
# -e timer: samples that the profiler PD takes itself, without the kernel's hook. --check-timer compares each
# sample's thread with the hook.
set -u
NAME=stock
. tests/system/lib.sh
. tests/system/lib-stock.sh

# record SYSTEM-DIRECTORY NAME OUTPUT ARGUMENTS...
record() {
    dir=$1 name=$2 output=$3
    shift 3
    QEMU=$(cat "$dir/qemu-command") scripts/qemu-record "$D" --system "$dir/$name.system" \
        --elf-path "$dir:$B/demo" --kernel "$B/demo/kernel.elf" -o "$D/$output.data" "$@" \
        >"$D/$output.log" 2>&1 || { cat "$D/$output.log"; return 1; }
}
t=$B/tests/pd

# shares OUTPUT: lines `per-mille PD symbol`
shares() {
    "$MKPERF" report --stdio -i "$D/$1.data" --sort pd,sym | awk '
        $1 ~ /%$/ { sub("%", "", $1); print int($1 * 10 + 0.5), $4, $6 }'
}

nohook() {
    record "$t/nohook" nohook nohook -e timer -c 500 --duration 1.2 && known_shares "$D/nohook.data"
}

# The summary of a checked recording: at least 99 % right or ambiguous, of at least N samples, and
# not more than M % ambiguous.
checked() {
    grep '^  checked' "$D/$1.log"
    awk -v least="$2" -v most="$3" '
        $1 == "checked" { n = $2; right = $6; wrong = $9; marked = $12 }
        END { exit !(n >= least && wrong <= 1 && marked <= most && right + wrong + marked > 99.9) }
        ' "$D/$1.log"
}
checked_demo() {
    record "$B/stock" stock demo -e timer -c 500 --check-timer --duration 1.2 && checked demo 1000 1 &&
        known_shares "$D/demo.data"
}
checked_robin() {
    record "$t/robin" robin robin -e timer -c 500 --check-timer --duration 0.8 && checked robin 1000 3 || return 1
    "$MKPERF" report --stdio -i "$D/robin.data" --sort pd | awk '
        $1 ~ /%$/ && $NF ~ /^robin/ { part[$NF] = $2; n += $2 }
        END {
            for (pd in part) { print pd, part[pd]; d = part[pd] - n / 3; x += d * d / (n / 3); pds++ }
            print "chi-square", x; exit !(pds == 3 && x < 25)
        }'
}
checked_pair() {
    record "$t/pair" pair pair -e timer -c 400 --check-timer --duration 0.25 && checked pair 500 3
}
# No PD is the profiler PD's child: it has capabilities, as Microkit 2.3 gives them.
checked_shared() {
    record "$B/shared" shared shared -e timer -c 500 --check-timer --duration 1 && checked shared 1500 1 || return 1
    ! grep 'not observed' "$D/shared.log" &&
        shares shared | awk '{ n[$2] += $1 } END { exit !(n["known"] > 50 && n["idle"] > 300 && n["requester"] > 0) }'
}

# By PD, against the hook's profile of the same system. The demo works in the first third of a second, so
# that idle's share depends on when a recording began: shares are of the time that is not idle. A PD's share
# may differ by six standard errors (by chance, one in 70 million for any of seven PDs).
as_the_hook() {
    record "$B/stock" stock hook -e cycles --duration 1.2 || return 1
    "$MKPERF" diff "$D/hook.data" "$D/demo.data" >"$D/diff" || return 1
    awk '
        /^# Event .* samples in A/ { na = $4; for (i = 5; i <= NF; i++) if ($i == "in" && $(i + 1) == "B") nb = $(i - 1) }
        /^ .*%/ && $NF != "idle" { pd[++n] = $NF; a[n] = $1 + 0; b[n] = $2 + 0; sa += $1; sb += $2 }
        END {
            na *= sa / 100; nb *= sb / 100
            for (i = 1; i <= n; i++) {
                x = a[i] / sa; y = b[i] / sb; p = (a[i] + b[i]) / (sa + sb)
                z = p > 0 && p < 1 ? (x - y) / sqrt(p * (1 - p) * (1 / na + 1 / nb)) : 0
                printf "%s %.1f %.1f: %.1f standard errors\n", pd[i], 100 * x, 100 * y, z
                bad = bad || z > 6 || z < -6
            }
            print int(na), int(nb), "samples"
            exit bad || n < 5 || na < 100 || nb < 100
        }' "$D/diff"
}

# chi_square SECONDS OPTION...: of ten phases that have equal shares (9 degrees of freedom), and the samples
chi_square() {
    seconds=$1
    shift
    record "$t/steps" steps steps -e timer -c 1000 --duration "$seconds" "$@" || return 1
    "$MKPERF" report --stdio -i "$D/steps.data" --sort pd,sym | awk '
        $1 ~ /%$/ && $6 ~ /^phase_[0-9]/ { count[substr($6, 1, 7)] += $2; n += $2 }
        END { for (i = 0; i < 10 && n > 0; i++) { d = count["phase_" i] - n / 10; x += d * d / (n / 10) }
              print int(x), n + 0 }'
}
in_step() {
    set -- $(chi_square 0.5)
    [ $# -eq 2 ] || return 1
    # What is left of step makes the variance 1.27 times that of chance: 50 is one in 100,000, and 64 one in ten million.
    echo "chi-square $1 with $2 samples; 64 is one in ten million"
    [ "$2" -ge 100 ] && [ "$1" -lt 64 ]
}
without_jitter() {
    set -- $(chi_square 0.15 --no-jitter)
    [ $# -eq 2 ] || return 1
    echo "chi-square $1 with $2 samples: not wrong enough to prove anything"
    [ "$1" -gt 100 ]
}

# One instruction, one cycle, one nanosecond: in an interval in which no PD waits, cycles are instructions.
# Intervals are from half to one and a half periods, and none is missing: their sum is the time, except for the
# profiler PD's time at its interrupts (and the last interval).
intervals() {
    record "$t/robin" robin intervals -e '{timer,cycles,instructions}:S' -c 1000 --duration 2 || return 1
    took=$(sed -n 's/.*its profiler PD took \([0-9.]*\) %.*/\1/p' "$D/intervals.log")
    "$MKPERF" convert -q "$D/intervals.data" -o "$D/intervals.jsonl" || return 1
    jq -r 'select(.type == "sample") | [.period, (.reads[] | .count)] | @tsv' "$D/intervals.jsonl" |
        awk -v took="$took" '
        { n++; us += $1; cycles += $2; instructions += $3; bad += NF != 3 || $2 < $3 * 0.99 || $2 > $3 * 1.01 }
        n == 1 || $1 < least { least = $1 }
        $1 > most { most = $1 }
        END {
            printf "%d samples of %d to %d us, %d us; cycles %d, instructions %d; %s %% of the time at interrupts; %d odd\n",
                n, least, most, us, cycles, instructions, took, bad
            exit !(n > 1500 && bad == 0 && least >= 499 && least < 550 && most <= 1501 && most > 1450 &&
                   cycles / 1000 < us && cycles / 1000 > us * (0.99 - took / 100))
        }'
}
# Group reads have their shares in the report, JSON Lines and perf, like the leader.
interval_outputs() {
    "$MKPERF" report --stdio -i "$D/intervals.data" >"$D/intervals.report" || return 1
    grep -e 'instructions' "$D/intervals.report" | head -3
    grep -q 'instructions' "$D/intervals.report" || return 1
    # The cost of profiling is the summary's, as a share of the samples' time, and not that of samples.
    took=$(sed -n 's/.*its profiler PD took \([0-9.]*\) %.*/\1/p' "$D/intervals.log")
    grep '^# cost' "$D/intervals.report"
    awk -v took="$took" '/^# cost .*% of timer/ { x = $7 } /^# cost .*unknown/ { n++ }
        END { exit !(x > took - 0.05 && x < took + 0.1 && n == 2) }' "$D/intervals.report" || return 1
    jq -e 'select(.type == "totals") | (.cost[] | select(.event == "timer")).pds > 10000' "$D/intervals.jsonl" >/dev/null || return 1
    jq -r 'select(.type == "sample") | .reads | length' "$D/intervals.jsonl" |
        awk '{ s++; n += $1 } END { print s, n; exit !(n == 2 * s && s > 1500) }'
}

# Stacks that the profiler PD maps as well; 1.5 s are five rounds of the broken frame pointers.
deep() {
    record "$t/deep" deep deep -e timer --duration 1.5 || return 1
    ! grep 'stopped: a' "$D/deep.log" && deep_chains "$D/deep.data"
}

# Whose call a server is serving: by registers, compared with the hook in each sample, and by known answers.
callers() {
    record "$t/called" called called -e timer -c 300 --check-timer --duration 1 && checked called 2000 1 || return 1
    grep '^  callers' "$D/called.log"
    awk '$1 == "callers" && $2 == "checked" { n = $4; right = $6 + 0; wrong = $9 + 0 } END { exit !(n > 2000 && right >= 99 && wrong == 0) }' \
        "$D/called.log" && inferred_callers "$D/called.data"
}
# They are marked where callers are shown.
callers_marked() {
    "$MKPERF" report --stdio -g -i "$D/called.data" >"$D/called.report" &&
        grep -q '^# callers .*inferred from registers' "$D/called.report" &&
        grep -q ' microkit_ppcall in middle (inferred)$' "$D/called.report" || return 1
    "$MKPERF" script -i "$D/called.data" 2>/dev/null >"$D/called.script" &&
        grep -q 'microkit_ppcall+.* (inferred)$' "$D/called.script" || return 1
    "$MKPERF" convert -q "$D/called.data" -o "$D/called.folded" && grep -q ';back (inferred);' "$D/called.folded" || return 1
    jq -e 'select(.type == "totals") | .inferred_callers > 1000' "$D/called.jsonl"
}
callers_not_wanted() {
    record "$t/called" called alone -e timer -c 500 --no-callers --duration 0.2 || return 1
    ! grep '^  callers' "$D/alone.log" && ! "$MKPERF" script -i "$D/alone.data" 2>/dev/null | grep inferred
}

only_known() {
    record "$t/nohook" nohook filter -e timer --pd known --duration 1 || return 1
    shares filter | awk '$2 == "known" { n += $1 } $2 != "known" && $2 != "ambiguous" { print; bad = 1 }
        END { exit bad || n < 900 }'
}

# What the target refuses: a line of `WORDS|ARGUMENTS` for each, all in one boot. $D/refused.N is what mkperf printed.
cat >"$D/refusals" <<'END'
must be from|-e timer -c 10
cannot distinguish user mode|-e timer:u
only be read with it|-e timer,cycles
at most|-e {timer,cycles}:S -c 200000
does not have the PMU's interrupt|-e cycles
nothing to check|-e timer --check-timer
END
ask() {
    export D t B
    QEMU=$(cat "$t/nohook/qemu-command") scripts/qemu-talk "$D" 'n=0; while IFS="|" read -r words arguments; do
        n=$((n + 1))
        ! $MKPERF record -t $T --system "$t/nohook/nohook.system" --elf-path "$t/nohook:$B/demo" --kernel "$B/demo/kernel.elf" \
            -o "$D/refused.data" --duration 1 $arguments >"$D/refused.$n" 2>&1 </dev/null || echo "was accepted" >>"$D/refused.$n"
    done <"$D/refusals"'
}
ask
refused() { # refused N
    cat "$D/refused.$1"
    ! grep 'was accepted' "$D/refused.$1" && grep -q "$(sed -n "$1s/|.*//p" "$D/refusals")" "$D/refused.$1"
}

check "without a hook: the known shares" nohook
check "the demo, checked, and its known shares" checked_demo
check "capabilities of a cspace, checked" checked_shared
check "three of one priority, checked" checked_robin
check "system calls all the time, checked" checked_pair
check "shares are those of the hook" as_the_hook
check "jitter: not in step with a program by the clock" in_step
check "without jitter it is seen to be in step" without_jitter
check "counts of the interval" intervals
check "and what becomes of them" interval_outputs
check "stacks in the profiler PD's reach: whole chains, and no harm from broken ones" deep
check "the example in docs/stock.md" deep_example "$B/tests/pd/deep/deep.system"
check "callers in other PDs: as the hook has them, and known answers" callers
check "inferred callers are marked" callers_marked
check "--no-callers" callers_not_wanted
check "--pd" only_known
check "a period below the cost of looking" refused 1
check "user mode alone" refused 2
check "with other events" refused 3
check "counts over too long an interval" refused 4
counts_and_check() {
    record "$t/robin" robin refused -e '{timer,cycles}:S' --check-timer --duration 1 && return 1
    grep -q "needs the counters" "$D/refused.log"
}
check "counts and the check" counts_and_check
check "PMU events without its interrupt" refused 5
check "checking without a hook" refused 6
