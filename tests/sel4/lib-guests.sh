# SPDX-License-Identifier: BSD-2-Clause
# What the tests with tests/sel4/bare_guest.S share.

# guest_symbols VMM: the guest's symbols at its own addresses, as /proc/kallsyms prints them.
guest_symbols() {
    "${CROSS}nm" "$1" | awk '
        function value(hex, i, n) { for (i = 1; i <= length(hex); i++) n = n * 16 + index("0123456789abcdef", substr(hex, i, 1)) - 1; return n }
        $3 == "guest_start" { base = value($1) }
        $3 ~ /^guest_(boot|user|kernel|stop)$/ { at[$3] = value($1) }
        END { for (name in at) printf "%016x T %s\n", 1073741824 + at[name] - base, name }'
}
