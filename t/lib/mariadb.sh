# shellcheck shell=bash
# SPDX-License-Identifier: MIT
# Throw-away MariaDB servers for tests, or MySQL's where FAIRMILL_TEST_SERVER is `mysql`; to be
# sourced by bash.
#
#   mariadb_shared          a server for this script: the one of the whole test run if
#                           FAIRMILL_TEST_MARIADB names its directory, else one of its own,
#                           which ends with the script.  Without the server's programs the
#                           script is skipped, or fails where CI is true.
#   mariadb_sql [OPTION]... [DATABASE]
#                           run the SQL of standard input as root
#   mariadb_is_mysql        whether it is MySQL's
#   mariadb_usual_socket    where such a server listens, and its clients look for it, unless they are told
#   mariadb_start DIR       a server in DIR, an absent or empty directory with a short path
#   mariadb_stop            end it
#
# MARIADB_CHARSET (latin1 or utf8mb4, the default) is what new databases get; arguments of the
# server beyond that go into the array MARIADB_OPTIONS.  All set MARIADB_SOCKET, MARIADB_PORT and
# MARIADB_PID.  Whoever shares a server makes databases and users under names of its own.

. "$(dirname "${BASH_SOURCE[0]}")/needs.sh"

MARIADB_OPTIONS=()

mariadb_is_mysql() {
    [ "${FAIRMILL_TEST_SERVER:-mariadb}" = mysql ]
}

if mariadb_is_mysql; then
    MARIADB_PROGRAMS=(mysqld mysql)
    MARIADB_CLIENT=(mysql --no-defaults)
else
    MARIADB_PROGRAMS=(mariadbd mariadb mariadb-install-db)
    # From 11.4 on it checks certificates, also behind a unix socket.
    MARIADB_CLIENT=(mariadb --no-defaults --skip-ssl)
fi

mariadb_require() {
    needs "${MARIADB_PROGRAMS[@]}"
}

mariadb_usual_socket() {
    "${MARIADB_PROGRAMS[0]}" --no-defaults --verbose --help 2>/dev/null | sed -n 's/^socket  *//p'
}

# shellcheck disable=SC2120 # scripts that source this pass them
mariadb_sql() {
    "${MARIADB_CLIENT[@]}" --socket="$MARIADB_SOCKET" --user=root --batch --skip-column-names "$@"
}

mariadb_answers() {
    echo 'SELECT 1' | mariadb_sql >/dev/null 2>&1
}

mariadb_free_port() {
    local port
    while :; do
        port=$((20000 + RANDOM % 12000))
        (: <"/dev/tcp/127.0.0.1/$port") 2>/dev/null || break
    done
    echo "$port"
}

# The server refuses to run as root.
mariadb_user() {
    if [ "$(id -u)" = 0 ]; then echo mysql; else id -un; fi
}

mariadb_install() {
    local command=(mariadb-install-db --no-defaults --datadir="$1/data" --tmpdir="$1/tmp" --user="$(mariadb_user)"
        --auth-root-authentication-method=normal --skip-test-db --skip-name-resolve
        --innodb-log-file-size=10M --innodb-flush-log-at-trx-commit=0)
    ! mariadb_is_mysql || command=(mysqld --no-defaults --datadir="$1/data" --tmpdir="$1/tmp" --user="$(mariadb_user)"
        --initialize-insecure --innodb-redo-log-capacity=10M)
    # A server that starts clears its folder for temporary tables, so each has its own.
    mkdir -p "$1/tmp"
    [ "$(id -u)" != 0 ] || chown mysql "$1" "$1/tmp"
    "${command[@]}" >"$1/install.log" 2>&1 ||
        give_up "${command[0]}: $(grep -m 1 '\[ERROR\]' "$1/install.log" || tail -n 3 "$1/install.log")"
}

# Nothing here outlives its test: no fsync, but a slurmdbd's patience with locks.
mariadb_launch() {
    local own=(--innodb-log-file-size=256M)
    # What MySQL does otherwise unless it is told; its library encrypts what goes over a unix socket,
    # too, and the proxy of tests must see into it.
    ! mariadb_is_mysql || own=(--innodb-redo-log-capacity=256M --mysqlx=OFF --skip-log-bin
        --tls-version= --secure-file-priv= --cte-max-recursion-depth=10000000)
    MARIADB_SOCKET=$1/s
    MARIADB_PORT=$(mariadb_free_port)
    "${MARIADB_PROGRAMS[0]}" --no-defaults --user="$(mariadb_user)" --datadir="$1/data" \
        --tmpdir="$1/tmp" --socket="$MARIADB_SOCKET" --pid-file="$1/pid" --bind-address=127.0.0.1 \
        --port="$MARIADB_PORT" --skip-name-resolve --log-error="$1/error.log" \
        --character-set-server="${MARIADB_CHARSET:-utf8mb4}" \
        --innodb-flush-log-at-trx-commit=0 --innodb-flush-method=nosync \
        --innodb-buffer-pool-size=256M --innodb-lock-wait-timeout=900 --performance-schema=off \
        "${own[@]}" "${MARIADB_OPTIONS[@]}" </dev/null >/dev/null 2>&1 &
    MARIADB_PID=$!
    disown "$MARIADB_PID" # or bash reports its end in the middle of a test
    echo "$MARIADB_PORT $MARIADB_PID" >"$1/started"
}

# Until it answers.  Another server may have taken the port since it was found to be free.
mariadb_launch_and_wait() {
    local i
    mariadb_launch "$1"
    for ((i = 0; i < 600; i++)); do
        ! mariadb_answers || return 0
        if ! kill -0 "$MARIADB_PID" 2>/dev/null; then
            grep -q 'Bind on TCP/IP port.*in use' "$1/error.log" || break
            mv "$1/error.log" "$1/error-$MARIADB_PORT.log"
            mariadb_launch "$1"
        fi
        sleep 0.1
    done
    give_up "${MARIADB_PROGRAMS[0]}: $(tail -n 3 "$1/error.log")"
}

mariadb_start() {
    mariadb_require
    [ ${#1} -lt 90 ] || give_up "$1 is too long a path for a socket"
    mariadb_install "$1"
    mariadb_launch_and_wait "$1"
}

mariadb_stop() {
    [ -n "${MARIADB_PID:-}" ] || return 0
    kill "$MARIADB_PID" 2>/dev/null
    while kill -0 "$MARIADB_PID" 2>/dev/null; do
        sleep 0.05
    done
    MARIADB_PID=
}

mariadb_discard() {
    mariadb_stop
    rm -rf "$MARIADB_DIRECTORY"
}

mariadb_shared() {
    mariadb_require
    if [ -n "${FAIRMILL_TEST_MARIADB:-}" ]; then
        MARIADB_SOCKET=$FAIRMILL_TEST_MARIADB/s
        read -r MARIADB_PORT MARIADB_PID <"$FAIRMILL_TEST_MARIADB/started"
        mariadb_answers || give_up "no server in $FAIRMILL_TEST_MARIADB"
        return 0
    fi
    MARIADB_DIRECTORY=$(mktemp -d "${TMPDIR:-/tmp}/fm.XXXXXX")
    chmod 755 "$MARIADB_DIRECTORY"
    trap mariadb_discard EXIT
    # MySQL's plugin for logins by socket is not loaded by itself.
    ! mariadb_is_mysql || MARIADB_OPTIONS+=(--plugin-load-add=auth_socket.so)
    mariadb_start "$MARIADB_DIRECTORY"
}
