#!/bin/sh
# SPDX-License-Identifier: MIT
#
# Sets up fairmill on this host.  `fairmill setup` printed this script.  Read it, then run it as root:
#
#     sudo sh setup.sh
#
# You can run it again: each step first tests whether it is done.  The script never changes existing
# settings, logins and files.  At the end, it lists what it did, what it left alone, and what remains
# for you to do.
#
#@findings

set -eu
cd /
umask 022

# Conclusions.  Correct a value here if it is wrong.
fairmill=@fairmill@ # the program
conf=@conf@ # the settings
database=@database@ # slurmdbd's database
results=@results@ # the database system of the results
#@if remote
host=@host@ # the server of slurmdbd's database
port=@port@
tls=@tls@ # required if the server offers TLS; verify_full also checks its certificate, and needs tls_ca
#@end
#@unless remote
socket=@socket@ # of the server of slurmdbd's database
client=@client@ # the client program of this server; connects as its administrator
read_first=no # yes: stop before the SQL is executed, so that you can read it
#@end
#@if results=pgsql
pgsocket=@pgsocket@ # the directory of PostgreSQL's socket
pgport=@pgport@
#@end
clusters=@clusters@ # names, separated by commas; empty: all clusters in the accounting database
slurm=@slurm@ # a slurm.conf, or auto for the file of Slurm's commands; empty: none

