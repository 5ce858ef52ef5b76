# SPDX-License-Identifier: BSD-2-Clause
# Shared by tests/system/stock.sh and tests/sel4/check-stock. Sourced after lib.sh.

# known_shares DATA: the known-answer functions have 10, 20, 30 and 40 % of their samples, each within 4 standard errors,
# and by a chi-square test (3 degrees of freedom; 25 is one in sixty thousand), of at least 300 samples.
known_shares() {
    "$MKPERF" report --stdio -i "$1" --sort pd,sym | awk '
        $1 ~ /%$/ && $6 ~ /^known_(leaf|framed|deep)_/ { n += $2; part[$6] = $2 }
        END {
            split("known_leaf_10 known_framed_20 known_deep_30 known_leaf_40", name)
            printf "  known  "
            for (i = 1; i <= 4 && n > 0; i++) {
                d = part[name[i]] - n * i / 10
                x += d * d / (n * i / 10)
                e = d / sqrt(n * i / 10 * (1 - i / 10))
                far = e * e > far ? e * e : far
                printf " %.1f %%", 100 * part[name[i]] / n
            }
            printf " of %d samples, chi-square %.1f, at most %.1f standard errors away\n", n, x, sqrt(far)
            exit !(n >= 300 && x < 25 && far <= 16)
        }'
}

# deep_chains DATA: a recording of tests/pd/deep.system.in. Each sample of worker has the part of the known
# chain from its own function to the start; of wild, the leaf, its caller and as many callers as there are
# valid frame records: 0, 1, 2, or 16, the most that a chain may have.
deep_chains() {
    chains "$1" | awk '
        BEGIN { full = ";wildfp_spin;deep_d;deep_c;deep_b;deep_a;init;main" }
        { chain = ";" $3; sub(/;pocket_main;_start$/, ";main", chain) }
        $1 == "worker" {
            n++
            whole += chain == full
            if (substr(full, length(full) - length(chain) + 1) != chain && wrong++ < 5) print
        }
        $1 == "wild" && chain ~ /^;wildfp_spin;wild_case(;wild_mark)*$/ {
            marks[split(chain, part, ";") - 3]++
            next
        }
        $1 == "wild" && chain ~ /;init;main$/ && chain !~ /wild_mark/ {
            done += chain ~ /^;wild_done;/
            next
        }
        $1 == "wild" && wrong++ < 5 { print }
        END {
            printf "  deep    %d chains of worker, %d with all 7 frames; wild:", n, whole
            for (m in marks) {
                printf " %d with %d callers,", marks[m], m
                known += m == 0 || m == 1 || m == 2 || m == 16
                kinds++
            }
            printf " %d behind all; %d wrong\n", done, wrong
            exit !(n >= 500 && whole > 0.9 * n && kinds == 4 && known == 4 && done > 0 && wrong == 0)
        }'
}

# deep_example SYSTEM: the lines of the example in docs/stock.md are in the booted system.
deep_example() {
    sed -n '/^## Deeper/,/^## [^D]/s/^  *</</p' docs/stock.md >"$D/example"
    sed 's/^ *//' "$1" >"$D/deep.lines"
    [ "$(grep -c . "$D/example")" -ge 5 ] || { echo "there is no example"; return 1; }
    ! grep -vxFf "$D/deep.lines" "$D/example"
}

# inferred_callers DATA [FUNCTION]: a recording of tests/pd/called.system.in; a server is in a call if it is in FUNCTION, a
# regular expression, by default one of its work's functions. Samples in a call of a server have all its
# callers, by registers; those in no call have none; and three quarters of the servers' work was for `large`. The
# PDs, the innermost first. The frames of an ambiguous sample are of its candidates, not of callers.
inferred_callers() {
    "$MKPERF" convert -q "$1" -o "$D/called.jsonl" || return 1
    jq -r 'select(.type == "sample") | [.pd, ([.stack[] | select(.pd) | .pd + (if .inferred then "" else "!" end)] | unique_by(.) | length),
            ([.stack[] | .pd // "-"] | reduce .[] as $x ([]; if .[-1] == $x then . else . + [$x] end) | map(select(. != "-")) | join(" ")),
            ([.stack[] | select(.pd | not) | .function // "?"] | join(" ")), ([.stack[] | select(.pd and (.inferred | not))] | length)] | @tsv' \
        "$D/called.jsonl" >"$D/called.tsv"
    awk -F '\t' -v work="${2:-callers_(middle|back|passive)_work}" '
        $1 != "ambiguous" { unmarked += $5 }
        $1 ~ /^(above|small|large|client|idle)$/ && $3 != "" { wrong++; print }
        $1 ~ /^(middle|passive)$/ && $3 !~ /^(|small|large)$/ { wrong++; print }
        $1 == "back" && $3 !~ /^(|middle (small|large))$/ { wrong++; print }
        $1 ~ /^(middle|back|passive)$/ && $4 ~ work {
            n[$1]++
            whole[$1] += $3 != ""
            large += $3 ~ /large/
            small += $3 ~ /small/
        }
        END {
            split("middle back passive", server, " ")
            printf "  callers"
            for (i = 1; i <= 3; i++) {
                s = server[i]
                printf " %d of %d in %s,", whole[s], n[s], s
                bad = bad || n[s] < 100 || whole[s] < 0.99 * n[s]
            }
            all = large + small
            e = all > 0 ? (large / all - 0.75) / sqrt(0.75 * 0.25 / all) : 99
            printf " %d wrong, %d not marked as inferred; for large %.1f standard errors from 3/4\n", wrong, unmarked, e
            exit bad || wrong != 0 || unmarked != 0 || e > 6 || e < -6
        }' "$D/called.tsv"
}
