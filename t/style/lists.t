#!/bin/bash
# SPDX-License-Identifier: MIT
# The build's lists leave nothing out, and name nothing twice.
. "$(dirname "$0")/../lib/tap.sh"
cd "$top" || exit 1

# Names in the lists of a makefile, each as often as it stands there.
listed() {
    sed 's/^[A-Za-z_]* [+:]*=//' "$@" | grep -E '^[[:space:]]' | tr -s ' \t\\' '\n' | grep / | grep -v '[$(:]' | sort
}

ok "there is a list of files" test -s files.am
if [ -e .git ]; then
    build-aux/list-files.sh >"$scratch/files.am"
    ok "files.am is what ./autogen.sh would make of the files that are there" \
        diff -u files.am "$scratch/files.am"
fi

sed -n '/^EXTRA_DIST/q;p' files.am | listed | uniq -d | grep -vE '^t/fuzz/|\.sh$|\.t$' >"$scratch/twice"
empty "no list of sources names a file twice" "$scratch/twice"

comm -12 <(listed Makefile.am | sort -u | grep '\.[cht]$') <(listed files.am | sort -u) >"$scratch/hand"
empty "no file of a made list stands in Makefile.am too" "$scratch/hand"

sed -n '/^QUICK_TESTS =/,/^$/d; /_TESTS =/,/^$/p' files.am | listed | sort | uniq -d >"$scratch/tests"
empty "no test is in two lists" "$scratch/tests"

find t -name '*.t' -type f -exec grep -lI '^#!' {} + | sort |
    comm -23 - <(sed -n '/_TESTS =/,/^$/p' files.am | listed | sort -u) >"$scratch/scripts"
empty "every test script is in a list: what it needs is a word that list-files.sh knows" "$scratch/scripts"

find t -name '*.t' -type f -exec grep -lI '^#!' {} + | while IFS= read -r file; do
    [ -x "$file" ] || echo "$file"
done >"$scratch/modes"
empty "every test script can be executed" "$scratch/modes"

# shellcheck disable=SC2034 # names is each list in turn
(. build-aux/packages.sh && for list in "${!packages_@}"; do
    declare -n names=$list
    printf '%s\n' "${names[@]}"
done) | grep '^lib.*-dev$' | grep -vx -e libc6-dev -e libclang-rt-dev | sort -u |
    comm -23 - <(sed -n '/^Build-Depends:/,/^$/s/^ \(lib[^ ,]*\).*/\1/p' debian/control | sort) \
        >"$scratch/libraries"
empty "the Debian package is built with every library" "$scratch/libraries"

done_testing