directory=${conf%/*}
reader=$directory/reader.conf
state=/var/lib/fairmill
page=/var/lib/fairmill-report
#@if metrics
textfiles=@metrics@ # where node_exporter reads metrics
metrics=/var/lib/fairmill-metrics
group=@metrics_group@ # of node_exporter
#@end
#@if apache
apache=@apache@ # a directory of Apache's configuration
#@end
#@if nginx
nginx=@nginx@ # a directory of nginx's configuration
#@end

scratch=$(mktemp -d) # readable only by root, because it may hold passwords
trap 'status=$?; rm -rf "$scratch"; [ $status = 0 ] || echo "setup: not complete; you can run this script again" >&2' EXIT
touch "$scratch/did" "$scratch/kept" "$scratch/next"

did() {
    echo "setup: $1"
    echo "  $1" >>"$scratch/did"
}
kept() { echo "  $1" >>"$scratch/kept"; }
next() { echo "  $1" >>"$scratch/next"; }

summary() {
    for list in 'did:Done:' 'kept:Left alone, because it exists:' 'next:For you to do:'; do
        [ ! -s "$scratch/${list%%:*}" ] || { echo "${list#*:}"; cat "$scratch/${list%%:*}"; }
    done
}

# stop MESSAGE...: ends the script; you can run it again.
stop() {
    summary
    echo "setup: stopped:" >&2
    printf '  %s\n' "$@" >&2
    exit 1
}

# put PATH MODE GROUP: creates a file from standard input, unless it exists.
put() {
    cat >"$scratch/file"
    if [ ! -e "$1" ]; then
        install -D -m "$2" -g "$3" "$scratch/file" "$1"
        did "wrote $1"
    elif cmp -s "$scratch/file" "$1"; then
        kept "$1"
    else
        kept "$1, which differs from the text in this script"
    fi
}

# new_directory PATH MODE GROUP
new_directory() {
    [ -d "$1" ] || { install -d -o fairmill -g "$3" -m "$2" "$1" && did "created $1"; }
}

# Runs fairmill as its own user, with the settings $settings.
as_fairmill() { runuser -u fairmill -- env HOME="$home" "$fairmill" -c "$settings" "$@"; }

# A password that satisfies the usual rules of servers.  It never appears on a command line.
new_password() { echo "Fm-$(od -An -N24 -tx1 /dev/urandom | tr -d ' \n')"; }

# password_in FILE: prints the password in an option file of MySQL.  Creates the file if it does not exist.
password_in() {
    [ -e "$1" ] || printf '[client]\npassword = "%s"\n' "$(new_password)" | put "$1" 640 fairmill >&2
    sed -n 's/^password *= *"\{0,1\}\([^"]*\)"\{0,1\}$/\1/p' "$1" | grep -x "[^'\\]\{1,\}" ||
        stop "cannot use the password in $1; it must not be empty or contain quotes or backslashes" >&2
}

# setting_of_results KEY FILE: prints a value of the section [results].
setting_of_results() { sed -n "/^\[results\]/,/^\[/s/^$1 *= *//p" "$2"; }


# ---- Before anything is changed ----

[ "$(id -u)" = 0 ] || stop 'this script needs root; run it with sudo'
[ -x "$fairmill" ] || stop "there is no program '$fairmill'; correct the line that begins with fairmill="
#@unless remote
[ -n "$socket" ] || stop 'no server of MariaDB or MySQL answers on this host' \
    'start the server, then print this script again, or correct the line that begins with socket='
sql() { "$client" --socket="$socket" --batch --skip-column-names "$@"; }
sql -e 'SELECT 1' >/dev/null || stop "'$client' cannot connect as an administrator to the server at $socket" \
    'write user and password to .my.cnf in the home directory of root, then run this script again'
sql -e 'SELECT COUNT(*) FROM cluster_table' "$database" >/dev/null || stop "the server has no database '$database' of slurmdbd" \
    'start slurmdbd once, or correct the line that begins with database='
#@end
#@if results=pgsql
pgsql() { runuser -u postgres -- env PGOPTIONS='-c client_min_messages=warning' psql -X -q -A -t -v ON_ERROR_STOP=1 -h "$pgsocket" -p "$pgport" "$@"; }
pgsql -c 'SELECT 1' postgres >/dev/null || stop "the user postgres cannot connect to PostgreSQL at $pgsocket"
#@end
driver=$results
[ ! -e "$conf" ] || driver=$(setting_of_results driver "$conf")
[ "$driver" = "$results" ] || stop "$conf exists, and publishes to $driver" "print this script with --results $driver"


# ---- 1. User and directories ----

if getent passwd fairmill >/dev/null; then
    kept 'the user fairmill'
else
    useradd --system --user-group --home-dir "$state" --shell /usr/sbin/nologin fairmill
    did 'created the user fairmill'
fi
home=$(getent passwd fairmill | cut -d: -f6)
new_directory "$state" 750 fairmill
new_directory "$page" 755 fairmill
[ -d "$directory" ] || install -d "$directory"


# ---- 2. Settings ----

# New settings have a temporary name until the first run has succeeded, so that neither a timer nor
# cron starts a run before.  Users other than fairmill may not read them; they ask through the socket.
if [ -e "$conf" ]; then
    kept "the settings $conf"
    settings=$conf
else
    settings=$conf.setup
#@if remote
    server="host = $host
port = $port
user = fairmill
option_file = $directory/fairmill.cnf${tls:+
tls_mode = $tls}"
#@end
#@unless remote
    server="socket = $socket"
#@end
    cat >"$scratch/settings" <<END
# Settings of fairmill; fairmill.conf(5) describes all of them.

[source]
driver = mysql
database = $database
$server${clusters:+
clusters = $clusters}

[results]
driver = $results
#@if results=mysql
database = fairmill
$server
#@end
#@if results=pgsql
database = fairmill
socket = $pgsocket
port = $pgport
#@end
#@if results=sqlite
database = $state/results.db
#@end
${slurm:+
# Priorities, half-life and privacy.
[slurm]
conf = $slurm}
END
    if [ -e "$settings" ] && ! cmp -s "$scratch/settings" "$settings"; then
        stop "$settings, of an earlier script, differs from the settings in this script" \
            "delete it, or rename it to $conf to use it as it is"
    fi
    put "$settings" 640 fairmill <"$scratch/settings"
fi
# Existing settings may have other names than the ones above.
tables=$(setting_of_results database "$settings")
login=$(setting_of_results user "$settings")
login=${login:-fairmill}
[ -n "$slurm" ] || next "copy half_life and the weights of slurm.conf to $conf; see fairmill.conf(5)"


# ---- 3. Databases: tables, roles, logins and privileges ----

# The parts of the SQL that `fairmill init --print` prints: first the results, then the accounting database.
sql_of_results() { sed '/^-- Privileges to read/,$d' "$scratch/sql"; }
sql_of_source() { sed -n '/^-- Privileges to read/,$p' "$scratch/sql"; }

# True if the tables exist and the login may read and write what it needs.
databases_are_ready() {
    as_fairmill init >"$scratch/init" 2>&1 && as_fairmill check >"$scratch/check" 2>&1 &&
        ! grep -q 'the login cannot read' "$scratch/check"
}

#@if remote
# The logins need passwords, which are in these files.
password=$(password_in "$directory/fairmill.cnf")
#@if results=mysql
reader_password=$(password_in "$directory/reader.cnf")
#@end
order=$directory/fairmill-setup.sql # the SQL for the other host
if databases_are_ready; then
    kept "the login, the tables and the privileges on $host"
    rm -f "$order"
else
    [ -n "$clusters" ] || stop 'the names of the clusters are unknown; write them to the line that begins with clusters='
    as_fairmill init --print --cluster "$clusters" >"$scratch/sql"
    cat >"$scratch/sed" <<END
s/^-- First: CREATE USER \(.*\) IDENTIFIED BY '[.]*'\(.*\)/CREATE USER IF NOT EXISTS \1 IDENTIFIED BY '$password'\2;/
END
    (
        umask 077
        {
            echo "-- For the administrator of the databases on $host.  Contains passwords."
#@if results=mysql
            sed -f "$scratch/sed" "$scratch/sql"
            from=$(sed -n "s/^-- First: CREATE USER '.*'@\('.*'\) IDENTIFIED.*/\1/p" "$scratch/sql" | head -n 1)
            cat <<END
CREATE USER IF NOT EXISTS 'fairmill_reader_login'@$from IDENTIFIED BY '$reader_password' WITH MAX_USER_CONNECTIONS 64;
GRANT fairmill_reader TO 'fairmill_reader_login'@$from;
SET DEFAULT ROLE fairmill_reader /*M! FOR */ /*!80000 TO */ 'fairmill_reader_login'@$from;
END
#@end
#@unless results=mysql
            sql_of_source | sed -f "$scratch/sed"
#@end
        } >"$order"
    )
#@if results=pgsql
    sql_of_results | pgsql postgres >/dev/null
#@end
    databases_are_ready || {
        cat "$scratch/init" "$scratch/check" >&2 2>/dev/null || :
        stop "the login, the tables or the privileges on $host are not complete" \
            "copy $order to $host and execute it there as an administrator of the databases:" \
            '    mariadb < fairmill-setup.sql          # or mysql' \
            'then delete the copy there and run this script again'
    }
fi
#@end
#@unless remote
# Logins through the socket need a plugin, which MySQL and old releases of MariaDB do not load at startup.
load_plugin() {
    case $(sql -e 'SELECT VERSION()') in *MariaDB*) plugin=unix_socket ;; *) plugin=auth_socket ;; esac
    found=$(sql -e "SELECT COUNT(*) FROM information_schema.plugins WHERE plugin_name = '$plugin' AND plugin_status = 'ACTIVE'")
    [ "$found" = 1 ] || { sql -e "INSTALL PLUGIN $plugin SONAME 'auth_socket.so'" && did "loaded the plugin $plugin"; }
}

