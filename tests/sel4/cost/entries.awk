# SPDX-License-Identifier: BSD-2-Clause
# What entries into the kernel cost, in instructions, out of QEMU's trace of executed kernel
# instructions (one line each). Prints for each kind of entry
#
#   entry KIND NUMBER MODE MEAN
#   part KIND FUNCTION MEAN       instructions of an entry in that function of the kernel
#
#   awk -f entries.awk -v ENOUGH=N -v WANT="KIND ..." [-v LIMIT=LINES] NM-OUTPUT TRACE
#
# NM-OUTPUT: of `nm -n`. An entry goes from an instruction in a vector table to the one before the
# next entry or before the idle thread. Its kind is known by the functions that it passes. Ends
# when there are ENOUGH entries of each kind in WANT. What KernelMkperfQEMU adds is printed as
#
#   emulator KIND MEAN            and not counted: a board does not have it

function kind_of_it(    slow) {
    if ("mkperf_request" in through) return "request"
    if ("mkperf_interrupt" in through)
        return "sendSignal" in through ? "sample_that_wakes" : "sample"
    if ("c_handle_interrupt" in through)
        return "sendSignal" in through ? "interrupt_that_wakes" : "interrupt"
    slow = "slowpath" in through ? "slow_" : "fast_"
    if ("c_handle_fastpath_call" in through)
        return slow == "fast_" || "sendIPC" in through ? slow "call" : "invocation"
    if ("c_handle_fastpath_reply_recv" in through) return slow "reply_recv"
    if ("c_handle_syscall" in through) return "sendSignal" in through ? "notify" : "wait"
    if ("handleVCPUFault" in through || "c_handle_enfp" in through) return "vector_fault"
    return "other"
}

# A hexadecimal number and 4.
function next_instruction(hex,    i, carry, rest) {
    carry = 4
    for (i = length(hex); i > 0; i--) {
        carry += index("0123456789abcdef", substr(hex, i, 1)) - 1
        rest = substr("0123456789abcdef", carry % 16 + 1, 1) rest
        carry = carry > 15
    }
    return rest
}

# The function that an instruction is in; addresses of one length compare as strings.
function function_of(pc,    low, high, middle) {
    if (pc in known) return known[pc]
    low = 0
    high = symbols + 1
    while (high - low > 1) {
        middle = int((low + high) / 2)
        if (address[middle] "" <= pc "") low = middle
        else high = middle
    }
    return known[pc] = low > 0 ? name[low] : "?"
}

# Whether the work for an emulator begins, or continues, in function f.
function emulator(f) {
    return f ~ /^mkperf_qemu/ || (in_emulator && f ~ /^mkperf_pmu/)
}

function forget_entry(    f) {
    for (f in through) delete through[f]
    count = 0
    aside = 0
    in_emulator = 0
}

function entry_ends(    kind, seen, f) {
    if (!entered || count == 0) return
    entered = 0
    kind = kind_of_it()
    # The first ones find caches that are cold.
    if (skipped[kind]++ < 3) return
    seen = ++times[kind, count]
    if (seen > times[kind, mode[kind]] || !(kind in mode)) mode[kind] = count
    sum[kind] += count
    sum_aside[kind] += aside
    for (f in through) part[kind, f] += through[f]
    n[kind]++
    if (n[kind] == ENOUGH && kind in wanted && --missing == 0) exit
}

BEGIN {
    missing = split(WANT, list, " ")
    for (i in list) wanted[list[i]]
    # Without one of these, kinds could not be distinguished.
    split("sendSignal c_handle_interrupt slowpath sendIPC c_handle_fastpath_call " \
          "c_handle_fastpath_reply_recv c_handle_syscall arm_vector_table idle_thread", needed, " ")
}

# The kernel's functions. What a compiler appends to a name (`.part.0`) is left out.
FNR == NR {
    if ($2 !~ /^[tT]$/ || $3 ~ /^ki_/) next # ki_: marks of the linker script
    sub(/\..*/, "", $3)
    # What is entered while a session runs is a copy of the kernel's own function (kernel/sel4/entries.c).
    sub(/^mkperf_c_handle/, "c_handle", $3)
    sub(/^mkperf_slowpath$/, "slowpath", $3)
    symbols++
    address[symbols] = $1
    name[symbols] = $3
    there[$3]
    if ($3 == "arm_vector_table" || $3 == "mkperf_vectors") half[substr($1, 1, 13), substr($1, 14, 1) < "8"]
    if ($3 == "idle_thread") { idle = $1; idle_too = next_instruction(idle) }
    next
}

FNR == 1 {
    if ("sample" in wanted) needed[0] = "mkperf_interrupt"
    for (i in needed)
        if (!(needed[i] in there)) {
            print "entries.awk: the kernel has no function " needed[i] " to tell entries by" >"/dev/stderr"
            failed = 1
            exit 1
        }
}

# `Trace 0: 0x... [00000000/PC/...]`; `Stopped execution of ... [PC]`: the line before was not executed.
/^Stopped/ {
    if (in_emulator) aside--
    else if (entered && count > 0) {
        count--
        through[last]--
    }
    next
}
/^Trace/ {
    if (LIMIT && ++lines > LIMIT) exit
    split($4, field, "/")
    pc = field[2]
    # A vector: each 128 bytes of 2 KiB.
    if (pc ~ /[08]0$/ && (substr(pc, 1, 13), substr(pc, 14, 1) < "8") in half) {
        entry_ends()
        entered = 1
        forget_entry()
    } else if (pc == idle || pc == idle_too) {
        # `wfi` and the branch back to it.
        entry_ends()
    }
    last = function_of(pc)
    in_emulator = emulator(last)
    if (in_emulator) {
        aside++
        next
    }
    count++
    through[last]++
}

END {
    if (failed) exit 1
    for (kind in n)
        printf "entry %s %d %d %.1f\n", kind, n[kind], mode[kind], sum[kind] / n[kind]
    for (kind in n)
        if (sum_aside[kind]) printf "emulator %s %.1f\n", kind, sum_aside[kind] / n[kind]
    for (key in part) {
        split(key, field, SUBSEP)
        printf "part %s %s %.1f\n", field[1], field[2], part[key] / n[field[1]]
    }
}
