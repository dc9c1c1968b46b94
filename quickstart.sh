#!/bin/bash
# SPDX-License-Identifier: MIT
#
# Installs the packages that the build needs, builds fairmill in build/, and makes an imaginary site with
# sql/demo/make.sh.
#
#   quickstart.sh       a university with Slurm, in build/demo/
#   quickstart.sh pbs   a small site with OpenPBS, in build/demo-pbs/
#   quickstart.sh site [USERS]
#                       a university with two clusters, GPUs, a year of 450,000 jobs and USERS users
#                       (default: 3000), in build/demo-site/; takes two minutes
set -euo pipefail
umask 022
cd "$(dirname "$0")"
. build-aux/packages.sh

site=${1:-slurm} directory=demo
[ "$site" = slurm ] || directory=demo-$site
if ! [[ $* =~ ^(slurm|pbs|site( [1-9][0-9]*)?)?$ ]]; then
    echo "usage: quickstart.sh [pbs | site [USERS]]" >&2
    exit 64
fi

# quietly LOG COMMAND...: run COMMAND with its output in LOG; print the end of LOG if it fails.
quietly() {
    local log=$1
    shift
    "$@" >"$log" 2>&1 || { tail -n 40 "$log" >&2; echo "failed: $*" >&2; return 1; }
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

rm -rf "$directory"
echo "Making a site in build/$directory/ ..."
PATH=$PWD:$PATH ../sql/demo/make.sh "$site" "$directory" "${@:2}"
case $site in
slurm) try='the examples of README.md, doc/questions.md and the manual pages' ;;
pbs) try="\`fairmill show --pbs --list' and \`fairmill explain bob suzy'; doc/pbs.md describes OpenPBS" ;;
site) try="for example \`fairmill budget', \`fairmill waits --by partition' and \`fairmill explain USER'" ;;
esac
cat <<END

Open build/$directory/fairshare.html in a browser.  To use this site in a shell, type

    . build/$directory/env

and then $try.
END