load_sql() {
#@if results=mysql
    sql <"$scratch/sql"
#@end
#@unless results=mysql
    sql_of_source | sql
#@end
#@if results=pgsql
    sql_of_results | pgsql postgres >/dev/null
#@end
}

#@unless results=sqlite
# Tables of an earlier release: `init` upgrades them if the login has the role of their owner meanwhile.
upgrade_tables() {
#@if results=mysql
    old=$(sql -e "SELECT COUNT(*) FROM information_schema.tables WHERE table_schema = '$tables' AND table_name = 'fairmill_run'")
    [ "$old" = 1 ] || return 0
    sql -e "GRANT fairmill_owner TO $login@localhost; SET DEFAULT ROLE fairmill_owner /*M! FOR */ /*!80000 TO */ $login@localhost"
#@end
#@if results=pgsql
    [ "$(pgsql -c "SELECT COUNT(*) FROM pg_database WHERE datname = '$tables'" postgres)" = 1 ] || return 0
    [ "$(pgsql -c "SELECT to_regclass('fairmill_run') IS NOT NULL" "$tables")" = t ] || return 0
    pgsql -c "GRANT fairmill_owner TO $login" postgres
#@end
    upgraded=yes
    as_fairmill init || upgraded=no
#@if results=mysql
    sql -e "REVOKE fairmill_owner FROM $login@localhost"
#@end
#@if results=pgsql
    pgsql -c "REVOKE fairmill_owner FROM $login" postgres
#@end
    [ "$upgraded" = yes ] || stop 'the result tables cannot be upgraded; the message above contains the reason'
    did 'upgraded the tables'
}
#@end

