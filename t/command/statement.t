#!/usr/bin/env -S python3 -B
# SPDX-License-Identifier: MIT
# needs: sqlite
"""Tests `fairmill statement`: entitlement and usage, while shares, parents and associations change.

A second implementation computes the same from the stored days and the recorded states."""

import csv
import io
import json
import math
import os
import random
import sqlite3
import sys
import time

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), '..', 'lib'))
import demonstration
import site_drawing
import tap
from place import NOW, Place
from seeds import seeds

DAY, HOUR = 86400, 3600
DRAWING = '''
cluster tiny
root/
  physics/    60
    alice     10
    bob       30
    optics/   parent
      eve     20
      fay     parent
  chemistry/  40
    carol     1
    dora      0
  idle/       5
    finn      2
tres 1001 gres/gpu
tres 2001 license/x
registered 5=64,1=64
'''
ZONES = 'UTC', 'Europe/Berlin', 'America/New_York'
PERIODS = 'month', 'week', 'day'


def local(*date):
    return int(time.mktime((*date, 0, 0, 0, 0, 0, -1)[:9]))


def set_zone(zone):
    os.environ['TZ'] = zone
    time.tzset()


# ---- the second implementation ----

def next_day(at):
    date = time.localtime(at)
    return local(date.tm_year, date.tm_mon, date.tm_mday + 1)


def end_of(by, at):
    """Returns the end of the period that contains `at`."""
    date = time.localtime(at)
    if by == 'month':
        return local(date.tm_year, date.tm_mon + 1, 1)
    if by == 'week':
        return local(date.tm_year, date.tm_mon, date.tm_mday + 7 - date.tm_wday)
    return next_day(at)


def states(place):
    """Returns {id: [(since, exists, parent, shares)]} of the recorded states.

    The states include the ones between runs from the transaction log.  shares is None for
    `parent`."""
    first, = place.query('SELECT MIN(as_of) FROM fairmill_share_change')[0]
    found = {}
    for number, as_of, deleted, parent, shares, modified, before in place.query(
            'SELECT id_assoc, as_of, deleted, parent_id, shares, modified, seen_before FROM fairmill_share_change ORDER BY id_assoc, as_of'):
        since = as_of
        if as_of == first:
            since = -math.inf
        elif modified is not None and before is not None and before <= modified <= as_of:
            since = modified
        found.setdefault(number, []).append((since, not deleted, parent, shares))
    for number, since, deleted, parent, shares in place.query(
            'SELECT id_assoc, since, deleted, parent_id, shares FROM fairmill_share_past WHERE since >= ?', first):
        found.setdefault(number, []).append((since, not deleted, parent, shares))
    return {number: sorted(each, key=lambda state: state[0]) for number, each in found.items()}


def at(states_of_one, instant):
    """Returns the state at that time.  Before its first state, an association did not exist."""
    now = None
    for since, *state in states_of_one:
        if since <= instant:
            now = state
    return now or [False, *states_of_one[0][2:]]


def norms(then, users):
    """Returns {id: its share of the whole, or None} for {id: (exists, parent, shares)}."""
    below = {}
    for number, (_, parent, _) in then.items():
        below.setdefault(parent, []).append(number)
    found = {}

    def members(account):
        for child in below.get(account, ()):
            lives, _, shares = then[child]
            if lives:
                yield child
                if shares is None and child not in users:
                    yield from members(child)

    def divide(account, part):
        level = list(members(account))
        total = sum(then[each][2] for each in level if then[each][2] is not None)
        for each in level:
            shares = then[each][2]
            if shares is None:
                found[each] = None
            else:
                found[each] = part * shares / total if total else 0
                divide(each, found[each])
        return found

    root = next(number for number, (_, parent, _) in then.items() if parent is None)
    found[root] = 1
    divide(root, 1)

    def of_those_below(account):
        """The entitlement of an account with `parent` shares is the sum below it."""
        parts = []
        for child in below.get(account, ()):
            part = of_those_below(child) if found.get(child, 0) is None and child not in users else found.get(child)
            if then[child][0] and part is not None:
                parts.append(part)
        return sum(parts) if parts else None

    return {number: of_those_below(number) if part is None and number not in users else part for number, part in found.items()}


def charged_days(place, since, until):
    """Returns rows (day, id, TRES-seconds) of the charged usage."""
    return place.query('SELECT day, id_assoc, tres_seconds FROM fairmill_usage_day WHERE day >= ? AND day < ?', since, until)


