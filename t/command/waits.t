#!/usr/bin/env -S python3 -B
# SPDX-License-Identifier: MIT
# needs: sqlite
"""Tests `fairmill waits`: the output for given rows, and the rows that a user may see.

The expected values come from a second implementation, which has one observation for each job."""

import csv
import io
import json
import math
import os
import random
import sys
import time

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), '..', 'lib'))
import answering
import tap
from place import NOW, Place

DAY = 86400
TODAY = NOW // DAY * DAY
BOUNDS = (60, 300, 900, 3600, 14400, 43200, 86400, 259200, 604800, -1)
# Every Linux system has these logins.
USER, COORDINATOR, OPERATOR = 'daemon', 'games', 'man'
DRAWING = f"""
cluster tiny
root/
  physics/ 60
    alice         10
    alice@gpu     10
    {USER}        10
    optics/       10
      bob         10
      {COORDINATOR} 10
  chemistry/ 40
    carol         10
"""
KEYS = {'usage.time_zone': 'UTC'}
GONE, UNKNOWN = 900, 901  # ids of an association that was removed, and of one without any record


# ---- The second implementation ----

def quantile(part, buckets):
    """Interpolates within a bucket, like histogram_quantile() of Prometheus."""
    rank, below = part * len(buckets), 0
    for number, bound in enumerate(BOUNDS):
        here = buckets.count(number)
        if here and below + here >= rank:
            if bound < 0:
                return 604800
            lower = BOUNDS[number - 1] if number else 0
            return math.floor(lower + (bound - lower) * (rank - below) / here + 0.5)
        below += here
    return None


def mean_ranks(values):
    ordered = sorted(values)
    return [ordered.index(value) + (ordered.count(value) + 1) / 2 for value in values]


def spearman(pairs):
    """Returns Pearson's coefficient of mean ranks."""
    if len(pairs) < 10:
        return None
    one, other = (mean_ranks(values) for values in zip(*pairs))
    mean = (len(pairs) + 1) / 2
    spread = math.sqrt(sum((rank - mean) ** 2 for rank in one) * sum((rank - mean) ** 2 for rank in other))
    return sum((a - mean) * (b - mean) for a, b in zip(one, other)) / spread if spread else None


def expected(jobs, key):
    """Returns {key: (jobs, median, p90, correlation)}."""
    groups = {}
    for job in jobs:
        groups.setdefault(key(job), []).append(job)
    return {name: (len(group), quantile(0.5, [job['bucket'] for job in group]), quantile(0.9, [job['bucket'] for job in group]),
                   spearman([(job['factor'], job['bucket']) for job in group if job['factor'] is not None]))
            for name, group in groups.items()}


# ---- The data ----

