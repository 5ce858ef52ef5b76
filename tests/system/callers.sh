#!/bin/sh
# SPDX-License-Identifier: BSD-2-Clause
# Callchains that continue in the PD whose protected call is being served, and time charged to it: a chain of
# two servers, of which one is preempted, and a passive server, that work for two clients at a ratio of 1 to 3
# (tests/pd/callers.c).
# Environment: CALLERS_DIR, CALLERS_QEMU for another platform.
set -u
NAME=${NAME:-callers}
. tests/system/lib.sh
t=${CALLERS_DIR:-$B/tests/pd/callers}
QEMU=${CALLERS_QEMU:-$(cat "$t/qemu-command")}
export QEMU

# RISC-V's counters count in all modes, so a sample of the kernel has several overflows: at 20 kHz they are a storm.
rate='-F 20000 --duration 0.3'
[ "${ARCH:-}" != riscv64 ] || rate='-F 10000 --duration 0.6'
# record NAME ARGUMENTS...: a recording, and a line for each sample: period, PD, mode, and the chain from the
# innermost function on, each function of another PD as PD:FUNCTION.
record() {
    name=$1
    shift
    [ $# -gt 0 ] && [ "$1" = -e ] || set -- -e cycles "$@"
    # shellcheck disable=SC2086 # options
    scripts/qemu-record "$D" $rate "$@" --system "$t/callers.system" \
        --elf-path "$t" -o "$D/$name.data" --raw "$D/$name.raw" >"$D/$name.log" 2>&1 || {
        cat "$D/$name.log"
        return 1
    }
    "$MKPERF" convert -q "$D/$name.data" -o "$D/$name.jsonl" || return 1
    jq -r 'select(.type == "sample") | [.period, .pd, .mode,
            ([.stack[] | select(.kernel | not) | (if .pd then .pd + ":" else "" end) + (.function // "?")] | join(" "))] | @tsv' \
        "$D/$name.jsonl" >"$D/$name"
    [ "$(wc -l <"$D/$name")" -ge 5000 ] || { echo "too few samples"; wc -l "$D/$name"; return 1; }
}

# Samples taken inside a call: the callers in their order, and none else; other PDs serve none. At least 99 % have
# them, none has wrong ones. inside FILE PATTERN LEAST: of those whose chain matches, which are so many of each server.
inside() {
    awk -F '\t' -v pattern="$2" -v least="$3" '
        {
            order = $2
            last = ""
            k = split($4, f, " ")
            for (i = 1; i <= k; i++) {
                if (split(f[i], part, ":") == 2 && part[1] != last) { order = order " " part[1]; last = part[1] }
            }
            good = order ~ /^((back )?middle|passive) (small|large)$/ && $4 ~ /[^:]* (small|large):(.*:)?callers_ask |:callers_ask /
            if (!good && order != $2 && order != "back middle" && order != "profiler client") {
                wrong++
                if (wrong < 5) print order, ":", $4
            }
            if ($2 !~ /^(middle|back|passive)$/ || $4 !~ pattern) next
            n[$2]++
            whole[$2] += good
        }
        END {
            split("middle back passive", server, " ")
            for (i in server) {
                s = server[i]
                print n[s] + 0, "samples in a call of", s, "of which with all callers", whole[s] + 0, "wrong", wrong + 0
                if (n[s] < least || whole[s] < 0.99 * n[s]) bad = 1
            }
            exit bad || wrong != 0
        }' "$1"
}
complete() {
    record with && inside "$D/with" 'callers_(middle|back|passive)_work' 1000
}

# What the kernel did for a server that was serving; the reply ends the call.
kernel() {
    record kernel -e cycles:k --duration 0.6 || return 1
    awk -F '\t' '$2 != "back" && $2 != "passive" && $3 == "kernel"' "$D/kernel" >"$D/kernel-middle"
    inside "$D/kernel-middle" '(^| )protected ' 0 && awk -F '\t' '$2 == "middle" && $4 ~ /(small|large):/ { n++ } END { print n + 0; exit n < 500 }' "$D/kernel-middle"
}

# Who preempted the server does not work for its client.
above() {
    awk -F '\t' '$2 == "above" && $4 ~ /callers_above_work/ { n++; wrong += $4 ~ /:/ } END { print n, wrong + 0; exit n < 100 || wrong != 0 }' "$D/with"
}

# Three quarters of the servers work was for `large`; six standard errors, one run in 500 million.
ratio() {
    awk -F '\t' '
        $2 == "middle" || $2 == "back" || $2 == "passive" {
            if ($4 !~ /callers_(middle|back|passive)_work/) next
            if ($4 ~ /large:/) large++
            else if ($4 ~ /small:/) small++
        }
        END {
            n = large + small
            e = (large / n - 0.75) / sqrt(0.75 * 0.25 / n)
            printf "large %d, small %d: %.4f, %.1f standard errors from 3/4\n", large, small, large / n, e
            exit !(n >= 2000 && e < 6 && e > -6)
        }' "$D/with"
}

# The same from the report: charges sum up to everything, and the servers have next to nothing of their own.
charged() {
    "$MKPERF" report --stdio --charged -i "$D/with.data" >"$D/charged" || return 1
    cat "$D/charged"
    awk '
        /^ / && $2 != "by" && NF == 5 { sum += $1; self += $2; imposed += $3; served += $4; c[$5] = $1; i[$5] = $3 }
        END {
            ratio = i["large"] / i["small"]
            printf "sum %.2f, imposed %.2f, served %.2f, ratio %.3f\n", sum, imposed, served, ratio
            exit !(sum > 99.9 && sum < 100.1 && imposed - served < 0.1 && served - imposed < 0.1 &&
                   ratio > 2.6 && ratio < 3.4 && i["small"] + 0 > 5)
        }' "$D/charged"
}

# top shows the same sums while they arrive.
charged_in_top() {
    "$MKPERF" top -t "file:$D/with.raw" --stdio --charged --window 0 --system "$t/callers.system" --elf-path "$t" \
        >"$D/top" 2>&1 || { cat "$D/top"; return 1; }
    # The last table: a slow machine has one before it.
    awk '/^#.*Imposed/ { table = 1; text = ""; next } /^#/ { table = 0 } table { text = text $0 "\n" } END { printf "%s", text }' \
        "$D/top" >"$D/top-charged"
    "$MKPERF" report --stdio --charged --percent-limit 0 -i "$D/with.data" | awk '/^ /' >"$D/report-charged"
    [ -s "$D/top-charged" ] && diff "$D/report-charged" "$D/top-charged"
}

# perf shows the same chains, without a warning.
in_perf() {
    chains "$D/with.data" | awk '
        $1 == "back" && $3 ~ /^(spin;)?callers_back_work/ { n++; whole += $3 ~ /;callers_ask;.*;callers_ask;/ }
        END { print whole + 0, "of", n + 0; exit !(n >= 500 && whole >= 0.99 * n) }' || return 1
    # Below the server's function, by callers: the server that called it, and the clients.
    perf report -i "$D/with.data" --stdio --no-children -g caller --comm back -S spin >"$D/perf-report" 2>"$D/perf-errors" || return 1
    grep -v '^unwind: target platform=arm64 is not supported$' "$D/perf-errors" >"$D/perf-warnings" # of an x86 host
    [ ! -s "$D/perf-warnings" ] || { cat "$D/perf-warnings"; return 1; }
    grep -q callers_back_work "$D/perf-report" && [ "$(grep -c callers_ask "$D/perf-report")" -ge 2 ] || { cat "$D/perf-report"; return 1; }
}

# Viewers that join functions of one name cannot join those of two PDs.
names() {
    "$MKPERF" convert -q "$D/with.data" -o "$D/with.speedscope.json" || return 1
    jq -r '.shared.frames[].name' "$D/with.speedscope.json" | grep -Ex 'callers_ask|spin|protected|main' && return 1
    "$MKPERF" convert -q "$D/with.data" -o "$D/with.callgrind" && "$MKPERF" convert -q "$D/with.data" -o "$D/with.pb.gz" || return 1
    for f in "$D/with.speedscope.json" "$D/with.callgrind" "$D/with.pb.gz"; do
        for pd in small large middle; do
            zcat -f "$f" | grep -aq "callers_ask {$pd}" || { echo "no callers_ask of $pd in $f"; return 1; }
        done
    done
}

# Where a PD calls another there is a frame of that call, in every format.
edges() {
    for f in folded firefox.json pb.gz; do
        "$MKPERF" convert -q "$D/with.data" -o "$D/with.$f" || return 1
    done
    grep -q ';callers_ask;.*;middle;.*;callers_ask;.*;back;.*;callers_back_work;spin ' "$D/with.folded" || return 1
    # speedscope: the PDs frames in the stacks of `back`, the outermost first
    jq -r '[.shared.frames[].name] as $f | .profiles[] | select(.name | startswith("back ")) | .samples[] | map($f[.]) | join(";")' \
        "$D/with.speedscope.json" | grep -Eq '^(small|large);.*;middle;.*;back;.*;callers_back_work;spin' || return 1
    # Firefox: edges and frames of other PDs have categories of their own
    jq -e '[.threads[] | select(.processName == "back") | . as $t | $t.frameTable.func | to_entries[]
            | {name: $t.stringArray[$t.funcTable.name[.value]], category: $t.frameTable.category[.key]}] |
            (map(select(.name == "[back]" and .category == 5)) | length) == 1 and
            (map(select(.name == "[middle]" and .category == 5)) | length) == 1 and
            (map(select(.name == "callers_ask" and .category == 4)) | length) >= 3 and
            (map(select(.name == "callers_back_work")) | length >= 1 and all(.category == 1))' "$D/with.firefox.json" || return 1
    # callgrind: what the function of a PD takes inclusively is what is charged to it, as far as its calls are its own
    callgrind_annotate --inclusive=yes "$D/with.callgrind" 2>/dev/null | sed 's/,//g' |
        awk '$NF == "[large]" && $(NF - 1) == "???:large" { gsub(/[(%)]/, "", $2); print $2 }' >"$D/callgrind-large"
    awk '$5 == "large" { print $1 + 0 }' "$D/charged" | paste - "$D/callgrind-large" |
        awk '{ print; exit !(NF == 2 && $1 - $2 < 0.02 && $2 - $1 < 0.02) }' || return 1
    command -v go >/dev/null || return 0
    go tool pprof -traces "$D/with.pb.gz" 2>/dev/null | grep -q '^ *\[back\]$'
}

# Without callers a chain ends at its PD.
without() {
    record without --no-callers || return 1
    awk -F '\t' '$4 ~ /:/ { n++ } END { print n + 0, "samples with another PD"; exit n != 0 }' "$D/without"
}
check "chains continue in the caller, and in its caller: 99 % complete, none wrong" complete
check "the kernel's work for a server in a call has its callers" kernel
check "a PD that preempts a server has no callers" above
check "what two clients caused is distinguished: 1 to 3" ratio
check "charged time is all time, and the servers work is their clients" charged
check "top has the same charges" charged_in_top
check "perf shows the callers frames" in_perf
check "functions of one name in several PDs have several names" names
check "a frame for each call between PDs" edges
check "--no-callers: chains end at the PD" without