def tres_days(place, since, until, tres):
    """Returns rows (day, id, TRES-seconds) of the usage of a TRES, computed from the jobs."""
    amounts = {}
    for start, end, number, counts in place.used:
        day = local(*time.localtime(start)[:3])
        while day < end:
            seconds = min(end, next_day(day)) - max(start, day)
            amounts[day, number] = amounts.get((day, number), 0) + counts[tres] * seconds
            day = next_day(day)
    return [(day, number, amount) for (day, number), amount in sorted(amounts.items()) if amount and since <= day < until]


def expected(place, since, until, by, capacity=None, tres=None):
    """Returns {(from, id): [entitlement or None, usage]}."""
    known = states(place)
    users = {number for table in ('change', 'past')
             for number, in place.query(f"SELECT DISTINCT id_assoc FROM fairmill_share_{table} WHERE user_name <> ''")}
    root, = place.query('SELECT id_assoc FROM fairmill_share_change WHERE parent_id IS NULL')[0]
    used = {}
    for day, number, seconds in tres_days(place, since, until, tres) if tres else charged_days(place, since, until):
        used.setdefault((day, min(next_day(day), until)), {})[number if number in known else root] = seconds
    cuts = {change for each in known.values() for change, *_ in each if since < change < until}
    begin, periods = since, []
    while begin < until:
        periods.append(begin)
        begin = end_of(by, begin)
    ends = sorted(cuts | set(periods[1:]) | {until})
    result, begin = {}, since
    for end in ends:
        period = max(each for each in periods if each <= begin)
        then = {number: at(each, begin) for number, each in known.items()}
        got = dict.fromkeys(then, 0)
        for (day, day_end), each in used.items():
            part = max(0, min(end, day_end) - max(begin, day)) / (day_end - day)
            for number, seconds in each.items():
                while part and number is not None:
                    got[number] += part * seconds
                    number = then[number][1]
        parts = norms(then, users)
        whole = got[root] if capacity is None else capacity * (end - begin)
        for number in then:
            row = result.setdefault((period, number), [None, 0])
            if parts.get(number) is not None:
                row[0] = (row[0] or 0) + parts[number] * whole
            row[1] += got[number]
        begin = end
    return {key: row for key, row in result.items() if row[0] or row[1]}


# ---- the output of the command ----

def stated(place, *arguments, **more):
    place.succeed('statement', '--csv', '--time', 'seconds', *arguments, **more)
    return {(int(row['from']), int(row['id_assoc'])): [float(row['due']) if row['due'] else None, float(row['used'])]
            for row in csv.DictReader(io.StringIO(place.out))}


def near(one, other):
    return one is other if other is None else one is not None and math.isclose(one, other, rel_tol=1e-9, abs_tol=1e-3)


def agree(got, wanted, statement):
    wrong = {key: (got.get(key), wanted.get(key)) for key in set(got) | set(wanted)
             if key not in got or key not in wanted or not all(map(near, got[key], wanted[key]))}
    tap.ok(wanted and not wrong, statement, f'{len(wrong)} of {len(wanted)} differ', *list(wrong.items())[:6])


class Site(Place):
    """A site whose associations change over time."""

    def begin(self, zone, first, keys=None):
        set_zone(zone)
        self.ready(DRAWING, dict({'usage.time_zone': zone, 'usage.half_life': '7-0', 'retention.history_days': 4000}, **(keys or {})))
        self.now = first
        self.jobs = 0
        self.used = []
        self.ids = {f'{account}.{user}' if user else account: number for number, account, user in
                    self.change('SELECT id_assoc, acct, user FROM tiny_assoc_table')}

    def job(self, name, start, end, billing=4, gpus=0):
        self.jobs += 1
        self.used.append((start, end, self.ids[name], {'gres/gpu': gpus, 'cpu': billing}))
        db = sqlite3.connect(self.path('a.db'))
        with db:
            site_drawing.insert(db, 'tiny_job_table', dict(
                job_db_inx=self.jobs, id_job=self.jobs, id_assoc=self.ids[name], id_qos=1, time_submit=start, time_eligible=start,
                time_start=start, time_end=end, timelimit=0, tres_alloc=f'1={billing},5={billing}' + f',1001={gpus}' * bool(gpus), state=3, account='', job_name='',
                cpus_req=1, exit_code=0, id_array_job=0, id_array_task=0xfffffffe, id_user=0, id_group=0, het_job_id=0,
                het_job_offset=0, mem_req=0, nodes_alloc=1, partition='p', priority=0, mod_time=end))
        db.close()

    def set(self, instant, name, **columns):
        """Changes an association as sacctmgr would have done at this time."""
        text = ', '.join(f'"{column}" = ?' for column in columns)
        self.change(f'UPDATE tiny_assoc_table SET {text}, mod_time = ? WHERE id_assoc = ?', *columns.values(), instant, self.ids[name])

    def add(self, instant, name, shares):
        account, _, user = name.partition('.')
        number = max(self.ids.values()) + 1
        db = sqlite3.connect(self.path('a.db'))
        with db:
            site_drawing.insert(db, 'tiny_assoc_table', dict(
                creation_time=instant, mod_time=instant, id_assoc=number, acct=account, user=user, partition='', parent_acct='',
                shares=shares, deleted=0, id_parent=self.ids[account], lineage=f'/{account}/0-{user}/'))
        db.close()
        self.ids[name] = number

    def run_at(self, instant):
        self.now = instant
        self.succeed('run', '--now', instant)


