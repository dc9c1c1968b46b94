#!/bin/sh
# SPDX-License-Identifier: MIT
#
# list-files.sh >files.am: the lists of files that Makefile.am includes, from the files that exist.
# autogen.sh runs it, so a new file needs no line anywhere.  In a checkout, git names the files.  An
# archive of a checkout has no .git; there, every file counts that autogen.sh has not made itself.
#
# The line `# needs:` of a test names its requirements (sqlite, mysql, pgsql, browser, valgrind,
# packages); make check omits tests whose requirements configure did not find.
set -eu
cd "$(dirname "$0")/.."
export LC_ALL=C

candidates() {
    if [ -e .git ]; then
        git ls-files --cached --others --exclude-standard
    else
        find . '(' -path './build' -o -path './build-[!a]*' -o -path ./autom4te.cache ')' -prune -o \
            -type f ! -path './files.am*' -print | sed 's,^\./,,'
    fi
}

# Omit removed files, which git also lists.
files=$(candidates | sort -u | while IFS= read -r file; do
    [ ! -f "$file" ] || echo "$file"
done)

# NAME: a list of the names on standard input.
list() {
    awk -v name="$1" '
        { line = line " \\\n\t" $0 }
        END { print name " =" line "\n" }'
}

# PATTERN [EXCEPT]: files whose names match.
matching() {
    printf '%s\n' "$files" | grep -E "$1" | grep -vE "${2:-^$}" || :
}

# "NEEDS:FILE" for each test script.
needs=$(matching '^t/.*\.t$' | xargs awk '
    FNR == 1 { if (file) print need ":" file; file = FILENAME; need = "" }
    sub(/^# needs: /, "") { need = $0 }
    FNR == 5 { nextfile }
    END { print need ":" file }')

# NEEDS: the test scripts that need exactly these.
tests_that_need() {
    printf '%s\n' "$needs" | sed -n "s/^$1://p"
}

echo '# Made by build-aux/list-files.sh; ./autogen.sh makes it anew.'
echo

program='^src/(main|settings/settings_doc)\.c$'
driver='^src/db/[a-z]+/.*\.[ch]$'
matching '^src/util/.*\.[ch]$' | list libfairmill_util_a_SOURCES
matching '^src/core/.*\.[ch]$' | list libfairmill_core_a_SOURCES
matching '^src/.*\.[ch]$' "^src/(util|core)/|$program|$driver" | list libfairmill_a_SOURCES
for database in mysql pgsql sqlite; do
    matching "^src/db/$database/.*\.[ch]$" | list "$(echo "$database" | tr a-z A-Z)_SOURCES"
done
matching '^sql/(query|schema)/' | list SQL_FILES
matching '^man/.*\.pod$' | list PODS
for section in 1 5 7 8; do
    matching "^man/.*\.$section\.pod$" | sed 's/\.pod$//' | list "MANUAL_$section"
done
matching '^doc/.*\.(md|png)$' | list DOCUMENTS

matching '^t/unit/.*\.c$' | sed 's/c$/t/' | list UNIT_TESTS
matching '^t/style/.*\.t$' | list STYLE_TESTS
tests_that_need '' | grep -v '^t/style/' | list INSTALL_TESTS
{
    matching '^t/unit/.*\.c$' | sed 's/c$/t/'
    matching '^t/style/.*\.t$'
    tests_that_need sqlite | grep '^t/command/'
} | list QUICK_TESTS
tests_that_need packages | list PACKAGE_TESTS
tests_that_need sqlite | list SQLITE_TESTS
tests_that_need 'sqlite valgrind' | list VALGRIND_TESTS
tests_that_need 'sqlite browser' | list BROWSER_TESTS
tests_that_need 'sqlite mysql' | list MYSQL_TESTS
tests_that_need 'sqlite pgsql' | list PGSQL_TESTS
tests_that_need 'sqlite mysql pgsql' | list PAIR_TESTS

matching '^t/fuzz/.*\.c$' | sed 's/\.c$//' | list FUZZERS
for fuzzer in $(matching '^t/fuzz/.*\.c$' | sed 's/\.c$//'); do
    variable=$(echo "$fuzzer" | tr / _)
    echo "${variable}_SOURCES = $fuzzer.c t/fuzz/fuzz.h"
    # shellcheck disable=SC2016 # for make
    echo "${variable}_LDADD = \$(FUZZER_LDFLAGS) \$(ALL_LIBS)"
done
echo

# Files that begin as a shell script.
printf '%s\n' "$files" | xargs awk '
    /^#!\/bin\/(ba)?sh|^# shellcheck shell=/ { print FILENAME }
    { nextfile }' | list SHELL_FILES

# A release contains the files of a checkout; automake adds the files that it generates.
matching '' '^(\.gitignore|Makefile\.am|configure\.ac)$|^m4/|^(src|t/bench|t/fuzz)/.*\.[ch]$' | list EXTRA_DIST
