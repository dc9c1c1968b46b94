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

tracked | while IFS= read -r file; do
    head -n 5 "$top/$file" 2>/dev/null | grep -Eq 'SPDX-License-Identifier: MIT( \*/| -->)?$' ||
        echo "$file"
done >"$scratch/without"

ok "there are files to look at" test "$(tracked | wc -l)" -gt 100
empty "each has its licence in the first five lines" "$scratch/without"
done_testing
