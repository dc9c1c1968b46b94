#!/usr/bin/env -S python3 -B
# SPDX-License-Identifier: MIT
# needs: sqlite mysql pgsql
"""Tests layout = pbs, which reads imported data: the tree, and each job's entity and usage."""

import json
import math
import os
import sqlite3
import struct
import sys
import tempfile
import time

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), '..', 'lib'))
import tap
from mariadb import Server
from postgres import Postgres
from program import fairmill, write_settings
from sqlite import Sqlite
from terminal import without_age

DAY = 1793491200  # 2026-11-01T00:00:00Z
NOW = DAY + 10000
# The tree of the document on PP-718, with the tree usage and the factor of users that begin at 1
# and are charged 100, 0 and 1000.
TREE = 'group1 11 root 40\ngroup2 12 root 60\nbob 13 group1 50\ncathy 14 group1 50\nsuzy 15 group2 60\nscott 16 group2 40\n'
PBSFS = dict(bob=(.126246, .6456), suzy=(.499668, .3821), scott=(.831728, .0905))


def line(at, kind, job, text=''):
    return time.strftime('%m/%d/%Y %H:%M:%S', time.gmtime(DAY + at)) + f';{kind};{job}.pbs;{text}\n'


def run_text(user, start, end=None, used='', group='chem', more='', ncpus=2):
    text = f'user={user} group={group} queue=workq ctime={DAY} qtime={DAY} etime={DAY} start={DAY + start}{more} Resource_List.ncpus={ncpus}'
    return text + (f' end={DAY + end} {used}' if end is not None else '')


def cput(seconds):
    return f'resources_used.cput=00:{seconds // 60:02}:{seconds % 60:02} resources_used.ncpus=4 resources_used.mem=2mb'


LOG = ''.join([
    line(100, 'S', 1, run_text('bob', 100)), line(600, 'E', 1, run_text('bob', 100, 600, cput(60))),
    line(900, 'E', 2, run_text('bob', 700, 900, cput(40), more=' account="p 1"')),
    line(1000, 'R', 3, run_text('cathy', 600, 1000, cput(30))), line(1300, 'E', 3, run_text('cathy', 1100, 1300, cput(70))),
    line(2000, 'E', 4, run_text('scott', 2000, 2000, cput(1000), group='phys')),
])
USED = dict(bob=100, cathy=100, suzy=0, scott=1000)


class Site:
    """Settings and imported files, with an accounting database on any server."""

    def __init__(self, folder, source, sqlite, results):
        self.folder, self.source, self.sqlite, self.results = folder, source, sqlite, results
        os.makedirs(f'{folder}/logs', exist_ok=True)
        self.write('tree', TREE)
        self.write('logs/20261101', LOG)
        self.set()

    def write(self, name, text):
        with open(f'{self.folder}/{name}', 'w', encoding='latin-1') as file:
            file.write(text)

    def set(self, usage=None, **pbs):
        write_settings(f'{self.folder}/conf', dict(
            source=self.source | dict(layout='pbs', clusters='pbs'), results=self.sqlite.connection(self.results),
            usage=dict(time_zone='UTC') | (dict(half_life=0) if usage is None else usage), fairshare=dict(algorithm='pbs', pbs_minimum_usage=1), pbs=pbs))

    def call(self, *arguments):
        return fairmill(f'{self.folder}/conf', *arguments)

    def bring(self, *more):
        return self.call('import', 'pbs', '--accounting', f'{self.folder}/logs', *more)

    def shown(self, *columns, now=NOW):
        """Returns these columns for each entity from a run for this time."""
        for command in (('init',), ('run', '--replace', '--now', now)):
            status, out, err = self.call(*command)
            if status:
                return status, out + err
        rows = self.sqlite.sql(f"SELECT account, user_name, {', '.join(columns)} FROM fairmill_fairshare", self.results)
        return {row[1] or row[0]: row[2:] for row in rows}

    def usage(self, now=NOW):
        got = self.shown('usage_raw', now=now)
        return {name: round(values[0], 6) for name, values in got.items()} if isinstance(got, dict) else got


