#!/usr/bin/env -S python3 -B
# SPDX-License-Identifier: MIT
# needs: sqlite mysql
"""Changes the usage factors of QOS through sacctmgr while jobs run.  Each second is charged with
the factor of its time: in runs after each change, in full runs, in a run without stored state, and
in runs for past times."""

import os
import sys
import tempfile
import time

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), '..', 'lib'))
import tap
from slurmdbd import Slurmdbd
from program import fairmill, write_settings

RESULTS, OTHER = 'fairmill_factors', 'fairmill_factors_2'
KEYS = dict(half_life='0', checkpoint_after=30)
QOS = dict(normal=1, heavy=2, light=1, free=0)  # each with its initial factor
USERS = dict(normal='alice', heavy='bob', light='carol', free='dora')
# Commands, and the factors that they set.
CHANGES = (
    (('modify', 'qos', 'heavy', 'set', 'usagefactor=4'), dict(heavy=4)),
    (('modify', 'qos', 'heavy,light', 'set', 'usagefactor=0.25', 'priority=7'), dict(heavy=0.25, light=0.25)),
    (('modify', 'qos', 'light', 'set', 'priority=9'), {}),
    (('modify', 'qos', 'normal', 'set', 'usagefactor=1.5'), dict(normal=1.5)),
    (('modify', 'qos', 'heavy', 'set', 'usagefactor=-1'), dict(heavy=1)),
    (('modify', 'qos', 'free', 'set', 'usagefactor=3'), dict(free=3)),
)


class Site:
    def __init__(self, server, folder):
        self.server = server
        self.confs = {name: f'{folder}/{name}.conf' for name in (RESULTS, OTHER)}
        for name, conf in self.confs.items():
            write_settings(conf, server.settings(server.accounting, server.database(name), usage=KEYS))
        self.jobs = []
        self.held = {}

    def read(self, sql):
        return self.server.sql(sql, self.server.accounting)

    def make(self):
        manage = self.server.sacctmgr
        manage('add', 'cluster', 'mill')
        manage('add', 'account', 'lab', 'cluster=mill', 'description=d', 'organization=o')
        for qos, factor in QOS.items():
            manage('add', 'user', USERS[qos], 'account=lab', 'cluster=mill')
            if qos == 'light':
                manage('add', 'qos', qos)
            elif qos != 'normal':
                manage('add', 'qos', qos, f'usagefactor={factor}')
            self.held[qos] = [(0, factor)]
        now = int(time.time())
        for qos in QOS:
            self.job(qos, now - 7200, now - 3600 - 60)
            self.job(qos, now - 600, 0)

    def job(self, qos, start, end, billing=4):
        self.jobs.append((qos, start, end, billing))
        self.server.sql(
            f'{self.server.LENIENT} INSERT INTO mill_job_table (job_name, id_assoc, id_job, id_qos, id_resv, id_wckey, id_user, id_group, het_job_id, '
            'het_job_offset, cpus_req, nodes_alloc, `partition`, priority, state, state_reason_prev, time_submit, time_eligible, '
            f"time_start, time_end, tres_alloc) SELECT 'j', a.id_assoc, {len(self.jobs)}, q.id, 0, 0, 0, 0, 0, 0, 1, 1, 'p', 1, "
            f"{3 if end else 1}, 0, {start}, {start}, {start}, {end}, '1={billing},5={billing}' FROM mill_assoc_table a, "
            f"qos_table q WHERE a.user = '{USERS[qos]}' AND q.name = '{qos}'", self.server.accounting)

    def change(self, command, factors):
        time.sleep(1.1)
        self.server.sacctmgr(*command)
        (at,), = self.read('SELECT MAX(timestamp) FROM txn_table')
        for qos, factor in factors.items():
            self.held[qos].append((int(at), factor))
        time.sleep(1.1)

    def fairmill(self, *command, name=RESULTS):
        status, out, err = fairmill(self.confs[name], *command)
        if status or err:
            raise RuntimeError(f'{command} ended with {status}: {out}{err}')
        return out

    def published(self, name=RESULTS):
        """Returns (as_of, kind, usage by user) of the newest run."""
        (instant, kind), = self.server.sql('SELECT as_of, kind FROM fairmill_run ORDER BY run_id DESC LIMIT 1', name)
        usage = self.server.sql("SELECT user_name, usage_raw FROM fairmill_fairshare WHERE user_name <> ''", name)
        return int(instant), kind, {user: float(raw) for user, raw in usage}

    def wanted(self, instant):
        """Computes the usage second by second."""
        usage = dict.fromkeys([*USERS.values(), 'root'], 0)
        for qos, start, end, billing in self.jobs:
            spans = [span for span in self.held[qos] if span[0] <= instant] + [(end or instant, 0)]
            for (since, factor), (until, _) in zip(spans, spans[1:]):
                usage[USERS[qos]] += billing * factor * max(0, min(until, end or instant) - max(since, start))
        return usage

    def findings(self):
        return self.server.sql("SELECT kind, detail FROM fairmill_finding WHERE kind LIKE 'factor%' OR kind LIKE 'past%'", RESULTS)


