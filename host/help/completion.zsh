# SPDX-License-Identifier: BSD-2-Clause
# The part of zsh completion that is the same for all commands. host/help/completion.c writes the part before it.

_mkperf_target()
{
    if compset -P '(serial|unix|file):'; then
        _files
    else
        compadd -S '' -- serial: tcp: listen: unix: sddf: file:
    fi
}

_mkperf()
{
    local curcontext=$curcontext state line
    if [[ $service != mkperf ]]; then
        _mkperf_$service
        return
    fi
    _arguments -C '(- *)'{-h,--help}'[the list of commands]' \
        '(- *)'{-v,--version}'[the version]' '1:command:->command' '*::argument:->argument'
    case $state in
    command) _describe command _mkperf_commands ;;
    argument)
        curcontext=${curcontext%:*:*}:mkperf-$words[1]:
        (( $+functions[_mkperf_$words[1]] )) && _mkperf_$words[1]
        ;;
    esac
}

_mkperf "$@"
