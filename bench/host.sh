#!/bin/sh
# SPDX-License-Identifier: BSD-2-Clause
# How fast the host's readers are, and what memory they take.
set -eu
. bench/lib.sh

samples=1000000
for n in $samples $((3 * samples)); do
    [ -s "$d/capture-$n" ] || "$d/gen_capture" "$n" >"$d/capture-$n"
    best "host-$n" "$MKPERF" record -q -t "file:$d/capture-$n" -o "$d/capture.data"
done
read -r cpu wall rss <"$d/host-$samples"
read -r cpu3 wall3 rss3 <"$d/host-$((3 * samples))"
value host_samples_per_second "$(awk "BEGIN { printf \"%.0f\", $samples / $cpu }")" samples/s \
    '>=2000000' "capture to perf.data, per second of one core"
value host_peak_rss_mib "$(awk "BEGIN { printf \"%.1f\", $rss / 1024 }")" MiB '<=32' \
    "1,000,000 samples"
value host_peak_rss_mib_3m "$(awk "BEGIN { printf \"%.1f\", $rss3 / 1024 }")" MiB '<=32' \
    "3,000,000 samples"

# samples.json as the seL4 profiler's netconn client lays it out, one ELF, chains of 8 in ips of 16
toperf_input() {
    [ -s "$d/known.elf" ] || cp "$B/demo/known.elf" "$d/known.elf"
    awk -v n="$1" 'BEGIN {
        print "{\n\"elf_tcb_mappings\": {\n\"known.elf\": 1\n},\n\"samples\": ["
        for (i = 0; i < n; i++) {
            printf "%s{\n\"ip\": \"%d\",\n\"pid\": \"1\",\n\"time\": \"%d\",\n\"cpu\": \"%d\",\n" \
                "\"period\": \"1000000\",\n\"nr\": \"8\",\n\"ips\": [", i ? ",\n" : "", \
                2097152 + i % 997 * 4, i * 1000, i % 4
            for (k = 0; k < 16; k++)
                printf "%s\"%d\"", k ? ", " : "", k < 8 ? 2097152 + (i % 31 * 8 + k) * 4 : 0
            printf "]\n}"
        }
        print "\n]\n}" }'
}
[ -s "$d/samples.json" ] || toperf_input "$samples" >"$d/samples.json"
best toperf "$MKPERF" toperf -s "$d/samples.json" -b "$d" -o "$d/toperf.data"
read -r cpu wall rss <"$d/toperf"
value toperf_samples_per_second "$(awk "BEGIN { printf \"%.0f\", $samples / $cpu }")" samples/s - \
    "samples.json, 8 frames, to perf.data, per second of one core"
value toperf_peak_rss_mib "$(awk "BEGIN { printf \"%.1f\", $rss / 1024 }")" MiB '<=32' \
    "1,000,000 samples"
