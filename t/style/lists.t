#!/bin/bash
# SPDX-License-Identifier: MIT
# Makefile.am and HACKING.md leave nothing out.
. "$(dirname "$0")/../lib/tap.sh"
cd "$top" || exit 1

# A name of a line of its own in a list.
listed() {
    grep -E '^[[:space:]]' Makefile.am | tr -d '\t\\ ' | sort -u
}

# FOLDER PATTERN: files that are in no list.
unlisted() {
    find "$1" -name "$2" -type f | sort | comm -23 - <(listed)
}

# main.c and settings_doc.c are programs' only sources, and stand beside the name.
unlisted src '*.[ch]' | grep -vx -e src/main.c -e src/settings/settings_doc.c >"$scratch/sources"
empty "every source is in a list of Makefile.am" "$scratch/sources"

for folder in sql/query sql/mysql sql/pgsql sql/sqlite; do
    unlisted "$folder" '*.sql'
done >"$scratch/sql"
empty "every SQL file of the program is embedded" "$scratch/sql"

find t -name '*.t' -type f -exec grep -lI '^#!' {} + | sort | comm -23 - <(listed) >"$scratch/scripts"
empty "every test script is run by make check" "$scratch/scripts"

find t/unit -name '*.c' | sed 's/c$/t/' | sort | comm -23 - <(listed) >"$scratch/unit"
empty "every unit test is built and run" "$scratch/unit"

{ ls ./*.sh build-aux/*.sh debian/*.p* etc/*completion .ci/*; find t \( -name '*.sh' -o -name '*.t' \) -type f; } |
    while IFS= read -r file; do
    head -n 1 "$file" | grep -aqE '^#!/bin/(ba)?sh|^# shellcheck shell=' && echo "${file#./}"
done | grep -vx build-aux/tap-driver.sh | sort | comm -23 - <(listed) >"$scratch/shell"
empty "every shell script is looked at by make lint" "$scratch/shell"

find t -name '*.t' -type f -exec grep -lI '^#!' {} + | while IFS= read -r file; do
    [ -x "$file" ] || echo "$file"
done >"$scratch/modes"
empty "every test script can be executed" "$scratch/modes"

# What dpkg-buildpackage and an in-tree make leave there is no source.
find cron debian etc -type f | grep -vxE -e 'cron/fairmill\.service(-new)?' \
    -e 'debian/(\.debhelper|fairmill)/.*|debian/(files|autoreconf\..*|.*debhelper.*|.*\.substvars)' \
    -e 'debian/fairmill\.(service|sysusers|timer|tmpfiles)' |
    sort | comm -23 - <(listed) >"$scratch/packaging"
empty "a release has every file for administrators and packagers" "$scratch/packaging"

# shellcheck disable=SC2034 # names is each list in turn
(. build-aux/packages.sh && for list in "${!packages_@}"; do
    declare -n names=$list
    printf '%s\n' "${names[@]}"
done) | grep '^lib.*-dev$' | grep -vx -e libc6-dev -e libclang-rt-dev | sort -u |
    comm -23 - <(sed -n '/^Build-Depends:/,/^$/s/^ \(lib[^ ,]*\).*/\1/p' debian/control | sort) \
        >"$scratch/libraries"
empty "the Debian package is built with every library" "$scratch/libraries"

done_testing
