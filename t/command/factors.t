#!/usr/bin/env -S python3 -B
# SPDX-License-Identifier: MIT
# needs: sqlite
"""Tests that a QOS's usage factor applies only to the seconds in which it was set."""

import json
import os
import random
import sqlite3
import sys

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), '..', 'lib'))
import tap
from place import NOW, TINY
from sealed_site import DAY, HOUR, Site

DRAWING = TINY + '''qos 2 factor=0.5
qos 3 factor=3
registered 5=64,1=64
'''
START = NOW - 40 * DAY


class Factors(Site):
    """A site without decay, so that usage in TRES-seconds can be calculated exactly."""

    def begin(self, drawing=DRAWING, keys=None):
        self.now = NOW
        self.keys = {'usage.half_life': '0', 'usage.checkpoint_after': '1-0', 'usage.full_every': '90-0', **(keys or {})}
        self.ready(drawing, self.keys)
        self.ids = {name: self.change(
            'SELECT id_assoc FROM tiny_assoc_table WHERE acct || "." || user = ?', name)[0][0]
            for name in ('physics.alice', 'physics.bob', 'chemistry.carol')}

    def usage(self, user):
        return self.query('SELECT usage_raw FROM fairmill_fairshare WHERE user_name = ?', user)[0][0]

    def recorded_factors(self, qos):
        return self.query('SELECT as_of, told, seen_before, usage_factor FROM fairmill_qos_change WHERE id_qos = ?'
                          ' ORDER BY as_of', qos)

    def found(self, kind):
        return self.query('SELECT subject FROM fairmill_finding WHERE kind = ? AND last_seen = ? ORDER BY subject',
                          kind, self.now)

    def same_in_full_run(self, statement):
        """Tests that a full run publishes the same values."""
        mine = self.values(), self.days()
        self.run_at(0, '--full')
        tap.same((self.values(), self.days()), mine, statement)


def dated_changes(site):
    """Tests factors whose changes are all in txn_table."""
    site.begin()
    site.factor(START, 1447, 'q2', 0.5)
    site.factor(START, 1447, 'q3', 3)
    site.job('physics.alice', NOW - 5 * DAY, NOW - 4 * DAY, qos=2)
    site.job('chemistry.carol', NOW - HOUR, 0, qos=2)
    site.job('physics.bob', NOW - 2 * HOUR, 0, qos=3)
    site.run_at()
    tap.same(site.usage('carol'), 4 * 0.5 * HOUR, 'a factor that never changed applies to all time')
    tap.same(site.recorded_factors(2), [(START, 'added', None, 0.5)], 'runs record the factor with the time in txn_table')
    site.factor(NOW + 100, 1451, "(name='q2' || name='q3')", 4)
    tap.same(site.run_at(600)[0], 'incremental', 'a change with a known time needs no full run')
    tap.same((site.usage('carol'), site.usage('bob')),
             (4 * (0.5 * (HOUR + 100) + 4 * 500), 4 * (3 * (2 * HOUR + 100) + 4 * 500)),
             'each second is charged with the factor of its time')
    tap.same(site.usage('alice'), 4 * 0.5 * DAY, 'a job that had ended keeps its factor')
    site.same_in_full_run('a full run after a known change publishes the same values')
    site.is_exact('a run without recorded factors publishes the same values')
    tap.same(site.query('SELECT SUM(tres_seconds) FROM fairmill_usage_day WHERE id_assoc = ?',
                        site.ids['chemistry.carol']), [(site.usage('carol'),)], 'the sum of the days equals the usage')
    tap.ok(not site.found('factor_undated') + site.found('factor_unknown'), 'there are no findings about factors')
    site.change("UPDATE qos_table SET usage_factor = 1 WHERE id = 3")
    site.factor(NOW + 700, 1451, '(id=3)', 1)
    site.change("UPDATE qos_table SET usage_factor = 4 WHERE id = 2")
    site.run_at(400)
    tap.same(site.usage('bob'), 4 * (3 * (2 * HOUR + 100) + 4 * 600 + 300), 'a factor can be cleared, also by id')
    site.change("UPDATE qos_table SET usage_factor = 1, deleted = 1 WHERE id = 2")
    site.change('INSERT INTO txn_table (timestamp, action, name, actor, cluster, info)'
                " VALUES (?, 1450, 'id=''2''', 'root', 'tiny', '')", NOW + 1100)
    tap.same(site.run_at(200)[0], 'incremental', 'removal of a QOS needs no full run')
    tap.same(site.usage('carol'), 4 * (0.5 * (HOUR + 100) + 4 * 1100), 'jobs of a removed QOS keep its last factor')
    site.same_in_full_run('a full run after the removal publishes the same values')
    site.change('DELETE FROM txn_table')
    tap.same(site.run_at(60)[0], 'incremental', 'a purge of txn_table needs no full run, because runs recorded it')
    tap.same(site.usage('carol'), 4 * (0.5 * (HOUR + 100) + 4 * 1160), 'usage after the purge uses the recorded factors')
    site.same_in_full_run('a full run after the purge publishes the same values')
    carol = site.usage('carol')
    site.succeed('verify')
    tap.ok('as computed' in site.out, 'verify finds no differences', site.out)
    site.succeed('run', '--now', NOW + 600, '--dry-run')
    tap.ok(f' {4 * (0.5 * (HOUR + 100) + 4 * 500):.0f} ' in site.out,
           'a run for a past time uses the factors of that time', site.out)
    site.succeed('run', '--now', site.now, '--dry-run')
    tap.ok(f' {carol:.0f} ' in site.out, 'a dry run uses the recorded factors', site.out)
    site.succeed('explain', 'carol', '--jobs', '--json')
    explained = json.loads(site.out)['clusters'][0]
    tap.same((explained['job_records'], [job['used'] for job in explained['jobs']]), (1, [carol]),
             'explain lists a job with several charge intervals once')


