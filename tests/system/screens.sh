# SPDX-License-Identifier: BSD-2-Clause
# A terminal in tmux and a headless Chromium driven by chromedriver, for tests/system/looking.sh and
# scripts/pictures. Sourced, with D set to a directory; ends the processes of $pids with the script.

export no_proxy=127.0.0.1
pids=
trap 'for p in $pids; do kill "$p" 2>/dev/null; done' EXIT
trap 'exit 130' INT TERM

screen() {
    tmux -L "mkperf$$" "$@"
}
keys() {
    for k; do
        screen send-keys "$k"
        sleep 0.3
    done
}
shows() { # shows FILE PATTERN...: the screen shows each pattern within 60 s
    file=$1
    shift
    for i in $(seq 300); do
        screen capture-pane -p >"$file"
        missing=
        for p; do grep -q -- "$p" "$file" || missing=$p; done
        [ -z "$missing" ] && return 0
        sleep 0.2
    done
    echo "no \"$missing\" on the screen:"
    cat "$file"
    return 1
}

# ask VERB PATH [BODY]: sets answer (tests/tool/webdriver.js has the verbs).
ask() {
    printf '%s\0' "$1" "${2:+/$2}" "${3:-}" >&8 && IFS= read -r answer <&9
}
in_page() { # in_page VERB SCRIPT
    ask "$1" "$session/execute/sync" "{\"script\":\"$2\",\"args\":[]}"
}
# WebDriver: wd METHOD PATH [BODY]; js SCRIPT prints what it returns.
wd() {
    ask "$@" && printf '%s' "$answer"
}
js() {
    in_page js "$1" && printf '%s' "$answer"
}
waits() { # waits SCRIPT: waits until it returns true, at most 60 s
    in_page waits "return String(Boolean($1))" && [ "$answer" = true ] && return 0
    js "return document.body.innerText"
    echo "not in time: $1" # last: of a reason the last lines are printed
    return 1
}
picture() {
    wd GET "$session/screenshot" | sed 's/^{"value":"//; s/"}$//' | base64 -d >"$1"
    head -c 8 "$1" | grep -q PNG && [ "$(wc -c <"$1")" -gt 20000 ]
}

# Sets port and session.
start_browser() {
    mkdir -p "$D/chromium"
    : >"$D/chromedriver.log"
    command -v node >/dev/null || { echo "there is no node: scripts/setup test installs it" | tee "$D/chromedriver.log"; return 1; }
    chromedriver --port=0 >"$D/chromedriver.log" 2>&1 &
    pids="$pids $!"
    for i in $(seq 600); do
        port=$(sed -n 's/.*started successfully on port \([0-9]*\).*/\1/p' "$D/chromedriver.log")
        [ -n "$port" ] && break
        sleep 0.1
    done
    rm -f "$D/asked" "$D/answered"
    mkfifo "$D/asked" "$D/answered" || return 1
    node tests/tool/webdriver.js "$port" <"$D/asked" >"$D/answered" &
    pids="$pids $!"
    exec 8>"$D/asked" 9<"$D/answered"
    flags='"--headless","--no-sandbox","--disable-gpu","--disable-quic","--no-first-run",
        "--disable-background-networking","--disable-component-update","--disable-sync",
        "--window-size=1200,1000"'
    session=$(wd POST "" '{"capabilities":{"alwaysMatch":{"goog:chromeOptions":{
        "binary":"/usr/bin/chromium","args":['"$flags"',"--user-data-dir='"$D/chromium"'"]},
        "goog:loggingPrefs":{"browser":"ALL"}}}}' |
        sed -n 's/.*"sessionId":"\([0-9a-f]*\)".*/\1/p')
    [ -n "$session" ] || { cat "$D/chromedriver.log"; return 1; }
}