if databases_are_ready; then
    kept 'the login, the tables and the privileges'
else
    names=$clusters
    [ -n "$names" ] || names=$(sql -e 'SELECT GROUP_CONCAT(name) FROM cluster_table WHERE deleted = 0' "$database")
    [ "$names" != NULL ] || stop "slurmdbd has no cluster yet; run \`sacctmgr add cluster NAME\`, then this script again"
    as_fairmill init --print --cluster "$names" >"$scratch/sql"
    if [ "$read_first" = yes ]; then
        install -m 600 "$scratch/sql" "$directory/fairmill-setup.sql"
        stop "read the SQL in $directory/fairmill-setup.sql, write no to the line that begins with read_first=, and" \
            'run this script again'
    fi
    load_plugin
#@unless results=sqlite
    upgrade_tables
#@end
    load_sql
#@if results=sqlite
    as_fairmill init
#@end
    databases_are_ready || {
        cat "$scratch/init" "$scratch/check" >&2 2>/dev/null || :
        stop 'the databases are not ready; the messages above contain the reason'
    }
    did "completed the login, the tables and the privileges for cluster $names"
fi
#@end


# ---- 4. The first run, and a year of history ----

# Values of other settings, or of an earlier release, are computed again.
if grep -q 'next: run `fairmill run\|with other settings than these' "$scratch/check"; then
    as_fairmill run -v
    did 'computed and published the values; `fairmill show` prints them'
    as_fairmill check >"$scratch/check" 2>&1 || :
else
    kept 'the published values'
fi
if grep -q 'next: run `fairmill backfill' "$scratch/check"; then
    echo 'setup: computing the history of a year; with millions of jobs, this takes minutes'
    as_fairmill backfill --since "$(date -d '1 year ago' +%Y-%m-%d)"
    did 'computed the history of a year; `fairmill history` prints it'
fi
if [ "$settings" != "$conf" ]; then
    mv "$settings" "$conf"
    settings=$conf
    did "put the settings in place: $conf"
fi


# ---- 5. A login that only reads, for the socket ----

if [ -e "$reader" ]; then
    kept "$reader and its login"
else
#@if results=mysql
#@unless remote
    password=$(password_in "$directory/reader.cnf")
    if [ "$(sql -e "SELECT COUNT(*) FROM mysql.user WHERE user = 'fairmill_reader_login' AND host = 'localhost'")" = 0 ]; then
        sql <<END
