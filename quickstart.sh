#!/bin/bash
# SPDX-License-Identifier: MIT
#
# From a checkout to the first fairshare values: installs what the build needs, builds in build/,
# makes the accounting database of a site that does not exist, and computes it.
set -euo pipefail
umask 022
cd "$(dirname "$0")"
. build-aux/packages.sh

# LOG COMMAND...: what it says matters only if it fails.
quietly() {
    local log=$1
    shift
    "$@" >"$log" 2>&1 || { tail -n 40 "$log" >&2; echo "failed: $*" >&2; return 1; }
}

# A command as one would type it, and what it says.
try() {
    printf '\n$ %s\n' "$*"
    "$@"
}

packages_install "${packages_build[@]}" "${packages_demo[@]}" "${packages_sqlite[@]}"
without=()
if ! packages_install "${packages_mysql[@]}"; then
    echo "Going on without MySQL and MariaDB; the demonstration does not need them."
    without+=(--without-mysql)
fi
if ! packages_install "${packages_pgsql[@]}"; then
    echo "Going on without PostgreSQL; the demonstration does not need it."
    without+=(--without-pgsql)
fi

echo "Building in build/ ..."
mkdir -p build
[ -x configure ] || quietly build/autogen.log ./autogen.sh
cd build
quietly configure.log ../configure "${without[@]}"
quietly make.log make -j"$(nproc)"

echo "Making a site in build/demo/ ..."
rm -rf demo
mkdir demo
cd demo
cat >fairmill.conf <<'END'
[source]
driver = sqlite
database = accounting.db

[results]
driver = sqlite
database = results.db

[usage]
half_life = 7-0
END
try ../../sql/demo/make-demo.py accounting.db
try ../fairmill -c fairmill.conf init
try ../fairmill -c fairmill.conf run -v
try ../fairmill -c fairmill.conf show

printf '\nThe same values for any program that speaks SQL, here the five users who are next:\n'
try sqlite3 -header -column results.db "
    SELECT username, account, rawshares, round(rawusage / 3600) AS core_hours, fairshare
    FROM fairmill_sshare
    WHERE username <> ''
    ORDER BY fairshare DESC, username
    LIMIT 5"

printf '\nAnd a page for people:\n'
try ../fairmill -c fairmill.conf report --output fairshare.html

cat <<'END'

All of it is in build/demo/; open fairshare.html there in a browser, or change shares or jobs in
accounting.db, or the settings in fairmill.conf, and run again.  doc/production.md tells the way to a real
accounting database.
END
