#!/usr/bin/env -S python3 -B
# SPDX-License-Identifier: MIT
# needs: sqlite
"""Tests decayed usage by TRES and the limits that count it, against sums computed here."""

import os
import sys

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), '..', 'lib'))
import tap
from place import NOW
from sealed_site import DAY, DRAWING, HOUR, KEYS, Site

HALF_LIFE = 7 * DAY
LIMITED = 'q2'


class Model:
    """The jobs of a test, and the usage that they should have."""

    def __init__(self, site):
        self.site = site
        self.jobs = []

    def job(self, name, start, end, counts, factor=1.0, qos=1):
        tres = {1: counts.get('cpu', 0), 4: counts.get('node', 0), 1001: counts.get('gres/gpu', 0)}
        more = ''.join(f',{number}={count}' for number, count in tres.items() if number != 1 and count)
        self.jobs.append((name, start, end, dict(counts), factor, qos))
        return self.site.job(name, start, end, qos=qos, charge=counts.get('cpu', 0), more=more)

    def usage(self, name, tres, qos=None, since=0, half_life=HALF_LIFE):
        total, now = 0.0, self.site.now
        for account, start, end, counts, factor, its_qos in self.jobs:
            if not account.startswith(name) or qos not in (None, its_qos):
                continue
            start, end = max(start, since), min(end or now, now)
            if start >= end:
                continue
            if half_life:
                left = [2 ** ((time - now) / half_life) for time in (start, end)]
                seconds = (left[1] - left[0]) * half_life / 0.6931471805599453
            else:
                seconds = end - start
            total += counts.get(tres, 0) * factor * seconds
        return total


def begin(site, keys=None, limits=()):
    """A site without jobs, with limits [(association or QOS, text)]."""
    site.now = NOW
    site.keys = dict(KEYS, **(keys or {}))
    site.ready(DRAWING + 'qos 3 factor=0\ntres 1001 gres/gpu\n', site.keys)
    site.ids = {f'{account}.{user}': number for number, account, user in site.change(
        'SELECT id_assoc, acct, user FROM tiny_assoc_table')}
    for name, text in limits:
        if name.startswith('q'):
            site.change('UPDATE qos_table SET grp_tres_mins = ? WHERE name = ?', text, name)
        else:
            account, _, user = name.partition('.')
            site.change('UPDATE tiny_assoc_table SET grp_tres_mins = ? WHERE acct = ? AND user = ?', text, account, user)
    return Model(site)


def published(site, name, tres):
    account, _, user = name.partition('.')
    rows = site.query('SELECT t.usage_raw FROM fairmill_tres t JOIN fairmill_fairshare f ON f.id_assoc = t.id_assoc'
                      ' WHERE f.account = ? AND f.user_name = ? AND t.tres = ?', account, user, tres)
    return rows[0][0] if rows else 0.0


def close(got, wanted):
    return abs(got - wanted) <= 1e-6 + 1e-9 * abs(wanted)


def agrees(site, model, statement):
    wrong = []
    for name in ('physics.alice', 'physics.bob', 'chemistry.carol', 'physics', 'root'):
        for tres in ('cpu', 'node', 'gres/gpu'):
            got = published(site, name, tres)
            wanted = model.usage('' if name == 'root' else name, tres)
            if not close(got, wanted):
                wrong.append((name, tres, got, wanted))
    tap.ok(not wrong, statement, *wrong)


