#!/bin/bash
# SPDX-License-Identifier: MIT
#
# Installs the packages that the build needs, builds fairmill in build/, creates the accounting database
# of an imaginary site, and computes its fairshare values.
#
#   quickstart.sh       a university with Slurm
#   quickstart.sh pbs   a small site with OpenPBS
set -euo pipefail
umask 022
cd "$(dirname "$0")"
. build-aux/packages.sh

site=${1:-slurm}
if [ $# -gt 1 ] || ! [[ $site =~ ^(slurm|pbs)$ ]]; then
    echo "usage: quickstart.sh [pbs]" >&2
    exit 64
fi

# quietly LOG COMMAND...: run COMMAND with its output in LOG; print the end of LOG if it fails.
quietly() {
    local log=$1
    shift
    "$@" >"$log" 2>&1 || { tail -n 40 "$log" >&2; echo "failed: $*" >&2; return 1; }
}

# Print a command as a user would type it, and its output.
try() {
    local word
    printf '\n$'
    for word in "$@"; do
        if [[ $word == *[!A-Za-z0-9_./,:=@%+-]* ]]; then
            word="'$word'"
        fi
        printf ' %s' "$word"
    done
    printf '\n'
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

# DIRECTORY LINE...: create a new directory and enter it.  Write settings for two databases in it, with the
# LINEs in [source] and further settings from standard input.
begin() {
    local folder=$1
    shift
    echo "Making a site in build/$folder/ ..."
    rm -rf "$folder"
    mkdir "$folder"
    cd "$folder"
    {
        printf '[source]\ndriver = sqlite\ndatabase = accounting.db\n'
        [ $# = 0 ] || printf '%s\n' "$@"
        printf '\n[results]\ndriver = sqlite\ndatabase = results.db\n'
        cat
    } >fairmill.conf
}

slurm_site() {
    begin demo <<'END'

[slurm]
conf = slurm.conf
END
    try ../../sql/demo/make-demo.py accounting.db
    try ../fairmill -c fairmill.conf init
    try ../fairmill -c fairmill.conf run -v
    try ../fairmill -c fairmill.conf show

    printf '\nHistory of the year before, each point as a run of then would have made it:\n'
    try ../fairmill -c fairmill.conf backfill

    printf '\nThe same year with a half-life of two weeks, and who would have changed places:\n'
    try ../fairmill -c fairmill.conf backtest --half-life 14-0 --top 3

    printf '\nThe jobs of four users, which wait; slurm.conf has the weights:\n'
    try ../fairmill -c fairmill.conf prio --users xavier,anders,chidi,lars --sort=-y \
        --format '%.7i %9r %.8u %.8Y %.5A %.9F %.9P %.5Q'

    printf '\nThe reason for the place of tove, and what a pause would change:\n'
    try ../fairmill -c fairmill.conf explain tove

    printf '\nWhy chidi, who used little, is behind lars, and what would turn it:\n'
    try ../fairmill -c fairmill.conf explain chidi lars

    printf '\nWhat it would do to the queue, before anybody does it:\n'
    try ../fairmill -c fairmill.conf whatif --shares physics=80 --top 5

    printf '\nTwo nodes failed, and ines gets back what her jobs were charged there:\n'
    try ../fairmill -c fairmill.conf ledger credit 6000h --user ines --at now-2days \
        --why 'c05 and c06 failed' --yes
    try ../fairmill -c fairmill.conf run -v
    try ../fairmill -c fairmill.conf show --accounts dynamics

    printf '\nThe same for any program that speaks SQL, here the five jobs that are next:\n'
    try sqlite3 -header -column results.db "
    SELECT id_job, user_name, account, partition_name, priority,
        round(fairshare_factor, 6) AS fairshare
    FROM fairmill_job_priority
    WHERE best = 1
    ORDER BY priority DESC, id_job
    LIMIT 5"

    printf '\nAnd a page for people:\n'
    try ../fairmill -c fairmill.conf report --output fairshare.html
    cat <<'END'

All of it is in build/demo/; open fairshare.html there in a browser.  Change
shares or jobs in accounting.db, weights in slurm.conf, or settings in
fairmill.conf, and run again.  After

    cd build/demo && export FAIRMILL_CONF=$PWD/fairmill.conf PATH=$PWD/..:$PATH

the examples of doc/questions.md can be typed as they stand, and `fairmill help'
lists the commands.  doc/production.md describes the steps for a real database.
END
}

pbs_site() {
    begin demo-pbs 'layout = pbs' 'clusters = pbs' <<'END'

[usage]
time_zone = UTC
END
    try ../../sql/demo/make-pbs-demo.py .
    try ../fairmill -c fairmill.conf import pbs --resource-group resource_group --sched-config sched_config \
        --accounting accounting --queue qstat.json -v
    try ../fairmill -c fairmill.conf init
    try ../fairmill -c fairmill.conf run -v
    try ../fairmill -c fairmill.conf show --pbs --list
    try ../fairmill -c fairmill.conf show --pbs scott

    printf '\nThe jobs that wait, in the order of the formula:\n'
    try ../fairmill -c fairmill.conf prio

    printf '\nThe same for any program that speaks SQL, as a job_sort_formula would have it:\n'
    try sqlite3 -header -column results.db "
    SELECT name, shares, round(usage / 3600, 2) AS cpu_hours, fairshare_perc,
        round(fairshare_tree_usage, 6) AS tree_usage, round(fairshare_factor, 6) AS factor
    FROM fairmill_pbsfs
    ORDER BY fairshare_factor DESC, name"

    printf '\nWhy suzy, who used nothing, is behind bob, and what would turn it:\n'
    try ../fairmill -c fairmill.conf explain bob suzy
    cat <<'END'

All of it is in build/demo-pbs/: change resource_group there, import it, and run
again.  doc/pbs.md describes the steps for a real OpenPBS.
END
}

"${site}_site"
