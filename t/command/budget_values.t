#!/usr/bin/env -S python3 -B
# SPDX-License-Identifier: MIT
# needs: sqlite
"""Tests fairmill_budget, which runs write, against a second implementation.

It sums the jobs of the accounting database in floating point, and follows the usage minute by minute
until it reaches the limit."""

import math
import os
import random
import sys
import time

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), '..', 'lib'))
import tap
from place import NOW, Place

DAY, WEEK, MINUTE = 86400, 604800, 60
ZONE = 'Europe/Berlin'
DRAWING = '''
cluster tiny
root/
  physics/    60
    alice     10
    alice@gpu 10
    optics/   10
      bob     10
      carol   10
  chemistry/  40
    dora      10
qos 2 factor=0.5 name=low
qos 3 factor=2 name=grant
tres 1001 gres/gpu
'''
USERS = 'physics.alice', 'physics.alice@gpu', 'optics.bob', 'optics.carol', 'chemistry.dora'
PARENTS = {'physics.alice': 'physics', 'physics.alice@gpu': 'physics', 'optics.bob': 'optics', 'optics.carol': 'optics',
           'chemistry.dora': 'chemistry', 'optics': 'physics', 'physics': 'root', 'chemistry': 'root'}
FACTORS = {1: 1, 2: .5, 3: 2}
TRES = {'cpu': 1, 'node': 4, 'gres/gpu': 1001}
LIMITS = {
    'root': {'cpu': 143000}, 'physics': {'cpu': 120000, 'gres/gpu': 25000}, 'optics': {'gres/gpu': 9000, 'node': 0},
    'optics.bob': {'cpu': 40000}, 'physics.alice@gpu': {'cpu': 10 ** 9}, 'chemistry': {'cpu': 34000},
}
QOS_LIMITS = {2: {'cpu': 20000, 'node': 1600}, 3: {'cpu': 70000, 'gres/gpu': 8000}}
NO_DECAY = 256  # the flag of a QOS, as in slurmdb.h


def set_zone(zone):
    os.environ['TZ'] = zone
    time.tzset()


def midnight(at, days=0):
    date = time.localtime(at)
    return int(time.mktime((date.tm_year, date.tm_mon, date.tm_mday + days, 0, 0, 0, 0, 0, -1)))


# ---- the site ----

def drawn(dice, from_days=20):
    """Returns the drawing of jobs: of each user and day, and running ones."""
    lines = []
    for day in range(from_days, -1, -1):
        for user in USERS:
            start = NOW - day * DAY - dice.randrange(DAY)
            running = day == 0 and dice.random() < .6
            cpus, gpus, qos = dice.randrange(1, 20), dice.choice((0, 1, 2, 4)), dice.choice((1, 1, 2, 3))
            start = NOW - dice.randrange(3600) if running else start
            end = 0 if running else min(start + dice.randrange(3600, 30000), NOW - 1)
            lines.append(f'job {user} start={start} end={end} tres=1={cpus},2=4000,4=1,5={cpus},1001={gpus} qos={qos} '
                         f'limit={dice.randrange(60, 2880)}')
    return DRAWING + '\n'.join(lines) + '\n'


def id_of(place, owner):
    account, _, user = owner.partition('.')
    user, _, partition = user.partition('@')
    return place.change('SELECT id_assoc FROM tiny_assoc_table WHERE acct = ? AND user = ? AND partition = ?', account, user,
                        partition)[0][0]


def limits_text(limits):
    return ','.join(f'{TRES[tres]}={minutes}' for tres, minutes in limits.items())


