# SPDX-License-Identifier: BSD-2-Clause
# The part of bash completion that is the same for all commands. host/help/completion.c writes the part before it.
# Bash has split the line at "=" and ":", which options and targets have inside.

_mkperf_reply()
{
    # $1: what stands before the words; $2: the words; $3: added to each
    local word
    for word in $2; do
        [[ $1$word == "$cur"* ]] && COMPREPLY+=("$1$word$3")
    done
}

_mkperf()
{
    local cur= prev= option= command= word line i kind words before raw=${COMP_WORDS[COMP_CWORD]}
    local -a merged=()
    COMPREPLY=()
    [[ $raw == [:=]* ]] && raw=${raw##*[:=]}
    for ((i = 0; i <= COMP_CWORD; i++)); do
        word=${COMP_WORDS[i]}
        if ((${#merged[@]} > 1)) && [[ $word == [:=]* || ${merged[-1]} == *[:=] ]]; then
            merged[-1]+=$word
        else
            merged+=("$word")
        fi
    done
    cur=${merged[-1]}
    ((${#merged[@]} > 1)) && prev=${merged[-2]}
    case ${merged[0]##*/} in
    toperf | kprof2perf) command=${merged[0]##*/} ;;
    *)
        if ((${#merged[@]} <= 2)); then
            _mkperf_reply '' "$_mkperf_commands --help --version" ''
            return
        fi
        command=${merged[1]}
        ;;
    esac
    before=${cur%"$raw"}
    if [[ $cur == --*=* ]]; then
        option=${cur%%=*}
        cur=${cur#*=}
        before=${before#*=}
    elif [[ $cur != -* ]]; then
        option=$prev
    fi
    kind= words=
    [[ -n $option ]] && _mkperf_value "$command" "$option"
    if [[ -z $kind && $cur == -* ]]; then
        _mkperf_options "$command"
        _mkperf_reply '' "$words" ''
        return
    fi
    [[ -z $kind ]] && _mkperf_value "$command" ''
    case $kind in
    file)
        compopt -o filenames 2>/dev/null
        mapfile -t COMPREPLY < <(compgen -f -- "$cur")
        ;;
    dir)
        compopt -o filenames 2>/dev/null
        mapfile -t COMPREPLY < <(compgen -d -- "${cur##*:}")
        return
        ;;
    target)
        case $cur in
        serial:* | unix:* | file:*) mapfile -t COMPREPLY < <(compgen -f -P "${cur%%:*}:" -- "${cur#*:}") ;;
        *) _mkperf_reply '' "$words" '' ;;
        esac
        compopt -o nospace 2>/dev/null
        ;;
    word) _mkperf_reply '' "$words" '' ;;
    words)
        line=${cur%"${cur##*,}"}
        _mkperf_reply "$line" "$words" ''
        compopt -o nospace 2>/dev/null
        ;;
    esac
    COMPREPLY=("${COMPREPLY[@]#"$before"}")
    [[ ${#COMPREPLY[@]} -eq 1 && -z ${COMPREPLY[0]} ]] && COMPREPLY=()
    return 0
}

complete -F _mkperf mkperf toperf kprof2perf
