#!/usr/bin/env -S python3 -B
# SPDX-License-Identifier: MIT
# needs: sqlite valgrind
"""Every command, on a site with everything a site has, touches no memory it should not and gives
all of it back."""

import os
import re
import sqlite3
import sys

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), '..', 'lib'))
import tap
from commands import TOP, Commands, read, write
from program import DRIVERS, FAIRMILL, has_sanitizers, sqlite_settings, write_settings

NOW = 1760000000
LONG = os.environ.get('FAIRMILL_LONG')
# What MySQL's library has for as long as it is loaded, to which nothing but its own tables point.
SUPPRESSIONS = """{
   mysql_library_init
   Memcheck:Leak
   match-leak-kinds: possible
   ...
   fun:mysql_server_init
}
"""
VALGRIND = ('valgrind', '--quiet', '--read-inline-info=no', '--error-exitcode=99', '--leak-check=full', '--suppressions=suppressions',
            '--show-leak-kinds=definite,indirect,possible', '--errors-for-leak-kinds=definite,indirect,possible')


class Site(Commands):
    def __enter__(self):
        super().__enter__()
        self.printed(f'{TOP}/sql/demo/make-demo.py', 'accounting.db', NOW)
        if not LONG:  # more of the same jobs are more of the same steps
            self.change('accounting.db', f'DELETE FROM demo_job_table WHERE time_end BETWEEN 1 AND {NOW - 10 * 86400}')
        write_settings(self.path('fairmill.conf'), dict(sqlite_settings('accounting.db', 'results.db'), report={}))
        write(self.path('suppressions'), SUPPRESSIONS)
        return self

    def change(self, database, text):
        db = sqlite3.connect(self.path(database))
        db.execute(text)
        db.commit()
        db.close()

    def watched(self, statement, status, *arguments, **more):
        """Where FAIRMILL_LONG is not set only in the form that is its usual one."""
        if LONG or not {'--json', '--csv'} & set(arguments):
            self.command_ends(status, f'{statement} clean', *VALGRIND, FAIRMILL, '-c', 'fairmill.conf', *arguments, **more)


def runs(site):
    site.watched('init is', 0, 'init')
    site.watched('a first run is', 0, 'run', '--now', NOW)
    site.watched('a second run is', 0, 'run', '--now', NOW + 300)
    site.watched('a refused run is', 64, 'run', '--now', NOW)
    site.watched('a dry run is', 0, 'run', '--now', NOW, '--dry-run')
    site.watched('check is', 0, 'check')
    os.rename(site.path('accounting.db'), site.path('away.db'))
    site.watched('a run that finds nothing to read is', 69, 'run', env=dict(os.environ, STATE_DIRECTORY=site.folder))
    tap.empty(site.err, 'and says nothing yet')
    os.rename(site.path('away.db'), site.path('accounting.db'))


def answers(site):
    site.watched('show is', 0, 'show')
    site.watched('show --json is', 0, 'show', '--json')
    site.watched('show --parsable is', 0, 'show', '--parsable', '--account', 'physics')
    site.watched('show --pbs is', 0, 'show', '--pbs')
    site.watched('show --pbs of an entity is', 0, 'show', '--pbs', 'chidi')
    site.watched('explain is', 0, 'explain', 'chidi', 'lars')
    site.watched('explain --jobs is', 0, 'explain', '--jobs', 'chidi')
    site.watched('explain --json is', 0, 'explain', '--json', '--jobs', 'chidi', 'lars')
    site.watched('whatif is', 0, 'whatif', '--move', 'chemistry=medicine', '--shares', 'chidi=7', '--remove-user', 'anders',
                 '--add-usage', 'hanna=10', '--weights', 'age=7')
    site.watched('whatif from the accounting database is', 0, 'whatif', '--half-life', '14-0', '--json', '--shares', 'chidi=7')
    site.watched('a cycle is', 64, 'whatif', '--move', 'science=physics')
    site.watched('forecast is', 0, 'forecast', 'chidi', '--plot', '--until', '0.5', '--job', '64x12h', '--days', '3')
    site.watched('forecast --json is', 0, 'forecast', 'physics', '--json', '--days', '3')
    site.watched('explain of a user with two accounts is', 0, 'explain', 'anders')
    site.watched('statement is', 0, 'statement', '--since', '2000-01-01', '--until', 'now')
    site.watched('statement --json is', 0, 'statement', '--since', '2000-01-01', '--by', 'week', '--accounts', 'physics', '--of',
                 'capacity', '--json')
    site.watched('compare is', 0, 'compare')
    site.watched('compare --csv is', 0, 'compare', '--csv', '--top', '3')
    site.watched('compare --json is', 0, 'compare', '--json')
    write(site.path('print'), site.printed(FAIRMILL, '-c', 'fairmill.conf', 'show', '--parsable') + '\n')
    site.watched('diff is', 1, 'diff', '--at', NOW + 600, 'print')
    site.watched('diff --json is', 1, 'diff', '--at', NOW, '--json', 'print')
    write(site.path('print'), 'Account|User|RawUsage\nroot||x\n')
    site.watched('a print that is none is', 65, 'diff', '--at', NOW, 'print')
    site.watched('prio is', 0, 'prio')
    site.watched('prio --json is', 0, 'prio', '--json', '--sort', 'u,-y')
    site.watched('prio with a format is', 0, 'prio', '--format', '%.15i|%r', '--user', 'chidi')
    site.watched('a refused format is', 64, 'prio', '--format', '%i %x')


def ledger(site):
    site.watched('an entry is', 0, 'ledger', 'reset', '--account', 'physics', '--at', NOW - 600, '--why', 'test', '--yes')
    site.watched('a run that counts it is', 0, 'run', '--now', NOW + 600, '--replace')
    site.watched('an export is', 0, 'ledger', 'export', 'ledger.json')
    site.watched('an import of what is there is', 0, 'ledger', 'import', 'ledger.json')
    write(site.path('bad.json'), '{"kind":"reset","id":1,"cluster":"x","covers":[1,2,"3"]}\n')
    site.watched('an import of a bad line is', 65, 'ledger', 'import', 'bad.json')
    site.change('results.db', 'DELETE FROM fairmill_ledger WHERE id = 1')
    site.watched('a list that lacks an entry is', 1, 'ledger', 'list')
    site.watched('a run that lacks an entry is', 0, 'run', '--now', NOW + 900, '--replace')
    site.watched('an import of what is lost is', 0, 'ledger', 'import', 'ledger.json')
    site.watched('an undo is', 0, 'ledger', 'undo', 1, '--why', 'test', '--yes')


def other_settings(site):
    settings = read(site.path('fairmill.conf'))
    # The build with sanitizers has no drivers of servers.
    for driver in DRIVERS:
        if driver != 'sqlite':
            write(site.path(f'{driver}.conf'), settings.replace('driver = sqlite', f'driver = {driver}\nsocket = /nonexistent/s'))
            site.watched(f'tables and grants for {driver} are', 0, '-c', f'{driver}.conf', 'init', '--print', '--cluster=tiny')
            site.watched(f'a server of {driver} that is down is', 69, '-c', f'{driver}.conf', 'show')
    write(site.path('fairmill.conf'), re.sub('^driver = sqlite$', 'driver = sqllite', settings, flags=re.M))
    site.watched('refused settings are', 78, 'run')


def body():
    os.umask(0o022)
    with Site() as site:
        runs(site)
        answers(site)
        ledger(site)
        other_settings(site)


tap.needs('valgrind')
if has_sanitizers():
    tap.not_here('built with sanitizers, which valgrind cannot watch')
tap.main(body)
