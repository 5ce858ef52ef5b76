# SPDX-License-Identifier: BSD-2-Clause
# Types lines into an interactive zsh and presses Tab. Called by habits.sh:
#   zsh -f complete.zsh DIRECTORY-OF-_mkperf WORK-DIRECTORY <lines TYPED|COMPLETED
# Exit status: 1 if a line does not become COMPLETED; a shell without output is stopped from outside.
zmodload zsh/zpty
zpty z TERM=dumb zsh -f -i
zpty -w z "unsetopt zle_bracketed_paste prompt_cr prompt_sp; stty cols 400"
zpty -w z "fpath=($1 \$fpath); autoload -Uz compinit; compinit -u -d $2/zcompdump; PS1='%% re''ady '"
while IFS='|' read -r typed wanted; do
    zpty -r -m z out '*% ready *' # from here on the line editor reads
    zpty -w -n z "$typed"$'\t'
    zpty -w -n z $'\x05#end' # at the line's end, a mark
    zpty -r -m z out '*#end*'
    zpty -w -n z $'\x15\n'
    got=${${out//$'\r'/}//$'\b'/}
    if [[ $got != *$wanted* ]]; then
        print -r -- "'$typed' becomes '$(print -r -- $out | cat -v)', not $wanted"
        exit 1
    fi
    print -r -- "$typed: ok"
done
zpty -d z
