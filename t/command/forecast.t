#!/usr/bin/env -S python3 -B
# SPDX-License-Identifier: MIT
# needs: sqlite
"""Tests that a forecast for a time equals the values that a run computes at that time.

Tests 10 random sites, or 16 with FAIRMILL_LONG=1.  FAIRMILL_SITES=N sets another number, and
FAIRMILL_SEED=N selects site N."""

import csv
import io
import json
import os
import random
import sqlite3
import sys

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), '..', 'lib'))
import demonstration
import tap
from place import NOW, Place
from seeds import seeds
from site_drawing import PARENT, Site, insert

DAY, HOUR, WEEK = 86400, 3600, 7 * 86400
ALGORITHMS = ('fair_tree', 'fair_tree', 'classic', 'linear', 'depth_oblivious', 'pbs')
RESETS = ('none', 'none', 'none', 'daily', 'weekly', 'monthly', '5-0')


# ---- Random sites with jobs that ended long ago, and jobs of the last week whose mean is a whole
# number ----

def random_tree(r):
    site = Site()
    cluster = site.cluster('tiny')
    cluster.registered = '1=640,4=10,5=640'
    cluster.account('root', '')
    names = ['root']
    for i in range(r.randrange(2, 10)):
        cluster.account(f'a{i}', r.choice(names), r.choice((0, 1, 1, 2, 5, 70, PARENT)))
        names.append(f'a{i}')
    for i in range(r.randrange(5, 25)):
        cluster.user(f'u{i}', r.choice(names), r.choice((0, 1, 1, 1, 3, 10, r.randrange(1, 1000), PARENT)))
    for i in range(2):
        cluster.user(f'gone{i}', r.choice(names), deleted=1)
    return site, cluster


