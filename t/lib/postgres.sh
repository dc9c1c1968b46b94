# shellcheck shell=bash
# SPDX-License-Identifier: MIT
# Throw-away PostgreSQL servers for tests; to be sourced by bash.
#
#   postgres_shared         a server for this script: the one of the whole test run if
#                           FAIRMILL_TEST_POSTGRES names its directory, else one of its own,
#                           which ends with the script.  Without the server's programs the
#                           script is skipped, or fails where CI is true.
#   postgres_sql [OPTION]... [DATABASE]
#                           run the SQL of standard input as the user postgres
#   postgres_start DIR      a server in DIR, an absent or empty directory with a short path
#   postgres_follow DIR SOCKET
#                           a standby in DIR of the server at SOCKET, which must be at this
#                           one's port
#   postgres_stop           end it
#
# Arguments of the server beyond the usual go into the array POSTGRES_OPTIONS, and POSTGRES_PORT
# may be another port than the usual one.  All set POSTGRES_SOCKET, which is DIR, and POSTGRES_PID.  Whoever shares a server makes databases and
# roles under names of its own.  Members of a role `locked` need a password, others do not.

. "$(dirname "${BASH_SOURCE[0]}")/needs.sh"

POSTGRES_OPTIONS=()
POSTGRES_PORT=5432

# Debian keeps the programs of each version apart, and none of them in the PATH; its psql there is a
# script that takes ten times as long.
postgres_find() {
    local folder
    for folder in $(printf '%s\n' /usr/lib/postgresql/*/bin /usr/pgsql-*/bin | sort -rV); do
        if [ -x "$folder/initdb" ]; then
            PATH=$folder:$PATH
            return 0
        fi
    done
}

postgres_require() {
    postgres_find
    needs initdb pg_basebackup postgres psql
}

# shellcheck disable=SC2120 # scripts that source this pass them
postgres_sql() {
    PGOPTIONS='-c client_min_messages=warning' psql --no-psqlrc --quiet --host="$POSTGRES_SOCKET" \
        --port="$POSTGRES_PORT" --username=postgres --set=ON_ERROR_STOP=1 --no-align --tuples-only "$@"
}

postgres_answers() {
    echo 'SELECT 1' | postgres_sql postgres >/dev/null 2>&1
}

# The server refuses to run as root.  Nobody stays between us and it whom a signal could reach.
postgres_as_user() {
    if [ "$(id -u)" = 0 ]; then setpriv --reuid=postgres --regid=postgres --init-groups "$@"; else "$@"; fi
}

postgres_make_directory() {
    [ ${#1} -lt 80 ] || give_up "$1 is too long a path for a socket"
    mkdir -p "$1"
    [ "$(id -u)" != 0 ] || chown postgres "$1"
}

postgres_install() {
    postgres_make_directory "$1"
    (cd "$1" && postgres_as_user initdb --pgdata="$1/data" --username=postgres --auth=trust \
        --encoding=UTF8 --locale=C --no-sync >"$1/install.log" 2>&1) ||
        give_up "initdb: $(tail -n 3 "$1/install.log")"
    cat >"$1/data/pg_hba.conf" <<'END'
local all +locked scram-sha-256
local all all trust
local replication all trust
END
}

# Nothing here outlives its test: no fsync.  PostgreSQL 13 still made hashes with MD5.  With nothing but its socket the server can have the
# usual port, which clients need not be told.
postgres_launch() {
    POSTGRES_SOCKET=$1
    (cd "$1" && postgres_as_user postgres -D "$1/data" -k "$1" -p "$POSTGRES_PORT" -c listen_addresses= \
        -c password_encryption=scram-sha-256 -c fsync=off -c full_page_writes=off -c synchronous_commit=off -c shared_buffers=128MB \
        -c max_wal_size=2GB "${POSTGRES_OPTIONS[@]}") </dev/null >"$1/error.log" 2>&1 &
    POSTGRES_LAUNCHED=$!
    disown "$POSTGRES_LAUNCHED" # or bash reports its end in the middle of a test
}

postgres_launch_and_wait() {
    local i
    postgres_launch "$1"
    for ((i = 0; i < 600; i++)); do
        if postgres_answers; then
            read -r POSTGRES_PID <"$1/data/postmaster.pid"
            echo "$POSTGRES_PID" >"$1/started"
            return 0
        fi
        kill -0 "$POSTGRES_LAUNCHED" 2>/dev/null || break
        sleep 0.1
    done
    give_up "postgres: $(tail -n 3 "$1/error.log")"
}

postgres_start() {
    postgres_require
    postgres_install "$1"
    postgres_launch_and_wait "$1"
}

postgres_follow() {
    postgres_require
    postgres_make_directory "$1"
    (cd "$1" && postgres_as_user pg_basebackup --pgdata="$1/data" --host="$2" --port="$POSTGRES_PORT" \
        --username=postgres --write-recovery-conf --checkpoint=fast --no-sync >"$1/install.log" 2>&1) ||
        give_up "pg_basebackup: $(tail -n 3 "$1/install.log")"
    postgres_launch_and_wait "$1"
}

# SIGINT: it does not wait for sessions to end by themselves.
postgres_stop() {
    [ -n "${POSTGRES_PID:-}" ] || return 0
    kill -INT "$POSTGRES_PID" 2>/dev/null
    while kill -0 "$POSTGRES_PID" 2>/dev/null; do
        sleep 0.05
    done
    POSTGRES_PID=
}

postgres_discard() {
    postgres_stop
    rm -rf "$POSTGRES_DIRECTORY"
}

postgres_own_directory() {
    POSTGRES_DIRECTORY=$(mktemp -d "${TMPDIR:-/tmp}/fm.XXXXXX")
    chmod 755 "$POSTGRES_DIRECTORY"
    trap postgres_discard EXIT
}

postgres_shared() {
    postgres_require
    if [ -n "${FAIRMILL_TEST_POSTGRES:-}" ]; then
        POSTGRES_SOCKET=$FAIRMILL_TEST_POSTGRES
        read -r POSTGRES_PID <"$FAIRMILL_TEST_POSTGRES/started"
        postgres_answers || give_up "no server in $FAIRMILL_TEST_POSTGRES"
        return 0
    fi
    postgres_own_directory
    postgres_start "$POSTGRES_DIRECTORY"
}
