#!/bin/sh
# SPDX-License-Identifier: BSD-2-Clause
# What a sample costs the target, in instructions, and the line, in bytes.
set -eu
. bench/lib.sh

guest "$B/pocket/selftest/sampling.img" done 60 "$d/hook.txt"
value hook_instructions_per_sample "$(figure "$d/hook.txt" instructions-per-sample)" instructions \
    '<=500' "a sample with 8 return addresses, one wake-up for 64 samples"
guest "$d/cost/cost.img" 'cost: done' 60 "$d/cost.txt"
copy=$(figure "$d/cost.txt" hook_and_copy_instructions_per_sample)
value hook_and_copy_instructions_per_sample "$(awk "BEGIN { printf \"%.1f\", $copy / 1000 }")" \
    instructions '<=600' "such a sample and the profiler PD's copy of it"
hop=$(figure "$d/cost.txt" hook_and_copy_instructions_per_caller)
value hook_and_copy_instructions_per_caller "$(awk "BEGIN { printf \"%.1f\", $hop / 1000 }")" \
    instructions '<=110' "a caller in another PD with one return address, and the copy of its words"

demo=$B/demo
# How full batches are depends a little on when this machine reads: the better of two.
for i in 1 2; do
    QEMU="$(cat "$demo/qemu-command")" scripts/qemu-record "$d" -e cycles -F 1000 -g --max-frames 8 \
        --duration 5 --system "$demo/demo.system" --elf-path "$demo" -o "$d/demo.data" \
        --raw "$d/demo.raw" >"$d/demo.log" 2>&1 || {
        cat "$d/demo.log" >&2
        exit 1
    }
    bytes_per_sample "$d/demo.log"
done >"$d/demo.bytes"
value wire_bytes_per_sample "$(sort -n "$d/demo.bytes" | head -n 1)" bytes '<=5' "a sample of the demo at 1 kHz, 8 frames"
