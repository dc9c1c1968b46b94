#!/usr/bin/env -S python3 -B
# SPDX-License-Identifier: MIT
# needs: sqlite
"""Tests that status, its line for monitors and the metrics report each problem.

They must agree, and must not report success if nothing is published."""

import fcntl
import glob
import json
import os
import pwd
import re
import shutil
import sqlite3
import subprocess
import sys
import time

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), '..', 'lib'))
import clock
import preload
import small_disk
import tap
from place import SMALL, Place
from program import FAIRMILL

DAY = 86400
OTHER = '''
cluster other
root/
  x use 1
'''
LEVELS = ['ok', 'warning', 'critical']
PROBLEM = re.compile(r'^fairmill_problem\{cluster="(.*?)",problem="(.*?)"\} 1$', re.M)
PUBLISHED = re.compile(r'^fairmill_published_clusters (\d+)$', re.M)
BREAK = 'UPDATE {}_assoc_table SET parent_acct = \'gone\', id_parent = 77 WHERE id_assoc > 1'


class Sick(Place):
    """A place whose clock can be wrong.  The clock of the next command is ahead by `ahead`
    seconds."""

    ahead = 0

    def begin(self, drawing=SMALL, keys=None):
        self.ahead = 0
        self.ready(drawing, {'source.deadline': '1 s', **(keys or {})})

    def start(self, *arguments, **more):
        more['env'] = {k: v for k, v in os.environ.items()
                       if k not in ('FAIRMILL_CONF', 'STATE_DIRECTORY', 'TMPDIR', 'XDG_RUNTIME_DIR')}
        if self.ahead:
            if not os.path.exists(self.path('clock.so')):
                clock.make(self.folder)
            more['env'] |= clock.environment(self.path('clock.so'), self.ahead)
        more['env'] |= {'TMPDIR' if arguments[0] == 'run' else 'XDG_RUNTIME_DIR': self.folder}
        return super().start(*arguments, **more)

    def attempts(self):
        return self.query('SELECT cluster, status FROM fairmill_run ORDER BY run_id')

    def attempt(self, status, *arguments, ahead=0, added=(('tiny', 'failed'),), what='the run', **more):
        """Runs once and checks the exit status and the rows that the run adds."""
        before, self.ahead = len(self.attempts()), ahead
        self.ends(status, f'{what} exits with status {status}', 'run', *arguments, **more)
        self.ahead = 0
        tap.same(self.attempts()[before:], list(added), f'{what} adds the correct rows to fairmill_run')

    def away(self, name='a.db'):
        os.rename(self.path(name), self.path('away'))

    def check_problems(self, what, problems, level=None, ahead=0, published=1):
        """Checks the problems of each cluster, as {cluster: {problem}}, and the worst level."""
        self.ahead = ahead
        level = level or ('critical' if not problems else 'warning')
        status = self.run('status', '--json')
        said = self.err
        clusters = json.loads(self.out)['clusters'] if self.out else []
        self.run('metrics')
        metrics = self.out
        nagios = self.run('status', '--nagios')
        line = self.out
        self.ahead = 0
        tap.same({each['cluster']: set(filter(None, each['problems'].split(','))) for each in clusters}, problems,
                 f'{what}: status --json lists the correct problems')
        tap.ok(status == (0 if level == 'ok' else 1) and bool(said) == bool(status),
               f'{what}: status has the correct exit status',
               status, said)
        tap.same(max((each['health'] for each in clusters), key=LEVELS.index, default='critical'), level,
                 f'{what}: the level is {level}')
        tap.ok(nagios == LEVELS.index(level) and line.startswith(f'FAIRMILL {level.upper()} - '),
               f'{what}: status --nagios reports the same level', nagios, line)
        named = {each: set() for each in problems}
        for cluster, problem in PROBLEM.findall(metrics):
            named[cluster].add(problem)
        tap.same(named, problems, f'{what}: metrics reports the same problems')
        tap.same(PUBLISHED.findall(metrics), [str(published)], f'{what}: metrics counts the published clusters')


def no_problem(place):
    place.begin(SMALL + OTHER)
    place.attempt(0, added=[('other', 'done'), ('tiny', 'done')])
    place.check_problems('no problem', {'tiny': set(), 'other': set()}, 'ok', published=2)