def on_each(place, source):
    tap.same(place.bring('--resource-group', f'{place.folder}/tree'), (0, '', ''),
             f'logs and a tree are imported into {source}')
    used = place.usage()
    tap.same(used, USED | dict(TREEROOT=1200, unknown=0, group1=200, group2=1000),
             f'each entity has the recorded usage of its jobs in {source}')
    got = place.shown('pbs_tree_usage', 'pbs_factor')
    tap.ok(all(abs(got[name][0] - tree) < 6e-7 and abs(got[name][1] - factor) < 6e-5 for name, (tree, factor) in PBSFS.items()),
           f"each entity has OpenPBS's values in {source}", got)
    tap.same(place.call('verify')[0], 0, f'verify computes the same from {source}')
    suspended(place, source)
    unfinished(place, source)


def unfinished(place, source):
    """Tests runs without a recorded end, and runs that are recorded twice."""
    days = 86400
    asked, at = ' Resource_List.walltime=01:00:00', 20 * days
    place.write('logs/20261121', ''.join([
        line(at - 9, 'A', 21), line(at - 9, 'A', 22), line(at, 'S', 30, run_text('bob', at, more=asked)), line(at + 9, 'D', 30, 'Job deleted, execution node n0 down'),
        line(at, 'S', 31, run_text('cathy', at)), line(at, 'S', 32, run_text('suzy', at, more=asked)), line(at, 'S', 33, run_text('scott', at, more=asked))]))
    place.bring()
    base = dict(bob=0, cathy=0, suzy=0, scott=0)

    def counted(now):
        used = place.usage(now=DAY + now)
        return {name: used[name] - base[name] for name in base}

    def found():
        rows = place.sqlite.sql("SELECT kind, detail FROM fairmill_finding WHERE kind LIKE 'job%' AND last_seen = (SELECT MAX(as_of) FROM fairmill_run)", place.results)
        return sorted((kind, detail.split("'")[1]) for kind, detail in rows)

    base = counted(at)
    tap.same((counted(at + 600), found()), (dict.fromkeys(base, 1200), []),
             f'an open run counts its requested resources in {source}')
    capped = 2 * (3600 + days)
    tap.same(counted(at + 20 * days)['bob'], capped,
             'without an end a run counts up to open_job_cap after its walltime')
    tap.same((counted(at + 20 * days)['cathy'], found()), (2 * 20 * days, [('job_open_beyond_limit', job) for job in ('30.pbs', '32.pbs', '33.pbs')]), 'a run open beyond its walltime is a finding')
    used = counted(at + 31 * days)
    tap.same((used['cathy'], found()[-1]), (2 * 31 * days, ('job_open_for_long', '31.pbs')),
             'a run without a walltime is a finding after 30 days')
    place.write('logs/20261202', ''.join([line(31 * days, 'S', 32, run_text('suzy', 31 * days, more=asked)), *2 * [line(31 * days + 60, 'E', 32, run_text('suzy', 31 * days, 31 * days + 60, cput(60)))]]))
    place.write('logs/20261203', line(31 * days + 60, 'E', 32, run_text('suzy', 31 * days, 31 * days + 60, cput(60))) + line(32 * days, 'E', 33, run_text('scott', at, at + 600, cput(7))))
    place.bring()
    used = counted(at + 33 * days)
    tap.same((used['suzy'], used['scott']), (capped + 60, 7), f'a later start closes a run, and repeated ends count once in {source}')
    tap.same(found(), [('job_open_beyond_limit', '30.pbs'), ('job_open_for_long', '31.pbs')], 'closed runs are no longer findings')
    tap.same(place.call('verify')[0], 0, 'verify computes the same with unfinished runs')
    place.write('logs/20261204', 'nonsense\n' + line(33 * days, 'E', 34, 'user=x start=no ' + 'y' * 70000 + ' \xe9') + 'more\n')
    status, _, err = place.bring()
    tap.ok(status == 65 and '3 of 3 lines' in err, f'lines that cannot be read are reported in {source}', status, err)
    place.usage(now=DAY + at + 34 * days)
    tap.same(place.sqlite.sql("SELECT subject, detail FROM fairmill_finding WHERE kind = 'record_unreadable'", place.results), [('', "3 records, the first: '20261204', line 1")], 'lines that cannot be read are a finding')
    tap.same((place.bring()[0], place.call('verify')[0]), (0, 0), 'another import retries the lines')


