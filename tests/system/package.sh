#!/bin/sh
# SPDX-License-Identifier: BSD-2-Clause
# The Debian packages: built from the files in git without any download, checked by lintian, unpacked and
# run. Environment: B.
set -u
NAME=package
B=$(realpath "$B")
. tests/system/lib.sh
mkdir -p "$D/source/mkperf" "$D/root"

build() {
    git ls-files -z | tar cf - --null -T - | tar xf - -C "$D/source/mkperf" || return 1
    # Every download fails. The options for warnings are those of a package; optimisation, debugging information and compression
    # only take time.
    (cd "$D/source/mkperf" && no_proxy= http_proxy=http://127.0.0.1:9 https_proxy=http://127.0.0.1:9 \
        MAKEFLAGS= DEB_BUILD_OPTIONS="noautodbgsym noopt" DEB_CFLAGS_APPEND=-g0 DPKG_DEB_COMPRESSOR_LEVEL=1 \
        dpkg-buildpackage -us -uc -F -z1) >"$D/build.log" 2>&1 || { tail "$D/build.log"; return 1; }
    [ -f "$D"/source/mkperf_*.dsc ]
}
check "dpkg-buildpackage builds the packages and the source package" build

run() {
    for deb in "$D"/source/mkperf_*.deb "$D"/source/mkperf-target_*.deb; do
        dpkg-deb -x "$deb" "$D/root" || return 1
    done
    [ "$("$D/root/usr/bin/mkperf" --version)" = "$("$B/mkperf" --version)" ] || return 1
    "$D/root/usr/bin/kprof2perf" --help | grep -q '^usage: mkperf kprof2perf' || return 1
    for f in man/man1/mkperf-report.1.gz bash-completion/completions/mkperf \
        zsh/vendor-completions/_mkperf doc/mkperf/record.md.gz mkperf/kernel/capture.c \
        mkperf/platform/microkit/mkperf.mk mkperf/pd/profiler; do
        [ -e "$D/root/usr/share/$f" ] || { echo "no $f"; return 1; }
    done
    # mkperf with the system's nanopb and mbed TLS reads and writes the same.
    "$D/root/usr/bin/mkperf" list --cpu Cortex-A53 >"$D/list" && "$B/mkperf" list --cpu Cortex-A53 |
        cmp - "$D/list"
}
check "the packages' mkperf runs, with everything that belongs to it" run

# The agent's unit starts the installed program, and systemd accepts it (docs/fleet.md).
unit() {
    of=$D/root/usr/share/mkperf-agent/mkperf-agent.service
    [ -x "$D/root$(sed -n 's/^ExecStart=\([^ ]*\) .*/\1/p' "$of")" ] || { grep ExecStart "$of"; return 1; }
    install -d "$D/root/etc/mkperf" "$D/root/etc/systemd/system" &&
        cp "$D/root/usr/share/mkperf-agent/agent.env" "$D/root/usr/share/mkperf-agent/targets" "$D/root/etc/mkperf" &&
        cp "$of" "$D/root/etc/systemd/system" || return 1
    command -v systemd-analyze >/dev/null || return 0
    systemd-analyze --root="$D/root" verify mkperf-agent.service 2>&1 | # no other units, and no man, are in that root
        grep 'mkperf-agent.service:' | grep -v -e 'Unit .* not found' -e "Command 'man " && return 1
    systemd-analyze --root="$D/root" --offline=yes --threshold=25 security mkperf-agent.service >"$D/security"
}
check "the agent's unit" unit

lint() {
    lintian --allow-root --fail-on error,warning "$D"/source/mkperf_*.changes >"$D/lintian" 2>&1 || {
        cat "$D/lintian"
        return 1
    }
}
check "lintian finds no error and no warning" lint