def nothing_yet(place):
    place.begin()
    place.check_problems('no run yet', {}, published=0)
    place.away()
    place.attempt(69, added=[('', 'failed')], what='a first run without accounting database')
    place.check_problems('no complete run', {}, published=0)
    place.run('status')
    place.says('status names the missing accounting database', 'no results yet', 'a.db')


def never_published(place):
    place.begin()
    place.change(BREAK.format('tiny'))
    place.attempt(65)
    place.check_problems('failed and never published', {'tiny': {'never_published', 'last_run_failed'}}, 'critical', published=0)


def failed_later(place):
    place.begin(SMALL + OTHER)
    place.succeed('run')
    place.change(BREAK.format('other'))
    place.attempt(65, added=[('other', 'failed'), ('tiny', 'done')])
    place.check_problems('one of two clusters failed', {'other': {'last_run_failed'}, 'tiny': set()}, published=2)
    place.run('status')
    place.says('status names the cluster whose last run failed', "'other'", 'last run failed')


def without_source(place):
    place.begin(SMALL + OTHER)
    place.succeed('run')
    place.away()
    both = [('other', 'failed'), ('tiny', 'failed')]
    place.attempt(69, added=both)
    place.check_problems('no accounting database', {'tiny': {'last_run_failed'}, 'other': {'last_run_failed'}}, published=2)
    place.attempt(69, '--cluster', 'tiny', added=[('tiny', 'failed')], what='a run of one of two clusters')
    place.settings({'source.database': place.path('slip.db'), 'source.deadline': '1 s'})
    place.attempt(69, added=both, what='a run with a misspelt accounting database')
    place.settings({'source.database': place.path('r.db')})
    place.attempt(78, added=both, what='a run whose accounting database is the results database')
    message, = place.query('SELECT message FROM fairmill_run ORDER BY run_id DESC LIMIT 1')
    tap.ok('share_database' in message[0], 'the row of the failed run has the reason', message)


def two_sources(place):
    """Two settings files share a results database.  A failure must affect only its own clusters."""
    place.begin()
    place.site(OTHER, 'b.db')
    keys = {'source.database': place.path('b.db'), 'source.deadline': '1 s'}
    place.settings(keys, 'b.conf')
    place.succeed('run')
    place.succeed('run', settings='b.conf')
    os.unlink(place.path('b.db'))
    place.attempt(69, added=[('other', 'failed')], settings='b.conf')
    place.check_problems('one of two accounting databases is missing', {'tiny': set(), 'other': {'last_run_failed'}}, published=2)


def refused(place):
    place.begin()
    place.succeed('run')
    place.attempt(64, '--now', int(time.time()) - DAY, what='a run for an earlier time')
    place.check_problems('a run for an earlier time was rejected', {'tiny': {'last_run_failed'}})
    place.attempt(0, added=[('tiny', 'done')])
    place.check_problems('the next run succeeded', {'tiny': set()}, 'ok')
    place.attempt(64, '--cluster', 'tinny', added=[('', 'failed')], what='a run of an unknown cluster')
    place.check_problems('an unknown cluster was rejected', {'tiny': set()}, 'ok')


def ahead_once(place):
    place.begin()
    place.attempt(0, ahead=2 * DAY, added=[('tiny', 'done')], what='a run with a clock two days ahead')
    place.check_problems('the clock was ahead', {'tiny': {'in_future', 'clock'}}, 'critical')
    place.run('status', '--nagios', '--max-age', '30m')
    tap.ok(re.search(r'tiny (47 h|2 d) ahead \(published in the future, ', place.out),
           'status --nagios shows how far the results are ahead',
           place.out)
    place.attempt(1)
    place.check_problems('runs are rejected because the results are ahead', {'tiny': {'in_future', 'last_run_failed'}}, 'critical')
    place.attempt(0, '--replace', added=[('tiny', 'done')])
    place.check_problems('--replace replaced the results of the future', {'tiny': set()}, 'ok')