class Data:
    """Rows of 40 days, ending today, and their jobs."""

    def __init__(self, place, slope):
        self.place, self.slope, self.jobs = place, slope, []
        self.random = random.Random(45)
        rows = place.query('SELECT id_assoc, account, user_name, partition_name FROM fairmill_fairshare WHERE user_name <> ?', '')
        self.names = {row[0]: row[1:] for row in rows} | {GONE: ('optics', 'dave', ''), UNKNOWN: ('', '', '')}
        self.algorithm = place.query('SELECT algorithm FROM fairmill_history_point')[0][0]
        for table in ('wait_final', 'wait_open', 'history_point', 'history'):
            place.query(f'DELETE FROM fairmill_{table}')
        optics = place.query("SELECT id_assoc FROM fairmill_fairshare WHERE account = 'optics' AND user_name = ''")[0][0]
        place.query('INSERT INTO fairmill_association VALUES (?, ?, ?, ?, ?, ?, ?)', 'tiny', GONE, TODAY - 40 * DAY, optics,
                    'optics', 'dave', '')
        self.factors = dict.fromkeys(self.names)
        for number in range(40, -1, -1):
            self.day(TODAY - number * DAY, number)

    def point(self, at, algorithm):
        """Adds a history point.  The association without a record has no factor."""
        self.place.query('INSERT INTO fairmill_history_point VALUES (?, ?, ?, 0)', 'tiny', at, algorithm)
        factors = {number: round(self.random.random(), 2) for number in self.names if number != UNKNOWN}
        for number, factor in factors.items():
            self.place.query('INSERT INTO fairmill_history VALUES (?, ?, ?, ?, 1, 1)', 'tiny', at, number, factor)
        return factors

    def day(self, day, number):
        """Adds the jobs of a day.  The last point of the day counts; some days have no point."""
        if number % 3:
            self.point(day + 3600, self.algorithm)
            self.factors = self.point(day + 80000, self.algorithm)
            self.point(day + 80001, 'pbs')
        for _ in range(6):
            name = self.random.choice(list(self.names))
            factor = self.factors.get(name)
            bucket = round(max(0, min(9, (factor or 0.5) * self.slope + self.random.gauss(5, 1.5))))
            row = {'id': name, 'partition': self.random.choice(('cpu', 'gpu')), 'qos': self.random.choice(('normal', 'high')),
                   'bucket': bucket, 'factor': factor, 'day': day}
            row |= dict(zip(('account', 'user', 'own_partition'), self.names[name]))
            for table in ('final', 'open') if number > 2 else ('open',):
                self.add(table, row, self.random.randint(1, 4))

    def add(self, table, row, jobs):
        key = ('tiny', row['day'], row['id'], row['partition'], row['qos'], BOUNDS[row['bucket']])
        if self.place.query(f'SELECT 1 FROM fairmill_wait_{table} WHERE cluster = ? AND day = ? AND id_assoc = ? '
                            'AND partition_name = ? AND qos = ? AND bucket_s = ?', *key):
            return
        self.place.query(f'INSERT INTO fairmill_wait_{table} VALUES (?, ?, ?, ?, ?, ?, ?)', *key, jobs)
        self.jobs += [row] * jobs


def published(place, keys=None, slope=-4):
    place.ready(DRAWING, KEYS | (keys or {}))
    place.change(f"INSERT INTO acct_coord_table (creation_time, acct, user) VALUES (1, 'optics', '{COORDINATOR}')")
    place.change(f"INSERT OR REPLACE INTO user_table (creation_time, name, admin_level) VALUES (1, '{OPERATOR}', 2)")
    place.succeed('run', '--now', NOW)
    return Data(place, slope)


def number_of(text):
    return float(text) if text else None


def near(got, wanted):
    """The same groups with the same numbers; correlations may differ in the last digits."""
    return got.keys() == wanted.keys() and all(
        got[name][:3] == wanted[name][:3] and (got[name][3] is None) == (wanted[name][3] is None) and
        math.isclose(got[name][3] or 0, wanted[name][3] or 0, abs_tol=1e-9) for name in wanted)


def read(output, *columns):
    """Returns {values of the columns: numbers} of CSV."""
    return {tuple(row[column] for column in columns): (int(row['jobs']), int(row['median_s']), int(row['p90_s']),
                                                       number_of(row['rank_correlation']))
            for row in csv.DictReader(io.StringIO(output))}


def day_name(day):
    return time.strftime('%Y-%m-%d', time.gmtime(day))


# ---- The tests ----

def values(place, data):
    recent = [job for job in data.jobs if job['day'] >= TODAY - 30 * DAY]
    optics = [job for job in recent if job['account'] == 'optics']
    for options, columns, jobs, key, statement in (
            ((), ('account',), recent, lambda job: (job['account'],), 'by default, the rows are the accounts of 31 days'),
            (('--by', 'partition'), ('partition',), recent, lambda job: (job['partition'],), 'jobs are grouped by partition'),
            (('--by', 'user,qos'), ('username', 'qos'), recent, lambda job: (job['user'], job['qos']),
             'jobs are grouped by several names'),
            (('--by', 'cluster'), (), recent, lambda job: (), 'all jobs of a cluster are one group'),
            (('-A', 'optics'), ('account',), optics, lambda job: (job['account'],), 'an account is selected'),
            (('-A', 'physics', '--by', 'cluster'), (), [job for job in recent if job['account'] in ('physics', 'optics')],
             lambda job: (), 'an account includes the accounts below it'),
            (('-u', 'dave,carol'), ('account',), [job for job in recent if job['user'] in ('dave', 'carol')],
             lambda job: (job['account'],), 'users are selected, also one whose association was removed'),
            (('--partitions', 'gpu', '--qos', 'high'), ('account',),
             [job for job in recent if (job['partition'], job['qos']) == ('gpu', 'high')], lambda job: (job['account'],),
             'partitions and QOS are selected'),
            (('--since', TODAY - 40 * DAY, '--until', TODAY - 5 * DAY, '--per', 'day'), ('from', 'account'),
             [job for job in data.jobs if TODAY - 40 * DAY <= job['day'] < TODAY - 5 * DAY],
             lambda job: (str(job['day']), job['account']), 'each day has its own rows')):
        place.succeed('waits', *options, '--csv')
        got, wanted = read(place.out, *columns), expected(jobs, key)
        tap.ok(jobs and near(got, wanted), statement, got, wanted)