def suspended(place, source):
    """Tests a run that is suspended three times, the last time until it ends, and a running one."""
    place.write('logs/20261102', ''.join([
        line(90000, 'S', 20, run_text('suzy', 90000)), line(90000, 'S', 21, run_text('cathy', 90000, ncpus=3)),
        line(91000, 'z', 20), line(91000, 'z', 21), line(92000, 'r', 20), line(94000, 'z', 20), line(94500, 'r', 20), line(95500, 'r', 21),
        line(96000, 'z', 20), line(98000, 'E', 20, run_text('suzy', 90000, 98000, cput(900)))]))
    place.bring()
    place.write('logs/20261103', ''.join([
        line(90000, 'S', 22, run_text('bob', 90000)), line(90000, 'z', 22), line(90000, 'S', 23, run_text('scott', 90000)),
        line(90000, 'z', 23), line(91000, 'E', 23, run_text('scott', 90000, 91000, cput(5)))]))
    place.bring()
    used = place.usage(now=DAY + 91500)
    tap.same((used['bob'], used['scott']), (100, 1000 + 5),
             'a run that was suspended all the time has no usage, or its recorded usage')
    tap.same(place.usage(now=DAY + 90500)['cathy'], 100 + 3 * 500,
             f'a run before its suspension counts all its time in {source}')
    tap.same(place.usage(now=DAY + 93000)['cathy'], 100 + 3 * 1000, 'a suspended run does not count more')
    used = place.usage(now=DAY + 100000)
    tap.same(used['cathy'], 100 + 3 * (10000 - 4500), 'a resumed run counts the time while it was not suspended')
    tap.same(used['suzy'], 900, 'an ended run counts its recorded usage, even if it was suspended')
    place.set(usage=dict(half_life='0-1'))
    used, now = place.usage(now=DAY + 100000)['suzy'], 100000
    ran = [(90000, 91000), (92000, 94000), (94500, 96000)]
    left = sum(3600 / math.log(2) * (2 ** ((b - now) / 3600) - 2 ** ((a - now) / 3600)) for a, b in ran) * 900 / sum(b - a for a, b in ran)
    tap.ok(abs(used - left) < 1e-5, 'the usage is spread over the time outside suspensions', used, left)
    status, out, _ = place.call('explain', '--jobs', 'suzy')
    tap.same((place.call('verify')[0], status), (0, 0), f'verify and explain --jobs include suspensions in {source}')
    place.set()


