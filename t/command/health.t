#!/usr/bin/env -S python3 -B
# SPDX-License-Identifier: MIT
# needs: sqlite
"""Health cannot be green while nothing is published: whatever went wrong, status, its line for monitors
and the metrics say so, and say the same."""

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
from program import FAIRMILL, HAS_REPORT

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
    """A place with clocks: `ahead` is by how many seconds that of the next command is."""

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
        """A run that ends so and leaves these rows."""
        before, self.ahead = len(self.attempts()), ahead
        self.ends(status, f'{what} ends with {status}', 'run', *arguments, **more)
        self.ahead = 0
        tap.same(self.attempts()[before:], list(added), f'{what} leaves its rows')

    def away(self, name='a.db'):
        os.rename(self.path(name), self.path('away'))

    def is_so(self, what, problems, level=None, ahead=0, published=1):
        """{cluster: {problem}}, of those that are known; the worst level."""
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
                 f'{what}: status knows what is wrong')
        tap.ok(status == (0 if level == 'ok' else 1) and bool(said) == bool(status), f'{what}: its exit status too', status, said)
        tap.same(max((each['health'] for each in clusters), key=LEVELS.index, default='critical'), level,
                 f'{what}: it is {level}')
        tap.ok(nagios == LEVELS.index(level) and line.startswith(f'FAIRMILL {level.upper()} - '),
               f'{what}: a monitor is told the same', nagios, line)
        named = {each: set() for each in problems}
        for cluster, problem in PROBLEM.findall(metrics):
            named[cluster].add(problem)
        tap.same(named, problems, f'{what}: so are the metrics')
        tap.same(PUBLISHED.findall(metrics), [str(published)], f'{what}: they count what is published')


def well(place):
    place.begin(SMALL + OTHER)
    place.attempt(0, added=[('other', 'done'), ('tiny', 'done')])
    place.is_so('all is well', {'tiny': set(), 'other': set()}, 'ok', published=2)


def nothing_yet(place):
    place.begin()
    place.is_so('no run yet', {}, published=0)
    place.away()
    place.attempt(69, added=[('', 'failed')], what='a first run without its source')
    place.is_so('only a run without its source', {}, published=0)
    place.run('status')
    place.says('status has its reason', 'no results yet', 'a.db')


def never_published(place):
    place.begin()
    place.change(BREAK.format('tiny'))
    place.attempt(65)
    place.is_so('failed and never published', {'tiny': {'never_published', 'last_run_failed'}}, 'critical', published=0)


def failed_later(place):
    place.begin(SMALL + OTHER)
    place.succeed('run')
    place.change(BREAK.format('other'))
    place.attempt(65, added=[('other', 'failed'), ('tiny', 'done')])
    place.is_so('one of two failed', {'other': {'last_run_failed'}, 'tiny': set()}, published=2)
    place.run('status')
    place.says('status names it', "'other'", 'last run failed')


def without_source(place):
    place.begin(SMALL + OTHER)
    place.succeed('run')
    place.away()
    both = [('other', 'failed'), ('tiny', 'failed')]
    place.attempt(69, added=both)
    place.is_so('the source is away', {'tiny': {'last_run_failed'}, 'other': {'last_run_failed'}}, published=2)
    place.attempt(69, '--cluster', 'tiny', added=[('tiny', 'failed')], what='a run for one of two')
    place.settings({'source.database': place.path('slip.db'), 'source.deadline': '1 s'})
    place.attempt(69, added=both, what='a run with a slip in its source')
    place.settings({'source.database': place.path('r.db')})
    place.attempt(78, added=both, what='a run whose source is the results')
    message, = place.query('SELECT message FROM fairmill_run ORDER BY run_id DESC LIMIT 1')
    tap.ok('share_database' in message[0], 'and the row says why', message)


def two_sources(place):
    """Of two settings files with results in one database each is about its own clusters."""
    place.begin()
    place.site(OTHER, 'b.db')
    keys = {'source.database': place.path('b.db'), 'source.deadline': '1 s'}
    place.settings(keys, 'b.conf')
    place.succeed('run')
    place.succeed('run', settings='b.conf')
    os.unlink(place.path('b.db'))
    place.attempt(69, added=[('other', 'failed')], settings='b.conf')
    place.is_so('one of two sources is away', {'tiny': set(), 'other': {'last_run_failed'}}, published=2)


