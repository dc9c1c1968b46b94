#!/bin/bash
# SPDX-License-Identifier: MIT
# The manual is well-formed, and as the program is.
. "$(dirname "$0")/../lib/tap.sh"
build=${top_builddir:-$top/build}

command -v podchecker >/dev/null || skip_all "podchecker is not there"
command -v man >/dev/null || skip_all "man is not there"

for pod in "$top"/man/*.pod; do
    ok "$(basename "$pod") is good POD" podchecker -warnings -warnings "$pod"
done

for page in fairmill.1 fairmill.8 fairmill.conf.5 fairmill-tables.7; do
    ok "$page was made" test -s "$build/man/$page"
    LC_ALL=C.UTF-8 MANROFFSEQ='' MANWIDTH=80 man --warnings -E UTF-8 -l -Tutf8 -Z "$build/man/$page" \
        2>"$scratch/all" >"$scratch/page"
    # Where it is installed may be a path that is longer than a line.
    grep -v "can't break line" "$scratch/all" >"$scratch/warnings"
    ok "$page is more than a title" test "$(wc -l <"$scratch/page")" -gt 100
    empty "man reads $page without a warning" "$scratch/warnings"
    unlike "nothing in $page is left to fill in" "$build/man/$page" '@[A-Z]+@'
done

"$build/settings-doc" --sample >"$scratch/fairmill.conf"
ok "etc/fairmill.conf is the sample that settings-doc makes" \
    diff -u "$top/etc/fairmill.conf" "$scratch/fairmill.conf"

sed -n 's/^#\{0,1\}\([a-z_]\{1,\}\) = .*/\1/p; s/^#\([a-z_]\{1,\}\) =$/\1/p' "$scratch/fairmill.conf" | sort -u |
    while IFS= read -r key; do
        grep -q "$key" "$build/man/fairmill.conf.5" || echo "$key"
    done >"$scratch/unknown"
empty "fairmill.conf(5) has every key of the sample" "$scratch/unknown"

# Of each kind of finding: what to do, as check says it.
perl -0ne '
    while (/\[FINDING_\w+\] = \{(.*?)\s\},\n/gs) {
        my $texts = $1 =~ s/"\s+"//gr;
        my ($name, $meaning, $remedy) = $texts =~ /"([^"]*)"/g;
        print "$name: ", $remedy =~ tr/`\x27//dr, ".\n";
    }' "$top/src/core/finding.c" >"$scratch/remedies"
perl -0ne '
    s/C<([^>]*)>/$1/g;
    print "$1: ", $2 =~ s/\s+/ /gr, "\n" while /=item B<(\w+)>\n\n(?:(?!=item|=back).)*?What to do: (.*?)\n\n/gs
    ' "$top/man/fairmill-tables.pod" >"$scratch/told"
ok "there are kinds of findings" test "$(wc -l <"$scratch/remedies")" -gt 20
ok "fairmill-tables(7) says of each what to do" diff <(sort "$scratch/remedies") <(sort "$scratch/told")

done_testing
