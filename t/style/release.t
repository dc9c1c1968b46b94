#!/bin/bash
# SPDX-License-Identifier: MIT
# The version and the dates of releases are the same wherever they stand.
. "$(dirname "$0")/../lib/tap.sh"
cd "$top" || exit 1

version=$(sed -n 's/^AC_INIT(\[fairmill\], \[\(.*\)\])$/\1/p' configure.ac)
ok "configure.ac has a version" grep -Eqx '[0-9]+(\.[0-9]+){2}' <<<"$version"
is "the program says it" "$("$FAIRMILL" --version | cut -d' ' -f2)" "$version"

# Each of these lists releases as "VERSION YEAR-MONTH-DAY", the newest first.

in_news() {
    sed -n 's/^fairmill \([0-9.]*\), \([0-9-]*\)$/\1 \2/p' NEWS
}

# FILE PATTERN-OF-A-VERSION-LINE PATTERN-OF-A-DATE-LINE: each pattern leaves what it has found.
dated_entries() {
    sed -n -e "s/$2/version \\1/p" -e "s/$3/date \\1/p" "$1" | while read -r kind what; do
        if [ "$kind" = version ]; then
            version=$what
        else
            echo "$version $(LC_ALL=C date -u -d "$what" +%F)"
        fi
    done
}

in_debian() {
    dated_entries debian/changelog '^fairmill (\([0-9.]*\)).*' '^ -- .*>  \(.*\)$'
}

# `* Mon Nov 23 2026 NAME <ADDRESS> - VERSION-RELEASE`
in_spec() {
    sed -n '/^%changelog/,$s/^\* \([A-Z][a-z]* [A-Z][a-z]* [0-9]* [0-9]*\) .* \([0-9.]*\)-[^ ]*$/\2 \1/p' fairmill.spec |
        while read -r version date; do echo "$version $(LC_ALL=C date -u -d "$date" +%F)"; done
}

releases=$(in_news)
is "NEWS begins with this version" "$(head -n 1 <<<"$releases" | cut -d' ' -f1)" "$version"
is "every heading of NEWS has a date" "$(grep -c '^[A-Za-z ]*fairmill [0-9]' NEWS)" "$(wc -l <<<"$releases")"
is "the newest release comes first" "$releases" "$(sort -t' ' -k2,2r -k1,1Vr <<<"$releases")"
is "debian/changelog has the same releases with the same dates" "$(in_debian)" "$releases"
if [ -e fairmill.spec ]; then
    is "fairmill.spec has the same releases with the same dates" "$(in_spec)" "$releases"
    is "and this version" "$(sed -n 's/^Version: *//p' fairmill.spec)" "$version"
fi
while read -r older _; do
    ok "what $older promised by name is on record" test -s "t/data/releases/$older-names"
done <<<"$releases"
done_testing
