#!/bin/sh
# SPDX-License-Identifier: BSD-2-Clause
# tests/check-tidy fails on a finding in a header of ours, and passes without it; generated headers may have some.
set -u
NAME=tidy
. tests/system/lib.sh
export B
cp .clang-tidy "$D"

# header FILE STATEMENT: a header with a function, and a file FILE that includes it and a generated header
header() {
    printf 'static inline int sign(int n)\n{\n    if (n < 0) {\n        return -1;\n    }\n    %b\n}\n' "$2" >"$D/$1.h"
    printf '#include "%s.h"\n#include "mkperf.pb.h"\n\nint main(void)\n{\n    return sign(0);\n}\n' "$1" >"$D/$1.c"
}
header good 'return n > 0;'
header bad 'if (n > 0) return 1;\n    return 0;'
check "a header without findings" tests/check-tidy "$D/good.c"
bad() {
    ! tests/check-tidy "$D/bad.c" >"$D/log" 2>&1 && contains "$D/log" 'bad\.h:6:.*readability-braces-around-statements'
}
check "a finding in a header fails" bad

# A null pointer that a callee leaves on one of its paths: the analyzer follows calls, within its bounds.
printf 'static void place(int **to, int *p)\n{\n    if (*p > 3) {\n        *to = p;\n    }\n}\n\nint main(int argc, char **argv)\n{\n    int *at = 0;\n\n    (void)argv;\n    place(&at, &argc);\n    return *at;\n}\n' >"$D/path.c"
path() {
    ! tests/check-tidy "$D/path.c" >"$D/log" 2>&1 && contains "$D/log" 'path\.c:14:.*clang-analyzer-core.NullDereference'
}
check "a path through a call to a fault fails" path
