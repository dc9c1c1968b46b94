#!/bin/bash
# SPDX-License-Identifier: MIT
# needs: sqlite mysql pgsql
# The commands of doc/production.md for MariaDB, MySQL and PostgreSQL do what it says, as they stand there: in a
# system of its own, with the server at its usual socket.  What systemd does is left out.
. "$(dirname "$0")/../lib/own_system.sh"
. "$top/t/lib/mariadb.sh"
. "$top/t/lib/postgres.sh"
build=${top_builddir:-$top/build}
mariadb_require
postgres_require
own_system


# ---- a system with a server ----

# The server asks the system that it runs in who comes through its socket.
cp "$top"/t/lib/{needs,mariadb,postgres}.sh "$root/run"
# shellcheck disable=SC2016,SC2154 # it is the inner shell's
chroot "$root" bash -c '. /run/mariadb.sh; mariadb_start /run/fm && usual=$(mariadb_usual_socket) &&
    mkdir -p "$(dirname "$usual")" && ln -s /run/fm/s "$usual" && echo "$MARIADB_PID" >/run/fm/ours' >"$out" 2>&1 </dev/null
if [ ! -s "$root/run/fm/ours" ]; then
    failed "a server starts there" "$(cat "$out")"
    done_testing
fi
# FILE: with the server's process in it.
end_server() {
    kill "$(cat "$1")"
    while kill -0 "$(cat "$1")" 2>/dev/null; do
        sleep 0.05
    done
}
server_leave() {
    end_server "$root/run/fm/ours"
    own_system_leave
}
trap server_leave EXIT

root_sql() {
    chroot "$root" "${MARIADB_CLIENT[@]}" --socket=/run/fm/s --batch --skip-column-names "$@"
}
root_sql -e 'CREATE DATABASE slurm_acct_db'
PYTHONPATH=$top/t/lib python3 -B -c 'import dump; print(dump.text_of("25.05"))' >"$scratch/dump.sql"
root_sql slurm_acct_db <"$scratch/dump.sql"
root_sql slurm_acct_db -e "DELETE FROM cluster_table WHERE name <> 'alpha'"

install -m 755 "$build/fairmill" "$root/usr/bin/fairmill"
inside userdel fairmill >/dev/null 2>&1
rm -rf "$root/etc/fairmill" "$root/var/lib/fairmill"
cat >"$root/usr/bin/sudo" <<'SUDO'
#!/bin/sh
case $1 in -u | -iu) user=$2; shift 2; exec runuser -u "$user" -- "$@" ;; esac
exec "$@"
SUDO
chmod 755 "$root/usr/bin/sudo"
mkdir -p "$root/work" "$root/etc/cron.d"
cp -r "$top/etc" "$top/cron" "$root/work"


# ---- the page ----

# The commands of a step of the page, from its heading to the next; one may go on in the next line.
commands() {
    sed -n "/^\*\*$1\>/,/^\(\*\*\|## \)/p" "$top/doc/production.md" | sed -n '1p; /^\*\*/!p' |
        sed -n 's/^    //p' | grep -vE 'systemctl|INSTALL PLUGIN'
}

# All of them in one shell, as root; the first that fails ends it.  Step 2 says what the client is.
follow() {
    {
        echo 'set -e'
        grep -m 1 '^    client=' "$top/doc/production.md"
        commands "$1"
    } >"$root/work/commands"
    # A build of ours may look for its settings below another prefix than a package.
    chroot "$root" /usr/bin/env -i PATH=/usr/sbin:/usr/bin:/sbin:/bin LC_ALL=C.UTF-8 \
        FAIRMILL_CONF=/etc/fairmill/fairmill.conf bash -c 'cd /work && exec bash commands' </dev/null >"$out" 2>"$err"
}

# step HEADING WORD STATEMENT: its commands, one of which has this word, work.
step() {
    ok "the page has step $1" grep -qF "$2" <<<"$(commands "$1")"
    if follow "$1"; then ok "$3" true; else failed "$3" "$(cat "$out" "$err")"; fi
}

settings=$root/etc/fairmill/fairmill.conf
step 1 useradd "a user and settings"
ok "without a slurm.conf, the settings name none" grep -q '^#conf =' "$settings"
for conf in run/slurm/conf etc/slurm; do
    inside userdel fairmill
    mkdir -p "$root/$conf"
    echo ClusterName=alpha >"$root/$conf/slurm.conf"
    step 1 useradd "the same with /$conf/slurm.conf"
    ok "after which the settings name it" grep -q '^conf = auto' "$settings"
    rm "$root/$conf/slurm.conf"
