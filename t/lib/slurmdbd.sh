# shellcheck shell=bash
# SPDX-License-Identifier: MIT
# A throw-away slurmdbd with its munged; to be sourced by bash after mariadb.sh.
#
#   slurmdbd_require        without the programs the script is skipped, or fails where CI is true
#   slurmdbd_start DIR      munged and slurmdbd in DIR, an absent or empty directory with a short
#                           path, on the server that mariadb_shared started; sacctmgr then finds
#                           it, for SLURM_CONF is exported.  Its database is SLURMDBD_DATABASE.
#   slurmdbd_stop           end both, and drop the database

SLURMDBD_DATABASE=slurmdbd_acct

slurmdbd_require() {
    needs munged slurmdbd sacctmgr
}

slurmdbd_wait_for() {
    local i
    for ((i = 0; i < 300; i++)); do
        ! "$@" >/dev/null 2>&1 || return 0
        sleep 0.1
    done
    return 1
}

# From Slurm 24.11 on a slurmdbd that shall not listen everywhere listens where this machine's name
# leads, which may be nowhere, or to others.
slurmdbd_command() {
    if [ "$(id -u)" = 0 ]; then
        unshare --uts sh -c 'hostname localhost && exec slurmdbd'
    else
        slurmdbd
    fi
}

slurmdbd_start() {
    local port user
    SLURMDBD_DIRECTORY=$1
    mkdir -p "$1" && chmod 700 "$1"
    port=$(mariadb_free_port)
    user=$(id -un)
    # slurmdbd would make it, but not with MariaDB's client library 11.8.9 (3.4.9): a session whose first login was
    # refused, for want of the database, takes no result there.
    echo "DROP DATABASE IF EXISTS $SLURMDBD_DATABASE;
        CREATE DATABASE $SLURMDBD_DATABASE;
        DROP USER IF EXISTS slurmdbd@localhost;
        CREATE USER slurmdbd@localhost IDENTIFIED BY 'throw-away';
        GRANT ALL ON $SLURMDBD_DATABASE.* TO slurmdbd@localhost;" | mariadb_sql ||
        give_up 'slurmdbd has no account'

    (umask 077 && head -c 1024 /dev/urandom >"$1/key")
    munged --force --key-file="$1/key" --socket="$1/m" --pid-file="$1/munged.pid" \
        --log-file="$1/munged.log" --seed-file="$1/seed" 2>"$1/munged.err" ||
        give_up "munged: $(tail -n 3 "$1/munged.err")"

    (umask 077 && cat >"$1/slurmdbd.conf") <<EOC
AuthType=auth/munge
AuthInfo=socket=$1/m
DbdHost=localhost
DbdAddr=127.0.0.1
DbdPort=$port
SlurmUser=$user
LogFile=$1/slurmdbd.log
PidFile=$1/slurmdbd.pid
StorageType=accounting_storage/mysql
StorageHost=localhost
StorageUser=slurmdbd
StoragePass=throw-away
StorageLoc=$SLURMDBD_DATABASE
CommunicationParameters=NoInAddrAny,NoCtldInAddrAny
EOC
    cat >"$1/slurm.conf" <<EOC
ClusterName=unused
SlurmUser=$user
SlurmctldHost=localhost(127.0.0.1)
AuthType=auth/munge
AuthInfo=socket=$1/m
AccountingStorageType=accounting_storage/slurmdbd
AccountingStorageHost=127.0.0.1
AccountingStoragePort=$port
AccountingStoragePass=socket=$1/m
EOC
    export SLURM_CONF=$1/slurm.conf
    # slurmdbd.conf cannot name a socket; the client library takes it from here.
    MYSQL_UNIX_PORT=$MARIADB_SOCKET slurmdbd_command ||
        give_up "slurmdbd: $(tail -n 3 "$1/slurmdbd.log")"
    slurmdbd_wait_for sacctmgr -n show cluster ||
        give_up "slurmdbd does not answer: $(tail -n 3 "$1/slurmdbd.log")"
}

slurmdbd_end() {
    local pid i
    pid=$(cat "$1" 2>/dev/null) || return 0
    kill "$pid" 2>/dev/null
    for ((i = 0; i < 100; i++)); do
        kill -0 "$pid" 2>/dev/null || return 0
        sleep 0.1
    done
    kill -9 "$pid" 2>/dev/null
}

slurmdbd_stop() {
    [ -n "${SLURMDBD_DIRECTORY:-}" ] || return 0
    slurmdbd_end "$SLURMDBD_DIRECTORY/slurmdbd.pid"
    slurmdbd_end "$SLURMDBD_DIRECTORY/munged.pid"
    echo "DROP DATABASE IF EXISTS $SLURMDBD_DATABASE; DROP USER IF EXISTS slurmdbd@localhost" | mariadb_sql
    SLURMDBD_DIRECTORY=
}