def sums(site):
    model = begin(site)
    model.job('physics.alice', NOW - 20 * DAY, NOW - 19 * DAY, {'cpu': 64, 'node': 2, 'gres/gpu': 8})
    model.job('physics.alice', NOW - 3 * DAY, NOW - 3 * DAY + 61, {'cpu': 1, 'node': 1})
    model.job('physics.bob', NOW - 30 * HOUR, 0, {'cpu': 3, 'node': 1, 'gres/gpu': 1})
    model.job('chemistry.carol', NOW - 2 * DAY, NOW - DAY, {'cpu': 10, 'node': 1}, factor=0.5, qos=2)
    site.run_at(60)
    agrees(site, model, 'decayed usage by TRES is the sum over all jobs, with the usage factors')
    site.run_at(HOUR)
    agrees(site, model, 'an incremental run continues from the sums by TRES')
    site.is_exact('an incremental run has the same usage by TRES as a full run')
    model.job('chemistry.carol', NOW - 5 * DAY, NOW - 4 * DAY, {'cpu': 7, 'gres/gpu': 2}, qos=1)
    site.run_at(60, '--full')
    agrees(site, model, 'a full run finds a late row')
    tap.ok(site.latest('drifted_associations')[0] == 1, 'a late row is drift of its association',
           site.latest('drifted_associations'))


def free_jobs(site):
    """A job with a factor of 0 has no decayed usage, but counts on its day."""
    model = begin(site)
    model.job('physics.alice', NOW - 2 * DAY, NOW - DAY, {'cpu': 5}, factor=0.0, qos=3)
    site.run_at(60)
    agrees(site, model, 'a usage factor of 0 leaves no decayed usage')
    tap.same(site.query("SELECT sum(seconds) FROM fairmill_tres_day WHERE tres = 'cpu'"), [(5 * DAY,)],
             'the days do not know usage factors')
    begin(site)
    site.job('physics.alice', NOW - 2 * DAY, NOW - DAY, charge=0, more=',4=1,1001=4')
    site.run_at(60)
    tap.ok(close(published(site, 'physics.alice', 'gres/gpu'),
                 4 * whole(site, NOW - 2 * DAY, NOW - DAY)),
           'a job without billing has usage by TRES', published(site, 'physics.alice', 'gres/gpu'))
    tap.same(site.value('usage_raw', 'physics.alice'), 0.0, 'the same job is charged nothing')


def whole(site, start, end):
    """The decayed seconds of an interval."""
    left = [2 ** ((time - site.now) / HALF_LIFE) for time in (start, end)]
    return (left[1] - left[0]) * HALF_LIFE / 0.6931471805599453


def false_counts(site):
    begin(site)
    site.job('physics.alice', NOW - 2 * DAY, NOW - DAY, more=',4=18446744073709551614,1001=18446744073709551613')
    site.job('physics.alice', NOW - 2 * DAY, NOW - DAY, more=',4=x,1001=3,1001=9')
    site.run_at(60)
    tap.ok(close(published(site, 'physics.alice', 'gres/gpu'), 3 * whole(site, NOW - 2 * DAY, NOW - DAY)),
           'a count that cannot be right is ignored, and of two counts the first is used')
    tap.same(published(site, 'physics.alice', 'node'), 0.0, 'a count that is not a number is ignored')