def periods(place, data):
    since, until = TODAY - 25 * DAY, TODAY - DAY
    monday = TODAY - 19 * DAY  # 2025-06-02
    place.succeed('waits', '--since', since, '--until', until, '--per', 'week', '--by', 'cluster', '--csv')
    rows = list(csv.DictReader(io.StringIO(place.out)))
    spans = [(int(row['from']), int(row['to'])) for row in rows]
    starts = [since, *range(monday, until, 7 * DAY)]
    tap.same(spans, list(zip(starts, [*starts[1:], until])), 'weeks begin on Monday, and the first and the last may be shorter')
    for (start, end), row in zip(spans, rows):
        tap.same(int(row['jobs']), sum(start <= job['day'] < end for job in data.jobs),
                 f'the week of {day_name(start)} has its own jobs')
    place.succeed('waits', '--since', '2025-05-12', '--per', 'month', '--by', 'cluster', '--csv')
    tap.same([day_name(int(row['from'])) for row in csv.DictReader(io.StringIO(place.out))], ['2025-05-12', '2025-06-01'],
             'months begin on the first day')


def formats(place, data):
    place.succeed('waits', '--json', '--per', 'week')
    cluster = json.loads(place.out)['clusters'][0]
    wanted = expected([job for job in data.jobs if job['day'] >= TODAY - 30 * DAY], lambda job: ())[()]
    got = tuple(cluster[name] for name in ('jobs', 'median_s', 'p90_s', 'rank_correlation'))
    tap.ok(near({(): got}, {(): wanted}), 'JSON has the numbers of all jobs', got, wanted)
    tap.same([cluster[name] for name in ('from', 'to', 'by', 'per')], [TODAY - 30 * DAY, TODAY + DAY, 'account', 'week'],
             'JSON has the period and the groups')
    tap.same([row['username'] for row in cluster['waits'][:1]], [None], 'a name by which jobs are not grouped is null')
    place.succeed('waits', '-P', '-o', 'account,jobs', '-n', '-A', 'chemistry')
    tap.same(place.out.strip().split('|')[0], 'chemistry', 'columns can be chosen')