def refused(place):
    place.begin()
    place.succeed('run')
    place.attempt(64, '--now', int(time.time()) - DAY, what='a run of an older instant')
    place.is_so('an older instant was refused', {'tiny': {'last_run_failed'}})
    place.attempt(0, added=[('tiny', 'done')])
    place.is_so('the next run is done', {'tiny': set()}, 'ok')
    place.attempt(64, '--cluster', 'tinny', added=[('', 'failed')], what='a run for a cluster that is not there')
    place.is_so('which concerns nobody', {'tiny': set()}, 'ok')


def ahead_once(place):
    place.begin()
    place.attempt(0, ahead=2 * DAY, added=[('tiny', 'done')], what='a run two days ahead')
    place.is_so('the clock was ahead', {'tiny': {'in_future', 'clock'}}, 'critical')
    place.run('status', '--nagios', '--max-age', '30m')
    tap.ok(re.search(r'tiny (47 h|2 d) ahead \(published in the future, ', place.out), 'the line says how far', place.out)
    place.attempt(1)
    place.is_so('and runs are refused', {'tiny': {'in_future', 'last_run_failed'}}, 'critical')
    place.attempt(0, '--replace', added=[('tiny', 'done')])
    place.is_so('until somebody replaces it', {'tiny': set()}, 'ok')


def jumps_back(place):
    place.begin()
    place.succeed('run')
    place.is_so('the clock has jumped back', {'tiny': {'in_future', 'clock'}}, 'critical', ahead=-DAY)
    place.attempt(1, ahead=-DAY)
    place.is_so('and runs are refused', {'tiny': {'in_future', 'last_run_failed'}}, 'critical', ahead=-DAY)
    place.is_so('a failed run of a clock that was behind', {'tiny': {'last_run_failed'}})


def a_little(place):
    place.begin()
    place.succeed('run')
    place.is_so("a reader's clock that is a minute behind", {'tiny': set()}, 'ok', ahead=-60)
    place.attempt(1, ahead=-60, what='a run of a minute ago')
    place.is_so('a run that is refused for a minute', {'tiny': {'last_run_failed'}})


def asked_ahead(place):
    place.begin()
    place.attempt(0, '--now', int(time.time()) + DAY, added=[('tiny', 'done')])
    place.is_so('--now of tomorrow', {'tiny': {'in_future'}}, 'critical')
    place.ends(1, 'check ends as the next run does', 'check')
    tap.ok('next: correct the clock' in place.out, 'with the step that helps', place.out)
    place.ends(1, 'so does its list of findings', 'check', '--json')
    place.attempt(1, what='that run')


def began_ahead(place):
    place.begin()
    place.attempt(0, '--now', int(time.time()), ahead=2 * DAY, added=[('tiny', 'done')])
    place.is_so('only the beginning of the last run is ahead', {'tiny': {'clock'}})


def vanished(place):
    place.begin(SMALL + OTHER)
    place.succeed('run')
    rows = place.query("SELECT * FROM fairmill_fairshare WHERE cluster = 'tiny'")
    place.change("DELETE FROM cluster_table WHERE name = 'tiny'")
    place.attempt(65, added=[('tiny', 'failed'), ('other', 'done')], what='a run that misses a cluster')
    place.says('it is named, with what would take it away', "'tiny'", 'forget --cluster tiny')
    tap.same(place.query("SELECT * FROM fairmill_fairshare WHERE cluster = 'tiny'"), rows, 'its published rows stay')
    place.ends(65, 'check ends as that run', 'check')
    tap.ok('forget --cluster tiny' in place.err and 'next:' not in place.out, 'and names the way out only', place.out, place.err)
    gone = {'tiny': {'vanished', 'last_run_failed'}, 'other': set()}
    place.is_so('a cluster has vanished', gone, published=2)
    tap.same(place.query("SELECT subject, count FROM fairmill_finding WHERE kind = 'cluster_vanished'"), [('', 1)],
             'it is a finding')
    place.away()
    place.attempt(69, added=[('other', 'failed'), ('tiny', 'failed')])
    os.rename(place.path('away'), place.path('a.db'))
    place.change("INSERT INTO cluster_table (name, creation_time, mod_time, deleted, federation, fed_state)"
                 " VALUES ('tiny', 1, 1, 0, '', 0)")
    place.is_so('whatever other runs ended with', {'tiny': {'vanished', 'last_run_failed'},
                                                   'other': {'last_run_failed'}}, published=2)
    place.change(BREAK.format('tiny'))
    place.attempt(65, added=[('other', 'done'), ('tiny', 'failed')], what='it is there again, and broken')
    place.ends(64, 'so that it cannot be forgotten', 'forget', '--cluster', 'tiny', '--yes')
    place.is_so('nor has it vanished', {'tiny': {'last_run_failed'}, 'other': set()}, published=2)
    place.change("UPDATE tiny_assoc_table SET parent_acct = 'root', id_parent = 1 WHERE user = '' AND id_assoc > 1")
    place.change("UPDATE tiny_assoc_table SET parent_acct = '', id_parent = (SELECT id_assoc FROM tiny_assoc_table a WHERE"
                 " a.acct = tiny_assoc_table.acct AND a.user = '') WHERE user <> ''")
    place.ends(0, 'once it is whole again a run is done', 'run')
    place.is_so('and all is well', {'tiny': set(), 'other': set()}, 'ok', published=2)
    place.ends(64, 'then it cannot be forgotten', 'forget', '--cluster', 'tiny', '--yes')
    place.change("DELETE FROM cluster_table WHERE name = 'tiny'")
    place.settings({'source.clusters': 'tiny, other'})
    place.attempt(65, added=[('tiny', 'failed'), ('other', 'done')], what='a run whose settings name it')
    tap.same(place.err.count('\n'), 1, 'says it once')
    place.settings()
    place.ends(0, 'what has vanished can be forgotten', 'forget', '--cluster', 'tiny', '--yes')
    place.is_so('then it is no matter', {'other': set()}, 'ok')
    place.change('DELETE FROM cluster_table')
    before = place.query('SELECT * FROM fairmill_fairshare')
    place.ends(65, 'a run that finds no cluster at all fails', 'run')
    place.is_so('no cluster is there', {'other': {'vanished', 'last_run_failed'}})
    tap.same(place.query('SELECT * FROM fairmill_fairshare'), before, 'and all rows stay')


