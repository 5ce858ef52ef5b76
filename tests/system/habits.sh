#!/bin/sh
# SPDX-License-Identifier: BSD-2-Clause
# What users expect of a command: help, man pages, completion, installation, a check of what the build
# needs. Environment: B and MKPERF.
set -u
NAME=habits
B=$(realpath "$B")
. tests/system/lib.sh
MKPERF=$(realpath "$MKPERF")
commands=$("$MKPERF" help | sed -n 's/^  \([a-z0-9]*\) .*/\1/p')

install_all() {
    make install BUILD_DIR="$B" DESTDIR="$D/root" PREFIX=/usr MAKEFLAGS= >"$D/install.log" 2>&1 || {
        tail "$D/install.log"
        return 1
    }
    [ "$("$D/root/usr/bin/mkperf" --version)" = "$("$MKPERF" --version)" ] || return 1
    for link in toperf kprof2perf; do
        "$D/root/usr/bin/$link" --help | grep -q "^usage: mkperf $link" || return 1
        [ -e "$D/root/usr/share/man/man1/$link.1" ] || return 1
        [ -e "$D/root/usr/share/bash-completion/completions/$link" ] || return 1
    done
    # A system's own build makes the two PDs from the installed files: none is missing.
    make -n -C "$D/root/usr/share/mkperf" BUILD_DIR="$D/target" SETUP_PACKAGES=no MAKEFLAGS= \
        "$D/target/demo/profiler.elf" "$D/target/demo/client.elf" >"$D/dry" 2>&1 &&
        grep -q 'kernel/\|pd/profiler' "$D/dry" || { tail -n 3 "$D/dry"; return 1; }
}
check "make install with DESTDIR and PREFIX" install_all

help_is_one() {
    for c in $commands; do
        "$MKPERF" help "$c" >"$D/help.1" || return 1
        "$MKPERF" "$c" --help >"$D/help.2" || return 1
        "$MKPERF" "$c" -h >"$D/help.3" || return 1
        cmp "$D/help.1" "$D/help.2" && cmp "$D/help.1" "$D/help.3" || return 1
        grep -q "^usage: mkperf $c" "$D/help.1" || return 1
        [ "$(grep -v "^  mkperf " "$D/help.1" | wc -L)" -le 80 ] || { echo "$c: lines too long"; return 1; }
    done
    ! "$MKPERF" help nonsense 2>"$D/err" && grep -q nonsense "$D/err"
    ! "$MKPERF" nonsense 2>"$D/err" && grep -q nonsense "$D/err"
    # Only the tables parse options.
    ! git grep getopt -- host
}
check "mkperf help CMD, CMD --help and -h say the same" help_is_one

man_pages() {
    mandoc -Tlint "$D"/root/usr/share/man/man1/*.1 || return 1
    # What man runs, for all pages at once.
    groff -mandoc -ww -Kutf8 -Tutf8 -rLL=80n -Z "$D"/root/usr/share/man/man1/*.1 2>"$D/man.err" >/dev/null || return 1
    [ ! -s "$D/man.err" ] || { cat "$D/man.err"; return 1; }
    for c in $commands; do
        page=$D/root/usr/share/man/man1/mkperf-$c.1
        mandoc -Tascii "$page" | col -b >"$D/man.txt"
        tr -s ' [' '\n' <"$D/man.txt" | sort -u >"$D/words"
        "$MKPERF" help "$c" | sed -nE 's/^  (-[A-Za-z], |    )(--[a-z0-9-]+).*/\2/p' | sort -u | comm -23 - "$D/words" >"$D/absent"
        [ ! -s "$D/absent" ] || { echo "$c:" && cat "$D/absent"; return 1; }
        grep -q "EXIT STATUS" "$D/man.txt" || return 1
    done
}
check "man pages are clean and have every option" man_pages

# complete WORDS...: bash's completion of the last word
complete() {
    bash -c '. "$0"; COMP_WORDS=("$@"); COMP_CWORD=$(($# - 1)); COMPREPLY=(); _mkperf
             echo "${COMPREPLY[*]}"' "$D/root/usr/share/bash-completion/completions/mkperf" "$@"
}
bash_completes() {
    bash -n "$D/root/usr/share/bash-completion/completions/mkperf" || return 1
    while IFS='|' read -r line want; do
        # An empty last word is written as .
        set -- $(echo "$line" | sed 's/ \.$/ EMPTY/')
        got=$(eval "complete $(printf "'%s' " "$@" | sed "s/'EMPTY' /''/")")
        case " $got " in
        *" $want "*) ;;
        *)
            echo "'$line' gives '$got', not $want"
            return 1
            ;;
        esac
    done <<END
