#!/bin/sh
# SPDX-License-Identifier: BSD-2-Clause
# mkperf agent's uploads, to a receiver that checks everything (tests/tool/profile-receiver): OTLP and Pyroscope, a server that is
# gone, one that refuses, too little space, an agent that is killed.
# Environment: B and MKPERF; OTLP_PROTO: the published schema, by which protoc decodes each upload.
set -u
NAME=push
. tests/system/lib.sh
. tests/system/lib-agent.sh
t=$B/demo
mkdir "$D/server"
server=$("$tool" port)
serve() {
    in_background "$D/server.log" tests/tool/profile-receiver "$server" "$D/server"
    receiver=$pid
}
metric() { # metric NAME LABELS: its value
    curl -s "http://127.0.0.1:$metrics/metrics" | awk -v series="$1$2" '$1 == series { print $2; found = 1 } END { exit !found }'
}
accepted() { # accepted KIND N: so many were accepted
    [ "$(grep -c "\"kind\": \"$1\"" "$D/server/log")" -ge "$2" ]
}
(umask 077 && echo "Authorization: Bearer not-a-secret" >"$D/header")
cp "$D/header" "$D/server/header"
agent_qemu "$t" slow
otlp="otlp:http://127.0.0.1:$server" pyro="pyroscope:http://127.0.0.1:$server"
run_agent() { # run_agent KEEP
    start_agent "$D/agent.log" -t "unix:$D/serial.sock" --spool "$D/spool" --to "file:$D/windows" --to "$otlp" --to "$pyro" --window 1 \
        -F 200 --keep "$1" --elf-path "$t" --header-file "$D/header" --service fleet
}

# The server comes later: its windows wait.
run_agent 1024
waits() { [ "$(ls "$D"/spool/otlp*/*.data 2>/dev/null | wc -l)" -ge 2 ]; }
check "windows wait for a server" patiently 60 waits
serve
both() { accepted otlp 3 && accepted pprof 3; }
check "the server gets the windows that waited, and new ones" patiently 60 both
check "everything in them is right" sh -c "! grep wrong '$D/server/log'"