def on_one(folder):
    """Tests behavior that does not depend on the database."""
    site, sqlite = begun(folder, 'one')
    site.write('logs/20261102', ''.join([
        line(90000, 'E', 5, run_text('eve', 89000, 90000, cput(7))), line(91000, 'S', 6, run_text('bob', 91000, ncpus=3)),
        line(91000, 'S', 7, run_text('bob', 91000, ncpus=8)), line(92000, 'E', 7, run_text('bob', 91000, 92000, cput(11), ncpus=8))]))
    site.bring()
    late = DAY + 91500
    used = site.usage(now=late)
    tap.same((used['eve'], used['unknown']), (7, 7), 'users without shares are below the group unknown')
    tap.same(used['bob'], 100 + 500 * (3 + 8), 'a running job counts its CPUs for its time so far')
    tap.same(site.usage(now=DAY + 93000)['bob'], 100 + 11 + 2000 * 3, 'an ended job counts its recorded usage')
    tap.ok('bob' in site.usage(now=DAY - 1) and 'eve' not in site.usage(now=DAY - 1),
           'an entity does not exist before it was first seen')
    tap.same(site.call('verify')[0], 0, 'verify computes the same for a past time')
    rows = dict(sqlite.sql('SELECT user_name || account, shares FROM fairmill_fairshare', 'results_one'))
    tap.same(rows['unknown'], 0, 'the group unknown has no shares by default')
    site.set(unknown_shares=7)
    site.usage(now=late)
    rows = dict(sqlite.sql('SELECT user_name || account, shares FROM fairmill_fairshare', 'results_one'))
    tap.same((rows['unknown'], rows['eveunknown']), (7, 1),
             '[pbs] unknown_shares sets the shares of group unknown, its users have 1')
    for entity, expected in (('egroup', dict(chem=USED['bob'] + USED['cathy'], phys=1000)), ('Account_Name', {'p 1': 40, 'chem:bob': 60, 'chem:cathy': 100, 'phys:scott': 1000}),
                             ('queue', dict(workq=1200)), ('egroup:euser', {'chem:bob': 100, 'chem:cathy': 100, 'phys:scott': 1000})):
        site.set(fairshare_entity=entity)
        used = site.usage()
        tap.same({name: value for name, value in used.items() if value and name not in ('TREEROOT', 'unknown')}, expected,
                 f'jobs count for {entity}')
    for formula, expected in (('ncpus*walltime', 0), ('ncpus * 10', 80), ('mem/1024', 4), ('cput if ncpus == 4 else 0', 100), ('1/nothing', 0), ('-cput', 0)):
        site.set(fairshare_usage_res=formula)
        tap.same(site.usage()['bob'], expected, f'two jobs count {expected} by the formula {formula}')
    site.set(fairshare_usage_res='import os')
    tap.ok(site.call('run')[0] == 78 and 'fairshare_usage_res' in site.call('run')[2],
           'an invalid formula is rejected', site.call('run'))
    site.set()
    site.write('config', 'fairshare_usage_res: "ncpus*10"\nunknown_shares: 3\n')
    site.call('import', 'pbs', '--sched-config', f'{site.folder}/config')
    site.write('config', 'fairshare_usage_res: "ncpus*100"\n')
    site.call('import', 'pbs', '--sched-config', f'{site.folder}/config', '--at', DAY + 9000)
    tap.same((site.usage(now=DAY + 8000)['bob'], site.usage()['bob']), (80, 800),
             "without a setting in [pbs], sched_config's value at that time applies")
    site.write('tree', TREE.replace('scott 16 group2', 'scott 16 group1').replace('cathy 14 group1 50\n', ''))
    site.set(fairshare_usage_res='cput')
    site.call('import', 'pbs', '--resource-group', f'{site.folder}/tree', '--at', DAY + 9000)
    before, after = site.usage(now=DAY + 8000), site.usage()
    tap.same((before['group1'], before['group2'], before['unknown']), (200, 1000, 0), 'a past time has its own tree')
    tap.same((after['group1'], after['group2'], after['unknown']), (1100, 0, 100), 'the current tree has removed users in group unknown')
    tap.same(site.call('verify')[0], 0, 'verify computes the same with the changed tree')
    status, _, err = site.call('ledger', 'refund', '--yes', '4', '--why', 'x')
    tap.ok(status and 'layout = pbs' in err, 'a refund is rejected with the reason', status, err)