def texts(place):
    """Few rows, whose output can be seen at once."""
    def output(*rows, options=()):
        for table in ('wait_open', 'wait_final'):
            place.query(f'DELETE FROM fairmill_{table}')
        for name, day, bucket, jobs in rows:
            number = place.query('SELECT id_assoc FROM fairmill_fairshare WHERE user_name = ? AND partition_name = ?', name, '')
            place.query('INSERT INTO fairmill_wait_open VALUES (?, ?, ?, ?, ?, ?, ?)', 'tiny', TODAY - day * DAY, number[0][0],
                        'cpu', 'normal', bucket, jobs)
        place.succeed('waits', *options)
        return place.out

    place.ready(DRAWING, KEYS)
    place.succeed('run', '--now', NOW)
    for name, factor in (('alice', 0.9), ('carol', 0.2)):
        place.query('UPDATE fairmill_history SET fairshare = ? WHERE id_assoc IN '
                    '(SELECT id_assoc FROM fairmill_fairshare WHERE user_name = ?)', factor, name)
    place.query('UPDATE fairmill_history_point SET as_of = ?', TODAY - DAY)
    place.query('UPDATE fairmill_history SET as_of = ?', TODAY - DAY)
    got = output(('alice', 0, 60, 20), ('carol', 1, 14400, 10), ('carol', 0, -1, 30))
    tap.same(got, '''Cluster tiny, jobs that started from 2025-05-22 to 2025-06-21
Period Account   Jobs Median    P90 Correlation
       chemistry   40   >7 d   >7 d
       physics     20 <1 min <1 min
 total             60  4.0 h   >7 d       -0.89

Jobs with a higher fairshare factor waited less (rank correlation -0.89).
''', 'text has a total and a sentence about fairshare')
    tap.like(output(('alice', 0, -1, 20), ('carol', 0, 60, 20)), r'factor waited longer \(rank correlation 1\.00\)',
             'the sentence says that jobs with a higher factor waited longer')
    tap.like(output(('alice', 0, 300, 20), ('alice', 0, 60, 20), ('carol', 0, 60, 20), ('carol', 0, 300, 20)),
             r'factor did not wait less \(rank correlation 0\.00\)', 'the sentence says that there is no relation')
    got = output(('alice', 0, 300, 20), options=('--per', 'day'))
    tap.same(len(got.splitlines()), 3, 'one row has no total, and an unknown correlation no sentence')
    tap.same(got.splitlines()[2].split(), ['2025-06-21', 'physics', '20', '3', 'min', '5', 'min'], 'a period is shown as its first day')
    place.query('UPDATE fairmill_history_point SET as_of = ?', TODAY - 8 * DAY)
    place.query('UPDATE fairmill_history SET as_of = ?', TODAY - 8 * DAY)
    tap.unlike(output(('alice', 0, -1, 20), ('carol', 0, 60, 20)), 'correlation 1', 'a factor that is older than a week does not count')
    place.query('DELETE FROM fairmill_wait_open')
    place.ends(1, 'without waits, the command fails', 'waits')
    place.says('the error says so', 'no recorded waits')


def mistakes(place):
    for options, said in ((('--by', 'nodes'), "--by 'nodes'"), (('--per', 'year'), "--per 'year'"), (('-u', 'nemo'), "'nemo'"),
                          (('-A', 'nowhere'), "'nowhere'"), (('-M', 'none'), "'none'"), (('physics',), "'physics'")):
        place.ends(64, f'{options} is a usage error', 'waits', *options)
        place.says('the error names it', said)
    place.ends(1, 'a partition without jobs is an error', 'waits', '--partitions', 'none')


def permissions(place):
    accounts = {'', 'physics', 'optics', 'chemistry'}
    for private in ('usage', 'jobs'):
        data = published(place, {'report.private': private})
        answering.lock_up(place)
        with answering.Answering(place) as asked:
            for login, users in ((USER, {USER}), (COORDINATOR, {'bob', 'dave', COORDINATOR}),
                                 (OPERATOR, {job['user'] for job in data.jobs})):
                answer = asked.ask('waits', '--by', 'user', '--csv', login=login)
                rows = csv.DictReader(io.StringIO(answer['output']))
                tap.same({row['username'] for row in rows}, users, f'with private {private}, {login} sees only these users')
                answer = asked.ask('waits', '--csv', login=login)
                rows = csv.DictReader(io.StringIO(answer['output']))
                tap.same({row['account'] for row in rows}, accounts, f'with private {private}, {login} sees the sums of accounts')
            for login, name, status in ((USER, 'alice', 64), (USER, 'nemo', 64), (USER, USER, 0), (COORDINATOR, 'bob', 0)):
                answer = asked.ask('waits', '-u', name, login=login)
                tap.same(answer['status'], status, f'with private {private}, a request of {login} for {name} ends with {status}')
            answer = asked.ask('waits', '-u', 'alice', login=COORDINATOR)
            tap.ok(answer['status'] and 'physics' not in answer['output'],
                   f'with private {private}, a coordinator does not see users of other accounts', answer)


def body():
    with Place() as place:
        data = published(place)
        values(place, data)
        periods(place, data)
        formats(place, data)
        mistakes(place)
        texts(place)
        permissions(place)


tap.main(body)