def site(place, keys=None, seed=1, from_days=20, no_decay=False):
    with open(place.path('slurm.conf'), 'w', encoding='ascii') as file:
        file.write('ClusterName=tiny\nAccountingStorageEnforce=limits\n')
    place.ready(drawn(random.Random(seed), from_days),
                {'usage.time_zone': ZONE, 'usage.half_life': '7-0', 'slurm.conf': place.path('slurm.conf')} | (keys or {}))
    for owner, limits in LIMITS.items():
        place.change('UPDATE tiny_assoc_table SET grp_tres_mins = ? WHERE id_assoc = ?', limits_text(limits), id_of(place, owner))
    for number, limits in QOS_LIMITS.items():
        place.change('UPDATE qos_table SET grp_tres_mins = ?, flags = ? WHERE id = ?', limits_text(limits),
                     NO_DECAY | 1 if no_decay else 1, number)


# ---- the second implementation ----

def jobs_of(place):
    owners = {id_of(place, user): user for user in USERS}
    for number, qos, start, end, limit, tres in place.change(
            'SELECT id_assoc, id_qos, time_start, time_end, timelimit, tres_alloc FROM tiny_job_table'):
        counts = dict(item.split('=') for item in tres.split(','))
        yield owners[number], qos, start, end, limit, {name: int(counts[str(id)]) for name, id in TRES.items()}


def is_in(user, owner):
    while user and user != owner:
        user = PARENTS.get(user)
    return user == owner


def overlap(start, end, since, until):
    return max(0, min(end, until) - max(start, since))


def reached_at(used, limit, rate, half_life, resets):
    """Returns the time at which the usage reaches the limit; `resets` are the next two."""
    keep = 2 ** (-MINUTE / half_life) if half_life else 1
    added = rate * half_life / math.log(2) * (1 - keep) if half_life else rate * MINUTE
    at = NOW
    if used >= limit:
        return at
    while at < (resets[1] if resets else NOW + 400 * DAY):
        at += MINUTE
        if resets and at - MINUTE < resets[0] <= at:
            at, used = resets[0], 0
            continue
        used = used * keep + added
        if used >= limit:
            return at
    return None