def undated_changes(site):
    """Tests factors whose changes are not in txn_table."""
    site.begin()
    site.job('physics.alice', NOW - 5 * DAY, NOW - 4 * DAY, qos=2)
    site.job('chemistry.carol', NOW - HOUR, 0, qos=2)
    site.run_at()
    tap.same(site.recorded_factors(2), [(NOW, 'seen', None, 0.5)], 'without txn_table, runs record the current factor')
    site.run_at(100)
    site.change('UPDATE qos_table SET usage_factor = 2 WHERE id = 2')
    kind, why = site.run_at(200)
    tap.same((kind, why), ('full', 'a usage factor changed at an unknown time'),
             'a change at an unknown time causes a full run')
    tap.same(site.found('factor_undated'), [('2',)], 'a change at an unknown time is a finding')
    tap.same((site.usage('alice'), site.usage('carol')), (4 * 0.5 * DAY, 4 * 0.5 * (HOUR + 300)),
             'earlier charges do not change')
    tap.same(site.recorded_factors(2), [(NOW, 'seen', None, 0.5), (NOW + 300, 'seen', NOW + 100, 2)],
             'the change is recorded with the range of its time')
    tap.same(site.run_at(0)[0], 'incremental', 'the next run for the same time is incremental')
    tap.same(site.run_at(100)[0], 'incremental', 'a later run is incremental')
    tap.same(site.usage('carol'), 4 * (0.5 * (HOUR + 300) + 2 * 100), 'the new factor applies from the run that saw it')
    site.same_in_full_run('a full run after an unknown change publishes the same values')
    site.change('INSERT INTO txn_table (timestamp, action, name, actor, cluster, info)'
                " VALUES (?, 1451, '(name=''q2'')', 'root', '', 'usage_factor=2.000000')", NOW + 250)
    site.run_at(0, '--full')
    tap.same(site.usage('carol'), 4 * (0.5 * (HOUR + 250) + 2 * 150), 'a time in txn_table replaces the estimated time')
    tap.same(site.recorded_factors(2), [(NOW, 'seen', None, 0.5), (NOW + 250, 'changed', None, 2)], 'the time in txn_table is recorded')
    site.query('UPDATE fairmill_qos_change SET usage_factor = 9 WHERE as_of = ?', NOW)
    site.run_at(60)
    tap.same(site.found('records_changed'), [(str(NOW),)], 'a recorded factor that was changed is a finding')
    tap.same(site.usage('carol'), 4 * 2 * (HOUR + 460), 'a damaged record is not used; the first known factor applies')
    tap.same(site.found('factor_unknown'), [('2',)], 'a factor that may be wrong is a finding')
    tap.same(site.run_at(60)[0], 'incremental', 'the run after the damage is incremental')
    site.same_in_full_run('a full run after the damage publishes the same values')


