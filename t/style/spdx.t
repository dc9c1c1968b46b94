#!/bin/bash
# SPDX-License-Identifier: MIT
# Who finds one file of fairmill can tell its licence.
. "$(dirname "$0")/../lib/tap.sh"

[ -e "$top/.git" ] || not_here "not a git checkout"
ok "git lists the tracked files" git -c safe.directory='*' -C "$top" ls-files --error-unmatch configure.ac

# Data that programs wrote, the licence itself, and what has no place for a comment.
tracked() {
    git -c safe.directory='*' -C "$top" ls-files -- ':!LICENSE' ':!t/data/**' ':!t/fuzz/corpus-*/**' \
        ':!debian/changelog' ':!debian/source/format'
}

tracked | sort >"$scratch/tracked"
(cd "$top" && xargs -d '\n' awk '
    FNR > 5 { nextfile }
    /SPDX-License-Identifier: MIT( \*\/| -->)?$/ { print FILENAME; nextfile }' <"$scratch/tracked") | sort -u |
    comm -13 - "$scratch/tracked" >"$scratch/without"

ok "there are files to look at" test "$(wc -l <"$scratch/tracked")" -gt 100
empty "each has its licence in the first five lines" "$scratch/without"
done_testing
