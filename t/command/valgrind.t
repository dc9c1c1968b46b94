#!/bin/bash
# SPDX-License-Identifier: MIT
# needs: sqlite valgrind
# Every command, on a site with everything a site has, touches no memory it should not and gives
# all of it back.
. "$(dirname "$0")/../lib/tap.sh"

command -v valgrind >/dev/null || skip_all "valgrind is not there"
! grep -q __asan_init "$FAIRMILL" || not_here "built with sanitizers, which valgrind cannot watch"

cd "$scratch" || exit 1
umask 022
now=1760000000
"$top/sql/demo/make-demo.py" accounting.db $now >/dev/null || exit 1
# More of the same jobs are more of the same steps.
[ -n "${FAIRMILL_LONG:-}" ] ||
    sqlite3 accounting.db "DELETE FROM demo_job_table WHERE time_end BETWEEN 1 AND $((now - 10 * 86400))" || exit 1
cat >fairmill.conf <<'END'
[source]
driver = sqlite
database = accounting.db
[results]
driver = sqlite
database = results.db
END

# What MySQL's library has for as long as it is loaded, to which nothing but its own tables point.
cat >suppressions <<'END'
{
   mysql_library_init
   Memcheck:Leak
   match-leak-kinds: possible
   ...
   fun:mysql_server_init
}
END

# STATEMENT EXPECTED COMMAND...: where FAIRMILL_LONG is not set only in the form that is its usual one.
watched() {
    local statement=$1 expected=$2
    shift 2
    [ -n "${FAIRMILL_LONG:-}" ] || ! [[ " $* " =~ ' '--(json|csv)' ' ]] || return 0
    status "$statement" "$expected" valgrind --quiet --read-inline-info=no --error-exitcode=99 --leak-check=full --suppressions=suppressions \
        --show-leak-kinds=definite,indirect,possible --errors-for-leak-kinds=definite,indirect,possible \
        "$FAIRMILL" -c fairmill.conf "$@"
}

watched "init is clean" 0 init
watched "a first run is clean" 0 run --now $now
watched "a second run is clean" 0 run --now $((now + 300))
watched "a refused run is clean" 64 run --now $now
watched "a dry run is clean" 0 run --now $now --dry-run
watched "check is clean" 0 check
mv accounting.db away.db
STATE_DIRECTORY=$scratch watched "a run that finds nothing to read is clean" 69 run
empty "and says nothing yet" "$err"
mv away.db accounting.db
watched "show is clean" 0 show
watched "show --json is clean" 0 show --json
watched "show --parsable is clean" 0 show --parsable --account physics
watched "show --pbs is clean" 0 show --pbs
watched "show --pbs of an entity is clean" 0 show --pbs chidi
watched "explain is clean" 0 explain chidi lars
watched "explain --jobs is clean" 0 explain --jobs chidi
watched "explain --json is clean" 0 explain --json --jobs chidi lars
watched "whatif is clean" 0 whatif --move chemistry=medicine --shares chidi=7 --remove-user anders \
    --add-usage hanna=10 --weights age=7
watched "whatif from the accounting database is clean" 0 whatif --half-life 14-0 --json --shares chidi=7
watched "a cycle is clean" 64 whatif --move science=physics
watched "forecast is clean" 0 forecast chidi --plot --until 0.5 --job 64x12h --days 3
watched "forecast --json is clean" 0 forecast physics --json --days 3
watched "explain of a user with two accounts is clean" 0 explain anders
watched "statement is clean" 0 statement --since 2000-01-01 --until now
watched "statement --json is clean" 0 statement --since 2000-01-01 --by week --accounts physics --of capacity --json
watched "compare is clean" 0 compare
watched "compare --csv is clean" 0 compare --csv --top 3
watched "compare --json is clean" 0 compare --json
"$FAIRMILL" -c fairmill.conf show --parsable >print
watched "diff is clean" 1 diff --at $((now + 600)) print
watched "diff --json is clean" 1 diff --at $now --json print
printf 'Account|User|RawUsage\nroot||x\n' >print
watched "a print that is none is clean" 65 diff --at $now print
watched "prio is clean" 0 prio
watched "prio --json is clean" 0 prio --json --sort u,-y
watched "prio with a format is clean" 0 prio --format '%.15i|%r' --user chidi
watched "a refused format is clean" 64 prio --format '%i %x'
watched "an entry is clean" 0 ledger reset --account physics --at $((now - 600)) --why test --yes
watched "a run that counts it is clean" 0 run --now $((now + 600)) --replace
watched "an export is clean" 0 ledger export ledger.json
watched "an import of what is there is clean" 0 ledger import ledger.json
echo '{"kind":"reset","id":1,"cluster":"x","covers":[1,2,"3"]}' >bad.json
watched "an import of a bad line is clean" 65 ledger import bad.json
python3 -c "import sqlite3; db = sqlite3.connect('results.db'); db.execute('DELETE FROM fairmill_ledger WHERE id = 1'); db.commit()"
watched "a list that lacks an entry is clean" 1 ledger list
watched "a run that lacks an entry is clean" 0 run --now $((now + 900)) --replace
watched "an import of what is lost is clean" 0 ledger import ledger.json
watched "an undo is clean" 0 ledger undo 1 --why test --yes

# The build with sanitizers has no drivers of servers.
for driver in $("$FAIRMILL" --version | sed -n 's/.*(drivers: \(.*\))$/\1/p'); do
    [ "$driver" != sqlite ] || continue
    sed "s/^driver = sqlite$/driver = $driver\nsocket = \/nonexistent\/s/" fairmill.conf >"$driver.conf"
    watched "tables and grants for $driver are clean" 0 -c "$driver.conf" init --print --cluster=tiny
    watched "a server that is down is clean ($driver)" 69 -c "$driver.conf" show
done

sed -i 's/^driver = sqlite$/driver = sqllite/' fairmill.conf
watched "refused settings are clean" 78 run
done_testing