def start_of_log(site):
    """Tests the start of txn_table."""
    site.begin()
    site.job('physics.bob', NOW - DAY, 0)
    site.change("INSERT INTO txn_table (id, timestamp, action, name, actor, cluster, info)"
                " VALUES (1, ?, 1405, 'tiny', 'root', '', 'mod_time=1, shares=1')", START)
    normal = site.change('SELECT name FROM qos_table WHERE id = 1')[0][0]
    site.factor(NOW - HOUR, 1451, f"(name='{normal}')", 5)
    site.run_at()
    tap.same(site.usage('bob'), 4 * (DAY - HOUR + 5 * HOUR),
             'a QOS that txn_table never added began with factor 1')
    tap.ok(not site.found('factor_unknown'), 'there is no finding if txn_table is complete')
    site.change("DELETE FROM txn_table WHERE id = 1")
    site.run_at(60)
    tap.same(site.usage('bob'), 4 * (DAY - HOUR + 5 * (HOUR + 60)), 'runs recorded the factor before txn_table was purged')
    site.change('INSERT INTO txn_table (timestamp, action, name, actor, cluster, info)'
                " VALUES (?, 1451, 'who knows', 'root', '', 'usage_factor=3.000000')", NOW + 20)
    site.run_at(60)
    tap.ok(site.found('past_unreadable'), 'an unreadable row of txn_table is a finding')
    tap.same(site.usage('bob'), 4 * (DAY - HOUR + 5 * (HOUR + 120)), 'an unreadable row does not change usage')


def restored(site):
    """Tests a factor that is changed and changed back soon after the first run."""
    for purged in False, True:
        what = ' if txn_table is purged' if purged else ''
        site.begin()
        site.job('chemistry.carol', NOW - 10 * DAY, NOW - 5 * DAY, qos=2)
        site.job('chemistry.carol', NOW - HOUR, 0, qos=2)
        site.run_at()
        before = 4 * 0.5 * (5 * DAY + HOUR)
        tap.same(site.usage('carol'), before, f'the first run uses the factor{what}')
        site.factor(NOW + 100, 1451, "(name='q2')", 3)
        site.factor(NOW + 250, 1451, "(name='q2')", 0.5)
        after = before + 4 * (0.5 * 100 + 3 * 150 + 0.5 * 250)
        for kind in (), ('--full',):
            site.run_at(0 if kind else 500, *kind)
            tap.same(site.usage('carol'), after, f'a factor that is changed and restored holds in between only{what}')
            if purged:
                site.change('DELETE FROM txn_table')
        tap.ok(not site.found('factor_undated') + site.found('factor_unknown'), f'there are no findings about factors{what}')
        site.factor(NOW + 700, 1451, "(name='q2')", 2)
        site.run_at(300)
        site.run_at(DAY, '--full')
        tap.same(site.usage('carol'), after + 4 * (0.5 * 200 + 2 * (100 + DAY)),
                 f'a later change does not alter earlier charges{what}')