def missing(place):
    place.begin(keys={'source.clusters': 'tiny, other'})
    place.attempt(65, added=[('other', 'failed'), ('tiny', 'done')], what='a run that misses a cluster of the settings')
    place.ends(65, 'check ends as that run', 'check')
    tap.ok("'other'" in place.err and 'next:' not in place.out, 'and recommends no first run', place.out, place.err)
    place.is_so('a cluster of the settings is missing', {'tiny': set(), 'other': {'never_published', 'last_run_failed'}}, 'critical')
    place.ends(0, 'a slip of the settings', 'forget', '--cluster', 'other', '--yes')
    place.is_so('can be forgotten', {'tiny': set()}, 'ok')


def deleted(place):
    place.begin(SMALL + OTHER)
    place.succeed('run')
    place.change("UPDATE cluster_table SET deleted = 1 WHERE name = 'other'")
    place.attempt(0, added=[('tiny', 'done')])
    place.is_so('a cluster was retired', {'tiny': set()}, 'ok')
    place.change("UPDATE cluster_table SET deleted = 0 WHERE name = 'other'")
    place.change(BREAK.format('other'))
    place.attempt(65, added=[('other', 'failed'), ('tiny', 'done')])
    place.is_so('it came back, and failed', {'tiny': set(), 'other': {'never_published', 'last_run_failed'}}, 'critical')
    place.run('status')
    place.says('the way out is named', '`fairmill forget --cluster other`')
    days = place.query('SELECT count(*) FROM fairmill_usage_day')
    place.ends(64, 'but not while it is in the accounting database', 'forget', '--cluster', 'other', '--yes')
    place.says('which is said', "'other': the accounting database contains it")
    tap.same(place.query('SELECT count(*) FROM fairmill_usage_day'), days, 'and nothing is removed')
    place.away()
    place.ends(69, 'nor while that cannot be asked', 'forget', '--cluster', 'other', '--yes')
    os.rename(place.path('away'), place.path('a.db'))
    place.change("UPDATE cluster_table SET deleted = 1 WHERE name = 'other'")
    place.attempt(0, added=[('tiny', 'done')])
    place.is_so('it was marked as deleted again', {'tiny': set()}, 'ok')
    place.change("INSERT INTO cluster_table (name, creation_time, mod_time, deleted, federation, fed_state)"
                 " VALUES ('brief', 1, 1, 0, '', 0)")
    place.attempt(78, added=[('brief', 'failed'), ('tiny', 'done')], what='a run for a cluster without tables')
    place.is_so('a cluster came', {'tiny': set(), 'brief': {'never_published', 'last_run_failed'}}, 'critical')
    place.change("UPDATE cluster_table SET deleted = 1 WHERE name = 'brief'")
    place.attempt(0, added=[('tiny', 'done')])
    place.is_so('and went before any run for it was done', {'tiny': set()}, 'ok')
    place.attempt(0, added=[('tiny', 'done')])
    place.ends(0, 'and can be forgotten', 'forget', '--cluster', 'brief', '--yes')
    place.ends(0, 'as the one that was retired', 'forget', '--cluster', 'other', '--yes')