CREATE USER fairmill_reader_login@localhost IDENTIFIED BY '$password' WITH MAX_USER_CONNECTIONS 64;
GRANT fairmill_reader TO fairmill_reader_login@localhost;
SET DEFAULT ROLE fairmill_reader /*M! FOR */ /*!80000 TO */ fairmill_reader_login@localhost;
END
        did 'created the login fairmill_reader_login'
    else
        kept 'the login fairmill_reader_login'
    fi
#@end
    {
        printf '[results]\ndriver = mysql\ndatabase = %s\nuser = fairmill_reader_login\noption_file = %s\n' "$tables" "$directory/reader.cnf"
#@if remote
        printf 'host = %s\nport = %s\n' "$host" "$port"
        [ -z "$tls" ] || echo "tls_mode = $tls"
#@end
#@unless remote
        printf 'socket = %s\n' "$socket"
#@end
    } | put "$reader" 640 fairmill
#@end
#@if results=pgsql
    # libpq reads the password from this file.  The connection uses TCP, because PostgreSQL usually accepts
    # passwords there, and through the socket only logins with the name of the system's user.
    service=$home/.pg_service.conf
    [ -e "$service" ] || printf '[fairmill_reader]\nhost=127.0.0.1\nport=%s\nuser=fairmill_reader_login\npassword=%s\n' \
        "$pgport" "$(new_password)" | put "$service" 640 fairmill
    password=$(sed -n '/^\[fairmill_reader\]/,/^password=/s/^password=//p' "$service")
    [ -n "$password" ] || stop "'$service' has no section [fairmill_reader] with a password"
    if [ "$(pgsql -c "SELECT COUNT(*) FROM pg_roles WHERE rolname = 'fairmill_reader_login'" postgres)" = 0 ]; then
        pgsql postgres <<END
CREATE ROLE fairmill_reader_login LOGIN PASSWORD '$password' CONNECTION LIMIT 64;
GRANT fairmill_reader TO fairmill_reader_login;
END
        did 'created the login fairmill_reader_login'
    else
        kept 'the login fairmill_reader_login'
    fi
    printf '[results]\ndriver = pgsql\ndatabase = %s\nservice = fairmill_reader\n' "$tables" | put "$reader" 640 fairmill
#@end
#@if results=sqlite
    printf '[results]\ndriver = sqlite\ndatabase = %s\n' "$tables" | put "$reader" 640 fairmill
#@end
fi
settings=$reader
as_fairmill show >/dev/null 2>"$scratch/show" || {
    cat "$scratch/show" >&2
    next "correct $reader or its login: the message above contains the reason"
}
settings=$conf
case $(stat -c %A "$conf") in
*r--) next "let users ask through the socket: chgrp fairmill $conf && chmod 640 $conf" ;;
esac


# ---- 6. Runs every five minutes, a weekly verification, the socket, the page, and metrics ----

#@if metrics
# The metrics contain user names, so only the group of node_exporter may read them.
new_directory "$metrics" 2750 "$group"
[ -e "$metrics/fairmill.prom" ] || { as_fairmill metrics -o "$metrics/fairmill.prom" && did "wrote $metrics/fairmill.prom"; }
[ -e "$textfiles/fairmill.prom" ] || [ -L "$textfiles/fairmill.prom" ] || {
    ln -s "$metrics/fairmill.prom" "$textfiles/fairmill.prom" && did "linked $textfiles/fairmill.prom"
}
#@end
#@if systemd
systemctl cat fairmill.timer >/dev/null 2>&1 || stop 'systemd does not know fairmill.timer' \
    'install the package fairmill-systemd (Enterprise Linux), or build with --with-systemdsystemunitdir;' \
    'then run this script again'