def jumps_back(place):
    place.begin()
    place.succeed('run')
    place.check_problems('the clock went back', {'tiny': {'in_future', 'clock'}}, 'critical', ahead=-DAY)
    place.attempt(1, ahead=-DAY)
    place.check_problems('runs are rejected because the clock went back',
                         {'tiny': {'in_future', 'last_run_failed'}}, 'critical', ahead=-DAY)
    place.check_problems('a run failed while the clock was late', {'tiny': {'last_run_failed'}})


def a_little(place):
    place.begin()
    place.succeed('run')
    place.check_problems("the reader's clock is a minute late", {'tiny': set()}, 'ok', ahead=-60)
    place.attempt(1, ahead=-60, what='a run with a clock a minute late')
    place.check_problems('a run was rejected because of a minute', {'tiny': {'last_run_failed'}})


def asked_ahead(place):
    place.begin()
    place.attempt(0, '--now', int(time.time()) + DAY, added=[('tiny', 'done')])
    place.check_problems('a run with --now of tomorrow', {'tiny': {'in_future'}}, 'critical')
    place.ends(1, 'check exits with the status of the next run', 'check')
    tap.ok('next: correct the clock' in place.out, 'check proposes to correct the clock', place.out)
    place.ends(1, 'check --json exits with the status of the next run', 'check', '--json')
    place.attempt(1, what='the next run')


def began_ahead(place):
    place.begin()
    place.attempt(0, '--now', int(time.time()), ahead=2 * DAY, added=[('tiny', 'done')])
    place.check_problems('only the start of the last run is in the future', {'tiny': {'clock'}})


def vanished(place):
    place.begin(SMALL + OTHER)
    place.succeed('run')
    rows = place.query("SELECT * FROM fairmill_fairshare WHERE cluster = 'tiny'")
    place.change("DELETE FROM cluster_table WHERE name = 'tiny'")
    place.attempt(65, added=[('tiny', 'failed'), ('other', 'done')], what='a run with a missing cluster')
    place.says('the error names the cluster and proposes forget', "'tiny'", 'forget --cluster tiny')
    tap.same(place.query("SELECT * FROM fairmill_fairshare WHERE cluster = 'tiny'"), rows,
             'the published rows of the missing cluster stay')
    place.ends(65, 'check exits as a run with a missing cluster does', 'check')
    tap.ok('forget --cluster tiny' in place.err and 'next:' not in place.out,
           'check proposes only forget for the missing cluster',
           place.out, place.err)
    gone = {'tiny': {'vanished', 'last_run_failed'}, 'other': set()}
    place.check_problems('a cluster is missing', gone, published=2)
    tap.same(place.query("SELECT subject, count FROM fairmill_finding WHERE kind = 'cluster_vanished'"), [('', 1)],
             'a missing cluster is a finding')
    place.away()
    place.attempt(69, added=[('other', 'failed'), ('tiny', 'failed')])
    os.rename(place.path('away'), place.path('a.db'))
    place.change("INSERT INTO cluster_table (name, creation_time, mod_time, deleted, federation, fed_state)"
                 " VALUES ('tiny', 1, 1, 0, '', 0)")
    place.check_problems('a missing cluster, after a run without accounting database', {'tiny': {'vanished', 'last_run_failed'},
                                                   'other': {'last_run_failed'}}, published=2)
    place.change(BREAK.format('tiny'))
    place.attempt(65, added=[('other', 'done'), ('tiny', 'failed')], what='a run of a cluster that returned with bad rows')
    place.ends(64, 'a cluster that returned with bad rows cannot be forgotten', 'forget', '--cluster', 'tiny', '--yes')
    place.check_problems('a cluster that returned with bad rows is not missing',
                         {'tiny': {'last_run_failed'}, 'other': set()}, published=2)
    place.change("UPDATE tiny_assoc_table SET parent_acct = 'root', id_parent = 1 WHERE user = '' AND id_assoc > 1")
    place.change("UPDATE tiny_assoc_table SET parent_acct = '', id_parent = (SELECT id_assoc FROM tiny_assoc_table a WHERE"
                 " a.acct = tiny_assoc_table.acct AND a.user = '') WHERE user <> ''")
    place.ends(0, 'the run of the repaired cluster succeeds', 'run')
    place.check_problems('the cluster is repaired', {'tiny': set(), 'other': set()}, 'ok', published=2)
    place.ends(64, 'a repaired cluster cannot be forgotten', 'forget', '--cluster', 'tiny', '--yes')
    place.change("DELETE FROM cluster_table WHERE name = 'tiny'")
    place.settings({'source.clusters': 'tiny, other'})
    place.attempt(65, added=[('tiny', 'failed'), ('other', 'done')], what='a run whose settings name a missing cluster')
    tap.same(place.err.count('\n'), 1, 'the run reports the missing cluster once')
    place.settings()
    place.ends(0, 'a missing cluster can be forgotten', 'forget', '--cluster', 'tiny', '--yes')
    place.check_problems('the missing cluster is forgotten', {'other': set()}, 'ok')
    place.change('DELETE FROM cluster_table')
    before = place.query('SELECT * FROM fairmill_fairshare')
    place.ends(65, 'a run that finds no cluster fails', 'run')
    place.check_problems('all clusters are missing', {'other': {'vanished', 'last_run_failed'}})
    tap.same(place.query('SELECT * FROM fairmill_fairshare'), before, 'the published rows stay if all clusters are missing')