def same_usage(site, statement, name=RESULTS):
    instant, kind, usage = site.published(name)
    wanted = site.wanted(instant)
    tap.same({user: usage[user] for user in usage}, {user: wanted[user] for user in usage}, statement)
    return kind


def check(site):
    site.make()
    time.sleep(1.1)
    site.fairmill('init')
    site.fairmill('run')
    same_usage(site, 'an added QOS has its factor')
    past = []
    for command, factors in CHANGES:
        site.change(command, factors)
        site.fairmill('run')
        what = ' '.join(command)
        tap.same(same_usage(site, f'after "{what}" each second has its own factor'), 'incremental',
                 'the run is incremental')
        past.append(site.published()[0])
    site.fairmill('run', '--full')
    same_usage(site, 'a full run after the changes gives the same usage')
    site.fairmill('init', name=OTHER)
    site.fairmill('run', name=OTHER)
    same_usage(site, 'a run without stored state gives the same usage', OTHER)
    site.server.sql("UPDATE mill_job_table SET time_end = UNIX_TIMESTAMP(), state = 3 WHERE time_end = 0 AND id_qos IN "
                    "(SELECT id FROM qos_table WHERE name = 'free')", site.server.accounting)
    (end,), = site.read("SELECT MAX(time_end) FROM mill_job_table")
    site.jobs = [(qos, start, end or (int(end_of) if qos == 'free' else 0), billing)
                 for end_of in (end,) for qos, start, end, billing in site.jobs]
    site.change(('delete', 'qos', 'free'), {})
    (factor, deleted), = site.read("SELECT usage_factor, deleted FROM qos_table WHERE name = 'free'") or [(None, None)]
    tap.ok(factor is None or (float(factor), int(deleted)) == (1, 1),
           'the row of a removed QOS has factor 1', factor, deleted)
    site.fairmill('run')
    tap.same(same_usage(site, 'jobs of a removed QOS keep its last factor'), 'incremental',
             'the run after the removal is incremental')
    site.change(('add', 'qos', 'free', 'usagefactor=5'), dict(free=5))
    site.job('free', int(time.time()) - 1, 0)
    time.sleep(2.1)
    site.fairmill('run')
    tap.same(same_usage(site, 'a QOS that is added again has its new factor for later jobs'), 'incremental',
             'the run after the addition is incremental')
    site.fairmill('run', '--full')
    same_usage(site, 'a full run after the addition gives the same usage')
    site.server.sql('DELETE FROM txn_table', site.server.accounting)
    site.fairmill('run', '--full')
    same_usage(site, 'a full run without txn_table gives the same usage')
    for instant in past[:3]:
        site.fairmill('run', '--now', instant, '--replace')
        same_usage(site, 'a run for a past time uses the factors of that time')
    tap.same(site.findings(), [], 'there are no findings about factors or past states')


# Another test has slurmdbd's database in the shared server.
os.environ.pop('FAIRMILL_TEST_MARIADB', None)
with Slurmdbd() as server, tempfile.TemporaryDirectory(prefix='fm') as place:
    check(Site(server, place))
tap.done()