#@if metrics
put /etc/systemd/system/fairmill.service.d/metrics.conf 644 root <<END
[Service]
ReadWritePaths=$metrics
ExecStopPost=$fairmill metrics -o $metrics/fairmill.prom
END
systemctl daemon-reload
#@end
for unit in fairmill-report.service fairmill.timer fairmill-verify.timer fairmill.socket; do
    if systemctl is-enabled --quiet "$unit" 2>/dev/null; then
        kept "$unit, which is enabled"
    elif systemctl enable --quiet "$unit"; then
        did "enabled $unit"
    else
        next "install and enable $unit"
        continue
    fi
    case $unit in
    *.service) ;;
    *) systemctl is-active --quiet "$unit" || { systemctl start "$unit" && did "started $unit"; } ;;
    esac
done
[ -e "$page/index.html" ] || ! systemctl cat fairmill-report.service >/dev/null 2>&1 || {
    systemctl start fairmill-report.service && did "wrote the page $page/index.html"
}
#@end
#@unless systemd
put /etc/cron.d/fairmill 644 root <<END
# Computes and publishes fairshare values every five minutes, and verifies them every week.
SHELL=/bin/sh
MAILTO=root

*/5 * * * * fairmill [ ! -x $fairmill ] || $fairmill run
17 4 * * 0 fairmill [ ! -x $fairmill ] || $fairmill verify --noheader
END
put /etc/cron.d/fairmill-page 644 root <<END
# Writes the page of fairshare values after each run.
SHELL=/bin/sh
MAILTO=root

2-59/5 * * * * fairmill [ ! -x $fairmill ] || $fairmill report --output $page/index.html
END
#@if metrics
put /etc/cron.d/fairmill-metrics 644 root <<END
# Writes metrics for node_exporter after each run.
SHELL=/bin/sh
MAILTO=root

2-59/5 * * * * fairmill [ ! -x $fairmill ] || $fairmill metrics -o $metrics/fairmill.prom
END
#@end
[ -e "$page/index.html" ] || { as_fairmill report --output "$page/index.html" && did "wrote the page $page/index.html"; }
next 'users ask through /run/fairmill/socket, which needs systemd or another listener; see fairmill-answer(8)'
#@end


# ---- 7. The page on a web server ----

#@if apache
# Apache shows the page to this host only.  Add the clients that may see the values of all users.
put "$apache/fairmill.conf" 644 root <<END
Alias /fairmill $page
<Directory $page>
    Options None
    AllowOverride None
    Require local
</Directory>
END
#@if a2enconf
[ -e /etc/apache2/conf-enabled/fairmill.conf ] || { a2enconf -q fairmill && did 'enabled the page in Apache: http://localhost/fairmill/'; }
#@end
if grep -q "wrote $apache/\\|page in Apache" "$scratch/did"; then
#@if systemd
    systemctl try-reload-or-restart apache2.service 2>/dev/null || systemctl try-reload-or-restart httpd.service || next 'reload Apache'
#@end
#@unless systemd
    apachectl graceful || next 'reload Apache'
#@end
fi
#@if systemd
systemctl is-active --quiet apache2.service || systemctl is-active --quiet httpd.service || next 'start Apache, which does not run'
#@end
next "name in $apache/fairmill.conf the hosts that may read the page"
#@end
#@if nginx
# nginx shows the page to this host only.  Add the clients that may see the values of all users.
put "$nginx/fairmill.conf" 644 root <<END
location /fairmill/ {
    alias $page/;
    allow 127.0.0.1;
    deny all;
}
END
next "write \`include $nginx/fairmill.conf;\` into a server block of nginx, and reload nginx"
#@end
#@unless web
next "let a web server serve $page, only to users who may see the values of all users"
#@end


# ---- 8. The result ----

status=0
as_fairmill check >"$scratch/check" 2>&1 || status=$?
summary
if [ "$status" != 0 ] || grep -q '^  warning: \|^  finding \|^next: ' "$scratch/check"; then
    echo "fairmill check:"
    if [ "$status" != 0 ]; then cat "$scratch/check"; else grep '^  warning: \|^  finding \|^next: ' "$scratch/check"; fi
else
    echo 'setup: complete; `fairmill check` has no warnings'
fi
exit "$status"