def one_change(site):
    """Shares change at noon.  The expected values were calculated by hand."""
    site.begin('UTC', local(2025, 3, 1))
    start = local(2025, 3, 10)
    site.job('physics.alice', start, start + 2 * DAY, 10)
    site.run_at(start - DAY)
    site.set(start + 12 * HOUR, 'physics', shares=5)
    site.set(start + 12 * HOUR, 'chemistry', shares=90)
    site.run_at(start + 3 * DAY)
    rows = stated(site, '--since', '2025-03-10', '--by', 'day')
    whole = 10 * DAY
    physics, alice, optics, fay, dora = (site.ids[name] for name in ('physics', 'physics.alice', 'optics', 'optics.fay', 'chemistry.dora'))
    # 60 of 105 until noon, then 5 of 100.
    tap.ok(near(rows[start, physics][0], whole * (60 / 105 + 5 / 100) / 2),
           'entitlement on a day with changed shares is divided by time',
           rows)
    tap.ok(near(rows[start + DAY, physics][0], whole * 5 / 100), 'entitlement on the next day follows the new shares', rows)
    tap.same([rows[start, physics][1], rows[start, alice][1]], [whole, whole], 'usage belongs to the user and the account')
    tap.ok(near(rows[start + DAY, alice][0], whole * 5 / 100 * 10 / 60), "a user's entitlement is a share of the account's", rows)
    tap.ok(near(rows[start + DAY, optics][0], whole * 5 / 100 * 20 / 60),
           'an account with `parent` shares has the entitlement of its members')
    tap.ok((start, fay) not in rows and (start, dora) not in rows, 'an association without entitlement and usage has no row',
           rows)
    tap.ok((start + 2 * DAY, physics) not in rows, 'a day without usage has no row', rows)
    site.succeed('statement', '--since', '2025-03-10')
    lines = site.out.splitlines()
    tap.same(lines[:4], ['Cluster tiny, 2025-03-10T00:00:00 to 2025-03-13T00:00:00, by month',
                         'Used: TRES-hours, as charged for fairshare.', 'A TRES-hour is one billing unit of Slurm for one hour.',
                         'Due: a share of the usage of the whole cluster.'],
             'the text output describes its terms')
    tap.same([line.split() for line in lines if line.split()[1:2] == ['physics'] and 'User' not in line][0],
             ['2025-03-10', 'physics', '18.04', '86.6', '100.00', '480.0', '554.5', '%'], 'the text output has hours and percent')
    tap.ok('from the accounting database' not in site.out, 'recorded shares need no note about their source', site.out)
    site.succeed('statement', '--since', '2025-02-01', '--by', 'day')
    tap.ok('Shares before 2025-03-09T00:00:00 are from the accounting database' in site.out,
           'the text output names the source of earlier shares',
           site.out)
    tap.ok('Usage before 2025-03-10' in site.out, 'the text output names the first day with usage', site.out)
    site.succeed('statement', '--since', '2025-03-10', '--by', 'day')
    totals = [line.split() for line in site.out.splitlines() if line.split()[0] == 'total']
    tap.same([(row[1], row[5]) for row in totals if row[1] in ('root', 'physics') and len(row) == 8], [('root', '480.0'), ('physics', '480.0')],
             'several periods have a total')


def log(site, at, action, name, info=''):
    """Adds a row to txn_table."""
    site.change('INSERT INTO txn_table (timestamp, action, name, actor, cluster, info) VALUES (?, ?, ?, ?, ?, ?)',
                at, action, name, 'root', 'tiny', info)