def limits(site):
    model = begin(site, limits=(('physics', '1=10000,1001=100'), ('physics.alice', '4=5'), (LIMITED, '1=1440')))
    model.job('physics.alice', NOW - 2 * DAY, NOW - DAY, {'cpu': 2, 'node': 1}, factor=0.5, qos=2)
    model.job('chemistry.carol', NOW - 2 * DAY, NOW - DAY - 7, {'cpu': 1}, factor=0.5, qos=2)
    model.job('physics.bob', NOW - HOUR, NOW - 60, {'cpu': 1, 'gres/gpu': 1})
    site.run_at(60)
    rows = {(kind, account, user, qos, tres): numbers for kind, account, user, qos, tres, *numbers in site.query(
        'SELECT kind, account, user_name, qos, tres, limit_minutes, used_minutes, left_minutes FROM fairmill_budget')}
    wanted = {}
    for key, limit, used in (
            (('association', 'physics', '', '', 'cpu'), 10000, model.usage('physics', 'cpu')),
            (('association', 'physics', '', '', 'gres/gpu'), 100, model.usage('physics', 'gres/gpu')),
            (('association', 'physics', 'alice', '', 'node'), 5, model.usage('physics.alice', 'node')),
            (('qos', '', '', LIMITED, 'cpu'), 1440, model.usage('', 'cpu', qos=2))):
        wanted[key] = [limit, int(used // 60), limit - int(used // 60)]
    tap.same(rows, wanted, 'each limit has the usage below it, in whole minutes')
    for later in (HOUR, DAY, 3 * DAY):
        tap.same(site.run_at(later)[0], 'incremental', f'{later} s later, a run is incremental')
        site.is_exact(f'{later} s later, the limits are those of a full run')
    used = site.query("SELECT used_minutes FROM fairmill_budget WHERE kind = 'qos'")[0][0]
    tap.same(used, int(model.usage('', 'cpu', qos=2) // 60), 'the usage of a QOS decays')
    tap.ok(not site.run('verify'), 'verify finds no differences', site.out)
    for _ in range(14):
        model.job('chemistry.carol', site.now, site.now + HOUR, {'cpu': 1}, factor=0.5, qos=2)
        site.run_at(DAY)
    rows = site.query('SELECT count(*) FROM fairmill_seal_usage WHERE id_assoc > 1000000')[0][0]
    tap.ok(5 < rows < 12, 'the days of a QOS that are long ago leave the checkpoint', rows)
    used = site.query("SELECT used_minutes FROM fairmill_budget WHERE kind = 'qos'")[0][0]
    tap.same(used, int(model.usage('', 'cpu', qos=2) // 60), 'the usage of a QOS is still exact')
    site.is_exact('the time at which the limit is reached is that of a full run')
    site.change("UPDATE qos_table SET grp_tres_mins = '' WHERE name = ?", LIMITED)
    tap.ok('limits' in site.run_at(60)[1], 'a QOS without its limit makes the run full', site.latest('why'))
    tap.same(site.query("SELECT count(*) FROM fairmill_budget WHERE kind = 'qos'"), [(0,)], 'its limit is gone')


def no_decay(site):
    """A QOS with the flag NoDecay counts all usage since the last reset, however old."""
    model = begin(site, {'usage.half_life': '1-0', 'retention.history_days': 30}, limits=((LIMITED, '1=1000000'),))
    site.change('UPDATE qos_table SET flags = 256, usage_factor = 0.5 WHERE name = ?', LIMITED)
    model.job('physics.alice', NOW - 200 * DAY, NOW - 199 * DAY, {'cpu': 4}, factor=0.5, qos=2)
    model.job('physics.alice', NOW - 2 * DAY, NOW - DAY, {'cpu': 3}, factor=0.5, qos=2)
    site.run_at(60)
    wanted = int(model.usage('', 'cpu', qos=2, half_life=0) // 60)
    tap.same(site.query('SELECT used_minutes FROM fairmill_budget'), [(wanted,)],
             'a QOS without decay counts a job of 200 half-lives ago')
    tap.same(site.run_at(DAY)[0], 'incremental', 'the next run is incremental')
    site.is_exact('a QOS without decay is the same in a full run')
    tap.same(site.query('SELECT used_minutes FROM fairmill_budget'), [(wanted,)], 'its usage does not decay')
    alice = published(site, 'physics.alice', 'cpu')
    model.site.now = site.now
    tap.ok(close(alice, model.usage('physics.alice', 'cpu', half_life=DAY)), 'the usage of associations decays',
           alice, model.usage('physics.alice', 'cpu', half_life=DAY))


def purged(site):
    """Rollups replace purged jobs in usage by TRES, too."""
    begin(site, {'usage.charge': 'cpu'})
    day = NOW // DAY * DAY - 4 * DAY
    for tres, seconds in ((1, 8 * DAY), (4, DAY), (1001, DAY // 2), (2, 7)):
        site.change('INSERT INTO tiny_assoc_usage_day_table (creation_time, mod_time, deleted, id, id_tres, time_start, alloc_secs)'
                    ' VALUES (1, 1, 0, ?, ?, ?, ?)', site.ids['physics.alice'], tres, day, seconds)
    site.change('DELETE FROM tiny_last_ran_table')
    site.change('INSERT INTO tiny_last_ran_table (hourly_rollup, daily_rollup, monthly_rollup) VALUES (?, ?, ?)',
                NOW // HOUR * HOUR, NOW // DAY * DAY, 0)
    site.job('physics.bob', NOW - 2 * DAY, NOW - DAY, charge=2, more=',4=1')
    site.change('UPDATE tiny_job_table SET time_eligible = time_start')
    site.run_at(60)
    part = whole(site, day, day + DAY)
    got = [published(site, 'physics.alice', tres) / part for tres in ('cpu', 'node', 'gres/gpu')]
    tap.ok(all(abs(one - wanted) < 1e-9 for one, wanted in zip(got, (8, 1, 0.5))), 'rollups of purged jobs count by TRES', got)
    tap.ok(abs(site.value('usage_raw', 'physics.alice') / part - 8) < 1e-9, 'only the charged TRES is charged',
           site.value('usage_raw', 'physics.alice') / part)
    tap.same(site.run_at(60)[0], 'incremental', 'the next run continues from the rollups')
    site.is_exact('its usage by TRES is that of a full run')


def names(site):
    begin(site)
    site.run_at(60)
    tap.same(site.query('SELECT number, tres FROM fairmill_tres_name ORDER BY 1'),
             [(1, 'cpu'), (2, 'node'), (3, 'gres/gpu')], 'auto keeps cpu, node and each gres')
    site.job('physics.alice', NOW - 2 * DAY, NOW - DAY, charge=1, more=',2=100,1001=2')
    site.run_at(60)
    site.keys['usage.tres'] = 'mem, gres/gpu'
    site.settings(site.keys)
    tap.ok('TRES' in site.run_at(60)[1], 'other TRES make the run full', site.latest('why'))
    tap.same(site.query('SELECT number, tres FROM fairmill_tres_name ORDER BY 1'),
             [(1, 'cpu'), (2, 'node'), (3, 'gres/gpu'), (4, 'mem')], 'a TRES keeps its number')
    tap.same(site.query('SELECT DISTINCT tres FROM fairmill_tres ORDER BY 1'), [('gres/gpu',), ('mem',)],
             'only the TRES of the settings have usage')
    tap.ok(close(published(site, 'physics.alice', 'mem'), 100 * whole(site, NOW - 2 * DAY, NOW - DAY)),
           'the usage is exact')
    site.keys['usage.tres'] = 'none'
    site.settings(site.keys)
    site.run_at(60)
    tap.same(site.query('SELECT count(*) FROM fairmill_tres'), [(0,)], 'none keeps no TRES')
    tap.same(site.run_at(HOUR)[0], 'incremental', 'the next run without TRES is incremental')
    site.keys['usage.tres'] = 'cpu, gres/missing'
    site.settings(site.keys)
    site.run_at(60)
    tap.same(site.query("SELECT detail FROM fairmill_finding WHERE kind = 'tres_not_kept'"), [('gres/missing',)],
             'a TRES that does not exist is a finding')
    site.change('DELETE FROM tres_table WHERE id > 1001')
    for number in range(1002, 1020):
        site.change("INSERT INTO tres_table (creation_time, deleted, id, type, name) VALUES (1, 0, ?, 'gres', ?)",
                    number, f'gpu:t{number}')
    site.keys['usage.tres'] = 'auto'
    site.settings(site.keys)
    site.run_at(60)
    lacking = site.query("SELECT detail FROM fairmill_finding WHERE kind = 'tres_not_kept' AND last_seen = ?", site.now)
    tap.same((site.query('SELECT count(*) FROM fairmill_tres_name')[0][0], len(lacking[0][0].split(', ')) if lacking else 0),
             (16, 6), 'of more than 16 TRES, the rest is a finding')
    for value in ('', 'cpu, CPU', ', '.join(f'gres/x{i}' for i in range(17))):
        site.keys['usage.tres'] = value
        site.settings(site.keys)
        tap.same(site.run('run', '--now', site.now), 78, f"'{value[:12]}' is rejected")


def body():
    with Site() as site:
        for part in (sums, free_jobs, false_counts, limits, no_decay, purged, names):
            part(site)


tap.main(body)
