#!/bin/bash
# SPDX-License-Identifier: MIT
#
# make.sh KIND DIRECTORY [USERS]: make the databases, the settings and the page of an imaginary site in a
# new DIRECTORY, with the fairmill in PATH.  Print each command and its output.
#
#   slurm   a university with Slurm and forty users
#   pbs     a small site with OpenPBS
#   site    a university with two clusters, GPUs and USERS users (default: 3000)
#
# A shell that reads DIRECTORY/env (`. DIRECTORY/env`) uses this site, at the time at which it ends.
set -euo pipefail
umask 022
kind=$1 directory=$2 users=${3:-3000}
here=$(cd "$(dirname "$0")" && pwd)
program=$(command -v fairmill)

# The end of each site.
export FAIRMILL_NOW=2025-06-21T10:00:00Z

# Print a command as a user would type it, and its output.
try() {
    local word
    printf '\n$'
    for word in "$@"; do
        if [[ $word == *[!A-Za-z0-9_./,:=@%+-]* ]]; then
            word="'$word'"
        fi
        printf ' %s' "${word#"$here/"}"
    done
    printf '\n'
    "$@"
}

# settings FILE [LINE...]: write settings with two databases, and the LINEs in [source].
settings() {
    printf '%s\n' '[source]' 'driver = sqlite' "database = \"$PWD/accounting.db\"" "${@:2}" '' \
        '[results]' 'driver = sqlite' "database = \"$PWD/results.db\"" '' '[usage]' 'time_zone = UTC' >"$1"
}

# slurm_conf FILE: print the lines of the settings that name a slurm.conf.
slurm_conf() {
    printf '%s\n' '' '[slurm]' "conf = \"$PWD/$1\""
}

# quoted TEXT: print it as a word of any shell.
quoted() {
    printf "'%s'" "${1//\'/\'\\\'\'}"
}

write_env() {
    cat >"env" <<END
# Read this file with \`. FILE' in sh, bash or zsh.
PATH=$(quoted "$(dirname "$program")"):\$PATH
FAIRMILL_CONF=$(quoted "$FAIRMILL_CONF")
FAIRMILL_NOW=$FAIRMILL_NOW
export PATH FAIRMILL_CONF FAIRMILL_NOW
END
}

make_slurm() {
    settings fairmill.conf
    slurm_conf slurm.conf >>fairmill.conf
    try "$here/make-demo.py" accounting.db
    try fairmill init
    printf '\nTwo nodes failed, and ines gets back the usage of her jobs there:\n'
    try fairmill ledger credit 6000h --user ines --at now-2days --why 'c05 and c06 failed' --yes
    try fairmill run -v
    printf '\nHistory of the year before:\n'
    try fairmill backfill
    try fairmill report --output fairshare.html
}

make_pbs() {
    settings fairmill.conf 'layout = pbs' 'clusters = pbs'
    try "$here/make-pbs-demo.py" .
    try fairmill import pbs --resource-group resource_group --sched-config sched_config \
        --accounting accounting --queue qstat.json -v
    try fairmill init
    try fairmill run -v
    try fairmill report --output fairshare.html
}

# Each cluster has its own slurm.conf and therefore its own settings.  Commands that read results show both
# clusters with either of them.
make_site() {
    try "$here/make-site.py" accounting.db "$users"
    settings fairmill.conf 'clusters = alder'
    echo 'tres = cpu' >>fairmill.conf # alder has no GPUs
    slurm_conf alder.slurm.conf >>fairmill.conf
    settings birch.conf 'clusters = birch'
    slurm_conf birch.slurm.conf >>birch.conf
    try fairmill init
    try fairmill run -v
    try fairmill -c birch.conf run -v
    try fairmill backfill
    try fairmill -c birch.conf backfill
    try fairmill report --output fairshare.html
}

mkdir "$directory"
cd "$directory"
export FAIRMILL_CONF=$PWD/fairmill.conf
"make_$kind"
write_env
