#!/bin/sh
# SPDX-License-Identifier: BSD-2-Clause
# A quick form of bench/accuracy.sh (docs/accuracy.md): shares of known work within the errors of the
# number of samples, kernel and user distinguished, and each instruction of a loop sampled equally often.
set -u
NAME=accuracy
. tests/system/lib.sh

# Six standard errors, and a chi-square 6 above its mean: by chance one run in 40 million fails.
shares() {
    bench/accuracy-shares "$D" 10007 0.22 >"$D/shares" || return 1
    sort "$D/shares"
    awk '
        $1 == "share" { kinds++; e = $5 / $6; if (e > 6 || e < -6) { print $2, "is wrong"; bad = 1 } }
        $1 == "samples" { n = $2 }
        $1 == "chi-square" { z = $4 }
        END { exit bad || kinds != 12 || n < 20000 || z > 6 }' "$D/shares"
}
check "shares from 0.1 to 60 per cent, in user mode and in the kernel, are the counted ones" shares

addresses() {
    bench/accuracy-pcs "$D" 10007 0.22 >"$D/pcs" || return 1
    cat "$D/pcs"
    awk '$1 == "samples" { n = $2 } $1 == "pcs" { z = $4 } END { exit n < 20000 || z > 6 }' "$D/pcs"
}
check "a loop's 1000 instructions have equally many samples" addresses

# The same measure detects a wrong profile: the test can fail.
in_step() {
    bench/accuracy-pcs "$D" 10000 0.05 --no-jitter >"$D/step" || return 1
    cat "$D/step"
    awk '$1 == "pcs" { z = $4 } END { exit z < 20 }' "$D/step"
}
check "and not so in step with it without jitter" in_step