def by_tres(folder):
    """Tests usage by TRES: the amounts of each run for its time outside suspensions."""
    site, sqlite = begun(folder, 'tres')
    asked = ' Resource_List.mem=1025kb Resource_List.ngpus={} Resource_List.nodect=2 Resource_List.walltime=10:00:00'
    site.write('logs/20261102', ''.join([
        line(90000, 'S', 20, run_text('suzy', 90000, more=asked.format(2))), line(90000, 'S', 21, run_text('scott', 90000)), line(90000, 'z', 21),
        line(91000, 'z', 20), line(91000, 'E', 21, run_text('scott', 90000, 91000, cput(5))), line(92000, 'r', 20), line(94000, 'z', 20),
        line(94500, 'r', 20), line(96000, 'z', 20), line(98000, 'E', 20, run_text('suzy', 90000, 98000, cput(900), more=asked.format(2))),
        line(99000, 'S', 22, run_text('bob', 99000, ncpus=3, more=asked.format(1)))]))
    site.bring()
    ended = dict(bob=(500 + 200, 4, 0, 2, 0), cathy=(400 + 200, 4, 0, 2, 0))
    later = dict(suzy=(8000 - 1000 - 500 - 2000, 4, 2, 2, 2), bob=(1000, 3, 1, 2, 2))

    def wanted(runs, names):
        return {(user, name): seconds * amount for user, (seconds, *amounts) in runs.items()
                for name, amount in zip(('walltime', 'ncpus', 'ngpus', 'mem', 'nodect'), (1, *amounts)) if amount and name in names}

    def days(day):
        return {tuple(row[:2]): row[2] for row in sqlite.sql(
            'SELECT f.user_name, d.tres, d.seconds FROM fairmill_tres_day d JOIN fairmill_fairshare f ON f.cluster = d.cluster AND f.id_assoc = d.id_assoc'
            f' WHERE d.day = {DAY + day * 86400}', 'results_tres')}

    every = ('walltime', 'ncpus', 'ngpus', 'mem', 'nodect')
    for tres, names in (('auto', every[:3]), (','.join(every), every)):
        site.set(usage=dict(half_life=0, tres=tres))
        tap.same(site.usage(now=DAY + 100000)['suzy'], 900, f'with tres = {tres} the charge is the same')
        tap.same((days(0), days(1)), (wanted(ended, names), wanted(later, names)),
                 f'with tres = {tres} each day has the used amounts, or the requested ones, of each run')
        tap.same(site.call('verify')[0], 0, f'verify computes the same with tres = {tres}')
    used = {tuple(row[:2]): row[2] for row in sqlite.sql(
        'SELECT f.account, t.tres, t.usage_raw FROM fairmill_tres t JOIN fairmill_fairshare f ON f.cluster = t.cluster AND f.id_assoc = t.id_assoc'
        " WHERE f.user_name = '' AND t.usage_raw > 0 AND t.tres IN ('ncpus', 'ngpus')", 'results_tres')}
    bob, cathy, suzy = 700 * 4 + 1000 * 3, 600 * 4, 4500 * 4
    tap.same(used, {('TREEROOT', 'ncpus'): bob + cathy + suzy, ('group1', 'ncpus'): bob + cathy, ('group2', 'ncpus'): suzy,
                    ('TREEROOT', 'ngpus'): 1000 + 9000, ('group1', 'ngpus'): 1000, ('group2', 'ngpus'): 9000},
             'a group has the usage by TRES of its users')
    status, out, err = site.call('statement', '--since', '2026', '--tres', 'ncpus')
    tap.ok(not status and 'Used: CPU-hours' in out and f' {suzy / 3600:.1f} ' in out, 'a statement of ncpus is in CPU-hours', status, out, err)


def begun(folder, name):
    """Returns a site in SQLite with its logs and its tree."""
    sqlite = Sqlite(folder)
    os.makedirs(f'{folder}/{name}')
    site = Site(f'{folder}/{name}', sqlite.connection(name), sqlite, f'results_{name}')
    site.bring('--resource-group', f'{site.folder}/tree')
    return site, sqlite


def starts(folder):
    """Usage begins with the scheduler's usage file."""
    site, sqlite = begun(folder, 'starts')
    site.write('logs/20261102', line(90000, 'E', 5, run_text('bob', 80000, 90000, 'resources_used.cput=02:46:40')))
    site.bring()
    tap.same(site.usage(now=DAY + 90000)['bob'], 100 + 10000, 'without a usage file all logged usage counts')
    at = DAY + 86400
    for name, usage in (('bob', 5000), ('suzy', 70.5)):
        with sqlite3.connect(sqlite.connection('starts')['database']) as db:
            db.execute("INSERT INTO pbs_usage VALUES ('pbs', ?, ?, ?, ?)", (name, at, usage, DAY))
    used = site.usage(now=at + 3600)
    tap.same((used['bob'], used['suzy'], used['scott'], used['TREEROOT']), (5000 + 3600, 70.5, 0, 5000 + 3600 + 70.5),
             "usage before the file is the file's, later jobs are added")
    tap.same(site.usage(now=at)['bob'], 5000, "at the file's own time its usage is all")
    tap.same(site.usage(now=at - 1)['bob'], 100 + 2 * 6399,
             "before the file's time it does not count, and jobs run on two CPUs")
    site.set(usage=dict(half_life='1-0'))
    used = site.usage(now=at + 86400)
    tap.same(used['suzy'], 35.25, "the file's usage decays like other usage")
    tap.same(site.call('verify')[0], 0, 'verify computes the same with a usage file')
    site.call('ledger', 'reset', '--user', 'suzy', '--yes', '--at', at + 1, '--why', 'x')
    used = site.usage(now=at + 86400)
    tap.ok(used['suzy'] == 0 and used['bob'] > 2500, 'a later reset removes all usage of that user', used)
    site.call('ledger', 'undo', 1, '--yes', '--why', 'x')
    tap.same(site.usage(now=at + 86400)['suzy'], 35.25, 'undo restores the usage')
    site.call('ledger', 'reset', '--all', '--yes', '--at', at + 1, '--why', 'x')
    tap.same(site.usage(now=at + 86400)['suzy'], 0, "a later reset of all users removes the file's usage")


