#!/bin/sh
# SPDX-License-Identifier: BSD-2-Clause
# mkperf mcp, asked by the protocol's reference client: each tool's answer is the output of its command.
# Environment: B and MKPERF.
set -u
NAME=mcp
B=$(realpath "$B")
. tests/system/lib.sh
npm=$PWD/tests/npm

asked() {
    install_npm && MKPERF_SINKS_DIR=$D "$B/tests/unit/test_sinks" >"$D/files.log" 2>&1 &&
        node "$npm/mcp.mjs" "$B/tests/npm/node_modules" "$(realpath "$MKPERF")" "$D/later.perf" >"$D/mcp" 2>&1 ||
        { cat "$D/mcp"; return 1; }
    contains "$D/mcp" '^explain report report-header-only report-charged latency'
}
if has node "mkperf mcp" && has npm "mkperf mcp"; then
    check "the reference client gets the answers of the commands" asked
fi
