# SPDX-License-Identifier: MIT
"""A place whose runs continue from stored state."""

import os
import sqlite3

import site_drawing
import tap
from place import NOW, TINY, Place

DAY = 86400
HOUR = 3600
DRAWING = TINY + '''qos 2 factor=0.5
registered 5=64,1=64
'''
KEYS = {'usage.half_life': '7-0', 'usage.checkpoint_after': '1-0', 'usage.full_every': '30-0'}


class Site(Place):
    """A place whose clock is `now`, with jobs of some days."""

    def begin(self, keys=None):
        self.now = NOW
        self.keys = dict(KEYS, **(keys or {}))
        self.ready(DRAWING, self.keys)
        self.ids = {name: self.change(
            'SELECT id_assoc FROM tiny_assoc_table WHERE acct || "." || user = ?', name)[0][0]
            for name in ('physics.alice', 'physics.bob', 'chemistry.carol')}
        for day in range(10, 0, -1):
            self.job('physics.alice', NOW - day * DAY - HOUR, NOW - day * DAY)
            self.job('chemistry.carol', NOW - day * DAY - 2 * HOUR, NOW - day * DAY, qos=2)
        self.job('physics.bob', NOW - HOUR, NOW - 60)
        self.run_at()

    def suspend(self, key, start, end):
        self.change('INSERT INTO tiny_suspend_table (job_db_inx, id_assoc, time_start, time_end)'
                    ' VALUES (?, 1, ?, ?)', key, start, end)

    def job(self, name, start, end, qos=1, charge=4, more='', partition='p'):
        """Adds a job row and returns its key."""
        key = self.change('SELECT COALESCE(MAX(job_db_inx), 0) + 1 FROM tiny_job_table')[0][0]
        db = sqlite3.connect(self.path('a.db'))
        with db:
            site_drawing.insert(db, 'tiny_job_table', dict(
                job_db_inx=key, id_job=key, id_assoc=self.ids.get(name, name), id_qos=qos,
                time_submit=start, time_eligible=start, time_start=start, time_end=end,
                timelimit=0, tres_alloc=f'1={charge},5={charge}{more}', state=3 if end else 1,
                account='', job_name='', cpus_req=1, exit_code=0, id_array_job=0,
                id_array_task=0xfffffffe, id_user=0, id_group=0, het_job_id=0, het_job_offset=0,
                mem_req=0, nodes_alloc=1, partition=partition, priority=0, mod_time=end or start))
        db.close()
        return key

    def factor(self, at, action, name, factor):
        """Changes the usage factor of a QOS, and logs it in txn_table."""
        db = sqlite3.connect(self.path('a.db'))
        with db:
            site_drawing.insert(db, 'txn_table', dict(timestamp=at, action=action, name=name, actor='root',
                                                      cluster='', info=f'usage_factor={factor:f}'))
            db.execute("UPDATE qos_table SET usage_factor = ? WHERE ? LIKE '%' || name || '%'", (factor, name))
        db.close()

    def run_at(self, later=0, *arguments):
        """Runs `later` seconds after the last run; returns (kind, why)."""
        self.now += later
        self.succeed('run', '--now', self.now, *arguments)
        return self.latest('kind', 'why')

    def latest(self, *columns):
        return self.query(f'SELECT {", ".join(columns)} FROM fairmill_run'
                          ' ORDER BY run_id DESC LIMIT 1')[0]

    def values(self):
        names = [row[1] for row in self.query('PRAGMA table_info(fairmill_fairshare)')]
        wanted = ', '.join(f'"{name}"' for name in names if name != 'run_id')
        return (self.query(f'SELECT {wanted} FROM fairmill_fairshare ORDER BY id_assoc'),
                self.query('SELECT * FROM fairmill_tres ORDER BY id_assoc, tres'),
                self.query('SELECT kind, id, tres, limit_minutes, used_minutes, running_minutes, exhausted_at'
                           ' FROM fairmill_budget ORDER BY kind, id, tres'),
                self.latest('associations', 'unattributed_usage', 'truncation_bound',
                            'source_newest', 'source_lag'))

    def days(self):
        return self.query('SELECT day, id_assoc, sum_2, sum_1, sum_0 FROM fairmill_usage_day'
                          ' ORDER BY day, id_assoc')

    def is_exact(self, statement):
        """The published values agree with a run without stored state."""
        got = self.values()
        for name in os.listdir(self.folder):
            if name.startswith('other.db'):
                os.unlink(self.path(name))
        self.settings(dict(self.keys, **{'results.database': self.path('other.db')}), 'other.conf')
        self.succeed('init', settings='other.conf')
        self.succeed('run', '--now', self.now, settings='other.conf')
        mine, self.query = self.query, lambda *sql: self._query('other.db', *sql)
        wanted = self.values()
        self.query = mine
        tap.same(got, wanted, statement)
