#!/bin/sh
# SPDX-License-Identifier: BSD-2-Clause
# How true profiles are: shares of known work against instructions that were counted, addresses in a loop
# whose instructions run equally often, and what happens in step with that loop. docs/accuracy.md has
# these figures and says what they mean. The short form leaves out the long periods.
set -eu
. bench/lib.sh
a=$d/accuracy
mkdir -p "$a"

bench/accuracy-shares "$a" 10007 "${ACCURACY_SECONDS:-2}" >"$a/shares"
n=$(awk '$1 == "samples" { print $2 }' "$a/shares")
for kind in work_60 work_10 branchy chase work_5 kernel work_3 work_1_5 syscalls work_0_4 work_0_1; do
    set -- $(awk -v kind="$kind" '$1 == "share" && $2 == kind' "$a/shares")
    value "accuracy_error_$kind" "$5" points - "true $3 %, measured $4 %; one standard error $6"
done
value accuracy_worst_error "$(awk '$1 == "share" { e = $5 / $6; e = e < 0 ? -e : e; if (e > w) w = e }
    END { printf "%.2f", w }' "$a/shares")" "std errors" '<=4' "of those shares, $n samples"
value accuracy_shares_chi_square "$(awk '$1 == "chi-square" { print $2 }' "$a/shares")" - - \
    "$(awk '$1 == "chi-square" { print $3 " degrees of freedom, normal deviate " $4 }' "$a/shares")"
for size in 100 1000 10000; do
    for kind in work_60 work_10 work_1_5 work_0_1; do
        set -- $(awk -v n=$size -v kind="$kind" '$1 == "rms" && $2 == n && $3 == kind' "$a/shares")
        value "accuracy_rms_${size}_$kind" "$6" points - "of $size samples; sqrt(p (1 - p) / n) is $5"
    done
done

bench/accuracy-pcs "$a" 10007 1 >"$a/pcs"
value accuracy_pc_normal_deviate "$(awk '$1 == "pcs" { print $4 }' "$a/pcs")" - '<=3.3' \
    "$(awk '$1 == "samples" { n = $2 }
        $1 == "pcs" { print "chi-square " $2 ", " $3 " degrees of freedom, " n " samples" }' "$a/pcs")"

# Periods in step with the loop of 1000: whole multiples, halves and a quarter
while read -r period seconds; do
    [ -n "$BENCH_FULL" ] || [ "$period" -le 25000 ] || continue
    for jitter in --no-jitter ""; do
        bench/accuracy-pcs "$a" "$period" "$seconds" $jitter >"$a/step"
        name=jitter
        limit='<=2'
        [ -z "$jitter" ] || name=no_jitter limit=-
        set -- $(awk '$1 == "samples" { n = $2 } $1 == "phases" { print n, $2, $3, $4 }' "$a/step")
        value "accuracy_bias_${period}_$name" "$3" points "$limit" \
            "worst of ten phases of 9.8 %, $1 samples, standard error $4, chi-square $2"
    done
done <<END
10000 0.2
10250 0.2
10500 0.2
25000 0.4
50000 0.5
100000 1
250000 2
1000000 5
END