class Reference:
    """The expected rows by (id or QOS, TRES).  since: the last reset."""

    def __init__(self, place, half_life=WEEK, since=0, resets=(), no_decay=False):
        self.place, self.half_life, self.since, self.resets, self.no_decay = place, half_life, since, resets, no_decay
        self.jobs = list(jobs_of(place))

    def weight(self, start, end, half_life):
        start = max(start, self.since)
        if end <= start:
            return 0
        if not half_life:
            return end - start
        return half_life / math.log(2) * (2 ** (-(NOW - end) / half_life) - 2 ** (-(NOW - start) / half_life))

    def row(self, tres, limit, jobs, days, of_qos):
        """Returns (limit, used, running, left, exhausted_at)."""
        half_life = 0 if of_qos and self.no_decay else self.half_life
        used = running = recent = 0
        for _, qos, start, end, minutes, counts in jobs:
            used += counts[tres] * FACTORS[qos] * self.weight(start, end or NOW, half_life)
            if not end:
                running += counts[tres] * int((minutes * 60 - (NOW - start)) * FACTORS[qos])
            recent += counts[tres] * overlap(start, end or NOW, *days) * (FACTORS[qos] if of_qos else 1)
        rate = recent / (days[1] - days[0])
        minutes = int(used / 60), running // 60
        return (limit, *minutes, limit - sum(minutes), reached_at(used, limit * 60, rate, half_life, self.resets))

    def rows(self, oldest=0):
        """oldest: the oldest day, if it is later than seven days ago."""
        found = {}
        local = max(midnight(NOW, -7), oldest), midnight(NOW)
        utc = max(NOW // DAY * DAY - WEEK, -(-self.since // DAY) * DAY), NOW // DAY * DAY
        for owner, limits in LIMITS.items():
            jobs = [job for job in self.jobs if is_in(job[0], owner)]
            for tres, limit in limits.items():
                found['association', id_of(self.place, owner), tres] = self.row(tres, limit, jobs, local, False)
        for number, limits in QOS_LIMITS.items():
            jobs = [job for job in self.jobs if job[1] == number]
            for tres, limit in limits.items():
                found['qos', number, tres] = self.row(tres, limit, jobs, utc, True)
        return found


def stored(place):
    return {tuple(row[:3]): tuple(row[3:]) for row in place.query(
        'SELECT kind, id, tres, limit_minutes, used_minutes, running_minutes, left_minutes, exhausted_at FROM fairmill_budget')}


def same_rows(place, expected, statement):
    got = stored(place)
    exact = {key: row[:4] for key, row in got.items()} == {key: row[:4] for key, row in expected.items()}
    near = exact and all((row[4] is None) == (expected[key][4] is None) and
                         (row[4] is None or abs(row[4] - expected[key][4]) <= 2 * MINUTE) for key, row in got.items())
    tap.ok(near, statement, *(f'{key}: {got.get(key)}, expected {expected.get(key)}' for key in sorted({*got, *expected}, key=str)))
    return expected


# ---- the tests ----

def decay(place):
    site(place)
    place.succeed('run', '--now', NOW)
    expected = same_rows(place, Reference(place).rows(), 'limits and their usage, with decay')
    ends = [row[4] for row in expected.values()]
    tap.ok(sum(end == NOW for end in ends) >= 2 and ends.count(None) >= 2 and sum((end or 0) > NOW for end in ends) >= 3,
           'the site has limits that are reached, that will be reached, and that never are', ends)
    tap.ok(any(row[2] for row in expected.values()), 'the site has running jobs', expected)
    tap.same(place.query('SELECT DISTINCT run_id, computed_at FROM fairmill_budget'),
             place.query('SELECT run_id, as_of FROM fairmill_run'), 'the rows have the number and the time of the run')
    tap.same(place.query("SELECT account, user_name, partition_name, qos FROM fairmill_budget WHERE tres = 'cpu' ORDER BY 1, 2, 3, 4"),
             [('', '', '', 'grant'), ('', '', '', 'low'), ('chemistry', '', '', ''), ('optics', 'bob', '', ''), ('physics', '', '', ''),
              ('physics', 'alice', 'gpu', ''), ('root', '', '', '')], 'the rows name the association or the QOS')


def increments(place):
    """Incremental runs compute the same as a full run."""
    site(place)
    for back in (9 * DAY, 5 * DAY, 7200, 0):
        place.succeed('run', '--now', NOW - back)
    tap.same(place.query('SELECT kind FROM fairmill_run ORDER BY run_id DESC LIMIT 1'), [('incremental',)], 'the last run was incremental')
    incremental = stored(place)
    place.succeed('verify')
    place.succeed('run', '--full', '--now', NOW)
    tap.same(incremental, stored(place), 'an incremental run computes the same limits as a full run')
    place.query('UPDATE fairmill_budget SET used_minutes = used_minutes + 1')
    place.ends(1, 'verify finds changed limits', 'verify')
    tap.ok('fairmill_budget' in place.out, 'verify names the table', place.out)
    place.succeed('run', '--now', NOW + 60)
    place.succeed('verify')
    place.query('DELETE FROM fairmill_budget')
    place.ends(1, 'verify finds missing limits', 'verify')


def without_decay(place):
    site(place, {'usage.half_life': '0'})
    place.succeed('run', '--now', NOW)
    same_rows(place, Reference(place, half_life=0).rows(), 'limits and their usage, without decay')


def resets(place):
    """A month: the last reset was on 1 June, the next ones are on 1 July and 1 August."""
    times = [int(time.mktime((2025, month, 1, 0, 0, 0, 0, 0, -1))) for month in (6, 7, 8)]
    for half_life in (0, WEEK):
        site(place, {'usage.half_life': f'{half_life // DAY}-0', 'usage.reset_period': 'monthly'}, seed=2)
        place.succeed('run', '--now', NOW)
        same_rows(place, Reference(place, half_life, times[0], times[1:]).rows(), f'with a reset each month (half-life {half_life} s)')


def weekly(place):
    """The last reset was on Sunday, 15 June."""
    times = [int(time.mktime((2025, 6, day, 0, 0, 0, 0, 0, -1))) for day in (15, 22, 29)]
    site(place, {'usage.half_life': '0', 'usage.reset_period': 'weekly'}, seed=3)
    place.succeed('run', '--now', NOW)
    same_rows(place, Reference(place, 0, times[0], times[1:]).rows(), 'with a reset each week')


def without_qos_decay(place):
    site(place, no_decay=True)
    place.succeed('run', '--now', NOW)
    same_rows(place, Reference(place, no_decay=True).rows(), 'the usage of a QOS with NoDecay does not decay')


def young(place):
    """The accounting database is younger than seven days."""
    site(place, from_days=3)
    place.succeed('run', '--now', NOW)
    oldest, = place.query('SELECT MIN(day) FROM fairmill_usage_day')[0]
    tap.ok(midnight(NOW, -7) < oldest < midnight(NOW), 'the first stored day is less than seven days ago')
    rows = Reference(place).rows(oldest)
    same_rows(place, {key: row for key, row in rows.items() if key[0] == 'association'} |
              {key: row for key, row in stored(place).items() if key[0] == 'qos'},
              'the rate is the average since the first stored day')


def changes(place):
    """Limits that change, and clusters and TRES that are not kept."""
    site(place)
    place.succeed('run', '--now', NOW)
    place.change("UPDATE tiny_assoc_table SET grp_tres_mins = '' WHERE user = '' AND acct != 'chemistry'")
    place.change("UPDATE tiny_assoc_table SET deleted = 1 WHERE user = 'bob'")
    place.change('UPDATE qos_table SET deleted = 1 WHERE id = 2')
    place.succeed('run', '--now', NOW + 60)
    tap.same(sorted(key[1:] for key in stored(place)), sorted([(id_of(place, 'chemistry'), 'cpu'), (3, 'cpu'), (3, 'gres/gpu'),
                                                               (id_of(place, 'physics.alice@gpu'), 'cpu')]),
             'limits that were removed, and limits of removed associations and QOS, are not published')
    for column, left in (('flags', 4), ('grp_tres_mins', 2)):
        place.drop_column('a.db', 'qos_table', column)
        place.succeed('run', '--now', NOW + 120)
        tap.same(len(stored(place)), left, f'a run without the column {column} of qos_table publishes the other limits')
    place.settings({'usage.half_life': '7-0', 'usage.tres': 'node'})
    place.succeed('run', '--now', NOW + 180)
    tap.same(stored(place), {}, 'limits of TRES whose usage is not kept are not published')
    place.settings({'usage.half_life': '7-0'})
    place.succeed('run', '--now', NOW + 240)
    tap.same(len(stored(place)), 2, 'limits are published again')
    place.change('UPDATE cluster_table SET deleted = 1')
    place.run('run', '--now', NOW + 300)
    tap.same(stored(place), {}, 'a retired cluster has no limits')


def odd_limits(place):
    """Limits that are too large for the table, and texts that are not limits."""
    site(place)
    most = 2 ** 63 - 1
    for now, (text, expected) in enumerate(((f'1={2 ** 64 - 3}', [most]), ('1=0', [0]), ('1=5,1=7', [5]), (f'1={2 ** 64 - 2}', []),
                                            (f'1={2 ** 64 - 1}', []), ('1=abc', []), ('1=', []), ('99=4', []), ('1=3.5', [])), NOW):
        place.change('UPDATE tiny_assoc_table SET grp_tres_mins = ? WHERE id_assoc = 1', text)
        place.succeed('run', '--now', now)
        got = place.query("SELECT limit_minutes, left_minutes <= limit_minutes FROM fairmill_budget WHERE account = 'root'")
        tap.same(got, [(limit, 1) for limit in expected], f"the limit of '{text}' is {expected}")


def body():
    set_zone(ZONE)
    with Place() as place:
        decay(place)
        increments(place)
        without_decay(place)
        resets(place)
        weekly(place)
        without_qos_decay(place)
        young(place)
        changes(place)
        odd_limits(place)


tap.main(body)