def before_the_first_run(site):
    """Tests that each day's entitlement follows the tree that `run --now` of that day publishes."""
    site.begin('UTC', local(2025, 3, 1))
    start = local(2025, 3, 10)
    bob, carol = site.ids['physics.bob'], site.ids['chemistry.carol']
    for day in range(6):
        site.job('physics.alice', start + day * DAY, start + (day + 1) * DAY, 10)
    log(site, start - 30 * DAY, 1404, f'id_assoc={bob}', "acct='physics', user='bob', `partition`='', shares=30")
    site.add(start + DAY, 'physics.late', 7)
    log(site, start + DAY, 1404, f"id_assoc={site.ids['physics.late']}", "acct='physics', user='late', `partition`='', shares=7")
    site.set(start + 2 * DAY, 'physics.bob', shares=55)
    log(site, start + 2 * DAY, 1429, f'(id_assoc={bob})', 'shares=55')
    site.set(start + 3 * DAY, 'chemistry.carol', deleted=1)
    log(site, start + 3 * DAY, 1437, f'id_assoc={carol}')
    end = start + 6 * DAY
    site.run_at(end)
    rows = stated(site, '--since', '2025-03-10', '--by', 'day')
    trees = []
    for day in range(6):
        begin = start + day * DAY
        site.succeed('run', '--now', begin + 12 * HOUR, '--replace')
        norms_then = dict(site.query('SELECT id_assoc, shares_norm FROM fairmill_fairshare WHERE shares IS NOT NULL'))
        trees.append(norms_then)
        wanted = {number: norm * 10 * DAY for number, norm in norms_then.items() if norm}
        got = {number: due for (since, number), (due, _) in rows.items() if since == begin and number in norms_then and due}
        tap.ok(wanted.keys() == got.keys() and all(near(got[number], due) for number, due in wanted.items()),
               f'{day - 6} days from the first run: entitlement follows the tree of run --now', got, wanted)
        site.run_at(end)
    tap.same([(site.ids['physics.late'] in tree, carol in tree) for tree in trees],
             [(False, True)] + 2 * [(True, True)] + 3 * [(True, False)], 'the trees of the days differ')
    site.succeed('statement', '--since', '2025-03-10')
    tap.ok('Shares before 2025-03-16T00:00:00 are from the accounting database.' in site.out,
           'the text output names the source of the shares',
           site.out)
    past = 'SELECT * FROM fairmill_share_past'
    states = site.query(past)
    site.change('CREATE TABLE kept_txn AS SELECT * FROM txn_table')
    site.change('DELETE FROM txn_table')
    site.run_at(end + DAY)
    tap.ok(states and site.query(past) == states, 'a later purge of txn_table does not change recorded states')
    site.query('UPDATE fairmill_share_past SET shares = 1 WHERE shares = 30')
    site.run('verify')
    tap.ok('fairmill_share_past' in site.out, 'verify reports a recorded state that was changed', site.out)
    site.change('INSERT INTO txn_table SELECT * FROM kept_txn')
    for step in range(2):
        site.succeed('run', '--full', '--now', end + 2 * DAY + step)
    tap.same(site.query(past), states, 'a full run removes damaged states, and the next run records them again')


def follows_run_now(site, rows, begin, end, statement):
    """Tests that a day's entitlement follows the tree that `run --now` of its noon publishes."""
    site.succeed('run', '--now', begin + 12 * HOUR, '--replace')
    norms_then = dict(site.query('SELECT id_assoc, shares_norm FROM fairmill_fairshare WHERE shares IS NOT NULL AND shares_norm > 0'))
    got = {number: due / (10 * DAY) for (since, number), (due, _) in rows.items() if since == begin and due}
    tap.ok(got.keys() >= norms_then.keys() and all(near(got[number], norm) for number, norm in norms_then.items()), statement, got, norms_then)
    site.run_at(end)