def half_lives(folder):
    """Usage decays as sched_config says, unless [usage] half_life is set."""
    site, sqlite = begun(folder, 'half')
    site.write('logs/20261102', line(86400, 'E', 5, run_text('suzy', 86399, 86400, 'resources_used.cput=00:00:64')))
    site.bring()
    when = DAY + 86400

    def left(days):
        # The precision of the comparison tolerates half a second of decay.
        return round(site.usage(now=when + days * 86400)['suzy'], 2)

    def length():
        return sqlite.sql('SELECT half_life FROM fairmill_run ORDER BY run_id DESC LIMIT 1', 'results_half')[0][0]

    site.set(usage={})
    at_once = left(0)
    tap.same((left(1), left(3), length()), (round(at_once / 2, 2), round(at_once / 8, 2), 86400),
             "usage halves in a day by OpenPBS's defaults")
    site.write('config', 'fairshare_decay_time: 48:00:00\nfairshare_decay_factor: 0.25\n')
    site.call('import', 'pbs', '--sched-config', f'{site.folder}/config', '--at', when + 2 * 86400)
    tap.same((left(1), length()), (round(at_once / 2, 2), 86400), 'settings imported for a later time do not apply yet')
    tap.same((left(2), length()), (round(at_once / 4, 2), 86400),
             'decay to a quarter in two days is the same half-life')
    site.set(usage={}, fairshare_decay_time='96:00:00')
    tap.same((left(4), length()), (round(at_once / 4, 2), 172800), '[pbs] overrides imported settings')
    tap.same(site.call('verify')[0], 0, "verify computes the same with OpenPBS's decay")
    site.set(usage={}, fairshare_decay_factor=0.9)
    tap.same((site.shown('usage_raw', now=when) is not None, length()), (True, round(2 * 86400 / -math.log2(.9))),
             'a factor of 0.9 gives a longer half-life')
    site.set(usage=dict(half_life='2-0'), fairshare_decay_factor=0.9)
    site.usage(now=when)
    tap.same(length(), 172800, '[usage] half_life overrides [pbs] and imported settings')
    site.set(usage={}, fairshare_decay_time='96:00:00')
    site.usage(now=when)
    status, out, err = site.call('whatif', '--half-life', '1-0', '--json')
    tap.ok(not status and not without_age(err), 'whatif accepts another half-life', status, err)
    status, out, err = site.call('forecast', 'suzy', '--json')
    left = [point['rawusage'] for point in json.loads(out)['clusters'][0]['points'] if point['projection'] == 'nothing']
    tap.ok(not status and not without_age(err) and left[0] > 0 and abs(left[2] / left[0] - .5) < 1e-9, 'forecast uses the half-life: half of the usage is left after two days', status, err, left)


def scheduler(now, runs, start, factor, period, last):
    """Returns the usage that OpenPBS's loop computes for runs (start, end, seconds of use) if it
    runs each second."""
    usage, t = start, last
    while t < now:
        if t >= last + period:
            usage, last = usage * factor, last + period
        usage += sum(used / (end - begin) for begin, end, used in runs if begin <= t < end)
        t += 1
    return usage