def late_rows(site):
    """Tests rows of txn_table that arrive long after their time."""
    site.begin(keys={'usage.full_every': '7-0'})
    site.factor(START, 1447, 'q2', 0.5)
    site.job('chemistry.carol', NOW - 10 * DAY, NOW - DAY, qos=2)
    site.job('physics.alice', NOW - 20 * DAY, NOW - 19 * DAY)
    site.run_at()
    site.run_at(300)
    site.factor(NOW - 5 * DAY, 1451, "(name='q2')", 3)
    site.change('UPDATE qos_table SET usage_factor = 0.5 WHERE id = 2')
    kinds = [site.run_at(HOUR)[0] for _ in range(23)]
    tap.same((site.usage('carol'), kinds.count('full')), (4 * (0.5 * 5 * DAY + 3 * 4 * DAY), 1),
             'a late row of txn_table is found within a day')
    site.is_exact('a run without stored state publishes the same values')
    tap.same(site.found('factor_overruled'), [('2',)], 'a factor that qos_table never had is a finding')
    site.factor(NOW - 3 * DAY, 1451, "(name='q2')", 0.5)
    for _ in range(23):
        site.run_at(HOUR)
    tap.same(site.usage('carol'), 4 * (0.5 * 7 * DAY + 3 * 2 * DAY), 'the row that restores the factor may arrive later')
    tap.same((site.found('factor_overruled'), site.found('factor_undated')), ([], []),
             'the findings are removed after the factor is restored')
    site.is_exact('a run without stored state publishes the same values after the restoring row')
    site.factor(NOW - 2 * DAY, 1451, "(name='q2')", 2)
    site.run_at(60)
    tap.same((site.usage('carol'), site.found('factor_undated')), (4 * (0.5 * 6 * DAY + 3 * 2 * DAY + 2 * DAY), []),
             'a late row is found at once if qos_table has its factor')
    site.is_exact('a run without stored state publishes the same values after the last row')


def random_histories(site):
    """Tests random histories of factors, partly without txn_table.

    Each second must have the factor of its time."""
    for seed in [int(os.environ['FAIRMILL_SEED'])] if 'FAIRMILL_SEED' in os.environ else range(1, 5):
        r = random.Random(seed)
        site.begin()
        held = {2: [(0, 0.5)], 3: [(0, 3)]}
        jobs, wrong, kinds = [], [], set()
        for qos, name in ((2, 'q2'), (3, 'q3')):
            site.factor(START, 1447, name, held[qos][0][1])
        deleted = None
        for step in range(14):
            for _ in range(r.randrange(3)):
                end = site.now - r.randrange(12 * HOUR)
                start = end - r.randrange(2 * DAY)
                end = end if r.random() < 0.6 else 0
                qos = r.choice((2, 3))
                user = r.choice(sorted(site.ids))
                jobs.append([site.job(user, start, end, qos=qos), user, start, end, qos])
            for job in jobs:
                if not job[3] and r.random() < 0.3:
                    job[3] = site.now - r.randrange(min(600, site.now - job[2]))
                    site.change('UPDATE tiny_job_table SET time_end = ? WHERE job_db_inx = ?', job[3], job[0])
            later, told_now = r.choice((300, HOUR, DAY)), r.random() < 0.7
            if r.random() < 0.6 and deleted != 2:
                factor = r.choice((0, 0.25, 1, 2.5))
                at = site.now + r.randrange(1, later + 1)
                if told_now:
                    site.factor(at, 1451, "(name='q2')", factor)
                    held[2].append((at, factor))
                else:
                    changed = factor != held[2][-1][1]
                    site.change('UPDATE qos_table SET usage_factor = ? WHERE id = 2', factor)
                    held[2].append((site.now + later, factor)) if changed else None
            if deleted is None and r.random() < 0.1:
                deleted = 2
                site.change('UPDATE qos_table SET usage_factor = 1, deleted = 1 WHERE id = 2')
                if not told_now and held[2][-1][0] == site.now + later:
                    held[2].pop()  # removed before a run saw it
            kinds.add(site.run_at(later)[0])
            wanted = dict.fromkeys(site.ids, 0)
            for _, user, start, end, qos in jobs:
                spans = held[qos] + [(site.now * 2, 0)]
                for (since, factor), (until, _) in zip(spans, spans[1:]):
                    seconds = min(until, end or site.now) - max(since, start)
                    wanted[user] += 4 * factor * max(seconds, 0)
            got = {user: site.usage(user.split('.')[1]) for user in site.ids}
            if got != wanted:
                wrong.append((step, got, wanted))
        tap.same(wrong, [], f'each second has its factor after each run of history {seed}')
        tap.ok('incremental' in kinds, f'history {seed} has incremental runs')
        site.same_in_full_run(f'a full run of history {seed} publishes the same values')


for test in dated_changes, undated_changes, start_of_log, restored, late_rows, random_histories:
    with Factors() as site:
        test(site)
tap.done()
