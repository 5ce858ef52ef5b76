#!/bin/sh
# SPDX-License-Identifier: BSD-2-Clause
# A target on the network, without a key, in QEMU, and hosts that watch, are slow, die, reconnect,
# change the events, and vanish; and a target that is restarted.
# Environment: as for net.sh; QUIET_QEMU boots tests/pd/quiet.system.
set -u
NAME=${NAME:-net-hosts}
. tests/system/lib.sh
. tests/system/lib-net.sh
key_option=
qemu_command=${NET_QEMU:-$(cat "$net/qemu-command")}

# The network is down for longer than the target waits for a sign of life, so that it is not notified that
# its four hosts are gone: one that records and three that only sent hello. Runs on a separate machine
# (without work, so that its time is real time).
vanish() {
    proxy "tap:$D/hello"
    "$MKPERF" console -t "tcp:127.0.0.1:$proxy" --watch -c status >/dev/null 2>&1
    kill "$proxy_pid"
    RUN="start $D/vanish.log" record "$port" -F 1000 --timeout 2 --reconnect 600 -o "$D/vanish.data"
    recorder=$pid
    for i in 1 2 3; do
        start "$D/hello.$i" "$tool" send "$port" "$D/hello" 600
    done
    wait_for 60 full || { echo "a fifth host got in"; cat "$D/full"; return 1; }
    for patience in 25 50 100; do # in the target's seconds, which may be longer than real ones
        "$tool" monitor "$D/monitor" "set_link n0 off" >/dev/null
        sleep $patience
        "$tool" monitor "$D/monitor" "set_link n0 on" >/dev/null
        wait_for 10 say --watch --timeout 1 -c status && break
    done
    say --watch -c status >"$D/after" || return 1
    wait_for 120 grep 'samples arrive again' "$D/vanish.log" || { cat "$D/vanish.log"; return 1; }
    kill -INT "$recorder"
    wait "$recorder" || { cat "$D/vanish.log"; return 1; }
    balanced "$D/vanish.log"
}
full() { # hosts have all places
    ! say --watch --timeout 1 -c status >"$D/full" 2>&1 && grep 'as many hosts are connected' "$D/full"
}

written() { # FILE BYTES: has that many
    [ "$(stat -c %s "$1")" -gt "$2" ]
}

# A killed host leaves its session to the next host, which does not attribute the older samples to itself.
killed() {
    for i in 1 2; do
        rm -f "$D/killed.data.partial"
        RUN="start $D/killed.log" record "$port" -F 10000 -o "$D/killed.data"
        wait_for 60 written "$D/killed.data.partial" 20000 || return 1
        kill -9 $pid
        record "$port" -F 2000 --duration 0.2 -o "$D/next.data" >"$D/next.log" 2>&1 ||
            { cat "$D/next.log"; return 1; }
        grep 'a session was running: it is ended' "$D/next.log" && grep ' 0 lost' "$D/next.log" &&
            balanced "$D/next.log" || { cat "$D/next.log"; return 1; }
    done
    "$MKPERF" recover "$D/killed.data.partial" -o "$D/killed.data" &&
        "$MKPERF" report -i "$D/killed.data" | grep '^# *Samples: [1-9]'
}
reboots() {
    RUN="start $D/reboot.log" record "$port" -F 2000 --timeout 2 -o "$D/reboot.data"
    recorder=$pid
    # A sample has some 100 bytes: a thousand samples before the restart, and after it.
    wait_for 60 written "$D/reboot.data.partial" 100000 || { cat "$D/reboot.log"; return 1; }
    "$tool" monitor "$D/monitor" system_reset >/dev/null
    wait_for 60 grep 'the target was restarted' "$D/reboot.log" || { cat "$D/reboot.log"; return 1; }
    wait_for 60 written "$D/reboot.data.partial" $(($(stat -c %s "$D/reboot.data.partial") + 100000)) ||
        { cat "$D/reboot.log"; return 1; }
    kill -INT $recorder
    wait $recorder || { cat "$D/reboot.log"; return 1; }
    cat "$D/reboot.log"
    grep '^  restarts 1' "$D/reboot.log" || return 1
    n=$(sed -n 's/^mkperf: .*: \([0-9]*\) samples in .*/\1/p' "$D/reboot.log")
    second=$(say --watch -c status | sed -n 's/^captured \([0-9]*\),.*/\1/p')
    echo "$n samples, $second of them after the restart"
    [ "$second" -gt 500 ] && [ "$n" -gt $((second + 500)) ]
}