done
inside userdel fairmill
mkdir -p "$root/usr/share/doc/fairmill/examples"
{ cat "$top/etc/fairmill.conf"; echo '# from the package'; } >"$root/usr/share/doc/fairmill/examples/fairmill.conf"
step 1 useradd "a user and settings from the package"
ok "which are those that the package has installed" grep -q '^# from the package' "$settings"
if mariadb_is_mysql; then
    follow 2
    ok "MySQL says that its plugin is not loaded" grep -q "Plugin 'auth_socket' is not loaded" "$err"
    plugin=$(sed -n 's/^    \(sudo .*INSTALL PLUGIN.*\)/\1/p' "$top/doc/production.md")
    chroot "$root" bash -c "$plugin" </dev/null >"$out" 2>"$err"
    empty "the page's command loads it" "$err"
fi
step 2 "init --print" "a login, tables, and privileges"
step 3 check "nothing is left for init to make, and check finds all that a run needs"
step 4 "run -v" "a run, and its results"
account=$(root_sql slurm_acct_db -e "SELECT max(acct) FROM alpha_assoc_table WHERE deleted = 0 AND acct <> 'root'")
ok "which are there" grep -qw "$account" "$out"
step 5 fairmill.cron "a line for cron"
is "who runs has the role of a writer only" \
    "$(root_sql -e 'SHOW GRANTS FOR fairmill@localhost' | grep -oE 'fairmill_(owner|writer|reader)' | sort -u)" \
    fairmill_writer
step 7 fairmill_reader "a reader"
is "who can read the results at once" \
    "$(chroot "$root" "${MARIADB_CLIENT[@]}" --socket=/run/fm/s --user=portal --password=secret --batch --skip-column-names \
        fairmill -e 'SELECT count(*) > 0 FROM fairmill_fairshare')" 1
step 8 reader.conf "a login for the socket"
is "which reads results with a password" \
    "$(chroot "$root" runuser -u fairmill -- fairmill -c /etc/fairmill/reader.conf show --parsable | grep -c "|$account|\|^$account|")" \
    "$(chroot "$root" runuser -u fairmill -- fairmill -c /etc/fairmill/fairmill.conf show --parsable | grep -c "|$account|\|^$account|")"
is "and nobody else may read the settings" \
    "$(chroot "$root" runuser -u nobody -- fairmill -c /etc/fairmill/fairmill.conf show 2>&1 | grep -c 'Permission denied')" 1
step "After an upgrade" fairmill_owner "an upgrade"
is "after which who runs is a writer only again" \
    "$(root_sql -e 'SHOW GRANTS FOR fairmill@localhost' | grep -oE 'fairmill_(owner|writer|reader)' | sort -u)" \
    fairmill_writer
step 4 "run -v" "and runs go on"


# ---- results in PostgreSQL ----

mkdir -p "$root/run/postgresql"
# shellcheck disable=SC2016 # it is the inner shell's
chroot "$root" bash -c '. /run/postgres.sh; postgres_find; postgres_start /run/pg &&
    ln -s /run/pg/.s.PGSQL.5432 /run/postgresql/ && echo "$POSTGRES_PID" >/run/pg/ours' >"$out" 2>&1 </dev/null
if [ ! -s "$root/run/pg/ours" ]; then
    failed "a PostgreSQL server starts there" "$(cat "$out")"
    done_testing
fi
postgres_leave() {
    end_server "$root/run/pg/ours"
    server_leave
}
trap postgres_leave EXIT
sed -i '/^\[results\]/,/^\[/s/^driver = mysql/driver = pgsql/' "$root/etc/fairmill/fairmill.conf"

# The part of that name, without its settings, which are those above.
commands() {
    sed -n "/^## $1/,/^## /p" "$top/doc/production.md" | sed -n 's/^    //p' | sed '/^\[results\]/,/^database/d'
}
step "Results in PostgreSQL" "psql -v" "the commands for PostgreSQL"
is "a login for the socket has its limit" \
    "$(chroot "$root" runuser -u postgres -- psql -Atqc \
        "SELECT rolconnlimit FROM pg_roles WHERE rolname = 'fairmill_reader_login'" </dev/null 2>"$err")" 64
status "then a run" 0 chroot "$root" runuser -u fairmill -- fairmill -c /etc/fairmill/fairmill.conf run
ok "publishes there" test "$(chroot "$root" runuser -u postgres -- psql -U portal -Atqc \
    'SELECT count(*) FROM fairmill_fairshare' fairmill </dev/null 2>"$err")" -gt 1
done_testing