def stale(place):
    """Three times the median of the last ten intervals, at least 15 minutes."""
    now = int(time.time())
    place.begin()
    place.succeed('run', '--now', now - 880)
    place.is_so('a first run is 15 minutes old at most', {'tiny': set()}, 'ok')
    place.begin()
    place.succeed('run', '--now', now - 920)
    place.is_so('a first run is older than 15 minutes', {'tiny': {'stale'}}, 'critical')
    place.begin()
    for hour in range(30, 18, -1):
        place.succeed('run', '--now', now - 3600 * hour // 6)      # every ten minutes
    place.succeed('run', '--now', now - 3600 * 3)
    place.attempt(64, '--now', now - 5 * 3600)
    place.is_so('a failed run is no interval', {'tiny': {'stale', 'last_run_failed'}}, 'critical')
    place.begin()
    for hour in (40, 7, 6, 5, 4):
        place.succeed('run', '--now', now - 3600 * hour)
    place.succeed('run', '--now', now - 3600 * 3 + 60)
    place.is_so('an hourly run is three hours old at most', {'tiny': set()}, 'ok')
    place.ends(0, 'without a limit a monitor has the same', 'status', '--nagios')
    place.succeed('show')
    tap.same(place.err, '', 'and commands have no word about it')
    place.succeed('run', '--replace', '--now', now - 3600 * 3 - 60)
    place.is_so('an hourly run is older than three hours', {'tiny': {'stale'}}, 'critical')
    place.ends(2, 'which is critical to a monitor without a limit', 'status', '--nagios')
    place.ends(0, 'and none to one with a limit of its own', 'status', '--nagios', '--max-age', '4h')
    for command in (('show', '--json'), ('prio',), ('explain', 'alice'), ('compare', '--csv'), ('history', 'alice'),
                    ('whatif', '--shares', 'alice=2'), ('forecast', 'alice'), ('statement',)):
        place.ends(0, f"{command[0]} ends with 0", *command)
        tap.same(place.err, "fairmill: the results of cluster 'tiny' are stale: 3 h old\n", 'and says their age once')
    place.succeed('verify')
    tap.same(place.err, '', 'verify does not, as it names their time')
    place.site(SMALL + OTHER)
    place.succeed('run', '--cluster', 'other')
    place.succeed('show', '--cluster', 'other')
    tap.same(place.err, '', 'nor is a cluster named that is not shown')


def views(place):
    """Readers read views: what they do not get is not published."""
    place.begin()
    names = [name for name, in place.query("SELECT name FROM sqlite_master WHERE type = 'view'")]
    place.succeed('run')
    gone = {'tiny': {'unreadable'}}
    damages = [(f'{name} is gone', f'DROP VIEW "{name}"') for name in names]
    damages += [(f'{name} selects from what is not there', f'DROP VIEW "{name}"; CREATE VIEW "{name}" AS SELECT * FROM nowhere')
                for name in ('fairmill_fairshare', 'fairmill_account')]
    for what, sql in damages + [('all views are gone', '; '.join(sql for _, sql in damages[:len(names)]))]:
        shutil.copy(place.path('r.db'), place.path('whole.db'))
        for statement in sql.split('; '):
            place.query(statement)
        if 'fairmill_fairshare' not in sql:
            place.is_so(what, gone, 'critical')
        for status, command in ((1, ('status',)), (2, ('status', '--nagios')), (78, ('verify',)), (78, ('check',)), (78, ('run',))):
            place.ends(status, f"{what}: '{' '.join(command)}' ends with {status}", *command)
            tap.ok('`fairmill init`' in place.out + place.err, 'and says what to do', place.out, place.err)
        tap.same(place.query('SELECT status FROM fairmill_run ORDER BY run_id DESC LIMIT 1'), [('done',)], f'{what}: yet the run is done')
        place.succeed('init')
        place.is_so(f'{what}, and init has run', {'tiny': set()}, 'ok')
        os.replace(place.path('whole.db'), place.path('r.db'))
    for what, sql in (('the tree is gone', 'DELETE FROM fairmill_tree'), ('a row is gone', 'DELETE FROM fairmill_value WHERE id_assoc = 2'),
                      ('a row is of another cluster', "UPDATE fairmill_tree SET cluster = 'other' WHERE id_assoc = 3"),
                      ('a view of another program stands there',
                       'DROP VIEW fairmill_sshare; CREATE VIEW fairmill_sshare AS SELECT 1 AS cluster, 1 AS id_assoc')):
        place.begin()
        place.succeed('run')
        for statement in sql.split('; '):
            place.query(statement)
        place.ends(1, f'{what}: status is not healthy', 'status')
        place.says('and says what readers do not get', 'readers')
        place.ends(2, f'{what}: a monitor is told', 'status', '--nagios')
        place.run('init')
        place.succeed('run')
        place.is_so(f'{what}, and init and a run were here', {'tiny': set()}, 'ok')


def copied(place):
    """VACUUM INTO makes a copy without a write-ahead log."""
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
    tap.ok('no results yet' not in place.err and 'write-ahead log' in place.err, 'which says what the copy lacks', place.err)
    place.succeed('init')
    place.attempt(0, added=[('tiny', 'done')], what='a run after init')


def report_says(place, what, word):
    if not HAS_REPORT:
        return
    place.succeed('report')
    tap.ok(word in place.out, what, place.out.count(word))


def view_on_page(place):
    """The page reads tables, and says so if readers cannot read views."""
    place.begin()
    place.succeed('run')
    report_says(place, 'the page is well', 'fairmill')
    place.query('DROP VIEW fairmill_sprio')
    report_says(place, 'the page knows that readers do not see all rows', 'readers do not see all rows')
    if HAS_REPORT:
        tap.ok('r.db' not in place.out and 'fairmill_sprio' not in place.out, 'and does not say why')


def unrecorded(place):
    """A run that can leave no row leaves a file, whichever variables name its directory."""
    word = 'a run failed and could not be recorded'
    place.begin()
    place.succeed('run')
    good = {'results.database': place.path('r.db')}
    place.settings({'usage.half_life': 'long'})
    place.attempt(78, added=[], what='a run with bad settings')
    place.settings(good)
    place.is_so('the settings were bad', {'tiny': {'unrecorded'}})
    place.run('status')
    place.says('status has its exit status', word, '78')
    report_says(place, 'so has the page', word)
    with open(place.path('reader.conf'), 'w', encoding='utf-8') as file:
        file.write(f"[results]\ndriver = sqlite\ndatabase = {place.path('r.db')}\n")
    os.rename(place.path('fm.conf'), place.path('fairmill.conf'))
    place.attempt(78, added=[], what='a run whose settings are missing')
    os.rename(place.path('fairmill.conf'), place.path('fm.conf'))
    for mark in glob.glob(place.path('fairmill-*/unrecorded-*')):
        os.utime(mark, (time.time() - 2, time.time() - 2))  # not of the same second
    place.attempt(0, '--cluster', 'tiny', added=[('tiny', 'done')])
    place.is_so('after a run that left its row', {'tiny': set()}, 'ok')
    place.attempt(0, added=[('tiny', 'done')])
    place.settings({'results.database': place.path('none/r.db')})
    place.attempt(78, added=[], what='a run that cannot open the results')
    place.settings(good)
    place.is_so('the results could not be opened', {'tiny': {'unrecorded'}})
    place.attempt(64, '--now', 1, what='a failed run that left its row')
    place.is_so('a failed run that leaves its row takes the file away', {'tiny': {'last_run_failed'}})
    place.attempt(0, added=[('tiny', 'done')])
    place.settings({'usage.half_life': 'long'})
    place.ends(78, 'a dry run fails', 'run', '--dry-run')
    place.ends(78, 'as does a command that is no run', 'check')
    place.settings(good)
    place.is_so('which leave no file', {'tiny': set()}, 'ok')
    os.rename(place.path('fm.conf'), place.path('fairmill.conf'))
    place.succeed('run', settings='fairmill.conf')
    os.rename(place.path('fairmill.conf'), place.path('fm.conf'))
    place.ends(78, 'settings that are not there', 'run', settings='fairmill.conf')
    place.ends(1, 'are seen by a reader of reader.conf beside them', 'status', settings='reader.conf')
    place.says('who has the exit status too', word, '78')
    place.is_so('and by nobody with other settings', {'tiny': set()}, 'ok')


def of_another_user(place):
    """Cron starts runs as one user, others ask; only the user of the runs leaves a file that counts."""
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
    tap.same(got.returncode, 0, 'a run of daemon is done')
    # Now nothing but the row of the run says whose runs they are.
    for name in ('', 'r.db', 'r.db-wal', 'r.db-shm'):
        if os.path.exists(place.path(name)):
            os.chown(place.path(name), 0, 0)
    place.settings({'usage.half_life': 'long'}, 'fairmill.conf')
    as_user(games, 'run', settings='fairmill.conf')
    asked_by('a run of a user who does no runs says nothing to root', root, 0)
    asked_by('nor to the user of the runs', daemon, 0)
    got = as_user(daemon, 'run', settings='fairmill.conf')
    tap.same(got.returncode, 78, 'a run of daemon with bad settings fails')
    for entry in (daemon, games, root):
        asked_by(f'status of {entry.pw_name} knows it', entry, 1)
    shutil.rmtree(place.path(f'tmp/fairmill-{daemon.pw_uid}'))
    shutil.rmtree(place.path(f'tmp/fairmill-{games.pw_uid}'))
    asked_by('without the file nothing is known', games, 0)
    os.makedirs(place.path('state'), 0o700)
    os.chown(place.path('state'), daemon.pw_uid, daemon.pw_gid)
    as_user(daemon, 'run', settings='fairmill.conf', state=place.path('state'))
    tap.same(len(os.listdir(place.path('state'))), 1, 'a state directory has the file')
    asked_by('yet a user who may not read that directory knows of it', games, 1)


def full_disk(place):
    """The results' disk is full, so that neither the run nor its row can be written."""
    place.begin(SMALL)
    with small_disk.small_disk(place.folder, 8) as disk:
        if not disk:
            tap.diag('no file system can be mounted here')
            return
        place.settings({'results.database': os.path.join(disk, 'r.db')})
        place.succeed('init')
        place.succeed('run')
        with small_disk.leave_room(disk, 0):
            got = place.run('run')
            tap.ok(got, 'a run on a full disk fails', place.err)
        place.ends(1, 'which status knows', 'status')
        place.says('though the run left no row', 'could not be recorded')


def at_work(place):
    place.begin()
    place.succeed('run')
    lock, = [name for name in os.listdir(place.folder) if name.endswith('.lock')]
    with open(place.path(lock), 'r+b') as file:
        fcntl.flock(file, fcntl.LOCK_EX)
        place.attempt(75, added=[], what='a run that finds another at work')
        place.is_so('another run is at work', {'tiny': set()}, 'ok')


def future_goes(place):
    """What runs left of instants that have not come goes with --replace, and nothing else does."""
    place.begin(keys={'retention.history_interval': 0})
    now = int(time.time())
    place.succeed('run', '--now', now - 2 * DAY)
    place.succeed('run', '--now', now - DAY)
    place.ahead = 2 * DAY
    place.change('UPDATE tiny_assoc_table SET shares = 77, mod_time = 1 WHERE "user" = \'bob\'')
    place.succeed('run')
    place.ahead = 0
    tap.ok(place.query('SELECT MAX(as_of) FROM fairmill_history_point')[0][0] > now + DAY, 'a clock that was ahead leaves a point')
    place.succeed('run', '--replace', '--now', now - 3 * DAY)
    instants = {name: [at for at, in place.query(f'SELECT DISTINCT {column} FROM fairmill_{name} ORDER BY 1')]
                for name, column in (('history', 'as_of'), ('history_point', 'as_of'), ('association', 'since'),
                                     ('share_change', 'as_of'), ('finding', 'last_seen'))}
    tap.ok(all(at <= time.time() for each in instants.values() for at in each), 'with --replace it goes everywhere', instants)
    tap.same(instants['history_point'], [now - 3 * DAY, now - 2 * DAY, now - DAY], 'points of instants that came stay')
    place.succeed('run')
    tap.same([shares for shares, in place.query(
        'SELECT shares FROM fairmill_share_change WHERE user_name = \'bob\' ORDER BY as_of')], [10, 77],
        'and what had changed meanwhile is noted at its time')


def body():
    for part in (well, nothing_yet, never_published, failed_later, without_source, two_sources, refused, ahead_once,
                 jumps_back, a_little, asked_ahead, began_ahead, vanished, missing, deleted, stale, views, copied, view_on_page, unrecorded,
                 of_another_user, full_disk, at_work, future_goes):
        if part in (ahead_once, jumps_back, a_little, began_ahead, future_goes) and not preload.compiler():
            tap.diag(f'{part.__name__}: no compiler makes the clock')
            continue
        with Sick() as place:
            part(place)


tap.main(body)