def between_two_runs(site):
    """Tests several changes between two runs that are days apart."""
    site.begin('UTC', local(2025, 3, 1))
    start = local(2025, 3, 10)
    bob, dora, end = site.ids['physics.bob'], site.ids['chemistry.dora'], start + 8 * DAY
    for day in range(8):
        site.job('physics.alice', start + day * DAY, start + (day + 1) * DAY, 10)
    log(site, start - 30 * DAY, 1404, f'id_assoc={bob}', "acct='physics', user='bob', `partition`='', shares=30")
    site.run_at(start)
    for day, shares in ((1, 55), (3, 7), (5, 90)):
        site.set(start + day * DAY, 'physics.bob', shares=shares)
        log(site, start + day * DAY, 1429, f'(id_assoc={bob})', f'shares={shares}')
    site.add(start + 2 * DAY, 'physics.short', 20)
    short = site.ids['physics.short']
    log(site, start + 2 * DAY, 1404, f'id_assoc={short}', "acct='physics', user='short', `partition`='', shares=20")
    site.set(start + 4 * DAY, 'physics.short', deleted=1)
    log(site, start + 4 * DAY, 1437, f'id_assoc={short}')
    # At the time of the run, but after it.
    site.set(start, 'chemistry.dora', shares=3)
    log(site, start, 1429, f'(id_assoc={dora})', 'shares=3')
    site.run_at(end)
    rows = stated(site, '--since', '2025-03-10', '--by', 'day')
    tap.same([(start + day * DAY, short) in rows for day in range(8)], [False] * 2 + [True] * 2 + [False] * 4,
             'a user who existed only between two runs has entitlement')
    for day in range(8):
        follows_run_now(site, rows, start + day * DAY, end,
                        f'day {day} between two runs: entitlement follows the tree of run --now')
    tap.ok(site.query('SELECT 1 FROM fairmill_share_past WHERE since >= ?', start), 'states between the two runs are recorded')
    states = site.query('SELECT * FROM fairmill_share_past')
    site.set(end + 60, 'physics.bob', shares=1)
    site.run_at(end + 300)
    tap.same(site.query('SELECT * FROM fairmill_share_past'), states, 'later runs record no states for that time')
    site.run('verify')
    tap.ok('fairmill_share_past' not in site.out, 'verify finds no differences in recorded states', site.out)


def recorded_late(site):
    """Results of 0.2.0 have no states before the first run, but this run's own observations apply
    to that time."""
    site.begin('UTC', local(2025, 3, 1))
    start, bob = local(2025, 3, 10), site.ids['physics.bob']
    site.job('physics.alice', start - 2 * DAY, start, 10)
    site.run_at(start)
    before = stated(site, '--since', '2025-03-08', '--until', '2025-03-10')
    site.query('DELETE FROM fairmill_share_past')
    site.query("DELETE FROM fairmill_kept WHERE table_name = 'fairmill_share_past'")
    site.set(start + DAY, 'physics.bob', shares=99)
    site.run_at(start + DAY + 600)
    tap.same(site.query('SELECT shares FROM fairmill_share_past WHERE id_assoc = ?', bob), [(30,)],
             'a change after the first run does not alter recorded states')
    agree(stated(site, '--since', '2025-03-08', '--until', '2025-03-10'), before,
          'a change after the first run does not alter earlier entitlement')


def of_capacity(site):
    site.begin('UTC', local(2025, 3, 1), {'fairshare.capacity': 50})
    start = local(2025, 3, 10)
    site.job('physics.alice', start, start + DAY, 10)
    site.run_at(start - DAY)
    site.run_at(start + 2 * DAY)
    wanted = expected(site, start, site.now, 'day', 50)
    agree(stated(site, '--since', '2025-03-10', '--by', 'day', '--of', 'capacity'), wanted,
          'entitlement with --of capacity includes idle time')
    site.succeed('statement', '--since', '2025-03-10', '--of', 'capacity')
    tap.ok('Due: a share of the cluster\'s capacity.' in site.out and '10.00' in site.out,
           'the text output says that entitlement is of the capacity',
           site.out)
    site.begin('UTC', local(2025, 3, 1), {'fairshare.capacity': 50, 'usage.half_life': 0})
    site.run_at(start + 2 * DAY)
    site.succeed('statement', '--since', '2025-03-10', '--of', 'capacity')
    tap.ok('Due: a share of the cluster\'s capacity.' in site.out, '--of capacity works without decay and usage', site.out)
    site.begin('UTC', local(2025, 3, 1))
    site.change("UPDATE tiny_event_table SET tres = ''")
    site.job('physics.alice', start, start + DAY, 10)
    site.run_at(start + 2 * DAY)
    site.ends(64, '--of capacity is rejected if the capacity is unknown',
              'statement', '--since', '2025-03-10', '--of', 'capacity')
    site.says('the error names the setting of the capacity', '[fairshare] capacity')


def random_change(site, r, instant):
    """Makes one random change to the site."""
    what = r.random()
    user = r.choice([name for name in site.ids if '.' in name])
    if what < 0.6:
        name = r.choice([name for name in site.ids if name != 'root'])
        site.set(instant, name, shares=r.choice((0, 1, 5, 20, 77, site_drawing.PARENT)))
    elif what < 0.7:
        site.set(instant, 'optics', parent_acct=r.choice(('root', 'chemistry', 'physics')))
        site.change('UPDATE tiny_assoc_table SET id_parent = (SELECT o.id_assoc FROM tiny_assoc_table o WHERE o.acct = tiny_assoc_table.parent_acct '
                    "AND o.user = '') WHERE id_assoc = ?", site.ids['optics'])
    elif what < 0.85:
        (deleted,), = site.change('SELECT deleted FROM tiny_assoc_table WHERE id_assoc = ?', site.ids[user])
        site.set(instant, user, deleted=1 - deleted, shares=1)
    else:
        site.add(instant, r.choice(('physics', 'optics', 'chemistry')) + f'.new{len(site.ids)}', r.choice((1, 9, site_drawing.PARENT)))


