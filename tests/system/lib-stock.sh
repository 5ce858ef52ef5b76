# SPDX-License-Identifier: BSD-2-Clause
# Shared by tests/system/stock.sh and tests/sel4/check-stock. Sourced after lib.sh.

# known_shares DATA: the known-answer functions have 10, 20, 30 and 40 % of their samples, by a chi-square test
# (3 degrees of freedom; 25 is one in sixty thousand), of at least 300 samples.
known_shares() {
    "$MKPERF" report --stdio -i "$1" --sort pd,sym | awk '
        $1 ~ /%$/ && $6 ~ /^known_(leaf|framed|deep)_/ { n += $2; part[$6] = $2 }
        END {
            split("known_leaf_10 known_framed_20 known_deep_30 known_leaf_40", name)
            printf "  known  "
            for (i = 1; i <= 4 && n > 0; i++) {
                d = part[name[i]] - n * i / 10
                x += d * d / (n * i / 10)
                printf " %.1f %%", 100 * part[name[i]] / n
            }
            printf " of %d samples, chi-square %.1f\n", n, x
            exit !(n >= 300 && x < 25)
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

# The lines of the example in docs/stock.md are in the booted system.
deep_example() {
    sed -n '/^## Deeper/,/^## [^D]/s/^  *</</p' docs/stock.md >"$D/example"
    sed 's/^ *//' "$B/tests/pd/deep/deep.system" >"$D/deep.lines"
    [ "$(grep -c . "$D/example")" -ge 5 ] || { echo "there is no example"; return 1; }
    ! grep -vxFf "$D/deep.lines" "$D/example"
}
