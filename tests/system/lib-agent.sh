# SPDX-License-Identifier: BSD-2-Clause
# Shared by the tests of mkperf agent. Sourced after lib.sh. All servers are on loopback.

MKPERF=$(realpath "$MKPERF")
D=$(realpath "$D")
tool=$B/net-tool
: >"$D/pids"
trap 'kill -9 $(cat "$D/pids") 2>/dev/null; wait 2>/dev/null' EXIT
qemu=$$

# in_background LOG COMMAND...: $pid
in_background() {
    log=$1
    shift
    "$@" >"$log" 2>&1 </dev/null &
    pid=$!
    echo $pid >>"$D/pids"
}

# patiently SECONDS COMMAND...: waits until it succeeds, while QEMU ($qemu) works: gives up after SECONDS of its processor time, or
# if nothing has happened in 900 tries.
patiently() {
    most=$(($1 * 100)) from=$(processor_time "$qemu") tries=0
    shift
    until "$@" >"$D/try" 2>&1; do
        used=$(processor_time "$qemu")
        [ -n "$used" ] && [ $((used - from)) -lt $most ] && [ $tries -lt 900 ] || { cat "$D/try"; return 1; }
        tries=$((tries + 1))
        sleep 0.2
    done
}

# agent_qemu DIRECTORY [real | slow]: the system there, with its serial line at $D/serial.sock. real: without -icount, so that each boot
# has another id. slow: 8 million instructions in a second of ours: windows, which have our time, cost little.
agent_qemu() {
    case ${2:-} in
    real) how='s/-icount [^ ]*//;s/-rtc [^ ]*//' ;;
    slow) how='s/-icount [^ ]*/-icount shift=7,align=on/' ;;
    *) how= ;;
    esac
    # shellcheck disable=SC2046 # words of the command
    in_background "$D/qemu.log" $(sed "$how" "$1/qemu-command") -serial "unix:$D/serial.sock,server=on,wait=on"
    qemu=$pid
}

# start_agent LOG OPTION...: with metrics at $metrics
start_agent() {
    metrics=$("$tool" port) log=$1
    shift
    in_background "$log" "$MKPERF" agent --metrics "127.0.0.1:$metrics" "$@"
    agent=$pid
}

# prometheus at $prom, which scrapes $metrics each second and has the sample rules
start_prometheus() {
    prom=$("$tool" port)
    cat >"$D/prometheus.yml" <<EOF
global: {scrape_interval: 1s, evaluation_interval: 1s}
rule_files: [$(realpath share/fleet/alerts.yml)]
scrape_configs: [{job_name: mkperf, static_configs: [{targets: ["127.0.0.1:$metrics"]}]}]
EOF
    promtool check config "$D/prometheus.yml" >"$D/promtool.log" 2>&1 || cat "$D/promtool.log"
    in_background "$D/prometheus.log" prometheus --config.file="$D/prometheus.yml" --storage.tsdb.path="$D/tsdb" \
        --web.listen-address="127.0.0.1:$prom" --log.level=warn
}

# prom QUERY [TIME]: the answer as JSON. prom_value: the value of the first result.
prom() {
    curl -sG "http://127.0.0.1:$prom/api/v1/query" --data-urlencode "query=$1" ${2:+--data-urlencode "time=$2"}
}
prom_value() {
    prom "$@" | jq -er '.data.result[0].value[1]'
}