def histories(site):
    for seed in seeds(6):
        r = random.Random(seed)
        zone = r.choice(ZONES)
        # In both zones the clocks go forward in this time.
        set_zone(zone)
        first = local(2025, 2, r.randint(1, 27)) + r.randint(0, DAY)
        site.begin(zone, first)
        site.run_at(first)
        for _ in range(r.randint(4, 9)):
            then = site.now + r.randint(HOUR, 14 * DAY)
            for instant in sorted(r.sample(range(site.now + 1, then), r.randint(0, 4))):
                random_change(site, r, instant)
            for _ in range(r.randint(0, 12)):
                start = r.randint(site.now - 10 * DAY, then - 60)
                site.job(r.choice([name for name in site.ids if '.' in name]), start, r.randint(start + 1, then), r.randint(1, 64), r.choice((0, 0, 1, 4)))
            site.run_at(then)
        (until,), = site.query('SELECT as_of FROM fairmill_usage_span')
        (noted,), = site.query('SELECT COUNT(*) FROM fairmill_share_change WHERE modified > ?', first)
        tap.ok(noted > 1, f'seed {seed}: there are several changes', noted)
        date = time.localtime(first + r.randint(-20, 20) * DAY)
        since = local(date.tm_year, date.tm_mon, date.tm_mday)
        text = time.strftime('%Y-%m-%d', time.localtime(since))
        for by in PERIODS:
            agree(stated(site, '--since', text, '--by', by), expected(site, since, until, by),
                  f'seed {seed}, {zone}: values by {by} from {text} equal the expected ones')
            agree(stated(site, '--since', text, '--tres', 'gres/gpu'), expected(site, since, until, 'month', tres='gres/gpu'),
              f'seed {seed}: values of gres/gpu equal the expected ones')
        date = time.localtime(until - 3 * DAY)
        end = local(date.tm_year, date.tm_mon, date.tm_mday)
        agree(stated(site, '--since', text, '--until', time.strftime('%Y-%m-%d', time.localtime(end))), expected(site, since, end, 'month'),
              f'seed {seed}: values up to a day equal the expected ones')
        adds_up(site, text)


def adds_up(site, text):
    site.succeed('statement', '--since', text, '--by', 'week', '--json')
    cluster, = json.loads(site.out)['clusters']
    rows = cluster['rows']
    whole = stated(site, '--since', text, '--by', 'month')
    for column, place in (('used', 1), ('due', 0)):
        weeks, months = {}, {}
        for row in rows:
            weeks[row['id_assoc']] = weeks.get(row['id_assoc'], 0) + (row[column] or 0) * 3600
        for (_, number), amounts in whole.items():
            months[number] = months.get(number, 0) + (amounts[place] or 0)
        tap.ok(all(near(weeks.get(number, 0), amount) for number, amount in months.items()),
               f'{column}: weeks and months have the same sum')
    tap.same([cluster['by'], cluster['charged'], cluster['due_of'], cluster['unit'], cluster['tres']],
             ['week', 'fairshare', 'delivered', 'TRES-hours', None], 'JSON has the parameters of the statement')
    roots = [row for row in rows if row['account'] == 'root' and not row['username']]
    tap.ok(roots and all(near(row['due'], row['used']) and near(row['due_percent'], 100) for row in roots),
           'the root is entitled to all delivered usage')