mkperf .|record
mkperf anno|annotate
mkperf report --so|--sort
mkperf report -s .|mode
mkperf report --sort pd,sy|pd,symbol
mkperf report --sort = co|core
mkperf record -t ser|serial:
mkperf record -t file : tests/ru|tests/run
mkperf record -e cycles,l1d_cache_ref|cycles,l1d_cache_refill
mkperf record -e cyc|cycles
mkperf stat -e context|context-switches
mkperf record --take|--take-over
mkperf convert --to fl|flamegraph
mkperf convert tests/ru|tests/run
mkperf convert --from = ra|raw
mkperf list --cpu .|Cortex-A53
mkperf diff --compute delta-|delta-abs
mkperf help rec|recover
/usr/bin/toperf --buil|--build-dir
kprof2perf --kprof-era .|B
END
    # All options of all commands, and no unknown one.
    for c in $commands; do
        complete mkperf "$c" - | tr ' ' '\n' | grep '^--' | sort >"$D/completed"
        "$MKPERF" help "$c" | sed -nE 's/^  (-[A-Za-z], |    )(--[a-z0-9-]+).*/\2/p' | sort >"$D/helped"
        cmp "$D/completed" "$D/helped" || return 1
    done
}
check "bash completes commands, options, values, files" bash_completes

zsh_completes() {
    dir=$D/root/usr/share/zsh/site-functions
    zsh -n "$dir/_mkperf" || return 1
    timeout 120 zsh -f tests/system/complete.zsh "$dir" "$D" <<END
mkperf rep|mkperf report
mkperf report --so|mkperf report --sort
mkperf convert --to fl|mkperf convert --to flamegraph
mkperf record -t se|mkperf record -t serial:
mkperf list --cpu Cortex-A53|mkperf list --cpu Cortex-A53
mkperf report --call-graph=calle|mkperf report --call-graph=calle
toperf --samp|toperf --samples-path
END
}
check "zsh completes commands, options, values" zsh_completes

# A compiler without the headers and libraries in $HIDDEN.
cat >"$D/cc" <<'END'
#!/bin/sh
for word; do
    for hidden in $HIDDEN; do
        [ "$word" != "-l$hidden" ] || { echo "ld: cannot find -l$hidden" >&2; exit 1; }
        case $word in *.c) grep -q "<$hidden>" "$word" && {
            echo "$word:1: fatal error: $hidden: No such file or directory" >&2; exit 1; } ;; esac
    done
done
exec gcc "$@"
END
chmod +x "$D/cc"
depends() {
    scripts/check-depends host || return 1
    HIDDEN="jansson microhttpd dw expat.h histedit.h" HOST_CC=$D/cc scripts/check-depends host >"$D/hidden.log" 2>&1 && return 1
    [ "$(wc -l <"$D/hidden.log")" -eq 5 ] || { cat "$D/hidden.log"; return 1; }
    for missing in jansson.*libjansson-dev microhttpd.*libmicrohttpd-dev dw.*libdw-dev expat.h.*libexpat1-dev \
        histedit.h.*libedit-dev; do
        grep -q "$missing" "$D/hidden.log" || { echo "no $missing"; return 1; }
    done
    # make reports it before it compiles, and installs nothing.
    HIDDEN=jansson make host SETUP_PACKAGES=no BUILD_DIR="$D/none" HOST_CC="$D/cc" MAKEFLAGS= \
        >"$D/make.log" 2>&1 && return 1
    grep -q libjansson-dev "$D/make.log" && [ -z "$(find "$D/none" -name '*.o')" ] || return 1
    mkdir -p "$D/bin" && ln -sf "$(command -v gcc)" "$(command -v sh)" "$(command -v mktemp)" \
        "$(command -v rm)" "$(command -v grep)" "$(command -v as)" "$(command -v ld)" "$D/bin"
    PATH=$D/bin scripts/check-depends host 2>"$D/hidden.log" && return 1
    grep -q 'nanopb_generator.py.*package: nanopb' "$D/hidden.log"
}
# A script of check-sel4 that dies early or has no result, and a name without a test, are failures.
sel4() { # sel4 COMMAND [TESTS]: its only script is COMMAND
    B=$D ARCH=aarch64 ATTACKS=yes CORES=1 PRINTING=1 KERNEL= FIRST_BOARD=none TESTS=${2:-sel4-preprocessed} PREPROCESSED=$1 tests/sel4/check
}
early() {
    mkdir -p "$D/tests/sel4"
    sel4 "echo ok it is" && ! sel4 false && ! sel4 true && ! sel4 "echo ok it is" "sel4-preprocessed sel4-none"
}
check "check-sel4 fails if a script ends early" early
check "what the build needs and is not there is named with its package" depends