(
    D=$D/vanish port=$port2 echo=$echo2
    mkdir -p "$D"
    trap 'kill -9 $(cat "$D/pids" "$D/qemu.pid") 2>/dev/null' EXIT
    quiet_target quiet "${QUIET_QEMU:-}"
    boot "$boots" ""
    {
        check "a target without work answers" answers
        check "hosts that vanish lose their places, and the recorder comes back" vanish
        no_hosts
        check "the next host takes over from one that was killed, and the counts are its own" killed
        no_hosts
        check "a target that is restarted is noticed, and the same file continues" reboots
    } >"$D/result"
    stop_qemu
) &
vanishing=$!

boot "$qemu_command" ""
check "the target answers" answers

# Counts with each sample make more bytes in the same time.
large='{cycles:u,cycles:k,instructions:u,instructions:k}:S'

# One host controls, two watch; one of these does not read for a while.
watchers() {
    proxy stall:3000
    RUN="start $D/control.log" EVENTS=$large record "$port" -F 20000 -o "$D/control.data"
    controller=$pid
    RUN="start $D/watch.log" record "$port" --watch -o "$D/watch.data"
    watcher=$pid
    RUN="start $D/slow.log" record "$proxy" --watch --timeout 600 -o "$D/slow.data"
    slow=$pid
    wait_for 60 grep stalled "$D/proxy.log" || return 1
    # 50,000 samples are 550 KB on the line, more than the buffers on the way to the slow host.
    wait_for 120 written "$D/control.data.partial" 9500000 || return 1
    kill -USR1 "$proxy_pid"
    wait_for 120 written "$D/slow.data.partial" $(($(stat -c %s "$D/slow.data.partial") + 100000)) || return 1
    kill -INT $watcher $slow
    wait $watcher && wait $slow || { cat "$D/watch.log" "$D/slow.log"; return 1; }
    kill -INT $controller
    wait $controller || { cat "$D/control.log"; return 1; }
    kill "$proxy_pid"
    cat "$D/control.log" "$D/watch.log" "$D/slow.log"
    balanced "$D/control.log" || return 1
    grep '^  lost' "$D/control.log" "$D/watch.log" && return 1
    grep '^  lost *[0-9]* samples at the link' "$D/slow.log" || return 1
    # Each has all samples since it joined.
    awk '/^mkperf: .* samples in .* lost/ { sub(/.*: /, ""); n[FILENAME] += $1 + $6 }
         /^  joined  after/ { n[FILENAME] += $3 }
         END { d = n[ARGV[1]] - n[ARGV[2]]; print n[ARGV[1]], n[ARGV[2]]; exit !(n[ARGV[1]] && d * d <= 500 * 500) }
        ' "$D/watch.log" "$D/slow.log"
}
check "two watch, one of them slowly, which costs no other host a sample" watchers
no_hosts

# A controller that does not read. Its samples are lost and counted; other PDs continue to work: the server
# sets a mark each time its table was emptied 64 times, with the target's time.
marks() { # FILE: events a second of the target's time, for each two neighbouring marks of the server's
    "$MKPERF" convert -q "$1" -o "$D/marks.jsonl" || return 1
    sed -n 's/^{"type":"mark","time_ns":\([0-9]*\),"pd":"server".*"id":\([0-9]*\),.*/\1 \2/p' \
        "$D/marks.jsonl" | awk 'NR > 1 { print 1e9 * ($2 - id) / ($1 - time) } { time = $1; id = $2 }'
}
slow() {
    say -c "prof_qlimit 32" >/dev/null || return 1
    proxy stall:3000
    RUN="start $D/stalled.log" EVENTS=$large record "$proxy" -F 40000 --timeout 300 -o "$D/stalled.data"
    controller=$pid
    wait_for 60 grep stalled "$D/proxy.log" || return 1
    wait_for 120 losing || { say --watch -c status; return 1; }
    "$B/echo-load" 127.0.0.1 "$echo" tcp 1000 2 >"$D/load" 2>&1 || { cat "$D/load"; return 1; }
    RUN="start $D/marks.log" record "$port" --watch --timeout 300 -o "$D/marks.data"
    watcher=$pid
    wait_for 200 four_marks || { echo "no marks"; return 1; }
    before=$(stat -c %s "$D/stalled.data.partial")
    kill -USR1 "$proxy_pid"
    wait_for 120 written "$D/stalled.data.partial" $((before + 100000)) || return 1
    # Those may be what waited on the way to the controller. The session goes on until the watcher has new samples, too.
    wait_for 120 written "$D/marks.data.partial" $(($(stat -c %s "$D/marks.data.partial") + 20000)) || { echo "no samples"; return 1; }
    kill -INT $controller
    wait $controller || { cat "$D/stalled.log"; return 1; }
    kill -INT $watcher
    wait $watcher || { cat "$D/marks.log"; return 1; }
    kill "$proxy_pid"
    say -c "prof_qlimit 512" >/dev/null
    cat "$D/load" "$D/stalled.log"
    grep '^  lost *[0-9]* samples in the profiler.s output' "$D/stalled.log" && balanced "$D/stalled.log"
}
four_marks() { # in what the watcher has written so far, which is much
    sleep 0.5
    [ "$(grep -ao 'table emptied' "$D/marks.data.partial" | wc -l)" -ge 4 ]
}
losing() {
    say --watch -c status | grep 'output [1-9]'
}
check "who controls and does not read loses samples, which are counted" slow
no_hosts
unstalled() {
    marks "$D/marks.data" | sort -n >"$D/progress"
    awk '{ v[NR] = $1 } END { m = v[int((NR + 1) / 2)]; print NR, v[1], m
         exit !(NR >= 2 && v[1] > 0.8 * m) }' "$D/progress" ||
        { cat "$D/progress"; return 1; }
}
check "the other programs are as quick as ever in this time" unstalled