def of_a_tres(site):
    """Tests the usage of one TRES.  The expected values were calculated by hand."""
    site.begin('UTC', local(2025, 3, 1), {'usage.tres': 'cpu, gres/gpu, license/x'})
    start = local(2025, 3, 10)
    site.job('physics.alice', start, start + DAY, 10)
    site.job('physics.alice', start + DAY, start + 2 * DAY, 10, gpus=3)
    site.job('physics.bob', start + DAY, start + 2 * DAY, 50, gpus=1)
    site.run_at(start - DAY)
    site.run_at(start + 3 * DAY)
    physics, alice, bob = (site.ids[name] for name in ('physics', 'physics.alice', 'physics.bob'))
    rows = stated(site, '--since', '2025-03-10', '--tres', 'gres/gpu')
    tap.same([rows[start, each][1] for each in (physics, alice, bob)], [4 * DAY, 3 * DAY, DAY], 'usage of a TRES is its count by time')
    # 60 of 105 for physics, and 10 and 30 of 60 of it.
    tap.ok(all(near(rows[start, each][0], 4 * DAY * share) for each, share in ((physics, 60 / 105), (alice, 10 / 105), (bob, 30 / 105))),
           "entitlement to a TRES is a share of the TRES's delivered usage", rows)
    tap.ok(stated(site, '--since', '2025-03-10', '-T', 'CPU')[start, alice][1] == 20 * DAY, '-T selects a TRES in any case of letters')
    site.succeed('statement', '--since', '2025-03-10', '--by', 'day', '--tres', 'gres/gpu')
    lines = site.out.splitlines()
    tap.same(lines[1:4], ['Used: GPU-hours, without usage factors.', 'Due: a share of the GPU-hours of the whole cluster.',
                          'No usage of gres/gpu is recorded before 2025-03-11.'], 'the text output has the unit and the reach of the TRES')
    tap.same([line.split() for line in lines if 'alice' in line][0], ['2025-03-11', 'physics', 'alice', '9.52', '9.1', '75.00', '72.0', '787.5', '%'],
             'the text output has hours and percent of the TRES')
    site.succeed('statement', '--since', '2025-03-10', '--tres', 'gres/gpu', '--time', 'minutes')
    tap.ok('Used: GPU-minutes,' in site.out and ' 4320.0 ' in site.out, 'the text output has the chosen unit of time', site.out)
    site.succeed('statement', '--since', '2025-03-10', '--tres', 'gres/gpu', '--json')
    cluster, = json.loads(site.out)['clusters']
    tap.same([cluster[key] for key in ('charged', 'tres', 'unit', 'days_known_from')], ['tres', 'gres/gpu', 'TRES-hours', start + DAY],
             'JSON names the TRES and the first day with its usage')
    site.ends(0, 'a statement of an unused TRES succeeds', 'statement', '--since', '2025-03-10', '--tres', 'license/x')
    tap.ok('No usage of license/x is recorded.' in site.out and 'physics' not in site.out, 'a statement of an unused TRES is empty', site.out)
    site.ends(64, 'an unknown TRES is rejected', 'statement', '--since', '2025-03-10', '--tres', 'gres/gpux')
    site.says('the error names the kept TRES and the setting', "the usage of TRES 'gres/gpux' is not kept, only that of cpu, gres/gpu, license/x;"
              ' see the setting [usage] tres')
    site.ends(64, '--of capacity with --tres is rejected', 'statement', '--of', 'capacity', '--tres', 'cpu')
    site.begin('UTC', local(2025, 3, 1), {'usage.tres': 'none'})
    site.run_at(start)
    site.ends(64, 'a TRES is rejected if none is kept', 'statement', '--tres', 'cpu')
    site.says('the error names the setting', "the usage of TRES 'cpu' is not kept; see the setting [usage] tres")


def removed_associations(site):
    """Tests removed associations, and usage without an association, which belongs to the root."""
    site.begin('UTC', local(2025, 3, 1))
    start = local(2025, 3, 10)
    site.run_at(start)
    site.job('physics.bob', start + HOUR, start + DAY, 10)
    site.ids['nobody'] = 999
    site.job('nobody', start + HOUR, start + 2 * HOUR, 10)
    site.set(start + 2 * DAY, 'physics.bob', deleted=1, shares=1)
    site.run_at(start + 4 * DAY)
    rows = stated(site, '--since', '2025-03-10')
    tap.same([rows[start, site.ids[name]][1] for name in ('physics.bob', 'physics', 'root')], [10 * 23 * HOUR] * 2 + [10 * 24 * HOUR],
             'usage of a removed user is in their row, the account and the root')
    tap.same(stated(site, '--since', '2025-03-10', '--users', 'bob'), {(start, site.ids['physics.bob']): rows[start, site.ids['physics.bob']]},
             'a removed user can be selected')
    site.succeed('statement', '--since', '2025-03-10', '--accounts', 'physics', '-o', 'account,username,used', '-P')
    tap.same([line.split('|')[:2] for line in site.out.splitlines()[1:]],
             [['physics', ''], ['physics', 'alice'], ['physics', 'bob'], ['optics', ''], ['optics', 'eve']],
             'an account is printed with everything below it, in order')
    site.query('DELETE FROM fairmill_share_change')
    site.query('DELETE FROM fairmill_share_past')
    site.query('DELETE FROM fairmill_association')
    rows = stated(site, '--since', '2025-03-10')
    tap.ok((start, site.ids['physics.alice']) in rows and (start, site.ids['physics.bob']) not in rows,
           'without recorded states, the published tree is used')
    site.succeed('statement', '--since', '2025-03-10')
    tap.ok('no run has recorded changes' in site.out, 'the text output says that no run has recorded changes', site.out)