def random_past(r, cluster, half_life):
    """Returns {id_assoc: mean TRES in use}."""
    rates = {}
    reach = max(half_life, DAY) * r.choice((2, 10, 60))
    for row in cluster.associations:
        if not row['user']:
            continue
        for _ in range(r.choice((0, 0, 1, 2))):
            end = NOW - WEEK - r.randrange(0, reach)
            cluster.job(row['id_assoc'], end - r.randrange(1, 3 * DAY), end, billing=r.randrange(1, 10 ** 4))
        if r.random() < .7:
            length, mean = r.choice((HOUR, DAY, 7 * HOUR, 2 * DAY + DAY // 3, WEEK)), r.randrange(1, 100)
            start = NOW - WEEK + r.randrange(0, WEEK - length + 1)
            cluster.job(row['id_assoc'], start, start + length, billing=mean * (WEEK // length))
            if not row['deleted']:
                rates[row['id_assoc']] = mean
    return rates


def below(cluster, number):
    """Returns the ids of an association and of all associations below it."""
    rows = {row['id_assoc']: row for row in cluster.associations}
    accounts = {row['acct']: row for row in cluster.associations if not row['user']}
    found = set()
    for each, row in rows.items():
        at = row
        while at and at['id_assoc'] != number:
            at = accounts.get(at['acct'] if at['user'] else at['parent_acct'])
        if at:
            found.add(each)
    return found


def cluster(place):
    """Returns the cluster in the last JSON output."""
    found, = json.loads(place.out)['clusters']
    return found


def points(place):
    """Returns {projection: its points in the order of time}."""
    found = {}
    for row in cluster(place)['points']:
        found.setdefault(row['projection'], []).append(row)
    return found


def values(place, number):
    row, = place.query('SELECT fairshare, fair_tree_rank, level_fs, level_fs_infinite, usage_raw FROM '
                       'fairmill_fairshare WHERE id_assoc = ?', number)
    return dict(zip(('fairshare', 'rank', 'levelfs', 'infinite', 'rawusage'), row))


def differs(point, run, algorithm):
    wanted = dict(fairshare=run['fairshare'], rawusage=run['rawusage'])
    if algorithm == 'fair_tree':
        wanted.update(rank=run['rank'], levelfs=None if run['infinite'] else run['levelfs'])
    return {key: (point[key], value) for key, value in wanted.items() if point[key] != value}


def add_jobs(place, jobs):
    db = sqlite3.connect(place.path('a.db'))
    count, = db.execute('SELECT count(*) FROM tiny_job_table').fetchone()
    for key, (number, tres, seconds) in enumerate(jobs, count + 1):
        insert(db, 'tiny_job_table', dict(
            job_db_inx=key, mod_time=1, deleted=0, id_job=key, job_name='j', partition='p', tres_req='', state=3,
            id_assoc=number, time_submit=NOW, time_eligible=NOW, time_start=NOW, time_end=NOW + seconds,
            timelimit=0, id_qos=1, tres_alloc=f'5={tres}'))
    db.commit()
    db.close()


def enter(r, place, alive, jobs):
    """Makes a ledger entry in the past or the future."""
    row = r.choice([row for row in alive if row['user']])
    order = r.choice((['credit', f'{r.randrange(1, 9999)}h', '--user', row['user'], '--account', row['acct']],
                      ['debit', f'{r.randrange(1, 9999)}h', '--user', row['user'], '--account', row['acct']],
                      ['reset', '--user', row['user']], ['reset', '--account', row['acct']],
                      ['set', r.choice((0, 1, 10 ** 6)), '--user', row['user'], '--account', row['acct']],
                      ['reset', '--all'] if r.random() < .3 else ['reset', '--user', 'gone0'],
                      ['refund', r.randrange(1, jobs + 1)] if jobs else ['reset', '--user', row['user']]))
    # A job cannot be refunded before it began.
    first = 0 if order[0] == 'refund' else -10 * DAY
    place.succeed('ledger', *order, '--at', NOW + r.randrange(first, 12 * DAY), '--why', 'test', '--yes')
    if r.random() < .2:
        place.succeed('ledger', 'undo', place.query('SELECT max(id) FROM fairmill_ledger')[0][0], '--why', 'test', '--yes')


def random_sites(place):
    sites = seeds(10, 16)
    failures, tried = {projection: [] for projection in ('nothing', 'as_last_week', 'others', 'job')}, 0
    for seed in sites:
        r = random.Random(seed)
        half_life, days = r.choice((('0', 0), ('7-0', WEEK), ('7-0', WEEK), ('1-0', DAY), ('4:00:00', 4 * HOUR))), 12
        keys = {'usage.half_life': half_life[0], 'usage.reset_period': r.choice(RESETS), 'usage.time_zone': 'Europe/Paris',
                'fairshare.algorithm': r.choice(ALGORITHMS),
                'fairshare.conformance': r.choice(('documents', 'slurmctld')),
                'fairshare.slurm_version': r.choice(('25.05', '25.11'))}
        site, cluster = random_tree(r)
        rates = random_past(r, cluster, half_life[1])
        place.ready(keys=keys)
        os.unlink(place.path('a.db'))
        site.write(place.path('a.db'))
        place.succeed('run', '--now', NOW)
        alive = [row for row in cluster.associations if not row['deleted'] and row['id_assoc'] != 1]
        who = r.choice([row for row in alive if row['user']] if r.random() < .8 else alive)
        number, mine = who['id_assoc'], below(cluster, who['id_assoc'])
        for _ in range(r.choice((0, 0, 1, 3, 5))):
            enter(r, place, alive, len(cluster.jobs))
        tres, hours = r.randrange(1, 500), r.choice((1, 30, 100))
        if place.run('forecast', f"{who['acct']}/{who['user']}", '--now', NOW, '--days', days, '--json',
                     '--job', f'{tres}x{hours}h'):
            raise RuntimeError(place.err)
        foreseen = points(place)
        others = [(each, rate, 20 * DAY) for each, rate in rates.items() if each not in mine]
        goes_on = {'nothing': [], 'others': others, 'job': [(number, tres, hours * HOUR)],
                   'as_last_week': [(each, rate, 20 * DAY) for each, rate in rates.items()]}
        for projection, jobs in goes_on.items():
            # The jobs of the other users are already there when the job is added.
            site_is_new = projection != 'job'
            if site_is_new:
                os.unlink(place.path('a.db'))
                site.write(place.path('a.db'))
            add_jobs(place, jobs)
            for day in r.sample(range(days + 1), 3):
                place.succeed('run', '--now', NOW + day * DAY, '--replace', '--full')
                tried += 1
                difference = differs(foreseen[projection][day], values(place, number), keys['fairshare.algorithm'])
                if difference:
                    failures[projection].append(f"{seed}: {keys} {who['acct']}/{who['user']} on day {day}: {difference}")
    for projection, statement in (
            ('nothing', 'if nothing runs, a run at a later time computes the same bits'),
            ('as_last_week', 'if usage continues as last week, a run computes the same bits'),
            ('others', 'if only other users continue, a run computes the same bits'),
            ('job', 'with another job, a run computes the same bits')):
        tap.ok(not failures[projection], f'{statement}, on {len(sites)} random sites', *failures[projection][:8])
    tap.ok(tried >= 12 * len(sites), 'each projection was tested on each site')


def grows_old(place):
    """In a new decay epoch, old usage may be too old to count.

    This can affect a job, the charge that slurmctld makes after a suspended job's end, or a ledger
    entry."""
    start = NOW // (8 * DAY) * 8 * DAY  # of the epoch that begins 56 days later
    job = f'job root.u start={start - 4 * DAY} end={start - 3 * DAY} billing=1\n'
    old = {'a job': (job, ()),
           'a suspended one': (f'job root.u start={start - 14 * DAY} end={start - 13 * DAY} billing=1\n'
                               f'suspended {start - 13 * DAY} {start - 13 * DAY}\n', ('reset', '--all', '--at', start - 12 * DAY)),
           'a debit': ('', ('debit', '10h', '--user', 'u', '--account', 'root', '--at', start - 3 * DAY)),
           'nothing': ('', ())}
    for name, (drawing, entry) in old.items():
        place.ready(f'cluster tiny\nregistered 1=100,5=100\nroot/\n  u 1\n  v 1\n{drawing}'
                    f'job root.v start={start + DAY} end={start + 2 * DAY} billing=1\n',
                    {'fairshare.conformance': 'slurmctld', 'usage.half_life': '1-0'})
        if 'suspended' in drawing:
            place.change('INSERT INTO tiny_step_table (job_db_inx, id_step, time_end) SELECT job_db_inx, -5, ? FROM tiny_job_table'
                         ' WHERE time_end < ?', start - DAY, start)
        if entry:
            place.succeed('ledger', *entry, '--why', 'a test', '--yes')
        now, run = start + 10 * DAY, {}
        place.succeed('run', '--now', now)
        number, = place.query("SELECT id_assoc FROM fairmill_fairshare WHERE user_name = 'u'")[0]
        place.succeed('forecast', 'root/u', '--now', now, '--days', 50, '--json')
        foreseen = points(place)['nothing']
        for day in (45, 46):
            place.succeed('run', '--now', now + day * DAY, '--replace', '--full')
            run[day] = values(place, number)
        tap.same([differs(foreseen[day], run[day], 'fair_tree') for day in run], [{}, {}],
                 f'forecast is exact when {name} becomes too old for the epoch')
        tap.same([run[day]['rawusage'] > 0 for day in run], [name != 'nothing', False], f'{name} becomes too old on that day')


# ---- the time when a value is reached ----

TWO = f'''
cluster tiny
registered 1=100,5=100
root/
  alice 1
  bob   1
  carol 1
job root.alice start={NOW - 20 * DAY} end={NOW - 10 * DAY} billing=100
job root.bob start={NOW - WEEK} end={NOW} billing=10
'''


def crossings(place):
    for algorithm, limit, statement in (('fair_tree', '0.5', 'a rank'), ('classic', '0.5', 'a factor')):
        place.ready(TWO, {'usage.half_life': '7-0', 'fairshare.algorithm': algorithm})
        place.succeed('run', '--now', NOW)
        place.succeed('forecast', 'alice', '--now', NOW, '--days', 60, '--until', limit, '--json')
        found = cluster(place)['crossings']
        tap.same(found['nothing'], None, f'{statement}: without usage of others the value is never reached')
        crossing = found['others']
        add_jobs(place, [(place._query('a.db', "SELECT id_assoc FROM tiny_assoc_table WHERE user = 'bob'")[0][0],
                          10, 80 * DAY)])
        factors = []
        for now in (crossing - 60, crossing):
            place.succeed('run', '--now', now, '--replace', '--full')
            factors.append(place.value('fairshare', 'root.alice'))
        tap.ok(factors[0] < float(limit) <= factors[1],
               f'{statement}: the value is reached within the minute that forecast names',
               crossing, factors)
    place.succeed('forecast', 'bob', '--now', NOW, '--days', 60, '--until', '0.001', '--json')
    place.ready(TWO, {'usage.half_life': '0', 'usage.reset_period': 'weekly', 'usage.time_zone': 'UTC',
                      'fairshare.algorithm': 'classic'})
    place.succeed('run', '--now', NOW)
    place.succeed('forecast', 'bob', '--now', NOW, '--until', '1', '--json')
    at = NOW + 5 * HOUR + 17
    place.succeed('ledger', 'reset', '--user', 'bob', '--at', at, '--why', 'test', '--yes')
    place.succeed('forecast', 'bob', '--now', NOW, '--until', '1', '--json')
    tap.same(cluster(place)['crossings']['nothing'], at, 'a future reset in the ledger gives the time to the second')
    place.succeed('ledger', 'undo', 1, '--why', 'test', '--yes')
    place.succeed('forecast', 'bob', '--now', NOW, '--until', '1', '--json')
    sunday = NOW // DAY * DAY
    while (sunday // DAY + 4) % 7 or sunday <= NOW:
        sunday += DAY
    tap.same(cluster(place)['crossings']['nothing'], sunday, 'a periodic reset gives the time to the second')


# ---- output formats and errors ----

def forms(place):
    place.ready(TWO, {'usage.half_life': '7-0', 'usage.time_zone': 'UTC'})
    place.succeed('run', '--now', NOW)
    place.succeed('forecast', 'alice', '--now', NOW, '--days', 3, '--json')
    others = points(place)['others']
    tap.same([point['as_of'] for point in others], [NOW + day * DAY for day in range(4)], 'there is one point for each day')
    place.succeed('forecast', 'alice', '--now', NOW, '--days', 3, '--csv')
    rows = [row for row in csv.DictReader(io.StringIO(place.out)) if row['projection'] == 'others']
    tap.same([(int(row['as_of']), float(row['fairshare']), float(row['rawusage'])) for row in rows],
             [(point['as_of'], point['fairshare'], point['rawusage']) for point in others],
             'CSV has all digits')
    place.succeed('forecast', 'alice', '--now', NOW, '--days', 3, '--csv')
    tap.same(place.out.splitlines()[0], 'cluster,account,username,partition,projection,as_of,fairshare,levelfs,rawusage,rank,place',
             'CSV has the column names of the result tables')
    place.succeed('forecast', 'alice', '--now', NOW, '--days', 1, '--parsable', '--format', 'projection,AsOf,user')
    tap.same(place.out.splitlines()[:2], ['Projection|AsOf|User', f'nothing|{NOW}|alice'],
             'the selected columns have their headings')
    place.succeed('forecast', 'alice', '--now', NOW, '--days', 1, '--noheader', '--format', 'projection,as_of')
    tap.same(place.out.splitlines()[:2], ['nothing      2025-06-21T10:00:00', 'nothing      2025-06-22T10:00:00'],
             'the text output has dates')
    for locale, utf8 in (('C', False), ('C.UTF-8', True)):
        env = {k: v for k, v in os.environ.items() if k not in ('FAIRMILL_CONF', 'LANG', 'LC_CTYPE')}
        place.succeed('forecast', 'alice', '--now', NOW, '--plot', env=dict(env, LC_ALL=locale))
        tap.same(place.out.isascii(), not utf8, f'curves use characters of the locale {locale}')
        tap.ok(max(map(len, place.out.splitlines())) <= 80, f'curves in the locale {locale} fit into 80 columns', place.out)
    place.succeed('forecast', 'alice', '--now', NOW)
    tap.ok('|' not in place.out and '│' not in place.out, 'output that is not a terminal has no curves')


def mistakes(place):
    place.ready()
    place.ends(1, 'forecast before the first run exits with status 1', 'forecast', 'alice')
    place.says('the error of forecast says that there are no results', 'no results yet')
    place.succeed('run', '--now', NOW)
    for statement, words, *arguments in (
            ('nobody', ['missing NAME']),
            ('an unknown name', ["'nobody'"], 'nobody'),
            ('the root', ["'root/'"], 'root/'),
            ('zero days', ["'0'"], 'alice', '--days', 0),
            ('too many days', ["'4000'"], 'alice', '--days', 4000),
            ('a limit that is not a number', ["'soon'"], 'alice', '--until', 'soon'),
            ('a limit below 0', ["'-1'"], 'alice', '--until', '-1'),
            ('a job without a time', ["'64'"], 'alice', '--job', '64'),
            ('a job without TRES', ["'0x12h'"], 'alice', '--job', '0x12h'),
            ('a job of length 0', ["'64x0'"], 'alice', '--job', '64x0'),
            ('an invalid time', ["'later'"], 'alice', '--now', 'later'),
            ('an unknown column', ["'course'"], 'alice', '--format', 'course'),
            ('an unknown cluster', ["'there'"], 'alice', '--cluster', 'there'),
            ('two output formats', ['mutually exclusive'], 'alice', '--json', '--csv')):
        place.ends(64, f'{statement}: forecast exits with status 64', 'forecast', *arguments)
        place.says(f'{statement}: the error names the cause', *words)


def golden(place):
    demonstration.publish(place)
    for name, *arguments in (('user', 'beatriz', '--until', '0.4', '--days', 8, '--plot'),
                             ('account', 'fluids', '--days', 7, '--plot', '--until', 1),
                             ('job', 'beatriz', '--days', 10, '--job', '2048x24h', '--until', '0.4')):
        place.succeed('forecast', *arguments, '--now', NOW, env=dict(os.environ, LC_ALL='C.UTF-8'))
        demonstration.is_as_known(place.out, 'forecast', f'{name}.txt',
                                  f'forecast of the demonstration equals forecast/{name}.txt')


def body():
    with Place() as place:
        mistakes(place)
        forms(place)
        grows_old(place)
        crossings(place)
        golden(place)
        random_sites(place)


tap.main(body)
