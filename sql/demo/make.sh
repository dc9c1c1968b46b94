#!/bin/bash
# SPDX-License-Identifier: MIT
#
# make.sh KIND DIRECTORY: make the databases, the settings and the page of an imaginary site in a new
# DIRECTORY, with the fairmill in PATH.  Print each command and its output.
#
#   slurm   a university with Slurm and forty users
#   pbs     a small site with OpenPBS
#
# A shell that reads DIRECTORY/env (`. DIRECTORY/env`) uses this site, at the time at which it ends.
set -euo pipefail
umask 022
kind=$1 directory=$2
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

# begin [LINE...]: create the directory and enter it.  Write settings with two databases, and the LINEs in
# [source].
begin() {
    mkdir "$directory"
    cd "$directory"
    {
        printf '[source]\ndriver = sqlite\ndatabase = "%s"\n' "$PWD/accounting.db"
        [ $# = 0 ] || printf '%s\n' "$@"
        printf '\n[results]\ndriver = sqlite\ndatabase = "%s"\n\n[usage]\ntime_zone = UTC\n' "$PWD/results.db"
    } >fairmill.conf
    export FAIRMILL_CONF=$PWD/fairmill.conf
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
    begin
    printf '\n[slurm]\nconf = "%s"\n' "$PWD/slurm.conf" >>fairmill.conf
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
    begin 'layout = pbs' 'clusters = pbs'
    try "$here/make-pbs-demo.py" .
    try fairmill import pbs --resource-group resource_group --sched-config sched_config \
        --accounting accounting --queue qstat.json -v
    try fairmill init
    try fairmill run -v
    try fairmill report --output fairshare.html
}

"make_$kind"
write_env
