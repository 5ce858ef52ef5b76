# SPDX-License-Identifier: BSD-2-Clause
# Compares a profile of tests/pd/accuracy.c with the truth.
#   awk -f bench/accuracy.awk LOG SCRIPT
# LOG: what the system printed (`truth NAME INSTRUCTIONS` of a round), and two counts of a session: `kernel SHARE`, the
# kernel's share of all instructions, and `user INSTRUCTIONS`, those of a round in user mode.
# SCRIPT: mkperf script -F comm,period,event,ip,sym.
# A session adds to the kernel's work at each system call, so the undisturbed time of `syscalls` is no truth. Its user part is
# what is left of a round's user mode without the other kinds of work.
# Prints for each kind of work
#   share NAME TRUE MEASURED ERROR SE     shares and the error in per cent, SE: one standard error,
#                                         sqrt(p (1 - p) / n) of n samples
#   rms N NAME TRUE SE MEASURED           root mean square of the errors of all chunks of N samples
#   chi-square VALUE FREEDOM Z            of the numbers of samples; Z: as a normal deviate
#   samples N CAPTURE                     CAPTURE: samples of mkperf_capture, mkperf's own, left out
# Samples of mkperf's own PDs and of mkperf_capture are left out: the truth is without a profiler.

function flush_chunk(k,    i, e) {
    for (i in truth) {
        e = chunk[k, i] / chunk_sum[k] - truth[i] / all
        square[k, i] += e * e
        chunk[k, i] = 0
    }
    chunks[k]++
    chunk_sum[k] = chunk_n[k] = 0
}
function sample(    kind, k) {
    if (comm != "work" && comm != "callee") return
    if (kernel && leaf == "mkperf_capture") { capture++; return }
    kind = kernel ? "kernel" : in_calls || comm == "callee" ? "syscalls" : in_deep ? "work_10" : leaf
    if (!(kind in truth)) kind = "rest"
    n[kind]++; weight[kind] += period; samples++; sum += period
    for (k in chunk_n) {
        chunk[k, kind] += period; chunk_sum[k] += period
        if (++chunk_n[k] == k) flush_chunk(k)
    }
}
BEGIN { chunk_n[100] = chunk_n[1000] = chunk_n[10000] = 0 }
FNR == 1 && ++file == 2 { # a round in the session
    truth["syscalls"] += user - all
    all = user / (1 - share)
    truth["kernel"] = all * share
}
file == 1 {
    if (match($0, /truth [a-z0-9_]+ [0-9]+$/)) {
        split(substr($0, RSTART), t, " ")
        truth[t[2]] = t[3]; all += t[3]
    }
    if ($1 == "kernel") share = $2
    if ($1 == "user") user = $2
    next
}
NF == 0 { if (comm != "") sample(); comm = ""; next }
comm == "" { comm = $1; period = $2; frames = in_deep = in_calls = 0; next }
{
    if (frames++ == 0) { kernel = $1 ~ /^ffff/; leaf = $2 }
    in_deep = in_deep || $2 == "deep"
    in_calls = in_calls || $2 == "syscalls"
}
END {
    if (comm != "") sample()
    if (samples == 0 || all == 0) { print "no samples, or no truth" > "/dev/stderr"; exit 1 }
    for (i in truth) {
        p = truth[i] / all
        expected = samples * p
        if (expected >= 5) { x += (n[i] - expected) ^ 2 / expected; freedom++ }
        printf "share %s %.4f %.4f %+.4f %.4f\n", i, p * 100, weight[i] / sum * 100,
            (weight[i] / sum - p) * 100, sqrt(p * (1 - p) / samples) * 100
        for (k in chunks)
            printf "rms %d %s %.4f %.4f %.4f\n", k, i, p * 100, sqrt(p * (1 - p) / k) * 100,
                sqrt(square[k, i] / chunks[k]) * 100
    }
    freedom--
    z = ((x / freedom) ^ (1 / 3) - (1 - 2 / (9 * freedom))) / sqrt(2 / (9 * freedom)) # Wilson and Hilferty
    printf "chi-square %.2f %d %.2f\n", x, freedom, z
    printf "samples %d %d\n", samples, capture
}
