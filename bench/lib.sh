# SPDX-License-Identifier: BSD-2-Clause
# What the sections of `make bench` share. Sourced by each. Environment: B, MKPERF, QEMU (the command
# that boots an image), CROSS; BENCH_VALUES, the file that becomes bench.json; BENCH_FULL, empty for the
# short form of each section.
d=$B/bench
export PERF_BUILDID_DIR="$d/debug" # copies of ELFs: not in ~/.debug

# value KEY VALUE UNIT LIMIT WHAT: one row, and one number in bench.json; LIMIT is `<=N`, `>=N` or `-`
value() {
    printf '%-40s %12s %-14s %-12s %s\n' "$1" "$2" "$3" "$4" "$5"
    echo "$1 $2 $3 ${4#[<>]=} $5" >>"$BENCH_VALUES"
}

# bounded KEY VALUE UNIT LIMIT WHAT: the same, and the section fails if it is above the limit, `<=N`
bounded() {
    value "$@"
    awk -v value="$2" -v limit="${4#<=}" 'BEGIN { exit !(value != "" && value + 0 <= limit + 0) }' || {
        echo "bench: $1 is $2 $3, and at most ${4#<=} are allowed" >&2
        exit 1
    }
}

# guest IMAGE LAST SECONDS FILE: what a system prints on its console, until it prints the line LAST
guest() {
    : >"$4"
    $QEMU "$1" -serial "file:$4" </dev/null >"$4.qemu" 2>&1 &
    qemu=$!
    ticks=0
    until grep -q "^$2" "$4"; do
        ticks=$((ticks + 1))
        if [ $ticks -gt $((10 * $3)) ] || ! kill -0 $qemu 2>/dev/null; then
            break # the figure that is missing will be named
        fi
        sleep 0.1
    done
    kill $qemu 2>/dev/null || true
    wait $qemu 2>/dev/null || true
}

# figure FILE NAME: the last line `figure NAME VALUE` of a system's console
figure() {
    awk -v name="$2" '$1 == "figure" && $2 == name { v = $3 } END { if (v == "") exit 1; print v }' \
        "$1" || {
        echo "bench: $1 has no figure $2" >&2
        cat "$1" >&2
        exit 1
    }
}

# best NAME COMMAND...: runs it, in the full form three times; $d/NAME has the cpu and wall seconds and KiB of the
# fastest (the others had more of this machine's other work in them)
best() {
    name=$1
    shift
    rm -f "$d/$name".[123]
    for i in 1 ${BENCH_FULL:+2 3}; do
        "$d/measure" "$d/$name.$i" "$@" >"$d/$name.out" 2>"$d/$name.log" || {
            cat "$d/$name.log" >&2
            exit 1
        }
    done
    cat "$d/$name".[123] | sort -n | head -n 1 >"$d/$name"
}

# bytes_per_sample FILE: bytes on the line for each sample of a recording's summary, with two decimals
bytes_per_sample() {
    sed -n -e 's/^mkperf: .*: \([0-9]*\) samples in .*/samples \1/p' -e 's/^  line *\([0-9]*\) bytes.*/bytes \1/p' "$1" |
        awk '{ n[$1] = $2 } END { printf "%.2f\n", n["bytes"] / n["samples"] }'
}