# Events change while a session runs, and again, by commands of another host; the recording continues.
changes() {
    RUN="start $D/changes.log" record "$port" --watch -o "$D/changes.data"
    watcher=$pid
    wait_for 60 watched || return 1
    say -c "events cycles,freq=2000; start" >"$D/commands" && wait_for 60 has_samples_of cycles &&
        say -c "events instructions,period=500000; stop; start" >>"$D/commands" && wait_for 60 has_samples_of instructions &&
        say -c "stop" >>"$D/commands" || { cat "$D/commands"; return 1; }
    kill -INT $watcher
    wait $watcher || { cat "$D/changes.log"; return 1; }
    cat "$D/changes.log"
    perf_quiet script -i "$D/changes.data" -F event,ip >"$D/changes.script"
    sed -n 's/^ *\([a-z]*\): *$/\1/p' "$D/changes.script" | sort | uniq -c | tee "$D/events"
    grep -q ' cycles' "$D/events" && grep -q ' instructions' "$D/events"
}
watched() { # two hosts watch: the recorder, and this one
    say --watch -c status | grep '2 watch'
}
has_samples_of() { # EVENT: the watcher's recording so far
    cp "$D/changes.data.partial" "$D/so-far.partial" && "$MKPERF" recover "$D/so-far.partial" -o "$D/so-far.data" &&
        "$MKPERF" report -x ' ' -e "$1" "$D/so-far.data" | grep '^row'
}
check "events that change while it runs are in the recording" changes
no_hosts

# The same while `top` watches, and with the control taken from `stat`, whose counts of cycles then
# cover its own time: a cycle is a nanosecond or, on seL4, half of one.
three_lines() {
    [ "$(grep -c ',cycles,' "$D/stat.log")" -ge 3 ]
}
changed() {
    start "$D/top.log" "$MKPERF" top -t "tcp:127.0.0.1:$port" --watch --stdio -d 0.2 --rows 1
    watcher=$pid
    start "$D/stat.log" "$MKPERF" stat -t "tcp:127.0.0.1:$port" -e cycles -x , -I 100
    counter=$pid
    wait_for 60 three_lines || { cat "$D/stat.log"; return 1; }
    say --take-over -c "stop; events cycles,freq=2000; start" >"$D/taken" || { cat "$D/taken"; return 1; }
    wait $counter || { cat "$D/stat.log"; return 1; }
    cat "$D/stat.log"
    grep 'the session was ended by another host after' "$D/stat.log" || return 1
    awk -F, '$4 == "cycles" { r = $2 / $5; if (r > 1.5) r /= 2; n++; bad += r < 0.98 || r > 1.02 }
             END { exit !(n >= 3 && bad == 0) }' "$D/stat.log" || return 1
    wait_for 60 grep '%)  cycles: ' "$D/top.log" || { cat "$D/top.log"; return 1; }
    say -c "stop; events instructions,freq=2000; start" >>"$D/taken" || { cat "$D/taken"; return 1; }
    wait_for 60 grep '%)  instructions: ' "$D/top.log" || { tail "$D/top.log"; return 1; }
    say -c "stop" >>"$D/taken"
    kill -INT $watcher
    wait $watcher || { tail "$D/top.log"; return 1; }
    grep 'another session began: instructions from here on' "$D/top.log"
}
check "events that change while others look: top shows the new ones, stat keeps to its own" changed
no_hosts

wait $vanishing
cat "$D/vanish/result"