def steps(folder):
    """With decay = steps, usage decays at the times of the scheduler's steps."""
    site, sqlite = begun(folder, 'steps')
    runs = [(0, 8000, 4000), (7000, 7100, 50), (9300, 16000, 600)]
    site.write('logs/20261102', ''.join(
        line(end, 'E', 10 + job, run_text('suzy', begin, end, cput(used))) for job, (begin, end, used) in enumerate(runs)))
    site.bring()
    parameters = dict(fairshare_decay_time='1:00:00', fairshare_decay_factor=.3)
    factor = struct.unpack('f', struct.pack('f', .3))[0]
    site.set(usage=dict(decay='steps'), **parameters)
    midnight = DAY - DAY % 3600

    def same(at, what, start=0, last=midnight, since=0):
        parts = [(DAY + max(begin, since), DAY + end, used * (end - max(begin, since)) / (end - begin)) for begin, end, used in runs if end > since]
        wanted = scheduler(DAY + at, parts, start, factor, 3600, last)
        got = site.shown('usage_raw', now=DAY + at)['suzy'][0]
        tap.ok(abs(got - wanted) < 1e-6 * wanted, what, got, wanted)

    for at in (16000, 18000, 18001, 18100, 36000):
        same(at, f"usage with steps is the scheduler's at {at}")
    tap.same(site.call('verify')[0], 0, 'verify computes the same with steps')
    with sqlite3.connect(sqlite.connection('steps')['database']) as db:
        db.execute("INSERT INTO pbs_usage VALUES ('pbs', 'suzy', ?, 5000, ?)", (DAY + 9000, DAY + 4000))
    for at in (9000, 18400, 18401, 20000):
        same(at, f'a usage file sets the last step, due steps follow at {at}', 5000, DAY + 4000, 9000)
    with sqlite3.connect(sqlite.connection('steps')['database']) as db:
        db.execute('UPDATE pbs_usage SET last_decay = 0')
    same(20000, 'without a last step the file is the beginning', 5000, DAY + 9000, 9000)
    now = int(time.time())
    with sqlite3.connect(sqlite.connection('steps')['database']) as db:
        db.execute("INSERT INTO pbs_usage VALUES ('pbs', 'suzy', ?, 5000, ?)", (now - 9000, now - 10000))
    status, out, err = site.call('forecast', 'suzy', '--json')
    points = [point for point in json.loads(out)['clusters'][0]['points'] if point['projection'] == 'nothing']
    used, at = site.shown('usage_raw', now=points[0]['as_of'])['suzy'][0], points[1]['as_of'] - points[0]['as_of']
    tap.ok(not status and not without_age(err) and 0 < used < 500 and abs(points[0]['rawusage'] - used) < 1e-9 * used, 'a forecast begins with the usage of steps', status, err, points[0], used)
    half_life = sqlite.sql('SELECT half_life FROM fairmill_run ORDER BY run_id DESC LIMIT 1', 'results_steps')[0][0]
    tap.ok(abs(points[1]['rawusage'] / used / 2 ** (-at / half_life) - 1) < 1e-9, 'a forecast continues with the equivalent half-life', points[1], half_life)
    tap.same(site.call('whatif', '--half-life', '1-0', '--json')[0], 0, 'whatif accepts a half-life')
    site.set(usage=dict(decay='steps', half_life='1-0'))
    tap.ok((said := site.call('run'))[0] == 78 and 'half_life' in said[2], 'decay = steps with a half-life is rejected', said)
    site.set(usage=dict(decay='steps'), fairshare_decay_time='1', fairshare_decay_factor=.99999)
    with sqlite3.connect(sqlite.connection('steps')['database']) as db:
        db.execute('DELETE FROM pbs_usage')
    tap.ok((said := site.call('run', '--replace', '--now', DAY + 36000))[0] == 78 and 'steps' in said[2] and 'fairshare_decay_time' in said[2], 'too many steps are rejected', said)
    site.set(usage=dict(decay='exact'), **parameters)
    used = site.shown('usage_raw', now=DAY + 36000)['suzy'][0]
    tap.ok(used > 0 and site.call('verify')[0] == 0, 'exact decay works with these settings', used)


def body():
    with Server() as mariadb, Postgres() as postgres, tempfile.TemporaryDirectory() as folder:
        servers = dict(mysql=mariadb, pgsql=postgres, sqlite=Sqlite(folder))
        for name, server in servers.items():
            os.makedirs(f'{folder}/{name}')
            database = server.database('pbs_layout') if name != 'sqlite' else 'pbs_layout'
            on_each(Site(f'{folder}/{name}', server.connection(database), servers['sqlite'], f'results_{name}'), name)
        on_one(folder)
        by_tres(folder)
        starts(folder)
        half_lives(folder)
        steps(folder)


tap.main(body)