def missing(place):
    place.begin(keys={'source.clusters': 'tiny, other'})
    place.attempt(65, added=[('other', 'failed'), ('tiny', 'done')], what='a run whose settings name an unknown cluster')
    place.ends(65, 'check exits as a run with an unknown cluster does', 'check')
    tap.ok("'other'" in place.err and 'next:' not in place.out, 'check does not propose a first run for an unknown cluster',
           place.out, place.err)
    place.check_problems('the settings name an unknown cluster',
                         {'tiny': set(), 'other': {'never_published', 'last_run_failed'}}, 'critical')
    place.ends(0, 'an unknown cluster of the settings can be forgotten', 'forget', '--cluster', 'other', '--yes')
    place.check_problems('the unknown cluster is forgotten', {'tiny': set()}, 'ok')


def deleted(place):
    place.begin(SMALL + OTHER)
    place.succeed('run')
    place.change("UPDATE cluster_table SET deleted = 1 WHERE name = 'other'")
    place.attempt(0, added=[('tiny', 'done')])
    place.check_problems('a cluster was retired', {'tiny': set()}, 'ok')
    place.change("UPDATE cluster_table SET deleted = 0 WHERE name = 'other'")
    place.change(BREAK.format('other'))
    place.attempt(65, added=[('other', 'failed'), ('tiny', 'done')])
    place.check_problems('a retired cluster returned and failed',
                         {'tiny': set(), 'other': {'never_published', 'last_run_failed'}}, 'critical')
    place.run('status')
    place.says('status proposes to forget the cluster', '`fairmill forget --cluster other`')
    days = place.query('SELECT count(*) FROM fairmill_usage_day')
    place.ends(64, 'a cluster in the accounting database cannot be forgotten', 'forget', '--cluster', 'other', '--yes')
    place.says('the error says that the accounting database has the cluster', "'other': the accounting database contains it")
    tap.same(place.query('SELECT count(*) FROM fairmill_usage_day'), days, 'the rejected command removes no rows')
    place.away()
    place.ends(69, 'forget fails without the accounting database', 'forget', '--cluster', 'other', '--yes')
    os.rename(place.path('away'), place.path('a.db'))
    place.change("UPDATE cluster_table SET deleted = 1 WHERE name = 'other'")
    place.attempt(0, added=[('tiny', 'done')])
    place.check_problems('the cluster was retired again', {'tiny': set()}, 'ok')
    place.change("INSERT INTO cluster_table (name, creation_time, mod_time, deleted, federation, fed_state)"
                 " VALUES ('brief', 1, 1, 0, '', 0)")
    place.attempt(78, added=[('brief', 'failed'), ('tiny', 'done')], what='a run of a new cluster without tables')
    place.check_problems('a new cluster has no tables', {'tiny': set(), 'brief': {'never_published', 'last_run_failed'}}, 'critical')
    place.change("UPDATE cluster_table SET deleted = 1 WHERE name = 'brief'")
    place.attempt(0, added=[('tiny', 'done')])
    place.check_problems('the new cluster was retired before its first run', {'tiny': set()}, 'ok')
    place.attempt(0, added=[('tiny', 'done')])
    place.ends(0, 'a cluster that never had results can be forgotten', 'forget', '--cluster', 'brief', '--yes')
    place.ends(0, 'a retired cluster can be forgotten', 'forget', '--cluster', 'other', '--yes')


