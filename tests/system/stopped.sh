#!/bin/sh
# SPDX-License-Identifier: BSD-2-Clause
# Callers that are stopped while their calls are served, with wild frame pointers (tests/pd/stopped.c): the chain
# ends where no PD is served any more, and no sample has a wrong frame.
# Environment: STOPPED_DIR, STOPPED_QEMU for another platform.
set -u
NAME=${NAME:-stopped}
. tests/system/lib.sh
t=${STOPPED_DIR:-$B/tests/pd/stopped}
QEMU=${STOPPED_QEMU:-$(cat "$t/qemu-command")}
export QEMU

# A line for each sample: PD, mode, and the chain from the innermost function on, each function of another PD as
# PD:FUNCTION.
recorded() {
    scripts/qemu-record "$D" -e "$1" -F 20000 --duration 0.3 --system "$t/stopped.system" --elf-path "$t" \
        -o "$D/$2.data" >"$D/$2.log" 2>&1 || { cat "$D/$2.log"; return 1; }
    "$MKPERF" convert -q "$D/$2.data" -o "$D/$2.jsonl" || return 1
    jq -r 'select(.type == "sample") | [.pd, .mode,
            ([.stack[] | select(.kernel | not) | (if .pd then .pd + ":" else "" end) + (.function // "?")] | join(" "))] | @tsv' \
        "$D/$2.jsonl" >"$D/$2"
}

# Before it is stopped the victim is the caller, with no more frames than it has; afterwards no PD is. The parent
# that stops it serves none.
chains_end() {
    recorded cycles stopped || return 1
    awk -F '\t' '
        $1 == "server" && $3 ~ /stopped_served_work/ { served++; whole += $3 ~ / victim:stopped_ppcall( |$)/ }
        $1 == "server" && $3 ~ /stopped_nobodys_work/ { alone++; wrong += $3 ~ /:/ }
        $1 != "server" && $1 != "profiler" && $3 ~ /:/ { other++ }
        $3 ~ /:/ && $1 == "server" {
            k = split($3, f, " ")
            for (i = 1; i <= k; i++)
                if (f[i] ~ /:/ && f[i] !~ /^victim:(stopped_(ppcall|ask|call|again)|init|main|_start|pocket_main|microkit_ppcall|seL4_Call|(arm|riscv)_sys_send_recv|\[unknown\].*)$/ && strange++ < 3) print
        }
        END {
            printf "%d served, %d with their caller; %d for no PD, %d with a caller; %d of other PDs with one; %d strange\n", served, whole, alone, wrong, other, strange
            exit !(served > 2000 && whole >= 0.99 * served && alone > 2000 && wrong == 0 && other + 0 == 0 && strange + 0 == 0)
        }' "$D/stopped"
}
kernel() {
    recorded cycles:k kernel && awk -F '\t' '$1 == "server" { n++ } $1 == "boss" && $3 ~ /:/ { bad++ }
        $1 == "server" && $3 ~ /stopped_nobodys_work.*:/ { bad++ } END { print n, bad + 0; exit n < 200 || bad + 0 != 0 }' "$D/kernel"
}
check "chains end where a caller is stopped, and at wild frame pointers" chains_end
check "in the kernel's work, too" kernel
