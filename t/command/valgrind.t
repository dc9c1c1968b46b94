#!/usr/bin/env -S python3 -B
# SPDX-License-Identifier: MIT
# needs: sqlite valgrind
"""Tests that each command has no memory errors and no leaks, on a site with all kinds of data."""

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
# Memory that MySQL's library holds as long as it is loaded, referenced only by its own tables.
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
        if not LONG:  # more jobs of the same kind are only more of the same steps
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
        """Runs a command with valgrind.  Unless FAIRMILL_LONG is set, --json and --csv are
        skipped."""
        if LONG or not {'--json', '--csv'} & set(arguments):
            self.command_ends(status, f'{statement} has no memory errors',
                              *VALGRIND, FAIRMILL, '-c', 'fairmill.conf', *arguments, **more)


def runs(site):
    site.watched('init', 0, 'init')
    site.watched('a first run', 0, 'run', '--now', NOW)
    site.watched('a second run', 0, 'run', '--now', NOW + 300)
    site.watched('a rejected run', 64, 'run', '--now', NOW)
    site.watched('a dry run', 0, 'run', '--now', NOW, '--dry-run')
    site.watched('check', 0, 'check')
    os.rename(site.path('accounting.db'), site.path('away.db'))
    site.watched('a run without accounting database', 69, 'run', env=dict(os.environ, STATE_DIRECTORY=site.folder))
    tap.empty(site.err, 'the first failure is not printed')
    os.rename(site.path('away.db'), site.path('accounting.db'))


def answers(site):
    site.watched('show', 0, 'show')
    site.watched('show --json', 0, 'show', '--json')
    site.watched('show --json=slurm', 0, 'show', '--json=slurm')
    site.watched('show --parsable', 0, 'show', '--parsable', '--account', 'physics')
    site.watched('show --pbs', 0, 'show', '--pbs')
    site.watched('show --pbs of an entity', 0, 'show', '--pbs', 'chidi')
    site.watched('explain', 0, 'explain', 'chidi', 'lars')
    site.watched('explain --jobs', 0, 'explain', '--jobs', 'chidi')
    site.watched('explain --json', 0, 'explain', '--json', '--jobs', 'chidi', 'lars')
    site.watched('whatif', 0, 'whatif', '--move', 'chemistry=medicine', '--shares', 'chidi=7', '--remove-user', 'anders',
                 '--add-usage', 'hanna=10', '--weights', 'age=7')
    site.watched('whatif from the accounting database', 0, 'whatif', '--half-life', '14-0', '--json', '--shares', 'chidi=7')
    site.watched('whatif with a cycle', 64, 'whatif', '--move', 'science=physics')
    site.watched('forecast', 0, 'forecast', 'chidi', '--plot', '--until', '0.5', '--job', '64x12h', '--days', '3')
    site.watched('forecast --json', 0, 'forecast', 'physics', '--json', '--days', '3')
    site.watched('explain of a user with two accounts', 0, 'explain', 'anders')
    site.watched('statement', 0, 'statement', '--since', '2000-01-01', '--until', 'now')
    site.watched('statement --json', 0, 'statement', '--since', '2000-01-01', '--by', 'week', '--accounts', 'physics', '--of',
                 'capacity', '--json')
    site.watched('budget', 0, 'budget')
    site.watched('budget of a name', 0, 'budget', 'robotics', '--json')
    site.watched('budget of an unknown name', 64, 'budget', 'nemo')
    site.watched('waits', 0, 'waits', '--by', 'user,qos', '--per', 'week', '-A', 'science')
    site.watched('waits --json', 0, 'waits', '--json', '--partitions', 'cpu')
    site.watched('waits of an unknown user', 64, 'waits', '-u', 'nemo')
    site.watched('statement --tres', 0, 'statement', '--since', '2000-01-01', '--tres', 'gres/gpu')
    site.watched('statement with an unknown TRES', 64, 'statement', '--tres', 'none')
    site.watched('history --tres', 0, 'history', 'robotics', '--tres', 'GRES/GPU')
    site.watched('compare', 0, 'compare')
    site.watched('compare --csv', 0, 'compare', '--csv', '--top', '3')
    site.watched('compare --json', 0, 'compare', '--json')
    write(site.path('print'), site.printed(FAIRMILL, '-c', 'fairmill.conf', 'show', '--parsable') + '\n')
    site.watched('diff', 1, 'diff', '--at', NOW + 600, 'print')
    site.watched('diff --json', 1, 'diff', '--at', NOW, '--json', 'print')
    write(site.path('print'), 'Account|User|RawUsage\nroot||x\n')
    site.watched('diff with an invalid file', 65, 'diff', '--at', NOW, 'print')
    site.watched('prio', 0, 'prio')
    site.watched('prio --json', 0, 'prio', '--json', '--sort', 'u,-y')
    site.watched('prio with a format', 0, 'prio', '--format', '%.15i|%r', '--user', 'chidi')
    site.watched('prio with a rejected format', 64, 'prio', '--format', '%i %x')


def ledger(site):
    site.watched('an entry of the ledger',
                 0, 'ledger', 'reset', '--account', 'physics', '--at', NOW - 600, '--why', 'test', '--yes')
    site.watched('a run with an entry', 0, 'run', '--now', NOW + 600, '--replace')
    site.watched('ledger export', 0, 'ledger', 'export', 'ledger.json')
    site.watched('ledger import of existing entries', 0, 'ledger', 'import', 'ledger.json')
    write(site.path('bad.json'), '{"kind":"reset","id":1,"cluster":"x","covers":[1,2,"3"]}\n')
    site.watched('ledger import of a bad line', 65, 'ledger', 'import', 'bad.json')
    site.change('results.db', 'DELETE FROM fairmill_ledger WHERE id = 1')
    site.watched('ledger list with a lost entry', 1, 'ledger', 'list')
    site.watched('a run with a lost entry', 0, 'run', '--now', NOW + 900, '--replace')
    site.watched('ledger import of a lost entry', 0, 'ledger', 'import', 'ledger.json')
    site.watched('ledger undo', 0, 'ledger', 'undo', 1, '--why', 'test', '--yes')


def other_settings(site):
    settings = read(site.path('fairmill.conf'))
    # The build with sanitizers has no drivers for servers.
    for driver in DRIVERS:
        if driver != 'sqlite':
            write(site.path(f'{driver}.conf'), settings.replace('driver = sqlite', f'driver = {driver}\nsocket = /nonexistent/s'))
            site.watched(f'init --print for {driver}', 0, '-c', f'{driver}.conf', 'init', '--print', '--cluster=tiny')
            site.watched(f'show without a server of {driver}', 69, '-c', f'{driver}.conf', 'show')
    write(site.path('fairmill.conf'), re.sub('^driver = sqlite$', 'driver = sqllite', settings, flags=re.M))
    site.watched('a run with rejected settings', 78, 'run')


def body():
    os.umask(0o022)
    with Site() as site:
        runs(site)
        answers(site)
        ledger(site)
        other_settings(site)


tap.needs('valgrind')
if has_sanitizers():
    tap.not_here('built with sanitizers, which valgrind cannot run')
tap.main(body)