def wrong(site):
    site.begin('UTC', local(2025, 3, 1))
    site.ends(1, 'a statement before the first run exits with status 1', 'statement')
    site.run_at(local(2025, 3, 10))
    site.ends(0, 'a statement without usage succeeds', 'statement', '--since', '2025-03-01')
    tap.ok('No usage is known.' in site.out and 'root' not in site.out, 'a statement without usage is empty', site.out)
    site.job('physics.alice', local(2025, 3, 9), local(2025, 3, 9) + 60)
    site.run_at(local(2025, 3, 11))
    for arguments, why in ((('--by', 'year'), 'an unknown period is rejected'), (('--of', 'all'),
                                                                                    'an unknown value of --of is rejected'),
                           (('--time', 'days'),
                            'an unknown unit is rejected'), (('--since', 'then'), 'an invalid --since is rejected'),
                           (('--until', 'soon'), 'an invalid --until is rejected'), (('-A', 'nobody'),
                                                                                            'an unknown account is rejected'),
                           (('-u', 'nobody'),
                            'an unknown user is rejected'), (('-M', 'nowhere'), 'an unknown cluster is rejected'),
                           (('nobody',), 'an unknown name is rejected')):
        site.ends(64, why, 'statement', *arguments)
    site.ends(1, 'a statement of the future exits with status 1', 'statement', '--since', '2025-04-01')
    site.says('the error says that the period has no recorded usage', 'no recorded usage in that period')


def several(site):
    """Tests several clusters, one of which has no usage in the period."""
    set_zone('UTC')
    site.ready('cluster new\nroot/\n  a/ 1\n    alice 1\ncluster old\nroot/\n  b/ 1\n    bob 1\n', {'usage.time_zone': 'UTC'})
    site.succeed('run', '--now', local(2025, 3, 1))
    site.succeed('run', '--now', local(2025, 4, 1), '--cluster', 'new')
    site.succeed('statement', '--since', '2025-03-10', '--json')
    tap.same([each['cluster'] for each in json.loads(site.out)['clusters']], ['new'],
             'a cluster whose last run was before the period is omitted')
    site.succeed('statement', '--since', '2025-02-10', '--json')
    tap.same([each['cluster'] for each in json.loads(site.out)['clusters']], ['new', 'old'],
             'the cluster has rows for its own time')
    site.ends(1, 'the omitted cluster alone exits with status 1', 'statement', '--since', '2025-03-10', '--cluster', 'old')


def units(site):
    """The unit of the text output depends on the settings with which the cluster was published."""
    set_zone('UTC')
    with open(site.path('slurm.conf'), 'w', encoding='utf-8') as file:
        file.write('ClusterName=tiny\nPriorityDecayHalfLife=7-0\nNodeName=n[1-4] CPUs=16\nPartitionName=p Nodes=n[1-4]\n')
    for keys, unit in (({}, 'TRES-hours'), ({'usage.charge': 'cpu'}, 'billed core-hours'),
                       ({'slurm.conf': site.path('slurm.conf')}, 'billed core-hours'),
                       ({'slurm.conf': site.path('slurm.conf'), 'usage.tres_weights': 'CPU=1,Mem=0.25G'}, 'TRES-hours'),
                       ({'slurm.conf': site.path('slurm.conf'), 'usage.partition_tres_weights': 'p:CPU=2'}, 'TRES-hours')):
        site.ready('cluster tiny\nroot/\n  physics/ 60\n    alice 10 use 300', {'usage.time_zone': 'UTC', **keys})
        site.succeed('run', '--now', NOW)
        site.succeed('statement', '--since', '2025-03-10')
        tap.ok(f'Used: {unit}, as charged' in site.out, f'with {keys}, the statement has {unit}', site.out)
        tap.same('A TRES-hour is' in site.out, unit == 'TRES-hours', f'with {keys}, only TRES-hours are defined')


def shown(site):
    """Tests the width of the output for the demonstration."""
    set_zone('UTC')
    demonstration.publish(site)
    out = site.on_terminal('statement', '--since', '2025-05-01', NO_COLOR='1')
    tap.ok(max(map(len, out.splitlines())) <= 80, 'the statement of the demonstration fits into 80 columns', out)


def body():
    with Site() as site:
        for part in (one_change, before_the_first_run, between_two_runs, recorded_late, of_capacity, of_a_tres, removed_associations, wrong, several,
                     histories, units, shown):
            part(site)


tap.main(body)
