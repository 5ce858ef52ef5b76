# SPDX-License-Identifier: BSD-2-Clause
# The demo in QEMU, for the tests that record it with scripts/qemu-record. Sourced after lib.sh. MKPERF is absolute
# afterwards, for tests that change their directory.

demo=$B/demo
data=$D/perf.data
system="--system $demo/demo.system --elf-path $demo"
MKPERF=$(realpath "$MKPERF")
QEMU=$(cat "$demo/qemu-command")
export QEMU MKPERF