# What was sent is what mkperf report shows of the same windows.
same() {
    jq -r 'select(.kind == "'"$1"'") | .sums | to_entries[] | .key + " " + (.value | tostring)' "$D/server/log" | awk -v n=3 '{ print }' >"$D/sent"
    count=$(grep -c "\"kind\": \"$1\"" "$D/server/log")
    for f in $(ls "$D"/windows/*.data | head -n "$count"); do "$MKPERF" report -x ' ' -s pd "$f" 2>"$D/log"; done |
        awk '$1 == "row" { w[$6] += $5 } END { for (p in w) print p, w[p] }' | sort >"$D/reported"
    awk '{ w[$1] += $2 } END { for (p in w) print p, w[p] }' "$D/sent" | sort >"$D/sums"
    diff "$D/sums" "$D/reported" && [ "$(wc -l <"$D/sums")" -ge 3 ]
}
kill $receiver # nothing more arrives
wait $receiver 2>/dev/null
patiently 20 sh -c "ls $D/spool/otlp*/*.data $D/spool/pyro*/*.data" >/dev/null
check "OTLP: each PD as mkperf report" same otlp
check "pprof: each PD as mkperf report" same pprof
# shellcheck disable=SC2016
decodes() {
    for f in "$D"/server/*.otlp; do
        protoc -I "$OTLP_PROTO" --decode opentelemetry.proto.collector.profiles.v1development.ExportProfilesServiceRequest \
            opentelemetry/proto/collector/profiles/v1development/profiles_service.proto <"$f" >"$D/decoded" || return 1
        # a field that the schema does not have is printed as a number
        ! grep -q '^ *[0-9][0-9]*[: ]' "$D/decoded" && grep -q 'string_value: "fleet"' "$D/decoded" && grep -q ' values: ' "$D/decoded" || return 1
    done
}
[ -z "${OTLP_PROTO:-}" ] || check "protoc decodes them by the published schema" decodes

# A server that refuses a window: it is given up and counted. One that cannot answer now: it is sent again.
refuse() { # refuse STATUS
    echo "$1" >"$D/server/status"
    serve
}
refused() { [ "$(metric mkperf_agent_refused_windows_total "{to=\"$otlp\"}")" -ge 1 ]; }
refuse 422
check "status 422: the window is given up, and counted" patiently 60 refused
kill $receiver
wait $receiver 2>/dev/null
: >"$D/server/log"
again=$(metric mkperf_agent_refused_windows_total "{to=\"$otlp\"}")
refuse 503
asked() { [ "$(grep -c 503 "$D/server/log")" -ge 1 ]; }
patiently 60 asked >/dev/null
rm "$D/server/status"
sent_again() { accepted otlp 2 && accepted pprof 2 && [ "$(metric mkperf_agent_refused_windows_total "{to=\"$otlp\"}")" = "$again" ]; }
check "status 503: the window is sent again" patiently 60 sent_again

# An agent that is killed: the next one finishes and sends what it left. All samples are in some window.
half() { # a window of which samples are written
    part=$(ls "$D"/windows/*.partial) && cp "$part" "$D/half.partial" && "$MKPERF" recover "$D/half.partial" -o "$D/half.data" 2>/dev/null &&
        "$MKPERF" report -x ' ' "$D/half.data" 2>/dev/null | grep -q '^row' && echo "$part" >"$D/part"
}
patiently 60 half >/dev/null
part=$(cat "$D/part") # the next window may have begun, without a sample
kill -9 "$agent" $receiver
wait "$agent" $receiver 2>/dev/null
run_agent 1
recovered() { # its number of samples is in its name now
    number=$(basename "$part" | cut -d. -f1)
    ls "$D"/windows && [ ! -e "$part" ] && n=$(basename "$(ls "$D/windows/$number".*.data)" | cut -d. -f3) && [ "$n" -gt 0 ] &&
        [ "$n" = "$("$MKPERF" report -x ' ' "$D/windows/$number".*.data 2>/dev/null | awk '$1 == "row" { n += $4 } END { print n }')" ]
}
check "the next agent finishes the window of a killed one" patiently 60 recovered
counted() { awk -v s="$(metric mkperf_unrecorded_seconds_total '{target="'"$(basename "$(ls "$D"/spool/*.last | head -n 1)" .last)"'"}')" 'BEGIN { exit !(s > 0) }'; }
check "the time without an agent is counted" counted

# Too little space: the oldest windows are given up. The disk has at most --keep for each destination (1 MiB).
given_up() { [ "$(metric mkperf_agent_given_up_windows_total "{to=\"$otlp\"}")" -ge 2 ] && [ "$(metric mkperf_agent_given_up_samples_total "{to=\"$otlp\"}")" -gt 0 ]; }
fill() { # windows of other targets, which wait
    for i in 1 2 3 4 5 6; do
        head -c 300000 /dev/zero >"$D/spool/$(ls "$D/spool" | grep otlp)/00000000000$i.1764242205123.100.filler.data"
    done
}
kill -INT "$agent"
wait "$agent" 2>/dev/null
fill
run_agent 1
check "too little space: the oldest are given up, and counted" patiently 60 given_up
bounded() { [ "$(cat "$D"/spool/otlp*/*.data | wc -c)" -le 1048576 ]; }
check "the spool has at most its size" bounded
kill -INT "$agent"
wait "$agent"

# A server that was gone for an hour, in windows of 60 s: the outbox as it is then. All are sent, none is given up.
last=$(ls "$D"/windows/*.data | tail -n 1)
samples=$(basename "$last" | cut -d. -f3)
rm -f "$D"/spool/otlp*/*.data
hour=$(($(date +%s) * 1000 - 3600000))
for i in $(seq 10 69); do
    cp "$last" "$D/spool/$(ls "$D/spool" | grep otlp)/0000000010$i.$((hour + 60000 * (i - 10))).$samples.board.data"
done
: >"$D/server/log"
serve
run_agent 1024
caught_up() { # 60 of that hour, with all their samples
    [ "$(grep '"kind": "otlp"' "$D/server/log" | grep -c board)" = 60 ] && [ -z "$(ls "$D"/spool/otlp*/*.board.data 2>/dev/null)" ] &&
        [ "$(metric mkperf_agent_given_up_windows_total "{to=\"$otlp\"}")" = 0 ]
}
check "a server that was gone for an hour gets all windows of it" patiently 60 caught_up
check "and all are right" sh -c "! grep wrong '$D/server/log'"
kill -INT "$agent"
wait "$agent"