def stale(place):
    """Tests the age at which results are stale: three median intervals of the last ten, at least 15
    minutes."""
    now = int(time.time())
    place.begin()
    place.succeed('run', '--now', now - 880)
    place.check_problems('the first run is less than 15 minutes old', {'tiny': set()}, 'ok')
    place.begin()
    place.succeed('run', '--now', now - 920)
    place.check_problems('the first run is more than 15 minutes old', {'tiny': {'stale'}}, 'critical')
    place.begin()
    for hour in range(30, 18, -1):
        place.succeed('run', '--now', now - 3600 * hour // 6)      # every ten minutes
    place.succeed('run', '--now', now - 3600 * 3)
    place.attempt(64, '--now', now - 5 * 3600)
    place.check_problems('a failed run is not counted as an interval', {'tiny': {'stale', 'last_run_failed'}}, 'critical')
    place.begin()
    for hour in (40, 7, 6, 5, 4):
        place.succeed('run', '--now', now - 3600 * hour)
    place.succeed('run', '--now', now - 3600 * 3 + 60)
    place.check_problems('an hourly run is less than three hours old', {'tiny': set()}, 'ok')
    place.ends(0, 'status --nagios without a limit uses the same age', 'status', '--nagios')
    place.succeed('show')
    tap.same(place.err, '', 'show prints no warning about recent results')
    place.succeed('run', '--replace', '--now', now - 3600 * 3 - 60)
    place.check_problems('an hourly run is more than three hours old', {'tiny': {'stale'}}, 'critical')
    place.ends(2, 'stale results are critical to status --nagios without a limit', 'status', '--nagios')
    place.ends(0, 'stale results are ok to status --nagios with a larger limit', 'status', '--nagios', '--max-age', '4h')
    for command in (('show', '--json'), ('prio',), ('explain', 'alice'), ('compare', '--csv'), ('history', 'alice'),
                    ('whatif', '--shares', 'alice=2'), ('forecast', 'alice'), ('statement',), ('budget',), ('waits', '--since', '2000-01-01')):
        place.ends(0, f'{command[0]} of stale results exits with status 0', *command)
        tap.same(place.err, "fairmill: the results of cluster 'tiny' are stale: 3 h old\n",
                 f'{command[0]} warns once that the results are stale')
    place.succeed('verify')
    tap.same(place.err, '', 'verify does not warn, because it prints the time')
    place.succeed('run', '--replace', '--now', now)
    (own,), = place.query('SELECT DISTINCT version FROM fairmill_run')
    for version, warning in (('0.2.0', "fairmill: the results of cluster 'tiny' are from fairmill 0.2.0; until the next run, they lack what "),
                             (own.rpartition('.')[0] + '.99', '')):
        place.query('UPDATE fairmill_run SET version = ?', version)
        place.succeed('budget')
        tap.ok(place.err.startswith(warning) and bool(place.err) == bool(warning),
               f'results of fairmill {version} cause {"a" if warning else "no"} warning', place.err)
    place.site(SMALL + OTHER)
    place.succeed('run', '--cluster', 'other')
    place.succeed('show', '--cluster', 'other')
    tap.same(place.err, '', 'a cluster that is not shown causes no warning')


def views(place):
    """Tests missing and damaged views.  Results that readers cannot read are not published."""
    place.begin()
    names = [name for name, in place.query("SELECT name FROM sqlite_master WHERE type = 'view'")]
    place.succeed('run')
    gone = {'tiny': {'unreadable'}}
    damages = [(f'{name} is missing', f'DROP VIEW "{name}"') for name in names]
    damages += [(f'{name} selects from a missing table', f'DROP VIEW "{name}"; CREATE VIEW "{name}" AS SELECT * FROM nowhere')
                for name in ('fairmill_fairshare', 'fairmill_account')]
    for what, sql in damages + [('all views are missing', '; '.join(sql for _, sql in damages[:len(names)]))]:
        shutil.copy(place.path('r.db'), place.path('whole.db'))
        for statement in sql.split('; '):
            place.query(statement)
        if 'fairmill_fairshare' not in sql:
            place.check_problems(what, gone, 'critical')
        for status, command in ((1, ('status',)), (2, ('status', '--nagios')), (78, ('verify',)), (78, ('check',)), (78, ('run',))):
            place.ends(status, f"{what}: '{' '.join(command)}' exits with status {status}", *command)
            tap.ok('`fairmill init`' in place.out + place.err, f"{what}: '{' '.join(command)}' proposes init",
                   place.out, place.err)
        tap.same(place.query('SELECT status FROM fairmill_run ORDER BY run_id DESC LIMIT 1'), [('done',)],
                 f'{what}: the run is recorded as done')
        place.succeed('init')
        place.check_problems(f'{what}, and init has run', {'tiny': set()}, 'ok')
        os.replace(place.path('whole.db'), place.path('r.db'))
    for what, sql in (('the tree is missing', 'DELETE FROM fairmill_tree'), ('a row is missing',
                                                                          'DELETE FROM fairmill_value WHERE id_assoc = 2'),
                      ('a row has another cluster', "UPDATE fairmill_tree SET cluster = 'other' WHERE id_assoc = 3"),
                      ('a view was replaced by another program',
                       'DROP VIEW fairmill_sshare; CREATE VIEW fairmill_sshare AS SELECT 1 AS cluster, 1 AS id_assoc')):
        place.begin()
        place.succeed('run')
        for statement in sql.split('; '):
            place.query(statement)
        place.ends(1, f'{what}: status exits with status 1', 'status')
        place.says(f'{what}: status says that readers miss rows', 'readers')
        place.ends(2, f'{what}: status --nagios is critical', 'status', '--nagios')
        place.run('init')
        place.succeed('run')
        place.check_problems(f'{what}, and init and a run succeeded', {'tiny': set()}, 'ok')


def copied(place):
    """VACUUM INTO makes a copy that is not in write-ahead log mode."""
    place.begin()
    place.succeed('run')
    db = sqlite3.connect(place.path('r.db'))
    db.execute('VACUUM INTO ?', (place.path('copy.db'),))
    db.close()
    for end in ('', '-wal', '-shm'):
        if os.path.exists(place.path('r.db' + end)):
            os.unlink(place.path('r.db' + end))
    os.rename(place.path('copy.db'), place.path('r.db'))
    place.attempt(78, added=[], what='a run with a copy by VACUUM INTO')
    tap.ok('no results yet' not in place.err and 'write-ahead log' in place.err,
           'the error says that the copy lacks the write-ahead log',
           place.err)
    place.succeed('init')
    place.attempt(0, added=[('tiny', 'done')], what='a run after init')


def report_says(place, what, word):
    place.succeed('report')
    tap.ok(word in place.out, what, place.out.count(word))


def view_on_page(place):
    """Tests that the page, which reads tables, reports views that readers cannot read."""
    place.begin()
    place.succeed('run')
    report_says(place, 'the page is written', 'fairmill')
    place.query('DROP VIEW fairmill_sprio')
    report_says(place, 'the page says that readers do not see all rows', 'readers do not see all rows')
    tap.ok('r.db' not in place.out and 'fairmill_sprio' not in place.out, 'the page does not contain the reason')


def unrecorded(place):
    """A run that cannot record its row leaves a file, whichever variable names the directory."""
    word = 'a run failed and could not be recorded'
    place.begin()
    place.succeed('run')
    good = {'results.database': place.path('r.db')}
    place.settings({'usage.half_life': 'long'})
    place.attempt(78, added=[], what='a run with bad settings')
    place.settings(good)
    place.check_problems('the settings were bad', {'tiny': {'unrecorded'}})
    place.run('status')
    place.says('status shows the exit status of the failed run', word, '78')
    report_says(place, 'the page reports the failed run', word)
    with open(place.path('reader.conf'), 'w', encoding='utf-8') as file:
        file.write(f"[results]\ndriver = sqlite\ndatabase = {place.path('r.db')}\n")
    os.rename(place.path('fm.conf'), place.path('fairmill.conf'))
    place.attempt(78, added=[], what='a run with missing settings')
    os.rename(place.path('fairmill.conf'), place.path('fm.conf'))
    for mark in glob.glob(place.path('fairmill-*/unrecorded-*')):
        os.utime(mark, (time.time() - 2, time.time() - 2))  # more than a second old
    place.attempt(0, '--cluster', 'tiny', added=[('tiny', 'done')])
    place.check_problems('a later run was recorded', {'tiny': set()}, 'ok')
    place.attempt(0, added=[('tiny', 'done')])
    place.settings({'results.database': place.path('none/r.db')})
    place.attempt(78, added=[], what='a run that cannot open the results')
    place.settings(good)
    place.check_problems('the results could not be opened', {'tiny': {'unrecorded'}})
    place.attempt(64, '--now', 1, what='a failed run that was recorded')
    place.check_problems('a recorded failure replaces the file', {'tiny': {'last_run_failed'}})
    place.attempt(0, added=[('tiny', 'done')])
    place.settings({'usage.half_life': 'long'})
    place.ends(78, 'a dry run with bad settings fails', 'run', '--dry-run')
    place.ends(78, 'check with bad settings fails', 'check')
    place.settings(good)
    place.check_problems('a dry run and check leave no file', {'tiny': set()}, 'ok')
    os.rename(place.path('fm.conf'), place.path('fairmill.conf'))
    place.succeed('run', settings='fairmill.conf')
    os.rename(place.path('fairmill.conf'), place.path('fm.conf'))
    place.ends(78, 'a run without its settings file fails', 'run', settings='fairmill.conf')
    place.ends(1, 'status with reader.conf of the same directory reports the failure', 'status', settings='reader.conf')
    place.says('status with reader.conf shows the exit status', word, '78')
    place.check_problems('status with other settings does not report the failure', {'tiny': set()}, 'ok')


def of_another_user(place):
    """Cron starts runs as one user, and other users call status.

    Only a file of the user who starts the runs counts."""
    if os.getuid():
        tap.diag('only root can run as other users')
        return
    daemon, games = pwd.getpwnam('daemon'), pwd.getpwnam('games')
    place.begin()
    os.chmod(place.folder, 0o755)
    os.makedirs(place.path('tmp'))
    os.chmod(place.path('tmp'), 0o1777)
    for name in ['', *(name for name in os.listdir(place.folder) if name.startswith('r.db'))]:
        os.chown(place.path(name), daemon.pw_uid, daemon.pw_gid)

    def as_user(entry, *arguments, settings='fm.conf', state=None):
        env = {'PATH': '/usr/bin:/bin', 'TMPDIR': place.path('tmp')} | ({'STATE_DIRECTORY': state} if state else {})
        return subprocess.run([FAIRMILL, '-c', place.path(settings), *arguments], cwd='/', env=env, user=entry.pw_uid, group=entry.pw_gid,
                              extra_groups=[], umask=0o077, capture_output=True, text=True, check=False)

    def asked_by(what, entry, status):
        got = as_user(entry, 'status', settings='reader.conf')
        tap.ok(got.returncode == status and ('could not be recorded' in got.stderr) == bool(status), what, got)

    root = pwd.getpwuid(0)
    shutil.copy(place.path('fm.conf'), place.path('fairmill.conf'))
    with open(place.path('reader.conf'), 'w', encoding='utf-8') as file:
        file.write(f"[results]\ndriver = sqlite\ndatabase = {place.path('r.db')}\n")
    got = as_user(daemon, 'run', settings='fairmill.conf')
    tap.same(got.returncode, 0, 'a run of user daemon succeeds')
    # Now only the row of the run shows which user starts the runs.
    for name in ('', 'r.db', 'r.db-wal', 'r.db-shm'):
        if os.path.exists(place.path(name)):
            os.chown(place.path(name), 0, 0)
    place.settings({'usage.half_life': 'long'}, 'fairmill.conf')
    as_user(games, 'run', settings='fairmill.conf')
    asked_by('root does not see a failed run of another user', root, 0)
    asked_by('the user of the runs does not see the failure of another user', daemon, 0)
    got = as_user(daemon, 'run', settings='fairmill.conf')
    tap.same(got.returncode, 78, 'a run of daemon with bad settings fails')
    for entry in (daemon, games, root):
        asked_by(f'{entry.pw_name} sees the failed run of daemon', entry, 1)
    shutil.rmtree(place.path(f'tmp/fairmill-{daemon.pw_uid}'))
    shutil.rmtree(place.path(f'tmp/fairmill-{games.pw_uid}'))
    asked_by('without the file the failed run is unknown', games, 0)
    os.makedirs(place.path('state'), 0o700)
    os.chown(place.path('state'), daemon.pw_uid, daemon.pw_gid)
    as_user(daemon, 'run', settings='fairmill.conf', state=place.path('state'))
    tap.same(len(os.listdir(place.path('state'))), 1, 'the state directory has the file')
    asked_by('a user who cannot read the state directory sees the failure', games, 1)


def full_disk(place):
    """Neither the results nor the row of the run can be written, because the disk is full."""
    place.begin(SMALL)
    with small_disk.small_disk(place.folder, 8) as disk:
        if not disk:
            tap.diag('no file system can be mounted')
            return
        place.settings({'results.database': os.path.join(disk, 'r.db')})
        place.succeed('init')
        place.succeed('run')
        with small_disk.leave_room(disk, 0):
            got = place.run('run')
            tap.ok(got, 'a run on a full disk fails', place.err)
        place.ends(1, 'status reports the run on a full disk', 'status')
        place.says('status says that the run could not be recorded', 'could not be recorded')


def another_run_in_progress(place):
    place.begin()
    place.succeed('run')
    lock, = [name for name in os.listdir(place.folder) if name.endswith('.lock')]
    with open(place.path(lock), 'r+b') as file:
        fcntl.flock(file, fcntl.LOCK_EX)
        place.attempt(75, added=[], what='a run during another run')
        place.check_problems('another run is in progress', {'tiny': set()}, 'ok')


def future_removed(place):
    """--replace removes the results of future times, and nothing else."""
    place.begin(keys={'retention.history_interval': 0})
    now = int(time.time())
    place.succeed('run', '--now', now - 2 * DAY)
    place.succeed('run', '--now', now - DAY)
    place.ahead = 2 * DAY
    place.change('UPDATE tiny_assoc_table SET shares = 77, mod_time = 1 WHERE "user" = \'bob\'')
    place.succeed('run')
    place.ahead = 0
    tap.ok(place.query('SELECT MAX(as_of) FROM fairmill_history_point')[0][0] > now + DAY,
           'a clock that is ahead leaves a point in the future')
    place.succeed('run', '--replace', '--now', now - 3 * DAY)
    instants = {name: [at for at, in place.query(f'SELECT DISTINCT {column} FROM fairmill_{name} ORDER BY 1')]
                for name, column in (('history', 'as_of'), ('history_point', 'as_of'), ('association', 'since'),
                                     ('share_change', 'as_of'), ('finding', 'last_seen'))}
    tap.ok(all(at <= time.time() for each in instants.values() for at in each), '--replace removes all rows of the future',
           instants)
    tap.same(instants['history_point'], [now - 3 * DAY, now - 2 * DAY, now - DAY], '--replace keeps the points of past times')
    place.succeed('run')
    tap.same([shares for shares, in place.query(
        'SELECT shares FROM fairmill_share_change WHERE user_name = \'bob\' ORDER BY as_of')], [10, 77],
        'a change seen in the future is recorded at its time')


def body():
    for part in (no_problem, nothing_yet, never_published, failed_later, without_source, two_sources, refused, ahead_once,
                 jumps_back, a_little, asked_ahead, began_ahead, vanished, missing, deleted, stale, views, copied, view_on_page, unrecorded,
                 of_another_user, full_disk, another_run_in_progress, future_removed):
        if part in (ahead_once, jumps_back, a_little, began_ahead, future_removed) and not preload.compiler():
            tap.diag(f'{part.__name__} needs a compiler for the clock')
            continue
        with Sick() as place:
            part(place)


tap.main(body)
